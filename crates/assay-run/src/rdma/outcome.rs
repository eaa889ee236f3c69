//! Results of an RDMA test, and their entries in the record.

use assay_kernels::rdma::{Connection, Endpoint, ProgressMark, RdmaPass};
use assay_model::attribute::Attribute;
use assay_model::benchmark::RdmaTest;
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry};
use assay_model::event::EventCount;
use assay_model::workload::RdmaWorkload;

use super::{perftest_figures, wire};
use crate::round_trips::time_entries;

/// Number of parts of a transfer; each is a sample of its rate.
const RATE_PARTS: usize = 16;

/// Connection of both ends, from this end's view.
#[derive(Debug, Clone, PartialEq)]
pub struct RdmaConnectionInfo {
    pub device: String,
    /// Firmware version; empty for software devices.
    pub firmware: String,
    /// Whether the link is Ethernet.
    pub is_ethernet: bool,
    /// Index of this end's GID.
    pub gid_index: Option<u32>,
    /// Path MTU in bytes, the smaller one of both ends.
    pub mtu_bytes: u32,
    /// Largest message in bytes that is copied into the request.
    pub inline_bytes: u32,
    /// Whether the far end is in this process.
    pub is_loopback: bool,
    /// Device of the far end with its port, `mlx5_0:1`, and its GID index, as that end chose them.
    pub far_device: (String, Option<u32>),
    /// Requested options other than the dimensions.
    pub options: Option<String>,
    /// Messages of each size on each queue pair; `None` if a time was requested.
    pub iterations: Option<u64>,
    /// NUMA node of the device; this end runs there.
    pub node: Option<u32>,
    /// Share of the messages' memory in huge pages; `None` if it is too small for one.
    pub huge_pages: Option<f64>,
}

/// Result of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct RdmaSizeResult {
    /// Message size in bytes.
    pub bytes: u64,
    /// Messages on each queue pair.
    pub iterations: u64,
    /// Whether the size was measured for a fixed time instead of a number of messages.
    pub is_timed: bool,
    /// Start and length in seconds, checks included.
    pub span_s: (f64, f64),
    pub values: RdmaValues,
}

/// Values of one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RdmaValues {
    /// Every round trip or operation in ns, in order.
    Times(Vec<u64>),
    /// Progress over time.
    Marks(RdmaProgress),
}

/// Progress of both ends with many requests in flight.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RdmaProgress {
    /// Completed requests of this end; for datagrams, those that arrived.
    pub own: Vec<ProgressMark>,
    /// Completed requests of the far end, if both send.
    pub far: Vec<ProgressMark>,
    /// Fastest window of each sending end: number of messages and ns.
    pub peaks: Vec<ProgressMark>,
    /// Datagrams that did not arrive.
    pub lost: Option<EventCount>,
}

impl RdmaValues {
    /// Appends values of the same kind; the time between both does not count.
    pub(super) fn concat(mut self, next: Self) -> Self {
        match (&mut self, next) {
            (Self::Times(all), Self::Times(more)) => all.extend(more),
            (Self::Marks(all), Self::Marks(more)) => all.append(&more),
            (Self::Times(_), Self::Marks(_)) | (Self::Marks(_), Self::Times(_)) => {}
        }
        self
    }
}

/// Appends the marks of the next part, thinned: a day has as many parts as seconds.
fn append_marks(all: &mut Vec<ProgressMark>, more: &[ProgressMark]) {
    let before = all.last().copied().unwrap_or(ProgressMark { done: 0, at_ns: 0 });
    let behind =
        |(done, at_ns)| ProgressMark { done: before.done + done, at_ns: before.at_ns + at_ns };
    all.extend(thin_marks(more).into_iter().map(behind));
}

/// Returns the messages per second up to a mark.
fn mark_rate(mark: &ProgressMark) -> Option<f64> {
    (mark.at_ns > 0).then(|| mark.done as f64 / (mark.at_ns as f64 * 1e-9))
}

