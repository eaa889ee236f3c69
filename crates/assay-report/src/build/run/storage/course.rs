//! Tests that were measured more than once: the rounds until a rate was steady, the rates that were tried.

use assay_model::quantity::{Quantity, Unit};

use super::Test;
use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::parameter;

pub(super) fn add(document: &mut Document, tests: &[Test<'_>]) {
    for test in tests.iter().filter(|test| test.is_whole()) {
        rounds(document, test);
        search(document, test);
    }
}

/// What every parameter of the case tells once, and not for each point of its curve.
impl Test<'_> {
    fn is_whole(&self) -> bool {
        self.number("percent_of_max").is_none()
    }
}

fn rounds(document: &mut Document, test: &Test<'_>) {
    let (Some(state), Some(rates)) = (test.text("steady_state"), test.text("round_rates"))
    else {
        return;
    };
    let share = |name: &str| test.number(name).map(|it| parameter::percent(100.0 * it));
    let spread = share("steady_range").zip(share("steady_slope")).map(|(range, slope)| {
        format!("; the last rounds differ by {range} and change by {slope}")
    });
    let tone = if state.starts_with("not") { Tone::Doubt } else { Tone::Plain };
    let text = format!("{}: steady state {state}{}.", test.name(), spread.unwrap_or_default());
    document.paragraph(tone, text);
    let columns = [("round", Align::Right), ("rate", Align::Right)];
    let mut table = Table::new(format!("Rounds of {}", test.name()), &columns);
    for (round, rate) in (1..).zip(rates.split(' ')) {
        table.rows.push(vec![Cell::from(format!("{round}")), self::rate(rate)]);
    }
    document.blocks.push(Block::Table(table));
}

fn search(document: &mut Document, test: &Test<'_>) {
    let (Some(goal), Some(steps)) = (test.text("goal"), test.text("goal_steps")) else {
        return;
    };
    let of = |name: &str| {
        let rate = Quantity::new(test.number(name).unwrap_or(0.0), Unit::IoPerSecond);
        parameter::joined(&format!("{rate:.4}"))
    };
    document.paragraph(
        Tone::Plain,
        format!(
            "{}: {} is kept at {}, and was not shown to be kept at {}; a closed loop reached {}.",
            test.name(),
            parameter::joined(&goal),
            of("goal_rate"),
            of("goal_missed_at"),
            of("greatest_rate")
        ),
    );
    let columns = [
        ("asked for", Align::Right),
        ("reached", Align::Right),
        ("later", Align::Right),
        ("the goal is", Align::Left),
    ];
    let mut table = Table::new(format!("Rates that were tried for {}", test.name()), &columns);
    for step in steps.split(' ') {
        let parts: Vec<&str> = step.split(':').collect();
        let [asked, reached, late, shown] = parts[..] else { continue };
        let late = late.parse().map(|it: f64| parameter::percent(100.0 * it));
        let late = late.unwrap_or_default().into();
        table.rows.push(vec![rate(asked), rate(reached), late, shown.into()]);
    }
    document.blocks.push(Block::Table(table));
}

/// A rate as it is stored, in IO/s.
fn rate(text: &str) -> Cell {
    let value = text.parse().map(|it| parameter::quantity(it, Unit::IoPerSecond, 4));
    value.unwrap_or_default().into()
}
