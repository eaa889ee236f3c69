//! Table of attributes, which identify and describe results: names, roles and kinds of value.
//!
//! A series carries its dimensions from its first event on; facts are found while measuring.
//! `compare` matches results by the attributes with [`Role::Identity`], tables derive their columns
//! from this table, and CSV prints its names. Names are literal strings and never derived from
//! types, because stored runs contain them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::quantity::Unit;

mod value;

pub use value::{AttributeValue, RankBinding};

/// Names and values that distinguish and describe a result, in the order of the table.
pub type Attributes = BTreeMap<Attribute, AttributeValue>;

/// Role of an attribute in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A dimension that two results must share to be compared.
    Identity,
    /// A dimension that distinguishes results of one run and may differ between runs.
    Dimension,
    /// A dimension of records that contribute to a result without being one, such as one stream of
    /// many. Summaries leave such series to the renderings of tools.
    Part,
    /// Describes a result; found while measuring, or derived.
    Fact,
}

/// Kind of an attribute's value, which decides its format in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeKind {
    /// A size in bytes, written with binary prefixes.
    Size,
    /// A quantity in this base unit.
    Quantity(Unit),
    /// A share in percent.
    Percent,
    /// A number of which only the order of magnitude matters.
    Scientific,
    /// A whole number.
    Count,
    /// A word, a name, a number without a unit or a truth value.
    Plain,
}

/// Name, role and kind of one attribute.
#[derive(Debug, Clone, Copy)]
pub struct AttributeRow {
    /// The stored name.
    pub name: &'static str,
    /// Its role in a result.
    pub role: Role,
    /// Kind of its value.
    pub kind: AttributeKind,
}