/// Returns at most [`RATE_PARTS`] marks, including the last.
pub(super) fn thin_marks(marks: &[ProgressMark]) -> Vec<(u64, u64)> {
    let parts = marks.chunks(marks.len().div_ceil(RATE_PARTS).max(1));
    parts.filter_map(|part| part.last().map(|mark| (mark.done, mark.at_ns))).collect()
}

impl RdmaProgress {
    /// Appends the next part of a test with a fixed time.
    fn append(&mut self, more: &Self) {
        append_marks(&mut self.own, &more.own);
        append_marks(&mut self.far, &more.far);
        if let (Some(lost), Some(more)) = (&mut self.lost, more.lost) {
            lost.part += more.part;
            lost.whole += more.whole;
        }
    }

    /// Adds the counts of the far end for this pass.
    pub(super) fn add_far_end(
        &mut self,
        seen: &wire::FarEndCounts,
        pass: &RdmaPass,
        (connection, sent): (Connection, u64),
    ) {
        let marks = |all: &[(u64, u64)]| -> Vec<ProgressMark> {
            all.iter()
                .map(|(done, at_ns)| ProgressMark { done: *done, at_ns: *at_ns })
                .collect()
        };
        if pass.both {
            self.far = marks(&seen.sent);
            self.peaks.extend(marks(seen.peak.as_slice()));
        }
        if pass.may_lose_messages(connection) {
            self.own = marks(&seen.received);
            let part = sent.saturating_sub(seen.arrived);
            self.lost = Some(EventCount { part, whole: sent });
        }
    }

    /// Returns the messages per second of the whole, summed over both ends.
    fn rate_per_s(&self) -> Option<f64> {
        let far = if self.far.is_empty() { 0.0 } else { mark_rate(self.far.last()?)? };
        Some(mark_rate(self.own.last()?)? + far)
    }

    /// Returns the rate of the fastest window, summed over sending ends as perftest does; `None` if
    /// one took no time. Windows are the sender's: datagrams may have arrived faster than any of
    /// them left.
    fn peak_rate_per_s(&self) -> Option<f64> {
        if self.peaks.is_empty() {
            return None;
        }
        let peak: f64 = self.peaks.iter().map(mark_rate).sum::<Option<f64>>()?;
        Some(self.rate_per_s().map_or(peak, |whole| peak.max(whole)))
    }
}

impl RdmaConnectionInfo {
    pub(super) fn from_endpoint(
        end: &Endpoint,
        (work, far): (&RdmaWorkload, wire::ChosenDevice),
        node: Option<u32>,
    ) -> Self {
        Self {
            device: end.device.clone(),
            firmware: end.firmware.clone(),
            is_ethernet: end.is_ethernet,
            gid_index: end.gid_index,
            mtu_bytes: end.info.mtu,
            inline_bytes: end.inline_bytes,
            is_loopback: work.to.is_none(),
            far_device: (format!("{}:{}", far.device, far.port), far.gid_index),
            options: work.requested_options(),
            iterations: work.duration.is_none().then_some(work.iterations),
            node,
            huge_pages: end.huge_share(),
        }
    }

    /// Returns the facts of the connection.
    pub fn entries(&self) -> Vec<MeasurementEntry> {
        let path = if self.is_loopback { "loopback" } else { "network" };
        let link = if self.is_ethernet { "Ethernet" } else { "InfiniBand" };
        let mut entries = vec![
            MeasurementEntry::fact(Attribute::Path, path),
            MeasurementEntry::fact(Attribute::Device, self.device.as_str()),
            MeasurementEntry::fact(Attribute::LinkLayer, link),
            MeasurementEntry::fact(Attribute::FarEnd, "assay"),
            MeasurementEntry::fact(Attribute::FarDevice, self.far_device.0.as_str()),
            MeasurementEntry::fact(Attribute::PathMtuBytes, self.mtu_bytes),
            MeasurementEntry::fact(Attribute::InlineBytes, self.inline_bytes),
        ];
        let firmware = Some(self.firmware.as_str()).filter(|it| !it.is_empty());
        let optional = [
            firmware.map(|it| MeasurementEntry::fact(Attribute::Firmware, it)),
            self.node.map(|it| MeasurementEntry::fact(Attribute::DeviceNode, it)),
            self.huge_pages.map(|it| MeasurementEntry::fact(Attribute::HugePages, it)),
            self.iterations.map(|it| MeasurementEntry::fact(Attribute::Iterations, it)),
            self.far_device.1.map(|it| MeasurementEntry::fact(Attribute::FarGidIndex, it)),
            self.options
                .as_deref()
                .map(|it| MeasurementEntry::fact(Attribute::RdmaOptions, it)),
            self.gid_index.map(|it| MeasurementEntry::fact(Attribute::GidIndex, it)),
        ];
        entries.extend(optional.into_iter().flatten());
        entries
    }
}

