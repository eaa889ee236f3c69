//! Recorder of a case: samples, facts, doubts and raw output.
//!
//! Samples are held back until a preparation ends, so that they are never written during a timed
//! pass. A finished case is always complete in the store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_fleet::kernel_counters::CountedPlaces;
use assay_fleet::remote::SecondReport;
use assay_fleet::remote::calls::Call;
use assay_kernels::clock;
use assay_model::attribute::{Attribute, AttributeValue, Attributes, Role};
use assay_model::doubt::Doubt;
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use assay_model::event::{
    EventCount, Fact, FactSubject, RunEvent, Sample, SeriesOpened, StretchRecord,
};
use assay_model::failure::{ErrorArea, FailureReason, MissingHostFeature};
use assay_model::kernel_counters::{CountedWork, PayloadBytes};
use assay_model::phrase::Phrase;
use assay_model::plan::{Case, CasePair, StoppingRule};
use assay_model::quantity::{Quantity, Unit};
use assay_stats::stopping::{self, CaseTime, NextStep};

use crate::coordinator::StartGate;
use crate::counter_watch::CounterWatch;
use crate::deadline::TurnDeadline;
use crate::failure::CommandFailure;
use crate::forecast::{RunForecast, TOLERANCE};
use crate::log::RunLog;

mod second_average;

use second_average::SecondAverage;

/// Reason why a case ended without a result.
#[derive(Debug)]
pub(crate) enum CaseError {
    /// Failed measurement; the run continues with the next case.
    Failed(FailureReason),
    /// Failed measurement, because of a lack that affects other cases as well.
    Lacking(MissingHostFeature, FailureReason),
    /// Case that was not tried, because of the lack that the earlier case `because` detected.
    Skipped { failure: FailureReason, because: String },
    /// Interruption by the user.
    Interrupted,
    /// Failure of the store; the run ends.
    Store(CommandFailure),
}

