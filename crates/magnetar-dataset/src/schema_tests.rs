//! Laws of datasets of other versions, and of the values themselves.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StructArray, UInt32Array};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use sha2::{Digest, Sha256};

use crate::columns::{BatchBuilder, leaves};
use crate::recipe::hex;
use crate::shard::digest;
use crate::*;

fn schema_1(name: &str) -> Dataset {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/dataset_schema_1");
    Dataset::open(data.join(name)).unwrap()
}

/// What was drawn and traced; RF chains, noise and with them the estimates are those of another generator version.
#[test]
fn rows_of_schema_1_are_those_of_today_without_what_came_later() {
    for name in ["rows", "observations"] {
        let dataset = schema_1(name);
        assert_eq!(dataset.manifest().schema_version, SchemaVersion { major: 1, minor: 0 });
        let recipe = Arc::new(dataset.recipe().clone());
        for split in dataset.manifest().splits.keys() {
            let generator = Generator::new(&recipe, dataset.manifest().seed, split).unwrap();
            let mut rows = generator.rows();
            for read in dataset.records(split, Columns::WithoutCsi).unwrap() {
                let mut read = read.unwrap();
                let made = rows.row(read.index).unwrap();
                // Generator version 3 keeps a board's yaw within half a turn.
                let board = read.layout.board.map(Board::seen_from_either_side);
                if board != read.layout.board {
                    read.paths.iter_mut().for_each(|path| path.turn_box(0));
                    read.layout.board = board;
                }
                let drawn = |row: &Record| {
                    let board = row.layout.board.map(|board| (board.shape.center, board.shape.size, board.region));
                    (row.index, row.set, row.view, row.layout.room, board, row.tx, row.rx, row.los)
                };
                assert_eq!(drawn(&read), drawn(&made));
                // Its direction is an arc tangent.
                let yaw = |row: &Record| row.layout.board.map_or(0.0, |board| board.shape.yaw);
                assert!((yaw(&read) - yaw(&made)).abs() <= 1e-15, "{} {}", yaw(&read), yaw(&made));
                assert_eq!(read.materials, made.materials);
                assert_eq!(read.tx_power_offset_db, made.tx_power_offset_db);
                assert_eq!(read.rf_chain.timing_offset_s, made.rf_chain.timing_offset_s);
                assert_eq!(read.paths.len(), made.paths.len());
                for (read, made) in read.paths.iter().zip(&made.paths) {
                    assert_eq!((read.surface, read.interactions), (made.surface, None));
                    assert!(made.interactions.is_some());
                    let values = |path: &RecordPath| {
                        let [a, b] = path.wave.coefficients;
                        [path.wave.delay_s, a.re, a.im, b.re, b.im, path.wave.aoa.azimuth, path.aod.elevation]
                    };
                    for (read, made) in values(read).into_iter().zip(values(made)) {
                        assert!((read - made).abs() <= 1e-12, "{read} {made}");
                    }
                }
            }
        }
    }
    let row = schema_1("observations").read_row("val", 2, Columns::All).unwrap();
    assert_eq!(row.csi.map(|csi| csi.len()), Some(1024));
}

