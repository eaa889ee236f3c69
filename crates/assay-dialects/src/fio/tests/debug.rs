//! Tests of the lines of `--debug`.

use super::super::debug;
use super::*;

fn debug_lines(line: &str) -> String {
    let request = request(line, &[]).unwrap();
    debug::lines(&request, &compile_request(&request).unwrap(), 42)
}

#[test]
fn thresholds_are_printed_as_parsed() {
    for (value, expected) in [
        ("iops:10", "set steady state IOPS threshold to 10.000000"),
        ("iops_slope:.1%", "set steady state threshold to 0.100000%"),
        ("bw:12", "set steady state BW threshold to 12"),
        ("bw:1k", "set steady state BW threshold to 1024"),
    ] {
        // No job is needed.
        let line = format!("--parse-only --debug=parse --ss={value}");
        assert_eq!(debug_lines(&line), format!("parse    42    {expected}\n"), "{value}");
    }
    assert_eq!(debug_lines("--parse-only --ss=bw:12"), "");
}

#[test]
fn seeds_of_each_job_are_printed() {
    let lines = |options: &str| {
        let job = "--name=a --ioengine=null --filesize=32k --rw=randread";
        debug_lines(&format!("--debug=random {job} {options}"))
    };
    let same = lines("--randrepeat=1");
    assert_eq!(same.lines().count(), 22, "{same}");
    assert!(same.starts_with("random   42    FIO_RAND_NR_OFFS=21\n"), "{same}");
    // A given seed decides, whether draws are repeated or not.
    assert_eq!(lines("--randseed=1 --randrepeat=0"), lines("--randseed=1 --allrandrepeat=1"));
    assert_ne!(lines("--randseed=1"), lines("--randseed=2"));
    assert_eq!(lines("--numjobs=2").lines().count(), 44);
}

#[test]
fn unknown_kinds_are_refused() {
    assert!(request("--debug=random,strange --name=a", &[]).is_err());
    let silent = request("--debug=io,random --name=a", &[]).unwrap();
    assert_eq!(silent.notes, ["--debug prints no lines of io"]);
}