macro_rules! attributes {
    ($($(#[doc = $doc:literal])+ $variant:ident, $name:literal, $role:ident, $kind:expr;)+) => {
        /// All attributes, in the order in which they are printed.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum Attribute {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
        }

        impl Attribute {
            /// Every attribute, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Row of the table for this attribute.
            pub const fn row(self) -> AttributeRow {
                match self {
                    $(Self::$variant => AttributeRow { name: $name, role: Role::$role, kind: $kind },)+
                }
            }
        }
    };
}

const BIT_RATE: AttributeKind = AttributeKind::Quantity(Unit::BitPerSecond);
const FLOP_RATE: AttributeKind = AttributeKind::Quantity(Unit::FlopPerSecond);
const IO_RATE: AttributeKind = AttributeKind::Quantity(Unit::IoPerSecond);
const TIME: AttributeKind = AttributeKind::Quantity(Unit::Second);

attributes! {
    /// Host that the result is about.
    Host, "host", Dimension, AttributeKind::Plain;
    /// The other host of a pair, as a name of this run's hosts.
    Peer, "peer", Identity, AttributeKind::Plain;
    /// The host at the other end, as the user named it; `loopback` for this machine.
    To, "to", Dimension, AttributeKind::Plain;
    /// Placement of the workload: `node`, `numa:0`, `l3:4`, `same-cache`.
    Placement, "placement", Identity, AttributeKind::Plain;
    /// Domain that the data came from, when it was copied between two domains.
    Source, "source", Identity, AttributeKind::Plain;
    /// Distance of the two CPUs of a pair: `same-core`, `same-cache`.
    Distance, "distance", Dimension, AttributeKind::Plain;
    /// Number of domains, or pairs of hosts, that were measured at the same time.
    Concurrent, "concurrent", Identity, AttributeKind::Count;
    /// End of a connection: `local`, `remote`.
    End, "end", Identity, AttributeKind::Plain;
    /// Name of a storage test; the points of a curve share it.
    Test, "test", Identity, AttributeKind::Plain;
    /// Program that was started, by its words or the user's name for it.
    Program, "program", Identity, AttributeKind::Plain;
    /// Name of the phase in the user's input: a fio group, a Vdbench run.
    Phase, "phase", Identity, AttributeKind::Plain;
    /// Values of the loops around a phase, which distinguish it from others of the same name.
    Loops, "loops", Identity, AttributeKind::Plain;
    /// Kind of operation: `read`, `write`, `mix`, or an operation on files.
    Operation, "operation", Identity, AttributeKind::Plain;
    /// Number of files or directories of a tree.
    Files, "files", Identity, AttributeKind::Count;
    /// Size of each file of a tree.
    FileBytes, "file_bytes", Identity, AttributeKind::Size;
    /// Number of directory levels of a tree.
    Levels, "levels", Identity, AttributeKind::Count;
    /// Direction of the data transfer.
    Direction, "direction", Identity, AttributeKind::Plain;
    /// Size of a message, an I/O or a working set.
    Bytes, "bytes", Identity, AttributeKind::Size;
    /// Size of each array.
    BytesPerArray, "bytes_per_array", Dimension, AttributeKind::Size;
    /// Number of equations of a linear system.
    N, "n", Identity, AttributeKind::Count;
    /// Number of the CPU that issues the loads.
    Cpu, "cpu", Dimension, AttributeKind::Count;
    /// Instruction set of the kernel.
    InstructionSet, "instruction_set", Identity, AttributeKind::Plain;
    /// MPI library with its version.
    Mpi, "mpi", Identity, AttributeKind::Plain;
    /// Installation prefix of that MPI.
    Prefix, "prefix", Dimension, AttributeKind::Plain;
    /// Binary interface (ABI) in use.
    Abi, "abi", Identity, AttributeKind::Plain;
    /// Number of processes of an MPI program.
    Ranks, "ranks", Identity, AttributeKind::Count;
    /// Preset, the method that the benchmark follows.
    Preset, "preset", Identity, AttributeKind::Plain;
    /// Hosts that the launcher was given.
    Hosts, "hosts", Dimension, AttributeKind::Plain;
    /// File of hosts that the launcher was given.
    Hostfile, "hostfile", Dimension, AttributeKind::Plain;
    /// Number of threads that ran.
    Threads, "threads", Dimension, AttributeKind::Count;
    /// Kind of connection of RDMA: `rc`, `ud`.
    Connection, "connection", Identity, AttributeKind::Plain;
    /// Requested RDMA device and port: `mlx5_0:1`.
    AskedDevice, "asked_device", Identity, AttributeKind::Plain;
    /// Requested index of the device's address (GID).
    AskedGidIndex, "asked_gid_index", Identity, AttributeKind::Plain;
    /// Requested path MTU.
    AskedPathMtuBytes, "asked_path_mtu_bytes", Identity, AttributeKind::Size;
    /// Priority that messages were sent with: InfiniBand's service level.
    ServiceLevel, "service_level", Identity, AttributeKind::Plain;
    /// Number of concurrent connections.
    Streams, "streams", Identity, AttributeKind::Count;
    /// I/O in flight on each target.
    Depth, "depth", Identity, AttributeKind::Count;
    /// Share of reads in a mix.
    ReadShare, "read_share", Identity, AttributeKind::Plain;
    /// Pause of a traffic generator after each block.
    PauseS, "pause_s", Identity, TIME;
    /// Access pattern: order of the offsets.
    Pattern, "pattern", Identity, AttributeKind::Plain;
    /// Files or devices that I/O goes to.
    Target, "target", Dimension, AttributeKind::Plain;
    /// Whether the page cache is used.
    PageCache, "page_cache", Identity, AttributeKind::Plain;
    /// Passes over the target before it was measured.
    PreconditionPasses, "precondition_passes", Identity, AttributeKind::Count;
    /// Latency goal that a share of all I/O had to meet.
    Goal, "goal", Identity, AttributeKind::Plain;
    /// Point of a response curve that is not a share of the maximum: `max`.
    Point, "point", Identity, AttributeKind::Plain;
    /// Share of a curve's maximum rate, in percent.
    PercentOfMax, "percent_of_max", Identity, AttributeKind::Percent;
    /// Round of a steady-state test or try of a search, from 1.
    Step, "step", Part, AttributeKind::Plain;
    /// Requested I/O per second.
    RequestedRate, "requested_rate", Dimension, IO_RATE;
    /// Whether the receiver copies the received data.
    Copy, "copy", Identity, AttributeKind::Plain;
    /// Whether one system call carries many datagrams, which the kernel cuts and joins.
    Segmentation, "segmentation", Identity, AttributeKind::Plain;
    /// Length of one repetition in whole seconds.
    Seconds, "seconds", Dimension, AttributeKind::Count;
    /// Rate at which each stream was to send, in bits per second.
    RateBitPerS, "rate_bit_per_s", Identity, BIT_RATE;
    /// Congestion control of TCP.
    Congestion, "congestion", Dimension, AttributeKind::Plain;
    /// Method of waiting for a reply: `spin`, `sleep`.
    Waiting, "waiting", Identity, AttributeKind::Plain;
    /// Number of streams that load the link meanwhile.
    LoadStreams, "load_streams", Identity, AttributeKind::Count;
    /// Duration for which the kernel polls the device.
    BusyPollS, "busy_poll_s", Identity, TIME;
    /// Requested messages per second.
    MessagesPerS, "messages_per_s", Identity, AttributeKind::Plain;
    /// Engine that issued the I/O.
    Engine, "engine", Dimension, AttributeKind::Plain;
    /// Index of the stream of a workload.
    Stream, "stream", Part, AttributeKind::Plain;
    /// Index of the target of a workload.
    TargetIndex, "target_index", Part, AttributeKind::Plain;
    /// Host that contributed this share of a total.
    Member, "member", Part, AttributeKind::Plain;
    /// Stage of an I/O or operation: `submission`, `sync`.
    Stage, "stage", Part, AttributeKind::Plain;
    /// Part of a test's time: `interval`, `omitted`, `whole`.
    Stretch, "stretch", Part, AttributeKind::Plain;
    /// Memory of the messages' buffers, if it may be a device's: `cuda D D`, `rocm D H`.
    Buffers, "buffers", Identity, AttributeKind::Plain;

    /// Reason for the choice of the engine.
    EngineReason, "engine_reason", Fact, AttributeKind::Plain;
    /// Version of the tool that measured.
    ToolVersion, "tool_version", Fact, AttributeKind::Plain;
    /// Kernel that ran: `avx512-nt`.
    Kernel, "kernel", Fact, AttributeKind::Plain;
    /// Whether the choice of the kernel was within its noise, so that other kernels may be as fast.
    KernelWithinNoise, "kernel_within_noise", Fact, AttributeKind::Plain;
    /// Earlier case of the run that chose the kernel, on the same CPUs and with arrays of the same
    /// size.
    KernelChosenIn, "kernel_chosen_in", Fact, AttributeKind::Plain;
    /// Share of the memory that got huge pages.
    HugePages, "huge_pages", Fact, AttributeKind::Plain;
    /// Rule by which bytes are counted.
    ByteCounting, "byte_counting", Fact, AttributeKind::Plain;
    /// Library that multiplied matrices; `linked` = the one that a tool was built with.
    Blas, "blas", Fact, AttributeKind::Plain;
    /// HPL's scaled residual.
    Residual, "residual", Fact, AttributeKind::Scientific;
    /// Columns that HPL factors at a time.
    Block, "block", Fact, AttributeKind::Plain;
    /// HPL's grid of processes: `2x4`.
    Grid, "grid", Fact, AttributeKind::Plain;
    /// HPL's code of its algorithm: `WR11C2R4`.
    Variant, "variant", Fact, AttributeKind::Plain;
    /// Cores × FLOP/cycle × clock.
    Rpeak, "rpeak", Fact, FLOP_RATE;
    /// Number of cores in Rpeak.
    RpeakCores, "rpeak_cores", Fact, AttributeKind::Plain;
    /// Operations per cycle and core.
    FlopPerCycle, "flop_per_cycle", Fact, AttributeKind::Plain;
    /// Operations per cycle within the bursts between the slices that measure the clock: the best of all
    /// repetitions.
    BurstFlopPerCycle, "burst_flop_per_cycle", Fact, AttributeKind::Plain;
    /// Clock of Rpeak, measured at this load.
    RpeakClock, "rpeak_clock", Fact, AttributeKind::Quantity(Unit::Hertz);
    /// The median as a percentage of Rpeak.
    PercentOfRpeak, "percent_of_rpeak", Fact, AttributeKind::Percent;
    /// Precision of a figure from another source: `approximate`.
    Qualifier, "qualifier", Fact, AttributeKind::Plain;
    /// Number of significant digits with which another source printed the figure.
    PrintedDigits, "printed_digits", Fact, AttributeKind::Plain;
    /// Statistic of the repetitions that a tool's figure is: `mean`, `median`.
    Statistic, "statistic", Fact, AttributeKind::Plain;
    /// Number of passes that a tool's figure is a mean over.
    Passes, "passes", Fact, AttributeKind::Plain;
    /// Mean time of a pass, as a tool printed it.
    PassMeanS, "pass_mean_s", Fact, TIME;
    /// Longest time of a pass, as a tool printed it.
    PassLongestS, "pass_longest_s", Fact, TIME;
    /// Size of an element of an array.
    ElementBytes, "element_bytes", Fact, AttributeKind::Size;
    /// Samples discarded as warm-up.
    Discarded, "discarded", Fact, AttributeKind::Plain;
    /// Number of I/O, messages or operations in a distribution.
    Io, "io", Fact, AttributeKind::Plain;
    /// Rate of the reads of a mix.
    ReadRate, "read_rate", Fact, IO_RATE;
    /// Rate of the writes of a mix.
    WriteRate, "write_rate", Fact, IO_RATE;
    /// Mean number of I/O in flight.
    InFlight, "in_flight", Fact, AttributeKind::Plain;
    /// Rate of the generator without I/O.
    GeneratorRate, "generator_rate", Fact, IO_RATE;
    /// Generator rate over the reached rate.
    GeneratorHeadroom, "generator_headroom", Fact, AttributeKind::Plain;
    /// Whether a response curve has a knee: `found`, or the reason for none.
    Knee, "knee", Fact, AttributeKind::Plain;
    /// The rate at the knee.
    KneeRate, "knee_rate", Fact, IO_RATE;
    /// The low end of its interval.
    KneeRateLow, "knee_rate_low", Fact, IO_RATE;
    /// The high end of its interval.
    KneeRateHigh, "knee_rate_high", Fact, IO_RATE;
    /// The latency at the knee.
    KneeLatency, "knee_latency", Fact, TIME;
    /// Highest rate shown to meet the goal.
    GoalRate, "goal_rate", Fact, IO_RATE;
    /// Lowest rate not shown to meet the goal.
    GoalMissedAt, "goal_missed_at", Fact, IO_RATE;
    /// The rate that a closed loop reached.
    MaximumRate, "greatest_rate", Fact, IO_RATE;
    /// Whether a separate run has confirmed that the rate meets the goal.
    GoalConfirmed, "goal_confirmed", Fact, AttributeKind::Plain;
    /// Result of one try of a search: `keeps`, `misses`, `unclear`.
    Shown, "shown", Fact, AttributeKind::Plain;
    /// Whether a steady state was reached.
    Steady, "steady", Fact, AttributeKind::Plain;
    /// Number of rounds.
    Rounds, "rounds", Fact, AttributeKind::Plain;
    /// Range of the last rounds over their mean.
    SteadyRange, "steady_range", Fact, AttributeKind::Plain;
    /// Change along the last rounds over their mean.
    SteadySlope, "steady_slope", Fact, AttributeKind::Plain;
    /// Measured time, without the warm-up.
    ElapsedS, "elapsed_s", Fact, TIME;
    /// Time for opening targets.
    OpenS, "open_s", Fact, TIME;
    /// Time for closing targets.
    CloseS, "close_s", Fact, TIME;
    /// Time from a stream's start to its last I/O.
    ActiveS, "active_s", Fact, TIME;
    /// CPU time in the program.
    CpuUserS, "cpu_user_s", Fact, TIME;
    /// CPU time in the kernel.
    CpuSystemS, "cpu_system_s", Fact, TIME;
    /// Reason why a phase ended: `time`, `work`, `errors`, `interrupted`.
    Ended, "ended", Fact, AttributeKind::Plain;
    /// I/O or operations that failed.
    Errors, "errors", Fact, AttributeKind::Plain;
    /// I/O or operations of an open loop that were due before the end and never started.
    NotStarted, "not_started", Fact, AttributeKind::Plain;
    /// Time from the first host's start of a case to the last one's.
    StartSkew, "start_skew", Fact, TIME;
    /// Uncertainty (±) of the start skew from the offsets of the hosts' clocks.
    StartSkewBound, "start_skew_bound", Fact, TIME;
    /// Busy share of all CPUs of one host of several, in the busiest stretch between two common
    /// starts.
    HostCpu, "host_cpu", Fact, AttributeKind::Percent;
    /// Busy share of the busiest CPU of that host.
    HostBusiestCpu, "host_busiest_cpu", Fact, AttributeKind::Percent;
    /// Highest rate of one of its network devices in one direction.
    HostNetwork, "host_network", Fact, BIT_RATE;
    /// The same over the nominal rate of that device.
    HostNetworkShare, "host_network_share", Fact, AttributeKind::Percent;
    /// From the start of a case to its end on a host, without the waits for other hosts.
    HostDoneAfter, "host_done_after", Fact, TIME;
    /// Path to the far end: `loopback`, `network`.
    Path, "path", Fact, AttributeKind::Plain;
    /// Size of all targets together.
    TargetBytes, "target_bytes", Fact, AttributeKind::Size;
    /// Kind of file system that the targets are on; `none` = a block device.
    FileSystem, "file_system", Fact, AttributeKind::Plain;
    /// The device that carried the traffic, or that the targets are on.
    Device, "device", Fact, AttributeKind::Plain;
    /// Nominal rate of that device.
    LinkBitPerS, "link_bit_per_s", Fact, BIT_RATE;
    /// MTU of that device.
    MtuBytes, "mtu_bytes", Fact, AttributeKind::Plain;
    /// Its driver.
    KernelModule, "kernel_module", Fact, AttributeKind::Plain;
    /// Version of its firmware.
    Firmware, "firmware", Fact, AttributeKind::Plain;
    /// Link layer of the device: `Ethernet`, `InfiniBand`.
    LinkLayer, "link_layer", Fact, AttributeKind::Plain;
    /// Index of the address (GID) that an RDMA connection uses.
    GidIndex, "gid_index", Fact, AttributeKind::Plain;
    /// NUMA node that the device is attached to.
    DeviceNode, "device_node", Fact, AttributeKind::Plain;
    /// Size up to which messages are copied into the request.
    InlineBytes, "inline_bytes", Fact, AttributeKind::Plain;
    /// Program that serves at the far end.
    FarEnd, "far_end", Fact, AttributeKind::Plain;
    /// RDMA device and port that the far end has chosen: `mlx5_0:1`.
    FarDevice, "far_device", Fact, AttributeKind::Plain;
    /// Index of that device's address (GID).
    FarGidIndex, "far_gid_index", Fact, AttributeKind::Plain;
    /// Requested options of RDMA queue pairs beyond the dimensions: `receives=64 timeout=18`.
    RdmaOptions, "rdma_options", Fact, AttributeKind::Plain;
    /// Path MTU as TCP found it.
    PathMtuBytes, "path_mtu_bytes", Fact, AttributeKind::Plain;
    /// Bytes handed to the kernel at once.
    BlockBytes, "block_bytes", Fact, AttributeKind::Plain;
    /// Send buffer at the start of a connection.
    FirstSendBufferBytes, "first_send_buffer_bytes", Fact, AttributeKind::Plain;
    /// Receive buffer at the start of a connection.
    FirstReceiveBufferBytes, "first_receive_buffer_bytes", Fact, AttributeKind::Plain;
    /// Bytes that a receiver accumulates before it wakes up.
    GatheredBytes, "gathered_bytes", Fact, AttributeKind::Plain;
    /// Kind of socket.
    Socket, "socket", Fact, AttributeKind::Plain;
    /// Virtual function that is paired with a device.
    VirtualFunction, "virtual_function", Fact, AttributeKind::Plain;
    /// Share of the traffic that the virtual function carried.
    VirtualFunctionShare, "virtual_function_share", Fact, AttributeKind::Plain;
    /// The file of the MPI library.
    Library, "library", Fact, AttributeKind::Plain;
    /// The version of the MPI standard.
    Standard, "standard", Fact, AttributeKind::Plain;
    /// Launcher that started the ranks.
    Launcher, "launcher", Fact, AttributeKind::Plain;
    /// Unit that one value times: `batch`, `single`.
    Timed, "timed", Dimension, AttributeKind::Plain;
    /// Number of messages in flight.
    Window, "window", Fact, AttributeKind::Plain;
    /// Number of iterations behind one value.
    Iterations, "iterations", Fact, AttributeKind::Plain;
    /// The minimum by perftest's rules, which leave out the last message: `t_min`.
    PerftestMin, "perftest_min", Fact, TIME;
    /// perftest's `t_max`: leaves out the two slowest messages, so never the maximum.
    PerftestMax, "perftest_max", Fact, TIME;
    /// perftest's `t_typical`: the median of the rest.
    PerftestTypical, "perftest_typical", Fact, TIME;
    /// perftest's `t_avg`: the mean of the rest.
    PerftestAverage, "perftest_average", Fact, TIME;
    /// perftest's `t_stdev`: the population standard deviation of the rest.
    PerftestDeviation, "perftest_deviation", Fact, TIME;
    /// perftest's `99% percentile`.
    PerftestP99, "perftest_p99", Fact, TIME;
    /// perftest's `99.9% percentile`.
    PerftestP999, "perftest_p999", Fact, TIME;
    /// perftest's `BW peak`, the fastest window: a best-of figure, not a measurement.
    PerftestPeak, "perftest_peak", Fact, AttributeKind::Quantity(Unit::BytePerSecond);
    /// Transport that carried the messages.
    Transport, "transport", Fact, AttributeKind::Plain;
    /// The CPUs that each rank was bound to.
    Cpus, "cpus", Fact, AttributeKind::Plain;
    /// Variables of the environment that choose networks and transports.
    Variables, "variables", Fact, AttributeKind::Plain;
    /// Command lines by purpose.
    Commands, "commands", Fact, AttributeKind::Plain;
    /// Shortest time to start and end an empty program in the same way.
    StartTime, "start_time", Fact, TIME;
    /// Resident set of the process that starts a program: smaller programs cannot be distinguished.
    MemoryFloor, "memory_floor", Fact, AttributeKind::Size;
    /// Extent of the check of a program's run: `output`, `exit`, `none`.
    Checked, "checked", Fact, AttributeKind::Plain;
    /// Number of processes that did I/O.
    Tasks, "tasks", Fact, AttributeKind::Plain;
    /// Number of I/O that a tool counted.
    Ios, "ios", Fact, AttributeKind::Plain;
    /// Number of a socket's descriptor, under which iperf3 shows its stream.
    Descriptor, "descriptor", Fact, AttributeKind::Plain;
    /// This end of a connection: address and port.
    LocalAddress, "local_address", Fact, AttributeKind::Plain;
    /// The other end of that connection.
    RemoteAddress, "remote_address", Fact, AttributeKind::Plain;
    /// Identifier of an iperf3 test at its server.
    Cookie, "cookie", Fact, AttributeKind::Plain;
    /// When a test began, in seconds since 1970.
    BeganS, "began_s", Fact, AttributeKind::Plain;
    /// Emulated tool with its version.
    EmulatedVersion, "emulated_version", Fact, AttributeKind::Plain;
    /// Name of this end's operating system (`uname`).
    System, "system", Fact, AttributeKind::Plain;
    /// Largest segment of a connection of TCP.
    SegmentBytes, "segment_bytes", Fact, AttributeKind::Plain;
    /// Congestion control of the receiver.
    ReceiverCongestion, "receiver_congestion", Fact, AttributeKind::Plain;
    /// CPU time of a process over wall time, as a percentage of one CPU.
    ProcessCpu, "process_cpu", Fact, AttributeKind::Percent;
    /// User-mode part of it.
    ProcessUserCpu, "process_user_cpu", Fact, AttributeKind::Percent;
    /// Kernel-mode part of it.
    ProcessSystemCpu, "process_system_cpu", Fact, AttributeKind::Percent;
    /// Busy time of all CPUs of a machine together.
    WorkS, "work_s", Fact, TIME;
    /// Number of received messages.
    Messages, "messages", Fact, AttributeKind::Plain;
    /// Description of this end that is sent to a peer: node, CPU, system, version.
    Configuration, "configuration", Fact, AttributeKind::Plain;
    /// Description that the far end sent.
    FarConfiguration, "far_configuration", Fact, AttributeKind::Plain;
    /// File of results that was imported.
    SourceFile, "source_file", Fact, AttributeKind::Plain;
    /// The format of that file.
    SourceFormat, "source_format", Fact, AttributeKind::Plain;
    /// Time of the measurement as that file prints it, without zone; it was taken as UTC.
    SourceTime, "source_time", Fact, AttributeKind::Plain;
    /// First line of the result in that file, from 1.
    SourceLine, "source_line", Fact, AttributeKind::Plain;
}

impl Attribute {
    /// The stored name.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The attribute with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|attribute| attribute.name() == name)
    }
}

