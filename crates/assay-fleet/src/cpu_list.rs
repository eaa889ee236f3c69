//! The kernel's list format for CPU numbers: `0-3,8`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::root::Root;

/// Upper bound of accepted CPU numbers (exclusive). Linux's `NR_CPUS` ends at 8192 on x86-64.
/// Prevents the expansion of a damaged file such as `0-4294967295`.
const MAX_CPUS: u32 = 1 << 16;

/// Parses the kernel's list format: `0-3,8,10-11`. An empty text is the empty set.
pub fn parse(text: &str) -> Option<BTreeSet<u32>> {
    let mut cpus = BTreeSet::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MAX_CPUS {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// Formats CPU numbers in the kernel's list format: `0-3,8`.
pub(crate) fn display(cpus: &BTreeSet<u32>) -> String {
    let mut text = String::new();
    let mut rest = cpus.iter().copied().peekable();
    while let Some(first) = rest.next() {
        let mut last = first;
        while let Some(next) = rest.next_if_eq(&(last + 1)) {
            last = next;
        }
        let comma = if text.is_empty() { "" } else { "," };
        let range = if first == last { String::new() } else { format!("-{last}") };
        write!(text, "{comma}{first}{range}").expect("writing to a string cannot fail");
    }
    text
}

/// Reads a list from a file; `None` if it is not visible, damaged or empty.
pub(crate) fn read_list(root: &Root, path: &str) -> Option<BTreeSet<u32>> {
    parse(&root.text(path)?).filter(|cpus| !cpus.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_kernel_lists() {
        for (text, expected) in [
            ("", Some(vec![])),
            ("0", Some(vec![0])),
            ("0-3", Some(vec![0, 1, 2, 3])),
            ("0-1,8,10-11\n", Some(vec![0, 1, 8, 10, 11])),
            ("3-1", None),
            ("0-4294967295", None),
            ("0-3:1/2", None),
            ("a", None),
            ("-1", None),
        ] {
            let read = parse(text).map(|cpus| cpus.into_iter().collect::<Vec<_>>());
            assert_eq!(read, expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn display_and_parse_are_inverse(cpus in prop::collection::btree_set(0_u32..300, 0..60)) {
            prop_assert_eq!(parse(&display(&cpus)), Some(cpus));
        }
    }
}
