//! Converts the options of `assay mpi` for the engine, and rejects those that have no effect.

use crate::unsupported_options::to_failure;
use assay_kernels::mpi::{ReductionElement, WindowBuffers};
use assay_model::benchmark::{MpiBenchmarkKind, RemoteOperation};
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::mpi::options::{MpiOptions, RequestedLibrary};

use crate::options::osu::{
    BufferNumber, CallsOrWorkers, ElementType, MpiArguments, MpiProgram,
    SynchronizationArgument, WindowArgument,
};

/// Returns the options for the engine.
pub(crate) fn to_mpi_options(typed: &MpiArguments) -> MpiOptions {
    MpiOptions {
        test: typed.program.test(),
        preset: typed.preset.to_preset(),
        minimum_bytes: typed.sizes.and_then(|sizes| sizes.minimum_bytes),
        maximum_bytes: typed.sizes.and_then(|sizes| sizes.maximum_bytes),
        iterations: typed.iterations,
        warm_up: typed.warm_up,
        window: typed.window,
        buffers: match typed.buffers {
            Some(BufferNumber::Multiple) => WindowBuffers::Multiple,
            Some(BufferNumber::Single) | None => WindowBuffers::Single,
        },
        window_creation: typed.window_creation.map(WindowArgument::to_creation),
        synchronization: typed.synchronization.map(SynchronizationArgument::to_synchronization),
        topology: typed.topology.clone().unwrap_or_default(),
        test_calls: match typed.calls_or_workers {
            Some(CallsOrWorkers::One(calls)) => calls,
            _ => 0,
        },
        workers: typed.calls_or_workers.and_then(|given| {
            match (given, typed.program.test().kind()) {
                (_, kind) if !kind.has_workers() => None,
                (CallsOrWorkers::Pair(first, second), _) => Some((first, second)),
                (CallsOrWorkers::One(second), MpiBenchmarkKind::ThreadsLatency) => {
                    Some((1, second))
                }
                // As in OSU's program, in which the sender then forks none.
                (CallsOrWorkers::One(second), _) => Some((0, second)),
            }
        }),
        process_set: typed.process_set,
        validate: typed.validate,
        validation_warm_up: typed.validation_warm_up,
        overlap_parts: typed.full,
        percentiles: typed.percentiles.clone(),
        element: match typed.element {
            Some(ElementType::Integer) => Some(ReductionElement::Integer),
            Some(ElementType::Float) => Some(ReductionElement::Float),
            Some(ElementType::Byte) | None => None,
        },
        budget_s: typed.budget,
        library: RequestedLibrary { prefix: typed.prefix.clone(), file: typed.library.clone() },
    }
}

/// Rejects options that do not apply to this benchmark or are not supported, with the reason.
pub(crate) fn check_options(typed: &MpiArguments) -> Result<(), CommandFailure> {
    if let Some(refusal) = &typed.refused.first {
        return Err(to_failure(refusal, FailureKind::Usage));
    }
    let (kind, name) = (typed.program.test().kind(), typed.program.name());
    let senseless = [
        (
            typed.buffers.is_some() && !kind.is_pairwise(),
            "-b",
            "it applies to messages that one rank sends and another receives",
        ),
        (
            typed.window.is_some() && !kind.is_windowed(),
            "-W",
            "this benchmark has one message in flight at a time",
        ),
        (
            typed.full && kind.collective().is_none(),
            "-f",
            "only collectives have a minimum and maximum over the ranks",
        ),
        (
            typed.calls_or_workers.is_some()
                && !matches!(kind, MpiBenchmarkKind::Overlap(_))
                && !kind.has_workers(),
            "-t",
            "only non-blocking collectives call MPI_Test during a computation, and only latency_mt and latency_mp \
             have threads or forked processes",
        ),
        (
            typed.element == Some(ElementType::Byte) && kind.is_reduction(),
            "-T mpi_char",
            "the MPI standard does not sum characters; use mpi_int or mpi_float",
        ),
        (
            matches!(typed.element, Some(ElementType::Integer | ElementType::Float))
                && !kind.is_reduction(),
            "-T",
            "only reductions sum something; all other messages are bytes (mpi_char)",
        ),
    ];
    let mut all = senseless
        .into_iter()
        .chain(list_worker_refusals(typed))
        .chain(list_special_refusals(typed));
    match all.find(|(is_senseless, ..)| *is_senseless) {
        Some((_, option, reason)) => {
            Err(CommandFailure::usage(format!("{name} has no {option}"))
                .with_reason(reason)
                .advise(format!("leave out {option}")))
        }
        None => Ok(()),
    }
}

