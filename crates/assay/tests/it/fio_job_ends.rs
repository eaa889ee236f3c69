//! Ends of the jobs of `assay fio` beside the real fio: errors, full targets, the exits of other
//! jobs, and the contents of the files afterwards.

use std::process::Command;

use serde_json::Value;

use crate::program::World;

/// Reads and writes of each job.
type JobCounts = Vec<(u64, u64)>;

/// Runs a job file in a folder; returns the counts, standard error and success.
fn run(mut command: Command, world: &World, job: &str) -> Option<(JobCounts, String, bool)> {
    let path = world.write("job.fio", job);
    command.args([path.to_str().unwrap(), "--output-format=json"]);
    let output = command.current_dir(world.path("")).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let document: Value =
        text.find('{').map_or(Value::Null, |at| serde_json::from_str(&text[at..]).unwrap());
    let ios = |job: &Value, way: &str| job[way]["total_ios"].as_u64().unwrap();
    let jobs = document["jobs"].as_array().into_iter().flatten();
    let counts = jobs.map(|job| (ios(job, "read"), ios(job, "write"))).collect();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((counts, message, output.status.success()))
}

#[test]
fn jobs_end_each_other_as_in_fio() {
    const LATER: &str = "[b]\nstonewall\nrw=write\nsize=64k\nverify=crc32c\n";
    for job in [
        // A job that follows the end of all does nothing, and reads nothing back.
        format!("[a]\nexitall\nexit_what=all\nrw=write\nsize=64k\n{LATER}"),
        format!(
            "[a]\nexitall_on_error\nexit_what=all\nrw=write\nsize=64k\nmax_latency=1us\n{LATER}"
        ),
        // A job that an error ended holds no other up.
        "[global]\nflow=1\nsize=1m\nrw=write\n[a]\nmax_latency=1us\n[b]\n".to_owned(),
        // One reads back as it writes, the other afterwards.
        "[global]\nverify=crc32c\nsize=64k\nrw=write\n[a]\nverify_backlog=4\n[b]\n".to_owned(),
        // One maps its files, the other makes calls.
        "[global]\nsize=64k\nrw=write\n[a]\nioengine=mmap\n[b]\nioengine=psync\n".to_owned(),
        // Pauses between I/O, and fewer I/O than may be in flight: none is awaited that never begins.
        "[a]\nioengine=libaio\niodepth=4\nthinktime=1\nsize=4k\nrw=read\n".to_owned(),
        "[a]\nioengine=libaio\niodepth=4\nthinktime=1\nsize=4k\nrw=read\ncreate_only=1\n"
            .to_owned(),
        // The entry of a group is not split by a job that is left out.
        "[global]\nioengine=null\nsize=64k\ngroup_reporting\nrw=read\n[a]\n[b]\nstats=0\n[c]\n"
            .to_owned(),
    ] {
        let (there, here) = (World::in_memory(), World::in_memory());
        let Some((expected, _, expected_success)) = run(Command::new("fio"), &there, &job)
        else {
            return eprintln!("SKIPPED jobs_end_each_other_as_in_fio: fio is not installed");
        };
        let (found, message, succeeded) =
            run(here.command(&["fio", "--no-store"]), &here, &job).unwrap();
        assert_eq!(found, expected, "{job}{message}");
        assert_eq!(succeeded, expected_success, "{job}{message}");
    }
}

#[test]
fn job_that_has_nothing_to_read_back_ends_no_other() {
    let job = "[global]\nverify=crc32c\nexitall\nsize=64k\n[w]\nrw=write\n\
               [r]\nrw=read\ntime_based\nruntime=5\n";
    let world = World::in_memory();
    let (found, message, succeeded) =
        run(world.command(&["fio", "--no-store"]), &world, job).unwrap();
    assert!(succeeded, "{message}");
    assert_eq!(found[0], (16, 16), "{message}");
}

#[test]
fn first_error_is_the_last_io() {
    let world = World::in_memory();
    let pattern = "size=64k\nfilename=x\nverify=pattern\nverify_pattern=0xdeadbeef\n";
    let fio = || world.command(&["fio", "--no-store"]);
    run(fio(), &world, &format!("[a]\nrw=write\n{pattern}")).unwrap();
    let mut contents = std::fs::read(world.path("x")).unwrap();
    contents[5000..40_000].fill(0);
    std::fs::write(world.path("x"), contents).unwrap();
    for engine in ["psync", "libaio", "io_uring"] {
        let job = format!("[a]\nrw=read\nioengine={engine}\n{pattern}");
        let (found, message, succeeded) = run(fio(), &world, &job).unwrap();
        assert!(!succeeded && message.contains("one I/O of a failed"), "{message}");
        assert_eq!(found, [(2, 0)], "{engine}: {message}");
        if let Some((expected, ..)) = run(Command::new("fio"), &world, &job) {
            assert_eq!(found, expected, "{engine}");
        }
    }
}

