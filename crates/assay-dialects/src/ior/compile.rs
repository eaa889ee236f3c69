//! Compilation of one repetition of a test to a plan: every rank is a stream with one I/O in
//! flight.

use std::fmt::Write as _;
use std::path::PathBuf;

use assay_model::path_text;
use assay_model::seed;
use assay_model::workload::storage::{
    AccessPattern, EngineChoice, NewFile, StorageData, StorageLoad, StoragePhase, StoragePlan,
    StorageStream, StorageTarget, StorageTiming, StorageWorkload, TargetOpening, Verify,
    WriteSync,
};
use serde::{Deserialize, Serialize};

use super::options::IorOptions;
use super::rank_placement::RankPlacement;

/// Purpose of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IorAccess {
    /// Timed writes.
    Write,
    /// Untimed read-back that verifies the writes (`-W`).
    CheckWrite,
    /// Timed reads.
    Read,
}

/// Default seed: shuffled offsets are the same in every run, unless `-G` is given.
const DEFAULT_SEED: u64 = 0x10_12;
/// Interval of the series: one second is the finest resolution that any output uses.
const INTERVAL_S: f64 = 1.0;

/// Returns the phases of one repetition (counted from 0) with their purposes.
pub fn compile(options: &IorOptions, repetition: u32) -> (StoragePlan, Vec<IorAccess>) {
    let wanted = [
        (options.write, IorAccess::Write),
        (options.check_write, IorAccess::CheckWrite),
        (options.read || options.check_read, IorAccess::Read),
    ];
    let accesses: Vec<IorAccess> = wanted
        .into_iter()
        .filter(|(is_wanted, _)| *is_wanted)
        .map(|(_, access)| access)
        .collect();
    let phases = accesses.iter().map(|access| phase(options, *access, repetition)).collect();
    (StoragePlan { phases }, accesses)
}

/// Returns the phase of one access in one repetition.
pub fn phase(options: &IorOptions, access: IorAccess, repetition: u32) -> StoragePhase {
    // IOR applies its delay before writes and before reads.
    let waits = access != IorAccess::CheckWrite;
    let name = match access {
        IorAccess::Write => "write",
        IorAccess::CheckWrite => "check",
        IorAccess::Read => "read",
    };
    StoragePhase {
        pause_before_s: if waits { f64::from(options.delay_s) } else { 0.0 },
        ..StoragePhase::new(name, workload(options, access, repetition))
    }
}

fn workload(options: &IorOptions, access: IorAccess, repetition: u32) -> StorageWorkload {
    let ranks = 0..options.ranks;
    let checked = checks(options);
    let limited = options.deadline_s > 0 && access != IorAccess::CheckWrite;
    StorageWorkload {
        targets: ranks.clone().map(|rank| target(options, access, rank, repetition)).collect(),
        streams: ranks.map(|rank| stream(options, access, rank)).collect(),
        load: StorageLoad::Closed,
        timing: StorageTiming {
            interval_s: INTERVAL_S,
            ..StorageTiming::new(limited.then(|| f64::from(options.deadline_s)))
        },
        engine: EngineChoice::Threads,
        data: StorageData {
            compressible: 0.0,
            verify: if checked { Verify::OnRead } else { Verify::Off },
        },
        seed: seed_of(options),
    }
}

/// Returns the rank whose part `rank` reads: its own, or another one with -C or -Z, so that its own
/// cache is not used.
fn part_read_by(options: &IorOptions, rank: u32, repetition: u32) -> u32 {
    let ranks = u64::from(options.ranks);
    // With a negative seed, the order changes in every repetition.
    let seed = match options.reorder_seed {
        seed @ ..0 => seed.unsigned_abs().wrapping_add(u64::from(repetition)),
        seed => seed.unsigned_abs(),
    };
    let part = match options.reorder_random {
        0 if options.reorder => {
            let shift = options.placement.map_or(1, RankPlacement::node_shift);
            (u64::from(rank) + u64::from(options.reorder_offset) * u64::from(shift)) % ranks
        }
        0 => u64::from(rank),
        1 => {
            let least = options.placement.map(|job| job.least_offset(options.reorder_offset));
            let least = u64::from(least.unwrap_or(0)).min(ranks - 1);
            let draw = seed::derive_seed(seed, u64::from(rank)) % (ranks - least);
            (u64::from(rank) + least + draw) % ranks
        }
        _ => {
            let mut parts: Vec<u32> = (0..options.ranks).collect();
            parts.sort_by_key(|part| seed::derive_seed(seed, u64::from(*part)));
            u64::from(parts[rank as usize])
        }
    };
    u32::try_from(part).unwrap_or(rank)
}

/// Returns the name of the file that contains the part of `rank`.
pub fn file_name(options: &IorOptions, rank: u32, repetition: u32) -> String {
    let mut name = options.test_file.clone();
    if options.file_per_rank {
        if options.unique_dir {
            let at = name.rfind('/').map_or(0, |at| at + 1);
            name.insert_str(at, &format!("{rank}/"));
        }
        let _ = write!(name, ".{rank:08}");
    }
    if options.multi_file {
        let _ = write!(name, ".{repetition}");
    }
    name
}

/// Returns the folders of the ranks with `-u`, which must exist before the files.
pub fn folders(options: &IorOptions) -> Vec<PathBuf> {
    if !(options.unique_dir && options.file_per_rank) {
        return vec![];
    }
    let name = |rank| path_text::decode_path(&file_name(options, rank, 0));
    (0..options.ranks).filter_map(|rank| Some(name(rank).parent()?.to_path_buf())).collect()
}

