//! Selection of definitions by name or pattern.

use std::collections::HashMap;

use assay_model::spelling::nearest_word;

use super::super::definitions::CLIENT_INFIX;
use super::super::lines::Lines;
use super::super::tokens::ParameterElement;

/// Definitions of one kind, indexed by name, in the order of definition.
pub(super) struct NameIndex {
    names: Vec<String>,
    by_name: HashMap<String, usize>,
}

impl NameIndex {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let names: Vec<String> = names.map(str::to_ascii_lowercase).collect();
        let by_name = names.iter().cloned().enumerate().map(|(i, name)| (name, i)).collect();
        Self { names, by_name }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the positions that match any of the selectors, in the order of definition and
    /// without duplicates.
    ///
    /// `None` if a selector matches nothing, which is reported.
    pub(super) fn select(
        &self,
        lines: &mut Lines,
        kind: &str,
        selectors: &[ParameterElement],
    ) -> Option<Vec<usize>> {
        let mut selected = Vec::new();
        let mut all_match = true;
        for selector in selectors {
            let previous_count = selected.len();
            let name = selector.text.to_ascii_lowercase();
            match name.strip_suffix('*') {
                Some(stem) => {
                    let names = self.names.iter().enumerate();
                    selected.extend(names.filter(|(_, n)| n.starts_with(stem)).map(|(i, _)| i));
                }
                None => match self.by_name.get(&name) {
                    Some(index) => selected.push(*index),
                    None => selected.extend(self.clients(&name)),
                },
            }
            if selected.len() == previous_count {
                all_match = false;
                self.report_no_match(lines, kind, selector);
            }
        }
        selected.sort_unstable();
        selected.dedup();
        all_match.then_some(selected)
    }

    /// Returns the clients of a host that has several.
    fn clients(&self, host: &str) -> impl Iterator<Item = usize> {
        let is_client_name = move |name: &str| {
            let number =
                name.strip_prefix(host).and_then(|rest| rest.strip_prefix(CLIENT_INFIX));
            number.is_some_and(|number| number.bytes().all(|it| it.is_ascii_digit()))
        };
        let names = self.names.iter().enumerate();
        names.filter(move |(_, name)| is_client_name(name)).map(|(index, _)| index)
    }

    fn report_no_match(&self, lines: &mut Lines, kind: &str, selector: &ParameterElement) {
        let (code, message) = if selector.text.ends_with('*') {
            ("V130", format!("no {kind} begins with `{}`", selector.text.trim_end_matches('*')))
        } else {
            ("V131", format!("no {kind} is called `{}`", selector.text))
        };
        // Each suggestion searches all names, so only about a hundred errors get one.
        let help = (lines.diagnostics.len() <= 100).then(|| self.suggest_name(kind, selector));
        let report = lines.report_error(code, selector.spot, message);
        report.add_vdbench_behaviour("stops").help = help;
    }

    /// Returns help for a selector without a match.
    fn suggest_name(&self, kind: &str, selector: &ParameterElement) -> String {
        let stem = selector.text.trim_end_matches('*');
        if self.names.is_empty() {
            return format!("the file defines no {kind} at all");
        }
        if let Some(nearest) = nearest_word(stem, self.names.iter().map(String::as_str)) {
            return format!("did you mean `{nearest}`?");
        }
        let examples: Vec<&str> = self.names.iter().take(8).map(String::as_str).collect();
        let more = if self.names.len() > examples.len() { ", …" } else { "" };
        format!("use one of {}{more}", examples.join(", "))
    }
}
