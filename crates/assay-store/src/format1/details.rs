//! Details that a run of format 1 recorded while measuring, sorted into dimensions, facts, figures
//! and steps.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, AttributeValue, Attributes, Role};
use assay_model::engine_reason::EngineReason;
use assay_model::event::ToolFigures;

use super::Format1Detail;

/// Details of one case.
#[derive(Debug, Default)]
pub(super) struct CaseDetails {
    common: MetricDetails,
    metrics: BTreeMap<String, MetricDetails>,
    sampled: BTreeSet<String>,
    steps: Vec<Format1Step>,
}

/// Details of one metric, or of all metrics of a case.
#[derive(Debug, Default)]
pub(super) struct MetricDetails {
    dimensions: Attributes,
    facts: Attributes,
    figures: ToolFigures,
    /// Figures under their original names.
    original_figures: BTreeMap<String, AttributeValue>,
    /// Pairs of free-form names and values, by the fact that holds them.
    pairs: BTreeMap<Attribute, BTreeMap<String, String>>,
}

/// Round of a steady-state test, or try of a rate search.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Format1Step {
    pub(super) requested_per_s: Option<f64>,
    pub(super) rate_per_s: f64,
    /// Share of I/O with a latency above the goal.
    pub(super) late_share: Option<f64>,
    /// Outcome of the try.
    pub(super) outcome: Option<&'static str>,
}

impl CaseDetails {
    pub(super) fn add(&mut self, learned: &Format1Detail) {
        let steps = match (learned.name.as_str(), learned.value.as_text()) {
            ("round_rates", Some(text)) => parse_steps(text, parse_round),
            ("goal_steps", Some(text)) => parse_steps(text, parse_search_try),
            _ => None,
        };
        if let Some(steps) = steps {
            self.steps = steps;
            return;
        }
        let about = match &learned.metric {
            Some(metric) => self.metrics.entry(metric.clone()).or_default(),
            None => &mut self.common,
        };
        match figure_name(&learned.name).zip(learned.value.as_number()) {
            Some((figure, number)) if learned.metric.is_some() => {
                about.add_figure(figure, number);
                about.original_figures.insert(learned.name.clone(), learned.value.clone());
            }
            _ => about.add(&learned.name, &learned.value),
        }
    }

    /// Records that the metric has samples.
    pub(super) fn note_metric(&mut self, metric: &str) {
        if !self.sampled.contains(metric) {
            self.sampled.insert(metric.to_owned());
        }
    }

    pub(super) fn metric_details(&self, metric: &str) -> Option<&MetricDetails> {
        self.metrics.get(metric)
    }

    pub(super) fn dimensions(&self) -> Attributes {
        self.common.dimensions()
    }

    /// Returns the facts of the case, including details of metrics without samples, which have no
    /// series.
    pub(super) fn facts(&self) -> Attributes {
        let mut pairs = self.common.pairs.clone();
        let silent = self.metrics.iter().filter(|(metric, _)| !self.sampled.contains(*metric));
        for (metric, about) in silent {
            let learned = about.facts().into_iter().chain(about.dimensions());
            let reported = pairs.entry(Attribute::Reported).or_default();
            reported.extend(learned.map(|(name, value)| {
                (format!("{metric}.{}", name.name()), format_value(&value))
            }));
        }
        MetricDetails { pairs, facts: self.common.facts.clone(), ..MetricDetails::default() }
            .facts()
    }

    pub(super) fn steps(&self) -> Vec<Format1Step> {
        self.steps.clone()
    }
}

impl MetricDetails {
    pub(super) fn dimensions(&self) -> Attributes {
        self.dimensions.clone()
    }

    pub(super) fn facts(&self) -> Attributes {
        let mut facts = self.facts.clone();
        let mut pairs = self.pairs.clone();
        if !self.has_all_figures() && !self.original_figures.is_empty() {
            let reported = self
                .original_figures
                .iter()
                .map(|(name, value)| (name.clone(), format_value(value)));
            pairs.entry(Attribute::Reported).or_default().extend(reported);
        }
        facts.extend(
            pairs.into_iter().map(|(name, pairs)| (name, AttributeValue::Pairs(pairs))),
        );
        facts
    }

    pub(super) fn figures(&self) -> Option<ToolFigures> {
        self.has_all_figures().then(|| self.figures.clone())
    }

    /// Whether the figures have minimum, mean and maximum. Only storage recorded them for every
    /// I/O, and they were then its results. Incomplete figures become reported facts.
    const fn has_all_figures(&self) -> bool {
        let ToolFigures { min, mean, max, .. } = &self.figures;
        min.is_some() && mean.is_some() && max.is_some()
    }

