//! Reading, listing, naming and removing objects; and replacing one only if nobody else has.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use futures_util::TryStreamExt;
use object_store::{
    Error, GetOptions, GetResult, ObjectMeta, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};

use super::client::{attempt, object};
use super::error::{not_found, told};
use crate::bounded_read::BoundedReadError;
use crate::temporary::TEMPORARY_PREFIX;

/// An upload that was begun longer ago than this is nobody's any more.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// What an object was when it was read, to be replaced only as long as it is that; `None` if there was none.
pub(crate) type Version = Option<UpdateVersion>;

/// Size and version of an object; `None` if there is none.
pub(super) fn look_up(path: &Path) -> io::Result<Option<ObjectMeta>> {
    let object = object(path)?;
    match attempt(|| object.store.head(&object.name)) {
        Err(Error::NotFound { .. }) => Ok(None),
        result => result.map(Some).map_err(told),
    }
}

/// Whether there is an object, or a folder with one.
pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    Ok(look_up(path)?.is_some() || !list(path)?.is_empty())
}

/// Bytes of an object.
pub(crate) fn size(path: &Path) -> io::Result<u64> {
    look_up(path)?.map(|found| found.size).ok_or_else(not_found)
}

/// An object of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, BoundedReadError> {
    match read_version(path, limit)? {
        Some((bytes, _)) => Ok(bytes),
        None => Err(not_found().into()),
    }
}

/// An object of at most `limit` bytes and what it is replaced by; `None` if there is none.
pub(crate) fn read_version(path: &Path, limit: u64) -> Result<Option<(Vec<u8>, Version)>, BoundedReadError> {
    let object = object(path)?;
    let once = || async {
        let found: GetResult = object.store.get_opts(&object.name, GetOptions::default()).await?;
        if found.meta.size > limit {
            return Ok(None);
        }
        let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
        Ok(Some((found.bytes().await?.to_vec(), Some(version))))
    };
    match attempt(once) {
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(told(error).into()),
        Ok(None) => Err(BoundedReadError::TooLarge { limit }),
        Ok(found) => Ok(found),
    }
}

/// Puts an object if it is still what it was; `None` if it is not.
pub(crate) fn swap(path: &Path, bytes: &[u8], before: &Version) -> io::Result<Option<Version>> {
    let object = object(path)?;
    let payload = PutPayload::from(bytes.to_vec());
    let mode = || before.clone().map_or(PutMode::Create, PutMode::Update);
    let put = || object.store.put_opts(&object.name, payload.clone(), PutOptions::from(mode()));
    match attempt(put) {
        Ok(done) => Ok(Some(Some(UpdateVersion { e_tag: done.e_tag, version: done.version }))),
        // A request may have been granted and its answer lost; sent again it is refused, because of itself.
        Err(Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. }) => {
            let found = read_version(path, bytes.len() as u64);
            Ok(found.ok().flatten().filter(|(found, _)| found == bytes).map(|(_, version)| version))
        }
        Err(error) => Err(told(error)),
    }
}

/// The addresses of what lies in a folder, sorted.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let object = object(folder)?;
    let found = attempt(|| object.store.list_with_delimiter(Some(&object.name))).map_err(told)?;
    let names = found.objects.iter().map(|of| &of.location).chain(&found.common_prefixes);
    let mut paths: Vec<PathBuf> = names.filter_map(|name| Some(folder.join(name.filename()?))).collect();
    paths.sort_unstable();
    Ok(paths)
}

/// Names and bytes of the objects in a folder.
pub(crate) fn sizes(folder: &Path) -> io::Result<BTreeMap<String, u64>> {
    let of = |found: ObjectMeta| Some((found.location.filename()?.to_owned(), found.size));
    Ok(objects(folder)?.into_iter().filter_map(of).collect())
}

fn objects(folder: &Path) -> io::Result<Vec<ObjectMeta>> {
    let object = object(folder)?;
    attempt(|| object.store.list(Some(&object.name)).try_collect()).map_err(told)
}

/// Removes an object; one that is not there is no error.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let object = object(path)?;
    match attempt(|| object.store.delete(&object.name)) {
        Err(Error::NotFound { .. }) => Ok(()),
        result => result.map_err(told),
    }
}

/// Gives an object another name in its store, replacing what had it. Stopped in between, it has both.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (before, after) = (object(from)?, object(to)?);
    attempt(|| before.store.copy(&before.name, &after.name)).map_err(told)?;
    remove(from)
}

/// Removes what stopped uploads left in a folder, once nobody can be at work on it any more; gives the names of all else.
pub(crate) fn remove_unfinished(folder: &Path) -> io::Result<Vec<String>> {
    let mut others = Vec::new();
    for found in objects(folder)? {
        let name = found.location.filename().unwrap_or_default();
        let age = SystemTime::now().duration_since(found.last_modified.into()).unwrap_or_default();
        if !name.starts_with(TEMPORARY_PREFIX) {
            others.push(name.to_owned());
        } else if age > ABANDONED {
            remove(&folder.join(name))?;
        }
    }
    Ok(others)
}
