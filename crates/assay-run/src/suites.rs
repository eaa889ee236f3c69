//! Built-in suites and suites in files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::Path;

use assay_dialects::io500::config;
use assay_model::benchmark::Benchmark;
use assay_model::factor::FactorLevels;
use assay_model::suite::factorial::FactorialSuite;
use assay_model::suite::{self, Suite, SuiteError};

use crate::failure::{CommandFailure, FailureKind};

/// Example that `assay help suites` prints.
pub const EXAMPLE_SUITE: &str = include_str!("../../../suites/example.toml");

/// Name and text of every built-in suite, in the order of `assay help suites`.
pub const BUILT_IN: [(&str, &str); 15] = [
    ("quick", include_str!("../../../suites/quick.toml")),
    ("all", include_str!("../../../suites/all.toml")),
    ("loaded-latency", include_str!("../../../suites/loaded-latency.toml")),
    ("core-to-core", include_str!("../../../suites/core-to-core.toml")),
    ("memory", include_str!("../../../suites/memory.toml")),
    ("compute", include_str!("../../../suites/compute.toml")),
    ("network", include_str!("../../../suites/network.toml")),
    ("storage-local", include_str!("../../../suites/storage-local.toml")),
    ("storage-volume", include_str!("../../../suites/storage-volume.toml")),
    ("storage-files", include_str!("../../../suites/storage-files.toml")),
    ("io500", include_str!("../../../suites/io500.toml")),
    ("mpi", include_str!("../../../suites/mpi.toml")),
    ("rdma", include_str!("../../../suites/rdma.toml")),
    ("hpc-node", include_str!("../../../suites/hpc-node.toml")),
    ("accelerated-networking", include_str!("../../../suites/accelerated-networking.toml")),
];

/// Names of published result pages, each with the suite that measures the same figures.
pub const PAGE_SUITES: [(&str, &str); 3] =
    [("hb", "hpc-node"), ("hc", "hpc-node"), ("anf", "storage-volume")];

/// Whether the name refers to a built-in suite.
pub fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().chain(&PAGE_SUITES).any(|(built_in, _)| *built_in == name)
}

/// Whether every word names built-in suites, several separated by commas.
pub fn are_built_in(words: &[OsString]) -> bool {
    words.iter().all(|word| word.to_string_lossy().split(',').all(is_built_in))
}

/// Splits words such as `memory,compute` into the names of suites. A word that names a file, on this
/// machine or in `texts`, is one name.
///
/// # Errors
/// A word with an empty name.
pub fn split_names(
    words: &[OsString],
    texts: &BTreeMap<String, String>,
) -> Result<Vec<OsString>, CommandFailure> {
    let is_one = |word: &str| {
        !word.contains(',') || texts.contains_key(word) || Path::new(word).exists()
    };
    let mut names = Vec::new();
    for word in words {
        match word.to_str().filter(|it| !is_one(it)) {
            None => names.push(word.clone()),
            Some(list) if list.split(',').any(str::is_empty) => {
                let what = format!("the name of a suite is missing in `{list}`");
                return Err(CommandFailure::usage(what)
                    .advise("separate names by one comma: `assay run memory,compute`"));
            }
            Some(list) => names.extend(list.split(',').map(OsString::from)),
        }
    }
    Ok(names)
}

/// Opens suites and joins them to one.
///
/// # Errors
/// An unknown name, or a file that cannot be read or is no valid suite.
pub fn open_joined(names: &[OsString]) -> Result<Suite, CommandFailure> {
    read_joined(names, &BTreeMap::new())
}

/// Opens a suite with factors: its own, and those given on the command line. `texts` has the contents
/// of the files already read, by name. Returns `None` without any factor.
///
/// # Errors
/// An unknown name, or a file that cannot be read or is no valid suite.
pub fn open_factorial(
    names: &[OsString],
    given: &[FactorLevels],
    texts: &BTreeMap<String, String>,
) -> Result<Option<OpenedFactors>, CommandFailure> {
    let [file] = names else {
        if given.is_empty() {
            return Ok(None);
        }
        return Err(CommandFailure::usage("--factor varies a single suite")
            .advise("measure one suite after the other, or write one file"));
    };
    let name = file.to_string_lossy().into_owned();
    let text = match texts.get(&name) {
        Some(text) => text.clone(),
        None => named_text(file)?.1.into_owned(),
    };
    let parsed = suite::parse_factorial_suite(&text, given)
        .map_err(|error| invalid_suite(&name, &text, error))?;
    Ok(parsed.map(|mut suite| {
        for case in &mut suite.combinations {
            name_origins(&mut case.suite, &name);
        }
        OpenedFactors { suite, file: name }
    }))
}

