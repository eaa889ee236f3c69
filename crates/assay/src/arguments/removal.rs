//! Options of `assay rm` and `assay prune`.

use clap::{ArgGroup, Args};

use super::{BriefPageArguments, StoreArguments};

#[derive(Debug, Args)]
pub(crate) struct RemoveArguments {
    /// Runs, named as for `assay show`
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Only print which runs would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) answer: BriefPageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").required(true).args(["failed"])))]
pub(crate) struct PruneArguments {
    /// Remove runs without a result because everything in them failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only print which runs would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) answer: BriefPageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}
