//! Expansion of a suite against the facts of a host. The result contains no unresolved default.

use std::collections::BTreeMap;

use super::{Case, CasePair, MissingRequirement, OmittedMeasure, Plan, StoppingRule};
use crate::benchmark::Benchmark;
use crate::facts::HostFacts;
use crate::mpi_installation::MpiInstallation;
use crate::plan::time_estimate::budget_weights;
use crate::quantity::Bytes;
use crate::seed;
use crate::suite::{InstructionSets, Measure, MeasureRequest, MpiPlacement, Placement, Suite};
use crate::workload::command::DEFAULT_REPETITIONS;
use crate::workload::{
    CopyWorkload, Domain, LatencyWorkload, LinpackWorkload, MpiHosts, MpiPreset,
    PeakFlopsWorkload, StreamWorkload, Workload, usual_line_bytes,
};

mod domains;
mod error;
mod files;
mod io500;
mod measurers;
mod memory;
mod mpi;
mod network;
mod pairs;
mod rdma;
pub(super) mod sizes;
mod storage;

pub use error::PlanError;
pub use measurers::Measurer;
pub use mpi::pair_distances;
pub use pairs::{PairChoices, PairTurn, is_between_hosts};
pub use sizes::ladder_bytes;
pub use storage::check_buffers;

/// Choices of the command line that complete a suite.
#[derive(Debug, Clone)]
pub struct PlanChoices<'a> {
    /// Measurers of measures that do not name their own.
    pub by: Vec<String>,
    /// All measurers on this host.
    pub measurers: &'a [Measurer],
    /// Time budget of the whole run, in seconds; `None` = as in the suite.
    pub budget_s: Option<f64>,
    /// Target host of network measures; `None` = this machine over loopback.
    pub to: Option<String>,
    /// Choices for MPI measures.
    pub mpi: MpiChoices,
    /// Seed from which all random numbers derive.
    pub seed: u64,
    /// Pairs of hosts for network measures, instead of `to`.
    pub pairs: Option<PairChoices>,
    /// Whether this machine has an RDMA device.
    pub has_rdma: bool,
}

impl<'a> PlanChoices<'a> {
    /// Returns the choices for measures by assay on this machine, without any option.
    pub fn new(measurers: &'a [Measurer], seed: u64) -> Self {
        Self {
            by: vec!["assay".to_owned()],
            measurers,
            budget_s: None,
            to: None,
            mpi: MpiChoices::default(),
            seed,
            pairs: None,
            has_rdma: false,
        }
    }
}

/// Choices of the command line and the machine for MPI measures.
#[derive(Debug, Clone, Default)]
pub struct MpiChoices {
    /// All MPI installations that are measured.
    pub installations: Vec<MpiInstallation>,
    /// Hosts for the launchers; empty = this machine.
    pub hosts: MpiHosts,
    /// NUMA node of this host's fast network, if known; other hosts are assumed to be identical.
    pub near_network: Option<u32>,
    /// Number of ranks; `None` = as in the suite.
    pub ranks: Option<u32>,
    /// Smallest and largest message in bytes; `None` = as in the suite.
    pub sizes: Option<(u64, u64)>,
    /// Placements of the ranks; `None` = as in the suite.
    pub placements: Option<Vec<MpiPlacement>>,
    /// Preset, the method of the benchmark.
    pub preset: MpiPreset,
}

/// Maximum number of cases; at one second each they take three hours.
pub const MAX_CASES: usize = 10_000;

