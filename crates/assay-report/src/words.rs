//! Texts of all identifiers: doubts, failures, limits, reasons, verdicts.
//!
//! Stored runs contain identifiers with typed arguments and no sentences. All output for people,
//! including the terminal, takes its texts from here. Each is one sentence without a full stop,
//! from the catalogue of the current language.

mod choices;
mod doubt;
mod failure;
mod hosts;
mod phrase;

pub use choices::{
    aspect, basis, difference, distrust, distrust_phrase, distrust_without_width,
    engine_reason, factors, goal_verdict, knee, omitted, omitted_benchmarks, resource,
    trust_level, verdict,
};
pub use doubt::doubt;
pub use failure::failure;
pub use hosts::{doubts, host_and_text, hosts, with_other_hosts, worst};
pub use phrase::{dimension, headline, metric, phrase};

use crate::locale as units;
use crate::locale::{Argument, NO_BREAK_SPACES, format_fixed, format_message, word};

/// Explanation of a doubt or a failure, with advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Description of the doubt or failure.
    pub text: String,
    /// Recommended action.
    pub advice: String,
}

impl Explanation {
    fn new(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { text: text.into(), advice: advice.into() }
    }

    /// Formats a message of the catalogue and its attribute `advice`.
    fn from_message(id: &str, arguments: &[(&str, Argument)]) -> Self {
        Self::new(
            format_message(id, arguments),
            format_message(&format!("{id}.advice"), arguments),
        )
    }

    /// Replaces no-break spaces, for output without layout.
    #[must_use]
    pub fn without_no_break_spaces(self) -> Self {
        Self {
            text: without_no_break_spaces(&self.text),
            advice: without_no_break_spaces(&self.advice),
        }
    }

    fn with_advice(self, advice: impl Into<String>) -> Self {
        Self { advice: advice.into(), ..self }
    }
}

/// Formats a message of the catalogue with its advice and named variables.
macro_rules! explanation {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        crate::words::Explanation::from_message(
            $id,
            &[$((stringify!($name), crate::locale::Argument::from($value))),*],
        )
    };
}
use explanation;

/// Returns a message of the catalogue without variables, for documents built in other crates.
pub fn message(id: &str) -> &'static str {
    word(id)
}

/// Formats a message of the catalogue with named variables.
pub fn sentence(id: &str, variables: &[(&str, &str)]) -> String {
    let arguments: Vec<_> =
        variables.iter().map(|(name, value)| (*name, Argument::from(*value))).collect();
    format_message(id, &arguments)
}

/// Formats a message of the catalogue in the plural form for `n`.
pub fn count_message(id: &str, n: usize) -> String {
    without_no_break_spaces(&format_message(id, &[("n", Argument::from(n))]))
}

/// Replaces no-break spaces, for output without layout.
pub fn without_no_break_spaces(text: &str) -> String {
    text.replace(NO_BREAK_SPACES, " ")
}

/// Formats a share as a percentage with about two significant digits.
fn percent(share: f64) -> String {
    let percent = (share * 100.0).abs();
    in_percent(
        share,
        if percent >= 10.0 {
            0
        } else if percent >= 1.0 {
            1
        } else {
            2
        },
    )
}

/// Formats a share as a percentage with a fixed number of decimals.
fn in_percent(share: f64, decimals: usize) -> String {
    units::in_percent(&format_fixed(100.0 * share, decimals))
}

/// Formats a change as a percentage with its sign.
pub(crate) fn change_in_percent(share: f64) -> String {
    units::in_percent(&crate::locale::group_digits(&format!("{:+.1}", 100.0 * share)))
}
