//! Tests of the removal of runs, and of shared raw outputs.

use assay_model::event::RunEvent;
use assay_store::{RunRemoval, Store, StoreError};

use crate::sample_run;

/// Writes a run with two raw outputs, one of which all such runs share.
fn write(store: &Store, id: &str) -> [String; 2] {
    let mut writer = store.begin(sample_run::run_started(id)).unwrap();
    let outputs = [b"shared".to_vec(), id.as_bytes().to_vec()];
    outputs.map(|bytes| {
        let hash = writer.write_raw(&bytes).unwrap();
        let name = format!("{}", bytes.len());
        let bytes = bytes.len() as u64;
        let event = RunEvent::RawOutput { case: None, name, hash: hash.clone(), bytes };
        writer.append(&event).unwrap();
        hash
    })
}

fn ids(store: &Store) -> Vec<String> {
    store.list().unwrap().runs.into_iter().map(|run| run.id).collect()
}

#[test]
fn removal_keeps_shared_raw_outputs() {
    let (_folder, store) = sample_run::temporary_store();
    let [shared, first] = write(&store, "20261121-000000-0001");
    let [_, second] = write(&store, "20261122-000000-0002");
    assert_eq!(ids(&store).len(), 2);
    store.remove(&["20261121-000000-0001".to_owned()]).unwrap();
    assert_eq!(ids(&store), ["20261122-000000-0002"]);
    assert!(store.read_raw(&first).is_err());
    for kept in [&shared, &second] {
        store.read_raw(kept).unwrap();
    }
    store.remove(&["20261122-000000-0002".to_owned()]).unwrap();
    assert!(ids(&store).is_empty());
    assert!(store.read_raw(&shared).is_err());
}

#[test]
fn running_runs_and_their_outputs_are_kept() {
    let (_folder, store) = sample_run::temporary_store();
    let [shared, first] = write(&store, "20261121-000000-0001");
    let running = store.begin(sample_run::run_started("20261122-000000-0002")).unwrap();
    let refused = store.remove(&["20261122-000000-0002".to_owned()]).unwrap_err();
    assert!(matches!(refused, StoreError::Running { .. }), "{refused}");
    store.remove(&["20261121-000000-0001".to_owned()]).unwrap();
    for kept in [&shared, &first] {
        store.read_raw(kept).unwrap();
    }
    drop(running);
    assert_eq!(ids(&store), ["20261122-000000-0002"]);
}

#[test]
fn removal_keeps_other_files() {
    let (_folder, store) = sample_run::temporary_store();
    let [run, other] = ["20261121-000000-0001", "mine"];
    let [_, first] = write(&store, run);
    let at = |path: &str| store.folder().join("runs").join(path);
    std::fs::write(at(run).join("notes.txt"), "precious").unwrap();
    let removed =
        |has_events, stays| RunRemoval { run: run.to_owned(), has_events, kept_paths: stays };
    let expected = removed(true, vec![at(run).join("notes.txt")]);
    let ids = [run.to_owned()];
    assert_eq!(store.survey_removal(&ids).unwrap(), std::slice::from_ref(&expected));
    assert!(store.read_raw(&first).is_ok());
    assert_eq!(store.remove(&ids).unwrap(), [expected]);
    assert!(!at(run).join("events.jsonl").exists() && store.read_raw(&first).is_err());
    assert_eq!(std::fs::read_to_string(at(run).join("notes.txt")).unwrap(), "precious");
    // None of assay's files is left in it.
    let stays = vec![at(run).join("notes.txt")];
    assert_eq!(store.remove(&ids).unwrap(), [removed(false, stays)]);
    std::fs::remove_file(at(run).join("notes.txt")).unwrap();
    assert_eq!(store.remove(&ids).unwrap(), [removed(false, vec![])]);
    assert!(!at(run).exists());
    // assay writes no folder with the name of the events.
    std::fs::create_dir_all(at(other).join("events.jsonl")).unwrap();
    let left = store.remove(&[other.to_owned()]).unwrap();
    assert_eq!(left[0].kept_paths, [at(other).join("events.jsonl")]);
    assert!(at(other).join("events.jsonl").exists());
}

/// A run written by other software may name any path as its raw output.
#[test]
fn removal_ignores_invalid_hashes() {
    let (folder, store) = sample_run::temporary_store();
    let run = "20261121-000000-0001";
    std::fs::write(folder.path().join("precious"), "x").unwrap();
    let mut writer = store.begin(sample_run::run_started(run)).unwrap();
    let hash = format!("{}/precious", folder.path().display());
    writer
        .append(&RunEvent::RawOutput { case: None, name: "a".into(), hash, bytes: 1 })
        .unwrap();
    drop(writer);
    store.remove(&[run.to_owned()]).unwrap();
    assert!(folder.path().join("precious").exists() && ids(&store).is_empty());
}
