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
    aspect, basis, difference, distrust, distrust_alike, engine_reason, factors, knee,
    left_out, omitted, resource, shown, verdict,
};
pub use doubt::doubt;
pub use failure::failure;
pub use hosts::{doubts, hosts, of_host, on_more_hosts, worst};
pub use phrase::{dimension, phrase};

use crate::locale as units;
use crate::locale::{Argument, SPACES, fixed, said, word};

/// Explanation of a doubt or a failure, with advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Description of the doubt or failure.
    pub text: String,
    /// Recommended action.
    pub advice: String,
}

impl Said {
    fn new(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { text: text.into(), advice: advice.into() }
    }

    /// Formats a message of the catalogue and its attribute `advice`.
    fn of(id: &str, arguments: &[(&str, Argument)]) -> Self {
        Self::new(said(id, arguments), said(&format!("{id}.advice"), arguments))
    }

    /// Replaces no-break spaces, for output without layout.
    #[must_use]
    pub fn plainly(self) -> Self {
        Self { text: plainly(&self.text), advice: plainly(&self.advice) }
    }

    fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: advice.into(), ..self }
    }
}

/// Formats a message of the catalogue with its advice and named variables.
macro_rules! reported {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        crate::words::Said::of(
            $id,
            &[$((stringify!($name), crate::locale::Argument::from($value))),*],
        )
    };
}
use reported;

/// Returns a message of the catalogue without variables, for documents built in other crates.
#[must_use]
pub fn message(id: &str) -> &'static str {
    word(id)
}

/// Formats a message of the catalogue with named variables.
#[must_use]
pub fn sentence(id: &str, variables: &[(&str, &str)]) -> String {
    let arguments: Vec<_> =
        variables.iter().map(|(name, value)| (*name, Argument::from(*value))).collect();
    said(id, &arguments)
}

/// Formats a message of the catalogue in the plural form for `n`.
#[must_use]
pub fn counted(id: &str, n: usize) -> String {
    plainly(&said(id, &[("n", Argument::from(n))]))
}

/// Replaces no-break spaces, for output without layout.
#[must_use]
pub fn plainly(text: &str) -> String {
    text.replace(SPACES, " ")
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
    units::in_percent(&fixed(100.0 * share, decimals))
}

/// Formats a change as a percentage with its sign.
pub(crate) fn change_in_percent(share: f64) -> String {
    units::in_percent(&crate::locale::grouped(&format!("{:+.1}", 100.0 * share)))
}
