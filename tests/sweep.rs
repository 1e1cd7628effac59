//! `magnetar sweep`.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::cli::{fail, magnetar, succeed};
use crate::folder::files;

const SWEEP: &str = "name = \"snr\"\ndescription = \"a <test>\"\nsplit = \"test\"\nrows = 60\n\
    [[axis]]\nkey = \"link.reference_snr_db\"\nvalues = [30, 50]\n\
    [[axis]]\nkey = \"surfaces.board_material\"\nvalues = [\"glass\", \"metal\"]\n";

#[test]
fn a_sweep_writes_a_table_and_a_page_once_and_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snr.toml");
    fs::write(&file, SWEEP).unwrap();
    let (file, out) = (file.to_str().unwrap(), folder.path().join("out"));
    let out_arg = out.to_str().unwrap();
    let said: serde_json::Value = serde_json::from_str(&succeed(&["sweep", file, "--out", out_arg, "--json"])).unwrap();
    assert_eq!((said["points_made"].as_u64(), said["rows_made"].as_u64()), (Some(4), Some(240)));
    let page = fs::read_to_string(out.join("sweep.html")).unwrap();
    assert!(page.contains("Main effects of ") && page.contains("<code>link.reference_snr_db</code>"));
    assert!(!page.contains("Main effects of link.") && page.contains("a &lt;test&gt;"));
    assert!(!page.contains("http://") || page.matches("http://").count() == page.matches("http://www.w3.org").count());
    let table = fs::read(out.join("sweep.parquet")).unwrap();
    assert_eq!(table[..4], *b"PAR1");
    assert!(succeed(&["verify", out_arg]).contains("valid"));
    let again: serde_json::Value =
        serde_json::from_str(&succeed(&["sweep", file, "--out", out_arg, "--json"])).unwrap();
    assert_eq!((again["points_kept"].as_u64(), again["rows_made"].as_u64()), (Some(4), Some(0)));
    assert!(fs::read(out.join("sweep.parquet")).unwrap() == table);
    // A flipped bit is found wherever it is, also in what no number depends on.
    for name in ["sweep.json", "sweep.html", "sweep.parquet"] {
        let (path, whole) = (out.join(name), fs::read(out.join(name)).unwrap());
        let at = whole.windows(3).position(|w| w == b"snr").unwrap_or(whole.len() / 2);
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&path, damaged).unwrap();
        let output = magnetar(&["verify", out_arg]).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(!output.status.success() && String::from_utf8_lossy(&said).contains(name), "{name}");
        fs::write(&path, whole).unwrap();
    }
    assert!(succeed(&["verify", out_arg]).contains("valid"));
}

/// Points measured into folders of their own, put together, are the sweep of one run.
#[test]
fn parts_of_a_sweep_are_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = path("snr.toml");
    fs::write(&file, SWEEP).unwrap();
    succeed(&["sweep", &file, "--out", &path("whole")]);
    fs::create_dir_all(folder.path().join("together/points")).unwrap();
    for part in ["0..1", "1..4"] {
        let said = succeed(&["sweep", &file, "--points", part, "--out", &path(part), "--json"]);
        assert!(said.contains("points_made") && !folder.path().join(part).join("sweep.json").exists());
        for result in fs::read_dir(folder.path().join(part).join("points")).unwrap() {
            let result = result.unwrap();
            fs::copy(result.path(), folder.path().join("together/points").join(result.file_name())).unwrap();
        }
    }
    let said: serde_json::Value =
        serde_json::from_str(&succeed(&["sweep", &file, "--out", &path("together"), "--json"])).unwrap();
    assert_eq!((said["points_made"].as_u64(), said["points_kept"].as_u64()), (Some(0), Some(4)));
    assert_eq!(files(&folder.path().join("whole")), files(&folder.path().join("together")));
    assert!(fail(&["sweep", &file, "--points", "2..9", "--out", &path("x")]).contains("the sweep has 4"));
    assert!(fail(&["sweep", &file, "--points", "3", "--out", &path("x")]).contains("A..B"));
    assert!(!folder.path().join("x").exists());
}

#[test]
fn wrong_sweeps_fail_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.toml");
    let (path, out) = (file.to_str().unwrap(), folder.path().join("out"));
    for (from, to, said) in [
        ("values = [30, 50]", "values = [30, 1000]", "from -100 to 100"),
        ("link.reference_snr_db", "link.snr", "unknown key"),
        ("rows = 60", "rows = 1000000000", "rows"),
    ] {
        fs::write(&file, SWEEP.replace(from, to)).unwrap();
        let error = fail(&["sweep", path, "--out", out.to_str().unwrap()]);
        assert!(error.contains(said), "{error}");
        assert!(!out.exists());
    }
    assert!(fail(&["sweep", "nowhere.toml", "--out", "x"]).contains("rf_chain"));
}

#[test]
fn shipped_sweeps_are_listed_shown_and_checked() {
    let list = succeed(&["sweep", "--list"]);
    for name in ["materials", "rf_chain", "board", "sensitivity"] {
        assert!(list.contains(name));
        assert!(succeed(&["sweep", "--show", name]).contains("[[axis]]"));
    }
    assert_eq!(succeed(&["sweep", "rf_chain", "--dry-run"]).lines().count(), 20);
}

#[test]
fn a_killed_sweep_is_finished_to_the_same_bytes_by_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snr.toml");
    let axis = "from = 20\nto = 60\nsteps = 15";
    for (store, rows) in [("false", "rows = 400"), ("true", "rows = 100")] {
        let text = SWEEP.replace("rows = 60", &format!("{rows}\nstore = {store}")).replace("values = [30, 50]", axis);
        fs::write(&file, text).unwrap();
        let (whole, killed) = (folder.path().join(store).join("whole"), folder.path().join(store).join("killed"));
        let file = file.to_str().unwrap();
        succeed(&["sweep", file, "--out", whole.to_str().unwrap(), "--threads", "1"]);
        let args = ["sweep", file, "--out", killed.to_str().unwrap(), "--threads", "2"];
        let mut child = magnetar(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let made = || fs::read_dir(killed.join("points")).map_or(0, |entries| entries.count());
        while made() < 5 && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        child.wait().unwrap();
        if !killed.join("sweep.json").exists() {
            assert!(fail(&["verify", killed.to_str().unwrap()]).contains("not finished"));
        }
        succeed(&args);
        assert!(files(&killed) == files(&whole));
        assert!(succeed(&["verify", killed.to_str().unwrap()]).contains("valid"));
        assert!(fail(&["stats", killed.to_str().unwrap()]).contains("the folder of a sweep"));
    }
}
