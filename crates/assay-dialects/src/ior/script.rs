//! Scripts of `-f FILE`: lines of directives between `IOR START` and `IOR STOP`; each `RUN` is a
//! test.

use super::directives;
use super::options::{IorOptions, IorOptionsError};

/// Parses the tests of a script. Each test inherits the options of the previous one, the first
/// those of `before`.
pub(super) fn parse_tests(
    before: &IorOptions,
    text: &str,
    file: &str,
) -> Result<Vec<IorOptions>, IorOptionsError> {
    let mut tests: Vec<IorOptions> = Vec::new();
    let mut options = before.clone();
    // Directives without a final RUN are a test, and so is a script without directives.
    let mut is_open = true;
    let script = |line: usize| Some((file.to_owned(), line));
    let lines = text
        .lines()
        .enumerate()
        .skip_while(|(_, line)| !is_directive(line, "ior start"))
        .skip(1);
    for (at, line) in lines {
        let content = line.split('#').next().unwrap_or_default().trim();
        let placed = |what: IorOptionsError| IorOptionsError::Line {
            file: file.to_owned(),
            line: at + 1,
            what: Box::new(what),
        };
        if content.is_empty() {
            continue;
        }
        if is_directive(content, "ior stop") {
            break;
        }
        if is_directive(content, "run") {
            let test = options.clone().complete().map_err(placed)?;
            tests.push(IorOptions { script: script(at + 1), ..test });
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
        tests.push(IorOptions { script: script(text.lines().count()), ..test });
    }
    Ok(tests)
}

fn is_directive(line: &str, words: &str) -> bool {
    line.trim().eq_ignore_ascii_case(words)
}
