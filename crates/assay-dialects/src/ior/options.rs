//! IOR's command line: which options are carried out, and why others are not.

use thiserror::Error;

use super::{script, units};
use crate::near::nearest;

mod directives;

pub(super) use directives::apply as directive;

/// What was asked for. The names are those of IOR's own output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `-A`.
    pub ref_num: u64,
    /// `-b`, bytes.
    pub block_bytes: u64,
    /// `-t`, bytes.
    pub transfer_bytes: u64,
    /// `-s`.
    pub segments: u64,
    /// `-C`.
    pub reorder: bool,
    /// `-Q`.
    pub reorder_offset: u32,
    /// `-Z`, how often: 1 = each reads the part of any, 2 = all parts are dealt out anew.
    pub reorder_random: u32,
    /// `-X`; below zero it changes with the repetition.
    pub reorder_seed: i64,
    /// `-d`, seconds.
    pub delay_s: u32,
    /// `-D`, seconds; 0 = none.
    pub deadline_s: u32,
    /// `-T`, minutes; 0 = none.
    pub most_minutes: u32,
    /// `-e`.
    pub fsync: bool,
    /// `-Y`.
    pub fsync_per_write: bool,
    /// `-E`.
    pub use_existing: bool,
    /// `-F`.
    pub file_per_rank: bool,
    /// `-G`.
    pub signature: u64,
    /// `-i`.
    pub repetitions: u32,
    /// `-k`.
    pub keep: bool,
    /// `-K`.
    pub keep_with_error: bool,
    /// `-m`.
    pub multi_file: bool,
    /// `-u`.
    pub unique_dir: bool,
    /// `-O stoneWallingWearOut`.
    pub wear_out: bool,
    /// `-O stoneWallingWearOutIterations`, transfers of a rank; 0 = all.
    pub wear_out_transfers: u64,
    /// `-O stoneWallingStatusFile`.
    pub status_file: Option<String>,
    /// `-l`: `t`, `o`, `i` or `r`.
    pub packet: char,
    /// `--randomPrefill`, bytes; 0 = none.
    pub prefill_bytes: u64,
    /// `-N`.
    pub ranks: u32,
    /// `-o`.
    pub test_file: String,
    /// `-w`.
    pub write: bool,
    /// `-r`.
    pub read: bool,
    /// `-W`.
    pub check_write: bool,
    /// `-R`.
    pub check_read: bool,
    /// `-z`, how often: 1 = every transfer once, 2 = anywhere.
    pub random: u32,
    /// `-v`, how often.
    pub verbose: u32,
    /// `--posix.odirect`.
    pub direct: bool,
    /// `-O summaryFormat`.
    pub format: Format,
    /// `-O summaryFile`.
    pub summary_file: Option<String>,
    /// `--dryRun`.
    pub dry_run: bool,
    /// Devices and files that may be overwritten.
    pub destroy_data: Vec<String>,
    /// Whether a folder below `/mnt` need not be a mount point.
    pub allow_unmounted: bool,
    /// What changes nothing here, in words.
    pub notes: Vec<String>,
}

/// How the results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// A line per result.
    Csv,
}

/// Why the words cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// No option of IOR.
    #[error("IOR has no option `{name}`")]
    Unknown {
        /// As written.
        name: String,
        /// The nearest that exists.
        near: Option<&'static str>,
    },
    /// An option of IOR that would change the result and is not carried out.
    #[error("assay does not carry out IOR's `{name}`: {why}")]
    Refuse {
        /// The option.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// A value that the option cannot have.
    #[error("`{value}` is no value of `{name}`: {why}")]
    Value {
        /// The option.
        name: String,
        /// As written; empty when it is missing.
        value: String,
        /// What it should be.
        why: &'static str,
    },
    /// The script of `-f` cannot be read.
    #[error("the script `{file}` cannot be read: {why}")]
    Script {
        /// As written.
        file: String,
        /// What the system says.
        why: String,
    },
    /// A line of the script cannot be carried out.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The script.
        file: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        what: Box<Self>,
    },
    /// Options that do not fit together.
    #[error("{what}")]
    Combine {
        /// What does not fit.
        what: &'static str,
    },
}

