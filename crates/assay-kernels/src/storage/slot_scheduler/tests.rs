//! Tests of the times at which slots may start.

use assay_model::workload::storage::{
    AccessPattern, ArrivalProcess, StorageStream, StorageTarget,
};

use super::super::arrivals::ArrivalSchedule;
use super::super::offset_pattern::ByteRange;
use super::super::random::RandomStream;
use super::super::throttle::MAX_CATCH_UP_NS;
use super::super::worker_plans::LanePlan;
use super::*;

/// Creates lanes with one slot each.
fn lanes(count: u32) -> Vec<StorageLane> {
    let stream = StorageStream::new(AccessPattern::Random, 512, 1.0);
    let target = StorageTarget::new("", "none", None);
    let plan = |lane: u32| LanePlan {
        target: 0,
        slots: 1,
        area: ByteRange { start: 0, end: 1 << 20 },
        position: std::sync::Arc::default(),
        arrivals: None,
        id: u64::from(lane),
        others: Vec::new(),
    };
    (0..count)
        .map(|nth| {
            let mut lane =
                StorageLane::new(&plan(nth), (0, &stream), std::slice::from_ref(&target), 1);
            lane.free.push(nth);
            lane
        })
        .collect()
}

fn every_microsecond(first: f64) -> ArrivalSource {
    ArrivalSource::Own(ArrivalSchedule::new(
        ArrivalProcess::Constant,
        1e6,
        first,
        RandomStream::new(0, 0),
    ))
}

#[test]
fn full_lane_delays_no_other_and_keeps_its_intended_starts() {
    let mut lanes = lanes(2);
    let mut agenda =
        SlotScheduler::open_loop(vec![every_microsecond(0.0), every_microsecond(0.5)], 0);
    let mut started = Vec::new();
    for now_ns in (0..=4000).step_by(500) {
        while let Some((slot, intended_ns)) = agenda.take(now_ns, &mut lanes) {
            agenda.note_issued(slot, 512);
            started.push((slot, intended_ns.unwrap()));
            // The first target hangs; the second completes at once.
            if slot == 1 {
                agenda.release_slot(1, 1, &mut lanes);
            }
        }
    }
    assert_eq!(started, [(0, 0), (1, 500), (1, 1500), (1, 2500), (1, 3500)]);
    agenda.release_slot(0, 0, &mut lanes);
    let (slot, intended_ns) = agenda.take(4000, &mut lanes).unwrap();
    assert_eq!((slot, intended_ns), (0, Some(1000)), "what was due waits, and is late");
}

#[test]
fn cap_spaces_io_and_limits_catching_up() {
    // A rate of one byte per nanosecond.
    let mut agenda = SlotScheduler::closed_loop(4, Some(1e9), 0);
    let take = |agenda: &mut SlotScheduler, now_ns| {
        let slot = agenda.take(now_ns, &mut [])?.0;
        agenda.note_issued(0, 512);
        agenda.release_slot(slot, 0, &mut []);
        Some(agenda.next_start_ns())
    };
    assert_eq!(take(&mut agenda, 0), Some(Some(512)));
    assert_eq!(take(&mut agenda, 511), None);
    assert_eq!(take(&mut agenda, 512), Some(Some(1024)));
    let after_a_pause = 10_000_000_000;
    let caught_up = (0..).take_while(|_| take(&mut agenda, after_a_pause).is_some()).count();
    assert!(caught_up as f64 * 512.0 <= MAX_CATCH_UP_NS + 1024.0, "{caught_up}");
}
