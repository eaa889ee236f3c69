//! All facts about the hosts, for the reader who wants to know whether runs can be compared.

use assay_model::facts::{CpuFacts, HostFacts};
use assay_model::quantity::Unit;

use assay_model::summary::Summary;

use crate::document::{Block, Details, Document, Facts, Tone};
use crate::locale::{grouped, word};
use crate::units::{quantity, size};

pub(super) fn add(document: &mut Document, summary: &Summary) {
    let blocks: Vec<Block> = summary.hosts.iter().flat_map(host).collect();
    if !blocks.is_empty() {
        let details = Details { title: word("details-machine").to_owned(), blocks };
        document.blocks.push(Block::Details(details));
    }
}

fn host(host: &HostFacts) -> Vec<Block> {
    let list = |title: &str, facts: Vec<(String, String)>| {
        let title = Some(format!("{}: {}", host.name, word(title)));
        Block::Facts(Facts { title, tone: Tone::Plain, facts })
    };
    let named = |map: &std::collections::BTreeMap<String, String>| {
        map.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>()
    };
    let parts = [
        ("machine-hardware", [processor(&host.cpu), topology(host)].concat()),
        ("machine-system", system(host)),
        ("machine-settings", named(&host.settings)),
        ("machine-mitigations", named(&host.mitigations)),
        ("machine-versions", named(&host.versions)),
    ];
    parts
        .into_iter()
        .filter(|(_, facts)| !facts.is_empty())
        .map(|(title, facts)| list(title, facts))
        .collect()
}

/// Facts that are known; what is not visible is left out.
fn known<const N: usize>(facts: [(&str, Option<String>); N]) -> Vec<(String, String)> {
    let filled = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    filled
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (word(name).to_owned(), value))
        .collect()
}

fn processor(cpu: &CpuFacts) -> Vec<(String, String)> {
    let hertz = |value: Option<f64>| value.map(|value| quantity(value, Unit::Hertz, 3));
    let switch =
        |value: Option<bool>| value.map(|on| word(if on { "on" } else { "off" }).to_owned());
    known([
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

fn topology(host: &HostFacts) -> Vec<(String, String)> {
    let mut caches: Vec<(u8, u64)> =
        host.topology.caches.iter().map(|cache| (cache.level, cache.bytes)).collect();
    caches.sort_unstable();
    let kinds: std::collections::BTreeSet<_> = caches.iter().copied().collect();
    let cache = |kind: &(u8, u64)| {
        let count = caches.iter().filter(|cache| *cache == kind).count();
        format!("{count} × {} L{}", size(kind.1), kind.0)
    };
    let cores = host.topology.one_cpu_per_core(&host.topology.cpu_ids()).len();
    known([
        (
            "fact-cpus",
            Some(say!("cpus-on-cores", cpus = host.topology.cpus.len(), cores = cores)),
        ),
        ("fact-caches", Some(kinds.iter().map(cache).collect::<Vec<_>>().join(", "))),
        ("fact-numa-nodes", Some(host.topology.numa.len().to_string())),
        ("fact-memory", Some(quantity(host.memory.total_bytes as f64, Unit::Byte, 4))),
        (
            "fact-memory-modules",
            host.memory.modules.as_ref().map(|modules| modules.len().to_string()),
        ),
        ("fact-huge-page", host.memory.huge_page_bytes.map(size)),
    ])
}

fn system(host: &HostFacts) -> Vec<(String, String)> {
    let system = &host.system;
    let bytes = |value: Option<u64>| value.map(|value| quantity(value as f64, Unit::Byte, 4));
    known([
        ("fact-distribution", system.distribution.clone()),
        (
            "fact-kernel",
            Some(format!("{} {}", system.kernel, system.architecture).trim().to_owned()),
        ),
        ("fact-kernel-command-line", system.kernel_command_line.clone()),
        ("fact-virtualisation", system.virtualization.clone()),
        ("fact-product", system.product.clone()),
        ("fact-clock-source", system.clock_source.clone()),
        (
            "fact-cpu-quota",
            host.limits.cpu_quota.map(|quota| say!("cpus", n = grouped(&quota.to_string()))),
        ),
        ("fact-memory-limit-of-the-control-group", bytes(host.limits.memory_available_bytes)),
        ("fact-fingerprint", Some(host.fingerprint.clone())),
    ])
}
