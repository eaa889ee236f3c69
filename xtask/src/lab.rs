//! `cargo xtask lab [SCENARIO…]`: assay in small virtual machines, against features that this machine's
//! own kernel lacks and whose truth is known; figures beside their truths go into `docs/laboratory.md`.
//!
//! Needs Debian's packages and nothing else. Where qemu cannot run, it says so and skips all.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::page::Page;
use crate::{command, packages};

pub(crate) mod guest;
pub(crate) mod image;
mod network;
mod rdma;
mod rdma_pairs;
mod rdma_ways;
mod storage;

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

const SCENARIOS: [Scenario; 5] = [
    rdma::SCENARIO,
    rdma_ways::SCENARIO,
    rdma_pairs::SCENARIO,
    network::SCENARIO,
    storage::SCENARIO,
];

/// Runs the named scenarios, or all of them and writes the page.
pub(crate) fn run(root: &Path, names: &[&str]) -> Result<()> {
    let known = || SCENARIOS.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    if let Some(name) = names.iter().find(|name| SCENARIOS.iter().all(|it| it.name != **name)) {
        bail!("no such scenario: {name}; there are {}", known());
    }
    packages::install(root, packages::FOR_LAB)?;
    if let Some(reason) = guest::impossible() {
        println!("SKIPPED lab: {reason}");
        return Ok(());
    }
    command::run(command::cargo(root).args(["build", "--quiet", "--package", "assay"]))?;
    let image = image::ready(root).context("the image of the guests cannot be made")?;
    let mut page = Page::new("The laboratory", "cargo xtask lab");
    page.paragraph(
        "Measurements in small virtual machines under software emulation: their speed means nothing, and \
         each has a truth of its own. \"Wrong\" is beyond the tolerance.",
    );
    let mut wrong = 0;
    for scenario in SCENARIOS {
        if !names.is_empty() && !names.contains(&scenario.name) {
            continue;
        }
        println!("-- {}: {}", scenario.name, scenario.title);
        let said = match &scenario.place {
            Place::Guest(machine, script) => {
                guest::run(root, &image, (machine, script), scenario.deadline)
            }
            Place::Here(carry_out) => carry_out(root, &image.folder, scenario.deadline),
        };
        let said = said.with_context(|| format!("scenario {}", scenario.name))?;
        let figures = (scenario.judge)(&said)
            .with_context(|| format!("scenario {} said:\n{said}", scenario.name))?;
        wrong += figures.iter().filter(|figure| figure.holds == Some(false)).count();
        page.heading(scenario.title);
        page.paragraph(scenario.about);
        let rows: Vec<Vec<String>> = figures.iter().map(Figure::row).collect();
        rows.iter().for_each(|row| println!("{}", row.join("  ")));
        page.table(&["what", "truth", "reported", ""], &rows);
    }
    if names.is_empty() {
        page.write(root, PAGE)?;
    }
    match wrong {
        0 => Ok(()),
        count => bail!("{count} figures are wrong, see above"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_ends_where_it_ends() {
        let said = "x\n{\"a\":{}}\ntook {1}\n";
        assert_eq!(document(said).unwrap()["a"], serde_json::json!({}));
        for damaged in ["no device", "} {", ""] {
            assert!(document(damaged).is_err(), "{damaged}");
        }
    }
}
