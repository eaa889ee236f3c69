//! RDMA questions: which messages, over which device.

use super::{Named, PlanError};
use crate::quantity::Bytes;
use crate::suite::RdmaRequest;
use crate::workload::{
    DATAGRAM_BYTES, DATAGRAM_BYTES_ANYWHERE, RdmaConnection, RdmaWorkload, Workload,
};

/// One test with its messages.
pub(super) fn resolve(
    asked: &RdmaRequest,
    to: Option<String>,
) -> Result<Vec<Named>, PlanError> {
    /// What the far end takes at most.
    const MOST: Bytes = Bytes(1 << 30);
    let mut work = RdmaWorkload::usual(asked.test, to);
    work.connection = asked.connection;
    work.iterations = asked.iterations.unwrap_or(work.iterations);
    work.depth = asked.depth.unwrap_or(work.depth);
    (work.queue_pairs, work.both) = (asked.queue_pairs, asked.both);
    work.device = asked.device.clone();
    let is_datagram = asked.connection == RdmaConnection::Ud;
    let mtu = asked.device.mtu_bytes;
    if is_datagram && asked.test.is_bandwidth() {
        work.sizes = vec![u64::from(mtu.unwrap_or(DATAGRAM_BYTES_ANYWHERE))];
    }
    let (what, most) = match is_datagram {
        true => ("a datagram", Bytes(u64::from(mtu.unwrap_or(DATAGRAM_BYTES)))),
        false => ("a message", MOST),
    };
    if let Some((from, to)) = asked.sizes {
        if to > most {
            return Err(PlanError::SizeBeyond { what, given: to, most });
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
