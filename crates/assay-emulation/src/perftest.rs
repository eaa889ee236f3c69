//! `assay rdma`: measures RDMA between two hosts, with perftest's options and table.

mod outcome;
mod stored_tables;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_adapters::perftest_text::{self, PerftestColumn};
use assay_dialects::perftest::{
    self, BandwidthRow, LatencyRow, MeanRow, PerftestColumns, PerftestHead, PerftestTableRow,
    RateUnit,
};
use assay_model::benchmark::RdmaTest;
use assay_model::event::StopReason;
use assay_model::run::Run;
use assay_model::workload::{RdmaWorkload, Workload};
use assay_report::render;
use assay_stats::summarize::summarize;
use assay_store::Store;
use serde_json::Value;

use crate::options::perftest::RdmaArguments;
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::progress_listener::EmulationListener;
use assay_kernels::rdma::{RdmaError, has_devices};
use assay_run::failure::CommandFailure;
use assay_run::network::error::NetworkError;
use assay_run::rdma::{
    self, RdmaConnectionInfo, RdmaEvent, RdmaProgress, RdmaSizeResult, RdmaTestError,
    RdmaValues,
};
use assay_run::recording::Recording;
use assay_run::round_trips::RoundTripStatistics;
use assay_run::stored_outcome;

use self::outcome::{PerftestOutcome, PerftestSize};

pub use self::stored_tables::has_tests;

/// Line of perftest 26.x, whose packages are numbered otherwise, with the version of assay.
const VERSION: &str = concat!("Version: 6.29 (assay ", env!("CARGO_PKG_VERSION"), ")\n");

/// Runs `assay rdma`: one end of a test, or both.
///
/// # Errors
/// There is no device, the other end fails, or the run cannot be stored.
pub fn rdma(
    typed: &RdmaArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.tell_version {
        terminal.print(VERSION);
        return Ok(0);
    }
    let work = typed.to_workload()?;
    // Without a device, fail before waiting for the other end or storing anything.
    if !has_devices() {
        return Err(RdmaTestError::from(RdmaError::NoDevice).failure());
    }
    if typed.host.is_none() && !typed.loopback {
        return serve(typed, cancel, terminal);
    }
    let store = store_access::open_for_recording(&typed.keep)?;
    let phase = (work.test.name().to_owned(), Workload::Rdma(work.clone()));
    let opening =
        store_access::recording_request((&typed.keep, store.as_ref()), "perftest", vec![phase]);
    let mut quiet = EmulationListener::new(&typed.keep);
    let mut recording = Recording::begin(opening, &mut quiet)?;
    recording.start_case(0)?;
    let mut outcome = PerftestOutcome::default();
    let tested = rdma::run(&work, cancel, &mut |observed| {
        let (entries, text) = match observed {
            RdmaEvent::Joined(joined) => {
                (joined.entries(), outcome.begin(table_head(rate_unit(typed), &work, joined)))
            }
            RdmaEvent::SizeMeasured(size) => {
                (size.entries(work.test), outcome.add(size_outcome(typed, &work, size)))
            }
        };
        if !typed.json {
            terminal.print(&text);
        }
        recording.record_partial(0, entries, &[])
    });
    if let Err(failure) = tested {
        recording.record_case(0, [], &[], Some(rdma::to_case_failure(&failure)))?;
        recording.store_outcome(&outcome)?;
        recording.finish(cancel.load(Ordering::Relaxed))?;
        return Err(failure);
    }
    let end = outcome.end();
    recording.end_case(0, Ok(StopReason::Tool))?;
    recording.store_outcome(&outcome)?;
    let run = recording.finish(cancel.load(Ordering::Relaxed))?;
    if let Some(file) = typed.perftest_json_path() {
        let written = fs_err::write(file, perftest_json(&outcome.table())?);
        written.map_err(|error| {
            CommandFailure::usage("cannot write perftest's JSON").with_cause(&error)
        })?;
    }
    if typed.json {
        terminal.print(&render::json::summary(&summarize(&run)));
    } else {
        terminal.print(&end);
    }
    Ok(0)
}

