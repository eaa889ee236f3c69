//! Errors of the jobs of `assay fio` beside the real fio: numbers, counts, and whether the run
//! succeeds; and parts of the output that an option leaves out.

use std::process::{Command, Output};

use serde_json::Value;

use crate::program::World;

/// Lines and numbers on the errors of a run.
#[derive(Debug, PartialEq, Eq)]
struct ReportedErrors {
    succeeded: bool,
    /// `error`, `total_err` and `first_error` of each job.
    numbers: Vec<[Value; 3]>,
    /// Numbers of `err=`, and lines `errors :`.
    lines: Vec<String>,
}

fn reported_errors(output: &Output) -> ReportedErrors {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut documents =
        serde_json::Deserializer::from_str(text.find('{').map_or("", |at| &text[at..]))
            .into_iter::<Value>();
    let document = documents.next().and_then(Result::ok).unwrap_or_default();
    let jobs = document["jobs"].as_array().into_iter().flatten();
    let numbers =
        jobs.map(|job| ["error", "total_err", "first_error"].map(|key| job[key].clone()));
    let number = |line: &str| {
        let (_, rest) = line.split_once(": err=")?;
        Some(rest.trim_start().split([' ', ':']).next()?.to_owned())
    };
    let lines = text.lines().filter_map(|line| match line.contains("errors    : ") {
        true => Some(line.to_owned()),
        false => number(line),
    });
    ReportedErrors {
        succeeded: output.status.success(),
        numbers: numbers.collect(),
        lines: lines.collect(),
    }
}

/// Runs a job file in a folder; `None` if there is no such program.
fn run(mut command: Command, world: &World, job: &str) -> Option<Output> {
    let path = world.write("job.fio", job);
    command.args([path.to_str().unwrap(), "--output-format=json,normal"]);
    command.current_dir(world.path("")).output().ok()
}

/// Writes two files of a pattern, one of which is damaged in two of its blocks.
fn write_files(world: &World) {
    let good = [0xde, 0xad, 0xbe, 0xef].repeat(262_144);
    std::fs::write(world.path("good"), &good).unwrap();
    let mut damaged = good[..65_536].to_vec();
    damaged[5000..6000].fill(0);
    damaged[40_000] = 0;
    std::fs::write(world.path("damaged"), damaged).unwrap();
}

#[test]
fn errors_of_checks_have_the_numbers_of_fio() {
    const CHECK: &str =
        "[global]\nrw=read\nsize=64k\nverify=pattern\nverify_pattern=0xdeadbeef\n";
    const JOBS: &str = "[a]\nfilename=good\n[b]\nfilename=damaged\n[c]\nfilename=good\n";
    const SLOW: &str =
        "[global]\nrw=read\nsize=1m\nbs=256k\nfilename=good\nmax_latency=1us\n[a]\n";
    for job in [
        // The error of one job is not that of the others.
        format!("{CHECK}{JOBS}"),
        format!("{CHECK}group_reporting\n{JOBS}"),
        format!("{CHECK}group_reporting\ncontinue_on_error=verify\n{JOBS}"),
        format!("{CHECK}ioengine=libaio\n{JOBS}"),
        format!("{CHECK}continue_on_error=verify\n{JOBS}"),
        format!("{CHECK}continue_on_error=all\nioengine=libaio\niodepth=4\n{JOBS}"),
        format!("{CHECK}continue_on_error=verify\nverify_fatal=1\n{JOBS}"),
        format!("{CHECK}continue_on_error=read\n{JOBS}"),
        format!("{CHECK}continue_on_error=read\nioengine=libaio\n{JOBS}"),
        format!("{CHECK}ignore_error=,,EIO\n{JOBS}"),
        format!("{SLOW}continue_on_error=write\n"),
        format!("{SLOW}continue_on_error=read\n"),
        format!("{SLOW}continue_on_error=read\nioengine=libaio\n"),
        format!("{SLOW}ignore_error=110\n"),
    ] {
        let (there, here) = (World::in_memory(), World::in_memory());
        write_files(&there);
        write_files(&here);
        let Some(expected) = run(Command::new("fio"), &there, &job) else {
            eprintln!("SKIPPED errors_of_checks_have_the_numbers_of_fio: fio is not installed");
            return;
        };
        let expected = reported_errors(&expected);
        let found = run(here.command(&["fio", "--no-store"]), &here, &job).unwrap();
        let message = String::from_utf8_lossy(&found.stderr);
        assert_eq!(reported_errors(&found), expected, "{job}{message}");
        assert!(!expected.numbers.is_empty(), "{job}");
    }
}

#[test]
fn full_targets_have_the_number_of_fio() {
    for options in [
        "",
        "continue_on_error=write\n",
        "ignore_error=,ENOSPC\n",
        "ignore_error=,ENOSPC\nioengine=libaio\niodepth=4\n",
        "bs=48k\n",
    ] {
        // With a deadline, a job may be larger than the free space.
        let job = format!(
            "[global]\nruntime=60\n[a]\nrw=write\nsize=8m\nbs=64k\nfallocate=none\nfilename=full/x\n{options}\
             [b]\nstonewall\nrw=read\nsize=64k\nioengine=null\n"
        );
        let job = if options.contains("bs=") { job.replace("bs=64k\n", "") } else { job };
        let world = World::new();
        std::fs::create_dir(world.path("full")).unwrap();
        let started = |command: &str| {
            let script = format!("mount -t tmpfs -o size=1m none full || exit 99; {command}");
            let mut unshare = Command::new("unshare");
            unshare.args(["--mount", "--map-root-user", "sh", "-c", &script, "sh"]);
            unshare.env("XDG_DATA_HOME", world.path(""));
            run(unshare, &world, &job)
        };
        let Some(expected) = started("exec fio \"$@\"") else {
            return eprintln!(
                "SKIPPED full_targets_have_the_number_of_fio: there is no unshare"
            );
        };
        let err = String::from_utf8_lossy(&expected.stderr);
        if matches!(expected.status.code(), Some(99 | 127)) || err.contains("unshare failed") {
            return eprintln!(
                "SKIPPED full_targets_have_the_number_of_fio: fio, or a file system of its own, \
                 is not available: {err}"
            );
        }
        let program = env!("CARGO_BIN_EXE_assay");
        let found = started(&format!("exec '{program}' fio --no-store \"$@\"")).unwrap();
        let message = String::from_utf8_lossy(&found.stderr);
        assert_eq!(reported_errors(&found), reported_errors(&expected), "{job}{message}");
    }
}

#[test]
fn disks_are_left_out_as_by_fio() {
    for option in ["", "disk_util=0\n", "disk_util=1\n"] {
        let job = format!("[a]\nrw=write\nsize=64k\nend_fsync=1\n{option}");
        let has_disks = |world: &World, command: Command| {
            let output = run(command, world, &job)?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Some(["\"disk_util\"", "Disk stats"].map(|part| text.contains(part)))
        };
        let (there, here) = (World::new(), World::new());
        let Some(expected) = has_disks(&there, Command::new("fio")) else {
            return eprintln!("SKIPPED disks_are_left_out_as_by_fio: fio is not installed");
        };
        let found = has_disks(&here, here.command(&["fio", "--no-store"])).unwrap();
        assert_eq!(found, expected, "{job}");
    }
}
