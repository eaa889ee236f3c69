//! Parser of the RDMA measures of a suite.

use std::ops::RangeInclusive;

use super::super::{MeasureRequest, RdmaRequest};
use super::storage::{flag, one_of};
use super::{ParseResult, SuiteError, Table, Value, count, error_at, number, size, text_value};
use crate::benchmark::RdmaTest;
use crate::quantity::Bytes;
use crate::workload::{PORTABLE_DATAGRAM_BYTES, RdmaConnection, RdmaDevice};

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
pub(super) fn request(test: RdmaTest, table: &Table<'_>) -> Result<MeasureRequest, SuiteError> {
    if !test.is_bandwidth() {
        let many = ["in-flight", "queue-pairs", "both-directions"];
        reject_keys(table, &many, "a latency test has one operation in flight")?;
    }
    let connections = [("rc", RdmaConnection::Rc), ("ud", RdmaConnection::Ud)];
    let connection = table.optional("connection", |value| one_of(value, &connections))?;
    let connection = connection.unwrap_or(RdmaConnection::Rc);
    if connection == RdmaConnection::Ud {
        if !matches!(test, RdmaTest::SendLatency | RdmaTest::SendBandwidth) {
            reject_keys(table, &["connection"], "datagrams support only `rdma.send_…`")?;
        }
        let one_way =
            "datagrams are counted at the receiver, so they are sent in one direction";
        reject_keys(table, &["both-directions"], one_way)?;
    }
    let device = device(table)?;
    let most = match connection {
        RdmaConnection::Rc => Bytes(8 << 20),
        RdmaConnection::Ud => {
            Bytes(u64::from(device.mtu_bytes.unwrap_or(PORTABLE_DATAGRAM_BYTES)))
        }
    };
    let (from, to) = (table.optional("from", size)?, table.optional("to", size)?);
    let is_one = from.is_none() && to.is_none();
    let sizes = (from.unwrap_or(Bytes(2)), to.unwrap_or(most));
    Ok(MeasureRequest::Rdma(RdmaRequest {
        test,
        sizes: (!is_one).then_some(sizes),
        connection,
        iterations: table.optional("messages", in_range(5..=100_000_000))?.map(u64::from),
        depth: table.optional("in-flight", in_range(2..=65_536))?.map(u64::from),
        queue_pairs: table.optional("queue-pairs", in_range(1..=16_384))?.unwrap_or(1),
        both: table.optional("both-directions", flag)?.unwrap_or(false),
        device,
    }))
}

/// Parses the device and its settings.
fn device(table: &Table<'_>) -> Result<RdmaDevice, SuiteError> {
    // Eight bits (`ibv_qp_attr.port_num`), like the index of a GID (`ibv_global_route.sgid_index`).
    let port = |value: &Value<'_>| in_range(1..=255)(value).map(|it| it as u8);
    Ok(RdmaDevice {
        name: table.optional("device", device_name)?,
        device_port: table.optional("device-port", port)?,
        gid_index: table.optional("gid-index", index)?,
        mtu_bytes: table.optional("path-mtu", path_mtu)?,
        ..RdmaDevice::default()
    })
}

/// Parses the name of a folder below `/sys/class/infiniband`.
fn device_name(value: &Value<'_>) -> ParseResult<String> {
    let name = text_value(value)?;
    if RdmaDevice::is_valid_name(&name) {
        return Ok(name);
    }
    let help = Some("`ls /sys/class/infiniband` shows them".to_owned());
    Err(error_at(value, "not a valid name of an RDMA device", help))
}

/// Parses a number from 0, which [`in_range`] does not accept.
fn index(value: &Value<'_>) -> ParseResult<u32> {
    let found = number(value).filter(|it| (0.0..256.0).contains(it) && it.fract() <= 0.0);
    let wanted = || error_at(value, "expected a number from 0 to 255", None);
    found.map(|it| it as u32).ok_or_else(wanted)
}

fn path_mtu(value: &Value<'_>) -> ParseResult<u32> {
    let Bytes(bytes) = size(value)?;
    let known = u32::try_from(bytes).ok().filter(|it| RdmaDevice::PATH_MTUS.contains(it));
    let message = "a path MTU is one of 256 B, 512 B, 1 KiB, 2 KiB and 4 KiB";
    known.ok_or_else(|| error_at(value, message, None))
}

fn reject_keys(table: &Table<'_>, keys: &[&str], because: &str) -> Result<(), SuiteError> {
    let given = keys.iter().find_map(|key| Some((key, table.get(key)?)));
    let Some((key, value)) = given else { return Ok(()) };
    Err(error_at(value, because, Some(format!("remove `{key}`"))))
}

fn in_range(range: RangeInclusive<u32>) -> impl Fn(&Value<'_>) -> ParseResult<u32> {
    move |value| {
        let number = count(value)?;
        let (least, most) = (range.start(), range.end());
        let beyond =
            || error_at(value, format!("expected a number from {least} to {most}"), None);
        range.contains(&number).then_some(number).ok_or_else(beyond)
    }
}
