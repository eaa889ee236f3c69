//! CPU time of a transfer at one end: of the threads that moved the data, and of the machine.
//!
//! The threads' own time leaves out what the kernel does for them elsewhere, above all the softirqs
//! that receive; the machine's time contains what others did meanwhile. Both are kept, never mixed.

use serde::{Deserialize, Serialize};

/// CPU time over one window, in seconds unless said otherwise.
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
    /// The machine: softirqs, where most of the network stack's receiving is booked.
    pub softirq_s: f64,
    /// Taken by the hypervisor; never counted as work.
    pub steal_s: f64,
    /// The busiest CPU's share of the window, 0 … 1.
    pub busiest: f64,
}

impl CpuAccount {
    /// The machine's work: everything but idle, waiting and stolen time.
    #[must_use]
    pub fn work_s(&self) -> f64 {
        self.user_s + self.system_s + self.irq_s + self.softirq_s
    }

    /// The machine's work as a share of all its CPUs, 0 … 1; 0 for a window of no length.
    #[must_use]
    pub fn load(&self) -> f64 {
        let capacity_s = self.wall_s * f64::from(self.cpus);
        if capacity_s > 0.0 { (self.work_s() / capacity_s).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// What the transfer itself can be charged with: the threads' time, and of the machine's
    /// interrupts and softirqs everything, because on a machine that is otherwise quiet they serve
    /// the transfer.
    #[must_use]
    pub fn charged_s(&self) -> f64 {
        self.threads_s + self.irq_s + self.softirq_s
    }
}
