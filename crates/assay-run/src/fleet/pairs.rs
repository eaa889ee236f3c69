//! Pairs of hosts: one end requests a port for the data, and the other end serves it.
//!
//! Nothing is negotiated over the measured network: the agents communicate over the pipes to the
//! coordinator ([`Call`]). The port is open for the duration of a case, on the one address that
//! receives the data.
//!
//! # For another benchmark between two hosts
//! A benchmark that needs no port, or more than one, has a subject of its own, as RDMA has. The end
//! that begins uses [`Recorder::call_peer`] in its `bind`. The other end gets an arm in [`serve_call`],
//! which is called on a thread of its own. Both then have a [`Call`] that carries any serde
//! message, reports when the other end is gone, and ends when it is dropped.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_fleet::remote::calls::{Call, CallError};
use assay_kernels::network::device;
use assay_kernels::network::socket::{self, SocketOptions};
use assay_model::failure::FailureReason;
use serde::{Deserialize, Serialize};

use super::ranks;
use crate::network::control;
use crate::network::error::NetworkError;
use crate::network::iperf3_server::{self, Iperf3Service};
use crate::network::setup::{is_same_machine, local_address_for};
use crate::network::target::NetworkTarget;
use crate::rdma;
use crate::recorder::Recorder;

/// Subjects of calls for the network and RDMA benchmarks.
const NETWORK: &str = "network";
pub(crate) const RDMA: &str = "rdma";
/// Subject of calls for MPI launchers.
pub(crate) const MPI: &str = "mpi";
/// Timeout of replies.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the connection attempt to each address, if there are several.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of addresses that are tried; exceeds the number of networks of any machine.
const MAX_ADDRESSES: usize = 16;
/// Idle timeout: longer than that of the other end, whose error is more informative.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Request of the end that begins.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PairRequest {
    /// Requests the addresses of this name, or all addresses of the host.
    Addresses(Option<String>),
    /// Requests a server on this address.
    Listen(IpAddr),
}

/// Reply of the other end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PairReply {
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

fn request(call: &Call, question: &PairRequest) -> Result<PairReply, NetworkError> {
    call.send(question).and_then(|()| call.receive(REPLY_TIMEOUT)).map_err(NetworkError::Call)
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

/// Serves the requests of another host's agent until it hangs up. MPI daemons, which start any
/// program they are given, are served only in runs with ranks on both hosts of a pair.
pub fn serve_call(call: Call, takes_ranks: bool) {
    match call.subject() {
        NETWORK => serve_network(&call),
        RDMA => rdma::serve_agent(call),
        MPI if takes_ranks => ranks::serve_call(&call),
        // Dropping a call with an unknown subject reports its end to the peer.
        _ => drop(call),
    }
}

/// Replies until the other end hangs up, which closes the ports.
fn serve_network(call: &Call) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        while let Ok(question) = call.receive(Duration::MAX) {
            let answer = match question {
                PairRequest::Addresses(named) => {
                    own_addresses(named.as_deref()).map(PairReply::Addresses)
                }
                PairRequest::Listen(address) => listen(address).and_then(|bound| {
                    let (listener, address) = bound;
                    let (service, stop) = (service(address), &stop);
                    // The other end reports errors of this server.
                    let serve =
                        move || iperf3_server::serve_on(&listener, &service, stop, &mut drop);
                    let served = thread::Builder::new().spawn_scoped(scope, serve);
                    served
                        .map(|_| PairReply::Port(address.port()))
                        .map_err(|source| NetworkError::NoThread { source })
                }),
            };
            let answer = answer.unwrap_or_else(|error| {
                let causes = FailureReason::error_chain(&error);
                PairReply::Refused { causes }
            });
            if call.send(&answer).is_err() {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

fn own_addresses(named: Option<&str>) -> Result<Vec<IpAddr>, NetworkError> {
    if let Some(name) = named {
        let found = NetworkTarget::new(name, 0).addresses()?;
        return Ok(found.into_iter().map(|address| address.ip()).collect());
    }
    let own = device::addresses();
    // A machine without a network can only be its own peer.
    Ok(if own.is_empty() { vec![Ipv4Addr::LOCALHOST.into()] } else { own })
}

fn listen(address: IpAddr) -> Result<(TcpListener, SocketAddr), NetworkError> {
    let asked = SocketAddr::new(address, 0);
    let listener = control::listen(asked)?;
    let bound = listener.local_addr();
    bound
        .map(|bound| (listener, bound))
        .map_err(|source| NetworkError::Listen { address: asked, source })
}

const fn service(listen: SocketAddr) -> Iperf3Service {
    Iperf3Service {
        listen,
        once: false,
        idle_limit: None,
        idle_timeout: IDLE_TIMEOUT,
        interval_s: None,
        pinned: false,
        gate: None,
    }
}
