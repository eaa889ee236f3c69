//! Renders a stored run as Vdbench's console output and folder.
//!
//! The parameter files are compiled again, with the recorded properties of the machine.

use std::path::{Path, PathBuf};

use assay_dialects::vdbench::{self, PathInfo, VdbenchInput};
use assay_model::event::RunStatus;
use assay_model::path_text;
use assay_model::run::Run;
use assay_run::failure::{Failure, Kind};
use assay_run::storage::vdbench::{self as driver, Notice};
use assay_store::Store;
use serde::{Deserialize, Serialize};

use super::execute::{close, open};
use super::folder::Folder;
use super::report::Report;
use super::{Found, refused};
use crate::terminal::Terminal;

/// Raw output with all inputs of the compilation except the files.
const QUESTION: &str = "question.json";

/// Stored inputs of a compilation, which make it independent of time and machine.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    input: VdbenchInput,
    /// Parameter files; each is a raw output of its own.
    #[serde(with = "path_text::each")]
    files: Vec<PathBuf>,
    present: Vec<(String, Option<PathInfo>)>,
}

impl Kept {
    /// Returns the raw outputs of a run that starts: the inputs and the files.
    pub(super) fn files(
        input: &VdbenchInput,
        found: &Found,
    ) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let kept = Self {
            input: input.clone(),
            files: found.files.keys().cloned().collect(),
            present: found.present.iter().map(|(path, it)| (name(path), *it)).collect(),
        };
        let question = serde_json::to_vec(&kept).map_err(|error| {
            Failure::new(Kind::Internal, "the question cannot be written as JSON")
                .because(&error)
        })?;
        let files = found.files.iter();
        let files = files.map(|(path, bytes)| (name(path), bytes.clone()));
        Ok(files.chain([(QUESTION.to_owned(), question)]).collect())
    }

    fn read(run: &Run, store: &Store) -> Result<(VdbenchInput, Found), Failure> {
        let lost = |name: &str| {
            Failure::measurement(format!("{} has lost its {name}", run.started.run))
                .advise("without --as it can be shown")
        };
        let raw = |name: &str| {
            let hash = run.raw.get(name).ok_or_else(|| lost(name))?;
            store.raw(hash).map_err(|error| Failure::of_store(&error))
        };
        let kept: Self = serde_json::from_slice(&raw(QUESTION)?)
            .map_err(|error| lost(QUESTION).because(&error))?;
        let present =
            kept.present.into_iter().map(|(name, it)| (path_text::decode_path(&name), it));
        let mut found = Found { present: present.collect(), ..Found::default() };
        for path in kept.files {
            let bytes = raw(&name(&path))?;
            found.files.insert(path, bytes);
        }
        Ok((kept.input, found))
    }
}

fn name(path: &Path) -> String {
    path_text::encode(path.as_os_str())
}

/// Prints the console output of a stored run and writes its folder to `output`.
pub fn shown(
    run: &Run,
    store: &Store,
    output: Option<&str>,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let (input, found) = Kept::read(run, store)?;
    let execution = found
        .surround(|around| vdbench::compile_files(&input, around))
        .map_err(|wrong| refused(&wrong, terminal))?;
    let folder = output.map_or_else(Folder::nowhere, Folder::make)?;
    let mut report = Report::new(folder, terminal, &execution);
    if let Ok(started) = run.started.started.parse() {
        report.notice(&Notice::At(started));
    }
    open(&mut report, (&input, &execution), &found);
    let raw = |hash: &str| store.raw(hash).ok();
    driver::again(run, &execution, &raw, &mut |notice| report.notice(&notice))?;
    close(report, run.status == RunStatus::Complete)
}
