//! Load generator compared with fio: the same job files and result format, in turns.
//!
//! fio gets the settings that make it fastest; assay reads the same file and needs no settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{command, packages};

use super::cpus::Cpus;
use super::machine;
use super::options::BenchOptions;
use super::order::turn_order;
use super::ratio::{self, PeerRatio};
use super::workplace::BenchWorkplace;
use workbench::page::MarkdownPage;

mod parameter_files;
mod ram_disk;

use ram_disk::RamDisk;

/// Test that both tools run from the same job file.
struct PeerTest {
    name: &'static str,
    engine: &'static str,
    target: ReadTarget,
    bytes: &'static str,
    depth: u32,
    metric_targets: &'static [MetricTarget],
}

/// Target of the reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadTarget {
    Null,
    RamDisk,
    File,
    /// Null engine, with as many targets as 24 hosts with 6 volumes each.
    ManyNull,
    /// Files, the same number.
    ManyFiles,
}

impl ReadTarget {
    const fn is_null(self) -> bool {
        matches!(self, Self::Null | Self::ManyNull)
    }
}

/// Metric that is compared, with the target ratio.
#[derive(Clone, Copy)]
enum MetricTarget {
    /// Minimum of assay's rate over fio's.
    Rate(f64),
    /// Minimum of fio's CPU time over assay's.
    UserTime(f64),
    /// Minimum of fio's latency over assay's, for the median and the 99th percentile.
    Latency(f64),
}

/// Latency at most 3 % above fio's.
const LATENCY_TARGET: MetricTarget = MetricTarget::Latency(1.0 / 1.03);
const DEEP_QUEUE_TARGETS: &[MetricTarget] =
    &[MetricTarget::Rate(1.0), MetricTarget::UserTime(2.0)];

/// Number of targets of one process in the tests with many: 24 hosts with 6 volumes each.
const MANY_TARGETS: u32 = 144;
/// Their total size: 4 MiB each.
const MANY_TARGETS_SIZE: &str = "576m";

const TESTS: [PeerTest; 10] = [
    peer_test("generator", ("null", 32), (ReadTarget::Null, "4k"), &[MetricTarget::Rate(4.0)]),
    peer_test(
        "RAM disk, libaio",
        ("libaio", 32),
        (ReadTarget::RamDisk, "4k"),
        DEEP_QUEUE_TARGETS,
    ),
    peer_test(
        "RAM disk, libaio",
        ("libaio", 32),
        (ReadTarget::RamDisk, "8k"),
        DEEP_QUEUE_TARGETS,
    ),
    peer_test(
        "RAM disk, io_uring",
        ("io_uring", 32),
        (ReadTarget::RamDisk, "4k"),
        DEEP_QUEUE_TARGETS,
    ),
    peer_test(
        "RAM disk, io_uring",
        ("io_uring", 1),
        (ReadTarget::RamDisk, "4k"),
        &[LATENCY_TARGET],
    ),
    peer_test(
        "RAM disk, blocking",
        ("pvsync2", 1),
        (ReadTarget::RamDisk, "4k"),
        &[LATENCY_TARGET],
    ),
    peer_test(
        "file, io_uring",
        ("io_uring", 32),
        (ReadTarget::File, "4k"),
        &[MetricTarget::Rate(1.0)],
    ),
    peer_test("file, io_uring", ("io_uring", 1), (ReadTarget::File, "4k"), &[LATENCY_TARGET]),
    peer_test(
        "144 targets",
        ("null", MANY_TARGETS),
        (ReadTarget::ManyNull, "4k"),
        &[MetricTarget::Rate(4.0)],
    ),
    peer_test(
        "144 files, io_uring",
        ("io_uring", MANY_TARGETS),
        (ReadTarget::ManyFiles, "4k"),
        &[MetricTarget::Rate(1.0)],
    ),
];

