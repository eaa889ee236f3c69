//! The program that is carried to hosts which do not have it: this one, and those of other machines that the user names.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::hash;

/// A program of assay's.
#[derive(Debug)]
pub struct Program {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) hash: String,
    /// What it runs on, as `uname -s -m` says it.
    pub(super) machine: String,
    /// For hosts of other kinds.
    others: Vec<Self>,
}

/// Why a file is no program for another machine.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    #[error("it is no program of Linux (ELF) for a machine that is known here")]
    Foreign,
    #[error("there are two for {machine}")]
    Twice { machine: String },
}

/// Numbers of machines in the head of a program (elf(5), `e_machine`), and what `uname -m` calls them.
const MACHINES: [(u16, &str); 6] = [
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
    (21, "ppc64le"),
    (22, "s390x"),
    (40, "armv7l"),
];

impl Program {
    /// Reads the program that is running, even if its file has been replaced since.
    ///
    /// # Errors
    /// When the system does not let it be read.
    pub fn running() -> io::Result<Self> {
        let known = rustix::system::uname();
        let name = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
        let machine = format!("{} {}", name(known.sysname()), name(known.machine()));
        Self::read(Path::new("/proc/self/exe"), std::env::current_exe()?, machine)
    }

    fn read(file: &Path, path: PathBuf, machine: String) -> io::Result<Self> {
        let mut bytes = Vec::new();
        File::open(file)?.read_to_end(&mut bytes)?;
        let hash = hash(&bytes);
        Ok(Self { path, bytes, hash, machine, others: Vec::new() })
    }

    /// Carries another one along, for hosts of its machine.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn carry(&mut self, path: &Path) -> Result<(), ProgramError> {
        let mut other =
            Self::read(path, path.to_owned(), String::new()).map_err(ProgramError::Read)?;
        other.machine = machine(&other.bytes).ok_or(ProgramError::Foreign)?;
        if self.for_machine(&other.machine).is_some() {
            return Err(ProgramError::Twice { machine: other.machine });
        }
        self.others.push(other);
        Ok(())
    }

    /// The one for hosts of this machine.
    pub(super) fn for_machine(&self, machine: &str) -> Option<&Self> {
        std::iter::once(self).chain(&self.others).find(|it| it.machine == machine)
    }
}

/// What a program runs on, from its first bytes.
fn machine(bytes: &[u8]) -> Option<String> {
    const BIG_ENDIAN: u8 = 2;
    let head = bytes.first_chunk::<20>().filter(|head| head.starts_with(b"\x7fELF"))?;
    let number = [head[18], head[19]];
    let number = match head[5] {
        BIG_ENDIAN => u16::from_be_bytes(number),
        _ => u16::from_le_bytes(number),
    };
    let known = MACHINES.iter().find(|(known, _)| *known == number);
    known.map(|(_, name)| format!("Linux {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_says_what_it_runs_on() {
        let head = |order: u8, number: [u8; 2]| {
            let mut head = b"\x7fELF\x02".to_vec();
            head.extend([order; 13]);
            head.extend(number);
            head
        };
        assert_eq!(machine(&head(1, [183, 0])).as_deref(), Some("Linux aarch64"));
        assert_eq!(machine(&head(2, [0, 22])).as_deref(), Some("Linux s390x"));
        assert_eq!(machine(&head(1, [1, 1])), None);
        assert_eq!(machine(&head(1, [183, 0])[..19]), None);
        assert_eq!(machine(b"#!/bin/sh\nexec assay \"$@\"\n"), None);
    }
}
