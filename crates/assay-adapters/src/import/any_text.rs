//! Figures of any text, found by the user's own patterns.

use assay_model::benchmark::Better;
use assay_model::workload::command::FigureRequest;
use regex_lite::{Captures, Regex};
use thiserror::Error;

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
    holds_others: true,
};

/// Rule that finds the figures of one name: `ns/day: Performance: +([0-9.]+) 1/s`.
#[derive(Debug, Clone)]
pub struct FigureRule {
    /// Name of the figure, the `test` of its results.
    pub name: String,
    pattern: Regex,
    unit: Option<String>,
    better: Option<Better>,
}

impl FigureRule {
    /// Parses `NAME: REGEX [UNIT]`. The unit is the last word; without one, `higher` and `lower`
    /// name the direction in which the figure improves.
    ///
    /// # Errors
    /// A text for the user: a missing part, a pattern without a group, or an unknown unit.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = "expected NAME: REGEX [UNIT] with a blank after the colon, like 'fom: FOM = ([0-9.]+) GFLOP/s'";
        let (name, rest) = text.split_once(": ").ok_or(form)?;
        let (name, rest) = (name.trim().to_owned(), rest.trim());
        if name.is_empty() || rest.is_empty() {
            return Err(form.to_owned());
        }
        let (find, unit, better) = split_unit(rest)?;
        Self::from_request(&FigureRequest { name, find: find.to_owned(), unit, better })
    }

    /// Compiles the pattern of a request.
    ///
    /// # Errors
    /// A text for the user: a pattern without a group, an unknown unit, or a direction that
    /// contradicts the unit.
    pub fn from_request(request: &FigureRequest) -> Result<Self, String> {
        let FigureRequest { name, find, unit, better } = request;
        let pattern = Regex::new(find).map_err(|error| format!("{find}: {error}"))?;
        if pattern.captures_len() < 2 {
            return Err(format!("`{find}` has no group: put the number into parentheses"));
        }
        if let Some(unit) = unit {
            let Some(known) = parse_unit(unit) else {
                return Err(unknown_unit(unit));
            };
            if better.is_some_and(|better| !known.improves(better)) {
                return Err(format!(
                    "figures in `{unit}` have a fixed direction; leave out `better`, or the unit"
                ));
            }
        }
        let (name, unit) = (name.clone(), unit.clone());
        Ok(Self { name, pattern, unit, better: *better })
    }

    /// Returns the request that the rule was made from.
    pub fn to_request(&self) -> FigureRequest {
        FigureRequest {
            name: self.name.clone(),
            find: self.pattern.as_str().to_owned(),
            unit: self.unit.clone(),
            better: self.better,
        }
    }

    /// Returns the metric of a figure that the rule found, and its value in base units.
    fn convert(&self, figure: &str) -> Result<(&'static str, f64), ToolError> {
        let figure = figure.trim();
        let lower = self.better.map(|better| better == Better::Lower);
        let unit = self.unit.as_deref().unwrap_or_default();
        let converted = to_base_unit(unit, (&self.name, figure), lower)?;
        converted.ok_or_else(|| ToolError::InvalidNumber {
            what: self.name.clone(),
            text: figure.to_owned(),
        })
    }
}

fn unknown_unit(unit: &str) -> String {
    format!("`{unit}` is no known unit, like s, us, 1/s, GB/s, MiB/s, Gbit/s, IO/s, GFLOP/s, %")
}

