//! Header lines of fio's text: the options of each job.

use crate::fio_json::FioOptionValues;

/// Options of one job: `name: (g=0): rw=randread, bs=(R) 4096B-4096B, …, iodepth=32`.
pub(super) struct JobHeader {
    pub(super) name: String,
    pub(super) group: u64,
    pub(super) options: FioOptionValues,
}

impl JobHeader {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once(": (g=")?;
        let (group, rest) = rest.split_once("): ")?;
        let mut options = FioOptionValues::new();
        let mut sizes = Vec::new();
        for part in rest.split(", ") {
            match part.split_once('=') {
                Some(("bs", size)) => sizes.extend(parse_sizes(size)),
                Some((name @ ("rw" | "ioengine" | "iodepth"), value)) => {
                    options.insert(name.to_owned(), value.trim().to_owned());
                }
                Some(_) => {}
                // Sizes of writes and trims follow as parts of their own: `(W) 4096B-4096B`.
                None => sizes.extend(parse_sizes(part)),
            }
        }
        if !sizes.is_empty() {
            options.insert("bs".to_owned(), sizes.join(","));
        }
        // Not every option is printed, such as `direct`.
        options.insert("printed_as_text".to_owned(), "1".to_owned());
        Some(Self { name: name.to_owned(), group: group.parse().ok()?, options })
    }
}

/// Splits the sizes of reads, writes and trims: `(R) 4096B-4096B`, before 2.99 `4K-4K/4K-4K/4K-4K`.
fn parse_sizes(text: &str) -> Vec<String> {
    let text = text.trim();
    let text =
        text.strip_prefix('(').and_then(|it| it.split_once(") ")).map_or(text, |it| it.1);
    text.split('/').map(str::to_owned).collect()
}
