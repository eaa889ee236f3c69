//! Dimensions of the series of a workload.

use super::file_set::{FileOperation, FileOrder, FileStream, FileTest, FileTree};
use super::measurement_mode::MeasurementMode;
use super::storage::{
    AccessPattern, Cursor, EngineChoice, ResponseCurvePoint, StorageStream, StorageTest,
};
use super::{
    LinpackWorkload, MpiWorkload, NetworkTest, NetworkWorkload, PeakFlopsWorkload,
    StreamWorkload,
};
use crate::attribute::{Attribute, AttributeValue, Attributes};

pub(super) fn peak(work: &PeakFlopsWorkload) -> Attributes {
    Attributes::from([
        (Attribute::Placement, work.domain.placement.as_str().into()),
        (Attribute::Threads, work.domain.cpus.len().into()),
        (Attribute::InstructionSet, work.instruction_set.as_str().into()),
    ])
}

pub(super) fn linpack(work: &LinpackWorkload, by: &str) -> Attributes {
    // Only a tool knows the library that it multiplies with.
    let assay_blas = (by == "assay").then_some("assay");
    let blas = work.blas.as_deref().or(assay_blas);
    let mut dimensions = Attributes::from([
        (Attribute::N, work.n.into()),
        (Attribute::Threads, work.cpus.len().into()),
    ]);
    dimensions.extend(blas.map(|blas| (Attribute::Blas, blas.into())));
    dimensions
}

impl StreamWorkload {
    /// Returns the dimensions of one of several domains that run at the same time.
    pub fn domain_dimensions(&self, placement: &str) -> Attributes {
        let domains_of_placement =
            self.domains.iter().filter(|domain| domain.placement == placement);
        let threads: usize = domains_of_placement.map(|domain| domain.cpus.len()).sum();
        let mut dimensions = Attributes::from([
            (Attribute::Placement, placement.into()),
            (Attribute::Threads, threads.into()),
        ]);
        if self.domains.len() > 1 {
            dimensions.insert(Attribute::Concurrent, self.domains.len().into());
        }
        dimensions
    }
}

pub(super) fn stream(work: &StreamWorkload) -> Attributes {
    let names: Vec<&str> = work.domains.iter().map(|d| d.placement.as_str()).collect();
    let threads: usize = work.domains.iter().map(|domain| domain.cpus.len()).sum();
    Attributes::from([
        (Attribute::Placement, names.join("+").into()),
        (Attribute::Threads, threads.into()),
        (Attribute::BytesPerArray, work.bytes_per_array.into()),
    ])
}

pub(super) fn network(work: &NetworkWorkload) -> Attributes {
    let to = work.to.as_deref().unwrap_or("loopback");
    let mut dimensions = Attributes::from([(Attribute::To, to.into())]);
    match &work.test {
        NetworkTest::Throughput(test) => {
            dimensions.extend([
                (Attribute::Streams, test.streams.into()),
                (Attribute::Direction, test.direction.name().into()),
                (Attribute::Copy, test.copy.into()),
                (Attribute::Seconds, test.seconds.into()),
            ]);
            if test.segmentation {
                dimensions.insert(Attribute::Segmentation, true.into());
            }
            dimensions
                .extend(test.rate_bit_per_s.map(|rate| (Attribute::RateBitPerS, rate.into())));
            dimensions.extend(
                test.congestion.as_deref().map(|name| (Attribute::Congestion, name.into())),
            );
        }
        NetworkTest::Latency(test) => {
            let waiting = if test.spin { "spin" } else { "sleep" };
            dimensions.extend([
                (Attribute::Bytes, test.bytes.into()),
                (Attribute::Waiting, waiting.into()),
                (Attribute::LoadStreams, test.load_streams.into()),
            ]);
            let busy_poll_s = test.busy_poll_us.map(|us| f64::from(us) * 1e-6);
            dimensions
                .extend(busy_poll_s.map(|seconds| (Attribute::BusyPollS, seconds.into())));
            dimensions
                .extend(test.rate_per_s.map(|rate| (Attribute::MessagesPerS, rate.into())));
        }
        NetworkTest::Connections(test) => {
            dimensions.extend([
                (Attribute::Streams, test.streams.into()),
                (Attribute::Bytes, test.bytes.into()),
            ]);
        }
    }
    dimensions
}

