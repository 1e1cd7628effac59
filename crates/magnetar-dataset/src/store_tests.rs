//! Datasets in an object store, here one in memory, are those of a disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use magnetar_files::npy::write_npy;
use magnetar_files::{AtomicFile, is_folder, list_folder, read_bytes, remove_file};
use num_complex::Complex32;

use crate::{
    Campaign, Columns, Dataset, Job, Manifest, Plan, Recipe, Slice, Summary, VerifyOptions, import, merge, verify,
};

/// A folder in a store of its own.
fn in_store(name: &str) -> PathBuf {
    PathBuf::from(format!("memory://dataset-{name}/deep/folder"))
}

fn job(out: &Path, limit: u64) -> Job {
    let recipe = Recipe::load("paper", &["store.shard_rows=16".to_owned(), "store.csi=f16".to_owned()]).unwrap();
    let splits = vec!["test".to_owned(), "val".to_owned()];
    Job { splits, limit: Some(limit), threads: 2, ..Job::new(Arc::new(recipe), 3, out) }
}

fn run(job: Job) -> Summary {
    Plan::new(job).unwrap().run(&|_| {}).unwrap()
}

/// All files below a folder, by their names in it.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for path in list_folder(folder).unwrap() {
        let name = PathBuf::from(path.file_name().unwrap());
        if is_folder(&path).unwrap() {
            found.extend(content(&path).into_iter().map(|(inside, bytes)| (name.join(inside), bytes)));
        } else {
            found.insert(name, read_bytes(&path, 1 << 30).unwrap());
        }
    }
    found
}

/// What a local run makes.
fn local(limit: u64) -> BTreeMap<PathBuf, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    run(job(folder.path(), limit));
    content(folder.path())
}

fn problems(folder: &Path, partial: bool) -> Vec<String> {
    let found = verify(folder, VerifyOptions { sample: 5, seed: 1, partial }, &|_| {}).unwrap();
    found.problems.into_iter().chain(found.notes).collect()
}

#[test]
fn a_run_into_a_store_gives_the_bytes_of_a_local_one_and_is_finished_by_the_same_command() {
    let out = in_store("run");
    run(job(&out, 100));
    let whole = local(100);
    assert!(content(&out) == whole);
    assert_eq!(problems(&out, false), Vec::<String>::new());
    assert_eq!(Plan::new(job(&out, 100)).unwrap().rows(), 0);
    // Lost; cut off; never recorded.
    remove_file(&out.join("val/part-00002.parquet")).unwrap();
    AtomicFile::write(&out.join("test/part-00001.parquet"), b"PAR1").unwrap();
    let mut manifest = Manifest::read(&out).unwrap();
    manifest.splits["test"].shards.pop();
    manifest.write(&out).unwrap();
    assert!(!problems(&out, false).is_empty());
    assert_eq!(run(job(&out, 100)).rows, 16 + 16 + 4);
    assert!(content(&out) == whole);
}

#[test]
fn rows_are_read_from_a_store() {
    let (out, folder) = (in_store("rows"), tempfile::tempdir().unwrap());
    run(job(&out, 50));
    run(job(folder.path(), 50));
    let (ours, theirs) = (Dataset::open(&out).unwrap(), Dataset::open(folder.path()).unwrap());
    for columns in [Columns::All, Columns::WithoutCsi] {
        let rows = |of: &Dataset| of.records("test", columns).unwrap().map(Result::unwrap).collect::<Vec<_>>();
        assert_eq!(rows(&ours), rows(&theirs));
        assert_eq!(ours.read_row("val", 33, columns).unwrap(), theirs.read_row("val", 33, columns).unwrap());
    }
    // A changed byte is reported, not read.
    let path = out.join("test/part-00000.parquet");
    let mut bytes = read_bytes(&path, 1 << 30).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    AtomicFile::write(&path, &bytes).unwrap();
    let error = ours.read_row("test", 0, Columns::All).unwrap_err().to_string();
    assert!(error.starts_with("memory://dataset-rows/") && error.contains("damaged"), "{error}");
    assert!(problems(&out, false)[0].contains("SHA-256"));
}

#[test]
fn writers_at_once_make_one_dataset() {
    let out = in_store("at-once");
    std::thread::scope(|scope| {
        // Three parts, and two who make all of it: every shard is put by three.
        for part in 1..=3 {
            let out = out.clone();
            scope.spawn(move || run(Job { slice: Slice::Part { part, parts: 3 }, ..job(&out, 100) }));
        }
        for _ in 0..2 {
            scope.spawn(|| run(job(&out, 100)));
        }
    });
    assert!(content(&out) == local(100));
    // Splits of one dataset, too.
    let out = in_store("splits-at-once");
    std::thread::scope(|scope| {
        for split in ["test", "val"] {
            let out = out.clone();
            scope.spawn(move || run(Job { splits: vec![split.to_owned()], ..job(&out, 100) }));
        }
    });
    assert!(content(&out) == local(100));
}

#[test]
fn a_dataset_in_a_store_grows() {
    let out = in_store("grows");
    run(job(&out, 40));
    assert!(content(&out) == local(40));
    run(job(&out, 100));
    assert!(content(&out) == local(100));
}

