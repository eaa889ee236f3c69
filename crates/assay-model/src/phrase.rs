//! Translatable messages: an identifier, the English text and its arguments.
//!
//! The code that detects a condition creates the message; the code that displays it may translate
//! it. Messages are never stored and never affect decisions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::doubt::Doubt;
use crate::quantity::{Quantity, Unit};

/// Translatable message, or an argument of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phrase {
    /// A verbatim name: a path, a setting, a number without unit.
    Name(String),
    /// An exact number with its unit, as in machine-readable formats: `1500 B`, `0.5 %`.
    Value(String),
    /// A value with its number of significant digits.
    Measured(Quantity, usize),
    /// A number of things; selects the plural form.
    Count(u64),
    /// A text with arguments.
    Words {
        /// Its identifier in the catalogues.
        id: Cow<'static, str>,
        /// The English text with the arguments filled in.
        english: String,
        /// Its arguments by name.
        with: BTreeMap<String, Self>,
    },
    /// The text of a doubt.
    Doubt {
        /// The English text.
        english: String,
        doubt: Box<Doubt>,
    },
    List {
        /// The members.
        of: Vec<Self>,
        /// The separator.
        between: String,
    },
}

/// Creates a message from identifier, English template and arguments: `phrase!("left", "{size}
/// left", size = size)`.
#[macro_export]
macro_rules! phrase {
    ($id:literal, $english:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::phrase::Phrase::from_template(
            $id,
            $english,
            [$((stringify!($name), $crate::phrase::Phrase::from($value))),*],
        )
    };
}

impl Phrase {
    /// Wraps an exact number with its unit, as in machine-readable formats.
    pub fn exact_value(written: impl Into<String>) -> Self {
        Self::Value(written.into())
    }

    /// Wraps an approximate value, shown with two significant digits.
    pub const fn approximate(value: f64, unit: Unit) -> Self {
        Self::Measured(Quantity::new(value, unit), 2)
    }

    /// Creates a message from an English template with placeholders: names in braces.
    pub fn from_template<const N: usize>(
        id: &'static str,
        english: &str,
        with: [(&str, Self); N],
    ) -> Self {
        let with: BTreeMap<String, Self> =
            with.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
        let mut text = String::new();
        let mut rest = english;
        while let Some((before, name, after)) = split_placeholder(rest) {
            text.push_str(before);
            if let Some(it) = with.get(name) {
                text.push_str(&it.to_string());
            }
            rest = after;
        }
        text.push_str(rest);
        Self::Words { id: Cow::Borrowed(id), english: text, with }
    }

    /// Creates a message about `n` things from its English singular and plural templates.
    pub fn plural(id: &'static str, n: usize, one: &str, many: &str) -> Self {
        Self::from_template(id, if n == 1 { one } else { many }, [("n", Self::from(n))])
    }

    /// Creates a list with a separator.
    pub fn list(between: &str, of: impl IntoIterator<Item = Self>) -> Self {
        Self::List { of: of.into_iter().collect(), between: between.to_owned() }
    }

    /// Concatenates messages without a separator.
    pub fn concat<const N: usize>(of: [Self; N]) -> Self {
        Self::list("", of)
    }

    /// Returns the identifier of the first text.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Words { id, .. } => Some(id),
            Self::List { of, .. } => of.iter().find_map(Self::id),
            Self::Doubt { doubt, .. } => Some(doubt.id()),
            Self::Name(_) | Self::Value(_) | Self::Measured(..) | Self::Count(_) => None,
        }
    }

    /// Whether the message is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Name(text) | Self::Value(text) => text.is_empty(),
            Self::Count(_) | Self::Measured(..) => false,
            Self::Words { english, .. } | Self::Doubt { english, .. } => english.is_empty(),
            Self::List { of, .. } => of.iter().all(Self::is_empty),
        }
    }
}

/// Splits a template at its first placeholder: text before, name, text after.
fn split_placeholder(template: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = template.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// Formats the message in English.
impl Display for Phrase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(text) | Self::Value(text) => f.write_str(text),
            Self::Measured(quantity, digits) => write!(f, "{quantity:.digits$}"),
            Self::Count(count) => count.fmt(f),
            Self::Words { english, .. } | Self::Doubt { english, .. } => f.write_str(english),
            Self::List { of, between } => {
                for (index, member) in of.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { between })?;
                    member.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

crate::impl_from!(Phrase {
    &str => |name| Self::Name(name.to_owned()),
    String => Self::Name,
    usize => |count| Self::Count(count as u64),
    u64 => Self::Count,
    u32 => |count| Self::Count(count.into()),
    /// Uses three significant digits.
    Quantity => |quantity| Self::Measured(quantity, 3),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_english() {
        let free = Quantity::new(1.5e9, Unit::BytePerSecond);
        let braces = "{x}".to_owned();
        for (message, english) in [
            (phrase!("a", "none"), "none"),
            (phrase!("a", "{free} of {what}", free = free, what = braces), "1.50 GB/s of {x}"),
            (Phrase::plural("a", 1, "{n} node", "{n} nodes"), "1 node"),
            (Phrase::plural("a", 2, "{n} node", "{n} nodes"), "2 nodes"),
            (Phrase::list(", ", ["a".into(), phrase!("b", "on")]), "a, on"),
            (Phrase::concat(["a ".into(), Phrase::exact_value("5 %")]), "a 5 %"),
            (Phrase::list(", ", []), ""),
        ] {
            assert_eq!(message.to_string(), english);
            assert_eq!(message.is_empty(), english.is_empty());
            let sent = serde_json::to_string(&message).unwrap();
            assert_eq!(serde_json::from_str::<Phrase>(&sent).unwrap(), message, "{sent}");
        }
        let listed = Phrase::list(": ", ["h1".into(), phrase!("b", "on")]);
        assert_eq!([listed.id(), Phrase::from("h1").id()], [Some("b"), None]);
    }
}
