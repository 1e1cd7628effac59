//! `magnetar observe`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use magnetar_files::npy::NpyWriter;
use magnetar_signal::{
    AntennaConfig, Band, ELEMENTS, LinkConfig, LinkSimulator, Observation, Radio, RadioConfig, RfChainConfig,
    RfChainDraw, RxArray, seeded_streams,
};
use num_complex::Complex32;
use serde_json::json;

use super::link::LinkArgs;
use super::propagation::PropagationArgs;
use super::trace::{left_out_to_json, print_left_out};
use crate::advice::with_flags;
use crate::args::parse_npy_name;
use crate::output::counted;
use crate::progress;

/// The last stage to be run.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// Paths, antennas and link scale.
    Clean,
    /// And the RF chain.
    Perturbed,
    /// And noise.
    Noisy,
}

/// Flags of `magnetar observe`.
#[derive(clap::Args)]
#[command(after_help = "\
The file holds complex64 numbers of shape [count, bins, 2], channel last, in
units of the noise's standard deviation. The same call gives the same bytes, and
observation i is the same whatever the count.

Examples:
  magnetar observe lab_middle --tx 0.98,2.28,1.08,-90 --rx 1,-1,1.08,90 --seed 1 --out obs.npy
  magnetar observe lab --tx 0.98,2.28 --rx 1,-1 --count 1000 --no-rf-chain --out draws.npy
  magnetar observe lab --tx 0,0 --rx 1,-2,,120 --stage clean --rx-pattern isotropic --out c.npy
  magnetar observe lab_middle --tx 0.98,2.28 --rx 1,-1 --max-order 2 --transmission --out t.npy
  magnetar observe my_room.toml --tx 1,1 --rx 3,2 --materials my_materials.toml --out mine.npy")]
pub struct Args {
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    propagation: PropagationArgs,
    /// Seed of the RF chain and the noise.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The .npy file to write.
    #[arg(short, long, value_name = "FILE.npy", value_parser = parse_npy_name)]
    out: PathBuf,
    /// How many observations; each has its own noise.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    count: u64,
    /// The last stage to be run.
    #[arg(long, value_enum, default_value_t = Stage::Noisy)]
    stage: Stage,
    /// Antenna pattern of the TX: a shipped pattern's name or a file.
    #[arg(long, default_value = "synthetic_vivaldi", value_name = "NAME|FILE")]
    tx_pattern: String,
    /// Antenna pattern of the RX elements; give it twice if the two differ.
    #[arg(long, default_value = "synthetic_vivaldi", value_name = "NAME|FILE")]
    rx_pattern: Vec<String>,
    /// Leave the RF chain out.
    #[arg(long)]
    no_rf_chain: bool,
    /// Draw another RF chain for every observation; else one chain serves all.
    #[arg(long, conflicts_with = "no_rf_chain")]
    redraw_rf_chain: bool,
    /// TX-power offset, dB.
    #[arg(long, default_value_t = 0.0, value_name = "DB", allow_hyphen_values = true, value_parser = parse_db)]
    tx_power_offset_db: f64,
    /// SNR of a bin at 1 m, boresight to boresight, before adjustments, dB.
    #[arg(long, default_value_t = LinkConfig::default().reference_snr_db, value_name = "DB", allow_hyphen_values = true)]
    reference_snr_db: f64,
    /// Input-power adjustment, dB.
    #[arg(
        long,
        default_value_t = LinkConfig::default().input_power_adjustment_db,
        value_name = "DB",
        allow_hyphen_values = true
    )]
    input_power_adjustment_db: f64,
    /// Carrier, GHz.
    #[arg(long, alias = "frequency-ghz", default_value_t = Band::default().carrier_hz / 1e9, value_name = "GHZ")]
    carrier_ghz: f64,
    /// Bandwidth, MHz.
    #[arg(long, default_value_t = Band::default().bandwidth_hz / 1e6, value_name = "MHZ")]
    bandwidth_mhz: f64,
    /// Number of bins.
    #[arg(long, default_value_t = Band::default().bins)]
    bins: usize,
    /// Distance between the RX elements, mm.
    #[arg(long, default_value_t = RxArray::default().spacing_m * 1e3, value_name = "MM")]
    spacing_mm: f64,
    /// Print what is in the file as one JSON object: paths at the elements, RF chain.
    #[arg(long)]
    json: bool,
}

fn parse_db(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(db) if (-100.0..=100.0).contains(&db) => Ok(db),
        _ => Err("expected a number of decibels from -100 to 100".to_owned()),
    }
}

