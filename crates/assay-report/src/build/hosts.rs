//! Report of `assay doctor --hosts`: unreachable hosts, differences between hosts, and deviations
//! with their hosts.

use std::collections::BTreeMap;

use assay_model::facts::difference::{Compared, differences};
use assay_model::finding::{Finding, Outcome, Severity};
use assay_model::quantity::Unit;

use super::findings::{expected, observed, of_check, severity};
use crate::document::{Align, Block, Cell, Document, Facts, Table, Tone};
use crate::locale::{semicolon, word};
use crate::units::quantity;

/// Host that was examined.
#[derive(Debug, Clone, Copy)]
pub struct Host<'a> {
    /// Name in the list of hosts, facts and findings.
    pub compared: Compared<'a>,
    /// Offset of its clock from the local clock, and the bound of its error, in seconds.
    pub clock_offset_s: (f64, f64),
}

/// Host that did not respond.
#[derive(Debug, Clone)]
pub struct Unreached<'a> {
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
    examined: &[Host<'_>],
    unreached: &[Unreached<'_>],
    short: &dyn Fn(&[&str]) -> String,
) -> Document {
    let count = examined.len() + unreached.len();
    let mut document = Document::new(say!("hosts-title", n = count));
    if !unreached.is_empty() {
        let few = unreached.len().to_string();
        let text = say!("hosts-unreached", few = few, n = count);
        document.paragraph(Tone::Bad, text);
        unreached_hosts(&mut document, unreached);
    }
    if examined.is_empty() {
        return document;
    }
    document.heading(word("hosts-heading"));
    document.blocks.push(Block::Table(overview(examined)));
    let compared: Vec<Compared<'_>> = examined.iter().map(|host| host.compared).collect();
    what_differs(&mut document, &compared, short);
    deviations(&mut document, &compared, short);
    document
}

/// Adds the hosts that did not respond, with reasons.
pub(super) fn unreached_hosts(document: &mut Document, unreached: &[Unreached<'_>]) {
    if !unreached.is_empty() {
        document.heading(word("hosts-without-answer"));
        document.blocks.extend(unreached.iter().map(no_answer));
    }
}

fn no_answer(host: &Unreached<'_>) -> Block {
    let facts = [(word("column-why"), &host.reason), (word("hosts-help"), &host.advice)];
    let known = facts.into_iter().filter(|(_, text)| !text.is_empty());
    Block::Facts(Facts {
        title: Some(host.name.to_owned()),
        tone: Tone::Bad,
        facts: known.map(|(name, text)| (name.to_owned(), text.clone())).collect(),
    })
}

fn overview(hosts: &[Host<'_>]) -> Table {
    let columns = [
        (word("column-host"), Align::Left),
        (word("column-host-name"), Align::Left),
        (word("column-cpus"), Align::Right),
        (word("column-invalidate"), Align::Right),
        (word("column-skew"), Align::Right),
        (word("column-notes"), Align::Right),
        (word("column-clock-offset"), Align::Right),
    ];
    let mut table = Table::new(word("hosts-table"), &columns);
    for host in hosts {
        let Compared { name, facts, findings } = host.compared;
        let count = |severity| {
            let deviates =
                |it: &&Finding| it.outcome == Outcome::Deviates && it.severity == severity;
            findings.iter().filter(deviates).count()
        };
        let [blocks, skews, notes] =
            [Severity::Blocks, Severity::Skews, Severity::Note].map(count);
        let (offset_s, bound_s) = host.clock_offset_s;
        let clock = format!(
            "{} ± {}",
            quantity(offset_s, Unit::Second, 2),
            quantity(bound_s, Unit::Second, 2)
        );
        let counts = [facts.topology.cpus.len(), blocks, skews, notes].map(|n| n.to_string());
        let cells =
            [name.to_owned(), facts.name.clone()].into_iter().chain(counts).chain([clock]);
        table.rows.push(cells.map(Cell::from).collect());
    }
    table
}

fn what_differs(
    document: &mut Document,
    hosts: &[Compared<'_>],
    short: &dyn Fn(&[&str]) -> String,
) {
    if hosts.len() < 2 {
        return;
    }
    document.heading(word("hosts-differ"));
    let columns = [
        (word("column-what"), Align::Left),
        (word("column-value"), Align::Left),
        (word("column-hosts"), Align::Left),
    ];
    let mut table = Table::new("", &columns);
    for difference in differences(hosts) {
        for (number, (value, names)) in difference.values.into_iter().enumerate() {
            let what = if number == 0 { difference.what.clone() } else { String::new() };
            table.rows.push(vec![what.into(), value.into(), short(&names).into()]);
        }
    }
    if table.rows.is_empty() {
        document.paragraph(Tone::Plain, word("hosts-alike"));
    } else {
        document.blocks.push(Block::Table(table));
    }
}

/// Adds each deviating check once, with its hosts.
fn deviations(
    document: &mut Document,
    hosts: &[Compared<'_>],
    short: &dyn Fn(&[&str]) -> String,
) {
    let mut found: BTreeMap<_, Vec<(&str, &Finding)>> = BTreeMap::new();
    for host in hosts {
        let deviating = host.findings.iter().filter(|it| it.outcome == Outcome::Deviates);
        for it in deviating {
            let place = (std::cmp::Reverse(it.severity), it.id.as_str());
            found.entry(place).or_default().push((host.name, it));
        }
    }
    if found.is_empty() {
        document.paragraph(Tone::Plain, word("doctor-no-deviation"));
        return;
    }
    document.heading(word("doctor-deviations"));
    for all in found.into_values() {
        let first = all[0].1;
        let mut seen: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, it) in &all {
            seen.entry(observed(it)).or_default().push(name);
        }
        let observed =
            seen.into_iter().map(|(text, names)| format!("{}: {text}", short(&names)));
        let observed = observed.collect::<Vec<_>>().join(semicolon());
        let facts = [
            (word("column-observed"), observed.as_str()),
            (word("column-expected"), expected(first)),
            (word("column-why"), of_check(first, "why", &first.why)),
            (word("column-change"), of_check(first, "change", &first.change)),
        ];
        let known = facts.into_iter().filter(|(_, value)| !value.is_empty());
        let (tone, words) = severity(first.severity);
        document.blocks.push(Block::Facts(Facts {
            title: Some(format!("{}: {words}", first.id)),
            tone,
            facts: known.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        }));
    }
    document.paragraph(Tone::Quiet, word("doctor-no-change"));
}
