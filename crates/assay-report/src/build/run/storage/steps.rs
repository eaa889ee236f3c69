//! Tables and plots of the steps of a test: rounds until steady state, rates of a search.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;
use assay_model::workload::measurement_mode::LatencyGoal;

use super::super::context::ReportContext;
use super::super::estimate_parts::{number, text};
use super::{LatencyColumns, TestResults, cells};
use crate::document::{
    Axis, Block, Document, Plot, PlotPoint, PlotSeries, ReferenceLine, ReportTable, Scale,
    Tone, left, right,
};
use crate::locale::{group_digits, semicolon, word};
use crate::{precision, units, words};

/// Returns the steps with the case, tool and host of an estimate.
pub(super) fn find_steps<'a>(
    context: &ReportContext<'a>,
    estimate: &MetricEstimate,
) -> Vec<&'a MetricEstimate> {
    let steps = context.summary.steps.iter().filter(|step| {
        step.case == estimate.case && step.tool == estimate.tool && step.host == estimate.host
    });
    steps.collect()
}

/// Returns the searches in which no rate met the goal: they have steps but no result.
pub(super) fn unmet_searches<'a>(context: &ReportContext<'a>) -> Vec<TestResults<'a>> {
    let mut searches: Vec<TestResults<'a>> = Vec::new();
    for step in &context.summary.steps {
        let is_same = |it: &MetricEstimate| it.case == step.case && it.host == step.host;
        let is_listed = searches.iter().flat_map(|it| &it.steps).any(|it| is_same(it));
        if !is_listed && !context.summary.results.iter().any(is_same) {
            searches.push(TestResults {
                steps: find_steps(context, step),
                ..TestResults::default()
            });
        }
    }
    searches
}

/// Adds the steps of every test to the document.
pub(super) fn add(document: &mut Document, tests: &[TestResults<'_>]) {
    for test in tests.iter().filter(|test| test.has_own_steps()) {
        add_rounds(document, test);
        add_search(document, test);
    }
}

impl<'a> TestResults<'a> {
    /// Whether the steps belong to this test: they are printed once per case, not for each point of
    /// its curve.
    fn has_own_steps(&self) -> bool {
        self.number(Attribute::PercentOfMax).is_none()
    }

    /// Returns the steps with this metric, by step number.
    fn steps_with_metric(&self, metric: &str) -> Vec<&'a MetricEstimate> {
        let mut steps: Vec<&MetricEstimate> =
            self.steps.iter().copied().filter(|step| step.metric == metric).collect();
        steps.sort_by_key(|step| step_number(step));
        steps
    }
}

fn step_number(step: &MetricEstimate) -> u64 {
    number(step, Attribute::Step).unwrap_or(0.0) as u64
}

fn add_rounds(document: &mut Document, test: &TestResults<'_>) {
    let steady = test.any_result().and_then(|it| it.parameters.get(&Attribute::Steady));
    let Some(AttributeValue::Flag(is_steady)) = steady else { return };
    let steps = test.steps_with_metric("rate");
    let rounds = test.text(Attribute::Rounds).unwrap_or_else(|| steps.len().to_string());
    let share = |name| test.number(name).map(|it| units::percent(100.0 * it));
    let spread = share(Attribute::SteadyRange).zip(share(Attribute::SteadySlope));
    let spread =
        spread.map(|(range, slope)| message!("steady-spread", range = range, slope = slope));
    let (tone, verdict) = match is_steady {
        true => (Tone::Plain, message!("steady-reached", test = test.name(), rounds = rounds)),
        false => {
            (Tone::Doubt, message!("steady-not-reached", test = test.name(), rounds = rounds))
        }
    };
    let text =
        [Some(verdict), spread].into_iter().flatten().collect::<Vec<_>>().join(semicolon());
    document.paragraph(tone, text + word("full-stop"));
    let mut table = ReportTable::with_caption(message!("table-rounds", test = test.name()));
    for step in steps {
        table.push([
            right(word("column-round"), group_digits(&step_number(step).to_string())),
            right(word("column-rate"), precision::value(step)),
        ]);
    }
    document.blocks.extend(rounds_plot(test, &table.caption).map(Block::Plot));
    document.blocks.push(Block::Table(table));
}

