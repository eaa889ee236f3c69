//! Suites that omit what the machine lacks, and several suites in one run.

use std::fs;

use crate::program::World;

#[test]
fn cases_without_target_or_host_are_omitted_and_listed() {
    let world = World::new();
    let plan = world.json(&["run", "all", "--dry-run", "--json"]);
    let omitted = plan["omitted"].as_array().unwrap();
    for expected in [("storage", "target"), ("network.tcp", "host"), ("network.icmp", "host")] {
        let is_it = |it: &&serde_json::Value| {
            it["benchmark"] == expected.0 && it["reason"] == expected.1
        };
        assert_eq!(omitted.iter().filter(is_it).count(), 1, "{expected:?}: {omitted:?}");
    }
    let text = world.assay(&["run", "all", "--dry-run"]).succeeded().out;
    assert!(
        text.contains("Left out: storage, because no file, folder or device is named"),
        "{text}"
    );
    // A target common to all cases is named once, so that the plan stays one table.
    let planned = ["run", "all", "--dry-run", "--target", ".", "--target-on-root"];
    let text = world.assay(&planned).succeeded().out;
    let is_once = text.matches("assay-storage.data").count() == 1;
    assert!(is_once && text.contains("files and devices") && text.contains("──"), "{text}");
    let folder = world.path("");
    let words = ["run", "hb", "--dry-run", "--json", "--target", folder.to_str().unwrap()];
    let plan = world.json(&words);
    assert_eq!(plan["suite"], "hb");
    let has = |id: &str| plan["cases"].as_array().unwrap().iter().any(|it| it["id"] == id);
    assert!(has("storage/sequential-read-1MiB"), "{plan:#}");
}

#[test]
fn report_lists_omitted_benchmarks() {
    let world = World::new();
    world.write(
        "mine.toml",
        "name = \"mine\"\nbudget = \"1s\"\n[[measure]]\nbenchmark = \"memory.latency\"\n\
         from = \"4KiB\"\nto = \"4KiB\"\n[[measure]]\nbenchmark = \"storage\"\n\
         operation = \"read\"\noptional = true\n",
    );
    let run = world.assay(&["run", "./mine.toml"]).succeeded();
    assert!(run.out.contains("not measured: storage (`--target DIR`)"), "{}", run.out);
    let full = world.assay(&["show", "latest"]).succeeded().out;
    assert!(full.contains("Not measured"), "{full}");
    let document = world.json(&["show", "latest", "--json"]);
    let omitted = &document["omitted"][0];
    assert_eq!(
        (&omitted["benchmark"], &omitted["reason"]),
        (&"storage".into(), &"target".into())
    );
    assert_eq!(omitted["text"], "no file, folder or device is named");
    // The measured cases share the whole budget.
    let plan = world.json(&["run", "./mine.toml", "--dry-run", "--json"]);
    assert_eq!(plan["cases"][0]["stopping"]["budget_s"], 1.0);
}

#[test]
fn several_suites_add_their_budgets() {
    let world = World::new();
    let plan = world.json(&["run", "quick", "network", "--dry-run", "--json"]);
    assert_eq!((&plan["suite"], &plan["budget_s"]), (&"quick+network".into(), &250.0.into()));
    let cases = plan["cases"].as_array().unwrap();
    let of_network =
        cases.iter().filter(|it| it["id"].as_str().unwrap().starts_with("network"));
    let budget_s: f64 = of_network.map(|it| it["stopping"]["budget_s"].as_f64().unwrap()).sum();
    assert!((budget_s - 180.0).abs() < 1e-6, "{budget_s}");
    world.assay(&["run", "quick", "qick"]).failed_with(2);
    // A case common to two suites is measured once; a suite that is named twice has the time of
    // both.
    for (suites, budget_s) in [(&["quick", "quick"][..], 70.0), (&["quick", "memory"], 20.0)] {
        let options = ["--budget", "20s", "--dry-run", "--json"];
        let options = if budget_s < 70.0 { &options[..] } else { &options[2..] };
        let plan = world.json(&[&["run"], suites, options].concat());
        let cases = plan["cases"].as_array().unwrap();
        let sum_s: f64 =
            cases.iter().map(|it| it["stopping"]["budget_s"].as_f64().unwrap()).sum();
        assert!((sum_s - budget_s).abs() < 1e-6, "{suites:?}: {sum_s}");
    }
}

