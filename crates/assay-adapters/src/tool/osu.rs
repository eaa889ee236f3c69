//! Adapter of a user's OSU micro-benchmarks, versions 5 to 7, built with one MPI.
//!
//! Units from their source: microseconds per message or call, and MB/s of 10⁶ bytes.

use std::path::Path;

use assay_model::benchmark::{MpiPattern, MpiTest};
use assay_model::workload::Workload;

use super::{ToolDetection, mpi_rows, unsupported};
use crate::invocation::{Invocation, ToolRequest};
use crate::mpi_launch;
use crate::mpi_text::{self, ColumnContent, ColumnLabels, ColumnUnit};
use crate::outputs::{Outputs, ParsedOutput, ToolError};

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["osu_latency"],
    path_variable: "ASSAY_OSU",
    hint: "build them from mvapich.cse.ohio-state.edu/benchmarks with the mpicc of the MPI to be \
           measured, then name osu_latency in ASSAY_OSU; the others are found next to it",
    ..ToolDetection::DEFAULT
};

const MICRO: ColumnUnit = ColumnUnit::Microseconds;
const LABELS: &ColumnLabels = &[
    ("Avg Latency(us)", ColumnContent::Metric("latency", MICRO)),
    ("Min Latency(us)", ColumnContent::Metric("latency_min", MICRO)),
    ("Max Latency(us)", ColumnContent::Metric("latency_max", MICRO)),
    ("Latency (us)", ColumnContent::Metric("latency", MICRO)),
    ("Latency(us)", ColumnContent::Metric("latency", MICRO)),
    ("Tail Lat(us)", ColumnContent::Other),
    ("Tail BW(MB/s)", ColumnContent::Other),
    ("Bandwidth (MB/s)", ColumnContent::Metric("bandwidth", ColumnUnit::MegabytesPerSecond)),
    ("MB/s", ColumnContent::Metric("bandwidth", ColumnUnit::MegabytesPerSecond)),
    ("Messages/s", ColumnContent::Metric("message_rate", ColumnUnit::Base)),
    ("Overall(us)", ColumnContent::Metric("latency", MICRO)),
    ("Compute(us)", ColumnContent::Metric("compute", MICRO)),
    ("Pure Comm.(us)", ColumnContent::Metric("communication", MICRO)),
    ("Overlap(%)", ColumnContent::Metric("overlap", ColumnUnit::Percent)),
    ("Coll. Init(us)", ColumnContent::Other),
    ("MPI_Test(us)", ColumnContent::Other),
    ("MPI_Wait(us)", ColumnContent::Other),
    ("Min Comm.(us)", ColumnContent::Other),
    ("Max Comm.(us)", ColumnContent::Other),
    ("Iterations", ColumnContent::Other),
    ("Validation", ColumnContent::Verdict),
    ("Size", ColumnContent::Size),
];

/// `osu_init` prints no table; its line is read by the import.
pub(super) const fn supports(workload: &Workload) -> bool {
    match workload.as_mpi() {
        Some(work) => !work.test.kind().is_startup(),
        None => false,
    }
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let work = request.workload.as_mpi().ok_or_else(|| unsupported("osu", request.workload))?;
    let program = program_path(&request.tool.path, work.test);
    let mut options = Vec::new();
    if work.test.has_size_range() {
        // Without a minimum the tool uses its own: versions differ in whether 0 is accepted.
        let from =
            if work.from_bytes > 1 { format!("{}:", work.from_bytes) } else { String::new() };
        options.extend(["-m".to_owned(), format!("{from}{}", work.to_bytes)]);
    }
    if work.test.pattern() == MpiPattern::All {
        options.push("-f".to_owned());
    }
    let launch = mpi_launch::build_launch(work, &program, &options);
    Ok(vec![launch.into_invocation("osu", request)])
}

