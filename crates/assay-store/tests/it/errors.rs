//! Tests of the errors for stores that cannot be opened and runs that cannot be read.

use std::error::Error;
use std::path::Path;

use assay_store::{Store, StoreError};

use crate::sample_run;

fn check<T: std::fmt::Debug>(result: Result<T, StoreError>, folder: &Path, expected: &str) {
    let error = result.unwrap_err();
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    let text = format!("{error}{source}").replace(&folder.display().to_string(), "DIR");
    assert!(text.starts_with(expected), "\n  got {text}\nwant {expected}");
    assert!(!error.advice().is_empty());
}

#[test]
fn reports_unusable_stores() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let at = |name: &str| dir.join(name);
    std::fs::write(at("file"), "x").unwrap();
    std::fs::create_dir_all(at("newer")).unwrap();
    std::fs::write(at("newer/FORMAT"), "7\n").unwrap();
    std::fs::create_dir_all(at("odd")).unwrap();
    std::fs::write(at("odd/FORMAT"), "hello").unwrap();
    std::fs::create_dir_all(at("strange/FORMAT")).unwrap();

    check(Store::open(at("file")), dir, "DIR/file is a file, not a folder with runs");
    check(Store::open(at("file/below")), dir, "cannot open the store DIR/file/below: ");
    check(
        Store::open(at("newer")),
        dir,
        "DIR/newer/FORMAT has format 7, but this assay supports formats up to 1",
    );
    check(
        Store::open(at("odd")),
        dir,
        "expected a format number in DIR/odd/FORMAT, found `hello`",
    );
    check(Store::open(at("strange")), dir, "cannot open the store DIR/strange: ");
    check(Store::open_existing(at("none")), dir, "there is no store in DIR/none");
    assert!(!at("none").exists(), "looking creates nothing");
    Store::open(at("deep/er")).unwrap();
    Store::open_existing(at("deep/er")).unwrap();
}

/// Runs without the format file are neither ignored nor taken over.
#[test]
fn reports_a_lost_format_file() {
    let (_folder, store) = sample_run::temporary_store();
    let dir = store.folder();
    drop(store.begin(sample_run::run_started("kept")).unwrap());
    std::fs::remove_file(dir.join("FORMAT")).unwrap();
    let expected = "DIR/FORMAT is missing, but the folder has runs: 1";
    check(Store::open_existing(dir), dir, expected);
    check(Store::open(dir), dir, expected);
    assert!(!dir.join("FORMAT").exists());
    std::fs::write(dir.join("FORMAT"), "1").unwrap();
    assert_eq!(Store::open(dir).unwrap().list().unwrap().runs.len(), 1);

    // Folders of others named `runs` are no store.
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(other.path().join("runs/exp1")).unwrap();
    check(Store::open_existing(other.path()), other.path(), "there is no store in DIR");
    Store::open(other.path()).unwrap();
}

#[test]
fn reports_unusable_runs() {
    let (_folder, store) = sample_run::temporary_store();
    let dir = store.folder();
    let events = |run: &str, text: &str| {
        std::fs::create_dir(dir.join("runs").join(run)).unwrap();
        std::fs::write(dir.join("runs").join(run).join("events.jsonl"), text).unwrap();
    };
    let _first = store.begin(sample_run::run_started("taken")).unwrap();
    check(store.begin(sample_run::run_started("taken")), dir, "run taken exists already");
    check(
        store.begin(sample_run::run_started("../out")),
        dir,
        "`../out` is not a valid identifier of a run",
    );

    events("empty", "");
    events("torn", "{\"event\":\"run-sta");
    events("headless", "{\"event\":\"case-started\",\"case\":\"x\"}\n");
    events("future", "{\"event\":\"run-started\",\"format\":9}\n");
    events("today", "{\"event\":\"run-started\",\"format\":2}\n");
    events("past", "{\"event\":\"run-started\",\"format\":1}\n");
    let read = |run: &str, expected: &str| check(store.read(run), dir, expected);
    read("none", "there is no run none in DIR/runs");
    read("../runs", "there is no run ../runs in DIR/runs");
    read("empty", "DIR/runs/empty/events.jsonl has no events");
    read("torn", "DIR/runs/torn/events.jsonl line 1 is not the beginning of a run: EOF");
    read(
        "headless",
        "DIR/runs/headless/events.jsonl line 1 is not the beginning of a run: it is another event",
    );
    read("future", "DIR/runs/future/events.jsonl has format 9");
    read(
        "today",
        "DIR/runs/today/events.jsonl line 1 is not the beginning of a run: missing field",
    );
    read(
        "past",
        "DIR/runs/past/events.jsonl line 1 is not the beginning of a run: its format 1 is not supported",
    );
    assert_eq!(store.list().unwrap().unreadable.len(), 6);
}
