//! Man pages: those of clap, with examples, files and exit status.

use std::fmt::Write as _;
use std::io;

use clap::Command;

/// Sections of every page.
#[derive(Debug, Clone, Copy)]
pub struct ManSections<'a> {
    /// Files of the program, with their meaning.
    pub files: &'a [(&'a str, &'a str)],
    /// Exit codes, with their meaning.
    pub exit_codes: &'a [(u8, &'a str)],
}

/// Renders the page of a command.
pub fn render(command: Command, sections: ManSections<'_>) -> io::Result<String> {
    let end = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let command = command.after_help(None::<&str>);
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let mut text = String::from_utf8_lossy(&page).into_owned();
    let (examples, notes) = match end.strip_prefix("Examples:\n") {
        Some(rest) => rest.split_once("\n\n").unwrap_or((rest, "")),
        None => ("", end.as_str()),
    };
    for (title, body) in [("EXAMPLES", examples), ("NOTES", notes)] {
        let (before, after) = match body.lines().any(|line| line.starts_with(' ')) {
            true => (".nf\n", ".fi\n"),
            false => ("", ""),
        };
        if !body.is_empty() {
            let _ = write!(text, ".SH {title}\n{before}{}\n{after}", escape(body));
        }
    }
    text.push_str(".SH FILES\n");
    for (file, meaning) in sections.files {
        let _ = write!(text, ".TP\n{}\n{}\n", escape(file), escape(meaning));
    }
    text.push_str(".SH EXIT STATUS\n");
    for (code, meaning) in sections.exit_codes {
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
