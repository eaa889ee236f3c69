//! Goodput and ping-pong beside iperf3 and qperf, over loopback.
//!
//! Each contender is a pair of its own client and its own server; nobody is pinned, as users run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{command, packages};

use super::cpus::Cpus;
use super::machine;
use super::options::Options;
use super::order::order;
use super::page::Page;
use super::ratio::{self, Ratio};
use super::workplace::Workplace;

/// Ports of the servers of this comparison, away from those of servers that may already run.
const IPERF3_PORT: &str = "45201";
const ASSAY_PORT: &str = "45202";
const QPERF_PORT: &str = "45203";

/// One way to ask, by one pair of client and server.
struct Contender {
    name: &'static str,
    command: Vec<String>,
    read: fn(&str) -> Result<Figure>,
}

/// What one turn gives.
struct Figure {
    /// bit/s of goodput, or seconds of half a round trip.
    value: f64,
    /// CPU-seconds of both processes per GB; only for goodput.
    cpu_s_per_gb: Option<f64>,
}

/// Ours, theirs, what is asked of the ratio, and whether less is better.
const PAIRS: [(&str, &str, f64, bool); 5] = [
    ("assay, 1 stream", "iperf3, 1 stream", 1.3, false),
    ("assay, 6 streams", "iperf3, 6 streams", 1.3, false),
    ("assay, 1 stream, no copy", "iperf3, 1 stream", 2.0, false),
    ("assay, 6 streams, no copy", "iperf3, 6 streams", 2.0, false),
    ("assay, 1 byte there and back", "qperf, 1 byte there and back", 1.0, true),
];

/// Compares and writes the page.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_NETWORK)?;
    let workplace = Workplace::open(root, Cpus::choose(options.threads)?)?;
    let assay = workplace.build_assay()?;
    let mut facts = machine::facts(&workplace);
    facts.push(machine::assay_version(&workplace, &assay));
    facts.push(("packages", machine::package_versions(&workplace, &["iperf3", "qperf"])?));
    let _servers = servers(&assay)?;
    let contenders = contenders(&assay);
    let figures = measure(&contenders, options)?;
    facts.push(("load after", machine::load()));
    let mut page = Page::new("Network beside the field", "cargo xtask bench network");
    page.facts(&facts);
    page.heading("Figures");
    let head = ["assay", "figure", "peer", "peer's figure", "ratio", "95 %", "target", ""];
    page.table(&head, &rows(&figures)?);
    page.heading("CPU time");
    page.table(&["", "CPU-s per GB, both ends' processes"], &costs(&figures));
    page.paragraph(ABOUT);
    page.heading("Commands");
    let commands: Vec<String> = contenders.iter().map(|it| it.command.join(" ")).collect();
    page.commands(&commands);
    page.publish(root, "network")
}

const ABOUT: &str = "\
All figures are medians over the turns. Within a turn everybody runs once, in an order drawn from a seed
and reversed every other turn; the interval is that of the median ratio within a turn, from order
statistics. Goodput is what the receiver took. Times are half round trips as qperf prints them, elapsed
over messages. A target on times is reached when ours is no longer than the peer's. Everything goes over
loopback, where sender, receiver and the kernel's work for both share the same CPUs.";

fn servers(assay: &Path) -> Result<[Server; 3]> {
    let start = |command: &mut Command| -> Result<Server> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = child.spawn().context("a server cannot be started")?;
        Ok(Server(child))
    };
    let started = [
        start(Command::new("iperf3").args(["-s", "-p", IPERF3_PORT]))?,
        start(Command::new(assay).args(["iperf3", "-s", "-p", ASSAY_PORT, "-i", "0"]))?,
        start(Command::new("qperf").args(["-lp", QPERF_PORT]))?,
    ];
    // None of them tells when it listens.
    thread::sleep(Duration::from_millis(500));
    Ok(started)
}

/// A server that ends with the comparison.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn contenders(assay: &Path) -> Vec<Contender> {
    let words = |program: &[&str], rest: &str| {
        program.iter().copied().chain(rest.split(' ')).map(str::to_owned).collect()
    };
    let assay = PathBuf::from(assay).display().to_string();
    let theirs = |streams: u32| format!("-c 127.0.0.1 -p {IPERF3_PORT} -t 2 -J -P {streams}");
    let ours =
        |streams: u32| format!("-c 127.0.0.1 -p {ASSAY_PORT} -t 2 -J -l 256K -P {streams}");
    let tcp = |name, program: &[&str], rest: String| Contender {
        name,
        command: words(program, &rest),
        read: goodput,
    };
    let own = [assay.as_str(), "iperf3"];
    let no_copy = " -Z --skip-rx-copy";
    vec![
        tcp("iperf3, 1 stream", &["iperf3"], theirs(1)),
        tcp("iperf3, 6 streams", &["iperf3"], theirs(6)),
        tcp("assay, 1 stream", &own, ours(1)),
        tcp("assay, 6 streams", &own, ours(6)),
        tcp("assay, 1 stream, no copy", &own, ours(1) + no_copy),
        tcp("assay, 6 streams, no copy", &own, ours(6) + no_copy),
        Contender {
            name: "qperf, 1 byte there and back",
            command: words(&["qperf"], &format!("127.0.0.1 -lp {QPERF_PORT} -t 2 tcp_lat")),
            read: qperf_latency,
        },
        Contender {
            name: "assay, 1 byte there and back",
            command: words(
                &[assay.as_str(), "qperf"],
                &format!("127.0.0.1 --listen-port {ASSAY_PORT} -t 2 --json tcp_lat"),
            ),
            read: assay_latency,
        },
    ]
}

