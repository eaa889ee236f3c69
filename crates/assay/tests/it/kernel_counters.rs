//! Doubts from kernel counters against known truths: each is named in every repeat, and none in
//! innocent ones. `cargo xtask truth witness` repeats them a hundred times and counts.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;

use assay_model::poisoned_lock::PoisonedLock as _;
use serde_json::Value;

use crate::network::link::{FAR, Link};
use crate::network::{ServerProcess, free_port};
use crate::processes::{wait_until, wait_until_listening};
use crate::program::World;
use crate::storage::LoopDevice;
use crate::truth::fleet::CpuQuotas;
use crate::truth::rounds::ReadLimitGroup;

mod interrupts;

/// Repeats of every truth; each must be right.
const REPEATS: usize = 3;
/// Variable with the number of repeats that are counted instead.
const COUNTED_REPEATS: &str = "ASSAY_WITNESS";
/// Runs of which one has to succeed.
const TRIES: usize = 3;
/// Runs at the same time when many are counted; each has a device or control group of its own.
const COUNTED_LANES: usize = 4;
/// Bytes of the file system's own that a run of few I/O may move.
const METADATA_BYTES: f64 = 2e6;
/// Bytes of frames that are no IP, such as the question for an address: the firewall counts none.
const OTHER_FRAMES: f64 = 1e4;
/// Size of the files, which are read from the device once and then many times from the cache.
const FILE_SIZE: &str = "8MiB";

/// Returns the identifiers of the doubts about results that kernel counters show, and of throttling.
fn named_doubts(document: &Value) -> Vec<String> {
    let results = document["results"].as_array().unwrap().iter();
    let warnings = results.flat_map(|it| it["warnings"].as_array().unwrap().clone());
    let shown = [
        "cached-reads",
        "cached-writes",
        "card-traffic",
        "interrupt-bound",
        "io-limit-reached",
        "throttled",
    ];
    let ids = warnings.map(|it| it["id"].as_str().unwrap().to_owned());
    let mut ids: Vec<String> = ids.filter(|id| shown.contains(&id.as_str())).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// Outcomes of a truth: a doubt is named where its cause exists, and nowhere else.
struct DoubtCount {
    truth: &'static str,
    /// Right outcomes and all: without the cause, and with it.
    outcomes: [(u32, u32); 2],
    watch_s: f64,
    seconds: f64,
}

impl DoubtCount {
    fn new(truth: &'static str) -> Self {
        Self { truth, outcomes: [(0, 0); 2], watch_s: 0.0, seconds: 0.0 }
    }

    /// Number of repeats.
    fn repeats() -> usize {
        let asked = std::env::var(COUNTED_REPEATS).ok();
        asked.and_then(|it| it.parse().ok()).unwrap_or(REPEATS)
    }

    /// Whether right and wrong runs are counted, on a quiet machine.
    fn is_counted() -> bool {
        std::env::var_os(COUNTED_REPEATS).is_some()
    }

    /// Number of runs at the same time.
    fn lanes() -> usize {
        if Self::is_counted() { COUNTED_LANES } else { 1 }
    }

    /// Calls `count` in each lane, with the lane's number and its share of the repeats.
    fn in_lanes(count: impl Fn(usize, usize) + Sync) {
        let lanes = Self::lanes();
        thread::scope(|scope| {
            for lane in 0..lanes {
                let repeats = (Self::repeats() + lane) / lanes;
                let count = &count;
                scope.spawn(move || count(lane, repeats));
            }
        });
    }

    /// Length of a run that is long enough for the doubts; shorter when many are counted.
    fn length(usual: &'static str, counted: &'static str) -> &'static str {
        if Self::is_counted() { counted } else { usual }
    }

    /// Adds a run; a wrong one is a failure unless they are counted. Returns whether it is right.
    fn add(&mut self, document: &Value, expected: &[&str]) -> bool {
        let named = named_doubts(document);
        let is_right = named == expected;
        let (right, all) = &mut self.outcomes[usize::from(!expected.is_empty())];
        (*right, *all) = (*right + u32::from(is_right), *all + 1);
        self.watch_s += total(document, "watch-time");
        self.seconds += document["counters"][0]["seconds"].as_f64().unwrap();
        match std::env::var_os(COUNTED_REPEATS) {
            Some(_) if !is_right => eprintln!("{}: {named:?}, not {expected:?}", self.truth),
            Some(_) => {}
            None => assert!(is_right, "{named:?}, not {expected:?}: {document}"),
        }
        is_right
    }
}