impl OptionsError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::Unknown { near: None, .. } | Self::Value { .. } => {
                "docs/ior.md lists the options that run, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE"
                    .to_owned()
            }
            Self::Refuse { .. } => {
                "remove it, or run this test with IOR itself; docs/ior.md lists what runs".to_owned()
            }
            Self::Script { .. } => {
                "give it as -f FILE: lines of NAME=VALUE between `IOR START` and `IOR STOP`".to_owned()
            }
            Self::Line { what, .. } => what.hint(),
            Self::Combine { .. } => "IOR itself refuses this, too; see docs/ior.md".to_owned(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ref_num: 0,
            block_bytes: 1 << 20,
            transfer_bytes: 256 << 10,
            segments: 1,
            reorder: false,
            reorder_offset: 1,
            reorder_random: 0,
            reorder_seed: 0,
            delay_s: 0,
            deadline_s: 0,
            most_minutes: 0,
            fsync: false,
            fsync_per_write: false,
            use_existing: false,
            file_per_rank: false,
            signature: 0,
            repetitions: 1,
            keep: false,
            keep_with_error: false,
            multi_file: false,
            unique_dir: false,
            wear_out: false,
            wear_out_transfers: 0,
            status_file: None,
            packet: 't',
            prefill_bytes: 0,
            ranks: 1,
            test_file: "testFile".to_owned(),
            write: false,
            read: false,
            check_write: false,
            check_read: false,
            random: 0,
            verbose: 0,
            direct: false,
            format: Format::Text,
            summary_file: None,
            dry_run: false,
            destroy_data: vec![],
            allow_unmounted: false,
            notes: vec![],
        }
    }
}

/// Switches that are carried out or change nothing.
const FLAGS: &str = "CeEFgkKmqrRuvwWxYzZB";
/// Options with a value.
const VALUED: &str = "abtsiodDTQGNAOXjl";
/// Options that are not carried out.
const REFUSED: &[(char, &str)] = &[
    ('c', "POSIX I/O is never collective"),
    ('f', "a script is read only where `-f FILE` stands by itself"),
    ('H', "there are no MPI hints"),
    ('I', "there are no data sets without HDF5"),
    ('J', "there is no alignment of HDF5"),
    ('M', "no memory is set aside; --posix.odirect avoids the page cache"),
    ('n', "there are no files of HDF5"),
    ('p', "space is not set aside; files are written whole"),
    ('P', "there are no shared file pointers without MPI-IO"),
    ('S', "there are no strided types without MPI-IO"),
    ('U', "there are no MPI hints"),
    ('V', "there are no file views without MPI-IO"),
    ('y', "there is one mount point"),
];
/// Long options of the interface that are not carried out.
const REFUSED_LONG: &[(&str, &str)] = &[
    ("collective", "POSIX I/O is never collective"),
    ("posix.rangelocks", "ranks of one process would not keep each other out"),
    ("dummy.", "assay has POSIX alone"),
    ("mpiio.", "assay has POSIX alone"),
    ("mmap.", "assay has POSIX alone"),
];
/// Long options.
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
    "allow-unmounted",
];

/// Gives the text of a script.
pub type Load<'l> = dyn FnMut(&str) -> std::io::Result<String> + 'l;

/// Reads the words after `ior`, and the script that `-f` names with `load`: one or more tests.
///
/// # Errors
/// The first word that cannot be carried out, or options that do not fit together.
pub fn read(words: &[String], load: &mut Load<'_>) -> Result<Vec<Options>, OptionsError> {
    let mut options = Options::default();
    let mut script = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if let Some(glued) = word.strip_prefix("-f") {
            let glued = glued.strip_prefix('=').unwrap_or(glued);
            let file =
                if glued.is_empty() { words.next().cloned() } else { Some(glued.to_owned()) };
            script = Some(file.unwrap_or_default());
        } else if let Some(long) = word.strip_prefix("--") {
            options.long(long, &mut words)?;
        } else if let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            options.cluster(cluster, &mut words)?;
        } else {
            return Err(OptionsError::Unknown { name: word.clone(), near: None });
        }
    }
    match script {
        None => Ok(vec![options.complete()?]),
        Some(file) => {
            let text = load(&file).map_err(|error| OptionsError::Script {
                file: file.clone(),
                why: error.to_string(),
            })?;
            script::tests(&options, &text, &file)
        }
    }
}

