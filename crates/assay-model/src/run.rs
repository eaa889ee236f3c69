//! A run, rebuilt from its events.

use std::collections::{BTreeMap, BTreeSet};

use crate::attribute::Attributes;
use crate::distribution::Distribution;
use crate::doubt::Doubt;
use crate::event::{
    About, Count, Fact, Figures, HostJoined, RunEvent, RunStarted, Sample, SeriesOpened,
    Status, Stopped, Stretch,
};
use crate::facts::HostState;
use crate::failure::Failure;
use crate::plan::Case;

/// What totals over several hosts have instead of the name of one; no host may be called so.
pub const ALL_HOSTS: &str = "all";

/// One execution of a plan, as far as it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Everything known before the first host joined.
    pub started: RunStarted,
    /// The hosts that took part, in the order in which they joined.
    pub hosts: Vec<HostJoined>,
    /// RFC 3339 time of the end, if it was written.
    pub finished: Option<String>,
    /// How it ended.
    pub status: Status,
    /// The first host after the last case.
    pub state_after: Option<HostState>,
    /// One record per case that was started, in order.
    pub cases: Vec<CaseRecord>,
    /// Raw outputs of the run as a whole: name → hash.
    pub raw: BTreeMap<String, String>,
    /// Facts about hosts.
    pub host_facts: BTreeMap<String, Attributes>,
    /// Doubts about the run as a whole.
    pub doubts: Vec<Doubt>,
    /// What did not fit: events of series that were never opened, or opened twice.
    pub misfits: Vec<Misfit>,
    /// Number of a series → place of its case and place within it.
    places: BTreeMap<u32, (usize, usize)>,
}

/// An event that contradicts the events before it, and was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misfit {
    /// Number of the event in the run, from 0.
    pub event: usize,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// What is wrong with an event that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// It belongs to a series that was never opened.
    NeverOpened(u32),
    /// It opens a series that is open already.
    OpenedTwice(u32),
}

/// What happened to one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseRecord {
    /// The case as planned.
    pub case: Case,
    /// How it ended; `None` when the run stopped in the middle of it.
    pub end: Option<CaseEnd>,
    /// What was measured, in the order in which it was opened.
    pub series: Vec<SeriesRecord>,
    /// What was found out about all of it.
    pub facts: Attributes,
    /// Raw outputs: name → hash.
    pub raw: BTreeMap<String, String>,
    /// Doubts about this case.
    pub doubts: Vec<Doubt>,
    /// What was found out about it on one of several hosts.
    pub facts_on: BTreeMap<String, Attributes>,
    /// The hosts that it ended badly on while others went on; their samples do not count.
    pub failed_on: Vec<FailedOn>,
}

/// How a case ended on one of several hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedOn {
    /// The host.
    pub host: String,
    /// What failed and why.
    pub failure: Failure,
    /// The earlier case whose failure this one would only have repeated: it was skipped.
    pub because: Option<String>,
}

/// Everything measured under one number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeriesRecord {
    /// Name of the metric.
    pub metric: String,
    /// What distinguishes it.
    pub dimensions: Attributes,
    /// What was found out about it alone.
    pub facts: Attributes,
    /// Every sample, in order of measurement.
    pub samples: Vec<Sample>,
    /// Every distribution, in order of measurement.
    pub distributions: Vec<Stretch<Distribution>>,
    /// Every count of rare events, in order of measurement.
    pub counts: Vec<Stretch<Count>>,
    /// What a tool said about values that only it has seen.
    pub figures: Option<Figures>,
}

impl SeriesRecord {
    /// No more comes: gives back the memory that was kept for it, of which a thousand hosts have much.
    fn shrink(&mut self) {
        self.samples.shrink_to_fit();
        self.distributions.shrink_to_fit();
        self.counts.shrink_to_fit();
    }
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseEnd {
    /// Its samples count.
    Finished(Stopped),
    /// Its samples do not count.
    Failed {
        /// What failed and why.
        failure: Failure,
        /// The earlier case whose failure this one would only have repeated: it was skipped.
        because: Option<String>,
    },
}

/// A run that grows event by event.
#[derive(Debug)]
pub struct Growing {
    run: Run,
    /// Series of cases that the plan does not have.
    foreign: BTreeSet<u32>,
    events: usize,
}

impl Growing {
    /// A run of which nothing else is known.
    #[must_use]
    pub const fn from(started: RunStarted) -> Self {
        Self { run: Run::begun(started), foreign: BTreeSet::new(), events: 1 }
    }

