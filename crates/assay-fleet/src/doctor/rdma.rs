//! Checks of RDMA devices, as far as sysfs shows them. Opens no library and sends nothing.

use std::time::Duration;

use assay_model::finding::FindingSeverity;
use assay_model::phrase;
use assay_model::phrase::Phrase;

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, bytes};
use crate::network_device;
use crate::rdma_device::CLASS_FOLDER;
use crate::root::Root;

/// Time between two readings of the counters.
const SAMPLING_TIME: Duration = Duration::from_millis(200);
/// Headers of a RoCE packet: IP, UDP and InfiniBand headers (`iboe_get_mtu` of the kernel's
/// `ib_addr.h`).
const HEADER_BYTES: u64 = 96;
/// Ratio of raw `PCIe` rate to payload: packets of 256 B have headers of 20 to 28 B;
/// acknowledgements and credits take the rest (PCI Express Base 6.0, 2.2 and 3.5).
const HEADER_FACTOR: f64 = 1.2;
/// Largest path MTU.
const MAX_MTU_BYTES: u64 = 4096;

/// Port counters that do not increase on a sound link (InfiniBand 1.4, 16.1.3.5).
const LINK_ERRORS: [&str; 10] = [
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_constraint_errors",
    "port_xmit_discards",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "VL15_dropped",
];
/// Driver counters (mlx5, rxe, irdma) of retransmitted or rejected packets.
const TRANSPORT_ERRORS: [&str; 12] = [
    "out_of_sequence",
    "packet_seq_err",
    "local_ack_timeout_err",
    "rnr_nak_retry_err",
    "out_of_buffer",
    "req_cqe_error",
    "resp_cqe_error",
    "rx_icrc_encapsulated",
    "rcvd_seq_err",
    "retry_exceeded_err",
    "retry_rnr_exceeded_err",
    "completer_retry_err",
];

/// Check that also reports the absence of a device.
pub(super) const LINK_CHECKS: &[DoctorCheck] = &[DoctorCheck {
    id: "rdma.link",
    expected: "ACTIVE on every port that has a cable",
    why: "only an active port carries anything; InfiniBand needs a subnet manager for that",
    source: "kernel documentation: ABI/stable/sysfs-class-infiniband (state, phys_state)",
    severity: FindingSeverity::Blocks,
    change: "ip link set DEVICE up for RoCE, opensm somewhere in an InfiniBand fabric, or another cable",
    observe: link,
}];

