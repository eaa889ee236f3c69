//! `assay mdtest`: its phases, its files and its output.

use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::processes::wait_until;
use crate::program::{Outcome, World};

fn mdtest(world: &World, line: &str) -> Outcome {
    let words = ["mdtest"].into_iter().chain(line.split_whitespace());
    world.assay(&words.collect::<Vec<_>>())
}

#[test]
fn all_phases_leave_nothing_and_are_results() {
    let world = World::new();
    let line = "--ranks 2 -n 20 -i 3 -N 1 -w 100 -e 100 -X -d data";
    let out = mdtest(&world, line).succeeded().out;
    assert!(out.contains("2 tasks, 40 files/directories\n"), "{out}");
    assert!(!world.path("data").exists(), "a folder that was created is removed");
    let document = world.json(&["show", "--json"]);
    let rates: Vec<&Value> = document["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["metric"] == "rate")
        .collect();
    assert_eq!(rates.len(), 10, "{document:#}");
    for rate in rates {
        let parameters = &rate["parameters"];
        assert_eq!((&parameters["threads"], &parameters["files"]), (&2.into(), &40.into()));
        assert_eq!(rate["n"], 3, "{rate:#}");
    }
    let shown = world.assay(&["show", "--as", "mdtest"]).succeeded().out;
    assert_eq!(out, shown);
}

#[test]
fn phases_can_be_split_over_runs() {
    let world = World::new();
    let common = "--ranks 2 -n 100000 -F -N 1 -w 3901 -e 3901 -G 27 -t -P -d d -x reached -Y";
    mdtest(&world, &format!("{common} -C -W 1")).succeeded();
    let items: usize = std::fs::read_to_string(world.path("reached")).unwrap().parse().unwrap();
    let tree = world.path("d/test-dir.0-0/mdtest_tree.0");
    assert_eq!(std::fs::read_dir(&tree).unwrap().count(), 2 * items);
    let file = tree.join("file.mdtest.1.0");
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 3901);
    mdtest(&world, &format!("{common} -T")).succeeded();
    mdtest(&world, &format!("{common} -E -X")).succeeded();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[3000] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let failed = mdtest(&world, &format!("{common} -E -X")).failed_with(4).err;
    assert!(failed.contains("wrong data at byte 3000"), "{failed}");
    let runs = world.json(&["list", "--all", "--json"]);
    assert_eq!(runs["runs"][0]["status"], "failed", "{runs:#}");
    mdtest(&world, &format!("{common} -r")).succeeded();
    assert_eq!(std::fs::read_dir(world.path("d")).unwrap().count(), 0);
    let clean = world.assay(&["storage", "clean"]).succeeded().out;
    assert!(clean.contains("no files created by assay"), "{clean}");
}

#[test]
fn only_folders_of_assay_are_changed() {
    let world = World::new();
    let line = "-n 2 -F -d d";
    mdtest(&world, &format!("{line} -C")).succeeded();
    let again = mdtest(&world, &format!("{line} -C")).failed_with(2).err;
    assert!(again.contains("d/test-dir.0-0 exists already"), "{again}");
    // The same folder of someone else.
    std::fs::rename(world.path("d"), world.path("own")).unwrap();
    let copied = std::process::Command::new("cp")
        .args(["-r", "--preserve=timestamps"])
        .args([world.path("own"), world.path("d")])
        .status();
    assert!(copied.unwrap().success());
    let refused = mdtest(&world, &format!("{line} -r")).failed_with(2).err;
    assert!(refused.contains("is not changed without permission"), "{refused}");
    assert!(world.path("d/test-dir.0-0/mdtest_tree.0/file.mdtest.0.1").exists());
    mdtest(&world, &format!("{line} -T")).succeeded();
    std::fs::write(world.path("d/test-dir.0-0/mine"), "precious").unwrap();
    let link = world.path("d/test-dir.0-0/mdtest_tree.1");
    std::os::unix::fs::symlink(world.path("own"), &link).unwrap();
    let line_with_link = format!("{line} -r --destroy-data=d/test-dir.0-0");
    let refused = mdtest(&world, &line_with_link).failed_with(2).err;
    assert!(refused.contains("mdtest_tree.1 is a link"), "{refused}");
    std::fs::remove_file(link).unwrap();
    let permitted = format!("{line} -r --destroy-data=d/test-dir.0-0");
    let noted = mdtest(&world, &permitted).succeeded().err;
    assert!(noted.contains("d/test-dir.0-0 stays"), "{noted}");
    assert_eq!(std::fs::read_to_string(world.path("d/test-dir.0-0/mine")).unwrap(), "precious");
}

