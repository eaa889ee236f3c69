//! Tests of stores in which a pipe, a device or a very long sparse file takes the place of a file.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use assay_store::{Store, StoreError};
use rustix::fs::{CWD, mkfifoat};

use crate::sample_run;

/// Length of a sparse file that no machine could read into memory.
const SPARSE_BYTES: u64 = 100_000_000_000;

/// Reason in the message, and function that creates such a file.
type IrregularKind = (&'static str, fn(&Path));

/// Kinds of files that must not be read.
const KINDS: [IrregularKind; 4] = [
    ("it is a pipe", |path| mkfifoat(CWD, path, 0o600.into()).unwrap()),
    ("it is a device", |path| symlink("/dev/zero", path).unwrap()),
    ("it is a folder", |path| std::fs::create_dir(path).unwrap()),
    ("at most", |path| std::fs::File::create(path).unwrap().set_len(SPARSE_BYTES).unwrap()),
];

/// Replaces the file at `path`.
fn replace(path: &Path, create: fn(&Path)) {
    drop(std::fs::remove_file(path));
    create(path);
}

/// Calls `action` and fails if it waits for a writer, which never comes.
fn check_ends<T: Send + 'static>(action: impl FnOnce() -> T + Send + 'static) -> T {
    let (ended, end) = mpsc::channel();
    thread::spawn(move || drop(ended.send(action())));
    end.recv_timeout(Duration::from_mins(1)).expect("the action ends and does not panic")
}

#[test]
fn refuses_format_that_is_no_short_regular_file() {
    for (reason, create) in KINDS {
        let (_folder, store) = sample_run::temporary_store();
        let folder = store.folder().to_owned();
        replace(&folder.join("FORMAT"), create);
        let error = check_ends(move || Store::open_existing(folder).unwrap_err());
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(matches!(error, StoreError::Open { .. }), "{error}");
        assert!(source.contains(reason), "{reason}: {source}");
    }
}

#[test]
fn events_that_are_no_bounded_regular_file_are_unreadable() {
    for (reason, create) in KINDS {
        let (_folder, store) = sample_run::temporary_store();
        sample_run::write_run(&store, "sound");
        sample_run::write_run(&store, "odd");
        replace(&store.folder().join("runs/odd/events.jsonl"), create);
        let reason = reason.to_owned();
        check_ends(move || {
            let listing = store.list().unwrap();
            assert_eq!(listing.runs.len(), 1);
            assert!(listing.unreadable[0].reason.contains(&reason), "{listing:?}");
            assert_eq!(store.running().unwrap(), Vec::<String>::new());
            let verified = store.verify("odd");
            assert!(!verified.is_sound() && !verified.is_running);
            let error = store.read("odd").unwrap_err();
            assert!(error.to_string().contains(&reason), "{error}");
            assert!(error.advice().contains("assay rm"), "{}", error.advice());
            // A foreign entry stays in its folder; what assay could have written is removed.
            store.remove(&["odd".to_owned(), "sound".to_owned()]).unwrap();
            assert!(store.list().unwrap().runs.is_empty());
        });
    }
}

#[test]
fn index_that_is_no_bounded_regular_file_is_rebuilt_or_left() {
    for (reason, create) in KINDS {
        let (_folder, store) = sample_run::temporary_store();
        sample_run::write_run(&store, "first");
        replace(&store.folder().join("index.jsonl"), create);
        let reason = reason.to_owned();
        check_ends(move || {
            let writer = store.begin(sample_run::run_started("second")).unwrap();
            drop(writer.finish(None));
            for _ in 0..2 {
                assert_eq!(store.list().unwrap().runs.len(), 2, "{reason}");
            }
            assert!(store.verify("first").is_sound());
        });
    }
}

#[test]
fn raw_output_that_is_no_bounded_regular_file_is_damaged() {
    for (reason, create) in KINDS {
        let (_folder, store) = sample_run::temporary_store();
        let writer = store.begin(sample_run::run_started("raw")).unwrap();
        let hash = writer.write_raw(b"output").unwrap();
        let path = store.folder().join("raw").join(&hash[..2]).join(&hash);
        replace(&path, create);
        let reason = reason.to_owned();
        check_ends(move || {
            let error = store.read_raw(&hash).unwrap_err();
            assert!(error.to_string().contains(&reason), "{error}");
            // Writing the same output again replaces what is not it.
            if !path.is_dir() {
                assert_eq!(writer.write_raw(b"output").unwrap(), hash);
                assert_eq!(store.read_raw(&hash).unwrap(), b"output");
            }
        });
    }
}

#[test]
fn events_of_too_many_lines_are_refused() {
    let mut text = Vec::from(*b"{\"event\":\"run-started\",\"format\":1}");
    text.resize(text.len() + (8 << 20) + 1, b'\n');
    let error = assay_store::decode(&text).unwrap_err();
    assert!(error.to_string().contains("8388608 lines"), "{error}");
}

/// Everything in a store that a group shares follows the umask.
#[test]
fn every_file_has_the_mode_of_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, store) = sample_run::temporary_store();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    let writer = store.begin(sample_run::run_started("shared")).unwrap();
    let hash = writer.write_raw(b"output").unwrap();
    drop(writer.finish(None));
    store.list().unwrap();
    let raw = format!("raw/{}/{hash}", &hash[..2]);
    for name in ["FORMAT", "index.jsonl", "runs/shared/events.jsonl", &raw] {
        assert_eq!(mode(&store.folder().join(name)), mode(&plain), "{name}");
    }
}
