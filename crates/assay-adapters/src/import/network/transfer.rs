//! Transfer over a network as the tools print it, and its measurement.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::event::EventCount;
use assay_model::workload::TransferDirection;

use super::super::{FileTime, ImportedMeasurement, missing};
use crate::outputs::{ParsedOutput, ToolError};

/// Protocol of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Protocol {
    Tcp,
    Udp,
    /// Protocol without a benchmark of assay: `SCTP`.
    Other(String),
}

impl Protocol {
    /// Parses the name of a protocol in any case.
    pub(super) fn parse(name: &str) -> Self {
        match name.to_ascii_uppercase().as_str() {
            "TCP" => Self::Tcp,
            "UDP" => Self::Udp,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// Mean rate over a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MeanRate {
    pub bit_per_s: f64,
    pub seconds: f64,
}

impl MeanRate {
    /// Divides bytes by their time; `None` if nothing was transferred.
    pub(super) fn from_bytes(bytes: f64, seconds: f64) -> Option<Self> {
        let is_measured = bytes > 0.0 && seconds > 0.0;
        is_measured.then(|| Self { bit_per_s: bytes * 8.0 / seconds, seconds })
    }

    /// Adds rates of the same time; `None` unless each is known.
    pub(super) fn sum(rates: &[Option<Self>]) -> Option<Self> {
        let rates: Option<Vec<Self>> = rates.iter().copied().collect();
        rates?.into_iter().reduce(|a, b| Self {
            bit_per_s: a.bit_per_s + b.bit_per_s,
            seconds: a.seconds.max(b.seconds),
        })
    }

    fn bytes(self) -> f64 {
        self.bit_per_s * self.seconds / 8.0
    }
}

/// Counts and jitter of datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct DatagramCounts {
    pub lost: u64,
    pub all: u64,
    /// Number that came out of order, if the tool counts them.
    pub reordered: Option<u64>,
    pub jitter_s: Option<f64>,
}

impl DatagramCounts {
    /// Adds the counts of another stream; the jitter is the larger one.
    pub(super) fn with(self, other: Self) -> Self {
        let jitters = [self.jitter_s, other.jitter_s].into_iter().flatten();
        let reordered = [self.reordered, other.reordered].into_iter().flatten();
        Self {
            lost: self.lost.saturating_add(other.lost),
            all: self.all.saturating_add(other.all),
            reordered: reordered.reduce(u64::saturating_add),
            jitter_s: jitters.reduce(f64::max),
        }
    }
}

/// Transfer with all that a file contains of it.
#[derive(Debug, Clone, Default)]
pub(super) struct ImportedTransfer {
    /// Name of the tool, for protocols without a benchmark.
    pub tool: &'static str,
    pub protocol: Option<Protocol>,
    pub direction: Option<TransferDirection>,
    pub streams: Option<u64>,
    pub to: Option<String>,
    /// Duration according to the options, in seconds.
    pub requested_s: Option<f64>,
    pub rate_bit_per_s: Option<u64>,
    pub congestion: Option<String>,
    pub version: Option<String>,
    pub block_bytes: Option<u64>,
    pub sent: Option<MeanRate>,
    pub received: Option<MeanRate>,
    pub retransmits: Option<f64>,
    pub datagrams: Option<DatagramCounts>,
    /// CPU time by end, as a share of one CPU.
    pub cpu: Vec<(&'static str, f64)>,
    pub began: Option<FileTime>,
    /// Dimensions beyond those of every transfer.
    pub extra: Attributes,
    /// Whether the tool was stopped before the end.
    pub broke_off: bool,
    /// Whether the receiver leaves the data in the kernel.
    pub skips_copy: bool,
    /// Whether the kernel cuts and joins the datagrams.
    pub segmentation: bool,
    /// Statements that were not used.
    pub problems: Vec<String>,
}

/// Relative and absolute difference between requested and measured time that is normal.
const TIME_TOLERANCE: f64 = 0.1;
const TIME_TOLERANCE_S: f64 = 1.0;
/// Relative difference between the ends' counts of bytes, and with an omitted part.
const BYTES_TOLERANCE: f64 = 0.5;

impl ImportedTransfer {
    /// Sets the rates of one or two directions, sent and received, each as far as it is known.
    pub(super) fn set_directions(
        &mut self,
        sent: &[Option<MeanRate>],
        received: &[Option<MeanRate>],
    ) {
        self.sent = MeanRate::sum(sent);
        self.received = MeanRate::sum(received);
        if sent.len() > 1 && self.sent.is_none() && self.received.is_none() {
            // A server only counts what itself sent and received.
            self.sent = sent.iter().flatten().next().copied();
            self.received = received.iter().flatten().next().copied();
            self.direction = None;
            self.extra.insert(Attribute::Concurrent, 2_u64.into());
            let problem = "each rate is that of one of two directions at once";
            self.problems.push(problem.to_owned());
        }
    }

