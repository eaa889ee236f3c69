//! perftest as the measurer: its server, which the far end starts, and the parameters of the
//! client.
//!
//! The far end starts only one of perftest's seven programs, with nothing but numbers as arguments.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use assay_adapters::tool::perftest_arguments;
use assay_fleet::process::{self, Command, Completed, ProcessError};
use assay_fleet::root::Root;
use assay_kernels::rdma::{RdmaError, has_devices};
use assay_model::workload::{RdmaDevice, RdmaWorkload};

use super::far_end::{Loopback, Served, same_version, taken};
use super::wire::{Line, Message, Perftest};
use super::{
    A_SIZE, Load, MOST_BYTES, PATIENCE, PORT, Partner, TestError, chosen, open, reach,
};
use crate::network::error::NetworkError;

/// Time limit for a perftest program to listen, and to end after its client.
const A_MOMENT: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(20);
const BY_HAND: &str = "run it by hand with the same device, port and GID (-d, -i, -x)";
const PACKAGE: &str = "install perftest at both ends (Debian: `apt install perftest`)";

/// Other host of a pair, with its address for perftest's TCP connection.
pub(crate) type OfPair = (Partner, IpAddr);

/// Far end with perftest's server, for one run of its client.
pub(crate) struct Peer {
    line: Line,
    _loopback: Option<Loopback>,
    /// Workload of the client: the requested one, with the server's host and port.
    pub(crate) work: RdmaWorkload,
}

