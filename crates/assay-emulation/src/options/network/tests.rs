//! Tests of accepted and rejected spellings of the tools' options.

use super::iperf3_values::parse_dscp;
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
fn normalizes_qperf_spellings() {
    let check = |typed: &str, expected: &str| {
        let words = typed.split(' ').map(OsString::from).collect();
        let normalized = normalize_qperf_words(words);
        let normalized: Vec<_> = normalized.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(normalized.join(" "), expected);
    };
    check("assay qperf h -lp 1 -t 2 tcp_lat", "assay qperf h --lp 1 -t 2 tcp_lat");
    check(
        "assay qperf -oo msg_size:1:4:*2 -H h tcp_bw",
        "assay qperf h --loop msg_size:1:4:*2 tcp_bw",
    );
    check(
        "assay qperf h -t2 -m64K -vvs tcp_lat",
        "assay qperf h -t2 -m64K --verbose=vvs tcp_lat",
    );
    check("assay qperf h -cm1 rc_lat", "assay qperf h --cm1 rc_lat");
    check("assay qperf h -v --verbose_stat x", "assay qperf h --verbose=v --verbose=vs x");
    check("assay qperf h --verbose_more x", "assay qperf h --verbose=vv x");
    check("assay qperf h --verbose_more_used x", "assay qperf h --verbose=vvu x");
    check("assay qperf h -rsb 1 -ws 2 -ub x", "assay qperf h --rsb 1 --ws 2 --ub x");
    check("assay ping -cm1 h", "assay ping -cm1 h");
}
