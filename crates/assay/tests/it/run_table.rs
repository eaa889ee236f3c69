//! `assay show A B C`: several runs in one table.

use serde_json::{Value, json};

use crate::program::World;

const STREAM: &str =
    include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");
const OSU: &str = include_str!("../../../assay-adapters/tests/golden/osu/7.5-latency.out");

/// Store with STREAM under two labels, the second with twice the rate of triad, and an MPI test.
fn world() -> World {
    let world = World::new();
    let triad = STREAM.lines().find(|line| line.starts_with("Triad:")).unwrap();
    let figures: Vec<f64> =
        triad.split_whitespace().skip(1).map(|it| it.parse().unwrap()).collect();
    let [rate, times @ ..] = figures.as_slice() else { panic!("{triad}") };
    let times: String = times.iter().map(|it| format!(" {:.6}", it / 2.0)).collect();
    let faster = format!("Triad: {:.1}{times}", rate * 2.0);
    world.write("stream.txt", STREAM);
    world.write("faster.txt", &STREAM.replacen(triad, &faster, 1));
    world.write("osu.txt", OSU);
    for (file, label) in [("stream.txt", "a"), ("faster.txt", "b"), ("osu.txt", "c")] {
        world.assay(&["import", "--host", "vm1", "--label", label, file]).succeeded();
    }
    world
}

#[test]
fn several_runs_share_one_table() {
    let world = world();
    let document = world.json(&["show", "a", "b", "c", "--json"]);
    let labels: Vec<&Value> =
        document["runs"].as_array().unwrap().iter().map(|run| &run["label"]).collect();
    assert_eq!(labels, ["a", "b", "c"]);
    let rows = document["rows"].as_array().unwrap();
    let triad = rows.iter().find(|row| row["results"][0]["metric"] == "triad").unwrap();
    assert_eq!(triad["ratios"], json!([null, 2.0, null]));
    assert!(triad["results"][2].is_null(), "{triad}");
    let latency = rows.iter().find(|row| row["results"][2]["metric"] == "latency").unwrap();
    assert_eq!(latency["ratios"], json!([null, null, null]));
    let shown = world.json(&["show", "latest~1", "--json"]);
    let of_show = shown["results"].as_array().unwrap();
    let of_show = of_show.iter().find(|it| it["metric"] == "triad").unwrap();
    assert_eq!(&triad["results"][1], of_show);

    let text = world.assay(&["show", "a", "b", "c"]).succeeded().out;
    let line = text.lines().find(|line| line.contains("Triad")).unwrap();
    assert!(line.contains("+100.0 %") && line.trim_end().ends_with('–'), "{text}");
    let backwards = world.assay(&["show", "b", "a"]).succeeded().out;
    assert!(backwards.contains("-50.0 %"), "{backwards}");
    let csv = world.assay(&["show", "a", "b", "c", "--format", "csv"]).succeeded().out;
    let line = csv.lines().find(|line| line.contains(",triad,")).unwrap();
    assert!(line.ends_with(",31462600000.0,62925200000.0,"), "{csv}");
    for format in ["markdown", "html"] {
        let page = world.assay(&["show", "a", "b", "--format", format]).succeeded().out;
        assert!(page.contains("100.0"), "{page}");
    }
}

#[test]
fn table_rejects_options_of_a_single_run() {
    let world = world();
    for (words, expected) in [
        (&["a", "b", "--as", "fio-json"][..], "--as needs a single run"),
        (&["a", "nothing"], "there is no run `nothing`"),
    ] {
        let refused = world.assay(&[&["show"], words].concat()).failed_with(2);
        assert!(refused.err.contains(expected), "{refused:?}");
    }
}

