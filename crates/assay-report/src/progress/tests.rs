//! Tests of the progress line, in pipes and on terminals.

use assay_model::benchmark::MpiTest;
use assay_model::event::{Sample, StopReason};
use assay_model::plan;
use assay_model::workload::{
    Domain, NetworkLatency, NetworkTest, NetworkWorkload, PeakFlopsWorkload, Workload,
};

use super::*;

fn plan() -> Plan {
    let case = |id: &str| {
        plan::Case::new(
            id.to_owned(),
            Workload::PeakFlops(PeakFlopsWorkload {
                domain: Domain { placement: "node".to_owned(), cpus: vec![0] },
                instruction_set: "avx2".to_owned(),
            }),
            plan::StoppingRule {
                target: 0.01,
                repetitions: 1,
                preparations: 1,
                budget_s: 30.0,
            },
        )
    };
    Plan::new("test", 60.0, vec![case("a"), case("b")])
}

#[test]
fn shows_remaining_time_and_value() {
    let mut progress = RunProgress::for_plan(&plan());
    progress.record_event(&RunEvent::CaseStarted { case: "a".to_owned() }, 0.0);
    assert_eq!(progress.line(15.0, 80), "⠋ ━━━━╌╌╌╌╌╌╌╌╌╌╌╌ 0:45 left  a");
    assert_eq!(progress.value_so_far("a"), None);
    let metric = Benchmark::PeakFlops.definition().metrics.first().unwrap();
    progress.record_event(
        &RunEvent::SeriesOpened(SeriesOpened::new(
            7,
            "a",
            metric.name.to_owned(),
            Default::default(),
        )),
        15.0,
    );
    let sample = |series, value| RunEvent::Sample(Sample::new(series, value));
    for (series, value) in [(7, 2e-9), (8, 5.0), (7, 1e-9), (7, 3e-9)] {
        progress.record_event(&sample(series, value), 15.0);
    }
    let value = format!("{:.3}", Quantity::new(2e-9, metric.unit));
    assert_eq!(progress.value_so_far("a"), Some(value.clone()));
    progress.set_message("a, preparation 2");
    assert!(progress.line(15.0, 80).ends_with(&format!("a, preparation 2  {value}")));
    // A case that ends early takes the rest of its planned time with it.
    let done = RunEvent::CaseFinished { case: "a".to_owned(), stopped: StopReason::Precise };
    progress.record_event(&done, 16.0);
    progress.record_event(&RunEvent::CaseStarted { case: "b".to_owned() }, 16.0);
    assert_eq!(progress.line(26.0, 80), "⠹ ━━━━━━━━━━╌╌╌╌╌╌ 0:20 left  b");
    assert_eq!(progress.line(99.0, 80), "⠇ ━━━━━━━━━━━━━━━━ 0:53 over plan  b");
    assert_eq!(progress.line(26.0, 20), "⠹ 0:20 left  b");
    progress.finish_measuring();
    progress.set_message("finishing");
    assert_eq!(progress.line(99.0, 80), "⠇ finishing");
}

/// On a terminal of 80 columns the name is shortened and the value stays complete.
#[test]
fn values_are_never_truncated() {
    const CASE: &str = "memory.latency/numa:0/bytes=134217728";
    let mut plan = plan();
    plan.cases[0].id = CASE.to_owned();
    let mut progress = RunProgress::for_plan(&plan);
    progress.record_event(&RunEvent::CaseStarted { case: CASE.to_owned() }, 0.0);
    let metric = Benchmark::PeakFlops.definition().metrics[0].name.to_owned();
    let (case, dimensions) = (CASE.to_owned(), Default::default());
    let opened = SeriesOpened::new(1, case, metric, dimensions);
    progress.record_event(&RunEvent::SeriesOpened(opened), 0.0);
    let sample = Sample::new(1, 54.7e9);
    progress.record_event(&RunEvent::Sample(sample), 0.0);
    progress.set_message(&format!("{CASE}, preparation 2 of three"));
    let value = "  54.7 GFLOP/s";
    for (at_s, width) in [(15.0, 200), (15.0, 79), (99.0, 79), (15.0, 59), (15.0, 40)] {
        for line in [progress.line(at_s, width), progress.plain_line(at_s, width)] {
            assert!(line.ends_with(value) && line.width() <= width, "{width}: {line}");
            assert!(line.contains("memory."), "{width}: {line}");
        }
    }
    assert!(progress.line(15.0, 79).contains("memory.latency/numa:0/128 MiB, pre"));
}