/// Resolves every case of `suite` on `host`.
///
/// # Errors
/// If the suite requests something that this host does not have, or no case is left.
pub fn expand(
    suite: &Suite,
    host: &HostFacts,
    choices: &PlanChoices<'_>,
) -> Result<Plan, PlanError> {
    let budget_s = choices.budget_s.unwrap_or(suite.budget_s);
    let mut omitted = Vec::new();
    // Omitted measures leave their time to the others, so all are checked before the time is
    // divided.
    let mut measures = Vec::new();
    for measure in &suite.measures {
        if has_cases(measure, host, choices, budget_s, &mut omitted)? {
            measures.push(measure);
        }
    }
    let shares: f64 = measures.iter().map(|measure| measure.share).sum();
    let mut cases = Vec::new();
    // Each host's own cases come first: pairs need two hosts that are idle.
    measures.sort_by_key(|measure| {
        choices.pairs.as_ref().is_some_and(|pairs| pairs.applies_to(&measure.request))
    });
    if choices.pairs.as_ref().is_some_and(|pairs| pairs.is_far_end) {
        measures.clear();
    }
    for measure in measures {
        let budget_s = budget_s * measure.share / shares;
        cases.extend(measure_cases(measure, host, choices, budget_s)?);
        if cases.len() > MAX_CASES {
            let (what, given) = ("a number of cases".to_owned(), cases.len() as u64);
            return Err(PlanError::NumberTooLarge { what, given, most: MAX_CASES as u64 });
        }
    }
    // A host that starts no pair may be the other end of one.
    if cases.is_empty() && choices.pairs.is_none() {
        if omitted.iter().any(|it| it.reason == MissingRequirement::KnownMemory) {
            return Err(PlanError::UnknownMemory);
        }
        let by = choices.by.join(", ");
        return Err(PlanError::NothingToMeasure { by, suite: suite.name.clone() });
    }
    pairs::order_cases(&mut cases);
    let seed = Some(choices.seed);
    Ok(Plan { suite: suite.name.clone(), budget_s, seed, cases: merge_cases(cases), omitted })
}

/// Whether a measure has cases here. Records the missing requirement of an optional measure in
/// `omitted`, and that of any measure whose size follows from memory that is unknown.
fn has_cases(
    measure: &Measure,
    host: &HostFacts,
    choices: &PlanChoices<'_>,
    budget_s: f64,
    omitted: &mut Vec<OmittedMeasure>,
) -> Result<bool, PlanError> {
    let benchmark = measure.request.benchmark().id();
    let mut omit = |benchmark: String, reason| {
        let omission = OmittedMeasure { benchmark, reason, hosts: Vec::new() };
        if !omitted.contains(&omission) {
            omitted.push(omission);
        }
    };
    if !measure.optional {
        let is_unsized = measure_cases(measure, host, choices, budget_s)
            .is_err_and(|error| error == PlanError::UnknownMemory);
        if is_unsized {
            omit(benchmark.to_owned(), MissingRequirement::KnownMemory);
        }
        return Ok(!is_unsized);
    }
    let absent = measurers::missing_measurers(measure, choices);
    let is_nobody_left =
        !absent.is_empty() && measurers::available_measurers(measure, choices).is_empty();
    let reason = match unmet_requirement(measure, choices) {
        None if is_nobody_left => Some(MissingRequirement::Tool),
        None => match measure_cases(measure, host, choices, budget_s) {
            Ok(_) => None,
            Err(error) => Some(error.missing_requirement().ok_or(error)?),
        },
        reason => reason,
    };
    match reason {
        Some(reason) => omit(benchmark.to_owned(), reason),
        // Other measurers are present.
        None => {
            absent
                .iter()
                .for_each(|tool| omit(format!("{benchmark}/{tool}"), MissingRequirement::Tool));
        }
    }
    Ok(reason.is_none())
}

/// Whether a suite has measures between two hosts, and would omit all of them without a second
/// host. In a run of several hosts, each is then paired with a neighbour.
pub fn needs_neighbour(suite: &Suite) -> bool {
    let is_aimed = |measure: &Measure| {
        let MeasureRequest::Network(asked) = &measure.request else { return false };
        asked.tests.iter().any(|work| work.to.is_some())
    };
    let mut asked = suite.measures.iter().filter(|it| is_between_hosts(&it.request)).peekable();
    asked.peek().is_some() && asked.all(|it| it.optional && !is_aimed(it))
}

