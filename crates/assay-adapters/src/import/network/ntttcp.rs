//! Import of ntttcp: XML of Windows and Linux, and the console output of both.
//!
//! Rates follow from bytes and time, since some versions print impossible ones. `MB` are 2²⁰ bytes
//! on Windows (`MEG`) and 10⁶ bytes in the XML of Linux.

use assay_model::workload::TransferDirection;

use super::super::{FileContents, ImportedMeasurement, LineSpan, missing, mixed_lines};
use super::transfer::{ImportedTransfer, MeanRate, Protocol};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, parse_non_negative, parse_positive};

mod console;
mod xml;

pub(super) use console::{is_ntttcp_console, read_ntttcp_console};
pub(super) use xml::{is_ntttcp_xml, read_ntttcp_xml};

/// Relative difference between a printed rate and that of bytes and time that rounding explains.
const RATE_TOLERANCE: f64 = 0.02;

/// Result of one end.
#[derive(Debug, Default)]
struct NtttcpResult {
    bytes: Option<f64>,
    seconds: Option<f64>,
    /// Rate that the tool printed, in bits per second.
    printed_bit_per_s: Option<f64>,
    is_udp: bool,
    is_sender: Option<bool>,
    streams: Option<u64>,
    retransmits: Option<f64>,
    requested_s: Option<f64>,
    version: Option<String>,
    errors: f64,
    /// Whether lines behind the bytes are missing.
    broke_off: bool,
}

fn measure(result: NtttcpResult) -> Result<ImportedMeasurement, ToolError> {
    let bytes = result.bytes.ok_or_else(|| missing("total of bytes"))?;
    let seconds = result.seconds.ok_or_else(|| missing("duration"))?;
    let derived =
        MeanRate::from_bytes(bytes, seconds).ok_or_else(|| missing("bytes above zero"))?;
    let mut problems = Vec::new();
    let printed = result.printed_bit_per_s.unwrap_or(derived.bit_per_s);
    let is_possible = (printed / derived.bit_per_s - 1.0).abs() <= RATE_TOLERANCE;
    // The console rounds the time to two digits, so that the printed rate is more exact.
    let rate = if is_possible { MeanRate { bit_per_s: printed, seconds } } else { derived };
    if !is_possible {
        problems.push(format!(
            "{printed:.0} bit/s are printed, and bytes over time are {:.0} bit/s",
            derived.bit_per_s
        ));
    }
    if result.errors > 0.0 {
        problems.push(format!("ntttcp counted {} errors", result.errors));
    }
    let is_sender = result.is_sender == Some(true);
    if let Some(count) = result.retransmits.filter(|count| *count > 0.0 && !is_sender) {
        problems.push(format!("{count} retransmits, which are those of the receiver"));
    }
    ImportedTransfer {
        tool: "ntttcp",
        protocol: Some(if result.is_udp { Protocol::Udp } else { Protocol::Tcp }),
        direction: result.is_sender.map(|is_sender| match is_sender {
            true => TransferDirection::Send,
            false => TransferDirection::Receive,
        }),
        streams: result.streams,
        requested_s: result.requested_s,
        version: result.version,
        sent: is_sender.then_some(rate),
        received: (!is_sender).then_some(rate),
        retransmits: result.retransmits.filter(|_| !result.is_udp && is_sender),
        broke_off: result.broke_off,
        problems,
        ..ImportedTransfer::default()
    }
    .into_measurement()
}
