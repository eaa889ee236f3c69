//! Adapter of `ior`: one file, read or written by many tasks of an MPI launcher, each with one
//! transfer in flight.
//!
//! It never creates or removes the file, which is laid out before; `-k` and `-E` keep it.

use assay_model::workload::Workload;
use assay_model::workload::storage::{
    AccessPattern, Cursor, EngineChoice, StorageLoad, StorageStream, StorageTarget,
    StorageWorkload, Verify, WriteSync,
};

use super::ior_rows::convert_ior_rows;
use super::{ToolDetection, unsupported};
use crate::invocation::{Invocation, ToolRequest, c_locale};
use crate::ior_text::{IorRow, IorText};
use crate::launcher::Launch;
use crate::outputs::{Outputs, ParsedOutput, ToolError};

const NAME: &str = "ior";
/// Repetitions per start: six samples are enough for an interval of 95 %.
const REPETITIONS: u32 = 6;
/// Limit of tasks, more than any launcher starts on one machine.
const MAX_TASKS: u32 = 4096;

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["ior", "IOR"],
    path_variable: "ASSAY_IOR",
    required_text: Some("MPI Coordinated Test of Parallel I/O"),
    uses_launcher: true,
    hint: "build it with your MPI: https://github.com/hpc/ior",
    ..ToolDetection::DEFAULT
};

pub(super) fn supports(workload: &Workload) -> bool {
    workload.as_storage().is_some_and(|test| unsupported_reason(&test.workload).is_none())
}

/// Returns the reason why IOR does not support a workload.
fn unsupported_reason(work: &StorageWorkload) -> Option<&'static str> {
    let ([stream], [target]) = (work.streams.as_slice(), work.targets.as_slice()) else {
        return Some("IOR supports only one stream and one file");
    };
    let kind = match stream.pattern {
        AccessPattern::Sequential { gap_bytes: 1.., .. } => Some("IOR does not support gaps"),
        AccessPattern::Sequential { cursor: Cursor::PerThread, .. } => {
            Some("each byte belongs to one of IOR's tasks")
        }
        AccessPattern::Sequential { cursor: Cursor::Divided, .. }
            if stream.threads != stream.in_flight_per_target =>
        {
            Some("a task of IOR has one transfer in flight in its part")
        }
        AccessPattern::Sequential { .. }
        | AccessPattern::Random
        | AccessPattern::Permutation => None,
        _ => Some("IOR supports only sequential and random access"),
    };
    let path = target.path.to_str();
    let table = [
        (work.load != StorageLoad::Closed, "IOR has no rate"),
        (
            stream.read_share > 0.0 && stream.read_share < 1.0,
            "IOR does not mix reads and writes",
        ),
        (stream.own_rate_per_s.is_some(), "IOR has no rate"),
        (!stream.conduct.is_nothing(), "IOR does not support pauses, zones or the like"),
        (stream.hit_area.is_some(), "IOR does not support a hot area"),
        (stream.sync_every > 1, "IOR syncs after every write or at the end"),
        (transfer_bytes(stream).is_none(), "IOR has one size of transfer"),
        (
            !matches!(work.engine, EngineChoice::Auto | EngineChoice::Threads),
            "tasks of IOR use blocking calls",
        ),
        (target.sync != WriteSync::None, "IOR opens without O_SYNC and O_DSYNC"),
        (target.range_bytes.is_some_and(|(start, _)| start > 0), "IOR begins at byte 0"),
        (target.align_bytes.is_some(), "IOR aligns to the transfer"),
        (stream.in_flight_per_target > MAX_TASKS, "too many tasks"),
        (work.timing.duration_s.is_none(), "it has no duration"),
        (
            work.timing.stop_after_bytes.or(stream.stop_after_bytes).is_some(),
            "it stops after a number of bytes",
        ),
        (work.data.verify != Verify::Off, "IOR cannot check assay's stamps"),
        (
            path.is_none_or(|path| !path.starts_with('/') || path.contains('@')),
            "a path is not absolute, not UTF-8, or has an @",
        ),
    ];
    kind.or_else(|| table.into_iter().find(|(refused, _)| *refused).map(|(_, why)| why))
}

