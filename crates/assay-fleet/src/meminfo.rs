//! `/proc/meminfo`, and files with such lines: those of NUMA nodes, and the status of processes.
//! Missing fields stay missing.

use crate::root::Root;

/// Reads the field `key` of `/proc/meminfo`, in bytes.
pub fn read_bytes(root: &Root, key: &str) -> Option<u64> {
    parse_bytes(&root.text("proc/meminfo")?, key)
}

/// Parses the field `key` in bytes. Lines read `MemTotal: 12 kB`, or `Node 0 MemTotal: 12 kB` per
/// node; the kernel's kB are 1024 bytes.
pub fn parse_bytes(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.split_whitespace().next_back() == Some(key)).then_some(value)
    })?;
    let number: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_fields_with_and_without_node() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(parse_bytes(text, "MemTotal"), expected, "{text}");
        };
        check("MemFree: 1 kB\nMemTotal:       24684084 kB\n", Some(24_684_084 << 10));
        check("Node 0 MemTotal:       16 kB\nNode 0 MemFree: 1 kB", Some(16 << 10));
        check("MemTotal: 18446744073709551615 kB", None);
        check("MemTotal: 12", None);
        check("NotMemTotal: 12 kB", None);
        check("", None);
    }
}
