//! Checks of network devices: speed, driver, offloads, queues and interrupts.
//!
//! For a path to another host, only its first device and the virtual function below are checked.

use assay_model::finding::FindingSeverity;
use assay_model::network_setup::{
    Coalescing, DeviceSetup, NumericSetting, Offloads, PacketSizes, SwitchSetting,
};
use assay_model::phrase;
use assay_model::phrase::Phrase;

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, bytes};
use crate::cpu_list;
use crate::network_device::{self, NetworkDevice};

/// Largest packet of standard Ethernet.
const ETHERNET_MTU_BYTES: u64 = 1500;
/// Largest packet between kernel and device without BIG TCP.
const PACKET_BYTES: u32 = 65_536;
/// Speed from which on packets of that size are too many for one CPU: 190,000 a second.
const BIG_PACKET_BIT_PER_S: u64 = 100_000_000_000;
/// Longest accepted interrupt delay. The round trip within one rack is about 20 µs.
const MAX_COALESCING_US: u32 = 10;
/// Drivers of cards that hypervisors emulate register by register; each access exits the guest
/// (QEMU documentation: Network emulation).
const EMULATED_DRIVERS: [&str; 6] =
    ["8139cp", "8139too", "e1000", "e1000e", "ne2k-pci", "pcnet32"];

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "network.mtu",
        expected: "1500 or more on every device, the same at both ends",
        why: "headers take a larger share of smaller packets, and every packet costs CPU time",
        source: "RFC 894; Azure: TCP/IP performance tuning",
        severity: FindingSeverity::Note,
        change: "ip link set DEVICE mtu 9000, where every hop of the path carries it",
        observe: mtu,
    },
    DoctorCheck {
        id: "network.link-speed",
        expected: "reported by the device, and full duplex",
        why: "goodput can be compared with it; half duplex means that the negotiation failed",
        source: "kernel documentation: ABI/testing/sysfs-class-net (speed, duplex)",
        severity: FindingSeverity::Note,
        change: "let both ends of the cable negotiate: ethtool -s DEVICE autoneg on",
        observe: speed,
    },
    DoctorCheck {
        id: "network.driver",
        expected: "native or paravirtual (virtio_net, hv_netvsc, ena, gve, mlx5_core …)",
        why: "an emulated card exits the guest for every access to a register",
        source: "QEMU documentation: Network emulation",
        severity: FindingSeverity::Skews,
        change: "give the virtual machine a paravirtual network device",
        observe: kernel_module,
    },
    DoctorCheck {
        id: "network.offloads",
        expected: "TSO, GSO, GRO and checksums on",
        why: "without them the kernel handles every packet alone: throughput falls and CPU time rises",
        source: "kernel documentation: networking/segmentation-offloads.rst, checksum-offloads.rst",
        severity: FindingSeverity::Skews,
        change: "ethtool -K DEVICE tso on gso on gro on rx on tx on; fixed settings depend on the driver",
        observe: |input| check_setups(input, |setup| setup.offloads.map(offloads)),
    },
    DoctorCheck {
        id: "network.packet-sizes",
        expected: "above 65536 B (BIG TCP) on devices of 100 Gbit/s or more that can cut them",
        why: "the kernel's work for each packet limits a stream at such speeds",
        source: "kernel documentation: networking/netdevices.rst; man 8 ip-link (gso_max_size, gro_max_size)",
        severity: FindingSeverity::Note,
        change: "ip link set DEVICE gso_max_size 185000 gro_max_size 185000 gso_ipv4_max_size 185000 gro_ipv4_max_size 185000",
        observe: |input| {
            check_devices(input, |device| {
                let sizes = input.network.device(&device.name)?.packet_sizes?;
                Some(packet_sizes(sizes, device.link_bit_per_s))
            })
        },
    },
    DoctorCheck {
        id: "network.rings",
        expected: "as many descriptors as the device has, where packets arrive in bursts",
        why: "packets without a free descriptor are dropped, and TCP treats that as congestion",
        source: "man 8 ethtool (-g); Red Hat: Monitoring and managing system status, network tuning",
        severity: FindingSeverity::Note,
        change: "ethtool -G DEVICE rx N tx N with the maximum printed here",
        observe: |input| check_setups(input, rings),
    },
    DoctorCheck {
        id: "network.receive-queues",
        expected: "several receive queues, or packets spread over CPUs by the kernel (RPS)",
        why: "one queue means that one CPU receives every packet and soon is the limit",
        source: "kernel documentation: networking/scaling.rst",
        severity: FindingSeverity::Note,
        change: "ethtool -L DEVICE combined N, or a mask in /sys/class/net/DEVICE/queues/rx-*/rps_cpus",
        observe: receive_queues,
    },
    DoctorCheck {
        id: "network.channels",
        expected: "a receive queue for every CPU, or all that the device has",
        why: "an unused queue leaves its share of the packets to the other CPUs",
        source: "man 8 ethtool (-l); kernel documentation: networking/scaling.rst",
        severity: FindingSeverity::Note,
        change: "ethtool -L DEVICE combined N, or rx N where the device keeps directions apart",
        observe: |input| {
            let cpus = input.facts.topology.cpu_ids().len();
            check_setups(input, |setup| {
                setup.receive_queues.map(|queues| channels(queues, cpus))
            })
        },
    },
    DoctorCheck {
        id: "network.coalescing",
        expected: "adaptive, or interrupts at most 10 µs late, where latency is measured",
        why: "a packet that waits for others before its interrupt makes every round trip longer",
        source: "man 8 ethtool (-c); kernel documentation: networking/net_dim.rst",
        severity: FindingSeverity::Note,
        change: "ethtool -C DEVICE adaptive-rx on, or rx-usecs 0 for latency",
        observe: |input| check_setups(input, |setup| setup.coalescing.map(coalescing)),
    },
    DoctorCheck {
        id: "network.interrupts",
        expected: "interrupts of one device on different CPUs",
        why: "queues whose interrupts go to the same CPU share its capacity",
        source: "kernel documentation: networking/scaling.rst",
        severity: FindingSeverity::Note,
        change: "start irqbalance, or write a CPU to /proc/irq/N/smp_affinity_list for each queue",
        observe: interrupts,
    },
    DoctorCheck {
        id: "network.interrupt-place",
        expected: "on CPUs of the device's NUMA node",
        why: "an interrupt on another node fetches every packet across the link between the sockets",
        source: "kernel documentation: networking/scaling.rst; tuned and vendors' guides: NIC-local CPUs",
        severity: FindingSeverity::Skews,
        change: "write CPUs of that node to /proc/irq/N/smp_affinity_list for each queue",
        observe: interrupt_numa_node,
    },
    DoctorCheck {
        id: "network.accelerated",
        expected: "a virtual function under every synthetic device (hv_netvsc)",
        why: "without it every packet goes through the host's virtual switch: more CPU time, higher latency",
        source: "Azure: Accelerated Networking overview",
        severity: FindingSeverity::Skews,
        change: "enable accelerated networking for the virtual machine's interface",
        observe: accelerated,
    },
];

