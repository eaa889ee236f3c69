//! `assay import`: result files of other tools become ordinary runs.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::processes::{send_signal, wait_until};
use crate::program::{World, files_below};

const STREAM: &str =
    include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");
const HPL: &str = include_str!("../../../assay-adapters/tests/golden/xhpl/2.3-three-rows.out");
const FIO: &str = include_str!("../../../assay-adapters/tests/golden/fio/3.33-mix.out");
const OSU: &str = include_str!("../../../assay-adapters/tests/golden/osu/7.5-latency.out");

#[test]
fn imports_files_of_several_tools() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    world.write("fio.json", FIO);
    world.write("osu.txt", OSU);
    let words = [
        "import",
        "--json",
        "--label",
        "hb",
        "--host",
        "vm1",
        "--set",
        "placement=node",
        "--note",
        "before the update",
    ];
    let files = ["stream.txt", "fio.json", "osu.txt"];
    let said = world.assay(&[&words[..], &files[..]].concat()).succeeded().out;
    let said: Value = serde_json::from_str(&said).unwrap();
    let formats: Vec<&str> = said["imported"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["format"].as_str().unwrap())
        .collect();
    assert_eq!(formats, ["stream", "fio-json", "osu"]);
    let run = said["imported"][0]["runs"][0].as_str().unwrap();
    let shown = world.assay(&["show", run, "--json"]).succeeded().out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let triad = &shown["results"].as_array().unwrap()[3];
    assert_eq!(triad["metric"], "triad");
    assert_eq!(triad["parameters"]["placement"], "node");
    assert_eq!(triad["tool"]["name"], "stream");
    assert_eq!(triad["parameters"]["source_file"], "stream.txt");
    let text = world.assay(&["show", run]).succeeded().out;
    assert!(text.contains("imported from stream.txt"), "{text}");
    assert!(text.contains("before the update"), "{text}");
    let listed = world.assay(&["list"]).succeeded().out;
    assert_eq!(listed.matches("import ").count(), 3, "{listed}");
    assert!(world.assay(&["verify"]).succeeded().out.contains("intact"));
    world.assay(&["report", run, "--format", "html"]).succeeded();
}

/// A label stands for runs of one machine; `--host` chooses among several.
#[test]
fn rejects_label_of_two_machines() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    for (host, label) in [("vm1", "on"), ("vm2", "on"), ("vm1", "off")] {
        let words = ["import", "--host", host, "--label", label, "stream.txt"];
        world.assay(&words).succeeded();
    }
    let refused = world.assay(&["compare", "on", "off"]).failed_with(2);
    for part in ["different machines", "1 run of vm1", "1 run of vm2", "--host"] {
        assert!(refused.err.contains(part), "{refused:?}");
    }
    let chosen = world.assay(&["compare", "on", "off", "--host", "vm1", "--json"]);
    let chosen: Value = serde_json::from_str(&chosen.out).unwrap();
    let runs = ["a", "b"].map(|side| chosen[side]["runs"].as_array().unwrap().len());
    assert_eq!(runs, [1, 1], "{chosen}");
}

