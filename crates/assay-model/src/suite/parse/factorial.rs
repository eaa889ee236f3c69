//! Parser of suites with factors: fills the placeholders of every combination, and parses each as a
//! suite of its own. Errors point at the place in the one text.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::factorial::{
    Factor, FactorCommand, FactorialCase, FactorialSuite, MAX_BLOCKS,
};
use super::{
    MEASURE_KEYS, ParseResult, SuiteError, Table, Value, error_at, number, parse_root,
    read_suite, request_keys, text_value,
};
use crate::benchmark::Benchmark;
use crate::factor::{
    self, FactorError, FactorLevel, FactorLevels, HOSTS_FACTOR, combine_levels,
    fill_placeholders,
};

pub(super) const FACTOR: &str = "factor";
const FACTOR_KEYS: &[&str] = &["name", "levels", "apply", "restore"];
/// Keys of a measure whose values are texts, even if a level looks like a number.
const TEXT_KEYS: [&str; 7] =
    ["run", "prepare", "name", "metrics", "correct", "target", "benchmark"];

/// Parses a suite with factors: its own, and those `given` on the command line, which replace the
/// levels of factors of the same name.
///
/// Returns `None` without any factor.
///
/// # Errors
/// As for a suite, and if a factor is malformed, unused, or unknown to the suite.
pub fn parse_factorial_suite(
    text: &str,
    given: &[FactorLevels],
) -> Result<Option<FactorialSuite>, SuiteError> {
    let mut root = parse_root(text)?;
    let whole = root.span();
    let Some(mut factors) = read_factors(root.get_mut(), given)? else { return Ok(None) };
    add_keys(root.get_mut(), &mut factors)?;
    check_usage(root.get_ref(), &factors)?;
    let names = program_names(root.get_mut());
    let levels: Vec<FactorLevels> = factors.iter().map(|it| it.levels.clone()).collect();
    let place = factors.last().map_or(0..0, |it| it.span.clone());
    let combined = combine_levels(&levels).map_err(|error| factor_error(&error, place))?;
    let blocks = root.get_mut().remove("blocks").map(|it| blocks(&it)).transpose()?;
    let mut combinations = Vec::new();
    for levels in combined {
        let suite = {
            let mut filled: DeTable<'_> = root.get_ref().clone();
            fill_measures(&mut filled, &levels)?;
            name_programs(&mut filled, &names);
            read_suite(&Spanned::new(whole.clone(), filled), text)
                .map_err(|error| with_levels(error, &levels))?
        };
        combinations.push(FactorialCase { levels, suite });
    }
    let Some(first) = combinations.first() else { return Ok(None) };
    Ok(Some(FactorialSuite {
        name: first.suite.name.clone(),
        budget_s: first.suite.budget_s,
        blocks,
        factors,
        combinations,
        text: text.into(),
    }))
}

/// Adds the levels to the message of an error that only they may cause.
fn with_levels(error: SuiteError, levels: &[FactorLevel]) -> SuiteError {
    let message = format!("{} ({})", error.message, factor::format_levels(levels));
    SuiteError { message, ..error }
}

fn factor_error(error: &FactorError, span: Range<usize>) -> SuiteError {
    SuiteError { message: error.to_string(), span, help: Some(error.advice()) }
}

fn blocks(value: &Value<'_>) -> ParseResult<u32> {
    let most = f64::from(MAX_BLOCKS);
    let count = number(value).filter(|it| (1.0..=most).contains(it) && it.fract() <= 0.0);
    let wrong = || error_at(value, format!("expected a number of 1 to {MAX_BLOCKS}"), None);
    count.map(|it| it as u32).ok_or_else(wrong)
}

/// Takes the factors out of the suite and merges those of the command line; `None` without any.
fn read_factors(
    root: &mut DeTable<'_>,
    given: &[FactorLevels],
) -> ParseResult<Option<Vec<Factor>>> {
    let mut factors = Vec::new();
    if let Some(list) = root.remove(FACTOR) {
        let DeValue::Array(tables) = list.get_ref() else {
            return Err(error_at(&list, "`factor` must be written `[[factor]]`", None));
        };
        for value in tables.iter() {
            factors.push(read_factor(value)?);
        }
    }
    for levels in given {
        match factors.iter_mut().find(|it| it.levels.name == levels.name) {
            Some(known) => known.levels = levels.clone(),
            None => factors.push(Factor {
                levels: levels.clone(),
                apply: None,
                restore: None,
                span: 0..0,
            }),
        }
    }
    Ok((!factors.is_empty()).then_some(factors))
}

