//! Report languages, and the current language of each thread.
//!
//! A report is written in one language from the first heading to the last unit. The current
//! language is therefore thread-local instead of a parameter of every function. Machine formats
//! always use [`Language::INVARIANT`].

use std::cell::Cell;

mod catalogue;
mod number;
mod quantity;
mod time;
mod unit;

pub(crate) use catalogue::{Argument, format_message, translate, translate_with, word};
pub use number::in_percent;
pub(crate) use number::{
    NO_BREAK_SPACES, format_date, format_fixed, format_ungrouped, group_digits,
};
pub use quantity::{
    localise_printed, parse_quantity, percent, quantity, quantity_with_prefix, scientific,
    size, split_unit, with_no_break_spaces,
};
pub(crate) use time::{format_minute, format_period, local_minute};
pub use time::{set_time_zone, time_zone_name};
pub(crate) use unit::localise_symbol;
pub use unit::{shown_digits, with_symbol};

#[cfg(test)]
mod terms_tests;
#[cfg(test)]
mod tests;

/// Separator of list items.
pub(crate) fn comma() -> &'static str {
    word("list-separator")
}

/// Localises a stored list such as `kvm, docker`: replaces its separators.
pub(crate) fn localise_list(stored: &str) -> String {
    stored.split(", ").collect::<Vec<_>>().join(comma())
}

/// Separator between a name and its value.
pub(crate) fn colon() -> &'static str {
    word("fact-separator")
}

/// Separator of clauses that may contain commas.
pub(crate) fn semicolon() -> &'static str {
    word("clause-separator")
}

/// Joins clauses that may contain commas.
pub(crate) fn join_clauses<const N: usize>(all: &[String; N]) -> String {
    all.join(semicolon())
}

/// Joins a name and its value: `NUMA nodes: 2`.
pub(crate) fn format_fact(name: &str, value: &str) -> String {
    [name, value].join(colon())
}

/// Joins sentences that each end in a full stop.
pub(crate) fn join_sentences(all: &[String]) -> String {
    all.join(word("sentence-separator"))
}

/// Joins distinguishing details: `6 streams, send`. For lists of equal items see [`comma`].
pub(crate) fn join_details(parts: &[String]) -> String {
    parts.join(word("detail-separator"))
}

/// Joins an item and its distinguishing detail: `Triad, node`.
pub(crate) fn with_detail(item: &str, detail: &str) -> String {
    [item, detail].join(word("detail-separator"))
}

/// Languages of the catalogue.
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

    /// BCP 47 tag.
    pub const fn tag(self) -> &'static str {
        self.definition().0
    }

    /// Name of the language in itself.
    pub const fn own_name(self) -> &'static str {
        self.definition().1
    }

    /// BCP 47 tag, name in the language itself, and locale of Microsoft Learn.
    const fn definition(self) -> (&'static str, &'static str, &'static str) {
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

    /// Locale with region in which Microsoft Learn publishes pages: `fr-fr`.
    pub const fn learn_tag(self) -> &'static str {
        self.definition().2
    }

    /// Parses a language tag or a value of `LANG`: `fr`, `fr-CA`, `fr_FR.UTF-8`, `zh_CN`. Returns
    /// `None` for languages that are not supported; traditional Chinese is not treated as
    /// simplified Chinese.
    pub fn from_tag(tag: &str) -> Option<Self> {
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

/// Language of texts, and formatting of numbers and units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Language {
    /// Language of the texts.
    pub locale: Locale,
    /// Whether unit symbols and the decimal point are those of machine formats, without digit
    /// grouping.
    pub has_invariant_units: bool,
}

impl Language {
    /// Default: English texts and invariant units.
    pub const INVARIANT: Self = Self { locale: Locale::En, has_invariant_units: true };

    /// Uses the texts, numbers and units of a locale.
    pub const fn for_locale(locale: Locale) -> Self {
        Self { locale, has_invariant_units: false }
    }

    /// Returns the current language of the thread.
    pub fn current() -> Self {
        CURRENT.get()
    }

    /// Makes this the current language of the thread.
    pub fn make_current(self) {
        CURRENT.set(self);
    }

    /// Runs a closure in this language and restores the previous one, even after a panic.
    pub fn scope<T>(self, work: impl FnOnce() -> T) -> T {
        struct RestoreOnDrop(Language);
        impl Drop for RestoreOnDrop {
            fn drop(&mut self) {
                self.0.make_current();
            }
        }
        let _restore = RestoreOnDrop(CURRENT.replace(self));
        work()
    }
}

thread_local! {
    static CURRENT: Cell<Language> = const { Cell::new(Language::INVARIANT) };
}
