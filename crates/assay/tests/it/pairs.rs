//! Pairs of hosts: throughput and round trips from one host to another, both of which are agents.
//! Hosts are network namespaces on one bridge.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::mpi::one_at_a_time;
use crate::mpi_run::real_mpis;
use crate::network::is_installed;
use crate::network::link::run;
use crate::program::{World, results};

mod over_ssh;

/// Namespaces on one bridge; deleted on drop.
pub(crate) struct Namespaces {
    /// Common prefix of their names.
    id: String,
    count: usize,
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for host in 0..=self.count {
            run(&format!("ip netns del {}n{host}", self.id));
        }
    }
}

impl Namespaces {
    /// Creates hosts `n1` to `n…`, reached by [`Namespaces::via`]. Prints the reason and returns
    /// `None` where they cannot be created.
    pub(crate) fn new(test: &str, count: usize) -> Option<Self> {
        let id = format!("assay-{}-{test}-", std::process::id());
        if !run(&format!("ip netns add {id}n0")) {
            eprintln!("SKIPPED {test}: network namespaces cannot be made here");
            return None;
        }
        let made = Self { id, count };
        let id = &made.id;
        let mut commands = vec![
            format!("ip -n {id}n0 link add br0 type bridge"),
            format!("ip -n {id}n0 link set br0 up"),
        ];
        for host in 1..=count {
            commands.extend([
                format!("ip netns add {id}n{host}"),
                format!(
                    "ip -n {id}n{host} link add eth0 type veth peer name v{host} netns {id}n0"
                ),
                format!("ip -n {id}n0 link set v{host} master br0 up"),
                // The range for benchmarks (RFC 2544).
                format!("ip -n {id}n{host} addr add 198.18.80.{host}/24 dev eth0"),
                format!("ip -n {id}n{host} link set eth0 up"),
                format!("ip -n {id}n{host} link set lo up"),
            ]);
        }
        for command in commands {
            assert!(run(&command), "{command}");
        }
        Some(made)
    }

    pub(crate) fn via(&self) -> String {
        format!("ip netns exec {}{{host}}", self.id)
    }

    /// Returns a transport that gives each host its own host name and keeps UCX from using the
    /// memory they all share.
    fn via_with_host_names(&self, world: &World) -> String {
        let named = world.write("named", "hostname \"$1\" && shift && exec \"$@\"\n");
        let (via, named) = (self.via(), named.display());
        format!("{via} env UCX_TLS=^shm unshare --uts sh {named} {{host}}")
    }
}

/// Suite with one case of throughput and one of round trips, a second each.
const SHORT_SUITE: &str = "name = \"short\"\nbudget = \"2s\"\n\
    [[measure]]\nbenchmark = \"network.tcp\"\nmeasures = \"throughput\"\nseconds = 1\n\
    [[measure]]\nbenchmark = \"network.tcp\"\nmeasures = \"latency\"\nseconds = 1\n";

fn pair_name(result: &Value) -> String {
    let parameters = &result["parameters"];
    format!("{}:{}", result["host"].as_str().unwrap(), parameters["peer"].as_str().unwrap())
}

