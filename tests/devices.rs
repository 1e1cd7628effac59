//! `magnetar devices`, with no GPU and with the stand-in driver of the tests.

use std::process::Output;

use magnetar_cuda_emulator::{Setting, library_dir};
use serde_json::Value;

use crate::cli;

/// Runs the binary with the stand-in driver in its library path.
fn with_stand_in(args: &[&str], settings: &[(Setting, u64)]) -> Output {
    let mut command = cli::magnetar(args);
    command.env("LD_LIBRARY_PATH", library_dir());
    for (setting, value) in settings {
        command.env(setting.variable(), value.to_string());
    }
    command.output().expect("the binary starts")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn a_machine_without_a_gpu_is_no_error() {
    let out: Value = serde_json::from_str(&cli::succeed(&["devices", "--json"])).unwrap();
    // A developer's machine may have a GPU; then there is no problem to report.
    assert_eq!(out["problem"].is_null(), !out["gpus"].as_array().unwrap().is_empty(), "{out}");
    assert!(cli::succeed(&["devices"]).starts_with("cpu: "));
    let none = json(&with_stand_in(&["devices", "--json"], &[(Setting::Devices, 0)]));
    assert!(none["problem"].as_str().unwrap().contains("no usable GPU"), "{none}");
}

#[test]
fn a_device_is_described() {
    let out = json(&with_stand_in(&["devices", "--json"], &[(Setting::MemoryBytes, 3 << 30)]));
    let gpu = &out["gpus"][0];
    assert_eq!(gpu["memory_bytes"], 3u64 << 30);
    assert_eq!(gpu["driver_cuda"], serde_json::json!([12, 0]));
    assert!(gpu["kernels"].as_object().unwrap().values().all(|state| state == "loads"), "{gpu}");
    let text = with_stand_in(&["devices"], &[(Setting::FailLoad, 1)]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("the CUDA driver failed to load a kernel"));
}

#[test]
fn a_kernel_that_cannot_be_used_says_why() {
    let states = |args: &[&str], capability| -> Vec<String> {
        let out = json(&with_stand_in(args, &[(Setting::ComputeCapability, capability)]));
        let kernels = out["gpus"][0]["kernels"].as_object().unwrap().values();
        kernels.map(|state| state.as_str().unwrap().to_owned()).collect()
    };
    // The embedded PTX is for compute capability 7.0 and later.
    assert!(states(&["devices", "--json"], 61).iter().all(|state| state.contains("NO_BINARY_FOR_GPU")));
    assert!(states(&["devices", "--json"], 121).iter().all(|state| state == "loads"));
    // A developer's machine may have NVRTC; `kernels/check.sh` brings its own.
    let without = states(&["devices", "--nvrtc", "--json"], 70);
    assert!(without.iter().all(|state| state.contains("NVRTC (libnvrtc) was not found") || state == "loads"));
}
