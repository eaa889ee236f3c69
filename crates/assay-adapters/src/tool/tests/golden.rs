//! Golden outputs: `tests/golden/<tool>/<version>-<what>.out` is the output of a real tool,
//! `.damage` is a change to one of them, `.expected` is the result of the parser for either.
//!
//! A missing `.expected` is written, and the test fails once, so that somebody reads it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use assay_model::attribute::AttributeValue;
use assay_model::benchmark::Benchmark;
use assay_model::event::EventCount;
use assay_model::workload::storage::StorageLoad;

use super::storage::{self, random_mix};
use super::{installed_tool, linpack, mpi, network, stream};
use crate::invocation::{Invocation, ToolRequest};
use crate::launcher::LauncherKind;
use crate::outputs::{MeasuredMetric, Outputs, ParsedOutput, ToolError};
use crate::tool::{TOOLS, ToolAdapter};

/// Returns the tools that have a folder of outputs. perftest's seven programs have tests in the
/// module of their reader.
pub(super) fn tools() -> impl Iterator<Item = &'static ToolAdapter> {
    TOOLS.iter().filter(|tool| !tool.name.starts_with("ib_"))
}

/// Reads every output and every damaged output of `tool`: path and text.
pub(super) fn texts(tool: &ToolAdapter) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(tool.name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder:?}: {e}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "out" || e == "damage"));
    paths.sort();
    assert!(!paths.is_empty(), "{folder:?} has no golden output");
    paths.into_iter().map(|path| (path.clone(), read_text(&path))).collect()
}

fn read_text(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    if path.extension().is_some_and(|e| e == "out") { text } else { apply_damage(path, &text) }
}

/// Applies a change: line 1 is `of FILE`; then `cut after TEXT`, or `replace TEXT` and `with TEXT`,
/// both of any length.
fn apply_damage(path: &Path, recipe: &str) -> String {
    let recipe = recipe.strip_suffix('\n').unwrap_or(recipe);
    let (of, change) = recipe.split_once('\n').unwrap();
    let original = path.with_file_name(of.strip_prefix("of ").unwrap());
    let original = std::fs::read_to_string(&original).unwrap();
    if let Some(place) = change.strip_prefix("cut after ") {
        let (before, _) = original.split_once(place).unwrap_or_else(|| panic!("{path:?}"));
        return format!("{before}{place}");
    }
    let (from, to) = change.strip_prefix("replace ").unwrap().split_once("\nwith ").unwrap();
    assert!(original.contains(from), "{path:?} replaces a missing text");
    original.replacen(from, to, 1)
}

/// Returns invocations that may have a golden output: all that the tool supports, on CPUs 0 and 1.
pub(super) fn invocations(tool: &ToolAdapter) -> Vec<Invocation> {
    let found = installed_tool(tool, Some(LauncherKind::OpenMpi));
    let mut workloads = vec![
        linpack(1000, &[0, 1], None),
        stream(1 << 24, &[&[0, 1]]),
        random_mix(StorageLoad::Closed),
    ];
    workloads.extend(storage::workloads());
    workloads.extend(mpi::workloads());
    workloads.extend(network::workloads());
    let taken = workloads.iter().filter(|workload| (tool.supports)(workload));
    let request =
        |workload| ToolRequest { workload, tool: &found, repetitions: 1, cpu_flags: &[] };
    taken.flat_map(|workload| (tool.command)(&request(workload)).unwrap()).collect()
}

/// Puts the text into the tool's output file if it has one, else on standard output.
pub(super) fn outputs(invocation: &Invocation, text: &str) -> Outputs {
    let mut outputs = Outputs { exit_code: Some(0), ..Outputs::default() };
    match invocation.files_to_read.first() {
        Some(name) => drop(outputs.files.insert(name.clone(), text.to_owned())),
        None => text.clone_into(&mut outputs.stdout),
    }
    outputs
}

/// Formats the parser's result for `text`, for each benchmark of the tool. Of several invocations
/// of a benchmark, those that accept `text` are printed, or else the first.
fn format_results(tool: &ToolAdapter, text: &str) -> String {
    let mut shown = String::new();
    let all = invocations(tool);
    for benchmark in Benchmark::ALL {
        let of = all.iter().filter(|it| it.workload.benchmark() == benchmark);
        let read = |it: &Invocation| tool.read(it, &outputs(it, text));
        let results: Vec<_> = of.map(|it| (&it.label, read(it))).collect();
        let some = results.iter().any(|(_, result)| result.is_ok());
        let wanted = results.into_iter().filter(|(_, result)| result.is_ok() == some);
        for (label, result) in wanted.take(if some { usize::MAX } else { 1 }) {
            write!(shown, "# {} {label}\n{}", benchmark.id(), format_result(result)).unwrap();
        }
    }
    shown
}

fn format_result(result: Result<ParsedOutput, ToolError>) -> String {
    let parsed = match result {
        Ok(parsed) => parsed,
        Err(error) => return format!("refused: {error}\n"),
    };
    let ParsedOutput { version, values, attributes: learned, doubts, problems } = parsed;
    let mut shown = format!("version {}\n", version.as_deref().unwrap_or("not told"));
    for measured in values {
        let MeasuredMetric { metric, own_dimensions: apart, samples, weights, count, figures } =
            measured;
        let apart = apart.values().map(|value| format!(" at {}", format_value(value)));
        writeln!(shown, "{metric}{} {samples:?}", apart.collect::<String>()).unwrap();
        if !weights.is_empty() {
            writeln!(shown, "  {metric}: over {weights:?}").unwrap();
        }
        if let Some(EventCount { part, whole }) = count {
            writeln!(shown, "  {metric}: {part} of {whole}").unwrap();
        }
        if let Some(figures) = figures {
            let figures = serde_json::to_string(&figures).unwrap();
            writeln!(shown, "  {metric}: {figures}").unwrap();
        }
    }
    for it in learned {
        let value = format_value(&it.value);
        writeln!(
            shown,
            "  {}{} = {value}",
            it.metric.map_or(String::new(), |m| format!("{m}.")),
            it.name.name()
        )
        .unwrap();
    }
    for doubt in doubts {
        writeln!(shown, "  doubt {}", serde_json::to_string(&doubt).unwrap()).unwrap();
    }
    for problem in problems {
        writeln!(shown, "  problem: {problem}").unwrap();
    }
    shown
}

fn format_value(value: &AttributeValue) -> String {
    value.as_text().map_or_else(|| serde_json::to_string(value).unwrap(), str::to_owned)
}

#[test]
fn golden_outputs_parse_as_expected() {
    let mut wrong = Vec::new();
    for tool in tools() {
        for (path, text) in texts(tool) {
            let shown = format_results(tool, &text);
            let expected = path.with_extension("expected");
            match std::fs::read_to_string(&expected) {
                Ok(expected) if expected == shown => {}
                Ok(_) if std::env::var_os("UPDATE_EXPECT").is_some() => {
                    std::fs::write(&expected, &shown).unwrap();
                }
                Ok(expected) => {
                    wrong.push(format!("{path:?}\n{shown}--- expected\n{expected}"));
                }
                Err(_) => {
                    std::fs::write(&expected, &shown).unwrap();
                    wrong
                        .push(format!("{expected:?} is new: read it, then run the test again"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
