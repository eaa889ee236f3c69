//! Expansion of MPI measures: all installations, placements of the ranks, and sizes.

use super::{MpiChoices, NamedWorkload, PlanError, domains};
use crate::benchmark::{MpiPattern, MpiTest, NeighborTopology};
use crate::facts::{Cache, Cpu, HostFacts};
use crate::quantity::Bytes;
use crate::suite::{MpiPlacement, MpiRequest};
use crate::workload::{Domain, MpiPreset, MpiWorkload, Workload};

/// Largest message in OSU's benchmarks, between pairs and in collectives.
const LARGEST_PAIR_BYTES: u64 = 4 << 20;
const LARGEST_COLLECTIVE_BYTES: u64 = 1 << 20;
/// Bytes of the number that one-sided operations on a single number access, in OSU 5 and elsewhere.
const OSU_5_NUMBER_BYTES: u64 = 8;
const NUMBER_BYTES: u64 = 4;
/// Maximum number of ranks, as protection against typing errors.
const MAX_RANKS: u64 = 1 << 20;
/// Maximum message size: MPI counts the elements of a message in an `int`.
const MAX_MESSAGE_BYTES: u64 = 1 << 30;

/// Returns the benchmark for every placement and installation. Installations vary fastest, so that
/// values to be compared are measured one after the other.
pub(super) fn resolve(
    asked: &MpiRequest,
    host: &HostFacts,
    choices: &MpiChoices,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let (from_bytes, to_bytes) = sizes(asked, choices)?;
    let mut named = Vec::new();
    for (placement, ranks) in resolve_placements(asked, host, choices)? {
        check_topology(asked.test, ranks)?;
        check_memory(asked.test, to_bytes, ranks, host, choices)?;
        for mpi in &choices.installations {
            let work = MpiWorkload {
                test: asked.test,
                mpi: mpi.clone(),
                ranks,
                placement: placement.clone(),
                hosts: choices.hosts.clone(),
                from_bytes,
                to_bytes,
                preset: choices.preset,
            };
            named.push((work.name(), Workload::Mpi(work)));
        }
    }
    Ok(named)
}

/// Returns the range of sizes: from the command line, else from the suite, else OSU's.
fn sizes(asked: &MpiRequest, choices: &MpiChoices) -> Result<(u64, u64), PlanError> {
    if !asked.test.has_sizes() {
        return Ok((0, 0));
    }
    if !asked.test.has_size_range() {
        let bytes = match choices.preset {
            MpiPreset::Osu5 => OSU_5_NUMBER_BYTES,
            MpiPreset::Assay | MpiPreset::Osu7 => NUMBER_BYTES,
        };
        return Ok((bytes, bytes));
    }
    let (smallest, largest) = match (asked.test, asked.test.pattern()) {
        (
            MpiTest::Latency
            | MpiTest::MultiLatency
            | MpiTest::PersistentLatency
            | MpiTest::ThreadsLatency
            | MpiTest::ForkedLatency,
            _,
        ) => (0, LARGEST_PAIR_BYTES),
        (_, MpiPattern::Pair | MpiPattern::Pairs | MpiPattern::Hosts) => {
            (1, LARGEST_PAIR_BYTES)
        }
        // Sums are computed over four-byte numbers.
        (test, _) if test.kind().is_reduction() => (4, LARGEST_COLLECTIVE_BYTES),
        (_, MpiPattern::All) => (1, LARGEST_COLLECTIVE_BYTES),
    };
    let from = asked.from.map_or(smallest, |bytes| bytes.0);
    let to = asked.to.map_or(largest, |bytes| bytes.0);
    let (from, to) = choices.sizes.unwrap_or((from, to));
    let from = from.max(smallest);
    if to > MAX_MESSAGE_BYTES {
        let (given, most) = (Bytes(to), Bytes(MAX_MESSAGE_BYTES));
        return Err(PlanError::SizeTooLarge { what: "a message", given, most });
    }
    if to < from {
        return Err(PlanError::TooSmall {
            what: "the largest message",
            given: format!("{to} B"),
            minimum: format!("{from} B"),
        });
    }
    Ok((from, to))
}

/// Returns an error if there are fewer ranks than a ring needs, the topology of neighbourhood
/// collectives.
fn check_topology(test: MpiTest, ranks: u32) -> Result<(), PlanError> {
    let needed = NeighborTopology::default().min_ranks();
    if !test.kind().is_neighborhood() || u64::from(ranks) >= needed {
        return Ok(());
    }
    let what = "the number of ranks in a ring";
    Err(PlanError::TooSmall { what, given: ranks.to_string(), minimum: needed.to_string() })
}

/// Returns an error if the send and receive buffers of all ranks do not fit; in a collective, each
/// rank holds a part for every rank.
fn check_memory(
    test: MpiTest,
    to_bytes: u64,
    ranks: u32,
    host: &HostFacts,
    choices: &MpiChoices,
) -> Result<(), PlanError> {
    let ranks = u64::from(ranks);
    let parts = if test.pattern() == MpiPattern::All { ranks } else { 1 };
    let needed = to_bytes.saturating_mul(2).saturating_mul(parts).saturating_mul(ranks);
    let usable = host.usable_bytes();
    // The memory of other hosts is unknown here.
    if choices.hosts.is_local() && usable > 0 && needed > usable {
        let text = |bytes: u64| format!("{bytes} B");
        return Err(PlanError::NotEnoughMemory {
            what: format!("{} with {ranks} ranks", test.name()),
            needed: text(needed),
            usable: text(usable),
        });
    }
    Ok(())
}

