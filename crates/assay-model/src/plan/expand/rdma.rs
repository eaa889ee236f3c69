//! Expansion of RDMA measures: message sizes and device.

use super::{NamedWorkload, PlanError};
use crate::quantity::Bytes;
use crate::suite::RdmaRequest;
use crate::workload::{
    MAX_DATAGRAM_BYTES, PORTABLE_DATAGRAM_BYTES, RdmaConnection, RdmaWorkload, Workload,
};

/// Returns the case of one test.
pub(super) fn resolve(
    request: &RdmaRequest,
    to: Option<String>,
) -> Result<Vec<NamedWorkload>, PlanError> {
    /// Maximum size that the far end accepts.
    const MOST: Bytes = Bytes(1 << 30);
    let mut work = RdmaWorkload::perftest_default(request.test, to);
    work.connection = request.connection;
    work.iterations = request.iterations.unwrap_or(work.iterations);
    work.depth = request.depth.unwrap_or(work.depth);
    (work.queue_pairs, work.both) = (request.queue_pairs, request.both);
    work.device = request.device.clone();
    let is_datagram = request.connection == RdmaConnection::Ud;
    let mtu = request.device.mtu_bytes;
    if is_datagram && request.test.is_bandwidth() {
        work.sizes = vec![u64::from(mtu.unwrap_or(PORTABLE_DATAGRAM_BYTES))];
    }
    let (what, most) = match is_datagram {
        true => ("a datagram", Bytes(u64::from(mtu.unwrap_or(MAX_DATAGRAM_BYTES)))),
        false => ("a message", MOST),
    };
    if let Some((from, to)) = request.sizes {
        if to > most {
            return Err(PlanError::SizeTooLarge { what, given: to, most });
        }
        let least = from.0.max(1);
        if to.0 < least {
            let (given, minimum) = (format!("{} B", to.0), format!("{least} B"));
            let what = "the largest message";
            return Err(PlanError::TooSmall { what, given, minimum });
        }
        let doubled = |bytes: &u64| Some(2 * bytes);
        work.sizes =
            std::iter::successors(Some(least), doubled).take_while(|it| *it <= to.0).collect();
    }
    Ok(vec![(work.name(), Workload::Rdma(work))])
}
