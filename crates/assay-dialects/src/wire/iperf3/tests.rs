//! Tests of the protocol against captures of iperf3 3.12, against itself, and with arbitrary bytes.

use proptest::prelude::*;

use super::parameters::{DataDirection, TestLimit};
use super::*;
use crate::iperf3::ConcurrentTests;

const COOKIE: &[u8; 37] = b"yfeymxvrgkrymballveqfvh7dcda6tymyluv\0";
/// Capture of `iperf3 -c … -t 1 -P 2 -b 10M`, both directions of its control connection.
const PARAMETERS: &str = r#"{"tcp":true,"omit":0,"time":1,"num":0,"blockcount":0,"parallel":2,"len":131072,"bandwidth":10000000,"pacing_timer":1000,"client_version":"3.12"}"#;
const CLIENT_RESULTS: &str = r#"{"cpu_util_total":6.4636331668209182,"cpu_util_user":1.3188270286774728,"cpu_util_system":5.1442339246256825,"sender_has_retransmits":1,"congestion_used":"bbr","streams":[{"id":1,"bytes":1310720,"retransmits":0,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.000159},{"id":3,"bytes":1310720,"retransmits":0,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.000175}]}"#;
const SERVER_RESULTS: &str = r#"{"cpu_util_total":0.13979863937107151,"cpu_util_user":0,"cpu_util_system":0.13999320950241609,"sender_has_retransmits":18446744073709551615,"congestion_used":"bbr","streams":[{"id":1,"bytes":1310720,"retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.027854},{"id":3,"bytes":1310720,"retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.027867}]}"#;

fn message(text: &str) -> Vec<u8> {
    frame(text.as_bytes())
}

fn client_side() -> Vec<u8> {
    [&COOKIE[..], &message(PARAMETERS), &[4], &message(CLIENT_RESULTS), &[16]].concat()
}

fn server_side() -> Vec<u8> {
    [&[9, 10, 1, 2, 13][..], &message(SERVER_RESULTS), &[14]].concat()
}

/// Returns all events of a server that receives `bytes` in pieces of `piece` bytes.
fn run_server(
    bytes: &[u8],
    piece: usize,
) -> (Vec<Iperf3ServerEvent>, Option<Iperf3ProtocolError>) {
    let (mut server, mut events) = (Iperf3Server::default(), Vec::new());
    for part in bytes.chunks(piece) {
        server.receive(part);
        loop {
            match server.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => return (events, Some(error)),
            }
        }
    }
    (events, None)
}

#[test]
fn closing_error_needs_only_the_first_number() {
    let closed = |bytes: &[u8]| {
        let mut client = Iperf3Client::new(Cookie(*COOKIE));
        client.receive(bytes);
        while let Ok(Some(_)) = client.next_event() {}
        client.closing_error()
    };
    let refused = Iperf3ProtocolError::ServerError { iperf3: NOT_AUTHORIZED, system: 0 };
    assert_eq!(closed(&[9, 0xFE, 0, 0, 0, 142]), Some(refused));
    for bytes in [&[9][..], &[9, 0xFE], &[9, 0xFE, 0, 0, 0], &[9, 10]] {
        assert_eq!(closed(bytes), None);
    }
}

fn run_client(
    bytes: &[u8],
    piece: usize,
) -> (Vec<Iperf3ClientEvent>, Option<Iperf3ProtocolError>) {
    let (mut client, mut events) = (Iperf3Client::new(Cookie(*COOKIE)), Vec::new());
    for part in bytes.chunks(piece) {
        client.receive(part);
        loop {
            match client.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => return (events, Some(error)),
            }
        }
    }
    (events, None)
}

#[test]
fn parses_captured_client_in_any_pieces() {
    for piece in [1, 3, 37, 100, 10_000] {
        let (events, error) = run_server(&client_side(), piece);
        assert_eq!(error, None);
        let [
            Iperf3ServerEvent::Cookie(cookie),
            Iperf3ServerEvent::Parameters(parameters),
            Iperf3ServerEvent::Ended,
            Iperf3ServerEvent::Results(results),
            Iperf3ServerEvent::Done,
        ] = events.as_slice()
        else {
            panic!("{events:?}");
        };
        assert_eq!(cookie, &Cookie(*COOKIE));
        assert_eq!(parameters.limit, TestLimit::Seconds(1));
        assert_eq!((parameters.streams, parameters.direction), (2, DataDirection::Forward));
        assert_eq!(parameters.rate_bit_per_s, Some(10_000_000));
        assert_eq!(results.streams[1].id, 3);
        assert_eq!(results.streams[1].retransmits, Some(0));
    }
}

