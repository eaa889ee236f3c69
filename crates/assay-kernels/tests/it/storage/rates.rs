//! Tests that a load never exceeds its rate, on a busy machine as well, and counts I/O that is
//! late. Whether it reaches its rate is tested in `truth`.

use assay_model::workload::storage::ArrivalProcess;

use super::*;

#[test]
fn rate_is_never_exceeded() {
    let folder = Folder::new();
    let file = target(&folder.file("f"), MIB);
    lay_out(&file, Verify::Off);
    for (engine, arrivals) in [
        (EngineChoice::IoUring, ArrivalProcess::Constant),
        (EngineChoice::Threads, ArrivalProcess::Constant),
        (EngineChoice::Null, ArrivalProcess::Constant),
    ] {
        let mut reads = stream(AccessPattern::Random, 4096, 1.0);
        reads.threads = 2;
        let mut phase = workload(vec![file.clone()], reads, Some(1.0));
        phase.load = StorageLoad::Open { rate_per_s: 2000.0, arrivals };
        phase.engine = engine;
        let outcome = match run(&phase) {
            Err(StorageError::Engine { .. }) => continue,
            other => other.unwrap(),
        };
        // A busy machine leaves some arrivals unfinished.
        let found = count(&outcome);
        assert!((1..=2001).contains(&found), "{engine:?}: {found}");
        // All arrivals count, completed or not.
        let tally = &outcome.tallies[0].tally;
        assert_eq!(tally.from_intended_ns.len(), 2000, "{engine:?}");
        assert!(outcome.not_started <= 2000 - found, "{engine:?}: {}", outcome.not_started);
        let in_series: u64 =
            outcome.intervals.iter().map(|it| it.reads.from_intended_ns.len()).sum();
        assert_eq!(in_series, 2000, "{engine:?}");
    }
}

#[test]
fn cap_is_never_exceeded() {
    let mut phase = workload(
        vec![target(Path::new("none"), 64 * MIB)],
        stream(AccessPattern::Random, 4096, 1.0),
        Some(1.0),
    );
    phase.engine = EngineChoice::Null;
    phase.load = StorageLoad::Capped { bytes_per_s: 8.0 * MIB as f64 };
    let outcome = run(&phase).unwrap();
    let found = count(&outcome);
    assert!((1..=2057).contains(&found), "{found}");
}
