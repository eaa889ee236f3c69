//! Official tools, really run: results next to assay's, and their raw output kept.

use crate::network::is_installed;
use crate::program::{World, files_below, results};

#[test]
fn likwid_bench_can_measure_stream() {
    if !is_installed("likwid-bench", "likwid_bench_can_measure_stream") {
        return;
    }
    let world = World::new();
    let document = world.json(&[
        "stream",
        "--by",
        "assay,likwid-bench",
        "--bytes",
        "4MiB",
        "--threads",
        "1",
        "--budget",
        "shortest",
        "--json",
    ]);
    for metric in ["copy", "triad", "read", "write"] {
        let found = results(&document, "memory.stream", metric);
        let tools: Vec<_> = found.iter().map(|result| result["tool"]["name"].clone()).collect();
        assert!(tools.contains(&"likwid-bench".into()), "{metric}: {tools:?}");
        assert!(tools.contains(&"assay".into()), "{metric}: {tools:?}");
    }
    let raw = files_below(&world.path("assay/raw"));
    let kept = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path).is_ok_and(|text| text.contains("MByte/s"))
    };
    assert!(raw.iter().any(kept), "the tool's raw output is stored");
}

#[test]
fn hpcc_can_measure_linpack_and_stream() {
    if !is_installed("hpcc", "hpcc_can_measure_linpack_and_stream")
        || !is_installed("mpirun", "hpcc_can_measure_linpack_and_stream")
    {
        return;
    }
    let world = World::new();
    let linpack = world
        .json(&["linpack", "--n", "600", "--by", "hpcc", "--budget", "shortest", "--json"]);
    let found = results(&linpack, "compute.linpack", "rmax");
    assert_eq!(found.len(), 1, "{linpack}");
    assert_eq!(found[0]["tool"]["name"], "hpcc");
    assert!(found[0]["tool"]["version"].is_string(), "{}", found[0]);
    assert_eq!(found[0]["parameters"]["n"], 600);
    // A waiting rank occupies its CPU, so that a single rank finishes sooner on a busy machine.
    let alone = ["--threads", "1", "--budget", "shortest", "--json"];
    let stream =
        world.json(&[&["stream", "--by", "hpcc", "--bytes", "1MiB"], &alone[..]].concat());
    for metric in ["copy", "scale", "add", "triad"] {
        assert_eq!(results(&stream, "memory.stream", metric).len(), 1, "{metric}");
    }
}

#[test]
fn malformed_tool_output_fails_and_is_kept() {
    let world = World::new();
    let script = world.write("stream", "#!/bin/sh\necho Copy: 12345.6 0.1 0.1 0.1\n");
    let mut permissions = std::fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&script, permissions).unwrap();
    let given = format!("stream={}", script.to_str().unwrap());
    let outcome = world
        .assay(&[
            "stream", "--by", "stream", "--tool", &given, "--budget", "shortest", "--json",
        ])
        .failed_with(4);
    assert!(outcome.err.contains("memory.stream/node/stream failed"), "{}", outcome.err);
    let document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(document["run"]["status"], "failed");
    assert_eq!(document["results"].as_array().unwrap().len(), 0);
    assert_eq!(document["failures"].as_array().unwrap().len(), 1);
    assert!(!files_below(&world.path("assay/raw")).is_empty(), "its output is kept");
}

#[test]
fn linpack_can_use_blas_library() {
    let world = World::new();
    let arguments =
        ["linpack", "--n", "300", "--blas", "openblas", "--budget", "shortest", "--json"];
    let outcome = world.assay(&arguments);
    if outcome.err.contains("cannot open a BLAS library") {
        eprintln!("SKIPPED linpack_can_use_blas_library: no OpenBLAS here");
        return;
    }
    let document: serde_json::Value = serde_json::from_str(&outcome.succeeded().out).unwrap();
    let found = results(&document, "compute.linpack", "rmax");
    assert!(found[0]["parameters"]["blas"].as_str().unwrap().starts_with("OpenBLAS 0."));
    assert!(found[0]["parameters"]["residual"].as_f64().unwrap() < 16.0);
}

/// Creates a script in place of a tool, which prints or writes recorded output of the real one.
fn fake_tool(world: &World, name: &str, body: &str) -> String {
    let script = world.write(name, &format!("#!/bin/sh\n{body}"));
    let mut permissions = std::fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&script, permissions).unwrap();
    format!("{name}={}", script.to_str().unwrap())
}

fn golden_path(name: &str) -> String {
    let adapters = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-adapters");
    let path = adapters.join("tests/golden").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn ior_and_vdbench_can_measure_storage() {
    let world = World::new();
    // Changes the recorded output from four tasks to one.
    let reported = golden_path("ior/4.1.0-read.out");
    let ior = format!("sed 's/     0      4   4/     0      1   1/' {reported}\n");
    let ior = fake_tool(&world, "ior", &ior);
    let flat = golden_path("vdbench/5.04.06-mix.out");
    let vdbench = format!(
        "cp assay.vdbench {}\nmkdir output\ncp {flat} output/flatfile.html\n",
        world.path("asked").display()
    );
    let vdbench = fake_tool(&world, "vdbench", &vdbench);
    let document = world.json(&[
        "storage",
        "read",
        "file",
        "--random",
        "--bs",
        "8k",
        "--depth",
        "1",
        "--size",
        "1MiB",
        "--for",
        "300ms",
        "--buffered",
        "--by",
        "assay,ior,vdbench",
        "--tool",
        &ior,
        "--tool",
        &vdbench,
        "--json",
    ]);
    let by = |metric| {
        let found = results(&document, "storage", metric);
        found.iter().map(|it| it["tool"]["name"].as_str().unwrap()).collect::<Vec<_>>()
    };
    for metric in ["rate", "bandwidth"] {
        assert_eq!(by(metric), ["assay", "ior", "vdbench"], "{metric}");
    }
    // The latency of four tasks does not fit one I/O in flight.
    assert_eq!(by("latency"), ["assay", "vdbench"]);
    let rates = results(&document, "storage", "rate");
    assert_eq!(rates[1]["max"], 36_759.0);
    assert_eq!(rates[1]["tool"]["version"], "4.1.0+dev");
    assert_eq!(rates[2]["n"], 3);
    let asked = std::fs::read_to_string(world.path("asked")).unwrap();
    let file = world.path("file").canonicalize().unwrap_or_else(|_| world.path("file"));
    let lun = format!("lun=\"{}\",size=1048576,threads=1", file.display());
    assert!(asked.contains(&lun), "{asked}");
    assert!(!world.path("file").exists(), "assay created it for all three, and removed it");
}

#[test]
fn missing_tool_is_reported_with_remedy() {
    let world = World::new();
    for name in ["ior", "vdbench"] {
        let mut command = world.command(&["storage", "read", "file", "--by", name]);
        let output = command.env("PATH", "/nonexistent").output().unwrap();
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{reported}");
        assert!(reported.contains(&format!("--tool {name}=PATH")), "{reported}");
    }
}
