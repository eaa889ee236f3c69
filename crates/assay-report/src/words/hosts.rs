//! Texts about hosts: abbreviated lists of names, and doubts that several hosts share.

use assay_model::doubt::Doubt;
use assay_model::host_names::{self, format_host_list};

use super::doubt;
use crate::locale::{comma, format_fact, semicolon};

/// Maximum number of hosts listed individually; more are abbreviated as ranges.
const MAX_LISTED_HOSTS: usize = 4;
/// Maximum length of ranges, in letters.
const MAX_RANGE_LETTERS: usize = 40;

/// Lists the names of hosts; long lists are abbreviated and followed by their number.
pub fn hosts(names: &[&str]) -> String {
    match names.len() {
        0..=MAX_LISTED_HOSTS => names.join(comma()),
        n => format!("{} ({n})", abbreviate_names(names)),
    }
}

/// Abbreviates many names as ranges; if the ranges are long, to the first and the last name.
fn abbreviate_names(names: &[&str]) -> String {
    match names {
        [first, .., last] if names.len() > MAX_LISTED_HOSTS => {
            let ranges = format_host_list(names);
            let is_short = ranges.chars().count() <= MAX_RANGE_LETTERS;
            if is_short { ranges } else { format!("{first} … {last}") }
        }
        _ => names.join(comma()),
    }
}

/// Appends to a text about one host the other hosts with a similar doubt.
pub fn with_other_hosts(text: &str, others: &[&str]) -> String {
    let more = message!("on-more-hosts", n = others.len(), hosts = abbreviate_names(others));
    format!("{text} {more}")
}

/// Returns the first item with the largest extent. `all` must not be empty.
pub fn worst<T>(all: &[T], extent: impl Fn(&T) -> f64) -> &T {
    let worse = |known, it| if extent(it) > extent(known) { it } else { known };
    all.iter().fold(&all[0], worse)
}

/// Returns the host that a doubt is about, and the text without the host.
pub fn host_and_text(of: &Doubt) -> Option<(&str, String)> {
    match of {
        Doubt::OnHost { host, doubt } => Some((host, self::doubt(doubt).text)),
        Doubt::HostLost { host, reason, .. } => Some((host, reason.clone())),
        _ => None,
    }
}

/// Formats doubts, each kind once: hosts with the same kind are listed together.
pub fn doubts<'d>(doubts: impl Iterator<Item = &'d Doubt>) -> Vec<String> {
    /// Host, text of the doubt, and extent of the doubt.
    type OnHost<'d> = (&'d str, String, f64);
    let mut kinds: Vec<(&str, Vec<OnHost<'d>>)> = Vec::new();
    for doubt in doubts {
        let (host, text) =
            host_and_text(doubt).unwrap_or_else(|| ("", self::doubt(doubt).text));
        let new = (host, text, doubt.severity());
        let same = |(id, known): &&mut (&str, Vec<OnHost<'_>>)| {
            *id == doubt.id() && known[0].0.is_empty() == new.0.is_empty()
        };
        match kinds.iter_mut().find(same) {
            Some((_, known)) => known.push(new),
            None => kinds.push((doubt.id(), vec![new])),
        }
    }
    let text = |(_, all): &(&str, Vec<OnHost<'_>>)| {
        let mut all: Vec<&OnHost<'_>> = all.iter().collect();
        host_names::sort_naturally(&mut all, |it| it.0);
        let (first, text, _) = all[0];
        let names: Vec<&str> = all.iter().map(|it| it.0).collect();
        if first.is_empty() {
            return all.iter().map(|it| it.1.as_str()).collect::<Vec<_>>().join(semicolon());
        }
        if all.iter().all(|it| it.1 == *text) {
            return format_fact(&hosts(&names), text);
        }
        let (host, text, _) = worst(&all, |it| it.2);
        let others: Vec<&str> = names.into_iter().filter(|name| name != host).collect();
        with_other_hosts(&format_fact(host, text), &others)
    };
    kinds.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(host: usize, load: f64) -> Doubt {
        let doubt = Box::new(Doubt::OtherLoad { load });
        Doubt::OnHost { host: format!("h{host}"), doubt }
    }

    #[test]
    fn abbreviates_many_hosts() {
        let names: Vec<String> = (1..=100).map(|at| format!("h{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(hosts(&names[..3]), "h1, h2, h3");
        assert_eq!(hosts(&names), "h[1-100] (100)");
        let odd: Vec<&str> = names.iter().step_by(2).copied().collect();
        assert_eq!(hosts(&odd), "h1 … h99 (50)", "long ranges are abbreviated");
    }

    /// Doubts arrive in the order in which hosts finish.
    #[test]
    fn sorts_hosts() {
        let text = "the load average was 0.70 before anything was measured";
        let unsorted: Vec<Doubt> = [4, 3, 10, 1].map(|host| load(host, 0.7)).into();
        assert_eq!(doubts(unsorted.iter()), [format!("h1, h3, h4, h10: {text}")]);
    }

    #[test]
    fn groups_doubts_of_many_hosts() {
        let same: Vec<Doubt> = (1..=100).map(|host| load(host, 0.7)).collect();
        let text = "the load average was 0.70 before anything was measured";
        assert_eq!(doubts(same.iter()), [format!("h[1-100] (100): {text}")]);
        let differ: Vec<Doubt> =
            (1..=100).map(|host| load(host, 0.69 + 0.01 * host as f64)).collect();
        assert_eq!(
            doubts(differ.iter()),
            [format!("h100: {} … and on 99 more hosts: h[1-99]", text.replace("0.70", "1.69"))],
            "the worst is named"
        );
        let mixed = [load(1, 0.7), Doubt::OtherLoad { load: 0.7 }];
        assert_eq!(doubts(mixed.iter()), [format!("h1: {text}"), text.to_owned()]);
    }
}