#[test]
fn ring_has_row_per_pair_and_shows_slow_link() {
    let Some(hosts) = Namespaces::new("ring", 4) else { return };
    let bucket = format!(
        "tc -n {}n3 qdisc add dev eth0 root tbf rate 20mbit burst 64kb limit 1mb",
        hosts.id
    );
    assert!(run(&bucket), "{bucket}");
    let world = World::in_memory();
    world.write("short.toml", SHORT_SUITE);
    let file = format!(
        "via = \"{}\"\nlabels = [\"near\", \"far\"]\n\
         [[host]]\nname = \"n[1-2]\"\nlabels = [\"near\"]\n\
         [[host]]\nname = \"n3\"\naddress = \"198.18.80.3\"\nlabels = [\"far\"]\n\
         [[host]]\nname = \"n4\"\nlabels = [\"far\"]\n",
        hosts.via(),
    );
    world.write("fleet.toml", &file);
    let words = ["run", "./short.toml", "--hosts", "fleet.toml", "--matrix", "ring"];
    let document = world.json(&[&words[..], &["--json"]].concat());
    let ring = ["n1:n2", "n2:n3", "n3:n4", "n4:n1"];
    for metric in ["goodput", "round_trip"] {
        let found = results(&document, "network.tcp", metric);
        assert_eq!(found.iter().map(|it| pair_name(it)).collect::<Vec<_>>(), ring, "{metric}");
        for result in &found {
            assert_eq!(result["parameters"]["path"], "network", "{result:#}");
            assert!(result["parameters"].get("to").is_none());
        }
    }
    // A token bucket keeps its rate on a loaded machine; only the first moment has the burst.
    let slow = results(&document, "network.tcp", "goodput")[2]["median"].as_f64().unwrap();
    assert!(slow < 22e6, "{slow}");
    let page = world.assay(&["report", "--format", "html"]).succeeded().out;
    assert!(page.contains("n3 → n4"), "{page}");
    for map in ["Throughput from each host", "Round trips from each host"] {
        let picture = page.split_once(&format!("<figcaption>{map}")).expect(map).1;
        let picture = picture.split_once("</figure>").expect(map).0;
        assert_eq!(picture.matches("<rect").count(), 16, "a cell for each pair of four: {map}");
    }
    let shown = world.assay(&["report"]).succeeded().out;
    assert!(shown.contains("n2 → n3"), "{shown}");
    // Each pair is compared with itself.
    world.json(&[&words[..], &["--json"]].concat());
    let again = world.assay(&["compare", "latest~1", "latest"]).failed_with(6);
    assert!(again.out.contains("n4 → n1"), "{again:?}");
    world.assay(&["verify"]).succeeded();
    // Only the sender of a pair has its case.
    let planned = world.json(&[&words[..], &["--dry-run", "--json"]].concat());
    let cases = planned["cases"].as_array().unwrap().iter();
    let cases: Vec<String> = cases
        .map(|it| format!("{} {}", it["case"]["id"].as_str().unwrap(), it["hosts"]))
        .collect();
    assert_eq!(cases.len(), 8);
    assert_eq!(cases[2], "network.tcp/n3:n4/send/streams=1 [\"n3\"]");
    assert!(
        cases[4].contains("n1:n2/latency"),
        "every case is measured by all pairs: {cases:?}"
    );
}

