//! The page of a volume that several hosts share: `run anf` over a fleet with a near and a far group.

use serde_json::Value;

use crate::program::{World, results};

const FLEET: &str = "via = \"env NAME={host}\"\nlabels = [\"near\", \"far\"]\n\
    [[host]]\nname = \"n[1-2]\"\nlabels = [\"near\"]\n\
    [[host]]\nname = \"f1\"\nlabels = [\"far\"]\n";
const PATTERNS: [&str; 6] = ["RndRead", "RndWrite", "SeqRead", "SeqWrite", "SeqMix", "RndMix"];

#[test]
fn a_volume_has_curves_of_near_and_far_hosts_over_their_totals() {
    let world = World::new();
    world.write("fleet.toml", FLEET);
    let target = world.path("data.{host}").display().to_string();
    let words = ["run", "anf", "--hosts", "fleet.toml", "--target", &target];
    let short = ["--size", "1MiB", "--budget", "2s", "--json"];
    let document = world.json(&[&words[..], &short].concat());
    let of = |test: &str, host: &str, metric: &str| -> Vec<Value> {
        let found = results(&document, "storage", metric).into_iter();
        let here = |it: &&Value| it["parameters"]["test"] == test && it["host"] == host;
        found.filter(here).cloned().collect()
    };
    for test in PATTERNS {
        for (host, members) in [("all", "n1,n2,f1"), ("near", "n1,n2"), ("far", "f1")] {
            let rates = of(test, host, "rate");
            assert!(rates.len() >= 7, "the points of a curve: {test} {host} {}", rates.len());
            assert!(rates.iter().all(|it| it["parameters"]["hosts"] == members), "{rates:?}");
        }
        // Every single I/O counts once in its group and once in all.
        let count = |host: &str| {
            let found = of(test, host, "latency");
            found.iter().map(|it| it["distribution"]["count"].as_u64().unwrap()).sum::<u64>()
        };
        assert_eq!(count("near") + count("far"), count("all"), "{test}");
    }
    let page = world.assay(&["report", "--format", "html"]).succeeded().out;
    for test in PATTERNS {
        let both = |caption: &&str| {
            caption.contains(test) && caption.contains("near: ") && caption.contains("far: ")
        };
        let captions = page.split("<figcaption>").skip(1);
        let captions = captions.filter_map(|it| it.split_once("</figcaption>").map(|it| it.0));
        assert_eq!(captions.filter(both).count(), 1, "one picture with both curves: {test}");
    }
    let learn = world.assay(&["report", "--format", "learn"]);
    assert!(learn.out.contains("near") && learn.out.contains("far"), "{learn:?}");
}
