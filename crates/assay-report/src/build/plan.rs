//! Report of a plan before its execution: every case with its resolved parameters.

use assay_model::phrase::Phrase;
use assay_model::plan::{Case, CasePair, Plan, StoppingRule};
use assay_model::quantity::Unit;
use assay_model::workload::storage::{ResponseCurvePoint, StorageTest};
use assay_model::workload::{
    Domain, LinpackWorkload, MpiWorkload, NetworkTest, NetworkWorkload, Workload,
};
use serde::Serialize;

use super::hosts::{UnreachableHost, add_unreachable_hosts};
use super::run::words::direction;
use super::storage;
use crate::document::{Block, Document, FactTable, ReportTable, Tone, left, right};
use crate::locale::{
    group_digits, join_clauses, join_details, join_sentences, semicolon, with_detail, word,
};
use crate::precision::{format_percent_setting, planned_time};
use crate::units::{format_attribute, quantity, size, with_no_break_spaces};
use crate::words::{self, Explanation};

/// Runs of a plan under two alternating conditions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlannedTurns {
    /// Number of runs.
    pub runs: usize,
    /// Number of commands that switch between the conditions.
    pub commands: usize,
    /// Time after a command until the change has settled.
    pub settle_s: f64,
    /// Time of all runs and of settling, without that of the commands.
    pub total_s: f64,
}

/// Builds the report of a dry run, with `notes` about its duration. `is_beyond`: not all
/// cases fit into the budget.
pub fn plan(
    plan: &Plan,
    notes: &[Phrase],
    is_beyond: bool,
    turns: Option<PlannedTurns>,
) -> Document {
    let extent = describe_extent(plan, is_beyond);
    let extent = turns.map_or(extent, |turns| describe_turns(plan, turns));
    plan_document(plan, (&[], &[]), notes, extent)
}