fn goodput(output: &str) -> Result<Figure> {
    let value: Value = serde_json::from_str(output).context("no JSON")?;
    let end = &value["end"];
    let number = |pointer: &str| {
        end.pointer(pointer).and_then(Value::as_f64).with_context(|| format!("no {pointer}"))
    };
    let bit_per_s = number("/sum_received/bits_per_second")?;
    let cpu = |end: &str| number(&format!("/cpu_utilization_percent/{end}_total"));
    let cpus = (cpu("host")? + cpu("remote")?) / 100.0;
    Ok(Figure { value: bit_per_s, cpu_s_per_gb: Some(cpus / (bit_per_s / 8e9)) })
}

/// qperf prints `latency = 29.3 us` with a unit of its choice.
fn qperf_latency(output: &str) -> Result<Figure> {
    let line = output.lines().find(|line| line.contains("latency")).context("no latency")?;
    let (_, value) = line.split_once('=').context("no value")?;
    let mut words = value.split_whitespace();
    let number: f64 = words.next().context("no number")?.parse()?;
    let factor = match words.next() {
        Some("ns") => 1e-9,
        Some("us") => 1e-6,
        Some("ms") => 1e-3,
        unit => bail!("unit {unit:?}"),
    };
    Ok(Figure { value: number * factor, cpu_s_per_gb: None })
}

fn assay_latency(output: &str) -> Result<Figure> {
    let value: Value = serde_json::from_str(output).context("no JSON")?;
    let value = value["tcp_lat"]["latency_s"].as_f64().context("no latency")?;
    Ok(Figure { value, cpu_s_per_gb: None })
}

type Figures = BTreeMap<&'static str, Vec<Figure>>;

fn measure(contenders: &[Contender], options: &Options) -> Result<Figures> {
    let mut figures = Figures::new();
    for turn in 0..options.turns {
        println!("turn {} of {}", turn + 1, options.turns);
        for at in order(options.seed, turn, contenders.len()) {
            let contender = &contenders[at];
            let mut started = Command::new(&contender.command[0]);
            let output = command::output(started.args(&contender.command[1..]))?;
            let figure = (contender.read)(&output)
                .with_context(|| format!("{}: {output}", contender.name))?;
            figures.entry(contender.name).or_default().push(figure);
            // A server needs a moment between two clients.
            thread::sleep(Duration::from_millis(100));
        }
    }
    Ok(figures)
}

fn rows(figures: &Figures) -> Result<Vec<Vec<String>>> {
    let values = |name: &str| -> Result<Vec<f64>> {
        let found = figures.get(name).with_context(|| format!("nobody measured {name}"))?;
        Ok(found.iter().map(|figure| figure.value).collect())
    };
    let row = |(ours, theirs, target, is_time): &(&str, &str, f64, bool)| {
        let (our_values, their_values) = (values(ours)?, values(theirs)?);
        let shown = |values: &[f64]| {
            let median = ratio::median(values).unwrap_or(f64::NAN);
            if *is_time {
                format!("{:.2} µs", median * 1e6)
            } else {
                format!("{:.1} Gbit/s", median / 1e9)
            }
        };
        // For times the quotient is turned round, so that more is better in every row.
        let ratio = match is_time {
            true => Ratio::of(&their_values, &our_values),
            false => Ratio::of(&our_values, &their_values),
        };
        let ratio = ratio.context("nothing was measured")?;
        Ok(vec![
            (*ours).to_owned(),
            shown(&our_values),
            (*theirs).to_owned(),
            shown(&their_values),
            format!("{:.3}", ratio.of_medians),
            ratio.interval_text(),
            format!("≥ {target}"),
            ratio.verdict(*target).to_owned(),
        ])
    };
    PAIRS.iter().map(row).collect()
}

fn costs(figures: &Figures) -> Vec<Vec<String>> {
    let cost = |(name, figures): (&&str, &Vec<Figure>)| {
        let costs: Vec<f64> = figures.iter().filter_map(|figure| figure.cpu_s_per_gb).collect();
        Some(vec![(*name).to_owned(), format!("{:.3}", ratio::median(&costs)?)])
    };
    figures.iter().filter_map(cost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_peers_print_is_read() {
        let latency = qperf_latency("tcp_lat:\n    latency  =  56.9 us\n").unwrap();
        assert!((latency.value - 56.9e-6).abs() < 1e-12);
        assert!(qperf_latency("tcp_lat:\n    latency = 1 parsec\n").is_err());
        let document = r#"{"end":{"sum_received":{"bits_per_second":8e9},
            "cpu_utilization_percent":{"host_total":20,"remote_total":10}}}"#;
        let figure = goodput(document).unwrap();
        assert!((figure.cpu_s_per_gb.unwrap() - 0.3).abs() < 1e-12);
        assert!(goodput("{}").is_err());
    }
}