impl Drop for DoubtCount {
    /// Prints `WITNESS truth, named, with the cause, silent, without it, share of a core`.
    fn drop(&mut self) {
        let [(silent, innocent), (named, guilty)] = self.outcomes;
        let share = self.watch_s / self.seconds;
        eprintln!("WITNESS {} {named} {guilty} {silent} {innocent} {share:.6}", self.truth);
    }
}

fn total(document: &Value, counter: &str) -> f64 {
    let counted = document["counters"][0]["counted"].as_array().unwrap();
    let found = counted.iter().filter(|it| it["counter"] == counter);
    found.map(|it| it["total"].as_f64().unwrap()).sum()
}

fn payload(document: &Value, side: &str) -> f64 {
    document["counters"][0]["payload"][side].as_f64().unwrap()
}

/// Sectors of 512 bytes that a device has read and written.
fn device_bytes(name: &str) -> [f64; 2] {
    let text = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    let values: Vec<f64> = text.split_whitespace().map(|it| it.parse().unwrap()).collect();
    [values[2] * 512.0, values[6] * 512.0]
}

fn loop_device(world: &World, test: &str) -> Option<LoopDevice> {
    let path = world.path("disk");
    std::fs::File::create(&path).unwrap().set_len(160 << 20).unwrap();
    LoopDevice::over_existing(&path, test)
}

/// Mounts a new ext4 file system of the device; `None` where that is not possible.
fn mount_ext4(device: &LoopDevice, point: &Path, test: &str) -> Option<()> {
    std::fs::create_dir(point).unwrap();
    let made = Command::new("mkfs.ext4").args(["-q", &device.0]).status();
    let mounted = || Command::new("mount").arg(&device.0).arg(point).status();
    if made.is_ok_and(|it| it.success()) && mounted().is_ok_and(|it| it.success()) {
        return Some(());
    }
    eprintln!("SKIPPED {test}: mkfs.ext4 or mount does not work here");
    None
}

#[test]
fn bytes_that_miss_the_device_are_named() {
    let reads = Mutex::new(DoubtCount::new("cached-reads"));
    let writes = Mutex::new(DoubtCount::new("cached-writes"));
    DoubtCount::in_lanes(|_, repeats| count_cached_bytes(repeats, &reads, &writes));
}

fn count_cached_bytes(repeats: usize, reads: &Mutex<DoubtCount>, writes: &Mutex<DoubtCount>) {
    let test = "bytes_that_miss_the_device_are_named";
    let world = World::new();
    let Some(device) = loop_device(&world, test) else { return };
    let name = device.0.trim_start_matches("/dev/").to_owned();
    if mount_ext4(&device, &world.path("mounted"), test).is_none() {
        return;
    }
    for _ in 0..repeats {
        for (verb, more, expected) in [
            ("read", &[][..], &[][..]),
            ("read", &["--buffered"], &["cached-reads"]),
            ("write", &[], &[]),
            ("write", &["--buffered"], &["cached-writes"]),
        ] {
            let file = ["storage", verb, "mounted/file", "--size", FILE_SIZE, "--json"];
            let length = "1s";
            let load = ["--for", length, "--bs", "256k", "--depth", "4", "--random"];
            let before = device_bytes(&name);
            let mut command = world.command(&[&file[..], &load, more].concat());
            let document = measure(&mut command);
            let after = device_bytes(&name);
            let count = if verb == "read" { reads } else { writes };
            if !count.lock().even_if_poisoned().add(&document, expected) {
                continue;
            }
            let [counter, side] = match verb {
                "read" => ["device-read-bytes", "read"],
                _ => ["device-written-bytes", "written"],
            };
            let moved = total(&document, counter) / payload(&document, side);
            // Direct I/O moves each byte once, apart from metadata.
            let extra = total(&document, counter) - payload(&document, side);
            let is_right = match more {
                [] => moved >= 0.99 && (moved < 1.1 || extra < METADATA_BYTES),
                _ => moved < 0.95,
            };
            assert!(is_right, "{verb} {more:?}: {moved}");
            let whole = [after[0] - before[0], after[1] - before[1]];
            let whole = if verb == "read" { whole[0] } else { whole[1] };
            assert!(total(&document, counter) <= whole, "{verb} {more:?}: {whole}");
        }
    }
}

