//! Search for executables on `PATH`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::ProcessError;

/// Finds the first executable file `name` in the directories of `PATH`, as an absolute path. A
/// `name` with a slash is a path and is only checked.
pub fn find_executable(name: impl AsRef<Path>) -> Option<PathBuf> {
    find_in(name.as_ref(), &std::env::var_os("PATH").unwrap_or_default())
}

/// Returns the absolute path to start; the child starts in another directory.
///
/// # Errors
/// If there is no such program, or it is not executable.
pub fn resolve(program: &Path) -> Result<PathBuf, ProcessError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_in(program, &path).ok_or_else(|| match existing_path(program) {
        Some(program) => ProcessError::NotExecutable { program },
        None => ProcessError::NotFound { program: program.to_owned() },
    })
}

fn find_in(name: &Path, path: &OsStr) -> Option<PathBuf> {
    let candidates: Vec<PathBuf> = if is_path(name) {
        vec![name.to_owned()]
    } else {
        std::env::split_paths(path).map(|directory| directory.join(name)).collect()
    };
    let found = candidates.iter().find(|file| is_executable(file))?;
    std::path::absolute(found).ok()
}

fn is_path(name: &Path) -> bool {
    name.components().count() != 1 || name.is_absolute()
}

fn existing_path(program: &Path) -> Option<PathBuf> {
    (is_path(program) && program.exists()).then(|| program.to_owned())
}

fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn finds_first_executable_on_path() {
        let directory = tempfile::tempdir().unwrap();
        let make = |name: &str, mode: u32| {
            let file = directory.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        make("a/text", 0o644);
        make("a/tool/inner", 0o755);
        let tool = make("b/tool", 0o755);
        make("c/tool", 0o755);
        let path = ["a", "b", "c", "none"].map(|name| directory.path().join(name));
        let path = std::env::join_paths(path).unwrap();
        let check = |name: &Path, expected: Option<&PathBuf>| {
            assert_eq!(find_in(name, &path).as_ref(), expected, "{}", name.display());
        };
        check(Path::new("tool"), Some(&tool));
        check(Path::new("text"), None);
        check(Path::new("missing"), None);
        check(Path::new(""), None);
        check(&tool, Some(&tool));
        check(&directory.path().join("a/text"), None);
    }
}
