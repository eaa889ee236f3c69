//! Result of decoding a file of events: events by line, and problems with the other
//! lines.

use assay_model::event::RunEvent;

use crate::problem::EventProblem;

/// Events with their lines, and problems with the other lines.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) events: Vec<(usize, RunEvent)>,
    pub(crate) problems: Vec<EventProblem>,
}
