//! Dimensions from options of fio.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::quantity::{self as parse};

/// Derives dimensions from options of fio. `entries` is the number of clones of a job that have
/// separate entries.
pub(crate) fn fio_dimensions(options: &BTreeMap<String, String>, entries: u64) -> Attributes {
    let of =
        |names: &[&str]| names.iter().find_map(|name| options.get(*name)).map(String::as_str);
    let way = of(&["rw", "readwrite"]).unwrap_or("read");
    let way = way.split(':').next().unwrap_or(way);
    let operation = match way {
        "read" | "randread" => "read",
        "rw" | "readwrite" | "randrw" => "mix",
        _ => "write",
    };
    let whole = |names: &[&str]| of(names).and_then(|text| text.parse::<u64>().ok());
    let jobs = whole(&["numjobs"]).unwrap_or(1).max(entries);
    let depth = whole(&["iodepth"]).unwrap_or(1).saturating_mul(jobs);
    // Several sequential jobs on one file are not one sequential access.
    let pattern = match (way.starts_with("rand"), jobs) {
        (true, _) => "random",
        (false, 1) => "sequential",
        (false, _) => "parts",
    };
    let mut asked = Attributes::from([
        (Attribute::Operation, operation.into()),
        (Attribute::Pattern, pattern.into()),
        (Attribute::Depth, depth.into()),
        (Attribute::Threads, jobs.into()),
    ]);
    if operation == "mix" {
        let percent = whole(&["rwmixread"]).unwrap_or(50).min(100);
        asked.insert(Attribute::ReadShare, (percent as f64 / 100.0).into());
    }
    // fio's default is 4 KiB (HOWTO, "blocksize").
    let bytes = of(&["bs", "blocksize"]).map_or(Some(4096), parse_fio_size);
    asked.extend(bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    asked.extend(of(&["ioengine"]).map(|name| (Attribute::Engine, name.into())));
    asked.extend(
        of(&["filename"]).map(|names| (Attribute::Target, format_file_names(names).into())),
    );
    if of(&["direct"]).unwrap_or("0") != "1" {
        asked.insert(Attribute::PageCache, true.into());
    }
    asked
}

/// Splits fio's list of files at colons; a backslash escapes a colon (HOWTO, "filename").
fn format_file_names(names: &str) -> String {
    let mut files = vec![String::new()];
    let mut is_escaped = false;
    for letter in names.chars() {
        match letter {
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            ':' if !is_escaped => files.push(String::new()),
            letter => {
                let last = files.len() - 1;
                // Only a colon is escaped by a backslash.
                files[last].extend((is_escaped && letter != ':').then_some('\\'));
                files[last].push(letter);
            }
        }
        is_escaped = false;
    }
    files.retain(|it| !it.is_empty());
    files.join(", ")
}

/// Parses a size of fio: `4k`, `4KiB`, `4096B` and `4kb` are all 4096, unless `kb_base` is set.
pub(crate) fn parse_fio_size(text: &str) -> Option<u64> {
    let text = text.split(['-', ',']).next()?;
    let worth = |unit: &str| {
        let letter = unit.trim_end_matches('b').trim_end_matches('i');
        parse::letter_factor(letter, 1024.0)
    };
    let (number, factor) = parse::split_factor(text, worth)?;
    let bytes = number.parse::<f64>().ok()? * factor;
    (1.0..1e18).contains(&bytes).then_some(bytes as u64)
}
