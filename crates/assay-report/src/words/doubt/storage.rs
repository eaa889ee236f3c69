//! Doubts about storage: steady states, holes, rates, and the load generator itself; also message
//! rates.

use assay_model::doubt::{Doubt, SteadyWindow};
use assay_model::failure::os_error;
use assay_model::quantity::Unit;

use crate::locale::{format_fixed, group_digits, join_details, word};
use crate::locale::{quantity, size};
use crate::words::{Explanation, change_in_percent, explanation, in_percent};

pub(super) fn explain(doubt: &Doubt) -> Option<Explanation> {
    let rate = |value, digits| quantity(value, Unit::IoPerSecond, digits);
    let per_s = |messages: f64| format_fixed(messages, usize::from(messages < 1000.0));
    Some(match doubt {
        Doubt::SteadyStateNotReached { rounds, window, range, slope } => {
            explain_unsteady(*rounds, *window, *range, *slope)
        }
        Doubt::SearchNotFinished { tries, keeps_per_s, misses_per_s } => explanation!(
            "doubt-search-not-finished",
            n = *tries,
            keeps = rate(*keeps_per_s, 4),
            misses = rate(*misses_per_s, 4),
        ),
        Doubt::TargetInMemory { path, file_system } => explanation!(
            "doubt-target-in-memory",
            path = path.display().to_string(),
            kind = file_system,
        ),
        Doubt::FileWithHoles { path, bytes, stored_bytes } => explanation!(
            "doubt-file-with-holes",
            path = path.display().to_string(),
            size = size(*bytes),
            stored = quantity(*stored_bytes as f64, Unit::Byte, 3),
        ),
        Doubt::LittlesLaw { in_flight, product } => explanation!(
            "doubt-littles-law",
            flight = format_fixed(*in_flight, 2),
            product = format_fixed(*product, 2),
            difference = in_percent((in_flight - product).abs() / in_flight, 1),
        ),
        Doubt::RateMissed { asked_per_s, reached_per_s } => explanation!(
            "doubt-rate-missed",
            asked = rate(*asked_per_s, 4),
            reached = rate(*reached_per_s, 4),
        ),
        Doubt::NotStarted { count, due } => {
            explanation!("doubt-not-started", n = *count, due = *due)
        }
        Doubt::MessageRateMissed { asked_per_s, answered, seconds } => explanation!(
            "doubt-message-rate-missed",
            asked = per_s(*asked_per_s),
            reached = per_s(*answered as f64 / seconds),
        ),
        Doubt::GeneratorNear { alone_per_s, factor } => explanation!(
            "doubt-generator-near",
            rate = rate(*alone_per_s, 3),
            factor = format_fixed(*factor, 1),
        ),
        Doubt::IoFailed { target, operation, offset, bytes, cause } => explanation!(
            "doubt-io-failed",
            operation = operation.to_string(),
            size = bytes.to_string(),
            offset = offset.to_string(),
            target = target.to_string(),
            cause = cause,
        )
        .with_advice(os_error::advice(cause).unwrap_or_else(|| word("advice-kernel-log"))),
        Doubt::FileOperationFailed { path, operation, cause } => explanation!(
            "doubt-file-operation-failed",
            operation = operation.to_string(),
            path = path.display().to_string(),
            cause = cause,
        )
        .with_advice(os_error::advice(cause).unwrap_or_else(|| word("advice-kernel-log"))),
        Doubt::MeasuredOnce { by } => explanation!("doubt-measured-once", by = by),
        _ => return None,
    })
}

fn explain_unsteady(
    rounds: usize,
    window: Option<SteadyWindow>,
    range: f64,
    slope: f64,
) -> Explanation {
    let found = window.map_or_else(
        || word("unsteady-too-few").to_owned(),
        |it| {
            let range = in_percent(it.range, 1);
            let slope = change_in_percent(it.slope);
            let found =
                message!("unsteady-window", n = it.rounds, range = range, slope = slope);
            let drift = it.drift.map(change_in_percent);
            let drift = drift.map(|drift| message!("unsteady-drift", drift = drift));
            join_details(&[Some(found), drift].into_iter().flatten().collect::<Vec<_>>())
        },
    );
    explanation!(
        "doubt-steady-state-not-reached",
        rounds = group_digits(&rounds.to_string()),
        found = found,
        range = in_percent(range, 0),
        slope = in_percent(slope, 0),
    )
}
