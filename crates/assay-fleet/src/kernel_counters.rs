//! Reads kernel counters of devices, mounts, network devices and the machine at one moment.
//!
//! Opens no device and waits for nothing. A counter that is not visible has no value.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assay_model::cpu_times::{
    CpuTicks, CpuTimes, kernel_ticks, ticks_to_seconds, total_ticks, user_ticks,
};
use assay_model::kernel_counters::{Counter, CounterLimit, OmissionReason, OmittedCounter};

use crate::mounts::{self, DeviceNumber, Mount};
use crate::root::Root;
use crate::{block_device, control_group, disk_stats, network_device, nfs_client};

/// File systems with all data of a file on the device that the mount table names. Others spread,
/// compress or cache it (btrfs, zfs, overlay), or have none.
const PLAIN_FILE_SYSTEMS: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "vfat", "exfat"];
/// Mount options with which data are elsewhere, or avoid the block layer.
const OTHER_PATHS: [&str; 2] = ["rtdev=", "dax"];

/// Objects whose counters are read in addition to those of the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CountedPlaces {
    disks: BTreeMap<String, DeviceNumber>,
    nfs_mounts: BTreeSet<PathBuf>,
    network_devices: BTreeSet<String>,
    omitted: Vec<OmittedCounter>,
}

/// Counter of an object; the machine has the empty name.
pub type CounterKey = (Counter, String);

/// Values of all visible counters at one moment.
pub type CounterReading = BTreeMap<CounterKey, f64>;

impl CountedPlaces {
    /// Adds the devices or the mount below a file, a directory or a block device (absolute, without
    /// links); `device` is the number of a block device.
    pub fn add_path(
        &mut self,
        root: &Root,
        mounts: &[Mount],
        path: &Path,
        device: Option<DeviceNumber>,
    ) {
        let mount = mounts::find_mount(mounts, path);
        let found = match (device, mount) {
            (Some(device), _) => self.add_device(root, device),
            (None, Some(mount)) if matches!(mount.kind.as_str(), "nfs" | "nfs4") => {
                self.nfs_mounts.insert(mount.point.clone());
                Ok(())
            }
            (None, Some(mount)) if is_plain(mount) => self.add_device(root, mount.device),
            (None, Some(_)) => Err(OmissionReason::NoSingleDevice),
            (None, None) => Err(OmissionReason::NotVisible),
        };
        if let Err(reason) = found {
            let name = path.display().to_string();
            self.omitted.push(OmittedCounter { name, reason });
        }
    }

    fn add_device(&mut self, root: &Root, device: DeviceNumber) -> Result<(), OmissionReason> {
        let names = block_device::data_devices(root, device);
        if names.is_empty() {
            return Err(OmissionReason::NotVisible);
        }
        if names.iter().any(|name| has_no_statistics(root, name)) {
            return Err(OmissionReason::NotCounted);
        }
        self.disks.extend(names.into_iter().map(|name| {
            let number = root.text(&format!("sys/class/block/{name}/dev"));
            let number = number.and_then(|text| block_device::parse(&text));
            (name, number.unwrap_or(device))
        }));
        Ok(())
    }

    pub fn add_network_device(&mut self, name: &str) {
        self.network_devices.insert(name.to_owned());
    }

    /// Returns the paths that cannot be counted.
    pub fn omitted(&self) -> &[OmittedCounter] {
        &self.omitted
    }

    /// Returns the limits of the control groups of this process for the devices. They are kept for
    /// whole disks.
    pub fn limits(&self, root: &Root) -> Vec<CounterLimit> {
        let of_disk = |(name, number): (&String, &DeviceNumber)| {
            let disk = block_device::disk_of(root, *number).unwrap_or(*number);
            let limits = control_group::device_limits(root, disk).into_iter();
            let limit = |(counter, per_s)| CounterLimit { counter, of: name.clone(), per_s };
            limits.map(limit).collect::<Vec<_>>()
        };
        self.disks.iter().flat_map(of_disk).collect()
    }

    /// Reads all counters.
    pub fn read(&self, root: &Root) -> CounterReading {
        let mut reading = CounterReading::new();
        self.disks.keys().for_each(|name| add_disk(root, name, &mut reading));
        self.nfs_mounts.iter().for_each(|point| add_nfs_mount(root, point, &mut reading));
        for name in &self.network_devices {
            if let Some([received, sent]) = network_device::received_and_sent(root, name) {
                reading.insert((Counter::ReceivedBytes, name.clone()), received as f64);
                reading.insert((Counter::SentBytes, name.clone()), sent as f64);
            }
        }
        if !self.network_devices.is_empty() {
            add_tcp(root, &mut reading);
        }
        add_cpus(root, &mut reading);
        add_pressure(root, &mut reading);
        reading
    }
}

