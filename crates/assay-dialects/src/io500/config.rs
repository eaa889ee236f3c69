//! Configuration of the program IO500 (`config.ini`) as a suite: keys that change the measurement
//! become keys of the suite, and values that assay cannot follow are refused. Reads no file.

use std::fmt::Write as _;
use std::ops::Range;

use assay_model::suite;
use thiserror::Error;

use crate::ior::units;

/// Key of the file with its treatment.
struct ConfigKey {
    /// Sections separated by spaces.
    sections: &'static str,
    name: &'static str,
    rule: KeyRule,
}

/// Treatment of a key.
enum KeyRule {
    /// Becomes this key of the suite, in this form.
    Sets(&'static str, ValueForm),
    /// Only these values are possible, for this reason.
    Only(&'static [&'static str], &'static str),
    /// Changes nothing that is measured.
    NoEffect,
}

/// Form of a value.
#[derive(Clone, Copy)]
enum ValueForm {
    Number,
    Size,
    Seconds,
    Text,
}

const PHASES: &str = "ior-easy ior-easy-write ior-easy-read ior-hard ior-hard-write ior-hard-read mdtest-easy \
                      mdtest-easy-write mdtest-easy-stat mdtest-easy-delete mdtest-hard mdtest-hard-write \
                      mdtest-hard-stat mdtest-hard-read mdtest-hard-delete find timestamp";
/// Phases that the standard set never runs.
const EXTENDED: &str = "find-easy find-hard mdworkbench mdworkbench-create mdworkbench-bench mdworkbench-delete \
                        ior-rnd4K-easy-read";

const YES: &[&str] = &["TRUE", "1"];
const NO: &[&str] = &["FALSE", "0"];
const NOTHING: &[&str] = &[];

const KEYS: &[ConfigKey] = &[
    key("global", "datadir", KeyRule::Sets("path", ValueForm::Text)),
    key("global", "api", KeyRule::Only(&["POSIX"], "only POSIX is supported")),
    key("global", "drop-caches", KeyRule::Only(NO, "caches are not dropped between phases")),
    key(
        "global",
        "io-buffers-on-gpu",
        KeyRule::Only(NO, "memory of graphics cards is not used"),
    ),
    key(
        "global",
        "scc",
        KeyRule::Only(NO, "the rules of the student competition are not checked"),
    ),
    key("global", "timestamp-datadir", KeyRule::NoEffect),
    key("global", "resultdir", KeyRule::NoEffect),
    key("global", "timestamp-resultdir", KeyRule::NoEffect),
    key("global", "drop-caches-cmd", KeyRule::NoEffect),
    key("global", "verbosity", KeyRule::NoEffect),
    key("global", "dataPacketType", KeyRule::NoEffect),
    key("debug", "stonewall-time", KeyRule::Sets("stonewall", ValueForm::Seconds)),
    key(
        "debug",
        "pause-dir",
        KeyRule::Only(NOTHING, "phases follow each other without a pause"),
    ),
    key(
        "ior-easy",
        "transferSize",
        KeyRule::Only(&["2m", "2097152"], "IO500 transfers 2 MiB at a time"),
    ),
    key("ior-easy", "blockSize", KeyRule::Sets("ior-easy-size", ValueForm::Size)),
    key("ior-easy", "filePerProc", KeyRule::Only(YES, "each task writes a file of its own")),
    key("ior-easy", "uniqueDir", KeyRule::Only(NO, "all files are in one folder")),
    key("ior-hard", "segmentCount", KeyRule::Sets("ior-hard-segments", ValueForm::Number)),
    key(
        "ior-hard ior-hard-write ior-hard-read",
        "collective",
        KeyRule::Only(NO, "collective I/O is one of MPI-IO"),
    ),
    key("mdtest-easy", "n", KeyRule::Sets("mdtest-easy-files", ValueForm::Number)),
    key("mdtest-hard", "n", KeyRule::Sets("mdtest-hard-files", ValueForm::Number)),
    key(
        "mdtest-hard",
        "files-per-dir",
        KeyRule::Only(NOTHING, "all files are in one directory"),
    ),
    key("find", "external-script", KeyRule::Only(NOTHING, "the find phase is assay's own")),
    key("find", "nproc", KeyRule::Only(NOTHING, "the find phase has as many threads as tasks")),
    key("find", "external-mpi-args", KeyRule::NoEffect),
    key("find", "external-extra-args", KeyRule::NoEffect),
    key("find", "pfind-queue-length", KeyRule::NoEffect),
    key("find", "pfind-steal-next", KeyRule::NoEffect),
    key("find", "pfind-parallelize-single-dir-access-using-hashing", KeyRule::NoEffect),
    key(PHASES, "API", KeyRule::Only(&["POSIX"], "only POSIX is supported")),
    key(PHASES, "run", KeyRule::Only(YES, "all phases of the standard set are run")),
    key("ior-easy ior-hard", "verbosity", KeyRule::NoEffect),
];

const fn key(sections: &'static str, name: &'static str, rule: KeyRule) -> ConfigKey {
    ConfigKey { sections, name, rule }
}

/// Error in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct Io500ConfigError {
    /// Description.
    pub what: String,
    /// Advice.
    pub hint: String,
    /// Range of the line in the text.
    pub span: Range<usize>,
}