/// Returns the region of a file that a rank uses: the whole file, or its blocks in a shared file,
/// where the blocks of all ranks alternate. With -z -z, a rank accesses any offset.
fn target(
    options: &IorOptions,
    access: IorAccess,
    rank: u32,
    repetition: u32,
) -> StorageTarget {
    let part =
        if access == IorAccess::Write { rank } else { part_read_by(options, rank, repetition) };
    let name = file_name(options, part, repetition);
    let (start, bytes) = match options.file_per_rank {
        true => (0, options.block_bytes * options.segments),
        false if options.random > 1 => (0, options.aggregate_bytes()),
        false => (u64::from(part) * options.block_bytes, options.aggregate_bytes()),
    };
    // A write that a deadline ended has left less than the whole size; a read takes it as it is. So
    // does a check, which would else find what was written to be checked.
    let takes_all = options.status_file.is_some() || checks(options);
    let is_open_ended = grows(options) || (access != IorAccess::Write && takes_all);
    StorageTarget {
        path: path_text::decode_path(&name),
        name,
        size_bytes: (access == IorAccess::Write).then_some(bytes),
        range_bytes: Some((start, bytes)),
        align_bytes: None,
        direct: options.direct,
        sync: WriteSync::None,
        sync_at_end: options.fsync && access == IorAccess::Write,
        data_seed: Some(data_seed(options, part)),
        opening: TargetOpening {
            new_file: if is_open_ended { NewFile::Empty } else { NewFile::Written },
            ..TargetOpening::default()
        },
        duplicates: None,
    }
}

/// Returns the seed of the data of a file, which later command lines can check.
fn data_seed(options: &IorOptions, part: u32) -> u64 {
    let seed = seed_of(options);
    match options.file_per_rank {
        true => seed::derive_seed(seed, u64::from(part)),
        false => seed,
    }
}

const fn seed_of(options: &IorOptions) -> u64 {
    if options.signature == 0 { DEFAULT_SEED } else { options.signature }
}

/// Whether data is checked.
pub const fn checks(options: &IorOptions) -> bool {
    options.check_write || options.check_read
}

/// Limits the reads of a phase to the transfers that were written before. `done` counts those by rank.
pub fn limit_to_written(
    options: &IorOptions,
    repetition: u32,
    done: &[u64],
    phase: &mut StoragePhase,
) {
    for (rank, stream) in (0..).zip(&mut phase.workload.streams) {
        let part = part_read_by(options, rank, repetition) as usize;
        let written = done.get(part).copied().unwrap_or(0) * options.transfer_bytes;
        let most = stream.stop_after_bytes.map_or(written, |most| most.min(written));
        stream.stop_after_bytes = Some(most);
    }
}

/// Whether the sizes are limits that the deadline comes before: files grow as they are written.
pub const fn grows(options: &IorOptions) -> bool {
    options.wear_out && options.random < 2 && options.prefill_bytes == 0
}

fn stream(options: &IorOptions, access: IorAccess, rank: u32) -> StorageStream {
    let stride = if options.file_per_rank { 1 } else { u64::from(options.ranks) };
    let bytes = options.transfer_bytes;
    let writes = access == IorAccess::Write;
    let most = if writes { 0 } else { options.wear_out_transfers };
    let pattern = match options.random {
        2.. => AccessPattern::Random,
        times => AccessPattern::Blocks {
            block_bytes: options.block_bytes,
            stride_bytes: options.block_bytes * stride,
            shuffled: times == 1,
            within_blocks: true,
            first_io: 0,
        },
    };
    StorageStream {
        name: format!("rank {rank}"),
        targets: vec![rank as usize],
        rate_share: 1.0 / f64::from(options.ranks),
        sync_every: u64::from(writes && options.fsync_per_write),
        stop_after_bytes: match (most, options.random) {
            (0, 0 | 1) => None,
            (0, _) => Some(options.transfers_per_rank() * bytes),
            (most, _) => Some(most * bytes),
        },
        ..StorageStream::new(pattern, bytes, if writes { 0.0 } else { 1.0 })
    }
}

/// Returns the phase of wear-out after a deadline: all ranks catch up with the fastest one. `done` counts transfers by rank. `None` if all have done as much.
pub fn wear_out_phase(
    options: &IorOptions,
    access: IorAccess,
    repetition: u32,
    done: &[u64],
) -> Option<StoragePhase> {
    let most = done.iter().copied().max().unwrap_or(0);
    let mut phase = phase(options, access, repetition);
    phase.pause_before_s = 0.0;
    phase.workload.timing.duration_s = None;
    let work = &mut phase.workload;
    let targets = std::mem::take(&mut work.targets);
    let streams = std::mem::take(&mut work.streams);
    for (mut stream, done) in streams.into_iter().zip(done).filter(|(_, done)| **done < most) {
        if let AccessPattern::Blocks { first_io, .. } = &mut stream.pattern {
            *first_io = *done;
        }
        stream.stop_after_bytes = Some((most - done) * options.transfer_bytes);
        // Targets without a stream would only be opened.
        work.targets.push(targets[stream.targets[0]].clone());
        stream.targets = vec![work.targets.len() - 1];
        work.streams.push(stream);
    }
    (!phase.workload.streams.is_empty()).then_some(phase)
}
