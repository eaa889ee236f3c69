//! Route of a transfer and its payload, for the kernel's counters during the transfer.

use assay_dialects::iperf3::StreamInterval;
use assay_dialects::wire::iperf3::{Iperf3Parameters, TransportProtocol};
use assay_fleet::kernel_counters::CountedPlaces;
use assay_kernels::network::device;
use assay_model::kernel_counters::PayloadBytes;

use super::iperf3_client::Iperf3Outcome;
use super::iperf3_record::CompletedIperf3Test;
use super::setup::{is_same_machine, local_address_for};
use super::target::NetworkTarget;

/// Expected route of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferRoute {
    /// Network device; `None` to this machine.
    device: Option<String>,
}

impl TransferRoute {
    /// Determines the route to the first address of a target.
    pub fn towards(target: &NetworkTarget) -> Self {
        let addresses = target.addresses().unwrap_or_default();
        let device = addresses.first().and_then(|remote| {
            let local = local_address_for(*remote);
            (!is_same_machine(local, remote.ip())).then(|| device::find_name(local)).flatten()
        });
        Self { device }
    }

    /// Returns the places whose counters belong to the transfer.
    pub fn places(&self) -> CountedPlaces {
        let mut places = CountedPlaces::default();
        self.device.iter().for_each(|name| places.add_network_device(name));
        places
    }

    /// Returns the bytes that this end received and sent while the counters were kept. `None` if they
    /// cannot be compared, or the connections used the route of another address of the name.
    pub fn payload(&self, test: &CompletedIperf3Test<'_>) -> Option<PayloadBytes> {
        let local = test.local();
        let is_taken = is_same_machine(local, test.outcome.address.ip())
            || device::find_name(local) == self.device;
        (is_taken && is_comparable(test.parameters))
            .then(|| payload(test.outcome, test.parameters.protocol))
    }
}

/// Whether the payload of a transfer can be compared with the counters of its device: it is known as a
/// whole, fills frames, and takes one path.
pub const fn is_comparable(parameters: &Iperf3Parameters) -> bool {
    /// Least bytes of a datagram that fills an Ethernet frame.
    const FULL_DATAGRAM: u32 = 1400;
    let fills_frames = match parameters.protocol {
        // 0 is one segment.
        TransportProtocol::Udp => {
            parameters.block_bytes == 0 || parameters.block_bytes >= FULL_DATAGRAM
        }
        TransportProtocol::Tcp => parameters.segment_bytes.is_none() && !parameters.no_delay,
    };
    parameters.omit_s == 0 && fills_frames && !parameters.multipath
}

/// Returns the bytes that this end received and sent. A TCP sender's own count includes its send buffer.
fn payload(outcome: &Iperf3Outcome, protocol: TransportProtocol) -> PayloadBytes {
    let bytes = |sum: Option<StreamInterval>| sum.map_or(0, |it| it.bytes);
    let sent = outcome.end.sum_sent(true);
    let arrived = outcome.end.sum_received(true);
    PayloadBytes {
        read: bytes(outcome.end.sum_received(false)),
        written: bytes(match protocol {
            TransportProtocol::Tcp => arrived.or(sent),
            TransportProtocol::Udp => sent,
        }),
    }
}
