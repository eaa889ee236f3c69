//! Errors of the expansion.

use thiserror::Error;

use crate::plan::MissingRequirement;
use crate::quantity::Bytes;

/// Reason why a suite cannot be expanded on this host.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PlanError {
    /// The host has no such domain.
    #[error("there is no {asked} on this machine; it has {existing}")]
    NoSuchDomain {
        /// Requested domain.
        asked: String,
        /// Existing domains.
        existing: String,
    },
    /// More threads or ranks than cores.
    #[error(
        "{asked} {what} do not fit {placement}, which has {cores} core{}",
        if *cores == 1 { "" } else { "s" }
    )]
    TooManyThreads {
        /// Requested number.
        asked: u32,
        /// `threads` or `ranks`.
        what: &'static str,
        placement: String,
        /// Number of cores there.
        cores: usize,
    },
    /// A number is zero that must be positive.
    #[error("{what} must be at least 1")]
    Zero {
        /// `N`, `the number of threads` …
        what: &'static str,
    },
    /// A size is zero that must be positive.
    #[error("{what} must be at least 1 B")]
    ZeroSize {
        /// `the size of a message` …
        what: &'static str,
    },
    #[error("{what} needs {needed}, but only {usable} of memory is usable")]
    NotEnoughMemory {
        /// The object that needs it.
        what: String,
        /// Required size.
        needed: String,
        /// Usable size.
        usable: String,
    },
    /// The host does not report its memory.
    #[error(
        "the usable memory is unknown: /proc/meminfo is hidden or has no MemAvailable, and no \
         control group limits it"
    )]
    UnknownMemory,
    /// A value is too small to be measured.
    #[error("{what} is too small: {given} given, at least {minimum} needed")]
    TooSmall {
        /// Name of the value.
        what: &'static str,
        /// Given value.
        given: String,
        /// Minimum.
        minimum: String,
    },
    /// A size exceeds its maximum.
    #[error("{what} is too large: {given} given, at most {most} possible")]
    SizeTooLarge {
        /// Name of the size.
        what: &'static str,
        /// Given size.
        given: Bytes,
        /// Maximum.
        most: Bytes,
    },
    /// A number exceeds its maximum.
    #[error("{what} is {given}, but must be at most {most}")]
    NumberTooLarge {
        /// Name of the number.
        what: String,
        /// Given number.
        given: u64,
        /// Maximum.
        most: u64,
    },
    /// A rate exceeds its maximum.
    #[error("the rate is {given:e} per second, but must be at most {most:e}")]
    RateTooLarge {
        /// Given rate.
        given: f64,
        /// Maximum.
        most: f64,
    },
    /// The depth is below the number of threads.
    #[error(
        "a depth of {depth} is too small for {threads} threads, each of which needs an I/O in flight"
    )]
    DepthBelowThreads {
        /// I/O in flight on each target.
        depth: u32,
        /// Threads that share the depth.
        threads: u32,
    },
    /// A requested measurer was not found.
    #[error("`{name}` was not found on this machine; found: {found}")]
    NoSuchMeasurer {
        /// Requested measurer.
        name: String,
        /// Available measurers.
        found: String,
    },
    /// Storage has no default target.
    #[error("no storage target is named")]
    NoTarget,
    /// No measurer can measure any part of the suite.
    #[error("nothing to measure: {by} supports no benchmark of suite {suite}")]
    NothingToMeasure {
        /// Requested measurers.
        by: String,
        /// Name of the suite.
        suite: String,
    },
}

impl PlanError {
    /// Returns the requirement that this machine lacks, if another machine could meet it.
    pub(super) const fn missing_requirement(&self) -> Option<MissingRequirement> {
        match self {
            Self::NoSuchDomain { .. } => Some(MissingRequirement::Domain),
            Self::TooManyThreads { .. } => Some(MissingRequirement::Cores),
            Self::NotEnoughMemory { .. } => Some(MissingRequirement::Memory),
            Self::NoSuchMeasurer { .. } => Some(MissingRequirement::Tool),
            Self::NoTarget => Some(MissingRequirement::Target),
            Self::UnknownMemory => Some(MissingRequirement::KnownMemory),
            Self::Zero { .. }
            | Self::ZeroSize { .. }
            | Self::TooSmall { .. }
            | Self::SizeTooLarge { .. }
            | Self::NumberTooLarge { .. }
            | Self::RateTooLarge { .. }
            | Self::DepthBelowThreads { .. }
            | Self::NothingToMeasure { .. } => None,
        }
    }
}
