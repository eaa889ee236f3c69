//! `assay vdbench`: typical parameter files, on files of this machine.
//!
//! The files go through the page cache, because a folder for tests may be in memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::processes::send_signal;
use crate::program::{Outcome, World};

/// Writes a set of parameter files for two hosts with two volumes each, both on this machine, at a
/// small scale.
fn write_page_files(world: &World) {
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
    write_file(&world.path("hosts"), &hosts);
    write_file(&world.path("luns"), &storage);
    write_file(
        &world.path("FillWrite"),
        "include=hosts\ninclude=luns\nwd=FillWrite,sd=sd*,rdpct=0,seekpct=eof,xfersize=64k\n\
         rd=Fill,wd=FillWrite,sd=(\"sd*\"),iorate=max,interval=1,forthreads=1,elapsed=259200\n",
    );
    write_file(
        &world.path("RndMix"),
        "include=hosts\ninclude=luns\nwd=RndMix,sd=sd*,rdpct=50,seekpct=100,xfersize=8k\n\
         rd=default,warmup=60,elapsed=600,iorate=max\n\
         rd=RndMix,wd=RndMix,sd=(\"sd*\"),threads=2\n\
         rd=Curve,wd=RndMix,sd=(\"sd*\"),threads=2,iorate=curve,curve=(10,50),warmup=0\n",
    );
}

fn write_file(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

fn vdbench(world: &World, arguments: &[&str]) -> Outcome {
    world.assay(&[&["vdbench"], arguments].concat())
}

fn read_output(world: &World, name: &str) -> String {
    std::fs::read_to_string(world.path("output").join(name)).unwrap()
}

#[test]
fn page_files_run_and_print_averages() {
    let world = World::new();
    write_page_files(&world);
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
        let text = read_output(&world, page);
        let averages: Vec<&str> =
            text.lines().filter(|line| line.contains("avg_2-3")).collect();
        assert_eq!(averages.len(), 4, "{page}\n{text}");
    }
    let runs: Vec<String> = read_output(&world, "totals.html")
        .lines()
        .filter_map(|line| {
            Some(line.split_once("Starting RD=")?.1.split(';').next()?.to_owned())
        })
        .collect();
    assert_eq!(runs, ["RndMix", "Curve", "Curve_(10%)", "Curve_(50%)"]);
    assert!(
        read_output(&world, "summary.html").contains("From the intended start of each I/O")
    );
    assert!(read_output(&world, "histogram.html").contains("Reads and writes:"));
    assert!(
        read_output(&world, "status.html")
            .contains("Workload done\trd=RndMix\tFor loops: threads=2")
    );
    assert!(read_output(&world, "parmfile.html").contains("rd=default,warmup=60"));
    assert!(read_output(&world, "parmscan.html").contains("keyw: warmup=60"));
    assert!(read_output(&world, "logfile.html").contains("Differences from Vdbench:"));
    let skew = read_output(&world, "skew.html");
    assert!(skew.contains("sd-1-1 ") && skew.contains("100.00%  100.00%"), "{skew}");
    let of_one = read_output(&world, "sd-1-1.html");
    assert_eq!(of_one.matches("avg_2-3").count(), 4, "{of_one}");
    assert!(read_output(&world, "RndMix.histogram.html").contains("Reads and writes:"));
}

#[test]
fn interrupted_run_prints_partial_average() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let world = World::new();
    write_file(
        &world.path("long"),
        "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=100,elapsed=600,interval=1\n\
         rd=rd2,wd=wd1,iorate=100,elapsed=600,interval=1\n",
    );
    let mut child = world
        .command(&["vdbench", "-f", "long"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_third = |line: &String| line.split_whitespace().nth(1) == Some("3");
    assert!(lines.any(|line| is_third(&line)), "the third interval has a line");
    send_signal(child.id(), "INT");
    assert!(lines.any(|line| line.contains("abnormally terminated")));
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("interrupted"), "{err}");
    for page in ["summary.html", "totals.html", "flatfile.html"] {
        let text = read_output(&world, page);
        assert_eq!(text.matches("avg_2-").count(), 1, "{page}\n{text}");
    }
    assert_eq!(read_output(&world, "sd1.html").matches("avg_").count(), 1);
    let status = read_output(&world, "status.html");
    assert!(
        !status.contains("Workload done"),
        "watching programs wait for this line\n{status}"
    );
    assert!(!status.contains("rd=rd2"), "{status}");
}

