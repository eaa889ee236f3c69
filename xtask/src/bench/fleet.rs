//! Cost of 10 to 1,000 agents for their coordinator, and the first limit beyond that number.
//!
//! Agents are processes of this machine, started by a local transport. The cost of ssh or Slurm is
//! excluded: it is the same for every tool that uses them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{command, packages};

use workbench::page::MarkdownPage;

mod machine;
mod peers;
mod workplace;

use self::workplace::BenchWorkplace;

/// Number of hosts of each row, and number of relays between them and the coordinator.
const ROWS: [(usize, usize); 5] = [(10, 0), (24, 0), (100, 0), (1000, 0), (1000, 10)];
/// Maximum CPU and memory of the coordinator with a thousand agents: in CPUs, and in bytes.
const MAX_CPUS: f64 = 0.25;
const MAX_BYTES: f64 = 200e6;
/// Maximum start skew between 24 hosts.
const MAX_SKEW_S: f64 = 1e-3;
/// Duration of the workload on every host. From 30 s on, intervals last one second, with one event
/// for each counter.
const MEASURED_S: f64 = 36.0;
/// The kernel counts the CPU time of a process in ticks of 10 ms.
const TICK_S: f64 = 0.01;
/// Number of threads that measure the start skew of the machine itself (the number of hosts of
/// [`MAX_SKEW_S`]), and number of tries.
const SLEEPERS: usize = 24;
const TRIES: usize = 9;
/// Interval between two samples of the coordinator's process.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Cost of a fleet of one size.
struct FleetRow {
    hosts: usize,
    relays: usize,
    /// Time from the start of the command to that of the first case.
    ready_s: f64,
    /// CPU time of the coordinator until then.
    ready_cpu_s: f64,
    /// Mean number of CPUs that the coordinator uses from the first start to the end of the case.
    cpus_used: f64,
    /// Events per second from each agent, over the same time.
    events_per_s: f64,
    /// Peak resident memory.
    peak_bytes: f64,
    /// Time from the first start to the last, and its uncertainty.
    skew_s: Option<(f64, f64)>,
    /// Open files and threads of the coordinator.
    open_files: usize,
    threads: usize,
    /// Number of lost hosts.
    lost: usize,
}

/// CPU time of the coordinator at one moment.
struct CpuSample {
    time: Instant,
    cpu_s: f64,
}

/// Runs the measurement and writes the page.
pub(crate) fn run(root: &Path) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_FLEET)?;
    let workplace = BenchWorkplace::open(root)?;
    let mut facts = machine::facts(&workplace);
    let program = workplace.build_assay()?;
    facts.push(machine::assay_version(&workplace, &program));
    let rows: Vec<FleetRow> = ROWS
        .iter()
        .map(|hosts| measure_row(&workplace, &program, *hosts))
        .collect::<Result<_>>()?;
    let peers = peers::measure_peers(&workplace, &program)?;
    facts.push(("load after", workbench::load_average()));

    let mut page = MarkdownPage::new("A fleet of many hosts", "cargo xtask bench fleet");
    page.facts(&facts);
    page.heading("Coordinator resources");
    page.table(
        &[
            "agents",
            "relays",
            "ready after",
            "CPU until then",
            "CPU while they measure",
            "CPU per agent",
            "events per agent and second",
            "memory",
            "start skew",
            "open files",
            "threads",
            "lost",
        ],
        &rows.iter().map(FleetRow::cells).collect::<Vec<_>>(),
    );
    page.paragraph(&format_targets(&rows));
    page.paragraph(&format!(
        "{SLEEPERS} threads that sleep until the same moment and then read the clock woke up within {:.2} ms of each \
         other here, by the median of {TRIES} tries: a lower bound for agents that share these CPUs.",
        1e3 * sleepers_skew_s()
    ));
    page.paragraph(
        "Every agent is a process of this machine that reads a file of its own ten times a second. It reports its progress once a \
         second, and when the case ends it sends one event for each second and each of the two counters, \
         which are stored and printed (`--events`). The agents share the machine's CPUs with the \
         coordinator, which is why the time until all are ready and the skew grow with their number; agents on \
         hosts of their own start in parallel. CPU is that of the coordinator alone, in percent of one CPU, \
         from the first start until all events are sent; memory is the peak of the run. Relays are \
         processes of this machine, too.",
    );
    page.heading("Limits at ten thousand agents");
    for paragraph in extrapolate(&rows) {
        page.paragraph(&paragraph);
    }
    page.heading("Comparison with other tools");
    page.table(&["command", "hosts", "time", "CPU of the starting process"], &peers.rows);
    for reason in &peers.skipped {
        page.paragraph(reason);
    }
    page.write(root, "docs/scaling-fleet.md")
}

