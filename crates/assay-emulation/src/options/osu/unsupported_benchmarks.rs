//! Benchmarks of OSU that `assay mpi` does not support. Each is rejected by name with a reason and an
//! alternative.

/// Group of benchmarks.
struct UnsupportedBenchmarks {
    names: &'static [&'static str],
    reason: &'static str,
    instead: &'static str,
}

const UNSUPPORTED_BENCHMARKS: &[UnsupportedBenchmarks] = &[UnsupportedBenchmarks {
    names: &["partitioned_latency"],
    reason: "OSU 7.4 and earlier do not have it, and its method and table were not compared",
    instead: "use latency_persistent",
}];

/// Returns the names of all unsupported benchmarks.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    UNSUPPORTED_BENCHMARKS.iter().flat_map(|it| it.names).copied()
}

/// Returns the name of an unsupported benchmark in its permanent form.
pub fn find_unsupported_benchmark(name: &str) -> Option<&'static str> {
    names().find(|it| *it == name)
}

/// Returns the message that rejects a benchmark.
pub(super) fn explain(name: &str) -> String {
    let row = UNSUPPORTED_BENCHMARKS.iter().find(|row| row.names.contains(&name));
    let (reason, instead) =
        row.map_or(("", ""), |UnsupportedBenchmarks { reason, instead, .. }| (reason, instead));
    format!("`assay mpi` does not support {name}: {reason}; {instead}")
}
