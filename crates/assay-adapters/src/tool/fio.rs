//! Adapter of `fio`, the flexible I/O tester: writes an equivalent job file.
//!
//! fio never creates a file: the caller has laid out its targets before.

use std::fmt::Write as _;

use assay_model::workload::Workload;
use assay_model::workload::storage::{
    AccessPattern, ArrivalProcess, Cursor, EngineChoice, SizeShare, StorageLoad, StorageStream,
    StorageTarget, StorageWorkload, Verify, WriteSync,
};

use super::{ToolDetection, VersionSource, storage, unsupported};
use crate::fio_json::FioResult;
use crate::invocation::{Invocation, TextFile, ToolRequest};
use crate::outputs::{Outputs, ParsedOutput, ToolError};

const JOB_FILE: &str = "assay.fio";

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["fio"],
    path_variable: "ASSAY_FIO",
    version: VersionSource::FromOption { arguments: &["--version"], read: parse_version },
    hint: "Debian and Ubuntu: apt install fio",
    ..ToolDetection::DEFAULT
};

/// Parses the version: `fio-3.33` → `3.33`.
fn parse_version(printed: &str) -> Option<String> {
    let rest = printed.trim().strip_prefix("fio-")?;
    rest.split_whitespace().next().map(str::to_owned)
}

pub(super) fn supports(workload: &Workload) -> bool {
    workload.as_storage().is_some_and(|test| unsupported_reason(&test.workload).is_none())
}

/// Returns the reason why fio does not support a workload.
fn unsupported_reason(work: &StorageWorkload) -> Option<&'static str> {
    let streams = &work.streams;
    let whole = |share: f64| (share * 100.0 - (share * 100.0).round()).abs() < 1e-6;
    let arrivals = match work.load {
        StorageLoad::Open { arrivals, .. } | StorageLoad::ShareOf { arrivals, .. } => {
            Some(arrivals)
        }
        StorageLoad::Closed | StorageLoad::Balanced | StorageLoad::Capped { .. } => None,
    };
    let several =
        |stream: &StorageStream| stream.threads > 1 || work.engine == EngineChoice::Threads;
    let table = [
        (
            streams.iter().any(|s| is_unsupported_pattern(&s.pattern)),
            "fio does not support this access pattern",
        ),
        (work.load == StorageLoad::Balanced, "fio cannot balance shares without a rate"),
        (work.timing.duration_s.is_none(), "it has no duration"),
        (work.timing.stop_after_bytes.is_some(), "it stops after a number of bytes"),
        (
            streams.iter().any(|s| s.stop_after_bytes.is_some()),
            "it stops after a number of bytes",
        ),
        (work.data.verify != Verify::Off, "fio cannot check assay's stamps"),
        (arrivals == Some(ArrivalProcess::Uniform), "fio does not support uniform arrivals"),
        (streams.iter().any(|s| s.hit_area.is_some()), "fio does not support a hot area"),
        (streams.iter().any(|s| !whole(s.read_share)), "fio mixes only in whole percents"),
        (
            streams.iter().any(|s| size_option(&s.sizes).is_none()),
            "fio does not support this mix of sizes",
        ),
        (
            streams.iter().any(|s| s.pattern == AccessPattern::Permutation && several(s)),
            "fio's jobs do not share a map of visited blocks",
        ),
        (
            work.targets.iter().any(|t| t.path.to_str().is_none_or(|p| !p.starts_with('/'))),
            "a path is not absolute, or not UTF-8",
        ),
    ];
    table.into_iter().find(|(refused, _)| *refused).map(|(_, why)| why)
}

const fn is_unsupported_pattern(pattern: &AccessPattern) -> bool {
    matches!(pattern, AccessPattern::Blocks { .. } | AccessPattern::Strides { .. })
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let test =
        request.workload.as_storage().ok_or_else(|| unsupported("fio", request.workload))?;
    let ask = |why: &str| ToolError::UnsupportedWorkload { tool: "fio", why: why.to_owned() };
    if let Some(why) = unsupported_reason(&test.workload) {
        return Err(ask(why));
    }
    let content = ini_file(&test.workload).ok_or_else(|| ask("its rate is not known yet"))?;
    Ok(vec![Invocation {
        arguments: vec!["--output-format=json+".to_owned(), JOB_FILE.to_owned()],
        files_to_write: vec![TextFile { name: JOB_FILE.to_owned(), content }],
        ..Invocation::new(request, "fio")
    }])
}

