//! Markdown page of a comparison: facts, commands, tables.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Name and value of a fact.
pub type PageFact = (&'static str, String);

/// Page that is written from top to bottom.
#[derive(Debug)]
pub struct MarkdownPage {
    text: String,
}

impl MarkdownPage {
    /// Creates a page with its title and the command that regenerates it.
    pub fn new(title: &str, command: &str) -> Self {
        Self { text: format!("# {title}\n\nWritten by `{command}`; do not edit.\n") }
    }

    /// Appends a heading.
    pub fn heading(&mut self, title: &str) {
        self.push_line(&format!("\n## {title}"));
    }

    /// Appends a paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.push_line(&format!("\n{text}"));
    }

    /// Appends facts as a table, one row each.
    pub fn facts(&mut self, facts: &[PageFact]) {
        let rows: Vec<_> =
            facts.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
        self.table(&["", ""], &rows);
    }

    /// Appends commands as a code block.
    pub fn commands(&mut self, commands: &[String]) {
        self.push_line("");
        for command in commands {
            self.push_line(&format!("    {command}"));
        }
    }

    /// Appends a table; escapes `|` and `<` in its cells.
    pub fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
        self.push_line("");
        self.push_line(&row(&head.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>()));
        self.push_line(&row(&vec!["---".to_owned(); head.len()]));
        for cells in rows {
            self.push_line(&row(&cells
                .iter()
                .map(|cell| cell.replace('|', "\\|").replace('<', "\\<"))
                .collect::<Vec<_>>()));
        }
    }

    fn push_line(&mut self, text: &str) {
        self.text += text;
        self.text += "\n";
    }

    /// Writes the page to `docs/benchmarks/<name>.md` and prints it.
    pub fn publish(&self, root: &Path, name: &str) -> Result<()> {
        fs::create_dir_all(root.join("docs/benchmarks"))
            .context("cannot create docs/benchmarks")?;
        self.write(root, &format!("docs/benchmarks/{name}.md"))
    }

    /// Writes the page to a path of the repository and prints it.
    pub fn write(&self, root: &Path, path: &str) -> Result<()> {
        self.save(root, path)?;
        println!("{}\nwritten to {path}", self.text);
        Ok(())
    }

    /// Writes the page to a path of the repository.
    pub fn save(&self, root: &Path, path: &str) -> Result<()> {
        fs::write(root.join(path), &self.text).with_context(|| format!("cannot write {path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_markdown() {
        let mut page = MarkdownPage::new("Speed", "cargo x");
        page.table(&["a", "b"], &[vec!["1|2".into(), "3".into()]]);
        page.commands(&["run this".into()]);
        let expected = "# Speed\n\nWritten by `cargo x`; do not edit.\n\n\
            | a | b |\n| --- | --- |\n| 1\\|2 | 3 |\n\n    run this\n";
        assert_eq!(page.text, expected);
    }
}
