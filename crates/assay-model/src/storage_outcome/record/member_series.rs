//! Series of a stored outcome, selected by host and split by stream, target, operation and stage.

use crate::attribute::{Attribute, AttributeValue};
use crate::distribution::LatencyDistribution;
use crate::run::{CaseRecord, SeriesRecord};
use crate::storage_outcome::IoOperation;

/// Part of an outcome, identified by the dimensions of its series.
pub(super) struct SeriesPart<'r> {
    pub(super) series: &'r SeriesRecord,
    pub(super) stream: Option<usize>,
    pub(super) target: Option<usize>,
    pub(super) operation: Option<IoOperation>,
    pub(super) stage: Option<&'r str>,
}

impl<'r> SeriesPart<'r> {
    fn from_series(series: &'r SeriesRecord) -> Self {
        let index = |name| match series.dimensions.get(&name) {
            Some(AttributeValue::Integer(index)) => usize::try_from(*index).ok(),
            _ => None,
        };
        let text = |name| series.dimensions.get(&name).and_then(AttributeValue::as_text);
        Self {
            series,
            stream: index(Attribute::Stream),
            target: index(Attribute::TargetIndex),
            operation: text(Attribute::Operation).and_then(IoOperation::from_name),
            stage: text(Attribute::Stage),
        }
    }

    pub(super) fn first_distribution(&self) -> Option<&'r LatencyDistribution> {
        self.series.distributions.first().map(|stretch| &stretch.seen)
    }
}

/// Series of one host in a total, or of the total itself.
pub(super) type MemberSeries<'r> = Vec<&'r SeriesRecord>;

pub(super) fn member_series<'r>(
    record: &'r CaseRecord,
    host: Option<&str>,
) -> MemberSeries<'r> {
    let is_of_host = |it: &SeriesRecord| {
        it.dimensions.get(&Attribute::Member).and_then(AttributeValue::as_text) == host
    };
    record.series.iter().filter(|it| is_of_host(it)).collect()
}

pub(super) fn find_parts<'r>(
    all_series: &'r MemberSeries<'_>,
    metric: &'r str,
) -> impl Iterator<Item = SeriesPart<'r>> {
    all_series
        .iter()
        .filter(move |series| series.metric == metric)
        .map(|series| SeriesPart::from_series(series))
}
