//! Tests of the forecast of a run.

use assay_model::benchmark::RdmaTest;
use assay_model::plan::StoppingRule;
use assay_model::workload::io500::Io500Workload;
use assay_model::workload::storage::{StorageTest, StorageWorkload};
use assay_model::workload::{
    Domain, LatencyWorkload, LinpackWorkload, RdmaWorkload, StreamWorkload,
};

use super::*;

fn case(id: &str, workload: Workload, budget_s: f64) -> Case {
    let stopping = StoppingRule { target: 0.01, repetitions: 3, preparations: 3, budget_s };
    Case::new(id, workload, stopping)
}

fn chain(bytes: u64) -> Workload {
    Workload::Latency(LatencyWorkload { cpu: 0, bytes, line_bytes: 64 })
}

fn stream(cpus: &[u32], bytes_per_array: u64) -> Workload {
    let domain = Domain { placement: "node".into(), cpus: cpus.to_vec() };
    Workload::Stream(StreamWorkload {
        domains: vec![domain],
        bytes_per_array,
        cache_multiple: 4.0,
    })
}

fn outlook(budget_s: f64, cases: Vec<Case>) -> RunForecast {
    let plan = Plan::new("test", budget_s, cases);
    RunForecast::from_plan(&plan, &HostFacts::default(), false)
}

#[test]
fn warns_once_of_exceeded_budget() {
    for (elapsed_s, expected) in [
        ([0.0, 20.0, 40.0], [None; 3]),
        ([0.0, 31.0, 51.0], [None; 3]),
        ([0.0, 80.0, 100.0], [None, Some("about 120 s instead of the 60 s"), None]),
        ([0.0, 80.0, 140.0], [None, Some("about 120 s instead of the 60 s"), None]),
        (
            [0.0, 80.0, 180.0],
            [
                None,
                Some("about 120 s instead of the 60 s"),
                Some("about 200 s by now, not 120 s: what was measured so far took longer"),
            ],
        ),
    ] {
        let cases = ["a", "b", "c"].map(|id| case(id, chain(4096), 20.0));
        let mut outlook = outlook(60.0, cases.to_vec());
        outlook.fix_cases();
        for ((case, elapsed_s), expected) in cases.iter().zip(elapsed_s).zip(expected) {
            let words = outlook.check_budget(elapsed_s).map(|it| it.to_string());
            assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
            assert!(words.unwrap_or_default().contains(expected.unwrap_or("")));
            outlook.record_turn(&case.id, 20.0, true);
        }
    }
}

/// 1 ns to touch a byte, a tenth of it to fill, a hundredth to walk, a twentieth to check; 100
/// ns per line.
const RATES: MemoryCosts =
    MemoryCosts { touch_s: 1e-9, fill_s: 1e-10, walk_s: 1e-11, check_s: 5e-11, line_s: 1e-7 };

#[test]
fn memory_time_follows_bytes() {
    let giga = 1_000_000_000;
    let mut had_bytes = 0.0;
    let mut least_s = |workload: &Workload| RATES.least_s(workload, &mut had_bytes);
    // Two threads touch, fill and check 3 GB, and walk 12 GB.
    let first_s = 3.0 + (0.3 + 0.15 + 0.12) / 2.0;
    // Memory is reused: it is filled with zeros instead of touched.
    let second_s = 0.3 + 0.3 + 0.15 + 0.12;
    for (workload, expected_s) in [
        (stream(&[0, 1], giga), first_s),
        (stream(&[0], giga), second_s),
        (chain(giga), 0.1 + giga as f64 / 64.0 * 1e-7),
    ] {
        let found_s = least_s(&workload);
        assert!((found_s - expected_s).abs() < 1e-9, "{found_s} {expected_s}");
    }
}

