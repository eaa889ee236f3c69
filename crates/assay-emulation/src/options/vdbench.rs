//! Arguments of `assay vdbench`: Vdbench's own options, and which data may be overwritten.

use std::path::PathBuf;

use clap::Args;

use assay_console::options::{RecordArguments, parse_seconds, word_parser};

#[derive(Debug, Args)]
#[command(after_help = "Differences from Vdbench are listed in logfile.html. \
                        `assay show --as vdbench --output DIR` writes the output folder of a stored run.")]
pub struct VdbenchArguments {
    /// Parameter files, concatenated; name=value substitutes $name and !name in them
    #[arg(short, value_name = "FILE|NAME=VALUE", num_args = 1.., required_unless_present = "test", value_parser = word_parser())]
    pub(crate) files: Vec<String>,
    /// Output folder; DIR+ takes the first free one of DIR, DIR001, …; DIR.tod appends date and time
    #[arg(short, value_name = "DIR", default_value = "output", value_parser = word_parser())]
    pub(crate) output: String,
    /// Override elapsed= of every run
    #[arg(short, value_name = "SECONDS")]
    pub(crate) elapsed: Option<f64>,
    /// Override interval= of every run
    #[arg(short, value_name = "SECONDS")]
    pub(crate) interval: Option<f64>,
    /// Override warmup= of every run
    #[arg(short, value_name = "SECONDS")]
    pub(crate) warmup: Option<f64>,
    /// Print the plan, in total and per run, without I/O
    #[arg(short, long = "dry-run")]
    pub(crate) simulate: bool,
    /// Data validation: stamp every block written, check every block read; -vr also reads back after writing
    #[arg(short, value_name = "r|t|w", num_args = 0..=1, value_parser = ["r", "t", "w"])]
    pub(crate) verify: Option<Option<String>>,
    /// JVMs per host; no effect, because one process does all I/O
    #[arg(short = 'm', value_name = "N")]
    pub(crate) machines: Option<u32>,
    /// Run a five-second test instead of parameter files: on a file, or with -tf on a file tree
    #[arg(short = 't', id = "test", value_name = "f", conflicts_with = "files", num_args = 0..=1,
          value_parser = ["f"])]
    pub(crate) test: Option<Option<String>>,
    /// Repeat all runs until stopped, or for a time: -l30s, -l10m, -l2h
    #[arg(short = 'l', value_name = "TIME", num_args = 0..=1)]
    pub(crate) again: Option<Option<String>>,
    /// File trees: -c and -cy recreate them, -cn keeps them, -co only deletes them; overrides format=
    #[arg(short = 'c', value_name = "y|n|o", num_args = 0..=1, value_parser = ["y", "n", "o"])]
    pub(crate) clean: Option<Option<String>>,
    /// Not supported: journals
    #[arg(short = 'j', hide = true, num_args = 0..=1)]
    pub(crate) journal: Option<Option<String>>,
    /// name=value after the options
    #[arg(value_name = "NAME=VALUE", value_parser = word_parser())]
    pub(crate) variables: Vec<String>,
    /// Allow overwriting this device, or this file that assay did not create
    #[arg(long, value_name = "PATH")]
    pub(crate) destroy_data: Vec<PathBuf>,
    /// Seed of random offsets and arrivals, to repeat a run [default: a new seed for every run]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Use the root's file system where a volume should be mounted: below /mnt, /media, /srv, /data and the mount
    /// points of /etc/fstab and systemd
    #[arg(long)]
    pub(crate) target_on_root: bool,
    /// Command that opens a pipe to a process on a host (hd=); {host} is replaced by its system=
    /// [default: ssh]
    #[arg(long, value_name = "COMMAND", help_heading = "Hosts")]
    pub via: Option<String>,
    /// Maximum time that a host may lag behind the others or send nothing
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_seconds, help_heading = "Hosts")]
    pub host_deadline: f64,
    /// With -s, print the plan as JSON
    #[arg(long, requires = "simulate")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) keep: RecordArguments,
}