#[test]
fn parses_captured_server_in_any_pieces() {
    for piece in [1, 7, 10_000] {
        let (events, error) = run_client(&server_side(), piece);
        assert_eq!(error, None);
        assert_eq!(events.len(), 7);
        let Iperf3ClientEvent::Results(results) = &events[5] else { panic!("{events:?}") };
        assert_eq!(results.sender_has_retransmits, -1, "printed as 2⁶⁴ − 1");
        assert_eq!(results.streams[0].retransmits, None);
        assert_eq!(results.streams[0].bytes, 1_310_720);
        assert_eq!(events[6], Iperf3ClientEvent::Finished);
    }
}

#[test]
fn reports_protocol_violations() {
    let check_server = |bytes: &[u8], expected: Iperf3ProtocolError| {
        assert_eq!(run_server(bytes, 5).1, Some(expected));
    };
    check_server(
        b"GET / HTTP/1.1",
        Iperf3ProtocolError::InvalidCookie { start: "474554202f".into() },
    );
    check_server(
        &[&COOKIE[..], &[0, 1, 0, 0]].concat(),
        Iperf3ProtocolError::TooLong { what: "parameters", announced: 65536, limit: 8192 },
    );
    check_server(
        &[&COOKIE[..], &message(PARAMETERS), &[12]].concat(),
        Iperf3ProtocolError::Terminated { who: "client" },
    );
    check_server(
        &[&COOKIE[..], &message(PARAMETERS), &[7]].concat(),
        Iperf3ProtocolError::UnknownState { byte: 7 },
    );
    let check_client = |bytes: &[u8], expected: Iperf3ProtocolError| {
        assert_eq!(run_client(bytes, 2).1, Some(expected));
    };
    check_client(&[0xFF], Iperf3ProtocolError::Denied);
    check_client(&[9, 11], Iperf3ProtocolError::Terminated { who: "server" });
    check_client(
        &[9, 0xFE, 0, 0, 0, 120, 0, 0, 0, 98],
        Iperf3ProtocolError::ServerError { iperf3: 120, system: 98 },
    );
    check_client(
        &[9, 14],
        Iperf3ProtocolError::UnexpectedState {
            state: ControlState::DisplayResults,
            expected: "the request to open streams",
        },
    );
    check_client(
        &[9, 10, 1, 2, 13, 0xFF, 0, 0, 0],
        Iperf3ProtocolError::TooLong {
            what: "results",
            announced: 0xFF00_0000,
            limit: RESULTS_LIMIT,
        },
    );
}

#[test]
fn rejects_parameters_beyond_limits() {
    for text in [
        r#"{"parallel":129}"#,
        r#"{"parallel":0}"#,
        r#"{"udp":true,"len":15}"#,
        r#"{"udp":true}"#,
        r#"{"tcp":true,"len":1048577}"#,
        r#"{"time":86401}"#,
        r#"{"omit":601}"#,
        r#"{"MSS":40000}"#,
        r#"{"window":1e10}"#,
        r#"{"bandwidth":-1}"#,
        r#"{"bandwidth":"fast"}"#,
        r#"{"sctp":true}"#,
        r"[]",
        r"",
    ] {
        let read = Iperf3Parameters::from_json(text.as_bytes());
        assert!(matches!(read, Err(Iperf3ProtocolError::Malformed { .. })), "{text}: {read:?}");
    }
}

