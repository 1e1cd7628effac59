//! Prints the roofline estimate of docs/cuda.md: what the kernels perform and touch for rows and posteriors of the paper's
//! recipe, counted while the real host code runs them on the counting stand-in driver, against published peaks of GPUs.
//! No GPU is needed and none is used.

#![allow(clippy::disallowed_methods, reason = "a benchmark makes no data")]

use std::error::Error;
use std::sync::Arc;

use magnetar_cuda::Options;
use magnetar_cuda_emulator::{BusBytes, KernelCounts, StandIn};
use magnetar_dataset::{Generator, Recipe, Record};
use magnetar_posterior::{ScoreRow, Support, SupportSize, TwinFile, TwinScorer};
use magnetar_signal::{ElementPath, Observation, SignalRow};
use magnetar_study::{ReceiverView, twin_model};

/// Rows of a batch of path summation, and posteriors of a batch of scoring (the most a batch takes).
const ROWS: usize = 256;
const POSTERIORS: usize = 16;

/// A GPU's published peaks: operations per second in f32 and in f64 (outside tensor cores), bytes per second of its
/// memory, and what is taken for its bus each way.
struct Gpu {
    name: &'static str,
    f32_per_s: f64,
    f64_per_s: f64,
    memory_per_s: f64,
    bus_per_s: f64,
}

const GPUS: [Gpu; 2] = [
    Gpu { name: "A100", f32_per_s: 19.5e12, f64_per_s: 9.7e12, memory_per_s: 1.555e12, bus_per_s: 25e9 },
    Gpu { name: "H100", f32_per_s: 67e12, f64_per_s: 34e12, memory_per_s: 3.35e12, bus_per_s: 50e9 },
];

