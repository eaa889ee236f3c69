//! Findings of the doctor on each host, and the completeness of its table.

use std::collections::BTreeSet;

use assay_fleet::root::Root;
use assay_fleet::{doctor, facts, state};
use assay_model::finding::CheckOutcome;
use assay_model::network_setup::NetworkSetup;
use expect_test::{Expect, expect};

use crate::test_host::{TestHost, format_findings};

fn check(host: &str, expected: &Expect) {
    expected.assert_eq(&format_findings(&TestHost::load(host).findings()));
}

#[test]
fn findings_of_guest() {
    check(
        "guest-zen4",
        &expect![[r#"
            cpu.governor NotVisible: a cpufreq governor is not visible in this guest or container (kvm, docker)
            cpu.energy-preference NotVisible: an energy preference of the processor is not visible in this guest or container (kvm, docker)
            cpu.boost NotVisible: a switch for boost is not visible in this guest or container (kvm, docker)
            cpu.frequency-limit NotVisible: /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq is not visible in this guest or container (kvm, docker)
            cpu.frequency NotVisible: the current CPU frequency is not visible in this guest or container (kvm, docker)
            cpu.throttling NotVisible: a count of thermal throttling is not visible in this guest or container (kvm, docker)
            cpu.idle-states Ok: POLL (0 µs), haltpoll idle (1 µs)
            cpu.smt Ok: one thread per core (smt/control: notsupported)
            cpu.offline Ok: 2 of 2 online
            cpu.affinity Ok: CPUs 0-1 of 0-1
            cpu.isolated Ok: none
            cpu.microcode NotVisible: the processor's actual microcode revision is not visible in this guest or container (kvm, docker)
            memory.free Ok: 22.2 GiB free; 384 MiB needed (last level: 32.0 MiB)
            memory.huge-pages, memory.huge-page-defrag Ok: madvise
            memory.numa-balancing Ok: 0, without effect: there is one NUMA node
            memory.numa-nodes Ok: 1 node on 1 socket
            memory.zone-reclaim Ok: 0, without effect: there is one NUMA node
            memory.page-cache Ok: 1.91 GiB cached; 32.9 MiB to be written
            memory.reserved-huge-pages, memory.swap Ok: none
            memory.swappiness Ok: 60, without effect: there is no swap
            memory.modules NotVisible: a plausible description of the memory modules is not visible in this guest or container (kvm, docker)
            kernel.machine NotVisible: a product name is not visible in this guest or container (kvm, docker)
            kernel.clock-source Ok: tsc
            kernel.mitigations Ok: 2 mitigated (spectre_v1, spectre_v2), 2 vulnerable (spec_rstack_overflow, spec_store_bypass), of 19 known
            kernel.command-line Ok: parameters for tuning only: mitigations=auto,no_guest_host,no_guest_guest cpuidle_haltpoll.force=1
            kernel.nmi-watchdog Ok: 0
            kernel.timer-migration Deviates: 1
            kernel.irqbalance Ok: not running
            limits.cpu-quota Ok: none
            limits.throttled Ok: throttled since the group was created: 0 ×
            limits.memory Ok: none
            limits.locked-memory Deviates: 8.00 MiB
            limits.open-files Deviates: 20000
            limits.stack Deviates: 8.00 MiB
            network.congestion-control NotVisible: /proc/sys/net/ipv4/tcp_congestion_control is not visible in this guest or container (kvm, docker)
            network.receive-buffer NotVisible: /proc/sys/net/ipv4/tcp_rmem is not visible in this guest or container (kvm, docker)
            network.send-buffer NotVisible: /proc/sys/net/ipv4/tcp_wmem is not visible in this guest or container (kvm, docker)
            network.slow-start-after-idle NotVisible: /proc/sys/net/ipv4/tcp_slow_start_after_idle is not visible in this guest or container (kvm, docker)
            network.ping NotVisible: /proc/sys/net/ipv4/ping_group_range is not visible in this guest or container (kvm, docker)
            network.mtu, network.link-speed, network.driver, network.offloads, network.packet-sizes, network.rings, network.receive-queues, network.channels, network.coalescing, network.interrupts, network.interrupt-place, network.accelerated NotVisible: this property of a network device is not visible in this guest or container (kvm, docker)
            rdma.link NotVisible: an RDMA device is not visible in this guest or container (kvm, docker)
            mpi.library, mpi.root, mpi.transport, mpi.binding NotVisible: /proc/self/environ is not visible in this guest or container (kvm, docker)
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
            storage.io-uring NotVisible: /proc/sys/kernel/io_uring_disabled is not visible in this guest or container (kvm, docker)
            storage.aio-events NotVisible: /proc/sys/fs/aio-max-nr is not visible in this guest or container (kvm, docker)
            storage.scheduler, storage.queue, storage.write-cache, storage.iostats, storage.merges, storage.queue-cpus, storage.numa-node NotVisible: /sys/block is not visible in this guest or container (kvm, docker)
            storage.nfs-connections, storage.nfs-call-size, storage.nfs-slots Ok: no NFS volume is mounted
            load.average Deviates: 1.76 over the last minute
            load.processes Ok: none
            load.steal Ok: 0.04 % since boot (3.1 s)
            load.cpu-pressure Deviates: 29.1 % of the last 10 s
            load.memory-pressure Ok: 0.0 % of the last 10 s
        "#]],
    );
}

#[test]
fn findings_of_untuned_server() {
    check(
        "xeon-2s-smt",
        &expect![[r#"
            cpu.governor Deviates: powersave
            cpu.energy-preference Deviates: balance_performance
            cpu.boost Ok: on
            cpu.frequency-limit Deviates: 2.40 GHz of 3.70 GHz
            cpu.frequency Ok: 1.00 GHz to 2.39 GHz; nominal 2.40 GHz
            cpu.throttling Deviates: 12 since boot, on the CPU with the most
            cpu.idle-states Deviates: POLL (0 µs), C1 (2 µs), C1E (10 µs), C6 (133 µs)
            cpu.smt Deviates: several threads per core (smt/control: on)
            cpu.offline Ok: 80 of 80 online
            cpu.affinity Ok: CPUs 0-79 of 0-79
            cpu.isolated Deviates: 39
            cpu.microcode Ok: 0x2007006
            memory.free Ok: 181 GiB free; 660 MiB needed (last level: 55.0 MiB)
            memory.huge-pages Ok: always
            memory.huge-page-defrag Deviates: defer
            memory.numa-balancing Ok: 1, as the Azure HBv5 page sets it; tuned hpc-compute sets 0
            memory.numa-nodes Ok: 2 nodes on 2 sockets
            memory.zone-reclaim Deviates: 0
            memory.page-cache Ok: 1.91 GiB cached; 40.0 KiB to be written
            memory.reserved-huge-pages Deviates: 2.00 GiB
            memory.swap Deviates: /dev/sda2
            memory.swappiness Deviates: 60
            memory.modules NotVisible: a plausible description of the memory modules is not visible on this host
            kernel.machine Ok: Dell Inc. PowerEdge R640
            kernel.clock-source Deviates: hpet
            kernel.mitigations Ok: 2 mitigated (mds, meltdown), 0 vulnerable, of 3 known
            kernel.command-line Deviates: isolcpus=39 intel_idle.max_cstate=9
            kernel.nmi-watchdog Deviates: 1
            kernel.timer-migration Ok: 0
            kernel.irqbalance NotVisible: the list of all processes is not visible on this host
            limits.cpu-quota Ok: none
            limits.throttled Ok: throttled since the group was created: 0 ×
            limits.memory Ok: none
            limits.locked-memory Ok: unlimited
            limits.open-files Ok: 1048576
            limits.stack Ok: unlimited
            network.congestion-control NotVisible: /proc/sys/net/ipv4/tcp_congestion_control is not visible on this host
            network.receive-buffer NotVisible: /proc/sys/net/ipv4/tcp_rmem is not visible on this host
            network.send-buffer NotVisible: /proc/sys/net/ipv4/tcp_wmem is not visible on this host
            network.slow-start-after-idle NotVisible: /proc/sys/net/ipv4/tcp_slow_start_after_idle is not visible on this host
            network.ping NotVisible: /proc/sys/net/ipv4/ping_group_range is not visible on this host
            network.mtu, network.link-speed, network.driver, network.offloads, network.packet-sizes, network.rings, network.receive-queues, network.channels, network.coalescing, network.interrupts, network.interrupt-place, network.accelerated NotVisible: this property of a network device is not visible on this host
            rdma.link NotVisible: an RDMA device is not visible on this host
            mpi.library, mpi.root, mpi.transport, mpi.binding NotVisible: /proc/self/environ is not visible on this host
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
            storage.io-uring NotVisible: /proc/sys/kernel/io_uring_disabled is not visible on this host
            storage.aio-events NotVisible: /proc/sys/fs/aio-max-nr is not visible on this host
            storage.scheduler, storage.queue, storage.write-cache, storage.iostats, storage.merges, storage.queue-cpus, storage.numa-node NotVisible: /sys/block is not visible on this host
            storage.nfs-connections, storage.nfs-call-size, storage.nfs-slots Ok: no NFS volume is mounted
            load.average Ok: 0.08 over the last minute
            load.processes NotVisible: the list of all processes is not visible on this host
            load.steal Ok: 0.00 % since boot (0.0 s)
            load.cpu-pressure, load.memory-pressure Ok: 0.0 % of the last 10 s
        "#]],
    );
}

#[test]
fn findings_of_tuned_guest_without_huge_pages() {
    check(
        "epyc-24-l3",
        &expect![[r#"
            cpu.governor NotVisible: a cpufreq governor is not visible in this guest or container (hyperv)
            cpu.energy-preference NotVisible: an energy preference of the processor is not visible in this guest or container (hyperv)
            cpu.boost NotVisible: a switch for boost is not visible in this guest or container (hyperv)
            cpu.frequency-limit NotVisible: /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq is not visible in this guest or container (hyperv)
            cpu.frequency Ok: 3.56 GHz to 3.70 GHz; nominal 2.40 GHz
            cpu.throttling NotVisible: a count of thermal throttling is not visible in this guest or container (hyperv)
            cpu.idle-states NotVisible: a list of idle states is not visible in this guest or container (hyperv)
            cpu.smt Ok: one thread per core
            cpu.offline Ok: 144 of 144 online
            cpu.affinity Ok: CPUs 0-143 of 0-143
            cpu.isolated NotVisible: /sys/devices/system/cpu/isolated is not visible in this guest or container (hyperv)
            cpu.microcode NotVisible: the processor's actual microcode revision is not visible in this guest or container (hyperv)
            memory.free Ok: 677 GiB free; 27.0 GiB needed (last level: 2.25 GiB)
            memory.huge-pages Deviates: never
            memory.huge-page-defrag NotVisible: /sys/kernel/mm/transparent_hugepage/defrag is not visible in this guest or container (hyperv)
            memory.numa-balancing Ok: 0, as tuned hpc-compute sets it; the Azure HBv5 page sets 1
            memory.numa-nodes Ok: 4 nodes on 2 sockets
            memory.zone-reclaim Ok: 1
            memory.page-cache Ok: 1.91 GiB cached; 40.0 KiB to be written
            memory.reserved-huge-pages, memory.swap Ok: none
            memory.swappiness Ok: 10, without effect: there is no swap
            memory.modules NotVisible: a plausible description of the memory modules is not visible in this guest or container (hyperv)
            kernel.machine Ok: Microsoft Corporation Virtual Machine (hyperv)
            kernel.clock-source Ok: hyperv_clocksource_tsc_page
            kernel.mitigations NotVisible: the list of vulnerabilities is not visible in this guest or container (hyperv)
            kernel.command-line Ok: no parameter that moves results
            kernel.nmi-watchdog NotVisible: /proc/sys/kernel/nmi_watchdog is not visible in this guest or container (hyperv)
            kernel.timer-migration NotVisible: /proc/sys/kernel/timer_migration is not visible in this guest or container (hyperv)
            kernel.irqbalance NotVisible: the list of all processes is not visible in this guest or container (hyperv)
            limits.cpu-quota NotVisible: /proc/self/cgroup is not visible in this guest or container (hyperv)
            limits.throttled NotVisible: a count of how often the control group was throttled is not visible in this guest or container (hyperv)
            limits.memory NotVisible: /proc/self/cgroup is not visible in this guest or container (hyperv)
            limits.locked-memory NotVisible: "Max locked memory" of /proc/self/limits is not visible in this guest or container (hyperv)
            limits.open-files NotVisible: "Max open files" of /proc/self/limits is not visible in this guest or container (hyperv)
            limits.stack NotVisible: "Max stack size" of /proc/self/limits is not visible in this guest or container (hyperv)
            network.congestion-control NotVisible: /proc/sys/net/ipv4/tcp_congestion_control is not visible in this guest or container (hyperv)
            network.receive-buffer NotVisible: /proc/sys/net/ipv4/tcp_rmem is not visible in this guest or container (hyperv)
            network.send-buffer NotVisible: /proc/sys/net/ipv4/tcp_wmem is not visible in this guest or container (hyperv)
            network.slow-start-after-idle NotVisible: /proc/sys/net/ipv4/tcp_slow_start_after_idle is not visible in this guest or container (hyperv)
            network.ping NotVisible: /proc/sys/net/ipv4/ping_group_range is not visible in this guest or container (hyperv)
            network.mtu, network.link-speed, network.driver, network.offloads, network.packet-sizes, network.rings, network.receive-queues, network.channels, network.coalescing, network.interrupts, network.interrupt-place, network.accelerated NotVisible: this property of a network device is not visible in this guest or container (hyperv)
            rdma.link NotVisible: an RDMA device is not visible in this guest or container (hyperv)
            mpi.library, mpi.root, mpi.transport, mpi.binding NotVisible: /proc/self/environ is not visible in this guest or container (hyperv)
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
            storage.io-uring NotVisible: /proc/sys/kernel/io_uring_disabled is not visible in this guest or container (hyperv)
            storage.aio-events NotVisible: /proc/sys/fs/aio-max-nr is not visible in this guest or container (hyperv)
            storage.scheduler, storage.queue, storage.write-cache, storage.iostats, storage.merges, storage.queue-cpus, storage.numa-node NotVisible: /sys/block is not visible in this guest or container (hyperv)
            storage.nfs-connections, storage.nfs-call-size, storage.nfs-slots NotVisible: /proc/self/mountinfo is not visible in this guest or container (hyperv)
            load.average Ok: 0.00 over the last minute
            load.processes NotVisible: the list of all processes is not visible in this guest or container (hyperv)
            load.steal Deviates: 1.11 % since boot (90.0 s)
            load.cpu-pressure, load.memory-pressure NotVisible: pressure stall information is not visible in this guest or container (hyperv)
        "#]],
    );
}

#[test]
fn findings_of_arm_guest() {
    check(
        "arm-neoverse",
        &expect![[r#"
            cpu.governor NotVisible: a cpufreq governor is not visible in this guest or container (kvm)
            cpu.energy-preference NotVisible: an energy preference of the processor is not visible in this guest or container (kvm)
            cpu.boost NotVisible: a switch for boost is not visible in this guest or container (kvm)
            cpu.frequency-limit NotVisible: /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq is not visible in this guest or container (kvm)
            cpu.frequency NotVisible: the current CPU frequency is not visible in this guest or container (kvm)
            cpu.throttling NotVisible: a count of thermal throttling is not visible in this guest or container (kvm)
            cpu.idle-states NotVisible: a list of idle states is not visible in this guest or container (kvm)
            cpu.smt Ok: one thread per core
            cpu.offline NotVisible: the list of CPUs present is not visible in this guest or container (kvm)
            cpu.affinity Ok: CPUs 0-3 of 0-3
            cpu.isolated NotVisible: /sys/devices/system/cpu/isolated is not visible in this guest or container (kvm)
            cpu.microcode NotVisible: the processor's actual microcode revision is not visible in this guest or container (kvm)
            memory.free NotVisible: the size of the last-level cache is not visible in this guest or container (kvm)
            memory.huge-pages NotVisible: /sys/kernel/mm/transparent_hugepage/enabled is not visible in this guest or container (kvm)
            memory.huge-page-defrag NotVisible: /sys/kernel/mm/transparent_hugepage/defrag is not visible in this guest or container (kvm)
            memory.numa-balancing NotVisible: /proc/sys/kernel/numa_balancing is not visible in this guest or container (kvm)
            memory.numa-nodes NotVisible: the NUMA layout is not visible in this guest or container (kvm)
            memory.zone-reclaim NotVisible: /proc/sys/vm/zone_reclaim_mode is not visible in this guest or container (kvm)
            memory.page-cache Ok: 97.7 MiB cached; 0 B to be written
            memory.reserved-huge-pages NotVisible: Hugetlb of /proc/meminfo is not visible in this guest or container (kvm)
            memory.swap NotVisible: /proc/swaps is not visible in this guest or container (kvm)
            memory.swappiness NotVisible: /proc/sys/vm/swappiness is not visible in this guest or container (kvm)
            memory.modules NotVisible: a plausible description of the memory modules is not visible in this guest or container (kvm)
            kernel.machine Ok: Amazon EC2 m6g.xlarge (kvm)
            kernel.clock-source Ok: arch_sys_counter
            kernel.mitigations NotVisible: the list of vulnerabilities is not visible in this guest or container (kvm)
            kernel.command-line Ok: no parameter that moves results
            kernel.nmi-watchdog NotVisible: /proc/sys/kernel/nmi_watchdog is not visible in this guest or container (kvm)
            kernel.timer-migration NotVisible: /proc/sys/kernel/timer_migration is not visible in this guest or container (kvm)
            kernel.irqbalance NotVisible: the list of all processes is not visible in this guest or container (kvm)
            limits.cpu-quota NotVisible: /proc/self/cgroup is not visible in this guest or container (kvm)
            limits.throttled NotVisible: a count of how often the control group was throttled is not visible in this guest or container (kvm)
            limits.memory NotVisible: /proc/self/cgroup is not visible in this guest or container (kvm)
            limits.locked-memory NotVisible: "Max locked memory" of /proc/self/limits is not visible in this guest or container (kvm)
            limits.open-files NotVisible: "Max open files" of /proc/self/limits is not visible in this guest or container (kvm)
            limits.stack NotVisible: "Max stack size" of /proc/self/limits is not visible in this guest or container (kvm)
            network.congestion-control NotVisible: /proc/sys/net/ipv4/tcp_congestion_control is not visible in this guest or container (kvm)
            network.receive-buffer NotVisible: /proc/sys/net/ipv4/tcp_rmem is not visible in this guest or container (kvm)
            network.send-buffer NotVisible: /proc/sys/net/ipv4/tcp_wmem is not visible in this guest or container (kvm)
            network.slow-start-after-idle NotVisible: /proc/sys/net/ipv4/tcp_slow_start_after_idle is not visible in this guest or container (kvm)
            network.ping NotVisible: /proc/sys/net/ipv4/ping_group_range is not visible in this guest or container (kvm)
            network.mtu, network.link-speed, network.driver, network.offloads, network.packet-sizes, network.rings, network.receive-queues, network.channels, network.coalescing, network.interrupts, network.interrupt-place, network.accelerated NotVisible: this property of a network device is not visible in this guest or container (kvm)
            rdma.link NotVisible: an RDMA device is not visible in this guest or container (kvm)
            mpi.library, mpi.root, mpi.transport, mpi.binding NotVisible: /proc/self/environ is not visible in this guest or container (kvm)
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
            storage.io-uring NotVisible: /proc/sys/kernel/io_uring_disabled is not visible in this guest or container (kvm)
            storage.aio-events NotVisible: /proc/sys/fs/aio-max-nr is not visible in this guest or container (kvm)
            storage.scheduler, storage.queue, storage.write-cache, storage.iostats, storage.merges, storage.queue-cpus, storage.numa-node NotVisible: /sys/block is not visible in this guest or container (kvm)
            storage.nfs-connections, storage.nfs-call-size, storage.nfs-slots NotVisible: /proc/self/mountinfo is not visible in this guest or container (kvm)
            load.average NotVisible: the load average is not visible in this guest or container (kvm)
            load.processes NotVisible: the list of all processes is not visible in this guest or container (kvm)
            load.steal NotVisible: the CPU time stolen is not visible in this guest or container (kvm)
            load.cpu-pressure, load.memory-pressure NotVisible: pressure stall information is not visible in this guest or container (kvm)
        "#]],
    );
}

#[test]
fn findings_of_limited_container() {
    check(
        "container-v2",
        &expect![[r#"
            cpu.governor NotVisible: a cpufreq governor is not visible in this guest or container (kubernetes)
            cpu.energy-preference NotVisible: an energy preference of the processor is not visible in this guest or container (kubernetes)
            cpu.boost NotVisible: a switch for boost is not visible in this guest or container (kubernetes)
            cpu.frequency-limit NotVisible: /sys/devices/system/cpu/cpu3/cpufreq/scaling_max_freq is not visible in this guest or container (kubernetes)
            cpu.frequency NotVisible: the current CPU frequency is not visible in this guest or container (kubernetes)
            cpu.throttling NotVisible: a count of thermal throttling is not visible in this guest or container (kubernetes)
            cpu.idle-states NotVisible: a list of idle states is not visible in this guest or container (kubernetes)
            cpu.smt Ok: one thread per core
            cpu.offline Deviates: 8 of 10 online; offline: 8-9
            cpu.affinity Deviates: CPUs 3-4 of 0-7
            cpu.isolated NotVisible: /sys/devices/system/cpu/isolated is not visible in this guest or container (kubernetes)
            cpu.microcode NotVisible: the processor's actual microcode revision is not visible in this guest or container (kubernetes)
            memory.free Ok: 1.50 GiB free; 144 MiB needed (last level: 12.0 MiB)
            memory.huge-pages NotVisible: /sys/kernel/mm/transparent_hugepage/enabled is not visible in this guest or container (kubernetes)
            memory.huge-page-defrag NotVisible: /sys/kernel/mm/transparent_hugepage/defrag is not visible in this guest or container (kubernetes)
            memory.numa-balancing NotVisible: /proc/sys/kernel/numa_balancing is not visible in this guest or container (kubernetes)
            memory.numa-nodes Ok: 2 nodes on 1 socket
            memory.zone-reclaim NotVisible: /proc/sys/vm/zone_reclaim_mode is not visible in this guest or container (kubernetes)
            memory.page-cache Ok: 0 B cached; 0 B to be written
            memory.reserved-huge-pages NotVisible: Hugetlb of /proc/meminfo is not visible in this guest or container (kubernetes)
            memory.swap NotVisible: /proc/swaps is not visible in this guest or container (kubernetes)
            memory.swappiness NotVisible: /proc/sys/vm/swappiness is not visible in this guest or container (kubernetes)
            memory.modules NotVisible: a plausible description of the memory modules is not visible in this guest or container (kubernetes)
            kernel.machine NotVisible: a product name is not visible in this guest or container (kubernetes)
            kernel.clock-source NotVisible: the clock source is not visible in this guest or container (kubernetes)
            kernel.mitigations NotVisible: the list of vulnerabilities is not visible in this guest or container (kubernetes)
            kernel.command-line Deviates: mem=64G
            kernel.nmi-watchdog NotVisible: /proc/sys/kernel/nmi_watchdog is not visible in this guest or container (kubernetes)
            kernel.timer-migration NotVisible: /proc/sys/kernel/timer_migration is not visible in this guest or container (kubernetes)
            kernel.irqbalance NotVisible: the list of all processes is not visible in this guest or container (kubernetes)
            limits.cpu-quota Deviates: 1.50 CPUs' worth of time on 2 CPUs
            limits.throttled Deviates: throttled since the group was created: 45 ×
            limits.memory Deviates: 1.50 GiB left in the group
            limits.locked-memory NotVisible: "Max locked memory" of /proc/self/limits is not visible in this guest or container (kubernetes)
            limits.open-files Deviates: 1024
            limits.stack NotVisible: "Max stack size" of /proc/self/limits is not visible in this guest or container (kubernetes)
            network.congestion-control NotVisible: /proc/sys/net/ipv4/tcp_congestion_control is not visible in this guest or container (kubernetes)
            network.receive-buffer NotVisible: /proc/sys/net/ipv4/tcp_rmem is not visible in this guest or container (kubernetes)
            network.send-buffer NotVisible: /proc/sys/net/ipv4/tcp_wmem is not visible in this guest or container (kubernetes)
            network.slow-start-after-idle NotVisible: /proc/sys/net/ipv4/tcp_slow_start_after_idle is not visible in this guest or container (kubernetes)
            network.ping NotVisible: /proc/sys/net/ipv4/ping_group_range is not visible in this guest or container (kubernetes)
            network.mtu, network.link-speed, network.driver, network.offloads, network.packet-sizes, network.rings, network.receive-queues, network.channels, network.coalescing, network.interrupts, network.interrupt-place, network.accelerated NotVisible: this property of a network device is not visible in this guest or container (kubernetes)
            rdma.link NotVisible: an RDMA device is not visible in this guest or container (kubernetes)
            mpi.library, mpi.root, mpi.transport, mpi.binding NotVisible: /proc/self/environ is not visible in this guest or container (kubernetes)
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
            storage.io-uring NotVisible: /proc/sys/kernel/io_uring_disabled is not visible in this guest or container (kubernetes)
            storage.aio-events NotVisible: /proc/sys/fs/aio-max-nr is not visible in this guest or container (kubernetes)
            storage.scheduler, storage.queue, storage.write-cache, storage.iostats, storage.merges, storage.queue-cpus, storage.numa-node NotVisible: /sys/block is not visible in this guest or container (kubernetes)
            storage.nfs-connections, storage.nfs-call-size, storage.nfs-slots Ok: no NFS volume is mounted
            load.average NotVisible: the load average is not visible in this guest or container (kubernetes)
            load.processes NotVisible: the list of all processes is not visible in this guest or container (kubernetes)
            load.steal NotVisible: the CPU time stolen is not visible in this guest or container (kubernetes)
            load.cpu-pressure Deviates: 7.5 % of the last 10 s
            load.memory-pressure NotVisible: pressure stall information is not visible in this guest or container (kubernetes)
        "#]],
    );
}

#[test]
fn one_changed_file_changes_one_outcome() {
    let host = TestHost::load("xeon-2s-smt");
    let cpu = "sys/devices/system/cpu";
    let outcome = |id: &str| host.finding(id).unwrap().0;
    for (id, path, content, expected) in [
        ("cpu.governor", "cpu{}/cpufreq/scaling_governor", "performance", CheckOutcome::Ok),
        (
            "cpu.energy-preference",
            "cpu{}/cpufreq/energy_performance_preference",
            "performance",
            CheckOutcome::Ok,
        ),
        ("cpu.boost", "intel_pstate/no_turbo", "1", CheckOutcome::Deviates),
        ("cpu.frequency-limit", "cpu{}/cpufreq/scaling_max_freq", "3700000", CheckOutcome::Ok),
        (
            "cpu.frequency-limit",
            "cpu{}/cpufreq/scaling_max_freq",
            "much",
            CheckOutcome::Unreadable,
        ),
        ("cpu.frequency", "cpu{}/cpufreq/scaling_cur_freq", "1200000", CheckOutcome::Deviates),
        (
            "cpu.throttling",
            "cpu{}/thermal_throttle/package_throttle_count",
            "0",
            CheckOutcome::Ok,
        ),
        ("cpu.idle-states", "cpu{}/cpuidle/state3/disable", "1", CheckOutcome::Deviates),
        ("cpu.idle-states", "cpu{}/cpuidle/state2/disable", "1", CheckOutcome::Ok),
        ("cpu.offline", "present", "0-95", CheckOutcome::Deviates),
        ("cpu.isolated", "isolated", "", CheckOutcome::Ok),
    ] {
        for number in 0..80 {
            host.write(
                &format!("{cpu}/{}", path.replace("{}", &number.to_string())),
                content.as_bytes(),
            );
        }
        assert_eq!(outcome(id), expected, "{id} {content}");
    }
    for (id, path, content, expected) in [
        (
            "memory.huge-pages",
            "sys/kernel/mm/transparent_hugepage/enabled",
            "always madvise [never]",
            CheckOutcome::Deviates,
        ),
        (
            "memory.huge-page-defrag",
            "sys/kernel/mm/transparent_hugepage/defrag",
            "[always] defer never",
            CheckOutcome::Ok,
        ),
        (
            "memory.numa-balancing",
            "proc/sys/kernel/numa_balancing",
            "2",
            CheckOutcome::Deviates,
        ),
        ("memory.zone-reclaim", "proc/sys/vm/zone_reclaim_mode", "1", CheckOutcome::Ok),
        ("memory.swappiness", "proc/sys/vm/swappiness", "10", CheckOutcome::Ok),
        ("memory.swap", "proc/swaps", "Filename Type Size", CheckOutcome::Ok),
        (
            "memory.free",
            "proc/meminfo",
            "MemTotal: 99 kB\nMemAvailable: 99 kB",
            CheckOutcome::Deviates,
        ),
        (
            "memory.page-cache",
            "proc/meminfo",
            "MemTotal: 99 kB\nCached: 9 kB\nDirty: 9 kB\nWriteback: 0 kB",
            CheckOutcome::Deviates,
        ),
        (
            "kernel.clock-source",
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
            "tsc",
            CheckOutcome::Ok,
        ),
        ("kernel.command-line", "proc/cmdline", "quiet -- mem=1G", CheckOutcome::Ok),
        ("kernel.command-line", "proc/cmdline", "mem=1G quiet", CheckOutcome::Deviates),
        ("kernel.nmi-watchdog", "proc/sys/kernel/nmi_watchdog", "0", CheckOutcome::Ok),
        (
            "limits.cpu-quota",
            "sys/fs/cgroup/user.slice/cpu.max",
            "7900000 100000",
            CheckOutcome::Deviates,
        ),
        (
            "limits.cpu-quota",
            "sys/fs/cgroup/user.slice/cpu.max",
            "8000000 100000",
            CheckOutcome::Ok,
        ),
        ("storage.io-uring", "proc/sys/kernel/io_uring_disabled", "0", CheckOutcome::Ok),
        ("storage.io-uring", "proc/sys/kernel/io_uring_disabled", "2", CheckOutcome::Deviates),
        (
            "storage.nfs-connections",
            "proc/self/mountinfo",
            "1 0 0:1 / /v rw - nfs4 s:/v rw,nconnect=8",
            CheckOutcome::Ok,
        ),
        (
            "storage.nfs-connections",
            "proc/self/mountinfo",
            "1 0 0:1 / /v rw - nfs s:/v rw",
            CheckOutcome::Deviates,
        ),
        (
            "storage.nfs-call-size",
            "proc/self/mountinfo",
            "1 0 0:1 / /v rw - nfs s:/v rw,rsize=65536,wsize=262144",
            CheckOutcome::Deviates,
        ),
        (
            "storage.nfs-slots",
            "proc/self/mountinfo",
            "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
            CheckOutcome::Ok,
        ),
        ("load.average", "proc/loadavg", "0.51 0 0 1/1 1", CheckOutcome::Deviates),
        ("load.steal", "proc/stat", "cpu  100 0 0 0 0 0 0 1 0 0", CheckOutcome::Deviates),
        (
            "load.cpu-pressure",
            "proc/pressure/cpu",
            "some avg10=1.50 avg60=0",
            CheckOutcome::Deviates,
        ),
    ] {
        host.write(path, content.as_bytes());
        assert_eq!(outcome(id), expected, "{id} {content}");
    }
}

#[test]
fn judges_queues_and_interrupts_by_number_of_cpus() {
    let host = TestHost::load("xeon-2s-smt");
    let observed = |id: &str| host.finding(id).unwrap();
    host.write("sys/class/net/eth7/device/uevent", b"DRIVER=mlx5_core\n");
    host.write("sys/class/net/eth7/queues/rx-0/rps_cpus", b"00,00000000\n");
    for number in [90, 91, 92] {
        host.write(&format!("sys/class/net/eth7/device/msi_irqs/{number}"), b"msix\n");
        host.write(&format!("proc/irq/{number}/effective_affinity_list"), b"3\n");
    }
    let one = "eth7 1 queue, 0 spread by RPS".to_owned();
    assert_eq!(observed("network.receive-queues"), (CheckOutcome::Deviates, one));
    let together = "eth7 interrupts: 3, on CPUs 3".to_owned();
    assert_eq!(observed("network.interrupts"), (CheckOutcome::Deviates, together));
    host.write("sys/class/net/eth7/queues/rx-0/rps_cpus", b"00,0000000f\n");
    host.write("proc/irq/91/effective_affinity_list", b"5\n");
    let spread = "eth7 1 queue, 1 spread by RPS".to_owned();
    assert_eq!(observed("network.receive-queues"), (CheckOutcome::Ok, spread));
    let apart = "eth7 interrupts: 3, on CPUs 3 5".to_owned();
    assert_eq!(observed("network.interrupts"), (CheckOutcome::Ok, apart));
}

/// Settings of block devices; loop devices have none of their own.
#[test]
fn records_settings_of_block_devices() {
    let host = TestHost::load("xeon-2s-smt");
    for (device, scheduler, cache) in [
        ("nvme0n1", "[none] mq-deadline", "write back"),
        ("sda", "none [bfq]", "write through"),
    ] {
        host.write(&format!("sys/block/{device}/queue/rotational"), b"0\n");
        host.write(&format!("sys/block/{device}/queue/scheduler"), scheduler.as_bytes());
        host.write(&format!("sys/block/{device}/queue/write_cache"), cache.as_bytes());
    }
    host.write("sys/block/loop0/queue/write_cache", b"write back\n");
    let observed = |id: &str| host.finding(id).unwrap();
    let caches = "nvme0n1 write back, sda write through".to_owned();
    assert_eq!(observed("storage.write-cache"), (CheckOutcome::Ok, caches));
    let schedulers = "nvme0n1 none, sda bfq".to_owned();
    assert_eq!(observed("storage.scheduler"), (CheckOutcome::Deviates, schedulers));
}

#[test]
fn records_queues_of_block_devices() {
    let host = TestHost::load("xeon-2s-smt");
    let observed = |id: &str| host.finding(id).unwrap();
    for (file, content) in [
        ("nvme0n1/queue/iostats", "1\n"),
        ("sda/queue/iostats", "0\n"),
        ("nvme0n1/queue/nomerges", "0\n"),
        ("sda/queue/nomerges", "2\n"),
        ("nvme0n1/mq/0/cpu_list", "0, 1, 2\n"),
        ("nvme0n1/mq/1/cpu_list", "3\n"),
        ("sda/mq/0/cpu_list", "\n"),
        ("nvme0n1/device/numa_node", "1\n"),
        ("sda/device/numa_node", "-1\n"),
    ] {
        host.write(&format!("sys/block/{file}"), content.as_bytes());
    }
    let counted = "nvme0n1 1, sda 0".to_owned();
    assert_eq!(observed("storage.iostats"), (CheckOutcome::Deviates, counted));
    let merged = "nvme0n1 0, sda 2".to_owned();
    assert_eq!(observed("storage.merges"), (CheckOutcome::Deviates, merged));
    let queues = "nvme0n1 queues: 2, CPUs of a queue: at most 3".to_owned();
    assert_eq!(observed("storage.queue-cpus"), (CheckOutcome::Ok, queues));
    let node = "nvme0n1 on node 1".to_owned();
    assert_eq!(observed("storage.numa-node"), (CheckOutcome::Ok, node));
    host.write("sys/block/sda/queue/iostats", b"1\n");
    host.write("sys/block/sda/queue/nomerges", b"0\n");
    for id in ["storage.iostats", "storage.merges"] {
        assert_eq!(observed(id).0, CheckOutcome::Ok, "{id}");
    }
}

#[test]
fn every_check_is_complete_and_unique() {
    let findings = TestHost::load("arm-neoverse").findings();
    let names: BTreeSet<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(names.len(), findings.len());
    for finding in &findings {
        let theme = finding.id.split_once('.').unwrap().0;
        assert!(
            ["cpu", "memory", "kernel", "limits", "load", "mpi", "network", "rdma", "storage"]
                .contains(&theme),
            "{}",
            finding.id
        );
        let kebab = |letter: char| letter.is_ascii_lowercase() || ".-".contains(letter);
        assert!(finding.id.chars().all(kebab), "{}", finding.id);
        for text in [
            &finding.observed,
            &finding.expected,
            &finding.why,
            &finding.source,
            &finding.change,
        ] {
            assert!(!text.is_empty(), "{}", finding.id);
            assert!(!text.contains("  ") && !text.ends_with('.'), "{}: {text}", finding.id);
        }
    }
}

#[test]
fn examines_this_machine_completely() {
    let root = Root::machine();
    let findings = doctor::examine(
        &root,
        &facts::read(&root),
        &state::read(&root),
        &NetworkSetup::default(),
    );
    let affinity = findings.iter().find(|finding| finding.id == "cpu.affinity").unwrap();
    assert!(matches!(affinity.outcome, CheckOutcome::Ok | CheckOutcome::Deviates));
    assert!(findings.iter().all(|finding| !finding.observed.is_empty()));
}
