//! Properties of a network device from sysfs.

use crate::root::Root;

/// Network device, e.g. `eth0`. Values hidden in a guest are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NetworkDevice {
    /// Name.
    pub name: String,
    /// Link rate that the device reports, in bit/s.
    pub link_bit_per_s: Option<u64>,
    /// Largest packet in bytes.
    pub mtu_bytes: Option<u64>,
    /// `full` or `half`, if applicable.
    pub duplex: Option<String>,
    /// Whether the kernel reports the device as down.
    pub is_down: bool,
    /// Kernel module of the driver.
    pub kernel_module: Option<String>,
}

/// Reads the properties of a device.
pub fn read(root: &Root, name: &str) -> NetworkDevice {
    let path = |file: &str| format!("sys/class/net/{name}/{file}");
    // −1 for a device without a carrier and most virtual ones.
    let megabits = root.number::<i64>(&path("speed")).filter(|speed| *speed > 0);
    let megabits = megabits.filter(|_| has_hardware(root, name, MAX_NESTING));
    let module = |line: &str| line.strip_prefix("DRIVER=").map(str::to_owned);
    NetworkDevice {
        name: name.to_owned(),
        link_bit_per_s: megabits.map(|speed| speed.unsigned_abs() * 1_000_000),
        mtu_bytes: root.number(&path("mtu")),
        duplex: root.text(&path("duplex")).filter(|duplex| duplex != "unknown"),
        is_down: root.text(&path("operstate")).as_deref() == Some("down"),
        kernel_module: root
            .text(&path("device/uevent"))
            .and_then(|text| text.lines().find_map(module)),
    }
}

/// Maximum nesting of interfaces in the kernel (`MAX_NEST_DEV`).
const MAX_NESTING: u32 = 8;

/// Returns whether hardware is at the bottom of the device, so that its rate is real. `veth` pairs
/// and `tun` always report 10 Gbit/s (`drivers/net/veth.c`, `veth_get_link_ksettings`), and so do
/// bridges of them.
fn has_hardware(root: &Root, name: &str, levels: u32) -> bool {
    let entries = root.names(&format!("sys/class/net/{name}"));
    let mut lower = entries.iter().filter_map(|entry| entry.strip_prefix("lower_"));
    entries.iter().any(|entry| entry == "device")
        || levels > 0 && lower.any(|name| has_hardware(root, name, levels - 1))
}

/// Driver of Hyper-V's synthetic device; other devices with lower devices are bridges and bonds.
pub const SYNTHETIC_DRIVER: &str = "hv_netvsc";

/// Returns the virtual function of a synthetic device: the device that has it as master.
pub fn virtual_function(root: &Root, name: &str) -> Option<String> {
    if read(root, name).kernel_module.as_deref() != Some(SYNTHETIC_DRIVER) {
        return None;
    }
    let entries = root.names(&format!("sys/class/net/{name}"));
    entries.iter().find_map(|entry| entry.strip_prefix("lower_")).map(str::to_owned)
}

/// Returns the bytes received and sent since the device was created; `None` if it does not report
/// them.
pub fn received_and_sent(root: &Root, name: &str) -> Option<[u64; 2]> {
    let counter =
        |file: &str| root.number::<u64>(&format!("sys/class/net/{name}/statistics/{file}"));
    Some([counter("rx_bytes")?, counter("tx_bytes")?])
}

/// Returns the sum of received and sent bytes.
pub fn carried_bytes(root: &Root, name: &str) -> Option<u64> {
    received_and_sent(root, name).map(|[received, sent]| received.wrapping_add(sent))
}

/// Returns the names of all devices except loopback.
pub fn names(root: &Root) -> Vec<String> {
    root.names("sys/class/net").into_iter().filter(|name| name != "lo").collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn reads_device_properties() {
        let tree = tempfile::tempdir().unwrap();
        let device = tree.path().join("sys/class/net/eth0");
        fs::create_dir_all(device.join("device")).unwrap();
        fs::create_dir_all(tree.path().join("sys/class/net/lo")).unwrap();
        fs::write(device.join("speed"), "40000\n").unwrap();
        fs::write(device.join("mtu"), "1500\n").unwrap();
        fs::write(device.join("duplex"), "full\n").unwrap();
        fs::write(device.join("operstate"), "up\n").unwrap();
        fs::write(device.join("device/uevent"), "DRIVER=mlx5_core\nX=1\n").unwrap();
        let root = Root::from_directory(tree.path());
        assert_eq!(names(&root), ["eth0"]);
        let expected = NetworkDevice {
            name: "eth0".into(),
            link_bit_per_s: Some(40_000_000_000),
            mtu_bytes: Some(1500),
            duplex: Some("full".into()),
            is_down: false,
            kernel_module: Some("mlx5_core".into()),
        };
        assert_eq!(read(&root, "eth0"), expected);
        fs::write(device.join("operstate"), "down\n").unwrap();
        assert!(read(&root, "eth0").is_down);
        fs::write(device.join("speed"), "-1\n").unwrap();
        assert_eq!(read(&root, "eth0").link_bit_per_s, None);
        assert_eq!(read(&root, "eth7").mtu_bytes, None);
    }

    #[test]
    fn only_hardware_backed_devices_have_a_rate() {
        let tree = tempfile::tempdir().unwrap();
        let devices = tree.path().join("sys/class/net");
        for entry in [
            "eth0/device",
            "bond0/lower_eth0",
            "bond0.7/lower_bond0",
            "veth0/statistics",
            "bridge0/lower_veth0",
            "loop0/lower_loop0",
        ] {
            fs::create_dir_all(devices.join(entry)).unwrap();
        }
        let rate = |name: &str| {
            fs::write(devices.join(name).join("speed"), "10000\n").unwrap();
            read(&Root::from_directory(tree.path()), name).link_bit_per_s
        };
        let ten = Some(10_000_000_000);
        assert_eq!(["eth0", "bond0", "bond0.7"].map(rate), [ten; 3]);
        assert_eq!(["veth0", "bridge0", "loop0"].map(rate), [None; 3]);
    }

    #[test]
    fn finds_virtual_function_and_its_counters() {
        let tree = tempfile::tempdir().unwrap();
        let devices = tree.path().join("sys/class/net");
        fs::create_dir_all(devices.join("eth0/lower_enP1s1")).unwrap();
        fs::create_dir_all(devices.join("eth0/device")).unwrap();
        fs::create_dir_all(devices.join("bridge/lower_eth9")).unwrap();
        fs::write(devices.join("eth0/device/uevent"), "DRIVER=hv_netvsc\n").unwrap();
        fs::create_dir_all(devices.join("enP1s1/statistics")).unwrap();
        fs::write(devices.join("enP1s1/statistics/rx_bytes"), "1000\n").unwrap();
        let root = Root::from_directory(tree.path());
        assert_eq!(virtual_function(&root, "eth0").as_deref(), Some("enP1s1"));
        assert_eq!(virtual_function(&root, "enP1s1"), None);
        assert_eq!(virtual_function(&root, "bridge"), None);
        assert_eq!(carried_bytes(&root, "enP1s1"), None, "half an answer is none");
        fs::write(devices.join("enP1s1/statistics/tx_bytes"), "24\n").unwrap();
        assert_eq!(carried_bytes(&root, "enP1s1"), Some(1024));
    }
}
