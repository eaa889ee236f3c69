//! Tests of damaged files of events: every loss is reported, and the rest is read.

use assay_model::run::Run;
use assay_store::{ReadRun, Store};

use crate::sample_run;

/// Writes a run, applies `change` to the lines of its file and reads it.
fn read_changed(change: impl FnOnce(&mut Vec<String>)) -> ReadRun {
    let (_folder, store) = sample_run::temporary_store();
    sample_run::write_run(&store, "a");
    let path = store.folder().join("runs/a/events.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let store = Store::open_existing(store.folder()).unwrap();
    let read = store.read("a").unwrap();
    assert_eq!(read.path, path);
    read
}

/// Returns the run read from an undamaged file.
fn undamaged_run() -> Run {
    read_changed(|_| {}).run
}

/// Checks the reported problems and the number of lost events after `change`; returns the run.
fn check(change: impl FnOnce(&mut Vec<String>), expected: &str, losses: u64) -> Run {
    let read = read_changed(change);
    let reported: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    assert_eq!(reported.join("\n"), expected);
    assert_eq!((read.lost_events(), read.is_whole()), (losses, expected.is_empty()));
    read.run
}

/// Encodes an event, given as JSON, as a line with a valid checksum.
fn with_checksum(number: usize, event: &str) -> String {
    let body = format!("\"n\":{number},{}", event.strip_prefix('{').unwrap());
    format!("{{\"crc\":\"{:08x}\",{body}", crc32fast::hash(body.as_bytes()))
}

#[test]
fn damage_is_reported_with_line() {
    let whole = undamaged_run();
    let flip_digit = |lines: &mut Vec<String>| lines[4] = lines[4].replacen("1.1", "1.2", 1);
    let run = check(flip_digit, "line 5 is damaged; it is skipped", 1);
    assert_eq!(run.cases[0].series[0].samples.len(), 2);
    assert_eq!(run.cases[1..], whole.cases[1..]);

    let insert_garbage = |lines: &mut Vec<String>| lines.insert(4, "\0\0\0".to_owned());
    assert_eq!(check(insert_garbage, "line 5 is damaged; it is skipped", 1), whole);
    let repeat_line = |lines: &mut Vec<String>| lines.insert(5, lines[4].clone());
    let expected = "line 6 has event 5 again or out of order; it is skipped";
    assert_eq!(check(repeat_line, expected, 1), whole);
    check(|lines| drop(lines.drain(4..6)), "before line 5, 2 events are missing", 2);
    check(
        |lines| {
            lines[4] = "{".to_owned();
            lines.remove(6);
        },
        "line 5 is damaged; it is skipped\nbefore line 7, 1 event is missing",
        2,
    );
    let change_suite =
        |lines: &mut Vec<String>| lines[0] = lines[0].replace(r#""suite":"m"#, r#""suite":"M"#);
    let expected =
        "line 1 was changed after it was written; its details of the run may be wrong";
    check(change_suite, expected, 0);
}

#[test]
fn misplaced_events_are_reported_with_line() {
    let whole = undamaged_run();
    let push_unknown = |lines: &mut Vec<String>| {
        lines.push(with_checksum(lines.len() + 1, r#"{"event":"weather","sky":"clear"}"#));
    };
    let last = {
        let mut count = 0;
        read_changed(|lines| count = lines.len());
        count + 1
    };
    let expected = format!("line {last} has the unknown event `weather`; it is skipped");
    assert_eq!(check(push_unknown, &expected, 1), whole);

    let push_event = |text: &str| {
        let text = text.to_owned();
        move |lines: &mut Vec<String>| lines.push(with_checksum(lines.len() + 1, &text))
    };
    let sample = r#"{"event":"sample","series":99,"value":1.0,"preparation":0,"at_ns":0}"#;
    let expected =
        format!("line {last} belongs to series 99, which was never opened; it is skipped");
    check(push_event(sample), &expected, 1);
    let open = r#"{"event":"series-opened","series":0,"case":"memory.latency/bytes=4096","metric":"latency","dimensions":{}}"#;
    check(push_event(open), &format!("line {last} opens series 0 again; it is skipped"), 1);
    let histogram = r#"{"event":"distribution","series":0,"preparation":0,"from_ns":0,"to_ns":1,"count":1,"sum_ns":1.0,"histogram":"AAAA"}"#;
    let read = read_changed(push_event(histogram));
    let reported = read.problems[0].to_string();
    let expected_start = format!(
        "line {last} has a malformed event `distribution`: a histogram does not decode"
    );
    assert!(reported.starts_with(&expected_start), "{reported}");
    assert_eq!((read.run, read.problems.len()), (whole, 1));
}

/// A newer assay may write lines without a checksum; those with known events are read.
#[test]
fn events_of_newer_assay_are_reported_and_skipped() {
    let make_newer = |lines: &mut Vec<String>| {
        let first = format!("{{{}", lines[0].split_once("\"n\":1,").unwrap().1);
        lines[0] = with_checksum(1, &first.replace("\"format\":2", "\"format\":3"));
        lines[3] = format!("{{{}", lines[3].split_once("\"n\":4,").unwrap().1);
        lines.push(r#"{"event":"weather","sky":"clear"}"#.to_owned());
    };
    let read = read_changed(make_newer);
    let reported: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    let last = reported[2].clone();
    assert_eq!(
        reported[0],
        "line 1: the run has format 3, but this assay supports formats up to 2: unknown events are skipped"
    );
    assert!(last.contains("has the unknown event `weather`"), "{last}");
    assert!(!read.is_whole());
    assert_eq!(read.run.cases, undamaged_run().cases);
}
