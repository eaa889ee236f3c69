//! Doctor's checks of RDMA devices: a passing and a failing case for each check.

use assay_model::finding::CheckOutcome;

use crate::test_host::TestHost;

const CARDS: [&str; 2] = ["mlx5_0", "mlx5_1"];

/// Creates a host with two cards of one kind: InfiniBand at 200 Gbit/s, and RoCE at 100 Gbit/s on
/// `eth7`.
fn host() -> TestHost {
    let host = TestHost::load("xeon-2s-smt");
    for (card, link, rate, board) in [
        (CARDS[0], "InfiniBand", "200 Gb/sec (4X HDR)", "MT_0000000222"),
        (CARDS[1], "Ethernet", "100 Gb/sec (4X EDR)", "MT_0000000008"),
    ] {
        for (file, content) in [
            ("fw_ver", "20.35.3006"),
            ("board_id", board),
            ("device/uevent", "DRIVER=mlx5_core"),
            ("device/current_link_speed", "16.0 GT/s PCIe"),
            ("device/max_link_speed", "16.0 GT/s PCIe"),
            ("device/current_link_width", "16"),
            ("device/max_link_width", "16"),
            ("ports/1/state", "4: ACTIVE"),
            ("ports/1/phys_state", "5: LinkUp"),
            ("ports/1/link_layer", link),
            ("ports/1/rate", rate),
            ("ports/1/counters/symbol_error", "0"),
            ("ports/1/hw_counters/out_of_sequence", "3"),
        ] {
            write_card_file(&host, card, file, content);
        }
    }
    for (file, content) in [
        ("ports/1/gids/0", "fe80:0000:0000:0000:0000:00ff:fe00:0001"),
        ("ports/1/gids/1", "0000:0000:0000:0000:0000:ffff:0a00:0001"),
        ("ports/1/gids/2", "0000:0000:0000:0000:0000:0000:0000:0000"),
        ("ports/1/gid_attrs/types/0", "RoCE v2"),
        ("ports/1/gid_attrs/types/1", "RoCE v2"),
        ("ports/1/gid_attrs/types/2", "RoCE v2"),
        ("ports/1/gid_attrs/ndevs/0", "eth7"),
    ] {
        write_card_file(&host, CARDS[1], file, content);
    }
    host.write("sys/class/net/eth7/mtu", b"9000\n");
    host
}

fn write_card_file(host: &TestHost, card: &str, file: &str, content: &str) {
    host.write(
        &format!("sys/class/infiniband/{card}/{file}"),
        format!("{content}\n").as_bytes(),
    );
}

/// Changes files of the second card, or the MTU of its network device, and compares the result of
/// one check.
#[track_caller]
fn check(id: &str, changes: &[(&str, &str)], outcome: CheckOutcome, observed: &str) {
    let host = host();
    for (file, content) in changes {
        match *file {
            "mtu" => host.write("sys/class/net/eth7/mtu", content.as_bytes()),
            file => write_card_file(&host, CARDS[1], file, content),
        }
    }
    assert_eq!(host.finding(id), Some((outcome, observed.to_owned())), "{id}");
}

#[test]
fn every_device_needs_a_verbs_file() {
    let host = host();
    let seen = || host.finding("rdma.access").unwrap();
    host.write("sys/class/infiniband_verbs/uverbs0/ibdev", b"mlx5_0\n");
    host.write("sys/class/infiniband_verbs/uverbs1/ibdev", b"mlx5_1\n");
    host.write("dev/infiniband/uverbs0", b"");
    let first = "mlx5_0: /dev/infiniband/uverbs0";
    assert_eq!(seen(), (CheckOutcome::Deviates, format!("{first}, mlx5_1: no file")));
    host.write("dev/infiniband/uverbs1", b"");
    assert_eq!(seen(), (CheckOutcome::Ok, format!("{first}, mlx5_1: /dev/infiniband/uverbs1")));
}

#[test]
fn accepts_inactive_link_without_cable() {
    let first = "mlx5_0 port 1 ACTIVE (LinkUp)";
    let id = "rdma.link";
    check(id, &[], CheckOutcome::Ok, &format!("{first}, mlx5_1 port 1 ACTIVE (LinkUp)"));
    let no_cable = [("ports/1/state", "1: DOWN"), ("ports/1/phys_state", "2: Polling")];
    check(id, &no_cable, CheckOutcome::Ok, &format!("{first}, mlx5_1 port 1 DOWN (Polling)"));
    let no_manager = [("ports/1/state", "2: INIT")];
    check(
        id,
        &no_manager,
        CheckOutcome::Deviates,
        &format!("{first}, mlx5_1 port 1 INIT (LinkUp)"),
    );
}

