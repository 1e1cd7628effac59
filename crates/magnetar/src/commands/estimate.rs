//! `magnetar estimate`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use magnetar_dataset::{ComponentWriter, ObservationSource};
use magnetar_signal::sre::{AoaMode, Component, Method, SreOptions};
use magnetar_signal::{Band, Receiver};
use num_complex::Complex32;
use rayon::prelude::*;
use serde_json::json;

use super::measurement::{DOUBTS, ReceiverArgs, SubcarrierArgs, noise_advice, turn_advice};
use crate::advice::with_flags;
use crate::args::keep_inputs;
use crate::progress;

/// Flags of `magnetar estimate`.
#[derive(clap::Args)]
#[command(after_help = "\
Input: .npy with complex64 or complex128 of shape [n, bins, channels] or
[bins, channels], or .parquet with a column `csi` (fixed-size lists of float32
or float16, shape [bins, 2, 2], real and imaginary part last). Noise of unit
variance is assumed unless --noise-variance or --inactive-bins says otherwise.
All channels are used, up to 16 on a line: --spacing-mm apart or at
--positions-mm, element 0 on the right of the array, seen along its boresight.
Output: one row per component, strongest first (rank 0): observation, rank,
aoa_rad, phase_rad, delay_s, raw_snr_db, snr_db, and alias_confidence with
--aoa-mode wideband. Delays are in [0, bins / bandwidth). Without --out the
components are printed.

Examples:
  magnetar estimate obs.npy
  magnetar estimate obs.npy --json
  magnetar estimate obs.npy --out est.parquet
  magnetar estimate obs.npy --out est.csv --all --p-fa 1e-3
  magnetar estimate part-00000.parquet --out est.jsonl --aoa-mode wideband
  magnetar estimate measured.npy --out est.parquet --inactive-bins 0-15,496-511
  magnetar estimate measured.npy --noise-variance auto --exclude-bins 255-257
  magnetar estimate measured.npy --calibration cables.npy --phase-offset-deg -12.5
  magnetar estimate wifi.npy --channels 0,2 --rank first --within-db 6
  magnetar estimate wifi.npy --carrier-ghz 5.32 --bandwidth-mhz 40 --spacing-mm 26 \\
      --noise-variance auto --rank first    # three antennas: all of them
  magnetar estimate intel5300.npy --carrier-ghz 5.32 --spacing-mm 26 --noise-variance auto \\
      --subcarriers -28..-2:2,-1..27:2,28 --subcarrier-khz 312.5 --rank first")]
