//! Run, rebuilt from its events.

use std::collections::{BTreeMap, BTreeSet};

use crate::attribute::Attributes;
use crate::distribution::LatencyDistribution;
use crate::doubt::Doubt;
use crate::event::{
    EventCount, Fact, FactSubject, HostJoined, RunEvent, RunStarted, RunStatus, Sample,
    SeriesOpened, StopReason, StretchRecord, ToolFigures,
};
use crate::facts::HostState;
use crate::failure::FailureReason;
use crate::kernel_counters::CounterRecord;
use crate::plan::Case;

/// Name of totals over several hosts in the dimension `host`; no host may have it.
pub const ALL_HOSTS: &str = "all";

/// Execution of a plan, as far as it got.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Start event: plan, command and label, recorded before the first host joins.
    pub started: RunStarted,
    /// The hosts that took part, in the order in which they joined.
    pub hosts: Vec<HostJoined>,
    /// RFC 3339 time of the end, if recorded.
    pub finished: Option<String>,
    /// Final status.
    pub status: RunStatus,
    /// State of the first host after the last case.
    pub state_after: Option<HostState>,
    /// Records of the started cases, in the order of their start.
    pub cases: Vec<CaseRecord>,
    /// Raw outputs of the run as a whole: name → hash.
    pub raw: BTreeMap<String, String>,
    /// Facts about hosts.
    pub host_facts: BTreeMap<String, Attributes>,
    /// Doubts about the run as a whole.
    pub doubts: Vec<Doubt>,
    /// Inconsistent events: series that were never opened, or opened twice.
    pub inconsistent_events: Vec<InconsistentEvent>,
    /// Number of a series → index of its case and index within it.
    series_index: BTreeMap<u32, (usize, usize)>,
}

/// An event that contradicts earlier events and was ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InconsistentEvent {
    /// Number of the event in the run, from 0.
    pub event: usize,
    pub contradiction: EventContradiction,
}

/// Contradiction between an event and the events before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventContradiction {
    /// Its series was never opened.
    NeverOpened(u32),
    /// It opens a series that is already open.
    OpenedTwice(u32),
}

/// Results of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseRecord {
    /// The case as planned.
    pub case: Case,
    /// Outcome; `None` if the run stopped during the case.
    pub outcome: Option<CaseOutcome>,
    /// Its series, in the order in which they were opened.
    pub series: Vec<SeriesRecord>,
    /// Facts about the whole case.
    pub facts: Attributes,
    /// Raw outputs: name → hash.
    pub raw: BTreeMap<String, String>,
    /// Doubts about this case.
    pub doubts: Vec<Doubt>,
    /// Kernel counters of each host that provided them.
    pub counters: Vec<CounterRecord>,
    /// Facts about it on one of several hosts.
    pub facts_by_host: BTreeMap<String, Attributes>,
    /// Hosts on which it failed while others continued; their samples do not count.
    pub failed_hosts: Vec<HostCaseFailure>,
    /// Hosts that had no time for it while others measured it.
    pub cut_hosts: Vec<String>,
}

impl CaseRecord {
    /// Returns the record of a case that has just begun.
    pub fn new(case: Case) -> Self {
        Self {
            case,
            outcome: None,
            series: Vec::new(),
            facts: Attributes::new(),
            raw: BTreeMap::new(),
            doubts: Vec::new(),
            counters: Vec::new(),
            facts_by_host: BTreeMap::new(),
            failed_hosts: Vec::new(),
            cut_hosts: Vec::new(),
        }
    }

    /// Returns the hosts without a result while others have one.
    pub fn hosts_without_result(&self) -> impl Iterator<Item = &str> {
        let failed = self.failed_hosts.iter().map(|failure| failure.host.as_str());
        failed.chain(self.cut_hosts.iter().map(String::as_str))
    }
}

/// Failure of a case on one of several hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCaseFailure {
    /// The host.
    pub host: String,
    /// Cause of the failure.
    pub failure: FailureReason,
    /// Earlier case with the same cause of failure, for which this one was skipped.
    pub because: Option<String>,
}