/// The last point measured is one of many: the line has the idle latency and the busiest point.
#[test]
fn loaded_latency_shows_both_ends() {
    let mut progress = RunProgress::for_plan(&plan());
    progress.cases.get_mut("a").unwrap().benchmark = Some(Benchmark::LoadedLatency);
    assert_eq!(progress.value_so_far("a"), None);
    let idle = (Attribute::Point, "idle".into());
    let pause = |seconds: f64| (Attribute::PauseS, AttributeValue::Number(seconds));
    let points = [
        (idle, 100e-9, 0.64e9, "100 ns"),
        (pause(1e-6), 110e-9, 4e9, "100 ns … 110 ns, 4.00 GB/s"),
        (pause(0.0), 300e-9, 40e9, "100 ns … 300 ns, 40.0 GB/s"),
        // Another mix, with less traffic.
        (pause(5e-7), 120e-9, 7e9, "100 ns … 300 ns, 40.0 GB/s"),
    ];
    for (series, (point, latency_s, bandwidth, expected)) in (0..).step_by(2).zip(points) {
        let metrics = [("latency", latency_s), ("bandwidth", bandwidth)];
        for (series, (metric, value)) in (series..).zip(metrics) {
            let dimensions = [point.clone()].into_iter().collect();
            let (case, metric) = ("a".to_owned(), metric.to_owned());
            let opened = SeriesOpened::new(series, case, metric, dimensions);
            progress.record_event(&RunEvent::SeriesOpened(opened), 0.0);
            let sample = Sample::new(series, value);
            progress.record_event(&RunEvent::Sample(sample), 0.0);
        }
        assert_eq!(progress.value_so_far("a").as_deref(), Some(expected));
    }
}

/// The same message size represents the case and the machine.
#[test]
fn one_message_size_represents_a_case() {
    for (test, metric, expected) in [
        (MpiTest::Bandwidth, "bandwidth", "4.00 GB/s"),
        (MpiTest::Latency, "latency", "1.00 s"),
    ] {
        let mut progress = RunProgress::for_plan(&plan());
        progress.cases.get_mut("a").unwrap().benchmark = Some(Benchmark::Mpi(test));
        for (series, (bytes, value)) in (1..).zip([(1_u64, 1.0), (4096, 4e9), (64, 2e9)]) {
            let dimensions = [(Attribute::Bytes, bytes.into())].into_iter().collect();
            let (case, metric) = ("a".to_owned(), metric.to_owned());
            let opened = SeriesOpened::new(series, case, metric, dimensions);
            progress.record_event(&RunEvent::SeriesOpened(opened), 0.0);
            let sample = Sample::new(series, value);
            progress.record_event(&RunEvent::Sample(sample), 0.0);
        }
        assert_eq!(progress.value_so_far("a").as_deref(), Some(expected), "{test:?}");
    }
}

