//! Output of iperf3 and qperf, reproduced from the stored run, and stored only on request.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::{ServerProcess, free_port};
use crate::processes::{send_signal, wait_for_connections};
use crate::program::{World, files_below, results};

/// Runs a command and compares its output with that of the stored run in the same shape.
#[track_caller]
fn check(world: &World, words: &[&str], shape: &str) {
    let live = world.assay(words).succeeded();
    let shown = world.assay(&["show", "latest", "--as", shape]).succeeded();
    assert_eq!(shown.out, live.out, "{words:?}");
}

/// Returns the event files of all runs of a store.
fn event_files(world: &World) -> Vec<PathBuf> {
    let files = files_below(&world.path("."));
    files.into_iter().filter(|it| it.ends_with("events.jsonl")).collect()
}

#[test]
fn shown_iperf3_output_equals_live_output() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    for (words, shape) in [
        (&["-n", "20M", "-P", "2"][..], "iperf3"),
        (&["-t", "2", "-b", "20M", "-O", "1", "-i", "0.5", "-V"], "iperf3"),
        (&["-t", "1", "-R", "-b", "20M", "-T", "title", "-f", "M"], "iperf3"),
        (&["-t", "1", "-b", "20M", "--bidir", "-J", "--get-server-output"], "iperf3-json"),
        (&["-t", "1", "-u", "-b", "5M", "-P", "2"], "iperf3"),
        (&["-t", "1", "-u", "-b", "5M", "-J", "--extra-data", "x"], "iperf3-json"),
    ] {
        let words = [&["iperf3", "-c", "127.0.0.1", "-p", &port], words].concat();
        check(&world, &words, shape);
    }
    // Each run stores its outcome, and nothing else.
    let raw = files_below(&world.path("assay/raw"));
    assert_eq!(raw.len(), 6, "{raw:?}");
    // Another shape of the same tool is available, but none of another tool.
    let text = world.assay(&["show", "latest", "--as", "iperf3"]).succeeded();
    assert!(text.out.contains("iperf Done."), "{text:?}");
    let refused = world.assay(&["show", "latest", "--as", "qperf"]).failed_with(2);
    assert!(refused.err.contains("it was started as iperf3"), "{refused:?}");
}

#[test]
fn failed_iperf3_test_is_shown_with_its_error() {
    let world = World::new();
    let closed = free_port().to_string();
    let port = free_port();
    let serving = ServerProcess::assay(&world, port);
    let dying = thread::spawn(move || {
        wait_for_connections(port, 2);
        thread::sleep(Duration::from_millis(900));
        drop(serving);
    });
    let port = port.to_string();
    for port in [&port, &closed] {
        let words = ["iperf3", "-c", "127.0.0.1", "-p", port, "-t", "20", "-i", "0.2", "-J"];
        let live = world.assay(&words).failed_with(4);
        let shown = world.assay(&["show", "latest", "--as", "iperf3-json"]).succeeded();
        assert_eq!(shown.out, live.out);
    }
    dying.join().unwrap();
}

/// A damaged or missing outcome is named, and the rest of the run is shown.
#[test]
fn unreadable_outcome_is_named() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    world.assay(&["iperf3", "-c", "127.0.0.1", "-p", &port, "-n", "1M"]).succeeded();
    let [outcome] = &files_below(&world.path("assay/raw"))[..] else { panic!("one outcome") };
    let check = |expected: &str| {
        let shown = world.assay(&["show", "latest", "--as", "iperf3-json"]).failed_with(4);
        assert!(shown.err.contains("as iperf3"), "{}", shown.err);
        assert!(shown.err.contains(expected), "{}", shown.err);
        assert!(shown.out.contains("Gbit/s") || shown.out.contains("Mbit/s"), "{}", shown.out);
    };
    fs::write(outcome, "{}").unwrap();
    check("was changed after it was stored");
    fs::remove_file(outcome).unwrap();
    check("No such file");
    fs::create_dir(outcome).unwrap();
    check("a folder");
}

