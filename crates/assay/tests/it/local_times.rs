//! Times on screen and on pages in the zone of the machine, and in files in UTC.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::program::World;

/// Last second of summer time in Prague, 2026-10-25T00:59:59Z, in seconds since 1970.
const LAST_SUMMER_SECOND_S: u64 = 1_792_889_999;
/// Zone, with the times of the two runs in it.
const ZONES: [(&str, [&str; 2]); 5] = [
    ("Europe/Prague", ["2026-10-25 02:59 CEST", "2026-10-25 02:00 CET"]),
    ("Asia/Tokyo", ["2026-10-25 09:59 JST", "2026-10-25 10:00 JST"]),
    ("America/St_Johns", ["2026-10-24 22:29 NDT", "2026-10-24 22:30 NDT"]),
    ("CET-1CEST,M3.5.0,M10.5.0/3", ["2026-10-25 02:59 CEST", "2026-10-25 02:00 CET"]),
    ("Nowhere/Nothing", UTC),
];
const UTC: [&str; 2] = ["2026-10-25 00:59 UTC", "2026-10-25 01:00 UTC"];

/// Creates a store with a run before and one after the end of summer time.
fn world_of_two_runs() -> World {
    let world = World::new();
    let golden = "../assay-adapters/tests/golden/stream/5.10-two-threads.out";
    let output =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(golden)).unwrap();
    for (name, more_s) in [("summer.txt", 0), ("winter.txt", 1)] {
        let path = world.write(name, &output);
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let written = Duration::from_secs(LAST_SUMMER_SECOND_S + more_s);
        file.set_modified(SystemTime::UNIX_EPOCH + written).unwrap();
        world.assay(&["import", name, "--label", name]).succeeded();
    }
    world
}

#[test]
fn screens_and_pages_have_local_times() {
    let world = world_of_two_runs();
    let run = |zone: &str, words: &[&str]| {
        let output = world.command(words).env("TZ", zone).output().unwrap();
        assert!(output.status.success(), "{zone} {words:?} {output:?}");
        String::from_utf8(output.stdout).unwrap().replace('\u{a0}', " ")
    };
    for (zone, times) in ZONES {
        if zone.contains('/') && !Path::new("/usr/share/zoneinfo").join("Asia/Tokyo").exists() {
            eprintln!("SKIPPED screens_and_pages_have_local_times: no zone database");
            continue;
        }
        for words in [
            &["history", "triad"][..],
            &["history", "triad", "--format", "html"],
            &["list", "--results"],
            &["show", "summer.txt", "winter.txt"],
            &["report", "summer.txt", "winter.txt", "--format", "markdown"],
        ] {
            let out = run(zone, words);
            for time in times {
                assert!(out.contains(time), "{zone} {words:?}: {time} in {out}");
            }
        }
        let day_and_zone = |time: &str| {
            let parts: Vec<&str> = time.split(' ').collect();
            [parts[0].to_owned(), parts[2].to_owned()]
        };
        let shown = run(zone, &["show", "winter.txt"]);
        assert!(day_and_zone(times[1]).iter().all(|it| shown.contains(it)), "{zone}: {shown}");
        // The identifier has the time in UTC; the list repeats it only where it differs.
        assert_eq!(run(zone, &["list"]).contains(times[0]), times != UTC, "{zone}");
    }
}

#[test]
fn files_and_anonymous_pages_have_utc() {
    let world = world_of_two_runs();
    for words in [
        &["list", "--json"][..],
        &["show", "winter.txt", "--json"],
        &["history", "triad", "--format", "csv"],
        &["export", "jsonl"],
        &["report", "winter.txt", "--anonymous", "--format", "html"],
        &["report", "winter.txt", "--format", "learn"],
    ] {
        let print = |zone: &str| {
            let output = world.command(words).env("TZ", zone).output().unwrap();
            assert!(output.status.success(), "{words:?} {output:?}");
            output.stdout
        };
        assert_eq!(print("UTC"), print("JST-9"), "{words:?}");
    }
    // In Tokyo the run began on the same day, in St. John's on the day before.
    for (zone, found) in [("JST-9", true), ("NST3:30NDT,M3.2.0,M11.1.0", false)] {
        let listed = world.command(&["list", "--since", "2026-10-25"]).env("TZ", zone).output();
        let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
        assert_eq!(listed.contains("summer.txt"), found, "{zone}: {listed}");
    }
}