impl CaseError {
    /// Failed action, with the chain of its causes.
    pub(crate) fn from_error(
        area: ErrorArea,
        error: &(dyn std::error::Error + 'static),
    ) -> Self {
        Self::with_advice(area, error, "")
    }

    /// Failed action, with the chain of its causes and advice.
    pub(crate) fn with_advice(
        area: ErrorArea,
        error: &(dyn std::error::Error + 'static),
        advice: &str,
    ) -> Self {
        let causes = FailureReason::error_chain(error);
        Self::Failed(FailureReason::Error { area, causes, advice: advice.to_owned() })
    }

    /// Failure that ends this case, but not the run.
    pub(crate) fn from_failure(area: ErrorArea, failure: &CommandFailure) -> Self {
        Self::Failed(failure.to_case_failure(area))
    }

    /// Adds the lack that affects other cases as well.
    pub(crate) fn with_lack(self, what: MissingHostFeature) -> Self {
        match self {
            Self::Failed(failure) => Self::Lacking(what, failure),
            other => other,
        }
    }
}

impl From<FailureReason> for CaseError {
    fn from(failure: FailureReason) -> Self {
        Self::Failed(failure)
    }
}

impl From<CommandFailure> for CaseError {
    fn from(failure: CommandFailure) -> Self {
        Self::Store(failure)
    }
}

/// State of a case; it persists while the recorder serves other cases.
pub(crate) struct CaseState {
    case: Case,
    /// Dimensions that all series of the case share, including the host.
    dimensions: Attributes,
    /// Time of completed turns.
    spent_s: f64,
    /// Time spent on choosing the method, which is not part of the case's budget.
    choosing_s: f64,
    /// Seconds that the rest of the run leaves to the case, if they are limited.
    limit_s: f64,
    preparation: u32,
    /// Number of steps that waited for other hosts.
    steps: u32,
    pending: Vec<RunEvent>,
    /// Number of each series, by its metric and its additional dimensions as text. Job languages
    /// open one for every file of every stream, too many for a linear search.
    series: BTreeMap<(&'static str, String), u32>,
    /// Samples of the series that determine when to stop, by series and preparation.
    history: BTreeMap<u32, Vec<Vec<f64>>>,
    /// Number of samples of the longest series when the stopping rule was last evaluated.
    counted_samples: usize,
    /// Progress that was not reported yet.
    last_second: SecondAverage,
}

impl CaseState {
    pub(crate) fn new(case: &Case, host: &str) -> Self {
        let mut dimensions = case.workload.dimensions(&case.by);
        dimensions.insert(Attribute::Host, host.into());
        if let Some(pair) = &case.pair {
            dimensions.remove(&Attribute::To);
            dimensions.remove(&Attribute::Hosts);
            dimensions.insert(Attribute::Peer, pair.peer.as_str().into());
            if pair.together > 1 {
                dimensions.insert(Attribute::Concurrent, pair.together.into());
            }
        }
        Self {
            case: case.clone(),
            dimensions,
            spent_s: 0.0,
            choosing_s: 0.0,
            limit_s: f64::INFINITY,
            preparation: 0,
            steps: 0,
            pending: Vec::new(),
            series: BTreeMap::new(),
            history: BTreeMap::new(),
            counted_samples: 0,
            last_second: SecondAverage::default(),
        }
    }

    /// Limits the seconds that the case may use, its earlier turns included.
    pub(crate) const fn limit_time(&mut self, limit_s: f64) {
        self.limit_s = limit_s;
    }

    /// Whether there are samples that determine when to stop.
    pub(crate) fn has_samples(&self) -> bool {
        self.history.values().flatten().any(|samples| !samples.is_empty())
    }

    /// Whether anything was recorded.
    pub(crate) fn has_series(&self) -> bool {
        !self.series.is_empty()
    }

    /// Takes the recorded events that are not stored yet.
    pub(crate) fn take_pending(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.pending)
    }

    /// Number of preparations with stored samples.
    pub(crate) const fn preparations_ended(&self) -> u32 {
        self.preparation
    }
}

/// Recorder of a case or of one of its turns.
pub(crate) struct Recorder<'a, 't> {
    state: &'a mut CaseState,
    log: &'a mut RunLog<'t>,
    cancel: &'a AtomicBool,
    run_started_ns: u64,
    turn_started_ns: u64,
    /// `None` if this machine is not watched.
    counters: Option<&'a CounterWatch>,
    /// Work of the timed passes since they began.
    work: Option<CountedWork>,
    /// `None` if the turn has no deadline.
    deadline: Option<&'a TurnDeadline<'a>>,
}

impl<'a, 't> Recorder<'a, 't> {
    pub(crate) fn new(
        state: &'a mut CaseState,
        log: &'a mut RunLog<'t>,
        cancel: &'a AtomicBool,
        run_started_ns: u64,
    ) -> Self {
        let turn_started_ns = clock::now_ns();
        Self {
            state,
            log,
            cancel,
            run_started_ns,
            turn_started_ns,
            counters: None,
            work: None,
            deadline: None,
        }
    }

    /// Returns the recorder with the watch of kernel counters.
    pub(crate) fn with_counters(self, counters: Option<&'a CounterWatch>) -> Self {
        Self { counters, ..self }
    }

    /// Returns the recorder with the deadline of the turn.
    pub(crate) fn with_deadline(self, deadline: &'a TurnDeadline<'a>) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Begins a measured stretch with the kernel counters of some places.
    pub(crate) fn begin_counting(&self, places: &CountedPlaces) {
        self.counters.iter().for_each(|it| it.begin_stretch(places.clone()));
    }

    /// Ends a measured stretch that moved these bytes.
    pub(crate) fn end_counting(&self, payload: PayloadBytes) {
        self.counters.iter().for_each(|it| it.end_stretch(&self.state.case.id, payload));
    }

    /// Begins the timed passes of a preparation, if the case has such.
    pub(crate) fn begin_passes(&mut self) {
        self.work = None;
        self.counters_of_passes().iter().for_each(|it| it.begin_passes());
    }

    /// Adds the work of a timed pass.
    pub(crate) fn add_work(&mut self, work: CountedWork) {
        self.work = Some(self.work.unwrap_or_default().plus(work));
    }

    /// Ends the timed passes of a preparation.
    pub(crate) fn end_passes(&self) {
        let counters = self.counters_of_passes();
        counters.iter().for_each(|it| it.end_passes(&self.state.case.id, self.work));
    }

    fn counters_of_passes(&self) -> Option<&'a CounterWatch> {
        self.counters.filter(|_| self.state.case.workload.has_timed_passes())
    }

    /// Drops the counters of the stretch in progress.
    pub(crate) fn discard_counting(&self) {
        self.counters.iter().for_each(|it| it.discard_stretch());
    }

    /// Ends the turn, so that the time until the next one does not count.
    pub(crate) fn end_turn(self) {
        self.state.spent_s = self.elapsed_s();
    }

    /// Flag that the user's interrupt sets; long kernels check it themselves.
    pub(crate) const fn cancel(&self) -> &'a AtomicBool {
        self.cancel
    }

