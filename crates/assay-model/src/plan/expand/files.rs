//! Expansion of file-tree measures: one case per operation, with the tree state that it needs.

use std::path::Path;

use super::storage::{MAX_BLOCK_BYTES, SEED, divide_budget};
use super::{NamedWorkload, PlanError};
use crate::quantity::Bytes;
use crate::suite::{FileStep, FilesRequest, RequiredTreeState};
use crate::workload::Workload;
use crate::workload::file_set::{
    FileAccess, FileLoad, FileOperation, FileOrder, FileStream, FileTest, FileTree,
    FileWorkload,
};
use crate::workload::storage::{ArrivalProcess, MAX_RATE_PER_S, SizeShare, StorageTiming};

/// Maximum file size that is read and written with a single call.
const MAX_WHOLE_FILE_BYTES: u64 = 1 << 20;
/// Maximum number of files: more take longer than a few minutes on any system.
const MAX_FILES: u64 = 100_000_000;
/// Maximum number of threads: on any machine, more would only wait for each other.
pub(super) const MAX_THREADS: u32 = 65_536;
/// Maximum number of levels: paths have at most 4096 bytes (`PATH_MAX`), and each level at least
/// 12, as in `/vdb.1_1.dir`.
const MAX_LEVELS: u32 = 340;
/// Length of an interval of a pass, in seconds.
const INTERVAL_S: f64 = 0.5;
/// Folders of the two trees of a test, below its target folder.
const FILES: &str = "assay-files";
const DIRECTORIES: &str = "assay-directories";

/// Returns all cases of the request, within `budget_s` in total.
pub(super) fn resolve(
    request: &FilesRequest,
    budget_s: f64,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let folder = request.folder.as_deref().ok_or(PlanError::NoTarget)?;
    let count = check(request)?;
    let budget_s = budget_s / request.steps.len().max(1) as f64;
    Ok(request.steps.iter().map(|step| case(request, *step, folder, count, budget_s)).collect())
}

fn case(
    request: &FilesRequest,
    step: FileStep,
    folder: &Path,
    count: u64,
    budget_s: f64,
) -> NamedWorkload {
    let threads = match request.threads {
        1 => String::new(),
        more => format!("-{more}-threads"),
    };
    let what = match step.of_directories {
        true => count.to_string(),
        false => format!("{count}x{}", request.size.to_string().replace(' ', "")),
    };
    let tree = tree(request, step, folder, count);
    let stream = |operation| stream(request, operation, FileOrder::Once);
    let before: &[FileOperation] = match (step.needs, step.of_directories) {
        (RequiredTreeState::Nothing, _) => &[FileOperation::Delete, FileOperation::Rmdir],
        (RequiredTreeState::Directories, true) => &[FileOperation::Mkdir],
        (RequiredTreeState::Directories, false) => {
            &[FileOperation::Mkdir, FileOperation::Delete]
        }
        (RequiredTreeState::Everything, _) => &[FileOperation::Mkdir, FileOperation::Create],
    };
    let test = FileTest {
        name: step.name.to_owned(),
        before: Some(FileWorkload {
            trees: vec![tree.clone()],
            streams: before.iter().map(|operation| stream(*operation)).collect(),
            in_turn: true,
            load: FileLoad::Closed,
            timing: PASS,
            compressible: 0.0,
            seed: SEED,
        }),
        workload: measured_workload(request, step, tree, budget_s),
    };
    (format!("{}-{what}{threads}", step.name), Workload::Files(Box::new(test)))
}

fn measured_workload(
    request: &FilesRequest,
    step: FileStep,
    tree: FileTree,
    budget_s: f64,
) -> FileWorkload {
    let lasts = step.is_repeatable() && (request.length_s.is_some() || request.random);
    let order = match (lasts, request.random) {
        (false, _) => FileOrder::Once,
        (true, false) => FileOrder::Sequential,
        (true, true) => FileOrder::Random,
    };
    let of_directories = step.of_directories && step.operation == FileOperation::Getattr;
    let stream = FileStream {
        name: step.name.to_owned(),
        of_directories,
        ..stream(request, step.operation, order)
    };
    FileWorkload {
        trees: vec![tree],
        streams: vec![stream],
        in_turn: false,
        load: match request.rate_per_s {
            Some(per_s) => FileLoad::Open { per_s, arrivals: ArrivalProcess::Exponential },
            None => FileLoad::Closed,
        },
        timing: if lasts { divide_budget(request.length_s, None, budget_s) } else { PASS },
        compressible: 0.0,
        seed: SEED,
    }
}

