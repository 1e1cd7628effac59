//! `magnetar doctor`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use magnetar_cuda::KernelSource;
use magnetar_dataset::{Generator, Recipe};
use magnetar_signal::{PROCESSOR_CLASS, has_avx2};
use serde_json::json;

use super::version;
use crate::console::proc_bytes;
use crate::progress;

/// How long rows are made for.
const TRIAL: Duration = Duration::from_millis(600);
/// Rows made between two looks at the clock.
const TRIAL_ROWS: u64 = 512;
/// Bytes written to measure the disk.
const DISK_BYTES: usize = 64 << 20;

/// Flags of `magnetar doctor`.
#[derive(clap::Args)]
#[command(after_help = "\
Writes 64 MB into a file without a name in --dir, which leaves nothing behind.

Examples:
  magnetar doctor
  magnetar doctor --dir /scratch --json")]
pub struct Args {
    /// The folder whose disk is measured.
    #[arg(long, default_value = ".", value_name = "DIR")]
    dir: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Shows what this machine has, and how fast it is at what is done here.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = memory_bytes();
    let measuring = progress::phase("measuring processor and disk");
    let rows = rows_per_second()?;
    let disk = disk_bytes_per_second(&args.dir)
        .with_context(|| format!("{}: nothing can be written there; give another --dir", args.dir.display()))?;
    drop(measuring);
    let (gpus, problem) = match magnetar_cuda::devices(KernelSource::Embedded) {
        Ok(devices) => (devices.into_iter().map(|device| device.name).collect(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    if args.json {
        let shown = json!({
            "version": env!("CARGO_PKG_VERSION"), "commit": env!("MAGNETAR_COMMIT"), "features": version::features(),
            "processor_class": PROCESSOR_CLASS, "avx2": has_avx2(), "threads": threads,
            "memory_bytes": memory.map(|(total, _)| total), "memory_available_bytes": memory.map(|(_, free)| free),
            "rows_per_second": rows, "disk_bytes_per_second": disk,
            "gpus": gpus, "gpu_problem": problem,
        });
        println!("{shown:#}");
        return Ok(ExitCode::SUCCESS);
    }
    println!("magnetar    {}", version::LONG);
    let vectors = if has_avx2() { "AVX2 is used" } else { "no AVX2: the same values, more slowly" };
    println!("processor   class {PROCESSOR_CLASS}, {threads} threads; {vectors}");
    if let Some((total, available)) = memory {
        println!("memory      {}, {} available", progress::bytes(total), progress::bytes(available));
    }
    let disk = progress::bytes(number(disk));
    println!("disk        {disk}/s written and synced in {}", args.dir.display());
    println!("speed       {rows:.0} rows/s of recipe paper, drawn, traced, synthesised and estimated in memory");
    match problem {
        None => println!("gpu         {}", list(&gpus.iter().map(String::as_str).collect::<Vec<_>>())),
        Some(problem) => println!("gpu         none ({problem}); nothing needs one"),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for display")]
fn number(x: f64) -> u64 {
    x as u64
}

/// Total and available memory, where the system says so.
fn memory_bytes() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    Some((proc_bytes(&text, "MemTotal:")?, proc_bytes(&text, "MemAvailable:")?))
}

#[allow(clippy::cast_precision_loss, reason = "for display")]
fn rows_per_second() -> anyhow::Result<f64> {
    let generator = Generator::new(&Arc::new(Recipe::paper()), 1, "train")?;
    // The first rows warm up.
    generator.map_rows(0..TRIAL_ROWS, |_| ())?;
    let started = Instant::now();
    let mut rows = 0;
    while started.elapsed() < TRIAL {
        generator.map_rows(rows..rows + TRIAL_ROWS, |_| ())?;
        rows += TRIAL_ROWS;
    }
    Ok(rows as f64 / started.elapsed().as_secs_f64())
}

#[allow(clippy::cast_precision_loss, reason = "for display")]
fn disk_bytes_per_second(folder: &Path) -> std::io::Result<f64> {
    // Not zeros, which some file systems do not store.
    let block: Vec<u8> = (0..1usize << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    // A file without a name: nothing is left behind, however this ends.
    let mut file = tempfile::tempfile_in(folder)?;
    let started = Instant::now();
    for _ in 0..DISK_BYTES / block.len() {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    Ok(DISK_BYTES as f64 / started.elapsed().as_secs_f64())
}