/// Starts a run in the background.
fn start(world: &World, line: &str) -> Child {
    let words: Vec<&str> = ["mdtest"].into_iter().chain(line.split_whitespace()).collect();
    let mut command = world.command(&words);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Creates a folder with the files of others under the names of mdtest.
fn create_foreign_folder(folder: &Path) {
    std::fs::create_dir_all(folder.join("mdtest_tree.0")).unwrap();
    for item in 0..2 {
        let file = folder.join(format!("mdtest_tree.0/file.mdtest.0.{item}"));
        std::fs::write(file, "precious").unwrap();
    }
}

fn assert_foreign_folder_is_whole(folder: &Path) {
    for item in 0..2 {
        let file = folder.join(format!("mdtest_tree.0/file.mdtest.0.{item}"));
        assert_eq!(std::fs::read_to_string(file).unwrap(), "precious");
    }
}

#[test]
fn exchanged_test_folder_is_not_changed() {
    let world = World::new();
    let running = start(&world, "-n 2 -F -p 2 -w 5 -e 5 -d d");
    let folder = world.path("d/test-dir.0-0");
    wait_until("the tree exists", || folder.join("mdtest_tree.0").exists());
    std::fs::rename(&folder, world.path("moved")).unwrap();
    create_foreign_folder(&folder);
    let output = running.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("another file is in its place"), "{err}");
    assert_foreign_folder_is_whole(&folder);
}

#[test]
fn exchanged_folder_of_a_later_iteration_is_refused() {
    let world = World::new();
    mdtest(&world, "-n 2 -F -C -i 2 -d d").succeeded();
    let running = start(&world, "-n 2 -F -r -i 2 -p 2 -d d");
    let other_removal = || mdtest(&world, "-n 2 -F -r --dryRun -d d");
    wait_until("the first iteration has begun", || other_removal().code != 0);
    let folder = world.path("d/test-dir.1-0");
    std::fs::rename(&folder, world.path("moved")).unwrap();
    create_foreign_folder(&folder);
    let output = running.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("is not changed without permission"), "{err}");
    assert_foreign_folder_is_whole(&folder);
}

#[test]
fn folder_in_use_is_not_changed() {
    let world = World::new();
    mdtest(&world, "-n 2 -F -C -d d").succeeded();
    let mut running = start(&world, "-n 2 -F -T -p 60 -d d");
    let removal = || mdtest(&world, "-n 2 -F -r --dryRun -d d");
    wait_until("the run has begun", || removal().code != 0);
    let refused = mdtest(&world, "-n 2 -F -r -d d").failed_with(2).err;
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(refused.contains("another assay is using it"), "{refused}");
    mdtest(&world, "-n 2 -F -r -d d").succeeded();
}

#[test]
fn foreign_files_in_a_tree_stay_with_a_reason() {
    let world = World::new();
    let running = start(&world, "-n 2 -F -p 2 -d d");
    let tree = world.path("d/test-dir.0-0/mdtest_tree.0");
    wait_until("the tree exists", || tree.exists());
    std::fs::write(tree.join("mine"), "precious").unwrap();
    let output = running.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("tree removal failed: cannot remove "), "{err}");
    assert!(err.contains("mdtest_tree.0 stays: it contains files"), "{err}");
    let left = crate::program::files_below(&world.path("d"));
    assert_eq!(left, [tree.join("mine")]);
}

