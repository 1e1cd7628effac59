//! Laws of generated rows and files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use magnetar_signal::{BackendError, CpuSynthesis, Observation, SignalRow, SynthesisBackend};

use self::folder::files;
use crate::*;

#[path = "../../../tests/folder.rs"]
mod folder;

/// A small recipe: few rows, shards of ten.
fn recipe(sets: &[&str]) -> Arc<Recipe> {
    let mut all = vec!["store.shard_rows=10".to_owned()];
    all.extend(sets.iter().map(|s| (*s).to_owned()));
    Arc::new(Recipe::load("paper", &all).unwrap())
}

fn job(recipe: &Arc<Recipe>, out: &Path, limit: u64, threads: usize) -> Job {
    Job { limit: Some(limit), threads, ..Job::new(Arc::clone(recipe), 5, out) }
}

fn run(job: Job) -> Summary {
    Plan::new(job).unwrap().run(&|_| {}).unwrap()
}

/// Two datasets that are the same, under these names.
fn twins(folder: &Path, names: [&str; 2], recipe: &Arc<Recipe>, rows: u64) -> [PathBuf; 2] {
    names.map(|name| {
        let out = folder.join(name);
        run(job(recipe, &out, rows, 2));
        out
    })
}

fn check(folder: &Path) -> Vec<String> {
    let options = VerifyOptions { sample: 20, seed: 1, partial: false };
    verify(folder, options, &|_| {}).unwrap().problems
}

#[test]
fn the_same_bytes_for_any_number_of_threads_and_the_same_rows_for_any_shard_size() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name);
    let recipe_ = recipe(&[]);
    run(job(&recipe_, &out("1"), 25, 1));
    let first = files(&out("1"));
    for threads in [2, 7] {
        run(job(&recipe_, &out(&threads.to_string()), 25, threads));
        assert!(files(&out(&threads.to_string())) == first, "{threads} threads");
    }
    let other = recipe(&["store.shard_rows=7"]);
    run(job(&other, &out("other"), 25, 2));
    let (a, b) = (Dataset::open(out("1")).unwrap(), Dataset::open(out("other")).unwrap());
    for split in recipe_.splits.keys() {
        let rows = |d: &Dataset| d.records(split, Columns::All).unwrap().map(Result::unwrap).collect::<Vec<_>>();
        let (a, b) = (rows(&a), rows(&b));
        assert_eq!(a.len() as u64, 25 * u64::from(recipe_.splits[split].views));
        assert!(a == b, "{split}");
    }
    assert_eq!(check(&out("1")), Vec::<String>::new());
}

#[test]
fn a_row_on_disk_is_the_row_made_alone() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(&[]);
    run(job(&recipe, folder.path(), 12, 2));
    let dataset = Dataset::open(folder.path()).unwrap();
    for split in recipe.splits.keys() {
        for index in [0, 7, 11] {
            let made = generate_record(&recipe, 5, split, index).unwrap();
            assert_eq!(dataset.read_row(split, index, Columns::All).unwrap(), made);
            let lean = dataset.read_row(split, index, Columns::WithoutCsi).unwrap();
            assert_eq!(lean, Record { csi: None, ..made });
        }
    }
    assert!(dataset.read_row("test", 12, Columns::All).is_err());
}

#[test]
fn views_of_a_set_share_tx_and_layout() {
    let recipe = recipe(&[]);
    let generator = Generator::new(&recipe, 1, "fusion").unwrap();
    let rows: Vec<Record> = (0..10).map(|i| generator.rows().row(i).unwrap()).collect();
    for set in rows.chunks(5) {
        for (view, row) in set.iter().enumerate() {
            assert_eq!((row.set, row.view as usize), (set[0].set, view));
            assert_eq!((&row.layout, row.tx), (&set[0].layout, set[0].tx));
            assert_eq!(row.materials, set[0].materials);
            assert!(view == 0 || row.rx != set[0].rx);
            assert!(view == 0 || row.tx_power_offset_db != set[0].tx_power_offset_db);
        }
    }
    assert_ne!(rows[0].tx, rows[5].tx);
}

#[test]
fn an_axis_that_a_row_does_not_use_leaves_the_row_as_it_was() {
    let (a, b) = (recipe(&[]), recipe(&["board.width_max_m=1.0", "board.yaw_jitter_max_deg=5"]));
    let split = &a.splits["train"];
    for index in 0..20 {
        let rows = [&a, &b].map(|recipe| generate_record(recipe, 9, "train", index).unwrap());
        if split.has_board(index) {
            assert_ne!(rows[0].layout.board, rows[1].layout.board);
            assert_eq!(rows[0].rf_chain, rows[1].rf_chain);
            assert_eq!(rows[0].tx, rows[1].tx);
        } else {
            assert_eq!(rows[0], rows[1]);
        }
    }
}

