//! Parses the values of parameters: numbers with units, ranges, words.
//!
//! A value that cannot be parsed adds a diagnostic and yields `None`, so that parsing continues.

use assay_model::quantity::{Quantity, Unit};

use super::keywords::KeywordValue;
use super::lines::Lines;
use super::statements::Parameter;
use super::tokens::ParameterElement;

/// Maximum number of values of one range; the runs of more would take years.
const MAX_VALUES: usize = 10_000;

/// Number or percentage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    pub(super) is_percent: bool,
}

/// Number or word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Number(Number),
    Word(String),
}

/// Value with its text for reports.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParameterValue {
    pub(super) value: Scalar,
    pub(super) text: String,
}

impl ParameterValue {
    /// Returns the number; 0 for a word.
    pub(super) fn number_or_zero(&self) -> f64 {
        match &self.value {
            Scalar::Number(number) => number.value,
            Scalar::Word(_) => 0.0,
        }
    }
}

/// Parses all values of a parameter and expands ranges.
pub(super) fn parse_values(
    lines: &mut Lines,
    parameter: &Parameter,
) -> Option<Vec<ParameterValue>> {
    let kind = parameter.keyword.values;
    if parameter.is_list && kind != KeywordValue::Words {
        return parse_list(lines, parameter);
    }
    let mut values = Vec::new();
    for element in &parameter.elements {
        if element.text.is_empty() {
            let message = format!("`{}` has an empty value", parameter.keyword.spelled);
            lines.report_error("V111", parameter.spot, message).add_vdbench_behaviour("stops");
            return None;
        }
        match parse_number(&element.text, kind) {
            Some(number) if kind != KeywordValue::Words => {
                values.push(ParameterValue {
                    value: Scalar::Number(number),
                    text: element.text.clone(),
                });
            }
            None if matches!(kind, KeywordValue::Numbers | KeywordValue::Times) => {
                report_malformed_number(lines, parameter, element);
                return None;
            }
            _ => values.push(ParameterValue {
                value: Scalar::Word(element.text.to_ascii_lowercase()),
                text: element.text.clone(),
            }),
        }
    }
    Some(values)
}

/// Parses all values, which must be numbers.
pub(super) fn parse_numbers(lines: &mut Lines, parameter: &Parameter) -> Option<Vec<Number>> {
    let values = parse_values(lines, parameter)?;
    let numbers: Option<Vec<Number>> = values
        .iter()
        .map(|parsed| match parsed.value {
            Scalar::Number(number) => Some(number),
            Scalar::Word(_) => None,
        })
        .collect();
    if numbers.is_none() {
        report_malformed_number(lines, parameter, &parameter.elements[0]);
    }
    numbers
}

/// Parses the only value, which must be a number.
pub(super) fn parse_one_number(lines: &mut Lines, parameter: &Parameter) -> Option<f64> {
    match parse_numbers(lines, parameter)?[..] {
        [one] => Some(one.value),
        _ => report_not_single(lines, parameter),
    }
}

/// Checks that `value` is a whole number from 1 to `most`.
pub(super) fn check_count(
    lines: &mut Lines,
    parameter: &Parameter,
    value: f64,
    most: u32,
) -> Option<u32> {
    if value.fract() == 0.0 && (1.0..=f64::from(most)).contains(&value) {
        return Some(value as u32);
    }
    let message = format!(
        "`{}` must be a whole number from 1 to {most}, not {value}",
        parameter.keyword.spelled
    );
    lines.report_error("V123", parameter.spot, message);
    None
}

/// Checks the number of the first of several copies, which must be a whole number in 32 bits.
pub(super) fn check_first_number(
    lines: &mut Lines,
    parameter: &Parameter,
    value: f64,
) -> Option<u64> {
    if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) {
        return Some(value as u64);
    }
    let message = format!(
        "the first number of `{}` must be a whole one from 0 to {}, not {value}",
        parameter.keyword.spelled,
        u32::MAX
    );
    lines.report_error("V123", parameter.spot, message);
    None
}

/// Returns the only value as a word in lower case.
pub(super) fn parse_one_word(lines: &mut Lines, parameter: &Parameter) -> Option<String> {
    match &parameter.elements[..] {
        [one] => Some(one.text.to_ascii_lowercase()),
        _ => report_not_single(lines, parameter),
    }
}

/// Parses `yes` or `no`.
pub(super) fn parse_yes_no(lines: &mut Lines, parameter: &Parameter) -> Option<bool> {
    match parse_one_word(lines, parameter)?.as_str() {
        "yes" | "y" => Some(true),
        "no" | "n" => Some(false),
        other => {
            let message =
                format!("`{}` is yes or no, not `{other}`", parameter.keyword.spelled);
            lines.report_error("V120", parameter.spot, message).add_vdbench_behaviour("stops");
            None
        }
    }
}

