//! Data safety: unmounted volumes, and devices and files that change between check and use.
//!
//! Tests that need the kernel's help are skipped by name where it is refused.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::program::{Outcome, World, files_below, results};
use crate::storage::LoopDevice;

/// Returns an unused name below a folder for volumes.
fn unmounted_path() -> &'static str {
    "/srv/assay-nobody-mounts-this"
}

#[test]
fn every_command_rejects_unmounted_volume() {
    let world = World::new();
    let target = unmounted_path();
    world.write("job", &format!("[a]\nrw=write\nsize=1m\nfilename={target}\n"));
    let vdbench = format!(
        "sd=sd1,lun={target},size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=9,elapsed=2,interval=1\n"
    );
    world.write("parameters", &vdbench);
    let trees = format!(
        "fsd=fsd1,anchor={target},depth=1,width=1,files=1,size=4k\nfwd=fwd1,fsd=fsd1,operation=read\n\
         rd=rd1,fwd=fwd1,fwdrate=9,format=yes,elapsed=2,interval=1\n"
    );
    world.write("trees", &trees);
    for arguments in [
        &["storage", "write", target, "--size", "1MiB", "--for", "1s"][..],
        &["storage", "read", target, "--size", "1MiB", "--dry-run"],
        &["run", "storage-local", "--target", target, "--dry-run"],
        &["run", "storage-files", "--target", target, "--dry-run"],
        &["run", "storage-files", "--target", target],
        &["storage", "files", target],
        &["fio", "job"],
        &["fio", "job", "--dry-run"],
        &["ior", "-b", "1m", "-t", "1m", "-o", target],
        &["ior", "-b", "1m", "-t", "1m", "--dryRun", "-o", target],
        &["vdbench", "-f", "parameters"],
        &["vdbench", "-f", "trees"],
    ] {
        let refused = world.assay(arguments).failed_with(2);
        let says = ["nothing is mounted on /srv", "--target-on-root"];
        assert!(says.iter().all(|it| refused.err.contains(it)), "{arguments:?}: {refused:?}");
        assert!(!Path::new(target).exists(), "{arguments:?}");
    }
    let plan = ["storage", "read", target, "--size", "1MiB", "--dry-run", "--target-on-root"];
    world.assay(&plan).succeeded();
}

/// A new file directly in `/` is probably an unmounted volume. The error has three lines: error,
/// reason and remedy.
#[test]
fn rejects_new_file_in_root_folder() {
    let target = "/assay-nobody-mounts-this";
    let world = World::new();
    let refused = world.assay(&["storage", "read", target]).failed_with(2);
    let begins = [
        "error: there is no /assay-nobody-mounts-this, and it would be a file directly in /",
        "  why: ",
        "  help: ",
    ];
    let lines: Vec<&str> = refused.err.lines().collect();
    assert!(lines.len() == 3, "{refused:?}");
    assert!(lines.iter().zip(begins).all(|(line, it)| line.starts_with(it)), "{refused:?}");
    assert!(!Path::new(target).exists());
}

#[test]
fn file_system_and_device_are_reported_first_and_stored() {
    let world = World::new();
    let short = ["--size", "1MiB", "--for", "300ms", "--buffered", "--json"];
    let run = world.assay(&[&["storage", "read", "file"][..], &short].concat()).succeeded();
    let first = run.err.lines().next().unwrap_or_default();
    assert!(first.contains("/file: ") && first.contains(", mounted on /"), "{first}");
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let parameters = &results(&document, "storage", "rate")[0]["parameters"];
    let kind = parameters["file_system"].as_str().unwrap();
    let device = parameters["device"].as_str().unwrap();
    assert!(first.contains(&format!("{kind} on {device}")), "{first}: {parameters}");
    assert_eq!(parameters["target_bytes"], 1 << 20, "{parameters}");
    world.write("job", "[a]\nrw=write\nsize=1m\nfilename=f\n");
    let run = world.assay(&["fio", "job"]).succeeded();
    assert!(run.err.lines().next().unwrap_or_default().contains(", mounted on /"), "{run:?}");
    let document = world.json(&["show", "--json"]);
    let parameters = &results(&document, "storage", "rate")[0]["parameters"];
    assert_eq!(parameters["file_system"], kind);
    assert_eq!(parameters["target_bytes"], 1 << 20, "{parameters}");
}

