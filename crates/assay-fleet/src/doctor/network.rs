//! Checks of what moves results over a network, as far as one host shows it without asking another.

use assay_model::finding::Severity;

use super::check::{Check, Scene, Seen, Unseen};
use crate::network_device;

/// What buffers a 25 Gbit/s link needs at a round trip of 5 ms: 16 MiB, tuned's network-throughput.
const BUFFER_BYTES: u64 = 16 << 20;
/// The largest packet of plain Ethernet.
const ETHERNET_MTU_BYTES: u64 = 1500;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "network.congestion-control",
        expected: "recorded: it is compared with what is expected of the path",
        why: "the same path gives half or double by congestion control alone",
        source: "kernel documentation: networking/ip-sysctl.rst (tcp_congestion_control)",
        severity: Severity::Note,
        change: "sysctl net.ipv4.tcp_congestion_control=cubic, or --congestion for one measurement",
        look: congestion,
    },
    Check {
        id: "network.receive-buffer",
        expected: "16 MiB or more, and no less than link speed × round trip",
        why: "a stream moves at most its window per round trip",
        source: "tuned: network-throughput (tcp_rmem)",
        severity: Severity::Skews,
        change: "sysctl net.ipv4.tcp_rmem='4096 131072 16777216'",
        look: |scene| buffer(scene, "proc/sys/net/ipv4/tcp_rmem"),
    },
    Check {
        id: "network.send-buffer",
        expected: "16 MiB or more, and no less than link speed × round trip",
        why: "a stream has at most its send buffer under way per round trip",
        source: "tuned: network-throughput (tcp_wmem)",
        severity: Severity::Skews,
        change: "sysctl net.ipv4.tcp_wmem='4096 65536 16777216'",
        look: |scene| buffer(scene, "proc/sys/net/ipv4/tcp_wmem"),
    },
    Check {
        id: "network.slow-start-after-idle",
        expected: "0",
        why: "a connection that paused starts slowly again, and the next repetition with it",
        source: "kernel documentation: networking/ip-sysctl.rst (tcp_slow_start_after_idle)",
        severity: Severity::Note,
        change: "sysctl net.ipv4.tcp_slow_start_after_idle=0",
        look: |scene| {
            let value = scene.number("proc/sys/net/ipv4/tcp_slow_start_after_idle")?;
            Ok(Seen::judged(value == 0, value.to_string()))
        },
    },
    Check {
        id: "network.mtu",
        expected: "1500 or more on every device, the same at both ends",
        why: "heads take a larger share of smaller packets, and every packet costs CPU time",
        source: "RFC 894; Azure: TCP/IP performance tuning",
        severity: Severity::Note,
        change: "ip link set DEVICE mtu 9000, where every hop of the path carries it",
        look: mtu,
    },
    Check {
        id: "network.link-speed",
        expected: "told by every device",
        why: "goodput can be held against it",
        source: "kernel documentation: ABI/testing/sysfs-class-net (speed)",
        severity: Severity::Note,
        change: "none: virtual devices often do not tell",
        look: speed,
    },
    Check {
        id: "network.accelerated",
        expected: "a virtual function under every synthetic device (hv_netvsc)",
        why: "without it every packet goes through the host's virtual switch: more CPU time, higher latency",
        source: "Azure: Accelerated Networking overview",
        severity: Severity::Skews,
        change: "enable accelerated networking for the virtual machine's interface",
        look: accelerated,
    },
    Check {
        id: "network.receive-queues",
        expected: "several receive queues, or packets spread over CPUs by the kernel (RPS)",
        why: "one queue means one CPU that takes every packet in, and soon it is the limit",
        source: "kernel documentation: networking/scaling.rst",
        severity: Severity::Note,
        change: "ethtool -L DEVICE combined N, or a mask in /sys/class/net/DEVICE/queues/rx-*/rps_cpus",
        look: receive_queues,
    },
    Check {
        id: "network.interrupts",
        expected: "interrupts of one device on different CPUs",
        why: "queues whose interrupts meet on one CPU share what that CPU can do",
        source: "kernel documentation: networking/scaling.rst",
        severity: Severity::Note,
        change: "start irqbalance, or write a CPU to /proc/irq/N/smp_affinity_list for each queue",
        look: interrupts,
    },
    Check {
        id: "network.ping",
        expected: "a range that holds this group",
        why: "ping needs a raw socket, and with it a privilege, where the range is empty",
        source: "man 7 icmp (ping_group_range)",
        severity: Severity::Note,
        change: "sysctl net.ipv4.ping_group_range='0 2147483647'",
        look: ping,
    },
];

fn congestion(scene: &Scene) -> Result<Seen, Unseen> {
    scene.text("proc/sys/net/ipv4/tcp_congestion_control").map(Seen::ok)
}

