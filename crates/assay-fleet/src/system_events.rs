//! Events of counting units outside the cores, as the kernel describes them: traffic of memory
//! controllers and energy of packages.
//!
//! Uses only events whose name, unit and scale the kernel itself gives (`events/NAME`, `.unit`,
//! `.scale`). The numbers of other events differ from processor to processor and are not guessed.

use assay_model::kernel_counters::Counter;

use crate::cpu_list;
use crate::root::Root;

const FOLDER: &str = "sys/bus/event_source/devices";
/// Bytes of the unit `MiB`.
const MIB: f64 = 1048576.0;

/// Event on one CPU that stands for its package.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemEvent {
    pub counter: Counter,
    /// Package whose energy it is: `cpu0` for the one of that CPU; empty for memory.
    pub of: String,
    /// Number of the counting unit.
    pub kind: u32,
    /// The three numbers that select the event.
    pub config: [u64; 3],
    pub cpu: u32,
    /// Bytes or joules of one count.
    pub scale: f64,
}

/// Sources of memory traffic: prefix of the units, events of reads and writes. The first that exists counts;
/// several show the same traffic.
const MEMORY_SOURCES: [(&str, [&str; 2]); 4] = [
    ("uncore_imc", ["cas_count_read", "cas_count_write"]),
    ("uncore_imc", ["data_reads", "data_writes"]),
    ("uncore_imc_free_running", ["data_read", "data_write"]),
    ("uncore_imc_free_running", ["read", "write"]),
];

/// Returns the events of memory traffic; empty if the kernel names none.
pub fn memory_events(root: &Root) -> Vec<SystemEvent> {
    let counters = [Counter::MemoryReadBytes, Counter::MemoryWrittenBytes];
    let of_source = |(prefix, names): &(&str, [&str; 2])| {
        let units = root.names(FOLDER).into_iter();
        let units: Vec<String> = units.filter(|it| is_numbered(it, prefix)).collect();
        let mut found = Vec::new();
        for (counter, name) in counters.into_iter().zip(names) {
            for unit in &units {
                found.extend(read_events(root, unit, name, counter, ("MiB", MIB)));
            }
        }
        // Reads without writes are no traffic.
        let has_both = counters.iter().all(|it| found.iter().any(|one| one.counter == *it));
        found.retain(|_| has_both);
        found
    };
    MEMORY_SOURCES.iter().map(of_source).find(|it| !it.is_empty()).unwrap_or_default()
}

/// Returns the energy of each package, from the unit `power`.
pub fn energy_events(root: &Root) -> Vec<SystemEvent> {
    let energy = Counter::PackageEnergy;
    let mut found = read_events(root, "power", "energy-pkg", energy, ("Joules", 1.0));
    found.iter_mut().for_each(|it| it.of = format!("package-of-cpu{}", it.cpu));
    found
}

/// Whether the machine has cores of several types, each with a counting unit of its own.
pub fn has_several_core_types(root: &Root) -> bool {
    let units = root.names(FOLDER).into_iter();
    units.filter(|unit| root.exists(&format!("{FOLDER}/{unit}/cpus"))).count() > 1
}

/// Whether a unit is `PREFIX` or `PREFIX_3`.
fn is_numbered(unit: &str, prefix: &str) -> bool {
    let Some(rest) = unit.strip_prefix(prefix) else { return false };
    let digits = rest.strip_prefix('_').unwrap_or_default();
    rest.is_empty() || (!digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()))
}

/// Returns an event of a unit on each CPU of its `cpumask`.
fn read_events(
    root: &Root,
    unit: &str,
    name: &str,
    counter: Counter,
    (symbol, factor): (&str, f64),
) -> Vec<SystemEvent> {
    let path = format!("{FOLDER}/{unit}");
    let text = |file: &str| root.text(&format!("{path}/{file}"));
    let described = || {
        let words = text(&format!("events/{name}"))?;
        let scale: f64 = text(&format!("events/{name}.scale"))?.parse().ok()?;
        let is_known =
            text(&format!("events/{name}.unit"))? == symbol && scale.is_finite() && scale > 0.0;
        let config = parse_config(&words, |field| text(&format!("format/{field}")))?;
        let cpus = cpu_list::parse(&text("cpumask")?)?;
        let kind = text("type")?.parse().ok()?;
        is_known.then_some((kind, config, cpus, scale))
    };
    let Some((kind, config, cpus, scale)) = described() else { return Vec::new() };
    let on_cpu = |cpu| SystemEvent {
        counter,
        of: String::new(),
        kind,
        config,
        cpu,
        scale: scale * factor,
    };
    cpus.into_iter().map(on_cpu).collect()
}

