//! Laboratory of `cargo xtask lab [SCENARIO…]`: runs assay in small virtual machines, on devices and networks
//! that this machine lacks and whose true values are known. Writes the figures with their true
//! values to `docs/laboratory.md`.
//!
//! Needs only Debian packages. If qemu cannot run, prints the reason and skips all scenarios.

#![expect(clippy::print_stdout, reason = "the terminal is its output")]

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use workbench::page::MarkdownPage;
use workbench::{command, packages};

use figure::{LabFigure, ScenarioResult};
use parallel::run_parallel;
use scenario::{CpuUse, LocalRunner, RunExtent, Scenario, ScenarioRunner};
use script_output::{exit_code, output_section, parse_document};

pub use arm::{TARGET as AARCH64_TARGET, find_compiler as find_aarch64_compiler};
pub use ci_scenarios::{ScenarioVerdict, run as run_in_ci};
pub use guest::GuestMachine;
pub use script_output::split_sections;

mod arm;
mod ci_scenarios;
mod cluster;
mod figure;
pub mod guest;
pub mod image;
mod judge;
mod network;
mod parallel;
mod rdma;
mod rdma_cable;
mod rdma_pairs;
mod rdma_ways;
mod scenario;
mod script_output;
mod storage;
mod storage_errors;
mod topology;
mod volume;

/// Page that is updated after each scenario.
const PAGE: &str = "docs/laboratory.md";
/// Heading of the last section of the page, written after a run of all scenarios.
const TOTALS_HEADING: &str = "All of them";

const SCENARIOS: &[Scenario] = &[
    rdma::SCENARIO,
    rdma_cable::SCENARIO,
    rdma_ways::SCENARIO,
    rdma_pairs::SCENARIO,
    network::SCENARIO,
    storage_errors::SCENARIO,
    arm::SCENARIO,
    storage::SCENARIO,
    topology::SCENARIO,
    volume::SCENARIO,
    cluster::SCENARIO,
];

/// Runs the named scenarios, or all of them, and writes the page; sections of other scenarios are
/// kept. With `--brief`, runs them as CI does and writes no page.
pub fn run(root: &Path, words: &[&str]) -> Result<()> {
    let (options, names): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| **word == "--brief");
    let extent = if options.is_empty() { RunExtent::Full } else { RunExtent::Brief };
    let start = Instant::now();
    let requested = find_scenarios(&names)?.into_iter();
    let ready = match prepare_lab(root, requested)? {
        Ok(ready) => ready,
        Err(reason) => {
            println!("SKIPPED lab: {reason}");
            return Ok(());
        }
    };
    for (name, reason) in &ready.skipped {
        println!("SKIPPED {name}: {reason}");
    }
    let program = describe_program(root)?;
    let ready_after = start.elapsed();
    // Serialises writing: two scenarios may end at the same time.
    let page = Mutex::new(());
    let results = run_parallel(&ready.runnable, extent, |scenario| -> Result<ScenarioResult> {
        let result = scenario.run(root, &ready.image, extent)?;
        if extent == RunExtent::Brief {
            return Ok(result);
        }
        let _guard = page.lock().expect("errors are passed on");
        write_page(root, scenario.title, |page| {
            scenario.write_section(&result, &program, page);
        })?;
        println!("lab: {} written to {PAGE}", scenario.name);
        Ok(result)
    });
    let summary = format!(
        "Prepared in {} s, {} scenarios run in {} s.",
        ready_after.as_secs(),
        results.len(),
        (start.elapsed() - ready_after).as_secs()
    );
    println!("lab: {summary}");
    if extent == RunExtent::Full && results.len() == SCENARIOS.len() {
        write_page(root, TOTALS_HEADING, |page| {
            page.paragraph(&format!("{summary} Recorded {program}."));
        })?;
    }
    conclude(results, ready.failed)
}

