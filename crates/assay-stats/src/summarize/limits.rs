//! Attaches physical limits: from the host's facts, from the clock, or from another estimate of the
//! same run. Without any of these, there is no limit.

use assay_model::attribute::{Attribute, Attributes, Value};
use assay_model::benchmark::Bound;
use assay_model::doubt::Doubt;
use assay_model::limit::{Basis, Limit, Rpeak, memory_bandwidth};
use assay_model::summary::Estimate;
use assay_model::workload::{PeakFlopsWorkload, Workload};

use super::Entry;
use crate::laws;

/// Sets `limit` and `percent_of_limit`, and the parameters with Rpeak.
pub(super) fn attach(entries: &mut [Entry<'_>]) {
    let clocks: Vec<Clock> = entries.iter().filter_map(Clock::new).collect();
    // A limit applies to one host or one volume, not to several.
    for entry in entries.iter_mut().filter(|it| !it.estimate.is_of_hosts()) {
        let workload = &entry.record.case.workload;
        match bound(entry) {
            Some(Bound::MemoryBandwidth) => {
                if let Workload::Stream(_) = workload {
                    let limit = entry.host.and_then(|host| memory_bandwidth(&host.facts));
                    hold_against(&mut entry.estimate, limit);
                }
            }
            Some(bound @ (Bound::ComputeFp64 | Bound::ComputeFp32)) => {
                if let Workload::PeakFlops(work) = workload {
                    let clock = clocks.iter().find(|clock| clock.is_of(&entry.estimate));
                    let bits = if bound == Bound::ComputeFp32 { 32 } else { 64 };
                    hold_against_rpeak(&mut entry.estimate, work, bits, clock.map(|it| it.hz));
                }
            }
            Some(Bound::Provisioned) => {
                if let Workload::Storage(test) = workload {
                    let limit = |value| Limit { value, basis: Basis::Provisioned };
                    hold_against(&mut entry.estimate, test.provisioned_bytes_per_s.map(limit));
                }
            }
            Some(Bound::Link) => {
                let limit = link(&entry.estimate.parameters);
                hold_against(&mut entry.estimate, limit);
            }
            None => {}
        }
    }
    // From here on, the peaks have their Rpeak.
    let peaks: Vec<Peak> = entries.iter().filter_map(Peak::new).collect();
    for entry in entries.iter_mut() {
        if let (Workload::Linpack(work), Some(Bound::ComputeFp64)) =
            (&entry.record.case.workload, bound(entry))
        {
            let (cores, host) = (work.cpus.len(), &entry.estimate.host);
            let same = peaks.iter().filter(|it| it.cores == cores && it.host == *host);
            let best = same.max_by(|a, b| a.flops.total_cmp(&b.flops));
            hold_against_peak(&mut entry.estimate, best);
        }
    }
}

/// Sets the limit from a data sheet, unless a lower limit is already set.
pub fn hold_against_data_sheet(estimate: &mut Estimate, limit: Limit) {
    if estimate.limit.as_ref().is_some_and(|known| known.value <= limit.value) {
        return;
    }
    hold_against(estimate, Some(limit));
    estimate.warnings.retain(|doubt| !matches!(doubt, Doubt::AboveLimit { .. }));
    estimate.warnings.extend(laws::bound(estimate));
}

/// Returns the link rate of the device that carried the traffic, as found while measuring.
fn link(parameters: &Attributes) -> Option<Limit> {
    let value = parameters.get(&Attribute::LinkBitPerS)?.number()?;
    let device = parameters.get(&Attribute::Device).and_then(Value::text);
    Some(Limit { value, basis: Basis::Link { device: device.map(str::to_owned) } })
}

/// Clock that one case measured on one host.
struct Clock {
    case: String,
    host: String,
    hz: f64,
}

impl Clock {
    fn new(entry: &Entry<'_>) -> Option<Self> {
        let Estimate { case, host, median, metric, .. } = &entry.estimate;
        let is_clock = metric == "core_clock";
        is_clock.then(|| Self { case: case.clone(), host: host.clone(), hz: *median })
    }

    fn is_of(&self, estimate: &Estimate) -> bool {
        self.case == estimate.case && self.host == estimate.host
    }
}

/// Multiply-add peak in double precision that one case measured.
struct Peak {
    cores: usize,
    host: String,
    flops: f64,
    instruction_set: String,
    /// Rpeak with its factors, where the clock was measured.
    rpeak: Attributes,
}

const RPEAK: [Attribute; 4] =
    [Attribute::Rpeak, Attribute::RpeakCores, Attribute::FlopPerCycle, Attribute::RpeakClock];

impl Peak {
    fn new(entry: &Entry<'_>) -> Option<Self> {
        let Workload::PeakFlops(work) = &entry.record.case.workload else { return None };
        let estimate = &entry.estimate;
        let carried = |name| Some((name, estimate.parameters.get(&name)?.clone()));
        (bound(entry) == Some(Bound::ComputeFp64)).then(|| Self {
            cores: work.domain.cpus.len(),
            host: estimate.host.clone(),
            flops: estimate.median,
            instruction_set: work.instruction_set.clone(),
            rpeak: RPEAK.into_iter().filter_map(carried).collect(),
        })
    }
}

fn bound(entry: &Entry<'_>) -> Option<Bound> {
    let benchmark = entry.record.case.workload.benchmark();
    benchmark.metric(&entry.estimate.metric)?.limit
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
    let Some(clock_hz) = clock_hz else { return };
    let (cores, set) = (work.domain.cpus.len(), &work.instruction_set);
    // The best rate counts: disturbance during a repetition only lowers it, while the clock is
    // measured in slices that are hardly affected.
    let rpeak = match Rpeak::from_measurement(estimate.max, cores, clock_hz, set, element_bits)
    {
        Ok(rpeak) => rpeak,
        Err(flop_per_cycle) => {
            estimate.warnings.push(Doubt::NoRpeak { flop_per_cycle });
            return;
        }
    };
    let factors = [
        rpeak.value().into(),
        rpeak.cores.into(),
        rpeak.flop_per_cycle.into(),
        rpeak.clock_hz.into(),
    ];
    estimate.parameters.extend(RPEAK.into_iter().zip(factors));
    let basis = Basis::Rpeak(rpeak);
    hold_against(estimate, Some(Limit { value: rpeak.value(), basis }));
}

fn hold_against_peak(estimate: &mut Estimate, peak: Option<&Peak>) {
    let Some(peak) = peak else { return };
    estimate.parameters.extend(peak.rpeak.clone());
    if let Some(rpeak) = peak.rpeak.get(&Attribute::Rpeak).and_then(Value::number) {
        let percent = 100.0 * (estimate.median / rpeak);
        estimate.parameters.insert(Attribute::PercentOfRpeak, percent.into());
    }
    let instruction_set = peak.instruction_set.clone();
    let basis = Basis::MeasuredPeak { instruction_set, cores: peak.cores };
    hold_against(estimate, Some(Limit { value: peak.flops, basis }));
}
