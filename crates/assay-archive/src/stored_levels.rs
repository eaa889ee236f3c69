//! Levels of factors in stored runs: programs within one run, or runs that took turns.

use assay_model::factor::FactorLevel;
use assay_model::level_comparison::LevelComparison;
use assay_model::run::Run;
use assay_run::failure::CommandFailure;
use assay_stats::compare::{LevelRuns, compare_levels, program_levels};
use assay_store::StoreLocation;

/// Changes a run before it is compared, such as its names.
pub type RunChange<'a> = dyn Fn(&mut Run) -> Result<(), CommandFailure> + 'a;

/// Compares the levels that a stored run belongs to; `None` if it belongs to none.
///
/// # Errors
/// If the store cannot be read.
pub fn compare_stored(
    store: &StoreLocation,
    run: &Run,
    change: &RunChange<'_>,
) -> Result<Option<LevelComparison>, CommandFailure> {
    let mut own = run.clone();
    change(&mut own)?;
    let programs = program_levels(&own);
    if programs.len() > 1 {
        return Ok(Some(compare_levels(&programs)));
    }
    let mut runs = read_turns(store, run)?;
    runs.iter_mut().try_for_each(change)?;
    let conditions = group_by_levels(runs);
    Ok((conditions.len() > 1).then(|| compare_levels(&conditions)))
}

/// Reads all runs that took turns with this one, in the order of their turns; none without factors.
fn read_turns(store: &StoreLocation, run: &Run) -> Result<Vec<Run>, CommandFailure> {
    let Some(turn) = run.started.turn.as_ref().filter(|it| !it.levels.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut runs = Vec::new();
    // The label of a turn has its levels.
    let has_factor = |label: &String| {
        let name = turn.levels.first().map(|it| format!("{}=", it.factor));
        name.is_some_and(|name| label.contains(&name))
    };
    let opened = store.open_existing()?;
    for entry in opened.list()?.runs {
        if entry.suite == run.started.plan.suite && entry.label.as_ref().is_some_and(has_factor)
        {
            let other = opened.read_with_doubts(&entry.id)?.run;
            let theirs = other.started.turn.as_ref();
            if theirs.is_some_and(|it| it.comparison == turn.comparison) {
                runs.push(other);
            }
        }
    }
    runs.sort_by_key(|it| it.started.turn.as_ref().map(|turn| turn.number));
    Ok(runs)
}

/// Groups runs by their levels, in the order of the combinations; of older runs, by their turns.
fn group_by_levels(runs: Vec<Run>) -> Vec<LevelRuns> {
    let mut conditions: Vec<LevelRuns> = Vec::new();
    for run in runs {
        let levels = run.started.turn.as_ref().map(|it| it.levels.clone()).unwrap_or_default();
        match conditions.iter_mut().find(|it| it.levels == levels) {
            Some(known) => known.runs.push(run),
            None => conditions.push(LevelRuns { levels, runs: vec![run], are_stored: true }),
        }
    }
    conditions.sort_by_key(|it| {
        it.runs.first().and_then(|run| run.started.turn.as_ref()?.combination)
    });
    conditions
}

/// Returns the common levels of each condition's runs; `None` unless every condition has its own
/// levels of the same factors.
pub fn common_levels(conditions: &[&[Run]]) -> Option<Vec<Vec<FactorLevel>>> {
    let common = |runs: &&[Run]| -> Option<Vec<FactorLevel>> {
        let mut all = runs.iter().map(|run| run.started.turn.as_ref().map(|it| &it.levels));
        let first = all.next()??;
        let is_common = !first.is_empty() && all.all(|it| it == Some(first));
        is_common.then(|| first.clone())
    };
    let levels: Vec<Vec<FactorLevel>> = conditions.iter().map(common).collect::<Option<_>>()?;
    let names =
        |it: &Vec<FactorLevel>| it.iter().map(|it| it.factor.clone()).collect::<Vec<_>>();
    let are_distinct = levels.iter().enumerate().all(|(at, it)| !levels[..at].contains(it));
    (are_distinct && levels.windows(2).all(|it| names(&it[0]) == names(&it[1])))
        .then_some(levels)
}
