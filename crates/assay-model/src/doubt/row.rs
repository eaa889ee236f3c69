//! Columns of the table of doubts: what a report needs to explain one.

use std::borrow::Cow;

use super::{Doubt, FigureOrder, HostResource, SteadyWindow, TrustLevel};
use crate::limit::LimitBasis;
use crate::quantity::Unit;

/// Row of the table of doubts, with the arguments of one doubt.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtRow<'d> {
    /// Stable name for scripts: `cache-assisted`, `wide-interval` …
    pub id: &'static str,
    /// Severity relative to the same doubt about another host; 0 for doubts without a degree.
    pub severity: f64,
    /// Level of a value with this doubt, unless others lower it.
    pub level: TrustLevel,
    /// Text of the doubt.
    pub text: DoubtText<'d>,
    /// Variables of the text and of the advice, by their names in the catalogue.
    pub arguments: Vec<(&'static str, DoubtArgument<'d>)>,
    /// Recommended action.
    pub advice: DoubtAdvice<'d>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DoubtText<'d> {
    /// Message of the catalogue.
    Message(&'static str),
    /// Text of a tool or of another host, printed as it is.
    Verbatim(Cow<'d, str>),
}

/// Recommended action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DoubtAdvice<'d> {
    /// Attribute `advice` of the text's message.
    OfMessage,
    /// Another message of the catalogue.
    Message(&'static str),
    /// Advice for an error of the system, by its number.
    ForSystemError(&'d str),
    /// Text of another host, printed as it is.
    Verbatim(&'d str),
}

/// Argument of a doubt's text, with its unit and precision.
#[derive(Debug, Clone, PartialEq)]
pub enum DoubtArgument<'d> {
    /// Text, printed as it is.
    Text(Cow<'d, str>),
    /// Message of the catalogue.
    Word(&'static str),
    /// Number of things, which selects the plural form.
    Count(u64),
    /// Numbers of things.
    Numbers(&'d [u32]),
    /// Size in bytes.
    Size(u64),
    /// Figure in a base unit, with a number of significant digits.
    Figure(f64, Unit, usize),
    /// Measured value without an interval, in a base unit.
    Value(f64, Unit),
    /// Duration in seconds, with a number of decimals.
    Seconds(f64, usize),
    /// Change of a clock in seconds, with its sign.
    ClockStep(f64),
    /// Number without a unit, with a number of decimals.
    Number(f64, usize),
    /// Number without a unit, with all its digits.
    ExactNumber(f64),
    /// Share, 0 … 1, in percent with a number of decimals.
    Share(f64, usize),
    /// Share, 0 … 1, in percent with about two significant digits.
    RoughShare(f64),
    /// Share, 0 … 1, as somebody requested it.
    RequestedShare(f64),
    /// Share, 0 … 1, of a rounding error, which is never zero.
    RoundingShare(f64),
    /// Message size with the coarsest rounding; empty without sizes.
    RoundedAt(&'d str),
    /// Order that two figures violate.
    Order(FigureOrder),
    /// Resource of a host.
    Resource(HostResource),
    /// Origin of a limit.
    Basis(&'d LimitBasis),
    /// Last rounds of a steady-state test, if there were enough.
    Window(Option<SteadyWindow>),
}

impl<'d> DoubtArgument<'d> {
    /// Returns a text, printed as it is.
    pub(super) fn text(text: impl Into<Cow<'d, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Returns a number of things.
    pub(super) const fn count(n: usize) -> Self {
        Self::Count(n as u64)
    }

    /// Returns a whole number without separators or plural forms.
    pub(super) fn plain(number: &impl ToString) -> Self {
        Self::Text(Cow::Owned(number.to_string()))
    }

    pub(super) fn path(path: &std::path::Path) -> Self {
        Self::Text(Cow::Owned(path.display().to_string()))
    }
}

impl Doubt {
    /// Returns the stable name for scripts: `cache-assisted`, `wide-interval` …
    pub fn id(&self) -> &'static str {
        self.row().id
    }

    /// Returns the severity relative to the same doubt about another host; 0 for doubts without a
    /// degree.
    pub fn severity(&self) -> f64 {
        self.row().severity
    }
}
