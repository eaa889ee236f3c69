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

/// Why a case ended without a result.
#[derive(Debug)]
pub(crate) enum CaseError {
    /// The measurement failed; the run goes on with the next case.
    Failed { reason: String, advice: String },
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

    pub(crate) fn failed(reason: impl Into<String>, advice: &str) -> Self {
        Self::Failed { reason: reason.into(), advice: advice.to_owned() }
    }
}

impl From<Failure> for CaseError {
    fn from(failure: Failure) -> Self {
        Self::Store(failure)
    }
}

/// The recorder of one case.
pub(crate) struct Recorder<'a, 't> {
    case: &'a Case,
    log: &'a mut Log<'t>,
    cancel: &'a AtomicBool,
    run_started_ns: u64,
    case_started_ns: u64,
    preparation: u32,
    pending: Vec<RunEvent>,
    history: BTreeMap<(String, Option<String>), Vec<Vec<f64>>>,
}

impl<'a, 't> Recorder<'a, 't> {
    pub(crate) fn new(
        case: &'a Case,
        log: &'a mut Log<'t>,
        cancel: &'a AtomicBool,
        run_started_ns: u64,
    ) -> Self {
        Self {
            case,
            log,
            cancel,
            run_started_ns,
            case_started_ns: clock::now_ns(),
            preparation: 0,
            pending: Vec::new(),
            history: BTreeMap::new(),
        }
    }

    /// Set when the user wants to stop; long kernels look at it themselves.
    pub(crate) const fn cancel(&self) -> &'a AtomicBool {
        self.cancel
    }

    /// Seconds since the case began.
    pub(crate) fn elapsed_s(&self) -> f64 {
        clock::seconds_between(self.case_started_ns, clock::now_ns())
    }

    /// Adds a sample in the metric's base unit.
    pub(crate) fn sample(&mut self, metric: &str, placement: Option<&str>, value: f64) {
        let key = (metric.to_owned(), placement.map(str::to_owned));
        let series = self.history.entry(key).or_default();
        series.resize(self.preparation as usize + 1, Vec::new());
        series[self.preparation as usize].push(value);
        self.pending.push(RunEvent::Sample(Sample {
            case: self.case.id.clone(),
            metric: metric.to_owned(),
            placement: placement.map(str::to_owned),
            value,
            preparation: self.preparation,
            at_ns: clock::now_ns().saturating_sub(self.run_started_ns),
        }));
    }

    /// Adds something found out about one metric, or about all of the case.
    pub(crate) fn learn(&mut self, metric: Option<&str>, name: &str, value: Parameter) {
        self.pending.push(RunEvent::Learned(Learned {
            case: self.case.id.clone(),
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
        self.pending.push(RunEvent::Doubt { case: Some(self.case.id.clone()), warning });
    }

    /// Keeps a raw output of a tool.
    pub(crate) fn raw(&mut self, name: &str, bytes: &[u8]) -> Result<(), CaseError> {
        let hash = self.log.raw(bytes).map_err(CaseError::Store)?;
        let (case, name) = (self.case.id.clone(), name.to_owned());
        self.pending.push(RunEvent::RawOutput { case, name, hash, bytes: bytes.len() as u64 });
        Ok(())
    }

    /// Stores everything recorded so far.
    pub(crate) fn flush(&mut self) -> Result<(), CaseError> {
        self.pending
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
        Ok(stopping::next(self.history.values(), &self.case.stopping, spent))
    }

    /// Whether every metric is known as precisely as was asked for.
    pub(crate) fn is_precise(&self) -> bool {
        stopping::is_precise(self.history.values(), &self.case.stopping)
    }

    /// Everything is about to be allocated and placed afresh.
    pub(crate) fn prepare_afresh(&mut self) -> Result<(), CaseError> {
        self.flush()?;
        self.preparation += 1;
        Ok(())
    }
}