/// Lists whether each option of threads and forked processes is given without effect.
fn list_worker_refusals(
    typed: &MpiArguments,
) -> impl Iterator<Item = (bool, &'static str, &'static str)> {
    let kind = typed.program.test().kind();
    [
        (
            matches!(typed.calls_or_workers, Some(CallsOrWorkers::Pair(..)))
                && !kind.has_workers(),
            "-t N:M",
            "the number of MPI_Test calls is one number",
        ),
        (
            kind.has_workers() && has_too_many_workers(typed),
            "-t beyond 127",
            "OSU's programs have at most 127 threads or forked processes at each rank",
        ),
        (
            kind == MpiBenchmarkKind::ThreadsLatency && typed.process_set,
            "-I",
            "MPI_Init_thread requests the support of several threads",
        ),
        (
            kind == MpiBenchmarkKind::ThreadsLatency
                && typed.validate
                && !has_as_many_workers(typed),
            "-c unless both ranks have as many threads, like -t 2:2",
            "each thread compares the messages of the thread with its number",
        ),
    ]
    .into_iter()
}

/// Lists whether each option of one-sided benchmarks, or one that single figures cannot have, is
/// given without effect.
fn list_special_refusals(
    typed: &MpiArguments,
) -> impl Iterator<Item = (bool, &'static str, &'static str)> {
    let kind = typed.program.test().kind();
    [
        (
            kind.is_startup() && (typed.iterations.is_some() || typed.warm_up.is_some()),
            "-i and -x",
            "a library starts once in each job; run the job several times",
        ),
        (kind.is_startup() && typed.validate, "-c", "it sends no messages"),
        (
            typed.program == MpiProgram::Hello && is_kept(typed),
            "--json, --raw, --store and --label",
            "it measures nothing; init times the start of the library",
        ),
        (
            kind.is_startup() && !typed.percentiles.is_empty(),
            "-z",
            "a library starts once in each job",
        ),
        (
            typed.sizes.is_some() && !typed.program.test().has_size_range(),
            "-m",
            "its messages do not have a range of sizes",
        ),
        (
            typed.window_creation.is_some() && !kind.is_one_sided(),
            "-w",
            "only one-sided benchmarks access a window",
        ),
        (
            typed.synchronization.is_some() && !kind.is_one_sided(),
            "-s",
            "only one-sided benchmarks synchronise a window",
        ),
        (
            typed.topology.is_some() && !kind.is_neighborhood(),
            "-N",
            "only neighbourhood collectives have a topology",
        ),
        (
            kind == MpiBenchmarkKind::RemoteBidirectional && has_passive_target(typed),
            "-s of a passive target",
            "both ranks write at once; use pscw or fence",
        ),
        (
            typed.element == Some(ElementType::Float)
                && kind.remote_operation() == Some(RemoteOperation::CompareAndSwap),
            "-T mpi_float",
            "the MPI standard compares and swaps integers; use mpi_int",
        ),
    ]
    .into_iter()
}

/// Whether a rank has more threads or processes than OSU's programs accept.
fn has_too_many_workers(typed: &MpiArguments) -> bool {
    const MOST: u32 = 127;
    match typed.calls_or_workers {
        Some(CallsOrWorkers::One(count)) => count > MOST,
        Some(CallsOrWorkers::Pair(first, second)) => first.max(second) > MOST,
        None => false,
    }
}

/// Whether both ranks have the same number of threads.
fn has_as_many_workers(typed: &MpiArguments) -> bool {
    to_mpi_options(typed).workers.is_some_and(|(first, second)| first == second)
}

