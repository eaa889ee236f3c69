//! Tests of the removal of runs, and of shared raw outputs.

use assay_model::event::RunEvent;
use assay_store::{Store, StoreError};

use crate::sample;

/// Writes a run with two raw outputs, one of which all such runs share.
fn write(store: &Store, id: &str) -> [String; 2] {
    let mut writer = store.begin(sample::started(id)).unwrap();
    let outputs = [b"shared".to_vec(), id.as_bytes().to_vec()];
    outputs.map(|bytes| {
        let hash = writer.raw(&bytes).unwrap();
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
fn a_run_goes_with_what_no_other_names() {
    let (_folder, store) = sample::store();
    let [shared, first] = write(&store, "20261121-000000-0001");
    let [_, second] = write(&store, "20261122-000000-0002");
    assert_eq!(ids(&store).len(), 2);
    store.remove(&["20261121-000000-0001".to_owned()]).unwrap();
    assert_eq!(ids(&store), ["20261122-000000-0002"]);
    assert!(store.raw(&first).is_err());
    for kept in [&shared, &second] {
        store.raw(kept).unwrap();
    }
    store.remove(&["20261122-000000-0002".to_owned()]).unwrap();
    assert!(ids(&store).is_empty());
    assert!(store.raw(&shared).is_err());
}

#[test]
fn a_run_that_is_being_written_stays_and_so_do_raw_outputs_meanwhile() {
    let (_folder, store) = sample::store();
    let [shared, first] = write(&store, "20261121-000000-0001");
    let running = store.begin(sample::started("20261122-000000-0002")).unwrap();
    let refused = store.remove(&["20261122-000000-0002".to_owned()]).unwrap_err();
    assert!(matches!(refused, StoreError::Running { .. }), "{refused}");
    store.remove(&["20261121-000000-0001".to_owned()]).unwrap();
    for kept in [&shared, &first] {
        store.raw(kept).unwrap();
    }
    drop(running);
    assert_eq!(ids(&store), ["20261122-000000-0002"]);
}
