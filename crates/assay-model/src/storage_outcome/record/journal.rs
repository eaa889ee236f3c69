//! Journal of a stream as CSV, one line per I/O.

use crate::storage_outcome::{IoOperation, JournalEntry};

/// Prefix of the raw output that contains every I/O of one stream.
const JOURNAL: &str = "journal";

pub(super) fn journal_name(stream: usize) -> String {
    format!("{JOURNAL}.{stream}.csv")
}

pub(super) fn format_journal(journal: &[JournalEntry]) -> Vec<u8> {
    let mut text = String::from("at_ns,service_ns,offset,bytes,operation\n");
    for entry in journal {
        let operation = entry.operation.name();
        text.push_str(
            &[entry.at_ns, entry.service_ns, entry.offset, u64::from(entry.bytes)]
                .map(|n| n.to_string())
                .join(","),
        );
        text.push(',');
        text.push_str(operation);
        text.push('\n');
    }
    text.into_bytes()
}

pub(super) fn parse_journal(bytes: &[u8]) -> Vec<JournalEntry> {
    let text = String::from_utf8_lossy(bytes);
    let parse_line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let &[at_ns, service_ns, offset, bytes, operation] = fields.as_slice() else {
            return None;
        };
        Some(JournalEntry {
            at_ns: at_ns.parse().ok()?,
            service_ns: service_ns.parse().ok()?,
            offset: offset.parse().ok()?,
            bytes: bytes.parse().ok()?,
            operation: IoOperation::from_name(operation)?,
        })
    };
    text.lines().skip(1).filter_map(parse_line).collect()
}
