//! Usage of several hosts: which finished first and last, and whose CPUs or network may have been
//! the limit.

use std::collections::BTreeMap;

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::quantity::Unit;
use assay_model::run::ALL_HOSTS;
use assay_model::summary::{Estimate, Summary};

use super::context::number;
use super::rows::percent;
use crate::document::{Align, Block, Details, Document, Table};
use crate::locale::{comma, fixed, in_percent, word};
use crate::units::quantity;
use crate::words::resource;

/// Largest difference between hosts that end at the same time: it covers start and end of a
/// process, and the interval in which streams read the clock.
const TOGETHER_S: f64 = 0.1;

/// Maximum number of hosts in a sentence.
const SHOWN: usize = 4;

/// Adds the usage of each host, case by case.
pub(super) fn add(document: &mut Document, summary: &Summary) {
    let columns = [
        (word("column-case"), Align::Left),
        (word("column-host"), Align::Left),
        (word("column-done-after"), Align::Right),
        (word("resource-cpus"), Align::Right),
        (word("resource-one-cpu"), Align::Right),
        (word("resource-network"), Align::Right),
        (word("column-of-link"), Align::Right),
    ];
    let mut table = Table::new("", &columns);
    for (case, hosts) in cases(summary) {
        for (nth, estimate) in hosts.iter().enumerate() {
            let measured = |name, unit| {
                number(estimate, name).map(|it| quantity(it, unit, 3)).unwrap_or_default()
            };
            table.rows.push(vec![
                (if nth == 0 { case } else { "" }).into(),
                estimate.host.as_str().into(),
                measured(Attribute::HostDoneAfter, Unit::Second).into(),
                percent(number(estimate, Attribute::HostCpu)),
                percent(number(estimate, Attribute::HostBusiestCpu)),
                measured(Attribute::HostNetwork, Unit::BitPerSecond).into(),
                percent(number(estimate, Attribute::HostNetworkShare)),
            ]);
        }
    }
    if !table.rows.is_empty() {
        let blocks = vec![Block::Table(table.without_empty_columns())];
        let title = word("details-hosts").to_owned();
        document.blocks.push(Block::Details(Details { title, blocks }));
    }
}

/// Returns for each host the case with the highest usage of its CPUs or its network.
pub(in crate::build) fn busiest(summary: &Summary) -> Table {
    let columns = [
        (word("column-host"), Align::Left),
        (word("column-case"), Align::Left),
        (word("resource-cpus"), Align::Right),
        (word("resource-one-cpu"), Align::Right),
        (word("resource-network"), Align::Right),
        (word("column-of-link"), Align::Right),
    ];
    let shares = [Attribute::HostCpu, Attribute::HostBusiestCpu, Attribute::HostNetworkShare];
    let used =
        |it: &Estimate| shares.into_iter().filter_map(|name| number(it, name)).reduce(f64::max);
    let mut hosts: Vec<(f64, &Estimate)> = Vec::new();
    for estimate in cases(summary).into_iter().flat_map(|(_, hosts)| hosts) {
        let Some(used) = used(estimate) else { continue };
        match hosts.iter_mut().find(|(_, known)| known.host == estimate.host) {
            Some(known) if known.0 < used => *known = (used, estimate),
            Some(_) => {}
            None => hosts.push((used, estimate)),
        }
    }
    let mut table = Table::new("", &columns);
    for (_, estimate) in hosts {
        let network = number(estimate, Attribute::HostNetwork);
        let network = network.map(|it| quantity(it, Unit::BitPerSecond, 3)).unwrap_or_default();
        table.rows.push(vec![
            estimate.host.as_str().into(),
            estimate.case.as_str().into(),
            percent(number(estimate, Attribute::HostCpu)),
            percent(number(estimate, Attribute::HostBusiestCpu)),
            network.into(),
            percent(number(estimate, Attribute::HostNetworkShare)),
        ]);
    }
    table
}

/// Returns one result of each host that measured a case with others, by case in the order of the
/// plan.
fn cases(summary: &Summary) -> Vec<(&str, Vec<&Estimate>)> {
    let mut cases: Vec<(&str, Vec<&Estimate>)> = Vec::new();
    let is_watched = |it: &&Estimate| {
        it.host != ALL_HOSTS && it.parameters.contains_key(&Attribute::HostDoneAfter)
    };
    for estimate in summary.results.iter().filter(is_watched) {
        let known = cases.iter_mut().find(|(case, _)| *case == estimate.case);
        match known {
            Some((_, hosts)) if hosts.iter().any(|it| it.host == estimate.host) => {}
            Some((_, hosts)) => hosts.push(estimate),
            None => cases.push((&estimate.case, vec![estimate])),
        }
    }
    cases
}

/// Names the hosts that finished first and last, in the case with the largest difference.
pub(in crate::build) fn finishers(summary: &Summary) -> Option<String> {
    let done_s = |it: &&Estimate| number(it, Attribute::HostDoneAfter);
    let ends = |(case, hosts): (&'_ str, Vec<&'_ Estimate>)| {
        let by_end = |a: &&&Estimate, b: &&&Estimate| {
            done_s(a).unwrap_or(0.0).total_cmp(&done_s(b).unwrap_or(0.0))
        };
        let (first, last) = (*hosts.iter().min_by(by_end)?, *hosts.iter().max_by(by_end)?);
        let gap_s = done_s(&last)? - done_s(&first)?;
        (gap_s > TOGETHER_S).then(|| (gap_s, case.to_owned(), first.clone(), last.clone()))
    };
    let all = cases(summary).into_iter().filter_map(ends);
    let (_, case, first, last) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let when = |it: &Estimate| quantity(done_s(&it).unwrap_or(0.0), Unit::Second, 3);
    Some(say!(
        "answer-finishers",
        case = case,
        first = &first.host,
        first_after = when(&first),
        last = &last.host,
        last_after = when(&last),
    ))
}

/// Names the saturated hosts with the resource, the highest usage first.
pub(in crate::build) fn saturated(summary: &Summary) -> Option<String> {
    let mut hosts: BTreeMap<&str, (f64, String)> = BTreeMap::new();
    for doubt in summary.results.iter().flat_map(|estimate| &estimate.warnings) {
        if let Doubt::HostSaturated { host, resource: used, share } = doubt
            && hosts.get(host.as_str()).is_none_or(|known| known.0 < *share)
        {
            let percent = in_percent(&fixed(100.0 * share, 0));
            hosts.insert(
                host,
                (*share, format!("{host} ({} {percent})", word(resource(*used)))),
            );
        }
    }
    let mut sorted: Vec<(f64, String)> = hosts.into_values().collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more = sorted.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| say!("and-more", n = more));
    let texts: Vec<String> =
        sorted.into_iter().take(SHOWN).map(|(_, text)| text).chain(more).collect();
    (!texts.is_empty()).then(|| say!("answer-saturated", hosts = texts.join(comma())))
}
