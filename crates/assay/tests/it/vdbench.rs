//! `assay vdbench`: parameter files as people have them, on files of this machine.
//!
//! The files go through the page cache, because a folder for tests may lie in memory.

use std::fmt::Write as _;
use std::path::Path;

use crate::program::{Outcome, World};

/// A page's files for two hosts that are both this one, of two volumes each, at a small scale.
fn page(world: &World) {
    let mut hosts = String::from("hd=default,jvms=1,shell=ssh\n");
    let mut storage = String::from("sd=default,size=4m\n");
    for vm in 1..=2 {
        let _ = writeln!(hosts, "hd=vm{vm},system=localhost,user=root");
        for volume in 1..=2 {
            let lun = world.path(&format!("file-{vm}-{volume}"));
            let lun = lun.display();
            let _ = writeln!(storage, "sd=sd-{vm}-{volume},host=vm{vm},lun=\"{lun}\"");
        }
    }
    write(&world.path("hosts"), &hosts);
    write(&world.path("luns"), &storage);
    write(
        &world.path("FillWrite"),
        "include=hosts\ninclude=luns\nwd=FillWrite,sd=sd*,rdpct=0,seekpct=eof,xfersize=64k\n\
         rd=Fill,wd=FillWrite,sd=(\"sd*\"),iorate=max,interval=1,forthreads=1,elapsed=259200\n",
    );
    write(
        &world.path("RndMix"),
        "include=hosts\ninclude=luns\nwd=RndMix,sd=sd*,rdpct=50,seekpct=100,xfersize=8k\n\
         rd=default,warmup=60,elapsed=600,iorate=max\n\
         rd=RndMix,wd=RndMix,sd=(\"sd*\"),threads=2\n\
         rd=Curve,wd=RndMix,sd=(\"sd*\"),threads=2,iorate=curve,curve=(10,50),warmup=0\n",
    );
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

fn vdbench(world: &World, arguments: &[&str]) -> Outcome {
    world.assay(&[&["vdbench"], arguments].concat())
}

fn read(world: &World, name: &str) -> String {
    std::fs::read_to_string(world.path("output").join(name)).unwrap()
}

#[test]
fn the_files_of_a_page_run_and_their_averages_are_found() {
    let world = World::new();
    page(&world);
    let outcome = vdbench(&world, &["-f", "FillWrite"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(
        outcome.out.contains("Vdbench execution completed successfully"),
        "{}",
        outcome.out
    );
    assert_eq!(world.path("file-2-2").metadata().unwrap().len(), 4 << 20);
    assert!(!outcome.out.contains("Laying out"), "the run itself writes the files");

    let outcome = vdbench(&world, &["-f", "RndMix", "-e", "2", "-i", "1", "-w", "1"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(!outcome.out.contains("Laying out"), "the files are there");
    for page in ["summary.html", "totals.html", "flatfile.html"] {
        let text = read(&world, page);
        let averages: Vec<&str> =
            text.lines().filter(|line| line.contains("avg_2-3")).collect();
        assert_eq!(averages.len(), 4, "{page}\n{text}");
    }
    let runs: Vec<String> = read(&world, "totals.html")
        .lines()
        .filter_map(|line| {
            Some(line.split_once("Starting RD=")?.1.split(';').next()?.to_owned())
        })
        .collect();
    assert_eq!(runs, ["RndMix", "Curve", "Curve_(10%)", "Curve_(50%)"]);
    assert!(read(&world, "summary.html").contains("From the intended start of each I/O"));
    assert!(read(&world, "histogram.html").contains("Reads and writes:"));
    assert!(read(&world, "status.html").contains("Workload done\trd=RndMix\tthreads=2"));
    assert!(read(&world, "parmfile.html").contains("rd=default,warmup=60"));
    assert!(read(&world, "logfile.html").contains("Differences from Vdbench:"));
}

#[test]
fn explaining_touches_nothing() {
    let world = World::new();
    page(&world);
    let outcome = vdbench(&world, &["-f", "RndMix", "-s"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.out.contains("4 runs on 4 files or devices of 16.00 MiB from 2 hosts"));
    assert!(!world.path("output").exists() && !world.path("file-1-1").exists());
}

#[test]
fn a_link_called_vdbench_takes_its_command_line() {
    let world = World::new();
    page(&world);
    let link = world.path("vdbench");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), &link).unwrap();
    let arguments = ["-f", "RndMix", "-s"];
    let output = std::process::Command::new(&link)
        .args(arguments)
        .current_dir(world.path("."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), vdbench(&world, &arguments).out);
}

#[test]
fn what_cannot_run_is_told_with_its_place() {
    let world = World::new();
    let run = "rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n";
    let table = [
        ("sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1,xfresize=4k\n", 3, "error[V113]", "bad:2:15"),
        (
            "hd=far,system=far.invalid\nsd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\n",
            4,
            "V170",
            "bad:1:4",
        ),
        ("sd=sd1,lun=/mnt/vdb1/f,size=1m\nwd=wd1,sd=sd1\n", 4, "/mnt/vdb1", "mount the volume"),
    ];
    for (text, code, first, second) in table {
        write(&world.path("bad"), &format!("{text}{run}"));
        let outcome = vdbench(&world, &["-f", "bad"]);
        assert_eq!(outcome.code, code, "{text}\n{}", outcome.err);
        for part in [first, second] {
            assert!(outcome.err.contains(part), "{part}\n{}", outcome.err);
        }
    }
    for option in ["-jr", "-l2", "-cn"] {
        let outcome = vdbench(&world, &["-f", "bad", option]);
        assert_eq!(outcome.code, 2, "{}", outcome.err);
        assert!(outcome.err.contains("known to Vdbench"), "{}", outcome.err);
    }
    write(&world.path("precious"), &"x".repeat(1 << 20));
    let foreign = "sd=sd1,lun=precious,size=1m\nwd=wd1,sd=sd1,rdpct=0\n";
    write(&world.path("bad"), &format!("{foreign}{run}"));
    let outcome = vdbench(&world, &["-f", "bad"]);
    assert_eq!(outcome.code, 2, "{}", outcome.err);
    assert!(outcome.err.contains("--destroy-data"), "{}", outcome.err);
    let kept = std::fs::read_to_string(world.path("precious")).unwrap();
    assert_eq!(kept, "x".repeat(1 << 20));
}

#[test]
fn trees_of_files_are_made_worked_on_and_removed() {
    let world = World::new();
    let anchor = world.path("tree");
    let anchor = anchor.display();
    let text = format!(
        "fsd=fsd1,anchor=\"{anchor}\",depth=2,width=2,files=5,size=16k\n\
         fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=sequential,threads=2\n\
         fwd=fwd2,fsd=fsd1,operation=getattr,skew=20\n\
         rd=rd1,fwd=fwd*,fwdrate=200,format=yes,elapsed=2,interval=1\n"
    );
    write(&world.path("make"), &text);
    let outcome = vdbench(&world, &["-f", "make"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    let summary = read(&world, "summary.html");
    assert!(summary.contains("Starting RD=format_for_rd1"), "{summary}");
    assert!(summary.contains("Starting RD=rd1; elapsed=2; fwdrate=200. For loops: None"));
    assert!(summary.contains("avg_2-2"), "{summary}");
    assert!(world.path("tree/vdb1_2.dir/vdb2_2.dir/vdb_f0005.file").exists());

    write(&world.path("clean"), &text.replace("format=yes", "format=clean"));
    let outcome = vdbench(&world, &["-f", "clean"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    assert_eq!(std::fs::read_dir(world.path("tree")).unwrap().count(), 1, "the mark alone");
    let again = vdbench(&world, &["-f", "make", "-s"]);
    assert!(again.out.contains("20 files in 1 trees"), "{}", again.out);
}
