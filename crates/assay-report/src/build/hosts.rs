//! Report of `assay doctor --hosts`: unreachable hosts, differences between hosts, and deviations
//! with their hosts.

use std::collections::BTreeMap;

use assay_model::facts::difference::{ComparedHost, find_differences};
use assay_model::finding::{CheckOutcome, DoctorFinding, FindingSeverity};
use assay_model::quantity::Unit;

use super::findings::{deviation_block, observed_text};
use crate::document::{Block, Document, FactTable, ReportTable, Tone, left, right};
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
    let mut table = ReportTable::with_caption(word("hosts-table"));
    for host in hosts {
        let ComparedHost { name, facts, findings } = host.compared;
        let count = |severity| {
            let deviates = |it: &&DoctorFinding| {
                it.outcome == CheckOutcome::Deviates && it.severity == severity
            };
            findings.iter().filter(deviates).count().to_string()
        };
        let (offset_s, bound_s) = host.clock_offset_s;
        let clock = format!(
            "{} ± {}",
            quantity(offset_s, Unit::Second, 2),
            quantity(bound_s, Unit::Second, 2)
        );
        table.push([
            left(word("column-host"), name),
            left(word("column-host-name"), &*facts.name),
            right(word("column-cpus"), facts.topology.cpus.len().to_string()),
            right(word("column-invalidate"), count(FindingSeverity::Blocks)),
            right(word("column-skew"), count(FindingSeverity::Skews)),
            right(word("column-notes"), count(FindingSeverity::Note)),
            right(word("column-clock-offset"), clock),
        ]);
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
    let mut table = ReportTable::with_caption("");
    for difference in find_differences(hosts) {
        for (index, (value, names)) in difference.values.into_iter().enumerate() {
            let property = if index == 0 { difference.what.clone() } else { String::new() };
            table.push([
                left(word("column-what"), property),
                left(word("column-value"), value),
                left(word("column-hosts"), short(&names)),
            ]);
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
        document.blocks.push(deviation_block(first, &observed, ""));
    }
    document.paragraph(Tone::Quiet, word("doctor-no-change"));
}