/// Builds the same report for several hosts, with the hosts of each case and the unreachable hosts.
pub fn fleet_plan(
    plan: &Plan,
    hosts: &[String],
    unreached: &[UnreachableHost<'_>],
    (notes, is_beyond): (&[Phrase], bool),
) -> Document {
    plan_document(plan, (hosts, unreached), notes, describe_extent(plan, is_beyond))
}

/// Returns the number of cases and their time.
fn describe_extent(plan: &Plan, is_beyond: bool) -> String {
    let (n, time_of_all) = (plan.cases.len(), format_time(plan.budget_s));
    match is_beyond {
        true => message!("plan-cases-beyond", n = n, time = time_of_all),
        false => message!("plan-cases", n = n, time = time_of_all),
    }
}

/// Returns the number of runs of two alternating conditions, and the time of all.
pub fn describe_turns(plan: &Plan, turns: PlannedTurns) -> String {
    message!(
        "plan-turns",
        runs = turns.runs.to_string(),
        n = plan.cases.len().to_string(),
        each = format_time(plan.budget_s),
        commands = turns.commands.to_string(),
        settle = format_time(turns.settle_s),
        time = format_time(turns.total_s),
    )
}

fn plan_document(
    plan: &Plan,
    (hosts, unreached): (&[String], &[UnreachableHost<'_>]),
    notes: &[Phrase],
    extent: String,
) -> Document {
    let mut document = Document::new(message!("plan-title", suite = &plan.suite));
    let summary = [extent, word("plan-nothing-run").to_owned()];
    document.paragraph(Tone::Plain, join_sentences(&summary));
    add_unreachable_hosts(&mut document, unreached);
    let mut table = ReportTable::with_caption("");
    let common = common_stop(plan);
    let target = common_target(plan);
    // Names the measurer if any case uses a tool.
    let has_tools = plan.cases.iter().any(|case| case.by != "assay");
    let no_host = String::new();
    let hosts: Vec<&String> =
        hosts.iter().chain(std::iter::repeat(&no_host)).take(plan.cases.len()).collect();
    let rows: Vec<(&Case, &String)> = plan.cases.iter().zip(hosts).collect();
    for group in rows.chunk_by(|(a, of_a), (b, of_b)| of_a == of_b && is_same_ladder(a, b)) {
        let (case, hosts) = group[0];
        let cases: Vec<&Case> = group.iter().map(|(case, _)| *case).collect();
        let stop =
            if common.is_some() { String::new() } else { describe_stopping(&case.stopping) };
        let resolved = describe_ladder(&cases, target.is_none())
            .unwrap_or_else(|| describe_case(case, target.is_none()));
        let budget_s = cases.iter().map(|case| case.stopping.budget_s).sum();
        table.push([
            left(word("column-case"), ladder_name(&cases).unwrap_or_else(|| case.id.clone())),
            left(word("column-hosts"), &**hosts),
            left(word("column-by"), if has_tools { case.by.as_str() } else { "" }),
            left(word("column-resolved-to"), resolved),
            left(word("column-stops-at"), stop),
            right(word("column-budget"), format_time(budget_s)),
        ]);
    }
    document.blocks.push(Block::Table(table.without_empty_columns()));
    if let Some(target) = target {
        let facts = vec![(word("plan-files-and-devices").to_owned(), target)];
        document.blocks.push(Block::Facts(FactTable { title: None, tone: Tone::Plain, facts }));
    }
    for omitted in &plan.omitted {
        let Explanation { text, advice } = words::omitted(omitted);
        let benchmark = &omitted.benchmark;
        let text =
            message!("plan-left-out", benchmark = benchmark, why = text, advice = advice);
        document.paragraph(Tone::Doubt, text);
    }
    for phrase in notes {
        document.paragraph(Tone::Doubt, words::phrase(phrase));
    }
    document.paragraph(Tone::Quiet, stopping_rule(common.as_deref()));
    document
}

/// Whether two cases share a row: they differ only in their working set, or belong to the same
/// response curve. There may be dozens of such cases.
fn is_same_ladder(a: &Case, b: &Case) -> bool {
    let alike =
        a.by == b.by && describe_stopping(&a.stopping) == describe_stopping(&b.stopping);
    if let (Some(one), Some(other)) = (a.workload.as_storage(), b.workload.as_storage()) {
        let is_next = one.point.is_some()
            && !matches!(other.point, None | Some(ResponseCurvePoint::Maximum));
        return alike && is_next && curve_name(a) == curve_name(b);
    }
    let (Some(one), Some(other)) = (a.workload.as_latency(), b.workload.as_latency()) else {
        return false;
    };
    alike && one.cpu == other.cpu
}

/// Returns the name of the response curve of a case.
fn curve_name(case: &Case) -> &str {
    case.id.rsplit_once('/').map_or(case.id.as_str(), |(curve, _)| curve)
}

/// Returns the common prefix of several names, such as `memory.latency/bytes=` or
/// `storage/RndRead/`, and an ellipsis.
fn ladder_name(cases: &[&Case]) -> Option<String> {
    if let [first, _, ..] = cases
        && first.workload.as_storage().is_some()
    {
        return Some(format!("{}/…", curve_name(first)));
    }
    let (name, _) = cases.first().filter(|_| cases.len() > 1)?.id.rsplit_once('=')?;
    Some(format!("{name}=…"))
}

fn describe_ladder(cases: &[&Case], named: bool) -> Option<String> {
    let [first, .., last] = cases else { return None };
    if let Some(maximum) = first.workload.as_storage() {
        let tests = cases.iter().filter_map(|case| case.workload.as_storage());
        let shares = storage::describe_shares(&tests.collect::<Vec<_>>());
        return Some(join_clauses(&[storage::describe_test(maximum, named), shares]));
    }
    let (low, high) = (first.workload.as_latency()?, last.workload.as_latency()?);
    let [from, to] = [low.bytes, high.bytes].map(size);
    let sizes = message!("plan-sizes", low = from, high = to, n = cases.len());
    Some(join_clauses(&[format_cpus(&[low.cpu]), sizes]))
}

/// Returns the stopping rule that all cases share.
fn common_stop(plan: &Plan) -> Option<String> {
    let first = describe_stopping(&plan.cases.first()?.stopping);
    plan.cases.iter().all(|case| describe_stopping(&case.stopping) == first).then_some(first)
}

/// Returns the files and devices if all cases with targets share them: a path in every row would
/// leave no room for the differences.
fn common_target(plan: &Plan) -> Option<String> {
    let mut targets = plan.cases.iter().filter_map(|case| describe_target(&case.workload));
    let first = targets.next()?;
    targets.all(|it| it == first).then_some(first)
}

/// Returns the files and devices of a case, if it has any.
fn describe_target(workload: &Workload) -> Option<String> {
    let of_storage = |test: &StorageTest| storage::targets_without_sync(&test.workload);
    let of_io500 = || Some(workload.as_io500()?.folder.display().to_string());
    let of_files = || workload.as_files().map(storage::folders);
    workload.as_storage().map(of_storage).or_else(of_files).or_else(of_io500)
}

fn stopping_rule(common: Option<&str>) -> String {
    message!("plan-stops-at", stop = common.unwrap_or(word("plan-stop-as-shown")))
}

fn format_time(seconds: f64) -> String {
    planned_time(seconds, 3)
}

fn describe_stopping(stopping: &StoppingRule) -> String {
    let (n, preparations) =
        (stopping.repetitions.to_string(), stopping.preparations.to_string());
    let often =
        with_no_break_spaces(&message!("plan-repetitions", n = n, preparations = preparations));
    with_detail(&format!("±{}", format_percent_setting(100.0 * stopping.target)), &often)
}

/// Describes the resolved parameters of a case, by its dimensions if the workload has no
/// description. `named` adds the targets, where cases differ in them.
fn describe_case(case: &Case, named: bool) -> String {
    describe_workload(case, named).unwrap_or_else(|| {
        let dimensions = case.workload.dimensions(&case.by);
        let texts = dimensions.iter().map(|(name, value)| {
            let value = with_no_break_spaces(&format_attribute(*name, value));
            format!("{} {value}", words::dimension(*name))
        });
        texts.collect::<Vec<_>>().join(semicolon())
    })
}

fn describe_workload(Case { workload, pair, .. }: &Case, named: bool) -> Option<String> {
    Some(match workload {
        Workload::Stream(work) => {
            let domains: Vec<String> = work.domains.iter().map(format_domain).collect();
            let times = group_digits(&work.cache_multiple.to_string());
            let arrays =
                message!("plan-arrays", size = size(work.bytes_per_array), times = times);
            join_clauses(&[domains.join(semicolon()), arrays])
        }
        Workload::Latency(work) => join_clauses(&[format_cpus(&[work.cpu]), size(work.bytes)]),
        Workload::PeakFlops(work) => {
            join_clauses(&[format_domain(&work.domain), work.instruction_set.to_string()])
        }
        Workload::Linpack(work) => describe_linpack(work),
        Workload::NetworkTcp(work) => describe_network(work, true),
        Workload::NetworkUdp(work) | Workload::NetworkIcmp(work) => {
            describe_network(work, false)
        }
        Workload::Mpi(work) => describe_mpi(work, pair.as_ref()),
        Workload::Storage(test) => storage::describe_test(test, named),
        Workload::Files(test) => storage::describe_files_test(test, named),
        Workload::Io500(work) => storage::describe_io500(work, named),
        Workload::CoreToCore(work) => format_cpus(&work.cpus()),
        Workload::Copy(_)
        | Workload::CacheBandwidth(_)
        | Workload::LoadedLatency(_)
        | Workload::Rdma(_)
        | Workload::Command(_)
        | Workload::Imported(_) => return None,
    })
}

fn describe_linpack(work: &LinpackWorkload) -> String {
    let size = quantity(work.n as f64 * work.n as f64 * 8.0, Unit::Byte, 3);
    join_clauses(&[
        with_detail(&format!("N\u{a0}=\u{a0}{}", work.n), &size),
        format_cpus(&work.cpus),
        message!("products-by", blas = work.blas.as_deref().unwrap_or("assay")),
        with_no_break_spaces(&message!("seed", seed = work.seed.to_string())),
    ])
}

fn describe_network(work: &NetworkWorkload, has_congestion: bool) -> String {
    let to = message!("plan-to", to = work.to.as_deref().unwrap_or(word("plan-this-machine")));
    let port = work.port.map(|port| message!("plan-port", port = port.to_string()));
    let test = match &work.test {
        NetworkTest::Throughput(it) => {
            let each = |rate: u64| {
                let rate = quantity(rate as f64, Unit::BitPerSecond, 3);
                format!(" {}", message!("plan-each", rate = rate))
            };
            let parts = [
                message!("streams", n = it.streams)
                    + &it.rate_bit_per_s.map_or_else(String::new, each),
                direction(it.direction.name()),
                message!("plan-per-repetition", time = format_time(f64::from(it.seconds))),
            ];
            let copy = (!it.copy).then(|| word("no-copy").to_owned());
            let segmentation = it.segmentation.then(|| word("segmentation").to_owned());
            let parts: Vec<String> =
                parts.into_iter().chain(copy).chain(segmentation).collect();
            let congestion = it.congestion.as_deref().unwrap_or(word("plan-own-congestion"));
            match has_congestion {
                true => join_clauses(&[join_details(&parts), congestion.to_owned()]),
                false => join_details(&parts),
            }
        }
        NetworkTest::Latency(it) => {
            let waiting = if it.spin { "plan-spinning" } else { "plan-sleeping" };
            let size = size(it.bytes);
            let rate =
                it.rate_per_s.map(|rate| message!("per-second", rate = rate.to_string()));
            let load =
                (it.load_streams > 0).then(|| message!("under-load", n = it.load_streams));
            let parts =
                [message!("plan-there-and-back", size = size), word(waiting).to_owned()];
            let parts: Vec<String> = parts.into_iter().chain(rate).chain(load).collect();
            join_details(&parts)
        }
        NetworkTest::Connections(it) => join_details(&[
            message!("streams", n = it.streams),
            message!("plan-there-and-back", size = size(it.bytes)),
            word("plan-connection-each").to_owned(),
        ]),
    };
    let to: Vec<String> = [to].into_iter().chain(port).collect();
    join_clauses(&[to.join(" "), test])
}

fn describe_mpi(work: &MpiWorkload, pair: Option<&CasePair>) -> String {
    let place = match work.placement.cpus.as_slice() {
        [] => word("plan-placed-by-launcher").to_owned(),
        pinned => format_cpus(pinned),
    };
    let (hosts, file) = (&work.hosts.list, &work.hosts.file);
    let parts = [
        Some(message!("ranks", ranks = work.ranks.to_string())),
        pair.map(|pair| message!("plan-one-on", host = &pair.peer)),
        hosts
            .as_ref()
            .filter(|_| pair.is_none())
            .map(|it| message!("plan-on-hosts", hosts = it)),
        file.as_ref().map(|file| message!("plan-on-hosts-of-file", file = file)),
        Some(place),
        Some(message!("plan-started-by", launcher = file_name(&work.mpi.launcher))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let what = format!("{} ({})", work.mpi.label(), file_name(&work.mpi.library));
    let sizes = work.test.has_sizes().then(|| {
        let [low, high] = [work.from_bytes, work.to_bytes].map(size);
        let messages = match work.from_bytes == work.to_bytes {
            true => message!("plan-messages-of", size = low),
            false => message!("plan-messages", low = low, high = high),
        };
        format!("; {messages}")
    });
    format!("{what}: {}{}", join_details(&parts), sizes.unwrap_or_default())
}

/// Returns the file name only: the table has no room for folders, which the plan in JSON has.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn format_domain(domain: &Domain) -> String {
    format!("{} ({})", domain.placement, format_cpus(&domain.cpus))
}

fn format_cpus(numbers: &[u32]) -> String {
    with_no_break_spaces(&message!(
        "plan-cpus",
        n = numbers.len(),
        which = format_ranges(numbers)
    ))
}

/// Formats CPU numbers as ranges: `0–3,8` for 0, 1, 2, 3, 8.
fn format_ranges(cpus: &[u32]) -> String {
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
