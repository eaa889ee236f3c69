//! Tests of traces: every kind of line, and malformed ones.

use super::*;

fn times(trace: &IoTrace) -> Vec<(ReplayTime, u64, u64)> {
    trace.ios.iter().map(|io| (io.due, io.offset, io.bytes)).collect()
}

const TIMED: &str = "fio version 3 iolog\n0 x add\n0 x open\n5 x read 8192 4096\n\
                     25 y add\n35 y write 4099 1024\n36 x datasync 0 0\n46 x close\n\
                     56 x read 0 512\n";

#[test]
fn lines_are_read_with_their_times() {
    use ReplayTime::{AfterPrevious, AfterStart};
    let trace = parse(TIMED, &ReplayOptions::default()).unwrap();
    assert_eq!(trace.files, ["x", "y"]);
    let expected = [
        (AfterPrevious(0), 8192, 4096),
        (AfterPrevious(30_000), 4099, 1024),
        (AfterPrevious(21_000), 0, 512),
    ];
    assert_eq!(times(&trace), expected);
    assert!(trace.syncs && trace.syncs_data_only);
    assert_eq!(
        trace.ios.iter().map(|io| io.sync_before).collect::<Vec<_>>(),
        [None, None, Some(0)]
    );
    let changed = ReplayOptions {
        redirect: Some("z".to_owned()),
        speed_percent: 200,
        divisor: 2,
        align_bytes: 1024,
        ..ReplayOptions::default()
    };
    let trace = parse(TIMED, &changed).unwrap();
    assert_eq!(trace.files, ["z"]);
    let expected = [
        (AfterPrevious(0), 4096, 4096),
        (AfterPrevious(15_000), 2048, 1024),
        (AfterPrevious(10_500), 0, 512),
    ];
    assert_eq!(times(&trace), expected);
    let untimed =
        "fio version 2 iolog\nx add\nx open\nx wait 7 0\nx write 0 4096\nx sync 0 0\n";
    let trace = parse(untimed, &ReplayOptions::default()).unwrap();
    assert_eq!(times(&trace), [(AfterStart(7_000_000), 0, 4096)]);
    assert!(trace.syncs && !trace.syncs_data_only);
    let hasty = ReplayOptions { skips_pauses: true, ..ReplayOptions::default() };
    assert_eq!(times(&parse(untimed, &hasty).unwrap()), [(AfterPrevious(0), 0, 4096)]);
    assert!(times(&parse(TIMED, &hasty).unwrap()).iter().all(|io| io.0 == AfterPrevious(0)));
}

#[test]
fn malformed_traces_are_refused_at_their_line() {
    for (text, line, reason) in [
        ("", 0, "it must begin with `fio version 2 iolog`"),
        ("fio version 1 iolog\n", 0, "it must begin with"),
        ("fio version 2 iolog\nx add\n", 0, "it has no read and no write"),
        ("fio version 2 iolog\nx read 0 4096\n", 1, "no line before adds the file `x`"),
        ("fio version 2 iolog\nx add\nx read 0 0\n", 2, "an I/O of 0 bytes"),
        ("fio version 2 iolog\nx add\nx read 0 4k\n", 2, "`4k` is not a number of bytes"),
        ("fio version 2 iolog\nx add\nx trim 0 4096\n", 2, "trims of a trace"),
        ("fio version 2 iolog\nx add\nx erase 0 4096\n", 2, "`erase` is not an action"),
        ("fio version 2 iolog\nx add\nx read 18446744073709551615 1\n", 2, "its end exceeds"),
        ("fio version 3 iolog\nx add\n", 1, "`x` is not a time in µs"),
        ("fio version 3 iolog\n0 x read 0\n", 1, "expected `time file action offset bytes`"),
    ] {
        let (found, why) = parse(text, &ReplayOptions::default()).unwrap_err();
        assert_eq!(found, line, "{text}{why}");
        assert!(why.contains(reason), "{text}{why}");
    }
}
