//! Tests of the list with an index, without one, and with a damaged one.

use std::path::Path;

use assay_model::doubt::Doubt;
use assay_model::event::{RunEvent, RunStarted, RunStatus};
use assay_model::run::Run;
use assay_store::{Headline, Listed, Listing, Store, Unreadable};

use crate::sample::{self, HEADLINES};

/// Creates two whole runs, one that was killed, one being written, and a folder without an event.
fn populated() -> (tempfile::TempDir, Store, assay_store::RunWriter) {
    let (folder, store) = sample::store();
    let store = store.with_headlines(HEADLINES);
    sample::write(&store, "a");
    sample::write(&store, "bb");
    let begin = |run| {
        let mut writer = store.begin(sample::started(run)).unwrap();
        writer.append(&sample::events()[0]).unwrap();
        writer
    };
    drop(begin("ccc"));
    let running = begin("dddd");
    std::fs::create_dir(store.folder().join("runs/empty")).unwrap();
    (folder, store, running)
}

fn show(listing: &Listing) -> String {
    let run = |run: &Listed| {
        let cases = [run.cases_finished, run.cases_failed, run.cases_planned];
        let headline = |h: &Headline| format!("{} {}", h.label, h.quantity);
        let headlines: String = run.headlines.iter().map(headline).collect();
        let running = if run.running { "running" } else { "ended" };
        let Listed { id, suite, started, status, host, .. } = run;
        format!("{id} {suite} {started} {status:?} {running} {cases:?} {host} {headlines:?}\n")
    };
    let unreadable = |run: &Unreadable| {
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
        empty unreadable: events.jsonl holds no event: assay was stopped before the run began
    "#]]
    .assert_eq(&show(&store.list().unwrap()));
}

/// Replaces a part of the index, which must be there.
fn change(index: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(index).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(index, text.replace(from, to)).unwrap();
}

#[test]
fn any_loss_of_the_index_is_mended() {
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
fn the_latest_run_is_the_one_that_was_measured_last_whatever_the_clock_shows() {
    let (_folder, store) = sample::store();
    let begin = |id: &str| {
        let started = format!("2026-11-21T{}:00:00Z", &id[9..11]);
        let after = store.latest_beyond(id).unwrap();
        drop(store.begin(RunStarted { started, after, ..sample::started(id) }).unwrap());
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
fn a_run_that_lost_events_is_marked() {
    let (_folder, store) = sample::store();
    sample::write(&store, "a");
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
fn an_index_that_is_up_to_date_is_used() {
    let (_folder, store) = sample::store();
    sample::write(&store, "a");
    change(&store.folder().join("index.jsonl"), "\"memory\"", "\"from the index\"");
    assert_eq!(store.list().unwrap().runs[0].suite, "from the index");
    let newer =
        store.clone().with_headlines(assay_store::Headlines { version: 2, ..HEADLINES });
    assert_eq!(newer.list().unwrap().runs[0].suite, "memory");
}

/// A caller that has measured a run need not have it read again.
#[test]
fn a_run_at_hand_makes_the_row_that_its_file_makes() {
    let (_folder, store) = sample::store();
    let mut writer = store.begin(sample::started("a")).unwrap();
    let mut events = vec![RunEvent::RunStarted(Box::new(sample::started("a")))];
    events.extend(sample::events());
    events[1..].iter().for_each(|event| writer.append(event).unwrap());
    let mut run = Run::fold(events).unwrap();
    assert_eq!(writer.finish(Some(&run)), None);
    assert!(store.verify("a").index_agrees);
    // The given run is used without reading the file.
    run.started.plan.suite = "from the hand".to_owned();
    let writer = store.begin(sample::started("b")).unwrap();
    assert_eq!(writer.finish(Some(&run)), None);
    assert_eq!(store.list().unwrap().runs[0].suite, "from the hand");
    assert!(!store.verify("b").index_agrees);
}

#[test]
fn a_run_that_grew_or_went_is_noticed() {
    let (_folder, store) = sample::store();
    let mut writer = store.begin(sample::started("a")).unwrap();
    let list = || store.list().unwrap().runs;
    assert_eq!((list()[0].cases_finished, list()[0].running), (0, true));
    for event in sample::events() {
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
fn an_index_that_cannot_be_written_is_a_doubt() {
    let (_folder, store) = sample::store();
    std::fs::create_dir(store.folder().join("index.jsonl")).unwrap();
    let mut writer = store.begin(sample::started("a")).unwrap();
    for event in sample::events() {
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
