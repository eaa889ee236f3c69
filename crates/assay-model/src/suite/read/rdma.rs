//! Parser of the RDMA measures of a suite.

use std::ops::RangeInclusive;

use super::super::{RdmaRequest, Request};
use super::storage::{flag, one_of};
use super::{Read, SuiteError, Table, Value, count, number, size, text_value, wrong};
use crate::benchmark::RdmaTest;
use crate::quantity::Bytes;
use crate::workload::{DATAGRAM_BYTES_ANYWHERE, RdmaConnection, RdmaDevice};

pub(super) const KEYS: &[&str] = &[
    "from",
    "to",
    "messages",
    "connection",
    "in-flight",
    "queue-pairs",
    "both-directions",
    "device",
    "device-port",
    "gid-index",
    "path-mtu",
];

/// Parses one test. Without bounds it has one size, as in perftest. A missing bound is that of
/// perftest's `-a`; for datagrams, the upper bound is the size that every link carries, or the
/// given path MTU.
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
    let device = device(table)?;
    let most = match connection {
        RdmaConnection::Rc => Bytes(8 << 20),
        RdmaConnection::Ud => {
            Bytes(u64::from(device.mtu_bytes.unwrap_or(DATAGRAM_BYTES_ANYWHERE)))
        }
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
        device,
    }))
}

/// Parses the device and its settings.
fn device(table: &Table<'_>) -> Result<RdmaDevice, SuiteError> {
    // Eight bits (`ibv_qp_attr.port_num`), like the index of a GID (`ibv_global_route.sgid_index`).
    let port = |value: &Value<'_>| between(1..=255)(value).map(|it| it as u8);
    Ok(RdmaDevice {
        name: table.optional("device", name)?,
        device_port: table.optional("device-port", port)?,
        gid_index: table.optional("gid-index", index)?,
        mtu_bytes: table.optional("path-mtu", path_mtu)?,
        ..RdmaDevice::default()
    })
}

/// Parses the name of a folder below `/sys/class/infiniband`.
fn name(value: &Value<'_>) -> Read<String> {
    let name = text_value(value)?;
    if RdmaDevice::is_name(&name) {
        return Ok(name);
    }
    let help = Some("`ls /sys/class/infiniband` shows them".to_owned());
    Err(wrong(value, "this is no name of an RDMA device", help))
}

/// Parses a number from 0, which [`in_range`] does not accept.
fn index(value: &Value<'_>) -> Read<u32> {
    let found = number(value).filter(|it| (0.0..256.0).contains(it) && it.fract() <= 0.0);
    let wanted = || wrong(value, "a number from 0 to 255 is wanted here", None);
    found.map(|it| it as u32).ok_or_else(wanted)
}

fn path_mtu(value: &Value<'_>) -> Read<u32> {
    let Bytes(bytes) = size(value)?;
    let known = u32::try_from(bytes).ok().filter(|it| RdmaDevice::PATH_MTUS.contains(it));
    let message = "a path MTU is one of 256 B, 512 B, 1 KiB, 2 KiB and 4 KiB";
    known.ok_or_else(|| wrong(value, message, None))
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
