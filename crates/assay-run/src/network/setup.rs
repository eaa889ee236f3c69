//! Network configuration of this host, and the path to one host, for the checks of `assay doctor`.
//!
//! Queries the devices and sends a few echoes; changes nothing.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use assay_fleet::network_device;
use assay_fleet::root::Root;
use assay_kernels::network::{device, ethtool, path_mtu};
use assay_model::failure::FailureReason;
use assay_model::network_setup::{DeviceSetup, NetworkPath, NetworkSetup};

use super::error::NetworkError;
use super::target::{NetworkTarget, is_loopback};

/// Timeout of an echo: longer than any round trip on Earth, short for the user.
const ECHO_TIMEOUT: Duration = Duration::from_secs(1);

/// Path to examine, with the properties that the user gave.
#[derive(Debug, Default)]
pub struct PathRequest {
    pub host: Option<String>,
    pub round_trip_s: Option<f64>,
    pub link_bit_per_s: Option<f64>,
}

impl PathRequest {
    fn is_empty(&self) -> bool {
        self.host.is_none() && self.round_trip_s.is_none() && self.link_bit_per_s.is_none()
    }
}

pub fn read(asked: &PathRequest) -> Result<NetworkSetup, NetworkError> {
    let root = Root::machine();
    let names = network_device::names(&root);
    // Drivers without ethtool support are skipped.
    let devices: Vec<DeviceSetup> =
        names.iter().filter_map(|name| ethtool::read(name).ok()).collect();
    let path = if asked.is_empty() { None } else { Some(read_path(asked, &root)?) };
    Ok(NetworkSetup { devices, path })
}

fn read_path(asked: &PathRequest, root: &Root) -> Result<NetworkPath, NetworkError> {
    let mut path = NetworkPath {
        host: asked.host.clone(),
        round_trip_s: asked.round_trip_s,
        link_bit_per_s: asked.link_bit_per_s,
        ..NetworkPath::default()
    };
    if let Some(host) = &asked.host {
        // The port does not affect the choice of a route.
        let addresses = NetworkTarget::new(host, 9).addresses()?;
        let address = addresses
            .first()
            .ok_or(NetworkError::Known(FailureReason::NoAddress { host: host.clone() }))?;
        probe_path(*address, root, &mut path);
    }
    Ok(path)
}

fn probe_path(remote: SocketAddr, root: &Root, path: &mut NetworkPath) {
    let local = local_address_for(remote);
    path.address = Some(remote.ip().to_string());
    path.is_loopback = is_same_machine(local, remote.ip());
    if path.is_loopback {
        return;
    }
    path.device = device::find_name(local);
    let speed = path.device.as_deref().map(|name| network_device::read(root, name));
    let speed = speed.and_then(|device| device.link_bit_per_s);
    path.link_bit_per_s = path.link_bit_per_s.or(speed.map(|speed| speed as f64));
    match path_mtu::measure(remote, ECHO_TIMEOUT) {
        Ok(found) => {
            path.believed_mtu_bytes = Some(found.kernel_bytes.into());
            path.carried_mtu_bytes = found.carried_bytes.map(u64::from);
            let round_trip_s = found.round_trip_ns.map(|ns| ns as f64 / 1e9);
            path.round_trip_s = path.round_trip_s.or(round_trip_s);
        }
        Err(error) => path.obstacle = Some(error.to_string()),
    }
}

/// Local address of the route to another host.
pub fn local_address_for(remote: SocketAddr) -> IpAddr {
    let any = if remote.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any);
    // Connecting a datagram socket sends nothing; it only selects the route.
    let local = socket.and_then(|it| it.connect(remote).and_then(|()| it.local_addr()));
    local.map_or(remote.ip(), |address| address.ip())
}

/// Whether both addresses belong to this machine: traffic to an own address always uses loopback.
pub fn is_same_machine(local: IpAddr, remote: IpAddr) -> bool {
    is_loopback(remote) || local.to_canonical() == remote.to_canonical()
}
