//! Parser of the MPI measures of a suite.

use super::super::{MeasureRequest, MpiPlacement, MpiRequest};
use super::{ParseResult, Table, count, error_at, list_of, parse_text, size};
use crate::benchmark::{MpiPattern, MpiTest};

/// Parses the settings of one MPI test.
pub(super) fn request(test: MpiTest, table: &Table<'_>) -> ParseResult<MeasureRequest> {
    let usual = match test.pattern() {
        MpiPattern::Pair => MpiPlacement::Pairs,
        MpiPattern::Pairs | MpiPattern::Hosts | MpiPattern::All => MpiPlacement::Node,
    };
    let refused = |key: &str, why: &str| match table.get(key) {
        Some(value) => Err(error_at(
            value,
            format!("mpi.{} {why}", test.name()),
            Some(format!("remove `{key}`")),
        )),
        None => Ok(()),
    };
    if test.pattern() == MpiPattern::Pair {
        refused("ranks", "takes two ranks")?;
    }
    if !test.has_size_range() {
        refused("from", "sends no messages of a size")?;
        refused("to", "sends no messages of a size")?;
    }
    let placements = table.optional("placement", list_of(parse_text::<MpiPlacement>))?;
    Ok(MeasureRequest::Mpi(MpiRequest {
        test,
        placements: placements.unwrap_or_else(|| vec![usual]),
        ranks: table.optional("ranks", count)?,
        from: table.optional("from", size)?,
        to: table.optional("to", size)?,
    }))
}
