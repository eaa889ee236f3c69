//! Layers of a target: loop devices on files, mappings on disks, files on the device of their file
//! system; and the users of each layer.
//!
//! Looks at existing files; opens only loop devices, to query their backing files.

use std::fs::Metadata;
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use assay_fleet::block_device;
use assay_fleet::mounts::{DeviceNumber, Mount};
use assay_fleet::root::Root;
use assay_kernels::loop_device::{self, LoopBacking};

use super::safe_open;

/// File or device behind a path, independent of the path's spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    File { device: DeviceNumber, inode: u64 },
    Device(DeviceNumber),
}

impl Layer {
    pub(super) fn from_metadata(found: &Metadata) -> Self {
        match found.file_type().is_block_device() {
            true => Self::Device(block_device::unpack_number(found.rdev())),
            false => Self::File {
                device: block_device::unpack_number(found.dev()),
                inode: found.ino(),
            },
        }
    }
}

/// Byte range of a file or a device behind a loop device or a partition of one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BackingRange {
    layer: Layer,
    bytes: Range<u64>,
}

impl BackingRange {
    fn overlaps(&self, other: &Self) -> bool {
        self.layer == other.layer
            && self.bytes.start < other.bytes.end
            && other.bytes.start < self.bytes.end
    }
}

/// Loop device with a backing file.
#[derive(Debug)]
struct LoopLayer {
    name: String,
    device: DeviceNumber,
    backing: BackingRange,
}

impl LoopLayer {
    fn read(root: &Root, name: &str) -> Option<Self> {
        let folder = format!("sys/block/{name}");
        let named = root.text(&format!("{folder}/loop/backing_file"))?;
        // Without the permission to query the device only a name is available, which another file
        // may have by now.
        let of = match loop_device::find_backing(&Path::new("/dev").join(name)) {
            Some(LoopBacking { backing_device: Some(device), .. }) => Layer::Device(device),
            Some(LoopBacking { device, inode, .. }) => Layer::File { device, inode },
            None => Layer::from_metadata(&Path::new(&named).metadata().ok()?),
        };
        let bytes = |of: &str| root.number::<u64>(&format!("{folder}/loop/{of}")).unwrap_or(0);
        let start = bytes("offset");
        // Without a limit the device ends where the file does.
        let length = Some(bytes("sizelimit")).filter(|it| *it > 0).unwrap_or(u64::MAX);
        let device = block_device::parse(&root.text(&format!("{folder}/dev"))?)?;
        let shown = BackingRange { layer: of, bytes: start..start.saturating_add(length) };
        Some(Self { name: name.to_owned(), device, backing: shown })
    }

    fn describe_use(&self, what: &str, mounts: &[Mount]) -> String {
        let mounted = mounts.iter().find(|mount| mount.device == self.device);
        let on = mounted.map(|it| format!(", mounted on {}", it.point.display()));
        format!("{what} backs /dev/{}{}", self.name, on.unwrap_or_default())
    }
}

/// Stacking of the block devices of a machine.
pub(super) struct Layers {
    root: Root,
    loops: Vec<LoopLayer>,
}

impl Layers {
    pub(super) fn read() -> Self {
        let root = Root::machine();
        let names = root.names("sys/block").into_iter().filter(|it| it.starts_with("loop"));
        let loops = names.filter_map(|name| LoopLayer::read(&root, &name)).collect();
        Self { root, loops }
    }

    /// Returns the loop device of a layer, or of the disk it is a partition of, with the backing
    /// range.
    fn backing_of(&self, layer: Layer) -> Option<(&LoopLayer, BackingRange)> {
        /// Sector size of `/sys`, independent of the device's own.
        const SECTOR_BYTES: u64 = 512;
        let Layer::Device(device) = layer else { return None };
        let disk = block_device::disk_of(&self.root, device);
        let found = self.loops.iter().find(|it| it.device == disk.unwrap_or(device))?;
        let mut shown = found.backing.clone();
        if let Some(part) = disk.and_then(|_| block_device::sector_range(&self.root, device)) {
            let at = |sector: u64| {
                shown.bytes.start.saturating_add(sector.saturating_mul(SECTOR_BYTES))
            };
            shown.bytes = at(part.start)..at(part.end);
        }
        Some((found, shown))
    }

