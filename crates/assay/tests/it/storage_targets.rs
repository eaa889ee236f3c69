//! Storage targets: duplicates, the devices below them, and the engine that issues the I/O.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::program::{World, results};
use crate::storage::LoopDevice;

#[test]
fn rejects_duplicate_targets() {
    let world = World::in_memory();
    std::fs::create_dir(world.path("folder")).unwrap();
    for name in ["file", "other", "folder/assay-storage.data"] {
        std::fs::write(world.path(name), vec![7; 1 << 20]).unwrap();
    }
    symlink("file", world.path("link")).unwrap();
    std::fs::hard_link(world.path("file"), world.path("hard")).unwrap();
    let refused = |words: &[&str], [one, other]: [&str; 2], code: i32| {
        let refused = world.assay(words).failed_with(code);
        let one = world.path(one).display().to_string();
        let other = world.path(other).display().to_string();
        let says = match one == other {
            true => format!("the target {one} is named twice"),
            false => format!("the targets {one} and {other} are the same"),
        };
        assert!(refused.err.contains(&says), "{words:?}: {refused:?}");
    };
    for [one, other] in [
        ["file", "file"],
        ["file", "link"],
        ["hard", "file"],
        ["folder", "folder/assay-storage.data"],
        ["nothing", "nothing"],
    ] {
        let whole = |name: &'static str| {
            if name == "folder" { "folder/assay-storage.data" } else { name }
        };
        let names = [whole(one), whole(other)];
        for more in [&["--dry-run"][..], &["--for", "100ms", "--buffered"]] {
            let size = if one == "nothing" { &["--size", "1MiB"][..] } else { &[] };
            let words = [&["storage", "read", "other", one, other][..], more, size].concat();
            refused(&words, names, 2);
        }
        refused(&["run", "storage-volume", "--target", one, other, "--dry-run"], names, 2);
    }
    world.assay(&["storage", "read", "file", "other", "--dry-run"]).succeeded();
    world.write("twice.toml", "name = \"x\"\n[[measure]]\nbenchmark = \"storage\"\noperation = \"read\"\npath = [\"file\", \"link\"]\n");
    let refused = world.assay(&["run", "twice.toml", "--dry-run"]).failed_with(2);
    assert!(
        refused.err.contains("twice.toml:5") && refused.err.contains("are the same"),
        "{refused:?}"
    );
}

/// A partition's data are on its disk.
#[test]
fn rejects_device_with_its_partition() {
    let test = "rejects_device_with_its_partition";
    let world = World::in_memory();
    let Some(device) = LoopDevice::over_new_file(&world.path("disk"), test) else { return };
    // `addpart` creates a partition on a device without a partition table.
    let added = Command::new("addpart").args([&device.0, "1", "2048", "4096"]).status();
    let partition = format!("{}p1", device.0);
    if !added.is_ok_and(|it| it.success()) || !std::path::Path::new(&partition).exists() {
        eprintln!("SKIPPED {test}: addpart makes no partition here");
        return;
    }
    for (one, other) in [(&device.0, &partition), (&partition, &device.0)] {
        let refused = world.assay(&["storage", "read", one, other, "--dry-run"]).failed_with(2);
        let says = format!("the targets {one} and {other} overlap");
        assert!(refused.err.contains(&says), "{refused:?}");
    }
    assert!(Command::new("delpart").args([&device.0, "1"]).status().unwrap().success());
}

/// Writes to a loop device go to the file or device behind it.
#[test]
fn rejects_loop_device_with_its_backing_file() {
    let test = "rejects_loop_device_with_its_backing_file";
    let world = World::new();
    let Some(device) = LoopDevice::over_new_file(&world.path("disk"), test) else { return };
    let file = world.path("disk").display().to_string();
    let Some(second) = LoopDevice::over_existing(&world.path("disk"), test) else { return };
    let Some(upper) = LoopDevice::over_existing(device.0.as_ref(), test) else { return };
    for [one, other] in [
        [&device.0, &file],
        [&file, &device.0],
        [&device.0, &second.0],
        [&upper.0, &device.0],
        [&upper.0, &file],
    ] {
        let refused = world.assay(&["storage", "read", one, other, "--dry-run"]).failed_with(2);
        let says = format!("the targets {one} and {other} overlap");
        assert!(refused.err.contains(&says), "{refused:?}");
    }
    world.assay(&["storage", "read", &device.0, "another", "--dry-run"]).succeeded();
}

