//! What waits within the generator is part of what an I/O takes.

use std::sync::mpsc;

use assay_model::storage_outcome::Tally;
use assay_model::workload::storage::{
    AccessPattern, EngineChoice, Load, Opening, StorageData, StorageStream, StorageTarget,
    StorageTiming, StorageWorkload, WriteSync,
};

use super::super::buffers::Need;
use super::super::engine::Setup;
use super::super::ledger::Exchange;
use super::super::target::Opened;
use super::super::timeline::Timeline;
use super::super::{crew, tally};
use super::*;

/// A target that takes one I/O at a time, and a millisecond for it.
struct OneAtATime {
    queued: Vec<u32>,
}

const EACH_NS: u64 = 1_000_000;
const BYTES: u64 = 4096;

impl StorageEngine for OneAtATime {
    const NAME: &'static str = "one at a time";

    fn set_up(_: Setup<'_>) -> io::Result<Self> {
        Ok(Self { queued: Vec::new() })
    }

    fn granted(&self) -> String {
        String::new()
    }

    fn queue(&mut self, request: Request) {
        self.queued.push(request.slot);
    }

    fn exchange(
        &mut self,
        most: usize,
        _: Wait,
        done: &mut Vec<Completion>,
    ) -> io::Result<usize> {
        if most > 0 && !self.queued.is_empty() {
            std::thread::sleep(Duration::from_nanos(EACH_NS));
            done.push(Completion { slot: self.queued.remove(0), result: BYTES as i32 });
        }
        Ok(self.queued.len())
    }
}

fn workload(depth: u32, ios: u64) -> StorageWorkload {
    StorageWorkload {
        targets: vec![StorageTarget {
            name: "nothing".to_owned(),
            path: "/never/opened".into(),
            size_bytes: Some(1 << 20),
            range_bytes: None,
            direct: false,
            sync: WriteSync::None,
            align_bytes: None,
            sync_at_end: false,
            opening: Opening::default(),
        }],
        streams: vec![StorageStream {
            in_flight_per_target: depth,
            ..StorageStream::of(AccessPattern::Random, BYTES, 1.0)
        }],
        load: Load::Closed,
        timing: StorageTiming {
            warmup_s: 0.0,
            duration_s: None,
            interval_s: 1000.0,
            stop_after_bytes: Some(ios * BYTES),
        },
        engine: EngineChoice::Null,
        data: StorageData { compressible: 0.0, verify: Verify::Off },
        seed: 1,
    }
}

/// What one worker counted, and its integral of I/O in flight.
fn counted(workload: &StorageWorkload) -> (Box<Tally>, u64) {
    let opened = [Opened::without_file(&workload.targets[0]).unwrap()];
    let phase = Phase::new(workload, &opened, 0);
    let plan = crew::divide(workload, &[opened[0].area], false).remove(0);
    let lanes = vec![Lane::new(
        &plan.lanes[0],
        (0, &workload.streams[0]),
        &workload.targets,
        workload.seed,
    )];
    let slots = plan.lanes[0].slots;
    let need = Need { slots, bytes: BYTES, reads: true, writes: None, seed: 1, huge: true };
    let (full, frames) = mpsc::channel();
    let (_sender, empty) = mpsc::channel();
    let timeline = Timeline::new(clock::now_ns(), workload.timing);
    let totals = vec![[Some(Box::new(tally::total())), None]];
    let exchange = Exchange { worker: 0, full, empty };
    let ledger = Ledger::new(totals, &workload.streams[0], exchange, timeline);
    let worker = Worker::new(
        OneAtATime { queued: Vec::new() },
        (&phase, 0),
        (lanes, vec![Slot::of(0); slots as usize]),
        Buffers::new(need).unwrap(),
        (Agenda::closed(slots, None, timeline.start_ns), ledger),
    );
    let (ledger, _, result) = worker.work(timeline.start_ns);
    result.unwrap();
    let [total, _] = ledger.totals.into_iter().next().unwrap();
    let in_flight_ns = frames.try_iter().map(|handed| handed.frame.in_flight_ns).sum();
    (total.unwrap(), in_flight_ns)
}

#[test]
fn an_io_that_waits_for_its_piece_takes_longer() {
    let (depth, ios) = (16, 48);
    let (total, in_flight_ns) = counted(&workload(depth, ios));
    assert_eq!(total.count, ios);
    // The first ones wait for those before them, the others for as many as are in flight.
    let depth = u64::from(depth);
    let minimum_ns = (depth * (depth + 1) / 2 + (ios - depth) * depth) * EACH_NS;
    assert!(total.service_sum_ns >= minimum_ns, "{} of {minimum_ns}", total.service_sum_ns);
    // Little's law: what was in flight over time is what all I/O took together.
    assert!(total.service_sum_ns.abs_diff(in_flight_ns) <= in_flight_ns / 50);
}