const fn peer_test(
    name: &'static str,
    (engine, depth): (&'static str, u32),
    (target, bytes): (ReadTarget, &'static str),
    aims: &'static [MetricTarget],
) -> PeerTest {
    PeerTest { name, engine, target, bytes, depth, metric_targets: aims }
}

/// Figures of one contender in one turn.
struct StorageFigure {
    /// IO/s.
    rate: f64,
    /// CPU-seconds in user space per I/O.
    user_s: f64,
    /// CPU-seconds in the kernel per I/O.
    system_s: f64,
    /// Median and 99th percentile in seconds, from submission to completion.
    latency_s: [f64; 2],
}

/// Size of the target: far larger than any CPU cache, and laid out in seconds.
const SIZE: &str = "512m";

/// Runs the comparison and writes the page.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_STORAGE)?;
    let workplace = BenchWorkplace::open(root, Cpus::choose(options.threads)?)?;
    let assay = workplace.build_assay()?;
    let mut facts = machine::facts(&workplace);
    facts.push(machine::assay_version(&workplace, &assay));
    facts.push(("packages", machine::package_versions(&workplace, &["fio"])?));
    let disk = RamDisk::new(&workplace)?;
    let file = workplace.folder.join("file");
    ram_disk::fill(&workplace, &file)?;
    let many = workplace.folder.join("many");
    fs::create_dir_all(&many)?;
    let files: Vec<PathBuf> = TESTS
        .iter()
        .enumerate()
        .map(|(nth, question)| {
            let place = match question.target {
                ReadTarget::Null | ReadTarget::ManyNull => None,
                ReadTarget::RamDisk => Some(format!("filename={}", disk.path.display())),
                ReadTarget::File => Some(format!("filename={}", file.display())),
                ReadTarget::ManyFiles => Some(format!("directory={}", many.display())),
            };
            write_test_file(&workplace, (nth, question), place)
        })
        .collect::<Result<_>>()?;
    let figures = measure(&workplace, &assay, &files, options)?;
    facts.push(("load after", workbench::load_average()));
    let mut page = MarkdownPage::new("Storage compared with fio", "cargo xtask bench storage");
    page.facts(&facts);
    page.heading("Figures");
    let head = ["what", "", "assay", "fio", "ratio", "95 %", "target", ""];
    page.table(&head, &rows(&figures)?);
    page.heading("CPU time per I/O");
    let head = ["what", "assay, program", "fio, program", "assay, kernel", "fio, kernel"];
    page.table(&head, &cost_rows(&figures)?);
    page.paragraph(ABOUT);
    parameter_files::compare(&mut page, &workplace, &assay, options)?;
    page.heading("Job files");
    for (question, file) in TESTS.iter().zip(&files) {
        page.paragraph(&format!("{}, {}:", question.name, size_and_depth(question)));
        let text = fs::read_to_string(file)?
            .replace(&workplace.target.display().to_string(), "target");
        page.commands(&text.lines().map(str::to_owned).collect::<Vec<_>>());
    }
    page.publish(root, "storage")
}

const ABOUT: &str = "\
All figures are medians over the turns. Within a turn every contender runs once, in a seeded random
order that is reversed every other turn; the interval is that of the median ratio within a turn, from order
statistics. Both read the same job files with one thread, `fio FILE` and `assay fio FILE`, and record
every latency. A ratio above 1 is better for assay in every row: times are inverted. Latency is from
submission to completion (`lat` of fio). The RAM disk is zram filled with incompressible data; it does not
support non-blocking I/O, so the kernel uses worker threads for io_uring. assay counts their CPU time, fio
does not.";

fn write_test_file(
    workplace: &BenchWorkplace,
    (nth, question): (usize, &PeerTest),
    place: Option<String>,
) -> Result<PathBuf> {
    let mut lines = vec![
        "[global]".to_owned(),
        "rw=randread".to_owned(),
        format!("bs={}", question.bytes),
        format!("ioengine={}", question.engine),
        format!("iodepth={}", question.depth),
        "norandommap=1".to_owned(),
        "time_based=1".to_owned(),
        "runtime=2".to_owned(),
        "clat_percentiles=0".to_owned(),
        "lat_percentiles=1".to_owned(),
    ];
    match place {
        Some(place) => {
            let is_one = question.target != ReadTarget::ManyFiles;
            let size = if is_one { SIZE } else { MANY_TARGETS_SIZE };
            lines.extend([place, format!("size={size}"), "direct=1".to_owned()]);
        }
        None => lines.push("size=100g".to_owned()),
    }
    if matches!(question.target, ReadTarget::ManyNull | ReadTarget::ManyFiles) {
        lines.push(format!("nrfiles={MANY_TARGETS}"));
    }
    if question.depth > 1 && !question.target.is_null() {
        lines.extend(
            ["iodepth_batch_submit=16", "iodepth_batch_complete_max=32"].map(Into::into),
        );
    }
    // The latency of one I/O at a time depends on the CPU that submits it: pin both tools to the
    // same one.
    if question.depth == 1 {
        lines.push(format!("cpus_allowed={}", workplace.cpus.first()));
    }
    if question.engine == "io_uring" {
        lines.extend(["registerfiles=1", "fixedbufs=1"].map(Into::into));
    }
    lines.push("[job]".to_owned());
    let path = workplace.folder.join(format!("{nth}.fio"));
    fs::write(&path, lines.join("\n") + "\n")?;
    Ok(path)
}

/// Figures by test: assay's, fio's.
type Figures = BTreeMap<usize, [Vec<StorageFigure>; 2]>;

fn measure(
    workplace: &BenchWorkplace,
    assay: &Path,
    files: &[PathBuf],
    options: &BenchOptions,
) -> Result<Figures> {
    let mut figures = Figures::new();
    for turn in 0..options.turns {
        println!("turn {} of {}", turn + 1, options.turns);
        for at in turn_order(options.seed, turn, files.len() * 2) {
            let (question, by_fio) = (at / 2, at % 2 == 1);
            let mut command = match by_fio {
                true => workplace.pinned_command("fio"),
                false => workplace.pinned_command(assay),
            };
            command.args((!by_fio).then_some(["fio", "--no-store"]).into_iter().flatten());
            command.arg("--output-format=json").arg(&files[question]);
            let output = command::output(&mut command)?;
            let figure =
                parse_output(&output).with_context(|| command::format_command(&command))?;
            figures.entry(question).or_default()[usize::from(by_fio)].push(figure);
        }
    }
    Ok(figures)
}

/// Parses fio's JSON output, which both tools write.
fn parse_output(output: &str) -> Result<StorageFigure> {
    // fio may print notes before the document.
    let start = output.find('{').context("no JSON")?;
    let document: Value = serde_json::from_str(&output[start..]).context("no JSON")?;
    let one = &document["jobs"][0];
    if one["error"].as_i64() != Some(0) {
        bail!("the job failed: {}", one["error"]);
    }
    let number = |pointer: &str| {
        one.pointer(pointer).and_then(Value::as_f64).with_context(|| format!("no {pointer}"))
    };
    let (ios, runtime_ms) = (number("/read/total_ios")?, number("/job_runtime")?);
    let per_io = |percent: f64| percent / 100.0 * runtime_ms * 1e-3 / ios;
    let percentile = |name: &str| number(&format!("/read/lat_ns/percentile/{name}"));
    Ok(StorageFigure {
        rate: number("/read/iops")?,
        user_s: per_io(number("/usr_cpu")?),
        system_s: per_io(number("/sys_cpu")?),
        latency_s: [percentile("50.000000")? * 1e-9, percentile("99.000000")? * 1e-9],
    })
}

fn size_and_depth(question: &PeerTest) -> String {
    format!("{}iB, depth {}", question.bytes.replace('k', "K"), question.depth)
}

fn rows(figures: &Figures) -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for (nth, question) in TESTS.iter().enumerate() {
        let [ours, theirs] = figures.get(&nth).context("nobody measured")?;
        for aim in question.metric_targets {
            for (what, value, target, is_time) in compared_metrics(*aim) {
                let values =
                    |figures: &[StorageFigure]| figures.iter().map(value).collect::<Vec<f64>>();
                let (ours, theirs) = (values(ours), values(theirs));
                let ratio = match is_time {
                    true => PeerRatio::from_turns(&theirs, &ours),
                    false => PeerRatio::from_turns(&ours, &theirs),
                };
                let ratio = ratio.context("nothing was measured")?;
                rows.push(vec![
                    format!("{}, {}", question.name, size_and_depth(question)),
                    what.to_owned(),
                    format_median(&ours, is_time),
                    format_median(&theirs, is_time),
                    format!("{:.3}", ratio.estimate),
                    ratio.format_interval(),
                    format!("≥ {target:.2}"),
                    ratio.verdict(target).to_owned(),
                ]);
            }
        }
    }
    Ok(rows)
}

