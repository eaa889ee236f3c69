//! The texts of all identifiers: doubts, failures, limits, reasons, verdicts.
//!
//! The record holds identifiers with typed arguments and no sentence. Everything that shows one to
//! people takes it from here, the terminal included. Each is one sentence without a full stop.

mod choices;
mod doubt;
mod failure;

pub use choices::{
    aspect, basis, difference, engine_reason, factors, knee, missing, shown, verdict,
};
pub use doubt::doubt;
pub use failure::failure;

/// What is doubtful or failed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What it is.
    pub text: String,
    /// What to do.
    pub advice: String,
}

impl Said {
    fn new(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { text: text.into(), advice: advice.into() }
    }
}

/// A share as a percentage with about two significant digits.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        large if large >= 10.0 => format!("{percent:.0} %"),
        large if large >= 1.0 => format!("{percent:.1} %"),
        _ => format!("{percent:.2} %"),
    }
}

const fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