/// Counts of one kind of work, over so many rows or posteriors.
struct Work {
    kernels: Vec<(&'static str, KernelCounts)>,
    bus: BusBytes,
    items: f64,
}

impl Work {
    /// What the stand-in counted since it last forgot.
    fn counted(standin: &StandIn, kernels: &[&'static str], items: usize) -> Self {
        let kernels = kernels.iter().map(|name| (*name, standin.counts(name))).collect();
        Self { kernels, bus: standin.bus_bytes(), items: items as f64 }
    }

    /// The mean over items of a sum over kernels.
    fn mean(&self, of: impl Fn(&KernelCounts) -> u64) -> f64 {
        self.kernels.iter().map(|(_, counts)| of(counts)).sum::<u64>() as f64 / self.items
    }

    /// Seconds that an item takes at the least: computing, reading and writing memory, on the busier way of the bus. The
    /// peaks are those of fused operations; work without any can reach half of them.
    fn seconds(&self, gpu: &Gpu) -> [f64; 3] {
        let reached = if self.mean(|counts| counts.f32.fused) > 0.0 { 1.0 } else { 0.5 };
        let compute = self.mean(KernelCounts::f32_flops) / (reached * gpu.f32_per_s)
            + self.mean(KernelCounts::f64_flops) / (reached * gpu.f64_per_s);
        let memory = self.mean(|counts| counts.read_bytes + counts.written_bytes) / gpu.memory_per_s;
        let bus = self.bus.up.max(self.bus.down) as f64 / self.items / gpu.bus_per_s;
        [compute, memory, bus]
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let standin = StandIn::load_counting();
    let recipe = Arc::new(Recipe::paper());
    let generator = Generator::new(&recipe, 1, "test")?;
    let mut rows = generator.rows();
    let records = (0..ROWS as u64).map(|index| rows.row(index)).collect::<Result<Vec<_>, _>>()?;

    let synthesis = path_summation(standin, &recipe, &records)?;
    let scoring = candidate_scoring(standin, &recipe, &records[..POSTERIORS])?;
    let paths = records.iter().map(|record| record.paths.len()).sum::<usize>() as f64 / ROWS as f64;
    println!(
        "Counted over {ROWS} rows of the paper's recipe ({paths:.1} paths per row) and {POSTERIORS} posteriors of 18 x 33 x 33\n\
         candidates, a batch each."
    );
    println!();
    print_kernels(&[&synthesis, &scoring]);
    println!();
    print_bounds(&synthesis, &scoring);
    Ok(())
}

/// One batch of rows.
fn path_summation(standin: &StandIn, recipe: &Recipe, records: &[Record]) -> Result<Work, Box<dyn Error>> {
    let paths: Vec<Vec<ElementPath>> = (records.iter())
        .map(|record| {
            let paths = record.paths.iter();
            paths.map(|path| ElementPath { delay: [path.wave.delay_s; 2], gain: path.wave.coefficients }).collect()
        })
        .collect();
    let signals: Vec<SignalRow<'_>> = (records.iter().zip(&paths))
        .map(|(record, paths)| SignalRow { paths, scale: 1e4, rf_chain: record.rf_chain })
        .collect();
    let mut blocks = vec![Observation::zeros(recipe.band.bins); signals.len()];
    let backend = magnetar_cuda::open_synthesis(&Options::default(), recipe.band)?;
    standin.forget_counts();
    backend.add_signals(&signals, &mut blocks)?;
    Ok(Work::counted(standin, &["sum_paths"], signals.len()))
}

/// One batch of posteriors, after one that brought the scorer's tables to the device.
fn candidate_scoring(standin: &StandIn, recipe: &Recipe, records: &[Record]) -> Result<Work, Box<dyn Error>> {
    let views: Vec<ReceiverView> = records.iter().map(ReceiverView::of).collect();
    let supports = (views.iter())
        .map(|view| Support::centred(&view.layout.room, SupportSize::EVALUATION))
        .collect::<Result<Vec<_>, _>>()?;
    let rows: Vec<ScoreRow<'_>> = views.iter().zip(&supports).map(|(view, support)| view.on(support)).collect();
    let scorer = TwinScorer::new(twin_model(recipe)?, TwinFile::shipped()?.parameters)?;
    let backend = magnetar_cuda::open_scoring(&Options::default())?;
    scorer.score_batch(&*backend, &rows[..1])?;
    standin.forget_counts();
    scorer.score_batch(&*backend, &rows)?;
    Ok(Work::counted(standin, &["trace_candidates", "score_candidates", "gather_evidence"], rows.len()))
}

/// What each kernel does for one row or posterior.
fn print_kernels(works: &[&Work]) {
    println!(
        "| kernel, for one | f32 sums, products | f32 fused | f32 divisions, roots | f32 exp, cos, phasors | f64, all \
         | read | written |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for work in works {
        for (name, counts) in &work.kernels {
            let mean = |count: u64, unit: &str| quantity(count as f64 / work.items, unit);
            let [adds, multiplies, fused, divisions @ .., exp, exp2, cos, cospi, phasor] = counts.f32.each();
            let cells = [
                mean(adds + multiplies, ""),
                mean(fused, ""),
                mean(divisions.iter().sum(), ""),
                mean(exp + exp2 + cos + cospi + phasor, ""),
                mean(counts.f64_flops(), ""),
                mean(counts.read_bytes, "B"),
                mean(counts.written_bytes, "B"),
            ];
            let item = if work.kernels.len() == 1 { "row" } else { "posterior" };
            println!("| `{name}`, {item} | {} |", cells.join(" | "));
        }
    }
}

/// The roofline.
fn print_bounds(row: &Work, posterior: &Work) {
    println!("| | one row of `generate` | one posterior |");
    println!("|---|---|---|");
    let line = |what: &str, of: &dyn Fn(&Work) -> String| println!("| {what} | {} | {} |", of(row), of(posterior));
    line("operations, f32 / f64", &|work| {
        let (f32, f64) = (work.mean(KernelCounts::f32_flops), work.mean(KernelCounts::f64_flops));
        format!("{} / {}", quantity(f32, ""), quantity(f64, ""))
    });
    line("device memory, read / written", &|work| {
        let (read, written) = (work.mean(|counts| counts.read_bytes), work.mean(|counts| counts.written_bytes));
        format!("{} / {}", quantity(read, "B"), quantity(written, "B"))
    });
    line("bus, up / down", &|work| {
        let [up, down] = [work.bus.up, work.bus.down].map(|bytes| quantity(bytes as f64 / work.items, "B"));
        format!("{up} / {down}")
    });
    for gpu in &GPUS {
        line(&format!("{}: compute, memory, bus", gpu.name), &|work| {
            let seconds = work.seconds(gpu);
            let most = seconds.into_iter().fold(0.0, f64::max);
            let shown = seconds.map(|time| {
                let text = quantity(time, "s");
                if time == most { format!("**{text}**") } else { text }
            });
            shown.join(", ")
        });
    }
}

/// Two significant digits (more of a whole number) and a unit, with the prefix that suits.
fn quantity(value: f64, unit: &str) -> String {
    if value == 0.0 {
        return format!("0 {unit}").trim_end().to_owned();
    }
    let prefixes = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")];
    let (scale, prefix) = prefixes.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, ""));
    let scaled = value / scale;
    let decimals = usize::from(scaled < 9.95);
    format!("{scaled:.decimals$} {prefix}{unit}").trim_end().to_owned()
}
