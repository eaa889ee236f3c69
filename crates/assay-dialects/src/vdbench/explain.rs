//! Explanation of a parameter file without I/O: every run, and totals.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use assay_model::quantity::{Quantity, Unit};
use assay_model::workload::file_set::FileTree;

use super::{RateLabel, VdbenchExecution, output};

/// Lists every run with its storage, workloads and I/O in flight, then total bytes and seconds.
pub fn explain(execution: &VdbenchExecution) -> String {
    let mut text =
        String::from("Nothing is read or written: the runs of the parameter files.\n");
    let is_raw = execution.files.phases.is_empty();
    for run in &execution.runs {
        let words = if is_raw {
            output::simulating_line(run)
        } else {
            output::files::simulating_line(run)
        };
        let _ = writeln!(text, "{words}");
    }
    text.push('\n');
    let name = execution.runs.iter().map(|run| run.name.len()).max().unwrap_or(0).max(3);
    let (storage, works, threads) =
        if is_raw { ("SDs", "WDs", "threads/SD") } else { ("FSDs", "work", "threads") };
    let _ = writeln!(
        text,
        "{:<name$}  {:>20} {:>8} {:>8} {storage:>6} {works:>4} {threads:>10} {:>11}  for loops",
        "run", "I/O rate", "warmup", "elapsed", "outstanding",
    );
    for run in &execution.runs {
        let threads = run.parameters.threads.map_or("various".into(), |n| n.to_string());
        let rate = match run.rate {
            RateLabel::Percent(percent) => format!("{percent}% of observed"),
            other => output::format_rate(other, None),
        };
        let _ = writeln!(
            text,
            "{:<name$}  {rate:>20} {:>8} {:>8} {:>6} {:>4} {threads:>10} {:>11}  {}",
            run.name,
            format!("{} s", run.warmup_s),
            if run.elapsed_s > 0.0 { format!("{} s", run.elapsed_s) } else { "to end".into() },
            run.resources.storages,
            run.resources.workloads,
            run.resources.outstanding,
            output::format_loops(run),
        );
    }
    append_totals(&mut text, execution);
    text
}

fn append_totals(text: &mut String, execution: &VdbenchExecution) {
    let mut targets: BTreeMap<(Option<usize>, &Path), Option<u64>> = BTreeMap::new();
    for (host, target) in execution.placed_targets() {
        let bytes = targets.entry((host, &target.path)).or_default();
        *bytes = (*bytes).max(target.size_bytes);
    }
    let bytes: u64 = targets.values().flatten().sum();
    let unknown = targets.values().filter(|bytes| bytes.is_none()).count();
    let trees: BTreeMap<(Option<usize>, &Path), FileTree> = execution
        .placed_trees()
        .map(|(host, tree)| {
            let whole = FileTree { part: None, ..tree.clone() };
            ((host, tree.anchor.as_path()), whole)
        })
        .collect();
    let pauses = execution.plan.phases.iter().map(|phase| phase.pause_before_s);
    let pauses = pauses.chain(execution.files.phases.iter().map(|phase| phase.pause_before_s));
    let runs = execution.runs.iter().map(|run| run.elapsed_s + run.warmup_s);
    let seconds: f64 = pauses.sum::<f64>() + runs.sum::<f64>();
    let outstanding =
        execution.runs.iter().map(|run| run.resources.outstanding).max().unwrap_or(0);
    let files: u64 = trees.values().filter_map(FileTree::file_count).sum();
    let (what, bytes) = if trees.is_empty() {
        (format_count(targets.len() as u64, "file or device", "files or devices"), bytes as f64)
    } else {
        let roots = format_count(trees.len() as u64, "tree", "trees");
        let what = format!("{} in {roots}", format_count(files, "file", "files"));
        (what, trees.values().map(FileTree::bytes).sum())
    };
    let size = match unknown {
        0 => Quantity::new(bytes, Unit::Byte).to_string(),
        unknown if unknown == targets.len() => "unknown size".to_owned(),
        unknown => {
            format!("{} and more ({unknown} of unknown size)", Quantity::new(bytes, Unit::Byte))
        }
    };
    let _ = writeln!(
        text,
        "\n{} on {what} of {size} from {}; at most {outstanding} I/O in flight",
        format_count(execution.runs.len() as u64, "run", "runs"),
        format_count(execution.hosts.len() as u64, "host", "hosts"),
    );
    let _ = writeln!(
        text,
        "at most {} without the time to lay files out; runs to the end of data (eof, maxdata) end sooner",
        format_duration(seconds),
    );
}

/// Formats a count: `1 run`, `2 runs`.
fn format_count(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Formats seconds as hours, minutes and seconds.
fn format_duration(seconds: f64) -> String {
    let whole = seconds.ceil() as u64;
    format!("{} h {:02} min {:02} s", whole / 3600, whole / 60 % 60, whole % 60)
}