/// Suite to which the settings are added.
const SUITE: &str = "name = \"io500\"\ntitle = \"IO500 with the values of its config.ini\"\n\
                     budget = \"40m\"\n\n[[measure]]\nbenchmark = \"io500\"\n";

/// Converts a configuration to the text of a suite.
///
/// # Errors
/// The first line that is malformed, names an unknown section or key, or has an impossible value.
pub fn to_suite(text: &str) -> Result<String, Io500ConfigError> {
    let mut suite = SUITE.to_owned();
    let mut settings: Vec<Setting> = Vec::new();
    let mut section = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = start..start + line.trim_end().len();
        start += line.len();
        let fail = |(what, hint): (String, String)| Io500ConfigError { what, hint, span };
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            section = Some(find_section(name.trim()).map_err(fail)?);
            continue;
        }
        if let Some(setting) = convert_line(line, section).map_err(fail)? {
            // The last value of a key counts.
            settings.retain(|earlier| earlier.0 != setting.0);
            settings.push(setting);
        }
    }
    for (key, value) in settings {
        let _ = writeln!(suite, "{key} = {value}");
    }
    Ok(suite)
}

/// A comment begins with `#` or `;`, as in IO500 also within a value.
fn without_comment(line: &str) -> &str {
    line.split(['#', ';']).next().unwrap_or_default()
}

/// Key of the suite with its value.
type Setting = (&'static str, String);
/// Description and advice.
type Refusal = (String, String);

fn find_section(name: &str) -> Result<&'static str, Refusal> {
    let mut all =
        ["global debug", PHASES, EXTENDED].into_iter().flat_map(str::split_whitespace);
    all.find(|known| known.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let hint = "IO500 has the sections [global], [debug] and one for each phase";
        (format!("IO500 has no section [{name}]"), hint.to_owned())
    })
}

/// Returns the setting of the suite for an assignment, if it has one.
fn convert_line(line: &str, section: Option<&'static str>) -> Result<Option<Setting>, Refusal> {
    let Some((name, value)) = line.split_once('=') else {
        return Err((
            "expected a section or an assignment".to_owned(),
            "write lines like [global] and datadir = /scratch".to_owned(),
        ));
    };
    let (name, value) = (name.trim(), value.trim());
    let Some(section) = section else {
        let hint = "write a section like [global] before it";
        return Err((format!("`{name}` is in no section"), hint.to_owned()));
    };
    // Without a value, a key has its default.
    if value.is_empty() || EXTENDED.split_whitespace().any(|it| it == section) {
        return Ok(None);
    }
    let is_meant = |it: &&ConfigKey| {
        it.name.eq_ignore_ascii_case(name)
            && it.sections.split_whitespace().any(|known| known == section)
    };
    let Some(key) = KEYS.iter().find(is_meant) else {
        let hint = "remove it; config-sample-all.ini of IO500 lists its keys";
        return Err((format!("[{section}] of IO500 has no key `{name}`"), hint.to_owned()));
    };
    match key.rule {
        KeyRule::NoEffect => Ok(None),
        KeyRule::Only(possible, why) => {
            match possible.iter().any(|it| it.eq_ignore_ascii_case(value)) {
                true => Ok(None),
                false => Err((
                    format!("{name} = {value} of [{section}] is not supported: {why}"),
                    match possible.first() {
                        Some(first) => {
                            format!("write {name} = {first}, or use the program IO500")
                        }
                        None => format!("remove {name}, or use the program IO500"),
                    },
                )),
            }
        }
        KeyRule::Sets(target, form) => match convert_value(value, form) {
            Some(value) => check_setting((target, value), form).map(Some),
            None => {
                let hint = form.example().to_owned();
                Err((format!("invalid value `{value}` for `{name}` of [{section}]"), hint))
            }
        },
    }
}

