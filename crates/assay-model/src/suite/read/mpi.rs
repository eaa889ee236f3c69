//! Reads the MPI measures of a suite.

use super::super::{MpiPlacement, MpiRequest, Request};
use super::{Read, Table, count, list_of, parsed, size};
use crate::benchmark::{MpiPattern, MpiTest};

/// One benchmark at its places.
pub(super) fn request(test: MpiTest, table: &Table<'_>) -> Read<Request> {
    let usual = match test.pattern() {
        MpiPattern::Pair => MpiPlacement::Pairs,
        MpiPattern::Pairs | MpiPattern::All => MpiPlacement::Node,
    };
    let placements = table.optional("placement", list_of(parsed::<MpiPlacement>))?;
    Ok(Request::Mpi(MpiRequest {
        test,
        placements: placements.unwrap_or_else(|| vec![usual]),
        ranks: table.optional("ranks", count)?,
        from: table.optional("from", size)?,
        to: table.optional("to", size)?,
    }))
}
