//! Laws of checksums: whatever reads a shard reports its damage or is not touched by it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use num_complex::Complex32;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::PageIndexPolicy;

use crate::stats::stats;
use crate::*;

fn generated(folder: &Path) -> PathBuf {
    let recipe = Arc::new(Recipe::load("paper", &["store.csi=f16".to_owned()]).unwrap());
    let (out, splits) = (folder.to_owned(), vec!["test".to_owned()]);
    let job = Job { splits, limit: Some(6), ..Job::new(recipe, 1, &out) };
    Plan::new(job).unwrap().run(&|_| {}).unwrap();
    folder.join("test/part-00000.parquet")
}

fn observations(path: &Path) -> Result<Vec<[Complex32; 2]>, String> {
    let mut reader = CsiReader::open(path, 4).map_err(|e| e.to_string())?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while reader.next_batch(&mut batch).map_err(|e| e.to_string())? > 0 {
        all.extend_from_slice(&batch);
    }
    Ok(all)
}

fn records(dataset: &Dataset, columns: Columns) -> Result<Vec<Record>, String> {
    dataset.records("test", columns).unwrap().collect::<Result<_, _>>().map_err(|e| e.to_string())
}

#[test]
fn no_reader_takes_a_flipped_bit_for_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = generated(folder.path());
    let dataset = Dataset::open(folder.path()).unwrap();
    let read = || {
        let text = |e: DatasetError| e.to_string();
        (
            records(&dataset, Columns::All),
            records(&dataset, Columns::WithoutCsi),
            dataset.read_row("test", 4, Columns::All).map_err(text),
            stats(&dataset, &[], &|_| {}).map_err(text),
            observations(&path),
        )
    };
    fn check<T: PartialEq>(found: Result<T, String>, expected: &Result<T, String>, place: usize) -> bool {
        let Err(error) = &found else {
            assert!(found == *expected, "byte {place} changes what is read");
            return false;
        };
        let part = error.contains("column ") || error.contains("the footer");
        assert!(error.contains("part-00000.parquet") && part, "byte {place}: {error}");
        true
    }
    let expected = read();
    let whole = fs::read(&path).unwrap();
    let (mut random, mut refused) = (7_u64, [0; 5]);
    for _ in 0..300 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = (random >> 33) as usize % whole.len();
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (random >> 20 & 7);
        fs::write(&path, bytes).unwrap();
        let found = read();
        refused[0] += usize::from(check(found.0, &expected.0, place));
        refused[1] += usize::from(check(found.1, &expected.1, place));
        refused[2] += usize::from(check(found.2, &expected.2, place));
        refused[3] += usize::from(check(found.3, &expected.3, place));
        refused[4] += usize::from(check(found.4, &expected.4, place));
    }
    // Who reads all columns misses only the file's first four bytes.
    assert!(refused[0] > 297 && refused[2] == refused[0], "{refused:?}");
    assert!(refused.iter().all(|count| *count > 75), "{refused:?}");
}

#[test]
fn a_shard_of_another_length_or_checksums_of_another_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = generated(folder.path());
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let error = records(&Dataset::open(folder.path()).unwrap(), Columns::All).unwrap_err();
    assert!(error.contains(&format!("{} bytes", whole.len() - 1)), "{error}");
    fs::write(&path, &whole).unwrap();
    let manifest = Manifest::read(folder.path()).unwrap();
    let with = |change: &dyn Fn(&mut Checksums)| {
        let mut manifest = manifest.clone();
        change(manifest.splits["test"].shards[0].checksums.as_mut().unwrap());
        manifest.write(folder.path()).unwrap();
        records(&Dataset::open(folder.path()).unwrap(), Columns::All).unwrap_err()
    };
    assert!(with(&|sums| sums.chunks.truncate(3)).contains("3 column chunks"));
    assert!(with(&|sums| sums.chunks[0] ^= 1).contains("column index"));
    assert!(with(&|sums| sums.footer_bytes = u64::MAX).contains("the footer"));
    assert!(with(&|sums| sums.footer_bytes = 0).contains("the footer"));
}

/// The value of a field of Thrift's compact protocol and what follows it.
fn i32_field(header: &[u8]) -> (i32, &[u8]) {
    assert_eq!(header[0], 0x15, "an i32, numbered one more than the field before");
    let length = 1 + header[1..].iter().position(|byte| byte & 0x80 == 0).unwrap();
    let zigzag = header[1..=length].iter().rev().fold(0_u32, |sum, byte| sum << 7 | u32::from(byte & 0x7f));
    ((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed(), &header[length + 1..])
}

/// So that other readers find damage, too.
#[test]
fn every_data_page_has_its_checksum_where_the_index_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = generated(folder.path());
    let whole = fs::read(&path).unwrap();
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let reader =
        ParquetRecordBatchReaderBuilder::try_new_with_options(fs::File::open(&path).unwrap(), options).unwrap();
    let metadata = reader.metadata();
    let index = metadata.page_index_for_row_group(0);
    let mut end = 4;
    for (leaf, chunk) in metadata.row_group(0).columns().iter().enumerate() {
        let (start, length) = chunk.byte_range();
        assert_eq!(start, end, "chunks lie one after the other");
        end = start + length;
        let index = index.offset_index(leaf).unwrap();
        let pages = &index.page_locations;
        assert_eq!(pages[0].offset, chunk.data_page_offset());
        let last = pages.last().unwrap();
        assert_eq!(last.offset + i64::from(last.compressed_page_size), end as i64);
        for page in pages {
            let page = &whole[page.offset as usize..][..page.compressed_page_size as usize];
            let (kind, rest) = i32_field(page);
            let (_, rest) = i32_field(rest);
            let (size, rest) = i32_field(rest);
            let (checksum, _) = i32_field(rest);
            assert_eq!(kind, 0, "a data page");
            assert_eq!(checksum.cast_unsigned(), crc32fast::hash(&page[page.len() - size as usize..]));
        }
    }
}

/// A lone file, and one below a manifest that is somebody else's, have nothing to be compared with.
#[test]
fn observations_are_compared_only_with_the_manifest_of_their_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let path = generated(folder.path());
    let expected = observations(&path).unwrap();
    let manifest = folder.path().join(MANIFEST);
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"seed\"", "\"sead\"")).unwrap();
    assert!(observations(&path).unwrap_err().contains("sead"));
    fs::write(&manifest, "{\"format\": \"of another program\"}").unwrap();
    assert!(observations(&path).unwrap() == expected);
    fs::remove_file(&manifest).unwrap();
    assert!(observations(&path).unwrap() == expected);
}
