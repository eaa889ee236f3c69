//! Why the store could not do something, and what the user can do about it.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A failed action of the store. Messages name the path; the cause is the error's source.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Something that is not a folder is in its place.
    #[error("{} is a file, not a folder with runs", path.display())]
    NotAFolder {
        /// The folder requested.
        path: PathBuf,
    },
    /// There is nothing there.
    #[error("there is no store in {}", path.display())]
    NoStore {
        /// The folder requested.
        path: PathBuf,
    },
    /// The folder cannot be read or created.
    #[error("cannot open the store {}", path.display())]
    Open {
        /// The folder requested.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store, or a run in it, was written by a newer assay.
    #[error("{} has format {found}, and this assay knows formats up to {known}", path.display())]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// The file that holds the store's format holds something else.
    #[error("{} should hold the format of the store and holds `{text}`", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The beginning of what it holds.
        text: String,
    },
    /// An identifier that cannot be the name of a folder.
    #[error("`{name}` cannot be the identifier of a run")]
    RunName {
        /// The identifier.
        name: String,
    },
    /// The identifier is taken.
    #[error("run {run} exists already")]
    RunExists {
        /// The identifier.
        run: String,
    },
    /// Some process is writing it.
    #[error("run {run} is being written, and cannot be removed")]
    Running {
        /// The identifier.
        run: String,
    },
    /// A run could not be removed.
    #[error("cannot remove run {run}")]
    Remove {
        /// The identifier.
        run: String,
        /// What the system said.
        source: io::Error,
    },
    /// Something is mounted in the folder of a run, or on it.
    #[error("{} is a mount point, and nothing was removed", path.display())]
    Mounted {
        /// The identifier.
        run: String,
        /// Where it is mounted.
        path: PathBuf,
    },
    /// Its raw output could not be.
    #[error("cannot remove a raw output that no run names any more")]
    RemoveRaw {
        /// What the system said.
        source: io::Error,
    },
    /// A run could not be started.
    #[error("cannot begin run {run} in {}", path.display())]
    Begin {
        /// Its identifier.
        run: String,
        /// Its folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An event could not be written; all earlier ones are intact.
    #[error("cannot write to {}", path.display())]
    Append {
        /// The file of events.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An event that could not be read back, such as a sample that is not a number.
    #[error("refusing to store an event that cannot be read back: {reason}")]
    Encode {
        /// Why not.
        reason: String,
    },
    /// There is no such run.
    #[error("there is no run {run} in {}", path.display())]
    NoRun {
        /// The identifier requested.
        run: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A run without a single event.
    #[error("{} holds no event: assay was stopped before the run began", path.display())]
    Empty {
        /// The file of events.
        path: PathBuf,
    },
    /// A run whose first event cannot be understood.
    #[error("{} line 1 is not the beginning of a run: {reason}", path.display())]
    FirstLine {
        /// The file of events.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A raw output could not be written.
    #[error("cannot store a raw output in {}", path.display())]
    WriteRaw {
        /// Where it should have gone.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A raw output is not what was stored.
    #[error("{} was changed after it was stored", path.display())]
    RawDamaged {
        /// The file.
        path: PathBuf,
    },
}

impl StoreError {
    /// What the user can do.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::NotAFolder { .. } | Self::Open { .. } | Self::Format { .. } => {
                "choose another folder with --store, or mend this one"
            }
            Self::NoStore { .. } => {
                "measure something with `assay run`, or name the right folder with --store"
            }
            Self::Newer { .. } => "use the assay that wrote it, or a newer one",
            Self::RunName { .. } | Self::NoRun { .. } => {
                "`assay list` shows the runs there are"
            }
            Self::RunExists { .. } => "begin the run under another identifier",
            Self::Begin { .. } | Self::Append { .. } | Self::WriteRaw { .. } => {
                "free space or choose another folder with --store; what was stored before is kept"
            }
            Self::Running { .. } => "wait for its end, or stop it first",
            Self::Mounted { .. } => "unmount it with `umount`, then repeat",
            Self::Remove { .. } | Self::RemoveRaw { .. } => {
                "check the permissions of the store"
            }
            Self::Encode { .. } => "this is a bug in assay; please report it",
            Self::Read { .. } => "check the permissions of the file",
            Self::Empty { .. } | Self::FirstLine { .. } => {
                "nothing can be saved of this run; `assay rm` removes what assay wrote of it"
            }
            Self::RawDamaged { .. } => "do not trust it; measure again",
        }
    }
}
