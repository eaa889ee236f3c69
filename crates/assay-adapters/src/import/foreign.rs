//! Figures with a unit that the file names, for tests that no benchmark of assay defines.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::{Benchmark, Better};

use super::ImportedMeasurement;
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative, parse_number};

/// Meaning of a unit: the metric of either direction, and the factor to the base unit.
pub(crate) struct UnitMeaning {
    higher: Option<&'static str>,
    lower: Option<&'static str>,
    factor: f64,
}

impl UnitMeaning {
    /// Whether there is a metric that improves in this direction.
    pub(crate) const fn improves(&self, better: Better) -> bool {
        match better {
            Better::Higher => self.higher.is_some(),
            Better::Lower => self.lower.is_some(),
        }
    }
}

/// Parses a unit. `Gb/s` (bits) and `GB/s` (bytes) are different, as printed.
pub(crate) fn parse_unit(name: &str) -> Option<UnitMeaning> {
    let higher =
        |metric, factor| Some(UnitMeaning { higher: Some(metric), lower: None, factor });
    let time = |factor| Some(UnitMeaning { higher: None, lower: Some("time"), factor });
    let name = name.trim();
    let name =
        name.strip_suffix("/sec").map_or_else(|| name.to_owned(), |it| format!("{it}/s"));
    let small = name.to_ascii_lowercase();
    match small.as_str() {
        "s" | "sec" | "second" | "seconds" => return time(1.0),
        "ms" | "milliseconds" => return time(1e-3),
        "us" | "µs" | "μs" | "usec" | "microseconds" => return time(1e-6),
        "ns" | "nanoseconds" => return time(1e-9),
        "%" | "percent" => return higher("share", 0.01),
        "1/s" | "hz" | "ops/s" | "events/s" => return higher("event_rate", 1.0),
        "iops" => return higher("io_rate", 1.0),
        "kiops" => return higher("io_rate", 1e3),
        _ => {}
    }
    let prefixes = [("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12), ("p", 1e15)];
    let binary = [("Ki", 1024f64), ("Mi", 1024f64.powi(2)), ("Gi", 1024f64.powi(3))];
    for (prefix, factor) in binary {
        if name.strip_prefix(prefix) == Some("B/s") {
            return higher("bandwidth", factor);
        }
    }
    for (prefix, factor) in prefixes {
        let Some(rest) = name.get(..prefix.len()).filter(|it| it.eq_ignore_ascii_case(prefix))
        else {
            continue;
        };
        let kinds = [
            (&["B/s"][..], "bandwidth"),
            (&["bit/s", "b/s", "bits/s", "bps"][..], "bit_rate"),
            (&["FLOP/s", "FLOPS", "flops", "Flop/s", "Flops", "flop/s"][..], "flop_rate"),
            (&["IO/s", "IOPS"][..], "io_rate"),
        ];
        let found = kinds.into_iter().find(|(words, _)| words.contains(&&name[rest.len()..]));
        if let Some((_, metric)) = found {
            return higher(metric, factor);
        }
    }
    None
}

/// Returns the metric of a figure and its value in base units; a figure with an unknown unit
/// becomes a score.
///
/// # Errors
/// If the text is not a number, or is negative with a known unit: −1 marks a failed measurement.
pub(crate) fn to_base_unit(
    name: &str,
    (what, text): (&str, &str),
    lower_is_better: Option<bool>,
) -> Result<Option<(&'static str, f64)>, ToolError> {
    let score = UnitMeaning { higher: Some("score"), lower: Some("penalty"), factor: 1.0 };
    let (known, value) = match parse_unit(name) {
        Some(known) => (known, parse_non_negative(what, text)?),
        None => (score, parse_number(what, text)?),
    };
    let metric = match lower_is_better {
        Some(true) => known.lower,
        Some(false) => known.higher,
        None => known.higher.or(known.lower),
    };
    Ok(metric.map(|metric| (metric, value * known.factor)))
}

/// Makes a measurement of a test that no benchmark of assay defines.
pub(crate) fn foreign_measurement(
    test: &str,
    metric: &'static str,
    samples: Vec<f64>,
) -> ImportedMeasurement {
    let mut parsed = ParsedOutput::default();
    parsed.add_samples(metric, samples);
    let dimensions = Attributes::from([(Attribute::Test, test.into())]);
    ImportedMeasurement::new(test, Benchmark::Foreign, dimensions, parsed)
}
