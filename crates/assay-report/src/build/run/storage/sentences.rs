//! Sentences about targets and engines of storage tests, each once for all tests that share it.

use std::collections::BTreeMap;

use assay_model::attribute::Attribute;

use super::TestResults;
use crate::first_seen::group_pairs;
use crate::locale::{comma, word};
use crate::words as catalogue;

/// Returns the sentences about targets and engines.
pub(super) fn targets_and_engines(tests: &[TestResults<'_>]) -> Vec<String> {
    let mut all = sentences(tests, target_sentence);
    all.extend(sentences(tests, engine_sentence));
    all
}

/// Maximum number of sentences: hundreds of hosts may each have a different target. The JSON output
/// contains all.
const MAX_SENTENCES: usize = 12;

/// Returns each distinct sentence once, with the tests that it concerns if there are several
/// sentences. Replaces all tests of a host by its name.
fn sentences(
    tests: &[TestResults<'_>],
    sentence: fn(&TestResults<'_>) -> Option<String>,
) -> Vec<String> {
    let reported = group_pairs(tests.iter().filter_map(|test| Some((sentence(test)?, test))));
    let only = reported.len() == 1;
    let line = |(sentence, about): (String, Vec<&TestResults<'_>>)| match only {
        true => sentence + word("full-stop"),
        false => {
            let about = test_names(&about, tests).join(comma());
            message!("sentence-about", sentence = sentence, about = about)
        }
    };
    let more = reported.len().saturating_sub(MAX_SENTENCES);
    let lines = reported.into_iter().take(MAX_SENTENCES).map(line);
    let more = (more > 0).then(|| message!("and-more", n = more) + word("full-stop"));
    lines.chain(more).collect()
}

/// Names the tests that a sentence concerns, each once. Complete hosts are named as ranges.
fn test_names(about: &[&TestResults<'_>], all: &[TestResults<'_>]) -> Vec<String> {
    let (here, everywhere) =
        (tests_per_host(about.iter().copied()), tests_per_host(all.iter()));
    let (mut hosts, mut names) = (Vec::new(), Vec::new());
    for test in about {
        let host = test.text(Attribute::Host);
        let whole = host.filter(|it| here.get(it) == everywhere.get(it));
        let known = if whole.is_some() { &mut hosts } else { &mut names };
        let name = whole.unwrap_or_else(|| test.label());
        if !known.contains(&name) {
            known.push(name);
        }
    }
    if !hosts.is_empty() {
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        names.insert(0, catalogue::hosts(&hosts));
    }
    names
}

/// Returns the number of tests of each host.
fn tests_per_host<'t>(
    tests: impl Iterator<Item = &'t TestResults<'t>>,
) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for host in tests.filter_map(|test| test.text(Attribute::Host)) {
        *counts.entry(host).or_default() += 1;
    }
    counts
}

fn target_sentence(test: &TestResults<'_>) -> Option<String> {
    test.text(Attribute::Target).map(|target| message!("storage-target", target = target))
}

fn engine_sentence(test: &TestResults<'_>) -> Option<String> {
    // Tools do not report their engine and the reason for it.
    let (engine, reason) = (test.text(Attribute::Engine)?, test.text(Attribute::EngineReason)?);
    Some(message!("storage-engine", engine = engine, reason = reason))
}