/// The engine is chosen by a contest in memory and on NFS: one contest for all cases, reported
/// once.
#[test]
fn engine_contest_runs_once_per_run() {
    let test = "engine_contest_runs_once_per_run";
    let world = World::in_memory();
    let measure = |operation: &str, bytes: &str| {
        format!(
            "[[measure]]\nbenchmark = \"storage\"\noperation = \"{operation}\"\npattern = \"random\"\nbs = \"{bytes}\"\n"
        )
    };
    let suite = format!(
        "name = \"three\"\nbudget = \"3s\"\n{}{}{}depth = 1\nname = \"one\"\n",
        measure("write", "64KiB"),
        measure("read", "4KiB"),
        measure("read", "4KiB")
    );
    world.write("three.toml", &suite);
    world.write("file", "");
    let document = world.json(&[
        "run",
        "three.toml",
        "--target",
        "file",
        "--size",
        "16MiB",
        "--destroy-data=file",
        "--json",
    ]);
    let reasons: Vec<_> = results(&document, "storage", "rate")
        .iter()
        .map(|it| it["parameters"]["engine_reason"].clone())
        .collect();
    if reasons[0]["id"] != "contest" {
        eprintln!("SKIPPED {test}: no contest is needed in the folder for tests");
        return;
    }
    assert!(reasons.len() == 3 && reasons.iter().all(|it| *it == reasons[0]), "{reasons:?}");
    let page = world.assay(&["show"]).succeeded().out;
    assert_eq!(page.matches("Engine: ").count(), 1, "{page}");
}

/// Plans also reject targets that direct I/O or the safety of data forbids, and name the line of
/// the file.
#[test]
fn job_file_errors_name_the_line() {
    let world = World::new();
    std::fs::write(world.path("foreign"), vec![7; 1 << 20]).unwrap();
    let job = |lines: &str| format!("[global]\nfilename=foreign\n[first]\n{lines}");
    let direct = "size=1m\nrw=read\ndirect=1\n";
    world.write("odd.fio", &job(&format!("{direct}bs=1000\n")));
    world.write(
        "global.fio",
        &job(&format!(
            "{direct}bs=4k\n[second]\nstonewall\nrw=read\nsize=1m\ndirect=1\nbs=5000\n"
        )),
    );
    world.write("write.fio", &job("rw=read\nsize=1m\n[second]\nrw=write\nsize=1m\n"));
    let vdbench = "* a comment\nsd=default,openflags=o_direct\nsd=sd1,lun=foreign\n\
                   wd=wd1,sd=sd1,rdpct=0,xfersize=4k\nrd=rd1,wd=wd1,iorate=9,elapsed=2,interval=1\n";
    world.write("write.vdb", vdbench);
    world.write("script.ior", "IOR START\ntestFile=foreign\nblockSize=1m\ntransferSize=1m\nwriteFile=1\nreadFile=0\nRUN\nIOR STOP\n");
    for (words, line, says, code) in [
        (&["fio", "odd.fio"][..], "odd.fio:7", "not a multiple of", 4),
        (&["fio", "odd.fio"], "odd.fio:7", "phase first cannot be carried out", 4),
        (&["fio", "write.fio"], "write.fio:2", "--destroy-data=", 2),
        (&["vdbench", "-f", "write.vdb"], "write.vdb:3", "--destroy-data=", 2),
        (&["ior", "-f", "script.ior"], "script.ior:2", "--destroy-data=", 2),
    ] {
        let dry = match words[0] {
            "fio" => "--dry-run",
            _ => "--dryRun",
        };
        // Vdbench's -s simulates anywhere, and checks no target.
        let is_vdbench = words[0] == "vdbench";
        for more in [&[][..], &[dry]].into_iter().take(if is_vdbench { 1 } else { 2 }) {
            let all = [words, more].concat();
            let refused = world.assay(&all).failed_with(code);
            assert!(
                refused.err.contains(line) && refused.err.contains(says),
                "{all:?}: {refused:?}"
            );
        }
    }
    world.write("rate.fio", &job("rw=randread\nsize=1m\nbs=4k\nrate_iops=10000000000\n"));
    let refused = world.assay(&["fio", "rate.fio", "--dry-run"]).failed_with(4);
    assert!(refused.err.contains("rate.fio:7") && refused.err.contains("1e10"), "{refused:?}");
    // The possible job runs; the other one fails at its turn.
    let refused = world.assay(&["fio", "global.fio", "--dry-run"]).failed_with(4);
    assert!(refused.err.contains("global.fio:13"), "{refused:?}");
    check_tree_errors_name_anchor(&world);
    for (words, place) in [
        (&["ior", "-w", "-b", "1x", "-o", "f"][..], "command line:1:4"),
        (&["ior", "-w", "-Q"], "command line:1:4"),
        (&["ior", "-w", "-o", "foreign"], "command line:1:4"),
        (&["ior", "-b", "1m", "-t", "300k"], "command line:1:1"),
        (&["ior", "-f", "none"], "command line:1:1"),
        (&["ior", "-f", "bad.ior"], "bad.ior:2"),
    ] {
        world.write("bad.ior", "IOR START\ntranferSize=1m\nRUN\n");
        let refused = world.assay(words).failed_with(2);
        assert!(refused.err.contains(place), "{words:?}: {refused:?}");
    }
    let (transfer, block) = (["-t", "1000"], ["-b", "10000"]);
    let odd =
        [&["ior", "-r", "-o", "foreign", "--posix.odirect", "--dryRun"][..], &transfer, &block];
    let refused = world.assay(&odd.concat()).failed_with(4);
    assert!(refused.err.contains("not a multiple of"), "{refused:?}");
    assert_eq!(std::fs::read(world.path("foreign")).unwrap(), vec![7; 1 << 20]);
    let runs = world.json(&["list", "--all", "--json"]);
    assert_eq!(runs["runs"].as_array().unwrap().len(), 0, "{runs}");
}