#[test]
fn simulation_writes_nothing() {
    let world = World::new();
    write_page_files(&world);
    let outcome = vdbench(&world, &["-f", "RndMix", "-s"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.out.contains("4 runs on 4 files or devices of 16.00 MiB from 2 hosts"));
    assert!(!outcome.err.contains("V170"), "{}", outcome.err);
    let far = "hd=far,system=far.invalid\nsd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\n\
               rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n";
    write_file(&world.path("far"), far);
    let outcome = vdbench(&world, &["-f", "far", "-s"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("from 1 host"), "{}", outcome.out);
    for (storage, says) in [
        ("lun=/dev/none,openflags=o_direct", "1 file or device of unknown size"),
        ("lun=/nowhere/at/all,size=1000t", "of 1000 TiB"),
        ("lun=/proc/version,size=1m", "of 1.000 MiB"),
    ] {
        let elsewhere = format!(
            "sd=sd1,{storage}\nwd=wd1,sd=sd*,rdpct=50\n\
             rd=rd1,wd=wd*,elapsed=60,interval=1,iorate=max\n"
        );
        write_file(&world.path("elsewhere"), &elsewhere);
        let outcome = vdbench(&world, &["-f", "elsewhere", "-s"]);
        assert_eq!(outcome.code, 0, "{storage}: {}", outcome.err);
        assert!(outcome.out.contains(says), "{storage}: {}", outcome.out);
    }
    assert!(!world.path("output").exists() && !world.path("file-1-1").exists());
}

#[test]
fn symlink_named_vdbench_takes_vdbench_command_line() {
    let world = World::new();
    write_page_files(&world);
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
fn links_named_like_tools_are_these_tools() {
    let world = World::new();
    for (name, words) in [
        ("fio", vec!["fio"]),
        ("ior", vec!["ior"]),
        ("iperf3", vec!["iperf3"]),
        ("qperf", vec!["qperf"]),
        ("ib_send_lat", vec!["rdma", "send-lat"]),
        ("ib_read_bw", vec!["rdma", "read-bw"]),
        ("ib_atomic_bw", vec!["rdma", "atomic-bw"]),
        ("osu_latency", vec!["mpi", "latency"]),
    ] {
        let link = world.path(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), &link).unwrap();
        let output = std::process::Command::new(&link).arg("--help").output().unwrap();
        let expected = world.assay(&[words.as_slice(), &["--help"]].concat()).succeeded().out;
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{name}");
    }
}

#[test]
fn errors_have_exit_code_and_position() {
    let world = World::new();
    let run = "rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n";
    let table = [
        ("sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1,xfresize=4k\n", 3, "error[V113]", "bad:2:15"),
        ("sd=sd1,lun=/mnt/vdb1/f,size=1m\nwd=wd1,sd=sd1\n", 2, "/mnt/vdb1", "mount the volume"),
    ];
    let trees = "hd=near,system=localhost\nhd=far,system=far.invalid\n\
                 fsd=fsd1,anchor=d,depth=1,width=1,files=1,size=4k\nfwd=fwd1,fsd=fsd1,operation=read\nrd=rd1,fwd=fwd1,fwdrate=max,elapsed=2\n";
    let table =
        table.map(|(text, code, first, second)| (format!("{text}{run}"), code, first, second));
    for (text, code, first, second) in
        table.into_iter().chain([(trees.to_owned(), 3, "error[V170]", "bad:3:5")])
    {
        write_file(&world.path("bad"), &text);
        let outcome = vdbench(&world, &["-f", "bad"]);
        assert_eq!(outcome.code, code, "{text}\n{}", outcome.err);
        for part in [first, second] {
            assert!(outcome.err.contains(part), "{part}\n{}", outcome.err);
        }
    }
    for (option, word) in [
        ("-jr", "`assay vdbench` does not support -j"),
        ("-lx", "-l30s"),
        ("-cx", "invalid value"),
    ] {
        let outcome = vdbench(&world, &["-f", "bad", option]);
        assert_eq!(outcome.code, 2, "{}", outcome.err);
        assert!(outcome.err.contains(word), "{}", outcome.err);
    }
    write_file(&world.path("precious"), &"x".repeat(1 << 20));
    let foreign = "sd=sd1,lun=precious,size=1m\nwd=wd1,sd=sd1,rdpct=0\n";
    write_file(&world.path("bad"), &format!("{foreign}{run}"));
    let outcome = vdbench(&world, &["-f", "bad"]);
    assert_eq!(outcome.code, 2, "{}", outcome.err);
    assert!(outcome.err.contains("--destroy-data"), "{}", outcome.err);
    let kept = std::fs::read_to_string(world.path("precious")).unwrap();
    assert_eq!(kept, "x".repeat(1 << 20));
}

#[test]
fn file_trees_are_created_used_and_removed() {
    let world = World::new();
    let anchor = world.path("tree");
    let anchor = anchor.display();
    let text = format!(
        "fsd=fsd1,anchor=\"{anchor}\",depth=2,width=2,files=5,size=16k\n\
         fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=sequential,threads=2\n\
         fwd=fwd2,fsd=fsd1,operation=getattr,skew=20\n\
         rd=rd1,fwd=fwd*,fwdrate=200,format=yes,elapsed=2,interval=1\n"
    );
    write_file(&world.path("make"), &text);
    let outcome = vdbench(&world, &["-f", "make"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    let summary = read_output(&world, "summary.html");
    assert!(summary.contains("Starting RD=format_for_rd1"), "{summary}");
    assert!(summary.contains("Starting RD=rd1; elapsed=2; fwdrate=200; For loops: None"));
    assert!(summary.contains("avg_2-2"), "{summary}");
    assert!(world.path("tree/vdb.1_2.dir/vdb.2_2.dir/vdb_f0005.file").exists());

    write_file(&world.path("clean"), &text.replace("format=yes", "format=clean"));
    let outcome = vdbench(&world, &["-f", "clean"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    assert_eq!(
        std::fs::read_dir(world.path("tree")).unwrap().count(),
        1,
        "only the mark is left"
    );
    let again = vdbench(&world, &["-f", "make", "-s"]);
    assert!(again.out.contains("20 files in 1 tree"), "{}", again.out);
}

#[test]
fn commands_run_and_byte_limit_or_monitor_file_ends_runs() {
    let world = World::new();
    let text = "startcmd=(\"echo first > first; echo begun\",cons)\nendcmd=\"cp first $output/last\"\n\
         monitor=word\nsd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1,rdpct=50\n\
         rd=default,elapsed=600,interval=1,iorate=max\n\
         rd=rd1,wd=wd1,maxdatawritten=2m,startcmd=\"echo each\",endcmd=\"echo end_vdbench > word\"\n\
         rd=rd2,wd=wd1\nrd=rd3,wd=wd1\n";
    write_file(&world.path("file"), text);
    let outcome = vdbench(&world, &["-f", "file"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    for part in [
        "Cmd: begun",
        "Cmd: each",
        "Reached maxdatawritten",
        "Starting RD=rd2",
        "The monitor file ends the execution",
    ] {
        assert!(outcome.out.contains(part), "{part}\n{}", outcome.out);
    }
    assert!(!outcome.out.contains("RD=rd3"), "{}", outcome.out);
    assert_eq!(read_output(&world, "last"), "first\n");
}

#[test]
fn formatsds_fills_all_files_before_first_run() {
    let world = World::new();
    let text = "formatsds=yes\nsd=sd1,lun=f,size=1m\nsd=sd2,lun=g,size=2m\n\
         wd=wd1,sd=sd*,rdpct=100\nrd=rd1,wd=wd1,iorate=curve,curve=50,elapsed=2,interval=1\n";
    write_file(&world.path("file"), text);
    let outcome = vdbench(&world, &["-f", "file", "-l1"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    let header = "Starting RD=SD_format; I/O rate: Uncontrolled MAX; elapsed=(none); \
         For loops: threads=2 iorate=max";
    assert!(outcome.out.contains(header), "{}", outcome.out);
    assert!(outcome.out.contains("Starting RD=rd1_(50%)"), "{}", outcome.out);
    let flat = read_output(&world, "flatfile.html");
    let written =
        flat.lines().find(|line| line.contains(" SD_format ") && line.contains("avg_"));
    assert!(written.is_some_and(|line| line.contains(" 131072 ")), "{flat}");
}

/// The blocks of the written files are counted, also after other sizes of I/O have written them again.
#[test]
fn written_blocks_repeat_as_dedupratio_asks() {
    let world = World::new();
    let text = |size: &str| {
        format!(
            "dedupratio=4,dedupunit=4k,dedupsets=16,compratio=2\n\
             sd=sd1,lun=DIR/one,size=2m,threads=2\nsd=sd2,lun=DIR/two,size=2m\n\
             wd=wd1,sd=sd*,rdpct=0,seekpct=eof,xfersize={size}\n\
             rd=rd1,wd=wd1,iorate=max,elapsed=20,interval=1\n"
        )
    };
    for size in ["64k", "2k"] {
        let folder = world.path(".").display().to_string();
        write_file(&world.path("file"), &text(size).replace("DIR", &folder));
        vdbench(&world, &["-f", "file"]).succeeded();
        let mut written = std::fs::read(world.path("one")).unwrap();
        written.extend(std::fs::read(world.path("two")).unwrap());
        let blocks: Vec<&[u8]> = written.chunks(4096).collect();
        let different: std::collections::HashSet<&[u8]> = blocks.iter().copied().collect();
        assert_eq!((blocks.len(), different.len()), (1024, 1024 / 4), "{size}");
        let is_half_zeros = |block: &&[u8]| block[2048..].iter().all(|byte| *byte == 0);
        assert!(blocks.iter().all(is_half_zeros), "{size}");
    }
}

#[test]
fn created_trees_are_removed_by_clean() {
    let world = World::new();
    let tree = world.path("tree");
    let text = format!(
        "fsd=fsd1,anchor=\"{}\",depth=1,width=2,files=3,size=4k\n\
         fwd=fwd1,fsd=fsd1,operation=getattr\n\
         rd=rd1,fwd=fwd1,fwdrate=100,elapsed=2,interval=1\n",
        tree.display()
    );
    write_file(&world.path("file"), &text);
    let outcome = vdbench(&world, &["-f", "file", "-cy"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    assert!(outcome.out.contains("Starting RD=format_for_rd1"), "{}", outcome.out);
    assert!(tree.join("vdb.1_2.dir/vdb_f0003.file").exists());
    let outcome = vdbench(&world, &["-f", "file", "-co", "-s"]);
    assert!(!outcome.out.contains("Simulating RD=rd1"), "{}", outcome.out);
    let outcome = world.assay(&["storage", "clean"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(!tree.exists(), "{}", outcome.out);
}

/// Returns the pages of a folder without times of day and without the folder's name.
fn read_pages(world: &World, folder: &str) -> BTreeMap<String, String> {
    let path = world.path(folder);
    let files = std::fs::read_dir(&path).unwrap().map(|file| file.unwrap().path());
    let page = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file.file_name().unwrap().to_str().unwrap().to_owned(), text)
    };
    files.map(page).collect()
}

/// Runs `text`, removes `gone`, and compares the folder rendered from the stored run with the live
/// one, which it returns.
fn check_rendered_again(world: &World, text: &str, gone: &[&str]) -> BTreeMap<String, String> {
    write_file(&world.path("file"), text);
    let live = vdbench(world, &["-f", "file", "--label", "first"]).succeeded();
    // Neither the parameter files nor the files named in them are needed any more.
    for gone in gone {
        let path = world.path(gone);
        let removed = if path.is_dir() {
            std::fs::remove_dir_all(path)
        } else {
            std::fs::remove_file(path)
        };
        removed.unwrap();
    }
    let live_pages = read_pages(world, "output");
    std::fs::remove_dir_all(world.path("output")).unwrap();
    let console = world.assay(&["show", "--as", "vdbench"]).succeeded();
    assert_eq!(live.out, console.out);
    let again = world.assay(&["show", "--as", "vdbench", "--output", "output"]).succeeded();
    assert_eq!(live.out, again.out);
    let (live, again) = (live_pages, read_pages(world, "output"));
    assert_eq!(live.keys().collect::<Vec<_>>(), again.keys().collect::<Vec<_>>());
    for (name, page) in &live {
        assert_eq!(page, &again[name], "{name}");
    }
    live
}

#[test]
fn output_folder_is_rendered_from_stored_run() {
    let world = World::new();
    let text = "include=more\nstartcmd=(\"echo begun\",cons)\nendcmd=\"echo ended\"\n\
         sd=sd1,lun=f,size=1m\nsd=sd2,lun=g,size=2m\nsd=old,lun=there\n\
         wd=wd1,sd=sd*,rdpct=70,xfersize=4k\nwd=wd2,sd=old,rdpct=100,skew=20\n\
         rd=default,elapsed=2,interval=1,warmup=1\n\
         rd=rd1,wd=wd*,iorate=curve,curve=50,forthreads=2\n\
         rd=rd2,wd=wd1,iorate=max,elapsed=600,warmup=0,maxdataread=1m,startcmd=\"echo each\"\n";
    write_file(&world.path("more"), "* nothing more\n");
    write_file(&world.path("there"), &"x".repeat(1 << 16));
    let live = check_rendered_again(&world, text, &["file", "more", "there", "f", "g"]);
    assert!(live["totals.html"].contains("Starting RD=rd1_(50%)"));
    assert!(live["skew.html"].contains("wd2 ") && live.contains_key("sd1.histogram.html"));
    for part in ["Laying out /", "Cmd: each", "Reached maxdataread"] {
        assert!(live["summary.html"].contains(part), "{part}");
    }
    let summary = world.json(&["show", "--json"]);
    assert!(summary.to_string().contains("threads=2"), "{summary}");
}

/// File trees with a format, a mix, created and removed directories, a curve, a rate, an early end
/// and a command.
const TREES: &str = "endcmd=\"echo ended\"\n\
     fsd=fsd1,anchor=tree,depth=2,width=2,files=5,size=16k\nfsd=fsd2,anchor=other,depth=1,width=1,files=3,size=8k\n\
     fwd=mix,fsd=fsd1,operation=read,rdpct=60,xfersize=4k,fileio=random,fileselect=random,threads=2\n\
     fwd=ask,fsd=fsd2,operation=getattr,skew=20\n\
     rd=default,format=restart,elapsed=2,interval=1\n\
     rd=rd1,fwd=(mix,ask),fwdrate=200,warmup=1,format=yes\n\
     rd=rd2,fwd=mix,fwdrate=curve,curve=(50)\n\
     rd=rd3,fwd=mix,fwdrate=max,elapsed=600,maxdataread=64k,forthreads=(1,2),startcmd=\"echo each\"\n";

#[test]
fn output_folder_of_trees_is_rendered_from_stored_run() {
    let world = World::new();
    let live = check_rendered_again(&world, TREES, &["file", "tree", "other"]);
    let (summary, totals) = (&live["summary.html"], &live["totals.html"]);
    for part in [
        "Starting RD=format_for_rd1",
        "Starting RD=rd2_(50%)",
        "Cmd: each",
        "Reached maxdataread",
    ] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    assert!(totals.contains("For loops: threads=2"), "{totals}");
    assert!(summary.contains("From the intended start of each operation"), "{summary}");
}

#[test]
fn run_on_trees_can_be_listed_compared_and_reported() {
    let world = World::new();
    write_file(&world.path("file"), TREES);
    for label in ["one", "two"] {
        vdbench(&world, &["-f", "file", "--label", label]).succeeded();
    }
    let listed = world.assay(&["list"]).succeeded().out;
    assert!(listed.contains("one") && listed.contains("two"), "{listed}");
    let summary = world.json(&["show", "--json"]);
    let results = summary["results"].as_array().unwrap();
    let of = |phase: &str, metric: &str, operation: Option<&str>| {
        let found: Vec<_> = results
            .iter()
            .filter(|it| it["metric"] == metric && it["parameters"]["phase"] == phase)
            .filter(|it| {
                it["parameters"].get("operation").and_then(|it| it.as_str()) == operation
            })
            .collect();
        assert!(!found.is_empty(), "{phase} {metric} {operation:?}: {summary}");
        found[0]["median"].as_f64().unwrap()
    };
    let all = of("rd1", "rate", None);
    let parts: Vec<f64> =
        ["read", "write", "getattr"].map(|it| of("rd1", "rate", Some(it))).to_vec();
    assert!(parts.iter().all(|part| *part > 0.0 && *part < all), "{all} {parts:?}");
    assert!(of("rd1", "latency", None) > 0.0 && of("rd1", "bandwidth", None) > 0.0);
    assert_eq!(summary["failures"].as_array().unwrap().len(), 0, "{summary}");
    // A format that had nothing to do has no results.
    assert!(
        results.iter().all(|it| it["parameters"]["phase"] != "format_for_rd2"),
        "{summary}"
    );
    // Two runs this short may give no verdict, which has its own exit code.
    let items = world.assay(&["compare", "one", "two"]).out;
    for phase in ["format_for_rd1", "rd1", "rd2_(50%)", "rd3"] {
        assert!(items.contains(phase), "{phase}: {items}");
    }
    let page = world.assay(&["report", "--format", "markdown"]).succeeded().out;
    assert!(page.contains("rd3") && page.contains("threads=2"), "{page}");
}

#[test]
fn every_loop_pass_is_stored_unless_no_store() {
    let world = World::new();
    let runs = |world: &World| {
        let listed = world.assay(&["list", "--all"]).succeeded().out;
        listed.lines().filter(|line| line.contains("vdbench")).count()
    };
    let text = "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\n\
         rd=rd1,wd=wd1,iorate=50,elapsed=2,interval=1\n";
    write_file(&world.path("file"), text);
    vdbench(&world, &["-f", "file", "--no-store"]).succeeded();
    assert_eq!(runs(&world), 0);
    write_file(&world.path("file"), &format!("loop=2\n{text}"));
    vdbench(&world, &["-f", "file"]).succeeded();
    assert_eq!(runs(&world), 2);
    // A rejected file is not stored as a run.
    write_file(&world.path("file"), &text.replace("lun=f", "lun=/mnt/vdb1/f"));
    vdbench(&world, &["-f", "file"]).failed_with(2);
    assert_eq!(runs(&world), 2);
    let other = world.assay(&["show", "--as", "ior"]).failed_with(2);
    assert!(other.err.contains("vdbench"), "{}", other.err);
}
