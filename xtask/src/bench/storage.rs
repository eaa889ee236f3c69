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
use super::options::Options;
use super::order::order;
use super::page::Page;
use super::ratio::{self, Ratio};
use super::workplace::Workplace;

mod parameter_files;
mod ram_disk;

use ram_disk::RamDisk;

/// Test that both tools run from the same job file.
struct Question {
    name: &'static str,
    engine: &'static str,
    target: Target,
    bytes: &'static str,
    depth: u32,
    aims: &'static [Aim],
}

/// Target of the reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Nothing,
    RamDisk,
    File,
    /// Null engine, with as many targets as 24 hosts with 6 volumes each.
    ManyOfNothing,
    /// Files, the same number.
    ManyFiles,
}

impl Target {
    const fn is_nothing(self) -> bool {
        matches!(self, Self::Nothing | Self::ManyOfNothing)
    }
}

/// Metric that is compared, with the target ratio.
#[derive(Clone, Copy)]
enum Aim {
    /// Minimum of assay's rate over fio's.
    Rate(f64),
    /// Minimum of fio's CPU time over assay's.
    UserTime(f64),
    /// Minimum of fio's latency over assay's, for the median and the 99th percentile.
    Latency(f64),
}

/// Latency at most 3 % above fio's.
const AS_LOW: Aim = Aim::Latency(1.0 / 1.03);
const DEEP: &[Aim] = &[Aim::Rate(1.0), Aim::UserTime(2.0)];

/// Number of targets of one process in the tests with many: 24 hosts with 6 volumes each.
const MANY: u32 = 144;
/// Their total size: 4 MiB each.
const MANY_SIZE: &str = "576m";

const QUESTIONS: [Question; 10] = [
    question("generator", ("null", 32), (Target::Nothing, "4k"), &[Aim::Rate(4.0)]),
    question("RAM disk, libaio", ("libaio", 32), (Target::RamDisk, "4k"), DEEP),
    question("RAM disk, libaio", ("libaio", 32), (Target::RamDisk, "8k"), DEEP),
    question("RAM disk, io_uring", ("io_uring", 32), (Target::RamDisk, "4k"), DEEP),
    question("RAM disk, io_uring", ("io_uring", 1), (Target::RamDisk, "4k"), &[AS_LOW]),
    question("RAM disk, blocking", ("pvsync2", 1), (Target::RamDisk, "4k"), &[AS_LOW]),
    question("file, io_uring", ("io_uring", 32), (Target::File, "4k"), &[Aim::Rate(1.0)]),
    question("file, io_uring", ("io_uring", 1), (Target::File, "4k"), &[AS_LOW]),
    question("144 targets", ("null", MANY), (Target::ManyOfNothing, "4k"), &[Aim::Rate(4.0)]),
    question(
        "144 files, io_uring",
        ("io_uring", MANY),
        (Target::ManyFiles, "4k"),
        &[Aim::Rate(1.0)],
    ),
];