#[test]
fn permission_does_not_extend_through_links() {
    let world = World::new();
    create_foreign_folder(&world.path("elsewhere"));
    std::fs::create_dir(world.path("d")).unwrap();
    std::os::unix::fs::symlink(world.path("elsewhere"), world.path("d/test-dir.0-0")).unwrap();
    let refused = mdtest(&world, "-n 2 -F -r -d d --destroy-data=d").failed_with(2).err;
    assert!(refused.contains("it is a link to ") && refused.contains("elsewhere"), "{refused}");
    assert_foreign_folder_is_whole(&world.path("elsewhere"));
    mdtest(&world, "-n 2 -F -T -d d").succeeded();
    mdtest(&world, "-n 2 -F -r -d d --destroy-data=elsewhere").succeeded();
    assert!(!world.path("elsewhere").exists());
}

#[test]
fn status_file_limits_files_only() {
    let world = World::new();
    mdtest(&world, "-n 4 -C -d d").succeeded();
    let noted = mdtest(&world, "-n 4 -T -x reached -d d").succeeded().err;
    assert!(noted.contains("there is no status file reached"), "{noted}");
    std::fs::write(world.path("reached"), "2").unwrap();
    let tree = world.path("d/test-dir.0-0/mdtest_tree.0");
    std::fs::remove_file(tree.join("file.mdtest.0.3")).unwrap();
    mdtest(&world, "-n 4 -T -x reached -d d").succeeded();
    std::fs::remove_dir(tree.join("dir.mdtest.0.3")).unwrap();
    let failed = mdtest(&world, "-n 4 -T -x reached -d d").failed_with(4).err;
    assert!(failed.contains("dir.mdtest.0.3"), "{failed}");
    for (text, expected) in
        [("99999999999999999", "is too large"), ("many", "cannot read the number of items")]
    {
        std::fs::write(world.path("reached"), text).unwrap();
        let refused = mdtest(&world, "-n 4 -F -T -R -x reached -d d --dryRun");
        assert!(refused.code != 0 && refused.err.contains(expected), "{refused:?}");
        assert_eq!(refused.out, "");
    }
    for (file, expected) in [
        ("no/folder", "No such file"),
        ("d", "not a regular file"),
        ("reached", "its contents would be lost"),
    ] {
        let refused = mdtest(&world, &format!("-n 4 -F -C -W 1 -x {file} -d new"));
        assert!(refused.code != 0 && refused.err.contains(expected), "{refused:?}");
        assert!(!world.path("new").exists());
    }
}

#[test]
fn refused_runs_leave_the_figures_of_tasks() {
    let world = World::new();
    let details = "--saveRankPerformanceDetails=r.csv";
    mdtest(&world, &format!("-n 2 -F -C -r -d d {details}")).succeeded();
    let figures = std::fs::read_to_string(world.path("r.csv")).unwrap();
    assert_eq!(figures.lines().count(), 3, "{figures}");
    for (line, expected) in [
        (format!("-n 2 -F -C -r -d no/folder {details}"), "cannot be made"),
        (format!("-n 2 -F -C -W 1 -x ./r.csv -d d {details}"), "r.csv"),
        (format!("-n 2 -F -T -x ./new.csv -d d {details} --dryRun"), "there is no folder d"),
    ] {
        let refused = mdtest(&world, &line);
        assert!(refused.code != 0 && refused.err.contains(expected), "{line}: {refused:?}");
        assert_eq!(std::fs::read_to_string(world.path("r.csv")).unwrap(), figures, "{line}");
    }
    let same = "-n 2 -F -C -W 1 -x ./new -d d --saveRankPerformanceDetails=new";
    let refused = mdtest(&world, same).failed_with(2).err;
    assert!(refused.contains("both name new"), "{refused}");
    let nowhere = "-n 2 -F -C -r -d d --saveRankPerformanceDetails=no/r.csv";
    let refused = mdtest(&world, nowhere);
    assert!(refused.code != 0 && refused.err.contains("cannot write no/r.csv"), "{refused:?}");
    assert!(!world.path("d").exists());
}

