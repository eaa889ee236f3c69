//! Orders of jobs beside those of fio 3.33 (`write_lat_log` with `log_offset=1`, engine `psync`).

use assay_model::workload::storage::{AccessPattern, FileExtent, StridedZones};

use super::*;

const KIB: u64 = 1024;

/// Returns the order of one clone on one file with fio's defaults.
pub(super) fn order(bytes: u64, block: u64) -> JobOrder {
    JobOrder {
        files: vec![FileExtent { start: 0, later_start: 0, bytes, size_bytes: bytes }],
        reads: true,
        is_random: true,
        random_percent: [100.0; 2],
        run_length: 1,
        keeps_map: true,
        map_block_bytes: block,
        align_bytes: [block; 2],
        least_bytes: [block; 2],
        largest_bytes: block,
        read_percent: 50.0,
        pass_bytes: bytes,
        total_bytes: bytes,
        loops: 1,
        restarts_files: true,
        repeats_draws: true,
        restarts_draws: true,
        seed: 0x89,
        number: 1,
        ..JobOrder::default()
    }
}

/// Lists up to 100 I/O in KiB: `R8+4` reads 4 KiB at 8 KiB, `S` is a sync before.
fn listed(order: &JobOrder, sizes: &[(u64, u64, f64)]) -> String {
    let read_share = match (order.reads, order.writes) {
        (true, true) => 0.5,
        (true, false) => 1.0,
        (false, _) => 0.0,
    };
    let size = |&(min_bytes, max_bytes, share): &(u64, u64, f64)| SizeShare {
        min_bytes,
        max_bytes,
        step_bytes: min_bytes,
        share,
    };
    let stream = StorageStream {
        sizes: sizes.iter().map(size).collect(),
        ..StorageStream::new(AccessPattern::Random, 4 * KIB, read_share)
    };
    let mut job = JobOffsets::new(order, &stream);
    // Each is complete before the next.
    let next = || {
        let io = job.next_io()?;
        job.note_completion();
        Some(io)
    };
    let ios = std::iter::from_fn(next).take(100);
    let text = ios.map(|io| {
        let letter = if io.operation == IoOperation::Read { 'R' } else { 'W' };
        let sync = if io.sync_target.is_some() { "S " } else { "" };
        format!("{sync}{letter}{}+{}", io.offset / KIB, io.bytes / KIB)
    });
    text.collect::<Vec<_>>().join(" ")
}

const FOUR: &[(u64, u64, f64)] = &[(4 * KIB, 4 * KIB, 1.0)];

#[test]
fn draws_random_offsets_and_the_mix_as_fio() {
    assert_eq!(
        listed(&order(64 * KIB, 4 * KIB), FOUR),
        "R0+4 R44+4 R52+4 R28+4 R24+4 R56+4 R32+4 R20+4 R60+4 R4+4 R8+4 R40+4 R12+4 R16+4 R36+4 R48+4"
    );
    let mix = JobOrder { writes: true, read_percent: 70.0, ..order(48 * KIB, 4 * KIB) };
    assert_eq!(
        listed(&mix, FOUR),
        "R0+4 R32+4 R40+4 W20+4 R16+4 R44+4 W24+4 R28+4 R4+4 R8+4 W12+4 R36+4"
    );
    let runs = JobOrder { run_length: 4, ..order(64 * KIB, 4 * KIB) };
    assert_eq!(
        listed(&runs, FOUR),
        "R0+4 R4+4 R8+4 R12+4 R44+4 R48+4 R52+4 R56+4 R52+4 R56+4 R60+4 R28+4 R24+4 R28+4 R32+4 R36+4"
    );
    let shares =
        JobOrder { writes: true, random_percent: [50.0, 0.0], ..order(64 * KIB, 4 * KIB) };
    assert_eq!(
        listed(&shares, FOUR),
        "R0+4 R4+4 R8+4 W0+4 R44+4 R48+4 W4+4 W8+4 W12+4 R52+4 W16+4 R56+4 W20+4 R28+4 R24+4 R56+4"
    );
}

#[test]
fn covers_each_block_once_with_mixed_sizes() {
    let writes = JobOrder { reads: false, writes: true, ..order(128 * KIB, 4 * KIB) };
    assert_eq!(
        listed(&writes, &[(4 * KIB, 4 * KIB, 0.5), (16 * KIB, 16 * KIB, 0.5)]),
        "W4+4 W92+4 W104+4 W60+16 W48+12 W108+4 W76+16 W44+4 W116+4 W8+16 W112+4 W96+4 W120+4 W28+4 \
         W100+4 W124+4 W0+4 W24+4 W32+12"
    );
    assert_eq!(
        listed(&writes, &[(4 * KIB, 16 * KIB, 1.0)]),
        "W4+4 W92+4 W104+8 W60+12 W48+12 W112+8 W72+16 W44+4 W120+8 W8+16 W0+4 W88+4 W24+8 W32+4 \
         W96+4 W100+4 W36+8"
    );
}