impl RdmaSizeResult {
    /// Returns the payload per second of the whole; `None` if messages were timed one by one.
    pub fn bytes_per_s(&self) -> Option<f64> {
        let RdmaValues::Marks(rates) = &self.values else { return None };
        Some(rates.rate_per_s()? * self.bytes as f64)
    }

    /// Returns the payload per second of the fastest window; `None` for a fixed time, as in
    /// perftest.
    pub fn peak_bytes_per_s(&self) -> Option<f64> {
        let RdmaValues::Marks(rates) = &self.values else { return None };
        if self.is_timed {
            return None;
        }
        Some(rates.peak_rate_per_s()? * self.bytes as f64)
    }

    /// Returns all values, the samples for the interval, and the figures that perftest would print.
    pub fn entries(&self, test: RdmaTest) -> Vec<MeasurementEntry> {
        let entries = match &self.values {
            RdmaValues::Times(times_ns) => {
                let divisor = if test.is_half_round_trip() { 2 } else { 1 };
                let metric = test.latency_metric();
                let mut entries = time_entries(times_ns, self.span(), metric, divisor);
                // For a fixed time perftest prints only the mean.
                if !self.is_timed {
                    entries
                        .extend(perftest_figures::figure_entries(self.bytes, times_ns, test));
                }
                entries
            }
            RdmaValues::Marks(seen) => {
                let peak = self.peak_bytes_per_s().map(perftest_figures::peak_entry);
                rate_entries(seen, self.bytes, self.span()).into_iter().chain(peak).collect()
            }
        };
        let mut entries: Vec<MeasurementEntry> = entries
            .into_iter()
            .map(|entry| entry.with_dimension(Attribute::Bytes, self.bytes))
            .collect();
        if self.is_timed {
            entries.push(MeasurementEntry::fact(Attribute::Iterations, self.iterations));
        }
        entries
    }

    fn span(&self) -> MeasuredSpan {
        MeasuredSpan::from_seconds(self.span_s.0, self.span_s.1, false)
    }
}

/// Returns the rate of each part of a transfer in order; parts end where something completed. If
/// both ends send, a part's rate is the sum of both.
fn rate_entries(seen: &RdmaProgress, bytes: u64, span: MeasuredSpan) -> Vec<MeasurementEntry> {
    let far = part_rates(&seen.far);
    let mut entries = Vec::new();
    for (at, (own_per_s, seconds)) in part_rates(&seen.own).into_iter().enumerate() {
        let far_per_s = match (far.get(at), far.last()) {
            (Some((per_s, _)), _) | (None, Some((per_s, _))) => *per_s,
            (None, None) => 0.0,
        };
        let per_s = own_per_s + far_per_s;
        for (metric, value) in [("bandwidth", per_s * bytes as f64), ("message_rate", per_s)] {
            entries
                .push(MeasurementEntry::measured(metric, EntryValue::weighted(value, seconds)));
        }
    }
    let lost =
        seen.lost.map(|lost| MeasurementEntry::measured("loss", EntryValue::Count(span, lost)));
    entries.extend(lost);
    entries
}

/// Returns rate and seconds of each part.
fn part_rates(marks: &[ProgressMark]) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    let mut before = ProgressMark { done: 0, at_ns: 0 };
    for part in marks.chunks(marks.len().div_ceil(RATE_PARTS).max(1)) {
        // The far end's marks are not trusted to increase.
        let is_later =
            |last: &&ProgressMark| last.at_ns > before.at_ns && last.done >= before.done;
        let Some(last) = part.last().filter(is_later) else { continue };
        let seconds = (last.at_ns - before.at_ns) as f64 * 1e-9;
        found.push(((last.done - before.done) as f64 / seconds, seconds));
        before = *last;
    }
    found
}

