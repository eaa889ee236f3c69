//! Locations of errors on the command line of an emulated tool.

use std::ops::Range;

use assay_dialects::fio::command_line::COMMAND_LINE;
use assay_run::failure::CommandFailure;

/// Adds a range of words on the command line as the location.
pub(crate) fn with_words(
    failure: CommandFailure,
    words: &[String],
    range: Range<usize>,
) -> CommandFailure {
    let range = range.start..range.end.min(words.len());
    let Some(words_at) = words.get(range.clone()).filter(|it| !it.is_empty()) else {
        return failure;
    };
    let start: usize = words[..range.start].iter().map(|word| word.len() + 1).sum();
    failure.at_span(COMMAND_LINE, &words.join(" "), start..start + words_at.join(" ").len())
}
