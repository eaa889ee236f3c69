//! Command line of assay: the single definition behind parsing, help, man pages and completions.
//!
//! Never examines the machine. Doc comments on fields are printed as help and contain no markup.

#![expect(clippy::doc_markdown, reason = "the comments are help texts, printed as they are")]

use std::ffi::OsString;
use std::path::PathBuf;

use assay_console::options::{
    HostsArguments, StoreArguments, parse_label, parse_milliseconds, parse_plain_host,
    parse_seconds, word_parser,
};
use assay_console::progress_listener::SEARCH_MESSAGE;
use assay_emulation::options::fio::FioArguments;
use assay_emulation::options::ior::IorArguments;
use assay_emulation::options::mdtest::MdtestArguments;
use assay_emulation::options::network::{
    Iperf3Arguments, NtttcpArguments, PingArguments, QperfArguments, SockperfArguments,
};
use assay_emulation::options::osu::MpiArguments;
use assay_emulation::options::perftest::RdmaArguments;
use assay_emulation::options::vdbench::VdbenchArguments;
use assay_model::attribute::Attribute;
use assay_model::factor::FactorLevels;
use assay_model::path_text;
use assay_model::quantity::Bytes;
use assay_model::suite::Placement;
use clap::builder::TypedValueParser as _;
use clap::{Args, Parser, Subcommand};

pub(crate) mod claims;
#[cfg(test)]
mod common_options;
pub(crate) mod exec;
pub(crate) mod export;
#[cfg(test)]
mod extreme_values;
pub(crate) mod file_extension;
mod help;
pub(crate) mod hosts;
pub(crate) mod import;
mod language;
pub(crate) mod list;
pub(crate) mod mpi_run;
pub(crate) mod network;
pub(crate) mod option_meanings;
#[cfg(test)]
mod option_spellings;
mod page;
#[cfg(test)]
mod page_commands;
pub(crate) mod plan;
pub(crate) mod removal;
mod screen;
pub(crate) mod serve;
pub(crate) mod site;
pub(crate) mod storage;
mod tool_shape;
mod turns;
pub(crate) mod values;

use claims::{ExpectArguments, LintArguments, OutcomeReportArguments, ReferencesArguments};
use exec::ExecArguments;
use export::ExportArguments;
pub(crate) use help::{CompletionsArguments, HelpArguments, ManArguments};
use hosts::FleetArguments;
use import::ImportArguments;
pub(crate) use language::{ScreenArguments, terminal_language};
use list::ListArguments;
use mpi_run::MpiRunArguments;
use network::NetArguments;
pub(crate) use page::{BriefPageArguments, PageArguments, PageFormat};
use plan::PlanArguments;
use removal::{PruneArguments, RemoveArguments};
use serve::ServeArguments;
use site::SiteArguments;
use storage::{StorageArguments, StorageTargetArguments};
pub(crate) use tool_shape::ToolShape;
use turns::{TurnsArguments, parse_factor};
use values::{
    Bandwidth, TimeBudget, parse_count, parse_margin, parse_note, parse_parameter, parse_share,
};

