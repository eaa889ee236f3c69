//! Report pages: their size, their languages, their files, and inputs that are rejected.

use std::fs::{self, File};

use crate::program::World;

/// Six response curves of eleven points each: no suite has more results of more kinds.
#[test]
fn page_of_largest_suite_is_small_and_has_all_languages() {
    let world = World::new();
    let words = ["run", "storage-volume", "--target", ".", "--size", "16MiB", "--budget", "9s"];
    let done = world.assay(&[&words[..], &["--target-on-root", "--quiet"]].concat());
    // On a busy machine some cases have no time for one I/O, and the page reports them as failed.
    assert!([0, 4].contains(&done.code), "{done:?}");
    world
        .assay(&[
            "report",
            "latest",
            "--format",
            "html",
            "--locale",
            "fr",
            "--output",
            "page.html",
        ])
        .succeeded();
    let page = fs::read_to_string(world.path("page.html")).unwrap();
    assert!(page.len() <= 200_000, "{} bytes", page.len());
    // The contents are checked by the tests of the report and in Chromium.
    assert!(page.contains("id=\"assay-texts\""));
    assert!(page.contains("href=\"page.json\"") && world.path("page.json").is_file());
}

#[test]
fn pages_without_results_have_all_languages() {
    let world = World::new();
    for words in [&["doctor"][..], &["list"], &["references"], &["references", "azure/hbv4"]] {
        let page = world.assay(&[words, &["--format", "html"]].concat()).succeeded().out;
        assert!(page.contains("id=\"assay-texts\""), "{words:?}: {} bytes", page.len());
    }
}

#[test]
fn rejects_unknown_language_and_suggests_nearest() {
    let world = World::new();
    for (tag, expected) in [
        ("zh-Hant", "did you mean zh-Hans?"),
        ("zh-TW", "did you mean zh-Hans?"),
        ("pt", "did you mean es?"),
        ("xx", "supported are en, ru, fr"),
    ] {
        let refused = world.assay(&["report", "latest", "--locale", tag]).failed_with(2).err;
        assert!(refused.contains("the language is not supported"), "{refused}");
        assert!(refused.contains(expected), "{refused}");
    }
}

/// A file that would fill the memory is rejected by its size, before it is read.
#[test]
fn rejects_enormous_file_without_reading_it() {
    let world = World::new();
    File::create(world.path("big")).unwrap().set_len(1 << 40).unwrap();
    let refused = world.assay(&["import", "big"]).failed_with(4).err;
    assert!(
        refused.contains("it has 1 TiB") && refused.contains("at most 64 MiB"),
        "{refused}"
    );
    let refused = world.assay(&["lint", "big"]).failed_with(2).err;
    assert!(refused.contains("big is not a page") && refused.contains("at most"), "{refused}");
}

const STREAM: &str =
    include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");

/// The data file of a page replaces only that of the same page, and no other file; the program
/// reports each file written.
#[test]
fn page_does_not_replace_foreign_files() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    world.assay(&["import", "--label", "off", "stream.txt"]).succeeded();
    let html = ["report", "latest", "--format", "html", "-o"];
    let page = |name: &'static str| world.assay(&[&html[..], &[name]].concat());
    world.write("page.json", "{\"precious\": true}\n");
    let refused = page("page.html").failed_with(2).err;
    assert!(refused.contains("page.json already exists"), "{refused}");
    assert!(!world.path("page.html").exists());
    assert!(fs::read_to_string(world.path("page.json")).unwrap().contains("precious"));
    let said = page("other.html").succeeded().err;
    assert!(said.contains("also written: other.json"), "{said}");
    page("other.html").succeeded();
    world.write("own.html", "<html>mine</html>\n");
    let refused = page("own.html").failed_with(2).err;
    assert!(refused.contains("own.html already exists\n  why: it is no page"), "{refused}");
    assert_eq!(fs::read_to_string(world.path("own.html")).unwrap(), "<html>mine</html>\n");
    world.write("empty.html", "");
    page("empty.html").succeeded();
    // The document of another run is a foreign file, too.
    world.assay(&["show", "latest", "--json", "-o", "mine.json"]).succeeded();
    page("mine.html").failed_with(2);
    for (words, file, begins) in [
        (&["report", "latest"][..], "by-name.md", "# "),
        (&["report", "latest"], "by-name.MD", "# "),
        (&["verify"], "by-name.json", "{"),
        (&["verify"], "by-name.txt", "2"),
    ] {
        world.assay(&[words, &["-o", file]].concat()).succeeded();
        let text = fs::read_to_string(world.path(file)).unwrap();
        assert!(text.starts_with(begins), "the file name decides the format: {text}");
    }
    page("p.json").succeeded();
    assert!(fs::read_to_string(world.path("p.json")).unwrap().starts_with("<!DOCTYPE html>"));
    assert!(world.path("p.data.json").is_file());
}

