//! State of hosts at one moment, and doubts from two states.

use assay_fleet::root::Root;
use assay_fleet::state;
use assay_model::doubt::Doubt;
use assay_model::facts::HostState;
use expect_test::{Expect, expect};

use crate::test_host::TestHost;

fn check(host: &str, expected: &Expect) {
    expected.assert_debug_eq(&state::read(&TestHost::load(host).root()));
}

#[test]
fn state_of_guest() {
    check(
        "guest-zen4",
        &expect![[r#"
        HostState {
            load_one_minute: Some(
                1.76,
            ),
            steal_s: Some(
                3.11,
            ),
            cpu_time_s: Some(
                7048.78,
            ),
            cpu_pressure: Some(
                0.29059999999999997,
            ),
            memory_pressure: Some(
                0.0,
            ),
            throttled: Some(
                0,
            ),
            frequency_hz: None,
            available_bytes: Some(
                23883280384,
            ),
        }
    "#]],
    );
}

#[test]
fn state_of_machine_with_cpufreq() {
    check(
        "xeon-2s-smt",
        &expect![[r#"
        HostState {
            load_one_minute: Some(
                0.08,
            ),
            steal_s: Some(
                0.0,
            ),
            cpu_time_s: Some(
                8015.3,
            ),
            cpu_pressure: Some(
                0.0,
            ),
            memory_pressure: Some(
                0.0,
            ),
            throttled: Some(
                0,
            ),
            frequency_hz: Some(
                (
                    1000000000.0,
                    2393000000.0,
                ),
            ),
            available_bytes: Some(
                194560000000,
            ),
        }
    "#]],
    );
}

#[test]
fn state_of_guest_without_cpufreq() {
    check(
        "epyc-24-l3",
        &expect![[r#"
        HostState {
            load_one_minute: Some(
                0.0,
            ),
            steal_s: Some(
                90.0,
            ),
            cpu_time_s: Some(
                8105.3,
            ),
            cpu_pressure: None,
            memory_pressure: None,
            throttled: None,
            frequency_hz: Some(
                (
                    3557123000.0,
                    3700123000.0,
                ),
            ),
            available_bytes: Some(
                727040000000,
            ),
        }
    "#]],
    );
}

#[test]
fn state_of_throttled_container() {
    check(
        "container-v2",
        &expect![[r#"
        HostState {
            load_one_minute: None,
            steal_s: None,
            cpu_time_s: None,
            cpu_pressure: Some(
                0.075,
            ),
            memory_pressure: None,
            throttled: Some(
                45,
            ),
            frequency_hz: None,
            available_bytes: Some(
                61440000000,
            ),
        }
    "#]],
    );
}

#[test]
fn empty_tree_has_default_state() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(state::read(&Root::from_directory(directory.path())), HostState::default());
}

#[test]
fn quiet_period_raises_no_doubt() {
    let quiet = HostState {
        load_one_minute: Some(0.2),
        steal_s: Some(5.0),
        cpu_time_s: Some(100.0),
        cpu_pressure: Some(0.02),
        memory_pressure: Some(0.0),
        throttled: Some(3),
        frequency_hz: Some((1e9, 3e9)),
        available_bytes: Some(1 << 30),
    };
    let after = HostState {
        load_one_minute: Some(2.0),
        steal_s: Some(5.01),
        cpu_time_s: Some(110.0),
        frequency_hz: Some((1e9, 2.9e9)),
        ..quiet.clone()
    };
    assert_eq!(state::find_disturbances(&quiet, &after, 5.0, false), []);
    assert_eq!(
        state::find_disturbances(&HostState::default(), &HostState::default(), 5.0, false),
        []
    );
    assert_eq!(state::find_disturbances(&quiet, &HostState::default(), 5.0, false), []);
}

#[test]
fn each_disturbance_raises_its_doubt() {
    let before = HostState {
        load_one_minute: Some(1.25),
        steal_s: Some(5.0),
        cpu_time_s: Some(100.0),
        cpu_pressure: Some(0.02),
        memory_pressure: Some(0.03),
        throttled: Some(3),
        frequency_hz: Some((1e9, 3.5e9)),
        available_bytes: None,
    };
    let after = HostState {
        load_one_minute: Some(9.0),
        steal_s: Some(5.5),
        cpu_time_s: Some(120.0),
        cpu_pressure: Some(0.4),
        memory_pressure: None,
        throttled: Some(10),
        frequency_hz: Some((1e9, 2.8e9)),
        available_bytes: None,
    };
    let (stolen_s, share, span_s) = (0.5, 0.025, 10.0);
    assert_eq!(
        state::find_disturbances(&before, &after, span_s, false),
        [
            Doubt::Steal { stolen_s, share, span_s },
            Doubt::CpuPressure { share: 0.4 },
            Doubt::MemoryPressure { share: 0.03 },
            Doubt::Throttled { times: 7, span_s },
            Doubt::FrequencyDrop { before_hz: 3.5e9, after_hz: 2.8e9 },
            Doubt::OtherLoad { load: 1.25 },
        ]
    );
    // The demand of others is known: figures that include assay's own threads do not count.
    let known = state::find_disturbances(&before, &after, span_s, true);
    let is_own = |it: &Doubt| matches!(it, Doubt::CpuPressure { .. } | Doubt::OtherLoad { .. });
    assert_eq!((known.len(), known.iter().any(is_own)), (4, false), "{known:?}");
}
