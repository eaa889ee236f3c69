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

fn captured() -> [u8; Statistics::BYTES] {
    let digits: Vec<u8> = STATISTICS.bytes().filter(u8::is_ascii_hexdigit).collect();
    let mut bytes = [0; Statistics::BYTES];
    for (place, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *place = u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    }
    bytes
}

#[test]
fn captured_statistics_are_understood() {
    let statistics = Statistics::from_bytes(&captured());
    assert_eq!((statistics.cpus, statistics.ticks_per_s), (2, 100));
    assert_eq!(statistics.end.real - statistics.start.real, 100, "one second of ticks");
    assert_eq!(statistics.sent, Counts { bytes: 8780, messages: 8780, errors: 0 });
    assert_eq!(statistics.received, Counts { bytes: 8781, messages: 8781, errors: 0 });
    assert_eq!(statistics.end.cpu[2] - statistics.start.cpu[2], 125, "ticks in the kernel");
    assert_eq!(statistics.to_bytes(), captured());
}

#[test]
fn a_request_is_what_qperf_sends() {
    let bytes = Request { time_s: 1, ..Request::new(Test::TcpLatency) }.to_bytes();
    let set: Vec<(usize, u8)> =
        bytes.iter().copied().enumerate().filter(|(_, byte)| *byte != 0).collect();
    // From a capture: version 0.4.11, test 9, message size 1 at 24, time 1 at 60, timeout 5 at 64.
    assert_eq!(set, [(2, 4), (4, 11), (6, 9), (24, 1), (60, 1), (64, 5)]);
}

#[test]
fn requests_are_read_back_or_refused() {
    for test in ["tcp_bw", "tcp_lat", "udp_bw", "udp_lat", "conf", "quit"] {
        let request = Request {
            messages: 7,
            socket_buffer_bytes: 4096,
            ..Request::new(Test::from_name(test).unwrap())
        };
        assert_eq!(request.test.name(), test);
        assert_eq!(Request::from_bytes(&request.to_bytes()), Ok(request));
    }
    let check = |at: usize, byte: u8, expected: ProtocolError| {
        let mut bytes = Request::new(Test::UdpLatency).to_bytes();
        bytes[at] = byte;
        assert_eq!(Request::from_bytes(&bytes), Err(expected));
    };
    check(0, 1, ProtocolError::Version { major: 1, minor: 4 });
    check(2, 3, ProtocolError::Version { major: 0, minor: 3 });
    check(6, 16, ProtocolError::UnknownTest { index: 16 });
    let value = 1 | 1 << 24;
    check(27, 1, ProtocolError::TooMuch { what: "a message size", value, limit: 65507 });
}

#[test]
fn both_machines_walk_through_a_test_together() {
    let request = Request::new(Test::TcpLatency);
    let (mut client, mut server) = (Client::new(request), Server::default());
    server.receive(&client.hello());
    assert_eq!(server.next_event(), Ok(Some(ServerEvent::Request(request))));
    client.receive(&Server::port(40000));
    assert_eq!(client.next_event(), Ok(Some(ClientEvent::Connect(40000))));
    server.receive(&Client::ready());
    assert_eq!(server.next_event(), Ok(Some(ServerEvent::Run)));
    client.receive(&Server::ready());
    assert_eq!(client.next_event(), Ok(Some(ClientEvent::Run)));
    let statistics = Statistics { cpus: 4, ..Statistics::default() };
    client.receive(&Server::statistics(&statistics));
    assert_eq!(client.next_event(), Ok(Some(ClientEvent::Statistics(Box::new(statistics)))));
    server.receive(&Client::goodbye());
    assert_eq!(server.next_event(), Ok(Some(ServerEvent::Goodbye)));
    assert_eq!((server.next_event(), client.next_event()), (Ok(None), Ok(None)));
}

#[test]
fn a_configuration_travels() {
    let long = "x".repeat(80);
    let sent = Configuration { node: "a".into(), cpu: long, os: "c".into(), qperf: "d".into() };
    let mut client = Client::new(Request::new(Test::Configuration));
    client.receive(&Server::configuration(&sent));
    let cut = Configuration { cpu: "x".repeat(63), ..sent };
    assert_eq!(client.next_event(), Ok(Some(ClientEvent::Configuration(cut))));
}

#[test]
fn a_broken_server_is_named() {
    let check = |bytes: &[u8], expected: ProtocolError| {
        let mut client = Client::new(Request::new(Test::TcpLatency));
        client.receive(bytes);
        let first = client.next_event();
        assert_eq!(first.and_then(|_| client.next_event()), Err(expected));
    };
    check(&[0, 0, 1, 0], ProtocolError::Port { port: 65536 });
    check(&[0; 4], ProtocolError::Port { port: 0 });
    let expected = "synchronization before test".to_owned();
    check(&[[1, 0, 0, 0].as_slice(), &[7; 27]].concat(), ProtocolError::OutOfStep { expected });
    let mut client = Client::new(Request::new(Test::TcpLatency));
    client.receive(b"failed to bind\0");
    assert_eq!(client.refused(), ProtocolError::Refused { text: "failed to bind".into() });
}

proptest! {
    #[test]
    fn both_survive_anything(bytes in proptest::collection::vec(any::<u8>(), 0..600), piece in 1_usize..64) {
        let mut server = Server::default();
        let mut client = Client::new(Request::new(Test::UdpBandwidth));
        for part in bytes.chunks(piece) {
            server.receive(part);
            client.receive(part);
            while let Ok(Some(_)) = server.next_event() {}
            while let Ok(Some(_)) = client.next_event() {}
        }
        let mut at_run = Server::default();
        at_run.receive(&Request::new(Test::TcpBandwidth).to_bytes());
        at_run.receive(&bytes);
        while let Ok(Some(_)) = at_run.next_event() {}
    }
}