    /// Adds what happened next. Events of cases that the plan does not have are ignored: a newer assay may have written
    /// them.
    pub fn add(&mut self, event: RunEvent) {
        let Self { run, foreign, events } = self;
        if let Err(wrong) = run.add(event, foreign) {
            run.misfits.push(Misfit { event: *events, wrong });
        }
        *events += 1;
    }

    /// The run so far.
    #[must_use]
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// The whole run.
    #[must_use]
    pub fn finish(self) -> Run {
        self.run
    }
}

impl Run {
    /// Adds the events up. `None` when they do not begin with [`RunEvent::RunStarted`].
    #[must_use]
    pub fn fold(events: impl IntoIterator<Item = RunEvent>) -> Option<Self> {
        let mut events = events.into_iter();
        let RunEvent::RunStarted(started) = events.next()? else { return None };
        let mut growing = Growing::from(*started);
        events.for_each(|event| growing.add(event));
        Some(growing.finish())
    }

    const fn begun(started: RunStarted) -> Self {
        Self {
            started,
            hosts: Vec::new(),
            finished: None,
            status: Status::Unfinished,
            state_after: None,
            cases: Vec::new(),
            raw: BTreeMap::new(),
            host_facts: BTreeMap::new(),
            doubts: Vec::new(),
            misfits: Vec::new(),
            places: BTreeMap::new(),
        }
    }

    /// The host that measured first, which is the only one of most runs; `None` where the run ended
    /// before it joined.
    #[must_use]
    pub fn first_host(&self) -> Option<&HostJoined> {
        self.hosts.first()
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

    /// `foreign` are the series of cases that the plan does not have.
    fn add(&mut self, event: RunEvent, foreign: &mut BTreeSet<u32>) -> Result<(), Wrong> {
        match event {
            RunEvent::RunStarted(_) => {}
            RunEvent::HostJoined(host) => self.hosts.push(*host),
            RunEvent::CaseStarted { case } => self.begin(&case),
            RunEvent::SeriesOpened(opened) => return self.open(opened, foreign),
            RunEvent::Sample(sample) => {
                let add = |it: &mut SeriesRecord| it.samples.push(sample);
                return self.within(sample.series, foreign, add);
            }
            RunEvent::Distribution(seen) => {
                let number = seen.series;
                return self.within(number, foreign, |it| it.distributions.push(seen));
            }
            RunEvent::Count(seen) => {
                let number = seen.series;
                return self.within(number, foreign, |it| it.counts.push(seen));
            }
            RunEvent::Figures { series, figures } => {
                return self.within(series, foreign, |it| it.figures = Some(figures));
            }
            RunEvent::Fact(fact) => return self.learn(fact, foreign),
            RunEvent::RawOutput { case: Some(case), name, hash, .. } => {
                self.with(&case, |record| drop(record.raw.insert(name, hash)));
            }
            RunEvent::RawOutput { case: None, name, hash, .. } => {
                self.raw.insert(name, hash);
            }
            RunEvent::Doubt { case: Some(case), doubt } => {
                self.with(&case, |record| record.doubts.push(doubt));
            }
            RunEvent::Doubt { case: None, doubt } => self.doubts.push(doubt),
            RunEvent::CaseFinished { case, stopped } => {
                self.with(&case, |record| {
                    record.end = Some(CaseEnd::Finished(stopped));
                    record.series.iter_mut().for_each(SeriesRecord::shrink);
                });
            }
            RunEvent::CaseFailed { case, failure, because, host: Some(host) } => {
                let failed = FailedOn { host, failure, because };
                self.with(&case, |record| record.failed_on.push(failed));
            }
            RunEvent::CaseFailed { case, failure, because, host: None } => {
                let end = CaseEnd::Failed { failure, because };
                self.with(&case, |record| record.end = Some(end));
            }
            RunEvent::RunFinished { finished, status, state } => {
                self.finished = Some(finished);
                self.status = status;
                self.state_after = Some(state);
            }
        }
        Ok(())
    }

    fn open(&mut self, opened: SeriesOpened, foreign: &mut BTreeSet<u32>) -> Result<(), Wrong> {
        if self.places.contains_key(&opened.series) || foreign.contains(&opened.series) {
            return Err(Wrong::OpenedTwice(opened.series));
        }
        let Some(at) = self.cases.iter().position(|record| record.case.id == opened.case)
        else {
            foreign.insert(opened.series);
            return Ok(());
        };
        self.places.insert(opened.series, (at, self.cases[at].series.len()));
        self.cases[at].series.push(SeriesRecord {
            metric: opened.metric,
            dimensions: opened.dimensions,
            ..SeriesRecord::default()
        });
        Ok(())
    }

    fn learn(&mut self, fact: Fact, foreign: &BTreeSet<u32>) -> Result<(), Wrong> {
        let Fact { about, name, value } = fact;
        match about {
            About::Series(number) => {
                return self.within(number, foreign, |it| drop(it.facts.insert(name, value)));
            }
            About::Case(case) => self.with(&case, |it| drop(it.facts.insert(name, value))),
            About::CaseOn { case, host } => self.with(&case, |it| {
                it.facts_on.entry(host).or_default().insert(name, value);
            }),
            About::Host(host) => {
                self.host_facts.entry(host).or_default().insert(name, value);
            }
        }
        Ok(())
    }

    fn begin(&mut self, id: &str) {
        let planned = self.started.plan.cases.iter().find(|case| case.id == id);
        if let Some(case) = planned.cloned() {
            self.cases.push(CaseRecord {
                case,
                end: None,
                series: Vec::new(),
                facts: Attributes::new(),
                raw: BTreeMap::new(),
                doubts: Vec::new(),
                facts_on: BTreeMap::new(),
                failed_on: Vec::new(),
            });
        }
    }

    fn with(&mut self, id: &str, change: impl FnOnce(&mut CaseRecord)) {
        if let Some(record) = self.cases.iter_mut().find(|record| record.case.id == id) {
            change(record);
        }
    }

    fn within(
        &mut self,
        number: u32,
        foreign: &BTreeSet<u32>,
        change: impl FnOnce(&mut SeriesRecord),
    ) -> Result<(), Wrong> {
        match self.places.get(&number) {
            Some((case, series)) => {
                change(&mut self.cases[*case].series[*series]);
                Ok(())
            }
            None if foreign.contains(&number) => Ok(()),
            None => Err(Wrong::NeverOpened(number)),
        }
    }
}

#[cfg(test)]
pub(crate) use recording::recorded_for_tests;

#[cfg(test)]
mod recording {
    use super::{BTreeMap, CaseRecord, SeriesRecord};
    use crate::attribute::Attributes;
    use crate::entry::{Entry, Key, Seen, Span};
    use crate::event::{Sample, Stretch};
    use crate::plan::{Case, Stopping};
    use crate::workload::{LatencyWorkload, Workload};

