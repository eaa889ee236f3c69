//! The suites that come with assay, and those in files.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::suite::{self, Suite, SuiteError};

use assay_run::failure::{Failure, Kind};

/// What `assay help suites` shows as an example.
pub(crate) const EXAMPLE: &str = include_str!("../../../suites/example.toml");

/// Name and text of every built-in suite, in the order of `assay help suites`.
pub(crate) const BUILT_IN: [(&str, &str); 12] = [
    ("quick", include_str!("../../../suites/quick.toml")),
    ("all", include_str!("../../../suites/all.toml")),
    ("memory", include_str!("../../../suites/memory.toml")),
    ("compute", include_str!("../../../suites/compute.toml")),
    ("network", include_str!("../../../suites/network.toml")),
    ("storage-local", include_str!("../../../suites/storage-local.toml")),
    ("storage-volume", include_str!("../../../suites/storage-volume.toml")),
    ("storage-files", include_str!("../../../suites/storage-files.toml")),
    ("mpi", include_str!("../../../suites/mpi.toml")),
    ("rdma", include_str!("../../../suites/rdma.toml")),
    ("hpc-node", include_str!("../../../suites/hpc-node.toml")),
    ("accelerated-networking", include_str!("../../../suites/accelerated-networking.toml")),
];

/// Pages by the names people know them by, and the suites that measure their rows.
pub(crate) const PAGES: [(&str, &str); 3] =
    [("hb", "hpc-node"), ("hc", "hpc-node"), ("anf", "storage-volume")];

/// Whether a name means a suite that comes with assay.
pub(crate) fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().chain(&PAGES).any(|(known, _)| *known == name)
}

/// Several suites as one.
pub(crate) fn open_all(names: &[String]) -> Result<Suite, Failure> {
    read_all(names, &BTreeMap::new())
}

/// The same where the texts of some of them are known.
pub(crate) fn read_all(
    names: &[String],
    texts: &BTreeMap<String, String>,
) -> Result<Suite, Failure> {
    let one = |name: &String| match texts.get(name) {
        Some(text) => read(name, text),
        None => open(name),
    };
    let suites = names.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    match <[Suite; 1]>::try_from(suites) {
        Ok([only]) => Ok(only),
        Err(several) => Ok(Suite::joined(&several)),
    }
}

/// The texts of those that are files, by their names.
pub(crate) fn texts(names: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let files = names.iter().filter(|name| !is_built_in(name));
    files.map(|name| Ok((name.clone(), text(name)?))).collect()
}

/// Reads a suite by name or from a file; of a page's name it bears that name.
///
/// A name wins over a file without an ending, so that a folder called `quick` changes nothing.
pub(crate) fn open(name: &str) -> Result<Suite, Failure> {
    if let Some((page, of_page)) = PAGES.iter().find(|(page, _)| *page == name) {
        return open(of_page).map(|suite| Suite { name: (*page).to_owned(), ..suite });
    }
    match BUILT_IN.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => read(name, text),
        None => read(name, &text(name)?),
    }
}

fn read(name: &str, text: &str) -> Result<Suite, Failure> {
    suite::read(text).map_err(|error| invalid(name, text, error))
}

fn text(name: &str) -> Result<String, Failure> {
    let path = Path::new(name);
    if !path.exists() {
        return Err(unknown(name));
    }
    fs_err::read_to_string(path).map_err(|error| {
        Failure::new(Kind::Suite, format!("the suite file {name} cannot be read"))
            .because(&error)
    })
}

fn unknown(name: &str) -> Failure {
    let known: Vec<&str> = BUILT_IN.iter().chain(&PAGES).map(|(known, _)| *known).collect();
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
