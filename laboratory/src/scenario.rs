//! Scenario of the laboratory: its machines, its script, and the judge of its output.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use workbench::page::MarkdownPage;

use crate::figure::{LabFigure, ScenarioResult};
use crate::guest::{self, GuestMachine};
use crate::image;

/// Measurement whose true values are known.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Setup of the scenario and expected results.
    pub(crate) description: &'static str,
    pub(crate) runner: ScenarioRunner,
    pub(crate) cpu_use: CpuUse,
    /// Timeout after which the scenario is killed.
    pub(crate) deadline: Duration,
    /// Parses the output into figures with their true values.
    pub(crate) judge: fn(&str) -> Result<Vec<LabFigure>>,
}

/// CPU use of a scenario, which decides what may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CpuUse {
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
pub(crate) enum ScenarioRunner {
    /// Guest of this machine, and the script that it runs.
    Guest(GuestMachine, &'static str),
    /// Guests on one network that all run one script; `$guest` is 1, 2 …. Only the output of the
    /// first one is evaluated.
    Guests(&'static [GuestMachine], &'static str),
    /// This machine, without a guest; the output has the format of a guest's script.
    Local(LocalRunner),
}

/// Scenario that runs on this machine, given the project's folder and the laboratory's cache.
pub(crate) struct LocalRunner {
    /// Installs and compiles before any scenario begins, so that no compiler disturbs a measurement
    /// or counts towards a timeout.
    pub(crate) prepare: fn(&Path, &Path) -> Result<()>,
    pub(crate) run: fn(&Path, &Path, Duration) -> Result<String>,
}

/// Extent of a run; `$brief` in scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunExtent {
    Full,
    /// Shortened, for CI.
    Brief,
}

impl Scenario {
    /// Returns the reason why this machine cannot hold the scenario's guests.
    pub(crate) fn skip_reason(&self) -> Option<String> {
        guest::memory_shortage(self.machines(), guest::available_mib()?)
    }

    /// Returns the CPU use of a run of this extent.
    pub(crate) fn cpu_use_for(&self, extent: RunExtent) -> CpuUse {
        match (self.cpu_use, extent) {
            (CpuUse::ExclusiveIfFull, RunExtent::Full) => CpuUse::Exclusive,
            (CpuUse::ExclusiveIfFull, RunExtent::Brief) => CpuUse::Busy,
            (cpu_use, _) => cpu_use,
        }
    }

    pub(crate) fn machines(&self) -> &[GuestMachine] {
        match &self.runner {
            ScenarioRunner::Guest(machine, _) => std::slice::from_ref(machine),
            ScenarioRunner::Guests(machines, _) => machines,
            ScenarioRunner::Local(_) => &[],
        }
    }

    pub(crate) fn prepare(&self, root: &Path) -> Result<()> {
        match &self.runner {
            ScenarioRunner::Local(local) => (local.prepare)(root, &image::cache_folder()?)
                .with_context(|| format!("cannot prepare scenario {}", self.name)),
            ScenarioRunner::Guest(..) | ScenarioRunner::Guests(..) => Ok(()),
        }
    }

    /// Runs the scenario, stores its output, and prints the rows.
    pub(crate) fn run(
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
    pub(crate) fn write_section(
        &self,
        result: &ScenarioResult,
        program: &str,
        page: &mut MarkdownPage,
    ) {
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
    pub(crate) fn script_variables(self) -> &'static str {
        match self {
            Self::Full => "brief=",
            Self::Brief => "brief=yes",
        }
    }
}