/// Ranks must start even with a short budget, and a solve cannot be shortened.
#[test]
fn warns_of_cases_longer_than_budget() {
    let solve = |n| {
        let cpus = vec![0, 1];
        Workload::Linpack(LinpackWorkload { n, cpus, blas: None, seed: 1 })
    };
    let ranks = serde_json::json!({
        "benchmark": "mpi.bw", "ranks": 2, "placement": { "placement": "same-cache", "cpus": [0, 1] },
        "mpi": {
            "key": "x-1", "name": "X", "version": "1", "prefix": "/opt/x", "library": "/opt/x/libmpi.so",
            "abi": "open-mpi", "launcher": "/opt/x/mpiexec", "starter": "orte",
        },
        "hosts": {}, "from_bytes": 1, "to_bytes": 4_194_304,
    });
    let ranks = Workload::Mpi(serde_json::from_value(ranks).unwrap());
    for (workload, budget_s, expected) in [
        (solve(1000), 4.0, None),
        (solve(10_000), 4.0, Some("about 30 s instead of the 4.0 s")),
        (ranks.clone(), 20.0, None),
        (ranks, 0.3, Some("about 2.6 s instead of the")),
    ] {
        let mut outlook = outlook(budget_s, vec![case("a", workload, budget_s)]);
        let words = outlook.check_budget(0.0).map(|it| it.to_string());
        assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
        assert!(words.as_deref().unwrap_or("").contains(expected.unwrap_or("")), "{words:?}");
    }
}

#[test]
fn updates_forecast_while_touching() {
    let giga = 1_000_000_000;
    let cases = vec![case("a", stream(&[0], giga), 4.0), case("b", stream(&[0], giga), 4.0)];
    let mut outlook = outlook(8.0, cases);
    outlook.fix_cases();
    outlook.set_memory_costs(Some(RATES));
    // 3.57 s and the budgets, plus the choice of loops, once for both cases.
    let choosing_s = outlook.required_s(0.0) - 8.0;
    assert!(choosing_s > 0.0 && choosing_s <= 2.0, "{choosing_s}");
    assert_eq!(outlook.check_budget(0.0), None);
    outlook.record_touch(0.1e9, 0.7);
    outlook.record_spent("a", 0.7);
    // 21 s to touch all memory.
    assert!(
        (outlook.required_s(0.7) - (21.57 + CASE_OVERHEAD_S + 4.0 + choosing_s - 0.7)).abs()
            < 1e-9
    );
    let words = outlook.check_budget(0.7).unwrap().to_string();
    assert!(words.contains("instead of the 8.0 s"), "{words}");
    outlook.record_touch(0.2e9, 1.4);
    outlook.record_spent("a", 1.4);
    assert_eq!(outlook.check_budget(1.4), None, "nothing new");
}
/// The memory costs of the other tests, and 12 s.
fn kept(cases: Vec<Case>) -> RunForecast {
    let plan = Plan::new("test", 12.0, cases);
    let mut forecast = RunForecast::from_plan(&plan, &HostFacts::default(), true);
    forecast.set_memory_costs(Some(RATES));
    forecast.order_cases();
    forecast
}

/// The first result of a large chain takes 12.9 s, and that of a small one a tenth of a second. The end of
/// a run takes as long as its preparation.
#[test]
fn names_a_budget_that_suffices_for_a_first_result() {
    let large = || case("large", chain(5_000_000_000), 12.0);
    for (cases, keeps_budget, prepared_s, expected_s) in [
        (vec![large()], true, 0.0, Some(20.0)),
        (vec![large()], true, 2.0, Some(26.0)),
        (vec![large()], false, 0.0, None),
        (vec![large(), case("small", chain(4096), 1.0)], true, 0.0, None),
        (vec![case("small", chain(4096), 1.0)], true, 6.2, None),
        (vec![case("small", chain(4096), 1.0)], true, 6.3, Some(20.0)),
        (vec![], true, 0.0, None),
    ] {
        let forecast = RunForecast { keeps_budget, ..kept(cases.clone()) };
        let found_s = forecast.sufficient_budget_s(prepared_s);
        assert_eq!(found_s, expected_s, "{} {keeps_budget} {prepared_s}", cases.len());
    }
}

/// Four write phases of 5 s, and as long for the others.
#[test]
fn budget_of_io500_counts_all_phases() {
    let workload = Io500Workload {
        folder: "/data".into(),
        tasks: 1,
        stonewall_s: 5,
        ior_easy_bytes: 1 << 21,
        ior_hard_segments: 1,
        mdtest_easy_files: 1,
        mdtest_hard_files: 1,
        seed: 1,
    };
    for (budget_s, expected_s) in [(31.0, Some(61.0)), (61.0, None)] {
        let case = case("a", Workload::Io500(Box::new(workload.clone())), budget_s);
        let plan = Plan::new("test", budget_s, vec![case]);
        let forecast = RunForecast::from_plan(&plan, &HostFacts::default(), true);
        assert_eq!(forecast.sufficient_budget_s(0.1), expected_s, "{budget_s}");
    }
}

