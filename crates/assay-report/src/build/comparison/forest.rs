//! Forest plot of a comparison: each ratio with its interval, and the equivalence margin.

use assay_model::comparison::{Comparison, Pair, Verdict};

use super::{case, order, shown_ratio, tone, what};
use crate::document::{Forest, Ratio};
use crate::locale::comma;
use crate::precision;

/// Maximum number of rows; the table contains all. Rows with a difference take precedence.
const MOST: usize = 40;

/// Builds the plot; `None` if no pair has a ratio.
pub(super) fn forest(comparison: &Comparison) -> Option<Forest> {
    let has_ratio = |it: &&Pair| it.ratio.is_some_and(|ratio| ratio.is_finite() && ratio > 0.0);
    let mut pairs: Vec<&Pair> = comparison.deciding().filter(has_ratio).collect();
    let all = pairs.len();
    if all > MOST {
        // Readers look for differences. The sort is stable.
        pairs.sort_by_key(|pair| pair.verdict == Verdict::Equivalent);
        pairs.truncate(MOST);
    }
    pairs.sort_by_key(|pair| order(&pair.a));
    let row = |pair: &&Pair| {
        let value = pair.ratio?;
        let shown = match pair.ratio_ci {
            Some(interval) => {
                format!("{} ({})", shown_ratio(pair, value), precision::ratio_range(interval))
            }
            None => shown_ratio(pair, value),
        };
        let name = [what(&pair.a), case(pair)].into_iter().filter(|it| !it.is_empty());
        let (name, interval) = (name.collect::<Vec<_>>().join(comma()), pair.ratio_ci);
        Some(Ratio { name, value, interval, shown, tone: tone(pair.verdict) })
    };
    let rows: Vec<Ratio> = pairs.iter().filter_map(row).collect();
    let (a, b) = (&comparison.a.name, &comparison.b.name);
    let margin = 1.0 + comparison.margin;
    (!rows.is_empty()).then(|| Forest {
        title: say!("forest-title", a = a, b = b),
        description: say!(
            "forest-description",
            shown = rows.len().to_string(),
            all = all.to_string(),
            margin = precision::percent_setting(comparison.margin * 100.0),
        ),
        axis: format!("{b} ÷ {a}"),
        rows,
        margin: [1.0 / margin, margin],
    })
}
