//! Demand of other processes for the CPUs that assay can use.
//!
//! It is the busy time of these CPUs without that of assay and its descendants. Interrupts serve
//! assay's own transfers and do not count. A reading takes well under a millisecond per CPU.

use assay_model::cpu_times::{CpuTimes, ticks_to_seconds, total_ticks, user_ticks};
use assay_model::doubt::Doubt;

use crate::control_group;
use crate::cpus;
use crate::process_table::{self, ProcessEntry};
use crate::root::Root;

/// Mean number of CPUs that other processes may use: monitoring and daemons of a quiet server use
/// less, and one busy process uses four times as much.
const MAX_OTHER_CPUS: f64 = 0.25;
/// Mean number of CPUs that kernel threads, or assay's servers, may use without an influence on the
/// account.
const MAX_RELATED_CPUS: f64 = 0.05;
/// Share of stolen CPU time of a case above which it has a doubt of its own; see
/// `assay_model::doubt` for the level.
const MAX_CASE_STEAL: f64 = 0.02;
/// Uncertainty of a difference of two readings per CPU: the kernel counts when its timer ticks.
const TICK_S: f64 = 0.01;

/// CPU times of the usable CPUs, and of assay with its descendants, at one moment. All in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemandReading {
    cpus: usize,
    user: u64,
    system: u64,
    stolen: u64,
    all: u64,
    own_user: u64,
    own_system: u64,
    /// Number of times that the CPU quota of a control group held tasks back; not in ticks.
    throttled: Option<u64>,
}

/// CPU times of processes that are not part of assay but may work for it, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelatedReading {
    /// Time of kernel threads; `None` if they are hidden, as in a container.
    kernel: Option<u64>,
    /// Time of other processes of assay, such as servers and agents.
    assay: u64,
}

/// CPU times of all measured stretches of a case or of a run, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DemandAccount {
    cpus: usize,
    stretches: u32,
    user_s: f64,
    system_s: f64,
    stolen_s: f64,
    all_s: f64,
    throttled: u64,
}

/// Reads the CPU times; `None` if the host hides them.
pub fn read(root: &Root) -> Option<DemandReading> {
    let usable = cpus::usable(root);
    let times = CpuTimes::parse_selected(&root.text("proc/stat")?, |cpu| usable.contains(&cpu));
    let [own_user, own_system] = own_ticks(root)?;
    let sum = times.sum_cpus();
    (!times.cpus.is_empty()).then_some(DemandReading {
        cpus: times.cpus.len(),
        user: user_ticks(&sum),
        system: CpuTimes::system_ticks(&sum),
        stolen: CpuTimes::stolen_ticks(&sum),
        all: total_ticks(&sum),
        own_user,
        own_system,
        throttled: control_group::throttled(root),
    })
}

/// Reads the CPU times of kernel threads and of assay's other processes.
pub fn read_related(root: &Root) -> RelatedReading {
    /// Parent of all kernel threads (`kthreadd`).
    const KERNEL_PARENT: u32 = 2;
    let own = std::process::id();
    let all = process_table::snapshot(root);
    let is_kernel = |it: &&ProcessEntry| it.id == KERNEL_PARENT || it.parent == KERNEL_PARENT;
    let has_kernel = all.iter().any(|it| it.id == KERNEL_PARENT && it.name == "kthreadd");
    let is_assay = |it: &&ProcessEntry| {
        let is_named = it.name.starts_with("assay") && it.id != own && it.parent != own;
        is_named && process_table::is_same_program(root, it.id)
    };
    let ticks = |entries: &mut dyn Iterator<Item = &ProcessEntry>| {
        entries.fold(0, |sum: u64, it| sum.saturating_add(it.busy_ticks))
    };
    RelatedReading {
        kernel: has_kernel.then(|| ticks(&mut all.iter().filter(is_kernel))),
        assay: ticks(&mut all.iter().filter(is_assay)),
    }
}

