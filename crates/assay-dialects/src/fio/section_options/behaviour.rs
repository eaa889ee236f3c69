//! Options on the behaviour of a job: pauses, skew, CPUs, zones, file rotation, end conditions.

use assay_model::workload::storage::{
    ExpectedOrder, FileCall, MemoryPolicy, MemoryPolicyKind, NewFile, TargetRotation,
};
use serde::{Deserialize, Serialize};

use super::super::value::{self, NumberBase};
use super::parse_values::parse_percentage;
use super::priorities::{self, CommandPriorityOptions};

/// Behaviour of a job's I/O; the defaults are fio's.
#[derive(Debug, Clone, PartialEq)]
pub struct IoBehaviour {
    /// `random_distribution`.
    pub distribution: OffsetDistribution,
    /// `thinktime` in nanoseconds; 0 = none.
    pub think_ns: u64,
    /// `thinktime_blocks`; 0 = one.
    pub think_after_ios: u32,
    /// `thinktime_iotime` in nanoseconds; 0 = none.
    pub think_io_ns: u64,
    /// `cpus_allowed` or `cpumask`.
    pub cpus: Vec<usize>,
    /// `cpus_allowed_policy=split`: one CPU per clone.
    pub splits_cpus: bool,
    /// `numa_cpu_nodes`.
    pub nodes: Vec<usize>,
    /// `numa_mem_policy`; without nodes, it is for all of them.
    pub memory_policy: Option<MemoryPolicy>,
    /// `max_latency` in nanoseconds.
    pub max_latency_ns: Option<u64>,
    /// `thinktime_spin` in nanoseconds.
    pub think_spin_ns: u64,
    /// `exitall`.
    pub ends_all: bool,
    /// `exit_what=all`: `exitall` also ends jobs that have not begun.
    pub ends_later_jobs: bool,
    /// `nice`.
    pub nice: i32,
    /// `prio`: level within the class.
    pub io_level: Option<u16>,
    /// `prioclass`: 1 = real time, 2 = best effort, 3 = idle; 0 = none.
    pub io_class: Option<u16>,
    /// `priohint`.
    pub io_hint: u16,
    /// `cmdprio_percentage` and its like.
    pub priorities: CommandPriorityOptions,
    /// `pre_read`.
    pub pre_reads: bool,
    /// `bs_unaligned`: sizes need not be multiples of the smallest.
    pub any_bytes: bool,
    /// `bs_is_seq_rand`: sequential I/O has the sizes of reads, random I/O those of writes.
    pub sizes_by_order: bool,
    /// `offset_align`: alignment of an offset in percent; `None` = the smallest I/O.
    pub offset_align_bytes: Option<u64>,
    /// `end_syncfs`: the sync at the end is one of the file system.
    pub syncs_file_system: bool,
    /// `fill_device`: a full target ends the job.
    pub ends_when_full: bool,
    /// `file_append`: I/O begins at the end of an existing file.
    pub appends: bool,
    /// `create_only`: its files are created, and nothing else happens.
    pub creates_only: bool,
    /// `create_on_open`: a new file is neither written nor allocated before.
    pub creates_on_open: bool,
    /// `file_service_type`.
    pub turns: Option<TargetRotation>,
    /// Its postfix: I/O to a file before the next one.
    pub turn_length: u64,
    /// `ramp_size` in bytes; 0 = none.
    pub ramp_bytes: u64,
    /// `openfiles`: files in use at once; 0 = all.
    pub open_files: usize,
    /// `zonemode=strided`.
    pub strided: bool,
    /// `zonesize` in bytes.
    pub zone_bytes: u64,
    /// `zonerange` in bytes; 0 = same as `zonesize`.
    pub zone_range_bytes: u64,
    /// `zoneskip` in bytes.
    pub zone_skip_bytes: u64,
    /// `flow`: its share of the I/O among the jobs that have a flow; 0 = no flow.
    pub flow: u64,
    /// `flow_id`: the flow that the job belongs to.
    pub flow_id: u64,
    /// `wait_for`: name of the job that must end first.
    pub waits_for: Option<String>,
    /// `steadystate`.
    pub steady: Option<SteadyCriterion>,
    /// `steadystate_duration` in seconds.
    pub steady_duration_s: f64,
    /// `steadystate_ramp_time` in seconds.
    pub steady_ramp_s: f64,
    /// `invalidate=0`.
    pub keeps_cache: bool,
    /// `fadvise_hint`.
    pub hint: FadviseHint,
    /// `fallocate`: state of a new file that is only written.
    pub new_file: NewFile,
    /// `overwrite`: lay the file out even if it is only written.
    pub overwrites: bool,
    /// `mem=shmhuge` or `mmaphuge`.
    pub huge_pages: bool,
    /// `fdatasync` rather than `fsync`.
    pub syncs_data_only: bool,
    /// Flags of `sync_file_range`, which is called instead of `fsync`.
    pub sync_range_flags: Option<u32>,
    /// `stat_type`: the call of `filestat`.
    pub inspection: FileCall,
}

