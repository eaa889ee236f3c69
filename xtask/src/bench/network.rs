//! Goodput and ping-pong compared with iperf3, qperf and a bare loop, over loopback and over a veth
//! pair.
//!
//! Each contender has its own client and its own server. Bulk transfers are not pinned, as users
//! run them; both ends of a ping-pong share one CPU.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::{command, packages};

use super::cpus::Cpus;
use super::machine;
use super::options::BenchOptions;
use super::order::turn_order;
use super::ratio::{self, PeerRatio};
use super::workplace::BenchWorkplace;
use contenders::{
    ASSAY_ECHO_PORT, ASSAY_PORT, BARE_PORT, COPY_PORT, Contender, IPERF3_PORT, NetworkMetric,
    Programs, QPERF_PORT,
};
use test_link::TestLink;
use workbench::page::MarkdownPage;

mod contenders;
mod test_link;

/// Target against a bare loop: within 2 % of it, assay has nothing left to improve.
const BARE_LOOP_TARGET: f64 = 1.0 / 1.02;

/// Assay's contender, the peer, the metric, and the minimum ratio (inverted for costs, so that
/// higher is better in every row).
const PAIRS: [(&str, &str, NetworkMetric, f64); 12] = [
    ("assay, 1 stream", "iperf3, 1 stream", NetworkMetric::Goodput, 1.3),
    ("assay, 6 streams", "iperf3, 6 streams", NetworkMetric::Goodput, 1.3),
    ("assay, 1 stream", "iperf3, 1 stream", NetworkMetric::CpuPerGb, 1.0),
    ("assay, 6 streams", "iperf3, 6 streams", NetworkMetric::CpuPerGb, 1.0),
    ("assay, 1 stream, -Z", "iperf3, 1 stream, -Z", NetworkMetric::Goodput, 1.0),
    ("assay, 6 streams, -Z", "iperf3, 6 streams, -Z", NetworkMetric::Goodput, 1.0),
    ("assay, 1 stream", "bare loop, 1 stream", NetworkMetric::Goodput, BARE_LOOP_TARGET),
    ("assay, 6 streams", "bare loop, 6 streams", NetworkMetric::Goodput, BARE_LOOP_TARGET),
    ("assay, 1 stream", "bare loop, 1 stream", NetworkMetric::CpuPerGb, BARE_LOOP_TARGET),
    ("assay, 6 streams", "bare loop, 6 streams", NetworkMetric::CpuPerGb, BARE_LOOP_TARGET),
    ("assay, 1 byte", "bare loop, 1 byte", NetworkMetric::RoundTrip, BARE_LOOP_TARGET),
    ("assay, 1 byte", "qperf, 1 byte", NetworkMetric::HalfMean, 1.0),
];

/// Runs the comparison and writes the page.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_NETWORK)?;
    let workplace = BenchWorkplace::open(root, Cpus::choose(options.threads)?)?;
    let assay = workplace.build_assay()?;
    let text = |path: PathBuf| path.display().to_string();
    let programs = Programs {
        assay: text(assay.clone()),
        ping_pong: text(workplace.build_peer("ping_pong", &["-O2"])?),
        copy_loop: text(workplace.build_peer("copy_loop", &["-O2", "-pthread"])?),
        on_one_cpu: format!("taskset -c {}", workplace.cpus.0.last().context("no CPU")?),
    };
    let mut facts = machine::facts(&workplace);
    facts.push(machine::assay_version(&workplace, &assay));
    facts.push(("packages", machine::package_versions(&workplace, &["iperf3", "qperf"])?));
    let congestion = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    facts.push(("congestion control", congestion.unwrap_or_default().trim().to_owned()));
    let mut page =
        MarkdownPage::new("Network compared with other tools", "cargo xtask bench network");
    let mut parts = Vec::new();
    for place in [Ok(TestLink::loopback()), TestLink::veth(root)] {
        let place = match place {
            Ok(place) => place,
            Err(error) => {
                println!("cannot create a veth pair: {error:#}");
                continue;
            }
        };
        let _servers = start_servers(&programs, &place)?;
        let contenders = contenders::build_contenders(&programs, &place);
        let figures = measure(&contenders, &place, options)?;
        parts.push((place.name, rows(&figures)?, format_commands(&workplace, &contenders)));
    }
    facts.push(("load after", workbench::load_average()));
    page.facts(&facts);
    page.paragraph(ABOUT);
    let head =
        ["what", "assay", "figure", "peer", "peer's figure", "ratio", "95 %", "target", ""];
    for (name, rows, commands) in &parts {
        page.heading(name);
        page.table(&head, rows);
        page.commands(commands);
    }
    page.publish(root, "network")
}

const ABOUT: &str = "\
All figures are medians over the turns. Within a turn every contender runs once, in a seeded random
order that is reversed every other turn; the interval is that of the median ratio within a turn, from order
statistics. Ratios of times and of costs are inverted, so that higher is better in every row. Goodput is
measured at the receiver. Half round trips are those that qperf prints, elapsed time over messages. Over
loopback and over the veth pair, sender, receiver and the kernel's work for both share the same CPUs. Bulk
transfers are not pinned. Both ends of a ping-pong are pinned to one CPU: otherwise the scheduler decides
whether a round trip contains a wake-up of another CPU, an effect four times as large as that of the tools.

