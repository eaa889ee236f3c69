//! Import of tables of the OSU micro-benchmarks and of Intel's. The tables do not name the MPI
//! installation.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::{Benchmark, MpiTest};
use assay_model::mpi_installation::{MpiInstallation, MpiLauncherKind};
use assay_model::mpi_outcome::MpiAbi;
use assay_model::workload::{Domain, MpiHosts, MpiPreset, MpiWorkload, Workload};

use super::{Found, after, by_tool, missing, parts, whole};
use crate::outputs::{Parsed, ToolError};
use crate::tool::imb_test;

pub(super) fn is_osu(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("# OSU MPI"))
}

/// Reads every test of the file. `osu_mbw_mr` 7.0 prints its title twice, which is one test.
pub(super) fn osu(text: &str) -> Result<Vec<Found>, ToolError> {
    whole(text)?;
    let mut before = String::new();
    let mut tests: Vec<String> = Vec::new();
    for part in parts(text, |line| line.starts_with("# OSU MPI")) {
        let has_rows = part.lines().any(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        // A title without rows belongs to the table that follows.
        if has_rows || part.contains("Latency(us)") {
            tests.push(part);
        } else {
            before = part;
        }
    }
    if tests.is_empty() {
        tests.push(before);
    }
    tests.iter().map(|part| osu_test(part)).collect()
}

fn osu_test(text: &str) -> Result<Found, ToolError> {
    let mut titles = text.lines().filter_map(|line| line.strip_prefix("# "));
    let title = titles.find(|line| line.starts_with("OSU MPI")).unwrap_or_default();
    let title = title.rsplit_once(" v").map_or(title, |(title, _)| title).trim();
    let known = |test: &MpiTest| test.osu_title().eq_ignore_ascii_case(title);
    let test = MpiTest::ALL.into_iter().find(known);
    let test = test.ok_or_else(|| missing(&format!("benchmark like {title:?} in assay")))?;
    let pattern_ranks = match test.pattern() {
        assay_model::benchmark::MpiPattern::Pair => Some(2),
        _ => pairs(text),
    };
    found("osu", test, text, pattern_ranks)
}

/// Returns the number of ranks: `# [ pairs: 4 ] [ window size: 64 ]` is 8 ranks.
fn pairs(text: &str) -> Option<u32> {
    after(text, "[ pairs:")?.parse::<u32>().ok()?.checked_mul(2)
}

pub(super) fn is_imb(text: &str) -> bool {
    text.contains("Intel(R) MPI Benchmarks") && text.contains("# Benchmarking ")
}

pub(super) fn imb(text: &str) -> Result<Vec<Found>, ToolError> {
    /// Line after the last test. It occurs once per file, but the reader of one test requires it.
    const END: &str = "# All processes entering MPI_Finalize";
    let has_end = text.contains(END);
    let tests = parts(text, |line| line.starts_with("# Benchmarking "));
    let read = |part: &String| {
        let name = after(part, "# Benchmarking").unwrap_or_default();
        let test = imb_test(name)?;
        let ranks = after(part, "#processes").and_then(|text| text.parse().ok());
        let whole =
            if has_end { format!("{}\n{END}\n", part.replace(END, "")) } else { part.clone() };
        Some(found("imb", test, &whole, ranks))
    };
    let found: Result<Vec<Found>, _> = tests.iter().filter_map(read).collect();
    found.and_then(|found| match found.is_empty() {
        true => Err(missing("test of IMB that assay has, like PingPong or Allreduce")),
        false => Ok(found),
    })
}

/// Parses one table with the reader of its tool.
fn found(
    tool: &str,
    test: MpiTest,
    text: &str,
    ranks: Option<u32>,
) -> Result<Found, ToolError> {
    let mut sizes =
        text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok());
    let largest: u64 = sizes.next_back().unwrap_or(0);
    let nowhere = Domain { placement: String::new(), cpus: vec![] };
    let work = MpiWorkload {
        test,
        mpi: unknown(),
        ranks: ranks.unwrap_or(0),
        placement: nowhere,
        hosts: MpiHosts::default(),
        from_bytes: 0,
        to_bytes: largest,
        preset: MpiPreset::default(),
    };
    let mut parsed: Parsed = by_tool(tool, Workload::Mpi(work), text)?;
    parsed.learned.retain(|it| it.name != Attribute::Mpi);
    let ranks = ranks.map(|ranks| (Attribute::Ranks, ranks.into()));
    Ok(Found {
        name: test.name().to_owned(),
        benchmark: Benchmark::Mpi(test),
        dimensions: Attributes::from_iter(ranks),
        system: None,
        began_s: None,
        parsed,
    })
}

/// Returns an installation without any details.
const fn unknown() -> MpiInstallation {
    MpiInstallation {
        key: String::new(),
        name: String::new(),
        version: String::new(),
        prefix: String::new(),
        library: String::new(),
        abi: MpiAbi::Mpich,
        launcher: String::new(),
        starter: MpiLauncherKind::IntelHydra,
    }
}
