//! Programs compared with the first one: verdicts in all formats, and the end once they are decided.

use serde_json::Value;

use crate::program::World;

/// A program that prints a figure with noise of ±0.5 %, above a level that is its argument.
const FIGURE: &str = "\
f=n$1; n=$(cat $f 2>/dev/null || echo 0); n=$((n + 1)); echo $n > $f
echo \"FOM = $(($1 + n * 7919 % 1000))\"
";

/// Returns a world with the program, and the words that compare two levels of it.
fn compare<'a>(a: &'a str, b: &'a str) -> (World, Vec<&'a str>) {
    let world = World::new();
    world.write("figure", FIGURE);
    let metric = ["--metric", "fom: FOM = ([0-9]+) higher", "--seed", "3"];
    (world, [&["exec"], &metric[..], &["-n", "a", "-n", "b", a, b]].concat())
}

fn figure(document: &Value) -> &Value {
    let comparisons = document["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 1, "{document:#}");
    let pairs = comparisons[0]["pairs"].as_array().unwrap();
    pairs.iter().find(|pair| pair["a"]["metric"] == "score").unwrap()
}

#[test]
fn comparisons_end_once_they_are_decided() {
    let (world, words) = compare("sh figure 100000", "sh figure 110000");
    let outcome = world.assay(&[&words[..], &["--json"]].concat()).succeeded();
    let document: Value = serde_json::from_str(&outcome.out).unwrap();
    let pair = figure(&document);
    assert_eq!(pair["verdict"], "better", "{pair:#}");
    assert_eq!(document["comparisons"][0]["design"], "looks");
    let blocks = pair["a"]["n"].as_u64().unwrap();
    assert!((6..=8).contains(&blocks), "{pair:#}");
    assert!(outcome.err.contains(&format!("decided after {blocks} blocks")), "{}", outcome.err);
    let [low, high] = [0, 1].map(|end| pair["ratio_ci"][end].as_f64().unwrap());
    assert!(1.09 < low && low < high && high < 1.11, "{pair:#}");
}

#[test]
fn an_exact_number_of_runs_is_never_cut() {
    let (world, words) = compare("sh figure 100000", "sh figure 110001");
    let document = world.json(&[&words[..], &["-r", "9", "-q", "--json"]].concat());
    let pair = figure(&document);
    assert_eq!((&pair["a"]["n"], &pair["verdict"]), (&9.into(), &"better".into()), "{pair:#}");
    assert_eq!(document["comparisons"][0]["design"], "turns");
}

#[test]
fn verdicts_are_in_all_formats() {
    let (world, words) = compare("sh figure 100000", "sh figure 110002");
    for format in ["text", "markdown", "html"] {
        let options = ["-r", "9", "-q", "--format", format];
        let out = world.assay(&[&words[..], &options].concat()).succeeded().out;
        assert!(out.contains("Programs compared with a"), "{format}: {out}");
        assert!(out.contains("better"), "{format}: {out}");
    }
}

#[test]
fn stored_runs_have_the_same_verdicts() {
    let (world, words) = compare("sh figure 100000", "sh figure 110003");
    let options = ["-r", "9", "-q", "--json"];
    let measured = world.json(&[&words[..], &options].concat());
    let stored = world.json(&["show", "latest", "--json"]);
    assert_eq!(stored["comparisons"], measured["comparisons"]);
    assert_eq!(figure(&stored)["verdict"], "better");
    for words in [&["show"][..], &["report", "--format", "html"]] {
        let out = world.assay(words).succeeded().out;
        assert!(out.contains("Programs compared with a"), "{words:?}: {out}");
    }
    world.assay(&["site", "site"]).succeeded();
    let id = stored["run"]["id"].as_str().unwrap();
    let page = std::fs::read_to_string(world.path(&format!("site/runs/{id}.html"))).unwrap();
    assert!(page.contains("Programs compared with a") && page.contains("better"), "{page}");
}

#[test]
fn nothing_is_stored_on_request() {
    let world = World::new();
    let outcome = world.assay(&["exec", "--no-store", "-r", "2", "--", "true"]).succeeded();
    assert!(
        outcome.out.contains("wall time") && !outcome.out.contains("assay show"),
        "{outcome:?}"
    );
    let list = world.json(&["list", "--json"]);
    assert_eq!(list["runs"].as_array().unwrap().len(), 0, "{list}");
    world.assay(&["exec", "--no-store", "--store", "here", "--", "true"]).failed_with(2);
}

#[test]
fn every_host_runs_the_programs() {
    let world = World::new();
    world.write("figure", FIGURE);
    let hosts = ["--hosts", "vm[1-2]", "--via", "env NAME={host}", "-r", "6", "-q", "--json"];
    let line = "sleep 0.0$(echo $NAME | tr -d vm); echo \"FOM = $(echo $NAME | tr -d vm)00\"";
    let metric = ["exec", "--metric", "fom: FOM = ([0-9]+) higher", "--shell"];
    let programs = ["-n", "a", "-n", "b", line, "sleep 0.05; echo \"FOM = 500\""];
    let document = world.json(&[&metric[..], &hosts, &programs].concat());
    let results = document["results"].as_array().unwrap();
    let median = |host: &str| {
        let is_it = |it: &&Value| {
            it["metric"] == "score"
                && it["parameters"]["host"] == host
                && it["parameters"]["program"] == "a"
        };
        results.iter().find(is_it).and_then(|it| it["median"].as_f64())
    };
    assert_eq!((median("vm1"), median("vm2")), (Some(100.0), Some(200.0)), "{document:#}");
    let pairs = document["comparisons"][0]["pairs"].as_array().unwrap();
    let figures: Vec<&Value> = pairs.iter().filter(|it| it["a"]["metric"] == "score").collect();
    let ratios: Vec<f64> = figures.iter().filter_map(|it| it["ratio"].as_f64()).collect();
    let rounded: Vec<f64> = ratios.iter().map(|it| (10.0 * it).round() / 10.0).collect();
    assert_eq!(rounded, [5.0, 2.5], "{document:#}");
    let refused = ["exec", "--via", "env {host}", "--", "true"];
    world.assay(&refused).failed_with(2);
}