type Words<'a> = std::slice::Iter<'a, String>;

impl Options {
    /// `-wrk`, `-t 1m`, `-t1m`, `-t=1m`.
    fn cluster(&mut self, cluster: &str, words: &mut Words<'_>) -> Result<(), OptionsError> {
        for (at, letter) in cluster.char_indices() {
            let name = format!("-{letter}");
            if let Some((_, why)) = REFUSED.iter().find(|(known, _)| *known == letter) {
                return Err(OptionsError::Refuse { name, why });
            }
            if FLAGS.contains(letter) {
                self.flag(letter);
                continue;
            }
            if !VALUED.contains(letter) {
                let near = nearest(cluster, LONG.iter().copied());
                return Err(OptionsError::Unknown { name, near });
            }
            let rest = &cluster[at + letter.len_utf8()..];
            let glued = rest.strip_prefix('=').unwrap_or(rest);
            let value = match glued {
                "" => words.next().cloned().unwrap_or_default(),
                glued => glued.to_owned(),
            };
            return self.value(letter, &value);
        }
        Ok(())
    }

    fn flag(&mut self, letter: char) {
        let note = match letter {
            'C' => return self.reorder = true,
            'e' => return self.fsync = true,
            'E' => return self.use_existing = true,
            'F' => return self.file_per_rank = true,
            'k' => return self.keep = true,
            'r' => return self.read = true,
            'R' => return self.check_read = true,
            'w' => return self.write = true,
            'W' => return self.check_write = true,
            'Y' => return self.fsync_per_write = true,
            'z' => return self.random += 1,
            'Z' => return self.reorder_random += 1,
            'm' => return self.multi_file = true,
            'u' => return self.unique_dir = true,
            'K' => return self.keep_with_error = true,
            'B' => return self.direct = true,
            'v' => return self.verbose += 1,
            'g' => "-g changes nothing: all ranks begin and end a phase together",
            'q' => "-q changes nothing: data that is damaged fails the test in any case",
            _ => "-x changes nothing: a short transfer is an error",
        };
        self.notes.push(note.to_owned());
    }

    fn value(&mut self, letter: char, value: &str) -> Result<(), OptionsError> {
        let refuse = |why| {
            Err(OptionsError::Value {
                name: format!("-{letter}"),
                value: value.to_owned(),
                why,
            })
        };
        let bytes = units::size(value);
        let Some(number) = bytes.or_else(|| "aoOlX".contains(letter).then_some(0)) else {
            return refuse("it must be a number, or a size like 4k, 1m or 2g");
        };
        let small = u32::try_from(number).unwrap_or(u32::MAX);
        match letter {
            'a' if value.eq_ignore_ascii_case("POSIX") => {}
            'a' => return refuse("assay has POSIX alone"),
            'o' if value.is_empty() || value.contains('@') => {
                return refuse("it must be one file");
            }
            'o' => value.clone_into(&mut self.test_file),
            'O' => return value.split(',').try_for_each(|part| directive(self, part)),
            'l' => match value.chars().next().filter(|first| "toir".contains(*first)) {
                Some(first) => self.packet = first,
                None => {
                    return refuse("it must be offset, incompressible, timestamp or random");
                }
            },
            'X' => match value.parse() {
                Ok(seed) => self.reorder_seed = seed,
                Err(_) => return refuse("it must be a whole number"),
            },
            'b' | 't' | 's' | 'N' | 'i' if number == 0 => return refuse("it must be above 0"),
            'N' if number > 4096 => return refuse("more than 4096 threads are no ranks"),
            'i' if number > 100_000 => return refuse("100,000 repetitions are enough"),
            'b' => self.block_bytes = number,
            't' => self.transfer_bytes = number,
            's' => self.segments = number,
            'N' => self.ranks = small,
            'i' => self.repetitions = small,
            'd' => self.delay_s = small,
            'D' => self.deadline_s = small,
            'T' => self.most_minutes = small,
            'Q' => self.reorder_offset = small,
            'G' => self.signature = number,
            'A' => self.ref_num = number,
            _ => self.notes.push("-j changes nothing: all times are reported".to_owned()),
        }
        Ok(())
    }

