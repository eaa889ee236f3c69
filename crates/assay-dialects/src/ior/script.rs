//! Scripts of `-f FILE`: lines of directives between `IOR START` and `IOR STOP`; each `RUN` is a
//! test.

use super::directives;
use super::options::{Options, OptionsError};

/// Parses the tests of a script. Each test inherits the options of the previous one, the first
/// those of `before`.
pub(super) fn tests(
    before: &Options,
    text: &str,
    file: &str,
) -> Result<Vec<Options>, OptionsError> {
    let mut tests: Vec<Options> = Vec::new();
    let mut options = before.clone();
    // Directives without a final RUN are a test, and so is a script without directives.
    let mut is_open = true;
    let script = |line: usize| Some((file.to_owned(), line));
    let lines = text.lines().enumerate().skip_while(|(_, line)| !is(line, "ior start")).skip(1);
    for (at, line) in lines {
        let content = line.split('#').next().unwrap_or_default().trim();
        let placed = |what: OptionsError| OptionsError::Line {
            file: file.to_owned(),
            line: at + 1,
            what: Box::new(what),
        };
        if content.is_empty() {
            continue;
        }
        if is(content, "ior stop") {
            break;
        }
        if is(content, "run") {
            let test = options.clone().complete().map_err(placed)?;
            tests.push(Options { script: script(at + 1), ..test });
            is_open = false;
            continue;
        }
        for part in content.split(',') {
            directives::apply(&mut options, part).map_err(placed)?;
        }
        is_open = true;
    }
    if is_open {
        let test = options.complete()?;
        tests.push(Options { script: script(text.lines().count()), ..test });
    }
    Ok(tests)
}

fn is(line: &str, words: &str) -> bool {
    line.trim().eq_ignore_ascii_case(words)
}