/// A test of storage that is not refused begins, although opening the run takes 0.02 s. An advised budget
/// is not refused, even if the length of the test grows with it.
#[test]
fn accepted_budget_suffices_for_storage() {
    let forecast = |length_s, budget_s| {
        let workload = StorageWorkload::new(vec![], vec![], Some(length_s));
        let workload = Workload::Storage(Box::new(StorageTest::new("a", workload)));
        let plan = Plan::new("test", budget_s, vec![case("a", workload, length_s)]);
        RunForecast::from_plan(&plan, &HostFacts::default(), true)
    };
    for (length_s, budget_s, expected_s) in [
        (10.0, 9.0, Some(16.0)),
        (10.0, 10.0, Some(16.0)),
        (10.0, 10.1, None),
        (0.7, 1.0, Some(2.0)),
        (0.2, 0.3, Some(2.0)),
        (0.2, 0.8, None),
    ] {
        let mut asked = forecast(length_s, budget_s);
        assert_eq!(asked.sufficient_budget_s(0.1), expected_s, "{length_s} {budget_s}");
        asked.begin_earlier(0.12);
        let is_left_out = asked.allowance("a", 0.0) == Allowance::Nothing;
        assert_eq!(is_left_out, expected_s.is_some(), "{length_s} {budget_s}");
        let Some(advised_s) = expected_s else { continue };
        for length_s in [length_s, 0.75 * advised_s] {
            assert_eq!(forecast(length_s, advised_s).sufficient_budget_s(0.1), None);
        }
    }
}

#[test]
fn short_headlines_begin_first() {
    let test = RdmaWorkload::perftest_default(RdmaTest::SendLatency, None);
    let cases = vec![
        case("node", stream(&[0, 1], 4_000_000_000), 1.0),
        case("half", stream(&[0], 2_000_000_000), 1.0),
        case("small", chain(4096), 1.0),
        case("large", chain(1_000_000_000), 1.0),
        case("net", Workload::Rdma(test), 1.0),
        case("after", chain(8192), 1.0),
    ];
    let places = |forecast: &RunForecast| -> Vec<String> {
        forecast.order.iter().map(|at| forecast.cases[*at].id.clone()).collect()
    };
    let forecast = kept(cases.clone());
    assert_eq!(places(&forecast), ["large", "half", "node", "small", "net", "after"]);
    assert_eq!([forecast.place("node"), forecast.place("small")], [2, 3]);
    let mut forecast = outlook(12.0, cases);
    forecast.set_memory_costs(Some(RATES));
    forecast.order_cases();
    assert_eq!(places(&forecast), ["node", "half", "small", "large", "net", "after"]);
}

/// A case that was left out has touched no memory for the next one.
#[test]
fn cut_case_leaves_no_memory() {
    let cases = || {
        vec![case("a", stream(&[0], 1 << 30), 1.0), case("b", stream(&[0, 1], 1 << 30), 1.0)]
    };
    let second_s = |forecast: &RunForecast| forecast.needs()[1].least_s;
    let mut forecast = kept(cases());
    forecast.order = vec![0, 1];
    let reused_s = second_s(&forecast);
    forecast.record_end("a");
    let alone_s = second_s(&forecast);
    assert!(alone_s > reused_s + 2.0, "{reused_s} {alone_s}");
    // It was ended after a third.
    forecast.record_touch(f64::from(1 << 30), 1.0);
    forecast.record_cut("a", 1.0);
    let rest_s = second_s(&forecast);
    assert!(rest_s < alone_s && rest_s > reused_s, "{reused_s} {rest_s} {alone_s}");
}

/// The end of a run takes as long as its preparation, but the budget is used.
#[test]
fn keeps_time_for_the_end_of_the_run() {
    for (prepared_s, end_s) in [(0.0, 12.6), (0.1, 12.4), (0.6, 11.4), (3.0, 7.2)] {
        let mut forecast = kept(vec![case("a", chain(4096), 12.0)]);
        forecast.record_turn("a", 0.0, false);
        forecast.begin_earlier(prepared_s);
        let Allowance::UpTo { end_s: found_s, .. } = forecast.allowance("a", 0.0) else {
            panic!("{prepared_s}");
        };
        assert!((found_s - end_s).abs() < 1e-9, "{prepared_s}: {found_s}");
    }
}
