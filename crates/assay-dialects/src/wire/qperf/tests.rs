//! Tests of the protocol against captures of qperf 0.4.11, against itself, and with arbitrary
//! bytes.

use proptest::prelude::*;

use super::*;

/// Captured statistics of a `tcp_lat` of one second, up to the last number that is not zero.
const STATISTICS: &str = "\
02000000640000000000000 07f4e696600000000f5a50100000000000000000000000000412c000000000000b0de0400\
00000000150400000000000000000000000000008300000000000000720000000000 0000e34e6966000000003ca60100\
000000000000000000000000be2c000000000000b1de04000000000015040000000000000000000000000000850000000\
000000072000000000000004c220000000000004c2200000000000000000000000000004d220000000000004d22";

fn captured() -> [u8; QperfStatistics::BYTES] {
    let digits: Vec<u8> = STATISTICS.bytes().filter(u8::is_ascii_hexdigit).collect();
    let mut bytes = [0; QperfStatistics::BYTES];
    for (place, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *place = u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    }
    bytes
}

#[test]
fn decodes_captured_statistics() {
    let statistics = QperfStatistics::from_bytes(&captured());
    assert_eq!((statistics.cpus, statistics.ticks_per_s), (2, 100));
    assert_eq!(statistics.end.real - statistics.start.real, 100, "one second of ticks");
    assert_eq!(statistics.sent, MessageCounts { bytes: 8780, messages: 8780, errors: 0 });
    assert_eq!(statistics.received, MessageCounts { bytes: 8781, messages: 8781, errors: 0 });
    assert_eq!(statistics.end.cpu[2] - statistics.start.cpu[2], 125, "ticks in the kernel");
    assert_eq!(statistics.to_bytes(), captured());
}

#[test]
fn request_matches_captured_bytes() {
    let bytes =
        QperfRequest { time_s: 1, ..QperfRequest::new(QperfTestKind::TcpLatency) }.to_bytes();
    let set: Vec<(usize, u8)> =
        bytes.iter().copied().enumerate().filter(|(_, byte)| *byte != 0).collect();
    // From a capture: version 0.4.11, test 9, message size 1 at 24, time 1 at 60, timeout 5 at 64.
    assert_eq!(set, [(2, 4), (4, 11), (6, 9), (24, 1), (60, 1), (64, 5)]);
}

#[test]
fn requests_round_trip_or_are_rejected() {
    for test in ["tcp_bw", "tcp_lat", "udp_bw", "udp_lat", "conf", "quit"] {
        let request = QperfRequest {
            messages: 7,
            socket_buffer_bytes: 4096,
            cpu: 3,
            port: 23_456,
            ..QperfRequest::new(QperfTestKind::from_name(test).unwrap())
        };
        assert_eq!(request.test.name(), test);
        assert_eq!(QperfRequest::from_bytes(&request.to_bytes()), Ok(request));
    }
    let check = |at: usize, byte: u8, expected: QperfProtocolError| {
        let mut bytes = QperfRequest::new(QperfTestKind::UdpLatency).to_bytes();
        bytes[at] = byte;
        assert_eq!(QperfRequest::from_bytes(&bytes), Err(expected));
    };
    check(0, 1, QperfProtocolError::Version { major: 1, minor: 4 });
    check(2, 3, QperfProtocolError::Version { major: 0, minor: 3 });
    check(6, 16, QperfProtocolError::UnknownTest { index: 16 });
    let value = 1 | 1 << 24;
    check(
        27,
        1,
        QperfProtocolError::LimitExceeded { what: "a message size", value, limit: 65507 },
    );
    let value = 1 << 16;
    check(42, 1, QperfProtocolError::LimitExceeded { what: "a port", value, limit: 65535 });
}

#[test]
fn client_and_server_complete_a_test() {
    let request = QperfRequest::new(QperfTestKind::TcpLatency);
    let (mut client, mut server) = (QperfClient::new(request), QperfServer::default());
    server.receive(&client.request_message());
    assert_eq!(server.next_event(), Ok(Some(QperfServerEvent::Request(request))));
    client.receive(&QperfServer::port_message(40000));
    assert_eq!(client.next_event(), Ok(Some(QperfClientEvent::Connect(40000))));
    server.receive(&QperfClient::sync_message());
    assert_eq!(server.next_event(), Ok(Some(QperfServerEvent::Run)));
    client.receive(&QperfServer::sync_message());
    assert_eq!(client.next_event(), Ok(Some(QperfClientEvent::Run)));
    let statistics = QperfStatistics { cpus: 4, ..QperfStatistics::default() };
    client.receive(&QperfServer::statistics_message(&statistics));
    assert_eq!(
        client.next_event(),
        Ok(Some(QperfClientEvent::Statistics(Box::new(statistics))))
    );
    server.receive(&QperfClient::closing_message());
    assert_eq!(server.next_event(), Ok(Some(QperfServerEvent::Finished)));
    assert_eq!((server.next_event(), client.next_event()), (Ok(None), Ok(None)));
}

#[test]
fn configuration_round_trips_truncated() {
    let long = "x".repeat(80);
    let sent =
        QperfConfiguration { node: "a".into(), cpu: long, os: "c".into(), qperf: "d".into() };
    let mut client = QperfClient::new(QperfRequest::new(QperfTestKind::Configuration));
    client.receive(&QperfServer::configuration_message(&sent));
    let cut = QperfConfiguration { cpu: "x".repeat(63), ..sent };
    assert_eq!(client.next_event(), Ok(Some(QperfClientEvent::Configuration(cut))));
}

#[test]
fn reports_server_violations() {
    let check = |bytes: &[u8], expected: QperfProtocolError| {
        let mut client = QperfClient::new(QperfRequest::new(QperfTestKind::TcpLatency));
        client.receive(bytes);
        let first = client.next_event();
        assert_eq!(first.and_then(|_| client.next_event()), Err(expected));
    };
    check(&[0, 0, 1, 0], QperfProtocolError::InvalidPort { port: 65536 });
    check(&[0; 4], QperfProtocolError::InvalidPort { port: 0 });
    let expected = "synchronization before test".to_owned();
    check(
        &[[1, 0, 0, 0].as_slice(), &[7; 27]].concat(),
        QperfProtocolError::SyncMismatch { expected },
    );
    let mut client = QperfClient::new(QperfRequest::new(QperfTestKind::TcpLatency));
    client.receive(b"failed to bind\0");
    assert_eq!(
        client.rejection(),
        QperfProtocolError::Refused { text: "failed to bind".into() }
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), piece in 1_usize..64) {
        let mut server = QperfServer::default();
        let mut client = QperfClient::new(QperfRequest::new(QperfTestKind::UdpBandwidth));
        for part in bytes.chunks(piece) {
            server.receive(part);
            client.receive(part);
            while let Ok(Some(_)) = server.next_event() {}
            while let Ok(Some(_)) = client.next_event() {}
        }
        let mut at_run = QperfServer::default();
        at_run.receive(&QperfRequest::new(QperfTestKind::TcpBandwidth).to_bytes());
        at_run.receive(&bytes);
        while let Ok(Some(_)) = at_run.next_event() {}
    }
}

/// qperf's own language lacks the test; its number survives the wire.
#[test]
fn connections_are_an_extension_of_the_protocol() {
    let test = QperfTestKind::TcpConnections;
    assert_eq!(QperfTestKind::from_name(test.name()), None);
    let request = QperfRequest { time_s: 3, ..QperfRequest::new(test) };
    assert_eq!(QperfRequest::from_bytes(&request.to_bytes()), Ok(request));
    assert!(!test.is_latency() && !test.is_udp());
}