/// Whether the result is to be printed or stored in a form of its own.
fn is_kept(typed: &MpiArguments) -> bool {
    typed.json
        || typed.raw.is_some()
        || typed.keep.store.folder.is_some()
        || typed.keep.label.is_some()
}

fn has_passive_target(typed: &MpiArguments) -> bool {
    let given = typed.synchronization.map(SynchronizationArgument::to_synchronization);
    given.is_some_and(|it| !it.is_active())
}

#[cfg(test)]
mod tests {
    use assay_run::mpi::method::{message_sizes, osu_pass, unusual_settings};
    use clap::{Args as _, Command, FromArgMatches as _};

    use super::*;

    fn typed(words: &str) -> MpiArguments {
        let command = MpiArguments::augment_args(Command::new("mpi"));
        let words = ["mpi"].into_iter().chain(words.split_whitespace());
        MpiArguments::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap()
    }

    #[test]
    fn default_sizes_match_osu() {
        for (words, first, last, count) in [
            ("latency", 0, 4 << 20, 24),
            ("bw", 1, 4 << 20, 23),
            ("allreduce", 4, 1 << 20, 19),
            ("bcast", 1, 1 << 20, 21),
            ("barrier", 0, 0, 1),
            ("reduce_scatter", 4, 1 << 20, 19),
            ("latency_mt", 0, 4 << 20, 24),
            ("latency_mp --preset osu-7", 1, 4 << 20, 23),
            ("bw_fan_in", 1, 4 << 20, 23),
            ("alltoallw", 1, 1 << 20, 21),
            ("get_bw", 1, 4 << 20, 23),
            ("neighbor_allgather", 1, 1 << 20, 21),
            ("acc_latency", 4, 4 << 20, 21),
            ("cas_latency", 4, 4, 1),
            ("cas_latency --preset osu-5.4.3", 8, 8, 1),
            ("latency_persistent --preset osu-7", 1, 4 << 20, 23),
            ("bcast_persistent", 1, 1 << 20, 21),
            ("fop_latency --preset osu-7", 4, 4, 1),
            ("latency --preset osu-7", 1, 4 << 20, 23),
            ("multi_lat --preset osu-5.4.3", 0, 4 << 20, 24),
            ("latency -m 8", 0, 8, 5),
            ("latency -m 3:20", 3, 12, 3),
            ("bw -m 0:2", 1, 2, 2),
            ("latency -m 16MiB:", 16 << 20, 16 << 20, 1),
            ("latency -m 1:4503599627370496", 1, 1 << 52, 53),
        ] {
            let sizes = message_sizes(&to_mpi_options(&typed(words)));
            assert_eq!((sizes[0], sizes[sizes.len() - 1], sizes.len()), (first, last, count));
        }
    }

    #[test]
    fn rejects_options_of_other_benchmarks() {
        for (words, expected) in [
            ("latency -G png", "`assay mpi` does not support -G"),
            ("allreduce -b multiple", "allreduce has no -b"),
            ("bw -t 100", "bw has no -t"),
            ("ibcast -t 2:2", "ibcast has no -t N:M"),
            ("latency_mt -t 128", "latency_mt has no -t beyond 127"),
            ("latency_mt -c", "latency_mt has no -c unless both ranks have as many threads"),
            (
                "latency_mt -c -t 2:3",
                "latency_mt has no -c unless both ranks have as many threads",
            ),
            ("latency_mt -I", "latency_mt has no -I"),
            ("latency_mp -W 8", "latency_mp has no -W"),
            ("iallreduce -T MPI_CHAR", "iallreduce has no -T mpi_char"),
            ("put_bibw -s flush", "put_bibw has no -s of a passive target"),
            ("latency -s fence", "latency has no -s"),
            ("allgather -N cart:1:1", "allgather has no -N"),
            ("init -i 5", "init has no -i and -x"),
            ("init -c", "init has no -c"),
            ("hello -i 5", "hello has no -i and -x"),
            ("hello --json", "hello has no --json"),
            ("init -f", "init has no -f"),
            ("cas_latency -m 8", "cas_latency has no -m"),
            ("allreduce -w create", "allreduce has no -w"),
            ("put_bw -b single", "put_bw has no -b"),
            ("cas_latency -T mpi_float", "cas_latency has no -T mpi_float"),
            ("get_latency -T mpi_int", "get_latency has no -T"),
            ("latency -W 8", "latency has no -W"),
            ("allreduce -W 64", "allreduce has no -W"),
            ("bw -f", "bw has no -f"),
            ("get_latency -f", "get_latency has no -f"),
            ("bcast -T mpi_int", "bcast has no -T"),
            ("latency -T mpi_float", "latency has no -T"),
        ] {
            let message = check_options(&typed(words)).unwrap_err().to_string();
            assert!(message.contains(expected), "{words}: {message}");
        }
        for words in [
            "bw -b multiple -T mpi_char -W 8",
            "mbw_mr -W 1",
            "latency_mt -t 127:127 -c -b single",
            "latency_mp -t 4 -c -z",
            "bw_fan_out -W 8 -b multiple -c",
            "barrier -f",
            "bibw_persistent -W 8 -b multiple",
            "allreduce_persistent -f -T mpi_int",
            "ialltoall -f",
            "latency -b Single -I",
            "iallgather -t 100",
            "put_latency -w allocate -s flush",
            "put_bibw -w DYNAMIC -s fence -W 8",
            "fop_latency -T mpi_float -s lock_all",
            "ireduce_scatter_block -f -t 10",
            "reduce -k fixed:0 -T mpi_int",
            "neighbor_alltoallw -N cart:2:1 -f",
            "ineighbor_allgather -t 10",
        ] {
            assert!(check_options(&typed(words)).is_ok(), "{words}");
        }
    }

