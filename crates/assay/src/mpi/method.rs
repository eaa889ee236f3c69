//! How each size is measured, by preset: OSU's numbers of iterations, or assay's own batches.
//!
//! The numbers are those of OSU's programs, the same in 5.4.3 and 7 unless said.

use assay_kernels::mpi::{Buffers, Collective, Element, Kind, Pass, Timing};
use assay_model::benchmark::MpiTest;

use crate::arguments::mpi::{BufferNumber, ElementType, MpiArguments, Preset};
use crate::failure::Failure;

/// Above this a message is large and is sent fewer times.
const LARGE_BYTES: u64 = 8192;
/// OSU 5 compares the number of floats of a reduction with it.
const LARGE_REDUCTION_BYTES: u64 = 4 * LARGE_BYTES;
/// Largest message between pairs, and of a collective.
const PAIR_MOST_BYTES: u64 = 4 << 20;
const COLLECTIVE_MOST_BYTES: u64 = 1 << 20;

/// What the kernels call a test.
pub(crate) const fn kind(test: MpiTest) -> Kind {
    match test {
        MpiTest::Latency => Kind::Latency,
        MpiTest::Bandwidth => Kind::Bandwidth,
        MpiTest::BothWays => Kind::BothWays,
        MpiTest::MessageRate => Kind::PairsBandwidth,
        MpiTest::MultiLatency => Kind::PairsLatency,
        MpiTest::PutLatency => Kind::Put,
        MpiTest::GetLatency => Kind::Get,
        MpiTest::Barrier => Kind::Collective(Collective::Barrier),
        MpiTest::Broadcast => Kind::Collective(Collective::Broadcast),
        MpiTest::Reduce => Kind::Collective(Collective::Reduce),
        MpiTest::Allreduce => Kind::Collective(Collective::AllReduce),
        MpiTest::Gather => Kind::Collective(Collective::Gather),
        MpiTest::Scatter => Kind::Collective(Collective::Scatter),
        MpiTest::Allgather => Kind::Collective(Collective::AllGather),
        MpiTest::Alltoall => Kind::Collective(Collective::AllToAll),
        MpiTest::Ibarrier => Kind::Overlap(Collective::Barrier),
        MpiTest::Ibroadcast => Kind::Overlap(Collective::Broadcast),
        MpiTest::Ireduce => Kind::Overlap(Collective::Reduce),
        MpiTest::Iallreduce => Kind::Overlap(Collective::AllReduce),
        MpiTest::Igather => Kind::Overlap(Collective::Gather),
        MpiTest::Iscatter => Kind::Overlap(Collective::Scatter),
        MpiTest::Iallgather => Kind::Overlap(Collective::AllGather),
        MpiTest::Ialltoall => Kind::Overlap(Collective::AllToAll),
    }
}

/// What reductions sum.
pub(crate) fn element(typed: &MpiArguments) -> Element {
    match (typed.element, typed.preset) {
        (Some(ElementType::Integer), _) | (None, Preset::Osu7) => Element::Integer,
        _ => Element::Float,
    }
}

/// Whether OSU sends messages of this size fewer times.
pub(crate) const fn is_large(bytes: u64) -> bool {
    bytes > LARGE_BYTES
}

/// Where the messages of a window lie.
pub(crate) const fn buffers(typed: &MpiArguments) -> Buffers {
    match typed.buffers {
        Some(BufferNumber::Multiple) => Buffers::Multiple,
        Some(BufferNumber::Single) | None => Buffers::Single,
    }
}

/// Whether a turn is one message or call, which is timed alone without being asked for.
pub(crate) const fn has_single_turns(test: MpiTest) -> bool {
    let kind = kind(test);
    !kind.is_windowed() && !matches!(kind, Kind::Overlap(_))
}

/// OSU's number of messages in flight.
const USUAL_WINDOW: u32 = 64;

/// Messages in flight at once in bandwidth tests.
pub(crate) fn window(typed: &MpiArguments) -> u32 {
    typed.window.unwrap_or(USUAL_WINDOW)
}

