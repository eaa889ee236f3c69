//! Connections with one request and one response each, at the client.
//!
//! Each stream has its own control connection, so that the server answers it with its own listening
//! socket and thread. All streams are prepared before the first connection.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_dialects::wire::qperf::{QperfClient, QperfClientEvent};
use assay_kernels::clock;
use assay_kernels::network::connections::{self, ConnectionLimits, Transactions};
use assay_model::failure::FailureReason;

use super::super::control::ControlConnection;
use super::super::error::NetworkError;
use super::super::plausibility;
use super::{QperfSession, QperfTest, connect};

/// Maximum number of stored transactions: 96 MiB of times.
const MAX_TRANSACTIONS: usize = 4 << 20;

/// Result of a test of connections.
#[derive(Debug)]
pub struct ConnectionsOutcome {
    pub transactions: Transactions,
    pub address: SocketAddr,
}

/// Runs the test of `test.request` with this number of streams. A cancelled test returns the
/// transactions so far, if there are any.
pub fn run_connections(
    test: &QperfTest,
    streams: u32,
    cancel: &AtomicBool,
) -> Result<ConnectionsOutcome, NetworkError> {
    measure(test, streams, cancel).map_err(|error| error.unless_interrupted(cancel))
}

fn measure(
    test: &QperfTest,
    streams: u32,
    cancel: &AtomicBool,
) -> Result<ConnectionsOutcome, NetworkError> {
    let mut sessions = Vec::new();
    let mut remotes = Vec::new();
    for _ in 0..streams {
        let (session, remote) = prepare(test, cancel)?;
        sessions.push(session);
        remotes.push(remote);
    }
    let Some(first) = sessions.first() else {
        return Err(NetworkError::Known(FailureReason::NoData));
    };
    let (address, peer) = (first.address, first.control.peer.clone());
    let until = ConnectionLimits {
        deadline_ns: clock::now_ns() + u64::from(test.request.time_s) * 1_000_000_000,
        connections: MAX_TRANSACTIONS / remotes.len(),
        cancel,
    };
    let bytes = test.request.message_bytes as usize;
    let transactions = connections::transact(&remotes, bytes, until)
        .map_err(|source| NetworkError::connections_failed(&test.target.host, source))?;
    let count = transactions.list.len() as u64;
    if !cancel.load(Ordering::Relaxed) {
        let mut answered: u64 = 0;
        for session in &mut sessions {
            session.control.send(&QperfClient::closing_message())?;
        }
        for session in &mut sessions {
            answered = answered.saturating_add(session.answered_connections()?);
        }
        plausibility::check_connections(answered, count)
            .map_err(|source| NetworkError::Implausible { peer, source })?;
    }
    if count == 0 {
        return Err(NetworkError::Known(FailureReason::NoData));
    }
    Ok(ConnectionsOutcome { transactions, address })
}

/// Prepares the server for one stream; returns the address to connect to.
fn prepare<'a>(
    test: &'a QperfTest,
    cancel: &'a AtomicBool,
) -> Result<(QperfSession<'a>, SocketAddr), NetworkError> {
    let (stream, address) = connect(test, cancel)?;
    let peer = format!("{}:{}", test.target.host, test.target.port);
    let control = ControlConnection::new(stream, peer)?;
    let client = QperfClient::new(test.request);
    let mut session = QperfSession { test, cancel, address, client, control };
    session.control.send(&session.client.request_message())?;
    let port = match session.next_event("the port of the test") {
        Ok(QperfClientEvent::Connect(port)) => port,
        Ok(_) => return Err(session.closed_error()),
        // Other servers, and assay's servers before this test, reject its number or disconnect.
        Err(
            error @ (NetworkError::Closed { .. }
            | NetworkError::Broken { .. }
            | NetworkError::Qperf { .. }),
        ) => {
            let peer = session.control.peer.clone();
            return Err(NetworkError::NoConnections { peer, source: Box::new(error) });
        }
        Err(error) => return Err(error),
    };
    let mut remote = address;
    remote.set_port(port);
    session.control.send(&QperfClient::sync_message())?;
    match session.next_event("the start of the test")? {
        QperfClientEvent::Run => Ok((session, remote)),
        _ => Err(session.closed_error()),
    }
}

impl QperfSession<'_> {
    /// Returns the number of connections that the server has answered.
    fn answered_connections(&mut self) -> Result<u64, NetworkError> {
        match self.next_event("the server's statistics")? {
            QperfClientEvent::Statistics(statistics) => Ok(statistics.received.messages),
            _ => Err(self.closed_error()),
        }
    }
}