/// Returns the attributes that results of two runs must share to be comparable.
///
/// Besides those with [`Role::Identity`], these are the loopback path and the requested rate, which
/// may differ between hosts of one run.
pub fn identity_attributes(attributes: &Attributes) -> Attributes {
    // These rates derive from an earlier measurement.
    let is_found = [Attribute::PercentOfMax, Attribute::Goal, Attribute::Step];
    let is_found = is_found.iter().any(|name| attributes.contains_key(name));
    let is_shared = |(name, value): &(&Attribute, &AttributeValue)| match name {
        // Older and imported runs do not record that they used a network.
        Attribute::Path => value.as_text() == Some(LOOPBACK),
        Attribute::RequestedRate => !is_found,
        name => name.row().role == Role::Identity,
    };
    let shared = attributes.iter().filter(is_shared);
    shared.map(|(name, value)| (*name, value.clone())).collect()
}

/// Value of [`Attribute::Path`] for traffic that never leaves its host.
pub const LOOPBACK: &str = "loopback";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_reason::EngineReason;

    #[test]
    fn stored_names_round_trip() {
        for attribute in Attribute::ALL {
            assert_eq!(serde_json::to_value(attribute).unwrap(), attribute.name());
            assert_eq!(Attribute::from_name(attribute.name()), Some(*attribute));
        }
    }

    #[test]
    fn values_round_trip() {
        for value in [
            AttributeValue::Flag(true),
            AttributeValue::Integer(u64::MAX),
            AttributeValue::Number(0.25),
            AttributeValue::Text("io_uring".to_owned()),
            AttributeValue::Reason(EngineReason::AskedFor),
            AttributeValue::Reason(EngineReason::Refused {
                io_uring: "denied".to_owned(),
                libaio: None,
            }),
            AttributeValue::Pairs(BTreeMap::from([("id".to_owned(), "x".to_owned())])),
            AttributeValue::Ranks(vec![
                RankBinding { host: None, cpus: vec![0, 1] },
                RankBinding { host: Some("b".to_owned()), cpus: Vec::new() },
            ]),
        ] {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<AttributeValue>(&text).unwrap(), value, "{text}");
        }
    }
}
