//! Tests of the list with an index, without one, and with a damaged one.

use std::path::Path;

use assay_model::doubt::Doubt;
use assay_model::event::{RunEvent, RunStarted, RunStatus};
use assay_model::run::Run;
use assay_store::{Headline, ListEntry, RunListing, Store, UnreadableEntry};

use crate::sample_run::{self, HEADLINES};

/// Creates two whole runs, one that was killed, one being written, and a folder without an event.
fn populated() -> (tempfile::TempDir, Store, assay_store::RunWriter) {
    let (folder, store) = sample_run::temporary_store();
    let store = store.with_headlines(HEADLINES);
    sample_run::write_run(&store, "a");
    sample_run::write_run(&store, "bb");
    let begin = |run| {
        let mut writer = store.begin(sample_run::run_started(run)).unwrap();
        writer.append(&sample_run::events_after_start()[0]).unwrap();
        writer
    };
    drop(begin("ccc"));
    let running = begin("dddd");
    std::fs::create_dir(store.folder().join("runs/empty")).unwrap();
    (folder, store, running)
}

fn format_listing(listing: &RunListing) -> String {
    let run = |run: &ListEntry| {
        let cases = [run.cases_finished, run.cases_failed, run.cases_planned];
        let headline = |h: &Headline| format!("{} {}", h.label, h.quantity);
        let headlines: String = run.headlines.iter().map(headline).collect();
        let running = if run.running { "running" } else { "ended" };
        let ListEntry { id, suite, started, status, host, .. } = run;
        format!("{id} {suite} {started} {status:?} {running} {cases:?} {host} {headlines:?}\n")
    };
    let unreadable = |run: &UnreadableEntry| {
        format!("{} unreadable: {}\n", run.id, run.reason.rsplit_once('/').unwrap().1)
    };
    let runs = listing.runs.iter().map(run);
    let all = runs.chain(listing.unreadable.iter().map(unreadable));
    all.chain(listing.doubts.iter().map(|doubt| doubt.id().to_owned())).collect()
}