/// Suite with factors, and the name under which it was opened.
#[derive(Debug)]
pub struct OpenedFactors {
    /// The suite with all combinations of levels.
    pub suite: FactorialSuite,
    /// Name, as the user gave it.
    pub file: String,
}

/// Returns the name of the suite and its text, by its name, a page's name or from a file.
fn named_text(file: &OsStr) -> Result<(Cow<'_, str>, Cow<'static, str>), CommandFailure> {
    let name = file.to_string_lossy();
    let page = PAGE_SUITES.iter().find(|(page, _)| *page == name);
    let name = page.map_or(name, |(_, suite_of_page)| Cow::Borrowed(*suite_of_page));
    let text = match BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
        Some((_, text)) => Cow::Borrowed(*text),
        None => Cow::Owned(read_file(file)?),
    };
    Ok((name, text))
}

/// Opens suites and joins them to one; `texts` has the contents of the files already read, by name.
///
/// # Errors
/// An unknown name, or a file that cannot be read or is no valid suite.
pub fn read_joined(
    names: &[OsString],
    texts: &BTreeMap<String, String>,
) -> Result<Suite, CommandFailure> {
    let open_one = |file: &OsString| {
        let name = file.to_string_lossy();
        match texts.get(name.as_ref()) {
            Some(text) => parse_suite(&name, text),
            None => find_suite(file),
        }
    };
    let suites = names.iter().map(open_one).collect::<Result<Vec<_>, _>>()?;
    match <[Suite; 1]>::try_from(suites) {
        Ok([only]) => Ok(only),
        Err(several) => Ok(Suite::merge(&several)),
    }
}

/// Reads the texts of the suites that are files, by their names as displayed.
///
/// # Errors
/// An unknown name, or a file that cannot be read or is no valid suite.
pub fn read_texts(names: &[OsString]) -> Result<BTreeMap<String, String>, CommandFailure> {
    let files = names.iter().map(|file| (file, file.to_string_lossy().into_owned()));
    let files = files.filter(|(_, name)| !is_built_in(name));
    files.map(|(file, name)| Ok((name, read_file(file)?))).collect()
}

/// Opens a suite by name or from a file. A suite opened by a page's name gets that name.
///
/// A built-in name takes precedence over a file or folder of the same name.
///
/// # Errors
/// An unknown name, or a file that cannot be read or is no valid suite.
pub fn find_suite(file: &OsStr) -> Result<Suite, CommandFailure> {
    let (name, text) = named_text(file)?;
    let mut suite = parse_suite(&name, &text)?;
    let asked = file.to_string_lossy();
    if asked != name {
        suite.name = asked.into_owned();
    }
    Ok(suite)
}

fn parse_suite(name: &str, text: &str) -> Result<Suite, CommandFailure> {
    // Its lines are not those of the file.
    let shown =
        if is_io500_config(name) { format!("{name} as a suite") } else { name.to_owned() };
    let name = shown.as_str();
    let mut suite =
        suite::parse_suite(text).map_err(|error| invalid_suite(name, text, error))?;
    name_origins(&mut suite, name);
    Ok(suite)
}

fn name_origins(suite: &mut Suite, name: &str) {
    for origin in suite.measures.iter_mut().filter_map(|it| it.origin.as_mut()) {
        name.clone_into(&mut origin.file);
    }
}

fn read_file(file: &OsStr) -> Result<String, CommandFailure> {
    let path = Path::new(file);
    // An error does not mean absence: the folder may be inaccessible.
    if path.try_exists().is_ok_and(|is_there| !is_there) {
        return Err(unknown_suite(&file.to_string_lossy()));
    }
    let read = std::fs::read_to_string(path);
    let name = file.to_string_lossy();
    if let Some(text) = read.as_ref().ok().filter(|_| is_io500_config(&name)) {
        return convert_io500_config(&name, text);
    }
    read.map_err(|error| {
        let what = format!("cannot read the suite file {}", path.display());
        let failure = CommandFailure::new(FailureKind::Suite, what).with_cause(&error);
        match error.kind() {
            ErrorKind::PermissionDenied => failure.advise("make it readable: `chmod +r`"),
            ErrorKind::IsADirectory => failure.advise("name a file in that folder"),
            ErrorKind::InvalidData => failure.advise("convert the file to UTF-8"),
            _ => failure,
        }
    })
}

/// Whether a file is a configuration of the program IO500.
fn is_io500_config(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|it| it.eq_ignore_ascii_case("ini"))
}

