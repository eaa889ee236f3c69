//! Network tests: every mode in all four pairings with the real tools, paths in namespaces, and
//! peers that violate the protocol.
//!
//! All traffic stays on loopback or in namespaces made here, and every server ends by itself.

mod attacks;
mod concurrent_clients;
mod connections;
mod doctor;
mod ethtool;
mod interoperation;
mod iperf3_documents;
mod iperf3_options;
pub(crate) mod link;
mod login;
mod lying_servers;
mod ntttcp;
mod ntttcp_ends;
mod path;
mod peers;
mod servers;
mod sockperf;
mod stored_runs;
mod tools;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use crate::processes::wait_until_listening;
use crate::program::World;

/// Returns a port that was free a moment ago, and that no other test has been given.
pub(crate) fn free_port() -> u16 {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut given = GIVEN.lock().unwrap();
    std::iter::repeat_with(free).find(|port| given.insert(*port)).expect("ports are left")
}

/// Server that is killed when the test ends.
pub(crate) struct ServerProcess(Child);

impl ServerProcess {
    /// Starts the server and waits until it listens on `port` on loopback.
    pub(crate) fn start(mut command: Command, port: u16) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let serving = Self(child.spawn().unwrap());
        wait_until_listening("self", port);
        serving
    }

    /// Starts assay's own server of both protocols.
    pub(crate) fn assay(world: &World, port: u16) -> Self {
        let port_text = port.to_string();
        let arguments = ["iperf3", "-s", "-p", &port_text, "--idle-timeout", "60"];
        Self::start(world.command(&arguments), port)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Returns a program of Debian's next release, if it is unpacked.
pub(crate) fn newest_program(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Some(root.join("target/newest/bin").join(name)).filter(|path| path.is_file())
}

/// Returns whether a program is installed; otherwise prints that the test is skipped.
pub(crate) fn is_installed(program: &str, test: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !there {
        eprintln!("SKIPPED {test}: {program} is not installed");
    }
    there
}