#[cfg(test)]
mod tests {
    use assay_kernels::rdma::RdmaOperation;

    use super::*;

    #[test]
    fn part_rates_add_up_to_whole_rate() {
        // 64 marks of 10 messages each: the second half takes twice as long.
        let at_ns = |at: u64| if at <= 32 { at * 1000 } else { 32_000 + (at - 32) * 2000 };
        let marks: Vec<ProgressMark> =
            (1..=64).map(|at| ProgressMark { done: at * 10, at_ns: at_ns(at) }).collect();
        let values =
            RdmaValues::Marks(RdmaProgress { own: marks.clone(), ..RdmaProgress::default() });
        let size = RdmaSizeResult {
            bytes: 100,
            iterations: 640,
            is_timed: false,
            span_s: (0.0, 1.0),
            values,
        };
        assert!((size.bytes_per_s().unwrap() - 64_000.0 / 96e-6).abs() < 1.0);
        let entries = size.entries(RdmaTest::SendBandwidth);
        let parts = entries.iter().filter_map(|entry| match entry {
            MeasurementEntry::Measured(key, EntryValue::Sample { value, weight })
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
        // The far end sends as much at the same time.
        let (own, far) = (marks.clone(), marks);
        let values = RdmaValues::Marks(RdmaProgress { own, far, ..RdmaProgress::default() });
        let both = RdmaSizeResult {
            bytes: 100,
            iterations: 640,
            is_timed: false,
            span_s: (0.0, 1.0),
            values,
        };
        let (one, two) = (size.bytes_per_s().unwrap(), both.bytes_per_s().unwrap());
        assert!((two / one - 2.0).abs() < 1e-9);
    }

    fn values_of(rates: &RdmaProgress) -> RdmaValues {
        RdmaValues::Marks(rates.clone())
    }

    #[test]
    fn concatenated_parts_have_no_gap() {
        let marks = |done: u64| {
            vec![
                ProgressMark { done, at_ns: 1000 },
                ProgressMark { done: 2 * done, at_ns: 2000 },
            ]
        };
        let part = |done| RdmaProgress {
            own: marks(done),
            far: marks(done),
            peaks: marks(done),
            lost: Some(EventCount { part: 1, whole: 10 }),
        };
        let values = RdmaValues::Marks(part(100)).concat(RdmaValues::Marks(part(300)));
        let size = RdmaSizeResult {
            bytes: 10,
            iterations: 800,
            is_timed: true,
            span_s: (0.0, 1.0),
            values,
        };
        // 800 messages of each end in 4 µs.
        assert!((size.bytes_per_s().unwrap() - 2.0 * 8000.0 / 4e-6).abs() < 1.0);
        assert_eq!(size.peak_bytes_per_s(), None);
        let RdmaValues::Marks(rates) = &size.values else { panic!() };
        assert_eq!(rates.lost, Some(EventCount { part: 2, whole: 20 }));
        let many = (1..=65_536).map(|done| ProgressMark { done, at_ns: done });
        let many = RdmaProgress { own: many.collect(), ..RdmaProgress::default() };
        let RdmaValues::Marks(whole) =
            values_of(&many).concat(values_of(&many)).concat(values_of(&many))
        else {
            panic!()
        };
        assert_eq!(
            whole.own.last(),
            Some(&ProgressMark { done: 3 * 65_536, at_ns: 3 * 65_536 })
        );
        assert!(whole.own.len() < 65_536 + 100, "{}", whole.own.len());
        let entries = size.entries(RdmaTest::SendBandwidth);
        assert!(entries.contains(&MeasurementEntry::fact(Attribute::Iterations, 800_u64)));
        let times = RdmaValues::Times(vec![2000; 3]).concat(RdmaValues::Times(vec![4000; 3]));
        let size = RdmaSizeResult { iterations: 6, values: times, ..size };
        let entries = size.entries(RdmaTest::SendLatency);
        let is_perftests =
            |entry: &&MeasurementEntry| matches!(entry, MeasurementEntry::SeriesFact(..));
        assert_eq!(entries.iter().filter(is_perftests).count(), 0, "it prints none of a time");
    }

    #[test]
    fn skips_decreasing_marks() {
        let marks = [(10, 1000), (5, 2000), (10, 500), (20, 3000)];
        let marks = marks.map(|(done, at_ns)| ProgressMark { done, at_ns });
        let found = part_rates(&marks);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[1].0 - 10.0 / 2e-6).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn counts_only_received_datagrams() {
        let sent = vec![ProgressMark { done: 1000, at_ns: 1000 }];
        let received = vec![(899, 2000)];
        let peak = Some((100, 100));
        let seen = wire::FarEndCounts { sent: vec![], received, arrived: 900, peak };
        let pass = RdmaPass {
            operation: RdmaOperation::Send,
            depth: 128,
            both: false,
            bytes: 1000,
            iterations: 1000,
            moderation: None,
        };
        let both = RdmaPass { both: true, ..pass };
        let lost = Some(EventCount { part: 100, whole: 1000 });
        for (connection, pass, per_s, peak_per_s, lost) in [
            // Datagrams count at the receiving far end; those that waited there are received in no
            // time, which is not a window.
            (Connection::Ud, pass, 899.0 / 2e-6, 2e9, lost),
            (Connection::Rc, pass, 1000.0 / 1e-6, 2e9, None),
            (Connection::Rc, both, 1000.0 / 1e-6, 3e9, None),
        ] {
            let peaks = vec![ProgressMark { done: 200, at_ns: 100 }];
            let mut rates =
                RdmaProgress { own: sent.clone(), peaks, ..RdmaProgress::default() };
            rates.add_far_end(&seen, &pass, (connection, 1000));
            assert!(
                (rates.peak_rate_per_s().unwrap() / peak_per_s - 1.0).abs() < 1e-9,
                "{pass:?}"
            );
            assert!((rates.rate_per_s().unwrap() / per_s - 1.0).abs() < 1e-9, "{connection:?}");
            assert_eq!(rates.lost, lost);
        }
    }

    #[test]
    fn peak_is_at_least_whole_rate() {
        let own = vec![ProgressMark { done: 100, at_ns: 1_000_000 }];
        for (peak_at_ns, expected) in [(500_000, 200_000.0), (2_000_000, 100_000.0)] {
            let peaks = vec![ProgressMark { done: 100, at_ns: peak_at_ns }];
            let rates = RdmaProgress { own: own.clone(), peaks, ..RdmaProgress::default() };
            let peak = rates.peak_rate_per_s().unwrap();
            assert!((peak - expected).abs() < 1e-6, "{peak}");
        }
    }

    #[test]
    fn halves_send_latency_only() {
        let values = RdmaValues::Times((1..=1000).map(|at| at * 2000).collect());
        let size = RdmaSizeResult {
            bytes: 2,
            iterations: 1000,
            is_timed: false,
            span_s: (0.0, 1.0),
            values,
        };
        for (test, expected_s) in [(RdmaTest::SendLatency, 1e-6), (RdmaTest::ReadLatency, 2e-6)]
        {
            let entries = size.entries(test);
            let MeasurementEntry::Measured(key, EntryValue::Sample { value, .. }) = &entries[0]
            else {
                panic!("{:?}", entries[0]);
            };
            assert_eq!(key.metric, test.latency_metric());
            assert!((value - expected_s).abs() < 1e-12, "{value}");
            let counts = entries.iter().map(|entry| match entry {
                MeasurementEntry::Measured(_, EntryValue::Distribution(_, all)) => all.count,
                _ => 0,
            });
            assert_eq!(counts.sum::<u64>(), 1000, "every message is in the distribution");
            let facts = entries.iter().filter(|entry| match entry {
                MeasurementEntry::SeriesFact(key, name, _) => {
                    name.name().starts_with("perftest_")
                        && key.dimensions.contains_key(&Attribute::Bytes)
                }
                _ => false,
            });
            assert_eq!(facts.count(), 7, "what perftest would print, of this size");
        }
    }
}