/// Timing of a pass: ends after each operation was done once.
const PASS: StorageTiming = StorageTiming {
    warmup_s: 0.0,
    duration_s: None,
    interval_s: INTERVAL_S,
    stop_after_bytes: None,
};

/// Returns the tree of a step. Directory operations have a tree of their own, with as many
/// directories as there are files, all on one level.
fn tree(request: &FilesRequest, step: FileStep, folder: &Path, count: u64) -> FileTree {
    let (name, depth, width, files) = match step.of_directories {
        true => (DIRECTORIES, 1, count, 0),
        false => (FILES, request.levels, request.width, request.files),
    };
    FileTree {
        name: name.to_owned(),
        anchor: folder.join(name),
        depth,
        width,
        files,
        files_on_all_levels: false,
        sizes: vec![SizeShare::single(request.size.0)],
        most_files: None,
        used_files: None,
        direct: false,
        sync: false,
        sync_at_close: request.sync,
        part: None,
    }
}

fn stream(request: &FilesRequest, operation: FileOperation, order: FileOrder) -> FileStream {
    let bytes = request.bytes.unwrap_or(request.size).0;
    let bytes =
        if request.bytes.is_none() { bytes.clamp(1, MAX_WHOLE_FILE_BYTES) } else { bytes };
    FileStream {
        name: operation.name().to_owned(),
        tree: 0,
        operation,
        threads: request.threads,
        order,
        access: FileAccess::Sequential,
        read_share: None,
        sizes: vec![SizeShare::single(bytes)],
        stop_after: None,
        rate_share: 1.0,
        of_directories: false,
    }
}

/// Validates the request and returns the number of files.
fn check(request: &FilesRequest) -> Result<u64, PlanError> {
    let beyond = |what: &str, given, most| PlanError::NumberTooLarge {
        what: what.to_owned(),
        given,
        most,
    };
    let zeros = [
        (request.bytes.is_some_and(|bytes| bytes.0 == 0), "the size of a read or write"),
        (request.width == 0, "the number of directories in each (the width)"),
        (request.files == 0, "the number of files"),
        (request.threads == 0, "the number of threads"),
    ];
    if let Some((_, what)) = zeros.into_iter().find(|(is_zero, _)| *is_zero) {
        return Err(PlanError::Zero { what });
    }
    if let Some(given) = request.rate_per_s.filter(|rate| *rate > MAX_RATE_PER_S) {
        return Err(PlanError::RateTooLarge { given, most: MAX_RATE_PER_S });
    }
    if let Some(given) = request.bytes.filter(|bytes| bytes.0 > MAX_BLOCK_BYTES) {
        let most = Bytes(MAX_BLOCK_BYTES);
        return Err(PlanError::SizeTooLarge { what: "one read or write", given, most });
    }
    let moves =
        |step: &FileStep| matches!(step.operation, FileOperation::Read | FileOperation::Write);
    if request.size.0 == 0 && request.steps.iter().any(moves) {
        return Err(PlanError::TooSmall {
            what: "a file that is read or written",
            given: request.size.to_string(),
            minimum: "1 B".to_owned(),
        });
    }
    if request.threads > MAX_THREADS {
        let (given, most) = (u64::from(request.threads), u64::from(MAX_THREADS));
        return Err(beyond("the number of threads", given, most));
    }
    if request.levels > MAX_LEVELS {
        let (given, most) = (u64::from(request.levels), u64::from(MAX_LEVELS));
        return Err(beyond("the number of levels", given, most));
    }
    let count = request.width.checked_pow(request.levels);
    let count = count.and_then(|holders| holders.checked_mul(request.files));
    match count {
        Some(count) if count <= MAX_FILES => Ok(count),
        other => Err(beyond("the number of files", other.unwrap_or(u64::MAX), MAX_FILES)),
    }
}
