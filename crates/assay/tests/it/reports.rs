//! Every format of a report, of a run that was really measured.

use crate::program::World;

#[test]
fn every_format_holds_the_result() {
    let world = World::new();
    world.assay(&["stream", "--bytes", "1MiB", "--budget", "2s"]).succeeded();
    for (format, expected) in [
        ("text", "b/s"),
        ("markdown", "|"),
        ("html", "<!doctype html>"),
        ("csv", "memory.stream"),
        ("json", "\"schema\": 2"),
    ] {
        let printed = world.assay(&["report", "latest", "--format", format]).succeeded().out;
        assert!(printed.to_lowercase().contains(expected), "{format}: {printed}");
        assert!(printed.to_lowercase().contains("triad"), "{format}: {printed}");
        let file = world.path("report.out");
        let target = file.to_str().unwrap();
        let args = ["report", "latest", "--format", format, "--output", target];
        assert_eq!(world.assay(&args).succeeded().out, "");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), printed, "{format}");
    }
}

#[test]
fn a_page_needs_no_network() {
    let world = World::new();
    world.assay(&["stream", "--bytes", "1MiB", "--budget", "1s"]).succeeded();
    let page = world.assay(&["report", "latest", "--format", "html"]).succeeded().out;
    for reference in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(reference), "{reference}");
    }
}

#[test]
fn the_doctor_tells_its_outcomes_apart() {
    let world = World::new();
    let findings = world.json(&["doctor", "--json"]);
    let findings = findings["findings"].as_array().unwrap();
    assert!(findings.len() > 20, "{}", findings.len());
    for finding in findings {
        for key in ["id", "outcome", "observed", "expected", "why", "source", "severity"] {
            assert!(
                finding[key].as_str().is_some_and(|text| !text.is_empty()),
                "{key}: {finding}"
            );
        }
    }
    let text = world.assay(&["doctor"]).succeeded().out;
    assert!(text.contains("clock"), "{text}");
}
