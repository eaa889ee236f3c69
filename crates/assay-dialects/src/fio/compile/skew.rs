//! Distribution of a job's random offsets, with fio's seeds.

use assay_model::workload::storage::{FileExtent, JobOrder, OffsetLaw, OffsetSkew, OffsetZone};

use super::super::job_error::FioJobError;
use super::super::section_options::{OffsetDistribution, ZoneShare, ZoneSize};
use super::files::CloneFiles;
use super::{LocatedOptions, conflict};

/// Returns the distribution of the order of a clone; `None` = uniform.
pub(super) fn skew(
    placed: &LocatedOptions,
    used: &CloneFiles,
    order: &JobOrder,
) -> Result<Option<OffsetSkew>, FioJobError> {
    let (job, _) = placed;
    if !job.rw.random {
        return Ok(None);
    }
    let (law, centre) = match &job.behaviour.distribution {
        OffsetDistribution::Uniform => return Ok(None),
        OffsetDistribution::Zipf { theta, centre } => {
            (OffsetLaw::Zipf { theta: *theta }, *centre)
        }
        OffsetDistribution::Pareto { area, centre } => {
            (OffsetLaw::SelfSimilar { area: *area }, *centre)
        }
        OffsetDistribution::Normal { percent, centre } => {
            (OffsetLaw::Bell { percent: *percent }, *centre)
        }
        OffsetDistribution::Zoned { in_bytes, ways: [reads, writes] } => {
            // Blocks are drawn, and the last one begins before the end by a whole I/O.
            let excess =
                |way: usize| order.least_bytes[way].saturating_sub(order.align_bytes[way]);
            let range =
                |extent: &FileExtent| order.zones.map_or(extent.bytes, |it| it.range_bytes);
            let bytes = used.extents.iter().map(range).min().unwrap_or(0);
            let bytes = bytes.saturating_sub(excess(0).max(excess(1)));
            let range = if *in_bytes { bytes } else { 100 };
            let lay_out = |zones| {
                lay_out(zones, range).ok_or_else(|| {
                    let why = "its zones are larger than the file";
                    conflict(placed, why, "lower their sizes or raise size=")
                })
            };
            let (reads, writes) = (lay_out(reads)?, lay_out(writes)?);
            (OffsetLaw::Zones { in_bytes: *in_bytes, reads, writes }, None)
        }
    };
    let number = order.number as u32;
    let drawn = order.seeds()[JobOrder::OFFSETS] as u32;
    // A given seed ends the repetition (`fixup_options` in init.c).
    let repeats = job.repeats_offsets && !job.has_seed;
    let seed = |hash: &u32| if repeats { hash.wrapping_mul(number) } else { drawn };
    Ok(Some(OffsetSkew { law, centre, seeds: used.name_hashes.iter().map(seed).collect() }))
}

/// Returns zones in whole percent of the I/O, of a range of `range` percent or bytes; those without
/// a size share the rest, and a single one has none (`zone_split_ddir` in options.c). `None` = they do
/// not fit.
fn lay_out(zones: &[ZoneShare], range: u64) -> Option<Vec<OffsetZone>> {
    let given = |zone: &ZoneShare| match zone.size {
        ZoneSize::Percent(percent) => Some(percent as u64).filter(|percent| *percent > 0),
        ZoneSize::Bytes(bytes) => Some(bytes),
        ZoneSize::Rest => None,
    };
    let mut sizes = zones.iter().filter_map(given);
    let sum = sizes.try_fold(0_u64, u64::checked_add)?;
    let open = zones.iter().filter(|zone| given(zone).is_none()).count() as u64;
    let rest = range.checked_sub(sum)? / open.max(1);
    let rest = if zones.len() == 1 { 0 } else { rest };
    let zone = |zone: &ZoneShare| OffsetZone {
        io_percent: zone.io_percent as u64,
        size: given(zone).unwrap_or(rest),
    };
    Some(zones.iter().map(zone).collect())
}
