//! What a disk has done since the system started, from `/proc/diskstats`.
//!
//! Never waits: two readings and the time between them make a rate.

use crate::mounts::DeviceNumber;
use crate::root::Root;

/// The counters of one disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiskCounters {
    /// Its name: `vda`.
    pub name: String,
    /// Reads and writes completed.
    pub ios: (u64, u64),
    /// Reads and writes merged with a neighbour.
    pub merges: (u64, u64),
    /// Milliseconds that reads and writes took, all together.
    pub ticks_ms: (u64, u64),
    /// Milliseconds in which anything was in flight.
    pub busy_ms: u64,
    /// Milliseconds that all I/O spent in the queue, together.
    pub in_queue_ms: u64,
}

/// The counters of the disk that holds `device`, which may be a partition; `None` where the system
/// does not report it.
#[must_use]
pub fn read(root: &Root, device: DeviceNumber) -> Option<DiskCounters> {
    let statistics = root.text("proc/diskstats")?;
    let disk = whole_disk(root, device).unwrap_or(device);
    statistics.lines().find_map(|line| counters(line, disk))
}

/// The disk of a partition.
fn whole_disk(root: &Root, (major, minor): DeviceNumber) -> Option<DeviceNumber> {
    let folder = format!("sys/dev/block/{major}:{minor}");
    if !root.exists(&format!("{folder}/partition")) {
        return None;
    }
    // The link leads into the folder of the disk, so that its parent is found through it.
    let number: String = root.number(&format!("{folder}/../dev"))?;
    let (major, minor) = number.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// `major minor name` and then the counters in the order of the kernel's `iostats.rst`.
fn counters(line: &str, (major, minor): DeviceNumber) -> Option<DiskCounters> {
    let mut words = line.split_whitespace();
    let number = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let name = words.next()?.to_owned();
    if number != (major, minor) {
        return None;
    }
    let values: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let value = |index: usize| values.get(index).copied();
    Some(DiskCounters {
        name,
        ios: (value(0)?, value(4)?),
        merges: (value(1)?, value(5)?),
        ticks_ms: (value(3)?, value(7)?),
        busy_ms: value(9)?,
        in_queue_ms: value(10)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read() {
        let line = " 254       0 vda 10 2 300 40 50 6 700 80 9 100 110 1 2 3 4 5 6";
        let expected = DiskCounters {
            name: "vda".to_owned(),
            ios: (10, 50),
            merges: (2, 6),
            ticks_ms: (40, 80),
            busy_ms: 100,
            in_queue_ms: 110,
        };
        assert_eq!(counters(line, (254, 0)), Some(expected));
        assert_eq!(counters(line, (254, 1)), None);
        assert_eq!(counters(" 254 0 vda 1 2", (254, 0)), None);
        assert_eq!(counters("", (0, 0)), None);
    }
}