    /// Returns the layer and all layers below it, down to disks and files.
    fn with_lower_layers(&self, layer: Layer) -> Vec<Layer> {
        let mut all = vec![layer];
        let mut next = 0;
        while let Some(layer) = all.get(next).copied() {
            let below = match (self.backing_of(layer), layer) {
                (Some((_, shown)), _) => vec![shown.layer],
                (None, Layer::Device(device)) => {
                    let below = block_device::components(&self.root, device);
                    below.into_iter().map(Layer::Device).collect()
                }
                (None, Layer::File { .. }) => Vec::new(),
            };
            for layer in below {
                if !all.contains(&layer) {
                    all.push(layer);
                }
            }
            next += 1;
        }
        all
    }

    /// Whether data written to one can be read from the other.
    pub(super) fn overlap(&self, one: Layer, other: Layer) -> bool {
        if let (Layer::File { .. }, Layer::File { .. }) = (one, other) {
            return one == other;
        }
        let shown = |layer| {
            let all = self.with_lower_layers(layer).into_iter();
            all.filter_map(|it| self.backing_of(it)).map(|(_, shown)| shown).collect::<Vec<_>>()
        };
        self.is_built_on(one, other)
            || self.is_built_on(other, one)
            || shown(one).iter().any(|one| shown(other).iter().any(|it| one.overlaps(it)))
    }

    /// Whether one is built on the other, or on a part of it.
    fn is_built_on(&self, one: Layer, other: Layer) -> bool {
        self.with_lower_layers(one).into_iter().any(|layer| match (layer, other) {
            (Layer::Device(one), Layer::Device(other)) => {
                block_device::overlaps(&self.root, one, other)
            }
            // The bytes of a file are sectors of its file system's device.
            (Layer::File { device, .. }, Layer::Device(_)) => {
                self.is_built_on(Layer::Device(device), other)
            }
            (one, other) => one == other,
        })
    }

    /// Whether the device shares a disk with the system.
    pub(super) fn is_system(&self, found: &Metadata, mounts: &[Mount]) -> bool {
        self.with_lower_layers(Layer::from_metadata(found)).into_iter().any(|layer| match layer
        {
            Layer::Device(device) => block_device::is_system(&self.root, device, mounts),
            Layer::File { .. } => false,
        })
    }

    /// Describes all other users of a file or device and of its layers.
    pub(super) fn users(&self, found: &Metadata, mounts: &[Mount]) -> Vec<String> {
        let top = Layer::from_metadata(found);
        let mut users = match top {
            Layer::Device(device) => block_device::users(&self.root, device, mounts),
            Layer::File { .. } => self.swap_use(found).into_iter().collect(),
        };
        let above = self.loops.iter().filter(|it| it.backing.layer == top);
        users.extend(above.map(|it| it.describe_use("it", mounts)));
        let down = self.with_lower_layers(top);
        for layer in &down[1..] {
            if let Layer::Device(device) = layer {
                // Other devices on it use other sectors.
                let by = block_device::occupants(&self.root, *device, mounts);
                users.extend(by.iter().map(|by| format!("a device below it is {by}")));
            }
        }
        let own: Vec<(&LoopLayer, BackingRange)> =
            down.iter().filter_map(|it| self.backing_of(*it)).collect();
        let others =
            self.loops.iter().filter(|it| own.iter().all(|(own, _)| own.device != it.device));
        let others = others.filter(|it| own.iter().any(|(_, own)| own.overlaps(&it.backing)));
        users.extend(others.map(|it| it.describe_use("its data also", mounts)));
        users
    }

