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
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use workbench::page::MarkdownPage;
use workbench::{command, packages};

use figure::{LabFigure, ScenarioResult};

pub use arm::{TARGET as AARCH64_TARGET, find_compiler as find_aarch64_compiler};
pub use ci_scenarios::{ScenarioVerdict, run as run_in_ci};

mod arm;
mod ci_scenarios;
mod cluster;
mod figure;
pub mod guest;
pub mod image;
mod judge;
mod network;
mod rdma;
mod rdma_cable;
mod rdma_pairs;
mod rdma_ways;
mod storage;
mod storage_errors;
mod topology;
mod volume;

/// Page that is updated after each scenario.
const PAGE: &str = "docs/laboratory.md";
/// Heading of the last section of the page, written after a run of all scenarios.
const TOTALS_HEADING: &str = "All of them";

/// Measurement whose true values are known.
struct Scenario {
    name: &'static str,
    title: &'static str,
    /// Setup of the scenario and expected results.
    description: &'static str,
    runner: ScenarioRunner,
    cpu_use: CpuUse,
    /// Timeout after which the scenario is killed.
    deadline: Duration,
    /// Parses the output into figures with their true values.
    judge: fn(&str) -> Result<Vec<LabFigure>>,
}

/// CPU use of a scenario, which decides what may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CpuUse {
    /// Timing-sensitive: nothing else may run.
    Exclusive,
    /// Timing-sensitive in a full run; a brief run only measures factors and is [`Self::Busy`].
    ExclusiveIfFull,
    /// Computes or spins: at most one of these at a time.
    Busy,
    /// Waits for delays, timers and booting kernels: may run together with a busy one.
    Waiting,
}

/// Machine that a scenario runs on.
enum ScenarioRunner {
    /// Guest of this machine, and the script that it runs.
    Guest(GuestMachine, &'static str),
    /// Guests on one network that all run one script; `$guest` is 1, 2 …. Only the output of the
    /// first one is evaluated.
    Guests(&'static [GuestMachine], &'static str),
    /// This machine, without a guest; the output has the format of a guest's script.
    Local(LocalRunner),
}

/// Scenario that runs on this machine, given the project's folder and the laboratory's cache.
struct LocalRunner {
    /// Installs and compiles before any scenario begins, so that no compiler disturbs a measurement
    /// or counts towards a timeout.
    prepare: fn(&Path, &Path) -> Result<()>,
    run: fn(&Path, &Path, Duration) -> Result<String>,
}

/// Hardware of a guest, in addition to the hardware that all guests have.
#[derive(Debug, Clone, Copy)]
pub struct GuestMachine {
    /// Memory of the guest.
    pub memory_mib: u32,
    /// CPUs, in the words of qemu's `-smp`.
    pub cpus: &'static str,
    /// Additional arguments for qemu.
    pub qemu_arguments: &'static [&'static str],
    /// Disks of this many MiB, named `disk0`, `disk1` … for `-device`.
    pub disks_mib: &'static [u64],
}

impl GuestMachine {
    /// Machine with two CPUs and no devices.
    pub const PLAIN: Self =
        Self { memory_mib: 1024, cpus: "2", qemu_arguments: &[], disks_mib: &[] };
}

