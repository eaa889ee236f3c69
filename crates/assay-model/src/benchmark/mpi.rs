//! Benchmark rows of MPI: one per test, named after its OSU micro-benchmark.

use serde::{Deserialize, Serialize};

use super::table::benchmark_table;
use super::{
    Better, DEFAULT_PREPARATIONS, Definition, Metric, ReportSection, SuiteSettings,
    VarianceSource,
};
use crate::quantity::Unit;

benchmark_table! {
    /// MPI test. The name after `mpi.` is that of the OSU micro-benchmark after `osu_`.
    MpiTest;
    /// Ping-pong of two ranks.
    Latency, "mpi.latency", LATENCY;
    /// Windows of messages in one direction.
    Bandwidth, "mpi.bw", BANDWIDTH;
    /// Windows of messages in both directions at once.
    BothWays, "mpi.bibw", BOTH_WAYS;
    /// Windows of messages of several pairs of ranks, in one direction.
    MessageRate, "mpi.mbw_mr", MESSAGE_RATE;
    /// Ping-pong of several pairs at once.
    MultiLatency, "mpi.multi_lat", MULTI_LATENCY;
    /// Barrier.
    Barrier, "mpi.barrier", collective("barrier over all ranks");
    /// Broadcast.
    Broadcast, "mpi.bcast", collective("broadcast from one rank to all");
    /// Sum at one rank.
    Reduce, "mpi.reduce", collective("sum over all ranks to one rank");
    /// Sum at all ranks.
    Allreduce, "mpi.allreduce", collective("sum over all ranks to all ranks");
    /// Gather at one rank.
    Gather, "mpi.gather", collective("gather from all ranks to one rank");
    /// Scatter from one rank.
    Scatter, "mpi.scatter", collective("scatter from one rank to all ranks");
    /// Gather at all ranks.
    Allgather, "mpi.allgather", collective("gather from all ranks to all ranks");
    /// All-to-all exchange.
    Alltoall, "mpi.alltoall", collective("all-to-all exchange");
    /// Non-blocking barrier, overlapped with computation.
    Ibarrier, "mpi.ibarrier", non_blocking("non-blocking barrier");
    /// Non-blocking broadcast, overlapped with computation.
    Ibroadcast, "mpi.ibcast", non_blocking("non-blocking broadcast");
    /// Non-blocking reduce, overlapped with computation.
    Ireduce, "mpi.ireduce", non_blocking("non-blocking sum to one rank");
    /// Non-blocking allreduce, overlapped with computation.
    Iallreduce, "mpi.iallreduce", non_blocking("non-blocking sum to all ranks");
    /// Non-blocking gather, overlapped with computation.
    Igather, "mpi.igather", non_blocking("non-blocking gather");
    /// Non-blocking scatter, overlapped with computation.
    Iscatter, "mpi.iscatter", non_blocking("non-blocking scatter");
    /// Non-blocking allgather, overlapped with computation.
    Iallgather, "mpi.iallgather", non_blocking("non-blocking gather to all ranks");
    /// Non-blocking all-to-all, overlapped with computation.
    Ialltoall, "mpi.ialltoall", non_blocking("non-blocking all-to-all exchange");
    /// One-sided write.
    PutLatency, "mpi.put_latency", PUT_LATENCY;
    /// One-sided read.
    GetLatency, "mpi.get_latency", GET_LATENCY;
}

/// Communication pattern of the ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MpiPattern {
    /// Two ranks.
    Pair,
    /// An even number of ranks; each rank of the first half has a partner in the second.
    Pairs,
    /// Two or more ranks.
    All,
}

