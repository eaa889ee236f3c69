//! What a run holds on to from the check to its end: its devices exclusively, its files by descriptors; and
//! who else uses them.
//!
//! Every phase looks again: what changed hands in between is not written.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_fleet::mounts::{DeviceNumber, Mount};
use assay_fleet::root::Root;
use assay_fleet::{block_device, resource_limits};
use assay_kernels::loop_device::{self, Backing};
use assay_kernels::storage::Held;
use assay_model::workload::storage::{EngineChoice, StorageWorkload};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{opening, safety};
use crate::failure::Failure;

/// Claims a device for as long as `held` lives: nobody can mount it, or build on it, meanwhile.
pub(super) fn claim(held: &Held, device: &Path) -> Result<(), Failure> {
    if is_claimed(held, device) {
        return Ok(());
    }
    let file = opening::open(device, OFlags::RDONLY | OFlags::EXCL).map_err(|error| {
        if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) {
            let why = "it is in use: the kernel grants no exclusive access";
            return never_written(device, why);
        }
        let what = format!("the device {} cannot be opened", device.display());
        Failure::measurement(what).because(&error).with_known_advice()
    })?;
    held.hold(device, Arc::new(file));
    Ok(())
}

fn is_claimed(held: &Held, device: &Path) -> bool {
    held.file(device).is_some_and(|file| {
        rustix::fs::fcntl_getfl(&file).is_ok_and(|flags| !flags.contains(OFlags::PATH))
    })
}

pub(super) fn never_written(path: &Path, why: impl Into<String>) -> Failure {
    Failure::usage(format!("{} is never written", path.display()))
        .explain(why)
        .advise("choose a device that nobody uses, or a file on a file system")
}

/// Why something changed hands.
const ELSEWHERE: &str = "its path leads to something else since the run began";

fn changed_hands(path: &Path, why: impl Into<String>) -> Failure {
    Failure::measurement(format!("the target {} changed hands", path.display()))
        .explain(why)
        .advise("see who replaces it; nothing more is read or written there")
}

/// Lets go of a file that is gone, under all of its paths: another is made in its place.
pub(super) fn let_go(held: &Held, path: &Path) {
    held.retain(|it, _| safety::resolved(it).is_ok_and(|it| it != path));
}

/// Holds all targets of a workload, each under its own path and under the one without links.
pub(super) fn hold(held: &Held, workload: &StorageWorkload) -> Result<(), Failure> {
    if workload.engine == EngineChoice::Null {
        return Ok(());
    }
    // Each target costs a descriptor more than its phase needs.
    resource_limits::raise_open_files();
    for target in &workload.targets {
        let path = safety::resolved(&target.path)?;
        let file = match held.file(&path) {
            Some(file) => file,
            None => Arc::new(opening::open(&path, OFlags::PATH).map_err(|error| {
                let what = format!("the target {} cannot be used", path.display());
                Failure::measurement(what).because(&error).with_known_advice()
            })?),
        };
        if let Some(before) = held.file(&target.path) {
            let both = before.metadata().and_then(|one| Ok((one, file.metadata()?)));
            if !both.is_ok_and(|(one, other)| opening::is_same(&one, &other)) {
                return Err(changed_hands(&target.path, ELSEWHERE));
            }
        }
        held.hold(&path, Arc::clone(&file));
        held.hold(&target.path, file);
    }
    Ok(())
}

/// Looks again before a phase: the paths still lead to what is held, and nobody else has begun to use it.
pub(super) fn check_again(
    held: &Held,
    workload: &StorageWorkload,
    mounts: &[Mount],
) -> Result<(), Failure> {
    for (index, target) in workload.targets.iter().enumerate() {
        let path = target.path.as_path();
        let Some(ours) =
            held.metadata(path).map_err(|error| changed_hands(path, error.to_string()))?
        else {
            continue;
        };
        let found = path.metadata().map_err(|error| changed_hands(path, error.to_string()))?;
        if !opening::is_same(&ours, &found) {
            return Err(changed_hands(path, ELSEWHERE));
        }
        if safety::is_written(workload, index)
            && let Some(user) = users(&found, mounts).first()
        {
            return Err(changed_hands(path, format!("it is in use: {user}")));
        }
    }
    Ok(())
}

/// Everybody but assay who uses a file or a device, in words.
pub(super) fn users(found: &std::fs::Metadata, mounts: &[Mount]) -> Vec<String> {
    let root = Root::machine();
    if found.file_type().is_block_device() {
        let number = block_device::number(found.rdev());
        let mut users = block_device::users(&root, number, mounts);
        users.extend(loops(&root, |behind| behind.is_device == Some(number), mounts));
        return users;
    }
    let device = block_device::number(found.dev());
    let is_it = |behind: Backing| behind.device == device && behind.inode == found.ino();
    let mut users = loops(&root, is_it, mounts);
    let swaps = root.text("proc/swaps").unwrap_or_default();
    let is_swap = |line: &str| {
        let file = line.split_whitespace().next().map(PathBuf::from);
        file.and_then(|file| file.metadata().ok())
            .is_some_and(|it| opening::is_same(&it, found))
    };
    users.extend(swaps.lines().any(is_swap).then(|| "it is swap space".to_owned()));
    users
}

/// The loop devices that something lies behind.
fn loops(root: &Root, is_it: impl Fn(Backing) -> bool, mounts: &[Mount]) -> Vec<String> {
    let names = root.names("sys/block").into_iter().filter(|name| {
        name.starts_with("loop") && root.exists(&format!("sys/block/{name}/loop/backing_file"))
    });
    names
        .filter(|name| {
            let asked = loop_device::backing(&Path::new("/dev").join(name));
            asked.or_else(|| named(root, name)).is_some_and(&is_it)
        })
        .map(|name| {
            let number: Option<DeviceNumber> = root
                .text(&format!("sys/block/{name}/dev"))
                .and_then(|text| block_device::parse(&text));
            let mounted = mounts.iter().find(|mount| Some(mount.device) == number);
            let on = mounted.map(|it| format!(", mounted on {}", it.point.display()));
            format!("it lies behind /dev/{name}{}", on.unwrap_or_default())
        })
        .collect()
}

/// What the kernel calls the file behind a loop device that this user may not ask.
fn named(root: &Root, name: &str) -> Option<Backing> {
    let path = root.text(&format!("sys/block/{name}/loop/backing_file"))?;
    let found = Path::new(&path).metadata().ok()?;
    let is_device = found.file_type().is_block_device();
    Some(Backing {
        device: block_device::number(found.dev()),
        inode: found.ino(),
        is_device: is_device.then(|| block_device::number(found.rdev())),
    })
}
