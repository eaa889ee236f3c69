//! Rates and times of each task, as mdtest writes them to the file of `--saveRankPerformanceDetails`.

use std::fmt::Write as _;

use super::phase::MdtestPhase;
use super::result::{MdtestTest, PhaseResult};
use crate::exponent::format_exponent;

/// Digits after the point.
const DIGITS: usize = 10;

/// Columns in order; mdtest has one for reading directories, which it leaves empty.
const COLUMNS: [Option<MdtestPhase>; 11] = [
    Some(MdtestPhase::DirectoryCreation),
    Some(MdtestPhase::DirectoryQuery),
    None,
    Some(MdtestPhase::DirectoryRename),
    Some(MdtestPhase::DirectoryRemoval),
    Some(MdtestPhase::FileCreation),
    Some(MdtestPhase::FileQuery),
    Some(MdtestPhase::FileRead),
    Some(MdtestPhase::FileRemoval),
    Some(MdtestPhase::TreeCreation),
    Some(MdtestPhase::TreeRemoval),
];

/// Renders the heading of the file.
pub fn render_heading() -> String {
    let titles = COLUMNS.map(|phase| phase.map_or("Directory read", MdtestPhase::title));
    let mut text = "rank,items".to_owned();
    for title in titles {
        let _ = write!(text, ",rate-{title},time-{title}");
    }
    text + "\n"
}

/// Renders the lines of a test: the first iteration of all tasks, then each task in each iteration.
pub fn render_test(test: &MdtestTest, iterations: u32) -> String {
    let tasks = f64::from(test.tasks);
    let items = test.results.iter().rfind(|it| it.phase.is_of_files());
    let mut text = format!("all,{}", items.map_or(test.items, |it| it.items));
    let all = |it: &PhaseResult| Some((it.items as f64 * tasks, it.elapsed_s));
    push_columns(&mut text, test, 0, all);
    text.push('\n');
    for iteration in 0..iterations {
        for task in 0..test.tasks {
            let _ = write!(text, "{task},");
            let own = |it: &PhaseResult| {
                let seconds = it.tasks_s.get(task as usize)?;
                Some((it.items as f64, *seconds))
            };
            push_columns(&mut text, test, iteration, |it| {
                if it.phase.is_of_trees() { None } else { own(it) }
            });
            text.push('\n');
        }
    }
    text
}

/// Appends rate and time of each phase of an iteration. Lines of tasks end before the trees.
fn push_columns(
    text: &mut String,
    test: &MdtestTest,
    iteration: u32,
    value: impl Fn(&PhaseResult) -> Option<(f64, f64)>,
) {
    let is_of_all = text.ends_with(|it: char| it.is_ascii_digit());
    for phase in COLUMNS {
        if !is_of_all && phase.is_some_and(MdtestPhase::is_of_trees) {
            break;
        }
        let mut results = test.results.iter();
        let result = results.find(|it| Some(it.phase) == phase && it.iteration == iteration);
        match result.and_then(&value).filter(|(items, _)| *items > 0.0) {
            Some((items, seconds)) => {
                let rate = format_exponent(items / seconds, DIGITS);
                let _ = write!(text, ",{rate},{}", format_exponent(seconds, DIGITS));
            }
            None => text.push_str(",,"),
        }
    }
}
