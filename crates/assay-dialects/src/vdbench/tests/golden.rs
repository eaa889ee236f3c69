//! Compares pages with those that Vdbench 5.04.06 wrote (`tests/golden/vdbench`): same words at the
//! same positions.

use assay_model::storage_outcome::{
    EndReason, IoOperation, IoTally, StorageOutcome, StreamTally,
};
use assay_model::workload::file_set::{FileOperation, FilePlan};
use hdrhistogram::Histogram;

use super::text::{interval, runs};
use super::{VdbenchExecution, compile_valid};
use crate::vdbench::output::{self, StorageTotals, files, flat_file, histogram, skew};

const TABLE: &str = include_str!("../../../tests/golden/vdbench/table.txt");
const TABLE_OF_FILES: &str = include_str!("../../../tests/golden/vdbench/table_of_files.txt");
const FLAT_FILE: &str = include_str!("../../../tests/golden/vdbench/flatfile.txt");
const FLAT_FILE_OF_FILES: &str =
    include_str!("../../../tests/golden/vdbench/flatfile_of_files.txt");
const HISTOGRAM: &str = include_str!("../../../tests/golden/vdbench/histogram.txt");
const SKEW: &str = include_str!("../../../tests/golden/vdbench/skew.txt");

/// Parameter files, and the output of Vdbench's `-s` for them.
const EXPANSIONS: [(&str, &str); 2] = [
    (
        include_str!("../../../tests/golden/vdbench/expansion_raw.parm"),
        include_str!("../../../tests/golden/vdbench/expansion_raw.txt"),
    ),
    (
        include_str!("../../../tests/golden/vdbench/expansion_files.parm"),
        include_str!("../../../tests/golden/vdbench/expansion_files.txt"),
    ),
];

/// Returns the positions of word ends, which scripts that cut columns rely on.
fn word_ends(line: &str) -> Vec<usize> {
    let bytes = line.as_bytes();
    let is_end =
        |at: &usize| bytes[*at] != b' ' && bytes.get(at + 1).is_none_or(|next| *next == b' ');
    (0..bytes.len()).filter(is_end).collect()
}

fn tallies(reads: &[(u64, u64)], writes: &[(u64, u64)]) -> [IoTally; 2] {
    [reads, writes].map(|times| {
        let mut service_ns = Histogram::new(3).unwrap();
        for (ns, count) in times {
            service_ns.record_n(*ns, *count).unwrap();
        }
        let count = service_ns.len();
        IoTally {
            count,
            bytes: count * 4096,
            service_ns,
            from_intended_ns: Histogram::new(2).unwrap(),
            service_square_sum: 0.0,
            service_sum_ns: times.iter().map(|(ns, count)| ns * count).sum(),
        }
    })
}

#[test]
fn tables_match_vdbench() {
    let golden: Vec<&str> = TABLE.lines().collect();
    let heading = output::heading("Nov 21, 2026");
    assert_eq!(heading.lines().collect::<Vec<_>>(), golden[..2]);
    let line =
        output::table_line("17:20:04.015", "1", &StorageTotals::from_interval(&interval(3, 1)));
    assert_eq!(word_ends(&line), word_ends(golden[2]), "\n{line}\n{}", golden[2]);

    let golden: Vec<&str> = TABLE_OF_FILES.lines().collect();
    let mut shown = files::table_operations(&FilePlan::default());
    shown.push(FileOperation::Getattr);
    let heading = files::heading("Nov 21, 2026", &shown);
    assert_eq!(heading.lines().collect::<Vec<_>>(), golden[..2]);
    let line = files::table_line("17:22:29.014", "1", &files::FileTotals::default(), &shown);
    assert_eq!(word_ends(&line), word_ends(golden[2]), "\n{line}\n{}", golden[2]);
}