/// Counters of a block device.
const DEVICE_COUNTERS: [Counter; 5] = [
    Counter::DeviceReadBytes,
    Counter::DeviceWrittenBytes,
    Counter::DeviceReads,
    Counter::DeviceWrites,
    Counter::DeviceBusy,
];

/// Returns the counters of devices that have never counted an I/O: drivers of memory disks do not
/// count.
pub fn dead_counters(reading: &CounterReading) -> Vec<CounterKey> {
    let value = |counter, of: &String| reading.get(&(counter, of.clone())).copied();
    let is_dead = |of: &String| {
        value(Counter::DeviceReads, of) == Some(0.0)
            && value(Counter::DeviceWrites, of) == Some(0.0)
    };
    let devices = reading.keys().filter(|(counter, _)| *counter == Counter::DeviceReads);
    let dead = devices.map(|(_, of)| of).filter(|of| is_dead(of));
    dead.flat_map(|of| DEVICE_COUNTERS.map(|counter| (counter, of.clone()))).collect()
}

/// Returns the CPU times that no CPU shows: `/proc/stat` is hidden, or lacks columns.
pub fn missing_cpu_times(reading: &CounterReading) -> Vec<OmittedCounter> {
    let has = |counter| reading.keys().any(|(it, of)| *it == counter && !of.is_empty());
    let missing =
        [Counter::CpuInterrupts, Counter::CpuAll].into_iter().filter(|counter| !has(*counter));
    let omitted = |counter: Counter| OmittedCounter {
        name: counter.id().to_owned(),
        reason: OmissionReason::NotVisible,
    };
    missing.map(omitted).collect()
}

fn is_plain(mount: &Mount) -> bool {
    let is_elsewhere = |option: &str| {
        OTHER_PATHS.iter().any(|it| option.starts_with(it)) && option != "dax=never"
    };
    PLAIN_FILE_SYSTEMS.contains(&mount.kind.as_str())
        && mount.device.0 != 0
        && !mount.options.split(',').any(is_elsewhere)
}

/// Whether the statistics of a device are switched off.
fn has_no_statistics(root: &Root, name: &str) -> bool {
    let flag = |path: &str| root.text(&format!("sys/class/block/{name}/{path}"));
    let flag = flag("queue/iostats").or_else(|| flag("../queue/iostats"));
    flag.as_deref() == Some("0")
}

fn add_disk(root: &Root, name: &str, reading: &mut CounterReading) {
    let Some(counters) = disk_stats::read_named(root, name) else { return };
    for (counter, value) in [
        (Counter::DeviceReadBytes, counters.bytes.0 as f64),
        (Counter::DeviceWrittenBytes, counters.bytes.1 as f64),
        (Counter::DeviceReads, counters.ios.0 as f64),
        (Counter::DeviceWrites, counters.ios.1 as f64),
        (Counter::DeviceBusy, counters.busy_ms as f64 / 1e3),
    ] {
        reading.insert((counter, name.to_owned()), value);
    }
}

fn add_nfs_mount(root: &Root, point: &Path, reading: &mut CounterReading) {
    let Some(counters) = nfs_client::read(root, point) else { return };
    let name = point.display().to_string();
    for (counter, value) in [
        (Counter::NfsReadBytes, counters.read_bytes),
        (Counter::NfsWrittenBytes, counters.written_bytes),
        (Counter::NfsCalls, counters.calls),
        (Counter::NfsRetransmits, counters.retransmits),
    ] {
        reading.insert((counter, name.clone()), value as f64);
    }
}

/// Adds the counters of the last lines `Tcp:` of `/proc/net/snmp`: names, then values.
fn add_tcp(root: &Root, reading: &mut CounterReading) {
    let text = root.text("proc/net/snmp").unwrap_or_default();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return };
    let values: Vec<&str> = values.split_whitespace().collect();
    for (index, name) in names.split_whitespace().enumerate() {
        let counter = match name {
            "OutSegs" => Counter::TcpSegments,
            "RetransSegs" => Counter::TcpRetransmits,
            _ => continue,
        };
        if let Some(value) = values.get(index).and_then(|it| it.parse::<u64>().ok()) {
            reading.insert((counter, String::new()), value as f64);
        }
    }
}

