//! The table of attributes, which identify and describe results: names, roles and kinds of value.
//!
//! A series carries its dimensions from its first event on; facts are found out while measuring.
//! `compare` matches by what [`Role::Identity`] marks, tables make columns and CSV prints names from
//! here. Names are literal strings and never derived from types: they are stored for ever.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::quantity::Unit;

mod value;

pub use value::{BoundRank, Value};

/// Names and values that distinguish and describe a result, in the order of the table.
pub type Attributes = BTreeMap<Attribute, Value>;

/// What an attribute does for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A dimension that two results must share to be compared.
    Identity,
    /// A dimension that distinguishes results of one run and may differ between runs.
    Dimension,
    /// A dimension of records that add up to a result and are none themselves, such as one stream of
    /// many: summaries leave such series to the renderings of tools.
    Part,
    /// Found out while measuring, or derived; describes a result.
    Fact,
}

/// What kind of value an attribute has, for whoever writes it for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A size in bytes, written with binary prefixes.
    Size,
    /// A quantity in this base unit.
    Measured(Unit),
    /// A share in percent.
    Percent,
    /// A number whose order of magnitude is what matters.
    Scientific,
    /// A word, a name, a count or a truth value.
    Plain,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The stored name.
    pub name: &'static str,
    /// What it does for a result.
    pub role: Role,
    /// What kind of value it has.
    pub kind: Kind,
}

