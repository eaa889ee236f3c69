//! Limits of the control groups of this process, version 1 and 2.
//!
//! Any group from the process's own to the outermost visible one may have a limit; the strictest
//! counts. References: kernel documentation admin-guide/cgroup-v2.rst and admin-guide/cgroup-v1/.
//! Never changes a group.

use std::collections::BTreeSet;

use assay_model::kernel_counters::Counter;

use crate::cpu_list;
use crate::mounts::DeviceNumber;
use crate::root::Root;

/// Version 1 shows the largest page-aligned 63-bit number for "no limit". Values from 2⁶² bytes up
/// count as no limit.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// Returns the quota in CPU time per wall time (2.0 = two CPUs); `None` if no group limits it.
pub(crate) fn cpu_quota(root: &Root) -> Option<f64> {
    let strictest = |minimum: Option<f64>, quota: f64| {
        Some(minimum.map_or(quota, |minimum: f64| minimum.min(quota)))
    };
    groups(root, "cpu").iter().filter_map(|group| quota(root, group)).fold(None, strictest)
}

/// Returns the free memory of the strictest group in bytes; `None` if no group limits it.
pub(crate) fn memory_available_bytes(root: &Root) -> Option<u64> {
    groups(root, "memory").iter().filter_map(|group| memory_left(root, group)).min()
}

/// Returns the CPUs of the process's own cpuset.
pub(crate) fn cpuset(root: &Root) -> Option<BTreeSet<u32>> {
    groups(root, "cpuset").iter().find_map(|group| {
        let names = ["cpuset.cpus.effective", "cpuset.effective_cpus"];
        names.iter().find_map(|name| cpu_list::read_list(root, &format!("{group}/{name}")))
    })
}

/// Returns the number of times that any of the groups was throttled; `None` if no group counts it.
pub(crate) fn throttled(root: &Root) -> Option<u64> {
    let counts = groups(root, "cpu")
        .into_iter()
        .filter_map(|group| counter(&root.text(&format!("{group}/cpu.stat"))?, "nr_throttled"));
    counts.reduce(u64::saturating_add)
}

/// Returns the seconds for which quotas held tasks of the groups back; `None` if no group counts it.
pub(crate) fn throttled_s(root: &Root) -> Option<f64> {
    let of_group = |group: &String| {
        let text = root.text(&format!("{group}/cpu.stat"))?;
        let microseconds = counter(&text, "throttled_usec").map(|it| it as f64 / 1e6);
        microseconds.or_else(|| Some(counter(&text, "throttled_time")? as f64 / 1e9))
    };
    groups(root, "cpu").iter().filter_map(of_group).reduce(|sum, it| sum + it)
}

/// Returns the strictest limits of the groups of this process for a block device: the limited
/// counter and its increase per second.
pub(crate) fn device_limits(root: &Root, device: DeviceNumber) -> Vec<(Counter, f64)> {
    let groups = [groups(root, "io"), groups(root, "blkio")].concat();
    let limit = |(counter, key, file): (Counter, &str, &str)| {
        let of_group = |group: &String| {
            let text = |file: &str| root.text(&format!("{group}/{file}"));
            let second = text("io.max").and_then(|text| limit_value(&text, device, key));
            second
                .or_else(|| limit_value(&text(&format!("blkio.throttle.{file}"))?, device, ""))
        };
        let strictest = groups.iter().filter_map(of_group).reduce(f64::min);
        strictest.map(|per_s| (counter, per_s))
    };
    let limits = [
        (Counter::DeviceReadBytes, "rbps=", "read_bps_device"),
        (Counter::DeviceWrittenBytes, "wbps=", "write_bps_device"),
        (Counter::DeviceReads, "riops=", "read_iops_device"),
        (Counter::DeviceWrites, "wiops=", "write_iops_device"),
    ];
    limits.into_iter().filter_map(limit).collect()
}

/// Parses `8:0 rbps=1048576 wbps=max …` of version 2, and `8:0 1048576` of version 1.
fn limit_value(text: &str, (major, minor): DeviceNumber, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{major}:{minor} ")))?;
    let value = line.split_whitespace().find_map(|word| word.strip_prefix(key))?;
    value.parse().ok().filter(|it: &f64| it.is_finite() && *it > 0.0)
}

/// Returns the pressure stall information about CPUs of the process's own group, as the kernel
/// prints it; version 2 only.
pub(crate) fn cpu_pressure(root: &Root) -> Option<String> {
    root.text(&format!("{}/cpu.pressure", groups(root, "cpu").first()?))
}

/// Returns the directories (below the root) of the process's groups for one controller, from its
/// own to the outermost visible one. Version 2 comes before version 1.
fn groups(root: &Root, controller: &str) -> Vec<String> {
    let memberships = root.text("proc/self/cgroup").unwrap_or_default();
    let mounts = root.text("proc/self/mountinfo").unwrap_or_default();
    let mut all = Vec::new();
    for line in memberships.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let unified = number == "0" && controllers.is_empty();
        if unified || controllers.split(',').any(|name| name == controller) {
            let mount = mount(&mounts, (!unified).then_some(controller));
            all.push((!unified, ancestors(&mount, path)));
        }
    }
    all.sort_by_key(|(first_version, _)| *first_version);
    all.into_iter().flat_map(|(_, directories)| directories).collect()
}

/// Mount point of a hierarchy, and the group mounted there.
struct GroupMount {
    point: String,
    group: String,
}

