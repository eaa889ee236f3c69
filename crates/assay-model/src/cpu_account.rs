//! CPU time of a transfer at one end: of the threads that moved the data, and of the machine.
//!
//! The threads' own time excludes work that the kernel does for them elsewhere, above all receiving
//! in softirqs. The machine's time includes other processes. Both are kept and never mixed.

use serde::{Deserialize, Serialize};

/// CPU time over one window, in seconds unless noted otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuAccount {
    /// Length of the window.
    pub wall_s: f64,
    /// CPU time of the threads that sent or received, user and kernel.
    pub threads_s: f64,
    /// Number of CPUs that the machine's times below are summed over.
    pub cpus: u32,
    /// The machine: user and nice.
    pub user_s: f64,
    /// The machine: kernel on behalf of processes.
    pub system_s: f64,
    /// The machine: hardware interrupts.
    pub irq_s: f64,
    /// The machine: softirqs, which account for most of the network stack's receiving.
    pub softirq_s: f64,
    /// The machine: taken by the hypervisor; never counted as work.
    pub steal_s: f64,
    /// The busiest CPU's share of the window, 0 … 1.
    pub busiest: f64,
}

impl CpuAccount {
    /// Returns the machine's busy time: everything except idle, iowait and steal.
    pub fn work_s(&self) -> f64 {
        self.user_s + self.system_s + self.irq_s + self.softirq_s
    }

    /// Returns the machine's busy share of all its CPUs, 0 … 1; 0 for an empty window.
    pub fn load(&self) -> f64 {
        let capacity_s = self.wall_s * f64::from(self.cpus);
        if capacity_s > 0.0 { (self.work_s() / capacity_s).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the CPU time attributed to the transfer: the threads' time plus all interrupts and
    /// softirqs of the machine. On an otherwise quiet machine, those serve the transfer.
    pub fn transfer_s(&self) -> f64 {
        self.threads_s + self.irq_s + self.softirq_s
    }
}