/// Converts a configuration of the program IO500 to a suite.
fn convert_io500_config(name: &str, text: &str) -> Result<String, CommandFailure> {
    config::to_suite(text).map_err(|error| {
        CommandFailure::new(FailureKind::Suite, format!("{name}: {error}"))
            .at_span(name, text, error.span)
            .advise(error.hint)
    })
}

/// Returns the failure for a name that is neither a suite nor a file.
pub fn no_suite(name: &str) -> CommandFailure {
    CommandFailure::usage(format!("there is no suite `{name}`"))
}

fn unknown_suite(name: &str) -> CommandFailure {
    let failure = no_suite(name);
    if let Some(advice) = advise_other_command(name) {
        return failure.advise(advice);
    }
    let is_path = name.contains('/') || Path::new(name).extension().is_some();
    if is_path {
        return failure
            .with_reason("the file does not exist")
            .advise("check the name and the folder");
    }
    let names: Vec<&str> = BUILT_IN.iter().chain(&PAGE_SUITES).map(|(name, _)| *name).collect();
    failure
        .advise(suite::suggest(name, &names))
        .advise("name a suite file by its path, like ./mine.toml; `assay help suites` prints an example")
}

/// Returns the command that measures what a name, which is no suite, denotes: a benchmark or a topic.
fn advise_other_command(name: &str) -> Option<String> {
    if name == "suites" {
        return Some("`assay help suites` lists the suites".to_owned());
    }
    if ["gpu", "cuda", "rocm", "nccl"].contains(&name) {
        return Some(
            "assay measures no GPUs itself: `assay import FILE` reads results of nccl-tests, and \
             `assay exec` measures any program"
                .to_owned(),
        );
    }
    let suite = match name {
        "cpu" | "cpus" | "flops" => Some("compute"),
        "ram" | "bandwidth" | "latency" => Some("memory"),
        "disk" | "ssd" | "nvme" | "io" => Some("storage-local --target DIR"),
        _ => None,
    };
    if let Some(suite) = suite {
        return Some(format!("did you mean `assay run {suite}`?"));
    }
    let benchmark = Benchmark::from_id(name)?;
    let measures =
        |suite: &Suite| suite.measures.iter().any(|it| it.request.benchmark() == benchmark);
    let suite = BUILT_IN.iter().find(|(_, text)| {
        suite::parse_suite(text).is_ok_and(|suite| suite.name != "all" && measures(&suite))
    });
    let command = match (benchmark, suite) {
        (Benchmark::MemoryStream, _) => "`assay stream`".to_owned(),
        (Benchmark::Linpack, _) => "`assay linpack`".to_owned(),
        (_, Some((suite, _))) => format!("`assay run {suite}` measures it"),
        (_, None) => "`assay help methods` describes it".to_owned(),
    };
    Some(format!("it is a benchmark: {command}"))
}

fn invalid_suite(name: &str, text: &str, error: SuiteError) -> CommandFailure {
    let failure =
        CommandFailure::new(FailureKind::Suite, format!("suite {name}: {}", error.message));
    // An empty file has no location to show, nor has a factor of the command line.
    let has_place = error.span != (0..0);
    let failure = if has_place { failure.at_span(name, text, error.span) } else { failure };
    match error.help {
        Some(help) => failure.advise(help),
        None if error.message.starts_with("not TOML") => {
            failure.advise("see `assay help suites` for an example")
        }
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that is no suite leads to the command that the user needs.
    #[test]
    fn unknown_suites_name_the_right_command() {
        for (name, expected) in [
            ("memory.stream", "it is a benchmark: `assay stream`"),
            ("memory.latency", "it is a benchmark: `assay run quick` measures it"),
            ("memory.core_to_core", "`assay run core-to-core` measures it"),
            ("mpi.latency", "`assay run mpi` measures it"),
            ("gpu", "assay measures no GPUs itself"),
            ("suites", "`assay help suites` lists the suites"),
            ("cpu", "did you mean `assay run compute`?"),
            ("disk", "did you mean `assay run storage-local --target DIR`?"),
            ("quik", "quick"),
            ("missing.toml", "check the name and the folder"),
        ] {
            let advice = unknown_suite(name).advice();
            assert!(advice.contains(expected), "{name}: {advice}");
        }
    }

    #[test]
    fn built_in_suites_parse_with_their_names() {
        for (name, _) in BUILT_IN {
            let suite =
                find_suite(name.as_ref()).unwrap_or_else(|failure| panic!("{}", failure));
            assert_eq!(suite.name, name);
        }
    }
}
