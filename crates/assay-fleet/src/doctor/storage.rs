//! Checks of the storage stack of this host that need no target.

use assay_model::finding::FindingSeverity;
use assay_model::phrase;
use assay_model::phrase::Phrase;

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, list_names};
use crate::mounts::{self, Mount};
use crate::root::selected_choice;

mod block_queues;

/// Minimum NFS call size. Smaller calls split large blocks.
const NFS_CALL_BYTES: u64 = 256 << 10;
/// Events for several contexts of asynchronous I/O with a few depths of 128.
const AIO_EVENTS: u64 = 65_536;

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "storage.io-uring",
        expected: "0: allowed for everyone",
        why: "without io_uring, I/O goes through libaio or one thread per I/O, which costs more CPU \
              time each",
        source: "kernel documentation: admin-guide/sysctl/kernel.rst (io_uring_disabled)",
        severity: FindingSeverity::Note,
        change: "sysctl kernel.io_uring_disabled=0",
        observe: |input| {
            let value = input.number("proc/sys/kernel/io_uring_disabled")?;
            Ok(CheckResult::from_verdict(value == 0, value.to_string()))
        },
    },
    DoctorCheck {
        id: "storage.aio-events",
        expected: "65536 or more",
        why: "limit of asynchronous I/O requests of all processes together",
        source: "kernel documentation: admin-guide/sysctl/fs.rst (aio-max-nr)",
        severity: FindingSeverity::Note,
        change: "sysctl fs.aio-max-nr=1048576",
        observe: |input| {
            let most = input.number("proc/sys/fs/aio-max-nr")?;
            Ok(CheckResult::from_verdict(most >= AIO_EVENTS, most.to_string()))
        },
    },
    DoctorCheck {
        id: "storage.scheduler",
        expected: "none on solid-state devices",
        why: "a scheduler reorders and holds back I/O that a solid-state device does faster by itself",
        source: "kernel documentation: block/switching-sched.rst",
        severity: FindingSeverity::Skews,
        change: "echo none > /sys/block/DEVICE/queue/scheduler",
        observe: schedulers,
    },
    DoctorCheck {
        id: "storage.queue",
        expected: "recorded: more in flight than this waits in the kernel",
        why: "latency at depths beyond the queue is waiting time in this host",
        source: "kernel documentation: ABI/stable/sysfs-block (nr_requests)",
        severity: FindingSeverity::Note,
        change: "choose depths below it, or raise /sys/block/DEVICE/queue/nr_requests",
        observe: |input| queue_settings(input, "nr_requests").map(CheckResult::ok),
    },
    DoctorCheck {
        id: "storage.write-cache",
        expected: "recorded: `write back` loses data of completed writes in a power cut",
        why: "writes without fsync may be measured at the speed of the device's volatile cache",
        source: "kernel documentation: block/writeback_cache_control.rst",
        severity: FindingSeverity::Note,
        change: "write more than the cache holds, or end the measurement with fsync",
        observe: |input| queue_settings(input, "write_cache").map(CheckResult::ok),
    },
    DoctorCheck {
        id: "storage.iostats",
        expected: "1 on every device",
        why: "without these counters, reads from a cache look like reads from the device",
        source: "kernel documentation: ABI/stable/sysfs-block (iostats)",
        severity: FindingSeverity::Note,
        change: "echo 1 > /sys/block/DEVICE/queue/iostats",
        observe: |input| block_queues::expect_value(input, "iostats", "1"),
    },
    DoctorCheck {
        id: "storage.merges",
        expected: "0: the kernel merges neighbouring I/O; another value is part of the result",
        why: "without merging, the device receives small sequential I/O one by one",
        source: "kernel documentation: ABI/stable/sysfs-block (nomerges)",
        severity: FindingSeverity::Note,
        change: "echo 0 > /sys/block/DEVICE/queue/nomerges",
        observe: |input| block_queues::expect_value(input, "nomerges", "0"),
    },
    DoctorCheck {
        id: "storage.queue-cpus",
        expected: "recorded: CPUs with a common queue wait for each other",
        why: "a queue for each CPU needs no lock, and its interrupt arrives at the CPU that asked",
        source: "kernel documentation: block/blk-mq.rst",
        severity: FindingSeverity::Note,
        change: "measure with as many threads as queues, or choose a device type with more queues",
        observe: block_queues::cpus_of_queues,
    },
    DoctorCheck {
        id: "storage.numa-node",
        expected: "recorded: threads on another node reach the device across the link between the sockets",
        why: "data and completions of a device of another node take the longer way",
        source: "kernel documentation: ABI/testing/sysfs-bus-pci (numa_node)",
        severity: FindingSeverity::Note,
        change: "numactl --cpunodebind=NODE --membind=NODE assay storage …",
        observe: block_queues::numa_nodes,
    },
    DoctorCheck {
        id: "storage.nfs-connections",
        expected: "nconnect above 1 on every NFS volume; Azure NetApp Files: 8",
        why: "one TCP connection carries a third to a half of a volume's rate",
        source: "Azure NetApp Files: Linux NFS mount options best practices",
        severity: FindingSeverity::Skews,
        change: "mount with -o nconnect=8; the first mount of a server decides for all",
        observe: |input| {
            nfs(input, |mount| {
                let connections = option(mount, "nconnect").unwrap_or(1);
                (connections > 1, format!("nconnect={connections}"))
            })
        },
    },
    DoctorCheck {
        id: "storage.nfs-call-size",
        expected: "rsize and wsize of 256 KiB or more on every NFS volume",
        why: "larger blocks are split into calls of this size",
        source: "Azure NetApp Files: Linux NFS mount options best practices",
        severity: FindingSeverity::Skews,
        change: "mount with -o rsize=262144,wsize=262144",
        observe: |input| {
            nfs(input, |mount| {
                let [read, write] =
                    ["rsize", "wsize"].map(|name| option(mount, name).unwrap_or(0));
                (read.min(write) >= NFS_CALL_BYTES, format!("rsize={read},wsize={write}"))
            })
        },
    },
    DoctorCheck {
        id: "storage.nfs-slots",
        expected: "at most 128 where NFS is mounted",
        why: "more calls on one connection than a server takes wait there, and some servers slow down",
        source: "Azure NetApp Files: Linux concurrency best practices, session slots",
        severity: FindingSeverity::Note,
        change: "sysctl sunrpc.tcp_max_slot_table_entries=128, then mount again",
        observe: |input| {
            if nfs_mounts(input)?.is_empty() {
                return Ok(CheckResult::ok(no_volume()));
            }
            let most = input.number("proc/sys/sunrpc/tcp_max_slot_table_entries")?;
            Ok(CheckResult::from_verdict(most <= 128, most.to_string()))
        },
    },
];