#[test]
fn judges_rate_by_lanes_and_equal_cards() {
    let first = "mlx5_0 port 1 200 Gb/sec (4X HDR)";
    let (id, second) = ("rdma.rate", "mlx5_1 port 1");
    check(id, &[], CheckOutcome::Ok, &format!("{first}, {second} 100 Gb/sec (4X EDR)"));
    let slower = "; another port of such a card has 200 Gbit/s";
    check(
        id,
        &[("board_id", "MT_0000000222")],
        CheckOutcome::Deviates,
        &format!("{first}, {second} 100 Gb/sec (4X EDR){slower}"),
    );
    // The host has no other card of the same kind.
    let two = "two lanes of the link are up";
    for (mode, outcome, said) in [
        (
            "25 Gb/sec (1X EDR)",
            CheckOutcome::Deviates,
            "; one lane of the link is up".to_owned(),
        ),
        ("50 Gb/sec (2X EDR)", CheckOutcome::Deviates, format!("; {two}")),
        ("28 Gb/sec (2X FDR)", CheckOutcome::Deviates, format!("; {two}")),
        // Two lanes may be the full width, HDR100 and NDR200; a separate check notes them.
        ("100 Gb/sec (2X HDR)", CheckOutcome::Ok, String::new()),
        ("200 Gb/sec (2X NDR)", CheckOutcome::Ok, String::new()),
        ("400 Gb/sec (4X NDR)", CheckOutcome::Ok, String::new()),
    ] {
        let lane = [("ports/1/link_layer", "InfiniBand"), ("ports/1/rate", mode)];
        let observed = format!("{first}, {second} {mode}{said}");
        check(id, &lane, outcome, &observed);
    }
    // Another card of the kind with all lanes shows that lanes are lost.
    let half = [
        ("board_id", "MT_0000000222"),
        ("ports/1/link_layer", "InfiniBand"),
        ("ports/1/rate", "100 Gb/sec (2X HDR)"),
    ];
    let observed = format!("{first}, {second} 100 Gb/sec (2X HDR){slower}");
    check(id, &half, CheckOutcome::Deviates, &observed);
}

#[test]
fn notes_two_lanes_of_single_card() {
    let (id, second, whole) = ("rdma.lanes", "mlx5_1 port 1", "200 Gb/sec (4X HDR)");
    let of_both = |second: &str| format!("mlx5_0 port 1 {whole}, mlx5_1 port 1 {second}");
    check(id, &[], CheckOutcome::Ok, &of_both("100 Gb/sec (4X EDR)"));
    let two = "100 Gb/sec (2X HDR); two lanes of the link are up";
    let infiniband = ("ports/1/link_layer", "InfiniBand");
    let half = ("ports/1/rate", "100 Gb/sec (2X HDR)");
    check(id, &[infiniband, half], CheckOutcome::Deviates, &of_both(two));
    // The rate of another card of the same kind shows the full width.
    let alike = ("board_id", "MT_0000000222");
    check(id, &[infiniband, half, alike], CheckOutcome::Ok, &of_both(two));
    let down = ("ports/1/state", "1: DOWN");
    check(id, &[infiniband, half, down], CheckOutcome::Ok, &format!("mlx5_0 port 1 {whole}"));
    // No card has two lanes at this speed; the check of rates reports the loss.
    let lost = ("ports/1/rate", "50 Gb/sec (2X EDR)");
    check(id, &[infiniband, lost], CheckOutcome::Ok, &of_both("50 Gb/sec (2X EDR)"));
    // The kernel formats the rate of RoCE like this.
    check(
        id,
        &[half],
        CheckOutcome::Ok,
        &format!("mlx5_0 port 1 {whole}, {second} {}", half.1),
    );
}

#[test]
fn judges_cards_by_slot_and_equal_cards() {
    let full = "16 GT/s × 16 of 16 GT/s × 16: 252 Gbit/s";
    let of_both = |second: &str| format!("mlx5_0 port 1 {full}, mlx5_1 port 1 {second}");
    check("rdma.pcie", &[], CheckOutcome::Ok, &of_both(full));
    let narrow = [("device/current_link_width", "4")];
    let reported = "16 GT/s × 4 of 16 GT/s × 16: 63 Gbit/s, below the 100 Gbit/s of the port";
    check("rdma.pcie", &narrow, CheckOutcome::Deviates, &of_both(reported));
    let enough = [("device/current_link_width", "8")];
    let reported = "16 GT/s × 8 of 16 GT/s × 16: 126 Gbit/s";
    check("rdma.pcie", &enough, CheckOutcome::Ok, &of_both(reported));

    let first = "mlx5_0 port 1 mlx5_core firmware 20.35.3006 MT_0000000222";
    let other = [("board_id", "MT_0000000222"), ("fw_ver", "20.31.1014")];
    let reported = "mlx5_1 port 1 mlx5_core firmware 20.31.1014 MT_0000000222";
    check("rdma.firmware", &other, CheckOutcome::Deviates, &format!("{first}, {reported}"));
    let reported = "mlx5_1 port 1 mlx5_core firmware 20.35.3006 MT_0000000008";
    check("rdma.firmware", &[], CheckOutcome::Ok, &format!("{first}, {reported}"));

    let still = "unchanged; since the device was started: mlx5_0 port 1 out_of_sequence 3, \
                 mlx5_1 port 1 out_of_sequence 3";
    check("rdma.errors", &[], CheckOutcome::Ok, still);
}

#[test]
fn roce_needs_ipv4_gid_and_large_mtu() {
    let second = "mlx5_1 port 1";
    let ok = format!("{second} GID 1 (IPv4; GIDs of RoCE v2: 2)");
    check("rdma.gid", &[], CheckOutcome::Ok, &ok);
    let old = [("ports/1/gid_attrs/types/1", "IB/RoCE v1")];
    let reported = format!("{second} GID 0 (IPv6 alone; GIDs of RoCE v2: 1)");
    check("rdma.gid", &old, CheckOutcome::Deviates, &reported);
    let none = [old[0], ("ports/1/gid_attrs/types/0", "IB/RoCE v1")];
    check(
        "rdma.gid",
        &none,
        CheckOutcome::Deviates,
        &format!("{second} has no GID of RoCE v2"),
    );

    for (bytes, path, outcome) in [
        ("9000", 4096, CheckOutcome::Ok),
        ("4192", 4096, CheckOutcome::Ok),
        ("4191", 2048, CheckOutcome::Deviates),
        ("1500", 1024, CheckOutcome::Deviates),
        ("300", 0, CheckOutcome::Deviates),
    ] {
        let reported = format!("{second} over eth7 with {bytes} B: path MTU {path} B");
        check("rdma.mtu", &[("mtu", bytes)], outcome, &reported);
    }
}