/// Checks that need a device.
pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "rdma.access",
        expected: "a file in /dev/infiniband for every device",
        why: "programs need that file to use a device; without it MPI silently falls back to TCP",
        source: "kernel documentation: infiniband/user_verbs.rst; Azure azhpc-images: tests/test-definitions.sh (verify_ib_modules_and_devices)",
        severity: FindingSeverity::Skews,
        change: "modprobe ib_uverbs rdma_ucm; a container needs --device /dev/infiniband",
        observe: access,
    },
    DoctorCheck {
        id: "rdma.rate",
        expected: "all lanes of the link, at the rate of the fastest port of the same kind of card",
        why: "a bad cable or a wrong transceiver costs lanes or speed, and nothing else reports it",
        source: "kernel documentation: ABI/stable/sysfs-class-infiniband (rate); man 8 ibstatus",
        severity: FindingSeverity::Skews,
        change: "seat or replace the cable; compare the port of the switch (iblinkinfo, mlxlink)",
        observe: rate,
    },
    DoctorCheck {
        id: "rdma.lanes",
        expected: "four lanes or more, or two for cards and cables of that width (HDR100, NDR200)",
        why: "a split cable or a card of half the rate has two lanes; a bad cable leaves two of four, and the kernel shows both alike",
        source: "kernel documentation: ABI/stable/sysfs-class-infiniband (rate); man 8 iblinkinfo",
        severity: FindingSeverity::Note,
        change: "ask the fabric: where iblinkinfo says \"Could be 4X\", seat or replace the cable; otherwise two lanes are the full width",
        observe: lanes,
    },
    DoctorCheck {
        id: "rdma.errors",
        expected: "no counter of errors moves",
        why: "damaged or dropped packets are sent again: latency has outliers and bandwidth falls",
        source: "InfiniBand Architecture 1.4, 16.1.3.5; kernel documentation: ABI/stable/sysfs-class-infiniband",
        severity: FindingSeverity::Skews,
        change: "replace the cable where the link's counters move; look for loss and for missing flow control (PFC, ECN) where the transport's do",
        observe: errors,
    },
    DoctorCheck {
        id: "rdma.firmware",
        expected: "a driver, and the same firmware on all cards of one kind",
        why: "cards of different firmware differ in latency and in faults that only one of them has",
        source: "kernel documentation: ABI/stable/sysfs-class-infiniband (fw_ver, board_id)",
        severity: FindingSeverity::Note,
        change: "update the firmware with the vendor's tool (mlxfwmanager, devlink dev flash)",
        observe: firmware,
    },
    DoctorCheck {
        id: "rdma.pcie",
        expected: "the maximum speed and width of the card, and no less than its port",
        why: "a card in a slot of fewer lanes never reaches the rate of its port",
        source: "kernel documentation: ABI/testing/sysfs-bus-pci (current_link_speed, max_link_width)",
        severity: FindingSeverity::Skews,
        change: "put the card into a slot of its width, or look for a limit in the firmware of the board",
        observe: pcie,
    },
    DoctorCheck {
        id: "rdma.gid",
        expected: "a RoCE v2 GID of an IPv4 address on every Ethernet port",
        why: "RoCE needs an address to send; version 1 is not routed",
        source: "kernel documentation: ABI/stable/sysfs-class-infiniband (gids, gid_attrs/types)",
        severity: FindingSeverity::Blocks,
        change: "ip addr add ADDRESS dev DEVICE; -x chooses a GID by its index",
        observe: gid,
    },
    DoctorCheck {
        id: "rdma.mtu",
        expected: "4192 B or more on the network device of RoCE, for a path MTU of 4096",
        why: "smaller packets have more header overhead and use more of the card's packet rate",
        source: "Linux: include/rdma/ib_addr.h (iboe_get_mtu)",
        severity: FindingSeverity::Note,
        change: "ip link set DEVICE mtu 9000 at both ends, where every switch carries it",
        observe: mtu,
    },
];

/// Returns whether the kernel lists any device.
pub(super) fn has_devices(root: &Root) -> bool {
    !root.names(CLASS_FOLDER).is_empty()
}

/// Port of a device, as named by sysfs.
struct RdmaPort {
    device: String,
    number: u32,
}

impl RdmaPort {
    fn format_name(&self) -> Phrase {
        let number = self.number.to_string();
        phrase!("port", "{device} port {port}", device = self.device.as_str(), port = number)
    }

    fn path(&self, file: &str) -> String {
        format!("{CLASS_FOLDER}/{}/ports/{}/{file}", self.device, self.number)
    }

    fn text(&self, input: &CheckInput, file: &str) -> Option<String> {
        input.root.text(&self.path(file))
    }

    /// Returns the word after the number of a state: `ACTIVE` of `4: ACTIVE`.
    fn state(&self, input: &CheckInput, file: &str) -> Option<String> {
        let text = self.text(input, file)?;
        Some(text.split_once(": ").map_or(text.as_str(), |(_, word)| word).to_owned())
    }

    fn is_ethernet(&self, input: &CheckInput) -> bool {
        self.text(input, "link_layer").as_deref() == Some("Ethernet")
    }

    fn is_active(&self, input: &CheckInput) -> bool {
        self.state(input, "state").as_deref() == Some("ACTIVE")
    }

    fn device_text(&self, input: &CheckInput, file: &str) -> Option<String> {
        input.root.text(&format!("{CLASS_FOLDER}/{}/{file}", self.device))
    }

