//! Which files, folders and devices a suite's storage measures use.
//!
//! Looks at what exists and creates nothing.

use std::path::{Path, PathBuf};

use assay_model::suite::{Request, StorageRequest, Suite, TargetRequest};
use assay_model::workload::storage::EngineChoice;

/// The file that is made in a folder.
pub(super) const NAME: &str = "assay-storage.data";
/// The size of a file that nobody gives a size for.
const USUAL_BYTES: u64 = 1 << 30;
/// The range of addresses where nothing is opened.
const NULL_BYTES: u64 = 100 << 30;

/// What the command line says about storage.
#[derive(Debug, Clone, Default)]
pub struct Aim {
    pub targets: Vec<PathBuf>,
    pub size_bytes: Option<u64>,
    pub provisioned_bytes_per_s: Option<f64>,
}

impl Aim {
    /// Gives every question of the suite its targets; the command line wins over the suite.
    pub fn apply(&self, suite: &mut Suite) {
        for measure in &mut suite.measures {
            if let Request::Storage(request) = &mut measure.request {
                self.apply_to(request);
            }
            if let Request::Files(request) = &mut measure.request {
                // A tree needs one folder; of several targets it is the first.
                let said = self.targets.first().cloned();
                request.folder = said.or_else(|| request.folder.take());
            }
        }
    }

    fn apply_to(&self, request: &mut StorageRequest) {
        let said = self.provisioned_bytes_per_s;
        request.provisioned_bytes_per_s = said.or(request.provisioned_bytes_per_s);
        if request.engine == EngineChoice::Null {
            let bytes = Some(self.size_bytes.unwrap_or(NULL_BYTES));
            request.targets = vec![TargetRequest { path: PathBuf::from("null"), bytes }];
            return;
        }
        if !self.targets.is_empty() {
            let new = |path: &PathBuf| TargetRequest { path: path.clone(), bytes: None };
            request.targets = self.targets.iter().map(new).collect();
        }
        for target in &mut request.targets {
            let asked = self.size_bytes.or(request.size.map(|size| size.0));
            *target = resolved(&target.path, asked);
        }
    }
}

/// A folder becomes a file in it; a file that is not there gets a size.
fn resolved(path: &Path, bytes: Option<u64>) -> TargetRequest {
    let path = if path.is_dir() { path.join(NAME) } else { path.to_path_buf() };
    let path = std::path::absolute(&path).unwrap_or(path);
    let is_there = path.exists();
    TargetRequest { path, bytes: bytes.or_else(|| (!is_there).then_some(USUAL_BYTES)) }
}