fn read_factor(value: &Value<'_>) -> ParseResult<Factor> {
    let DeValue::Table(inner) = value.get_ref() else {
        return Err(error_at(value, "a factor must be a table", None));
    };
    let table = Table { span: value.span(), table: inner, keys: vec![FACTOR_KEYS] };
    table.check_keys()?;
    let name = table.required("name", text_value)?;
    let list = table.require("levels")?;
    let levels = FactorLevels::new(&name, read_levels(list)?)
        .map_err(|error| factor_error(&error, list.span()))?;
    let command = |value: &Value<'_>| {
        let line = text_value(value)?;
        let is_empty = line.trim().is_empty();
        let error = || error_at(value, "expected a command, found an empty text", None);
        if is_empty { Err(error()) } else { Ok(FactorCommand { line, span: value.span() }) }
    };
    let apply = table.optional("apply", command)?;
    let restore = table.optional("restore", command)?;
    if let (None, Some(restore)) = (&apply, &restore) {
        return Err(SuiteError {
            message: format!("factor `{name}` has `restore` without `apply`"),
            span: restore.span.clone(),
            help: Some("name the command that applies a level, or omit `restore`".to_owned()),
        });
    }
    if let Some(restore) = &restore
        && factor::placeholders(&restore.line).next().is_some()
    {
        return Err(SuiteError {
            message: format!("`restore` of factor `{name}` names a level"),
            span: restore.span.clone(),
            help: Some(
                "`restore` runs once, after all levels; write `{{x}}` for braces".into(),
            ),
        });
    }
    Ok(Factor { levels, apply, restore, span: value.span() })
}

/// Reads a list of levels, or a text like `1..64*2`.
fn read_levels(value: &Value<'_>) -> ParseResult<Vec<String>> {
    match value.get_ref() {
        DeValue::String(text) => {
            factor::parse_levels(text).map_err(|error| factor_error(&error, value.span()))
        }
        DeValue::Array(list) => list.iter().map(read_level).collect(),
        _ => Err(error_at(
            value,
            "expected a list of levels",
            Some("like `[1, 2, 4]` or `\"1..64*2\"`".into()),
        )),
    }
}

fn read_level(value: &Value<'_>) -> ParseResult<String> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.clone().into_owned()),
        DeValue::Integer(_) | DeValue::Float(_) => number(value)
            .map(|it| it.to_string())
            .ok_or_else(|| error_at(value, "expected a number or a text", None)),
        DeValue::Boolean(flag) => Ok(flag.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            Err(error_at(value, "a level is a number, a text, true or false", None))
        }
    }
}

/// Returns the measures of a suite; none if the suite is malformed, which its parser reports.
fn measures<'t, 'i>(root: &'t mut DeTable<'i>) -> Vec<&'t mut Spanned<DeValue<'i>>> {
    match root.get_mut("measure").map(Spanned::get_mut) {
        Some(DeValue::Array(list)) => list.iter_mut().collect(),
        _ => Vec::new(),
    }
}

/// Puts the placeholder of a factor that nothing names into every measure that has a key of its
/// name: `--factor depth=1,2` varies the depth of every storage benchmark.
fn add_keys(root: &mut DeTable<'_>, factors: &mut [Factor]) -> ParseResult<()> {
    for factor in factors {
        let name = factor.levels.name.as_str();
        let has_effect = factor.apply.is_some() || name == HOSTS_FACTOR;
        if has_effect || names_factor(root, name) {
            continue;
        }
        let mut is_known = false;
        for measure in measures(root) {
            let span = measure.span();
            let DeValue::Table(table) = measure.get_mut() else { continue };
            if !has_key(table, name) {
                continue;
            }
            is_known = true;
            let place = table.get(name).map_or(span, Spanned::span);
            factor.span = place.clone();
            let filled = DeValue::String(Cow::Owned(format!("{{{name}}}")));
            let key = Spanned::new(place.clone(), Cow::Owned(name.to_owned()));
            table.insert(key, Spanned::new(place, filled));
        }
        if !is_known {
            return Err(SuiteError {
                message: format!("factor `{name}` has no effect: nothing names `{{{name}}}`"),
                span: factor.span.clone(),
                help: Some(format!(
                    "write `{{{name}}}` into a measure, add `apply`, or use the name of an option of a benchmark"
                )),
            });
        }
    }
    Ok(())
}

/// Whether the benchmark of a measure has a key of this name.
fn has_key(table: &DeTable<'_>, name: &str) -> bool {
    let id = table.get("benchmark").and_then(|it| it.get_ref().as_str());
    let Some(benchmark) = id.and_then(Benchmark::from_id) else { return false };
    let is_fixed = MEASURE_KEYS.contains(&name) || TEXT_KEYS.contains(&name);
    !is_fixed && request_keys(benchmark.definition().settings).contains(&name)
}

fn names_factor(root: &DeTable<'_>, name: &str) -> bool {
    root.get("measure").is_some_and(|it| value_names(it.get_ref(), name))
}