/// Measure the performance of a machine, its network and its storage, with the uncertainty of every
/// value.
#[derive(Debug, Parser)]
#[command(
    name = "assay",
    version = crate::VERSION,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Start with `assay run`. `assay help methods` explains how each number is obtained,\n\
        `assay help docs` lists the guides.\n\
        Called by a tool's name (`ln -s assay fio`; also vdbench, ior, mdtest, iperf3, qperf, sockperf,\n\
        ntttcp, ib_send_lat, osu_latency and their like), assay is that tool."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: AssayCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AssayCommand {
    /// Measure suites, store the run and print the main results on one screen
    Run(Box<RunArguments>),
    /// Measure memory bandwidth as STREAM defines it
    Stream(StreamArguments),
    /// Measure dense LU factorisation and solve as HPL defines it
    Linpack(LinpackArguments),
    /// Measure any program: wall time, CPU time, peak memory and the figures that it prints; several
    /// are compared in turns
    Exec(Box<ExecArguments>),
    /// Measure throughput, round trips or request-response with another host, or over loopback
    Net(NetArguments),
    /// Measure rate, bandwidth and latency of a file, a volume or a device
    Storage(StorageArguments),
    /// Run Vdbench parameter files, with Vdbench's console output and output folder
    Vdbench(VdbenchArguments),
    /// Run fio job files and command lines, with fio's text, JSON or terse output
    Fio(FioArguments),
    /// Run IOR command lines, with IOR's output; ranks are threads, or those of mpirun
    Ior(IorArguments),
    /// Run mdtest command lines, with mdtest's output; tasks are threads, or ranks of mpirun
    Mdtest(MdtestArguments),
    /// Run an iperf3 client or server, with iperf3's options, output and protocol
    Iperf3(Box<Iperf3Arguments>),
    /// Run a qperf client or server, with qperf's tests, output and protocol
    Qperf(QperfArguments),
    /// Run a sockperf client or server, with sockperf's options, output and protocol
    Sockperf(Box<SockperfArguments>),
    /// Run an ntttcp sender or receiver, with ntttcp-for-linux's options, output and protocol
    Ntttcp(Box<NtttcpArguments>),
    /// Send ICMP echo requests and report the distribution of round trips
    Ping(PingArguments),
    /// Measure MPI point-to-point and collective operations as the OSU benchmarks do, under any MPI
    Mpi(MpiArguments),
    /// Measure latency and bandwidth of RDMA (InfiniBand, RoCE) as perftest does
    Rdma(RdmaArguments),
    /// Calculate before measuring: I/O in flight (Little's law), volume sizes, necessary runs
    Plan(PlanArguments),
    /// Check whether this machine is configured for measuring, without changing it
    Doctor(DoctorArguments),
    /// Store results of other tools as runs: fio, iperf3, OSU, STREAM, HPL, IOR and more
    Import(ImportArguments),
    /// List stored runs, newest first
    List(ListArguments),
    /// Print a stored run, or several in one table
    Show(ShowArguments),
    /// Remove stored runs
    Rm(RemoveArguments),
    /// Remove stored runs without a result
    Prune(PruneArguments),
    /// Check the integrity of stored runs: events, raw outputs, index
    Verify(VerifyArguments),
    /// Compare stored runs of two conditions: better, worse, equivalent or cannot tell
    Compare(CompareArguments),
    /// Show published figures of systems, with source, date and qualifier
    References(ReferencesArguments),
    /// Check the figures of a page: units, digits, qualifiers, names, physical limits
    Lint(LintArguments),
    /// Show one result over all stored runs, with its change points
    History(HistoryArguments),
    /// Write a stored run as text, Markdown, HTML, SVG, CSV or JSON
    Report(ReportArguments),
    /// Write the results of stored runs for notebooks, databases and dashboards
    Export(ExportArguments),
    /// Write a static web site of the stored runs: overview, pages, histories, runs side by side
    Site(SiteArguments),
    /// Show that site to a browser, live: runs appear as they end
    Serve(ServeArguments),
    /// Explain a command or a topic: methods, tools, formats, suites, fleet-file, exit-codes, docs
    /// (the guides)
    Help(HelpArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Print the man page of assay or of one of its commands
    Man(ManArguments),
}

impl AssayCommand {
    /// Whether the output contains nothing that identifies its owner.
    pub(crate) const fn is_anonymous(&self) -> bool {
        matches!(
            self,
            Self::Site(SiteArguments { anonymous: true, .. })
                | Self::Report(ReportArguments { anonymous: true, .. })
        )
    }

    /// Whether the output is another tool's, verbatim.
    pub(crate) const fn prints_tool_output(&self) -> bool {
        matches!(
            self,
            Self::Vdbench(_)
                | Self::Fio(_)
                | Self::Ior(_)
                | Self::Mdtest(_)
                | Self::Iperf3(_)
                | Self::Qperf(_)
                | Self::Sockperf(_)
                | Self::Ntttcp(_)
                | Self::Ping(_)
                | Self::Mpi(_)
                | Self::Rdma(_)
                | Self::Report(_)
        )
    }
}

