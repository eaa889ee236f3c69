//! Removes a file tree that assay created: only entries with the names of such a tree.
//!
//! Other files among them stay, with the folders that contain them. All operations use folder
//! descriptors: no link is followed, even one that appears meanwhile, and no file system that is
//! mounted inside is entered.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_store::mount;
use rustix::fs::{self, AtFlags, Dir, DirEntry, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::safe_open;

/// Names of the directories and files of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeNames {
    /// Directories `vdb.1_1.dir` and files `vdb_f0001.file`.
    Vdbench,
    /// Directories `mdtest_tree.0` and `dir.mdtest.0.1`, files `file.mdtest.0.1`.
    Mdtest,
}

impl TreeNames {
    fn is_file(self, name: &str) -> bool {
        match self {
            Self::Vdbench => {
                let number = name.strip_prefix("vdb_f");
                number.and_then(|rest| rest.strip_suffix(".file")).is_some_and(is_number)
            }
            Self::Mdtest => name.strip_prefix("file.mdtest.").is_some_and(is_task_item),
        }
    }

    fn is_directory(self, name: &str) -> bool {
        match self {
            Self::Vdbench => {
                let numbers =
                    name.strip_prefix("vdb.").and_then(|rest| rest.strip_suffix(".dir"));
                let numbers = numbers.and_then(|numbers| numbers.split_once('_'));
                numbers.is_some_and(|(level, place)| is_number(level) && is_number(place))
            }
            Self::Mdtest => {
                let numbers = name.strip_prefix("mdtest_tree.");
                let item = name.strip_prefix("dir.mdtest.");
                let item = item.map(|it| it.strip_suffix("-XX").unwrap_or(it));
                numbers.is_some_and(|it| it.splitn(2, '.').all(is_number))
                    || item.is_some_and(is_task_item)
            }
        }
    }

    /// Whether a directory or a file of the tree has this name.
    pub(super) fn has(self, name: &OsStr) -> bool {
        name.to_str().is_some_and(|name| self.is_directory(name) || self.is_file(name))
    }
}

