//! `assay export`: every format has the values of `show --json`; names, damage and bad requests.

use std::fs;

use serde_json::Value;

use crate::program::World;
use crate::site::run_ids;

const STREAM: &str =
    include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");
const FIO: &str = include_str!("../../../assay-adapters/tests/golden/fio/3.33-mix.out");
const OSU: &str = include_str!("../../../assay-adapters/tests/golden/osu/7.5-latency.out");

/// Store with a measured run and runs of three imported files, two of them with hostile names.
pub(crate) fn filled_world() -> World {
    let world = World::new();
    for (name, text, host, label) in [
        ("stream.txt", STREAM, "vm1", "before"),
        ("fio.json", FIO, "vm1", "=1+1,\"x\" \\"),
        ("osu.txt", OSU, "node 2", "after <img src=x>"),
    ] {
        world.write(name, text);
        world.assay(&["import", "--host", host, "--label", label, name]).succeeded();
    }
    let words =
        ["stream", "--array-size", "1MiB", "--budget", "shortest", "--label", "measured"];
    world.assay(&words).succeeded();
    world
}

/// Returns the results of all runs as `show --json` has them, oldest run first.
fn shown_results(world: &World) -> Vec<Value> {
    let shown = |id: &String| world.json(&["show", id, "--json"]);
    let results = |id: &String| shown(id)["results"].as_array().unwrap().clone();
    run_ids(world).iter().rev().flat_map(results).collect()
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

#[test]
fn lines_of_json_equal_results_of_show() {
    let world = filled_world();
    let shown = shown_results(&world);
    let text = world.assay(&["export", "jsonl"]).succeeded().out;
    let rows: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(rows.len(), shown.len());
    assert!(rows.len() > 10, "{}", rows.len());
    for (row, shown) in rows.iter().zip(&shown) {
        let [low, high] = [0, 1].map(|end| shown["ci"].get(end).unwrap_or(&Value::Null));
        for (column, value) in [
            ("value", &shown["median"]),
            ("low", low),
            ("high", high),
            ("level", &shown["ci_level"]),
            ("limit", &shown["limit"]["value"]),
            ("tool", &shown["tool"]["name"]),
            ("version", &shown["tool"]["version"]),
            ("conditions", &shown["parameters"]),
        ] {
            assert_eq!(&row[column], value, "{column}: {row}");
        }
        for same in ["host", "benchmark", "case", "metric", "unit", "better", "n"] {
            assert_eq!(row[same], shown[same], "{same}: {row}");
        }
        for same in ["n_effective", "min", "max", "mean", "percentiles", "percent_of_limit"] {
            assert_eq!(row[same], shown[same], "{same}: {row}");
        }
    }
}

#[test]
fn other_formats_have_the_same_values() {
    let world = filled_world();
    let median = |it: &Value| it["median"].as_f64();
    let medians = sorted(shown_results(&world).iter().filter_map(median));

    let metrics = world.assay(&["export", "openmetrics"]).succeeded().out;
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    let is_value = |line: &&str| {
        let name = line.split('{').next().unwrap_or_default();
        !line.starts_with('#')
            && !name.contains("_ci_")
            && !name.ends_with("_samples")
            && name != "assay_run_info"
    };
    let value = |line: &str| line.rsplit(' ').nth(1).unwrap().parse::<f64>().unwrap();
    assert_eq!(sorted(metrics.lines().filter(is_value).map(value)), medians);

    let points = world.assay(&["export", "influx"]).succeeded().out;
    let value = |line: &str| {
        let field = line.split(" value=").nth(1).unwrap();
        field.split(',').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(sorted(points.lines().map(value)), medians);

    let ids = run_ids(&world);
    let mut reported = Vec::new();
    for id in &ids {
        let report = world.json(&["export", "bencher", id]);
        let benchmarks = report.as_object().unwrap().values();
        let measures = benchmarks.flat_map(|it| it.as_object().unwrap().values());
        reported.extend(measures.map(|it| it["value"].as_f64().unwrap()));
    }
    assert_eq!(sorted(reported.into_iter()), medians);

    let folder = world.path("tables");
    world.assay(&["export", "parquet", "-o", folder.to_str().unwrap()]).succeeded();
    for name in ["results", "samples", "runs"] {
        let bytes = fs::read(folder.join(format!("{name}.parquet"))).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
    }
}

#[test]
fn selects_runs_and_metrics() {
    let world = filled_world();
    let count = |words: &[&str]| {
        let words = [&["export", "csv"], words].concat();
        world.assay(&words).succeeded().out.lines().count() - 1
    };
    let all = count(&[]);
    assert_eq!(
        count(&["before"])
            + count(&["--suite", "stream"])
            + count(&["--host", "node 2"])
            + count(&["--label", "=1+1,\"x\" \\"]),
        all
    );
    assert_eq!(count(&["before", "measured"]), 4 + 6);
    assert_eq!(count(&["--metric", "triad"]), 2);
    assert_eq!(count(&["--metric", "memory.stream/triad", "--label", "before"]), 1);
    assert_eq!(count(&["--since", "1d", "measured"]), 6);

    world
        .assay(&["import", "--again", "--host", "vm1", "--label", "before", "stream.txt"])
        .succeeded();
    assert_eq!(count(&["before"]), 8);
    assert_eq!(count(&["before", "--latest"]), 4);
    let collected = world.assay(&["export", "openmetrics", "before", "--latest"]).succeeded();
    let line = collected.out.lines().find(|line| line.contains("triad_bytes")).unwrap();
    let line = collected
        .out
        .lines()
        .filter(|it| !it.starts_with('#'))
        .find(|it| it.starts_with(line.split(' ').nth(2).unwrap()))
        .unwrap();
    assert!(line.ends_with("} 31462600000.0"), "{line}");

    let listed = world.json(&["list", "--json", "--metric", "triad"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 3);
    let listed = world.json(&["list", "--json", "--metric", "storage/rate"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1);
    let none = world.json(&["list", "--json", "--metric", "stream/triad"]);
    assert_eq!(none["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn bad_requests_name_what_is_possible() {
    let world = World::new();
    let nothing = world.assay(&["export", "csv"]).failed_with(2);
    assert!(nothing.err.contains("there are no runs yet"), "{nothing:?}");
    world.write("stream.txt", STREAM);
    for label in ["on", "off"] {
        world.assay(&["import", "--label", label, "stream.txt"]).succeeded();
    }
    world.write("file", "text");
    for (words, expected) in [
        (&["xml"][..], "csv, jsonl, openmetrics, influx, bencher, parquet"),
        (&["csv", "--label", "other"], "no stored run matches"),
        (
            &["csv", "--metric", "triat"],
            "there is no metric `triat`\n  help: did you mean triad?",
        ),
        (&["csv", "other"], "there is no run `other`"),
        (&["csv", "--since", "yesterday"], "expected a day like 2026-11-22"),
        (&["bencher"], "2 runs match"),
        (&["parquet"], "parquet needs a folder"),
        (&["parquet", "-o", "file"], "cannot create the folder file"),
        (&["csv", "-o", "absent/file"], "cannot write absent/file"),
        (&["csv", "-o", "x.parquet"], "or use `assay export parquet`"),
        (&["jsonl", "-o", "x.json"], "does not fit the format jsonl"),
        (&["influx", "-o", "x.html"], "`assay report` writes pages"),
        (&["parquet", "-o", "x.csv"], "or use `assay export csv`"),
    ] {
        let refused = world.assay(&[&["export"], words].concat()).failed_with(2);
        assert!(refused.err.contains(expected), "{words:?}: {refused:?}");
        assert_eq!(refused.out, "", "{words:?}");
    }
    world.assay(&["export", "bencher", "on", "-o", "report.json"]).succeeded();
    assert!(world.path("report.json").is_file());
    world.assay(&["export", "jsonl", "-o", "rows.txt"]).succeeded();
    assert!(!world.path("x.csv").exists(), "no folder was created");
}

/// A damaged run is named, and all that can be read is exported.
#[test]
fn damaged_runs_are_named_and_the_rest_is_exported() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    for label in ["a", "b", "c"] {
        world.assay(&["import", "--label", label, "stream.txt"]).succeeded();
    }
    let listed = world.json(&["list", "--json"]);
    let id = |at: usize| listed["runs"][at]["id"].as_str().unwrap().to_owned();
    let events = |id: &str| world.path("assay/runs").join(id).join("events.jsonl");
    let text = fs::read_to_string(events(&id(0))).unwrap();
    let sample = text.lines().find(|line| line.contains("\"sample\"")).unwrap();
    fs::write(events(&id(0)), text.replacen(sample, "{", 1)).unwrap();
    fs::write(events(&id(1)), "nothing\n").unwrap();
    let outcome = world.assay(&["export", "jsonl"]).failed_with(4);
    for part in [id(0), id(1), "is damaged".to_owned()] {
        assert!(outcome.err.contains(&part), "{part}: {outcome:?}");
    }
    let rows: Vec<Value> =
        outcome.out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let count = |id: &str| rows.iter().filter(|row| row["run"] == id).count();
    assert_eq!([count(&id(0)), count(&id(1)), count(&id(2))], [3, 0, 4], "{}", outcome.out);
    for row in &rows {
        assert_eq!(row["damaged"], row["run"] == id(0), "{row}");
    }
}
