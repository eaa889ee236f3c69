//! Expansion of storage measures: all block sizes, depths and points of a curve.

use super::sizes::{MEMORY_SHARE, format_size};
use super::{NamedWorkload, PlanError};
use crate::facts::HostFacts;
use crate::quantity::Bytes;
use crate::suite::{AccessOrder, StorageRequest};
use crate::workload::Workload;
use crate::workload::measurement_mode::{MeasurementMode, SteadyRule};
use crate::workload::storage::{
    AccessPattern, ArrivalProcess, AtEnd, Cursor, MAX_RATE_PER_S, RateRounding,
    ResponseCurvePoint, StorageData, StorageLoad, StorageStream, StorageTarget, StorageTest,
    StorageTiming, StorageWorkload, Verify,
};

/// Placeholder; every case gets a seed of its own when its name is known.
pub(super) const SEED: u64 = 0;
/// Shares of a case's time for measuring and for the warm-up; the rest is for opening and closing.
const MEASURED_SHARE: f64 = 0.8;
const WARMUP_SHARE: f64 = 0.1;
/// Possible lengths of an interval in seconds, and the target number of intervals in a test. The
/// first length that gives at most this number is taken.
const INTERVALS_S: [f64; 4] = [0.1, 0.2, 0.5, 1.0];
const INTERVALS: f64 = 60.0;
/// Maximum I/O in flight over all targets; more exceed any kernel or memory. Without I/O, too, each
/// has a slot and a buffer.
const MAX_IN_FLIGHT: u64 = 65_536;
pub(super) const MAX_BLOCK_BYTES: u64 = 1 << 30;

/// Returns all cases of the request, within `budget_s` in total.
pub(super) fn resolve(
    request: &StorageRequest,
    host: &HostFacts,
    budget_s: f64,
) -> Result<Vec<NamedWorkload>, PlanError> {
    check(request)?;
    let bends = if request.curve.is_empty() { 0 } else { request.bend_points as usize };
    // The budget is divided by the maximum number of measurements: a case keeps to its share even
    // if it needs all of its rounds or steps.
    let maximum = request.mode.max_measurements() as usize + request.curve.len() + bends;
    let measurements = request.bytes.len() * request.depths.len() * maximum;
    if measurements > super::MAX_CASES {
        let (what, given) = ("a number of cases".to_owned(), measurements as u64);
        return Err(PlanError::NumberTooLarge { what, given, most: super::MAX_CASES as u64 });
    }
    let timing = timing(request, budget_s / measurements as f64);
    let mut named = Vec::new();
    for bytes in &request.bytes {
        for depth in &request.depths {
            named.extend(curve_points(request, *bytes, *depth, timing));
        }
    }
    for test in named.iter().filter_map(|(_, workload)| workload.as_storage()) {
        check_buffers(&test.workload, host)?;
    }
    // Only the first case preconditions the targets, which all cases share.
    if let Some(first) = named.first_mut().and_then(|(_, work)| work.as_storage_mut()) {
        first.precondition_passes = request.precondition_passes;
    }
    Ok(named)
}

fn curve_points(
    request: &StorageRequest,
    bytes: Bytes,
    depth: u32,
    timing: StorageTiming,
) -> Vec<NamedWorkload> {
    let name = test_name(request, bytes, depth);
    let load = match request.rate {
        Some((rate_per_s, arrivals)) => StorageLoad::Open { rate_per_s, arrivals },
        None => StorageLoad::Closed,
    };
    let test = |point: Option<ResponseCurvePoint>, load: StorageLoad| StorageTest {
        name: name.clone(),
        course: match point {
            None | Some(ResponseCurvePoint::Maximum) => request.mode,
            Some(ResponseCurvePoint::Share { .. } | ResponseCurvePoint::Bend { .. }) => {
                MeasurementMode::Once
            }
        },
        point,
        provisioned_bytes_per_s: request.provisioned_bytes_per_s,
        precondition_passes: 0,
        workload: workload(request, bytes, depth, load, timing),
    };
    if request.curve.is_empty() {
        return vec![(name.clone(), Workload::Storage(Box::new(test(None, load))))];
    }
    let maximum = test(Some(ResponseCurvePoint::Maximum), load);
    let maximum = (format!("{name}/max"), Workload::Storage(Box::new(maximum)));
    let load = |percent| StorageLoad::ShareOf {
        phase: 0,
        percent,
        rounding: RateRounding::Exact,
        arrivals: ArrivalProcess::Exponential,
    };
    let share_point = |percent: &f64| {
        let test = test(Some(ResponseCurvePoint::Share { percent: *percent }), load(*percent));
        (format!("{name}/{percent}%"), Workload::Storage(Box::new(test)))
    };
    let bend_point = |nth: u32| {
        // The actual share is known only after the points before it are measured.
        let test = test(Some(ResponseCurvePoint::Bend { nth }), load(100.0));
        (format!("{name}/bend-{nth}"), Workload::Storage(Box::new(test)))
    };
    std::iter::once(maximum)
        .chain(request.curve.iter().map(share_point))
        .chain((1..=request.bend_points).map(bend_point))
        .collect()
}

/// Returns the name of a test: `random-read-8KiB`, with the depth if there are several.
fn test_name(request: &StorageRequest, bytes: Bytes, depth: u32) -> String {
    let order = match request.order {
        AccessOrder::Random => "random",
        AccessOrder::Sequential => "sequential",
        AccessOrder::Parts => "parts",
    };
    let operation = operation_name(request.read_share);
    let size = bytes.to_string().replace(' ', "");
    let mut name = match &request.name {
        Some(name) if request.bytes.len() > 1 => format!("{name}-{size}"),
        Some(name) => name.clone(),
        None => format!("{order}-{operation}-{size}"),
    };
    if request.depths.len() > 1 {
        name.push_str("-depth-");
        name.push_str(&depth.to_string());
    }
    name
}