/// Returns the named scenarios, or all of them.
fn find_scenarios(names: &[&str]) -> Result<Vec<&'static Scenario>> {
    let unknown = |name: &&&str| SCENARIOS.iter().all(|scenario| scenario.name != **name);
    if let Some(name) = names.iter().find(unknown) {
        let known: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        bail!("unknown scenario: {name}; use one of {}", known.join(", "));
    }
    let is_requested = |it: &&Scenario| names.is_empty() || names.contains(&it.name);
    Ok(SCENARIOS.iter().filter(is_requested).collect())
}

/// Fails if a figure is wrong or a scenario did not end; `failed` are those not prepared.
fn conclude(
    results: Vec<(&'static str, Result<ScenarioResult>)>,
    mut failed: Vec<&'static str>,
) -> Result<()> {
    let mut wrong_count = 0;
    for (name, result) in results {
        match result {
            Ok(result) => wrong_count += result.count_wrong(),
            Err(error) => {
                println!("lab: {error:#}");
                failed.push(name);
            }
        }
    }
    match (wrong_count, &failed[..]) {
        (0, []) => Ok(()),
        (count, []) => bail!("{count} figures are wrong, see above"),
        (count, names) => {
            bail!("{} failed, and {count} figures are wrong, see above", names.join(", "))
        }
    }
}

/// Returns the date and the program's version, for the sections of the page.
fn describe_program(root: &Path) -> Result<String> {
    let output = |program: &str, arguments: &[&str]| -> Result<String> {
        Ok(command::output(command::at_root(root, program).args(arguments))?.trim().to_owned())
    };
    let day = output("date", &["-u", "+%F"])?;
    let commit = output("git", &["log", "-1", "--format=%h of %cs"])?;
    // Exclude the documentation: it is not part of the program, and a run changes this page.
    let uncommitted = output("git", &["status", "--porcelain", "--", ".", ":!docs"])?;
    let suffix = if uncommitted.is_empty() { "" } else { " and uncommitted changes" };
    Ok(format!("on {day} with assay at commit {commit}{suffix}"))
}

/// Writes the page with one new section. Called after each scenario, so that an interrupted run
/// keeps the earlier sections.
fn write_page(root: &Path, title: &str, section: impl FnOnce(&mut MarkdownPage)) -> Result<()> {
    let old_page = fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    let mut page = MarkdownPage::new("The laboratory", "cargo xtask lab");
    page.paragraph(
        "Measurements in small virtual machines under software emulation. Speeds are meaningless; \
         each figure has a known truth. \"WRONG\" is beyond the tolerance; an empty verdict is undecided.",
    );
    page.paragraph("CI runs all scenarios, with at least three rounds of `rdma`.");
    let mut section = Some(section);
    for heading in SCENARIOS.iter().map(|scenario| scenario.title).chain([TOTALS_HEADING]) {
        let new = section.take_if(|_| heading == title);
        let old = find_section(&old_page, heading);
        if new.is_some() || old.is_some() {
            page.heading(heading);
        }
        match (new, old) {
            (Some(write), _) => write(&mut page),
            (None, Some(text)) => page.paragraph(text),
            (None, None) => {}
        }
    }
    page.save(root, PAGE)
}

/// Returns the text of a section, from its heading to the next one.
fn find_section<'p>(page: &'p str, title: &str) -> Option<&'p str> {
    let (_, rest) = page.split_once(&format!("\n## {title}\n"))?;
    let text = rest.split_once("\n## ").map_or(rest, |(text, _)| text);
    Some(text.trim())
}

/// Image of the guests, and the scenarios that can run.
struct LabSetup<'s> {
    image: image::Image,
    runnable: Vec<&'s Scenario>,
    /// Scenarios that need more memory than this machine has, each with the reason.
    skipped: Vec<(&'static str, String)>,
    /// Scenarios whose preparation failed.
    failed: Vec<&'static str>,
}

