//! Processes of a host, from `/proc/*/stat` (`proc_pid_stat(5)`). Processes that end during a
//! snapshot are left out.

use std::path::Path;

use crate::root::Root;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    pub(crate) id: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    /// Whether the process is dead but not yet reaped by its parent.
    pub(crate) zombie: bool,
    /// First 15 bytes of the program's name.
    pub(crate) name: String,
    /// User and system time so far, in clock ticks.
    pub(crate) busy_ticks: u64,
    /// Start time in clock ticks since boot; distinguishes processes with the same id.
    pub(crate) start_ticks: u64,
}

/// Returns all visible processes by id.
pub(crate) fn snapshot(root: &Root) -> Vec<ProcessEntry> {
    root.entry_numbers("proc", "").into_iter().filter_map(|id| read(root, id)).collect()
}

/// Reads one process; `None` if it does not exist.
pub(crate) fn read(root: &Root, id: u32) -> Option<ProcessEntry> {
    parse(&root.text(&format!("proc/{id}/stat"))?)
}

/// Returns the ticks in user mode and in the kernel of a process and of the children that it has
/// waited for, from the text of its `stat`.
pub(crate) fn family_ticks(text: &str) -> Option<[u64; 2]> {
    let (_, tail) = text.rsplit_once(')')?;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let with_children = |own: usize| number(own)?.checked_add(number(own + 2)?);
    Some([with_children(14)?, with_children(15)?])
}

/// Returns whether a process runs this program, or a copy of it on another path, by the size of the executable;
/// `true` if that of a process is not visible.
pub(crate) fn is_same_program(root: &Root, id: u32) -> bool {
    let bytes = |id: &str| {
        let path = root.host_path(Path::new(&format!("/proc/{id}/exe")));
        std::fs::metadata(path).ok().map(|it| it.len())
    };
    let theirs = bytes(&id.to_string());
    theirs.is_none() || theirs == bytes("self")
}

/// Returns whether a process was started with `assignment`, as in `NAME=value`, in its environment;
/// `false` if the environment is not visible.
pub(crate) fn has_environment(root: &Root, id: u32, assignment: &str) -> bool {
    let environment = root.text(&format!("proc/{id}/environ")).unwrap_or_default();
    environment.split('\0').any(|variable| variable == assignment)
}

/// Parses `pid (name) state ppid pgrp …`: the name may contain blanks and parentheses, so the last
/// `)` ends it.
fn parse(text: &str) -> Option<ProcessEntry> {
    let (head, tail) = text.rsplit_once(')')?;
    let (id, name) = head.split_once('(')?;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    // The manual page counts fields from 1 and from the pid; its field 3, the state, is field 0
    // here.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(ProcessEntry {
        id: id.trim().parse().ok()?,
        parent: u32::try_from(number(4)?).ok()?,
        group: u32::try_from(number(5)?).ok()?,
        zombie: ["Z", "X"].contains(fields.first()?),
        name: name.to_owned(),
        busy_ticks: number(14)?.checked_add(number(15)?)?,
        start_ticks: number(22)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name alone does not make a program a part of assay.
    #[test]
    fn copy_of_another_program_is_not_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("assay-burn");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let mut child = std::process::Command::new(&program).arg("60").spawn().unwrap();
        let root = Root::machine();
        assert!(
            !is_same_program(&root, child.id()) && is_same_program(&root, std::process::id())
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn name_may_contain_blanks_and_parentheses() {
        let line = "77 (a) b (c) S 1 70 70 0 -1 4 0 0 0 0 12 30 0 0 20 0 1 0 4711 0 0";
        let expected = ProcessEntry {
            id: 77,
            parent: 1,
            group: 70,
            zombie: false,
            name: "a) b (c".into(),
            busy_ticks: 42,
            start_ticks: 4711,
        };
        assert_eq!(parse(line), Some(expected));
        let waited = line.replace("12 30 0 0 20", "12 30 5 7 20");
        assert_eq!(family_ticks(&waited), Some([17, 37]));
        for damaged in ["", "77", "77 (a", "77 (a) S", "77 (a) S x y", ") 7 ("] {
            assert_eq!(parse(damaged), None, "{damaged}");
        }
    }
}
