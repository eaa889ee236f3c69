//! Measurement method of each size, by preset: OSU's numbers of iterations, or assay's own batches.
//!
//! The numbers are those of OSU's programs, the same in 5.4.3 and 7 unless a comment differs.

use assay_kernels::mpi::{MpiPass, ReductionElement, Timing, WindowBuffers};
use assay_model::benchmark::{
    Collective, MpiBenchmarkKind, MpiTest, RemoteOperation, RmaSynchronization, WindowCreation,
};
use assay_model::workload::MpiPreset;

use super::options::MpiOptions;

/// Messages above this size are large and are sent fewer times.
const LARGE_BYTES: u64 = 8192;
/// The same limit for reductions: OSU 5 compares it with their number of floats.
const LARGE_REDUCTION_BYTES: u64 = 4 * LARGE_BYTES;
/// Largest default message between pairs, and of a collective.
const MAX_PAIR_BYTES: u64 = 4 << 20;
const MAX_COLLECTIVE_BYTES: u64 = 1 << 20;

/// Returns the type of the elements that the library computes with.
pub fn reduction_element(options: &MpiOptions) -> ReductionElement {
    match (options.element, options.preset) {
        (Some(element), _) => element,
        (None, MpiPreset::Osu7) => ReductionElement::Integer,
        (None, preset) if accesses_one_number(options.test.kind()) => match preset {
            // OSU 5 has numbers of the same length, but with a sign.
            MpiPreset::Osu5 => ReductionElement::Unsigned64,
            // Open MPI 4.1 crashes at numbers of 8 bytes.
            MpiPreset::Assay | MpiPreset::Osu7 => ReductionElement::Integer,
        },
        _ => ReductionElement::Float,
    }
}

fn accesses_one_number(kind: MpiBenchmarkKind) -> bool {
    kind.remote_operation().is_some_and(RemoteOperation::is_single_element)
}

/// Returns the creation of the memory that one-sided operations access.
pub fn window_creation(options: &MpiOptions) -> WindowCreation {
    options.window_creation.unwrap_or(options.test.kind().default_window_creation())
}

/// Returns the synchronisation of one-sided operations.
pub fn synchronization(options: &MpiOptions) -> RmaSynchronization {
    options.synchronization.unwrap_or(options.test.kind().default_synchronization())
}

/// Returns the settings that differ from the preset's and OSU's defaults, as OSU prints them; it does
/// not print those of buffers.
pub fn unusual_settings(options: &MpiOptions) -> Vec<String> {
    let kind = options.test.kind();
    let usual = reduction_element(&MpiOptions { element: None, ..options.clone() });
    let datatype = options
        .element
        .filter(|element| kind.is_reduction() && *element != usual)
        .map(|element| format!("Datatype: {}", element_name(element)));
    let buffers = (options.buffers == WindowBuffers::Multiple && kind.is_windowed())
        .then(|| "Buffers: multiple".to_owned());
    if !kind.is_one_sided() {
        let workers = options.workers.filter(|_| options.workers != default_workers(kind));
        let workers = workers.and_then(|(first, second)| {
            Some(format!("{}: {first}:{second}", workers_name(kind)?))
        });
        return datatype.into_iter().chain(buffers).chain(workers).collect();
    }
    let (creation, synchronization) = (window_creation(options), synchronization(options));
    let creation = (creation != kind.default_window_creation())
        .then(|| format!("Window creation: {}", creation.osu_name()));
    let synchronization = (synchronization != kind.default_synchronization())
        .then(|| format!("Synchronization: {}", synchronization.osu_name()));
    datatype.into_iter().chain(creation).chain(synchronization).collect()
}

/// Returns the name of MPI's type.
pub const fn element_name(element: ReductionElement) -> &'static str {
    match element {
        ReductionElement::Integer => "MPI_INT",
        ReductionElement::Float => "MPI_FLOAT",
        ReductionElement::Unsigned64 => "MPI_UINT64_T",
    }
}

/// Whether OSU sends messages of this size fewer times.
pub const fn is_large(bytes: u64) -> bool {
    bytes > LARGE_BYTES
}

/// Whether a turn is a single message or call; such turns are also timed one by one by default.
pub const fn has_single_turns(test: MpiTest) -> bool {
    let kind = test.kind();
    !kind.is_windowed()
        && !matches!(kind, MpiBenchmarkKind::Overlap(_) | MpiBenchmarkKind::Startup)
}

/// Returns the numbers of threads or forked processes of rank 0 and of rank 1, if the benchmark has
/// them.
pub fn workers(options: &MpiOptions) -> Option<(u32, u32)> {
    let default = default_workers(options.test.kind())?;
    Some(options.workers.unwrap_or(default))
}