/// Removes the directories and files of a tree below `folder`; removes nothing if a file system is
/// mounted inside. Returns the directories that stay, because they contain others' files.
pub(super) fn remove_tree(folder: &Path, names: TreeNames) -> io::Result<Vec<PathBuf>> {
    if let Some(path) = find_mount(folder, names)? {
        let why =
            format!("{} is mounted inside, so nothing of the tree is removed", path.display());
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
    }
    let opened = safe_open::open(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut staying = Vec::new();
    remove_in((&opened, folder), (names, opened.metadata()?.dev()), &mut staying)?;
    Ok(staying)
}

/// Returns the first entry of the tree in `folder` that is on another mount than `folder`: of
/// `folder` itself only those with names of a tree, of the tree's directories all.
pub(super) fn find_mount(folder: &Path, names: TreeNames) -> io::Result<Option<PathBuf>> {
    let opened = safe_open::open(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mount = mount::mount_id(&opened)?;
    find_mount_in((&opened, folder), (names, mount), TreePart::Top)
}

/// Part of a tree: its folder may contain others' files and mounts, its directories contain none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TreePart {
    Top,
    Directory,
}

fn find_mount_in(
    (folder, path): (&File, &Path),
    (names, mount): (TreeNames, u64),
    part: TreePart,
) -> io::Result<Option<PathBuf>> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let text = OsStr::from_bytes(name.to_bytes());
        // The parent of a mounted folder is on another mount.
        if text == "." || text == ".." || (part == TreePart::Top && !names.has(text)) {
            continue;
        }
        let path = path.join(text);
        match mount::entry_mount_id(folder, text) {
            Ok(id) if id == mount => {}
            Ok(_) => return Ok(Some(path)),
            // Others may remove their files meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        }
        let is_ours = name.to_str().is_ok_and(|name| names.is_directory(name));
        if is_ours && is_directory_entry(folder, &entry)? {
            let Some(inner) = open_directory(folder, name)? else { return Ok(Some(path)) };
            if let Some(path) =
                find_mount_in((&inner, &path), (names, mount), TreePart::Directory)?
            {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}

/// Returns the first link in the place of a directory of the tree in `folder`.
pub(super) fn find_link(folder: &Path, names: TreeNames) -> io::Result<Option<PathBuf>> {
    let opened = safe_open::open(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
    find_link_in((&opened, folder), names)
}

fn find_link_in(
    (folder, path): (&File, &Path),
    names: TreeNames,
) -> io::Result<Option<PathBuf>> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(text) = name.to_str().ok().filter(|text| names.is_directory(text)) else {
            continue;
        };
        let path = path.join(text);
        let found = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => return Ok(Some(path)),
            FileType::Directory => {
                let Some(inner) = open_directory(folder, name)? else { continue };
                if let Some(link) = find_link_in((&inner, &path), names)? {
                    return Ok(Some(link));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Whether an entry is a directory; most file systems report the type in the listing.
fn is_directory_entry(folder: &File, entry: &DirEntry) -> io::Result<bool> {
    let kind = match entry.file_type() {
        FileType::Unknown => {
            let found = fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            FileType::from_raw_mode(found.st_mode)
        }
        known => known,
    };
    Ok(kind == FileType::Directory)
}

fn remove_in(
    (folder, path): (&File, &Path),
    (names, device): (TreeNames, u64),
    staying: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Ok(text) = name.to_str() else { continue };
        let found = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile if names.is_file(text) => {
                fs::unlinkat(folder, name, AtFlags::empty())?;
            }
            FileType::Directory if names.is_directory(text) && found.st_dev == device => {
                remove_directory(folder, (name, &path.join(text)), (names, device), staying)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn remove_directory(
    folder: &File,
    (name, path): (&CStr, &Path),
    (names, device): (TreeNames, u64),
    staying: &mut Vec<PathBuf>,
) -> io::Result<()> {
    let before = staying.len();
    if let Some(inner) = open_directory(folder, name)?
        && inner.metadata()?.dev() == device
    {
        remove_in((&inner, path), (names, device), staying)?;
    }
    match fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::BUSY) => {
            // The innermost directory contains what keeps those around it.
            if staying.len() == before {
                staying.push(path.to_path_buf());
            }
            Ok(())
        }
        other => Ok(other?),
    }
}

/// Opens a directory of a folder; `None` if a file system is mounted on it.
fn open_directory(folder: &File, name: &CStr) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    match fs::openat2(folder, name, flags, Mode::empty(), resolve) {
        Err(Errno::XDEV) => Ok(None),
        // Linux before 5.6, or a container that hides the call.
        Err(Errno::NOSYS | Errno::PERM) => {
            let inner = File::from(fs::openat(folder, name, flags, Mode::empty())?);
            let is_same = mount::mount_id(&inner)? == mount::mount_id(folder)?;
            Ok(is_same.then_some(inner))
        }
        other => Ok(Some(File::from(other?))),
    }
}

/// Whether it is the task and the number of an item: `0.12`, `shared.12`.
fn is_task_item(text: &str) -> bool {
    let parts = text.split_once('.');
    parts.is_some_and(|(task, number)| {
        (task == "shared" || is_number(task)) && is_number(number)
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::fs as std_fs;

    use super::*;

    #[test]
    fn recognises_names_of_mdtest() {
        for (name, expected) in [
            ("mdtest_tree.0", true),
            ("mdtest_tree.3.12", true),
            ("mdtest_tree.3.12.1", false),
            ("mdtest_tree.mine", false),
            ("dir.mdtest.0.5", true),
            ("dir.mdtest.0.5-XX", true),
            ("file.mdtest.12.0", true),
            ("file.mdtest.shared.0", true),
            ("file.mdtest.mine.0", false),
            ("file.mdtest.0.0.old", false),
            ("vdb_f0001.file", false),
        ] {
            assert_eq!(TreeNames::Mdtest.has(name.as_ref()), expected, "{name}");
        }
    }

    #[test]
    fn keeps_foreign_entries() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in ["vdb.1_1.dir/vdb.2_1.dir", "vdb.1_2.dir", "vdb.1_x.dir"] {
            std_fs::create_dir_all(at(folder)).unwrap();
        }
        for file in
            ["vdb.1_1.dir/vdb.2_1.dir/vdb_f0001.file", "vdb.1_2.dir/mine", "vdb_f1.file.old"]
        {
            std_fs::write(at(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(at("vdb.1_2.dir"), at("vdb_f0002.file")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std_fs::write(elsewhere.path().join("vdb_f0001.file"), "x").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), at("vdb.1_3.dir")).unwrap();
        let staying = remove_tree(root.path(), TreeNames::Vdbench).unwrap();
        assert_eq!(staying, [at("vdb.1_2.dir")]);
        for (path, stays) in [
            ("vdb.1_1.dir", false),
            ("vdb.1_2.dir/mine", true),
            ("vdb.1_x.dir", true),
            ("vdb_f1.file.old", true),
            ("vdb_f0002.file", true),
            ("vdb.1_3.dir/vdb_f0001.file", true),
        ] {
            assert_eq!(at(path).exists(), stays, "{path}");
        }
    }
}
