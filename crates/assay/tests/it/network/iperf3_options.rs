//! Options of `assay iperf3` that concern this end: its output, files, CPUs, sockets and limits.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{ServerProcess, free_port, is_installed, newest_program};
use crate::processes::{send_signal, wait_for_connections, wait_until, wait_until_listening};
use crate::program::{Outcome, World};

fn server(world: &World, port: u16, options: &[&str]) -> ServerProcess {
    let port_text = port.to_string();
    let words = ["iperf3", "-s", "-p", &port_text, "--idle-timeout", "60"];
    ServerProcess::start(world.command(&[&words[..], options].concat()), port)
}

fn client(world: &World, port: u16, options: &[&str]) -> Outcome {
    let port = port.to_string();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "--no-store"];
    world.assay(&[&words[..], options].concat())
}

#[test]
fn log_file_gets_the_output_with_times() {
    let world = World::new();
    let port = free_port();
    let _serving = server(&world, port, &[]);
    let log = world.path("log");
    for runs in 1..=2 {
        let outcome = client(
            &world,
            port,
            &["-n", "1M", "--logfile", "log", "--timestamps=%Y %c ", "-T", "title"],
        );
        assert_eq!(outcome.succeeded().out, "");
        let text = std::fs::read_to_string(&log).unwrap();
        let years = text.lines().filter(|line| {
            let (year, rest) = line.split_at(4);
            year.parse::<u32>().is_ok() && rest.contains(":  ") && rest.contains(year)
        });
        assert_eq!(years.count(), text.lines().count(), "{text}");
        let done = text.lines().filter(|line| line.ends_with(" title:  iperf Done.")).count();
        assert_eq!(done, runs, "{text}");
    }
    let stamped = client(&world, port, &["-n", "1M", "--timestamps"]).succeeded().out;
    assert!(stamped.lines().all(|line| line.as_bytes()[3] == b' '), "{stamped}");
    let json = client(&world, port, &["-n", "1M", "--timestamps", "-J"]).succeeded().out;
    assert!(serde_json::from_str::<Value>(&json).is_ok(), "{json}");
    for (words, expected) in [
        (["--logfile", "/no/such/folder/log"], "cannot open the log file"),
        (["--timestamps=%Q%", "-J"], "not a format of times"),
    ] {
        let outcome = client(&world, port, &words);
        assert!(outcome.code == 2 && outcome.err.contains(expected), "{outcome:?}");
    }
}

/// The port is bound when the command returns.
#[test]
fn daemon_serves_after_the_command_has_ended() {
    let world = World::new();
    let port = free_port();
    let port_text = port.to_string();
    let words = ["iperf3", "-s", "-D", "-I", "pid", "--logfile", "log", "-p", &port_text];
    world.assay(&[&words[..], &["--idle-timeout", "60"]].concat()).succeeded();
    let id = std::fs::read_to_string(world.path("pid")).unwrap();
    client(&world, port, &["-n", "1M"]).succeeded();
    let log = || std::fs::read_to_string(world.path("log")).unwrap();
    wait_until("a result in the log", || log().contains("receiver"));
    send_signal(id.trim().parse().unwrap(), "TERM");
    wait_until("the PID file is removed", || !world.path("pid").exists());
    // An error before the background is one of the command.
    let _serving = server(&world, port, &[]);
    let outcome = world.assay(&words).failed_with(4);
    assert!(outcome.err.contains("cannot listen on"), "{outcome:?}");
}

