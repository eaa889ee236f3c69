//! Errors for wrong input: each states the cause and the remedy and has the right exit code.

use expect_test::{expect, expect_file};

use crate::program::World;

/// Compares only the beginning of the error, because the rest depends on the machine.
#[track_caller]
fn check_error_prefix(arguments: &[&str], code: i32, expected: &str) {
    let outcome = World::new().assay(arguments).failed_with(code);
    assert!(outcome.err.starts_with(expected), "{arguments:?}\n{}", outcome.err);
}

#[test]
fn wrong_usage_exits_with_2() {
    let transcript = expect_file!["bad_input/usage.txt"];
    let text = transcript.data();
    let commands = text.lines().filter_map(|line| line.strip_prefix("$ assay "));
    assert_eq!(commands.clone().count(), 14);
    let found = commands.map(|words| {
        let arguments: Vec<&str> = words.split(' ').collect();
        let outcome = World::new().assay(&arguments).failed_with(2);
        assert_eq!(outcome.out, "", "nothing may be on standard output");
        format!("$ assay {words}\n{}", outcome.err)
    });
    transcript.assert_eq(&found.collect::<String>());
    check_error_prefix(
        &["stream", "--placement", "numa:99"],
        2,
        "error: there is no NUMA node 99",
    );
    check_error_prefix(
        &["stream", "--threads", "100000"],
        2,
        "error: 100000 threads do not fit node",
    );
    check_error_prefix(
        &["stream", "--bytes", "8PiB"],
        2,
        "error: STREAM with 3 arrays of 8 PiB needs 24.0 PiB, but only ",
    );
    check_error_prefix(
        &["linpack", "--n", "100000000"],
        2,
        "error: a system of N = 100000000 needs 71.1 PiB, but only ",
    );
    check_error_prefix(
        &["run", "--by", "nobody"],
        2,
        "error: `nobody` was not found on this machine; found: assay",
    );
    check_error_prefix(&["show", "latest"], 2, "error: there are no runs yet");
    check_error_prefix(&["list", "--store", "nowhere"], 2, "error: there are no runs yet");
    check_error_prefix(&["report", "2020"], 2, "error: there are no runs yet");
}

