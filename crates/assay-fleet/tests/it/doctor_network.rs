//! Doctor's checks of network devices and a path: a passing and a failing case for each check.

use assay_fleet::{doctor, facts, state};
use assay_model::finding::{CheckOutcome, DoctorFinding};
use assay_model::network_setup::{
    Coalescing, DeviceSetup, KernelModule, NetworkPath, NetworkSetup, NumericSetting, Offloads,
    PacketSizes, SwitchSetting,
};

use crate::test_host::TestHost;

/// Two-socket host with one device `eth7` of 25 Gbit/s on node 1 and four queues, all as expected.
struct NetworkScene {
    host: TestHost,
    network: NetworkSetup,
}

const ON: SwitchSetting = SwitchSetting { on: true, fixed: false };

impl NetworkScene {
    fn new() -> Self {
        let host = TestHost::load("xeon-2s-smt");
        for (file, content) in [
            ("speed", "25000\n"),
            ("duplex", "full\n"),
            ("mtu", "9000\n"),
            ("operstate", "up\n"),
            ("device/numa_node", "1\n"),
        ] {
            host.write(&format!("sys/class/net/eth7/{file}"), content.as_bytes());
        }
        for (name, content) in [
            ("tcp_rmem", "4096 131072 16777216\n"),
            ("tcp_wmem", "4096 65536 16777216\n"),
            ("tcp_congestion_control", "cubic\n"),
        ] {
            host.write(&format!("proc/sys/net/ipv4/{name}"), content.as_bytes());
        }
        let device = DeviceSetup {
            device: "eth7".to_owned(),
            kernel_module: Some(KernelModule {
                name: "mlx5_core".into(),
                ..KernelModule::default()
            }),
            offloads: Some(Offloads {
                tcp_segmentation: ON,
                generic_segmentation: ON,
                generic_receive: ON,
                large_receive: SwitchSetting { on: false, fixed: true },
                receive_checksum: ON,
                send_checksum: ON,
            }),
            receive_ring: Some(NumericSetting { now: 8192, most: 8192 }),
            send_ring: Some(NumericSetting { now: 1024, most: 1024 }),
            receive_queues: Some(NumericSetting { now: 4, most: 4 }),
            coalescing: Some(Coalescing { adaptive_receive: true, ..Coalescing::default() }),
            packet_sizes: Some(PacketSizes {
                send: NumericSetting { now: 65_536, most: 524_280 },
                receive_bytes: 65_536,
                ipv4_bytes: Some([65_536; 2]),
            }),
        };
        let path = NetworkPath {
            host: Some("far".into()),
            address: Some("192.0.2.9".into()),
            device: Some("eth7".into()),
            believed_mtu_bytes: Some(9000),
            carried_mtu_bytes: Some(9000),
            round_trip_s: Some(0.000_2),
            link_bit_per_s: Some(25e9),
            ..NetworkPath::default()
        };
        Self { host, network: NetworkSetup { devices: vec![device], path: Some(path) } }
    }

    fn device(&mut self) -> &mut DeviceSetup {
        &mut self.network.devices[0]
    }

    fn offloads(&mut self) -> &mut Offloads {
        self.device().offloads.as_mut().expect("the machine has offloads")
    }

    fn path(&mut self) -> &mut NetworkPath {
        self.network.path.as_mut().expect("the machine has a path")
    }

    fn interrupts(&mut self, cpus: &[u32]) {
        for (number, cpu) in (90..).zip(cpus) {
            self.host.write(&format!("sys/class/net/eth7/device/msi_irqs/{number}"), b"msix\n");
            let place = format!("proc/irq/{number}/effective_affinity_list");
            self.host.write(&place, format!("{cpu}\n").as_bytes());
        }
    }

    fn finding(&self, id: &str) -> Option<(CheckOutcome, String)> {
        let finding = self.find_finding(id)?;
        Some((finding.outcome, finding.observed))
    }

    fn find_finding(&self, id: &str) -> Option<DoctorFinding> {
        let root = self.host.root();
        let (facts, state) = (facts::read(&root), state::read(&root));
        let findings = doctor::examine(&root, &facts, &state, &self.network);
        findings.into_iter().find(|finding| finding.id == id)
    }
}