    /// Returns the lane reduction of an InfiniBand link with fewer than four lanes.
    fn reduced_lanes(&self, input: &CheckInput) -> Option<ReducedLanes> {
        let text = self.text(input, "rate").filter(|_| !self.is_ethernet(input))?;
        let (_, mode) = text.split_once('(')?;
        parse_reduced_lanes(mode.trim_end_matches(')'))
    }

    /// Returns the rate in bit/s, parsed from `100 Gb/sec (4X EDR)`.
    fn bit_per_s(&self, input: &CheckInput) -> Option<f64> {
        let text = self.text(input, "rate")?;
        let (number, _) = text.split_once(" Gb/sec")?;
        number.parse::<f64>().ok().map(|gigabits| gigabits * 1e9)
    }
}

fn ports(input: &CheckInput) -> Vec<RdmaPort> {
    let of = |device: &String| {
        let numbers = input.root.entry_numbers(&format!("{CLASS_FOLDER}/{device}/ports"), "");
        let device = device.clone();
        numbers.into_iter().map(move |number| RdmaPort { device: device.clone(), number })
    };
    input.root.names(CLASS_FOLDER).iter().flat_map(of).collect()
}

/// Checks each port, or reports that none has the property.
fn check_ports(
    input: &CheckInput,
    what: Phrase,
    report: impl Fn(&RdmaPort) -> Option<(bool, Phrase)>,
) -> Result<CheckResult, CheckObstacle> {
    let ports = ports(input);
    let reported = ports.iter().filter_map(|port| Some((port.format_name(), report(port)?)));
    CheckResult::from_each(what, reported)
}

fn ethernet_phrase() -> Phrase {
    phrase!("rdma-ethernet", "an RDMA device on Ethernet")
}

/// Finds a device's file by the `ibdev` entry of its verbs device.
fn access(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    const VERBS: &str = "sys/class/infiniband_verbs";
    let numbers = input.root.entry_numbers(VERBS, "uverbs");
    let file_of = |device: &str| {
        let of = |number: &&u32| {
            let named = input.root.text(&format!("{VERBS}/uverbs{number}/ibdev"));
            named.as_deref() == Some(device)
        };
        let number = numbers.iter().find(of)?;
        let file = format!("dev/infiniband/uverbs{number}");
        input.root.exists(&file).then(|| format!("/{file}"))
    };
    let devices = input.root.names(CLASS_FOLDER);
    let files: Vec<Option<String>> = devices.iter().map(|device| file_of(device)).collect();
    let line = |(device, file): (&String, &Option<String>)| {
        let file = file.as_deref().map_or_else(|| phrase!("no-file", "no file"), Phrase::from);
        Phrase::list(": ", [device.as_str().into(), file])
    };
    let lines = devices.iter().zip(&files).map(line);
    Ok(CheckResult::from_verdict(files.iter().all(Option::is_some), Phrase::list(", ", lines)))
}

/// A polling port has no cable. That is accepted if another port is active.
fn link(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let is_any_active = ports(input).iter().any(|port| port.is_active(input));
    check_ports(input, phrase!("rdma-device", "an RDMA device"), |port| {
        let state = port.state(input, "state")?;
        let physical = port.state(input, "phys_state").unwrap_or_default();
        let has_no_cable = ["Polling", "Disabled", "Sleep"].contains(&physical.as_str());
        let ok = state == "ACTIVE" || is_any_active && has_no_cable;
        let physical = if physical.is_empty() { physical } else { format!(" ({physical})") };
        Some((ok, format!("{state}{physical}").into()))
    })
}

