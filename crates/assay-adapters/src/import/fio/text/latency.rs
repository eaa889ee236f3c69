//! Latency lines and tables of percentiles in fio's text.

use std::collections::BTreeMap;

use assay_model::quantity::{self as parse};

use crate::fio_json::FioLatency;

/// Line `clat (usec): min=4, max=4010, avg=255.85, stdev=218.26`, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LatencyLine {
    min_s: f64,
    mean_s: f64,
    max_s: f64,
}

/// Latencies of one direction by kind: `clat`, `lat`.
#[derive(Debug, Default)]
pub(super) struct TextLatencies {
    lines: BTreeMap<&'static str, LatencyLine>,
    percentiles: BTreeMap<&'static str, BTreeMap<String, f64>>,
    /// Kind and unit in seconds of the table that goes on.
    table: Option<(&'static str, f64)>,
}

/// Kinds that are imported: from submission, and from the call of the engine.
const KINDS: [&str; 2] = ["clat", "lat"];

impl TextLatencies {
    /// Reads a line, if it is one of a latency.
    pub(super) fn add_line(&mut self, line: &str) {
        if line.starts_with('|') {
            self.add_percentiles(line);
            return;
        }
        self.table = None;
        for kind in KINDS {
            let Some(rest) = line.strip_prefix(kind) else { continue };
            if let Some(rest) = rest.strip_prefix(" percentiles (") {
                self.table = time_unit(rest).map(|unit_s| (kind, unit_s));
            } else if let Some(rest) = rest.trim_start().strip_prefix('(')
                && let Some(found) = parse_latency_line(rest)
            {
                self.lines.insert(kind, found);
            }
        }
    }

    /// Reads `|  1.00th=[   11],  5.00th=[   41]`.
    fn add_percentiles(&mut self, line: &str) {
        let Some((kind, unit_s)) = self.table else { return };
        // A cell without its end was cut off.
        for cell in line.split_inclusive(']').filter_map(|cell| cell.strip_suffix(']')) {
            let Some((percent, value)) = cell.split_once("th=[") else { continue };
            let percent = percent.trim_start_matches(['|', ',', ' ']).parse::<f64>();
            let value = value.trim().trim_start_matches('>').parse::<f64>();
            if let (Ok(percent), Ok(value)) = (percent, value) {
                let name = format!("p{percent}");
                self.percentiles.entry(kind).or_default().insert(name, value * unit_s);
            }
        }
    }

    /// Returns the completion latency, or the total one if that alone has percentiles.
    pub(super) fn into_latency(
        mut self,
        operation: Option<&'static str>,
    ) -> Option<FioLatency> {
        let has_line = |kind: &&&str| self.lines.contains_key(**kind);
        let has_table = |kind: &&&str| self.percentiles.contains_key(**kind);
        let known = || KINDS.iter().filter(has_line);
        let kind = known().find(has_table).or_else(|| known().next())?;
        let line = self.lines.get(kind)?;
        let mut percentiles = self.percentiles.remove(kind).unwrap_or_default();
        let has_median = percentiles.get("p50").is_some_and(|it| *it > 0.0);
        let median_s = if has_median { percentiles.remove("p50") } else { None };
        Some(FioLatency {
            operation,
            count: None,
            min_s: line.min_s,
            mean_s: line.mean_s,
            max_s: line.max_s,
            median_s,
            percentiles,
            missing: vec![],
        })
    }
}

fn parse_latency_line(rest: &str) -> Option<LatencyLine> {
    let unit_s = time_unit(rest).filter(|_| rest.contains("stdev="))?;
    let of = |name: &str| {
        let text = rest.split_once(name)?.1.split(',').next()?.trim();
        let (number, factor) =
            parse::split_factor(text, |unit| parse::letter_factor(unit, 1e3))?;
        Some(number.parse::<f64>().ok()? * factor * unit_s).filter(|it| *it >= 0.0)
    };
    let (min_s, max_s, mean_s) = (of("min=")?, of("max=")?, of("avg=")?);
    Some(LatencyLine { min_s, mean_s, max_s })
}

/// Returns the unit at the beginning of `usec): …`.
fn time_unit(text: &str) -> Option<f64> {
    match text.split(')').next()? {
        "nsec" => Some(1e-9),
        "usec" => Some(1e-6),
        "msec" => Some(1e-3),
        "sec" => Some(1.0),
        _ => None,
    }
}
