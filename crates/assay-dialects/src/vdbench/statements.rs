//! Groups tokens into statements, one per definition, and repeats lines per host.
//!
//! This module finds keywords; the definitions interpret their values.

use super::diagnostic::{Diagnostic, Severity};
use super::keywords::{self, Found, Keyword, Kind, Support};
use super::lines::{Lines, Spot};
use super::tokens::{Element, Token, tokens};

/// Definition with its parameters, or the general parameters (with an empty name).
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) kind: Kind,
    pub(super) name: Element,
    pub(super) parameters: Vec<Parameter>,
}

/// Parameter of a statement.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) keyword: &'static Keyword,
    pub(super) elements: Vec<Element>,
    /// Whether the value was in parentheses.
    pub(super) list: bool,
    /// Whole parameter.
    pub(super) spot: Spot,
}

impl Statement {
    /// Whether it sets defaults for later definitions of its kind.
    pub(super) fn is_default(&self) -> bool {
        self.name.text.eq_ignore_ascii_case("default")
    }
}

/// Parses all lines into statements, in order.
pub(super) fn statements(lines: &mut Lines) -> Vec<Statement> {
    let mut reader = Reader {
        statements: Vec::new(),
        labels: Vec::new(),
        written_bytes: 0,
        reported: Vec::new(),
    };
    let nowhere = Element {
        text: String::new(),
        quoted: false,
        spot: Spot { line: 0, start: 0, end: 0 },
    };
    reader.begin(Kind::General, nowhere);
    for line in 0..lines.count() {
        if !lines.is_obeyed(line) {
            reader.line(lines, line);
        }
    }
    reader.statements
}

/// Maximum number of hosts, far above real tests, and maximum size of the lines repeated for them.
/// Both bound the memory.
const MOST_HOSTS: usize = 10_000;
const MOST_WRITTEN_BYTES: usize = 16 << 20;

struct Reader {
    statements: Vec<Statement>,
    /// Labels of the hosts so far.
    labels: Vec<String>,
    /// Bytes of the lines repeated for every host.
    written_bytes: usize,
    /// Ignored keywords that were reported.
    reported: Vec<(Kind, &'static str)>,
}

impl Reader {
    fn begin(&mut self, kind: Kind, name: Element) {
        self.statements.push(Statement { kind, name, parameters: Vec::new() });
    }

    /// Parses a line, or its variants if it is repeated for every host.
    fn line(&mut self, lines: &mut Lines, line: usize) {
        let text = lines.text(line);
        if !text.contains("$host") && !text.contains("!host") && !text.contains("#host") {
            return self.one_line(lines, line);
        }
        let mut text = text.replace("#hosts", &self.labels.len().to_string());
        let repeated = ["$host", "!host", "#host"].iter().any(|word| text.contains(word));
        let labels =
            if self.labels.is_empty() { vec!["localhost".into()] } else { self.labels.clone() };
        if !repeated {
            let line = lines.add_variant(line, std::mem::take(&mut text));
            return self.one_line(lines, line);
        }
        // A repeated line that defines hosts doubles their number.
        let places = text.matches("host").count();
        let bytes = |label: &String| text.len() + places * label.len().max(10);
        self.written_bytes += labels.iter().map(bytes).sum::<usize>();
        if labels.len() > MOST_HOSTS || self.written_bytes > MOST_WRITTEN_BYTES {
            let message = format!("this line for each of {} hosts is too much", labels.len());
            let spot = Spot { line, start: 0, end: lines.text(line).len() };
            let error = lines
                .error("V167", spot, message)
                .help(format!("there may be {MOST_HOSTS} hosts, and 16 MiB of lines for them"));
            lines.found.push(error);
            return;
        }
        for (ordinal, label) in labels.iter().enumerate() {
            let variant = text
                .replace("$host", label)
                .replace("!host", label)
                .replace("#host", &(ordinal + 1).to_string());
            let line = lines.add_variant(line, variant);
            self.one_line(lines, line);
        }
    }

    fn one_line(&mut self, lines: &mut Lines, line: usize) {
        let unresolved = unresolved(lines, line);
        for (index, token) in tokens(lines, line).into_iter().enumerate() {
            let (from, to) = (token.spot.start, token.spot.end);
            let next = unresolved.partition_point(|start| *start < from);
            let is_open = unresolved.get(next).is_some_and(|start| *start < to);
            match Kind::of(&token.keyword) {
                // `host=` is a parameter of the current definition and never begins one.
                Some(kind) if index == 0 && token.keyword != "host" => {
                    self.definition(lines, kind, &token);
                }
                // A value with an unresolved variable is already reported, and is not parsed.
                _ if is_open => {}
                _ => self.parameter(lines, token),
            }
        }
    }