    /// Makes the measurement.
    ///
    /// # Errors
    /// If there is no rate, or the two ends contradict each other.
    pub(super) fn into_measurement(self) -> Result<ImportedMeasurement, ToolError> {
        let protocol = self.protocol.clone().unwrap_or(Protocol::Tcp);
        self.check_ends(&protocol)?;
        let mut parsed =
            ParsedOutput { version: self.version.clone(), ..ParsedOutput::default() };
        let benchmark = match &protocol {
            Protocol::Tcp => Benchmark::NetworkTcp,
            Protocol::Udp => Benchmark::NetworkUdp,
            Protocol::Other(_) => Benchmark::Foreign,
        };
        self.add_rates(&protocol, &mut parsed);
        if parsed.values.is_empty() {
            return Err(missing("figure of transferred bytes above zero"));
        }
        match protocol {
            Protocol::Udp => self.add_datagrams(&mut parsed),
            Protocol::Tcp => {
                if let Some(count) = self.retransmits {
                    parsed.add_samples("retransmits", vec![count]);
                }
            }
            Protocol::Other(_) => {}
        }
        if benchmark != Benchmark::Foreign {
            self.add_cpu(&mut parsed);
        }
        self.add_facts(&mut parsed);
        let dimensions = self.dimensions(&protocol);
        let mut found = ImportedMeasurement::new(self.name(), benchmark, dimensions, parsed);
        found.began = self.began;
        Ok(found)
    }

    /// Rejects counts that cannot be true: more bytes received than sent.
    fn check_ends(&self, protocol: &Protocol) -> Result<(), ToolError> {
        let (Protocol::Tcp | Protocol::Udp, Some(sent), Some(received)) =
            (protocol, self.sent, self.received)
        else {
            return Ok(());
        };
        // Rates without times are those of one time.
        let has_times = sent.seconds > 0.0 && received.seconds > 0.0;
        let amount =
            |rate: MeanRate| if has_times { rate.bytes() } else { rate.bit_per_s / 8.0 };
        let (sent, received) = (amount(sent), amount(received));
        // Without a direction they are different transfers at once.
        if self.direction.is_none() || received <= sent * (1.0 + BYTES_TOLERANCE) {
            return Ok(());
        }
        let what = format!("{received:.0} bytes were received, and {sent:.0} were sent");
        Err(ToolError::Contradiction { what })
    }

    fn add_rates(&self, protocol: &Protocol, parsed: &mut ParsedOutput) {
        let metrics = match protocol {
            Protocol::Tcp | Protocol::Udp => ["goodput", "send_rate"],
            Protocol::Other(_) => ["bit_rate", "bit_rate"],
        };
        let is_named = matches!(protocol, Protocol::Tcp | Protocol::Udp);
        for (metric, rate) in metrics.into_iter().zip([self.received, self.sent]) {
            // Without a metric of its own, the sender's figure only stands in for the receiver's.
            let is_needed = is_named || parsed.values.is_empty();
            if let Some(rate) = rate.filter(|it| it.bit_per_s > 0.0 && is_needed) {
                parsed.add_samples(metric, vec![rate.bit_per_s]);
                parsed.set_weights(if rate.seconds > 0.0 {
                    vec![rate.seconds]
                } else {
                    vec![]
                });
            }
        }
    }

