//! Man pages: those of clap, with examples, files and exit status.

use std::fmt::Write as _;
use std::io;

use clap::Command;

use crate::failure::EXIT_CODES;

/// Files of the program, with their meaning.
const FILES: &[(&str, &str)] = &[
    ("$XDG_DATA_HOME/assay, ~/.local/share/assay", "stored runs; another folder by --store"),
    (
        "*.toml",
        "suites, fleet files and files of expectations: `assay help suites`, `assay help fleet-file`, `assay help docs/references.md`",
    ),
];

/// Renders the page of a command.
///
/// # Errors
/// Those of the writer.
pub(super) fn render(command: Command) -> io::Result<String> {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let command = command.after_help(None::<&str>);
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let mut text = String::from_utf8_lossy(&page).into_owned();
    if !examples.is_empty() {
        let examples = examples.strip_prefix("Examples:\n").unwrap_or(&examples);
        let _ = write!(text, ".SH EXAMPLES\n.nf\n{}\n.fi\n", escape(examples));
    }
    text.push_str(".SH FILES\n");
    for (file, meaning) in FILES {
        let _ = write!(text, ".TP\n{}\n{}\n", escape(file), escape(meaning));
    }
    text.push_str(".SH EXIT STATUS\n");
    for (code, meaning) in EXIT_CODES {
        let _ = write!(text, ".TP\n{code}\n{}\n", escape(meaning));
    }
    Ok(text)
}

/// Escapes text for roff: backslashes, hyphens, and control characters at the start of a line.
fn escape(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        match line.starts_with(['.', '\'']) {
            true => format!("\\&{line}"),
            false => line,
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