/// Returns names and patterns, with `(sd1-sd16)` expanded.
pub(super) fn parse_names(lines: &mut Lines, parameter: &Parameter) -> Vec<ParameterElement> {
    let mut names = Vec::new();
    for element in &parameter.elements {
        if !parameter.is_list || element.is_quoted || !element.text.contains('-') {
            names.push(element.clone());
        } else if let Some(expanded) = expand_name_range(&element.text) {
            let named = |text| ParameterElement { text, ..element.clone() };
            names.extend(expanded.into_iter().map(named));
        } else {
            let message = format!("`{}` is not a range of names", element.text);
            lines.report_error("V121", element.spot, message).advise(
                format!(
                    "write a range as (sd1-sd16); a name with a `-` in parentheses needs \
                     quotation marks: \"{}\"",
                    element.text
                ),
                "stops",
            );
        }
    }
    names
}

/// Parses a number of Vdbench: digits, optionally with a decimal point, and a unit or `%`.
pub(super) fn parse_number(text: &str, values: KeywordValue) -> Option<Number> {
    let (body, percent) = match text.strip_suffix('%') {
        Some(body) => (body, true),
        None => (text, false),
    };
    let (sign, body) = match body.strip_prefix('-') {
        Some(body) => (-1.0, body),
        None => (1.0, body),
    };
    if !body.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let lower = body.to_ascii_lowercase();
    let letters = lower.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let value = match (letters, values) {
        (
            "" | "k" | "m" | "g" | "t",
            KeywordValue::Numbers | KeywordValue::Either | KeywordValue::Words,
        ) => Quantity::parse(&lower, Unit::Byte),
        (
            "kb" | "mb" | "gb" | "tb",
            KeywordValue::Numbers | KeywordValue::Either | KeywordValue::Words,
        ) => Quantity::parse(lower.trim_end_matches('b'), Unit::Byte),
        ("h", _) | ("" | "s" | "m", KeywordValue::Times) => {
            Quantity::parse(&lower, Unit::Second)
        }
        _ => return None,
    };
    Some(Number { value: sign * value.ok()?.value, is_percent: percent })
}

fn report_not_single<T>(lines: &mut Lines, parameter: &Parameter) -> Option<T> {
    let message = format!("`{}` takes one value", parameter.keyword.spelled);
    lines.report_error("V120", parameter.spot, message);
    None
}

fn report_malformed_number(
    lines: &mut Lines,
    parameter: &Parameter,
    element: &ParameterElement,
) {
    let units = match parameter.keyword.values {
        KeywordValue::Times => "use a number, optionally with the suffix s, m or h",
        _ => "use a number, optionally with the suffix k, m, g or t (powers of 1024) or %",
    };
    let message =
        format!("`{}` is not a valid number for `{}`", element.text, parameter.keyword.spelled);
    let does = if parameter.is_list { "leaves it out of the list" } else { "stops" };
    lines.report_error("V123", element.spot, message).advise(units, does);
}

/// Parses a list in parentheses: all numbers, with ranges, or all words.
fn parse_list(lines: &mut Lines, parameter: &Parameter) -> Option<Vec<ParameterValue>> {
    let kind = parameter.keyword.values;
    let mut values: Vec<ParameterValue> = Vec::new();
    let mut elements = parameter.elements.iter().peekable();
    while let Some(element) = elements.next() {
        if let Some(number) = parse_number(&element.text, kind) {
            let parsed =
                ParameterValue { value: Scalar::Number(number), text: element.text.clone() };
            values.push(parsed);
            continue;
        }
        // A minus sign as first character makes a number negative; a later one separates a range.
        let range = element
            .text
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '-')
            .filter(|_| !element.is_quoted)
            .and_then(|(at, _)| {
                let from = parse_number(&element.text[..at], kind)?;
                Some((from, parse_number(&element.text[at + 1..], kind)?))
            });
        if let Some((from, to)) = range {
            let step = elements.next().map(|element| element.text.clone());
            values.extend(expand_range(
                lines,
                parameter,
                element,
                (from, to),
                step.as_deref(),
            )?);
        } else if element.text.eq_ignore_ascii_case("d") && values.len() == 2 {
            let ends: Vec<Number> = values.drain(..).filter_map(|v| as_number(&v)).collect();
            let [from, to] = ends[..] else { return report_mixed(lines, parameter) };
            values = expand_range(lines, parameter, element, (from, to), Some("d"))?;
        } else if matches!(kind, KeywordValue::Either) {
            let word = Scalar::Word(element.text.to_ascii_lowercase());
            values.push(ParameterValue { value: word, text: element.text.clone() });
        } else {
            report_malformed_number(lines, parameter, element);
            return None;
        }
    }
    let are_numbers = values.iter().filter(|parsed| as_number(parsed).is_some()).count();
    // These parameters may mix numbers and words: `(eof,50,random)`, `(100,200,max)`.
    let may_mix = matches!(parameter.keyword.name, "seekpct" | "iorate" | "fwdrate");
    if are_numbers != 0 && are_numbers != values.len() && !may_mix {
        return report_mixed(lines, parameter);
    }
    Some(values)
}

