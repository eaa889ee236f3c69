//! Tests for completeness of every language, and for reading back formatted values.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::quantity::Unit;
use fluent_bundle::FluentResource;
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use proptest::prelude::*;

use super::{Language, Locale, catalogue, format_date, format_fixed, group_digits};
use crate::locale as units;
use crate::precision;

/// Texts and variables of a message, including all plural forms.
#[derive(Debug, Default)]
pub(super) struct Message {
    texts: Vec<String>,
    variables: BTreeSet<String>,
}

impl Message {
    fn add(&mut self, pattern: &Pattern<&str>) {
        for element in &pattern.elements {
            match element {
                PatternElement::TextElement { value } => self.texts.push((*value).to_owned()),
                PatternElement::Placeable { expression } => match expression {
                    Expression::Inline(inline) => self.add_inline(inline),
                    Expression::Select { selector, variants } => {
                        self.add_inline(selector);
                        variants.iter().for_each(|variant| self.add(&variant.value));
                    }
                },
            }
        }
    }

    fn add_inline(&mut self, inline: &InlineExpression<&str>) {
        match inline {
            InlineExpression::VariableReference { id } => {
                self.variables.insert(id.name.to_owned());
            }
            InlineExpression::StringLiteral { value } => self.texts.push((*value).to_owned()),
            other => panic!("{other:?} is not supported in messages"),
        }
    }

