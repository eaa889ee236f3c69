//! mdtest's command line.

use super::layout::TreeSize;
use super::options::{MdtestOptions, MdtestOptionsError};
use crate::option::words::parse_option;

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
    let mut options = MdtestOptions::default();
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
