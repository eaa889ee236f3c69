//! Energy of processor packages from the power capping framework of the kernel (RAPL).
//!
//! Counts package domains only: their parts (`core`, `uncore`) are in them, and the whole platform
//! (`psys`) has them. Never estimates power from a model.

use std::collections::BTreeMap;

use assay_model::kernel_counters::OmissionReason;

use crate::root::Root;

const FOLDER: &str = "sys/class/powercap";
/// Power that no package reaches, in watts; the largest today have limits of 500 W to 700 W.
const MAX_PACKAGE_W: f64 = 2000.0;

/// Package with a counter of energy.
#[derive(Debug, Clone, PartialEq)]
pub struct EnergyDomain {
    /// `package-0`, `package-1-die-0`.
    pub name: String,
    path: String,
    /// Largest value of the counter, in joules; it restarts at 0 above it.
    range_j: f64,
}

/// Energy of packages since their first reading. Follows counters that wrap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnergyMeter {
    domains: Vec<EnergyDomain>,
    last: BTreeMap<String, LastReading>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct LastReading {
    raw_j: f64,
    sum_j: f64,
    at_ns: u64,
}

impl EnergyMeter {
    /// Finds the readable packages.
    ///
    /// # Errors
    /// The reason if there are none, or some cannot be read: a part of the energy is none.
    pub fn find(root: &Root) -> Result<Self, OmissionReason> {
        let domains = find_domains(root);
        if domains.is_empty() {
            return Err(OmissionReason::NotVisible);
        }
        match domains.iter().all(|it| root.number::<f64>(&energy_path(it)).is_some()) {
            true => Ok(Self { domains, ..Self::default() }),
            false => Err(OmissionReason::NotPermitted),
        }
    }

    /// Forgets all readings, so that the time since the last one does not count.
    pub fn restart(&mut self) {
        self.last.clear();
    }

    /// Reads all packages: names and joules since the first reading, or the reason why one has no
    /// value any more.
    pub fn read(
        &mut self,
        root: &Root,
        now_ns: u64,
    ) -> Vec<(String, Result<f64, OmissionReason>)> {
        let domains = self.domains.clone();
        let value = |it: EnergyDomain| {
            let sum_j = self.advance(&it, root.number::<f64>(&energy_path(&it)), now_ns);
            (it.name, sum_j)
        };
        domains.into_iter().map(value).collect()
    }

    fn advance(
        &mut self,
        domain: &EnergyDomain,
        raw_uj: Option<f64>,
        now_ns: u64,
    ) -> Result<f64, OmissionReason> {
        let raw_j = raw_uj.ok_or(OmissionReason::NotVisible)? / 1e6;
        let first = LastReading { raw_j, sum_j: 0.0, at_ns: now_ns };
        let last = self.last.insert(domain.name.clone(), first).unwrap_or(first);
        let elapsed_s = now_ns.saturating_sub(last.at_ns) as f64 / 1e9;
        let increase = increase_j((last.raw_j, raw_j), domain.range_j, elapsed_s);
        // Later differences are right again.
        let sum_j = last.sum_j + increase.unwrap_or(0.0);
        self.last.insert(domain.name.clone(), LastReading { sum_j, ..first });
        increase.map(|_| sum_j).ok_or(OmissionReason::MayHaveWrapped)
    }
}

/// Returns the increase of a counter that restarts above `range_j`; `None` if it may have done so
/// twice, or the file does not show where.
fn increase_j((before, after): (f64, f64), range_j: f64, elapsed_s: f64) -> Option<f64> {
    let is_whole = elapsed_s * MAX_PACKAGE_W < range_j;
    let difference = after - before;
    match difference < 0.0 {
        _ if !is_whole => None,
        true => Some(difference + range_j),
        false => Some(difference),
    }
}

fn energy_path(domain: &EnergyDomain) -> String {
    format!("{}/energy_uj", domain.path)
}

/// Returns the packages. Some processors show each by two interfaces (MSR and MMIO), which count the
/// same energy.
fn find_domains(root: &Root) -> Vec<EnergyDomain> {
    let mut found = BTreeMap::new();
    for zone in root.names(FOLDER) {
        let path = format!("{FOLDER}/{zone}");
        let name = root.text(&format!("{path}/name"));
        let Some(name) = name.filter(|it| it.starts_with("package-")) else { continue };
        let range_uj = root.number::<f64>(&format!("{path}/max_energy_range_uj"));
        let range_j = range_uj.filter(|it| it.is_finite()).unwrap_or(0.0) / 1e6;
        found.entry(name.clone()).or_insert(EnergyDomain { name, path, range_j });
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::root::write_file;

    fn zone(folder: &Path, zone: &str, name: &str, energy_uj: &str) {
        let write = |file: &str, text: &str| {
            write_file(folder, &format!("{FOLDER}/{zone}/{file}"), text);
        };
        write("name", name);
        write("max_energy_range_uj", "262143328850\n");
        write("energy_uj", energy_uj);
    }

    /// A machine with two packages, their parts, memory, the platform, and a second interface.
    fn machine(folder: &Path) -> Root {
        for (path, name, energy_uj) in [
            ("intel-rapl:0", "package-0", "262143000000\n"),
            ("intel-rapl:0:0", "core", "7\n"),
            ("intel-rapl:0:1", "dram", "9\n"),
            ("intel-rapl:1", "package-1", "5000000\n"),
            ("intel-rapl:2", "psys", "11\n"),
            ("intel-rapl-mmio:0", "package-0", "262143000000\n"),
        ] {
            zone(folder, path, name, energy_uj);
        }
        write_file(folder, &format!("{FOLDER}/intel-rapl/enabled"), "1\n");
        Root::from_directory(folder)
    }

    #[test]
    fn packages_are_counted_once_across_a_wrap() {
        let folder = tempfile::tempdir().unwrap();
        let root = machine(folder.path());
        let mut meter = EnergyMeter::find(&root).unwrap();
        let names: Vec<&str> = meter.domains.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["package-0", "package-1"]);
        let mut read = |at_s: u64| -> Vec<Result<f64, OmissionReason>> {
            let all = meter.read(&root, at_s * 1_000_000_000).into_iter();
            all.map(|(_, sum)| sum.map(|it| (it * 1e6).round() / 1e6)).collect()
        };
        assert_eq!(read(0), [Ok(0.0), Ok(0.0)]);
        for path in ["intel-rapl:0", "intel-rapl-mmio:0"] {
            zone(folder.path(), path, "package-0", "671150\n");
        }
        zone(folder.path(), "intel-rapl:1", "package-1", "8500000\n");
        assert_eq!(read(1), [Ok(1.0), Ok(3.5)]);
        // 262 kJ at 2 kW take 131 s.
        let wrapped = OmissionReason::MayHaveWrapped;
        assert_eq!(read(133), [Err(wrapped), Err(wrapped)]);
        assert_eq!(read(134), [Ok(1.0), Ok(3.5)]);
        std::fs::remove_dir_all(folder.path().join(FOLDER).join("intel-rapl:1")).unwrap();
        assert_eq!(read(135)[1], Err(OmissionReason::NotVisible));
    }

    #[test]
    fn no_energy_has_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::from_directory(folder.path());
        assert_eq!(EnergyMeter::find(&root), Err(OmissionReason::NotVisible));
        zone(folder.path(), "intel-rapl:0", "package-0", "1\n");
        zone(folder.path(), "intel-rapl:1", "package-1", "");
        assert_eq!(EnergyMeter::find(&root), Err(OmissionReason::NotPermitted));
    }
}