#[test]
fn file_arrives_whole_in_both_directions() {
    let world = World::new();
    let contents: Vec<u8> = (0..3_000_001_u32).map(|at| (at % 251) as u8).collect();
    std::fs::write(world.path("sent"), &contents).unwrap();
    let port = free_port();
    for (here, there, options) in [
        (Some("sent"), Some("got-1"), &["-J"][..]),
        (Some("sent"), Some("got-2"), &["-t", "5", "-J"]),
        (Some("got-3"), Some("sent"), &["-R", "-t", "1", "-J"]),
        (Some("got-4"), Some("sent"), &["-R", "-n", "3000001", "-J"]),
    ] {
        let file = |name: Option<&'static str>| name.map_or(vec![], |name| vec!["-F", name]);
        let _serving = server(&world, port, &file(there));
        let outcome = client(&world, port, &[file(here), options.to_vec()].concat());
        let value: Value = serde_json::from_str(&outcome.succeeded().out).unwrap();
        let arrived = [here, there].into_iter().flatten().find(|it| *it != "sent").unwrap();
        assert!(std::fs::read(world.path(arrived)).unwrap() == contents, "{arrived}");
        let stream = &value["end"]["streams"][0];
        assert_eq!(stream["diskfile"]["received"], contents.len(), "{value:#}");
        assert_eq!(stream["diskfile"]["percent_sent"], 100, "{value:#}");
    }
    let outcome = client(&world, port, &["-F", "no-such-file"]).failed_with(2);
    assert!(outcome.err.contains("cannot read no-such-file"), "{outcome:?}");
    client(&world, port, &["-F", "sent", "-u"]).failed_with(2);
    for options in [&["-P", "2"][..], &["--bidir"]] {
        let outcome = client(&world, port, &[&["-F", "sent"], options].concat());
        assert!(outcome.code == 2 && outcome.err.contains("would mix"), "{outcome:?}");
    }
    for (options, expected) in
        [(&["-F", "kept", "--clients", "2"][..], "would mix"), (&["-F", "no/file"], "no/file")]
    {
        let outcome = world.assay(&[&["iperf3", "-s"], options].concat());
        assert!(outcome.code == 2 && outcome.err.contains(expected), "{outcome:?}");
    }
    std::fs::write(world.path("kept"), "contents").unwrap();
    {
        let _serving = server(&world, port, &["-F", "kept"]);
        for options in [["-P", "2", "-n", "1M"], ["--bidir", "-t", "1", "-N"]] {
            let outcome = client(&world, port, &options).failed_with(4);
            assert!(outcome.err.contains("its error 14"), "{outcome:?}");
        }
    }
    assert_eq!(std::fs::read(world.path("kept")).unwrap(), b"contents");
    if is_installed("iperf3", "file_arrives_whole_in_both_directions") {
        let _serving = server(&world, port, &["-F", "got-5"]);
        let mut real = Command::new("iperf3");
        real.args(["-c", "127.0.0.1", "-p", &port.to_string(), "-F"]).arg(world.path("sent"));
        assert!(real.output().unwrap().status.success());
        assert!(std::fs::read(world.path("got-5")).unwrap() == contents, "from iperf3");
    }
}

/// A device on which every write fails.
#[test]
fn test_whose_file_cannot_be_written_has_one_document() {
    let world = World::new();
    let port = free_port();
    let port_text = port.to_string();
    let words = ["iperf3", "-s", "-p", &port_text, "-1", "-J", "-F", "/dev/full"];
    let serving: Child = world.command(&words).stdout(Stdio::piped()).spawn().unwrap();
    wait_until_listening("self", port);
    client(&world, port, &["-n", "100K"]);
    let output = serving.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let values = serde_json::Deserializer::from_str(&text).into_iter();
    let values: Vec<Value> = values.map(Result::unwrap).collect();
    let [document] = &values[..] else { panic!("{text}") };
    assert!(document["error"].as_str().unwrap().contains("No space left"), "{text}");
}

/// Returns success and messages of a client of every implementation.
fn all_clients(world: &World, port: u16, options: &[&str]) -> Vec<(bool, String)> {
    let outcome = client(world, port, options);
    let mut outputs = vec![(outcome.code == 0, outcome.err)];
    let installed = is_installed("iperf3", "all_clients").then(|| "iperf3".into());
    for real in installed.into_iter().chain(newest_program("iperf3")) {
        let mut command = Command::new(real);
        command.args(["-c", "127.0.0.1", "-p", &port.to_string()]).args(options);
        let output = command.output().unwrap();
        outputs.push((output.status.success(), String::from_utf8(output.stderr).unwrap()));
    }
    outputs
}

