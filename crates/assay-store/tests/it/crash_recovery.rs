//! Tests of crash recovery: from any prefix of a run's events, no finished case is lost and nothing
//! panics.

use assay_model::event::{RunEvent, RunStatus};
use assay_model::run::Run;
use assay_store::{EventProblem, Store, StoreError};
use proptest::prelude::*;

use crate::sample_run::{self, CASES};

fn events_path(store: &Store, run: &str) -> std::path::PathBuf {
    store.folder().join("runs").join(run).join("events.jsonl")
}

fn written_run() -> (tempfile::TempDir, Store, Vec<u8>) {
    let (folder, store) = sample_run::temporary_store();
    sample_run::write_run(&store, "whole");
    let bytes = std::fs::read(events_path(&store, "whole")).unwrap();
    (folder, store, bytes)
}

#[test]
fn written_run_round_trips() {
    let (_folder, store, _) = written_run();
    let read = store.read("whole").unwrap();
    assert_eq!(read.problems, []);
    assert!(read.is_whole());
    let first = RunEvent::RunStarted(Box::new(sample_run::run_started("whole")));
    let expected =
        Run::fold(std::iter::once(first).chain(sample_run::events_after_start())).unwrap();
    assert_eq!(read.run, expected);
    assert_eq!(read.run.status, RunStatus::Failed);
}

/// A kill can occur between any two bytes written to disk.
#[test]
fn kill_at_any_byte_keeps_finished_cases() {
    let (_folder, store, bytes) = written_run();
    let whole = store.read("whole").unwrap().run;
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    let end_of_case = |case: &str| {
        let ends_case = |event: &RunEvent| match event {
            RunEvent::CaseFinished { case: ended, .. }
            | RunEvent::CaseFailed { case: ended, .. } => ended == case,
            _ => false,
        };
        // The first line is the start of the run, which is not among these events.
        ends[sample_run::events_after_start().iter().position(ends_case).unwrap() + 1]
    };
    for length in 0..=bytes.len() {
        std::fs::write(events_path(&store, "whole"), &bytes[..length]).unwrap();
        let read = store.read("whole");
        if length < ends[0] {
            assert!(
                matches!(read, Err(StoreError::Empty { .. } | StoreError::FirstLine { .. })),
                "{length} bytes: {read:?}"
            );
            continue;
        }
        let read = read.unwrap_or_else(|error| panic!("{length} bytes: {error}"));
        let is_cut = !ends.iter().any(|end| *end == length || end + 1 == length);
        assert_eq!(read.problems.len(), usize::from(is_cut), "{length}: {:?}", read.problems);
        for case in CASES.into_iter().filter(|case| end_of_case(case) <= length) {
            assert_eq!(read.run.case(case), whole.case(case), "{length} bytes");
        }
    }
}

#[test]
fn cut_last_line_is_a_problem() {
    let (_folder, store, bytes) = written_run();
    std::fs::write(events_path(&store, "whole"), &bytes[..bytes.len() - 5]).unwrap();
    let read = store.read("whole").unwrap();
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(read.problems, [EventProblem::CutOff { line: lines }]);
    assert_eq!(read.lost_events(), 1);
    assert_eq!(read.run.status, RunStatus::Unfinished);
    assert_eq!(read.run.finished_cases().count(), 2);
}

#[test]
fn rejects_non_finite_values() {
    let (_folder, store) = sample_run::temporary_store();
    let mut writer = store.begin(sample_run::run_started("nan")).unwrap();
    let before = std::fs::read(events_path(&store, "nan")).unwrap();
    for value in [f64::NAN, f64::INFINITY] {
        let result = writer.append(&sample_run::sample(0, value));
        assert!(matches!(result, Err(StoreError::Encode { .. })), "{result:?}");
    }
    assert_eq!(std::fs::read(events_path(&store, "nan")).unwrap(), before);
}

#[test]
fn raw_outputs_are_stored_once_and_checked() {
    let (_folder, store) = sample_run::temporary_store();
    let writer = store.begin(sample_run::run_started("raw")).unwrap();
    let hash = writer.write_raw(b"Triad: 41234.5\n").unwrap();
    assert_eq!(writer.write_raw(b"Triad: 41234.5\n").unwrap(), hash);
    assert_eq!(store.read_raw(&hash).unwrap(), b"Triad: 41234.5\n");
    let file = store.folder().join("raw").join(&hash[..2]).join(&hash);
    std::fs::write(&file, "Triad: 99999.9\n").unwrap();
    assert!(matches!(store.read_raw(&hash), Err(StoreError::RawDamaged { .. })));
    assert_eq!(writer.write_raw(b"Triad: 41234.5\n").unwrap(), hash);
    assert_eq!(store.read_raw(&hash).unwrap(), b"Triad: 41234.5\n");
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    for name in ["", "../../x", "zz"] {
        assert!(matches!(store.read_raw(name), Err(StoreError::Read { .. })), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_panics(at in 0usize..4000, noise in proptest::collection::vec(any::<u8>(), 0..40)) {
        let (_folder, store, mut bytes) = written_run();
        let at = at.min(bytes.len());
        let end = (at + noise.len()).min(bytes.len());
        bytes.splice(at..end, noise);
        std::fs::write(events_path(&store, "whole"), &bytes).unwrap();
        let _ = store.read("whole");
        prop_assert!(store.list().is_ok());
    }
}

#[test]
fn ends_of_a_displaced_run_are_errors() {
    let displacements: [fn(&std::path::Path); 3] = [
        |path| std::fs::remove_file(path).unwrap(),
        |path| std::fs::rename(path, path.with_extension("away")).unwrap(),
        |path| {
            let copy = path.with_extension("copy");
            std::fs::copy(path, &copy).unwrap();
            std::fs::rename(copy, path).unwrap();
        },
    ];
    for displace in displacements {
        let (_folder, store) = sample_run::temporary_store();
        let mut writer = store.begin(sample_run::run_started("displaced")).unwrap();
        displace(&events_path(&store, "displaced"));
        let mut ends = 0;
        for event in sample_run::events_after_start() {
            match writer.append(&event) {
                Ok(()) => {}
                Err(StoreError::Displaced { .. }) => ends += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(ends > 0);
    }
}
