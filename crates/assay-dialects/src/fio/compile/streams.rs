//! Compilation of a clone to a stream: pattern, depth, rate and end.

use assay_model::workload::storage::{
    AccessPattern, AtEnd, Cursor, EngineChoice, SizeShare, StorageLoad, StorageStream,
    StorageTarget, StreamBehavior,
};

use super::super::job_error::FioJobError;
use super::super::section_options::{FioOptions, OffsetDistribution};
use super::super::value::SizeOrPercent;
use super::files::CloneFiles;
use super::{ENGINES, LocatedOptions, arrivals, conflict};

/// Engines of fio that assay does not have, with the reason.
const REFUSED_ENGINES: &[(&[&str], &str)] = &[
    (
        &["splice"],
        "its data goes through a pipe, 64 KiB at most at once, which is not the device's",
    ),
    (
        &["net", "netsplice", "rdma"],
        "it measures a network; see `assay iperf3` and `assay ib_send_bw`",
    ),
    (
        &["dircreate", "dirstat", "dirdelete"],
        "an engine of fio 3.37; assay makes calls on files only",
    ),
    (&["cpuio"], "it does no I/O"),
    (&["exec"], "assay starts no command that a job file names"),
    (
        &["falloc", "ftruncate", "e4defrag"],
        "it changes the size or the place of a file, not its data",
    ),
    (
        &["sg", "mtd", "libzbc", "io_uring_cmd", "libblkio", "xnvme"],
        "it is one for other devices",
    ),
];

/// Returns the engine of a job and an optional note for the user.
pub(super) fn engine(
    placed: &LocatedOptions,
) -> Result<(EngineChoice, Option<String>), FioJobError> {
    let (job, _) = placed;
    let engine_name = job.engine.as_str();
    let Some((name, choice, blocks, note)) =
        ENGINES.iter().find(|(name, ..)| *name == engine_name)
    else {
        let names = ENGINES.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
        let reason = REFUSED_ENGINES.iter().find(|(engines, _)| engines.contains(&engine_name));
        let reason = reason.map_or_else(String::new, |(_, why)| format!(" ({why})"));
        let why = format!("assay has no ioengine `{engine_name}`{reason}; it has {names}");
        return Err(conflict(
            placed,
            why,
            "choose io_uring or libaio, or run this job with fio",
        ));
    };
    let choice = match (choice, job.polls) {
        (_, false) => choice,
        (EngineChoice::IoUring, true) => &EngineChoice::IoUringPolled,
        (_, true) => {
            let why = format!("hipri needs ioengine=io_uring and does not work with {name}");
            return Err(conflict(placed, why, "choose io_uring, or leave hipri out"));
        }
    };
    if job.rw.has_trims() && *choice != EngineChoice::Null {
        let note = "trims are synchronous, so one is in flight at a time, as in fio".to_owned();
        return Ok((EngineChoice::Threads, (job.depth > 1).then_some(note)));
    }
    let note = match (*blocks && job.depth > 1, *note) {
        (true, _) => Some(format!("iodepth has no effect: {name} has one I/O in flight")),
        (false, "") => None,
        (false, note) => Some(format!("{name}: {note}")),
    };
    Ok((*choice, note))
}

/// Whether the engine of a job has one I/O in flight.
pub(in crate::fio) fn blocks(job: &FioOptions) -> bool {
    ENGINES.iter().any(|(name, _, blocks, _)| *blocks && *name == job.engine)
}

pub(super) fn stream(
    placed: &LocatedOptions,
    clone: u32,
    used: &CloneFiles,
) -> Result<StorageStream, FioJobError> {
    let (job, _) = placed;
    let (sizes, _) = job.sizes_of_io();
    let (own_rate_per_s, read_share) = rate(placed)?;
    let depth = if blocks(job) || job.rw.has_trims() { 1 } else { job.depth };
    Ok(StorageStream {
        name: format!("{}.{clone}", job.name),
        targets: used.targets.clone(),
        threads: 1,
        in_flight_per_target: depth,
        pattern: pattern(placed),
        sizes: sizes.to_vec(),
        read_share,
        hit_area: None,
        rate_share: 1.0,
        own_rate_per_s,
        sync_every: if job.rw.writes { job.sync_every } else { 0 },
        stop_after_bytes: total_bytes(placed, sizes, used)?,
        // Filled in by the caller, which has the other jobs.
        conduct: StreamBehavior::default(),
    })
}

