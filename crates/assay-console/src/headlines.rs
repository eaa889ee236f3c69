//! The few values that `assay list` shows of a run.

use assay_model::run::Run;
use assay_report::build;
use assay_stats::summarize::summarize;
use assay_store::{Headline, Headlines};

/// What the list shows; the version changes when the choice or the statistics do, so that an index
/// made before is renewed.
pub(crate) const HEADLINES: Headlines =
    Headlines { version: 100 * assay_stats::METHOD + CHOICE, of: headlines };
/// Which values are chosen, and what they are called.
const CHOICE: u32 = 4;

fn headlines(run: &Run) -> (Vec<Headline>, bool) {
    let summary = summarize(run);
    let headline = |(label, quantity)| Headline { label, quantity };
    let headlines = build::headlines(&summary).into_iter().map(headline).collect();
    (headlines, build::distrusted(&summary).is_empty())
}
