//! What the kernel tells about one network device.

use crate::root::Root;

/// One device, e.g. `eth0`. What a guest does not show is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NetworkDevice {
    /// Its name.
    pub name: String,
    /// What it claims to transfer, in bit/s.
    pub link_bit_per_s: Option<u64>,
    /// Largest packet in bytes.
    pub mtu_bytes: Option<u64>,
    /// The kernel module that drives it.
    pub kernel_module: Option<String>,
}

/// Reads about the device of this name.
#[must_use]
pub fn read(root: &Root, name: &str) -> NetworkDevice {
    let path = |file: &str| format!("sys/class/net/{name}/{file}");
    // A device without a carrier, and most virtual ones, say −1.
    let megabits = root.number::<i64>(&path("speed")).filter(|speed| *speed > 0);
    let module = |line: &str| line.strip_prefix("DRIVER=").map(str::to_owned);
    NetworkDevice {
        name: name.to_owned(),
        link_bit_per_s: megabits.map(|speed| speed.unsigned_abs() * 1_000_000),
        mtu_bytes: root.number(&path("mtu")),
        kernel_module: root
            .text(&path("device/uevent"))
            .and_then(|text| text.lines().find_map(module)),
    }
}

/// The names of all devices that carry traffic beyond this machine.
#[must_use]
pub fn names(root: &Root) -> Vec<String> {
    root.names("sys/class/net").into_iter().filter(|name| name != "lo").collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_device_tells_what_it_knows() {
        let tree = tempfile::tempdir().unwrap();
        let device = tree.path().join("sys/class/net/eth0");
        fs::create_dir_all(device.join("device")).unwrap();
        fs::create_dir_all(tree.path().join("sys/class/net/lo")).unwrap();
        fs::write(device.join("speed"), "40000\n").unwrap();
        fs::write(device.join("mtu"), "1500\n").unwrap();
        fs::write(device.join("device/uevent"), "DRIVER=mlx5_core\nX=1\n").unwrap();
        let root = Root::at(tree.path());
        assert_eq!(names(&root), ["eth0"]);
        let expected = NetworkDevice {
            name: "eth0".into(),
            link_bit_per_s: Some(40_000_000_000),
            mtu_bytes: Some(1500),
            kernel_module: Some("mlx5_core".into()),
        };
        assert_eq!(read(&root, "eth0"), expected);
        fs::write(device.join("speed"), "-1\n").unwrap();
        assert_eq!(read(&root, "eth0").link_bit_per_s, None);
        assert_eq!(read(&root, "eth7").mtu_bytes, None);
    }
}