/// A plan warns when its cases cannot keep the budget, also with `--quiet`.
#[test]
fn warns_in_advance_of_exceeded_budget() {
    let world = World::new();
    let solve = ["linpack", "--n", "2000", "--budget", "shortest"];
    let plan = world.assay(&[&solve[..], &["--dry-run"]].concat()).succeeded().out;
    assert!(
        plan.contains("2 cases in at most 100 ms"),
        "two seconds beyond the budget need no warning: {plan}"
    );
    let solve = ["linpack", "--n", "20000", "--budget", "shortest", "--dry-run"];
    let plan = world.assay(&solve).succeeded().out;
    assert!(plan.contains("2 cases with a time budget of 100 ms"), "{plan}");
    assert!(plan.contains("instead of the 100 ms of its budget"), "{plan}");
    // Each case takes at least a tenth of a second, so that 29 sizes exceed two seconds. All but the
    // largest are left out.
    let ladder = "name = \"ladder\"\nbudget = \"1ms\"\n[[measure]]\n\
                  benchmark = \"memory.latency\"\nto = \"64MiB\"\n";
    world.write("ladder.toml", ladder);
    let run = world.assay(&["run", "./ladder.toml", "--quiet"]).succeeded();
    assert!(run.err.contains("28 of 29 cases were not measured"), "{}", run.err);
    let planned = ["run", "./ladder.toml", "--dry-run"];
    let several = ["--hosts", "a,b", "--via", "env NAME={host}"];
    let expected = "about 28 of 29 cases are not measured";
    for more in [&[][..], &several] {
        let words = [&planned[..], more].concat();
        let text = world.assay(&words).succeeded().out;
        assert!(text.contains("29 cases ") && text.contains("1 ms"), "{text}");
        assert!(text.contains(expected), "{text}");
        let document = world.json(&[&words[..], &["--json"]].concat());
        assert_eq!(document["outlook"]["is_beyond_budget"], false, "{more:?}");
        let said = document["outlook"]["said"][0].as_str().unwrap();
        assert!(said.contains(expected), "{said}");
        // The estimate states that the hosts were not examined.
        let all = document["outlook"]["said"].to_string();
        assert_eq!(
            all.contains("the speed of the hosts is unknown"),
            !more.is_empty(),
            "{all}"
        );
        world.assay(&[&words[..], &["-o", "plan.json"]].concat()).succeeded();
        let written = fs::read_to_string(world.path("plan.json")).unwrap();
        assert!(written.starts_with('{'), "{more:?}: {written}");
        let refused = world.assay(&[&words[..], &["--format", "html"]].concat()).failed_with(2);
        assert!(
            refused.err.contains("a plan has only the formats text and json"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn rejects_options_that_suite_cannot_use() {
    let world = World::new();
    for (line, said) in [
        ("quick --to localhost", "quick does not measure the network, so --to has no effect"),
        ("memory --destroy-data /dev/null", "so --destroy-data has no effect"),
        ("network --target /tmp", "network does not measure storage, so --target"),
        ("compute memory --keep", "compute+memory does not measure storage, so --keep"),
    ] {
        let words = ["run", "--dry-run"].into_iter().chain(line.split_whitespace());
        let outcome = world.assay(&words.collect::<Vec<_>>()).failed_with(2);
        assert!(outcome.err.contains(said), "{line}: {}", outcome.err);
    }
    // An option that concerns one of several suites applies to that one.
    world.assay(&["run", "quick", "network", "--to", "localhost", "--dry-run"]).succeeded();
}

/// A word that names a file is one suite, on every host; other words are lists.
#[test]
fn file_with_a_comma_in_its_name_is_one_suite() {
    let world = World::in_memory();
    let suite = "name = \"both\"\nbudget = \"1s\"\n[[measure]]\nbenchmark = \"memory.latency\"\n\
                 from = \"4KiB\"\nto = \"4KiB\"\n";
    world.write("a,b.toml", suite);
    world.write("c.toml", suite);
    world.write("via.sh", "shift\nexec \"$@\"\n");
    for (words, expected) in [
        (&["run", "./a,b.toml", "--dry-run"][..], "Plan of suite both"),
        (&["run", "a,b.toml", "--dry-run"], "Plan of suite both"),
        (&["run", "./c.toml,./a,b.toml", "--dry-run"], "there is no suite `./a`"),
        (&["run", "./c.toml,quick", "--dry-run"], "memory.latency"),
        (&["run", "memory,", "--dry-run"], "the name of a suite is missing in `memory,`"),
        (&["run", ",memory", "--dry-run"], "the name of a suite is missing in `,memory`"),
        (&["run", "memory,,compute", "--dry-run"], "separate names by one comma"),
    ] {
        let outcome = world.assay(words);
        let text = outcome.out + &outcome.err;
        assert!(text.contains(expected), "{words:?}: {text}");
    }
    let hosts = ["--hosts", "n1,n2", "--via", "sh via.sh {host}"];
    world.assay(&[&["run", "./a,b.toml", "-q"][..], &hosts].concat()).succeeded();
}
