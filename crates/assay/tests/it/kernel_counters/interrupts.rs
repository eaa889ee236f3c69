//! A CPU that does nothing but serve softirqs: packets of a link pass thousands of filters there.

use std::process::{Child, Command};

use super::{DoubtCount, end, json, named_doubts, serve};
use crate::network::link::{FAR, Link, run};
use crate::program::World;

/// Filters that every packet passes at the far end, in about 100 µs: the CPU then serves softirqs at a
/// rate that the programs on another CPU exceed many times.
const FILTERS: usize = 8000;
/// Filters of one priority, of which the kernel allows 2047 (`cls_u32`).
const FILTERS_OF_PRIORITY: usize = 1000;
/// Runs of which one names the softirqs, where the machine is not quiet.
const TRIES: usize = 6;
/// Rate of an innocent transfer, a twentieth of the capacity of the filters.
const LOW_RATE: &str = "5Mbit/s";

/// Priority of the kernel's thread for the softirqs of a CPU, as it was; restored on drop. Other
/// programs would take a part of the CPU from the thread, so that the softirqs would not fill it.
struct SoftirqThread {
    id: String,
    priority: String,
}

impl SoftirqThread {
    fn raised(cpu: usize) -> Option<Self> {
        let name = format!("ksoftirqd/{cpu}");
        let output = Command::new("ps").args(["-eo", "pid=,ni=,comm="]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let mut rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row = rows.find(|row| row.last() == Some(&name.as_str()))?;
        let [id, priority] = [row[0], row[1]].map(str::to_owned);
        run(&format!("renice -n -20 -p {id}")).then_some(Self { id, priority })
    }
}

impl Drop for SoftirqThread {
    fn drop(&mut self) {
        run(&format!("renice -n {} -p {}", self.priority, self.id));
    }
}

/// Sends all packets that arrive to one CPU, in frames of full size and past the filters.
fn slow_down(link: &Link, cpu: usize, world: &World) {
    let mask = format!("{:x}", 1_u32 << cpu);
    for name in [&link.near, &link.far] {
        let offloads = format!("ip netns exec {name} ethtool -K veth0 tso off gso off gro off");
        assert!(run(&offloads), "{offloads}");
        let steer = format!(
            "for queue in /sys/class/net/veth0/queues/rx-*; do echo {mask} >$queue/rps_cpus; done"
        );
        let steered =
            Command::new("ip").args(["netns", "exec", name, "sh", "-c", &steer]).status();
        assert!(steered.unwrap().success());
    }
    assert!(run(&format!("tc -n {} qdisc add dev veth0 ingress", link.far)));
    let filter = |n: usize| {
        let priority = 1 + n / FILTERS_OF_PRIORITY;
        let source = format!("10.{}.{}.1", n / 250, n % 250);
        format!(
            "filter add dev veth0 parent ffff: protocol ip prio {priority} \
             u32 match ip src {source}/32 flowid 1:1\n"
        )
    };
    let filters = world.write("filters", &(0..FILTERS).map(filter).collect::<String>());
    let add = format!("tc -n {} -batch {}", link.far, filters.display());
    assert!(run(&add), "{add}");
}

/// Returns the program's command on the first CPU, which has no softirqs of the link.
fn command_on_first_cpu(link: &Link, far: bool, world: &World, words: &[&str]) -> Command {
    let inner = world.command(words);
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", "0"]).arg(inner.get_program()).args(inner.get_args());
    pinned.envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
    link.prioritised_command(far, &pinned)
}

fn serve_on_first_cpu(link: &Link, world: &World) -> Child {
    let server = ["iperf3", "-s", "-B", FAR, "--idle-timeout", "20"];
    serve(command_on_first_cpu(link, true, world, &server), 5201)
}

#[test]
fn cpu_that_only_serves_softirqs_is_named() {
    let test = "cpu_that_only_serves_softirqs_is_named";
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < 2 {
        eprintln!("SKIPPED {test}: softirqs and programs need a CPU each");
        return;
    }
    let Some(link) = Link::unlimited("softirqs") else { return };
    let Some(_thread) = SoftirqThread::raised(1) else {
        eprintln!("SKIPPED {test}: the priority of ksoftirqd cannot be raised here");
        return;
    };
    let world = World::new();
    slow_down(&link, 1, &world);
    let serving = serve_on_first_cpu(&link, &world);
    let mut count = DoubtCount::new("interrupt-bound");
    let length = DoubtCount::length("1500ms", "1100ms");
    for _ in 0..DoubtCount::repeats() {
        for (more, expected) in
            [(&["--rate", LOW_RATE][..], &[][..]), (&[], &["interrupt-bound"])]
        {
            // Several streams, of which one may wait for a repeated segment.
            let asked = ["net", "throughput", FAR, "--streams", "4", "--for", length, "--json"];
            let words = [&asked[..], more].concat();
            let measure =
                || json(&command_on_first_cpu(&link, false, &world, &words).output().unwrap());
            let document = match expected.is_empty() || DoubtCount::is_counted() {
                true => measure(),
                // Other tests take a part of the CPU from the softirqs: one run of a few is enough.
                false => (0..TRIES)
                    .map(|_| measure())
                    .find(|it| named_doubts(it) == expected)
                    .expect("one of the runs names the softirqs"),
            };
            count.add(&document, expected);
        }
    }
    end(serving);
}