/// Returns the ticks of this process and its descendants in user mode and in the kernel. A
/// descendant that has ended counts with the process that waited for it.
fn own_ticks(root: &Root) -> Option<[u64; 2]> {
    let mut sum = process_table::family_ticks(&root.text("proc/self/stat")?)?;
    let mut left = children(root, "self");
    // Processes that end and start meanwhile could form a circle of reused ids.
    let mut seen = std::collections::BTreeSet::new();
    while let Some(id) = left.pop() {
        let text = root.text(&format!("proc/{id}/stat"));
        let Some(ticks) = text.and_then(|text| process_table::family_ticks(&text)) else {
            continue;
        };
        if seen.insert(id) {
            sum.iter_mut().zip(ticks).for_each(|(sum, it)| *sum = sum.saturating_add(it));
            left.extend(children(root, &id.to_string()));
        }
    }
    Some(sum)
}

/// Returns the children of all threads of a process (`proc_tid_children(5)`).
fn children(root: &Root, process: &str) -> Vec<u32> {
    let threads = root.entry_numbers(&format!("proc/{process}/task"), "");
    let of_thread = |thread: u32| {
        let text = root.text(&format!("proc/{process}/task/{thread}/children"));
        let text = text.unwrap_or_default();
        text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()
    };
    threads.into_iter().flat_map(of_thread).collect()
}

impl DemandAccount {
    /// Adds the time between two readings.
    pub fn add(&mut self, before: &DemandReading, after: &DemandReading) {
        let difference = |of: fn(&DemandReading) -> u64| {
            ticks_to_seconds(of(after).saturating_sub(of(before)))
        };
        self.cpus = after.cpus;
        self.stretches += 1;
        self.user_s += difference(|it| it.user) - difference(|it| it.own_user);
        self.system_s += difference(|it| it.system) - difference(|it| it.own_system);
        self.stolen_s += difference(|it| it.stolen);
        self.all_s += difference(|it| it.all);
        if let (Some(before), Some(after)) = (before.throttled, after.throttled) {
            self.throttled += after.saturating_sub(before);
        }
    }

    /// Returns the doubts about these stretches of a run, in which related processes used CPUs.
    pub fn doubts(&self, related: RelatedDemand) -> Vec<Doubt> {
        let doubts = [self.demand_doubt(related), self.steal_doubt(), self.throttled_doubt()];
        doubts.into_iter().flatten().collect()
    }

    fn span_s(&self) -> f64 {
        self.all_s / self.cpus.max(1) as f64
    }

    /// Returns the uncertainty of the account in CPU seconds. The errors of stretches are
    /// independent.
    fn uncertainty_s(&self) -> f64 {
        TICK_S * self.cpus as f64 * f64::from(self.stretches).sqrt()
    }

    fn demand_doubt(&self, related: RelatedDemand) -> Option<Doubt> {
        let others_s = match related {
            RelatedDemand::Negligible => self.user_s + self.system_s,
            RelatedDemand::Kernel => self.user_s,
            RelatedDemand::Unknown => return None,
        };
        let span_s = self.span_s();
        let is_busy = others_s - self.uncertainty_s() > MAX_OTHER_CPUS * span_s;
        (is_busy && span_s > 0.0)
            .then(|| Doubt::OtherDemand { cpus: others_s / span_s, usable_cpus: self.cpus })
    }

    fn throttled_doubt(&self) -> Option<Doubt> {
        let (times, span_s) = (self.throttled, self.span_s());
        (times > 0).then_some(Doubt::Throttled { times, span_s })
    }

    fn steal_doubt(&self) -> Option<Doubt> {
        let (stolen_s, span_s) = (self.stolen_s, self.span_s());
        let is_stolen = stolen_s - self.uncertainty_s() > MAX_CASE_STEAL * self.all_s;
        is_stolen.then(|| Doubt::Steal { stolen_s, share: stolen_s / self.all_s, span_s })
    }
}

/// Influence of related processes on the account of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelatedDemand {
    /// They used next to nothing.
    Negligible,
    /// Kernel threads worked, perhaps for assay, or are hidden: only time in user mode counts.
    Kernel,
    /// Other processes of assay worked, perhaps for this one: the rest is unknown.
    Unknown,
}