/// Files that were unpacked together have the same modification time to the second.
#[test]
fn runs_of_equal_time_keep_import_order() {
    let world = World::new();
    let names: Vec<String> = (0..8).map(|number| format!("{number}.txt")).collect();
    for name in &names {
        world.write(name, STREAM);
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        fs::File::open(world.path(name)).unwrap().set_modified(written).unwrap();
    }
    let words: Vec<&str> = ["import", "--again", "--json"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let said = world.assay(&words).succeeded().out;
    let said: Value = serde_json::from_str(&said).unwrap();
    let imported =
        said["imported"].as_array().unwrap().iter().map(|one| one["runs"][0].clone());
    let listed = world.assay(&["list", "--json"]).succeeded().out;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let listed = listed["runs"].as_array().unwrap().iter().map(|one| one["id"].clone());
    assert_eq!(listed.rev().collect::<Vec<_>>(), imported.collect::<Vec<_>>());
}

/// A file is stored once, unless its details differ or the user asks for it.
#[test]
fn file_that_is_stored_already_is_named() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    world.write("copy.txt", STREAM);
    let first = world.json(&["import", "--json", "--label", "a", "stream.txt"]);
    let id = &first["imported"][0]["runs"][0];
    let second = world.json(&["import", "--json", "--label", "a", "copy.txt"]);
    assert_eq!(
        (&second["known"][0]["runs"][0], &second["imported"]),
        (id, &Value::Array(vec![]))
    );
    for (words, runs) in [(&["--label", "b"][..], 2), (&["--label", "b", "--again"], 3)] {
        let stored = world.assay(&[&["import"], words, &["stream.txt"]].concat()).succeeded();
        assert!(stored.out.contains("the same file is stored as "), "{stored:?}");
        let listed = world.json(&["list", "--json"]);
        assert_eq!(listed["runs"].as_array().unwrap().len(), runs, "{words:?}");
    }
    // Another host, another dimension or another pattern gives another run.
    let details: [&[&str]; 4] = [
        &["--host", "vm1"],
        &[],
        &["--set", "placement=node"],
        &["--metric", "triad: Triad: +([0-9.]+) MB/s"],
    ];
    for (more, runs) in details.into_iter().zip([4, 5, 6, 7]) {
        let words = [&["import", "--label", "c"], more, &["stream.txt"]].concat();
        world.assay(&words).succeeded();
        let listed = world.json(&["list", "--json"]);
        assert_eq!(listed["runs"].as_array().unwrap().len(), runs, "{words:?}");
    }
    let again = world.json(&["import", "--json", "--label", "c", "stream.txt"]);
    assert_eq!(again["known"][0]["runs"].as_array().unwrap().len(), 1, "{again}");
    let shown = world.assay(&["show", id.as_str().unwrap(), "--as", "imported"]).succeeded();
    assert_eq!(shown.out, STREAM);
    let refused = world.assay(&["show", id.as_str().unwrap(), "--as", "fio-json"]);
    assert!(refused.failed_with(2).err.contains("imported from stream.txt"));
}

/// Simultaneous imports of one file store it once.
#[test]
fn simultaneous_imports_store_one_run() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    let start = |_| world.command(&["import", "stream.txt"]).spawn().unwrap();
    let started: Vec<_> = (0..8).map(start).collect();
    for mut one in started {
        assert!(one.wait().unwrap().success());
    }
    let listed = world.json(&["list", "--json"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1, "{listed}");
}

/// A damaged copy of a known file is replaced, and a damaged run does not count as its import.
#[test]
fn damaged_imports_are_repaired() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    world.assay(&["import", "stream.txt"]).succeeded();
    let files = files_below(&world.path("assay"));
    let raw = files.iter().find(|file| fs::read(file).unwrap() == STREAM.as_bytes()).unwrap();
    fs::write(raw, format!("{STREAM}x")).unwrap();
    world.assay(&["verify"]).failed_with(4);
    let repaired = world.assay(&["import", "stream.txt"]).succeeded();
    assert!(repaired.err.contains("its damaged copy was replaced"), "{repaired:?}");
    world.assay(&["verify"]).succeeded();
    let events = files.iter().find(|file| file.ends_with("events.jsonl")).unwrap();
    let damaged = fs::read_to_string(events).unwrap().replacen("31462", "41462", 1);
    fs::write(events, damaged).unwrap();
    let stored = world.json(&["import", "--json", "stream.txt"]);
    assert_eq!(stored["imported"].as_array().unwrap().len(), 1, "{stored}");
}

#[test]
fn imported_runs_can_be_compared_and_have_history() {
    let world = World::new();
    world.write("a.txt", STREAM);
    world.write("b.txt", STREAM);
    world.assay(&["import", "--label", "a", "a.txt"]).succeeded();
    world.assay(&["import", "--label", "b", "b.txt"]).succeeded();
    let compared = world.assay(&["compare", "a", "b", "--json"]);
    let compared: Value = serde_json::from_str(&compared.out).unwrap();
    assert_eq!(compared["pairs"].as_array().unwrap().len(), 4);
    world.assay(&["history", "triad", "--host", "imported"]).succeeded();
}

