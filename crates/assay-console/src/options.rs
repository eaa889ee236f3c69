//! Options that commands of every kind take: where runs are stored, and whether.

#![expect(clippy::doc_markdown, reason = "the comments are help texts, printed as they are")]

use std::path::PathBuf;

use assay_model::path_text;
use assay_model::quantity::{self, Quantity, Unit};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

/// Where runs are stored.
#[derive(Debug, Args)]
pub struct StoreArguments {
    /// Folder of the stored runs [default: $XDG_DATA_HOME/assay or ~/.local/share/assay]
    #[arg(long = "store", value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Whether and where a command that speaks a tool's language keeps what it measured.
#[derive(Debug, Args)]
pub struct KeepArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// Do not store the run
    #[arg(long, conflicts_with = "folder")]
    pub no_store: bool,
    /// Label of the condition, for `assay compare`
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
}

/// A length of time with its unit.
///
/// # Errors
/// A sentence for whoever typed it.
pub fn seconds(text: &str) -> Result<f64, String> {
    let quantity = Quantity::parse(text, Unit::Second).map_err(|error| error.to_string())?;
    // First, so that nobody is told to write what would be refused again.
    if quantity.value <= 0.0 || quantity.value > quantity::LONGEST_S {
        return Err("it must be more than zero and at most a year".into());
    }
    // A bare number would be ambiguous between seconds and minutes for a reader of a script.
    if text.trim().ends_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("`{text}` has no unit; write it like `{text}s`"));
    }
    Ok(quantity.value)
}

/// A time of which nobody means seconds: of one I/O, of a round trip.
///
/// # Errors
/// A sentence for whoever typed it.
pub fn milliseconds(text: &str) -> Result<f64, String> {
    let unit = |reason: String| reason.replace(&format!("`{text}s`"), &format!("`{text}ms`"));
    seconds(text).map_err(unit)
}

/// A host where the port is `option`, or nothing that anybody chooses. IPv6 addresses have more than one colon, and stand in
/// brackets before a port.
///
/// # Errors
/// A sentence for whoever typed it.
pub fn host(text: &str, option: Option<&str>) -> Result<String, String> {
    let parts = text.rsplit_once(':').filter(|(name, port)| {
        let is_whole = !name.contains(':') || (name.starts_with('[') && name.ends_with(']'));
        is_whole && port.parse::<u64>().is_ok()
    });
    let address = assay_model::host_names::wrong_address(text);
    match (parts, option) {
        (Some((name, port)), Some(option)) => {
            let port = port.parse::<u16>().map_or("PORT".to_owned(), |port| port.to_string());
            Err(format!("the port is an option of its own: `{name} {option} {port}`"))
        }
        (Some(_), None) => Err(NO_PORT.to_owned()),
        (None, _) if text.is_empty() => Err("a name or an address is wanted".to_owned()),
        (None, _) => address.map_or_else(|| Ok(text.to_owned()), Err),
    }
}

/// What takes no port has a suite that says it.
const NO_PORT: &str =
    "a host is wanted, without a port; a suite of your own may say `port = 5300`";

/// A word that may name a file, or have a name in it, whose bytes may be no text: as [`path_text`] makes one.
pub fn word() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|word| path_text::text(&word))
}

/// Everything behind the name of the program, as it was typed: what repeats a run.
pub fn typed_words() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| path_text::text(&word)).collect()
}

/// The words after the command, as they were given, for a run that can be rendered again.
pub fn given_words() -> Vec<String> {
    std::env::args_os().skip(2).map(|word| path_text::text(&word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_no_part_of_a_host() {
        let both = "the port is an option of its own: `";
        for (text, option, expected) in [
            ("far", Some("-p"), Ok("far")),
            ("::1", Some("-p"), Ok("::1")),
            ("[::1]", Some("-p"), Ok("[::1]")),
            ("10.0.0.1", Some("-p"), Ok("10.0.0.1")),
            ("far:5201", Some("-p"), Err(format!("{both}far -p 5201`"))),
            ("far:99999", Some("-p"), Err(format!("{both}far -p PORT`"))),
            ("[::1]:5999", Some("-p"), Err(format!("{both}[::1] -p 5999`"))),
            ("far:80", None, Err(NO_PORT.to_owned())),
            ("", None, Err("a name or an address is wanted".to_owned())),
        ] {
            assert_eq!(host(text, option), expected.map(str::to_owned), "{text}");
        }
        assert!(host("999.1", None).is_err() && host("10.0.0.256", Some("-p")).is_err());
    }
}
