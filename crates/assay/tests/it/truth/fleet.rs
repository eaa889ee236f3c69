//! Known truths with several agents: their total, and the detection of a slow host.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::rounds::{RamDisk, ReadLimitGroup};
use crate::network::link::{Link, LinkProgram, run};
use crate::processes::Background;
use crate::program::{World, results};

/// Runs a suite over hosts behind `via.sh` and returns the document.
fn run_over_hosts(world: &World, hosts: &str, suite: &str, more: &[&str]) -> Value {
    world.write("suite.toml", suite);
    let words = ["run", "./suite.toml", "--json", "--hosts", hosts, "--via"];
    let words = [&words[..], &["sh via.sh {host}"], more].concat();
    let output = world.command(&words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the median of all hosts together, of the result with these parameters.
fn total_median(
    document: &Value,
    (benchmark, metric): (&str, &str),
    asked: &[(&str, Value)],
) -> f64 {
    let all = results(document, benchmark, metric).into_iter().find(|it| {
        let is_asked = |(name, value): &(&str, Value)| it["parameters"][name] == *value;
        it["host"] == "all" && asked.iter().all(is_asked)
    });
    all.unwrap_or_else(|| panic!("no total: {document:#}"))["median"].as_f64().unwrap()
}

/// Measures one RAM disk with six agents, whose reads together are limited by the kernel.
fn check_six_agents_on_disk(test: &str, manner: &str, asked: &[(&str, Value)]) {
    if !super::is_requested(test) {
        return;
    }
    let skip = |what: &str| eprintln!("SKIPPED {test}: this kernel or user {what}");
    let Some(disk) = RamDisk::new() else { return skip("cannot create a RAM disk (zram)") };
    let world = World::new();
    world.write("via.sh", "shift; exec \"$@\"\n");
    let Some(group) = ReadLimitGroup::new(&disk.name(), 10_000).filter(ReadLimitGroup::enter)
    else {
        return skip("cannot throttle a block device");
    };
    let suite = format!(
        "name = \"six\"\nbudget = \"20s\"\n[[measure]]\nbenchmark = \"storage\"\n\
         operation = \"read\"\npattern = \"random\"\nbs = [\"4KiB\"]\ndepth = 8\n\
         engine = \"libaio\"\n{manner}"
    );
    let document = run_over_hosts(&world, "h[1-6]", &suite, &["--target", &disk.path()]);
    group.leave();
    let rate = total_median(&document, ("storage", "rate"), asked);
    super::print_try("IO/s", (10_000.0, 0.005), rate, ("-", None));
}

#[test]
fn six_agents_reach_the_limit_of_one_disk() {
    check_six_agents_on_disk("six_agents_reach_the_limit_of_one_disk", "", &[]);
}

#[test]
fn merged_curve_of_six_agents_ends_at_disk_limit() {
    check_six_agents_on_disk(
        "merged_curve_of_six_agents_ends_at_disk_limit",
        "name = \"curve\"\ncurve = [50]\n",
        &[("point", "max".into())],
    );
}

#[test]
fn six_senders_total_payload_of_gigabit_bucket() {
    let test = "six_senders_total_payload_of_gigabit_bucket";
    if !super::is_requested(test) {
        return;
    }
    // Each round begins with a full bucket, which adds 0.2 %; one of 2 ms loses more on a busy machine.
    let Some(link) = Link::new("six", "1gbit", "burst 512kb limit 8mb") else { return };
    let world = World::new();
    let mut serving = Vec::new();
    for host in 1..=6 {
        // A server serves one test at a time, so that each sender has its own, at its own address.
        let address = format!("198.18.77.{}", 100 + host);
        assert!(run(&format!("ip -n {} addr add {address}/24 dev veth0", link.far)));
        world.write(
            &format!("hosts.h{host}"),
            &format!("127.0.0.1 localhost\n{address} sink\n"),
        );
        let mut server = link.command_within(true, &world, &["iperf3", "-s", "-B", &address]);
        serving.push(Background::start(&mut server));
    }
    world.write(
        "via.sh",
        &format!(
            "host=$1; shift\nexec ip netns exec {} unshare -m sh -c \
             'mount --bind \"$0\" /etc/hosts && exec \"$@\"' \"$PWD/hosts.$host\" \"$@\"\n",
            link.near
        ),
    );
    let suite = "name = \"six\"\nbudget = \"8s\"\n[[measure]]\nbenchmark = \"network.tcp\"\n\
                 measures = \"throughput\"\nstreams = [1]\ndirection = [\"send\"]\n";
    let document = run_over_hosts(&world, "h[1-6]", suite, &["--to", "sink"]);
    let goodput = total_median(&document, ("network.tcp", "goodput"), &[]);
    drop(serving);
    let end = link.iperf3(&world, LinkProgram::Iperf3, "-t 2 -P 6");
    let peer = ("iperf3", end["sum_received"]["bits_per_second"].as_f64());
    super::print_try("bit/s", (super::TCP_GOODPUT_BIT_PER_S, 0.005), goodput, peer);
}

/// Control groups with CPU quotas, in either hierarchy of the kernel; deleted on drop.
pub(crate) struct CpuQuotas(pub(crate) Vec<PathBuf>);

/// Period of the quotas in microseconds: the smallest quota is 1000 (cpu.max in the kernel's
/// documentation of control groups), and a measurement has to last for many periods.
const PERIOD_US: u32 = 20_000;

impl CpuQuotas {
    pub(crate) fn new(test: &str, quotas_us: &[u32]) -> Option<Self> {
        let lacks = || {
            eprintln!("SKIPPED {test}: this kernel or user cannot set CPU quotas");
            None
        };
        let mut made = Self(Vec::new());
        for (host, quota_us) in quotas_us.iter().enumerate() {
            let name = format!("assay-{}-h{}", std::process::id(), host + 1);
            let older = Path::new("/sys/fs/cgroup/cpu").join(&name);
            let newer = Path::new("/sys/fs/cgroup").join(&name);
            let mut either = [older, newer].into_iter();
            let Some(folder) = either.find(|it| fs::create_dir(it).is_ok()) else {
                return lacks();
            };
            let write = |file: &str, text: String| fs::write(folder.join(file), text).is_ok();
            let is_set = write("cpu.max", format!("{quota_us} {PERIOD_US}"))
                || (write("cpu.cfs_period_us", PERIOD_US.to_string())
                    && write("cpu.cfs_quota_us", quota_us.to_string()));
            made.0.push(folder);
            if !is_set {
                return lacks();
            }
        }
        Some(made)
    }
}

impl Drop for CpuQuotas {
    fn drop(&mut self) {
        for folder in &self.0 {
            drop(fs::remove_dir(folder));
        }
    }
}

#[test]
fn slow_host_of_eight_is_named() {
    let test = "slow_host_of_eight_is_named";
    if !super::is_requested(test) {
        return;
    }
    // All groups together use less than one CPU, so that only the quotas decide.
    let Some(quotas) = CpuQuotas::new(test, &[2000, 2000, 2000, 2000, 1000, 2000, 2000, 2000])
    else {
        return;
    };
    let world = World::new();
    let groups: Vec<String> = (1..)
        .zip(&quotas.0)
        .map(|(host, folder)| {
            format!("h{host}) echo $$ >{}/cgroup.procs ;;\n", folder.display())
        })
        .collect();
    let script =
        format!("host=$1; shift\ncase $host in\n{}esac\nexec \"$@\"\n", groups.concat());
    world.write("via.sh", &script);
    // Work that fits the quota of one period is never throttled: a pass over arrays in a cache took
    // 2 ms. The 5.3 GFLOP of this system take many periods on any CPU.
    let suite = "name = \"eight\"\nbudget = \"12s\"\n[[measure]]\nbenchmark = \"compute.linpack\"\n\
                 n = 2000\nthreads = 1\n";
    let document = run_over_hosts(&world, "h[1-8]", suite, &[]);
    let solved = results(&document, "compute.linpack", "rmax");
    let named = solved.iter().filter(|it| {
        let warnings = it["warnings"].as_array().unwrap().iter();
        warnings.clone().any(|it| it["id"] == "worse-than-peers")
    });
    let named: Vec<&str> = named.map(|it| it["host"].as_str().unwrap()).collect();
    // `assay-stats` tests with its seeds how often a normal host is named as well.
    let is_right = f64::from(u8::from(named.contains(&"h5")));
    super::print_try("count", (1.0, 0.001), is_right, ("-", None));
}