impl Peer {
    /// Makes the far end start its server for messages of this size. `program` is the client's; it
    /// is also the server's if both ends are this machine.
    pub(crate) fn start(
        (work, bytes): (&RdmaWorkload, u64),
        pair: Option<OfPair>,
        program: &Path,
        cancel: &AtomicBool,
    ) -> Result<Self, TestError> {
        if !has_devices() {
            return Err(RdmaError::NoDevice.into());
        }
        let device = settled(&chosen(&work.device), &Load::of(work))?;
        let far = pair.as_ref().map(|(partner, _)| partner.device.clone()).unwrap_or_default();
        let (mut line, host, loopback) = match (pair, &work.to) {
            (Some((partner, address)), _) => {
                (Line::between_agents(partner.call), address.to_string(), None)
            }
            (None, Some(host)) => {
                (reach(host, work.port.unwrap_or(PORT), cancel)?, host.clone(), None)
            }
            (None, None) => {
                let (own, line) = Loopback::start(&work.device, Some(program.to_owned()));
                (line, "127.0.0.1".to_owned(), Some(own))
            }
        };
        line.say(&Message::Perftest(Box::new(Perftest {
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
        let port = match line.hear("the start of perftest", PATIENCE, cancel)? {
            Message::Listening { port } => port,
            other => return Err(line.unexpected(other)),
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
        let _ = self.line.say(&Message::Done);
    }
}

/// Serves a perftest request: starts the server, reports its port, and ends it.
pub(super) fn serve(
    line: &mut Line,
    asked: &Perftest,
    (device, program): (&RdmaDevice, Option<&Path>),
    cancel: &AtomicBool,
) -> Result<Served, TestError> {
    same_version(line, &asked.assay)?;
    if !has_devices() {
        return Err(RdmaError::NoDevice.into());
    }
    if !(1..=MOST_BYTES).contains(&asked.bytes) {
        let said = format!("it asks for messages of {} B", asked.bytes);
        return Err(TestError::Stranger { peer: line.peer().to_owned(), said });
    }
    let name = format!("ib_{}", asked.test.name());
    let load = Load {
        test: asked.test,
        connection: asked.connection,
        depth: asked.depth,
        queue_pairs: asked.queue_pairs,
        both: asked.both,
        moderation: None,
        warms_up: false,
    };
    let device = &settled(&taken(line, device, &asked.device), &load)?;
    let found = program.map(Path::to_owned).or_else(|| process::find_executable(&name));
    let missing =
        || TestError::Perftest { reason: format!("{name} is not installed"), advice: PACKAGE };
    let port = free_port()?;
    let server = Server::start(found.ok_or_else(missing)?, asked, device, port)?;
    let server = server.listening(port, cancel)?;
    line.say(&Message::Listening { port })?;
    match line.hear("the end of perftest", A_SIZE, cancel)? {
        Message::Done => {}
        other => return Err(line.unexpected(other)),
    }
    server.end();
    let device = device.name.clone().unwrap_or_else(|| "the first device".to_owned());
    Ok(Served { peer: line.peer().to_owned(), device, sizes: 1 })
}

/// Sets the GID and path MTU that assay would use: perftest would choose others, and measure
/// another path. perftest uses the smaller path MTU of both ends, as assay does.
fn settled(device: &RdmaDevice, load: &Load) -> Result<RdmaDevice, TestError> {
    // Opens an endpoint that sends nothing, to read the device's values.
    let idle = Load { queue_pairs: 1, depth: 1, ..*load };
    let end = open(device, &idle, 1)?;
    let (gid_index, mtu_bytes) = (end.gid_index, Some(end.info.mtu));
    Ok(RdmaDevice { gid_index, mtu_bytes, ..device.clone() })
}

/// Running perftest server; ended when dropped.
struct Server {
    stop: Arc<AtomicBool>,
    running: Option<JoinHandle<Result<Completed, ProcessError>>>,
}

impl Server {
    fn start(
        program: PathBuf,
        asked: &Perftest,
        device: &RdmaDevice,
        port: u16,
    ) -> Result<Self, TestError> {
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
        let mut command = Command::new(program);
        command.arguments =
            perftest_arguments(&work, asked.bytes).into_iter().map(Into::into).collect();
        command.environment = vec![("LC_ALL".into(), Some("C".into()))];
        command.deadline = Some(A_SIZE);
        let stop = Arc::new(AtomicBool::new(false));
        let reported = Arc::clone(&stop);
        let running = thread::Builder::new()
            .name("perftest".to_owned())
            .spawn(move || process::run(&command, &reported))
            .map_err(|error| TestError::Perftest {
                reason: error.to_string(),
                advice: "free memory or processes",
            })?;
        Ok(Self { stop, running: Some(running) })
    }

    /// Waits until the server listens. A probing connection is not possible: perftest takes the
    /// first peer for its client.
    fn listening(mut self, port: u16, cancel: &AtomicBool) -> Result<Self, TestError> {
        let since = Instant::now();
        loop {
            if listens(&Root::machine(), port) {
                return Ok(self);
            }
            if self.running.as_ref().is_none_or(JoinHandle::is_finished) {
                return Err(self.ended_early());
            }
            if cancel.load(Ordering::Relaxed) {
                return Err(NetworkError::Interrupted.into());
            }
            if since.elapsed() > A_MOMENT {
                let reason = format!("it did not listen within {} s", A_MOMENT.as_secs());
                return Err(TestError::Perftest { reason, advice: BY_HAND });
            }
            thread::sleep(LOOK);
        }
    }

    fn ended_early(&mut self) -> TestError {
        let ended = self.running.take().and_then(|running| running.join().ok());
        let reason = match ended {
            Some(Ok(completed)) => {
                let all = [completed.output.stderr, completed.output.stdout].concat();
                let text = String::from_utf8_lossy(&all).into_owned();
                let says = |line: &&str| line.contains(char::is_alphanumeric);
                let line = text.lines().find(says).unwrap_or("nothing").trim().to_owned();
                format!("it ended before it listened and said: {line}")
            }
            Some(Err(error)) => error.to_string(),
            None => "it could not be started".to_owned(),
        };
        TestError::Perftest { reason, advice: BY_HAND }
    }

    /// Waits for the server to end by itself soon after its client; dropping stops it otherwise.
    fn end(self) {
        let since = Instant::now();
        while self.running.as_ref().is_some_and(|it| !it.is_finished())
            && since.elapsed() < A_MOMENT
        {
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(running) = self.running.take() {
            // Its output is no longer needed.
            let _ = running.join();
        }
    }
}

/// Returns a TCP port that is free at the moment.
fn free_port() -> Result<u16, TestError> {
    let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
    let bound = TcpListener::bind(any).or_else(|_| TcpListener::bind("0.0.0.0:0"));
    bound.and_then(|listener| listener.local_addr()).map(|address| address.port()).map_err(
        |error| TestError::Perftest {
            reason: format!("there is no free TCP port: {error}"),
            advice: "close connections",
        },
    )
}

/// Whether a socket listens on a TCP port, from the kernel's table (`proc(5)`, `/proc/net/tcp`).
fn listens(root: &Root, port: u16) -> bool {
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
    fn whoever_listens_is_found_without_asking_him() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let root = Root::machine();
        assert!(listens(&root, port));
        drop(listener);
        assert!(!listens(&root, port));
    }
}
