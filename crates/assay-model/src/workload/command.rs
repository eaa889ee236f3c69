//! Workload of a program: its words, figures and checks.

use serde::{Deserialize, Serialize};

use crate::attribute::{Attribute, Attributes};
use crate::benchmark::Better;
use crate::factor::FactorLevel;

/// Maximum time of a repetition, if the user gives none: a program that hangs ends some day.
pub const DEFAULT_TIMEOUT_S: f64 = 3600.0;
/// Fewest repetitions before the interval can end a case.
pub const DEFAULT_REPETITIONS: u32 = 10;

/// Program that is started again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandWorkload {
    /// Name of the program, by which results are compared.
    pub name: String,
    /// Program with its arguments.
    pub run: ProgramCall,
    /// Figures that the program prints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureRequest>,
    /// Format of the output, whose figures an importer reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<String>,
    /// Signs of a correct run.
    pub correct: CorrectnessCheck,
    /// Command before each repetition; its time does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<ProgramCall>,
    /// Number of runs before the first one that counts.
    #[serde(default)]
    pub warmup: u32,
    /// Fewest repetitions, unless the budget ends first.
    pub repetitions: u32,
    /// Exact number of repetitions; `None` = by precision and budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// Margin of the comparison with other programs, whose verdict ends the repetitions; `None` =
    /// they end regardless of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by_margin: Option<f64>,
    /// Maximum time of a run in seconds.
    pub timeout_s: f64,
    /// CPUs that the program may use; empty = all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Whether the output is shown while measuring.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_output: bool,
    /// Counters of the kernel that become results.
    #[serde(default = "UsageMetric::list_all", skip_serializing_if = "is_all_usage")]
    pub usage: Vec<UsageMetric>,
    /// Levels of the factors by which it differs from the other programs of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<FactorLevel>,
}

/// Counter of the kernel for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsageMetric {
    /// Time from its start to its end.
    Wall,
    /// CPU time.
    Cpu,
    /// Peak memory.
    Memory,
}

impl UsageMetric {
    pub fn list_all() -> Vec<Self> {
        vec![Self::Wall, Self::Cpu, Self::Memory]
    }
}

fn is_all_usage(usage: &[UsageMetric]) -> bool {
    UsageMetric::list_all().iter().all(|it| usage.contains(it))
}

/// Program with its arguments, or a line for the shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramCall {
    /// The program and its arguments, encoded by [`crate::path_text`]; with a shell, one line.
    pub words: Vec<String>,
    /// Whether `sh -c` runs the line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shell: bool,
}

/// Figure of a program's output, as requested by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FigureRequest {
    /// Its name.
    pub name: String,
    /// Regular expression, whose first group is the number.
    pub find: String,
    /// Unit of the number; `None` = a figure without unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Direction in which it improves; `None` = the usual one of its unit, higher without a unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
}

/// Signs of a correct run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorrectnessCheck {
    /// Expected exit code; `None` = any.
    pub exit: Option<i32>,
    /// Regular expression that a line of the output has to match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find: Option<String>,
}

impl Default for CorrectnessCheck {
    fn default() -> Self {
        Self { exit: Some(0), find: None }
    }
}

impl CommandWorkload {
    /// Returns a program with the usual settings, named by its own words.
    pub fn from_call(run: ProgramCall) -> Self {
        Self {
            name: run.line(),
            run,
            figures: Vec::new(),
            read_as: None,
            correct: CorrectnessCheck::default(),
            prepare: None,
            warmup: 0,
            repetitions: DEFAULT_REPETITIONS,
            runs: None,
            decided_by_margin: None,
            timeout_s: DEFAULT_TIMEOUT_S,
            cpus: Vec::new(),
            shows_output: false,
            usage: UsageMetric::list_all(),
            levels: Vec::new(),
        }
    }

    /// Returns the dimensions of all its results.
    pub(super) fn dimensions(&self) -> Attributes {
        Attributes::from([(Attribute::Program, self.name.as_str().into())])
    }
}

impl ProgramCall {
    /// Returns the words as one line for a shell.
    pub fn line(&self) -> String {
        match self.shell {
            true => self.words.join(" "),
            false => self.words.iter().map(|it| quote_word(it)).collect::<Vec<_>>().join(" "),
        }
    }

    /// Splits a line into words as a shell would: at blanks outside quotes and backslashes. Nothing
    /// is expanded.
    ///
    /// # Errors
    /// If a quote has no end, or there is no word.
    pub fn parse_line(line: &str) -> Result<Self, String> {
        let words = split_line(line)?;
        if words.is_empty() {
            return Err("expected a program, found an empty text".to_owned());
        }
        Ok(Self { words, shell: false })
    }
}

/// Quotes a word where a shell would split or expand it.
fn quote_word(word: &str) -> String {
    let is_plain = |it: char| {
        it.is_alphanumeric()
            || matches!(it, '/' | '.' | '-' | '_' | '=' | ':' | ',' | '+' | '@' | '%')
    };
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn split_line(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        match next {
            blank if blank.is_ascii_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let quoted = word.get_or_insert_default();
                read_quoted(&mut rest, next, quoted)
                    .ok_or_else(|| format!("the quote {next} has no end in `{line}`"))?;
            }
            '\\' => word.get_or_insert_default().extend(rest.next()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Appends the text up to the closing quote; `None` without one. Within double quotes, a backslash
/// keeps its effect before a quote and a backslash (POSIX 2.2.3, without expansions).
fn read_quoted(rest: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            end if end == quote => return Some(()),
            '\\' if quote == '"' => match rest.next()? {
                escaped @ ('"' | '\\') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ProgramCall;

    #[test]
    fn lines_are_split_as_by_a_shell() {
        for (line, expected) in [
            ("a -n 100", Ok(vec!["a", "-n", "100"])),
            ("  a   ''  ", Ok(vec!["a", ""])),
            ("a 'b c' \"d 'e'\" f\\ g", Ok(vec!["a", "b c", "d 'e'", "f g"])),
            (r#"a "b\"c" "d\n""#, Ok(vec!["a", "b\"c", "d\\n"])),
            ("$HOME *.c", Ok(vec!["$HOME", "*.c"])),
            ("a 'b", Err("the quote ' has no end in `a 'b`")),
            (" ", Err("expected a program, found an empty text")),
        ] {
            let found = ProgramCall::parse_line(line);
            let found = found.as_ref().map(|it| &it.words[..]).map_err(String::as_str);
            let expected =
                expected.map(|it| it.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(found, expected.as_deref().map_err(|it| *it), "{line}");
        }
    }

    #[test]
    fn quoted_lines_are_read_back() {
        let words = ["a", "", "b c", "it's", "$x", "--n=1", "d\"e", "f\\"].map(str::to_owned);
        let call = ProgramCall { words: words.into(), shell: false };
        assert_eq!(ProgramCall::parse_line(&call.line()).unwrap(), call, "{}", call.line());
    }
}
