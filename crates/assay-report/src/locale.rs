//! The languages that reports are written in, and which of them is being written.
//!
//! What is written says its words in one language from the first heading to the last unit, so the language
//! belongs to the writer, not to each of the many functions that write: every thread has one. Machine
//! formats are written in [`Language::INVARIANT`], whatever was asked for.

use std::cell::Cell;

mod catalogue;
mod number;
mod quantity;
mod unit;

pub(crate) use catalogue::{Argument, said, translated, translated_with, word};
pub(crate) use number::{SPACES, date, decimal, fixed, grouped};
pub use quantity::{
    in_percent, joined, parts, percent, printed, quantity, quantity_beside, read, scientific,
    size, with_symbol,
};
pub(crate) use unit::symbol;

#[cfg(test)]
mod tests;

/// What stands between the parts of a list.
pub(crate) fn comma() -> &'static str {
    word("list-separator")
}

/// A list that was stored as a text, `kvm, docker`, in the marks of the language.
pub(crate) fn listed(stored: &str) -> String {
    stored.split(", ").collect::<Vec<_>>().join(comma())
}

/// What stands between a name and what is said of it.
pub(crate) fn colon() -> &'static str {
    word("fact-separator")
}

/// What stands between clauses that may have commas themselves.
pub(crate) fn semicolon() -> &'static str {
    word("clause-separator")
}

/// Such clauses, one after another.
pub(crate) fn clauses<const N: usize>(all: &[String; N]) -> String {
    all.join(semicolon())
}

/// A name and what is said of it: `NUMA nodes: 2`.
pub(crate) fn fact(name: &str, value: &str) -> String {
    [name, value].join(colon())
}

/// Sentences that end each in its full stop, one after another.
pub(crate) fn sentences(all: &[String]) -> String {
    all.join(word("sentence-separator"))
}

/// What tells a thing apart, part by part: `6 streams, send`. A list of equals has [`comma`].
pub(crate) fn details(parts: &[String]) -> String {
    parts.join(word("detail-separator"))
}

/// A thing and what tells it apart: `Triad, node`.
pub(crate) fn detailed(what: &str, by: &str) -> String {
    [what, by].join(word("detail-separator"))
}

/// The languages of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Locale {
    /// English.
    En,
    /// Russian.
    Ru,
    /// French.
    Fr,
    /// Czech.
    Cs,
    /// Chinese in simplified characters.
    ZhHans,
    /// Korean.
    Ko,
    /// Japanese.
    Ja,
    /// German.
    De,
    /// Spanish.
    Es,
}

impl Locale {
    /// Every language, English first.
    pub const ALL: [Self; 9] = [
        Self::En,
        Self::Ru,
        Self::Fr,
        Self::Cs,
        Self::ZhHans,
        Self::Ko,
        Self::Ja,
        Self::De,
        Self::Es,
    ];

    /// The tag of BCP 47.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        self.row().0
    }

    /// What its speakers call it.
    #[must_use]
    pub const fn own_name(self) -> &'static str {
        self.row().1
    }

    /// Its tag, what its speakers call it, and the tag that pages of Microsoft Learn name it by.
    const fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::En => ("en", "English", "en-us"),
            Self::Ru => ("ru", "Русский", "ru-ru"),
            Self::Fr => ("fr", "Français", "fr-fr"),
            Self::Cs => ("cs", "Čeština", "cs-cz"),
            Self::ZhHans => ("zh-Hans", "简体中文", "zh-cn"),
            Self::Ko => ("ko", "한국어", "ko-kr"),
            Self::Ja => ("ja", "日本語", "ja-jp"),
            Self::De => ("de", "Deutsch", "de-de"),
            Self::Es => ("es", "Español", "es-es"),
        }
    }

    /// With the region that pages of Microsoft Learn are published for: `fr-fr`.
    #[must_use]
    pub const fn published(self) -> &'static str {
        self.row().2
    }

    /// The language of a tag or of a value of `LANG`: `fr`, `fr-CA`, `fr_FR.UTF-8`, `zh_CN`; `None` of a
    /// language that is not here. Traditional Chinese is not simplified Chinese.
    #[must_use]
    pub fn of(tag: &str) -> Option<Self> {
        let tag = tag.split(['.', '@']).next().unwrap_or_default().to_lowercase();
        let mut parts = tag.split(['-', '_']);
        let language = parts.next().unwrap_or_default();
        let is_traditional = parts.any(|part| matches!(part, "tw" | "hk" | "mo" | "hant"));
        if is_traditional {
            return None;
        }
        Self::ALL.into_iter().find(|it| it.tag().split('-').next() == Some(language))
    }
}

/// Words of one language, and how numbers and units are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Language {
    /// Whose words.
    pub locale: Locale,
    /// Symbols and decimal point as machine formats have them, without digit grouping.
    pub has_invariant_units: bool,
}

impl Language {
    /// English words and invariant units: what is written when nobody asks for a language.
    pub const INVARIANT: Self = Self { locale: Locale::En, has_invariant_units: true };

    /// The words, numbers and units of a language.
    #[must_use]
    pub const fn of(locale: Locale) -> Self {
        Self { locale, has_invariant_units: false }
    }

    /// What this thread writes in.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.get()
    }

    /// From now on this thread writes in it.
    pub fn set(self) {
        CURRENT.set(self);
    }

    /// Writes something in it, and goes on in the language before, after a panic as well.
    pub fn write<T>(self, something: impl FnOnce() -> T) -> T {
        struct Back(Language);
        impl Drop for Back {
            fn drop(&mut self) {
                self.0.set();
            }
        }
        let _back = Back(CURRENT.replace(self));
        something()
    }
}

thread_local! {
    static CURRENT: Cell<Language> = const { Cell::new(Language::INVARIANT) };
}