    fn definition(&mut self, lines: &mut Lines, kind: Kind, token: &Token) {
        let [name] = &token.elements[..] else {
            let error = lines
                .error("V111", token.spot, "a definition has one name")
                .help(format!("write `{}=name`", token.keyword))
                .vdbench("stops");
            lines.found.push(error);
            return self.begin(kind, token.elements[0].clone());
        };
        if name.text.is_empty() {
            let error = lines
                .error("V111", token.spot, "the definition has no name")
                .help(format!("write `{0}={0}1`", token.keyword))
                .vdbench("stops");
            lines.found.push(error);
        }
        if kind == Kind::ReplayGroup {
            let error = lines
                .error("V114", token.spot, "replay groups (rg) are not supported here")
                .help("describe the workload with wd and rd");
            lines.found.push(error);
        }
        if kind == Kind::Host && !name.text.eq_ignore_ascii_case("default") {
            self.labels.push(name.text.clone());
        }
        self.begin(kind, name.clone());
    }

    fn parameter(&mut self, lines: &mut Lines, token: Token) {
        let kind = self.statements.last().expect("the general statement begins it").kind;
        if kind == Kind::ReplayGroup {
            return;
        }
        let keyword = match keywords::find(kind, &token.keyword) {
            Found::One(keyword) => keyword,
            Found::First(keyword, other) => {
                let message = format!(
                    "`{}` may mean `{}` or `{}`; it is read as `{}`",
                    token.keyword, keyword.spelled, other.spelled, keyword.spelled
                );
                let warning = lines.warning("V113", token.keyword_spot, message);
                lines.found.push(warning.help("write it in full"));
                keyword
            }
            Found::Unknown => return unknown(lines, kind, &token),
        };
        if !self.carried_out(lines, kind, keyword, &token) {
            return;
        }
        let Token { elements, list, spot, .. } = token;
        let parameter = Parameter { keyword, elements, list, spot };
        let statement = self.statements.last_mut().expect("the general statement begins it");
        statement.parameters.push(parameter);
    }

    /// Whether assay supports the parameter; reports it if not.
    fn carried_out(
        &mut self,
        lines: &mut Lines,
        kind: Kind,
        keyword: &'static Keyword,
        token: &Token,
    ) -> bool {
        let spelled = keyword.spelled;
        let is_off = token.elements.iter().all(|element| element.text == "no");
        match keyword.support {
            Support::Full => true,
            // A single report is enough: a thousand definitions may contain the keyword.
            Support::Idle(_) if self.reported.contains(&(kind, spelled)) => false,
            Support::Idle(why) => {
                self.reported.push((kind, spelled));
                let message = format!("`{spelled}` has no effect here: {why}");
                let place = Some(lines.place(token.spot));
                lines.found.push(Diagnostic::new(Severity::Note, "V114", place, message));
                false
            }
            Support::None(_) if is_off => false,
            Support::None(why) => {
                let message = format!("`{spelled}` is known to Vdbench but not supported here");
                let error = lines.error("V114", token.spot, message).help(why);
                lines.found.push(error.vdbench("carries it out"));
                false
            }
        }
    }
}

fn unknown(lines: &mut Lines, kind: Kind, token: &Token) {
    let message = format!("`{}` is no {}", token.keyword, kind.called());
    let mut error = lines.error("V113", token.keyword_spot, message).vdbench("stops");
    // Each help searches all keywords, so their number is limited to about a hundred.
    if lines.found.len() > 100 {
        return lines.found.push(error);
    }
    let elsewhere = [Kind::General, Kind::Storage, Kind::Workload, Kind::Run, Kind::Host]
        .into_iter()
        .chain([Kind::FileSystem, Kind::FileWorkload])
        .find(|other| other.keywords().iter().any(|row| row.spelled == token.keyword));
    if Kind::of(&token.keyword).is_some() && elsewhere.is_none() {
        error = error.help("a definition begins at the start of a line");
    } else if let Some(other) = elsewhere {
        error = error.help(match other {
            Kind::General => {
                "it is a general parameter and stands before all definitions".into()
            }
            other => format!("it is a {}", other.called()),
        });
    } else if let Some(nearest) = keywords::near(kind, &token.keyword) {
        error = error.help(format!("did you mean `{nearest}`?"));
    }
    lines.found.push(error);
}

/// Returns the starts of variables without a value, and reports them.
fn unresolved(lines: &mut Lines, line: usize) -> Vec<usize> {
    let text = lines.text(line).to_owned();
    let mut starts = Vec::new();
    for start in text.match_indices(['$', '!']).map(|(start, _)| start) {
        if !text[..start].ends_with('=') {
            continue;
        }
        let name: String = text[start + 1..]
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if name.is_empty() {
            continue;
        }
        let spot = Spot { line, start, end: start + 1 + name.len() };
        let error = lines
            .error("V103", spot, format!("the variable `{name}` has no value"))
            .help(format!("give it on the command line: {name}=…"))
            .vdbench("stops");
        lines.found.push(error);
        starts.push(start);
    }
    starts
}