const PRECIOUS: &str = "what somebody would miss";
const SHORT_OPTIONS: &[&str] =
    &["--size", "1MiB", "--for", "200ms", "--buffered", "--depth", "4"];

fn create_kept_file(world: &World, name: &str) {
    world.assay(&[&["storage", "read", name, "--keep"], SHORT_OPTIONS].concat()).succeeded();
}

fn clean(world: &World) -> Outcome {
    world.assay(&["storage", "clean"])
}

#[test]
fn foreign_data_in_kept_file_is_preserved() {
    let world = World::new();
    create_kept_file(&world, "file");
    // Overwrites as `cp` does: same inode, birth time and attributes, and here even the same length.
    let precious = vec![7; 1 << 20];
    std::fs::write(world.path("file"), &precious).unwrap();
    let refused =
        world.assay(&[&["storage", "write", "file"], SHORT_OPTIONS].concat()).failed_with(2);
    assert!(refused.err.contains("--destroy-data="), "{refused:?}");
    // The record stays until the user gives it up.
    for _ in 0..2 {
        let failed = clean(&world).failed_with(4);
        assert!(failed.out.contains("kept: another program has changed it"), "{failed:?}");
        assert!(failed.err.contains("storage clean --forget"), "{failed:?}");
    }
    let forgotten = world.assay(&["storage", "clean", "--forget"]).succeeded();
    assert!(forgotten.out.contains("its record is removed"), "{forgotten:?}");
    assert!(clean(&world).succeeded().out.contains("no files"));
    assert_eq!(std::fs::read(world.path("file")).unwrap(), precious);
}

