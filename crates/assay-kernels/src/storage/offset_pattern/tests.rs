//! Tests that patterns visit the expected offsets.

use std::collections::BTreeSet;

use super::*;
use assay_model::workload::storage::Cursor;

const AREA: ByteRange = ByteRange { start: 4096, end: 4096 + 10 * 8192 + 100 };

fn places(
    pattern: AccessPattern,
    area: ByteRange,
    align: Option<u64>,
    bytes: u64,
) -> OffsetPattern {
    let position = Arc::new(AtomicU64::new(OffsetPattern::initial_position(area, pattern)));
    OffsetPattern::new((area, pattern), position, align, bytes, 5)
}

fn sequential(at_end: AtEnd, gap_bytes: u64) -> AccessPattern {
    AccessPattern::Sequential { cursor: Cursor::Shared, at_end, gap_bytes }
}

fn check(pattern: AccessPattern, bytes: u64, count: usize, expected: &[Option<u64>]) {
    let places = places(pattern, AREA, None, bytes);
    let mut draws = RandomStream::new(0, 0);
    let found: Vec<_> = (0..count).map(|_| places.next_offset(bytes, &mut draws)).collect();
    assert_eq!(found, expected, "{pattern:?}");
}

#[test]
fn sequential_offsets_wrap_or_stop() {
    let at = |n: u64| Some(4096 + n * 8192);
    let once: Vec<_> = (0..10).map(at).chain([None, None]).collect();
    check(sequential(AtEnd::Stop, 0), 8192, 12, &once);
    let again: Vec<_> = (0..10).chain(0..2).map(at).collect();
    check(sequential(AtEnd::Wrap, 0), 8192, 12, &again);
    check(sequential(AtEnd::Stop, 8192), 8192, 6, &[at(0), at(2), at(4), at(6), at(8), None]);
    check(sequential(AtEnd::Wrap, 0), 1 << 30, 2, &[None, None]);
}

#[test]
fn blocks_are_apart_and_visited_once() {
    let area = ByteRange { start: 8192, end: 8192 + 2 * 65536 + 16384 };
    let blocks = |shuffled| AccessPattern::Blocks {
        block_bytes: 16384,
        stride_bytes: 65536,
        shuffled,
        within_blocks: false,
        first_io: 0,
    };
    let all: Vec<Option<u64>> = [0, 8192, 65536, 73728, 131_072, 139_264]
        .into_iter()
        .map(|at| Some(8192 + at))
        .collect();
    let visited = |pattern| {
        let places = places(pattern, area, None, 8192);
        let mut draws = RandomStream::new(0, 0);
        let mut found: Vec<_> = (0..7).map(|_| places.next_offset(8192, &mut draws)).collect();
        assert_eq!(found.pop(), Some(None), "after the last block it ends");
        assert!(places.visits_each_once());
        found
    };
    assert_eq!(visited(blocks(false)), all);
    let mut shuffled = visited(blocks(true));
    shuffled.sort_unstable();
    assert_eq!(shuffled, all);
}

#[test]
fn a_permutation_visits_every_slot_once_in_each_pass() {
    for slots in [1_u64, 2, 3, 10, 64, 1000, 1025] {
        let area = ByteRange { start: 0, end: slots * 512 };
        let places = places(AccessPattern::Permutation, area, None, 512);
        let mut draws = RandomStream::new(0, 0);
        let mut pass = || {
            (0..slots)
                .map(|_| places.next_offset(512, &mut draws))
                .collect::<Vec<Option<u64>>>()
        };
        let (first, second) = (pass(), pass());
        let all: BTreeSet<_> = (0..slots).map(|slot| Some(slot * 512)).collect();
        assert_eq!(first.iter().copied().collect::<BTreeSet<_>>(), all);
        assert_eq!(second.iter().copied().collect::<BTreeSet<_>>(), all);
        assert!(slots < 10 || first != second, "each pass has an order of its own");
    }
}

#[test]
fn random_offsets_are_aligned_and_in_range() {
    for (bytes, align, slots) in
        [(8192, None, 9), (8192, Some(4096), 19), (4096, Some(512), 153)]
    {
        let places = places(AccessPattern::Random, AREA, align, bytes);
        let mut draws = RandomStream::new(1, 1);
        let seen: BTreeSet<u64> =
            (0..20_000).map(|_| places.next_offset(bytes, &mut draws).unwrap()).collect();
        let align = align.unwrap_or(bytes);
        assert!(seen.iter().all(|at| at % align == 0 && *at >= AREA.start));
        assert!(seen.iter().all(|at| at + bytes <= AREA.end));
        assert_eq!(seen.len(), slots, "{bytes} {align}");
    }
    assert_eq!(AREA.random_offset(1 << 40, 4096, &mut RandomStream::new(0, 0)), None);
}

#[test]
fn mixed_pattern_jumps_at_its_share() {
    let area = ByteRange { start: 0, end: 1 << 40 };
    let places = places(AccessPattern::Mixed { random_share: 0.2 }, area, None, 4096);
    let mut draws = RandomStream::new(9, 9);
    let offsets: Vec<u64> =
        (0..10_000).map(|_| places.next_offset(4096, &mut draws).unwrap()).collect();
    let jumps = offsets.windows(2).filter(|pair| pair[1] != pair[0] + 4096).count();
    assert!((1850..2150).contains(&jumps), "{jumps}");
}

#[test]
fn gaps_are_drawn_within_their_bounds() {
    let area = ByteRange { start: 0, end: 1 << 20 };
    let gaps = AccessPattern::Strides { least_bytes: 8192, most_bytes: 16_384 };
    let (places, mut draws) = (places(gaps, area, None, 4096), RandomStream::new(1, 2));
    let mut next = || places.next_offset(4096, &mut draws).unwrap();
    let mut before = next();
    assert_eq!(before, 0);
    let mut wraps = 0;
    for _ in 0..1_000 {
        let place = next();
        if place == 0 {
            wraps += 1;
        } else {
            let gap = place - before - 4096;
            assert!((8192..=16_384).contains(&gap) && gap % 4096 == 0, "{gap}");
        }
        assert!(place + 4096 <= area.end);
        before = place;
    }
    assert!((10..=20).contains(&wraps), "{wraps}");
}
