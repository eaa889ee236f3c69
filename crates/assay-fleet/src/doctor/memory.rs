//! Checks of main memory: free size, huge pages, NUMA, swap, modules.

use assay_model::finding::FindingSeverity;
use assay_model::phrase;
use assay_model::phrase::Phrase;

use super::check::{
    CheckInput, CheckObstacle, CheckResult, DoctorCheck, list_names, none, size,
};
use crate::meminfo;
use crate::root::{UnavailableFile, selected_choice};

const HUGE_PAGES: &str = "sys/kernel/mm/transparent_hugepage";

/// Size of STREAM's arrays in last-level caches: three arrays, each at least four times the caches.
const STREAM_FACTOR: u64 = 3 * 4;
/// Maximum share of memory that may wait for writeback.
const DIRTY_SHARE: f64 = 0.01;

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "memory.free",
        expected: "room for three STREAM arrays of four times the last-level caches each",
        why: "smaller arrays stay in the caches, and the result is the bandwidth of a cache",
        source: "STREAM benchmark, reference page: run rules on the size of the arrays",
        severity: FindingSeverity::Skews,
        change: "stop other programs, or raise the memory limit of the container or job",
        observe: free,
    },
    DoctorCheck {
        id: "memory.huge-pages",
        expected: "always (tuned hpc-compute) or madvise (Azure HBv5 page; assay asks for huge pages)",
        why: "with small pages alone, the translation of addresses slows large arrays down",
        source: "two documents disagree: tuned profile hpc-compute sets always, \
                 the Azure HBv5-series overview madvise; tuned profile network-latency sets never",
        severity: FindingSeverity::Skews,
        change: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        observe: huge_pages,
    },
    DoctorCheck {
        id: "memory.huge-page-defrag",
        expected: "always, madvise or defer+madvise",
        why: "otherwise memory that is fragmented yields small pages at the first touch, and two runs differ",
        source: "Azure HBv5-series overview (madvise); kernel documentation: admin-guide/mm/transhuge.rst",
        severity: FindingSeverity::Note,
        change: "echo madvise > /sys/kernel/mm/transparent_hugepage/defrag",
        observe: huge_page_defrag,
    },
    DoctorCheck {
        id: "memory.numa-balancing",
        expected: "0 (tuned hpc-compute, network-latency) or 1 (Azure HBv5 page)",
        why: "the kernel unmaps pages to detect their users, and moves them: threads and memory that are \
              bound gain nothing by it",
        source: "two documents disagree: tuned profiles hpc-compute and network-latency set 0, \
                 the Azure HBv5-series overview sets 1",
        severity: FindingSeverity::Note,
        change: "sysctl -w kernel.numa_balancing=0",
        observe: numa_balancing,
    },
    DoctorCheck {
        id: "memory.numa-nodes",
        expected: "the layout (nodes per socket) of the figures to be compared with",
        why: "how a socket is divided moves bandwidth and latency; the firmware decides it (NPS, SNC)",
        source: "Azure HBv2 to HBv5-series overviews (nodes per socket 2 or 4)",
        severity: FindingSeverity::Note,
        change: "set nodes per socket in the firmware; in a cloud, choose another machine type",
        observe: numa_nodes,
    },
    DoctorCheck {
        id: "memory.zone-reclaim",
        expected: "1 with several NUMA nodes",
        why: "with 0 a full node makes the kernel place memory on a distant one, silently",
        source: "tuned profile hpc-compute; Azure azhpc-images: components/hpc-tuning.sh; \
                 kernel documentation: admin-guide/sysctl/vm.rst",
        severity: FindingSeverity::Note,
        change: "sysctl -w vm.zone_reclaim_mode=1",
        observe: zone_reclaim,
    },
    DoctorCheck {
        id: "memory.page-cache",
        expected: "less than 1 % of memory waiting to be written; caches dropped before a run",
        why: "writing back and reclaiming cached pages take bandwidth from the measurement",
        source: "Azure HBv5-series overview (drop caches before running jobs)",
        severity: FindingSeverity::Note,
        change: "sync; echo 3 > /proc/sys/vm/drop_caches",
        observe: page_cache,
    },
    DoctorCheck {
        id: "memory.reserved-huge-pages",
        expected: "none, or known",
        why: "memory reserved as huge pages is not free for anything else, and is missing from what can be measured",
        source: "kernel documentation: admin-guide/mm/hugetlbpage.rst",
        severity: FindingSeverity::Note,
        change: "sysctl -w vm.nr_hugepages=0",
        observe: reserved_huge_pages,
    },
    DoctorCheck {
        id: "memory.swap",
        expected: "none",
        why: "a page that is swapped out during a measurement makes it one of the disk",
        source: "Azure HPC node health checks (swap of 0)",
        severity: FindingSeverity::Skews,
        change: "swapoff --all",
        observe: swap,
    },
    DoctorCheck {
        id: "memory.swappiness",
        expected: "at most 10, where there is swap",
        why: "a high value swaps a program's pages out to keep files cached",
        source: "tuned profile latency-performance; kernel documentation: admin-guide/sysctl/vm.rst",
        severity: FindingSeverity::Note,
        change: "sysctl -w vm.swappiness=10",
        observe: swappiness,
    },
    DoctorCheck {
        id: "memory.modules",
        expected: "kind, width and speed of every module are visible",
        why: "the limit of the memory bandwidth is computed from them alone",
        source: "DMTF DSP0134 (SMBIOS), Memory Device",
        severity: FindingSeverity::Note,
        change: "run as root on the machine itself; a guest cannot see them",
        observe: modules,
    },
];

