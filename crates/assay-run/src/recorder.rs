//! The recorder of a case: samples, facts, doubts and raw output.
//!
//! Samples are held back until a preparation ends, so that writing them never falls into a timed
//! pass; a finished case is always complete in the store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_fleet::remote::calls::Call;
use assay_kernels::clock;
use assay_model::attribute::{Attribute, Attributes, Role, Value};
use assay_model::doubt::Doubt;
use assay_model::entry::{Entry, Key, Seen, Span};
use assay_model::event::{About, Count, Fact, RunEvent, Sample, SeriesOpened, Stretch};
use assay_model::failure::{Area, Failure as CaseFailure, Lack};
use assay_model::phrase::Phrase;
use assay_model::plan::{Case, Pair};
use assay_model::quantity::{Quantity, Unit};
use assay_model::run::Run;
use assay_stats::quantile;
use assay_stats::stopping::{self, Next, Spent};

use crate::failure::Failure;
use crate::log::Log;
use crate::outlook::{Outlook, TOLERANCE};
use crate::sink::{Gate, Second};

mod lately;

use lately::Lately;

/// Why a case ended without a result.
#[derive(Debug)]
pub(crate) enum CaseError {
    /// The measurement failed; the run goes on with the next case.
    Failed(CaseFailure),
    /// The same for want of something that other cases need as well.
    Lacking(Lack, CaseFailure),
    /// It was not tried, because it lacks what the earlier case `because` lacked.
    Skipped { failure: CaseFailure, because: String },
    /// The user wants to stop.
    Interrupted,
    /// Nothing can be stored any more; the run ends.
    Store(Failure),
}