/// Applies a change to the machine and compares the result of one check.
#[track_caller]
fn check(
    id: &str,
    change: impl FnOnce(&mut NetworkScene),
    outcome: CheckOutcome,
    observed: &str,
) {
    let mut machine = NetworkScene::new();
    change(&mut machine);
    assert_eq!(machine.finding(id), Some((outcome, observed.to_owned())), "{id}");
}

#[test]
fn judges_offloads_except_lro() {
    let id = "network.offloads";
    let reported = |tso: &str, gro: &str, lro: &str| {
        format!(
            "eth7 TSO {tso} · GSO on · GRO {gro} · receive checksum on · send checksum on · LRO {lro}"
        )
    };
    check(id, |_| {}, CheckOutcome::Ok, &reported("on", "on", "off (fixed)"));
    let lro = |it: &mut NetworkScene| it.offloads().large_receive = ON;
    check(id, lro, CheckOutcome::Ok, &reported("on", "on", "on"));
    let change = NetworkScene::new().find_finding(id).unwrap().change;
    assert!(change.starts_with("ethtool -K eth7 tso on"), "{change}");
    let gro = |it: &mut NetworkScene| it.offloads().generic_receive.on = false;
    check(id, gro, CheckOutcome::Deviates, &reported("on", "off", "off (fixed)"));
    let never = |it: &mut NetworkScene| {
        it.offloads().tcp_segmentation = SwitchSetting { on: false, fixed: true };
    };
    check(id, never, CheckOutcome::Deviates, &reported("off (fixed)", "on", "off (fixed)"));
    let silent = |it: &mut NetworkScene| it.device().offloads = None;
    let hidden = "this property of a network device is not visible on this host";
    check(id, silent, CheckOutcome::NotVisible, hidden);
}

/// Packets above 64 KiB matter at 100 Gbit/s, where the device can cut them.
#[test]
fn judges_packet_sizes_by_speed_and_device() {
    let id = "network.packet-sizes";
    let speed = |it: &mut NetworkScene, megabits: &str| {
        it.host.write("sys/class/net/eth7/speed", megabits.as_bytes());
    };
    fn sizes(it: &mut NetworkScene) -> &mut PacketSizes {
        it.device().packet_sizes.as_mut().expect("the machine reports sizes")
    }
    let usual = "eth7 sends 65536 B, of at most 524280 B, and receives 65536 B";
    check(id, |_| (), CheckOutcome::Ok, usual);
    check(id, |it| speed(it, "100000\n"), CheckOutcome::Deviates, usual);
    let big = "eth7 sends 185000 B, of at most 524280 B, and receives 185000 B";
    let enlarge = |it: &mut NetworkScene| {
        speed(it, "200000\n");
        sizes(it).send.now = 185_000;
        sizes(it).receive_bytes = 185_000;
    };
    check(id, enlarge, CheckOutcome::Deviates, big);
    let enlarge_both = |it: &mut NetworkScene| {
        enlarge(it);
        sizes(it).ipv4_bytes = Some([185_000; 2]);
    };
    check(id, enlarge_both, CheckOutcome::Ok, big);
    let fixed = |it: &mut NetworkScene| {
        speed(it, "200000\n");
        sizes(it).send.most = 65_536;
    };
    let all = "eth7 sends 65536 B, of at most 65536 B, and receives 65536 B";
    check(id, fixed, CheckOutcome::Ok, all);
    let silent = |it: &mut NetworkScene| it.device().packet_sizes = None;
    let hidden = "this property of a network device is not visible on this host";
    check(id, silent, CheckOutcome::NotVisible, hidden);
}