    fn swap_use(&self, found: &Metadata) -> Option<String> {
        let swaps = self.root.text("proc/swaps").unwrap_or_default();
        let is_swap = |line: &str| {
            let file = line.split_whitespace().next().map(PathBuf::from);
            file.and_then(|file| file.metadata().ok())
                .is_some_and(|it| safe_open::is_same(&it, found))
        };
        swaps.lines().any(is_swap).then(|| "it is swap space".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const SDA: Layer = Layer::Device((8, 0));
    const SDA1: Layer = Layer::Device((8, 1));
    const SDA2: Layer = Layer::Device((8, 2));
    const SDB: Layer = Layer::Device((8, 16));
    const ON_SDA2: Layer = Layer::Device((253, 0));
    const ALSO_ON_SDA2: Layer = Layer::Device((253, 1));
    const ON_BOTH: Layer = Layer::Device((9, 0));
    const FILE: Layer = Layer::File { device: (253, 0), inode: 12 };
    const OTHER_FILE: Layer = Layer::File { device: (253, 0), inode: 13 };
    const LOOPS: [Layer; 4] = [
        Layer::Device((7, 0)),
        Layer::Device((7, 1)),
        Layer::Device((7, 2)),
        Layer::Device((7, 3)),
    ];

    /// Builds the `/sys` of a machine: a disk `sda` with two partitions, and two volumes on the
    /// second; an array of `sda1` and `sdb`; and loop devices: of a file on the first volume, of
    /// its first and its second half, and of the first one.
    fn machine(folder: &Path) -> Layers {
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for folder in ["sys/dev/block", "sys/class/block"] {
            write(&format!("{folder}/none"), "");
        }
        for (path, number, below) in [
            ("sda", "8:0", &[][..]),
            ("sda/sda1", "8:1", &[]),
            ("sda/sda2", "8:2", &[]),
            ("sdb", "8:16", &[]),
            ("dm-0", "253:0", &["sda2"]),
            ("dm-1", "253:1", &["sda2"]),
            ("md0", "9:0", &["sda1", "sdb"]),
            ("loop0", "7:0", &[]),
        ] {
            let name = path.rsplit('/').next().unwrap();
            write(&format!("sys/devices/{path}/dev"), number);
            write(&format!("sys/devices/{path}/uevent"), &format!("DEVNAME={name}\n"));
            for below in below {
                write(&format!("sys/devices/{path}/slaves/{below}/x"), "");
            }
            let target = format!("../../devices/{path}");
            symlink(&target, folder.join(format!("sys/dev/block/{number}"))).unwrap();
            symlink(&target, folder.join(format!("sys/class/block/{name}"))).unwrap();
        }
        for (part, start) in [(1, 0), (2, 100)] {
            write(&format!("sys/devices/sda/sda{part}/partition"), &part.to_string());
            write(&format!("sys/devices/sda/sda{part}/start"), &start.to_string());
            write(&format!("sys/devices/sda/sda{part}/size"), "100");
        }
        let shown =
            [(FILE, 0..u64::MAX), (FILE, 0..4096), (FILE, 4096..8192), (LOOPS[0], 0..1)];
        let loops = shown.into_iter().zip(0..).map(|((of, place), number)| LoopLayer {
            name: format!("loop{number}"),
            device: (7, number),
            backing: BackingRange { layer: of, bytes: place },
        });
        Layers { root: Root::from_directory(folder), loops: loops.collect() }
    }

    #[test]
    fn stacked_devices_overlap() {
        let folder = tempfile::tempdir().unwrap();
        let layers = machine(folder.path());
        for (one, other, expected) in [
            (ON_SDA2, SDA2, true),
            (ON_SDA2, SDA, true),
            (ON_SDA2, SDA1, false),
            (ON_SDA2, ALSO_ON_SDA2, false),
            (ON_BOTH, SDA, true),
            (ON_BOTH, SDB, true),
            (ON_BOTH, SDA2, false),
            (FILE, OTHER_FILE, false),
            (FILE, ON_SDA2, true),
            (FILE, SDA, true),
            (FILE, SDB, false),
            (LOOPS[0], FILE, true),
            (LOOPS[0], OTHER_FILE, false),
            (LOOPS[0], SDA, true),
            (LOOPS[0], LOOPS[1], true),
            (LOOPS[1], LOOPS[2], false),
            (LOOPS[3], LOOPS[0], true),
            (LOOPS[3], FILE, true),
            (LOOPS[3], SDB, false),
        ] {
            assert_eq!(layers.overlap(one, other), expected, "{one:?} {other:?}");
            assert_eq!(layers.overlap(other, one), expected, "{other:?} {one:?}");
        }
    }
}