/// The last of three numbers is the limit of automatic growth.
fn buffer(scene: &Scene, path: &str) -> Result<Seen, Unseen> {
    let text = scene.text(path)?;
    let most = text.split_ascii_whitespace().last().and_then(|word| word.parse::<u64>().ok());
    let most = most.ok_or_else(|| Unseen::Unreadable(format!("/{path} holds {text:?}")))?;
    Ok(Seen::judged(most >= BUFFER_BYTES, format!("at most {}", super::check::size(most))))
}

/// One device after another, or that there is none.
fn of_devices(
    scene: &Scene,
    tell: impl Fn(&network_device::NetworkDevice) -> Option<(bool, String)>,
) -> Result<Seen, Unseen> {
    let names = network_device::names(scene.root);
    let devices: Vec<_> =
        names.iter().map(|name| network_device::read(scene.root, name)).collect();
    let told: Vec<(bool, String)> = devices
        .iter()
        .filter_map(|device| {
            tell(device).map(|(ok, text)| (ok, format!("{} {text}", device.name)))
        })
        .collect();
    if told.is_empty() {
        return Err(Unseen::hidden("this about a network device"));
    }
    let texts: Vec<&str> = told.iter().map(|(_, text)| text.as_str()).collect();
    Ok(Seen::judged(told.iter().all(|(ok, _)| *ok), texts.join(", ")))
}

fn mtu(scene: &Scene) -> Result<Seen, Unseen> {
    of_devices(scene, |device| {
        let mtu = device.mtu_bytes?;
        Some((mtu >= ETHERNET_MTU_BYTES, format!("{mtu} B")))
    })
}

fn speed(scene: &Scene) -> Result<Seen, Unseen> {
    of_devices(scene, |device| {
        let gigabits = device.link_bit_per_s? as f64 / 1e9;
        Some((true, format!("{gigabits} Gbit/s")))
    })
}

/// The virtual function names the synthetic device as its master (`lower_*` links).
fn accelerated(scene: &Scene) -> Result<Seen, Unseen> {
    of_devices(scene, |device| {
        (device.kernel_module.as_deref() == Some(network_device::SYNTHETIC)).then(|| {
            match network_device::virtual_function(scene.root, &device.name) {
                Some(function) => (true, format!("over virtual function {function}")),
                None => (false, "without a virtual function".to_owned()),
            }
        })
    })
}

/// Devices with something behind them; bridges and the like have no queues of their own.
fn is_real(scene: &Scene, name: &str) -> bool {
    !scene.root.names(&format!("sys/class/net/{name}/device")).is_empty()
}

fn receive_queues(scene: &Scene) -> Result<Seen, Unseen> {
    let cpus = scene.facts.topology.cpu_ids().len();
    of_devices(scene, |device| {
        let folder = format!("sys/class/net/{}/queues", device.name);
        let queues = scene.root.names(&folder);
        let queues: Vec<&String> = queues.iter().filter(|it| it.starts_with("rx-")).collect();
        if queues.is_empty() || !is_real(scene, &device.name) {
            return None;
        }
        let is_spread = |queue: &&&String| {
            let mask =
                scene.root.text(&format!("{folder}/{queue}/rps_cpus")).unwrap_or_default();
            mask.chars().any(|digit| digit.is_ascii_hexdigit() && digit != '0')
        };
        let spread = queues.iter().filter(is_spread).count();
        let noun = if queues.len() == 1 { "queue" } else { "queues" };
        let ok = queues.len() > 1 || spread > 0 || cpus <= 1;
        Some((ok, format!("{} {noun}, {spread} spread by RPS", queues.len())))
    })
}

/// Where the interrupts of each device's queues go; those of a device with a single one are not judged.
fn interrupts(scene: &Scene) -> Result<Seen, Unseen> {
    let cpus = scene.facts.topology.cpu_ids().len();
    of_devices(scene, |device| {
        let folders = ["device/msi_irqs", "device/../msi_irqs"];
        let numbers = folders.iter().find_map(|folder| {
            let names = scene.root.names(&format!("sys/class/net/{}/{folder}", device.name));
            (!names.is_empty()).then_some(names)
        })?;
        let place = |number: &String| {
            scene.root.text(&format!("proc/irq/{number}/effective_affinity_list"))
        };
        let mut places: Vec<String> = numbers.iter().filter_map(place).collect();
        let count = places.len();
        places.sort();
        places.dedup();
        if places.is_empty() {
            return None;
        }
        let ok = count <= 2 || places.len() > 1 || cpus <= 1;
        Some((ok, format!("{count} interrupts on CPUs {}", places.join(" "))))
    })
}

fn ping(scene: &Scene) -> Result<Seen, Unseen> {
    let text = scene.text("proc/sys/net/ipv4/ping_group_range")?;
    let mut numbers = text.split_ascii_whitespace().filter_map(|word| word.parse::<u64>().ok());
    let range = numbers.next().zip(numbers.next());
    let Some((from, to)) = range else {
        return Err(Unseen::Unreadable(format!("ping_group_range holds {text:?}")));
    };
    let shown = format!("{from} to {to}");
    Ok(Seen::judged(from <= to, if from <= to { shown } else { format!("{shown}: nobody") }))
}