/// Writes the observations of one link.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut simulator = prepare(args)?;
    let mut clean = simulator.block();
    simulator.clean(args.tx_power_offset_db, &mut clean);
    let power = clean.energy() / (ELEMENTS * clean.bins()) as f64;
    write(args, &mut simulator, &clean)?;
    if args.json {
        let report = report(args, &simulator, power);
        println!("{}", serde_json::to_string_pretty(&report).context("the report cannot be written as JSON")?);
    } else {
        let (count, bins, paths) = (args.count, clean.bins(), simulator.paths().len());
        let (observations, file) = (counted(count, "observation"), args.out.display());
        let snr = if paths == 0 { "noise alone".to_owned() } else { format!("mean SNR {:.2} dB", db(power)) };
        println!("{file}: {observations} of {bins} x 2 bins, {}, {snr}", counted(paths, "path"));
        print_left_out(simulator.left_out());
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the flags and traces the link.
fn prepare(args: &Args) -> anyhow::Result<LinkSimulator> {
    let rx_patterns = match args.rx_pattern.as_slice() {
        [both] => [both.clone(), both.clone()],
        [first, second] => [first.clone(), second.clone()],
        more => bail!("--rx-pattern is given {} times; once, or twice for two elements that differ", more.len()),
    };
    let radio = Radio::new(RadioConfig {
        band: Band { carrier_hz: args.carrier_ghz * 1e9, bandwidth_hz: args.bandwidth_mhz * 1e6, bins: args.bins },
        array: RxArray { spacing_m: args.spacing_mm * 1e-3 },
        antennas: AntennaConfig { tx_pattern: args.tx_pattern.clone(), rx_patterns },
        link: LinkConfig {
            reference_snr_db: args.reference_snr_db,
            input_power_adjustment_db: args.input_power_adjustment_db,
            ..LinkConfig::default()
        },
        rf_chain: if args.no_rf_chain { RfChainConfig::off() } else { RfChainConfig::default() },
        ..RadioConfig::default()
    })
    .map_err(with_flags)?;
    if radio.amplitude_scale(args.tx_power_offset_db) == 0.0 {
        bail!("the antenna patterns have no gain at boresight, to which the reference SNR belongs");
    }
    let (_, world, [tx, rx]) = args.link.load(radio.band().carrier_hz)?;
    let mut simulator = LinkSimulator::new(Arc::new(radio)).with_options(args.propagation.options())?;
    simulator.trace(world.room, &world.surfaces, &world.boxes, &tx, &rx)?;
    Ok(simulator)
}

fn draw_rf_chain(args: &Args, simulator: &LinkSimulator, index: u64) -> RfChainDraw {
    let [mut rng, _] = seeded_streams(args.seed, if args.redraw_rf_chain { index } else { 0 });
    simulator.radio().config().rf_chain.draw(&mut rng)
}

fn write(args: &Args, simulator: &mut LinkSimulator, clean: &Observation) -> anyhow::Result<()> {
    let bins = clean.bins();
    let count = usize::try_from(args.count)?;
    let mut writer = NpyWriter::<Complex32>::create(&args.out, &[count, bins, ELEMENTS])?;
    let mut perturbed = clean.clone();
    let mut noisy = clean.clone();
    let mut row = vec![Complex32::default(); bins * ELEMENTS];
    let progress = progress::bar(args.count, "observations");
    for index in 0..args.count {
        if args.stage != Stage::Clean && (index == 0 || args.redraw_rf_chain) {
            perturbed.clone_from(clean);
            simulator.perturb(&draw_rf_chain(args, simulator, index), &mut perturbed);
        }
        noisy.clone_from(&perturbed);
        if args.stage == Stage::Noisy {
            let [_, mut noise] = seeded_streams(args.seed, index);
            simulator.add_noise(&mut noise, &mut noisy);
        }
        noisy.write_interleaved(&mut row);
        writer.write(&row)?;
        if index % 1024 == 0 {
            progress.set_position(index);
        }
    }
    progress.finish_and_clear();
    writer.finish()?;
    Ok(())
}

fn db(power: f64) -> f64 {
    10.0 * power.log10()
}

fn report(args: &Args, simulator: &LinkSimulator, power: f64) -> serde_json::Value {
    let band = simulator.radio().band();
    let scale = simulator.radio().amplitude_scale(args.tx_power_offset_db);
    let paths = simulator.paths().iter().zip(simulator.element_paths()).map(|(path, heard)| {
        let gain = heard.gain.map(|gain| gain * scale);
        json!({
            "kind": path.kind().to_string(),
            "surface": path.interactions().to_string(),
            "delay_s": heard.delay,
            "gain": gain.map(|gain| [gain.re, gain.im]),
            "snr_db": db(gain.iter().map(num_complex::Complex64::norm_sqr).sum::<f64>() / gain.len() as f64),
        })
    });
    let rf_chain = (args.stage != Stage::Clean && !args.redraw_rf_chain).then(|| draw_rf_chain(args, simulator, 0));
    json!({
        "file": args.out.display().to_string(),
        "shape": [args.count, band.bins as u64, ELEMENTS as u64],
        "seed": args.seed,
        "band": band,
        "max_order": simulator.options().max_order,
        "transmission": simulator.options().transmission,
        "left_out": left_out_to_json(simulator.left_out()),
        "mean_snr_db": if power > 0.0 { Some(db(power)) } else { None },
        "paths": paths.collect::<Vec<_>>(),
        "rf_chain": rf_chain,
    })
}
