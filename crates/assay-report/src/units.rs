//! The only formatter of values for people: numbers with units, and attributes by their kind.

use assay_model::attribute::{Attribute, BoundRank, Kind, Value};
use assay_model::quantity::Unit;

use crate::locale::{grouped, semicolon, word};
pub use crate::locale::{
    in_percent, joined, parts, percent, printed, quantity, quantity_beside, read, scientific,
    size, with_symbol,
};
use crate::words;

/// Formats a value according to the kind of its attribute: `bytes_per_array` 134217728 → `128 MiB`.
#[must_use]
pub fn display(attribute: Attribute, value: &Value) -> String {
    let number = value.number();
    match (attribute.row().kind, value, number) {
        (Kind::Size, Value::Integer(bytes), _) => size(*bytes),
        (Kind::Measured(Unit::Second), _, Some(number)) => quantity(number, Unit::Second, 3),
        (Kind::Measured(unit), _, Some(number)) => quantity(number, unit, 4),
        (Kind::Percent, _, Some(number)) => percent(number),
        (Kind::Scientific, _, Some(number)) => scientific(number, 2),
        _ => plain(value),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Flag(true) => word("yes").to_owned(),
        Value::Flag(false) => word("no").to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => grouped(&number.to_string()),
        Value::Text(text) => text.clone(),
        Value::Reason(reason) => words::engine_reason(reason),
        Value::Pairs(pairs) => {
            let pair = |(name, value): (&String, &String)| format!("{name}={value}");
            pairs.iter().map(pair).collect::<Vec<_>>().join(semicolon())
        }
        Value::Ranks(ranks) => BoundRank::line(ranks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_implies_units() {
        for (attribute, value, expected) in [
            (Attribute::BytesPerArray, Value::Integer(128 << 20), "128 MiB"),
            (Attribute::Bytes, Value::Integer(4097), "4097 B"),
            (Attribute::Bytes, "many".into(), "many"),
            (Attribute::Rpeak, Value::Number(2.368e11), "236.8 GFLOP/s"),
            (Attribute::Residual, Value::Number(0.003_14), "3.14e-3"),
            (Attribute::PercentOfRpeak, Value::Number(87.25), "87.2 %"),
            (Attribute::KneeLatency, Value::Number(0.000_123_4), "123 µs"),
            (Attribute::Concurrent, Value::Flag(true), "yes"),
            (Attribute::Threads, Value::Integer(2), "2"),
            (Attribute::Rpeak, Value::Number(f64::NAN), "NaN FLOP/s"),
            (
                Attribute::Variables,
                Value::Pairs([("A".to_owned(), "b c".to_owned())].into()),
                "A=b c",
            ),
        ] {
            let shown = display(attribute, &value).replace('\u{a0}', " ");
            assert_eq!(shown, expected, "{attribute:?}");
        }
    }
}
