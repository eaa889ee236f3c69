//! Hardware counters of a guest with two CPUs: with and without cycles in the kernel.

use assay_model::kernel_counters::{CountedSeries, CountedWork, Counter, CounterRecord};
use assay_report::build;
use assay_report::render::text::{self, TextOptions};

use crate::guest;

fn record(case: &str, work: CountedWork, totals: &[(Counter, f64)]) -> CounterRecord {
    let counted = |(counter, total): &(Counter, f64)| CountedSeries {
        counter: *counter,
        of: String::new(),
        total: *total,
        points: vec![],
    };
    CounterRecord {
        case: case.to_owned(),
        seconds: 10.0,
        work: Some(work),
        counted: totals.iter().map(counted).collect(),
        ..CounterRecord::default()
    }
}

/// Returns the lines of a report that contain one of these texts.
fn lines(counters: Vec<CounterRecord>, wanted: &[&str]) -> Vec<String> {
    let mut summary = guest::quick();
    summary.counters = counters;
    let options = TextOptions { width: 200, details: true, ..TextOptions::default() };
    let text = text::document(&build::run(&summary, None), &options).replace('\u{a0}', " ");
    let lines = text.lines().filter(|line| wanted.iter().any(|it| line.contains(it)));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

const CYCLES: [(Counter, f64); 4] = [
    (Counter::ThreadTime, 20.0),
    (Counter::UserCycles, 61e9),
    (Counter::KernelCycles, 1e9),
    (Counter::UserInstructions, 122e9),
];

#[test]
fn rates_are_divided_by_the_observed_clock() {
    let linpack =
        |cycles: &[(Counter, f64)]| record("compute.linpack", CountedWork::default(), cycles);
    // 214.6 GFLOP/s over 2 cores and 3.1 GHz.
    let words = "34.6 of 32 FLOP per observed cycle and core, at 3.10 GHz observed";
    let found = lines(vec![linpack(&CYCLES)], &["FLOP per"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with(words), "{found:?}");
    let user =
        "at most 35.2 of 32 FLOP per observed cycle and core, at 3.05 GHz or more observed";
    let found = lines(vec![linpack(&CYCLES[..2])], &["FLOP per"]);
    assert!(found[0].contains(user), "{found:?}");
    assert_eq!(lines(vec![linpack(&CYCLES[1..])], &["FLOP per"]), [""; 0]);
    assert_eq!(lines(vec![], &["FLOP per", "Hardware counters"]), [""; 0]);
}

#[test]
fn energy_and_traffic_have_columns() {
    let memory = [
        (Counter::MemoryReadBytes, 90e9),
        (Counter::MemoryWrittenBytes, 40e9),
        (Counter::PackageEnergy, 210.0),
    ];
    let stream = CountedWork { bytes: 100e9, flop: 0.0 };
    let solve = CountedWork { bytes: 0.0, flop: 840e9 };
    let found = lines(
        vec![
            record("memory.stream", stream, &memory),
            record("compute.linpack", solve, &[&CYCLES[..], &memory[2..]].concat()),
        ],
        &["memory.stream ", "compute.linpack ", "write-allocate"],
    );
    assert_eq!(found[0], "memory.stream 121 GiB 130 % 210 J 2.10 J/GB");
    assert_eq!(found[1], "compute.linpack 3.10 GHz 2.00 210 J 4.00 GFLOP/J");
    assert!(found[2].contains("STREAM counts no write-allocate"), "{found:?}");
}
