//! Tests of encodings and line prefixes.

use super::{decode_text, is_text_beginning, prepare_text};

#[test]
fn decodes_encodings_of_other_systems() {
    let little: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain("a µ\r\n".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let big: Vec<u8> = "read".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let table: [(&[u8], &str); 6] = [
        (b"plain", "plain"),
        (b"\xef\xbb\xbfmark", "mark"),
        (&little, "a µ\r\n"),
        (&big, "read"),
        (b"5 \xb5s", "5 µs"),
        ("µ\u{fffd}".as_bytes(), "µ\u{fffd}"),
    ];
    for (bytes, text) in table {
        assert_eq!(decode_text(bytes), text);
        assert!(is_text_beginning(bytes), "{text}");
    }
    assert!(!is_text_beginning(b"\x7fELF\0\0\0\0"));
}

#[test]
fn removes_prefixes_that_every_line_has() {
    let table = [
        ("0: a\n0:\n0: b\n", "a\n\nb\n", vec!["rank of srun --label"]),
        ("1: a1\n0: b0\n1: a2\n0: b1\n", "a1\na2\nb0\nb1\n", vec!["rank of srun --label"]),
        ("[1,0]<stdout>:a\n[1,0]<stdout>:b\n", "a\nb\n", vec!["rank of mpirun --tag-output"]),
        ("[prterun-n1-7@1,0]<stdout>: a\n", "a\n", vec!["rank of mpirun --tag-output"]),
        (
            "2023-01-04T10:00:00.1Z a\n2023-01-04T10:00:01Z\n",
            "a\n\n",
            vec!["time of kubectl or docker"],
        ),
        (
            "[pod/x/y] 2023-01-04T10:00:00Z a\n",
            "a\n",
            vec!["container name", "time of kubectl or docker"],
        ),
        ("fio-1  | a\nfio-1  | b\n", "a\nb\n", vec!["container name"]),
        ("[2023-01-04 10:00:00] a\n", "a\n", vec!["time in brackets"]),
        ("Wed Jan  4 10:00:00 2023 a\n", "a\n", vec!["time of ctime"]),
        (
            "Wed Jan  4 10:00:00 2023[1,0]<stdout>:  a\n",
            "a\n",
            vec!["rank of mpirun --tag-output", "indentation"],
        ),
        ("Wed Jan  4 10:00:00 2023<stdout>:a\n", "a\n", vec!["rank of mpirun --tag-output"]),
        (
            "[1,0]<stdout>:a\n[1,0]<stdout>:  b\n",
            "a\n  b\n",
            vec!["rank of mpirun --tag-output"],
        ),
        ("[1] a1\n[0] b0\n[1] a2\n", "a1\na2\nb0\n", vec!["rank of mpiexec -l"]),
        (
            "[  5] 0.00-1.00 sec\n[  5] 1.00-2.00 sec\n",
            "[  5] 0.00-1.00 sec\n[  5] 1.00-2.00 sec\n",
            vec![],
        ),
        ("2023-01-04 10:00:00.5 a\n2023-01-04 10:00:01 b\n", "a\nb\n", vec!["date and time"]),
        ("[10:00:00] a\n[10:00:01]\n", "a\n\n", vec!["time in brackets"]),
        (
            "Jan  4 10:00:00 n7 job.sh[12]: a\nJan  4 10:00:01 n7 job.sh[12]: b\n",
            "a\nb\n",
            vec!["time of syslog", "process of syslog"],
        ),
        ("10:00:00 a\n10:00:01,5 b\n", "a\nb\n", vec!["time of day"]),
        ("10:00:00.000 Starting RD=a\n", "10:00:00.000 Starting RD=a\n", vec![]),
        ("1672826400.5 a\n1672826401.5 b\n", "a\nb\n", vec!["seconds since 1970"]),
        ("n7: a\nn8: c\nn7: b\nn8: d\n", "a\nb\nc\nd\n", vec!["host name"]),
        ("iperf3: a\niperf3: b\n", "iperf3: a\niperf3: b\n", vec![]),
        ("n1: 5\nn2: 6\n", "n1: 5\nn2: 6\n", vec![]),
        ("web  | a\nweb  | b\n", "a\nb\n", vec!["container name"]),
        ("> a\n>\n>   b\n", "a\n\n  b\n", vec!["quotation mark"]),
        ("    a\n\n\n      b\n", "a\n\n\n  b\n", vec!["indentation"]),
        ("0: a\nno prefix\n", "0: a\nno prefix\n", vec![]),
        ("a | b\nc | d\n", "a | b\nc | d\n", vec![]),
        ("\u{1b}[0;32mPing\u{1b}[0m\r\nb\n", "Ping\nb\n", vec![]),
        ("", "", vec![]),
    ];
    for (text, expected, prefixes) in table {
        let prepared = prepare_text(text);
        assert_eq!(
            (prepared.text.as_str(), prepared.prefixes),
            (expected, prefixes),
            "{text:?}"
        );
    }
}

#[test]
fn lines_of_ranks_keep_their_place_and_time() {
    let prepared = prepare_text("1: a\n0: b\n1: c\n");
    assert_eq!(prepared.text, "a\nc\nb\n");
    assert_eq!([1, 2, 3].map(|line| prepared.file_line(line)), [1, 3, 2]);
    let timed = prepare_text("2023-01-04T10:00:00Z a\n2023-01-04T10:00:05Z b\n");
    assert_eq!(timed.first_time.map(|time| time.unix_s), Some(1_672_826_400));
}
