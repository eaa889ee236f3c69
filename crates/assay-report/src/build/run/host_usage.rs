//! Usage of several hosts: which finished first and last, and whose CPUs or network may have been
//! the limit.

use std::collections::BTreeMap;

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::quantity::Unit;
use assay_model::run::ALL_HOSTS;
use assay_model::summary::{MetricEstimate, RunSummary};

use super::cells::percent;
use super::estimate_parts::{benchmark_name, number};
use crate::build::comparison::case_label_of;
use crate::document::{Block, ColumnCell, Details, Document, ReportTable, left, right};
use crate::first_seen::{group_by, group_pairs};
use crate::locale::{comma, format_fixed, in_percent, join_details, word};
use crate::units::quantity;
use crate::words::resource;

/// Largest difference between hosts that end at the same time: it covers start and end of a
/// process, and the interval in which streams read the clock.
const SAME_END_S: f64 = 0.1;

/// Maximum number of hosts in a sentence.
const MAX_NAMED_HOSTS: usize = 4;

/// Adds the usage of each host, case by case.
pub(super) fn add(document: &mut Document, summary: &RunSummary) {
    let mut table = ReportTable::with_caption("");
    for (_, hosts) in cases_with_hosts(summary) {
        for (nth, estimate) in hosts.iter().enumerate() {
            let done_after = number(estimate, Attribute::HostDoneAfter);
            let done_after = done_after.map(|it| quantity(it, Unit::Second, 3));
            let mut row = vec![
                left(
                    word("column-case"),
                    if nth == 0 { case_name(estimate) } else { String::new() },
                ),
                left(word("column-host"), &*estimate.host),
                right(word("column-done-after"), done_after.unwrap_or_default()),
            ];
            row.extend(resource_columns(estimate));
            table.push(row);
        }
    }
    if !table.rows.is_empty() {
        let blocks = vec![Block::Table(table.without_empty_columns())];
        let title = word("details-hosts").to_owned();
        document.blocks.push(Block::Details(Details { title, blocks }));
    }
}

/// Returns for each host the case with the highest usage of its CPUs or its network.
pub(in crate::build) fn busiest_table(summary: &RunSummary) -> ReportTable {
    let shares = [Attribute::HostCpu, Attribute::HostBusiestCpu, Attribute::HostNetworkShare];
    let used = |it: &MetricEstimate| {
        shares.into_iter().filter_map(|name| number(it, name)).reduce(f64::max)
    };
    let mut hosts: Vec<(f64, &MetricEstimate)> = Vec::new();
    for estimate in cases_with_hosts(summary).into_iter().flat_map(|(_, hosts)| hosts) {
        let Some(used) = used(estimate) else { continue };
        match hosts.iter_mut().find(|(_, known)| known.host == estimate.host) {
            Some(known) if known.0 < used => *known = (used, estimate),
            Some(_) => {}
            None => hosts.push((used, estimate)),
        }
    }
    let mut table = ReportTable::with_caption("");
    for (_, estimate) in hosts {
        let names = [
            left(word("column-host"), &*estimate.host),
            left(word("column-case"), case_name(estimate)),
        ];
        table.push(names.into_iter().chain(resource_columns(estimate)));
    }
    table
}

/// Names the benchmark of a result and the attributes that distinguish its case.
fn case_name(estimate: &MetricEstimate) -> String {
    let case = case_label_of(estimate);
    let parts = [benchmark_name(&estimate.benchmark), case];
    join_details(&parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>())
}

/// Returns the load of a host's resources.
fn resource_columns(estimate: &MetricEstimate) -> [ColumnCell; 4] {
    let network = number(estimate, Attribute::HostNetwork);
    let network = network.map(|it| quantity(it, Unit::BitPerSecond, 3)).unwrap_or_default();
    let share = |name| percent(number(estimate, name));
    [
        right(word("resource-cpus"), share(Attribute::HostCpu)),
        right(word("resource-one-cpu"), share(Attribute::HostBusiestCpu)),
        right(word("resource-network"), network),
        right(word("column-of-link"), share(Attribute::HostNetworkShare)),
    ]
}

/// Returns one result of each host that measured a case with others, by case in the order of the
/// plan.
fn cases_with_hosts<'s>(summary: &'s RunSummary) -> Vec<(&'s str, Vec<&'s MetricEstimate>)> {
    let is_watched = |it: &&MetricEstimate| {
        it.host != ALL_HOSTS && it.parameters.contains_key(&Attribute::HostDoneAfter)
    };
    let watched = summary.results.iter().filter(is_watched);
    let cases = group_pairs(watched.map(|it| (it.case.as_str(), it))).into_iter();
    let first_of_hosts = |(case, all): (_, Vec<&'s MetricEstimate>)| {
        let of_hosts = group_by(all, |it| it.host.clone()).into_iter();
        (case, of_hosts.map(|of_host| of_host[0]).collect())
    };
    cases.map(first_of_hosts).collect()
}

/// Names the hosts that finished first and last, in the case with the largest difference.
pub(in crate::build) fn describe_finishers(summary: &RunSummary) -> Option<String> {
    let done_s = |it: &&MetricEstimate| number(it, Attribute::HostDoneAfter);
    let ends = |(_, hosts): (&'_ str, Vec<&'_ MetricEstimate>)| {
        let by_end = |a: &&&MetricEstimate, b: &&&MetricEstimate| {
            done_s(a).unwrap_or(0.0).total_cmp(&done_s(b).unwrap_or(0.0))
        };
        let (first, last) = (*hosts.iter().min_by(by_end)?, *hosts.iter().max_by(by_end)?);
        let gap_s = done_s(&last)? - done_s(&first)?;
        (gap_s > SAME_END_S).then(|| (gap_s, first.clone(), last.clone()))
    };
    let all = cases_with_hosts(summary).into_iter().filter_map(ends);
    let (_, first, last) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let when = |it: &MetricEstimate| quantity(done_s(&it).unwrap_or(0.0), Unit::Second, 3);
    Some(message!(
        "answer-finishers",
        case = case_name(&first),
        first = &first.host,
        first_after = when(&first),
        last = &last.host,
        last_after = when(&last),
    ))
}

/// Names the saturated hosts with the resource, the highest usage first.
pub(in crate::build) fn describe_saturated(summary: &RunSummary) -> Option<String> {
    let mut hosts: BTreeMap<&str, (f64, String)> = BTreeMap::new();
    for doubt in summary.results.iter().flat_map(|estimate| &estimate.warnings) {
        if let Doubt::HostSaturated { host, resource: used, share } = doubt
            && hosts.get(host.as_str()).is_none_or(|known| known.0 < *share)
        {
            let percent = in_percent(&format_fixed(100.0 * share, 0));
            hosts.insert(
                host,
                (*share, format!("{host} ({} {percent})", word(resource(*used)))),
            );
        }
    }
    let mut sorted: Vec<(f64, String)> = hosts.into_values().collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more = sorted.len().saturating_sub(MAX_NAMED_HOSTS);
    let more = (more > 0).then(|| message!("and-more", n = more));
    let texts: Vec<String> =
        sorted.into_iter().take(MAX_NAMED_HOSTS).map(|(_, text)| text).chain(more).collect();
    (!texts.is_empty()).then(|| message!("answer-saturated", hosts = texts.join(comma())))
}