#[test]
fn reached_limit_of_a_control_group_is_named() {
    let count = Mutex::new(DoubtCount::new("io-limit-reached"));
    DoubtCount::in_lanes(|_, repeats| count_limited_reads(repeats, &count));
}

fn count_limited_reads(repeats: usize, count: &Mutex<DoubtCount>) {
    let test = "reached_limit_of_a_control_group_is_named";
    let world = World::new();
    let Some(device) = loop_device(&world, test) else { return };
    let name = device.0.trim_start_matches("/dev/").to_owned();
    // A limit that a busy machine reaches, too, for a time beside which opening and closing are short.
    for (reads_per_s, length, expected) in
        [(50, "4s", &["io-limit-reached"][..]), (100_000_000, "1100ms", &[])]
    {
        let Some(group) = ReadLimitGroup::new(&name, reads_per_s) else {
            eprintln!("SKIPPED {test}: this kernel or user cannot throttle a block device");
            return;
        };
        for _ in 0..repeats {
            let read = ["storage", "read", &device.0, "--bs", "4k", "--depth", "4"];
            let arguments = [&read[..], &["--for", length, "--random", "--json"]].concat();
            let inner = world.command(&arguments);
            let document = measure(&mut command_in_group(&group.members, &inner));
            count.lock().even_if_poisoned().add(&document, expected);
        }
    }
}

/// Returns the command, which first enters the control group of this file.
fn command_in_group(members: &Path, inner: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("echo $$ >{}; exec \"$0\" \"$@\"", members.display())]);
    shell.arg(inner.get_program()).args(inner.get_args());
    shell.envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
    shell
}

#[test]
fn cpu_quota_is_named_for_the_case_that_it_held_back() {
    let test = "cpu_quota_is_named_for_the_case_that_it_held_back";
    let Some(quotas) = CpuQuotas::new(test, &vec![2000; DoubtCount::lanes()]) else { return };
    let count = Mutex::new(DoubtCount::new("throttled"));
    DoubtCount::in_lanes(|lane, repeats| {
        let world = World::new();
        let length = DoubtCount::length("600ms", "300ms");
        let arguments = ["storage", "read", "--engine", "null", "--for", length, "--json"];
        for (has_quota, expected) in [(true, &["throttled"][..]), (false, &[])] {
            for _ in 0..repeats {
                let inner = world.command(&arguments);
                let members = quotas.0[lane].join("cgroup.procs");
                let mut command =
                    if has_quota { command_in_group(&members, &inner) } else { inner };
                let document = measure(&mut command);
                count.lock().even_if_poisoned().add(&document, expected);
            }
        }
    });
}

/// Bytes of a case that does not count them.
const NO_PAYLOAD: [u64; 2] = [u64::MAX; 2];

/// Bytes read and written by each case of the latest run while its counters were kept.
fn payloads(world: &World) -> Vec<[u64; 2]> {
    let document = world.json(&["show", "latest", "--json"]);
    let sides = |it: &Value| {
        ["read", "written"].map(|side| it["payload"][side].as_u64().unwrap_or(NO_PAYLOAD[0]))
    };
    document["counters"].as_array().unwrap().iter().map(sides).collect()
}