macro_rules! attributes {
    ($($(#[doc = $doc:literal])+ $variant:ident, $name:literal, $role:ident, $kind:expr;)+) => {
        /// The closed set of attributes, in the order in which they are printed.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum Attribute {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
        }

        impl Attribute {
            /// Every attribute, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The row of the table.
            #[must_use]
            pub const fn row(self) -> Row {
                match self {
                    $(Self::$variant => Row { name: $name, role: Role::$role, kind: $kind },)+
                }
            }
        }
    };
}

const BIT_RATE: Kind = Kind::Measured(Unit::BitPerSecond);
const FLOP_RATE: Kind = Kind::Measured(Unit::FlopPerSecond);
const IO_RATE: Kind = Kind::Measured(Unit::IoPerSecond);
const TIME: Kind = Kind::Measured(Unit::Second);

attributes! {
    /// The host it is about.
    Host, "host", Dimension, Kind::Plain;
    /// The other host of a pair, as a name of this run's hosts.
    Peer, "peer", Identity, Kind::Plain;
    /// The host at the other end, as the user named it; `loopback` for this machine.
    To, "to", Dimension, Kind::Plain;
    /// Where it ran: `node`, `numa:0`, `l3:4`, `same-cache`.
    Placement, "placement", Identity, Kind::Plain;
    /// Where the data came from, when it was copied between two domains.
    Source, "source", Identity, Kind::Plain;
    /// Domains, or pairs of hosts, that were measured at the same time.
    Concurrent, "concurrent", Identity, Kind::Plain;
    /// Which end of a connection it is about: `local`, `remote`.
    End, "end", Identity, Kind::Plain;
    /// What a test of storage is called; the points of a curve share it.
    Test, "test", Identity, Kind::Plain;
    /// What the user's own language calls the phase: a fio group, a Vdbench run.
    Phase, "phase", Identity, Kind::Plain;
    /// The values of the loops around a phase, which distinguish it from others of its name.
    Loops, "loops", Identity, Kind::Plain;
    /// What is done: `read`, `write`, `mix`, or an operation on files.
    Operation, "operation", Identity, Kind::Plain;
    /// Files or directories of a tree.
    Files, "files", Identity, Kind::Plain;
    /// Size of each file of a tree.
    FileBytes, "file_bytes", Identity, Kind::Size;
    /// Levels of directories of a tree.
    Levels, "levels", Identity, Kind::Plain;
    /// Which way data goes.
    Direction, "direction", Identity, Kind::Plain;
    /// Size of a message, an I/O or a working set.
    Bytes, "bytes", Identity, Kind::Size;
    /// Size of each array.
    BytesPerArray, "bytes_per_array", Dimension, Kind::Size;
    /// Equations of a linear system.
    N, "n", Identity, Kind::Plain;
    /// Number of the CPU that loads.
    Cpu, "cpu", Dimension, Kind::Plain;
    /// Instruction set of the kernel.
    InstructionSet, "instruction_set", Identity, Kind::Plain;
    /// Which MPI, with its version.
    Mpi, "mpi", Identity, Kind::Plain;
    /// Where that MPI lies.
    Prefix, "prefix", Dimension, Kind::Plain;
    /// The binary interface that was spoken.
    Abi, "abi", Identity, Kind::Plain;
    /// Processes of an MPI program.
    Ranks, "ranks", Identity, Kind::Plain;
    /// Whose method a benchmark follows.
    Preset, "preset", Identity, Kind::Plain;
    /// Hosts that the launcher was given.
    Hosts, "hosts", Dimension, Kind::Plain;
    /// File of hosts that the launcher was given.
    Hostfile, "hostfile", Dimension, Kind::Plain;
    /// Threads that ran.
    Threads, "threads", Dimension, Kind::Plain;
    /// Kind of connection of RDMA: `rc`, `ud`.
    Connection, "connection", Identity, Kind::Plain;
    /// The RDMA device that was asked for, and its port: `mlx5_0:1`.
    AskedDevice, "asked_device", Identity, Kind::Plain;
    /// The index of its address that was asked for.
    AskedGidIndex, "asked_gid_index", Identity, Kind::Plain;
    /// The path MTU that was asked for.
    AskedPathMtuBytes, "asked_path_mtu_bytes", Identity, Kind::Size;
    /// Priority that messages were sent with: InfiniBand's service level.
    ServiceLevel, "service_level", Identity, Kind::Plain;
    /// Connections side by side.
    Streams, "streams", Identity, Kind::Plain;
    /// I/O in flight on each target.
    Depth, "depth", Identity, Kind::Plain;
    /// Share of reads in a mix.
    ReadShare, "read_share", Identity, Kind::Plain;
    /// Where the next I/O goes.
    Pattern, "pattern", Identity, Kind::Plain;
    /// Files or devices that I/O goes to.
    Target, "target", Dimension, Kind::Plain;
    /// Whether the page cache is used.
    PageCache, "page_cache", Identity, Kind::Plain;
    /// Passes over the target before it was measured.
    PreconditionPasses, "precondition_passes", Identity, Kind::Plain;
    /// The latency that most I/O had to keep.
    Goal, "goal", Identity, Kind::Plain;
    /// The point of a response curve that is no share: `max`.
    Point, "point", Identity, Kind::Plain;
    /// Share of a curve's maximum rate, in percent.
    PercentOfMax, "percent_of_max", Identity, Kind::Percent;
    /// Round of a steady-state test or try of a search, from 1.
    Step, "step", Part, Kind::Plain;
    /// I/O per second that were requested.
    RequestedRate, "requested_rate", Dimension, IO_RATE;
    /// Whether the receiver copies what arrives.
    Copy, "copy", Identity, Kind::Plain;
    /// Length of one repetition in whole seconds.
    Seconds, "seconds", Dimension, Kind::Plain;
    /// Bits per second that each stream was to send.
    RateBitPerS, "rate_bit_per_s", Identity, BIT_RATE;
    /// Congestion control of TCP.
    Congestion, "congestion", Dimension, Kind::Plain;
    /// How an answer is waited for: `spin`, `sleep`.
    Waiting, "waiting", Identity, Kind::Plain;
    /// Streams that fill the link meanwhile.
    LoadStreams, "load_streams", Identity, Kind::Plain;
    /// Time that the kernel polls the device.
    BusyPollS, "busy_poll_s", Identity, TIME;
    /// Messages per second that were requested.
    MessagesPerS, "messages_per_s", Identity, Kind::Plain;
    /// How I/O was handed to the kernel.
    Engine, "engine", Dimension, Kind::Plain;
    /// Index of the stream of a workload.
    Stream, "stream", Part, Kind::Plain;
    /// Index of the target of a workload.
    TargetIndex, "target_index", Part, Kind::Plain;
    /// The host whose share of a total it is.
    Member, "member", Part, Kind::Plain;
    /// What part of an I/O or operation it is about: `submission`, `sync`.
    Stage, "stage", Part, Kind::Plain;
    /// What part of a test's time it is about: `interval`, `omitted`, `whole`.
    Stretch, "stretch", Part, Kind::Plain;

    /// Why that engine.
    EngineReason, "engine_reason", Fact, Kind::Plain;
    /// Version of the tool that measured.
    ToolVersion, "tool_version", Fact, Kind::Plain;
    /// The loop that ran: `avx512-nt`.
    Kernel, "kernel", Fact, Kind::Plain;
    /// The earlier case of the run that chose it, on the same CPUs and arrays of the same size.
    KernelChosenIn, "kernel_chosen_in", Fact, Kind::Plain;
    /// Share of the memory that got huge pages.
    HugePages, "huge_pages", Fact, Kind::Plain;
    /// Whose rule bytes are counted by.
    ByteCounting, "byte_counting", Fact, Kind::Plain;
    /// The library that multiplied matrices; `linked` = what a tool was built with.
    Blas, "blas", Fact, Kind::Plain;
    /// HPL's scaled residual.
    Residual, "residual", Fact, Kind::Scientific;
    /// Columns that HPL factors at a time.
    Block, "block", Fact, Kind::Plain;
    /// HPL's grid of processes: `2x4`.
    Grid, "grid", Fact, Kind::Plain;
    /// HPL's code of its algorithm: `WR11C2R4`.
    Variant, "variant", Fact, Kind::Plain;
    /// Cores × FLOP/cycle × clock.
    Rpeak, "rpeak", Fact, FLOP_RATE;
    /// Cores of Rpeak.
    RpeakCores, "rpeak_cores", Fact, Kind::Plain;
    /// Operations per cycle and core.
    FlopPerCycle, "flop_per_cycle", Fact, Kind::Plain;
    /// Clock of Rpeak, measured at this load.
    RpeakClock, "rpeak_clock", Fact, Kind::Measured(Unit::Hertz);
    /// The median over Rpeak, in percent.
    PercentOfRpeak, "percent_of_rpeak", Fact, Kind::Percent;
    /// How well a figure is known that somebody else printed: `approximate`.
    Qualifier, "qualifier", Fact, Kind::Plain;
    /// Significant digits that somebody else printed it with.
    PrintedDigits, "printed_digits", Fact, Kind::Plain;
    /// What a tool's figure is of its repetitions: `mean`, `median`.
    Statistic, "statistic", Fact, Kind::Plain;
    /// Passes that a tool's figure is a mean over.
    Passes, "passes", Fact, Kind::Plain;
    /// Mean time of a pass, as a tool printed it.
    PassMeanS, "pass_mean_s", Fact, TIME;
    /// Longest time of a pass, as a tool printed it.
    PassLongestS, "pass_longest_s", Fact, TIME;
    /// Size of an element of an array.
    ElementBytes, "element_bytes", Fact, Kind::Size;
    /// Samples discarded as warm-up.
    Discarded, "discarded", Fact, Kind::Plain;
    /// Single I/O, messages or operations behind a distribution.
    Io, "io", Fact, Kind::Plain;
    /// Rate of the reads of a mix.
    ReadRate, "read_rate", Fact, IO_RATE;
    /// Rate of the writes of a mix.
    WriteRate, "write_rate", Fact, IO_RATE;
    /// Mean number of I/O in flight.
    InFlight, "in_flight", Fact, Kind::Plain;
    /// Relative difference of in flight and rate × latency.
    LittleError, "little_error", Fact, Kind::Plain;
    /// What the generator does without I/O.
    GeneratorRate, "generator_rate", Fact, IO_RATE;
    /// That over what was reached.
    GeneratorHeadroom, "generator_headroom", Fact, Kind::Plain;
    /// Whether a response curve has a knee: `found`, or why not.
    Knee, "knee", Fact, Kind::Plain;
    /// The rate at the knee.
    KneeRate, "knee_rate", Fact, IO_RATE;
    /// The low end of its interval.
    KneeRateLow, "knee_rate_low", Fact, IO_RATE;
    /// The high end of its interval.
    KneeRateHigh, "knee_rate_high", Fact, IO_RATE;
    /// The latency at the knee.
    KneeLatency, "knee_latency", Fact, TIME;
    /// The maximum rate shown to keep the goal.
    GoalRate, "goal_rate", Fact, IO_RATE;
    /// The lowest rate not shown to keep it.
    GoalMissedAt, "goal_missed_at", Fact, IO_RATE;
    /// The rate that a closed loop reached.
    MaximumRate, "greatest_rate", Fact, IO_RATE;
    /// Whether a run of its own has shown again that the rate found keeps the goal.
    GoalConfirmed, "goal_confirmed", Fact, Kind::Plain;
    /// What a try of a search has shown: `keeps`, `misses`, `unclear`.
    Shown, "shown", Fact, Kind::Plain;
    /// Whether a steady state was reached.
    Steady, "steady", Fact, Kind::Plain;
    /// Rounds that were made.
    Rounds, "rounds", Fact, Kind::Plain;
    /// Range of the last rounds over their mean.
    SteadyRange, "steady_range", Fact, Kind::Plain;
    /// Change along the last rounds over their mean.
    SteadySlope, "steady_slope", Fact, Kind::Plain;
    /// Time that counted.
    ElapsedS, "elapsed_s", Fact, TIME;
    /// Time in which targets were opened.
    OpenS, "open_s", Fact, TIME;
    /// Time in which targets were closed.
    CloseS, "close_s", Fact, TIME;
    /// Time from a stream's start to its last I/O.
    ActiveS, "active_s", Fact, TIME;
    /// CPU time in the program.
    CpuUserS, "cpu_user_s", Fact, TIME;
    /// CPU time in the kernel.
    CpuSystemS, "cpu_system_s", Fact, TIME;
    /// Why a phase ended: `time`, `work`, `errors`, `interrupted`.
    Ended, "ended", Fact, Kind::Plain;
    /// I/O or operations that failed.
    Errors, "errors", Fact, Kind::Plain;
    /// I/O or operations of an open loop that were due before the end and never started.
    NotStarted, "not_started", Fact, Kind::Plain;
    /// Time from the first host's start of a case to the last one's.
    StartSkew, "start_skew", Fact, TIME;
    /// How much the clocks of its hosts may change that, either way.
    StartSkewBound, "start_skew_bound", Fact, TIME;
    /// Busy share of all CPUs of a host of several, in the busiest stretch from one common start to the next.
    HostCpu, "host_cpu", Fact, Kind::Percent;
    /// Busy share of the CPU that was the busiest there.
    HostBusiestCpu, "host_busiest_cpu", Fact, Kind::Percent;
    /// The most that one of its network devices carried in one direction.
    HostNetwork, "host_network", Fact, BIT_RATE;
    /// The same over what that device claims to transfer.
    HostNetworkShare, "host_network_share", Fact, Kind::Percent;
    /// From the start of a case to its end on a host, without the waits for other hosts.
    HostDoneAfter, "host_done_after", Fact, TIME;
    /// How the far end is reached: `loopback`, `network`.
    Path, "path", Fact, Kind::Plain;
    /// Size of all targets together.
    TargetBytes, "target_bytes", Fact, Kind::Size;
    /// Kind of file system that the targets are on; `none` = a block device.
    FileSystem, "file_system", Fact, Kind::Plain;
    /// The device that carried the traffic, or that the targets are on.
    Device, "device", Fact, Kind::Plain;
    /// What that device claims to transfer.
    LinkBitPerS, "link_bit_per_s", Fact, BIT_RATE;
    /// Largest packet of that device.
    MtuBytes, "mtu_bytes", Fact, Kind::Plain;
    /// Its driver.
    KernelModule, "kernel_module", Fact, Kind::Plain;
    /// Version of its firmware.
    Firmware, "firmware", Fact, Kind::Plain;
    /// What its link is: `Ethernet`, `InfiniBand`.
    LinkLayer, "link_layer", Fact, Kind::Plain;
    /// Index of its address that an RDMA connection uses.
    GidIndex, "gid_index", Fact, Kind::Plain;
    /// NUMA node that the device hangs on.
    DeviceNode, "device_node", Fact, Kind::Plain;
    /// Messages up to this size are copied into the request.
    InlineBytes, "inline_bytes", Fact, Kind::Plain;
    /// What serves at the far end.
    FarEnd, "far_end", Fact, Kind::Plain;
    /// The far end's RDMA device with its port, which that end has chosen: `mlx5_0:1`.
    FarDevice, "far_device", Fact, Kind::Plain;
    /// Index of that device's address.
    FarGidIndex, "far_gid_index", Fact, Kind::Plain;
    /// What was asked of RDMA queue pairs beyond the dimensions: `receives=64 timeout=18`.
    RdmaOptions, "rdma_options", Fact, Kind::Plain;
    /// Largest packet of the path, as TCP found it.
    PathMtuBytes, "path_mtu_bytes", Fact, Kind::Plain;
    /// Bytes handed to the kernel at once.
    BlockBytes, "block_bytes", Fact, Kind::Plain;
    /// Send buffer at the start of a connection.
    FirstSendBufferBytes, "first_send_buffer_bytes", Fact, Kind::Plain;
    /// Receive buffer at the start of a connection.
    FirstReceiveBufferBytes, "first_receive_buffer_bytes", Fact, Kind::Plain;
    /// Bytes that a receiver waits for before it wakes up.
    GatheredBytes, "gathered_bytes", Fact, Kind::Plain;
    /// Kind of socket.
    Socket, "socket", Fact, Kind::Plain;
    /// The virtual function beside a device.
    VirtualFunction, "virtual_function", Fact, Kind::Plain;
    /// Share of the traffic that it carried.
    VirtualFunctionShare, "virtual_function_share", Fact, Kind::Plain;
    /// The file of the MPI library.
    Library, "library", Fact, Kind::Plain;
    /// The version of the MPI standard.
    Standard, "standard", Fact, Kind::Plain;
    /// Who started the ranks.
    Launcher, "launcher", Fact, Kind::Plain;
    /// What one value is a time of: `batch`, `single`.
    Timed, "timed", Dimension, Kind::Plain;
    /// Messages in flight at once.
    Window, "window", Fact, Kind::Plain;
    /// Iterations behind one value.
    Iterations, "iterations", Fact, Kind::Plain;
    /// The standard deviation of single values, as perftest printed it: stored until `perftest_deviation` was.
    Deviation, "deviation", Fact, Kind::Measured(Unit::Second);
    /// The minimum by perftest's rules, which leave out the last message: its `t_min`.
    PerftestMin, "perftest_min", Fact, TIME;
    /// Its `t_max`: without the two slowest messages, and so never the maximum.
    PerftestMax, "perftest_max", Fact, TIME;
    /// Its `t_typical`: the median of what is left.
    PerftestTypical, "perftest_typical", Fact, TIME;
    /// Its `t_avg`: the mean of what is left.
    PerftestAverage, "perftest_average", Fact, TIME;
    /// Its `t_stdev`: the population's standard deviation of what is left.
    PerftestDeviation, "perftest_deviation", Fact, TIME;
    /// Its `99% percentile`.
    PerftestP99, "perftest_p99", Fact, TIME;
    /// Its `99.9% percentile`.
    PerftestP999, "perftest_p999", Fact, TIME;
    /// Its `BW peak`, the fastest window: luck and no measurement.
    PerftestPeak, "perftest_peak", Fact, Kind::Measured(Unit::BytePerSecond);
    /// What carried the messages.
    Transport, "transport", Fact, Kind::Plain;
    /// The CPUs that each rank was bound to.
    Cpus, "cpus", Fact, Kind::Plain;
    /// Variables of the environment that choose networks and transports.
    Variables, "variables", Fact, Kind::Plain;
    /// Command lines by what they are for.
    Commands, "commands", Fact, Kind::Plain;
    /// Processes that did I/O.
    Tasks, "tasks", Fact, Kind::Plain;
    /// I/O that a tool counted.
    Ios, "ios", Fact, Kind::Plain;
    /// Number of a socket's descriptor, under which iperf3 shows its stream.
    Descriptor, "descriptor", Fact, Kind::Plain;
    /// This end of a connection: address and port.
    LocalAddress, "local_address", Fact, Kind::Plain;
    /// The other end of it.
    RemoteAddress, "remote_address", Fact, Kind::Plain;
    /// What tells a test of iperf3 from others at its server.
    Cookie, "cookie", Fact, Kind::Plain;
    /// When a test began, in seconds since 1970.
    BeganS, "began_s", Fact, Kind::Plain;
    /// The tool and its version whose output it has.
    EmulatedVersion, "emulated_version", Fact, Kind::Plain;
    /// What the system of this end calls itself.
    System, "system", Fact, Kind::Plain;
    /// Largest segment of a connection of TCP.
    SegmentBytes, "segment_bytes", Fact, Kind::Plain;
    /// Congestion control of the receiver.
    ReceiverCongestion, "receiver_congestion", Fact, Kind::Plain;
    /// CPU time of a process over the time, of one CPU.
    ProcessCpu, "process_cpu", Fact, Kind::Percent;
    /// That of it in the program.
    ProcessUserCpu, "process_user_cpu", Fact, Kind::Percent;
    /// That of it in the kernel.
    ProcessSystemCpu, "process_system_cpu", Fact, Kind::Percent;
    /// Time in which the CPUs of a machine were at work, all of them together.
    WorkS, "work_s", Fact, TIME;
    /// Messages that arrived.
    Messages, "messages", Fact, Kind::Plain;
    /// What this end says of itself to a peer: node, CPU, system, version.
    Configuration, "configuration", Fact, Kind::Plain;
    /// What the far end says of itself.
    FarConfiguration, "far_configuration", Fact, Kind::Plain;
    /// The file of results that was imported.
    SourceFile, "source_file", Fact, Kind::Plain;
    /// The format of that file.
    SourceFormat, "source_format", Fact, Kind::Plain;
    /// The line of that file, from 1, where a line is a result.
    SourceLine, "source_line", Fact, Kind::Plain;
    /// What format 1 stored under names that are none of these.
    Reported, "told", Fact, Kind::Plain;
}

impl Attribute {
    /// The stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The attribute with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|attribute| attribute.name() == name)
    }
}

