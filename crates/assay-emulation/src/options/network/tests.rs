//! Tests of accepted and rejected spellings of the tools' options.

use super::*;

#[test]
fn parses_dscp_numbers_and_names() {
    for (text, expected) in [
        ("0", Some(0)),
        ("46", Some(184)),
        ("0x2e", Some(184)),
        ("EF", Some(184)),
        ("cs1", Some(32)),
        ("af41", Some(136)),
        ("af13", Some(56)),
        ("64", None),
        ("af44", None),
        ("af4", None),
        ("cs8", None),
        ("csx", None),
        ("", None),
        ("\u{e9}f", None),
    ] {
        assert_eq!(parse_dscp(text).ok(), expected, "{text}");
    }
}

#[test]
fn parses_sweeps_by_step_and_factor() {
    let check = |text: &str, expected: Option<&[u64]>| {
        assert_eq!(parse_sweep(text).ok().map(|it| it.0).as_deref(), expected, "{text}");
    };
    check("msg_size:1:8:*2", Some(&[1, 2, 4, 8]));
    check("msg_size:1:9:*2", Some(&[1, 2, 4, 8]));
    check("msg_size:1K:3K:1K", Some(&[1024, 2048, 3072]));
    check("msg_size:5:5:*2", Some(&[5]));
    for invalid in [
        "msg_size:8:1:*2",
        "msg_size:0:1:*2",
        "msg_size:1:64K:1",
        "msg_size:1:64K",
        "msg_size:1:64K:*x",
        "no_msgs:1:2:*2",
        "",
    ] {
        check(invalid, None);
    }
    // A factor of one never ends.
    check("msg_size:1:8:*1", Some(&[1]));
    check("msg_size:1:8:0", Some(&[1]));
}

#[test]
fn normalizes_qperf_spellings() {
    let check = |typed: &str, expected: &str| {
        let words = typed.split(' ').map(OsString::from).collect();
        let normalized = normalize_qperf_words(words);
        let normalized: Vec<_> = normalized.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(normalized.join(" "), expected);
    };
    check("assay qperf h -lp 1 -t 2 tcp_lat", "assay qperf h --listen_port 1 -t 2 tcp_lat");
    check(
        "assay qperf -oo msg_size:1:4:*2 -H h tcp_bw",
        "assay qperf h --loop msg_size:1:4:*2 tcp_bw",
    );
    check("assay qperf h -t2 -m64K -vvs tcp_lat", "assay qperf h -t2 -m64K --verbose tcp_lat");
    check("assay qperf h -cm1 rc_lat", "assay qperf h --cm1 rc_lat");
    check("assay ping -cm1 h", "assay ping -cm1 h");
}
