//! `assay plan runs` on stored runs of a program whose figures differ between runs.

use crate::program::World;

/// Prints a level of the run, with a little noise: 1000 for the first run, 1040 for the second.
const LINE: &str = "n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n; \
                    echo \"FOM = $((100000 + $(cat run) * 4000 + n * 37 % 100))\"";

fn measure(world: &World, runs: usize) {
    for run in 0..runs {
        world.write("run", &run.to_string());
        let metric = ["--metric", "fom: FOM = ([0-9]+) higher", "--label", "a", "-n", "app"];
        let words =
            [&["exec", "-q", "-r", "6"], &metric[..], &["--", "sh", "-c", LINE]].concat();
        world.assay(&words).succeeded();
    }
}

#[test]
fn variance_between_runs_asks_for_runs() {
    let world = World::new();
    measure(&world, 3);
    let words = ["plan", "runs", "a", "--metric", "score", "--json"];
    let document = world.json(&words);
    let result = &document["results"][0];
    let levels = result["levels"].as_array().unwrap();
    let level = |name: &str| levels.iter().find(|it| it["level"] == name).unwrap();
    // Levels 0, 4 and 8 % differ by 3.8 % in logarithms.
    let spread = level("runs")["variance"].as_f64().unwrap().sqrt();
    assert!((0.035..0.042).contains(&spread), "{document:#}");
    let starts = level("preparations");
    assert!(starts["variance"].as_f64().unwrap().sqrt() < 0.001, "{document:#}");
    assert!(level("samples")["variance"].is_null(), "{document:#}");
    assert_eq!(
        (&result["best"], &result["missing"]),
        (&"runs".into(), &serde_json::Value::Null)
    );
    assert!(result["needed_runs"].as_u64().unwrap() > 30, "{document:#}");
    let text = world.assay(&["plan", "runs", "a", "--metric", "score", "--difference", "10%"]);
    let text = text.succeeded().out;
    for part in
        ["3 runs × 6 preparations", "in a minute, the most", "a difference of 10 % needs"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Without --metric: the main result, which is the wall time.
    let main = world.json(&["plan", "runs", "a", "--json"]);
    assert_eq!(main["results"][0]["metric"], "wall_time");
}

#[test]
fn missing_runs_and_metrics_are_named() {
    let world = World::new();
    measure(&world, 1);
    let text = world.assay(&["plan", "runs", "latest", "--metric", "score"]).succeeded().out;
    assert!(text.contains("missing: a second run"), "{text}");
    let unknown = world.assay(&["plan", "runs", "latest", "--metric", "scroe"]).failed_with(2);
    assert!(unknown.err.contains("no samples of `scroe`"), "{}", unknown.err);
    assert!(unknown.err.contains("score"), "{}", unknown.err);
    world.assay(&["plan", "runs", "never"]).failed_with(2);
    world.assay(&["plan", "runs"]).failed_with(2);
    world.assay(&["plan", "runs", "latest", "--difference", "0%"]).failed_with(2);
}
