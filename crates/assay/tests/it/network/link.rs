//! Two hosts on one machine: namespaces and a veth pair between them.

use std::process::Command;
use std::sync::{Mutex, MutexGuard};

use assay_model::poisoned_lock::PoisonedLock as _;
use serde_json::Value;

use super::is_installed;
use crate::program::World;

/// Two namespaces and the link between them; deleted on drop.
pub(crate) struct Link {
    pub(crate) near: String,
    pub(crate) far: String,
    _alone: MutexGuard<'static, ()>,
}

/// Allows one link at a time: on a busy machine a token bucket would not keep its rate.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Addresses of the near and the far end, from the range for benchmarks (RFC 2544).
pub(crate) const NEAR: &str = "198.18.77.1";
pub(crate) const FAR: &str = "198.18.77.2";

/// Program that serves and measures.
#[derive(Clone, Copy)]
pub(crate) enum LinkProgram {
    Assay,
    /// The real iperf3.
    Iperf3,
}

/// Queue long enough to keep the link busy while a loaded machine runs something else.
pub(crate) const LONG_QUEUE: &str = "burst 256kb limit 8mb";
/// The same with a bucket of 16 ms at 1 Gbit/s, for tests whose omitted time spends it: a shorter one
/// is full, and loses its rate, whenever a loaded machine runs something else.
pub(crate) const DEEP_BUCKET: &str = "burst 2mb limit 16mb";
/// Queue shorter than a socket's buffer, so that the bucket drops instead of holding the sender
/// back.
pub(crate) const SHORT_QUEUE: &str = "burst 64kb limit 64kb";

impl Link {
    /// Creates a link with a token bucket; prints the reason and returns `None` where namespaces
    /// cannot be created.
    pub(crate) fn new(test: &str, rate: &str, queue: &str) -> Option<Self> {
        let link = Self::unlimited(test)?;
        for name in [&link.near, &link.far] {
            for command in [
                // A segment of several packets would count as one against the bucket's per-packet
                // headers.
                format!("ip netns exec {name} ethtool -K veth0 tso off gso off gro off"),
                format!("tc -n {name} qdisc add dev veth0 root tbf rate {rate} {queue}"),
                format!(
                    "ip netns exec {name} sysctl -qw net.ipv4.tcp_rmem=4096\t131072\t16777216"
                ),
                format!(
                    "ip netns exec {name} sysctl -qw net.ipv4.tcp_wmem=4096\t131072\t16777216"
                ),
            ] {
                assert!(run(&command), "{command}");
            }
        }
        Some(link)
    }

    /// Creates a link without a limit, with four queues at each end; `None` as above.
    pub(crate) fn unlimited(test: &str) -> Option<Self> {
        for program in ["ip", "tc", "ethtool"] {
            if !is_installed(program, test) {
                return None;
            }
        }
        let id = std::process::id();
        let link = Self {
            near: format!("assay-{test}-{id}-n"),
            far: format!("assay-{test}-{id}-f"),
            // A failed test leaves nothing behind that affects the next.
            _alone: ONE_AT_A_TIME.lock().even_if_poisoned(),
        };
        let commands = [
            format!("ip netns add {}", link.near),
            format!("ip netns add {}", link.far),
            format!(
                "ip -n {} link add veth0 numrxqueues 4 numtxqueues 4 type veth peer name veth0 netns {}",
                link.near, link.far
            ),
        ];
        if !commands.iter().all(|command| run(command)) {
            eprintln!("SKIPPED {test}: network namespaces cannot be made here");
            return None;
        }
        for (name, address) in [(&link.near, NEAR), (&link.far, FAR)] {
            for command in [
                format!("ip -n {name} addr add {address}/24 dev veth0"),
                format!("ip -n {name} link set lo up"),
                format!("ip -n {name} link set veth0 up"),
            ] {
                assert!(run(&command), "{command}");
            }
        }
        Some(link)
    }

    /// Returns the link-local address of the far end, as soon as both ends have one.
    pub(crate) fn link_local_address(&self) -> String {
        let [_, far] = [&self.near, &self.far].map(|name| {
            for _ in 0..200 {
                let shown = ["-n", name, "-o", "-6", "addr", "show", "veth0", "-tentative"];
                let output = Command::new("ip").args(shown).output().unwrap();
                let said = String::from_utf8(output.stdout).unwrap();
                let address = said.split_whitespace().find(|it| it.starts_with("fe80"));
                if let Some((address, _)) = address.and_then(|it| it.split_once('/')) {
                    return address.to_owned();
                }
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            panic!("veth0 of {name} has no address of its link after 10 s")
        });
        far
    }

    /// Returns the program's command in a namespace, at the highest priority.
    pub(crate) fn command_within(
        &self,
        far: bool,
        world: &World,
        arguments: &[&str],
    ) -> Command {
        self.prioritised_command(far, &world.command(arguments))
    }

    /// Returns the program's command at the near end, where `veth0` appears as a device of 10
    /// Gbit/s. `ip netns exec` gives it its own view of the file systems.
    pub(crate) fn command_on_10g_device(&self, world: &World, arguments: &[&str]) -> Command {
        let shown = "mount -t tmpfs devices /sys/class/net && mkdir -p /sys/class/net/veth0/device \
                     && echo 10000 > /sys/class/net/veth0/speed && exec \"$0\" \"$@\"";
        let inner = world.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", shown]).arg(inner.get_program()).args(inner.get_args());
        shell.envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
        self.prioritised_command(false, &shell)
    }

    /// Returns a command in a namespace, at the highest priority.
    pub(crate) fn prioritised_command(&self, far: bool, inner: &Command) -> Command {
        let mut command = Command::new("ip");
        let name = if far { &self.far } else { &self.near };
        command.args(["netns", "exec", name, "nice", "-n", "-20"]).arg(inner.get_program());
        command
            .args(inner.get_args())
            .envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
        command
    }

    /// Runs one test between the ends with the same program at both; returns `end` of its document.
    pub(crate) fn iperf3(&self, world: &World, who: LinkProgram, mode: &str) -> Value {
        let server = ["-s", "-B", FAR, "-1", "-i", "0"];
        let mut client = vec!["-c", FAR, "-J", "-i", "0"];
        client.extend(mode.split(' '));
        let [mut serving, mut asking] =
            [(true, &server[..]), (false, &client)].map(|(far, arguments)| {
                let mut inner = match who {
                    LinkProgram::Assay => world.command(&["iperf3"]),
                    LinkProgram::Iperf3 => Command::new("iperf3"),
                };
                self.prioritised_command(far, inner.args(arguments))
            });
        let mut serving = serving.stdout(std::process::Stdio::null()).spawn().unwrap();
        let mut last = String::new();
        // The server needs a moment to listen; until then the connection is refused.
        for _ in 0..100 {
            let output = asking.output().unwrap();
            last = String::from_utf8(output.stdout).unwrap();
            // iperf3 reports a failure only in its document.
            let document: Option<Value> = serde_json::from_str(&last).ok();
            let done = document.filter(|it| output.status.success() && it["error"].is_null());
            if let Some(document) = done {
                serving.wait().unwrap();
                return document["end"].clone();
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        drop(serving.kill());
        drop(serving.wait());
        panic!("{mode}: {last}");
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        for name in [&self.near, &self.far] {
            run(&format!("ip netns del {name}"));
        }
    }
}

pub(crate) fn run(command: &str) -> bool {
    let mut words = command.split(' ');
    let program = words.next().unwrap();
    Command::new(program).args(words).output().is_ok_and(|output| output.status.success())
}