impl MpiTest {
    /// Returns the name after `mpi.`, as typed after `assay mpi`: `latency`, `bw` …
    pub fn name(self) -> &'static str {
        self.id().strip_prefix("mpi.").expect("every identifier here begins with it")
    }

    /// Returns the test with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.name() == name)
    }

    /// Returns the title that the OSU program of this test prints.
    pub const fn osu_title(self) -> &'static str {
        match self {
            Self::Latency => "OSU MPI Latency Test",
            Self::Bandwidth => "OSU MPI Bandwidth Test",
            Self::BothWays => "OSU MPI Bi-Directional Bandwidth Test",
            Self::MessageRate => "OSU MPI Multiple Bandwidth / Message Rate Test",
            Self::MultiLatency => "OSU MPI Multi Latency Test",
            Self::Barrier => "OSU MPI Barrier Latency Test",
            Self::Broadcast => "OSU MPI Broadcast Latency Test",
            Self::Reduce => "OSU MPI Reduce Latency Test",
            Self::Allreduce => "OSU MPI Allreduce Latency Test",
            Self::Gather => "OSU MPI Gather Latency Test",
            Self::Scatter => "OSU MPI Scatter Latency Test",
            Self::Allgather => "OSU MPI Allgather Latency Test",
            Self::Alltoall => "OSU MPI All-to-All Personalized Exchange Latency Test",
            Self::Ibarrier => "OSU MPI Non-blocking Barrier Latency Test",
            Self::Ibroadcast => "OSU MPI Non-Blocking Broadcast Latency Test",
            Self::Ireduce => "OSU MPI Non-blocking Reduce Latency Test",
            Self::Iallreduce => "OSU MPI Non-blocking Allreduce Latency Test",
            Self::Igather => "OSU MPI Non-blocking Gather Latency Test",
            Self::Iscatter => "OSU MPI Non-blocking Scatter Latency Test",
            Self::Iallgather => "OSU MPI Non-blocking Allgather Latency Test",
            Self::Ialltoall => "OSU MPI Non-blocking All-to-All Latency Test",
            Self::PutLatency => "OSU MPI_Put Latency Test",
            Self::GetLatency => "OSU MPI_Get latency Test",
        }
    }

    /// Returns the communication pattern.
    pub const fn pattern(self) -> MpiPattern {
        match self {
            Self::Latency
            | Self::Bandwidth
            | Self::BothWays
            | Self::PutLatency
            | Self::GetLatency => MpiPattern::Pair,
            Self::MessageRate | Self::MultiLatency => MpiPattern::Pairs,
            _ => MpiPattern::All,
        }
    }

    /// Whether messages have a size.
    pub const fn has_sizes(self) -> bool {
        !matches!(self, Self::Barrier | Self::Ibarrier)
    }
}

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

const fn collective(title: &'static str) -> Definition {
    row(title, COLLECTIVE, COLLECTIVE_METRICS)
}

const fn non_blocking(title: &'static str) -> Definition {
    row(title, OVERLAP, OVERLAP_METRICS)
}

const LATENCY: Definition = row(
    "latency of MPI messages between two ranks",
    "\
Ping-pong: one rank sends a message and waits for one of the same size, with blocking calls. Batches \
of round trips are timed by one clock; the figure is the time over twice their number, half a round \
trip, as in OSU's osu_latency. The clock is not read within a batch, so its cost is not included; OSU \
5.7 and later read it around every message, which adds to their latency.",
    &[time("latency", "half of a round trip: time of a batch / (2 × round trips)")
        .with_headline("MPI latency")],
);
const BANDWIDTH: Definition = row(
    "bandwidth of MPI messages from one rank to another",
    "\
One rank posts a window of 64 non-blocking sends, then waits for all of them and for a short reply of \
the other rank, repeatedly. The figure is the bytes sent over the sender's time.",
    &[rate("bytes sent over the sender's time").with_headline("MPI bandwidth")],
);
const BOTH_WAYS: Definition = row(
    "bandwidth of MPI messages both ways at once",
    "\
Both ranks post a window of receives and a window of sends and wait for all of them. The figure is \
the bytes of both directions over the time of one rank.",
    &[rate("bytes sent and received over the time")],
);
const MESSAGE_RATE: Definition = row(
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
const MULTI_LATENCY: Definition = row(
    "latency of MPI messages of several pairs at once",
    "As mpi.latency, with all pairs at once; the figure is the mean over the pairs.",
    &[time("latency", "half of a round trip, mean over the pairs")],
);
const PUT_LATENCY: Definition = row(
    "latency of one-sided writes",
    "\
One rank writes to a window of the other's memory (MPI_Put) and waits for remote completion; the other \
rank is passive.",
    &[time("latency", "one write until it is complete at the other rank")],
);
const GET_LATENCY: Definition = row(
    "latency of one-sided reads",
    "\
One rank reads from a window of the other's memory (MPI_Get) and waits for the data; the other rank is \
passive.",
    &[time("latency", "one read until the data have arrived")],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for test in MpiTest::ALL {
            assert_eq!(MpiTest::from_name(test.name()), Some(test));
        }
        assert_eq!(MpiTest::from_name("osu_latency"), None);
    }
}