/// Adds the CPU times of the machine, and the times of each CPU in interrupts and altogether.
fn add_cpus(root: &Root, reading: &mut CounterReading) {
    let Some(text) = root.text("proc/stat") else { return };
    let times = CpuTimes::parse(&text);
    if times.cpus.is_empty() {
        return;
    }
    let sum = times.sum_cpus();
    let interrupts =
        |it: &CpuTicks| kernel_ticks(it).saturating_sub(CpuTimes::system_ticks(it));
    for (counter, ticks) in [
        (Counter::CpuUser, user_ticks(&sum)),
        (Counter::CpuSystem, CpuTimes::system_ticks(&sum)),
        (Counter::CpuInterrupts, interrupts(&sum)),
        (Counter::CpuStolen, CpuTimes::stolen_ticks(&sum)),
        (Counter::CpuAll, total_ticks(&sum)),
    ] {
        reading.insert((counter, String::new()), ticks_to_seconds(ticks));
    }
    for (number, cpu) in CpuTimes::parse_numbered(&text) {
        let mut add = |counter, ticks| {
            reading.insert((counter, format!("cpu{number}")), ticks_to_seconds(ticks));
        };
        add(Counter::CpuInterrupts, interrupts(&cpu));
        add(Counter::CpuAll, total_ticks(&cpu));
    }
    let lines = || text.lines().rev();
    let switches = lines().find_map(|line| line.strip_prefix("ctxt ")?.trim().parse().ok());
    if let Some(switches) = switches {
        reading.insert((Counter::ContextSwitches, String::new()), switches);
    }
}