pub(super) fn mpi(work: &MpiWorkload) -> Attributes {
    let mut dimensions = Attributes::from([
        (Attribute::Mpi, work.mpi.label().into()),
        (Attribute::Abi, work.mpi.abi.name().into()),
        (Attribute::Ranks, work.ranks.into()),
        (Attribute::Placement, work.placement.placement.as_str().into()),
    ]);
    // A rank knows the library that its launcher loaded, but not always its prefix.
    if !work.mpi.prefix.is_empty() {
        dimensions.insert(Attribute::Prefix, work.mpi.prefix.as_str().into());
    }
    if !work.preset.is_assay() {
        dimensions.insert(Attribute::Preset, work.preset.name().into());
    }
    let hosts = [(Attribute::Hosts, &work.hosts.list), (Attribute::Hostfile, &work.hosts.file)];
    dimensions.extend(
        hosts.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?.into()))),
    );
    dimensions
}

pub(super) fn storage(test: &StorageTest) -> Attributes {
    let work = &test.workload;
    let mut dimensions = Attributes::from([
        (Attribute::Target, target_names(test).into()),
        (Attribute::Engine, engine_name(work.engine).into()),
    ]);
    // Phases of another tool's language have a name of their own.
    if !test.name.is_empty() {
        dimensions.insert(Attribute::Test, test.name.as_str().into());
    }
    dimensions.extend(storage_streams(&work.streams));
    let rate = work.load.rate_per_s();
    dimensions.extend(rate.map(|rate| (Attribute::RequestedRate, rate.into())));
    dimensions.extend(test.point.and_then(|point| match point {
        ResponseCurvePoint::Maximum => Some((Attribute::Point, "max".into())),
        ResponseCurvePoint::Share { percent } => {
            Some((Attribute::PercentOfMax, percent.into()))
        }
        // The share is determined while measuring.
        ResponseCurvePoint::Bend { .. } => None,
    }));
    if let MeasurementMode::Search(goal) = test.course {
        dimensions.insert(Attribute::Goal, goal.to_string().into());
    }
    if test.precondition_passes > 0 {
        dimensions.insert(Attribute::PreconditionPasses, test.precondition_passes.into());
    }
    if work.targets.iter().any(|target| !target.direct) {
        dimensions.insert(Attribute::PageCache, true.into());
    }
    dimensions
}

/// Returns the conditions of streams that run together: their sums, and values that all share.
fn storage_streams(streams: &[StorageStream]) -> Attributes {
    let mut dimensions = Attributes::new();
    if streams.is_empty() {
        return dimensions;
    }
    let reads = streams.iter().all(|stream| stream.read_share >= 1.0);
    let writes = streams.iter().all(|stream| stream.read_share <= 0.0);
    let operation = match (reads, writes) {
        (true, _) => "read",
        (_, true) => "write",
        _ => "mix",
    };
    dimensions.insert(Attribute::Operation, operation.into());
    // Another tool's jobs can differ in their shares, patterns and sizes.
    let share = common_value(streams.iter().map(|stream| Some(stream.read_share)));
    let share = share.filter(|_| operation == "mix");
    dimensions.extend(share.map(|share| (Attribute::ReadShare, share.into())));
    let patterns = streams.iter().map(|stream| Some(pattern_name(&stream.pattern)));
    let pattern = common_value(patterns).unwrap_or("mixed");
    let depth: u64 = streams.iter().map(|stream| u64::from(stream.in_flight_per_target)).sum();
    let threads: u64 = streams.iter().map(|stream| u64::from(stream.threads)).sum();
    dimensions.extend([
        (Attribute::Pattern, AttributeValue::from(pattern)),
        (Attribute::Depth, depth.into()),
        (Attribute::Threads, threads.into()),
    ]);
    let size = |stream: &StorageStream| stream.sizes.first().map(|size| size.max_bytes);
    let size = common_value(streams.iter().map(size));
    dimensions.extend(size.map(|bytes| (Attribute::Bytes, bytes.into())));
    dimensions
}