    fn add(&mut self, name: &str, value: &AttributeValue) {
        if let Some(variable) = name.strip_prefix("variable.") {
            return self.add_pair(Attribute::Variables, variable, value);
        }
        if name == "command" {
            return self.add_pair(Attribute::Commands, "run", value);
        }
        if let Some(label) = name.strip_prefix("command.") {
            return self.add_pair(Attribute::Commands, label, value);
        }
        match (name, value.as_text()) {
            ("round_trips", _) => drop(self.facts.insert(Attribute::Io, value.clone())),
            ("engine_reason", Some(text)) => {
                let reason = EngineReason::Reported { text: text.to_owned() };
                self.facts.insert(Attribute::EngineReason, AttributeValue::Reason(reason));
            }
            ("steady_state", Some(text)) => self.add_steady_state(text),
            ("statistic", Some(text)) => self.add_statistic(text),
            _ => match Attribute::from_name(name) {
                Some(attribute) => match attribute.row().role {
                    Role::Identity | Role::Dimension => {
                        self.dimensions.insert(attribute, value.clone());
                    }
                    Role::Part | Role::Fact => {
                        self.facts.insert(attribute, value.clone());
                    }
                },
                None => self.add_pair(Attribute::Reported, name, value),
            },
        }
    }

    fn add_figure(&mut self, figure: &str, number: f64) {
        match figure {
            "min" => self.figures.min = Some(number),
            "mean" => self.figures.mean = Some(number),
            "max" => self.figures.max = Some(number),
            percentile => drop(self.figures.percentiles.insert(percentile.to_owned(), number)),
        }
    }

    fn add_pair(&mut self, attribute: Attribute, name: &str, value: &AttributeValue) {
        self.pairs.entry(attribute).or_default().insert(name.to_owned(), format_value(value));
    }

    /// Parses `reached in round 7` or `not reached in 25 rounds`.
    fn add_steady_state(&mut self, text: &str) {
        self.facts.insert(Attribute::Steady, (!text.starts_with("not")).into());
        let rounds = text.split(' ').find_map(|word| word.parse::<u64>().ok());
        self.facts.extend(rounds.map(|rounds| (Attribute::Rounds, rounds.into())));
    }

    /// Parses `mean of 79`, `median of all I/O (clat)` or `mean`.
    fn add_statistic(&mut self, text: &str) {
        let (word, rest) = text.split_once(" of ").unwrap_or((text, ""));
        self.facts.insert(Attribute::Statistic, word.into());
        let passes = rest.parse::<u64>();
        self.facts.extend(passes.map(|passes| (Attribute::Passes, passes.into())));
    }
}

/// Returns the figure of a name: `all_p99_s` of assay and `p99_s` of fio are figures of all values;
/// `read_p99_s` belongs to no metric.
fn figure_name(name: &str) -> Option<&str> {
    let word = name.strip_suffix("_s")?;
    let word = word.strip_prefix("all_").unwrap_or(word);
    let is_percentile =
        |word: &str| word.strip_prefix('p').is_some_and(|rest| rest.parse::<f64>().is_ok());
    (matches!(word, "min" | "mean" | "max") || is_percentile(word)).then_some(word)
}

fn format_value(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Flag(flag) => flag.to_string(),
        AttributeValue::Integer(number) => number.to_string(),
        AttributeValue::Number(number) => number.to_string(),
        AttributeValue::Text(text) => text.clone(),
        AttributeValue::Reason(_) | AttributeValue::Pairs(_) | AttributeValue::Ranks(_) => {
            serde_json::to_string(value).unwrap_or_default()
        }
    }
}

/// Parses all steps; `None` if one of them is malformed, so that the text is kept as it is.
fn parse_steps(text: &str, step: fn(&str) -> Option<Format1Step>) -> Option<Vec<Format1Step>> {
    text.split_whitespace().map(step).collect()
}

fn parse_round(text: &str) -> Option<Format1Step> {
    Some(Format1Step { rate_per_s: text.parse().ok()?, ..Format1Step::default() })
}

/// Parses `13910.0:13664.4:0.000000:kept`.
fn parse_search_try(text: &str) -> Option<Format1Step> {
    let mut parts = text.split(':');
    let mut number = || parts.next()?.parse::<f64>().ok();
    let (asked_per_s, rate_per_s, late) = (number()?, number()?, number()?);
    let shown = match parts.next()? {
        "kept" => "keeps",
        "missed" => "misses",
        "unclear" => "unclear",
        _ => return None,
    };
    let (asked_per_s, late) = (Some(asked_per_s), Some(late));
    Some(Format1Step {
        requested_per_s: asked_per_s,
        rate_per_s,
        late_share: late,
        outcome: Some(shown),
    })
}
