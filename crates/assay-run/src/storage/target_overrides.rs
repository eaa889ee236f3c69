//! Targets of a suite's storage measures: files, folders and devices from the command line or the
//! suite.
//!
//! Looks at existing files and creates nothing.

use std::path::{Path, PathBuf};

use assay_model::suite::{MeasureRequest, StorageRequest, Suite, TargetRequest};
use assay_model::workload::storage::EngineChoice;

/// Name of the file that is created in a folder.
pub(super) const DATA_FILE_NAME: &str = "assay-storage.data";
/// Default size of a new file.
const DEFAULT_FILE_BYTES: u64 = 1 << 30;
/// Address range of the null engine, which opens nothing.
const NULL_TARGET_BYTES: u64 = 100 << 30;

/// Storage options of the command line.
#[derive(Debug, Clone, Default)]
pub struct StorageOverrides {
    pub targets: Vec<PathBuf>,
    pub size_bytes: Option<u64>,
    pub provisioned_bytes_per_s: Option<f64>,
}

impl StorageOverrides {
    /// Sets the targets of all measures in the suite; the command line wins over the suite.
    pub fn apply(&self, suite: &mut Suite) {
        for measure in &mut suite.measures {
            if let MeasureRequest::Storage(request) = &mut measure.request {
                self.apply_to_request(request);
            }
            if let MeasureRequest::Files(request) = &mut measure.request {
                // A tree needs one folder: the first of several targets.
                let said = self.targets.first().cloned();
                request.folder = said.or_else(|| request.folder.take());
            }
            if let MeasureRequest::Io500(request) = &mut measure.request {
                let said = self.targets.first().cloned();
                request.folder = said.or_else(|| request.folder.take());
            }
        }
    }

    fn apply_to_request(&self, request: &mut StorageRequest) {
        let said = self.provisioned_bytes_per_s;
        request.provisioned_bytes_per_s = said.or(request.provisioned_bytes_per_s);
        if request.engine == EngineChoice::Null {
            let bytes = Some(self.size_bytes.unwrap_or(NULL_TARGET_BYTES));
            request.targets = vec![TargetRequest { path: PathBuf::from("null"), bytes }];
            return;
        }
        if !self.targets.is_empty() {
            let new = |path: &PathBuf| TargetRequest { path: path.clone(), bytes: None };
            request.targets = self.targets.iter().map(new).collect();
        }
        for target in &mut request.targets {
            let asked = self.size_bytes.or(request.size.map(|size| size.0));
            *target = resolve_target(&target.path, asked);
        }
    }
}

/// Resolves a target: a folder becomes a file in it; a missing file gets a default size.
fn resolve_target(path: &Path, bytes: Option<u64>) -> TargetRequest {
    let path = if path.is_dir() { path.join(DATA_FILE_NAME) } else { path.to_path_buf() };
    let path = std::path::absolute(&path).unwrap_or(path);
    let is_there = path.exists();
    TargetRequest { path, bytes: bytes.or_else(|| (!is_there).then_some(DEFAULT_FILE_BYTES)) }
}