/// Results of one series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeriesRecord {
    /// Name of the metric.
    pub metric: String,
    /// Dimensions that distinguish it.
    pub dimensions: Attributes,
    /// Facts about this series.
    pub facts: Attributes,
    /// All samples, in order of measurement.
    pub samples: Vec<Sample>,
    /// All distributions, in order of measurement.
    pub distributions: Vec<StretchRecord<LatencyDistribution>>,
    /// All counts of rare events, in order of measurement.
    pub counts: Vec<StretchRecord<EventCount>>,
    /// Statistics that a tool printed of values that it did not output.
    pub figures: Option<ToolFigures>,
}

impl SeriesRecord {
    /// Releases unused capacity after the last event: it adds up over the series of a thousand
    /// hosts.
    fn shrink(&mut self) {
        self.samples.shrink_to_fit();
        self.distributions.shrink_to_fit();
        self.counts.shrink_to_fit();
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum CaseOutcome {
    /// Success: its samples count.
    Finished(StopReason),
    /// Failure: its samples do not count.
    Failed {
        /// Cause of the failure.
        failure: FailureReason,
        /// Earlier case with the same cause of failure, for which this one was skipped.
        because: Option<String>,
    },
}

/// Builder of a run from its events.
#[derive(Debug)]
pub struct RunBuilder {
    run: Run,
    /// Numbers of the series of cases that the plan does not have.
    unplanned_series: BTreeSet<u32>,
    event_count: usize,
}

impl RunBuilder {
    /// Starts a run.
    pub const fn new(started: RunStarted) -> Self {
        Self { run: Run::new(started), unplanned_series: BTreeSet::new(), event_count: 1 }
    }

    /// Adds the next event. Ignores events of cases outside the plan: a newer version may have
    /// written them.
    pub fn add(&mut self, event: RunEvent) {
        let Self { run, unplanned_series: foreign, event_count: events } = self;
        if let Err(contradiction) = run.apply(event, foreign) {
            run.inconsistent_events.push(InconsistentEvent { event: *events, contradiction });
        }
        *events += 1;
    }

    /// Returns the run so far.
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the finished run.
    pub fn finish(self) -> Run {
        self.run
    }
}

impl Run {
    /// Folds events into a run. `None` if the first one is not [`RunEvent::RunStarted`].
    pub fn fold(events: impl IntoIterator<Item = RunEvent>) -> Option<Self> {
        let mut events = events.into_iter();
        let RunEvent::RunStarted(started) = events.next()? else { return None };
        let mut builder = RunBuilder::new(*started);
        events.for_each(|event| builder.add(event));
        Some(builder.finish())
    }

    const fn new(started: RunStarted) -> Self {
        Self {
            started,
            hosts: Vec::new(),
            finished: None,
            status: RunStatus::Unfinished,
            state_after: None,
            cases: Vec::new(),
            raw: BTreeMap::new(),
            host_facts: BTreeMap::new(),
            doubts: Vec::new(),
            inconsistent_events: Vec::new(),
            series_index: BTreeMap::new(),
        }
    }

    /// Returns the host that joined first, usually the only one; `None` if the run ended before.
    pub fn first_host(&self) -> Option<&HostJoined> {
        self.hosts.first()
    }

    /// Returns the record of a case.
    pub fn case(&self, id: &str) -> Option<&CaseRecord> {
        self.cases.iter().find(|record| record.case.id == id)
    }

    /// Returns the cases whose samples count: a case that the budget left out has none.
    pub fn finished_cases(&self) -> impl Iterator<Item = &CaseRecord> {
        let is_finished = |outcome: &CaseOutcome| matches!(outcome, CaseOutcome::Finished(stopped) if *stopped != StopReason::Cut);
        self.cases.iter().filter(move |record| record.outcome.as_ref().is_some_and(is_finished))
    }

    /// Adds an event. `foreign` contains the numbers of the series of cases outside the plan.
    fn apply(
        &mut self,
        event: RunEvent,
        foreign: &mut BTreeSet<u32>,
    ) -> Result<(), EventContradiction> {
        match event {
            RunEvent::RunStarted(_) => {}
            RunEvent::HostJoined(host) => self.hosts.push(*host),
            RunEvent::CaseStarted { case } => self.begin_case(&case),
            RunEvent::SeriesOpened(opened) => return self.open_series(opened, foreign),
            RunEvent::Sample(sample) => {
                let add = |it: &mut SeriesRecord| it.samples.push(sample);
                return self.update_series(sample.series, foreign, add);
            }
            RunEvent::Distribution(stretch) => {
                let number = stretch.series;
                return self
                    .update_series(number, foreign, |it| it.distributions.push(stretch));
            }
            RunEvent::Count(stretch) => {
                let number = stretch.series;
                return self.update_series(number, foreign, |it| it.counts.push(stretch));
            }
            RunEvent::Figures { series, figures } => {
                return self.update_series(series, foreign, |it| it.figures = Some(figures));
            }
            RunEvent::Fact(fact) => return self.record_fact(fact, foreign),
            RunEvent::RawOutput { case: Some(case), name, hash, .. } => {
                self.update_case(&case, |record| drop(record.raw.insert(name, hash)));
            }
            RunEvent::RawOutput { case: None, name, hash, .. } => {
                self.raw.insert(name, hash);
            }
            RunEvent::Counters(counters) => {
                let case = counters.case.clone();
                self.update_case(&case, |record| record.counters.push(*counters));
            }
            RunEvent::Doubt { case: Some(case), doubt } => {
                self.update_case(&case, |record| record.doubts.push(doubt));
            }
            RunEvent::Doubt { case: None, doubt } => self.doubts.push(doubt),
            RunEvent::CaseFinished { case, stopped } => {
                self.update_case(&case, |record| {
                    record.outcome = Some(CaseOutcome::Finished(stopped));
                    record.series.iter_mut().for_each(SeriesRecord::shrink);
                });
            }
            RunEvent::CaseFailed { case, failure, because, host: Some(host) } => {
                let failed = HostCaseFailure { host, failure, because };
                self.update_case(&case, |record| record.failed_hosts.push(failed));
            }
            RunEvent::CaseFailed { case, failure, because, host: None } => {
                let outcome = CaseOutcome::Failed { failure, because };
                self.update_case(&case, |record| record.outcome = Some(outcome));
            }
            RunEvent::CaseCut { case, host } => {
                self.update_case(&case, |record| record.cut_hosts.push(host));
            }
            RunEvent::RunFinished { finished, status, state } => {
                self.finished = Some(finished);
                self.status = status;
                self.state_after = Some(state);
            }
        }
        Ok(())
    }

    fn open_series(
        &mut self,
        opened: SeriesOpened,
        foreign: &mut BTreeSet<u32>,
    ) -> Result<(), EventContradiction> {
        if self.series_index.contains_key(&opened.series) || foreign.contains(&opened.series) {
            return Err(EventContradiction::OpenedTwice(opened.series));
        }
        let Some(index) = self.cases.iter().position(|record| record.case.id == opened.case)
        else {
            foreign.insert(opened.series);
            return Ok(());
        };
        self.series_index.insert(opened.series, (index, self.cases[index].series.len()));
        self.cases[index].series.push(SeriesRecord {
            metric: opened.metric,
            dimensions: opened.dimensions,
            ..SeriesRecord::default()
        });
        Ok(())
    }

    fn record_fact(
        &mut self,
        fact: Fact,
        foreign: &BTreeSet<u32>,
    ) -> Result<(), EventContradiction> {
        let Fact { about, name, value } = fact;
        match about {
            FactSubject::Series(number) => {
                return self
                    .update_series(number, foreign, |it| drop(it.facts.insert(name, value)));
            }
            FactSubject::Case(case) => {
                self.update_case(&case, |it| drop(it.facts.insert(name, value)));
            }
            FactSubject::CaseOn { case, host } => self.update_case(&case, |it| {
                it.facts_by_host.entry(host).or_default().insert(name, value);
            }),
            FactSubject::Host(host) => {
                self.host_facts.entry(host).or_default().insert(name, value);
            }
        }
        Ok(())
    }

    fn begin_case(&mut self, id: &str) {
        let planned = self.started.plan.cases.iter().find(|case| case.id == id);
        if let Some(case) = planned.cloned() {
            self.cases.push(CaseRecord::new(case));
        }
    }

    fn update_case(&mut self, id: &str, change: impl FnOnce(&mut CaseRecord)) {
        if let Some(record) = self.cases.iter_mut().find(|record| record.case.id == id) {
            change(record);
        }
    }

    fn update_series(
        &mut self,
        number: u32,
        foreign: &BTreeSet<u32>,
        change: impl FnOnce(&mut SeriesRecord),
    ) -> Result<(), EventContradiction> {
        match self.series_index.get(&number) {
            Some((case, series)) => {
                change(&mut self.cases[*case].series[*series]);
                Ok(())
            }
            None if foreign.contains(&number) => Ok(()),
            None => Err(EventContradiction::NeverOpened(number)),
        }
    }
}

#[cfg(test)]
pub(crate) use recording::record_for_tests;

#[cfg(test)]
mod recording {
    use super::{CaseRecord, SeriesRecord};
    use crate::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
    use crate::event::{Sample, StretchRecord};
    use crate::plan::{Case, StoppingRule};
    use crate::workload::{LatencyWorkload, Workload};

    fn stretch_record<T>(span: MeasuredSpan, seen: T) -> StretchRecord<T> {
        let MeasuredSpan { from_ns, to_ns, warmup } = span;
        StretchRecord { series: 0, preparation: 0, from_ns, to_ns, warmup, seen }
    }

    /// Records entries as the recorder does.
    pub(crate) fn record_for_tests(entries: Vec<crate::entry::MeasurementEntry>) -> CaseRecord {
        let mut record = CaseRecord::empty_for_tests();
        for entry in entries {
            match entry {
                MeasurementEntry::Fact(name, value) => drop(record.facts.insert(name, value)),
                MeasurementEntry::Doubt(doubt) => record.doubts.push(doubt),
                MeasurementEntry::SeriesFact(key, name, value) => {
                    record.find_or_add_series(&key).facts.insert(name, value);
                }
                MeasurementEntry::Measured(key, value) => {
                    let series = record.find_or_add_series(&key);
                    match value {
                        EntryValue::Sample { value, weight } => {
                            series.samples.push(Sample { weight, ..Sample::new(0, value) });
                        }
                        EntryValue::Distribution(span, distribution) => {
                            series.distributions.push(stretch_record(span, distribution));
                        }
                        EntryValue::Count(span, count) => {
                            series.counts.push(stretch_record(span, count));
                        }
                        EntryValue::Figures(_) => unreachable!("outcomes have none"),
                    }
                }
            }
        }
        record
    }

    impl CaseRecord {
        fn empty_for_tests() -> Self {
            let workload = LatencyWorkload { cpu: 0, bytes: 1, line_bytes: 64 };
            let stopping =
                StoppingRule { target: 0.01, repetitions: 1, preparations: 1, budget_s: 1.0 };
            Self::new(Case::new("x", Workload::Latency(workload), stopping))
        }

        fn find_or_add_series(&mut self, key: &SeriesKey) -> &mut SeriesRecord {
            let existing = self
                .series
                .iter()
                .position(|it| it.metric == key.metric && it.dimensions == key.dimensions);
            let index = existing.unwrap_or(self.series.len());
            if existing.is_none() {
                self.series.push(SeriesRecord {
                    metric: key.metric.to_owned(),
                    dimensions: key.dimensions.clone(),
                    ..SeriesRecord::default()
                });
            }
            &mut self.series[index]
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Plan, StoppingRule};
    use crate::workload::{LatencyWorkload, Workload};

    use super::*;

    /// Run with one case, which ended in this way.
    fn run_with(end: RunEvent) -> Run {
        let stopping =
            StoppingRule { target: 0.01, repetitions: 3, preparations: 3, budget_s: 1.0 };
        let work = LatencyWorkload { cpu: 0, bytes: 4096, line_bytes: 64 };
        let case = Case::new("a", Workload::Latency(work), stopping);
        let (suite, cases) = ("s".to_owned(), vec![case]);
        let started = RunEvent::RunStarted(Box::new(RunStarted::new(
            "r",
            "2026-01-01T00:00:00Z",
            Plan::new(suite, 1.0, cases),
        )));
        Run::fold([started, RunEvent::CaseStarted { case: "a".to_owned() }, end]).unwrap()
    }

    #[test]
    fn a_cut_case_has_not_finished() {
        let finished = |stopped| RunEvent::CaseFinished { case: "a".to_owned(), stopped };
        for (end, expected) in [
            (finished(StopReason::Precise), 1),
            (finished(StopReason::Budget), 1),
            (finished(StopReason::Cut), 0),
        ] {
            assert_eq!(run_with(end.clone()).finished_cases().count(), expected, "{end:?}");
        }
    }
}