fn value_names(value: &DeValue<'_>, name: &str) -> bool {
    match value {
        DeValue::String(text) => factor::placeholders(text).any(|it| it == name),
        DeValue::Array(list) => list.iter().any(|it| value_names(it.get_ref(), name)),
        DeValue::Table(table) => table.values().any(|it| value_names(it.get_ref(), name)),
        DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_) => false,
    }
}

/// Rejects a command that names no factor, and a factor whose levels would all be the same.
fn check_usage(root: &DeTable<'_>, factors: &[Factor]) -> ParseResult<()> {
    let first: Vec<FactorLevel> = factors
        .iter()
        .map(|it| FactorLevel { factor: it.levels.name.clone(), level: String::new() })
        .collect();
    for factor in factors {
        let name = &factor.levels.name;
        let Some(apply) = &factor.apply else { continue };
        fill_placeholders(&apply.line, &first)
            .map_err(|error| factor_error(&error, apply.span.clone()))?;
        let is_named =
            name == HOSTS_FACTOR || factor::placeholders(&apply.line).any(|it| it == name);
        if !is_named && !names_factor(root, name) {
            return Err(SuiteError {
                message: format!("`apply` does not name `{{{name}}}`: all levels are the same"),
                span: apply.span.clone(),
                help: Some(format!("write `{{{name}}}` where the level belongs")),
            });
        }
    }
    Ok(())
}

/// Returns a name for each measure of a program without one: its words with their placeholders, so
/// that its results have one name under all levels.
fn program_names(root: &mut DeTable<'_>) -> Vec<Option<String>> {
    let name = |measure: &mut Spanned<DeValue<'_>>| {
        let table = measure.get_ref().as_table()?;
        let is_program =
            table.get("benchmark")?.get_ref().as_str() == Some(Benchmark::Command.id());
        if !is_program || table.contains_key("name") {
            return None;
        }
        match table.get("run")?.get_ref() {
            DeValue::String(line) => Some(line.clone().into_owned()),
            DeValue::Array(list) => {
                let words = list.iter().filter_map(|it| it.get_ref().as_str());
                Some(words.collect::<Vec<_>>().join(" "))
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => None,
        }
    };
    measures(root).into_iter().map(name).collect()
}

fn name_programs<'i>(root: &mut DeTable<'i>, names: &'i [Option<String>]) {
    for (measure, name) in measures(root).into_iter().zip(names) {
        let span = measure.span();
        if let (DeValue::Table(table), Some(name)) = (measure.get_mut(), name) {
            let key = Spanned::new(span.clone(), Cow::Borrowed("name"));
            table.insert(key, Spanned::new(span, DeValue::String(Cow::Borrowed(name))));
        }
    }
}

/// Fills all placeholders of the measures.
fn fill_measures<'i>(root: &mut DeTable<'i>, levels: &'i [FactorLevel]) -> ParseResult<()> {
    for measure in measures(root) {
        let DeValue::Table(table) = measure.get_mut() else { continue };
        for (key, value) in table.iter_mut() {
            let is_text = TEXT_KEYS.contains(&key.get_ref().as_ref());
            fill_value(value, levels, is_text)?;
        }
    }
    Ok(())
}

/// Fills the placeholders of a value. A text that is only a placeholder becomes a number if the level
/// looks like one, unless `is_text`.
fn fill_value<'i>(
    value: &mut Spanned<DeValue<'i>>,
    levels: &'i [FactorLevel],
    is_text: bool,
) -> ParseResult<()> {
    let span = value.span();
    let error = |error: FactorError| factor_error(&error, span.clone());
    match value.get_mut() {
        DeValue::String(text) => {
            let only = levels.iter().find(|it| format!("{{{}}}", it.factor) == *text);
            let filled = fill_placeholders(text, levels).map_err(error)?;
            let plain = only.filter(|_| !is_text).and_then(|it| plain_value(&it.level));
            *value.get_mut() = plain.unwrap_or(DeValue::String(Cow::Owned(filled)));
        }
        DeValue::Array(list) => {
            list.iter_mut().try_for_each(|it| fill_value(it, levels, is_text))?;
        }
        DeValue::Table(table) => {
            table.iter_mut().try_for_each(|(_, it)| fill_value(it, levels, is_text))?;
        }
        DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_) => {}
    }
    Ok(())
}

/// Returns a level as a number or a truth value, if it looks like one.
fn plain_value(level: &str) -> Option<DeValue<'_>> {
    match DeValue::parse(level).ok()?.into_inner() {
        DeValue::Integer(it) => Some(DeValue::Integer(it)),
        DeValue::Float(it) => Some(DeValue::Float(it)),
        DeValue::Boolean(it) => Some(DeValue::Boolean(it)),
        DeValue::String(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests;
