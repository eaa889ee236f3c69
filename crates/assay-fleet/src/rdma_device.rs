//! NUMA location and choice of RDMA devices, from sysfs.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::cpu_list;
use crate::root::Root;

/// Folder of all RDMA devices.
pub(crate) const CLASS_FOLDER: &str = "sys/class/infiniband";

/// Returns the NUMA node of a device (the first device without a name) and its CPUs. `None` for a
/// software device or if the kernel reports no node.
pub fn numa_location(root: &Root, device: Option<&str>) -> Option<(u32, BTreeSet<u32>)> {
    let device = match device {
        Some(name) => name.to_owned(),
        None => root.names(CLASS_FOLDER).into_iter().next()?,
    };
    // −1 if the device belongs to no particular node.
    let node: u32 = root.number(&format!("{CLASS_FOLDER}/{device}/device/numa_node"))?;
    let cpus =
        cpu_list::parse(&root.text(&format!("sys/devices/system/node/node{node}/cpulist"))?)?;
    (!cpus.is_empty()).then_some((node, cpus))
}

/// Chooses device and port if a request names none, or only one of the two. Prefers an active link,
/// then InfiniBand over Ethernet, the highest rate, the first name. Nodes may have cards of both
/// kinds, and programs on many nodes communicate over InfiniBand. `None` if the kernel lists no
/// such device.
pub fn choose_port(root: &Root, name: Option<&str>, port: Option<u8>) -> Option<(String, u8)> {
    let devices =
        root.names(CLASS_FOLDER).into_iter().filter(|it| name.is_none_or(|name| name == it));
    let ports = devices.flat_map(|device| {
        let numbers = root.entry_numbers(&format!("{CLASS_FOLDER}/{device}/ports"), "");
        let numbers = numbers.into_iter().filter_map(|it| u8::try_from(it).ok());
        let asked = numbers.filter(|it| port.is_none_or(|port| port == *it));
        asked.map(|number| (device.clone(), number)).collect::<Vec<_>>()
    });
    ports.min_by_key(|(device, port)| {
        let of = |what: &str| {
            root.text(&format!("{CLASS_FOLDER}/{device}/ports/{port}/{what}"))
                .unwrap_or_default()
        };
        let is_active = of("state").ends_with("ACTIVE");
        let is_infiniband = of("link_layer") == "InfiniBand";
        (!is_active, !is_infiniband, Reverse(megabits_per_s(&of("rate"))))
    })
}

/// Parses `200 Gb/sec (4X HDR)`, `2.5 Gb/sec (1X SDR)`; 0 if malformed.
fn megabits_per_s(rate: &str) -> u64 {
    let gigabits = rate.split_whitespace().next().and_then(|it| it.parse::<f64>().ok());
    gigabits.map_or(0, |it| (it * 1e3) as u64)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::root::write_file;

    #[test]
    fn reads_numa_node_of_device() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| write_file(tree.path(), path, text);
        write("sys/class/infiniband/mlx5_1/device/numa_node", "1\n");
        write("sys/class/infiniband/mlx5_0/device/numa_node", "-1\n");
        fs::create_dir_all(tree.path().join("sys/class/infiniband/rxe0")).unwrap();
        write("sys/devices/system/node/node1/cpulist", "2-3\n");
        let root = Root::from_directory(tree.path());
        assert_eq!(numa_location(&root, Some("mlx5_1")), Some((1, BTreeSet::from([2, 3]))));
        assert_eq!(numa_location(&root, Some("rxe0")), None, "software hangs nowhere");
        assert_eq!(
            numa_location(&root, None),
            None,
            "the first one hangs on no node in particular"
        );
    }

    #[test]
    fn default_is_fastest_active_infiniband_port() {
        let tree = tempfile::tempdir().unwrap();
        let port = |device: &str, port: u8, said: [&str; 3]| {
            let folder =
                tree.path().join(format!("sys/class/infiniband/{device}/ports/{port}"));
            fs::create_dir_all(&folder).unwrap();
            for (file, text) in ["state", "link_layer", "rate"].into_iter().zip(said) {
                fs::write(folder.join(file), format!("{text}\n")).unwrap();
            }
        };
        let root = Root::from_directory(tree.path());
        assert_eq!(choose_port(&root, None, None), None);
        port("mlx5_an0", 1, ["4: ACTIVE", "Ethernet", "400 Gb/sec (4X NDR)"]);
        assert_eq!(choose_port(&root, None, None), Some(("mlx5_an0".into(), 1)));
        port("mlx5_ib0", 1, ["1: DOWN", "InfiniBand", "400 Gb/sec (4X NDR)"]);
        port("mlx5_ib0", 2, ["4: ACTIVE", "InfiniBand", "200 Gb/sec (4X HDR)"]);
        port("mlx5_ib1", 1, ["4: ACTIVE", "InfiniBand", "2.5 Gb/sec (1X SDR)"]);
        assert_eq!(choose_port(&root, None, None), Some(("mlx5_ib0".into(), 2)));
        assert_eq!(choose_port(&root, None, Some(1)), Some(("mlx5_ib1".into(), 1)));
        assert_eq!(choose_port(&root, Some("mlx5_an0"), None), Some(("mlx5_an0".into(), 1)));
        assert_eq!(choose_port(&root, Some("mlx4_0"), None), None);
    }
}