#[test]
fn follows_gaps_loops_and_zones() {
    let sequential = JobOrder { is_random: false, ..order(64 * KIB, 4 * KIB) };
    let gaps = JobOrder { gap_bytes: 8192, loops: 2, ..sequential.clone() };
    assert_eq!(
        listed(&gaps, FOUR),
        "R0+4 R12+4 R24+4 R36+4 R48+4 R60+4 R0+4 R12+4 R24+4 R36+4 R48+4 R60+4"
    );
    let back = JobOrder { gap_bytes: -8192, ..sequential };
    assert_eq!(
        listed(&back, FOUR),
        "R0+4 R56+4 R52+4 R48+4 R44+4 R40+4 R36+4 R32+4 R28+4 R24+4 R20+4 R16+4 R12+4 R8+4 R4+4 R0+4"
    );
    let zones =
        StridedZones { io_bytes: 16 * KIB, range_bytes: 16 * KIB, skip_bytes: 16 * KIB };
    let strided = JobOrder { zones: Some(zones), ..order(64 * KIB, 4 * KIB) };
    assert_eq!(
        listed(&strided, FOUR),
        "R0+4 R8+4 R12+4 R4+4 R36+4 R44+4 R40+4 R32+4 R12+4 R0+4 R4+4 R8+4 R44+4 R32+4 R36+4 R40+4"
    );
}

#[test]
fn reads_back_what_was_written() {
    let mix = JobOrder { writes: true, read_percent: 70.0, ..order(48 * KIB, 4 * KIB) };
    let back = JobOrder { reads_back: true, ..mix.clone() };
    assert_eq!(listed(&back, FOUR), "R20+4 R24+4 R12+4");
    let second = JobOrder { pass: Some(1), loops: 2, ..mix };
    assert_eq!(
        listed(&second, FOUR).split(' ').count(),
        12,
        "a pass by itself has all of its I/O"
    );
    let writes = JobOrder {
        reads: false,
        writes: true,
        is_random: false,
        verifies: true,
        verify_backlog: Some(2),
        ..order(20 * KIB, 4 * KIB)
    };
    assert_eq!(listed(&writes, FOUR), "W0+4 W4+4 R0+4 R4+4 W8+4 W12+4 R8+4 R12+4 W16+4 R16+4");
    // Gaps lead back to the start, so that writes repeat: each block is read back once.
    let repeated = JobOrder {
        gap_bytes: 8192,
        verify_backlog: None,
        reads_back: true,
        overlaps: true,
        total_bytes: 40 * KIB,
        ..writes
    };
    assert_eq!(listed(&repeated, FOUR), "R0+4 R12+4");
}

#[test]
fn syncs_come_before_the_next_io() {
    let writes = JobOrder {
        reads: false,
        writes: true,
        is_random: false,
        sync_every: 2,
        ..order(20 * KIB, 4 * KIB)
    };
    // None follows the last write.
    assert_eq!(listed(&writes, FOUR), "W0+4 W4+4 S W8+4 W12+4 S W16+4");
    let each = JobOrder { sync_every: 1, total_bytes: 12 * KIB, ..writes.clone() };
    assert_eq!(listed(&each, FOUR), "W0+4 S W4+4 S W8+4");
    let back = JobOrder { reads_back: true, ..writes.clone() };
    assert_eq!(listed(&back, FOUR), "R0+4 R4+4 R8+4 R12+4 R16+4");
    // The end of the file ends each pass: its sync comes before that, and another at the next start.
    let short = JobOrder {
        sync_every: 1,
        loops: 2,
        total_bytes: 9 * KIB,
        files: order(8 * KIB, 4 * KIB).files,
        ..writes
    };
    assert_eq!(listed(&short, FOUR), "W0+4 S W4+4 S R0+0 S W0+4 S W4+4 S R0+0");
}

#[test]
fn counts_passes_with_what_is_read_back() {
    let writes = JobOrder {
        reads: false,
        writes: true,
        is_random: false,
        reopens_files: true,
        verifies: true,
        overlaps: true,
        gap_bytes: 8192,
        ..order(40 * KIB, 4 * KIB)
    };
    let passes = |order: JobOrder, most: u64| {
        let mut stream = StorageStream::new(AccessPattern::Random, 4 * KIB, 0.0);
        stream.conduct.order = Some(Box::new(order));
        count_passes(&stream, most)
    };
    // Each pass writes four blocks and reads them back.
    assert_eq!(passes(writes.clone(), 9), 2);
    assert_eq!(passes(JobOrder { total_bytes: 129 * KIB, ..writes.clone() }, 9), 4);
    assert_eq!(passes(JobOrder { total_bytes: 1 << 30, ..writes.clone() }, 9), 10);
    // No room for the largest I/O is left.
    assert_eq!(passes(JobOrder { largest_bytes: 64 * KIB, ..writes }, 9), 1);
}
