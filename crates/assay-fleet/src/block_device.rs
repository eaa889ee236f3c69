//! Users of a block device, and whether the system is on its disk.
//!
//! Reads sysfs only; opens no device.

use std::collections::BTreeSet;
use std::path::Path;

use crate::mounts::{DeviceNumber, Mount};
use crate::root::Root;

/// Mount points whose disk counts as the system disk.
const SYSTEM_MOUNTS: [&str; 6] = ["/", "/boot", "/boot/efi", "/usr", "/var", "/home"];
/// Maximum depth of stacked devices: device mapper on md on partitions is three. Ends loops in a
/// damaged tree.
const MAX_DEPTH: usize = 8;

/// Unpacks a device number as the kernel encodes it.
pub fn unpack_number(packed: u64) -> DeviceNumber {
    (rustix::fs::major(packed), rustix::fs::minor(packed))
}

/// Describes all uses of the device, its partitions, its disk and overlapping partitions. Empty if
/// the device is not in use.
pub fn users(root: &Root, device: DeviceNumber, mounts: &[Mount]) -> Vec<String> {
    let mut users = Vec::new();
    for part in related(root, device) {
        users.extend(occupants_of(root, part, mounts));
        let Some(name) = name(root, part) else { continue };
        let holders = root.names(&format!("{}/holders", folder(part)));
        users.extend(holders.into_iter().map(|holder| format!("{name} is part of {holder}")));
    }
    users
}

/// Describes mounted file systems and swap space on the device, without the mappings over it.
pub fn occupants(root: &Root, device: DeviceNumber, mounts: &[Mount]) -> Vec<String> {
    let parts = related(root, device);
    parts.into_iter().flat_map(|part| occupants_of(root, part, mounts)).collect()
}

fn occupants_of(root: &Root, part: DeviceNumber, mounts: &[Mount]) -> Vec<String> {
    let mounted = mounts.iter().filter(|mount| mount.device == part);
    let mounted = mounted.map(|mount| format!("mounted on {}", mount.point.display()));
    let swaps = root.text("proc/swaps").unwrap_or_default();
    let swap = name(root, part).filter(|name| {
        let path = format!("/dev/{name}");
        swaps.lines().any(|line| line.split_whitespace().next() == Some(path.as_str()))
    });
    mounted.chain(swap.map(|name| format!("{name} is swap space"))).collect()
}

/// Returns whether the devices are the same, disk and partition, or overlapping partitions.
pub fn overlaps(root: &Root, one: DeviceNumber, other: DeviceNumber) -> bool {
    related(root, one).contains(&other)
}

/// Returns whether the device shares a disk with the system: `/`, `/boot`, `/usr` …
pub fn is_system(root: &Root, device: DeviceNumber, mounts: &[Mount]) -> bool {
    let system = mounts
        .iter()
        .filter(|mount| SYSTEM_MOUNTS.iter().any(|it| mount.point == Path::new(it)));
    let system: BTreeSet<DeviceNumber> = system
        .filter_map(|mount| match mount.device {
            // btrfs and others have no block device number; their source has one.
            (0, _) => number_by_name(root, mount.source.strip_prefix("/dev/")?),
            device => Some(device),
        })
        .flat_map(|device| disks(root, device, MAX_DEPTH))
        .collect();
    disks(root, device, MAX_DEPTH).iter().any(|disk| system.contains(disk))
}

/// Returns the whole disks below a device: itself, the disk of a partition, components of a
/// mapping.
fn disks(root: &Root, device: DeviceNumber, depth: usize) -> BTreeSet<DeviceNumber> {
    let below = components(root, device);
    if !below.is_empty() && depth > 0 {
        return below.into_iter().flat_map(|it| disks(root, it, depth - 1)).collect();
    }
    BTreeSet::from([disk_of(root, device).unwrap_or(device)])
}

/// Returns the names of the devices that hold the data of a device: itself, or the components of a
/// mapping, or the paths of an NVMe device, whose head does not count on older kernels.
pub fn data_devices(root: &Root, device: DeviceNumber) -> Vec<String> {
    let mut names = BTreeSet::new();
    collect_data_devices(root, device, MAX_DEPTH, &mut names);
    names.into_iter().collect()
}