/// Returns OSU's default numbers of threads or forked processes of both ranks.
const fn default_workers(kind: MpiBenchmarkKind) -> Option<(u32, u32)> {
    match kind {
        MpiBenchmarkKind::ThreadsLatency => Some((1, 2)),
        MpiBenchmarkKind::ForkedLatency => Some((2, 2)),
        _ => None,
    }
}

const fn workers_name(kind: MpiBenchmarkKind) -> Option<&'static str> {
    match kind {
        MpiBenchmarkKind::ThreadsLatency => Some("Threads"),
        MpiBenchmarkKind::ForkedLatency => Some("Processes"),
        _ => None,
    }
}

/// Returns the numbers of threads of rank 0 and of rank 1 that exchange messages; `None` if each rank has
/// one, in which the benchmark runs.
pub fn message_threads(options: &MpiOptions) -> Option<(u32, u32)> {
    workers(options).filter(|_| options.test.kind() == MpiBenchmarkKind::ThreadsLatency)
}

/// Returns the number of messages that a rank has memory for: those of a window, or one for each
/// thread.
pub fn messages_at_once(options: &MpiOptions) -> u32 {
    message_threads(options)
        .map_or_else(|| window(options), |(first, second)| first.max(second))
}

/// OSU's default number of messages in flight.
const DEFAULT_WINDOW: u32 = 64;

/// Returns the number of messages in flight in bandwidth tests.
pub fn window(options: &MpiOptions) -> u32 {
    options.window.unwrap_or(DEFAULT_WINDOW)
}

/// Returns the sizes in bytes, each twice the one before: OSU's, or the requested ones.
pub fn message_sizes(options: &MpiOptions) -> Vec<u64> {
    let kind = options.test.kind();
    if !options.test.has_sizes() {
        return vec![0];
    }
    if accesses_one_number(kind) {
        return vec![reduction_element(options).bytes() as u64];
    }
    let minimum_bytes = minimum_bytes(options);
    let maximum_bytes = match kind.collective() {
        Some(_) => MAX_COLLECTIVE_BYTES,
        None => MAX_PAIR_BYTES,
    };
    let minimum = options.minimum_bytes.unwrap_or(minimum_bytes);
    let maximum = options.maximum_bytes.unwrap_or(maximum_bytes.max(minimum));
    let doubled = |size: &u64| match size {
        0 => Some(1),
        size => size.checked_mul(2),
    };
    std::iter::successors(Some(minimum.max(minimum_bytes)), doubled)
        .take_while(|size| *size <= maximum)
        .collect()
}

/// Returns the bytes of the smallest message.
pub fn minimum_bytes(options: &MpiOptions) -> u64 {
    match options.test.kind() {
        // From 7.4 on OSU's programs count elements of a type, and send at least one.
        MpiBenchmarkKind::Latency
        | MpiBenchmarkKind::PairsLatency
        | MpiBenchmarkKind::PersistentLatency
        | MpiBenchmarkKind::ThreadsLatency
        | MpiBenchmarkKind::ForkedLatency
            if options.preset != MpiPreset::Osu7 =>
        {
            0
        }
        kind if kind.is_reduction() => 4,
        _ => 1,
    }
}

/// Returns OSU's pass for one figure: untimed turns, timed turns, and the points where the clock is
/// read.
pub fn osu_pass(options: &MpiOptions, bytes: u64) -> MpiPass {
    let kind = options.test.kind();
    let large_bytes = match options.preset {
        MpiPreset::Osu5 if kind.collective().is_some_and(Collective::is_reduction) => {
            LARGE_REDUCTION_BYTES
        }
        _ => LARGE_BYTES,
    };
    let (iterations, warm_up) = match (kind, bytes > large_bytes) {
        (MpiBenchmarkKind::Startup, _) => (1, 0),
        // These two programs of OSU use one number for all sizes.
        (MpiBenchmarkKind::PairsBandwidth, _) => (100, 10),
        (MpiBenchmarkKind::Overlap(Collective::Barrier), _) => (100, 10),
        (kind, false) if kind.is_windowed() => (100, 10),
        (kind, true) if kind.is_windowed() => (20, 2),
        (kind, false) if kind.collective().is_some() => (1000, 100),
        (kind, true) if kind.collective().is_some() => (100, 10),
        (_, false) => (10_000, 100),
        (_, true) => (1000, 10),
    };
    MpiPass {
        warm_up: options.warm_up.unwrap_or(warm_up),
        iterations: options.iterations.unwrap_or(iterations),
        timing: match options.preset {
            // Bandwidth is timed as a whole in every version.
            MpiPreset::Osu7 if !kind.is_windowed() => Timing::Turns,
            _ => Timing::Batch,
        },
    }
}