#[test]
fn judges_rings_queues_and_coalescing_by_device_maximum() {
    let full = "eth7 receive 8192 of at most 8192 · send 1024 of at most 1024";
    check("network.rings", |_| {}, CheckOutcome::Ok, full);
    let small = |it: &mut NetworkScene| {
        it.device().receive_ring = Some(NumericSetting { now: 512, most: 8192 });
    };
    let reported = "eth7 receive 512 of at most 8192 · send 1024 of at most 1024";
    check("network.rings", small, CheckOutcome::Deviates, reported);

    let all = "eth7 4 of at most 4 receive queues for 80 CPUs";
    check("network.channels", |_| {}, CheckOutcome::Ok, all);
    let one = |it: &mut NetworkScene| {
        it.device().receive_queues = Some(NumericSetting { now: 1, most: 4 });
    };
    let reported = "eth7 1 of at most 4 receive queues for 80 CPUs";
    check("network.channels", one, CheckOutcome::Deviates, reported);
    let enough = |it: &mut NetworkScene| {
        it.device().receive_queues = Some(NumericSetting { now: 80, most: 128 });
    };
    let reported = "eth7 80 of at most 128 receive queues for 80 CPUs";
    check("network.channels", enough, CheckOutcome::Ok, reported);

    check("network.coalescing", |_| {}, CheckOutcome::Ok, "eth7 adaptive");
    for (receive_us, receive_frames, outcome) in [
        (0, 0, CheckOutcome::Ok),
        (10, 32, CheckOutcome::Ok),
        (50, 32, CheckOutcome::Deviates),
        (50, 1, CheckOutcome::Ok),
    ] {
        let set = Coalescing { receive_us, receive_frames, ..Coalescing::default() };
        let reported = format!(
            "eth7 receive after {receive_us} µs or so many packets: {receive_frames}; send after 0 µs"
        );
        let change = |it: &mut NetworkScene| it.device().coalescing = Some(set);
        check("network.coalescing", change, outcome, &reported);
    }
}

#[test]
fn reports_speed_and_driver() {
    check("network.link-speed", |_| {}, CheckOutcome::Ok, "eth7 25 Gbit/s");
    let half = |it: &mut NetworkScene| it.host.write("sys/class/net/eth7/duplex", b"half\n");
    check("network.link-speed", half, CheckOutcome::Deviates, "eth7 25 Gbit/s, half duplex");
    check("network.driver", |_| {}, CheckOutcome::Ok, "eth7 mlx5_core");
    let driver = |name: &str| {
        Some(KernelModule { name: name.into(), version: "6.1".into(), firmware: "7".into() })
    };
    let real = |it: &mut NetworkScene| it.device().kernel_module = driver("e1000e");
    check("network.driver", real, CheckOutcome::Ok, "eth7 e1000e 6.1, firmware 7");
    let imitated = |it: &mut NetworkScene| {
        it.host.write("proc/cpuinfo", b"processor : 0\nflags : fpu hypervisor\n");
        it.device().kernel_module = driver("e1000e");
    };
    check("network.driver", imitated, CheckOutcome::Deviates, "eth7 e1000e 6.1, firmware 7");
    let down = |it: &mut NetworkScene| it.host.write("sys/class/net/eth7/operstate", b"down\n");
    let hidden = "this property of a network device is not visible on this host";
    check("network.driver", down, CheckOutcome::NotVisible, hidden);
}

#[test]
fn interrupts_belong_on_numa_node_of_device() {
    let id = "network.interrupt-place";
    // Node 1 of this host has CPUs 20-39 and 60-79.
    let near = |it: &mut NetworkScene| it.interrupts(&[20, 21, 60]);
    check(id, near, CheckOutcome::Ok, "eth7 3 of 3 interrupts on its node 1");
    let far = |it: &mut NetworkScene| it.interrupts(&[20, 2, 60]);
    check(id, far, CheckOutcome::Deviates, "eth7 2 of 3 interrupts on its node 1");
    let nowhere = |it: &mut NetworkScene| {
        it.interrupts(&[20]);
        it.host.write("sys/class/net/eth7/device/numa_node", b"-1\n");
    };
    let hidden = "this property of a network device is not visible on this host";
    check(id, nowhere, CheckOutcome::NotVisible, hidden);
}

