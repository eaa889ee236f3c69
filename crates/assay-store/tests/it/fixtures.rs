//! Tests that runs of earlier versions are still read completely.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use assay_model::event::RunStatus;
use assay_store::Store;
use expect_test::expect_file;

/// Runs with their numbers of finished cases and of series.
const RUNS: [(&str, usize, usize); 3] = [
    ("20261122-065443-fba4", 1, 17),
    ("20261122-065445-9815", 1, 15),
    ("20261122-065447-7eac", 2, 6),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay/tests/fixtures")
}

#[test]
fn format_2_opens() {
    let store = Store::open_existing(fixtures().join("format-2/store")).unwrap();
    for (name, cases, series) in RUNS {
        let read = store.read(name).unwrap();
        assert_eq!(read.problems, [], "{name}");
        assert_eq!(read.run.status, RunStatus::Complete, "{name}");
        assert_eq!(read.run.finished_cases().count(), cases, "{name}");
        let found = read.run.cases.iter().map(|record| record.series.len()).sum::<usize>();
        assert_eq!(found, series, "{name}");
        for hash in read.run.cases.iter().flat_map(|record| record.raw.values()) {
            assert!(!store.read_raw(hash).unwrap().is_empty(), "{name}");
        }
    }
}

/// Describes all runs of a store: state, cases, and every series with the number of its samples, their sum and its
/// single operations.
fn describe_store(store: &Store) -> String {
    let mut text = String::new();
    let mut names: Vec<String> = std::fs::read_dir(store.folder().join("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in names {
        let read = store.read(&name).unwrap();
        assert_eq!(read.problems, [], "{name}");
        writeln!(text, "{name} {:?}, {} hosts", read.run.status, read.run.hosts.len()).unwrap();
        for record in &read.run.cases {
            let doubts = record.doubts.len();
            writeln!(text, "  {} {} doubts", record.case.id, doubts).unwrap();
            for series in &record.series {
                let sum: f64 = series.samples.iter().map(|sample| sample.value).sum();
                let operations: u64 = series.distributions.iter().map(|it| it.seen.count).sum();
                let (metric, count) = (&series.metric, series.samples.len());
                writeln!(text, "    {metric} {count} {sum:e} {operations}").unwrap();
            }
            for (name, hash) in &record.raw {
                writeln!(text, "    {name} {} B", store.read_raw(hash).unwrap().len()).unwrap();
            }
        }
    }
    text
}

/// The description was written when the release was made and is never changed.
#[test]
fn store_of_release_0_2_0_is_read_completely() {
    let store = Store::open_existing(fixtures().join("release-0.2.0/store")).unwrap();
    expect_file!["../../../assay/tests/fixtures/release-0.2.0/runs.txt"]
        .assert_eq(&describe_store(&store));
}
