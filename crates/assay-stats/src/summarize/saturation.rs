//! Hosts that move data together: a result says so where a host was busy up to its own limit.

use assay_model::attribute::{Attribute, Value};
use assay_model::benchmark::{Benchmark, Better, Section};
use assay_model::cpu_times::BUSY;
use assay_model::doubt::{Doubt, Resource};
use assay_model::summary::Estimate;

/// A single CPU is used up from here on: ticks of 10 ms over half a second, the shortest stretch that is looked at,
/// miss it by as much.
const ONE_CPU: f64 = 0.95;
/// A link of Ethernet is full with 96 % of its rate in payload; what its device counts is a little more.
const LINK: f64 = 0.95;

/// Adds the doubt to what the host itself found, and to what it found together with others.
pub(super) fn attach(results: &mut [Estimate]) {
    let found: Vec<(String, Doubt)> = results.iter().filter_map(saturated).collect();
    for estimate in results.iter_mut().filter(|it| may_be_limited(it)) {
        let of_case = found.iter().filter(|(case, _)| *case == estimate.case);
        for (_, doubt) in of_case {
            let Doubt::HostSaturated { host, .. } = doubt else { continue };
            if estimate.is_partly_of(host) && !estimate.warnings.contains(doubt) {
                estimate.warnings.push(doubt.clone());
            }
        }
    }
}

/// A host's rate, where it is the most that there was and no share of that.
fn may_be_limited(estimate: &Estimate) -> bool {
    let section = Benchmark::from_id(&estimate.benchmark).map(|it| it.definition().section);
    let moves = matches!(section, Some(Section::Network | Section::Storage | Section::Files));
    let is_share = estimate.parameters.contains_key(&Attribute::PercentOfMax);
    moves && estimate.better == Better::Higher && !is_share
}

/// What of its host was used up, by case.
fn saturated(estimate: &Estimate) -> Option<(String, Doubt)> {
    if !may_be_limited(estimate) {
        return None;
    }
    let share = |name| {
        let percent = estimate.parameters.get(&name).and_then(Value::number);
        percent.map(|percent| percent / 100.0)
    };
    let found = [
        (Attribute::HostNetworkShare, LINK, Resource::Network),
        (Attribute::HostCpu, BUSY, Resource::Cpus),
        (Attribute::HostBusiestCpu, ONE_CPU, Resource::OneCpu),
    ];
    let used = found.into_iter().find_map(|(name, limit, resource)| {
        share(name).filter(|share| *share >= limit).map(|share| (resource, share))
    });
    let (resource, share) = used?;
    let doubt = Doubt::HostSaturated { host: estimate.host.clone(), resource, share };
    Some((estimate.case.clone(), doubt))
}
