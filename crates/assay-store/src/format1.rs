//! Conversion of runs of format 1, which are supported indefinitely, to current events.
//!
//! Format 1 repeated case and metric in every sample. It distinguished series of one metric by one
//! text, whose meaning depended on the workload. Facts had free-form names. A series gets its
//! dimensions when it is opened, but format 1 stored some of them later; therefore the whole file
//! is read first.

mod details;

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::benchmark::ReportSection;
use assay_model::doubt::Doubt;
use assay_model::event::{
    EventCount, Fact, FactSubject, HostClock, HostJoined, RunEvent, RunStarted, RunStatus,
    Sample, SeriesOpened, StopReason, StretchRecord,
};
use assay_model::facts::{HostFacts, HostState};
use assay_model::failure::FailureReason;
use assay_model::plan::{Case, Plan};
use assay_model::workload::Workload;
use serde::Deserialize;

use crate::decoded::Decoded;
use details::{CaseDetails, Format1Step};

/// Event of format 1.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Format1Event {
    RunStarted(Box<Format1Started>),
    CaseStarted {
        case: String,
    },
    Sample(Format1Sample),
    Learned(Format1Detail),
    RawOutput {
        case: String,
        name: String,
        hash: String,
        bytes: u64,
    },
    Doubt {
        case: Option<String>,
        warning: Format1Warning,
    },
    CaseFinished {
        case: String,
        stopped: StopReason,
    },
    CaseFailed {
        case: String,
        reason: String,
        advice: String,
        #[serde(default)]
        because: Option<String>,
    },
    RunFinished {
        finished: String,
        status: RunStatus,
        state: HostState,
    },
}

