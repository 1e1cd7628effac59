//! `magnetar estimate`.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use magnetar_dataset::{ComponentWriter, CsiReader};
use magnetar_files::npy::NpyReader;
use magnetar_signal::sre::{AoaMode, Component, Method, Sre, SreOptions};
use magnetar_signal::{Band, RxArray};
use num_complex::Complex32;
use rayon::prelude::*;

/// Observations read, estimated and written at a time.
const CHUNK: usize = 2048;

/// Flags of `magnetar estimate`.
#[derive(clap::Args)]
#[command(after_help = "\
Input: .npy with complex64 or complex128 of shape [n, bins, 2] or [bins, 2], or
.parquet with a column `csi` (fixed-size lists of float32 or float16, shape
[bins, 2, 2], real and imaginary part last). Noise of unit variance is assumed
unless --noise-variance or --inactive-bins says otherwise.
Output: one row a component, strongest first (rank 0): observation, rank,
aoa_rad, phase_rad, delay_s, raw_snr_db, snr_db, and alias_confidence with
--aoa-mode wideband. Delays are in [0, bins / bandwidth).

Examples:
  magnetar estimate obs.npy --out est.parquet
  magnetar estimate obs.npy --out est.csv --all --p-fa 1e-3
  magnetar estimate part-00000.parquet --out est.jsonl --aoa-mode wideband
  magnetar estimate measured.npy --out est.parquet --inactive-bins 0-15,496-511
  magnetar estimate measured.npy --out est.csv --phase-offset-deg -12.5")]
pub struct Args {
    /// Observations: an .npy or .parquet file.
    file: PathBuf,
    /// Table to write: .parquet, .jsonl or .csv.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
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
    /// Noise variance per bin and channel.
    #[arg(long, value_name = "V", default_value_t = SreOptions::default().noise_variance, conflicts_with = "inactive_bins")]
    noise_variance: f64,
    /// Bins without signal, which the noise variance is estimated from: numbers and ranges, such as 0-15,256,496-511.
    #[arg(long, value_name = "BINS", value_parser = parse_bins)]
    inactive_bins: Option<BinList>,
    /// Inter-channel phase of the receiver (channel 1 minus channel 0), degrees, subtracted from the phase.
    #[arg(long, value_name = "DEG", default_value_t = 0.0, allow_hyphen_values = true)]
    phase_offset_deg: f64,
    /// Processing gain added to the raw SNR, dB.
    #[arg(long, value_name = "DB", default_value_t = SreOptions::default().processing_gain_db, allow_hyphen_values = true)]
    processing_gain_db: f64,
    /// Carrier frequency, GHz.
    #[arg(long, value_name = "GHZ", default_value_t = 10.0)]
    carrier_ghz: f64,
    /// Bandwidth of all bins together, MHz (491.52 if left out).
    #[arg(long, value_name = "MHZ")]
    bandwidth_mhz: Option<f64>,
    /// Element spacing, millimetres.
    #[arg(long, value_name = "MM", default_value_t = 26.0)]
    spacing_mm: f64,
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

/// Bin numbers given on the command line.
#[derive(Debug, Clone)]
struct BinList(Vec<usize>);

/// Most bins a band may have, and so the most that a list of bins may name.
const MAX_BINS: usize = Band::BINS.max;

fn parse_bins(text: &str) -> Result<BinList, String> {
    let mut bins = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |x: &str| x.trim().parse::<usize>().ok().filter(|&n| n < MAX_BINS);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => bins.extend(first..=last),
            _ => return Err(format!("{part:?} is no bin or range of bins such as 0-15")),
        }
    }
    bins.sort_unstable();
    bins.dedup();
    Ok(BinList(bins))
}

impl Args {
    fn sre(&self, bins: usize) -> anyhow::Result<Sre> {
        let band = Band {
            carrier_hz: self.carrier_ghz * 1e9,
            bandwidth_hz: self.bandwidth_mhz.map_or(Band::default().bandwidth_hz, |mhz| mhz * 1e6),
            bins,
        };
        let array = RxArray { spacing_m: self.spacing_mm * 1e-3 };
        let options = SreOptions {
            method: match self.method {
                MethodArg::Refined => Method::Refined,
                MethodArg::Greedy => Method::Greedy,
            },
            p_fa: self.p_fa,
            max_paths: self.max_paths,
            keep: self.keep,
            oversampling: self.oversampling,
            noise_variance: self.noise_variance,
            inactive_bins: self.inactive_bins.clone().map_or_else(Vec::new, |list| list.0),
            aoa_mode: match self.aoa_mode {
                AoaModeArg::Narrowband => AoaMode::Narrowband,
                AoaModeArg::Wideband => AoaMode::Wideband,
            },
            alias_confidence: self.alias_confidence,
            phase_offset_deg: self.phase_offset_deg,
            processing_gain_db: self.processing_gain_db,
            ..SreOptions::default()
        };
        Ok(Sre::new(&band, &array, &options)?)
    }
}

