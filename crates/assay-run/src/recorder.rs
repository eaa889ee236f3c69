//! Where a case puts what it measures: samples, what it learned, doubts and raw output.
//!
//! Samples are held back until a preparation ends, so that writing them never falls into a timed
//! pass; a finished case is always complete in the store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_kernels::clock;
use assay_model::event::{Learned, Parameter, RunEvent, Sample};
use assay_model::plan::Case;
use assay_model::warning::Warning;
use assay_stats::quantile;
use assay_stats::stopping::{self, Next, Spent};

use crate::failure::Failure;
use crate::log::Log;
use crate::network::error::Lack;

/// Why a case ended without a result.
#[derive(Debug)]
pub(crate) enum CaseError {
    /// The measurement failed; the run goes on with the next case.
    Failed { reason: String, advice: String },
    /// The same for want of something that other cases need as well.
    Lacking { what: Lack, reason: String, advice: String },
    /// It was not tried, because it lacks what the earlier case `because` lacked.
    Skipped { reason: String, because: String },
    /// The user wants to stop.
    Interrupted,
    /// Nothing can be stored any more; the run ends.
    Store(Failure),
}

impl CaseError {
    /// A failure with the whole chain of its causes.
    pub(crate) fn because(error: &(dyn std::error::Error + 'static), advice: &str) -> Self {
        let causes = std::iter::successors(Some(error), |error| error.source());
        let reason = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        Self::failed(reason, advice)
    }

    /// A failure that ends this case and not the run.
    pub(crate) fn of_case(failure: &Failure) -> Self {
        let (reason, advice) = (failure.reason(), failure.advice());
        Self::Failed { reason, advice }
    }

    /// The same failure, with what others need as well.
    pub(crate) fn for_lack_of(self, what: Lack) -> Self {
        match self {
            Self::Failed { reason, advice } => Self::Lacking { what, reason, advice },
            other => other,
        }
    }

    pub(crate) fn failed(reason: impl Into<String>, advice: &str) -> Self {
        Self::Failed { reason: reason.into(), advice: advice.to_owned() }
    }
}

impl From<Failure> for CaseError {
    fn from(failure: Failure) -> Self {
        Self::Store(failure)
    }
}

/// What is known of a case so far; it stays where the recorder is handed to another case meanwhile.
pub(crate) struct CaseState {
    case: Case,
    /// Time of the turns that ended.
    spent_s: f64,
    preparation: u32,
    pending: Vec<RunEvent>,
    history: BTreeMap<(String, Option<String>), Vec<Vec<f64>>>,
}

impl CaseState {
    pub(crate) fn new(case: &Case) -> Self {
        Self {
            case: case.clone(),
            spent_s: 0.0,
            preparation: 0,
            pending: Vec::new(),
            history: BTreeMap::new(),
        }
    }
}

/// The recorder of one case, or of one turn of it.
pub(crate) struct Recorder<'a, 't> {
    state: &'a mut CaseState,
    log: &'a mut Log<'t>,
    cancel: &'a AtomicBool,
    run_started_ns: u64,
    turn_started_ns: u64,
}

impl<'a, 't> Recorder<'a, 't> {
    pub(crate) fn new(
        state: &'a mut CaseState,
        log: &'a mut Log<'t>,
        cancel: &'a AtomicBool,
        run_started_ns: u64,
    ) -> Self {
        Self { state, log, cancel, run_started_ns, turn_started_ns: clock::now_ns() }
    }

    /// Ends the turn, so that the time of others until the next one does not count.
    pub(crate) fn pause(self) {
        self.state.spent_s = self.elapsed_s();
    }

    /// Set when the user wants to stop; long kernels look at it themselves.
    pub(crate) const fn cancel(&self) -> &'a AtomicBool {
        self.cancel
    }

    /// Seconds that the case has had so far.
    pub(crate) fn elapsed_s(&self) -> f64 {
        self.state.spent_s + clock::seconds_between(self.turn_started_ns, clock::now_ns())
    }

