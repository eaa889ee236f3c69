//! Checks of the path to one host: reachability and path MTU.

use assay_model::finding::FindingSeverity;
use assay_model::network_setup::NetworkPath;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::{Quantity, Unit};

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, bytes};
use crate::network_device;

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "network.path",
        expected: "leaves this machine, and the host answers echoes",
        why: "loopback does not use the network, and a host that does not answer cannot be judged",
        source: "RFC 1122 §3.2.2.6 (every host answers echo requests)",
        severity: FindingSeverity::Note,
        change: "name the host by an address of another machine; let ICMP echoes through",
        observe: reachability,
    },
    DoctorCheck {
        id: "network.path-mtu",
        expected: "as large as the device's, proven by an echo that must not be fragmented",
        why: "packets that do not fit are fragmented, or dropped without an ICMP error, and streams hang",
        source: "RFC 1191, RFC 8201 (path MTU discovery), RFC 2923 (black holes)",
        severity: FindingSeverity::Skews,
        change: "ip link set DEVICE mtu N at both ends, with the MTU carried here; let ICMP errors through",
        observe: path_mtu,
    },
];

fn path<'a>(input: &'a CheckInput) -> Result<&'a NetworkPath, CheckObstacle> {
    input.network.path.as_ref().ok_or_else(|| CheckObstacle::hidden(phrase!("path", "a path")))
}

fn reachability(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let path = path(input)?;
    let host = path.host.as_deref().unwrap_or_default();
    let address = path.address.as_deref().unwrap_or_default();
    let to = if host == address { host.to_owned() } else { format!("{host} ({address})") };
    if path.is_loopback {
        return Ok(CheckResult::deviates(phrase!(
            "this-machine",
            "{to} is this machine: loopback",
            to = to,
        )));
    }
    let unknown = || phrase!("unknown-device", "an unknown device");
    let device = path.device.as_deref().map_or_else(unknown, Phrase::from);
    let way = phrase!("over", "{to} over {device}", to = to, device = device);
    if let Some(obstacle) = &path.obstacle {
        return Err(CheckObstacle::Unreadable(Phrase::list(
            ": ",
            [way, obstacle.as_str().into()],
        )));
    }
    Ok(match (path.carried_mtu_bytes, path.round_trip_s) {
        (None, _) => {
            CheckResult::deviates(phrase!("no-echo", "{path} answers no echo", path = way))
        }
        (_, Some(round_trip_s)) => {
            let time = Quantity::new(round_trip_s, Unit::Second);
            let round_trip = phrase!("round-trip", "round trip {time}", time = time);
            CheckResult::ok(Phrase::list(", ", [way, round_trip]))
        }
        (_, None) => CheckResult::ok(way),
    })
}

fn path_mtu(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let path = path(input)?;
    if path.is_loopback {
        return Err(CheckObstacle::hidden(phrase!("path-mtu", "a path MTU beyond loopback")));
    }
    let Some(believed) = path.believed_mtu_bytes else {
        return Err(CheckObstacle::hidden(phrase!(
            "path-mtu-without-socket",
            "the path MTU (no ICMP socket)"
        )));
    };
    let device_mtu = path.device.as_deref().and_then(|name| {
        network_device::read(input.root, name).mtu_bytes.map(|bytes| (name, bytes))
    });
    let smaller = device_mtu.filter(|(_, bytes)| believed < *bytes);
    let below = smaller.map(|(name, mtu)| {
        phrase!("would-send", "{device} would send {size}", device = name, size = bytes(mtu))
    });
    let known = match path.carried_mtu_bytes {
        Some(carried) if carried < believed => {
            return Ok(CheckResult::deviates(phrase!(
                "packets-vanish",
                "{carried} gets through, larger packets vanish without a word; {believed} was assumed",
                carried = bytes(carried),
                believed = bytes(believed),
            )));
        }
        Some(carried) => phrase!("carried", "{size} gets through", size = bytes(carried)),
        None => phrase!("believed", "{size} assumed, not proven", size = bytes(believed)),
    };
    Ok(CheckResult::from_verdict(
        smaller.is_none(),
        Phrase::list("; ", std::iter::once(known).chain(below)),
    ))
}