/// Text in a file with another format's ending is never intended.
#[test]
fn rejects_unknown_file_ending() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    world.write("page.md", "# Page\n");
    let pdf = ["-o", "x.pdf"];
    for (words, known) in [
        (&["import", "stream.txt"][..], ".txt or .json"),
        (&["list"], ".txt, .md, .html, .svg, .csv or .json"),
        (&["plan", "littles-law", "--latency", "1ms", "--rate", "5000iops"], ".txt or .json"),
        (&["run", "quick", "--dry-run"], ".txt, .md, .html, .svg, .csv or .json"),
        (&["lint", "page.md"], ".txt, .json or .sarif"),
    ] {
        let refused = world.assay(&[words, &pdf].concat()).failed_with(2).err;
        let expected = format!(
            "error: no format has the file extension `.pdf` of x.pdf\n  \
             help: use {known}, or set the format of any file with --format\n"
        );
        assert_eq!(refused, expected, "{words:?}");
        assert!(!world.path("x.pdf").exists());
    }
    let listed = world.assay(&["list", "--all"]).succeeded().out;
    assert!(!listed.contains("stream"), "it was rejected before it was stored: {listed}");
    world.assay(&["import", "stream.txt", "-o", "answer"]).succeeded();
    for words in [&["--format", "text"][..], &["--json"]] {
        world.assay(&[&["show", "latest"], &pdf[..], words].concat()).succeeded();
    }
    world.assay(&["lint", "page.md", "-o", "page.sarif"]).succeeded();
    assert!(fs::read_to_string(world.path("page.sarif")).unwrap().contains("sarif-2.1.0"));
}

/// A label stands for its runs, as in `compare`.
#[test]
fn report_accepts_labels() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    for label in ["off", "on"] {
        world.assay(&["import", "--label", label, "stream.txt"]).succeeded();
    }
    let words = ["report", "off", "on", "--format", "learn"];
    let page = world.assay(&words).succeeded().out;
    // The command as typed, once for each run.
    assert!(page.contains("assay import --label off stream.txt\n"), "{page}");
    assert!(page.contains("assay import --label on stream.txt\n"), "{page}");
    let refused = world.assay(&["report", "neither"]).failed_with(2).err;
    assert!(refused.contains("neither") && refused.contains("--label NAME"), "{refused}");
}

/// A page for standard output is written there, whatever that is, and nothing beside it.
#[test]
fn page_for_standard_output_has_no_companions() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    world.assay(&["import", "--label", "off", "stream.txt"]).succeeded();
    for format in ["html", "learn"] {
        let page = world.write("redirected", "before\n");
        let output = File::options().append(true).open(&page).unwrap();
        let words = ["report", "latest", "--format", format, "-o", "/dev/stdout"];
        let mut command = world.command(&words);
        assert!(command.stdout(output).status().unwrap().success());
        let text = fs::read_to_string(&page).unwrap();
        let added = text.strip_prefix("before\n").unwrap();
        assert!(!added.is_empty(), "{format}");
        let names = fs::read_dir("/dev").unwrap().map(|it| it.unwrap().file_name());
        let beside: Vec<_> =
            names.filter(|it| it.to_string_lossy().starts_with("stdout")).collect();
        assert_eq!(beside, ["stdout"]);
    }
}