/// Results of STREAM and HPL pair with those of assay for the same work, also if the own run has
/// several placements, of which that of the node has the file's threads.
#[test]
fn imported_results_pair_with_own_ones() {
    let world = World::new();
    let threads = std::thread::available_parallelism().unwrap();
    let counted = format!("Threads counted = {threads}");
    world.write("stream.txt", &STREAM.replace("Threads counted = 2", &counted));
    world.write("hpl.txt", HPL);
    for file in ["stream", "hpl"] {
        world.assay(&["import", "--label", file, &format!("{file}.txt")]).succeeded();
    }
    let stream = ["stream", "--array-size", "1MiB", "--budget", "shortest"];
    let node = [&stream[..], &["--label", "node"]].concat();
    let placements = [&stream[..], &["--placement", "all", "--label", "all"]].concat();
    let solve = ["linpack", "--n", "1000", "--budget", "shortest", "--label", "solve"];
    for words in [&node[..], &placements, &solve] {
        world.assay(&[words, &["--quiet"]].concat()).succeeded();
    }
    let functions = ["add", "copy", "scale", "triad"];
    for (own, other, expected) in [
        ("node", "stream", &functions[..]),
        ("all", "stream", &functions),
        ("solve", "hpl", &["rmax"]),
    ] {
        let compared = world.assay(&["compare", own, other, "--json"]);
        let compared: Value = serde_json::from_str(&compared.out).unwrap();
        let pairs = compared["pairs"].as_array().unwrap().iter();
        let mut metrics: Vec<&str> =
            pairs.map(|pair| pair["a"]["metric"].as_str().unwrap()).collect();
        metrics.sort_unstable();
        assert_eq!(metrics, expected, "{own}: {compared:#}");
    }
}

#[test]
fn unreadable_files_are_reported_and_others_imported() {
    let world = World::new();
    world.write("good.txt", STREAM);
    world.write("cut.txt", &STREAM.replace("Solution Validates", ""));
    world.write("other.txt", "hello\n");
    // Only the beginning of a binary file, such as a disk image, is read.
    world.write("image", "\0\u{1}");
    let files = ["good.txt", "cut.txt", "other.txt", "image", "absent", "."];
    let outcome = world.assay(&[&["import"], &files[..]].concat());
    let outcome = outcome.failed_with(4);
    assert!(outcome.out.contains("stream, 1 measurement, good.txt"), "{}", outcome.out);
    for reported in
        ["cut.txt was not imported", "[cut.txt:", "other.txt was not imported", "hello"]
    {
        assert!(outcome.err.contains(reported), "{reported}: {}", outcome.err);
    }
    assert!(outcome.err.contains("line 1 contains a NUL byte"), "{}", outcome.err);
    assert!(outcome.err.contains("cannot read absent"), "{}", outcome.err);
    assert!(outcome.err.contains(". is a folder, not a file"), "{}", outcome.err);
    let refused = world.assay(&["import", "--set", "colour=red", "good.txt"]).failed_with(2);
    assert!(refused.err.contains("there is no parameter `colour`"), "{}", refused.err);
    world.assay(&["import", "--set", "residual=1", "good.txt"]).failed_with(2);
}

