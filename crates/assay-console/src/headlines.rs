//! Headline values that `assay list` prints for each run.

use std::collections::BTreeSet;

use assay_model::run::Run;
use assay_report::build;
use assay_stats::summarize::summarize;
use assay_store::{Headline, HeadlineSource, RunDigest};

/// Selection of headline values. Its version changes with the selection or the statistics, so that
/// older indexes are rebuilt.
pub(crate) const HEADLINES: HeadlineSource = HeadlineSource {
    version: 100 * assay_stats::STATISTICS_VERSION + SELECTION_VERSION,
    condense: select_headlines,
};
/// Version of the selection of values and of their names.
const SELECTION_VERSION: u32 = 7;

fn select_headlines(run: &Run) -> RunDigest {
    let summary = summarize(run);
    let headline = |(label, quantity)| Headline { label, quantity };
    let headlines = build::headlines(&summary).into_iter().map(headline).collect();
    let names = summary.results.iter().map(|it| format!("{}/{}", it.benchmark, it.metric));
    let names: BTreeSet<String> = names.collect();
    RunDigest {
        headlines,
        trust: build::trust_level(&summary),
        metrics: names.into_iter().collect(),
    }
}
