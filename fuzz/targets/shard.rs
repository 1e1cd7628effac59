//! A damaged shard of a valid dataset: the reader gives the rows or an error that names the file. How many bytes follow the
//! edits decides what is read; one length of input in sixteen is for a shard with compressed pages, whose checks decide early.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use magnetar_dataset::{Columns, Dataset, Manifest};
use magnetar_fuzz::damage::{EDIT_BYTES, damaged};
use magnetar_fuzz::scratch::Scratch;
use magnetar_fuzz::{plain_dataset, valid_dataset};

struct Valid {
    dataset: Dataset,
    split: String,
    path: PathBuf,
    shard: Vec<u8>,
}

impl Valid {
    fn of(from: &Path, name: &str) -> Self {
        let scratch = Scratch::new(name);
        // As older datasets are: with checksums the Parquet reader would see no damage.
        let mut manifest = Manifest::read(from).expect("the valid dataset's manifest");
        manifest.splits.values_mut().flat_map(|split| &mut split.shards).for_each(|shard| shard.checksums = None);
        manifest.write(scratch.folder()).expect("a scratch file");
        let (split, first) = manifest.splits.first().expect("a split");
        let number = first.shards.first().expect("a shard").number;
        let shard = std::fs::read(Manifest::shard_path(from, split, number)).expect("the valid shard");
        let path = Manifest::shard_path(scratch.folder(), split, number);
        std::fs::create_dir_all(path.parent().expect("a split's folder")).expect("a scratch folder");
        let dataset = Dataset::open(scratch.folder()).expect("a valid manifest");
        Self { split: split.clone(), path, shard, dataset }
    }

    fn damage(&self, edits: &[u8]) {
        std::fs::write(&self.path, damaged(&self.shard, edits)).expect("a scratch file");
    }

    fn read(&self, columns: Columns) {
        for record in self.dataset.records(&self.split, columns).expect("the split is there") {
            drop(record.map_err(|error| error.to_string()));
        }
    }

    fn read_one(&self) {
        drop(self.dataset.read_row(&self.split, 1, Columns::All).map_err(|error| error.to_string()));
    }
}

static PLAIN: LazyLock<Valid> = LazyLock::new(|| Valid::of(&plain_dataset(), "shard-plain"));
static COMPRESSED: LazyLock<Valid> = LazyLock::new(|| Valid::of(&valid_dataset(), "shard"));

magnetar_fuzz::target!(|data| {
    let valid = if data.len() % 16 == 3 { &*COMPRESSED } else { &*PLAIN };
    valid.damage(data);
    match data.len() % EDIT_BYTES {
        1 => valid.read(Columns::WithoutCsi),
        2 => valid.read_one(),
        _ => valid.read(Columns::All),
    }
});
