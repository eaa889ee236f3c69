//! Exports in the programs that they are made for: Prometheus, `InfluxDB`, pandas, polars, `DuckDB`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::export::filled_world;
use crate::network::free_port;
use crate::processes::{Background, send_signal, wait_until};
use crate::program::World;

fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

fn is_missing(program: &str, test: &str) -> bool {
    let is_missing = Command::new(program).arg("--help").output().is_err();
    if is_missing {
        eprintln!("SKIPPED {test}: {program} is not installed");
    }
    is_missing
}

#[test]
fn promtool_accepts_metrics() {
    if is_missing("promtool", "promtool_accepts_metrics") {
        return;
    }
    let world = filled_world();
    world.assay(&["export", "openmetrics", "-o", "all.txt"]).succeeded();
    let mut backfill = Command::new("promtool");
    backfill.args(["tsdb", "create-blocks-from", "openmetrics", "all.txt", "blocks"]);
    let (accepted, text) = run(backfill.current_dir(world.path(".")));
    assert!(accepted && text.contains("NUM SAMPLES"), "{text}");

    // The textfile collector reads the older format, without times.
    world.assay(&["export", "openmetrics", "--latest", "-o", "assay.prom"]).succeeded();
    let file = std::fs::File::open(world.path("assay.prom")).unwrap();
    let (accepted, text) =
        run(Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::from(file)));
    assert!(accepted && text.is_empty(), "{text}");
}

fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// The collector of the node exporter reads whole files only, without times, whatever else is in
/// its folder.
#[test]
fn node_exporter_reads_a_followed_file() {
    let exporter = "prometheus-node-exporter";
    if is_missing(exporter, "node_exporter_reads_a_followed_file") {
        return;
    }
    let world = World::new();
    let folder = world.path("collected");
    std::fs::create_dir(&folder).unwrap();
    let words = ["export", "openmetrics", "--latest", "--follow", "-o", "collected/assay.prom"];
    let mut following = Background::start(&mut world.command(&words));
    let port = free_port();
    let _exporter = Background::start(
        Command::new(exporter)
            .args(["--collector.disable-defaults", "--collector.textfile"])
            .arg(format!("--collector.textfile.directory={}", folder.display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}")),
    );
    world.write("stream.txt", crate::site::STREAM);
    for label in ["first", "second"] {
        world.assay(&["import", "--label", label, "stream.txt"]).succeeded();
        let shown = format!("label=\"{label}\"");
        let stored = world.json(&["show", label, "--json"]);
        let triad = &crate::program::results(&stored, "memory.stream", "triad")[0]["median"];
        wait_until("the run is not collected", || {
            let metrics = get(port, "/metrics").unwrap_or_default();
            assert!(!metrics.contains("\nnode_textfile_scrape_error 1\n"), "{metrics}");
            let collected = metrics.lines().find(|it| {
                it.starts_with("assay_memory_stream_triad_bytes_per_second{")
                    && it.contains(&shown)
            });
            let collected = collected.and_then(|it| it.rsplit(' ').next()?.parse::<f64>().ok());
            collected.is_some() && collected == triad.as_f64()
        });
    }
    let left = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(left, 1, "a draft remains");
    send_signal(following.0.id(), "INT");
    assert_eq!(following.0.wait().unwrap().code(), Some(0));
}

/// A file that cannot be written is named once, and tried until it can be.
#[test]
fn a_followed_file_survives_a_full_disk() {
    let world = crate::site::world_with_runs();
    let mut command = world.command(&["export", "csv", "--follow", "-o", "/dev/full"]);
    let mut following = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(following.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains("cannot write /dev/full"), "{line}");
    std::thread::sleep(Duration::from_secs(3));
    send_signal(following.id(), "INT");
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("cannot write"), "{rest}");
    assert_eq!(following.wait().unwrap().code(), Some(0));
}

/// Server that ends with the test.
struct InfluxServer {
    _process: Background,
    port: u16,
}