/// Returns the devices to check: the device of the path and its virtual function, else all that are
/// up.
fn checked_devices(input: &CheckInput) -> Vec<NetworkDevice> {
    let path = input.network.path.as_ref();
    let names = match path.and_then(|path| path.device.clone()) {
        Some(name) => {
            let function = network_device::virtual_function(input.root, &name);
            std::iter::once(name).chain(function).collect()
        }
        None => network_device::names(input.root),
    };
    let devices = names.iter().map(|name| network_device::read(input.root, name));
    devices.filter(|device| !device.is_down).collect()
}

/// Checks each device, or reports that none has the property.
fn check_devices(
    input: &CheckInput,
    report: impl Fn(&NetworkDevice) -> Option<(bool, Phrase)>,
) -> Result<CheckResult, CheckObstacle> {
    let devices = checked_devices(input);
    let reported = devices.iter().filter_map(|it| Some((it.name.as_str().into(), report(it)?)));
    let what = phrase!("about-device", "this property of a network device");
    CheckResult::from_each(what, reported)
}

/// Checks each device by its driver settings.
fn check_setups(
    input: &CheckInput,
    report: impl Fn(&DeviceSetup) -> Option<(bool, Phrase)>,
) -> Result<CheckResult, CheckObstacle> {
    check_devices(input, |device| report(input.network.device(&device.name)?))
}

fn mtu(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    check_devices(input, |device| {
        let mtu = device.mtu_bytes?;
        Some((mtu >= ETHERNET_MTU_BYTES, bytes(mtu)))
    })
}

