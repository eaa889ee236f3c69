//! Adapter of Intel MPI Benchmarks, `IMB-MPI1`, for any library with MPICH's ABI.
//!
//! Units follow from its own output: 256 bytes in 0.44 µs are 575.73 of its Mbytes/sec, which are
//! therefore 10⁶ B/s. Its calls run back to back without a barrier, unlike OSU's.

use std::path::Path;

use assay_model::benchmark::MpiTest;
use assay_model::mpi_outcome::MpiAbi;
use assay_model::workload::{MpiWorkload, Workload};

use super::{ToolDetection, mpi_rows, unsupported};
use crate::invocation::{Invocation, ToolRequest};
use crate::mpi_launch;
use crate::mpi_text::{self, ColumnContent, ColumnLabels, ColumnUnit, MpiRow};
use crate::outputs::{Outputs, ParsedOutput, ToolError};

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["IMB-MPI1"],
    path_variable: "ASSAY_IMB",
    required_text: Some("Intel(R) MPI Benchmarks"),
    hint: "it comes with Intel MPI and with the Python package impi-devel; built for another MPI, \
           name it in ASSAY_IMB",
    ..ToolDetection::DEFAULT
};

const MICRO: ColumnUnit = ColumnUnit::Microseconds;
const LABELS: &ColumnLabels = &[
    ("#bytes", ColumnContent::Size),
    ("#repetitions", ColumnContent::Other),
    ("t_min[usec]", ColumnContent::Metric("latency_min", MICRO)),
    ("t_max[usec]", ColumnContent::Metric("latency_max", MICRO)),
    ("t_avg[usec]", ColumnContent::Metric("latency", MICRO)),
    ("t[usec]", ColumnContent::Metric("latency", MICRO)),
    ("Mbytes/sec", ColumnContent::Metric("bandwidth", ColumnUnit::MegabytesPerSecond)),
    ("Msg/sec", ColumnContent::Other),
];

/// Returns IMB's name of a test.
pub(super) const fn imb_name(test: MpiTest) -> Option<&'static str> {
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
pub(super) fn supports(workload: &Workload) -> bool {
    supported_test(workload).is_some()
}

fn supported_test(workload: &Workload) -> Option<(&MpiWorkload, &'static str)> {
    let work = workload.as_mpi().filter(|work| work.mpi.abi == MpiAbi::Mpich)?;
    Some((work, imb_name(work.test)?))
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let refused = || unsupported("imb", request.workload);
    let (work, test) = supported_test(request.workload).ok_or_else(refused)?;
    let mut options = vec!["-npmin".to_owned(), work.ranks.to_string()];
    if work.test.has_sizes() {
        let log = |bytes: u64| bytes.max(1).ilog2();
        let sizes = format!("{}:{}", log(work.from_bytes), log(work.to_bytes));
        options.extend(["-msglog".to_owned(), sizes]);
    }
    options.push(test.to_owned());
    let launch = mpi_launch::build_launch(work, &request.tool.path, &options);
    let mut invocation = launch.into_invocation("imb", request);
    invocation.environment.extend(library_folder(work));
    Ok(vec![invocation])
}

/// Returns the folder of the measured library. The program is linked to a library without a folder.
fn library_folder(work: &MpiWorkload) -> Option<(String, String)> {
    let folder = Path::new(&work.mpi.library).parent()?;
    Some(("LD_LIBRARY_PATH".to_owned(), folder.to_string_lossy().into_owned()))
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    let work = workload.as_mpi().ok_or_else(|| unsupported("imb", workload))?;
    outputs.check_exit()?;
    let lines: Vec<&str> = outputs.stdout.lines().map(str::trim).collect();
    check_test_and_ranks(&lines, work)?;
    if !lines.contains(&"# All processes entering MPI_Finalize") {
        let missing = "\"All processes entering MPI_Finalize\" is missing".to_owned();
        return Err(ToolError::Truncated { missing });
    }
    let is_heading =
        |line: &&str| line.starts_with("#bytes") || line.starts_with("#repetitions");
    let Some(heading) = lines.iter().position(is_heading) else {
        return Err(ToolError::Missing {
            what: "heading of columns".to_owned(),
            place: "IMB's table",
        });
    };
    let mut columns = mpi_text::parse_columns(lines[heading], LABELS);
    if work.test == MpiTest::Latency {
        // The bandwidth of a ping-pong is the size over half a round trip, which repeats the
        // latency.
        let bandwidth = ColumnContent::Metric("bandwidth", ColumnUnit::MegabytesPerSecond);
        columns
            .iter_mut()
            .filter(|it| **it == bandwidth)
            .for_each(|it| *it = ColumnContent::Other);
    }
    let (timed_out, below): (Vec<&str>, Vec<&str>) =
        lines[heading + 1..].iter().partition(|line| line.contains("time-out"));
    let mut rows = mpi_text::parse_rows(below.into_iter(), &columns)?;
    rows.iter_mut().for_each(|row| drop_empty_message(row, work.test));
    let mut parsed = ParsedOutput { version: parse_version(&lines), ..ParsedOutput::default() };
    let cut = timed_out.iter().map(|line| line.chars().take(60).collect::<String>());
    parsed.problems.extend(cut.map(|line| format!("not measured: {line}")));
    mpi_rows::add_rows(&rows, work, &mut parsed)?;
    Ok(parsed)
}

/// Drops the figures of empty messages, which have no bandwidth or are no reduction; IMB prints
/// both.
fn drop_empty_message(row: &mut MpiRow, test: MpiTest) {
    if row.bytes == Some(0) && test != MpiTest::Latency {
        row.values.clear();
    }
}

/// Checks that the test and the number of ranks are the requested ones.
fn check_test_and_ranks(lines: &[&str], work: &MpiWorkload) -> Result<(), ToolError> {
    let wanted = imb_name(work.test).unwrap_or_default();
    let tests: Vec<&str> =
        lines.iter().filter_map(|line| line.strip_prefix("# Benchmarking ")).collect();
    match tests.as_slice() {
        [test] if test.trim() == wanted => {}
        [] => {
            let what = "\"# Benchmarking …\"".to_owned();
            return Err(ToolError::Missing { what, place: "the output" });
        }
        several if several.iter().all(|test| test.trim() == wanted) => {
            let what = format!(
                "{wanted} {} times: every rank runs as a single process, because the program was built \
                 with another MPI than the launcher's",
                several.len()
            );
            return Err(ToolError::Contradiction { what });
        }
        several => {
            let what = format!("{} instead of {wanted}", several.join(", "));
            return Err(ToolError::Contradiction { what });
        }
    }
    let processes = lines.iter().find_map(|line| line.strip_prefix("# #processes ="));
    let processes = processes.and_then(|rest| rest.split_whitespace().next());
    if processes != Some(work.ranks.to_string().as_str()) {
        let what = format!("{} ranks instead of {}", processes.unwrap_or("no"), work.ranks);
        return Err(ToolError::Contradiction { what });
    }
    Ok(())
}

/// Parses the version: `Intel(R) MPI Benchmarks 2021.11, MPI-1 part` → `2021.11`.
fn parse_version(lines: &[&str]) -> Option<String> {
    let rest = lines.iter().find_map(|line| line.split_once("Intel(R) MPI Benchmarks "))?.1;
    Some(rest.split([',', ' ']).next()?.to_owned())
}
