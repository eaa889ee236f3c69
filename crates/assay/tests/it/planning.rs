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