/// Returns a requirement that neither the command line names nor the machine has.
fn unmet_requirement(
    measure: &Measure,
    choices: &PlanChoices<'_>,
) -> Option<MissingRequirement> {
    match &measure.request {
        MeasureRequest::Network(asked) if choices.to.is_none() && choices.pairs.is_none() => {
            let here = asked.tests.iter().all(|work| work.to.is_none());
            here.then_some(MissingRequirement::Host)
        }
        MeasureRequest::Rdma(_) if !choices.has_rdma => Some(MissingRequirement::RdmaDevice),
        MeasureRequest::Rdma(_) if choices.to.is_none() && choices.pairs.is_none() => {
            Some(MissingRequirement::Host)
        }
        MeasureRequest::Storage(asked) if asked.targets.is_empty() => {
            Some(MissingRequirement::Target)
        }
        MeasureRequest::Files(asked) if asked.folder.is_none() => {
            Some(MissingRequirement::Target)
        }
        MeasureRequest::Io500(asked) if asked.folder.is_none() => {
            Some(MissingRequirement::Target)
        }
        MeasureRequest::Mpi(_) if choices.mpi.installations.is_empty() => {
            Some(MissingRequirement::Mpi)
        }
        _ => None,
    }
}

/// Merges cases with the same identifier, which request the same: sums their time and takes the
/// strictest precision. Those of another number of threads get an identifier of their own.
fn merge_cases(cases: Vec<Case>) -> Vec<Case> {
    let mut merged: Vec<Case> = Vec::new();
    let mut indices: BTreeMap<String, usize> = BTreeMap::new();
    for mut case in cases {
        let threads = |case: &Case| case.workload.cpus().len();
        let known = indices.get(&case.id).and_then(|at| merged.get(*at));
        if known.is_some_and(|known| threads(known) != threads(&case)) {
            case.id = format!("{}/threads={}", case.id, threads(&case));
        }
        let index = *indices.entry(case.id.clone()).or_insert(merged.len());
        let Some(known) = merged.get_mut(index) else {
            merged.push(case);
            continue;
        };
        known.stopping.budget_s += case.stopping.budget_s;
        known.stopping.target = known.stopping.target.min(case.stopping.target);
    }
    merged
}

fn measure_cases(
    measure: &Measure,
    host: &HostFacts,
    choices: &PlanChoices<'_>,
    budget_s: f64,
) -> Result<Vec<Case>, PlanError> {
    if let Some(name) =
        measurers::missing_measurers(measure, choices).first().filter(|_| !measure.optional)
    {
        let found: Vec<&str> = choices.measurers.iter().map(|it| it.name).collect();
        let (name, found) = (name.to_string(), found.join(", "));
        return Err(PlanError::NoSuchMeasurer { name, found });
    }
    let measurers = measurers::available_measurers(measure, choices);
    let share_s = budget_s / measurers.len() as f64;
    let workloads = workloads(&measure.request, host, share_s, choices)?;
    let asked: Vec<_> = workloads
        .iter()
        .flat_map(|named| measurers.iter().map(move |by| (named, by)))
        .filter(|((_, workload), by)| (by.supports)(workload))
        .collect();
    let weights =
        budget_weights(&asked.iter().map(|((_, workload), _)| workload).collect::<Vec<_>>());
    let weight_sum: f64 = weights.iter().sum();
    let stopping = |workload: &Workload, weight: f64| StoppingRule {
        target: measure.target,
        repetitions: workload.as_command().map_or(DEFAULT_REPETITIONS, |it| it.repetitions),
        preparations: workload.benchmark().definition().preparations,
        budget_s: budget_s * weight / weight_sum,
    };
    let case = |(((name, workload), by), weight): (&(&NamedWorkload, &Measurer), &f64)| {
        let id = case_id(workload, name, by.name);
        Case {
            by: by.name.to_owned(),
            stopping: stopping(workload, *weight),
            workload: workload.clone().with_seed(seed::derive_named_seed(choices.seed, &id)),
            id,
            pair: None,
        }
    };
    let Some(pairs) = choices.pairs.as_ref().filter(|it| it.applies_to(&measure.request))
    else {
        return Ok(asked.iter().zip(&weights).map(case).collect());
    };
    let paired_cases = asked.iter().zip(&weights).flat_map(|it| {
        pairs.turns.iter().map(move |turn| {
            let case = case(it);
            let budget_s = case.stopping.budget_s / f64::from(pairs.rounds.max(1));
            let stopping = StoppingRule { budget_s, ..case.stopping };
            pair_case(Case { stopping, ..case }, turn)
        })
    });
    Ok(paired_cases.collect())
}

