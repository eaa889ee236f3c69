//! Anonymises a run: replaces host names, addresses, paths and serial numbers by `host-1`,
//! `address-1`, `/path-1` and `serial-1`, consistently within the run; or by `host-` and a digest
//! with a secret key, consistently over all runs and calls.
//!
//! Machine types, labels and suite names stay; the user chose the latter two. Numbers are never
//! changed.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::run::{CaseOutcome, CaseRecord, Run};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Keys whose text is a path, with or without a slash.
const PATH_KEYS: [&str; 14] = [
    "path",
    "anchor",
    "folder",
    "file",
    "files",
    "target",
    "targets",
    "prefix",
    "hostfile",
    "library",
    "launcher",
    "blas",
    "directory",
    "source_file",
];
/// Keys whose text is the name or address of one host or several hosts.
const HOST_KEYS: [&str; 6] = ["host", "peer", "to", "hosts", "far", "member"];
/// Texts under these keys that identify no host.
const NEUTRAL_NAMES: [&str; 9] =
    ["imported", "loopback", "localhost", "local", "remote", "none", "null", "linked", ""];
/// Folders that exist on every machine.
const COMMON_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev/null"];

/// Number of hexadecimal digits of a placeholder: two of 10,000 texts are equal once in 20,000 stores.
const DIGEST_DIGITS: usize = 10;

/// Function that returns a digest of a text with a secret key, in hexadecimal digits.
type KeyedDigest = Box<dyn Fn(&str) -> String>;

/// Placeholders for the identifying texts of runs.
#[derive(Default)]
pub struct Anonymiser {
    by_text: BTreeMap<String, String>,
    /// Number of placeholders of each kind.
    counts: BTreeMap<&'static str, usize>,
    /// Whether single plain words stay: a host may have a name that the format also uses, such as
    /// `storage`.
    keeps_plain_words: bool,
    /// Source of the names of placeholders; without it they are numbered.
    digest: Option<KeyedDigest>,
}

impl fmt::Debug for Anonymiser {
    /// Omits the texts that are replaced.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Anonymiser")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl Anonymiser {
    /// Creates placeholders that are equal in all runs: a digest of the text. Without a secret key in
    /// the digest, anyone could try names until one fits.
    pub fn with_digest(digest: impl Fn(&str) -> String + 'static) -> Self {
        Self { digest: Some(Box::new(digest)), ..Self::default() }
    }

    /// Replaces everything in a run that could identify its owner.
    ///
    /// # Errors
    /// If the run cannot be converted to JSON and back. The caller must not show the run then.
    pub fn anonymise_run(&mut self, run: &mut Run) -> Result<(), serde_json::Error> {
        for host in &run.hosts {
            self.add_host(&host.host);
            self.add_host(&host.facts.name);
        }
        for case in &run.cases {
            let series = case.series.iter().flat_map(|it| [&it.dimensions, &it.facts]);
            for attributes in series.chain([&case.facts]).chain(case.facts_by_host.values()) {
                self.add_hosts(attributes);
            }
            let of_hosts = case.facts_by_host.keys().map(String::as_str);
            of_hosts.chain(case.hosts_without_result()).for_each(|host| self.add_host(host));
        }
        // The command line may contain any name in any form.
        run.started.command.clear();
        self.replace_all(&mut run.started)?;
        self.replace_all(&mut run.hosts)?;
        self.replace_all(&mut run.raw)?;
        self.replace_all(&mut run.host_facts)?;
        self.replace_all(&mut run.doubts)?;
        run.cases.iter_mut().try_for_each(|case| self.anonymise_case(case))
    }

    fn anonymise_case(&mut self, case: &mut CaseRecord) -> Result<(), serde_json::Error> {
        self.replace_all(&mut case.case)?;
        self.replace_all(&mut case.facts)?;
        self.replace_all(&mut case.facts_by_host)?;
        self.replace_all(&mut case.raw)?;
        self.replace_all(&mut case.doubts)?;
        self.replace_all(&mut case.counters)?;
        if let Some(CaseOutcome::Failed { failure, because }) = &mut case.outcome {
            self.replace_all(failure)?;
            self.replace_all(because)?;
        }
        for failed in &mut case.failed_hosts {
            failed.host = self.host_placeholder(&failed.host);
            self.replace_all(&mut failed.failure)?;
            self.replace_all(&mut failed.because)?;
        }
        for host in &mut case.cut_hosts {
            *host = self.host_placeholder(host);
        }
        for series in &mut case.series {
            self.replace_all(&mut series.dimensions)?;
            self.replace_all(&mut series.facts)?;
        }
        Ok(())
    }

    /// Returns the placeholder of a host, as results name it.
    pub fn host_placeholder(&mut self, host: &str) -> String {
        self.replace_under_key("host", host)
    }

    /// Returns a text whose identifying words are replaced.
    pub fn anonymise_text(&mut self, text: &str) -> String {
        self.replace_words(text)
    }