/// Returns the remaining time of the line, without the spinner, which changes anyway.
fn remaining_time(progress: &RunProgress, elapsed_s: f64) -> String {
    let line = progress.line(elapsed_s, 200);
    line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn reports_overrun_cases() {
    let mut progress = RunProgress::for_plan(&plan());
    progress.record_event(&RunEvent::CaseStarted { case: "a".to_owned() }, 0.0);
    assert_eq!(remaining_time(&progress, 29.0), "0:31 left a");
    assert_eq!(remaining_time(&progress, 90.0), "1:00 over plan, then 0:30 a");
    let done = RunEvent::CaseFinished { case: "a".to_owned(), stopped: StopReason::Budget };
    progress.record_event(&done, 100.0);
    assert_eq!(remaining_time(&progress, 100.5), "0:30 left a");
    assert_eq!(remaining_time(&progress, 103.0), "0:03 over plan, then 0:30 a");
    progress.record_event(&RunEvent::CaseStarted { case: "b".to_owned() }, 104.0);
    assert_eq!(remaining_time(&progress, 114.0), "0:20 left b");
}

/// Cases within their time, overdue, none at all, and several in turns: the time changes within two
/// seconds.
#[test]
fn remaining_time_always_changes() {
    let case = |id: &str| RunEvent::CaseStarted { case: id.to_owned() };
    let end =
        |id: &str| RunEvent::CaseFinished { case: id.to_owned(), stopped: StopReason::Budget };
    for events in [
        vec![(0.0, case("a")), (50.0, end("a")), (70.0, case("b"))],
        vec![(20.0, case("a")), (21.0, end("a")), (21.0, case("b")), (22.0, end("b"))],
        vec![(0.0, case("a")), (0.0, case("b")), (5.0, end("a")), (90.0, end("b"))],
        vec![(0.0, case("a")), (0.0, case("b")), (58.0, end("b")), (60.0, end("a"))],
    ] {
        let mut progress = RunProgress::for_plan(&plan());
        let mut coming = events.iter().peekable();
        let mut shown: Vec<String> = Vec::new();
        for half in 0..300 {
            let at_s = f64::from(half) / 2.0;
            while let Some((_, event)) = coming.next_if(|(when_s, _)| *when_s <= at_s) {
                progress.record_event(event, at_s);
            }
            shown.push(remaining_time(&progress, at_s));
        }
        let still = shown.windows(5).position(|it| it.iter().all(|line| *line == it[0]));
        assert_eq!(still, None, "{events:?} {shown:?}");
    }
}

/// A round-trip case has no goodput; for a transfer goodput takes precedence.
#[test]
fn case_is_represented_by_an_existing_metric() {
    let test = NetworkTest::Latency(NetworkLatency::new(1, 1));
    let work = NetworkWorkload { to: None, port: None, test };
    for (workload, opened, expected) in [
        (
            Workload::NetworkTcp(work.clone()),
            &["round_trip", "half_round_trip"][..],
            Some("1.00 s"),
        ),
        (Workload::NetworkUdp(work.clone()), &["half_round_trip", "loss"], Some("1.00 s")),
        (
            Workload::NetworkUdp(work.clone()),
            &["loss", "goodput", "cpu_load"],
            Some("2.00 bit/s"),
        ),
        (
            Workload::NetworkTcp(work.clone()),
            &["cpu_load", "goodput", "round_trip"],
            Some("2.00 bit/s"),
        ),
        (Workload::NetworkTcp(work.clone()), &[], None),
    ] {
        let mut plan = plan();
        plan.cases[0].workload = workload;
        let mut progress = RunProgress::for_plan(&plan);
        for (series, metric) in (1..).zip(opened) {
            let (case, metric) = ("a".to_owned(), (*metric).to_owned());
            let opened = SeriesOpened::new(series, case, metric, Default::default());
            progress.record_event(&RunEvent::SeriesOpened(opened), 0.0);
            let value = f64::from(series);
            let sample = Sample::new(series, value);
            progress.record_event(&RunEvent::Sample(sample), 0.0);
        }
        assert_eq!(progress.value_so_far("a").as_deref(), expected, "{opened:?}");
    }
}

/// Rounds and tried rates are steps: each is shown until the next one, and finally the result.
#[test]
fn steps_represent_a_case_until_its_result() {
    let mut progress = RunProgress::for_plan(&plan());
    progress.cases.get_mut("a").unwrap().benchmark = Some(Benchmark::Storage);
    for (series, (step, metric, value, expected)) in (1..).zip([
        (Some(0), "rate", 900.0, "900 IO/s"),
        (Some(1), "rate", 450.0, "450 IO/s"),
        (Some(1), "late", 7.0, "450 IO/s"),
        (Some(2), "rate", 675.0, "675 IO/s"),
        (None, "latency", 1.0, "1.00 s"),
        (None, "rate", 450.0, "450 IO/s"),
        (Some(3), "rate", 1.0, "450 IO/s"),
    ]) {
        let dimensions = step.map(|it: u64| (Attribute::Step, it.into()));
        let dimensions = dimensions.into_iter().collect();
        let (case, metric) = ("a".to_owned(), metric.to_owned());
        let opened = SeriesOpened::new(series, case, metric, dimensions);
        progress.record_event(&RunEvent::SeriesOpened(opened), 0.0);
        let sample = Sample::new(series, value);
        progress.record_event(&RunEvent::Sample(sample), 0.0);
        assert_eq!(progress.value_so_far("a").as_deref(), Some(expected), "{series}");
    }
}

/// In every state, two lines within two seconds differ.
#[test]
fn line_always_changes() {
    let mut beginning = RunProgress::default();
    beginning.set_message("looking at the machine");
    let mut measuring = RunProgress::for_plan(&plan());
    measuring.record_event(&RunEvent::CaseStarted { case: "a".to_owned() }, 0.0);
    for progress in [beginning, measuring] {
        for at in 0..400 {
            let line = |after_s: f64| progress.line(f64::from(at) / 2.0 + after_s, 80);
            for after_s in [0.5, 1.0, 1.5, 2.0] {
                assert_ne!(line(0.0), line(after_s), "{at} {after_s}");
            }
        }
    }
}

#[test]
fn second_contains_known_values() {
    let rates =
        [Quantity::new(5e4, Unit::IoPerSecond), Quantity::new(2e8, Unit::BytePerSecond)];
    assert_eq!(
        format_second(3.0, &rates, Some(6.4e-4), Some(0.123)),
        "      3 s    50.0 kIO/s      200 MB/s     640 µs   12 % CPU"
    );
    assert_eq!(format_second(12.0, &rates[..1], None, None), "     12 s    50.0 kIO/s");
}

#[test]
fn shows_total_and_slowest_hosts() {
    let mut progress = RunProgress::for_plan(&plan());
    assert_eq!(progress.host_lines(80, 10), Vec::<String>::new());
    let rate = |value| [Quantity::new(value, Unit::IoPerSecond)];
    progress.update_host("vm1", &rate(9e3), None, Some(0.5));
    assert_eq!(progress.host_lines(80, 10).len(), 1, "one is its own total");
    for (host, value) in [("vm2", 4e3), ("vm3", 2e3), ("vm1", 3e3)] {
        progress.update_host(host, &rate(value), None, Some(0.5));
    }
    let shown = |progress: &RunProgress, height| {
        let lines = progress.host_lines(80, height).into_iter();
        lines.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    let expected = ["3 hosts 9.00 kIO/s", "vm1 3.00 kIO/s 50 % CPU", "vm2 4.00 kIO/s 50 % CPU"];
    assert_eq!(shown(&progress, 10)[..3], expected);
    assert_eq!(shown(&progress, 2), ["3 hosts 9.00 kIO/s", "vm3 2.00 kIO/s 50 % CPU"]);
    assert_eq!(progress.host_lines(9, 10)[1], "  vm1    ");
    progress.record_event(&RunEvent::CaseStarted { case: "b".to_owned() }, 1.0);
    assert_eq!(progress.host_lines(80, 10), Vec::<String>::new());
}