/// Renders a stored run as perftest's table or JSON. The tests of a suite are rendered in sequence,
/// or as a list.
///
/// # Errors
/// The run contains no figures of perftest, or its stored outcome cannot be read.
pub fn render_stored(
    run: &Run,
    store: &Store,
    as_json: bool,
) -> Result<String, CommandFailure> {
    if run.started.asked.is_some() {
        let outcome: PerftestOutcome = stored_outcome::read(run, store)?;
        return match as_json {
            true => perftest_json(&outcome.table()),
            false => Ok(outcome.render()),
        };
    }
    let tables = stored_tables::render_tables(run);
    match (&tables[..], as_json) {
        ([], _) => Err(CommandFailure::measurement(format!(
            "{} contains no perftest table",
            run.started.run
        ))
        .with_reason("the version of assay that measured it did not store perftest's figures")
        .advise("leave out --as for assay's own report")),
        (tables, false) => {
            let rule = perftest::rule();
            Ok(tables.iter().map(|table| format!("{table}{rule}")).collect())
        }
        ([one], true) => perftest_json(one),
        (several, true) => {
            let all: Vec<Value> =
                several.iter().map(|it| perftest_document(it)).collect::<Result<_, _>>()?;
            Ok(json_text(&Value::Array(all)))
        }
    }
}

/// Renders the JSON of perftest's `--out_json` (since 24.01), but with all sizes: one object, or a
/// list of them.
fn perftest_json(printed: &str) -> Result<String, CommandFailure> {
    Ok(json_text(&perftest_document(printed)?))
}

fn json_text(document: &Value) -> String {
    let text = serde_json::to_string_pretty(document).expect("maps of strings have a form");
    format!("{text}\n")
}

fn perftest_document(printed: &str) -> Result<Value, CommandFailure> {
    // The unit of the table.
    let unit = if printed.contains("[Gb/sec]") { 8e-9 } else { 1.0 / 1_048_576.0 };
    let names: [(PerftestColumn, &str, f64); 13] = [
        (PerftestColumn::Bytes, "MsgSize", 1.0),
        (PerftestColumn::Iterations, "n_iterations", 1.0),
        (PerftestColumn::Min, "t_min", 1e6),
        (PerftestColumn::Max, "t_max", 1e6),
        (PerftestColumn::Typical, "t_typical", 1e6),
        (PerftestColumn::Average, "t_avg", 1e6),
        (PerftestColumn::EventRate, "tps_average", 1.0),
        (PerftestColumn::Deviation, "t_stdev", 1e6),
        (PerftestColumn::P99, "percentile_99", 1e6),
        (PerftestColumn::P999, "percentile_99.9", 1e6),
        (PerftestColumn::PeakRate, "BW_peak", unit),
        (PerftestColumn::Rate, "BW_average", unit),
        (PerftestColumn::MessageRate, "MsgRate", 1e-6),
    ];
    let rows = perftest_text::parse_rows(printed).map_err(|error| {
        CommandFailure::measurement("cannot parse the stored table").with_cause(&error)
    })?;
    let object = |row: &perftest_text::PerftestRow| {
        let fields = names.iter().filter_map(|(column, name, factor)| {
            // Rounded to the printed digits.
            let value = (row.get(column)? * factor * 1e6).round() / 1e6;
            let is_count = matches!(column, PerftestColumn::Bytes | PerftestColumn::Iterations);
            let value = if is_count { Value::from(value as u64) } else { Value::from(value) };
            Some(((*name).to_owned(), value))
        });
        Value::Object(fields.collect())
    };
    let mut results: Vec<Value> = rows.iter().map(object).collect();
    let results = if results.len() == 1 { results.remove(0) } else { Value::Array(results) };
    let title = printed.lines().map(str::trim).find(|line| line.ends_with(" Test"));
    let mut info = serde_json::Map::new();
    info.insert("test".to_owned(), title.unwrap_or_default().replace(' ', "_").into());
    for (name, value) in printed.lines().filter_map(|line| line.split_once(" : ")) {
        let value = value.trim();
        let name = name.trim().replace([' ', '.'], "_").replace("__", "_");
        let number = value.strip_suffix("[B]").unwrap_or(value).parse::<u64>();
        info.insert(name, number.map_or_else(|_| value.into(), Value::from));
    }
    Ok(serde_json::json!({ "test_info": info, "results": results }))
}

