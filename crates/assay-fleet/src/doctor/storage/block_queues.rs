//! Queues of block devices: their counters, their merging, and the CPUs and NUMA node near them.

use assay_model::phrase;
use assay_model::phrase::Phrase;

use super::devices;
use crate::cpu_list;
use crate::doctor::check::{CheckInput, CheckObstacle, CheckResult};

/// Folders of a disk's hardware, in which the first with a node decides: that of NVMe controllers and
/// of their PCI devices, of the PCI device of virtio, and of SCSI hosts below PCI or ATA.
const HARDWARE: [&str; 5] =
    ["device", "device/device", "device/..", "device/../../..", "device/../../../.."];

/// Compares a setting of every device's queue with the value of Linux's default.
pub(super) fn expect_value(
    input: &CheckInput,
    file: &str,
    expected: &str,
) -> Result<CheckResult, CheckObstacle> {
    let reported = devices(input)?.into_iter().filter_map(|name| {
        let value = input.root.text(&format!("sys/block/{name}/queue/{file}"))?;
        Some((name.into(), (value == expected, value.into())))
    });
    CheckResult::from_each(format!("/sys/block/DEVICE/queue/{file}").into(), reported)
}

/// Reports the number of hardware queues, and the most CPUs with a common one.
pub(super) fn cpus_of_queues(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let reported = devices(input)?.into_iter().filter_map(|name| {
        let folder = format!("sys/block/{name}/mq");
        let cpus_of = |queue: &String| {
            let cpus = input.root.text(&format!("{folder}/{queue}/cpu_list"))?;
            cpu_list::parse(&cpus).map(|cpus| cpus.len())
        };
        let queues: Vec<usize> =
            input.root.names(&folder).iter().filter_map(cpus_of).filter(|it| *it > 0).collect();
        let most = queues.iter().max()?;
        let text = phrase!(
            "cpus-of-queues",
            "queues: {n}, CPUs of a queue: at most {most}",
            n = queues.len(),
            most = *most,
        );
        Some((name.into(), (true, text)))
    });
    CheckResult::from_each("/sys/block/DEVICE/mq".into(), reported)
}

/// Reports the NUMA node of every device that has one.
pub(super) fn numa_nodes(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let node_of = |name: &str| {
        // −1 if the device belongs to no particular node.
        HARDWARE.iter().find_map(|hardware| {
            input.root.number::<u32>(&format!("sys/block/{name}/{hardware}/numa_node"))
        })
    };
    let reported = devices(input)?.into_iter().filter_map(|name| {
        let node = node_of(&name)?.to_string();
        Some((name.into(), (true, phrase!("numa-node", "on node {node}", node = node))))
    });
    let what: Phrase = phrase!("about-disk-node", "the NUMA node of a disk");
    CheckResult::from_each(what, reported)
}
