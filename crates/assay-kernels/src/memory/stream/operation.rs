//! The operations of STREAM and the two one-way ones beside them: names and counted arrays, no code.

/// What a pass does with the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `c = a`
    Copy,
    /// `b = q·c`
    Scale,
    /// `c = a + b`
    Add,
    /// `a = b + q·c`
    Triad,
    /// The sum of `a`, which is checked.
    Read,
    /// `a = constant`
    Write,
}

impl Operation {
    /// All operations, in STREAM's order.
    pub const ALL: [Self; 6] =
        [Self::Copy, Self::Scale, Self::Add, Self::Triad, Self::Read, Self::Write];

    /// The name in lower case.
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

    /// Arrays that STREAM counts as moved.
    pub(super) fn arrays_counted(self) -> u64 {
        match self {
            Self::Copy | Self::Scale => 2,
            Self::Add | Self::Triad => 3,
            Self::Read | Self::Write => 1,
        }
    }
}
