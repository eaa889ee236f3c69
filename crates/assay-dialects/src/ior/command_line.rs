//! IOR's command line: supported options, and reasons for rejecting the others.

use super::options::{IorOptions, IorOptionsError};
use super::{directives, script, units};
use assay_model::spelling::nearest_word;

/// Switches that are implemented or ignored.
const FLAGS: &str = "CeEFgkKmqrRuvwWxYzZB";
/// Options with a value.
const VALUED: &str = "abtsiodDTQGNAOXjl";
/// Rejected options with the reason.
const REJECTED: &[(char, &str)] = &[
    ('c', "POSIX I/O is never collective"),
    ('f', "a script needs a separate option `-f FILE`"),
    ('H', "there are no MPI hints"),
    ('I', "there are no data sets without HDF5"),
    ('J', "there is no alignment of HDF5"),
    ('M', "no memory is reserved; --posix.odirect avoids the page cache"),
    ('n', "there are no files of HDF5"),
    ('p', "space is not preallocated; files are written in full"),
    ('P', "there are no shared file pointers without MPI-IO"),
    ('S', "there are no strided types without MPI-IO"),
    ('U', "there are no MPI hints"),
    ('V', "there are no file views without MPI-IO"),
    ('y', "there is one mount point"),
];
/// Rejected long options with the reason; a name matches by its prefix.
const REJECTED_LONG: &[(&str, &str)] = &[
    ("collective", "POSIX I/O is never collective"),
    ("posix.rangelocks", "range locks have no effect between ranks of one process"),
    ("dummy.", "only POSIX is supported"),
    ("mpiio.", "only POSIX is supported"),
    ("mmap.", "only POSIX is supported"),
];
/// Implemented long options.
const LONG: &[&str] = &[
    "posix.odirect",
    "dryRun",
    "dataPacketType",
    "warningAsErrors",
    "random-offset-seed",
    "randomPrefill",
    "ranks",
    "collective",
    "destroy-data",
    "target-on-root",
];

/// Reads the text of a script.
pub type ScriptLoader<'l> = dyn FnMut(&str) -> std::io::Result<String> + 'l;

/// Parses the arguments after `ior`, and the script of `-f` with `load`; returns one or more tests.
///
/// # Errors
/// The first argument that is not supported, or conflicting options.
pub fn parse(
    words: &[String],
    load: &mut ScriptLoader<'_>,
) -> Result<Vec<IorOptions>, IorOptionsError> {
    let mut options = IorOptions::default();
    let mut script = None;
    let (count, mut words) = (words.len(), words.iter());
    let placed = |from: usize, to: usize| {
        move |what: IorOptionsError| IorOptionsError::Words {
            at: from..to,
            what: Box::new(what),
        }
    };
    while let Some(word) = words.next() {
        let at = count - words.len() - 1;
        if let Some(glued) = word.strip_prefix("-f") {
            let glued = glued.strip_prefix('=').unwrap_or(glued);
            let file =
                if glued.is_empty() { words.next().cloned() } else { Some(glued.to_owned()) };
            script = Some((file.unwrap_or_default(), placed(at, count - words.len())));
            continue;
        }
        let read = if let Some(long) = word.strip_prefix("--") {
            parse_long_option(&mut options, long, &mut words)
        } else if let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            parse_short_options(&mut options, cluster, &mut words)
        } else {
            Err(IorOptionsError::UnknownOption { name: word.clone(), near: None })
        };
        read.map_err(placed(at, count - words.len()))?;
    }
    match script {
        None => Ok(vec![options.complete().map_err(placed(0, count))?]),
        Some((file, placed)) => {
            let text = load(&file).map_err(|error| {
                placed(IorOptionsError::UnreadableScript {
                    file: file.clone(),
                    why: error.to_string(),
                })
            })?;
            script::parse_tests(&options, &text, &file)
        }
    }
}

type Words<'a> = std::slice::Iter<'a, String>;

/// Parses `-wrk`, `-t 1m`, `-t1m`, `-t=1m`.
fn parse_short_options(
    options: &mut IorOptions,
    cluster: &str,
    words: &mut Words<'_>,
) -> Result<(), IorOptionsError> {
    for (at, letter) in cluster.char_indices() {
        let name = format!("-{letter}");
        if let Some((_, why)) = REJECTED.iter().find(|(known, _)| *known == letter) {
            return Err(IorOptionsError::Unsupported { name, why });
        }
        if FLAGS.contains(letter) {
            options.apply_switch(letter);
            continue;
        }
        if !VALUED.contains(letter) {
            let near = nearest_word(cluster, LONG.iter().copied());
            return Err(IorOptionsError::UnknownOption { name, near });
        }
        let rest = &cluster[at + letter.len_utf8()..];
        let glued = rest.strip_prefix('=').unwrap_or(rest);
        let value = match glued {
            "" => words.next().cloned().unwrap_or_default(),
            glued => glued.to_owned(),
        };
        return match letter {
            'O' => value.split(',').try_for_each(|part| directives::apply(options, part)),
            _ => options.apply_value(letter, &value),
        };
    }
    Ok(())
}

fn parse_long_option(
    options: &mut IorOptions,
    long: &str,
    words: &mut Words<'_>,
) -> Result<(), IorOptionsError> {
    let (name, glued) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (long, None),
    };
    if let Some((_, why)) = REJECTED_LONG.iter().find(|(start, _)| name.starts_with(start)) {
        return Err(IorOptionsError::Unsupported { name: format!("--{name}"), why });
    }
    let mut value = || glued.clone().or_else(|| words.next().cloned()).unwrap_or_default();
    match name {
        "posix.odirect" => options.direct = true,
        "dryRun" | "dry-run" => options.dry_run = true,
        "target-on-root" => options.target_on_root = true,
        "destroy-data" => options.destroy_data.push(value()),
        "ranks" => return options.apply_value('N', &value()),
        "dataPacketType" => return options.apply_value('l', &value()),
        "warningAsErrors" => {
            options.notes.push("--warningAsErrors has no effect: there are no warnings".into());
        }
        "random-offset-seed" => match units::parse_size(&value()) {
            Some(seed) => options.signature = seed,
            None => {
                let (name, value) = (format!("--{name}"), glued.unwrap_or_default());
                return Err(IorOptionsError::InvalidValue {
                    name,
                    value,
                    why: "it must be a number",
                });
            }
        },
        "randomPrefill" => match units::parse_size(&value()) {
            Some(bytes) => options.prefill_bytes = bytes,
            None => {
                return Err(IorOptionsError::InvalidValue {
                    name: format!("--{name}"),
                    value: glued.unwrap_or_default(),
                    why: "it must be a size like 2m",
                });
            }
        },
        _ => {
            let near = nearest_word(name, LONG.iter().copied());
            return Err(IorOptionsError::UnknownOption { name: format!("--{name}"), near });
        }
    }
    Ok(())
}
