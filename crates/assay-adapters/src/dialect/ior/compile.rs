//! One repetition of a test as a plan: every rank a stream with one I/O in flight.

use std::path::PathBuf;

use assay_model::workload::storage::{
    AccessPattern, Conduct, EngineChoice, Load, SizeShare, StorageData, StoragePhase,
    StoragePlan, StorageStream, StorageTarget, StorageTiming, StorageWorkload, Verify,
    WriteSync,
};

use super::options::Options;

/// What a phase is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The timed writes.
    Write,
    /// Reading back what was written, to check it (`-W`); not timed.
    CheckWrite,
    /// The timed reads.
    Read,
}

/// Offsets that are shuffled are the same in every run, unless `-G` says otherwise.
const SEED: u64 = 0x10_12;
/// One entry of the series per second, as fine as anything here is looked at.
const INTERVAL_S: f64 = 1.0;

/// The phases of one repetition with what they are for.
#[must_use]
pub fn compile(options: &Options, first: bool) -> (StoragePlan, Vec<Access>) {
    let mut accesses = vec![];
    if options.write {
        accesses.push(Access::Write);
    }
    if options.check_write {
        accesses.push(Access::CheckWrite);
    }
    if options.read || options.check_read {
        accesses.push(Access::Read);
    }
    let phase = |(index, access): (usize, &Access)| StoragePhase {
        name: match access {
            Access::Write => "write",
            Access::CheckWrite => "check",
            Access::Read => "read",
        }
        .to_owned(),
        loops: vec![],
        workload: workload(options, *access),
        pause_before_s: if index == 0 && !first { f64::from(options.delay_s) } else { 0.0 },
    };
    let phases = accesses.iter().enumerate().map(phase).collect();
    (StoragePlan { phases }, accesses)
}

fn workload(options: &Options, access: Access) -> StorageWorkload {
    let ranks = 0..options.ranks;
    let checked = options.check_write || options.check_read;
    let limited = options.deadline_s > 0 && access != Access::CheckWrite;
    StorageWorkload {
        targets: ranks.clone().map(|rank| target(options, access, rank)).collect(),
        streams: ranks.map(|rank| stream(options, access, rank)).collect(),
        load: Load::Closed,
        timing: StorageTiming {
            warmup_s: 0.0,
            duration_s: limited.then(|| f64::from(options.deadline_s)),
            interval_s: INTERVAL_S,
            stop_after_bytes: None,
        },
        engine: EngineChoice::Threads,
        data: StorageData {
            compressible: 0.0,
            verify: if checked { Verify::OnRead } else { Verify::Off },
        },
        seed: if options.signature == 0 { SEED } else { options.signature },
    }
}

/// The part of a file that a rank uses: all of its own, or every block that is its own in a shared
/// one, where the blocks of all ranks take turns.
fn target(options: &Options, access: Access, rank: u32) -> StorageTarget {
    // With -C a rank reads what another has written, so that no cache of its own answers.
    let shift =
        if options.reorder && access != Access::Write { options.reorder_offset } else { 0 };
    let of = (u64::from(rank) + u64::from(shift)) % u64::from(options.ranks);
    let (name, start, bytes) = match options.file_per_rank {
        true => {
            let bytes = options.block_bytes * options.segments;
            (format!("{}.{of:08}", options.test_file), 0, bytes)
        }
        false => {
            (options.test_file.clone(), of * options.block_bytes, options.aggregate_bytes())
        }
    };
    StorageTarget {
        path: PathBuf::from(&name),
        name,
        size_bytes: (access == Access::Write).then_some(bytes),
        range_bytes: Some((start, bytes)),
        align_bytes: None,
        direct: options.direct,
        sync: WriteSync::None,
        sync_at_end: options.fsync && access == Access::Write,
    }
}

fn stream(options: &Options, access: Access, rank: u32) -> StorageStream {
    let stride = if options.file_per_rank { 1 } else { u64::from(options.ranks) };
    let bytes = options.transfer_bytes;
    let writes = access == Access::Write;
    StorageStream {
        name: format!("rank {rank}"),
        targets: vec![rank as usize],
        threads: 1,
        in_flight_per_target: 1,
        pattern: AccessPattern::Blocks {
            block_bytes: options.block_bytes,
            stride_bytes: options.block_bytes * stride,
            shuffled: options.random,
        },
        sizes: vec![SizeShare {
            min_bytes: bytes,
            max_bytes: bytes,
            step_bytes: bytes,
            share: 1.0,
        }],
        read_share: if writes { 0.0 } else { 1.0 },
        hit_area: None,
        rate_share: 1.0 / f64::from(options.ranks),
        own_rate_per_s: None,
        sync_every: u64::from(writes && options.fsync_per_write),
        stop_after_bytes: None,
        conduct: Conduct::default(),
    }
}
