//! The page of a volume that several hosts share: `run anf` over a fleet with a near and a far group.

use serde_json::{Value, json};

use crate::program::{World, results};

const FLEET: &str = "via = \"env NAME={host}\"\nlabels = [\"near\", \"far\"]\n\
    [[host]]\nname = \"n[1-2]\"\nlabels = [\"near\"]\n\
    [[host]]\nname = \"f1\"\nlabels = [\"far\"]\n";

/// Two of the page's tests by its name, with few points: a busy machine gets through them.
fn short() -> String {
    let test = |name: &str, operation: &str| {
        format!(
            "[[measure]]\nbenchmark = \"storage\"\nname = \"{name}\"\noperation = \"{operation}\"\n\
             pattern = \"random\"\nbs = \"8KiB\"\ndepth = 4\nbuffered = true\ncurve = [30, 60]\n"
        )
    };
    let tests = test("RndRead", "read") + &test("RndWrite", "write");
    format!("name = \"anf\"\nbudget = \"9s\"\n{tests}")
}

#[test]
fn a_volume_has_curves_of_near_and_far_hosts_over_their_totals() {
    let world = World::in_memory();
    world.write("fleet.toml", FLEET);
    world.write("short.toml", &short());
    let target = world.path("data.{host}").display().to_string();
    let fleet = ["--hosts", "fleet.toml", "--target", &target, "--size", "1MiB", "--json"];
    // The page itself, which takes its time.
    let planned = world.json(&[&["run", "anf"], &fleet[..], &["--dry-run"]].concat());
    let cases = planned["cases"].as_array().unwrap();
    assert_eq!((planned["suite"].as_str(), cases.len()), (Some("anf"), 6 * 11));
    assert!(cases.iter().all(|it| it["hosts"] == json!(["n1", "n2", "f1"])), "{planned}");

    let document = world.json(&[&["run", "./short.toml"], &fleet[..]].concat());
    for test in ["RndRead", "RndWrite"] {
        let of = |host: &str, metric: &str| -> Vec<&Value> {
            let found = results(&document, "storage", metric).into_iter();
            found.filter(|it| it["parameters"]["test"] == test && it["host"] == host).collect()
        };
        for (host, members) in [("all", 3), ("near", 2), ("far", 1)] {
            let rates = of(host, "rate");
            assert_eq!(rates.len(), 3, "the maximum and two points: {test} {host}");
            let hosts =
                |it: &&Value| it["parameters"]["hosts"].as_str().unwrap().split(',').count();
            assert!(rates.iter().all(|it| hosts(it) == members), "{rates:?}");
        }
        // Every single I/O counts once in its group and once in all.
        let done = |host: &str| {
            let found = of(host, "latency").into_iter();
            found.map(|it| it["parameters"]["io"].as_u64().unwrap()).sum::<u64>()
        };
        assert!(done("far") > 0);
        assert_eq!(done("near") + done("far"), done("all"), "{test}");
    }
    let page = world.assay(&["report", "--format", "html"]).succeeded().out;
    let both = |picture: &&str| {
        ["all", "near", "far"].iter().all(|host| picture.contains(&format!("{host}: ")))
    };
    let pictures = page.split("<figure").skip(1).filter_map(|it| it.split("</figure>").next());
    assert_eq!(pictures.filter(both).count(), 2, "a picture for each test with all its curves");
    let learn = world.assay(&["report", "--format", "learn"]).succeeded().out;
    for row in ["random reads, 8 KiB | near |", "random writes, 8 KiB | far |"] {
        assert!(learn.contains(row), "{row}: {learn}");
    }
}
