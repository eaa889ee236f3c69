//! Conversion of STREAM's table to samples, and a check of the array size.

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::workload::StreamWorkload;

use super::{StreamFunction, StreamText};
use crate::outputs::{ParsedOutput, ReportedAttribute};

impl StreamText {
    /// Adds one sample of each metric: `rates`, in B/s, in the order of the table.
    ///
    /// STREAM reports the best pass and ignores the first, which the attribute `statistic` records.
    /// Mean and longest time are added unless they were too short to be printed.
    pub(crate) fn add_samples(&self, rates: [f64; 4], parsed: &mut ParsedOutput) {
        for (function, rate) in self.functions.iter().zip(rates) {
            let StreamFunction { metric, mean_s, longest_s, .. } = *function;
            parsed.add_samples(metric, vec![rate]);
            for (name, time_s) in
                [(Attribute::PassMeanS, mean_s), (Attribute::PassLongestS, longest_s)]
            {
                if time_s > 0.0 {
                    parsed.set_metric_attribute(metric, name, time_s);
                }
            }
        }
        parsed.set_attribute(Attribute::Statistic, "best");
        parsed.set_attribute(Attribute::Passes, self.passes.saturating_sub(1));
        parsed.set_attribute(Attribute::ElementBytes, self.element_bytes);
    }
}

/// Records the actual size of the arrays of `metric` (`None` = all), with a doubt if they were
/// smaller than requested.
pub(crate) fn report_arrays(
    metric: Option<&'static str>,
    bytes: u64,
    asked: &StreamWorkload,
    parsed: &mut ParsedOutput,
) {
    /// Rounding to whole vectors and blocks takes less than 1 %.
    const MIN_SHARE: f64 = 0.99;
    let (name, value) = (Attribute::BytesPerArray, bytes.into());
    parsed.attributes.push(ReportedAttribute { metric, name, value });
    let share = bytes as f64 / asked.bytes_per_array.max(1) as f64;
    if share < MIN_SHARE {
        parsed.doubts.push(Doubt::SmallerArrays {
            held_bytes: bytes as f64,
            wanted_bytes: asked.bytes_per_array as f64,
            multiple: asked.cache_multiple * share,
        });
    }
}
