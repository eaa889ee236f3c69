//! Options of `assay run` for suites with MPI benchmarks.

use std::path::PathBuf;

use assay_model::quantity::Bytes;
use assay_model::suite::MpiPlacement;
use assay_run::mpi_installations::AbiSelection;
use clap::Args;

use assay_emulation::options::osu::PresetArgument;

use super::values::{Choice, one_of};

/// MPI options; rejected for suites without MPI benchmarks.
#[derive(Debug, Args)]
pub(crate) struct MpiRunArguments {
    /// Installation prefix of an MPI; repeatable [default: all that are found]
    #[arg(long = "mpi", value_name = "PREFIX", help_heading = "MPI")]
    pub(crate) prefixes: Vec<PathBuf>,
    /// Hosts for the MPI launcher, in its syntax, like a,b; this host first
    #[arg(long, value_name = "LIST", help_heading = "MPI", conflicts_with = "hostfile")]
    pub(crate) mpi_hosts: Option<String>,
    /// Host file for the MPI launcher, in its format
    #[arg(long, value_name = "FILE", help_heading = "MPI")]
    pub(crate) hostfile: Option<PathBuf>,
    /// Number of ranks, for benchmarks that take more than two [default: one per core; over hosts two]
    #[arg(long, value_name = "N", help_heading = "MPI")]
    pub(crate) ranks: Option<u32>,
    /// Smallest and largest message, like 0:4MiB [default: as OSU's test of that name]
    #[arg(long, value_name = "MIN:MAX", value_parser = parse_sizes, help_heading = "MPI")]
    pub(crate) sizes: Option<(u64, u64)>,
    /// Placement of ranks: same-core, same-cache, same-socket, across-sockets, node, pairs
    #[arg(
        long = "placement",
        value_name = "PLACE",
        value_delimiter = ',',
        help_heading = "MPI"
    )]
    pub(crate) placements: Vec<MpiPlacement>,
    /// Launch ranks with srun instead of each MPI's own launcher
    #[arg(long, value_name = "srun", help_heading = "MPI")]
    pub(crate) launcher: Option<PathBuf>,
    /// Method: assay's batches, or one figure per launch as OSU
    #[arg(long, value_enum, help_heading = "MPI")]
    pub(crate) preset: Option<PresetArgument>,
    /// ABI to use if a library has two
    #[arg(long, value_parser = one_of(&ABIS), help_heading = "MPI")]
    pub(crate) abi: Option<AbiSelection>,
}

/// ABIs of libraries that have both their own one and that of MPI 5.
const ABIS: [Choice<AbiSelection>; 3] = [
    (
        &["own"],
        "The library's own ABI, as programs compiled with its mpicc use it",
        AbiSelection::Own,
    ),
    (&["standard"], "The standard ABI of MPI 5", AbiSelection::Standard),
    (&["both"], "Both, each in its own column", AbiSelection::Both),
];

impl MpiRunArguments {
    /// Returns an option that was given and controls on which CPUs or hosts ranks run.
    pub(crate) fn first_placement_option(&self) -> Option<&'static str> {
        let of_hosts = ["--mpi-hosts", "--hostfile", "--launcher", "--placement", "--ranks"];
        self.given_options().find(|option| of_hosts.contains(option))
    }

    /// Returns the first option that was given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        self.given_options().next()
    }

    fn given_options(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--mpi", !self.prefixes.is_empty()),
            ("--mpi-hosts", self.mpi_hosts.is_some()),
            ("--hostfile", self.hostfile.is_some()),
            ("--ranks", self.ranks.is_some()),
            ("--sizes", self.sizes.is_some()),
            ("--placement", !self.placements.is_empty()),
            ("--launcher", self.launcher.is_some()),
            ("--preset", self.preset.is_some()),
            ("--abi", self.abi.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// Parses a range of sizes, `8:4096` or `0:4MiB`; a single size is both minimum and maximum.
fn parse_sizes(text: &str) -> Result<(u64, u64), String> {
    if text.contains(',') {
        return Err("a list of sizes is not supported; write a range like 4KiB:1MiB".into());
    }
    let size = |text: &str| match text.parse::<u64>() {
        Ok(bytes) => Ok(bytes),
        Err(_) => text.parse::<Bytes>().map(|it| it.0).map_err(|error| error.to_string()),
    };
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    let (from, to) = (size(from)?, size(to)?);
    if from <= to {
        Ok((from, to))
    } else {
        Err("the smallest message is larger than the largest; write it like 0:4MiB".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_sizes_with_and_without_units() {
        for (text, expected) in [
            ("8:4096", Some((8, 4096))),
            ("0:4MiB", Some((0, 4 << 20))),
            ("1KiB", Some((1024, 1024))),
            ("4096:8", None),
            ("", None),
            ("8:", None),
            ("-1:8", None),
            ("8:99999999999999999999", None),
        ] {
            assert_eq!(parse_sizes(text).ok(), expected, "{text}");
        }
    }
}