/// Separates the unit or the direction from a pattern. A last word that is neither belongs to the
/// pattern, unless it looks like a unit.
fn split_unit(text: &str) -> Result<(&str, Option<String>, Option<Better>), String> {
    let Some((find, last)) = text.rsplit_once(' ') else { return Ok((text, None, None)) };
    let find = find.trim();
    match last {
        "higher" => return Ok((find, None, Some(Better::Higher))),
        "lower" => return Ok((find, None, Some(Better::Lower))),
        unit if parse_unit(unit).is_some() => return Ok((find, Some(unit.to_owned()), None)),
        _ => {}
    }
    let is_word = last.chars().all(|it| it.is_alphanumeric() || matches!(it, '/' | '%' | '_'));
    match is_word && find.ends_with(')') {
        true => Err(unknown_unit(last)),
        false => Ok((text, None, None)),
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
        is_at_end: false,
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
/// Text of the pattern outside of the group is the user's intention.
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
    let (metric, value) = rule.convert(figure)?;
    let mut measurement = foreign_measurement(&rule.name, metric, vec![value]);
    measurement.lines = Some(line..=line);
    Ok(measurement)
}

/// Figure that a rule found exactly once.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundFigure<'r> {
    /// Name of the rule.
    pub name: &'r str,
    /// The metric by the unit.
    pub metric: &'static str,
    /// The value in the metric's base unit.
    pub value: f64,
}

/// Reason why an output has no single figure.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FigureError {
    /// Nothing matches.
    #[error("no line of the output matches the pattern of {name:?}: `{find}`")]
    Missing {
        /// Name of the rule.
        name: String,
        /// Its pattern.
        find: String,
    },
    /// Several places match.
    #[error("{name:?} was found twice: in {first} and in {second}")]
    Several {
        /// Name of the rule.
        name: String,
        /// First place.
        first: String,
        /// Second place.
        second: String,
    },
    /// The match is not a number.
    #[error("{place}: {error}")]
    Unreadable {
        /// Place of the match.
        place: String,
        /// Error of the number.
        error: ToolError,
    },
}

/// Finds the one figure of each rule in the streams of a program, by name: `standard output`.
///
/// # Errors
/// If a rule has no match, or several, or one that is no number.
pub fn find_single_figures<'r>(
    streams: &[(&str, &str)],
    rules: &'r [FigureRule],
) -> Result<Vec<FoundFigure<'r>>, FigureError> {
    rules.iter().map(|rule| find_single(streams, rule)).collect()
}

fn find_single<'r>(
    streams: &[(&str, &str)],
    rule: &'r FigureRule,
) -> Result<FoundFigure<'r>, FigureError> {
    let in_stream = |(stream, text): &(&str, &str)| {
        let mut found = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            for captures in rule.pattern.captures_iter(line) {
                let figure = captures.get(1).map_or("", |group| group.as_str());
                // A number of which only some digits match is no figure.
                let figure = match find_cut_number(line, &captures) {
                    Some(whole) => Err(invalid_number(rule, whole)),
                    None => Ok(figure.to_owned()),
                };
                found.push((format!("line {number} of {stream}"), figure));
                if found.len() > 1 {
                    return found;
                }
            }
        }
        found
    };
    let found: Vec<(String, Result<String, ToolError>)> =
        streams.iter().flat_map(in_stream).collect();
    match found.as_slice() {
        [] => Err(FigureError::Missing {
            name: rule.name.clone(),
            find: rule.pattern.as_str().to_owned(),
        }),
        [(place, figure)] => {
            let converted = figure.clone().and_then(|figure| rule.convert(&figure));
            let unreadable = |error| FigureError::Unreadable { place: place.clone(), error };
            let (metric, value) = converted.map_err(unreadable)?;
            Ok(FoundFigure { name: &rule.name, metric, value })
        }
        [(first, _), (second, _), ..] => Err(FigureError::Several {
            name: rule.name.clone(),
            first: first.clone(),
            second: second.clone(),
        }),
    }
}

/// Pattern that a line of a correct output matches.
#[derive(Debug, Clone)]
pub struct LinePattern(Regex);

impl LinePattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// A text for the user, if it is no regular expression.
    pub fn parse(find: &str) -> Result<Self, String> {
        Regex::new(find).map(Self).map_err(|error| format!("{find}: {error}"))
    }

    /// Whether a line of the text matches.
    pub fn matches(&self, text: &str) -> bool {
        text.lines().any(|line| self.0.is_match(line))
    }
}

