//! Property tests: no text makes a parser panic, and every parsed value is finite and positive.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::golden::{invocations, outputs, texts, tools};
use crate::tool::TOOLS;

/// Outputs of real tools and damaged ones: the best seeds for further damage.
static GOLDEN: LazyLock<Vec<String>> =
    LazyLock::new(|| tools().flat_map(texts).map(|(_, text)| text).collect());

/// Parses `text` with every tool for every workload that it supports; results must be fit to store.
fn check(text: &str) {
    for tool in TOOLS {
        for invocation in invocations(tool) {
            let outputs = outputs(&invocation, text);
            let Ok(parsed) = tool.read(&invocation, &outputs) else { continue };
            assert!(!parsed.values.is_empty(), "{}: no values and no error", tool.name);
            for measured in &parsed.values {
                assert!(!measured.samples.is_empty());
                let metric = invocation.workload.benchmark().metric(measured.metric).unwrap();
                // Counted events may be zero; a rate or a time of 0 is never a measurement.
                let may_be_none = ["retransmits", "loss", "jitter"].contains(&metric.name);
                let is_fit =
                    |it: &f64| it.is_finite() && (*it > 0.0 || (may_be_none && *it >= 0.0));
                assert!(measured.samples.iter().all(is_fit), "{measured:?}");
            }
        }
    }
}

/// Change to a text: a line removed, duplicated or cut, or a word replaced.
#[derive(Debug, Clone)]
struct Change {
    line: usize,
    word: usize,
    kind: u8,
    replacement: String,
}

fn any_change() -> impl Strategy<Value = Change> {
    let word = prop_oneof!["[0-9.eE+-]{0,25}", "\\PC{0,8}", Just("nan".to_owned())];
    (any::<usize>(), any::<usize>(), 0u8..4, word).prop_map(|(line, word, how, with)| Change {
        line,
        word,
        kind: how,
        replacement: with,
    })
}

fn apply(text: &str, change: &Change) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return change.replacement.clone();
    }
    let index = change.line % lines.len();
    let line = lines[index].clone();
    match change.kind {
        0 => drop(lines.remove(index)),
        1 => lines.insert(index, line),
        2 => lines.truncate(index),
        _ => {
            let mut words: Vec<&str> = line.split(' ').collect();
            let count = words.len();
            words[change.word % count] = &change.replacement;
            lines[index] = words.join(" ");
        }
    }
    lines.join("\n")
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,300}") {
        check(&text);
    }

    #[test]
    fn no_damage_panics(pick in any::<usize>(), changes in prop::collection::vec(any_change(), 1..5)) {
        let original = GOLDEN[pick % GOLDEN.len()].clone();
        check(&changes.iter().fold(original, |text, change| apply(&text, change)));
    }
}
