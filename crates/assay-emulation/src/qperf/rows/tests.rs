//! Tests of units and alignment against the rules of qperf 0.4.11.

use super::*;

fn rows_with<'a>(parameters: &'a QperfParameters, units: QperfUnits) -> QperfRows<'a> {
    QperfRows { parameters, units, rows: vec![] }
}

#[test]
fn figures_have_the_units_of_qperf() {
    let parameters = QperfParameters { verbosity: [2; 3], ..QperfParameters::default() };
    let mut rows = rows_with(&parameters, QperfUnits::default());
    rows.add_time(Shown::Always, "latency", 29.31e-6);
    rows.add_time(Shown::Always, "seconds", 1.5);
    rows.add_bandwidth("bw", 960.4e6);
    rows.add_rate("msg_rate", 14_648.0);
    rows.add_cost("send_cost", 0.861);
    rows.add_cpus(TIMES, "cpus", 1.2345);
    rows.add_count(MORE_STATISTICS, "errors", 12_345);
    rows.add_count(MORE_STATISTICS, "messages", 12_345_678);
    rows.add_count(MORE_STATISTICS, "hidden", 0);
    rows.add_size(USED, "kib", 65_536);
    rows.add_size(USED, "kb", 100_000);
    rows.add_size(USED, "bytes", 1);
    let expected = "    latency    =    29.3 us
    seconds    =     1.5 sec
    bw         =     960 MB/sec
    msg_rate   =    14.6 K/sec
    send_cost  =     861 ms/GB
    cpus       =     123 % cpus
    errors     =  12,345 \n    messages   =    12.3 million
    kib        =      64 KiB (65,536)
    kb         =     100 KB
    bytes      =       1 bytes
";
    assert_eq!(rows.render(), expected);
}

#[test]
fn unified_units_and_bits_and_digits() {
    let parameters = QperfParameters { precision: 5, ..QperfParameters::default() };
    let units = QperfUnits { bits: true, unify_units: true, unify_nodes: false };
    let mut rows = rows_with(&parameters, units);
    rows.add_bandwidth("bw", 1_000_000.25);
    rows.add_time(Shown::Always, "latency", 29.312_345e-6);
    assert_eq!(rows.render(), "    bw       =  8000002 bits/sec\n    latency  =    29312 ns\n");
    let mut rows = rows_with(&parameters, QperfUnits { bits: true, ..QperfUnits::default() });
    rows.add_bandwidth("bw", 1_000_000.25);
    assert_eq!(rows.render(), "    bw  =  8 Mb/sec\n");
}
