//! Generates synthetic runs and result files, as many as a store holds after years: 10,000 runs with
//! 1,000,000 results, two runs of 5,000 results, one for a page, and 1,000 fio files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use assay_model::attribute::{Attribute, Attributes};
use assay_model::event::{
    FORMAT, HostJoined, RunEvent, RunStarted, RunStatus, Sample, SeriesOpened, StopReason,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::workload::{Domain, StreamWorkload, Workload};

use crate::command;

/// Runs of the large store, and cases of each: with four results per case, a million results.
const RUNS: usize = 10_000;
const CASES: usize = 25;
/// Cases of each of the two runs that are compared: 5,000 results.
const COMPARED_CASES: usize = 1_250;
/// Cases of the run for the HTML page: the largest suite has about 300 results.
const PAGE_CASES: usize = 75;
/// Files of fio.
const FILES: usize = 1_000;
/// Metrics of each case.
const METRICS: [&str; 4] = ["copy", "scale", "add", "triad"];
/// Samples of each result: the minimum for an interval.
const SAMPLES: u32 = 6;
/// Number of different sets of values, which the runs repeat: the commands do not depend on all
/// runs being different.
const VARIANTS: usize = 16;
/// Output of fio; only the name of the job differs between files.
const FIO_OUTPUT: &str =
    include_str!("../../../crates/assay-adapters/tests/golden/fio/3.33-mix.out");

/// Makes the store and the files of suite `store`, and the index of the store.
pub(super) fn prepare(assay: &Path, folder: &Path) -> Result<()> {
    let (store, files) = (folder.join("store"), folder.join("files"));
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    write_files(&files, FILES)?;
    // The program itself creates the store.
    let mut import = Command::new(assay);
    import.arg("import").arg(files.join("0000.json")).arg("--store").arg(&store);
    command::output(&mut import)?;
    write_runs(&store, ("20200101", RUNS, CASES))?;
    write_runs(&store, ("20250101", 2, COMPARED_CASES))?;
    write_runs(&store, ("20250201", 1, PAGE_CASES))?;
    let mut list = Command::new(assay);
    command::output(list.args(["list", "--store"]).arg(&store)).map(drop)
}

/// Returns a run identifier, `20200101-000017-0003`.
fn run_id(day: &str, number: usize) -> String {
    let second = number % 60;
    let minute = number / 60 % 60;
    format!("{day}-{:02}{minute:02}{second:02}-{:04x}", number / 3600, number % 0x1_0000)
}

/// Writes `count` runs of `cases` cases to an existing store.
fn write_runs(store: &Path, (day, count, cases): (&str, usize, usize)) -> Result<()> {
    let rest: Vec<Vec<RunEvent>> =
        (0..VARIANTS.min(count)).map(|kind| events_after_first(cases, kind)).collect();
    let rest: Vec<String> = rest.iter().map(|it| format_lines(2, it)).collect::<Result<_>>()?;
    let plan = plan(cases);
    for number in 0..count {
        let id = run_id(day, number);
        let date = format!("{}-{}-{}", &day[..4], &day[4..6], &day[6..8]);
        let time = format!("{:02}:{:02}:{:02}", number / 3600, number / 60 % 60, number % 60);
        let started = RunEvent::RunStarted(Box::new(RunStarted {
            format: FORMAT,
            run: id.clone(),
            label: None,
            note: None,
            started: format!("{date}T{time}Z"),
            plan: plan.clone(),
            command: vec![],
            asked: None,
            turn: None,
            after: None,
        }));
        let folder = store.join("runs").join(&id);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {id}"))?;
        let text = format_lines(1, &[started])? + &rest[number % rest.len()];
        fs::write(folder.join("events.jsonl"), text).context("cannot write the events")?;
    }
    Ok(())
}

/// Writes result files in fio's format.
fn write_files(folder: &Path, count: usize) -> Result<()> {
    fs::create_dir_all(folder).context("cannot create the folder of files")?;
    for number in 0..count {
        let text = FIO_OUTPUT.replace("\"stream0\"", &format!("\"stream{number}\""));
        fs::write(folder.join(format!("{number:04}.json")), text)?;
    }
    Ok(())
}

fn case(number: usize) -> Case {
    let placement = format!("cores:{}", number + 1);
    let domain = Domain { placement: placement.clone(), cpus: vec![0] };
    Case {
        id: format!("memory.stream/{placement}"),
        by: "assay".to_owned(),
        workload: Workload::Stream(StreamWorkload {
            domains: vec![domain],
            bytes_per_array: 1 << 27,
            cache_multiple: 4.0,
        }),
        stopping: StoppingRule { target: 0.01, repetitions: 6, preparations: 1, budget_s: 1.0 },
        pair: None,
    }
}

fn plan(cases: usize) -> Plan {
    Plan {
        suite: "memory".to_owned(),
        budget_s: 60.0,
        seed: None,
        cases: (0..cases).map(case).collect(),
        omitted: vec![],
    }
}

/// Returns all events but the first, which contains the run's name.
fn events_after_first(cases: usize, kind: usize) -> Vec<RunEvent> {
    let facts = HostFacts { name: "node".to_owned(), ..HostFacts::default() };
    let mut events = vec![RunEvent::HostJoined(Box::new(HostJoined::new("node", facts)))];
    let mut series = 0;
    for number in 0..cases {
        let case = case(number);
        events.push(RunEvent::CaseStarted { case: case.id.clone() });
        for metric in METRICS {
            let placement = format!("cores:{}", number + 1);
            let dimensions: Attributes = [
                (Attribute::Host, "node".into()),
                (Attribute::Placement, placement.into()),
                (Attribute::Threads, ((number + 1) as u64).into()),
            ]
            .into();
            events.push(RunEvent::SeriesOpened(SeriesOpened::new(
                series,
                case.id.clone(),
                metric.to_owned(),
                dimensions,
            )));
            let level = 1e10 * (number + 1) as f64 * (1.0 + kind as f64 * 0.003);
            for turn in 0..SAMPLES {
                let value = level * (1.0 + 0.001 * f64::from((turn * 7 + series) % 11));
                events.push(RunEvent::Sample(Sample {
                    series,
                    value,
                    weight: 1.0,
                    preparation: turn % 2,
                    at_ns: u64::from(series * SAMPLES + turn) * 1000,
                }));
            }
            series += 1;
        }
        events.push(RunEvent::CaseFinished { case: case.id, stopped: StopReason::Precise });
    }
    events.push(RunEvent::RunFinished {
        finished: "2026-01-01T00:00:00Z".to_owned(),
        status: RunStatus::Complete,
        state: HostState::default(),
    });
    events
}

/// Formats events as the store does (`assay-store/src/line.rs`), numbered from `first` on.
fn format_lines(first: u64, events: &[RunEvent]) -> Result<String> {
    let mut text = String::new();
    for (event, number) in events.iter().zip(first..) {
        let json = serde_json::to_string(event)?;
        let body = format!("\"n\":{number},{}", json.strip_prefix('{').unwrap_or(&json));
        let crc = crc32fast::hash(body.as_bytes());
        let _ = writeln!(text, "{{\"crc\":\"{crc:08x}\",{body}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_distinct_runs_with_numbered_lines() {
        let store = tempfile::tempdir().unwrap();
        write_runs(store.path(), ("20200101", 20, 2)).unwrap();
        let made = fs::read_dir(store.path().join("runs")).unwrap().count();
        assert_eq!(made, 20);
        let text = fs::read_to_string(
            store.path().join("runs").join(run_id("20200101", 19)).join("events.jsonl"),
        );
        let text = text.unwrap();
        // The run, its host and its end; each case with its results and their samples.
        let per_case = 2 + METRICS.len() * (1 + SAMPLES as usize);
        assert_eq!(text.lines().count(), 3 + 2 * per_case);
        for (line, number) in text.lines().zip(1..) {
            let json: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(json["n"], number);
            let body = line.split_once("\",").unwrap().1;
            let crc = format!("{:08x}", crc32fast::hash(body.as_bytes()));
            assert_eq!(json["crc"], crc.as_str());
        }
    }
}
