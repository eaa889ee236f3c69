//! Small documents: list of runs, findings, plan, methods.

use assay_model::doubt::TrustLevel;
use assay_model::event::RunStatus;
use assay_model::facts::HostFacts;
use assay_model::facts::difference::ComparedHost;
use assay_model::finding::{CheckOutcome, DoctorFinding, FindingSeverity};
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::quantity::{Quantity, Unit};
use assay_model::workload::{
    Domain, LatencyWorkload, LinpackWorkload, PeakFlopsWorkload, StreamWorkload, Workload,
};
use assay_report::build::{self, ExaminedHost, ListedRun, UnreachableHost};
use assay_report::document::{Block, Details, Document};

/// Raw output of a tool inside details, with text that could break a terminal, a fence or a page.
pub(crate) fn raw() -> Document {
    let mut document = Document::new("Raw output");
    let output = "Triad:  41234.5\n\u{1b}[31m```\n<b>&amp;</b>\n";
    let inside = vec![Block::Preformatted(output.to_owned())];
    let details = Details { title: "stdout".to_owned(), blocks: inside };
    document.blocks.push(Block::Preformatted(output.to_owned()));
    document.blocks.push(Block::Details(details));
    document
}

pub(crate) fn listing() -> Document {
    fn run<'r>(
        id: &'r str,
        status: RunStatus,
        running: bool,
        cases: [usize; 3],
        host: &'r str,
    ) -> ListedRun<'r> {
        ListedRun {
            trust: TrustLevel::Sound,
            label: "",
            note: "",
            id,
            started: "2026-11-21T10:44:55Z",
            suite: "quick",
            status,
            is_running: running,
            cases,
            host,
            other_hosts: if id.ends_with("0003") { 9 } else { 0 },
            is_readable: !id.ends_with("0005"),
            headlines: vec![
                ("Triad", Quantity::new(41.234e9, Unit::BytePerSecond)),
                ("Rmax", Quantity::new(214.6e9, Unit::FlopPerSecond)),
            ],
        }
    }
    let runs = [
        run("20261121-104455-7f3a", RunStatus::Unfinished, true, [3, 0, 41], "node-7"),
        run("20261120-090000-0001", RunStatus::Complete, false, [41, 0, 41], "node-7"),
        run("20261119-090000-0002", RunStatus::Failed, false, [40, 1, 41], "node-8"),
        run("20261118-090000-0003", RunStatus::Unfinished, false, [7, 0, 41], "node-8"),
        run("20261116-090000-0005", RunStatus::Complete, false, [41, 0, 41], "node-8"),
    ];
    let unreadable =
        [("20261117-090000-0004".to_owned(), "events.jsonl holds no event".to_owned())];
    build::listing(&runs, &unreadable, build::HiddenRuns { without_result: 2, not_matching: 0 })
}

pub(crate) fn findings() -> Document {
    build::findings("node-7", &example_findings(), None)
}

/// Three hosts, one of them with a different setup, and one that did not respond.
pub(crate) fn hosts() -> Document {
    let alike = HostFacts { name: "node-7".to_owned(), ..HostFacts::default() };
    let mut other = HostFacts { name: "node-9".to_owned(), ..HostFacts::default() };
    other.system.kernel = "6.12.9".to_owned();
    other.settings.insert("transparent_hugepage/enabled".to_owned(), "never".to_owned());
    let (many, few) = (example_findings(), example_findings().split_off(3));
    let host = |name, facts, findings| ExaminedHost {
        compared: ComparedHost { name, facts, findings },
        clock_offset_s: (0.0123, 0.0004),
    };
    let examined =
        [host("vm1", &alike, &many), host("vm2", &alike, &many), host("vm9", &other, &few)];
    let unreached = [UnreachableHost {
        name: "vm8",
        reason: "the connection ended: Host key verification failed.".to_owned(),
        advice: "compare the key with the host's own".to_owned(),
    }];
    build::hosts(&examined, &unreached, &|names| names.join("+"))
}

fn example_findings() -> Vec<DoctorFinding> {
    let finding = |id: &str, outcome, severity, observed: &str| {
        DoctorFinding {
        id: id.to_owned(),
        outcome,
        observed: observed.to_owned(),
        seen: None,
        expected: "performance".to_owned(),
        why: "at a lower frequency a core computes less, and its frequency changes while it is measured".to_owned(),
        source: "Linux kernel, Documentation/admin-guide/pm/cpufreq.rst".to_owned(),
        severity,
        change: "cpupower frequency-set --governor performance".to_owned(),
    }
    };
    vec![
        finding("cpu.smt", CheckOutcome::Deviates, FindingSeverity::Note, "on"),
        finding("cpu.governor", CheckOutcome::Deviates, FindingSeverity::Skews, "powersave"),
        finding("memory.available", CheckOutcome::Deviates, FindingSeverity::Blocks, "12 MiB"),
        finding("clock.source", CheckOutcome::Ok, FindingSeverity::Skews, "tsc"),
        finding(
            "cpu.boost",
            CheckOutcome::NotVisible,
            FindingSeverity::Skews,
            "there is no cpufreq directory in this guest",
        ),
        finding(
            "memory.modules",
            CheckOutcome::Unreadable,
            FindingSeverity::Note,
            "permission denied",
        ),
    ]
}

pub(crate) fn plan() -> Plan {
    let domain = |placement: &str, cpus: &[u32]| Domain {
        placement: placement.to_owned(),
        cpus: cpus.to_vec(),
    };
    let stopping =
        StoppingRule { target: 0.01, repetitions: 10, preparations: 3, budget_s: 7.5 };
    let case = |id: &str, by: &str, workload| Case {
        id: id.to_owned(),
        by: by.to_owned(),
        workload,
        stopping,
        pair: None,
    };
    let stream = StreamWorkload {
        domains: vec![domain("l3:0", &[0, 1, 2, 3, 8]), domain("l3:1", &[4])],
        bytes_per_array: 128 << 20,
        cache_multiple: 4.0,
    };
    let linpack = LinpackWorkload { n: 8000, cpus: vec![0, 1], blas: None, seed: 2026 };
    let peak = PeakFlopsWorkload {
        domain: domain("node", &[0, 1]),
        instruction_set: "avx512".to_owned(),
    };
    let latency = LatencyWorkload { cpu: 0, bytes: 3 << 20, line_bytes: 64 };
    let cases = vec![
        case("memory.stream/l3:together", "assay", Workload::Stream(stream)),
        case("memory.latency/bytes=3 MiB", "assay", Workload::Latency(latency)),
        case("compute.peak_flops/node/avx512", "assay", Workload::PeakFlops(peak)),
        case("compute.linpack/n=8000/hpcc", "hpcc", Workload::Linpack(linpack)),
    ];
    Plan::new("quick", 90.0, cases)
}