/// Extent of a run; `$brief` in scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunExtent {
    Full,
    /// Shortened, for CI.
    Brief,
}

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
/// kept.
pub fn run(root: &Path, names: &[&str]) -> Result<()> {
    let scenario_names =
        || SCENARIOS.iter().map(|scenario| scenario.name).collect::<Vec<_>>().join(", ");
    if let Some(name) =
        names.iter().find(|name| SCENARIOS.iter().all(|scenario| scenario.name != **name))
    {
        bail!("unknown scenario: {name}; use one of {}", scenario_names());
    }
    let start = Instant::now();
    let requested =
        SCENARIOS.iter().filter(|scenario| names.is_empty() || names.contains(&scenario.name));
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
    let results =
        run_parallel(&ready.runnable, RunExtent::Full, |scenario| -> Result<ScenarioResult> {
            let result = scenario.run(root, &ready.image, RunExtent::Full)?;
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
    if results.len() == SCENARIOS.len() {
        write_page(root, TOTALS_HEADING, |page| {
            page.paragraph(&format!("{summary} Recorded {program}."));
        })?;
    }
    let (mut wrong_count, mut failed) = (0, ready.failed);
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

/// Runs scenarios: a busy one in parallel with a waiting one, then the exclusive ones one after
/// another. When no busy one is left, two waiting ones run in parallel.
fn run_parallel<'s, T: Send>(
    selected: &[&'s Scenario],
    extent: RunExtent,
    carry_out: impl Fn(&'s Scenario) -> T + Sync,
) -> Vec<(&'static str, T)> {
    let [busy, waiting, exclusive] =
        [CpuUse::Busy, CpuUse::Waiting, CpuUse::Exclusive].map(|cpu_use| {
            Queue::new(
                selected.iter().filter(|scenario| scenario.cpu_use_for(extent) == cpu_use),
            )
        });
    let run_queue = |queues: &[&Queue<'s>]| {
        let next = || queues.iter().find_map(|queue| queue.pop_longest());
        std::iter::from_fn(next)
            .map(|scenario| (scenario.name, carry_out(scenario)))
            .collect::<Vec<_>>()
    };
    let mut results = thread::scope(|scope| {
        let second_lane = scope.spawn(|| run_queue(&[&waiting]));
        let mut results = run_queue(&[&busy, &waiting]);
        results.extend(second_lane.join().expect("errors are passed on"));
        results
    });
    results.extend(run_queue(&[&exclusive]));
    results
}

/// Pending scenarios of one kind of CPU use.
struct Queue<'s>(Mutex<Vec<&'s Scenario>>);

impl<'s> Queue<'s> {
    fn new<'c>(selected: impl Iterator<Item = &'c &'s Scenario>) -> Self
    where
        's: 'c,
    {
        let mut scenarios: Vec<_> = selected.copied().collect();
        scenarios.sort_by_key(|scenario| scenario.deadline);
        Self(Mutex::new(scenarios))
    }

    /// Takes the scenario with the longest timeout, so that the last one is short.
    fn pop_longest(&self) -> Option<&'s Scenario> {
        self.0.lock().expect("no thread panics while holding the lock").pop()
    }
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

impl Scenario {
    /// Returns the reason why this machine cannot hold the scenario's guests.
    fn skip_reason(&self) -> Option<String> {
        guest::memory_shortage(self.machines(), guest::available_mib()?)
    }

    /// Returns the CPU use of a run of this extent.
    fn cpu_use_for(&self, extent: RunExtent) -> CpuUse {
        match (self.cpu_use, extent) {
            (CpuUse::ExclusiveIfFull, RunExtent::Full) => CpuUse::Exclusive,
            (CpuUse::ExclusiveIfFull, RunExtent::Brief) => CpuUse::Busy,
            (cpu_use, _) => cpu_use,
        }
    }

    fn machines(&self) -> &[GuestMachine] {
        match &self.runner {
            ScenarioRunner::Guest(machine, _) => std::slice::from_ref(machine),
            ScenarioRunner::Guests(machines, _) => machines,
            ScenarioRunner::Local(_) => &[],
        }
    }

    fn prepare(&self, root: &Path) -> Result<()> {
        match &self.runner {
            ScenarioRunner::Local(local) => (local.prepare)(root, &image::cache_folder()?)
                .with_context(|| format!("cannot prepare scenario {}", self.name)),
            ScenarioRunner::Guest(..) | ScenarioRunner::Guests(..) => Ok(()),
        }
    }

    /// Runs the scenario, stores its output, and prints the rows.
    fn run(
        &self,
        root: &Path,
        image: &image::Image,
        extent: RunExtent,
    ) -> Result<ScenarioResult> {
        println!("-- {}: {}", self.name, self.title);
        let (start, load) = (Instant::now(), workbench::load_average());
        let output = match &self.runner {
            ScenarioRunner::Guest(_, script) | ScenarioRunner::Guests(_, script) => {
                let job = guest::GuestJob {
                    machines: self.machines(),
                    script,
                    variables: extent.script_variables(),
                };
                guest::run(root, image, job, self.deadline)
            }
            ScenarioRunner::Local(local) => {
                (local.run)(root, &image::cache_folder()?, self.deadline)
            }
        };
        let output = output.with_context(|| format!("scenario {}", self.name))?;
        let output_path = image.folder.join(format!("{}.said", self.name));
        fs::write(&output_path, &output)?;
        let figures = (self.judge)(&output)
            .with_context(|| format!("scenario {} printed:\n{output}", self.name))?;
        let result = ScenarioResult { figures, elapsed: start.elapsed(), load_before: load };
        // Print all rows at once: another scenario may print at the same time.
        let rows: String = result.figures.iter().map(|it| it.row().join("  ") + "\n").collect();
        let seconds = result.elapsed.as_secs();
        println!("-- {}, {seconds} s, output in {}\n{rows}", self.name, output_path.display());
        Ok(result)
    }

    /// Writes the scenario's section of the page, without the heading.
    fn write_section(&self, result: &ScenarioResult, program: &str, page: &mut MarkdownPage) {
        page.paragraph(self.description);
        let rows: Vec<Vec<String>> = result.figures.iter().map(LabFigure::row).collect();
        page.table(&["figure", "truth", "reported", ""], &rows);
        let ScenarioResult { elapsed, load_before: load, .. } = result;
        page.paragraph(&format!(
            "Recorded {program}. Ran for {} s; load of the machine before: {load}.",
            elapsed.as_secs()
        ));
    }
}

impl RunExtent {
    fn script_variables(self) -> &'static str {
        match self {
            Self::Full => "brief=",
            Self::Brief => "brief=yes",
        }
    }
}

/// Splits the output into sections, each from a line `== NAME` to the next.
pub fn split_sections(output: &str) -> Vec<(&str, &str)> {
    let parts = output.split("\n== ").skip(1);
    parts
        .filter_map(|part| part.split_once('\n'))
        .map(|(name, rest)| (name.trim(), rest))
        .collect()
}

/// Returns the exit code that a script printed, or `none`.
pub(crate) fn exit_code(text: &str) -> String {
    let code = text.lines().find_map(|line| line.trim().strip_prefix("exit "));
    code.unwrap_or("none").to_owned()
}

/// Returns the section of this name.
pub(crate) fn output_section<'s>(output: &'s str, title: &str) -> Result<&'s str> {
    let matching = split_sections(output).into_iter().find(|(name, _)| *name == title);
    matching.map(|(_, text)| text).with_context(|| format!("section {title} is missing"))
}

