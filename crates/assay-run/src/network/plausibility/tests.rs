//! Laws on reported figures: honest results pass, each lie is named.

use assay_dialects::wire::qperf::{MachineTicks, MessageCounts};

use super::*;

/// Sender of one second at 50 Mbit/s.
const SENDER: OwnStream = OwnStream {
    sends: true,
    udp: false,
    bytes: 6_250_000,
    call_bytes: 131_072,
    moved_bytes: 6_400_000,
    moved_packets: 5_000,
    seconds: 1.0,
    omits: false,
    serves_itself: false,
};

fn honest() -> StreamResult {
    StreamResult { id: 1, bytes: 6_250_000, end_s: 1.0, ..StreamResult::default() }
}

fn check(own: OwnStream, lie: impl FnOnce(&mut StreamResult), expected: &str) {
    let mut theirs = honest();
    lie(&mut theirs);
    let found =
        check_stream(&own, &theirs).map_or_else(|it| it.to_string(), |()| String::new());
    assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{found}");
}

#[test]
fn stream_results_must_be_possible() {
    let receiver = OwnStream { sends: false, ..SENDER };
    let omitting = OwnStream { omits: true, ..SENDER };
    let udp = OwnStream { udp: true, ..SENDER };
    check(SENDER, |_| {}, "");
    check(
        SENDER,
        |it| it.bytes = 1_000_000_000_000,
        "931.3 GiB received, and at most 6.104 MiB",
    );
    check(SENDER, |it| it.bytes = 6_400_000, "");
    check(SENDER, |it| it.bytes = 0, "");
    check(SENDER, |it| it.end_s = 1e-3, "a duration of 1.000 ms, and 1.000 s");
    check(SENDER, |it| it.end_s = 1e3, "a duration of");
    check(SENDER, |it| it.end_s = 0.0, "");
    check(OwnStream { seconds: 0.001, ..SENDER }, |it| it.end_s = 1e-6, "a duration of");
    check(OwnStream { seconds: 0.001, ..omitting }, |it| it.end_s = 1e-6, "");
    check(omitting, |it| it.end_s = 0.5, "a duration of");
    // A busy machine delays the threads of a server in this process.
    let own_server = OwnStream { serves_itself: true, ..SENDER };
    check(SENDER, |it| it.end_s = 0.615, "a duration of 615.0 ms");
    check(own_server, |it| it.end_s = 0.615, "");
    check(own_server, |it| it.bytes = 1_000_000_000_000, "received, and at most");
    check(receiver, |it| it.bytes = 6_000_000, "5.722 MiB sent, and 5.960 MiB arrived");
    // The last call of the sender has not returned.
    check(receiver, |it| it.bytes = 6_250_000 - 131_072, "");
    check(receiver, |it| it.bytes = 6_250_000 - 131_073, "sent, and");
    check(receiver, |it| it.bytes = 1 << 52, "sent, and");
    check(OwnStream { omits: true, ..receiver }, |it| it.bytes = 6_000_000, "");
    check(udp, |it| it.bytes = 20_000_000, "received, and at most");
    check(udp, |it| it.bytes = 12_000_000, "");
    check(udp, |it| it.packets = 5_001, "5001 datagrams, and at most 5000");
    check(udp, |it| it.errors = 1 << 50, "lost datagrams");
    check(udp, |it| it.errors = -3, "");
    check(udp, |it| it.out_of_order = Some(1 << 50), "reordered datagrams");
    check(udp, |it| it.jitter_s = 1e9, "a jitter of");
    check(udp, |it| it.jitter_s = -1.0, "a jitter of");
    check(udp, |it| it.jitter_s = f64::NAN, "a jitter of");
}

#[test]
fn cpu_time_must_be_possible() {
    let percent = |total| CpuPercent { total, ..CpuPercent::default() };
    assert_eq!(check_process(percent(199.0), 1, 1.0), Ok(()));
    assert_eq!(check_process(percent(500.0), 1, 0.01), Ok(()), "ticks of a short test");
    for wrong in [1000.0, f64::NAN, f64::INFINITY, -1.0] {
        assert!(check_process(percent(wrong), 1, 1.0).is_err(), "{wrong}");
    }
    let account =
        CpuAccount { wall_s: 1.0, threads_s: 0.9, cpus: 2, user_s: 1.0, ..Default::default() };
    assert_eq!(check_account(&account, 1, Some(1.0)), Ok(()));
    for wrong in [
        CpuAccount { wall_s: 0.0, ..account },
        CpuAccount { threads_s: 9.0, ..account },
        CpuAccount { system_s: 9.0, ..account },
        CpuAccount { system_s: -1.0, ..account },
        CpuAccount { irq_s: f64::NAN, ..account },
    ] {
        assert!(check_account(&wrong, 1, Some(1.0)).is_err(), "{wrong:?}");
    }
}

/// A busy machine delays the threads of a server in this process.
#[test]
fn own_server_may_be_late() {
    let account = CpuAccount { wall_s: 0.6, threads_s: 0.5, cpus: 2, ..Default::default() };
    assert_eq!(check_account(&account, 1, None), Ok(()));
    assert!(check_account(&account, 1, Some(1.0)).is_err());
    let impossible = CpuAccount { threads_s: 9.0, ..account };
    assert!(check_account(&impossible, 1, None).is_err());
}

#[test]
fn qperf_statistics_must_be_possible() {
    let ticks = |real, user| MachineTicks { real, cpu: [user, 0, 0, 0, 0, 0, 0, 0] };
    let received = |bytes, messages| MessageCounts { bytes, messages, errors: 0 };
    let honest = QperfStatistics {
        cpus: 2,
        ticks_per_s: 100,
        start: ticks(1000, 50),
        end: ticks(1100, 250),
        received: received(6_250_000, 100),
        ..QperfStatistics::default()
    };
    assert_eq!(check_received(&honest, &SENDER), Ok(()));
    for wrong in [
        QperfStatistics { received: received(u64::MAX, 100), ..honest },
        QperfStatistics { received: received(6_250_000, u64::MAX), ..honest },
        QperfStatistics { ticks_per_s: 1, ..honest },
        QperfStatistics { end: ticks(0, 0), ..honest },
        QperfStatistics { end: ticks(1100, u64::MAX), ..honest },
    ] {
        assert!(check_received(&wrong, &SENDER).is_err(), "{wrong:?}");
    }
    for (messages, answered, udp, is_possible) in [
        (100, 100, false, true),
        (99, 100, false, true),
        (101, 100, false, true),
        (98, 100, false, false),
        (102, 100, false, false),
        (202, 100, true, true),
        (u64::MAX, 100, true, false),
    ] {
        let statistics = QperfStatistics { received: received(0, messages), ..honest };
        let found = check_echoes(&statistics, answered, answered + 1, udp);
        assert_eq!(found.is_ok(), is_possible, "{messages}: {found:?}");
    }
}

#[test]
fn both_ends_count_the_same_connections() {
    assert_eq!(check_connections(100, 100), Ok(()));
    for reported in [99, 101] {
        let error = check_connections(reported, 100).unwrap_err().to_string();
        assert!(error.contains("and 100 were measured here"), "{error}");
    }
}