/// Options that say nothing to this benchmark, or that assay does not have: an error with the reason.
pub(crate) fn check_options(typed: &MpiArguments) -> Result<(), Failure> {
    if let Some(refusal) = typed.refused.first {
        return Err(Failure::usage(format!("assay mpi has no -{}", refusal.option))
            .explain(refusal.reason)
            .advise(refusal.instead));
    }
    let (kind, name) = (kind(typed.test), typed.test.name());
    let senseless = [
        (
            typed.buffers.is_some() && !kind.is_pairwise(),
            "-b",
            "the messages of a window can lie apart, and this benchmark has no window",
        ),
        (
            typed.window.is_some() && !kind.is_windowed(),
            "-W",
            "one message at a time is in flight here",
        ),
        (
            typed.full && kind.collective().is_none(),
            "-f",
            "least and greatest over the ranks are of collectives",
        ),
        (
            typed.tests.is_some() && !matches!(kind, Kind::Overlap(_)),
            "-t",
            "calls of MPI_Test belong to the computation beside a non-blocking collective",
        ),
        (
            typed.element == Some(ElementType::Byte) && is_reduction(kind),
            "-T mpi_char",
            "the MPI standard does not sum characters; use mpi_int or mpi_float",
        ),
        (
            matches!(typed.element, Some(ElementType::Integer | ElementType::Float))
                && !is_reduction(kind),
            "-T",
            "only reductions sum something; all other messages are bytes (mpi_char)",
        ),
    ];
    match senseless.into_iter().find(|(is_senseless, ..)| *is_senseless) {
        Some((_, option, reason)) => Err(Failure::usage(format!("{name} has no {option}"))
            .explain(reason)
            .advise(format!("leave {option} out"))),
        None => Ok(()),
    }
}

const fn is_reduction(kind: Kind) -> bool {
    matches!(kind.collective(), Some(Collective::Reduce | Collective::AllReduce))
}

/// The sizes in bytes: OSU's, or what was asked for; each twice the one before.
pub(crate) fn sizes(typed: &MpiArguments) -> Vec<u64> {
    let kind = kind(typed.test);
    if !typed.test.has_sizes() {
        return vec![0];
    }
    let least_bytes = match kind {
        // From 7.4 on OSU's programs count elements of a type, and send one at least.
        Kind::Latency | Kind::PairsLatency if typed.preset != Preset::Osu7 => 0,
        kind if is_reduction(kind) => 4,
        _ => 1,
    };
    let most_bytes = match kind.collective() {
        Some(_) => COLLECTIVE_MOST_BYTES,
        None => PAIR_MOST_BYTES,
    };
    let asked = typed.sizes;
    let least = asked.and_then(|sizes| sizes.least_bytes).unwrap_or(least_bytes);
    let most = asked.and_then(|sizes| sizes.greatest_bytes).unwrap_or(most_bytes.max(least));
    let doubled = |size: &u64| match size {
        0 => Some(1),
        size => size.checked_mul(2),
    };
    std::iter::successors(Some(least.max(least_bytes)), doubled)
        .take_while(|size| *size <= most)
        .collect()
}

