//! JSON in fio's layout: keys in fio's order, six decimals.

use std::fmt::Write as _;

/// JSON value; an object keeps its insertion order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum JsonValue {
    Object(Vec<(String, Self)>),
    List(Vec<Self>),
    Text(String),
    Whole(u64),
    Number(f64),
}

impl JsonValue {
    /// Builds an object from names and values.
    pub(super) fn object<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Object(
            entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        )
    }

    /// Builds a string value.
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Renders the document.
    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text.push('\n');
        text
    }

    fn write(&self, text: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        match self {
            Self::Object(entries) if entries.is_empty() => text.push_str("{\n}"),
            Self::Object(entries) => {
                text.push_str("{\n");
                for (index, (name, value)) in entries.iter().enumerate() {
                    let _ = write!(text, "{indent}  {} : ", quote(name));
                    value.write(text, depth + 1);
                    text.push_str(if index + 1 < entries.len() { ",\n" } else { "\n" });
                }
                let _ = write!(text, "{indent}}}");
            }
            Self::List(values) => {
                text.push_str("[\n");
                for (index, value) in values.iter().enumerate() {
                    let _ = write!(text, "{indent}  ");
                    value.write(text, depth + 1);
                    text.push_str(if index + 1 < values.len() { ",\n" } else { "\n" });
                }
                let _ = write!(text, "{indent}]");
            }
            Self::Text(value) => text.push_str(&quote(value)),
            Self::Whole(value) => {
                let _ = write!(text, "{value}");
            }
            // JSON has no infinity; no value here should be infinite.
            Self::Number(value) if !value.is_finite() => text.push_str("0.000000"),
            Self::Number(value) => {
                let _ = write!(text, "{value:.6}");
            }
        }
    }
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