    /// Returns the literals between backticks: options, paths, settings.
    fn code(&self) -> BTreeSet<String> {
        let text = self.texts.concat();
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    /// Returns the text outside backticks.
    pub(super) fn words(&self) -> String {
        self.texts.concat().split('`').step_by(2).collect::<Vec<_>>().join(" ")
    }
}

pub(super) fn messages(locale: Locale) -> BTreeMap<String, Message> {
    let resource = FluentResource::try_new(catalogue::source(locale).to_owned());
    let resource = resource.unwrap_or_else(|(_, errors)| panic!("{locale:?}: {errors:?}"));
    let mut messages = BTreeMap::new();
    for entry in resource.entries() {
        let Entry::Message(entry) = entry else { continue };
        let mut insert = |id: String, pattern: &Pattern<&str>| {
            let mut message = Message::default();
            message.add(pattern);
            assert!(messages.insert(id.clone(), message).is_none(), "{locale:?}: {id} twice");
        };
        let id = entry.id.name;
        entry.value.iter().for_each(|pattern| insert(id.to_owned(), pattern));
        entry.attributes.iter().for_each(|a| insert(format!("{id}.{}", a.id.name), &a.value));
    }
    messages
}

/// Lists messages that are printed in English for want of a translation. It fails no test here;
/// on CI, and so before a release, a skip is a failure.
fn list_untranslated(test: &str, untranslated: &[String]) {
    if !untranslated.is_empty() {
        println!("SKIPPED {test}: printed in English: {}", untranslated.join(", "));
    }
}

/// Lists missing messages; detects missing variables, and changes to literal code.
#[test]
fn every_language_has_every_message() {
    let english = messages(Locale::En);
    let mut untranslated = Vec::new();
    for locale in Locale::ALL {
        let localised = messages(locale);
        for (id, message) in &english {
            let Some(translated) = localised.get(id) else {
                untranslated.push(format!("{} {id}", locale.tag()));
                continue;
            };
            assert_eq!(translated.variables, message.variables, "{locale:?}: {id}");
            assert_eq!(translated.code(), message.code(), "{locale:?}: {id}");
        }
        let has_english_in_code = |id: &&String| {
            ["check-", "phrase-", "metric-", "headline-"].iter().any(|it| id.starts_with(it))
        };
        let unknown: Vec<_> = localised.keys().filter(|id| !has_english_in_code(id)).collect();
        let unknown: Vec<_> =
            unknown.into_iter().filter(|id| !english.contains_key(*id)).collect();
        assert_eq!(unknown, Vec::<&String>::new(), "{locale:?}");
    }
    list_untranslated("every_language_has_every_message", &untranslated);
}

#[test]
fn messages_have_neither_digits_nor_units() {
    let symbols =
        ["B/s", "bit", "Gbit", "Go", "Mo", "ГБ", "МБ", "KiB", "MiB", "GiB", "ms", "µs", "IOPS"];
    for locale in Locale::ALL {
        // Expected values of the doctor's checks contain numbers.
        let messages = messages(locale).into_iter().filter(|(id, _)| !id.starts_with("check-"));
        for (id, message) in messages {
            let words = message.words();
            assert!(!words.chars().any(char::is_numeric), "{locale:?}: {id}: {words}");
            let is_letter = |it: char| it.is_alphanumeric() || it == '/';
            let unit = words.split(|it| !is_letter(it)).find(|word| symbols.contains(word));
            assert_eq!(unit, None, "{locale:?}: {id}: {words}");
            assert!(!words.contains('%'), "{locale:?}: {id}: {words}");
        }
    }
}

/// Checks that no line can break between a number and its unit, or before a French colon,
/// semicolon, question or exclamation mark. French needs U+00A0 before the colon and inside
/// quotation marks, and U+202F before the other marks and units.
#[test]
fn no_line_breaks_before_units_and_french_punctuation() {
    let units = ["%", "B", "KiB", "MiB", "GiB", "MB", "GB", "Kio", "Mio", "Gio", "КиБ", "МиБ"];
    let times = ["ns", "µs", "ms", "мкс", "мс", "MHz", "GHz", "Mbit/s", "Gbit/s", "GB/s"];
    let is_unit = |word: &str| {
        let word = word.trim_matches(|it| "()[],;.:".contains(it));
        units.contains(&word) || times.contains(&word)
    };
    for locale in Locale::ALL {
        for (id, message) in messages(locale) {
            let words = message.texts.concat();
            let words = words.split('`').step_by(2).collect::<Vec<_>>().join("`");
            let tokens: Vec<&str> = words.split(' ').collect();
            for pair in tokens.windows(2) {
                let after_number = pair[0].ends_with(|it: char| it.is_ascii_digit());
                assert!(!(after_number && is_unit(pair[1])), "{locale:?}: {id}: {words}");
            }
            if locale != Locale::Fr {
                continue;
            }
            for (mark, space) in
                [(':', '\u{a0}'), (';', '\u{202f}'), ('?', '\u{202f}'), ('!', '\u{202f}')]
            {
                for other in [' ', '\u{a0}', '\u{202f}'].into_iter().filter(|it| *it != space) {
                    assert!(!words.contains(&format!("{other}{mark}")), "{id}: {words}");
                }
            }
            assert!(!words.contains("« ") && !words.contains(" »"), "{id}: {words}");
        }
    }
}

/// The doctor's checks contain their English reasons and advice. Every other language must
/// translate them, or is listed, and keep literal text such as paths and settings.
#[test]
fn every_language_translates_doctor_checks() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-fleet/src/doctor");
    let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let files = files.filter(|it| it.is_file());
    let source: String = files.map(|it| std::fs::read_to_string(it).unwrap()).collect();
    let text = |check: &str, name: &str| {
        let (_, rest) = check.split_once(&format!("{name}: \""))?;
        let text = rest.split_once("\",\n")?.0;
        Some(text.split_whitespace().filter(|it| *it != "\\").collect::<Vec<_>>().join(" "))
    };
    let mut checks = 0;
    let mut untranslated = Vec::new();
    for check in source.split("    DoctorCheck {\n").skip(1) {
        let id = text(check, "id").unwrap();
        checks += 1;
        for locale in Locale::ALL.into_iter().filter(|it| *it != Locale::En) {
            let translations = Language::for_locale(locale).scope(|| {
                ["why", "expected", "change"].map(|part| {
                    let key = format!("check-{}.{part}", id.replace('.', "-"));
                    (catalogue::translate(&key), text(check, part).unwrap())
                })
            });
            if translations[0].0.is_none() {
                untranslated.push(format!("{} {id}", locale.tag()));
            }
            for (translated, english) in translations {
                let Some(translated) = translated else { continue };
                let is_literal = |it: &&str| it.contains(['/', '_', '=']) && *it != "I/O";
                for word in english.split([' ', ',', ';', '(', ')']).filter(is_literal) {
                    assert!(
                        translated.contains(word),
                        "{locale:?}: {id} lost {word}: {translated}"
                    );
                }
            }
        }
    }
    assert!(checks > 70, "{checks}");
    list_untranslated("every_language_translates_doctor_checks", &untranslated);
}

