//! How much a file system holds and how much of it is free.

use std::path::Path;

use assay_model::facts::Capacity;

/// The file system of `path`, or of its folder while it does not exist; `None` where nothing tells.
#[must_use]
pub fn of(path: &Path) -> Option<Capacity> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let told = rustix::fs::statvfs(path).or_else(|_| rustix::fs::statvfs(folder)).ok()?;
    Some(Capacity {
        bytes: told.f_blocks.saturating_mul(told.f_frsize),
        free_bytes: told.f_bfree.saturating_mul(told.f_frsize),
        files: told.f_files,
        free_files: told.f_ffree,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_file_system_has_a_size() {
        let root = of(Path::new("/")).unwrap();
        assert!(root.bytes > 0 && root.free_bytes <= root.bytes);
        let later = of(Path::new("/a file that is not there yet")).unwrap();
        assert_eq!(later.bytes, root.bytes);
        assert!(of(Path::new("/no folder/no file")).is_none());
    }
}
