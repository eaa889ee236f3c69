//! Preparation of a target before its first I/O, for compatibility with other tools. The default is
//! assay's behaviour: a new file is written in full, and the page cache is left unchanged.

use serde::{Deserialize, Serialize};

/// Preparation of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TargetOpening {
    /// Whether the used part is dropped from the page cache: when the target is opened, and
    /// whenever a stream starts it again.
    pub drops_cache: bool,
    /// Whether the used part is read into the page cache when the target is opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pre_reads: bool,
    /// Access order announced to the kernel.
    pub expects: Option<ExpectedOrder>,
    /// Contents of a file that is missing or too short.
    pub new_file: NewFile,
}

/// Access order announced to the kernel for read-ahead, by `posix_fadvise`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedOrder {
    /// `POSIX_FADV_RANDOM`.
    Random,
    /// `POSIX_FADV_SEQUENTIAL`.
    Sequential,
}

/// Contents of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewFile {
    /// All blocks written.
    #[default]
    Written,
    /// All blocks allocated but not written: the first write of each also changes metadata.
    Allocated,
    /// All blocks allocated, but with a file size of 0 until written.
    AllocatedPastEnd,
    /// The full file size without any block.
    Hole,
    /// Empty.
    Empty,
}

impl TargetOpening {
    /// Whether it is assay's behaviour.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}