/// Texts from an imported file appear on every page and terminal, escaped so that none is
/// interpreted.
#[test]
fn imported_texts_are_escaped_in_every_output() {
    const EVIL: &str = "=1+1|\u{1b}[2J\u{202e}<img src=x>\n## h";
    let world = World::new();
    let mut reported: Value = serde_json::from_str(FIO).unwrap();
    for job in reported["jobs"].as_array_mut().unwrap() {
        job["jobname"] = EVIL.into();
        job["hostname"] = EVIL.into();
        job["job options"]["filename"] = format!("/x/{EVIL}").into();
    }
    let name = "=e|\u{1b}[2J\u{202e}<img src=x>.json";
    world.write(name, &reported.to_string());
    world.assay(&["import", "--host", "=h\u{1b}[2J", "--label", "=l|x", name]).succeeded();
    world.assay(&["import", "--label", "b", name]).succeeded();
    let runs = ["latest~1", "latest"];
    let mut asked: Vec<Vec<&str>> = vec![
        vec!["list"],
        vec!["verify"],
        vec!["show"],
        vec!["history", "rate", "--format", "csv"],
        vec!["history", "rate", "--format", "html"],
        vec!["lint", name, "--format", "sarif"],
        vec!["compare", runs[0], runs[1], "--format", "markdown"],
        vec!["compare", runs[0], runs[1], "--format", "csv"],
        vec!["compare", runs[0], runs[1]],
    ];
    for format in ["text", "markdown", "html", "learn", "csv", "json"] {
        asked.push(vec!["report", runs[0], "--format", format]);
    }
    for words in asked {
        let said = world.assay(&words);
        for text in [&said.out, &said.err] {
            assert!(!text.contains(assay_model::sanitize::is_hidden), "{words:?}: {text:?}");
        }
        // No text of a file may begin a line, a formula, a heading or a tag.
        let is_text = words.len() < 4 || words[3] == "text";
        let is_page = words.contains(&"html");
        // A quoted field may have several lines.
        let is_table = words.contains(&"csv");
        for line in said.out.lines().filter(|_| !is_table) {
            let is_cut = line.starts_with("| ") && !line.ends_with(" |");
            let is_tag = is_page && line.contains("<img");
            // Text tables wrap words, and none of their lines begins at the margin.
            let is_heading = !is_page && line.starts_with("## h");
            assert!(!is_cut && !is_tag && !is_heading, "{words:?}: {line}");
            assert!(!(is_text && line.trim() == "## h."), "{words:?}: {line}");
        }
        if is_table {
            let is_formula = |field: &str| field.starts_with(['=', '@']);
            assert!(!said.out.split([',', '\n', '"']).any(is_formula), "{said:?}");
        }
    }
}

#[test]
fn anonymous_report_hides_host_of_import() {
    // The placeholder host, an ordinary name, and a word that stored runs also use.
    for host in [None, Some("node7"), Some("storage")] {
        // Imports of one file have equal times, so `latest` is unambiguous only with one import a
        // world.
        let world = World::new();
        world.write("fio.json", FIO);
        let named = host.map_or(vec![], |host| vec!["--host", host]);
        world.assay(&[&["import"], &named[..], &["fio.json"]].concat()).succeeded();
        let report = ["report", "latest", "--anonymous", "--format", "markdown"];
        let said = world.assay(&report).succeeded().out;
        let expected = host.map_or("on imported", |_| "on host-1");
        assert!(said.contains(expected) && !said.contains("node7"), "{host:?}: {said}");
        assert!(!said.contains("/var/tmp"), "{said}");
    }
}

/// A log of Windows in UTF-16 with the label of srun before each line.
#[test]
fn encodings_and_line_prefixes_are_removed() {
    let world = World::new();
    let labelled: String = STREAM.lines().map(|line| format!("0: {line}\r\n")).collect();
    let wide = std::iter::once(0xfeff).chain(labelled.encode_utf16());
    let bytes: Vec<u8> = wide.flat_map(u16::to_le_bytes).collect();
    fs::write(world.path("wide.txt"), bytes).unwrap();
    let imported = world.assay(&["import", "wide.txt"]).succeeded().out;
    assert!(imported.contains("stream, 1 measurement"), "{imported}");
    let explained = world.assay(&["import", "--explain", "wide.txt"]).succeeded().out;
    assert!(explained.contains("removed from each line: rank of srun --label"), "{explained}");
}

#[test]
fn explanation_accounts_for_every_line_and_stores_nothing() {
    let world = World::new();
    world.write("osu.txt", OSU);
    let explained = world.assay(&["import", "--explain", "osu.txt"]).succeeded().out;
    assert!(explained.contains("\nmeasurement mpi.latency latency: "), "{explained}");
    for (number, line) in (1..).zip(OSU.lines()) {
        assert!(explained.contains(&format!("{number:>2} | {line}")), "{line}: {explained}");
    }
    assert!(explained.contains("Nothing was stored."), "{explained}");
    assert!(!world.assay(&["list"]).succeeded().out.contains("import "));
    let json = world.json(&["import", "--explain", "--json", "osu.txt"]);
    assert_eq!(json["files"][0]["format"], "osu");
    let refused = world.assay(&["import", "--explain", "--label", "a", "osu.txt"]);
    refused.failed_with(2);
}

