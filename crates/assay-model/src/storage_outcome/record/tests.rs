//! Entries of a storage outcome, and its round trip through JSON.

use super::*;
use crate::engine_reason::EngineReason;
use crate::event::{RunEvent, SeriesOpened};
use crate::run::{CaseRecord, record_for_tests};
use crate::storage_outcome::JournalEntry;
use crate::storage_outcome::{IoFailure, StreamErrors};

fn tally(values_ns: &[u64], bytes: u64, is_open_loop: bool) -> IoTally {
    let mut tally = IoTally::empty();
    for ns in values_ns {
        tally.count += 1;
        tally.bytes += bytes;
        tally.service_ns.record(*ns).unwrap();
        tally.service_sum_ns += ns;
        tally.service_square_sum += (*ns as f64).powi(2);
        if is_open_loop {
            tally.from_intended_ns.record(ns + 500).unwrap();
        }
    }
    tally
}

fn outcome(is_open_loop: bool) -> StorageOutcome {
    let stream_count = StreamCount {
        reads: 2,
        read_bytes: 8192,
        read_service_ns: 300,
        read_maximum_ns: 200,
        ..StreamCount::default()
    };
    let interval = |start_s: f64, warmup, reads: &[u64], writes: &[u64]| IntervalTally {
        start_s,
        length_s: 1.0,
        warmup,
        reads: tally(reads, 4096, is_open_loop),
        writes: tally(writes, 512, is_open_loop),
        streams: vec![StreamCount::default(), stream_count],
        in_flight: 1.5 + start_s,
        cpu_user: 0.25,
        cpu_system: 0.125,
    };
    let journal = vec![JournalEntry {
        at_ns: 7,
        service_ns: 100,
        submission_ns: 30,
        target: 1,
        offset: 1 << 40,
        bytes: 4096,
        operation: IoOperation::Read,
        priority: 0,
    }];
    let stream = |stream, operation| StreamTally {
        stream,
        target: stream,
        operation,
        tally: tally(&[100, 200, 40_000_000], 4096, is_open_loop),
    };
    StorageOutcome {
        elapsed_s: 2.0,
        open_s: 0.001,
        close_s: 0.0005,
        tallies: vec![stream(0, IoOperation::Write), stream(1, IoOperation::Read)],
        intervals: vec![
            interval(0.0, true, &[100, 200], &[]),
            interval(1.0, false, &[100, 200], &[9_000]),
            interval(2.0, false, &[], &[]),
        ],
        cpu_user_s: 0.5,
        cpu_system_s: 0.75,
        engine: "io_uring (single issuer)".to_owned(),
        engine_reason: EngineReason::Refused { io_uring: "no".to_owned(), libaio: None },
        errors: vec![IoFailure {
            stream: 0,
            target: 1,
            operation: IoOperation::Write,
            offset: 4096,
            bytes: 512,
            reason: "Input/output error".to_owned(),
        }],
        error_count: 3,
        not_started: u64::from(is_open_loop) * 5,
        ended: EndReason::Errors,
        streams: vec![
            StreamDetails {
                active_s: 1.5,
                ended_early: false,
                errors: StreamErrors::default(),
                restarted_s: None,
                never_measured: false,
                by_priority: vec![],
                found_depth: None,
                syncs: Some(tally(&[1000], 0, false)),
                submissions: [None, Some(tally(&[10, 20], 0, false))],
                completions: [None, Some(tally(&[90, 180], 0, false))],
                journal,
                batches: None,
            },
            StreamDetails { active_s: 2.0, ..StreamDetails::default() },
        ],
    }
}

/// Returns the number of I/O in all distributions of latencies with these dimensions.
fn recorded(record: &CaseRecord, dimensions: &[(Attribute, AttributeValue)]) -> u64 {
    let wanted = Attributes::from_iter(dimensions.iter().cloned());
    let series = record.series.iter().filter(|it| it.metric == LATENCY);
    let series = series.filter(|it| it.dimensions == wanted);
    series.flat_map(|it| &it.distributions).map(|it| it.seen.count).sum()
}

#[test]
fn records_intervals_and_parts() {
    let outcome = outcome(true);
    let member_entries =
        outcome.intervals.iter().flat_map(|interval| interval.to_member_entries("b"));
    let record =
        record_for_tests(outcome.to_entries().into_iter().chain(member_entries).collect());
    let operation = |name: &str| (Attribute::Operation, AttributeValue::from(name));
    let stream = |number: usize| (Attribute::Stream, AttributeValue::from(number));
    let stage = |name: &str| (Attribute::Stage, AttributeValue::from(name));
    let target = (Attribute::TargetIndex, AttributeValue::from(1_usize));
    let member = (Attribute::Member, AttributeValue::from("b"));
    for (dimensions, expected) in [
        (vec![operation("read")], 4),
        (vec![operation("write")], 1),
        (vec![operation("read"), stream(1), target], 3),
        (vec![operation("read"), stream(1), stage(INTERVAL)], 6),
        (vec![operation("write"), stream(0), stage(SYNC)], 1),
        (vec![operation("write"), stream(0), stage(COMPLETION)], 2),
        (vec![operation("read"), member], 4),
    ] {
        assert_eq!(recorded(&record, &dimensions), expected, "{dimensions:?}");
    }
    assert_eq!(record.facts.get(&Attribute::NotStarted), Some(&5_u64.into()));
    assert!(record.doubts.iter().any(|it| matches!(it, Doubt::IoFailed { target: 1, .. })));
    let [(name, journal)] = &outcome.journals()[..] else { panic!("one stream has a journal") };
    assert_eq!(name, "journal.0.csv");
    let expected = "at_ns,service_ns,offset,bytes,operation,submission_ns,target\n\
                    7,100,1099511627776,4096,read,30,1\n";
    assert_eq!(String::from_utf8_lossy(journal), expected);
}

#[test]
fn outcome_round_trips_through_json() {
    let outcome = outcome(true);
    let text = serde_json::to_string(&outcome).unwrap();
    assert!(serde_json::from_str::<StorageOutcome>(&text).unwrap() == outcome);
}

#[test]
fn outcome_events_round_trip() {
    let record = record_for_tests(outcome(true).to_entries());
    for series in &record.series {
        let opened = RunEvent::SeriesOpened(SeriesOpened::new(
            1,
            "x",
            series.metric.clone(),
            series.dimensions.clone(),
        ));
        let stretches = series.distributions.iter().cloned().map(RunEvent::Distribution);
        for event in stretches.chain([opened]) {
            let line = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<RunEvent>(&line).unwrap(), event, "{line}");
        }
    }
}

#[test]
fn merge_saturates() {
    let huge =
        IoTally { count: u64::MAX, bytes: 2, service_sum_ns: u64::MAX, ..IoTally::empty() };
    let mut merged = huge.clone();
    merged.merge(&huge);
    assert_eq!((merged.count, merged.bytes, merged.service_sum_ns), (u64::MAX, 4, u64::MAX));
    let huge = StreamCount { reads: u64::MAX, write_maximum_ns: 7, ..StreamCount::default() };
    let mut merged = StreamCount { reads: 1, write_maximum_ns: 3, ..StreamCount::default() };
    merged.merge(&huge);
    assert_eq!((merged.reads, merged.write_maximum_ns), (u64::MAX, 7));
}
