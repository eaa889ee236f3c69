//! Activity of a disk since boot, from `/proc/diskstats`.
//!
//! Never waits: callers compute rates from two readings.

use crate::mounts::DeviceNumber;
use crate::root::Root;

/// Counters of one disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiskCounters {
    /// Name: `vda`.
    pub name: String,
    /// Completed reads and writes.
    pub ios: (u64, u64),
    /// Reads and writes merged with a neighbour.
    pub merges: (u64, u64),
    /// Total time of reads and of writes, in milliseconds.
    pub ticks_ms: (u64, u64),
    /// Bytes read and written.
    pub bytes: (u64, u64),
    /// Milliseconds with at least one I/O in flight.
    pub busy_ms: u64,
    /// Total time of all I/O in the queue, in milliseconds.
    pub in_queue_ms: u64,
}

/// Reads the counters of the disk of `device`, which may be a partition; `None` if the system does
/// not report them.
pub fn read(root: &Root, device: DeviceNumber) -> Option<DiskCounters> {
    let statistics = root.text("proc/diskstats")?;
    let disk = whole_disk(root, device).unwrap_or(device);
    statistics.lines().find_map(|line| parse_counters(line, disk))
}

/// Reads the counters of a disk or partition by its name; `None` if the system does not report them.
pub fn read_named(root: &Root, name: &str) -> Option<DiskCounters> {
    let text = root.text(&format!("sys/class/block/{name}/stat"));
    let text = text.or_else(|| root.text(&format!("sys/block/{name}/stat")))?;
    parse_values(name.to_owned(), text.split_whitespace())
}

/// Returns the disk of a partition.
fn whole_disk(root: &Root, (major, minor): DeviceNumber) -> Option<DeviceNumber> {
    let folder = format!("sys/dev/block/{major}:{minor}");
    if !root.exists(&format!("{folder}/partition")) {
        return None;
    }
    // The link resolves to the partition's folder, whose parent is the disk.
    let number: String = root.number(&format!("{folder}/../dev"))?;
    let (major, minor) = number.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Parses a line: `major minor name`, then the counters in the order of the kernel's `iostats.rst`.
fn parse_counters(line: &str, (major, minor): DeviceNumber) -> Option<DiskCounters> {
    let mut words = line.split_whitespace();
    let number = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let name = words.next()?.to_owned();
    if number != (major, minor) {
        return None;
    }
    parse_values(name, words)
}

/// Unit of the kernel's counters of transfers, independent of the device's sectors.
const SECTOR_BYTES: u64 = 512;

fn parse_values<'w>(
    name: String,
    words: impl Iterator<Item = &'w str>,
) -> Option<DiskCounters> {
    let values: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let value = |index: usize| values.get(index).copied();
    let bytes = |index: usize| value(index)?.checked_mul(SECTOR_BYTES);
    Some(DiskCounters {
        name,
        bytes: (bytes(2)?, bytes(6)?),
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
    fn parses_diskstats_line() {
        let line = " 254       0 vda 10 2 300 40 50 6 700 80 9 100 110 1 2 3 4 5 6";
        let expected = DiskCounters {
            name: "vda".to_owned(),
            ios: (10, 50),
            merges: (2, 6),
            ticks_ms: (40, 80),
            bytes: (300 * 512, 700 * 512),
            busy_ms: 100,
            in_queue_ms: 110,
        };
        assert_eq!(parse_counters(line, (254, 0)), Some(expected));
        assert_eq!(parse_counters(line, (254, 1)), None);
        assert_eq!(parse_counters(" 254 0 vda 1 2", (254, 0)), None);
        assert_eq!(parse_counters("", (0, 0)), None);
    }
}
