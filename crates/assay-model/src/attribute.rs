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

pub use value::{BoundRank, Value};

/// Names and values that distinguish and describe a result, in the order of the table.
pub type Attributes = BTreeMap<Attribute, Value>;

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
pub enum Kind {
    /// A size in bytes, written with binary prefixes.
    Size,
    /// A quantity in this base unit.
    Measured(Unit),
    /// A share in percent.
    Percent,
    /// A number of which only the order of magnitude matters.
    Scientific,
    /// A word, a name, a count or a truth value.
    Plain,
}

/// Name, role and kind of one attribute.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The stored name.
    pub name: &'static str,
    /// Its role in a result.
    pub role: Role,
    /// Kind of its value.
    pub kind: Kind,
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
    /// Host that the result is about.
    Host, "host", Dimension, Kind::Plain;
    /// The other host of a pair, as a name of this run's hosts.
    Peer, "peer", Identity, Kind::Plain;
    /// The host at the other end, as the user named it; `loopback` for this machine.
    To, "to", Dimension, Kind::Plain;
    /// Placement of the workload: `node`, `numa:0`, `l3:4`, `same-cache`.
    Placement, "placement", Identity, Kind::Plain;
    /// Domain that the data came from, when it was copied between two domains.
    Source, "source", Identity, Kind::Plain;
    /// Number of domains, or pairs of hosts, that were measured at the same time.
    Concurrent, "concurrent", Identity, Kind::Plain;
    /// End of a connection: `local`, `remote`.
    End, "end", Identity, Kind::Plain;
    /// Name of a storage test; the points of a curve share it.
    Test, "test", Identity, Kind::Plain;
    /// Name of the phase in the user's input: a fio group, a Vdbench run.
    Phase, "phase", Identity, Kind::Plain;
    /// Values of the loops around a phase, which distinguish it from others of the same name.
    Loops, "loops", Identity, Kind::Plain;
    /// Kind of operation: `read`, `write`, `mix`, or an operation on files.
    Operation, "operation", Identity, Kind::Plain;
    /// Number of files or directories of a tree.
    Files, "files", Identity, Kind::Plain;
    /// Size of each file of a tree.
    FileBytes, "file_bytes", Identity, Kind::Size;
    /// Number of directory levels of a tree.
    Levels, "levels", Identity, Kind::Plain;
    /// Direction of the data transfer.
    Direction, "direction", Identity, Kind::Plain;
    /// Size of a message, an I/O or a working set.
    Bytes, "bytes", Identity, Kind::Size;
    /// Size of each array.
    BytesPerArray, "bytes_per_array", Dimension, Kind::Size;
    /// Number of equations of a linear system.
    N, "n", Identity, Kind::Plain;
    /// Number of the CPU that issues the loads.
    Cpu, "cpu", Dimension, Kind::Plain;
    /// Instruction set of the kernel.
    InstructionSet, "instruction_set", Identity, Kind::Plain;
    /// MPI library with its version.
    Mpi, "mpi", Identity, Kind::Plain;
    /// Installation prefix of that MPI.
    Prefix, "prefix", Dimension, Kind::Plain;
    /// Binary interface (ABI) in use.
    Abi, "abi", Identity, Kind::Plain;
    /// Number of processes of an MPI program.
    Ranks, "ranks", Identity, Kind::Plain;
    /// Preset, the method that the benchmark follows.
    Preset, "preset", Identity, Kind::Plain;
    /// Hosts that the launcher was given.
    Hosts, "hosts", Dimension, Kind::Plain;
    /// File of hosts that the launcher was given.
    Hostfile, "hostfile", Dimension, Kind::Plain;
    /// Number of threads that ran.
    Threads, "threads", Dimension, Kind::Plain;
    /// Kind of connection of RDMA: `rc`, `ud`.
    Connection, "connection", Identity, Kind::Plain;
    /// Requested RDMA device and port: `mlx5_0:1`.
    AskedDevice, "asked_device", Identity, Kind::Plain;
    /// Requested index of the device's address (GID).
    AskedGidIndex, "asked_gid_index", Identity, Kind::Plain;
    /// Requested path MTU.
    AskedPathMtuBytes, "asked_path_mtu_bytes", Identity, Kind::Size;
    /// Priority that messages were sent with: InfiniBand's service level.
    ServiceLevel, "service_level", Identity, Kind::Plain;
    /// Number of concurrent connections.
    Streams, "streams", Identity, Kind::Plain;
    /// I/O in flight on each target.
    Depth, "depth", Identity, Kind::Plain;
    /// Share of reads in a mix.
    ReadShare, "read_share", Identity, Kind::Plain;
    /// Access pattern: order of the offsets.
    Pattern, "pattern", Identity, Kind::Plain;
    /// Files or devices that I/O goes to.
    Target, "target", Dimension, Kind::Plain;
    /// Whether the page cache is used.
    PageCache, "page_cache", Identity, Kind::Plain;
    /// Passes over the target before it was measured.
    PreconditionPasses, "precondition_passes", Identity, Kind::Plain;
    /// Latency goal that a share of all I/O had to meet.
    Goal, "goal", Identity, Kind::Plain;
    /// Point of a response curve that is not a share of the maximum: `max`.
    Point, "point", Identity, Kind::Plain;
    /// Share of a curve's maximum rate, in percent.
    PercentOfMax, "percent_of_max", Identity, Kind::Percent;
    /// Round of a steady-state test or try of a search, from 1.
    Step, "step", Part, Kind::Plain;
    /// Requested I/O per second.
    RequestedRate, "requested_rate", Dimension, IO_RATE;
    /// Whether the receiver copies the received data.
    Copy, "copy", Identity, Kind::Plain;
    /// Length of one repetition in whole seconds.
    Seconds, "seconds", Dimension, Kind::Plain;
    /// Rate at which each stream was to send, in bits per second.
    RateBitPerS, "rate_bit_per_s", Identity, BIT_RATE;
    /// Congestion control of TCP.
    Congestion, "congestion", Dimension, Kind::Plain;
    /// Method of waiting for a reply: `spin`, `sleep`.
    Waiting, "waiting", Identity, Kind::Plain;
    /// Number of streams that load the link meanwhile.
    LoadStreams, "load_streams", Identity, Kind::Plain;
    /// Duration for which the kernel polls the device.
    BusyPollS, "busy_poll_s", Identity, TIME;
    /// Requested messages per second.
    MessagesPerS, "messages_per_s", Identity, Kind::Plain;
    /// Engine that issued the I/O.
    Engine, "engine", Dimension, Kind::Plain;
    /// Index of the stream of a workload.
    Stream, "stream", Part, Kind::Plain;
    /// Index of the target of a workload.
    TargetIndex, "target_index", Part, Kind::Plain;
    /// Host that contributed this share of a total.
    Member, "member", Part, Kind::Plain;
    /// Stage of an I/O or operation: `submission`, `sync`.
    Stage, "stage", Part, Kind::Plain;
    /// Part of a test's time: `interval`, `omitted`, `whole`.
    Stretch, "stretch", Part, Kind::Plain;

    /// Reason for the choice of the engine.
    EngineReason, "engine_reason", Fact, Kind::Plain;
    /// Version of the tool that measured.
    ToolVersion, "tool_version", Fact, Kind::Plain;
    /// Kernel that ran: `avx512-nt`.
    Kernel, "kernel", Fact, Kind::Plain;
    /// Earlier case of the run that chose the kernel, on the same CPUs and with arrays of the same
    /// size.
    KernelChosenIn, "kernel_chosen_in", Fact, Kind::Plain;
    /// Share of the memory that got huge pages.
    HugePages, "huge_pages", Fact, Kind::Plain;
    /// Rule by which bytes are counted.
    ByteCounting, "byte_counting", Fact, Kind::Plain;
    /// Library that multiplied matrices; `linked` = the one that a tool was built with.
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
    /// Number of cores in Rpeak.
    RpeakCores, "rpeak_cores", Fact, Kind::Plain;
    /// Operations per cycle and core.
    FlopPerCycle, "flop_per_cycle", Fact, Kind::Plain;
    /// Clock of Rpeak, measured at this load.
    RpeakClock, "rpeak_clock", Fact, Kind::Measured(Unit::Hertz);
    /// The median as a percentage of Rpeak.
    PercentOfRpeak, "percent_of_rpeak", Fact, Kind::Percent;
    /// Precision of a figure from another source: `approximate`.
    Qualifier, "qualifier", Fact, Kind::Plain;
    /// Number of significant digits with which another source printed the figure.
    PrintedDigits, "printed_digits", Fact, Kind::Plain;
    /// Statistic of the repetitions that a tool's figure is: `mean`, `median`.
    Statistic, "statistic", Fact, Kind::Plain;
    /// Number of passes that a tool's figure is a mean over.
    Passes, "passes", Fact, Kind::Plain;
    /// Mean time of a pass, as a tool printed it.
    PassMeanS, "pass_mean_s", Fact, TIME;
    /// Longest time of a pass, as a tool printed it.
    PassLongestS, "pass_longest_s", Fact, TIME;
    /// Size of an element of an array.
    ElementBytes, "element_bytes", Fact, Kind::Size;
    /// Samples discarded as warm-up.
    Discarded, "discarded", Fact, Kind::Plain;
    /// Number of I/O, messages or operations in a distribution.
    Io, "io", Fact, Kind::Plain;
    /// Rate of the reads of a mix.
    ReadRate, "read_rate", Fact, IO_RATE;
    /// Rate of the writes of a mix.
    WriteRate, "write_rate", Fact, IO_RATE;
    /// Mean number of I/O in flight.
    InFlight, "in_flight", Fact, Kind::Plain;
    /// Relative difference of in flight and rate × latency.
    LittleError, "little_error", Fact, Kind::Plain;
    /// Rate of the generator without I/O.
    GeneratorRate, "generator_rate", Fact, IO_RATE;
    /// Generator rate over the reached rate.
    GeneratorHeadroom, "generator_headroom", Fact, Kind::Plain;
    /// Whether a response curve has a knee: `found`, or the reason for none.
    Knee, "knee", Fact, Kind::Plain;
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
    GoalConfirmed, "goal_confirmed", Fact, Kind::Plain;
    /// Result of one try of a search: `keeps`, `misses`, `unclear`.
    Shown, "shown", Fact, Kind::Plain;
    /// Whether a steady state was reached.
    Steady, "steady", Fact, Kind::Plain;
    /// Number of rounds.
    Rounds, "rounds", Fact, Kind::Plain;
    /// Range of the last rounds over their mean.
    SteadyRange, "steady_range", Fact, Kind::Plain;
    /// Change along the last rounds over their mean.
    SteadySlope, "steady_slope", Fact, Kind::Plain;
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
    Ended, "ended", Fact, Kind::Plain;
    /// I/O or operations that failed.
    Errors, "errors", Fact, Kind::Plain;
    /// I/O or operations of an open loop that were due before the end and never started.
    NotStarted, "not_started", Fact, Kind::Plain;
    /// Time from the first host's start of a case to the last one's.
    StartSkew, "start_skew", Fact, TIME;
    /// Uncertainty (±) of the start skew from the offsets of the hosts' clocks.
    StartSkewBound, "start_skew_bound", Fact, TIME;
    /// Busy share of all CPUs of one host of several, in the busiest stretch between two common
    /// starts.
    HostCpu, "host_cpu", Fact, Kind::Percent;
    /// Busy share of the busiest CPU of that host.
    HostBusiestCpu, "host_busiest_cpu", Fact, Kind::Percent;
    /// Highest rate of one of its network devices in one direction.
    HostNetwork, "host_network", Fact, BIT_RATE;
    /// The same over the nominal rate of that device.
    HostNetworkShare, "host_network_share", Fact, Kind::Percent;
    /// From the start of a case to its end on a host, without the waits for other hosts.
    HostDoneAfter, "host_done_after", Fact, TIME;
    /// Path to the far end: `loopback`, `network`.
    Path, "path", Fact, Kind::Plain;
    /// Size of all targets together.
    TargetBytes, "target_bytes", Fact, Kind::Size;
    /// Kind of file system that the targets are on; `none` = a block device.
    FileSystem, "file_system", Fact, Kind::Plain;
    /// The device that carried the traffic, or that the targets are on.
    Device, "device", Fact, Kind::Plain;
    /// Nominal rate of that device.
    LinkBitPerS, "link_bit_per_s", Fact, BIT_RATE;
    /// MTU of that device.
    MtuBytes, "mtu_bytes", Fact, Kind::Plain;
    /// Its driver.
    KernelModule, "kernel_module", Fact, Kind::Plain;
    /// Version of its firmware.
    Firmware, "firmware", Fact, Kind::Plain;
    /// Link layer of the device: `Ethernet`, `InfiniBand`.
    LinkLayer, "link_layer", Fact, Kind::Plain;
    /// Index of the address (GID) that an RDMA connection uses.
    GidIndex, "gid_index", Fact, Kind::Plain;
    /// NUMA node that the device is attached to.
    DeviceNode, "device_node", Fact, Kind::Plain;
    /// Size up to which messages are copied into the request.
    InlineBytes, "inline_bytes", Fact, Kind::Plain;
    /// Program that serves at the far end.
    FarEnd, "far_end", Fact, Kind::Plain;
    /// RDMA device and port that the far end has chosen: `mlx5_0:1`.
    FarDevice, "far_device", Fact, Kind::Plain;
    /// Index of that device's address (GID).
    FarGidIndex, "far_gid_index", Fact, Kind::Plain;
    /// Requested options of RDMA queue pairs beyond the dimensions: `receives=64 timeout=18`.
    RdmaOptions, "rdma_options", Fact, Kind::Plain;
    /// Path MTU as TCP found it.
    PathMtuBytes, "path_mtu_bytes", Fact, Kind::Plain;
    /// Bytes handed to the kernel at once.
    BlockBytes, "block_bytes", Fact, Kind::Plain;
    /// Send buffer at the start of a connection.
    FirstSendBufferBytes, "first_send_buffer_bytes", Fact, Kind::Plain;
    /// Receive buffer at the start of a connection.
    FirstReceiveBufferBytes, "first_receive_buffer_bytes", Fact, Kind::Plain;
    /// Bytes that a receiver accumulates before it wakes up.
    GatheredBytes, "gathered_bytes", Fact, Kind::Plain;
    /// Kind of socket.
    Socket, "socket", Fact, Kind::Plain;
    /// Virtual function that is paired with a device.
    VirtualFunction, "virtual_function", Fact, Kind::Plain;
    /// Share of the traffic that the virtual function carried.
    VirtualFunctionShare, "virtual_function_share", Fact, Kind::Plain;
    /// The file of the MPI library.
    Library, "library", Fact, Kind::Plain;
    /// The version of the MPI standard.
    Standard, "standard", Fact, Kind::Plain;
    /// Launcher that started the ranks.
    Launcher, "launcher", Fact, Kind::Plain;
    /// Unit that one value times: `batch`, `single`.
    Timed, "timed", Dimension, Kind::Plain;
    /// Number of messages in flight.
    Window, "window", Fact, Kind::Plain;
    /// Number of iterations behind one value.
    Iterations, "iterations", Fact, Kind::Plain;
    /// Standard deviation of single values, as perftest printed it. Older runs only; replaced by
    /// `perftest_deviation`.
    Deviation, "deviation", Fact, Kind::Measured(Unit::Second);
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
    PerftestPeak, "perftest_peak", Fact, Kind::Measured(Unit::BytePerSecond);
    /// Transport that carried the messages.
    Transport, "transport", Fact, Kind::Plain;
    /// The CPUs that each rank was bound to.
    Cpus, "cpus", Fact, Kind::Plain;
    /// Variables of the environment that choose networks and transports.
    Variables, "variables", Fact, Kind::Plain;
    /// Command lines by purpose.
    Commands, "commands", Fact, Kind::Plain;
    /// Number of processes that did I/O.
    Tasks, "tasks", Fact, Kind::Plain;
    /// Number of I/O that a tool counted.
    Ios, "ios", Fact, Kind::Plain;
    /// Number of a socket's descriptor, under which iperf3 shows its stream.
    Descriptor, "descriptor", Fact, Kind::Plain;
    /// This end of a connection: address and port.
    LocalAddress, "local_address", Fact, Kind::Plain;
    /// The other end of that connection.
    RemoteAddress, "remote_address", Fact, Kind::Plain;
    /// Identifier of an iperf3 test at its server.
    Cookie, "cookie", Fact, Kind::Plain;
    /// When a test began, in seconds since 1970.
    BeganS, "began_s", Fact, Kind::Plain;
    /// Emulated tool with its version.
    EmulatedVersion, "emulated_version", Fact, Kind::Plain;
    /// Name of this end's operating system (`uname`).
    System, "system", Fact, Kind::Plain;
    /// Largest segment of a connection of TCP.
    SegmentBytes, "segment_bytes", Fact, Kind::Plain;
    /// Congestion control of the receiver.
    ReceiverCongestion, "receiver_congestion", Fact, Kind::Plain;
    /// CPU time of a process over wall time, as a percentage of one CPU.
    ProcessCpu, "process_cpu", Fact, Kind::Percent;
    /// User-mode part of it.
    ProcessUserCpu, "process_user_cpu", Fact, Kind::Percent;
    /// Kernel-mode part of it.
    ProcessSystemCpu, "process_system_cpu", Fact, Kind::Percent;
    /// Busy time of all CPUs of a machine together.
    WorkS, "work_s", Fact, TIME;
    /// Number of received messages.
    Messages, "messages", Fact, Kind::Plain;
    /// Description of this end that is sent to a peer: node, CPU, system, version.
    Configuration, "configuration", Fact, Kind::Plain;
    /// Description that the far end sent.
    FarConfiguration, "far_configuration", Fact, Kind::Plain;
    /// File of results that was imported.
    SourceFile, "source_file", Fact, Kind::Plain;
    /// The format of that file.
    SourceFormat, "source_format", Fact, Kind::Plain;
    /// Line of that file, from 1, where each line is a result.
    SourceLine, "source_line", Fact, Kind::Plain;
    /// Properties that format 1 stored under names outside this table.
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

/// Returns the attributes that results of two runs must share to be comparable.
///
/// Besides those with [`Role::Identity`], these are the loopback path and the requested rate, which
/// may differ between hosts of one run.
#[must_use]
pub fn identity(attributes: &Attributes) -> Attributes {
    // These rates derive from an earlier measurement.
    let is_found = [Attribute::PercentOfMax, Attribute::Goal, Attribute::Step];
    let is_found = is_found.iter().any(|name| attributes.contains_key(name));
    let is_shared = |(name, value): &(&Attribute, &Value)| match name {
        // Older and imported runs do not record that they used a network.
        Attribute::Path => value.text() == Some(LOOPBACK),
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
