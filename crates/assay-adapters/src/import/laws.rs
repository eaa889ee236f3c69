//! Laws that conditions and figures of imported storage results keep: a size that an option names
//! has to explain the figures, whichever tool printed them.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;

use super::ImportedMeasurement;
use crate::outputs::ParsedOutput;

/// Relative rounding of a rate and a bandwidth with three digits, and of the time behind them.
const ROUNDING: f64 = 0.02;
/// Relative excess of rate × latency over the I/Os in flight: jobs of a group may run for different times,
/// and their rates are added.
const IN_FLIGHT_TOLERANCE: f64 = 1.0;
/// Half the last digit of a bandwidth in MiB/s with two decimals, as Vdbench prints it, and of a
/// rate with one.
const BANDWIDTH_DIGIT: f64 = 0.005 * 1_048_576.0;
const RATE_DIGIT: f64 = 0.05;

/// Checks that bandwidth = rate × size. Otherwise the size of the figures replaces the option, with
/// a doubt. `opens_files` = the bandwidth includes the time of opening and closing, the rate does not.
pub(super) fn explain_figures(measurement: &mut ImportedMeasurement, opens_files: bool) {
    if measurement.benchmark != Benchmark::Storage {
        return;
    }
    let size =
        measurement.dimensions.get(&Attribute::Bytes).and_then(AttributeValue::as_number);
    let rate_per_s = sum_of_means(&measurement.parsed, "rate");
    let bytes_per_s = sum_of_means(&measurement.parsed, "bandwidth");
    let (Some(size), Some(rate_per_s), Some(bytes_per_s)) = (size, rate_per_s, bytes_per_s)
    else {
        return;
    };
    let expected = rate_per_s * size;
    let tolerance = ROUNDING * expected + BANDWIDTH_DIGIT + RATE_DIGIT * size;
    let is_explained = match opens_files {
        true => bytes_per_s <= expected + tolerance,
        false => (bytes_per_s - expected).abs() <= tolerance,
    };
    if is_explained {
        return;
    }
    let figures = (bytes_per_s / rate_per_s).round();
    measurement.parsed.doubts.push(Doubt::OptionContradicted {
        condition: Attribute::Bytes.name().to_owned(),
        option: size.to_string(),
        figures: figures.to_string(),
    });
    measurement.dimensions.remove(&Attribute::Bytes);
    if (1.0..1e18).contains(&figures) {
        measurement.dimensions.insert(Attribute::Bytes, (figures as u64).into());
    }
}

/// Checks Little's law: rate × mean latency is the number of I/Os in flight, which cannot exceed
/// the depth of all threads. Latencies of both directions of a mix are left alone.
pub(super) fn check_in_flight(measurement: &mut ImportedMeasurement) {
    if measurement.benchmark != Benchmark::Storage {
        return;
    }
    let depth =
        measurement.dimensions.get(&Attribute::Depth).and_then(AttributeValue::as_number);
    let rate_per_s = sum_of_means(&measurement.parsed, "rate");
    let (Some(in_flight), Some(rate_per_s)) = (depth, rate_per_s) else { return };
    let mut latencies = measurement.parsed.values.iter().filter(|it| it.metric == "latency");
    let (Some(latency), None) = (latencies.next(), latencies.next()) else { return };
    let Some(mean_s) = latency.figures.as_ref().and_then(|it| it.mean) else { return };
    let product = rate_per_s * mean_s;
    let doubts = &mut measurement.parsed.doubts;
    doubts.retain(|doubt| !matches!(doubt, Doubt::LittlesLaw { .. }));
    if product > in_flight * (1.0 + IN_FLIGHT_TOLERANCE) {
        doubts.push(Doubt::LittlesLaw { in_flight, product });
    }
}

/// Returns the mean of a metric's samples, summed over the operations of a mix.
fn sum_of_means(parsed: &ParsedOutput, metric: &str) -> Option<f64> {
    let mut sum = None;
    for of in parsed.values.iter().filter(|it| it.metric == metric && !it.samples.is_empty()) {
        let mean = of.samples.iter().sum::<f64>() / of.samples.len() as f64;
        *sum.get_or_insert(0.0) += mean;
    }
    sum.filter(|it| *it > 0.0)
}

#[cfg(test)]
mod tests {
    use assay_model::event::ToolFigures;

    use super::*;

    #[test]
    fn figures_replace_a_size_that_does_not_explain_them() {
        let table = [
            (4096, 4_096_000.0, false, Some(4096)),
            (4096, 4_130_000.0, false, Some(4096)),
            (4096, 65_536_000.0, false, Some(65_536)),
            (65_536, 4_096_000.0, false, Some(4096)),
            (65_536, 4_096_000.0, true, Some(65_536)),
            (4096, 65_536_000.0, true, Some(65_536)),
        ];
        for (size, bytes_per_s, opens_files, expected) in table {
            let dimensions = [(Attribute::Bytes, AttributeValue::from(size as u64))].into();
            let mut parsed = ParsedOutput::default();
            parsed.add_samples("rate", vec![990.0, 1010.0]);
            parsed.add_samples("bandwidth", vec![bytes_per_s]);
            let mut measurement =
                ImportedMeasurement::new("x", Benchmark::Storage, dimensions, parsed);
            explain_figures(&mut measurement, opens_files);
            let found = measurement.dimensions.get(&Attribute::Bytes);
            let found = found.and_then(AttributeValue::as_number).map(|bytes| bytes as i32);
            assert_eq!(found, expected, "{size} {bytes_per_s} {opens_files}");
            assert_eq!(measurement.parsed.doubts.is_empty(), found == Some(size));
        }
    }

    #[test]
    fn latency_above_the_depth_is_doubted() {
        // 10,000 IO/s at a mean of 0.4 ms are 4 I/Os in flight.
        for (depth, is_doubted) in [(None, false), (Some(2_u64), false), (Some(1), true)] {
            let dimensions = depth.map(|depth| (Attribute::Depth, depth.into()));
            let mut parsed = ParsedOutput::default();
            parsed.add_samples("rate", vec![10_000.0]);
            parsed.add_samples("latency", vec![0.3e-3]);
            let figures = ToolFigures { mean: Some(0.4e-3), ..ToolFigures::default() };
            parsed.set_figures("latency", figures);
            let dimensions = dimensions.into_iter().collect();
            let mut measurement =
                ImportedMeasurement::new("x", Benchmark::Storage, dimensions, parsed);
            for _ in 0..2 {
                check_in_flight(&mut measurement);
            }
            let doubts = measurement.parsed.doubts;
            let is_law = |it: &Doubt| matches!(it, Doubt::LittlesLaw { .. });
            assert_eq!(doubts.iter().filter(|it| is_law(it)).count(), usize::from(is_doubted));
        }
    }
}
