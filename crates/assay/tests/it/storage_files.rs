//! File tree benchmarks: created files exist, removed files are gone, and nothing is left behind.

use serde_json::Value;

use crate::program::{World, files_below, results};

fn suite(operations: &str, more: &str) -> String {
    format!(
        "name = \"trees\"\nbudget = \"2s\"\n[[measure]]\nbenchmark = \"storage.files\"\n\
         levels = 2\nwidth = 3\nfiles = 7\nsize = \"1000B\"\nthreads = 2\n\
         operations = {operations}\n{more}"
    )
}

fn find_result<'a>(document: &'a Value, metric: &str, operation: &str) -> Option<&'a Value> {
    let all = results(document, "storage.files", metric);
    all.into_iter().find(|result| result["parameters"]["operation"] == operation)
}

#[test]
fn every_mdtest_operation_has_rate_and_latency_and_leaves_nothing() {
    let world = World::new();
    let suite = suite(
        "[\"mkdir\", \"stat-directory\", \"rmdir\", \"create\", \"stat\", \"read\", \"delete\"]",
        "",
    );
    let file = world.write("trees.toml", &suite);
    std::fs::create_dir(world.path("data")).unwrap();
    let run = ["run", file.to_str().unwrap(), "--target", "data", "--json"];
    let document = world.json(&run);
    for operation in ["mkdir", "stat-directory", "rmdir", "create", "stat", "read", "delete"] {
        for metric in ["rate", "latency"] {
            let found = find_result(&document, metric, operation)
                .unwrap_or_else(|| panic!("{operation} {metric}: {document}"));
            assert!(found["median"].as_f64().unwrap() > 0.0, "{operation} {metric}");
            // 3 × 3 directories with 7 files each; directory operations have the same count, in one
            // folder.
            assert_eq!(found["parameters"]["files"], 63, "{operation}");
        }
        let moves = matches!(operation, "create" | "read");
        assert_eq!(
            find_result(&document, "bandwidth", operation).is_some(),
            moves,
            "{operation}"
        );
        // The histogram has every operation of every pass: whole passes only.
        let latency = find_result(&document, "latency", operation).unwrap();
        let passes = find_result(&document, "rate", operation).unwrap()["n"].as_u64().unwrap();
        let discarded = latency["parameters"]["discarded"].as_u64().unwrap_or(0);
        let counted = latency["parameters"]["io"].as_u64().unwrap();
        assert_eq!(counted % 63, 0, "{operation}");
        assert!(counted >= 63 * passes.max(discarded), "{operation}: {latency}");
    }
    assert_eq!(std::fs::read_dir(world.path("data")).unwrap().count(), 0);
    assert!(world.assay(&["storage", "clean"]).succeeded().out.contains("no files"));
}

#[test]
fn create_leaves_files_and_delete_removes_them() {
    let world = World::new();
    std::fs::create_dir(world.path("data")).unwrap();
    let measure = |operations: &str| {
        let file = world.write("trees.toml", &suite(operations, ""));
        let run = ["run", file.to_str().unwrap(), "--target", "data", "--keep"];
        world.assay(&run).succeeded();
        let all = files_below(&world.path("data/assay-files"));
        let of_tree = |path: &&std::path::PathBuf| path.extension() == Some("file".as_ref());
        let made =
            all.iter().filter(of_tree).filter(|path| !path.ends_with("vdb_control.file"));
        let sizes = made.map(|path| path.metadata().unwrap().len());
        sizes.collect::<Vec<_>>()
    };
    assert_eq!(measure("\"create\""), vec![1000; 63]);
    assert_eq!(measure("[\"delete\"]"), Vec::<u64>::new());
    assert_eq!(measure("[\"stat\"]"), vec![1000; 63]);
    world.assay(&["storage", "clean"]).succeeded();
    assert_eq!(std::fs::read_dir(world.path("data")).unwrap().count(), 0);
}

#[test]
fn length_and_rate_give_timed_stretches() {
    let world = World::new();
    let more = "pattern = \"random\"\nrate = 500\nlength = \"600ms\"\n";
    let file = world.write("trees.toml", &suite("\"stat\"", more));
    std::fs::create_dir(world.path("data")).unwrap();
    let document = world.json(&["run", file.to_str().unwrap(), "--target", "data", "--json"]);
    let due = find_result(&document, "latency_from_intended", "stat").unwrap();
    assert_eq!(due["parameters"]["requested_rate"], 500.0);
    assert_eq!(due["parameters"]["pattern"], "random");
    assert!(find_result(&document, "rate", "stat").unwrap()["n"].as_u64().unwrap() > 1);
}

#[test]
fn keeps_foreign_files_and_rejects_impossible_trees() {
    let world = World::new();
    std::fs::create_dir_all(world.path("data/assay-files")).unwrap();
    world.write("data/assay-files/mine", "precious");
    let run = |text: &str| {
        let file = world.write("trees.toml", text);
        world.assay(&["run", file.to_str().unwrap(), "--target", "data"])
    };
    let refused = run(&suite("\"create\"", "")).failed_with(2);
    assert!(refused.err.contains("--destroy-data"), "{refused:?}");
    assert_eq!(files_below(&world.path("data")), [world.path("data/assay-files/mine")]);
    let refused = run(&suite("\"unlink\"", ""));
    assert!(refused.err.contains("unknown operation `unlink`"), "{refused:?}");
    let file = world.write("trees.toml", &suite("\"stat\"", ""));
    let refused = world.assay(&["run", file.to_str().unwrap()]);
    assert!(refused.code != 0 && refused.err.contains("--target"), "{refused:?}");
    let run = ["run", file.to_str().unwrap(), "--target", "missing"];
    let failed = world.assay(&run).failed_with(2);
    assert!(failed.err.contains("make the folder above it"), "{failed:?}");
    assert!(!world.path("missing").exists());
    // No run was started.
    assert!(!world.assay(&["list"]).out.contains("files"), "{failed:?}");
}

#[test]
fn storage_files_command_needs_no_suite() {
    let world = World::new();
    let line = "storage files . --files 5 --width 2 --operations stat,create";
    let words: Vec<&str> = line.split(' ').collect();
    let plan = world.json(&[&words[..], &["--dry-run", "--json"]].concat());
    let cases: Vec<&str> = plan["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["id"].as_str().unwrap())
        .collect();
    assert_eq!(cases.len(), 2, "{cases:?}");
    assert!(cases[0].contains("create") && cases[1].contains("stat"), "{cases:?}");
    let shown = world.assay(&[&words[..], &["--budget", "shortest"]].concat()).succeeded().out;
    assert!(shown.contains("File trees"), "{shown}");
    let listed = world.assay(&["list"]).succeeded().out;
    assert!(listed.contains("files (create)"), "{listed}");
    assert_eq!(std::fs::read_dir(world.path("")).unwrap().count(), 1, "only the store is left");
}