#[test]
fn a_damaged_foreign_or_missing_shard_is_found_and_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(&[]);
    let [good, bad] = twins(folder.path(), ["good", "bad"], &recipe, 30);
    let first = files(&good);
    let shard = bad.join("test/part-00001.parquet");
    let mut bytes = fs::read(&shard).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&shard, bytes).unwrap();
    assert!(check(&bad)[0].contains("test/part-00001.parquet"));
    fs::remove_file(&shard).unwrap();
    assert!(check(&bad)[0].contains("test/part-00001.parquet"));
    // A shard of another seed in its place: whole in itself, but not this dataset's.
    let other = folder.path().join("other");
    run(Job { seed: 6, ..job(&recipe, &other, 30, 2) });
    fs::copy(other.join("test/part-00001.parquet"), &shard).unwrap();
    assert!(check(&bad)[0].contains("test/part-00001.parquet"));
    let mut manifest = Manifest::read(&bad).unwrap();
    manifest.splits["test"].shards[1] = Manifest::read(&other).unwrap().splits["test"].shards[1].clone();
    manifest.write(&bad).unwrap();
    assert!(check(&bad)[0].contains("magnetar.seed is 6, expected 5"), "{:?}", check(&bad));
    fs::copy(&shard, bad.join("test/part-00009.parquet")).unwrap();
    assert!(check(&bad)[0].contains("not in the manifest"), "{:?}", check(&bad));
    let refused = Plan::new(job(&recipe, &bad, 30, 2)).unwrap_err().to_string();
    assert!(refused.contains("part-00009"), "{refused}");
    fs::remove_file(bad.join("test/part-00009.parquet")).unwrap();
    fs::remove_file(bad.join("test/part-00002.parquet")).unwrap();
    fs::write(bad.join("test/.magnetar-left"), "half a shard").unwrap();
    // The foreign shard has the recorded hash here, so only verify can tell; the manifest is put right first.
    manifest.splits["test"].shards.remove(1);
    manifest.write(&bad).unwrap();
    let summary = run(job(&recipe, &bad, 30, 2));
    assert_eq!(summary.rows, 20);
    assert!(files(&bad) == first);
}

#[test]
fn another_recipe_seed_or_storage_is_refused_and_the_difference_reported() {
    let folder = tempfile::tempdir().unwrap();
    let base = recipe(&[]);
    run(job(&base, folder.path(), 3, 1));
    let before = files(folder.path());
    for (sets, seed, word) in [
        (vec!["link.reference_snr_db=40"], 5, "link.reference_snr_db: 40.0, 50.0"),
        (vec!["store.csi=f16"], 5, "store.csi"),
        (vec![], 6, "seed: 6, 5"),
    ] {
        let refused = Plan::new(Job { seed, ..job(&recipe(&sets), folder.path(), 3, 1) }).unwrap_err().to_string();
        assert!(refused.contains(word), "{refused}");
    }
    assert!(Plan::new(job(&base, folder.path(), 2, 1)).is_err());
    assert!(files(folder.path()) == before);
    // More rows of the same dataset are welcome.
    run(job(&base, folder.path(), 12, 1));
    let fresh = tempfile::tempdir().unwrap();
    run(job(&base, fresh.path(), 12, 1));
    assert!(files(folder.path()) == files(fresh.path()));
}

