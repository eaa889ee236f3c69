//! Resolution of placements to domains, from the topology of the host.

use super::PlanError;
use crate::facts::{Cache, HostFacts, NumaNode};
use crate::suite::Placement;
use crate::workload::Domain;

/// Domains that run at the same time, under one name.
pub(super) struct DomainGroup {
    pub(super) name: String,
    pub(super) domains: Vec<Domain>,
}

/// NUMA node with its CPUs, one for each core; none if it only has memory.
#[derive(Clone)]
pub(super) struct NodeDomain {
    /// The kernel's number.
    pub(super) node: u32,
    pub(super) domain: Domain,
    /// Memory in bytes; 0 = unknown.
    pub(super) bytes: u64,
}

/// Returns the domain of the whole node: one core per thread or rank, spread evenly over the
/// last-level caches.
pub(super) fn node(
    host: &HostFacts,
    count: Option<u32>,
    what: &'static str,
) -> Result<Domain, PlanError> {
    let cores = host.topology.one_cpu_per_core(&host.topology.cpu_ids());
    take_cpus(host, domain("node", cores), count, what)
}

/// Returns the lowest-numbered usable CPU.
pub(super) fn first_core(host: &HostFacts) -> u32 {
    host.topology.cpus.first().map_or(0, |cpu| cpu.id)
}

/// Resolves all groups of `placements`, in the given order.
pub(super) fn resolve(
    host: &HostFacts,
    placements: &[Placement],
    threads: Option<u32>,
) -> Result<Vec<DomainGroup>, PlanError> {
    let mut groups = Vec::new();
    for placement in placements {
        groups.extend(resolve_one(host, *placement, threads)?);
    }
    Ok(groups)
}

fn resolve_one(
    host: &HostFacts,
    placement: Placement,
    threads: Option<u32>,
) -> Result<Vec<DomainGroup>, PlanError> {
    match placement {
        Placement::Node => Ok(vec![single_group(node(host, threads, "threads")?)]),
        Placement::Numa(number) => {
            select(host, numa_domains(host), number, "NUMA node", threads)
        }
        Placement::LastLevel(number) => last_level(host, number, threads),
        Placement::Core(number) => {
            core(host, number, threads).map(|domain| vec![single_group(domain)])
        }
        Placement::Scaling => Ok(scaling_groups(host)),
        Placement::All => all_visible(host, threads),
    }
}

/// Resolves every placement, except those of domains that the host hides, such as a container without
/// `/sys`.
fn all_visible(host: &HostFacts, threads: Option<u32>) -> Result<Vec<DomainGroup>, PlanError> {
    let mut groups = Vec::new();
    for placement in Placement::EVERY {
        match resolve_one(host, placement, threads) {
            Err(PlanError::NoSuchDomain { .. }) => {}
            found => groups.extend(found?),
        }
    }
    Ok(groups)
}

fn domain(placement: impl Into<String>, cpus: Vec<u32>) -> Domain {
    Domain { placement: placement.into(), cpus }
}

fn single_group(domain: Domain) -> DomainGroup {
    DomainGroup { name: domain.placement.clone(), domains: vec![domain] }
}

/// Returns one last-level-cache domain, or each separately and then, if there are several, all
/// together.
fn last_level(
    host: &HostFacts,
    number: Option<u32>,
    threads: Option<u32>,
) -> Result<Vec<DomainGroup>, PlanError> {
    let mut groups =
        select(host, last_level_domains(host), number, "last-level cache", threads)?;
    if number.is_none() && groups.len() > 1 {
        let domains = groups.iter().flat_map(|group| group.domains.clone()).collect();
        groups.push(DomainGroup { name: "l3:together".to_owned(), domains });
    }
    Ok(groups)
}

/// Returns the domains of NUMA nodes of the host.
pub(super) fn node_domains(host: &HostFacts, nodes: &[NumaNode]) -> Vec<NodeDomain> {
    let node_domain = |node: &NumaNode| NodeDomain {
        node: node.id,
        domain: domain(format!("numa:{}", node.id), host.topology.one_cpu_per_core(&node.cpus)),
        bytes: node.bytes,
    };
    nodes.iter().map(node_domain).collect()
}

fn numa_domains(host: &HostFacts) -> Vec<Domain> {
    node_domains(host, &host.topology.numa).into_iter().map(|it| it.domain).collect()
}

