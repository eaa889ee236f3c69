//! Reads and writes of a mix: their common distributions and their rates.

use assay_model::attribute::{Attribute, AttributeValue, Attributes, Role};
use assay_model::distribution::LatencyDistribution;
use assay_model::event::StretchRecord;
use assay_model::run::{CaseRecord, SeriesRecord};

/// Operation of a case with reads and writes.
const MIX: &str = "mix";

/// Returns whether series with these dimensions cover all operations of the case.
pub(super) fn covers_all_operations(record: &CaseRecord, dimensions: &Attributes) -> bool {
    let requested = record.case.workload.dimensions(&record.case.by);
    let operation = |of: &Attributes| of.get(&Attribute::Operation).cloned();
    operation(dimensions)
        .is_none_or(|it| operation(&requested).is_none_or(|requested| requested == it))
}

/// Returns the distributions of a series after the warm-up. For a mix without distributions,
/// returns those of its reads and writes.
pub(super) fn counted_distributions<'r>(
    record: &'r CaseRecord,
    series: &'r SeriesRecord,
) -> Vec<&'r StretchRecord<LatencyDistribution>> {
    let is_mix = operation(series) == Some(MIX) && series.distributions.is_empty();
    let after_warm_up = |it: &'r SeriesRecord| it.distributions.iter().filter(|it| !it.warmup);
    if is_mix && is_result(series) {
        read_write_series(record, series)
            .filter(|it| it.metric == series.metric)
            .flat_map(after_warm_up)
            .collect()
    } else {
        after_warm_up(series).collect()
    }
}

/// Returns the rates of the reads and of the writes of a mix, in I/O per second: all I/O over the
/// time from the first stretch to the last.
pub(super) fn read_write_rates(record: &CaseRecord, series: &SeriesRecord) -> Attributes {
    if operation(series) != Some(MIX) || !is_result(series) {
        return Attributes::new();
    }
    let rate_of = |operation_name: &str| {
        let mut matching = read_write_series(record, series)
            .filter(|it| operation(it) == Some(operation_name));
        matching.find_map(rate_after_warm_up)
    };
    let rates =
        [(Attribute::ReadRate, rate_of("read")), (Attribute::WriteRate, rate_of("write"))];
    rates.into_iter().filter_map(|(name, rate)| Some((name, rate?.into()))).collect()
}

/// Returns the results of the same host for reads only or writes only.
fn read_write_series<'r>(
    record: &'r CaseRecord,
    mix_series: &'r SeriesRecord,
) -> impl Iterator<Item = &'r SeriesRecord> {
    let host = |it: &'r SeriesRecord| it.dimensions.get(&Attribute::Host);
    record.series.iter().filter(move |it| {
        matches!(operation(it), Some("read" | "write"))
            && is_result(it)
            && host(it) == host(mix_series)
    })
}

fn operation(series: &SeriesRecord) -> Option<&str> {
    series.dimensions.get(&Attribute::Operation).and_then(AttributeValue::as_text)
}

fn is_result(series: &SeriesRecord) -> bool {
    series.dimensions.keys().all(|name| name.row().role != Role::Part)
}

fn rate_after_warm_up(series: &SeriesRecord) -> Option<f64> {
    let counted = || series.distributions.iter().filter(|it| !it.warmup);
    let from_ns = counted().map(|it| it.from_ns).min()?;
    let to_ns = counted().map(|it| it.to_ns).max()?;
    let count: f64 = counted().map(|it| it.seen.count as f64).sum();
    let rate = count / (to_ns.saturating_sub(from_ns) as f64 * 1e-9);
    rate.is_finite().then_some(rate)
}
