//! Vdbench's output folder: the files that users' scripts read, each a page of plain text.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;
use jiff::Zoned;

use assay_model::path_text::decode_path;
use assay_model::sanitize;
use assay_run::failure::CommandFailure;
use assay_run::storage::safe_open;

/// Files of one execution.
#[derive(Debug)]
pub(super) struct OutputFolder {
    pub(super) path: PathBuf,
    pub(super) summary: VdbenchPage,
    pub(super) totals: VdbenchPage,
    pub(super) flat_file: VdbenchPage,
    pub(super) histogram: VdbenchPage,
    pub(super) log: VdbenchPage,
    pub(super) errors: VdbenchPage,
    pub(super) status: VdbenchPage,
    pub(super) parameters: VdbenchPage,
    pub(super) scan: VdbenchPage,
    pub(super) skew: VdbenchPage,
    /// Files of the started pages of single hosts and storage or workload definitions.
    started_pages: BTreeSet<String>,
    /// First write error of these pages.
    first_error: Option<io::Error>,
}

/// Page of the folder. The first write error is kept until the end.
#[derive(Debug)]
pub(super) struct VdbenchPage {
    /// `None` discards the page.
    file: Option<fs::File>,
    first_error: Option<io::Error>,
}

impl OutputFolder {
    /// Creates the folder with empty pages. Vdbench's suffixes of names are supported; see
    /// [`resolve_folder`].
    pub(super) fn create(name: &str) -> Result<Self, CommandFailure> {
        let path = resolve_folder(name);
        let create_error = |error: &io::Error| {
            CommandFailure::measurement(format!(
                "cannot create the output folder {}",
                path.display()
            ))
            .with_cause(error)
            .advise("name another with -o")
        };
        if path.is_symlink() {
            return Err(create_error(&io::Error::other("the path is a symbolic link")));
        }
        fs::create_dir_all(&path).map_err(|error| create_error(&error))?;
        Self::with_pages(path.clone(), &|name| {
            VdbenchPage::create(&path, name).map_err(|error| create_error(&error))
        })
    }

    /// Creates a folder that discards everything, for console output only; `path` is printed.
    pub(super) fn discard(path: &str) -> Result<Self, CommandFailure> {
        let page = |_: &str| Ok(VdbenchPage { file: None, first_error: None });
        Self::with_pages(PathBuf::from(path), &page)
    }

    fn with_pages(
        path: PathBuf,
        page: &dyn Fn(&str) -> Result<VdbenchPage, CommandFailure>,
    ) -> Result<Self, CommandFailure> {
        Ok(Self {
            summary: page("summary.html")?,
            totals: page("totals.html")?,
            flat_file: page("flatfile.html")?,
            histogram: page("histogram.html")?,
            log: page("logfile.html")?,
            errors: page("errorlog.html")?,
            status: page("status.html")?,
            parameters: page("parmfile.html")?,
            scan: page("parmscan.html")?,
            skew: page("skew.html")?,
            started_pages: BTreeSet::new(),
            first_error: None,
            path,
        })
    }

    /// Appends lines to the page of one host, storage or workload definition. A new page starts with
    /// `head`. There may be thousands of pages, so that they are not kept open.
    pub(super) fn append_to_page(&mut self, name: &str, head: &str, text: &str) {
        // A name becomes a file name; a slash would lead to another folder.
        let file = format!("{}.html", name.replace('/', "_"));
        if self.summary.file.is_none() {
            return;
        }
        let is_new = self.started_pages.insert(file.clone());
        let path = self.path.join(&file);
        let result = if is_new {
            VdbenchPage::create(&self.path, &file)
                .and_then(|mut page| page.write(&format!("{head}\n{text}")))
        } else {
            safe_open::open_output(&path, true).and_then(|mut file| writeln!(file, "{text}"))
        };
        if let Err(error) = result {
            self.first_error.get_or_insert(error);
        }
    }

    /// Returns the first write error of all pages.
    pub(super) fn check_errors(&mut self) -> Result<(), CommandFailure> {
        let pages = [
            &mut self.summary,
            &mut self.totals,
            &mut self.flat_file,
            &mut self.histogram,
            &mut self.log,
            &mut self.errors,
            &mut self.status,
            &mut self.parameters,
            &mut self.scan,
            &mut self.skew,
        ];
        let error = pages.into_iter().find_map(|page| page.first_error.take());
        match error.or(self.first_error.take()) {
            None => Ok(()),
            Some(error) => Err(CommandFailure::measurement(format!(
                "cannot write to the output folder {}",
                self.path.display()
            ))
            .with_cause(&error)),
        }
    }
}

impl VdbenchPage {
    fn create(folder: &Path, name: &str) -> io::Result<Self> {
        /// Mark of assay's pages. Browsers do not show it, and scripts skip the first line.
        const START: &str = "<title>Vdbench ";
        let path = folder.join(name);
        safe_open::check_replaceable(&path, |start| start.starts_with(START.as_bytes()))?;
        let mut file = safe_open::open_output(&path, false)?;
        let title = path.display().to_string();
        writeln!(file, "{START}{}</title><pre>", sanitize::escape_tags(&title))?;
        Ok(Self { file: Some(file), first_error: None })
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| writeln!(file, "{text}"))
    }

    /// Writes one or several lines of plain text.
    pub(super) fn write_text(&mut self, text: &str) {
        self.write_markup(&sanitize::escape_tags(text));
    }

    /// Writes markup with links and anchors, whose names must already be escaped.
    pub(super) fn write_markup(&mut self, text: &str) {
        if self.first_error.is_none() {
            self.first_error = self.write(text).err();
        }
    }
}

/// Resolves the folder's name: `dir`; `dir+` for the first unused of dir, dir001 …; `dir.tod` with
/// date and time appended.
fn resolve_folder(name: &str) -> PathBuf {
    if let Some(stem) = name.strip_suffix(".tod") {
        return decode_path(&format!("{stem}.{}", Zoned::now().strftime("%y%m%d.%H%M%S")));
    }
    let Some(stem) = name.strip_suffix('+') else { return decode_path(name) };
    let numbered = (1..=999).map(|number| decode_path(&format!("{stem}{number:03}")));
    std::iter::once(decode_path(stem))
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| decode_path(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plus_selects_first_unused_folder() {
        let root = tempfile::tempdir().unwrap();
        let name = format!("{}/out+", root.path().display());
        for expected in ["out", "out001", "out002"] {
            let folder = OutputFolder::create(&name).unwrap();
            assert_eq!(folder.path, root.path().join(expected));
        }
    }
}
