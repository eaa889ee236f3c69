//! Values of fio's options.

use assay_model::quantity::{self as parse};

/// Splits fio's list of files at colons; a backslash escapes a colon (HOWTO, "filename").
pub(crate) fn format_file_names(names: &str) -> String {
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