/// Skips software and hypervisor devices, which have no PCI Express link and a meaningless rate.
fn rate(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let kind = |port: &RdmaPort| port.device_text(input, "board_id");
    let all: Vec<(Option<String>, f64)> = ports(input)
        .iter()
        .filter(|port| port.is_active(input))
        .filter_map(|port| Some((kind(port), port.bit_per_s(input)?)))
        .collect();
    let what = phrase!("rdma-rate", "the rate of an active port of a card");
    check_ports(input, what, |port| {
        port.device_text(input, "device/max_link_width")?;
        let text = port.text(input, "rate").filter(|_| port.is_active(input))?;
        let own = port.bit_per_s(input)?;
        let alike = all.iter().filter(|(it, _)| it.is_some() && *it == kind(port));
        let fastest = alike.map(|(_, rate)| *rate).fold(own, f64::max);
        let is_slower = own < fastest * 0.99;
        let slower = is_slower.then(|| {
            phrase!(
                "faster-port",
                "another port of such a card has {rate}",
                rate = gigabits(fastest),
            )
        });
        // Two lanes may be the full width; the check of lanes covers that.
        let lost = port
            .reduced_lanes(input)
            .filter(|few| !few.can_be_full_width)
            .map(|few| few.description);
        let is_good = !is_slower && lost.is_none();
        let said = std::iter::once(text.into()).chain(lost).chain(slower);
        Some((is_good, Phrase::list("; ", said)))
    })
}

/// Checks for two lanes that may be the full width. Skips cards with another of the same kind,
/// whose rates are compared instead.
fn lanes(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let kind = |port: &RdmaPort| port.device_text(input, "board_id");
    let active: Vec<RdmaPort> =
        ports(input).into_iter().filter(|it| it.is_active(input)).collect();
    let what = phrase!("rdma-rate", "the rate of an active port of a card");
    check_ports(input, what, |port| {
        port.device_text(input, "device/max_link_width")?;
        let text = port.text(input, "rate").filter(|_| port.is_active(input))?;
        let alike = active.iter().filter(|it| kind(it).is_some() && kind(it) == kind(port));
        let is_alone = alike.count() < 2;
        let few = port.reduced_lanes(input).filter(|few| few.can_be_full_width);
        let is_good = few.is_none() || !is_alone;
        let said = std::iter::once(text.into()).chain(few.map(|few| few.description));
        Some((is_good, Phrase::list("; ", said)))
    })
}

/// Link with fewer lanes than four.
struct ReducedLanes {
    description: Phrase,
    /// Whether cards and cables with this width exist. A single lane is always a fault.
    can_be_full_width: bool,
}

/// Parses the width and speed of an InfiniBand link, like `2X EDR`. Two-lane links exist from HDR
/// on (HDR100, NDR200).
fn parse_reduced_lanes(mode: &str) -> Option<ReducedLanes> {
    let (lanes, speed) = mode.split_once(' ')?;
    match lanes {
        "1X" => {
            let said = phrase!("one-lane", "one lane of the link is up");
            Some(ReducedLanes { description: said, can_be_full_width: false })
        }
        "2X" => {
            let said = phrase!("two-lanes", "two lanes of the link are up");
            Some(ReducedLanes {
                description: said,
                can_be_full_width: ["HDR", "NDR", "XDR"].contains(&speed),
            })
        }
        _ => None,
    }
}

/// Reads all error counters with their port and name.
fn counters(input: &CheckInput) -> Vec<(Phrase, u64)> {
    let mut found = Vec::new();
    for port in ports(input) {
        let groups = [("counters", &LINK_ERRORS[..]), ("hw_counters", &TRANSPORT_ERRORS[..])];
        for (folder, names) in groups {
            found.extend(names.iter().filter_map(|name| {
                let count = input.root.number(&port.path(&format!("{folder}/{name}")))?;
                Some((Phrase::list(" ", [port.format_name(), (*name).into()]), count))
            }));
        }
    }
    found
}

fn errors(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let before = counters(input);
    if before.is_empty() {
        let what = phrase!("rdma-errors", "a counter of errors of an RDMA device");
        return Err(CheckObstacle::hidden(what));
    }
    std::thread::sleep(SAMPLING_TIME);
    Ok(compare_counters(&before, &counters(input)))
}

