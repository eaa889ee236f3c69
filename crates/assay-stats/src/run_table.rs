//! Table of several runs: matches their results as a comparison does, without a verdict.

use std::collections::BTreeMap;

use assay_model::run::Run;
use assay_model::run_table::{RunColumn, RunTable, RunTableRow};

use crate::compare::{ResultKey, keyed_estimates};
use crate::summarize::summarize;

/// Builds the table of runs, in the given order.
pub fn build_run_table(runs: &[Run]) -> RunTable {
    let mut places: BTreeMap<ResultKey, usize> = BTreeMap::new();
    let mut rows: Vec<RunTableRow> = Vec::new();
    for (column, run) in runs.iter().enumerate() {
        for (key, estimate) in keyed_estimates(run) {
            let place = *places.entry(key).or_insert_with(|| {
                rows.push(RunTableRow { estimates: vec![None; runs.len()] });
                rows.len() - 1
            });
            rows[place].estimates[column] = Some(estimate);
        }
    }
    let column = |run: &Run| RunColumn {
        header: summarize(run).run,
        host: run.first_host().map(|joined| joined.host.clone()).unwrap_or_default(),
    };
    RunTable { runs: runs.iter().map(column).collect(), rows }
}
