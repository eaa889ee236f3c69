//! `assay qperf`: qperf's tests and figures, client and server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_dialects::wire::qperf::{Request, Test, Times};
use assay_kernels::network::pingpong::Waiting;
use serde_json::{Value, json};

use super::iperf3::failed;
use crate::arguments::network::QperfArguments;
use crate::failure::render;
use crate::terminal::Terminal;
use assay_run::failure::Failure;
use assay_run::network::qperf_client::{
    self, Bandwidth, Latency, QperfOutcome, QperfTest, Span,
};
use assay_run::network::qperf_server;
use assay_run::network::target::Target;
use assay_run::round_trips::Distribution;

pub(crate) fn qperf(
    typed: &QperfArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    match &typed.host {
        Some(host) => client(host, typed, cancel, terminal),
        None => server(typed, cancel, terminal),
    }
}

fn server(
    typed: &QperfArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let ip = typed.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    if typed.bind.is_none() {
        terminal.note("listening on loopback alone; -B 0.0.0.0 lets other hosts in");
    }
    let address = SocketAddr::new(ip, typed.listen_port);
    let idle_limit = typed.idle_timeout.map(Duration::from_secs);
    let terminal = Mutex::new(terminal);
    qperf_server::serve(address, typed.one_off, idle_limit, cancel, &|outcome| {
        let text = match outcome {
            Ok(request) => format!("served {}", request.test.name()),
            Err(error) => render(&failed(error), false).trim_end().to_owned(),
        };
        if let Ok(mut terminal) = terminal.lock() {
            terminal.note(&text);
        }
    })
    .map_err(|error| failed(&error))?;
    Ok(0)
}

fn client(
    host: &str,
    typed: &QperfArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    if typed.tests.is_empty() {
        let failure = Failure::usage("no test is named");
        return Err(
            failure.advise("name one or more of tcp_lat, tcp_bw, udp_lat, udp_bw, conf")
        );
    }
    let mut document = serde_json::Map::new();
    for test in &typed.tests {
        let mut told = Vec::new();
        for size in sizes(typed) {
            let request = request(*test, typed, size)?;
            let outcome = ask(host, &request, typed, cancel)?;
            if typed.json {
                told.push(values(&outcome, size.filter(|_| typed.sweep.is_some())));
            } else {
                let shown = typed.sweep.is_some();
                terminal.print(&lines(*test, &request, &outcome, (typed.verbose, shown)));
            }
        }
        // Several sizes are a list, and one is its own figures.
        let value = match (typed.sweep.is_some(), told.pop()) {
            (false, Some(value)) => value,
            (_, last) => told.into_iter().chain(last).collect(),
        };
        document.insert(test.name().to_owned(), value);
    }
    if typed.json {
        terminal.print(&format!("{:#}\n", Value::Object(document)));
    }
    Ok(0)
}

/// The sizes of messages that are asked for, one after another; `None` stands for the test's own.
fn sizes(typed: &QperfArguments) -> Vec<Option<u64>> {
    match &typed.sweep {
        Some(sweep) => sweep.0.iter().copied().map(Some).collect(),
        None => vec![typed.msg_size],
    }
}

fn ask(
    host: &str,
    request: &Request,
    typed: &QperfArguments,
    cancel: &AtomicBool,
) -> Result<QperfOutcome, Failure> {
    if request.test == Test::Quit {
        return Err(Failure::usage("`quit` is not sent: stop the server where it runs"));
    }
    let asked = QperfTest {
        target: Target::new(host, typed.listen_port),
        request: *request,
        waiting: Waiting::Sleep,
        rate_per_s: None,
        busy_poll_us: None,
    };
    qperf_client::run(&asked, cancel).map_err(|error| failed(&error))
}

fn request(
    test: Test,
    typed: &QperfArguments,
    message_bytes: Option<u64>,
) -> Result<Request, Failure> {
    let mut request = Request { time_s: typed.time, ..Request::new(test) };
    let fits = |what: &str, size: u64, most: u32| match u32::try_from(size) {
        Ok(size) if (1..=most).contains(&size) => Ok(size),
        _ => Err(Failure::usage(format!(
            "{what} of {size} is impossible; it must be 1 to {most}"
        ))),
    };
    if typed.time == 0 || typed.time > 86_400 {
        return Err(Failure::usage("the time must lie between 1 and 86400 seconds"));
    }
    if let Some(size) = message_bytes {
        let most = if test.is_udp() { 65507 } else { 1 << 26 };
        request.message_bytes = fits("a message size", size, most)?;
    }
    if let Some(size) = typed.sock_buf_size {
        request.socket_buffer_bytes = fits("a socket buffer", size, 1 << 26)?;
    }
    Ok(request)
}