/// Progress messages and findings of the doctor have their English text in the code. Every other
/// language must translate them with the same variables, or is listed.
#[test]
fn every_language_translates_phrases() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut code = String::new();
    sources(&root.join("../assay-fleet/src"), &mut code);
    sources(&root.join("../assay-run/src"), &mut code);
    sources(&root.join("../assay-claims/src"), &mut code);
    sources(&root.join("../assay-model/src/plan"), &mut code);
    code += &std::fs::read_to_string(root.join("src/words/choices.rs")).unwrap();
    let english = phrases(&code);
    assert!(english.len() > 130, "{}", english.len());
    let mut untranslated = Vec::new();
    for locale in Locale::ALL.into_iter().filter(|it| *it != Locale::En) {
        let localised = messages(locale);
        let phrase_id = |id: &String| id.strip_prefix("phrase-").map(str::to_owned);
        let ids: BTreeSet<String> = localised.keys().filter_map(phrase_id).collect();
        let unused: Vec<_> = ids.iter().filter(|id| !english.contains_key(*id)).collect();
        assert_eq!(unused, Vec::<&String>::new(), "{locale:?}");
        for (id, template) in &english {
            let Some(message) = localised.get(&format!("phrase-{id}")) else {
                untranslated.push(format!("{} phrase-{id}", locale.tag()));
                continue;
            };
            let variables = template.split('{').skip(1);
            let variables: BTreeSet<String> =
                variables.filter_map(|it| Some(it.split_once('}')?.0.to_owned())).collect();
            assert_eq!(message.variables, variables, "{locale:?}: {id}");
            let original = Message { texts: vec![template.clone()], ..Message::default() };
            assert_eq!(message.code(), original.code(), "{locale:?}: {id}");
        }
    }
    list_untranslated("every_language_translates_phrases", &untranslated);
}

/// Collects the templates of `phrase!` and `Phrase::plural` by identifier. The last template of
/// `Phrase::plural` is the plural.
fn phrases(code: &str) -> BTreeMap<String, String> {
    let mut templates = BTreeMap::new();
    let mut insert = |id: &str, template: &str| {
        let template = template.replace("\\\n", "");
        let template = template.split_whitespace().collect::<Vec<_>>().join(" ");
        let previous = templates.insert(id.to_owned(), template.clone());
        assert!(
            previous.as_ref().is_none_or(|it| *it == template),
            "{id}: {previous:?}, {template}"
        );
    };
    for call in code.split("phrase!(").skip(1) {
        let quoted: Vec<&str> = call.splitn(5, '"').collect();
        if let [blank, id, comma, template, _] = quoted[..]
            && blank.trim().is_empty()
            && comma.trim() == ","
        {
            insert(id, template);
        }
    }
    for call in code.split("Phrase::plural(").skip(1) {
        let quoted: Vec<&str> = call.splitn(7, '"').collect();
        insert(quoted[1], quoted[5]);
    }
    templates
}

/// A Latin letter that looks Cyrillic breaks searching.
#[test]
fn no_word_mixes_scripts() {
    let is_cyrillic = |it: char| ('\u{400}'..='\u{52f}').contains(&it);
    for (id, message) in messages(Locale::Ru) {
        for word in message.words().split(|it: char| !it.is_alphabetic()) {
            let mixed = word.chars().any(is_cyrillic) && word.chars().any(|it| it.is_ascii());
            assert!(!mixed, "{id}: {word}");
        }
    }
}