/// A column and a member of `rx` that nobody knows yet.
fn with_later_columns(batch: &RecordBatch) -> RecordBatch {
    let later: ArrayRef = Arc::new(UInt32Array::from(vec![7; batch.num_rows()]));
    let unknown = Arc::new(Field::new("later", DataType::UInt32, false));
    let mut fields = vec![Arc::clone(&unknown)];
    let mut columns = vec![Arc::clone(&later)];
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        if field.name() != "rx" {
            fields.push(Arc::clone(field));
            columns.push(Arc::clone(column));
            continue;
        }
        let rx = column.as_struct();
        let mut members: Vec<_> = rx.fields().iter().cloned().collect();
        members.insert(1, Arc::clone(&unknown));
        let mut values = rx.columns().to_vec();
        values.insert(1, Arc::clone(&later));
        let rx = StructArray::new(members.into(), values, None);
        fields.push(Arc::new(Field::new("rx", rx.data_type().clone(), false)));
        columns.push(Arc::new(rx));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

#[test]
fn columns_that_a_newer_minor_added_are_left_aside() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = Arc::new(Recipe::load("paper", &[]).unwrap());
    let job = Job { splits: vec!["val".into()], limit: Some(6), ..Job::new(Arc::clone(&recipe), 3, folder.path()) };
    Plan::new(job).unwrap().run(&|_| {}).unwrap();
    let rows = || -> Vec<Record> {
        let dataset = Dataset::open(folder.path()).unwrap();
        dataset.records("val", Columns::All).unwrap().map(Result::unwrap).collect()
    };
    let before = rows();
    let newer = SchemaVersion { minor: SCHEMA_VERSION.minor + 1, ..SCHEMA_VERSION };
    let path = Manifest::shard_path(folder.path(), "val", 0);
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    let mut about: Vec<KeyValue> = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
    about.retain(|pair| pair.key.starts_with("magnetar."));
    about.iter_mut().filter(|pair| pair.key.ends_with("schema_version")).for_each(|pair| {
        pair.value = Some(newer.to_string());
    });
    let batch = with_later_columns(&reader.build().unwrap().next().unwrap().unwrap());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(about)).build();
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let mut manifest = Manifest::read(folder.path()).unwrap();
    manifest.schema_version = newer;
    let (bytes, sha256) = digest(&path).unwrap();
    let shard = &mut manifest.splits["val"].shards[0];
    (shard.bytes, shard.sha256, shard.checksums) = (bytes, sha256, None);
    manifest.write(folder.path()).unwrap();
    assert!(rows() == before);
    let options = VerifyOptions { sample: 6, seed: 1, partial: false };
    assert_eq!(verify(folder.path(), options, &|_| {}).unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_column_that_is_missing_or_of_another_type_is_named() {
    let recipe = Arc::new(Recipe::load("paper", &[]).unwrap());
    let shape = Shape::of(&recipe, SCHEMA_VERSION);
    let mut rows = BatchBuilder::new(shape, 1);
    rows.push(&generate_record(&recipe, 0, "val", 0).unwrap());
    let batch = rows.finish().unwrap();
    let (schema, count) = (batch.schema(), batch.num_columns());
    for name in ["index", "materials", "rx", "paths", "valid"] {
        let kept: Vec<usize> = (0..count).filter(|i| schema.field(*i).name() != name).collect();
        let error = columns::records(&batch.project(&kept).unwrap()).unwrap_err();
        assert_eq!(error, ColumnError::Missing { column: name.to_owned() });
        let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
        let mut arrays = batch.columns().to_vec();
        let place = schema.index_of(name).unwrap();
        fields[place] = Arc::new(Field::new(name, DataType::UInt32, false));
        arrays[place] = Arc::new(UInt32Array::from(vec![1]));
        let other = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
        let error = columns::records(&other).unwrap_err();
        assert!(matches!(&error, ColumnError::Type { column, .. } if column == name), "{error}");
    }
}

/// Digests of the values of the first rows of every split of recipe `paper`, seed 0: one line per column.
const DIGESTS: &str = "tests/data/paper_values.txt";

/// Rows of each split that are digested.
const DIGESTED_ROWS: u64 = 100;

/// A change of values is always deliberate: after one, the file is written anew by
/// `MAGNETAR_WRITE_DIGESTS=1 cargo test --release -p magnetar-dataset values_of_recipe_paper`.
#[test]
fn values_of_recipe_paper_are_those_of_before() {
    let recipe = Arc::new(Recipe::load("paper", &[]).unwrap());
    let mut lines: Vec<String> = Vec::new();
    for (column, split) in recipe.splits.keys().enumerate() {
        let generator = Generator::new(&recipe, 0, split).unwrap();
        let mut rows = generator.rows();
        let mut batch = BatchBuilder::new(Shape::of(&recipe, SCHEMA_VERSION), 0);
        (0..DIGESTED_ROWS).for_each(|index| batch.push(&rows.row(index).unwrap()));
        for (i, leaf) in leaves(&batch.finish().unwrap()).unwrap().into_iter().enumerate() {
            if column == 0 {
                lines.push(format!("{:<28}", leaf.name));
            }
            let digest = hex(&Sha256::digest(&leaf.bytes));
            let _ = write!(lines[i], " {}", &digest[..16]);
        }
    }
    let splits: Vec<&str> = recipe.splits.keys().map(String::as_str).collect();
    let head = format!(
        "# SHA-256 (first 16 digits) of the values of rows 0 to {} of recipe paper, seed 0, splits {}.\n\
         # Written anew by MAGNETAR_WRITE_DIGESTS=1 cargo test --release -p magnetar-dataset values_of_recipe_paper\n",
        DIGESTED_ROWS - 1,
        splits.join(", ")
    );
    let made = head + &lines.join("\n") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DIGESTS);
    if std::env::var_os("MAGNETAR_WRITE_DIGESTS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap();
    let changed: Vec<&str> = made.lines().filter(|line| !known.lines().any(|other| other == *line)).collect();
    assert!(made == known, "values changed:\n{}", changed.join("\n"));
}
