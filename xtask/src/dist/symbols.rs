//! Check of the symbol versions that the released program needs from the C library.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};

use super::Release;
use super::build::GLIBC;
use crate::command;

/// Fails if the program needs a symbol of a newer glibc, or another library than glibc's own.
pub(super) fn check(release: &Release) -> Result<()> {
    let mut dump = command::at_root(&release.root, "objdump");
    let dump = command::output(dump.args(["-p", "-T"]).arg(&release.program))?;
    let newer = find_newer_symbols(&dump);
    if !newer.is_empty() {
        let names: Vec<&str> = newer.into_iter().collect();
        bail!(
            "the program needs symbols of glibc newer than {}.{}: {}\n\
             call the kernel instead, as `storage/positioned_io.rs` does",
            GLIBC.0,
            GLIBC.1,
            names.join(", ")
        );
    }
    ensure!(dump.contains("GLIBC_2."), "objdump prints no symbol of glibc");
    println!("dist: needs no symbol newer than glibc {}.{}", GLIBC.0, GLIBC.1);
    Ok(())
}

/// Returns the lines' last words that belong to a newer version of glibc.
fn find_newer_symbols(dump: &str) -> BTreeSet<&str> {
    let is_newer = |line: &&str| {
        let version = line.split("GLIBC_").nth(1);
        let version = version.and_then(|text| text.split([')', ' ', '\t']).next());
        version.is_some_and(|version| parse_version(version).is_none_or(|it| it > GLIBC))
    };
    dump.lines()
        .filter(is_newer)
        .filter_map(|line| line.split_whitespace().next_back())
        .collect()
}

/// Parses `2.17` and `2.2.5`, without the third part. `None` for private versions.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_symbols_of_newer_versions() {
        let dump = "\
0000 DF *UND*  0000 (GLIBC_2.2.5) write
0000 DF *UND*  0000 (GLIBC_2.17)  clock_gettime
0000 DF *UND*  0000 (GLIBC_2.28)  statx
0000 DF *UND*  0000 (GLIBC_2.3.4) __snprintf_chk
0000 DF *UND*  0000 (GLIBC_PRIVATE) __hidden
0000 DF *UND*  0000 (GCC_3.0)     _Unwind_Resume
0000  w D  *UND*  0000            __gmon_start__
    0x09691a75 0x00 06 GLIBC_2.26";
        let newer: Vec<&str> = find_newer_symbols(dump).into_iter().collect();
        assert_eq!(newer, ["GLIBC_2.26", "__hidden", "statx"]);
    }
}