    /// Seconds that the case has used so far.
    pub(crate) fn elapsed_s(&self) -> f64 {
        self.state.spent_s + clock::seconds_between(self.turn_started_ns, clock::now_ns())
    }

    /// Identifier of the case.
    pub(crate) fn case_id(&self) -> &str {
        &self.state.case.id
    }

    /// Time budget of the case in seconds, or the shorter time that the rest of the run leaves.
    pub(crate) fn budget_s(&self) -> f64 {
        let CaseState { case, limit_s, choosing_s, .. } = &*self.state;
        case.stopping.budget_s.min(limit_s - choosing_s).max(0.0)
    }

    /// Excludes the time since `began_s` from the budget: the choice of a method is a phase of its
    /// own.
    pub(crate) fn exclude_choosing_since(&mut self, began_s: f64) {
        self.state.choosing_s += self.elapsed_s() - began_s;
    }

    /// Adds a sample to the only series of a metric, in its base unit.
    pub(crate) fn add_sample(&mut self, metric: &'static str, value: f64) {
        self.record(MeasurementEntry::sample(metric, value));
    }

    /// Adds a sample to one of several series of a metric, in its base unit.
    pub(crate) fn add_series_sample(&mut self, key: SeriesKey, value: f64) {
        self.record(MeasurementEntry::Measured(key, EntryValue::Sample { value, weight: 1.0 }));
    }

    /// Adds a count of rare events during a stretch to the only series of a metric.
    pub(crate) fn add_count(
        &mut self,
        metric: &'static str,
        span: MeasuredSpan,
        count: EventCount,
    ) {
        self.record(MeasurementEntry::measured(metric, EntryValue::Count(span, count)));
    }

    /// Adds a fact about the case.
    pub(crate) fn add_fact(&mut self, name: Attribute, value: impl Into<AttributeValue>) {
        self.record(MeasurementEntry::fact(name, value));
    }

    /// Adds a fact about one series.
    pub(crate) fn add_series_fact(
        &mut self,
        key: SeriesKey,
        name: Attribute,
        value: impl Into<AttributeValue>,
    ) {
        self.record(MeasurementEntry::SeriesFact(key, name, value.into()));
    }

    /// Adds a doubt about the case.
    pub(crate) fn add_doubt(&mut self, doubt: Doubt) {
        self.record(MeasurementEntry::Doubt(doubt));
    }

    /// Adds an entry of a measurement; raw outputs are stored by [`Recorder::store_raw`].
    pub(crate) fn record(&mut self, entry: MeasurementEntry) {
        let case = || self.state.case.id.clone();
        let event = match entry {
            MeasurementEntry::Measured(key, seen) => self.series_event(key, seen),
            MeasurementEntry::SeriesFact(key, name, value) => {
                let about = FactSubject::Series(self.series_number(key));
                RunEvent::Fact(Fact { about, name, value })
            }
            MeasurementEntry::Fact(name, value) => {
                RunEvent::Fact(Fact { about: FactSubject::Case(case()), name, value })
            }
            MeasurementEntry::Doubt(doubt) => RunEvent::Doubt { case: Some(case()), doubt },
        };
        self.state.pending.push(event);
    }

