//! Limits of the contents of one output, which bound the memory of an import.
//!
//! An import takes at most 64 MiB and three times the file (docs/security.md). The limits keep to
//! it; their costs were measured on x86-64, from the file to the stored run.

use crate::outputs::ToolError;

/// Maximum number of measurements in one file.
pub(crate) const MAX_MEASUREMENTS: usize = 2500;
/// Maximum number of series of all measurements together.
pub(crate) const MAX_SERIES: usize = 5000;

/// Refuses a count above `limit` of items with this plural name.
pub(crate) const fn check_limit(
    count: usize,
    (what, limit): (&'static str, usize),
) -> Result<(), ToolError> {
    if count > limit { Err(ToolError::LimitExceeded { what, limit }) } else { Ok(()) }
}