/// Serves one test as the passive end and prints a line with its device.
fn serve(
    typed: &RdmaArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let ip = typed.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let address = SocketAddr::new(ip, typed.port);
    if typed.bind.is_none() {
        terminal.note("listening on loopback only; use -B 0.0.0.0 to admit other hosts");
    }
    terminal.note(&format!("waiting for one test on TCP {address}"));
    loop {
        let served = rdma::serve(address, &typed.to_device(), cancel);
        let is_last = !typed.forever || cancel.load(Ordering::Relaxed);
        match served {
            Ok(served) => {
                let sizes = if served.sizes == 1 { "size" } else { "sizes" };
                terminal.print(&format!(
                    "{} sent {} {sizes} to {}; contents verified\n",
                    served.peer, served.sizes, served.device
                ));
            }
            Err(
                error @ (RdmaTestError::Network(NetworkError::Listen { .. })
                | RdmaTestError::Verbs(RdmaError::NoDevice)),
            ) => return Err(serve_failure(&error)),
            Err(error) if is_last => return Err(serve_failure(&error)),
            Err(error) => terminal.print_failure(&serve_failure(&error)),
        }
        if is_last {
            return Ok(0);
        }
    }
}

fn serve_failure(error: &RdmaTestError) -> CommandFailure {
    match error {
        RdmaTestError::Network(_) => {
            CommandFailure::measurement("cannot serve a test").with_cause(error)
        }
        other => other.failure(),
    }
}

/// Returns the lines above the table, in perftest's wording.
fn table_head(
    unit: RateUnit,
    work: &RdmaWorkload,
    joined: &RdmaConnectionInfo,
) -> PerftestHead {
    let index = joined.gid_index.map_or_else(|| "none".to_owned(), |index| index.to_string());
    let link = if joined.is_ethernet { "Ethernet" } else { "IB" };
    let facts = vec![
        ("Device", joined.device.clone()),
        ("Connection type", work.connection.name().to_uppercase()),
        ("Number of qps", work.queue_pairs.to_string()),
        ("TX depth", work.depth.to_string()),
        ("Mtu", format!("{}[B]", joined.mtu_bytes)),
        ("Link type", link.to_owned()),
        ("GID index", index),
        ("Max inline data", format!("{}[B]", joined.inline_bytes)),
        ("Data ex. method", "assay over TCP".to_owned()),
    ];
    let columns = match (work.test.is_bandwidth(), work.duration) {
        (true, _) => PerftestColumns::Rates(unit),
        (false, None) => PerftestColumns::Times,
        (false, Some(_)) => PerftestColumns::Means,
    };
    let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    PerftestHead { title: table_title(work), facts, columns }
}

/// Returns perftest's title: verb, both directions, quantity (`ctx_print_test_info`).
fn table_title(work: &RdmaWorkload) -> String {
    let verb = match work.test {
        RdmaTest::SendLatency | RdmaTest::SendBandwidth => "Send",
        RdmaTest::WriteLatency | RdmaTest::WriteBandwidth => "RDMA_Write",
        RdmaTest::ReadLatency | RdmaTest::ReadBandwidth => "RDMA_Read",
        RdmaTest::AtomicLatency | RdmaTest::AtomicBandwidth => "Atomic FETCH_AND_ADD",
    };
    let both = if work.both { "Bidirectional " } else { "" };
    let what = if work.test.is_bandwidth() { "BW" } else { "Latency" };
    format!("{verb} {both}{what} Test")
}

const fn rate_unit(typed: &RdmaArguments) -> RateUnit {
    if typed.report_gbits { RateUnit::Gigabits } else { RateUnit::Mebibytes }
}

/// Returns the outcome of a size.
fn size_outcome(
    typed: &RdmaArguments,
    work: &RdmaWorkload,
    size: &RdmaSizeResult,
) -> PerftestSize {
    let divisor = if work.test.is_half_round_trip() { 2 } else { 1 };
    let RdmaValues::Times(times_ns) = &size.values else {
        let lost = match &size.values {
            RdmaValues::Marks(RdmaProgress { lost, .. }) => *lost,
            RdmaValues::Times(_) => None,
        };
        return PerftestSize {
            bytes: size.bytes,
            row: Some(PerftestTableRow::Rates(bandwidth_row(typed, work, size))),
            lost,
            ..PerftestSize::default()
        };
    };
    let row = match size.is_timed {
        true => {
            MeanRow::from_times_ns(size.bytes, times_ns, divisor).map(PerftestTableRow::Means)
        }
        false => LatencyRow::from_times_ns(size.bytes, times_ns, divisor)
            .map(PerftestTableRow::Times),
    };
    let listings = [(typed.report_unsorted, false), (typed.report_histogram, true)];
    let is_listed = listings.iter().any(|(is_wanted, _)| *is_wanted);
    let all: Vec<u64> = times_ns.iter().map(|ns| ns / u64::from(divisor)).collect();
    PerftestSize {
        bytes: size.bytes,
        listed_ns: if is_listed { times_ns.clone() } else { Vec::new() },
        listings: listings.into_iter().filter(|it| it.0).map(|(_, sorted)| sorted).collect(),
        row,
        is_half: divisor == 2,
        times: Some(RoundTripStatistics::from_times(&all)),
        lost: None,
    }
}