#[test]
fn judges_buffers_by_bandwidth_delay_product() {
    for id in ["network.receive-buffer", "network.send-buffer"] {
        let short =
            "at most 16.0 MiB; 25.0 Gbit/s × 200 µs = 610 KiB under way, which needs 1.19 MiB";
        check(id, |_| {}, CheckOutcome::Ok, short);
        let long =
            "at most 16.0 MiB; 25.0 Gbit/s × 20.0 ms = 59.6 MiB under way, which needs 119 MiB";
        let far = |it: &mut NetworkScene| it.path().round_trip_s = Some(0.02);
        check(id, far, CheckOutcome::Deviates, long);
        let unknown = |it: &mut NetworkScene| it.path().link_bit_per_s = None;
        check(id, unknown, CheckOutcome::Ok, "at most 16.0 MiB");
        let name = if id.contains("receive") { "tcp_rmem" } else { "tcp_wmem" };
        let small = |it: &mut NetworkScene| {
            it.host.write(&format!("proc/sys/net/ipv4/{name}"), b"4096 16384 4194304\n");
            it.network.path = None;
        };
        check(id, small, CheckOutcome::Deviates, "at most 4.00 MiB");
        // 119.2 MiB rounded up to whole MiB; not below the current limit, not above the kernel's maximum.
        let first = if id.contains("receive") { 131_072 } else { 65_536 };
        for (round_trip_s, allowed, most) in [
            (0.02, 16_777_216_u64, 125_829_120_u64),
            (0.02, 33_554_432, 125_829_120),
            (1.0, 16_777_216, 2_147_483_647),
        ] {
            let mut machine = NetworkScene::new();
            machine.path().round_trip_s = Some(round_trip_s);
            let sizes = format!("4096 {first} {allowed}\n");
            machine.host.write(&format!("proc/sys/net/ipv4/{name}"), sizes.as_bytes());
            let expected = format!("sysctl net.ipv4.{name}='4096 {first} {most}'");
            assert_eq!(machine.find_finding(id).unwrap().change, expected);
        }
        let mut machine = NetworkScene::new();
        small(&mut machine);
        let change = format!("sysctl net.ipv4.{name}='4096 16384 16777216'");
        assert_eq!(machine.find_finding(id).unwrap().change, change);
    }
    check("network.congestion-control", |_| {}, CheckOutcome::Ok, "cubic");
    let bbr = |it: &mut NetworkScene| {
        it.host.write("proc/sys/net/ipv4/tcp_congestion_control", b"bbr\n");
    };
    check("network.congestion-control", bbr, CheckOutcome::Deviates, "bbr");
}

#[test]
fn compares_carried_with_assumed_path_mtu() {
    let id = "network.path-mtu";
    check(id, |_| {}, CheckOutcome::Ok, "9000 B gets through");
    let router = |it: &mut NetworkScene| {
        it.path().believed_mtu_bytes = Some(1500);
        it.path().carried_mtu_bytes = Some(1500);
    };
    check(id, router, CheckOutcome::Deviates, "1500 B gets through; eth7 would send 9000 B");
    let hole = |it: &mut NetworkScene| it.path().carried_mtu_bytes = Some(1500);
    let reported =
        "1500 B gets through, larger packets vanish without a word; 9000 B was assumed";
    check(id, hole, CheckOutcome::Deviates, reported);
    let silent = |it: &mut NetworkScene| it.path().carried_mtu_bytes = None;
    check(id, silent, CheckOutcome::Ok, "9000 B assumed, not proven");

    let id = "network.path";
    check(id, |_| {}, CheckOutcome::Ok, "far (192.0.2.9) over eth7, round trip 200 µs");
    check(id, silent, CheckOutcome::Deviates, "far (192.0.2.9) over eth7 answers no echo");
    let home = |it: &mut NetworkScene| it.path().is_loopback = true;
    check(id, home, CheckOutcome::Deviates, "far (192.0.2.9) is this machine: loopback");
    let refused = |it: &mut NetworkScene| it.path().obstacle = Some("no ICMP socket".into());
    let reported = "far (192.0.2.9) over eth7: no ICMP socket";
    check(id, refused, CheckOutcome::Unreadable, reported);

    let mut machine = NetworkScene::new();
    machine.path().host = None;
    assert_eq!(
        machine.finding("network.path"),
        None,
        "figures alone are no path to look along"
    );
}