const fn question(
    name: &'static str,
    (engine, depth): (&'static str, u32),
    (target, bytes): (Target, &'static str),
    aims: &'static [Aim],
) -> Question {
    Question { name, engine, target, bytes, depth, aims }
}

/// Figures of one contender in one turn.
struct Figure {
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
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_STORAGE)?;
    let workplace = Workplace::open(root, Cpus::choose(options.threads)?)?;
    let assay = workplace.build_assay()?;
    let mut facts = machine::facts(&workplace);
    facts.push(machine::assay_version(&workplace, &assay));
    facts.push(("packages", machine::package_versions(&workplace, &["fio"])?));
    let disk = RamDisk::new(&workplace)?;
    let file = workplace.folder.join("file");
    ram_disk::fill(&workplace, &file)?;
    let many = workplace.folder.join("many");
    fs::create_dir_all(&many)?;
    let files: Vec<PathBuf> = QUESTIONS
        .iter()
        .enumerate()
        .map(|(nth, question)| {
            let place = match question.target {
                Target::Nothing | Target::ManyOfNothing => None,
                Target::RamDisk => Some(format!("filename={}", disk.path.display())),
                Target::File => Some(format!("filename={}", file.display())),
                Target::ManyFiles => Some(format!("directory={}", many.display())),
            };
            write_question(&workplace, (nth, question), place)
        })
        .collect::<Result<_>>()?;
    let figures = measure(&workplace, &assay, &files, options)?;
    facts.push(("load after", machine::load()));
    let mut page = Page::new("Storage compared with fio", "cargo xtask bench storage");
    page.facts(&facts);
    page.heading("Figures");
    let head = ["what", "", "assay", "fio", "ratio", "95 %", "target", ""];
    page.table(&head, &rows(&figures)?);
    page.heading("CPU time per I/O");
    let head = ["what", "assay, program", "fio, program", "assay, kernel", "fio, kernel"];
    page.table(&head, &costs(&figures)?);
    page.paragraph(ABOUT);
    parameter_files::compare(&mut page, &workplace, &assay, options)?;
    page.heading("Job files");
    for (question, file) in QUESTIONS.iter().zip(&files) {
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

fn write_question(
    workplace: &Workplace,
    (nth, question): (usize, &Question),
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
            let is_one = question.target != Target::ManyFiles;
            let size = if is_one { SIZE } else { MANY_SIZE };
            lines.extend([place, format!("size={size}"), "direct=1".to_owned()]);
        }
        None => lines.push("size=100g".to_owned()),
    }
    if matches!(question.target, Target::ManyOfNothing | Target::ManyFiles) {
        lines.push(format!("nrfiles={MANY}"));
    }
    if question.depth > 1 && !question.target.is_nothing() {
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
type Figures = BTreeMap<usize, [Vec<Figure>; 2]>;

fn measure(
    workplace: &Workplace,
    assay: &Path,
    files: &[PathBuf],
    options: &Options,
) -> Result<Figures> {
    let mut figures = Figures::new();
    for turn in 0..options.turns {
        println!("turn {} of {}", turn + 1, options.turns);
        for at in order(options.seed, turn, files.len() * 2) {
            let (question, by_fio) = (at / 2, at % 2 == 1);
            let mut command = match by_fio {
                true => workplace.pinned("fio"),
                false => workplace.pinned(assay),
            };
            command.args((!by_fio).then_some(["fio", "--no-store"]).into_iter().flatten());
            command.arg("--output-format=json").arg(&files[question]);
            let output = command::output(&mut command)?;
            let figure = read(&output).with_context(|| command::shown(&command))?;
            figures.entry(question).or_default()[usize::from(by_fio)].push(figure);
        }
    }
    Ok(figures)
}

/// Parses fio's JSON output, which both tools write.
fn read(output: &str) -> Result<Figure> {
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
    Ok(Figure {
        rate: number("/read/iops")?,
        user_s: per_io(number("/usr_cpu")?),
        system_s: per_io(number("/sys_cpu")?),
        latency_s: [percentile("50.000000")? * 1e-9, percentile("99.000000")? * 1e-9],
    })
}

fn size_and_depth(question: &Question) -> String {
    format!("{}iB, depth {}", question.bytes.replace('k', "K"), question.depth)
}

fn rows(figures: &Figures) -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for (nth, question) in QUESTIONS.iter().enumerate() {
        let [ours, theirs] = figures.get(&nth).context("nobody measured")?;
        for aim in question.aims {
            for (what, value, target, is_time) in compared(*aim) {
                let values =
                    |figures: &[Figure]| figures.iter().map(value).collect::<Vec<f64>>();
                let (ours, theirs) = (values(ours), values(theirs));
                let ratio = match is_time {
                    true => Ratio::of(&theirs, &ours),
                    false => Ratio::of(&ours, &theirs),
                };
                let ratio = ratio.context("nothing was measured")?;
                rows.push(vec![
                    format!("{}, {}", question.name, size_and_depth(question)),
                    what.to_owned(),
                    shown(&ours, is_time),
                    shown(&theirs, is_time),
                    format!("{:.3}", ratio.of_medians),
                    ratio.interval_text(),
                    format!("≥ {target:.2}"),
                    ratio.verdict(target).to_owned(),
                ]);
            }
        }
    }
    Ok(rows)
}

/// Name of the metric, its value, the target, and whether it is a time.
type Compared = (&'static str, fn(&Figure) -> f64, f64, bool);

fn compared(aim: Aim) -> Vec<Compared> {
    match aim {
        Aim::Rate(target) => vec![("rate", |it| it.rate, target, false)],
        Aim::UserTime(target) => vec![("CPU in the program", |it| it.user_s, target, true)],
        Aim::Latency(target) => vec![
            ("median latency", |it| it.latency_s[0], target, true),
            ("p99 latency", |it| it.latency_s[1], target, true),
        ],
    }
}

fn shown(values: &[f64], is_time: bool) -> String {
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

fn costs(figures: &Figures) -> Result<Vec<Vec<String>>> {
    let row = |(nth, question): (usize, &Question)| -> Result<Vec<String>> {
        let both = figures.get(&nth).context("nobody measured")?;
        let cost = |value: fn(&Figure) -> f64| {
            both.iter()
                .map(move |figures| shown(&figures.iter().map(value).collect::<Vec<_>>(), true))
                .collect::<Vec<_>>()
        };
        let name = format!("{}, {}", question.name, size_and_depth(question));
        Ok([vec![name], cost(|it| it.user_s), cost(|it| it.system_s)].concat())
    };
    QUESTIONS.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_that_both_write_is_read() {
        let document = r#"note
            {"jobs":[{"error":0,"job_runtime":2000,"usr_cpu":50,"sys_cpu":25,
            "read":{"total_ios":1000,"iops":500.0,
            "lat_ns":{"percentile":{"50.000000":2000,"99.000000":4000}}}}]}"#;
        let figure = read(document).unwrap();
        assert!((figure.user_s - 1e-3).abs() < 1e-12 && (figure.system_s - 5e-4).abs() < 1e-12);
        assert!((figure.latency_s[0] - 2e-6).abs() < 1e-15);
        for damaged in
            [document.replace("\"error\":0", "\"error\":5"), document.replace("99.0", "9")]
        {
            assert!(read(&damaged).is_err());
        }
    }
}
