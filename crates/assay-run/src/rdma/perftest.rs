//! perftest as the measurer: the request to the far end for its server, and the workload of the
//! client.

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_kernels::rdma::{RdmaError, has_devices};
use assay_model::workload::RdmaWorkload;

use super::far_end::start_loopback;
use super::perftest_server::with_path_settings;
use super::wire::{MessageChannel, PerftestRequest, RdmaMessage};
use super::{
    PORT, RdmaLoad, RdmaPartner, RdmaTestError, STEP_TIMEOUT, connect_tcp, resolve_device,
};
use crate::background_thread::BackgroundThread;

/// Other host of a pair, with its address for perftest's TCP connection.
pub(crate) type PartnerWithAddress = (RdmaPartner, IpAddr);

/// Far end with perftest's server, for one run of its client.
pub(crate) struct PerftestPeer {
    line: MessageChannel,
    _loopback: Option<BackgroundThread>,
    /// Workload of the client: the requested one, with the server's host and port.
    pub(crate) work: RdmaWorkload,
}

impl PerftestPeer {
    /// Makes the far end start its server for messages of this size. `program` is the client's; it
    /// is also the server's if both ends are this machine.
    pub(crate) fn start(
        (work, bytes): (&RdmaWorkload, u64),
        pair: Option<PartnerWithAddress>,
        program: &Path,
        cancel: &AtomicBool,
    ) -> Result<Self, RdmaTestError> {
        if !has_devices() {
            return Err(RdmaError::NoDevice.into());
        }
        let device =
            with_path_settings(&resolve_device(&work.device), &RdmaLoad::from_workload(work))?;
        let far = pair.as_ref().map(|(partner, _)| partner.device.clone()).unwrap_or_default();
        let (mut line, host, loopback) = match (pair, &work.to) {
            (Some((partner, address)), _) => {
                (MessageChannel::between_agents(partner.call), address.to_string(), None)
            }
            (None, Some(host)) => {
                (connect_tcp(host, work.port.unwrap_or(PORT), cancel)?, host.clone(), None)
            }
            (None, None) => {
                let (own, line) = start_loopback(&work.device, Some(program.to_owned()))?;
                (line, "127.0.0.1".to_owned(), Some(own))
            }
        };
        line.send(&RdmaMessage::Perftest(Box::new(PerftestRequest {
            assay: env!("CARGO_PKG_VERSION").to_owned(),
            test: work.test,
            connection: work.connection,
            bytes,
            iterations: work.iterations,
            depth: work.depth,
            queue_pairs: work.queue_pairs,
            both: work.both,
            device: far,
        })))?;
        let port = match line.receive("the start of perftest", STEP_TIMEOUT, cancel)? {
            RdmaMessage::Listening { port } => port,
            other => return Err(line.unexpected_message(other)),
        };
        let work = RdmaWorkload {
            to: Some(host),
            port: Some(port),
            sizes: vec![bytes],
            device,
            ..RdmaWorkload::clone(work)
        };
        Ok(Self { line, _loopback: loopback, work })
    }

    /// Reports that the client has ended.
    pub(crate) fn finish(mut self) {
        // The far end also notices a closed connection.
        let _ = self.line.send(&RdmaMessage::Done);
    }
}
