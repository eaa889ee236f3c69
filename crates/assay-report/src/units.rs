//! The only formatter of values for people: numbers with units, and attributes by their kind.

use assay_model::attribute::{Attribute, AttributeKind, AttributeValue};
use assay_model::quantity::Unit;

use crate::locale::{group_digits, semicolon, word};
pub use crate::locale::{
    in_percent, localise_printed, parse_quantity, percent, quantity, quantity_with_prefix,
    scientific, shown_digits, size, split_unit, with_no_break_spaces, with_symbol,
};
use crate::words;

/// Formats a value according to the kind of its attribute: `bytes_per_array` 134217728 → `128 MiB`.
pub fn format_attribute(attribute: Attribute, value: &AttributeValue) -> String {
    let number = value.as_number();
    match (attribute.row().kind, value, number) {
        (AttributeKind::Size, AttributeValue::Integer(bytes), _) => size(*bytes),
        (AttributeKind::Quantity(Unit::Second), _, Some(number)) => {
            quantity(number, Unit::Second, 3)
        }
        (AttributeKind::Quantity(unit), _, Some(number)) => quantity(number, unit, 4),
        (AttributeKind::Percent, _, Some(number)) => percent(number),
        (AttributeKind::Scientific, _, Some(number)) => scientific(number, 2),
        _ => format_plain(value),
    }
}

fn format_plain(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Flag(true) => word("yes").to_owned(),
        AttributeValue::Flag(false) => word("no").to_owned(),
        AttributeValue::Number(number) => group_digits(&number.to_string()),
        AttributeValue::Reason(reason) => words::engine_reason(reason),
        AttributeValue::Pairs(pairs) => {
            let pair = |(name, value): (&String, &String)| format!("{name}={value}");
            pairs.iter().map(pair).collect::<Vec<_>>().join(semicolon())
        }
        AttributeValue::Integer(_) | AttributeValue::Text(_) | AttributeValue::Ranks(_) => {
            value.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_the_attribute_kind() {
        for (attribute, value, expected) in [
            (Attribute::BytesPerArray, AttributeValue::Integer(128 << 20), "128 MiB"),
            (Attribute::Bytes, AttributeValue::Integer(4097), "4097 B"),
            (Attribute::Bytes, "many".into(), "many"),
            (Attribute::Rpeak, AttributeValue::Number(2.368e11), "236.8 GFLOP/s"),
            (Attribute::Residual, AttributeValue::Number(0.003_14), "3.14e-3"),
            (Attribute::PercentOfRpeak, AttributeValue::Number(87.25), "87.2 %"),
            (Attribute::KneeLatency, AttributeValue::Number(0.000_123_4), "123 µs"),
            (Attribute::Concurrent, AttributeValue::Flag(true), "yes"),
            (Attribute::Threads, AttributeValue::Integer(2), "2"),
            (Attribute::Rpeak, AttributeValue::Number(f64::NAN), "NaN FLOP/s"),
            (
                Attribute::Variables,
                AttributeValue::Pairs([("A".to_owned(), "b c".to_owned())].into()),
                "A=b c",
            ),
        ] {
            let shown = format_attribute(attribute, &value).replace('\u{a0}', " ");
            assert_eq!(shown, expected, "{attribute:?}");
        }
    }
}