    /// Adds all entries of a measurement.
    pub(crate) fn record_all(&mut self, entries: impl IntoIterator<Item = MeasurementEntry>) {
        entries.into_iter().for_each(|entry| self.record(entry));
    }

    fn series_event(&mut self, key: SeriesKey, seen: EntryValue) -> RunEvent {
        let series = self.series_number(key);
        let preparation = self.state.preparation;
        match seen {
            EntryValue::Sample { value, weight } => {
                if let Some(history) = self.state.history.get_mut(&series) {
                    history.resize(preparation as usize + 1, Vec::new());
                    history[preparation as usize].push(value);
                }
                let at_ns = clock::now_ns().saturating_sub(self.run_started_ns);
                RunEvent::Sample(Sample { series, value, weight, preparation, at_ns })
            }
            EntryValue::Distribution(span, seen) => {
                RunEvent::Distribution(stretch(series, preparation, span, seen))
            }
            EntryValue::Count(span, seen) => {
                RunEvent::Count(stretch(series, preparation, span, seen))
            }
            EntryValue::Figures(figures) => RunEvent::Figures { series, figures },
        }
    }

    /// Returns the number of a series, and opens it at its first use.
    fn series_number(&mut self, key: SeriesKey) -> u32 {
        let mut extra = key.dimensions;
        extra.retain(|name, value| self.state.dimensions.get(name) != Some(value));
        let place = (key.metric, format!("{extra:?}"));
        if let Some(number) = self.state.series.get(&place) {
            return *number;
        }
        let mut dimensions = self.state.dimensions.clone();
        dimensions.extend(extra);
        let series = self.log.next_series();
        let is_result = |name: &Attribute| name.row().role != Role::Part;
        if dimensions.keys().all(is_result) {
            self.state.history.insert(series, Vec::new());
        }
        self.state.series.insert(place, series);
        self.state.pending.push(RunEvent::SeriesOpened(SeriesOpened::new(
            series,
            self.state.case.id.clone(),
            key.metric.to_owned(),
            dimensions,
        )));
        series
    }

    /// Waits for the hosts that measure together with this one, and begins a step of the case.
    /// Returns their common start by this host's clock, if there are several.
    pub(crate) fn wait_for_start(&mut self) -> Result<Option<u64>, CommandFailure> {
        self.state.steps += 1;
        let (step, case) = (self.state.steps, self.state.case.id.as_str());
        let gate = StartGate { cases: &[case], step, run_started_ns: self.run_started_ns };
        self.log.wait_for_start(&gate)
    }

    /// Pair that measures the case, in a run with several hosts.
    pub(crate) const fn pair(&self) -> Option<&CasePair> {
        self.state.case.pair.as_ref()
    }

    /// Opens a call to the agent at the other end of the pair; returns `None` without a pair. The
    /// subject selects the handler there (`fleet::pairs::serve_call`).
    pub(crate) fn call_peer(&mut self, subject: &str) -> Option<Call> {
        let peer = &self.state.case.pair.as_ref()?.peer;
        self.log.call(peer, subject)
    }

    /// Notes in advance that something exceeds the budget of the case by `beyond_s`, unless that is
    /// within the tolerance.
    pub(crate) fn note_if_over_budget(
        &mut self,
        beyond_s: f64,
        words: impl FnOnce(Phrase) -> Phrase,
    ) {
        let budget_s = self.budget_s();
        if beyond_s > TOLERANCE * budget_s {
            self.note(&words(Phrase::approximate(budget_s, Unit::Second)));
        }
    }

