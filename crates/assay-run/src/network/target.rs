//! Resolution of a host name to addresses, and connection to it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_kernels::network::device;
use assay_kernels::network::socket::{self, Keepalive, SocketOptions};
use assay_model::failure::FailureReason;

use super::error::NetworkError;

/// Default timeout of a connection attempt: three retries of the kernel.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Address families that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AddressFamily {
    #[default]
    Any,
    V4,
    V6,
}

/// Socket settings of one end, which the ends do not agree upon.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointOptions {
    /// Network device that the sockets are bound to.
    pub device: Option<String>,
    /// Milliseconds that sent data may stay unacknowledged.
    pub user_timeout_ms: Option<u32>,
    /// Probes of an idle control connection.
    pub keepalive: Option<Keepalive>,
}

/// Host and port of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkTarget {
    pub host: String,
    pub port: u16,
    pub family: AddressFamily,
    /// Local address to send from; its port applies only to streams.
    pub local: Option<SocketAddr>,
    pub connect_timeout: Duration,
    pub endpoint: EndpointOptions,
}

impl NetworkTarget {
    pub fn new(host: &str, port: u16) -> Self {
        Self {
            host: host.to_owned(),
            port,
            family: AddressFamily::Any,
            local: None,
            connect_timeout: CONNECT_TIMEOUT,
            endpoint: EndpointOptions::default(),
        }
    }

    /// Resolves all addresses of the host, in the system's order.
    pub fn addresses(&self) -> Result<Vec<SocketAddr>, NetworkError> {
        let host = || self.host.clone();
        let name = self.host.trim_start_matches('[').trim_end_matches(']');
        if !has_interface(name) {
            let interfaces = device::link_local_devices();
            let host = name.to_owned();
            return Err(NetworkError::Known(FailureReason::NoInterface { host, interfaces }));
        }
        let found = (name, self.port)
            .to_socket_addrs()
            .map_err(|source| FailureReason::UnknownHost {
                host: host(),
                causes: FailureReason::error_chain(&source),
            })
            .map_err(NetworkError::Known)?;
        let fits = |address: &SocketAddr| match self.family {
            AddressFamily::Any => true,
            AddressFamily::V4 => address.is_ipv4(),
            AddressFamily::V6 => address.is_ipv6(),
        };
        let fits_local = |address: &SocketAddr| {
            self.local.is_none_or(|it| it.is_ipv4() == address.is_ipv4())
        };
        let addresses: Vec<_> = found.filter(fits).filter(fits_local).collect();
        if addresses.is_empty() {
            return Err(NetworkError::Known(FailureReason::NoAddress { host: host() }));
        }
        Ok(addresses)
    }

    /// Connects to the first address that accepts, unless cancelled.
    pub fn connect(
        &self,
        cancel: &AtomicBool,
    ) -> Result<(TcpStream, SocketAddr), NetworkError> {
        let local = self.local.map(|address| SocketAddr::new(address.ip(), 0));
        let EndpointOptions { device, user_timeout_ms, keepalive } = self.endpoint.clone();
        let options = SocketOptions {
            local,
            no_delay: true,
            device,
            user_timeout_ms,
            keepalive,
            ..SocketOptions::default()
        };
        let mut last =
            NetworkError::Known(FailureReason::NoAddress { host: self.host.clone() });
        for address in self.addresses()? {
            match socket::connect_tcp(address, &options, self.connect_timeout, cancel) {
                Ok(stream) => return Ok((stream, address)),
                Err(source) => last = NetworkError::not_connected(address, &source),
            }
        }
        Err(last)
    }
}

/// Whether a link-local address names its interface: the same address is another host on every
/// link.
fn has_interface(name: &str) -> bool {
    let (address, interface) = name.split_once('%').unwrap_or((name, ""));
    let is_of_link = address.parse().is_ok_and(|it: Ipv6Addr| it.is_unicast_link_local());
    !is_of_link || device::exists(interface)
}

/// Whether traffic to this address uses the loopback device.
pub fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_names_to_requested_family() {
        let check = |host: &str, family: AddressFamily, expected: &[&str]| {
            let target = NetworkTarget { family, ..NetworkTarget::new(host, 7) };
            let addresses = target.addresses().unwrap_or_default();
            let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            assert_eq!(addresses, expected, "{host} {family:?}");
        };
        check("127.0.0.1", AddressFamily::Any, &["127.0.0.1:7"]);
        check("::1", AddressFamily::V6, &["[::1]:7"]);
        check("[::1]", AddressFamily::Any, &["[::1]:7"]);
        check("127.0.0.1", AddressFamily::V6, &[]);
        assert!(matches!(
            NetworkTarget::new("no-such-host.invalid", 7).addresses(),
            Err(NetworkError::Known(FailureReason::UnknownHost { .. }))
        ));
    }

    /// The kernel reports such an address as an invalid argument, and the resolver a missing
    /// interface as an unknown name.
    #[test]
    fn link_local_address_needs_interface() {
        for host in ["fe80::1", "[fe80::1]", "fe80::1%no-such-interface"] {
            let found = NetworkTarget::new(host, 7).addresses();
            let Err(NetworkError::Known(FailureReason::NoInterface { host, .. })) = found
            else {
                panic!("{found:?}")
            };
            assert!(host.starts_with("fe80::1"), "{host}");
        }
        let addresses = NetworkTarget::new("fe80::1%lo", 7).addresses().unwrap();
        assert_eq!(addresses.len(), 1, "{addresses:?}");
    }

    #[test]
    fn loopback_is_recognised_in_both_families() {
        for (address, expected) in [
            ("127.3.4.5", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("192.0.2.1", false),
        ] {
            assert_eq!(is_loopback(address.parse().unwrap()), expected);
        }
    }
}