fn free(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let topology = &input.facts.topology;
    // Every core has a second level; firmware that shows only the first hides the others.
    if topology.last_level().all(|cache| cache.level < 2) {
        return Err(CheckObstacle::hidden(phrase!(
            "last-level",
            "the size of the last-level cache"
        )));
    }
    let caches = topology.last_level_bytes(&topology.cpu_ids());
    let (free, needed) = (input.facts.usable_bytes(), caches.saturating_mul(STREAM_FACTOR));
    let text = phrase!(
        "memory-free",
        "{free} free; {needed} needed (last level: {caches})",
        free = size(free),
        needed = size(needed),
        caches = size(caches),
    );
    Ok(CheckResult::from_verdict(free >= needed, text))
}

fn huge_pages(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let text = input.text(&format!("{HUGE_PAGES}/enabled"))?;
    Ok(CheckResult::from_verdict(selected_choice(&text) != "never", selected_choice(&text)))
}

fn huge_page_defrag(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let text = input.text(&format!("{HUGE_PAGES}/defrag"))?;
    Ok(CheckResult::from_verdict(
        !["never", "defer"].contains(&selected_choice(&text)),
        selected_choice(&text),
    ))
}

/// Accepts 0 and 1, because the two sources disagree. 2 and 3 enable memory tiering, which neither
/// asks for.
fn numa_balancing(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let value = input.number("proc/sys/kernel/numa_balancing")?;
    if input.facts.topology.numa.len() < 2 {
        return Ok(CheckResult::ok(without_effect(value)));
    }
    Ok(match value {
        0 => CheckResult::ok(phrase!(
            "numa-as-tuned",
            "{value}, as tuned hpc-compute sets it; the {page} page sets {other}",
            value = "0",
            page = "Azure HBv5",
            other = "1",
        )),
        1 => CheckResult::ok(phrase!(
            "numa-as-published",
            "{value}, as the {page} page sets it; tuned hpc-compute sets {other}",
            value = "1",
            page = "Azure HBv5",
            other = "0",
        )),
        other => CheckResult::deviates(phrase!(
            "numa-tiering",
            "{value}: memory tiering is on",
            value = other.to_string(),
        )),
    })
}

fn without_effect(value: u64) -> Phrase {
    let value = value.to_string();
    phrase!("one-node", "{value}, without effect: there is one NUMA node", value = value)
}

