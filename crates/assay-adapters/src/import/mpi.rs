//! Import of results of MPI and RDMA tests. Their tables do not name the MPI installation.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::{Benchmark, MpiTest};
use assay_model::mpi_installation::{MpiInstallation, MpiLauncherKind};
use assay_model::mpi_outcome::MpiAbi;
use assay_model::workload::{Domain, MpiHosts, MpiPreset, MpiWorkload, Workload};

use super::{FileContents, ImportFormat, ImportedMeasurement, format, read_with_tool};
use crate::outputs::{ParsedOutput, ToolError};

mod imb;
mod osu;
mod perftest;
mod table;

/// Formats of this family.
pub(super) const FORMATS: &[ImportFormat] = &[
    format("osu", "osu", "OSU micro-benchmarks 3 to 7", osu::is_osu, osu::read_osu),
    format("imb", "imb", "Intel MPI Benchmarks", imb::is_imb, |text| {
        imb::read_imb(text).map(FileContents::from)
    }),
    format(
        "perftest",
        "perftest",
        "perftest: ib_send_lat, ib_write_bw and others",
        perftest::is_perftest,
        |text| perftest::read(text).map(FileContents::from),
    ),
];

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
        began: None,
        lines: None,
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
