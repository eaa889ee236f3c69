//! Options of other tools. One row per option is the source of parsing, suggestions, refusals,
//! notes, lists and the fuzzer's words.

use std::fmt::Debug;

use assay_model::spelling::nearest_word;
use thiserror::Error;

pub(crate) mod words;

pub use self::words::WordError;

/// Option of a tool. `A` is the function that applies its value to a job or to options.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec<A: 'static> {
    /// Spellings between spaces, the main one first. Rejected options of one kind share a row.
    pub names: &'static str,
    /// Form of the value.
    pub value: ValueKind,
    /// Treatment by assay.
    pub support: OptionSupport<A>,
    /// First version of the tool with this option, if it is newer than the emulated one.
    pub since: Option<&'static str>,
}

/// Form of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// No value, or one joined by `=`; never a word of its own.
    Switch,
    /// A value; without one it is on, where the tool accepts that.
    Flag,
    /// A value.
    Text,
    /// A value that may be missing or empty.
    OptionalText,
}

impl ValueKind {
    /// Whether a value follows as a word of its own.
    pub const fn takes_word(self) -> bool {
        match self {
            Self::Text | Self::OptionalText => true,
            Self::Switch | Self::Flag => false,
        }
    }
}

/// Treatment of an option.
#[derive(Debug, Clone, Copy)]
pub enum OptionSupport<A: 'static> {
    /// Implemented by this function.
    Implemented(A),
    /// Accepted without effect; the user gets the reason, unless it is empty.
    Ignored(&'static str),
    /// Rejected because it would change the result.
    Rejected {
        /// Reason.
        why: &'static str,
        /// Alternative; empty = the tool's general advice.
        instead: &'static str,
        /// Values that change nothing and are accepted.
        unless: &'static [&'static str],
    },
}

/// Command that emulates a tool.
#[derive(Debug, Clone, Copy)]
pub struct EmulatedTool {
    /// Command of assay: `fio`, `rdma`.
    pub command: &'static str,
    /// Advice on rejected options without an alternative.
    pub otherwise: &'static str,
}

/// Refusal of an option, in one shape for all tools.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}: {why}", self.failure())]
pub struct UnsupportedOption {
    /// Command of assay.
    pub command: &'static str,
    /// Option as written, with its value if other values are supported.
    pub option: String,
    /// Reason.
    pub why: &'static str,
    /// Alternative.
    pub instead: &'static str,
    /// First version of the tool with this option, if it is newer than the emulated one.
    pub since: Option<&'static str>,
}

impl<A> OptionSpec<A> {
    /// Creates the row of an implemented option.
    pub const fn implement(names: &'static str, value: ValueKind, apply: A) -> Self
    where
        A: Copy,
    {
        Self { names, value, support: OptionSupport::Implemented(apply), since: None }
    }

    /// Creates the row of an option that is accepted without effect.
    pub const fn ignore(names: &'static str, value: ValueKind, why: &'static str) -> Self {
        Self { names, value, support: OptionSupport::Ignored(why), since: None }
    }

    /// Creates the row of a rejected option.
    pub const fn reject(
        names: &'static str,
        value: ValueKind,
        why: &'static str,
        instead: &'static str,
    ) -> Self {
        let support = OptionSupport::Rejected { why, instead, unless: &[] };
        Self { names, value, support, since: None }
    }

    /// Accepts these values of a rejected option, because they change nothing.
    pub const fn unless(mut self, values: &'static [&'static str]) -> Self
    where
        A: Copy,
    {
        if let OptionSupport::Rejected { why, instead, .. } = self.support {
            self.support = OptionSupport::Rejected { why, instead, unless: values };
        }
        self
    }

    /// Sets the first version of the tool with this option.
    pub const fn since(mut self, version: &'static str) -> Self
    where
        A: Copy,
    {
        self.since = Some(version);
        self
    }

    /// Returns all spellings, the main one first.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_whitespace()
    }

    /// Returns the main name of the option that is spelled so; every name of a rejected row is an
    /// option.
    pub fn main_name(&self, spelling: &'static str) -> &'static str {
        match self.support {
            OptionSupport::Rejected { .. } => spelling,
            OptionSupport::Implemented(_) | OptionSupport::Ignored(_) => {
                self.spellings().next().unwrap_or(spelling)
            }
        }
    }

    /// Returns the refusal of `option`, as written, if the row rejects this value.
    pub fn find_refusal(
        &self,
        tool: &EmulatedTool,
        option: &str,
        value: Option<&str>,
    ) -> Option<UnsupportedOption> {
        let OptionSupport::Rejected { why, instead, unless } = self.support else {
            return None;
        };
        let is_harmless =
            value.is_some_and(|it| unless.iter().any(|usual| it.eq_ignore_ascii_case(usual)));
        let refusal = UnsupportedOption {
            command: tool.command,
            option: option.to_owned(),
            why,
            instead: if instead.is_empty() { tool.otherwise } else { instead },
            since: self.since,
        };
        (!is_harmless).then_some(refusal)
    }
}

impl<A> PartialEq for OptionSpec<A> {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl<A> Eq for OptionSpec<A> {}

impl UnsupportedOption {
    /// Returns the failure without its reason.
    pub fn failure(&self) -> String {
        let Self { command, option, since, .. } = self;
        match since {
            None => format!("`assay {command}` does not support {option}"),
            Some(version) => {
                format!("`assay {command}` does not support {option} (new in {version})")
            }
        }
    }
}

/// Returns the spelling nearest to `name`, for "did you mean".
pub fn nearest_option<'r, A: 'static>(
    rows: impl IntoIterator<Item = &'r OptionSpec<A>>,
    name: &str,
) -> Option<&'static str> {
    nearest_word(name, rows.into_iter().flat_map(OptionSpec::spellings))
}

#[cfg(test)]
mod rows_tests;