/// Checks a setting as the suite does, so that a refusal has the line of the configuration.
fn check_setting(setting: Setting, form: ValueForm) -> Result<Setting, Refusal> {
    match suite::parse_suite(&format!("{SUITE}{} = {}\n", setting.0, setting.1)) {
        Ok(_) => Ok(setting),
        Err(error) => {
            Err((error.message, error.help.unwrap_or_else(|| form.example().to_owned())))
        }
    }
}

impl ValueForm {
    const fn example(self) -> &'static str {
        match self {
            Self::Number => "write a whole number like 1000000",
            Self::Size => "write a size like 9920000m",
            Self::Seconds => "write whole seconds like 300",
            Self::Text => "write a folder like /scratch",
        }
    }
}

fn convert_value(value: &str, form: ValueForm) -> Option<String> {
    Some(match form {
        ValueForm::Number => value.parse::<u32>().ok()?.to_string(),
        ValueForm::Seconds => format!("\"{}s\"", value.parse::<u32>().ok()?),
        ValueForm::Size => {
            let bytes = units::parse_size(value)?;
            match bytes.is_multiple_of(1 << 20) {
                true => format!("\"{}MiB\"", bytes >> 20),
                false => format!("\"{bytes}B\""),
            }
        }
        ValueForm::Text if value.chars().any(char::is_control) => return None,
        ValueForm::Text => format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_those_of_a_suite() {
        let text = "# comment\n[GLOBAL] # more\ndatadir = ./data \"x\" ; old\napi=posix\ntimestamp-datadir = FALSE\n\
                    [debug]\nstonewall-time = 5\npause-dir =\n[ior-easy]\nblockSize = 9920000m\nrun = true\n\
                    [ior-hard]\nsegmentCount=20\n[mdtest-easy]\nn = 7\nn = 150\n[mdtest-hard]\nn = 250\n\
                    [mdworkbench]\nwaitingTime = 0.5\nrun = TRUE\n";
        let suite = to_suite(text).unwrap();
        let keys: Vec<&str> = suite.lines().skip_while(|it| *it != "[[measure]]").collect();
        assert_eq!(
            keys,
            [
                "[[measure]]",
                "benchmark = \"io500\"",
                "path = \"./data \\\"x\\\"\"",
                "stonewall = \"5s\"",
                "ior-easy-size = \"9920000MiB\"",
                "ior-hard-segments = 20",
                "mdtest-easy-files = 150",
                "mdtest-hard-files = 250",
            ]
        );
        assert!(assay_model::suite::parse_suite(&suite).is_ok(), "{suite}");
    }

    #[test]
    fn refuses_what_it_cannot_follow_with_its_line() {
        for (text, line, expected) in [
            ("[global]\nfoo = 1\n", "foo = 1", "[global] of IO500 has no key `foo`"),
            ("\n[ior-medium]\n", "[ior-medium]", "no section [ior-medium]"),
            ("datadir = x\n", "datadir = x", "`datadir` is in no section"),
            ("[global]\nwhat", "what", "expected a section or an assignment"),
            ("[global]\napi = MPIIO\n", "api = MPIIO", "only POSIX is supported"),
            ("[ior-hard-read]\nrun = FALSE\n", "run = FALSE", "all phases"),
            ("[find]\nexternal-script = x.sh\n", "external-script = x.sh", "assay's own"),
            ("[mdtest-easy]\nn = many\n", "n = many", "invalid value `many`"),
            ("[ior-easy]\nblockSize = 1q\n", "blockSize = 1q", "invalid value `1q`"),
            (
                "[ior-easy]\nblockSize = 1m\n",
                "blockSize = 1m",
                "at least one transfer of 2 MiB",
            ),
            ("[debug]\nstonewall-time = 0\n", "stonewall-time = 0", "more than zero"),
        ] {
            let error = to_suite(text).unwrap_err();
            assert!(error.what.contains(expected), "{text}: {error}");
            assert_eq!(&text[error.span.clone()], line);
            assert!(!error.hint.is_empty());
        }
    }
}
