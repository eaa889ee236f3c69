//! End of a pair that begins: requests a port of the other end, and keeps it for one case.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use assay_fleet::remote::calls::{Call, CallError};
use assay_kernels::network::socket::{self, SocketOptions};
use serde::{Deserialize, Serialize};

use crate::network::error::NetworkError;
use crate::network::setup::{is_same_machine, local_address_for};
use crate::network::target::NetworkTarget;
use crate::recorder::Recorder;

/// Subjects of calls for the network and RDMA benchmarks.
pub(super) const NETWORK: &str = "network";

pub(crate) const RDMA: &str = "rdma";

/// Subject of calls for MPI launchers.
pub(crate) const MPI: &str = "mpi";

/// Timeout of replies.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout of the connection attempt to each address, if there are several.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of addresses that are tried; exceeds the number of networks of any machine.
const MAX_ADDRESSES: usize = 16;

/// Request of the end that begins.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PairRequest {
    /// Requests the addresses of this name, or all addresses of the host.
    Addresses(Option<String>),
    /// Requests a server on this address.
    Listen(IpAddr),
}

/// Reply of the other end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PairReply {
    Addresses(Vec<IpAddr>),
    Port(u16),
    Refused { causes: Vec<String> },
}

/// Far end of a pair for one case; closes its port when it is dropped.
pub(crate) struct PairEnd {
    pub(crate) address: SocketAddr,
    _call: Call,
}

impl PairEnd {
    /// Requests a port from the other end of the case's pair; returns `None` if the case has no
    /// pair.
    pub(crate) fn open(recorder: &mut Recorder<'_, '_>) -> Result<Option<Self>, NetworkError> {
        let Some(pair) = recorder.pair().cloned() else { return Ok(None) };
        let gone = || NetworkError::Call(CallError::Over { peer: pair.peer.clone() });
        let call = recorder.call_peer(NETWORK).ok_or_else(gone)?;
        let found = match request(&call, &PairRequest::Addresses(pair.address.clone()))? {
            PairReply::Addresses(found) => sort_addresses(found, &pair.peer),
            other => return Err(refusal(&pair.peer, other)),
        };
        let mut last = None;
        let is_only = found.len() == 1;
        for address in found {
            let port = match request(&call, &PairRequest::Listen(address))? {
                PairReply::Port(port) => port,
                other => {
                    last = Some(refusal(&pair.peer, other));
                    continue;
                }
            };
            let address = SocketAddr::new(address, port);
            let options = SocketOptions::default();
            match socket::connect_tcp(address, &options, CONNECT_TIMEOUT, recorder.cancel()) {
                Err(source) if !is_only => {
                    last = Some(NetworkError::not_connected(address, &source));
                }
                // The case itself reports failures of the only address.
                _ => return Ok(Some(Self { address, _call: call })),
            }
        }
        let none = PairReply::Refused { causes: vec!["the host has no address".to_owned()] };
        Err(last.unwrap_or_else(|| refusal(&pair.peer, none)))
    }
}

fn request(call: &Call, request: &PairRequest) -> Result<PairReply, NetworkError> {
    call.send(request).and_then(|()| call.receive(REPLY_TIMEOUT)).map_err(NetworkError::Call)
}

fn refusal(peer: &str, answer: PairReply) -> NetworkError {
    let causes = if let PairReply::Refused { causes } = answer { causes } else { Vec::new() };
    NetworkError::FarEnd { peer: peer.to_owned(), causes: causes.join(": ") }
}

/// Sorts addresses that the peer's name resolves to first, and those that are also addresses of
/// this machine last: container bridges have the same address everywhere.
fn sort_addresses(mut found: Vec<IpAddr>, peer: &str) -> Vec<IpAddr> {
    let name = peer.rsplit_once('@').map_or(peer, |(_, name)| name);
    let meant = NetworkTarget::new(name, 0).addresses().unwrap_or_default();
    found.sort_by_key(|address| {
        let is_here =
            is_same_machine(local_address_for(SocketAddr::new(*address, 9)), *address);
        (is_here, !meant.iter().any(|it| it.ip() == *address))
    });
    found.truncate(MAX_ADDRESSES);
    found
}