/// Returns the placements of the ranks, with their number.
fn resolve_placements(
    asked: &MpiRequest,
    host: &HostFacts,
    choices: &MpiChoices,
) -> Result<Vec<(Domain, u32)>, PlanError> {
    let ranks = choices.ranks.or(asked.ranks);
    if ranks.is_some_and(|ranks| ranks < 2) {
        let (given, minimum) = ("1".to_owned(), "2".to_owned());
        return Err(PlanError::TooSmall { what: "the number of ranks", given, minimum });
    }
    if let Some(given) = ranks.map(u64::from).filter(|ranks| *ranks > MAX_RANKS) {
        let what = "the number of ranks".to_owned();
        return Err(PlanError::NumberTooLarge { what, given, most: MAX_RANKS });
    }
    if !choices.hosts.is_local() {
        return Ok(vec![placement_over_hosts(asked.test, ranks, host, choices)]);
    }
    let placements = choices.placements.as_ref().unwrap_or(&asked.placements);
    let mut found = Vec::new();
    for placement in placements {
        found.extend(placement_domains(*placement, asked.test, ranks, host)?);
    }
    Ok(found)
}

/// Returns the placement of ranks on other hosts, where the launcher distributes them. A pair, one
/// rank on each host, is bound near the network if its NUMA node is known.
fn placement_over_hosts(
    test: MpiTest,
    ranks: Option<u32>,
    host: &HostFacts,
    choices: &MpiChoices,
) -> (Domain, u32) {
    let placement = "hosts".to_owned();
    if test.pattern() != MpiPattern::Pair {
        return (Domain { placement, cpus: Vec::new() }, ranks.unwrap_or(2));
    }
    let is_near = |cpu: &&Cpu| Some(cpu.numa) == choices.near_network;
    let near = host.topology.cpus.iter().find(is_near).map(|cpu| cpu.id);
    (Domain { placement, cpus: near.map(|cpu| vec![cpu; 2]).unwrap_or_default() }, 2)
}

fn placement_domains(
    placement: MpiPlacement,
    test: MpiTest,
    ranks: Option<u32>,
    host: &HostFacts,
) -> Result<Vec<(Domain, u32)>, PlanError> {
    match placement {
        MpiPlacement::Node if test.pattern() == MpiPattern::Pair => {
            // Two ranks on a whole node are a pair at some distance, which decides the result.
            placement_domains(MpiPlacement::Pairs, test, ranks, host)
        }
        MpiPlacement::Node => Ok(vec![node_ranks(test, ranks, host)?]),
        MpiPlacement::Pairs => {
            let pairs = MpiPlacement::EVERY_PAIR.into_iter();
            let found: Vec<_> = pairs.filter_map(|which| find_pair(which, host)).collect();
            if found.is_empty() { Err(no_such_pair(placement, host)) } else { Ok(found) }
        }
        which => {
            find_pair(which, host).map(|it| vec![it]).ok_or_else(|| no_such_pair(which, host))
        }
    }
}

/// Returns one rank per core; if ranks work in pairs, an odd core is left out.
fn node_ranks(
    test: MpiTest,
    ranks: Option<u32>,
    host: &HostFacts,
) -> Result<(Domain, u32), PlanError> {
    let mut domain = domains::node(host, ranks, "ranks")?;
    if test.pattern() == MpiPattern::Pairs && domain.cpus.len() % 2 == 1 {
        domain.cpus.pop();
    }
    let count = domain.cpus.len() as u32;
    if count < 2 {
        return Err(PlanError::NoSuchDomain {
            asked: format!("pair of cores for {}", test.name()),
            existing: format!("{} usable core", host.topology.cpus.len()),
        });
    }
    Ok((domain, count))
}

/// Returns the first two CPUs with the requested pair distance.
fn find_pair(which: MpiPlacement, host: &HostFacts) -> Option<(Domain, u32)> {
    let cpus = &host.topology.cpus;
    let pairs =
        cpus.iter().enumerate().flat_map(|(i, a)| cpus[i + 1..].iter().map(move |b| (a, b)));
    let (a, b) = pairs.into_iter().find(|(a, b)| has_distance(which, a, b, host))?;
    Some((Domain { placement: which.name().to_owned(), cpus: vec![a.id, b.id] }, 2))
}

pub(super) fn has_distance(which: MpiPlacement, a: &Cpu, b: &Cpu, host: &HostFacts) -> bool {
    let same_socket = a.socket == b.socket;
    let same_core = same_socket && a.core == b.core;
    let shares = |cache: &Cache| cache.cpus.contains(&a.id) && cache.cpus.contains(&b.id);
    let same_cache = host.topology.last_level().any(shares);
    match which {
        MpiPlacement::SameCore => same_core,
        MpiPlacement::SameCache => !same_core && same_cache,
        MpiPlacement::SameSocket => same_socket && !same_core && !same_cache,
        MpiPlacement::AcrossSockets => !same_socket,
        MpiPlacement::Node | MpiPlacement::Pairs => false,
    }
}

/// Returns the pair distances that exist on a host, the nearest first.
pub fn pair_distances(host: &HostFacts) -> Vec<MpiPlacement> {
    MpiPlacement::EVERY_PAIR
        .into_iter()
        .filter(|which| find_pair(*which, host).is_some())
        .collect()
}

fn no_such_pair(placement: MpiPlacement, host: &HostFacts) -> PlanError {
    let existing: Vec<&str> =
        pair_distances(host).into_iter().map(MpiPlacement::name).collect();
    let existing = match existing.as_slice() {
        [] => "one usable CPU".to_owned(),
        some => some.join(", "),
    };
    PlanError::NoSuchDomain { asked: format!("pair of CPUs `{placement}`"), existing }
}
