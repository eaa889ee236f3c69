//! Message catalogue: the embedded Fluent files of each language.
//!
//! Messages contain neither digits nor units: arguments arrive already formatted. Tests detect
//! missing messages; at run time the identifier replaces a missing message.

use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::types::FluentNumber;
use fluent_bundle::{FluentArgs, FluentError, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use super::{Language, Locale, number};

/// Value of a variable of a message.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    /// Formatted text: a name, a quantity.
    Text(String),
    /// Count, which selects the plural form.
    Count(u64),
    /// Number in invariant form, `4.4` or `1.0`; its decimals also select the plural form.
    Decimal(String),
}

assay_model::impl_from!(Argument {
    &str => |text| Self::Text(text.to_owned()),
    &String => |text| Self::Text(text.clone()),
    String => Self::Text,
    usize => |count| Self::Count(count as u64),
    u64 => Self::Count,
    u32 => |count| Self::Count(count.into()),
});

/// Formats a message in the current language; falls back to English, then to the identifier.
pub(crate) fn format_message(id: &str, arguments: &[(&str, Argument)]) -> String {
    let arguments = to_fluent_arguments(arguments);
    let locale = Language::current().locale;
    let localised = format_in_locale(locale, id, Some(&arguments));
    localised
        .map(|text| match locale {
            Locale::De | Locale::Ru => join_compounds(&text),
            _ => text,
        })
        .or_else(|| format_in_locale(Locale::En, id, Some(&arguments)))
        .unwrap_or_else(|| id.to_owned())
}

/// Removes the blank before the percent sign of a compound: `95%-й` in Russian,
/// `95%-Intervall` in German.
fn join_compounds(text: &str) -> String {
    text.replace("\u{a0}%-", "%-").replace("\u{202f}%-", "%-")
}

fn to_fluent_arguments<'a>(arguments: &'a [(&'a str, Argument)]) -> FluentArgs<'a> {
    let mut fluent_arguments = FluentArgs::with_capacity(arguments.len());
    for (name, argument) in arguments {
        match argument {
            Argument::Text(text) => fluent_arguments.set(*name, text.as_str()),
            Argument::Count(count) => fluent_arguments.set(*name, *count as f64),
            Argument::Decimal(text) => match FluentNumber::from_str(text) {
                Ok(number) => fluent_arguments.set(*name, number),
                Err(_) => fluent_arguments.set(*name, number::group_digits(text)),
            },
        }
    }
    fluent_arguments
}

/// Returns a message without variables in the current language.
pub(crate) fn word(id: &str) -> &'static str {
    let find = |locale| catalogue(locale).words.get(id).copied();
    find(Language::current().locale).or_else(|| find(Locale::En)).unwrap_or("…")
}

/// Returns a message whose English text is in the code: the catalogue has only its translations.
pub(crate) fn translate(id: &str) -> Option<&'static str> {
    catalogue(Language::current().locale).words.get(id).copied()
}

/// Formats a message of the kind of [`translate`] that has variables.
pub(crate) fn translate_with(id: &str, arguments: &[(&str, Argument)]) -> Option<String> {
    format_in_locale(Language::current().locale, id, Some(&to_fluent_arguments(arguments)))
}

struct Catalogue {
    bundle: FluentBundle<FluentResource>,
    /// Messages without variables.
    words: HashMap<String, &'static str>,
}

/// Concatenates the Fluent files of a language: reports, doubts and failures, commands. Languages
/// other than English add the doctor's checks, progress messages, and names of metrics.
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

/// Returns the Fluent source of a language.
pub(super) const fn source(locale: Locale) -> &'static str {
    match locale {
        Locale::En => files!("en"),
        Locale::Ru => files!("ru", "-doctor.ftl", "-phrases.ftl", "-metrics.ftl"),
        Locale::Fr => files!("fr", "-doctor.ftl", "-phrases.ftl", "-metrics.ftl"),
        Locale::Cs => files!("cs", "-doctor.ftl", "-phrases.ftl", "-metrics.ftl"),
        Locale::ZhHans => files!("zh-Hans", "-doctor.ftl", "-phrases.ftl", "-metrics.ftl"),
        Locale::Ko => files!("ko", "-doctor.ftl", "-phrases.ftl", "-metrics.ftl"),
        Locale::Ja => files!("ja", "-doctor.ftl", "-phrases.ftl", "-metrics.ftl"),
        Locale::De => files!("de", "-doctor.ftl", "-phrases.ftl", "-metrics.ftl"),
        Locale::Es => files!("es", "-doctor.ftl", "-phrases.ftl", "-metrics.ftl"),
    }
}

fn catalogue(locale: Locale) -> &'static Catalogue {
    static CATALOGUES: [OnceLock<Catalogue>; Locale::ALL.len()] =
        [const { OnceLock::new() }; Locale::ALL.len()];
    CATALOGUES[locale as usize].get_or_init(|| Catalogue::load(locale))
}

impl Catalogue {
    fn load(locale: Locale) -> Self {
        let tag: LanguageIdentifier = locale.tag().parse().unwrap_or_default();
        let mut bundle = FluentBundle::new_concurrent(vec![tag]);
        // Bidirectional isolation marks would be copied together with each value.
        bundle.set_use_isolating(false);
        bundle.set_formatter(Some(|value, _| match value {
            FluentValue::Number(count) => Some(number::group_digits(&count.as_string())),
            _ => None,
        }));
        // Tests parse every file; at run time unreadable entries are skipped.
        let resource = FluentResource::try_new(source(locale).to_owned());
        let resource = resource.unwrap_or_else(|(readable, _)| readable);
        let ids = message_ids(&resource);
        bundle.add_resource_overriding(resource);
        let mut words = HashMap::new();
        for id in ids {
            let mut errors: Vec<FluentError> = Vec::new();
            let pattern = find_pattern(&bundle, &id);
            let text =
                pattern.map(|it| bundle.format_pattern(it, None, &mut errors).into_owned());
            // Leaked at most once per process, and used for its lifetime.
            if let Some(text) = text.filter(|_| errors.is_empty()) {
                words.insert(id, &*text.leak());
            }
        }
        Self { bundle, words }
    }
}

/// Returns `message` and, for each of its attributes, `message.attribute`.
pub(super) fn message_ids(resource: &FluentResource) -> Vec<String> {
    use fluent_syntax::ast::Entry;
    let ids = resource.entries().filter_map(|entry| match entry {
        Entry::Message(message) => {
            let attributes = message.attributes.iter();
            let attributes = attributes.map(|it| format!("{}.{}", message.id.name, it.id.name));
            let value = message.value.iter().map(|_| message.id.name.to_owned());
            Some(value.chain(attributes).collect::<Vec<_>>())
        }
        _ => None,
    });
    ids.flatten().collect()
}

fn find_pattern<'b>(
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

/// Formats a message, or returns `None` if a variable is missing.
pub(super) fn format_in_locale(
    locale: Locale,
    id: &str,
    arguments: Option<&FluentArgs<'_>>,
) -> Option<String> {
    let bundle = &catalogue(locale).bundle;
    let mut errors = Vec::new();
    let text = bundle.format_pattern(find_pattern(bundle, id)?, arguments, &mut errors);
    errors.is_empty().then(|| text.into_owned())
}
