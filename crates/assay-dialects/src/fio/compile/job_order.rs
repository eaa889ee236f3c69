//! Order of the I/O of a clone, which is fio's.

use assay_model::workload::storage::{JobOrder, StridedZones};

use super::super::job_error::FioJobError;
use super::super::section_options::{
    FioOptions, OffsetDistribution, OffsetGenerator, VerifyMode,
};
use super::super::value::SizeOrPercent;
use super::files::{self, CloneFiles};
use super::{LocatedOptions, conflict, streams};

/// Number of blocks from which on fio draws offsets with 64 bits.
const NARROW_BLOCKS: u64 = u32::MAX as u64;
/// Maximum number of blocks of a map, which has a bit for each: 4 GiB of memory.
const MAX_MAP_BLOCKS: u64 = 1 << 35;

/// Returns the order of a clone. `number` counts the clones of all jobs from 1, `clone` those of this
/// job from 0.
pub(super) fn job_order(
    placed: &LocatedOptions,
    (number, clone): (u64, u32),
    used: &CloneFiles,
    seed: u64,
) -> Result<JobOrder, FioJobError> {
    let (job, _) = placed;
    let zones = strided_zones(placed)?;
    let map_block_bytes = files::all_smallest_io(job);
    let range = |bytes: u64| zones.map_or(bytes, |zones: StridedZones| zones.range_bytes);
    let largest = used.extents.iter().map(|extent| range(extent.bytes)).max().unwrap_or(0);
    let is_register = job.generator == OffsetGenerator::Lfsr && has_plain_draws(job);
    let keeps_map = wants_map(job) && !(job.rw.random && is_register);
    if keeps_map && job.rw.random {
        check_map(placed, largest / map_block_bytes)?;
    }
    let verifies = job.verify == VerifyMode::On && job.rw.writes && job.read_back;
    let is_endless = job.is_endless();
    let order = JobOrder {
        files: used.extents.clone(),
        reads: job.rw.reads && !job.rw.trims_first,
        trims_first: job.rw.trims_first,
        writes: job.rw.writes,
        is_random: job.rw.random,
        random_percent: [job.random_percent.read, job.random_percent.write],
        run_length: job.rw.run_length,
        repeats_offset: job.repeats_offset,
        keeps_map,
        map_block_bytes,
        align_bytes: files::align_bytes(job),
        least_bytes: files::least_bytes(job),
        largest_bytes: files::all_largest_io(job),
        any_bytes: job.behaviour.any_bytes,
        sizes_by_order: job.behaviour.sizes_by_order,
        gap_bytes: job.rw.gap_bytes,
        zones,
        read_percent: job.read_percent,
        pass_bytes: pass_bytes(job, used),
        total_bytes: own_total(job).unwrap_or(used.pass_bytes),
        has_own_total: own_total(job).is_some(),
        loops: job.loops,
        ios: job.ios,
        is_endless,
        pass: only_pass(job),
        sync_every: if queues(job) || !job.rw.writes { 0 } else { job.sync_every },
        queues: queues(job),
        open_files: job.behaviour.open_files,
        turn_length: job.behaviour.turn_length,
        restarts_files: is_endless || job.loops > 1 || job.read_back,
        reopens_files: job.verify == VerifyMode::On && job.read_back,
        verifies: verifies || only_pass(job).is_some(),
        has_equal_sizes: job.verify == VerifyMode::On,
        // A given seed overrides `randrepeat`, but only after the seeds of the first clone were
        // made (`add_job` and `fixup_options` in init.c).
        repeats_draws: job.repeats_offsets && (clone == 0 || !job.has_seed),
        restarts_draws: job.repeats_offsets && !job.has_seed,
        repeats_all: job.repeats_all,
        is_wide: is_wide(job.generator, largest / map_block_bytes),
        is_register,
        seed,
        number,
        overlaps: sorts_writes(job, keeps_map, used.extents.len()),
        verify_backlog: verify_backlog(job).filter(|_| verifies),
        verify_batch: job.verify_batch,
        ..JobOrder::default()
    };
    let blocks = used.extents.iter().map(|extent| range(extent.bytes) / map_block_bytes);
    check_register(placed, &order, blocks)?;
    Ok(order)
}

/// Returns the pass of a job that has only one: a pass of reads that are verified is not counted as
/// done, and ends the job (`do_io` and `thread_main` in backend.c).
fn only_pass(job: &FioOptions) -> Option<u64> {
    (job.verify == VerifyMode::On && !job.rw.writes).then_some(0)
}

/// Refuses a map of too many blocks.
fn check_map(placed: &LocatedOptions, blocks: u64) -> Result<(), FioJobError> {
    if blocks <= MAX_MAP_BLOCKS {
        return Ok(());
    }
    let why = format!("the map of {blocks} blocks is too large");
    Err(conflict(placed, why, "add norandommap or raise bs="))
}

