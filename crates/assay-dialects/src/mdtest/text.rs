//! mdtest 4's output, with its exact columns, because scripts cut lines by column.

use std::fmt::Write as _;

use super::options::MdtestOptions;
use super::phase::MdtestPhase;
use super::result::{
    IterationStatistics, MdtestReport, MdtestTest, PhaseResult, StonewallProgress, TableKind,
};
use crate::exponent::format_exponent;
use crate::ior::text::format_capacity;

/// Line of `mdtest.c` that reports the shift, which mdtest prints.
const SHIFT_LINE: u32 = 2594;

const OPEN_ONLY_WARNING: &str =
    "WARNING: Read bytes is 0, thus, a read test will actually just open/close\n";

/// Formats the command as mdtest prints it.
pub fn format_command(words: &[String]) -> String {
    words.iter().fold("mdtest".to_owned(), |text, word| format!("{text} '{word}'"))
}

/// Renders the text before the tests.
pub fn render_head(report: &MdtestReport) -> String {
    let MdtestReport { options, version, command, began, capacity, hosts, .. } = report;
    let tasks = options.tasks;
    let nodes = hosts.as_ref().map_or(1, |hosts| hosts.nodes);
    let mut text = format!(
        "-- started at {began} --\n\nmdtest-{version} was launched with {tasks} total task(s) on {nodes} node(s)\n\
         Command line used: {command}\n"
    );
    if options.read && options.read_bytes == 0 {
        text.push_str(OPEN_ONLY_WARNING);
    }
    let map = hosts.as_ref().map_or_else(|| "1".repeat(tasks as usize), |it| it.map.clone());
    let _ = writeln!(text, "Nodemap: {map}");
    let path = options.paths.first().map_or("", String::as_str);
    let _ = writeln!(text, "{:<20}: {path}", "Path");
    if let Some(capacity) = *capacity {
        let _ = writeln!(text, "{:<20}: {}", "FS", format_capacity(capacity));
    }
    if options.shift > 0 {
        let shift = options.shift;
        let _ = writeln!(
            text,
            "V-0: Rank   0 Line {SHIFT_LINE:5} Shifting ranks by {shift} for each phase."
        );
    }
    if options.is_random() {
        let _ = writeln!(text, "random seed: {}", options.random_seed);
    }
    text
}

/// Renders the line before the iterations of a test.
pub fn render_start(options: &MdtestOptions, test: &MdtestTest) -> String {
    let (tasks, all) = (test.tasks, u64::from(test.tasks) * test.items);
    match (options.files_only, options.directories_only) {
        (true, true) => format!("{tasks} tasks, {all} files/directories\n"),
        (true, false) if options.shared_file => format!("{tasks} tasks, 1 file\n"),
        (true, false) => format!("{tasks} tasks, {all} files\n"),
        (false, _) => format!("{tasks} tasks, {all} directories\n"),
    }
}

/// Renders the lines of a result: tasks that had to catch up, and with `-v` its time and rate.
pub fn render_result(options: &MdtestOptions, result: &PhaseResult) -> String {
    let mut text = String::new();
    if let Some(StonewallProgress { minimum, maximum, mean }) = result.stonewall {
        let _ = writeln!(
            text,
            "Continue stonewall hit min: {minimum} max: {maximum} avg: {mean:.1} \n"
        );
    }
    if options.verbose > 0 {
        let (title, seconds, rate) =
            (result.phase.title(), result.elapsed_s, result.rate_per_s());
        let _ = writeln!(
            text,
            "V-1: Rank   0 Line     0   {title:<18}: {seconds:14.3} sec, {rate:14.3} ops/sec"
        );
    }
    text
}

/// Renders the tables of a test.
pub fn render_summary(options: &MdtestOptions, test: &MdtestTest) -> String {
    let kinds: &[TableKind] = match (options.print_rate_and_time, options.print_time) {
        (true, _) => &[TableKind::Rates, TableKind::Times],
        (false, true) => &[TableKind::Times],
        (false, false) => &[TableKind::Rates],
    };
    kinds.iter().map(|kind| render_table(options, test, *kind)).collect()
}

