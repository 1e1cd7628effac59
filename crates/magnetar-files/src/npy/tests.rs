use std::io::Cursor;

use num_complex::{Complex32, Complex64};
use proptest::prelude::*;

use super::*;

fn open(bytes: &[u8]) -> Result<NpyReader<Cursor<&[u8]>>, NpyError> {
    NpyReader::new(Cursor::new(bytes), "a.npy".into(), Some(bytes.len() as u64))
}

/// A version-1 file with the given dictionary and data.
fn file(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.bytes());
    bytes.extend(data);
    bytes
}

fn saved<T: NpyElement>(shape: &[usize], elements: &[T]) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.npy");
    write_npy(&path, shape, elements).unwrap();
    std::fs::read(&path).unwrap()
}

fn round_trip<T: NpyElement + PartialEq + std::fmt::Debug>(shape: &[usize], elements: &[T]) {
    let bytes = saved(shape, elements);
    let mut reader = open(&bytes).unwrap();
    assert_eq!(reader.header().shape, shape);
    assert_eq!(reader.header().dtype, T::DTYPE);
    let mut back = vec![T::from_parts(0.0, 0.0); elements.len()];
    let half = back.len() / 2;
    reader.read_into(&mut back[..half]).unwrap();
    reader.read_into(&mut back[half..]).unwrap();
    assert_eq!(back, elements);
    assert_eq!(reader.remaining(), 0);
}

#[test]
fn every_type_and_shape_comes_back() {
    let complex: Vec<_> = (0..3000).map(|i| Complex32::new(i as f32, -0.5 * i as f32)).collect();
    round_trip(&[500, 3, 2], &complex);
    round_trip(&[3000], &complex.iter().map(|z| Complex64::new(z.re.into(), z.im.into())).collect::<Vec<_>>());
    round_trip(&[2, 2], &[1.0f32, f32::MIN_POSITIVE, -0.0, f32::INFINITY]);
    round_trip(&[], &[0.1f64]);
    round_trip::<f32>(&[4, 0, 2], &[]);
}

#[test]
fn the_header_is_what_numpy_writes() {
    // numpy.save of numpy.zeros((3,), 'complex64'), numpy.zeros((1, 2), 'float64') and numpy.float32(0).
    let text = |bytes: &[u8]| String::from_utf8_lossy(&bytes[10..128]).trim_end().to_owned();
    let zero = Complex32::new(0.0, 0.0);
    assert_eq!(text(&saved(&[3], &[zero; 3])), "{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }");
    assert_eq!(text(&saved(&[1, 2], &[0.0f64; 2])), "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }");
    assert_eq!(text(&saved(&[], &[0.0f32])), "{'descr': '<f4', 'fortran_order': False, 'shape': (), }");
    assert_eq!(saved(&[3], &[zero; 3]).len(), 128 + 24);
}

#[test]
fn other_precisions_and_byte_orders_are_converted() {
    let mut data = Vec::new();
    for number in [1.5f64, -2.0] {
        data.extend(number.to_be_bytes());
    }
    let bytes = file("{'descr': '>c16', 'fortran_order': False, 'shape': (1,), }", &data);
    let mut out = [Complex32::new(0.0, 0.0)];
    open(&bytes).unwrap().read_into(&mut out).unwrap();
    assert_eq!(out[0], Complex32::new(1.5, -2.0));
    let mut real = [0.0f64];
    assert!(open(&bytes).unwrap().read_into(&mut real).unwrap_err().to_string().contains("complex128"));
}