/// Finds the mount of a version 1 `controller`, or of version 2. Falls back to the usual mount
/// point if the mounts are not visible.
fn mount(mounts: &str, controller: Option<&str>) -> GroupMount {
    let usual = || GroupMount {
        point: controller
            .map_or("sys/fs/cgroup".into(), |name| format!("sys/fs/cgroup/{name}")),
        group: "/".into(),
    };
    mounts.lines().find_map(|line| parse_mount(line, controller)).unwrap_or_else(usual)
}

/// Parses a line of `proc_pid_mountinfo(5)`: `id parent major:minor root point options … - type
/// source options`.
fn parse_mount(line: &str, controller: Option<&str>) -> Option<GroupMount> {
    let (place, kind) = line.split_once(" - ")?;
    let kind: Vec<&str> = kind.split(' ').collect();
    let wanted = match controller {
        None => *kind.first()? == "cgroup2",
        Some(name) => {
            *kind.first()? == "cgroup" && kind.get(2)?.split(',').any(|option| option == name)
        }
    };
    let place: Vec<&str> = place.split(' ').collect();
    wanted.then_some(())?;
    Some(GroupMount {
        point: place.get(4)?.trim_start_matches('/').to_owned(),
        group: (*place.get(3)?).to_owned(),
    })
}

/// Returns the directories of the group `path` and of its parents up to the mount. For a group
/// outside the mounted one (as in a container, where group names differ), returns the mount itself.
fn ancestors(mount: &GroupMount, path: &str) -> Vec<String> {
    let inside = path.strip_prefix(mount.group.trim_end_matches('/')).unwrap_or_default();
    let inside = if inside.contains("..") { "" } else { inside };
    let mut directory = format!("{}/{}", mount.point, inside.trim_matches('/'));
    let mut all = Vec::new();
    while directory.len() > mount.point.len() {
        all.push(directory.trim_end_matches('/').to_owned());
        directory.truncate(directory.trim_end_matches('/').rfind('/').unwrap_or(0));
    }
    if all.last() != Some(&mount.point) {
        all.push(mount.point.clone());
    }
    all
}

fn quota(root: &Root, group: &str) -> Option<f64> {
    let (quota, period) = match root.text(&format!("{group}/cpu.max")) {
        Some(text) => {
            let (quota, period) = text.split_once(' ')?;
            (quota.parse().ok()?, period.trim().parse().ok()?)
        }
        None => (
            root.number::<f64>(&format!("{group}/cpu.cfs_quota_us"))?,
            root.number::<f64>(&format!("{group}/cpu.cfs_period_us"))?,
        ),
    };
    let share: f64 = quota / period;
    (share.is_finite() && share > 0.0).then_some(share)
}

/// Returns limit − (usage − inactive page cache), because the kernel reclaims that cache before it
/// refuses memory. Version 2 also has `memory.high`, above which a group is slowed down.
fn memory_left(root: &Root, group: &str) -> Option<u64> {
    let number = |name: &str| root.number::<u64>(&format!("{group}/{name}"));
    let limits = ["memory.max", "memory.high", "memory.limit_in_bytes"];
    let limit = limits.iter().filter_map(|name| number(name)).min()?;
    if limit >= NO_LIMIT_BYTES {
        return None;
    }
    let used =
        number("memory.current").or_else(|| number("memory.usage_in_bytes")).unwrap_or(0);
    let stat = root.text(&format!("{group}/memory.stat")).unwrap_or_default();
    let cache = ["total_inactive_file", "inactive_file"];
    let cache = cache.iter().find_map(|name| counter(&stat, name)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

/// Returns the number after `name` in a file of `name number` lines.
fn counter(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(point: &str, group: &str, path: &str, expected: &[&str]) {
        let mount = GroupMount { point: point.into(), group: group.into() };
        assert_eq!(ancestors(&mount, path), expected, "{group} {path}");
    }

    #[test]
    fn lists_groups_from_own_to_mount() {
        check("c", "/", "/", &["c"]);
        check("c", "/", "/a/b", &["c/a/b", "c/a", "c"]);
        check("c/memory", "/docker/1", "/docker/1", &["c/memory"]);
        check("c/memory", "/docker/1", "/docker/1/x", &["c/memory/x", "c/memory"]);
        check("c/memory", "/docker/1", "/other", &["c/memory"]);
        check("c", "/", "/../../x", &["c"]);
    }

    #[test]
    fn parses_limits_of_both_versions() {
        let second = "8:16 rbps=2097152 wbps=max riops=max wiops=120\n8:0 rbps=1 wbps=2";
        for (text, device, key, expected) in [
            (second, (8, 16), "rbps=", Some(2_097_152.0)),
            (second, (8, 16), "wbps=", None),
            (second, (8, 16), "wiops=", Some(120.0)),
            (second, (8, 1), "rbps=", None),
            ("8:0 1048576\n8:16 5", (8, 16), "", Some(5.0)),
            ("", (8, 16), "", None),
        ] {
            assert_eq!(limit_value(text, device, key), expected, "{text} {device:?} {key}");
        }
    }

    #[test]
    fn finds_mounts_by_version_and_controller() {
        let text = "31 23 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
            32 31 0:29 /a /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
        for (controller, point, group) in [
            (Some("cpu"), "sys/fs/cgroup/cpu,cpuacct", "/a"),
            (Some("memory"), "sys/fs/cgroup/memory", "/"),
            (None, "sys/fs/cgroup/unified", "/"),
        ] {
            let found = mount(text, controller);
            assert_eq!((found.point.as_str(), found.group.as_str()), (point, group));
        }
    }
}
