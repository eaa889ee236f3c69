//! Data safety: unmounted volumes, and devices and files that change between check and use.
//!
//! Tests that need the kernel's help are skipped by name where it is refused.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::program::{Outcome, World, files_below, results};
use crate::storage::Loop;

/// Returns an unused name below a folder for volumes.
fn unmounted() -> &'static str {
    "/srv/assay-nobody-mounts-this"
}

#[test]
fn every_door_misses_a_volume_that_is_not_mounted() {
    let world = World::new();
    let target = unmounted();
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
        &["vdbench", "-f", "parameters", "-s"],
        &["vdbench", "-f", "trees"],
        &["vdbench", "-f", "trees", "-s"],
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
fn a_new_name_right_at_the_root_is_no_file() {
    let target = "/assay-nobody-mounts-this";
    let world = World::new();
    let refused = world.assay(&["storage", "read", target]).failed_with(2);
    let begins = ["error: there is no /assay-nobody", "  why: ", "  help: "];
    let lines: Vec<&str> = refused.err.lines().collect();
    assert!(lines.len() == 3, "{refused:?}");
    assert!(lines.iter().zip(begins).all(|(line, it)| line.starts_with(it)), "{refused:?}");
    assert!(!Path::new(target).exists());
}

#[test]
fn the_file_system_and_its_device_are_reported_first_and_stored() {
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
const SHORT: &[&str] = &["--size", "1MiB", "--for", "200ms", "--buffered", "--depth", "4"];

fn keep(world: &World, name: &str) {
    world.assay(&[&["storage", "read", name, "--keep"], SHORT].concat()).succeeded();
}

fn clean(world: &World) -> Outcome {
    world.assay(&["storage", "clean"])
}

#[test]
fn what_was_copied_over_a_kept_file_is_neither_overwritten_nor_removed() {
    let world = World::new();
    keep(&world, "file");
    // Overwrites as `cp` does: same inode, birth time and attributes, and here even the same length.
    let precious = vec![7; 1 << 20];
    std::fs::write(world.path("file"), &precious).unwrap();
    let refused = world.assay(&[&["storage", "write", "file"], SHORT].concat()).failed_with(2);
    assert!(refused.err.contains("--destroy-data="), "{refused:?}");
    assert!(clean(&world).succeeded().out.contains("left alone"));
    assert_eq!(std::fs::read(world.path("file")).unwrap(), precious);
}

#[test]
fn clean_believes_no_record_that_assay_did_not_write() {
    let world = World::new();
    keep(&world, "file");
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
    assert_eq!(reported.matches("proves nothing").count(), 2, "{reported}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), PRECIOUS);
    assert!(world.path("file").exists());
}

/// Runs Vdbench with two writing runs and a command between them.
fn two_runs(world: &World, lun: &str, command: &str) -> Outcome {
    let flags = if lun.starts_with("/dev/") { ",openflags=o_direct" } else { "" };
    let text = format!(
        "sd=sd1,lun={lun},size=1m{flags}\nwd=wd1,sd=sd1,rdpct=0,xfersize=4k,seekpct=random\n\
         rd=default,iorate=100,elapsed=2,interval=1\nrd=rd1,wd=wd1\nrd=rd2,wd=wd1,startcmd=\"{command}\"\n"
    );
    world.write("parameters", &text);
    world.assay(&["vdbench", "-f", "parameters", "--destroy-data", lun])
}

#[test]
fn a_link_that_is_put_in_between_two_runs_is_not_followed() {
    let world = World::new();
    let precious = world.write("precious", &PRECIOUS.repeat(50_000));
    let failed = two_runs(&world, "file", "mv file aside; ln -s precious file");
    assert_eq!(failed.code, 4, "{failed:?}");
    assert!(failed.err.contains("changed hands"), "{failed:?}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), PRECIOUS.repeat(50_000));
}

#[test]
fn a_device_cannot_be_mounted_while_it_is_written() {
    let test = "a_device_cannot_be_mounted_while_it_is_written";
    let world = World::new();
    let Some(device) = Loop::over(&world.path("disk"), test) else { return };
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
    let failed = two_runs(&world, &device.0, &make);
    assert_eq!(failed.code, 4, "{failed:?}");
    assert!(failed.err.contains("the command 'mkfs.ext4"), "{failed:?}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(folder.to_str().unwrap()), "{mounts}");
}

#[test]
fn what_lies_behind_a_loop_device_is_in_use() {
    let test = "what_lies_behind_a_loop_device_is_in_use";
    let world = World::new();
    let Some(device) = Loop::over(&world.path("disk"), test) else { return };
    let write = |target: &str| {
        let arguments =
            ["storage", "write", target, "--for", "200ms", "--destroy-data", target];
        world.assay(&arguments).failed_with(2)
    };
    let refused = write("disk");
    assert!(refused.err.contains(&format!("it lies behind {}", device.0)), "{refused:?}");
    let Some(upper) = Loop::of(device.0.as_ref(), test) else { return };
    let refused = write(&device.0);
    assert!(refused.err.contains(&format!("it lies behind {}", upper.0)), "{refused:?}");
}

/// Any device over the same sectors could destroy a file system.
#[test]
fn what_lies_below_a_loop_device_is_not_written_while_it_is_used() {
    let test = "what_lies_below_a_loop_device_is_not_written_while_it_is_used";
    let world = World::new();
    let Some(device) = Loop::over(&world.path("disk"), test) else { return };
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
    let Some(second) = Loop::of(&world.path("disk"), test) else { return };
    write(&second.0);
    drop(second);
    let Some(upper) = Loop::of(device.0.as_ref(), test) else { return };
    write(&upper.0);
}

#[test]
fn a_copied_tree_is_nobodys_and_links_inside_one_are_not_followed() {
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

/// Logs and pages replace those of an earlier run, but no other file of the same name.
#[test]
fn what_is_no_log_and_no_page_is_not_replaced_by_one() {
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
        assert!(refused.err.contains("is there already"), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), PRECIOUS);
    }
}

#[test]
fn output_folders_are_not_written_through_links() {
    let world = World::new();
    let precious = world.write("precious", PRECIOUS);
    let text =
        "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=9,elapsed=2,interval=1\n";
    world.write("parameters", text);
    std::fs::create_dir(world.path("output")).unwrap();
    symlink(&precious, world.path("output/summary.html")).unwrap();
    let refused = world.assay(&["vdbench", "-f", "parameters"]).failed_with(4);
    assert!(refused.err.contains("it is a link"), "{refused:?}");
    symlink(world.path("output"), world.path("linked")).unwrap();
    let refused = world.assay(&["vdbench", "-f", "parameters", "-o", "linked"]).failed_with(4);
    assert!(refused.err.contains("it is a link"), "{refused:?}");
    symlink(&precious, world.path("a_bw.1.log")).unwrap();
    world.write("job", "[a]\nrw=read\nsize=1m\nfilename=f\nwrite_bw_log=a\n");
    let refused = world.assay(&["fio", "job"]).failed_with(4);
    assert!(refused.err.contains("it is a link"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), PRECIOUS);
}
