//! IO500's command lines of IOR and mdtest for each phase, in their own folder.

use std::path::Path;

use assay_model::path_text;
use assay_model::workload::io500::{Io500Phase, Io500Workload};

pub mod config;

/// Work that each task did in the write phases, which the later phases repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Io500Progress {
    /// Transfers in ior-easy.
    pub ior_easy: u64,
    /// Transfers in ior-hard.
    pub ior_hard: u64,
    /// Files in mdtest-easy.
    pub mdtest_easy: u64,
    /// Files in mdtest-hard.
    pub mdtest_hard: u64,
}

/// Tool whose command line a phase has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Io500Line {
    Ior(Vec<String>),
    Mdtest(Vec<String>),
    /// The find phase has none.
    Find,
}

/// Folders of the phases, below that of the run.
pub const FOLDERS: [&str; 4] = [IOR_EASY, IOR_HARD, MDTEST_EASY, MDTEST_HARD];
const IOR_EASY: &str = "ior-easy";
const IOR_HARD: &str = "ior-hard";
const MDTEST_EASY: &str = "mdtest-easy";
const MDTEST_HARD: &str = "mdtest-hard";

/// Bytes of each file of mdtest-hard.
pub const MDTEST_HARD_BYTES: u64 = 3901;
/// Part of the names that the find phase looks for.
pub const FOUND_NAME: &str = "01";

/// Returns the command line of a phase.
pub fn line(
    phase: Io500Phase,
    work: &Io500Workload,
    (folder, done): (&Path, Io500Progress),
) -> Io500Line {
    let writer = LineWriter { work, folder, done };
    match phase {
        Io500Phase::Find => Io500Line::Find,
        Io500Phase::IorEasyWrite => Io500Line::Ior(writer.ior_easy(true)),
        Io500Phase::IorEasyRead => Io500Line::Ior(writer.ior_easy(false)),
        Io500Phase::IorHardWrite => Io500Line::Ior(writer.ior_hard(true)),
        Io500Phase::IorHardRead => Io500Line::Ior(writer.ior_hard(false)),
        Io500Phase::MdtestEasyWrite => Io500Line::Mdtest(writer.mdtest_easy("-C -Y")),
        Io500Phase::MdtestEasyQuery => Io500Line::Mdtest(writer.mdtest_easy("-T")),
        Io500Phase::MdtestEasyDelete => Io500Line::Mdtest(writer.mdtest_easy("-r")),
        Io500Phase::MdtestHardWrite => Io500Line::Mdtest(writer.mdtest_hard("-C -Y")),
        Io500Phase::MdtestHardQuery => Io500Line::Mdtest(writer.mdtest_hard("-T")),
        Io500Phase::MdtestHardRead => Io500Line::Mdtest(writer.mdtest_hard("-E -X")),
        Io500Phase::MdtestHardDelete => Io500Line::Mdtest(writer.mdtest_hard("-r")),
    }
}

struct LineWriter<'w> {
    work: &'w Io500Workload,
    folder: &'w Path,
    done: Io500Progress,
}