fn collect_data_devices(
    root: &Root,
    device: DeviceNumber,
    depth: usize,
    names: &mut BTreeSet<String>,
) {
    let below = components(root, device);
    if !below.is_empty() && depth > 0 {
        below.into_iter().for_each(|it| collect_data_devices(root, it, depth - 1, names));
        return;
    }
    let Some(name) = name(root, device) else { return };
    let paths: Vec<String> =
        root.names("sys/block").into_iter().filter(|path| is_nvme_path(path, &name)).collect();
    match paths.is_empty() {
        true => drop(names.insert(name)),
        false => names.extend(paths),
    }
}

/// Whether `path` is a path of the NVMe device `head`: `nvme0c1n2` of `nvme0n2`.
fn is_nvme_path(path: &str, head: &str) -> bool {
    let Some((subsystem, rest)) = path.strip_prefix("nvme").and_then(|it| it.split_once('c'))
    else {
        return false;
    };
    rest.split_once('n')
        .is_some_and(|(_, namespace)| head == format!("nvme{subsystem}n{namespace}"))
}

/// Returns the direct components of a mapping or an array.
pub fn components(root: &Root, device: DeviceNumber) -> Vec<DeviceNumber> {
    let names = root.names(&format!("{}/slaves", folder(device)));
    names.iter().filter_map(|name| number_by_name(root, name)).collect()
}

/// Returns the device, its partitions, its disk, and other partitions that overlap it.
fn related(root: &Root, device: DeviceNumber) -> Vec<DeviceNumber> {
    let mut related = with_partitions(root, device);
    if let Some(disk) = disk_of(root, device) {
        related.push(disk);
        let place = sector_range(root, device);
        let others = with_partitions(root, disk).into_iter().skip(1).filter(|it| *it != device);
        related.extend(others.filter(|it| {
            let (one, other) = (place.as_ref(), self::sector_range(root, *it));
            one.zip(other)
                .is_some_and(|(one, other)| one.start < other.end && other.start < one.end)
        }));
    }
    related
}

/// Returns the range of a partition on its disk, in sectors of 512 B.
pub fn sector_range(root: &Root, device: DeviceNumber) -> Option<std::ops::Range<u64>> {
    let folder = folder(device);
    let start: u64 = root.number(&format!("{folder}/start"))?;
    let sectors: u64 = root.number(&format!("{folder}/size"))?;
    Some(start..start.saturating_add(sectors))
}

/// Returns the disk of a partition: the parent of the partition's folder in sysfs.
pub fn disk_of(root: &Root, device: DeviceNumber) -> Option<DeviceNumber> {
    let folder = folder(device);
    root.exists(&format!("{folder}/partition"))
        .then(|| parse(&root.text(&format!("{folder}/../dev"))?))
        .flatten()
}

fn with_partitions(root: &Root, device: DeviceNumber) -> Vec<DeviceNumber> {
    let folder = folder(device);
    let partition = |name: &String| {
        let path = format!("{folder}/{name}");
        root.exists(&format!("{path}/partition")).then(|| root.text(&format!("{path}/dev")))?
    };
    let parts = root.names(&folder);
    let parts = parts.iter().filter_map(partition).filter_map(|text| parse(&text));
    std::iter::once(device).chain(parts).collect()
}

fn folder((major, minor): DeviceNumber) -> String {
    format!("sys/dev/block/{major}:{minor}")
}

/// Returns the kernel's name of the device below `/dev`.
pub fn name(root: &Root, device: DeviceNumber) -> Option<String> {
    let reported = root.text(&format!("{}/uevent", folder(device)))?;
    reported.lines().find_map(|line| line.strip_prefix("DEVNAME=").map(str::to_owned))
}

fn number_by_name(root: &Root, name: &str) -> Option<DeviceNumber> {
    parse(&root.text(&format!("sys/class/block/{name}/dev"))?)
}