#[test]
fn rejects_counts_beyond_the_maximum() {
    for (field, is_read) in [
        (r#""bytes":9007199254740992"#, true),
        (r#""bytes":9007199254740993"#, false),
        (r#""bytes":1e300"#, false),
        (r#""bytes":1,"packets":9223372036854775807"#, false),
        (r#""bytes":1,"omitted_packets":-9223372036854775808"#, false),
        // iperf3 3.12 writes -1 like this.
        (r#""bytes":1,"retransmits":18446744073709551615"#, true),
    ] {
        let text = format!(r#"{{"streams":[{{"id":1,{field}}}]}}"#);
        let read = Iperf3Results::from_json(text.as_bytes());
        assert_eq!(read.is_ok(), is_read, "{text}: {read:?}");
    }
}

#[test]
fn stream_numbers_skip_two() {
    assert_eq!([0, 1, 2, 3].map(stream_id), [1, 3, 4, 5]);
}

#[test]
fn random_cookie_uses_the_alphabet() {
    let cookie = Cookie::from_random(std::array::from_fn(|at| at as u8 * 7));
    let (events, error) = run_server(&cookie.0, 1);
    assert_eq!((events, error), (vec![Iperf3ServerEvent::Cookie(cookie)], None));
    assert_eq!(cookie.text().len(), 36);
}

/// The members that clients of iperf3 3.21 send with and without `--gsro`.
#[test]
fn segmentation_is_iperf3s() {
    let members = |on: u8| {
        let text = format!(
            r#"{{"udp":true,"time":1,"parallel":1,"len":1448,"gso":{on},"gso_dg_size":1448,
            "gso_bf_size":65160,"gro":{on},"gro_bf_size":65507,"client_version":"3.21"}}"#
        );
        Iperf3Parameters::from_json(text.as_bytes()).unwrap()
    };
    assert!(members(1).segmentation && !members(0).segmentation);
    let sent: serde_json::Value = serde_json::from_slice(&members(1).to_json()).unwrap();
    assert_eq!((&sent["gso"], &sent["gso_dg_size"]), (&1.into(), &1448.into()));
    assert_eq!((&sent["gso_bf_size"], &sent["gro_bf_size"]), (&65160.into(), &65507.into()));
}

#[test]
fn parameters_and_results_round_trip() {
    let parameters = Iperf3Parameters {
        protocol: TransportProtocol::Udp,
        direction: DataDirection::Both,
        limit: TestLimit::Blocks(77),
        omit_s: 2,
        streams: 32,
        block_bytes: 1448,
        rate_bit_per_s: Some(200_000_000),
        burst: 10,
        kernel_rate_bit_per_s: Some(1_000_000),
        no_delay: true,
        window_bytes: Some(65536),
        segment_bytes: Some(1400),
        congestion: Some("cubic".into()),
        type_of_service: 16,
        zero_copy: true,
        skip_receive_copy: true,
        segmentation: true,
        dont_fragment: true,
        flow_label: Some(0xF_FFFF),
        multipath: true,
        server_cpu: Some(0),
        repeating_payload: true,
        wide_counters: true,
        get_server_output: true,
        title: Some("a".into()),
        extra_data: Some("b".into()),
        assay: Some("0.1.0".into()),
        ..Iperf3Parameters::default()
    };
    assert_eq!(Iperf3Parameters::from_json(&parameters.to_json()), Ok(parameters));
    let results = Iperf3Results {
        cpu: CpuPercent { total: 12.5, user: 2.5, system: 10.0 },
        sender_has_retransmits: -1,
        congestion: Some("cubic".into()),
        server_output_text: Some("text".into()),
        streams: vec![
            StreamResult {
                id: 1,
                bytes: 5,
                errors: -1,
                packets: 9,
                out_of_order: Some(2),
                ..StreamResult::default()
            },
            StreamResult {
                id: 3,
                retransmits: Some(4),
                tcp: Some(SenderTcp { rtt_us: (1, 2, 3), windows_bytes: (4, 5), reordered: 6 }),
                end_s: 1.5,
                ..StreamResult::default()
            },
        ],
        account: Some(assay_model::cpu_account::CpuAccount {
            wall_s: 1.0,
            cpus: 2,
            softirq_s: 0.25,
            ..Default::default()
        }),
        concurrent: Some(ConcurrentTests { count: 2, share: 0.75, mean: 1.25 }),
        has_omitted: true,
        ..Iperf3Results::default()
    };
    assert_eq!(Iperf3Results::from_json(&results.to_json()), Ok(results));
}

proptest! {
    #[test]
    fn server_never_panics(bytes: Vec<u8>, piece in 1_usize..64) {
        run_server(&bytes, piece);
        run_server(&[&COOKIE[..], &bytes].concat(), piece);
        run_server(&[&COOKIE[..], &message(PARAMETERS), &bytes].concat(), piece);
        run_server(&[&COOKIE[..], &message(&String::from_utf8_lossy(&bytes))].concat(), piece);
    }

    #[test]
    fn client_never_panics(bytes: Vec<u8>, piece in 1_usize..64) {
        run_client(&bytes, piece);
        run_client(&[&[9, 10, 1, 2, 13][..], &bytes].concat(), piece);
        run_client(&[&[9, 10, 1, 2, 13][..], &message(&String::from_utf8_lossy(&bytes))].concat(), piece);
    }

    #[test]
    fn damaged_captures_never_panic(at in 0_usize..1000, byte: u8, piece in 1_usize..64) {
        for (mut bytes, is_client) in [(client_side(), true), (server_side(), false)] {
            let at = at % bytes.len();
            bytes[at] = byte;
            if is_client { drop(run_server(&bytes, piece)) } else { drop(run_client(&bytes, piece)) }
        }
    }
}

#[test]
fn unexpected_bytes_are_not_stored() {
    let mut server = Iperf3Server::default();
    server.receive(&client_side());
    while server.next_event().unwrap().is_some() {}
    // The exchange is complete, and the peer continues to send.
    server.receive(&vec![4; UNPARSED_LIMIT + 1]);
    assert_eq!(
        server.next_event(),
        Err(Iperf3ProtocolError::TooManyBytes { limit: UNPARSED_LIMIT })
    );
}
