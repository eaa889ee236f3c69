//! Tests of restoring after a failure.

use std::path::Path;

use assay_model::factor::FactorLevels;

use super::*;
use crate::listener::SilentListener;

/// Returns levels of one factor whose `restore` fails until the folder contains a file `ready`.
fn applied_levels(folder: &Path) -> AppliedLevels {
    let command = |line: String| Some(FactorCommand { line, span: 0..0 });
    let factor = Factor {
        levels: FactorLevels { name: "mode".to_owned(), levels: vec!["a".to_owned()] },
        apply: command("true".to_owned()),
        restore: command(format!("test -e {}", folder.join("ready").display())),
        span: 0..0,
    };
    let store = Store::open(folder.join("store")).unwrap();
    let mut applied = AppliedLevels::new(vec![factor], Duration::ZERO, (store, "x"));
    applied.apply(&[], &AtomicBool::new(false), &mut SilentListener).unwrap();
    applied
}

#[test]
fn failed_restore_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("store/applied-factors/x.json");
    let mut applied = applied_levels(folder.path());
    for _ in 0..2 {
        applied.restore(false, &mut SilentListener).unwrap_err();
        assert!(std::fs::read_to_string(&record).unwrap().contains("mode"));
    }
    std::fs::write(folder.path().join("ready"), "").unwrap();
    applied.restore(false, &mut SilentListener).unwrap();
    assert!(!record.exists(), "nothing is left");
    std::fs::remove_file(folder.path().join("ready")).unwrap();
    applied.restore(false, &mut SilentListener).unwrap();
}

#[test]
fn failed_restore_is_reported_although_its_record_fails() {
    let folder = tempfile::tempdir().unwrap();
    let mut applied = applied_levels(folder.path());
    applied.record = Some(RestoreRecord::on_full_disk());
    let failure = applied.restore(false, &mut SilentListener).unwrap_err();
    assert!(failure.to_string().contains("cannot restore mode"), "{failure}");
}