impl IoBehaviour {
    /// Returns the I/O priority as `ioprio_set(2)` takes it, if one is set. A level without a class
    /// is one of best effort, as in fio.
    pub fn io_priority(&self) -> Option<u16> {
        if self.io_level.is_none() && self.io_class.is_none() {
            return None;
        }
        let class = priorities::class_or_best_effort(self.io_class.unwrap_or(0));
        Some(priorities::priority(class, self.io_level.unwrap_or(0), self.io_hint))
    }
}

/// `fadvise_hint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FadviseHint {
    /// Access order of the job.
    #[default]
    ByOrder,
    /// Fixed access order.
    Always(ExpectedOrder),
    /// No advice.
    None,
}

impl Default for IoBehaviour {
    fn default() -> Self {
        Self {
            distribution: OffsetDistribution::Uniform,
            think_ns: 0,
            think_after_ios: 0,
            think_io_ns: 0,
            cpus: vec![],
            splits_cpus: false,
            nodes: vec![],
            memory_policy: None,
            max_latency_ns: None,
            think_spin_ns: 0,
            ends_all: false,
            ends_later_jobs: false,
            nice: 0,
            io_level: None,
            io_class: None,
            io_hint: 0,
            priorities: CommandPriorityOptions::default(),
            pre_reads: false,
            any_bytes: false,
            sizes_by_order: false,
            offset_align_bytes: None,
            syncs_file_system: false,
            ends_when_full: false,
            appends: false,
            creates_only: false,
            creates_on_open: false,
            turns: None,
            turn_length: 1,
            open_files: 0,
            ramp_bytes: 0,
            strided: false,
            zone_bytes: 0,
            zone_range_bytes: 0,
            zone_skip_bytes: 0,
            flow: 0,
            flow_id: 0,
            waits_for: None,
            steady: None,
            steady_duration_s: 0.0,
            steady_ramp_s: 0.0,
            keeps_cache: false,
            hint: FadviseHint::ByOrder,
            new_file: NewFile::Allocated,
            overwrites: false,
            huge_pages: false,
            syncs_data_only: false,
            sync_range_flags: None,
            inspection: FileCall::Inspect,
        }
    }
}

/// `random_distribution`.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum OffsetDistribution {
    /// Uniform distribution.
    #[default]
    Uniform,
    /// `zipf:θ:centre`.
    Zipf {
        /// θ.
        theta: f64,
        /// Share of the range.
        centre: Option<f64>,
    },
    /// `pareto:h:centre`.
    Pareto {
        /// h.
        area: f64,
        /// Share of the range.
        centre: Option<f64>,
    },
    /// `normal:percent:centre`.
    Normal {
        /// Deviation.
        percent: f64,
        /// Share of the range.
        centre: Option<f64>,
    },
    /// `zoned` or `zoned_abs`: zones for reads and for writes.
    Zoned {
        /// `zoned_abs`: their sizes are in bytes.
        in_bytes: bool,
        /// Zones for reads and for writes.
        ways: [Vec<ZoneShare>; 2],
    },
}

impl OffsetDistribution {
    /// Whether its zone is the only one of a direction and has no size.
    pub(in crate::fio) fn has_sizeless_zone(&self) -> bool {
        let Self::Zoned { ways, .. } = self else { return false };
        let is_sizeless = |zone: &ZoneShare| {
            matches!(zone.size, ZoneSize::Rest | ZoneSize::Bytes(0))
                || zone.size == ZoneSize::Percent(0.0)
        };
        ways.iter().any(|way| matches!(way.as_slice(), [zone] if is_sizeless(zone)))
    }
}

/// `random_generator`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OffsetGenerator {
    /// 32 bits.
    #[default]
    Tausworthe,
    /// A shift register, which draws each block once.
    Lfsr,
    /// 64 bits.
    Tausworthe64,
}

/// Zone of `zoned` or `zoned_abs`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZoneShare {
    /// Percent of all I/O.
    pub io_percent: f64,
    /// Size of the zone.
    pub size: ZoneSize,
}