/// Returns the path of a test's program, next to `osu_latency`: in the same folder, or in the
/// folder of its kind. Version 7.4 has two levels of such folders.
fn program_path(latency: &str, test: MpiTest) -> String {
    let name = format!("osu_{}", test.name());
    let path = Path::new(latency);
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let is_called = |folder: &Path, name: &str| folder.file_name().is_some_and(|it| it == name);
    let blocking = if name.starts_with("osu_i") { "non_blocking" } else { "blocking" };
    let is_persistent = name.ends_with("_persistent");
    let (mpi, twice) = match folder.parent() {
        Some(above) if is_called(folder, "standard") && is_called(above, "pt2pt") => {
            (above.parent(), true)
        }
        Some(above) if is_called(folder, "pt2pt") => (Some(above), false),
        _ => (None, false),
    };
    let place = match (mpi, test) {
        (None, _) => folder.to_owned(),
        (Some(mpi), test) if test.kind().is_one_sided() => mpi.join("one-sided"),
        (Some(mpi), test) if test.kind().is_fan() => mpi.join("pt2pt/congestion"),
        (Some(mpi), test) if test.pattern() != MpiPattern::All => match twice {
            true if is_persistent => mpi.join("pt2pt/persistent"),
            true => mpi.join("pt2pt/standard"),
            false => mpi.join("pt2pt"),
        },
        (Some(mpi), _) if twice && is_persistent => mpi.join("collective/persistent"),
        (Some(mpi), _) if twice => mpi.join("collective").join(blocking),
        (Some(mpi), _) => mpi.join("collective"),
    };
    place.join(name).to_string_lossy().into_owned()
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    let work = workload.as_mpi().ok_or_else(|| unsupported("osu", workload))?;
    outputs.check_exit()?;
    let text = &outputs.stdout;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut titles = lines
        .iter()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.starts_with("OSU MPI"));
    let Some(printed) = titles.next() else {
        let what = "title \"# OSU MPI …\"".to_owned();
        return Err(ToolError::Missing { what, place: "the output" });
    };
    let (title, version) = printed.rsplit_once(" v").unwrap_or((printed, ""));
    if !title.trim().eq_ignore_ascii_case(work.test.osu_title()) {
        let what = format!("{title:?} instead of {:?}", work.test.osu_title());
        return Err(ToolError::Contradiction { what });
    }
    let heading = find_heading(&lines, work.test.has_sizes())?;
    let columns = mpi_text::parse_columns(lines[heading], LABELS);
    let rows = mpi_text::parse_rows(lines[heading + 1..].iter().copied(), &columns)?;
    let version = Some(version.trim().to_owned()).filter(|text| !text.is_empty());
    let mut parsed = ParsedOutput { version, ..ParsedOutput::default() };
    mpi_rows::add_rows(&rows, work, &mut parsed)?;
    Ok(parsed)
}

/// Finds the only heading of columns. The number of titles is not the number of tables:
/// `osu_mbw_mr` 7.0 prints its title twice.
fn find_heading(lines: &[&str], has_sizes: bool) -> Result<usize, ToolError> {
    let mut headings = (0..lines.len()).filter(|at| is_heading(lines[*at], has_sizes));
    match (headings.next(), headings.count()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(ToolError::Missing {
            what: "heading of columns".to_owned(),
            place: "OSU's table",
        }),
        (Some(_), others) => Err(ToolError::Contradiction {
            what: format!(
                "{} tables instead of one: every rank runs as a single process, because the program was \
                 built with another MPI than the launcher's",
                others + 1
            ),
        }),
    }
}

/// Whether a line names columns: it is a comment, except in `osu_ibarrier` up to 7.0.
fn is_heading(line: &str, has_sizes: bool) -> bool {
    let rest = line.strip_prefix('#').map_or(line, str::trim_start);
    let first =
        if has_sizes { &["Size"][..] } else { &["Avg Latency", "Latency", "Overall("][..] };
    first.iter().any(|word| rest.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_next_to_osu_latency() {
        for (latency, test, expected) in [
            ("/opt/osu/osu_latency", MpiTest::Allreduce, "/opt/osu/osu_allreduce"),
            ("/o/mpi/pt2pt/osu_latency", MpiTest::Bandwidth, "/o/mpi/pt2pt/osu_bw"),
            ("/o/mpi/pt2pt/osu_latency", MpiTest::Ibarrier, "/o/mpi/collective/osu_ibarrier"),
            (
                "/o/mpi/pt2pt/osu_latency",
                MpiTest::PutLatency,
                "/o/mpi/one-sided/osu_put_latency",
            ),
            (
                "/o/mpi/pt2pt/standard/osu_latency",
                MpiTest::PutBothWays,
                "/o/mpi/one-sided/osu_put_bibw",
            ),
            (
                "/o/mpi/pt2pt/standard/osu_latency",
                MpiTest::IreduceScatter,
                "/o/mpi/collective/non_blocking/osu_ireduce_scatter",
            ),
            (
                "/o/mpi/pt2pt/standard/osu_latency",
                MpiTest::Latency,
                "/o/mpi/pt2pt/standard/osu_latency",
            ),
            (
                "/o/mpi/pt2pt/standard/osu_latency",
                MpiTest::Ireduce,
                "/o/mpi/collective/non_blocking/osu_ireduce",
            ),
            (
                "/o/mpi/pt2pt/standard/osu_latency",
                MpiTest::Reduce,
                "/o/mpi/collective/blocking/osu_reduce",
            ),
            (
                "/o/mpi/pt2pt/standard/osu_latency",
                MpiTest::PersistentBandwidth,
                "/o/mpi/pt2pt/persistent/osu_bw_persistent",
            ),
            (
                "/o/mpi/pt2pt/standard/osu_latency",
                MpiTest::PersistentAllreduce,
                "/o/mpi/collective/persistent/osu_allreduce_persistent",
            ),
            ("osu_latency", MpiTest::Bandwidth, "osu_bw"),
        ] {
            assert_eq!(program_path(latency, test), expected);
        }
    }
}
