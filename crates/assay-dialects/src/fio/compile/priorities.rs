//! Priorities of single I/O of a job.

use assay_model::workload::storage::{IoPriorities, PriorityShare};

use super::super::job_error::FioJobError;
use super::super::section_options::{SplitPriority, VerifyMode, priorities};
use super::{LocatedOptions, conflict};

/// Engines with these options.
const ENGINES: [&str; 2] = ["libaio", "io_uring"];

/// Returns the priorities of single I/O, if the job gives some.
pub(super) fn io_priorities(
    placed: &LocatedOptions,
) -> Result<Option<IoPriorities>, FioJobError> {
    let (job, _) = placed;
    let options = &job.behaviour.priorities;
    let Some(name) = options.given else { return Ok(None) };
    if !ENGINES.contains(&job.engine.as_str()) {
        let why = format!("ioengine={} has no option {name}, as in fio", job.engine);
        return Err(conflict(placed, why, "use ioengine=libaio or io_uring"));
    }
    let splits = [&options.split.read, &options.split.write];
    let percents = [options.percent.read, options.percent.write];
    // Even shares of 0 % exclude `cmdprio_percentage`.
    let is_split = splits.iter().any(|split| !split.is_empty());
    let has_split = splits.iter().any(|split| split.iter().any(|entry| entry.percent > 0));
    let has_percent = percents.iter().any(|percent| *percent > 0);
    match (has_percent, has_split) {
        (false, false) => return Ok(None),
        (true, _) if is_split => {
            let why = "cmdprio_percentage and cmdprio_bssplit are mutually exclusive";
            return Err(conflict(placed, why, "leave one out"));
        }
        _ => {}
    }
    check_other_options(placed)?;
    let used = [job.rw.reads, job.rw.writes];
    let own = [
        priorities::priority(options.class.read, options.level.read, options.hint.read),
        priorities::priority(options.class.write, options.level.write, options.hint.write),
    ];
    let mut ways = [vec![], vec![]];
    for (way, shares) in ways.iter_mut().enumerate().filter(|(way, _)| used[*way]) {
        *shares = match has_split {
            true => split_shares(placed, splits[way], own[way])?,
            false => percent_shares(percents[way], own[way]),
        };
    }
    Ok(Some(IoPriorities { ways, from_submission: job.lat_percentiles }))
}

fn check_other_options(placed: &LocatedOptions) -> Result<(), FioJobError> {
    let (job, _) = placed;
    if job.rw.has_trims() {
        let why = "trims have no priority of their own";
        return Err(conflict(placed, why, "leave out cmdprio_percentage and its like"));
    }
    if job.verify == VerifyMode::On && job.rw.reads {
        let why = "the reads of a verification have no priority of their own";
        return Err(conflict(placed, why, "leave out verify or cmdprio_percentage"));
    }
    let has_trace = job.replay.trace.is_some();
    if has_trace {
        let why = "the I/O of a trace has no priority of its own";
        return Err(conflict(placed, why, "leave out read_iolog or cmdprio_percentage"));
    }
    Ok(())
}

fn percent_shares(percent: u64, priority: u16) -> Vec<PriorityShare> {
    let share = PriorityShare { bytes: None, percent, priority };
    (percent > 0).then_some(share).into_iter().collect()
}

fn split_shares(
    placed: &LocatedOptions,
    split: &[SplitPriority],
    own: u16,
) -> Result<Vec<PriorityShare>, FioJobError> {
    for entry in split {
        let same = split.iter().filter(|other| other.bytes == entry.bytes);
        if same.map(|other| other.percent).sum::<u64>() > 100 {
            let bytes = entry.bytes;
            let why = format!("cmdprio_bssplit: the shares of {bytes} B exceed 100 %");
            return Err(conflict(placed, why, "lower the percentages"));
        }
    }
    let share = |entry: &SplitPriority| PriorityShare {
        bytes: Some(entry.bytes),
        percent: entry.percent,
        priority: entry.priority.unwrap_or(own),
    };
    let used = split.iter().filter(|entry| entry.percent > 0);
    let mut shares: Vec<PriorityShare> = used.map(share).collect();
    // fio lists priorities by size.
    shares.sort_by_key(|share| share.bytes);
    Ok(shares)
}
