//! Numbers with an exponent, as C prints them.

/// Formats like `%.*e` of C: `1.234560e+04`.
pub fn format_exponent(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let exponent: i32 = exponent.parse().unwrap_or(0);
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_c() {
        for (value, digits, expected) in [
            (0.012_345, 10, "1.2345000000e-02"),
            (1.5e9, 6, "1.500000e+09"),
            (2.0, 6, "2.000000e+00"),
            (1e-120, 10, "1.0000000000e-120"),
            (f64::INFINITY, 6, "inf"),
        ] {
            assert_eq!(format_exponent(value, digits), expected);
        }
    }
}
