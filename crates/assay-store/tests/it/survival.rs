//! Tests of crash recovery: from any prefix of a run's events, no finished case is lost and nothing
//! panics.

use assay_model::event::{RunEvent, RunStatus};
use assay_model::run::Run;
use assay_store::{Problem, Store, StoreError};
use proptest::prelude::*;

use crate::sample::{self, CASES};

fn path(store: &Store, run: &str) -> std::path::PathBuf {
    store.folder().join("runs").join(run).join("events.jsonl")
}

fn written() -> (tempfile::TempDir, Store, Vec<u8>) {
    let (folder, store) = sample::store();
    sample::write(&store, "whole");
    let bytes = std::fs::read(path(&store, "whole")).unwrap();
    (folder, store, bytes)
}

#[test]
fn what_is_written_comes_back() {
    let (_folder, store, _) = written();
    let read = store.read("whole").unwrap();
    assert_eq!(read.problems, []);
    assert!(read.is_whole());
    let first = RunEvent::RunStarted(Box::new(sample::started("whole")));
    let expected = Run::fold(std::iter::once(first).chain(sample::events())).unwrap();
    assert_eq!(read.run, expected);
    assert_eq!(read.run.status, RunStatus::Failed);
}

/// A kill can occur between any two bytes written to disk.
#[test]
fn a_kill_at_any_byte_loses_no_finished_case() {
    let (_folder, store, bytes) = written();
    let whole = store.read("whole").unwrap().run;
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    let end_of_case = |case: &str| {
        let position = |event: &RunEvent| match event {
            RunEvent::CaseFinished { case: ended, .. }
            | RunEvent::CaseFailed { case: ended, .. } => ended == case,
            _ => false,
        };
        // The first line is the start of the run, which is not among these events.
        ends[sample::events().iter().position(position).unwrap() + 1]
    };
    for length in 0..=bytes.len() {
        std::fs::write(path(&store, "whole"), &bytes[..length]).unwrap();
        let read = store.read("whole");
        if length < ends[0] {
            assert!(
                matches!(read, Err(StoreError::Empty { .. } | StoreError::FirstLine { .. })),
                "{length} bytes: {read:?}"
            );
            continue;
        }
        let read = read.unwrap_or_else(|error| panic!("{length} bytes: {error}"));
        let torn = !ends.iter().any(|end| *end == length || end + 1 == length);
        assert_eq!(read.problems.len(), usize::from(torn), "{length}: {:?}", read.problems);
        for case in CASES.into_iter().filter(|case| end_of_case(case) <= length) {
            assert_eq!(read.run.case(case), whole.case(case), "{length} bytes");
        }
    }
}

#[test]
fn a_cut_last_line_is_a_problem_and_not_a_failure() {
    let (_folder, store, bytes) = written();
    std::fs::write(path(&store, "whole"), &bytes[..bytes.len() - 5]).unwrap();
    let read = store.read("whole").unwrap();
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(read.problems, [Problem::CutOff { line: lines }]);
    assert_eq!(read.losses(), 1);
    assert_eq!(read.run.status, RunStatus::Unfinished);
    assert_eq!(read.run.finished_cases().count(), 2);
}

#[test]
fn an_event_that_json_cannot_hold_is_refused_before_it_is_written() {
    let (_folder, store) = sample::store();
    let mut writer = store.begin(sample::started("nan")).unwrap();
    let before = std::fs::read(path(&store, "nan")).unwrap();
    for value in [f64::NAN, f64::INFINITY] {
        let refused = writer.append(&sample::sample(0, value));
        assert!(matches!(refused, Err(StoreError::Encode { .. })), "{refused:?}");
    }
    assert_eq!(std::fs::read(path(&store, "nan")).unwrap(), before);
}

#[test]
fn raw_outputs_are_stored_once_and_checked() {
    let (_folder, store) = sample::store();
    let writer = store.begin(sample::started("raw")).unwrap();
    let hash = writer.raw(b"Triad: 41234.5\n").unwrap();
    assert_eq!(writer.raw(b"Triad: 41234.5\n").unwrap(), hash);
    assert_eq!(store.raw(&hash).unwrap(), b"Triad: 41234.5\n");
    let file = store.folder().join("raw").join(&hash[..2]).join(&hash);
    std::fs::write(&file, "Triad: 99999.9\n").unwrap();
    assert!(matches!(store.raw(&hash), Err(StoreError::RawDamaged { .. })));
    assert_eq!(writer.raw(b"Triad: 41234.5\n").unwrap(), hash);
    assert_eq!(store.raw(&hash).unwrap(), b"Triad: 41234.5\n");
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    for name in ["", "../../x", "zz"] {
        assert!(matches!(store.raw(name), Err(StoreError::Read { .. })), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_panics(at in 0usize..4000, noise in proptest::collection::vec(any::<u8>(), 0..40)) {
        let (_folder, store, mut bytes) = written();
        let at = at.min(bytes.len());
        let end = (at + noise.len()).min(bytes.len());
        bytes.splice(at..end, noise);
        std::fs::write(path(&store, "whole"), &bytes).unwrap();
        let _ = store.read("whole");
        prop_assert!(store.list().is_ok());
    }
}
