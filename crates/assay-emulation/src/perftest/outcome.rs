//! Outcome of an RDMA test: perftest's table, and assay's own figures below it.

use assay_dialects::perftest::{self, PerftestHead, PerftestTableRow};
use assay_model::event::EventCount;
use assay_run::round_trips::RoundTripStatistics;
use assay_run::stored_outcome::ToolOutcome;
use serde::{Deserialize, Serialize};

/// Outcome of a test. The same methods render it live, part by part, and from the store.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PerftestOutcome {
    /// Lines above the table; `None` until both ends are connected.
    head: Option<PerftestHead>,
    sizes: Vec<PerftestSize>,
    /// Whether all sizes were measured.
    is_complete: bool,
}

/// Outcome of one message size.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PerftestSize {
    pub(super) bytes: u64,
    /// Times in ns of all messages in order, if any listing prints them.
    pub(super) listed_ns: Vec<u64>,
    /// Requested listings: whether each is sorted.
    pub(super) listings: Vec<bool>,
    /// Row of the table; `None` with too few messages.
    pub(super) row: Option<PerftestTableRow>,
    /// Whether times are half round trips.
    pub(super) is_half: bool,
    /// Statistics of all messages.
    pub(super) times: Option<RoundTripStatistics>,
    /// Lost datagrams among all.
    pub(super) lost: Option<EventCount>,
}

impl ToolOutcome for PerftestOutcome {
    const TOOL: &'static str = "perftest";
    const VERSION: u32 = 1;
}

impl PerftestOutcome {
    /// Begins the table; returns its text.
    pub(super) fn begin(&mut self, head: PerftestHead) -> String {
        let text = head.to_string();
        self.head = Some(head);
        text
    }

    /// Adds a size; returns its text.
    pub(super) fn add(&mut self, size: PerftestSize) -> String {
        let text = size.render();
        self.sizes.push(size);
        text
    }

    /// Completes the outcome; returns the text below the table.
    pub(super) fn end(&mut self) -> String {
        self.is_complete = true;
        self.render_end()
    }

    /// Renders the table alone.
    pub(super) fn table(&self) -> String {
        let rows: String = self.sizes.iter().map(PerftestSize::render_row).collect();
        self.render_head() + &rows
    }

    /// Renders everything.
    pub(super) fn render(&self) -> String {
        let sizes: String = self.sizes.iter().map(PerftestSize::render).collect();
        let end = if self.is_complete { self.render_end() } else { String::new() };
        self.render_head() + &sizes + &end
    }

    fn render_head(&self) -> String {
        self.head.as_ref().map_or_else(String::new, PerftestHead::to_string)
    }

    fn render_end(&self) -> String {
        let figures: String = self.sizes.iter().map(PerftestSize::render_figures).collect();
        format!("{}{figures}", perftest::rule())
    }
}

impl PerftestSize {
    /// Renders the requested listings, then the row.
    fn render(&self) -> String {
        let divisor = if self.is_half { 2 } else { 1 };
        let listing = |sorted| perftest::list_results(&self.listed_ns, divisor, sorted);
        let listings: String = self.listings.iter().map(|sorted| listing(*sorted)).collect();
        listings + &self.render_row()
    }

    fn render_row(&self) -> String {
        self.row.map_or_else(String::new, |row| row.to_string())
    }

    /// Renders assay's own figures, over all messages without exception.
    fn render_figures(&self) -> String {
        let bytes = self.bytes;
        if let Some(EventCount { part, whole }) = self.lost {
            let share = part as f64 / whole as f64 * 100.0;
            return format!("{bytes} B: {part} of {whole} datagrams lost ({share:.2} %)\n");
        }
        let Some(times) = &self.times else { return String::new() };
        let kind = if self.is_half { "half round trip" } else { "full time" };
        format!("{bytes} B, {kind} of all: {}\n", times.format_text())
    }
}

#[cfg(test)]
mod tests {
    use assay_dialects::perftest::{BandwidthRow, LatencyRow, PerftestColumns, RateUnit};
    use assay_run::stored_outcome;

    use super::*;

    /// The text of a stored outcome is what was printed part by part.
    #[test]
    fn stored_outcome_renders_as_printed() {
        let times_ns: Vec<u64> = (1..=1000).map(|us| us * 2000).collect();
        let latency = PerftestSize {
            bytes: 2,
            listed_ns: times_ns.clone(),
            listings: vec![false, true],
            row: LatencyRow::from_times_ns(2, &times_ns, 2).map(PerftestTableRow::Times),
            is_half: true,
            times: Some(RoundTripStatistics::from_times(&times_ns)),
            lost: None,
        };
        let rate = |bytes_per_s| PerftestSize {
            bytes: 64,
            row: Some(PerftestTableRow::Rates(BandwidthRow {
                bytes: 64,
                iterations: 1000,
                peak_bytes_per_s: None,
                bytes_per_s,
                unit: RateUnit::Gigabits,
            })),
            lost: Some(EventCount { part: 3, whole: 1000 }),
            ..PerftestSize::default()
        };
        let head = PerftestHead {
            title: "Send Latency Test".to_owned(),
            facts: vec![("Device".to_owned(), "rxe0".to_owned())],
            columns: PerftestColumns::Times,
        };
        let mut outcome = PerftestOutcome::default();
        let mut printed = outcome.begin(head);
        for size in [latency, rate(Some(1e9)), rate(None)] {
            printed += &outcome.add(size);
        }
        let check = |outcome: &PerftestOutcome, printed: &str| {
            let stored = stored_outcome::encode(outcome).unwrap();
            let again: PerftestOutcome = stored_outcome::decode(&stored).unwrap();
            assert_eq!(&again, outcome);
            assert_eq!(again.render(), printed);
        };
        check(&outcome, &printed);
        printed += &outcome.end();
        check(&outcome, &printed);
        assert!(printed.contains("64 B: 3 of 1000 datagrams lost (0.30 %)\n"), "{printed}");
        assert!(printed.contains("2 B, half round trip of all: "), "{printed}");
        assert!(!outcome.table().contains("usec\n1, "), "the table has no listing");
    }
}