#[test]
fn slices_merge_into_the_same_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name);
    let recipe = recipe(&["store.csi=none"]);
    run(job(&recipe, &out("whole"), 45, 2));
    let slices = [
        ("a", Slice::Part { part: 3, parts: 3 }),
        ("b", Slice::Part { part: 1, parts: 3 }),
        ("c", Slice::Part { part: 2, parts: 3 }),
    ];
    for (name, slice) in slices {
        run(Job { slice, ..job(&recipe, &out(name), 45, 2) });
    }
    assert!(check(&out("a"))[0].contains("magnetar merge"));
    let options = VerifyOptions { sample: 5, seed: 1, partial: true };
    assert_eq!(verify(&out("a"), options, &|_| {}).unwrap().problems, Vec::<String>::new());
    merge(&[out("a"), out("b")], &out("merged"), &|_| {}).unwrap();
    merge(&[out("c"), out("b")], &out("merged"), &|_| {}).unwrap();
    assert!(files(&out("merged")) == files(&out("whole")));
    assert_eq!(check(&out("merged")), Vec::<String>::new());
    // What a killed merge leaves is finished by the same command.
    fs::remove_file(out("merged/README.md")).unwrap();
    fs::write(out("merged/test/.magnetar-left"), "half a shard").unwrap();
    let mut manifest = Manifest::read(&out("merged")).unwrap();
    manifest.splits.values_mut().for_each(|split| split.shards.clear());
    manifest.write(&out("merged")).unwrap();
    assert_eq!(merge(&[out("a"), out("b"), out("c")], &out("merged"), &|_| {}).unwrap().shards, 38);
    assert!(files(&out("merged")) == files(&out("whole")));
    // Somebody's Parquet files are not overwritten.
    fs::create_dir_all(out("foreign/test")).unwrap();
    fs::write(out("foreign/test/part-00000.parquet"), "mine").unwrap();
    assert!(merge(&[out("a")], &out("foreign"), &|_| {}).unwrap_err().to_string().contains("no manifest.json"));
    assert_eq!(fs::read(out("foreign/test/part-00000.parquet")).unwrap(), b"mine");
    run(Job { seed: 6, ..job(&recipe, &out("other"), 45, 2) });
    assert!(merge(&[out("a"), out("other")], &out("mixed"), &|_| {}).unwrap_err().to_string().contains("seed: 5, 6"));
    for slice in
        [Slice::Part { part: 0, parts: 3 }, Slice::Part { part: 4, parts: 3 }, Slice::Shards { first: 1, last: 99 }]
    {
        assert!(Plan::new(Job { slice, ..job(&recipe, &out("none"), 45, 2) }).is_err());
    }
}

#[test]
fn parts_that_are_used_up_become_the_same_dataset() {
    let recipe = recipe(&["store.csi=none"]);
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name);
    let whole = job(&recipe, &out("whole"), 45, 2);
    run(whole.clone());
    for (name, part) in [("a", 1), ("b", 2), ("c", 3)] {
        // Such parts need not be durable before they are taken over.
        let durable = name == "b";
        run(Job { slice: Slice::Part { part, parts: 3 }, durable, out: out(name), ..whole.clone() });
        assert_eq!(out(name).join("README.md").exists(), durable);
    }
    let parts = [Part::Moved(out("a")), Part::Copied(out("b")), Part::Moved(out("c"))];
    gather(&parts, &out("gathered"), &|_| {}).unwrap();
    assert!(files(&out("gathered")) == files(&out("whole")));
    assert_eq!(check(&out("gathered")), Vec::<String>::new());
    let shards = |name: &str| files(&out(name)).keys().filter(|path| path.ends_with(".parquet")).count();
    assert_eq!([shards("a"), shards("c")], [0, 0]);
    assert!(shards("b") > 0);
    // One that is not what was recorded is not taken.
    let shard = out("b/test/part-00002.parquet");
    fs::write(&shard, "short").unwrap();
    let problem = gather(&[Part::Moved(out("b"))], &out("damaged"), &|_| {}).unwrap_err().to_string();
    assert!(problem.contains("part-00002.parquet") && problem.contains("generate this part again"), "{problem}");
    assert!(shard.exists());
}

/// A backend with a name of its own.
#[derive(Debug)]
struct Elsewhere(CpuSynthesis);

impl SynthesisBackend for Elsewhere {
    fn name(&self) -> &'static str {
        "elsewhere"
    }

    fn add_signals(&self, rows: &[SignalRow<'_>], blocks: &mut [Observation]) -> Result<(), BackendError> {
        self.0.add_signals(rows, blocks)
    }
}

#[test]
fn parts_of_another_backend_merge_and_keep_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name);
    let recipe = recipe(&["store.csi=none"]);
    let backend: Arc<dyn SynthesisBackend> = Arc::new(Elsewhere(CpuSynthesis::new(recipe.band)));
    for (name, part) in [("a", 1), ("b", 2)] {
        let slice = Slice::Part { part, parts: 2 };
        run(Job { slice, backend: Some(Arc::clone(&backend)), ..job(&recipe, &out(name), 20, 1) });
    }
    assert_eq!(merge(&[out("a"), out("b")], &out("merged"), &|_| {}).unwrap().manifest.backend, "elsewhere");
    assert_eq!(check(&out("merged")), Vec::<String>::new());
}