#[test]
fn every_job_language_keeps_the_counters_of_its_phases() {
    let world = World::new();
    // Two repetitions, which are one case for each access.
    world.assay(&["ior", "-b", "1m", "-t", "256k", "-i", "2", "-o", "shared"]).succeeded();
    assert_eq!(payloads(&world), [[0, 2 << 20], [2 << 20, 0]]);
    let file = world.path("blocks");
    let blocks = format!(
        "sd=sd1,lun={},size=4m\nwd=wd1,sd=sd1,rdpct=100,xfersize=8k\n\
         rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1\n",
        file.display()
    );
    world.write("blocks.vdb", &blocks);
    world.assay(&["vdbench", "-f", "blocks.vdb"]).succeeded();
    let [[read, 0]] = payloads(&world)[..] else { panic!("{:?}", payloads(&world)) };
    assert!(read > 0 && read % 8192 == 0, "{read}");
    let trees = format!(
        "fsd=fsd1,anchor={},depth=1,width=1,files=4,size=64k\n\
         fwd=fwd1,fsd=fsd1,operation=read,xfersize=8k,fileio=sequential,fileselect=random,threads=1\n\
         rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=2,interval=1\n",
        world.path("tree").display()
    );
    std::fs::create_dir(world.path("tree")).unwrap();
    world.write("trees.vdb", &trees);
    world.assay(&["vdbench", "-f", "trees.vdb"]).succeeded();
    let [[0, written], [read, 0]] = payloads(&world)[..] else {
        panic!("{:?}", payloads(&world))
    };
    assert_eq!((written, read % 8192), (4 << 16, 0));
    assert!(read > 0);
}

/// With a part of the transfer omitted, its payload is not that of the counters; round trips have none.
#[test]
fn emulated_network_tools_keep_counters() {
    let world = World::new();
    let port = free_port();
    let far = World::new();
    let _serving = ServerProcess::assay(&far, port);
    let port = port.to_string();
    let client = ["iperf3", "-c", "127.0.0.1", "-p", &port];
    world.assay(&[&client[..], &["-n", "8M"]].concat()).succeeded();
    let [[0, written]] = payloads(&world)[..] else { panic!("{:?}", payloads(&world)) };
    assert!(written >= 8 << 20, "{written}");
    world.assay(&[&client[..], &["-t", "1", "-O", "1"]].concat()).succeeded();
    assert_eq!(payloads(&world), [NO_PAYLOAD]);
    world
        .assay(&["qperf", "127.0.0.1", "--listen-port", &port, "-t", "1", "tcp_lat"])
        .succeeded();
    assert_eq!(payloads(&world), [NO_PAYLOAD]);
    assert!(total(&world.json(&["show", "latest", "--json"]), "cpu-all") > 0.5);
}

/// Starts assay's server at the far end.
fn serve(mut command: Command, port: u16) -> Child {
    let serving = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until_listening(&serving.id().to_string(), port);
    serving
}

/// Ends a process and waits for it.
fn end(mut process: Child) {
    drop(process.kill());
    drop(process.wait());
}

/// Counts bytes that leave the near end of a link, by a rule of the firewall, which shares nothing
/// with the statistics of the device.
struct FirewallCount<'a>(&'a Link);

impl<'a> FirewallCount<'a> {
    const RULE: &'static str = "table inet sent { chain out { \
        type filter hook postrouting priority 0; oifname veth0 counter; }; }";

    /// Installs the rule; prints the reason and returns `None` where that is not possible.
    fn new(link: &'a Link, test: &str) -> Option<Self> {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &link.near, "nft", Self::RULE]);
        if command.output().is_ok_and(|it| it.status.success()) {
            return Some(Self(link));
        }
        eprintln!("{test}: without nft the statistics of the device are the only count");
        None
    }

