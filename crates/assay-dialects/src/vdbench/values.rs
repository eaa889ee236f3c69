//! Parses the values of parameters: numbers with units, ranges, words.
//!
//! A value that cannot be parsed adds a diagnostic and yields `None`, so that parsing continues.

use assay_model::quantity::{Quantity, Unit};

use super::keywords::Values;
use super::lines::Lines;
use super::statements::Parameter;
use super::tokens::Element;

/// Maximum number of values of one range; the runs of more would take years.
const MOST_VALUES: usize = 10_000;

/// Number or percentage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    pub(super) percent: bool,
}

/// Number or word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(Number),
    Word(String),
}

/// Value with its text for reports.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) value: Value,
    pub(super) text: String,
}

/// Parses all values of a parameter and expands ranges.
pub(super) fn values(lines: &mut Lines, parameter: &Parameter) -> Option<Vec<Shown>> {
    let kind = parameter.keyword.values;
    if parameter.list && kind != Values::Words {
        return numbers_of_list(lines, parameter);
    }
    let mut values = Vec::new();
    for element in &parameter.elements {
        if element.text.is_empty() {
            let message = format!("`{}` has an empty value", parameter.keyword.spelled);
            let error = lines.error("V111", parameter.spot, message).vdbench("stops");
            lines.found.push(error);
            return None;
        }
        match number(&element.text, kind) {
            Some(number) if kind != Values::Words => {
                values.push(Shown { value: Value::Number(number), text: element.text.clone() });
            }
            None if matches!(kind, Values::Numbers | Values::Times) => {
                bad_unit(lines, parameter, element);
                return None;
            }
            _ => values.push(Shown {
                value: Value::Word(element.text.to_ascii_lowercase()),
                text: element.text.clone(),
            }),
        }
    }
    Some(values)
}

/// Parses all values, which must be numbers.
pub(super) fn numbers(lines: &mut Lines, parameter: &Parameter) -> Option<Vec<Number>> {
    let values = values(lines, parameter)?;
    let numbers: Option<Vec<Number>> = values
        .iter()
        .map(|parsed| match parsed.value {
            Value::Number(number) => Some(number),
            Value::Word(_) => None,
        })
        .collect();
    if numbers.is_none() {
        bad_unit(lines, parameter, &parameter.elements[0]);
    }
    numbers
}

/// Parses the only value, which must be a number.
pub(super) fn one_number(lines: &mut Lines, parameter: &Parameter) -> Option<f64> {
    match numbers(lines, parameter)?[..] {
        [one] => Some(one.value),
        _ => one_expected(lines, parameter),
    }
}

/// Checks that `value` is a whole number from 1 to `most`.
pub(super) fn count(
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
    let error = lines.error("V123", parameter.spot, message);
    lines.found.push(error);
    None
}

/// Checks the number of the first of several copies, which must be a whole number in 32 bits.
pub(super) fn first_number(
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
    let error = lines.error("V123", parameter.spot, message);
    lines.found.push(error);
    None
}

/// Returns the only value as a word in lower case.
pub(super) fn one_word(lines: &mut Lines, parameter: &Parameter) -> Option<String> {
    match &parameter.elements[..] {
        [one] => Some(one.text.to_ascii_lowercase()),
        _ => one_expected(lines, parameter),
    }
}

/// Parses `yes` or `no`.
pub(super) fn yes_no(lines: &mut Lines, parameter: &Parameter) -> Option<bool> {
    match one_word(lines, parameter)?.as_str() {
        "yes" | "y" => Some(true),
        "no" | "n" => Some(false),
        other => {
            let message =
                format!("`{}` is yes or no, not `{other}`", parameter.keyword.spelled);
            let error = lines.error("V120", parameter.spot, message).vdbench("stops");
            lines.found.push(error);
            None
        }
    }
}

