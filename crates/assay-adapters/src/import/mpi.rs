//! Import of tables of the OSU micro-benchmarks and the Intel MPI Benchmarks (IMB). The tables do
//! not name the MPI installation.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::{Benchmark, MpiTest};
use assay_model::mpi_installation::{MpiInstallation, MpiLauncherKind};
use assay_model::mpi_outcome::MpiAbi;
use assay_model::workload::{Domain, MpiHosts, MpiPreset, MpiWorkload, Workload};

use super::{
    ImportedMeasurement, missing, read_with_tool, reject_cut_number, split_parts, word_after,
};
use crate::outputs::{ParsedOutput, ToolError};
use crate::tool::find_imb_test;

pub(super) fn is_osu(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("# OSU MPI"))
}

/// Reads every test of the file. `osu_mbw_mr` 7.0 prints its title twice for one test.
pub(super) fn read_osu(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    reject_cut_number(text)?;
    let mut title_part = String::new();
    let mut tests: Vec<String> = Vec::new();
    for part in split_parts(text, |line| line.starts_with("# OSU MPI"))? {
        let has_rows = part.lines().any(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        // A title without rows belongs to the table that follows.
        if has_rows || part.contains("Latency(us)") {
            tests.push(part);
        } else {
            title_part = part;
        }
    }
    if tests.is_empty() {
        tests.push(title_part);
    }
    tests.iter().map(|part| read_osu_test(part)).collect()
}

fn read_osu_test(text: &str) -> Result<ImportedMeasurement, ToolError> {
    let mut titles = text.lines().filter_map(|line| line.strip_prefix("# "));
    let title = titles.find(|line| line.starts_with("OSU MPI")).unwrap_or_default();
    let title = title.rsplit_once(" v").map_or(title, |(title, _)| title).trim();
    let has_title = |test: &MpiTest| test.osu_title().eq_ignore_ascii_case(title);
    let test = MpiTest::ALL.into_iter().find(has_title);
    let test = test.ok_or_else(|| missing(&format!("benchmark like {title:?} in assay")))?;
    let pattern_ranks = match test.pattern() {
        assay_model::benchmark::MpiPattern::Pair => Some(2),
        _ => parse_pair_ranks(text),
    };
    read_table("osu", test, text, pattern_ranks)
}

/// Returns the number of ranks: `# [ pairs: 4 ] [ window size: 64 ]` is 8 ranks.
fn parse_pair_ranks(text: &str) -> Option<u32> {
    word_after(text, "[ pairs:")?.parse::<u32>().ok()?.checked_mul(2)
}

pub(super) fn is_imb(text: &str) -> bool {
    text.contains("Intel(R) MPI Benchmarks") && text.contains("# Benchmarking ")
}

pub(super) fn read_imb(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    /// Line after the last test of a file. The parser of a single test also requires it.
    const END: &str = "# All processes entering MPI_Finalize";
    let has_end = text.contains(END);
    let tests = split_parts(text, |line| line.starts_with("# Benchmarking "))?;
    let read_part = |part: &String| {
        let name = word_after(part, "# Benchmarking").unwrap_or_default();
        let test = find_imb_test(name)?;
        let ranks = word_after(part, "#processes").and_then(|text| text.parse().ok());
        let complete_part =
            if has_end { format!("{}\n{END}\n", part.replace(END, "")) } else { part.clone() };
        Some(read_table("imb", test, &complete_part, ranks))
    };
    let measurements: Result<Vec<ImportedMeasurement>, _> =
        tests.iter().filter_map(read_part).collect();
    measurements.and_then(|measurements| match measurements.is_empty() {
        true => Err(missing("test of IMB that assay has, like PingPong or Allreduce")),
        false => Ok(measurements),
    })
}

/// Parses one table with the reader of its tool.
fn read_table(
    tool: &str,
    test: MpiTest,
    text: &str,
    ranks: Option<u32>,
) -> Result<ImportedMeasurement, ToolError> {
    let mut sizes =
        text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok());
    let largest: u64 = sizes.next_back().unwrap_or(0);
    let unplaced = Domain { placement: String::new(), cpus: vec![] };
    let work = MpiWorkload {
        test,
        mpi: unknown_installation(),
        ranks: ranks.unwrap_or(0),
        placement: unplaced,
        hosts: MpiHosts::default(),
        from_bytes: 0,
        to_bytes: largest,
        preset: MpiPreset::default(),
    };
    let mut parsed: ParsedOutput = read_with_tool(tool, Workload::Mpi(work), text)?;
    parsed.attributes.retain(|it| it.name != Attribute::Mpi);
    let ranks = ranks.map(|ranks| (Attribute::Ranks, ranks.into()));
    Ok(ImportedMeasurement {
        name: test.name().to_owned(),
        benchmark: Benchmark::Mpi(test),
        dimensions: Attributes::from_iter(ranks),
        system: None,
        began_s: None,
        parsed,
    })
}

/// Returns the placeholder for an unknown installation.
const fn unknown_installation() -> MpiInstallation {
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
