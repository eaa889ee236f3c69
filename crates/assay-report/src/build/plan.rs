//! Report of a plan before its execution: every case with its resolved parameters.

use assay_model::phrase::Phrase;
use assay_model::plan::{Case, Pair, Plan, Stopping};
use assay_model::quantity::Unit;
use assay_model::workload::storage::CurvePoint;
use assay_model::workload::{Domain, MpiWorkload, NetworkQuestion, NetworkWorkload, Workload};

use super::hosts::{Unreached, unreached_hosts};
use super::run::words::direction;
use super::storage;
use crate::document::{Align, Block, Document, Facts, Table, Tone};
use crate::locale::{clauses, detailed, details, grouped, semicolon, sentences, word};
use crate::precision::{percent_setting, setting};
use crate::units::{display, joined, quantity, size};
use crate::words::{self, Said};

/// Builds the report of a dry run, with `notes` about its duration. `is_beyond`: the duration
/// exceeds the budget.
#[must_use]
pub fn plan(plan: &Plan, notes: &[Phrase], is_beyond: bool) -> Document {
    fleet_plan(plan, &[], &[], (notes, is_beyond))
}

/// Builds the same report for several hosts, with the hosts of each case and the unreachable hosts.
#[must_use]
pub fn fleet_plan(
    plan: &Plan,
    hosts: &[String],
    unreached: &[Unreached<'_>],
    (notes, is_beyond): (&[Phrase], bool),
) -> Document {
    let mut document = Document::new(say!("plan-title", suite = &plan.suite));
    let (n, time_of_all) = (plan.cases.len(), time(plan.budget_s));
    let cases = match is_beyond {
        true => say!("plan-cases-beyond", n = n, time = time_of_all),
        false => say!("plan-cases", n = n, time = time_of_all),
    };
    let summary = [cases, word("plan-nothing-run").to_owned()];
    document.paragraph(Tone::Plain, sentences(&summary));
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
    let target = common_target(plan);
    // Names the measurer if any case uses a tool.
    let has_tools = plan.cases.iter().any(|case| case.by != "assay");
    let no_host = String::new();
    let hosts: Vec<&String> =
        hosts.iter().chain(std::iter::repeat(&no_host)).take(plan.cases.len()).collect();
    let rows: Vec<(&Case, &String)> = plan.cases.iter().zip(hosts).collect();
    for group in rows.chunk_by(|(a, of_a), (b, of_b)| of_a == of_b && is_of_a_ladder(a, b)) {
        let (case, hosts) = group[0];
        let cases: Vec<&Case> = group.iter().map(|(case, _)| *case).collect();
        let stop = if common.is_some() { String::new() } else { stop(&case.stopping) };
        table.rows.push(vec![
            ladder_name(&cases).unwrap_or_else(|| case.id.clone()).into(),
            hosts.clone().into(),
            (if has_tools { case.by.as_str() } else { "" }).into(),
            ladder(&cases, target.is_none())
                .unwrap_or_else(|| resolved(case, target.is_none()))
                .into(),
            stop.into(),
            time(cases.iter().map(|case| case.stopping.budget_s).sum()).into(),
        ]);
    }
    document.blocks.push(Block::Table(table.without_empty_columns()));
    if let Some(target) = target {
        let facts = vec![(word("plan-files-and-devices").to_owned(), target)];
        document.blocks.push(Block::Facts(Facts { title: None, tone: Tone::Plain, facts }));
    }
    for omitted in &plan.omitted {
        let Said { text, advice } = words::omitted(omitted);
        let benchmark = &omitted.benchmark;
        let text = say!("plan-left-out", benchmark = benchmark, why = text, advice = advice);
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
fn is_of_a_ladder(a: &Case, b: &Case) -> bool {
    let alike = a.by == b.by && stop(&a.stopping) == stop(&b.stopping);
    if let (Workload::Storage(one), Workload::Storage(other)) = (&a.workload, &b.workload) {
        let is_next =
            one.point.is_some() && !matches!(other.point, None | Some(CurvePoint::Maximum));
        return alike && is_next && curve(a) == curve(b);
    }
    let (Workload::Latency(one), Workload::Latency(other)) = (&a.workload, &b.workload) else {
        return false;
    };
    alike && one.cpu == other.cpu
}

/// Returns the name of the response curve of a case.
fn curve(case: &Case) -> &str {
    case.id.rsplit_once('/').map_or(case.id.as_str(), |(curve, _)| curve)
}

/// Returns the common prefix of several names, such as `memory.latency/bytes=` or
/// `storage/RndRead/`, and an ellipsis.
fn ladder_name(cases: &[&Case]) -> Option<String> {
    if let [first, _, ..] = cases
        && let Workload::Storage(_) = first.workload
    {
        return Some(format!("{}/…", curve(first)));
    }
    let (name, _) = cases.first().filter(|_| cases.len() > 1)?.id.rsplit_once('=')?;
    Some(format!("{name}=…"))
}

fn ladder(cases: &[&Case], named: bool) -> Option<String> {
    let [first, .., last] = cases else { return None };
    if let Workload::Storage(maximum) = &first.workload {
        let tests = cases.iter().filter_map(|case| {
            if let Workload::Storage(test) = &case.workload { Some(&**test) } else { None }
        });
        let shares = storage::shares(&tests.collect::<Vec<_>>());
        return Some(clauses(&[storage::test_phrase(maximum, named), shares]));
    }
    let (Workload::Latency(low), Workload::Latency(high)) = (&first.workload, &last.workload)
    else {
        return None;
    };
    let [from, to] = [low.bytes, high.bytes].map(size);
    let sizes = say!("plan-sizes", low = from, high = to, n = cases.len());
    Some(clauses(&[cpus(&[low.cpu]), sizes]))
}

/// Returns the stopping rule that all cases share.
fn common_stop(plan: &Plan) -> Option<String> {
    let first = stop(&plan.cases.first()?.stopping);
    plan.cases.iter().all(|case| stop(&case.stopping) == first).then_some(first)
}

/// Returns the files and devices if all cases with targets share them: a path in every row would
/// leave no room for the differences.
fn common_target(plan: &Plan) -> Option<String> {
    let mut targets = plan.cases.iter().filter_map(|case| {
        if let Workload::Storage(test) = &case.workload {
            Some(storage::places(&test.workload))
        } else if let Workload::Files(test) = &case.workload {
            Some(storage::folders(test))
        } else {
            None
        }
    });
    let first = targets.next()?;
    targets.all(|it| it == first).then_some(first)
}

fn stopping_rule(common: Option<&str>) -> String {
    say!("plan-stops-at", stop = common.unwrap_or(word("plan-stop-as-shown")))
}

fn time(seconds: f64) -> String {
    setting(seconds, Unit::Second, 3)
}

fn stop(stopping: &Stopping) -> String {
    let (n, preparations) =
        (stopping.repetitions.to_string(), stopping.preparations.to_string());
    let often = joined(&say!("plan-repetitions", n = n, preparations = preparations));
    detailed(&format!("±{}", percent_setting(100.0 * stopping.target)), &often)
}

/// Describes the resolved parameters of a case, by its dimensions if the workload has no
/// description. `named` adds the targets, where cases differ in them.
fn resolved(case: &Case, named: bool) -> String {
    own_words(case, named).unwrap_or_else(|| {
        let dimensions = case.workload.dimensions(&case.by);
        let texts = dimensions.iter().map(|(name, value)| {
            let value = joined(&display(*name, value));
            format!("{} {value}", words::dimension(*name))
        });
        texts.collect::<Vec<_>>().join(semicolon())
    })
}

fn own_words(Case { workload, pair, .. }: &Case, named: bool) -> Option<String> {
    Some(if let Workload::Stream(work) = workload {
        let domains: Vec<String> = work.domains.iter().map(domain).collect();
        let times = grouped(&work.cache_multiple.to_string());
        let arrays = say!("plan-arrays", size = size(work.bytes_per_array), times = times);
        clauses(&[domains.join(semicolon()), arrays])
    } else if let Workload::Latency(work) = workload {
        clauses(&[cpus(&[work.cpu]), size(work.bytes)])
    } else if let Workload::PeakFlops(work) = workload {
        clauses(&[domain(&work.domain), work.instruction_set.to_string()])
    } else if let Workload::Linpack(work) = workload {
        let size = quantity(work.n as f64 * work.n as f64 * 8.0, Unit::Byte, 3);
        clauses(&[
            detailed(&format!("N\u{a0}=\u{a0}{}", work.n), &size),
            cpus(&work.cpus),
            say!("products-by", blas = work.blas.as_deref().unwrap_or("assay")),
            joined(&say!("seed", seed = work.seed.to_string())),
        ])
    } else if let Some(work) = workload.network() {
        network(work, matches!(workload, Workload::NetworkTcp(_)))
    } else if let Workload::Mpi(work) = workload {
        mpi(work, pair.as_ref())
    } else if let Workload::Storage(test) = workload {
        storage::test_phrase(test, named)
    } else if let Workload::Files(test) = workload {
        storage::files_phrase(test, named)
    } else {
        return None;
    })
}

fn network(work: &NetworkWorkload, has_congestion: bool) -> String {
    let to = say!("plan-to", to = work.to.as_deref().unwrap_or(word("plan-this-machine")));
    let port = work.port.map(|port| say!("plan-port", port = port.to_string()));
    let question = match &work.question {
        NetworkQuestion::Throughput(it) => {
            let each = |rate: u64| {
                let rate = quantity(rate as f64, Unit::BitPerSecond, 3);
                format!(" {}", say!("plan-each", rate = rate))
            };
            let parts = [
                say!("streams", n = it.streams)
                    + &it.rate_bit_per_s.map_or_else(String::new, each),
                direction(it.direction.name()),
                say!("plan-per-repetition", time = time(f64::from(it.seconds))),
            ];
            let copy = (!it.copy).then(|| word("no-copy").to_owned());
            let parts: Vec<String> = parts.into_iter().chain(copy).collect();
            let congestion = it.congestion.as_deref().unwrap_or(word("plan-own-congestion"));
            match has_congestion {
                true => clauses(&[details(&parts), congestion.to_owned()]),
                false => details(&parts),
            }
        }
        NetworkQuestion::Latency(it) => {
            let waiting = if it.spin { "plan-spinning" } else { "plan-sleeping" };
            let size = size(it.bytes);
            let rate = it.rate_per_s.map(|rate| say!("per-second", rate = rate.to_string()));
            let load = (it.load_streams > 0).then(|| say!("under-load", n = it.load_streams));
            let parts = [say!("plan-there-and-back", size = size), word(waiting).to_owned()];
            let parts: Vec<String> = parts.into_iter().chain(rate).chain(load).collect();
            details(&parts)
        }
    };
    let to: Vec<String> = [to].into_iter().chain(port).collect();
    clauses(&[to.join(" "), question])
}

fn mpi(work: &MpiWorkload, pair: Option<&Pair>) -> String {
    let place = match work.placement.cpus.as_slice() {
        [] => word("plan-placed-by-launcher").to_owned(),
        pinned => cpus(pinned),
    };
    let (hosts, file) = (&work.hosts.list, &work.hosts.file);
    let parts = [
        Some(say!("ranks", ranks = work.ranks.to_string())),
        pair.map(|pair| say!("plan-one-on", host = &pair.peer)),
        hosts.as_ref().filter(|_| pair.is_none()).map(|it| say!("plan-on-hosts", hosts = it)),
        file.as_ref().map(|file| say!("plan-on-hosts-of-file", file = file)),
        Some(place),
        Some(say!("plan-started-by", launcher = file_name(&work.mpi.launcher))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let what = format!("{} ({})", work.mpi.label(), file_name(&work.mpi.library));
    let sizes = work.test.has_sizes().then(|| {
        let [low, high] = [work.from_bytes, work.to_bytes].map(size);
        let messages = match work.from_bytes == work.to_bytes {
            true => say!("plan-messages-of", size = low),
            false => say!("plan-messages", low = low, high = high),
        };
        format!("; {messages}")
    });
    format!("{what}: {}{}", details(&parts), sizes.unwrap_or_default())
}

/// Returns the file name only: the table has no room for folders, which the plan in JSON has.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn domain(domain: &Domain) -> String {
    format!("{} ({})", domain.placement, cpus(&domain.cpus))
}

fn cpus(numbers: &[u32]) -> String {
    joined(&say!("plan-cpus", n = numbers.len(), which = ranges(numbers)))
}

/// Formats CPU numbers as ranges: `0–3,8` for 0, 1, 2, 3, 8.
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
