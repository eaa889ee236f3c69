//! Adapter of perftest's programs (`ib_send_lat`, `ib_write_bw` …): a client on this host, its
//! server on the far end, one message size per process.
//!
//! The median (`t_typical`) and the average rate are used. `t_stdev` is not: since May 2022
//! (6234a09) it drops fractions of µs before it squares them. Its `t_max` is not the maximum.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::RdmaTest;
use assay_model::event::ToolFigures;
use assay_model::workload::{RdmaConnection, RdmaWorkload, Workload};

use super::{ToolAdapter, ToolDetection, VersionSource, unsupported};
use crate::invocation::{Invocation, ToolRequest};
use crate::outputs::{Outputs, ParsedOutput, ToolError};
use crate::perftest_text::{
    PerftestColumn, PerftestRow, bandwidth, order_violations, parse_rows, path_attributes,
    printed_figures,
};

const NAME: &str = "perftest";

/// Returns the adapter of one of its programs.
pub(super) const fn adapter(
    name: &'static str,
    programs: &'static [&'static str],
    about: &'static str,
    takes: fn(&Workload) -> bool,
) -> ToolAdapter {
    let detect = ToolDetection {
        programs,
        path_variable: "ASSAY_PERFTEST",
        version: VersionSource::FromOption { arguments: &["--version"], read: parse_version },
        hint: "Debian and Ubuntu: apt install perftest",
        ..ToolDetection::DEFAULT
    };
    ToolAdapter { name, about, detect, supports: takes, command, parse }
}

/// Parses the version: `Version: 6.06` → `6.06`.
fn parse_version(printed: &str) -> Option<String> {
    let (_, rest) = printed.split_once("Version")?;
    rest.trim_start_matches([':', ' ']).split_whitespace().next().map(str::to_owned)
}

/// Whether a workload is this test, over a connection that perftest supports.
pub(super) fn supports(workload: &Workload, test: RdmaTest) -> bool {
    let is_of_sends = matches!(test, RdmaTest::SendLatency | RdmaTest::SendBandwidth);
    workload.as_rdma().is_some_and(|work| {
        work.test == test && (is_of_sends || work.connection == RdmaConnection::Rc)
    })
}

/// Builds the arguments of both ends for messages of one size; the client's are followed by the
/// host.
pub fn arguments(work: &RdmaWorkload, bytes: u64) -> Vec<String> {
    let mut words = vec!["-F".to_owned()];
    let mut say = |option: &str, value: String| words.extend([option.to_owned(), value]);
    say("-c", work.connection.name().to_uppercase());
    say("-n", work.iterations.to_string());
    if !work.test.is_atomic() {
        say("-s", bytes.to_string());
    }
    if work.test.is_bandwidth() {
        say("-t", work.depth.to_string());
        say("-q", work.queue_pairs.to_string());
    }
    let sends = !matches!(
        work.test,
        RdmaTest::ReadLatency
            | RdmaTest::ReadBandwidth
            | RdmaTest::AtomicLatency
            | RdmaTest::AtomicBandwidth
    );
    if let Some(bytes) = work.device.inline_bytes.filter(|_| sends) {
        say("-I", bytes.to_string());
    }
    let device = &work.device;
    let numbers = [
        ("-i", device.device_port.map(u64::from)),
        ("-x", device.gid_index.map(u64::from)),
        ("-m", device.mtu_bytes.map(u64::from)),
        ("-p", work.port.map(u64::from)),
        ("-Q", work.moderation),
        ("-r", device.tuning.receives.map(u64::from)),
        ("-S", device.tuning.service_level.map(u64::from)),
        ("-u", device.tuning.timeout.map(u64::from)),
        ("-o", device.tuning.reads.map(u64::from)),
        ("--tclass", device.tuning.traffic_class.map(u64::from)),
    ];
    for (option, number) in numbers {
        if let Some(number) = number {
            say(option, number.to_string());
        }
    }
    if let Some(name) = &device.name {
        say("-d", name.clone());
    }
    if work.both {
        words.push("-b".to_owned());
    }
    if work.warms_up {
        words.push("--perform_warm_up".to_owned());
    }
    words
}

fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let work = request.workload.as_rdma().ok_or_else(|| unsupported(NAME, request.workload))?;
    let one = |bytes: &u64| {
        let mut words = arguments(work, *bytes);
        words.push(work.to.clone().unwrap_or_else(|| "127.0.0.1".to_owned()));
        let workload =
            Workload::Rdma(RdmaWorkload { sizes: vec![*bytes], ..RdmaWorkload::clone(work) });
        let label = format!("ib_{}.{bytes}", work.test.name());
        Invocation { workload, arguments: words, ..Invocation::new(request, &label) }
    };
    Ok(work.sizes.iter().map(one).collect())
}

