//! An object while it is made: in memory, or in a file without a name if it is large; put whole when it is committed.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use object_store::{Error, MultipartUpload, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion};
use tempfile::{SpooledData, SpooledTempFile};

use super::client::{Object, attempt, object};
use super::error::told;
use super::operations::{look_up, remove};
use super::remote_file::RemoteFile;
use crate::input_file::read_fully_at;
use crate::temporary::TEMPORARY_PREFIX;

/// A larger object is put in parts, and waits in a file.
const MAX_WHOLE: usize = 64 << 20;

/// Bytes of a part.
const PART: usize = 16 << 20;

/// Bytes compared at a time.
const COMPARED: usize = 1 << 20;

/// How often a name is tried that others change all the time.
const TURNS: usize = 16;

/// An object that appears when it is committed.
#[derive(Debug)]
pub(crate) struct StoreFile {
    content: SpooledTempFile,
    path: PathBuf,
}

impl StoreFile {
    /// Begins an object; the store hears nothing of it yet.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        object(path)?;
        Ok(Self { content: SpooledTempFile::new(MAX_WHOLE), path: path.to_owned() })
    }

    /// Puts the object, replacing what has its name.
    pub(crate) fn commit(self) -> io::Result<()> {
        let target = object(&self.path)?;
        match Content::of(self.content) {
            Content::Whole(bytes) => {
                let payload = PutPayload::from(bytes);
                attempt(|| target.store.put(&target.name, payload.clone())).map_err(told)?;
            }
            Content::Large(file) => put_in_parts(&target, &file)?,
        }
        Ok(())
    }

    /// Puts the object where none is. Of two that put one name at the same time one wins; to the other, what is there is as
    /// good if it has the same content, and is replaced, as long as it stays what it is, if it has not.
    pub(crate) fn commit_version(self) -> io::Result<()> {
        let target = object(&self.path)?;
        let content = Content::of(self.content);
        let staged = match &content {
            Content::Whole(_) => None,
            Content::Large(file) => {
                let staged = staging_path(&self.path);
                put_in_parts(&object(&staged)?, file)?;
                Some(staged)
            }
        };
        let result = (0..TURNS).find_map(|_| give_name(&self.path, &target, &content, staged.as_deref()).transpose());
        if let Some(staged) = staged {
            // What cannot be removed now is removed by a later run.
            let _ = remove(&staged);
        }
        result.unwrap_or_else(|| {
            let problem = "other processes keep changing it; wait for them, or choose another place";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, problem))
        })
    }
}

/// One turn of putting an object; `None` if another one came between.
fn give_name(path: &Path, target: &Object, content: &Content, staged: Option<&Path>) -> io::Result<Option<()>> {
    let staged = staged.map(object).transpose()?;
    let put = |mode: PutMode| match (content, &staged) {
        (Content::Whole(bytes), _) => {
            let payload = PutPayload::from(bytes.clone());
            let put = || target.store.put_opts(&target.name, payload.clone(), PutOptions::from(mode.clone()));
            attempt(put).map(|_| ())
        }
        (Content::Large(_), Some(staged)) if mode == PutMode::Create => {
            attempt(|| target.store.copy_if_not_exists(&staged.name, &target.name))
        }
        (Content::Large(_), Some(staged)) => attempt(|| target.store.copy(&staged.name, &target.name)),
        (Content::Large(file), None) => attempt(|| upload(target, file)),
    };
    let is_there = match put(PutMode::Create) {
        Err(Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. }) => look_up(path)?,
        result => return result.map(Some).map_err(told),
    };
    let Some(found) = is_there else { return Ok(None) };
    if content.is_that_of(&*RemoteFile::open(path)?)? {
        return Ok(Some(()));
    }
    match put(PutMode::Update(UpdateVersion { e_tag: found.e_tag, version: found.version })) {
        Err(Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. }) => Ok(None),
        result => result.map(Some).map_err(told),
    }
}

impl Write for StoreFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.content.flush()
    }
}

/// What is put.
enum Content {
    Whole(Bytes),
    Large(File),
}

impl Content {
    fn of(content: SpooledTempFile) -> Self {
        match content.into_inner() {
            SpooledData::InMemory(bytes) => Self::Whole(bytes.into_inner().into()),
            SpooledData::OnDisk(file) => Self::Large(file),
        }
    }

    fn len(&self) -> io::Result<u64> {
        match self {
            Self::Whole(bytes) => Ok(bytes.len() as u64),
            Self::Large(file) => Ok(file.metadata()?.len()),
        }
    }

    /// Whether an object has the same bytes.
    fn is_that_of(&self, object: &RemoteFile) -> io::Result<bool> {
        if self.len()? != object.len() {
            return Ok(false);
        }
        object.prepare(0..object.len())?;
        let (mut own, mut others) = (vec![0; COMPARED], vec![0; COMPARED]);
        let mut at = 0;
        while at < object.len() {
            let count = object.read_at(&mut others, at)?;
            let same = match self {
                Self::Whole(bytes) => {
                    usize::try_from(at).is_ok_and(|at| bytes.get(at..at + count) == Some(&others[..count]))
                }
                Self::Large(file) => {
                    read_fully_at(file, &mut own[..count], at)? == count && own[..count] == others[..count]
                }
            };
            if !same || count == 0 {
                return Ok(false);
            }
            at += count as u64;
        }
        Ok(true)
    }
}

/// Puts a file part by part. The object appears with the last.
fn put_in_parts(target: &Object, file: &File) -> io::Result<()> {
    attempt(|| upload(target, file)).map_err(told)
}

async fn upload(target: &Object, file: &File) -> Result<(), Error> {
    let mut upload = target.store.put_multipart(&target.name).await?;
    let result = upload_parts(&mut *upload, file).await;
    if result.is_err() {
        // What cannot be given up now, a rule of the bucket removes (docs/scale.md).
        let _ = upload.abort().await;
    }
    result
}

async fn upload_parts(upload: &mut dyn MultipartUpload, file: &File) -> Result<(), Error> {
    let mut at = 0;
    loop {
        let mut part = vec![0; PART];
        let count = read_fully_at(file, &mut part, at).map_err(|e| Error::Generic { store: "", source: e.into() })?;
        if count == 0 {
            return upload.complete().await.map(|_| ());
        }
        part.truncate(count);
        at += count as u64;
        upload.put_part(part.into()).await?;
    }
}

/// A name that no other process puts, beside the target and never with its ending.
fn staging_path(path: &Path) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    path.with_file_name(format!("{TEMPORARY_PREFIX}{name}.{since:x}-{process:x}-{number}"))
}
