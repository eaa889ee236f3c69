//! Adapter of `vdbench`: writes an equivalent parameter file and reads the intervals of its
//! `flatfile.html`.
//!
//! Vdbench never creates or formats a file: the caller lays out the targets first.

use std::fmt::Write as _;

use assay_model::attribute::Attribute;
use assay_model::workload::Workload;
use assay_model::workload::storage::{
    AccessPattern, ArrivalProcess, AtEnd, Cursor, EngineChoice, SizeShare, StorageLoad,
    StorageStream, StorageTarget, StorageWorkload, Verify, WriteSync,
};

use super::{ToolDetection, unsupported};
use crate::invocation::{Invocation, TextFile, ToolRequest};
use crate::outputs::{Outputs, ParsedOutput, ToolError};
use crate::vdbench_flat::{FlatFile, VdbenchInterval};

const NAME: &str = "vdbench";
const PARAMETERS: &str = "assay.vdbench";
const FLAT_FILE: &str = "output/flatfile.html";
const ERRORS: &str = "output/errorlog.html";
/// Minimum elapsed time: without a warm-up the first interval does not count, and Vdbench requires
/// two.
const MINIMUM_S: f64 = 3.0;

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["vdbench", "vdbench.bash"],
    path_variable: "ASSAY_VDBENCH",
    hint: "from Oracle, with a Java: https://www.oracle.com/downloads/server-storage/vdbench-downloads.html",
    ..ToolDetection::DEFAULT
};

pub(super) fn supports(workload: &Workload) -> bool {
    workload.as_storage().is_some_and(|test| unsupported_reason(&test.workload).is_none())
}

/// Returns the reason why Vdbench does not support a workload.
fn unsupported_reason(work: &StorageWorkload) -> Option<&'static str> {
    let [stream] = work.streams.as_slice() else {
        return Some("Vdbench supports only one stream");
    };
    let targets = &work.targets;
    let byte_limit = work.timing.stop_after_bytes.or(stream.stop_after_bytes);
    let parts = part_count(stream);
    let reasons = [
        (order_parameters(stream).is_none(), "Vdbench does not support this access pattern"),
        (size_parameter(&stream.sizes).is_none(), "Vdbench does not support this mix of sizes"),
        (matches!(work.load, StorageLoad::Capped { .. }), "Vdbench limits IO/s, not bytes"),
        (parts.is_some() && work.load != StorageLoad::Closed, "its streams have no rate"),
        (
            parts.is_some_and(|parts| !stream.in_flight_per_target.is_multiple_of(parts)),
            "Vdbench needs a number of threads that is a multiple of its streams",
        ),
        (!stream.conduct.is_nothing(), "Vdbench does not support pauses, zones or the like"),
        (stream.own_rate_per_s.is_some(), "Vdbench does not support a rate per stream"),
        (stream.hit_area.is_some(), "Vdbench does not support a hot area"),
        (stream.sync_every > 0, "Vdbench does not fsync between writes"),
        (targets.iter().any(|it| it.sync_at_end), "Vdbench does not time the final fsync"),
        (
            targets.iter().any(|it| it.range_bytes.is_some_and(|(start, _)| start > 0)),
            "it does not begin at byte 0",
        ),
        (
            !matches!(work.engine, EngineChoice::Auto | EngineChoice::Threads),
            "threads of Vdbench use blocking calls",
        ),
        (work.timing.duration_s.is_none(), "it has no duration"),
        (byte_limit.is_some(), "it stops after a number of bytes"),
        (work.data.verify != Verify::Off, "Vdbench cannot check assay's stamps"),
        (
            targets.iter().any(|it| !it.path.to_str().is_some_and(can_be_quoted)),
            "a path is not absolute, or has special characters of Vdbench",
        ),
    ];
    reasons.into_iter().find(|(is_unsupported, _)| *is_unsupported).map(|(_, why)| why)
}

/// Whether a path can be quoted: blanks are allowed, variables and quotes are not.
fn can_be_quoted(path: &str) -> bool {
    path.starts_with('/') && !path.contains(['"', '$', '!', '#', '%', '\n', '\r'])
}

