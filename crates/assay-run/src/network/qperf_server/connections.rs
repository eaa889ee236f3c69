//! Connections with one request and one response each, at the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_dialects::wire::qperf::{
    MessageCounts, QperfRequest, QperfServer, QperfServerEvent, QperfStatistics,
};
use assay_kernels::clock;
use assay_kernels::network::thread_refusal::ThreadRefusal;
use assay_kernels::network::{connections, socket};
use assay_model::cpu_times::TICKS_PER_S;

use super::super::admission::POLL_INTERVAL;
use super::super::error::NetworkError;
use super::super::qperf_client::{cpu_count, host_times};
use super::{QperfServerSession, buffer_bytes};

/// Time beyond that of the test: the client prepares its other streams first, and the last responses
/// may be long.
const SLACK: Duration = Duration::from_secs(60);

impl QperfServerSession<'_> {
    /// Answers the client's connections until its closing message, or until it continues beyond
    /// the end of the test.
    pub(super) fn measure_connections(
        &mut self,
        request: &QperfRequest,
    ) -> Result<(), NetworkError> {
        let listener = self.data_address(request).and_then(|address| {
            let listener = socket::listen(address)?;
            let port = listener.local_addr()?.port();
            Ok((listener, port, self.control.stream().peer_addr()?.ip()))
        });
        let (listener, port, client) = listener.map_err(|source| self.open_error(source))?;
        self.control.send(&QperfServer::port_message(port))?;
        self.control.send(&QperfServer::sync_message())?;
        match self.next_event("the start of the test")? {
            QperfServerEvent::Run => {}
            _ => return Err(self.closed_error()),
        }
        let last_ns = clock::now_ns()
            + u64::from(request.time_s) * 1_000_000_000
            + SLACK.as_nanos() as u64;
        let bytes = buffer_bytes(request);
        let (stop, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let start = host_times();
        let answered = thread::scope(|scope| {
            let watch = || {
                while !is_over.load(Ordering::Relaxed) && clock::now_ns() < last_ns {
                    if (self.is_closing)()
                        || socket::wait_readable(self.control.stream(), POLL_INTERVAL)
                    {
                        break;
                    }
                }
                stop.store(true, Ordering::Relaxed);
            };
            let started = thread::Builder::new().spawn_scoped(scope, watch);
            started.map_err(ThreadRefusal::wrap)?;
            let answered = connections::answer(&listener, client, bytes, &stop);
            is_over.store(true, Ordering::Relaxed);
            answered
        });
        drop(listener);
        let messages = answered.map_err(|source| NetworkError::Connections {
            peer: self.control.peer.clone(),
            source,
        })?;
        let counts = MessageCounts { bytes: messages * bytes as u64, messages, errors: 0 };
        self.finish(&QperfStatistics {
            cpus: cpu_count(),
            ticks_per_s: TICKS_PER_S,
            start,
            end: host_times(),
            sent: counts,
            received: counts,
        })
    }
}
