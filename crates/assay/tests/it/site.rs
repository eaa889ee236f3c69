//! `assay site`: files that it writes, keeps, removes and refuses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{World, files_below};

pub(crate) const STREAM: &str =
    include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");

/// Stores two runs with different labels.
pub(crate) fn world_with_runs() -> World {
    let world = World::new();
    world.write("stream.txt", STREAM);
    for label in ["off", "on"] {
        world.assay(&["import", "--label", label, "stream.txt"]).succeeded();
    }
    world
}

/// Returns the identifiers of all runs, the newest first.
pub(crate) fn run_ids(world: &World) -> Vec<String> {
    let listed = world.json(&["list", "--json"]);
    let runs = listed["runs"].as_array().unwrap().iter();
    runs.map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

fn contents(folder: &Path) -> BTreeMap<String, String> {
    let files = files_below(folder).into_iter();
    let named = files.map(|path| {
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        (name, fs::read_to_string(&path).unwrap())
    });
    named.collect()
}

/// Returns the names of the files that differ, without the manifest.
fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> =
        before.keys().chain(after.keys()).collect();
    let differs = |name: &&&String| before.get(**name) != after.get(**name);
    let names = names.iter().filter(differs).filter(|name| ***name != "assay-site.json");
    names.map(|name| (*name).clone()).collect()
}

/// CRC-32 of IEEE 802.3, by which the store detects changed lines.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    let add = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(u32::MAX, add)
}

/// Stores copies of a run under other identifiers, a minute apart.
pub(crate) fn copy_run(world: &World, id: &str, copies: std::ops::Range<usize>) {
    let runs = world.path("assay/runs");
    let text = fs::read_to_string(runs.join(id).join("events.jsonl")).unwrap();
    let [day, time, _] = id.split('-').collect::<Vec<_>>()[..] else { panic!("{id}") };
    let started = format!(
        "{}-{}-{}T{}:{}:{}Z",
        &day[..4],
        &day[4..6],
        &day[6..],
        &time[..2],
        &time[2..4],
        &time[4..]
    );
    for copy in copies {
        let (day, hour, minute) = (copy / 1440 + 1, copy / 60 % 24, copy % 60);
        let other = format!("203001{day:02}-{hour:02}{minute:02}00-0000");
        let later = format!("2030-01-{day:02}T{hour:02}:{minute:02}:00Z");
        let line = |line: &str| {
            let body = line[line.find("\"n\":").unwrap()..].replace(id, &other);
            let body = body.replace(&started, &later);
            format!("{{\"crc\":\"{:08x}\",{body}\n", crc32(body.as_bytes()))
        };
        fs::create_dir(runs.join(&other)).unwrap();
        let copied: String = text.lines().map(line).collect();
        fs::write(runs.join(&other).join("events.jsonl"), copied).unwrap();
    }
}

/// The list is in pieces; a new run changes the last one only, and a history has the newest runs.
#[test]
fn long_lists_are_in_pieces() {
    let world = world_with_runs();
    let id = run_ids(&world)[0].clone();
    copy_run(&world, &id, 0..520);
    world.assay(&["site", "pages"]).succeeded();
    let before = contents(&world.path("pages"));
    assert!(before["index.html"].contains("data-pieces=\"2\""));
    assert!(before["history.html"].contains("<td class=\"right\">300</td>"));
    assert_eq!(before.keys().filter(|it| it.starts_with("runs/")).count(), 522);
    copy_run(&world, &id, 520..521);
    world.assay(&["site", "pages"]).succeeded();
    let after = contents(&world.path("pages"));
    let changed = changed(&before, &after);
    let changed: Vec<&str> =
        changed.iter().map(String::as_str).filter(|it| !it.starts_with("history/")).collect();
    let new = "20300101-084000-0000";
    assert_eq!(
        changed,
        ["data/runs-1.js", &format!("results/{new}.js"), &format!("runs/{new}.html")]
    );
}

