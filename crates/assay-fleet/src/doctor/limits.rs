//! Checks of control groups and resource limits of this process.

use assay_model::finding::FindingSeverity;
use assay_model::phrase;
use assay_model::phrase::Phrase;

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, none, size};
use crate::resource_limits::{self, SoftLimit};

/// Open files that Azure's HPC images allow.
const OPEN_FILES: u64 = 1_048_576;

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "limits.cpu-quota",
        expected: "none, or at least the number of CPUs",
        why: "a quota stops all threads for the rest of each period: measurements on all CPUs are meaningless",
        source: "kernel documentation: admin-guide/cgroup-v2.rst (cpu.max), scheduler/sched-bwc.rst",
        severity: FindingSeverity::Blocks,
        change: "raise the CPU limit of the container or service, or restrict it to whole CPUs by a cpuset",
        observe: cpu_quota,
    },
    DoctorCheck {
        id: "limits.throttled",
        expected: "0 times",
        why: "the group has been stopped for using up its quota, and will be again",
        source: "kernel documentation: admin-guide/cgroup-v2.rst (cpu.stat)",
        severity: FindingSeverity::Skews,
        change: "raise the CPU limit of the container or service",
        observe: throttled,
    },
    DoctorCheck {
        id: "limits.memory",
        expected: "none, or known",
        why: "arrays are sized by the memory of the group, not by that of the machine",
        source: "kernel documentation: admin-guide/cgroup-v2.rst (memory.max)",
        severity: FindingSeverity::Note,
        change: "raise the memory limit of the container or service",
        observe: memory,
    },
    DoctorCheck {
        id: "limits.locked-memory",
        expected: "unlimited",
        why: "RDMA and io_uring pin their buffers in memory",
        source: "Azure azhpc-images: components/hpc-tuning.sh",
        severity: FindingSeverity::Note,
        change: "ulimit -l unlimited, or memlock in /etc/security/limits.conf",
        observe: locked_memory,
    },
    DoctorCheck {
        id: "limits.open-files",
        expected: "1048576 or more",
        why: "many connections and files at once need as many descriptors",
        source: "Azure azhpc-images: components/hpc-tuning.sh",
        severity: FindingSeverity::Note,
        change: "ulimit -n 1048576, or nofile in /etc/security/limits.conf",
        observe: open_files,
    },
    DoctorCheck {
        id: "limits.stack",
        expected: "unlimited",
        why: "Fortran programs keep large arrays on the stack and end without a message if it is too small",
        source: "Azure azhpc-images: components/hpc-tuning.sh",
        severity: FindingSeverity::Note,
        change: "ulimit -s unlimited, or stack in /etc/security/limits.conf",
        observe: stack,
    },
];

fn cpu_quota(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let cpus = input.facts.topology.cpus.len();
    Ok(match input.facts.limits.cpu_quota {
        None => no_limit(input)?,
        Some(quota) => CheckResult::from_verdict(
            quota >= cpus as f64,
            phrase!(
                "quota",
                "{quota} CPUs' worth of time on {cpus} CPUs",
                quota = Phrase::exact_value(format!("{quota:.2}")),
                cpus = cpus,
            ),
        ),
    })
}

fn throttled(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let hidden = || {
        CheckObstacle::hidden(phrase!(
            "group-throttling",
            "a count of how often the control group was throttled"
        ))
    };
    let times = input.state.throttled.ok_or_else(hidden)?;
    Ok(CheckResult::from_verdict(
        times == 0,
        phrase!("throttled-group", "throttled since the group was created: {n} ×", n = times),
    ))
}

fn memory(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    Ok(match input.facts.limits.memory_available_bytes {
        None => no_limit(input)?,
        Some(left) => {
            let binds = left < input.facts.memory.available_bytes;
            CheckResult::from_verdict(
                !binds,
                phrase!("left", "{size} left in the group", size = size(left)),
            )
        }
    })
}

/// Returns "none", unless the groups themselves are hidden.
fn no_limit(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    input.text("proc/self/cgroup").map(|_| CheckResult::ok(none()))
}

fn locked_memory(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    check_unlimited(soft_limit(input, "Max locked memory")?)
}

fn stack(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    check_unlimited(soft_limit(input, "Max stack size")?)
}

fn open_files(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    Ok(match soft_limit(input, "Max open files")? {
        SoftLimit::Unlimited => CheckResult::ok(unlimited()),
        SoftLimit::Value(files) => {
            CheckResult::from_verdict(files >= OPEN_FILES, files.to_string())
        }
    })
}

fn check_unlimited(limit: SoftLimit) -> Result<CheckResult, CheckObstacle> {
    Ok(match limit {
        SoftLimit::Unlimited => CheckResult::ok(unlimited()),
        SoftLimit::Value(bytes) => CheckResult::deviates(size(bytes)),
    })
}

fn unlimited() -> Phrase {
    phrase!("unlimited", "unlimited")
}

fn soft_limit(input: &CheckInput, name: &str) -> Result<SoftLimit, CheckObstacle> {
    let hidden = || CheckObstacle::hidden_field(&format!("{name:?}"), "/proc/self/limits");
    resource_limits::soft_limit(input.root, name).ok_or_else(hidden)
}
