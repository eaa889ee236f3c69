//! Settings of a network device from its driver, by the calls that `ethtool` makes.
//!
//! All calls only read. A request that the driver does not support gives `None`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use assay_model::network_setup::{
    Coalescing, DeviceSetup, KernelModule, NumericSetting, Offloads, SwitchSetting,
};

use crate::c_text::text_until_nul;

mod packet_sizes;

/// Request numbers from the kernel's `linux/ethtool.h`.
const DRIVER: u32 = 0x03;
const COALESCING: u32 = 0x0E;
const RINGS: u32 = 0x10;
const STRINGS: u32 = 0x1B;
const STRING_COUNTS: u32 = 0x37;
const FEATURES: u32 = 0x3A;
const CHANNELS: u32 = 0x3C;

/// String set with the names of features (`ETH_SS_FEATURES`).
const FEATURE_NAMES: u32 = 4;
/// Bytes of one string (`ETH_GSTRING_LEN`).
const STRING_BYTES: usize = 32;

/// Reads the settings of the device of this name from its driver.
///
/// # Errors
/// When no socket for the requests can be created.
pub fn read(device: &str) -> io::Result<DeviceSetup> {
    let driver = EthtoolDevice::new(device)?;
    let rings = driver.query(RINGS, 9);
    let extent = |most: usize, now: usize| {
        let words = rings.as_ref()?;
        Some(NumericSetting { now: words[now], most: words[most] }).filter(|it| it.most > 0)
    };
    Ok(DeviceSetup {
        device: device.to_owned(),
        kernel_module: driver.kernel_module(),
        offloads: driver.offloads(),
        receive_ring: extent(1, 5),
        send_ring: extent(4, 8),
        receive_queues: driver.receive_queues(),
        coalescing: driver.coalescing(),
        packet_sizes: packet_sizes::read(device),
    })
}

/// Network device with a socket for requests.
struct EthtoolDevice {
    socket: OwnedFd,
    name: [libc::c_char; libc::IFNAMSIZ],
}

impl EthtoolDevice {
    fn new(device: &str) -> io::Result<Self> {
        // SAFETY: the call takes plain numbers.
        let fd =
            unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call above has just created this descriptor, and no other code uses it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let mut name = [0; libc::IFNAMSIZ];
        // The last byte stays zero; the kernel has no longer names.
        for (to, from) in name[..libc::IFNAMSIZ - 1].iter_mut().zip(device.bytes()) {
            *to = from as libc::c_char;
        }
        Ok(Self { socket, name })
    }

    /// Sends a request and returns the reply as words, including the request's number; `words` is
    /// the size of the request's structure.
    fn query(&self, question: u32, words: usize) -> Option<Vec<u32>> {
        let mut answer = vec![0; words];
        answer[0] = question;
        self.query_with(answer)
    }

    /// Sends a request with parameters. The first word is the request's number, and the vector must
    /// be as long as the reply to these parameters.
    fn query_with(&self, mut answer: Vec<u32>) -> Option<Vec<u32>> {
        let mut request = libc::ifreq {
            ifr_name: self.name,
            ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: answer.as_mut_ptr().cast() },
        };
        let fd = self.socket.as_raw_fd();
        // SAFETY: the request points at `answer`, which lives until after the call and has the size
        // that the kernel's structure for this request has; all requests only read.
        let result = unsafe { libc::ioctl(fd, libc::SIOCETHTOOL as _, &raw mut request) };
        (result == 0).then_some(answer)
    }

    fn kernel_module(&self) -> Option<KernelModule> {
        // Name, version, firmware, bus, ROM of 32 bytes each, 12 bytes unused, five counts.
        let answer = words_to_bytes(&self.query(DRIVER, 49)?);
        let text = |at: usize| text_until_nul(answer.get(at..at + 32).unwrap_or_default());
        let module = KernelModule { name: text(4), version: text(36), firmware: text(68) };
        (!module.name.is_empty()).then_some(module)
    }

    /// Returns the channels that can receive: the receive-only and the combined ones.
    fn receive_queues(&self) -> Option<NumericSetting> {
        let words = self.query(CHANNELS, 9)?;
        let queues = NumericSetting {
            most: words[1].saturating_add(words[4]),
            now: words[5].saturating_add(words[8]),
        };
        (queues.most > 0).then_some(queues)
    }

    fn coalescing(&self) -> Option<Coalescing> {
        let words = self.query(COALESCING, 23)?;
        Some(Coalescing {
            receive_us: words[1],
            receive_frames: words[2],
            send_us: words[5],
            adaptive_receive: words[10] != 0,
        })
    }

    fn offloads(&self) -> Option<Offloads> {
        let names = self.feature_names()?;
        let blocks = names.len().div_ceil(32);
        let mut question = vec![0; 2 + 4 * blocks];
        question[0] = FEATURES;
        question[1] = u32::try_from(blocks).ok()?;
        let answer = self.query_with(question)?;
        parse_offloads(&names, &answer[2..])
    }

    /// Returns the names of all features of this kernel, in the order of their bits.
    fn feature_names(&self) -> Option<Vec<String>> {
        // A mask of 64 bits requests the sizes of sets; one was requested, so the reply has one
        // size.
        let counts = self.query_with(vec![STRING_COUNTS, 0, 1 << FEATURE_NAMES, 0, 0])?;
        let count = counts[4] as usize;
        let mut question = vec![0; 3 + count * STRING_BYTES / 4];
        question[..3].copy_from_slice(&[STRINGS, FEATURE_NAMES, counts[4]]);
        let answer = words_to_bytes(&self.query_with(question)?);
        Some(answer[12..].chunks(STRING_BYTES).map(text_until_nul).collect())
    }
}

