//! Tests of formatting and parsing, and the property that they are inverse.

use proptest::prelude::*;

use super::*;

fn check(text: &str, unit: Unit, expected: f64) {
    let parsed = Quantity::parse(text, unit).unwrap_or_else(|error| panic!("{error}"));
    assert!((parsed.value - expected).abs() <= expected.abs() * 1e-12, "{text}: {parsed:?}");
}

#[test]
fn parses_quantities() {
    for (text, unit, expected) in [
        ("4k", Unit::Byte, 4096.0),
        ("4K", Unit::Byte, 4096.0),
        ("4kB", Unit::Byte, 4000.0),
        ("4kb", Unit::Byte, 4096.0),
        ("64KiB", Unit::Byte, 65536.0),
        ("1.5GiB", Unit::Byte, 1_610_612_736.0),
        ("2 MiB", Unit::Byte, 2_097_152.0),
        ("10Gbit/s", Unit::BitPerSecond, 1e10),
        ("10Gbps", Unit::BitPerSecond, 1e10),
        ("10Gb/s", Unit::BitPerSecond, 1e10),
        ("100mbit", Unit::BitPerSecond, 1e8),
        ("5000iops", Unit::IoPerSecond, 5000.0),
        ("5kIOPS", Unit::IoPerSecond, 5000.0),
        ("1d", Unit::Second, 86_400.0),
        ("841MiB/s", Unit::BytePerSecond, 881_852_416.0),
        ("1e9", Unit::BytePerSecond, 1e9),
        ("300k", Unit::IoPerSecond, 3e5),
        ("500us", Unit::Second, 5e-4),
        ("500µs", Unit::Second, 5e-4),
        ("2m", Unit::Second, 120.0),
        ("1w", Unit::Second, 604_800.0),
        ("7 days", Unit::Second, 604_800.0),
        ("90min", Unit::Second, 5400.0),
        ("1 hour 30 minutes", Unit::Second, 5400.0),
        ("1h30m", Unit::Second, 5400.0),
        ("1m 30s", Unit::Second, 90.0),
        ("2d12h", Unit::Second, 216_000.0),
        ("2ns/B", Unit::SecondPerByte, 2e-9),
        ("0.5 s/GB", Unit::SecondPerByte, 5e-10),
        ("20ms/GB", Unit::SecondPerByte, 2e-11),
        ("80%", Unit::Ratio, 0.8),
        ("0.8", Unit::Ratio, 0.8),
        ("2.5GHz", Unit::Hertz, 2.5e9),
        ("1k", Unit::Count, 1000.0),
    ] {
        check(text, unit, expected);
    }
}

#[test]
fn parses_share_without_percent_sign() {
    for (text, expected) in [("80%", 0.8), ("80", 0.8), ("0.8", 0.8), ("1%", 0.01), ("0", 0.0)]
    {
        assert_eq!(parse_share(text), Ok(expected), "{text}");
    }
    let error = parse_share("1").unwrap_err().to_string();
    assert_eq!(error, "`1` is ambiguous (1 % or 100 %); write `1%` or `100%`");
}

#[test]
fn rejects_invalid_quantities() {
    for (text, unit, expected) in [
        ("", Unit::Byte, "`` does not start with a number; write it like `64MiB`"),
        ("many", Unit::Byte, "`many` does not start with a number; write it like `64MiB`"),
        ("5s", Unit::Byte, "`s` in `5s` is not a unit of a size; write it like `64MiB`"),
        ("5GB", Unit::Second, "`GB` in `5GB` is not a unit of time; write it like `60s`"),
        (
            "10Gbps",
            Unit::BytePerSecond,
            "`Gbps` in `10Gbps` is not a unit of a byte rate; write it like `10GB/s`",
        ),
        (
            "5GB/s",
            Unit::BitPerSecond,
            "`GB/s` in `5GB/s` is not a unit of a bit rate; write it like `10Gbit/s`",
        ),
        ("30m1h", Unit::Second, "`m1h` in `30m1h` is not a unit of time; write it like `60s`"),
        ("1h30", Unit::Second, "`h30` in `1h30` is not a unit of time; write it like `60s`"),
        ("-5s", Unit::Second, "`-5s` is negative; write it like `60s`"),
        ("1e400", Unit::Count, "`1e400` is out of range"),
        ("1-2", Unit::Count, "`1-2` does not start with a number; write it like `1000`"),
    ] {
        assert_eq!(Quantity::parse(text, unit).unwrap_err().to_string(), expected);
    }
    assert_eq!(
        "0.3B".parse::<Bytes>().unwrap_err().to_string(),
        "`0.3B` is not a whole number of bytes"
    );
    assert_eq!(
        "9000PiB".parse::<Bytes>().unwrap_err().to_string(),
        "`9000PiB` is out of range"
    );
}

#[test]
fn formats_quantities() {
    for (value, unit, expected) in [
        (34_123_456_789.0, Unit::BytePerSecond, "34.12 GB/s"),
        (999_960.0, Unit::BytePerSecond, "1.000 MB/s"),
        (0.0, Unit::BytePerSecond, "0 B/s"),
        (1024.0, Unit::Byte, "1.000 KiB"),
        (1.27e-6, Unit::Second, "1.270 µs"),
        (8.4e-8, Unit::Second, "84.00 ns"),
        (90.0, Unit::Second, "90.00 s"),
        (4.021e-10, Unit::SecondPerByte, "0.4021 s/GB"),
        (26.79e-9, Unit::SecondPerByte, "26.79 s/GB"),
        (0.876, Unit::Ratio, "0.8760"),
        (f64::NAN, Unit::Second, "NaN s"),
    ] {
        assert_eq!(Quantity::new(value, unit).to_string(), expected);
    }
    assert_eq!(format!("{:.2}", Quantity::new(34.1e9, Unit::FlopPerSecond)), "34 GFLOP/s");
    assert_eq!(Bytes::kib(96).to_string(), "96 KiB");
    assert_eq!(Bytes(98305).to_string(), "98305 B");
    assert_eq!(Bytes(0).to_string(), "0 B");
    assert_eq!(Bytes(80_000_000).to_string(), "80 MB");
    assert_eq!(Bytes(10_000).to_string(), "10 kB");
    assert_eq!(Bytes(9_000_000).to_string(), "9 MB");
    assert_eq!(Bytes(1_024_000).to_string(), "1000 KiB");
    assert_eq!(Bytes::kib(12_345).to_string(), "12345 KiB");
}

proptest! {
    #[test]
    fn display_then_parse_is_the_same_to_four_digits(
        value in (-12i32..15, 1.0f64..10.0).prop_map(|(e, m)| m * 10f64.powi(e)),
        unit in proptest::sample::select(&Unit::ALL[..]),
    ) {
        let text = Quantity::new(value, unit).to_string();
        let back = Quantity::parse(&text, unit).unwrap().value;
        prop_assert!((back - value).abs() <= value * 5.1e-4, "{value} → {text} → {back}");
    }

    #[test]
    fn bytes_display_then_parse_is_exact(n in 0u64..1 << 53) {
        prop_assert_eq!(Bytes(n).to_string().parse::<Bytes>().unwrap(), Bytes(n));
    }

    #[test]
    fn no_value_panics(value in any::<f64>(), unit in proptest::sample::select(&Unit::ALL[..])) {
        prop_assert!(!Quantity::new(value, unit).to_string().is_empty());
    }

    #[test]
    fn no_text_panics(text in "\\PC*", unit in proptest::sample::select(&Unit::ALL[..])) {
        let _ = Quantity::parse(&text, unit);
    }
}