fn speed(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    check_devices(input, |device| {
        let gigabits = device.link_bit_per_s? as f64 / 1e9;
        let is_half = device.duplex.as_deref() == Some("half");
        let half = is_half.then(|| phrase!("half-duplex", "half duplex"));
        let speed = Phrase::exact_value(format!("{gigabits} Gbit/s"));
        Some((!is_half, Phrase::list(", ", std::iter::once(speed).chain(half))))
    })
}

fn kernel_module(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    check_setups(input, |setup| {
        let module = setup.kernel_module.as_ref()?;
        let driver = format!("{} {}", module.name, module.version).trim_end().to_owned();
        let firmware = (!module.firmware.is_empty()).then(|| {
            phrase!("firmware", "firmware {version}", version = module.firmware.as_str())
        });
        let text = Phrase::list(", ", std::iter::once(driver.into()).chain(firmware));
        let is_imitated = input.facts.system.virtualization.is_some()
            && EMULATED_DRIVERS.contains(&module.name.as_str());
        Some((!is_imitated, text))
    })
}

fn offloads(offloads: Offloads) -> (bool, Phrase) {
    let wanted = [
        ("TSO".into(), offloads.tcp_segmentation),
        ("GSO".into(), offloads.generic_segmentation),
        ("GRO".into(), offloads.generic_receive),
        (phrase!("receive-checksum", "receive checksum"), offloads.receive_checksum),
        (phrase!("send-checksum", "send checksum"), offloads.send_checksum),
    ];
    let word = |switch: SwitchSetting| match (switch.on, switch.fixed) {
        (true, _) => phrase!("on", "on"),
        (false, false) => phrase!("off", "off"),
        (false, true) => phrase!("off-fixed", "off (fixed)"),
    };
    let are_on = wanted.iter().all(|(_, switch)| switch.on);
    // LRO is reported but not judged: GRO does the same and keeps the packet headers.
    let reported = wanted.into_iter().chain([("LRO".into(), offloads.large_receive)]);
    let said = reported.map(|(name, switch)| Phrase::list(" ", [name, word(switch)]));
    (are_on, Phrase::list(" · ", said))
}

fn packet_sizes(sizes: PacketSizes, link_bit_per_s: Option<u64>) -> (bool, Phrase) {
    let smallest = |[send, receive]: [u32; 2]| send.min(receive);
    let both = smallest([sizes.send.now, sizes.receive_bytes]);
    let used = sizes.ipv4_bytes.map_or(both, |ipv4| both.min(smallest(ipv4)));
    let is_fast = link_bit_per_s.is_some_and(|speed| speed >= BIG_PACKET_BIT_PER_S);
    let is_small = used <= PACKET_BYTES && sizes.send.most > PACKET_BYTES;
    let text = phrase!(
        "packet-sizes",
        "sends {send}, of at most {most}, and receives {receive}",
        send = bytes(sizes.send.now.into()),
        most = bytes(sizes.send.most.into()),
        receive = bytes(sizes.receive_bytes.into()),
    );
    (!(is_fast && is_small), text)
}

fn rings(setup: &DeviceSetup) -> Option<(bool, Phrase)> {
    let said = |[now, most]: [String; 2], receives| match receives {
        true => {
            phrase!("ring-receive", "receive {now} of at most {most}", now = now, most = most)
        }
        false => phrase!("ring-send", "send {now} of at most {most}", now = now, most = most),
    };
    let rings = [(true, setup.receive_ring), (false, setup.send_ring)];
    let rings: Vec<(bool, NumericSetting)> =
        rings.into_iter().filter_map(|(receives, ring)| Some((receives, ring?))).collect();
    let is_full = rings.iter().all(|(_, ring)| ring.now >= ring.most);
    let all = rings.iter().map(|(receives, ring)| {
        said([ring.now, ring.most].map(|count| count.to_string()), *receives)
    });
    (!rings.is_empty()).then(|| (is_full, Phrase::list(" · ", all)))
}

fn channels(queues: NumericSetting, cpus: usize) -> (bool, Phrase) {
    let wanted = usize::try_from(queues.most).unwrap_or(usize::MAX).min(cpus.max(1));
    let text = phrase!(
        "channels",
        "{now} of at most {most} receive queues for {cpus} CPUs",
        now = queues.now,
        most = queues.most,
        cpus = cpus,
    );
    (queues.now as usize >= wanted, text)
}

