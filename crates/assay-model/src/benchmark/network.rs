//! The rows of the table that concern the network.

use super::{Better, Bound, Definition, Metric};
use crate::quantity::Unit;

const GOODPUT: Metric = Metric {
    name: "goodput",
    unit: Unit::BitPerSecond,
    better: Better::Higher,
    meaning: "payload that arrived over the receiver's time, all streams together",
    limit: Some(Bound::Link),
};

const SEND_RATE: Metric = Metric {
    name: "send_rate",
    unit: Unit::BitPerSecond,
    better: Better::Higher,
    meaning: "payload that the sender handed to its kernel over the sender's time",
    limit: None,
};

const CPU_PER_BYTE: Metric = Metric {
    name: "cpu_per_byte",
    unit: Unit::SecondPerByte,
    better: Better::Lower,
    meaning: "CPU time of the streams' threads, interrupts and softirqs over the payload; of the process alone where the far end is iperf3",
    limit: None,
};

const CPU_LOAD: Metric = Metric {
    name: "cpu_load",
    unit: Unit::Ratio,
    better: Better::Lower,
    meaning: "work of all CPUs (all but idle, waiting and stolen time) over their number and the time",
    limit: None,
};

const ROUND_TRIP: Metric = Metric {
    name: "round_trip",
    unit: Unit::Second,
    better: Better::Lower,
    meaning: "one message there and back: from before its send to after the receive of its answer",
    limit: None,
};

const HALF_ROUND_TRIP: Metric = Metric {
    name: "half_round_trip",
    unit: Unit::Second,
    better: Better::Lower,
    meaning: "mean of all round trips of one repetition, halved: what qperf prints as latency",
    limit: None,
};

const LOSS: Metric = Metric {
    name: "loss",
    unit: Unit::Ratio,
    better: Better::Lower,
    meaning: "datagrams or echoes that never arrived over those sent",
    limit: None,
};

/// TCP.
pub(super) const TCP: Definition = Definition {
    id: "network.tcp",
    title: "goodput, round trip and CPU cost over TCP",
    method: "\
Goodput: the streams run side by side, one thread each, for the time of one repetition; what is \
counted is the payload that the receiver took out of its kernel, over the receiver's own time. The \
receiver copies every byte into its memory unless `copy` says otherwise. The far end may be \
`iperf3 -s` or `assay iperf3 -s`. CPU is told for both ends: work of the whole machine, and what \
the transfer can be charged with per byte. A far end that is iperf3 tells the time of its process \
alone, which leaves out the softirqs that receive. \
Round trip: one message at a time goes to a far end that echoes it (`qperf` or `assay iperf3 -s`), \
and every round trip is timed by one clock on this end. Half a round trip is never called a round \
trip, and the other way round. Under `load` the same is done while TCP streams fill the link. \
Every round trip of a repetition is kept as a distribution beside the run; 300 of them, evenly \
spaced, become samples.",
    metrics: &[
        GOODPUT,
        SEND_RATE,
        Metric {
            name: "retransmits",
            unit: Unit::Count,
            better: Better::Lower,
            meaning: "segments that the sender's kernel sent again, per repetition",
            limit: None,
        },
        CPU_PER_BYTE,
        CPU_LOAD,
        ROUND_TRIP,
        HALF_ROUND_TRIP,
    ],
};

/// UDP.
pub(super) const UDP: Definition = Definition {
    id: "network.udp",
    title: "goodput, loss, jitter and round trip over UDP",
    method: "\
Numbered and time-stamped datagrams are sent at a fixed rate per stream. The receiver counts what \
arrives, what is missing between the numbers it has seen, and what comes late; jitter is RFC \
1889's: J ← J + (|D| − J)/16 over the differences of transit times, which needs no common clock. \
Round trips are measured as over TCP, with one datagram at a time.",
    metrics: &[
        GOODPUT,
        SEND_RATE,
        LOSS,
        Metric {
            name: "jitter",
            unit: Unit::Second,
            better: Better::Lower,
            meaning: "RFC 1889's smoothed difference of transit times at the end of a repetition",
            limit: None,
        },
        Metric {
            name: "reordered",
            unit: Unit::Ratio,
            better: Better::Lower,
            meaning: "datagrams that arrived after one with a higher number, over those sent",
            limit: None,
        },
        Metric {
            name: "pacing_error",
            unit: Unit::Ratio,
            better: Better::Lower,
            meaning: "distance of the rate at which the senders sent from the rate asked for, over the latter",
            limit: None,
        },
        CPU_PER_BYTE,
        CPU_LOAD,
        ROUND_TRIP,
        HALF_ROUND_TRIP,
    ],
};

/// ICMP.
pub(super) const ICMP: Definition = Definition {
    id: "network.icmp",
    title: "round trip of ICMP echoes (ping)",
    method: "\
Echo requests are sent one at a time, and each answer is timed by one clock on this end, from \
before the send to after the receive. The far end's kernel answers, so no program runs there and \
none adds to the time. An unprivileged socket is used where the kernel allows it, else a raw one.",
    metrics: &[ROUND_TRIP, LOSS],
};
