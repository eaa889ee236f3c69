//! Servers that follow the protocol and report results that cannot be true.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use assay_dialects::wire::qperf::{MachineTicks, MessageCounts, QperfStatistics};
use serde_json::json;

use crate::program::{Outcome, World};

/// Bytes of the synchronisation message of qperf.
const SYNC: &[u8] = b"synchronization before test";

fn read_byte(stream: &mut TcpStream) -> u8 {
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    byte[0]
}

/// Reads a message with its length before it.
fn read_message(stream: &mut TcpStream) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut message = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut message).unwrap();
}

/// Serves one iperf3 test of a single TCP stream, and reports a changed result.
fn serve_iperf3(listener: &TcpListener, lie: impl Fn(&mut serde_json::Value)) {
    let (mut control, _) = listener.accept().unwrap();
    control.read_exact(&mut [0; 37]).unwrap();
    control.write_all(&[9]).unwrap();
    read_message(&mut control);
    control.write_all(&[10]).unwrap();
    let (mut data, _) = listener.accept().unwrap();
    data.read_exact(&mut [0; 37]).unwrap();
    control.write_all(&[1, 2]).unwrap();
    let began = Instant::now();
    let draining = thread::spawn(move || io::copy(&mut data, &mut io::sink()));
    assert_eq!(read_byte(&mut control), 4, "the end of the test");
    let end_s = began.elapsed().as_secs_f64();
    control.write_all(&[13]).unwrap();
    read_message(&mut control);
    let mut results = json!({
        "cpu_util_total": 1.0, "cpu_util_user": 0.5, "cpu_util_system": 0.5,
        "sender_has_retransmits": -1,
        "streams": [{
            "id": 1, "bytes": 1_000_000, "retransmits": -1, "jitter": 0.0, "errors": 0,
            "packets": 0, "start_time": 0.0, "end_time": end_s,
        }],
    });
    lie(&mut results);
    let message = results.to_string().into_bytes();
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    control.write_all(&[&length, &message[..], &[14]].concat()).unwrap();
    // The client closes both connections.
    drop(control.read(&mut [0; 1]));
    drop(draining.join().unwrap());
}

fn run_iperf3(lie: impl Fn(&mut serde_json::Value) + Send) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let world = World::new();
    thread::scope(|scope| {
        scope.spawn(|| serve_iperf3(&listener, lie));
        let asked = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "1", "-b", "50M", "-J"];
        world.assay(&asked)
    })
}

#[test]
fn impossible_results_of_iperf3_server_are_failures() {
    run_iperf3(|_| {}).succeeded();
    let check = |lie: fn(&mut serde_json::Value), expected: &str| {
        let outcome = run_iperf3(lie).failed_with(4);
        assert!(outcome.out.contains(expected), "`{expected}` is missing: {outcome:?}");
        let document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
        assert!(document["end"].get("sum_received").is_none(), "{document}");
    };
    check(|it| it["streams"][0]["bytes"] = 1_000_000_000_000_u64.into(), "931.3 GiB received");
    check(|it| it["streams"][0]["end_time"] = 1e-6.into(), "a duration of 1.000 µs");
    check(|it| it["streams"][0]["end_time"] = 1e9.into(), "a duration of");
    check(|it| it["cpu_util_total"] = 1e9.into(), "of CPU time in");
    check(
        |it| it["assay"] = json!({"cpu": {"wall_s": 1.0, "threads_s": 1e9}}),
        "of CPU time in",
    );
}

/// Serves one qperf test of TCP, and reports changed statistics.
fn serve_qperf(listener: &TcpListener, echoes: bool, lie: impl Fn(&mut QperfStatistics)) {
    let (mut control, _) = listener.accept().unwrap();
    control.read_exact(&mut [0; 200]).unwrap();
    let data_listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = u32::from(data_listener.local_addr().unwrap().port());
    control.write_all(&port.to_le_bytes()).unwrap();
    let (mut data, _) = data_listener.accept().unwrap();
    control.read_exact(&mut [0; SYNC.len()]).unwrap();
    control.write_all(SYNC).unwrap();
    let began = Instant::now();
    data.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let (mut buffer, mut received) = (vec![0; 65536], MessageCounts::default());
    while began.elapsed() < Duration::from_secs(1) {
        let Ok(bytes) = data.read(&mut buffer) else { continue };
        received.bytes += bytes as u64;
        received.messages += 1;
        if echoes {
            data.write_all(&buffer[..bytes]).unwrap();
        }
    }
    let mut statistics = QperfStatistics {
        cpus: 1,
        ticks_per_s: 100,
        end: MachineTicks { real: 100, cpu: [50, 0, 0, 50, 0, 0, 0, 0] },
        received,
        ..QperfStatistics::default()
    };
    lie(&mut statistics);
    control.write_all(&statistics.to_bytes()).unwrap();
    drop(control.read(&mut [0; 64]));
}

fn run_qperf(test: &str, lie: impl Fn(&mut QperfStatistics) + Send) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let world = World::new();
    let echoes = test.ends_with("_lat");
    thread::scope(|scope| {
        scope.spawn(|| serve_qperf(&listener, echoes, lie));
        world.assay(&["qperf", "127.0.0.1", "--listen-port", &port, "-t", "1", test])
    })
}

#[test]
fn impossible_results_of_qperf_server_are_failures() {
    run_qperf("tcp_bw", |_| {}).succeeded();
    run_qperf("tcp_lat", |_| {}).succeeded();
    let check = |test: &str, lie: fn(&mut QperfStatistics), expected: &str| {
        let outcome = run_qperf(test, lie).failed_with(4);
        assert!(outcome.err.contains(expected), "`{expected}` is missing: {outcome:?}");
    };
    check("tcp_bw", |it| it.received.bytes = 1 << 60, "received, and at most");
    check("tcp_bw", |it| it.end.real = 1 << 40, "a duration of");
    check("tcp_bw", |it| it.end.cpu[0] = 1 << 40, "of CPU time in");
    check("tcp_lat", |it| it.received.messages = 1 << 60, "messages, and at most");
    check("tcp_lat", |it| it.received.messages = 0, "0 messages received, and");
}
