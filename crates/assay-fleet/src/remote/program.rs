//! Program to copy to hosts that lack it: this one, and builds for other machines.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

/// Chunk size for reading and sending a program.
const CHUNK_BYTES: usize = 64 << 10;

/// Level of compression of a copy. A development build is five times as large, and stays on this machine.
const COMPRESSION: Compression = Compression::new(if cfg!(debug_assertions) { 1 } else { 9 });

/// Build of assay.
#[derive(Debug)]
pub struct Program {
    pub(super) path: PathBuf,
    pub(super) content: FileContent,
    /// Compressed copy in an unnamed file, made when the first host asks for it; `None` if it
    /// cannot be made.
    packed: OnceLock<Option<FileContent>>,
    pub(super) hash: String,
    /// Machine as `uname -s -m` prints it.
    pub(super) machine: String,
    /// Further builds: for other machines, or for an older C library.
    others: Vec<Self>,
}

/// File that is read on demand: most hosts have the program, and memory is for measurements.
#[derive(Debug)]
pub(super) struct FileContent {
    file: File,
    pub(super) bytes: u64,
}

impl FileContent {
    /// Writes the content to a pipe; several threads may do so at once.
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

    /// Compresses the content as gzip does, into an unnamed file.
    fn pack(&self) -> io::Result<Self> {
        let mut encoder = GzEncoder::new(tempfile::tempfile()?, COMPRESSION);
        self.send(&mut encoder)?;
        let file = encoder.finish()?;
        let bytes = file.metadata()?.len();
        Ok(Self { file, bytes })
    }
}

/// Reason why a file is no program for another machine.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("cannot read the file")]
    Read(#[source] io::Error),
    #[error("not a Linux program (ELF) for a supported machine")]
    NotAProgram,
    #[error("the folder contains no Linux program (ELF) for a supported machine")]
    NoPrograms,
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
        let content = FileContent { file, bytes };
        Ok(Self { path, content, packed: OnceLock::new(), hash, machine, others: Vec::new() })
    }

    /// Returns the compressed program; waits while another thread compresses it.
    pub(super) fn packed(&self) -> Option<&FileContent> {
        self.packed.get_or_init(|| self.content.pack().ok()).as_ref()
    }

    /// Adds a build, or all builds of a folder, for other machines or for an older C library.
    pub fn add_builds(&mut self, path: &Path) -> Result<(), ProgramError> {
        if !path.is_dir() {
            self.others.push(Self::read_build(path)?);
            return Ok(());
        }
        let before = self.others.len();
        for file in list_files(path).map_err(ProgramError::Read)? {
            match Self::read_build(&file) {
                Ok(build) => self.others.push(build),
                Err(ProgramError::NotAProgram) => {}
                Err(error) => return Err(error),
            }
        }
        if self.others.len() == before { Err(ProgramError::NoPrograms) } else { Ok(()) }
    }

    /// Adds the builds that are installed with this one: those in `libexec/assay` next to its `bin`,
    /// unless others can change them.
    pub fn add_installed_builds(&mut self) {
        let Some(prefix) = self.path.parent().and_then(Path::parent) else { return };
        let folder = prefix.join("libexec/assay");
        if is_protected(&folder) {
            // A folder without programs, or that cannot be read, adds none.
            let _found = self.add_builds(&folder);
        }
    }

    fn read_build(path: &Path) -> Result<Self, ProgramError> {
        let mut head = [0; HEADER_BYTES];
        let file = File::open(path).map_err(ProgramError::Read)?;
        let is_known =
            file.read_exact_at(&mut head, 0).ok().and_then(|()| machine_of_header(&head));
        let machine = is_known.ok_or(ProgramError::NotAProgram)?;
        Self::read(path, path.to_owned(), machine).map_err(ProgramError::Read)
    }

    /// Returns the further builds, in the order in which they are tried.
    pub(super) fn others(&self) -> &[Self] {
        &self.others
    }
}

/// Whether only this user and root can change a folder, its files, or a folder above it. In folders like
/// `/tmp`, others cannot replace files of this user.
fn is_protected(folder: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    const OTHERS_WRITE: u32 = 0o022;
    let user = rustix::process::geteuid().as_raw();
    let is_own = |path: &Path| {
        path.metadata().is_ok_and(|it| {
            let is_shut =
                it.mode() & OTHERS_WRITE == 0 || it.is_dir() && it.mode() & STICKY != 0;
            [0, user].contains(&it.uid()) && is_shut
        })
    };
    let is_reached_by_own =
        |path: &Path| path.canonicalize().is_ok_and(|real| real.ancestors().all(is_own));
    let files = list_files(folder).unwrap_or_default();
    is_reached_by_own(folder) && files.iter().all(|file| is_reached_by_own(file))
}

/// Returns the regular files of a folder by name.
fn list_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
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
    fn reads_builds_of_folder() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            fs::write(folder.path().join(name), text).unwrap();
        };
        let mut program = Program::running().unwrap();
        assert!(matches!(program.add_builds(folder.path()), Err(ProgramError::NoPrograms)));
        let mut head = [0; HEADER_BYTES];
        head[..6].copy_from_slice(b"\x7fELF\x02\x01");
        head[18] = 183;
        write("assay-b", &head);
        head[18] = 243;
        write("assay-a", &head);
        write("README", b"builds");
        program.add_builds(folder.path()).unwrap();
        let machines: Vec<_> = program.others().iter().map(|it| it.machine.as_str()).collect();
        assert_eq!(machines, ["Linux riscv64", "Linux aarch64"]);
    }

    #[test]
    fn builds_that_others_can_change_are_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("assay");
        fs::write(&file, "").unwrap();
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for (folder_mode, file_mode, expected) in
            [(0o755, 0o755, true), (0o775, 0o755, false), (0o755, 0o757, false)]
        {
            set_mode(folder.path(), folder_mode);
            set_mode(&file, file_mode);
            assert_eq!(is_protected(folder.path()), expected, "{folder_mode:o} {file_mode:o}");
        }
        assert!(!is_protected(&folder.path().join("missing")));
    }

    #[test]
    fn packed_program_unpacks_to_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let text = b"assay".repeat(100_000);
        fs::write(&path, &text).unwrap();
        let program = Program::read(&path, path.clone(), String::new()).unwrap();
        let packed = program.packed().unwrap();
        assert!(packed.bytes < 10_000, "{}", packed.bytes);
        let mut sent = Vec::new();
        packed.send(&mut sent).unwrap();
        assert_eq!(sent.len() as u64, packed.bytes);
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&sent[..]).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == text);
    }

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
