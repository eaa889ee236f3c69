//! `assay plan`: calculations with known results.

use crate::program::World;

#[test]
fn littles_law_derives_third_value() {
    let world = World::new();
    let table = [
        ("--rate 3500 --latency 1.14ms", "4 threads with one I/O each", "3.990 in flight"),
        ("--threads 4 --latency 1.14ms", "at most 3.509 kIO/s", "4.000 in flight"),
        ("--threads 7 --rate 5000", "at most 1.400 ms per I/O", "7.000 in flight"),
    ];
    for (line, answer, reason) in table {
        let words = ["plan", "littles-law"].into_iter().chain(line.split_whitespace());
        let outcome = world.assay(&words.collect::<Vec<_>>()).succeeded();
        assert!(outcome.out.starts_with(answer), "{}", outcome.out);
        assert!(outcome.out.contains(reason), "{}", outcome.out);
    }
    let document =
        world.json(&["plan", "littles-law", "--rate", "3500", "--latency", "1.14ms", "--json"]);
    assert!((document["in_flight"]["value"].as_f64().unwrap() - 3.99).abs() < 1e-9);
    for line in
        [&["--rate", "1"][..], &["--rate", "0", "--latency", "1ms"], &["--latency", "1"]]
    {
        world.assay(&[&["plan", "littles-law"], line].concat()).failed_with(2);
    }
}

#[test]
fn anf_quota_and_throughput_convert() {
    let world = World::new();
    let anf = |line: &str| {
        let words = ["plan", "anf"].into_iter().chain(line.split_whitespace());
        world.assay(&words.collect::<Vec<_>>())
    };
    let table = [
        ("--throughput 4500MiB/s --level premium", "70.31 TiB of quota"),
        ("--quota 10TiB --level premium", "640 MiB/s"),
        ("--quota 70.31TiB --level premium", "4499.84 MiB/s"),
        ("--quota 100TiB --level ultra", "4500 MiB/s"),
        ("--quota 100TiB --level ultra --volume large", "12800 MiB/s"),
    ];
    for (line, answer) in table {
        let outcome = anf(line).succeeded();
        assert!(outcome.out.starts_with(answer), "{line}: {}", outcome.out);
    }
    let window = anf("--throughput 4500MiB/s --level premium --round-trip 1ms --connections 8");
    assert!(window.succeeded().out.contains("576.0 KiB per connection"));
    for line in [
        "--throughput 5000MiB/s --level ultra",
        "--throughput 4500 --level ultra",
        "--level ultra",
        "--throughput 1MiB/s --quota 1TiB --level ultra",
        "--quota 1TiB --level gold",
        "--quota 10 --level premium",
        "--quota 0TiB --level premium",
    ] {
        anf(line).failed_with(2);
    }
}

/// Options take lists wherever a suite does, and a rate as a bandwidth.
#[test]
fn options_take_lists_and_bandwidths() {
    let world = World::new();
    let cases = |line: &str| {
        let words: Vec<&str> = line.split(' ').chain(["--dry-run", "--json"]).collect();
        world.json(&words)["cases"].as_array().unwrap().len()
    };
    for (line, expected) in [
        ("storage read --engine null --bs 4k,64k --depth 1,8,32", 6),
        ("storage read --engine null --bs 64KiB --rate 400MiB/s", 1),
        ("net throughput --streams 1,4 --direction send,receive", 4),
        ("net latency --message-size 1B,8k", 2),
        ("net connections --streams 1,2,4 --message-size 1B,8k", 6),
        ("stream --budget 1m30s", 1),
    ] {
        assert_eq!(cases(line), expected, "{line}");
    }
}

/// Results of another tool can be looked at without a store.
#[test]
fn import_without_store_prints_results() {
    let world = World::new();
    world.write(
        "stream.txt",
        include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out"),
    );
    let printed = world.assay(&["import", "--no-store", "stream.txt"]).succeeded().out;
    assert!(printed.to_lowercase().contains("triad"), "{printed}");
    let document = world.json(&["import", "--no-store", "--json", "stream.txt"]);
    assert_eq!(document["imported"][0]["runs"].as_array().unwrap().len(), 0, "{document}");
    let none = world.assay(&["list"]).succeeded().out;
    assert!(none.contains("There are no runs yet"), "{none}");
}

/// `--locale` sets the language of every command.
#[test]
fn locale_is_an_option_of_every_command() {
    let world = World::new();
    world.write(
        "stream.txt",
        include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out"),
    );
    world.assay(&["import", "stream.txt"]).succeeded();
    for command in [&["show"][..], &["list"], &["report"], &["references"]] {
        let print = |more: &[&str]| world.assay(&[command, more].concat()).succeeded().out;
        assert_ne!(print(&["--locale", "de"]), print(&[]), "{command:?}");
        let mut german = world.command(command);
        german.env("LC_ALL", "de_DE.UTF-8");
        let german = String::from_utf8(german.output().unwrap().stdout).unwrap();
        let is_report = command == ["report"];
        assert_eq!(print(&["--locale", "de"]) == german, !is_report, "{command:?}");
    }
}
