//! Advice for errors of the operating system, by error number, and their texts without technical
//! details.
//!
//! The engine adds the advice to its messages, the report to stored failures. It never changes the
//! failure itself.

/// Advice by error number (`errno(3)`).
const BY_NUMBER: &[(u32, &str)] = &[
    (1, PERMISSION),
    (5, "the device or the server reports an error: check the kernel messages with `dmesg`"),
    (6, GONE),
    (13, PERMISSION),
    (19, GONE),
    (24, "allow more open files with `ulimit -n`"),
    (
        27,
        "use less of the target, or raise the limit of file sizes (`ulimit -f`, or that of the file system)",
    ),
    (
        28,
        "free some space, or use less of the target; holes in a file need space when they are written",
    ),
    (30, "name a target on a file system that is not mounted read-only"),
    (107, GONE),
    (116, GONE),
    (122, "free some space within the quota, or use less of the target"),
];

const PERMISSION: &str = "choose a target that this user may open, or run with `sudo`";
/// Advice for a target that disappeared.
pub const GONE: &str = "make sure that the target exists throughout the measurement";
/// What to do about a file that has other names.
pub const HARD_LINKS: &str = "replace it by a copy of its own (`cp FILE COPY && mv COPY FILE`), or remove it: assay makes a new one";
const SHORT: &str = "the target became shorter during the test: check which program changes it";

/// Returns advice for an error message that contains an error number of the operating system.
pub fn advice(reason: &str) -> Option<&'static str> {
    if let Some((_, rest)) = reason.split_once("(os error ") {
        let number: u32 = rest.split(')').next()?.parse().ok()?;
        return BY_NUMBER.iter().find(|(it, _)| *it == number).map(|(_, advice)| *advice);
    }
    if reason.contains(" hard links, and ") {
        return Some(HARD_LINKS);
    }
    reason.contains(": short: ").then_some(SHORT)
}

/// Phrases of libraries with their replacements.
const REWORDINGS: &[(&str, &str)] = &[
    ("failed to lookup address information: ", ""),
    ("stream did not contain valid UTF-8", "not UTF-8 text"),
    ("invalid utf-8 sequence of", "not UTF-8 text: invalid sequence of"),
    ("failed to canonicalize path", "cannot find"),
    ("failed to", "cannot"),
];

/// Simplifies an error message for display: removes the error number (`errno(3)`) and temporary
/// names, and rewords unhelpful phrases of libraries. Stored messages keep the number, which
/// [`advice`] needs.
pub fn simplify_message(reason: &str) -> String {
    let mut text = remove_spans(&remove_spans(reason, " (os error ", ")"), " at path \"", "\"");
    for (theirs, ours) in REWORDINGS {
        if text.contains(theirs) {
            text = text.replace(theirs, ours);
        }
    }
    text
}

/// Removes every part from `begin` to `end`.
fn remove_spans(text: &str, begin: &str, end: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(begin) {
        let Some((_, after)) = after.split_once(end) else { break };
        kept.push_str(before);
        rest = after;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simplifies_messages() {
        for (reason, expected) in [
            ("No such file or directory (os error 2)", "No such file or directory"),
            ("a: Is a directory (os error 21): b (os error 9)", "a: Is a directory: b"),
            ("cannot say (os error", "cannot say (os error"),
            ("stream did not contain valid UTF-8", "not UTF-8 text"),
            (
                "failed to lookup address information: Name or service not known",
                "Name or service not known",
            ),
            (
                "failed to create directory `/proc/x`: No such file or directory (os error 2)",
                "cannot create directory `/proc/x`: No such file or directory",
            ),
            (
                "No space left on device (os error 28) at path \"/s/.tmpwDUprd\"",
                "No space left on device",
            ),
        ] {
            assert_eq!(simplify_message(reason), expected);
        }
    }

    #[test]
    fn advises_by_error_number() {
        for (reason, expected) in [
            ("cannot open /f: Permission denied (os error 13)", Some(PERMISSION)),
            (
                "write of 8 bytes at byte 0 of f: Input/output error (os error 5); …",
                Some("dmesg"),
            ),
            ("read of 8 bytes at byte 0 of f: short: 0 of 8 B", Some(SHORT)),
            ("cannot write f: it has 2 hard links, and …", Some(HARD_LINKS)),
            ("no room: No space left on device (os error 28)", Some("holes")),
            ("something else (os error 999)", None),
            ("cannot say (os error x)", None),
            ("nothing known", None),
        ] {
            let found = advice(reason);
            assert_eq!(found.is_some(), expected.is_some(), "{reason}");
            assert!(found.unwrap_or("").contains(expected.unwrap_or("")), "{reason}");
        }
    }
}