/// Returns the number of parts into which the threads divide a target; `None` if they share it.
fn part_count(stream: &StorageStream) -> Option<u32> {
    let divided =
        matches!(stream.pattern, AccessPattern::Sequential { cursor: Cursor::Divided, .. });
    (divided && stream.threads > 1).then_some(stream.threads)
}

/// Formats the order of I/O as Vdbench's parameters; `None` if Vdbench has none for it.
fn order_parameters(stream: &StorageStream) -> Option<String> {
    match stream.pattern {
        AccessPattern::Random => Some("seekpct=100".to_owned()),
        AccessPattern::Mixed { random_share } => {
            let percent = (random_share * 100.0).round();
            let is_whole = (random_share * 100.0 - percent).abs() < 1e-6;
            (is_whole && percent > 0.0).then(|| format!("seekpct={percent}"))
        }
        AccessPattern::Sequential { at_end: AtEnd::Wrap, gap_bytes: 0, cursor } => {
            match (cursor, part_count(stream)) {
                (Cursor::PerThread, _) => None,
                (_, Some(parts)) => Some(format!("seekpct=seq,streams={parts}")),
                (_, None) => Some("seekpct=seq".to_owned()),
            }
        }
        _ => None,
    }
}

/// Formats sizes as Vdbench's parameter; several sizes with their percentages. `None` if a size is
/// no multiple of 512 bytes.
fn size_parameter(sizes: &[SizeShare]) -> Option<String> {
    let sector_multiple = |size: &SizeShare| {
        let is_sector = size.min_bytes > 0 && size.min_bytes.is_multiple_of(512);
        (size.min_bytes == size.max_bytes && is_sector).then_some(size.min_bytes)
    };
    match sizes {
        [] => None,
        [only] => sector_multiple(only).map(|bytes| bytes.to_string()),
        several => {
            let pair = |size: &SizeShare| {
                Some(format!("{},{}", sector_multiple(size)?, format_percent(size.share)))
            };
            let pairs: Option<Vec<String>> = several.iter().map(pair).collect();
            pairs.map(|pairs| format!("({})", pairs.join(",")))
        }
    }
}

/// Formats a share in percent, as short as possible.
fn format_percent(share: f64) -> String {
    format!("{}", (share * 1e6).round() / 1e4)
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let test =
        request.workload.as_storage().ok_or_else(|| unsupported(NAME, request.workload))?;
    let reject = |why: &str| ToolError::UnsupportedWorkload { tool: NAME, why: why.to_owned() };
    if let Some(why) = unsupported_reason(&test.workload) {
        return Err(reject(why));
    }
    let content = parameter_file(&test.workload)
        .ok_or_else(|| reject("its rate is not known yet, or it has no order or size"))?;
    Ok(vec![Invocation {
        arguments: ["-f", PARAMETERS, "-o", "output"].map(str::to_owned).to_vec(),
        files_to_write: vec![TextFile { name: PARAMETERS.to_owned(), content }],
        files_to_read: [FLAT_FILE, ERRORS].map(str::to_owned).to_vec(),
        repetitions: 1,
        ..Invocation::new(request, NAME)
    }])
}

