//! Finished datasets stay whole: whatever is planned, refused or stopped later, every row that was there is there.

use std::fs;
use std::path::Path;

use magnetar_dataset::Manifest;

use crate::cli;
use crate::folder::files;

fn generate(out: &Path, more: &[&str]) -> Vec<String> {
    let given = ["generate", "--split", "train", "--shard-size", "50", "--csi", "none", "--out", out.to_str().unwrap()];
    given.iter().chain(more).map(|arg| (*arg).to_owned()).collect()
}

fn call(args: &[String]) -> String {
    cli::succeed(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

fn verified(out: &Path, more: &[&str]) -> serde_json::Value {
    let mut args = vec!["verify", out.to_str().unwrap(), "--json"];
    args.extend(more);
    serde_json::from_str(&cli::succeed(&args)).unwrap()
}

#[test]
fn planning_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/dataset");
    call(&generate(&out, &["--limit", "200", "--dry-run"]));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    call(&generate(&out, &["--limit", "130"]));
    let before = files(&out);
    let planned = call(&generate(&out, &["--limit", "200", "--dry-run", "--json"]));
    // The last shard is cut short by the limit and is made again.
    let planned: serde_json::Value = serde_json::from_str(&planned).unwrap();
    assert_eq!((&planned["rows_to_make"], &planned["rows_kept"]), (&100.into(), &100.into()));
    assert!(files(&out) == before);
    assert_eq!(verified(&out, &[])["verification"]["rows"], 130);
}

/// More rows than any disk holds.
#[test]
fn a_run_refused_for_lack_of_space_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let endless = ["--set", "splits.train.board=600000000", "--set", "splits.train.no_board=400000000"];
    let mut args = vec!["generate", "--split", "train", "--shard-size", "100000", "--out", out];
    args.extend(endless);
    let more = |last: &[&'static str]| args.iter().chain(last).copied().collect::<Vec<_>>();
    cli::succeed(&more(&["--limit", "30"]));
    let before = files(folder.path());
    let refused = cli::fail(&more(&[]));
    assert!(refused.contains("--ignore-free-space"), "{refused}");
    assert!(files(folder.path()) == before);
}

#[test]
fn a_split_named_twice_is_made_once_and_the_order_of_names_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, splits: &str| {
        let out = folder.path().join(name);
        let shared = ["generate", "--limit", "20", "--csi", "none", "--out", out.to_str().unwrap(), "--split"];
        cli::succeed(&[&shared[..], &[splits]].concat());
        files(&out)
    };
    assert!(make("twice", "val,train,val") == make("once", "train,val"));
}

/// The two states that a run killed while it extends a dataset can leave beside finished shards.
#[test]
fn a_stopped_extension_loses_no_row_and_is_finished_by_the_same_command() {
    let folder = tempfile::tempdir().unwrap();
    let (out, whole) = (folder.path().join("out"), folder.path().join("whole"));
    call(&generate(&whole, &["--limit", "200"]));
    let longer = fs::read(whole.join("train/part-00002.parquet")).unwrap();
    let replacement = out.join("train/part-00002.parquet.next");
    for committed in [false, true] {
        call(&generate(&out, &["--limit", "130"]));
        fs::write(&replacement, &longer).unwrap();
        if committed {
            let mut manifest = Manifest::read(&whole).unwrap();
            manifest.splits["train"].shards.pop();
            manifest.write(&out).unwrap();
        }
        let found = verified(&out, &["--partial"]);
        assert_eq!(found["verification"]["rows"], if committed { 150 } else { 130 });
        let stats = cli::succeed(&["stats", out.to_str().unwrap(), "--json"]);
        let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
        assert_eq!(stats[0]["all"]["rows"], if committed { 150 } else { 130 });
        call(&generate(&out, &["--limit", "200"]));
        assert!(files(&out) == files(&whole));
        fs::remove_dir_all(&out).unwrap();
    }
}

/// A slice of an extended dataset takes the cut shard with it rather than lose its rows.
#[test]
fn extending_by_a_slice_keeps_the_rows_of_a_cut_shard() {
    let folder = tempfile::tempdir().unwrap();
    call(&generate(folder.path(), &["--limit", "130"]));
    call(&generate(folder.path(), &["--limit", "200", "--shards", "3..4"]));
    assert_eq!(verified(folder.path(), &[])["verification"]["rows"], 200);
}

#[cfg(unix)]
#[test]
fn temporaries_of_a_living_process_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let living = fs::File::create(folder.path().join(".magnetar-posterior.parquet.0")).unwrap();
    living.lock().unwrap();
    fs::write(folder.path().join(".magnetar-left"), "half").unwrap();
    call(&generate(folder.path(), &["--limit", "20"]));
    assert!(folder.path().join(".magnetar-posterior.parquet.0").exists());
    assert!(!folder.path().join(".magnetar-left").exists());
}