/// The size of a zone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ZoneSize {
    /// Percent of the file.
    Percent(f64),
    /// Bytes.
    Bytes(u64),
    /// Remainder that the other zones leave.
    Rest,
}

/// `steadystate`: criterion and limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyCriterion {
    /// Whether the criterion is on IO/s rather than bandwidth.
    pub uses_iops: bool,
    /// Whether the criterion is the slope of a least-squares line rather than the largest deviation
    /// from the mean.
    pub by_slope: bool,
    /// Limit: a percentage of the mean, or IO/s or B/s.
    pub limit: f64,
    /// Whether the limit is a percentage.
    pub in_percent: bool,
}

/// Maximum CPU number; no machine has more.
const MAX_CPUS: usize = 8192;
/// Maximum number of NUMA nodes, that of Linux (`CONFIG_NODES_SHIFT`).
const MAX_NODES: usize = 1024;

pub(in crate::fio) fn parse_hint(text: &str) -> Result<FadviseHint, String> {
    match text {
        "0" => Ok(FadviseHint::None),
        "1" => Ok(FadviseHint::ByOrder),
        "random" => Ok(FadviseHint::Always(ExpectedOrder::Random)),
        "sequential" => Ok(FadviseHint::Always(ExpectedOrder::Sequential)),
        _ => Err("it must be 0, 1, random or sequential".to_owned()),
    }
}

pub(in crate::fio) fn parse_new_file(text: &str) -> Result<NewFile, String> {
    match text {
        "native" | "posix" | "1" => Ok(NewFile::Allocated),
        "keep" => Ok(NewFile::AllocatedPastEnd),
        "truncate" => Ok(NewFile::Hole),
        "none" | "0" => Ok(NewFile::Empty),
        _ => Err("it must be none, native, posix, keep or truncate".to_owned()),
    }
}

/// Returns whether `mem` selects huge pages; ignores the file after a colon.
pub(in crate::fio) fn parse_memory(text: &str) -> Result<bool, String> {
    match text.split(':').next().unwrap_or_default() {
        "malloc" | "shm" | "mmap" | "mmapshared" => Ok(false),
        "shmhuge" | "mmaphuge" => Ok(true),
        _ => Err("it must be malloc, shm, shmhuge, mmap, mmaphuge or mmapshared".to_owned()),
    }
}

/// Parses a time into nanoseconds; a bare number is in microseconds.
pub(in crate::fio) fn parse_microseconds(text: &str) -> Result<u64, String> {
    let seconds = match value::parse_decimal(text.trim()) {
        Some(bare) => Some(bare / 1e6),
        None => value::parse_seconds(text),
    };
    let inside = seconds.filter(|seconds| *seconds < 1e6);
    inside
        .map(|seconds| (seconds * 1e9).round() as u64)
        .ok_or_else(|| "it must be a time like 500 (µs) or 10ms".to_owned())
}

