//! Options shared by commands: the folder of the store, whether a run is stored, and other hosts.

#![expect(clippy::doc_markdown, reason = "the comments are help texts, printed as they are")]

use std::path::PathBuf;

use assay_model::path_text;
use assay_model::quantity::{self, Quantity, Unit};
use assay_model::sanitize;
use clap::Args;
use clap::builder::{ArgPredicate, OsStringValueParser, TypedValueParser};

/// Location of the stored runs.
#[derive(Debug, Clone, Args)]
pub struct StoreArguments {
    /// Folder of the stored runs [default: $XDG_DATA_HOME/assay or ~/.local/share/assay]
    #[arg(long = "store", value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Options about storing the run, for commands with another tool's options.
#[derive(Debug, Args)]
pub struct RecordArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// Do not store the run
    #[arg(long, conflicts_with = "folder")]
    pub no_store: bool,
    /// Label of the condition, for `assay compare`
    #[arg(long, value_name = "NAME", value_parser = parse_label)]
    pub label: Option<String>,
}

/// Transport to nodes allocated by Slurm: an additional step of the job.
const SLURM_VIA: &str = "srun --jobid={job} --overlap -N1 -n1 -w {host}";

/// Hosts and the transport to them.
#[derive(Debug, Args)]
pub struct HostsArguments {
    /// Hosts: a list like vm1,vm[2-24], a fleet file (.toml), a file of lists (with a / in its name or an @ before it), or slurm
    #[arg(long, value_name = "LIST", group = "several", help_heading = "Hosts", value_parser = word_parser())]
    pub hosts: Option<String>,
    /// Allocate nodes from Slurm with options of salloc, like 'partition=hpc,nodes=24', and release
    /// them at the end
    #[arg(long, value_name = "OPTIONS", group = "several", help_heading = "Hosts")]
    pub slurm: Option<String>,
    /// Command that opens a pipe to a process on a host, like 'kubectl exec -i {host} --'; {job} is
    /// the job of --slurm
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "ssh -o BatchMode=yes {host}",
        default_value_if("slurm", ArgPredicate::IsPresent, SLURM_VIA),
        requires = "several",
        help_heading = "Hosts"
    )]
    pub via: String,
    /// Executable of this version of assay for hosts of another architecture or with an older C
    /// library, or a folder of such executables; repeatable
    #[arg(long, value_name = "FILE", requires = "several", help_heading = "Hosts")]
    pub binary: Vec<PathBuf>,
    /// Maximum time that a host may take to answer
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        value_parser = parse_seconds,
        requires = "several",
        help_heading = "Hosts"
    )]
    pub host_deadline: f64,
}

impl HostsArguments {
    /// Whether other hosts are requested.
    pub const fn has_hosts(&self) -> bool {
        self.hosts.is_some() || self.slurm.is_some()
    }
}

/// Parses a duration with a unit.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let quantity = Quantity::parse(text, Unit::Second).map_err(|error| error.to_string())?;
    // Checked before the unit: adding a unit would not make such a value valid.
    if quantity.value <= 0.0 || quantity.value > quantity::MAX_DURATION_S {
        return Err("expected a time above zero, at most a year".into());
    }
    // A reader of a script could take a bare number for seconds or minutes.
    if text.trim().ends_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("`{text}` has no unit; write it like `{text}s`"));
    }
    Ok(quantity.value)
}

/// Parses a short duration, such as that of one I/O or of a round trip. Errors suggest
/// milliseconds.
pub fn parse_milliseconds(text: &str) -> Result<f64, String> {
    let suggest_milliseconds =
        |reason: String| reason.replace(&format!("`{text}s`"), &format!("`{text}ms`"));
    parse_seconds(text).map_err(suggest_milliseconds)
}

/// Parses a host whose port cannot be chosen.
pub fn parse_plain_host(text: &str) -> Result<String, String> {
    parse_host(text, None)
}

