//! File-tree measures of a suite: a file tree, and the operations on it.

use std::path::PathBuf;

use crate::quantity::Bytes;
use crate::workload::file_set::FileOperation;

/// A file tree and the operations on it, one case each.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesRequest {
    /// The folder that holds the tree; `None` = where the command line says.
    pub folder: Option<PathBuf>,
    /// Levels of directories.
    pub levels: u32,
    /// Directories in a directory.
    pub width: u64,
    /// Files in each directory of the last level.
    pub files: u64,
    /// Size of a file.
    pub size: Bytes,
    /// What is done, in the order of [`FileStep::ALL`].
    pub steps: Vec<FileStep>,
    /// Threads that do it, one operation at a time each.
    pub threads: u32,
    /// Bytes of one read or write; `None` = the whole file, up to a bound.
    pub bytes: Option<Bytes>,
    /// Whether the next file is any, instead of the next one.
    pub random: bool,
    /// Operations per second that are due; `None` = as fast as it goes.
    pub rate_per_s: Option<f64>,
    /// Seconds that count; `None` = passes over the whole tree.
    pub length_s: Option<f64>,
    /// Whether `fsync` comes before a file that was written is closed.
    pub sync: bool,
}

/// One kind of operation with its place in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStep {
    /// What suites and results call it.
    pub name: &'static str,
    /// What is done.
    pub operation: FileOperation,
    /// Whether it is done to directories.
    pub of_directories: bool,
    /// What must be there before.
    pub needs: Needs,
    /// Whether suites ask for it that do not say: what mdtest does.
    pub usual: bool,
}

/// What of a tree must be there before an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// All directories, and no file.
    Directories,
    /// All of it.
    Everything,
}

impl FileStep {
    /// Every operation, in the order in which mdtest does them.
    pub const ALL: [Self; 11] = [
        Self::of("mkdir", FileOperation::Mkdir, true, Needs::Nothing, true),
        Self::of("stat-directory", FileOperation::Getattr, true, Needs::Directories, true),
        Self::of("rmdir", FileOperation::Rmdir, true, Needs::Directories, true),
        Self::of("create", FileOperation::Create, false, Needs::Directories, true),
        Self::of("stat", FileOperation::Getattr, false, Needs::Everything, true),
        Self::of("access", FileOperation::Access, false, Needs::Everything, false),
        Self::of("chmod", FileOperation::Setattr, false, Needs::Everything, false),
        Self::of("open", FileOperation::Open, false, Needs::Everything, false),
        Self::of("read", FileOperation::Read, false, Needs::Everything, true),
        Self::of("write", FileOperation::Write, false, Needs::Everything, false),
        Self::of("delete", FileOperation::Delete, false, Needs::Everything, true),
    ];

    const fn of(
        name: &'static str,
        operation: FileOperation,
        of_directories: bool,
        needs: Needs,
        usual: bool,
    ) -> Self {
        Self { name, operation, of_directories, needs, usual }
    }

    /// Whether it can be done to the same file or directory again and again.
    #[must_use]
    pub const fn can_last(self) -> bool {
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
