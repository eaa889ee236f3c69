//! Tests of the watch over kernel counters.

use assay_model::kernel_counters::OmittedCounter;

use super::account::MAX_POINTS;
use super::*;

mod cost;

fn key(counter: Counter, of: &str) -> CounterKey {
    (counter, of.to_owned())
}

fn reading(values: &[(Counter, &str, f64)]) -> CounterReading {
    values.iter().map(|(counter, of, value)| (key(*counter, of), *value)).collect()
}

fn open_stretch(last: CounterReading) -> OpenStretch {
    OpenStretch {
        places: CountedPlaces::default(),
        kind: StretchKind::Transfer,
        last,
        last_ns: 0,
        period_s: PERIOD_S,
        account: CounterAccount::default(),
        has_begun: false,
    }
}

#[test]
fn inconsistent_counters_are_left_out_by_name() {
    let (sda, eth) = ((Counter::DeviceReadBytes, "sda"), (Counter::SentBytes, "eth0"));
    let before = reading(&[
        (sda.0, sda.1, 100.0),
        (eth.0, eth.1, 4_294_967_000.0),
        (Counter::MajorFaults, "", 7.0),
    ]);
    let mut open = open_stretch(before);
    // A counter of 32 bits wraps, a file disappears, and a CPU comes online.
    open.add_reading(
        reading(&[(sda.0, sda.1, 150.0), (eth.0, eth.1, 90.0), (Counter::CpuAll, "cpu1", 1.0)]),
        &BTreeMap::new(),
        (1_000_000_000, true),
    );
    let record = open.account.into_record("x");
    let [only] = &record.counted[..] else { panic!("{record:?}") };
    assert_eq!((only.counter, only.of.as_str(), only.total), (sda.0, "sda", 50.0));
    let omitted: Vec<(&str, OmissionReason)> =
        record.omitted.iter().map(|it| (it.name.as_str(), it.reason)).collect();
    assert_eq!(
        omitted,
        [
            ("eth0 sent-bytes", OmissionReason::WentBackwards),
            ("major-faults", OmissionReason::NotVisible),
        ]
    );
}

#[test]
fn points_are_bounded_and_keep_the_total() {
    let mut open = open_stretch(reading(&[(Counter::DeviceReadBytes, "sda", 0.0)]));
    let mut length = 1.0;
    for n in 1..=1000_u32 {
        let now = reading(&[(Counter::DeviceReadBytes, "sda", f64::from(n) * 512.0)]);
        open.add_reading(now, &BTreeMap::new(), (u64::from(n) * 250_000_000, true));
        length *= open.account.merge_points();
    }
    let record = open.account.into_record("x");
    assert!(record.points_s.len() <= MAX_POINTS, "{}", record.points_s.len());
    assert_eq!(record.points_s.first().map(|it| it[0]), Some(0.0));
    assert_eq!(record.points_s.last().map(|it| it[1]), Some(250.0));
    let series = &record.counted[0];
    assert_eq!((series.total, series.points.iter().sum::<f64>()), (512_000.0, 512_000.0));
    assert!(length >= 16.0, "{length}");
}

#[test]
fn only_the_busiest_cpu_is_kept() {
    let at = |seconds: f64| {
        reading(&[
            (Counter::CpuInterrupts, "cpu0", 0.0),
            (Counter::CpuAll, "cpu0", seconds),
            (Counter::CpuInterrupts, "cpu1", seconds * 0.99),
            (Counter::CpuAll, "cpu1", seconds),
            (Counter::CpuAll, "", 2.0 * seconds),
        ])
    };
    let mut open = open_stretch(at(0.0));
    open.add_reading(at(10.0), &BTreeMap::new(), (10_000_000_000, true));
    let record = open.account.into_record("x");
    let names: Vec<&str> = record.counted.iter().map(|it| it.of.as_str()).collect();
    assert_eq!(names, ["cpu1", "", "cpu1"]);
}