/// Returns names and patterns, with `(sd1-sd16)` expanded.
pub(super) fn names(lines: &mut Lines, parameter: &Parameter) -> Vec<Element> {
    let mut names = Vec::new();
    for element in &parameter.elements {
        if !parameter.list || element.quoted || !element.text.contains('-') {
            names.push(element.clone());
        } else if let Some(expanded) = range_of_names(&element.text) {
            let named = |text| Element { text, ..element.clone() };
            names.extend(expanded.into_iter().map(named));
        } else {
            let message = format!("`{}` is no range of names", element.text);
            let error = lines
                .error("V121", element.spot, message)
                .help(format!(
                    "a range is written (sd1-sd16); a name with a `-` in parentheses needs \
                     quotation marks: \"{}\"",
                    element.text
                ))
                .vdbench("stops");
            lines.found.push(error);
        }
    }
    names
}

/// Parses a number of Vdbench: digits, optionally with a decimal point, and a unit or `%`.
pub(super) fn number(text: &str, values: Values) -> Option<Number> {
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
        ("" | "k" | "m" | "g" | "t", Values::Numbers | Values::Either | Values::Words) => {
            Quantity::parse(&lower, Unit::Byte)
        }
        ("kb" | "mb" | "gb" | "tb", Values::Numbers | Values::Either | Values::Words) => {
            Quantity::parse(lower.trim_end_matches('b'), Unit::Byte)
        }
        ("h", _) | ("" | "s" | "m", Values::Times) => Quantity::parse(&lower, Unit::Second),
        _ => return None,
    };
    Some(Number { value: sign * value.ok()?.value, percent })
}

fn one_expected<T>(lines: &mut Lines, parameter: &Parameter) -> Option<T> {
    let message = format!("`{}` takes one value", parameter.keyword.spelled);
    let error = lines.error("V120", parameter.spot, message);
    lines.found.push(error);
    None
}

fn bad_unit(lines: &mut Lines, parameter: &Parameter, element: &Element) {
    let units = match parameter.keyword.values {
        Values::Times => {
            "times are whole or decimal numbers, with s, m or h behind them if need be"
        }
        _ => "numbers may have k, m, g or t behind them, powers of 1024, or %",
    };
    let message = format!(
        "`{}` is no number that `{}` understands",
        element.text, parameter.keyword.spelled
    );
    let does = if parameter.list { "leaves it out of the list" } else { "stops" };
    let error = lines.error("V123", element.spot, message).help(units).vdbench(does);
    lines.found.push(error);
}

/// Parses a list in parentheses: all numbers, with ranges, or all words.
fn numbers_of_list(lines: &mut Lines, parameter: &Parameter) -> Option<Vec<Shown>> {
    let kind = parameter.keyword.values;
    let mut values: Vec<Shown> = Vec::new();
    let mut elements = parameter.elements.iter().peekable();
    while let Some(element) = elements.next() {
        if let Some(number) = number(&element.text, kind) {
            let parsed = Shown { value: Value::Number(number), text: element.text.clone() };
            values.push(parsed);
            continue;
        }
        // A minus sign as first character makes a number negative; a later one separates a range.
        let range = element
            .text
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '-')
            .filter(|_| !element.quoted)
            .and_then(|(at, _)| {
                let from = number(&element.text[..at], kind)?;
                Some((from, number(&element.text[at + 1..], kind)?))
            });
        if let Some((from, to)) = range {
            let step = elements.next().map(|element| element.text.clone());
            values.extend(expand(lines, parameter, element, (from, to), step.as_deref())?);
        } else if element.text.eq_ignore_ascii_case("d") && values.len() == 2 {
            let ends: Vec<Number> = values.drain(..).filter_map(|v| as_number(&v)).collect();
            let [from, to] = ends[..] else { return mixed(lines, parameter) };
            values = expand(lines, parameter, element, (from, to), Some("d"))?;
        } else if matches!(kind, Values::Either) {
            let word = Value::Word(element.text.to_ascii_lowercase());
            values.push(Shown { value: word, text: element.text.clone() });
        } else {
            bad_unit(lines, parameter, element);
            return None;
        }
    }
    let are_numbers = values.iter().filter(|parsed| as_number(parsed).is_some()).count();
    // These parameters may mix numbers and words: `(eof,50,random)`, `(100,200,max)`.
    let may_mix = matches!(parameter.keyword.name, "seekpct" | "iorate" | "fwdrate");
    if are_numbers != 0 && are_numbers != values.len() && !may_mix {
        return mixed(lines, parameter);
    }
    Some(values)
}