#[test]
fn interval_samples_agree_with_iperf3_totals() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "1", "-i", "0.1", "-b", "50M"];
    let reported = world.json(&[&words[..], &["-P", "2", "-J"]].concat());
    let summary = world.json(&["show", "latest", "--json"]);
    // A last interval without data that is shorter than a tenth of the others is not reported.
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.1 * 0.1;
    for (metric, sum) in [("send_rate", "sum_sent"), ("goodput", "sum_received")] {
        let [found] = &*results(&summary, "network.tcp", metric) else {
            panic!("each rate is reported once, and streams are parts of it: {summary}");
        };
        let whole = reported["end"][sum]["bits_per_second"].as_f64().unwrap();
        assert!(close(found["mean"].as_f64().unwrap(), whole), "{metric}: {found} {whole}");
    }
    let intervals = reported["intervals"].as_array().unwrap().len();
    let n = results(&summary, "network.tcp", "send_rate")[0]["n"].as_u64();
    assert_eq!(n, Some(intervals as u64), "{summary}");
    let loads = results(&summary, "network.tcp", "cpu_load");
    let ends: Vec<&Value> = loads.iter().map(|it| &it["parameters"]["end"]).collect();
    assert_eq!(ends, ["local", "remote"], "{summary}");
}

/// Returns the newest run and the seconds from its start to its end.
fn newest_run(world: &World) -> (Value, f64) {
    let run = world.assay(&["show", "latest", "--json"]).succeeded();
    let run = serde_json::from_str::<Value>(&run.out).unwrap()["run"].take();
    let moment = |name: &str| run[name].as_str().unwrap().parse::<Timestamp>().unwrap();
    let length = moment("finished").duration_since(moment("started"));
    (run, length.as_secs_f64())
}

#[test]
fn run_time_spans_whole_test() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    let stated = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "1", "-b", "20M", "-J"];
    let reported = stated(&world.assay(&words).succeeded().out);
    let (run, length_s) = newest_run(&world);
    assert!(
        length_s >= reported["end"]["sum_sent"]["seconds"].as_f64().unwrap(),
        "{run} {reported}"
    );
    let began = run["started"].as_str().unwrap().parse::<Timestamp>().unwrap().as_second();
    assert!(
        began <= reported["start"]["timestamp"]["timesecs"].as_i64().unwrap(),
        "{run} {reported}"
    );
    let words = ["qperf", "127.0.0.1", "--listen_port", &port, "-t", "1", "tcp_lat", "udp_lat"];
    world.assay(&words).succeeded();
    let (run, length_s) = newest_run(&world);
    assert!(length_s >= 2.0, "two tests of a second each: {run}");
    // From the first to the last of 3 requests, 0.4 s pass.
    let pinged = world.assay(&["ping", "127.0.0.1", "-c", "3", "-i", "0.2"]);
    if pinged.code == 0 {
        let (run, length_s) = newest_run(&world);
        assert!(length_s >= 0.4, "{run}");
    }
}

