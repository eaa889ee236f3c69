//! Where an RDMA device hangs, as sysfs shows it.

use std::collections::BTreeSet;

use crate::cpu_list;
use crate::root::Root;

/// Where the kernel lists devices.
pub(crate) const CLASS: &str = "sys/class/infiniband";

/// The NUMA node that a device hangs on (the first device without a name) and its CPUs; `None` for a device
/// of software and where the kernel names no node.
#[must_use]
pub fn place(root: &Root, device: Option<&str>) -> Option<(u32, BTreeSet<u32>)> {
    let device = match device {
        Some(name) => name.to_owned(),
        None => root.names(CLASS).into_iter().next()?,
    };
    // A device that hangs on no node in particular says −1.
    let node: u32 = root.number(&format!("{CLASS}/{device}/device/numa_node"))?;
    let cpus =
        cpu_list::parse(&root.text(&format!("sys/devices/system/node/node{node}/cpulist"))?)?;
    (!cpus.is_empty()).then_some((node, cpus))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_device_is_on_its_node_or_on_none() {
        let tree = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = tree.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("sys/class/infiniband/mlx5_1/device/numa_node", "1\n");
        write("sys/class/infiniband/mlx5_0/device/numa_node", "-1\n");
        fs::create_dir_all(tree.path().join("sys/class/infiniband/rxe0")).unwrap();
        write("sys/devices/system/node/node1/cpulist", "2-3\n");
        let root = Root::at(tree.path());
        assert_eq!(place(&root, Some("mlx5_1")), Some((1, BTreeSet::from([2, 3]))));
        assert_eq!(place(&root, Some("rxe0")), None, "software hangs nowhere");
        assert_eq!(place(&root, None), None, "the first one hangs on no node in particular");
    }
}
