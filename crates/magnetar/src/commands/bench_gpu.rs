//! `magnetar bench-gpu`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use magnetar_cuda::{KernelSource, Options};
use magnetar_dataset::{Generator, Recipe};
use magnetar_posterior::{CpuScoring, ScoreRow, ScoringBackend, Support, SupportSize, TwinFile, TwinScorer};
use magnetar_signal::{CpuSynthesis, ElementPath, Observation, SignalRow, SynthesisBackend};
use magnetar_study::{ReceiverView, twin_model};
use serde_json::json;

use crate::progress;

/// Flags of `magnetar bench-gpu`.
#[derive(clap::Args)]
#[command(after_help = "\
Rows per second of the path summation and posteriors per second of the scoring,
on the CPU and on the GPU, copies included. The GPU code is assembled and
CPU-emulated, not yet run on a GPU: please send us what this prints.

Examples:
  magnetar bench-gpu
  magnetar bench-gpu --rows 65536 --posteriors 256")]
pub struct Args {
    /// Observations to synthesise.
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    rows: u64,
    /// Posteriors to score, on 18 x 33 x 33 candidates.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1 << 16))]
    posteriors: u64,
    /// Number of the GPU.
    #[arg(long, default_value_t = 0)]
    device: usize,
    /// Compile the kernels with this machine's NVRTC instead of loading the embedded PTX.
    #[arg(long)]
    nvrtc: bool,
    /// Print one JSON object per backend and line.
    #[arg(long)]
    json: bool,
}

impl Args {
    fn print(&self, backend: &str, what: &str, how: &str, per_second: f64) {
        if self.json {
            println!("{}", json!({ "backend": backend, "what": what, "how": how, "per_second": per_second }));
        } else {
            println!("{backend}: {per_second:.1} {what}/s ({how})");
        }
    }
}

/// Rows drawn from the recipe; more are made of them in turn.
const DISTINCT: u64 = 64;

/// Measures both backends.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let recipe = Arc::new(Recipe::paper());
    let generator = Generator::new(&recipe, 1, "test")?;
    let mut rows = generator.rows();
    let records = (0..DISTINCT).map(|index| rows.row(index)).collect::<Result<Vec<_>, _>>()?;

    let paths: Vec<Vec<ElementPath>> = records
        .iter()
        .map(|record| {
            let both = |path: &magnetar_dataset::RecordPath| ElementPath {
                delay: [path.wave.delay_s; 2],
                gain: path.wave.coefficients,
            };
            record.paths.iter().map(both).collect()
        })
        .collect();
    let signals: Vec<SignalRow<'_>> = (records.iter().zip(&paths).cycle())
        .take(usize::try_from(args.rows)?)
        .map(|(record, paths)| SignalRow { paths, scale: 1e4, rf_chain: record.rf_chain })
        .collect();
    let views: Vec<ReceiverView> = records.iter().map(ReceiverView::of).collect();
    let supports = views
        .iter()
        .map(|view| Support::centred(&view.layout.room, SupportSize::EVALUATION))
        .collect::<Result<Vec<_>, _>>()?;
    let scored: Vec<ScoreRow<'_>> = (views.iter().zip(&supports).cycle())
        .take(usize::try_from(args.posteriors)?)
        .map(|(view, support)| view.on(support))
        .collect();
    let scorer = TwinScorer::new(twin_model(&recipe)?, TwinFile::shipped()?.parameters)?;

    let cpu = CpuSynthesis::new(recipe.band);
    args.print(&cpu.description(), "rows", "one thread, noise not drawn", sum_rate(&cpu, &signals)?);
    args.print("cpu", "posteriors", "all threads", score_rate(&CpuScoring, &scorer, &scored)?);
    let kernels = if args.nvrtc { KernelSource::Nvrtc } else { KernelSource::Embedded };
    let options = Options { device: args.device, kernels, ..Options::default() };
    let synthesis = magnetar_cuda::open_synthesis(&options, recipe.band).context("no GPU to measure")?;
    args.print(&synthesis.description(), "rows", "copies included", sum_rate(&*synthesis, &signals)?);
    let scoring = magnetar_cuda::open_scoring(&options)?;
    args.print(&scoring.description(), "posteriors", "copies included", score_rate(&*scoring, &scorer, &scored)?);
    Ok(ExitCode::SUCCESS)
}

/// Rows per second, after one call that warms up.
fn sum_rate(backend: &dyn SynthesisBackend, rows: &[SignalRow<'_>]) -> anyhow::Result<f64> {
    let _summing = progress::phase("summing paths");
    let bins = magnetar_signal::Band::default().bins;
    let mut blocks = vec![Observation::zeros(bins); rows.len()];
    let few = rows.len().min(1024);
    backend.add_signals(&rows[..few], &mut blocks[..few])?;
    let started = Instant::now();
    backend.add_signals(rows, &mut blocks)?;
    Ok(rows.len() as f64 / started.elapsed().as_secs_f64())
}

/// Posteriors per second, after one call that warms up.
fn score_rate(backend: &dyn ScoringBackend, scorer: &TwinScorer, rows: &[ScoreRow<'_>]) -> anyhow::Result<f64> {
    let _scoring = progress::phase("scoring");
    scorer.score_batch(backend, &rows[..1])?;
    let started = Instant::now();
    scorer.score_batch(backend, rows)?;
    Ok(rows.len() as f64 / started.elapsed().as_secs_f64())
}
