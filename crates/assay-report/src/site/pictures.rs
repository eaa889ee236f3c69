//! Data of the pictures of the comparison: curves of the run pages and percentiles of results. Its
//! script draws those of several runs over each other.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;
use serde_json::{Value, json};

use super::script::assign;
use super::short_text;
use crate::document::{Axis, Block, Document, Plot, Scale};
use crate::units;

/// Maximum number of points of a plot that are written: a picture of several runs is no wider.
const MAX_POINTS: usize = 2000;
/// Powers of ten of the prefixes from pico to peta, and of two up to tebi.
const DECIMAL_PREFIXES: [i32; 10] = [-12, -9, -6, -3, 0, 3, 6, 9, 12, 15];
const BINARY_PREFIXES: [i32; 5] = [0, 10, 20, 30, 40];

/// Renders the curves of a run's page, for pictures of several runs, and the units of its results.
pub fn curves_script(run: &str, document: &Document, results: &[&MetricEstimate]) -> String {
    let plots: Vec<&Plot> = plots_of(&document.blocks).into_iter().filter(is_drawn).collect();
    let axes = plots.iter().flat_map(|plot| [plot.x.unit, plot.y.unit]);
    let units: BTreeSet<&str> =
        axes.chain(results.iter().map(|it| it.unit)).map(Unit::symbol).collect();
    let units = Unit::ALL.into_iter().filter(|unit| units.contains(unit.symbol()));
    let units: BTreeMap<&str, Value> = units.map(|it| (it.symbol(), prefixes(it))).collect();
    let plots: Vec<Value> = plots.into_iter().map(plot_value).collect();
    let place = format!("(self.assayCurves ??= {{}})[{}]", Value::from(run));
    assign(&place, &json!({ "plots": plots, "units": units }))
}

/// Returns the percentiles of a result as pairs, ascending; `null` without any.
pub(super) fn percentiles(estimate: &MetricEstimate) -> Value {
    let known = estimate.percentiles.iter().flatten();
    let number = |name: &str| name.strip_prefix('p')?.parse::<f64>().ok();
    let mut pairs: Vec<[f64; 2]> =
        known.filter_map(|(name, value)| Some([number(name)?, *value])).collect();
    pairs.sort_by(|a, b| a[0].total_cmp(&b[0]));
    if pairs.is_empty() { Value::Null } else { json!(pairs) }
}

fn plots_of(blocks: &[Block]) -> Vec<&Plot> {
    let mut plots = Vec::new();
    for block in blocks {
        match block {
            Block::Plot(plot) => plots.push(plot),
            Block::Details(details) => plots.extend(plots_of(&details.blocks)),
            Block::Heading(_)
            | Block::Paragraph(_)
            | Block::Facts(_)
            | Block::Table(_)
            | Block::Forest(_)
            | Block::HeatMap(_)
            | Block::Notes(_)
            | Block::Preformatted(_) => {}
        }
    }
    plots
}

fn is_drawn(plot: &&Plot) -> bool {
    let points: usize = plot.series.iter().map(|series| series.points.len()).sum();
    (2..=MAX_POINTS).contains(&points)
}

fn plot_value(plot: &Plot) -> Value {
    let axis = |axis: &Axis| {
        let scale = match axis.scale {
            Scale::Linear => "linear",
            Scale::LinearFitted => "fitted",
            Scale::Log2 => "log2",
            Scale::Log10 => "log10",
        };
        json!([axis.label, axis.unit.symbol(), scale])
    };
    let series = plot.series.iter().map(|series| {
        let points: Vec<[f64; 2]> = series.points.iter().map(|it| [it.x, it.y]).collect();
        json!([short_text(&series.name), points])
    });
    json!({
        "title": plot.title,
        "x": axis(&plot.x),
        "y": axis(&plot.y),
        "series": series.collect::<Vec<_>>(),
    })
}

/// Returns the prefixes of a unit: factor, and symbol in the current language.
fn prefixes(unit: Unit) -> Value {
    let factors: Vec<f64> = match unit {
        // Sizes have binary prefixes, rates decimal ones.
        Unit::Byte => BINARY_PREFIXES.map(|power| 2f64.powi(power)).into(),
        Unit::BytePerSecond
        | Unit::BitPerSecond
        | Unit::FlopPerSecond
        | Unit::IoPerSecond
        | Unit::Second
        | Unit::SecondPerByte
        | Unit::Hertz
        | Unit::Ratio
        | Unit::Count => DECIMAL_PREFIXES.map(|power| 10f64.powi(power)).into(),
    };
    let mut symbols: Vec<(f64, String)> = Vec::new();
    for factor in factors {
        let written = units::quantity(factor, unit, 1);
        let (number, symbol) = units::split_unit(&written);
        let is_known = symbols.iter().any(|(_, it)| it == symbol);
        if number == "1" && !is_known {
            symbols.push((factor, symbol.to_owned()));
        }
    }
    json!(symbols)
}
