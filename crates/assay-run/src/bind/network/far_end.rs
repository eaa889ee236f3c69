//! Far end of a network case: a host that the user named, the other host of a pair, or a server in
//! this process that runs as long as the case.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_dialects::wire::{iperf3, qperf};
use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::workload::NetworkWorkload;

use crate::background_thread::BackgroundThread;
use crate::fleet::pair_end::PairEnd;
use crate::network::control;
use crate::network::error::NetworkError;
use crate::network::iperf3_server::{
    self, Iperf3ServerReport, Iperf3Service, Iperf3TestReport,
};
use crate::network::target::NetworkTarget;
use crate::recorder::Recorder;

/// Far end of a case, with the server or pair that keeps it alive.
pub(super) struct NetworkFarEnd {
    pub(super) host: String,
    port: Option<u16>,
    server: Option<OwnServer>,
    _pair: Option<PairEnd>,
}

impl NetworkFarEnd {
    /// Starts a server on the other host of a pair. Without a pair, uses the host of the workload,
    /// or starts a loopback server if it names none.
    pub(super) fn resolve(
        work: &NetworkWorkload,
        recorder: &mut Recorder<'_, '_>,
    ) -> Result<Self, NetworkError> {
        if let Some(pair) = PairEnd::open(recorder)? {
            let (host, port) = (pair.address.ip().to_string(), Some(pair.address.port()));
            return Ok(Self { host, port, server: None, _pair: Some(pair) });
        }
        match &work.to {
            Some(host) => {
                Ok(Self { host: host.clone(), port: work.port, server: None, _pair: None })
            }
            None => {
                let server = OwnServer::start()?;
                let address = server.address;
                let (host, port) = (address.ip().to_string(), Some(address.port()));
                Ok(Self { host, port, server: Some(server), _pair: None })
            }
        }
    }

    /// Returns the error of a failed test, or its cause if the server in this process got no
    /// thread: the test only sees that a connection ends. The server ends.
    pub(super) fn find_cause(&mut self, error: NetworkError) -> NetworkError {
        if matches!(error, NetworkError::Interrupted) {
            return error;
        }
        let Some(server) = self.server.take() else { return error };
        let refused = Arc::clone(&server.refused);
        // The server records a refusal after the connection has ended.
        drop(server);
        let refused = refused.lock().even_if_poisoned().take();
        refused.unwrap_or(error)
    }

    /// Sets host and port of a workload that an external tool will measure.
    pub(super) fn fill_workload(&self, work: &mut NetworkWorkload) {
        work.to = Some(self.host.clone());
        work.port = self.port;
    }

    /// Whether the server runs in this process.
    pub(super) fn is_own(&self) -> bool {
        self.server.is_some()
    }

    /// Target of throughput tests.
    pub(super) fn throughput_target(&self) -> NetworkTarget {
        NetworkTarget::new(&self.host, self.port.unwrap_or(iperf3::DEFAULT_PORT))
    }

    /// Whether the server on this target may be iperf3: the user gave no port, and the target has
    /// iperf3's default port.
    pub(super) fn may_be_iperf3(&self, target: &NetworkTarget) -> bool {
        self.port.is_none() && target.port == iperf3::DEFAULT_PORT
    }

    /// Targets of ping-pongs in order of preference; an assay server accepts them on its iperf3
    /// port, too.
    pub(super) fn ping_pong_targets(&self) -> Vec<NetworkTarget> {
        let ports = match self.port {
            Some(port) => vec![port],
            None => vec![qperf::DEFAULT_PORT, iperf3::DEFAULT_PORT],
        };
        ports.into_iter().map(|port| NetworkTarget::new(&self.host, port)).collect()
    }
}

/// Idle timeout of the server in this process. It exceeds that of the client, whose error is more
/// informative.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Server within this process that ends with its case.
struct OwnServer {
    address: SocketAddr,
    /// First connection that got no thread.
    refused: Arc<Mutex<Option<NetworkError>>>,
    _thread: BackgroundThread,
}

impl OwnServer {
    fn start() -> Result<Self, NetworkError> {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = control::listen(any_port)?;
        let address = listener
            .local_addr()
            .map_err(|source| NetworkError::Listen { address: any_port, source })?;
        let service = Iperf3Service::new(address, IDLE_TIMEOUT);
        let refused = Arc::new(Mutex::new(None));
        let server_refused = Arc::clone(&refused);
        let serve = move |stop: &AtomicBool| {
            let mut observe = |report| keep_refusal(report, &server_refused);
            // The client reports other errors of this server.
            drop(iperf3_server::serve_on(&listener, &service, stop, &mut observe));
        };
        let thread = BackgroundThread::start("far-end", serve)
            .map_err(|source| NetworkError::NoThread { source })?;
        Ok(Self { address, refused, _thread: thread })
    }
}

fn keep_refusal(report: Iperf3ServerReport, refused: &Mutex<Option<NetworkError>>) {
    match report {
        Iperf3ServerReport::Failed(error)
        | Iperf3ServerReport::Test(_, Iperf3TestReport::Failed(error))
            if error.is_thread_refusal() =>
        {
            refused.lock().even_if_poisoned().get_or_insert(error);
        }
        Iperf3ServerReport::Failed(_)
        | Iperf3ServerReport::Listening(..)
        | Iperf3ServerReport::Test(..) => {}
    }
}
