//! A storage plan before anything is done: every phase, and the totals.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::quantity::{Bytes, Unit};
use assay_model::workload::course::Course;
use assay_model::workload::file_set::{FileLoad, FileOrder, FileStream, FileTest, FileTree};
use assay_model::workload::storage::{
    AccessPattern, Arrivals, AtEnd, Cursor, CurvePoint, EngineChoice, Load, SizeShare,
    StoragePhase, StoragePlan, StorageStream, StorageTarget, StorageTest, StorageTiming,
    StorageWorkload, Verify, WriteSync,
};

use crate::document::{Align, Block, Cell, Document, Facts, Table, Tone};
use crate::units::{joined, percent, quantity};

/// Targets that are named; of more only the number is reported.
const NAMED: usize = 4;

/// Everything that a plan would do.
#[must_use]
pub fn storage_plan(plan: &StoragePlan) -> Document {
    let mut document = Document::new("Storage plan");
    document.blocks.push(Block::Facts(Facts {
        title: None,
        tone: Tone::Plain,
        facts: totals(plan),
    }));
    let columns = [
        ("phase", Align::Left),
        ("what", Align::Left),
        ("targets", Align::Left),
        ("in flight", Align::Right),
        ("load", Align::Left),
        ("time", Align::Left),
    ];
    let mut table = Table::new("", &columns);
    for phase in &plan.phases {
        let workload = &phase.workload;
        let row: [Cell; 6] = [
            name(phase).into(),
            streams(workload).into(),
            targets(workload).into(),
            in_flight(workload).to_string().into(),
            load(&workload.load, plan).into(),
            time(&workload.timing, phase.pause_before_s).into(),
        ];
        table.rows.push(row.into());
    }
    document.blocks.push(Block::Table(table.without_empty_columns()));
    document
}

/// A case of a suite in words: what comes before, the workload, and how often it is measured.
pub(super) fn test_phrase(test: &StorageTest) -> String {
    let before = match test.precondition_passes {
        0 => None,
        1 => Some("preconditioned: written in full once".to_owned()),
        passes => Some(format!("preconditioned: written in full {passes} times")),
    };
    let course = match test.course {
        Course::Once => None,
        Course::Rounds(rule) => {
            Some(format!("in rounds until steady state, at most {}", rule.most_rounds))
        }
        Course::Search(goal) => Some(format!("then the maximum rate that meets {goal}")),
    };
    let bend = matches!(test.point, Some(CurvePoint::Bend { .. }));
    let bend = bend.then(|| "a share near the knee".to_owned());
    let parts = before.into_iter().chain([phrase(&test.workload)]).chain(course).chain(bend);
    parts.collect::<Vec<_>>().join("; ")
}

/// One operation on a file tree in words.
pub(super) fn files_phrase(test: &FileTest) -> String {
    let work = &test.workload;
    let stream = |(tree, stream): (&FileTree, &FileStream)| {
        let what = match tree.files {
            0 => format!("{} directories", tree.directories().unwrap_or(u64::MAX)),
            _ => format!(
                "{} files of {} in {} directories",
                tree.file_count().unwrap_or(u64::MAX),
                joined(&Bytes(tree.mean_file_bytes() as u64).to_string()),
                tree.directories().unwrap_or(u64::MAX)
            ),
        };
        let order = match stream.order {
            FileOrder::Once => "each once, repeatedly",
            FileOrder::Sequential => "in order",
            FileOrder::Random | FileOrder::Skewed(_) => "at random",
        };
        let threads = if stream.threads == 1 { "thread" } else { "threads" };
        let (count, place) = (stream.threads, tree.anchor.display());
        format!("{} of {what}, {order}, by {count} {threads}, in {place}", test.name)
    };
    let rate = match work.load {
        FileLoad::Open { per_s, .. } => Some(quantity(per_s, Unit::IoPerSecond, 3)),
        FileLoad::Closed | FileLoad::ShareOf { .. } => None,
    };
    let streams = work.trees.iter().zip(&work.streams).map(stream);
    streams.chain(rate).collect::<Vec<_>>().join("; ")
}

/// One workload in words, without its targets' sizes.
fn phrase(workload: &StorageWorkload) -> String {
    let plan = StoragePlan { phases: Vec::new() };
    let parts = [
        streams(workload),
        format!("on {}", targets(workload)),
        format!("{} in flight", in_flight(workload)),
        load(&workload.load, &plan),
        time(&workload.timing, 0.0),
    ];
    parts.join("; ")
}

