//! Raw outputs of tools, stored once under the BLAKE3 hash of their content.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::error::StoreError;
use crate::layout::{StoreLayout, new_temporary_file};
use crate::regular_file::{self, MAX_BYTES};

/// Stores `bytes` and returns their hash. Storing the same bytes again changes nothing.
pub(crate) fn write(layout: &StoreLayout, bytes: &[u8]) -> Result<String, StoreError> {
    let hash = blake3::hash(bytes).to_hex().to_string();
    let path = path(layout, &hash);
    let limit = bytes.len() as u64;
    if regular_file::read(&path, limit).is_ok_and(|present| present == bytes) {
        return Ok(hash);
    }
    write_atomically(layout, &path, bytes)
        .map_err(|source| StoreError::WriteRaw { path, source })?;
    Ok(hash)
}

/// Replaces the copy of `bytes` if it is damaged; returns whether it was. One that cannot be read is
/// left alone.
pub(crate) fn repair(layout: &StoreLayout, bytes: &[u8]) -> Result<bool, StoreError> {
    let hash = blake3::hash(bytes).to_hex().to_string();
    match read(layout, &hash) {
        Err(StoreError::RawDamaged { .. }) => write(layout, bytes).map(|_| true),
        _ => Ok(false),
    }
}

/// Returns the hash of `bytes` if they are stored.
pub(crate) fn find(layout: &StoreLayout, bytes: &[u8]) -> Option<String> {
    let hash = blake3::hash(bytes).to_hex().to_string();
    path(layout, &hash).is_file().then_some(hash)
}

/// Reads the bytes with this hash, and checks them.
pub(crate) fn read(layout: &StoreLayout, hash: &str) -> Result<Vec<u8>, StoreError> {
    let path = path(layout, hash);
    if blake3::Hash::from_hex(hash).is_err() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "not a BLAKE3 hash");
        return Err(StoreError::Read { path: layout.raw(), source });
    }
    let bytes = regular_file::read(&path, MAX_BYTES)?;
    match blake3::hash(&bytes).to_hex().as_str() == hash {
        true => Ok(bytes),
        false => Err(StoreError::RawDamaged { path }),
    }
}

pub(crate) fn path(layout: &StoreLayout, hash: &str) -> PathBuf {
    layout.raw().join(hash.get(..2).unwrap_or("")).join(hash)
}

/// Writes a temporary file, syncs and renames it, so that the name never refers to a partial file.
/// Without the sync, a power failure can leave one; the next [`write()`] of its content replaces it.
fn write_atomically(layout: &StoreLayout, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().expect("a raw output lies in a folder named by its hash");
    fs::create_dir_all(folder)?;
    let mut file = new_temporary_file(folder)?;
    file.write_all(bytes)?;
    layout.sync_file(file.as_file())?;
    file.persist(path).map_err(|error| error.error)?;
    layout.sync_folder(folder);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_copies_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let layout = StoreLayout::create(folder.path().join("store")).unwrap();
        let hash = write(&layout, b"figures").unwrap();
        assert!(!repair(&layout, b"figures").unwrap());
        fs::write(path(&layout, &hash), "figures of another").unwrap();
        assert!(read(&layout, &hash).is_err());
        assert!(repair(&layout, b"figures").unwrap());
        assert_eq!(read(&layout, &hash).unwrap(), b"figures");
    }
}
