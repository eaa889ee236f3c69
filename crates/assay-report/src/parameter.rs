//! The ONE writer of a result's parameters for people: which unit each name implies.

use assay_model::event::Parameter;
use assay_model::quantity::{Bytes, Quantity, Unit};

/// What a parameter's name says about its value.
enum Kind {
    Size,
    Flops,
    Rate,
    Time,
    Percent,
    Scientific,
    Plain,
}

fn kind(name: &str) -> Kind {
    match name {
        "bytes" | "bytes_per_array" => Kind::Size,
        "rpeak" => Kind::Flops,
        "requested_rate" | "generator_rate" | "knee_rate" | "read_rate" | "write_rate"
        | "goal_rate" | "goal_missed_at" | "greatest_rate" => Kind::Rate,
        "knee_latency" => Kind::Time,
        "percent_of_rpeak" | "percent_of_max" => Kind::Percent,
        "residual" => Kind::Scientific,
        _ => Kind::Plain,
    }
}

/// The value with its unit, which the name implies: `bytes_per_array` 134217728 → `128 MiB`.
#[must_use]
pub fn display(name: &str, value: &Parameter) -> String {
    match (kind(name), value) {
        (Kind::Size, Parameter::Integer(bytes)) => joined(&Bytes(*bytes).to_string()),
        (Kind::Flops, value) => number(value)
            .map_or_else(|| plain(value), |flops| quantity(flops, Unit::FlopPerSecond, 4)),
        (Kind::Rate, value) => number(value)
            .map_or_else(|| plain(value), |rate| quantity(rate, Unit::IoPerSecond, 4)),
        (Kind::Time, value) => number(value)
            .map_or_else(|| plain(value), |seconds| quantity(seconds, Unit::Second, 3)),
        (Kind::Percent, value) => number(value).map_or_else(|| plain(value), percent),
        (Kind::Scientific, value) => {
            number(value).map_or_else(|| plain(value), |number| format!("{number:.2e}"))
        }
        (_, value) => plain(value),
    }
}

/// A quantity to some significant digits, number and unit held together.
#[must_use]
pub fn quantity(value: f64, unit: Unit, digits: usize) -> String {
    joined(&format!("{:.digits$}", Quantity::new(value, unit)))
}

/// `87.3 %`, to three significant digits.
#[must_use]
pub fn percent(value: f64) -> String {
    format!("{:.3}\u{a0}%", Quantity::new(value, Unit::Ratio))
}

/// The value as a number, if it is one.
#[must_use]
pub fn number(value: &Parameter) -> Option<f64> {
    match value {
        Parameter::Integer(number) => Some(*number as f64),
        Parameter::Number(number) => Some(*number),
        Parameter::Flag(_) | Parameter::Text(_) => None,
    }
}

/// Spaces that no line may break at.
#[must_use]
pub fn joined(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

fn plain(value: &Parameter) -> String {
    match value {
        Parameter::Flag(true) => "yes".to_owned(),
        Parameter::Flag(false) => "no".to_owned(),
        Parameter::Integer(number) => number.to_string(),
        Parameter::Number(number) => number.to_string(),
        Parameter::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_imply_units() {
        for (name, value, expected) in [
            ("bytes_per_array", Parameter::Integer(128 << 20), "128 MiB"),
            ("bytes", Parameter::Integer(4097), "4097 B"),
            ("bytes", Parameter::Text("many".into()), "many"),
            ("rpeak", Parameter::Number(2.368e11), "236.8 GFLOP/s"),
            ("residual", Parameter::Number(0.003_14), "3.14e-3"),
            ("percent_of_rpeak", Parameter::Number(87.25), "87.2 %"),
            ("concurrent", Parameter::Flag(true), "yes"),
            ("threads", Parameter::Integer(2), "2"),
            ("rpeak", Parameter::Number(f64::NAN), "NaN FLOP/s"),
        ] {
            assert_eq!(display(name, &value).replace('\u{a0}', " "), expected, "{name}");
        }
    }
}
