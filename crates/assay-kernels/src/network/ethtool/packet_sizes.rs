//! Largest packets that a device gets from the kernel and the kernel from a device (BIG TCP), by a
//! message of rtnetlink(7).
//!
//! Only reads. What an older kernel does not report is `None`.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use assay_model::network_setup::{NumericSetting, PacketSizes};

/// Bytes of `nlmsghdr` and of `ifinfomsg`.
const HEADER_BYTES: usize = 16;
/// Bytes of the header of an attribute: its length and its type.
const ATTRIBUTE_BYTES: usize = 4;
/// Room for the description of one device, which has statistics and a list of queues.
const REPLY_BYTES: usize = 64 << 10;
/// Attributes of the kernel's `linux/if_link.h`.
const GSO_MAX_SIZE: u16 = 41;
const GRO_MAX_SIZE: u16 = 58;
const TSO_MAX_SIZE: u16 = 59;
const GSO_IPV4_MAX_SIZE: u16 = 63;
const GRO_IPV4_MAX_SIZE: u16 = 64;

/// Reads the sizes of the device of this name.
pub(super) fn read(device: &str) -> Option<PacketSizes> {
    let name = CString::new(device).ok()?;
    // SAFETY: the name is a terminated string, which the call only reads.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return None;
    }
    parse(&exchange(&request(index))?)
}

/// Returns the request for the device of this index: `RTM_GETLINK` with `ifi_index`.
fn request(index: u32) -> [u8; 2 * HEADER_BYTES] {
    let mut message = [0; 2 * HEADER_BYTES];
    message[..4].copy_from_slice(&(2 * HEADER_BYTES as u32).to_ne_bytes());
    message[4..6].copy_from_slice(&libc::RTM_GETLINK.to_ne_bytes());
    message[6..8].copy_from_slice(&(libc::NLM_F_REQUEST as u16).to_ne_bytes());
    message[HEADER_BYTES + 4..HEADER_BYTES + 8].copy_from_slice(&index.to_ne_bytes());
    message
}

/// Sends a request to the kernel and returns its reply.
fn exchange(request: &[u8]) -> Option<Vec<u8>> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: the call takes plain numbers.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) };
    if fd < 0 {
        return None;
    }
    // SAFETY: the call above has just created this descriptor, and no other code uses it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut reply = vec![0; REPLY_BYTES];
    // SAFETY: the kernel reads the request and writes at most the reply's length; both live until
    // after the calls.
    let received = unsafe {
        let fd = socket.as_raw_fd();
        if libc::send(fd, request.as_ptr().cast(), request.len(), 0) < 0 {
            return None;
        }
        libc::recv(fd, reply.as_mut_ptr().cast(), reply.len(), libc::MSG_DONTWAIT)
    };
    reply.truncate(usize::try_from(received).ok()?);
    Some(reply)
}

/// Parses the reply: a header, the device, then attributes, each at a multiple of four bytes.
fn parse(reply: &[u8]) -> Option<PacketSizes> {
    let kind = reply.get(4..6)?;
    let mut rest = reply.get(2 * HEADER_BYTES..)?;
    if kind != libc::RTM_NEWLINK.to_ne_bytes() {
        return None;
    }
    let (mut send, mut most, mut receive, mut send_ipv4, mut receive_ipv4) = Default::default();
    while let Some(header) = rest.first_chunk::<ATTRIBUTE_BYTES>() {
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let value = rest.get(ATTRIBUTE_BYTES..length)?;
        let number = value.first_chunk().copied().map(u32::from_ne_bytes);
        match u16::from_ne_bytes([header[2], header[3]]) {
            GSO_MAX_SIZE => send = number,
            TSO_MAX_SIZE => most = number,
            GRO_MAX_SIZE => receive = number,
            GSO_IPV4_MAX_SIZE => send_ipv4 = number,
            GRO_IPV4_MAX_SIZE => receive_ipv4 = number,
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(ATTRIBUTE_BYTES)..).unwrap_or_default();
    }
    Some(PacketSizes {
        send: NumericSetting { now: send?, most: most? },
        receive_bytes: receive?,
        ipv4_bytes: send_ipv4.zip(receive_ipv4).map(|(send, receive)| [send, receive]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut reply = request(1).to_vec();
        reply[4..6].copy_from_slice(&libc::RTM_NEWLINK.to_ne_bytes());
        for (kind, value) in attributes {
            reply.extend((ATTRIBUTE_BYTES as u16 + value.len() as u16).to_ne_bytes());
            reply.extend(kind.to_ne_bytes());
            reply.extend(*value);
            reply.resize(reply.len().next_multiple_of(ATTRIBUTE_BYTES), 0);
        }
        reply
    }

    #[test]
    fn reads_sizes_behind_attributes_of_any_length() {
        let [size, most] = [185_000_u32, 524_280].map(u32::to_ne_bytes);
        let all: [(u16, &[u8]); 4] = [
            (3, b"eth0\0"),
            (GSO_MAX_SIZE, &size),
            (TSO_MAX_SIZE, &most),
            (GRO_MAX_SIZE, &size),
        ];
        let found = parse(&reply(&all)).unwrap();
        assert_eq!(found.send, NumericSetting { now: 185_000, most: 524_280 });
        assert_eq!((found.receive_bytes, found.ipv4_bytes), (185_000, None));
        assert_eq!(parse(&reply(&all[..3])), None, "an older kernel");
        for length in 0..reply(&all).len() - 4 {
            assert_eq!(parse(&reply(&all)[..length]), None, "cut off after {length}");
        }
        let mut endless = reply(&all);
        endless[32..34].copy_from_slice(&[0; 2]);
        assert_eq!(parse(&endless), None, "an attribute without length");
        assert_eq!(parse(&request(1)), None, "another message");
    }
}
