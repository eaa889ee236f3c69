//! Every report format, for a run that was really measured.

use crate::program::{World, files_below};

#[test]
fn every_format_contains_result() {
    let world = World::new();
    world.assay(&["stream", "--bytes", "1MiB", "--budget", "shortest"]).succeeded();
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
        let file = world.path(&format!("report-{format}.out"));
        let target = file.to_str().unwrap();
        let args = ["report", "latest", "--format", format, "--output", target];
        assert_eq!(world.assay(&args).succeeded().out, "");
        let written = std::fs::read_to_string(&file).unwrap();
        if format == "html" {
            // A page in a file has its data in a separate file.
            assert!(
                written.contains("href=\"report-html.json\"")
                    && !printed.contains("report-html.json")
            );
            assert!(world.path("report-html.json").is_file());
            continue;
        }
        assert_eq!(written, printed, "{format}");
    }
}

/// Output for people is in the language of the environment; output for programs is not.
#[test]
fn terminal_output_is_in_language_of_environment() {
    let world = World::new();
    let spoken = |arguments: &[&str]| {
        let output = world.command(arguments).env("LC_ALL", "fr_FR.UTF-8").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let run = spoken(&["stream", "--bytes", "1MiB", "--budget", "shortest"]);
    assert!(run.contains("o/s") && !run.contains("B/s"), "{run}");
    let listed = spoken(&["list"]);
    assert!(listed.contains("exécution") && listed.contains("o/s"), "{listed}");
    assert!(spoken(&["references"]).contains("Chiffres publiés"));
    assert!(spoken(&["verify"]).contains("intacte"));
    assert_eq!(spoken(&["show", "--json"]), world.assay(&["show", "--json"]).succeeded().out);
}

/// Lost lines of a run are named, the rest is shown, and the run is marked as damaged.
#[test]
fn damaged_run_reports_lost_events() {
    let world = World::new();
    world.assay(&["stream", "--bytes", "1MiB", "--budget", "shortest"]).succeeded();
    let runs = world.path("assay/runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    let file = run.join("events.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let sample = lines.iter().position(|line| line.contains("\"sample\"")).unwrap();
    let changed = lines[sample].replace("\"value\":", "\"value\":9");
    for (line, says) in [
        (changed.as_str(), format!("line {} is damaged", sample + 1)),
        ("", format!("before line {}, 1 event is missing", sample + 2)),
        ("{", format!("line {} is damaged", sample + 1)),
    ] {
        let mut damaged = lines.clone();
        damaged[sample] = line;
        std::fs::write(&file, damaged.join("\n") + "\n").unwrap();
        for command in [&["show"][..], &["show", "--json"], &["report", "--format", "csv"]] {
            let outcome = world.assay(command).failed_with(4);
            assert!(outcome.err.contains(&says), "{command:?} {outcome:?}");
            assert!(outcome.err.contains("events.jsonl"), "{outcome:?}");
            assert!(outcome.out.to_lowercase().contains("triad"), "{outcome:?}");
        }
        let page = world.assay(&["report", "--format", "markdown"]).failed_with(4);
        assert!(page.out.contains("1 event of this run is lost"), "{page:?}");
        let verified = world.assay(&["verify"]).failed_with(4);
        assert!(verified.out.contains(&says), "{verified:?}");
        let listed = world.assay(&["list"]).failed_with(4);
        assert!(listed.out.contains("damaged"), "{listed:?}");
    }
    let newer = whole.replacen("\"format\":2", "\"format\":3", 1);
    std::fs::write(&file, newer).unwrap();
    let outcome = world.assay(&["show"]).failed_with(4);
    assert!(outcome.err.contains("line 1: the run has format 3"), "{outcome:?}");
}

#[test]
fn verify_detects_changed_outputs_and_index() {
    let world = World::new();
    world.assay(&["stream", "--bytes", "1MiB", "--budget", "shortest"]).succeeded();
    world.write("job.fio", "[a]\nrw=read\nsize=64k\nfilename=file\n");
    world.assay(&["fio", "job.fio"]).succeeded();
    world.assay(&["list"]).succeeded();
    let reported = world.json(&["verify", "--json"]);
    let runs = reported["runs"].as_array().unwrap();
    assert!(runs.len() == 2 && runs.iter().all(|run| run["is_sound"] == true), "{reported}");
    let outputs: u64 = runs.iter().map(|run| run["outputs"].as_u64().unwrap()).sum();
    assert!(outputs > 0, "{reported}");

    let raw = files_below(&world.path("assay/raw"));
    let before: Vec<Vec<u8>> = raw.iter().map(|path| std::fs::read(path).unwrap()).collect();
    for path in &raw {
        std::fs::write(path, b"another").unwrap();
    }
    let damaged = world.assay(&["verify"]).failed_with(4);
    assert!(damaged.out.contains("damaged"), "{damaged:?}");
    for (path, bytes) in raw.iter().zip(before) {
        std::fs::write(path, bytes).unwrap();
    }
    world.assay(&["verify", "latest"]).succeeded();

    let index = world.path("assay/index.jsonl");
    let text = std::fs::read_to_string(&index).unwrap();
    std::fs::write(&index, text.replace("\"cases_failed\":0", "\"cases_failed\":7")).unwrap();
    let damaged = world.assay(&["verify"]).failed_with(4);
    assert!(damaged.out.contains("the index does not match the events"), "{damaged:?}");
}

#[test]
fn page_has_no_external_references() {
    let world = World::new();
    world.assay(&["stream", "--bytes", "1MiB", "--budget", "shortest"]).succeeded();
    let page = world.assay(&["report", "latest", "--format", "html"]).succeeded().out;
    for reference in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(reference), "{reference}");
    }
}

