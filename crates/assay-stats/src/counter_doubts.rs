//! Doubts that kernel counters show about a case.
//!
//! Counters of devices include the traffic of others, so that shares of caches are minima. Nothing
//! is concluded from incomplete counters.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::Doubt;
use assay_model::kernel_counters::{
    CountedSeries, Counter, CounterLimit, CounterRecord, CounterUnit, OmissionReason,
    OmittedCounter,
};
use assay_model::quantity::Unit;
use assay_model::run::CaseRecord;
use assay_model::workload::Workload;

/// Smallest payload that is compared with a counter: metadata and other traffic of a quiet host are
/// far below 5 % of it.
const MIN_PAYLOAD_BYTES: u64 = 16 << 20;
/// Smallest share of the payload that a cache served: I/O in flight at the ends of a stretch, and
/// the rounding to sectors, are below it.
const MIN_CACHED_SHARE: f64 = 0.05;
/// Largest ratio of a network device's bytes to those with headers in frames of full size; ACKs of
/// the opposite direction take 2 %.
const MAX_CARD_EXCESS: f64 = 1.05;
/// Smallest ratio of a network device's bytes to the payload.
const MIN_CARD_FACTOR: f64 = 0.98;
/// Bytes around a frame's payload: Ethernet with a VLAN tag.
const FRAME_BYTES: f64 = 18.0;
/// Bytes of a packet before its payload: IPv6, and TCP with time stamps.
const HEADER_BYTES: f64 = 72.0;
/// MTU of a device that does not show its own.
const DEFAULT_MTU: f64 = 1500.0;
/// Smallest share of time in interrupts of a CPU without time for anything else: a tick of the
/// account is 1 % of a second, and connections begin and end without load.
const BOUND_SHARE: f64 = 0.95;
/// Largest share of time in interrupts of all other CPUs together, to which the work could move.
const MAX_SHARE_OF_OTHERS: f64 = 0.5;
/// Smallest share of a limit that counts as reached: I/O that completes late counts in the next point.
const REACHED_SHARE: f64 = 0.95;
/// Shortest stretch for shares of time, in which a tick of 10 ms is 1 %.
const MIN_STRETCH_S: f64 = 1.0;

/// Returns the doubts that the kernel counters of a host show about a case.
pub fn counter_doubts(record: &CaseRecord, host: &str) -> Vec<Doubt> {
    let of_host = |it: &&CounterRecord| it.host.as_deref().is_none_or(|name| name == host);
    record.counters.iter().filter(of_host).flat_map(|it| find_doubts(record, it)).collect()
}

fn find_doubts(record: &CaseRecord, counters: &CounterRecord) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if moves_files(&record.case.workload) {
        doubts.extend(cached_reads(record, counters));
        doubts.extend(cached_writes(record, counters));
        doubts.extend(rpc_retransmits(counters));
        doubts.extend(reached_limits(counters));
    }
    if record.case.workload.as_network().is_some() {
        doubts.extend(card_traffic(record, counters));
        doubts.extend(interrupt_bound(counters));
    }
    doubts
}

fn moves_files(workload: &Workload) -> bool {
    workload.as_storage().is_some() || workload.as_files().is_some()
}

/// Whether all targets of the case bypass the page cache of this host.
fn is_direct(record: &CaseRecord) -> bool {
    let workload = record.case.workload.as_storage().map(|test| &test.workload);
    let targets = workload.map_or(&[][..], |it| &it.targets);
    !targets.is_empty() && targets.iter().all(|target| target.direct)
}

/// Returns the sum of the counters of devices and of mounts, with their names; `None` unless all
/// places are counted.
fn moved_bytes(
    counters: &CounterRecord,
    [device, mount]: [Counter; 2],
) -> Option<(String, f64)> {
    // Without the counters of one place, the sum of the others says nothing.
    let concerns = |it: &OmittedCounter| {
        let counter = Counter::ALL.iter().find(|counter| it.name.ends_with(counter.id()));
        // A counter of a newer version is none of these; a path without counters may be.
        let is_place = it.reason != OmissionReason::NewerVersion || it.name.starts_with('/');
        counter.map_or(is_place, |counter| [device, mount].contains(counter))
    };
    let is_whole = !counters.omitted.iter().any(concerns);
    let totals =
        [device, mount].map(|counter| (counters.names(counter), counters.total(counter)));
    let counted = totals.into_iter().filter_map(|(names, total)| Some((names, total?)));
    let join = |(names, sum): (String, f64), (more, total): (String, f64)| {
        (format!("{names}, {more}"), sum + total)
    };
    counted.reduce(join).filter(|_| is_whole)
}

/// Returns 1 − bytes moved / payload, if it is a considerable share of a considerable payload.
fn cached_share(payload_bytes: u64, moved_bytes: f64) -> Option<f64> {
    let share = 1.0 - moved_bytes / payload_bytes as f64;
    (payload_bytes >= MIN_PAYLOAD_BYTES && share >= MIN_CACHED_SHARE).then_some(share)
}

fn cached_reads(record: &CaseRecord, counters: &CounterRecord) -> Option<Doubt> {
    let read_bytes = counters.payload?.read;
    let (place, moved_bytes) =
        moved_bytes(counters, [Counter::DeviceReadBytes, Counter::NfsReadBytes])?;
    let share = cached_share(read_bytes, moved_bytes)?;
    let is_direct = is_direct(record);
    Some(Doubt::CachedReads { place, share, read_bytes, moved_bytes, is_direct })
}