    #[test]
    fn unusual_options_are_settings() {
        for (words, expected) in [
            ("bw -b multiple", vec!["Buffers: multiple"]),
            ("put_bw", vec![]),
            ("bw -b single", vec![]),
            ("latency_mt -t 2", vec![]),
            ("latency_mt -t 4:6", vec!["Threads: 4:6"]),
            ("latency_mp -t 4", vec!["Processes: 0:4"]),
            ("ibcast -t 4", vec![]),
            // A single message has one buffer anyway.
            ("latency -b multiple", vec![]),
            (
                "acc_latency -T mpi_int -w create",
                vec!["Datatype: MPI_INT", "Window creation: MPI_Win_create"],
            ),
        ] {
            assert_eq!(unusual_settings(&to_mpi_options(&typed(words))), expected, "{words}");
        }
    }

    #[test]
    fn default_iterations_match_osu() {
        for (words, bytes, iterations, warm_up) in [
            ("latency --preset osu-5.4.3", 8192, 10_000, 100),
            ("latency --preset osu-5.4.3", 16_384, 1000, 10),
            ("bw --preset osu-7", 8192, 100, 10),
            ("bw --preset osu-7", 8193, 20, 2),
            ("mbw_mr --preset osu-7", 1 << 20, 100, 10),
            ("bibw --preset osu-5.4.3", 1 << 20, 20, 2),
            ("barrier --preset osu-7", 0, 1000, 100),
            ("latency_mt --preset osu-7", 1, 10_000, 100),
            ("bw_fan_in --preset osu-7", 16_384, 20, 2),
            ("ibarrier --preset osu-5.4.3", 0, 100, 10),
            ("put_latency --preset osu-7", 8192, 10_000, 100),
            ("allreduce --preset osu-5.4.3", 32_768, 1000, 100),
            ("allreduce --preset osu-5.4.3", 65_536, 100, 10),
            ("reduce_scatter --preset osu-5.4.3", 32_768, 1000, 100),
            ("iallgatherv --preset osu-7", 16_384, 100, 10),
            ("ineighbor_alltoall --preset osu-7", 8192, 1000, 100),
            ("put_bw --preset osu-7", 8192, 100, 10),
            ("acc_latency --preset osu-5.4.3", 16_384, 1000, 10),
            ("allreduce --preset osu-7", 16_384, 100, 10),
            ("latency --preset osu-7 -i 5 -x 0", 1, 5, 0),
        ] {
            let pass = osu_pass(&to_mpi_options(&typed(words)), bytes);
            assert_eq!((pass.iterations, pass.warm_up), (iterations, warm_up), "{words}");
        }
    }
}