#[test]
fn server_limits_rate_and_duration() {
    let world = World::new();
    let port = free_port();
    let limits = ["--server-bitrate-limit", "20M/1", "--server-max-duration", "4"];
    let _serving = server(&world, port, &limits);
    // Messages of assay, and of iperf3; 3.12 does not know the error of the duration.
    let rate: Option<&[&str]> = Some(&["its error 27", "total required bandwidth"]);
    let duration: Option<&[&str]> =
        Some(&["its error 37", "client's requested duration", "int_errno=37"]);
    for (options, expected) in [
        (&["-t", "1", "-b", "10M"][..], None),
        (&["-t", "1", "-b", "11M", "-P", "2"], rate),
        (&["-t", "1", "-b", "11M", "--bidir"], rate),
        (&["-t", "4"], rate),
        (&["-t", "5", "-b", "1M"], duration),
        (&["-t", "3", "-O", "2", "-b", "1M"], duration),
        (&["-n", "1M", "-b", "1M"], duration),
    ] {
        for (succeeded, text) in all_clients(&world, port, options) {
            assert_eq!(succeeded, expected.is_none(), "{options:?}: {text}");
            let is_named =
                expected.is_none_or(|messages| messages.iter().any(|it| text.contains(it)));
            assert!(is_named, "{options:?}: {text}");
        }
    }
}

#[test]
fn cpus_and_sockets_are_those_of_the_options() {
    let world = World::new();
    let port = free_port();
    let _serving = server(&world, port, &["-A", "0", "--snd-timeout", "5000", "--cntl-ka"]);
    for options in [
        &["-A", "0,0"][..],
        &["--bind-dev", "lo"],
        &["-B", "127.0.0.1%lo"],
        &["--snd-timeout", "5000", "--cntl-ka=30/5/3"],
        &["-u", "--dont-fragment", "-l", "1000"],
        &["--repeating-payload", "--no-fq-socket-pacing"],
    ] {
        let mut words = vec!["-t", "1", "-b", "10M", "-J"];
        words.extend(options);
        client(&world, port, &words).succeeded();
    }
    for (options, code, expected) in [
        (&["-A", "1000"][..], 2, "cannot run on CPU 1000"),
        (&["-A", "0,1000"], 4, "its error 132"),
        (&["--bind-dev", "no-such-device"], 4, "network device `no-such-device`"),
        (&["-L", "7"], 4, "needs an IPv6 address"),
        (&["-L", "0x100000"], 2, "from 1 to 1048575"),
        (&["--cntl-ka=5/5/3"], 2, "above the 15 s of all probes"),
        (&["--sctp"], 2, "SCTP is not supported"),
    ] {
        let outcome = client(&world, port, &[&["-t", "1", "-b", "10M"], options].concat());
        assert_eq!(outcome.code, code, "{options:?}: {outcome:?}");
        assert!(outcome.err.contains(expected), "{options:?}: {outcome:?}");
    }
    let v6 = free_port();
    let _labelled = server(&world, v6, &["-6"]);
    let v6 = v6.to_string();
    for protocol in ["-4", "-u"] {
        let words = ["iperf3", "-c", "::1", "-p", &v6, "-L", "0x12345", "-n", "100K"];
        let extra = if protocol == "-u" { &["-u"][..] } else { &[] };
        world.assay(&[&words[..], extra].concat()).succeeded();
    }
}

/// Both ends, and either end beside the real one.
#[test]
fn multipath_tcp_carries_a_test() {
    let has_multipath = std::fs::read_to_string("/proc/sys/net/mptcp/enabled");
    if has_multipath.is_err() {
        eprintln!("SKIPPED multipath_tcp_carries_a_test: the kernel has no MPTCP");
        return;
    }
    let world = World::new();
    let port = free_port();
    let _serving = server(&world, port, &["-m"]);
    for options in
        [&["-m", "-n", "10M"][..], &["-m", "-R", "-t", "1", "-b", "50M"], &["-n", "1M"]]
    {
        client(&world, port, options).succeeded();
    }
    let Some(newest) = newest_program("iperf3") else { return };
    let mut real = Command::new(&newest);
    real.args(["-c", "127.0.0.1", "-p", &port.to_string(), "-m", "-n", "10M"]);
    let output = real.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let port = free_port();
    let mut real = Command::new(&newest);
    real.args(["-s", "-m", "-p", &port.to_string()]);
    let _real = ServerProcess::start(real, port);
    client(&world, port, &["-m", "-n", "10M"]).succeeded();
}

