//! Stores of earlier releases: every command that shows runs works on them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::World;

/// Returns the stores of all releases.
fn release_stores() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let folders = std::fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path());
    folders.map(|folder| folder.join("store")).filter(|store| store.is_dir()).collect()
}

#[test]
fn stores_of_releases_are_shown_and_verified() {
    let stores = release_stores();
    assert!(stores.len() >= 2, "{stores:?}");
    for store in stores {
        let world = World::new();
        // A copy, because commands write an index.
        let copied =
            Command::new("cp").arg("-r").arg(&store).arg(world.path("store")).status().unwrap();
        assert!(copied.success());
        let checked = world.json(&["verify", "--json", "--store", "store"]);
        assert_eq!(checked["schema"], 1, "{checked}");
        check_tool_outputs(&world, &store);
        let listed = world.json(&["list", "--json", "--store", "store"]);
        for run in listed["runs"].as_array().unwrap() {
            let id = run["id"].as_str().unwrap();
            let shown = world.json(&["show", id, "--json", "--store", "store"]);
            let count = |key: &str| shown[key].as_array().unwrap().len();
            assert!(count("results") + count("failures") > 0, "{id}: {shown}");
        }
        for words in [&["export", "csv"][..], &["list", "--results"], &["site", "pages"]] {
            world.assay(&[words, &["--store", "store"]].concat()).succeeded();
        }
    }
}

/// Runs of the first release and the tool whose output is printed again from each.
const TOOL_RUNS: [(&str, &str); 6] = [
    ("20261127-210227-33f0", "fio"),
    ("20261127-210228-af8a", "ior"),
    ("20261127-210229-8f10", "vdbench"),
    ("20261128-134555-0dff", "iperf3"),
    ("20261128-134557-6f77", "qperf"),
    ("20261128-134643-d72a", "osu"),
];

/// Checks that outcomes of tools of the first release are still read.
fn check_tool_outputs(world: &World, store: &Path) {
    if !store.parent().is_some_and(|it| it.ends_with("release-0.2.0")) {
        return;
    }
    for (run, tool) in TOOL_RUNS {
        let words = ["show", run, "--as", tool, "--store", "store"];
        let folder: &[&str] = if tool == "vdbench" { &["--output", "printed"] } else { &[] };
        world.assay(&[&words, folder].concat()).succeeded();
    }
}
