//! Stream properties of a clone other than its accesses: run time, pauses, CPUs, file
//! rotation.

use assay_model::workload::storage::{
    IoBatches, LatencyTarget, MemoryPolicy, MinimumRates, StreamBehavior, TargetRotation,
    ThinkTime, WarmUpBytes, WriteContent,
};

use super::super::job_error::FioJobError;
use super::super::section_options::{FioOptions, VerifyMode};
use super::files::CloneFiles;
use super::{
    FioCompileEnv, LocatedOptions, MMAP, conflict, differ, file_calls, job_order, priorities,
    verification, working_set,
};

/// Advice where a NUMA node cannot be used.
const NODES_HINT: &str = "`assay doctor` and `lscpu` show the nodes";

/// Start and duration of a job, where jobs that run together differ in them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunPeriod {
    start_after_s: f64,
    duration_s: Option<f64>,
}

/// Returns the start delay that all jobs have in common, in seconds.
pub(super) fn common_delay_s(members: &[LocatedOptions]) -> f64 {
    members.iter().map(|(job, _)| job.delay_s).fold(f64::INFINITY, f64::min)
}

/// Returns the common duration of jobs that run together; `None` = until the last one has done its
/// work.
pub(super) fn duration_s(members: &[LocatedOptions]) -> Option<f64> {
    if members.iter().any(|(job, _)| job.behaviour.ramp_bytes > 0) {
        // Each has its own, which begins after its warm-up.
        return None;
    }
    let common_s = common_delay_s(members);
    let each = members.iter().map(|(job, _)| Some(job.delay_s - common_s + job.runtime_s?));
    each.collect::<Option<Vec<f64>>>().map(|all| all.into_iter().fold(0.0, f64::max))
}

/// Common times of the jobs of a phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct PhasePeriod {
    delay_s: f64,
    /// Whether all jobs start and end together.
    is_common: bool,
}

impl PhasePeriod {
    /// Derives the times from all jobs of a phase, of which there is at least one.
    pub(super) fn from_members(members: &[LocatedOptions]) -> Self {
        let (first, _) = &members[0];
        let alike = |(other, _): &LocatedOptions| {
            let starts_together = !differ(other.delay_s, first.delay_s);
            let ramps = other.behaviour.ramp_bytes > 0;
            other.runtime_s == first.runtime_s && starts_together && !ramps
        };
        let is_common = members.iter().all(alike);
        Self { delay_s: common_delay_s(members), is_common }
    }

    /// Returns the start and duration of one job relative to the phase.
    pub(super) fn run_period(self, job: &FioOptions) -> RunPeriod {
        let start_after_s = job.delay_s - self.delay_s;
        let own_s = job.runtime_s.map(|runtime_s| runtime_s + job.ramp_s);
        RunPeriod { start_after_s, duration_s: own_s.filter(|_| !self.is_common) }
    }
}

/// Returns the behaviour of a clone; `thread_index` counts the clones of all jobs from 0: fio's
/// `thread_number - 1`, which selects the CPU of a clone where they are split.
pub(super) fn conduct(
    placed: &LocatedOptions,
    thread_index: usize,
    used: &CloneFiles,
    times: RunPeriod,
    places: &FioCompileEnv<'_>,
) -> Result<StreamBehavior, FioJobError> {
    let (job, _) = placed;
    let manner = &job.behaviour;
    let several = used.targets.len() > 1;
    check_combinations(placed)?;
    file_calls::check(placed)?;
    let queues = job_order::queues(job);
    let pauses = ThinkTime {
        after_ios: match (manner.think_after_ios, manner.think_io_ns) {
            // The time alone counts.
            (0, 1..) => u32::MAX,
            (ios, _) => ios.max(1),
        },
        length_ns: manner.think_ns,
        spin_ns: manner.think_spin_ns.min(manner.think_ns),
        after_ns: manner.think_io_ns,
    };
    Ok(StreamBehavior {
        write_sizes: job.sizes_of_io().1.to_vec(),
        trims: job.rw.trims,
        trims_first: job.rw.trims_first,
        skew: None,
        pauses: (manner.think_ns > 0).then_some(pauses),
        turns: several.then(|| manner.turns.unwrap_or(TargetRotation::Round)),
        cpus: cpus(placed, thread_index, places)?,
        start_after_s: times.start_after_s,
        duration_s: times.duration_s,
        ends_phase: manner.ends_all,
        ends_on_error: true,
        ends_when_full: manner.ends_when_full,
        tolerated_errors: job.load.tolerated_errors(),
        ends_phase_on_error: job.load.ends_all_on_error,
        ends_plan: manner.ends_later_jobs && (manner.ends_all || job.load.ends_all_on_error),
        // Set where its writes are read back.
        reads_back: false,
        nice: manner.nice,
        io_priority: manner.io_priority(),
        priorities: priorities::io_priorities(placed)?.map(Box::new),
        memory_policy: memory_policy(placed, places)?.map(Box::new),
        content: content(placed)?.map(Box::new),
        syncs_file_system: job.behaviour.syncs_file_system,
        most_latency_ns: manner.max_latency_ns,
        keeps_journal: job.logs.needs_every_io(),
        maps_files: maps_files(placed)?,
        file_call: file_calls::file_call(job),
        times_submission: queues,
        plain_pages: !manner.huge_pages,
        syncs_data_only: manner.syncs_data_only && job.sync_every > 0,
        sync_range_flags: sync_range_flags(placed)?,
        // Filled in by the caller, which numbers the clones and has the traces.
        order: None,
        replay: vec![],
        batches: queues.then(|| batches(job)),
        warm_up: warm_up(job),
        minimum_rates: minimum_rates(placed)?.map(Box::new),
        latency_goal: latency_goal(placed)?.map(Box::new),
    })
}

