//! Definitions of the MPI benchmarks: title, method and metrics.

use crate::benchmark::{
    Better, DEFAULT_PREPARATIONS, Definition, Metric, ReportSection, SuiteSettings,
    VarianceSource,
};
use crate::quantity::Unit;

const fn time(name: &'static str, meaning: &'static str) -> Metric {
    Metric::new(name, Unit::Second, Better::Lower, meaning)
}

const fn rate(meaning: &'static str) -> Metric {
    Metric::new("bandwidth", Unit::BytePerSecond, Better::Higher, meaning)
}

const fn row(
    title: &'static str,
    method: &'static str,
    metrics: &'static [Metric],
) -> Definition {
    Definition {
        title,
        method,
        metrics,
        section: ReportSection::Mpi,
        variance_source: VarianceSource::Launch,
        preparations: DEFAULT_PREPARATIONS,
        settings: SuiteSettings::Mpi,
        target: 0.01,
    }
}

const COLLECTIVE: &str = "\
Every call is timed separately and followed by an untimed barrier. Each rank takes the mean over the \
calls of a batch; the figure is the mean over the ranks.";
const COLLECTIVE_METRICS: &[Metric] = &[
    time("latency", "time of one call: mean over the calls of a batch, then over the ranks"),
    time("latency_min", "the same, minimum over the ranks"),
    time("latency_max", "the same, maximum over the ranks"),
];
const PERSISTENT_COLLECTIVE: &str = "\
As the collective of the same name, with a request that is created once (MPI 4): MPI_Start and MPI_Wait \
are timed, its creation is not.";
const NEIGHBORHOOD: &str = "\
As a collective, with the neighbours of each rank only: by default the rank before and the one after it \
in a ring. The creation of the topology is timed once for all sizes.";
const OVERLAP: &str = "\
The call returns at once, a computation runs for as long as the call alone takes, then MPI_Wait \
completes it. Overlap is the share hidden behind the computation: 1 − (total − computation) / call \
alone.";
const OVERLAP_METRICS: &[Metric] = &[
    time("latency", "time of call, computation and wait together, mean over the ranks"),
    time("compute", "time of the computation, mean over the ranks"),
    time("communication", "time of call and wait without computation, mean over the ranks"),
    Metric::new(
        "overlap",
        Unit::Ratio,
        Better::Higher,
        "share of the communication hidden behind the computation, 0 to 1",
    ),
    time("start", "with -f: time until the call that starts the operation returns"),
    time("test", "with -f: time of the calls of MPI_Test during the computation"),
    time("wait", "with -f: time of MPI_Wait after the computation"),
    time("communication_min", "with -f: communication, minimum over the ranks"),
    time("communication_max", "with -f: communication, maximum over the ranks"),
];

pub(super) const fn collective(title: &'static str) -> Definition {
    row(title, COLLECTIVE, COLLECTIVE_METRICS)
}

pub(super) const fn neighborhood(title: &'static str) -> Definition {
    row(title, NEIGHBORHOOD, COLLECTIVE_METRICS)
}

pub(super) const fn persistent(title: &'static str) -> Definition {
    row(title, PERSISTENT_COLLECTIVE, COLLECTIVE_METRICS)
}

pub(super) const fn non_blocking(title: &'static str) -> Definition {
    row(title, OVERLAP, OVERLAP_METRICS)
}

pub(super) const LATENCY: Definition = row(
    "latency of MPI messages between two ranks",
    "\
Ping-pong: one rank sends a message and waits for one of the same size, with blocking calls. Batches \
of round trips are timed by one clock; the figure is the time over twice their number, half a round \
trip, as in OSU's osu_latency. The clock is not read within a batch, so its cost is not included; OSU \
5.7 and later read it around every message, which adds to their latency.",
    &[time("latency", "half of a round trip: time of a batch / (2 × round trips)")
        .with_headline("MPI latency")],
);
pub(super) const BANDWIDTH: Definition = row(
    "bandwidth of MPI messages from one rank to another",
    "\
One rank posts a window of 64 non-blocking sends, then waits for all of them and for a short reply of \
the other rank, repeatedly. The figure is the bytes sent over the sender's time.",
    &[rate("bytes sent over the sender's time").with_headline("MPI bandwidth")],
);
pub(super) const BOTH_WAYS: Definition = row(
    "bandwidth of MPI messages both ways at once",
    "\
Both ranks post a window of receives and a window of sends and wait for all of them. The figure is \
the bytes of both directions over the time of one rank.",
    &[rate("bytes sent and received over the time")],
);
pub(super) const MESSAGE_RATE: Definition = row(
    "bandwidth and message rate of several pairs of ranks",
    "\
As mpi.bw, with all pairs at once; rank i sends to rank i + pairs. The figure is the sum over the pairs \
over the mean of their times.",
    &[
        rate("bytes of all pairs over the time"),
        Metric::new(
            "message_rate",
            Unit::Hertz,
            Better::Higher,
            "messages of all pairs per second",
        ),
    ],
);
pub(super) const MULTI_LATENCY: Definition = row(
    "latency of MPI messages of several pairs at once",
    "As mpi.latency, with all pairs at once; the figure is the mean over the pairs.",
    &[time("latency", "half of a round trip, mean over the pairs")],
);
pub(super) const PERSISTENT_LATENCY: Definition = row(
    "latency of MPI messages with persistent requests",
    "As mpi.latency, with requests that are created once: MPI_Start and MPI_Wait are timed.",
    &[time("latency", "half of a round trip: time of a batch / (2 × round trips)")],
);
pub(super) const PERSISTENT_BANDWIDTH: Definition = row(
    "bandwidth of MPI messages with persistent requests",
    "As mpi.bw, with requests that are created once: MPI_Startall and MPI_Waitall are timed.",
    &[rate("bytes sent over the sender's time")],
);
pub(super) const PERSISTENT_BOTH_WAYS: Definition = row(
    "bandwidth of MPI messages both ways with persistent requests",
    "As mpi.bibw, with requests that are created once: MPI_Startall and MPI_Waitall are timed.",
    &[rate("bytes sent and received over the time")],
);

