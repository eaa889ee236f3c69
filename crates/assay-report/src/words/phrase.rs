//! What is said meanwhile, and what results are told apart by, in the language that is being written.

use assay_model::attribute::Attribute;
use assay_model::phrase::Phrase;

use crate::locale as units;
use crate::locale::{Argument, Language, Locale, comma, grouped, translated_with, word};

/// What somebody said. English is as it was said, and so is what the catalogue does not know.
#[must_use]
pub fn phrase(said: &Phrase) -> String {
    if Language::current().locale == Locale::En {
        return said.to_string();
    }
    match said {
        Phrase::Name(text) => text.clone(),
        Phrase::Value(written) => value(written),
        Phrase::Measured(quantity, digits) => {
            units::quantity(quantity.value, quantity.unit, *digits)
        }
        Phrase::Count(count) => grouped(&count.to_string()),
        Phrase::Words { id, english, with } => {
            let argument = |said: &Phrase| match said {
                Phrase::Count(count) => Argument::from(*count),
                other => Argument::from(phrase(other)),
            };
            let with: Vec<_> =
                with.iter().map(|(name, it)| (name.as_str(), argument(it))).collect();
            translated_with(&format!("said-{id}"), &with).unwrap_or_else(|| english.clone())
        }
        Phrase::List { of, between } => {
            let between = if between == ", " { comma() } else { between };
            of.iter().map(phrase).collect::<Vec<_>>().join(between)
        }
    }
}

/// `1500 B`, `0.5 %`, `2.00`.
fn value(written: &str) -> String {
    match written.split_once(' ') {
        None => grouped(written),
        Some((number, "%")) => units::in_percent(&grouped(number)),
        Some((number, unit)) => units::with_symbol(&grouped(number), unit),
    }
}

/// What a dimension of results is called.
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
    fn what_is_said_is_said_in_the_language_of_the_writer() {
        let free = |bytes| Quantity::new(bytes, Unit::Byte);
        let said = |locale, said: &Phrase| {
            let text = Language::of(locale).write(|| phrase(said));
            text.replace(units::SPACES, "~")
        };
        let part =
            phrase!("part-of", "{part} of {whole}", part = free(1.5e3), whole = free(2e6));
        assert_eq!(said(Locale::Fr, &part), "1,46~Kio sur 1,91~Mio");
        assert_eq!(said(Locale::En, &part), "1.46 KiB of 1.91 MiB");
        let share = Phrase::list(", ", [Phrase::value("0.5 %"), Phrase::value("1500 B")]);
        assert_eq!(said(Locale::Ru, &share), "0,5~%, 1~500~Б");
        let unknown = phrase!("of another version", "as it was said in {n}", n = 7_usize);
        assert_eq!(said(Locale::De, &unknown), "as it was said in 7");
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
