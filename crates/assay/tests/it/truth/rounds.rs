//! Known truth for steady state: a device whose limit changes while it is measured.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::program::{World, results};

/// Block device in memory.
pub(super) struct RamDisk(String);

impl RamDisk {
    pub(super) fn new() -> Option<Self> {
        let id = fs::read_to_string("/sys/class/zram-control/hot_add").ok()?;
        let disk = Self(id.trim().to_owned());
        fs::write(disk.system_path("disksize"), "16M").ok()?;
        Some(disk)
    }

    pub(super) fn path(&self) -> String {
        format!("/dev/{}", self.name())
    }

    pub(super) fn name(&self) -> String {
        format!("zram{}", self.0)
    }

    fn system_path(&self, name: &str) -> String {
        format!("/sys/block/{}/{name}", self.name())
    }
}

impl Drop for RamDisk {
    fn drop(&mut self) {
        drop(fs::write(self.system_path("reset"), "1"));
        drop(fs::write("/sys/class/zram-control/hot_remove", &self.0));
    }
}

/// Control group whose reads of one device are limited, in either hierarchy of the kernel.
pub(crate) struct ReadLimitGroup {
    folder: PathBuf,
    pub(crate) members: PathBuf,
    home: PathBuf,
    limit: PathBuf,
    prefix: String,
}

impl ReadLimitGroup {
    /// Creates a group for the device `name` below `/sys/block`.
    pub(crate) fn new(name: &str, reads_per_s: u32) -> Option<Self> {
        let number = fs::read_to_string(format!("/sys/block/{name}/dev")).ok()?;
        let number = number.trim();
        let older = ("/sys/fs/cgroup/blkio", "tasks", "blkio.throttle.read_iops_device", "");
        let newer = ("/sys/fs/cgroup", "cgroup.procs", "io.max", "riops=");
        [older, newer].into_iter().find_map(|(root, members, limit, key)| {
            let folder = Path::new(root).join(format!("assay-{name}-{}", std::process::id()));
            fs::create_dir(&folder).ok()?;
            let group = Self {
                members: folder.join(members),
                home: Path::new(root).join(members),
                limit: folder.join(limit),
                prefix: format!("{number} {key}"),
                folder,
            };
            group.set_limit(reads_per_s).then_some(group)
        })
    }

    fn set_limit(&self, reads_per_s: u32) -> bool {
        fs::write(&self.limit, format!("{}{reads_per_s}", self.prefix)).is_ok()
    }

    /// Moves the calling thread into the group, so that its children start there.
    pub(crate) fn enter(&self) -> bool {
        fs::write(&self.members, "0").is_ok()
    }

    pub(crate) fn leave(&self) {
        drop(fs::write(&self.home, "0"));
    }
}

impl Drop for ReadLimitGroup {
    fn drop(&mut self) {
        self.leave();
        drop(fs::remove_dir(&self.folder));
    }
}

/// Length of a round. The kernel's throttle counts in slices of 100 ms and lets all I/O of the
/// current slice through at once (`tg_within_iops_limit` of block/blk-throttle.c rounds the time up
/// to whole slices). A round that begins after a pause has up to one slice more than its time, 10 %
/// of a second and 4 % of this length.
const ROUND_LENGTH: &str = "2500ms";

#[test]
fn changing_limit_is_not_steady_until_constant() {
    let test = "changing_limit_is_not_steady_until_constant";
    if !super::is_requested(test) {
        return;
    }
    let world = World::new();
    let Some(disk) = RamDisk::new() else {
        eprintln!("SKIPPED {test}: this kernel or user cannot create a RAM disk (zram)");
        return;
    };
    let Some(group) = ReadLimitGroup::new(&disk.name(), 2000).filter(ReadLimitGroup::enter)
    else {
        eprintln!("SKIPPED {test}: this kernel or user cannot throttle a block device");
        return;
    };
    let device = disk.path();
    let rounds =
        ["storage", "read", &device, "--bs", "4k", "--depth", "8", "--engine", "libaio"];
    let arguments =
        [&rounds[..], &["--for", ROUND_LENGTH, "--steady-state", "--json"]].concat();
    let out = fs::File::create(world.path("out.json")).unwrap();
    let child = world.command(&arguments).stdout(out).stderr(Stdio::piped()).spawn();
    group.leave();
    let mut child = child.unwrap();
    let said = BufReader::new(child.stderr.take().unwrap());
    for line in said.lines().map_while(Result::ok) {
        if line.contains("round 2:") {
            assert!(group.set_limit(4000));
        }
    }
    assert!(child.wait().unwrap().success());
    let document = fs::read(world.path("out.json")).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    let rate = results(&document, "storage", "rate")[0].clone();
    let rounds = document["steps"].as_array().unwrap().iter();
    let rates: Vec<f64> = rounds.map(|step| step["median"].as_f64().unwrap()).collect();
    // Two rounds before the limit changes, and five after it, the first of which may be mixed.
    assert!(rates.len() >= 7, "{rates:?}");
    assert_eq!(rate["parameters"]["steady"], true, "{rates:?}");
    let median = rate["median"].as_f64().unwrap();
    let later = rates[rates.len() - 4..].iter().chain([&median]).map(|it| it / 4000.0);
    let farthest = |a: &f64, b: &f64| (a - 1.0).abs().total_cmp(&(b - 1.0).abs());
    let worst = later.chain([rates[0] / 2000.0]).max_by(farthest).unwrap();
    super::print_try("ratio", (1.0, 0.1), worst, ("-", None));
}