/// Where observations come from.
enum Source {
    Npy { reader: NpyReader<BufReader<File>>, bins: usize, rows: u64 },
    Parquet(CsiReader),
}

impl Source {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        match ending.as_str() {
            "parquet" => Ok(Self::Parquet(CsiReader::open(path, CHUNK)?)),
            "npy" => {
                let reader = NpyReader::open(path)?;
                let header = reader.header();
                let (rows, bins) = match header.shape[..] {
                    [bins, 2] => (1, bins),
                    [rows, bins, 2] => (rows as u64, bins),
                    _ => bail!(
                        "{}: the shape is {:?}; expected [n, bins, 2] or [bins, 2], the two channels last",
                        path.display(),
                        header.shape
                    ),
                };
                ensure!(
                    header.dtype.is_complex(),
                    "{}: the elements are {}; expected complex64 or complex128",
                    path.display(),
                    header.dtype.name()
                );
                // Bounds what one chunk takes whatever the header says.
                ensure!(bins <= MAX_BINS, "{}: {bins} bins; at most {MAX_BINS} are read", path.display());
                Ok(Self::Npy { reader, bins, rows })
            }
            _ => bail!("{}: expected a name that ends in .npy or .parquet", path.display()),
        }
    }

    fn bins(&self) -> usize {
        match self {
            Self::Npy { bins, .. } => *bins,
            Self::Parquet(reader) => reader.bins(),
        }
    }

    fn rows(&self) -> u64 {
        match self {
            Self::Npy { rows, .. } => *rows,
            Self::Parquet(reader) => reader.rows(),
        }
    }

    /// The next observations, one after the other; none at the end.
    fn next_chunk(&mut self, blocks: &mut Vec<[Complex32; 2]>) -> anyhow::Result<()> {
        match self {
            Self::Parquet(reader) => {
                reader.next_batch(blocks)?;
            }
            Self::Npy { reader, bins, .. } => {
                let elements = reader.remaining().min(CHUNK * *bins * 2);
                blocks.clear();
                blocks.resize(elements / 2, [Complex32::new(0.0, 0.0); 2]);
                reader.read_into(blocks.as_flattened_mut())?;
            }
        }
        Ok(())
    }
}

/// Estimates every observation of a file.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut source = Source::open(&args.file)?;
    let rows = source.rows();
    ensure!(rows > 0 && source.bins() > 0, "{}: there are no observations in it", args.file.display());
    let bins = source.bins();
    if bins != Band::default().bins && args.bandwidth_mhz.is_none() {
        let (file, mhz) = (args.file.display(), Band::default().bandwidth_hz / 1e6);
        eprintln!("warning: {file}: {bins} bins are taken to span {mhz} MHz; give --bandwidth-mhz if they do not");
    }
    let sre = args.sre(bins).with_context(|| format!("{} ({bins} bins)", args.file.display()))?;
    let mut writer = ComponentWriter::create(&args.out, args.aoa_mode == AoaModeArg::Wideband)?;
    let style = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} observations {per_sec} {eta}")
        .context("the progress bar's template")?;
    let progress = ProgressBar::new(rows).with_style(style);
    let (mut blocks, mut observation, mut components) = (Vec::new(), 0_u64, 0_u64);
    loop {
        source.next_chunk(&mut blocks)?;
        if blocks.is_empty() {
            break;
        }
        // In the order of the file, whatever the number of threads.
        let estimates: Vec<Result<Vec<Component>, _>> = blocks
            .par_chunks(bins)
            .map_init(
                || sre.workspace(),
                |workspace, block| {
                    let estimate = sre.estimate(block, workspace)?;
                    Ok::<_, magnetar_signal::sre::SreError>(if args.all {
                        estimate.components().to_vec()
                    } else {
                        estimate.kept().to_vec()
                    })
                },
            )
            .collect();
        for estimate in estimates {
            let estimate = estimate.with_context(|| format!("{}: observation {observation}", args.file.display()))?;
            for (rank, component) in (0..).zip(&estimate) {
                writer.write(observation, rank, component)?;
            }
            observation += 1;
            components += estimate.len() as u64;
        }
        progress.set_position(observation);
    }
    progress.finish_and_clear();
    writer.finish()?;
    println!("{components} components of {observation} observations in {}", args.out.display());
    Ok(ExitCode::SUCCESS)
}
