//! Program to copy to hosts that lack it: this one, and the user's builds for other machines.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Chunk size for reading and sending a program.
const CHUNK_BYTES: usize = 64 << 10;

/// Build of assay.
#[derive(Debug)]
pub struct Program {
    pub(super) path: PathBuf,
    /// File, read on demand: most hosts have the program, and memory is for measurements.
    file: File,
    pub(super) bytes: u64,
    pub(super) hash: String,
    /// Machine as `uname -s -m` prints it.
    pub(super) machine: String,
    /// Builds for other machines.
    others: Vec<Self>,
}

/// Reason why a file is no program for another machine.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("cannot read the file")]
    Read(#[source] io::Error),
    #[error("not a Linux program (ELF) for a supported machine")]
    NotAProgram,
    #[error("two programs for {machine}")]
    Duplicate { machine: String },
}

/// Bytes of an ELF header up to the machine.
const HEADER_BYTES: usize = 20;
/// Machine numbers of the ELF header (elf(5), `e_machine`) and their names in `uname -m`.
const MACHINES: [(u16, &str); 6] = [
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
    (21, "ppc64le"),
    (22, "s390x"),
    (40, "armv7l"),
];

impl Program {
    /// Opens the running program, even if its file has been replaced since.
    ///
    /// # Errors
    /// If the program file cannot be read.
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

    /// Writes the program to a pipe; several threads may do so at once.
    pub(super) fn send(&self, pipe: &mut impl Write) -> io::Result<()> {
        let (mut chunk, mut at) = (vec![0; CHUNK_BYTES], 0);
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

    /// Adds a build for another machine.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn add_build(&mut self, path: &Path) -> Result<(), ProgramError> {
        let mut other =
            Self::read(path, path.to_owned(), String::new()).map_err(ProgramError::Read)?;
        let mut head = [0; HEADER_BYTES];
        let is_known =
            other.file.read_exact_at(&mut head, 0).ok().and_then(|()| machine_of_header(&head));
        other.machine = is_known.ok_or(ProgramError::NotAProgram)?;
        if self.for_machine(&other.machine).is_some() {
            return Err(ProgramError::Duplicate { machine: other.machine });
        }
        self.others.push(other);
        Ok(())
    }

    /// Returns the build for a machine.
    pub(super) fn for_machine(&self, machine: &str) -> Option<&Self> {
        std::iter::once(self).chain(&self.others).find(|it| it.machine == machine)
    }
}

/// Returns the SHA-256 of a file, which identifies a build and which shells can compute, and the
/// file's length.
pub(super) fn hash(mut file: &File) -> io::Result<(String, u64)> {
    let (mut hasher, mut bytes) = (Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok((to_hex(&hasher.finalize()), bytes)),
            read => {
                hasher.update(&chunk[..read]);
                bytes += read as u64;
            }
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

/// Returns the machine of a program from its ELF header.
fn machine_of_header(head: &[u8; HEADER_BYTES]) -> Option<String> {
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
    fn reads_machine_from_elf_header() {
        let head = |order: u8, number: [u8; 2]| {
            let mut head = [order; HEADER_BYTES];
            head[..5].copy_from_slice(b"\x7fELF\x02");
            head[18..].copy_from_slice(&number);
            head
        };
        assert_eq!(machine_of_header(&head(1, [183, 0])).as_deref(), Some("Linux aarch64"));
        assert_eq!(machine_of_header(&head(2, [0, 22])).as_deref(), Some("Linux s390x"));
        assert_eq!(machine_of_header(&head(1, [1, 1])), None);
        assert_eq!(machine_of_header(b"#!/bin/sh\nexec assay"), None);
    }
}