/// Turns a stream into one that reads its targets once, in order. Its end is not that of others,
/// which read back their own writes.
pub(super) fn make_read_back(stream: &mut StorageStream, targets: &[StorageTarget]) {
    let region = |index: &usize| targets[*index].range_bytes.map_or(0, |(from, to)| to - from);
    let (turns, cpus) = (stream.conduct.turns, std::mem::take(&mut stream.conduct.cpus));
    let (nice, io_priority) = (stream.conduct.nice, stream.conduct.io_priority);
    let memory_policy = stream.conduct.memory_policy.take();
    let content = stream.conduct.content.take();
    let maps_files = stream.conduct.maps_files;
    let (ends_on_error, ends_phase_on_error) =
        (stream.conduct.ends_on_error, stream.conduct.ends_phase_on_error);
    let tolerated_errors = std::mem::take(&mut stream.conduct.tolerated_errors);
    let ends_plan = stream.conduct.ends_plan;
    let plain_pages = stream.conduct.plain_pages;
    let (times_submission, batches) = (stream.conduct.times_submission, stream.conduct.batches);
    let keeps_journal = stream.conduct.keeps_journal;
    let most_latency_ns = stream.conduct.most_latency_ns;
    let order = stream.conduct.order.take().map(|mut order| {
        order.reads_back = true;
        order
    });
    let read_sizes = std::mem::take(&mut stream.conduct.write_sizes);
    let bytes = if order.is_some() { stream.stop_after_bytes } else { None };
    // The order draws reads and writes from their own sizes.
    let write_sizes = if order.is_some() { read_sizes } else { vec![] };
    stream.conduct = StreamBehavior {
        turns,
        cpus,
        nice,
        io_priority,
        memory_policy,
        maps_files,
        ends_on_error,
        tolerated_errors,
        ends_phase_on_error,
        content,
        ends_plan,
        reads_back: true,
        plain_pages,
        order,
        write_sizes,
        times_submission,
        batches,
        keeps_journal,
        most_latency_ns,
        ..StreamBehavior::default()
    };
    stream.pattern =
        AccessPattern::Sequential { cursor: Cursor::Shared, at_end: AtEnd::Stop, gap_bytes: 0 };
    stream.read_share = 1.0;
    stream.own_rate_per_s = None;
    stream.sync_every = 0;
    let all_bytes = stream.targets.iter().map(region).sum();
    // The last write may exceed the bytes of a pass, and it need not be read back last.
    let largest = stream.all_sizes().map(|size| size.max_bytes).max().unwrap_or(0);
    stream.stop_after_bytes = Some(match bytes {
        // There is nothing to read back.
        Some(0) => 0,
        Some(bytes) => bytes.saturating_add(largest),
        None => all_bytes,
    });
}

/// Returns the load of jobs that run together. If every job has a rate, arrivals are scheduled. A
/// job without a rate keeps its depth full. With `flow`, no job gets ahead of the others.
pub(super) fn load(
    members: &[LocatedOptions],
    streams: &mut [StorageStream],
) -> Result<StorageLoad, FioJobError> {
    if let Some(first) = members.iter().find(|(job, _)| job.behaviour.flow > 0) {
        set_flow_shares(members, first, streams)?;
        return Ok(StorageLoad::Balanced);
    }
    let rates: Option<Vec<f64>> = streams.iter().map(|stream| stream.own_rate_per_s).collect();
    let count = streams.len().max(1) as f64;
    let Some(rates) = rates else {
        streams.iter_mut().for_each(|stream| stream.rate_share = 1.0 / count);
        return Ok(StorageLoad::Closed);
    };
    let rate_per_s: f64 = rates.iter().sum();
    for (stream, rate) in streams.iter_mut().zip(rates) {
        stream.rate_share = rate / rate_per_s;
        stream.own_rate_per_s = None;
    }
    let poisson = members.iter().any(|(job, _)| job.poisson);
    Ok(StorageLoad::Open { rate_per_s, arrivals: arrivals(poisson) })
}

/// Sets the shares of jobs with `flow`, one per clone; jobs without it are not limited.
fn set_flow_shares(
    members: &[LocatedOptions],
    first: &LocatedOptions,
    streams: &mut [StorageStream],
) -> Result<(), FioJobError> {
    for placed in members.iter().filter(|(job, _)| job.behaviour.flow > 0) {
        let manner = &placed.0.behaviour;
        let has_rate = rate(placed)?.0.is_some();
        let (why, hint) = if manner.flow_id != first.0.behaviour.flow_id {
            ("jobs of several flows run at the same time", "give them one flow_id")
        } else if has_rate || manner.think_ns > 0 {
            ("flow excludes a rate and thinktime", "leave out one of them")
        } else {
            continue;
        };
        return Err(conflict(placed, why, hint));
    }
    let flow = |job: &FioOptions| job.behaviour.flow as f64;
    let clone_flows = members.iter().map(|(job, _)| flow(job) * f64::from(job.clones));
    let sum: f64 = clone_flows.sum();
    let each = members
        .iter()
        .flat_map(|(job, _)| std::iter::repeat_n(flow(job) / sum, job.clones as usize));
    for (stream, share) in streams.iter_mut().zip(each) {
        stream.rate_share = share;
    }
    Ok(())
}

