//! Speed of commands that only read, over a large store: 10,000 runs with 1,000,000 results, two
//! runs of 5,000 results, 1,000 fio files, and a page in every language. None of them measures the
//! machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use assay_model::quantity::{Quantity, Unit};

use crate::command;
use crate::packages;

use super::cpus::Cpus;
use super::machine;
use super::options::BenchOptions;
use super::ratio;
use super::workplace::BenchWorkplace;
use workbench::page::MarkdownPage;

mod generator;

/// Runs of the large store, and cases of each: with four results per case, a million results.
const RUNS: usize = 10_000;
const CASES: usize = 25;
/// Cases of each of the two runs that are compared: 5,000 results.
const COMPARED_CASES: usize = 1_250;
/// Cases of the run for the HTML page: the largest suite has about 300 results.
const PAGE_CASES: usize = 75;
const FILES: usize = 1_000;
/// Maximum bytes of memory of every command: 200 MB.
const MAX_MEMORY: f64 = 200e6;

/// Command and its time limit.
struct StoreCommand {
    what: &'static str,
    words: Vec<String>,
    limit_s: f64,
    /// Whether it can be repeated with the same outcome.
    is_repeatable: bool,
}

/// Runs the measurement and writes the page.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_STORE)?;
    let workplace = BenchWorkplace::open(root, Cpus::choose(options.threads)?)?;
    let assay = workplace.build_assay()?;
    let store = workplace.folder.join("store");
    let files = workplace.folder.join("files");
    let first_s = create_store(&workplace, &assay, (&store, &files))?;
    let mut rows = Vec::new();
    let mut commands = Vec::new();
    for request in store_commands(&store, &files)? {
        let turns = if request.is_repeatable { options.turns } else { 1 };
        let (mut taken, mut memory) = (Vec::new(), 0.0);
        for _ in 0..turns {
            let (seconds, bytes) = run_once(&workplace, &assay, &request.words)?;
            taken.push(seconds);
            memory = f64::max(memory, bytes);
        }
        let median = ratio::median(&taken).context("nothing was measured")?;
        let is_reached = median <= request.limit_s && memory <= MAX_MEMORY;
        rows.push(vec![
            request.what.to_owned(),
            format_seconds(median),
            ratio::median_interval(&taken).map_or("–".into(), |(low, high)| {
                format!("{}…{}", format_seconds(low), format_seconds(high))
            }),
            format!("≤ {}", format_seconds(request.limit_s)),
            format!("{:.0} MB", memory / 1e6),
            if is_reached { "reached" } else { "missed" }.to_owned(),
        ]);
        let mut command = workplace.command("assay");
        command.args(request.words.iter().take(6));
        commands.push(
            workplace.format_command(&command)
                + if request.words.len() > 6 { " …" } else { "" },
        );
    }
    let mut facts = machine::facts(&workplace);
    facts.push(machine::assay_version(&workplace, &assay));
    let mut page = MarkdownPage::new("Commands over a large store", "cargo xtask bench store");
    page.facts(&facts);
    page.paragraph(&format!(
        "The store has {RUNS} runs with {} results; each command is a process of its own, {} turns, files in the page \
         cache. The first listing, which writes the index, took {}. Memory is the peak of a process \
         and may be {:.0} MB.",
        RUNS * CASES * generator::METRICS.len(),
        options.turns,
        format_seconds(first_s),
        MAX_MEMORY / 1e6,
    ));
    page.heading("Figures");
    page.table(&["what", "median", "95 %", "target", "memory", ""], &rows);
    page.heading("Commands");
    page.commands(&commands);
    page.publish(root, "store")?;
    fs::remove_dir_all(&workplace.folder).context("cannot empty the folder of the comparison")
}

/// Creates the store and the files; returns the seconds of the first listing.
fn create_store(
    workplace: &BenchWorkplace,
    assay: &Path,
    (store, files): (&Path, &Path),
) -> Result<f64> {
    generator::write_files(files, FILES)?;
    let mut first = workplace.command(assay);
    // Create the store by the program itself.
    let one = files.join("0000.json");
    command::output(first.arg("import").arg(&one).arg("--store").arg(store))?;
    generator::write_runs(store, ("20200101", RUNS, CASES))?;
    generator::write_runs(store, ("20250101", 2, COMPARED_CASES))?;
    generator::write_runs(store, ("20250201", 1, PAGE_CASES))?;
    let words = ["list", "--store", &store.to_string_lossy()].map(str::to_owned);
    Ok(run_once(workplace, assay, &words)?.0)
}

fn store_commands(store: &Path, files: &Path) -> Result<Vec<StoreCommand>> {
    let folder = store.to_string_lossy();
    let request = |what, words: &[&str], most_s| {
        let words = [words, &["--store", &*folder]].concat();
        let words = words.into_iter().map(str::to_owned).collect();
        StoreCommand { what, words, limit_s: most_s, is_repeatable: true }
    };
    let id = |day, number| generator::run_id(day, number);
    let (a, b) = (id("20250101", 0), id("20250101", 1));
    let (one, page) = (id("20200101", RUNS / 2), id("20250201", 0));
    let html = files.join("page.html");
    let html = html.to_string_lossy();
    let mut all = vec![
        request("list 10,000 runs", &["list"], 0.1),
        request("list 10,000 runs as JSON", &["list", "--json"], 0.1),
        request("show a run by its name", &["show", &one], 0.1),
        request("show the latest run", &["show", "latest"], 0.1),
        request("compare two runs of 5,000 results", &["compare", &a, &b], 0.5),
        request(
            "report a run of 300 results in nine languages",
            &["report", &page, "--format", "html", "--locale", "fr", "--output", &html],
            2.0,
        ),
    ];
    let mut names: Vec<PathBuf> = fs::read_dir(files)?
        .map(|it| it.map(|it| it.path()))
        .collect::<Result<_, std::io::Error>>()?;
    names.sort();
    let mut words = vec!["import".to_owned()];
    words.extend(names.iter().map(|it| it.to_string_lossy().into_owned()));
    words.extend(["--store".to_owned(), format!("{folder}-of-files")]);
    all.push(StoreCommand {
        what: "import 1,000 files of fio",
        words,
        limit_s: 5.0,
        is_repeatable: false,
    });
    Ok(all)
}

/// Returns the seconds from the start of a process to its end, and its peak memory.
fn run_once(workplace: &BenchWorkplace, assay: &Path, words: &[String]) -> Result<(f64, f64)> {
    let note = workplace.folder.join("peak-memory");
    let mut timed = workplace.command("/usr/bin/time");
    timed.args(["-q", "-f", "%M", "-o"]).arg(&note).arg(assay).args(words);
    // An inconclusive comparison has an exit code of its own.
    timed.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let start = Instant::now();
    let status = timed.status().context("cannot start /usr/bin/time")?;
    let seconds = start.elapsed().as_secs_f64();
    anyhow::ensure!(matches!(status.code(), Some(0 | 4..=6)), "{words:?} failed: {status}");
    let kibibytes = fs::read_to_string(&note).context("/usr/bin/time wrote no file")?;
    let kibibytes: f64 = kibibytes.trim().parse().context("/usr/bin/time wrote no number")?;
    Ok((seconds, kibibytes * 1024.0))
}

fn format_seconds(value: f64) -> String {
    Quantity::new(value, Unit::Second).to_string()
}
