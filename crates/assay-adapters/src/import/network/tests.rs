//! Tests of all network formats on damaged files.

use std::path::Path;

use super::super::read;

/// Every golden file may end anywhere, and may be doubled: its reader answers and never panics.
#[test]
fn cut_and_doubled_files_are_answered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import");
    let tools = ["iperf", "iperf3", "netperf", "neper", "ntttcp", "ping", "qperf", "sockperf"];
    for tool in tools {
        for entry in std::fs::read_dir(root.join(tool)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "expected" || it == "md") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let cuts = 40;
            for cut in 1..cuts {
                let end = text.floor_char_boundary(text.len() * cut / cuts);
                drop(read(&text[..end]));
            }
            let once = read(&text).map_or(0, |it| it.contents.measurements.len());
            let twice = read(&format!("{text}\n{text}"));
            let twice = twice.map_or(0, |it| it.contents.measurements.len());
            assert!(twice >= once, "{}: {once} measurements, doubled {twice}", path.display());
        }
    }
}
