//! Large Vdbench parameter files: 100,000 lines, and 24 hosts with six volumes each in one process.
//!
//! There is no peer: the licence of Vdbench forbids installing it here.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::command;

use super::super::options::BenchOptions;
use super::super::ratio;
use super::super::workplace::BenchWorkplace;
use workbench::page::MarkdownPage;

/// Lines of the long file.
const LINES: usize = 100_000;
/// Maximum seconds to read them.
const MAX_READ_S: f64 = 1.0;
/// Hosts and volumes of the wide file, as in a published test of a volume.
const HOSTS: usize = 24;
const VOLUMES: usize = 6;
/// Threads per volume.
const THREADS: usize = 25;

/// Measures both files and adds the results to the page.
pub(super) fn compare(
    page: &mut MarkdownPage,
    workplace: &BenchWorkplace,
    assay: &Path,
    options: &BenchOptions,
) -> Result<()> {
    let folder = workplace.folder.join("parameter-files");
    fs::create_dir_all(&folder)?;
    let (long, wide) = (folder.join("long"), folder.join("wide"));
    fs::write(&long, long_file())?;
    fs::write(&wide, wide_file(&folder))?;
    let (mut seconds, mut rates, mut responses) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.turns {
        let mut explain = workplace.pinned_command(assay);
        explain.args(["vdbench", "-s", "-f"]).arg(&long);
        let began = Instant::now();
        command::output(&mut explain)?;
        seconds.push(began.elapsed().as_secs_f64());
        let (rate, response_ms) = run_wide_file(workplace, assay, (&folder, &wide))?;
        rates.push(rate);
        responses.push(response_ms);
    }
    delete_files(workplace, assay, &folder)?;
    let median = |values: &[f64]| ratio::median(values).context("nothing was measured");
    let (seconds, rate, response_ms) =
        (median(&seconds)?, median(&rates)?, median(&responses)?);
    let verdict = if seconds <= MAX_READ_S { "met" } else { "missed" };
    let in_flight = HOSTS * VOLUMES * THREADS;
    page.heading("Parameter files");
    page.table(
        &["what", "assay", "target", ""],
        &[
            vec![
                format!("{LINES} lines read and explained"),
                format!("{seconds:.2} s"),
                format!("{MAX_READ_S} s"),
                verdict.to_owned(),
            ],
            vec![
                format!(
                    "{HOSTS} hosts × {VOLUMES} SDs in one process, {in_flight} I/O in flight"
                ),
                format!("{rate:.0} IO/s at {response_ms:.1} ms"),
                String::new(),
                String::new(),
            ],
        ],
    );
    page.paragraph(
        "`assay vdbench -s -f FILE` with half of the lines storage and half workload definitions, from its \
         start to its end; then random reads of 8 KiB with O_DIRECT from 144 files of 4 MiB for four \
         seconds after a warm-up of one. Medians over the turns.",
    );
    Ok(())
}

fn long_file() -> String {
    let mut text = String::from("sd=default,size=1g\n");
    let pairs = (LINES - 2) / 2;
    for number in 0..pairs {
        let _ =
            writeln!(text, "sd=sd{number},lun=/tmp/file-{number},openflags=o_direct,threads=4");
    }
    for number in 0..pairs {
        let _ = writeln!(text, "wd=wd{number},sd=sd{number},rdpct=70,xfersize=8k,seekpct=100");
    }
    text + "rd=rd1,wd=wd*,iorate=max,elapsed=60,interval=1\n"
}

fn wide_file(folder: &Path) -> String {
    let mut text = String::new();
    for host in 1..=HOSTS {
        let _ = writeln!(text, "hd=vm{host},system=localhost");
    }
    text.push_str("sd=default,size=4m,openflags=o_direct\n");
    for (host, volume) in
        (1..=HOSTS).flat_map(|host| (1..=VOLUMES).map(move |volume| (host, volume)))
    {
        let lun = folder.join(format!("file-{host}-{volume}"));
        let _ = writeln!(text, "sd=sd-{host}-{volume},host=vm{host},lun=\"{}\"", lun.display());
    }
    let _ = write!(
        text,
        "wd=RndRead,sd=sd*,rdpct=100,seekpct=100,xfersize=8k\n\
         rd=RndRead,wd=RndRead,iorate=max,threads={THREADS},warmup=1,elapsed=4,interval=1\n"
    );
    text
}

/// Runs the wide file; returns IO/s and response time in ms from `totals.html`, which users'
/// scripts read.
fn run_wide_file(
    workplace: &BenchWorkplace,
    assay: &Path,
    (folder, file): (&PathBuf, &PathBuf),
) -> Result<(f64, f64)> {
    let output = folder.join("output");
    let mut command = workplace.pinned_command(assay);
    command.args(["vdbench", "-f"]).arg(file).arg("-o").arg(&output);
    command::output(command.arg("--store").arg(folder))?;
    let totals = fs::read_to_string(output.join("totals.html"))?;
    let average = totals.lines().rfind(|line| line.contains("avg_")).context("no average")?;
    let words: Vec<&str> = average.split_whitespace().collect();
    let number = |place: usize| {
        let word = words.get(place).context("the average is too short")?;
        word.parse::<f64>().with_context(|| format!("`{word}` is not a number"))
    };
    Ok((number(2)?, number(6)?))
}

fn delete_files(workplace: &BenchWorkplace, assay: &Path, folder: &Path) -> Result<()> {
    let mut command = workplace.command(assay);
    command.args(["storage", "clean", "--store"]).arg(folder);
    command::output(&mut command).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_intended_size() {
        assert_eq!(long_file().lines().count(), LINES);
        let wide = wide_file(Path::new("/tmp"));
        assert_eq!(wide.lines().filter(|line| line.starts_with("sd=sd-")).count(), 144);
    }
}
