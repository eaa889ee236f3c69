//! Forest plot of a comparison: each ratio with its interval, and the equivalence margin.

use assay_model::comparison::{Comparison, ComparisonVerdict, MetricComparison};

use super::{case_label, format_ratio, metric_label, sort_key, tone};
use crate::document::{Forest, ForestRow};
use crate::locale::comma;
use crate::precision;

/// Maximum number of rows; the table contains all. Rows with a difference take precedence.
const MAX_ROWS: usize = 40;

/// Builds the plot; `None` if no pair has a ratio.
pub(super) fn forest(comparison: &Comparison) -> Option<Forest> {
    let has_ratio =
        |it: &&MetricComparison| it.ratio.is_some_and(|ratio| ratio.is_finite() && ratio > 0.0);
    let mut pairs: Vec<&MetricComparison> =
        comparison.deciding_pairs().filter(has_ratio).collect();
    let all = pairs.len();
    if all > MAX_ROWS {
        // Readers look for differences. The sort is stable.
        pairs.sort_by_key(|pair| pair.verdict == ComparisonVerdict::Equivalent);
        pairs.truncate(MAX_ROWS);
    }
    pairs.sort_by_key(|pair| sort_key(&pair.a));
    let row = |pair: &&MetricComparison| {
        let value = pair.ratio?;
        let shown = match pair.ratio_ci {
            Some(interval) => {
                format!("{} ({})", format_ratio(pair, value), precision::ratio_range(interval))
            }
            None => format_ratio(pair, value),
        };
        let name =
            [metric_label(&pair.a), case_label(pair)].into_iter().filter(|it| !it.is_empty());
        let (name, interval) = (name.collect::<Vec<_>>().join(comma()), pair.ratio_ci);
        Some(ForestRow { name, value, interval, formatted: shown, tone: tone(pair.verdict) })
    };
    let rows: Vec<ForestRow> = pairs.iter().filter_map(row).collect();
    let (a, b) = (&comparison.a.name, &comparison.b.name);
    let margin = 1.0 + comparison.margin;
    (!rows.is_empty()).then(|| Forest {
        title: message!("forest-title", a = a, b = b),
        description: message!(
            "forest-description",
            shown = rows.len().to_string(),
            all = all.to_string(),
            margin = precision::format_percent_setting(comparison.margin * 100.0),
        ),
        axis: format!("{b} ÷ {a}"),
        rows,
        margin: [1.0 / margin, margin],
    })
}