/// Results of many runs are rows of one table, with fixed columns as CSV.
#[test]
fn many_runs_are_one_table() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    for label in ["a", "b", "b"] {
        world.assay(&["import", "--again", "--label", label, "stream.txt"]).succeeded();
    }
    let rows = |words: &[&str]| {
        let out = world.assay(words).succeeded().out;
        // On a narrow terminal, parts of the table without the state lie below each other.
        let is_row = |line: &&str| line.contains("noisy") || line.contains(',');
        let rows = out.lines().filter(is_row);
        rows.filter(|line| line.to_lowercase().contains("triad")).count()
    };
    for (words, expected) in [
        (&["list", "--results"][..], 3),
        (&["list", "--results", "--metric", "triad", "--label", "b"], 2),
        (&["compare", "--table", "a", "b"], 3),
        (&["report", "a", "b"], 3),
        (&["report", "--label", "b"], 2),
        (&["list", "--format", "csv"], 3),
        (&["report", "a", "b", "--format", "csv"], 3),
    ] {
        assert_eq!(rows(words), expected, "{words:?}");
    }
    // Every row names its run, in each part of the table.
    let listed = world.json(&["list", "--json"]);
    let results = world.assay(&["list", "--results"]).succeeded().out;
    for run in listed["runs"].as_array().unwrap() {
        let id = run["id"].as_str().unwrap();
        let is_row = |line: &&str| line.contains(id) && line.contains("Triad");
        assert!(results.lines().filter(is_row).count() >= 2, "{id} in each part: {results}");
    }
    let csv = |words: &[&str]| world.assay(words).succeeded().out;
    let head = |text: String| text.lines().next().unwrap().to_owned();
    assert_eq!(head(csv(&["list", "--format", "csv"])), head(csv(&["export", "csv"])));
    let document = world.json(&["compare", "--table", "a", "--json"]);
    assert_eq!(document["results"].as_array().unwrap().len(), 4, "{document}");
    let page = world.assay(&["report", "a", "b", "--format", "html"]).succeeded().out;
    assert!(page.contains("</html>") && page.contains("Triad"), "{page}");
    world.assay(&["compare", "a"]).failed_with(2);
    // The data beside a page has all rows, and the same page replaces both files.
    for _ in 0..2 {
        world.assay(&["report", "a", "b", "-o", "page.html"]).succeeded();
        let data = std::fs::read_to_string(world.path("page.json")).unwrap();
        let data: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(data["results"].as_array().unwrap().len(), 12, "{data}");
    }
}

/// A missed claim outweighs one that decides nothing, wherever its run stands.
#[test]
fn gravest_outcome_is_the_exit_code() {
    let world = world();
    let claim = "[[claim]]\nmetric = \"memory.stream/triad\"\nvalue = \"40 GB/s\"\n";
    world.write("claim.toml", claim);
    for command in [&["show"][..], &["report"], &["compare", "--table"]] {
        for (runs, code) in [(&["c", "b"][..], 6), (&["c", "a", "b"], 5), (&["a", "c"], 5)] {
            let words = [command, runs, &["--expect", "claim.toml"]].concat();
            world.assay(&words).failed_with(code);
        }
    }
    world.assay(&["show", "b", "b", "--expect", "claim.toml"]).succeeded();
}

/// Only a comparison needs runs of one machine.
#[test]
fn tables_take_labels_of_several_machines() {
    let world = world();
    world.assay(&["import", "--host", "vm2", "--label", "a", "stream.txt"]).succeeded();
    let shown = world.json(&["show", "a", "b", "--json"]);
    assert_eq!(shown["runs"].as_array().unwrap().len(), 3, "{shown}");
    for words in [&["report", "--label", "a"][..], &["compare", "--table", "a"]] {
        let rows = world.json(&[words, &["--json"]].concat());
        assert_eq!(rows["results"].as_array().unwrap().len(), 8, "{rows}");
    }
    let refused = world.assay(&["compare", "a", "b"]).failed_with(2).err;
    assert!(refused.contains("1 run of vm1, 1 run of vm2\n"), "{refused}");
}
