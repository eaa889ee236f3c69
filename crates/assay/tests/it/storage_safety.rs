//! What keeps the data of others safe: volumes that are not mounted, devices and files that change hands.
//!
//! Tricks that need a kernel's help are skipped by name where it is refused.

use serde_json::Value;

use crate::program::{World, results};

/// A name that nobody has, below a folder for volumes.
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
        &["fio", "job"],
        &["fio", "job", "--dry-run"],
        &["ior", "-b", "1m", "-t", "1m", "-o", target],
        &["ior", "-b", "1m", "-t", "1m", "--dryRun", "-o", target],
        &["vdbench", "-f", "parameters"],
        &["vdbench", "-f", "parameters", "-s"],
        &["vdbench", "-f", "trees"],
        &["vdbench", "-f", "trees", "-s"],
    ] {
        let refused = world.assay(arguments).failed_with(4);
        let says = ["nothing is mounted on /srv", "--target-on-root"];
        assert!(says.iter().all(|it| refused.err.contains(it)), "{arguments:?}: {refused:?}");
        assert!(!std::path::Path::new(target).exists(), "{arguments:?}");
    }
    let plan = ["storage", "read", target, "--size", "1MiB", "--dry-run", "--target-on-root"];
    world.assay(&plan).succeeded();
}

#[test]
fn the_file_system_and_its_device_are_told_first_and_stored() {
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
    world.write("job", "[a]\nrw=write\nsize=1m\nfilename=f\n");
    let run = world.assay(&["fio", "job"]).succeeded();
    assert!(run.err.lines().next().unwrap_or_default().contains(", mounted on /"), "{run:?}");
    let document = world.json(&["show", "--json"]);
    let parameters = &results(&document, "storage", "rate")[0]["parameters"];
    assert_eq!(parameters["file_system"], kind);
}