    fn add_datagrams(&self, parsed: &mut ParsedOutput) {
        let Some(counts) = self.datagrams else { return };
        if counts.all > 0 {
            let whole = counts.all;
            parsed.add_ratio("loss", EventCount { part: counts.lost.min(whole), whole });
            if let Some(part) = counts.reordered {
                parsed.add_ratio("reordered", EventCount { part: part.min(whole), whole });
            }
        }
        if let Some(jitter) = counts.jitter_s {
            parsed.add_samples("jitter", vec![jitter]);
        }
    }

    /// Adds the CPU time per byte of each end.
    fn add_cpu(&self, parsed: &mut ParsedOutput) {
        let Some(rate) = self.received.or(self.sent).filter(|it| it.bytes() > 0.0) else {
            return;
        };
        for (end, share) in self.cpu.iter().filter(|(_, share)| *share > 0.0) {
            let apart = Attributes::from([(Attribute::End, (*end).into())]);
            parsed.add_series("cpu_per_byte", apart, vec![share * rate.seconds / rate.bytes()]);
            parsed.set_weights(vec![rate.bytes()]);
        }
        if self.cpu.iter().any(|(_, share)| *share > 0.0) {
            parsed.doubts.push(Doubt::ProcessCpuOnly { is_tool: true });
        }
    }

    fn add_facts(&self, parsed: &mut ParsedOutput) {
        if let Some(bytes) = self.block_bytes {
            parsed.set_attribute(Attribute::BlockBytes, bytes);
        }
        if self.broke_off {
            parsed.doubts.push(Doubt::BrokeOff);
        }
        if let (Some(asked), Some(took), false) =
            (self.requested_s, self.seconds(), self.broke_off)
        {
            let tolerance = TIME_TOLERANCE_S.max(asked * TIME_TOLERANCE);
            if asked > 0.0 && (asked - took).abs() > tolerance {
                parsed.doubts.push(Doubt::OptionContradicted {
                    condition: Attribute::Seconds.name().to_owned(),
                    option: asked.to_string(),
                    figures: took.to_string(),
                });
            }
        }
        parsed.problems.extend(self.problems.iter().cloned());
    }

    /// Returns the measured time in seconds.
    fn seconds(&self) -> Option<f64> {
        let rates = [self.received, self.sent].into_iter().flatten();
        rates.map(|rate| rate.seconds).find(|seconds| *seconds > 0.0)
    }

    fn dimensions(&self, protocol: &Protocol) -> Attributes {
        let mut all = Attributes::new();
        if let Protocol::Other(name) = protocol {
            all.insert(Attribute::Test, format!("{} {name}", self.tool).into());
        } else {
            all.insert(Attribute::Copy, (!self.skips_copy).into());
        }
        if self.segmentation {
            all.insert(Attribute::Segmentation, true.into());
        }
        let seconds = self.seconds().map(|seconds| seconds.round() as u64);
        all.extend(self.to.as_deref().map(|to| (Attribute::To, to.into())));
        all.extend(self.streams.map(|streams| (Attribute::Streams, streams.into())));
        let direction = self.direction.map(|it| (Attribute::Direction, it.name().into()));
        all.extend(direction);
        let seconds = seconds.filter(|seconds| *seconds > 0);
        all.extend(seconds.map(|seconds| (Attribute::Seconds, seconds.into())));
        all.extend(self.rate_bit_per_s.map(|rate| (Attribute::RateBitPerS, rate.into())));
        let congestion = self.congestion.as_deref();
        all.extend(congestion.map(|name| (Attribute::Congestion, name.into())));
        all.extend(self.extra.clone());
        all
    }

    fn name(&self) -> String {
        let direction = self.direction.map(|it| it.name().to_owned());
        let streams = self.streams.map(|streams| format!("streams={streams}"));
        let parts = [self.to.clone(), direction, streams];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { self.tool.to_owned() } else { parts.join("/") }
    }
}
