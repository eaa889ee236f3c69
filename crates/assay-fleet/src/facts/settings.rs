//! Kernel settings that affect results, unjudged; the doctor judges them.

use std::collections::BTreeMap;

use crate::root::{Root, selected_choice};

/// Directories, and the files in them to record under their relative path.
const SETTINGS: [(&str, &[&str]); 3] = [
    (
        "sys/kernel/mm",
        &[
            "transparent_hugepage/enabled",
            "transparent_hugepage/defrag",
            "transparent_hugepage/khugepaged/defrag",
            "transparent_hugepage/shmem_enabled",
            "ksm/run",
        ],
    ),
    (
        "proc/sys",
        &[
            "kernel/nmi_watchdog",
            "kernel/numa_balancing",
            "kernel/perf_event_paranoid",
            "kernel/sched_autogroup_enabled",
            "kernel/timer_migration",
            "kernel/watchdog",
            "vm/compaction_proactiveness",
            "vm/dirty_background_ratio",
            "vm/dirty_ratio",
            "vm/nr_hugepages",
            "vm/overcommit_memory",
            "vm/swappiness",
            "vm/zone_reclaim_mode",
        ],
    ),
    (
        "sys/devices/system/cpu",
        &[
            "amd_pstate/status",
            "cpu0/cpufreq/energy_performance_preference",
            "cpu0/cpufreq/scaling_driver",
            "cpuidle/current_driver",
            "cpuidle/current_governor",
            "intel_pstate/status",
            "isolated",
            "smt/control",
        ],
    ),
];

pub(super) fn read(root: &Root) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for (directory, names) in SETTINGS {
        for name in names {
            if let Some(text) = root.text(&format!("{directory}/{name}")) {
                settings.insert((*name).to_owned(), selected_choice(&text).to_owned());
            }
        }
    }
    settings
}