fn as_number(parsed: &ParameterValue) -> Option<Number> {
    match parsed.value {
        Scalar::Number(number) => Some(number),
        Scalar::Word(_) => None,
    }
}

fn report_mixed<T>(lines: &mut Lines, parameter: &Parameter) -> Option<T> {
    let message = format!("`{}` mixes numbers and words", parameter.keyword.spelled);
    lines
        .report_error("V120", parameter.spot, message)
        .advise("use only numbers or only words", "ignores values that it cannot parse");
    None
}

/// Expands a range.
fn expand_range(
    lines: &mut Lines,
    parameter: &Parameter,
    element: &ParameterElement,
    (from, to): (Number, Number),
    step: Option<&str>,
) -> Option<Vec<ParameterValue>> {
    let Some(step) = step else {
        let message = format!("the range `{}` has no step", element.text);
        lines.report_error("V121", element.spot, message).advise(
            format!("write ({},step) or, to double, ({},d)", element.text, element.text),
            "stops",
        );
        return None;
    };
    let listed = if step.eq_ignore_ascii_case("d") {
        doubling_range(from.value, to.value)
    } else {
        let Some(step) =
            parse_number(step, parameter.keyword.values).filter(|step| step.value > 0.0)
        else {
            report_malformed_number(lines, parameter, element);
            return None;
        };
        if from.value > to.value {
            let message =
                format!("the range `{}` is descending and yields one value", element.text);
            lines.report_warning("V122", element.spot, message).advise(
                "list the values, or write an ascending range",
                "uses only the first value, as here",
            );
            vec![from.value]
        } else {
            stepped_range(from.value, to.value, step.value)
        }
    };
    if listed.len() > MAX_VALUES {
        let message = format!("the range `{}` has more than {MAX_VALUES} values", element.text);
        lines.report_error("V121", element.spot, message).add_help("use a larger step");
        return None;
    }
    let percent = from.is_percent || to.is_percent;
    let parsed = |value| ParameterValue {
        value: Scalar::Number(Number { value, is_percent: percent }),
        text: format_compact(value),
    };
    Some(listed.into_iter().map(parsed).collect())
}

fn stepped_range(from: f64, to: f64, step: f64) -> Vec<f64> {
    (0..=MAX_VALUES)
        .map(|index| from + index as f64 * step)
        // Decimal steps do not reach the end exactly.
        .take_while(|value| *value <= to + step * 1e-9)
        .collect()
}

fn doubling_range(from: f64, to: f64) -> Vec<f64> {
    let (factor, up) = if from > to { (0.5, false) } else { (2.0, true) };
    let next = |value: &f64| (*value > 0.0).then_some(value * factor);
    std::iter::successors(Some(from), next)
        .take_while(|value| if up { *value <= to } else { *value >= to })
        .take(MAX_VALUES + 1)
        .collect()
}

/// Formats a number like Vdbench: `8k`, `64k`, `1m`, otherwise plain.
pub(super) fn format_compact(value: f64) -> String {
    let units = [("t", 1u64 << 40), ("g", 1 << 30), ("m", 1 << 20), ("k", 1 << 10)];
    for (letter, bytes) in units {
        let quotient = value / bytes as f64;
        if quotient >= 1.0 && quotient.fract() == 0.0 {
            return format!("{quotient}{letter}");
        }
    }
    format!("{value}")
}

/// Expands `sd1-sd3` to `sd1`, `sd2`, `sd3`.
fn expand_name_range(text: &str) -> Option<Vec<String>> {
    let (from, to) = text.split_once('-')?;
    let digits = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (stem, first) = from.split_at(digits(from));
    let (other, last) = to.split_at(digits(to));
    let (a, b): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let plain = |digits: &str| !digits.starts_with('0') || digits == "0";
    let is_range = !stem.is_empty() && stem.eq_ignore_ascii_case(other) && a <= b;
    if !is_range || !plain(first) || !plain(last) || b - a >= MAX_VALUES as u64 {
        return None;
    }
    Some((a..=b).map(|n| format!("{stem}{n}")).collect())
}
