//! Tests of the suite parser: valid files, and errors of invalid ones.

use expect_test::{Expect, expect};

use super::*;
use crate::workload::{NetworkTest, RdmaDevice};

fn check(text: &str, expected: &Expect) {
    let found = match parse_suite(text) {
        Ok(mut suite) => {
            suite.measures.iter_mut().for_each(|it| it.origin = None);
            format!("{suite:#?}")
        }
        Err(error) => format!(
            "{error} | at `{}` | {}",
            text.get(error.span.clone()).unwrap_or("?"),
            error.help.clone().unwrap_or_default()
        ),
    };
    expected.assert_eq(&found);
}

#[test]
fn parses_suite() {
    check(
        r#"
name = "mine"
budget = "2m"
[[measure]]
benchmark = "memory.stream"
placement = ["node", "l3:1"]
array-size = "64MiB"
"#,
        &expect![[r#"
            Suite {
                name: "mine",
                title: "",
                budget_s: 120.0,
                measures: [
                    Measure {
                        by: [],
                        share: 1.0,
                        target: 0.01,
                        optional: false,
                        request: Stream {
                            placements: [
                                Node,
                                LastLevel(
                                    Some(
                                        1,
                                    ),
                                ),
                            ],
                            threads: None,
                            bytes: Some(
                                Bytes(
                                    67108864,
                                ),
                            ),
                        },
                        origin: None,
                    },
                ],
            }"#]],
    );
}

#[test]
fn rejects_with_span_and_help() {
    let with = |measure: &str| format!("name = \"x\"\n[[measure]]\n{measure}\n");
    for (text, expected) in [
        (String::new(), expect!["the file is empty | at `` | see `assay help suites`"]),
        (
            "name = \"x\"".to_owned(),
            expect!["`measure` is missing | at `` | see `assay help suites`"],
        ),
        (
            "[[measure]]\nbenchmark = \"memory.stream\"".to_owned(),
            expect![[r#"`name` is missing | at `` | add a line like `name = "nightly"`"#]],
        ),
        (
            with("benchmark = \"memory.stream\"\ninterval = 1"),
            expect!["`1` is ambiguous (1 % or 100 %); write `1%` or `100%` | at `1` | "],
        ),
        (
            with("benchmark = \"compute.linpack\"\nmemory = 96"),
            expect!["`memory` must be above 0 % and at most 95 % | at `96` | "],
        ),
        (
            with("benchmark = \"mpi.latency\"\nranks = 64"),
            expect!["mpi.latency takes two ranks | at `64` | remove `ranks`"],
        ),
        (
            with("benchmark = \"mpi.barrier\"\nfrom = \"1B\""),
            expect![[r#"mpi.barrier sends no messages of a size | at `"1B"` | remove `from`"#]],
        ),
        (
            "name = ".to_owned(),
            expect![
                "not TOML: string values must be quoted, expected literal string | at `` | "
            ],
        ),
        (
            "nmae = \"x\"".to_owned(),
            expect!["unknown key `nmae` | at `nmae` | did you mean `name`?"],
        ),
        (
            "name = \"x\"\nmeasure = []".to_owned(),
            expect!["the suite has no measures | at `[]` | "],
        ),
        (
            with("benchmark = \"memory.steam\""),
            expect![
                "unknown benchmark `memory.steam` | at `\"memory.steam\"` | did you mean `memory.stream`?"
            ],
        ),
        (
            with("benchmark = \"memory.stream\"\nplacment = \"node\""),
            expect!["unknown key `placment` | at `placment` | did you mean `placement`?"],
        ),
        (
            with("benchmark = \"memory.stream\"\nplacement = \"socket\""),
            expect![
                "unknown placement `socket`; expected one of node, numa, l3, core, scaling and all, and numa:0, l3:0 or core:0 for a single one | at `\"socket\"` | "
            ],
        ),
        (
            with("benchmark = \"memory.stream\"\narray-size = \"5s\""),
            expect![
                "`s` in `5s` is not a unit of a size; write it like `64MiB` | at `\"5s\"` | "
            ],
        ),
        (
            with("benchmark = \"memory.stream\"\narray-size = 5"),
            expect!["a size needs its unit | at `5` | like `\"64MiB\"`"],
        ),
        (
            with("benchmark = \"rdma.atomic_lat\"\nfrom = \"2B\""),
            expect![
                "unknown key `from` | at `from` | expected one of: benchmark, by, share, interval, optional"
            ],
        ),
        (
            with("benchmark = \"rdma.send_lat\"\nqueue-pairs = 4"),
            expect![
                "a latency test has one operation in flight | at `4` | remove `queue-pairs`"
            ],
        ),
        (
            with("benchmark = \"rdma.write_bw\"\nconnection = \"ud\""),
            expect![[
                r#"datagrams support only `rdma.send_…` | at `"ud"` | remove `connection`"#
            ]],
        ),
        (
            with("benchmark = \"rdma.send_bw\"\nconnection = \"ud\"\nboth-directions = true"),
            expect![
                "datagrams are counted at the receiver, so they are sent in one direction | at `true` | remove `both-directions`"
            ],
        ),
        (
            with("benchmark = \"rdma.send_bw\"\ndevice = \"-d\""),
            expect![[
                r#"not a valid name of an RDMA device | at `"-d"` | `ls /sys/class/infiniband` shows them"#
            ]],
        ),
        (
            with("benchmark = \"rdma.send_bw\"\ngid-index = 256"),
            expect!["expected a number from 0 to 255 | at `256` | "],
        ),
        (
            with("benchmark = \"rdma.send_bw\"\npath-mtu = \"1500B\""),
            expect![[
                r#"a path MTU is one of 256 B, 512 B, 1 KiB, 2 KiB and 4 KiB | at `"1500B"` | "#
            ]],
        ),
        (
            with("benchmark = \"rdma.send_bw\"\nin-flight = 1"),
            expect!["expected a number from 2 to 65536 | at `1` | "],
        ),
        (
            with("benchmark = \"network.tcp\"\nsegmentation = true"),
            expect![
                "only network.udp has segmentation | at `true` | TCP's segments are always cut by the kernel or the device"
            ],
        ),
        (
            with("benchmark = \"compute.linpack\"\nn = 0"),
            expect!["expected a whole number of at least 1 | at `0` | "],
        ),
        (
            with("benchmark = \"compute.linpack\"\nn = 9\nmemory = \"10%\""),
            expect!["`n` and `memory` exclude each other | at `\"10%\"` | "],
        ),
        (
            with("benchmark = \"storage\""),
            expect!["`operation` is missing | at `[[measure]]` | see `assay help suites`"],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"raed\""),
            expect![[r#"unknown choice `raed` | at `"raed"` | did you mean `read`?"#]],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"read\"\npatern = \"random\""),
            expect!["unknown key `patern` | at `patern` | did you mean `pattern`?"],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"read\"\nread-share = \"70%\""),
            expect![[
                r#"only a mix has a share of reads | at `"70%"` | like `operation = "mix"` and `read-share = "70%"`"#
            ]],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"read\"\nprovisioned = 4500"),
            expect![[r#"a bandwidth needs its unit | at `4500` | like `"4500MiB/s"`"#]],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"read\"\nprovisioned = \"4500MiB\""),
            expect![[
                r#"`MiB` in `4500MiB` is not a unit of a byte rate; write it like `10GB/s` | at `"4500MiB"` | "#
            ]],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"read\"\ncurve = [0]"),
            expect!["expected a percentage above 0, like 50 | at `0` | "],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"read\"\ncurve = [50]\nrate = 5"),
            expect!["`curve` and `rate` exclude each other | at `[50]` | "],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"read\"\nbend-points = 2"),
            expect!["`bend-points` needs a `curve` | at `2` | like `curve = [10, 50, 90]`"],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"read\"\nfind-rate = \"1ms\""),
            expect![[
                r#"`1ms` is not a latency goal; write it like `p99<=1ms` | at `"1ms"` | "#
            ]],
        ),
        (
            with(
                "benchmark = \"storage\"\noperation = \"read\"\nfind-rate = \"p99<=1ms\"\nrate = 5",
            ),
            expect![[r#"`find-rate` and `rate` exclude each other | at `"p99<=1ms"` | "#]],
        ),
        (
            with("benchmark = \"storage\"\noperation = \"read\"\nprecondition = \"twice\""),
            expect![[
                r#"`twice` is not a number of passes; write it like `2x` | at `"twice"` | "#
            ]],
        ),
        (
            with("benchmark = \"compute.linpack\"\nmemory = \"110%\""),
            expect!["`memory` must be above 0 % and at most 95 % | at `\"110%\"` | "],
        ),
    ] {
        check(&text, &expected);
    }
}

/// Shares have the same meaning in a suite as on the command line.
#[test]
fn parses_shares_like_command_line() {
    for (typed, expected) in
        [("\"80%\"", 0.8), ("80", 0.8), ("0.8", 0.8), ("2", 0.02), ("1.5", 0.015)]
    {
        let text = format!(
            "name = \"x\"\n[[measure]]\nbenchmark = \"compute.linpack\"\nmemory = {typed}\n"
        );
        let suite = parse_suite(&text).unwrap();
        let MeasureRequest::Linpack { size: LinpackSize::Memory(share), .. } =
            suite.measures[0].request
        else {
            panic!("{suite:?}")
        };
        assert!((share - expected).abs() < 1e-12, "{typed}: {share}");
    }
}

#[test]
fn placements_round_trip() {
    for text in ["node", "numa", "numa:3", "l3", "l3:0", "core", "core:17", "scaling", "all"] {
        assert_eq!(text.parse::<Placement>().unwrap().to_string(), text);
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[a-z=\\[\\]\"\n .:0-9{}]*") {
        let _ = parse_suite(&text);
    }
}

#[test]
fn finds_key_spans() {
    // A heading may be indented, and a value may span several lines.
    let text = "name = \"x\"\n\n[[measure]]\nbenchmark = \"memory.latency\"\n\n[[measure]]\n\
                benchmark = \"memory.stream\"\nplacement = \"l3:9\"  # far\n\n  [[measure]]\n\
                benchmark = \"compute.linpack\"\nblas = \"none\"\n\n[[measure]]\n\
                benchmark = \"storage\"\noperation = \"read\"\nbs = [\n  \"4KiB\",\n]\n";
    let suite = parse_suite(text).unwrap();
    for (measure, keys, expected) in [
        (1, &["threads", "placement"][..], "placement = \"l3:9\""),
        (1, &["blas"], "[[measure]]"),
        (2, &["blas"], "blas = \"none\""),
        (2, &["placement"], "[[measure]]"),
        (3, &["bs"], "bs = [\n  \"4KiB\",\n]"),
    ] {
        let origin = suite.measures[measure].origin.as_ref().unwrap();
        assert_eq!(&text[origin.key_span(keys)], expected);
    }
}

#[test]
fn limits_datagram_sizes() {
    let text = "name = \"x\"\n[[measure]]\nbenchmark = \"rdma.send_lat\"\nconnection = \"ud\"\nfrom = \"64B\"";
    let suite = parse_suite(text).unwrap();
    let MeasureRequest::Rdma(asked) = &suite.measures[0].request else { panic!("{suite:?}") };
    assert_eq!(asked.sizes, Some((Bytes(64), Bytes(1024))));
}

#[test]
fn parses_rdma_device() {
    let text = "name = \"x\"\n[[measure]]\nbenchmark = \"rdma.send_lat\"\nconnection = \"ud\"\nfrom = \"2B\"\n\
                device = \"mlx5_ib0\"\ndevice-port = 2\ngid-index = 0\npath-mtu = \"4KiB\"";
    let suite = parse_suite(text).unwrap();
    let MeasureRequest::Rdma(asked) = &suite.measures[0].request else { panic!("{suite:?}") };
    let device = RdmaDevice {
        name: Some("mlx5_ib0".to_owned()),
        device_port: Some(2),
        gid_index: Some(0),
        mtu_bytes: Some(4096),
        ..RdmaDevice::default()
    };
    assert_eq!((&asked.device, asked.sizes), (&device, Some((Bytes(2), Bytes(4096)))));
}

#[test]
fn udp_is_limited_unless_the_kernel_cuts_its_datagrams() {
    let rate = |keys: &str| {
        let text = format!("name = \"x\"\n[[measure]]\nbenchmark = \"network.udp\"\n{keys}");
        let suite = parse_suite(&text).unwrap();
        let MeasureRequest::Network(request) = &suite.measures[0].request else { panic!() };
        let NetworkTest::Throughput(test) = &request.tests[0].test else { panic!() };
        (test.rate_bit_per_s, test.segmentation)
    };
    assert_eq!(rate(""), (Some(100_000_000), false));
    assert_eq!(rate("rate = \"unlimited\""), (None, false));
    assert_eq!(rate("segmentation = true"), (None, true));
    assert_eq!(rate("segmentation = true\nrate = \"1Gbit/s\""), (Some(1_000_000_000), true));
}

#[test]
fn latency_tests_take_busy_polling() {
    let text = "name = \"x\"\n[[measure]]\nbenchmark = \"network.tcp\"\n\
                measures = \"latency\"\nbusy-poll = \"50us\"";
    let suite = parse_suite(text).unwrap();
    let MeasureRequest::Network(request) = &suite.measures[0].request else { panic!() };
    let NetworkTest::Latency(test) = &request.tests[0].test else { panic!() };
    assert_eq!(test.busy_poll_us, Some(50));
}

#[test]
fn connection_tests_are_made_for_streams_and_sizes() {
    let text = |benchmark: &str| {
        format!(
            "name = \"x\"\n[[measure]]\nbenchmark = \"{benchmark}\"\nmeasures = \"connections\"\n\
             streams = [1, 4]\nmessage-size = [\"1B\", \"8KiB\"]"
        )
    };
    let suite = parse_suite(&text("network.tcp")).unwrap();
    let MeasureRequest::Network(request) = &suite.measures[0].request else { panic!() };
    let tests: Vec<(u32, u64)> = request
        .tests
        .iter()
        .map(|it| match &it.test {
            NetworkTest::Connections(test) => (test.streams, test.bytes),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(tests, [(1, 1), (1, 8192), (4, 1), (4, 8192)]);
    let error = parse_suite(&text("network.udp")).unwrap_err().to_string();
    assert!(error.contains("only network.tcp has connections"), "{error}");
}
