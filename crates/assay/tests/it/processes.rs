//! Processes beside a test: signals to them, and waits until something holds. No wait has a fixed length
//! where its end can be observed.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum time of a wait, on a machine with other load, too.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(120);

/// Limit of waits for an end: of agents, of files, of a server that was stopped.
pub(crate) const END_LIMIT: Duration = Duration::from_secs(30);

/// Process that ends with the test.
pub(crate) struct Background(pub(crate) Child);

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Background {
    /// Starts a process whose output nobody reads.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

/// Whether the condition holds within the limit.
pub(crate) fn is_reached_within(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Waits until the condition holds.
#[track_caller]
pub(crate) fn wait_until(condition: &str, holds: impl FnMut() -> bool) {
    wait_until_within(MAX_WAIT, condition, holds);
}

/// Waits until the condition holds, where the limit is part of the claim.
#[track_caller]
pub(crate) fn wait_until_within(limit: Duration, condition: &str, holds: impl FnMut() -> bool) {
    let limit_s = limit.as_secs();
    assert!(is_reached_within(limit, holds), "not within {limit_s} s: {condition}");
}

/// Waits until the processes of a network namespace listen on a port. `process` is one of them: an
/// identifier or `self`. Reading their socket table does not disturb a server, as connecting would.
#[track_caller]
pub(crate) fn wait_until_listening(process: &str, port: u16) {
    wait_until(&format!("a server on port {port}"), || sockets(process, port, "0A") > 0);
}

/// Waits until the sockets of this machine have `count` ends of connections at a port, those of the
/// control connection included. On loopback, a connection has two.
#[track_caller]
pub(crate) fn wait_for_connections(port: u16, count: usize) {
    wait_until(&format!("{count} connections of port {port}"), || {
        sockets("self", port, "01") >= count
    });
}

/// Number of TCP sockets in a state that have the port at either end.
fn sockets(process: &str, port: u16, state: &str) -> usize {
    let (port, state) = (format!(":{port:04X} "), format!(" {state} "));
    let is_one = |line: &&str| line.contains(&port) && line.contains(&state);
    let tables = ["tcp", "tcp6"].map(|name| {
        std::fs::read_to_string(format!("/proc/{process}/net/{name}")).unwrap_or_default()
    });
    tables.iter().map(|table| table.lines().filter(is_one).count()).sum()
}

#[track_caller]
pub(crate) fn send_signal(process: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(sent.unwrap().success(), "{name}");
}
