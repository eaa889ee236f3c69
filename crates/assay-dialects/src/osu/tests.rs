//! Tests of OSU tables, line by line.

use super::*;

fn table(test: MpiTest, shape: OsuLayout) -> OsuTable {
    OsuTable {
        test,
        layout: shape,
        full: false,
        percentiles: Vec::new(),
        validation: false,
        ranks: 2,
        window: 64,
        element: "MPI_INT".to_owned(),
        window_creation: WindowCreation::Allocate,
        synchronization: RmaSynchronization::Flush,
        workers: None,
        topology: None,
    }
}

fn row(bytes: u64, values: &[(&str, f64)]) -> OsuRow {
    OsuRow {
        bytes,
        values: values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        iterations: 1000,
        interval: None,
        batches: 1,
        percentiles: Vec::new(),
        is_valid: None,
    }
}

fn check(table: &OsuTable, row: &OsuRow, expected: &str) {
    assert_eq!(table.render_head() + &table.render_row(row), expected);
}

/// Compares our table with the stored output of `osu_…`, from the table on.
fn check_real(name: &str, table: &OsuTable) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../assay-adapters/tests/golden/osu");
    let printed = std::fs::read_to_string(path.join(format!("{name}.out"))).unwrap();
    let title = printed.find("# OSU").unwrap();
    // The output of the launcher's library ends with its own line.
    let from =
        if printed[..title].ends_with("=\n\n") || title == 1 { title - 1 } else { title };
    let mut ours = table.render_head();
    for line in printed.lines().filter(|line| line.contains('.') && !line.contains('#')) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields[0].parse::<f64>().is_ok() {
            ours += &table.render_row(&real_row(table, &fields));
        }
    }
    // Like 5.4.3, we leave the heading of a non-blocking barrier uncommented.
    assert_eq!(ours, printed[from..], "{name}");
}

/// Parses the figures of one line into base units.
fn real_row(table: &OsuTable, fields: &[&str]) -> OsuRow {
    let mut fields = fields.iter();
    let mut number = || fields.next().unwrap().parse::<f64>().unwrap();
    let bytes = if table.test.has_sizes() { number() as u64 } else { 0 };
    let values = table.columns().iter().map(|column| {
        let value = number();
        (column.metric, value / column.factor)
    });
    let values: Vec<_> = values.collect();
    let iterations = if table.full && !table.is_overlap() { number() as u64 } else { 0 };
    let is_right = table.validation.then(|| fields.next() == Some(&"Pass"));
    let factor = if table.is_windowed() { 1e-6 } else { MICRO };
    let percentiles =
        fields.map(|field| Some(field.parse::<f64>().unwrap() / factor)).collect();
    OsuRow { iterations, is_valid: is_right, percentiles, ..row(bytes, &values) }
}

#[test]
fn tables_match_osu_output() {
    use MpiTest::{Allreduce, Bandwidth, Barrier, Iallgather, Ibarrier, Latency, MessageRate};
    use OsuLayout::{Osu5, Osu7};
    for (name, test, shape) in [
        ("5.4.3-latency", Latency, Osu5),
        ("5.4.3-bw", Bandwidth, Osu5),
        ("5.4.3-mbw_mr", MessageRate, Osu5),
        ("5.4.3-ibarrier-short", Ibarrier, Osu5),
        ("5.4.3-iallgather-short", Iallgather, Osu5),
        ("7.5-latency", Latency, Osu7),
        ("7.5-mbw_mr", MessageRate, Osu7),
        ("7.5-barrier-short", Barrier, Osu7),
        ("7.5-ibarrier-short", Ibarrier, Osu7),
        ("7.5-iallgather-short", Iallgather, Osu7),
    ] {
        check_real(name, &table(test, shape));
    }
    let full = |test, shape| OsuTable { full: true, ..table(test, shape) };
    check_real("5.4.3-barrier", &full(Barrier, Osu5));
    check_real("5.4.3-allreduce", &full(Allreduce, Osu5));
    check_real("7.5-barrier", &full(Barrier, Osu7));
    check_real("5.4.3-ibarrier", &full(Ibarrier, Osu5));
    check_real("5.4.3-iallgather", &full(Iallgather, Osu5));
    check_real("7.5-ibarrier", &full(Ibarrier, Osu7));
    check_real("7.5-iallgather", &full(Iallgather, Osu7));
    let checked = |table| OsuTable { validation: true, ..table };
    check_real("7.5-bw-checked", &checked(table(Bandwidth, Osu7)));
    let tails =
        |percentiles: &[f64], table| OsuTable { percentiles: percentiles.to_vec(), ..table };
    check_real("7.5-latency-tails", &checked(tails(&[50.0, 99.0], table(Latency, Osu7))));
    let all = tails(&[50.0, 90.0, 99.0], full(Allreduce, Osu7));
    check_real("7.5-allreduce-tails", &checked(all));
    check_real("7.5-bw-tails", &tails(&[50.0, 99.0], table(Bandwidth, Osu7)));
    let overlap = tails(&[5.0, 99.0], full(Iallgather, Osu7));
    check_real("7.5-iallgather-tails", &checked(overlap));
}

