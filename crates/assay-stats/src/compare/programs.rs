//! Comparison of programs that took turns within one run: each block counts as a run of every
//! program, so that programs are compared as conditions in turns are.

use assay_model::attribute::Attribute;
use assay_model::comparison::{Comparison, ComparisonVerdict, MetricComparison};
use assay_model::event::{Sample, StopReason, TurnPosition};
use assay_model::run::{CaseOutcome, CaseRecord, Run};

use super::{Condition, DEFAULT_MARGIN, LevelRuns, compare};
use crate::rank_statistic::MAX_VALUES;

/// Compares every further program of a run with the first one; empty without two programs that
/// ended well.
///
/// Above [`MAX_VALUES`] blocks, neighbouring blocks are combined.
pub fn compare_programs(run: &Run, margin: f64) -> Vec<Comparison> {
    compare_records(run, &finished_programs(run).collect::<Vec<_>>(), margin)
}

/// Compares the programs of a stored run, with the margin that ended it or the default one; empty
/// if they differ by levels of factors.
pub fn compare_stored_programs(run: &Run) -> Vec<Comparison> {
    if !program_levels(run).is_empty() {
        return Vec::new();
    }
    let margin = finished_programs(run).find_map(decided_by_margin);
    compare_programs(run, margin.unwrap_or(DEFAULT_MARGIN))
}

/// Returns whether every further program of a run that has not ended has a verdict: on each of its
/// own figures, or on the wall time if it prints none.
pub fn are_programs_decided(run: &Run, margin: f64) -> bool {
    let may_end = |record: &&CaseRecord| decided_by_margin(record).is_some();
    let programs: Vec<&CaseRecord> = run.cases.iter().filter(may_end).collect();
    let comparisons = compare_records(run, &programs, margin);
    let is_figure = |pair: &&MetricComparison| pair.a.parameters.contains_key(&Attribute::Test);
    let is_open = |pair: &MetricComparison| pair.verdict == ComparisonVerdict::CannotTell;
    let is_decided = |it: &Comparison| match it.pairs.iter().any(|pair| is_figure(&pair)) {
        true => !it.pairs.iter().filter(is_figure).any(is_open),
        false => it.is_decided(),
    };
    !comparisons.is_empty() && comparisons.iter().all(is_decided)
}

/// Compares every further program with the first one.
fn compare_records(run: &Run, programs: &[&CaseRecord], margin: f64) -> Vec<Comparison> {
    let combined = combined_blocks(programs);
    let runs = |record: &CaseRecord| block_runs(run, record, combined);
    let Some((first, others)) = programs.split_first() else { return Vec::new() };
    let of_first = runs(first);
    let compare_with = |other: &&CaseRecord| {
        let of_other = runs(other);
        let condition =
            |record, runs| Condition { name: program_name(record), runs, positions: &[] };
        let mut comparison =
            compare(condition(first, &of_first), condition(other, &of_other), margin);
        if combined > 1 {
            // The number would be one of combined blocks.
            comparison.pairs.iter_mut().for_each(|pair| pair.runs_to_decide = None);
        }
        comparison
    };
    others.iter().map(compare_with).collect()
}

/// Returns the programs of a run that differ by levels of factors, each with a run for each block;
/// empty without factors.
pub fn program_levels(run: &Run) -> Vec<LevelRuns> {
    let programs: Vec<&CaseRecord> = finished_programs(run).collect();
    let combined = combined_blocks(&programs);
    let levels = |record: &CaseRecord| {
        let levels = record.case.workload.as_command().map(|it| it.levels.clone());
        levels.filter(|it| !it.is_empty())
    };
    let with_levels = programs.iter().filter_map(|record| Some((*record, levels(record)?)));
    with_levels
        .map(|(record, levels)| LevelRuns {
            levels,
            runs: block_runs(run, record, combined),
            are_stored: false,
        })
        .collect()
}

/// Returns the programs that ended well.
fn finished_programs(run: &Run) -> impl Iterator<Item = &CaseRecord> {
    let is_program = |record: &&CaseRecord| record.case.workload.as_command().is_some();
    run.finished_cases().filter(is_program)
}

/// Returns how many neighbouring blocks count as one.
fn combined_blocks(programs: &[&CaseRecord]) -> usize {
    let blocks = programs.iter().map(|record| block_count(record)).max().unwrap_or(0);
    blocks.div_ceil(MAX_VALUES).max(1)
}

fn decided_by_margin(record: &CaseRecord) -> Option<f64> {
    record.case.workload.as_command()?.decided_by_margin
}

fn program_name(record: &CaseRecord) -> &str {
    record.case.workload.as_command().map_or("", |work| work.name.as_str())
}

/// Returns the number of blocks: each start of a program is a preparation.
fn block_count(record: &CaseRecord) -> usize {
    let samples = record.series.iter().flat_map(|series| &series.samples);
    samples.map(|sample| sample.preparation as usize + 1).max().unwrap_or(0)
}

/// Returns one run for each block, or for `combined` neighbouring blocks, that has only this
/// program, without its name.
fn block_runs(run: &Run, record: &CaseRecord, combined: usize) -> Vec<Run> {
    let mut base = run.clone();
    base.cases.clear();
    base.doubts.clear();
    base.started.plan.cases.clear();
    let mut empty = record.clone();
    // A program that has not ended is compared as far as it got.
    empty.outcome.get_or_insert(CaseOutcome::Finished(StopReason::Decided));
    empty.case.id = record.case.workload.benchmark().id().to_owned();
    for series in &mut empty.series {
        series.dimensions.remove(&Attribute::Program);
        series.samples.clear();
    }
    let numbers = 0..block_count(record).div_ceil(combined);
    let block_run = |block: usize| {
        let mut case = empty.clone();
        for (series, whole) in case.series.iter_mut().zip(&record.series) {
            let is_here = |sample: &&Sample| sample.preparation as usize / combined == block;
            series.samples = whole.samples.iter().filter(is_here).copied().collect();
        }
        case.series.retain(|series| !series.samples.is_empty());
        let mut block_run = base.clone();
        block_run.started.turn = Some(TurnPosition {
            has_looks: decided_by_margin(record).is_some(),
            ..TurnPosition::new(
                run.started.run.clone(),
                run.started.plan.seed.unwrap_or(0),
                block as u32,
                block as u32,
            )
        });
        block_run.cases = vec![case];
        block_run
    };
    numbers.map(block_run).collect()
}
