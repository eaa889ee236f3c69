//! Groups tokens into statements, one per definition, and repeats lines per host.
//!
//! This module finds keywords; the definitions interpret their values.

use super::diagnostic::DiagnosticSeverity;
use super::keywords::{self, DefinitionKind, Keyword, KeywordMatch, KeywordSupport};
use super::lines::{Lines, SourceSpan};
use super::tokens::{ParameterElement, Token, tokenize};

/// Definition with its parameters, or the general parameters (with an empty name).
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) kind: DefinitionKind,
    pub(super) name: ParameterElement,
    pub(super) parameters: Vec<Parameter>,
}

/// Parameter of a statement.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) keyword: &'static Keyword,
    pub(super) elements: Vec<ParameterElement>,
    /// Whether the value was in parentheses.
    pub(super) is_list: bool,
    /// Whole parameter.
    pub(super) spot: SourceSpan,
}

impl Statement {
    /// Whether it sets defaults for later definitions of its kind.
    pub(super) fn is_default(&self) -> bool {
        self.name.text.eq_ignore_ascii_case("default")
    }
}

/// Parses all lines into statements, in order.
pub(super) fn parse_statements(lines: &mut Lines) -> Vec<Statement> {
    let mut reader = Reader {
        statements: Vec::new(),
        labels: Vec::new(),
        written_bytes: 0,
        reported: Vec::new(),
    };
    let nowhere = ParameterElement {
        text: String::new(),
        is_quoted: false,
        spot: SourceSpan { line: 0, start: 0, end: 0 },
    };
    reader.begin_statement(DefinitionKind::General, nowhere);
    for line in 0..lines.count() {
        if !lines.is_include(line) {
            reader.expand_line(lines, line);
        }
    }
    reader.statements
}

/// Maximum number of hosts, far above real tests, and maximum size of the lines repeated for them.
/// Both bound the memory.
const MAX_HOSTS: usize = 10_000;
const MAX_REPEATED_BYTES: usize = 16 << 20;

struct Reader {
    statements: Vec<Statement>,
    /// Labels of the hosts so far.
    labels: Vec<String>,
    /// Bytes of the lines repeated for every host.
    written_bytes: usize,
    /// Ignored keywords that were reported.
    reported: Vec<(DefinitionKind, &'static str)>,
}

impl Reader {
    fn begin_statement(&mut self, kind: DefinitionKind, name: ParameterElement) {
        self.statements.push(Statement { kind, name, parameters: Vec::new() });
    }

    /// Parses a line, or its variants if it is repeated for every host.
    fn expand_line(&mut self, lines: &mut Lines, line: usize) {
        let text = lines.text(line);
        if !text.contains("$host") && !text.contains("!host") && !text.contains("#host") {
            return self.parse_line(lines, line);
        }
        let mut text = text.replace("#hosts", &self.labels.len().to_string());
        let repeated = ["$host", "!host", "#host"].iter().any(|word| text.contains(word));
        let labels =
            if self.labels.is_empty() { vec!["localhost".into()] } else { self.labels.clone() };
        if !repeated {
            let line = lines.add_variant(line, std::mem::take(&mut text));
            return self.parse_line(lines, line);
        }
        // A repeated line that defines hosts doubles their number.
        let places = text.matches("host").count();
        let bytes = |label: &String| text.len() + places * label.len().max(10);
        self.written_bytes += labels.iter().map(bytes).sum::<usize>();
        if labels.len() > MAX_HOSTS || self.written_bytes > MAX_REPEATED_BYTES {
            let message =
                format!("this line exceeds the limit when repeated for {} hosts", labels.len());
            let spot = SourceSpan { line, start: 0, end: lines.text(line).len() };
            lines.report_error("V167", spot, message).add_help(format!(
                "use at most {MAX_HOSTS} hosts and 16 MiB of lines for them"
            ));
            return;
        }
        for (ordinal, label) in labels.iter().enumerate() {
            let variant = text
                .replace("$host", label)
                .replace("!host", label)
                .replace("#host", &(ordinal + 1).to_string());
            let line = lines.add_variant(line, variant);
            self.parse_line(lines, line);
        }
    }

    fn parse_line(&mut self, lines: &mut Lines, line: usize) {
        let unresolved = report_unresolved(lines, line);
        for (index, token) in tokenize(lines, line).into_iter().enumerate() {
            let (from, to) = (token.spot.start, token.spot.end);
            let next = unresolved.partition_point(|start| *start < from);
            let is_open = unresolved.get(next).is_some_and(|start| *start < to);
            match DefinitionKind::from_keyword(&token.keyword) {
                // `host=` is a parameter of the current definition and never begins one.
                Some(kind) if index == 0 && token.keyword != "host" => {
                    self.begin_definition(lines, kind, &token);
                }
                // A value with an unresolved variable is already reported, and is not parsed.
                _ if is_open => {}
                _ => self.add_parameter(lines, token),
            }
        }
    }

