//! `assay rdma`: RDMA between two hosts, with perftest's options and its table.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_dialects::perftest::{self, BandwidthRow, Head, LatencyRow};
use assay_model::benchmark::RdmaTest;
use assay_model::event::Stopped;
use assay_model::workload::{RdmaWorkload, Workload};
use assay_report::render;
use assay_stats::summarize::summarize;

use crate::arguments::rdma::RdmaArguments;
use crate::listening::Silently;
use crate::stored;
use crate::terminal::Terminal;
use assay_kernels::rdma::{RdmaError, has_devices};
use assay_run::failure::Failure;
use assay_run::network::error::NetworkError;
use assay_run::rdma::{self, Joined, Observed, Size, TestError, Values};
use assay_run::recording::Recording;
use assay_run::round_trips::Figures;

pub(crate) fn rdma(
    typed: &RdmaArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let work = typed.workload()?;
    if typed.host.is_none() && !typed.loopback {
        return serve(typed, cancel, terminal);
    }
    // Where nothing can be tried, nothing is stored.
    if !has_devices() {
        return Err(TestError::from(RdmaError::NoDevice).failure());
    }
    let store = stored::kept(&typed.keep)?;
    let phase = (work.test.name().to_owned(), Workload::Rdma(work.clone()));
    let opening = stored::opening((&typed.keep, store.as_ref()), "perftest", vec![phase]);
    let mut quiet = Silently::beside(&typed.keep);
    let mut recording = Recording::begin(opening, &mut quiet)?;
    recording.start(0)?;
    let mut printed = String::new();
    let mut reported = String::new();
    let tested = rdma::run(&work, cancel, &mut |observed| {
        let (entries, line) = match observed {
            Observed::Joined(joined) => (joined.entries(), head(&work, joined).to_string()),
            Observed::Size(size) => {
                reported.push_str(&own(&work, size));
                (size.entries(work.test), row(&work, size))
            }
        };
        if !typed.json {
            terminal.print(&line);
        }
        printed.push_str(&line);
        recording.found(0, entries, &[])
    });
    let raw = [("perftest.txt".to_owned(), printed.into_bytes())];
    if let Err(failure) = tested {
        recording.case(0, [], &raw, Some(rdma::of_case(&failure)))?;
        recording.finish(cancel.load(Ordering::Relaxed))?;
        return Err(failure);
    }
    recording.found(0, [], &raw)?;
    recording.end(0, Ok(Stopped::Tool))?;
    let run = recording.finish(cancel.load(Ordering::Relaxed))?;
    if typed.json {
        terminal.print(&render::json::summary(&summarize(&run)));
    } else {
        terminal.print(&format!("{}{reported}", perftest::rule()));
    }
    Ok(0)
}

/// The end that does not lead: one test, and its own device in a line.
fn serve(
    typed: &RdmaArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let ip = typed.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let address = SocketAddr::new(ip, typed.port);
    if typed.bind.is_none() {
        terminal.note("listening on loopback alone; -B 0.0.0.0 lets other hosts in");
    }
    terminal.note(&format!("waiting for one test on TCP {address}"));
    loop {
        let served = rdma::serve(address, &typed.device(), cancel);
        let is_last = !typed.forever || cancel.load(Ordering::Relaxed);
        match served {
            Ok(served) => {
                let sizes = if served.sizes == 1 { "size" } else { "sizes" };
                terminal.print(&format!(
                    "{} sent {} {sizes} to {}; contents were right\n",
                    served.peer, served.sizes, served.device
                ));
            }
            Err(
                error @ (TestError::Network(NetworkError::Listen { .. })
                | TestError::Verbs(RdmaError::NoDevice)),
            ) => return Err(unserved(&error)),
            Err(error) if is_last => return Err(unserved(&error)),
            Err(error) => terminal.complain(&unserved(&error)),
        }
        if is_last {
            return Ok(0);
        }
    }
}

fn unserved(error: &TestError) -> Failure {
    match error {
        TestError::Network(_) => Failure::measurement("nothing was served").because(error),
        other => other.failure(),
    }
}

/// What stands above the table, in perftest's words.
fn head(work: &RdmaWorkload, joined: &Joined) -> Head<'static> {
    let title = match work.test {
        RdmaTest::SendLatency => "Send Latency Test",
        RdmaTest::SendBandwidth => "Send BW Test",
        RdmaTest::WriteLatency => "RDMA_Write Latency Test",
        RdmaTest::WriteBandwidth => "RDMA_Write BW Test",
        RdmaTest::ReadLatency => "RDMA_Read Latency Test",
        RdmaTest::ReadBandwidth => "RDMA_Read BW Test",
        RdmaTest::AtomicLatency => "Atomic FETCH_AND_ADD Latency Test",
    };
    let index = joined.gid_index.map_or_else(|| "none".to_owned(), |index| index.to_string());
    let link = if joined.is_ethernet { "Ethernet" } else { "IB" };
    let facts = vec![
        ("Device", joined.device.clone()),
        ("Connection type", work.connection.name().to_uppercase()),
        ("TX depth", work.depth.to_string()),
        ("Mtu", format!("{}[B]", joined.mtu_bytes)),
        ("Link type", link.to_owned()),
        ("GID index", index),
        ("Max inline data", format!("{}[B]", joined.inline_bytes)),
        ("Data ex. method", "assay over TCP".to_owned()),
    ];
    Head { title, facts, is_bandwidth: work.test.is_bandwidth() }
}

/// A size as perftest prints it.
fn row(work: &RdmaWorkload, size: &Size) -> String {
    match &size.values {
        Values::Times(times_ns) => {
            let divisor = if work.test.is_halved() { 2 } else { 1 };
            let row = LatencyRow::of(size.bytes, times_ns, divisor);
            row.map_or_else(String::new, |row| row.to_string())
        }
        Values::Marks(_) => {
            let bytes_per_s = size.bytes_per_s().unwrap_or(f64::NAN);
            let row =
                BandwidthRow { bytes: size.bytes, iterations: work.iterations, bytes_per_s };
            row.to_string()
        }
    }
}

/// The same of all messages, none left out.
fn own(work: &RdmaWorkload, size: &Size) -> String {
    let Values::Times(times_ns) = &size.values else { return String::new() };
    let halved = work.test.is_halved();
    let divisor = if halved { 2 } else { 1 };
    let all: Vec<u64> = times_ns.iter().map(|ns| ns / divisor).collect();
    let what = if halved { "half round trip" } else { "full time" };
    format!("{} B, {what} of all: {}\n", size.bytes, Figures::of_times(&all).text())
}