#[test]
fn clean_ignores_forged_records() {
    let world = World::new();
    create_kept_file(&world, "file");
    let precious = world.write("precious", PRECIOUS);
    let records = world.path("assay/created-files");
    let is_record = |path: &std::path::PathBuf| path.extension() == Some("json".as_ref());
    let record = files_below(&records).into_iter().find(is_record).unwrap();
    let mut edited: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    let found = std::os::linux::fs::MetadataExt::st_ino(&precious.metadata().unwrap());
    edited["path"] = precious.to_str().unwrap().into();
    edited["inode"] = found.into();
    edited["born_ns"] = Value::Null;
    std::fs::write(&record, edited.to_string()).unwrap();
    assert!(Command::new("mkfifo").arg(records.join("pipe.json")).status().unwrap().success());
    let reported = clean(&world).succeeded().out;
    assert_eq!(reported.matches("is not valid").count(), 2, "{reported}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), PRECIOUS);
    assert!(world.path("file").exists());
}

/// Runs Vdbench with two writing runs and a command between them.
fn vdbench_two_runs(world: &World, lun: &str, command: &str) -> Outcome {
    let flags = if lun.starts_with("/dev/") { ",openflags=o_direct" } else { "" };
    let text = format!(
        "sd=sd1,lun={lun},size=1m{flags}\nwd=wd1,sd=sd1,rdpct=0,xfersize=4k,seekpct=random\n\
         rd=default,iorate=100,elapsed=2,interval=1\nrd=rd1,wd=wd1\nrd=rd2,wd=wd1,startcmd=\"{command}\"\n"
    );
    world.write("parameters", &text);
    world.assay(&["vdbench", "-f", "parameters", "--destroy-data", lun])
}

#[test]
fn symlink_created_between_runs_is_not_followed() {
    let world = World::new();
    let precious = world.write("precious", &PRECIOUS.repeat(50_000));
    let failed = vdbench_two_runs(&world, "file", "mv file aside; ln -s precious file");
    assert_eq!(failed.code, 4, "{failed:?}");
    assert!(failed.err.contains("was replaced"), "{failed:?}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), PRECIOUS.repeat(50_000));
}

#[test]
fn device_cannot_be_mounted_while_written() {
    let test = "device_cannot_be_mounted_while_written";
    let world = World::new();
    let Some(device) = LoopDevice::over_new_file(&world.path("disk"), test) else { return };
    let made = Command::new("mkfs.ext4").args(["-q", &device.0]).status();
    if !made.is_ok_and(|made| made.success()) {
        eprintln!("SKIPPED {test}: there is no mkfs.ext4");
        return;
    }
    let folder = world.path("mounted");
    std::fs::create_dir(&folder).unwrap();
    // Creates a new file system on the file behind the device, as the first run has overwritten the
    // old one.
    let disk = world.path("disk");
    let make =
        format!("mkfs.ext4 -qF {} 4M; mount {} {}", disk.display(), device.0, folder.display());
    let failed = vdbench_two_runs(&world, &device.0, &make);
    assert_eq!(failed.code, 4, "{failed:?}");
    assert!(failed.err.contains("the command 'mkfs.ext4"), "{failed:?}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(folder.to_str().unwrap()), "{mounts}");
}

#[test]
fn backing_file_of_loop_device_is_in_use() {
    let test = "backing_file_of_loop_device_is_in_use";
    let world = World::new();
    let Some(device) = LoopDevice::over_new_file(&world.path("disk"), test) else { return };
    let write = |target: &str| {
        let arguments =
            ["storage", "write", target, "--for", "200ms", "--destroy-data", target];
        world.assay(&arguments).failed_with(2)
    };
    let refused = write("disk");
    assert!(refused.err.contains(&format!("it backs {}", device.0)), "{refused:?}");
    let Some(upper) = LoopDevice::over_existing(device.0.as_ref(), test) else { return };
    let refused = write(&device.0);
    assert!(refused.err.contains(&format!("it backs {}", upper.0)), "{refused:?}");
}

/// Any device over the same sectors could destroy a file system.
#[test]
fn mounted_file_system_protects_all_devices_over_it() {
    let test = "mounted_file_system_protects_all_devices_over_it";
    let world = World::new();
    let Some(device) = LoopDevice::over_new_file(&world.path("disk"), test) else { return };
    let made = Command::new("mkfs.ext4").args(["-q", &device.0]).status();
    let folder = world.path("mounted");
    std::fs::create_dir(&folder).unwrap();
    let mounted = Command::new("mount").arg(&device.0).arg(&folder).status();
    if ![made, mounted].iter().all(|it| it.as_ref().is_ok_and(|it| it.success())) {
        eprintln!("SKIPPED {test}: no file system can be made and mounted here");
        return;
    }
    let write = |target: &str| {
        let plan = ["storage", "write", target, "--dry-run", "--destroy-data", target];
        let refused = world.assay(&plan).failed_with(2);
        let says = ["is never written", folder.to_str().unwrap()];
        assert!(says.iter().all(|it| refused.err.contains(it)), "{refused:?}");
    };
    let Some(second) = LoopDevice::over_existing(&world.path("disk"), test) else { return };
    write(&second.0);
    drop(second);
    let Some(upper) = LoopDevice::over_existing(device.0.as_ref(), test) else { return };
    write(&upper.0);
}

#[test]
fn copied_tree_is_foreign_and_symlinks_are_not_followed() {
    let world = World::new();
    let parameters = |anchor: &str, operation: &str, format: &str| {
        let text = format!(
            "fsd=fsd1,anchor={anchor},depth=1,width=1,files=2,size=4k\n\
             fwd=fwd1,fsd=fsd1,operation={operation},threads=1\n\
             rd=rd1,fwd=fwd1,fwdrate=20,format={format},elapsed=2,interval=1\n"
        );
        world.write("parameters", &text);
        world.assay(&["vdbench", "-f", "parameters"])
    };
    parameters("tree", "read", "yes").succeeded();
    let copy =
        Command::new("cp").args(["-a", "tree", "copy"]).current_dir(world.path(".")).status();
    assert!(copy.unwrap().success());
    let refused = parameters("copy", "write", "no").failed_with(2);
    assert!(refused.err.contains("--destroy-data"), "{refused:?}");
    let file = |tree: &str| world.path(tree).join("vdb.1_1.dir/vdb_f0001.file");
    assert!(file("tree").exists() && file("copy").exists());
    let precious = world.write("precious", &"x".repeat(4096));
    std::fs::remove_file(file("tree")).unwrap();
    symlink(&precious, file("tree")).unwrap();
    let refused = parameters("tree", "write", "no").failed_with(4);
    assert!(refused.err.contains("is a link"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "x".repeat(4096));
    assert!(clean(&world).succeeded().out.contains("removed"));
    assert!(file("copy").exists() && file("tree").is_symlink());
}

/// Hard links have no mark: one file has two names.
#[test]
fn rejects_writes_to_hard_linked_files() {
    let world = World::new();
    let files =
        ["storage", "files", "data", "--files", "3", "--size", "4KiB", "--for", "300ms"];
    let files = |more: &[&str]| world.assay(&[&files[..], &["--keep"], more].concat());
    std::fs::create_dir(world.path("data")).unwrap();
    files(&["--operations", "create"]).succeeded();
    let precious = world.write("precious", &"x".repeat(4096));
    let is_precious = || std::fs::read_to_string(&precious).unwrap() == "x".repeat(4096);
    let all = files_below(&world.path("data"));
    let file = all.iter().find(|it| it.ends_with("vdb_f0002.file")).unwrap();
    std::fs::remove_file(file).unwrap();
    std::fs::hard_link(&precious, file).unwrap();
    for more in [&["--operations", "write"][..], &["--operations", "write", "--dry-run"]] {
        let refused = files(more).failed_with(2);
        let says = ["vdb_f0002.file", "it has 2 hard links", "help: replace it by a copy"];
        assert!(says.iter().all(|it| refused.err.contains(it)), "{refused:?}");
    }
    files(&["--operations", "read"]).succeeded();
    assert!(is_precious());
    // Deleting and recreating a tree leaves the other name intact.
    files(&["--operations", "delete"]).succeeded();
    files(&["--operations", "create,write"]).succeeded();
    assert!(is_precious());
    // A single file, in every language; `--destroy-data` for one name does not permit writes
    // through others.
    let kept = world.write("kept", &"y".repeat(1 << 20));
    std::fs::hard_link(&kept, world.path("link")).unwrap();
    let name = ["--destroy-data", "link"];
    world.write("job", "[a]\nrw=write\nbs=4k\nsize=1m\nfilename=link\n");
    world.write(
        "parameters",
        "sd=sd1,lun=link,size=1m\nwd=wd1,sd=sd1,rdpct=0,xfersize=4k\n\
         rd=rd1,wd=wd1,iorate=9,elapsed=2,interval=1\n",
    );
    for run in [
        &[&["storage", "write", "link"], SHORT_OPTIONS].concat()[..],
        &["fio", "job"],
        &["ior", "-w", "-b", "1m", "-t", "1m", "-o", "link"],
        &["vdbench", "-f", "parameters"],
    ] {
        let refused = world.assay(&[run, &name].concat());
        assert!(refused.code != 0, "{run:?}: {refused:?}");
        assert!(refused.err.contains("it has 2 hard links"), "{run:?}: {refused:?}");
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "y".repeat(1 << 20), "{run:?}");
    }
    world.assay(&[&["storage", "read", "link"], SHORT_OPTIONS].concat()).succeeded();
}

/// The whole tree, as `cp -al` copies it: permission to overwrite the tree does not extend to the
/// copy.
#[test]
fn hard_linked_backup_is_not_modified() {
    let world = World::new();
    let parameters = |operation: &str, format: &str| {
        let text = format!(
            "fsd=fsd1,anchor=tree,depth=1,width=1,files=2,size=4k\n\
             fwd=fwd1,fsd=fsd1,operation={operation},threads=1\n\
             rd=rd1,fwd=fwd1,fwdrate=20,format={format},elapsed=2,interval=1\n"
        );
        world.write("parameters", &text);
        world.assay(&["vdbench", "-f", "parameters", "--destroy-data", "tree"])
    };
    parameters("read", "yes").succeeded();
    let mut copied = Command::new("cp");
    copied.args(["-al", "tree", "copy"]).current_dir(world.path("."));
    assert!(copied.status().unwrap().success());
    let of_copy = || std::fs::read(world.path("copy/vdb.1_1.dir/vdb_f0001.file")).unwrap();
    let before = of_copy();
    let refused = parameters("write", "no").failed_with(2);
    assert!(refused.err.contains("it has 2 hard links"), "{refused:?}");
    assert!(of_copy() == before);
    // A new tree replaces the files, so that nothing is written to the old ones.
    parameters("write", "yes").succeeded();
    assert!(of_copy() == before);
}

/// Runs a script as root of a separate mount namespace; `None` if that is not permitted.
fn run_with_mount(world: &World, test: &str, mount: &str, script: &str) -> Option<Outcome> {
    let script = format!("{mount} || exit 99\n{script}");
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--map-root-user", "sh", "-c", &script]);
    unshare.current_dir(world.path("")).env("XDG_DATA_HOME", world.path(""));
    unshare.env("ASSAY", env!("CARGO_BIN_EXE_assay"));
    let Ok(output) = unshare.output() else {
        eprintln!("SKIPPED {test}: there is no unshare");
        return None;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code().unwrap_or(-1);
    if code == 99 || err.contains("unshare failed") {
        eprintln!("SKIPPED {test}: nothing can be mounted: {err}");
        return None;
    }
    Some(Outcome { code, out, err })
}

/// A bind mount has the same device number as the file system it is mounted on.
#[test]
fn mounts_inside_a_tree_are_neither_written_nor_removed() {
    const TEST: &str = "mounts_inside_a_tree_are_neither_written_nor_removed";
    let world = World::new();
    std::fs::create_dir(world.path("data")).unwrap();
    let files = "storage files data --width 2 --files 2 --size 4KiB --for 300ms --keep";
    let create: Vec<&str> = files.split(' ').chain(["--operations", "create"]).collect();
    world.assay(&create).succeeded();
    let tree = world.path("data/assay-files");
    let before = files_below(&tree);
    let theirs = world.path("theirs/vdb.2_1.dir");
    std::fs::create_dir_all(&theirs).unwrap();
    for folder in ["theirs", "theirs/vdb.2_1.dir"] {
        for number in 1..=2 {
            world.write(&format!("{folder}/vdb_f000{number}.file"), &"x".repeat(4096));
        }
    }
    let of_theirs = files_below(&world.path("theirs"));
    let is_same = || {
        let is_precious = |it: &std::path::PathBuf| {
            std::fs::read_to_string(it).is_ok_and(|it| it == "x".repeat(4096))
        };
        of_theirs.len() == 4 && of_theirs.iter().all(is_precious)
    };
    let bind = "mount --bind theirs data/assay-files/vdb.1_1.dir";
    let says = "assay-files/vdb.1_1.dir is mounted inside";
    let runs = ["write", "delete", "create"].map(|it| format!("{files} --operations {it}"));
    for line in runs.iter().map(String::as_str).chain(["storage clean"]) {
        let script = format!("\"$ASSAY\" {line}");
        let Some(refused) = run_with_mount(&world, TEST, bind, &script) else { return };
        assert!(refused.code == 2 || refused.code == 4, "{line}: {refused:?}");
        assert!(refused.err.contains(says), "{line}: {refused:?}");
        assert!(refused.err.contains("umount"), "{line}: {refused:?}");
        assert!(is_same(), "{line}: {refused:?}");
        assert_eq!(files_below(&tree), before, "{line}: nothing is removed");
    }
    let file = before.iter().find(|it| it.ends_with("vdb_f0002.file")).unwrap();
    let bind = format!("mount --bind theirs/vdb_f0001.file {}", file.display());
    let refused = run_with_mount(&world, TEST, &bind, "\"$ASSAY\" storage clean").unwrap();
    refused.failed_with(4);
    assert!(is_same() && files_below(&tree) == before);
    // A mount with any name inside a directory of the tree, and a file of others.
    let theirs = tree.join("vdb.1_1.dir").join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    let bind = format!("mount --bind theirs {}", theirs.display());
    let refused = run_with_mount(&world, TEST, &bind, "\"$ASSAY\" storage clean").unwrap();
    assert!(refused.failed_with(4).err.contains("theirs is mounted inside"));
    assert!(is_same() && before.iter().all(|it| it.exists()));
    let cleaned = clean(&world).succeeded();
    assert!(cleaned.out.contains("vdb.1_1.dir kept: it contains files"), "{cleaned:?}");
    assert!(is_same() && theirs.exists() && !tree.join("vdb.1_2.dir").exists());
}

#[test]
fn removing_a_run_keeps_foreign_files() {
    let world = World::new();
    let null = ["storage", "read", "--engine", "null", "--for", "300ms", "--quiet"];
    let ids = || {
        let listed = world.json(&["list", "--json", "--all"]);
        let ids = listed["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str());
        ids.map(|id| id.unwrap().to_owned()).collect::<Vec<_>>()
    };
    world.assay(&null).succeeded();
    world.assay(&null).succeeded();
    let both = ids();
    let [second, first] = [0, 1].map(|nth| both[nth].as_str());
    let run = |id: &str| world.path("assay/runs").join(id);
    let theirs = run(first).join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::create_dir(world.path("other")).unwrap();
    let precious = world.write("other/precious", PRECIOUS);
    let before = files_below(&world.path("assay"));
    // A mount inside one of two runs prevents the removal of both, and of the mounted files.
    let test = "removing_a_run_keeps_foreign_files";
    let events = run(first).join("events.jsonl").display().to_string();
    for (what, place) in [
        ("other", theirs.display().to_string()),
        ("other", run(first).display().to_string()),
        ("other/precious", events),
    ] {
        let script = format!("\"$ASSAY\" rm {second} {first}");
        let bind = format!("mount --bind {what} {place}");
        let Some(refused) = run_with_mount(&world, test, &bind, &script) else { break };
        let refused = refused.failed_with(4);
        assert!(refused.err.contains(&format!("why: {place} is a mount point")), "{refused:?}");
        assert!(refused.err.contains("umount"), "{refused:?}");
        assert_eq!(files_below(&world.path("assay")), before, "{place}");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), PRECIOUS);
    }
    // Foreign files stay and are listed.
    let note = theirs.join("note");
    std::fs::write(&note, PRECIOUS).unwrap();
    let planned = world.assay(&["rm", first, "--dry-run"]).failed_with(4);
    assert!(planned.out.contains("would be removed"), "{planned:?}");
    let removed = world.assay(&["rm", second, first]).failed_with(4);
    for line in [
        format!("{first} removed"),
        format!("{second} removed"),
        format!("{} stays", theirs.display()),
    ] {
        assert!(removed.out.lines().any(|it| it == line), "{line}: {removed:?}");
    }
    let says = ["error: the folder ", "  why: assay did not write", "  help: move"];
    assert!(says.iter().all(|it| removed.err.contains(it)), "{removed:?}");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), PRECIOUS);
    assert!(!run(first).join("events.jsonl").exists() && !run(second).exists());
    let again = world.assay(&["rm", first]).failed_with(4);
    assert!(again.out.starts_with(&format!("{first} is no run")), "{again:?}");
    std::fs::remove_dir_all(&theirs).unwrap();
    world.assay(&["rm", first]).succeeded();
    assert!(!run(first).exists());
}

/// Logs and pages replace those of an earlier run, but no other file of the same name.
#[test]
fn logs_and_pages_do_not_replace_foreign_files() {
    let world = World::new();
    world.write("job", "[a]\nrw=read\nsize=1m\nfilename=f\nwrite_bw_log=a\n");
    let text =
        "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=9,elapsed=2,interval=1\n";
    world.write("parameters", text);
    for (words, path, code) in [
        (&["fio", "job"][..], "a_bw.1.log", 2),
        (&["vdbench", "-f", "parameters"], "output/summary.html", 4),
    ] {
        world.assay(words).succeeded();
        world.assay(words).succeeded();
        let precious = world.write(path, PRECIOUS);
        let refused = world.assay(words).failed_with(code);
        assert!(refused.err.contains("exists already"), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), PRECIOUS);
    }
}

#[test]
fn output_is_not_written_through_symlinks() {
    let world = World::new();
    let precious = world.write("precious", PRECIOUS);
    let text =
        "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=9,elapsed=2,interval=1\n";
    world.write("parameters", text);
    std::fs::create_dir(world.path("output")).unwrap();
    symlink(&precious, world.path("output/summary.html")).unwrap();
    let refused = world.assay(&["vdbench", "-f", "parameters"]).failed_with(4);
    assert!(refused.err.contains("the path is a symbolic link"), "{refused:?}");
    symlink(world.path("output"), world.path("linked")).unwrap();
    let refused = world.assay(&["vdbench", "-f", "parameters", "-o", "linked"]).failed_with(4);
    assert!(refused.err.contains("the path is a symbolic link"), "{refused:?}");
    symlink(&precious, world.path("a_bw.1.log")).unwrap();
    world.write("job", "[a]\nrw=read\nsize=1m\nfilename=f\nwrite_bw_log=a\n");
    let refused = world.assay(&["fio", "job"]).failed_with(4);
    assert!(refused.err.contains("the path is a symbolic link"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), PRECIOUS);
}