/// Appends the text of every file below a folder, except this one.
fn sources(folder: &std::path::Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if !path.ends_with("locale/tests.rs") {
            all.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// Checks that each message in the code exists, and that each existing message is used.
#[test]
fn code_and_catalogue_have_the_same_messages() {
    let mut all = String::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    sources(&root.join("src"), &mut all);
    sources(&root.join("templates"), &mut all);
    for name in ["assay", "assay-console", "assay-judgement", "assay-archive", "assay-run"] {
        sources(&root.join(format!("../{name}/src")), &mut all);
    }
    sources(&root.join("../assay-model/src/doubt"), &mut all);
    let english = messages(Locale::En);
    // Names of dimensions are looked up by attribute.
    let literal_ids = english.keys().filter(|id| !id.starts_with("dimension-"));
    for id in literal_ids.filter_map(|id| id.split('.').next()) {
        // The table of doubts names their messages by identifier.
        let is_used = |id: &str| all.contains(&format!("\"{id}\""));
        let is_doubt = id.strip_prefix("doubt-").is_some_and(is_used);
        assert!(is_doubt || is_used(id), "the message {id} is unused");
    }
    for call in ["message!(", "word(", "message(", "sentence(", "count_message("] {
        for (start, _) in all.match_indices(call) {
            // `from_message(` is another function.
            if all[..start].ends_with(|it: char| it.is_alphanumeric() || it == '_') {
                continue;
            }
            let rest = all[start + call.len()..].trim_start();
            let Some(rest) = rest.strip_prefix('"') else { continue };
            let id = rest.split('"').next().unwrap();
            assert!(english.contains_key(id), "there is no message {id}");
        }
    }
}

fn check(locale: Locale, write: fn() -> String, expected: &str) {
    let text = Language::for_locale(locale).scope(write);
    assert_eq!(text.replace('\u{a0}', "~").replace('\u{202f}', "_"), expected, "{locale:?}");
}

#[test]
fn formats_numbers_in_each_language() {
    for (locale, size, rate, share, count) in [
        (Locale::En, "64~KiB", "96.40~Gbit/s", "87.3%", "1,234,567.5"),
        (Locale::Ru, "64~КиБ", "96,40~Гбит/с", "87,3~%", "1~234~567,5"),
        (Locale::Fr, "64_Kio", "96,40_Gbit/s", "87,3_%", "1_234_567,5"),
        (Locale::Cs, "64~KiB", "96,40~Gbit/s", "87,3~%", "1~234~567,5"),
        (Locale::ZhHans, "64~KiB", "96.40~Gbit/s", "87.3%", "1,234,567.5"),
        (Locale::Ko, "64~KiB", "96.40~Gbit/s", "87.3%", "1,234,567.5"),
        (Locale::Ja, "64~KiB", "96.40~Gbit/s", "87.3%", "1,234,567.5"),
        (Locale::De, "64~KiB", "96,40~Gbit/s", "87,3~%", "1.234.567,5"),
        (Locale::Es, "64~KiB", "96,40~Gbit/s", "87,3~%", "1.234.567,5"),
    ] {
        check(locale, || units::size(65_536), size);
        check(locale, || units::quantity(96.4e9, Unit::BitPerSecond, 4), rate);
        check(locale, || units::percent(87.3), share);
        check(locale, || group_digits("1234567.5"), count);
    }
    check(Locale::Es, || group_digits("1234"), "1234");
    check(Locale::Fr, || units::quantity(34.12e9, Unit::BytePerSecond, 4), "34,12_Go/s");
    check(Locale::Ru, || units::quantity(34.12e9, Unit::BytePerSecond, 4), "34,12~ГБ/с");
    check(Locale::Ko, || units::quantity(34.12e9, Unit::BytePerSecond, 4), "34.12~GB/s");
    check(Locale::Ru, || units::quantity(860e9, Unit::FlopPerSecond, 3), "860~GFLOP/s");
    check(Locale::Cs, || units::quantity(3e5, Unit::IoPerSecond, 4), "300~000~IOPS");
    check(Locale::De, || units::quantity(1234.6, Unit::IoPerSecond, 4), "1.235~IOPS");
    check(Locale::De, || units::quantity(284e3, Unit::IoPerSecond, 1), "284.000~IOPS");
    // No digit before the decimal point is a filler.
    check(
        Locale::De,
        || precision::format_value(10_131.7, Unit::IoPerSecond, 4),
        "10.132~IOPS",
    );
    check(
        Locale::Ja,
        || precision::format_value(10_131.7, Unit::IoPerSecond, 4),
        "10,132~IOPS",
    );
    check(Locale::De, || precision::format_value(98.76, Unit::IoPerSecond, 3), "98,8~IOPS");
    check(Locale::De, || units::quantity(1.5e-300, Unit::Second, 3), "1,50e-300~s");
    check(Locale::De, || format_fixed(-0.5, 2), "-0,50");
    let invariant = Language::INVARIANT.scope(|| units::in_percent(&group_digits("1234567.5")));
    assert_eq!(invariant, "1234567.5\u{a0}%");
}

#[test]
fn formats_dates_in_each_language() {
    for (locale, expected) in [
        (Locale::En, "May~1,~2019"),
        (Locale::Ru, "1~мая~2019~г."),
        (Locale::Fr, "1er~mai~2019"),
        (Locale::Cs, "1.~května~2019"),
        (Locale::ZhHans, "2019年5月1日"),
        (Locale::Ko, "2019년~5월~1일"),
        (Locale::Ja, "2019年5月1日"),
        (Locale::De, "1.~Mai~2019"),
        (Locale::Es, "1~de~mayo~de~2019"),
    ] {
        check(locale, || format_date("2019-05-01T10:00:00Z"), expected);
    }
    assert_eq!(format_date("2019-05-01T10:00:00Z"), "2019-05-01");
    assert_eq!(format_date("some day"), "some day");
}

#[test]
fn parses_language_tags() {
    for (tag, expected) in [
        ("fr", Some(Locale::Fr)),
        ("fr-CA", Some(Locale::Fr)),
        ("fr_FR.UTF-8", Some(Locale::Fr)),
        ("zh_CN.UTF-8", Some(Locale::ZhHans)),
        ("zh-Hans", Some(Locale::ZhHans)),
        ("zh_TW", None),
        ("DE_AT@euro", Some(Locale::De)),
        ("C.UTF-8", None),
        ("", None),
    ] {
        assert_eq!(Locale::from_tag(tag), expected, "{tag}");
    }
}

fn languages() -> impl Strategy<Value = Language> {
    (proptest::sample::select(&Locale::ALL[..]), any::<bool>())
        .prop_map(|(locale, has_invariant_units)| Language { locale, has_invariant_units })
}

proptest! {
    /// Guarantee: parsing a formatted value returns the measured value to its digits.
    #[test]
    fn formatted_quantities_parse_back(
        value in (-12i32..15, 1.0f64..10.0).prop_map(|(e, m)| m * 10f64.powi(e)),
        unit in proptest::sample::select(&Unit::ALL[..]),
        language in languages(),
    ) {
        let text = language.scope(|| units::quantity(value, unit, 4));
        let parsed = units::parse_quantity(&text, unit, language);
        // Rounding error of four digits; digits with a binary prefix differ from those in bytes.
        let is_close = |it: f64| (it - value).abs() <= value * 5.1e-4;
        prop_assert!(parsed.is_some_and(|it| is_close(it.value)), "{value} → {text} → {parsed:?}");
    }

    /// No language misreads a quantity of another language.
    #[test]
    fn no_language_misreads_another(
        value in (-9i32..13, 1.0f64..10.0).prop_map(|(e, m)| m * 10f64.powi(e)),
        unit in proptest::sample::select(&[Unit::Byte, Unit::BytePerSecond, Unit::BitPerSecond, Unit::Second][..]),
        language in languages(),
    ) {
        let text = language.scope(|| units::quantity(value, unit, 4));
        for other in [Unit::BytePerSecond, Unit::BitPerSecond, Unit::Second, Unit::Hertz] {
            prop_assert!(other == unit || units::parse_quantity(&text, other, language).is_none(), "{text}");
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*", language in languages()) {
        let _ = units::parse_quantity(&text, Unit::BytePerSecond, language);
        let _ = language.scope(|| (group_digits(&text), format_date(&text)));
    }
}

/// Figures with too many digits to count have a power of ten, and none becomes a zero.
#[test]
fn extreme_values_are_scientific() {
    for (value, unit, expected) in [
        (5e-324, Unit::Second, "4.94e-324 s"),
        (1e-300, Unit::Second, "1.00e-300 s"),
        (1e-21, Unit::Second, "0.00000000100 ps"),
        (1e-23, Unit::Second, "1.00e-23 s"),
        (123_456_789_012_345_678_901_234_567_890.0, Unit::Count, "1.23e29"),
        (123_456_789_012_345.0, Unit::Count, "123456789012345"),
        (1e300, Unit::BytePerSecond, "1.00e300 B/s"),
        (-1e-300, Unit::Count, "-1.00e-300"),
        (0.0, Unit::Second, "0 s"),
    ] {
        let written = Language::INVARIANT.scope(|| units::quantity(value, unit, 3));
        assert_eq!(written.replace('\u{a0}', " "), expected, "{value}");
        let scope = Language::INVARIANT;
        let read = super::parse_quantity(&written, unit, scope).map(|it| it.value);
        let is_near = read.is_some_and(|read| (read - value).abs() <= value.abs() * 0.02);
        // No quantity is read with a sign.
        assert!(is_near || value < 0.0, "{value}: {written}: {read:?}");
    }
    let like = |value| units::quantity_with_prefix(value, Unit::Second, 3, 1.0);
    assert_eq!(
        Language::INVARIANT.scope(|| like(1e-300)).replace('\u{a0}', " "),
        "1.00e-300 s"
    );
}