/// Adds pressure, throttled time and major faults.
fn add_pressure(root: &Root, reading: &mut CounterReading) {
    let pressure = |resource: &str| {
        let text = root.text(&format!("proc/pressure/{resource}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
        let total = line.split_whitespace().find_map(|field| field.strip_prefix("total="))?;
        Some(total.parse::<u64>().ok()? as f64 / 1e6)
    };
    let faults = || {
        let text = root.text("proc/vmstat")?;
        let line = text.lines().find_map(|line| line.strip_prefix("pgmajfault "))?;
        line.trim().parse::<u64>().ok().map(|it| it as f64)
    };
    for (counter, value) in [
        (Counter::CpuPressure, pressure("cpu")),
        (Counter::IoPressure, pressure("io")),
        (Counter::MemoryPressure, pressure("memory")),
        (Counter::CpuThrottled, control_group::throttled_s(root)),
        (Counter::MajorFaults, faults()),
    ] {
        if let Some(value) = value {
            reading.insert((counter, String::new()), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::root::write_file;

    fn machine(folder: &Path, files: &[(&str, &str)]) -> Root {
        let write = |path: &str, text: &str| write_file(folder, path, text);
        fs::create_dir_all(folder.join("sys/dev/block")).unwrap();
        fs::create_dir_all(folder.join("sys/class/block")).unwrap();
        for (name, number) in [("sda", "8:0"), ("sdb", "8:16"), ("ram0", "1:0")] {
            write(&format!("sys/devices/{name}/dev"), number);
            write(&format!("sys/devices/{name}/uevent"), &format!("DEVNAME={name}\n"));
            let target = format!("../../devices/{name}");
            symlink(&target, folder.join(format!("sys/dev/block/{number}"))).unwrap();
            symlink(&target, folder.join(format!("sys/class/block/{name}"))).unwrap();
        }
        write("sys/devices/sda/stat", " 10 2 300 40 50 6 700 80 9 1500 110 0 0 0 0\n");
        write("sys/devices/sdb/stat", " 10 2 300 40 50 6 700 80 9 100 110\n");
        write("sys/devices/sdb/queue/iostats", "0\n");
        write("sys/devices/ram0/stat", " 0 0 0 0 0 0 0 0 0 0 0\n");
        files.iter().for_each(|(path, text)| write(path, text));
        Root::from_directory(folder)
    }

    fn mount(device: DeviceNumber, point: &str, kind: &str, options: &str) -> Mount {
        let (point, kind, options) = (point.into(), kind.into(), options.into());
        Mount { device, point, kind, source: "/dev/x".into(), options }
    }

    #[test]
    fn counts_only_where_data_certainly_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = machine(folder.path(), &[]);
        let mounts = [
            mount((8, 0), "/", "ext4", "rw"),
            mount((8, 16), "/off", "ext4", "rw"),
            mount((1, 0), "/ram", "ext4", "rw"),
            mount((0, 40), "/btrfs", "btrfs", "rw"),
            mount((0, 41), "/nfs", "nfs4", "rw"),
            mount((8, 0), "/dax", "xfs", "rw,dax=always"),
            mount((8, 0), "/rt", "xfs", "rw,rtdev=/dev/sdb"),
            mount((9, 9), "/gone", "ext4", "rw"),
        ];
        let places = |path: &str, device| {
            let mut places = CountedPlaces::default();
            places.add_path(&root, &mounts, Path::new(path), device);
            let disks: Vec<&str> = places.disks.keys().map(String::as_str).collect();
            let reason = places.omitted.first().map(|it| it.reason);
            (disks.join(","), places.nfs_mounts.len(), reason)
        };
        for (path, device, expected) in [
            ("/data/x", None, ("sda", 0, None)),
            ("/off/x", None, ("", 0, Some(OmissionReason::NotCounted))),
            ("/ram/x", None, ("ram0", 0, None)),
            ("/btrfs/x", None, ("", 0, Some(OmissionReason::NoSingleDevice))),
            ("/dax/x", None, ("", 0, Some(OmissionReason::NoSingleDevice))),
            ("/rt/x", None, ("", 0, Some(OmissionReason::NoSingleDevice))),
            ("/gone/x", None, ("", 0, Some(OmissionReason::NotVisible))),
            ("/nfs/x", None, ("", 1, None)),
            ("/dev/sda", Some((8, 0)), ("sda", 0, None)),
        ] {
            let (disks, mounts, reason) = expected;
            assert_eq!(places(path, device), (disks.to_owned(), mounts, reason), "{path}");
        }
    }

    #[test]
    fn devices_that_never_counted_are_dead() {
        let folder = tempfile::tempdir().unwrap();
        let root = machine(folder.path(), &[]);
        let mut places = CountedPlaces::default();
        for (path, device) in [("/dev/sda", (8, 0)), ("/dev/ram0", (1, 0))] {
            places.add_path(&root, &[], Path::new(path), Some(device));
        }
        let dead = dead_counters(&places.read(&root));
        assert_eq!(dead, DEVICE_COUNTERS.map(|counter| (counter, "ram0".to_owned())));
    }

    /// Kernels before 2.6 had four columns, and some containers hide the file.
    #[test]
    fn missing_columns_of_cpu_times_are_named() {
        let names = |stat: &str| -> Vec<String> {
            let folder = tempfile::tempdir().unwrap();
            let root = machine(folder.path(), &[("proc/stat", stat)]);
            let missing = missing_cpu_times(&CountedPlaces::default().read(&root));
            assert!(missing.iter().all(|it| it.reason == OmissionReason::NotVisible));
            missing.into_iter().map(|it| it.name).collect()
        };
        let both = ["cpu-interrupts", "cpu-all"];
        assert_eq!(names("cpu  9 0 9 9 0 0 9 0\ncpu0 9 0 9 9 0 0 9 0\n"), [""; 0]);
        assert_eq!(names("cpu  9 0 9 9\ncpu0 9 0 9 9\n"), both);
        assert_eq!(names(""), both);
    }

    #[test]
    fn reads_visible_counters_only() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("proc/stat", "cpu  9 0 9 9 0 0 9 0 0 0\ncpu3 70 0 4 144 4 2 100 5 0 0\nctxt 77\n"),
            ("proc/pressure/io", "some avg10=0.00 total=2500000\nfull avg10=0.00 total=1\n"),
            ("proc/net/snmp", "Tcp: X OutSegs RetransSegs\nTcp: 1 500 7\n"),
            ("sys/class/net/eth0/statistics/rx_bytes", "1000"),
            ("sys/class/net/eth0/statistics/tx_bytes", "24"),
        ];
        let root = machine(folder.path(), &files);
        let mut places = CountedPlaces::default();
        places.add_path(&root, &[], Path::new("/dev/sda"), Some((8, 0)));
        places.add_network_device("eth0");
        places.add_network_device("gone");
        let reading = places.read(&root);
        let text: Vec<String> = reading
            .iter()
            .map(|((counter, of), value)| format!("{} {of} {value}", counter.id()))
            .collect();
        assert_eq!(
            text,
            [
                "device-read-bytes sda 153600",
                "device-written-bytes sda 358400",
                "device-reads sda 10",
                "device-writes sda 50",
                "device-busy sda 1.5",
                "received-bytes eth0 1000",
                "sent-bytes eth0 24",
                "tcp-segments  500",
                "tcp-retransmits  7",
                "cpu-user  0.7",
                "cpu-system  0.04",
                "cpu-interrupts  1.02",
                "cpu-interrupts cpu3 1.02",
                "cpu-stolen  0.05",
                "cpu-all  3.29",
                "cpu-all cpu3 3.29",
                "context-switches  77",
                "io-pressure  2.5",
            ]
        );
    }
}
