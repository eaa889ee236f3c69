//! `assay ior` on the ranks of real MPI launchers: files and output are those of threads, and a
//! failure of one rank ends the job with one message.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::mpi::{allow_many_ranks_as_root, find_debian_launcher, one_at_a_time, run_to_end};
use crate::program::{Outcome, World};

/// Debian's launchers.
pub(crate) const LAUNCHERS: [&str; 2] = ["mpiexec.mpich", "mpiexec.openmpi"];

/// Starts `ranks` processes of a program with its words, in the folder `work` of the world.
pub(crate) fn start(launcher: &Path, world: &World, ranks: u32, words: &[&str]) -> Outcome {
    let mut command = Command::new(launcher);
    command.args(["-n", &ranks.to_string()]).args(words).current_dir(world.path("work"));
    allow_many_ranks_as_root(command.env("XDG_DATA_HOME", world.path(".")));
    run_to_end(&mut command)
}

pub(crate) fn world_with_folder() -> World {
    let world = World::new();
    std::fs::create_dir(world.path("work")).unwrap();
    world
}

pub(crate) fn program(world: &World) -> String {
    world.command(&[]).get_program().to_str().unwrap().to_owned()
}

/// Starts `assay ior` with the words of a line.
fn ior(launcher: &Path, world: &World, ranks: u32, line: &str) -> Outcome {
    let assay = program(world);
    let words: Vec<&str> = [assay.as_str(), "ior"].into_iter().chain(line.split(' ')).collect();
    start(launcher, world, ranks, &words)
}

