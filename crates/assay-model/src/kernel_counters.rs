//! Kernel counters during a measurement: activity of devices, mounts, network devices and CPUs,
//! hardware events and energy.
//!
//! A counter that is absent, hidden or inconsistent is listed as omitted and has no value.

use serde::{Deserialize, Serialize};

mod derived;
mod stored;

pub use derived::ObservedClock;

/// Counters of one host during the measured stretches of one case.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "stored::StoredRecord")]
pub struct CounterRecord {
    /// The case.
    pub case: String,
    /// The host, in a run of several hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Total length of the stretches in seconds.
    pub seconds: f64,
    /// Bytes that the measurement moved in these stretches, if it counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadBytes>,
    /// Work of the timed passes in these stretches, of memory and compute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<CountedWork>,
    /// Start and end of each point of the series, in seconds since the first stretch began.
    pub points_s: Vec<[f64; 2]>,
    /// Counted totals, with their increase in each point.
    pub counted: Vec<CountedSeries>,
    /// Limits of the control groups for the counted devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<CounterLimit>,
    /// Counters without a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<OmittedCounter>,
}

/// Limit of a control group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterLimit {
    /// Limited counter.
    pub counter: Counter,
    /// Limited device.
    pub of: String,
    /// Maximum increase per second.
    pub per_s: f64,
}

/// Bytes that a measurement moved, as it counted them itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PayloadBytes {
    /// Bytes read or received.
    pub read: u64,
    /// Bytes written or sent.
    pub written: u64,
}

/// Work of timed passes, as the kernels counted it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CountedWork {
    /// Bytes moved between cores and caches or memory, as the benchmark counts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: f64,
    /// Floating-point operations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flop: f64,
}

impl CountedWork {
    /// Returns the sum of two.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self { bytes: self.bytes + more.bytes, flop: self.flop + more.flop }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Increase of one counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountedSeries {
    /// The counter.
    pub counter: Counter,
    /// Counted object: `vda1`, `/mnt/volume`, `eth0`, `cpu3`; empty for the whole machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Increase over all stretches, in the counter's unit.
    pub total: f64,
    /// Increase in each point; empty for a counter of minor interest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<f64>,
}

/// Counter without a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedCounter {
    /// Path, device or counter: `/data`, `sda`, `sda device-read-bytes`.
    pub name: String,
    pub reason: OmissionReason,
}

/// Reason why a counter has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OmissionReason {
    /// The kernel does not provide it, or this process may not read it.
    NotVisible,
    /// It fell: it wrapped, was reset, or belongs to something else since then.
    WentBackwards,
    /// The driver does not count, or its statistics are switched off.
    NotCounted,
    /// The file system does not show which devices hold a file.
    NoSingleDevice,
    /// The kernel refuses it to this user (`perf_event_paranoid`, the mode of a file).
    NotPermitted,
    /// The processor, or the hypervisor above it, has no such event.
    NoSuchEvent,
    /// The kernel or a filter of system calls has no `perf_event_open`.
    NoSystemCall,
    /// Other events used the processor's counters all the time.
    NeverScheduled,
    /// The machine has cores of several types, whose events do not add up.
    SeveralCoreTypes,
    /// The counter may have wrapped more than once between two readings.
    MayHaveWrapped,
    /// Each context switch would save and load it, within what is timed.
    WouldDisturb,
    /// A newer version counted it; this one has no name for it.
    NewerVersion,
}

/// Unit of a counter's increase. No metric is in joules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterUnit {
    Byte,
    Count,
    Second,
    Joule,
}

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $variant:ident, $id:literal, $unit:ident;)+) => {
        /// Kernel counter.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum Counter {
            $($(#[doc = $doc])+ #[serde(rename = $id)] $variant,)+
        }

        impl Counter {
            /// All counters.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the stable name.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }

            /// Returns the unit of its increase.
            pub const fn unit(self) -> CounterUnit {
                match self { $(Self::$variant => CounterUnit::$unit,)+ }
            }
        }
    };
}

