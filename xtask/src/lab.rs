//! `cargo xtask lab [SCENARIO…]`: assay in small virtual machines, against features that this machine's
//! own kernel lacks and whose truth is known; figures beside their truths go into `docs/laboratory.md`.
//!
//! Needs Debian's packages and nothing else. Where qemu cannot run, it says so and skips all.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::page::Page;
use crate::test::{self, Tally, Verdict};
use crate::{command, packages};

mod arm;
mod cluster;
mod errors;
pub(crate) mod guest;
pub(crate) mod image;
mod network;
mod rdma;
mod rdma_pairs;
mod rdma_ways;
mod storage;
mod topology;
mod volume;

/// The page that is written when all scenarios were run.
const PAGE: &str = "docs/laboratory.md";

/// Something that is measured in a guest and has a known truth.
struct Scenario {
    name: &'static str,
    title: &'static str,
    /// How its truth is made, and what is expected.
    about: &'static str,
    place: Place,
    /// After which it is killed.
    deadline: Duration,
    /// What the guest printed, as figures beside their truths.
    judge: fn(&str) -> Result<Vec<Figure>>,
}

/// Where a scenario is carried out.
enum Place {
    /// In a guest of this machine.
    Guest(Machine, &'static str),
    /// In guests of these machines on one network, all with one script, which knows them by `$guest`: 1, 2 …
    /// What the first one prints counts.
    Guests(&'static [Machine], &'static str),
    /// Beside the guests: prepares and measures on this machine, and prints as a guest's script does.
    Here(fn(&Path, &Path, Duration) -> Result<String>),
}

/// What a guest has beyond what all have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) memory_mib: u32,
    pub(crate) cpus: &'static str,
    /// Further arguments for qemu.
    pub(crate) more: &'static [&'static str],
    /// Disks of this many MiB, as `disk0`, `disk1` … for `-device`.
    pub(crate) disks_mib: &'static [u64],
}

impl Machine {
    pub(crate) const PLAIN: Self =
        Self { memory_mib: 1024, cpus: "2", more: &[], disks_mib: &[] };
}

/// One figure beside its truth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// What was measured.
    pub(crate) what: String,
    /// What is true.
    pub(crate) truth: String,
    /// What assay reports.
    pub(crate) reported: String,
    /// Whether it is within the tolerance; `None` where that is not decided here.
    pub(crate) holds: Option<bool>,
}

const SCENARIOS: &[Scenario] = &[
    rdma::SCENARIO,
    rdma_ways::SCENARIO,
    rdma_pairs::SCENARIO,
    network::SCENARIO,
    errors::SCENARIO,
    arm::SCENARIO,
    storage::SCENARIO,
    topology::SCENARIO,
    volume::SCENARIO,
    cluster::SCENARIO,
];

/// Those that CI runs: short, and each row with a truth that no slow machine can move.
const IN_CI: &[&str] = &["storage-errors"];

/// Runs the named scenarios, or all of them, and writes the page: what was not run keeps its section.
pub(crate) fn run(root: &Path, names: &[&str]) -> Result<()> {
    let known = || SCENARIOS.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    if let Some(name) = names.iter().find(|name| SCENARIOS.iter().all(|it| it.name != **name)) {
        bail!("no such scenario: {name}; there are {}", known());
    }
    let image = match ready(root)? {
        Ok(image) => image,
        Err(reason) => {
            println!("SKIPPED lab: {reason}");
            return Ok(());
        }
    };
    let mut page = Page::new("The laboratory", "cargo xtask lab");
    page.paragraph(
        "Measurements in small virtual machines under software emulation: their speed means nothing, and \
         each has a truth of its own. \"Wrong\" is beyond the tolerance.",
    );
    let before = fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    let mut wrong = 0;
    for scenario in SCENARIOS {
        if !names.is_empty() && !names.contains(&scenario.name) {
            if let Some(text) = kept(&before, scenario.title) {
                page.heading(scenario.title);
                page.paragraph(text);
            }
            continue;
        }
        let figures = scenario.figures(root, &image)?;
        wrong += figures.iter().filter(|figure| figure.holds == Some(false)).count();
        page.heading(scenario.title);
        page.paragraph(scenario.about);
        let rows: Vec<Vec<String>> = figures.iter().map(Figure::row).collect();
        page.table(&["what", "truth", "reported", ""], &rows);
    }
    page.write(root, PAGE)?;
    match wrong {
        0 => Ok(()),
        count => bail!("{count} figures are wrong, see above"),
    }
}

/// What a page has below a heading, as far as the next one.
fn kept<'p>(page: &'p str, title: &str) -> Option<&'p str> {
    let (_, rest) = page.split_once(&format!("\n## {title}\n"))?;
    let text = rest.split_once("\n## ").map_or(rest, |(text, _)| text);
    Some(text.trim())
}

/// Runs those of CI and counts them as tests. One fails for a row that is wrong, and for a guest that twice does not
/// end well; what is undecided is no failure.
pub(crate) fn run_in_ci(root: &Path, tally: &mut Tally) -> Result<()> {
    let chosen: Vec<_> = SCENARIOS.iter().filter(|it| IN_CI.contains(&it.name)).collect();
    if chosen.is_empty() {
        return Ok(());
    }
    let image = ready(root)?;
    for scenario in chosen {
        let verdict = match &image {
            Ok(image) => scenario.verdict(|| scenario.figures(root, image)),
            Err(reason) => Verdict::Skipped(reason.clone()),
        };
        tally.add(&format!("{}{}", test::LAB, scenario.name), verdict);
    }
    Ok(())
}