    fn long(&mut self, long: &str, words: &mut Words<'_>) -> Result<(), OptionsError> {
        let (name, glued) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        if let Some((_, why)) = REFUSED_LONG.iter().find(|(start, _)| name.starts_with(start)) {
            return Err(OptionsError::Refuse { name: format!("--{name}"), why });
        }
        let mut value = || glued.clone().or_else(|| words.next().cloned()).unwrap_or_default();
        match name {
            "posix.odirect" => self.direct = true,
            "dryRun" | "dry-run" => self.dry_run = true,
            "allow-unmounted" => self.allow_unmounted = true,
            "destroy-data" => self.destroy_data.push(value()),
            "ranks" => return self.value('N', &value()),
            "dataPacketType" => return self.value('l', &value()),
            "warningAsErrors" => {
                self.notes
                    .push("--warningAsErrors changes nothing: nothing is warned of".into());
            }
            "random-offset-seed" => match units::size(&value()) {
                Some(seed) => self.signature = seed,
                None => {
                    let (name, value) = (format!("--{name}"), glued.unwrap_or_default());
                    return Err(OptionsError::Value {
                        name,
                        value,
                        why: "it must be a number",
                    });
                }
            },
            "randomPrefill" => match units::size(&value()) {
                Some(bytes) => self.prefill_bytes = bytes,
                None => {
                    return Err(OptionsError::Value {
                        name: format!("--{name}"),
                        value: glued.unwrap_or_default(),
                        why: "it must be a size like 2m",
                    });
                }
            },
            _ => {
                let near = nearest(name, LONG.iter().copied());
                return Err(OptionsError::Unknown { name: format!("--{name}"), near });
            }
        }
        Ok(())
    }

    /// What is left to default, and what does not fit together.
    pub(super) fn complete(mut self) -> Result<Self, OptionsError> {
        if !(self.write || self.read || self.check_write || self.check_read) {
            (self.write, self.read) = (true, true);
        }
        let reordered = self.reorder || self.reorder_random > 0;
        let whole = self.block_bytes.is_multiple_of(self.transfer_bytes);
        let bytes = self.block_bytes.checked_mul(self.segments);
        let aggregate = bytes.and_then(|bytes| bytes.checked_mul(u64::from(self.ranks)));
        let table = [
            (!whole, "block size (-b) must be a multiple of transfer size (-t)"),
            (
                self.random == 1 && self.block_bytes == self.transfer_bytes,
                "-z shuffles the transfers of a block, and there is one transfer in a block",
            ),
            (
                self.random > 0 && reordered && !self.file_per_rank,
                "-z goes with neither -C nor -Z on a shared file",
            ),
            (self.reorder && self.reorder_random > 0, "-C and -Z do not go together"),
            (self.random == 0 && self.prefill_bytes > 0, "--randomPrefill belongs to -z"),
            (
                self.prefill_bytes > 0 && !self.block_bytes.is_multiple_of(self.prefill_bytes),
                "--randomPrefill must divide the block size (-b)",
            ),
            (
                self.wear_out && self.random == 1,
                "-O stoneWallingWearOut goes with -z -z, not with one -z: its order ends with the time",
            ),
            (
                self.wear_out && self.deadline_s == 0,
                "-O stoneWallingWearOut belongs to a deadline, -D",
            ),
            (
                self.status_file.is_some() && !self.keep,
                "-O stoneWallingStatusFile belongs to files that stay, -k",
            ),
            (
                self.status_file.is_some() && self.write && !self.wear_out,
                "-O stoneWallingStatusFile belongs to -O stoneWallingWearOut=1 when writing",
            ),
            (
                aggregate.is_none_or(|bytes| i64::try_from(bytes).is_err()),
                "so much data cannot be counted",
            ),
        ];
        match table.into_iter().find(|(wrong, _)| *wrong) {
            Some((_, what)) => Err(OptionsError::Combine { what }),
            None => Ok(self),
        }
    }

    /// Transfers of one rank in one repetition.
    #[must_use]
    pub const fn transfers_per_rank(&self) -> u64 {
        self.block_bytes / self.transfer_bytes * self.segments
    }

    /// Bytes of one repetition of one direction.
    #[must_use]
    pub const fn aggregate_bytes(&self) -> u64 {
        self.block_bytes * self.segments * self.ranks as u64
    }
}
