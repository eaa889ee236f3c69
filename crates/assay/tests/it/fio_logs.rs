//! fio's log files compared with those of the real fio, and the tools that plot them.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::World;

const JOB: &str = "[global]\nioengine=libaio\ndirect=0\nsize=2m\nbs=4k\ntime_based\nruntime=1\n\
                   write_bw_log=x\nwrite_lat_log=x\nwrite_iops_log=x\nwrite_hist_log=x\n\
                   log_avg_msec=250\nlog_hist_msec=500\n\
                   [mix]\nrw=randrw\niodepth=4\nnumjobs=2\n\
                   [one]\nrw=read\nper_job_logs=0\nlog_offset=1\n";

fn log_names(folder: &Path) -> BTreeSet<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name.ends_with(".log")).collect()
}

/// Returns the column counts and the directions that occur in a log.
fn log_shape(path: &Path) -> (BTreeSet<usize>, BTreeSet<String>) {
    let text = std::fs::read_to_string(path).unwrap();
    let fields = |line: &str| line.split(", ").map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<_> = text.lines().map(fields).collect();
    let direction = if path.display().to_string().contains("_hist") { 1 } else { 2 };
    for field in lines.iter().flatten() {
        assert!(field.parse::<u64>().is_ok(), "{}: {field}", path.display());
    }
    (
        lines.iter().map(Vec::len).collect(),
        lines.iter().map(|line| line[direction].clone()).collect(),
    )
}

#[test]
fn logs_have_names_and_columns_of_real_fio() {
    let (ours, theirs) = (World::new(), World::new());
    ours.write("job.fio", JOB);
    ours.assay(&["fio", "job.fio"]).succeeded();
    let found = log_names(&ours.path(""));
    assert_eq!(found.len(), 18, "{found:?}");
    // A disk that stalls leaves windows without I/O, and these have no line.
    for name in ["x_bw.1.log", "x_iops.1.log", "x_lat.log"] {
        let text = std::fs::read_to_string(ours.path(name)).unwrap();
        assert!(text.lines().count() >= 1, "{name}: {text}");
    }
    theirs.write("job.fio", JOB);
    let real = Command::new("fio").arg("job.fio").current_dir(theirs.path("")).output();
    if !real.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED logs_have_names_and_columns_of_real_fio: fio does not run");
        return;
    }
    assert_eq!(found, log_names(&theirs.path("")));
    for name in found.iter().filter(|name| !name.contains("slat")) {
        assert_eq!(log_shape(&ours.path(name)), log_shape(&theirs.path(name)), "{name}");
    }
}

#[test]
fn unaveraged_log_has_one_line_per_io() {
    let world = World::new();
    let line = "fio --name=a --rw=write --size=256k --bs=4k --write_lat_log --write_bw_log=b \
                --log_offset=1";
    world.assay(&line.split_whitespace().collect::<Vec<_>>()).succeeded();
    for name in ["a_lat.1.log", "a_clat.1.log", "b_bw.1.log"] {
        let text = std::fs::read_to_string(world.path(name)).unwrap();
        let offsets: BTreeSet<u64> = text
            .lines()
            .map(|line| line.split(", ").nth(4).unwrap().parse().unwrap())
            .collect();
        assert_eq!(offsets, (0..64).map(|block| block * 4096).collect(), "{name}");
    }
}

/// Returns the folder of the fio-plot programs that `cargo xtask test` installs.
fn fio_plot() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fio/fio-plot/bin");
    folder.join("fio-plot").is_file().then_some(folder)
}

/// `bench-fio` starts a program called fio, here assay, and `fio-plot` draws its results.
#[test]
fn bench_fio_and_fio_plot_accept_assay() {
    let Some(programs) = fio_plot() else {
        eprintln!("SKIPPED bench_fio_and_fio_plot_accept_assay: fio-plot is not installed");
        return;
    };
    let world = World::new();
    let shim = world
        .write("fio", &format!("#!/bin/sh\nexec {} fio \"$@\"\n", env!("CARGO_BIN_EXE_assay")));
    std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", world.path("").display(), std::env::var("PATH").unwrap());
    std::fs::create_dir(world.path("data")).unwrap();
    let run = |program: &str, arguments: &str| {
        let output = Command::new(programs.join(program))
            .args(arguments.split_whitespace())
            .current_dir(world.path(""))
            .env("PATH", &path)
            .env("XDG_DATA_HOME", world.path(""))
            .env("MPLCONFIGDIR", world.path(""))
            .output()
            .unwrap();
        assert!(output.status.success(), "{program} {arguments}: {output:?}");
    };
    run(
        "bench-fio",
        "--target data --type directory --size 1m --mode randread randwrite --destructive \
         --output results --iodepth 1 4 --numjobs 1 --runtime 1 --time-based --block-size 4k \
         --direct 0 --extra-opts log_avg_msec=200",
    );
    let results = std::fs::read_dir(world.path("results/data")).unwrap().next().unwrap();
    let results = results.unwrap().path();
    let results = results.display();
    for (nth, arguments) in [
        "-r randread -d 1 4 -n 1 -t bw -g",
        "-r randwrite -d 1 4 -n 1 -t iops lat -g",
        "-r randread -d 1 4 -n 1 -l",
        "-r randread -d 4 -n 1 -H",
    ]
    .iter()
    .enumerate()
    {
        run("fio-plot", &format!("-i {results} -T test -o {nth}.png {arguments}"));
        assert!(world.path(&format!("{nth}.png")).is_file(), "{arguments}");
    }
}

/// Before, an averaged log began with the first whole interval after the warm-up.
#[test]
fn averages_begin_at_the_end_of_a_warm_up_by_bytes() {
    let world = World::in_memory();
    let job = "fio --name=a --no-store --ioengine=null --rw=read --size=1g --rate_iops=100 \
               --ramp_size=4k --time_based --runtime=1 --write_iops_log=L --log_avg_msec=500";
    world.assay(&job.split_whitespace().collect::<Vec<_>>()).succeeded();
    let log = std::fs::read_to_string(world.path("L_iops.1.log")).unwrap();
    let last_ms = log.lines().last().unwrap().split(',').next().unwrap();
    assert!(last_ms.parse::<u64>().unwrap() > 700, "{log}");
}
