//! What a test gave, and what becomes of it in the record.

use assay_kernels::rdma::{Endpoint, Mark};
use assay_model::attribute::Attribute;
use assay_model::benchmark::RdmaTest;
use assay_model::entry::{Entry, Key, Seen, Span};
use assay_model::workload::RdmaWorkload;

use crate::round_trips;

/// Values that the interval of the median comes from, as of other round trips.
const SAMPLES: usize = 300;
/// Parts of a transfer that are values of its rate.
const PARTS: usize = 16;

/// Both ends are connected: what this one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The device.
    pub device: String,
    /// Version of its firmware; empty for software.
    pub firmware: String,
    /// Whether its link is Ethernet.
    pub is_ethernet: bool,
    /// Index of its address.
    pub gid_index: Option<u32>,
    /// Path MTU in bytes, the smaller one of both ends.
    pub mtu_bytes: u32,
    /// Messages up to this size are copied into the request.
    pub inline_bytes: u32,
    /// Whether the far end is in this process.
    pub is_loopback: bool,
    /// Messages of each size.
    pub iterations: u64,
}

/// One size.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    /// Size of a message.
    pub bytes: u64,
    /// When it began and how long it took, checks included.
    pub seconds: (f64, f64),
    /// What was measured.
    pub values: Values,
}

/// What one size gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// Every round trip or operation in ns, in order.
    Times(Vec<u64>),
    /// How much was complete when.
    Marks(Vec<Mark>),
}

impl Joined {
    pub(super) fn of(end: &Endpoint, work: &RdmaWorkload) -> Self {
        Self {
            device: end.device.clone(),
            firmware: end.firmware.clone(),
            is_ethernet: end.is_ethernet,
            gid_index: end.gid_index,
            mtu_bytes: end.card.mtu,
            inline_bytes: end.inline_bytes,
            is_loopback: work.to.is_none(),
            iterations: work.iterations,
        }
    }

    /// What is known of the connection.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let path = if self.is_loopback { "loopback" } else { "network" };
        let link = if self.is_ethernet { "Ethernet" } else { "InfiniBand" };
        let mut entries = vec![
            Entry::Fact(Attribute::Path, path.into()),
            Entry::Fact(Attribute::Device, self.device.as_str().into()),
            Entry::Fact(Attribute::LinkLayer, link.into()),
            Entry::Fact(Attribute::FarEnd, "assay".into()),
            Entry::Fact(Attribute::PathMtuBytes, self.mtu_bytes.into()),
            Entry::Fact(Attribute::InlineBytes, self.inline_bytes.into()),
            Entry::Fact(Attribute::Iterations, self.iterations.into()),
        ];
        if !self.firmware.is_empty() {
            entries.push(Entry::Fact(Attribute::Firmware, self.firmware.as_str().into()));
        }
        entries
            .extend(self.gid_index.map(|index| Entry::Fact(Attribute::GidIndex, index.into())));
        entries
    }
}

impl Size {
    /// Payload per second of the whole; `None` where messages were timed one by one.
    #[must_use]
    pub fn bytes_per_s(&self) -> Option<f64> {
        let Values::Marks(marks) = &self.values else { return None };
        let last = marks.last().filter(|mark| mark.at_ns > 0)?;
        Some((last.done * self.bytes) as f64 / (last.at_ns as f64 * 1e-9))
    }

    /// All values, and those that an interval comes from.
    #[must_use]
    pub fn entries(&self, test: RdmaTest) -> Vec<Entry> {
        let entries = match &self.values {
            Values::Times(times_ns) => times(times_ns, test, self.span()),
            Values::Marks(marks) => rates(marks, self.bytes),
        };
        entries.into_iter().map(|entry| entry.within(Attribute::Bytes, self.bytes)).collect()
    }

    fn span(&self) -> Span {
        Span::of_seconds(self.seconds.0, self.seconds.1, false)
    }
}

fn times(times_ns: &[u64], test: RdmaTest, span: Span) -> Vec<Entry> {
    let (metric, divisor) = (test.latency_metric(), if test.is_halved() { 2 } else { 1 });
    let step = times_ns.len().div_ceil(SAMPLES).max(1);
    let sample = |ns: &u64| Entry::sample(metric, *ns as f64 * 1e-9 / divisor as f64);
    let mut entries: Vec<Entry> = times_ns.iter().step_by(step).map(sample).collect();
    let all: Vec<u64> = times_ns.iter().map(|ns| ns / divisor).collect();
    let stretches = round_trips::stretches(&all, span).into_iter();
    entries.extend(
        stretches.map(|(span, seen)| {
            Entry::Measured(Key::of(metric), Seen::Distribution(span, seen))
        }),
    );
    entries
}

/// The rate of each part of a transfer, in its order; parts end where something completed.
fn rates(marks: &[Mark], bytes: u64) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut before = Mark { done: 0, at_ns: 0 };
    for part in marks.chunks(marks.len().div_ceil(PARTS).max(1)) {
        let Some(last) = part.last().filter(|last| last.at_ns > before.at_ns) else { continue };
        let seconds = (last.at_ns - before.at_ns) as f64 * 1e-9;
        let per_s = (last.done - before.done) as f64 / seconds;
        for (metric, value) in [("bandwidth", per_s * bytes as f64), ("message_rate", per_s)] {
            entries.push(Entry::Measured(Key::of(metric), Seen::over(value, seconds)));
        }
        before = *last;
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_the_whole_and_parts_add_up_to_it() {
        // 64 marks of 10 messages each: the second half takes twice as long.
        let at_ns = |at: u64| if at <= 32 { at * 1000 } else { 32_000 + (at - 32) * 2000 };
        let marks: Vec<Mark> =
            (1..=64).map(|at| Mark { done: at * 10, at_ns: at_ns(at) }).collect();
        let values = Values::Marks(marks);
        let size = Size { bytes: 100, seconds: (0.0, 1.0), values };
        assert!((size.bytes_per_s().unwrap() - 64_000.0 / 96e-6).abs() < 1.0);
        let entries = size.entries(RdmaTest::SendBandwidth);
        let parts = entries.iter().filter_map(|entry| match entry {
            Entry::Measured(key, Seen::Sample { value, weight })
                if key.metric == "bandwidth" =>
            {
                Some((*value, *weight))
            }
            _ => None,
        });
        let parts: Vec<_> = parts.collect();
        assert_eq!(parts.len(), 16);
        let moved: f64 = parts.iter().map(|(value, weight)| value * weight).sum();
        assert!((moved - 64_000.0).abs() < 1e-3, "{moved}");
        assert!((parts[0].0 / parts[15].0 - 2.0).abs() < 1e-9);
    }

    #[test]
    fn sends_are_halved_and_reads_are_not() {
        let values = Values::Times((1..=1000).map(|at| at * 2000).collect());
        let size = Size { bytes: 2, seconds: (0.0, 1.0), values };
        for (test, expected_s) in [(RdmaTest::SendLatency, 1e-6), (RdmaTest::ReadLatency, 2e-6)]
        {
            let entries = size.entries(test);
            let Entry::Measured(key, Seen::Sample { value, .. }) = &entries[0] else {
                panic!("{:?}", entries[0]);
            };
            assert_eq!(key.metric, test.latency_metric());
            assert!((value - expected_s).abs() < 1e-12, "{value}");
            let counts = entries.iter().map(|entry| match entry {
                Entry::Measured(_, Seen::Distribution(_, all)) => all.count,
                _ => 0,
            });
            assert_eq!(counts.sum::<u64>(), 1000, "every message is in the distribution");
        }
    }
}