pub(super) const THREADS_LATENCY: Definition = row(
    "latency of MPI messages between threads of two ranks",
    "\
As mpi.latency, with a library that is initialised for several threads (MPI_THREAD_MULTIPLE): the threads \
of both ranks take the messages in turn. The figure is the mean over all messages of all threads.",
    &[time("latency", "half of a round trip, mean over the messages of all threads")],
);
pub(super) const FORKED_LATENCY: Definition = row(
    "latency of MPI messages between ranks that forked processes",
    "\
As mpi.latency, with a barrier before each round trip, after both ranks have forked processes that send \
nothing.",
    &[time("latency", "half of a round trip, without the barrier")],
);
pub(super) const FAN_IN_BANDWIDTH: Definition = row(
    "bandwidth of MPI messages from several hosts to one",
    "\
Each rank of all other hosts sends windows of 64 messages to its partner on the first host, which receives \
from one rank of each host at once. The figure is the bytes sent over the mean of the senders' times.",
    &[rate("bytes of all senders over the mean of their times")],
);
pub(super) const FAN_OUT_BANDWIDTH: Definition = row(
    "bandwidth of MPI messages from one host to several",
    "\
Each rank of the first host sends windows of 64 messages to its partners, one on each other host, at once. \
The figure is the bytes sent over the mean of the senders' times.",
    &[rate("bytes of all senders over the mean of their times")],
);

pub(super) const STARTUP: Definition = row(
    "initialisation of the MPI library",
    "\
Each rank times MPI_Init, or MPI_Session_init with the creation of a communicator, once in each launch. \
The figure is the mean over the ranks.",
    &[
        time("latency", "time of MPI_Init, mean over the ranks"),
        time("latency_min", "the same, minimum over the ranks"),
        time("latency_max", "the same, maximum over the ranks"),
    ],
);

/// How one-sided operations are completed.
const FLUSHED: &str = "\
One rank makes the operation on a window of the other's memory and waits for its completion; the other \
rank is passive, unless the synchronisation is pscw or fence: then both ranks access each other's \
memory in turn, and the figure is half of a turn.";

const fn remote_latency(title: &'static str, metrics: &'static [Metric]) -> Definition {
    row(title, FLUSHED, metrics)
}

pub(super) const PUT_LATENCY: Definition = remote_latency(
    "latency of one-sided writes",
    &[time("latency", "one write until it is complete at the other rank")],
);
pub(super) const GET_LATENCY: Definition = remote_latency(
    "latency of one-sided reads",
    &[time("latency", "one read until the data have arrived")],
);
pub(super) const ACCUMULATE_LATENCY: Definition = remote_latency(
    "latency of one-sided sums",
    &[time("latency", "one MPI_Accumulate until it is complete at the other rank")],
);
pub(super) const GET_ACCUMULATE_LATENCY: Definition = remote_latency(
    "latency of one-sided sums that return the numbers before",
    &[time("latency", "one MPI_Get_accumulate until the numbers have arrived")],
);
pub(super) const FETCH_AND_OP_LATENCY: Definition = remote_latency(
    "latency of one-sided sums of one number",
    &[time("latency", "one MPI_Fetch_and_op until the number has arrived")],
);
pub(super) const COMPARE_AND_SWAP_LATENCY: Definition = remote_latency(
    "latency of one-sided compare-and-swap",
    &[time("latency", "one MPI_Compare_and_swap until the number has arrived")],
);

/// How windows of one-sided operations are timed.
const REMOTE_WINDOW: &str = "\
One rank makes a window of 64 operations on the other's memory, then waits for the completion of all, \
repeatedly. The figure is the bytes over the time of that rank.";

pub(super) const PUT_BANDWIDTH: Definition = row(
    "bandwidth of one-sided writes",
    REMOTE_WINDOW,
    &[rate("bytes written over the time of the writing rank")],
);
pub(super) const GET_BANDWIDTH: Definition = row(
    "bandwidth of one-sided reads",
    REMOTE_WINDOW,
    &[rate("bytes read over the time of the reading rank")],
);
pub(super) const PUT_BOTH_WAYS: Definition = row(
    "bandwidth of one-sided writes both ways at once",
    "\
Both ranks expose their memory, make a window of 64 writes to the other's, and wait for all. The \
figure is the bytes of both directions over the time of one rank.",
    &[rate("bytes written by both ranks over the time")],
);
