//! Volumes of targets: their file systems and devices, and the check that the intended volume is
//! mounted.
//!
//! The mount point of an unmounted volume is an empty folder of the root file system, and would
//! take every write. Nothing here writes.

use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use assay_fleet::kernel_counters::CountedPlaces;
use assay_fleet::mounts::{self, Mount};
use assay_fleet::root::Root;
use assay_fleet::{block_device, capacity};
use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::entry::MeasurementEntry;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::workload::file_set::{FilePlan, FileWorkload};
use assay_model::workload::storage::{
    EngineChoice, StoragePlan, StorageTarget, StorageWorkload,
};

use super::options::RunOptions;
use super::target_overrides;
use crate::failure::CommandFailure;

/// Current mounts and configured mount points.
pub(super) struct Volumes {
    pub(super) mounts: Vec<Mount>,
    configured: Vec<PathBuf>,
}

/// Volume of a target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Volume {
    /// Kind of file system; `none` for a device.
    file_system: String,
    /// Device, or the source of a network file system.
    device: String,
    /// Mount point.
    mount_point: Option<PathBuf>,
}

/// Refuses plans whose targets are on the root file system by mistake.
pub fn check(
    storage: &StoragePlan,
    files: &FilePlan,
    options: &RunOptions,
) -> Result<(), CommandFailure> {
    let paths = plan_paths(storage, files);
    if paths.is_empty() {
        return Ok(());
    }
    let volumes = Volumes::read();
    paths.into_iter().try_for_each(|path| {
        volumes
            .refuse_root(&resolve_existing(path), options)
            .map_err(|failure| failure.with_target(path))
    })
}

/// Returns one line for each volume that a plan uses, with its targets.
pub fn describe_volumes(storage: &StoragePlan, files: &FilePlan) -> Vec<Phrase> {
    let volumes = Volumes::read();
    let mut on: BTreeMap<Volume, Vec<&Path>> = BTreeMap::new();
    let mut seen = HashSet::new();
    for path in plan_paths(storage, files).into_iter().filter(|path| seen.insert(*path)) {
        let Some(volume) = volumes.volume_of(path) else { continue };
        on.entry(volume).or_default().push(path);
    }
    let line = |(volume, targets): (Volume, Vec<&Path>)| {
        let first = targets[0].display().to_string();
        let named = match targets.len() {
            1 => first.into(),
            many => phrase!("and-more", "{first} and {n} more", first = first, n = many - 1),
        };
        Phrase::list(": ", [named, volume.describe()])
    };
    on.into_iter().map(line).collect()
}

/// Returns the facts about the volumes of one workload.
pub fn workload_facts(workload: &StorageWorkload) -> Vec<MeasurementEntry> {
    let size = |target: &StorageTarget| {
        let there = || capacity::size(&target.path).ok().flatten();
        target.size_bytes.or_else(there)
    };
    let opened = workload.targets.iter().filter(|_| opens_targets(workload));
    let total: Option<u64> = opened.map(size).sum();
    let total = total.filter(|bytes| *bytes > 0);
    let total = total.map(|bytes| MeasurementEntry::fact(Attribute::TargetBytes, bytes));
    volume_facts(opened_paths(workload)).into_iter().chain(total).collect()
}

/// Returns the devices and mounts that hold the targets of a workload.
pub fn counted_places(workload: &StorageWorkload) -> CountedPlaces {
    places_of(opened_paths(workload))
}

/// Returns the devices and mounts that hold the trees of a workload.
pub fn tree_places(workload: &FileWorkload) -> CountedPlaces {
    places_of(workload.trees.iter().map(|tree| tree.anchor.as_path()))
}

fn places_of<'p>(paths: impl Iterator<Item = &'p Path>) -> CountedPlaces {
    let root = Root::machine();
    let mounts = mounts::read(&root);
    let mut places = CountedPlaces::default();
    for path in paths {
        let path = resolve_existing(path);
        let device = path.metadata().ok().filter(|it| it.file_type().is_block_device());
        let device = device.map(|it| block_device::unpack_number(it.rdev()));
        places.add_path(&root, &mounts, &path, device);
    }
    places
}

