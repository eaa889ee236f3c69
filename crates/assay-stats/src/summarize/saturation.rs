//! Saturated hosts: adds a doubt to results of data transfers if a host reached the limit of its
//! CPUs or its network.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::{Benchmark, Better, ReportSection};
use assay_model::cpu_times::BUSY_SHARE;
use assay_model::doubt::{Doubt, HostResource};
use assay_model::summary::MetricEstimate;

/// Busy share from which a single CPU counts as saturated: ticks of 10 ms have an error of 5 % over
/// half a second, the shortest stretch that is sampled.
const SINGLE_CPU_BUSY: f64 = 0.95;
/// Share of its rate from which a link counts as saturated. Full Ethernet carries 96 % payload; its
/// device counts a little more.
const LINK_FULL: f64 = 0.95;

/// Adds the doubt to the results of the host itself, and to totals that include it.
pub(super) fn attach(results: &mut [MetricEstimate]) {
    let saturations: Vec<(String, Doubt)> =
        results.iter().filter_map(find_saturation).collect();
    for estimate in results.iter_mut().filter(|it| may_be_limited(it)) {
        let of_case = saturations.iter().filter(|(case, _)| *case == estimate.case);
        for (_, doubt) in of_case {
            let Doubt::HostSaturated { host, .. } = doubt else { continue };
            if estimate.involves_host(host) && !estimate.warnings.contains(doubt) {
                estimate.warnings.push(doubt.clone());
            }
        }
    }
}

/// Returns whether a result is a host's maximum rate of data, not a share of it.
fn may_be_limited(estimate: &MetricEstimate) -> bool {
    let section = Benchmark::from_id(&estimate.benchmark).map(|it| it.definition().section);
    let moves_data = matches!(
        section,
        Some(ReportSection::Network | ReportSection::Storage | ReportSection::Files)
    );
    let is_share = estimate.parameters.contains_key(&Attribute::PercentOfMax);
    moves_data && estimate.better == Better::Higher && !is_share
}

/// Returns the saturated resource of the result's host, with the case.
fn find_saturation(estimate: &MetricEstimate) -> Option<(String, Doubt)> {
    if !may_be_limited(estimate) {
        return None;
    }
    let share = |name| {
        let percent = estimate.parameters.get(&name).and_then(AttributeValue::as_number);
        percent.map(|percent| percent / 100.0)
    };
    let resources = [
        (Attribute::HostNetworkShare, LINK_FULL, HostResource::Network),
        (Attribute::HostCpu, BUSY_SHARE, HostResource::Cpus),
        (Attribute::HostBusiestCpu, SINGLE_CPU_BUSY, HostResource::OneCpu),
    ];
    let saturated = resources.into_iter().find_map(|(name, limit, resource)| {
        share(name).filter(|share| *share >= limit).map(|share| (resource, share))
    });
    let (resource, share) = saturated?;
    let doubt = Doubt::HostSaturated { host: estimate.host.clone(), resource, share };
    Some((estimate.case.clone(), doubt))
}