fn check(store: &Store) {
    expect_test::expect![[r#"
        dddd memory 2026-11-21T10:44:04Z Unfinished running [0, 0, 3] node-7 ""
        ccc memory 2026-11-21T10:44:03Z Unfinished ended [0, 0, 3] node-7 ""
        bb memory 2026-11-21T10:44:02Z Failed ended [2, 1, 3] node-7 "latency 1.100 ns"
        a memory 2026-11-21T10:44:01Z Failed ended [2, 1, 3] node-7 "latency 1.100 ns"
        empty unreadable: events.jsonl has no events: assay was stopped before the run began
    "#]]
    .assert_eq(&format_listing(&store.list().unwrap()));
}

/// A start at a whole second is before its fractions.
#[test]
fn sorts_fractions_of_seconds_by_time() {
    let (_folder, store) = sample_run::temporary_store();
    let starts = ["2026-11-21T10:44:05Z", "2026-11-21T10:44:05.7Z", "2026-11-21T10:44:06Z"];
    for (id, started) in ["first", "second", "third"].into_iter().zip(starts) {
        let begun = RunStarted { started: started.to_owned(), ..sample_run::run_started(id) };
        drop(store.begin(begun).unwrap());
    }
    let ids: Vec<String> = store.list().unwrap().runs.into_iter().map(|run| run.id).collect();
    assert_eq!(ids, ["third", "second", "first"]);
}

/// Replaces a part of the index, which must be there.
fn change(index: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(index).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(index, text.replace(from, to)).unwrap();
}

#[test]
fn damaged_index_is_rebuilt() {
    let (_folder, store, _running) = populated();
    let index = store.folder().join("index.jsonl");
    check(&store);
    check(&store);
    let damages: [&dyn Fn(); 8] = [
        &|| std::fs::remove_file(&index).unwrap(),
        &|| std::fs::write(&index, "this is no index, and never was one").unwrap(),
        &|| std::fs::write(&index, [0xff, b'\n', 0, b'\n']).unwrap(),
        &|| std::fs::write(&index, "").unwrap(),
        &|| change(&index, "\"version\":", "\"version\":99"),
        &|| change(&index, "\"status\":\"failed\"", "\"status\":\"nonsense\""),
        &|| change(&index, "}\n", ""),
        &|| change(&index, "\"id\":\"a\"", "\"id\":\"gone\""),
    ];
    for damage in damages {
        damage();
        check(&store);
        assert!(index.is_file());
        check(&store);
    }
}

/// The clock was set back twice and corrected once; identifiers follow the clock.
#[test]
fn latest_run_ignores_clock_changes() {
    let (_folder, store) = sample_run::temporary_store();
    let begin = |id: &str| {
        let started = format!("2026-11-21T{}:00:00Z", &id[9..11]);
        let after = store.latest_if_later_than(id).unwrap();
        drop(
            store.begin(RunStarted { started, after, ..sample_run::run_started(id) }).unwrap(),
        );
    };
    let ids = [10, 8, 9, 7, 11].map(|hour| format!("20261121-{hour:02}0000-0000"));
    for (count, id) in (1..).zip(&ids) {
        begin(id);
        let listed: Vec<String> =
            store.list().unwrap().runs.into_iter().map(|it| it.id).collect();
        let measured: Vec<String> = ids[..count].iter().rev().cloned().collect();
        assert_eq!(listed, measured);
        assert_eq!(store.resolve("latest").unwrap(), *id);
    }
    // Without the run that they followed, only the clock remains.
    store.remove(&ids[..1]).unwrap();
    let listed: Vec<String> = store.list().unwrap().runs.into_iter().map(|it| it.id).collect();
    assert_eq!(listed, [4, 3, 2, 1].map(|at| ids[at].clone()));
}

/// The index stores the mark, so that a listing need not read the run again.
#[test]
fn lossy_run_is_marked() {
    let (_folder, store) = sample_run::temporary_store();
    sample_run::write_run(&store, "a");
    let mark = || {
        let run = store.list().unwrap().runs.remove(0);
        (run.is_whole, run.losses)
    };
    assert_eq!(mark(), (true, 0));
    let path = store.folder().join("runs/a/events.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept = text.lines().enumerate().filter(|(at, _)| ![4, 5].contains(at));
    let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
    std::fs::write(&path, kept.join("\n")).unwrap();
    assert_eq!(mark(), (false, 2));
    assert_eq!(mark(), (false, 2));
}

/// Without this test the others would also pass if the index were never read.
#[test]
fn current_index_is_used() {
    let (_folder, store) = sample_run::temporary_store();
    sample_run::write_run(&store, "a");
    change(&store.folder().join("index.jsonl"), "\"memory\"", "\"from the index\"");
    assert_eq!(store.list().unwrap().runs[0].suite, "from the index");
    let newer =
        store.clone().with_headlines(assay_store::HeadlineSource { version: 2, ..HEADLINES });
    assert_eq!(newer.list().unwrap().runs[0].suite, "memory");
}

/// A caller that has measured a run need not have it read again.
#[test]
fn given_run_makes_the_same_index_row() {
    let (_folder, store) = sample_run::temporary_store();
    let mut writer = store.begin(sample_run::run_started("a")).unwrap();
    let mut events = vec![RunEvent::RunStarted(Box::new(sample_run::run_started("a")))];
    events.extend(sample_run::events_after_start());
    events[1..].iter().for_each(|event| writer.append(event).unwrap());
    let mut run = Run::fold(events).unwrap();
    assert_eq!(writer.finish(Some(&run)), None);
    assert!(store.verify("a").index_agrees);
    // The given run is used without reading the file.
    run.started.plan.suite = "from the hand".to_owned();
    let writer = store.begin(sample_run::run_started("b")).unwrap();
    assert_eq!(writer.finish(Some(&run)), None);
    assert_eq!(store.list().unwrap().runs[0].suite, "from the hand");
    assert!(!store.verify("b").index_agrees);
    let ids = ["a".to_owned(), "b".to_owned()];
    let agree: Vec<bool> = store.verify_each(&ids).map(|run| run.index_agrees).collect();
    assert_eq!(agree, [true, false]);
}

#[test]
fn grown_and_removed_runs_are_detected() {
    let (_folder, store) = sample_run::temporary_store();
    let mut writer = store.begin(sample_run::run_started("a")).unwrap();
    let list = || store.list().unwrap().runs;
    assert_eq!((list()[0].cases_finished, list()[0].running), (0, true));
    for event in sample_run::events_after_start() {
        writer.append(&event).unwrap();
    }
    assert_eq!((list()[0].cases_finished, list()[0].status), (2, RunStatus::Failed));
    assert_eq!(store.running().unwrap(), ["a"]);
    drop(writer);
    assert_eq!(store.running().unwrap(), Vec::<String>::new());
    std::fs::remove_dir_all(store.folder().join("runs/a")).unwrap();
    assert_eq!(list(), vec![]);
}

#[test]
fn unwritable_index_is_a_doubt() {
    let (_folder, store) = sample_run::temporary_store();
    std::fs::create_dir(store.folder().join("index.jsonl")).unwrap();
    let mut writer = store.begin(sample_run::run_started("a")).unwrap();
    for event in sample_run::events_after_start() {
        writer.append(&event).unwrap();
    }
    let doubt = writer.finish(None).unwrap();
    assert!(
        matches!(&doubt, Doubt::StoreIndex { path, .. } if path.ends_with("index.jsonl")),
        "{doubt:?}"
    );
    let listing = store.list().unwrap();
    assert_eq!((listing.runs.len(), listing.doubts.len()), (1, 1));
}
