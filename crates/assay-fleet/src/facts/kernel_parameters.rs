//! Filter for the stored kernel command line: keeps only parameters known to contain no secret.
//!
//! A command line may contain keys of encrypted disks, passwords of boot loaders and tokens of
//! unattended installers. Other parameters are only counted. Arguments after a lone `--`, which
//! belong to the first process, are dropped.

/// Parameters that affect results or describe the setup, and whose values are numbers and words of
/// the kernel's documentation (`admin-guide/kernel-parameters.rst`).
const HARMLESS_PARAMETERS: &[&str] = &[
    "acpi",
    "amd_iommu",
    "amd_pstate",
    "apparmor",
    "audit",
    "cgroup_disable",
    "cgroup_enable",
    "clocksource",
    "cpufreq.default_governor",
    "cpuidle.governor",
    "cpuidle.off",
    "cpuidle_haltpoll.force",
    "default_hugepagesz",
    "elevator",
    "gather_data_sampling",
    "hpet",
    "hugepages",
    "hugepagesz",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "iommu.passthrough",
    "iommu.strict",
    "irqaffinity",
    "isolcpus",
    "kaslr",
    "kpti",
    "kthread_cpus",
    "l1tf",
    "lsm",
    "maxcpus",
    "mce",
    "mds",
    "mem",
    "mitigations",
    "mmio_stale_data",
    "nmi_watchdog",
    "no_timer_check",
    "nohz",
    "nohz_full",
    "nokaslr",
    "nopti",
    "nosmt",
    "nosoftlockup",
    "nospectre_v1",
    "nospectre_v2",
    "notsc",
    "nowatchdog",
    "nr_cpus",
    "numa",
    "numa_balancing",
    "nvme.poll_queues",
    "nvme.write_queues",
    "nvme_core.io_timeout",
    "nvme_core.multipath",
    "page_poison",
    "pci",
    "pcie_aspm",
    "preempt",
    "processor.max_cstate",
    "psi",
    "pti",
    "quiet",
    "rcu_nocb_poll",
    "rcu_nocbs",
    "reg_file_data_sampling",
    "retbleed",
    "ro",
    "rw",
    "scsi_mod.use_blk_mq",
    "security",
    "selinux",
    "skew_tick",
    "slub_debug",
    "spec_rstack_overflow",
    "spec_store_bypass_disable",
    "spectre_bhi",
    "spectre_v2",
    "spectre_v2_user",
    "srbds",
    "swiotlb",
    "systemd.unified_cgroup_hierarchy",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
    "tsx",
    "tsx_async_abort",
    "workqueue.cpu_intensive_thresh_us",
    "zswap.enabled",
];

/// Returns the parameters to store: `mitigations=off isolcpus=2-7 (4 others not stored)`.
pub(super) fn filter_command_line(line: &str) -> String {
    let parameters: Vec<&str> =
        line.split_whitespace().take_while(|parameter| *parameter != "--").collect();
    let is_harmless = |parameter: &&str| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        // The kernel treats both characters alike.
        let name = name.replace('-', "_");
        // A quoted value continues after the next blank.
        !value.contains('"') && HARMLESS_PARAMETERS.contains(&name.as_str())
    };
    let mut kept: Vec<String> =
        parameters.iter().copied().filter(is_harmless).map(str::to_owned).collect();
    let others = parameters.len() - kept.len();
    kept.extend(
        (others > 0).then(|| {
            format!("({others} other{} not stored)", if others == 1 { "" } else { "s" })
        }),
    );
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_harmless_parameters() {
        for (line, expected) in [
            ("quiet", "quiet"),
            ("ro isolcpus=2-7 mitigations=off", "ro isolcpus=2-7 mitigations=off"),
            ("root=UUID=1 ro rd.luks.key=/k quiet", "ro quiet (2 others not stored)"),
            (
                "quiet systemd.set_credential=a:b -- mitigations=secret",
                "quiet (1 other not stored)",
            ),
            ("idle=\"a secret\" nosmt", "nosmt (2 others not stored)"),
            ("", ""),
        ] {
            assert_eq!(filter_command_line(line), expected, "{line}");
        }
    }
}
