//! The one catalogue of words: a Fluent file for each language, embedded.
//!
//! Messages have neither digits nor units: those come in as arguments, written already. A message that is
//! missing is a fault that the tests find; its identifier is what a reader would see.

use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::types::FluentNumber;
use fluent_bundle::{FluentArgs, FluentError, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use super::{Language, Locale, number};

/// What stands for a variable of a message.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    /// Written already: a name, a quantity.
    Text(String),
    /// How many: chooses among plural forms.
    Count(u64),
    /// A number as the invariant writer made it, `4.4` or `1.0`: its decimals choose among plural forms, too.
    Decimal(String),
}

impl From<&str> for Argument {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Argument {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Argument {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Argument {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<u64> for Argument {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Argument {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

/// The text of a message in the current language.
pub(crate) fn said(id: &str, arguments: &[(&str, Argument)]) -> String {
    let given = given(arguments);
    let own = formatted(Language::current().locale, id, Some(&given));
    own.or_else(|| formatted(Locale::En, id, Some(&given))).unwrap_or_else(|| id.to_owned())
}

fn given<'a>(arguments: &'a [(&'a str, Argument)]) -> FluentArgs<'a> {
    let mut given = FluentArgs::with_capacity(arguments.len());
    for (name, argument) in arguments {
        match argument {
            Argument::Text(text) => given.set(*name, text.as_str()),
            Argument::Count(count) => given.set(*name, *count as f64),
            Argument::Decimal(text) => match FluentNumber::from_str(text) {
                Ok(number) => given.set(*name, number),
                Err(_) => given.set(*name, number::grouped(text)),
            },
        }
    }
    given
}

/// The text of a message without variables in the current language.
pub(crate) fn word(id: &str) -> &'static str {
    let found = |locale| catalogue(locale).words.get(id).copied();
    found(Language::current().locale).or_else(|| found(Locale::En)).unwrap_or("…")
}

/// The text of a message that only some languages have: what is English already is not in the catalogue.
pub(crate) fn translated(id: &str) -> Option<&'static str> {
    catalogue(Language::current().locale).words.get(id).copied()
}

/// The same with variables.
pub(crate) fn translated_with(id: &str, arguments: &[(&str, Argument)]) -> Option<String> {
    formatted(Language::current().locale, id, Some(&given(arguments)))
}

struct Catalogue {
    bundle: FluentBundle<FluentResource>,
    /// The messages without variables.
    words: HashMap<String, &'static str>,
}

/// The files of a language: the words of reports, what is doubtful and what failed, what commands say, and, but in
/// English, what the doctor's checks say and what is said meanwhile.
macro_rules! files {
    ($tag:literal $(, $more:literal)*) => {
        concat!(
            include_str!(concat!("../../locales/", $tag, ".ftl")),
            include_str!(concat!("../../locales/", $tag, "-doubts.ftl")),
            include_str!(concat!("../../locales/", $tag, "-commands.ftl")),
            $(include_str!(concat!("../../locales/", $tag, $more))),*
        )
    };
}

pub(super) const fn source(locale: Locale) -> &'static str {
    match locale {
        Locale::En => files!("en"),
        Locale::Ru => files!("ru", "-doctor.ftl", "-said.ftl"),
        Locale::Fr => files!("fr", "-doctor.ftl", "-said.ftl"),
        Locale::Cs => files!("cs", "-doctor.ftl", "-said.ftl"),
        Locale::ZhHans => files!("zh-Hans", "-doctor.ftl", "-said.ftl"),
        Locale::Ko => files!("ko", "-doctor.ftl", "-said.ftl"),
        Locale::Ja => files!("ja", "-doctor.ftl", "-said.ftl"),
        Locale::De => files!("de", "-doctor.ftl", "-said.ftl"),
        Locale::Es => files!("es", "-doctor.ftl", "-said.ftl"),
    }
}

fn catalogue(locale: Locale) -> &'static Catalogue {
    static CATALOGUES: [OnceLock<Catalogue>; Locale::ALL.len()] =
        [const { OnceLock::new() }; Locale::ALL.len()];
    CATALOGUES[locale as usize].get_or_init(|| Catalogue::of(locale))
}

impl Catalogue {
    fn of(locale: Locale) -> Self {
        let tag: LanguageIdentifier = locale.tag().parse().unwrap_or_default();
        let mut bundle = FluentBundle::new_concurrent(vec![tag]);
        // Marks of direction around every value would be copied with it.
        bundle.set_use_isolating(false);
        bundle.set_formatter(Some(|value, _| match value {
            FluentValue::Number(count) => Some(number::grouped(&count.as_string())),
            _ => None,
        }));
        // The tests read every file: what cannot be read here is left out, not a reason to stop.
        let resource = FluentResource::try_new(source(locale).to_owned());
        let resource = resource.unwrap_or_else(|(readable, _)| readable);
        let ids = messages(&resource);
        bundle.add_resource_overriding(resource);
        let mut words = HashMap::new();
        for id in ids {
            let mut errors: Vec<FluentError> = Vec::new();
            let pattern = pattern(&bundle, &id);
            let text =
                pattern.map(|it| bundle.format_pattern(it, None, &mut errors).into_owned());
            // Once in the life of the program, for as long as it lives.
            if let Some(text) = text.filter(|_| errors.is_empty()) {
                words.insert(id, &*text.leak());
            }
        }
        Self { bundle, words }
    }
}

/// `message`, and `message.attribute` where it has some.
pub(super) fn messages(resource: &FluentResource) -> Vec<String> {
    use fluent_syntax::ast::Entry;
    let ids = resource.entries().filter_map(|entry| match entry {
        Entry::Message(message) => {
            let attributes = message.attributes.iter();
            let attributes = attributes.map(|it| format!("{}.{}", message.id.name, it.id.name));
            let own = message.value.iter().map(|_| message.id.name.to_owned());
            Some(own.chain(attributes).collect::<Vec<_>>())
        }
        _ => None,
    });
    ids.flatten().collect()
}

fn pattern<'b>(
    bundle: &'b FluentBundle<FluentResource>,
    id: &str,
) -> Option<&'b fluent_syntax::ast::Pattern<&'b str>> {
    match id.split_once('.') {
        Some((id, attribute)) => {
            Some(bundle.get_message(id)?.get_attribute(attribute)?.value())
        }
        None => bundle.get_message(id)?.value(),
    }
}

/// With every variable given, or nothing.
pub(super) fn formatted(
    locale: Locale,
    id: &str,
    arguments: Option<&FluentArgs<'_>>,
) -> Option<String> {
    let bundle = &catalogue(locale).bundle;
    let mut errors = Vec::new();
    let text = bundle.format_pattern(pattern(bundle, id)?, arguments, &mut errors);
    errors.is_empty().then(|| text.into_owned())
}
