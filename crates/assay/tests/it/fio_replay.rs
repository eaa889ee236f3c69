//! Recorded I/O repeated by `assay fio` and by the real fio (`read_iolog`): the same I/O in the same
//! order, with the same pauses.

use std::process::Command;

use serde_json::Value;

use crate::program::World;

/// I/O of a run.
#[derive(Debug, PartialEq, Eq)]
struct Repeated {
    succeeded: bool,
    /// Counts and bytes of each direction, and the number of syncs.
    counts: Vec<Value>,
    /// Direction, size and offset of every I/O.
    ios: Vec<String>,
    /// Contents of the written file.
    written: usize,
}

fn repeat(mut command: Command, world: &World, job: &str) -> Option<(Repeated, f64, String)> {
    let path = world.write("job.fio", job);
    command.args([path.to_str().unwrap(), "--output-format=json"]);
    let output = command.current_dir(world.path("")).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let document: Value =
        text.find('{').map_or(Value::Null, |at| serde_json::from_str(&text[at..]).unwrap());
    let entry = &document["jobs"][0];
    let mut counts = vec![entry["sync"]["total_ios"].clone()];
    for way in ["read", "write"] {
        counts.extend([&entry[way]["total_ios"], &entry[way]["io_bytes"]].map(Clone::clone));
    }
    let log = std::fs::read_to_string(world.path("L_lat.1.log")).unwrap_or_default();
    let place = |line: &str| line.split(", ").skip(2).take(3).collect::<Vec<_>>().join(" ");
    let repeated = Repeated {
        succeeded: output.status.success(),
        counts,
        ios: log.lines().map(place).collect(),
        written: std::fs::read(world.path("out")).map_or(0, |contents| contents.len()),
    };
    let runtime_ms = ["read", "write"].map(|way| entry[way]["runtime"].as_f64().unwrap_or(0.0));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((repeated, runtime_ms[0].max(runtime_ms[1]), message))
}

const UNTIMED: &str = "fio version 2 iolog\nin add\nout add\nin open\nout open\n\
                       in read 0 4096\nout write 8192 4096\nout sync 0 0\nin read 40960 8192\n\
                       out write 0 1024\nout sync 0 0\nin read 12288 512\n\
                       in close\nout close\n";
const TIMED: &str = "fio version 3 iolog\n0 in add\n1 out add\n2 in open\n2 out open\n\
                     10 in read 4096 4096\n300010 out write 0 4096\n600010 in read 0 4096\n\
                     600020 in close\n600020 out close\n";

#[test]
fn recorded_io_is_repeated_as_by_fio() {
    for (trace, options, least_ms) in [
        (UNTIMED, "", 0.0),
        (UNTIMED, "replay_scale=2\nreplay_align=1k\n", 0.0),
        (UNTIMED, "ioengine=libaio\n", 0.0),
        (UNTIMED, "replay_redirect=out\nrw=write\n", 0.0),
        (TIMED, "", 600.0),
        (TIMED, "replay_no_stall=1\n", 0.0),
        (TIMED, "replay_time_scale=50\n", 1200.0),
        (TIMED, "ioengine=libaio\nreplay_time_scale=300\n", 200.0),
        (TIMED, "ioengine=null\nreplay_no_stall=1\n", 0.0),
    ] {
        let job = format!("[a]\nread_iolog=trace\nwrite_lat_log=L\nlog_offset=1\n{options}");
        let worlds = [World::in_memory(), World::in_memory()];
        for world in &worlds {
            world.write("trace", trace);
            std::fs::write(world.path("in"), vec![7; 1 << 20]).unwrap();
            if options.contains("redirect") {
                std::fs::write(world.path("out"), vec![7; 1 << 20]).unwrap();
            }
        }
        let [there, here] = &worlds;
        let Some((expected, expected_ms, _)) = repeat(Command::new("fio"), there, &job) else {
            eprintln!("SKIPPED recorded_io_is_repeated_as_by_fio: fio is not installed");
            return;
        };
        let permitted = ["fio", "--no-store", "--destroy-data=out"];
        let words = if options.contains("redirect") { &permitted[..] } else { &permitted[..2] };
        let (found, ms, message) = repeat(here.command(words), here, &job).unwrap();
        assert_eq!(found, expected, "{job}{message}");
        assert!(found.succeeded && !found.ios.is_empty(), "{job}{message}");
        // A sleep never ends early; its milliseconds are rounded.
        assert!(
            ms >= least_ms - 2.0 && expected_ms >= least_ms - 2.0,
            "{job}{ms} {expected_ms}"
        );
    }
}

#[test]
fn trace_of_a_run_is_repeated() {
    let world = World::in_memory();
    std::fs::write(world.path("in"), vec![7; 1 << 20]).unwrap();
    let fio = ["fio", "--no-store", "--filename=in", "--size=1m", "--name=a"];
    let record = ["--rw=randread", "--bs=8k", "--write_iolog=trace"];
    world.assay(&[&fio[..], &record[..]].concat()).succeeded();
    let repeat = ["fio", "--no-store", "--name=b", "--read_iolog=trace", "--write_iolog=again"];
    let stall = ["--replay_no_stall=1", "--replay_redirect=in"];
    world.assay(&[&repeat[..], &stall[..]].concat()).succeeded();
    let places = |name: &str| {
        let text = std::fs::read_to_string(world.path(name)).unwrap();
        let place = |line: &str| Some(line.split_once(" in read ")?.1.to_owned());
        text.lines().filter_map(place).collect::<Vec<_>>()
    };
    assert_eq!(places("trace").len(), 128);
    assert_eq!(places("again"), places("trace"));
}

#[test]
fn malformed_trace_is_refused_at_its_line() {
    let world = World::in_memory();
    world.write("trace", "fio version 2 iolog\nin add\nin open\nin read 0 4k\n");
    let run = world.assay(&["fio", "--no-store", "--name=a", "--read_iolog=trace"]);
    let run = run.failed_with(3);
    assert!(run.err.contains("`4k` is not a number of bytes"), "{}", run.err);
    assert!(run.err.contains("trace:4:1"), "{}", run.err);
    let missing = world.assay(&["fio", "--no-store", "--name=a", "--read_iolog=none"]);
    assert!(
        missing.failed_with(2).err.contains("cannot read none"),
        "{}",
        world.path("").display()
    );
}
