//! Suites that measure what is there, and several of them in one run.

use crate::program::World;

#[test]
fn what_is_not_named_is_left_out_and_said() {
    let world = World::new();
    let plan = world.json(&["run", "all", "--dry-run", "--json"]);
    let omitted = plan["omitted"].as_array().unwrap();
    for expected in [("storage", "target"), ("network.tcp", "host"), ("network.icmp", "host")] {
        let is_it = |it: &&serde_json::Value| {
            it["benchmark"] == expected.0 && it["reason"] == expected.1
        };
        assert_eq!(omitted.iter().filter(is_it).count(), 1, "{expected:?}: {omitted:?}");
    }
    let text = world.assay(&["run", "all", "--dry-run"]).succeeded().out;
    assert!(
        text.contains("Left out: storage, because no file, folder or device is named"),
        "{text}"
    );
    // A target that all cases have is named once, so that the table stays one.
    let planned = ["run", "all", "--dry-run", "--target", ".", "--target-on-root"];
    let text = world.assay(&planned).succeeded().out;
    let is_once = text.matches("assay-storage.data").count() == 1;
    assert!(is_once && text.contains("files and devices") && text.contains("──"), "{text}");
    let folder = world.path("");
    let words = ["run", "hb", "--dry-run", "--json", "--target", folder.to_str().unwrap()];
    let plan = world.json(&words);
    assert_eq!(plan["suite"], "hb");
    let has = |id: &str| plan["cases"].as_array().unwrap().iter().any(|it| it["id"] == id);
    assert!(has("storage/sequential-read-1MiB"), "{plan:#}");
}

#[test]
fn the_report_lists_what_a_run_did_without() {
    let world = World::new();
    world.write(
        "mine.toml",
        "name = \"mine\"\nbudget = \"1s\"\n[[measure]]\nbenchmark = \"memory.latency\"\n\
         from = \"4KiB\"\nto = \"4KiB\"\n[[measure]]\nbenchmark = \"storage\"\n\
         operation = \"read\"\noptional = true\n",
    );
    let run = world.assay(&["run", "./mine.toml"]).succeeded();
    assert!(run.out.contains("not measured: storage (`--target DIR`)"), "{}", run.out);
    let full = world.assay(&["show", "latest"]).succeeded().out;
    assert!(full.contains("Not measured"), "{full}");
    let document = world.json(&["show", "latest", "--json"]);
    let omitted = &document["omitted"][0];
    assert_eq!(
        (&omitted["benchmark"], &omitted["reason"]),
        (&"storage".into(), &"target".into())
    );
    assert_eq!(omitted["text"], "no file, folder or device is named");
    // The whole budget is for what is measured.
    let plan = world.json(&["run", "./mine.toml", "--dry-run", "--json"]);
    assert_eq!(plan["cases"][0]["stopping"]["budget_s"], 1.0);
}

#[test]
fn several_suites_keep_their_time() {
    let world = World::new();
    let plan = world.json(&["run", "quick", "network", "--dry-run", "--json"]);
    assert_eq!((&plan["suite"], &plan["budget_s"]), (&"quick+network".into(), &250.0.into()));
    let cases = plan["cases"].as_array().unwrap();
    let of_network =
        cases.iter().filter(|it| it["id"].as_str().unwrap().starts_with("network"));
    let budget_s: f64 = of_network.map(|it| it["stopping"]["budget_s"].as_f64().unwrap()).sum();
    assert!((budget_s - 180.0).abs() < 1e-6, "{budget_s}");
    world.assay(&["run", "quick", "qick"]).failed_with(2);
}

#[test]
fn options_that_a_suite_cannot_use_are_refused() {
    let world = World::new();
    for (line, said) in [
        ("quick --to localhost", "quick asks nothing of the network, so --to has no meaning"),
        ("memory --destroy-data /dev/null", "so --destroy-data has no meaning"),
        ("network --target /tmp", "network asks nothing of storage, so --target"),
        ("compute memory --keep", "compute+memory asks nothing of storage, so --keep"),
    ] {
        let words = ["run", "--dry-run"].into_iter().chain(line.split_whitespace());
        let outcome = world.assay(&words.collect::<Vec<_>>()).failed_with(2);
        assert!(outcome.err.contains(said), "{line}: {}", outcome.err);
    }
    // What belongs to one of several suites is for that one.
    world.assay(&["run", "quick", "network", "--to", "localhost", "--dry-run"]).succeeded();
}
