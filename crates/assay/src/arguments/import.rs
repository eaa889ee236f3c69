//! Options of `assay import`.

use std::path::PathBuf;

use assay_adapters::import::FigureRule;
use assay_console::options::parse_label;
use assay_model::attribute::Attribute;
use clap::Args;

use super::claims::ExpectArguments;
use super::values::{parse_note, parse_parameter};
use super::{BriefPageArguments, StoreArguments};

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Result files of fio, iperf3, OSU, IMB, perftest, STREAM, HPL, IOR, mdtest, Vdbench, qperf,
    /// sockperf, ReFrame or Phoronix; the format is recognised by content
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Label of the condition, for `assay compare`
    #[arg(long, value_name = "NAME", value_parser = parse_label)]
    pub(crate) label: Option<String>,
    /// Note to store with the runs
    #[arg(long, value_name = "TEXT", value_parser = parse_note)]
    pub(crate) note: Option<String>,
    /// Host that was measured [default: the one in the file]
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Parameters that are missing in the file, like placement=node; names as in `parameters` of
    /// the JSON
    #[arg(long = "set", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse_parameter)]
    pub(crate) set: Vec<(Attribute, String)>,
    /// Take the figures that a pattern finds, of any text: a name, a regular expression whose first
    /// group is the number, and its unit; without a unit, add lower if lower is better. May be
    /// repeated
    #[arg(long = "metric", value_name = "NAME: REGEX [UNIT]", value_parser = FigureRule::parse)]
    pub(crate) metrics: Vec<FigureRule>,
    /// Store the sound measurements of a file that also has damaged ones
    #[arg(long)]
    pub(crate) partial: bool,
    /// Store a file again that the store already has with the same label, host and parameters
    #[arg(long)]
    pub(crate) again: bool,
    /// Print every line of the files with what it becomes, and store nothing
    #[arg(long, conflicts_with_all = ["label", "note", "host", "set", "partial", "expect"])]
    pub(crate) explain: bool,
    /// Print the results without storing them
    #[arg(long, conflicts_with_all = ["explain", "folder"])]
    pub(crate) no_store: bool,
    #[command(flatten)]
    pub(crate) expect: ExpectArguments,
    #[command(flatten)]
    pub(crate) answer: BriefPageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}
