//! Figures of any text, found by the user's own patterns.

use regex_lite::{Captures, Regex};

use super::contents::ImportedMeasurement;
use super::foreign::{foreign_measurement, parse_unit, to_base_unit};
use super::prepared_text::prepare_text;
use super::{
    FileContents, ImportError, ImportFormat, ReadFile, check_lines, check_measurements,
    missing, reject_nul,
};
use crate::outputs::ToolError;

/// Format of a text that the user described.
const ANY_TEXT: ImportFormat = ImportFormat {
    name: "text",
    tool: "text",
    about: "any text, with --metric",
    imported: "figures that match a pattern",
    left_out: "",
    matches: |_| false,
    read: |_| Ok(FileContents::default()),
};

/// Rule that finds the figures of one name: `ns/day: Performance: +([0-9.]+) 1/s`.
#[derive(Debug, Clone)]
pub struct FigureRule {
    /// Name of the figure, the `test` of its results.
    pub name: String,
    pattern: Regex,
    unit: String,
}

impl FigureRule {
    /// Parses `NAME: REGEX UNIT`. The unit is the last word.
    ///
    /// # Errors
    /// A text for the user: a missing part, a pattern without a group, or an unknown unit.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = "expected NAME: REGEX UNIT, like 'fom: FOM = ([0-9.]+) GFLOP/s'";
        let (name, rest) = text.split_once(": ").ok_or(form)?;
        let (pattern, unit) = rest.trim().rsplit_once(' ').ok_or(form)?;
        let (name, pattern) = (name.trim(), pattern.trim());
        if name.is_empty() || pattern.is_empty() {
            return Err(form.to_owned());
        }
        let pattern = Regex::new(pattern).map_err(|error| format!("{pattern}: {error}"))?;
        if pattern.captures_len() < 2 {
            return Err(format!("`{pattern}` has no group: put the number into parentheses"));
        }
        if parse_unit(unit).is_none() {
            return Err(format!(
                "`{unit}` is no known unit, like s, us, 1/s, GB/s, MiB/s, Gbit/s, IO/s, GFLOP/s, %"
            ));
        }
        Ok(Self { name: name.to_owned(), pattern, unit: unit.to_owned() })
    }
}

/// Reads the figures that the rules find, one measurement for each.
///
/// # Errors
/// If a rule finds nothing, or a match is no number.
pub fn read_figures(text: &str, rules: &[FigureRule]) -> Result<ReadFile, ImportError> {
    reject_nul(text)?;
    let prepared = prepare_text(text);
    let refused = |line: Option<usize>, error: ToolError| ImportError::Malformed {
        about: ANY_TEXT.about,
        line: line.map(|line| prepared.file_line(line)),
        error,
    };
    check_lines(&ANY_TEXT, &prepared.text).map_err(|error| refused(None, error))?;
    let mut contents = FileContents::default();
    for rule in rules {
        let count = contents.measurements.len();
        for (number, line) in (1..).zip(prepared.text.lines()) {
            for found in rule.pattern.captures_iter(line) {
                let figure = found.get(1).map_or("", |group| group.as_str());
                let measurement = match find_cut_number(line, &found) {
                    None => read_figure(rule, figure, number),
                    Some(whole) => Err(invalid_number(rule, whole)),
                };
                contents
                    .measurements
                    .push(measurement.map_err(|error| refused(Some(number), error))?);
            }
        }
        if contents.measurements.len() == count {
            let what = format!("match of the pattern of {:?}", rule.name);
            return Err(refused(None, missing(&what)));
        }
    }
    contents.measurements.sort_by_key(|it| it.lines.as_ref().map(|lines| *lines.start()));
    check_measurements(&prepared.text, &contents).map_err(|error| refused(None, error))?;
    contents.map_lines(|line| prepared.file_line(line));
    Ok(ReadFile { format: &ANY_TEXT, prefixes: prepared.prefixes, contents })
}

fn invalid_number(rule: &FigureRule, text: &str) -> ToolError {
    ToolError::InvalidNumber { what: rule.name.clone(), text: text.to_owned() }
}