fn parse(invocation: &Invocation, outputs: &Outputs) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    let work = workload.as_rdma().ok_or_else(|| unsupported(NAME, workload))?;
    outputs.check_exit()?;
    let table = parse_rows(&outputs.stdout)?;
    let mut parsed = ParsedOutput::default();
    for row in &table {
        let bytes = row.get(&PerftestColumn::Bytes).copied().unwrap_or_default() as u64;
        if !work.sizes.contains(&bytes) {
            let what = format!("messages of {bytes} B, which were not requested");
            return Err(ToolError::Contradiction { what });
        }
        let apart = Attributes::from([(Attribute::Bytes, bytes.into())]);
        match work.test.is_bandwidth() {
            true => add_rates(row, &apart, &mut parsed)?,
            false => add_latency(row, work.test, &apart, &mut parsed)?,
        }
    }
    parsed.set_attribute(Attribute::Iterations, work.iterations);
    // Both perftest and assay record the path, so that a comparison shows whether they used the
    // same one.
    path_attributes(&outputs.stdout)
        .into_iter()
        .for_each(|(name, value)| parsed.set_attribute(name, value));
    // Facts belong to a metric, which requires a table of one size; perftest is started once per
    // size.
    if let ([row], false) = (&table[..], work.test.is_bandwidth()) {
        let printed =
            printed_figures(row).filter(|(name, _)| *name != Attribute::PerftestDeviation);
        for (name, figure) in printed {
            parsed.set_metric_attribute(work.test.latency_metric(), name, figure);
        }
    }
    Ok(parsed)
}

fn positive_figure(row: &PerftestRow, column: PerftestColumn) -> Result<f64, ToolError> {
    let find = || ToolError::Missing {
        what: format!("column of {column:?}"),
        place: "the table of perftest",
    };
    let value = row.get(&column).copied().ok_or_else(find)?;
    if value > 0.0 {
        return Ok(value);
    }
    // Below its last digit perftest prints 0, which is not a measurement.
    Err(ToolError::InvalidNumber { what: format!("{column:?}"), text: value.to_string() })
}

fn add_latency(
    row: &PerftestRow,
    test: RdmaTest,
    apart: &Attributes,
    parsed: &mut ParsedOutput,
) -> Result<(), ToolError> {
    let metric = test.latency_metric();
    let typical = positive_figure(row, PerftestColumn::Typical)?;
    parsed.add_series(metric, apart.clone(), vec![typical]);
    let percentile = |name: &str, column| Some((name.to_owned(), row.get(&column).copied()?));
    let percentiles = [
        percentile("p50", PerftestColumn::Typical),
        percentile("p99", PerftestColumn::P99),
        percentile("p99.9", PerftestColumn::P999),
    ];
    // Its maximum excludes the two slowest.
    let figures = ToolFigures {
        min: row.get(&PerftestColumn::Min).copied(),
        mean: row.get(&PerftestColumn::Average).copied(),
        max: None,
        percentiles: percentiles.into_iter().flatten().collect(),
        count: row.get(&PerftestColumn::Iterations).map(|it| *it as u64),
    };
    parsed.doubts.extend(order_violations(row));
    parsed.set_figures(metric, figures);
    parsed.set_metric_attribute(metric, Attribute::Statistic, "median");
    Ok(())
}

