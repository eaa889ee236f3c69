//! Literal blocks of reStructuredText, which are code: the indented lines below `::`.

/// State of a reader of lines.
#[derive(Debug, Default)]
pub(super) struct LiteralBlocks {
    /// Indentation of the line that opened a block.
    opened_at: Option<usize>,
}

/// Directives whose content is prose.
const PROSE: [&str; 14] = [
    "note",
    "warning",
    "tip",
    "hint",
    "important",
    "caution",
    "attention",
    "danger",
    "seealso",
    "admonition",
    "list-table",
    "table",
    "versionadded",
    "topic",
];

impl LiteralBlocks {
    /// Returns whether a line belongs to a block. A line that opens one does not.
    pub(super) fn contains(&mut self, line: &str) -> bool {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.is_empty() {
            return false;
        }
        if self.opened_at.is_some_and(|opened_at| indent > opened_at) {
            return true;
        }
        self.opened_at = opens_block(text.trim_end()).then_some(indent);
        false
    }
}

/// Returns whether the lines below are literal: a paragraph that ends with `::`, or a directive.
fn opens_block(text: &str) -> bool {
    // `:::` is a container of Markdown.
    let ends = text.ends_with("::") && !text.ends_with(":::");
    let Some(directive) = text.strip_prefix(".. ") else { return ends };
    let name = directive.split("::").next().unwrap_or_default();
    directive.contains("::") && !PROSE.contains(&name)
}