/// Rejects options of a job that exclude each other.
fn check_combinations(placed: &LocatedOptions) -> Result<(), FioJobError> {
    let (job, _) = placed;
    let has_rate = [&job.rate_bytes, &job.rate_iops]
        .iter()
        .any(|rate| rate.read.is_some() || rate.write.is_some());
    if job.rw.trims_first && (has_rate || job.verify != VerifyMode::Off) {
        let why = "trimwrite excludes a rate and verify";
        return Err(conflict(placed, why, "leave one out"));
    }
    verification::check_verify_only(placed)?;
    verification::check_saved_state(placed)?;
    if job.behaviour.ramp_bytes > 0 {
        check_ramp_size(placed)?;
    }
    if job.behaviour.think_ns > 0 && has_rate {
        let why = "thinktime and a rate exclude each other";
        return Err(conflict(placed, why, "leave one out"));
    }
    let may_overlap =
        job.depth > 1 && job.verify == VerifyMode::Off && job.rw.random && !job.random_map;
    if job.no_overlap && may_overlap {
        let why = "serialize_overlap needs a map of blocks or verify, which keep I/O apart";
        return Err(conflict(placed, why, "leave out norandommap"));
    }
    Ok(())
}

/// Returns the warm-up by bytes: of the job, or of its group together.
fn warm_up(job: &FioOptions) -> Option<WarmUpBytes> {
    let bytes = job.behaviour.ramp_bytes;
    (bytes > 0).then_some(WarmUpBytes { bytes, is_common: job.group_reporting })
}

/// Rejects options that exclude `ramp_size`.
fn check_ramp_size(placed: &LocatedOptions) -> Result<(), FioJobError> {
    let (job, _) = placed;
    if job.ramp_s > 0.0 {
        let why = "ramp_time and ramp_size exclude each other, as in fio";
        return Err(conflict(placed, why, "leave one out"));
    }
    if job.verify == VerifyMode::On && job.rw.writes {
        let why = "ramp_size excludes verify of its writes, which are those of all passes";
        return Err(conflict(placed, why, "use ramp_time"));
    }
    if job.group_reporting && job.new_group {
        let why = "ramp_size counts the I/O of all jobs that run together";
        return Err(conflict(placed, why, "leave out new_group or group_reporting"));
    }
    Ok(())
}

/// Whether the engine of a job maps its files.
fn maps_files(placed: &LocatedOptions) -> Result<bool, FioJobError> {
    let (job, _) = placed;
    let maps = job.engine == MMAP;
    if maps && job.direct {
        let why = "mmap uses the page cache, which direct=1 bypasses";
        return Err(conflict(placed, why, "leave one out"));
    }
    if maps && job.behaviour.appends {
        let why = "mmap and file_append exclude each other: a mapped file does not grow";
        return Err(conflict(placed, why, "leave one out"));
    }
    Ok(maps)
}

/// Returns the flags of a job's syncs of a range, if it makes any.
fn sync_range_flags(placed: &LocatedOptions) -> Result<Option<u32>, FioJobError> {
    let (job, _) = placed;
    let flags = job.behaviour.sync_range_flags.filter(|_| job.sync_every > 0 && job.rw.writes);
    if flags.is_some() && job.engine != "null" && job_order::queues(job) {
        let why = "sync_file_range is a blocking call, and its engine queues I/O";
        return Err(conflict(placed, why, "use ioengine=psync, or fsync or fdatasync"));
    }
    Ok(flags)
}

/// Returns the contents of a job's writes, if they are not unique numbers.
fn content(placed: &LocatedOptions) -> Result<Option<WriteContent>, FioJobError> {
    let (job, _) = placed;
    if job.contents.verifies_pattern && job.contents.verify_pattern.is_empty() {
        let why = "verify=pattern has no pattern";
        return Err(conflict(placed, why, "add verify_pattern=0xdeadbeef"));
    }
    let contents = &job.contents;
    let (pattern, offset_places) = match contents.verifies_pattern {
        true => (contents.verify_pattern.clone(), contents.offset_places.clone()),
        false => (contents.buffer_pattern.clone(), vec![]),
    };
    let duplicate_share = contents.duplicate_percent / 100.0;
    let is_unique = pattern.is_empty() && duplicate_share <= 0.0;
    // Blocks with stamps contain nothing else.
    let is_stamped = job.verify == VerifyMode::On && !contents.verifies_pattern;
    if is_unique || is_stamped {
        return Ok(None);
    }
    let working_set = working_set::working_set(placed)?;
    Ok(Some(WriteContent { pattern, offset_places, duplicate_share, working_set }))
}

