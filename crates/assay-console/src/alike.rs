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
    /// Hosts that wait.
    others: Vec<Waiting>,
}

/// A host, what is to be said of it alone, and how bad that is.
#[derive(Debug)]
struct Waiting {
    host: String,
    line: String,
    extent: f64,
}

impl Alike {
    /// What is said of a host at `at_s`, and how bad it is; it comes back where nothing of the kind was said before, else it
    /// waits.
    pub(crate) fn hear(
        &mut self,
        key: &str,
        host: &str,
        (line, extent): (String, f64),
        at_s: f64,
    ) -> Option<String> {
        self.newest_s = at_s;
        match self.kinds.iter_mut().find(|kind| kind.key == key) {
            None => {
                let (key, host) = (key.to_owned(), host.to_owned());
                self.kinds.push(Kind { key, host, others: Vec::new() });
                Some(line)
            }
            Some(kind) if kind.host == host => Some(line),
            Some(kind) => {
                if kind.others.iter().all(|known| known.host != host) {
                    kind.others.push(Waiting { host: host.to_owned(), line, extent });
                }
                None
            }
        }
    }

    /// Whether nobody was added for a while.
    pub(crate) fn is_settled(&self, at_s: f64) -> bool {
        at_s - self.newest_s > SETTLED_S
    }

    /// A line of each kind for all that wait: that of the worst of them.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        let line = |kind: &mut Kind| {
            let mut others = std::mem::take(&mut kind.others);
            // They came as they were done.
            host_names::sort(&mut others, |it| &it.host);
            if let [] | [_] = others.as_slice() {
                return others.pop().map(|it| it.line);
            }
            let first = words::worst(&others, |it| it.extent);
            let hosts = others.iter().map(|it| it.host.as_str());
            let hosts: Vec<&str> = hosts.filter(|host| *host != first.host).collect();
            Some(words::on_more_hosts(&first.line, &hosts))
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
            for (key, what, extent) in [
                ("load", format!("load {host}"), f64::from(host)),
                ("assay", "another".into(), 0.0),
            ] {
                let name = format!("h{host}");
                let line = format!("{name}: {what}");
                said.extend(alike.hear(key, &name, (line, extent), 0.1));
            }
        }
        assert!(!alike.is_settled(1.0) && alike.is_settled(1.2));
        said.extend(alike.rest());
        let expected = [
            "h1: load 1",
            "h1: another",
            "h100: load 100 … and on 98 more hosts: h[2-99]",
            "h2: another … and on 98 more hosts: h[3-100]",
        ];
        assert_eq!(said, expected);
        assert_eq!(alike.rest(), Vec::<String>::new());
        for host in ["h10", "h9", "a-2"] {
            alike.hear("load", host, (format!("{host}: x"), 0.0), 2.0);
        }
        assert_eq!(alike.rest(), ["a-2: x … and on 2 more hosts: h9, h10"]);
        // Of one alone its own words are said, and of the first whatever comes later.
        assert_eq!(alike.hear("load", "h7", ("h7: load 7".into(), 7.0), 3.0), None);
        assert_eq!(alike.rest(), ["h7: load 7"]);
        assert_eq!(
            alike.hear("load", "h1", ("h1: more".into(), 0.0), 4.0),
            Some("h1: more".into())
        );
    }
}
