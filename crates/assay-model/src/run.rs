//! A run, rebuilt from its events.

use std::collections::BTreeMap;

use crate::event::{Learned, RunEvent, RunStarted, Sample, Status, Stopped};
use crate::facts::HostState;
use crate::plan::Case;
use crate::warning::Warning;

/// One execution of a plan, as far as it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Everything known before the first case.
    pub started: RunStarted,
    /// RFC 3339 time of the end, if it was written.
    pub finished: Option<String>,
    /// How it ended.
    pub status: Status,
    /// The host after the last case.
    pub state_after: Option<HostState>,
    /// One record per case that was started, in order.
    pub cases: Vec<CaseRecord>,
    /// Doubts about the run as a whole.
    pub warnings: Vec<Warning>,
}

/// What happened to one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseRecord {
    /// The case as planned.
    pub case: Case,
    /// How it ended; `None` when the run stopped in the middle of it.
    pub end: Option<CaseEnd>,
    /// Every sample, in order of measurement.
    pub samples: Vec<Sample>,
    /// What was found out while measuring.
    pub learned: Vec<Learned>,
    /// Raw outputs: name → hash.
    pub raw: BTreeMap<String, String>,
    /// Doubts about this case.
    pub warnings: Vec<Warning>,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseEnd {
    /// Its samples count.
    Finished(Stopped),
    /// Its samples do not count.
    Failed {
        /// What failed and why.
        reason: String,
        /// What to do.
        advice: String,
        /// The earlier case whose failure this one would only have repeated: it was skipped.
        because: Option<String>,
    },
}

impl Run {
    /// Adds the events up. `None` when they do not begin with [`RunEvent::RunStarted`].
    ///
    /// Events of cases that the plan does not have are ignored: a newer assay may have written them.
    #[must_use]
    pub fn fold(events: impl IntoIterator<Item = RunEvent>) -> Option<Self> {
        let mut events = events.into_iter();
        let RunEvent::RunStarted(started) = events.next()? else { return None };
        let mut run = Self {
            started: *started,
            finished: None,
            status: Status::Unfinished,
            state_after: None,
            cases: Vec::new(),
            warnings: Vec::new(),
        };
        for event in events {
            run.add(event);
        }
        Some(run)
    }

    /// The record of a case.
    #[must_use]
    pub fn case(&self, id: &str) -> Option<&CaseRecord> {
        self.cases.iter().find(|record| record.case.id == id)
    }

    /// The cases whose samples count.
    pub fn finished_cases(&self) -> impl Iterator<Item = &CaseRecord> {
        self.cases.iter().filter(|record| matches!(record.end, Some(CaseEnd::Finished(_))))
    }

    fn add(&mut self, event: RunEvent) {
        match event {
            RunEvent::RunStarted(_) => {}
            RunEvent::CaseStarted { case } => self.begin(&case),
            RunEvent::Sample(sample) => {
                self.with(&sample.case.clone(), |record| record.samples.push(sample));
            }
            RunEvent::Learned(learned) => {
                self.with(&learned.case.clone(), |record| record.learned.push(learned));
            }
            RunEvent::RawOutput { case, name, hash, .. } => {
                self.with(&case, |record| drop(record.raw.insert(name, hash)));
            }
            RunEvent::Doubt { case: Some(case), warning } => {
                self.with(&case, |record| record.warnings.push(warning));
            }
            RunEvent::Doubt { case: None, warning } => self.warnings.push(warning),
            RunEvent::CaseFinished { case, stopped } => {
                self.with(&case, |record| record.end = Some(CaseEnd::Finished(stopped)));
            }
            RunEvent::CaseFailed { case, reason, advice, because } => {
                self.with(&case, |record| {
                    record.end = Some(CaseEnd::Failed { reason, advice, because });
                });
            }
            RunEvent::RunFinished { finished, status, state } => {
                self.finished = Some(finished);
                self.status = status;
                self.state_after = Some(state);
            }
        }
    }

    fn begin(&mut self, id: &str) {
        let planned = self.started.plan.cases.iter().find(|case| case.id == id);
        if let Some(case) = planned.cloned() {
            self.cases.push(CaseRecord {
                case,
                end: None,
                samples: Vec::new(),
                learned: Vec::new(),
                raw: BTreeMap::new(),
                warnings: Vec::new(),
            });
        }
    }

    fn with(&mut self, id: &str, change: impl FnOnce(&mut CaseRecord)) {
        if let Some(record) = self.cases.iter_mut().find(|record| record.case.id == id) {
            change(record);
        }
    }
}
