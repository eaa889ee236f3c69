//! Count of the work of readers, for tests that the work grows linearly with the input.
//!
//! Every function that scans a text of any length counts the characters it looks at. The program
//! itself counts nothing.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Adds characters that were looked at.
#[cfg(test)]
pub(crate) fn count(steps: usize) {
    STEPS.set(STEPS.get() + steps);
}

/// Counts nothing outside of tests.
#[cfg(not(test))]
#[inline]
pub(crate) const fn count(_steps: usize) {}

/// Returns the steps of this thread since the last call.
#[cfg(test)]
pub(crate) fn take() -> usize {
    STEPS.take()
}
