//! Stores of every format version ever written must open for ever.

use std::path::Path;

use assay_model::attribute::Attribute;
use assay_model::event::Status;
use assay_store::Store;

/// The fixture is copied, because listing writes an index.
fn open(version: &str) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(version);
    copy(&fixture, folder.path());
    let store = Store::open_existing(folder.path()).unwrap();
    (folder, store)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn version_1_opens() {
    let (_folder, store) = open("v1");
    let whole = store.read("20261121-104455-7f3a").unwrap();
    assert_eq!(whole.problems, []);
    assert_eq!(whole.run.status, Status::Failed);
    assert_eq!(whole.run.finished_cases().count(), 2);
    assert_eq!(whole.run.cases[0].series[0].samples.len(), 3);
    assert_eq!(whole.run.first_host().unwrap().facts.name, "node-7");
    assert_eq!(whole.run.cases[0].facts[&Attribute::HugePages], true.into());
    let hash = &whole.run.cases[0].raw["stdout"];
    assert_eq!(store.raw(hash).unwrap(), b"Triad: 41234.5\n");

    let killed = store.read("20261121-104455-7f3b").unwrap();
    assert_eq!(killed.problems.len(), 1);
    assert_eq!(killed.run.finished_cases().count(), 1);
    assert_eq!(store.list().unwrap().runs.len(), 2);
}