/// Parses blocks of 32 features: available, wanted, active and never-changed bits.
fn parse_offloads(names: &[String], blocks: &[u32]) -> Option<Offloads> {
    let feature = |name: &str| {
        let index = names.iter().position(|it| it == name)?;
        let block = blocks.get(index / 32 * 4..index / 32 * 4 + 4)?;
        let has = |word: u32| word >> (index % 32) & 1 == 1;
        Some(SwitchSetting { on: has(block[2]), fixed: !has(block[0]) || has(block[3]) })
    };
    // A device computes checksums for one family, for both, or for any protocol.
    let kinds = ["tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6"];
    let checksums: Vec<SwitchSetting> = kinds.into_iter().filter_map(feature).collect();
    Some(Offloads {
        tcp_segmentation: feature("tx-tcp-segmentation")?,
        generic_segmentation: feature("tx-generic-segmentation")?,
        generic_receive: feature("rx-gro")?,
        large_receive: feature("rx-lro")?,
        receive_checksum: feature("rx-checksum")?,
        send_checksum: SwitchSetting {
            on: checksums.iter().any(|it| it.on),
            fixed: checksums.iter().all(|it| it.fixed),
        },
    })
}

fn words_to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_features_by_name() {
        let mut names: Vec<String> = (0..40).map(|number| format!("other-{number}")).collect();
        let places = [
            ("tx-tcp-segmentation", 3),
            ("tx-generic-segmentation", 4),
            ("rx-gro", 33),
            ("rx-lro", 34),
            ("rx-checksum", 5),
            ("tx-checksum-ipv4", 6),
            ("tx-checksum-ipv6", 7),
        ];
        for (name, place) in places {
            names[place] = name.to_owned();
        }
        // Available, wanted, active, never changed: TSO is available and off; the checksum is on
        // and stays on; LRO is unavailable.
        let low = [1 << 3 | 1 << 4 | 1 << 5 | 1 << 6, 0, 1 << 4 | 1 << 5 | 1 << 6, 1 << 5];
        let high = [1 << 1, 0, 1 << 1, 0];
        let found = parse_offloads(&names, &[low, high].concat()).unwrap();
        let switch = |on, fixed| SwitchSetting { on, fixed };
        assert_eq!(found.tcp_segmentation, switch(false, false));
        assert_eq!(found.generic_segmentation, switch(true, false));
        assert_eq!(found.generic_receive, switch(true, false));
        assert_eq!(found.large_receive, switch(false, true));
        assert_eq!(found.receive_checksum, switch(true, true));
        assert_eq!(found.send_checksum, switch(true, false));
        assert_eq!(parse_offloads(&names, &low), None, "a block is missing");
        assert_eq!(parse_offloads(&names[..5], &[0; 4]), None, "a name is missing");
    }

    #[test]
    fn reads_loopback_and_returns_nothing_for_unknown_device() {
        let loopback = read("lo").unwrap();
        let offloads = loopback.offloads.unwrap();
        assert!(offloads.generic_segmentation.on || !offloads.generic_segmentation.fixed);
        assert_eq!(loopback.receive_ring, None);
        assert!(loopback.packet_sizes.unwrap().send.now > 0);
        for unknown in ["no-such-device", "a-name-longer-than-the-kernel-allows", ""] {
            let nothing = DeviceSetup { device: unknown.to_owned(), ..DeviceSetup::default() };
            assert_eq!(read(unknown).unwrap(), nothing);
        }
    }
}
