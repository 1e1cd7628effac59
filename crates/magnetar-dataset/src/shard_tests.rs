//! Laws of shards: what is written reads back, however it is stored and whoever made its rows.

use std::path::Path;
use std::sync::Arc;

use half::f16;
use num_complex::Complex32;

use crate::leaf_pages::LEAF_PAGE_ROWS;
use crate::*;

fn recipe(sets: &[&str]) -> Arc<Recipe> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Arc::new(Recipe::load("paper", &sets).unwrap())
}

/// Makes the first rows of `val`; the digests of its shards.
fn made(recipe: &Arc<Recipe>, folder: &Path, rows: u64, threads: usize) -> Vec<String> {
    let job = Job { splits: vec!["val".into()], limit: Some(rows), threads, ..Job::new(Arc::clone(recipe), 4, folder) };
    let manifest = Plan::new(job).unwrap().run(&|_| {}).unwrap().manifest;
    manifest.splits["val"].shards.iter().map(|shard| shard.sha256.clone()).collect()
}

/// In pages that are full and others that are not, with boards in some rows, in all and in none.
#[test]
fn rows_read_back_however_they_are_stored() {
    let ways: [&[&str]; 5] = [
        &[],
        &["store.encoding=plain", "store.compression_level=3"],
        &["store.compression=none", "splits.val.no_board=200"],
        &["store.encoding=plain", "store.compression=none", "splits.val.no_board=0"],
        &["store.csi=f16", "splits.val.no_board=40"],
    ];
    for sets in ways {
        let recipe = recipe(sets);
        let folder = tempfile::tempdir().unwrap();
        let rows = 2 * csi_pages::PAGE_ROWS as u64 + 5;
        made(&recipe, folder.path(), rows, 1);
        let dataset = Dataset::open(folder.path()).unwrap();
        let read: Vec<Record> = dataset.records("val", Columns::All).unwrap().map(Result::unwrap).collect();
        assert_eq!(read.len() as u64, rows);
        let generator = Generator::new(&recipe, 4, "val").unwrap();
        let mut rows = generator.rows();
        for read in read {
            let mut expected = rows.row(read.index).unwrap();
            if recipe.store.csi == recipe::Csi::F16 {
                let narrow = |x: f32| f16::from_f32(x).to_f32();
                let csi = expected.csi.as_mut().unwrap();
                csi.iter_mut().for_each(|z| *z = Complex32::new(narrow(z.re), narrow(z.im)));
            }
            assert!(read == expected, "{sets:?}, row {}", read.index);
        }
    }
}

/// More rows than a page of a small column holds, made by one thread and by two that share the shard.
#[test]
fn a_shard_has_the_same_bytes_whoever_makes_its_rows() {
    let rows = LEAF_PAGE_ROWS as u64 + 100;
    let (shards, splits) = (format!("store.shard_rows={rows}"), format!("splits.val.board={rows}"));
    let recipe = recipe(&["store.csi=none", &shards, &splits]);
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let alone = made(&recipe, folders[0].path(), rows, 1);
    assert_eq!(alone.len(), 1);
    assert_eq!(alone, made(&recipe, folders[1].path(), rows, 2));
    let options = VerifyOptions { sample: 5, seed: 1, partial: false };
    assert_eq!(verify(folders[0].path(), options, &|_| {}).unwrap().problems, Vec::<String>::new());
}

/// A generator that was made before makes its own rows, and no others: of another seed, split or recipe it is left alone.
#[test]
fn a_generator_that_is_ready_changes_nothing() {
    let recipe = recipe(&["store.csi=none"]);
    let other = self::recipe(&["store.csi=none", "link.reference_snr_db=40"]);
    let expected = made(&recipe, tempfile::tempdir().unwrap().path(), 20, 1);
    let ready = [(&recipe, 4, "val"), (&recipe, 5, "val"), (&recipe, 4, "test"), (&other, 4, "val")]
        .map(|(recipe, seed, split)| Arc::new(Generator::new(recipe, seed, split).unwrap()));
    assert_eq!(ready.each_ref().map(|ready| ready.makes(&recipe, 4, "val")), [true, false, false, false]);
    for ready in ready {
        let folder = tempfile::tempdir().unwrap();
        let job = Job::new(Arc::clone(&recipe), 4, folder.path());
        let job = Job { splits: vec!["val".into()], limit: Some(20), threads: 1, ready: Some(ready), ..job };
        let manifest = Plan::new(job).unwrap().run(&|_| {}).unwrap().manifest;
        let shards: Vec<_> = manifest.splits["val"].shards.iter().map(|shard| shard.sha256.clone()).collect();
        assert_eq!(shards, expected);
    }
}
