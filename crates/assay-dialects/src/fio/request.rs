//! What a command of fio asks for: jobs, output formats, and where the run is stored.

use std::fmt::Write as _;

use super::jobfile::{FioSection, FioSetting};
use super::option;

/// Parsed command line with all job files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FioRequest {
    /// Jobs in order.
    pub sections: Vec<FioSection>,
    /// Global settings, for the report.
    pub globals: Vec<FioSetting>,
    /// Output formats and destination of the results.
    pub output: FioOutput,
    /// Jobs to run; empty = all.
    pub selected: Vec<String>,
    /// Devices and files that may be overwritten.
    pub destroy_data: Vec<String>,
    /// `--aux-path`: folder of states of verification.
    pub aux_path: Option<String>,
    /// Whether targets may be on the root file system where a volume was expected.
    pub target_on_root: bool,
    /// Storage of the run.
    pub store_options: StoreOptions,
    /// `--debug`: kinds of lines to print before the jobs.
    pub debug: Vec<String>,
    /// Whether to print the plan and stop.
    pub dry_run: bool,
    /// `--status-interval`: milliseconds between results so far.
    pub status_interval_ms: Option<u64>,
    /// `--bandwidth-log`: whether the bandwidth of all jobs together is logged.
    pub logs_total: bool,
    /// `--inflate-log`: log to print, and stop.
    pub printed_log: Option<String>,
    /// Whether to parse everything and stop.
    pub parse_only: bool,
    /// Whether writing is forbidden.
    pub read_only: bool,
    /// Whether to print the jobs as one command line and stop.
    pub show_command: bool,
    /// Notes for the user about options of the program.
    pub notes: Vec<String>,
    /// Whether to print the version and stop.
    pub version: bool,
    /// Source texts by name, for error messages with locations.
    pub texts: Vec<(String, String)>,
}

/// Whether and where the run is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreOptions {
    /// Whether the run is not stored.
    pub no_store: bool,
    /// Folder of stored runs; `None` = the user's default.
    pub store: Option<String>,
    /// Label of the condition.
    pub label: Option<String>,
}

/// Output formats and destination of the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioOutput {
    /// Formats in the order in which they are printed.
    pub formats: Vec<FioFormat>,
    /// Output file; `None` = standard output.
    pub file: Option<String>,
    /// Version of the terse format: 3, 4 or 5.
    pub terse_version: u32,
}

/// Output format of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FioFormat {
    /// Human-readable text.
    Normal,
    /// Single JSON document.
    Json,
    /// JSON with every latency that occurred.
    JsonPlus,
    /// Line per job, fields separated by semicolons.
    Terse,
}

impl Default for FioOutput {
    fn default() -> Self {
        Self { formats: vec![FioFormat::Normal], file: None, terse_version: 3 }
    }
}

impl FioRequest {
    /// Returns the jobs as one command line; every option is repeated for each job.
    pub fn to_command_line(&self) -> String {
        let mut line = String::from("fio");
        for section in &self.sections {
            let _ = write!(line, " --name={}", quote_for_shell(&section.name));
            let settings = section.globals.iter().chain(&section.own);
            for setting in settings.filter(|setting| setting.name != option::NAME) {
                let _ = write!(line, " --{}", setting.name);
                if let Some(value) = &setting.value {
                    let _ = write!(line, "={}", quote_for_shell(value));
                }
            }
        }
        line
    }
}

/// Quotes a word for the shell.
fn quote_for_shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,%+=@".contains(c);
    match word.chars().all(plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