/// Formats the parameter file; `None` if the rate is a share of a rate that is not measured yet.
fn parameter_file(work: &StorageWorkload) -> Option<String> {
    let stream = work.streams.first()?;
    let mut lines = vec!["messagescan=no".to_owned()];
    if work.data.compressible > 0.0 && work.data.compressible < 1.0 {
        lines.push(format!("compratio={:.4}", 1.0 / (1.0 - work.data.compressible)));
    }
    for (index, target) in stream.targets.iter().enumerate() {
        lines.push(format_storage_definition(
            index + 1,
            work.targets.get(*target)?,
            stream.in_flight_per_target,
        ));
    }
    let sizes = size_parameter(&stream.sizes)?;
    lines.push(format!(
        "wd=wd1,sd=sd*,xfersize={sizes},rdpct={},{}",
        format_percent(stream.read_share),
        order_parameters(stream)?
    ));
    let rate = match work.load {
        // Balancing concerns several streams; there is only one.
        StorageLoad::Closed | StorageLoad::Balanced => "max".to_owned(),
        StorageLoad::Open { rate_per_s, arrivals } => {
            let distribution = match arrivals {
                ArrivalProcess::Exponential => "exponential",
                ArrivalProcess::Uniform => "uniform",
                ArrivalProcess::Constant => "deterministic",
            };
            format!("{},distribution={distribution}", (rate_per_s * 100.0).round() / 100.0)
        }
        StorageLoad::Capped { .. } | StorageLoad::ShareOf { .. } => return None,
    };
    let elapsed_s = work.timing.duration_s?.ceil().max(MINIMUM_S);
    let mut run = format!("rd=run,wd=wd1,iorate={rate},elapsed={elapsed_s},interval=1");
    if work.timing.warmup_s > 0.0 {
        let _ = write!(run, ",warmup={}", work.timing.warmup_s.ceil());
    }
    lines.push(run);
    Some(lines.join("\n") + "\n")
}

fn format_storage_definition(number: usize, target: &StorageTarget, threads: u32) -> String {
    let mut line = format!("sd=sd{number},lun=\"{}\"", target.path.display());
    if let Some(bytes) = target.range_bytes.map(|(_, end)| end).or(target.size_bytes) {
        let _ = write!(line, ",size={bytes}");
    }
    let _ = write!(line, ",threads={threads}");
    if let Some(align) = target.align_bytes {
        let _ = write!(line, ",align={align}");
    }
    let sync = match target.sync {
        WriteSync::None => None,
        WriteSync::Data => Some("o_dsync"),
        WriteSync::All => Some("o_sync"),
    };
    let flags: Vec<&str> =
        target.direct.then_some("o_direct").into_iter().chain(sync).collect();
    let _ = match flags.as_slice() {
        [] => Ok(()),
        [one] => write!(line, ",openflags={one}"),
        several => write!(line, ",openflags=({})", several.join(",")),
    };
    line
}

/// Parses the flatfile. Each counted interval is one sample of each metric; an interval without I/O
/// is joined with the next.
pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    if !supports(&invocation.workload) {
        return Err(unsupported(NAME, &invocation.workload));
    }
    outputs.check_exit()?;
    let intervals = FlatFile::read(outputs.file(FLAT_FILE)?, "run")?.merged_intervals();
    Ok(ParsedOutput { version: parse_version(&outputs.stdout), ..interval_samples(&intervals) })
}

/// Converts intervals to samples.
pub(super) fn interval_samples(intervals: &[VdbenchInterval]) -> ParsedOutput {
    let mut parsed = ParsedOutput::default();
    let column =
        |value: fn(&VdbenchInterval) -> f64| intervals.iter().map(value).collect::<Vec<_>>();
    parsed.add_samples("rate", column(|it| it.rate_per_s));
    parsed.set_weights(column(|it| it.interval_count));
    parsed.add_samples("bandwidth", column(|it| it.bytes_per_s));
    parsed.set_weights(column(|it| it.interval_count));
    let means = column(|it| it.mean_s);
    if means.iter().all(|mean| *mean > 0.0) {
        parsed.add_samples("latency", means);
        parsed.set_weights(column(|it| it.rate_per_s * it.interval_count));
        // Mean of an interval of a second.
        parsed.set_metric_attribute("latency", Attribute::Statistic, "mean");
    } else {
        let problem =
            "the latency is omitted: it is below the resolution of the flatfile, 100 ns";
        parsed.problems.push(problem.to_owned());
    }
    parsed
}

/// Parses the version: `Vdbench distribution: vdbench50406 Wed July 20 …` → `5.04.06`.
fn parse_version(printed: &str) -> Option<String> {
    let line =
        printed.lines().find_map(|it| it.strip_prefix("Vdbench distribution: vdbench"))?;
    let digits = line.split_whitespace().next()?;
    let has_all_parts = digits.len() >= 5 && digits.is_ascii();
    Some(if has_all_parts {
        format!("{}.{}.{}", &digits[..1], &digits[1..3], &digits[3..])
    } else {
        digits.to_owned()
    })
}
