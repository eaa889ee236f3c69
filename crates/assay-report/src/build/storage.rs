//! Report of a storage plan before its execution: every phase, and the totals.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::quantity::Unit;
use assay_model::workload::file_set::{FileLoad, FileOrder, FileStream, FileTest, FileTree};
use assay_model::workload::io500::{Io500Phase, Io500Workload, VALID_STONEWALL_S};
use assay_model::workload::measurement_mode::MeasurementMode;
use assay_model::workload::storage::{
    AccessPattern, ArrivalProcess, AtEnd, Cursor, EngineChoice, ResponseCurvePoint, SizeShare,
    StorageLoad, StoragePhase, StoragePlan, StorageStream, StorageTarget, StorageTest,
    StorageTiming, StorageWorkload, Verify, WriteSync,
};

use crate::document::{Block, Document, FactTable, ReportTable, Tone, left, right};
use crate::first_seen::distinct;
use crate::locale::{comma, join_details, semicolon, with_detail, word};
use crate::precision::{format_percent_setting, format_setting, planned_time};
use crate::units::size;

/// Maximum number of targets that are named; of more, the remaining number is reported.
const MAX_NAMED_TARGETS: usize = 4;

/// Builds the report of the whole plan.
pub fn storage_plan(plan: &StoragePlan) -> Document {
    let mut document = Document::new(word("storage-plan-title"));
    document.blocks.push(Block::Facts(FactTable {
        title: None,
        tone: Tone::Plain,
        facts: totals(plan),
    }));
    let mut table = ReportTable::with_caption("");
    for phase in &plan.phases {
        let workload = &phase.workload;
        let time = describe_time(&workload.timing, phase.pause_before_s);
        table.push([
            left(word("column-phase"), phase_name(phase)),
            left(word("column-what"), describe_streams(workload)),
            left(word("column-targets"), describe_targets(workload)),
            right(word("column-in-flight"), in_flight(workload).to_string()),
            left(word("column-load"), describe_load(&workload.load, plan)),
            left(word("column-time"), time),
        ]);
    }
    document.blocks.push(Block::Table(table.without_empty_columns()));
    document
}

/// Describes a case of a suite: preconditioning, the workload, and its repetition. `named` includes
/// the targets, for tables that do not name them elsewhere.
pub(super) fn describe_test(test: &StorageTest, named: bool) -> String {
    let before = match test.precondition_passes {
        0 => None,
        passes => Some(message!("plan-preconditioned", n = passes)),
    };
    let course = match test.course {
        MeasurementMode::Once => None,
        MeasurementMode::Rounds(rule) => {
            Some(message!("plan-rounds", n = rule.most_rounds.to_string()))
        }
        MeasurementMode::Search(goal) => Some(message!("plan-search", goal = goal.to_string())),
    };
    let parts = before.into_iter().chain([describe_workload(test, named)]).chain(course);
    parts.collect::<Vec<_>>().join(semicolon())
}

/// Describes one operation on a file tree; `named` includes the folders.
pub(super) fn describe_files_test(test: &FileTest, named: bool) -> String {
    let work = &test.workload;
    let stream = |(tree, stream): (&FileTree, &FileStream)| {
        let directories = tree.directories().unwrap_or(u64::MAX);
        let what = match tree.files {
            0 => message!("plan-directories", n = directories),
            _ => {
                let files = tree.file_count().unwrap_or(u64::MAX).to_string();
                let size = size(tree.mean_file_bytes() as u64);
                let directories = message!("plan-directories", n = directories);
                message!("plan-files", files = files, size = size, directories = directories)
            }
        };
        let order = match stream.order {
            FileOrder::Once => word("plan-each-once"),
            FileOrder::Sequential => word("plan-in-order"),
            FileOrder::Random | FileOrder::Skewed(_) => word("plan-at-random"),
        };
        let threads = message!("threads", n = stream.threads);
        let folder = if named { format!(", {}", tree.anchor.display()) } else { String::new() };
        format!("{}: {what}, {order}, {threads}{folder}", test.name)
    };
    let rate = match work.load {
        FileLoad::Open { per_s, .. } => Some(format_setting(per_s, Unit::IoPerSecond, 3)),
        FileLoad::Closed | FileLoad::ShareOf { .. } => None,
    };
    let streams = work.trees.iter().zip(&work.streams).map(stream);
    streams.chain(rate).collect::<Vec<_>>().join(semicolon())
}