impl FleetRow {
    fn cells(&self) -> Vec<String> {
        let skew = self.skew_s.map_or("–".to_owned(), |(skew_s, bound_s)| {
            format!("{:.2} ± {:.2} ms", skew_s * 1e3, bound_s * 1e3)
        });
        vec![
            self.hosts.to_string(),
            self.relays.to_string(),
            format!("{:.1} s", self.ready_s),
            format!("{:.2} s", self.ready_cpu_s),
            format!("{:.1} %", 100.0 * self.cpus_used),
            format!("{:.3} %", 100.0 * self.cpus_used / self.hosts as f64),
            format!("{:.1}", self.events_per_s),
            format!("{:.1} MB", self.peak_bytes / 1e6),
            skew,
            self.open_files.to_string(),
            self.threads.to_string(),
            self.lost.to_string(),
        ]
    }
}

fn format_targets(rows: &[FleetRow]) -> String {
    let find = |hosts: usize| rows.iter().find(|row| row.hosts == hosts && row.relays == 0);
    let verdict = |is_met: bool| if is_met { "reached" } else { "missed" };
    let are_costs_met = find(1000)
        .map(|row| row.cpus_used <= MAX_CPUS && row.peak_bytes <= MAX_BYTES && row.lost == 0);
    let is_skew_met =
        find(24).and_then(|row| row.skew_s).map(|(skew_s, _)| skew_s <= MAX_SKEW_S);
    format!(
        "A thousand agents below {:.0} % of a CPU and {:.0} MB: **{}**. 24 hosts start within {:.0} ms: **{}**.",
        100.0 * MAX_CPUS,
        MAX_BYTES / 1e6,
        verdict(are_costs_met == Some(true)),
        MAX_SKEW_S * 1e3,
        verdict(is_skew_met == Some(true)),
    )
}

/// Extrapolates linearly to ten thousand agents, by the cost of each further agent between the two
/// largest rows, and compares the needs with the limits of a process on this machine.
fn extrapolate(rows: &[FleetRow]) -> Vec<String> {
    let direct: Vec<&FleetRow> = rows.iter().filter(|row| row.relays == 0).collect();
    let [.., smaller, larger] = direct[..] else { return Vec::new() };
    let per_agent = |value: fn(&FleetRow) -> f64| {
        (value(larger) - value(smaller)) / (larger.hosts as f64 - smaller.hosts as f64)
    };
    let at_ten_thousand = |value: fn(&FleetRow) -> f64| {
        value(larger) + per_agent(value) * (10_000.0 - larger.hosts as f64)
    };
    let read_number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<f64>().ok();
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let open_files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let open_files =
        open_files.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    let needs = [
        (
            "CPU",
            at_ten_thousand(|row| row.cpus_used),
            Some(1.0),
            "CPU, since one thread receives all of them",
        ),
        (
            "open files",
            at_ten_thousand(|row| row.open_files as f64),
            open_files,
            "allowed (hard limit of a process)",
        ),
        (
            "processes",
            10_000.0,
            read_number("/proc/sys/kernel/pid_max"),
            "process IDs (kernel.pid_max), which threads use, too",
        ),
    ];
    let share =
        |(_, need, limit, _): &(&str, f64, Option<f64>, &str)| limit.map(|limit| need / limit);
    let first_limit =
        needs.iter().max_by(|a, b| share(a).unwrap_or(0.0).total_cmp(&share(b).unwrap_or(0.0)));
    let mut items: Vec<String> = needs
        .iter()
        .map(|need| {
            let limit = need.2.map_or("unknown".to_owned(), |limit| format!("{limit:.0}"));
            let decimals = usize::from(need.1 < 100.0);
            format!("- {}: {:.decimals$} of {limit} {}", need.0, need.1, need.3)
        })
        .collect();
    items.push(format!("- memory: {:.0} MB", at_ten_thousand(|row| row.peak_bytes) / 1e6));
    let start_s = per_agent(|row| row.ready_cpu_s) * 10_000.0;
    items
        .push(format!("- CPU time until all are ready: {start_s:.0} s, on one CPU or several"));
    let mut paragraphs = vec![items.join("\n")];
    if let Some((name, ..)) = first_limit {
        paragraphs.push(format!(
            "The first limit to be reached is **{name}**. Linear extrapolation from 100 and 1,000 \
             agents without relays; ten thousand were not measured. Relays take over open files, processes \
             and the copies of the program; receiving and storing events stays with the coordinator."
        ));
    }
    paragraphs
}