fn cached_writes(record: &CaseRecord, counters: &CounterRecord) -> Option<Doubt> {
    let written_bytes = counters.payload?.written;
    let (place, moved_bytes) =
        moved_bytes(counters, [Counter::DeviceWrittenBytes, Counter::NfsWrittenBytes])?;
    let share = cached_share(written_bytes, moved_bytes)?;
    let is_direct = is_direct(record);
    Some(Doubt::CachedWrites { place, share, written_bytes, moved_bytes, is_direct })
}

fn rpc_retransmits(counters: &CounterRecord) -> Option<Doubt> {
    let whole = |counter| counters.total(counter).map(|it| it as u64);
    let count = whole(Counter::NfsRetransmits).filter(|count| *count > 0)?;
    let calls = whole(Counter::NfsCalls)?;
    let mount = counters.names(Counter::NfsCalls);
    Some(Doubt::RpcRetransmits { mount, count, calls })
}

fn reached_limits(counters: &CounterRecord) -> Vec<Doubt> {
    let reached = |limit: &CounterLimit| {
        let counted = counters.of_counter(limit.counter).find(|it| it.of == limit.of)?;
        let (increase, seconds) =
            busy_part(counters, counted).unwrap_or((counted.total, counters.seconds));
        let reached_per_s = increase / seconds;
        let is_bytes = limit.counter.unit() == CounterUnit::Byte;
        let unit = if is_bytes { Unit::BytePerSecond } else { Unit::IoPerSecond };
        let is_reached = counters.payload.is_some()
            && counters.seconds >= MIN_STRETCH_S
            && reached_per_s >= REACHED_SHARE * limit.per_s;
        let (device, limit_per_s) = (limit.of.clone(), limit.per_s);
        is_reached.then_some(Doubt::IoLimitReached { device, limit_per_s, reached_per_s, unit })
    };
    counters.limits.iter().filter_map(reached).collect()
}

/// Returns the increase between the first and the last point with one, and the length in seconds;
/// `None` if that is too short. Opening and closing files takes long on a busy machine.
fn busy_part(counters: &CounterRecord, counted: &CountedSeries) -> Option<(f64, f64)> {
    let first = counted.points.iter().position(|increase| *increase > 0.0)?;
    let last = counted.points.iter().rposition(|increase| *increase > 0.0)?;
    let increases = counted.points.get(first + 1..last)?;
    let lengths = counters.points_s.get(first + 1..last)?.iter().map(|[from, to]| to - from);
    let seconds: f64 = lengths.sum();
    (seconds >= MIN_STRETCH_S).then(|| (increases.iter().sum(), seconds))
}

fn card_traffic(record: &CaseRecord, counters: &CounterRecord) -> Option<Doubt> {
    let payload = counters.payload?;
    let mtu = record.facts.get(&Attribute::MtuBytes).and_then(AttributeValue::as_number);
    let mtu = mtu.filter(|mtu| *mtu > 2.0 * HEADER_BYTES).unwrap_or(DEFAULT_MTU);
    let most = MAX_CARD_EXCESS * (mtu + FRAME_BYTES) / (mtu - HEADER_BYTES);
    let is_udp = record.case.workload.as_udp().is_some();
    let of_direction = |(counter, bytes): (Counter, u64)| {
        let factor = counters.total(counter)? / bytes as f64;
        // Datagrams are lost between socket and device: in the queue of the sender, and in the
        // buffer of the receiver.
        let is_expected = match (is_udp, counter) {
            (true, Counter::SentBytes) => factor <= most,
            (true, _) => factor >= MIN_CARD_FACTOR,
            (false, _) => (MIN_CARD_FACTOR..=most).contains(&factor),
        };
        let device = counters.names(counter);
        (bytes >= MIN_PAYLOAD_BYTES && !is_expected)
            .then_some(Doubt::CardTraffic { device, factor })
    };
    let directions =
        [(Counter::SentBytes, payload.written), (Counter::ReceivedBytes, payload.read)];
    let found = directions.into_iter().filter_map(of_direction);
    found.max_by(|a, b| a.severity().total_cmp(&b.severity()))
}

/// Returns the doubt about a single CPU that was in interrupts and softirqs all the time while the others
/// were not.
fn interrupt_bound(counters: &CounterRecord) -> Option<Doubt> {
    counters.payload.filter(|_| counters.seconds >= MIN_STRETCH_S)?;
    let total = |counter, of: &str| {
        counters.of_counter(counter).find(|it| it.of == of).map(|it| it.total)
    };
    let cpu = &counters.of_counter(Counter::CpuInterrupts).find(|it| !it.of.is_empty())?.of;
    let both = |counter| Some((total(counter, cpu)?, total(counter, "")?));
    let (interrupts, all) = (both(Counter::CpuInterrupts)?, both(Counter::CpuAll)?);
    let share = (interrupts.0 / all.0).min(1.0);
    // NaN of a machine with one CPU is not above the limit.
    let others = (interrupts.1 - interrupts.0) / (all.1 - all.0);
    let is_bound = share >= BOUND_SHARE && others <= MAX_SHARE_OF_OTHERS;
    is_bound.then(|| Doubt::InterruptBound { cpu: cpu.clone(), share })
}

#[cfg(test)]
mod tests;
