//! A plan before it is carried out: every case with all it was resolved to.

use assay_model::plan::{Case, Plan, Stopping};
use assay_model::quantity::{Bytes, Unit};
use assay_model::workload::{Domain, MpiWorkload, NetworkQuestion, NetworkWorkload, Workload};

use super::hosts::{Unreached, unreached_hosts};
use super::storage;
use crate::document::{Align, Block, Document, Table, Tone};
use crate::locale::word;
use crate::units::{display, joined, percent, quantity};
use crate::words::{self, Said};

/// The report of a dry run.
#[must_use]
pub fn plan(plan: &Plan) -> Document {
    fleet_plan(plan, &[], &[])
}

/// The same over several hosts: which of them measure each case, and which gave no answer.
#[must_use]
pub fn fleet_plan(plan: &Plan, hosts: &[String], unreached: &[Unreached<'_>]) -> Document {
    let mut document = Document::new(say!("plan-title", suite = &plan.suite));
    let cases = say!("plan-cases", n = plan.cases.len(), time = time(plan.budget_s));
    document.paragraph(Tone::Plain, format!("{cases} {}", word("plan-nothing-run")));
    unreached_hosts(&mut document, unreached);
    let columns = [
        (word("column-case"), Align::Left),
        (word("column-hosts"), Align::Left),
        (word("column-by"), Align::Left),
        (word("column-resolved-to"), Align::Left),
        (word("column-stops-at"), Align::Left),
        (word("column-budget"), Align::Right),
    ];
    let mut table = Table::new("", &columns);
    let common = common_stop(plan);
    let nobody = String::new();
    let hosts = hosts.iter().chain(std::iter::repeat(&nobody));
    for (case, hosts) in plan.cases.iter().zip(hosts) {
        let stop = if common.is_some() { String::new() } else { stop(&case.stopping) };
        table.rows.push(vec![
            case.id.clone().into(),
            hosts.clone().into(),
            case.by.clone().into(),
            resolved(case).into(),
            stop.into(),
            time(case.stopping.budget_s).into(),
        ]);
    }
    document.blocks.push(Block::Table(table.without_empty_columns()));
    for omitted in &plan.omitted {
        let Said { text, advice } = words::omitted(omitted);
        let benchmark = &omitted.benchmark;
        let text = say!("plan-left-out", benchmark = benchmark, why = text, advice = advice);
        document.paragraph(Tone::Doubt, text);
    }
    document.paragraph(Tone::Quiet, stopping_rule(common.as_deref()));
    document
}

/// The rule that all cases share.
fn common_stop(plan: &Plan) -> Option<String> {
    let first = stop(&plan.cases.first()?.stopping);
    plan.cases.iter().all(|case| stop(&case.stopping) == first).then_some(first)
}

fn stopping_rule(common: Option<&str>) -> String {
    say!("plan-stops-at", stop = common.unwrap_or(word("plan-stop-as-shown")))
}

fn time(seconds: f64) -> String {
    quantity(seconds, Unit::Second, 3)
}

fn stop(stopping: &Stopping) -> String {
    format!(
        "±{}, {}\u{a0}×\u{a0}in\u{a0}{}",
        percent(100.0 * stopping.target),
        stopping.repetitions,
        stopping.preparations
    )
}

/// What a case was resolved to; one that needs no words of its own is told by its dimensions.
fn resolved(case: &Case) -> String {
    own_words(&case.workload).unwrap_or_else(|| {
        let asked = case.workload.dimensions(&case.by);
        let reported = asked.iter().map(|(name, value)| {
            let value = joined(&display(*name, value));
            format!("{} {value}", name.name().replace('_', " "))
        });
        reported.collect::<Vec<_>>().join("; ")
    })
}

fn own_words(workload: &Workload) -> Option<String> {
    let size = |bytes| joined(&Bytes(bytes).to_string());
    Some(if let Workload::Stream(work) = workload {
        let domains: Vec<String> = work.domains.iter().map(domain).collect();
        format!(
            "{}; arrays of {} ({}\u{a0}× the last-level caches)",
            domains.join("; "),
            size(work.bytes_per_array),
            work.cache_multiple
        )
    } else if let Workload::Latency(work) = workload {
        format!("CPU\u{a0}{}; {}", work.cpu, size(work.bytes))
    } else if let Workload::PeakFlops(work) = workload {
        format!("{}; {}", domain(&work.domain), work.instruction_set)
    } else if let Workload::Linpack(work) = workload {
        format!(
            "N\u{a0}=\u{a0}{}, {}; CPUs {}; matrix products by {}; seed\u{a0}{}",
            work.n,
            quantity(work.n as f64 * work.n as f64 * 8.0, Unit::Byte, 3),
            ranges(&work.cpus),
            work.blas.as_deref().unwrap_or("assay"),
            work.seed
        )
    } else if let Some(work) = workload.network() {
        network(work)
    } else if let Workload::Mpi(work) = workload {
        mpi(work)
    } else if let Workload::Storage(test) = workload {
        storage::test_phrase(test)
    } else if let Workload::Files(test) = workload {
        storage::files_phrase(test)
    } else {
        return None;
    })
}

fn network(work: &NetworkWorkload) -> String {
    let to = work.to.as_deref().unwrap_or("this machine over loopback");
    let port = work.port.map_or(String::new(), |port| format!(" port {port}"));
    let question = match &work.question {
        NetworkQuestion::Throughput(it) => {
            let rate = it.rate_bit_per_s.map_or(String::new(), |rate| {
                format!(" at {} each", quantity(rate as f64, Unit::BitPerSecond, 3))
            });
            let copy = if it.copy { "" } else { ", without copying" };
            let congestion =
                it.congestion.as_deref().unwrap_or("the system's congestion control");
            format!(
                "{} {}{rate}, {}, {} per repetition{copy}; {congestion}",
                it.streams,
                if it.streams == 1 { "stream" } else { "streams" },
                it.direction.name(),
                time(f64::from(it.seconds))
            )
        }
        NetworkQuestion::Latency(it) => {
            let waiting = if it.spin { "spinning" } else { "sleeping" };
            let rate =
                it.rate_per_s.map_or(String::new(), |rate| format!(", {rate} per second"));
            let load = match it.load_streams {
                0 => String::new(),
                streams => format!(" while {streams} streams load the link"),
            };
            format!("messages of {} B there and back, {waiting}{rate}{load}", it.bytes)
        }
    };
    format!("to {to}{port}; {question}")
}

fn mpi(work: &MpiWorkload) -> String {
    let place = match work.placement.cpus.as_slice() {
        [] => "placed by the launcher".to_owned(),
        cpus => format!("on CPUs\u{a0}{}", ranges(cpus)),
    };
    let hosts = [("hosts", &work.hosts.list), ("hosts of the file", &work.hosts.file)];
    let hosts = hosts.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let hosts: String = hosts.map(|(name, value)| format!(" on {name} {value}")).collect();
    let sizes = match work.test.has_sizes() {
        true => {
            let size = |bytes| joined(&Bytes(bytes).to_string());
            format!("; messages of {} to {}", size(work.from_bytes), size(work.to_bytes))
        }
        false => String::new(),
    };
    format!(
        "{} in {}: {} ranks{hosts}, {place}, started by {}{sizes}",
        work.mpi.label(),
        work.mpi.library,
        work.ranks,
        work.mpi.launcher
    )
}

fn domain(domain: &Domain) -> String {
    let cpus = if domain.cpus.len() == 1 { "CPU" } else { "CPUs" };
    format!("{} on {cpus}\u{a0}{}", domain.placement, ranges(&domain.cpus))
}

/// `0–3,8` for 0, 1, 2, 3, 8.
fn ranges(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*cpu) => *last = *cpu,
            _ => ranges.push((*cpu, *cpu)),
        }
    }
    let write = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}–{last}") }
    };
    ranges.iter().map(write).collect::<Vec<_>>().join(",")
}
