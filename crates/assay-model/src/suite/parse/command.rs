//! Parser of the programs of a suite.

use toml::de::DeValue;

use super::super::{CommandRequest, MeasureRequest};
use super::storage::{flag, one_of};
use super::{
    ParseResult, SuiteError, Table, Value, count, error_at, number, seconds, text_value,
};
use crate::benchmark::Better;
use crate::workload::command::{
    CommandWorkload, CorrectnessCheck, FigureRequest, ProgramCall, UsageMetric,
};

pub(super) const KEYS: &[&str] = &[
    "run", "name", "shell", "metrics", "read-as", "correct", "prepare", "warmup", "runs",
    "timeout", "cpus", "usage",
];
const METRIC_KEYS: &[&str] = &["name", "find", "unit", "better"];
const CHECK_KEYS: &[&str] = &["exit", "find"];

/// Parses a program with its figures and checks.
pub(super) fn request(table: &Table<'_>) -> Result<MeasureRequest, SuiteError> {
    let shell = table.optional("shell", flag)?.unwrap_or(false);
    let run = call(table.require("run")?, shell)?;
    let usual = CommandWorkload::from_call(run);
    let seconds = table.optional("timeout", seconds)?;
    let figures = table.optional("metrics", figures)?.unwrap_or_default();
    let usage = table.optional("usage", usage)?.unwrap_or_else(UsageMetric::list_all);
    let read_as = table.optional("read-as", name)?;
    let has_figures = !figures.is_empty() || read_as.is_some();
    if let (true, false, Some(value)) = (usage.is_empty(), has_figures, table.get("usage")) {
        let help = Some("add `metrics`, or omit `usage`".to_owned());
        return Err(error_at(value, "nothing would be measured", help));
    }
    let workload = CommandWorkload {
        name: table.optional("name", name)?.unwrap_or(usual.name),
        figures,
        read_as,
        correct: table.optional("correct", check)?.unwrap_or_default(),
        prepare: table.optional("prepare", |value| call(value, shell))?,
        warmup: table.optional("warmup", count)?.unwrap_or(0),
        runs: table.optional("runs", count)?,
        timeout_s: seconds.unwrap_or(usual.timeout_s),
        cpus: table.optional("cpus", cpus)?.unwrap_or_default(),
        usage,
        ..usual
    };
    Ok(MeasureRequest::Command(Box::new(CommandRequest { workload })))
}

/// Parses a program: a list of words; one text is split as a shell would, or is the shell's line.
fn call(value: &Value<'_>, shell: bool) -> ParseResult<ProgramCall> {
    match value.get_ref() {
        DeValue::Array(list) if !list.is_empty() => {
            let words = list.iter().map(text_value).collect::<Result<Vec<_>, _>>()?;
            if shell {
                let help = Some("like `\"./a | ./b\"`".to_owned());
                return Err(error_at(value, "the shell takes one line, not a list", help));
            }
            if words[0].is_empty() {
                return Err(error_at(value, "the program has no name", None));
            }
            Ok(ProgramCall { words, shell })
        }
        DeValue::String(line) if shell && !line.trim().is_empty() => {
            Ok(ProgramCall { words: vec![line.clone().into_owned()], shell })
        }
        DeValue::String(line) => {
            ProgramCall::parse_line(line).map_err(|problem| error_at(value, problem, None))
        }
        _ => {
            let help = Some("like `[\"./app\", \"-n\", \"100\"]`".to_owned());
            Err(error_at(value, "expected a program and its arguments", help))
        }
    }
}

/// Parses counters of the kernel; an empty list is valid.
fn usage(value: &Value<'_>) -> ParseResult<Vec<UsageMetric>> {
    let all = [
        ("wall", UsageMetric::Wall),
        ("cpu", UsageMetric::Cpu),
        ("memory", UsageMetric::Memory),
    ];
    let DeValue::Array(list) = value.get_ref() else {
        let help = Some("like `[\"wall\", \"cpu\", \"memory\"]`".to_owned());
        return Err(error_at(value, "expected a list", help));
    };
    list.iter().map(|value| one_of(value, &all)).collect()
}

/// Parses a short name for tables.
fn name(value: &Value<'_>) -> ParseResult<String> {
    let name = text_value(value)?;
    let is_usable = !name.trim().is_empty() && !name.contains(char::is_control);
    is_usable
        .then_some(name)
        .ok_or_else(|| error_at(value, "expected a name without control characters", None))
}

fn figures(value: &Value<'_>) -> ParseResult<Vec<FigureRequest>> {
    let DeValue::Array(list) = value.get_ref() else {
        let help = "like `[{ name = \"fom\", find = 'FOM = ([0-9.]+)', unit = \"1/s\" }]`";
        return Err(error_at(value, "expected a list of metrics", Some(help.to_owned())));
    };
    let mut figures: Vec<FigureRequest> = Vec::new();
    for value in list {
        let figure = figure(value)?;
        if figures.iter().any(|it| it.name == figure.name) {
            let problem = format!("two metrics have the name `{}`", figure.name);
            return Err(error_at(value, problem, None));
        }
        figures.push(figure);
    }
    Ok(figures)
}

fn figure(value: &Value<'_>) -> ParseResult<FigureRequest> {
    let table = inner_table(value, METRIC_KEYS)?;
    let directions = [("higher", Better::Higher), ("lower", Better::Lower)];
    Ok(FigureRequest {
        name: table.required("name", name)?,
        find: table.required("find", text_value)?,
        unit: table.optional("unit", text_value)?,
        better: table.optional("better", |value| one_of(value, &directions))?,
    })
}

fn check(value: &Value<'_>) -> ParseResult<CorrectnessCheck> {
    let table = inner_table(value, CHECK_KEYS)?;
    let usual = CorrectnessCheck::default();
    Ok(CorrectnessCheck {
        exit: table.optional("exit", exit_code)?.unwrap_or(usual.exit),
        find: table.optional("find", text_value)?,
    })
}

/// Parses an exit code, or `"any"`.
fn exit_code(value: &Value<'_>) -> ParseResult<Option<i32>> {
    if value.get_ref().as_str() == Some("any") {
        return Ok(None);
    }
    let code = number(value).filter(|it| (0.0..=255.0).contains(it) && it.fract() <= 0.0);
    code.map(|code| Some(code as i32))
        .ok_or_else(|| error_at(value, "expected an exit code from 0 to 255, or \"any\"", None))
}

fn cpus(value: &Value<'_>) -> ParseResult<Vec<u32>> {
    let DeValue::Array(list) = value.get_ref() else {
        return Err(error_at(
            value,
            "expected a list of CPU numbers",
            Some("like `[0, 1]`".into()),
        ));
    };
    let one = |value: &Value<'_>| {
        let cpu = number(value).filter(|it| (0.0..1024.0).contains(it) && it.fract() <= 0.0);
        let wrong = || error_at(value, "expected a CPU number from 0 to 1023", None);
        cpu.map(|it| it as u32).ok_or_else(wrong)
    };
    list.iter().map(one).collect()
}

fn inner_table<'a>(
    value: &'a Value<'a>,
    keys: &'static [&'static str],
) -> ParseResult<Table<'a>> {
    let DeValue::Table(inner) = value.get_ref() else {
        return Err(error_at(value, format!("expected a table of {}", keys.join(", ")), None));
    };
    let table = Table { span: value.span(), table: inner, keys: vec![keys] };
    table.check_keys()?;
    Ok(table)
}