    fn over<T>(span: Span, seen: T) -> Stretch<T> {
        let Span { from_ns, to_ns, warmup } = span;
        Stretch { series: 0, preparation: 0, from_ns, to_ns, warmup, seen }
    }

    /// As the recorder does it.
    pub(crate) fn recorded_for_tests(entries: Vec<crate::entry::Entry>) -> CaseRecord {
        let mut record = CaseRecord::empty_for_tests();
        for entry in entries {
            match entry {
                Entry::Fact(name, value) => drop(record.facts.insert(name, value)),
                Entry::Doubt(doubt) => record.doubts.push(doubt),
                Entry::SeriesFact(key, name, value) => {
                    record.series_of(&key).facts.insert(name, value);
                }
                Entry::Measured(key, seen) => {
                    let series = record.series_of(&key);
                    match seen {
                        Seen::Sample { value, weight } => series.samples.push(Sample {
                            series: 0,
                            value,
                            weight,
                            preparation: 0,
                            at_ns: 0,
                        }),
                        Seen::Distribution(span, seen) => {
                            series.distributions.push(over(span, seen));
                        }
                        Seen::Count(span, seen) => series.counts.push(over(span, seen)),
                        Seen::Figures(_) => unreachable!("outcomes have none"),
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
                Stopping { target: 0.01, repetitions: 1, preparations: 1, budget_s: 1.0 };
            Self {
                case: Case {
                    id: "x".to_owned(),
                    by: "assay".to_owned(),
                    workload: Workload::Latency(workload),
                    stopping,
                    pair: None,
                },
                end: None,
                series: Vec::new(),
                facts: Attributes::new(),
                raw: BTreeMap::new(),
                doubts: Vec::new(),
                facts_on: BTreeMap::new(),
                failed_on: Vec::new(),
            }
        }

        fn series_of(&mut self, key: &Key) -> &mut SeriesRecord {
            let known = self
                .series
                .iter()
                .position(|it| it.metric == key.metric && it.dimensions == key.extra);
            let at = known.unwrap_or(self.series.len());
            if known.is_none() {
                self.series.push(SeriesRecord {
                    metric: key.metric.to_owned(),
                    dimensions: key.extra.clone(),
                    ..SeriesRecord::default()
                });
            }
            &mut self.series[at]
        }
    }
}
