//! File-tree measures of a suite: a file tree and the operations on it.

use std::path::PathBuf;

use crate::quantity::Bytes;
use crate::workload::file_set::FileOperation;

/// A file tree and the operations on it, one case each.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesRequest {
    /// Folder that contains the tree; `None` = as on the command line.
    pub folder: Option<PathBuf>,
    /// Number of directory levels.
    pub levels: u32,
    /// Number of directories in each directory.
    pub width: u64,
    /// Number of files in each directory of the last level.
    pub files: u64,
    /// Size of a file.
    pub size: Bytes,
    /// Operations, in the order of [`FileStep::ALL`].
    pub steps: Vec<FileStep>,
    /// Number of threads, each with one operation at a time.
    pub threads: u32,
    /// Bytes of one read or write; `None` = the whole file, up to a limit.
    pub bytes: Option<Bytes>,
    /// Whether files are accessed in random order.
    pub random: bool,
    /// Rate of an open loop in operations per second; `None` = closed loop.
    pub rate_per_s: Option<f64>,
    /// Measured seconds; `None` = passes over the whole tree.
    pub length_s: Option<f64>,
    /// Whether `fsync` is called before a written file is closed.
    pub sync: bool,
}

/// Operation in the sequence of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStep {
    /// Name in suites and results.
    pub name: &'static str,
    pub operation: FileOperation,
    /// Whether it applies to directories.
    pub of_directories: bool,
    /// Required state of the tree.
    pub needs: RequiredTreeState,
    /// Whether it is in the default selection: the operations of mdtest.
    pub is_default: bool,
}

/// Required state of a tree before an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredTreeState {
    /// Empty.
    Nothing,
    /// All directories, but no files.
    Directories,
    /// All directories and files.
    Everything,
}

impl FileStep {
    /// All operations, in mdtest's order.
    pub const ALL: [Self; 11] = [
        Self::new("mkdir", FileOperation::Mkdir, true, RequiredTreeState::Nothing, true),
        Self::new(
            "stat-directory",
            FileOperation::Getattr,
            true,
            RequiredTreeState::Directories,
            true,
        ),
        Self::new("rmdir", FileOperation::Rmdir, true, RequiredTreeState::Directories, true),
        Self::new("create", FileOperation::Create, false, RequiredTreeState::Directories, true),
        Self::new("stat", FileOperation::Getattr, false, RequiredTreeState::Everything, true),
        Self::new("access", FileOperation::Access, false, RequiredTreeState::Everything, false),
        Self::new("chmod", FileOperation::Setattr, false, RequiredTreeState::Everything, false),
        Self::new("open", FileOperation::Open, false, RequiredTreeState::Everything, false),
        Self::new("read", FileOperation::Read, false, RequiredTreeState::Everything, true),
        Self::new("write", FileOperation::Write, false, RequiredTreeState::Everything, false),
        Self::new("delete", FileOperation::Delete, false, RequiredTreeState::Everything, true),
    ];

    const fn new(
        name: &'static str,
        operation: FileOperation,
        of_directories: bool,
        needs: RequiredTreeState,
        is_default: bool,
    ) -> Self {
        Self { name, operation, of_directories, needs, is_default }
    }

    /// Whether it can be repeated on the same file or directory.
    pub const fn is_repeatable(self) -> bool {
        match self.operation {
            FileOperation::Mkdir
            | FileOperation::Rmdir
            | FileOperation::Create
            | FileOperation::Delete => false,
            FileOperation::Read
            | FileOperation::Write
            | FileOperation::Open
            | FileOperation::Close
            | FileOperation::Getattr
            | FileOperation::Setattr
            | FileOperation::Access => true,
        }
    }
}
