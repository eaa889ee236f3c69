//! Doubts about a case, grouped by host.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::Doubt;
use assay_model::run::CaseRecord;
use assay_model::workload::{StreamWorkload, Workload};

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
        let have_own: BTreeSet<&str> = hosts.filter_map(AttributeValue::as_text).collect();
        let mut found = Self { record, common: Vec::new(), by_host: BTreeMap::new() };
        for (place, doubt) in record.doubts.iter().enumerate() {
            let of_host = match doubt {
                Doubt::OnHost { host, doubt } => Some((host.as_str(), &**doubt)),
                _ => None,
            };
            if let Some((host, doubt)) = of_host {
                found.by_host.entry(host).or_default().push((place, doubt));
            }
            if of_host.is_none_or(|(host, _)| !have_own.contains(host)) {
                found.common.push((place, doubt));
            }
        }
        found
    }

    /// Returns the doubts about a result of this host, in their original order.
    pub(super) fn for_host(&self, here: &str) -> Vec<Doubt> {
        let is_own =
            |doubt: &Doubt| matches!(doubt, Doubt::OnHost { host, .. } if host == here);
        let of_all = self.common.iter().filter(|(_, doubt)| !is_own(doubt));
        let own = self.by_host.get(here).into_iter().flatten();
        let mut found: Vec<_> = of_all.chain(own).collect();
        found.sort_by_key(|(place, _)| *place);
        let mut doubts = merge_repeated(found.into_iter().map(|(_, doubt)| *doubt));
        if let Workload::Stream(stream) = &self.record.case.workload {
            let known = doubts.iter().any(|doubt| doubt.id() == "cache-assisted");
            doubts.extend(cache_assisted(stream).filter(|_| !known));
        }
        doubts
    }
}

/// Merges doubts that several repetitions raised: their counts are added.
fn merge_repeated<'d>(doubts: impl Iterator<Item = &'d Doubt>) -> Vec<Doubt> {
    let mut all: Vec<Doubt> = Vec::new();
    for doubt in doubts {
        let known = all.iter_mut().find(|it| it.id() == doubt.id());
        match (known, doubt) {
            (
                Some(Doubt::NotStarted { count, due }),
                Doubt::NotStarted { count: more, due: of },
            ) => (*count, *due) = (*count + more, *due + of),
            (
                Some(Doubt::MessageRateMissed { answered, seconds, .. }),
                Doubt::MessageRateMissed { answered: more, seconds: longer, .. },
            ) => (*answered, *seconds) = (*answered + more, *seconds + longer),
            _ => all.push(doubt.clone()),
        }
    }
    all
}

fn cache_assisted(stream: &StreamWorkload) -> Option<Doubt> {
    (stream.cache_multiple < CACHE_MULTIPLE).then_some(Doubt::CacheAssisted {
        bytes_per_array: stream.bytes_per_array,
        multiple: stream.cache_multiple,
        needed: CACHE_MULTIPLE,
    })
}
