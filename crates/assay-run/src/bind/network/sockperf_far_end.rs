//! Server of sockperf in this process, for its client over loopback.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use assay_dialects::wire::sockperf::MAX_DATAGRAM_BYTES;
use assay_kernels::network::socket::SocketOptions;

use crate::background_thread::BackgroundThread;
use crate::network::error::NetworkError;
use crate::network::sockperf_server::{self, SockperfServerEvent, SockperfService};

/// Server that ends when this is dropped.
pub(super) struct SockperfFarEnd {
    pub(super) address: SocketAddr,
    _thread: BackgroundThread,
}

impl SockperfFarEnd {
    /// Starts a server on a free port of loopback, and waits until its port is open.
    pub(super) fn start(is_tcp: bool) -> Result<Self, NetworkError> {
        let address = find_free_address(is_tcp)?;
        let service = SockperfService {
            listen: address,
            is_tcp,
            max_message_bytes: MAX_DATAGRAM_BYTES,
            replies: true,
            detects_gaps: false,
            shares_port: false,
            socket: SocketOptions { no_delay: is_tcp, ..SocketOptions::default() },
        };
        let (opened, is_open) = mpsc::channel();
        let serve = move |stop: &AtomicBool| {
            let observe = |event: SockperfServerEvent<'_>| {
                if matches!(event, SockperfServerEvent::Listening) {
                    // The receiver of the message is gone after the first.
                    drop(opened.send(Ok(())));
                }
            };
            if let Err(error) = sockperf_server::serve(&service, stop, &observe) {
                drop(opened.send(Err(error)));
            }
        };
        let thread = BackgroundThread::start("far-end", serve)
            .map_err(|source| NetworkError::NoThread { source })?;
        is_open.recv().unwrap_or(Err(NetworkError::Interrupted))?;
        Ok(Self { address, _thread: thread })
    }
}

fn find_free_address(is_tcp: bool) -> Result<SocketAddr, NetworkError> {
    let any = SocketAddr::new(IpAddr::from(Ipv4Addr::LOCALHOST), 0);
    let found = match is_tcp {
        true => TcpListener::bind(any).and_then(|it| it.local_addr()),
        false => UdpSocket::bind(any).and_then(|it| it.local_addr()),
    };
    found.map_err(|source| NetworkError::Listen { address: any, source })
}