/// The image and the program, or why no guest can run here.
fn ready(root: &Path) -> Result<Result<image::Image, String>> {
    packages::install(root, packages::FOR_LAB)?;
    if let Some(reason) = guest::impossible() {
        return Ok(Err(reason));
    }
    command::run(command::cargo(root).args(["build", "--quiet", "--package", "assay"]))?;
    image::ready(root).context("the image of the guests cannot be made").map(Ok)
}

impl Scenario {
    /// Carries it out, keeps what was said, and prints the rows.
    fn figures(&self, root: &Path, image: &image::Image) -> Result<Vec<Figure>> {
        println!("-- {}: {}", self.name, self.title);
        let said = match &self.place {
            Place::Guest(machine, script) => {
                let machines = std::slice::from_ref(machine);
                guest::run(root, image, (machines, script), self.deadline)
            }
            Place::Guests(machines, script) => {
                guest::run(root, image, (machines, script), self.deadline)
            }
            Place::Here(carry_out) => carry_out(root, &image.folder, self.deadline),
        };
        let said = said.with_context(|| format!("scenario {}", self.name))?;
        let kept = image.folder.join(format!("{}.said", self.name));
        fs::write(&kept, &said)?;
        let figures = (self.judge)(&said)
            .with_context(|| format!("scenario {} said:\n{said}", self.name))?;
        figures.iter().for_each(|figure| println!("{}", figure.row().join("  ")));
        println!("lab: what was said is in {}", kept.display());
        Ok(figures)
    }

    fn verdict(&self, mut figures: impl FnMut() -> Result<Vec<Figure>>) -> Verdict {
        let found = figures().or_else(|error| {
            println!("lab: once more: {error:#}");
            figures()
        });
        match found {
            Ok(figures) if figures.iter().any(|it| it.holds == Some(false)) => Verdict::Fails,
            Ok(_) => Verdict::Holds,
            Err(error) => {
                println!("lab: {}: {error:#}", self.name);
                Verdict::Fails
            }
        }
    }
}

impl Figure {
    /// One that has to be exactly what is true.
    pub(crate) fn is(what: &str, truth: &str, reported: String) -> Self {
        let holds = Some(reported == truth);
        Self { what: what.to_owned(), truth: truth.to_owned(), reported, holds }
    }

    fn row(&self) -> Vec<String> {
        let verdict = match self.holds {
            Some(true) => "holds",
            Some(false) => "WRONG",
            None => "",
        };
        [&self.what, &self.truth, &self.reported, verdict].map(String::from).to_vec()
    }
}

/// What stands in the output between the line `== NAME` and the next such line.
pub(crate) fn sections(said: &str) -> Vec<(&str, &str)> {
    let parts = said.split("\n== ").skip(1);
    parts
        .filter_map(|part| part.split_once('\n'))
        .map(|(name, rest)| (name.trim(), rest))
        .collect()
}

/// One of them.
pub(crate) fn section<'s>(said: &'s str, wanted: &str) -> Result<&'s str> {
    let found = sections(said).into_iter().find(|(name, _)| *name == wanted);
    found.map(|(_, text)| text).with_context(|| format!("section {wanted} is missing"))
}

/// The first JSON document among what was printed.
pub(crate) fn document(text: &str) -> Result<Value> {
    let start = text.find('{').context("there is no JSON")?;
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter();
    Ok(documents.next().context("the JSON does not end")??)
}

/// What stands in the rows of which `is_meant` is true.
#[cfg(test)]
fn rows(judged: Result<Vec<Figure>>, is_meant: fn(Option<bool>) -> bool) -> Vec<String> {
    let figures = judged.unwrap().into_iter();
    figures.filter(|it| is_meant(it.holds)).map(|it| it.what).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_names_scenarios_that_there_are() {
        for name in IN_CI {
            assert!(SCENARIOS.iter().any(|it| it.name == *name), "{name}");
        }
    }

    #[test]
    fn only_what_is_wrong_fails() {
        let figure = |holds| Figure { holds, ..Figure::is("", "", String::new()) };
        for (rows, expected) in [
            (vec![figure(Some(true)), figure(None)], Verdict::Holds),
            (vec![figure(None)], Verdict::Holds),
            (vec![figure(Some(true)), figure(Some(false))], Verdict::Fails),
        ] {
            assert_eq!(SCENARIOS[0].verdict(|| Ok(rows.clone())), expected, "{rows:?}");
        }
        let mut tries = 0;
        let mut at_last = |good: usize| {
            tries += 1;
            if tries == good { Ok(vec![figure(Some(true))]) } else { bail!("it hung") }
        };
        assert_eq!(SCENARIOS[0].verdict(|| at_last(2)), Verdict::Holds);
        assert_eq!(SCENARIOS[0].verdict(|| at_last(9)), Verdict::Fails);
    }

    #[test]
    fn a_section_is_kept_as_it_was() {
        let page = "# Page\n\n## One\n\nabout\n\n| a |\n\n## Two\n\nmore\n";
        for (title, expected) in [
            ("One", Some("about\n\n| a |")),
            ("Two", Some("more")),
            ("On", None),
            ("Three", None),
        ] {
            assert_eq!(kept(page, title), expected, "{title}");
        }
    }

    #[test]
    fn a_document_ends_where_it_ends() {
        let said = "x\n{\"a\":{}}\ntook {1}\n";
        assert_eq!(document(said).unwrap()["a"], serde_json::json!({}));
        for damaged in ["no device", "} {", ""] {
            assert!(document(damaged).is_err(), "{damaged}");
        }
    }
}
