//! Report of one run: values, limits, uncertainty and warnings.

mod cache_bandwidth;
mod cells;
mod clock;
mod compute;
pub(super) mod context;
mod copies;
mod core_to_core;
pub(super) mod estimate_parts;
mod files;
mod hardware;
pub(super) mod head;
pub(super) mod host_usage;
mod latency;
mod loaded_latency;
mod machine;
mod measurers;
mod mpi;
mod mpi_labels;
pub(super) mod network;
pub(super) mod network_labels;
pub(super) mod notes;
pub(super) mod other;
mod programs;
mod roofline;
mod storage;
mod stream;
mod timeline;
pub(super) mod words;

use assay_model::attribute::Attribute;
use assay_model::benchmark::ReportSection;
use assay_model::run::Run;
use assay_model::summary::RunSummary;

use crate::document::{Block, Document};
use crate::precision;
use context::ReportContext;

/// Builds the report of a run. `run` adds facts that a summary lacks: the clock, planned cases that
/// were not reached, and the state of the host before and after.
pub fn run(summary: &RunSummary, run: Option<&Run>) -> Document {
    report(summary, run, is_single_storage_test(summary))
}

/// Whether the run has a single test of storage, whose numbers begin its report.
fn is_single_storage_test(summary: &RunSummary) -> bool {
    let Some(first) = summary.results.first() else { return false };
    summary.hosts.len() == 1
        && estimate_parts::section_of(first) == Some(ReportSection::Storage)
        && summary.results.iter().all(|it| it.case == first.case)
        && !first.parameters.contains_key(&Attribute::Point)
        && !first.parameters.contains_key(&Attribute::PercentOfMax)
}

/// Builds the report, with the headline rows first if its numbers begin it.
fn report(summary: &RunSummary, run: Option<&Run>, begins_with_rows: bool) -> Document {
    let summary = &*precision::with_written_digits(summary);
    let context = ReportContext::new(summary, run);
    let mut document = Document::new(head::title(summary));
    super::answer::add_trust_notice(&mut document, summary);
    if begins_with_rows {
        super::answer::add_rows(&mut document, summary, super::MAX_ROWS, false);
    }
    head::add(&mut document, summary, run);
    add_sections(&mut document, &context);
    other::add(&mut document, &context);
    super::perftest::add(&mut document, summary);
    measurers::add(&mut document, &context);
    context.notes.add(&mut document);
    notes::add_failures(&mut document, summary);
    notes::add_omitted(&mut document, summary);
    host_usage::add(&mut document, summary);
    hardware::add(&mut document, summary);
    clock::add(&mut document, summary, run);
    machine::add(&mut document, summary);
    document
}

/// Builds the same report with the headline rows above its sections.
pub fn run_page(summary: &RunSummary, run: Option<&Run>) -> Document {
    let mut document = report(summary, run, false);
    let mut answer = Document::new("");
    super::answer::add_rows(&mut answer, summary, super::MAX_ROWS, true);
    document.insert_before_sections(answer.blocks);
    document
}

/// Returns the sections with results for other pages, without collapsed details.
pub(super) fn published_sections(summary: &RunSummary, run: Option<&Run>) -> Vec<Block> {
    let summary = &*precision::with_written_digits(summary);
    let context = ReportContext::new(summary, run);
    let mut document = Document::new("");
    add_sections(&mut document, &context);
    document.blocks.retain(|block| !matches!(block, Block::Details(_)));
    document.blocks
}

fn add_sections(document: &mut Document, context: &ReportContext<'_>) {
    stream::add(document, context);
    copies::add(document, context);
    latency::add(document, context);
    cache_bandwidth::add(document, context);
    loaded_latency::add(document, context);
    core_to_core::add(document, context);
    compute::add(document, context);
    roofline::add(document, context);
    network::add(document, context);
    mpi::add(document, context);
    storage::add(document, context);
    files::add(document, context);
    crate::io500::add_section(document, context.summary);
    programs::add(document, context);
    timeline::add(document, context);
}
