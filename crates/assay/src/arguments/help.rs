//! Options of the commands that print help for people and shells.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct HelpArguments {
    /// Command, like `net throughput`, a guide, like docs/fio.md, or one of: methods, tools, formats,
    /// suites, fleet-file, exit-codes, docs
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell to complete for
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Command, like `storage read` [default: assay itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