fn coalescing(set: Coalescing) -> (bool, Phrase) {
    if set.adaptive_receive {
        return (true, phrase!("adaptive", "adaptive"));
    }
    // A device that interrupts for every packet does not wait, regardless of its time limit.
    let waits = set.receive_frames != 1 && set.receive_us > MAX_COALESCING_US;
    let [receive, send] =
        [set.receive_us, set.send_us].map(|time| Phrase::exact_value(format!("{time} µs")));
    let text = phrase!(
        "coalescing",
        "receive after {receive} or so many packets: {packets}; send after {send}",
        receive = receive,
        packets = set.receive_frames,
        send = send,
    );
    (!waits, text)
}

/// A synthetic device lists its virtual function as a `lower_*` link.
fn accelerated(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    check_devices(input, |device| {
        (device.kernel_module.as_deref() == Some(network_device::SYNTHETIC_DRIVER)).then(|| {
            match network_device::virtual_function(input.root, &device.name) {
                Some(function) => (
                    true,
                    phrase!(
                        "function",
                        "over virtual function {function}",
                        function = function
                    ),
                ),
                None => (false, phrase!("no-function", "without a virtual function")),
            }
        })
    })
}

/// Returns whether hardware backs the device; bridges and the like have no queues of their own.
fn has_hardware(input: &CheckInput, name: &str) -> bool {
    !input.root.names(&format!("sys/class/net/{name}/device")).is_empty()
}

fn receive_queues(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let cpus = input.facts.topology.cpu_ids().len();
    check_devices(input, |device| {
        let folder = format!("sys/class/net/{}/queues", device.name);
        let queues = input.root.names(&folder);
        let queues: Vec<&String> = queues.iter().filter(|it| it.starts_with("rx-")).collect();
        if queues.is_empty() || !has_hardware(input, &device.name) {
            return None;
        }
        let is_spread = |queue: &&&String| {
            let mask =
                input.root.text(&format!("{folder}/{queue}/rps_cpus")).unwrap_or_default();
            mask.chars().any(|digit| digit.is_ascii_hexdigit() && digit != '0')
        };
        let spread = queues.iter().filter(is_spread).count();
        let ok = queues.len() > 1 || spread > 0 || cpus <= 1;
        let count = Phrase::plural("queues", queues.len(), "{n} queue", "{n} queues");
        let spread = phrase!("queues-spread", "{n} spread by RPS", n = spread);
        Some((ok, Phrase::list(", ", [count, spread])))
    })
}

/// Returns the CPUs of a device's interrupts, one text per interrupt.
fn interrupt_cpus(input: &CheckInput, device: &NetworkDevice) -> Option<Vec<String>> {
    let folders = ["device/msi_irqs", "device/../msi_irqs"];
    let numbers = folders.iter().find_map(|folder| {
        let names = input.root.names(&format!("sys/class/net/{}/{folder}", device.name));
        (!names.is_empty()).then_some(names)
    })?;
    let place = |number: &String| {
        input.root.text(&format!("proc/irq/{number}/effective_affinity_list"))
    };
    let places: Vec<String> = numbers.iter().filter_map(place).collect();
    (!places.is_empty()).then_some(places)
}

/// Checks the distribution of each device's interrupts over CPUs. A single queue is not judged.
fn interrupts(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let cpus = input.facts.topology.cpu_ids().len();
    check_devices(input, |device| {
        let mut places = interrupt_cpus(input, device)?;
        let count = places.len();
        places.sort();
        places.dedup();
        let ok = count <= 2 || places.len() > 1 || cpus <= 1;
        let cpus = places.join(" ");
        Some((
            ok,
            phrase!("interrupts", "interrupts: {n}, on CPUs {cpus}", n = count, cpus = cpus),
        ))
    })
}

fn interrupt_numa_node(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    check_devices(input, |device| {
        // −1 if the device belongs to no particular node.
        let node: u32 =
            input.root.number(&format!("sys/class/net/{}/device/numa_node", device.name))?;
        let of_node = format!("sys/devices/system/node/node{node}/cpulist");
        let near = cpu_list::parse(&input.root.text(&of_node)?)?;
        let places = interrupt_cpus(input, device)?;
        let is_near = |place: &&String| {
            cpu_list::parse(place).is_some_and(|cpus| cpus.iter().all(|cpu| near.contains(cpu)))
        };
        let count = places.iter().filter(is_near).count();
        let text = phrase!(
            "interrupts-near",
            "{some} of {all} interrupts on its node {node}",
            some = count,
            all = places.len(),
            node = node.to_string(),
        );
        Some((count == places.len(), text))
    })
}
