//! Splits a text into its JSON documents: tools append them to one file, with lines of text between.

use super::contents::LineSpan;

/// Document within a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonDocument<'t> {
    /// Text from `{` to its `}`, or to the end of the file.
    pub text: &'t str,
    /// First line, counted from 1.
    pub first_line: usize,
    /// Whether the closing brace is missing.
    pub is_cut: bool,
}

impl JsonDocument<'_> {
    /// Returns the lines of the document.
    pub(crate) fn lines(&self) -> LineSpan {
        self.first_line..=self.first_line + self.text.matches('\n').count()
    }
}

/// Splits a text into documents. A document begins with `{` as the first character of a line or
/// behind another document; text between documents is skipped.
pub(crate) fn split_documents(text: &str) -> Vec<JsonDocument<'_>> {
    let mut documents = Vec::new();
    let (mut depth, mut start, mut line, mut first_line) = (0_usize, 0, 1, 1);
    let (mut in_string, mut is_escaped, mut may_begin) = (false, false, true);
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'\n' {
            line += 1;
        }
        if depth == 0 {
            if byte == b'{' && may_begin {
                (depth, start, first_line) = (1, at, line);
            } else {
                may_begin = byte == b'\n' || (may_begin && byte.is_ascii_whitespace());
            }
            continue;
        }
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    let text = &text[start..=at];
                    documents.push(JsonDocument { text, first_line, is_cut: false });
                    may_begin = true;
                }
            }
            _ => {}
        }
    }
    if depth > 0 {
        documents.push(JsonDocument { text: &text[start..], first_line, is_cut: true });
    }
    documents
}

#[cfg(test)]
mod tests {
    use super::split_documents;

    #[test]
    fn documents_keep_their_lines() {
        let text =
            "fio: note {x}\n{\"a\": \"}\\\"\"}\n{\n \"b\": {}\n}{\"c\":1}\nend {\n{\"cut\": 1";
        let found: Vec<(&str, usize, bool)> = split_documents(text)
            .iter()
            .map(|it| (it.text, it.first_line, it.is_cut))
            .collect();
        let expected = [
            ("{\"a\": \"}\\\"\"}", 2, false),
            ("{\n \"b\": {}\n}", 3, false),
            ("{\"c\":1}", 5, false),
            ("{\"cut\": 1", 7, true),
        ];
        assert_eq!(found, expected);
        assert_eq!(split_documents(text)[1].lines(), 3..=5);
        assert!(split_documents("").is_empty());
    }
}
