//! Files of volumes as scorers: what the twin wrote scores as the twin does, and hostile files say what is wrong.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt64Array, new_null_array};
use arrow::datatypes::DataType;
use magnetar_dataset::{Recipe, Record, generate_record};
use magnetar_files::npy::{NpyWriter, write_npy};
use magnetar_posterior::{RowNumber, ScoreRow, Scorer, Support, SupportSize, Volume};
use magnetar_study::{
    PosteriorOrigin, PosteriorRow, PosteriorTable, ReceiverView, ScorerSettings, VolumeFile, VolumeFileError, evaluate,
    open_scorer, post_indices, score_record,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;

const SIZE: SupportSize = SupportSize { headings: 6, rows: 7, columns: 5 };

fn records(count: u64) -> Vec<Record> {
    let recipe = Arc::new(Recipe::paper());
    (0..count).map(|index| generate_record(&recipe, 3, "test", index).unwrap()).collect()
}

fn twin() -> Arc<dyn Scorer> {
    open_scorer("twin", &Recipe::paper(), &ScorerSettings::shipped().unwrap()).unwrap()
}

fn write_table(path: &Path, records: &[Record], scorer: &dyn Scorer) {
    let origin = PosteriorOrigin { split: "test", recipe_hash: "x", seed: 3, scorer };
    let mut table = PosteriorTable::create(path, SIZE, &origin).unwrap();
    for record in records {
        let (support, volume) = score_record("test", record, scorer, SIZE).unwrap();
        table.write(PosteriorRow::new(record, &support, &volume)).unwrap();
    }
    table.finish().unwrap();
}

fn write_array(path: &Path, records: &[Record], scorer: &dyn Scorer) {
    let mut array = NpyWriter::<f32>::create(path, &[records.len(), SIZE.headings, SIZE.rows, SIZE.columns]).unwrap();
    for record in records {
        array.write(score_record("test", record, scorer, SIZE).unwrap().1.mass()).unwrap();
    }
    array.finish().unwrap();
}

#[test]
fn what_a_scorer_wrote_scores_as_it_does_and_pairs_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, twin) = (records(12), twin());
    let (table, array) = (folder.path().join("a.parquet"), folder.path().join("a.npy"));
    // In any order: a table is matched by index.
    write_table(&table, &rows.iter().rev().cloned().collect::<Vec<_>>(), &*twin);
    write_array(&array, &rows, &*twin);
    let settings = ScorerSettings::shipped().unwrap();
    let open = |name: &str| open_scorer(name, &Recipe::paper(), &settings).unwrap();
    let scorers = [twin, open(table.to_str().unwrap()), open(array.to_str().unwrap()), open("uniform")];
    let splits = [("test", rows.into_iter().map(Ok))];
    let found = evaluate(splits, &scorers, SIZE, &|_| {}).unwrap();
    let nll = |n: usize| found[n].scores.metrics().unwrap().nll;
    for file in [1, 2] {
        // Masses are float32 and were normalised again.
        assert!((nll(file) - nll(0)).abs() < 1e-5, "{} {}", nll(file), nll(0));
        let difference = found[file].against_first.differences().unwrap();
        assert!(difference.nll.mean.abs() < 1e-5 && difference.map_xy_m.mean == 0.0);
        assert_eq!(found[file].knowledge.to_string(), "what it knows was not reported");
    }
    assert_eq!((found[1].name.as_str(), found[2].name.as_str()), ("a.parquet", "a.npy"));
    let index = post_indices(&found).unwrap();
    assert!(index[0] < index[3], "{index:?}");
    // The paper's test rooms have materials that the twin was not given.
    assert_eq!((found[0].rows_of_known_materials, found[3].rows_of_known_materials), (0, 0));
    assert!(found[0].knowledge.to_string().starts_with("materials known as one of "));
}

/// Rows that are asked for in turns at several places of a table, and again from its start, get their own volumes.
#[test]
fn rows_asked_for_in_any_order_get_their_own_volumes() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, twin) = (records(40), twin());
    let table = folder.path().join("a.parquet");
    write_table(&table, &rows, &*twin);
    let file = VolumeFile::open(&table).unwrap();
    let expected: Vec<Volume> =
        rows.iter().map(|record| score_record("test", record, &*twin, SIZE).unwrap().1).collect();
    let in_turns = (0..20).flat_map(|n| [n, n + 20]);
    for n in in_turns.chain((0..40).rev()).chain((0..40).step_by(9).cycle().take(100)) {
        let (_, volume) = score_record("test", &rows[n], &file, SIZE).unwrap();
        let apart = volume.mass().iter().zip(expected[n].mass()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-6, "row {n}: {apart}");
    }
}