    fn add_hosts(&mut self, attributes: &Attributes) {
        let text_of = |name: Attribute| attributes.get(&name).and_then(AttributeValue::as_text);
        let hosts = [
            Attribute::Host,
            Attribute::Peer,
            Attribute::To,
            Attribute::Hosts,
            Attribute::Member,
        ];
        for text in hosts.into_iter().filter_map(text_of) {
            text.split(',').for_each(|it| self.add_host(it.trim()));
        }
        if let Some(file) = text_of(Attribute::SourceFile) {
            self.replace_under_key(Attribute::SourceFile.name(), file);
        }
    }

    /// Registers a host's name, both complete and without its domain.
    fn add_host(&mut self, name: &str) {
        let name = name.split(':').next().unwrap_or(name);
        if NEUTRAL_NAMES.contains(&name) || name.parse::<IpAddr>().is_ok() {
            return;
        }
        let replacement = self.replacement("host-", name);
        if let Some((short, _)) = name.split_once('.') {
            self.by_text.entry(short.to_owned()).or_insert(replacement);
        }
    }

    /// Returns the replacement of a text; numbers count from 1 for each kind.
    fn replacement(&mut self, kind: &'static str, text: &str) -> String {
        if let Some(known) = self.by_text.get(text) {
            return known.clone();
        }
        let count = self.counts.entry(kind).or_insert(0);
        *count += 1;
        let new = match &self.digest {
            None => format!("{kind}{count}"),
            Some(digest) => {
                let digest = digest(text);
                format!("{kind}{}", digest.get(..DIGEST_DIGITS).unwrap_or(&digest))
            }
        };
        self.by_text.insert(text.to_owned(), new.clone());
        new
    }

    /// Replaces the identifying words of all texts and keys of a value.
    ///
    /// # Errors
    /// If the value cannot be converted to JSON and back. The caller must not show it then.
    pub fn replace_all<T: Serialize + DeserializeOwned>(
        &mut self,
        value: &mut T,
    ) -> Result<(), serde_json::Error> {
        let tree = serde_json::to_value(&*value)?;
        let replaced = self.replace_in(tree.clone(), false);
        // Reading back fails if a key or variant has the same name as a host.
        *value = replaced.or_else(|_| self.replace_in(tree, true))?;
        Ok(())
    }

    fn replace_in<T: DeserializeOwned>(
        &mut self,
        mut tree: Value,
        spares_words: bool,
    ) -> Result<T, serde_json::Error> {
        self.keeps_plain_words = spares_words;
        self.replace_in_tree(&mut tree, "");
        serde_json::from_value(tree)
    }

