//! Start-up time, size of the program, and time of a cold build.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use assay_model::quantity::{Quantity, Unit};

use crate::command;

use super::cpus::Cpus;
use super::machine;
use super::options::Options;
use super::page::Page;
use super::ratio;
use super::timings;
use super::workplace::{Workplace, build_command};

const STARTS: usize = 50;
/// Number of slowest packages of the cold build to list.
const SLOWEST: usize = 12;

/// Maximum seconds of `assay --version`.
const MOST_START_S: f64 = 0.010;
/// Maximum bytes of the release program: 30 MB.
const MOST_BYTES: f64 = 30e6;
/// Maximum seconds of the cold release build, on two cores.
const MOST_BUILD_S: f64 = 240.0;

/// Runs the measurements and writes the page.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let workplace = Workplace::open(root, Cpus::choose(options.threads)?)?;
    let mut facts = machine::facts(&workplace);
    facts.push(("rustc", machine::line(&workplace, "rustc", &["--version"])));
    let (build_s, slowest) = cold_build(&workplace)?;
    let program = workplace.folder.join("cold/release/assay");
    facts.push(machine::assay_version(&workplace, &program));
    let bytes = fs::metadata(&program).context("the build left no program")?.len() as f64;
    let starts = starts(&workplace, &program)?;
    let start_s = ratio::median(&starts).context("nothing was started")?;
    let interval = ratio::median_interval(&starts);

    let mut page = Page::new("Start-up, size and build", "cargo xtask bench build");
    page.facts(&facts);
    page.heading("Figures");
    let interval = interval
        .map_or("–".into(), |(low, high)| format!("{}…{}", seconds(low), seconds(high)));
    let start = format!("`assay --version`, median of {STARTS}");
    let megabytes = |bytes: f64| format!("{:.2} MB", bytes / 1e6);
    page.table(
        &["what", "figure", "95 %", "target", ""],
        &[
            row(&start, seconds(start_s), interval, start_s, MOST_START_S, seconds),
            row("release program", megabytes(bytes), "–".into(), bytes, MOST_BYTES, megabytes),
            row(
                "cold release build",
                seconds(build_s),
                "–".into(),
                build_s,
                MOST_BUILD_S,
                seconds,
            ),
        ],
    );
    page.paragraph(
        "The cold build begins with an empty target directory and downloaded sources; it is one build.",
    );
    page.heading("The slowest packages of the cold build");
    page.table(&["package", "time"], &slowest);
    page.heading("Commands");
    let mut build = build_command(root);
    page.commands(&[workplace.shown(build.arg("--timings")), "assay --version".into()]);
    page.publish(root, "build")
}

/// Builds into an empty directory; returns the seconds and the slowest packages.
fn cold_build(workplace: &Workplace) -> Result<(f64, Vec<Vec<String>>)> {
    let target = workplace.folder.join("cold");
    command::run(command::cargo(&workplace.root).args(["fetch", "--locked"]))?;
    let start = Instant::now();
    let mut build = build_command(&workplace.root);
    command::run(build.arg("--timings").env("CARGO_TARGET_DIR", &target))?;
    let build_s = start.elapsed().as_secs_f64();
    let report = fs::read_to_string(target.join("cargo-timings/cargo-timing.html"))
        .context("cargo left no report of its timings")?;
    let slowest = timings::slowest(&report, SLOWEST)?;
    let rows =
        slowest.into_iter().map(|(name, taken_s)| vec![name, seconds(taken_s)]).collect();
    Ok((build_s, rows))
}

/// Measures the seconds from the start of `assay --version` to its end, many times.
fn starts(workplace: &Workplace, program: &Path) -> Result<Vec<f64>> {
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let mut command = workplace.command(program);
        let start = Instant::now();
        command::output(command.arg("--version"))?;
        starts.push(start.elapsed().as_secs_f64());
    }
    Ok(starts)
}

fn row(
    what: &str,
    figure: String,
    interval: String,
    value: f64,
    most: f64,
    format_value: impl Fn(f64) -> String,
) -> Vec<String> {
    let verdict = if value <= most { "reached" } else { "missed" };
    vec![what.into(), figure, interval, format!("≤ {}", format_value(most)), verdict.into()]
}

fn seconds(value: f64) -> String {
    Quantity::new(value, Unit::Second).to_string()
}
