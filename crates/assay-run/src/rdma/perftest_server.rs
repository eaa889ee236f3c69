//! Server of perftest, which the far end starts for the leading end's client.
//!
//! The far end starts only one of perftest's seven programs, with nothing but numbers as arguments.

use std::net::{Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use assay_adapters::tool::perftest_arguments;
use assay_fleet::process::{self, ChildCommand, CompletedChild, ProcessError};
use assay_fleet::root::Root;
use assay_kernels::rdma::{RdmaError, has_devices};
use assay_model::workload::{RdmaDevice, RdmaWorkload};

use super::served_test::{RdmaServerReport, check_version, resolve_own_device};
use super::wire::{MessageChannel, PerftestRequest, RdmaMessage};
use super::{MAX_BYTES, RdmaLoad, RdmaTestError, SIZE_TIMEOUT, open_endpoint};
use crate::network::error::NetworkError;

/// Time limit for a perftest program to listen, and to end after its client.
const START_TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

const RUN_BY_HAND_ADVICE: &str =
    "run it by hand with the same device, port and GID (-d, -i, -x)";

const INSTALL_ADVICE: &str = "install perftest at both ends (Debian: `apt install perftest`)";

/// Serves a perftest request: starts the server, reports its port, and ends it.
pub(super) fn serve(
    line: &mut MessageChannel,
    asked: &PerftestRequest,
    (device, program): (&RdmaDevice, Option<&Path>),
    cancel: &AtomicBool,
) -> Result<RdmaServerReport, RdmaTestError> {
    check_version(line, &asked.assay)?;
    if !has_devices() {
        return Err(RdmaError::NoDevice.into());
    }
    if !(1..=MAX_BYTES).contains(&asked.bytes) {
        let said = format!("it requests messages of {} B", asked.bytes);
        return Err(RdmaTestError::ProtocolMismatch { peer: line.peer().to_owned(), said });
    }
    let name = format!("ib_{}", asked.test.name());
    let load = RdmaLoad {
        test: asked.test,
        connection: asked.connection,
        depth: asked.depth,
        queue_pairs: asked.queue_pairs,
        bidirectional: asked.both,
        moderation: None,
        warms_up: false,
    };
    let device = &with_path_settings(&resolve_own_device(line, device, &asked.device), &load)?;
    let found = program.map(Path::to_owned).or_else(|| process::find_executable(&name));
    let missing = || RdmaTestError::Perftest {
        reason: format!("{name} is not installed"),
        advice: INSTALL_ADVICE,
    };
    let port = free_port()?;
    let server = PerftestServer::start(found.ok_or_else(missing)?, asked, device, port)?;
    let server = server.wait_until_listening(port, cancel)?;
    line.send(&RdmaMessage::Listening { port })?;
    match line.receive("the end of perftest", SIZE_TIMEOUT, cancel)? {
        RdmaMessage::Done => {}
        other => return Err(line.unexpected_message(other)),
    }
    server.wait_for_end();
    let device = device.name.clone().unwrap_or_else(|| "the first device".to_owned());
    Ok(RdmaServerReport { peer: line.peer().to_owned(), device, sizes: 1 })
}

/// Sets the GID and path MTU that assay would use: perftest would choose others, and measure
/// another path. perftest uses the smaller path MTU of both ends, as assay does.
pub(super) fn with_path_settings(
    device: &RdmaDevice,
    load: &RdmaLoad,
) -> Result<RdmaDevice, RdmaTestError> {
    // Opens an endpoint that sends nothing, to read the device's values.
    let idle = RdmaLoad { queue_pairs: 1, depth: 1, ..*load };
    let end = open_endpoint(device, &idle, 1)?;
    let (gid_index, mtu_bytes) = (end.gid_index, Some(end.info.mtu));
    Ok(RdmaDevice { gid_index, mtu_bytes, ..device.clone() })
}

/// Running perftest server; ended when dropped.
struct PerftestServer {
    stop: Arc<AtomicBool>,
    running: Option<JoinHandle<Result<CompletedChild, ProcessError>>>,
}

impl PerftestServer {
    fn start(
        program: PathBuf,
        asked: &PerftestRequest,
        device: &RdmaDevice,
        port: u16,
    ) -> Result<Self, RdmaTestError> {
        let work = RdmaWorkload {
            test: asked.test,
            to: None,
            port: Some(port),
            sizes: vec![asked.bytes],
            iterations: asked.iterations,
            depth: asked.depth,
            connection: asked.connection,
            queue_pairs: asked.queue_pairs,
            both: asked.both,
            moderation: None,
            warms_up: false,
            duration: None,
            device: device.clone(),
        };
        let mut command = ChildCommand::new(program);
        command.arguments =
            perftest_arguments(&work, asked.bytes).into_iter().map(Into::into).collect();
        command.environment = vec![("LC_ALL".into(), Some("C".into()))];
        command.deadline = Some(SIZE_TIMEOUT);
        let stop = Arc::new(AtomicBool::new(false));
        let reported = Arc::clone(&stop);
        let running = thread::Builder::new()
            .name("perftest".to_owned())
            .spawn(move || process::run(&command, &reported))
            .map_err(|error| RdmaTestError::Perftest {
                reason: error.to_string(),
                advice: "free memory or processes",
            })?;
        Ok(Self { stop, running: Some(running) })
    }

    /// Waits until the server listens. A probing connection is not possible: perftest takes the
    /// first peer for its client.
    fn wait_until_listening(
        mut self,
        port: u16,
        cancel: &AtomicBool,
    ) -> Result<Self, RdmaTestError> {
        let since = Instant::now();
        loop {
            if is_listening(&Root::machine(), port) {
                return Ok(self);
            }
            if self.running.as_ref().is_none_or(JoinHandle::is_finished) {
                return Err(self.early_end_error());
            }
            if cancel.load(Ordering::Relaxed) {
                return Err(NetworkError::Interrupted.into());
            }
            if since.elapsed() > START_TIMEOUT {
                let reason = format!("it did not listen within {} s", START_TIMEOUT.as_secs());
                return Err(RdmaTestError::Perftest { reason, advice: RUN_BY_HAND_ADVICE });
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn early_end_error(&mut self) -> RdmaTestError {
        let ended = self.running.take().and_then(|running| running.join().ok());
        let reason = match ended {
            Some(Ok(completed)) => {
                let all = [completed.output.stderr, completed.output.stdout].concat();
                let text = String::from_utf8_lossy(&all).into_owned();
                let says = |line: &&str| line.contains(char::is_alphanumeric);
                let line = text.lines().find(says).unwrap_or("nothing").trim().to_owned();
                format!("it ended before it listened and printed: {line}")
            }
            Some(Err(error)) => error.to_string(),
            None => "it could not be started".to_owned(),
        };
        RdmaTestError::Perftest { reason, advice: RUN_BY_HAND_ADVICE }
    }

    /// Waits for the server to end by itself soon after its client; dropping stops it otherwise.
    fn wait_for_end(self) {
        let since = Instant::now();
        while self.running.as_ref().is_some_and(|it| !it.is_finished())
            && since.elapsed() < START_TIMEOUT
        {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for PerftestServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(running) = self.running.take() {
            // Its output is no longer needed.
            let _ = running.join();
        }
    }
}

/// Returns a TCP port that is free at the moment.
fn free_port() -> Result<u16, RdmaTestError> {
    let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
    let bound = TcpListener::bind(any).or_else(|_| TcpListener::bind("0.0.0.0:0"));
    bound.and_then(|listener| listener.local_addr()).map(|address| address.port()).map_err(
        |error| RdmaTestError::Perftest {
            reason: format!("there is no free TCP port: {error}"),
            advice: "close connections",
        },
    )
}

/// Whether a socket listens on a TCP port, from the kernel's table (`proc(5)`, `/proc/net/tcp`).
fn is_listening(root: &Root, port: u16) -> bool {
    /// State of a listening socket.
    const LISTENING: &str = "0A";
    let own = format!(":{port:04X}");
    let is_it = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let local = words.next().unwrap_or_default();
        local.ends_with(&own) && words.nth(1) == Some(LISTENING)
    };
    ["proc/net/tcp", "proc/net/tcp6"]
        .into_iter()
        .any(|file| root.text(file).is_some_and(|text| text.lines().any(is_it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_listening_port_without_connecting() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let root = Root::machine();
        assert!(is_listening(&root, port));
        drop(listener);
        assert!(!is_listening(&root, port));
    }
}