    fn replace_in_tree(&mut self, value: &mut Value, key: &str) {
        match value {
            Value::String(text) => *text = self.replace_under_key(key, text),
            Value::Array(all) => all.iter_mut().for_each(|it| self.replace_in_tree(it, key)),
            Value::Object(all) => {
                let old = std::mem::take(all);
                for (name, mut value) in old {
                    self.replace_in_tree(&mut value, &name);
                    all.insert(self.replace_words(&name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Replaces the text of a key, whose name gives the kind of text.
    fn replace_under_key(&mut self, key: &str, text: &str) -> String {
        let replace = |this: &mut Self, kind: &'static str| {
            let parts = text.split(", ").map(|part| match part {
                part if NEUTRAL_NAMES.contains(&part) || is_common_path(part) => {
                    part.to_owned()
                }
                part if part.parse::<f64>().is_ok() => part.to_owned(),
                part => this.replacement(kind, part),
            });
            parts.collect::<Vec<_>>().join(", ")
        };
        match key {
            // Mount points and targets of counters, with blanks.
            "of" | "name" if text.starts_with('/') => self.replacement("/path-", text),
            key if PATH_KEYS.contains(&key) => replace(self, "/path-"),
            key if HOST_KEYS.contains(&key) => {
                let parts = text.split(',').map(|part| {
                    if NEUTRAL_NAMES.contains(&part) {
                        return part.to_owned();
                    }
                    if let Some(known) = self.by_text.get(part) {
                        return known.clone();
                    }
                    match part.parse::<IpAddr>() {
                        Ok(_) => self.replace_words(part),
                        Err(_) => self.replacement("host-", part),
                    }
                });
                parts.collect::<Vec<_>>().join(",")
            }
            _ => self.replace_words(text),
        }
    }

    /// Replaces every word of a sentence, command line or name.
    fn replace_words(&mut self, text: &str) -> String {
        let is_word = text.bytes().all(|it| it.is_ascii_lowercase() || b"-_".contains(&it));
        if self.keeps_plain_words && is_word {
            return text.to_owned();
        }
        let is_separator = |it: char| it.is_whitespace() || "\"'`,;=()[]<>|{}".contains(it);
        let mut written = String::with_capacity(text.len());
        for piece in text.split_inclusive(is_separator) {
            let word = piece.trim_end_matches(is_separator);
            written.push_str(&self.replace_word(word));
            written.push_str(&piece[word.len()..]);
        }
        written
    }

    fn replace_word(&mut self, word: &str) -> String {
        let plain = word.trim_end_matches(['.', ':', '!', '?']);
        let rest = &word[plain.len()..];
        let new = self.by_text.get(plain).cloned().or_else(|| self.replace_unregistered(plain));
        new.unwrap_or_else(|| plain.to_owned()) + rest
    }

    fn replace_unregistered(&mut self, word: &str) -> Option<String> {
        if let Ok(address) = word.parse::<IpAddr>() {
            let is_neutral = address.is_loopback() || address.is_unspecified();
            return (!is_neutral).then(|| self.replacement("address-", word));
        }
        if is_hardware_id(word) {
            return Some(self.replacement("serial-", word));
        }
        if word.starts_with('/') || word.starts_with("~/") {
            return (!is_common_path(word)).then(|| self.replacement("/path-", word));
        }
        // An address with a port or prefix length, a host with a folder, a user at a host.
        for mark in [":/", "@", "/", ":", "%"] {
            let Some((before, after)) = word.split_once(mark) else { continue };
            let is_host = mark == ":/" || mark == "@" || self.by_text.contains_key(before);
            if is_host && !before.is_empty() && before.parse::<IpAddr>().is_err() {
                let kind = if mark == "@" { "user-" } else { "host-" };
                let before = self.replacement(kind, before);
                let after = if mark == ":/" { format!("/{after}") } else { after.to_owned() };
                return Some(before + mark.trim_end_matches('/') + &self.replace_word(&after));
            }
            if before.parse::<IpAddr>().is_ok() {
                return Some(self.replace_word(before) + mark + &self.replace_word(after));
            }
        }
        None
    }
}

/// Whether a path is the same on every machine, such as a device with the kernel's name.
pub(crate) fn is_common_path(path: &str) -> bool {
    let is_common =
        COMMON_FOLDERS.iter().any(|it| path == *it || path.starts_with(&format!("{it}/")));
    let is_device = path.strip_prefix("/dev/").is_some_and(|name| !name.contains('/'));
    is_common || is_device || path == "/" || path == "//"
}

/// Whether a word is a MAC address, a UUID or a world-wide name of a disk.
fn is_hardware_id(word: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths = |mark: char| -> Option<Vec<usize>> {
        let parts: Vec<&str> = word.split(mark).collect();
        parts.iter().all(|part| is_hex(part)).then(|| parts.iter().map(|it| it.len()).collect())
    };
    let is_wide_name = ["wwn-", "eui.", "naa.", "uuid."].iter().any(|it| word.starts_with(it));
    lengths(':').is_some_and(|it| it == [2; 6])
        || lengths('-').is_some_and(|it| it == [8, 4, 4, 4, 12])
        || is_wide_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_words_consistently() {
        let mut names = Anonymiser::default();
        names.add_host("node7.site.example");
        for (text, expected) in [
            ("node7 and node7.site.example: up", "host-1 and host-1: up"),
            ("node71 is another word", "node71 is another word"),
            ("10.1.2.3 to 10.1.2.3:5201", "address-1 to address-1:5201"),
            ("fe80::1%eth0, 127.0.0.1, 12:30:45", "address-2%eth0, 127.0.0.1, 12:30:45"),
            ("/mnt/vol1/f at 5 B/s, 3 IO/s", "/path-1 at 5 B/s, 3 IO/s"),
            ("server:/export x86_64 6.1.0", "host-2:/path-2 x86_64 6.1.0"),
            ("me@node7 --file=/mnt/vol1/f.", "user-1@host-1 --file=/path-1."),
            (
                "/dev/nvme0n1 /dev/disk/by-id/x /proc/cpuinfo",
                "/dev/nvme0n1 /path-3 /proc/cpuinfo",
            ),
            ("00:1a:2b:3c:4d:5e", "serial-1"),
            ("UUID=123e4567-e89b-12d3-a456-426614174000", "UUID=serial-2"),
        ] {
            assert_eq!(names.replace_words(text), expected, "{text}");
        }
        assert_eq!(
            names.replace_under_key("target", "data/f, /mnt/vol1/f"),
            "/path-4, /path-1"
        );
        assert_eq!(names.replace_under_key("to", "node7"), "host-1");
        assert_eq!(names.replace_under_key("to", "loopback"), "loopback");
    }

    /// Placeholders of a digest do not depend on earlier replacements.
    #[test]
    fn placeholders_of_a_digest_are_equal_in_all_runs() {
        let make = || Anonymiser::with_digest(|text| format!("{:0>12}", text.len()));
        let (mut one, mut other) = (make(), make());
        one.add_host("login");
        one.add_host("node7.site.example");
        other.add_host("node7.site.example");
        for names in [&mut one, &mut other] {
            assert_eq!(
                names.replace_words("node7: /mnt/a"),
                "host-0000000000: /path-0000000000"
            );
        }
    }
}