impl AssayCommand {
    /// Returns the progress message shown until there is output, for commands that may take a
    /// while. Commands that measure show their own.
    pub(crate) const fn progress_message(&self) -> Option<&'static str> {
        match self {
            Self::Doctor(_) => Some(SEARCH_MESSAGE),
            Self::Import(_) => Some("progress-files"),
            Self::List(_)
            | Self::Show(_)
            | Self::Rm(_)
            | Self::Prune(_)
            | Self::Verify(_)
            | Self::Compare(_)
            | Self::History(_)
            | Self::Report(_)
            | Self::Site(_)
            | Self::Serve(_) => Some("progress-runs"),
            Self::Export(typed) if !typed.quiet => Some("progress-runs"),
            Self::Lint(_) => Some("progress-pages"),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Suites by name (`assay help suites` lists them) or files; several, also separated by commas,
    /// are measured in one run
    #[arg(value_name = "SUITE", default_value = "quick")]
    pub(crate) suites: Vec<OsString>,
    /// Far end of network benchmarks [default: this machine, over loopback; the suite all omits
    /// them]
    #[arg(long, value_name = "HOST", value_parser = parse_plain_host)]
    pub(crate) to: Option<String>,
    /// Two commands that switch between two conditions; the conditions are measured alternately
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"])]
    pub(crate) switch: Option<Vec<String>>,
    /// Factor to vary, with its levels: an option of the suite's benchmarks, or what the suite names
    /// in braces; levels like 1,2,4 or 1..64*2. May be repeated; all combinations are measured
    #[arg(long = "factor", value_name = "NAME=LEVELS", value_parser = parse_factor, conflicts_with = "switch")]
    pub(crate) factors: Vec<FactorLevels>,
    #[command(flatten)]
    pub(crate) turns: TurnsArguments,
    #[command(flatten)]
    pub(crate) fleet: FleetArguments,
    #[command(flatten)]
    pub(crate) mpi: MpiRunArguments,
    #[command(flatten)]
    pub(crate) storage: StorageTargetArguments,
    /// Print the whole report instead of the answer, as `assay show` does
    #[arg(long, conflicts_with_all = ["json", "events", "format"])]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

impl ReportArguments {
    /// Returns the names of the runs, or the label.
    pub(crate) fn labelled_runs(&self) -> &[String] {
        self.label.as_ref().map_or(self.runs.as_slice(), std::slice::from_ref)
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// First condition: a run, several separated by commas, or a label (all its runs). Without
    /// another condition, a run whose levels of factors are compared
    #[arg(value_name = "A", required_unless_present = "table")]
    a: Option<String>,
    /// Second condition, compared with the first; or a system like azure/hbv4 or hbv4, or a TOML
    /// file, as for --expect. More conditions are compared as levels, all with each other
    #[arg(value_name = "B", value_parser = word_parser())]
    pub(crate) others: Vec<String>,
    /// Print all results of these runs or labels in one table instead, without a verdict
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with_all = ["a", "others", "margin", "host", "junit", "github"])]
    pub(crate) table: Vec<String>,
    /// With two conditions: largest relative difference that counts as equivalent [default: 2%]
    #[arg(long, value_name = "SHARE", value_parser = parse_margin)]
    pub(crate) margin: Option<f64>,
    /// Use only runs of this host: of labels, those; a run of another host is an error
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) expect: ExpectArguments,
    #[command(flatten)]
    pub(crate) reports: OutcomeReportArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

impl CompareArguments {
    /// Returns the first condition; an empty text with `--table`.
    pub(crate) fn first(&self) -> &str {
        self.a.as_deref().unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Metric, like triad, or with its benchmark, like memory.stream/triad
    #[arg(value_name = "METRIC")]
    pub(crate) metric: String,
    /// Select one of several results, like placement=numa:0; names as in `parameters` of the JSON
    #[arg(long = "where", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse_parameter)]
    pub(crate) parameters: Vec<(Attribute, String)>,
    /// Only runs with this label
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Only runs of this host [default: that of the newest run]
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Ignore relative changes up to this share
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = parse_margin)]
    pub(crate) margin: f64,
    /// Seed of the permutations
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
pub(crate) struct StreamArguments {
    /// Placement: node, numa, l3, core, scaling or all; numa:0, l3:0 or core:0 for a single one
    #[arg(long, value_delimiter = ',', default_value = "node")]
    pub(crate) placement: Vec<Placement>,
    /// Number of threads, one per core, spread over the last-level caches [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// Size of each of the three arrays, like 512MiB [default: 4 × the last-level caches]
    #[arg(long, alias = "bytes", value_name = "SIZE")]
    pub(crate) array_size: Option<Bytes>,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

#[derive(Debug, Args)]
pub(crate) struct LinpackArguments {
    /// Number of equations [default: as many as the time budget allows]
    #[arg(long, value_name = "N", conflicts_with = "memory", value_parser = parse_count)]
    pub(crate) n: Option<u64>,
    /// Share of memory for the matrix, like 80%
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(crate) memory: Option<f64>,
    /// Number of threads, one per core [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// BLAS library for DGEMM: openblas, blis, mkl or a path [default: own kernels]
    #[arg(long, value_name = "LIBRARY", value_parser = word_parser())]
    pub(crate) blas: Option<String>,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

/// Options of every command that measures.
#[derive(Debug, Args)]
pub(crate) struct MeasuringArguments {
    /// Measurers: assay, an installed tool by name, or all that are found
    #[arg(long, value_name = "assay|TOOL|all", value_delimiter = ',', default_value = "assay")]
    pub(crate) by: Vec<String>,
    /// Time budget of the whole run, with --switch of each turn, like 60s; or `shortest`, the time of first
    /// results [default: that of the suite or the command]
    #[arg(long, value_name = "TIME", value_parser = TimeBudget::parse)]
    pub(crate) budget: Option<TimeBudget>,
    /// Path of a tool that is not on PATH, like stream=/opt/stream/stream_c.exe
    #[arg(long = "tool", value_name = "NAME=PATH", value_parser = word_parser().try_map(|it| parse_tool_path(&it)))]
    pub(crate) tools: Vec<(String, PathBuf)>,
    /// Seed of random offsets and arrivals, to repeat a run [default: a new seed for every run]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) expect: ExpectArguments,
    /// Label of this condition, for `assay compare`; `run --switch` takes two, like on,off
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = parse_label)]
    pub(crate) label: Vec<String>,
    /// Note to store with the run
    #[arg(long, value_name = "TEXT", value_parser = parse_note)]
    pub(crate) note: Option<String>,
    /// Print the plan with every case resolved, without measuring
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    /// Print each event as a line of JSON as it happens
    #[arg(long, conflicts_with_all = ["json", "format", "output", "expect"])]
    pub(crate) events: bool,
    /// Exit with 6 if the run is noisy or suspect: other load, too few samples, intervals beyond 10 %,
    /// values above their limit
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
#[command(mut_arg("format", page::without_results))]
pub(crate) struct DoctorArguments {
    /// Topics to check, by the first word of a check, like memory or network [default: all]
    #[arg(value_name = "TOPIC")]
    pub(crate) topics: Vec<String>,
    /// Also list settings that are as expected or cannot be observed
    #[arg(long, conflicts_with = "several")]
    pub(crate) all: bool,
    /// Exit with 4 if a deviation skews or invalidates measurements
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) hosts: HostsArguments,
    /// Also check the path to this host: device, round trip and path MTU
    #[arg(long, value_name = "HOST", conflicts_with = "several", value_parser = parse_plain_host)]
    pub(crate) to: Option<String>,
    /// Round trip to size buffers for, like 20ms [default: measured with --to]
    #[arg(long, value_name = "TIME", value_parser = parse_milliseconds)]
    pub(crate) round_trip: Option<f64>,
    /// Speed of the path, like 10Gbit/s [default: as reported by the device of --to]
    #[arg(long, value_name = "BANDWIDTH", value_parser = Bandwidth::parse)]
    pub(crate) speed: Option<Bandwidth>,
    #[command(flatten)]
    pub(crate) page: PageArguments,
}

#[derive(Debug, Args)]
#[command(mut_arg("format", page::with_publication))]
pub(crate) struct ShowArguments {
    /// Run: its identifier, a unique beginning or end of it, its label, latest, or latest~1 for the
    /// one before; several are printed in one table, with differences from the first
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) expect: ExpectArguments,
    /// Print the run in the output format of the emulated tool; with vdbench, --output names the
    /// folder to write
    #[arg(long = "as", value_name = "SHAPE", conflicts_with_all = ["json", "format"])]
    pub(crate) shape: Option<ToolShape>,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Runs, named as for `assay show` [default: all]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) answer: BriefPageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
#[command(mut_arg("format", page::with_publication))]
pub(crate) struct ReportArguments {
    /// Run: its identifier, a unique beginning or end of it, its label, latest, or latest~1 for the
    /// one before; several are one page, with a row for each result
    #[arg(value_name = "RUN", default_value = "latest", num_args = 1..)]
    pub(crate) runs: Vec<String>,
    /// All runs with this label
    #[arg(long, value_name = "NAME", conflicts_with = "runs")]
    pub(crate) label: Option<String>,
    /// With --format learn: subject of the page, like "HB120rs_v3" [default: the product of the
    /// first host]
    #[arg(long, value_name = "NAME")]
    pub(crate) subject: Option<String>,
    #[command(flatten)]
    pub(crate) expect: ExpectArguments,
    /// Replace names of hosts, addresses, paths and serial numbers by consistent placeholders
    #[arg(long)]
    pub(crate) anonymous: bool,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

fn parse_tool_path(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.to_owned(), path_text::decode_path(path)))
        }
        _ => Err(format!("expected NAME=PATH, found `{text}`")),
    }
}
