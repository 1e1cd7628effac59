//! The `csi` column of a damaged Parquet file, as `estimate` reads it: a small file of two columns, or, for one length of
//! input in sixteen, a shard as we write it.
#![no_main]

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, FixedSizeListArray, Float32Array, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field};
use magnetar_dataset::CsiReader;
use magnetar_fuzz::damage::damaged;
use magnetar_fuzz::scratch::Scratch;
use magnetar_fuzz::valid_shard;
use parquet::arrow::ArrowWriter;

/// Numbers of a row: four bins, two channels, real and imaginary part.
const WIDTH: i32 = 16;

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("csi"));
static SHARD: LazyLock<Vec<u8>> = LazyLock::new(|| std::fs::read(valid_shard()).expect("a valid shard"));
static SMALL: LazyLock<Vec<u8>> = LazyLock::new(small_file);

magnetar_fuzz::target!(|data| {
    let file = if data.len() % 16 == 1 { &*SHARD } else { &*SMALL };
    match CsiReader::open(&SCRATCH.write("fuzz.parquet", &damaged(file, data)), 64) {
        Ok(mut reader) => {
            let mut batch = Vec::new();
            while reader.next_batch(&mut batch).is_ok_and(|rows| rows > 0) {
                assert!(batch.len().is_multiple_of(reader.bins()));
            }
        }
        Err(error) => drop(error.to_string()),
    }
});

fn small_file() -> Vec<u8> {
    let numbers = Float32Array::from_iter_values((0..3 * WIDTH).map(|n| n as f32));
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let csi = FixedSizeListArray::try_new(item, WIDTH, Arc::new(numbers), None).expect("whole rows");
    let columns: [(&str, ArrayRef); 2] =
        [("index", Arc::new(UInt64Array::from(vec![0, 1, 2]))), ("csi", Arc::new(csi))];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a schema");
    writer.write(&batch).expect("memory");
    writer.into_inner().expect("memory")
}