/// Parses a host name or address without a port. `option` names the option for the port, if there
/// is one.
///
/// An IPv6 address has several colons and needs brackets before a port.
pub fn parse_host(text: &str, option: Option<&str>) -> Result<String, String> {
    let name_and_port = text.rsplit_once(':').filter(|(name, port)| {
        let is_whole = !name.contains(':') || (name.starts_with('[') && name.ends_with(']'));
        is_whole && port.parse::<u64>().is_ok()
    });
    let address_error = assay_model::host_names::address_error(text);
    match (name_and_port, option) {
        (Some((name, port)), Some(option)) => {
            let port = port.parse::<u16>().map_or("PORT".to_owned(), |port| port.to_string());
            Err(format!("give the port as an option: `{name} {option} {port}`"))
        }
        (Some(_), None) => Err(NO_PORT_ERROR.to_owned()),
        (None, _) if text.is_empty() => Err("expected a host name or an address".to_owned()),
        (None, _) => address_error.map_or_else(|| Ok(text.to_owned()), Err),
    }
}

/// Error for a host with a port where only a suite can set the port.
const NO_PORT_ERROR: &str =
    "expected a host without a port; set the port in a suite: `port = 5300`";

/// Returns a parser for words that may contain file names. Bytes that are not UTF-8 are encoded as
/// in [`path_text`].
pub fn word_parser() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|word| path_text::encode(&word))
}

/// Returns all arguments after the program's name, as typed. They repeat the run.
pub fn program_arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| path_text::encode(&word)).collect()
}

/// Returns the arguments after the command, as typed. Rendering a stored run parses them again.
pub fn command_arguments() -> Vec<String> {
    std::env::args_os().skip(2).map(|word| path_text::encode(&word)).collect()
}

/// Parses a label: short text without control characters, fit for tables and comma-separated lists.
///
/// # Errors
/// A text that could not name the runs again.
pub fn parse_label(text: &str) -> Result<String, String> {
    const LONGEST: usize = 40;
    if text == "latest" || text.starts_with("latest~") || is_run_id(text) {
        return Err(format!("`{text}` is reserved for runs and cannot be a label"));
    }
    let is_hidden = |it: char| it.is_control() || sanitize::is_hidden(it);
    let is_plain = !text.trim().is_empty() && !text.contains(is_hidden);
    if is_plain && text.chars().count() <= LONGEST {
        Ok(text.trim().to_owned())
    } else {
        Err(format!("expected a name of 1 to {LONGEST} characters"))
    }
}

/// Whether a text has the form of an identifier of a run: `20261129-142012-5b1f`.
fn is_run_id(text: &str) -> bool {
    let is_of = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|it| it.is_ascii_hexdigit())
    };
    matches!(text.split('-').collect::<Vec<_>>()[..],
        [day, time, number] if is_of(day, 8) && is_of(time, 6) && is_of(number, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_no_names_of_runs() {
        for text in ["latest", "latest~1", "20261129-142012-5b1f"] {
            assert!(parse_label(text).unwrap_err().contains("reserved"), "{text}");
        }
        for text in ["later", "20261129-142012", "a,b", "2026-11-29"] {
            assert_eq!(parse_label(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn rejects_host_with_port() {
        let prefix = "give the port as an option: `";
        for (text, option, expected) in [
            ("far", Some("-p"), Ok("far")),
            ("::1", Some("-p"), Ok("::1")),
            ("[::1]", Some("-p"), Ok("[::1]")),
            ("10.0.0.1", Some("-p"), Ok("10.0.0.1")),
            ("far:5201", Some("-p"), Err(format!("{prefix}far -p 5201`"))),
            ("far:99999", Some("-p"), Err(format!("{prefix}far -p PORT`"))),
            ("[::1]:5999", Some("-p"), Err(format!("{prefix}[::1] -p 5999`"))),
            ("far:80", None, Err(NO_PORT_ERROR.to_owned())),
            ("", None, Err("expected a host name or an address".to_owned())),
        ] {
            assert_eq!(parse_host(text, option), expected.map(str::to_owned), "{text}");
        }
        assert!(
            parse_host("999.1", None).is_err() && parse_host("10.0.0.256", Some("-p")).is_err()
        );
    }
}
