//! Journal of a stream as CSV, one line per I/O.

use crate::storage_outcome::JournalEntry;

/// Prefix of the raw output that contains every I/O of one stream.
const JOURNAL: &str = "journal";

pub(super) fn journal_name(stream: usize) -> String {
    format!("{JOURNAL}.{stream}.csv")
}

pub(super) fn format_journal(journal: &[JournalEntry]) -> Vec<u8> {
    let mut text =
        String::from("at_ns,service_ns,offset,bytes,operation,submission_ns,target\n");
    for entry in journal {
        let operation = entry.operation.name();
        text.push_str(
            &[entry.at_ns, entry.service_ns, entry.offset, u64::from(entry.bytes)]
                .map(|n| n.to_string())
                .join(","),
        );
        text.push(',');
        text.push_str(operation);
        text.push(',');
        text.push_str(&entry.submission_ns.to_string());
        text.push(',');
        text.push_str(&entry.target.to_string());
        text.push('\n');
    }
    text.into_bytes()
}