pub(super) fn files(test: &FileTest) -> Attributes {
    let work = &test.workload;
    let trees = || work.trees.iter();
    let count =
        |tree: &FileTree| if tree.files == 0 { tree.directories() } else { tree.file_count() };
    let count = trees().try_fold(0u64, |sum, tree| sum.checked_add(count(tree)?));
    let threads: u64 = work.streams.iter().map(|stream| u64::from(stream.threads)).sum();
    // A suite names the folder of its trees, another tool's language each tree itself.
    let is_named = !test.name.is_empty();
    let folder = |tree: &FileTree| {
        let above = tree.anchor.parent().filter(|_| is_named);
        above.unwrap_or(&tree.anchor).display().to_string()
    };
    let mut dimensions = Attributes::from([
        (Attribute::Target, join_paths(trees().map(folder)).into()),
        (Attribute::Files, count.unwrap_or(u64::MAX).into()),
        (Attribute::Threads, threads.into()),
    ]);
    if is_named {
        dimensions.insert(Attribute::Operation, test.name.as_str().into());
    }
    // Values that differ between trees or streams are not dimensions of the case.
    let file_bytes = |tree: &FileTree| (tree.files > 0).then(|| tree.mean_file_bytes() as u64);
    let levels = |tree: &FileTree| (tree.files > 0).then_some(tree.depth);
    dimensions.extend(
        common_value(trees().map(file_bytes)).map(|it| (Attribute::FileBytes, it.into())),
    );
    dimensions
        .extend(common_value(trees().map(levels)).map(|it| (Attribute::Levels, it.into())));
    let partial_size = |stream: &FileStream| {
        let moves_data = matches!(stream.operation, FileOperation::Read | FileOperation::Write);
        let size = stream.sizes.first().filter(|_| moves_data)?.max_bytes;
        // Whole files are the default and need no dimension.
        let mean_bytes = work.trees.get(stream.tree)?.mean_file_bytes() as u64;
        (size != mean_bytes).then_some(size)
    };
    dimensions.extend(
        common_value(work.streams.iter().map(partial_size))
            .map(|it| (Attribute::Bytes, it.into())),
    );
    let is_random =
        |stream: &FileStream| matches!(stream.order, FileOrder::Random | FileOrder::Skewed(_));
    if !work.streams.is_empty() && work.streams.iter().all(is_random) {
        dimensions.insert(Attribute::Pattern, "random".into());
    }
    dimensions
        .extend(work.load.rate_per_s().map(|rate| (Attribute::RequestedRate, rate.into())));
    dimensions
}

/// Returns the common value, if all are equal.
fn common_value<T: PartialEq>(mut values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let first = values.next()??;
    values.all(|it| it.as_ref() == Some(&first)).then_some(first)
}

/// Maximum number of listed targets, as every series contains the list; otherwise only the first is
/// listed.
const MAX_LISTED_TARGETS: usize = 16;

fn target_names(test: &StorageTest) -> String {
    let work = &test.workload;
    if work.engine == EngineChoice::Null {
        return "none".to_owned();
    }
    join_paths(work.targets.iter().map(|target| target.path.display().to_string()))
}

/// Joins the paths without duplicates.
fn join_paths(paths: impl Iterator<Item = String>) -> String {
    let mut listed: Vec<String> = Vec::new();
    for path in paths {
        if !listed.contains(&path) {
            listed.push(path);
        }
    }
    if listed.len() > MAX_LISTED_TARGETS {
        let count = listed.len();
        listed.truncate(1);
        listed.push(format!("\u{2026} ({count})"));
    }
    listed.join(", ")
}

const fn engine_name(engine: EngineChoice) -> &'static str {
    match engine {
        EngineChoice::Auto => "auto",
        EngineChoice::IoUring => "io_uring",
        EngineChoice::IoUringPolled => "io_uring-polled",
        EngineChoice::Libaio => "libaio",
        EngineChoice::Threads => "threads",
        EngineChoice::Null => "null",
    }
}

const fn pattern_name(pattern: &AccessPattern) -> &'static str {
    match pattern {
        AccessPattern::Random | AccessPattern::Permutation => "random",
        AccessPattern::Strides { .. } => "strides",
        AccessPattern::Sequential { cursor: Cursor::Shared, .. } => "sequential",
        AccessPattern::Sequential { .. } => "parts",
        AccessPattern::Mixed { .. } => "mixed",
        AccessPattern::Blocks { shuffled: true, .. } => "random",
        AccessPattern::Blocks { shuffled: false, .. } => "parts",
    }
}