pub struct Args {
    /// Observations: an .npy or .parquet file.
    file: PathBuf,
    /// Table to write: .parquet, .jsonl or .csv. Printed if left out.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write every detected component, not only the strongest of each observation.
    #[arg(long)]
    all: bool,
    /// Components retained of each observation (K).
    #[arg(long, value_name = "K", default_value_t = SreOptions::default().keep)]
    keep: usize,
    /// Probability that noise alone gives a component.
    #[arg(long, value_name = "P", default_value_t = SreOptions::default().p_fa)]
    p_fa: f64,
    /// Most components looked for in one observation.
    #[arg(long, value_name = "N", default_value_t = SreOptions::default().max_paths)]
    max_paths: usize,
    /// The estimator, or plain matching pursuit without refinement.
    #[arg(long, value_enum, default_value_t = MethodArg::Refined)]
    method: MethodArg,
    /// Angle of arrival from the phase alone, or its alias chosen by the elements' delay difference where that is sure.
    #[arg(long, value_enum, default_value_t = AoaModeArg::Narrowband)]
    aoa_mode: AoaModeArg,
    /// Probability an alias needs before wideband mode leaves the principal branch.
    #[arg(long, value_name = "P", default_value_t = SreOptions::default().alias_confidence)]
    alias_confidence: f64,
    /// Delay grid points a resolution cell: 4, 8 or 16.
    #[arg(long, value_name = "N", default_value_t = SreOptions::default().oversampling)]
    oversampling: usize,
    /// What comes first: the strongest component, or the earliest of those that are nearly as strong.
    #[arg(long, value_enum, default_value_t = RankArg::Snr)]
    rank: RankArg,
    /// With --rank first: how far below the strongest a component may be to count, dB.
    #[arg(long, value_name = "DB", default_value_t = 6.0)]
    within_db: f64,
    #[command(flatten)]
    receiver: ReceiverArgs,
    /// Processing gain added to the raw SNR, dB.
    #[arg(long, value_name = "DB", default_value_t = SreOptions::default().processing_gain_db, allow_hyphen_values = true)]
    processing_gain_db: f64,
    /// Carrier frequency, GHz.
    #[arg(long, value_name = "GHZ", default_value_t = 10.0)]
    carrier_ghz: f64,
    /// Bandwidth of all bins together, MHz (491.52 if left out).
    #[arg(long, value_name = "MHZ", conflicts_with = "subcarrier_khz")]
    bandwidth_mhz: Option<f64>,
    #[command(flatten)]
    subcarriers: SubcarrierArgs,
    /// Element spacing, millimetres (see --positions-mm, too).
    #[arg(long, value_name = "MM", default_value_t = 26.0)]
    spacing_mm: f64,
    /// Print each component as one JSON object per line, with the columns of the table; with --out a summary.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MethodArg {
    Refined,
    Greedy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum AoaModeArg {
    Narrowband,
    Wideband,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum RankArg {
    Snr,
    First,
}

impl Args {
    /// The band of so many bins of the file.
    fn band(&self, bins: usize) -> anyhow::Result<Band> {
        self.subcarriers.check(bins)?;
        if bins != Band::default().bins && self.bandwidth_mhz.is_none() && !self.subcarriers.given() {
            let (file, mhz) = (self.file.display(), Band::default().bandwidth_hz / 1e6);
            eprintln!(
                "warning: {file}: {bins} bins are taken to span {mhz} MHz; give --bandwidth-mhz or --subcarrier-khz if they do not"
            );
        }
        let bandwidth_hz = self.bandwidth_mhz.map_or(Band::default().bandwidth_hz, |mhz| mhz * 1e6);
        Ok(self.subcarriers.band_of(&Band { carrier_hz: self.carrier_ghz * 1e9, bandwidth_hz, bins }))
    }

    fn options(&self) -> anyhow::Result<SreOptions> {
        self.subcarriers.options(self.receiver.options(SreOptions {
            method: match self.method {
                MethodArg::Refined => Method::Refined,
                MethodArg::Greedy => Method::Greedy,
            },
            p_fa: self.p_fa,
            max_paths: self.max_paths,
            keep: self.keep,
            oversampling: self.oversampling,
            aoa_mode: match self.aoa_mode {
                AoaModeArg::Narrowband => AoaMode::Narrowband,
                AoaModeArg::Wideband => AoaMode::Wideband,
            },
            alias_confidence: self.alias_confidence,
            processing_gain_db: self.processing_gain_db,
            ..SreOptions::default()
        }))
    }

    /// The components asked for of one observation, in the order asked for.
    fn chosen(&self, components: &[Component], period_s: f64) -> Vec<Component> {
        let mut chosen = components.to_vec();
        if self.rank == RankArg::First {
            earliest_first(&mut chosen, self.within_db, period_s);
        }
        if !self.all {
            chosen.truncate(self.keep);
        }
        chosen
    }
}

/// Brings the components within so many dB of the strongest (the first) to the front, the earliest of them first. Delays
/// are known modulo a period: earlier and later is within half a period of the strongest.
fn earliest_first(components: &mut [Component], within_db: f64, period_s: f64) {
    let Some(strongest) = components.first().map(|component| component.arrival) else { return };
    let near = components.iter().take_while(|c| c.arrival.raw_snr_db >= strongest.raw_snr_db - within_db).count();
    let after =
        |c: &Component| (c.arrival.delay_s - strongest.delay_s + 0.5 * period_s).rem_euclid(period_s) - 0.5 * period_s;
    components[..near.max(1)].sort_by(|a, b| after(a).total_cmp(&after(b)));
}

/// Where components go.
enum Output {
    Table(Box<ComponentWriter>),
    Screen {
        wideband: bool,
    },
    /// One JSON object per line.
    Json {
        wideband: bool,
    },
}

impl Output {
    fn open(args: &Args) -> anyhow::Result<Self> {
        let wideband = args.aoa_mode == AoaModeArg::Wideband;
        let Some(path) = &args.out else {
            if args.json {
                return Ok(Self::Json { wideband });
            }
            let confidence = if wideband { "   alias sure" } else { "" };
            println!(
                "{:>11} {:>4} {:>9} {:>11} {:>9}{confidence}",
                "observation", "rank", "AoA/deg", "delay/ns", "SNR/dB"
            );
            return Ok(Self::Screen { wideband });
        };
        Ok(Self::Table(Box::new(ComponentWriter::create(path, wideband)?)))
    }

    fn write(&mut self, observation: u64, rank: u32, component: &Component) -> anyhow::Result<()> {
        let arrival = &component.arrival;
        match self {
            Self::Json { wideband } => {
                let mut line = json!({
                    "observation": observation, "rank": rank, "aoa_rad": arrival.aoa_rad, "phase_rad": arrival.phase_rad,
                    "delay_s": arrival.delay_s, "raw_snr_db": arrival.raw_snr_db, "snr_db": arrival.snr_db,
                });
                if *wideband {
                    line["alias_confidence"] = json!(component.alias_confidence);
                }
                println!("{line}");
            }
            Self::Table(writer) => writer.write(observation, rank, component)?,
            Self::Screen { wideband } => {
                let (aoa, delay) = (arrival.aoa_rad.to_degrees(), 1e9 * arrival.delay_s);
                let sure = if *wideband { format!("{:>12.3}", component.alias_confidence) } else { String::new() };
                println!("{observation:>11} {rank:>4} {aoa:>9.2} {delay:>11.3} {:>9.2}{sure}", arrival.snr_db);
            }
        }
        Ok(())
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Table(writer) => Ok(writer.finish()?),
            Self::Screen { .. } | Self::Json { .. } => Ok(()),
        }
    }
}

/// Estimates every observation of a file.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let file = args.file.display();
    if let Some(out) = &args.out {
        keep_inputs(out, [&*args.file])?;
    }
    let mut source = ObservationSource::open(&args.file, args.receiver.channels())?;
    let rows = source.rows();
    ensure!(rows > 0 && source.bins() > 0, "{file}: there are no observations in it");
    let bins = source.bins();
    let band = args.band(bins).with_context(|| file.to_string())?;
    let (options, grid) = (args.options()?, args.subcarriers.grid());
    let (channels, spacing_m) = (source.channels(), args.spacing_mm * 1e-3);
    let receiver = args.receiver.receiver(&band, channels, spacing_m, &options, grid);
    let receiver =
        receiver.map_err(with_flags).with_context(|| format!("{file} ({bins} bins, {channels} channels)"))?;
    let mut output = Output::open(args)?;
    let progress = progress::bar(rows, "observations");
    let (mut blocks, mut observation, mut components) = (Vec::new(), 0_u64, 0_u64);
    let (mut doubt, mut turns) = (None, Vec::new());
    loop {
        source.next_chunk(&mut blocks)?;
        if blocks.is_empty() {
            break;
        }
        if let Some(grid) = grid {
            blocks = grid.spread(&blocks, channels);
        }
        let estimates = estimate(args, &receiver, &mut blocks);
        for (estimate, block) in estimates.into_iter().zip(blocks.chunks(band.bins * channels)) {
            let estimate = estimate.with_context(|| format!("{file}: observation {observation}"))?;
            for (rank, component) in (0..).zip(&estimate) {
                output.write(observation, rank, component)?;
            }
            if turns.len() < DOUBTS {
                doubt = doubt.or_else(|| noise_advice(&receiver, block));
                turns.push(receiver.turned_bins(block));
            }
            observation += 1;
            components += estimate.len() as u64;
        }
        progress.set_position(observation);
    }
    progress.finish_and_clear();
    if let Some(advice) = doubt {
        ensure!(components > 0, "{file}: no component in {observation} observations: {advice}");
        eprintln!("warning: {file}: {advice}; SNRs and the number of components are those of the assumption");
    }
    if let Some(advice) = turn_advice(&turns) {
        eprintln!("warning: {file}: {advice}");
    }
    output.finish()?;
    match &args.out {
        Some(out) if args.json => {
            println!("{}", json!({ "out": out, "observations": observation, "components": components }));
        }
        None if args.json => {}
        Some(out) => println!("{components} components of {observation} observations in {}", out.display()),
        None => println!("{components} components of {observation} observations"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The components of observations that lie one after the other, in their order whatever the number of threads.
fn estimate(args: &Args, receiver: &Receiver, blocks: &mut [Complex32]) -> Vec<anyhow::Result<Vec<Component>>> {
    let band = receiver.band();
    blocks
        .par_chunks_mut(band.bins * receiver.channels())
        .map_init(
            || receiver.workspace(),
            |workspace, block| {
                let components = receiver.prepare(block).and_then(|()| receiver.components(block, workspace));
                let components = components.map_err(|error| args.subcarriers.in_the_file(error))?;
                Ok(args.chosen(&components, band.unambiguous_delay_s()))
            },
        )
        .collect()
}
