//! Pairs of hosts: one end requests a port for the data, and the other end serves it.
//!
//! Nothing is negotiated over the measured network: the agents communicate over the pipes to the
//! coordinator ([`Call`]). The port is open for the duration of a case, on the one address that
//! receives the data.
//!
//! # For another benchmark between two hosts
//! A benchmark that needs no port, or more than one, has a subject of its own, as RDMA has. The end
//! that begins uses [`Recorder::call_peer`](crate::recorder::Recorder::call_peer) in its `bind`. The
//! other end gets an arm in [`serve_call`], which is called on a thread of its own. Both then have a
//! [`Call`] that carries any serde message, reports when the other end is gone, and ends when it is
//! dropped.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_fleet::remote::calls::Call;
use assay_kernels::network::device;
use assay_model::failure::FailureReason;

use super::pair_end::{MPI, NETWORK, PairReply, PairRequest, RDMA};
use super::ranks;
use crate::network::control;
use crate::network::error::NetworkError;
use crate::network::iperf3_server::{self, Iperf3Service};
use crate::network::target::NetworkTarget;
use crate::rdma;

/// Idle timeout: longer than that of the other end, whose error is more informative.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

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
        while let Ok(request) = call.receive(Duration::MAX) {
            let answer = match request {
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

fn service(listen: SocketAddr) -> Iperf3Service {
    Iperf3Service::new(listen, IDLE_TIMEOUT)
}
