//! Facts read from each host, in a compact form that shows every value.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_fleet::facts;
use assay_fleet::root::Root;
use assay_model::facts::{HostFacts, MemoryModule};
use assay_model::limit;
use expect_test::{Expect, expect};

use crate::test_host::TestHost;

fn check(host: &str, expected: &Expect) {
    expected.assert_eq(&format_facts(&facts::read(&TestHost::load(host).root())));
}

/// Formats all facts except those covered by other tests (fingerprint, settings, versions).
fn format_facts(facts: &HostFacts) -> String {
    let (cpu, system, memory, limits) =
        (&facts.cpu, &facts.system, &facts.memory, &facts.limits);
    let mut text = format!(
        "{} · {} · {} · {}\n",
        facts.name,
        system.architecture,
        system.kernel,
        system.distribution.as_deref().unwrap_or("-")
    );
    let mut line = |name: &str, value: String| writeln!(text, "{name}: {value}").unwrap();
    line(
        "virtualization",
        format!("{:?}, product {:?}", system.virtualization, system.product),
    );
    line("clock source", format!("{:?}", system.clock_source));
    line(
        "cpu",
        format!("{} · {} · {:?} · {:?}", cpu.vendor, cpu.model, cpu.signature, cpu.microcode),
    );
    line("flags", format!("{} … {}", cpu.flags[0], cpu.flags[cpu.flags.len() - 1]));
    line("hertz", format!("nominal {:?}, maximum {:?}", cpu.nominal_hz, cpu.maximum_hz));
    line("switches", format!("{:?}, boost {:?}, SMT {:?}", cpu.governor, cpu.boost, cpu.smt));
    topology(facts, &mut line);
    line(
        "memory",
        format!(
            "{} total, {} available, pages {} and {:?}, modules {:?}",
            memory.total_bytes,
            memory.available_bytes,
            memory.page_bytes,
            memory.huge_page_bytes,
            memory.modules.as_ref().map(Vec::len)
        ),
    );
    line("limits", format!("{limits:?}"));
    line("mitigations", format!("{}", facts.mitigations.len()));
    text
}

fn topology(facts: &HostFacts, line: &mut impl FnMut(&str, String)) {
    let topology = &facts.topology;
    let mut cores: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for cpu in &topology.cpus {
        cores.entry((cpu.socket, cpu.core)).or_default().push(cpu.id);
    }
    let ends = |lists: Vec<String>| match lists.len() {
        0..=8 => lists.join(" "),
        _ => format!("{} {} … {}", lists[0], lists[1], lists[lists.len() - 1]),
    };
    let named =
        cores.iter().map(|((socket, core), cpus)| format!("{socket}.{core}={}", list(cpus)));
    line("cores", format!("{}: {}", cores.len(), ends(named.collect())));
    for level in 1..=4 {
        let caches: Vec<_> =
            topology.caches.iter().filter(|cache| cache.level == level).collect();
        if let Some(first) = caches.first() {
            let shared = caches.iter().map(|cache| list(&cache.cpus)).collect();
            let size = format!(
                "{} × {} bytes in lines of {}",
                caches.len(),
                first.bytes,
                first.line_bytes
            );
            line(&format!("L{level}"), format!("{size}: {}", ends(shared)));
        }
    }
    for node in &topology.numa {
        let inside = topology.cpus.iter().filter(|cpu| cpu.numa == node.id).count();
        assert_eq!(inside, node.cpus.len());
        line(
            &format!("node {}", node.id),
            format!("{} with {} bytes", list(&node.cpus), node.bytes),
        );
    }
}

fn list(cpus: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => runs.push((*cpu, *cpu)),
        }
    }
    let run = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(",")
}

