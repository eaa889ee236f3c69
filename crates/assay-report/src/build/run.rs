//! The report of one run: values, limits, uncertainty and warnings.

mod clock;
mod compute;
pub(super) mod context;
mod copies;
mod files;
pub(super) mod head;
mod latency;
mod machine;
mod measurers;
mod mpi;
pub(super) mod network;
pub(super) mod notes;
mod other;
mod rows;
mod storage;
mod stream;
pub(super) mod words;

use assay_model::run::Run;
use assay_model::summary::Summary;

use crate::document::Document;
use context::Context;

/// The report of a run. `run` adds what a summary does not hold: the clock, the cases that were
/// planned and not reached, and the state of the host before and after.
#[must_use]
pub fn run(summary: &Summary, run: Option<&Run>) -> Document {
    let context = Context::new(summary);
    let mut document = Document::new(head::title(summary));
    head::add(&mut document, summary, run);
    stream::add(&mut document, &context);
    copies::add(&mut document, &context);
    latency::add(&mut document, &context);
    compute::add(&mut document, &context);
    network::add(&mut document, &context);
    mpi::add(&mut document, &context);
    storage::add(&mut document, &context);
    files::add(&mut document, &context);
    other::add(&mut document, &context);
    measurers::add(&mut document, &context);
    context.notes.add(&mut document);
    notes::add_failures(&mut document, summary);
    notes::add_omitted(&mut document, summary);
    clock::add(&mut document, summary, run);
    machine::add(&mut document, summary);
    document
}
