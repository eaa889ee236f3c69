//! Adapter of Intel MPI Benchmarks, `IMB-MPI1`, for any library with MPICH's ABI.
//!
//! Units follow from its own output: 256 bytes in 0.44 µs are 575.73 of its Mbytes/sec, which are
//! therefore 10⁶ B/s. Its calls run back to back without a barrier, unlike OSU's.

use std::path::Path;

use assay_model::benchmark::MpiTest;
use assay_model::mpi_outcome::MpiAbi;
use assay_model::workload::{MpiWorkload, Workload};

use super::{Detect, Version, mpi_rows, not_taken};
use crate::invocation::{Invocation, Request};
use crate::mpi_launch;
use crate::mpi_text::{self, Factor, Holds, Row, Words};
use crate::outputs::{Outputs, Parsed, ToolError};

pub(super) const fn detect() -> Detect {
    Detect {
        programs: &["IMB-MPI1"],
        variable: "ASSAY_IMB",
        mark: Some("Intel(R) MPI Benchmarks"),
        version: Version::Measured,
        launcher: false,
        hint: "it comes with Intel MPI and with the Python package impi-devel; built for another MPI, \
               name it in ASSAY_IMB",
    }
}

const MICRO: Factor = Factor::Microseconds;
const WORDS: &Words = &[
    ("#bytes", Holds::Size),
    ("#repetitions", Holds::Other),
    ("t_min[usec]", Holds::Metric("latency_min", MICRO)),
    ("t_max[usec]", Holds::Metric("latency_max", MICRO)),
    ("t_avg[usec]", Holds::Metric("latency", MICRO)),
    ("t[usec]", Holds::Metric("latency", MICRO)),
    ("Mbytes/sec", Holds::Metric("bandwidth", Factor::Megabytes)),
    ("Msg/sec", Holds::Other),
];

/// Returns IMB's name of a test.
pub(super) const fn name(test: MpiTest) -> Option<&'static str> {
    match test {
        MpiTest::Latency => Some("PingPong"),
        MpiTest::Bandwidth => Some("Uniband"),
        MpiTest::BothWays => Some("Biband"),
        MpiTest::Barrier => Some("Barrier"),
        MpiTest::Broadcast => Some("Bcast"),
        MpiTest::Reduce => Some("Reduce"),
        MpiTest::Allreduce => Some("Allreduce"),
        MpiTest::Gather => Some("Gather"),
        MpiTest::Scatter => Some("Scatter"),
        MpiTest::Allgather => Some("Allgather"),
        MpiTest::Alltoall => Some("Alltoall"),
        _ => None,
    }
}

/// Whether IMB has the test, under a library that its program can be linked with: `libmpi.so.12`.
pub(super) fn takes(workload: &Workload) -> bool {
    matches!(workload, Workload::Mpi(work)
        if work.mpi.abi == MpiAbi::Mpich && name(work.test).is_some())
}

pub(super) fn command(request: &Request<'_>) -> Result<Vec<Invocation>, ToolError> {
    let (Workload::Mpi(work), true) = (request.workload, takes(request.workload)) else {
        return Err(not_taken("imb", request.workload));
    };
    let test = name(work.test).ok_or_else(|| not_taken("imb", request.workload))?;
    let mut options = vec!["-npmin".to_owned(), work.ranks.to_string()];
    if work.test.has_sizes() {
        let log = |bytes: u64| bytes.max(1).ilog2();
        let sizes = format!("{}:{}", log(work.from_bytes), log(work.to_bytes));
        options.extend(["-msglog".to_owned(), sizes]);
    }
    options.push(test.to_owned());
    let launch = mpi_launch::launch(work, &request.found.path, &options);
    let mut invocation = launch.invocation("imb", request);
    invocation.environment.extend(library_folder(work));
    Ok(vec![invocation])
}

/// Returns the folder of the measured library. The program is linked to a library without a folder.
fn library_folder(work: &MpiWorkload) -> Option<(String, String)> {
    let folder = Path::new(&work.mpi.library).parent()?;
    Some(("LD_LIBRARY_PATH".to_owned(), folder.to_string_lossy().into_owned()))
}

