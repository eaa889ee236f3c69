//! Differences between hosts that should be identical.

use std::collections::BTreeMap;

use serde::Serialize;

use super::HostFacts;
use crate::finding::{CheckOutcome, DoctorFinding};

/// Property in which hosts differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostDifference<'a> {
    /// Its name: `kernel`, `transparent_hugepage/enabled`, `check cpu.governor`.
    pub what: String,
    /// Each value with its hosts, the most frequent first.
    pub values: Vec<(String, Vec<&'a str>)>,
}

/// Properties of one host, for the comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparedHost<'a> {
    /// The name by which the user refers to it.
    pub name: &'a str,
    pub facts: &'a HostFacts,
    pub findings: &'a [DoctorFinding],
}

/// Lists all properties in which the hosts differ: facts, settings and results of checks. Excludes
/// values that vary by themselves: load, available memory, measured frequencies.
pub fn find_differences<'a>(hosts: &[ComparedHost<'a>]) -> Vec<HostDifference<'a>> {
    let mut columns: BTreeMap<(u8, String), BTreeMap<String, Vec<&'a str>>> = BTreeMap::new();
    let all: Vec<_> = hosts.iter().map(|host| (host.name, comparable_values(host))).collect();
    for key in all.iter().flat_map(|(_, values)| values.keys()) {
        columns.entry(key.clone()).or_default();
    }
    for (key, column) in &mut columns {
        for (name, values) in &all {
            let value = values.get(key).map_or("-", String::as_str);
            column.entry(value.to_owned()).or_default().push(name);
        }
    }
    let differing = columns.into_iter().filter(|(_, column)| column.len() > 1);
    differing
        .map(|((_, what), column)| {
            let mut values: Vec<_> = column.into_iter().collect();
            values.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
            HostDifference { what, values }
        })
        .collect()
}

/// Returns names and values, in groups that keep their order.
fn comparable_values(host: &ComparedHost<'_>) -> BTreeMap<(u8, String), String> {
    let facts = host.facts;
    let or_dash = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let on_or_off =
        |value: Option<bool>| value.map_or("-", |on| if on { "on" } else { "off" }).to_owned();
    let mut sockets: Vec<u32> = facts.topology.cpus.iter().map(|cpu| cpu.socket).collect();
    sockets.sort_unstable();
    sockets.dedup();
    let properties = [
        ("kind of machine", facts.fingerprint.clone()),
        ("product", or_dash(&facts.system.product)),
        ("virtualization", or_dash(&facts.system.virtualization)),
        ("CPU", facts.cpu.model.clone()),
        ("microcode", or_dash(&facts.cpu.microcode)),
        ("CPUs", facts.topology.cpus.len().to_string()),
        ("sockets", sockets.len().to_string()),
        ("NUMA nodes", facts.topology.numa.len().to_string()),
        ("SMT", on_or_off(facts.cpu.smt)),
        ("boost", on_or_off(facts.cpu.boost)),
        ("governor", or_dash(&facts.cpu.governor)),
        // Firmware reserves some memory, in amounts that vary between boots.
        ("memory", format!("{:.1} GiB", facts.memory.total_bytes as f64 / f64::from(1 << 30))),
        ("distribution", or_dash(&facts.system.distribution)),
        ("kernel", facts.system.kernel.clone()),
        ("kernel parameters", or_dash(&facts.system.kernel_command_line)),
        ("clock source", or_dash(&facts.system.clock_source)),
    ];
    let mut values: BTreeMap<(u8, String), String> =
        properties.into_iter().map(|(name, value)| ((0, name.to_owned()), value)).collect();
    for (group, map) in [(1, &facts.versions), (2, &facts.settings), (3, &facts.mitigations)] {
        values.extend(map.iter().map(|(name, value)| ((group, name.clone()), value.clone())));
    }
    let checks = host.findings.iter().map(|it| {
        let outcome = match it.outcome {
            CheckOutcome::Ok => "as expected",
            CheckOutcome::Deviates => "deviates",
            CheckOutcome::NotVisible => "not observable",
            CheckOutcome::Unreadable => "could not be read",
        };
        ((4, format!("check {}", it.id)), outcome.to_owned())
    });
    values.extend(checks);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_differences_most_frequent_first() {
        let old = HostFacts {
            name: "a".to_owned(),
            settings: [("vm.swappiness".to_owned(), "60".to_owned())].into(),
            ..HostFacts::default()
        };
        let mut new = HostFacts { name: "b".to_owned(), ..HostFacts::default() };
        new.system.kernel = "6.12".to_owned();
        new.memory.available_bytes = 5;
        let host = |name, facts| ComparedHost { name, facts, findings: &[] };
        let found =
            find_differences(&[host("vm1", &new), host("vm2", &old), host("vm3", &old)]);
        let expected = [
            ("kernel", [("", vec!["vm2", "vm3"]), ("6.12", vec!["vm1"])]),
            ("vm.swappiness", [("60", vec!["vm2", "vm3"]), ("-", vec!["vm1"])]),
        ];
        let expected = expected.map(|(what, values)| HostDifference {
            what: what.to_owned(),
            values: values.map(|(value, hosts)| (value.to_owned(), hosts)).into(),
        });
        assert_eq!(found, expected);
        assert!(find_differences(&[host("vm2", &old), host("vm3", &old)]).is_empty());
    }
}
