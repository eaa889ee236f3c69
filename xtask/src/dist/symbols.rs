//! Check of the needs of the released program: libraries, and symbols of the C library.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};

use super::Release;
use super::build::{GLIBC, ProgramOrigin};
use crate::command;

/// Libraries of glibc 2.17, which every machine has.
const LIBRARIES: [&str; 7] = [
    "libc.so.6",
    "libdl.so.2",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
];

/// Symbols that glibc 2.17 has under an older version or links statically, and that a program linked
/// with a newer glibc needs under a newer one.
const RENEWED_SYMBOLS: [&str; 33] = [
    "__libc_start_main",
    "dladdr",
    "dlerror",
    "dlopen",
    "dlsym",
    "exp",
    "exp2",
    "fmod",
    "fstat",
    "fstat64",
    "fstatat64",
    "hypot",
    "log",
    "log2",
    "lstat",
    "lstat64",
    "pow",
    "pthread_attr_getguardsize",
    "pthread_attr_getstack",
    "pthread_attr_setstacksize",
    "pthread_create",
    "pthread_detach",
    "pthread_getattr_np",
    "pthread_getcpuclockid",
    "pthread_getspecific",
    "pthread_join",
    "pthread_key_create",
    "pthread_key_delete",
    "pthread_once",
    "pthread_setname_np",
    "pthread_setspecific",
    "stat",
    "stat64",
];

/// Fails if the program needs a symbol of a newer glibc, or another library than glibc's own.
///
/// A program linked with this machine's glibc may need newer versions of symbols that the old one
/// has, too; and the library of its compiler.
pub(super) fn check(release: &Release) -> Result<()> {
    let mut read = command::at_root(&release.root, "readelf");
    read.args(["--wide", "--dyn-syms", "--dynamic"]).env("LC_ALL", "C");
    let read = command::output(read.arg(&release.program))?;
    ensure!(read.contains("@GLIBC_2."), "readelf prints no symbol of glibc");
    let is_here = release.origin == ProgramOrigin::LinkedHere;
    let is_known =
        |name: &&str| is_here && (RENEWED_SYMBOLS.contains(name) || *name == "libgcc_s.so.1");
    let mut faults = find_newer_symbols(&read, is_here);
    faults.extend(find_libraries(&read).filter(|it| !LIBRARIES.contains(it)));
    faults.retain(|name| !is_known(name));
    if !faults.is_empty() {
        let names: Vec<&str> = faults.into_iter().collect();
        bail!(
            "the program needs what glibc {}.{} lacks: {}\n\
             call the kernel instead, as `storage/positioned_io.rs` does",
            GLIBC.0,
            GLIBC.1,
            names.join(", ")
        );
    }
    println!(
        "dist: {} needs no symbol newer than glibc {}.{}",
        release.machine.name, GLIBC.0, GLIBC.1
    );
    Ok(())
}

/// Returns the undefined symbols of a newer version of glibc. The program does without weak ones, but
/// an old loader refuses their version.
fn find_newer_symbols(read: &str, ignores_weak: bool) -> BTreeSet<&str> {
    let mut newer = BTreeSet::new();
    let is_ignored = |line: &str| ignores_weak && line.contains(" WEAK ");
    for line in read.lines().filter(|line| line.contains(" UND ") && !is_ignored(line)) {
        let Some((name, version)) = line.split_once("@GLIBC_") else { continue };
        let version = version.split([' ', ')']).next().unwrap_or_default();
        if parse_version(version).is_none_or(|it| it > GLIBC) {
            newer.extend(name.split_whitespace().next_back());
        }
    }
    newer
}

/// Returns the names of the libraries that the program needs.
pub(super) fn find_libraries(read: &str) -> impl Iterator<Item = &str> {
    let lines = read.lines().filter(|line| line.contains("(NEEDED)"));
    lines.filter_map(|line| line.split_once('[')?.1.split_once(']').map(|(name, _)| name))
}

/// Parses `2.17` and `2.2.5`, without the third part. `None` for private versions.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &str = "\
Dynamic section at offset 0x1 contains 9 entries:
 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [libssl.so.3]
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND write@GLIBC_2.2.5 (2)
     2: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND clock_gettime@GLIBC_2.17 (3)
     3: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND statx@GLIBC_2.28 (4)
     4: 0000000000000000     0 FUNC    WEAK   DEFAULT  UND gettid@GLIBC_2.30 (5)
     5: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __hidden@GLIBC_PRIVATE (6)
     6: 0000000000000000     0 NOTYPE  WEAK   DEFAULT  UND __gmon_start__
";

    #[test]
    fn finds_symbols_of_newer_versions() {
        let newer = |ignores_weak| Vec::from_iter(find_newer_symbols(READ, ignores_weak));
        assert_eq!(newer(false), ["__hidden", "gettid", "statx"]);
        assert_eq!(newer(true), ["__hidden", "statx"]);
    }

    #[test]
    fn finds_needed_libraries() {
        assert_eq!(find_libraries(READ).collect::<Vec<_>>(), ["libm.so.6", "libssl.so.3"]);
    }
}