impl CaseError {
    /// A failed action, with the whole chain of its causes.
    pub(crate) fn because(area: Area, error: &(dyn std::error::Error + 'static)) -> Self {
        Self::advised(area, error, "")
    }

    /// The same where the action itself knows what to do.
    pub(crate) fn advised(
        area: Area,
        error: &(dyn std::error::Error + 'static),
        advice: &str,
    ) -> Self {
        let causes = CaseFailure::causes(error);
        Self::Failed(CaseFailure::Error { area, causes, advice: advice.to_owned() })
    }

    /// A failure that ends this case and not the run.
    pub(crate) fn of_case(area: Area, failure: &Failure) -> Self {
        Self::Failed(failure.of_case(area))
    }

    /// The same failure, with what others need as well.
    pub(crate) fn for_lack_of(self, what: Lack) -> Self {
        match self {
            Self::Failed(failure) => Self::Lacking(what, failure),
            other => other,
        }
    }
}

impl From<CaseFailure> for CaseError {
    fn from(failure: CaseFailure) -> Self {
        Self::Failed(failure)
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
    /// What all series of the case have in common, the host among it.
    dimensions: Attributes,
    /// Time of the turns that ended.
    spent_s: f64,
    /// What of it chose how to measure, and is no part of the budget.
    choosing_s: f64,
    preparation: u32,
    /// Steps that waited for other hosts.
    steps: u32,
    pending: Vec<RunEvent>,
    /// Series by metric and by what they have besides the case's dimensions, as text → number. Languages
    /// make one for every file of every stream: too many to look at each.
    series: BTreeMap<(&'static str, String), u32>,
    /// Samples by series and preparation, of the series that decide when to stop.
    history: BTreeMap<u32, Vec<Vec<f64>>>,
    /// Samples of the longest of them when the stopping rule was last asked.
    seen: usize,
    /// What was not told yet to who looks on.
    lately: Lately,
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
            preparation: 0,
            steps: 0,
            pending: Vec::new(),
            series: BTreeMap::new(),
            history: BTreeMap::new(),
            seen: 0,
            lately: Lately::default(),
        }
    }

    /// Whether anything was measured that decides when to stop.
    pub(crate) fn has_samples(&self) -> bool {
        self.history.values().flatten().any(|samples| !samples.is_empty())
    }

    /// Whether anything was recorded at all.
    pub(crate) fn has_series(&self) -> bool {
        !self.series.is_empty()
    }

    /// What was recorded and is not stored yet.
    pub(crate) fn take_pending(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.pending)
    }

    /// Preparations whose samples are stored.
    pub(crate) const fn preparations_ended(&self) -> u32 {
        self.preparation
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

    /// The case's identifier.
    pub(crate) fn case_id(&self) -> &str {
        &self.state.case.id
    }

    /// Seconds that the case was given.
    pub(crate) const fn budget_s(&self) -> f64 {
        self.state.case.stopping.budget_s
    }

    /// What was done since this moment of the case chose how to measure: it is a phase of its own, and
    /// preparations do not pay for it.
    pub(crate) fn has_chosen_since(&mut self, began_s: f64) {
        self.state.choosing_s += self.elapsed_s() - began_s;
    }

    /// Adds a sample of a metric's only series, in its base unit.
    pub(crate) fn sample(&mut self, metric: &'static str, value: f64) {
        self.record(Entry::sample(metric, value));
    }

    /// Adds a sample of one of several series of a metric, in its base unit.
    pub(crate) fn sample_of(&mut self, key: Key, value: f64) {
        self.record(Entry::Measured(key, Seen::Sample { value, weight: 1.0 }));
    }

    /// Adds rare events of a stretch of time to a metric's only series.
    pub(crate) fn count(&mut self, metric: &'static str, span: Span, count: Count) {
        self.record(Entry::Measured(Key::of(metric), Seen::Count(span, count)));
    }

    /// Adds something found out about the case.
    pub(crate) fn learn(&mut self, name: Attribute, value: impl Into<Value>) {
        self.record(Entry::Fact(name, value.into()));
    }

    /// Adds something found out about one series.
    pub(crate) fn learn_of(&mut self, key: Key, name: Attribute, value: impl Into<Value>) {
        self.record(Entry::SeriesFact(key, name, value.into()));
    }

    /// Adds a doubt about the case.
    pub(crate) fn doubt(&mut self, doubt: Doubt) {
        self.record(Entry::Doubt(doubt));
    }

    /// Adds whatever a measurement found; raw outputs are stored by [`Recorder::raw`].
    pub(crate) fn record(&mut self, entry: Entry) {
        let case = || self.state.case.id.clone();
        let event = match entry {
            Entry::Measured(key, seen) => self.seen(key, seen),
            Entry::SeriesFact(key, name, value) => {
                let about = About::Series(self.series(key));
                RunEvent::Fact(Fact { about, name, value })
            }
            Entry::Fact(name, value) => {
                RunEvent::Fact(Fact { about: About::Case(case()), name, value })
            }
            Entry::Doubt(doubt) => RunEvent::Doubt { case: Some(case()), doubt },
        };
        self.state.pending.push(event);
    }

    /// Adds all that a measurement found.
    pub(crate) fn record_all(&mut self, entries: impl IntoIterator<Item = Entry>) {
        entries.into_iter().for_each(|entry| self.record(entry));
    }

    fn seen(&mut self, key: Key, seen: Seen) -> RunEvent {
        let series = self.series(key);
        let preparation = self.state.preparation;
        match seen {
            Seen::Sample { value, weight } => {
                if let Some(history) = self.state.history.get_mut(&series) {
                    history.resize(preparation as usize + 1, Vec::new());
                    history[preparation as usize].push(value);
                }
                let at_ns = clock::now_ns().saturating_sub(self.run_started_ns);
                RunEvent::Sample(Sample { series, value, weight, preparation, at_ns })
            }
            Seen::Distribution(span, seen) => {
                RunEvent::Distribution(stretch(series, preparation, span, seen))
            }
            Seen::Count(span, seen) => {
                RunEvent::Count(stretch(series, preparation, span, seen))
            }
            Seen::Figures(figures) => RunEvent::Figures { series, figures },
        }
    }

    /// The number of a series, which is opened at its first use.
    fn series(&mut self, key: Key) -> u32 {
        let mut extra = key.extra;
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
        self.state.pending.push(RunEvent::SeriesOpened(SeriesOpened {
            series,
            case: self.state.case.id.clone(),
            metric: key.metric.to_owned(),
            dimensions,
        }));
        series
    }

    /// Everything that was stored so far, in this case and before it.
    pub(crate) const fn past(&self) -> &Run {
        self.log.past()
    }

    /// The median of a metric's first series in a case that ended before, in the metric's base unit.
    pub(crate) fn median_of(&self, case: &str, metric: &str) -> Option<f64> {
        let mut all = self.past().case(case)?.series.iter();
        let series = all.find(|series| series.metric == metric)?;
        let mut values: Vec<f64> = series.samples.iter().map(|sample| sample.value).collect();
        values.sort_by(f64::total_cmp);
        quantile::median(&values)
    }

    /// Waits for those who measure together with this host, and a step of the case begins: the moment at which all of
    /// them begin, by this host's clock, where there are others.
    pub(crate) fn gate(&mut self) -> Result<Option<u64>, Failure> {
        self.state.steps += 1;
        let (step, case) = (self.state.steps, self.state.case.id.as_str());
        let gate = Gate { cases: &[case], step, run_started_ns: self.run_started_ns };
        self.log.gate(&gate)
    }

    /// The pair that the case is measured in, where it is one of several hosts.
    pub(crate) const fn pair(&self) -> Option<&Pair> {
        self.state.case.pair.as_ref()
    }

    /// Begins a conversation with the agent at the other end of the pair; `None` where there is none.
    /// Whoever attends there is found by the subject (`fleet::pairs::attend`).
    pub(crate) fn call_peer(&mut self, subject: &str) -> Option<Call> {
        let peer = &self.state.case.pair.as_ref()?.peer;
        self.log.call(peer, subject)
    }

    /// Says beforehand that something takes so much beyond the budget of the case, where that is much of it.
    pub(crate) fn foretell(&mut self, beyond_s: f64, words: impl FnOnce(Phrase) -> Phrase) {
        let budget_s = self.budget_s();
        if beyond_s > TOLERANCE * budget_s {
            self.note(&words(Phrase::roughly(budget_s, Unit::Second)));
        }
    }

    /// Says what is known by now about the time of the whole run, where that is news.
    pub(crate) fn look_out(&mut self, outlook: &mut Outlook) {
        let elapsed_s = clock::seconds_between(self.run_started_ns, clock::now_ns());
        outlook.has_spent(&self.state.case.id, self.elapsed_s(), false);
        if let Some(words) = outlook.look(elapsed_s) {
            self.log.warn(&words);
        }
    }

    /// Reports what is worth its own line.
    pub(crate) fn note(&mut self, said: &Phrase) {
        self.log.note(Some(&self.state.case.id), said);
    }

    /// Says what is going on.
    pub(crate) fn progress(&mut self, said: &Phrase) {
        self.log.progress(said);
    }

    /// Says what the last moments were like, of `length_s`: second by second, however short they are.
    pub(crate) fn second(
        &mut self,
        length_s: f64,
        rates: &[Quantity],
        latency_s: Option<f64>,
        cpu: Option<f64>,
    ) {
        let lately = &mut self.state.lately;
        lately.add(length_s, rates, latency_s, cpu);
        if lately.length_s < Lately::SECOND_S {
            return;
        }
        let lately = std::mem::take(lately);
        let (case, at_s) = (self.state.case.id.as_str(), self.elapsed_s());
        let (latency_s, cpu) = (lately.latency_s.mean(), lately.cpu.mean());
        let rates: Vec<Quantity> = lately.rates(rates);
        self.log.second(&Second { host: None, case, at_s, rates: &rates, latency_s, cpu });
    }

    /// Keeps a raw output of a tool.
    pub(crate) fn raw(&mut self, name: &str, bytes: &[u8]) -> Result<(), CaseError> {
        if let Some(hash) = self.log.raw(bytes).map_err(CaseError::Store)? {
            let (case, name) = (Some(self.state.case.id.clone()), name.to_owned());
            let bytes = bytes.len() as u64;
            self.state.pending.push(RunEvent::RawOutput { case, name, hash, bytes });
        }
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
    pub(crate) fn next(&mut self, repetition_s: f64) -> Result<Next, CaseError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(CaseError::Interrupted);
        }
        let count = |one: &Vec<Vec<f64>>| one.iter().map(Vec::len).sum();
        let samples: usize = self.state.history.values().map(count).max().unwrap_or(0);
        let batch = samples - std::mem::replace(&mut self.state.seen, samples);
        let spent = Spent {
            elapsed_s: self.elapsed_s() - self.state.choosing_s,
            repetition_s: Some(repetition_s),
            batch,
        };
        Ok(stopping::next(self.state.history.values(), &self.state.case.stopping, spent))
    }

    /// Whether every metric is known as precisely as was requested.
    pub(crate) fn is_precise(&self) -> bool {
        stopping::is_precise(self.state.history.values(), &self.state.case.stopping)
    }

    /// Everything is about to be allocated and placed again.
    pub(crate) fn prepare_afresh(&mut self) -> Result<(), CaseError> {
        self.flush()?;
        self.state.preparation += 1;
        Ok(())
    }
}

const fn stretch<T>(series: u32, preparation: u32, span: Span, seen: T) -> Stretch<T> {
    let Span { from_ns, to_ns, warmup } = span;
    Stretch { series, preparation, from_ns, to_ns, warmup, seen }
}