/// Adds bandwidth and message rate; the parser has checked that both agree.
fn add_rates(
    row: &PerftestRow,
    apart: &Attributes,
    parsed: &mut ParsedOutput,
) -> Result<(), ToolError> {
    let rate = bandwidth(row).map_or_else(|| positive_figure(row, PerftestColumn::Rate), Ok)?;
    let messages = positive_figure(row, PerftestColumn::MessageRate)?;
    parsed.add_series("bandwidth", apart.clone(), vec![rate]);
    parsed.add_series("message_rate", apart.clone(), vec![messages]);
    for metric in ["bandwidth", "message_rate"] {
        parsed.set_metric_attribute(metric, Attribute::Statistic, "mean");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use assay_model::doubt::{Doubt, FigureOrder};
    use assay_model::workload::RdmaDevice;

    use super::*;
    use crate::invocation::InstalledTool;
    use crate::tool::find;

    const LATENCY: &str = include_str!("../../tests/golden/perftest/ib_send_lat.txt");
    const BANDWIDTH: &str = include_str!("../../tests/golden/perftest/ib_send_bw.txt");

    fn invocation(test: RdmaTest, sizes: &[u64], program: &str) -> Vec<Invocation> {
        let work = RdmaWorkload {
            port: Some(4000),
            sizes: sizes.to_vec(),
            queue_pairs: 2,
            both: test.is_bandwidth(),
            device: RdmaDevice {
                name: Some("rxe0".to_owned()),
                gid_index: Some(1),
                ..RdmaDevice::default()
            },
            ..RdmaWorkload::perftest_default(test, Some("10.0.0.5".to_owned()))
        };
        let workload = Workload::Rdma(work);
        let tool = find(program).unwrap();
        assert!((tool.supports)(&workload));
        let found = InstalledTool { path: program.to_owned(), version: None, launcher: None };
        let request =
            ToolRequest { workload: &workload, tool: &found, repetitions: 1, cpu_flags: &[] };
        (tool.command)(&request).unwrap()
    }

    #[test]
    fn builds_arguments_of_both_ends() {
        let words = |test, program: &str| {
            let asked = invocation(test, &[2], program);
            asked.iter().map(|it| it.arguments.join(" ")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(
            words(RdmaTest::SendLatency, "ib_send_lat"),
            "-F -c RC -n 1000 -s 2 -x 1 -p 4000 -d rxe0 10.0.0.5"
        );
        assert_eq!(
            words(RdmaTest::ReadBandwidth, "ib_read_bw"),
            "-F -c RC -n 1000 -s 2 -t 128 -q 2 -x 1 -p 4000 -d rxe0 -b 10.0.0.5"
        );
        let whole = RdmaWorkload {
            device: RdmaDevice {
                name: Some("mlx5_0".to_owned()),
                device_port: Some(2),
                gid_index: Some(3),
                mtu_bytes: Some(4096),
                ..RdmaDevice::default()
            },
            ..RdmaWorkload::perftest_default(RdmaTest::SendLatency, None)
        };
        let words_of_device = arguments(&whole, 2).split_off(7).join(" ");
        assert_eq!(words_of_device, "-i 2 -x 3 -m 4096 -d mlx5_0", "the way that assay takes");
        assert_eq!(
            words(RdmaTest::AtomicLatency, "ib_atomic_lat"),
            "-F -c RC -n 1000 -x 1 -p 4000 -d rxe0 10.0.0.5"
        );
        assert_eq!(
            words(RdmaTest::AtomicBandwidth, "ib_atomic_bw"),
            "-F -c RC -n 1000 -t 128 -q 2 -x 1 -p 4000 -d rxe0 -b 10.0.0.5"
        );
        assert_eq!(parse_version("Version: 6.06\n").as_deref(), Some("6.06"));
    }

    fn read(test: RdmaTest, program: &str, stdout: &str) -> Result<ParsedOutput, ToolError> {
        let all: Vec<u64> = (1..=16).map(|power| 1 << power).collect();
        let asked = Invocation {
            workload: Workload::Rdma(RdmaWorkload {
                sizes: all.clone(),
                ..RdmaWorkload::perftest_default(test, None)
            }),
            ..invocation(test, &all, program).remove(0)
        };
        let (stdout, exit_code) = (stdout.to_owned(), Some(0));
        let outputs = Outputs { stdout, exit_code, ..Outputs::default() };
        find(program).unwrap().read(&asked, &outputs)
    }

    #[test]
    fn uses_only_medians_and_averages() {
        let parsed = read(RdmaTest::SendLatency, "ib_send_lat", LATENCY).unwrap();
        assert_eq!(parsed.facts(None)[&Attribute::GidIndex], 1_u64.into());
        let first = &parsed.values[0];
        assert_eq!(first.metric, "half_round_trip");
        assert_eq!(first.own_dimensions[&Attribute::Bytes], 2_u64.into());
        assert!((first.samples[0] - 28.82e-6).abs() < 1e-12);
        let figures = first.figures.as_ref().unwrap();
        assert_eq!(figures.max, None, "perftest cuts off the two slowest");
        assert!((figures.mean.unwrap() - 636.95e-6).abs() < 1e-12);
        // perftest's own maximum is stored as a separate fact.
        let is_of_one =
            |it: &&str| !it.starts_with(' ') || it.contains("#bytes") || it.starts_with(" 2 ");
        let one: Vec<&str> = LATENCY.lines().filter(is_of_one).collect();
        let facts = |text: &str| {
            let parsed = read(RdmaTest::SendLatency, "ib_send_lat", text).unwrap();
            parsed.facts(Some("half_round_trip"))
        };
        let of_one = facts(&one.join("\n"));
        assert_eq!(of_one[&Attribute::PerftestMax], (16_838.93 * 1e-6).into());
        assert_eq!(of_one.get(&Attribute::PerftestDeviation), None, "without fractions of µs");
        assert_eq!(
            facts(LATENCY).get(&Attribute::PerftestMax),
            None,
            "one fact for many sizes"
        );
        let parsed = read(RdmaTest::SendBandwidth, "ib_send_bw", BANDWIDTH).unwrap();
        assert_eq!(parsed.values.len(), 32, "a rate and a rate of messages for each size");
        assert_eq!(parsed.doubts, []);
    }

    #[test]
    fn rejects_or_doubts_implausible_figures() {
        let edited = LATENCY.replace("636.95", "10.95 ");
        let parsed = read(RdmaTest::SendLatency, "ib_send_lat", &edited).unwrap();
        assert!(matches!(
            parsed.doubts[..],
            [Doubt::OutOfOrder { law: FigureOrder::MinMean, .. }]
        ));
        // The same table in another unit than labelled: its figures contradict each other.
        let other = BANDWIDTH.replace("9.21  ", "96.60 ");
        for (test, program, text, expected) in [
            (RdmaTest::SendBandwidth, "ib_send_bw", other.as_str(), "contradicts itself"),
            (RdmaTest::SendBandwidth, "ib_send_bw", LATENCY, "no column of Rate"),
            (RdmaTest::SendLatency, "ib_send_lat", "", "no table"),
        ] {
            let error = read(test, program, text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
