//! Head of the report of a run: title, machines and status.

use assay_model::event::RunStatus;
use assay_model::facts::HostFacts;
use assay_model::run::Run;
use assay_model::summary::{RunHeader, RunSummary};

use super::words;
use crate::document::{Document, Tone};
use crate::first_seen::group_pairs;
use crate::locale::{comma, format_period, localise_list, word};
use crate::{units, words as catalogue};

/// Indices of the parts that are dropped from a line that is too long.
const PRODUCT_PART: usize = 5;
const KERNEL_PART: usize = 6;

pub(in crate::build) fn title(summary: &RunSummary) -> String {
    let hosts: Vec<&str> = summary.hosts.iter().map(|host| host.name.as_str()).collect();
    words::title(&summary.run.suite, &catalogue::hosts(&hosts))
}

/// Adds one line for each kind of machine; lines longer than `room` columns lose kernel and
/// product.
pub(in crate::build) fn add_machines(
    document: &mut Document,
    tone: Tone,
    summary: &RunSummary,
    room: usize,
) {
    // Hosts with the same description share a line.
    let lines = summary.hosts.iter().map(|host| (host_line(host, room), host.name.as_str()));
    for (line, hosts) in group_pairs(lines) {
        let line = match summary.hosts.len() {
            1 => line,
            _ => format!("{}: {line}", catalogue::hosts(&hosts)),
        };
        document.paragraph(tone, line);
    }
}

pub(super) fn add(document: &mut Document, summary: &RunSummary, run: Option<&Run>) {
    add_machines(document, Tone::Plain, summary, usize::MAX);
    let head = &summary.run;
    document.paragraph(Tone::Quiet, times_line(head));
    // The user's note, unchanged.
    document.paragraph(Tone::Plain, head.note.clone().unwrap_or_default());
    let (tone, text) = run_status(summary, run);
    document.paragraph(tone, text);
    if summary.results.is_empty() && summary.steps.is_empty() {
        document.paragraph(Tone::Bad, word("nothing-measured"));
    }
}

/// Returns the status of the run; empty if it completed.
pub(in crate::build) fn run_status(summary: &RunSummary, run: Option<&Run>) -> (Tone, String) {
    let reached = run.map(|run| [run.finished_cases().count(), run.started.plan.cases.len()]);
    match summary.run.status {
        RunStatus::Complete => (Tone::Plain, String::new()),
        RunStatus::Failed => {
            let skipped = summary.failures.iter().filter(|it| it.because.is_some()).count();
            (Tone::Bad, words::status_failed(summary.failures.len() - skipped, skipped))
        }
        RunStatus::Partial => (Tone::Bad, words::status_partial(&summary.failures)),
        RunStatus::Interrupted => {
            (Tone::Doubt, words::incomplete_status("interrupted", reached))
        }
        RunStatus::Unfinished => (Tone::Doubt, words::incomplete_status("unfinished", reached)),
    }
}

/// Returns the run's identifier with start and end.
fn times_line(head: &RunHeader) -> String {
    let (start, end) = format_period(&head.started, head.finished.as_deref());
    words::run_times(&head.id, &start, end, head.seed)
}

/// Describes the machine in one line: processor, cores, caches, memory, hypervisor, product,
/// kernel. Drops the kernel, then the product, if the line is longer than `room`.
fn host_line(host: &HostFacts, room: usize) -> String {
    let system = &host.system;
    let memory = (host.memory.total_bytes > 0).then(|| {
        let bytes = host.memory.total_bytes as f64;
        let size = units::quantity(bytes, assay_model::quantity::Unit::Byte, 3);
        message!("host-memory", size = size)
    });
    let kernel = Some(&system.kernel).filter(|it| !it.is_empty());
    let mut parts = [
        Some(host.cpu.model.clone()),
        Some(describe_cores(host)),
        last_level_caches(host),
        memory,
        system
            .virtualization
            .as_deref()
            .map(|it| message!("host-guest", hypervisor = localise_list(it))),
        system.product.clone(),
        kernel.map(|it| message!("host-kernel", kernel = it)),
    ];
    let line = |parts: &[Option<String>]| {
        let known = parts.iter().flatten().filter(|part| !part.is_empty());
        known.map(String::as_str).collect::<Vec<_>>().join(comma())
    };
    for optional in [KERNEL_PART, PRODUCT_PART] {
        if line(&parts).chars().count() > room {
            parts[optional] = None;
        }
    }
    line(&parts)
}

fn describe_cores(host: &HostFacts) -> String {
    let cpus = host.topology.cpu_ids();
    if cpus.is_empty() {
        return String::new();
    }
    let cores = host.topology.one_cpu_per_core(&cpus).len();
    let cores_text = words::cores(cores);
    if cores == cpus.len() {
        cores_text
    } else {
        message!("cores-with-threads", cores = cores_text, threads = words::threads(cpus.len()))
    }
}

fn last_level_caches(host: &HostFacts) -> Option<String> {
    let caches: Vec<_> = host.topology.last_level().collect();
    let first = caches.first()?;
    let size = units::size(first.bytes);
    let count = if caches.len() == 1 {
        String::new()
    } else {
        format!("{}\u{a0}×\u{a0}", caches.len())
    };
    Some(format!("{count}{size} L{}", first.level))
}
