//! STREAM operations and two additional ones, read and write: names and counted arrays, no code.

/// Operation of a pass on the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamOperation {
    /// `c = a`
    Copy,
    /// `b = q·c`
    Scale,
    /// `c = a + b`
    Add,
    /// `a = b + q·c`
    Triad,
    /// Sum of `a`, which is checked.
    Read,
    /// `a = constant`
    Write,
}

impl StreamOperation {
    /// All operations, in STREAM's order.
    pub const ALL: [Self; 6] =
        [Self::Copy, Self::Scale, Self::Add, Self::Triad, Self::Read, Self::Write];

    /// Returns the name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Scale => "scale",
            Self::Add => "add",
            Self::Triad => "triad",
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// Returns the number of arrays that STREAM counts as moved.
    pub(super) fn arrays_counted(self) -> u64 {
        match self {
            Self::Copy | Self::Scale => 2,
            Self::Add | Self::Triad => 3,
            Self::Read | Self::Write => 1,
        }
    }
}
