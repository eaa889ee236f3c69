//! IP addresses of this machine, and the network device of each.

use std::ffi::{CStr, CString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the name of the device that has this address; `None` when no device has it.
pub fn find_name(address: IpAddr) -> Option<String> {
    let all = interface_addresses();
    let found = all.into_iter().find(|entry| entry.address == address.to_canonical());
    found.map(|entry| entry.device)
}

/// Returns the addresses by which other hosts may reach this one: those of devices that are up,
/// without loopback and link-local addresses, in the system's order.
pub fn addresses() -> Vec<IpAddr> {
    let is_link_local = |address: &IpAddr| match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    let all = interface_addresses()
        .into_iter()
        .filter(|entry| entry.is_up)
        .map(|entry| entry.address);
    all.filter(|address| !address.is_loopback() && !is_link_local(address)).collect()
}

/// Returns the devices that are up and have a link-local IPv6 address, each once, in the system's
/// order.
pub fn link_local_devices() -> Vec<String> {
    let is_link_local = |address: IpAddr| match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    let all = interface_addresses()
        .into_iter()
        .filter(|entry| entry.is_up && is_link_local(entry.address));
    let mut names: Vec<String> = all.map(|entry| entry.device).collect();
    names.dedup();
    names
}

/// Whether there is a device of this name or index.
pub fn exists(device: &str) -> bool {
    let is_name = |name: CString| {
        // SAFETY: the name is a terminated string, which the call only reads.
        unsafe { libc::if_nametoindex(name.as_ptr()) != 0 }
    };
    CString::new(device).is_ok_and(is_name)
        || device.parse().is_ok_and(|number: u32| number > 0)
}

struct InterfaceAddress {
    device: String,
    address: IpAddr,
    is_up: bool,
}

/// Returns every address of every device.
fn interface_addresses() -> Vec<InterfaceAddress> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the call writes its own list to the pointer, or fails.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: `next` is not null and belongs to the list, which lives until it is freed below.
        let entry = unsafe { &*next };
        if let Some(address) = address_of(entry) {
            // SAFETY: the kernel's names are terminated strings within the list.
            let name = unsafe { CStr::from_ptr(entry.ifa_name) };
            let is_up = entry.ifa_flags & libc::IFF_UP as u32 != 0;
            found.push(InterfaceAddress {
                device: name.to_string_lossy().into_owned(),
                address,
                is_up,
            });
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list came from `getifaddrs` and is not used after this.
    unsafe { libc::freeifaddrs(first) };
    found
}

fn address_of(entry: &libc::ifaddrs) -> Option<IpAddr> {
    if entry.ifa_addr.is_null() {
        return None;
    }
    // SAFETY: the pointer is not null; every socket address begins with its family.
    match i32::from(unsafe { (*entry.ifa_addr).sa_family }) {
        libc::AF_INET => {
            // SAFETY: addresses of this family are `sockaddr_in`.
            let address = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in>() };
            Some(IpAddr::V4(Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes())))
        }
        libc::AF_INET6 => {
            // SAFETY: addresses of this family are `sockaddr_in6`.
            let address = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in6>() };
            Some(IpAddr::V6(Ipv6Addr::from(address.sin6_addr.s6_addr)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_device_of_loopback_but_not_of_documentation_address() {
        assert_eq!(find_name("127.0.0.1".parse().unwrap()).as_deref(), Some("lo"));
        assert_eq!(find_name("192.0.2.77".parse().unwrap()), None);
    }

    #[test]
    fn reachable_addresses_have_devices_other_than_loopback() {
        for address in addresses() {
            assert!(!address.is_loopback());
            assert!(find_name(address).is_some_and(|name| name != "lo"), "{address}");
        }
    }
}