    fn begin_definition(&mut self, lines: &mut Lines, kind: DefinitionKind, token: &Token) {
        let [name] = &token.elements[..] else {
            lines
                .report_error("V111", token.spot, "a definition must have one name")
                .advise(format!("write `{}=name`", token.keyword), "stops");
            return self.begin_statement(kind, token.elements[0].clone());
        };
        if name.text.is_empty() {
            lines
                .report_error("V111", token.spot, "the definition has no name")
                .advise(format!("write `{0}={0}1`", token.keyword), "stops");
        }
        if kind == DefinitionKind::ReplayGroup {
            lines
                .report_error("V114", token.spot, "replay groups (rg) are not supported here")
                .add_help("describe the workload with wd and rd");
        }
        if kind == DefinitionKind::Host && !name.text.eq_ignore_ascii_case("default") {
            self.labels.push(name.text.clone());
        }
        self.begin_statement(kind, name.clone());
    }

    fn add_parameter(&mut self, lines: &mut Lines, token: Token) {
        let kind = self.statements.last().expect("the general statement begins it").kind;
        if kind == DefinitionKind::ReplayGroup {
            return;
        }
        let keyword = match keywords::find_keyword(kind, &token.keyword) {
            KeywordMatch::Unique(keyword) => keyword,
            KeywordMatch::Ambiguous(keyword, other) => {
                let message = format!(
                    "`{}` is ambiguous: `{}` or `{}`; it is read as `{}`",
                    token.keyword, keyword.spelled, other.spelled, keyword.spelled
                );
                lines
                    .report_warning("V113", token.keyword_spot, message)
                    .add_help("write it in full");
                keyword
            }
            KeywordMatch::Unknown => return report_unknown(lines, kind, &token),
        };
        if !self.check_support(lines, kind, keyword, &token) {
            return;
        }
        let Token { elements, is_list: list, spot, .. } = token;
        let parameter = Parameter { keyword, elements, is_list: list, spot };
        let statement = self.statements.last_mut().expect("the general statement begins it");
        statement.parameters.push(parameter);
    }

    /// Whether assay supports the parameter; reports it if not.
    fn check_support(
        &mut self,
        lines: &mut Lines,
        kind: DefinitionKind,
        keyword: &'static Keyword,
        token: &Token,
    ) -> bool {
        let spelled = keyword.spelled;
        let is_off = token.elements.iter().all(|element| element.text == "no");
        match keyword.support {
            KeywordSupport::Full => true,
            // A single report is enough: a thousand definitions may contain the keyword.
            KeywordSupport::Ignored(_) if self.reported.contains(&(kind, spelled)) => false,
            KeywordSupport::Ignored(why) => {
                self.reported.push((kind, spelled));
                let message = format!("`{spelled}` has no effect here: {why}");
                let place = Some(lines.location(token.spot));
                lines.report(DiagnosticSeverity::Note, "V114", place, message);
                false
            }
            KeywordSupport::Unsupported(_) if is_off => false,
            KeywordSupport::Unsupported(why) => {
                let message = format!("`assay vdbench` does not support {spelled}");
                lines.report_error("V114", token.spot, message).advise(why, "carries it out");
                false
            }
        }
    }
}

fn report_unknown(lines: &mut Lines, kind: DefinitionKind, token: &Token) {
    let message = format!("`{}` is not a {}", token.keyword, kind.description());
    // Each help searches all keywords, so their number is limited to about a hundred.
    let help = (lines.diagnostics.len() <= 100).then(|| suggest_keyword(kind, token)).flatten();
    let report = lines.report_error("V113", token.keyword_spot, message);
    report.add_vdbench_behaviour("stops").help = help;
}

/// Returns help for an unknown keyword: where it belongs, or a similar one.
fn suggest_keyword(kind: DefinitionKind, token: &Token) -> Option<String> {
    let elsewhere = [
        DefinitionKind::General,
        DefinitionKind::Storage,
        DefinitionKind::Workload,
        DefinitionKind::Run,
        DefinitionKind::Host,
    ]
    .into_iter()
    .chain([DefinitionKind::FileSystem, DefinitionKind::FileWorkload])
    .find(|other| other.keywords().iter().any(|row| row.spelled == token.keyword));
    match elsewhere {
        None if DefinitionKind::from_keyword(&token.keyword).is_some() => {
            Some("a definition begins at the start of a line".to_owned())
        }
        Some(DefinitionKind::General) => {
            Some("move it before all definitions: it is a general parameter".to_owned())
        }
        Some(other) => Some(format!("it is a {}", other.description())),
        None => {
            let nearest = keywords::nearest_keyword(kind, &token.keyword)?;
            Some(format!("did you mean `{nearest}`?"))
        }
    }
}

/// Returns the starts of variables without a value, and reports them.
fn report_unresolved(lines: &mut Lines, line: usize) -> Vec<usize> {
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
        let spot = SourceSpan { line, start, end: start + 1 + name.len() };
        lines
            .report_error("V103", spot, format!("the variable `{name}` has no value"))
            .advise(format!("give it on the command line: {name}=…"), "stops");
        starts.push(start);
    }
    starts
}