/// Formats one job per stream and target; `None` if the rate is a share of one that is not known
/// yet.
fn ini_file(work: &StorageWorkload) -> Option<String> {
    let mut text = global_section(work);
    let rate_per_s = match work.load {
        StorageLoad::Open { rate_per_s, .. } => Some(rate_per_s),
        StorageLoad::Closed | StorageLoad::Balanced | StorageLoad::Capped { .. } => None,
        StorageLoad::ShareOf { .. } => return None,
    };
    let all: usize = work.streams.iter().map(|stream| stream.targets.len()).sum();
    for (index, stream) in work.streams.iter().enumerate() {
        let targets = stream.targets.len().max(1) as f64;
        for target in &stream.targets {
            let target = work.targets.get(*target)?;
            let _ = write!(text, "\n[stream{index}]\n");
            write_target(&mut text, target, stream);
            write_pattern(&mut text, stream);
            let clones = write_depth(&mut text, work, stream);
            let open = rate_per_s.map(|rate| rate * stream.rate_share);
            if let Some(rate) = stream.own_rate_per_s.or(open) {
                write_rates(&mut text, "rate_iops", rate / targets / clones, stream);
                if matches!(
                    work.load,
                    StorageLoad::Open { arrivals: ArrivalProcess::Exponential, .. }
                ) {
                    text.push_str("rate_process=poisson\n");
                }
            }
            if let StorageLoad::Capped { bytes_per_s } = work.load {
                write_rates(
                    &mut text,
                    "rate",
                    bytes_per_s / all.max(1) as f64 / clones,
                    stream,
                );
            }
        }
    }
    Some(text)
}

fn global_section(work: &StorageWorkload) -> String {
    let direct = work.targets.iter().all(|target| target.direct);
    let engine = match work.engine {
        EngineChoice::Threads => "psync",
        EngineChoice::Null => "null",
        EngineChoice::IoUring | EngineChoice::IoUringPolled => "io_uring",
        EngineChoice::Libaio => "libaio",
        // Without direct I/O libaio blocks.
        EngineChoice::Auto => {
            if direct {
                "libaio"
            } else {
                "io_uring"
            }
        }
    };
    let mut text = String::from("[global]\nthread=1\ngroup_reporting=1\nrandrepeat=1\n");
    let seconds = |seconds: f64| (seconds * 1e3).round() as u64;
    let duration = seconds(work.timing.duration_s.unwrap_or_default()).max(1);
    let _ = writeln!(text, "ioengine={engine}\nrandseed={}", work.seed >> 1);
    if work.engine == EngineChoice::IoUringPolled {
        text.push_str("hipri=1\n");
    }
    let _ = writeln!(text, "time_based=1\nruntime={duration}ms");
    if work.timing.warmup_s > 0.0 {
        let _ = writeln!(text, "ramp_time={}ms", seconds(work.timing.warmup_s));
    }
    // Every block gets new data, as in assay's own workloads; files exist and stay unchanged.
    text.push_str("refill_buffers=1\nfallocate=none\n");
    if work.engine != EngineChoice::Null {
        text.push_str("allow_file_create=0\n");
    }
    if work.data.compressible > 0.0 {
        let percent = (work.data.compressible * 100.0).round();
        let _ = writeln!(text, "buffer_compress_percentage={percent}");
    }
    text
}

fn write_target(text: &mut String, target: &StorageTarget, stream: &StorageStream) {
    // An unescaped colon separates two files.
    let path = target.path.display().to_string().replace('\\', "\\\\").replace(':', "\\:");
    let _ = writeln!(text, "filename={path}\ndirect={}", u8::from(target.direct));
    let range = target.range_bytes.or_else(|| target.size_bytes.map(|size| (0, size)));
    if let Some((from, to)) = range {
        let _ = writeln!(text, "offset={from}\nsize={}", to.saturating_sub(from));
    }
    if let Some(align) = target.align_bytes {
        let _ = writeln!(text, "blockalign={align}");
    }
    match target.sync {
        WriteSync::None => {}
        WriteSync::Data => text.push_str("sync=dsync\n"),
        WriteSync::All => text.push_str("sync=sync\n"),
    }
    if stream.sync_every > 0 {
        let _ = writeln!(text, "fsync={}", stream.sync_every);
    }
    if target.sync_at_end && stream.read_share < 1.0 {
        text.push_str("end_fsync=1\n");
    }
}