/// Renders the text after the last test.
pub fn render_end(report: &MdtestReport) -> String {
    format!("-- finished at {} --\n\n", report.finished)
}

/// Renders the whole output; a run that did not end has no summary of its last test.
pub fn document(report: &MdtestReport) -> String {
    let mut text = render_head(report);
    let is_whole = !report.finished.is_empty();
    let ended = report.tests.len() - usize::from(!is_whole && !report.tests.is_empty());
    for (number, test) in report.tests.iter().enumerate() {
        text.push_str(&render_start(&report.options, test));
        text.extend(test.results.iter().map(|it| render_result(&report.options, it)));
        if number < ended {
            text.push_str(&render_summary(&report.options, test));
        }
    }
    if is_whole { text + &render_end(report) } else { text }
}

/// Returns the phases that have a row.
fn rows(options: &MdtestOptions) -> impl Iterator<Item = MdtestPhase> + use<> {
    let (files, directories) = (options.files_only, options.directories_only);
    MdtestPhase::ALL.into_iter().filter(move |phase| {
        phase.is_of_trees() || if phase.is_of_files() { files } else { directories }
    })
}

fn render_table(options: &MdtestOptions, test: &MdtestTest, kind: TableKind) -> String {
    let mut text = String::new();
    if options.print_all_tasks {
        push_task_values(&mut text, options, test, kind);
    }
    let title = match kind {
        TableKind::Rates => "SUMMARY rate (in ops/sec)",
        TableKind::Times => "SUMMARY time (in ms/op)",
    };
    let _ = writeln!(text, "\n{title}: (of {} iterations)", options.iterations);
    let has_tasks = options.print_task_statistics;
    text.push_str("   Operation     ");
    text.push_str(match has_tasks {
        true => "per Rank: Max            Min           Mean      per Iteration:",
        false => "               ",
    });
    text.push_str(" Max            Min           Mean        Std Dev\n   ---------      ");
    if has_tasks {
        text.push_str("         ---            ---           ----       ");
    }
    text.push_str("               ---            ---           ----        -------\n");
    for phase in rows(options) {
        push_row(&mut text, test, phase, (kind, has_tasks));
    }
    text
}

fn push_row(
    text: &mut String,
    test: &MdtestTest,
    phase: MdtestPhase,
    (kind, has_tasks): (TableKind, bool),
) {
    let title = phase.title();
    let _ = match phase.is_of_trees() {
        true => write!(text, "   {title:<22} "),
        false => write!(text, "   {title:<18} "),
    };
    if has_tasks {
        let IterationStatistics { maximum, minimum, mean, .. } =
            test.summarize_tasks(phase, kind);
        let _ = write!(text, "{maximum:14.3} {minimum:14.3} {mean:14.3}     ");
    }
    if !phase.is_of_trees() {
        text.push_str("    ");
    }
    let IterationStatistics { maximum, minimum, mean, deviation } = test.summarize(phase, kind);
    let _ = writeln!(text, "{maximum:14.3} {minimum:14.3} {mean:14.3} {deviation:14.3}");
}

/// Appends the values of all tasks in each iteration.
fn push_task_values(
    text: &mut String,
    options: &MdtestOptions,
    test: &MdtestTest,
    kind: TableKind,
) {
    let title = if kind == TableKind::Rates { "rate" } else { "time" };
    let _ = writeln!(text, "\nPer process result ({title}):");
    for iteration in 0..options.iterations {
        let _ = writeln!(text, "iteration: {iteration}");
        for phase in rows(options) {
            let result = test.results_of(phase).find(|it| it.iteration == iteration);
            let values = result.map_or_else(
                || vec![0.0; test.tasks as usize],
                |result| result.task_values(kind),
            );
            let values: Vec<String> =
                values.into_iter().map(|it| format_exponent(it, 6)).collect();
            let _ = writeln!(text, "Test {} {}", phase.title(), values.join(","));
        }
    }
}
