//! CPU and network utilisation of a host while it measures with others, from one common start to
//! the next.
//!
//! Counters are read only at starts and ends, so that nothing disturbs the measurement.

use std::collections::BTreeMap;

use assay_fleet::network_device;
use assay_fleet::root::Root;
use assay_fleet::state;
use assay_kernels::clock;
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::cpu_times::CpuTimes;

/// Shortest stretch with a useful CPU load: the kernel counts CPU time in ticks of 10 ms, which is
/// 2 % of one CPU.
const SHORTEST_S: f64 = 0.5;

/// Counters of the machine at one moment.
struct CounterReading {
    at_ns: u64,
    cpus: CpuTimes,
    /// Bytes received and sent, by device.
    devices: BTreeMap<String, [u64; 2]>,
}

impl CounterReading {
    fn read(root: &Root, at_ns: u64) -> Self {
        let names = network_device::names(root).into_iter();
        let devices = names.filter_map(|name| {
            network_device::received_and_sent(root, &name).map(|bytes| (name, bytes))
        });
        Self { at_ns, cpus: state::cpu_times(root), devices: devices.collect() }
    }
}

/// Utilisation of a host in its busiest stretch.
#[derive(Debug, Clone, Copy, Default)]
struct Utilisation {
    cpu: f64,
    busiest_cpu: f64,
    bit_per_s: f64,
    /// Share of the nominal rate of the device, if it reports one.
    link_share: Option<f64>,
}

impl Utilisation {
    fn from_readings(root: &Root, from: &CounterReading, to: &CounterReading) -> Option<Self> {
        let wall_s = to.at_ns.saturating_sub(from.at_ns) as f64 * 1e-9;
        if wall_s < SHORTEST_S {
            return None;
        }
        let account = from.cpus.account(&to.cpus, wall_s, 0.0);
        let mut used =
            Self { cpu: account.load(), busiest_cpu: account.busiest, ..Self::default() };
        for (name, [received, sent]) in &to.devices {
            let Some([received_before, sent_before]) = from.devices.get(name) else { continue };
            let bytes = received
                .saturating_sub(*received_before)
                .max(sent.saturating_sub(*sent_before));
            let bit_per_s = 8.0 * bytes as f64 / wall_s;
            let claimed = network_device::read(root, name).link_bit_per_s;
            let of_link = claimed.map(|claimed| bit_per_s / claimed as f64);
            used = used.maximum(Self { bit_per_s, link_share: of_link, ..used });
        }
        Some(used)
    }

    /// Maximum of each value of two stretches or devices.
    fn maximum(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.max(other.cpu),
            busiest_cpu: self.busiest_cpu.max(other.busiest_cpu),
            bit_per_s: self.bit_per_s.max(other.bit_per_s),
            link_share: self.link_share.into_iter().chain(other.link_share).reduce(f64::max),
        }
    }
}

/// Utilisation during one case: the maximum of all its stretches, and their total duration.
#[derive(Debug, Clone, Copy, Default)]
struct CaseUtilisation {
    peak: Option<Utilisation>,
    busy_ns: u64,
}

impl CaseUtilisation {
    fn merge(self, other: Self) -> Self {
        let most = self.peak.into_iter().chain(other.peak).reduce(Utilisation::maximum);
        Self { peak: most, busy_ns: self.busy_ns + other.busy_ns }
    }
}

/// Utilisation during the cases being measured.
pub(super) struct UtilisationWatch {
    root: Root,
    /// Counters at the start of the current stretch, and its cases.
    begun: Option<CounterReading>,
    by: Vec<String>,
    /// Completed stretches, by case.
    ended: BTreeMap<String, CaseUtilisation>,
}

impl UtilisationWatch {
    pub(super) const fn new(root: Root) -> Self {
        Self { root, begun: None, by: Vec::new(), ended: BTreeMap::new() }
    }

    /// Ends a stretch because the host waits for others; the next one belongs to these cases. Step
    /// 0 of a case only prepares it.
    pub(super) fn end_stretch(&mut self, cases: &[&str], step: u32) {
        if step == 0 {
            self.ended.clear();
        } else {
            let stretch = self.current_stretch();
            for case in std::mem::take(&mut self.by) {
                let known = self.ended.entry(case).or_default();
                *known = known.merge(stretch);
            }
        }
        if step == 1 {
            self.ended.retain(|case, _| !cases.contains(&case.as_str()));
        }
        self.begun = None;
        self.by = cases.iter().map(ToString::to_string).collect();
    }

    /// Reads the counters shortly before a stretch begins: a reading takes as long as the allowed
    /// skew of a start. The host is idle in between.
    pub(super) fn read_counters(&mut self) {
        self.begun = Some(CounterReading::read(&self.root, clock::now_ns()));
    }

    /// Sets the time at which the stretch began.
    pub(super) const fn set_start(&mut self, at_ns: u64) {
        if let Some(begun) = &mut self.begun {
            begun.at_ns = at_ns;
        }
    }

    /// Utilisation of the current stretch.
    fn current_stretch(&self) -> CaseUtilisation {
        let Some(begun) = &self.begun else { return CaseUtilisation::default() };
        let now = CounterReading::read(&self.root, clock::now_ns());
        let worked_ns = now.at_ns.saturating_sub(begun.at_ns);
        CaseUtilisation {
            peak: Utilisation::from_readings(&self.root, begun, &now),
            busy_ns: worked_ns,
        }
    }