impl InfluxServer {
    fn start(world: &World) -> Self {
        let (port, rpc_port) = (free_port(), free_port());
        let folder = world.path("influx").display().to_string();
        let configuration = format!(
            "reporting-disabled = true\nbind-address = \"127.0.0.1:{rpc_port}\"\n\
             [meta]\ndir = \"{folder}/meta\"\n\
             [data]\ndir = \"{folder}/data\"\nwal-dir = \"{folder}/wal\"\n\
             [monitor]\nstore-enabled = false\n\
             [http]\nbind-address = \"127.0.0.1:{port}\"\nlog-enabled = false\n"
        );
        let file = world.write("influxdb.conf", &configuration);
        let mut command = Command::new("influxd");
        let _process = Background::start(command.arg("-config").arg(file));
        let server = Self { _process, port };
        wait_until("an answer of influxd", || server.request("GET /ping", "").is_some());
        server
    }

    /// Returns the answer to a request, with its head.
    fn request(&self, request: &str, body: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let head = format!(
            "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

#[test]
fn influxdb_stores_all_points() {
    if is_missing("influxd", "influxdb_stores_all_points") {
        return;
    }
    let world = filled_world();
    let points = world.assay(&["export", "influx"]).succeeded().out;
    let server = InfluxServer::start(&world);
    server.request("POST /query?q=CREATE+DATABASE+assay", "").unwrap();
    let written = server.request("POST /write?db=assay&precision=ns", &points).unwrap();
    assert!(written.starts_with("HTTP/1.1 204"), "{written}");
    let counted =
        server.request("GET /query?db=assay&q=SELECT+count(value)+FROM+assay", "").unwrap();
    let expected = format!(",{}]", points.lines().count());
    assert!(counted.contains(&expected), "{expected}: {counted}");
    let labels = "GET /query?db=assay&q=SHOW+TAG+VALUES+WITH+KEY+%3D+label";
    let labels = server.request(labels, "").unwrap();
    assert!(labels.contains(r#"=1+1,\"x\" \\u005c"#), "{labels}");
}

/// Returns Python of the environment that `cargo xtask test --all` creates.
fn find_python(test: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/frames/pandas/bin/python");
    if !python.is_file() {
        eprintln!("SKIPPED {test}: pandas and polars are not installed");
        return None;
    }
    Some(python)
}

fn python(world: &World, python: &Path) -> Command {
    let mut command = Command::new(python);
    command
        .current_dir(world.path("."))
        .env("ASSAY", env!("CARGO_BIN_EXE_assay"))
        .env("XDG_DATA_HOME", world.path("."))
        .env_remove("ASSAY_STORE")
        .env("PYTHONPATH", pypi_folder())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn pypi_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/pypi")
}

#[test]
fn frames_equal_show_value_by_value() {
    let Some(interpreter) = find_python("frames_equal_show_value_by_value") else { return };
    let world = filled_world();
    world.assay(&["export", "parquet", "-o", "tables"]).succeeded();
    world.assay(&["export", "csv", "-o", "results.csv"]).succeeded();
    let script = world.write("check.py", include_str!("export_readers.py"));
    let (passed, text) = run(python(&world, &interpreter).arg("-W").arg("error").arg(script));
    assert!(passed, "{text}");
}

#[test]
fn python_example_runs_and_the_package_is_typed() {
    let Some(interpreter) = find_python("python_example_runs_and_the_package_is_typed") else {
        return;
    };
    let world = filled_world();
    let (passed, text) =
        run(python(&world, &interpreter).arg(pypi_folder().join("example.py")));
    assert!(passed && text.contains("half_width") && text.contains("spread"), "{text}");
    let mut mypy = python(&world, &interpreter);
    mypy.args(["-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir=/dev/null"]);
    let (passed, text) = run(mypy.arg(pypi_folder().join("assay")));
    assert!(passed, "{text}");
}