fn transfer_bytes(stream: &StorageStream) -> Option<u64> {
    match stream.sizes.as_slice() {
        [only] if only.min_bytes == only.max_bytes => Some(only.min_bytes).filter(|it| *it > 0),
        _ => None,
    }
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let test =
        request.workload.as_storage().ok_or_else(|| unsupported(NAME, request.workload))?;
    let work = &test.workload;
    let ask = |why: &str| ToolError::UnsupportedWorkload { tool: NAME, why: why.to_owned() };
    if let Some(why) = unsupported_reason(work) {
        return Err(ask(why));
    }
    let (stream, target) = (&work.streams[0], &work.targets[0]);
    let words = options(work, stream, target).map_err(ask)?;
    let tasks = stream.in_flight_per_target.max(1);
    let launch = match &request.tool.launcher {
        Some(launcher) => launcher.free_ranks(&request.tool.path, tasks),
        None if tasks == 1 => Launch::for_cpus(&request.tool.path, None, &[]),
        None => {
            return Err(ask(&format!(
                "{tasks} in flight are {tasks} tasks of an MPI launcher, and no usable mpirun was \
                 found"
            )));
        }
    };
    let mut environment = launch.environment;
    environment.push(c_locale());
    Ok(vec![Invocation {
        program: launch.program,
        arguments: [launch.arguments, words].concat(),
        environment,
        repetitions: request.repetitions.div_ceil(REPETITIONS).max(1),
        ..Invocation::new(request, NAME)
    }])
}

/// Builds IOR's own options, all of which exist since version 3.0.
fn options(
    work: &StorageWorkload,
    stream: &StorageStream,
    target: &StorageTarget,
) -> Result<Vec<String>, &'static str> {
    let transfer = transfer_bytes(stream).ok_or("IOR has one size of transfer")?;
    let bytes = target.range_bytes.map(|(_, end)| end).or(target.size_bytes);
    let bytes = bytes.ok_or("the size of its target is not known")?;
    let tasks = u64::from(stream.in_flight_per_target.max(1));
    let transfers = bytes / transfer / tasks;
    let is_random =
        matches!(stream.pattern, AccessPattern::Random | AccessPattern::Permutation);
    if transfers == 0 || (is_random && transfers < 2) {
        return Err("its target is too small for this number of tasks");
    }
    // Tasks that alternate traverse the file together, like one shared cursor.
    let (block, segments) = match stream.pattern {
        AccessPattern::Sequential { cursor: Cursor::Shared, .. } => (transfer, transfers),
        _ => (transfer * transfers, 1),
    };
    let seconds = work.timing.duration_s.unwrap_or_default() / f64::from(REPETITIONS);
    let writes = stream.read_share < 1.0;
    let switches = [
        (writes, "-w"),
        (!writes, "-r"),
        (is_random, "-z"),
        (writes && target.sync_at_end, "-e"),
        (writes && stream.sync_every == 1, "-Y"),
    ];
    let mut words: Vec<String> = ["-a", "POSIX", "-k", "-E"].map(str::to_owned).to_vec();
    words.extend(switches.iter().filter(|(on, _)| *on).map(|(_, word)| (*word).to_owned()));
    let values = [
        ("-b", block.to_string()),
        ("-t", transfer.to_string()),
        ("-s", segments.to_string()),
        ("-i", REPETITIONS.to_string()),
        ("-D", (seconds.round().max(1.0) as u64).to_string()),
        // The option was renamed between versions, this directive was not.
        ("-O", format!("useO_DIRECT={}", u8::from(target.direct))),
        ("-o", target.path.display().to_string()),
    ];
    words.extend(values.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
    Ok(words)
}

/// Parses the table; every repetition is one sample of each metric.
pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    let test = workload.as_storage().ok_or_else(|| unsupported(NAME, workload))?;
    let [stream] = test.workload.streams.as_slice() else {
        return Err(unsupported(NAME, workload));
    };
    outputs.check_exit()?;
    let text = IorText::read(&outputs.stdout)?;
    let tasks = u64::from(stream.in_flight_per_target.max(1));
    if let Some(other) = text.tasks.filter(|other| *other != tasks) {
        let what = format!("{other} tasks ran instead of {tasks}");
        return Err(ToolError::Contradiction { what });
    }
    let writes = stream.read_share < 1.0;
    let rows: Vec<&IorRow> = text.rows.iter().filter(|row| row.writes == writes).collect();
    if rows.is_empty() {
        let what = if writes { "row of a write" } else { "row of a read" };
        return Err(ToolError::Missing { what: what.to_owned(), place: "IOR's output" });
    }
    convert_ior_rows(&rows, Some(tasks), text.version)
}
