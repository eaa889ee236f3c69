//! Doubts about a case, grouped by host.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::Doubt;
use assay_model::run::CaseRecord;

use crate::counter_doubts::counter_doubts;

/// STREAM's own rule: arrays of at least four times the last-level caches.
const CACHE_MULTIPLE: f64 = 4.0;

/// Doubts of a case. Built once per case, because a thousand hosts may each have doubts and many
/// results.
pub(super) struct CaseDoubts<'r> {
    record: &'r CaseRecord,
    /// Doubts about all hosts, and about a host without results of its own, with their positions.
    common: Vec<(usize, &'r Doubt)>,
    /// Doubts about one host, without its name.
    by_host: BTreeMap<&'r str, Vec<(usize, &'r Doubt)>>,
}

impl<'r> CaseDoubts<'r> {
    pub(super) fn from_record(record: &'r CaseRecord) -> Self {
        let hosts = record.series.iter().filter_map(|it| it.dimensions.get(&Attribute::Host));
        let hosts_with_results: BTreeSet<&str> =
            hosts.filter_map(AttributeValue::as_text).collect();
        let mut case_doubts = Self { record, common: Vec::new(), by_host: BTreeMap::new() };
        for (index, doubt) in record.doubts.iter().enumerate() {
            let host_doubt = match doubt {
                Doubt::OnHost { host, doubt } => Some((host.as_str(), &**doubt)),
                _ => None,
            };
            if let Some((host, doubt)) = host_doubt {
                case_doubts.by_host.entry(host).or_default().push((index, doubt));
            }
            if host_doubt.is_none_or(|(host, _)| !hosts_with_results.contains(host)) {
                case_doubts.common.push((index, doubt));
            }
        }
        case_doubts
    }

    /// Returns the doubts about a result of this host, in their original order.
    pub(super) fn for_host(&self, name: &str) -> Vec<Doubt> {
        let is_of_host =
            |doubt: &Doubt| matches!(doubt, Doubt::OnHost { host, .. } if host == name);
        let common = self.common.iter().filter(|(_, doubt)| !is_of_host(doubt));
        let of_host = self.by_host.get(name).into_iter().flatten();
        let mut ordered: Vec<_> = common.chain(of_host).collect();
        ordered.sort_by_key(|(index, _)| *index);
        let mut doubts = merge_repeated(ordered.into_iter().map(|(_, doubt)| *doubt));
        if let Some(stream) = self.record.case.workload.as_stream() {
            let is_known = doubts.iter().any(|doubt| doubt.id() == "cache-assisted");
            let assisted = cache_assisted(stream.bytes_per_array, stream.cache_multiple);
            doubts.extend(assisted.filter(|_| !is_known));
        }
        doubts.extend(counter_doubts(self.record, name));
        doubts
    }
}

/// Merges doubts that several repetitions raised: their counts are added.
fn merge_repeated<'d>(doubts: impl Iterator<Item = &'d Doubt>) -> Vec<Doubt> {
    let mut merged: Vec<Doubt> = Vec::new();
    for doubt in doubts {
        let previous = merged.iter_mut().find(|it| it.id() == doubt.id());
        match (previous, doubt) {
            (
                Some(Doubt::NotStarted { count, due }),
                Doubt::NotStarted { count: more, due: more_due },
            ) => (*count, *due) = (*count + more, *due + more_due),
            (
                Some(Doubt::MessageRateMissed { answered, seconds, .. }),
                Doubt::MessageRateMissed { answered: more, seconds: more_seconds, .. },
            ) => (*answered, *seconds) = (*answered + more, *seconds + more_seconds),
            _ => merged.push(doubt.clone()),
        }
    }
    merged
}

/// Checks the size of arrays, relative to the caches that their threads use.
pub(super) fn cache_assisted(bytes_per_array: u64, multiple: f64) -> Option<Doubt> {
    let needed = CACHE_MULTIPLE;
    (multiple < needed).then_some(Doubt::CacheAssisted { bytes_per_array, multiple, needed })
}
