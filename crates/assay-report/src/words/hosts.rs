//! Hosts in words: many of them in short, and what is said of several alike.

use assay_model::doubt::Doubt;
use assay_model::host_names::{self, compact};

use super::doubt;
use crate::locale::{comma, fact, semicolon};

/// Hosts that are named one by one; of more there are ranges.
const NAMED: usize = 4;
/// Letters of ranges that are read at a glance.
const ROOM: usize = 40;

/// Hosts by their names; of many how many they are, too.
#[must_use]
pub fn hosts(names: &[&str]) -> String {
    match names.len() {
        0..=NAMED => names.join(comma()),
        n => format!("{} ({n})", short(names)),
    }
}

/// Names, or ranges of many; where these are long, the first and the last.
fn short(names: &[&str]) -> String {
    match names {
        [first, .., last] if names.len() > NAMED => {
            let ranges = compact(names);
            let is_short = ranges.chars().count() <= ROOM;
            if is_short { ranges } else { format!("{first} … {last}") }
        }
        _ => names.join(comma()),
    }
}

/// What is said of one host, and of which others something like it is.
#[must_use]
pub fn on_more_hosts(said: &str, others: &[&str]) -> String {
    let more = say!("on-more-hosts", n = others.len(), hosts = short(others));
    format!("{said} {more}")
}

/// The first of those that are as bad as any; there is one at least.
#[must_use]
pub fn worst<T>(all: &[T], extent: impl Fn(&T) -> f64) -> &T {
    let worse = |known, it| if extent(it) > extent(known) { it } else { known };
    all.iter().fold(&all[0], worse)
}

/// The host that a doubt is about, and what is doubtful there.
#[must_use]
pub fn of_host(of: &Doubt) -> Option<(&str, String)> {
    match of {
        Doubt::OnHost { host, doubt } => Some((host, self::doubt(doubt).text)),
        Doubt::HostLost { host, reason, .. } => Some((host, reason.clone())),
        _ => None,
    }
}

/// Doubts in words, each kind once: what of it is about several hosts names them together.
#[must_use]
pub fn doubts<'d>(doubts: impl Iterator<Item = &'d Doubt>) -> Vec<String> {
    /// A host, what is doubtful there, and how bad it is.
    type OnHost<'d> = (&'d str, String, f64);
    let mut kinds: Vec<(&str, Vec<OnHost<'d>>)> = Vec::new();
    for doubt in doubts {
        let (host, text) = of_host(doubt).unwrap_or_else(|| ("", self::doubt(doubt).text));
        let said = (host, text, doubt.extent());
        let same = |(id, known): &&mut (&str, Vec<OnHost<'_>>)| {
            *id == doubt.id() && known[0].0.is_empty() == said.0.is_empty()
        };
        match kinds.iter_mut().find(same) {
            Some((_, known)) => known.push(said),
            None => kinds.push((doubt.id(), vec![said])),
        }
    }
    let text = |(_, said): &(&str, Vec<OnHost<'_>>)| {
        let mut said: Vec<&OnHost<'_>> = said.iter().collect();
        host_names::sort(&mut said, |it| it.0);
        let (first, text, _) = said[0];
        let names: Vec<&str> = said.iter().map(|it| it.0).collect();
        if first.is_empty() {
            return said.iter().map(|it| it.1.as_str()).collect::<Vec<_>>().join(semicolon());
        }
        if said.iter().all(|it| it.1 == *text) {
            return fact(&hosts(&names), text);
        }
        let (host, text, _) = worst(&said, |it| it.2);
        let others: Vec<&str> = names.into_iter().filter(|name| name != host).collect();
        on_more_hosts(&fact(host, text), &others)
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
    fn many_hosts_are_ranges_and_a_number() {
        let names: Vec<String> = (1..=100).map(|at| format!("h{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(hosts(&names[..3]), "h1, h2, h3");
        assert_eq!(hosts(&names), "h[1-100] (100)");
        let odd: Vec<&str> = names.iter().step_by(2).copied().collect();
        assert_eq!(hosts(&odd), "h1 … h99 (50)", "ranges that are long say no more");
    }

    /// They came as they were done.
    #[test]
    fn hosts_are_named_in_their_order() {
        let text = "the load average was 0.70 before anything was measured";
        let came: Vec<Doubt> = [4, 3, 10, 1].map(|host| load(host, 0.7)).into();
        assert_eq!(doubts(came.iter()), [format!("h1, h3, h4, h10: {text}")]);
    }

    #[test]
    fn what_is_alike_on_many_hosts_is_said_once() {
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
        let alone = [load(1, 0.7), Doubt::OtherLoad { load: 0.7 }];
        assert_eq!(doubts(alone.iter()), [format!("h1: {text}"), text.to_owned()]);
    }
}