/// Converts a case to that of one pair of hosts, whichever pair it belonged to before.
pub fn pair_case(case: Case, turn: &PairTurn) -> Case {
    let name = case.workload.clone().with_host(&turn.name).1;
    let id = case_id(&case.workload, &name, &case.by);
    let mut stopping = case.stopping;
    // Cases that are measured together must end together, by time alone: bandwidth that one of them
    // leaves would go to another.
    if turn.together > 1 {
        stopping.target = 0.0;
    }
    let pair = CasePair {
        peer: turn.peer.clone(),
        address: turn.address.clone(),
        workload_number: case.pair.map_or(0, |pair| pair.workload_number),
        round: turn.round,
        together: turn.together,
        own: turn.own.clone(),
        far: turn.far.clone(),
    };
    let (workload, _) = case.workload.with_host(&turn.peer);
    Case { id, workload, stopping, pair: Some(pair), ..case }
}

fn case_id(workload: &Workload, name: &str, by: &str) -> String {
    let id = workload.benchmark().id();
    if by == "assay" { format!("{id}/{name}") } else { format!("{id}/{name}/{by}") }
}

type NamedWorkload = (String, Workload);

fn workloads(
    request: &MeasureRequest,
    host: &HostFacts,
    budget_s: f64,
    choices: &PlanChoices<'_>,
) -> Result<Vec<NamedWorkload>, PlanError> {
    match request {
        MeasureRequest::Machine(Benchmark::MemoryCopy) => copy_workloads(host),
        MeasureRequest::Machine(Benchmark::CoreToCore) => memory::core_to_core(host),
        MeasureRequest::Machine(_) => Ok(Vec::new()),
        MeasureRequest::Stream { placements, threads, bytes } => {
            stream_workloads(host, placements, *threads, *bytes)
        }
        MeasureRequest::Latency { from, to } => latency_workloads(host, *from, *to),
        MeasureRequest::CacheBandwidth { from, to } => {
            memory::cache_bandwidth(host, *from, *to)
        }
        MeasureRequest::LoadedLatency { to, bytes } => {
            memory::loaded_latency(host, *to, *bytes)
        }
        MeasureRequest::PeakFlops { placements, threads, instruction_sets } => {
            peak_workloads(host, placements, *threads, *instruction_sets)
        }
        MeasureRequest::Linpack { size, threads, blas } => {
            let cpus = domains::node(host, *threads, "threads")?.cpus;
            let n = sizes::equations(*size, host, &cpus, budget_s)?;
            let workload = LinpackWorkload { n, cpus, blas: blas.clone(), seed: LINPACK_SEED };
            Ok(vec![(format!("n={n}"), Workload::Linpack(workload))])
        }
        MeasureRequest::Network(asked) => {
            let taking = choices.pairs.as_ref().filter(|it| it.applies_to(request));
            let rounds = taking.map_or(1, |it| it.rounds.max(1));
            network::resolve(asked, choices.to.as_deref(), budget_s / f64::from(rounds))
        }
        MeasureRequest::Storage(asked) => storage::resolve(asked, host, budget_s),
        MeasureRequest::Files(asked) => files::resolve(asked, budget_s),
        MeasureRequest::Io500(asked) => io500::resolve(asked, host),
        MeasureRequest::Mpi(asked) if choices.pairs.as_ref().is_some_and(|it| it.of_mpi) => {
            // The other host is named by each pair.
            let hosts = MpiHosts { list: Some(String::new()), file: None };
            mpi::resolve(asked, host, &MpiChoices { hosts, ..choices.mpi.clone() })
        }
        MeasureRequest::Mpi(asked) => mpi::resolve(asked, host, &choices.mpi),
        MeasureRequest::Rdma(asked) => rdma::resolve(asked, choices.to.clone()),
        MeasureRequest::Command(asked) => {
            let workload = Workload::Command(Box::new(asked.workload.clone()));
            Ok(vec![(asked.workload.name.clone(), workload)])
        }
    }
}

