//! `assay mdtest` on the ranks of real MPI launchers: output and files are those of mdtest, each rank
//! works in the checked folder only, and a failure of one rank ends the job with one message.

use std::path::Path;

use crate::ior_ranks::{LAUNCHERS, program, start, world_with_folder};
use crate::mdtest_differential::{describe_all, recorded_outputs};
use crate::mpi::{find_debian_launcher, one_at_a_time};
use crate::program::{Outcome, World};

/// Starts `assay mdtest` with the words of a line.
fn mdtest(launcher: &Path, world: &World, ranks: u32, line: &str) -> Outcome {
    let assay = program(world);
    let words: Vec<&str> =
        [assay.as_str(), "mdtest"].into_iter().chain(line.split(' ')).collect();
    start(launcher, world, ranks, &words)
}

/// Starts `assay mdtest` on two ranks; the shell commands `before` run on rank 1 first.
fn mdtest_after(launcher: &Path, world: &World, before: &str, line: &str) -> Outcome {
    let script = format!(
        "case $PMI_RANK$OMPI_COMM_WORLD_RANK in 1) {before} ;; esac; exec \"$0\" mdtest {line}"
    );
    let assay = program(world);
    start(launcher, world, 2, &["sh", "-c", &script, &assay])
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn output_and_files_of_ranks_are_those_of_mdtest() {
    let _alone = one_at_a_time();
    for launcher in LAUNCHERS {
        let test = "output_and_files_of_ranks_are_those_of_mdtest";
        let Some(launcher) = find_debian_launcher(launcher, test) else { continue };
        let own = describe_all(|world, words| {
            let outcome = mdtest(&launcher, world, 2, &words.join(" ")).succeeded();
            let shown = world.assay(&["show", "latest", "--as", "mdtest"]).succeeded();
            assert_eq!(shown.out, outcome.out, "{words:?}");
            outcome.out
        });
        recorded_outputs().assert_eq(&own);
    }
}

#[test]
fn job_of_mdtest_is_stored_once_with_its_library() {
    let test = "job_of_mdtest_is_stored_once_with_its_library";
    for launcher in LAUNCHERS {
        let Some(found) = find_debian_launcher(launcher, test) else { continue };
        let (world, _alone) = (world_with_folder(), one_at_a_time());
        std::os::unix::fs::symlink(program(&world), world.path("mdtest")).unwrap();
        let link = world.path("mdtest");
        // Only the first two ranks take part, and the link is the command.
        let words = [link.to_str().unwrap(), "--ranks", "2", "-n", "6", "-u", "-d", "d"];
        let outcome = start(&found, &world, 3, &words).succeeded();
        assert!(outcome.out.contains("2 total task(s) on 1 node(s)"), "{}", outcome.out);
        assert!(outcome.out.contains("\nNodemap: 11\n"), "{}", outcome.out);
        let runs = world.assay(&["list", "--json"]).succeeded().out;
        assert_eq!(runs.lines().filter(|line| line.contains("\"id\"")).count(), 1, "{runs}");
        let document = world.json(&["show", "latest", "--json"]).to_string();
        let library = if launcher.ends_with("mpich") { "MPICH 4." } else { "Open MPI 4." };
        assert!(document.contains(library), "{document}");
        assert_eq!(names_in(&world.path("work")), [] as [&str; 0]);
    }
}

#[test]
fn ranks_of_mdtest_catch_up_after_the_deadline() {
    let test = "ranks_of_mdtest_catch_up_after_the_deadline";
    let Some(launcher) = find_debian_launcher(LAUNCHERS[0], test) else { return };
    let (world, _alone) = (world_with_folder(), one_at_a_time());
    let line = "-n 10000000 -u -F -C -N 1 -W 1 -x reached -Y -d d";
    let outcome = mdtest(&launcher, &world, 2, line).succeeded();
    let reached: usize =
        std::fs::read_to_string(world.path("work/reached")).unwrap().parse().unwrap();
    for task in 0..2 {
        let folder = world.path(&format!("work/d/test-dir.0-0/mdtest_tree.{task}.0"));
        assert_eq!(names_in(&folder).len(), reached, "{}", outcome.out);
    }
    mdtest(&launcher, &world, 2, "-n 10000000 -u -F -T -r -N 1 -x reached -d d").succeeded();
    assert!(!world.path("work/d/test-dir.0-0").exists());
}

#[test]
fn failed_operation_names_the_rank() {
    for launcher in LAUNCHERS {
        let Some(found) = find_debian_launcher(launcher, "failed_operation_names_the_rank")
        else {
            continue;
        };
        let (world, _alone) = (world_with_folder(), one_at_a_time());
        let line = "-n 5 -u -F -w 100 -d d";
        mdtest(&found, &world, 2, &format!("{line} -C -X -e 100 -E")).succeeded();
        let file = "work/d/test-dir.0-0/mdtest_tree.1.0/file.mdtest.1.3";
        world.write(file, "0123456789");
        let outcome = mdtest(&found, &world, 2, "-n 5 -u -F -w 100 -d d -E -X -e 100");
        assert_ne!(outcome.code, 0);
        assert_eq!(outcome.err.matches("error: ").count(), 1, "{}", outcome.err);
        assert!(outcome.err.contains("file read failed on rank 1 on "), "{}", outcome.err);
        assert!(outcome.err.contains("file.mdtest.1.3"), "{}", outcome.err);
    }
}

/// A folder of others stays as it is, whichever rank would change it.
#[test]
fn items_of_others_stay() {
    let Some(launcher) = find_debian_launcher(LAUNCHERS[0], "items_of_others_stay") else {
        return;
    };
    let (world, _alone) = (world_with_folder(), one_at_a_time());
    let folder = world.path("work/d/test-dir.0-0/mdtest_tree.0");
    std::fs::create_dir_all(&folder).unwrap();
    for task in 0..2 {
        std::fs::write(folder.join(format!("file.mdtest.{task}.0")), "precious").unwrap();
    }
    for line in ["-n 1 -F -r -d d", "-n 1 -F -d d"] {
        let outcome = mdtest(&launcher, &world, 2, line);
        assert_ne!(outcome.code, 0);
        assert_eq!(outcome.err.matches("error: ").count(), 1, "{}", outcome.err);
    }
    assert_eq!(names_in(&folder), ["file.mdtest.0.0", "file.mdtest.1.0"]);
}

/// A rank whose path leads to another folder changes nothing there.
#[test]
fn rank_refuses_another_folder_than_that_of_rank_0() {
    let test = "rank_refuses_another_folder_than_that_of_rank_0";
    let Some(launcher) = find_debian_launcher(LAUNCHERS[0], test) else { return };
    let (world, _alone) = (world_with_folder(), one_at_a_time());
    for folder in ["work/d", "work/own", "work/others/test-dir.0-0/mdtest_tree.0"] {
        std::fs::create_dir_all(world.path(folder)).unwrap();
    }
    let precious = "work/others/test-dir.0-0/mdtest_tree.0/file.mdtest.1.0";
    world.write(precious, "precious");
    // The working directory of rank 1 is another one, in which the path is a link to another folder.
    std::os::unix::fs::symlink("../others", world.path("work/own/d")).unwrap();
    let outcome = mdtest_after(&launcher, &world, "cd own", "-n 1 -F -C -r -d d");
    assert_eq!(outcome.code, 0, "rank 0 sends absolute paths: {}", outcome.err);
    assert_eq!(std::fs::read(world.path(precious)).unwrap(), b"precious");
    if !std::process::Command::new("unshare")
        .args(["-m", "true"])
        .status()
        .is_ok_and(|it| it.success())
    {
        println!("SKIPPED {test}: no mount namespace");
        return;
    }
    let mounted = "exec unshare -m sh -c 'mount --bind others d; exec \"$0\" mdtest -n 1 -F -C -r -d d' \"$0\"";
    let outcome = mdtest_after(&launcher, &world, mounted, "-n 1 -F -C -r -d d");
    assert_ne!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.err.contains("is not the folder that rank 0 uses"), "{}", outcome.err);
    assert_eq!(std::fs::read(world.path(precious)).unwrap(), b"precious");
    assert_eq!(names_in(&world.path("work/d")), [] as [&str; 0]);
}

#[test]
fn killed_rank_of_mdtest_ends_the_job() {
    for launcher in LAUNCHERS {
        let test = "killed_rank_of_mdtest_ends_the_job";
        let Some(found) = find_debian_launcher(launcher, test) else { continue };
        let (world, _alone) = (world_with_folder(), one_at_a_time());
        // Rank 1 is killed as soon as its tree exists.
        let killed = "own=$$; (until [ -e d/test-dir.0-0/mdtest_tree.1.0 ]; do sleep 0.02; done; \
                      kill -9 $own) &";
        let line = "-n 9999999 -u -F -W 100 -d d";
        let outcome = mdtest_after(&found, &world, killed, line);
        assert_ne!(outcome.code, 0, "{outcome:?}");
        // What the ranks could not remove is recorded.
        world.assay(&["storage", "clean"]).succeeded();
        assert!(!world.path("work/d/test-dir.0-0").exists());
    }
}