/// Describes the phases of IO500.
pub(super) fn describe_io500(work: &Io500Workload, named: bool) -> String {
    let seconds = |seconds: u32| format_setting(seconds.into(), Unit::Second, 3);
    let writes = Io500Phase::ALL.into_iter().filter(|phase| phase.is_write()).count();
    let parts = [
        message!("plan-io500-phases", n = Io500Phase::ALL.len()),
        message!("plan-io500-writes", n = writes, time = seconds(work.stonewall_s)),
        message!("threads", n = work.tasks),
    ];
    let folder = named.then(|| work.folder.display().to_string());
    let short = (work.stonewall_s < VALID_STONEWALL_S)
        .then(|| message!("plan-io500-invalid", least = seconds(VALID_STONEWALL_S)));
    let parts: Vec<String> = parts.into_iter().chain(folder).collect();
    [join_details(&parts)].into_iter().chain(short).collect::<Vec<_>>().join(semicolon())
}

/// Returns the folders of a case.
pub(super) fn folders(test: &FileTest) -> String {
    let mut folders: Vec<String> =
        test.workload.trees.iter().map(|tree| tree.anchor.display().to_string()).collect();
    folders.dedup();
    folders.join(comma())
}

/// Describes the workload of a case, without the sizes of its targets.
fn describe_workload(test: &StorageTest, named: bool) -> String {
    let (plan, workload) = (StoragePlan { phases: Vec::new() }, &test.workload);
    let load = match (&test.point, &workload.load) {
        // The other points of the curve determine the share.
        (Some(ResponseCurvePoint::Bend { .. }), StorageLoad::ShareOf { arrivals, .. }) => {
            with_detail(word("plan-near-the-knee"), arrival_law(*arrivals))
        }
        (_, load) => self::describe_load(load, &plan),
    };
    let is_synced = workload.targets.iter().any(|it| it.sync_at_end);
    let parts = [
        Some(describe_streams(workload)),
        named.then(|| describe_targets(workload)),
        (is_synced && !named).then(|| word("plan-fsync-at-the-end").to_owned()),
        Some(message!("attribute-in-flight", n = in_flight(workload).to_string())),
        Some(load),
        Some(describe_time(&workload.timing, 0.0)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(semicolon())
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
    let mut facts = vec![(word("plan-phases").to_owned(), plan.phases.len().to_string())];
    if !sizes.is_empty() {
        facts.push((word("plan-files-and-devices").to_owned(), sizes.len().to_string()));
    }
    if bytes > 0 {
        facts.push((word("plan-required-size").to_owned(), size(bytes)));
    }
    facts.push((word("plan-maximum-in-flight").to_owned(), most.to_string()));
    facts.push((word("column-time").to_owned(), total_time(plan)));
    facts
}

fn total_time(plan: &StoragePlan) -> String {
    let seconds = |phase: &StoragePhase| {
        let timing = &phase.workload.timing;
        phase.pause_before_s + timing.warmup_s + timing.duration_s.unwrap_or(0.0)
    };
    let sum: f64 = plan.phases.iter().map(seconds).sum();
    let open = plan.phases.iter().filter(|it| it.workload.timing.duration_s.is_none()).count();
    match open {
        0 => planned_time(sum, 4),
        open if open == plan.phases.len() => word("plan-until-the-work-is-done").to_owned(),
        open => {
            message!("plan-and-open-phases", time = planned_time(sum, 4), n = open)
        }
    }
}

fn phase_name(phase: &StoragePhase) -> String {
    let loops = phase.loops.iter().map(|(name, value)| format!("{name}={value}"));
    std::iter::once(phase.name.clone()).chain(loops).collect::<Vec<_>>().join(" ")
}

/// Returns the maximum number of I/O in flight, over all streams and targets.
fn in_flight(workload: &StorageWorkload) -> u64 {
    let in_flight = |stream: &StorageStream| {
        u64::from(stream.in_flight_per_target) * stream.targets.len() as u64
    };
    workload.streams.iter().map(in_flight).sum()
}

fn describe_streams(workload: &StorageWorkload) -> String {
    let mut phrases =
        distinct(workload.streams.iter().map(|stream| describe_stream(workload, stream)));
    let data = &workload.data;
    let verify = match data.verify {
        Verify::Off => None,
        Verify::OnRead | Verify::Stamped => Some(word("plan-read-checked").to_owned()),
        Verify::AfterWrite => Some(word("plan-write-checked").to_owned()),
    };
    let compressible = (data.compressible > 0.0).then(|| {
        message!("plan-compressible", share = format_percent_setting(100.0 * data.compressible))
    });
    phrases.extend(verify.into_iter().chain(compressible));
    phrases.join(semicolon())
}

fn describe_stream(workload: &StorageWorkload, stream: &StorageStream) -> String {
    let operation = match stream.read_share {
        share if share >= 1.0 => word("operation-read").to_owned(),
        share if share <= 0.0 => word("operation-write").to_owned(),
        share => message!("attribute-reads", share = format_percent_setting(100.0 * share)),
    };
    let share = (stream.rate_share < 1.0 && workload.streams.len() > 1).then(|| {
        message!("plan-of-the-rate", share = format_percent_setting(100.0 * stream.rate_share))
    });
    let own = stream.own_rate_per_s.map(|rate| format_setting(rate, Unit::IoPerSecond, 4));
    let parts = [
        Some(message!(
            "plan-operation",
            pattern = pattern(&stream.pattern),
            operation = operation
        )),
        Some(sizes(&stream.sizes)),
        Some(message!("threads", n = stream.threads)),
        own,
        share,
        (stream.sync_every > 0)
            .then(|| message!("plan-fsync-every", n = stream.sync_every.to_string())),
    ];
    join_details(&parts.into_iter().flatten().collect::<Vec<_>>())
}

fn pattern(pattern: &AccessPattern) -> String {
    match pattern {
        AccessPattern::Random => word("pattern-random").to_owned(),
        AccessPattern::Permutation => word("plan-permutation").to_owned(),
        AccessPattern::Strides { least_bytes, most_bytes } => {
            let [minimum, most] = [least_bytes, most_bytes].map(|it| size(*it));
            message!("plan-strided", low = minimum, high = most)
        }
        AccessPattern::Sequential { cursor, at_end, gap_bytes } => {
            let cursor = match cursor {
                Cursor::Shared => None,
                Cursor::PerThread => Some(word("plan-per-thread").to_owned()),
                Cursor::Divided => Some(word("plan-in-parts").to_owned()),
            };
            let end = (*at_end == AtEnd::Stop).then(|| word("plan-to-the-end").to_owned());
            let gap = size(*gap_bytes);
            let gap = (*gap_bytes > 0).then(|| message!("plan-with-gaps", size = gap));
            let first = word("pattern-sequential").to_owned();
            let parts: Vec<String> =
                [Some(first), cursor, end, gap].into_iter().flatten().collect();
            parts.join(" ")
        }
        AccessPattern::Mixed { random_share } => {
            message!("plan-partly-random", share = format_percent_setting(100.0 * random_share))
        }
        AccessPattern::Blocks { block_bytes, stride_bytes, shuffled, .. } => {
            let order = if *shuffled { "plan-permutation" } else { "pattern-sequential" };
            let order = word(order);
            let block = size(*block_bytes);
            let stride = size(*stride_bytes);
            match stride_bytes > block_bytes {
                true => {
                    message!("plan-blocks-every", order = order, size = block, stride = stride)
                }
                false => message!("plan-blocks", order = order, size = block),
            }
        }
    }
}

fn sizes(sizes: &[SizeShare]) -> String {
    let one = |it: &SizeShare| {
        let range = match it.max_bytes > it.min_bytes {
            true => format!("{}–{}", size(it.min_bytes), size(it.max_bytes)),
            false => size(it.min_bytes),
        };
        if sizes.len() > 1 {
            format!("{range} ({})", format_percent_setting(100.0 * it.share))
        } else {
            range
        }
    };
    sizes.iter().map(one).collect::<Vec<_>>().join(comma())
}

pub(super) fn describe_targets(workload: &StorageWorkload) -> String {
    if workload.engine == EngineChoice::Null {
        return word("plan-no-target").to_owned();
    }
    let named = workload.targets.iter().take(MAX_NAMED_TARGETS).map(describe_target);
    let mut text = named.collect::<Vec<_>>().join(comma());
    if workload.targets.len() > MAX_NAMED_TARGETS {
        let more = (workload.targets.len() - MAX_NAMED_TARGETS).to_string();
        text = format!("{text} {}", message!("and-more", n = more));
    }
    text
}

/// Returns the targets without fsync, which is a property of the case.
pub(super) fn targets_without_sync(workload: &StorageWorkload) -> String {
    let mut workload = workload.clone();
    workload.targets.iter_mut().for_each(|it| it.sync_at_end = false);
    describe_targets(&workload)
}

/// Describes the points of a curve by their shares of its maximum rate.
pub(super) fn describe_shares(tests: &[&StorageTest]) -> String {
    let mut percents = Vec::new();
    let mut bends = 0u64;
    for test in tests {
        match test.point {
            Some(ResponseCurvePoint::Share { percent }) => {
                percents.push(format_percent_setting(percent));
            }
            Some(ResponseCurvePoint::Bend { .. }) => bends += 1,
            Some(ResponseCurvePoint::Maximum) | None => {}
        }
    }
    let shares = message!("plan-shares", shares = percents.join(comma()));
    let knee = message!("plan-points-near-the-knee", n = bends);
    let parts = [(!percents.is_empty()).then_some(shares), (bends > 0).then_some(knee)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(semicolon())
}

fn describe_target(target: &StorageTarget) -> String {
    let sync = match target.sync {
        WriteSync::None => None,
        WriteSync::Data => Some("O_DSYNC".to_owned()),
        WriteSync::All => Some("O_SYNC".to_owned()),
    };
    let parts = [
        target.size_bytes.map(size),
        (!target.direct).then(|| word("plan-page-cache").to_owned()),
        sync,
        target.sync_at_end.then(|| word("plan-fsync-at-the-end").to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let path = target.path.display();
    if parts.is_empty() {
        path.to_string()
    } else {
        format!("{path} ({})", parts.join(comma()))
    }
}

fn describe_load(load: &StorageLoad, plan: &StoragePlan) -> String {
    match load {
        StorageLoad::Closed => word("plan-closed-loop").to_owned(),
        StorageLoad::Balanced => word("plan-in-given-shares").to_owned(),
        StorageLoad::Open { rate_per_s, arrivals } => with_detail(
            &format_setting(*rate_per_s, Unit::IoPerSecond, 4),
            arrival_law(*arrivals),
        ),
        StorageLoad::Capped { bytes_per_s } => {
            message!(
                "plan-at-most",
                value = format_setting(*bytes_per_s, Unit::BytePerSecond, 4)
            )
        }
        StorageLoad::ShareOf { phase, percent: share, arrivals, .. } => {
            let base = plan
                .phases
                .get(*phase)
                .map_or(word("plan-maximum-rate"), |it| it.name.as_str());
            let share =
                message!("plan-share-of", share = format_percent_setting(*share), what = base);
            with_detail(&share, arrival_law(*arrivals))
        }
    }
}

fn arrival_law(arrivals: ArrivalProcess) -> &'static str {
    match arrivals {
        ArrivalProcess::Exponential => word("plan-exponential-gaps"),
        ArrivalProcess::Uniform => word("plan-uniform-gaps"),
        ArrivalProcess::Constant => word("plan-constant-gaps"),
    }
}

fn describe_time(timing: &StorageTiming, pause_before_s: f64) -> String {
    let seconds = |seconds: f64| planned_time(seconds, 4);
    let parts = [
        (pause_before_s > 0.0).then(|| message!("plan-pause", time = seconds(pause_before_s))),
        (timing.warmup_s > 0.0)
            .then(|| message!("plan-warm-up", time = seconds(timing.warmup_s))),
        Some(timing.duration_s.map_or_else(|| word("plan-until-done").to_owned(), seconds)),
        timing.stop_after_bytes.map(|bytes| message!("plan-at-most", value = size(bytes))),
    ];
    join_details(&parts.into_iter().flatten().collect::<Vec<_>>())
}