/// Removes the rate from the line of a run: Vdbench's `-s` takes 10,000 as the maximum rate of a
/// curve, and prints the first of several rates for all of them.
fn without_rate(line: &str) -> String {
    let parts = line.split("; ").filter(|part| !part.starts_with("I/O rate: "));
    let parts = parts.map(|part| match part.split_once("For loops: ") {
        Some((_, loops)) => loops,
        None if part.starts_with("fwdrate=") => "",
        None => part,
    });
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

#[test]
fn expands_to_the_same_runs_as_vdbench() {
    for (text, expected) in EXPANSIONS {
        let execution = compile_valid(text);
        let is_raw = execution.files.phases.is_empty();
        let line = |run| {
            if is_raw { output::simulating_line(run) } else { files::simulating_line(run) }
        };
        let ours: Vec<String> =
            execution.runs.iter().map(line).map(|line| without_rate(&line)).collect();
        let theirs: Vec<String> = expected.lines().map(without_rate).collect();
        assert_eq!(ours, theirs);
    }
}

#[test]
fn flat_files_match_vdbench() {
    for (ours, golden) in
        [(flat_file::heading(), FLAT_FILE), (files::flat_heading(), FLAT_FILE_OF_FILES)]
    {
        assert_eq!(ours.lines().last(), golden.lines().next());
    }
    let mut run = runs("rd=rd1,wd=wd1,iorate=300,elapsed=4,interval=1").remove(0);
    run.name = "run1".into();
    let moment = output::RowTime { tod: "17:20:04.017", timestamp: "11/21/2026-17:20:04-UTC" };
    let row = flat_file::row(
        moment,
        &run,
        "1",
        Some(300.0),
        &StorageTotals::from_interval(&interval(3, 1)),
    );
    let golden = FLAT_FILE.lines().nth(3).unwrap();
    assert_eq!(word_ends(&row), word_ends(golden), "\n{row}\n{golden}");
}

#[test]
fn histogram_of_same_counts_equals_vdbench() {
    // A time within each range of the page, in nanoseconds, with the count of the page.
    let section = |title: &str| -> Vec<(u64, u64)> {
        let lines = HISTOGRAM.lines().skip_while(|line| *line != title).skip(3);
        let rows = lines.take_while(|line| !line.is_empty());
        let number = |text: &str| text.replace(',', "").parse::<f64>().unwrap();
        rows.map(|row| {
            let words: Vec<&str> = row.split_whitespace().collect();
            ((number(words[0]) * 1e6 + 5_000.0) as u64, number(words[3]) as u64)
        })
        .collect()
    };
    let mut interval = interval(0, 0);
    [interval.reads, interval.writes] = tallies(&section("Reads:"), &section("Writes:"));
    assert_eq!(
        histogram::format_sections(&StorageTotals::from_interval(&interval)).trim_end(),
        HISTOGRAM.trim_end()
    );
}

#[test]
fn skew_report_matches_vdbench() {
    let VdbenchExecution { plan, runs, .. } = compile_valid(
        "sd=sd1,lun=/a,size=16m\nsd=sd2,lun=/b,size=16m\n\
         wd=wd1,sd=sd1,skew=30\nwd=wd2,sd=sd2,skew=70\n\
         rd=run1,wd=wd*,iorate=300,elapsed=5,interval=1",
    );
    let tally = |index: usize, count: u64| {
        let [tally, _] = tallies(&[(5_000, count)], &[]);
        StreamTally { stream: index, target: index, operation: IoOperation::Read, tally }
    };
    let outcome = StorageOutcome {
        open_s: 0.0,
        close_s: 0.0,
        streams: vec![],
        elapsed_s: 5.0,
        tallies: vec![tally(0, 458), tally(1, 1021)],
        intervals: Vec::new(),
        cpu_user_s: 0.0,
        cpu_system_s: 0.0,
        engine: String::new(),
        engine_reason: assay_model::engine_reason::EngineReason::AskedFor,
        errors: Vec::new(),
        error_count: 0,
        not_started: 0,
        ended: EndReason::Time,
    };
    let whole = StorageTotals::from_interval(&interval(3, 1));
    let workload = &plan.phases[0].workload;
    let parts = (
        &skew::storage_totals(workload, &outcome, &whole)[..],
        &skew::workload_totals(workload, &outcome, &whole)[..],
    );
    let report = skew::report("17:20:09.084", &runs[0], parts);
    let find = |text: &str, word: &str| {
        let line = text.lines().find(|line| line.contains(word)).unwrap_or_default();
        line.to_owned()
    };
    for title in ["SD: ", "WD: "] {
        assert_eq!(find(&report, title), find(SKEW, title));
    }
    for name in ["sd1", "sd2"] {
        assert_eq!(word_ends(&find(&report, name)), word_ends(&find(SKEW, name)), "{report}");
    }
    for (name, shares) in
        [("wd1", "30.00%   30.97%  -0.97%"), ("wd2", "70.00%   69.03%   0.97%")]
    {
        assert!(find(&report, name).ends_with(shares), "{report}");
        assert!(find(SKEW, name).ends_with(shares));
    }
}