/// Returns the facts about the volumes of one workload on file trees.
pub fn tree_workload_facts(workload: &FileWorkload) -> Vec<MeasurementEntry> {
    volume_facts(workload.trees.iter().map(|tree| tree.anchor.as_path()))
}

fn volume_facts<'p>(paths: impl Iterator<Item = &'p Path>) -> Vec<MeasurementEntry> {
    let volumes = Volumes::read();
    let mut on: Vec<Volume> = paths.filter_map(|path| volumes.volume_of(path)).collect();
    on.sort();
    on.dedup();
    let joined = |of: fn(&Volume) -> &String| {
        let mut all: Vec<&str> = on.iter().map(|it| of(it).as_str()).collect();
        all.dedup();
        all.join(", ")
    };
    if on.is_empty() {
        return Vec::new();
    }
    let (kinds, devices) = (joined(|it| &it.file_system), joined(|it| &it.device));
    [(Attribute::FileSystem, kinds), (Attribute::Device, devices)]
        .into_iter()
        .map(|(name, value)| MeasurementEntry::fact(name, value))
        .collect()
}

/// Returns the doubt about the first target that is in memory.
pub fn memory_doubt<'p>(mut paths: impl Iterator<Item = &'p Path>) -> Option<MeasurementEntry> {
    let volumes = Volumes::read();
    paths.find_map(|path| {
        let Volume { file_system, .. } = volumes.volume_of(path).filter(Volume::is_memory)?;
        Some(MeasurementEntry::Doubt(Doubt::TargetInMemory {
            path: path.to_path_buf(),
            file_system,
        }))
    })
}

const fn opens_targets(workload: &StorageWorkload) -> bool {
    !matches!(workload.engine, EngineChoice::Null)
}

/// Returns the paths that a workload opens.
fn opened_paths(workload: &StorageWorkload) -> impl Iterator<Item = &Path> {
    let targets = workload.targets.iter().filter(|_| opens_targets(workload));
    targets.map(|target| target.path.as_path())
}

fn plan_paths<'p>(storage: &'p StoragePlan, files: &'p FilePlan) -> Vec<&'p Path> {
    let of_storage = storage.phases.iter().flat_map(|phase| opened_paths(&phase.workload));
    let trees = files.phases.iter().flat_map(|phase| &phase.workload.trees);
    of_storage.chain(trees.map(|tree| tree.anchor.as_path())).collect()
}

/// Resolves the links of the existing part of a path.
fn resolve_existing(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    for folder in path.ancestors() {
        if let Ok(found) = folder.canonicalize() {
            let rest = path.strip_prefix(folder).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() { found } else { found.join(rest) };
        }
    }
    path
}

impl Volume {
    fn is_memory(&self) -> bool {
        matches!(self.file_system.as_str(), "tmpfs" | "ramfs")
    }

    fn describe(&self) -> Phrase {
        let device = self.device.as_str();
        match &self.mount_point {
            Some(point) if self.is_memory() => phrase!(
                "mounted-in-memory",
                "{kind}, which is memory: no storage device is measured; mounted on {point}",
                kind = self.file_system.as_str(),
                point = point.display().to_string(),
            ),
            None => phrase!("block-device", "the block device {device}", device = device),
            Some(point) => phrase!(
                "mounted",
                "{kind} on {device}, mounted on {point}",
                kind = self.file_system.as_str(),
                device = device,
                point = point.display().to_string(),
            ),
        }
    }
}

/// Whether a path looks like a missing mount point: a new name directly in `/mnt`, unless assay
/// chose it.
fn is_likely_mount_point(path: &Path, point: &Path) -> bool {
    path.parent() == Some(point)
        && !path.exists()
        && !path.ends_with(target_overrides::DATA_FILE_NAME)
}