    /// Adds a sample in the metric's base unit.
    pub(crate) fn sample(&mut self, metric: &str, placement: Option<&str>, value: f64) {
        let key = (metric.to_owned(), placement.map(str::to_owned));
        let series = self.state.history.entry(key).or_default();
        series.resize(self.state.preparation as usize + 1, Vec::new());
        series[self.state.preparation as usize].push(value);
        self.state.pending.push(RunEvent::Sample(Sample {
            case: self.state.case.id.clone(),
            metric: metric.to_owned(),
            placement: placement.map(str::to_owned),
            value,
            preparation: self.state.preparation,
            at_ns: clock::now_ns().saturating_sub(self.run_started_ns),
        }));
    }

    /// Adds something found out about one metric, or about all of the case.
    pub(crate) fn learn(&mut self, metric: Option<&str>, name: &str, value: Parameter) {
        self.state.pending.push(RunEvent::Learned(Learned {
            case: self.state.case.id.clone(),
            metric: metric.map(str::to_owned),
            name: name.to_owned(),
            value,
        }));
    }

    /// Everything that was stored so far, in this case and before it.
    pub(crate) fn past(&self) -> &[RunEvent] {
        self.log.past()
    }

    /// The median of a metric of a case that ended before, in the metric's base unit.
    pub(crate) fn median_of(&self, case: &str, metric: &str) -> Option<f64> {
        let of_case = |event: &RunEvent| match event {
            RunEvent::Sample(it) if it.case == case && it.metric == metric => Some(it.value),
            _ => None,
        };
        let mut values: Vec<f64> = self.past().iter().filter_map(of_case).collect();
        values.sort_by(f64::total_cmp);
        quantile::median(&values)
    }

    /// Tells what is worth a line of its own.
    pub(crate) fn note(&mut self, text: &str) {
        self.log.note(text);
    }

    /// Says what is going on.
    pub(crate) fn progress(&mut self, message: &str) {
        self.log.progress(message);
    }

    /// Adds a doubt about the case.
    pub(crate) fn doubt(&mut self, warning: Warning) {
        self.state
            .pending
            .push(RunEvent::Doubt { case: Some(self.state.case.id.clone()), warning });
    }

    /// Keeps a raw output of a tool.
    pub(crate) fn raw(&mut self, name: &str, bytes: &[u8]) -> Result<(), CaseError> {
        let hash = self.log.raw(bytes).map_err(CaseError::Store)?;
        let (case, name) = (self.state.case.id.clone(), name.to_owned());
        self.state.pending.push(RunEvent::RawOutput {
            case,
            name,
            hash,
            bytes: bytes.len() as u64,
        });
        Ok(())
    }

    /// Stores everything recorded so far.
    pub(crate) fn flush(&mut self) -> Result<(), CaseError> {
        self.state
            .pending
            .drain(..)
            .try_for_each(|event| self.log.add(event))
            .map_err(CaseError::Store)
    }

    /// What to do after a repetition that took this long, by the stopping rule; fails when the user wants to stop.
    pub(crate) fn next(&self, repetition_s: f64) -> Result<Next, CaseError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(CaseError::Interrupted);
        }
        let spent = Spent { elapsed_s: self.elapsed_s(), repetition_s: Some(repetition_s) };
        Ok(stopping::next(self.state.history.values(), &self.state.case.stopping, spent))
    }

    /// Whether every metric is known as precisely as was asked for.
    pub(crate) fn is_precise(&self) -> bool {
        stopping::is_precise(self.state.history.values(), &self.state.case.stopping)
    }

    /// Everything is about to be allocated and placed afresh.
    pub(crate) fn prepare_afresh(&mut self) -> Result<(), CaseError> {
        self.flush()?;
        self.state.preparation += 1;
        Ok(())
    }
}