#[cfg(test)]
mod tests {
    use assay_model::benchmark::Better;
    use assay_model::workload::command::FigureRequest;

    use super::{FigureRule, find_single_figures, read_figures};

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
            ("x: ([0-9.e]+) GB/s", "1e300", Err("found \"1e300\": the maximum is 1e30")),
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
            ("fom: ", "expected NAME"),
            ("fom: x", "has no group"),
            ("fom: FOM [0-9]+ GB/s", "has no group"),
            ("fom: FOM ([0-9]+ GB/s", "without closing"),
            ("fom: FOM ([0-9]+) parsecs", "is no known unit"),
        ] {
            let error = FigureRule::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let request = FigureRequest {
            name: "fom".to_owned(),
            find: "FOM ([0-9]+)".to_owned(),
            unit: Some("s".to_owned()),
            better: Some(Better::Higher),
        };
        let error = FigureRule::from_request(&request).unwrap_err();
        assert!(error.contains("fixed direction"), "{error}");
        let rule = [FigureRule::parse("fom: FOM (.*) GB/s").unwrap()];
        let line = |text| read_figures(text, &rule).unwrap_err().line();
        assert_eq!(line("a\nFOM fast\n"), Some(2));
        assert_eq!(line("nothing\n"), None);
    }

    #[test]
    fn units_are_optional() {
        for (text, find, unit, better) in [
            ("ns/day: Performance: +([0-9.]+)", "Performance: +([0-9.]+)", None, None),
            ("cost: cost ([0-9.]+) lower", "cost ([0-9.]+)", None, Some(Better::Lower)),
            ("a: a = ([0-9.]+) MB/s", "a = ([0-9.]+)", Some("MB/s"), None),
            ("a: ([0-9.]+) of all$", "([0-9.]+) of all$", None, None),
        ] {
            let request = FigureRule::parse(text).unwrap().to_request();
            assert_eq!((request.find.as_str(), request.better), (find, better), "{text}");
            assert_eq!(request.unit.as_deref(), unit, "{text}");
        }
    }

    #[test]
    fn programs_print_one_figure_for_each_rule() {
        let rules = [
            FigureRule::parse("fom: FOM = ([^ ]+) GB/s").unwrap(),
            FigureRule::parse("cost: cost ([0-9.]+) lower").unwrap(),
        ];
        let check = |out: &str, error: &str| {
            let streams = [("standard output", out), ("standard error", error)];
            match find_single_figures(&streams, &rules) {
                Ok(found) => found
                    .iter()
                    .map(|it| format!("{} {} {}", it.name, it.metric, it.value))
                    .collect::<Vec<_>>()
                    .join("; "),
                Err(error) => error.to_string(),
            }
        };
        for (out, error, expected) in [
            ("FOM = 2\n", "x\ncost 3\n", "fom bandwidth 2000000000; cost penalty 3"),
            ("", "", "no line of the output matches the pattern of \"fom\": `FOM = ([^ ]+)`"),
            (
                "FOM = 2\n",
                "\nFOM = 3",
                "\"fom\" was found twice: in line 1 of standard output and in line 2 of standard error",
            ),
            (
                "a\nFOM = many GB/s\n",
                "",
                "line 2 of standard output: expected a plain number for fom, found \"many\"",
            ),
            (
                "FOM = 2\n",
                "cost 12,345.6\n",
                "line 1 of standard error: expected a plain number for cost, found \"12,345.6\"",
            ),
        ] {
            assert_eq!(check(out, error), expected);
        }
    }

    #[test]
    fn correct_output_has_a_matching_line() {
        let pattern = super::LinePattern::parse("^Final +Energy").unwrap();
        assert!(pattern.matches("a\nFinal  Energy = 1\n"));
        assert!(!pattern.matches("a Final Energy"));
        assert!(super::LinePattern::parse("(").is_err());
    }
}