/// Parses a device number as the kernel writes it: `8:1`.
pub fn parse(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;
    use crate::root::write_file;

    /// Creates a disk `sda` (8:0) with three partitions, a disk `sdb` (8:16), and `dm-0` over sda2.
    fn machine(folder: &Path) -> Root {
        let write = |path: &str, text: &str| write_file(folder, path, text);
        let nodes = [
            ("sda", "sda", "8:0"),
            ("sda/sda1", "sda1", "8:1"),
            ("sda/sda2", "sda2", "8:2"),
            ("sda/sda3", "sda3", "8:3"),
            ("sdb", "sdb", "8:16"),
            ("sdb/sdb1", "sdb1", "8:17"),
            ("dm-0", "dm-0", "253:0"),
        ];
        fs::create_dir_all(folder.join("sys/dev/block")).unwrap();
        fs::create_dir_all(folder.join("sys/class/block")).unwrap();
        for (path, name, number) in nodes {
            write(&format!("sys/devices/{path}/dev"), number);
            write(&format!("sys/devices/{path}/uevent"), &format!("DEVNAME={name}\n"));
            let target = format!("../../devices/{path}");
            symlink(&target, folder.join(format!("sys/dev/block/{number}"))).unwrap();
            symlink(&target, folder.join(format!("sys/class/block/{name}"))).unwrap();
        }
        write("sys/devices/sda/sda1/partition", "1");
        write("sys/devices/sda/sda2/partition", "2");
        // The third partition overlaps the first, which ends at the start of the second.
        write("sys/devices/sda/sda3/partition", "3");
        for (part, start, size) in [(1, 0, 100), (2, 100, 100), (3, 50, 10)] {
            write(&format!("sys/devices/sda/sda{part}/start"), &format!("{start}\n"));
            write(&format!("sys/devices/sda/sda{part}/size"), &format!("{size}\n"));
        }
        write("sys/devices/sdb/sdb1/partition", "1");
        write("sys/devices/sda/sda2/holders/dm-0/x", "");
        write("sys/devices/dm-0/slaves/sda2/x", "");
        write("proc/swaps", "Filename Type\n/dev/sdb partition 1 0 -2\n");
        Root::from_directory(folder)
    }

    fn mount(device: DeviceNumber, point: &str) -> Mount {
        Mount {
            device,
            point: PathBuf::from(point),
            kind: "ext4".into(),
            source: "/dev/x".into(),
            options: String::new(),
        }
    }

    #[test]
    fn lists_all_uses_of_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let root = machine(folder.path());
        let mounts = [mount((8, 1), "/data")];
        for (device, expected) in [
            ((8, 0), "mounted on /data; sda2 is part of dm-0"),
            ((8, 1), "mounted on /data"),
            ((8, 2), "sda2 is part of dm-0"),
            ((8, 3), "mounted on /data"),
            ((8, 16), "sdb is swap space"),
            ((8, 17), "sdb is swap space"),
            ((253, 0), ""),
        ] {
            assert_eq!(users(&root, device, &mounts).join("; "), expected, "{device:?}");
        }
    }

    #[test]
    fn disk_overlaps_its_partitions_and_partitions_overlap_by_sectors() {
        let folder = tempfile::tempdir().unwrap();
        let root = machine(folder.path());
        let all = [(8, 0), (8, 1), (8, 2), (8, 3), (8, 16), (8, 17)];
        for (device, expected) in [
            ((8, 0), &[(8, 0), (8, 1), (8, 2), (8, 3)][..]),
            ((8, 1), &[(8, 0), (8, 1), (8, 3)]),
            ((8, 2), &[(8, 0), (8, 2)]),
            ((8, 17), &[(8, 16), (8, 17)]),
        ] {
            let overlaps = |it: &DeviceNumber| overlaps(&root, device, *it);
            let found: Vec<DeviceNumber> = all.into_iter().filter(overlaps).collect();
            assert_eq!(found, expected, "{device:?}");
        }
    }

    #[test]
    fn data_of_mapping_is_on_its_components() {
        let folder = tempfile::tempdir().unwrap();
        let root = machine(folder.path());
        assert_eq!(data_devices(&root, (253, 0)), ["sda2"]);
        assert_eq!(data_devices(&root, (8, 16)), ["sdb"]);
        assert_eq!(data_devices(&root, (9, 9)), [""; 0]);
        for (path, head, expected) in [
            ("nvme0c1n2", "nvme0n2", true),
            ("nvme0c1n2", "nvme0n1", false),
            ("nvme0n2", "nvme0n2", false),
            ("sdc", "sdc", false),
        ] {
            assert_eq!(is_nvme_path(path, head), expected, "{path} {head}");
        }
    }

    #[test]
    fn recognises_system_disk_by_any_part() {
        let folder = tempfile::tempdir().unwrap();
        let root = machine(folder.path());
        // The root file system is on a mapping over the second partition.
        let mounts = [mount((253, 0), "/"), mount((8, 16), "/data")];
        for (device, expected) in [
            ((8, 0), true),
            ((8, 1), true),
            ((253, 0), true),
            ((8, 16), false),
            ((7, 0), false),
        ] {
            assert_eq!(is_system(&root, device, &mounts), expected, "{device:?}");
        }
    }
}
