//! Environment of a run, which may explain differences that the workload does not: machine,
//! settings, kernels. Data types only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Environment of a run: values by aspect, and by name if an aspect has several.
pub type Environment = BTreeMap<(EnvironmentAspect, String), String>;

/// Aspects in which the environments of two runs may differ. The names are stored; reports keep
/// this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnvironmentAspect {
    /// Number of hosts.
    HostCount,
    /// The hosts.
    Host,
    /// Fingerprint of the machine.
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
    /// Kernel that ran, by benchmark and metric.
    Loop,
    /// Engine that issued the I/O, by benchmark and metric.
    Engine,
    /// Far end of a network measurement, as the user named it.
    FarEnd,
    /// Congestion control of TCP.
    Congestion,
    /// Size of each array in memory, in bytes.
    ArraySize,
    /// Size of the storage target, in bytes.
    FileSize,
    /// Kind of its file system.
    FileSystem,
    /// The device that carried the traffic, or that targets are on.
    Device,
    /// Runnable tasks before a run.
    Load,
    /// Share of the CPU time that the hypervisor took during a run.
    Steal,
    /// Condition that was measured first.
    Order,
    /// Condition that an imported file does not contain, by its attribute.
    Unrecorded,
}