/// Malformed values of every kind are rejected without error texts of Rust's standard library.
#[test]
fn explains_malformed_arguments() {
    for (words, expected) in [
        ("net request-response --rate abc", "`abc` does not start with a number"),
        (
            "net throughput --rate 100M",
            "`100M` has no unit; write it like `100Mbit/s` or `100MiB/s`",
        ),
        ("net throughput --streams x", "expected an integer, like 8"),
        (
            "net throughput --streams 99999999999",
            "expected an integer from 0 to 4294967295, found 99999999999",
        ),
        ("stream --threads -1", "expected an integer from 0 to 4294967295, found -1"),
        (
            "run mpi --hostfile nope --dry-run",
            "cannot read nope\n  why: No such file or directory\n",
        ),
        ("run nope/", "there is no suite `nope/`"),
        (
            "run ./nope.toml",
            "there is no suite `./nope.toml`\n  why: the file does not exist\n",
        ),
        ("run quick --budget 0", "expected a time above zero, at most a year"),
        ("run quick --budget 1e99", "expected a time above zero, at most a year"),
        (
            "report latest --lang fr",
            "error: `assay report` does not support --lang\n  help: set the language with `--locale fr`\n",
        ),
        (
            "show --language fr",
            "error: `assay show` does not support --language\n  help: set the language with `--locale fr`\n",
        ),
        (
            "storage read . --rate 400MiB/s --bs 4k,8k",
            "a bandwidth as --rate needs a single size of I/O\n",
        ),
        (
            "run --suite quick",
            "error: `assay run` does not support --suite\n  help: name suites without an option: `assay run quick`\n",
        ),
        (
            "run compute --blas x",
            "`assay run` does not support --blas\n  help: it is an option of `assay linpack`\n",
        ),
        (
            "compute",
            "there is no command `compute`\n  help: it is a suite: `assay run compute`\n",
        ),
        ("hb --budget 1s", "it is a suite: `assay run hb`"),
        (
            "help compute",
            "it is a suite: `assay run compute --dry-run` shows what it measures\n",
        ),
        (
            "run mpi --sizes 4KiB,1MiB --dry-run",
            "a list of sizes is not supported; write a range like 4KiB:1MiB\n",
        ),
        (
            "net vm2",
            "`assay net` measures an operation, and vm2 is none\n  help: put the operation first: `assay net throughput vm2`\n",
        ),
        ("net throughputt vm2", "a similar subcommand exists: 'throughput'"),
        ("net ping vm2", "help: `assay net latency HOST` measures round trips\n"),
        ("disk", "help: `assay storage read DIR` measures one operation"),
        // Options of commands below others have other names, too.
        (
            "storage read . --runtime 10s",
            "`assay storage read` does not support --runtime\n  help: use --for; `assay help storage read`",
        ),
        (
            "storage read . --numjobs 4",
            "use --threads; `assay help storage read` describes it\n",
        ),
        (
            "plan littles-law --iops 3500",
            "use --rate; `assay help plan littles-law` describes it\n",
        ),
        ("bench", "there is no command `bench`\n  help: `assay run` measures this machine\n"),
        ("ls", "`assay list` lists the stored runs\n"),
        ("latency", "`assay run memory` measures the latency of memory"),
        // An option by another of its names, in the spelling of the command.
        ("run quick --duration 60s", "use --budget; `assay help run` describes it\n"),
        ("stream --for 10s", "use --budget; `assay help stream` describes it\n"),
        ("run --limits x.toml", "use --expect; `assay help run` describes it\n"),
        ("compare a b --gate x.toml", "use --expect; `assay help compare` describes it\n"),
        ("compare a b --threshold 5%", "use --margin; `assay help compare` describes it\n"),
        ("show x --out x.html", "use --output; `assay help show` describes it\n"),
        ("history latest", "there is no metric `latest`\n  help: it names runs: "),
        // Other tools give these options another meaning.
        ("prune --keep 3", "error: unexpected argument '--keep' found\n\nUsage"),
        ("report --theme dark", "error: unexpected argument '--theme' found\n\nUsage"),
        ("list -o -", "leave out -o to write to standard output\n"),
        ("run quick --json -o -", "leave out -o to write to standard output\n"),
        (
            "import /dev/null",
            "/dev/null is not a regular file\n  \
             why: a pipe or a device has neither a size nor a modification time\n",
        ),
        (
            "run quick --interval 0",
            "error: unexpected argument '--interval' found\n  help: `assay help run` lists",
        ),
        ("run mpi --mpi lam --dry-run", "folder lam does not exist\n"),
        ("stream --label latest", "`latest` is reserved for runs and cannot be a label"),
        ("linpack --memory 1", "write `1%` or `100%`"),
        ("plan littles-law --rate 1e99 --latency 1ms", "1e99 I/O per second is implausible"),
        (
            "plan littles-law --threads 4 --latency 1e-99s",
            "error: 4e99 I/O per second is implausible\n",
        ),
        ("plan littles-law --rate 3500 --latency 80", "write it like `80ms`"),
        ("plan anf --quota 10TiB --level ultra --round-trip 80", "write it like `80ms`"),
        ("rnu", "did you mean `assay run`?"),
        ("net latency host:99", "give the port as an option: `host -p 99`"),
        ("net latency host:99999", "give the port as an option: `host -p PORT`"),
        ("run --to host:99", "expected a host without a port; set the port in a suite"),
        ("iperf3 -c host -B nowhere", "expected an address, like 192.0.2.1 or ::1"),
        ("iperf3 -c host -i x", "expected a number, like 1.5"),
        (
            "run --budget -5s",
            "invalid value '-5s' for '--budget <TIME>': `-5s` is negative; write it like `60s`",
        ),
        (
            "storage read . --rate 1e99 --dry-run",
            "the rate is 1e99 per second, but must be at most 1e9",
        ),
        (
            "storage files . --rate 1e10 --dry-run",
            "the rate is 1e10 per second, but must be at most 1e9",
        ),
        ("net connections --message-size 0", "the size of a message must be at least 1 B"),
        ("compare one,two", "separate runs by blanks, not by commas: one two"),
        ("report one,two", "separate runs by blanks, not by commas: one two"),
        ("storage files . --files 0", "the number of files must be at least 1"),
        ("storage files . --width 0", "(the width) must be at least 1"),
        ("storage files . --threads 0", "the number of threads must be at least 1"),
        (
            "storage read . --threads 8 --depth 4",
            "a depth of 4 is too small for 8 threads, each of which needs an I/O in flight\n  \
             help: request a depth of 8 or more, or fewer threads",
        ),
        ("storage read . --find-rate p99<=1e99s", "more than zero and at most an hour"),
        (
            "plan anf --level ultra --throughput 4500MB",
            "`4500MB` is a size; write a rate like `4500MB/s`",
        ),
        (
            "plan anf --level ultra --throughput 1e99MiB/s",
            "expected a rate of 1 bit/s to 100 Tbit/s",
        ),
        ("plan anf --level ultra --quota 1e99TiB", "error: 1e111 bytes is implausible\n"),
        (
            "run storage-volume --provisioned 4500MiB --target .",
            "write a rate like `4500MiB/s`",
        ),
        ("storage read --rate -100", "`-100` is negative; write it like `"),
        ("rdma send-lat -n -5", "invalid value '-5' for '--iters <N>'"),
        ("run --budget 1e99s", "expected a time above zero, at most a year"),
        ("linpack --n -5", "invalid value '-5' for '--n <N>'"),
        ("storage mix /tmp --read-share 100", "expected a share between 0% and 100%"),
        (
            "net latency --for 5s --budget 9s",
            "'--for <TIME>' cannot be used with '--budget <TIME>'",
        ),
        ("storage read /tmp --for 5s --budget 9s", "cannot be used with '--budget <TIME>'"),
        ("stream --label a,b", "--label needs a single name"),
        ("help methods compute", "`methods` is a topic, not a command"),
        ("man methods", "print it with `assay help methods`"),
        ("stream --dry-run --format html", "a plan has only the formats text and json"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        check_error_contains(&words, expected);
    }
}

fn check_error_contains(words: &[&str], expected: &str) {
    let outcome = World::new().assay(words).failed_with(2);
    assert!(outcome.err.contains(expected), "{words:?}\n{}", outcome.err);
    for rust in
        ["invalid digit", "float literal", "invalid IP", "target type", "os error", "..="]
    {
        assert!(!outcome.err.contains(rust), "{words:?}\n{}", outcome.err);
    }
}

#[test]
fn accepts_customary_units() {
    let world = World::new();
    for words in [
        "net throughput --rate 10Gbps --dry-run",
        "net throughput --rate 10Gb/s --dry-run",
        "storage read --engine null --rate 5000iops --bs 4kb --dry-run",
        "storage mix --engine null --read-share 80 --dry-run",
        "run memory --budget 1d --dry-run",
    ] {
        world.assay(&words.split(' ').collect::<Vec<_>>()).succeeded();
    }
}

#[test]
fn malformed_suite_exits_with_3() {
    let world = World::new();
    for (text, expected) in [
        (
            "name = ",
            expect![[r#"
                error: suite mine.toml: not TOML: string values must be quoted, expected literal string
                   ╭─[mine.toml:1:8]
                 1 │ name = 
                   ╰────
                  help: see `assay help suites` for an example
            "#]],
        ),
        (
            "name = \"x\"\n[[measure]]\nbenchmark = \"memory.stream\"\nplacment = \"node\"\n",
            expect![[r#"
                error: suite mine.toml: unknown key `placment`
                   ╭─[mine.toml:4:1]
                 3 │ benchmark = "memory.stream"
                 4 │ placment = "node"
                   · ────┬───
                   ·     ╰── here
                   ╰────
                  help: did you mean `placement`?
            "#]],
        ),
        (
            "name = \"x\"\n[[measure]]\nbenchmark = \"memory.stream\"\narray-size = \"5s\"\n",
            expect![[r#"
                error: suite mine.toml: `s` in `5s` is not a unit of a size; write it like `64MiB`
                   ╭─[mine.toml:4:14]
                 3 │ benchmark = "memory.stream"
                 4 │ array-size = "5s"
                   ·              ──┬─
                   ·                ╰── here
                   ╰────
            "#]],
        ),
        (
            "name = \"x\"\n[[measure]]\nbenchmark = \"compute.linpack\"\nn = 0\n",
            expect![[r#"
                error: suite mine.toml: expected a whole number of at least 1
                   ╭─[mine.toml:4:5]
                 3 │ benchmark = "compute.linpack"
                 4 │ n = 0
                   ·     ┬
                   ·     ╰── here
                   ╰────
            "#]],
        ),
        (
            "name = \"x\"\n[[measure]]\nbenchmark = \"memory.stream\"\nby = \"nobody\"\n",
            expect![[r#"
                error: suite x: `nobody` was not found on this machine; found: assay
                   ╭─[mine.toml:4:1]
                 3 │ benchmark = "memory.stream"
                 4 │ by = "nobody"
                   · ──────┬──────
                   ·       ╰── here
                   ╰────
                  help: expected one of: hpcc, xhpl, stream, likwid-bench, osu, imb, fio, ior, vdbench, iperf3, qperf, sockperf, ping, ib_send_lat, ib_send_bw, ib_write_lat, ib_write_bw, ib_read_lat, ib_read_bw, ib_atomic_lat, ib_atomic_bw, assay, all
            "#]],
        ),
    ] {
        world.write("mine.toml", text);
        let [nothing, _] = world.with_and_without_tools();
        let words = ["run", "mine.toml", "--dry-run"];
        let outcome = world.assay_with(&nothing, &words).failed_with(3);
        expected.assert_eq(&outcome.err);
    }
}

/// A named tool that measures none of the cases is rejected, whether it is installed or not.
#[test]
fn rejects_tool_that_measures_no_case() {
    for words in
        ["stream --by vdbench", "linpack --by assay,vdbench", "linpack --by assay,ping"]
    {
        let tool = words.rsplit([',', ' ']).next().unwrap();
        let words: Vec<&str> = words.split(' ').chain(["--dry-run"]).collect();
        let world = World::new();
        for path in world.with_and_without_tools() {
            let err = world.assay_with(&path, &words).failed_with(2).err;
            let suite = words[0];
            let said = format!("{tool} cannot measure anything in suite {suite}");
            assert!(err.contains(&said), "{path:?} {words:?}\n{err}");
            let advice = format!("help: leave out {tool}, or name a suite");
            assert!(err.contains(&advice), "{path:?} {words:?}\n{err}");
            assert!(!err.contains("apt install"), "{path:?} {words:?}\n{err}");
        }
    }
    let world = World::new();
    let all = ["storage", "read", "--engine", "null", "--by", "all", "--dry-run"];
    world.assay(&all).succeeded();
}

#[test]
fn unusable_store_exits_with_4() {
    let world = World::new();
    let file = world.write("a-file", "not a folder");
    let file = file.to_str().unwrap();
    for arguments in [
        &["list", "--store", file][..],
        &["show", "latest", "--store", file],
        &["stream", "--bytes", "1MiB", "--budget", "shortest", "--store", file],
        &["stream", "--bytes", "1MiB", "--budget", "shortest", "--store", "/proc/nowhere"],
    ] {
        let outcome = world.assay(arguments).failed_with(4);
        assert!(outcome.err.contains("cannot use the store"), "{}", outcome.err);
        assert!(outcome.err.contains("--store"), "no remedy in: {}", outcome.err);
    }
}

#[test]
fn unusable_blas_library_exits_with_4() {
    let world = World::new();
    let text = world.write("libnotblas.so", "not a library");
    let outcome = |library: &str| {
        world
            .assay(&["linpack", "--n", "64", "--budget", "shortest", "--blas", library])
            .failed_with(4)
            .err
    };
    let missing = outcome("no-such-library");
    assert!(missing.contains("no-such-library"), "{missing}");
    let wrong = outcome(text.to_str().unwrap());
    assert!(wrong.contains("libnotblas.so"), "{wrong}");
    // The C library is a library, but it has no matrix multiplication.
    let other = outcome("libc.so.6");
    assert!(other.contains("dgemm"), "{other}");
}

#[test]
fn report_in_missing_folder_exits_with_2_and_leaves_no_file() {
    let world = World::new();
    world.assay(&["stream", "--bytes", "1MiB", "--budget", "shortest"]).succeeded();
    let target = world.path("missing/report.html");
    let target = target.to_str().unwrap();
    let outcome = world.assay(&["report", "latest", "--format", "html", "--output", target]);
    let err = outcome.failed_with(2).err;
    assert!(err.contains(&format!("cannot write {target}")), "{err}");
    assert!(!world.path("missing").exists());
}

/// A case that this machine cannot run is reported with its line before anything is measured.
#[test]
fn dry_run_reports_line_of_impossible_case() {
    let world = World::new();
    let storage = "storage\"\noperation = \"read\"\nsize = \"1MiB\"\n";
    for (measure, more, code, line) in [
        ("memory.stream\"\n", "placement = \"numa:99\"", 3, "mine.toml:5:1"),
        ("memory.stream\"\n", "threads = 99999", 3, "mine.toml:5:1"),
        ("memory.latency\"\nto = \"1MiB\"\n", "from = \"1\"", 3, "mine.toml:6:1"),
        ("memory.stream\"\n", "by = \"nobody\"", 3, "mine.toml:5:1"),
        ("compute.linpack\"\nn = 64\n", "blas = \"no-such-library\"", 4, "mine.toml:6:1"),
        (storage, "bs = \"1000B\"\npath = \".\"", 4, "mine.toml:7:1"),
        (storage, "path = \"nowhere/file\"", 2, "mine.toml:7:1"),
        (storage, "", 3, "mine.toml:3:1"),
    ] {
        let measure = format!("{measure}{more}");
        let text = format!("name = \"x\"\n\n[[measure]]\nbenchmark = \"{measure}\n");
        world.write("mine.toml", &text);
        let words = ["run", "mine.toml", "--dry-run", "--target-on-root"];
        let words = if measure.contains("storage") { &words[..] } else { &words[..3] };
        let err = world.assay(words).failed_with(code).err;
        assert!(err.contains(line), "{measure}: {line}\n{err}");
        let optional =
            format!("{text}optional = true\n[[measure]]\nbenchmark = \"memory.latency\"\n");
        world.write("mine.toml", &optional);
        let is_of_this_machine = !measure.contains("path") && !measure.contains("from");
        if is_of_this_machine {
            let out = world.assay(words).succeeded().out;
            assert!(out.contains("Left out: "), "{measure}\n{out}");
        }
    }
}

/// MPI options that no test of the suite uses are rejected.
#[test]
fn rejects_mpi_options_that_no_test_uses() {
    let world = World::new();
    for (test, option, why) in [
        ("mpi.latency", ["--ranks", "4"], "every test uses two ranks"),
        ("mpi.barrier", ["--sizes", "0:8"], "no message has a size"),
    ] {
        world.write(
            "mine.toml",
            &format!("name = \"x\"\n[[measure]]\nbenchmark = \"{test}\"\n"),
        );
        let words = ["run", "mine.toml", "--dry-run", option[0], option[1]];
        let err = world.assay(&words).failed_with(2).err;
        assert!(err.contains(why), "{err}");
    }
}

/// The Rust runtime opens /dev/null in place of a closed descriptor, so every write seems to
/// succeed.
#[test]
fn closed_standard_output_exits_with_4() {
    let world = World::new();
    for line in
        ["list", "completions bash", "--help", "--version", "help methods", "run --dry-run"]
    {
        let program = env!("CARGO_BIN_EXE_assay");
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", &format!("exec '{program}' {line} >&-")]);
        let output = shell.env("XDG_DATA_HOME", world.path("")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{line}: {said}");
        assert!(said.contains("cannot write to standard output"), "{line}: {said}");
    }
    // Output that is discarded on purpose is no failure.
    let output =
        world.command(&["help", "methods"]).stdout(std::process::Stdio::null()).output();
    assert!(output.unwrap().status.success());
}

/// Fills a file system of 64 KiB; no incomplete output file may be left on it.
#[test]
fn full_disk_exits_with_4() {
    let world = World::new();
    world.assay(&["stream", "--array-size", "1MiB", "--budget", "shortest"]).succeeded();
    let folder = world.path("full");
    std::fs::create_dir(&folder).unwrap();
    let program = env!("CARGO_BIN_EXE_assay");
    let script = format!(
        "mount -t tmpfs -o size=64k none full || exit 99; head -c 1M /dev/zero > full/fill 2>/dev/null; \
         for line in 'show --json' 'report --format csv' 'completions bash' --help; do \
         '{program}' $line > full/out 2> err; code=$?; [ $code = 4 ] || {{ echo \"$line: $code\"; exit 1; }}; \
         '{program}' $line -o full/file 2> /dev/null; [ ! -e full/file ] || {{ echo \"$line left a file\"; exit 1; }}; \
         done"
    );
    let mut unshare = std::process::Command::new("unshare");
    let unshare = unshare.args(["--mount", "--map-root-user", "sh", "-c", &script]);
    let unshare = unshare.current_dir(world.path("")).env("XDG_DATA_HOME", world.path(""));
    let Ok(output) = unshare.output() else {
        return eprintln!("SKIPPED full_disk_exits_with_4: there is no unshare");
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(99) || err.contains("unshare failed") {
        return eprintln!(
            "SKIPPED full_disk_exits_with_4: no file system can be mounted: {err}"
        );
    }
    assert!(output.status.success(), "{said}{err}");
}

#[test]
fn unwritable_standard_output_exits_with_4() {
    let world = World::new();
    world.write("job.fio", "[a]\nioengine=null\nsize=1m\nrw=read\n");
    world.assay(&["fio", "job.fio"]).succeeded();
    for line in [
        "list",
        "list --json",
        "show latest --json",
        "report latest --format csv",
        "completions bash",
        "man run",
        "help methods",
        "--help",
        "--version",
        "run --help",
        "run quick --dry-run",
        "plan littles-law --rate 1 --latency 1s",
        "fio job.fio --output-format=json",
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = world.command(&line.split_whitespace().collect::<Vec<_>>());
        let output = command.stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{line}: {said}");
        assert!(said.contains("cannot write to standard output"), "{line}: {said}");
    }
}

/// The budget limits the time, but the first repetition always runs.
#[test]
fn shortest_budget_still_measures() {
    let outcome =
        World::new().assay(&["stream", "--bytes", "1MiB", "--budget", "shortest", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&outcome.succeeded().out).unwrap();
    assert!(document["results"].as_array().is_some_and(|results| !results.is_empty()));
}

#[test]
fn rejects_endless_job_file() {
    for words in [
        ["vdbench", "-s", "-f", "/dev/zero"].as_slice(),
        &["fio", "--parse-only", "/dev/zero"],
        &["ior", "--dryRun", "-f", "/dev/zero"],
    ] {
        let outcome = World::new().assay(words).failed_with(2);
        assert!(
            outcome.err.contains("the file is larger than 128 MiB"),
            "{words:?}\n{}",
            outcome.err
        );
    }
}

/// A missing file is wrong usage for every command and option.
#[test]
fn missing_file_is_wrong_usage() {
    for words in [
        "import none",
        "lint none",
        "compare none.toml none.toml",
        "compare a b --expect none.toml",
        "references none.toml",
        "run ./none.toml",
        "run memory --expect none.toml",
        "run memory --hosts ./none",
        "run memory --hosts a,b --expect none.toml",
        "fio none.fio",
        "ior -f none",
        "vdbench -f none",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let outcome = World::new().assay(&words).failed_with(2);
        assert!(outcome.err.contains("none"), "{words:?}\n{}", outcome.err);
    }
    let world = World::new();
    world.write("file", "include=none\n");
    world.assay(&["vdbench", "-f", "file"]).failed_with(3);
    world.write("strange", "no result of any tool\n");
    world.assay(&["import", "none", "strange"]).failed_with(4);
}
