//! What a measurement may be about besides what was asked: the machine, its settings, the code that ran.
//! Values only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What surrounded a run: by aspect, and by name where an aspect has several.
pub type Environment = BTreeMap<(Aspect, String), String>;

/// What may differ between two runs although nobody asked for it. Stored names; the order is that of
/// reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// How many hosts took part.
    HostCount,
    /// The hosts.
    Host,
    /// What makes the machine comparable with itself.
    Fingerprint,
    /// The model of the processor.
    Processor,
    /// The revision of its microcode.
    Microcode,
    /// The version of the kernel.
    Kernel,
    /// The governor of the clock.
    Governor,
    /// A setting of the kernel, by its path.
    Setting,
    /// The version of assay.
    Version,
    /// The loop that ran, by benchmark and metric.
    Loop,
    /// How I/O was handed to the kernel, by benchmark and metric.
    Engine,
    /// The host at the other end of a network, as the user named it.
    FarEnd,
    /// Congestion control of TCP.
    Congestion,
    /// Size of each array in memory, in bytes.
    ArraySize,
    /// Size of what storage I/O goes to, in bytes.
    FileSize,
    /// Kind of file system below it.
    FileSystem,
    /// The device that carried the traffic, or that targets are on.
    Device,
    /// Runnable tasks before a run.
    Load,
    /// Share of the CPU time that the hypervisor took during a run.
    Steal,
    /// Which condition was measured first.
    Order,
}
