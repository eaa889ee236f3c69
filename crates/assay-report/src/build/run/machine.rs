//! All facts about the hosts, for checking whether runs are comparable.

use std::collections::BTreeMap;

use assay_model::facts::{CpuFacts, HostFacts};
use assay_model::quantity::Unit;
use assay_model::summary::RunSummary;

use crate::document::{Block, Details, Document, FactTable, Tone};
use crate::first_seen::group_pairs;
use crate::locale::{comma, format_fact, group_digits, localise_list, word};
use crate::units::{quantity, size};
use crate::words;

pub(super) fn add(document: &mut Document, summary: &RunSummary) {
    let blocks = host_blocks(&summary.hosts);
    if !blocks.is_empty() {
        let details = Details { title: word("details-machine").to_owned(), blocks };
        document.blocks.push(Block::Details(details));
    }
}

type FactList = Vec<(String, String)>;
type FactReader<'f> = &'f dyn Fn(&HostFacts) -> FactList;

/// Returns the facts by topic. Hosts with equal facts share a block, since hundreds of nodes are of
/// a few kinds.
fn host_blocks(hosts: &[HostFacts]) -> Vec<Block> {
    let named = |map: &BTreeMap<String, String>| -> FactList {
        map.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let parts: [(&str, FactReader<'_>); 5] = [
        ("machine-hardware", &|host| {
            [processor_facts(&host.cpu), topology_facts(host)].concat()
        }),
        ("machine-system", &system_facts),
        ("machine-settings", &|host| named(&host.settings)),
        ("machine-mitigations", &|host| named(&host.mitigations)),
        ("machine-versions", &|host| named(&host.versions)),
    ];
    let mut blocks = Vec::new();
    for (title, facts) in parts {
        let mut kinds = group_pairs(hosts.iter().map(|host| (facts(host), host.name.as_str())));
        kinds.retain(|(facts, _)| !facts.is_empty());
        blocks.extend(kinds.into_iter().map(|(facts, names)| {
            let title = Some(format_fact(&words::hosts(&names), word(title)));
            Block::Facts(FactTable { title, tone: Tone::Plain, facts })
        }));
    }
    blocks
}

/// Drops facts that are not visible.
fn known_facts<const N: usize>(facts: [(&str, Option<String>); N]) -> Vec<(String, String)> {
    let filled = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    filled
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (word(name).to_owned(), value))
        .collect()
}

fn processor_facts(cpu: &CpuFacts) -> Vec<(String, String)> {
    let hertz = |value: Option<f64>| value.map(|value| quantity(value, Unit::Hertz, 3));
    let switch =
        |value: Option<bool>| value.map(|on| word(if on { "on" } else { "off" }).to_owned());
    known_facts([
        ("fact-processor", Some(cpu.model.clone())),
        ("fact-vendor", Some(cpu.vendor.clone())),
        ("fact-family-model-stepping", cpu.signature.clone()),
        ("fact-microcode", cpu.microcode.clone()),
        ("fact-nominal-frequency", hertz(cpu.nominal_hz)),
        ("fact-maximum-frequency", hertz(cpu.maximum_hz)),
        ("fact-governor", cpu.governor.clone()),
        ("fact-boost", switch(cpu.boost)),
        ("fact-smt", switch(cpu.smt)),
    ])
}

fn topology_facts(host: &HostFacts) -> Vec<(String, String)> {
    let mut caches: Vec<(u8, u64)> =
        host.topology.caches.iter().map(|cache| (cache.level, cache.bytes)).collect();
    caches.sort_unstable();
    let kinds: std::collections::BTreeSet<_> = caches.iter().copied().collect();
    let cache = |kind: &(u8, u64)| {
        let count = caches.iter().filter(|cache| *cache == kind).count();
        format!("{count} × {} L{}", size(kind.1), kind.0)
    };
    let cores = host.topology.one_cpu_per_core(&host.topology.cpu_ids()).len();
    // Files of other tools describe a machine in part: a count of zero means unknown.
    let known = |count: usize| Some(count).filter(|count| *count > 0);
    let memory = Some(host.memory.total_bytes).filter(|bytes| *bytes > 0);
    known_facts([
        (
            "fact-cpus",
            known(host.topology.cpus.len())
                .map(|cpus| message!("cpus-on-cores", cpus = cpus, cores = cores)),
        ),
        ("fact-caches", Some(kinds.iter().map(cache).collect::<Vec<_>>().join(comma()))),
        ("fact-numa-nodes", known(host.topology.node_count()).map(|nodes| nodes.to_string())),
        ("fact-memory", memory.map(|bytes| quantity(bytes as f64, Unit::Byte, 4))),
        (
            "fact-memory-modules",
            host.memory.modules.as_ref().map(|modules| modules.len().to_string()),
        ),
        ("fact-huge-page", host.memory.huge_page_bytes.map(size)),
    ])
}

fn system_facts(host: &HostFacts) -> Vec<(String, String)> {
    let system = &host.system;
    let bytes = |value: Option<u64>| value.map(|value| quantity(value as f64, Unit::Byte, 4));
    known_facts([
        ("fact-distribution", system.distribution.clone()),
        (
            "fact-kernel",
            Some(format!("{} {}", system.kernel, system.architecture).trim().to_owned()),
        ),
        ("fact-kernel-command-line", system.kernel_command_line.clone()),
        ("fact-virtualisation", system.virtualization.as_deref().map(localise_list)),
        ("fact-product", system.product.clone()),
        ("fact-clock-source", system.clock_source.clone()),
        (
            "fact-cpu-quota",
            host.limits
                .cpu_quota
                .map(|quota| message!("cpus", n = group_digits(&quota.to_string()))),
        ),
        ("fact-memory-limit-of-the-control-group", bytes(host.limits.memory_available_bytes)),
        ("fact-fingerprint", Some(host.fingerprint.clone())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hosts_with_equal_facts() {
        let host = |number: u32| HostFacts {
            name: format!("n{number}"),
            cpu: CpuFacts { vendor: "x".to_owned(), ..CpuFacts::default() },
            versions: [(
                "kernel".to_owned(),
                if number == 7 { "6.2" } else { "6.1" }.to_owned(),
            )]
            .into(),
            ..HostFacts::default()
        };
        let all: Vec<HostFacts> = (1..=200).map(host).collect();
        let titles = host_blocks(&all).into_iter().filter_map(|block| match block {
            Block::Facts(facts) => facts.title,
            _ => None,
        });
        let expected =
            ["n[1-200] (200): hardware", "n[1-6,8-200] (199): versions", "n7: versions"];
        assert_eq!(titles.collect::<Vec<_>>(), expected);
    }
}