/// Returns the pattern that describes the clone's order.
fn pattern(placed: &LocatedOptions) -> AccessPattern {
    let (job, _) = placed;
    let manner = &job.behaviour;
    if manner.strided && !job.rw.random {
        let skip_bytes = manner.zone_skip_bytes;
        return AccessPattern::Strides { least_bytes: skip_bytes, most_bytes: skip_bytes };
    }
    let percents = &job.random_percent;
    let percent = if job.rw.reads { percents.read } else { percents.write };
    if job.rw.random && percent < 100.0 {
        return AccessPattern::Mixed { random_share: percent / 100.0 };
    }
    // fio keeps no random map unless offsets are uniformly distributed.
    let maps =
        job.random_map && !manner.strided && manner.distribution == OffsetDistribution::Uniform;
    match (job.rw.random, maps) {
        (true, true) => AccessPattern::Permutation,
        (true, false) => AccessPattern::Random,
        // The amount of work is a number of bytes, so `loops` and `io_size` need no other end.
        (false, _) => AccessPattern::Sequential {
            cursor: Cursor::Shared,
            at_end: AtEnd::Wrap,
            gap_bytes: job.rw.gap_bytes.unsigned_abs(),
        },
    }
}

/// Returns an upper bound of the bytes after which the clone ends; `None` if only time ends it.
fn total_bytes(
    placed: &LocatedOptions,
    sizes: &[SizeShare],
    used: &CloneFiles,
) -> Result<Option<u64>, FioJobError> {
    let (job, _) = placed;
    if job.behaviour.creates_only {
        return Ok(Some(0));
    }
    if job.is_endless() {
        return Ok(None);
    }
    let total = match job.io_size {
        Some(SizeOrPercent::Bytes(bytes)) if bytes > 0 => bytes,
        _ => used.pass_bytes,
    };
    let total = total.saturating_mul(job.loops);
    let all = sizes.iter().chain(job.sizes_of_io().1);
    let largest = all.map(|size| size.max_bytes).max().unwrap_or(1);
    let by_count = job.ios.map(|count| count.saturating_mul(job.loops).saturating_mul(largest));
    let bytes = by_count.map_or(total, |bytes| bytes.min(total));
    let reads_back = job.verify_backlog.is_some() && job.read_back && job.rw.writes;
    match bytes {
        0 => Err(conflict(placed, "there is nothing to do", "raise size= or io_size=")),
        // Each byte is read back, or trimmed before. Each pass may exceed its bytes by less than one
        // I/O.
        bytes if reads_back || job.rw.trims_first => {
            let excess = largest.saturating_mul(job.loops);
            Ok(Some(bytes.saturating_add(excess).saturating_mul(2)))
        }
        bytes => Ok(Some(bytes)),
    }
}

/// Returns the clone's rate in IO/s and its share of reads. Reads and writes each have their own
/// rate; if both have one, the rates determine the mix.
fn rate(placed: &LocatedOptions) -> Result<(Option<f64>, f64), FioJobError> {
    let (job, _) = placed;
    let [reads, writes] = rates(job);
    match (job.rw.reads, job.rw.writes, reads, writes) {
        (true, true, Some(reads), Some(writes)) => {
            Ok((Some(reads + writes), reads / (reads + writes)))
        }
        (true, true, None, None) => Ok((None, job.read_share())),
        // The other direction is not limited: the loop is closed, and its order keeps the pace.
        // The direction with a rate yields to the other, so both need buffers and permission.
        (true, true, ..) => Ok((None, job.read_share().clamp(0.001, 0.999))),
        (true, false, reads, _) => Ok((reads, 1.0)),
        (false, _, _, writes) => Ok((writes, 0.0)),
    }
}

/// Returns the rates of reads and of writes in IO/s.
fn rates(job: &FioOptions) -> [Option<f64>; 2] {
    let minimum = |per_s: Option<f64>, bytes_per_s: Option<f64>, sizes: &[SizeShare]| {
        let by_bytes = bytes_per_s.map(|rate| rate / mean_bytes(sizes));
        match (per_s, by_bytes) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    };
    [
        minimum(job.rate_iops.read, job.rate_bytes.read, &job.sizes.read),
        minimum(job.rate_iops.write, job.rate_bytes.write, &job.sizes.write),
    ]
}

/// Returns the rates of reads and of writes, if only one of them is limited.
pub(super) fn paces_per_s(job: &FioOptions) -> [Option<f64>; 2] {
    match (job.rw.reads && job.rw.writes, rates(job)) {
        (true, [Some(reads), None]) => [Some(reads), None],
        (true, [None, Some(writes)]) => [None, Some(writes)],
        _ => [None; 2],
    }
}

fn mean_bytes(sizes: &[SizeShare]) -> f64 {
    let mean =
        |size: &SizeShare| size.share * (size.min_bytes as f64 + size.max_bytes as f64) / 2.0;
    sizes.iter().map(mean).sum()
}
