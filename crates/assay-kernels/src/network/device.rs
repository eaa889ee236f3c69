//! Which network device an address of this machine belongs to.

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The name of the device that has this address; `None` when no device has it.
pub fn name_of(address: IpAddr) -> Option<String> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the call writes its own list to the pointer, or fails.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return None;
    }
    let mut found = None;
    let mut next = first;
    while !next.is_null() && found.is_none() {
        // SAFETY: `next` is not null and belongs to the list, which lives until it is freed below.
        let entry = unsafe { &*next };
        if address_of(entry) == Some(address.to_canonical()) {
            // SAFETY: the kernel's names are terminated strings within the list.
            let name = unsafe { CStr::from_ptr(entry.ifa_name) };
            found = Some(name.to_string_lossy().into_owned());
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
    fn loopback_has_a_device_and_a_documentation_address_has_none() {
        assert_eq!(name_of("127.0.0.1".parse().unwrap()).as_deref(), Some("lo"));
        assert_eq!(name_of("192.0.2.77".parse().unwrap()), None);
    }
}