fn check_tree_errors_name_anchor(world: &World) {
    std::fs::create_dir_all(world.path("full")).unwrap();
    world.write("full/precious", "x");
    for (anchor, size, says, code) in [
        ("full", "4k", "--destroy-data=", 2),
        ("nothing/tree", "4k", "there is no folder", 2),
        ("foreign", "4k", "is not a folder", 2),
        ("/proc/tree", "4k", "nothing is made below /proc", 2),
        ("new", "9999t", "no room", 4),
    ] {
        let text = format!(
            "* a comment\nfsd=fsd1,depth=1,width=1,files=2,size={size},anchor={anchor}\n\
             fwd=fwd1,fsd=fsd1,operation=read\n\
             rd=rd1,fwd=fwd1,fwdrate=9,format=yes,elapsed=2,interval=1\n"
        );
        world.write("trees.vdb", &text);
        world.assay(&["vdbench", "-f", "trees.vdb", "-s"]).succeeded();
        let refused = world.assay(&["vdbench", "-f", "trees.vdb"]).failed_with(code);
        let at = text.lines().nth(1).and_then(|line| line.find("anchor=")).unwrap();
        let place = format!("trees.vdb:2:{}", at + "anchor=".len() + 1);
        assert!(
            refused.err.contains(&place) && refused.err.contains(says),
            "{anchor}: {place}: {refused:?}"
        );
    }
}

