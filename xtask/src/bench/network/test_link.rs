//! Network path of the traffic: loopback, or a veth pair between two network namespaces.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::command;

/// Addresses of the veth pair's ends, from the range for benchmarks (RFC 2544).
const NEAR: &str = "198.18.78.1";
const FAR: &str = "198.18.78.2";

/// Path between client and server.
pub(super) struct TestLink {
    pub(super) name: &'static str,
    /// Address of the server.
    pub(super) address: &'static str,
    /// Namespaces of the client and of the server.
    namespaces: Option<[String; 2]>,
}

impl TestLink {
    pub(super) const fn loopback() -> Self {
        Self { name: "loopback", address: "127.0.0.1", namespaces: None }
    }

    /// Creates two namespaces with a veth pair between them.
    pub(super) fn veth(root: &Path) -> Result<Self> {
        let id = std::process::id();
        let [near, far] = ["n", "f"].map(|end| format!("assay-bench-{id}-{end}"));
        let link =
            Self { name: "veth", address: FAR, namespaces: Some([near.clone(), far.clone()]) };
        let pair = format!("-n {near} link add veth0 type veth peer name veth0 netns {far}");
        let mut commands = vec![format!("netns add {near}"), format!("netns add {far}"), pair];
        for (name, address) in [(&near, NEAR), (&far, FAR)] {
            commands.push(format!("-n {name} addr add {address}/24 dev veth0"));
            commands.push(format!("-n {name} link set lo up"));
            commands.push(format!("-n {name} link set veth0 up"));
        }
        for words in commands {
            command::output(command::at_root(root, "ip").args(words.split(' ')))?;
        }
        Ok(link)
    }

    /// Returns the command of a program at the client's or the server's end.
    pub(super) fn command(&self, is_server: bool, program: &str) -> Command {
        match &self.namespaces {
            None => Command::new(program),
            Some(names) => {
                let mut command = Command::new("ip");
                let name = &names[usize::from(is_server)];
                command.args(["netns", "exec", name, program]);
                command
            }
        }
    }
}

impl Drop for TestLink {
    fn drop(&mut self) {
        for name in self.namespaces.iter().flatten() {
            // The devices are deleted with their namespaces.
            drop(Command::new("ip").args(["netns", "del", name]).status());
        }
    }
}
