//! Checks of the path to one host that the user named: does it answer, and does it carry what this
//! end believes.

use assay_model::finding::Severity;
use assay_model::network_setup::NetworkPath;
use assay_model::quantity::{Quantity, Unit};

use super::check::{Check, Scene, Seen, Unseen};
use crate::network_device;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "network.path",
        expected: "leaves this machine, and the host answers echoes",
        why: "loopback says nothing about a network, and what does not answer cannot be judged",
        source: "RFC 1122 §3.2.2.6 (every host answers echo requests)",
        severity: Severity::Note,
        change: "name the host by an address of another machine; let ICMP echoes through",
        look: reached,
    },
    Check {
        id: "network.path-mtu",
        expected: "as large as the device's, proven by an echo that may not be cut",
        why: "packets that do not fit are cut, or vanish where routers do not say so, and streams hang",
        source: "RFC 1191, RFC 8201 (path MTU discovery), RFC 2923 (black holes)",
        severity: Severity::Skews,
        change: "ip link set DEVICE mtu N at both ends, with what is carried here; let ICMP errors through",
        look: path_mtu,
    },
];

fn path<'a>(scene: &'a Scene) -> Result<&'a NetworkPath, Unseen> {
    scene.network.path.as_ref().ok_or_else(|| Unseen::hidden("a path"))
}

fn reached(scene: &Scene) -> Result<Seen, Unseen> {
    let path = path(scene)?;
    let host = path.host.as_deref().unwrap_or_default();
    let address = path.address.as_deref().unwrap_or_default();
    let to = if host == address { host.to_owned() } else { format!("{host} ({address})") };
    if path.is_loopback {
        return Ok(Seen::deviates(format!("{to} is this machine: loopback")));
    }
    let device = path.device.as_deref().unwrap_or("an unknown device");
    if let Some(obstacle) = &path.obstacle {
        return Err(Unseen::Unreadable(format!("{to} over {device}: {obstacle}")));
    }
    Ok(match (path.carried_mtu_bytes, path.round_trip_s) {
        (None, _) => Seen::deviates(format!("{to} over {device} answers no echo")),
        (_, Some(round_trip_s)) => {
            let round_trip = Quantity::new(round_trip_s, Unit::Second);
            Seen::ok(format!("{to} over {device}, round trip {round_trip:.3}"))
        }
        (_, None) => Seen::ok(format!("{to} over {device}")),
    })
}

fn path_mtu(scene: &Scene) -> Result<Seen, Unseen> {
    let path = path(scene)?;
    if path.is_loopback {
        return Err(Unseen::hidden("a path MTU beyond loopback"));
    }
    let Some(believed) = path.believed_mtu_bytes else {
        return Err(Unseen::hidden("the path MTU, without an ICMP socket,"));
    };
    let device_mtu = path.device.as_deref().and_then(|name| {
        network_device::read(scene.root, name).mtu_bytes.map(|bytes| (name, bytes))
    });
    let smaller = device_mtu.filter(|(_, bytes)| believed < *bytes);
    let below =
        smaller.map_or(String::new(), |(name, bytes)| format!("; {name} would send {bytes} B"));
    Ok(match path.carried_mtu_bytes {
        Some(carried) if carried < believed => Seen::deviates(format!(
            "{carried} B carried, and larger packets vanish without a word; {believed} B believed"
        )),
        Some(carried) => Seen::judged(smaller.is_none(), format!("{carried} B carried{below}")),
        None => {
            Seen::judged(smaller.is_none(), format!("{believed} B believed, not proven{below}"))
        }
    })
}