#[test]
fn failed_test_is_stored_with_failure() {
    let world = World::new();
    let port = free_port().to_string();
    for words in [
        &["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "1"][..],
        &["qperf", "127.0.0.1", "--listen_port", &port, "-t", "1", "tcp_lat", "tcp_bw"],
        &["ping", "no-such-host.invalid", "-c", "1"],
    ] {
        world.assay(words).failed_with(4);
        let document = world.json(&["show", "latest", "--json"]);
        assert_eq!(document["run"]["status"], "failed", "{words:?}");
        let failures = document["failures"].as_array().unwrap();
        assert_eq!(failures.len(), 1, "later tests were not tried: {document}");
    }
    assert_eq!(event_files(&world).len(), 3);
}

/// Interrupts a client once its server has all connections, and returns its output and the stored
/// document.
#[track_caller]
fn interrupt_client(world: &World, port: u16, words: &[&str]) -> (String, Value) {
    let child = world.command(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let child = child.unwrap();
    wait_for_connections(port, 2);
    // By then something has been measured.
    thread::sleep(Duration::from_millis(500));
    send_signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{words:?}");
    (String::from_utf8(output.stdout).unwrap(), world.json(&["show", "latest", "--json"]))
}

/// Checks that every result of an incomplete case is marked.
#[track_caller]
pub(super) fn assert_all_results_incomplete(document: &Value) {
    let results = document["results"].as_array().unwrap();
    assert!(!results.is_empty(), "{document}");
    for result in results {
        let warnings = result["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|it| it["id"] == "broke-off"), "{result}");
    }
}

#[test]
fn interrupted_test_is_stored_with_partial_results() {
    let world = World::new();
    for words in [
        &["iperf3", "-c", "127.0.0.1", "-t", "60", "-p"][..],
        &["qperf", "127.0.0.1", "-t", "60", "tcp_lat", "--listen_port"],
        &["qperf", "127.0.0.1", "-t", "60", "tcp_bw", "--listen_port"],
        &["qperf", "127.0.0.1", "-t", "60", "udp_bw", "--listen_port"],
    ] {
        let port = free_port();
        let _serving = ServerProcess::assay(&world, port);
        let port_text = port.to_string();
        let (printed, document) =
            interrupt_client(&world, port, &[words, &[&port_text]].concat());
        // The partial results are printed, and can be shown again from the store.
        assert!(printed.contains("are all that was measured"), "{words:?}: {printed}");
        let shown = world.assay(&["show", "latest", "--as", words[0]]).succeeded();
        assert_eq!(shown.out, printed, "{words:?}");
        assert_eq!(document["run"]["status"], "interrupted", "{words:?}: {document}");
        assert_all_results_incomplete(&document);
    }
}

/// The test is over and the far end stops responding. The client is interrupted, or waits until its
/// timeout.
#[test]
fn hanging_far_end_keeps_near_results() {
    for (gives_up, said) in [(true, "interrupted"), (false, "the server's statistics")] {
        let world = World::new();
        let port = free_port();
        let serving = ServerProcess::assay(&world, port);
        let port_text = port.to_string();
        let words = ["qperf", "127.0.0.1", "-t", "1", "tcp_bw", "--listen_port", &port_text];
        let child = world.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.unwrap();
        wait_for_connections(port, 2);
        thread::sleep(Duration::from_millis(300));
        send_signal(serving.0.id(), "STOP");
        if gives_up {
            thread::sleep(Duration::from_millis(2500));
            send_signal(child.id(), "INT");
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains("send_bw"), "{printed}");
        assert!(printed.contains("are all that was measured"), "{printed}");
        let why = String::from_utf8(output.stderr).unwrap();
        assert!(why.contains(said), "{why}");
        let shown = world.assay(&["show", "latest", "--as", "qperf"]).succeeded();
        assert_eq!(shown.out, printed);
    }
}

#[test]
fn compares_two_conditions_of_iperf3() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    for label in ["off", "on"] {
        let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "1", "-b", "20M"];
        world.assay(&[&words[..], &["--label", label]].concat()).succeeded();
    }
    let outcome = world.assay(&["compare", "off", "on", "--json"]);
    let comparison: Value = serde_json::from_str(&outcome.out).unwrap();
    let pairs = comparison["pairs"].as_array().unwrap();
    for metric in ["goodput", "send_rate", "cpu_load"] {
        assert!(pairs.iter().any(|it| it["a"]["metric"] == metric), "{metric}: {comparison}");
    }
}

#[test]
fn shown_qperf_output_equals_live_output() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    let host = ["qperf", "127.0.0.1", "--listen_port", &port, "-t", "1"];
    for words in [
        &["-v", "tcp_lat", "conf", "-vv", "udp_bw"][..],
        &["--loop", "msg_size:1:4:*4", "tcp_lat", "tcp_lat"],
        &["udp_lat", "tcp_bw", "--json"],
    ] {
        check(&world, &[&host[..], words].concat(), "qperf");
    }
    let summary = world.json(&["show", "latest", "--json"]);
    let [found] = &*results(&summary, "network.udp", "round_trip") else {
        panic!("{summary}");
    };
    let reported = world.assay(&["show", "latest", "--as", "qperf"]).succeeded();
    let reported: Value = serde_json::from_str(&reported.out).unwrap();
    let of_all = &reported["udp_lat"]["round_trip_s"];
    for name in ["min", "mean", "max"] {
        let (ours, theirs) = (found[name].as_f64().unwrap(), of_all[name].as_f64().unwrap());
        assert!((ours / theirs - 1.0).abs() < 1e-6, "{name}: {found} {of_all}");
    }
    // A test that is requested twice makes two cases.
    let twice = world.json(&["show", "latest~1", "--json"]);
    assert_eq!(results(&twice, "network.tcp", "half_round_trip").len(), 4, "{twice}");
}

#[test]
fn no_store_option_stores_nothing() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    for words in [
        &["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "1", "--no-store"][..],
        &["qperf", "127.0.0.1", "--listen_port", &port, "-t", "1", "tcp_lat", "--no-store"],
        // `conf` measures nothing.
        &["qperf", "127.0.0.1", "--listen_port", &port, "conf"],
    ] {
        world.assay(words).succeeded();
        assert_eq!(event_files(&world), Vec::<PathBuf>::new(), "{words:?}");
    }
    let store = world.path("elsewhere");
    let store = store.to_string_lossy();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-n", "1M", "--store", &store];
    world.assay(&words).succeeded();
    assert_eq!(event_files(&world).len(), 1);
}
