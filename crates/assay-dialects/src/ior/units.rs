//! IOR's sizes: k, m, g and t are powers of 1024.

use assay_model::quantity;

/// Parses `4k`, `1m`, `47008`; returns `None` for anything else.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let (number, unit) =
        quantity::split_factor(text, |unit| quantity::letter_factor(unit, 1024.0))?;
    let bytes = number.parse::<u64>().ok()?.checked_mul(unit as u64)?;
    i64::try_from(bytes).is_ok().then_some(bytes)
}

/// Formats `1 MiB`, `3.91 GiB`, `262144 bytes`.
pub(super) fn format_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        None => format!("{bytes} bytes"),
        Some((unit, name)) if bytes.is_multiple_of(*unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.2} {name}", bytes as f64 / *unit as f64),
    }
}
