//! What happens to a target before its first I/O, as other tools do it. The default is what assay does: a new
//! file is written in full, and the page cache is left as it is.

use serde::{Deserialize, Serialize};

/// How a target is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Opening {
    /// Whether the page cache drops the used part: when it is opened, and whenever a stream begins it anew.
    pub drops_cache: bool,
    /// The order that the kernel is told to expect.
    pub expects: Option<ExpectedOrder>,
    /// What a file is made as that is missing or too short.
    pub new_file: NewFile,
}

/// What the kernel reads ahead for, by `posix_fadvise`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedOrder {
    /// `POSIX_FADV_RANDOM`.
    Random,
    /// `POSIX_FADV_SEQUENTIAL`.
    Sequential,
}

/// What is in a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewFile {
    /// Every block, written.
    #[default]
    Written,
    /// Blocks that are allocated and were never written: the first write of each also changes metadata.
    Allocated,
    /// The same, and the file has no size until it is written.
    AllocatedPastEnd,
    /// Its size, and no block.
    Hole,
    /// Nothing.
    Empty,
}

impl Opening {
    /// Whether it is what assay does.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}
