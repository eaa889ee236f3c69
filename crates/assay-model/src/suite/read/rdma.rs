//! RDMA measures.

use std::ops::RangeInclusive;

use super::super::{RdmaRequest, Request};
use super::storage::{flag, one_of};
use super::{Read, SuiteError, Table, Value, count, size, wrong};
use crate::benchmark::RdmaTest;
use crate::quantity::Bytes;
use crate::workload::{DATAGRAM_BYTES_ANYWHERE, RdmaConnection};

pub(super) const KEYS: &[&str] =
    &["from", "to", "messages", "connection", "in-flight", "queue-pairs", "both-directions"];

/// Without sizes one, as perftest does; with either bound what its `-a` has beyond the other,
/// of datagrams what every link carries.
pub(super) fn request(test: RdmaTest, table: &Table<'_>) -> Result<Request, SuiteError> {
    if !test.is_bandwidth() {
        let many = ["in-flight", "queue-pairs", "both-directions"];
        refuse(table, &many, "latency is measured one by one")?;
    }
    let connections = [("rc", RdmaConnection::Rc), ("ud", RdmaConnection::Ud)];
    let connection = table.optional("connection", |value| one_of(value, &connections))?;
    let connection = connection.unwrap_or(RdmaConnection::Rc);
    if connection == RdmaConnection::Ud {
        if !matches!(test, RdmaTest::SendLatency | RdmaTest::SendBandwidth) {
            refuse(table, &["connection"], "datagrams carry messages only: `rdma.send_…`")?;
        }
        let one_way = "datagrams are counted where they arrive, one way";
        refuse(table, &["both-directions"], one_way)?;
    }
    let most = match connection {
        RdmaConnection::Rc => Bytes(8 << 20),
        RdmaConnection::Ud => Bytes(u64::from(DATAGRAM_BYTES_ANYWHERE)),
    };
    let (from, to) = (table.optional("from", size)?, table.optional("to", size)?);
    let is_one = from.is_none() && to.is_none();
    let sizes = (from.unwrap_or(Bytes(2)), to.unwrap_or(most));
    Ok(Request::Rdma(RdmaRequest {
        test,
        sizes: (!is_one).then_some(sizes),
        connection,
        iterations: table.optional("messages", between(5..=100_000_000))?.map(u64::from),
        depth: table.optional("in-flight", between(2..=65_536))?.map(u64::from),
        queue_pairs: table.optional("queue-pairs", between(1..=16_384))?.unwrap_or(1),
        both: table.optional("both-directions", flag)?.unwrap_or(false),
    }))
}

fn refuse(table: &Table<'_>, keys: &[&str], because: &str) -> Result<(), SuiteError> {
    let given = keys.iter().find_map(|key| Some((key, table.get(key)?)));
    let Some((key, value)) = given else { return Ok(()) };
    Err(wrong(value, because, Some(format!("leave `{key}` out"))))
}

fn between(range: RangeInclusive<u32>) -> impl Fn(&Value<'_>) -> Read<u32> {
    move |value| {
        let number = count(value)?;
        let (least, most) = (range.start(), range.end());
        let beyond =
            || wrong(value, format!("a number from {least} to {most} is wanted here"), None);
        range.contains(&number).then_some(number).ok_or_else(beyond)
    }
}