/// Returns real disks; excludes memory, loop and mapped devices, which have no queue of their own.
fn devices(input: &CheckInput) -> Result<Vec<String>, CheckObstacle> {
    let real = |name: &String| {
        let made = ["loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd"];
        !made.iter().any(|prefix| name.starts_with(prefix))
    };
    let names: Vec<String> = input.root.names("sys/block").into_iter().filter(real).collect();
    if names.is_empty() { Err(CheckObstacle::hidden("/sys/block")) } else { Ok(names) }
}

fn queue_settings(input: &CheckInput, file: &str) -> Result<Phrase, CheckObstacle> {
    let reported: Vec<String> = devices(input)?
        .into_iter()
        .filter_map(|name| {
            let text = input.root.text(&format!("sys/block/{name}/queue/{file}"))?;
            Some(format!("{name} {}", selected_choice(&text)))
        })
        .collect();
    if reported.is_empty() {
        return Err(CheckObstacle::hidden(format!("/sys/block/DEVICE/queue/{file}")));
    }
    Ok(list_names(", ", &reported))
}

fn schedulers(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let reported = queue_settings(input, "scheduler")?;
    let wrong = devices(input)?.into_iter().any(|name| {
        let text = |file: &str| input.root.text(&format!("sys/block/{name}/queue/{file}"));
        let is_solid = text("rotational").is_some_and(|it| it == "0");
        is_solid && text("scheduler").is_some_and(|it| selected_choice(&it) != "none")
    });
    Ok(CheckResult::from_verdict(!wrong, reported))
}

fn nfs_mounts(input: &CheckInput) -> Result<Vec<Mount>, CheckObstacle> {
    let mut all = mounts::read(input.root);
    // Every machine has at least one mount.
    if all.is_empty() {
        return Err(CheckObstacle::hidden("/proc/self/mountinfo"));
    }
    all.retain(|mount| mount.kind == "nfs" || mount.kind == "nfs4");
    Ok(all)
}

fn no_volume() -> Phrase {
    phrase!("no-nfs", "no NFS volume is mounted")
}

/// Judges every NFS volume; no volume is fine.
fn nfs(
    input: &CheckInput,
    judge: fn(&Mount) -> (bool, String),
) -> Result<CheckResult, CheckObstacle> {
    let mounts = nfs_mounts(input)?;
    if mounts.is_empty() {
        return Ok(CheckResult::ok(no_volume()));
    }
    let judged: Vec<(bool, String)> = mounts
        .iter()
        .map(|mount| {
            let (good, what) = judge(mount);
            (good, format!("{} {what}", mount.point.display()))
        })
        .collect();
    let all = list_names("; ", judged.iter().map(|(_, what)| what));
    Ok(CheckResult::from_verdict(judged.iter().all(|(good, _)| *good), all))
}

/// Returns the number of `name=` in the mount options.
fn option(mount: &Mount, name: &str) -> Option<u64> {
    mount
        .options
        .split(',')
        .find_map(|option| option.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}
