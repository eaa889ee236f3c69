//! `assay site --anonymous`: no file of the site contains the name of a host or user, an address or
//! a path; placeholders are equal in all pages and calls.

use std::collections::BTreeSet;
use std::fs;

use crate::program::{World, files_below};

/// Texts that identify somebody and are stored with the runs below.
const ORIGINALS: [&str; 7] = [
    "login7",
    "login7.cluster.example",
    "alice",
    "10.11.12.13",
    "fe80::a11c",
    "secret-results.txt",
    "vol-of-alice",
];

/// Stores imports of one named host, a measurement of this host, and a damaged run.
fn identifying_world() -> World {
    let world = World::new();
    world.write(
        "secret-results.txt",
        include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out"),
    );
    let note = "alice@login7 wrote /home/alice/vol-of-alice/a, from 10.11.12.13 and fe80::a11c";
    for label in ["off", "on", "on"] {
        let named = ["--host", "login7.cluster.example", "--label", label, "--note", note];
        world.assay(&[&["import", "secret-results.txt"][..], &named].concat()).succeeded();
    }
    let other = ["import", "secret-results.txt", "--host", "login7", "--label", "login7"];
    world.assay(&other).succeeded();
    fs::create_dir(world.path("vol-of-alice")).unwrap();
    let short = ["--size", "1MiB", "--for", "200ms", "--buffered"];
    world.assay(&[&["storage", "read", "vol-of-alice/file"][..], &short].concat()).succeeded();
    fs::create_dir(world.path("assay/runs/20200101-000000-0000")).unwrap();
    world.write("assay/runs/20200101-000000-0000/events.jsonl", "{}");
    world
}

/// Returns the words of a text that are written like a placeholder of a host.
fn host_placeholders(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !it.is_alphanumeric() && it != '-');
    words.filter(|it| it.starts_with("host-")).map(str::to_owned).collect()
}

/// Checks that no file of a site contains an original.
fn check_anonymous(world: &World, site: &str) {
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let folder = world.path(".").canonicalize().unwrap();
    let is_word = |it: char| it.is_alphanumeric() || "-_.:".contains(it);
    for path in files_below(&world.path(site)) {
        let text = fs::read_to_string(&path).unwrap();
        for original in ORIGINALS.into_iter().chain(folder.to_str()) {
            assert!(!text.contains(original), "{} contains {original}", path.display());
        }
        let has_name = text.split(|it| !is_word(it)).any(|it| it == machine.trim());
        assert!(!has_name, "{} contains the name of this host", path.display());
    }
}

#[test]
fn anonymous_site_contains_no_original() {
    let world = identifying_world();
    // The store has a damaged run, which is named.
    let damaged = world.assay(&["site", "open"]).failed_with(4);
    assert!(damaged.err.contains("20200101-000000-0000"), "{damaged:?}");
    world.assay(&["site", "closed", "--anonymous"]).failed_with(4);
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let folder = world.path(".").canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    let all: String = files_below(&world.path("open"))
        .iter()
        .map(|it| fs::read_to_string(it).unwrap())
        .collect();
    for original in ORIGINALS.into_iter().chain([machine.trim(), folder]) {
        assert!(all.contains(original), "{original} is no text of a site");
    }
    check_anonymous(&world, "closed");
    // Imports of one host have one placeholder, and this host another.
    let list = fs::read_to_string(world.path("closed/data/runs-0.js")).unwrap();
    assert_eq!(host_placeholders(&list).len(), 3, "{list}");
}

#[test]
fn placeholders_are_equal_in_later_calls() {
    let world = identifying_world();
    world.assay(&["site", "pages", "--anonymous"]).failed_with(4);
    let list = || fs::read_to_string(world.path("pages/data/runs-0.js")).unwrap();
    let before = host_placeholders(&list());
    let again = world.assay(&["site", "pages", "--anonymous"]).failed_with(4);
    assert!(again.out.contains("files written: 0"), "{again:?}");
    let import = ["import", "secret-results.txt", "--host", "login7.cluster.example"];
    world.assay(&import).succeeded();
    world.assay(&["site", "pages", "--anonymous"]).failed_with(4);
    assert_eq!(host_placeholders(&list()), before);
    fs::remove_dir_all(world.path("pages")).unwrap();
    world.assay(&["site", "pages", "--anonymous"]).failed_with(4);
    assert_eq!(host_placeholders(&list()), before);

    // The same folder without placeholders is written again as a whole.
    world.assay(&["site", "pages"]).failed_with(4);
    assert!(list().contains("login7.cluster.example") && host_placeholders(&list()).is_empty());

    // Nothing of the open site is left in a folder that becomes anonymous.
    world.assay(&["site", "pages", "--anonymous"]).failed_with(4);
    check_anonymous(&world, "pages");
}
