//! Inputs of a run as a raw output, so that the parameter files can be compiled again.

use std::path::{Path, PathBuf};

use assay_dialects::vdbench::{PathInfo, VdbenchInput};
use assay_model::path_text;
use assay_model::run::Run;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_store::Store;
use serde::{Deserialize, Serialize};

use super::CompiledSources;

/// Name of the raw output with the inputs of the compilation, except the parameter files.
const INPUTS_NAME: &str = "question.json";

/// Stored inputs of a compilation, with which it can be repeated on any machine.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredInput {
    input: VdbenchInput,
    /// Paths of the parameter files; each file is a separate raw output with that name.
    #[serde(with = "path_text::each")]
    files: Vec<PathBuf>,
    /// Size and kind of the file or device at each path; `None` if there is none.
    present: Vec<(String, Option<PathInfo>)>,
}

impl StoredInput {
    /// Returns the raw outputs, by name, to store at the start of a run: the inputs and the files.
    pub(super) fn raw_outputs(
        input: &VdbenchInput,
        compile_inputs: &CompiledSources,
    ) -> Result<Vec<(String, Vec<u8>)>, CommandFailure> {
        let stored = Self {
            input: input.clone(),
            files: compile_inputs.files.keys().cloned().collect(),
            present: compile_inputs
                .path_infos
                .iter()
                .map(|(path, it)| (path_name(path), *it))
                .collect(),
        };
        let json = serde_json::to_vec(&stored).map_err(|error| {
            CommandFailure::new(FailureKind::Internal, "cannot write the input as JSON")
                .with_cause(&error)
        })?;
        let files = compile_inputs.files.iter();
        let files = files.map(|(path, bytes)| (path_name(path), bytes.clone()));
        Ok(files.chain([(INPUTS_NAME.to_owned(), json)]).collect())
    }

    /// Reads the inputs of a stored run.
    pub(super) fn read(
        run: &Run,
        store: &Store,
    ) -> Result<(VdbenchInput, CompiledSources), CommandFailure> {
        let missing = |name: &str| {
            CommandFailure::measurement(format!("{} has no raw output {name}", run.started.run))
                .advise("leave out --as for assay's own report")
        };
        let raw = |name: &str| {
            let hash = run.raw.get(name).ok_or_else(|| missing(name))?;
            store.read_raw(hash).map_err(|error| CommandFailure::from_store(&error))
        };
        let stored: Self = serde_json::from_slice(&raw(INPUTS_NAME)?)
            .map_err(|error| missing(INPUTS_NAME).with_cause(&error))?;
        let present =
            stored.present.into_iter().map(|(name, it)| (path_text::decode_path(&name), it));
        let mut compile_inputs =
            CompiledSources { path_infos: present.collect(), ..CompiledSources::default() };
        for path in stored.files {
            let bytes = raw(&path_name(&path))?;
            compile_inputs.files.insert(path, bytes);
        }
        Ok((stored.input, compile_inputs))
    }
}

fn path_name(path: &Path) -> String {
    path_text::encode(path.as_os_str())
}