/// Returns the last-level-cache domains, numbered in the order of their lowest CPU.
fn last_level_domains(host: &HostFacts) -> Vec<Domain> {
    let mut caches: Vec<&Cache> = host.topology.last_level().collect();
    caches.sort_by_key(|cache| cache.cpus.first().copied());
    let cores = |cache: &Cache| host.topology.one_cpu_per_core(&cache.cpus);
    let named = |(i, cache): (usize, &&Cache)| domain(format!("l3:{i}"), cores(cache));
    caches.iter().enumerate().map(named).filter(|domain| !domain.cpus.is_empty()).collect()
}

fn select(
    host: &HostFacts,
    all: Vec<Domain>,
    number: Option<u32>,
    what: &str,
    threads: Option<u32>,
) -> Result<Vec<DomainGroup>, PlanError> {
    let existing = all.iter().map(|d| d.placement.clone()).collect::<Vec<_>>().join(", ");
    let wanted =
        |domain: &Domain| number.is_none_or(|n| domain.placement.ends_with(&format!(":{n}")));
    let chosen: Vec<Domain> = all.into_iter().filter(wanted).collect();
    if chosen.is_empty() {
        let asked = number.map_or_else(|| what.to_owned(), |n| format!("{what} {n}"));
        let existing = if existing.is_empty() { "none visible".to_owned() } else { existing };
        return Err(PlanError::NoSuchDomain { asked, existing });
    }
    chosen
        .into_iter()
        .map(|domain| take_cpus(host, domain, threads, "threads").map(single_group))
        .collect()
}

fn core(
    host: &HostFacts,
    number: Option<u32>,
    threads: Option<u32>,
) -> Result<Domain, PlanError> {
    let ids = host.topology.cpu_ids();
    let id = number.unwrap_or_else(|| first_core(host));
    if !ids.contains(&id) {
        let existing = ids.iter().map(|id| format!("core:{id}")).collect::<Vec<_>>().join(", ");
        return Err(PlanError::NoSuchDomain { asked: format!("usable core {id}"), existing });
    }
    take_cpus(host, domain(format!("core:{id}"), vec![id]), threads, "threads")
}

/// Returns groups of 1, 2, 3, 4, 6, 8, 12 … all cores: every power of two and the step between, so
/// that hundreds of cores take about twenty steps.
fn scaling_groups(host: &HostFacts) -> Vec<DomainGroup> {
    let cores = cores_by_cache(host);
    let mut counts: Vec<usize> = (0..usize::BITS - 1)
        .flat_map(|e| [1 << e, (1 << e) + (1 << e) / 2])
        .filter(|count| *count < cores.len())
        .chain([cores.len()])
        .collect();
    counts.sort_unstable();
    counts.dedup();
    let group =
        |count: usize| single_group(domain(format!("cores:{count}"), cores[..count].to_vec()));
    counts.into_iter().filter(|count| *count > 0).map(group).collect()
}

/// Returns all cores, one last-level cache after the other.
fn cores_by_cache(host: &HostFacts) -> Vec<u32> {
    let grouped: Vec<u32> = last_level_domains(host).into_iter().flat_map(|d| d.cpus).collect();
    if grouped.is_empty() {
        host.topology.one_cpu_per_core(&host.topology.cpu_ids())
    } else {
        grouped
    }
}

/// Takes `count` CPUs of a domain, one per thread or rank, spread evenly over its last-level
/// caches.
fn take_cpus(
    host: &HostFacts,
    domain: Domain,
    count: Option<u32>,
    what: &'static str,
) -> Result<Domain, PlanError> {
    let Some(asked) = count else { return Ok(domain) };
    if asked == 0 {
        return Err(PlanError::Zero { what: "the number of threads" });
    }
    let count = asked as usize;
    if count > domain.cpus.len() {
        let (placement, cores) = (domain.placement, domain.cpus.len());
        return Err(PlanError::TooManyThreads { asked, what, placement, cores });
    }
    let mut cpus: Vec<u32> = round_robin(host, &domain.cpus).into_iter().take(count).collect();
    cpus.sort_unstable();
    Ok(Domain { placement: domain.placement, cpus })
}

/// Orders CPUs round robin over the last-level caches.
fn round_robin(host: &HostFacts, cpus: &[u32]) -> Vec<u32> {
    let inside = |d: Domain| d.cpus.into_iter().filter(|cpu| cpus.contains(cpu)).collect();
    let groups: Vec<Vec<u32>> = last_level_domains(host).into_iter().map(inside).collect();
    let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
    let ordered: Vec<u32> = (0..longest)
        .flat_map(|i| groups.iter().filter_map(move |g| g.get(i).copied()))
        .collect();
    if ordered.len() == cpus.len() { ordered } else { cpus.to_vec() }
}