/// IOR reads a complete file or none.
#[test]
fn ior_rejects_short_files() {
    let world = World::new();
    std::fs::write(world.path("short"), vec![7; 5000]).unwrap();
    for (file, says) in [
        ("short", "short holds 5000 B, and 1 MiB are to be read"),
        ("none", "there is no file none to read"),
    ] {
        for more in [&[][..], &["--dryRun"]] {
            let words = [&["ior", "-r", "-t", "1k", "-b", "1m", "-o", file][..], more].concat();
            let refused = world.assay(&words).failed_with(4);
            assert!(refused.err.contains(says), "{words:?}: {refused:?}");
        }
    }
    // The file that an earlier test of the script leaves exists by then.
    world.write("script", "IOR START\ntestFile=made\nblockSize=64k\ntransferSize=64k\nwriteFile=1\nreadFile=0\nkeepFile=1\nRUN\nwriteFile=0\nreadFile=1\nRUN\nIOR STOP\n");
    world.assay(&["ior", "-f", "script", "--dryRun"]).succeeded();
    world.assay(&["ior", "-f", "script"]).succeeded();
}

/// A folder in memory is not storage: reports and tools warn about it.
#[test]
fn target_in_memory_adds_warning() {
    let test = "target_in_memory_adds_warning";
    let world = World::in_memory();
    if !world.path("").starts_with("/dev/shm") {
        eprintln!("SKIPPED {test}: there is no folder in memory");
        return;
    }
    let short = ["--size", "1MiB", "--for", "200ms"];
    let has_doubt = |document: &serde_json::Value, metric: &str, benchmark: &str| {
        let results = results(document, benchmark, metric);
        let warnings = results[0]["warnings"].as_array().unwrap();
        warnings.iter().any(|it| it["id"] == "target-in-memory")
    };
    let document = world.json(&[&["storage", "read", "file", "--json"], &short[..]].concat());
    assert!(has_doubt(&document, "rate", "storage"), "{document}");
    let files = ["storage", "files", ".", "--files", "5", "--operations", "create", "--json"];
    let document = world.json(&[&files[..], &["--budget", "shortest"]].concat());
    assert!(has_doubt(&document, "rate", "storage.files"), "{document}");
    let read = world.assay(&["fio", "--name=a", "--rw=write", "--size=1m"]).succeeded();
    assert!(read.err.contains("no storage device is measured"), "{read:?}");
}

#[test]
fn rejects_file_as_tree_folder() {
    let world = World::new();
    world.write("file", "text");
    for more in [&[][..], &["--dry-run"]] {
        let refused = world.assay(&[&["storage", "files", "file"][..], more].concat());
        assert!(refused.failed_with(2).err.contains("file is not a folder"), "{more:?}");
    }
}

/// Memory has no queues that could be polled; the error comes before anything is written.
#[test]
fn polling_needs_device_with_poll_queues() {
    let test = "polling_needs_device_with_poll_queues";
    let world = World::in_memory();
    if !world.path("").starts_with("/dev/shm") {
        eprintln!("SKIPPED {test}: there is no folder in memory");
        return;
    }
    let polled = ["--engine", "io_uring-polled", "--size", "1MiB", "--for", "200ms"];
    world.write("odd.fio", "[a]\nrw=read\nsize=1m\nioengine=io_uring\nhipri\ndirect=1\n");
    world.write("page.fio", "[a]\nrw=read\nsize=1m\nioengine=io_uring\nhipri\n");
    world.write(
        "sync.fio",
        "[a]\nrw=write\nsize=1m\nioengine=io_uring\nhipri\ndirect=1\nfsync=1\n",
    );
    let queues = "its device has no queues that can be polled (/sys/dev/block/0:";
    for (arguments, expected) in [
        (&[&["storage", "read", "file"], &polled[..]].concat()[..], queues),
        (&[&["storage", "read", "file", "--dry-run"], &polled[..]].concat()[..], queues),
        (&["fio", "odd.fio"], queues),
        (&["fio", "page.fio"], "polling requires direct I/O"),
        (
            &["fio", "sync.fio"],
            "stream `a.0`: fsync does not support polling; omit it or use the engine io_uring",
        ),
    ] {
        let outcome = world.assay(arguments).failed_with(4);
        assert!(outcome.err.contains(expected), "{arguments:?}: {}", outcome.err);
        if arguments[0] == "fio" {
            assert!(outcome.err.contains(&format!("{}:5:1]", arguments[1])), "{}", outcome.err);
        }
        assert!(!world.path("file").exists() && !world.path("a.0.0").exists(), "{arguments:?}");
    }
}