impl Volumes {
    pub(super) fn read() -> Self {
        let root = Root::machine();
        let real = |point: PathBuf| point.canonicalize().unwrap_or(point);
        let configured = mounts::configured_points(&root).into_iter().map(real).collect();
        Self { mounts: mounts::read(&root), configured }
    }

    /// Refuses a path (without links) on the root file system where a volume should be mounted.
    pub(super) fn refuse_root(
        &self,
        path: &Path,
        options: &RunOptions,
    ) -> Result<(), CommandFailure> {
        let is_device = path.metadata().is_ok_and(|it| it.file_type().is_block_device());
        if options.target_on_root || is_device {
            return Ok(());
        }
        let missing = mounts::missing_mount_point(&self.mounts, &self.configured, path);
        let is_at_the_root = missing.is_none() && is_likely_mount_point(path, Path::new("/"));
        let Some(point) = missing.or_else(|| is_at_the_root.then(|| path.to_path_buf())) else {
            return Ok(());
        };
        if self.triggers_automount(path) {
            return Self::read().refuse_root(path, options);
        }
        let on = self
            .mounted_volume(path)
            .map_or_else(|| "the root".to_owned(), |it| it.describe().to_string());
        let is_new_there = is_likely_mount_point(path, &point);
        let (path, mount) = (path.display(), point.display());
        let make = || format!("make the folder {path} and mount the volume on it");
        let (what, help) = match is_new_there {
            true => (format!("there is no {path}, and nothing is mounted on {mount}"), make()),
            // A new name directly in `/` is also more likely an unmounted volume than a file.
            false if is_at_the_root => (
                format!("there is no {path}, and it would be a file directly in /"),
                format!("{}, name a file in a folder", make()),
            ),
            false => (format!("nothing is mounted on {mount}"), "mount the volume".to_owned()),
        };
        Err(CommandFailure::usage(what)
            .with_reason(format!("{path} would be on {on}"))
            .advise(format!("{help}, or permit it with --target-on-root")))
    }

    /// Whether an automatic mount was pending and the access has mounted it.
    fn triggers_automount(&self, path: &Path) -> bool {
        let waits =
            mounts::find_mount(&self.mounts, path).is_some_and(|it| it.kind == "autofs");
        let folder = path.ancestors().find(|folder| folder.is_dir());
        waits
            && folder.is_some_and(|it| std::fs::read_dir(it).is_ok())
            && mounts::find_mount(&mounts::read(&Root::machine()), path)
                .is_some_and(|it| it.kind != "autofs")
    }

    fn volume_of(&self, path: &Path) -> Option<Volume> {
        let path = resolve_existing(path);
        let Ok(found) = path.metadata() else { return self.mounted_volume(&path) };
        if !found.file_type().is_block_device() {
            return self.mounted_volume(&path);
        }
        let number = block_device::unpack_number(found.rdev());
        let name = block_device::name(&Root::machine(), number);
        let device = name.map_or_else(|| path.display().to_string(), |it| format!("/dev/{it}"));
        Some(Volume { file_system: "none".to_owned(), device, mount_point: None })
    }

    fn mounted_volume(&self, path: &Path) -> Option<Volume> {
        let mount = mounts::find_mount(&self.mounts, path)?;
        Some(Volume {
            file_system: mount.kind.clone(),
            device: mount.source.clone(),
            mount_point: Some(mount.point.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_file_name_is_not_mount_point() {
        for (path, point, expected) in [
            ("/nowhere/vol1", "/nowhere", true),
            ("/nowhere/vol1/file", "/nowhere", false),
            ("/nowhere/vol1/assay-storage.data", "/nowhere/vol1", false),
            ("/proc", "/", false),
        ] {
            assert_eq!(
                is_likely_mount_point(path.as_ref(), point.as_ref()),
                expected,
                "{path}"
            );
        }
    }
}