/// Reports counters that increased between two readings, else counts from before.
fn compare_counters(before: &[(Phrase, u64)], after: &[(Phrase, u64)]) -> CheckResult {
    let moving: Vec<Phrase> = before
        .iter()
        .filter_map(|(name, was)| {
            let (_, is) = after.iter().find(|(other, is)| other == name && is > was)?;
            let (counter, count) = (name.clone(), (is - was).to_string());
            Some(phrase!("grew", "{counter} by {n}", counter = counter, n = count))
        })
        .collect();
    if !moving.is_empty() {
        let moving = Phrase::list(", ", moving);
        return CheckResult::deviates(phrase!(
            "moving",
            "increasing: {counters}",
            counters = moving
        ));
    }
    let counted: Vec<Phrase> = after
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| Phrase::list(" ", [name.clone(), count.to_string().into()]))
        .collect();
    if counted.is_empty() {
        return CheckResult::ok(phrase!(
            "counters",
            "counters: {n}, all {none}",
            n = after.len(),
            none = "0",
        ));
    }
    CheckResult::ok(phrase!(
        "still",
        "unchanged; since the device was started: {counters}",
        counters = Phrase::list(", ", counted),
    ))
}

fn firmware(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let all: Vec<(Option<String>, String)> = ports(input)
        .iter()
        .filter_map(|port| {
            Some((port.device_text(input, "board_id"), port.device_text(input, "fw_ver")?))
        })
        .collect();
    let what = phrase!("rdma-firmware", "the firmware of an RDMA device");
    check_ports(input, what, |port| {
        let board = port.device_text(input, "board_id");
        let version = port.device_text(input, "fw_ver");
        let module = port.device_text(input, "device/uevent");
        let module = module.as_deref().and_then(|text| {
            text.lines().find_map(|line| line.strip_prefix("DRIVER=")).map(str::to_owned)
        });
        let is_alike = |(kind, other): &(Option<String>, String)| {
            kind.is_none() || *kind != board || Some(other) == version.as_ref()
        };
        let firmware = version
            .clone()
            .map(|version| phrase!("firmware", "firmware {version}", version = version));
        let shown = [module.map(Phrase::from), firmware, board.clone().map(Phrase::from)];
        let shown: Vec<Phrase> = shown.into_iter().flatten().collect();
        (!shown.is_empty()).then(|| (all.iter().all(is_alike), Phrase::list(" ", shown)))
    })
}

fn pcie(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let what = phrase!("rdma-pcie", "the PCIe link of an RDMA device");
    check_ports(input, what, |port| {
        let of = |name: &str| port.device_text(input, &format!("device/{name}"));
        let number = |text: &String| text.split(' ').next()?.parse::<f64>().ok();
        let speeds = (of("current_link_speed")?, of("max_link_speed")?);
        let widths = (of("current_link_width")?, of("max_link_width")?);
        let (speed, most_speed) = (number(&speeds.0)?, number(&speeds.1)?);
        let (width, most_width) = (number(&widths.0)?, number(&widths.1)?);
        let carried = width * lane_bit_per_s(speed);
        let asked = port.bit_per_s(input).filter(|_| port.is_active(input)).unwrap_or(0.0);
        let lanes = |speed: f64, width: f64| {
            let speed = Phrase::exact_value(format!("{speed} GT/s"));
            Phrase::concat([speed, format!(" × {width}").into()])
        };
        let text = phrase!(
            "pcie",
            "{link} of {most}: {rate}",
            link = lanes(speed, width),
            most = lanes(most_speed, most_width),
            rate = gigabits((carried / 1e9).round() * 1e9),
        );
        let is_full = speed >= most_speed && width >= most_width;
        if carried < asked {
            let below =
                phrase!("below-port", "below the {rate} of the port", rate = gigabits(asked));
            return Some((false, Phrase::list(", ", [text, below])));
        }
        // An older slot that still carries the port's rate costs nothing measurable.
        Some((is_full || carried >= asked * HEADER_FACTOR && asked > 0.0, text))
    })
}