impl LineWriter<'_> {
    fn path(&self, name: &str) -> String {
        path_text::encode(self.folder.join(name).as_os_str())
    }

    /// The seed as the positive number that both tools take.
    fn seed(&self) -> u64 {
        1 + self.work.seed % 0x7fff_fffe
    }

    fn ior_easy(&self, writes: bool) -> Vec<String> {
        let (bytes, seed) = (self.work.ior_easy_bytes, self.seed());
        let mut words = split(&format!("-t 2m -b {bytes} -F -g -G {seed} -k -e -C -Q 1"));
        words.extend(["-o".to_owned(), self.path("ior-easy/ior_file_easy")]);
        let read = (!writes).then_some(("-r -R", self.done.ior_easy));
        self.end_ior(words, read)
    }

    fn ior_hard(&self, writes: bool) -> Vec<String> {
        let (segments, seed) = (self.work.ior_hard_segments, self.seed());
        let mut words =
            split(&format!("-t 47008 -b 47008 -s {segments} -g -G {seed} -k -e -C -Q 1"));
        words.extend(["-o".to_owned(), self.path("ior-hard/file")]);
        let read = (!writes).then_some(("-r -R", self.done.ior_hard));
        self.end_ior(words, read)
    }

    /// Adds tasks and access: a deadline for writing; options and number of transfers for reading.
    fn end_ior(&self, mut words: Vec<String>, read: Option<(&str, u64)>) -> Vec<String> {
        let Io500Workload { tasks, stonewall_s, .. } = self.work;
        words.extend(split(&format!("-N {tasks} -a POSIX")));
        words.extend(split(&match read {
            None => format!("-w -D {stonewall_s} -O stoneWallingWearOut=1"),
            Some((access, done)) => {
                format!("{access} -O stoneWallingWearOutIterations={done}")
            }
        }));
        words
    }

    fn mdtest_easy(&self, phase: &str) -> Vec<String> {
        let Io500Workload { tasks, mdtest_easy_files, .. } = self.work;
        let seed = self.seed();
        let words =
            split(&format!("--ranks {tasks} -u -L -F -P -G {seed} -N 1 -a POSIX {phase}"));
        self.end_mdtest(words, MDTEST_EASY, (*mdtest_easy_files, self.done.mdtest_easy))
    }

    fn mdtest_hard(&self, phase: &str) -> Vec<String> {
        let Io500Workload { tasks, mdtest_hard_files, .. } = self.work;
        let (seed, bytes) = (self.seed(), MDTEST_HARD_BYTES);
        let words = split(&format!(
            "--ranks {tasks} -t -w {bytes} -e {bytes} -P -G {seed} -N 1 -F -a POSIX {phase}"
        ));
        self.end_mdtest(words, MDTEST_HARD, (*mdtest_hard_files, self.done.mdtest_hard))
    }

    /// Adds folder, number of files and deadline: a phase after the creation has the created
    /// files.
    fn end_mdtest(
        &self,
        mut words: Vec<String>,
        folder: &str,
        (limit, done): (u64, u64),
    ) -> Vec<String> {
        words.extend(["-d".to_owned(), self.path(folder)]);
        let stonewall_s = self.work.stonewall_s;
        words.extend(split(&match done {
            0 => format!("-n {limit} -W {stonewall_s}"),
            files => format!("-n {files}"),
        }));
        words
    }
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ior::options::{IorOptions, IorOptionsError};
    use crate::{ior, mdtest};

    fn parse_ior(words: &[String]) -> Result<Vec<IorOptions>, IorOptionsError> {
        ior::command_line::parse(words, &mut |_| unreachable!("no line has a script"))
    }

    fn workload() -> Io500Workload {
        Io500Workload {
            folder: "/data".into(),
            tasks: 3,
            stonewall_s: 300,
            ior_easy_bytes: 9_920_000 << 20,
            ior_hard_segments: 10_000_000,
            mdtest_easy_files: 1_000_000,
            mdtest_hard_files: 1_000_000,
            seed: u64::MAX,
        }
    }

    #[test]
    fn every_line_is_accepted() {
        let done = Io500Progress { ior_easy: 7, ior_hard: 8, mdtest_easy: 9, mdtest_hard: 10 };
        for (number, phase) in (1..).zip(Io500Phase::ALL) {
            let done = if number < 5 { Io500Progress::default() } else { done };
            match line(phase, &workload(), (Path::new("/data/x y"), done)) {
                Io500Line::Ior(words) => {
                    let options = parse_ior(&words).unwrap().remove(0);
                    assert_eq!(options.ranks, 3, "{phase:?}");
                    assert_eq!(options.write, phase.is_write(), "{phase:?}");
                }
                Io500Line::Mdtest(words) => {
                    let options = mdtest::command_line::parse(&words).unwrap();
                    assert_eq!(options.create, phase.is_write(), "{phase:?}");
                    assert_eq!(options.deadline_s > 0, phase.is_write(), "{phase:?}");
                    let expected = match phase {
                        _ if phase.is_write() => 1_000_000,
                        Io500Phase::MdtestEasyQuery | Io500Phase::MdtestEasyDelete => 9,
                        _ => 10,
                    };
                    assert_eq!(options.items, expected, "{phase:?}");
                }
                Io500Line::Find => assert_eq!(phase, Io500Phase::Find),
            }
        }
    }

    /// The whole lines of the program io500, as it passes them to both tools.
    #[test]
    fn lines_of_the_program_are_accepted() {
        let ior_easy = "--dataPacketType=timestamp -g -G 271 -k -e -o D/ior-easy/ior_file_easy -C -Q 1 \
                        -O stoneWallingStatusFile=R/ior-easy.stonewall -t 2m -b 9920000m -F";
        let ior_hard = "--dataPacketType=timestamp -C -Q 1 -g -G=27 -k -e -o D/ior-hard/file \
                        -O stoneWallingStatusFile=R/ior-hard.stonewall -t 47008 -b 47008 -s 10000000";
        let details = "-a POSIX -O saveRankPerformanceDetailsCSV=R/phase.csv";
        for line in [
            format!("{ior_easy} -w -D 300 -O stoneWallingWearOut=1 {details}"),
            format!("{ior_easy} -r -R {details}"),
            format!("{ior_hard} -w -D 300 {details} -O stoneWallingWearOut=1"),
            format!("{ior_hard} -r -R {details}"),
        ] {
            let parsed = parse_ior(&split(&line));
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
        let easy = "--dataPacketType=timestamp -n 1000000 -u -L -F -P -G 271 -N 1 -d D/mdtest-easy -x R/sw";
        let hard = "--dataPacketType=timestamp -n 1000000 -t -w 3901 -e 3901 -P -G=27 -N 1 -F -d D/mdtest-hard -x R/sw";
        for line in [
            format!("{easy} -C -Y -W 300 -a POSIX"),
            format!("{easy} -T -a POSIX"),
            format!("{easy} -r -a POSIX"),
            format!("{hard} -C -Y -W 300 -a POSIX"),
            format!("{hard} -T -a POSIX"),
            format!("{hard} -E -X -a POSIX"),
            format!("{hard} -r -a POSIX"),
        ] {
            let parsed = mdtest::command_line::parse(&split(&line));
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
    }
}
