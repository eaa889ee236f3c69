//! Validation of a workload before anything starts.
//!
//! Rejects contradictory values with a message that contains them; never changes them.

use assay_model::quantity::Bytes;
use assay_model::workload::storage::{
    AccessPattern, AtEnd, EngineChoice, MAX_RATE_PER_S, StorageLoad, StorageStream,
    StorageWorkload, Verify,
};

use super::content::SECTOR_BYTES;
use super::error::StorageError;
use super::phase;
use super::target::OpenedTarget;
use super::worker_plans;

/// Maximum size of one I/O: results of the kernel are signed 32-bit numbers, and this is the limit
/// of fixed buffers.
const MAXIMUM_IO_BYTES: u64 = 1 << 30;
/// The largest submission ring of the kernel (`IORING_MAX_ENTRIES`).
const MAXIMUM_DEPTH: u64 = 32_768;

/// Maximum number of threads of a stream, as in plans of file trees: on any machine, more would only
/// wait for each other.
const MAXIMUM_THREADS: u32 = 65_536;

/// Maximum number of blocks for verification, which keeps a byte per block: more would need more
/// memory than machines commonly have to spare, 4 GiB.
const MAX_VERIFIED_BLOCKS: u64 = 1 << 32;

/// Checks the parameters of a workload that do not depend on its targets.
pub(super) fn check_workload(workload: &StorageWorkload) -> Result<(), StorageError> {
    refuse_if(workload.streams.is_empty(), || "the workload has no streams".to_owned())?;
    let verifies = workload.data.verify != Verify::Off;
    refuse_if(verifies && workload.engine == EngineChoice::Null, || {
        "the null engine moves no data, so there is nothing to verify".to_owned()
    })?;
    match &workload.load {
        StorageLoad::ShareOf { phase, .. } => {
            let what = format!("the share of phase {phase} is not resolved");
            return Err(StorageError::Workload { what });
        }
        StorageLoad::Open { rate_per_s: rate, .. } => self::check_rate(*rate)?,
        StorageLoad::Capped { bytes_per_s: rate } => {
            refuse_if(!(rate.is_finite() && *rate > 0.0), || {
                format!("expected a positive, finite rate, found {rate}")
            })?;
        }
        StorageLoad::Closed | StorageLoad::Balanced => {}
    }
    let polls = workload.engine == EngineChoice::IoUringPolled;
    for target in &workload.targets {
        let path = target.path.display();
        refuse_if(target.align_bytes == Some(0), || {
            format!("{path}: I/O cannot start at multiples of 0 B")
        })?;
        refuse_if(polls && !target.direct, || {
            format!(
                "{path}: polling requires direct I/O; use direct I/O or the engine io_uring"
            )
        })?;
    }
    workload.streams.iter().try_for_each(|it| check_stream(workload, it))
}

fn check_rate(per_s: f64) -> Result<(), StorageError> {
    refuse_if(!(per_s > 0.0 && per_s <= MAX_RATE_PER_S), || {
        format!(
            "a rate of {per_s:e} per second; more than 0 and at most {MAX_RATE_PER_S:e} can be had"
        )
    })
}

fn check_stream(
    workload: &StorageWorkload,
    stream: &StorageStream,
) -> Result<(), StorageError> {
    let name = &stream.name;
    stream.own_rate_per_s.map_or(Ok(()), check_rate)?;
    refuse_if(stream.targets.is_empty(), || format!("stream `{name}` has no target"))?;
    if let Some(index) = stream.targets.iter().find(|&&at| at >= workload.targets.len()) {
        let what = format!("stream `{name}` names target {index}, which does not exist");
        return Err(StorageError::Workload { what });
    }
    refuse_if(stream.in_flight_per_target == 0 || stream.threads == 0, || {
        format!("stream `{name}` has nothing in flight")
    })?;
    refuse_if(stream.threads > MAXIMUM_THREADS, || {
        let threads = stream.threads;
        format!(
            "stream `{name}` has {threads} threads, but at most {MAXIMUM_THREADS} are supported"
        )
    })?;
    let depth = u64::from(stream.in_flight_per_target) * stream.targets.len() as u64;
    refuse_if(depth.div_ceil(u64::from(stream.threads)) > MAXIMUM_DEPTH, || {
        format!(
            "stream `{name}`: {depth} I/O in flight need more threads; use one per {MAXIMUM_DEPTH}"
        )
    })?;
    refuse_if(stream.sizes.is_empty(), || format!("stream `{name}` has no size"))?;
    for bytes in stream.all_sizes().flat_map(|size| [size.min_bytes, size.max_bytes]) {
        refuse_if(bytes == 0 || bytes > MAXIMUM_IO_BYTES, || {
            format!("stream `{name}`: I/O of {bytes} B is not supported; use 1 B to 1 GiB")
        })?;
    }
    let varies = stream.all_sizes().find(|size| size.max_bytes > size.min_bytes);
    refuse_if(varies.is_some_and(|size| size.step_bytes == 0), || {
        format!("stream `{name}`: sizes cannot vary in steps of 0 B")
    })?;
    check_conduct(workload, stream)?;
    refuse_if(!can_end(workload, stream), || {
        format!("stream `{name}` never ends; set a duration or a number of bytes")
    })
}