/// Returns the number of which a pattern found only some digits: `345` of `12,345`, `5` of `-5`.
/// Text of the pattern beside the group is the user's intention.
fn find_cut_number<'t>(line: &'t str, found: &Captures<'t>) -> Option<&'t str> {
    let (whole, group) = (found.get(0)?, found.get(1)?);
    let is_part = |it: char| it.is_ascii_digit() || ".,-+eE".contains(it);
    let before = match whole.start() == group.start() {
        true => &line[..group.start()],
        false => "",
    };
    let behind = if whole.end() == group.end() { &line[group.end()..] } else { "" };
    let start = group.start() - (before.len() - before.trim_end_matches(is_part).len());
    let end = group.end() + (behind.len() - behind.trim_start_matches(is_part).len());
    let has_digit = |text: &str| text.contains(|it: char| it.is_ascii_digit());
    let has_sign = line[start..group.start()] == *"-";
    let is_cut = has_sign
        || has_digit(&line[start..group.start()])
        || has_digit(&line[group.end()..end]);
    is_cut.then(|| line[start..end].trim_matches(','))
}

fn read_figure(
    rule: &FigureRule,
    figure: &str,
    line: usize,
) -> Result<ImportedMeasurement, ToolError> {
    let figure = figure.trim();
    let converted = to_base_unit(&rule.unit, (&rule.name, figure), None)?;
    let (metric, value) = converted.ok_or_else(|| invalid_number(rule, figure))?;
    let mut measurement = foreign_measurement(&rule.name, metric, vec![value]);
    measurement.lines = Some(line..=line);
    Ok(measurement)
}

#[cfg(test)]
mod tests {
    use super::{FigureRule, read_figures};

    #[test]
    fn rules_find_every_figure() {
        let rule = FigureRule::parse("fom: FOM += ([0-9.e+]+) GFLOP/s").unwrap();
        let time = FigureRule::parse("time: took ([0-9.]+) ms").unwrap();
        let file = read_figures("FOM  = 2.5e+1\nx\nFOM = 3 took 7.5\n", &[rule, time]).unwrap();
        let found = file.contents.measurements.iter().map(|it| {
            let one = &it.parsed.values[0];
            (it.name.as_str(), one.metric, one.samples[0], *it.lines.as_ref().unwrap().start())
        });
        let expected = [
            ("fom", "flop_rate", 2.5e10, 1),
            ("fom", "flop_rate", 3e9, 3),
            ("time", "time", 7.5e-3, 3),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn parts_of_numbers_are_no_figures() {
        for (rule, text, expected) in [
            ("x: ([0-9.]+) MB/s", "12,345.6 MB/s", Err("found \"12,345.6\"")),
            ("x: at ([0-9.]+) MB/s", "at 1.5e3", Err("found \"1.5e3\"")),
            ("x: ([0-9]+)%? %", "rate -5%", Err("found \"-5\"")),
            ("x: ^[^,]+,([0-9.]+), s", "4,12.5,7", Ok(12.5)),
            ("x: ([0-9.]+) s", "of 12.5, later", Ok(12.5)),
            ("x: ([0-9]+) s", "see 7-zip", Ok(7.0)),
        ] {
            let rule = FigureRule::parse(rule).unwrap();
            let read = read_figures(text, &[rule]).map_err(|error| error.to_string());
            match (read, expected) {
                (Ok(file), Ok(value)) => {
                    let found = &file.contents.measurements[0].parsed.values[0].samples;
                    assert_eq!(found, &[value], "{text}");
                }
                (Err(error), Err(part)) => assert!(error.contains(part), "{text}: {error}"),
                (read, expected) => panic!("{text}: {read:?} is not {expected:?}"),
            }
        }
    }

    #[test]
    fn unusable_rules_and_texts_are_refused() {
        for (text, expected) in [
            ("fom", "expected NAME"),
            ("fom: x", "expected NAME"),
            ("fom: FOM [0-9]+ GB/s", "has no group"),
            ("fom: FOM ([0-9]+ GB/s", "without closing"),
            ("fom: FOM ([0-9]+) parsecs", "is no known unit"),
        ] {
            let error = FigureRule::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let rule = [FigureRule::parse("fom: FOM (.*) GB/s").unwrap()];
        let line = |text| read_figures(text, &rule).unwrap_err().line();
        assert_eq!(line("a\nFOM fast\n"), Some(2));
        assert_eq!(line("nothing\n"), None);
    }
}