#[test]
fn patterns_take_figures_of_any_text() {
    let world = World::new();
    world.write("log.txt", "step 1\nPerformance:   87.5 (ns/day)\nWall: 12.5 s\n");
    let metrics = [
        "--metric",
        "ns/day: Performance: +([0-9.]+) 1/s",
        "--metric",
        "wall: Wall: ([0-9.]+) s",
    ];
    let run = [&["import", "--json"], &metrics[..], &["log.txt"]].concat();
    let imported = world.json(&run);
    assert_eq!(imported["imported"][0]["measurements"], 2);
    let shown =
        world.json(&["show", imported["imported"][0]["runs"][0].as_str().unwrap(), "--json"]);
    let results = shown["results"].as_array().unwrap();
    let wall = results.iter().find(|it| it["metric"] == "time").unwrap();
    assert_eq!((&wall["median"], &wall["parameters"]["test"]), (&12.5.into(), &"wall".into()));
    for (pattern, expected) in [
        ("x: Absent ([0-9]+) s", "no match of the pattern of \"x\""),
        ("x: Wall s", "has no group"),
        ("Wall", "expected NAME: REGEX [UNIT]"),
        ("x: Wall: ([0-9.]+) parsec", "is no known unit"),
    ] {
        let refused = world.assay(&["import", "--metric", pattern, "log.txt"]);
        assert!(refused.err.contains(expected), "{pattern}: {}", refused.err);
    }
}

const PATTERN: &str = "x: value: ([0-9.]+) s";

/// Names say nothing about time: of files of one second, the one written first is imported first.
#[test]
fn files_of_one_second_are_imported_as_they_were_written() {
    let world = World::new();
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for (name, ms) in [("a.txt", 80), ("b.txt", 40)] {
        let file = fs::File::create(world.path(name)).unwrap();
        fs::write(world.path(name), format!("value: {ms}\n")).unwrap();
        file.set_modified(second + Duration::from_millis(ms)).unwrap();
    }
    let words = ["import", "a.txt", "b.txt", "--metric", PATTERN, "--json"];
    let document: Value = serde_json::from_str(&world.assay(&words).succeeded().out).unwrap();
    let imported = document["imported"].as_array().unwrap();
    let files: Vec<&str> = imported.iter().map(|it| it["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["b.txt", "a.txt"]);
}

/// Imports of one file are one measurement; the commas of a label do not separate names.
#[test]
fn one_file_counts_once() {
    let world = World::new();
    for (name, value, label) in [("a.txt", 1, "one,file"), ("b.txt", 2, "other")] {
        world.write(name, &format!("value: {value}\n"));
        for _ in 0..3 {
            let words = ["import", name, "--again", "--label", label, "--metric", PATTERN];
            world.assay(&words).succeeded();
        }
    }
    let compared = world.assay(&["compare", "one,file", "other", "--json"]);
    assert_eq!(compared.err.matches("counts once").count(), 4, "{}", compared.err);
    let document: Value = serde_json::from_str(&compared.out).unwrap();
    let verdict = &document["metrics"][0]["verdict"];
    assert!(!["better", "worse"].contains(&verdict.as_str().unwrap_or_default()), "{document}");
}

/// A signal ends an import between two files: every stored run is whole.
#[test]
fn interrupted_import_leaves_whole_runs() {
    let world = World::new();
    let names: Vec<String> = (0..300).map(|at| format!("{at}.txt")).collect();
    for (at, name) in names.iter().enumerate() {
        world.write(name, &format!("value: {}\n", at + 1));
    }
    let mut words = vec!["import", "--metric", PATTERN];
    words.extend(names.iter().map(String::as_str));
    let mut command = world.command(&words);
    let import = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_until("the first run", || world.assay(&["list", "--json"]).out.contains("\"import\""));
    send_signal(import.id(), "INT");
    let ended = import.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
    let listed = world.json(&["list", "--json"]);
    assert!((1..300).contains(&listed["runs"].as_array().unwrap().len()), "{listed}");
    assert!(world.assay(&["verify"]).succeeded().out.contains("intact"));
}