fn totals(plan: &StoragePlan) -> Vec<(String, String)> {
    let mut sizes: BTreeMap<&Path, u64> = BTreeMap::new();
    let real = plan.phases.iter().filter(|phase| phase.workload.engine != EngineChoice::Null);
    for target in real.flat_map(|phase| &phase.workload.targets) {
        let size = sizes.entry(&target.path).or_default();
        *size = (*size).max(target.size_bytes.unwrap_or(0));
    }
    let bytes: u64 = sizes.values().fold(0, |sum, size| sum.saturating_add(*size));
    let most = plan.phases.iter().map(|phase| in_flight(&phase.workload)).max().unwrap_or(0);
    let mut facts = vec![("phases".to_owned(), plan.phases.len().to_string())];
    if !sizes.is_empty() {
        facts.push(("files and devices".to_owned(), sizes.len().to_string()));
    }
    if bytes > 0 {
        facts.push(("required size".to_owned(), joined(&Bytes(bytes).to_string())));
    }
    facts.push(("maximum in flight".to_owned(), most.to_string()));
    facts.push(("time".to_owned(), whole_time(plan)));
    facts
}

fn whole_time(plan: &StoragePlan) -> String {
    let seconds = |phase: &StoragePhase| {
        let timing = &phase.workload.timing;
        phase.pause_before_s + timing.warmup_s + timing.duration_s.unwrap_or(0.0)
    };
    let sum: f64 = plan.phases.iter().map(seconds).sum();
    let open = plan.phases.iter().filter(|it| it.workload.timing.duration_s.is_none()).count();
    match open {
        0 => quantity(sum, Unit::Second, 4),
        open if open == plan.phases.len() => "until the work is done".to_owned(),
        open => {
            format!(
                "{}, and {open} phases until their work is done",
                quantity(sum, Unit::Second, 4)
            )
        }
    }
}

fn name(phase: &StoragePhase) -> String {
    let loops = phase.loops.iter().map(|(name, value)| format!("{name}={value}"));
    std::iter::once(phase.name.clone()).chain(loops).collect::<Vec<_>>().join(" ")
}

/// I/O that may be in flight at the same time, all streams and targets together.
fn in_flight(workload: &StorageWorkload) -> u64 {
    let of = |stream: &StorageStream| {
        u64::from(stream.in_flight_per_target) * stream.targets.len() as u64
    };
    workload.streams.iter().map(of).sum()
}

