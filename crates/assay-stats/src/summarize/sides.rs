//! Reads and writes of a mix: what they report together, and how much of it each is.

use assay_model::attribute::{Attribute, Attributes, Role, Value};
use assay_model::distribution::Distribution;
use assay_model::event::Stretch;
use assay_model::run::{CaseRecord, SeriesRecord};

/// What is done where both are done.
const MIX: &str = "mix";

/// Whether series with these dimensions are about all operations of the case.
pub(super) fn is_whole(record: &CaseRecord, dimensions: &Attributes) -> bool {
    let asked = record.case.workload.dimensions(&record.case.by);
    let operation = |of: &Attributes| of.get(&Attribute::Operation).cloned();
    operation(dimensions).is_none_or(|it| operation(&asked).is_none_or(|asked| asked == it))
}

/// The distributions of a series that count. A mix without any of its own is what its reads and writes
/// are together.
pub(super) fn seen<'r>(
    record: &'r CaseRecord,
    series: &'r SeriesRecord,
) -> Vec<&'r Stretch<Distribution>> {
    let is_mix = operation(series) == Some(MIX) && series.distributions.is_empty();
    let of = |it: &'r SeriesRecord| it.distributions.iter().filter(|it| !it.warmup);
    if is_mix && is_result(series) {
        sides(record, series).filter(|it| it.metric == series.metric).flat_map(of).collect()
    } else {
        of(series).collect()
    }
}

/// The rates of the reads and of the writes of a mix, in I/O per second: all I/O over the time from the
/// first stretch to the last.
pub(super) fn rates(record: &CaseRecord, series: &SeriesRecord) -> Attributes {
    if operation(series) != Some(MIX) || !is_result(series) {
        return Attributes::new();
    }
    let of = |side: &str| {
        let mut own = sides(record, series).filter(|it| operation(it) == Some(side));
        own.find_map(counted_per_s)
    };
    let rates = [(Attribute::ReadRate, of("read")), (Attribute::WriteRate, of("write"))];
    rates.into_iter().filter_map(|(name, rate)| Some((name, rate?.into()))).collect()
}

/// The results of the same host that are reads or writes alone.
fn sides<'r>(
    record: &'r CaseRecord,
    whole: &'r SeriesRecord,
) -> impl Iterator<Item = &'r SeriesRecord> {
    let host = |it: &'r SeriesRecord| it.dimensions.get(&Attribute::Host);
    record.series.iter().filter(move |it| {
        matches!(operation(it), Some("read" | "write"))
            && is_result(it)
            && host(it) == host(whole)
    })
}

fn operation(series: &SeriesRecord) -> Option<&str> {
    series.dimensions.get(&Attribute::Operation).and_then(Value::text)
}

fn is_result(series: &SeriesRecord) -> bool {
    series.dimensions.keys().all(|name| name.row().role != Role::Part)
}

fn counted_per_s(series: &SeriesRecord) -> Option<f64> {
    let counting = || series.distributions.iter().filter(|it| !it.warmup);
    let from_ns = counting().map(|it| it.from_ns).min()?;
    let to_ns = counting().map(|it| it.to_ns).max()?;
    let count: f64 = counting().map(|it| it.seen.count as f64).sum();
    let rate = count / (to_ns.saturating_sub(from_ns) as f64 * 1e-9);
    rate.is_finite().then_some(rate)
}
