//! Phases of an iteration, in order.

use serde::{Deserialize, Serialize};

use super::options::MdtestOptions;

/// Phase with a row in mdtest's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MdtestPhase {
    DirectoryCreation,
    DirectoryQuery,
    DirectoryRename,
    DirectoryRemoval,
    FileCreation,
    FileQuery,
    FileRead,
    FileRemoval,
    TreeCreation,
    TreeRemoval,
}

impl MdtestPhase {
    /// All phases in the order of mdtest's table.
    pub const ALL: [Self; 10] = [
        Self::DirectoryCreation,
        Self::DirectoryQuery,
        Self::DirectoryRename,
        Self::DirectoryRemoval,
        Self::FileCreation,
        Self::FileQuery,
        Self::FileRead,
        Self::FileRemoval,
        Self::TreeCreation,
        Self::TreeRemoval,
    ];

    /// Returns its name in mdtest's table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::DirectoryCreation => "Directory creation",
            Self::DirectoryQuery => "Directory stat",
            Self::DirectoryRename => "Directory rename",
            Self::DirectoryRemoval => "Directory removal",
            Self::FileCreation => "File creation",
            Self::FileQuery => "File stat",
            Self::FileRead => "File read",
            Self::FileRemoval => "File removal",
            Self::TreeCreation => "Tree creation",
            Self::TreeRemoval => "Tree removal",
        }
    }

    /// Returns the name of its operation in assay's results.
    pub const fn operation(self) -> &'static str {
        match self {
            Self::DirectoryCreation => "mkdir",
            Self::DirectoryQuery => "stat-directory",
            Self::DirectoryRename => "rename-directory",
            Self::DirectoryRemoval => "rmdir",
            Self::FileCreation => "create",
            Self::FileQuery => "stat",
            Self::FileRead => "read",
            Self::FileRemoval => "delete",
            Self::TreeCreation => "create-tree",
            Self::TreeRemoval => "delete-tree",
        }
    }

    /// Whether its items are files.
    pub const fn is_of_files(self) -> bool {
        matches!(
            self,
            Self::FileCreation | Self::FileQuery | Self::FileRead | Self::FileRemoval
        )
    }

    /// Whether it creates or removes the directories of the tree.
    pub const fn is_of_trees(self) -> bool {
        matches!(self, Self::TreeCreation | Self::TreeRemoval)
    }

    /// Whether it goes through a directory with all below it before the next one; others go by
    /// number.
    pub(super) const fn visits_directories_in_order(self) -> bool {
        matches!(
            self,
            Self::DirectoryCreation
                | Self::DirectoryRemoval
                | Self::FileCreation
                | Self::FileRemoval
        )
    }

    /// Whether the delay (`-p`) precedes it: it is the first of its kind of items.
    pub fn waits(self, phases: &[Self]) -> bool {
        let is_same_kind =
            |it: &&Self| !it.is_of_trees() && it.is_of_files() == self.is_of_files();
        !self.is_of_trees() && phases.iter().find(is_same_kind) == Some(&self)
    }
}

/// Returns the phases of an iteration in order.
pub fn list_phases(options: &MdtestOptions) -> Vec<MdtestPhase> {
    use MdtestPhase as Phase;
    let (directories, files) = (options.directories_only, options.files_only);
    let wanted = [
        (Phase::TreeCreation, options.create),
        (Phase::DirectoryCreation, directories && options.create),
        (Phase::DirectoryQuery, directories && options.query),
        (Phase::DirectoryRename, directories && options.rename),
        (Phase::DirectoryRemoval, directories && options.remove),
        (Phase::FileCreation, files && options.create),
        (Phase::FileQuery, files && options.query),
        (Phase::FileRead, files && options.read),
        (Phase::FileRemoval, files && options.remove),
        (Phase::TreeRemoval, options.remove),
    ];
    wanted.into_iter().filter(|(_, is_wanted)| *is_wanted).map(|(phase, _)| phase).collect()
}