fn bandwidth_row(
    typed: &RdmaArguments,
    work: &RdmaWorkload,
    size: &RdmaSizeResult,
) -> BandwidthRow {
    BandwidthRow {
        bytes: size.bytes,
        // In tests with a duration, perftest counts the messages of all queue pairs together.
        iterations: match size.is_timed {
            true => size.iterations * u64::from(work.queue_pairs),
            false => size.iterations,
        },
        peak_bytes_per_s: size.peak_bytes_per_s().filter(|_| !typed.no_peak),
        bytes_per_s: size.bytes_per_s(),
        unit: rate_unit(typed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_perftest_names() {
        let head = PerftestHead {
            title: "Send Latency Test".to_owned(),
            facts: [("Device", "rxe0"), ("Mtu", "1024[B]")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            columns: PerftestColumns::Times,
        };
        let times: Vec<u64> = (1..=1000).map(|us| us * 2000).collect();
        let row = LatencyRow::from_times_ns(2, &times, 2).unwrap();
        let one = perftest_json(&format!("{head}{row}")).unwrap();
        let read: Value = serde_json::from_str(&one).unwrap();
        assert_eq!(read["test_info"]["test"], "Send_Latency_Test");
        assert_eq!(read["test_info"]["Mtu"], 1024);
        assert_eq!(read["results"]["MsgSize"], 2);
        assert_eq!(read["results"]["n_iterations"], 1000);
        assert_eq!(read["results"]["t_typical"], row.typical_us);
        assert_eq!(read["results"]["percentile_99.9"], row.p999_us);
        let all = perftest_json(&format!("{head}{row}{row}")).unwrap();
        let read: Value = serde_json::from_str(&all).unwrap();
        assert_eq!(read["results"][1]["MsgSize"], 2);
        assert!(perftest_json("nothing").is_err());
    }

    #[test]
    fn json_rates_use_the_table_unit() {
        for (unit, peak, average) in
            [(RateUnit::Mebibytes, 119.21, 59.6), (RateUnit::Gigabits, 1.0, 0.5)]
        {
            let head = PerftestHead {
                title: "Send BW Test".to_owned(),
                facts: vec![],
                columns: PerftestColumns::Rates(unit),
            };
            let row = BandwidthRow {
                bytes: 1000,
                iterations: 1000,
                peak_bytes_per_s: Some(125e6),
                bytes_per_s: Some(62.5e6),
                unit,
            };
            let read: Value =
                serde_json::from_str(&perftest_json(&format!("{head}{row}")).unwrap()).unwrap();
            let results = &read["results"];
            assert_eq!(
                (&results["BW_peak"], &results["BW_average"]),
                (&peak.into(), &average.into())
            );
            assert_eq!(results["MsgRate"], 0.0625);
        }
    }

    #[test]
    fn titles_match_perftest() {
        for (test, both, expected) in [
            (RdmaTest::SendLatency, false, "Send Latency Test"),
            (RdmaTest::WriteBandwidth, false, "RDMA_Write BW Test"),
            (RdmaTest::WriteBandwidth, true, "RDMA_Write Bidirectional BW Test"),
            (RdmaTest::SendBandwidth, true, "Send Bidirectional BW Test"),
            (RdmaTest::AtomicLatency, false, "Atomic FETCH_AND_ADD Latency Test"),
            (RdmaTest::AtomicBandwidth, true, "Atomic FETCH_AND_ADD Bidirectional BW Test"),
        ] {
            let work = RdmaWorkload { both, ..RdmaWorkload::perftest_default(test, None) };
            assert_eq!(table_title(&work), expected);
        }
    }
}
