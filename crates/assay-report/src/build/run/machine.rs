//! All facts about the hosts, for the reader who wants to know whether runs can be compared.

use assay_model::facts::{CpuFacts, HostFacts};
use assay_model::quantity::{Bytes, Quantity, Unit};

use assay_model::summary::Summary;

use super::words;
use crate::document::{Block, Details, Document, Facts, Tone};

pub(super) fn add(document: &mut Document, summary: &Summary) {
    let blocks: Vec<Block> = summary.hosts.iter().flat_map(host).collect();
    if !blocks.is_empty() {
        let details = Details { title: words::MACHINE.to_owned(), blocks };
        document.blocks.push(Block::Details(details));
    }
}

fn host(host: &HostFacts) -> Vec<Block> {
    let list = |title: &str, facts: Vec<(String, String)>| {
        let title = Some(format!("{}: {title}", host.name));
        Block::Facts(Facts { title, tone: Tone::Plain, facts })
    };
    let named = |map: &std::collections::BTreeMap<String, String>| {
        map.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>()
    };
    let parts = [
        ("hardware", [processor(&host.cpu), topology(host)].concat()),
        ("system", system(host)),
        ("settings", named(&host.settings)),
        ("mitigations", named(&host.mitigations)),
        ("versions", named(&host.versions)),
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
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn processor(cpu: &CpuFacts) -> Vec<(String, String)> {
    let hertz = |value: Option<f64>| {
        value.map(|value| format!("{:.3}", Quantity::new(value, Unit::Hertz)))
    };
    let switch = |value: Option<bool>| value.map(|on| if on { "on" } else { "off" }.to_owned());
    known([
        ("processor", Some(cpu.model.clone())),
        ("vendor", Some(cpu.vendor.clone())),
        ("family/model/stepping", cpu.signature.clone()),
        ("microcode", cpu.microcode.clone()),
        ("nominal frequency", hertz(cpu.nominal_hz)),
        ("maximum frequency", hertz(cpu.maximum_hz)),
        ("governor", cpu.governor.clone()),
        ("boost", switch(cpu.boost)),
        ("SMT", switch(cpu.smt)),
    ])
}

fn topology(host: &HostFacts) -> Vec<(String, String)> {
    let mut caches: Vec<(u8, u64)> =
        host.topology.caches.iter().map(|cache| (cache.level, cache.bytes)).collect();
    caches.sort_unstable();
    let kinds: std::collections::BTreeSet<_> = caches.iter().copied().collect();
    let cache = |kind: &(u8, u64)| {
        let count = caches.iter().filter(|cache| *cache == kind).count();
        format!("{count} × {} L{}", Bytes(kind.1), kind.0)
    };
    let cores = host.topology.one_cpu_per_core(&host.topology.cpu_ids()).len();
    known([
        ("CPUs", Some(format!("{} on {cores} cores", host.topology.cpus.len()))),
        ("caches", Some(kinds.iter().map(cache).collect::<Vec<_>>().join(", "))),
        ("NUMA nodes", Some(host.topology.numa.len().to_string())),
        ("memory", Some(Bytes(host.memory.total_bytes).quantity().to_string())),
        (
            "memory modules",
            host.memory.modules.as_ref().map(|modules| modules.len().to_string()),
        ),
        ("huge page", host.memory.huge_page_bytes.map(|bytes| Bytes(bytes).to_string())),
    ])
}

fn system(host: &HostFacts) -> Vec<(String, String)> {
    let system = &host.system;
    let bytes = |value: Option<u64>| value.map(|value| Bytes(value).quantity().to_string());
    known([
        ("distribution", system.distribution.clone()),
        (
            "kernel",
            Some(format!("{} {}", system.kernel, system.architecture).trim().to_owned()),
        ),
        ("kernel command line", system.kernel_command_line.clone()),
        ("virtualisation", system.virtualization.clone()),
        ("product", system.product.clone()),
        ("clock source", system.clock_source.clone()),
        ("CPU quota", host.limits.cpu_quota.map(|quota| format!("{quota} CPUs"))),
        ("memory limit of the control group", bytes(host.limits.memory_available_bytes)),
        ("fingerprint", Some(host.fingerprint.clone())),
    ])
}