#[test]
fn facts_of_guest() {
    check(
        "guest-zen4",
        &expect![[r#"
        guest · x86_64 · 6.18.44 · Debian GNU/Linux 12 (bookworm)
        virtualization: Some("kvm, docker"), product None
        clock source: Some("tsc")
        cpu: AuthenticAMD · AMD EPYC · Some("25/17/1") · None
        flags: fpu … fsrm
        hertz: nominal Some(2596130000.0), maximum None
        switches: None, boost None, SMT Some(false)
        cores: 2: 0.0=0 0.1=1
        L1: 2 × 32768 bytes in lines of 64: 0 1
        L2: 2 × 1048576 bytes in lines of 64: 0 1
        L3: 1 × 33554432 bytes in lines of 64: 0-1
        node 0: 0-1 with 25276502016 bytes
        memory: 25276502016 total, 23883280384 available, pages 4096 and Some(2097152), modules None
        limits: LimitFacts { cpu_quota: None, memory_available_bytes: None, locked_memory_bytes: Some(8388608), stack_bytes: Some(8388608) }
        mitigations: 19
    "#]],
    );
}

#[test]
fn facts_of_two_sockets_with_smt() {
    check(
        "xeon-2s-smt",
        &expect![[r#"
        xeon · x86_64 · 5.14.0-503.el9.x86_64 · Rocky Linux 9.5 (Blue Onyx)
        virtualization: None, product Some("Dell Inc. PowerEdge R640")
        clock source: Some("hpet")
        cpu: GenuineIntel · Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz · Some("6/85/4") · Some("0x2007006")
        flags: fpu … avx512vl
        hertz: nominal Some(2400000000.0), maximum Some(3700000000.0)
        switches: Some("powersave"), boost Some(true), SMT Some(true)
        cores: 40: 0.0=0,40 0.1=1,41 … 1.28=39,79
        L1: 40 × 32768 bytes in lines of 64: 0,40 1,41 … 39,79
        L2: 40 × 1048576 bytes in lines of 64: 0,40 1,41 … 39,79
        L3: 2 × 28835840 bytes in lines of 64: 0-19,40-59 20-39,60-79
        node 0: 0-19,40-59 with 100663296000 bytes
        node 1: 20-39,60-79 with 100663296000 bytes
        memory: 201326592000 total, 194560000000 available, pages 4096 and Some(2097152), modules None
        limits: LimitFacts { cpu_quota: None, memory_available_bytes: None, locked_memory_bytes: None, stack_bytes: None }
        mitigations: 3
    "#]],
    );
}

#[test]
fn facts_of_many_last_level_caches() {
    check(
        "epyc-24-l3",
        &expect![[r#"
        hb176 · x86_64 · 5.15.0-1064-azure · AlmaLinux 8.10 (Cerulean Leopard)
        virtualization: Some("hyperv"), product Some("Microsoft Corporation Virtual Machine")
        clock source: Some("hyperv_clocksource_tsc_page")
        cpu: AuthenticAMD · AMD EPYC 9V33X 96-Core Processor · Some("25/17/2") · None
        flags: fpu … avx512_bf16
        hertz: nominal Some(2400055000.0), maximum None
        switches: None, boost None, SMT Some(false)
        cores: 144: 0.0=0 0.1=1 … 1.143=143
        L1: 144 × 32768 bytes in lines of 64: 0 1 … 143
        L2: 144 × 1048576 bytes in lines of 64: 0 1 … 143
        L3: 24 × 100663296 bytes in lines of 64: 0-5 6-11 … 138-143
        node 0: 0-35 with 184683593728 bytes
        node 1: 36-71 with 184683593728 bytes
        node 2: 72-107 with 184683593728 bytes
        node 3: 108-143 with 184683593728 bytes
        memory: 738734374912 total, 727040000000 available, pages 4096 and Some(2097152), modules None
        limits: LimitFacts { cpu_quota: None, memory_available_bytes: None, locked_memory_bytes: None, stack_bytes: None }
        mitigations: 0
    "#]],
    );
}

#[test]
fn facts_of_arm_without_last_level_cache() {
    check(
        "arm-neoverse",
        &expect![[r#"
        arm · aarch64 · 5.10.0-30-arm64 · Debian GNU/Linux 11 (bullseye)
        virtualization: Some("kvm"), product Some("Amazon EC2 m6g.xlarge")
        clock source: Some("arch_sys_counter")
        cpu: ARM · Neoverse-N1 · Some("0x41/0xd0c/r3p1") · None
        flags: fp … asimddp
        hertz: nominal None, maximum None
        switches: None, boost None, SMT Some(false)
        cores: 4: 0.0=0 0.1=1 0.2=2 0.3=3
        L1: 4 × 65536 bytes in lines of 64: 0 1 2 3
        node 0: 0-3 with 8221687808 bytes
        memory: 8221687808 total, 7577600000 available, pages 65536 and None, modules None
        limits: LimitFacts { cpu_quota: None, memory_available_bytes: None, locked_memory_bytes: None, stack_bytes: None }
        mitigations: 0
    "#]],
    );
}

#[test]
fn facts_of_limited_container() {
    check(
        "container-v2",
        &expect![[r#"
        localhost · x86_64 · unknown · -
        virtualization: Some("kubernetes"), product None
        clock source: None
        cpu: AuthenticAMD · AMD Opteron(TM) Processor 6274 · Some("21/1/2") · None
        flags: fpu … avx
        hertz: nominal Some(2200105000.0), maximum None
        switches: None, boost None, SMT Some(false)
        cores: 2: 0.0=4 0.3=3
        L1: 2 × 16384 bytes in lines of 64: 3 4
        L3: 2 × 6291456 bytes in lines of 64: 3 4
        node 0: 3 with 33690841088 bytes
        node 1: 4 with 33690841088 bytes
        memory: 67381682176 total, 61440000000 available, pages 4096 and None, modules None
        limits: LimitFacts { cpu_quota: Some(1.5), memory_available_bytes: Some(1610612736), locked_memory_bytes: None, stack_bytes: None }
        mitigations: 0
    "#]],
    );
}

#[test]
fn distinguishes_equal_core_numbers_of_different_dies() {
    let host = TestHost::load("container-v2");
    host.write("proc/self/status", b"Cpus_allowed_list:\t0-7");
    host.remove("sys/fs/cgroup/container/cpuset.cpus.effective");
    let topology = facts::read(&host.root()).topology;
    let cores: Vec<u32> = topology.cpus.iter().map(|cpu| cpu.core).collect();
    assert_eq!(cores, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(topology.one_cpu_per_core(&topology.cpu_ids()).len(), 8);
}

#[test]
fn empty_tree_is_a_host_with_one_cpu() {
    let directory = tempfile::tempdir().unwrap();
    let facts = facts::read(&Root::from_directory(directory.path()));
    assert_eq!(facts.topology.cpu_ids(), [0]);
    assert_eq!(facts.topology.numa.len(), 1);
    assert!(facts.topology.caches.is_empty());
    let expected = assay_model::facts::CpuFacts {
        vendor: "unknown".into(),
        model: "unknown".into(),
        ..Default::default()
    };
    assert_eq!(facts.cpu, expected);
    assert_eq!((facts.memory.total_bytes, facts.memory.modules), (0, None));
}

#[test]
fn reading_this_machine_is_reproducible() {
    let mut first = facts::read(&Root::machine());
    let second = facts::read(&Root::machine());
    assert!(!first.topology.cpus.is_empty() && first.memory.total_bytes > 0);
    first.memory.available_bytes = second.memory.available_bytes;
    first.limits.memory_available_bytes = second.limits.memory_available_bytes;
    assert_eq!(first, second);
}

#[test]
fn settings_are_keyed_by_path() {
    let settings = facts::read(&TestHost::load("xeon-2s-smt").root()).settings;
    let expected = [
        ("cpu0/cpufreq/energy_performance_preference", "balance_performance"),
        ("cpu0/cpufreq/scaling_driver", "intel_pstate"),
        ("intel_pstate/status", "active"),
        ("isolated", "39"),
        ("kernel/nmi_watchdog", "1"),
        ("kernel/numa_balancing", "1"),
        ("kernel/timer_migration", "0"),
        ("smt/control", "on"),
        ("transparent_hugepage/defrag", "defer"),
        ("transparent_hugepage/enabled", "always"),
        ("vm/swappiness", "60"),
        ("vm/zone_reclaim_mode", "0"),
    ];
    let settings: Vec<(&str, &str)> =
        settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(settings, expected);
}

#[test]
fn version_1_groups_limit_a_container() {
    let host = TestHost::load("arm-neoverse");
    let group = "/docker/0123";
    host.write(
        "proc/self/cgroup",
        format!("4:memory:{group}\n3:cpuset:{group}\n2:cpu,cpuacct:{group}\n").as_bytes(),
    );
    let mounts = ["cpu,cpuacct", "cpuset", "memory"].map(|name| {
        format!("9 8 0:1 {group} /sys/fs/cgroup/{name} ro - cgroup cgroup rw,{name}\n")
    });
    host.write("proc/self/mountinfo", mounts.concat().as_bytes());
    for (path, content) in [
        ("cpu,cpuacct/cpu.cfs_quota_us", "250000"),
        ("cpu,cpuacct/cpu.cfs_period_us", "100000"),
        ("cpuset/cpuset.effective_cpus", "1-3"),
        ("memory/memory.limit_in_bytes", "1000000"),
        ("memory/memory.usage_in_bytes", "600000"),
        ("memory/memory.stat", "cache 1\ninactive_file 1\ntotal_inactive_file 100000\n"),
    ] {
        host.write(&format!("sys/fs/cgroup/{path}"), content.as_bytes());
    }
    let facts = facts::read(&host.root());
    assert_eq!(facts.limits.cpu_quota, Some(2.5));
    assert_eq!(facts.limits.memory_available_bytes, Some(500_000));
    assert_eq!(facts.topology.cpu_ids(), [1, 2, 3]);
    assert_eq!(facts.system.virtualization.as_deref(), Some("kvm, docker"));
}

#[test]
fn memory_modules_give_a_limit_except_in_guests() {
    // One structure of type 17 per module, after DSP0134 7.18: DDR4-2666, 64 bits, 16 GiB.
    let module = |number: u8, channel: u8| {
        let mut table =
            vec![17, 0x22, number, 0x11, 0, 0x10, 0xff, 0xff, 72, 0, 64, 0, 0, 0x40];
        table.extend([
            9, 0, 1, 2, 0x1a, 0x80, 0, 0x6a, 0x0a, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0x6a, 0x0a,
        ]);
        table.extend(format!("DIMM {number}\0CHANNEL {channel}\0\0").bytes());
        table
    };
    let table: Vec<u8> = (0..12).flat_map(|number| module(number, number)).collect();
    let read = |name: &str| {
        let host = TestHost::load(name);
        host.write("sys/firmware/dmi/tables/DMI", &table);
        facts::read(&host.root())
    };
    let machine = read("xeon-2s-smt");
    let expected = MemoryModule {
        locator: "DIMM 0".into(),
        bank: "CHANNEL 0".into(),
        bytes: 16 << 30,
        width_bits: 64,
        transfers_per_s: 2_666_000_000,
        kind: "DDR4".into(),
    };
    assert_eq!(machine.memory.modules.as_ref().map(|modules| &modules[0]), Some(&expected));
    let limit = limit::memory_bandwidth(&machine).map(|limit| limit.value);
    assert_eq!(limit, Some(12.0 * 8.0 * 2.666e9));
    assert_eq!(read("guest-zen4").memory.modules, None);
}

/// Change of a file's content.
type FileChange<'a> = &'a dyn Fn(&str) -> String;

#[test]
fn fingerprint_depends_only_on_hardware() {
    let host = TestHost::load("guest-zen4");
    let original = facts::read(&host.root()).fingerprint;
    assert_eq!(original.len(), 16);
    let cpu = "sys/devices/system/cpu";
    let after = |path: &str, change: FileChange| {
        let before = std::fs::read_to_string(host.path(path)).ok();
        let changed = change(before.as_deref().unwrap_or_default());
        assert_ne!(before.as_ref(), Some(&changed), "{path}: this changes nothing");
        host.write(path, changed.as_bytes());
        let fingerprint = facts::read(&host.root()).fingerprint;
        match before {
            Some(before) => host.write(path, before.as_bytes()),
            None => host.remove(path),
        }
        fingerprint
    };
    let text = |text: &'static str| move |_: &str| text.to_owned();
    let same: [(&str, FileChange); 11] = [
        ("proc/sys/kernel/osrelease", &text("6.19.0")),
        ("proc/sys/kernel/hostname", &text("other")),
        ("proc/cmdline", &text("quiet")),
        ("proc/meminfo", &|old| old.replace("24684084", "24600000")),
        ("proc/cpuinfo", &|old| {
            old.replace("2596.132", "2596.140").replace("5192.26", "5192.28")
        }),
        ("proc/cpuinfo", &|old| old.replace("0x1000065", "0xa101148")),
        ("proc/self/status", &text("Cpus_allowed_list:\t1")),
        ("sys/fs/cgroup/cpuset/cpuset.effective_cpus", &text("0")),
        ("run/systemd/container", &text("podman")),
        ("sys/firmware/dmi/tables/DMI", &text("only root sees this")),
        ("proc/sys/kernel/random/boot_id", &text("2f6b")),
    ];
    for (path, change) in same {
        assert_eq!(after(path, change), original, "{path}");
    }
    let other: [(&str, FileChange); 7] = [
        ("proc/cpuinfo", &|old| old.replace("AMD EPYC", "AMD EPYC 9654")),
        ("proc/sys/kernel/arch", &text("aarch64")),
        (&format!("{cpu}/online"), &text("0")),
        (&format!("{cpu}/cpu0/cache/index3/size"), &text("98304K")),
        (&format!("{cpu}/cpu1/topology/physical_package_id"), &text("1")),
        ("sys/devices/system/memory/memory192/state", &text("online")),
        ("sys/class/dmi/id/product_name", &text("c3-standard-4")),
    ];
    for (path, change) in other {
        assert_ne!(after(path, change), original, "{path}");
    }
}
