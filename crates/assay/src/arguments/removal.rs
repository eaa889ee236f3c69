//! What may be typed after `rm` and `prune`.

use clap::{ArgGroup, Args};

use super::{AnswerArguments, StoreArguments};

#[derive(Debug, Args)]
pub(crate) struct RemoveArguments {
    /// Runs, as `assay show` takes them
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Only say which runs these are
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").required(true).args(["failed"])))]
pub(crate) struct PruneArguments {
    /// Runs without a result, because everything in them failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only say which runs these are
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}