pub(super) fn parse(invocation: &Invocation, outputs: &Outputs) -> Result<Parsed, ToolError> {
    let Workload::Mpi(work) = &invocation.workload else {
        return Err(not_taken("imb", &invocation.workload));
    };
    outputs.ended_well()?;
    let lines: Vec<&str> = outputs.stdout.lines().map(str::trim).collect();
    started_as_asked(&lines, work)?;
    if !lines.contains(&"# All processes entering MPI_Finalize") {
        let missing = "\"All processes entering MPI_Finalize\" is not there".to_owned();
        return Err(ToolError::ReachEnd { missing });
    }
    let is_heading =
        |line: &&str| line.starts_with("#bytes") || line.starts_with("#repetitions");
    let Some(heading) = lines.iter().position(is_heading) else {
        return Err(ToolError::Find {
            what: "heading of columns".to_owned(),
            place: "IMB's table",
        });
    };
    let mut columns = mpi_text::columns(lines[heading], WORDS);
    if work.test == MpiTest::Latency {
        // The bandwidth of a ping-pong is the size over half a round trip, which repeats the
        // latency.
        let bandwidth = Holds::Metric("bandwidth", Factor::Megabytes);
        columns.iter_mut().filter(|it| **it == bandwidth).for_each(|it| *it = Holds::Other);
    }
    let (timed_out, below): (Vec<&str>, Vec<&str>) =
        lines[heading + 1..].iter().partition(|line| line.contains("time-out"));
    let mut rows = mpi_text::rows(below.into_iter(), &columns)?;
    rows.iter_mut().for_each(|row| without_empty(row, work.test));
    let mut parsed = Parsed { version: version(&lines), ..Parsed::default() };
    let cut = timed_out.iter().map(|line| line.chars().take(60).collect::<String>());
    parsed.problems.extend(cut.map(|line| format!("not measured: {line}")));
    mpi_rows::record(&rows, work, &mut parsed)?;
    Ok(parsed)
}

/// Drops the figures of empty messages, which have no bandwidth or are no reduction; IMB prints
/// both.
fn without_empty(row: &mut Row, test: MpiTest) {
    if row.bytes == Some(0) && test != MpiTest::Latency {
        row.values.clear();
    }
}

/// Checks that the test and the number of ranks are the requested ones.
fn started_as_asked(lines: &[&str], work: &MpiWorkload) -> Result<(), ToolError> {
    let wanted = name(work.test).unwrap_or_default();
    let tests: Vec<&str> =
        lines.iter().filter_map(|line| line.strip_prefix("# Benchmarking ")).collect();
    match tests.as_slice() {
        [test] if test.trim() == wanted => {}
        [] => {
            let what = "\"# Benchmarking …\"".to_owned();
            return Err(ToolError::Find { what, place: "the output" });
        }
        several if several.iter().all(|test| test.trim() == wanted) => {
            let what = format!(
                "{wanted} {} times: every rank thinks that it is alone, because the program was built \
                 with another MPI than the launcher's",
                several.len()
            );
            return Err(ToolError::Reconcile { what });
        }
        several => {
            let what = format!("{} where {wanted} was asked for", several.join(", "));
            return Err(ToolError::Reconcile { what });
        }
    }
    let processes = lines.iter().find_map(|line| line.strip_prefix("# #processes ="));
    let processes = processes.and_then(|rest| rest.split_whitespace().next());
    if processes != Some(work.ranks.to_string().as_str()) {
        let what =
            format!("{} ranks, where {} were started", processes.unwrap_or("no"), work.ranks);
        return Err(ToolError::Reconcile { what });
    }
    Ok(())
}

/// Parses the version: `Intel(R) MPI Benchmarks 2021.11, MPI-1 part` → `2021.11`.
fn version(lines: &[&str]) -> Option<String> {
    let rest = lines.iter().find_map(|line| line.split_once("Intel(R) MPI Benchmarks "))?.1;
    Some(rest.split([',', ' ']).next()?.to_owned())
}