impl RelatedDemand {
    /// Returns the influence between two readings in `span_s` seconds.
    pub fn from_readings(before: RelatedReading, after: RelatedReading, span_s: f64) -> Self {
        let is_busy = |before: u64, after: u64| {
            ticks_to_seconds(after.saturating_sub(before)) > MAX_RELATED_CPUS * span_s
        };
        match (before.kernel, after.kernel) {
            _ if is_busy(before.assay, after.assay) => Self::Unknown,
            (Some(before), Some(after)) if !is_busy(before, after) => Self::Negligible,
            _ => Self::Kernel,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: DemandReading = DemandReading {
        cpus: 2,
        user: 1000,
        system: 200,
        stolen: 30,
        all: 4000,
        own_user: 500,
        own_system: 20,
        throttled: Some(2),
    };

    /// The window has 10 s on two CPUs.
    fn doubts(after: DemandReading, related: RelatedDemand) -> Vec<Doubt> {
        let mut account = DemandAccount::default();
        account.add(&QUIET, &DemandReading { all: 6000, ..after });
        account.doubts(related)
    }

    #[test]
    fn own_load_does_not_count() {
        let own =
            DemandReading { user: 2500, own_user: 2000, system: 500, own_system: 320, ..QUIET };
        assert_eq!(doubts(own, RelatedDemand::Negligible), []);
        // Others use a seventh of a CPU, as on a quiet guest.
        let quiet = DemandReading { user: 2640, own_user: 2500, ..QUIET };
        assert_eq!(doubts(quiet, RelatedDemand::Negligible), []);
    }

    #[test]
    fn other_load_counts() {
        let busy = DemandReading { user: 2000, own_user: 500, ..QUIET };
        let demand = Doubt::OtherDemand { cpus: 1.0, usable_cpus: 2 };
        assert_eq!(doubts(busy, RelatedDemand::Kernel), vec![demand.clone()]);
        assert_eq!(doubts(busy, RelatedDemand::Unknown), []);
        // Kernel threads may work for assay.
        let kernel = DemandReading { system: 1200, ..QUIET };
        assert_eq!(doubts(kernel, RelatedDemand::Negligible), [demand]);
        assert_eq!(doubts(kernel, RelatedDemand::Kernel), []);
    }

    #[test]
    fn stolen_time_counts_from_two_percent() {
        let stolen = |ticks: u64| {
            doubts(DemandReading { stolen: 30 + ticks, ..QUIET }, RelatedDemand::Kernel)
        };
        assert_eq!(stolen(16), [], "0.8 % as on a quiet guest");
        let doubt = Doubt::Steal { stolen_s: 1.0, share: 0.05, span_s: 10.0 };
        assert_eq!(stolen(100), [doubt]);
    }

    #[test]
    fn quota_that_held_tasks_back_counts() {
        let held = DemandReading { throttled: Some(9), ..QUIET };
        let expected = Doubt::Throttled { times: 7, span_s: 10.0 };
        assert_eq!(doubts(held, RelatedDemand::Unknown), [expected]);
        let hidden = DemandReading { throttled: None, ..QUIET };
        assert_eq!(doubts(hidden, RelatedDemand::Unknown), []);
    }

    /// The time between ticks is uncertain: short cases on many CPUs have no doubt.
    #[test]
    fn ticks_are_no_demand() {
        let many = DemandReading { cpus: 64, ..QUIET };
        let after = DemandReading { user: 1060, all: 4000 + 64 * 10, ..many };
        let mut account = DemandAccount::default();
        account.add(&many, &after);
        assert_eq!(account.doubts(RelatedDemand::Negligible), []);
    }

    #[test]
    fn related_processes_limit_the_account() {
        let reading = |kernel, assay| RelatedReading { kernel, assay };
        for (after, expected) in [
            (reading(Some(10), 0), RelatedDemand::Negligible),
            (reading(Some(100), 0), RelatedDemand::Kernel),
            (reading(None, 0), RelatedDemand::Kernel),
            (reading(Some(10), 100), RelatedDemand::Unknown),
        ] {
            let found = RelatedDemand::from_readings(reading(Some(0), 0), after, 10.0);
            assert_eq!(found, expected, "{after:?}");
        }
    }

    /// A child of this process is its own load, whether it runs or has ended.
    #[test]
    fn children_are_own_load() {
        let root = Root::machine();
        let Some(before) = own_ticks(&root) else { return };
        let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let mut child = std::process::Command::new("sh").args(["-c", burn]).spawn().unwrap();
        child.wait().unwrap();
        let after = own_ticks(&root).unwrap();
        assert!(after[0] > before[0], "{before:?} {after:?}");
    }
}