fn as_number(parsed: &Shown) -> Option<Number> {
    match parsed.value {
        Value::Number(number) => Some(number),
        Value::Word(_) => None,
    }
}

fn mixed<T>(lines: &mut Lines, parameter: &Parameter) -> Option<T> {
    let message = format!("`{}` mixes numbers and words", parameter.keyword.spelled);
    let error = lines
        .error("V120", parameter.spot, message)
        .help("a list holds numbers only or words only")
        .vdbench("leaves out what it does not understand");
    lines.found.push(error);
    None
}

/// Expands a range.
fn expand(
    lines: &mut Lines,
    parameter: &Parameter,
    element: &Element,
    (from, to): (Number, Number),
    step: Option<&str>,
) -> Option<Vec<Shown>> {
    let Some(step) = step else {
        let message = format!("the range `{}` has no step", element.text);
        let error = lines
            .error("V121", element.spot, message)
            .help(format!("write ({},step) or, to double, ({},d)", element.text, element.text))
            .vdbench("stops");
        lines.found.push(error);
        return None;
    };
    let listed = if step.eq_ignore_ascii_case("d") {
        doubled(from.value, to.value)
    } else {
        let Some(step) = number(step, parameter.keyword.values).filter(|step| step.value > 0.0)
        else {
            bad_unit(lines, parameter, element);
            return None;
        };
        if from.value > to.value {
            let message = format!("the range `{}` goes down and has one value", element.text);
            let warning = lines
                .warning("V122", element.spot, message)
                .help("list the values, or write the range upwards")
                .vdbench("takes the first value alone, as here");
            lines.found.push(warning);
            vec![from.value]
        } else {
            stepped(from.value, to.value, step.value)
        }
    };
    if listed.len() > MOST_VALUES {
        let message =
            format!("the range `{}` has more than {MOST_VALUES} values", element.text);
        let error = lines.error("V121", element.spot, message).help("take a greater step");
        lines.found.push(error);
        return None;
    }
    let percent = from.percent || to.percent;
    let parsed =
        |value| Shown { value: Value::Number(Number { value, percent }), text: compact(value) };
    Some(listed.into_iter().map(parsed).collect())
}

fn stepped(from: f64, to: f64, step: f64) -> Vec<f64> {
    (0..=MOST_VALUES)
        .map(|index| from + index as f64 * step)
        // Decimal steps do not reach the end exactly.
        .take_while(|value| *value <= to + step * 1e-9)
        .collect()
}

fn doubled(from: f64, to: f64) -> Vec<f64> {
    let (factor, up) = if from > to { (0.5, false) } else { (2.0, true) };
    let next = |value: &f64| (*value > 0.0).then_some(value * factor);
    std::iter::successors(Some(from), next)
        .take_while(|value| if up { *value <= to } else { *value >= to })
        .take(MOST_VALUES + 1)
        .collect()
}

/// Formats a number like Vdbench: `8k`, `64k`, `1m`, otherwise plain.
pub(super) fn compact(value: f64) -> String {
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
fn range_of_names(text: &str) -> Option<Vec<String>> {
    let (from, to) = text.split_once('-')?;
    let digits = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (stem, first) = from.split_at(digits(from));
    let (other, last) = to.split_at(digits(to));
    let (a, b): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let plain = |digits: &str| !digits.starts_with('0') || digits == "0";
    let is_range = !stem.is_empty() && stem.eq_ignore_ascii_case(other) && a <= b;
    if !is_range || !plain(first) || !plain(last) || b - a >= MOST_VALUES as u64 {
        return None;
    }
    Some((a..=b).map(|n| format!("{stem}{n}")).collect())
}