#[test]
fn a_card_that_was_damaged_edited_or_lost_is_found() {
    let folder = tempfile::tempdir().unwrap();
    run(job(&recipe(&["store.csi=none"]), folder.path(), 3, 1));
    let path = folder.path().join("README.md");
    let mut card = fs::read(&path).unwrap();
    card[100] ^= 1;
    fs::write(&path, &card).unwrap();
    assert!(matches!(check(folder.path()).as_slice(), [problem] if problem.contains("README.md: not the card")));
    fs::remove_file(&path).unwrap();
    assert!(matches!(check(folder.path()).as_slice(), [problem] if problem.contains("README.md")));
    let options = VerifyOptions { sample: 1, seed: 1, partial: true };
    assert_eq!(verify(folder.path(), options, &|_| {}).unwrap().problems, Vec::<String>::new());
    run(job(&recipe(&["store.csi=none"]), folder.path(), 3, 1));
    assert_eq!(check(folder.path()), Vec::<String>::new());
}

#[test]
fn statistics_of_a_small_corpus_are_sane() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(&["store.csi=none"]);
    run(Job { splits: vec!["test".into()], ..job(&recipe, folder.path(), 400, 2) });
    let dataset = Dataset::open(folder.path()).unwrap();
    let summary = stats::stats(&dataset, &[], &|_| {}).unwrap().remove(0);
    assert_eq!((summary.no_board.rows, summary.board.rows, summary.all.rows), (160, 240, 400));
    assert_eq!(summary.no_board.los_share, 1.0);
    assert!((0.5..0.85).contains(&summary.board.los_share), "{}", summary.board.los_share);
    assert!(summary.board.regions[..4].iter().all(|n| *n > 20), "{:?}", summary.board.regions);
    assert!(summary.all.arrivals[2] > 300, "{:?}", summary.all.arrivals);
    assert!(summary.all.matched_share > 0.9, "{}", summary.all.matched_share);
    // The residual inter-channel phase error has 5 degrees rms: a median of about 3.4 without interference.
    assert!((2.0..8.0).contains(&summary.no_board.phase_error_deg.unwrap().p50));
    assert!(summary.no_board.snr_error_db.unwrap().p50.abs() < 0.5);
}

/// What `verify`, `merge` and going on say of a dataset whose manifest was changed.
fn stays_alone(change: impl Fn(&str) -> String, key: &str, note: &str) {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(&[]);
    let [old, new] = twins(folder.path(), ["old", "new"], &recipe, 12);
    let path = old.join(MANIFEST);
    fs::write(&path, change(&fs::read_to_string(&path).unwrap())).unwrap();

    let options = VerifyOptions { sample: 20, seed: 1, partial: false };
    let found = verify(&old, options, &|_| {}).unwrap();
    assert_eq!((found.regenerated, found.problems), (0, vec![]));
    assert_eq!(found.notes.len(), recipe.splits.len());
    assert!(found.notes[0].contains(note), "{:?}", found.notes);

    let differs = |e: DatasetError| assert!(e.to_string().contains(key), "{e}");
    differs(merge(&[old.clone(), new], &folder.path().join("merged"), &|_| {}).unwrap_err());
    differs(Plan::new(job(&recipe, &old, 20, 1)).err().unwrap());
}

/// A dataset made before generator versions were recorded is checked in all but its arithmetic, and stays alone.
#[test]
fn another_generator_version_is_not_made_again_and_not_mixed() {
    let recorded = |line: &&str| !line.contains("\"generator_version\"") && !line.contains("\"processor_class\"");
    let older = |text: &str| text.lines().filter(recorded).collect::<Vec<_>>().join("\n");
    stays_alone(older, "generator_version", "generator version 1");
}

#[test]
fn another_class_of_processors_is_not_made_again_and_not_mixed() {
    let class = |text: &str| text.replace("\"processor_class\": \"ieee754\"", "\"processor_class\": \"x87\"");
    stays_alone(class, "processor_class", "processors of class x87 made them");
}

#[test]
fn a_sample_as_large_as_the_dataset_is_every_row_once() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(&[]);
    run(job(&recipe, folder.path(), 12, 1));
    for sample in [12, 1000] {
        let found = verify(folder.path(), VerifyOptions { sample, seed: 1, partial: false }, &|_| {}).unwrap();
        let most = if sample == 12 { 12 * recipe.splits.len() as u64 } else { found.rows };
        assert_eq!((found.regenerated, found.problems), (most.min(found.rows), vec![]));
    }
}
