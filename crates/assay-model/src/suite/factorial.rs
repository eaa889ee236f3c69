//! Suite with factors: one suite for each combination of levels, and the commands that apply and
//! restore them.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Suite;
use crate::factor::{FactorLevel, FactorLevels, HOSTS_FACTOR};

/// Default number of blocks, each of which has every combination once. With 14, the smallest p-value
/// is 1 in 8,000: enough for all pairs of 28 levels.
pub const DEFAULT_BLOCKS: u32 = 14;
/// Maximum number of blocks.
pub const MAX_BLOCKS: u32 = 400;

/// Suite with factors.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorialSuite {
    /// Its name.
    pub name: String,
    /// Time budget of all turns together, in seconds.
    pub budget_s: f64,
    /// Number of blocks; `None` = [`DEFAULT_BLOCKS`].
    pub blocks: Option<u32>,
    /// Factors, in order.
    pub factors: Vec<Factor>,
    /// Every combination of levels with its suite, at least one; the first one is the reference.
    pub combinations: Vec<FactorialCase>,
    /// The text of the suite, for error messages.
    pub text: Arc<str>,
}

impl FactorialSuite {
    /// Whether any level is applied by a command.
    pub fn has_commands(&self) -> bool {
        self.factors.iter().any(|it| it.apply.is_some())
    }
}

/// A `[[factor]]` of a suite, or of the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    /// Name and levels.
    pub levels: FactorLevels,
    /// Command that applies a level; `None` = the measures name the level.
    pub apply: Option<FactorCommand>,
    /// Command that reverts `apply`.
    pub restore: Option<FactorCommand>,
    /// Byte range in the text; empty if from the command line.
    pub span: Range<usize>,
}

/// Command of a factor: a line for the shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorCommand {
    /// The line, with placeholders.
    pub line: String,
    /// Byte range in the text.
    pub span: Range<usize>,
}

/// Suite for one combination of levels.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorialCase {
    /// A level of each factor.
    pub levels: Vec<FactorLevel>,
    /// The suite in which every placeholder is filled.
    pub suite: Suite,
}

impl FactorialCase {
    /// Number of hosts that take part; `None` = all.
    pub fn host_count(&self) -> Option<usize> {
        let own = self.levels.iter().find(|it| it.factor == HOSTS_FACTOR)?;
        own.level.parse().ok()
    }
}