    fn so_far(&self, case: &str) -> CaseUtilisation {
        let ended = self.ended.get(case).copied().unwrap_or_default();
        if self.by.iter().any(|it| it == case) {
            ended.merge(self.current_stretch())
        } else {
            ended
        }
    }

    /// Facts about a finished case.
    pub(super) fn facts(&self, case: &str) -> Vec<(Attribute, AttributeValue)> {
        let CaseUtilisation { peak: most, busy_ns: worked_ns } = self.so_far(case);
        let mut facts = vec![(Attribute::HostDoneAfter, worked_ns as f64 * 1e-9)];
        if let Some(used) = most {
            facts.push((Attribute::HostCpu, 100.0 * used.cpu));
            facts.push((Attribute::HostBusiestCpu, 100.0 * used.busiest_cpu));
            facts.push((Attribute::HostNetwork, used.bit_per_s));
            facts.extend(used.link_share.map(|it| (Attribute::HostNetworkShare, 100.0 * it)));
        }
        facts.into_iter().map(|(name, value)| (name, AttributeValue::Number(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Writes the counters of a machine with two CPUs and two devices.
    fn write(tree: &Path, (ticks, bytes): (u64, u64)) {
        let file = |name: &str, text: String| {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let stat = format!(
            "cpu  {ticks} 0 0 900 0 0 0 0\ncpu0 {ticks} 0 0 300 0 0 0 0\ncpu1 0 0 0 600 0 0 0 0\n"
        );
        file("proc/stat", stat);
        for (device, factor) in [("eth0", 1), ("eth1", 3), ("lo", 99)] {
            let folder = format!("sys/class/net/{device}");
            file(&format!("{folder}/statistics/rx_bytes"), format!("{bytes}\n"));
            file(&format!("{folder}/statistics/tx_bytes"), format!("{}\n", factor * bytes));
        }
        file("sys/class/net/eth1/speed", "1000\n".to_owned());
        file("sys/class/net/eth1/device/uevent", "DRIVER=e1000e\n".to_owned());
    }

    #[test]
    fn reports_maximum_over_stretches_and_devices() {
        let tree = tempfile::tempdir().unwrap();
        let root = Root::from_directory(tree.path());
        let look = |counts: (u64, u64), at_s: u64| {
            write(tree.path(), counts);
            CounterReading::read(&root, at_s * 1_000_000_000)
        };
        let looks = [look((0, 0), 0), look((90, 25_000_000), 1), look((100, 100_000_000), 2)];
        let first = Utilisation::from_readings(&root, &looks[0], &looks[1]).unwrap();
        let second = Utilisation::from_readings(&root, &looks[1], &looks[2]).unwrap();
        let used = first.maximum(second);
        assert!((used.cpu - 0.45).abs() < 1e-9, "{used:?}");
        assert!((used.busiest_cpu - 0.9).abs() < 1e-9, "{used:?}");
        // eth1 sent 3 × 75 MB in the second stretch; loopback does not count.
        assert!((used.bit_per_s - 1.8e9).abs() < 1.0, "{used:?}");
        assert!((used.link_share.unwrap() - 1.8).abs() < 1e-9, "{used:?}");
        assert!(Utilisation::from_readings(&root, &looks[0], &looks[0]).is_none());
    }

    fn done_after_ns(watch: &UtilisationWatch, case: &str) -> u64 {
        watch.so_far(case).busy_ns
    }

    #[test]
    fn excludes_preparation_of_files() {
        let tree = tempfile::tempdir().unwrap();
        write(tree.path(), (0, 0));
        let mut watch = UtilisationWatch::new(Root::from_directory(tree.path()));
        watch.end_stretch(&["one"], 0);
        watch.read_counters();
        watch.end_stretch(&["one"], 1);
        assert_eq!(done_after_ns(&watch, "one"), 0);
        watch.read_counters();
        watch.end_stretch(&["one"], 2);
        let worked_ns = done_after_ns(&watch, "one");
        assert!(worked_ns > 0);
        // Waiting does not count.
        assert_eq!(done_after_ns(&watch, "one"), worked_ns);
        watch.read_counters();
        let facts = watch.facts("one");
        let Some((Attribute::HostDoneAfter, AttributeValue::Number(done_s))) = facts.first()
        else {
            panic!("{facts:?}")
        };
        assert!(*done_s > worked_ns as f64 * 1e-9);
    }

    #[test]
    fn separates_stretches_of_interleaved_cases() {
        let tree = tempfile::tempdir().unwrap();
        write(tree.path(), (0, 0));
        let mut watch = UtilisationWatch::new(Root::from_directory(tree.path()));
        // Without steps all stretches belong to all cases.
        watch.end_stretch(&["one", "two"], 0);
        watch.read_counters();
        assert!(done_after_ns(&watch, "one") > 0 && done_after_ns(&watch, "two") > 0);
        watch.end_stretch(&["one"], 1);
        watch.read_counters();
        watch.end_stretch(&["two"], 1);
        let of_one = done_after_ns(&watch, "one");
        assert!(of_one > 0);
        watch.read_counters();
        assert_eq!(done_after_ns(&watch, "one"), of_one);
        assert!(done_after_ns(&watch, "two") > 0);
        watch.end_stretch(&["one"], 2);
        let of_two = done_after_ns(&watch, "two");
        watch.read_counters();
        assert_eq!(done_after_ns(&watch, "two"), of_two);
        assert!(done_after_ns(&watch, "one") > of_one);
        // A new group clears the previous cases.
        watch.end_stretch(&["three"], 0);
        assert_eq!(done_after_ns(&watch, "one"), 0);
    }
}
