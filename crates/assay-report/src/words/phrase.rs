//! Translates progress messages, and names of dimensions and metrics, into the current language.

use assay_model::attribute::Attribute;
use assay_model::phrase::Phrase;
use assay_model::trust::DistrustReason;

use super::distrust;
use crate::locale as units;
use crate::locale::{
    Argument, Language, Locale, comma, group_digits, translate, translate_with, word,
};

/// Translates a phrase. English, and phrases missing in the catalogue, keep their own text.
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
            translate_with(&format!("phrase-{id}"), &with).unwrap_or_else(|| english.clone())
        }
        Phrase::Doubt { doubt, .. } => distrust(DistrustReason::Doubted(doubt)),
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
pub fn dimension(attribute: Attribute) -> &'static str {
    word(&format!("dimension-{}", attribute.name().replace('_', "-")))
}

/// Returns the translated name of a metric, or `None` in English and for proper names.
pub fn metric(stored_name: &str) -> Option<&'static str> {
    translate(&format!("metric-{}", stored_name.replace('_', "-")))
}

/// Translates a headline of the list of runs: `storage rate`, `RDMA latency (domain)`. Proper
/// names and names of tests are returned unchanged.
pub fn headline(label: &str) -> String {
    let (name, place) = label.split_once(" (").map_or((label, None), |(a, b)| (a, Some(b)));
    match (translate(&format!("headline-{}", name.replace(' ', "-").to_lowercase())), place) {
        (None, _) => label.to_owned(),
        (Some(name), None) => name.to_owned(),
        (Some(name), Some(place)) => format!("{name} ({place}"),
    }
}

#[cfg(test)]
mod tests {
    use assay_model::attribute::Role;
    use assay_model::benchmark::Benchmark;
    use assay_model::doubt::Doubt;
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

    /// A reason not to trust a value is explained in words, and never named by its identifier.
    #[test]
    fn distrust_is_in_the_current_language() {
        let demand = Doubt::OtherDemand { cpus: 1.0, usable_cpus: 2 };
        let on_host = Doubt::OnHost { host: "h1".to_owned(), doubt: Box::new(demand.clone()) };
        for (found, english, german) in [
            (DistrustReason::OneSample, "one sample", "ein einziger Messwert"),
            (DistrustReason::NoInterval, "too few samples", "zu wenige Messwerte"),
            (
                DistrustReason::Doubted(&demand),
                "other processes used 1.0 of 2 CPUs (50 %) during the measurement",
                "andere Prozesse nutzten während der Messung 1,0 von 2 CPUs (50 %)",
            ),
            (
                DistrustReason::Doubted(&on_host),
                "other processes used 1.0 of 2 CPUs (50 %) during the measurement",
                "andere Prozesse nutzten während der Messung 1,0 von 2 CPUs (50 %)",
            ),
        ] {
            let explained = crate::words::distrust_phrase(found);
            let with_blanks = |text: String| text.replace(units::NO_BREAK_SPACES, " ");
            assert_eq!(with_blanks(explained.to_string()), english);
            let german_text = Language::for_locale(Locale::De).scope(|| phrase(&explained));
            assert_eq!(with_blanks(german_text), german);
        }
    }

    /// Proper names are equal in every language.
    #[test]
    fn every_language_translates_metrics_and_headlines() {
        const PROPER: [&str; 7] = ["copy", "scale", "add", "triad", "rmax", "fp64", "fp32"];
        let metrics = Benchmark::ALL.into_iter().flat_map(|it| it.definition().metrics.iter());
        let mut wrong = std::collections::BTreeSet::new();
        for locale in Locale::ALL.into_iter().filter(|it| *it != Locale::En) {
            Language::for_locale(locale).scope(|| {
                for metric in metrics.clone() {
                    let is_proper = PROPER.contains(&metric.name);
                    if super::metric(metric.name).is_none() != is_proper {
                        wrong.insert((locale.tag(), metric.name));
                    }
                    let is_name = |it: &&str| {
                        it.starts_with(char::is_lowercase)
                            || it.contains("RDMA")
                            || it.contains("MPI")
                    };
                    let label = metric.headline.filter(|it| is_name(it) && *it != "ping");
                    if let Some(label) = label {
                        assert_ne!(headline(label), label, "{locale:?}");
                    }
                }
            });
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        Language::for_locale(Locale::De).scope(|| {
            assert_eq!(headline("storage rate (/data)"), "I/O-Rate (/data)");
            assert_eq!(headline("TCP"), "TCP");
        });
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
