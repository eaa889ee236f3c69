//! What is said of several hosts alike, while it comes: of the first at once, of the others together. Never prints, and
//! never reads a clock.

use assay_model::host_names;
use assay_report::words;

/// Where nothing new came for so long, the others are said.
const SETTLED_S: f64 = 1.0;

/// What was said, and whom else it is true of.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    kinds: Vec<Kind>,
    newest_s: f64,
}

#[derive(Debug)]
struct Kind {
    key: String,
    host: String,
    line: String,
    /// Hosts that wait, each with what is to be said of it alone.
    others: Vec<(String, String)>,
}

impl Alike {
    /// What is said of a host at `at_s`; it comes back where nothing of the kind was said before, else it waits.
    pub(crate) fn hear(
        &mut self,
        key: &str,
        host: &str,
        line: String,
        at_s: f64,
    ) -> Option<String> {
        self.newest_s = at_s;
        match self.kinds.iter_mut().find(|kind| kind.key == key) {
            None => {
                let (key, host) = (key.to_owned(), host.to_owned());
                self.kinds.push(Kind { key, host, line: line.clone(), others: Vec::new() });
                Some(line)
            }
            Some(kind) if kind.host == host => Some(line),
            Some(kind) => {
                if kind.others.iter().all(|(known, _)| known != host) {
                    kind.others.push((host.to_owned(), line));
                }
                None
            }
        }
    }

    /// Whether nobody was added for a while.
    pub(crate) fn is_settled(&self, at_s: f64) -> bool {
        at_s - self.newest_s > SETTLED_S
    }

    /// A line of each kind for all that wait.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        let line = |kind: &mut Kind| {
            let mut others = std::mem::take(&mut kind.others);
            // They came as they were done.
            host_names::sort(&mut others, |(host, _)| host);
            match others.as_slice() {
                [] => None,
                [(_, line)] => Some(line.clone()),
                several => {
                    let hosts: Vec<&str> = several.iter().map(|(host, _)| &**host).collect();
                    Some(words::on_more_hosts(&kind.line, &hosts))
                }
            }
        };
        self.kinds.iter_mut().filter_map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_hosts_are_two_lines() {
        let mut alike = Alike::default();
        let mut said = Vec::new();
        for host in 1..=100 {
            for (key, what) in [("load", format!("load {host}")), ("assay", "another".into())] {
                let name = format!("h{host}");
                said.extend(alike.hear(key, &name, format!("{name}: {what}"), 0.1));
            }
        }
        assert!(!alike.is_settled(1.0) && alike.is_settled(1.2));
        said.extend(alike.rest());
        let expected = [
            "h1: load 1",
            "h1: another",
            "h1: load 1 … and on 99 more hosts: h[2-100]",
            "h1: another … and on 99 more hosts: h[2-100]",
        ];
        assert_eq!(said, expected);
        assert_eq!(alike.rest(), Vec::<String>::new());
        for host in ["h10", "h9", "a-2"] {
            alike.hear("load", host, String::new(), 2.0);
        }
        assert_eq!(alike.rest(), ["h1: load 1 … and on 3 more hosts: a-2, h9, h10"]);
        // Of one alone its own words are said, and of the first whatever comes later.
        assert_eq!(alike.hear("load", "h7", "h7: load 7".into(), 3.0), None);
        assert_eq!(alike.rest(), ["h7: load 7"]);
        assert_eq!(alike.hear("load", "h1", "h1: more".into(), 4.0), Some("h1: more".into()));
    }
}
