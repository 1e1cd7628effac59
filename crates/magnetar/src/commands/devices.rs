//! `magnetar devices`.

use std::process::ExitCode;

use magnetar_cuda::{DeviceInfo, KernelSource};

use crate::output::counted;

/// Flags of `magnetar devices`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  magnetar devices\n  magnetar devices --json\n  magnetar devices --nvrtc\n\nThe CPU \
                        does everything a GPU can do here; no GPU is needed."
)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Compile the kernels with this machine's NVRTC instead of loading the embedded PTX.
    #[arg(long)]
    nvrtc: bool,
}

/// Shows the GPUs, their drivers and which kernels load.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let kernels = if args.nvrtc { KernelSource::Nvrtc } else { KernelSource::Embedded };
    let found = magnetar_cuda::devices(kernels);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if args.json {
        let (devices, problem) = match &found {
            Ok(devices) => (devices.iter().map(json).collect(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        println!("{}", serde_json::json!({ "cpu_threads": threads, "gpus": devices, "problem": problem }));
        return Ok(ExitCode::SUCCESS);
    }
    println!("cpu: {}", counted(threads, "thread"));
    match found {
        Ok(devices) => devices.iter().for_each(print),
        Err(error) => println!("gpu: none: {error}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn json(device: &DeviceInfo) -> serde_json::Value {
    let kernels: serde_json::Map<_, _> = device
        .kernels
        .iter()
        .map(|(name, error)| {
            ((*name).to_owned(), error.as_ref().map_or_else(|| "loads".into(), |error| error.as_str().into()))
        })
        .collect();
    serde_json::json!({
        "device": device.ordinal,
        "name": device.name,
        "compute_capability": [device.compute_capability.0, device.compute_capability.1],
        "multiprocessors": device.multiprocessors,
        "memory_bytes": device.total_bytes,
        "free_bytes": device.free_bytes,
        "driver_cuda": [device.driver.0, device.driver.1],
        "kernels": kernels,
    })
}

fn print(device: &DeviceInfo) {
    let gib = |bytes: usize| bytes as f64 / (1u64 << 30) as f64;
    let ((major, minor), (cuda, cuda_minor)) = (device.compute_capability, device.driver);
    println!("gpu {}: {}", device.ordinal, device.name);
    println!("  compute capability {major}.{minor}, {} multiprocessors", device.multiprocessors);
    println!("  memory {:.2} GiB, {:.2} GiB free", gib(device.total_bytes), gib(device.free_bytes));
    println!("  driver for CUDA {cuda}.{cuda_minor}");
    for (name, error) in &device.kernels {
        println!("  kernel {name}: {}", error.as_deref().unwrap_or("loads"));
    }
}
