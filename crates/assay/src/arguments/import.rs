//! The options of `assay import`.

use std::path::PathBuf;

use assay_model::attribute::Attribute;
use clap::Args;

use super::{AnswerArguments, StoreArguments, note, parameter};

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Files of results: fio, iperf3, OSU, IMB, perftest, STREAM, HPL, IOR, mdtest, Vdbench, qperf,
    /// sockperf, ReFrame, Phoronix; the format is recognised by content
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Label of the condition, for `assay compare`
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// What is worth knowing about these runs, kept with them
    #[arg(long, value_name = "TEXT", value_parser = note)]
    pub(crate) note: Option<String>,
    /// Host it was measured on [default: what the file says]
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// What the file does not say, like placement=node; names are those of `parameters` in JSON
    #[arg(long = "set", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parameter)]
    pub(crate) set: Vec<(Attribute, String)>,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}
