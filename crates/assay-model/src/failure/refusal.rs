//! What a user can do about a refusal of the operating system, by error number.
//!
//! The engine adds it to what it prints while it measures, the report to what was stored. It never
//! changes what failed or why.

/// Numbers of errors (`errno(3)`) and what to do about them.
const BY_NUMBER: &[(u32, &str)] = &[
    (1, PERMISSION),
    (5, "the device or the server reports damage: look at the kernel's messages with `dmesg`"),
    (6, GONE),
    (13, PERMISSION),
    (19, GONE),
    (24, "allow more open files with `ulimit -n`"),
    (
        28,
        "free some room, or use less of the target; holes in a file need room when they are written",
    ),
    (30, "name a target on a file system that is not mounted read-only"),
    (107, GONE),
    (116, GONE),
    (122, "free some room within the quota, or use less of the target"),
];

const PERMISSION: &str =
    "name a target that this user may open, or be a user who may, with `sudo`";
/// What to do where a target went away.
pub const GONE: &str = "see that the target is there and stays there while it is measured";
const SHORT: &str = "the target is shorter than it was when the test began: see who changes it";

/// What a user can do about a refusal of the operating system, by the number in its words.
#[must_use]
pub fn advice(reason: &str) -> Option<&'static str> {
    if let Some((_, rest)) = reason.split_once("(os error ") {
        let number: u32 = rest.split(')').next()?.parse().ok()?;
        return BY_NUMBER.iter().find(|(it, _)| *it == number).map(|(_, advice)| *advice);
    }
    reason.contains(": short: ").then_some(SHORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_comes_with_the_error() {
        for (reason, expected) in [
            ("cannot open /f: Permission denied (os error 13)", Some(PERMISSION)),
            (
                "write of 8 bytes at byte 0 of f: Input/output error (os error 5); …",
                Some("dmesg"),
            ),
            ("read of 8 bytes at byte 0 of f: short: 0 of 8 B", Some(SHORT)),
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