fn gigabits(bit_per_s: f64) -> Phrase {
    Phrase::exact_value(format!("{} Gbit/s", bit_per_s / 1e9))
}

/// Returns the payload rate of a lane: 8 of 10 bits are data up to 5 GT/s, 128 of 130 beyond (PCI
/// Express Base 6.0, 4.2).
fn lane_bit_per_s(giga_transfers: f64) -> f64 {
    let share = if giga_transfers <= 5.0 { 0.8 } else { 128.0 / 130.0 };
    giga_transfers * 1e9 * share
}

fn gid(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    /// Number of GID entries to check; cards have about 256, of which the first few are filled.
    const MAX_GIDS: u32 = 64;
    check_ports(input, ethernet_phrase(), |port| {
        if !port.is_ethernet(input) {
            return None;
        }
        let of = |index: u32| {
            let gid = port.text(input, &format!("gids/{index}"))?;
            let is_empty = gid.chars().all(|it| ":0".contains(it));
            let kind = port.text(input, &format!("gid_attrs/types/{index}"))?;
            (!is_empty && kind == "RoCE v2").then_some((index, gid))
        };
        let routable: Vec<(u32, String)> = (0..MAX_GIDS).filter_map(of).collect();
        let is_ipv4 = |gid: &str| gid.starts_with("0000:0000:0000:0000:0000:ffff:");
        let Some((index, gid)) =
            routable.iter().find(|(_, gid)| is_ipv4(gid)).or(routable.first())
        else {
            return Some((
                false,
                phrase!("no-gid", "has no GID of {version}", version = "RoCE v2"),
            ));
        };
        let ok = is_ipv4(gid);
        let kind = match ok {
            true => "IPv4".into(),
            false => phrase!("alone", "{what} alone", what = "IPv6"),
        };
        let text = phrase!(
            "gid",
            "GID {index} ({kind}; GIDs of {version}: {n})",
            index = index.to_string(),
            kind = kind,
            n = routable.len(),
            version = "RoCE v2",
        );
        Some((ok, text))
    })
}

fn mtu(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    check_ports(input, ethernet_phrase(), |port| {
        if !port.is_ethernet(input) {
            return None;
        }
        let net = port
            .text(input, "gid_attrs/ndevs/0")
            .or_else(|| port.device_text(input, "parent"))?;
        let own = network_device::read(input.root, &net).mtu_bytes?;
        let payload = own.saturating_sub(HEADER_BYTES).min(MAX_MTU_BYTES);
        let path = if payload < 256 { 0 } else { 1_u64 << payload.ilog2() };
        let text = phrase!(
            "rdma-mtu",
            "over {device} with {own}: path MTU {path}",
            device = net,
            own = bytes(own),
            path = bytes(path),
        );
        Some((path == MAX_MTU_BYTES, text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_increasing_counters_deviate() {
        let at = |count: u64| vec![("mlx5_0 port 1 symbol_error".into(), count)];
        for (was, is, ok, observed) in [
            (0, 0, true, "counters: 1, all 0"),
            (
                7,
                7,
                true,
                "unchanged; since the device was started: mlx5_0 port 1 symbol_error 7",
            ),
            (7, 9, false, "increasing: mlx5_0 port 1 symbol_error by 2"),
            // The counter was reset in between.
            (7, 0, true, "counters: 1, all 0"),
        ] {
            let seen = compare_counters(&at(was), &at(is));
            assert_eq!(
                (seen.as_expected, seen.observed.to_string()),
                (ok, observed.to_owned()),
                "{was} {is}"
            );
        }
    }

    #[test]
    fn lane_rate_excludes_encoding() {
        assert!((lane_bit_per_s(2.5) - 2e9).abs() < 1.0);
        assert!((lane_bit_per_s(8.0) * 16.0 / 1e9 - 126.03).abs() < 0.01);
    }
}