/// Plots the rate over the rounds.
fn rounds_plot(test: &TestResults<'_>, title: &str) -> Option<Plot> {
    let steps = test.steps_with_metric("rate");
    let point = |step: &&MetricEstimate| {
        let (x, y) = (step_number(step) as f64, step.median);
        precision::is_positive(y).then_some(PlotPoint {
            x,
            y,
            interval: precision::usable_interval(y, step.ci),
        })
    };
    let points: Vec<PlotPoint> = steps.iter().filter_map(point).collect();
    let (first, last) = (*points.first()?, *points.last()?);
    let rate = |point: PlotPoint| units::quantity(point.y, Unit::IoPerSecond, 3);
    let description = message!("rounds-go", first = rate(first), last = rate(last));
    let axes = [
        Axis::new(word("column-round"), Unit::Count, Scale::Linear),
        Axis::new(word("column-rate"), Unit::IoPerSecond, Scale::Linear),
    ];
    (points.len() > 2).then(|| {
        let series = vec![PlotSeries { name: word("column-rate").to_owned(), points }];
        // Text output omits comparisons; the table below contains every value.
        let (is_comparison, limit) = (true, cells::limit_line(&steps));
        Plot { is_comparison, limit, ..Plot::new(title, description, axes, series) }
    })
}

fn add_search(document: &mut Document, test: &TestResults<'_>) {
    let Some(goal) = test.text(Attribute::Goal) else { return };
    let rate = |name| units::quantity(test.number(name).unwrap_or(0.0), Unit::IoPerSecond, 4);
    // If no rate met the goal, the failure of the case reports it.
    let is_met = test.results().next().is_some();
    let outcome = message!(
        "goal-met",
        test = test.name(),
        goal = units::with_no_break_spaces(&goal),
        rate = rate(Attribute::GoalRate),
        missed = rate(Attribute::GoalMissedAt),
        closed = rate(Attribute::MaximumRate),
    );
    document.paragraph(Tone::Plain, if is_met { outcome } else { String::new() });
    let mut table = ReportTable::with_caption(message!("table-search", test = test.name()));
    let (late, due) =
        (test.steps_with_metric("late"), test.steps_with_metric("latency_from_intended"));
    let latency_columns = LatencyColumns::from_latencies(due.iter().copied());
    for step in test.steps_with_metric("rate") {
        // The closed loop that starts a search has no requested rate.
        let Some(requested) = text(step, Attribute::RequestedRate) else { continue };
        let is_same_step = |it: &&&MetricEstimate| step_number(it) == step_number(step);
        let late = late.iter().find(is_same_step).map(|it| units::percent(100.0 * it.median));
        let verdict = text(step, Attribute::Shown).unwrap_or_default();
        let mut row = vec![
            right(word("column-requested"), requested),
            right(word("column-reached"), precision::value(step)),
        ];
        row.extend(latency_columns.due_columns(due.iter().find(is_same_step).copied()));
        row.push(right(word("column-late"), late.unwrap_or_default()));
        row.push(left(word("column-goal"), words::goal_verdict(&verdict)));
        table.push(row);
    }
    let table = table.without_empty_columns();
    document.blocks.extend(search_plot(test, &table.caption, &goal).map(Block::Plot));
    document.blocks.push(Block::Table(table));
}

/// Plots the share of late I/O at each rate of the search, with the share that the goal allows;
/// `None` for fewer than two rates.
fn search_plot(test: &TestResults<'_>, title: &str, goal: &str) -> Option<Plot> {
    let allowed_share = LatencyGoal::parse(goal).ok().map(|it| 1.0 - it.percent / 100.0);
    let mut steps: Vec<(&str, PlotPoint)> = Vec::new();
    for step in test.steps_with_metric("late") {
        let Some(AttributeValue::Text(verdict)) = step.parameters.get(&Attribute::Shown) else {
            continue;
        };
        let (x, y) = (number(step, Attribute::RequestedRate)?, step.median);
        if y.is_finite() {
            steps.push((
                words::goal_verdict(verdict),
                PlotPoint { x, y, interval: precision::usable_interval(y, step.ci) },
            ));
        }
    }
    steps.sort_by(|(_, a), (_, b)| a.x.total_cmp(&b.x));
    let series = PlotSeries::group_points(
        steps.iter().map(|(name, point)| ((*name).to_owned(), *point)),
    );
    let late = word("column-later-than-the-goal");
    let axes = [
        Axis::new(word("column-requested"), Unit::IoPerSecond, Scale::Linear),
        Axis::new(late, Unit::Ratio, Scale::Linear),
    ];
    let shares = steps.iter().map(|(_, point)| point.y);
    let low = units::percent(100.0 * shares.clone().fold(f64::INFINITY, f64::min));
    let high = units::percent(100.0 * shares.fold(0.0, f64::max));
    let description = message!("course-goes", name = late, low = low, high = high);
    let limit = allowed_share
        .map(|value| ReferenceLine { label: units::with_no_break_spaces(goal), value });
    let plot = Plot::new(title, description, axes, series);
    (steps.len() > 1).then_some(Plot { is_comparison: true, limit, ..plot })
}
