//! A damaged shard of a valid dataset: the reader gives the rows or an error that names the file.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use magnetar_dataset::{Columns, Dataset, Manifest};
use magnetar_fuzz::damage::damaged;
use magnetar_fuzz::scratch::Scratch;
use magnetar_fuzz::valid_dataset;

struct Valid {
    scratch: Scratch,
    split: String,
    path: PathBuf,
    shard: Vec<u8>,
}

static VALID: LazyLock<Valid> = LazyLock::new(|| {
    let (scratch, from) = (Scratch::new("shard"), valid_dataset());
    // As older datasets are: with checksums the Parquet reader would see no damage.
    let mut manifest = Manifest::read(&from).expect("the valid dataset's manifest");
    manifest.splits.values_mut().flat_map(|split| &mut split.shards).for_each(|shard| shard.checksums = None);
    manifest.write(scratch.folder()).expect("a scratch file");
    let dataset = Dataset::open(&from).expect("a valid dataset");
    let (split, first) = dataset.manifest().splits.first().expect("a split");
    let number = first.shards.first().expect("a shard").number;
    let shard = std::fs::read(Manifest::shard_path(&from, split, number)).expect("the valid shard");
    let path = Manifest::shard_path(scratch.folder(), split, number);
    std::fs::create_dir_all(path.parent().expect("a split's folder")).expect("a scratch folder");
    Valid { split: split.clone(), path, shard, scratch }
});

magnetar_fuzz::target!(|data| {
    let valid = &*VALID;
    std::fs::write(&valid.path, damaged(&valid.shard, data)).expect("a scratch file");
    let dataset = Dataset::open(valid.scratch.folder()).expect("the manifest is valid");
    for columns in [Columns::All, Columns::WithoutCsi] {
        for record in dataset.records(&valid.split, columns).expect("the split is there") {
            drop(record.map_err(|error| error.to_string()));
        }
    }
    drop(dataset.read_row(&valid.split, 1, Columns::All).map_err(|error| error.to_string()));
});