fn score(file: &Path, number: Option<RowNumber<'_>>, size: SupportSize) -> Result<Volume, String> {
    let record = &records(1)[0];
    let (view, support) = (ReceiverView::of(record), Support::centred(&record.layout.room, size).unwrap());
    let row = ScoreRow { number, ..view.on(&support) };
    let scorer = VolumeFile::open(file).map_err(|e| e.to_string())?;
    scorer.score(&[row]).map(|mut volumes| volumes.pop().unwrap()).map_err(|e| e.to_string())
}

#[test]
fn wrong_arrays_say_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.npy");
    let shape = [1, SIZE.headings, SIZE.rows, SIZE.columns];
    let row = Some(RowNumber { split: "test", index: 0 });
    let even = 1.0 / SIZE.len() as f64;
    let with = |first: f64| {
        let mut masses = vec![even; SIZE.len()];
        masses[0] = first;
        masses
    };
    write_npy(&path, &shape, &with(even)).unwrap();
    let volume = score(&path, row, SIZE).unwrap();
    assert!((f64::from(volume.mass()[3]) - even).abs() < 1e-8);
    for (masses, said) in [
        (with(-1.0), "not logits"),
        (with(f64::NAN), "not logits"),
        (with(f64::INFINITY), "not logits"),
        (with(3.0), "masses sum to"),
        (vec![0.0; SIZE.len()], "masses sum to 0"),
    ] {
        write_npy(&path, &shape, &masses).unwrap();
        let error = score(&path, row, SIZE).unwrap_err();
        assert!(error.contains(said) && error.contains("v.npy") && error.contains("row 0"), "{error}");
    }
    write_npy(&path, &shape, &with(even)).unwrap();
    let error = score(&path, Some(RowNumber { split: "test", index: 1 }), SIZE).unwrap_err();
    assert!(error.contains("no volume for row 1 of split test"), "{error}");
    assert!(score(&path, None, SIZE).unwrap_err().contains("rows of a dataset"));
    let other = score(&path, row, SupportSize { rows: 8, ..SIZE }).unwrap_err();
    assert!(other.contains("6 x 7 x 5") && other.contains("6 x 8 x 5"), "{other}");
    // A file belongs to one split.
    let scorer = VolumeFile::open(&path).unwrap();
    let record = &records(1)[0];
    let (view, support) = (ReceiverView::of(record), Support::centred(&record.layout.room, SIZE).unwrap());
    let of = |split| ScoreRow { number: Some(RowNumber { split, index: 0 }), ..view.on(&support) };
    assert!(scorer.score(&[of("val")]).is_ok());
    assert!(scorer.score(&[of("test")]).unwrap_err().to_string().contains("holds volumes of split val"));
    write_npy(&path, &[SIZE.len()], &with(even)).unwrap();
    assert!(score(&path, row, SIZE).unwrap_err().contains("[rows, D, H, W]"));
    std::fs::write(&path, "no array").unwrap();
    assert!(matches!(VolumeFile::open(&path), Err(VolumeFileError::Npy(_))));
    assert!(matches!(VolumeFile::open(folder.path()), Err(VolumeFileError::Content { .. })));
    assert!(matches!(VolumeFile::open(&folder.path().join("none.npy")), Err(VolumeFileError::Io { .. })));
}

/// A table of so many rows without a mass, in a small file.
fn write_index(path: &Path, rows: u64) {
    let index: ArrayRef = Arc::new(UInt64Array::from_iter_values(0..rows));
    let mass = new_null_array(&DataType::new_list(DataType::Float32, true), index.len());
    let batch = RecordBatch::try_from_iter_with_nullable([("index", index, false), ("mass", mass, true)]).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_encoding("index".into(), Encoding::DELTA_BINARY_PACKED)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn wrong_tables_say_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.parquet");
    let (rows, twin) = (records(3), twin());
    write_table(&path, &rows, &*twin);
    let number = |split, index| Some(RowNumber { split, index });
    assert!(score(&path, number("test", 0), SIZE).is_ok());
    assert!(score(&path, number("test", 7), SIZE).unwrap_err().contains("no volume for row 7"));
    assert!(score(&path, number("val", 0), SIZE).unwrap_err().contains("holds volumes of split test, not of val"));
    assert!(score(&path, number("test", 0), SupportSize { rows: 8, ..SIZE }).unwrap_err().contains("6 x 8 x 5"));
    write_table(&path, &[rows[0].clone(), rows[0].clone()], &*twin);
    assert!(score(&path, number("test", 0), SIZE).unwrap_err().contains("index 0 is there twice"));
    write_index(&path, (1 << 22) + 1);
    assert!(std::fs::metadata(&path).unwrap().len() < 1 << 20);
    assert!(score(&path, number("test", 0), SIZE).unwrap_err().contains("more than 4194304 volumes"));
    std::fs::write(&path, "PAR1 or not").unwrap();
    assert!(matches!(VolumeFile::open(&path), Err(VolumeFileError::Parquet { .. })));
}
