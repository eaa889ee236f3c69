//! What a file of events gives, whatever its format: events by line, and what is wrong with the rest.

use crate::problem::Problem;

/// Events with the lines they come from, and what is wrong with the other lines.
#[derive(Debug, Default)]
pub(crate) struct Decoded<E> {
    pub(crate) events: Vec<(usize, E)>,
    pub(crate) problems: Vec<Problem>,
}