    /// Returns the bytes so far, with the Ethernet header of each packet.
    fn bytes(&self) -> f64 {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0.near, "nft", "list", "table", "inet", "sent"]);
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let mut words = text.split_whitespace().skip_while(|it| *it != "packets");
        let mut number = || words.nth(1).unwrap().parse::<f64>().unwrap();
        let packets = number();
        number() + 14.0 * packets
    }
}

/// Bytes that the near end of the link has sent.
fn sent_bytes(link: &Link) -> f64 {
    let file = "/sys/class/net/veth0/statistics/tx_bytes";
    let output = Command::new("ip").args(["netns", "exec", &link.near, "cat", file]).output();
    String::from_utf8(output.unwrap().stdout).unwrap().trim().parse().unwrap()
}

#[test]
fn other_traffic_of_the_network_device_is_named() {
    let test = "other_traffic_of_the_network_device_is_named";
    let Some(link) = Link::unlimited("traffic") else { return };
    let firewall = FirewallCount::new(&link, test);
    let count_sent =
        || firewall.as_ref().map_or_else(|| sent_bytes(&link), FirewallCount::bytes);
    let world = World::new();
    let server = |port: u16| {
        let port_text = port.to_string();
        let server = ["iperf3", "-s", "-B", FAR, "--idle-timeout", "20", "-p", &port_text];
        serve(link.command_within(true, &world, &server), port)
    };
    let (serving, second) = (server(5201), server(5301));
    let mut count = DoubtCount::new("card-traffic");
    let length = DoubtCount::length("2s", "1s");
    for _ in 0..DoubtCount::repeats() {
        for (others, expected) in [(false, &[][..]), (true, &["card-traffic"])] {
            let flood = ["iperf3", "-c", FAR, "-p", "5301", "-b", "400M", "-t", "8"];
            let flood = others.then(|| {
                let mut flood = link.command_within(false, &world, &flood);
                flood.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
            });
            let before = sent_bytes(&link);
            if others {
                wait_until("the other traffic", || sent_bytes(&link) > before + 1e6);
            }
            let before = count_sent();
            let asked =
                ["net", "throughput", FAR, "--for", length, "--rate", "400Mbit/s", "--json"];
            let output = link.command_within(false, &world, &asked).output().unwrap();
            let whole = count_sent() - before;
            flood.into_iter().for_each(end);
            let document = json(&output);
            if !count.add(&document, expected) {
                continue;
            }
            let sent = total(&document, "sent-bytes");
            let most = whole + OTHER_FRAMES;
            assert!(sent <= most && sent >= payload(&document, "written"), "{sent} {whole}");
        }
    }
    end(serving);
    end(second);
}

/// Runs until a run has succeeded: on a busy machine one may have no I/O in the time that counts, and
/// then it has no verdict, either.
fn measure(command: &mut Command) -> Value {
    for _ in 1..TRIES {
        let output = command.output().unwrap();
        if output.status.success() {
            return json(&output);
        }
    }
    json(&command.output().unwrap())
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Each hardware counter of a case in memory has a value or a reason.
#[test]
fn hardware_counters_have_a_value_or_a_reason() {
    let world = World::new();
    let words = ["stream", "--bytes", "1MiB", "--budget", "shortest", "--json"];
    let document = world.json(&words);
    let record = &document["counters"][0];
    assert!(record["work"]["bytes"].as_f64().unwrap() > 0.0, "{document}");
    let omitted: Vec<&str> = record["omitted"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap().rsplit(' ').next().unwrap())
        .collect();
    for counter in [
        "thread-time",
        "user-cycles",
        "kernel-cycles",
        "user-instructions",
        "kernel-instructions",
        "memory-read-bytes",
        "memory-written-bytes",
        "package-energy",
    ] {
        let has_value = total(&document, counter) > 0.0;
        assert!(has_value != omitted.contains(&counter), "{counter}: {record}");
    }
}
