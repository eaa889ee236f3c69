//! The tables of OSU's programs, line by line.

use super::*;

fn table(test: MpiTest, shape: Shape) -> Table {
    Table {
        test,
        shape,
        full: false,
        percentiles: Vec::new(),
        validation: false,
        ranks: 2,
        window: 64,
        element: "MPI_INT",
    }
}

fn row(bytes: u64, values: &[(&str, f64)]) -> Row {
    Row {
        bytes,
        values: values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        iterations: 1000,
        interval: None,
        batches: 1,
        percentiles: Vec::new(),
        is_right: None,
    }
}

fn check(table: &Table, row: &Row, expected: &str) {
    assert_eq!(table.head() + &table.row(row), expected);
}

/// Columns as in outputs of OSU 5.6 and 7.5 that their users have published.
#[test]
fn tables_are_osus_column_by_column() {
    check(
        &table(MpiTest::Latency, Shape::Osu5),
        &row(0, &[("latency", 0.2e-6)]),
        "# OSU MPI Latency Test v5.4.3
# Size          Latency (us)
0                       0.20
",
    );
    check(
        &table(MpiTest::Bandwidth, Shape::Osu7),
        &row(64, &[("bandwidth", 88.62e6)]),
        "
# OSU MPI Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
64                     88.62
",
    );
    check(
        &table(MpiTest::MessageRate, Shape::Osu5),
        &row(1, &[("bandwidth", 6.39e6), ("message_rate", 6_385_003.8)]),
        "# OSU MPI Multiple Bandwidth / Message Rate Test v5.4.3
# [ pairs: 1 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                       6.39        6385003.80
",
    );
    check(
        &table(MpiTest::Barrier, Shape::Osu5),
        &row(0, &[("latency", 1.57e-6)]),
        "# OSU MPI Barrier Latency Test v5.4.3
# Avg Latency(us)
             1.57
",
    );
    check(
        &table(MpiTest::Allreduce, Shape::Osu7),
        &row(4, &[("latency", 11.69e-6)]),
        "
# OSU MPI Allreduce Latency Test v7.5
# Datatype: MPI_INT.
# Size       Avg Latency(us)
4                      11.69
",
    );
    check(
        &table(MpiTest::Iallreduce, Shape::Osu5),
        &row(
            4,
            &[
                ("latency", 8.77e-6),
                ("compute", 5.32e-6),
                ("communication", 4.43e-6),
                ("overlap", 0.2208),
            ],
        ),
        "# OSU MPI Non-blocking Allreduce Latency Test v5.4.3
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
4                       8.77              5.32              4.43             22.08
",
    );
}

#[test]
fn options_add_columns() {
    let table = Table {
        full: true,
        percentiles: vec![50.0, 99.9],
        validation: true,
        ..table(MpiTest::Broadcast, Shape::Assay)
    };
    let row = Row {
        interval: Some((1.4e-6, 1.61e-6)),
        batches: 40,
        percentiles: vec![Some(1.5e-6), None],
        is_right: Some(false),
        ..row(8, &[("latency", 1.5e-6), ("latency_min", 1e-6), ("latency_max", 2e-6)])
    };
    check(
        &table,
        &row,
        "# mpi.bcast: broadcast from one rank to all
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations    95% from      95% to  Batches    P50 Tail Lat(us)  P99.9 Tail Lat(us)        Validation
8                       1.50              1.00              2.00        1000        1.40        1.61       40                1.50                   -              Fail
",
    );
}

#[test]
fn every_column_is_a_metric_of_its_benchmark() {
    for test in MpiTest::ALL {
        let table = Table { full: true, ..table(test, Shape::Osu7) };
        for column in table.columns() {
            assert!(Benchmark::Mpi(test).metric(column.metric).is_some(), "{}", column.metric);
        }
    }
}