/// qperf's lines: names to the left, `=`, value and unit. What qperf does not print follows.
fn lines(
    test: Test,
    request: &Request,
    outcome: &QperfOutcome,
    (verbose, with_size): (bool, bool),
) -> String {
    let mut rows = match outcome {
        QperfOutcome::Configuration(there) => {
            let here = qperf_server::configuration();
            let rows = [
                ("loc_node", here.node),
                ("loc_cpu", here.cpu),
                ("loc_os", here.os),
                ("loc_qperf", here.qperf),
                ("rem_node", there.node.clone()),
                ("rem_cpu", there.cpu.clone()),
                ("rem_os", there.os.clone()),
                ("rem_qperf", there.qperf.clone()),
            ];
            rows.map(|(name, value)| (name.to_owned(), value)).to_vec()
        }
        QperfOutcome::Latency(latency) => latency_rows(latency, verbose),
        QperfOutcome::Bandwidth(bandwidth) => bandwidth_rows(test, request, bandwidth, verbose),
    };
    if with_size && rows.iter().all(|(name, _)| name != "msg_size") {
        rows.push(("msg_size".to_owned(), format!("{} bytes", request.message_bytes)));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let rows: String =
        rows.iter().map(|(name, value)| format!("    {name:width$}  =  {value}\n")).collect();
    format!("{}:\n{rows}", test.name())
}

fn latency_rows(latency: &Latency, verbose: bool) -> Vec<(String, String)> {
    let distribution = Distribution::of(&latency.measured.times_ns);
    let mut rows = vec![("latency".to_owned(), three_digits(latency.mean_half_s, "sec"))];
    rows.push(("round_trip".to_owned(), distribution.text()));
    if verbose {
        let seconds = latency.measured.total_ns as f64 * 1e-9;
        let rate = latency.measured.times_ns.len() as f64 / seconds.max(1e-9);
        rows.push(("msg_rate".to_owned(), three_digits(2.0 * rate, "/sec")));
        rows.push(("lost_msgs".to_owned(), latency.measured.lost.to_string()));
    }
    rows
}

fn bandwidth_rows(
    test: Test,
    request: &Request,
    measured: &Bandwidth,
    verbose: bool,
) -> Vec<(String, String)> {
    let received = measured.there.received;
    let rate = |bytes: u64| three_digits(bytes as f64 / measured.elapsed_s, "B/sec");
    let mut rows = if test == Test::UdpBandwidth {
        vec![("send_bw", rate(measured.sent.bytes)), ("recv_bw", rate(received.bytes))]
    } else {
        vec![("bw", rate(received.bytes))]
    };
    if verbose {
        let there = Span {
            cpus: measured.there.cpus,
            ticks_per_s: measured.there.ticks_per_s,
            start: measured.there.start,
            end: measured.there.end,
        };
        let messages = received.messages as f64 / measured.elapsed_s;
        rows.push(("msg_rate", three_digits(messages, "/sec")));
        rows.push(("msg_size", format!("{} B", request.message_bytes)));
        rows.push(("send_cost", cost(&measured.here, measured.sent.bytes)));
        rows.push(("recv_cost", cost(&there, received.bytes)));
        rows.push(("send_cpus_used", used(&measured.here)));
        rows.push(("recv_cpus_used", used(&there)));
        rows.push(("send_bytes", measured.sent.bytes.to_string()));
        rows.push(("recv_bytes", received.bytes.to_string()));
    }
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Seconds of CPU between two times: work alone, without idle, waiting and stolen time, which qperf
/// itself counts among it.
fn work_s(span: &Span) -> f64 {
    const NO_WORK: [usize; 3] = [3, 4, 7];
    let ticks = |times: &Times| -> u64 {
        (0..8)
            .filter(|column| !NO_WORK.contains(column))
            .map(|column| times.cpu[column])
            .fold(0, u64::wrapping_add)
    };
    let ticks = ticks(&span.end).saturating_sub(ticks(&span.start));
    ticks as f64 / f64::from(span.ticks_per_s.max(1))
}

fn cost(span: &Span, bytes: u64) -> String {
    if bytes == 0 {
        return "unknown".to_owned();
    }
    three_digits(work_s(span) * 1e9 / bytes as f64, "sec/GB")
}

fn used(span: &Span) -> String {
    let real = span.end.real.saturating_sub(span.start.real).max(1);
    let wall_s = real as f64 / f64::from(span.ticks_per_s.max(1));
    format!("{:.3} % cpus", work_s(span) * 100.0 / wall_s)
}

/// Three significant digits with a decimal prefix: `29.3 us`, `960 MB/sec`.
fn three_digits(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 7] =
        [(1e9, "G"), (1e6, "M"), (1e3, "K"), (1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")];
    // qperf writes `us`, and `sec` only where it is a whole one.
    let short = if unit == "sec" { "s" } else { unit };
    let (factor, prefix) =
        PREFIXES.into_iter().find(|(factor, _)| value >= *factor).unwrap_or((1.0, ""));
    let unit = if factor >= 1.0 { unit } else { short };
    let scaled = value / factor;
    let digits = match scaled {
        scaled if scaled < 10.0 => 2,
        scaled if scaled < 100.0 => 1,
        _ => 0,
    };
    format!("{scaled:.digits$} {prefix}{unit}")
}

fn values(outcome: &QperfOutcome, message_bytes: Option<u64>) -> Value {
    let mut value = figures(outcome);
    if let Some(bytes) = message_bytes {
        value["msg_size_bytes"] = json!(bytes);
    }
    value
}

fn figures(outcome: &QperfOutcome) -> Value {
    match outcome {
        QperfOutcome::Configuration(it) => {
            json!({ "node": it.node, "cpu": it.cpu, "os": it.os, "qperf": it.qperf })
        }
        QperfOutcome::Latency(latency) => json!({
            "latency_s": latency.mean_half_s,
            "latency_is": "half round trip, mean",
            "round_trip_s": Distribution::of(&latency.measured.times_ns).json(),
            "lost": latency.measured.lost,
        }),
        QperfOutcome::Bandwidth(it) => json!({
            "send_bw_bytes_per_s": it.sent.bytes as f64 / it.elapsed_s,
            "recv_bw_bytes_per_s": it.there.received.bytes as f64 / it.elapsed_s,
            "send_bytes": it.sent.bytes,
            "recv_bytes": it.there.received.bytes,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        for (value, unit, expected) in [
            (29.31e-6, "sec", "29.3 us"),
            (960.4e6, "B/sec", "960 MB/sec"),
            (14_648.0, "/sec", "14.6 K/sec"),
            (1.5, "sec", "1.50 sec"),
            (0.0, "sec/GB", "0.00 sec/GB"),
        ] {
            assert_eq!(three_digits(value, unit), expected);
        }
    }
}
