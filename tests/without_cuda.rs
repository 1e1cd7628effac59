//! A build without the `cuda` feature: the same commands, and a word about what is missing.

use crate::cli;

#[test]
fn devices_says_that_it_was_built_without() {
    assert!(cli::succeed(&["devices"]).contains("built without CUDA"));
    let json: serde_json::Value = serde_json::from_str(&cli::succeed(&["devices", "--json"])).unwrap();
    assert!(json["problem"].as_str().unwrap().contains("--features cuda"), "{json}");
}

#[test]
fn cuda_is_an_error_and_auto_is_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let generate = |out: &str, backend: &str| {
        let mut command =
            cli::magnetar(&["generate", "--split", "test", "--limit", "2", "--backend", backend, "--out"]);
        command.arg(folder.path().join(out)).output().unwrap()
    };
    let refused = generate("refused", "cuda");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("built without CUDA"));
    assert!(!folder.path().join("refused").exists());
    let auto = generate("auto", "auto");
    assert!(auto.status.success() && String::from_utf8_lossy(&auto.stderr).contains("backend: cpu: "));
    assert!(generate("cpu", "cpu").status.success());
    let shard = |out: &str| std::fs::read(folder.path().join(out).join("test/part-00000.parquet")).unwrap();
    assert_eq!(shard("auto"), shard("cpu"));
}
