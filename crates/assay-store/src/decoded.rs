//! Result of decoding a file of events, in any format: events by line, and problems with the other
//! lines.

use crate::problem::EventProblem;

/// Events with their lines, and problems with the other lines.
#[derive(Debug, Default)]
pub(crate) struct Decoded<E> {
    pub(crate) events: Vec<(usize, E)>,
    pub(crate) problems: Vec<EventProblem>,
}
