//! `assay fio` compared with fio: the same options must cause the same work.
//!
//! Small jobs of every kind run in turns, each tool on files of its own. The comparison does not
//! look for the faster tool. A ratio far from 1, either way, means a job that is interpreted
//! differently, or an overhead that the page explains.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use assay_model::seed;
use serde_json::Value;

use crate::{command, packages};

use self::fio_tests::{FIO_TESTS, FioMetric, FioTest, InitialFiles};
use super::cpus::Cpus;
use super::machine;
use super::options::BenchOptions;
use super::order::turn_order;
use super::ratio::{self, PeerRatio};
use super::workplace::BenchWorkplace;
use workbench::page::MarkdownPage;

mod fio_tests;

/// Limits of a ratio that counts as agreement: the difference between two runs of one tool on a
/// shared disk.
const AGREEMENT_LIMITS: (f64, f64) = (0.9, 1.1);
/// Options of every job: long enough for thousands of I/O, short enough that all turns take
/// minutes.
const GLOBAL_OPTIONS: &str = "[global]\nruntime=500ms\nsize=64m\n";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    Assay,
    Fio,
}

/// Tools, in the order of their figures.
const TOOLS: [Tool; 2] = [Tool::Assay, Tool::Fio];

/// Figures by job and metric: assay's, fio's.
type Figures = BTreeMap<(usize, usize), [Vec<f64>; 2]>;

/// Runs the comparison and writes the page.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_STORAGE)?;
    let workplace = BenchWorkplace::open(root, Cpus::choose(options.threads)?)?;
    let assay = workplace.build_assay()?;
    let mut facts = machine::facts(&workplace);
    facts.push(machine::assay_version(&workplace, &assay));
    facts.push(("packages", machine::package_versions(&workplace, &["fio"])?));
    let figures = measure(&workplace, &assay, options)?;
    facts.push(("load after", workbench::load_average()));
    let mut page =
        MarkdownPage::new("fio's language compared with fio", "cargo xtask bench dialects");
    page.facts(&facts);
    page.heading("Figures");
    let head = ["job", "", "assay", "fio", "ratio", "95 %", ""];
    page.table(&head, &rows(&figures)?);
    page.paragraph(ABOUT);
    page.heading("Job files");
    page.paragraph("All begin with `[global]`, `runtime=500ms` and `size=64m`; those on existing files have `time_based=1`.");
    let lines = |job: &FioTest| format!("{:36} {}", job.name, job.lines);
    page.commands(&FIO_TESTS.iter().map(lines).collect::<Vec<_>>());
    page.publish(root, "dialects")
}

const ABOUT: &str = "\
All figures are medians over the turns; the ratio is that of assay over fio, and its interval that of the median
ratio within a turn, from order statistics. Within a turn both tools run a job one behind the other, on the same CPUs;
the order of the jobs, and of the tools in each, is drawn from a seed and reversed every other turn. Each tool works on files that it has made itself: they are kept
between the turns, or removed before each where a job begins with nothing. `alike` means that the interval lies
between 0.9 and 1.1, `apart` that it lies outside, `undecided` that it contains a limit. What differs on purpose is in `docs/fio.md`. Vdbench is not here: no
package of a registry has it.";

fn measure(
    workplace: &BenchWorkplace,
    assay: &Path,
    options: &BenchOptions,
) -> Result<Figures> {
    let mut figures = Figures::new();
    // Create all files before anything is measured.
    for (job, _) in FIO_TESTS
        .iter()
        .enumerate()
        .filter(|(_, job)| job.initial_files == InitialFiles::Existing)
    {
        for tool in TOOLS {
            run_test(workplace, assay, (job, tool))?;
        }
    }
    for turn in 0..options.turns {
        println!("turn {} of {}", turn + 1, options.turns);
        for job in turn_order(options.seed, turn, FIO_TESTS.len()) {
            // Run both tools back to back, so that the disk is in the same condition for both.
            for at in turn_order(seed::derive_seed(options.seed, job as u64), turn, TOOLS.len())
            {
                let values = run_test(workplace, assay, (job, TOOLS[at]))?;
                for (what, value) in values.into_iter().enumerate() {
                    figures.entry((job, what)).or_default()[at].push(value);
                }
            }
        }
    }
    Ok(figures)
}

/// Runs one job once and returns its figures.
fn run_test(
    workplace: &BenchWorkplace,
    assay: &Path,
    (nth, tool): (usize, Tool),
) -> Result<Vec<f64>> {
    let job = &FIO_TESTS[nth];
    let (mut command, folder) = match tool {
        Tool::Assay => (workplace.pinned_command(assay), "assay"),
        Tool::Fio => (workplace.pinned_command("fio"), "fio"),
    };
    let folder = workplace.folder.join(format!("{folder}-{nth}"));
    if job.initial_files == InitialFiles::Missing && folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    if tool == Tool::Assay {
        // assay records the files it created there, whether runs are stored or not.
        command.env("XDG_DATA_HOME", workplace.folder.join("data")).args(["fio", "--no-store"]);
    }
    // fio writes the state of a verification to its working directory.
    command.current_dir(&workplace.folder);
    command.arg("--output-format=json").arg(write_test_file(workplace, nth, &folder)?);
    let output = command::output(&mut command)?;
    parse_output(&output, job.metrics).with_context(|| command::format_command(&command))
}