/// Combines the terms of an event, `event=0x04,umask=0x03`, by the bits that the unit's folder
/// `format` gives each of them: `config:0-7`.
fn parse_config(words: &str, format: impl Fn(&str) -> Option<String>) -> Option<[u64; 3]> {
    let mut config = [0; 3];
    for term in words.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let (field, value) = term.split_once('=').unwrap_or((term, "1"));
        let value = match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => value.parse().ok()?,
        };
        let format = format(field)?;
        let (word, ranges) = format.split_once(':')?;
        let word = ["config", "config1", "config2"].iter().position(|it| *it == word)?;
        let mut rest = value;
        for range in ranges.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            if first > last || last > 63 {
                return None;
            }
            for bit in first..=last {
                config[word] |= (rest & 1) << bit;
                rest >>= 1;
            }
        }
        if rest != 0 {
            return None;
        }
    }
    Some(config)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::root::write_file;

    fn unit(folder: &Path, unit: &str, kind: &str, files: &[(&str, &str)]) {
        let common = [("type", kind), ("cpumask", "0,24\n"), ("format/event", "config:0-7\n")];
        let umask = ("format/umask", "config:8-15,32-55\n");
        for (file, text) in common.iter().chain([&umask]).chain(files) {
            write_file(folder, &format!("{FOLDER}/{unit}/{file}"), text);
        }
    }

    /// Files of a Xeon with two packages; the second controller has no scale of its writes.
    fn xeon(folder: &Path, channels: &[&str]) -> Root {
        for (number, channel) in channels.iter().enumerate() {
            let name = |what: &str| format!("events/cas_count_{what}");
            let [read, write] = ["read", "write"].map(name);
            let scale = "6.103515625e-5\n";
            let kind = format!("{}\n", 20 + number);
            unit(
                folder,
                channel,
                &kind,
                &[
                    (&read, "event=0x04,umask=0x03\n"),
                    (&format!("{read}.scale"), scale),
                    (&format!("{read}.unit"), "MiB\n"),
                    (&write, "event=0x04,umask=0x10c\n"),
                    (&format!("{write}.scale"), scale),
                    (&format!("{write}.unit"), "MiB\n"),
                ],
            );
        }
        Root::from_directory(folder)
    }

    #[test]
    fn controllers_of_all_packages_are_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = xeon(folder.path(), &["uncore_imc_0", "uncore_imc_1"]);
        let free = [
            ("events/read", "event=0xff,umask=0x20\n"),
            ("events/read.scale", "3.814697266e-6\n"),
            ("events/read.unit", "MiB\n"),
        ];
        unit(folder.path(), "uncore_imc_free_running_0", "30\n", &free);
        let found = memory_events(&root);
        let short: Vec<(u32, u64, u32)> =
            found.iter().map(|it| (it.kind, it.config[0], it.cpu)).collect();
        let (read, write) = (0x0304, 0x01_0000_0c04);
        assert_eq!(
            short,
            [
                (20, read, 0),
                (20, read, 24),
                (21, read, 0),
                (21, read, 24),
                (20, write, 0),
                (20, write, 24),
                (21, write, 0),
                (21, write, 24),
            ]
        );
        assert!(found.iter().all(|it| (it.scale - 64.0).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn core_types_are_the_units_with_cpus() {
        let folder = tempfile::tempdir().unwrap();
        let root = xeon(folder.path(), &["uncore_imc_0"]);
        for (unit, expected) in [("cpu_core", false), ("cpu_atom", true)] {
            write_file(folder.path(), &format!("{FOLDER}/{unit}/cpus"), "0-7\n");
            assert_eq!(has_several_core_types(&root), expected, "{unit}");
        }
    }

    #[test]
    fn nothing_is_guessed() {
        for (file, text) in [
            ("events/cas_count_write.unit", "lines\n"),
            ("events/cas_count_read.scale", "inf\n"),
            ("events/cas_count_read", "event=0x1ff\n"),
            ("events/cas_count_read", "edge=1\n"),
            ("format/event", "config:70\n"),
            ("cpumask", "\n"),
            ("type", "uncore\n"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let root = xeon(folder.path(), &["uncore_imc_0"]);
            write_file(folder.path(), &format!("{FOLDER}/uncore_imc_0/{file}"), text);
            assert_eq!(memory_events(&root), [], "{file}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(memory_events(&Root::from_directory(folder.path())), []);
        assert_eq!(energy_events(&Root::from_directory(folder.path())), []);
    }

    #[test]
    fn energy_of_packages_has_its_scale() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("events/energy-pkg", "event=0x02\n"),
            ("events/energy-pkg.scale", "2.3283064365386962890625e-10\n"),
            ("events/energy-pkg.unit", "Joules\n"),
            ("events/energy-ram", "event=0x03\n"),
        ];
        unit(folder.path(), "power", "12\n", &files);
        let found = energy_events(&Root::from_directory(folder.path()));
        let short: Vec<(&str, u64)> =
            found.iter().map(|it| (it.of.as_str(), it.config[0])).collect();
        assert_eq!(short, [("package-of-cpu0", 2), ("package-of-cpu24", 2)]);
        assert!((found[0].scale * 4_294_967_296.0 - 1.0).abs() < 1e-12);
    }
}