/// Returns the name of the operation: `read`, `write` or `mix`.
fn operation_name(read_share: f64) -> &'static str {
    match read_share {
        share if share >= 1.0 => "read",
        share if share <= 0.0 => "write",
        _ => "mix",
    }
}

fn timing(request: &StorageRequest, budget_s: f64) -> StorageTiming {
    // The length of a round follows the SNIA standard, not the budget.
    let round_s =
        matches!(request.mode, MeasurementMode::Rounds(_)).then_some(SteadyRule::ROUND_S);
    divide_budget(request.length_s.or(round_s), request.warmup_s, budget_s)
}

/// Divides a budget into measured time and warm-up, if they are not given.
pub(super) fn divide_budget(
    length_s: Option<f64>,
    warmup_s: Option<f64>,
    budget_s: f64,
) -> StorageTiming {
    let duration_s = length_s.unwrap_or(MEASURED_SHARE * budget_s);
    let warmup_s = warmup_s.unwrap_or(WARMUP_SHARE * length_s.unwrap_or(budget_s));
    let is_long_enough = |it: &f64| *it >= duration_s / INTERVALS;
    let interval_s = INTERVALS_S.into_iter().find(is_long_enough).unwrap_or(1.0);
    StorageTiming {
        warmup_s,
        duration_s: Some(duration_s),
        interval_s: interval_s.min(duration_s),
        stop_after_bytes: None,
    }
}

fn workload(
    request: &StorageRequest,
    bytes: Bytes,
    depth: u32,
    load: StorageLoad,
    timing: StorageTiming,
) -> StorageWorkload {
    let targets: Vec<StorageTarget> = request
        .targets
        .iter()
        .map(|target| StorageTarget {
            direct: !request.buffered,
            sync_at_end: request.sync_at_end && request.read_share < 1.0,
            ..StorageTarget::new(
                target.path.display().to_string(),
                target.path.clone(),
                target.bytes,
            )
        })
        .collect();
    let sequential =
        |cursor| AccessPattern::Sequential { cursor, at_end: AtEnd::Wrap, gap_bytes: 0 };
    let pattern = match request.order {
        AccessOrder::Random => AccessPattern::Random,
        AccessOrder::Sequential => sequential(Cursor::Shared),
        AccessOrder::Parts => sequential(Cursor::Divided),
    };
    let stream = StorageStream {
        name: operation_name(request.read_share).to_owned(),
        targets: (0..targets.len()).collect(),
        threads: request.threads,
        in_flight_per_target: depth,
        ..StorageStream::new(pattern, bytes.0, request.read_share)
    };
    StorageWorkload {
        targets,
        streams: vec![stream],
        load,
        timing,
        engine: request.engine,
        data: StorageData { compressible: 0.0, verify: Verify::Off },
        seed: SEED,
    }
}

fn check(request: &StorageRequest) -> Result<(), PlanError> {
    if request.targets.is_empty() {
        return Err(PlanError::NoTarget);
    }
    let zero_error = |what| Err(PlanError::Zero { what });
    let too_large_error = |what: &str, given, most| {
        Err(PlanError::NumberTooLarge { what: what.to_owned(), given, most })
    };
    for bytes in &request.bytes {
        match bytes.0 {
            0 => return Err(PlanError::ZeroSize { what: "the size of a block" }),
            it if it > MAX_BLOCK_BYTES => {
                let (given, most) = (Bytes(it), Bytes(MAX_BLOCK_BYTES));
                return Err(PlanError::SizeTooLarge { what: "a block", given, most });
            }
            it => {
                let is_smaller = |size: &u64| *size < it;
                if let Some(size) =
                    request.targets.iter().filter_map(|t| t.bytes).find(is_smaller)
                {
                    return Err(PlanError::TooSmall {
                        what: "the target",
                        given: Bytes(size).to_string(),
                        minimum: format!("one block of {bytes}"),
                    });
                }
            }
        }
    }
    if let Some((given, _)) = request.rate.filter(|(rate, _)| *rate > MAX_RATE_PER_S) {
        return Err(PlanError::RateTooLarge { given, most: MAX_RATE_PER_S });
    }
    if request.threads == 0 {
        return zero_error("the number of threads");
    }
    for depth in &request.depths {
        let in_flight = u64::from(*depth) * request.targets.len() as u64;
        match *depth {
            0 => return zero_error("the depth"),
            depth if depth < request.threads => {
                return Err(PlanError::DepthBelowThreads { depth, threads: request.threads });
            }
            _ if in_flight > MAX_IN_FLIGHT => {
                return too_large_error("the depth", in_flight, MAX_IN_FLIGHT);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that the buffers of all I/O in flight fit into the memory that the host can give. A
/// control group ends a process that exceeds its limit without a message.
///
/// # Errors
/// [`PlanError::NotEnoughMemory`].
pub fn check_buffers(workload: &StorageWorkload, host: &HostFacts) -> Result<(), PlanError> {
    let usable = (host.usable_bytes() as f64 * MEMORY_SHARE) as u64;
    let need = workload.buffers();
    if !host.has_known_memory() || need.total_bytes <= usable {
        return Ok(());
    }
    let buffers = match need.count {
        1 => "one buffer".to_owned(),
        count => format!("{count} buffers"),
    };
    let up_to = if need.is_uniform() { "" } else { "up to " };
    Err(PlanError::NotEnoughMemory {
        what: format!("I/O with {buffers} of {up_to}{}", Bytes(need.largest_bytes)),
        needed: format_size(need.total_bytes),
        usable: format_size(usable),
    })
}