/// Returns copies between all ordered pairs of NUMA nodes; with one node, of last-level caches;
/// with one cache, of the node with itself.
fn copy_workloads(host: &HostFacts) -> Result<Vec<NamedWorkload>, PlanError> {
    let between_nodes = memory::node_pairs(host)?;
    if !between_nodes.is_empty() {
        return Ok(between_nodes);
    }
    let single_domains = |placement: Placement| -> Vec<Domain> {
        let groups = domains::resolve(host, &[placement], None).unwrap_or_default();
        let single = groups.into_iter().filter(|group| group.domains.len() == 1);
        let domains = single.flat_map(|group| group.domains);
        domains.filter(|domain| !domain.cpus.is_empty()).collect()
    };
    let several = Some(single_domains(Placement::LastLevel(None))).filter(|it| it.len() > 1);
    let all = several.unwrap_or_else(|| single_domains(Placement::Node));
    let mut named = Vec::new();
    for domain in &all {
        for source in &all {
            let mut cpus = [domain.cpus.as_slice(), &source.cpus].concat();
            cpus.sort_unstable();
            cpus.dedup();
            let caches = host.topology.last_level_bytes(&cpus);
            let workload = CopyWorkload {
                domain: domain.clone(),
                source: source.clone(),
                bytes_per_array: sizes::array_bytes(host, None, caches, 1)?,
                node: None,
            };
            named.push((workload.name(), Workload::Copy(workload)));
        }
    }
    Ok(named)
}

/// Fixed, so that every run solves the same system of equations and runs are comparable.
const LINPACK_SEED: u64 = 2026;

fn stream_workloads(
    host: &HostFacts,
    placements: &[Placement],
    threads: Option<u32>,
    bytes: Option<Bytes>,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let mut named = Vec::new();
    for group in domains::resolve(host, placements, threads)? {
        let cpus: Vec<u32> = group.domains.iter().flat_map(|d| d.cpus.clone()).collect();
        let caches = host.topology.last_level_bytes(&cpus);
        let count = group.domains.len() as u64;
        let bytes_per_array = sizes::array_bytes(host, bytes, caches, count)?;
        let multiple = (bytes_per_array * count) as f64 / caches.max(1) as f64;
        let workload = StreamWorkload {
            domains: group.domains,
            bytes_per_array,
            cache_multiple: sizes::round_for_display(multiple),
        };
        named.push((group.name, Workload::Stream(workload)));
    }
    Ok(named)
}

fn latency_workloads(
    host: &HostFacts,
    from: Bytes,
    to: Option<Bytes>,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let cpu = domains::first_core(host);
    let caches = host.topology.last_level_bytes(&[cpu]);
    let visible = host.topology.last_level().next().map(|cache| cache.line_bytes);
    let line_bytes = visible.unwrap_or_else(usual_line_bytes);
    let name = |bytes| format!("bytes={bytes}");
    let workload = |bytes| Workload::Latency(LatencyWorkload { cpu, bytes, line_bytes });
    let sizes = sizes::ladder(host, from, to, caches)?;
    Ok(sizes.into_iter().map(|bytes| (name(bytes), workload(bytes))).collect())
}

fn peak_workloads(
    host: &HostFacts,
    placements: &[Placement],
    threads: Option<u32>,
    which: InstructionSets,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let sets = instruction_sets(host);
    let sets = match which {
        InstructionSets::Widest => &sets[..1],
        InstructionSets::Every => &sets[..],
    };
    let mut named = Vec::new();
    for group in domains::resolve(host, placements, threads)? {
        let [domain] = group.domains.as_slice() else { continue };
        for set in sets {
            let instruction_set = (*set).to_owned();
            let workload = PeakFlopsWorkload { domain: domain.clone(), instruction_set };
            named.push((format!("{}/{set}", group.name), Workload::PeakFlops(workload)));
        }
    }
    Ok(named)
}

/// Returns the instruction sets of the processor, widest first, with `portable` at the end.
fn instruction_sets(host: &HostFacts) -> Vec<&'static str> {
    /// Name in assay and the CPU flags that it needs.
    const SETS: [(&str, &[&str]); 4] = [
        ("avx512", &["avx512f"]),
        ("avx2", &["avx2", "fma"]),
        ("sse2", &["sse2"]),
        ("neon", &["asimd"]),
    ];
    let has = |flag: &&str| host.cpu.flags.iter().any(|have| have == flag);
    let present = SETS.iter().filter(|(_, flags)| flags.iter().all(has));
    present.map(|(name, _)| *name).chain(["portable"]).collect()
}

#[cfg(test)]
mod tests;
