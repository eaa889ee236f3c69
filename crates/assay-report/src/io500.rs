//! IO500's result of a run: its lines with the score, and the rules that the run breaks.
//!
//! Everything is derived from the stored phases; a run without a result of each has no score.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::Benchmark;
use assay_model::quantity::Unit;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::workload::io500::{
    BrokenIo500Rule, GIBI, Io500Phase, Io500Result, Io500Score, VALID_STONEWALL_S,
};

use crate::document::{Block, Document, Tone};
use crate::locale::{join_details, semicolon, word};
use crate::units;

/// One run of IO500's phases.
#[derive(Default)]
struct Io500Run<'s> {
    key: Option<RunKey<'s>>,
    phases: BTreeMap<Io500Phase, PhaseFigures>,
    stonewall_s: Option<f64>,
    found_files: Option<f64>,
}

/// Host, measurer and tasks, which all phases of a run share.
type RunKey<'s> = (&'s str, &'s str, Option<&'s AttributeValue>);

#[derive(Default)]
struct PhaseFigures {
    value: Option<f64>,
    seconds: Option<f64>,
}

/// Returns the lines of `result_summary.txt` of each run of IO500's phases; empty without any.
pub fn result_summary(summary: &RunSummary) -> String {
    collect_runs(summary).iter().map(|run| run.phase_lines() + &run.score_line()).collect()
}

/// Adds the lines with the broken rules as a section of a report.
pub(crate) fn add_section(document: &mut Document, summary: &RunSummary) {
    if !collect_runs(summary).is_empty() {
        document.heading("IO500");
        add_lines(document, summary);
    }
}

/// Adds the lines with the broken rules of each run.
pub(crate) fn add_lines(document: &mut Document, summary: &RunSummary) {
    for run in collect_runs(summary) {
        let lines = run.phase_lines() + &run.score_line();
        document.blocks.push(Block::Preformatted(lines));
        run.add_broken_rules(document);
    }
}

/// Returns the results of IO500 that the lines do not contain.
pub(crate) fn unlisted_results(summary: &RunSummary) -> Vec<&MetricEstimate> {
    let runs = collect_runs(summary);
    // One that the phases contradict is no result of theirs.
    let is_calculated = |printed: f64| {
        let mut scores = runs.iter().filter_map(|run| Some(run.score()?.total()));
        scores.any(|it| (printed - it).abs() <= Io500Score::TOLERANCE * it)
    };
    let is_unlisted = |it: &&MetricEstimate| {
        let is_listed = match it.metric.as_str() {
            "bandwidth" | "rate" | "time" => find_phase(it).is_some(),
            "score" => is_calculated(it.median),
            _ => false,
        };
        it.benchmark == Benchmark::Io500.id() && !is_listed
    };
    summary.results.iter().filter(is_unlisted).collect()
}

fn find_phase(estimate: &MetricEstimate) -> Option<Io500Phase> {
    let phase = estimate.parameters.get(&Attribute::Phase)?.as_text()?;
    Io500Phase::find_by_name(phase)
}

/// Collects the phases of each run; a phase that comes again belongs to the next run.
fn collect_runs(summary: &RunSummary) -> Vec<Io500Run<'_>> {
    let mut runs: Vec<Io500Run<'_>> = Vec::new();
    for estimate in summary.results.iter().filter(|it| it.benchmark == Benchmark::Io500.id()) {
        let Some(phase) = find_phase(estimate) else { continue };
        let tasks = estimate.parameters.get(&Attribute::Threads);
        let key = (estimate.host.as_str(), estimate.tool.name.as_str(), tasks);
        let lacks = |run: &Io500Run<'_>| run.key == Some(key) && run.lacks(phase, estimate);
        let at = runs.iter().position(lacks).unwrap_or(runs.len());
        if at == runs.len() {
            runs.push(Io500Run { key: Some(key), ..Io500Run::default() });
        }
        runs[at].add(phase, estimate);
    }
    runs
}

