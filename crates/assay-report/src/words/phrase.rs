//! Translates progress messages, and names of dimensions, into the current language.

use assay_model::attribute::Attribute;
use assay_model::phrase::Phrase;

use crate::locale as units;
use crate::locale::{Argument, Language, Locale, comma, group_digits, translate_with, word};

/// Translates a phrase. English, and phrases missing in the catalogue, keep their own text.
#[must_use]
pub fn phrase(phrase: &Phrase) -> String {
    if Language::current().locale == Locale::En {
        return phrase.to_string();
    }
    match phrase {
        Phrase::Name(text) => text.clone(),
        Phrase::Value(written) => localise_value(written),
        Phrase::Measured(quantity, digits) => {
            units::quantity(quantity.value, quantity.unit, *digits)
        }
        Phrase::Count(count) => group_digits(&count.to_string()),
        Phrase::Words { id, english, with } => {
            let argument = |part: &Phrase| match part {
                Phrase::Count(count) => Argument::from(*count),
                other => Argument::from(self::phrase(other)),
            };
            let with: Vec<_> =
                with.iter().map(|(name, it)| (name.as_str(), argument(it))).collect();
            translate_with(&format!("said-{id}"), &with).unwrap_or_else(|| english.clone())
        }
        Phrase::List { of, between } => {
            let between = if between == ", " { comma() } else { between };
            of.iter().map(self::phrase).collect::<Vec<_>>().join(between)
        }
    }
}

/// Localises a stored value: `1500 B`, `0.5 %`, `2.00`.
fn localise_value(written: &str) -> String {
    match written.split_once(' ') {
        None => group_digits(written),
        Some((number, "%")) => units::in_percent(&group_digits(number)),
        Some((number, unit)) => units::with_symbol(&group_digits(number), unit),
    }
}

/// Returns the name of a dimension.
#[must_use]
pub fn dimension(attribute: Attribute) -> &'static str {
    word(&format!("dimension-{}", attribute.name().replace('_', "-")))
}

#[cfg(test)]
mod tests {
    use assay_model::attribute::Role;
    use assay_model::phrase;
    use assay_model::quantity::{Quantity, Unit};

    use super::*;

    #[test]
    fn phrases_use_the_current_language() {
        let free = |bytes| Quantity::new(bytes, Unit::Byte);
        let translated = |locale, it: &Phrase| {
            let text = Language::for_locale(locale).scope(|| phrase(it));
            text.replace(units::NO_BREAK_SPACES, "~")
        };
        let part =
            phrase!("part-of", "{part} of {whole}", part = free(1.5e3), whole = free(2e6));
        assert_eq!(translated(Locale::Fr, &part), "1,46~Kio sur 1,91~Mio");
        assert_eq!(translated(Locale::En, &part), "1.46 KiB of 1.91 MiB");
        let share =
            Phrase::list(", ", [Phrase::exact_value("0.5 %"), Phrase::exact_value("1500 B")]);
        assert_eq!(translated(Locale::Ru, &share), "0,5~%, 1~500~Б");
        let unknown = phrase!("of another version", "as it was said in {n}", n = 7_usize);
        assert_eq!(translated(Locale::De, &unknown), "as it was said in 7");
    }

    #[test]
    fn every_dimension_has_a_name() {
        for attribute in Attribute::ALL {
            let is_dimension = attribute.row().role != Role::Fact;
            assert_eq!(dimension(*attribute) != "…", is_dimension, "{attribute:?}");
        }
        assert_eq!(dimension(Attribute::FileBytes), "file size");
    }
}
