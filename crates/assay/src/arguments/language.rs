//! Language options of a page: words, numbers and units.

use std::env;

use assay_model::spelling::nearest_word;
use assay_report::locale::{Language, Locale};
use clap::{Args, ValueEnum};

/// Progress and language of every command of assay's own.
#[derive(Debug, Args)]
pub(crate) struct ScreenArguments {
    /// Print no progress, only warnings and failures
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    language: LanguageArguments,
}

impl ScreenArguments {
    /// Returns the language of `--locale`; `None` without it.
    pub(crate) fn language(&self) -> Option<Language> {
        self.language.language()
    }
}

/// Language of a page.
#[derive(Debug, Args)]
struct LanguageArguments {
    /// Language: en, ru, fr, cs, zh-Hans, ko, ja, de, es, or auto for that of the environment
    /// [default: on a terminal auto; of report, site and serve en with invariant units]. Errors and help
    /// are English
    #[arg(long, value_name = "TAG", value_parser = parse_locale)]
    locale: Option<Locale>,
    /// Style of units and numbers
    #[arg(long, value_enum, default_value_t = UnitStyle::Local, requires = "locale")]
    units: UnitStyle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnitStyle {
    /// As usual in the language: Go/s, ГБ/с
    Local,
    /// As in machine-readable formats, with a decimal point and without digit grouping
    Invariant,
}

impl LanguageArguments {
    fn language(&self) -> Option<Language> {
        let language = Language::for_locale(self.locale?);
        Some(match self.units {
            UnitStyle::Local => language,
            UnitStyle::Invariant => Language { has_invariant_units: true, ..language },
        })
    }
}

/// Returns the locale of the first environment variable that is set, or `None` if it is not
/// supported.
fn environment_locale() -> Option<Locale> {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let set = names.into_iter().filter_map(|name| env::var(name).ok());
    Locale::from_tag(&set.into_iter().find(|value| !value.is_empty())?)
}

/// Returns the language of terminal output, that of the environment. English keeps the units of
/// machine-readable formats, so that scripts can rely on them.
pub(crate) fn terminal_language() -> Language {
    environment_locale()
        .filter(|it| *it != Locale::En)
        .map_or(Language::INVARIANT, Language::for_locale)
}

/// Parses a language tag. `auto` selects the language of the environment, or English if that is not
/// supported.
fn parse_locale(tag: &str) -> Result<Locale, String> {
    if tag == "auto" {
        return Ok(environment_locale().unwrap_or(Locale::En));
    }
    Locale::from_tag(tag).ok_or_else(|| {
        let tags = Locale::ALL.map(Locale::tag);
        let near = related_locale(tag).or_else(|| nearest_word(tag, tags.into_iter()));
        let near = near.map_or_else(String::new, |it| format!(" (did you mean {it}?)"));
        format!("the language is not supported{near}; supported are {}", tags.join(", "))
    })
}

/// Returns a supported language close to an unsupported one: another script of it, or its nearest
/// relative.
fn related_locale(tag: &str) -> Option<&'static str> {
    let language = tag.split(['-', '_', '.', '@']).next().unwrap_or_default();
    match language.to_lowercase().as_str() {
        "zh" | "yue" => Some(Locale::ZhHans.tag()),
        "pt" | "gl" | "ca" => Some(Locale::Es.tag()),
        "sk" => Some(Locale::Cs.tag()),
        _ => None,
    }
}
