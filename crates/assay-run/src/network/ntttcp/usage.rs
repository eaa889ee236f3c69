//! Use of the machine during a test: CPU time, retransmits, packets and interrupts, as ntttcp reads
//! them.

use assay_fleet::root::Root;
use assay_fleet::state;
use assay_kernels::clock;
use assay_kernels::network::cpu;
use assay_model::cpu_times::{self, CpuTimes};
use serde::{Deserialize, Serialize};

use super::NtttcpTest;

/// Counts of the kernel's retransmissions, of all connections of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RetransmitCounts {
    pub segments: u64,
    pub lost: u64,
    pub syn: u64,
    pub fast: u64,
    pub forward: u64,
    pub slow_start: u64,
    pub failed: u64,
}

/// Use of the machine over the measured time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NtttcpUsage {
    pub cpus: u32,
    /// Clock of the first CPU in MHz; 0 if the machine hides it.
    pub clock_mhz: f64,
    /// Shares of the time of all CPUs.
    pub user: f64,
    pub system: f64,
    pub idle: f64,
    pub iowait: f64,
    pub softirq: f64,
    /// CPU time of this process over the time of one CPU.
    pub process: f64,
    pub retransmits: RetransmitCounts,
    pub sent_packets: u64,
    pub received_packets: u64,
    pub interrupts: u64,
}

/// Counters at one moment.
#[derive(Debug)]
pub(super) struct UsageReading {
    at_ns: u64,
    cpus: CpuTimes,
    process_ns: u64,
    retransmits: RetransmitCounts,
    packets: [u64; 2],
    interrupts: u64,
}

impl UsageReading {
    pub(super) fn read(test: &NtttcpTest) -> Self {
        let root = Root::machine();
        let process = cpu::process_time();
        let packets = ["tx", "rx"].map(|direction| {
            let name = test.interface.as_deref();
            let path = |name| format!("sys/class/net/{name}/statistics/{direction}_packets");
            name.and_then(|name| root.number(&path(name))).unwrap_or(0)
        });
        let interrupts = test.interrupts.as_deref().map_or(0, |device| {
            count_interrupts(&root.text("proc/interrupts").unwrap_or_default(), device)
        });
        let [snmp, netstat] =
            ["snmp", "netstat"].map(|name| root.text(&format!("proc/net/{name}")));
        Self {
            at_ns: clock::now_ns(),
            cpus: state::cpu_times(&root),
            process_ns: process.user_ns + process.system_ns,
            retransmits: read_retransmits(
                &snmp.unwrap_or_default(),
                &netstat.unwrap_or_default(),
            ),
            packets,
            interrupts,
        }
    }

    /// Returns the use of the machine from this moment to a later one.
    pub(super) fn until(&self, after: &Self) -> NtttcpUsage {
        let (from, to) =
            (self.cpus.total.unwrap_or_default(), after.cpus.total.unwrap_or_default());
        let all = cpu_times::total_ticks(&to).saturating_sub(cpu_times::total_ticks(&from));
        let share = |column: usize| {
            to[column].saturating_sub(from[column]) as f64 / (all.max(1)) as f64
        };
        let wall_ns = after.at_ns.saturating_sub(self.at_ns).max(1);
        NtttcpUsage {
            cpus: after.cpus.cpus.len() as u32,
            clock_mhz: read_clock_mhz(
                &Root::machine().text("proc/cpuinfo").unwrap_or_default(),
            ),
            user: share(0),
            system: share(2),
            idle: share(3),
            iowait: share(4),
            softirq: share(6),
            process: after.process_ns.saturating_sub(self.process_ns) as f64 / wall_ns as f64,
            retransmits: self.retransmits.until(&after.retransmits),
            sent_packets: after.packets[0].saturating_sub(self.packets[0]),
            received_packets: after.packets[1].saturating_sub(self.packets[1]),
            interrupts: after.interrupts.saturating_sub(self.interrupts),
        }
    }
}

impl RetransmitCounts {
    fn until(&self, after: &Self) -> Self {
        Self {
            segments: after.segments.saturating_sub(self.segments),
            lost: after.lost.saturating_sub(self.lost),
            syn: after.syn.saturating_sub(self.syn),
            fast: after.fast.saturating_sub(self.fast),
            forward: after.forward.saturating_sub(self.forward),
            slow_start: after.slow_start.saturating_sub(self.slow_start),
            failed: after.failed.saturating_sub(self.failed),
        }
    }
}

/// Reads `/proc/net/snmp` and `/proc/net/netstat`. A kernel without a counter has 0 there.
fn read_retransmits(snmp: &str, netstat: &str) -> RetransmitCounts {
    let counter = |text: &str, section: &str, name: &str| {
        let mut rows = text.lines().filter_map(|line| line.strip_prefix(section));
        let (names, values) = (rows.next()?, rows.next()?);
        let mut columns = names.split_whitespace().zip(values.split_whitespace());
        columns.find(|(known, _)| *known == name)?.1.parse().ok()
    };
    let extended = |name| counter(netstat, "TcpExt:", name).unwrap_or(0);
    RetransmitCounts {
        segments: counter(snmp, "Tcp:", "RetransSegs").unwrap_or(0),
        lost: extended("TCPLostRetransmit"),
        syn: extended("TCPSynRetrans"),
        fast: extended("TCPFastRetrans"),
        forward: extended("TCPForwardRetrans"),
        slow_start: extended("TCPSlowStartRetrans"),
        failed: extended("TCPRetransFail"),
    }
}

/// Adds the numbers in the lines of `/proc/interrupts` that contain a text.
fn count_interrupts(text: &str, device: &str) -> u64 {
    let lines = text.lines().filter(|line| line.contains(device));
    let numbers = lines.flat_map(str::split_whitespace).filter_map(|word| word.parse().ok());
    numbers.fold(0, u64::saturating_add)
}

/// Reads the clock of the first CPU from `/proc/cpuinfo`.
fn read_clock_mhz(text: &str) -> f64 {
    let line = text.lines().find(|line| line.contains("cpu MHz"));
    let number = line.and_then(|line| line.split_once(':')?.1.trim().parse().ok());
    number.filter(|mhz: &f64| mhz.is_finite()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_counters_of_the_kernel() {
        let snmp = "Ip: Forwarding\nIp: 1\nTcp: OutSegs RetransSegs InErrs\nTcp: 85 27 0\n";
        let netstat = "TcpExt: SyncookiesSent TCPLostRetransmit TCPFastRetrans\n\
                       TcpExt: 4 5 6\nIpExt: InNoRoutes\nIpExt: 9\n";
        let expected =
            RetransmitCounts { segments: 27, lost: 5, fast: 6, ..RetransmitCounts::default() };
        assert_eq!(read_retransmits(snmp, netstat), expected);
        for broken in ["", "Tcp: RetransSegs\n", "Tcp: RetransSegs\nTcp: x\n"] {
            assert_eq!(read_retransmits(broken, broken), RetransmitCounts::default());
        }
        let interrupts =
            "  24:  1 20  PCI-MSI 98 eth0-rx\n  25: 300 0 PCI-MSI eth1\nLOC: 7 7\n";
        assert_eq!(count_interrupts(interrupts, "eth0"), 119, "every number of the line");
        assert_eq!(count_interrupts(interrupts, "none"), 0);
        let cpuinfo = "processor\t: 0\ncpu MHz\t\t: 2596.122\nprocessor\t: 1\ncpu MHz : 1\n";
        assert!((read_clock_mhz(cpuinfo) - 2596.122).abs() < 1e-9);
        assert!(read_clock_mhz("cpu MHz : inf") == 0.0);
    }
}
