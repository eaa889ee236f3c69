//! Installed shells, for tests of scripts.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::process::find_executable;

const SHELLS: [&[&str]; 4] = [&["sh"], &["dash"], &["bash"], &["busybox", "sh"]];

/// Returns the command words of the installed shells, `sh` first.
pub(crate) fn installed_shells() -> Vec<&'static [&'static str]> {
    let is_installed = |it: &&[&str]| find_executable(it[0]).is_some();
    let found: Vec<_> = SHELLS.into_iter().filter(is_installed).collect();
    assert_eq!(found.first(), Some(&SHELLS[0]));
    found
}

/// Checks a script with every installed shell (`-n`); the error names the first that rejects it.
pub(crate) fn check_syntax(script: &str) -> Result<(), String> {
    let refuses = |shell: &&&[&str]| {
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg("-n").stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // A shell stops reading at an error.
        drop(child.stdin.take().unwrap().write_all(script.as_bytes()));
        !child.wait().unwrap().success()
    };
    match installed_shells().iter().find(refuses) {
        Some(shell) => Err(format!("{shell:?} cannot read {script}")),
        None => Ok(()),
    }
}

#[test]
fn shells_reject_unclosed_quote() {
    assert_eq!(check_syntax("{\necho 1\n}\n"), Ok(()));
    assert!(check_syntax("{\necho \"\n}\n").is_err());
}
