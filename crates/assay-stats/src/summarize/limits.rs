//! Attaches physical limits to estimates. A limit comes from the facts of the host, from the
//! measured clock, from the workload, or from another estimate of the same run; otherwise there is
//! none.

use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::benchmark::LimitKind;
use assay_model::doubt::Doubt;
use assay_model::limit::{LimitBasis, PhysicalLimit, Rpeak, memory_bandwidth};
use assay_model::summary::MetricEstimate;
use assay_model::workload::PeakFlopsWorkload;

use super::EstimateEntry;
use crate::laws;

/// Sets `limit`, `percent_of_limit` and the parameters of Rpeak of every estimate.
pub(super) fn attach_limits(entries: &mut [EstimateEntry<'_>]) {
    let clocks: Vec<MeasuredClock> = entries.iter().filter_map(MeasuredClock::new).collect();
    // A limit applies to one host or one volume, not to several.
    for entry in entries.iter_mut().filter(|it| !it.estimate.spans_hosts()) {
        let workload = &entry.record.case.workload;
        match metric_limit_kind(entry) {
            Some(LimitKind::MemoryBandwidth) => {
                let host = workload.as_stream().and(entry.host);
                let limit = host.and_then(|host| memory_bandwidth(&host.facts));
                set_limit(&mut entry.estimate, limit);
            }
            Some(kind @ (LimitKind::ComputeFp64 | LimitKind::ComputeFp32)) => {
                if let Some(work) = workload.as_peak_flops() {
                    let clock = clocks.iter().find(|clock| clock.applies_to(&entry.estimate));
                    let bits = if kind == LimitKind::ComputeFp32 { 32 } else { 64 };
                    set_rpeak_limit(&mut entry.estimate, work, bits, clock.map(|it| it.hz));
                }
            }
            Some(LimitKind::Provisioned) => {
                if let Some(test) = workload.as_storage() {
                    let limit = |value| PhysicalLimit { value, basis: LimitBasis::Provisioned };
                    set_limit(&mut entry.estimate, test.provisioned_bytes_per_s.map(limit));
                }
            }
            Some(LimitKind::Link) => {
                let limit = link_limit(&entry.estimate.parameters);
                set_limit(&mut entry.estimate, limit);
            }
            None => {}
        }
    }
    // After the loop above, the estimates of peaks have their Rpeak.
    let peaks: Vec<PeakEstimate> = entries.iter().filter_map(PeakEstimate::new).collect();
    for entry in entries.iter_mut() {
        if let (Some(work), Some(LimitKind::ComputeFp64)) =
            (entry.record.case.workload.as_linpack(), metric_limit_kind(entry))
        {
            let (cores, host) = (work.cpus.len(), &entry.estimate.host);
            let candidates = peaks.iter().filter(|it| it.cores == cores && it.host == *host);
            let best = candidates.max_by(|a, b| a.flops.total_cmp(&b.flops));
            set_peak_limit(&mut entry.estimate, best);
        }
    }
}

/// Sets the limit from a data sheet, unless a lower limit is already set.
pub fn apply_data_sheet(estimate: &mut MetricEstimate, limit: PhysicalLimit) {
    if estimate.limit.as_ref().is_some_and(|current| current.value <= limit.value) {
        return;
    }
    set_limit(estimate, Some(limit));
    estimate.warnings.retain(|doubt| !matches!(doubt, Doubt::AboveLimit { .. }));
    estimate.warnings.extend(laws::check_limit(estimate));
}

/// Returns the link rate of the device that carried the traffic, as read during the measurement.
fn link_limit(parameters: &Attributes) -> Option<PhysicalLimit> {
    let value = parameters.get(&Attribute::LinkBitPerS)?.as_number()?;
    let device = parameters.get(&Attribute::Device).and_then(AttributeValue::as_text);
    Some(PhysicalLimit { value, basis: LimitBasis::Link { device: device.map(str::to_owned) } })
}

/// Core clock that one case measured on one host.
struct MeasuredClock {
    case: String,
    host: String,
    hz: f64,
}

impl MeasuredClock {
    fn new(entry: &EstimateEntry<'_>) -> Option<Self> {
        let MetricEstimate { case, host, median, metric, .. } = &entry.estimate;
        let is_clock = metric == "core_clock";
        is_clock.then(|| Self { case: case.clone(), host: host.clone(), hz: *median })
    }

    fn applies_to(&self, estimate: &MetricEstimate) -> bool {
        self.case == estimate.case && self.host == estimate.host
    }
}

/// FP64 peak rate of multiply-add operations, as measured by one case.
struct PeakEstimate {
    cores: usize,
    host: String,
    flops: f64,
    instruction_set: String,
    /// Whether it has no interval that is too wide for shares of it.
    is_known: bool,
    /// Rpeak with its factors, where the clock was measured.
    rpeak: Attributes,
    rpeak_limit: Option<PhysicalLimit>,
}

/// Largest half width of the interval of a peak, over its median, for a share of it.
const MAX_PEAK_UNCERTAINTY: f64 = 0.1;

const RPEAK_ATTRIBUTES: [Attribute; 4] =
    [Attribute::Rpeak, Attribute::RpeakCores, Attribute::FlopPerCycle, Attribute::RpeakClock];

impl PeakEstimate {
    fn new(entry: &EstimateEntry<'_>) -> Option<Self> {
        let work = entry.record.case.workload.as_peak_flops()?;
        let estimate = &entry.estimate;
        let parameter = |name| Some((name, estimate.parameters.get(&name)?.clone()));
        (metric_limit_kind(entry) == Some(LimitKind::ComputeFp64)).then(|| Self {
            cores: work.domain.cpus.len(),
            host: estimate.host.clone(),
            flops: estimate.median,
            instruction_set: work.instruction_set.clone(),
            is_known: estimate.ci.is_none_or(|[low, high]| {
                (high - low) / 2.0 <= MAX_PEAK_UNCERTAINTY * estimate.median
            }),
            rpeak: RPEAK_ATTRIBUTES.into_iter().filter_map(parameter).collect(),
            rpeak_limit: estimate.limit.clone(),
        })
    }
}

fn metric_limit_kind(entry: &EstimateEntry<'_>) -> Option<LimitKind> {
    let benchmark = entry.record.case.workload.benchmark();
    benchmark.metric(&entry.estimate.metric)?.limit
}

fn set_limit(estimate: &mut MetricEstimate, limit: Option<PhysicalLimit>) {
    let limit = limit.filter(|limit| limit.value > 0.0 && limit.value.is_finite());
    let share = limit.as_ref().map(|limit| 100.0 * estimate.median / limit.value);
    estimate.percent_of_limit = share.filter(|share| share.is_finite());
    estimate.limit = limit;
}

fn set_rpeak_limit(
    estimate: &mut MetricEstimate,
    work: &PeakFlopsWorkload,
    element_bits: u32,
    clock_hz: Option<f64>,
) {
    let Some(clock_hz) = clock_hz else { return };
    let (cores, instruction_set) = (work.domain.cpus.len(), &work.instruction_set);
    // Bursts are as short as the slices that measure the clock, so that other processes disturb neither. Runs
    // from before they were timed have the best repetition, which others may have halved.
    let in_bursts = estimate.parameters.get(&Attribute::BurstFlopPerCycle);
    let in_bursts = in_bursts.and_then(AttributeValue::as_number);
    let best = in_bursts.map_or(estimate.max, |per_cycle| per_cycle * cores as f64 * clock_hz);
    let rpeak =
        match Rpeak::from_measurement(best, cores, clock_hz, instruction_set, element_bits) {
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
    estimate.parameters.extend(RPEAK_ATTRIBUTES.into_iter().zip(factors));
    let basis = LimitBasis::Rpeak(rpeak);
    set_limit(estimate, Some(PhysicalLimit { value: rpeak.value(), basis }));
}

fn set_peak_limit(estimate: &mut MetricEstimate, peak: Option<&PeakEstimate>) {
    let Some(peak) = peak else { return };
    estimate.parameters.extend(peak.rpeak.clone());
    if let Some(rpeak) = peak.rpeak.get(&Attribute::Rpeak).and_then(AttributeValue::as_number) {
        let percent = 100.0 * (estimate.median / rpeak);
        estimate.parameters.insert(Attribute::PercentOfRpeak, percent.into());
    }
    let instruction_set = peak.instruction_set.clone();
    let basis = LimitBasis::MeasuredPeak { instruction_set, cores: peak.cores };
    let measured = PhysicalLimit { value: peak.flops, basis };
    set_limit(estimate, if peak.is_known { Some(measured) } else { peak.rpeak_limit.clone() });
}