/// One figure as OSU takes it: turns before the clock starts, timed turns, and where it is read.
pub(crate) fn osu_pass(typed: &MpiArguments, bytes: u64) -> Pass {
    let kind = kind(typed.test);
    let large_bytes = match typed.preset {
        Preset::Osu5 if is_reduction(kind) => LARGE_REDUCTION_BYTES,
        _ => LARGE_BYTES,
    };
    let (iterations, warm_up) = match (kind, bytes > large_bytes) {
        // These two of OSU's programs have one number for all: pairs are always many times at it, and
        // a non-blocking barrier is as rare as large messages are.
        (Kind::PairsBandwidth, _) => (100, 10),
        (Kind::Overlap(Collective::Barrier), _) => (100, 10),
        (kind, false) if kind.is_windowed() => (100, 10),
        (kind, true) if kind.is_windowed() => (20, 2),
        (kind, false) if kind.collective().is_some() => (1000, 100),
        (kind, true) if kind.collective().is_some() => (100, 10),
        (_, false) => (10_000, 100),
        (_, true) => (1000, 10),
    };
    Pass {
        warm_up: typed.warm_up.unwrap_or(warm_up),
        iterations: typed.iterations.unwrap_or(iterations),
        timing: match typed.preset {
            // Bandwidth is timed as a whole in every version.
            Preset::Osu7 if !kind.is_windowed() => Timing::Turns,
            _ => Timing::Batch,
        },
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn typed(words: &str) -> MpiArguments {
        let words = ["assay", "mpi"].into_iter().chain(words.split_whitespace());
        match Arguments::try_parse_from(words).unwrap().command {
            Command::Mpi(typed) => typed,
            _ => unreachable!(),
        }
    }

    #[test]
    fn sizes_are_osus() {
        for (words, first, last, count) in [
            ("latency", 0, 4 << 20, 24),
            ("bw", 1, 4 << 20, 23),
            ("allreduce", 4, 1 << 20, 19),
            ("bcast", 1, 1 << 20, 21),
            ("barrier", 0, 0, 1),
            ("latency --preset osu-7", 1, 4 << 20, 23),
            ("multi_lat --preset osu-5.4.3", 0, 4 << 20, 24),
            ("latency -m 8", 0, 8, 5),
            ("latency -m 3:20", 3, 12, 3),
            ("bw -m 0:2", 1, 2, 2),
            ("latency -m 16MiB:", 16 << 20, 16 << 20, 1),
            ("latency -m 1:4503599627370496", 1, 1 << 52, 53),
        ] {
            let sizes = sizes(&typed(words));
            assert_eq!((sizes[0], sizes[sizes.len() - 1], sizes.len()), (first, last, count));
        }
    }

    #[test]
    fn options_of_another_benchmark_are_refused_with_the_reason() {
        for (words, expected) in [
            ("latency -G png", "assay mpi has no -G"),
            ("allreduce -b multiple", "allreduce has no -b"),
            ("bw -t 100", "bw has no -t"),
            ("iallreduce -T MPI_CHAR", "iallreduce has no -T mpi_char"),
            ("put_latency -s fence", "assay mpi has no -s"),
            ("latency -W 8", "latency has no -W"),
            ("allreduce -W 64", "allreduce has no -W"),
            ("bw -f", "bw has no -f"),
            ("get_latency -f", "get_latency has no -f"),
            ("bcast -T mpi_int", "bcast has no -T"),
            ("latency -T mpi_float", "latency has no -T"),
        ] {
            let message = check_options(&typed(words)).unwrap_err().render(false);
            assert!(message.contains(expected), "{words}: {message}");
        }
        for words in [
            "bw -b multiple -T mpi_char -W 8",
            "mbw_mr -W 1",
            "barrier -f",
            "ialltoall -f",
            "latency -b Single -I",
            "iallgather -t 100",
            "put_latency -w allocate -s flush",
            "reduce -k fixed:0 -T mpi_int",
        ] {
            assert!(check_options(&typed(words)).is_ok(), "{words}");
        }
    }

    #[test]
    fn iterations_are_osus() {
        for (words, bytes, iterations, warm_up) in [
            ("latency --preset osu-5.4.3", 8192, 10_000, 100),
            ("latency --preset osu-5.4.3", 16_384, 1000, 10),
            ("bw --preset osu-7", 8192, 100, 10),
            ("bw --preset osu-7", 8193, 20, 2),
            ("mbw_mr --preset osu-7", 1 << 20, 100, 10),
            ("bibw --preset osu-5.4.3", 1 << 20, 20, 2),
            ("barrier --preset osu-7", 0, 1000, 100),
            ("ibarrier --preset osu-5.4.3", 0, 100, 10),
            ("put_latency --preset osu-7", 8192, 10_000, 100),
            ("allreduce --preset osu-5.4.3", 32_768, 1000, 100),
            ("allreduce --preset osu-5.4.3", 65_536, 100, 10),
            ("allreduce --preset osu-7", 16_384, 100, 10),
            ("latency --preset osu-7 -i 5 -x 0", 1, 5, 0),
        ] {
            let pass = osu_pass(&typed(words), bytes);
            assert_eq!((pass.iterations, pass.warm_up), (iterations, warm_up), "{words}");
        }
    }
}