#[test]
fn pair_with_lost_link_fails_and_others_count() {
    let Some(hosts) = Namespaces::new("down", 4) else { return };
    let world = World::in_memory();
    let text = "name = \"one\"\nbudget = \"2s\"\n[[measure]]\nbenchmark = \"network.tcp\"\n\
                measures = \"throughput\"\nseconds = 3\n";
    world.write("one.toml", text);
    let via = hosts.via();
    let words = ["run", "./one.toml", "--hosts", "n[1-4]", "--pairs", "n1:n2,n3:n4"];
    let mut running = world
        .command(&[&words[..], &["--via", &via, "--events", "--quiet"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut is_down = false;
    for line in BufReader::new(running.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if !is_down && line.contains("case-started") && line.contains("n1:n2") {
            std::thread::sleep(std::time::Duration::from_millis(500));
            is_down = run(&format!("ip -n {}n0 link set v2 down", hosts.id));
        }
    }
    assert!(is_down);
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = world.assay(&["show", "--json"]);
    let document: Value = serde_json::from_str(&shown.out).unwrap();
    let failures = document["failures"].as_array().unwrap();
    let cases: Vec<&str> = failures.iter().map(|it| it["case"].as_str().unwrap()).collect();
    assert_eq!(cases, ["network.tcp/n1:n2/send/streams=1"], "{document:#}");
    let found = results(&document, "network.tcp", "goodput");
    assert_eq!(found.iter().map(|it| pair_name(it)).collect::<Vec<_>>(), ["n3:n4"]);
}

/// Both ends are examined: pairs of a lost sender or receiver are listed with the reason.
#[test]
fn pairs_of_lost_hosts_are_listed_with_reason() {
    let Some(hosts) = Namespaces::new("lost", 2) else { return };
    let world = World::in_memory();
    world.write("short.toml", SHORT_SUITE);
    let via = hosts.via();
    let words = ["run", "./short.toml", "--hosts", "n[1-3]", "--via", &via];
    let more = ["--pairs", "n1:n2,n3:n1,n1:n3", "--json"];
    let outcome = world.assay(&[&words[..], &more].concat()).failed_with(4);
    let document: Value = serde_json::from_str(&outcome.out).unwrap();
    let failed: Vec<(&str, &str)> = document["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["case"].as_str().unwrap(), it["reason"].as_str().unwrap()))
        .collect();
    let cases: BTreeSet<&str> = failed.iter().map(|it| it.0).collect();
    let lost = ["n1:n3", "n3:n1"].map(|pair| {
        ["send/streams=1", "latency/bytes=1"].map(|it| format!("network.tcp/{pair}/{it}"))
    });
    assert_eq!(cases, lost.as_flattened().iter().map(String::as_str).collect(), "{failed:?}");
    for (case, reason) in &failed {
        assert!(reason.contains("Cannot open network namespace"), "{case}: {reason}");
    }
    let found = results(&document, "network.tcp", "goodput");
    assert_eq!(found.iter().map(|it| pair_name(it)).collect::<Vec<_>>(), ["n1:n2"]);
    world.assay(&["verify"]).succeeded();

    // Without senders, the cases are unknown.
    let all = world.assay(&[&words[..], &["--pairs", "n3:n1"]].concat()).failed_with(4);
    assert!(all.err.contains("the first hosts of all pairs are missing"), "{all:?}");
    assert!(all.err.contains("n3: the connection ended: Cannot open"), "{all:?}");
}

#[test]
fn unreachable_pair_is_tried_once() {
    let Some(hosts) = Namespaces::new("noway", 3) else { return };
    assert!(run(&format!("ip -n {}n0 link set v3 down", hosts.id)));
    let world = World::in_memory();
    world.write("short.toml", SHORT_SUITE);
    let via = hosts.via();
    let words = ["run", "./short.toml", "--hosts", "n[1-3]", "--pairs", "n1:n3,n1:n2"];
    let outcome =
        world.assay(&[&words[..], &["--via", &via, "--json"]].concat()).failed_with(4);
    let document: Value = serde_json::from_str(&outcome.out).unwrap();
    let failures = document["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 2, "{document:#}");
    assert_eq!(failures[1]["because"], failures[0]["case"], "{failures:#?}");
    for metric in ["goodput", "round_trip"] {
        let found = results(&document, "network.tcp", metric);
        assert_eq!(found.iter().map(|it| pair_name(it)).collect::<Vec<_>>(), ["n1:n2"]);
    }
}

#[test]
fn disjoint_pairs_measure_together_and_add_up() {
    let Some(hosts) = Namespaces::new("halves", 4) else { return };
    let world = World::in_memory();
    world.write("short.toml", SHORT_SUITE);
    let via = hosts.via();
    let words = ["run", "./short.toml", "--hosts", "n[1-4]", "--matrix", "bisection"];
    let document = world.json(&[&words[..], &["--via", &via, "--json"]].concat());
    let found = results(&document, "network.tcp", "goodput");
    let hosts: Vec<&str> = found.iter().map(|it| it["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["n1", "n2", "all"]);
    assert!(found.iter().all(|it| it["case"] == "network.tcp/n1:n3+1/send/streams=1"));
    assert_eq!([pair_name(found[0]), pair_name(found[1])], ["n1:n3", "n2:n4"]);
    for result in &found[..2] {
        assert_eq!(result["parameters"]["concurrent"], 2);
        assert!(result["parameters"]["start_skew"].is_number());
    }
}

#[test]
fn tool_can_measure_pairs() {
    let test = "tool_can_measure_pairs";
    if !is_installed("iperf3", test) {
        return;
    }
    let Some(hosts) = Namespaces::new("tool", 2) else { return };
    let world = World::in_memory();
    let text = "name = \"one\"\nbudget = \"4s\"\n[[measure]]\nbenchmark = \"network.tcp\"\n\
                measures = \"throughput\"\nseconds = 1\n";
    world.write("one.toml", text);
    let via = hosts.via();
    let words = ["run", "./one.toml", "--hosts", "n[1-2]", "--pairs", "n1:n2,n2:n1"];
    let more = ["--by", "assay,iperf3", "--via", &via, "--json"];
    let document = world.json(&[&words[..], &more].concat());
    let found = results(&document, "network.tcp", "goodput");
    let rows: Vec<(String, &str)> =
        found.iter().map(|it| (pair_name(it), it["tool"]["name"].as_str().unwrap())).collect();
    // Both measurers complete a pair before the next pair.
    let pairs =
        ["n1:n2", "n2:n1"].map(|pair| ["assay", "iperf3"].map(|tool| (pair.to_owned(), tool)));
    assert_eq!(rows, pairs.concat(), "{document:#}");
    // Both crossed the link, and the far end of the tool was the agent there.
    for result in found {
        assert_eq!(result["parameters"]["path"], "network", "{result:#}");
        assert_eq!(result["parameters"]["far_end"], "assay", "{result:#}");
        assert!(result["median"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn hpc_node_suite_measures_paths_to_neighbours() {
    let world = World::new();
    let plan = |hosts: &str, suite: &str| {
        let words = ["run", suite, "--hosts", hosts, "--via", "env NAME={host}", "--dry-run"];
        let document = world.json(&[&words[..], &["--json"]].concat());
        let cases = document["cases"].as_array().unwrap().iter();
        let named =
            |it: &Value| format!("{} {}", it["case"]["id"].as_str().unwrap(), it["hosts"]);
        let cases: Vec<String> = cases.map(named).collect();
        (cases, world.assay(&words).succeeded().out)
    };
    let (together, _) = plan("a,b,c", "hpc-node");
    let network: Vec<&String> =
        together.iter().filter(|it| it.starts_with("network.")).collect();
    assert_eq!(
        network,
        [
            "network.tcp/a:b/send/streams=6 [\"a\"]",
            "network.tcp/b:c/send/streams=6 [\"b\"]",
            "network.tcp/c:a/send/streams=6 [\"c\"]",
            "network.tcp/a:b/latency/bytes=1 [\"a\"]",
            "network.tcp/b:c/latency/bytes=1 [\"b\"]",
            "network.tcp/c:a/latency/bytes=1 [\"c\"]",
        ]
    );
    assert!(together.iter().any(|it| it.starts_with("memory.stream/node")), "{together:?}");
    let (alone, said) = plan("a", "hpc-node");
    assert!(alone.iter().all(|it| !it.starts_with("network.")), "{alone:?}");
    assert!(said.contains("no second host is named"), "{said}");
    // Suites that ask for a path on every host still get it.
    let (own, _) = plan("a,b", "network");
    assert!(own.iter().all(|it| it.ends_with("[\"a\",\"b\"]")), "{own:?}");
}

#[test]
fn rejects_invalid_pairs_before_start() {
    let world = World::new();
    world.write("fleet.toml", "[[host]]\nname = \"a\"\ncolour = \"red\"\n");
    let hosts = ["run", "network", "--hosts", "a,b", "--via", "touch started {host}"];
    for (arguments, says) in [
        (&["--pairs", "a:c"][..], "c is not in --hosts"),
        (&["--pairs", "a"], "is not a pair"),
        (&["--pairs", "a:b", "--matrix", "all"], "cannot be used with"),
        (&["--pairs", "a:b", "--to", "c"], "cannot be used with"),
    ] {
        let outcome = world.assay(&[&hosts, arguments].concat()).failed_with(2);
        assert!(outcome.err.contains(says), "{arguments:?}: {outcome:?}");
    }
    let memory = ["run", "memory", "--hosts", "a,b", "--matrix", "all"];
    let memory = world.assay(&memory).failed_with(2);
    assert!(memory.err.contains("does not measure the network"), "{memory:?}");
    let file = world.assay(&["doctor", "--hosts", "fleet.toml"]).failed_with(2);
    assert!(
        file.err.contains("unknown field `colour`") && file.err.contains("fleet.toml:3:1"),
        "{file:?}"
    );
    assert!(!world.path("started").exists());
}

/// Returns the bytes that a host has sent.
fn sent_bytes(hosts: &Namespaces, host: usize) -> u64 {
    let name = format!("{}n{host}", hosts.id);
    let file = "/sys/class/net/eth0/statistics/tx_bytes";
    let output =
        Command::new("ip").args(["netns", "exec", &name, "cat", file]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

/// Suite with latency and bandwidth between ranks, a size or two each.
const RANKS_SUITE: &str = "name = \"ranks\"\nbudget = \"4s\"\n\
    [[measure]]\nbenchmark = \"mpi.latency\"\nfrom = \"8B\"\nto = \"16B\"\n\
    [[measure]]\nbenchmark = \"mpi.bw\"\nfrom = \"64KiB\"\nto = \"64KiB\"\n";

#[test]
fn mpi_ranks_run_on_both_hosts_of_pair() {
    let mpis = real_mpis("pairs::mpi_ranks_run_on_both_hosts_of_pair");
    let Some(prefix) = mpis.last() else { return };
    let Some(hosts) = Namespaces::new("ranks", 3) else { return };
    let _turn = one_at_a_time();
    let world = World::new();
    world.write("ranks.toml", RANKS_SUITE);
    let via = hosts.via_with_host_names(&world);
    let words = ["run", "./ranks.toml", "--hosts", "n[1-3]", "--matrix", "ring", "--via", &via];
    let more = ["--mpi", prefix.to_str().unwrap(), "--json"];
    let document = world.json(&[&words[..], &more].concat());
    assert_eq!(document["failures"], serde_json::json!([]), "{document:#}");
    for metric in [("mpi.latency", "latency"), ("mpi.bw", "bandwidth")] {
        let found = results(&document, metric.0, metric.1);
        let pairs: BTreeSet<String> = found.iter().map(|it| pair_name(it)).collect();
        let ring = ["n1:n2", "n2:n3", "n3:n1"].map(str::to_owned);
        assert_eq!(pairs, BTreeSet::from(ring), "{metric:?}");
    }
    let parameters = &results(&document, "mpi.latency", "latency")[0]["parameters"];
    assert_eq!((&parameters["ranks"], &parameters["placement"]), (&2.into(), &"hosts".into()));
    assert!(parameters.get("hosts").is_none(), "the pair names the hosts: {parameters}");
    let page = world.assay(&["report", "--format", "html"]).succeeded().out;
    for map in ["Throughput from each host", "Latency from each host"] {
        assert!(page.contains(&format!("<figcaption>{map}")), "{map}");
    }
    assert!(page.contains("n3 → n1"), "{page}");
}

/// Launchers reach the other host in different ways, and libraries define one host differently.
#[test]
fn ranks_of_every_mpi_communicate_over_network() {
    let mpis = real_mpis("pairs::ranks_of_every_mpi_communicate_over_network");
    let Some(hosts) = Namespaces::new("mpis", 2).filter(|_| !mpis.is_empty()) else { return };
    let _turn = one_at_a_time();
    let world = World::new();
    world.write("ranks.toml", RANKS_SUITE);
    let via = hosts.via_with_host_names(&world);
    for prefix in mpis {
        let before = sent_bytes(&hosts, 1);
        let words =
            ["run", "./ranks.toml", "--hosts", "n[1-2]", "--pairs", "n1:n2", "--via", &via];
        let more = ["--mpi", prefix.to_str().unwrap(), "--json"];
        let document = world.json(&[&words[..], &more].concat());
        assert_eq!(document["failures"], serde_json::json!([]), "{document:#}");
        assert!(document.to_string().contains("\"one-kernel\""), "{document:#}");
        let found = results(&document, "mpi.bw", "bandwidth");
        for mpi in found.iter().map(|it| it["parameters"]["mpi"].as_str().unwrap()) {
            let latency = results(&document, "mpi.latency", "latency");
            assert!(latency.iter().any(|it| it["parameters"]["mpi"] == mpi), "{mpi}");
        }
        // With shared memory, only the launchers' messages would cross the link.
        let sent = sent_bytes(&hosts, 1) - before;
        assert!(
            !found.is_empty() && sent > found.len() as u64 * (8 << 20),
            "{prefix:?}: {sent}"
        );
    }
}

/// Ranks on one machine communicate through its memory, which measures no path between hosts.
#[test]
fn rejects_mpi_pair_on_one_machine() {
    let mpis = real_mpis("pairs::rejects_mpi_pair_on_one_machine");
    let Some(prefix) = mpis.first() else { return };
    let _turn = one_at_a_time();
    let world = World::new();
    world.write(
        "ranks.toml",
        "name = \"ranks\"\nbudget = \"2s\"\n\
         [[measure]]\nbenchmark = \"mpi.latency\"\nfrom = \"8B\"\nto = \"8B\"\n",
    );
    let words = ["run", "./ranks.toml", "--hosts", "a,b", "--pairs", "a:b", "--via"];
    let via = ["env NAME={host}", "--mpi", prefix.to_str().unwrap()];
    let run = world.assay(&[&words[..], &via].concat()).failed_with(4);
    assert!(run.err.contains("both hosts are the machine at"), "{run:?}");
    assert!(!world.assay(&["show", "--json"]).out.contains("\"median\""));
}

#[test]
fn rejects_mpi_host_options_with_pairs() {
    let world = World::new();
    for option in [["--mpi-hosts", "a,b"], ["--placement", "node"], ["--launcher", "srun"]] {
        let says =
            format!("{} places ranks, but --pairs puts one on each host of a pair", option[0]);
        let words = ["run", "mpi", "--hosts", "a,b", "--pairs", "a:b"];
        let refused = world.assay(&[&words[..], &option].concat()).failed_with(2);
        assert!(refused.err.contains(&says), "{refused:?}");
    }
    let refused = world.assay(&["run", "memory", "--hosts", "a,b", "--pairs", "a:b"]);
    assert!(refused.failed_with(2).err.contains("does not measure the network"));
}