#[test]
fn another_dataset_is_not_written_over() {
    let out = in_store("another");
    run(job(&out, 20));
    let other = Job { seed: 4, ..job(&out, 20) };
    assert!(Plan::new(other.clone()).unwrap_err().to_string().contains("seed: 4, 3"));
    // Nor where it is begun after the other was planned.
    let out = in_store("another-at-once");
    let plans = [3, 4].map(|seed| Plan::new(Job { seed, ..job(&out, 20) }).unwrap());
    let [first, second] = plans;
    first.run(&|_| {}).unwrap();
    let error = second.run(&|_| {}).unwrap_err().to_string();
    assert!(error.contains("another dataset") && error.contains("seed: 4, 3"), "{error}");
    assert!(content(&out) == local(20));
}

#[test]
fn lists_of_many_shards_are_read_back_and_damage_to_them_is_reported() {
    // Shards of 10 rows: 12 of them, of which tests put the first 8 into a list (see `shard_lists.rs`).
    let folder = tempfile::tempdir().unwrap();
    let many = |out: &Path| {
        let mut job = job(out, 120);
        Arc::make_mut(&mut job.recipe).store.shard_rows = 10;
        job
    };
    for out in [folder.path().to_owned(), in_store("lists")] {
        run(many(&out));
        let text = String::from_utf8(read_bytes(&out.join("manifest.json"), 1 << 20).unwrap()).unwrap();
        assert!(text.contains("\"lists\"") && text.matches("\"number\"").count() == 2 * 4, "{text}");
        assert_eq!(Manifest::read(&out).unwrap().splits["test"].shards.len(), 12);
        assert_eq!(Plan::new(many(&out)).unwrap().rows(), 0);
        assert_eq!(problems(&out, false), Vec::<String>::new());
    }
    let whole = content(folder.path());
    assert!(whole == content(&in_store("lists")));
    let path = folder.path().join("test/shards-00000.json");
    let text = String::from_utf8(read_bytes(&path, 1 << 20).unwrap()).unwrap();
    std::fs::write(&path, text.replacen("10", "11", 1)).unwrap();
    let error = Dataset::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("shards-00000.json") && error.contains("damaged"), "{error}");
}

#[test]
fn parts_are_merged_from_stores_and_into_them() {
    let (out, folder) = (in_store("merged"), tempfile::tempdir().unwrap());
    let parts = [in_store("part-1"), folder.path().join("part-2")];
    for (part, out) in (1..).zip(&parts) {
        run(Job { slice: Slice::Part { part, parts: 2 }, ..job(out, 100) });
        assert_eq!(problems(out, true), Vec::<String>::new());
    }
    merge(&parts, &out, &|_| {}).unwrap();
    assert!(content(&out) == local(100));
    merge(&[out], &folder.path().join("back"), &|_| {}).unwrap();
    assert!(content(&folder.path().join("back")) == local(100));
}

#[test]
fn a_url_of_a_file_is_its_path() {
    let folder = tempfile::tempdir().unwrap();
    run(job(Path::new(&format!("file://{}/a%20b", folder.path().display())), 20));
    assert!(content(&folder.path().join("a b")) == local(20));
}

/// A campaign of rows of one wave, in shards of 16.
fn campaign(folder: &Path, noise_variance: f64) -> Campaign {
    let recipe = Recipe::load("paper", &["store.shard_rows=16".to_owned()]).unwrap();
    std::fs::write(folder.join("small.toml"), recipe.to_toml()).unwrap();
    let rows = 40;
    write_npy(&folder.join("heard.npy"), &[rows, 512, 2], &vec![Complex32::new(3.0, 4.0); rows * 1024]).unwrap();
    let poses: String = (0..rows).map(|n| format!("0.1,0.2,{n}\n")).collect();
    std::fs::write(folder.join("rows.csv"), format!("x,y,heading_deg\n{poses}")).unwrap();
    let text = format!(
        "name = \"a wave\"\nscene = \"lab\"\nrecipe = \"small.toml\"\n[receiver]\nnoise_variance = {noise_variance:?}\n\
         [[recording]]\nobservations = \"heard.npy\"\nrows = \"rows.csv\"\n"
    );
    std::fs::write(folder.join("campaign.toml"), text).unwrap();
    Campaign::load(&folder.join("campaign.toml")).unwrap()
}

#[test]
fn an_import_into_a_store_is_that_of_a_folder_and_goes_on_where_it_stopped() {
    let (out, folder) = (in_store("import"), tempfile::tempdir().unwrap());
    let local = folder.path().join("data");
    import(&campaign(folder.path(), 1.0), &local, &|_| {}).unwrap();
    let whole = content(&local);
    let again = || import(&campaign(folder.path(), 1.0), &out, &|_| {}).unwrap();
    assert_eq!(again().rows, 40);
    assert!(content(&out) == whole);
    // Stopped before the manifest named its shards; one was lost.
    let mut manifest = Manifest::read(&out).unwrap();
    manifest.splits["test"].shards.truncate(1);
    manifest.write(&out).unwrap();
    remove_file(&out.join("test/part-00001.parquet")).unwrap();
    again();
    assert!(content(&out) == whole);
    // The same recordings under other settings, and other recordings, are other datasets.
    let error = import(&campaign(folder.path(), 2.0), &out, &|_| {}).unwrap_err().to_string();
    assert!(error.contains("settings have changed"), "{error}");
    let mut other = campaign(folder.path(), 1.0);
    other.name = "another".to_owned();
    let error = import(&other, &out, &|_| {}).unwrap_err().to_string();
    assert!(error.contains("holds another dataset"), "{error}");
    assert!(content(&out) == whole);
}