fn write_pattern(text: &mut String, stream: &StorageStream) {
    let percent = (stream.read_share * 100.0).round() as u32;
    let (random, extra) = match stream.pattern {
        AccessPattern::Random => (true, "norandommap=1\n".to_owned()),
        AccessPattern::Permutation => (true, String::new()),
        AccessPattern::Mixed { random_share } => {
            let share = (random_share * 100.0).round();
            (true, format!("norandommap=1\npercentage_random={share}\n"))
        }
        AccessPattern::Sequential { .. }
        | AccessPattern::Strides { .. }
        | AccessPattern::Blocks { .. } => (false, String::new()),
    };
    let way = match (random, percent) {
        (true, 100) => "randread",
        (true, 0) => "randwrite",
        (true, _) => "randrw",
        (false, 100) => "read",
        (false, 0) => "write",
        (false, _) => "rw",
    };
    let gap = match stream.pattern {
        AccessPattern::Sequential { gap_bytes, .. } if gap_bytes > 0 => format!(":{gap_bytes}"),
        _ => String::new(),
    };
    let sizes = size_option(&stream.sizes).unwrap_or_default();
    let _ = writeln!(text, "rw={way}{gap}\n{extra}{sizes}");
    if !matches!(percent, 0 | 100) {
        let _ = writeln!(text, "rwmixread={percent}");
    }
}

/// Writes jobs and depth, and returns the number of jobs.
fn write_depth(text: &mut String, work: &StorageWorkload, stream: &StorageStream) -> f64 {
    let depth = stream.in_flight_per_target.max(1);
    let one_position =
        matches!(stream.pattern, AccessPattern::Sequential { cursor: Cursor::Shared, .. });
    let jobs = if work.engine == EngineChoice::Threads {
        depth
    } else if one_position || stream.pattern == AccessPattern::Permutation {
        1
    } else {
        stream.threads.clamp(1, depth)
    };
    let _ = writeln!(text, "numjobs={jobs}\niodepth={}", (depth / jobs).max(1));
    f64::from(jobs)
}

/// Writes the rate; fio limits reads and writes separately.
fn write_rates(text: &mut String, option: &str, rate: f64, stream: &StorageStream) {
    let reads = (rate * stream.read_share).round() as u64;
    let writes = (rate * (1.0 - stream.read_share)).round() as u64;
    let _ = match (reads, writes) {
        (reads, 0) => writeln!(text, "{option}={reads}"),
        (0, writes) => writeln!(text, "{option}={writes}"),
        (reads, writes) => writeln!(text, "{option}={reads},{writes}"),
    };
}

/// Formats sizes as fio's option; `None` if fio has none for them.
fn size_option(sizes: &[SizeShare]) -> Option<String> {
    match sizes {
        [only] if only.min_bytes == only.max_bytes => Some(format!("bs={}", only.min_bytes)),
        [only] if only.step_bytes == only.min_bytes => {
            Some(format!("bsrange={}-{}", only.min_bytes, only.max_bytes))
        }
        several => {
            let one = |size: &SizeShare| {
                let percent = (size.share * 100.0).round();
                let exact = (size.share * 100.0 - percent).abs() < 1e-6;
                (exact && size.min_bytes == size.max_bytes)
                    .then(|| format!("{}/{percent}", size.min_bytes))
            };
            let parts: Option<Vec<String>> = several.iter().map(one).collect();
            parts.filter(|parts| !parts.is_empty()).map(|p| format!("bssplit={}", p.join(":")))
        }
    }
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    let test = workload.as_storage().ok_or_else(|| unsupported("fio", workload))?;
    outputs.check_exit()?;
    let time: Vec<f64> = test.workload.timing.duration_s.into_iter().collect();
    storage::convert_fio_result(FioResult::read(&outputs.stdout)?, &time)
}
