//! Figures of a scenario with their true values, as the tables print them.

use std::time::Duration;

use crate::judge::{Evidence, Verdict};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScenarioResult {
    pub(crate) figures: Vec<LabFigure>,
    pub(crate) elapsed: Duration,
    /// Load of this machine before the scenario.
    pub(crate) load_before: String,
}

/// Reported value with its true value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LabFigure {
    /// Name of the row.
    pub(crate) name: String,
    /// True value.
    pub(crate) truth: String,
    /// Value that assay reports.
    pub(crate) reported: String,
    /// Decision of the judge.
    pub(crate) verdict: Verdict,
}

impl ScenarioResult {
    /// Describes the wrong figures; `None` if there are none.
    pub(crate) fn describe_wrong(&self) -> Option<String> {
        let wrong = self.figures.iter().filter(|figure| figure.verdict == Verdict::Wrong);
        let lines: Vec<String> = wrong
            .map(|it| format!("{}: truth {}, reported {}", it.name, it.truth, it.reported))
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    pub(crate) fn count_wrong(&self) -> usize {
        self.figures.iter().filter(|figure| figure.verdict == Verdict::Wrong).count()
    }
}

impl LabFigure {
    pub(crate) fn new(
        name: impl Into<String>,
        truth: impl Into<String>,
        reported: impl Into<String>,
        verdict: Verdict,
    ) -> Self {
        let (name, truth, reported) = (name.into(), truth.into(), reported.into());
        Self { name, truth, reported, verdict }
    }

    /// Returns a figure that holds under a condition, without a tolerance.
    pub(crate) fn condition(
        name: impl Into<String>,
        truth: impl Into<String>,
        reported: impl Into<String>,
        holds: bool,
    ) -> Self {
        Self::new(name, truth, reported, Evidence::Condition(holds).judge())
    }

    /// Returns a figure that must equal its true value exactly.
    pub(crate) fn exact(name: &str, truth: &str, reported: String) -> Self {
        let holds = reported == truth;
        Self::condition(name, truth, reported, holds)
    }

    /// Returns whether the figure is right; `None` if undecided.
    #[cfg(test)]
    pub(crate) fn is_correct(&self) -> Option<bool> {
        match self.verdict {
            Verdict::Holds => Some(true),
            Verdict::Wrong => Some(false),
            Verdict::Undecided => None,
        }
    }

    pub(crate) fn row(&self) -> Vec<String> {
        [&self.name, &self.truth, &self.reported, self.verdict.word()]
            .map(String::from)
            .to_vec()
    }
}
