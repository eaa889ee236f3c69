//! Attaches physical limits: from the host's facts, from the clock, or from another estimate of the
//! same run. Where none of them tells, there is no limit.

use assay_model::benchmark::Bound;
use assay_model::event::{Parameter, Parameters};
use assay_model::facts::HostFacts;
use assay_model::limit::{Limit, Rpeak, flop_step, memory_bandwidth};
use assay_model::summary::Estimate;
use assay_model::workload::{PeakFlopsWorkload, Workload};

use super::Entry;

/// Fills `limit` and `percent_of_limit`, and with them the parameters that carry Rpeak.
pub(super) fn attach(entries: &mut [Entry<'_>], host: &HostFacts) {
    let memory = memory_bandwidth(host);
    let clocks: Vec<(String, f64)> = entries.iter().filter_map(core_clock).collect();
    for entry in entries.iter_mut() {
        let case = &entry.record.case;
        let clock_of = |(id, hz): &(String, f64)| (*id == case.id).then_some(*hz);
        match bound(entry) {
            Some(Bound::MemoryBandwidth) => {
                if let Workload::Stream(_) = &case.workload {
                    hold_against(&mut entry.estimate, memory.clone());
                }
            }
            Some(bound @ (Bound::ComputeFp64 | Bound::ComputeFp32)) => {
                if let Workload::PeakFlops(work) = &case.workload {
                    let clock_hz = clocks.iter().find_map(clock_of);
                    let bits = if bound == Bound::ComputeFp32 { 32 } else { 64 };
                    hold_against_rpeak(&mut entry.estimate, work, bits, clock_hz);
                }
            }
            Some(Bound::Provisioned) => {
                if let Workload::Storage(test) = &case.workload {
                    let basis = "what the volume is provisioned for".to_owned();
                    let limit =
                        test.provisioned_bytes_per_s.map(|value| Limit { value, basis });
                    hold_against(&mut entry.estimate, limit);
                }
            }
            Some(Bound::Link) => {
                let limit = link(&entry.estimate.parameters);
                hold_against(&mut entry.estimate, limit);
            }
            None => {}
        }
    }
    // Only now do the peaks carry their Rpeak.
    let peaks: Vec<Peak> = entries.iter().filter_map(Peak::new).collect();
    for entry in entries.iter_mut() {
        if let (Workload::Linpack(work), Some(Bound::ComputeFp64)) =
            (&entry.record.case.workload, bound(entry))
        {
            let same = peaks.iter().filter(|peak| peak.cores == work.cpus.len());
            let best = same.max_by(|a, b| a.flops.total_cmp(&b.flops));
            hold_against_peak(&mut entry.estimate, best);
        }
    }
}

/// What the device that carried the traffic claims, as it was learned while measuring.
fn link(learned: &Parameters) -> Option<Limit> {
    let Some(Parameter::Number(value)) = learned.get("link_bit_per_s") else { return None };
    let device = match learned.get("device") {
        Some(Parameter::Text(device)) => device.as_str(),
        _ => "the device",
    };
    Some(Limit { value: *value, basis: format!("link speed that {device} reports") })
}

/// The multiply-add peak in double precision that one case measured.
struct Peak {
    cores: usize,
    flops: f64,
    instruction_set: String,
    /// `rpeak` and `rpeak_factors`, where the clock was measured.
    rpeak: Parameters,
}

impl Peak {
    fn new(entry: &Entry<'_>) -> Option<Self> {
        let Workload::PeakFlops(work) = &entry.record.case.workload else { return None };
        let estimate = &entry.estimate;
        let carried = |name: &str| {
            estimate.parameters.get(name).map(|value| (name.to_owned(), value.clone()))
        };
        (bound(entry) == Some(Bound::ComputeFp64)).then(|| Self {
            cores: work.domain.cpus.len(),
            flops: estimate.median,
            instruction_set: work.instruction_set.clone(),
            rpeak: ["rpeak", "rpeak_factors"].into_iter().filter_map(carried).collect(),
        })
    }
}

fn bound(entry: &Entry<'_>) -> Option<Bound> {
    let benchmark = entry.record.case.workload.benchmark();
    benchmark.metric(&entry.estimate.metric)?.limit
}

fn core_clock(entry: &Entry<'_>) -> Option<(String, f64)> {
    let is_clock = entry.estimate.metric == "core_clock";
    is_clock.then(|| (entry.record.case.id.clone(), entry.estimate.median))
}

fn hold_against(estimate: &mut Estimate, limit: Option<Limit>) {
    let limit = limit.filter(|limit| limit.value > 0.0 && limit.value.is_finite());
    let share = limit.as_ref().map(|limit| 100.0 * estimate.median / limit.value);
    estimate.percent_of_limit = share.filter(|share| share.is_finite());
    estimate.limit = limit;
}

fn hold_against_rpeak(
    estimate: &mut Estimate,
    work: &PeakFlopsWorkload,
    element_bits: u32,
    clock_hz: Option<f64>,
) {
    let cores = work.domain.cpus.len();
    let step = flop_step(&work.instruction_set, element_bits);
    let rpeak =
        clock_hz.and_then(|hz| Rpeak::from_measurement(estimate.median, cores, hz, step));
    let Some(rpeak) = rpeak else { return };
    let (value, factors) = (rpeak.value(), rpeak.factors());
    let per_cycle = u64::from(rpeak.flop_per_cycle);
    let carried = [
        ("rpeak", Parameter::Number(value)),
        ("rpeak_factors", Parameter::Text(factors.clone())),
        ("flop_per_cycle", Parameter::Integer(per_cycle)),
    ];
    estimate.parameters.extend(carried.map(|(name, value)| (name.to_owned(), value)));
    hold_against(estimate, Some(Limit { value, basis: factors }));
}

fn hold_against_peak(estimate: &mut Estimate, peak: Option<&Peak>) {
    let Some(peak) = peak else { return };
    let cores = if peak.cores == 1 { "core" } else { "cores" };
    let basis = format!(
        "multiply-add peak in double precision, {} on {} {cores}, measured in this run",
        peak.instruction_set, peak.cores
    );
    estimate.parameters.extend(peak.rpeak.clone());
    if let Some(Parameter::Number(rpeak)) = peak.rpeak.get("rpeak") {
        let percent = Parameter::Number(100.0 * (estimate.median / rpeak));
        estimate.parameters.insert("percent_of_rpeak".to_owned(), percent);
    }
    hold_against(estimate, Some(Limit { value: peak.flops, basis }));
}
