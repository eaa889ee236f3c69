//! Tests that runs of earlier versions are still read completely.

use std::path::Path;

use assay_model::event::RunStatus;
use assay_store::Store;

/// Runs with their numbers of finished cases and of series.
const RUNS: [(&str, usize, usize); 3] = [
    ("20261122-065443-fba4", 1, 17),
    ("20261122-065445-9815", 1, 15),
    ("20261122-065447-7eac", 2, 6),
];

#[test]
fn format_2_opens() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay/tests/fixtures");
    let store = Store::open_existing(fixtures.join("format-2/store")).unwrap();
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
