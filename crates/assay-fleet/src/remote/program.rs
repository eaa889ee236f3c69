//! The program that is carried to hosts which do not have it: this one, and those of other machines that the user names.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// What is read or sent of a program at a time.
const CHUNK: usize = 64 << 10;

/// A program of assay's.
#[derive(Debug)]
pub struct Program {
    pub(super) path: PathBuf,
    /// Read whenever a host needs it: most have it, and memory is for them.
    file: File,
    pub(super) bytes: u64,
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

/// Bytes of a program that say what it runs on.
const HEAD: usize = 20;
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

    pub(super) fn read(file: &Path, path: PathBuf, machine: String) -> io::Result<Self> {
        let file = File::open(file)?;
        let (hash, bytes) = hash(&file)?;
        Ok(Self { path, file, bytes, hash, machine, others: Vec::new() })
    }

    /// Writes all of it to a pipe, which several may do at the same time.
    pub(super) fn send(&self, pipe: &mut impl Write) -> io::Result<()> {
        let (mut chunk, mut at) = (vec![0; CHUNK], 0);
        loop {
            match self.file.read_at(&mut chunk, at)? {
                0 => return pipe.flush(),
                read => {
                    pipe.write_all(&chunk[..read])?;
                    at += read as u64;
                }
            }
        }
    }

    /// Carries another one along, for hosts of its machine.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn carry(&mut self, path: &Path) -> Result<(), ProgramError> {
        let mut other =
            Self::read(path, path.to_owned(), String::new()).map_err(ProgramError::Read)?;
        let mut head = [0; HEAD];
        let is_known =
            other.file.read_exact_at(&mut head, 0).ok().and_then(|()| machine(&head));
        other.machine = is_known.ok_or(ProgramError::Foreign)?;
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

/// The SHA-256 of a file, by which two builds are told apart and which shells can compute too, and its length.
pub(super) fn hash(mut file: &File) -> io::Result<(String, u64)> {
    let (mut hasher, mut bytes) = (Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok((in_hex(&hasher.finalize()), bytes)),
            read => {
                hasher.update(&chunk[..read]);
                bytes += read as u64;
            }
        }
    }
}

fn in_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

/// What a program runs on, from its first bytes.
fn machine(head: &[u8; HEAD]) -> Option<String> {
    const BIG_ENDIAN: u8 = 2;
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
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
            let mut head = [order; HEAD];
            head[..5].copy_from_slice(b"\x7fELF\x02");
            head[18..].copy_from_slice(&number);
            head
        };
        assert_eq!(machine(&head(1, [183, 0])).as_deref(), Some("Linux aarch64"));
        assert_eq!(machine(&head(2, [0, 22])).as_deref(), Some("Linux s390x"));
        assert_eq!(machine(&head(1, [1, 1])), None);
        assert_eq!(machine(b"#!/bin/sh\nexec assay"), None);
    }
}