fn streams(workload: &StorageWorkload) -> String {
    let mut phrases: Vec<String> = Vec::new();
    for phrase in workload.streams.iter().map(|stream| stream_phrase(workload, stream)) {
        if !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    let data = &workload.data;
    let verify = match data.verify {
        Verify::Off => None,
        Verify::OnRead => Some("every read checked".to_owned()),
        Verify::AfterWrite => Some("every write read back and checked".to_owned()),
    };
    let compressible = (data.compressible > 0.0)
        .then(|| format!("data {} compressible", percent(100.0 * data.compressible)));
    phrases.extend(verify.into_iter().chain(compressible));
    phrases.join("; ")
}

fn stream_phrase(workload: &StorageWorkload, stream: &StorageStream) -> String {
    let operation = match stream.read_share {
        share if share >= 1.0 => "read".to_owned(),
        share if share <= 0.0 => "write".to_owned(),
        share => format!("{} read", percent(100.0 * share)),
    };
    let share = (stream.rate_share < 1.0 && workload.streams.len() > 1)
        .then(|| format!("{} of the rate", percent(100.0 * stream.rate_share)));
    let own = stream.own_rate_per_s.map(|rate| quantity(rate, Unit::IoPerSecond, 4));
    let threads = match stream.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let parts = [
        Some(format!("{} {operation}", pattern(&stream.pattern))),
        Some(sizes(&stream.sizes)),
        Some(threads),
        own,
        share,
        (stream.sync_every > 0).then(|| format!("fsync every {} writes", stream.sync_every)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn pattern(pattern: &AccessPattern) -> String {
    match pattern {
        AccessPattern::Random => "random".to_owned(),
        AccessPattern::Permutation => "random, each once,".to_owned(),
        AccessPattern::Strides { least_bytes, most_bytes } => {
            let [minimum, most] =
                [least_bytes, most_bytes].map(|it| joined(&Bytes(*it).to_string()));
            format!("strided with gaps of {minimum} to {most}")
        }
        AccessPattern::Sequential { cursor, at_end, gap_bytes } => {
            let cursor = match cursor {
                Cursor::Shared => "",
                Cursor::PerThread => " per thread",
                Cursor::Divided => " in parts",
            };
            let end = if *at_end == AtEnd::Stop { " to the end" } else { "" };
            let gap = match gap_bytes {
                0 => String::new(),
                gap => format!(" with gaps of {}", joined(&Bytes(*gap).to_string())),
            };
            format!("sequential{cursor}{end}{gap}")
        }
        AccessPattern::Mixed { random_share } => {
            format!("sequential with {} random", percent(100.0 * random_share))
        }
        AccessPattern::Blocks { block_bytes, stride_bytes, shuffled } => {
            let order = if *shuffled { "random, each once," } else { "sequential" };
            let block = joined(&Bytes(*block_bytes).to_string());
            let stride = joined(&Bytes(*stride_bytes).to_string());
            match stride_bytes > block_bytes {
                true => format!("{order} in blocks of {block} every {stride}"),
                false => format!("{order} in blocks of {block}"),
            }
        }
    }
}

fn sizes(sizes: &[SizeShare]) -> String {
    let size = |bytes: u64| joined(&Bytes(bytes).to_string());
    let one = |it: &SizeShare| {
        let range = match it.max_bytes > it.min_bytes {
            true => format!("{}–{}", size(it.min_bytes), size(it.max_bytes)),
            false => size(it.min_bytes),
        };
        if sizes.len() > 1 { format!("{range} ({})", percent(100.0 * it.share)) } else { range }
    };
    sizes.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn targets(workload: &StorageWorkload) -> String {
    if workload.engine == EngineChoice::Null {
        return "none: the load generator alone".to_owned();
    }
    let named = workload.targets.iter().take(NAMED).map(target);
    let mut text = named.collect::<Vec<_>>().join(", ");
    if workload.targets.len() > NAMED {
        text.push_str(
            &format_args!(" and {} more", workload.targets.len() - NAMED).to_string(),
        );
    }
    text
}

fn target(target: &StorageTarget) -> String {
    let sync = match target.sync {
        WriteSync::None => None,
        WriteSync::Data => Some("O_DSYNC".to_owned()),
        WriteSync::All => Some("O_SYNC".to_owned()),
    };
    let parts = [
        target.size_bytes.map(|bytes| joined(&Bytes(bytes).to_string())),
        (!target.direct).then(|| "through the page cache".to_owned()),
        sync,
        target.sync_at_end.then(|| "fsync at the end".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let path = target.path.display();
    if parts.is_empty() { path.to_string() } else { format!("{path} ({})", parts.join(", ")) }
}

fn load(load: &Load, plan: &StoragePlan) -> String {
    match load {
        Load::Closed => "max (closed loop)".to_owned(),
        Load::Balanced => "closed loop, in given shares".to_owned(),
        Load::Open { rate_per_s, arrivals } => {
            format!("{}, {}", quantity(*rate_per_s, Unit::IoPerSecond, 4), law(*arrivals))
        }
        Load::Capped { bytes_per_s } => {
            format!("at most {}", quantity(*bytes_per_s, Unit::BytePerSecond, 4))
        }
        Load::ShareOf { phase, percent: share, arrivals, .. } => {
            let of = plan.phases.get(*phase).map_or("the maximum rate", |it| it.name.as_str());
            format!("{} of {of}, {}", percent(*share), law(*arrivals))
        }
    }
}

const fn law(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Exponential => "exponential gaps",
        Arrivals::Uniform => "uniform gaps",
        Arrivals::Constant => "constant gaps",
    }
}

fn time(timing: &StorageTiming, pause_before_s: f64) -> String {
    let seconds = |seconds: f64| quantity(seconds, Unit::Second, 4);
    let parts = [
        (pause_before_s > 0.0).then(|| format!("pause {}", seconds(pause_before_s))),
        (timing.warmup_s > 0.0).then(|| format!("warm-up {}", seconds(timing.warmup_s))),
        Some(timing.duration_s.map_or_else(|| "until done".to_owned(), seconds)),
        timing
            .stop_after_bytes
            .map(|bytes| format!("at most {}", joined(&Bytes(bytes).to_string()))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
