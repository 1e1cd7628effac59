//! Laws of files in stores, on one in memory.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::{AtomicFile, InputFile, Version, read_bytes, read_version, write_version};

/// An address in a store of its own.
fn address(name: &str) -> PathBuf {
    PathBuf::from(format!("memory://files-{name}/folder/x.bin"))
}

fn write(path: &Path, bytes: &[u8]) {
    AtomicFile::write(path, bytes).unwrap();
}

fn commit_version(path: &Path, bytes: &[u8]) {
    let mut file = AtomicFile::create(path).unwrap();
    file.write_all(bytes).unwrap();
    file.commit_version().unwrap();
}

#[test]
fn nothing_appears_before_commit_and_all_of_it_then() {
    let path = address("appears");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"whole").unwrap();
    assert!(!crate::exists(&path).unwrap() && !crate::exists(path.parent().unwrap()).unwrap());
    file.commit().unwrap();
    assert_eq!(read_bytes(&path, 5).unwrap(), b"whole");
    assert!(read_bytes(&path, 4).unwrap_err().to_string().contains("larger than 4 bytes"));
    assert_eq!(crate::list_folder(path.parent().unwrap()).unwrap(), std::slice::from_ref(&path));
    crate::remove_file(&path).unwrap();
    crate::remove_file(&path).unwrap();
    assert!(read_bytes(&path, 5).unwrap_err().to_string().contains("no such object"));
}

#[test]
fn of_two_that_replace_one_version_one_wins() {
    let path = address("swap");
    let none = Version::absent(&path);
    let first = write_version(&path, b"1", &none, true).unwrap().unwrap();
    assert!(write_version(&path, b"2", &none, true).unwrap().is_none());
    let (bytes, read) = read_version(&path, 10).unwrap().unwrap();
    assert_eq!(bytes, b"1");
    let second = write_version(&path, b"22", &first, true).unwrap().unwrap();
    assert!(write_version(&path, b"3", &read, true).unwrap().is_none());
    // What was granted but whose answer was lost is known again by its content.
    assert!(write_version(&path, b"22", &read, true).unwrap().is_some());
    assert!(write_version(&path, b"4", &second, true).unwrap().is_some());
    assert_eq!(read_bytes(&path, 10).unwrap(), b"4");
}

#[test]
fn a_version_is_there_once_whoever_puts_it() {
    let path = address("version");
    let content = vec![7; 3 << 18];
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| commit_version(&path, &content));
        }
    });
    assert_eq!(read_bytes(&path, 1 << 20).unwrap(), content);
    // What a run left that was stopped, or damage, gives way.
    write(&path, b"something else");
    commit_version(&path, &content);
    assert_eq!(read_bytes(&path, 1 << 20).unwrap(), content);
}

#[test]
fn large_objects_are_put_in_parts() {
    let path = address("large");
    let content: Vec<u8> = (0..(64 << 20) + 12_345_u32).map(|i| (i % 251) as u8).collect();
    commit_version(&path, &content);
    commit_version(&path, &content);
    write(&path, b"something else");
    commit_version(&path, &content);
    assert!(read_bytes(&path, 1 << 27).unwrap() == content);
    assert_eq!(crate::list_folder(path.parent().unwrap()).unwrap(), std::slice::from_ref(&path));
    write(&path, b"small");
    assert_eq!(read_bytes(&path, 10).unwrap(), b"small");
}

#[test]
fn parts_are_read_at_any_place_and_only_of_the_object_that_was_opened() {
    let path = address("parts");
    let content: Vec<u8> = (0..(3 << 18) + 77_u32).map(|i| (i % 253) as u8).collect();
    write(&path, &content);
    let input = InputFile::open(&path).unwrap();
    assert_eq!(input.bytes(), content.len() as u64);
    for (at, length) in [(content.len() - 10, 20), (5, 3), ((1 << 18) - 2, 4), (0, content.len())] {
        let mut buffer = vec![0; length];
        let mut filled = 0;
        while filled < length.min(content.len() - at) {
            filled += input.read_at(&mut buffer[filled..], (at + filled) as u64).unwrap();
        }
        assert_eq!(buffer[..filled], content[at..at + filled]);
    }
    let mut buffer = [0; 4];
    assert_eq!(input.read_at(&mut buffer, content.len() as u64).unwrap(), 0);
    let half_read = InputFile::open(&path).unwrap();
    write(&path, &content[1..]);
    let fresh = InputFile::open(&path).unwrap();
    assert_eq!(fresh.bytes() + 1, half_read.bytes());
    fresh.read_at(&mut buffer, 0).unwrap();
    assert_eq!(buffer, content[1..5]);
}

#[test]
fn a_name_that_no_store_allows_is_refused() {
    for name in ["memory://files-names/a//b", "memory://files-names/../b", "memory://files-names/a/./b"] {
        assert!(AtomicFile::create(Path::new(name)).unwrap_err().to_string().contains("stores allow"), "{name}");
    }
}