/// Returns the time between the first and the last wake-up of threads that sleep until one moment:
/// the median of several tries.
fn sleepers_skew_s() -> f64 {
    let skew_s = || {
        let deadline = Instant::now() + Duration::from_millis(100);
        let sleep = move || {
            while let Some(remaining) = deadline.checked_duration_since(Instant::now()) {
                std::thread::sleep(remaining);
            }
            deadline.elapsed().as_secs_f64()
        };
        let threads: Vec<_> = (0..SLEEPERS).map(|_| std::thread::spawn(sleep)).collect();
        let delays_s: Vec<f64> =
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
        let last_s = delays_s.iter().copied().fold(0.0, f64::max);
        last_s - delays_s.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let mut tries: Vec<f64> = (0..TRIES).map(|_| skew_s()).collect();
    tries.sort_by(f64::total_cmp);
    tries[TRIES / 2]
}

fn measure_row(
    workplace: &BenchWorkplace,
    program: &Path,
    hosts: (usize, usize),
) -> Result<FleetRow> {
    println!("{} agents through {} relays …", hosts.0, hosts.1);
    let folder = PathBuf::from(format!("/dev/shm/assay-fleet-{}", std::process::id()));
    fs::create_dir_all(&folder).context("cannot create a folder in memory")?;
    let outcome = measure_in_folder(workplace, program, hosts, &folder);
    drop(fs::remove_dir_all(&folder));
    outcome
}

/// Writes the suite that every host runs: slow reads of a small file in memory.
fn write_suite(workplace: &BenchWorkplace, length_s: f64) -> Result<PathBuf> {
    let path = workplace.folder.join("fleet.toml");
    let text = format!(
        "name = \"fleet\"\nbudget = \"{length_s}s\"\n[[measure]]\nbenchmark = \"storage\"\n\
         operation = \"read\"\npattern = \"random\"\nbs = [\"4KiB\"]\nsize = \"64KiB\"\ndepth = 1\n\
         buffered = true\nengine = \"threads\"\nrate = 10\narrivals = \"constant\"\nlength = \"{length_s}s\"\n"
    );
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Returns the command `assay run` for this number of hosts, all of which are this machine.
fn coordinator_command(
    workplace: &BenchWorkplace,
    program: &Path,
    (hosts, length_s): (usize, f64),
    folder: &Path,
) -> Result<Command> {
    let mut command = workplace.command(program);
    command.arg("run").arg(write_suite(workplace, length_s)?);
    command.args(["--hosts", &format!("h[1-{hosts}]"), "--via", "env NAME={host}"]);
    // A thousand agents on a few CPUs start slowly.
    command.args(["--host-deadline", "5min", "--quiet", "--events"]);
    command.arg("--target").arg(folder.join("{host}"));
    command.arg("--store").arg(workplace.folder.join("store"));
    Ok(command)
}

/// Summary of the events of a run.
#[derive(Default)]
struct EventTotals {
    started: Option<Instant>,
    finished: Option<Instant>,
    skew_s: Option<f64>,
    bound_s: Option<f64>,
    /// Number of measurement events.
    events: usize,
    lost: usize,
}

impl EventTotals {
    /// Processes an event; returns whether it was the first start of a case.
    fn add_line(&mut self, time: Instant, line: &str) -> bool {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        match event["event"].as_str() {
            Some("case-started") if self.started.is_none() => {
                self.started = Some(time);
                return true;
            }
            Some("case-finished") => self.finished = Some(time),
            Some("fact") if event["name"] == "start_skew" => {
                self.skew_s = event["value"].as_f64();
            }
            Some("fact") if event["name"] == "start_skew_bound" => {
                self.bound_s = event["value"].as_f64();
            }
            Some("doubt") if line.contains("host-lost") => self.lost += 1,
            Some("sample" | "distribution" | "count") => self.events += 1,
            _ => {}
        }
        false
    }
}

fn measure_in_folder(
    workplace: &BenchWorkplace,
    program: &Path,
    (hosts, relays): (usize, usize),
    folder: &Path,
) -> Result<FleetRow> {
    let mut command = coordinator_command(workplace, program, (hosts, MEASURED_S), folder)?;
    if relays > 0 {
        command.args(["--relays", &format!("r[1-{relays}]")]);
    }
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start assay")?;
    let stdout = child.stdout.take().context("assay has no output")?;
    let (sender, events) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send((Instant::now(), line)).is_err() {
                return;
            }
        }
    });
    let mut row = FleetRow {
        hosts,
        relays,
        ready_s: 0.0,
        ready_cpu_s: 0.0,
        cpus_used: 0.0,
        events_per_s: 0.0,
        peak_bytes: 0.0,
        skew_s: None,
        open_files: 0,
        threads: 0,
        lost: 0,
    };
    let mut samples: Vec<CpuSample> = Vec::new();
    let mut totals = EventTotals::default();
    loop {
        // Sample less often than at every event: counting the open files of a thousand agents takes
        // longer than an event.
        if samples.last().is_none_or(|sample| sample.time.elapsed() >= POLL_INTERVAL)
            && let Some(cpu_s) = process_cpu_s(&child)
        {
            samples.push(CpuSample { time: Instant::now(), cpu_s });
            row.sample_process(&child);
        }
        match events.recv_timeout(POLL_INTERVAL) {
            Ok((time, line)) if totals.add_line(time, &line) => {
                row.ready_s = time.duration_since(start).as_secs_f64();
                row.ready_cpu_s = process_cpu_s(&child).unwrap_or_default();
            }
            Ok(_) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    drop(child.wait());
    let Some((started, finished)) = totals.started.zip(totals.finished) else {
        bail!("{hosts} agents measured nothing")
    };
    row.skew_s = totals.skew_s.zip(totals.bound_s);
    row.lost = totals.lost;
    row.events_per_s =
        totals.events as f64 / hosts as f64 / finished.duration_since(started).as_secs_f64();
    let within = |sample: &&CpuSample| (started..=finished).contains(&sample.time);
    let (first, last) = (samples.iter().find(within), samples.iter().rev().find(within));
    let (first, last) = first.zip(last).context("cannot read the coordinator's CPU time")?;
    row.cpus_used =
        (last.cpu_s - first.cpu_s) / last.time.duration_since(first.time).as_secs_f64();
    Ok(row)
}

impl FleetRow {
    fn sample_process(&mut self, child: &Child) {
        let folder = format!("/proc/{}", child.id());
        let status = fs::read_to_string(format!("{folder}/status")).unwrap_or_default();
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<usize>().ok()
        };
        self.peak_bytes =
            self.peak_bytes.max(number("VmHWM:").map_or(0.0, |kib| kib as f64 * 1024.0));
        self.threads = self.threads.max(number("Threads:").unwrap_or(0));
        let files = fs::read_dir(format!("{folder}/fd")).map_or(0, Iterator::count);
        self.open_files = self.open_files.max(files);
    }
}

/// Returns the CPU time of a running process, without its children (`proc_pid_stat(5)`, fields 14
/// and 15).
fn process_cpu_s(child: &Child) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    let fields = text.rsplit_once(") ")?.1.split_whitespace().skip(11).take(2);
    Some(fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() * TICK_S)
}

/// Returns whether a program is installed.
fn is_installed(program: &str) -> bool {
    command::is_installed(program)
}