/// Checks trims, syncs, pauses, skew and rotation of a stream.
fn check_conduct(
    workload: &StorageWorkload,
    stream: &StorageStream,
) -> Result<(), StorageError> {
    let (name, conduct) = (&stream.name, &stream.conduct);
    let waits = matches!(workload.engine, EngineChoice::Threads | EngineChoice::Null);
    let trims = conduct.trims || conduct.trims_first;
    refuse_if(trims && !waits, || {
        format!("stream `{name}`: trims require the engine threads")
    })?;
    refuse_if(conduct.sync_range_flags.is_some() && !waits, || {
        format!("stream `{name}`: syncs of a range require the engine threads")
    })?;
    let is_simple = stream.sync_every == 0 && !trims && workload.data.verify == Verify::Off;
    let has_calls = conduct.file_call.is_some();
    refuse_if(has_calls && !(workload.engine == EngineChoice::Threads && is_simple), || {
        format!("stream `{name}`: calls on files need the engine threads, and are the only I/O")
    })?;
    refuse_if(trims && workload.data.verify != Verify::Off, || {
        format!("stream `{name}`: trimmed data cannot be verified")
    })?;
    let polls = workload.engine == EngineChoice::IoUringPolled;
    refuse_if(polls && stream.sync_every > 0, || {
        format!(
            "stream `{name}`: fsync does not support polling; omit it or use the engine io_uring"
        )
    })?;
    let in_flight = u64::from(stream.in_flight_per_target) * u64::from(stream.threads);
    let blocks = workload.engine == EngineChoice::Threads;
    let is_single = stream.threads == 1 && (in_flight == 1 || !blocks);
    let has_batches = conduct.batches.is_some() && !blocks;
    refuse_if(conduct.latency_goal.is_some() && !has_batches, || {
        format!("stream `{name}`: the search for a depth requires an engine that queues I/O")
    })?;
    let is_ordered = conduct.order.is_some() || !conduct.replay.is_empty();
    refuse_if(is_ordered && !is_single, || {
        format!("stream `{name}`: the order of a job requires a single thread")
    })?;
    let has_rate = workload.load != StorageLoad::Closed || stream.own_rate_per_s.is_some();
    refuse_if(conduct.pauses.is_some() && has_rate, || {
        format!("stream `{name}`: pauses and a rate are mutually exclusive")
    })?;
    let is_random = stream.pattern == AccessPattern::Random;
    refuse_if(conduct.skew.is_some() && !is_random, || {
        format!("stream `{name}`: skew requires random offsets")
    })?;
    refuse_if(conduct.turns.is_some() && stream.threads > 1, || {
        format!("stream `{name}`: rotating targets require a single thread")
    })
}

fn can_end(workload: &StorageWorkload, stream: &StorageStream) -> bool {
    let timing = &workload.timing;
    let stops = matches!(
        stream.pattern,
        AccessPattern::Sequential { at_end: AtEnd::Stop, .. } | AccessPattern::Blocks { .. }
    );
    stops
        || timing.duration_s.is_some()
        || timing.stop_after_bytes.is_some()
        || stream.stop_after_bytes.is_some()
        || stream.conduct.duration_s.is_some()
}

/// Checks the streams against the targets as opened.
pub(super) fn check_targets(
    workload: &StorageWorkload,
    opened: &[OpenedTarget],
) -> Result<(), StorageError> {
    for stream in &workload.streams {
        for &index in &stream.targets {
            let (target, opened) = (&workload.targets[index], &opened[index]);
            let path = target.path.display();
            let room = opened.area.end - opened.area.start;
            let maximum = worker_plans::maximum_bytes(stream);
            // The largest recorded I/O may be that of another file.
            let draws_sizes = stream.conduct.replay.is_empty();
            refuse_if(draws_sizes && maximum > room, || {
                let (maximum, room) = (Bytes(maximum), Bytes(room));
                format!(
                    "{path}: I/O of {maximum} does not fit into the {room} in use; use smaller I/O or a larger target"
                )
            })?;
            let stamped =
                if phase::is_stamped(workload, index) { SECTOR_BYTES as u64 } else { 1 };
            let granule = opened.granule.max(stamped);
            let room_blocks = || room / phase::block_bytes(workload, index, opened.area.start);
            refuse_if(stamped > 1 && room_blocks() > MAX_VERIFIED_BLOCKS, || {
                format!(
                    "{path}: verification needs a byte per block, and {room} B have {} blocks; \
                     use a smaller range or larger I/O",
                    room_blocks()
                )
            })?;
            for bytes in lengths_and_offsets(stream, target.align_bytes, opened.area.start) {
                refuse_if(bytes % granule != 0, || {
                    let (asks, or) = match granule > stamped {
                        true => ("direct I/O requires", ", or use buffered I/O"),
                        false => ("verification requires", ""),
                    };
                    format!(
                        "{path}: {bytes} B is not a multiple of the {granule} B that {asks}; \
                         use a multiple{or}"
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// Returns all lengths and offsets that those of every I/O are sums of.
fn lengths_and_offsets(
    stream: &StorageStream,
    align: Option<u64>,
    start: u64,
) -> impl Iterator<Item = u64> {
    let gap = match stream.pattern {
        AccessPattern::Sequential { gap_bytes, .. } => gap_bytes,
        AccessPattern::Blocks { stride_bytes, .. } => stride_bytes,
        AccessPattern::Strides { least_bytes, .. } => least_bytes,
        AccessPattern::Random | AccessPattern::Permutation | AccessPattern::Mixed { .. } => 0,
    };
    let sizes = stream.all_sizes().flat_map(|size| {
        let step = if size.max_bytes > size.min_bytes { size.step_bytes } else { 0 };
        [size.min_bytes, step]
    });
    // A hot area ends where the rest begins, but only sequential I/O starts exactly there.
    let hot = stream.hit_area.map_or(0, |hit| hit.bytes);
    let steps = stream.conduct.order.iter().flat_map(|order| phase::order_steps(order));
    sizes.chain([align.unwrap_or(0), start, gap, hot]).chain(steps)
}

fn refuse_if(is_wrong: bool, what: impl FnOnce() -> String) -> Result<(), StorageError> {
    if is_wrong { Err(StorageError::Workload { what: what() }) } else { Ok(()) }
}
