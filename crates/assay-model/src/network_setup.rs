//! The network configuration of a host: what the drivers of its devices report, and the path to another
//! host.
//!
//! Only what files do not show is here. What a driver does not answer is `None`, never a default.

use serde::{Deserialize, Serialize};

/// The network of one host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NetworkSetup {
    /// Its devices, loopback left out.
    pub devices: Vec<DeviceSetup>,
    /// The path that was asked about.
    pub path: Option<NetworkPath>,
}

/// What the driver of one device answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceSetup {
    /// Name of the device: `eth0`.
    pub device: String,
    /// Its driver.
    pub kernel_module: Option<KernelModule>,
    /// Work that device or kernel do for many packets at once.
    pub offloads: Option<Offloads>,
    /// Descriptors between driver and device, received packets.
    pub receive_ring: Option<Extent>,
    /// Descriptors between driver and device, sent packets.
    pub send_ring: Option<Extent>,
    /// Queues that packets are received by: those that only receive, and those that do both.
    pub receive_queues: Option<Extent>,
    /// How long the device waits before it interrupts.
    pub coalescing: Option<Coalescing>,
}

/// Driver of a device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KernelModule {
    /// Its name.
    pub name: String,
    /// Its version, or the kernel's where it has none of its own.
    pub version: String,
    /// Version of the device's firmware; empty where it has none.
    pub firmware: String,
}

/// A number that can be set, and the most that it can be set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Extent {
    /// What it is now.
    pub now: u32,
    /// The most it can be.
    pub most: u32,
}

/// Whether something is switched on, and whether that can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Switch {
    /// It is on.
    pub on: bool,
    /// The driver does not let it be changed.
    pub fixed: bool,
}

/// The offloads that move throughput and CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Offloads {
    /// TSO: the device cuts TCP segments.
    pub tcp_segmentation: Switch,
    /// GSO: the kernel cuts segments at the last moment.
    pub generic_segmentation: Switch,
    /// GRO: the kernel joins received segments.
    pub generic_receive: Switch,
    /// LRO: the device joins received segments, and loses their heads.
    pub large_receive: Switch,
    /// Checksums of received packets by the device.
    pub receive_checksum: Switch,
    /// Checksums of sent packets by the device.
    pub send_checksum: Switch,
}

/// How interrupts are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Coalescing {
    /// Microseconds between the first received packet and the interrupt.
    pub receive_us: u32,
    /// Packets after which it comes at once; 0 or 1 where it does not wait for more.
    pub receive_frames: u32,
    /// Microseconds between the first sent packet and the interrupt.
    pub send_us: u32,
    /// The device chooses by the traffic.
    pub adaptive_receive: bool,
}

/// The path to another host, as one end sees it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NetworkPath {
    /// The host as the user named it; `None` where only figures of a path were given.
    pub host: Option<String>,
    /// Its address.
    pub address: Option<String>,
    /// The device that the path begins with; `None` also for loopback.
    pub device: Option<String>,
    /// The path does not leave this machine.
    pub is_loopback: bool,
    /// Why nothing could be sent along it.
    pub obstacle: Option<String>,
    /// Largest packet that the kernel believes fits, in bytes.
    pub believed_mtu_bytes: Option<u64>,
    /// Largest packet that was sent whole and answered, in bytes.
    pub carried_mtu_bytes: Option<u64>,
    /// There and back, in seconds: the minimum of a few, or as given.
    pub round_trip_s: Option<f64>,
    /// Its speed in bit/s: the device's, or as given.
    pub link_bit_per_s: Option<f64>,
}

impl NetworkSetup {
    /// What the driver of a device answers.
    #[must_use]
    pub fn device(&self, name: &str) -> Option<&DeviceSetup> {
        self.devices.iter().find(|setup| setup.device == name)
    }
}

impl NetworkPath {
    /// Bytes that must be under way to fill the path: speed × round trip.
    #[must_use]
    pub fn bandwidth_delay_bytes(&self) -> Option<f64> {
        Some(self.link_bit_per_s? / 8.0 * self.round_trip_s?)
    }
}
