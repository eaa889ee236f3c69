//! Human-readable numbers as fio prints them: a limited number of digits with a unit prefix.

/// Unit prefixes: powers of 1000 or of 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitPrefixes {
    /// k, M, G: powers of 1000.
    Decimal,
    /// Ki, Mi, Gi: powers of 1024.
    Binary,
}

/// Formats `17.6k`, `137MiB`, `4096B`: the prefix is chosen so that digits and point need at most
/// `width` characters.
pub(super) fn format_short(
    value: u64,
    width: usize,
    prefixes: UnitPrefixes,
    unit: &str,
) -> String {
    const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let (base, prefix_names) = match prefixes {
        UnitPrefixes::Decimal => (1000, DECIMAL),
        UnitPrefixes::Binary => (1024, BINARY),
    };
    let mut whole = value;
    let mut remainder = None;
    let mut power = 0;
    while digits(whole) > width && power + 1 < prefix_names.len() {
        remainder = Some(whole % base);
        whole /= base;
        power += 1;
    }
    let decimals = width.saturating_sub(digits(whole) + 1);
    let number = match remainder {
        None => whole.to_string(),
        Some(remainder) if decimals == 0 => {
            (whole + u64::from(remainder >= base / 2)).to_string()
        }
        // Rounding may carry, as for 9.99 at one decimal.
        Some(remainder) => {
            format!("{:.decimals$}", whole as f64 + remainder as f64 / base as f64)
        }
    };
    format!("{number}{}{unit}", prefix_names[power])
}

/// Returns the number of decimal digits.
fn digits(value: u64) -> usize {
    value.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Width of sizes, rates and counts.
pub(super) const SHORT_WIDTH: usize = 4;

/// Time unit in which fio prints latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Nano,
    Micro,
    Milli,
}

impl TimeUnit {
    /// Chooses the unit from minimum, maximum and deviation in nanoseconds, with fio's bounds.
    pub(super) fn choose(minimum: u64, maximum: u64, deviation: f64) -> Self {
        if minimum > 2_000_000 && maximum > 99_999_999 && deviation > 1e6 {
            Self::Milli
        } else if minimum > 2000 && maximum > 99_999 && deviation > 1e3 {
            Self::Micro
        } else {
            Self::Nano
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Nano => "nsec",
            Self::Micro => "usec",
            Self::Milli => "msec",
        }
    }

    /// Returns the nanoseconds of one unit.
    pub(super) const fn ns(self) -> u64 {
        match self {
            Self::Nano => 1,
            Self::Micro => 1000,
            Self::Milli => 1_000_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_short_numbers_like_fio() {
        let (decimal, binary) = (UnitPrefixes::Decimal, UnitPrefixes::Binary);
        // Expected texts were printed by fio 3.33.
        let table = [
            (17_566, 4, decimal, "17.6k"),
            (2123, 4, decimal, "2123"),
            (9_215_100, 6, decimal, "9215.1k"),
            (10_462_000, 6, decimal, "10462k"),
            (143_654_912, 4, binary, "137Mi"),
            (65_536, 4, binary, "64.0Ki"),
            (4096, 4, binary, "4096"),
            (98_304, 4, decimal, "98.3k"),
            (0, 4, binary, "0"),
        ];
        for (value, width, prefixes, expected) in table {
            assert_eq!(format_short(value, width, prefixes, ""), expected);
        }
        assert!(format_short(u64::MAX, 4, decimal, "B").ends_with("EB"));
    }
}
