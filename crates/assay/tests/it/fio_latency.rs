//! Depths that `assay fio` and the real fio find for a latency (`latency_target`).

use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::program::World;

/// Runs a job; returns its entry with the milliseconds of the run as `wall`, standard error, and
/// whether it succeeded.
fn run(mut command: Command, world: &World, job: &str) -> Option<(Value, String, bool)> {
    let begins = Instant::now();
    let path = world.write("job.fio", job);
    command.args([path.to_str().unwrap(), "--output-format=json"]);
    let output = command.current_dir(world.path("")).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let document: Value =
        text.find('{').map_or(Value::Null, |at| serde_json::from_str(&text[at..]).unwrap());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut entry = document["jobs"][0].clone();
    entry["wall"] = (begins.elapsed().as_secs_f64() * 1e3).into();
    Some((entry, message, output.status.success()))
}

const REPORTED: [&str; 5] =
    ["error", "latency_depth", "latency_target", "latency_window", "latency_percentile"];

#[test]
fn depth_is_found_as_by_fio() {
    const ENDLESS: &str = "[a]\nrw=randread\nsize=1g\nnorandommap\ntime_based\nruntime=20\n";
    for (options, searched_ms) in [
        // Any depth is fast enough: it is doubled after each window.
        ("ioengine=null\niodepth=16\nlatency_target=10s\nlatency_window=200ms\n", 1000.0),
        (
            "ioengine=null\niodepth=6\nlatency_target=10s\nlatency_window=100ms\n\
             latency_percentile=99.5\n",
            400.0,
        ),
        // None is.
        (
            "ioengine=libaio\niodepth=8\nbs=1m\nsize=4m\nlatency_target=1us\n\
             latency_window=100ms\n",
            0.0,
        ),
        // The search never ends by itself.
        (
            "ioengine=null\niodepth=4\nlatency_target=10s\nlatency_window=50ms\nlatency_run=1\n\
             runtime=1\n",
            0.0,
        ),
    ] {
        let job = format!("{ENDLESS}{options}");
        let (there, here) = (World::in_memory(), World::in_memory());
        let Some((expected, _, succeeds)) = run(Command::new("fio"), &there, &job) else {
            return eprintln!("SKIPPED depth_is_found_as_by_fio: fio is not installed");
        };
        let (found, message, succeeded) =
            run(here.command(&["fio", "--no-store"]), &here, &job).unwrap();
        assert_eq!(succeeded, succeeds, "{job}{message}");
        for key in REPORTED {
            assert_eq!(found[key], expected[key], "{job}{key}\n{message}");
        }
        // Windows have at least their length, and those of the search are not measured.
        for entry in [&found, &expected] {
            let ms = |value: &Value| value.as_f64().unwrap();
            let unmeasured_ms = ms(&entry["wall"]) - ms(&entry["read"]["runtime"]);
            assert!(unmeasured_ms >= searched_ms, "{job}{entry}");
        }
    }
}

#[test]
fn engine_with_one_io_in_flight_has_no_depth_to_find() {
    let world = World::in_memory();
    let job = ["fio", "--no-store", "--name=a", "--size=1m", "--latency_target=1ms"];
    let run = world.assay(&job).failed_with(2);
    assert!(run.err.contains("its engine has one I/O in flight"), "{}", run.err);
}