#[test]
fn mixed_job_compares_only_what_it_wrote() {
    for more in ["rw=randrw\n", "rw=rw\nverify_backlog=8\n"] {
        let job = format!("[a]\n{more}size=256k\nverify=pattern\nverify_pattern=0xdead\n");
        let world = World::in_memory();
        let (_, message, succeeded) =
            run(world.command(&["fio", "--no-store"]), &world, &job).unwrap();
        assert!(succeeded, "{job}{message}");
    }
}

#[test]
fn file_to_append_to_keeps_its_contents() {
    let fill = |pattern: &str| format!("[a]\nfilename=x\nrw=write\n{pattern}");
    let world = World::in_memory();
    let fio = || world.command(&["fio", "--no-store"]);
    run(fio(), &world, &fill("size=64k\nbuffer_pattern=0xaa\n")).unwrap();
    let job = fill("size=32k\nbuffer_pattern=0xbb\nfile_append=1\noverwrite=1\n");
    let permission = ["fio", "--no-store", "--destroy-data=x"];
    let (_, message, succeeded) = run(world.command(&permission), &world, &job).unwrap();
    assert!(succeeded, "{message}");
    let contents = std::fs::read(world.path("x")).unwrap();
    assert!(contents == [vec![0xaa; 65536], vec![0xbb; 32768]].concat(), "{}", contents.len());
}

#[test]
fn job_that_only_creates_files_writes_nothing_even_while_it_warms_up() {
    let job = "[a]\nfilename=x\nrw=write\nsize=64k\ncreate_only=1\nramp_time=1\n\
               buffer_pattern=0xaa\n";
    let world = World::in_memory();
    let (found, message, _) = run(world.command(&["fio"]), &world, job).unwrap();
    assert_eq!(found, [(0, 0)], "{message}");
    assert!(std::fs::read(world.path("x")).unwrap().iter().all(|byte| *byte == 0));
    // A later run lays it out before it reads it.
    run(world.command(&["fio"]), &world, "[a]\nfilename=x\nrw=read\nsize=64k\n").unwrap();
    assert!(std::fs::read(world.path("x")).unwrap().iter().any(|byte| *byte != 0));
}

#[test]
fn job_fills_its_file_system() {
    let world = World::new();
    world.write("job.fio", "[a]\nrw=write\nsize=64m\nbs=64k\nfill_device=1\nfilename=full/x\n");
    std::fs::create_dir(world.path("full")).unwrap();
    let program = env!("CARGO_BIN_EXE_assay");
    let script = format!(
        "mount -t tmpfs -o size=1m none full || exit 99; \
         '{program}' fio job.fio --no-store --output-format=json"
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--map-root-user", "sh", "-c", &script]);
    unshare.current_dir(world.path("")).env("XDG_DATA_HOME", world.path(""));
    let Ok(output) = unshare.output() else {
        return eprintln!("SKIPPED job_fills_its_file_system: there is no unshare");
    };
    let err = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(99) || err.contains("unshare failed") {
        return eprintln!(
            "SKIPPED job_fills_its_file_system: no file system can be mounted: {err}"
        );
    }
    assert!(output.status.success(), "{err}");
    let text = String::from_utf8(output.stdout).unwrap();
    let document: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let job = &document["jobs"][0];
    assert_eq!((&job["error"], &job["write"]["total_ios"]), (&0.into(), &16.into()), "{err}");
}

/// fio 3.33 has no `ramp_size`: the counts follow from its description in fio 3.42.
#[test]
fn warm_ups_by_bytes_do_not_count() {
    const JOB: &str = "[a]\nioengine=null\nrw=read\nbs=4k\nsize=1m\n";
    for (options, ios) in [
        // 128 of 256 I/O.
        ("ramp_size=512k\n", 128..=128),
        ("ramp_size=512k\niodepth=4\niodepth_batch_complete_min=4\n", 128..=128),
        // It ends within its warm-up, as with ramp_time.
        ("ramp_size=9m\n", 256..=256),
        // Both together, and one may have ended before.
        ("ramp_size=1m\nnumjobs=2\ngroup_reporting=1\n", 1..=256),
        ("ramp_size=1m\ntime_based\nruntime=200ms\n", 300..=u64::MAX),
    ] {
        let world = World::in_memory();
        let job = format!("{JOB}{options}");
        let command = world.command(&["fio", "--no-store"]);
        let (counts, message, succeeded) = run(command, &world, &job).unwrap();
        assert!(succeeded, "{job}{message}");
        assert_eq!(counts.len(), 1, "{job}{message}");
        assert!(ios.contains(&counts[0].0), "{job}{counts:?}");
    }
}