#[test]
fn doctor_findings_are_complete_and_filtered_by_topic() {
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
    let text = world.assay(&["doctor", "--all"]).succeeded().out;
    assert!(text.contains("clock"), "{text}");
    // A topic is checked alone; deviations decide the exit code only with `--strict`.
    let limits = world.json(&["doctor", "limits", "--json"]);
    let limits = limits["findings"].as_array().unwrap();
    assert!(!limits.is_empty());
    for finding in limits {
        assert!(finding["id"].as_str().unwrap().starts_with("limits."), "{finding}");
    }
    world.assay(&["doctor", "limit"]).failed_with(2);
    let matters =
        |it: &serde_json::Value| it["outcome"] == "deviates" && it["severity"] != "note";
    let strict = world.assay(&["doctor", "limits", "--strict"]);
    assert_eq!(strict.code, if limits.iter().any(matters) { 4 } else { 0 }, "{strict:?}");
}

#[test]
fn anonymous_report_contains_no_host_or_path() {
    let world = World::new();
    let short = ["--size", "1MiB", "--for", "200ms", "--buffered"];
    world.assay(&[&["storage", "read", "data"][..], &short].concat()).succeeded();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let folder = world.path("").canonicalize().unwrap();
    for format in ["text", "markdown", "html", "csv", "json"] {
        let report = ["report", "latest", "--format", format];
        let open = world.assay(&report).succeeded().out;
        assert!(open.contains(host.trim()), "{format}");
        assert!(
            format == "text" || open.contains(folder.to_str().unwrap()),
            "{format}: {open}"
        );
        let closed = world.assay(&[&report[..], &["--anonymous"]].concat()).succeeded().out;
        let words: Vec<&str> =
            closed.split(|it: char| !it.is_alphanumeric() && !"-_".contains(it)).collect();
        assert!(!words.contains(&host.trim()), "{format}");
        assert!(closed.contains("host-1"), "{format}");
        assert!(!closed.contains(folder.to_str().unwrap()), "{format}");
    }
}

#[test]
fn runs_have_notes_and_can_be_removed() {
    let world = World::new();
    let measure =
        ["storage", "read", "--engine", "null", "--for", "1s", "--quiet", "--note", "new disk"];
    let outcome = world.assay(&[&measure[..], &["--label", "on"]].concat()).succeeded();
    assert!(outcome.err.lines().all(|line| line.contains("warning:")), "{}", outcome.err);
    assert!(outcome.out.contains("new disk"), "{}", outcome.out);
    let listed = world.json(&["list", "--json", "--label", "on"]);
    assert_eq!(listed["runs"][0]["note"], "new disk");
    assert!(world.assay(&["list"]).succeeded().out.contains("new disk"));
    let id = listed["runs"][0]["id"].as_str().unwrap();
    let said = world.assay(&["rm", "latest", "--dry-run"]).succeeded().out;
    assert_eq!(said, format!("{id} would be removed\n"));
    assert_eq!(world.assay(&["rm", id, "latest"]).succeeded().out, format!("{id} removed\n"));
    assert!(world.json(&["list", "--json"])["runs"].as_array().unwrap().is_empty());
    assert!(world.assay(&["rm", id]).failed_with(2).err.contains("there are no runs yet"));
}

/// A failed single measurement prints the error, the reason and the remedy.
#[test]
fn failed_single_measurement_prints_three_lines_and_no_result() {
    let world = World::new();
    // No server listens on port 9 by default.
    let outcome = world.assay(&["net", "throughput", "127.0.0.1", "-p", "9", "--for", "1s"]);
    let outcome = outcome.failed_with(4);
    assert_eq!((outcome.out.as_str(), outcome.err.lines().count()), ("", 3), "{}", outcome.err);
    assert!(outcome.err.contains("cannot connect to 127.0.0.1:9"), "{}", outcome.err);
    let list = world.assay(&["list"]).succeeded().out;
    assert!(list.contains("1 run ended without a result"), "{list}");
    assert!(world.json(&["list", "--json"])["runs"].as_array().unwrap().is_empty());
    assert_eq!(world.json(&["list", "--all", "--json"])["runs"].as_array().unwrap().len(), 1);
    world.assay(&["prune"]).failed_with(2);
    assert!(world.assay(&["prune", "--failed"]).succeeded().out.ends_with(" removed\n"));
    assert_eq!(world.assay(&["list"]).succeeded().out.lines().count(), 4);
}