impl Io500Run<'_> {
    fn lacks(&self, phase: Io500Phase, estimate: &MetricEstimate) -> bool {
        let figures = self.phases.get(&phase);
        match estimate.metric.as_str() {
            "bandwidth" | "rate" => figures.is_none_or(|it| it.value.is_none()),
            "time" => figures.is_none_or(|it| it.seconds.is_none()),
            _ => true,
        }
    }

    fn add(&mut self, phase: Io500Phase, estimate: &MetricEstimate) {
        let median = Some(estimate.median);
        match estimate.metric.as_str() {
            "bandwidth" | "rate" => self.phases.entry(phase).or_default().value = median,
            "time" => self.phases.entry(phase).or_default().seconds = median,
            "found" => self.found_files = median,
            _ => {}
        }
        let stonewall = estimate.parameters.get(&Attribute::Seconds);
        self.stonewall_s = stonewall.and_then(AttributeValue::as_number).or(self.stonewall_s);
    }

    fn results(&self) -> Vec<Io500Result> {
        let result = |(phase, figures): (&Io500Phase, &PhaseFigures)| {
            let (phase, value) = (*phase, figures.value?);
            Some(Io500Result { phase, value, seconds: figures.seconds })
        };
        self.phases.iter().filter_map(result).collect()
    }

    fn broken_rules(&self) -> Vec<BrokenIo500Rule> {
        BrokenIo500Rule::check(&self.results(), self.stonewall_s, self.found_files)
    }

    /// Returns the lines of the phases, in IO500's format.
    fn phase_lines(&self) -> String {
        let broken = self.broken_rules();
        let is_invalid = |phase| {
            broken.iter().any(|rule| match rule {
                BrokenIo500Rule::ShortWrite { phase: of, .. } => *of == phase,
                BrokenIo500Rule::NothingFound => phase == Io500Phase::Find,
                BrokenIo500Rule::Stonewall { .. } | BrokenIo500Rule::NoResult { .. } => false,
            })
        };
        let mut lines = String::new();
        for Io500Result { phase, value, seconds } in self.results() {
            let (unit, label) =
                if phase.is_bandwidth() { (GIBI, "GiB/s") } else { (1e3, "kIOPS") };
            let value = format!("{:.6}", value / unit);
            let mark = if is_invalid(phase) { " [INVALID]" } else { "" };
            let (name, seconds) = (phase.name(), seconds.unwrap_or(0.0));
            let line = format!(
                "[RESULT] {name:>20} {value:>15} {label} : time {seconds:.3} seconds{mark}"
            );
            // Writing to a string does not fail.
            let _ = writeln!(lines, "{line}");
        }
        lines
    }

    fn score(&self) -> Option<Io500Score> {
        Io500Score::from_results(&self.results())
    }

    fn score_line(&self) -> String {
        let Some(score) = self.score() else {
            return "[SCORE ] [INVALID]\n".to_owned();
        };
        let mark = if self.broken_rules().is_empty() { "" } else { " [INVALID]" };
        format!(
            "[SCORE ] Bandwidth {:.6} GiB/s : IOPS {:.6} kiops : TOTAL {:.6}{mark}\n",
            score.gib_per_s,
            score.kilo_ops_per_s,
            score.total()
        )
    }

    fn add_broken_rules(&self, document: &mut Document) {
        let broken = self.broken_rules();
        if broken.is_empty() {
            document.paragraph(Tone::Quiet, word("io500-valid"));
            return;
        }
        let reasons: Vec<String> = broken.iter().map(describe_rule).collect();
        let reasons = reasons.join(semicolon());
        document.paragraph(Tone::Doubt, message!("io500-invalid", reasons = reasons));
    }
}

fn describe_rule(rule: &BrokenIo500Rule) -> String {
    let seconds = |seconds: f64| units::quantity(seconds, Unit::Second, 3);
    let least = seconds(VALID_STONEWALL_S.into());
    match rule {
        BrokenIo500Rule::Stonewall { seconds: given } => {
            message!("io500-rule-stonewall", time = seconds(*given), least = least)
        }
        BrokenIo500Rule::ShortWrite { phase, seconds: took } => message!(
            "io500-rule-short-write",
            phase = phase.name(),
            time = seconds(*took),
            least = least
        ),
        BrokenIo500Rule::NoResult { phases } => {
            let names: Vec<String> = phases.iter().map(|it| it.name().to_owned()).collect();
            message!("io500-rule-no-result", phases = join_details(&names))
        }
        BrokenIo500Rule::NothingFound => word("io500-rule-nothing-found").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_run_has_no_score() {
        let figures = |value| PhaseFigures { value: Some(value), seconds: Some(300.0) };
        let phases = Io500Phase::ALL.map(|phase| (phase, figures(GIBI))).into_iter().collect();
        let mut run = Io500Run { phases, ..Io500Run::default() };
        assert!(run.score_line().starts_with("[SCORE ] Bandwidth 1.000000 GiB/s : IOPS "));
        run.phases.insert(Io500Phase::Find, figures(0.0));
        assert_eq!(run.score_line(), "[SCORE ] [INVALID]\n");
        run.phases.remove(&Io500Phase::Find);
        assert_eq!(run.score_line(), "[SCORE ] [INVALID]\n");
        assert!(matches!(run.broken_rules()[..], [BrokenIo500Rule::NoResult { .. }]));
    }
}