fn numa_nodes(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    if input.root.entry_numbers("sys/devices/system/node", "node").is_empty() {
        return Err(CheckObstacle::hidden(phrase!("numa-layout", "the NUMA layout")));
    }
    let topology = &input.facts.topology;
    let mut sockets: Vec<u32> = topology.cpus.iter().map(|cpu| cpu.socket).collect();
    sockets.sort_unstable();
    sockets.dedup();
    let nodes = Phrase::plural("numa-nodes", topology.numa.len(), "{n} node", "{n} nodes");
    let sockets = Phrase::plural("sockets", sockets.len(), "{n} socket", "{n} sockets");
    Ok(CheckResult::ok(phrase!(
        "nodes-on-sockets",
        "{nodes} on {sockets}",
        nodes = nodes,
        sockets = sockets,
    )))
}

fn zone_reclaim(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let value = input.number("proc/sys/vm/zone_reclaim_mode")?;
    if input.facts.topology.numa.len() < 2 {
        return Ok(CheckResult::ok(without_effect(value)));
    }
    Ok(CheckResult::from_verdict(value & 1 == 1, value.to_string()))
}

fn page_cache(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let field = |name: &str| {
        let bytes = meminfo::read_bytes(input.root, name);
        bytes.ok_or_else(|| CheckObstacle::hidden_field(name, "/proc/meminfo"))
    };
    let dirty = field("Dirty")?.saturating_add(field("Writeback")?);
    let text = phrase!(
        "page-cache",
        "{cached} cached; {dirty} to be written",
        cached = size(field("Cached")?),
        dirty = size(dirty),
    );
    let much = DIRTY_SHARE * input.facts.memory.total_bytes as f64;
    Ok(CheckResult::from_verdict((dirty as f64) < much, text))
}

fn reserved_huge_pages(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let bytes = meminfo::read_bytes(input.root, "Hugetlb");
    let bytes = bytes.ok_or_else(|| CheckObstacle::hidden_field("Hugetlb", "/proc/meminfo"))?;
    Ok(if bytes == 0 { CheckResult::ok(none()) } else { CheckResult::deviates(size(bytes)) })
}

/// Reads the swap areas: `/proc/swaps` has a heading, then a line per area.
fn swap_areas(input: &CheckInput) -> Result<Vec<String>, CheckObstacle> {
    let text = input.text("proc/swaps")?;
    let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
    Ok(text.lines().skip(1).filter_map(name).collect())
}

fn swap(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let areas = swap_areas(input)?;
    Ok(if areas.is_empty() {
        CheckResult::ok(none())
    } else {
        CheckResult::deviates(list_names(", ", &areas))
    })
}

fn swappiness(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let value = input.number("proc/sys/vm/swappiness")?;
    if swap_areas(input).is_ok_and(|areas| areas.is_empty()) {
        return Ok(CheckResult::ok(phrase!(
            "no-swap",
            "{value}, without effect: there is no swap",
            value = value.to_string(),
        )));
    }
    Ok(CheckResult::from_verdict(value <= 10, value.to_string()))
}

fn modules(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let Some(modules) = &input.facts.memory.modules else {
        return Err(match input.root.read("sys/firmware/dmi/tables/DMI") {
            Err(UnavailableFile::Unreadable(reason)) => {
                CheckObstacle::Unreadable(reason.into())
            }
            Err(UnavailableFile::NotVisible) | Ok(_) => CheckObstacle::hidden(phrase!(
                "memory-modules",
                "a plausible description of the memory modules"
            )),
        });
    };
    let mut kinds: Vec<String> = modules
        .iter()
        .map(|module| format!("{}-{}", module.kind, module.transfers_per_s / 1_000_000))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let count = Phrase::plural("modules", modules.len(), "{n} module", "{n} modules");
    Ok(CheckResult::ok(Phrase::list(", ", [count, list_names(", ", &kinds)])))
}
