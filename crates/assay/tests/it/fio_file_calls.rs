//! `filecreate`, `filestat` and `filedelete` of `assay fio`, beside the real fio; and the files of
//! others, which they leave alone.

use std::process::Command;

use serde_json::Value;

use crate::program::World;

/// Runs a job in a folder; returns counts, errors and shares of each job, its log of calls, and the
/// files with their sizes.
fn run(mut command: Command, world: &World, job: &str) -> Option<(String, String)> {
    let path = world.write("job.fio", job);
    command.args([path.to_str().unwrap(), "--output-format=json"]);
    let output = command.current_dir(world.path("")).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let document: Value =
        text.find('{').map_or(Value::Null, |at| serde_json::from_str(&text[at..]).unwrap());
    let mut found = vec![output.status.success().to_string()];
    for entry in document["jobs"].as_array().into_iter().flatten() {
        for way in ["read", "write"] {
            let side = &entry[way];
            let [clat, lat, slat] = ["clat_ns", "lat_ns", "slat_ns"].map(|name| &side[name]);
            let percentiles = clat.get("percentile").is_some();
            found.push(format!(
                "{way} {} {} clat {} {percentiles} lat {} slat {}",
                side["total_ios"], side["io_bytes"], clat["N"], lat["N"], slat["N"]
            ));
        }
        let shares = ["latency_ns", "latency_us", "latency_ms", "iodepth_level"];
        let shares = shares.map(|name| {
            let used = entry[name].as_object().unwrap().values();
            used.filter(|share| share.as_f64() > Some(0.0)).count()
        });
        found.push(format!("error {} shares {shares:?}", entry["error"]));
    }
    let log = std::fs::read_to_string(world.path("L_clat.1.log")).unwrap_or_default();
    let calls = |line: &str| line.split(", ").skip(2).collect::<Vec<_>>().join(" ");
    found.extend(log.lines().map(calls));
    let files = std::fs::read_dir(world.path("")).unwrap().map(|entry| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len())
    });
    let own = |name: &str| name.starts_with("f.") || name.starts_with("a.");
    let mut files: Vec<_> = files.filter(|(name, _)| own(name)).collect();
    files.sort();
    found.push(format!("{files:?}"));
    Some((found.join("\n"), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn calls_on_files_are_those_of_fio() {
    for job in [
        "[a]\nioengine=filecreate\nnrfiles=9\nrw=write\nfilesize=4k\nopenfiles=1\n\
         create_on_open=1\nfallocate=none\nwrite_lat_log=L\nlog_offset=1\n",
        // Several I/O of a file make one call; the calls of a mix count as those of its reads.
        "[a]\nioengine=filecreate\nnrfiles=6\nrw=rw\nfilesize=16k\nloops=2\n",
        "[a]\nioengine=filecreate\nnrfiles=6\nbs=8k\n",
        "[a]\nioengine=filestat\nnrfiles=9\nfilesize=16k\nloops=3\nnumjobs=2\n",
        "[a]\nioengine=filestat\nnrfiles=9\nfilesize=4k\nrw=randwrite\nstat_type=lstat\n",
        "[a]\nioengine=filestat\nnrfiles=9\nfilesize=4k\nstat_type=statx\ndisable_lat=1\n",
        "[a]\nioengine=filedelete\nnrfiles=9\nfilesize=4k\nunlink=0\n",
        // Within a ramp time, fio times calls, too.
        "[a]\nioengine=filestat\nnrfiles=9\nfilesize=4k\nramp_time=9\n",
        "[a]\nioengine=filecreate\nnrfiles=6\nrw=rw\nfilesize=16k\nramp_time=9\n",
        // The second pass finds nothing to delete.
        "[a]\nioengine=filedelete\nnrfiles=3\nfilesize=4k\nloops=2\n",
        "[global]\nnrfiles=4\nfilesize=4k\nfilename_format=f.$filenum\n\
         [c]\nioengine=filecreate\n[s]\nstonewall\nioengine=filestat\n\
         [d]\nstonewall\nioengine=filedelete\n",
    ] {
        let (there, here) = (World::in_memory(), World::in_memory());
        let Some((expected, _)) = run(Command::new("fio"), &there, job) else {
            return eprintln!("SKIPPED calls_on_files_are_those_of_fio: fio is not installed");
        };
        let (found, message) = run(here.command(&["fio", "--no-store"]), &here, job).unwrap();
        assert_eq!(found, expected, "{job}{message}");
    }
}

#[test]
fn files_of_others_are_neither_deleted_nor_emptied() {
    let world = World::in_memory();
    let contents = "precious".repeat(512);
    std::fs::write(world.path("x"), &contents).unwrap();
    let call = |engine: &str| {
        vec![
            "fio".to_owned(),
            "--name=a".to_owned(),
            "--filename=x".to_owned(),
            "--size=4k".to_owned(),
            format!("--ioengine={engine}"),
        ]
    };
    let run = |engine: &str, more: &[&str]| {
        let words = call(engine);
        let words: Vec<&str> =
            words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        world.assay(&words)
    };
    let refused = run("filedelete", &["--no-store"]).failed_with(2);
    assert!(refused.err.contains("assay did not make this file"), "{}", refused.err);
    for engine in ["filecreate", "filestat"] {
        run(engine, &["--no-store"]).succeeded();
        assert_eq!(std::fs::read_to_string(world.path("x")).unwrap(), contents, "{engine}");
    }
    let refused = run("filedelete", &["--no-store", "--readonly", "--destroy-data=x"]);
    assert!(refused.failed_with(2).err.contains("--readonly"));
    run("filedelete", &["--no-store", "--destroy-data=x"]).succeeded();
    assert!(!world.path("x").exists());
    // What assay created, it may delete, and it then forgets the file.
    run("filecreate", &[]).succeeded();
    assert_eq!(world.path("x").metadata().unwrap().len(), 0);
    let listed = world.assay(&["storage", "clean", "--dry-run"]).succeeded();
    assert!(listed.out.contains("/x"), "{}{}", listed.out, listed.err);
    run("filedelete", &[]).succeeded();
    assert!(!world.path("x").exists());
    let listed = world.assay(&["storage", "clean", "--dry-run"]).succeeded();
    assert!(!listed.out.contains("/x"), "{}", listed.out);
}

#[test]
fn deleted_name_is_neither_a_link_nor_used_again() {
    let world = World::in_memory();
    std::fs::write(world.path("x"), "precious").unwrap();
    std::os::unix::fs::symlink(world.path("x"), world.path("link")).unwrap();
    let delete = "[d]\nfilename=x\nsize=4k\nioengine=filedelete\n";
    let write = "[w]\nfilename=x\nsize=4k\nioengine=psync\nrw=write\n";
    let last = |job: &str| job.replace("]\n", "]\nstonewall\n");
    let run = |job: &str, target: &str| {
        world.write("job.fio", job);
        let permission = format!("--destroy-data={target}");
        world.assay(&["fio", "job.fio", "--no-store", &permission])
    };
    let refused = run(&[delete, &last(write)].concat(), "x").failed_with(2);
    assert!(refused.err.contains("deleted by one job and used by another"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(world.path("x")).unwrap(), "precious");
    let refused = run(&delete.replace("=x", "=link"), "link").failed_with(2);
    assert!(refused.err.contains("link is a symbolic link"), "{}", refused.err);
    run(&[write, &last(delete)].concat(), "x").succeeded();
    assert!(!world.path("x").exists() && world.path("link").is_symlink());
}

#[test]
fn empty_file_of_another_does_not_count_as_created() {
    let world = World::in_memory();
    std::fs::write(world.path("f.0"), "").unwrap();
    let create = ["--ioengine=filecreate", "--filename_format=f.$filenum", "--nrfiles=2"];
    let words = [&["fio", "--name=a", "--filesize=4k", "--unlink=1"], &create[..]].concat();
    world.assay(&words).succeeded();
    assert!(world.path("f.0").exists(), "it was there before");
    assert!(!world.path("f.1").exists(), "the call created it");
    let listed = world.assay(&["storage", "clean", "--dry-run"]).succeeded();
    assert!(!listed.out.contains("/f."), "{}", listed.out);
}
