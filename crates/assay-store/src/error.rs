//! Errors of the store, with advice for the user.

use std::io;
use std::path::PathBuf;

use assay_model::quantity::Bytes;
use thiserror::Error;

/// A failed action of the store. Messages name the path; the cause is the error's source.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The path is not a folder.
    #[error("{} is a file, not a folder with runs", path.display())]
    NotAFolder {
        /// Requested folder.
        path: PathBuf,
    },
    /// The variable for the default folder has a relative path.
    #[error("XDG_DATA_HOME is not an absolute path: {}", path.display())]
    RelativeDataHome {
        /// Value of the variable.
        path: PathBuf,
    },
    /// There is no store in the folder.
    #[error("there is no store in {}", path.display())]
    NoStore {
        /// Requested folder.
        path: PathBuf,
    },
    /// The folder has runs, but its format file is missing.
    #[error("{} is missing, but the folder has runs: {runs}", path.display())]
    FormatLost {
        /// Format file.
        path: PathBuf,
        /// Number of folders with events.
        runs: usize,
    },
    /// The folder cannot be read or created.
    #[error("cannot open the store {}", path.display())]
    Open {
        /// Requested folder.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The store, or a run in it, was written by a newer assay.
    #[error("{} has format {found}, but this assay supports formats up to {known}", path.display())]
    Newer {
        /// File with the format number.
        path: PathBuf,
        /// Format number in the file.
        found: u32,
        /// Newest supported format.
        known: u32,
    },
    /// The format file of the store does not contain a number.
    #[error("expected a format number in {}, found `{text}`", path.display())]
    Format {
        /// Format file.
        path: PathBuf,
        /// Beginning of its content.
        text: String,
    },
    /// An invalid identifier: it cannot be the name of a folder.
    #[error("`{name}` is not a valid identifier of a run")]
    RunName {
        /// Identifier.
        name: String,
    },
    /// The identifier is already in use.
    #[error("run {run} exists already")]
    RunExists {
        /// Identifier.
        run: String,
    },
    /// A process is writing the run.
    #[error("run {run} is being written, and cannot be removed")]
    Running {
        /// Identifier.
        run: String,
    },
    /// A run could not be removed.
    #[error("cannot remove run {run}")]
    Remove {
        /// Identifier.
        run: String,
        /// System error.
        source: io::Error,
    },
    /// The folder of a run is a mount point or contains one.
    #[error("{} is a mount point, and nothing was removed", path.display())]
    Mounted {
        /// Identifier of the run.
        run: String,
        /// The mount point.
        path: PathBuf,
    },
    /// A raw output of a removed run could not be removed.
    #[error("cannot remove an unreferenced raw output")]
    RemoveRaw {
        /// System error.
        source: io::Error,
    },
    /// A run could not be started.
    #[error("cannot begin run {run} in {}", path.display())]
    Begin {
        /// Identifier.
        run: String,
        /// Folder of the run.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// An event could not be written; all earlier ones are intact.
    #[error("cannot write to {}", path.display())]
    Append {
        /// File of events.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The file of events is no longer at its path: what was written to it cannot be found.
    #[error("{} was deleted, moved or replaced while the run was written", path.display())]
    Displaced {
        /// File of events.
        path: PathBuf,
    },
    /// An event that could not be read back, such as a sample that is not a number.
    #[error("refusing to store an event that cannot be read back: {reason}")]
    Encode {
        /// Reason.
        reason: String,
    },
    /// The run does not exist.
    #[error("there is no run {run} in {}", path.display())]
    NoRun {
        /// Requested identifier.
        run: String,
        /// Folder that was searched.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// File or folder.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// A pipe, a device or a folder is in the place of a file.
    #[error("cannot read {}: it is {kind}, not a regular file", path.display())]
    NotRegular {
        /// Path of the file.
        path: PathBuf,
        /// Kind of file.
        kind: &'static str,
    },
    /// A file is larger than any that assay writes.
    #[error("cannot read {}: at most {} are read", path.display(), Bytes(*limit))]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// Maximum size in bytes.
        limit: u64,
    },
    /// A file of events has more lines than any that assay writes.
    #[error("cannot read {}: at most {limit} lines are read", path.display())]
    TooManyLines {
        /// File of events.
        path: PathBuf,
        /// Maximum number of lines.
        limit: usize,
    },
    /// The run has no events.
    #[error("{} has no events: assay was stopped before the run began", path.display())]
    Empty {
        /// File of events.
        path: PathBuf,
    },
    /// The first event of the run is malformed.
    #[error("{} line 1 is not the beginning of a run: {reason}", path.display())]
    FirstLine {
        /// File of events.
        path: PathBuf,
        reason: String,
    },
    /// A raw output could not be written.
    #[error("cannot store a raw output in {}", path.display())]
    WriteRaw {
        /// Path of the raw output.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// Written data could not be brought to the disk.
    #[error("cannot sync the store in {}", path.display())]
    Sync {
        /// Folder of the store.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// A raw output was changed after it was stored.
    #[error("{} was changed after it was stored", path.display())]
    RawDamaged {
        /// Path of the raw output.
        path: PathBuf,
    },
}

impl StoreError {
    /// Returns the advice for the user.
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::NotAFolder { .. } | Self::Open { .. } | Self::Format { .. } => {
                "choose another folder with --store, or repair this one"
            }
            Self::RelativeDataHome { .. } => {
                "set XDG_DATA_HOME to an absolute path, or name a folder with --store"
            }
            Self::NoStore { .. } => {
                "measure something with `assay run`, or name the right folder with --store"
            }
            Self::FormatLost { .. } => {
                "restore it, or write `1` into it if no newer assay wrote these runs"
            }
            Self::Newer { .. } => "use the assay that wrote it, or a newer one",
            Self::RunName { .. } | Self::NoRun { .. } => {
                "`assay list` prints the existing runs"
            }
            Self::RunExists { .. } => "begin the run under another identifier",
            Self::Begin { .. }
            | Self::Append { .. }
            | Self::WriteRaw { .. }
            | Self::Sync { .. } => {
                "free space or choose another folder with --store; what was stored before is kept"
            }
            Self::Displaced { .. } => "find out what removes it, then measure again",
            Self::Running { .. } => "wait for its end, or stop it first",
            Self::Mounted { .. } => "unmount it with `umount`, then repeat",
            Self::Remove { .. } | Self::RemoveRaw { .. } => {
                "check the permissions of the store"
            }
            Self::Encode { .. } => "this is a bug in assay; please report it",
            Self::Read { .. } => "check the permissions of the file",
            Self::NotRegular { .. } | Self::TooLarge { .. } | Self::TooManyLines { .. } => {
                "move it out of the store, or remove its run with `assay rm`"
            }
            Self::Empty { .. } | Self::FirstLine { .. } => {
                "remove the run with `assay rm`: it cannot be recovered"
            }
            Self::RawDamaged { .. } => "measure again: the output is damaged",
        }
    }
}