/// Parses the first JSON document in a text.
pub(crate) fn parse_document(text: &str) -> Result<Value> {
    let start = text.find('{').context("no JSON in the output")?;
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter();
    Ok(documents.next().context("incomplete JSON")??)
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
    use super::*;

    #[test]
    fn runs_each_scenario_once_and_exclusive_ones_alone() {
        for extent in [RunExtent::Full, RunExtent::Brief] {
            let under_way = Mutex::new(Vec::new());
            let all: Vec<&Scenario> = SCENARIOS.iter().collect();
            let results = run_parallel(&all, extent, |scenario| {
                let cpu_use = scenario.cpu_use_for(extent);
                let mut others = under_way.lock().unwrap();
                let concurrent = others.clone();
                others.push(cpu_use);
                drop(others);
                thread::yield_now();
                let mut under_way = under_way.lock().unwrap();
                let own = under_way.iter().position(|it| *it == cpu_use).unwrap();
                under_way.remove(own);
                (cpu_use, concurrent)
            });
            for (name, (cpu_use, concurrent)) in &results {
                let allowed: &[CpuUse] = match cpu_use {
                    CpuUse::Exclusive | CpuUse::ExclusiveIfFull => &[],
                    CpuUse::Busy => &[CpuUse::Waiting],
                    CpuUse::Waiting => &[CpuUse::Busy, CpuUse::Waiting],
                };
                assert!(concurrent.len() < 2, "{name} with {concurrent:?}");
                assert!(
                    concurrent.iter().all(|it| allowed.contains(it)),
                    "{name} with {concurrent:?}"
                );
            }
            let mut names: Vec<&str> = results.iter().map(|(name, _)| *name).collect();
            let mut expected: Vec<&str> = all.iter().map(|it| it.name).collect();
            names.sort_unstable();
            expected.sort_unstable();
            assert_eq!(names, expected);
        }
    }

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
    fn waiting_scenarios_run_in_parallel_without_busy_ones() {
        let waiting: Vec<&Scenario> =
            SCENARIOS.iter().filter(|it| it.cpu_use == CpuUse::Waiting).collect();
        let barrier = std::sync::Barrier::new(2);
        // Both lanes must wait at the barrier in the first two scenarios, or this test does not
        // end.
        let started = Mutex::new(0);
        let results = run_parallel(&waiting, RunExtent::Full, |_| {
            let turn = {
                let mut started = started.lock().unwrap();
                *started += 1;
                *started
            };
            if turn <= 2 {
                barrier.wait();
            }
        });
        assert_eq!(results.len(), waiting.len());
    }

    #[test]
    fn longest_scenario_starts_first() {
        let all: Vec<&Scenario> = SCENARIOS.iter().collect();
        let queue = Queue::new(all.iter().filter(|it| it.cpu_use == CpuUse::Waiting));
        let order: Vec<Duration> =
            std::iter::from_fn(|| queue.pop_longest()).map(|it| it.deadline).collect();
        assert!(order.len() > 1 && order.is_sorted_by(|a, b| a >= b), "{order:?}");
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

    #[test]
    fn parses_document_before_other_text() {
        let output = "x\n{\"a\":{}}\ntook {1}\n";
        assert_eq!(parse_document(output).unwrap()["a"], serde_json::json!({}));
        for damaged in ["no device", "} {", ""] {
            assert!(parse_document(damaged).is_err(), "{damaged}");
        }
    }
}