    /// Updates the forecast of the run's duration, and prints its warning if there is a new one.
    pub(crate) fn update_forecast(&mut self, outlook: &mut RunForecast) {
        let elapsed_s = clock::seconds_between(self.run_started_ns, clock::now_ns());
        outlook.record_spent(&self.state.case.id, self.elapsed_s());
        if let Some(words) = outlook.check_budget(elapsed_s) {
            self.log.warn(&words);
        }
    }

    /// Prints a line about the case.
    pub(crate) fn note(&mut self, said: &Phrase) {
        self.log.note(Some(&self.state.case.id), said);
    }

    /// Reports progress.
    pub(crate) fn progress(&mut self, said: &Phrase) {
        self.log.progress(said);
    }

    /// Reports the figures of the last `length_s` seconds; shorter intervals are combined to
    /// seconds.
    pub(crate) fn report_second(
        &mut self,
        length_s: f64,
        rates: &[Quantity],
        latency_s: Option<f64>,
        cpu: Option<f64>,
    ) {
        let lately = &mut self.state.last_second;
        lately.add(length_s, rates, latency_s, cpu);
        if lately.length_s < SecondAverage::MIN_LENGTH_S {
            return;
        }
        let lately = std::mem::take(lately);
        let second = SecondReport {
            case: self.state.case.id.clone(),
            at_s: self.elapsed_s(),
            rates: lately.rates(rates),
            latency_s: lately.latency_s.mean(),
            cpu: lately.cpu.mean(),
        };
        self.log.report_second(None, &second);
    }

    /// Stores a raw output of a tool.
    pub(crate) fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<(), CaseError> {
        if let Some(hash) = self.log.store_raw(bytes).map_err(CaseError::Store)? {
            let (case, name) = (Some(self.state.case.id.clone()), name.to_owned());
            let bytes = bytes.len() as u64;
            self.state.pending.push(RunEvent::RawOutput { case, name, hash, bytes });
        }
        Ok(())
    }

    /// Stores all events recorded so far.
    pub(crate) fn flush(&mut self) -> Result<(), CaseError> {
        self.state
            .pending
            .drain(..)
            .try_for_each(|event| self.log.add(event))
            .map_err(CaseError::Store)
    }

    /// Evaluates the stopping rule after a repetition that took this long; fails if the user
    /// interrupts.
    pub(crate) fn next_action(&mut self, repetition_s: f64) -> Result<NextStep, CaseError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(CaseError::Interrupted);
        }
        let count = |one: &Vec<Vec<f64>>| one.iter().map(Vec::len).sum();
        let samples: usize = self.state.history.values().map(count).max().unwrap_or(0);
        let batch = samples - std::mem::replace(&mut self.state.counted_samples, samples);
        let spent = CaseTime {
            elapsed_s: self.elapsed_s() - self.state.choosing_s,
            repetition_s: Some(repetition_s),
            batch,
        };
        if self.state.case.workload.checks_each_result() {
            self.mark_result();
        }
        let stopping = StoppingRule { budget_s: self.budget_s(), ..self.state.case.stopping };
        Ok(stopping::next_step(self.state.history.values(), &stopping, spent))
    }

    /// Permits the deadline to end the turn: the case has a result.
    fn mark_result(&self) {
        self.deadline.iter().for_each(|it| it.mark_result());
    }

    /// Whether every metric has the requested precision.
    pub(crate) fn is_precise(&self) -> bool {
        stopping::is_precise(self.state.history.values(), &self.state.case.stopping)
    }

    /// Stores the events, and begins a preparation with new allocations and placement.
    pub(crate) fn begin_preparation(&mut self) -> Result<(), CaseError> {
        self.flush()?;
        self.state.preparation += 1;
        self.mark_result();
        Ok(())
    }
}

const fn stretch<T>(
    series: u32,
    preparation: u32,
    span: MeasuredSpan,
    seen: T,
) -> StretchRecord<T> {
    let MeasuredSpan { from_ns, to_ns, warmup } = span;
    StretchRecord { series, preparation, from_ns, to_ns, warmup, seen }
}
