//! Tests of a disk that becomes full during a run: the error names the file, and nothing is lost.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use assay_model::event::RunEvent;
use assay_store::{Store, StoreError};

use crate::sample_run;

/// File system in memory (tmpfs) of a given size, unmounted when dropped.
struct TinyFileSystem<'a>(&'a Path);

impl<'a> TinyFileSystem<'a> {
    fn mount(folder: &'a Path, size: &str) -> Result<Self, String> {
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "tmpfs"])
            .arg(folder)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(Self(folder))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }
}

impl Drop for TinyFileSystem<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn full_disk_keeps_written_events() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = match TinyFileSystem::mount(folder.path(), "size=128k") {
        Ok(tiny) => tiny,
        Err(reason) => return sample_run::skip("full_disk_keeps_written_events", &reason),
    };
    let store = Store::open(folder.path().join("assay")).unwrap();
    let mut writer = store.begin(sample_run::run_started("full")).unwrap();
    let is_end = |event: &RunEvent| matches!(event, RunEvent::CaseFinished { .. });
    let events = sample_run::events_after_start();
    let first_case = 1 + events.iter().position(is_end).unwrap();
    for event in &events[..first_case] {
        writer.append(event).unwrap();
    }
    let filler = folder.path().join("filler");
    let _ = std::fs::write(&filler, vec![0; 1 << 20]);

    let first_error = (0..1000).find_map(|_| writer.append(&sample_run::sample(0, 1.0)).err());
    let error = first_error.expect("a kilobyte of samples does not fit a full disk");
    assert!(matches!(error, StoreError::Append { .. }));
    assert!(error.to_string().ends_with("runs/full/events.jsonl"), "{error}");
    let source = error.source().unwrap().to_string();
    assert!(source.contains("No space left on device"), "{source}");
    assert!(matches!(writer.write_raw(&vec![0; 1 << 20]), Err(StoreError::WriteRaw { .. })));

    let read = store.read("full").unwrap();
    assert_eq!(read.problems, []);
    assert_eq!(read.run.finished_cases().count(), 1);

    std::fs::remove_file(&filler).unwrap();
    writer.append(&events[first_case]).unwrap();
    assert_eq!(store.read("full").unwrap().problems, []);
    drop(writer);
    drop(tiny);
}

#[test]
fn full_disk_rejects_new_store() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = match TinyFileSystem::mount(folder.path(), "nr_inodes=2") {
        Ok(tiny) => tiny,
        Err(reason) => return sample_run::skip("full_disk_rejects_new_store", &reason),
    };
    let error = Store::open(folder.path().join("assay")).unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
    drop(tiny);
}

#[test]
fn failed_start_leaves_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = match TinyFileSystem::mount(folder.path(), "size=64k") {
        Ok(tiny) => tiny,
        Err(reason) => {
            return sample_run::skip("failed_start_leaves_no_run", &reason);
        }
    };
    let store = Store::open(folder.path().join("assay")).unwrap();
    let _ = std::fs::write(folder.path().join("filler"), vec![0; 1 << 20]);
    let error = store.begin(sample_run::run_started("full")).unwrap_err();
    assert!(matches!(error, StoreError::Append { .. } | StoreError::Begin { .. }), "{error}");
    assert_eq!(store.list().unwrap().unreadable, vec![]);
    drop(tiny);
}
