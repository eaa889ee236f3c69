//! Targets that another program changes between two phases, or while one runs.

use std::fs::{self, File};
use std::io;

use assay_model::workload::storage::{AccessPattern, AtEnd, Cursor, StorageStream};

use super::*;

const BYTES: u64 = 8192;

/// Returns a workload that reads (1.0) or writes (0.0) one target.
fn workload(path: &Path, size_bytes: Option<u64>, read_share: f64) -> StorageWorkload {
    let target = StorageTarget::new("t", path.to_path_buf(), size_bytes);
    let pattern =
        AccessPattern::Sequential { cursor: Cursor::Shared, at_end: AtEnd::Wrap, gap_bytes: 0 };
    StorageWorkload::new(
        vec![target],
        vec![StorageStream::new(pattern, 4096, read_share)],
        Some(1.0),
    )
}

/// Changes the file while it is held. Returns the failures of the check before a phase, and of that
/// after it; empty where the check passes.
fn disturb(
    (size_bytes, read_share): (Option<u64>, f64),
    change: impl FnOnce(&Path),
) -> [String; 2] {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let path = root.join("folder/file");
    fs::create_dir(root.join("folder")).unwrap();
    fs::write(&path, vec![7; BYTES as usize]).unwrap();
    let (held, workload) = (OpenTargets::default(), workload(&path, size_bytes, read_share));
    hold(&held, &workload).unwrap();
    let sizes = read_sizes(&held, &workload);
    assert_eq!(sizes, [Some(BYTES)]);
    change(&path);
    let text = |result: Result<(), CommandFailure>| {
        let failure = result.err().map(|failure| failure.message());
        failure.unwrap_or_default().replace(root.to_str().unwrap(), "")
    };
    [recheck(&held, &workload, &[]), check_unchanged(&held, &workload, &sizes)].map(text)
}

fn resize(bytes: u64) -> impl FnOnce(&Path) {
    move |path| File::options().write(true).open(path).unwrap().set_len(bytes).unwrap()
}

#[test]
fn size_changes_only_by_the_phase() {
    const WRITES: f64 = 0.0;
    const READS: f64 = 1.0;
    for (size_bytes, read_share, bytes, is_allowed) in [
        (None, WRITES, BYTES, true),
        (None, WRITES, BYTES - 1, false),
        (None, WRITES, BYTES + 1, false),
        (None, READS, BYTES - 1, false),
        (None, READS, BYTES + 1, true),
        // The phase fills the file up to its size.
        (Some(2 * BYTES), WRITES, 2 * BYTES, true),
        (Some(2 * BYTES), WRITES, 2 * BYTES + 1, false),
        (Some(1), WRITES, BYTES, true),
    ] {
        let expected = match is_allowed {
            true => "",
            false => "the size of the target /folder/file changed",
        };
        let found = disturb((size_bytes, read_share), resize(bytes));
        assert_eq!(found, ["", expected], "{size_bytes:?} {read_share} {bytes}");
    }
}

#[test]
fn path_must_lead_to_the_same_file() {
    let replaced = "the target /folder/file was replaced";
    let changes: [fn(&Path); 4] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::rename(path, path.with_extension("away")).unwrap(),
        |path| {
            fs::write(path.with_extension("new"), vec![7; BYTES as usize]).unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        },
        |path| {
            fs::remove_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path.parent().unwrap(), "a file in the place of the folder").unwrap();
        },
    ];
    for change in changes {
        assert_eq!(disturb((None, 0.0), change), [replaced; 2]);
    }
}

#[test]
fn silent_file_system_is_no_replaced_target() {
    for (code, expected) in [
        (2, "the target t was replaced"),
        (20, "the target t was replaced"),
        (5, "the target t cannot be used"),
        (107, "the target t cannot be used"),
    ] {
        let error = io::Error::from_raw_os_error(code);
        assert_eq!(unusable_target(Path::new("t"), &error).message(), expected);
    }
}

#[test]
fn another_file_at_a_held_path_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (link, held) = (root.join("link"), OpenTargets::default());
    for name in ["first", "second"] {
        fs::write(root.join(name), "x").unwrap();
    }
    std::os::unix::fs::symlink("first", &link).unwrap();
    let workload = workload(&link, None, 1.0);
    hold(&held, &workload).unwrap();
    hold(&held, &workload).unwrap();
    assert_eq!(held.paths(), [root.join("first"), link.clone()]);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("second", &link).unwrap();
    let failure = hold(&held, &workload).unwrap_err().to_string();
    assert!(failure.contains("was replaced"), "{failure}");
    // A file that is gone is released under all of its names.
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("first", &link).unwrap();
    release(&held, &root.join("first"));
    assert_eq!(held.paths(), Vec::<std::path::PathBuf>::new());
}