The bare loops are plain C: for round trips `send` and `recv` with a clock reading after each, for goodput
one thread per stream and end with assay's write size, receive size and low-water mark. They are the limit of
these calls on this machine; where assay equals its bare loop and misses a target, the rest is the kernel's.
iperf3 and assay use their defaults: 128 KiB per write, and 1 MiB or, with more streams than CPUs, 256 KiB.

Profile, by `perf record -e cpu-clock -a`: with iperf3's method, a fifth of the sender's CPU wakes
the receiver, once per segment: assay's receiver is woken for up to 256 KiB (`SO_RCVLOWAT`), or for what
200 µs bring. With bbr a tenth is spent on the timers that pace segments of 64 KiB; larger writes need
fewer, and no socket option disables them. Over loopback bbr soon estimates the link as faster than the CPUs and
seldom paces; over the veth pair it keeps pacing (16,000 timers a second against
500 with cubic), and the same bare loop carries 20 Gbit/s with bbr and 53 with cubic. The rest of one stream
that copies is `copy_from_user` on the sender's CPU, which does the receiver's protocol work as well. `vmsplice`
from a huge page avoids the copy, and the sixteen small pages per call of `sendfile`.";

/// Starts the servers.
fn start_servers(programs: &Programs, place: &TestLink) -> Result<Vec<BenchServer>> {
    let (assay, at) = (&programs.assay, place.address);
    let on_one_cpu = &programs.on_one_cpu;
    let started: Result<Vec<BenchServer>> = [
        format!("iperf3 -s -B {at} -p {IPERF3_PORT}"),
        format!("{assay} iperf3 -s -B {at} -p {ASSAY_PORT} -i 0"),
        format!("{} serve {at} {COPY_PORT}", programs.copy_loop),
        format!("{on_one_cpu} qperf -lp {QPERF_PORT}"),
        format!("{on_one_cpu} {} serve {at} {BARE_PORT}", programs.ping_pong),
        format!("{on_one_cpu} {assay} iperf3 -s -B {at} -p {ASSAY_ECHO_PORT} -i 0"),
    ]
    .iter()
    .map(|line| {
        let (program, arguments) =
            line.split_once(' ').context("a server without arguments")?;
        let mut command = place.command(true, program);
        command.args(arguments.split(' '));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(BenchServer(command.spawn().context("cannot start a server")?))
    })
    .collect();
    // None of them reports when it listens.
    thread::sleep(Duration::from_millis(500));
    started
}

/// Server process, killed at the end of the comparison.
struct BenchServer(Child);

impl Drop for BenchServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Figures by contender and metric, one value per turn.
type Figures = BTreeMap<(&'static str, NetworkMetric), Vec<f64>>;

fn measure(
    contenders: &[Contender],
    place: &TestLink,
    options: &BenchOptions,
) -> Result<Figures> {
    let mut figures = Figures::new();
    for turn in 0..options.turns {
        println!("{}: turn {} of {}", place.name, turn + 1, options.turns);
        for at in turn_order(options.seed, turn, contenders.len()) {
            let contender = &contenders[at];
            let mut started = place.command(false, &contender.command[0]);
            let output = command::output(started.args(&contender.command[1..]))?;
            let read = (contender.read)(&output)
                .with_context(|| format!("{}: {output}", contender.name))?;
            for figure in read {
                let key = (contender.name, figure.metric);
                figures.entry(key).or_default().push(figure.value);
            }
            // A server needs a moment between two clients.
            thread::sleep(Duration::from_millis(100));
        }
    }
    Ok(figures)
}

fn rows(figures: &Figures) -> Result<Vec<Vec<String>>> {
    let row =
        |(ours, theirs, kind, target): &(&'static str, &'static str, NetworkMetric, f64)| {
            let values = |name: &'static str| {
                figures.get(&(name, *kind)).with_context(|| format!("no figures of {name}"))
            };
            let (our_values, their_values) = (values(ours)?, values(theirs)?);
            let median =
                |values: &[f64]| kind.format_value(ratio::median(values).unwrap_or(f64::NAN));
            let ratio = match kind.is_cost() {
                true => PeerRatio::from_turns(their_values, our_values),
                false => PeerRatio::from_turns(our_values, their_values),
            };
            let ratio = ratio.context("nothing was measured")?;
            Ok(vec![
                kind.name().to_owned(),
                (*ours).to_owned(),
                median(our_values),
                (*theirs).to_owned(),
                median(their_values),
                format!("{:.3}", ratio.estimate),
                ratio.format_interval(),
                format!("≥ {target:.2}"),
                ratio.verdict(*target).to_owned(),
            ])
        };
    PAIRS.iter().map(row).collect()
}

fn format_commands(workplace: &BenchWorkplace, contenders: &[Contender]) -> Vec<String> {
    let command = |contender: &Contender| {
        let mut command = Command::new(PathBuf::from(&contender.command[0]));
        command.args(&contender.command[1..]);
        workplace.format_command(&command)
    };
    contenders.iter().map(command).collect()
}
