//! The `csi` column of a damaged Parquet file, as `estimate` reads it.
#![no_main]

use std::sync::LazyLock;

use magnetar_dataset::CsiReader;
use magnetar_fuzz::damage::damaged;
use magnetar_fuzz::scratch::Scratch;
use magnetar_fuzz::valid_dataset;

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("csi"));
static SHARD: LazyLock<Vec<u8>> =
    LazyLock::new(|| std::fs::read(valid_dataset().join("test/part-00000.parquet")).expect("a valid shard"));

magnetar_fuzz::target!(|data| {
    match CsiReader::open(&SCRATCH.write("fuzz.parquet", &damaged(&SHARD, data)), 64) {
        Ok(mut reader) => {
            let mut batch = Vec::new();
            while reader.next_batch(&mut batch).is_ok_and(|rows| rows > 0) {
                assert!(batch.len().is_multiple_of(reader.bins()));
            }
        }
        Err(error) => drop(error.to_string()),
    }
});
