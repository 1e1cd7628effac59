//! `--backend` on the real binary, with the stand-in driver of the tests in its library path.

use std::path::Path;
use std::process::{Command, Output};

use magnetar_cuda_emulator::{Setting, library_dir};
use serde_json::Value;

use crate::cli;

/// A call that makes a few small shards on a backend.
fn generate(out: &Path, backend: &str) -> Command {
    let mut command = cli::magnetar(&["generate", "--split", "test", "--limit", "7", "--shard-size", "3"]);
    command.args(["--threads", "2", "--backend", backend, "--out"]).arg(out).env("LD_LIBRARY_PATH", library_dir());
    command
}

fn set(command: &mut Command, setting: Setting, value: u64) -> Output {
    command.env(setting.variable(), value.to_string()).output().expect("the binary starts")
}

fn stderr(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

fn manifest(out: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(out.join("manifest.json")).unwrap()).unwrap()
}

#[test]
fn a_dataset_of_the_gpu_says_so_and_verifies_on_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("data");
    let made = generate(&out, "cuda").output().unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    assert!(stderr(&made).contains("backend: cuda (stand-in"));
    assert_eq!(manifest(&out)["backend"], "cuda");
    cli::succeed(&["verify", out.to_str().unwrap()]);
    // The CPU's rows are others, by rounding: they may not be mixed in.
    let mixed = generate(&out, "cpu").output().unwrap();
    assert_eq!(mixed.status.code(), Some(1));
    assert!(stderr(&mixed).contains("backend: cpu, cuda"), "{}", stderr(&mixed));
}

#[test]
fn without_a_gpu_cuda_is_an_error_and_auto_is_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let (out, again) = (folder.path().join("auto"), folder.path().join("cpu"));
    let refused = set(&mut generate(&out, "cuda"), Setting::Devices, 0);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("--backend cpu"), "{}", stderr(&refused));
    assert!(!out.exists());
    let auto = set(&mut generate(&out, "auto"), Setting::Devices, 0);
    assert!(auto.status.success() && stderr(&auto).contains("backend: cpu: "), "{}", stderr(&auto));
    assert!(generate(&again, "cpu").output().unwrap().status.success());
    let shard = |out: &Path| std::fs::read(out.join("test/part-00002.parquet")).unwrap();
    assert_eq!(shard(&out), shard(&again));
}

#[test]
fn a_device_that_fails_in_the_middle_is_an_error_and_the_run_can_be_finished() {
    let folder = tempfile::tempdir().unwrap();
    let (out, whole) = (folder.path().join("data"), folder.path().join("whole"));
    for (setting, nth) in [(Setting::FailAsync, 2), (Setting::FailLaunch, 1), (Setting::FailAlloc, 3)] {
        let broken = set(&mut generate(&out, "cuda"), setting, nth);
        assert_eq!(broken.status.code(), Some(1), "{setting:?}");
        assert!(stderr(&broken).contains("the CUDA driver failed to"), "{}", stderr(&broken));
    }
    assert!(generate(&out, "cuda").output().unwrap().status.success());
    assert!(generate(&whole, "cuda").output().unwrap().status.success());
    for shard in ["test/part-00000.parquet", "test/part-00001.parquet", "test/part-00002.parquet"] {
        assert_eq!(std::fs::read(out.join(shard)).unwrap(), std::fs::read(whole.join(shard)).unwrap());
    }
}

#[test]
fn posteriors_of_both_backends_agree() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("data");
    assert!(generate(&out, "cpu").output().unwrap().status.success());
    let evaluate = |backend: &str| {
        let mut command = cli::magnetar(&["evaluate", "--limit", "2", "--json", "--backend", backend]);
        let output = command.arg(&out).env("LD_LIBRARY_PATH", library_dir()).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["twin"]["nll"].as_f64().unwrap()
    };
    assert!((evaluate("cpu") - evaluate("cuda")).abs() < 1e-3);
    let mut posterior = cli::magnetar(&["posterior", "--row", "1", "--backend", "cuda"]);
    let refused = set(posterior.arg(&out).env("LD_LIBRARY_PATH", library_dir()), Setting::FailLaunch, 2);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("the CUDA driver failed to start the scoring"), "{}", stderr(&refused));
}

#[test]
fn the_benchmark_runs() {
    let mut command = cli::magnetar(&["bench-gpu", "--rows", "20", "--posteriors", "1"]);
    let output = command.env("LD_LIBRARY_PATH", library_dir()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 4);
    let mut command = cli::magnetar(&["bench-gpu", "--rows", "20", "--posteriors", "1"]);
    let none = set(command.env("LD_LIBRARY_PATH", library_dir()), Setting::Devices, 0);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("no GPU to measure"), "{}", stderr(&none));
}
