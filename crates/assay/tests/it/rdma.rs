//! RDMA on machines without a device, and rejected options. Measurements are in the laboratory
//! (`cargo xtask lab rdma`), because no other machine is sure to have a device.

use std::fs;

use crate::program::World;

/// Returns whether the kernel lists a device; if so, prints that the test is skipped.
fn has_device(test: &str) -> bool {
    let has =
        fs::read_dir("/sys/class/infiniband").is_ok_and(|mut found| found.next().is_some());
    if has {
        eprintln!("SKIPPED {test}: this machine has an RDMA device");
    }
    has
}

#[test]
fn missing_device_fails_every_pair_with_its_host() {
    if has_device("missing_device_fails_every_pair_with_its_host") {
        return;
    }
    let world = World::new();
    let words = ["run", "rdma", "--hosts", "n1,n2", "--via", "env NAME={host}"];
    let run = world.assay(&[&words[..], &["--pairs", "n1:n2,n2:n1"]].concat()).failed_with(4);
    let shown = world.assay(&["show", "--json"]).out;
    let document: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let failures = document["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 16, "eight tests, two pairs: {failures:#?}");
    for (at, failure) in failures.iter().enumerate() {
        let (host, pair) = [("n1", "n1:n2"), ("n2", "n2:n1")][at % 2];
        assert_eq!(failure["host"], host, "{failure:#}");
        assert!(failure["case"].as_str().unwrap().contains(pair), "{failure:#}");
        let reason = failure["reason"].as_str().unwrap();
        assert!(reason.contains("there is no RDMA device"), "{reason}");
        assert!(failure["advice"].as_str().unwrap().contains("rdma link add"), "{failure:#}");
    }
    assert!(run.out.contains("rdma.send_lat/n2:n1/rc (n2)"), "{}", run.out);
    let said = run.err.matches("there is no RDMA device").count();
    assert!(said <= failures.len() + 1, "once on its host, and once for the run: {}", run.err);
}

#[test]
fn optional_rdma_cases_are_omitted_by_name() {
    if has_device("optional_rdma_cases_are_omitted_by_name") {
        return;
    }
    let world = World::new();
    world.write(
        "mine.toml",
        "name = \"mine\"\nbudget = \"1s\"\n[[measure]]\nbenchmark = \"memory.latency\"\n\
         from = \"4KiB\"\nto = \"4KiB\"\n[[measure]]\nbenchmark = \"rdma.send_lat\"\n\
         from = \"2B\"\noptional = true\n",
    );
    let words = ["run", "./mine.toml", "--hosts", "n1,n2", "--via", "env NAME={host}"];
    world.assay(&[&words[..], &["--matrix", "ring"]].concat()).succeeded();
    let shown = world.assay(&["show"]).succeeded().out;
    assert!(shown.contains("no RDMA device was found"), "{shown}");
    let plan = world.json(&["run", "hb", "--dry-run", "--json"]);
    let omitted = plan["omitted"].as_array().unwrap().iter();
    let of_rdma = omitted.filter(|it| it["benchmark"].as_str().unwrap().starts_with("rdma."));
    let reasons: Vec<String> =
        of_rdma.map(|it| format!("{} {}", it["benchmark"], it["reason"])).collect();
    let expected = ["\"rdma.send_lat\" \"rdma-device\"", "\"rdma.write_bw\" \"rdma-device\""];
    assert_eq!(reasons, expected);
}

#[test]
fn suite_measures_to_named_host() {
    let plan = World::new().json(&["run", "rdma", "--to", "far", "--dry-run", "--json"]);
    assert_eq!(plan["cases"][0]["id"], "rdma.send_lat/far/rc");
}

#[test]
fn doctor_reports_missing_device() {
    if has_device("doctor_reports_missing_device") {
        return;
    }
    let world = World::new();
    let shown = world.assay(&["doctor", "rdma"]).succeeded().out;
    assert!(shown.contains("an RDMA device"), "the requested topic is shown: {shown}");
    let shown = world.assay(&["doctor", "memory"]).succeeded().out;
    assert!(shown.contains("`assay doctor memory --all`"), "{shown}");
    let shown = world.assay(&["doctor", "rdma", "--all"]).succeeded().out;
    assert!(shown.contains("rdma.link") && shown.contains("an RDMA device"), "{shown}");
    // RDMA also needs memory that may be locked.
    assert!(
        shown.contains("limits.locked-memory") && !shown.contains("limits.stack"),
        "{shown}"
    );
}

#[test]
fn missing_device_is_reported_with_remedy() {
    if has_device("missing_device_is_reported_with_remedy") {
        return;
    }
    let world = World::new();
    for words in [
        &["rdma", "send-lat", "127.0.0.1"][..],
        &["rdma", "read-bw"],
        &["rdma", "atomic-lat", "--loopback"],
    ] {
        let reported = world.assay(words).failed_with(4).err;
        assert!(reported.contains("there is no RDMA device on this machine"), "{reported}");
        assert!(reported.contains("rdma link add"), "{reported}");
        assert!(!reported.contains("waiting for"), "{reported}");
    }
    for more in [&[][..], &["--dry-run"], &["memory", "--dry-run"]] {
        let reported = world.assay(&[&["run", "rdma"], more].concat()).failed_with(4).err;
        assert!(reported.contains("there is no RDMA device on this machine"), "{reported}");
    }
    let listed = world.assay(&["list"]).succeeded().out;
    assert!(listed.contains("There are no runs yet"), "{listed}");
}

#[test]
fn accepts_perftest_options() {
    if has_device("accepts_perftest_options") {
        return;
    }
    let world = World::new();
    for words in [
        &[
            "rdma",
            "send-lat",
            "-F",
            "-H",
            "-U",
            "-S",
            "3",
            "-u",
            "18",
            "-r",
            "64",
            "-c",
            "ud",
            "--inline_size=0",
        ][..],
        &[
            "rdma",
            "write-bw",
            "-F",
            "-N",
            "--report_gbits",
            "-Q",
            "1",
            "--perform_warm_up",
            "-s",
            "64K",
        ],
        &["rdma", "read-lat", "-o", "4", "--tclass", "106", "--report-histogrm"],
        &["rdma", "atomic-lat", "-A", "FETCH_AND_ADD", "--CPU-freq"],
        &["rdma", "atomic-bw", "-A", "FETCH_AND_ADD", "-b", "-q", "3", "-o", "4"],
    ] {
        let host = [words, &["127.0.0.1"]].concat();
        let reported = world.assay(&host).failed_with(4).err;
        assert!(reported.contains("there is no RDMA device on this machine"), "{reported}");
    }
}

#[test]
fn rejects_impossible_options_with_reason() {
    let world = World::new();
    for (words, expected) in [
        (
            &["rdma", "write-lat", "-c", "UD"][..],
            "error: `assay rdma write-lat` does not support -c UD",
        ),
        (&["rdma", "atomic-lat", "-a"], "error: `assay rdma atomic-lat` does not support -a\n"),
        (&["rdma", "write-lat", "-b"], "error: `assay rdma write-lat` does not support -b\n"),
        (&["rdma", "send-lat", "--report_gbits"], "does not support --report_gbits\n"),
        (&["rdma", "send-lat", "-D", "121"], "does not support a -D above 120\n"),
        (&["rdma", "send-bw", "-c", "UD", "-b"], "error: -b cannot be used with -c UD\n"),
        (&["rdma", "send-lat", "-D", "2", "-f", "3"], "error: -f 3 cannot be used with -D 2\n"),
        (&["rdma", "read-lat", "-D", "10", "-U"], "error: -U cannot be used with -D\n"),
        (&["rdma", "send-lat", "host:18515"], "`host -p 18515`"),
        (&["rdma", "send-lat", "-p", "0"], "expected an integer from 1 to 65535, found 0"),
        (&["rdma", "send-lat", "-x", "256"], "expected an integer from 0 to 255, found 256"),
        (&["rdma", "write-lat", "-c", "UD"], "UD supports messages only"),
        (&["rdma", "atomic-lat", "-s", "16"], "atomic operations have 8 bytes"),
        (&["rdma", "send-lat", "-t", "16"], "a latency test has one operation in flight"),
        (&["rdma", "read-lat", "-q", "2"], "a latency test has one operation in flight"),
        (&["rdma", "write-lat", "-b"], "a latency test has one operation in flight"),
        (&["rdma", "send-bw", "-c", "UD", "-b"], "counted at the receiver"),
        (&["rdma", "send-bw", "-q", "0"], "16384"),
        (&["rdma", "send-lat", "-m", "1000"], "256, 512, 1024, 2048 or 4096"),
        (&["rdma", "send-lat", "-a", "-s", "2"], "cannot be used with"),
        (&["rdma", "send-lat", "-i", "0", "127.0.0.1"], "from 1 to 255"),
        (&["rdma", "send-lat", "-s", "2G"], "like 64K"),
        (&["rdma", "send-bw", "-c", "UC"], "the sender does not notice losses"),
        (&["rdma", "send-bw", "-c", "DC"], "only some devices support it; use RC or UD"),
        (&["rdma", "atomic-lat", "-A", "CMP_AND_SWAP"], "only additions are supported"),
        (&["rdma", "atomic-bw", "-s", "16"], "atomic operations have 8 bytes"),
        (&["rdma", "atomic-bw", "--perform_warm_up"], "additions are compared"),
        (&["rdma", "send-lat", "-A", "FETCH_AND_ADD"], "this test has no atomic operations"),
        (&["rdma", "send-lat", "-N"], "has no rate"),
        (&["rdma", "send-lat", "-Q", "1"], "has no rate"),
        (&["rdma", "send-bw", "-U"], "no times of single messages"),
        (&["rdma", "send-bw", "-o", "4"], "-o limits only reads and atomic operations"),
        (&["rdma", "write-bw", "-r", "4"], "only messages need posted receives"),
        (&["rdma", "read-bw", "-I", "4"], "send no data that could be inlined"),
        (&["rdma", "send-bw", "--perform_warm_up"], "write-bw and read-bw"),
        (&["rdma", "send-lat", "-S", "16"], "from 0 to 15"),
        // perftest's own options, by their names.
        (&["rdma", "send-bw", "--run_infinitely"], "use --forever at the far end"),
        (&["rdma", "send-bw", "-R"], "not by the RDMA connection manager"),
        (&["rdma", "send-lat", "-C"], "does not support -C"),
        (&["rdma", "send-bw", "-D", "4", "-f", "2"], "more than twice -f"),
        (&["rdma", "send-bw", "--duration=10", "-n", "5"], "cannot be used with"),
        (&["rdma", "send-bw", "-D", "10", "-a"], "cannot be used with"),
        (&["rdma", "send-lat", "-D", "121"], "use at most -D 120 with latency tests"),
        (&["rdma", "send-bw", "-f", "1"], "--duration <SECONDS>"),
        (&["rdma", "read-lat", "-D", "10", "-U"], "too many results to list"),
        (&["rdma", "read-bw", "-D", "10", "--perform_warm_up"], "-f SECONDS"),
        (&["rdma", "send-bw", "-e"], "both ends spin"),
        (&["rdma", "send-bw", "-l", "16"], "posted one by one"),
        (&["rdma", "send-bw", "--use_cuda=0"], "never in that of an accelerator"),
        (&["rdma", "send-bw", "-W", "counters/x"], "assay doctor rdma"),
    ] {
        let reported = world.assay(words).failed_with(2).err;
        assert!(reported.contains(expected), "{words:?}: {reported}");
    }
}

/// Reports show the figures of perftest's table under its own labels. A malformed table is rejected
/// with the line, and nothing is stored.
#[test]
fn imports_perftest_tables_and_rejects_malformed_ones() {
    let world = World::new();
    let table = include_str!("../../../assay-adapters/tests/golden/perftest/ib_send_lat.txt");
    world.write("false.txt", &table.replace("t_typical[usec]", "t_typical[nsec]"));
    let reported = world.assay(&["import", "false.txt"]).failed_with(4).err;
    assert!(reported.contains("unknown column \"t_typical[nsec]\""), "{reported}");
    assert!(reported.contains("false.txt:21"), "{reported}");
    let listed = world.assay(&["list"]).succeeded().out;
    assert!(listed.contains("There are no runs yet"), "{listed}");
    world.write("right.txt", table);
    world.assay(&["import", "right.txt"]).succeeded();
    let shown = world.assay(&["show", "--format", "markdown"]).succeeded().out;
    assert!(shown.contains("By perftest's rules"), "{shown}");
    let row =
        "| 2 | 1000 | 15.07 | 16838.93 | 28.82 | 636.95 | 1987.32 | 11892.80 | 16838.93 |";
    assert!(shown.replace('\u{a0}', " ").contains(row), "{shown}");
    // An inconsistent row of latencies is imported with a warning; an inconsistent table of rates
    // is rejected at its line.
    world.write("edited.txt", &table.replace("636.95", "10.95 "));
    let imported = world.assay(&["import", "edited.txt"]).succeeded().out;
    let law = "edited.txt:22: min ≤ mean does not hold";
    assert!(imported.contains(law), "{imported}");
    let rates = include_str!("../../../assay-adapters/tests/golden/perftest/ib_send_bw.txt");
    world.write("rates.txt", &rates.replace("9.21  ", "96.60 "));
    let reported = world.assay(&["import", "rates.txt"]).failed_with(4).err;
    assert!(reported.contains("rates.txt:3") && reported.contains("96.60"), "{reported}");
    let table = world.assay(&["show", "--as", "perftest"]).succeeded().out;
    assert!(table.contains("Send Latency Test"), "{table}");
    let refused = world.assay(&["show", "--as", "osu"]).failed_with(2).err;
    assert!(refused.contains("it was imported from edited.txt"), "{refused}");
}
