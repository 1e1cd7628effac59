//! In place of object stores where the program was built without them: every call says how to get them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bounded_read::BoundedReadError;
use crate::place::place;

fn refused<T>(path: &Path) -> io::Result<T> {
    match place(path) {
        Err(problem) => Err(problem.into()),
        Ok(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

pub(crate) type Version = Option<Infallible>;

pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    refused(path)
}

pub(crate) fn size(path: &Path) -> io::Result<u64> {
    refused(path)
}

pub(crate) fn read(path: &Path, _limit: u64) -> Result<Vec<u8>, BoundedReadError> {
    Ok(refused(path)?)
}

pub(crate) fn read_version(path: &Path, _limit: u64) -> Result<Option<(Vec<u8>, Version)>, BoundedReadError> {
    Ok(refused(path)?)
}

pub(crate) fn swap(path: &Path, _bytes: &[u8], _before: &Version) -> io::Result<Option<Version>> {
    refused(path)
}

pub(crate) fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    refused(folder)
}

pub(crate) fn sizes(folder: &Path) -> io::Result<BTreeMap<String, u64>> {
    refused(folder)
}

pub(crate) fn remove(path: &Path) -> io::Result<()> {
    refused(path)
}

pub(crate) fn rename(from: &Path, _to: &Path) -> io::Result<()> {
    refused(from)
}

pub(crate) fn remove_unfinished(folder: &Path) -> io::Result<Vec<String>> {
    refused(folder)
}

pub(crate) fn fetch(path: &Path) -> io::Result<File> {
    refused(path)
}

/// There is none.
#[derive(Debug)]
pub(crate) enum RemoteFile {}

impl RemoteFile {
    pub(crate) fn open(path: &Path) -> io::Result<Arc<Self>> {
        refused(path)
    }

    pub(crate) fn len(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn read_at(&self, _buffer: &mut [u8], _at: u64) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn prepare(&self, _part: Range<u64>) -> io::Result<()> {
        match *self {}
    }
}

/// There is none.
#[derive(Debug)]
pub(crate) enum StoreFile {}

impl StoreFile {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        refused(path)
    }

    pub(crate) fn commit(self) -> io::Result<()> {
        match self {}
    }

    pub(crate) fn commit_version(self) -> io::Result<()> {
        match self {}
    }
}

impl Write for StoreFile {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}
