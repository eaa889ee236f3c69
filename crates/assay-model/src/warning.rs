//! A doubt about a measurement, with what can be done about it.

use serde::{Deserialize, Serialize};

/// A doubt that travels with a result. It never removes the result and never fails a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warning {
    /// A stable name for scripts: `cache-assisted`, `wide-interval` …
    pub id: String,
    /// What is doubtful, with the figures that show it.
    pub text: String,
    /// What to do about it.
    pub advice: String,
}

impl Warning {
    /// A warning from its three parts.
    #[must_use]
    pub fn new(id: &str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { id: id.to_owned(), text: text.into(), advice: advice.into() }
    }
}