counters! {
    /// Bytes read from a block device.
    DeviceReadBytes, "device-read-bytes", Byte;
    /// Bytes written to a block device.
    DeviceWrittenBytes, "device-written-bytes", Byte;
    /// Reads that a block device completed.
    DeviceReads, "device-reads", Count;
    /// Writes that a block device completed.
    DeviceWrites, "device-writes", Count;
    /// Time with at least one I/O at a block device.
    DeviceBusy, "device-busy", Second;
    /// Bytes that an NFS client read from its server.
    NfsReadBytes, "nfs-read-bytes", Byte;
    /// Bytes that an NFS client wrote to its server.
    NfsWrittenBytes, "nfs-written-bytes", Byte;
    /// Calls of an NFS client.
    NfsCalls, "nfs-calls", Count;
    /// Calls that an NFS client sent again.
    NfsRetransmits, "nfs-retransmits", Count;
    /// Bytes that a network device received.
    ReceivedBytes, "received-bytes", Byte;
    /// Bytes that a network device sent.
    SentBytes, "sent-bytes", Byte;
    /// TCP segments that this network namespace sent.
    TcpSegments, "tcp-segments", Count;
    /// TCP segments that this network namespace sent again.
    TcpRetransmits, "tcp-retransmits", Count;
    /// CPU time in user mode.
    CpuUser, "cpu-user", Second;
    /// CPU time of processes in the kernel.
    CpuSystem, "cpu-system", Second;
    /// CPU time of interrupts and softirqs.
    CpuInterrupts, "cpu-interrupts", Second;
    /// CPU time that the hypervisor took.
    CpuStolen, "cpu-stolen", Second;
    /// All CPU time, including idle.
    CpuAll, "cpu-all", Second;
    /// Context switches of all CPUs.
    ContextSwitches, "context-switches", Count;
    /// Page faults that waited for a device.
    MajorFaults, "major-faults", Count;
    /// Time in which a task waited for a CPU.
    CpuPressure, "cpu-pressure", Second;
    /// Time in which a task waited for I/O.
    IoPressure, "io-pressure", Second;
    /// Time in which a task waited for memory.
    MemoryPressure, "memory-pressure", Second;
    /// Time in which the CPU quota of the control group held tasks back.
    CpuThrottled, "cpu-throttled", Second;
    /// CPU time of the thread that reads counters during a stretch.
    WatchTime, "watch-time", Second;
    /// CPU time of this process's threads while their hardware events were counted.
    ThreadTime, "thread-time", Second;
    /// Clock cycles of this process's threads in user mode.
    UserCycles, "user-cycles", Count;
    /// Clock cycles of this process's threads in the kernel.
    KernelCycles, "kernel-cycles", Count;
    /// Instructions of this process's threads in user mode.
    UserInstructions, "user-instructions", Count;
    /// Instructions of this process's threads in the kernel.
    KernelInstructions, "kernel-instructions", Count;
    /// Bytes that the memory controllers read.
    MemoryReadBytes, "memory-read-bytes", Byte;
    /// Bytes that the memory controllers wrote.
    MemoryWrittenBytes, "memory-written-bytes", Byte;
    /// Energy that a processor package used, in joules.
    PackageEnergy, "package-energy", Joule;
}

impl CounterRecord {
    /// Returns the increase of a counter, summed over its objects; `None` if nothing counted it.
    pub fn total(&self, counter: Counter) -> Option<f64> {
        let totals = self.of_counter(counter).map(|it| it.total);
        totals.reduce(|sum, it| sum + it)
    }

    /// Returns the objects of a counter.
    pub fn of_counter(&self, counter: Counter) -> impl Iterator<Item = &CountedSeries> {
        self.counted.iter().filter(move |it| it.counter == counter)
    }

    /// Returns the names of the objects of a counter.
    pub fn names(&self, counter: Counter) -> String {
        let names: Vec<&str> = self.of_counter(counter).map(|it| it.of.as_str()).collect();
        names.join(", ")
    }
}