#[test]
fn stream_can_end_with_the_document() {
    let world = World::new();
    let port = free_port();
    let _serving = server(&world, port, &[]);
    let options = ["-t", "1", "-b", "10M", "--json-stream", "--json-stream-full-output"];
    let out = client(&world, port, &options).succeeded().out;
    let values: Vec<Value> =
        serde_json::Deserializer::from_str(&out).into_iter().map(Result::unwrap).collect();
    let (document, events) = values.split_last().unwrap();
    let names: Vec<_> = events.iter().map(|it| it["event"].as_str().unwrap()).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("start", "end"), "{out}");
    for (event, part) in [(&events[0], "start"), (&events[events.len() - 1], "end")] {
        assert_eq!(event["data"], document[part], "{out}");
    }
}

#[test]
fn debug_prints_messages_of_the_protocol() {
    let world = World::new();
    let port = free_port();
    let port_text = port.to_string();
    let words = ["iperf3", "-s", "-p", &port_text, "-1", "-d"];
    let serving: Child = world.command(&words).stdout(Stdio::piped()).spawn().unwrap();
    wait_until_listening("self", port);
    let text = client(&world, port, &["-n", "1M", "-d"]).succeeded().out;
    let output = serving.wait_with_output().unwrap();
    let served = String::from_utf8(output.stdout).unwrap();
    for (text, names) in [
        (text, ["send_parameters:\n{", "send_results:\n{", "get_results:\n{"]),
        (served, ["get_parameters:\n{", "get_results:\n{", "send_results:\n{"]),
    ] {
        for name in names {
            assert!(text.contains(name), "{name}: {text}");
        }
        assert!(text.contains("\"num\": 1048576"), "{text}");
    }
}

/// Every option that the help of a real iperf3 names is supported or refused by name.
#[test]
fn every_option_of_real_iperf3_is_known() {
    let world = World::new();
    let ours = world.assay(&["iperf3", "--help"]).succeeded().out;
    let installed = is_installed("iperf3", "every_option_of_real_iperf3_is_known");
    let programs =
        installed.then(|| "iperf3".into()).into_iter().chain(newest_program("iperf3"));
    for program in programs {
        let output = Command::new(program).arg("--help").output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let options: Vec<&str> = lines
            .filter_map(|line| {
                line.split([' ', ',', '[', '<', '=']).find(|it| it.starts_with("--"))
            })
            .collect();
        assert!(options.len() > 40, "{text}");
        for option in options {
            let is_listed = ours.split([' ', '\n', ',', '=', '[']).any(|word| word == option);
            let refusal = || world.assay(&["iperf3", "-c", "h", option]).err;
            assert!(is_listed || refusal().contains("is not supported"), "{option}");
        }
    }
}

#[test]
fn test_without_duration_runs_until_a_signal() {
    let world = World::new();
    let port = free_port();
    let _serving = server(&world, port, &[]);
    let port_text = port.to_string();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port_text, "-t", "0", "-b", "10M", "-J"];
    let mut command = world.command(&words);
    let running = command.args(["-i", "0.2"]).stdout(Stdio::piped()).spawn().unwrap();
    wait_for_connections(port, 4);
    // Several of its intervals.
    std::thread::sleep(Duration::from_millis(900));
    send_signal(running.id(), "INT");
    let output = running.wait_with_output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(value["intervals"].as_array().unwrap().len() >= 2, "{value:#}");
    assert_eq!(value["start"]["test_start"]["duration"], 0, "{value:#}");
}
