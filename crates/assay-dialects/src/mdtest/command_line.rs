//! mdtest's command line.

use super::layout::TreeSize;
use super::options::{MdtestOptions, MdtestOptionsError};
use crate::option::words::{WordOptions as _, parse_option};

const TOO_LARGE: MdtestOptionsError = MdtestOptionsError::Conflict {
    what: "the tree is too large",
    instead: "choose smaller -n, -I, -b or -z: at most 10,000,000 directories on 290 levels, 1000 test folders and, \
              with -R, 100,000,000 items are supported",
};

/// Parses the arguments after `mdtest`.
///
/// # Errors
/// The first argument that is not supported, or conflicting options.
pub fn parse(words: &[String]) -> Result<MdtestOptions, MdtestOptionsError> {
    parse_for_job(words, None)
}

/// Like [`parse`], for an MPI job of this many ranks, all of which take part unless there is a
/// `--ranks`.
///
/// # Errors
/// Those of [`parse`].
pub fn parse_for_job(
    words: &[String],
    ranks: Option<u32>,
) -> Result<MdtestOptions, MdtestOptionsError> {
    let mut options = MdtestOptions::default();
    options.tasks = ranks.unwrap_or(options.tasks);
    let (count, mut rest) = (words.len(), words.iter());
    let located = |from: usize, to: usize| {
        move |what: MdtestOptionsError| MdtestOptionsError::Words {
            at: from..to,
            what: Box::new(what),
        }
    };
    while let Some(word) = rest.next() {
        let at = count - rest.len() - 1;
        let parsed = parse_option(&mut options, word, &mut rest);
        parsed.map_err(located(at, count - rest.len()))?;
    }
    if let Some(ranks) = ranks.filter(|ranks| options.tasks > *ranks) {
        let asked = options.tasks;
        options.add_note(format!("--ranks {asked}: the job has {ranks} ranks, which are used"));
        options.tasks = ranks;
    }
    let mut options = options.complete().map_err(located(0, count))?;
    match TreeSize::from_options(&options) {
        Some(size) => {
            // Renamed items move up by one, the first to the end.
            options.rename &= size.items_per_folder() >= 2;
            Ok(options)
        }
        None => Err(located(0, count)(TOO_LARGE)),
    }
}
