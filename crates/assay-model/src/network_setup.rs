//! Network configuration of a host: the settings that its drivers report, and the path to another
//! host.
//!
//! Only values that no file contains are here. A value that a driver does not report is `None`,
//! never a default.

use serde::{Deserialize, Serialize};

/// Network configuration of one host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NetworkSetup {
    /// Its devices except loopback.
    pub devices: Vec<DeviceSetup>,
    /// The path to the requested host.
    pub path: Option<NetworkPath>,
}

/// Settings that the driver of one device reports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceSetup {
    /// Name of the device: `eth0`.
    pub device: String,
    /// Its driver.
    pub kernel_module: Option<KernelModule>,
    /// Offloads: batch processing of packets by the device or the kernel.
    pub offloads: Option<Offloads>,
    /// Receive ring: descriptors for received packets.
    pub receive_ring: Option<NumericSetting>,
    /// Send ring: descriptors for sent packets.
    pub send_ring: Option<NumericSetting>,
    /// Receive queues, including combined ones.
    pub receive_queues: Option<NumericSetting>,
    /// Interrupt coalescing.
    pub coalescing: Option<Coalescing>,
    /// Sizes of packets between the kernel and the device.
    pub packet_sizes: Option<PacketSizes>,
}

/// Largest packets before the device cuts them and after the kernel has joined them; above 64 KiB
/// they are called BIG TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PacketSizes {
    /// Bytes of a packet to the device (`gso_max_size`), and the most that it can cut.
    pub send: NumericSetting,
    /// Bytes of a joined packet (`gro_max_size`).
    pub receive_bytes: u32,
    /// The same to and from IPv4, which has limits of its own (since Linux 6.3).
    pub ipv4_bytes: Option<[u32; 2]>,
}

/// Driver of a device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KernelModule {
    /// Its name.
    pub name: String,
    /// Its version, or the kernel's if it has none.
    pub version: String,
    /// Version of the device's firmware; empty if it has none.
    pub firmware: String,
}

/// A configurable number with its maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NumericSetting {
    /// Current value.
    pub now: u32,
    /// Maximum value.
    pub most: u32,
}

/// An on/off setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SwitchSetting {
    /// Whether it is on.
    pub on: bool,
    /// Whether the driver prevents changes.
    pub fixed: bool,
}

/// Offloads that affect throughput and CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Offloads {
    /// TSO: the device cuts TCP segments.
    pub tcp_segmentation: SwitchSetting,
    /// GSO: the kernel cuts segments just before the device.
    pub generic_segmentation: SwitchSetting,
    /// GRO: the kernel joins received segments.
    pub generic_receive: SwitchSetting,
    /// LRO: the device joins received segments, and loses their headers.
    pub large_receive: SwitchSetting,
    /// Checksum of received packets, by the device.
    pub receive_checksum: SwitchSetting,
    /// Checksum of sent packets, by the device.
    pub send_checksum: SwitchSetting,
}

/// Interrupt coalescing of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Coalescing {
    /// Microseconds between the first received packet and the interrupt.
    pub receive_us: u32,
    /// Packets that trigger the interrupt at once; 0 or 1 if it does not wait for more.
    pub receive_frames: u32,
    /// Microseconds between the first sent packet and the interrupt.
    pub send_us: u32,
    /// Whether the device adapts to the traffic.
    pub adaptive_receive: bool,
}

/// The path to another host, as one end sees it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NetworkPath {
    /// The host as the user named it; `None` if only properties of a path were given.
    pub host: Option<String>,
    pub address: Option<String>,
    /// The first device of the path; `None` also for loopback.
    pub device: Option<String>,
    /// Whether the path stays on this machine.
    pub is_loopback: bool,
    /// Reason why nothing could be sent.
    pub obstacle: Option<String>,
    /// Path MTU that the kernel assumes, in bytes.
    pub believed_mtu_bytes: Option<u64>,
    /// Largest packet that was sent unfragmented and got a reply, in bytes.
    pub carried_mtu_bytes: Option<u64>,
    /// Round trip in seconds: the minimum of several, or as given.
    pub round_trip_s: Option<f64>,
    /// Its speed in bit/s: that of the device, or as given.
    pub link_bit_per_s: Option<f64>,
}

impl NetworkSetup {
    /// Returns the settings of a device.
    pub fn device(&self, name: &str) -> Option<&DeviceSetup> {
        self.devices.iter().find(|setup| setup.device == name)
    }
}

impl NetworkPath {
    /// Returns the bandwidth-delay product: speed × round trip.
    pub fn bandwidth_delay_bytes(&self) -> Option<f64> {
        Some(self.link_bit_per_s? / 8.0 * self.round_trip_s?)
    }
}
