//! Deduplication of messages that several hosts send: the first is returned at once, the others are
//! grouped into one line.
//!
//! Never prints, and never reads a clock.

use assay_model::host_names;
use assay_report::words;

/// Time without a new message after which the grouped messages are printed.
const SETTLED_S: f64 = 1.0;

/// Groups of equivalent messages.
#[derive(Debug, Default)]
pub(crate) struct MessageDedup {
    groups: Vec<MessageGroup>,
    /// Time of the newest message.
    newest_s: f64,
}

/// Messages with the same key, from different hosts.
#[derive(Debug)]
struct MessageGroup {
    key: String,
    /// Host of the first message, which was printed at once.
    host: String,
    /// Messages of further hosts that are not printed yet.
    queued: Vec<QueuedMessage>,
}

/// Message of one host, with its severity.
#[derive(Debug)]
struct QueuedMessage {
    host: String,
    line: String,
    severity: f64,
}

impl MessageDedup {
    /// Adds a host's message, with its severity, at `at_s`.
    ///
    /// Returns the line if it must be printed now: it is the first of its kind, or from the same
    /// host as the first. Otherwise it is queued.
    pub(crate) fn add(
        &mut self,
        key: &str,
        host: &str,
        (line, severity): (String, f64),
        at_s: f64,
    ) -> Option<String> {
        self.newest_s = at_s;
        match self.groups.iter_mut().find(|group| group.key == key) {
            None => {
                let (key, host) = (key.to_owned(), host.to_owned());
                self.groups.push(MessageGroup { key, host, queued: Vec::new() });
                Some(line)
            }
            Some(group) if group.host == host => Some(line),
            Some(group) => {
                if group.queued.iter().all(|message| message.host != host) {
                    group.queued.push(QueuedMessage { host: host.to_owned(), line, severity });
                }
                None
            }
        }
    }

    /// Whether no message arrived for [`SETTLED_S`].
    pub(crate) fn is_settled(&self, at_s: f64) -> bool {
        at_s - self.newest_s > SETTLED_S
    }

    /// Empties the queues and returns one line for each: the most severe message, with the names of
    /// the other hosts.
    pub(crate) fn take_queued(&mut self) -> Vec<String> {
        let take_group_line = |group: &mut MessageGroup| {
            let mut others = std::mem::take(&mut group.queued);
            // Messages arrive in the order in which hosts finish.
            host_names::sort_naturally(&mut others, |it| &it.host);
            if let [] | [_] = others.as_slice() {
                return others.pop().map(|it| it.line);
            }
            let first = words::worst(&others, |it| it.severity);
            let hosts = others.iter().map(|it| it.host.as_str());
            let hosts: Vec<&str> = hosts.filter(|host| *host != first.host).collect();
            Some(words::with_other_hosts(&first.line, &hosts))
        };
        self.groups.iter_mut().filter_map(take_group_line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_messages_of_further_hosts() {
        let mut dedup = MessageDedup::default();
        let mut lines = Vec::new();
        for host in 1..=100 {
            for (key, text, severity) in [
                ("load", format!("load {host}"), f64::from(host)),
                ("assay", "another".into(), 0.0),
            ] {
                let name = format!("h{host}");
                let line = format!("{name}: {text}");
                lines.extend(dedup.add(key, &name, (line, severity), 0.1));
            }
        }
        assert!(!dedup.is_settled(1.0) && dedup.is_settled(1.2));
        lines.extend(dedup.take_queued());
        let expected = [
            "h1: load 1",
            "h1: another",
            "h100: load 100 … and on 98 more hosts: h[2-99]",
            "h2: another … and on 98 more hosts: h[3-100]",
        ];
        assert_eq!(lines, expected);
        assert_eq!(dedup.take_queued(), Vec::<String>::new());
        for host in ["h10", "h9", "a-2"] {
            dedup.add("load", host, (format!("{host}: x"), 0.0), 2.0);
        }
        assert_eq!(dedup.take_queued(), ["a-2: x … and on 2 more hosts: h9, h10"]);
        // A single queued message is printed unchanged; messages of the first host are never
        // queued.
        assert_eq!(dedup.add("load", "h7", ("h7: load 7".into(), 7.0), 3.0), None);
        assert_eq!(dedup.take_queued(), ["h7: load 7"]);
        assert_eq!(
            dedup.add("load", "h1", ("h1: more".into(), 0.0), 4.0),
            Some("h1: more".into())
        );
    }
}
