//! Tests that earlier findings and goldens cause no panic, and that a campaign finds a fault.

use std::time::Duration;

use assay_fuzz::readers::{FuzzedReader, READERS};
use assay_fuzz::{campaign, corpus};

#[test]
fn earlier_findings_stay_fixed() {
    for reader in READERS {
        for (path, input) in corpus::read_findings(reader).unwrap() {
            if let Err(message) = campaign::run_once(reader, &input) {
                panic!("{}: {message}", path.display());
            }
        }
    }
}

#[test]
fn goldens_cause_no_panic() {
    for reader in READERS {
        for seed in corpus::read_seeds(reader).unwrap() {
            campaign::run_once(reader, &seed)
                .unwrap_or_else(|message| panic!("{}: {message}", reader.name));
        }
    }
}

/// Returns the result of the reader `name` for an input.
fn run_reader(name: &str, input: &str) -> String {
    let reader = READERS.iter().find(|reader| reader.name == name).expect("it has a row");
    campaign::run_once(reader, input.as_bytes()).expect("no reader panics")
}

/// Counts that multiply work or memory are rejected with a specific message, before the work is
/// done.
#[test]
fn rejects_counts_that_multiply_work() {
    let storage = |more: &str| {
        format!(
            "name = \"a\"\n[[measure]]\nbenchmark = \"storage\"\noperation = \"read\"\n\
             path = \"/a\"\n{more}\n"
        )
    };
    let doubling = "hd=h0,system=localhost\n".to_owned() + &"hd=h$host\n".repeat(64);
    for (reader, input, expected) in [
        ("vdbench", doubling.as_str(), "when repeated for"),
        ("suite", &storage("curve = [50]\nbend-points = 1000000000"), "must be at most 100"),
        ("suite", &storage("share = 1e308"), "must be between 0.001 and 1000"),
        ("suite", &storage("size = \"99999999999999999999TiB\""), "is out of range"),
        ("fio", "[a]\nrw=read\nsize=16384P\nnumjobs=4\n", "for `size`"),
        ("fio", "[a]\nrw=read\nsize=1m\nnumjobs=1000000000\n", "numjobs"),
        ("ior-words", "-b 16384P -s 1024 -t 1m", "for `-b`"),
        ("ior-words", "-b 1m -t 1m -i 2147483647", "at most 100,000 repetitions are supported"),
    ] {
        let result = run_reader(reader, input);
        assert!(result.contains(expected), "{input}: {result}");
    }
}

/// Reads a number, with a deliberate fault: panics on numbers from 2³² − 1 on.
fn faulty(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let value: u64 = text.trim().parse().unwrap_or(0);
    assert!(value < u64::from(u32::MAX), "a number is too large");
    format!("{} lines", text.lines().count())
}

#[test]
fn campaign_finds_shortens_and_stores_fault() {
    let reader =
        FuzzedReader { name: "faulty", seed_patterns: &[], seed_texts: &["12"], read: faulty };
    let outcome = campaign::run(&reader, Duration::from_secs(60), 1).unwrap();
    let (path, message) = outcome.findings.first().expect("the fault is not found");
    assert_eq!(message, "a number is too large");
    assert!(corpus::read_findings(&reader).unwrap().iter().any(|(stored, _)| stored == path));
    std::fs::remove_dir_all(corpus::findings_folder(&reader)).unwrap();
}