/// Prepares all scenarios but for the program itself; a failure is reported again when they run.
pub fn prepare(root: &Path) {
    if let Err(error) = prepare_scenarios(root, SCENARIOS.iter()) {
        println!("lab: {error:#}");
    }
}

/// Compiles the program, and prepares the scenarios.
fn prepare_lab<'s>(
    root: &Path,
    requested: impl Iterator<Item = &'s Scenario>,
) -> Result<Result<LabSetup<'s>, String>> {
    command::run(command::cargo(root).args(["build", "--quiet", "--package", "assay"]))?;
    prepare_scenarios(root, requested)
}

/// Installs packages, compiles for other machines and creates the image in parallel; the inner error
/// is the reason why no guest can run.
fn prepare_scenarios<'s>(
    root: &Path,
    requested: impl Iterator<Item = &'s Scenario>,
) -> Result<Result<LabSetup<'s>, String>> {
    packages::install(root, packages::FOR_LAB)?;
    if let Some(reason) = guest::unavailable_reason() {
        return Ok(Err(reason));
    }
    let (mut runnable, mut skipped, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let image = thread::scope(|scope| -> Result<image::Image> {
        let image = scope.spawn(|| image::ensure_image(root));
        for scenario in requested {
            if let Some(reason) = scenario.skip_reason() {
                skipped.push((scenario.name, reason));
                continue;
            }
            match scenario.prepare(root) {
                Ok(()) => runnable.push(scenario),
                Err(error) => {
                    println!("lab: {error:#}");
                    failed.push(scenario.name);
                }
            }
        }
        let image = image.join().expect("errors are passed on");
        image.context("cannot build the image of the guests")
    })?;
    Ok(Ok(LabSetup { image, runnable, skipped, failed }))
}

/// Returns the names of the rows whose verdict satisfies `predicate`.
#[cfg(test)]
fn row_names_where(
    result: Result<Vec<LabFigure>>,
    predicate: fn(Option<bool>) -> bool,
) -> Vec<String> {
    let figures = result.unwrap().into_iter();
    figures.filter(|figure| predicate(figure.is_correct())).map(|figure| figure.name).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn writes_each_section_without_changing_others() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("docs")).unwrap();
        let result = |reported: &str| {
            let figures = vec![LabFigure::exact("x", "1", reported.to_owned())];
            ScenarioResult { figures, elapsed: Duration::ZERO, load_before: "0.00".to_owned() }
        };
        for (index, reported) in [(2, "2"), (0, "1"), (2, "1")] {
            let scenario = &SCENARIOS[index];
            write_page(root.path(), scenario.title, |page| {
                scenario.write_section(&result(reported), "on a day", page);
            })
            .unwrap();
        }
        let text = fs::read_to_string(root.path().join(PAGE)).unwrap();
        let positions = [0, 2].map(|index| text.find(SCENARIOS[index].title).unwrap());
        assert!(positions[0] < positions[1], "in the order of the table: {text}");
        assert_eq!(text.matches("| x | 1 | 1 | holds |").count(), 2, "{text}");
        assert!(!text.contains("| WRONG"), "{text}");
        assert_eq!(text.matches("Recorded on a day.").count(), 2, "{text}");
    }

    #[test]
    fn program_description_has_date_and_commit() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let program = describe_program(root).unwrap();
        let (day, commit) = program.split_once(" with assay at commit ").unwrap();
        assert_eq!(day.trim_start_matches("on ").split('-').count(), 3, "{program}");
        let hash = commit.split(' ').next().unwrap();
        assert!(hash.len() >= 7 && u128::from_str_radix(hash, 16).is_ok(), "{program}");
    }

    #[test]
    fn finds_section_text() {
        let page = "# Page\n\n## One\n\nabout\n\n| a |\n\n## Two\n\nmore\n";
        for (title, expected) in [
            ("One", Some("about\n\n| a |")),
            ("Two", Some("more")),
            ("On", None),
            ("Three", None),
        ] {
            assert_eq!(find_section(page, title), expected, "{title}");
        }
    }
}
