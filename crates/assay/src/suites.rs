//! The suites that come with assay, and those in files.

use std::borrow::Cow;
use std::path::Path;

use assay_model::suite::{self, Suite, SuiteError};

use assay_run::failure::{Failure, Kind};

/// What `assay help suites` shows as an example.
pub(crate) const EXAMPLE: &str = include_str!("../../../suites/example.toml");

/// Name and text of every built-in suite, in the order of `assay help suites`.
pub(crate) const BUILT_IN: [(&str, &str); 8] = [
    ("quick", include_str!("../../../suites/quick.toml")),
    ("memory", include_str!("../../../suites/memory.toml")),
    ("compute", include_str!("../../../suites/compute.toml")),
    ("network", include_str!("../../../suites/network.toml")),
    ("storage-local", include_str!("../../../suites/storage-local.toml")),
    ("storage-volume", include_str!("../../../suites/storage-volume.toml")),
    ("storage-files", include_str!("../../../suites/storage-files.toml")),
    ("mpi", include_str!("../../../suites/mpi.toml")),
];

/// Reads a suite by name or from a file.
///
/// A name wins over a file without an ending, so that a folder called `quick` changes nothing.
pub(crate) fn open(name: &str) -> Result<Suite, Failure> {
    let text = text(name)?;
    read(name, &text)
}

pub(crate) fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|(known, _)| *known == name)
}

/// Reads the text of a suite of this name.
pub(crate) fn read(name: &str, text: &str) -> Result<Suite, Failure> {
    suite::read(text).map_err(|error| invalid(name, text, error))
}

/// The text of a suite by name or from a file.
pub(crate) fn text(name: &str) -> Result<Cow<'static, str>, Failure> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Ok(Cow::Borrowed(text));
    }
    let path = Path::new(name);
    if !path.exists() {
        return Err(unknown(name));
    }
    fs_err::read_to_string(path).map(Cow::Owned).map_err(|error| {
        Failure::new(Kind::Suite, format!("the suite file {name} cannot be read"))
            .because(&error)
    })
}

fn unknown(name: &str) -> Failure {
    let known = BUILT_IN.map(|(known, _)| known);
    Failure::usage(format!("there is no suite `{name}`"))
        .advise(suite::did_you_mean(name, &known))
        .advise("a suite file is named by its path, like ./mine.toml; `assay help suites` shows how to write one")
}

fn invalid(name: &str, text: &str, error: SuiteError) -> Failure {
    let failure = Failure::new(Kind::Suite, format!("suite {name}: {}", error.message));
    let failure = failure.at(name, text, error.span);
    match error.help {
        Some(help) => failure.advise(help),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_suite_reads_and_bears_its_name() {
        for (name, _) in BUILT_IN {
            let suite = open(name).unwrap_or_else(|failure| panic!("{}", failure));
            assert_eq!(suite.name, name);
        }
    }
}