/// Returns the batches of a job; glibc's asynchronous I/O submits one by one.
fn batches(job: &FioOptions) -> IoBatches {
    let batches = job.load.batches(job.depth);
    let submits_singly = job.engine == "posixaio";
    IoBatches { submit: if submits_singly { 1 } else { batches.submit }, ..batches }
}

/// Returns the latency that a job keeps by its depth.
fn latency_goal(placed: &LocatedOptions) -> Result<Option<LatencyTarget>, FioJobError> {
    let (job, _) = placed;
    let Some(goal) = job.load.latency_goal() else { return Ok(None) };
    if !job_order::queues(job) {
        let why = "latency_target searches a depth, and its engine has one I/O in flight";
        return Err(conflict(placed, why, "use ioengine=io_uring or libaio with iodepth="));
    }
    let has_rate = [&job.rate_bytes, &job.rate_iops]
        .iter()
        .any(|rate| rate.read.is_some() || rate.write.is_some());
    if has_rate || job.behaviour.think_ns > 0 || job.behaviour.flow > 0 {
        let why = "latency_target excludes a rate, thinktime and flow";
        return Err(conflict(placed, why, "leave one out"));
    }
    Ok(Some(goal))
}

/// Returns the minimum rates of a job; one above its rate can never be met.
fn minimum_rates(placed: &LocatedOptions) -> Result<Option<MinimumRates>, FioJobError> {
    let (job, _) = placed;
    let load = &job.load;
    let pairs =
        [(&job.rate_bytes, &load.least_bytes_per_s), (&job.rate_iops, &load.least_ios_per_s)];
    let exceeds =
        |rate: Option<f64>, least: Option<f64>| rate.zip(least).is_some_and(|it| it.0 < it.1);
    if pairs
        .iter()
        .any(|(rate, least)| exceeds(rate.read, least.read) || exceeds(rate.write, least.write))
    {
        let why = "its minimum rate exceeds its rate";
        return Err(conflict(placed, why, "lower rate_min or rate_iops_min"));
    }
    let rates = load.minimum_rates();
    let has_both = |it: &MinimumRates| {
        it.bytes_per_s.iter().any(Option::is_some) && it.ios_per_s.iter().any(Option::is_some)
    };
    if rates.as_ref().is_some_and(has_both) {
        let why = "rate_min and rate_iops_min exclude each other";
        return Err(conflict(placed, why, "leave one out"));
    }
    Ok(rates)
}

/// Returns the nodes of a job's memory; without a list, pages take turns on all nodes.
fn memory_policy(
    placed: &LocatedOptions,
    places: &FioCompileEnv<'_>,
) -> Result<Option<MemoryPolicy>, FioJobError> {
    let (job, _) = placed;
    let Some(mut policy) = job.behaviour.memory_policy.clone() else { return Ok(None) };
    let Some(known) = places.memory_nodes else { return Ok(Some(policy)) };
    if let Some(node) = policy.nodes.iter().find(|node| !known.contains(node)) {
        let why = match (places.cpus_of_node)(*node) {
            Some(_) => format!("NUMA node {node} has no memory"),
            None => format!("this machine has no NUMA node {node}"),
        };
        return Err(conflict(placed, why, NODES_HINT));
    }
    if policy.nodes.is_empty() {
        policy.nodes = known.to_vec();
    }
    Ok(Some(policy))
}

fn cpus_of_node(
    placed: &LocatedOptions,
    node: usize,
    places: &FioCompileEnv<'_>,
) -> Result<Vec<usize>, FioJobError> {
    (places.cpus_of_node)(node).ok_or_else(|| {
        let has_memory = places.memory_nodes.is_some_and(|known| known.contains(&node));
        let why = match has_memory {
            true => format!("NUMA node {node} has no CPUs that this process may use"),
            false => format!("this machine has no NUMA node {node}"),
        };
        conflict(placed, why, NODES_HINT)
    })
}

fn cpus(
    placed: &LocatedOptions,
    thread_index: usize,
    places: &FioCompileEnv<'_>,
) -> Result<Vec<usize>, FioJobError> {
    let (job, _) = placed;
    let mut cpus = job.behaviour.cpus.clone();
    for node in &job.behaviour.nodes {
        cpus.extend(cpus_of_node(placed, *node, places)?);
    }
    match (job.behaviour.splits_cpus, cpus.len()) {
        (true, 1..) => Ok(vec![cpus[thread_index % cpus.len()]]),
        _ => Ok(cpus),
    }
}