/// Name of the metric, its value, the target, and whether it is a time.
type ComparedMetric = (&'static str, fn(&StorageFigure) -> f64, f64, bool);

fn compared_metrics(aim: MetricTarget) -> Vec<ComparedMetric> {
    match aim {
        MetricTarget::Rate(target) => vec![("rate", |it| it.rate, target, false)],
        MetricTarget::UserTime(target) => {
            vec![("CPU in the program", |it| it.user_s, target, true)]
        }
        MetricTarget::Latency(target) => vec![
            ("median latency", |it| it.latency_s[0], target, true),
            ("p99 latency", |it| it.latency_s[1], target, true),
        ],
    }
}

fn format_median(values: &[f64], is_time: bool) -> String {
    let median = ratio::median(values).unwrap_or(f64::NAN);
    match is_time {
        true if median < 1e-6 => format!("{:.0} ns", median * 1e9),
        true => format!("{:.2} µs", median * 1e6),
        false if median >= 1e6 => {
            format!("{:.2} million IO/s ({:.1} ns)", median / 1e6, 1e9 / median)
        }
        false => format!("{median:.0} IO/s"),
    }
}

fn cost_rows(figures: &Figures) -> Result<Vec<Vec<String>>> {
    let row = |(nth, question): (usize, &PeerTest)| -> Result<Vec<String>> {
        let both = figures.get(&nth).context("nobody measured")?;
        let cost = |value: fn(&StorageFigure) -> f64| {
            both.iter()
                .map(move |figures| {
                    format_median(&figures.iter().map(value).collect::<Vec<_>>(), true)
                })
                .collect::<Vec<_>>()
        };
        let name = format!("{}, {}", question.name, size_and_depth(question));
        Ok([vec![name], cost(|it| it.user_s), cost(|it| it.system_s)].concat())
    };
    TESTS.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_fio_json() {
        let document = r#"note
            {"jobs":[{"error":0,"job_runtime":2000,"usr_cpu":50,"sys_cpu":25,
            "read":{"total_ios":1000,"iops":500.0,
            "lat_ns":{"percentile":{"50.000000":2000,"99.000000":4000}}}}]}"#;
        let figure = parse_output(document).unwrap();
        assert!((figure.user_s - 1e-3).abs() < 1e-12 && (figure.system_s - 5e-4).abs() < 1e-12);
        assert!((figure.latency_s[0] - 2e-6).abs() < 1e-15);
        for damaged in
            [document.replace("\"error\":0", "\"error\":5"), document.replace("99.0", "9")]
        {
            assert!(parse_output(&damaged).is_err());
        }
    }
}