#[derive(Debug, Deserialize)]
pub(crate) struct Format1Started {
    format: u32,
    run: String,
    #[serde(default)]
    label: Option<String>,
    started: String,
    plan: Plan,
    host: HostFacts,
    state: HostState,
    clock: HostClock,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Format1Sample {
    case: String,
    metric: String,
    #[serde(default)]
    placement: Option<String>,
    value: f64,
    preparation: u32,
    at_ns: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Format1Detail {
    case: String,
    #[serde(default)]
    metric: Option<String>,
    name: String,
    value: AttributeValue,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Format1Warning {
    id: String,
    text: String,
    advice: String,
}

/// Converts to current events, each with its original line.
pub(crate) fn convert(old: Decoded<Format1Event>) -> Decoded<RunEvent> {
    let mut cases: BTreeMap<String, CaseDetails> = BTreeMap::new();
    for (_, event) in &old.events {
        match event {
            Format1Event::Learned(learned) => {
                cases.entry(learned.case.clone()).or_default().add(learned);
            }
            Format1Event::Sample(Format1Sample { case, metric, .. }) => {
                cases.entry(case.clone()).or_default().note_metric(metric);
            }
            Format1Event::RunStarted(_)
            | Format1Event::CaseStarted { .. }
            | Format1Event::RawOutput { .. }
            | Format1Event::Doubt { .. }
            | Format1Event::CaseFinished { .. }
            | Format1Event::CaseFailed { .. }
            | Format1Event::RunFinished { .. } => {}
        }
    }
    let mut new = Conversion { cases, ..Conversion::default() };
    for (line, event) in old.events {
        new.line = line;
        new.add(event);
    }
    Decoded { events: new.events, problems: old.problems }
}

#[derive(Default)]
struct Conversion {
    cases: BTreeMap<String, CaseDetails>,
    planned: BTreeMap<String, Case>,
    host: String,
    /// Series numbers by case, metric and distinguishing text.
    series: BTreeMap<(String, String, Option<String>), u32>,
    /// Series numbers used so far, including those of steps.
    opened: u32,
    line: usize,
    events: Vec<(usize, RunEvent)>,
}

impl Conversion {
    fn push(&mut self, event: RunEvent) {
        self.events.push((self.line, event));
    }

    fn add(&mut self, event: Format1Event) {
        match event {
            Format1Event::RunStarted(started) => self.add_start(*started),
            Format1Event::CaseStarted { case } => self.add_case_start(&case),
            Format1Event::Sample(sample) => self.add_sample(sample),
            // Collected in a first pass, and pushed with its case or series.
            Format1Event::Learned(_) => {}
            Format1Event::RawOutput { case, name, hash, bytes } => {
                self.push(RunEvent::RawOutput { case: Some(case), name, hash, bytes });
            }
            Format1Event::Doubt { case, warning: Format1Warning { id, text, advice } } => {
                let doubt = Doubt::Reported { name: id, text, advice };
                self.push(RunEvent::Doubt { case, doubt });
            }
            Format1Event::CaseFinished { case, stopped } => {
                self.push(RunEvent::CaseFinished { case, stopped });
            }
            Format1Event::CaseFailed { case, reason, advice, because } => {
                let failure = FailureReason::Reported { reason, advice };
                self.push(RunEvent::CaseFailed { case, failure, because, host: None });
            }
            Format1Event::RunFinished { finished, status, state } => {
                self.push(RunEvent::RunFinished { finished, status, state });
            }
        }
    }

    fn add_start(&mut self, old: Format1Started) {
        let Format1Started { format, run, label, started, plan, host, state, clock } = old;
        self.planned = plan.cases.iter().map(|case| (case.id.clone(), case.clone())).collect();
        self.host.clone_from(&host.name);
        self.push(RunEvent::RunStarted(Box::new(RunStarted {
            format,
            run,
            label,
            note: None,
            started,
            plan,
            command: vec![],
            asked: None,
            turn: None,
            after: None,
        })));
        let joined = HostJoined {
            host: host.name.clone(),
            facts: host,
            state,
            clock,
            labels: Vec::new(),
        };
        self.push(RunEvent::HostJoined(Box::new(joined)));
    }

    /// Pushes the start of a case, then its facts and its steps.
    fn add_case_start(&mut self, case: &str) {
        self.push(RunEvent::CaseStarted { case: case.to_owned() });
        let Some(about) = self.cases.get(case) else { return };
        let (facts, steps) = (about.facts(), about.steps());
        for (name, value) in facts {
            self.push(RunEvent::Fact(Fact {
                about: FactSubject::Case(case.to_owned()),
                name,
                value,
            }));
        }
        for (number, step) in (1_u64..).zip(steps) {
            self.add_step(case, number, step);
        }
    }

    /// Pushes a step as a series of its own with one sample. Format 1 stored the share of late I/O
    /// in millionths: the count is of a million I/Os, over the time that they took at the rate of
    /// the step.
    fn add_step(&mut self, case: &str, number: u64, step: Format1Step) {
        const WHOLE: u64 = 1_000_000;
        let mut dimensions = self.dimensions(case, None, None);
        dimensions.insert(Attribute::Step, number.into());
        dimensions
            .extend(step.requested_per_s.map(|rate| (Attribute::RequestedRate, rate.into())));
        let series = self.open(case, "rate", dimensions.clone());
        let (value, preparation) = (step.rate_per_s, 0);
        let sample = Sample { series, value, weight: 1.0, preparation, at_ns: 0 };
        self.push(RunEvent::Sample(sample));
        if let Some(shown) = step.outcome {
            let (about, name) = (FactSubject::Series(series), Attribute::Shown);
            self.push(RunEvent::Fact(Fact { about, name, value: shown.into() }));
        }
        if let Some(late) = step.late_share {
            let series = self.open(case, "late", dimensions);
            let seen = EventCount { part: (late * WHOLE as f64).round() as u64, whole: WHOLE };
            let to_ns = (WHOLE as f64 / step.rate_per_s * 1e9) as u64;
            let (from_ns, warmup) = (0, false);
            let stretch = StretchRecord { series, preparation, from_ns, to_ns, warmup, seen };
            self.push(RunEvent::Count(stretch));
        }
    }

    fn add_sample(&mut self, old: Format1Sample) {
        let Format1Sample { case, metric, placement, value, preparation, at_ns } = old;
        let key = (case, metric, placement);
        let series = match self.series.get(&key) {
            Some(series) => *series,
            None => {
                let series = self.open_with_facts(&key.0, &key.1, key.2.as_deref());
                self.series.insert(key, series);
                series
            }
        };
        self.push(RunEvent::Sample(Sample { series, value, weight: 1.0, preparation, at_ns }));
    }

    /// Opens a series and pushes the facts and figures of its metric.
    fn open_with_facts(&mut self, case: &str, metric: &str, apart: Option<&str>) -> u32 {
        let dimensions = self.dimensions(case, Some(metric), apart);
        let series = self.open(case, metric, dimensions);
        let about = self.cases.get(case).and_then(|it| it.metric_details(metric));
        let Some((facts, figures)) = about.map(|it| (it.facts(), it.figures())) else {
            return series;
        };
        for (name, value) in facts {
            self.push(RunEvent::Fact(Fact { about: FactSubject::Series(series), name, value }));
        }
        if let Some(figures) = figures {
            self.push(RunEvent::Figures { series, figures });
        }
        series
    }

    fn open(&mut self, case: &str, metric: &str, dimensions: Attributes) -> u32 {
        let series = self.opened;
        self.opened += 1;
        let (case, metric) = (case.to_owned(), metric.to_owned());
        let opened = SeriesOpened { series, case, metric, dimensions };
        self.push(RunEvent::SeriesOpened(opened));
        series
    }

    /// Merges requested dimensions, the distinguishing text and the reported dimensions. Reported
    /// ones override requested ones: a tool may have measured something else.
    fn dimensions(&self, case: &str, metric: Option<&str>, apart: Option<&str>) -> Attributes {
        let mut dimensions = Attributes::from([(Attribute::Host, self.host.as_str().into())]);
        if let Some(planned) = self.planned.get(case) {
            dimensions.extend(planned.workload.dimensions(&planned.by));
            dimensions.extend(
                apart
                    .map(|apart| distinguishing_dimensions(&planned.workload, apart))
                    .unwrap_or_default(),
            );
        }
        if let Some(about) = self.cases.get(case) {
            dimensions.extend(about.dimensions());
            let of_metric = metric.and_then(|metric| about.metric_details(metric));
            dimensions
                .extend(of_metric.map(details::MetricDetails::dimensions).unwrap_or_default());
        }
        dimensions
    }
}

/// Converts the text that distinguished the series of a metric to dimensions.
fn distinguishing_dimensions(workload: &Workload, text: &str) -> Attributes {
    if let Workload::Stream(work) = workload {
        return work.domain_dimensions(text);
    }
    let (name, value) = match workload.benchmark().definition().section {
        ReportSection::Mpi => {
            let bytes = text.parse::<u64>().map_or_else(|_| text.into(), AttributeValue::from);
            (Attribute::Bytes, bytes)
        }
        ReportSection::Network => (Attribute::End, text.into()),
        ReportSection::Bandwidth
        | ReportSection::Copies
        | ReportSection::Ladder
        | ReportSection::Compute
        | ReportSection::Storage
        | ReportSection::Files
        | ReportSection::General => (Attribute::Placement, text.into()),
    };
    Attributes::from([(name, value)])
}