/// Connections open and close without load, which must not hide a CPU that is full in between.
#[test]
fn single_cpus_do_not_count_at_the_ends_of_a_stretch() {
    let at = |seconds: f64| {
        let interrupts = (seconds - 1.0).clamp(0.0, 3.0);
        reading(&[
            (Counter::CpuAll, "cpu0", seconds),
            (Counter::CpuInterrupts, "cpu0", 0.0),
            (Counter::CpuAll, "cpu1", seconds),
            (Counter::CpuInterrupts, "cpu1", interrupts),
            (Counter::CpuAll, "", 2.0 * seconds),
        ])
    };
    let mut open = open_stretch(at(0.0));
    for (second, has_load) in [(1, false), (2, true), (4, true), (5, false)] {
        let now = (second * 1_000_000_000, has_load);
        open.add_reading(at(second as f64), &BTreeMap::new(), now);
    }
    let record = open.account.into_record("x");
    let of_cpu = |counter| {
        let counted = record.of_counter(counter);
        counted.filter(|it| it.of == "cpu1").map(|it| it.total).sum::<f64>()
    };
    assert_eq!((of_cpu(Counter::CpuInterrupts), of_cpu(Counter::CpuAll)), (3.0, 3.0));
    assert_eq!(
        record.total(Counter::CpuAll),
        Some(13.0),
        "the machine's, and those of the CPU"
    );
}

/// A machine with one CPU has no other to which its interrupts could move.
#[test]
fn single_cpu_of_a_machine_is_not_kept() {
    let at = |seconds: f64| {
        reading(&[
            (Counter::CpuInterrupts, "cpu0", seconds),
            (Counter::CpuAll, "cpu0", seconds),
        ])
    };
    let mut open = open_stretch(at(0.0));
    open.add_reading(at(1.0), &BTreeMap::new(), (1_000_000_000, true));
    assert!(open.account.into_record("x").counted.is_empty());
}

#[test]
fn stretches_of_a_case_add_up() {
    let watch = CounterWatch::start(false);
    for _ in 0..2 {
        watch.begin_turn(false);
        watch.begin_stretch(CountedPlaces::default());
        watch.end_stretch("x", PayloadBytes { read: 5, written: 0 });
        watch.end_turn("x");
    }
    watch.begin_stretch(CountedPlaces::default());
    watch.end_turn("y");
    let record = watch.take_record("x").unwrap();
    assert_eq!(record.payload, Some(PayloadBytes { read: 10, written: 0 }));
    assert_eq!(record.points_s.len(), 2);
    assert!(watch.take_record("y").is_none(), "an unfinished stretch does not count");
}

/// The passes of two preparations add up; their threads count where the kernel allows it.
#[test]
fn passes_of_a_case_have_their_work() {
    let watch = CounterWatch::start(true);
    for bytes in [4.0, 5.0] {
        watch.begin_turn(true);
        watch.begin_passes();
        let spin = || (0..1_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum + n));
        thread::spawn(spin).join().unwrap();
        watch.end_passes("x", Some(CountedWork { bytes, flop: 0.0 }));
        watch.end_turn("x");
    }
    let record = watch.take_record("x").unwrap();
    assert_eq!(
        (record.work, record.payload),
        (Some(CountedWork { bytes: 9.0, flop: 0.0 }), None)
    );
    for counter in [Counter::ThreadTime, Counter::UserInstructions] {
        let is_omitted = record.omitted.iter().any(|it| it.name == counter.id());
        let total = record.total(counter);
        assert!(is_omitted != total.is_some_and(|it| it > 0.0), "{counter:?}: {record:?}");
    }
}

#[test]
fn missing_counters_keep_their_reason() {
    let energy = (Counter::PackageEnergy, "package-0");
    let mut open = open_stretch(reading(&[(energy.0, energy.1, 0.0)]));
    let missing = [(key(energy.0, energy.1), OmissionReason::MayHaveWrapped)].into();
    open.add_reading(CounterReading::new(), &missing, (1_000_000_000, true));
    open.add_reading(
        reading(&[(energy.0, energy.1, 9.0)]),
        &BTreeMap::new(),
        (2_000_000_000, true),
    );
    let record = open.account.into_record("x");
    assert!(record.counted.is_empty(), "{record:?}");
    let omitted = [OmittedCounter {
        name: "package-0 package-energy".to_owned(),
        reason: OmissionReason::MayHaveWrapped,
    }];
    assert_eq!(record.omitted, omitted);
}
