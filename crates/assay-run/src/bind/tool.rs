//! Measures a workload by an external tool: runs it, stores its raw output, parses its samples.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_adapters::invocation::{InstalledTool, Invocation, ToolRequest};
use assay_adapters::outputs::{Outputs, ParsedOutput};
use assay_adapters::tool::ToolAdapter;
use assay_fleet::process::ProcessError;
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::Doubt;
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use assay_model::event::StopReason;
use assay_model::failure::ErrorArea;
use assay_model::plan::Case;

use super::network;
use crate::recorder::{CaseError, Recorder};
use crate::tools;

/// Time limit of a tool that hangs; regular runs on large machines take many minutes.
const DEADLINE: Duration = Duration::from_secs(3600);

/// Runs every invocation of the case as often as the adapter requests and the budget permits.
pub(super) fn measure(
    case: &Case,
    (tool, found): (&'static ToolAdapter, &InstalledTool),
    cpu_flags: &[String],
    known: &super::RunCache,
    recorder: &mut Recorder<'_, '_>,
) -> Result<StopReason, CaseError> {
    let repetitions = case.stopping.repetitions;
    // Keeps the far end, if there is one, alive until the tool has finished.
    let reached = network::resolve_far_end(tool.name, &case.workload, known, recorder)?;
    let workload = reached.as_ref().map_or(&case.workload, |reached| &reached.workload);
    let request = ToolRequest { workload, tool: found, repetitions, cpu_flags };
    let invocations = (tool.command)(&request)?;
    if let Some(version) = &found.version {
        recorder.add_fact(Attribute::ToolVersion, version.as_str());
    }
    let mut commands = BTreeMap::new();
    let share_s = case.stopping.budget_s / invocations.len().max(1) as f64;
    for (index, invocation) in invocations.iter().enumerate() {
        let command = [std::slice::from_ref(&invocation.program), &invocation.arguments]
            .concat()
            .join(" ");
        commands.insert(invocation.label.clone(), command);
        recorder.add_fact(Attribute::Commands, AttributeValue::Pairs(commands.clone()));
        let until_s = share_s * (index + 1) as f64;
        for repetition in 0..invocation.repetitions.max(1) {
            recorder.wait_for_start()?;
            let began_s = recorder.elapsed_s();
            let parsed = run(tool, invocation, repetition, recorder)?;
            let took_s = recorder.elapsed_s() - began_s;
            let span = MeasuredSpan::from_seconds(began_s, took_s, false);
            record(&parsed, span, repetition == 0, recorder);
            recorder.flush()?;
            if recorder.elapsed_s() + took_s > until_s {
                break;
            }
        }
    }
    Ok(StopReason::Tool)
}

pub(super) fn run(
    tool: &ToolAdapter,
    invocation: &Invocation,
    repetition: u32,
    recorder: &mut Recorder<'_, '_>,
) -> Result<ParsedOutput, CaseError> {
    let outputs =
        tools::run(invocation, DEADLINE, recorder.cancel()).map_err(|error| match error {
            ProcessError::Cancelled { .. } => CaseError::Interrupted,
            other => CaseError::from_error(ErrorArea::Process, &other),
        })?;
    store_outputs(&outputs, &format!("{}.{repetition}", invocation.label), recorder)?;
    let parsed = tool.read(invocation, &outputs);
    // The printed output explains a failure; it is stored before the case ends.
    recorder.flush()?;
    parsed.map_err(CaseError::from)
}

/// Stores all output of a tool, also the unreadable parts.
fn store_outputs(
    outputs: &Outputs,
    label: &str,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let streams = [("stdout", &outputs.stdout), ("stderr", &outputs.stderr)];
    let files = outputs.files.iter().map(|(name, text)| (name.as_str(), text));
    for (name, text) in streams.into_iter().chain(files).filter(|(_, text)| !text.is_empty()) {
        recorder.store_raw(&format!("{label}.{name}"), text.as_bytes())?;
    }
    Ok(())
}

/// Records the parsed output of a tool as events of its case.
pub(crate) fn record_once(
    parsed: &ParsedOutput,
    span: MeasuredSpan,
    recorder: &mut Recorder<'_, '_>,
) {
    record(parsed, span, true, recorder);
}

pub(super) fn record(
    parsed: &ParsedOutput,
    span: MeasuredSpan,
    first: bool,
    recorder: &mut Recorder<'_, '_>,
) {
    for measured in &parsed.values {
        let key =
            SeriesKey { metric: measured.metric, dimensions: measured.own_dimensions.clone() };
        let weights = measured.weights.iter().copied().map(Some).chain(std::iter::repeat(None));
        for (&value, weight) in measured.samples.iter().zip(weights) {
            let alike = EntryValue::Sample { value, weight: 1.0 };
            let seen = weight.map_or(alike, |weight| EntryValue::weighted(value, weight));
            recorder.record(MeasurementEntry::Measured(key.clone(), seen));
        }
        if let Some(figures) = &measured.figures {
            recorder.record(MeasurementEntry::Measured(
                key.clone(),
                EntryValue::Figures(figures.clone()),
            ));
        }
        if let Some(count) = measured.count {
            recorder.record(MeasurementEntry::Measured(key, EntryValue::Count(span, count)));
        }
    }
    if let Some(version) = &parsed.version {
        recorder.add_fact(Attribute::ToolVersion, version.as_str());
    }
    for learned in &parsed.attributes {
        let keys = parsed.values.iter().filter(|it| Some(it.metric) == learned.metric);
        for measured in keys {
            let key = SeriesKey {
                metric: measured.metric,
                dimensions: measured.own_dimensions.clone(),
            };
            recorder.add_series_fact(key, learned.name, learned.value.clone());
        }
        if learned.metric.is_none() {
            recorder.add_fact(learned.name, learned.value.clone());
        }
    }
    if first {
        parsed.doubts.iter().for_each(|doubt| recorder.add_doubt(doubt.clone()));
        for problem in &parsed.problems {
            recorder.add_doubt(Doubt::UnreadOutput { problem: problem.clone() });
        }
    }
}