/// Runs the same with threads.
fn with_threads(world: &World, ranks: u32, line: &str) -> Outcome {
    let count = ranks.to_string();
    let words: Vec<&str> =
        ["ior", "-N", count.as_str()].into_iter().chain(line.split(' ')).collect();
    let output = world.command(&words).current_dir(world.path("work")).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// Returns the output without times, rates and the command line.
fn normalize(output: &str) -> String {
    let is_kept = |line: &&str| {
        let varying = ["Began", "Command line", "StartTime", "Finished", "FS "];
        !varying.iter().any(|name| line.starts_with(name))
    };
    let is_row = |line: &str| ["write ", "read ", "Max "].iter().any(|it| line.starts_with(it));
    let mask = |(at, word): (usize, &str)| match at {
        1..=3 | 6..=9 => "#".to_owned(),
        _ => word.trim_start_matches('(').to_owned(),
    };
    let normal = |line: &str| match is_row(line) {
        true if line.starts_with("Max ") => line[..10].to_owned(),
        true => {
            let masked = line.split_whitespace().enumerate().map(mask);
            // The summary has the mean time in its tenth column.
            masked.collect::<Vec<_>>().join(" ")
        }
        false => line.to_owned(),
    };
    let lines = output.lines().filter(is_kept).take_while(|line| !line.starts_with("Summary"));
    lines.map(normal).collect::<Vec<_>>().join("\n")
}

/// Returns the names and sizes of all files below the folder `work`.
fn list_files(world: &World) -> Vec<(PathBuf, u64)> {
    let entries = std::fs::read_dir(world.path("work")).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<(PathBuf, u64)> = entries
        .map(|entry| (entry.file_name().into(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}

#[test]
fn output_and_files_are_those_of_threads() {
    let _alone = one_at_a_time();
    for launcher in LAUNCHERS {
        let Some(launcher) =
            find_debian_launcher(launcher, "output_and_files_are_those_of_threads")
        else {
            continue;
        };
        for (ranks, line) in [
            (3, "-b 64k -t 16k -s 3 -i 2 -C -e -w -W -r -R -k -o shared"),
            (2, "-F -m -b 32k -t 16k -s 2 -z -k -o own"),
        ] {
            let (ranked, threaded) = (world_with_folder(), world_with_folder());
            let outcome = ior(&launcher, &ranked, ranks, line).succeeded();
            let expected = with_threads(&threaded, ranks, line).succeeded();
            assert_eq!(normalize(&outcome.out), normalize(&expected.out), "{line}");
            assert_eq!(list_files(&ranked), list_files(&threaded), "{line}");
            let shown = ranked.assay(&["show", "latest", "--as", "ior"]).succeeded();
            assert_eq!(shown.out, outcome.out);
        }
    }
}

/// All ranks continue after the deadline until each has done as much as the fastest, and a later job
/// reads as much.
#[test]
fn ranks_wear_out_together() {
    let Some(launcher) = find_debian_launcher(LAUNCHERS[0], "ranks_wear_out_together") else {
        return;
    };
    let (world, _alone) = (world_with_folder(), one_at_a_time());
    let status = "-O stoneWallingStatusFile=reached";
    let line = format!(
        "-t 4k -b 4k -s 100000 -D 1 -Y -w -C -k -o hard {status} -O stoneWallingWearOut=1"
    );
    let outcome = ior(&launcher, &world, 2, &line).succeeded();
    assert!(outcome.out.contains("stonewalling pairs accessed min: "), "{}", outcome.out);
    let reached: u64 =
        std::fs::read_to_string(world.path("work/reached")).unwrap().parse().unwrap();
    assert_eq!(world.path("work/hard").metadata().unwrap().len(), reached * 2 * 4096);
    let line = format!("-t 4k -b 4k -s 100000 -r -R -C -k -o hard {status}");
    let json = format!("{line} -O summaryFormat=JSON");
    let document: Value =
        serde_json::from_str(&ior(&launcher, &world, 2, &json).succeeded().out).unwrap();
    let mib = document["summary"][0]["xsizeMiB"].as_f64().unwrap();
    assert!((mib - 2.0 * reached as f64 / 256.0).abs() < 1e-9, "{mib} {reached}");
    assert_eq!(document["summary"][0]["numTasks"], 2);
}

#[test]
fn job_is_stored_once_with_its_library() {
    for launcher in LAUNCHERS {
        let Some(found) = find_debian_launcher(launcher, "job_is_stored_once_with_its_library")
        else {
            continue;
        };
        let (world, _alone) = (world_with_folder(), one_at_a_time());
        std::os::unix::fs::symlink(program(&world), world.path("ior")).unwrap();
        let link = world.path("ior");
        // Only the first two ranks take part, and the link is the command.
        let words = [link.to_str().unwrap(), "-N", "2", "-b", "16k", "-t", "16k", "-o", "f"];
        start(&found, &world, 3, &words).succeeded();
        let runs = world.assay(&["list", "--json"]).succeeded().out;
        assert_eq!(runs.lines().filter(|line| line.contains("\"id\"")).count(), 1, "{runs}");
        let document = world.json(&["show", "latest", "--json"]).to_string();
        let library = if launcher.ends_with("mpich") { "MPICH 4." } else { "Open MPI 4." };
        assert!(document.contains(library), "{document}");
        assert!(document.contains("\"tasks\":3"), "{document}");
    }
}

/// A file that exists and is not assay's stays, whichever rank would write it.
#[test]
fn data_of_others_stays() {
    let Some(launcher) = find_debian_launcher(LAUNCHERS[0], "data_of_others_stays") else {
        return;
    };
    let (world, _alone) = (world_with_folder(), one_at_a_time());
    world.write("work/own.00000001", "precious");
    let outcome = ior(&launcher, &world, 2, "-F -b 16k -t 16k -o own");
    assert_ne!(outcome.code, 0);
    assert_eq!(outcome.err.matches("error: ").count(), 1, "{}", outcome.err);
    assert_eq!(list_files(&world), [("own.00000001".into(), 8)]);
}

#[test]
fn failed_io_of_one_rank_names_it() {
    for launcher in LAUNCHERS {
        let Some(found) = find_debian_launcher(launcher, "failed_io_of_one_rank_names_it")
        else {
            continue;
        };
        let (world, _alone) = (world_with_folder(), one_at_a_time());
        ior(&found, &world, 2, "-F -b 64k -t 16k -w -W -k -o own").succeeded();
        let file = world.path("work/own.00000001");
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[20_000] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let outcome = ior(&found, &world, 2, "-F -b 64k -t 16k -r -R -k -o own");
        assert_ne!(outcome.code, 0);
        assert_eq!(outcome.err.matches("error: ").count(), 1, "{}", outcome.err);
        assert!(outcome.err.contains("rank 1 on "), "{}", outcome.err);
    }
}

#[test]
fn killed_rank_ends_the_job() {
    for launcher in LAUNCHERS {
        let Some(found) = find_debian_launcher(launcher, "killed_rank_ends_the_job") else {
            continue;
        };
        let (world, _alone) = (world_with_folder(), one_at_a_time());
        // Rank 1 is killed as soon as the first file is written.
        let killed = "case $PMI_RANK$OMPI_COMM_WORLD_RANK in 1) own=$$; \
                      (until [ -s own.00000001 ]; do sleep 0.02; done; kill -9 $own) & ;; esac; \
                      exec \"$@\"";
        let assay = program(&world);
        let words = ["sh", "-c", killed, "sh", assay.as_str(), "ior"];
        let line = ["-FY", "-b", "4k", "-t", "4k", "-s", "9999999", "-D", "100", "-o", "own"];
        let line = [&line[..], &["-O", "stoneWallingWearOut=1"]].concat();
        let outcome = start(&found, &world, 2, &[&words[..], &line[..]].concat());
        assert_ne!(outcome.code, 0, "{outcome:?}");
        // What the ranks could not remove is recorded.
        world.assay(&["storage", "clean"]).succeeded();
        assert_eq!(list_files(&world), []);
    }
}

#[test]
fn unusable_library_is_reported_once() {
    let Some(launcher) =
        find_debian_launcher(LAUNCHERS[0], "unusable_library_is_reported_once")
    else {
        return;
    };
    let (world, _alone) = (world_with_folder(), one_at_a_time());
    let line = "-b 16k -t 16k -o f --mpi-library=libc.so.6";
    let outcome = ior(&launcher, &world, 2, line);
    assert_ne!(outcome.code, 0);
    assert_eq!(outcome.err.matches("error: no MPI library").count(), 1, "{}", outcome.err);
    let reported = with_threads(&world, 2, line).failed_with(2).err;
    assert!(reported.contains("start the command with mpirun"), "{reported}");
}