#[test]
fn kept_folders_need_no_descriptors() {
    let world = World::new();
    let words = ["-c", "ulimit -n 200; exec \"$@\"", "sh"];
    let command = world.command(&["mdtest", "-n", "2", "-F", "-C", "-i", "300", "-d", "d"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(words).arg(command.get_program()).args(command.get_args());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.current_dir(command.get_current_dir().unwrap());
    let output = limited.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    mdtest(&world, "-n 2 -F -r -i 300 -d d").succeeded();
}

#[test]
fn created_folders_are_cleaned_after_a_crash() {
    let world = World::new();
    mdtest(&world, "--ranks 2 -n 12 -z 1 -b 2 -u -C -d d").succeeded();
    std::fs::write(world.path("d/test-dir.0-0/mdtest_tree.0.0/mine"), "precious").unwrap();
    let cleaned = world.assay(&["storage", "clean"]).succeeded().out;
    assert!(cleaned.contains("test-dir.0-0 removed"), "{cleaned}");
    assert!(cleaned.contains("mdtest_tree.0.0 kept"), "{cleaned}");
    let tree = world.path("d/test-dir.0-0");
    let left = crate::program::files_below(&tree);
    assert_eq!(left, [tree.join("mdtest_tree.0.0/mine")]);
}

#[test]
fn interrupted_run_leaves_nothing() {
    let world = World::new();
    let line = ["mdtest", "--ranks", "2", "-n", "10000000", "-F", "-d", "d"];
    let mut command = world.command(&line);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let tree = world.path("d/test-dir.0-0/mdtest_tree.0");
    while std::fs::read_dir(&tree).map_or(0, Iterator::count) < 10 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let id = running.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
    assert!(!running.wait().unwrap().success());
    assert!(!world.path("d").exists(), "what was created is removed");
    assert_eq!(world.json(&["list", "--all", "--json"])["runs"][0]["status"], "interrupted");
}

#[test]
fn failed_phase_names_the_item_and_leaves_nothing() {
    let world = World::new();
    mdtest(&world, "-n 3 -F -C -d d").succeeded();
    std::fs::remove_file(world.path("d/test-dir.0-0/mdtest_tree.0/file.mdtest.0.2")).unwrap();
    let failed = mdtest(&world, "-n 3 -F -T -d d").failed_with(4);
    assert!(failed.err.contains("file stat failed: cannot query "), "{}", failed.err);
    assert!(failed.err.contains("file.mdtest.0.2"), "{}", failed.err);
    assert!(!failed.out.contains("SUMMARY"), "{}", failed.out);
    let runs = world.json(&["list", "--all", "--json"]);
    let id = runs["runs"][0]["id"].as_str().unwrap();
    let out = world.assay(&["show", id, "--as", "mdtest"]).succeeded().out;
    assert!(out.contains("1 tasks, 3 files") && !out.contains("SUMMARY"), "{out}");
}

#[test]
fn rejects_what_cannot_run() {
    let world = World::new();
    for (line, expected) in [
        ("-n 2 -T -d d", "there is no folder d"),
        ("-n 2 -d no/folder", "the folder no/folder cannot be made"),
        ("-n 2 -d /proc/d", "the folder /proc/d cannot be"),
        ("-n 2 -c -u -d d", "folders that do not exist"),
        ("--ranks 2 -n 2 -u -d d@./d", "names the folder ./d twice"),
        ("-n 100000000 -F -w 100m -d d", "has no room"),
    ] {
        for dry in ["", " --dryRun"] {
            let outcome = mdtest(&world, &format!("{line}{dry}"));
            assert!(outcome.code != 0 && outcome.err.contains(expected), "{line}: {outcome:?}");
            assert_eq!(outcome.out, "", "{line}");
        }
    }
    assert!(!world.path("d").exists());
    let dry = mdtest(&world, "-n 2 -F -C -d d --dryRun").succeeded().out;
    assert!(dry.contains("2 items of each task") && dry.contains("file creation"), "{dry}");
    let help = mdtest(&world, "--help").succeeded().out;
    assert!(help.contains("--ranks TASKS"), "{help}");
    let version = mdtest(&world, "--version").succeeded().out;
    assert!(version.starts_with("mdtest-4.1.0+dev (assay "), "{version}");
}
