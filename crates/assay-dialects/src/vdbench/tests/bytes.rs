//! Tests that no input panics, and that long files are parsed in full.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// Fragments of random files, so that parsing gets past the first line.
const PIECES: [&str; 76] = [
    "anchor=",
    "depth=",
    "files=",
    "sizes=",
    "fwd1",
    "fsd1",
    "fwdrate=",
    "format=",
    "yes",
    "operation=",
    "read",
    "(4k,50,8k,50)",
    "sd=",
    "wd=",
    "rd=",
    "hd=",
    "fsd=",
    "sd1",
    "wd1",
    "rd1",
    "default",
    ",",
    ",",
    ",",
    "=",
    "(",
    ")",
    "\"",
    "\n",
    "\n",
    "\n",
    " ",
    "-",
    "*",
    "$host",
    "#host",
    "!x",
    "include=",
    "lun=",
    "/a",
    "/dev/x",
    "size=",
    "1g",
    "10",
    "100",
    "0",
    "threads=",
    "forthreads=",
    "xfersize=",
    "4k",
    "8k,50",
    "range=",
    "(1-10,2)",
    "(1-64,d)",
    "(0,50)",
    "iorate=",
    "max",
    "curve",
    "curve=",
    "elapsed=",
    "60",
    "interval=",
    "1",
    "warmup=",
    "seekpct=",
    "eof",
    "skew=",
    "99999999999999999999",
    "-1",
    "openflags=",
    "o_direct",
    "count=",
    "align=",
    "offset=",
    "512",
    "é",
];

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let files = HashMap::from([(PathBuf::from("file"), bytes)]);
        drop(compile(&files, &input("file")).map_err(|found| render(&found)));
    }

    #[test]
    fn random_fragments_compile_or_report_an_error(
        begin in prop::sample::select(&["sd=sd1,lun=/a,size=1g\n", "fsd=fsd1,anchor=/a\n"][..]),
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..120),
    ) {
        let text = format!("{begin}{}", pieces.concat());
        match compile_text(&text) {
            Ok(execution) => {
                prop_assert!(!execution.runs.is_empty());
                let phases = execution.plan.phases.len() + execution.files.phases.len();
                prop_assert_eq!(execution.runs.len(), phases);
                drop(super::super::explain::explain(&execution));
            }
            Err(found) => {
                let any = found.iter().any(|one| one.severity == DiagnosticSeverity::Error);
                prop_assert!(any, "refused without a reason");
                drop(render(&found));
            }
        }
    }
}

#[test]
fn long_line_of_errors_takes_linear_memory() {
    // A copy of the line in each diagnostic would take 10 GB.
    for fault in ["xx=x,", "1,", "rdpct=x,", "é=(,", "size=$x,"] {
        let line = fault.repeat(60_000);
        let found =
            compile_text(&format!("sd=sd1,lun=/a,size=1g\nwd=wd1,{line}sd=sd1\n")).unwrap_err();
        assert!(render(&found[..1]).len() < 1000, "{fault}");
        let last = found.last().and_then(|one| one.location.as_ref()).unwrap();
        assert!(last.column > 7 || found.len() == 1, "{fault} {}", last.column);
    }
}

#[test]
fn reads_a_long_file_in_full() {
    let mut text = String::new();
    for number in 0..100_000 {
        let _ = writeln!(text, "sd=sd{number},lun=/data/{number},size=1g,openflags=o_direct");
    }
    text.push_str("wd=wd1,sd=*,xfersize=8k\nrd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n");
    let execution = compile_valid(&text);
    assert_eq!(execution.runs[0].resources.storages, 100_000);
}
