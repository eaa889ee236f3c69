//! Executes the commands of README.md and of the pages in `docs`, in a folder with the files that they name.
//!
//! The info string of a block excludes commands, with the reason; see `workbench::page_commands`. Places, sizes and
//! lengths of documents are replaced by small ones.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use workbench::page_commands::{CommandTreatment, PageCommand, read_page_commands};

use crate::network::{ServerProcess, free_port};
use crate::program::World;

/// Texts of pages, with those of the test.
const REPLACEMENTS: [(&str, &str); 14] = [
    ("/data/file", "data/file"),
    ("/data/testFile", "data/testFile"),
    (" /data", " data"),
    ("/mnt/vol1", "data"),
    ("/mnt/vol2", "more"),
    ("/mnt/nvme", "data"),
    ("/var/lib/prometheus/node-exporter/", ""),
    (" RUN", " latest"),
    ("--for 60s", "--for 300ms"),
    ("--for 30s", "--for 1s"),
    ("--size 10GiB", "--size 4MiB"),
    ("-b 1g -t 1m -s 4 -F -C -e -i 3", "-b 1m -t 256k -s 1 -F -C -e -i 1"),
    ("-b 1g -t 1m", "-b 1m -t 256k"),
    ("--size=4G --runtime=600", "--size=4M --runtime=1"),
];
/// Exit codes of commands that worked: success, and the verdicts of comparisons and findings.
const SUCCESSES: [i32; 3] = [0, 5, 6];
/// Inputs of the importer: name in the folder, golden, label, condition.
const RESULTS: [(&str, &str, &str, &str); 7] = [
    ("slower.txt", "stream/5.10-without-openmp.out", "after", "placement=node"),
    ("numa.txt", "stream/5.10-two-threads.out", "hbv4", "placement=numa:0"),
    ("off.json", "iperf3/3.12-tcp-2.out", "off", "streams=2"),
    ("on.json", "iperf3/3.12-tcp-2.out", "on", "streams=2"),
    ("auto.json", "iperf3/3.12-tcp-2.out", "auto", "streams=2"),
    ("stream-node7.txt", "stream/5.10-two-threads.out", "", ""),
    // The latest one.
    ("stream.txt", "stream/5.10-two-threads.out", "before", "placement=node"),
];
const JOB: &str =
    "[global]\nioengine=psync\nsize=1m\nbs=4k\nruntime=1\n[randread]\nrw=randread\n";
const PARAMETERS: &str = "sd=sd1,lun=file,size=1m\nwd=wd1,sd=sd1,rdpct=100\nrd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1\n";
const SUITE: &str = "name = \"mine\"\n[[factor]]\nname = \"nconnect\"\nlevels = [1, 2]\n\
    [[measure]]\nbenchmark = \"command\"\nrun = \"true {nconnect}\"\n";
const PROGRAM: &str = "#!/bin/sh\necho \"$@\"\n";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Creates a folder with the files and the stored runs that pages name.
fn create_world() -> World {
    let world = World::new();
    for folder in ["data", "more", "docs", "results", "DIR", "programs"] {
        fs::create_dir(world.path(folder)).unwrap();
    }
    for (name, text) in [("job.fio", JOB), ("FILE", PARAMETERS), ("mine.toml", SUITE)] {
        world.write(name, text);
    }
    let page = repository().join("crates/assay/tests/walk/page.md");
    for name in ["page.md", "page.fr.md", "page.ru.md", "docs/a.md"] {
        fs::copy(&page, world.path(name)).unwrap();
    }
    for name in ["app", "a", "b"] {
        let file = world.write(name, PROGRAM);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.write("gromacs.log", "Performance:   87.5 (ns/day)\nWall t (s): 12.5 s\n");
    let program = world.path("programs").join("assay");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), program).unwrap();
    store_results(&world);
    world
}

fn store_results(world: &World) {
    let goldens = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-adapters/tests/golden");
    fs::copy(goldens.join("fio/3.33-mix.out"), world.path("results/fio.json")).unwrap();
    for (name, golden, label, condition) in RESULTS {
        fs::copy(goldens.join(golden), world.path(name)).unwrap();
        if label.is_empty() {
            continue;
        }
        let mut words = vec!["import", "--again", "--label", label, "--set", condition, name];
        if name.ends_with(".json") {
            words.extend(["--host", "node7"]);
        }
        for _ in 0..2 {
            world.assay(&words).succeeded();
        }
    }
}

/// Returns the command as it is executed, or `None` if no test executes it.
fn runnable_text(command: &PageCommand, port: u16) -> Option<String> {
    let text = match command.treatment {
        CommandTreatment::Run => command.text.clone(),
        CommandTreatment::PlanOnly => command.as_plan(),
        CommandTreatment::NotRun => return None,
    };
    let host = match text.starts_with("assay net ") {
        true => format!("127.0.0.1 -p {port}"),
        false => "127.0.0.1".to_owned(),
    };
    let text = text.replace("HOST", &host).replace("ADDRESS", "127.0.0.1");
    Some(REPLACEMENTS.iter().fold(text, |text, (from, to)| text.replace(from, to)))
}

/// Executes a command; returns its fault, if it has one.
fn run_command(world: &World, text: &str) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("timeout")
        .args(["60", "sh", "-c", text])
        .current_dir(world.path(""))
        .env("PATH", format!("{}:{path}", world.path("programs").display()))
        .env("XDG_DATA_HOME", world.path(""))
        .env("HOME", world.path(""))
        .env("LC_ALL", "C.UTF-8")
        .env_remove("ASSAY_STORE")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let code = output.status.code().unwrap_or(-1);
    let error = String::from_utf8_lossy(&output.stderr);
    (!SUCCESSES.contains(&code)).then(|| format!("exit code {code}\n{error}"))
}

/// Executes the commands of a page in a copy of the folder; returns their faults and their number.
fn run_page(page: &Path, files: &World, port: u16) -> (Vec<String>, usize) {
    let name = page.file_name().unwrap().to_string_lossy();
    let commands = read_page_commands(&fs::read_to_string(page).unwrap()).unwrap();
    let commands: Vec<(&PageCommand, String)> =
        commands.iter().filter_map(|it| Some((it, runnable_text(it, port)?))).collect();
    let mut faults = Vec::new();
    if commands.is_empty() {
        return (faults, 0);
    }
    let world = World::new();
    let copied =
        Command::new("cp").arg("-a").arg(files.path(".")).arg(world.path("")).status().unwrap();
    assert!(copied.success());
    for (command, text) in &commands {
        let start = Instant::now();
        let fault = run_command(&world, text);
        eprintln!("{:6.2} s  {name}:{} {text}", start.elapsed().as_secs_f64(), command.line);
        faults.extend(fault.map(|it| format!("{name}:{}: {text}\n{it}", command.line)));
    }
    (faults, commands.len())
}

#[test]
fn commands_of_pages_work() {
    let pages = fs::read_dir(repository().join("docs")).unwrap();
    let mut pages: Vec<PathBuf> = pages.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|it| it == "md"));
    pages.push(repository().join("README.md"));
    pages.sort();
    let files = create_world();
    let place = World::new();
    let port = free_port();
    let _server = ServerProcess::assay(&place, port);
    let mut faults = Vec::new();
    let mut count = 0;
    for page in pages {
        let (found, executed) = run_page(&page, &files, port);
        faults.extend(found);
        count += executed;
    }
    assert!(count > 60, "{count} commands were executed");
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}