#[test]
fn writes_only_what_has_changed() {
    let world = world_with_runs();
    let first = world.assay(&["site", "pages"]).succeeded().out;
    assert!(first.contains("runs: 2") && first.contains("removed: 0"), "{first}");
    let before = contents(&world.path("pages"));
    for name in ["index.html", "history.html", "compare.html", "site.js", "site.css"] {
        assert!(before.contains_key(name), "{name}: {:?}", before.keys());
    }
    let again = world.assay(&["site", "pages"]).succeeded().out;
    assert!(again.contains("files written: 0"), "{again}");

    world.assay(&["import", "--again", "--label", "on", "stream.txt"]).succeeded();
    let third = run_ids(&world)[0].clone();
    world.assay(&["site", "pages"]).succeeded();
    let after = contents(&world.path("pages"));
    let histories = before.keys().filter(|it| it.starts_with("history/"));
    let mut expected: Vec<String> = histories.cloned().collect();
    expected.extend([format!("results/{third}.js"), format!("runs/{third}.html")]);
    expected.extend(["data/runs-0.js", "data/labels.js", "history.html"].map(str::to_owned));
    // The verdict between the labels.
    expected.extend(before.keys().filter(|it| it.starts_with("verdicts/")).cloned());
    expected.sort();
    assert_eq!(changed(&before, &after), expected);

    world.assay(&["rm", &third]).succeeded();
    let removed = world.assay(&["site", "pages"]).succeeded().out;
    assert!(removed.contains("removed: 2"), "{removed}");
    assert_eq!(changed(&before, &contents(&world.path("pages"))), Vec::<String>::new());

    let other = world.assay(&["site", "pages", "--label", "on", "--locale", "de"]).succeeded();
    assert!(other.out.contains("Läufe: 1"), "{}", other.out);
    let german = contents(&world.path("pages"));
    assert!(german["index.html"].contains("<html lang=\"de\">"));
    assert_eq!(german.keys().filter(|it| it.starts_with("runs/")).count(), 1);
}

/// A page that was lost or cut is written again.
#[test]
fn restores_lost_and_cut_files() {
    let world = world_with_runs();
    world.assay(&["site", "pages"]).succeeded();
    let before = contents(&world.path("pages"));
    let page = world.path("pages").join(format!("runs/{}.html", run_ids(&world)[0]));
    let history = before.keys().find(|it| it.starts_with("history/")).unwrap();
    fs::remove_file(&page).unwrap();
    fs::write(world.path("pages").join(history), "").unwrap();
    fs::write(world.path("pages/data/.assay-draft-1"), "half").unwrap();
    world.assay(&["site", "pages"]).succeeded();
    assert_eq!(contents(&world.path("pages")), before);
}

#[test]
fn refuses_files_of_others() {
    let world = world_with_runs();
    fs::create_dir(world.path("mine")).unwrap();
    world.write("mine/letter.txt", "precious");
    let refused = world.assay(&["site", "mine"]).failed_with(2).err;
    assert!(refused.contains("mine contains files of others"), "{refused}");
    assert!(refused.contains("letter.txt"), "{refused}");
    assert_eq!(contents(&world.path("mine")).len(), 1);
    let refused = world.assay(&["site", "mine/letter.txt"]).failed_with(2).err;
    assert!(refused.contains("is not a folder"), "{refused}");

    world.assay(&["site", "pages"]).succeeded();
    // A file that looks like one of a site, and one that does not.
    world.write("pages/runs/notes.html", "precious");
    world.assay(&["import", "stream.txt"]).succeeded();
    let page = format!("pages/runs/{}.html", run_ids(&world)[0]);
    world.write(&page, "precious");
    let refused = world.assay(&["site", "pages"]).failed_with(2).err;
    assert!(refused.contains("was not written by `assay site`"), "{refused}");
    assert_eq!(fs::read_to_string(world.path(&page)).unwrap(), "precious");
    fs::remove_file(world.path(&page)).unwrap();
    world.assay(&["site", "pages"]).succeeded();
    assert!(world.path("pages/runs/notes.html").is_file());

    world.write("pages/assay-site.json", "{");
    let refused = world.assay(&["site", "pages"]).failed_with(2).err;
    assert!(refused.contains("no manifest of this version"), "{refused}");
}

#[test]
fn refuses_a_second_writer() {
    let world = world_with_runs();
    world.assay(&["site", "pages"]).succeeded();
    let folder = fs::File::open(world.path("pages")).unwrap();
    folder.lock().unwrap();
    let refused = world.assay(&["site", "pages"]).failed_with(2).err;
    assert!(refused.contains("another process writes the site pages"), "{refused}");
    drop(folder);
    world.assay(&["site", "pages"]).succeeded();
}

/// A manifest that names files elsewhere removes none of them.
#[test]
fn changed_manifest_removes_nothing_elsewhere() {
    let world = world_with_runs();
    world.assay(&["site", "pages"]).succeeded();
    world.write("precious", "precious");
    let manifest = fs::read_to_string(world.path("pages/assay-site.json")).unwrap();
    let record = "{\"bytes\":8,\"fingerprint\":\"00\"}";
    let changed = manifest.replacen(
        "\"files\":{",
        &format!("\"files\":{{\"../precious\":{record},\"runs/../../precious\":{record},"),
        1,
    );
    world.write("pages/assay-site.json", &changed);
    world.assay(&["site", "pages"]).succeeded();
    assert!(world.path("precious").is_file());
}

