//! What is said to people meanwhile: words by their identifier, with what stands in them, and the English.
//!
//! Whoever sees something says it beside where it was seen, and whoever shows it may say it in another language. Nothing
//! of it is ever stored, and never decides anything.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::quantity::{Quantity, Unit};

/// One thing that is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phrase {
    /// As it is called: a name, a path, a setting, a number without unit that is typed like this.
    Name(String),
    /// An exact number with its unit, as machine formats write it: `1500 B`, `0.5 %`.
    Value(String),
    /// A value with so many significant digits.
    Measured(Quantity, usize),
    /// How many; decides which plural form is taken.
    Count(u64),
    /// Words.
    Words {
        /// What catalogues have them under.
        id: Cow<'static, str>,
        /// The English, whole.
        english: String,
        /// What stands in them, by its place.
        with: BTreeMap<String, Self>,
    },
    /// One after another.
    List {
        /// The members.
        of: Vec<Self>,
        /// What stands between two.
        between: String,
    },
}

/// Words by their identifier, in English, with what stands in them: `phrase!("left", "{size} left", size = size)`.
#[macro_export]
macro_rules! phrase {
    ($id:literal, $english:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::phrase::Phrase::words(
            $id,
            $english,
            [$((stringify!($name), $crate::phrase::Phrase::from($value))),*],
        )
    };
}

impl Phrase {
    /// An exact number with its unit, as machine formats write it.
    #[must_use]
    pub fn value(written: impl Into<String>) -> Self {
        Self::Value(written.into())
    }

    /// A value that is only roughly known.
    #[must_use]
    pub const fn roughly(value: f64, unit: Unit) -> Self {
        Self::Measured(Quantity::new(value, unit), 2)
    }

    /// Words; in the English a name in braces is the place of what stands there.
    #[must_use]
    pub fn words<const N: usize>(
        id: &'static str,
        english: &str,
        with: [(&str, Self); N],
    ) -> Self {
        let with: BTreeMap<String, Self> =
            with.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
        let mut said = String::new();
        let mut rest = english;
        while let Some((before, name, after)) = place(rest) {
            said.push_str(before);
            if let Some(it) = with.get(name) {
                said.push_str(&it.to_string());
            }
            rest = after;
        }
        said.push_str(rest);
        Self::Words { id: Cow::Borrowed(id), english: said, with }
    }

    /// Words about `{n}` things, in English for one and for many.
    #[must_use]
    pub fn counted(id: &'static str, n: usize, one: &str, many: &str) -> Self {
        Self::words(id, if n == 1 { one } else { many }, [("n", Self::from(n))])
    }

    /// One after another.
    #[must_use]
    pub fn list(between: &str, of: impl IntoIterator<Item = Self>) -> Self {
        Self::List { of: of.into_iter().collect(), between: between.to_owned() }
    }

    /// One directly behind another.
    #[must_use]
    pub fn joined<const N: usize>(of: [Self; N]) -> Self {
        Self::list("", of)
    }

    /// What the first of its words are called.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Words { id, .. } => Some(id),
            Self::List { of, .. } => of.iter().find_map(Self::id),
            Self::Name(_) | Self::Value(_) | Self::Measured(..) | Self::Count(_) => None,
        }
    }

    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Name(text) | Self::Value(text) => text.is_empty(),
            Self::Count(_) | Self::Measured(..) => false,
            Self::Words { english, .. } => english.is_empty(),
            Self::List { of, .. } => of.iter().all(Self::is_empty),
        }
    }
}

/// What is before the first place of a template, its name, and what is behind it.
fn place(template: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = template.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// In English.
impl Display for Phrase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(text) | Self::Value(text) => f.write_str(text),
            Self::Measured(quantity, digits) => write!(f, "{quantity:.digits$}"),
            Self::Count(count) => count.fmt(f),
            Self::Words { english, .. } => f.write_str(english),
            Self::List { of, between } => {
                for (place, member) in of.iter().enumerate() {
                    f.write_str(if place == 0 { "" } else { between })?;
                    member.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

impl From<&str> for Phrase {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for Phrase {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for Phrase {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<u64> for Phrase {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Phrase {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

/// With three significant digits.
impl From<Quantity> for Phrase {
    fn from(quantity: Quantity) -> Self {
        Self::Measured(quantity, 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_english_is_whole() {
        let free = Quantity::new(1.5e9, Unit::BytePerSecond);
        let braces = "{x}".to_owned();
        for (said, english) in [
            (phrase!("a", "none"), "none"),
            (phrase!("a", "{free} of {what}", free = free, what = braces), "1.50 GB/s of {x}"),
            (Phrase::counted("a", 1, "{n} node", "{n} nodes"), "1 node"),
            (Phrase::counted("a", 2, "{n} node", "{n} nodes"), "2 nodes"),
            (Phrase::list(", ", ["a".into(), phrase!("b", "on")]), "a, on"),
            (Phrase::joined(["a ".into(), Phrase::value("5 %")]), "a 5 %"),
            (Phrase::list(", ", []), ""),
        ] {
            assert_eq!(said.to_string(), english);
            assert_eq!(said.is_empty(), english.is_empty());
            let sent = serde_json::to_string(&said).unwrap();
            assert_eq!(serde_json::from_str::<Phrase>(&sent).unwrap(), said, "{sent}");
        }
        let listed = Phrase::list(": ", ["h1".into(), phrase!("b", "on")]);
        assert_eq!([listed.id(), Phrase::from("h1").id()], [Some("b"), None]);
    }
}