#[test]
fn a_hostile_file_is_refused_with_its_place() {
    let good = "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }";
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (vec![], "begins with"),
        (b"\x93NUM".to_vec(), "begins with"),
        (b"PK\x03\x04 a zip file".to_vec(), "begins with"),
        (b"\x93NUMPY\x07\x00\x00\x00".to_vec(), "version 7"),
        (b"\x93NUMPY\x01\x00\xff".to_vec(), "ends inside"),
        (b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "ends inside"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "at most 65536"),
        (file(good, &[0; 7]), "cut short"),
        (file(good, &[0; 9]), "cut short"),
        (file("", &[]), "byte 10"),
        (file(&good.replace("False", "True"), &[0; 8]), "ascontiguousarray"),
        (file(&good.replace("<c8", "|O"), &[0; 8]), "|O"),
        (file(&good.replace("<c8", "\u{e9}"), &[0; 8]), "ASCII"),
        (file(&good.replace("'<c8'", "[('a', '<c8')]"), &[0; 8]), "structured"),
        (file(&good.replace("(1,)", "(-1,)"), &[0; 8]), "64 bits"),
        (file(&good.replace("(1,)", "(99999999999999999999,)"), &[0; 8]), "64 bits"),
        (file(&good.replace("(1,)", "(4294967296, 4294967296)"), &[0; 8]), "64 bits"),
        (file(&good.replace("(1,)", "(4611686018427387904,)"), &[0; 8]), "64 bits"),
        (file(&good.replace("(1,)", &format!("({})", "1,".repeat(100))), &[0; 8]), "64 dimensions"),
        (file(&good.replace("'shape'", "'descr'"), &[0; 8]), "byte"),
        (file("{'descr': '<c8', 'fortran_order': False}", &[0; 8]), "'shape' is missing"),
        (file("{'descr': '<c8', 'descr': '<c8'}", &[0; 8]), "twice"),
        (file("{'colour': 'red'}", &[0; 8]), "colour"),
        (file("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)} or so", &[0; 8]), "after the dictionary"),
    ];
    for (bytes, expected) in cases {
        let error = open(&bytes).expect_err(expected).to_string();
        assert!(error.contains(expected) && error.contains("a.npy"), "{error} lacks {expected}");
    }
    // A huge shape that the file cannot hold costs no memory, and a stream of unknown length ends in an error.
    let bytes = file(&good.replace("(1,)", "(1000000000000,)"), &[0; 8]);
    assert!(open(&bytes).is_err());
    let mut stream = NpyReader::new(Cursor::new(&bytes[..]), "stream".into(), None).unwrap();
    let mut out = [Complex32::new(0.0, 0.0); 2];
    assert!(stream.read_into(&mut out).unwrap_err().to_string().contains("cut short"));
}

#[test]
fn a_writer_keeps_to_its_shape() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.npy");
    assert!(write_npy(&path, &[2], &[1.0f32]).is_err());
    assert!(write_npy(&path, &[2], &[1.0f32; 3]).is_err());
    assert!(write_npy::<f32>(&path, &[usize::MAX, 2], &[]).is_err());
    assert!(write_npy::<f32>(&path, &[0; 65], &[]).is_err());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let missing = directory.path().join("no/such/a.npy");
    assert!(write_npy(&missing, &[1], &[1.0f32]).unwrap_err().to_string().contains("a.npy"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is done to a good file, reading it gives elements or an error, never a panic.
    #[test]
    fn mutated_files_never_panic(edits in prop::collection::vec((0usize..160, any::<u8>()), 1..6), cut in 0usize..160) {
        let data: Vec<u8> = (0..32).collect();
        let mut bytes = file("{'descr': '<c8', 'fortran_order': False, 'shape': (2, 2), }", &data);
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(cut.max(bytes.len() / 2));
        for length in [Some(bytes.len() as u64), None] {
            if let Ok(mut reader) = NpyReader::new(Cursor::new(&bytes[..]), "a.npy".into(), length) {
                let mut out = vec![Complex64::new(0.0, 0.0); reader.remaining().min(64)];
                let _ = reader.read_into(&mut out);
            }
        }
    }

    /// Arbitrary dictionaries as well.
    #[test]
    fn arbitrary_dictionaries_never_panic(text in "[{}()\\[\\]'\",:<>|a-z0-9 TF\\\\\u{e9}]{0,80}") {
        let _ = open(&file(&text, &[0; 16]));
    }
}
