//! Points of a loaded latency so far, of which the line of progress has both ends: the idle latency,
//! and latency and bandwidth at the highest traffic.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::event::SeriesOpened;
use assay_model::quantity::{Quantity, Unit};

use super::{format_value, median};

/// Values of all points.
#[derive(Debug, Default)]
pub(super) struct LoadedPoints {
    points: Vec<LoadedPoint>,
    /// Number of a series → its point, and whether its values are bandwidths.
    places: BTreeMap<u32, (usize, bool)>,
}

#[derive(Debug, Default)]
struct LoadedPoint {
    dimensions: Attributes,
    latencies_s: Vec<f64>,
    bandwidths: Vec<f64>,
}

impl LoadedPoints {
    /// Adds a series of a point.
    pub(super) fn open(&mut self, opened: &SeriesOpened) {
        let known = self.points.iter().position(|it| it.dimensions == opened.dimensions);
        let point = known.unwrap_or_else(|| {
            let dimensions = opened.dimensions.clone();
            self.points.push(LoadedPoint { dimensions, ..LoadedPoint::default() });
            self.points.len() - 1
        });
        self.places.insert(opened.series, (point, opened.metric == "bandwidth"));
    }

    /// Adds a value, if its series is one of a point.
    pub(super) fn add(&mut self, series: u32, value: f64) {
        match self.places.get(&series) {
            Some((point, true)) => self.points[*point].bandwidths.push(value),
            Some((point, false)) => self.points[*point].latencies_s.push(value),
            None => {}
        }
    }

    /// Formats the idle latency and the point with the highest bandwidth; `None` without values.
    pub(super) fn format_ends(&self) -> Option<String> {
        let (idle, loaded): (Vec<_>, Vec<_>) = self
            .points
            .iter()
            .filter_map(|it| Some((it, median(&it.latencies_s)?, median(&it.bandwidths)?)))
            .partition(|(it, ..)| it.dimensions.contains_key(&Attribute::Point));
        let seconds = |value| format_value(Quantity::new(value, Unit::Second));
        let idle = idle.first().map(|(_, latency_s, _)| seconds(*latency_s));
        let busiest = loaded.iter().max_by(|a, b| a.2.total_cmp(&b.2));
        let busiest = busiest.map(|(_, latency_s, bandwidth)| {
            let bandwidth = format_value(Quantity::new(*bandwidth, Unit::BytePerSecond));
            format!("{}, {bandwidth}", seconds(*latency_s))
        });
        let ends: Vec<String> = idle.into_iter().chain(busiest).collect();
        (!ends.is_empty()).then(|| ends.join(" … "))
    }
}
