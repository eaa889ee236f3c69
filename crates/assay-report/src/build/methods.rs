//! Page of measurement methods, from the table of benchmarks.

use assay_model::benchmark::{Benchmark, Metric};

use crate::document::{Block, Document, ReportTable, Tone, left};

const TITLE: &str = "Measurement methods";
const STATISTICS: &str = "Every metric is measured repeatedly, in several preparations that allocate and place everything again. Warm-up samples at the start are detected and excluded, but stay in the store. Reports contain the median and its distribution-free confidence interval from order statistics: the k-th smallest and k-th largest sample, with k from the binomial distribution; below six effective samples it comes from Student's t. Repetition stops when the interval is narrow enough or the time budget is spent; the width reached is printed. A percentile is printed only if there are enough samples for it. If samples are correlated, the effective number of samples is used and printed.";

/// Builds the page of methods.
pub fn methods() -> Document {
    let mut document = Document::new(TITLE);
    document.paragraph(Tone::Plain, STATISTICS);
    for benchmark in Benchmark::ALL {
        let definition = benchmark.definition();
        let name = format!("{}: ", benchmark.id());
        // Some titles already start with the name.
        let title = definition.title.strip_prefix(&name).unwrap_or(definition.title);
        document.heading(format!("{name}{title}"));
        document.paragraph(Tone::Plain, definition.method);
        document.blocks.push(Block::Table(table(definition.metrics)));
    }
    document
}

fn table(metrics: &[Metric]) -> ReportTable {
    let mut table = ReportTable::with_caption("");
    for metric in metrics {
        table.push([
            left("metric", metric.name),
            left("unit", metric.unit.symbol()),
            left("better", metric.better.name()),
            left("meaning", metric.meaning),
        ]);
    }
    table
}