/// Parses the tables of a file of several OSU programs and renders them again.
fn render_again(text: &str, layout: OsuLayout) -> String {
    let (mut ours, mut current) = (String::new(), None);
    let (mut lengths, mut topology) = (Vec::new(), None);
    let mut workers: Vec<u32> = Vec::new();
    for line in text.lines() {
        if let Some(dimensions) = line.strip_prefix("Dimensions size = ") {
            lengths = dimensions.split_whitespace().map(|it| it.parse().unwrap()).collect();
        } else if let Some(time) = line.strip_prefix("Time took to create topology graph:") {
            let time_us: f64 = time.strip_suffix(" us.").unwrap().parse().unwrap();
            let lengths = std::mem::take(&mut lengths);
            topology = Some(MpiTopology { lengths, creation_s: time_us / MICRO });
        }
        if let Some((_, count)) =
            line.split_once(": ").filter(|(name, _)| name.starts_with("# Number of "))
        {
            workers.push(count.trim().parse().unwrap());
        }
        let title = line.strip_prefix("# ").and_then(|it| it.rsplit_once(" v"));
        let known = title.and_then(|(title, _)| {
            MpiTest::ALL.into_iter().find(|test| {
                test.osu_title() == title && test.kind().is_neighborhood() == topology.is_some()
            })
        });
        if let Some(test) = known {
            let workers = match std::mem::take(&mut workers)[..] {
                [first, second] => Some((first, second)),
                _ => None,
            };
            current =
                Some(OsuTable { topology: topology.take(), workers, ..table(test, layout) });
        }
        let Some(table) = &mut current else { continue };
        let words: Vec<&str> = line.split_whitespace().collect();
        let named = [WindowCreation::Allocate, WindowCreation::Create, WindowCreation::Dynamic];
        if let Some(name) = line.strip_prefix("# Window creation: ") {
            table.window_creation = named.into_iter().find(|it| it.osu_name() == name).unwrap();
        } else if let Some(name) = line.strip_prefix("# Synchronization: ") {
            table.synchronization =
                [RmaSynchronization::Flush, RmaSynchronization::Lock, RmaSynchronization::Pscw]
                    .into_iter()
                    .find(|it| it.osu_name() == name)
                    .unwrap();
        } else if let Some(name) = line.strip_prefix("# Datatype: ") {
            name.trim_end_matches('.').clone_into(&mut table.element);
        } else if line.contains("(us)") || line.contains("(MB/s)") {
            table.full = line.contains("Min ") || line.contains("Coll. Init(us)");
            table.validation = line.contains("Validation");
            ours += &table.render_head();
        } else if words.first().is_some_and(|word| word.parse::<f64>().is_ok()) {
            ours += &table.render_row(&real_row(table, &words));
        }
    }
    ours
}

/// Output of the programs of 7.4 has the layout of 7.5.
#[test]
fn tables_of_all_benchmarks_match_osu_output() {
    for (file, layout) in [
        ("7.4-tables", OsuLayout::Osu7),
        ("7.4-full-tables", OsuLayout::Osu7),
        ("7.4-neighborhood-tables", OsuLayout::Osu7),
        ("7.4-threads-tables", OsuLayout::Osu7),
        ("5.4.3-tables", OsuLayout::Osu5),
        ("5.4.3-full-tables", OsuLayout::Osu5),
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../assay-adapters/tests/import/osu")
            .join(format!("{file}.txt"));
        let printed = std::fs::read_to_string(path).unwrap().replace(" v7.4\n", " v7.5\n");
        assert_eq!(render_again(&printed, layout), printed, "{file}");
    }
}

#[test]
fn start_of_library_is_one_line() {
    let times = [("latency", 0.1239), ("latency_min", 0.1231), ("latency_max", 0.1249)];
    check(
        &table(MpiTest::Init, OsuLayout::Osu7),
        &row(0, &times),
        "# OSU MPI Init Test v7.5\nnprocs: 2, min: 123 ms, max: 124 ms, avg: 123 ms\n",
    );
}

/// Each sending thread of OSU's program prints the heads.
#[test]
fn several_sending_threads_repeat_the_heads() {
    let threads =
        OsuTable { workers: Some((2, 3)), ..table(MpiTest::ThreadsLatency, OsuLayout::Osu7) };
    check(
        &threads,
        &row(1, &[("latency", 0.39e-6)]),
        "# Number of Sender threads: 2 \n# Number of Receiver threads: 3

# OSU MPI Multi-threaded Latency Test v7.5
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       0.39
",
    );
}

#[test]
fn verdicts_about_sums_have_osu_words() {
    let sums =
        OsuTable { validation: true, ..table(MpiTest::FetchAndOpLatency, OsuLayout::Osu7) };
    let row = OsuRow { is_valid: Some(true), ..row(4, &[("latency", 0.74e-6)]) };
    check(
        &sums,
        &row,
        "# OSU MPI_Fetch_and_op latency Test v7.5
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
# Datatype: MPI_INT.
# Size          Latency (us)        Validation
4                       0.74            passed
",
    );
}

#[test]
fn options_add_columns() {
    let table = OsuTable {
        full: true,
        percentiles: vec![50.0, 99.9],
        validation: true,
        ..table(MpiTest::Broadcast, OsuLayout::Assay)
    };
    let row = OsuRow {
        interval: Some((1.4e-6, 1.61e-6)),
        batches: 40,
        percentiles: vec![Some(1.5e-6), None],
        is_valid: Some(false),
        ..row(8, &[("latency", 1.5e-6), ("latency_min", 1e-6), ("latency_max", 2e-6)])
    };
    check(
        &table,
        &row,
        "# mpi.bcast: broadcast from one rank to all
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations    95% from      95% to  Batches        Validation  P50 Tail Lat(us)  P99.9 Tail Lat(us)
8                       1.50              1.00              2.00        1000        1.40        1.61       40              Fail              1.50                   -
",
    );
}

#[test]
fn every_column_is_a_metric_of_its_benchmark() {
    for test in MpiTest::ALL {
        let table = OsuTable { full: true, ..table(test, OsuLayout::Osu7) };
        for column in table.columns() {
            assert!(Benchmark::Mpi(test).metric(column.metric).is_some(), "{}", column.metric);
        }
    }
}
