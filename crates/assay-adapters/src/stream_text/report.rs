//! From a table to samples, and a look at the size of the arrays.

use assay_model::event::Parameter;
use assay_model::quantity::Bytes;
use assay_model::warning::Warning;
use assay_model::workload::StreamWorkload;

use super::{StreamFunction, StreamText};
use crate::outputs::{Learned, Parsed};

impl StreamText {
    /// Hands out one sample of each metric: `rates`, in B/s, in the order of the table.
    ///
    /// STREAM reports the best pass and leaves out the first; the statistic says so. Mean and
    /// longest time stand beside it unless they were too short to be printed.
    pub(crate) fn report(&self, rates: [f64; 4], parsed: &mut Parsed) {
        for (function, rate) in self.functions.iter().zip(rates) {
            let StreamFunction { metric, mean_s, longest_s, .. } = *function;
            parsed.measure(metric, vec![rate]);
            for (name, time_s) in [("pass_mean_s", mean_s), ("pass_longest_s", longest_s)] {
                if time_s > 0.0 {
                    parsed.learn_of(metric, name, Parameter::Number(time_s));
                }
            }
        }
        let statistic = format!("best of {}", self.passes.saturating_sub(1));
        parsed.learn("statistic", Parameter::Text(statistic));
        parsed.learn("element_bytes", Parameter::Integer(self.element_bytes));
    }
}

/// Says how large the arrays of `metric` (`None` = of all) really were, and warns where they were
/// smaller than asked for.
pub(crate) fn report_arrays(
    metric: Option<&'static str>,
    bytes: u64,
    asked: &StreamWorkload,
    parsed: &mut Parsed,
) {
    /// Rounding to whole vectors and blocks takes less than this.
    const ROUNDING: f64 = 0.99;
    let value = Parameter::Integer(bytes);
    parsed.learned.push(Learned { metric, name: "bytes_per_array", value });
    let share = bytes as f64 / asked.bytes_per_array.max(1) as f64;
    if share < ROUNDING {
        let held = Bytes(bytes).quantity();
        let wanted = Bytes(asked.bytes_per_array).quantity();
        let multiple = asked.cache_multiple * share;
        parsed.warnings.push(Warning::new(
            "smaller-arrays",
            format!(
                "the tool's arrays hold {held:.3} where {wanted:.3} were asked for: \
                 {multiple:.2} times the last-level caches"
            ),
            "give the tool larger arrays; STREAM's own rule is four times the caches",
        ));
    }
}
