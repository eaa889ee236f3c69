//! From a table to samples, and a look at the size of the arrays.

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::workload::StreamWorkload;

use super::{StreamFunction, StreamText};
use crate::outputs::{Learned, Parsed};

impl StreamText {
    /// Hands out one sample of each metric: `rates`, in B/s, in the order of the table.
    ///
    /// STREAM reports the best pass and leaves out the first; the statistic says so. Mean and
    /// longest time are beside it unless they were too short to be printed.
    pub(crate) fn report(&self, rates: [f64; 4], parsed: &mut Parsed) {
        for (function, rate) in self.functions.iter().zip(rates) {
            let StreamFunction { metric, mean_s, longest_s, .. } = *function;
            parsed.measure(metric, vec![rate]);
            for (name, time_s) in
                [(Attribute::PassMeanS, mean_s), (Attribute::PassLongestS, longest_s)]
            {
                if time_s > 0.0 {
                    parsed.learn_of(metric, name, time_s);
                }
            }
        }
        parsed.learn(Attribute::Statistic, "best");
        parsed.learn(Attribute::Passes, self.passes.saturating_sub(1));
        parsed.learn(Attribute::ElementBytes, self.element_bytes);
    }
}

/// Says how large the arrays of `metric` (`None` = of all) really were, and warns where they were
/// smaller than requested.
pub(crate) fn report_arrays(
    metric: Option<&'static str>,
    bytes: u64,
    asked: &StreamWorkload,
    parsed: &mut Parsed,
) {
    /// Rounding to whole vectors and blocks takes less than this.
    const ROUNDING: f64 = 0.99;
    let (name, value) = (Attribute::BytesPerArray, bytes.into());
    parsed.learned.push(Learned { metric, name, value });
    let share = bytes as f64 / asked.bytes_per_array.max(1) as f64;
    if share < ROUNDING {
        parsed.doubts.push(Doubt::SmallerArrays {
            held_bytes: bytes as f64,
            wanted_bytes: asked.bytes_per_array as f64,
            multiple: asked.cache_multiple * share,
        });
    }
}
