//! Start-up time, size of the program, and time of a cold build.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use assay_model::quantity::{Quantity, Unit};

use crate::command;

use super::cpus::Cpus;
use super::machine;
use super::options::BenchOptions;
use super::ratio;
use super::timings;
use super::workplace::{BenchWorkplace, build_command};
use workbench::page::MarkdownPage;

const STARTS: usize = 50;
/// Number of slowest packages of the cold build to list.
const SLOWEST_COUNT: usize = 12;

/// Maximum seconds of `assay --version`.
const MAX_START_S: f64 = 0.010;

/// Runs the measurements and writes the page.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> Result<()> {
    let workplace = BenchWorkplace::open(root, Cpus::choose(options.threads)?)?;
    let mut facts = machine::facts(&workplace);
    facts.push(("rustc", machine::first_line(&workplace, "rustc", &["--version"])));
    let (build_s, slowest) = cold_build(&workplace)?;
    let program = workplace.folder.join("cold/release/assay");
    facts.push(machine::assay_version(&workplace, &program));
    let bytes = fs::metadata(&program).context("the build produced no program")?.len() as f64;
    let starts = measure_starts(&workplace, &program)?;
    let start_s = ratio::median(&starts).context("nothing was started")?;
    let interval = ratio::median_interval(&starts);

    let mut page = MarkdownPage::new("Start-up, size and build", "cargo xtask bench build");
    page.facts(&facts);
    page.heading("Figures");
    let interval = interval.map_or("–".into(), |(low, high)| {
        format!("{}…{}", format_seconds(low), format_seconds(high))
    });
    let start = format!("`assay --version`, median of {STARTS}");
    page.table(
        &["quantity", "figure", "95 %", "target"],
        &[
            vec![start, format_seconds(start_s), interval, format_target(start_s)],
            vec![
                "release program".into(),
                format!("{:.2} MB", bytes / 1e6),
                "–".into(),
                "–".into(),
            ],
            vec!["cold release build".into(), format_seconds(build_s), "–".into(), "–".into()],
        ],
    );
    page.paragraph(
        "The cold build begins with an empty target directory and downloaded sources; it is one build.",
    );
    page.heading("The slowest packages of the cold build");
    page.table(&["package", "time"], &slowest);
    page.heading("Commands");
    let mut build = build_command(root);
    page.commands(&[
        workplace.format_command(build.arg("--timings")),
        "use assay --version".into(),
    ]);
    page.publish(root, "build")
}

/// Builds into an empty directory; returns the seconds and the slowest packages.
fn cold_build(workplace: &BenchWorkplace) -> Result<(f64, Vec<Vec<String>>)> {
    let target = workplace.folder.join("cold");
    command::run(command::cargo(&workplace.root).args(["fetch", "--locked"]))?;
    let start = Instant::now();
    let mut build = build_command(&workplace.root);
    command::run(build.arg("--timings").env("CARGO_TARGET_DIR", &target))?;
    let build_s = start.elapsed().as_secs_f64();
    let report = fs::read_to_string(target.join("cargo-timings/cargo-timing.html"))
        .context("cargo wrote no timings report")?;
    let slowest = timings::slowest_units(&report, SLOWEST_COUNT)?;
    let rows = slowest
        .into_iter()
        .map(|(name, taken_s)| vec![name, format_seconds(taken_s)])
        .collect();
    Ok((build_s, rows))
}

/// Measures the seconds from the start of `assay --version` to its end, many times.
fn measure_starts(workplace: &BenchWorkplace, program: &Path) -> Result<Vec<f64>> {
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let mut command = workplace.command(program);
        let start = Instant::now();
        command::output(command.arg("--version"))?;
        starts.push(start.elapsed().as_secs_f64());
    }
    Ok(starts)
}

/// Formats the target of the start-up time, and whether it was reached. Build time and size have
/// none: they are what an optimised release takes.
fn format_target(start_s: f64) -> String {
    let verdict = if start_s <= MAX_START_S { "reached" } else { "missed" };
    format!("≤ {}: {verdict}", format_seconds(MAX_START_S))
}

fn format_seconds(value: f64) -> String {
    Quantity::new(value, Unit::Second).to_string()
}
