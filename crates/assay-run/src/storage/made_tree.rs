//! Removes a file tree that assay created: what has the names of such a tree, and nothing else.
//!
//! Other files among them stay, and so do the folders that contain them.

use std::io;
use std::path::Path;

use fs_err as fs;

/// Removes directories `vdb1_1.dir` and files `vdb_f0001.file` below `folder`. Links are not followed.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let kind = entry.file_type()?;
        if kind.is_file() && is_file(name) {
            fs::remove_file(entry.path())?;
        } else if kind.is_dir() && is_directory(name) {
            remove(&entry.path())?;
            match fs::remove_dir(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
                    return Err(error);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn is_file(name: &str) -> bool {
    let number = name.strip_prefix("vdb_f").and_then(|rest| rest.strip_suffix(".file"));
    number.is_some_and(is_number)
}

fn is_directory(name: &str) -> bool {
    let numbers = name.strip_prefix("vdb").and_then(|rest| rest.strip_suffix(".dir"));
    let numbers = numbers.and_then(|numbers| numbers.split_once('_'));
    numbers.is_some_and(|(level, place)| is_number(level) && is_number(place))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_of_the_tree_stays() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in ["vdb1_1.dir/vdb2_1.dir", "vdb1_2.dir", "vdb1_x.dir"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in
            ["vdb1_1.dir/vdb2_1.dir/vdb_f0001.file", "vdb1_2.dir/mine", "vdb_f1.file.old"]
        {
            fs::write(at(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(at("vdb1_2.dir"), at("vdb_f0002.file")).unwrap();
        remove(root.path()).unwrap();
        for (path, stays) in [
            ("vdb1_1.dir", false),
            ("vdb1_2.dir/mine", true),
            ("vdb1_x.dir", true),
            ("vdb_f1.file.old", true),
            ("vdb_f0002.file", true),
        ] {
            assert_eq!(at(path).exists(), stays, "{path}");
        }
    }
}