fn write_test_file(workplace: &BenchWorkplace, nth: usize, folder: &Path) -> Result<PathBuf> {
    let job = &FIO_TESTS[nth];
    let mut text = format!("{GLOBAL_OPTIONS}directory={}\n", folder.display());
    if job.initial_files == InitialFiles::Existing {
        text += "time_based=1\n";
    }
    let has_sections = job.lines.contains('[');
    text += &job.lines.split(' ').collect::<Vec<_>>().join("\n");
    text += if has_sections { "\n" } else { "\n[job]\n" };
    let path = workplace.folder.join(format!("{nth}.fio"));
    fs::write(&path, text)?;
    Ok(path)
}

/// Parses fio's JSON output, which both tools write.
fn parse_output(output: &str, compared: &[FioMetric]) -> Result<Vec<f64>> {
    // fio may print notes before the document.
    let start = output.find('{').context("no JSON")?;
    let document: Value = serde_json::from_str(&output[start..]).context("no JSON")?;
    let jobs = document["jobs"].as_array().context("no jobs")?;
    if let Some(failed) = jobs.iter().find(|job| job["error"].as_i64() != Some(0)) {
        bail!("a job failed: {}", failed["error"]);
    }
    compared.iter().map(|what| metric_value(jobs, *what)).collect()
}

fn metric_value(jobs: &[Value], what: FioMetric) -> Result<f64> {
    let number = |job: &Value, pointer: &str| {
        job.pointer(pointer).and_then(Value::as_f64).with_context(|| format!("no {pointer}"))
    };
    if what == FioMetric::SyncP99 {
        return Ok(number(&jobs[0], "/sync/lat_ns/percentile/99.000000")? * 1e-9);
    }
    let (mut rate, mut weighted) = (0.0, 0.0);
    for job in jobs {
        for direction in ["read", "write"] {
            let iops = number(job, &format!("/{direction}/iops"))?;
            rate += iops;
            weighted += iops * number(job, &format!("/{direction}/clat_ns/mean"))? * 1e-9;
        }
    }
    Ok(if what == FioMetric::Rate { rate } else { weighted / rate })
}

fn rows(figures: &Figures) -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for ((nth, what), [ours, theirs]) in figures {
        let job = &FIO_TESTS[*nth];
        let what = job.metrics[*what];
        let ratio = PeerRatio::from_neighbours(ours, theirs).context("nothing was measured")?;
        rows.push(vec![
            job.name.to_owned(),
            metric_name(what).to_owned(),
            format_median(ours, what),
            format_median(theirs, what),
            format!("{:.3}", ratio.estimate),
            ratio.format_interval(),
            ratio.agreement(AGREEMENT_LIMITS).to_owned(),
        ]);
    }
    Ok(rows)
}

const fn metric_name(what: FioMetric) -> &'static str {
    match what {
        FioMetric::Rate => "rate",
        FioMetric::Latency => "mean latency",
        FioMetric::SyncP99 => "p99 of fdatasync",
    }
}

fn format_median(values: &[f64], what: FioMetric) -> String {
    let median = ratio::median(values).unwrap_or(f64::NAN);
    match what {
        FioMetric::Rate => format!("{median:.0} IO/s"),
        FioMetric::Latency | FioMetric::SyncP99 => format!("{:.0} µs", median * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_the_rates_of_all_jobs() {
        let document = r#"note {"jobs":[
            {"error":0,"read":{"iops":100.0,"clat_ns":{"mean":2000}},
             "write":{"iops":0.0,"clat_ns":{"mean":0}},
             "sync":{"lat_ns":{"percentile":{"99.000000":5000}}}},
            {"error":0,"read":{"iops":0.0,"clat_ns":{"mean":0}},
             "write":{"iops":300.0,"clat_ns":{"mean":6000}}}]}"#;
        let compared = [FioMetric::Rate, FioMetric::Latency, FioMetric::SyncP99];
        let values = parse_output(document, &compared).unwrap();
        for (value, expected) in values.iter().zip([400.0, 5e-6, 5e-6]) {
            assert!((value - expected).abs() < 1e-12, "{values:?}");
        }
        assert!(
            parse_output(&document.replace("\"error\":0", "\"error\":5"), &compared).is_err()
        );
        assert!(parse_output(&document.replace("99.0", "9"), &compared).is_err());
    }

    #[test]
    fn test_names_are_unique() {
        let names: std::collections::BTreeSet<_> =
            FIO_TESTS.iter().map(|job| job.name).collect();
        assert!(FIO_TESTS.len() >= 20 && names.len() == FIO_TESTS.len());
    }
}