#[test]
fn damaged_runs_are_named() {
    let world = world_with_runs();
    let ids = run_ids(&world);
    let events = |id: &str| world.path("assay/runs").join(id).join("events.jsonl");
    let damage = |id: &str, line: usize| {
        let text = fs::read_to_string(events(id)).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[line] = lines[line].replace("\"event\"", "\"evxnt\"");
        fs::write(events(id), lines.join("\n") + "\n").unwrap();
    };
    world.assay(&["import", "stream.txt"]).succeeded();
    let cut = run_ids(&world)[0].clone();
    let text = fs::read_to_string(events(&cut)).unwrap();
    fs::write(events(&cut), &text[..100]).unwrap();
    // A folder without a readable run is enough.
    world.assay(&["site", "pages"]).failed_with(4);
    world.assay(&["list", "--results"]).failed_with(4);
    damage(&ids[0], 8);

    let listed = world.assay(&["list"]);
    let done = world.assay(&["site", "pages"]);
    assert_eq!(done.code, listed.code, "{done:?}");
    assert_eq!(done.code, 4);
    assert!(done.err.contains("warning: "), "{done:?}");
    let site = contents(&world.path("pages"));
    assert!(site["index.html"].contains(&cut), "the unreadable run is named");
    assert!(site["data/runs-0.js"].contains("\"damaged\""), "{}", site["data/runs-0.js"]);
    for id in &ids {
        assert!(site.contains_key(&format!("runs/{id}.html")), "{id}");
    }
}

/// Runs that ended in the middle of a line, or are still being written, have a page and no verdict
/// of their own; those of other labels stay.
#[test]
fn half_written_runs_have_pages() {
    let world = world_with_runs();
    world.assay(&["import", "--label", "half", "stream.txt"]).succeeded();
    world.assay(&["import", "--label", "running", "stream.txt"]).succeeded();
    let [running, half, ..] = &run_ids(&world)[..] else { panic!("four runs") };
    let events = |id: &str| world.path("assay/runs").join(id).join("events.jsonl");
    let cut = |id: &str| {
        let text = fs::read_to_string(events(id)).unwrap();
        fs::write(events(id), &text[..text.len() - 150]).unwrap();
    };
    cut(half);
    cut(running);
    let file = fs::File::options().append(true).open(events(running)).unwrap();
    file.lock().unwrap();
    world.assay(&["site", "pages"]);
    let site = contents(&world.path("pages"));
    for id in [half, running] {
        assert!(site.contains_key(&format!("runs/{id}.html")), "{id}: {:?}", site.keys());
    }
    let labels = &site["data/labels.js"];
    assert!(labels.contains("\"off\",\"on\"") && !labels.contains("\"running\""), "{labels}");

    // The run that has ended meanwhile is judged, too.
    drop(file);
    world.assay(&["site", "pages"]);
    assert!(contents(&world.path("pages"))["data/labels.js"].contains("\"running\""));
}

/// Runs of a store that has lost its format file are not ignored.
#[test]
fn store_without_format_file_is_refused() {
    let world = world_with_runs();
    world.assay(&["site", "pages"]).succeeded();
    let before = contents(&world.path("pages"));
    fs::remove_file(world.path("assay/FORMAT")).unwrap();
    for words in [&["list"][..], &["site", "pages"], &["import", "stream.txt"]] {
        let refused = world.assay(words).failed_with(4).err;
        assert!(refused.contains("FORMAT is missing, but the folder has runs: 2"), "{refused}");
    }
    assert_eq!(contents(&world.path("pages")), before);
    world.write("assay/FORMAT", "1\n");
    assert_eq!(run_ids(&world).len(), 2);
}

/// A file system without space leaves the site as it was, apart from whole new pages.
#[test]
fn full_disk_leaves_the_old_site() {
    let world = world_with_runs();
    world.assay(&["site", "pages"]).succeeded();
    let before = contents(&world.path("pages"));
    world.assay(&["import", "stream.txt"]).succeeded();
    world.assay(&["list"]).succeeded();
    let assay = env!("CARGO_BIN_EXE_assay");
    // Blocks of 512 bytes: every page is larger.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 8; exec \"$0\" site pages", assay]);
    limited.current_dir(world.path(".")).env("XDG_DATA_HOME", world.path("."));
    let output = limited.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("cannot write pages/"), "{err}");
    assert_eq!(changed(&before, &contents(&world.path("pages"))), Vec::<String>::new());
    world.assay(&["site", "pages"]).succeeded();
    assert!(contents(&world.path("pages")).len() > before.len());
}

#[test]
fn empty_store_gives_an_empty_site() {
    let world = World::new();
    let done = world.assay(&["site", "pages"]).succeeded().out;
    assert!(done.contains("runs: 0"), "{done}");
    assert!(contents(&world.path("pages"))["index.html"].contains("There are no runs yet."));
    world.assay(&["site", "-"]).failed_with(2);
    let refused = world.assay(&["site", "--label", "none", "mine"]).failed_with(2).err;
    for said in ["no run has the label `none`", "the store has no runs", "assay list"] {
        assert!(refused.contains(said), "{said}: {refused}");
    }
    assert!(!world.path("mine").exists());
}
