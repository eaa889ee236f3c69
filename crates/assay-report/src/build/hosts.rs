//! Report of `assay doctor --hosts`: unreachable hosts, differences between hosts, and deviations
//! with their hosts.

use std::collections::BTreeMap;

use assay_model::facts::difference::{ComparedHost, find_differences};
use assay_model::finding::{CheckOutcome, DoctorFinding, FindingSeverity};
use assay_model::quantity::Unit;

use super::findings::{expected_text, observed_text, severity, translated_check};
use crate::document::{
    Block, ColumnAlignment, Document, FactTable, ReportTable, TableCell, Tone,
};
use crate::locale::{semicolon, word};
use crate::units::quantity;

/// Host that was examined.
#[derive(Debug, Clone, Copy)]
pub struct ExaminedHost<'a> {
    /// Name in the list of hosts, facts and findings.
    pub compared: ComparedHost<'a>,
    /// Offset of its clock from the local clock, and the bound of its error, in seconds.
    pub clock_offset_s: (f64, f64),
}

/// Host that did not respond.
#[derive(Debug, Clone)]
pub struct UnreachableHost<'a> {
    /// Name in the list of hosts.
    pub name: &'a str,
    /// Reason why it was not reached.
    pub reason: String,
    /// Advice to the user.
    pub advice: String,
}

/// Builds the report over many hosts. `short` formats a list of hosts.
#[must_use]
pub fn hosts(
    examined: &[ExaminedHost<'_>],
    unreached: &[UnreachableHost<'_>],
    short: &dyn Fn(&[&str]) -> String,
) -> Document {
    let count = examined.len() + unreached.len();
    let mut document = Document::new(message!("hosts-title", n = count));
    if !unreached.is_empty() {
        let few = unreached.len().to_string();
        let text = message!("hosts-unreached", few = few, n = count);
        document.paragraph(Tone::Bad, text);
        add_unreachable_hosts(&mut document, unreached);
    }
    if examined.is_empty() {
        return document;
    }
    document.heading(word("hosts-heading"));
    document.blocks.push(Block::Table(overview_table(examined)));
    let compared: Vec<ComparedHost<'_>> = examined.iter().map(|host| host.compared).collect();
    add_differences(&mut document, &compared, short);
    add_deviations(&mut document, &compared, short);
    document
}

/// Adds the hosts that did not respond, with reasons.
pub(super) fn add_unreachable_hosts(
    document: &mut Document,
    unreached: &[UnreachableHost<'_>],
) {
    if !unreached.is_empty() {
        document.heading(word("hosts-without-answer"));
        document.blocks.extend(unreached.iter().map(unreachable_block));
    }
}

fn unreachable_block(host: &UnreachableHost<'_>) -> Block {
    let facts = [(word("column-why"), &host.reason), (word("hosts-help"), &host.advice)];
    let present = facts.into_iter().filter(|(_, text)| !text.is_empty());
    Block::Facts(FactTable {
        title: Some(host.name.to_owned()),
        tone: Tone::Bad,
        facts: present.map(|(name, text)| (name.to_owned(), text.clone())).collect(),
    })
}

fn overview_table(hosts: &[ExaminedHost<'_>]) -> ReportTable {
    let columns = [
        (word("column-host"), ColumnAlignment::Left),
        (word("column-host-name"), ColumnAlignment::Left),
        (word("column-cpus"), ColumnAlignment::Right),
        (word("column-invalidate"), ColumnAlignment::Right),
        (word("column-skew"), ColumnAlignment::Right),
        (word("column-notes"), ColumnAlignment::Right),
        (word("column-clock-offset"), ColumnAlignment::Right),
    ];
    let mut table = ReportTable::new(word("hosts-table"), &columns);
    for host in hosts {
        let ComparedHost { name, facts, findings } = host.compared;
        let count = |severity| {
            let deviates = |it: &&DoctorFinding| {
                it.outcome == CheckOutcome::Deviates && it.severity == severity
            };
            findings.iter().filter(deviates).count()
        };
        let [blocks, skews, notes] =
            [FindingSeverity::Blocks, FindingSeverity::Skews, FindingSeverity::Note].map(count);
        let (offset_s, bound_s) = host.clock_offset_s;
        let clock = format!(
            "{} ± {}",
            quantity(offset_s, Unit::Second, 2),
            quantity(bound_s, Unit::Second, 2)
        );
        let counts = [facts.topology.cpus.len(), blocks, skews, notes].map(|n| n.to_string());
        let cells =
            [name.to_owned(), facts.name.clone()].into_iter().chain(counts).chain([clock]);
        table.rows.push(cells.map(TableCell::from).collect());
    }
    table
}

fn add_differences(
    document: &mut Document,
    hosts: &[ComparedHost<'_>],
    short: &dyn Fn(&[&str]) -> String,
) {
    if hosts.len() < 2 {
        return;
    }
    document.heading(word("hosts-differ"));
    let columns = [
        (word("column-what"), ColumnAlignment::Left),
        (word("column-value"), ColumnAlignment::Left),
        (word("column-hosts"), ColumnAlignment::Left),
    ];
    let mut table = ReportTable::new("", &columns);
    for difference in find_differences(hosts) {
        for (index, (value, names)) in difference.values.into_iter().enumerate() {
            let property = if index == 0 { difference.what.clone() } else { String::new() };
            table.rows.push(vec![property.into(), value.into(), short(&names).into()]);
        }
    }
    if table.rows.is_empty() {
        document.paragraph(Tone::Plain, word("hosts-alike"));
    } else {
        document.blocks.push(Block::Table(table));
    }
}

/// Adds each deviating check once, with its hosts.
fn add_deviations(
    document: &mut Document,
    hosts: &[ComparedHost<'_>],
    short: &dyn Fn(&[&str]) -> String,
) {
    let mut by_check: BTreeMap<_, Vec<(&str, &DoctorFinding)>> = BTreeMap::new();
    for host in hosts {
        let deviating = host.findings.iter().filter(|it| it.outcome == CheckOutcome::Deviates);
        for it in deviating {
            let key = (std::cmp::Reverse(it.severity), it.id.as_str());
            by_check.entry(key).or_default().push((host.name, it));
        }
    }
    if by_check.is_empty() {
        document.paragraph(Tone::Plain, word("doctor-no-deviation"));
        return;
    }
    document.heading(word("doctor-deviations"));
    for findings in by_check.into_values() {
        let first = findings[0].1;
        let mut hosts_by_value: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, it) in &findings {
            hosts_by_value.entry(observed_text(it)).or_default().push(name);
        }
        let observed = hosts_by_value
            .into_iter()
            .map(|(text, names)| format!("{}: {text}", short(&names)));
        let observed = observed.collect::<Vec<_>>().join(semicolon());
        let facts = [
            (word("column-observed"), observed.as_str()),
            (word("column-expected"), expected_text(first)),
            (word("column-why"), translated_check(first, "why", &first.why)),
            (word("column-change"), translated_check(first, "change", &first.change)),
        ];
        let present = facts.into_iter().filter(|(_, value)| !value.is_empty());
        let (tone, words) = severity(first.severity);
        document.blocks.push(Block::Facts(FactTable {
            title: Some(format!("{}: {words}", first.id)),
            tone,
            facts: present.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        }));
    }
    document.paragraph(Tone::Quiet, word("doctor-no-change"));
}