/// Parses `0-3,8`: numbers and ranges.
fn parse_list(text: &str, most: usize) -> Result<Vec<usize>, String> {
    let failed = || format!("it must be numbers below {most} and ranges, like 0-3,8");
    let mut numbers = vec![];
    for part in text.split(',').map(str::trim) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
            (Ok(from), Ok(to)) if from <= to && to < most => numbers.extend(from..=to),
            _ => return Err(failed()),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

pub(in crate::fio) fn parse_cpus(text: &str) -> Result<Vec<usize>, String> {
    parse_list(text, MAX_CPUS)
}

pub(in crate::fio) fn parse_cpu_mask(text: &str) -> Result<Vec<usize>, String> {
    let mask = value::parse_whole(text).filter(|mask| *mask > 0);
    let mask = mask.ok_or("it must be a mask of bits like 0x3")?;
    Ok((0..64).filter(|bit| mask >> bit & 1 == 1).collect())
}

/// Parses an increment of the nice value.
pub(in crate::fio) fn parse_nice(text: &str) -> Result<i32, String> {
    let number = text.trim().parse::<i32>().ok().filter(|value| (-20..=19).contains(value));
    number.ok_or_else(|| "it must be a whole number from -20 to 19".to_owned())
}

/// Parses a list of NUMA nodes; empty = all.
pub(in crate::fio) fn parse_nodes(text: &str) -> Result<Vec<usize>, String> {
    if text.trim_start().starts_with('!') {
        return Err("nodes can be named, not excluded".to_owned());
    }
    if text.trim() == "all" {
        return Ok(vec![]);
    }
    parse_list(text, MAX_NODES)
}

/// Parses `bind:0-1`, `prefer:0`, `interleave` or `interleave:0,2`; `None` = memory of the node of
/// the thread, which is the default.
pub(in crate::fio) fn parse_memory_policy(text: &str) -> Result<Option<MemoryPolicy>, String> {
    let (mode, nodes) = text.split_once(':').map_or((text, None), |it| (it.0, Some(it.1)));
    let listed = || nodes.map(parse_nodes).transpose();
    let (kind, nodes) = match mode {
        "default" | "local" if nodes.is_none() => return Ok(None),
        "default" | "local" => return Err(format!("{mode} takes no nodes")),
        "prefer" => (MemoryPolicyKind::Prefer, listed()?.filter(|nodes| nodes.len() == 1)),
        "bind" => (MemoryPolicyKind::Bind, listed()?),
        "interleave" => (MemoryPolicyKind::Interleave, Some(listed()?.unwrap_or_default())),
        _ => return Err("it must be default, local, prefer, bind or interleave".to_owned()),
    };
    let nodes = nodes.ok_or_else(|| match mode {
        "prefer" => "prefer takes one node, like prefer:0".to_owned(),
        _ => format!("{mode} takes nodes, like {mode}:0-1"),
    })?;
    Ok(Some(MemoryPolicy { kind, nodes }))
}

pub(in crate::fio) fn parse_turns(text: &str) -> Result<(TargetRotation, u64), String> {
    let (word, count) = text.split_once(':').unwrap_or((text, "1"));
    let turns = match word {
        "roundrobin" => TargetRotation::Round,
        "random" => TargetRotation::Random,
        "sequential" => TargetRotation::InOrder,
        _ => return Err("it must be random, roundrobin or sequential".to_owned()),
    };
    let count = count.parse().ok().filter(|count| *count > 0);
    Ok((turns, count.ok_or("after the colon must be a number of I/O, like roundrobin:8")?))
}

pub(in crate::fio) fn parse_zone_mode(text: &str) -> Result<bool, String> {
    match text {
        "none" => Ok(false),
        "strided" => Ok(true),
        "zbd" => Err("zoned block devices are not supported".to_owned()),
        _ => Err("it must be none or strided".to_owned()),
    }
}

pub(in crate::fio) fn parse_distribution(
    text: &str,
    base: NumberBase,
) -> Result<OffsetDistribution, String> {
    let (law, rest) = text.split_once(':').unwrap_or((text, ""));
    let (shape, centre) = rest.split_once(':').map_or((rest, None), |it| (it.0, Some(it.1)));
    let parameter = |default: f64, is_valid: fn(f64) -> bool, expected: &str| {
        let value = if rest.is_empty() { Some(default) } else { value::parse_decimal(shape) };
        value.filter(|value| is_valid(*value)).ok_or_else(|| format!("{law} takes {expected}"))
    };
    let centre = || match centre.map(value::parse_decimal) {
        None => Ok(None),
        Some(Some(share)) if (0.0..=1.0).contains(&share) => Ok(Some(share)),
        Some(_) => Err(format!("the centre of {law} must be from 0 to 1, like 0.5")),
    };
    match law {
        "random" => Ok(OffsetDistribution::Uniform),
        // Default values are fio's.
        "zipf" => {
            let is_valid = |it| (it > 0.0 && it < 1.0) || (it > 1.0 && it <= 100.0);
            let theta = parameter(1.1, is_valid, "an exponent like 1.2, but not 1")?;
            Ok(OffsetDistribution::Zipf { theta, centre: centre()? })
        }
        "pareto" => {
            let is_valid = |it| it > 0.0 && it < 1.0;
            let area = parameter(0.2, is_valid, "a number between 0 and 1, like 0.2")?;
            Ok(OffsetDistribution::Pareto { area, centre: centre()? })
        }
        "normal" => {
            let is_valid = |it| (0.0..100.0).contains(&it);
            let percent = parameter(0.0, is_valid, "a percentage like 20")?;
            Ok(OffsetDistribution::Normal { percent, centre: centre()? })
        }
        "zoned" | "zoned_abs" => parse_zoned(law == "zoned_abs", rest, base),
        _ => Err("it must be random, zipf, pareto, normal, zoned or zoned_abs".to_owned()),
    }
}

pub(in crate::fio) fn parse_generator(text: &str) -> Result<OffsetGenerator, String> {
    match text {
        "tausworthe" => Ok(OffsetGenerator::Tausworthe),
        "lfsr" => Ok(OffsetGenerator::Lfsr),
        "tausworthe64" => Ok(OffsetGenerator::Tausworthe64),
        _ => Err("it must be tausworthe, lfsr or tausworthe64".to_owned()),
    }
}

/// Parses `50/5:30/15:20/`: percent of the I/O and zone size, for reads, then after a comma for
/// writes.
fn parse_zoned(
    absolute: bool,
    text: &str,
    base: NumberBase,
) -> Result<OffsetDistribution, String> {
    let mut ways = text.split(',').map(|way| parse_direction_zones(absolute, way, base));
    let reads = ways.next().unwrap_or_else(|| Ok(vec![]))?;
    let writes = ways.next().unwrap_or_else(|| Ok(reads.clone()))?;
    Ok(OffsetDistribution::Zoned { in_bytes: absolute, ways: [reads, writes] })
}

fn parse_direction_zones(
    absolute: bool,
    text: &str,
    base: NumberBase,
) -> Result<Vec<ZoneShare>, String> {
    let zone = |part: &str| {
        let (percent, size) = part.split_once('/').unwrap_or((part, ""));
        let size = match size.trim() {
            // fio refuses an empty size, and takes none for a zone of no bytes.
            "" if absolute && !part.contains('/') => ZoneSize::Bytes(0),
            "" if !absolute => ZoneSize::Rest,
            bytes if absolute => {
                ZoneSize::Bytes(base.parse_bytes(bytes).ok_or("a zone needs a size like 10g")?)
            }
            percent => ZoneSize::Percent(parse_percentage(percent)?),
        };
        let io_percent = if percent.is_empty() { f64::NAN } else { parse_percentage(percent)? };
        Ok::<_, String>(ZoneShare { io_percent, size })
    };
    let mut zones = text.split(':').map(zone).collect::<Result<Vec<_>, _>>()?;
    let given: f64 = zones.iter().map(|it| it.io_percent).filter(|it| !it.is_nan()).sum();
    let open = zones.iter().filter(|zone| zone.io_percent.is_nan()).count();
    let sizes: f64 =
        zones.iter().map(|it| if let ZoneSize::Percent(p) = it.size { p } else { 0.0 }).sum();
    let all = 100.0 + 1e-6;
    if given > all || sizes > all || (open == 0 && given < 100.0 - 1e-6) {
        return Err("shares of I/O must add up to 100, sizes to at most 100".to_owned());
    }
    for zone in zones.iter_mut().filter(|zone| zone.io_percent.is_nan()) {
        zone.io_percent = (100.0 - given).max(0.0) / open as f64;
    }
    Ok(zones)
}

/// Parses `wait_before,write:8`: flags of `sync_file_range(2)`, and the writes between two calls.
pub(in crate::fio) fn parse_sync_range(text: &str) -> Result<(u32, u64), String> {
    const FLAGS: [(&str, u32); 3] = [("wait_before", 1), ("write", 2), ("wait_after", 4)];
    let failed = || {
        "it must be wait_before, write, wait_after, or several of them, with a number of writes, \
         like write:8"
            .to_owned()
    };
    let (names, every) = text.split_once(':').unwrap_or((text, "1"));
    let mut flags = 0;
    for name in names.split(',') {
        let row = FLAGS.iter().find(|(known, _)| *known == name.trim());
        flags |= row.ok_or_else(failed)?.1;
    }
    Ok((flags, every.parse().map_err(|_| failed())?))
}

/// Parses `iops:0.5%`, `bw_slope:100`.
pub(in crate::fio) fn parse_steady(
    text: &str,
    base: NumberBase,
) -> Result<SteadyCriterion, String> {
    let failed =
        || "it must be iops, iops_slope, bw or bw_slope with a limit, like iops:2%".to_owned();
    let (what, limit) = text.split_once(':').ok_or_else(failed)?;
    let (of_rate, by_slope) = match what {
        "iops" => (true, false),
        "iops_slope" => (true, true),
        "bw" => (false, false),
        "bw_slope" => (false, true),
        _ => return Err(failed()),
    };
    let in_percent = limit.ends_with('%');
    let limit = match in_percent {
        true => parse_percentage(limit)?,
        false if of_rate => value::parse_decimal(limit).ok_or_else(failed)?,
        false => base.parse_bytes(limit).ok_or_else(failed)? as f64,
    };
    Ok(SteadyCriterion { uses_iops: of_rate, by_slope, limit, in_percent })
}
