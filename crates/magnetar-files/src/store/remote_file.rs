//! An object that is read in parts: what was fetched lies in a file without a name, so that memory stays flat and nothing is
//! fetched twice.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::StreamExt;
use object_store::{Error, GetOptions, GetRange, ObjectMeta};

use super::client::{Object, attempt, object};
use super::error::{not_found, told};
use super::operations::look_up;
use crate::input_file::{read_at, write_at};

/// Objects are fetched in multiples of this many bytes.
const BLOCK: u64 = 1 << 18;

/// The most bytes of one request.
const MAX_REQUEST: u64 = 1 << 26;

/// Objects that were read last, which are not fetched anew.
const RECENT: usize = 8;

/// An object open for reading.
#[derive(Debug)]
pub(crate) struct RemoteFile {
    path: PathBuf,
    object: Object,
    bytes: u64,
    /// Of the object that was opened: another one under its name is not read.
    e_tag: Option<String>,
    /// As long as the object; holes where nothing was fetched.
    fetched: File,
    /// Numbers of the blocks that were.
    blocks: Mutex<BTreeSet<u64>>,
}

/// Objects that are open, and the last of them, which stay so.
struct Known {
    open: Vec<Weak<RemoteFile>>,
    last: VecDeque<Arc<RemoteFile>>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known { open: Vec::new(), last: VecDeque::new() });

impl RemoteFile {
    /// Opens an object.
    pub(crate) fn open(path: &Path) -> io::Result<Arc<Self>> {
        let found = look_up(path)?.ok_or_else(not_found)?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |file: &Arc<Self>| {
            file.path == path && file.bytes == found.size && file.e_tag.is_some() && file.e_tag == found.e_tag
        };
        if let Some(file) = known.open.iter().filter_map(Weak::upgrade).find(is_it) {
            return Ok(file);
        }
        let file = Arc::new(Self::new(path, &found)?);
        known.last.push_front(Arc::clone(&file));
        known.last.truncate(RECENT);
        known.open.retain(|file| file.strong_count() > 0);
        known.open.push(Arc::downgrade(&file));
        Ok(file)
    }

    fn new(path: &Path, found: &ObjectMeta) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            object: object(path)?,
            bytes: found.size,
            e_tag: found.e_tag.clone(),
            fetched: tempfile::tempfile()?,
            blocks: Mutex::new(BTreeSet::new()),
        })
    }

    /// Bytes.
    pub(crate) fn len(&self) -> u64 {
        self.bytes
    }

    /// Reads at a place as much as there is; 0 at the end.
    pub(crate) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let end = at.saturating_add(buffer.len() as u64).min(self.bytes);
        if at >= end {
            return Ok(0);
        }
        self.prepare(at..end)?;
        let length = usize::try_from(end - at).unwrap_or(buffer.len());
        read_at(&self.fetched, &mut buffer[..length], at)
    }

    /// Fetches what is missing of a part, in as few requests as it takes.
    pub(crate) fn prepare(&self, part: Range<u64>) -> io::Result<()> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = part.start / BLOCK;
        let end = part.end.min(self.bytes).div_ceil(BLOCK);
        while next < end {
            let most = end.min(next + MAX_REQUEST / BLOCK);
            let run = (next..most).take_while(|block| !blocks.contains(block)).count() as u64;
            if run > 0 {
                self.fetch(next * BLOCK..((next + run) * BLOCK).min(self.bytes))?;
                blocks.extend(next..next + run);
            }
            next += run.max(1);
        }
        Ok(())
    }

    fn fetch(&self, part: Range<u64>) -> io::Result<()> {
        let once = || async {
            let options =
                GetOptions::new().with_range(Some(GetRange::Bounded(part.clone()))).with_if_match(self.e_tag.clone());
            let found = self.object.store.get_opts(&self.object.name, options).await?;
            let (mut at, mut stream) = (part.start, found.into_stream());
            while let Some(bytes) = stream.next().await {
                let bytes = bytes?;
                write_at(&self.fetched, &bytes, at).map_err(generic)?;
                at += bytes.len() as u64;
            }
            match at == part.end {
                true => Ok(()),
                false => Err(generic(io::Error::new(io::ErrorKind::UnexpectedEof, "the answer ended too early"))),
            }
        };
        attempt(once).map_err(told)
    }
}

/// Fetches an object into a file without a name.
pub(crate) fn fetch(path: &Path) -> io::Result<File> {
    let file = RemoteFile::new(path, &look_up(path)?.ok_or_else(not_found)?)?;
    file.prepare(0..file.bytes)?;
    Ok(file.fetched)
}

fn generic(error: io::Error) -> Error {
    Error::Generic { store: "", source: error.into() }
}