/// Whether offsets are drawn with 64 bits.
const fn is_wide(generator: OffsetGenerator, blocks: u64) -> bool {
    match generator {
        OffsetGenerator::Tausworthe => blocks > NARROW_BLOCKS,
        OffsetGenerator::Tausworthe64 => true,
        OffsetGenerator::Lfsr => false,
    }
}

/// Refuses a seed that the register of a file of so many blocks cannot begin with.
fn check_register(
    placed: &LocatedOptions,
    order: &JobOrder,
    mut blocks: impl Iterator<Item = u64> + Clone,
) -> Result<(), FioJobError> {
    if !order.is_random || !order.is_register {
        return Ok(());
    }
    if blocks.clone().any(|it| it >= MAX_MAP_BLOCKS) {
        let why = "random_generator=lfsr draws from fewer than 34,359,738,368 blocks";
        return Err(conflict(placed, why, "raise bs=, or give random_generator=tausworthe64"));
    }
    if blocks.any(|it| is_stuck(order, it)) {
        let why = "random_generator=lfsr cannot begin with its seed, as in fio";
        let advice = "give another randseed, or leave random_generator out";
        return Err(conflict(placed, why, advice));
    }
    Ok(())
}

/// Whether offsets are uniform, or uniform within zones.
fn has_plain_draws(job: &FioOptions) -> bool {
    matches!(
        job.behaviour.distribution,
        OffsetDistribution::Uniform | OffsetDistribution::Zoned { .. }
    )
}

/// Whether each block is used once (`fixup_options` in init.c).
fn wants_map(job: &FioOptions) -> bool {
    let is_even = job.behaviour.distribution == OffsetDistribution::Uniform
        && files::align_bytes(job) == files::least_bytes(job);
    job.random_map && (is_even || !job.rw.random)
}

/// Whether all bits of the shift register of a file are set, which no shift changes.
fn is_stuck(order: &JobOrder, blocks: u64) -> bool {
    let mask = u64::MAX >> blocks.leading_zeros().min(61);
    order.seeds()[JobOrder::OFFSETS] & mask == mask
}

/// Whether writes are read back in the order of files and offsets: fio does so without a random map
/// (`log_io_piece` in iolog.c). Writes to one file from its start to its end are in this order.
fn sorts_writes(job: &FioOptions, keeps_map: bool, files: usize) -> bool {
    match job.rw.random {
        true => !keeps_map,
        false => !job.random_map || job.rw.gap_bytes != 0 || job.behaviour.strided || files > 1,
    }
}

/// Returns the writes after which they are read back. A job that only time ends reads them back at
/// the end of each pass, if its engine queues I/O.
fn verify_backlog(job: &FioOptions) -> Option<u64> {
    let by_pass = (job.is_endless() && queues(job)).then_some(u64::MAX);
    job.verify_backlog.or(by_pass)
}

/// Returns `io_size` in bytes.
fn own_total(job: &FioOptions) -> Option<u64> {
    match job.io_size {
        Some(SizeOrPercent::Bytes(bytes)) if bytes > 0 => Some(bytes),
        Some(SizeOrPercent::Bytes(_) | SizeOrPercent::Percent(_)) | None => None,
    }
}

/// Returns the bytes after which a pass of queued I/O ends.
fn pass_bytes(job: &FioOptions, used: &CloneFiles) -> u64 {
    let size = used.pass_bytes;
    let overwrites = job.rw.writes && !job.rw.trims && job.rw.random && !wants_map(job);
    let bytes = if overwrites { size.max(own_total(job).unwrap_or(0)) } else { size };
    let reads_twice = job.verify == VerifyMode::On && job.verify_backlog.is_some();
    if reads_twice && job.rw.writes { bytes.saturating_add(size) } else { bytes }
}

/// Whether the engine queues I/O instead of finishing it at once.
pub(in crate::fio) fn queues(job: &FioOptions) -> bool {
    let is_null = job.engine == "null";
    !(streams::blocks(job) || job.rw.has_trims() || (is_null && job.depth == 1))
}

fn strided_zones(placed: &LocatedOptions) -> Result<Option<StridedZones>, FioJobError> {
    let (job, _) = placed;
    let manner = &job.behaviour;
    if !manner.strided && manner.zone_bytes > 0 {
        let why = "zonesize has no effect without zonemode=strided, and fio refuses it";
        return Err(conflict(placed, why, "add zonemode=strided, or leave it out"));
    }
    if !manner.strided {
        return Ok(None);
    }
    if manner.zone_bytes == 0 {
        let why = "zonemode=strided needs a zonesize";
        return Err(conflict(placed, why, "add zonesize=64m"));
    }
    let range_bytes =
        if manner.zone_range_bytes > 0 { manner.zone_range_bytes } else { manner.zone_bytes };
    Ok(Some(StridedZones {
        io_bytes: manner.zone_bytes,
        range_bytes,
        skip_bytes: manner.zone_skip_bytes,
    }))
}