/// What results of two runs must share to be about the same: beside what [`Role::Identity`] marks, whether there was a
/// network at all, and the rate that was asked for, in which hosts of one run may differ.
#[must_use]
pub fn identity(attributes: &Attributes) -> Attributes {
    // These rates follow from what was measured before.
    let is_found = [Attribute::PercentOfMax, Attribute::Goal, Attribute::Step];
    let is_found = is_found.iter().any(|name| attributes.contains_key(name));
    let is_shared = |(name, value): &(&Attribute, &Value)| match name {
        // Older runs and imported ones do not say that they used a network.
        Attribute::Path => value.text() == Some(LOOPBACK),
        Attribute::RequestedRate => !is_found,
        name => name.row().role == Role::Identity,
    };
    let shared = attributes.iter().filter(is_shared);
    shared.map(|(name, value)| (*name, value.clone())).collect()
}

/// The [`Attribute::Path`] of what never left its host.
pub const LOOPBACK: &str = "loopback";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_choice::EngineReason;

    #[test]
    fn names_are_what_is_stored_and_unique() {
        for attribute in Attribute::ALL {
            assert_eq!(serde_json::to_value(attribute).unwrap(), attribute.name());
            assert_eq!(Attribute::from_name(attribute.name()), Some(*attribute));
        }
    }

    #[test]
    fn values_come_back_as_what_they_were() {
        for value in [
            Value::Flag(true),
            Value::Integer(u64::MAX),
            Value::Number(0.25),
            Value::Text("io_uring".to_owned()),
            Value::Reason(EngineReason::AskedFor),
            Value::Reason(EngineReason::Refused {
                io_uring: "denied".to_owned(),
                libaio: None,
            }),
            Value::Pairs(BTreeMap::from([("id".to_owned(), "x".to_owned())])),
            Value::Ranks(vec![
                BoundRank { host: None, cpus: vec![0, 1] },
                BoundRank { host: Some("b".to_owned()), cpus: Vec::new() },
            ]),
        ] {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{text}");
        }
    }
}
