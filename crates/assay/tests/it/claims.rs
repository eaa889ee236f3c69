//! References, gates and the linter, as a user calls them.

use serde_json::Value;

use crate::program::{World, results};

const STREAM: &str =
    include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");
const FIO: &str = include_str!("../../../assay-adapters/tests/golden/fio/3.33-mix.out");
const PAGE: &str = include_str!("../../../assay-claims/tests/pages/hc.ko.md");
const SOURCE: &str = include_str!("../../../assay-claims/tests/pages/hc-2019.en.md");

/// Returns a store with one imported run of STREAM, about 31 GB/s.
fn world_with_stream_run() -> World {
    let world = World::new();
    world.write("stream.txt", STREAM);
    world
        .assay(&["import", "--label", "a", "--set", "placement=node", "stream.txt"])
        .succeeded();
    world
}

#[test]
fn references_list_sources_and_conflicts() {
    let world = World::new();
    let all = world.assay(&["references"]).succeeded().out;
    assert!(all.contains("azure/hbv4") && all.contains("aws/p5.48xlarge/alinux2"), "{all}");
    let hbv2 =
        world.assay(&["references", "azure/hbv2"]).succeeded().out.replace('\u{a0}', " ");
    for reported in ["350 GB/s", "about 260 GB/s", "CONFLICT", "SUSPECT", "hbv2-performance.md"]
    {
        assert!(hbv2.contains(reported), "{reported}: {hbv2}");
    }
    let claims = world.json(&["references", "azure/hb", "--json"]);
    assert!(claims["references"].as_array().unwrap().len() > 100);
    let refused = world.assay(&["references", "azure/hbv44"]).failed_with(2).err;
    assert!(refused.contains("did you mean azure/hbv4"), "{refused}");
}

/// Published figures are localised, keep the digits of their source, and a best-of figure is no
/// bound.
#[test]
fn references_are_localised() {
    let world = World::new();
    for (system, locale, said) in [
        ("azure/hb", "en", &["best 2.35 µs", "best 96.5 Gbit/s", "at least 32 GB/s"][..]),
        ("azure/hb", "ru", &["лучшее значение 2,35 мкс", "около 260 ГБ/с", "не более 33 ГБ/с"]),
        ("azure/hb", "fr", &["meilleure valeur 96,5 Gbit/s", "environ 260 Go/s"]),
        ("azure/hbv4", "zh-Hans", &["至多 2 µs"]),
        ("azure/hbv2", "fr", &["285 000 Mo/s"]),
    ] {
        let mut command = world.command(&["references", system]);
        command.env("LC_ALL", format!("{}.UTF-8", locale.replace("zh-Hans", "zh_CN")));
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let text = text.replace(['\u{a0}', '\u{202f}'], " ");
        for it in said {
            assert!(text.contains(it), "{locale}: {it}: {text}");
        }
    }
}

#[test]
fn compares_run_with_system_and_own_claims_file() {
    let world = world_with_stream_run();
    // A guest with two cores does not reach the figures of an HB.
    let held = world.assay(&["compare", "latest", "azure/hb"]).failed_with(5).out;
    assert!(
        held.replace('\u{a0}', " ").contains("about 260 GB/s") && held.contains("missed"),
        "{held}"
    );
    // A single sample has two digits, as everywhere.
    let shown = world.assay(&["show", "latest"]).succeeded().out;
    let triad = shown.lines().find(|it| it.trim().starts_with("Triad")).unwrap();
    let value = triad.split("  ").map(str::trim).find(|it| it.ends_with("GB/s")).unwrap();
    assert!(held.contains(&format!(" {value} ")), "{value}: {held}");
    world.write(
        "mine.toml",
        "[[claim]]\nmetric = \"memory.stream/triad\"\nvalue = \"30 GB/s\"\nqualifier = \"at-least\"\n\
         where = { placement = \"node\" }\nsource = \"acceptance test\"\n",
    );
    let held = world.assay(&["compare", "latest", "mine.toml"]).succeeded().out;
    assert!(
        held.replace('\u{a0}', " ").contains("at least 30 GB/s") && held.contains("reached"),
        "{held}"
    );
    let rows = world.assay(&["compare", "latest", "mine.toml", "--json"]).succeeded().out;
    let rows: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!(rows["pairs"][0]["verdict"], "reached");
    assert_eq!(rows["pairs"][0]["b"]["median"], 30e9, "{rows}");
    world.write("bad.toml", "[[claim]]\nmetric = \"memory.stream/triad\"\nvalue = \"30\"\n");
    let refused = world.assay(&["compare", "latest", "bad.toml"]).failed_with(3).err;
    assert!(refused.contains("`30` has no unit"), "{refused}");
    let refused =
        world.assay(&["compare", "latest", "azure/nc24ads_a100_v4"]).failed_with(2).err;
    assert!(
        refused
            .contains("the run has no results with published figures of azure/nc24ads_a100_v4"),
        "{refused}"
    );
    for more in [&[][..], &["--dry-run"]] {
        let words = [&["run", "quick", "--expect", "azure/nothing"], more].concat();
        let unknown = world.assay(&words).failed_with(2).err;
        assert!(unknown.contains("there is no reference"), "{unknown}");
    }
    let checked =
        world.assay(&["run", "quick", "--expect", "azure/hb", "--dry-run"]).succeeded();
    assert!(checked.out.contains("Plan"), "{checked:?}");
    let said = "compared with azure/hb: ";
    assert!(checked.err.contains(said) && checked.err.contains("triad"), "{checked:?}");
}

/// Each verdict is in the row of its figure, and one sentence counts those that were not reached.
#[test]
fn claim_verdicts_appear_in_rows_and_summary() {
    let world = world_with_stream_run();
    let claim = |metric: &str, value: &str| {
        format!(
            "[[claim]]\nmetric = \"memory.stream/{metric}\"\nvalue = \"{value} GB/s\"\ndate = \"2026\"\n"
        )
    };
    let rows = |text: &str| {
        let lines = text.lines().filter(|it| it.contains("GB/s") && !it.contains("best"));
        let shown = |it: &str| it.contains("reached") || it.contains("missed");
        lines
            .map(|it| (it.contains("9999"), it.contains("missed"), shown(it)))
            .collect::<Vec<_>>()
    };
    let far = claim("triad", "9999");
    for (claims, code, said, expected) in [
        (claim("triad", "1") + &far, 6, "sources differ: 1 of 1 results", 2),
        (
            claim("copy", "1") + &far,
            5,
            "missed: 1 of 2 results are worse than the figures of mine.toml",
            2,
        ),
        (claim("copy", "1") + &claim("triad", "1"), 0, "", 2),
        (claim("triad", "1") + "qualifier = \"best\"\n", 6, "cannot tell: no figure", 0),
    ] {
        world.write("mine.toml", &claims);
        let held = world.assay(&["compare", "latest", "mine.toml"]).failed_with(code).out;
        let text = held.replace('\u{a0}', " ");
        assert!(text.contains(said), "{said}: {text}");
        let found = rows(&text);
        assert_eq!(found.len(), expected, "{text}");
        assert!(
            found.iter().all(|(is_far, missed, shown)| is_far == missed && *shown),
            "{text}"
        );
    }
}

/// Reports cannot write that or drawn are rejected before anything is measured; existing files
/// stay.
#[test]
fn rejects_impossible_report_before_measuring() {
    let world = World::new();
    world.write("page.html", "mine");
    world.write("page.json", "mine, too");
    std::fs::create_dir(world.path("folder")).unwrap();
    for (words, said) in [
        ("-o nowhere/page.txt", "name a file in a folder that exists"),
        ("-o folder", "name a file in that folder"),
        ("-o page.html/x", "cannot write page.html/x"),
        ("--format html -o page.html", "page.json already exists"),
        ("--format learn", "--format learn needs a stored run"),
        ("--format svg", "no plots in \"dense LU factorisation and solve (LINPACK)\""),
    ] {
        let line = format!("linpack --n 1200 --budget shortest {words}");
        let refused = world.assay(&line.split(' ').collect::<Vec<_>>()).failed_with(2).err;
        assert!(refused.contains(said), "{words}: {refused}");
    }
    for words in [
        "--switch true true --format learn",
        "--switch true true -o nowhere/page",
        "--hosts a,b -o nowhere/page",
        "--hosts a,b --drain-list nowhere/list",
    ] {
        let line = format!("run compute --budget shortest {words}");
        world.assay(&line.split(' ').collect::<Vec<_>>()).failed_with(2);
    }
    assert_eq!(std::fs::read_to_string(world.path("page.html")).unwrap(), "mine");
    let none = world.assay(&["list"]).succeeded().out;
    assert!(none.contains("There are no runs yet"), "nothing was measured: {none}");
}

#[test]
fn data_sheet_limits_reports_but_is_not_stored() {
    let world = world_with_stream_run();
    let limit = |value: &str, source: &str| {
        let text = format!(
            "[[limit]]\nmetric = \"memory.stream/triad\"\nvalue = \"{value}\"\n{source}"
        );
        world.write("sheet.toml", &text);
    };
    let shown = |more: &[&str]| {
        let shown = world.json(&[&["show", "latest", "--json"], more].concat());
        let triad = results(&shown, "memory.stream", "triad").remove(0).clone();
        let share = triad["percent_of_limit"].as_f64();
        let doubts = triad["warnings"].as_array().unwrap().iter();
        let doubted = doubts.filter(|it| it["id"] == "above-limit").count();
        (share, doubted, triad["limit"].to_string())
    };
    let sheet = ["--expect", "sheet.toml"];
    let stored = shown(&[]);
    limit("62 GB/s", "source = \"PM9A3\"\ndate = \"2021\"\n");
    let (share, doubted, said) = shown(&sheet);
    assert!((45.0..55.0).contains(&share.unwrap()) && doubted == 0, "{share:?} {doubted}");
    assert!(said.contains("PM9A3, 2021"), "{said}");
    limit("15 GB/s", "");
    assert_eq!(shown(&sheet).1, 1);
    assert_eq!(shown(&[]), stored, "limits are not stored with a run");
    let page = world.assay(&["report", "latest", "--format", "markdown", sheet[0], sheet[1]]);
    assert!(page.succeeded().out.contains("data sheet"));
    let refused = |text: &str, why: &str| {
        world.write("sheet.toml", text);
        let refused = world.assay(&["show", "latest", sheet[0], sheet[1]]).failed_with(3).err;
        assert!(refused.contains(why) && refused.contains("help: "), "{refused}");
    };
    refused("", "the file has no [[claim]], [[limit]] or [[gate]]");
    refused("[[limit]]\nmetric = \"memory.stream/triad\"\nvalue = \"15\"\n", "has no unit");
    refused(
        "[[limit]]\nmetric = \"storage/latency\"\nvalue = \"1 ms\"\n",
        "better when it is lower",
    );
    let absent = world.assay(&["show", "latest", "--expect", "nowhere.toml"]).err;
    assert!(absent.contains("cannot read nowhere.toml"), "{absent}");
}

#[test]
fn exit_code_reflects_claims_and_trust() {
    let world = World::new();
    let claim = |value: &str| {
        format!("[[claim]]\nmetric = \"compute.linpack/rmax\"\nvalue = \"{value}\"\n")
    };
    world.write("low.toml", &claim("1 kFLOP/s"));
    world.write("high.toml", &claim("99999 TFLOP/s"));
    // A single solve is never enough to be trusted, and shows no miss.
    let words = ["linpack", "--n", "1200", "--budget", "shortest", "--expect"];
    for (more, code) in [
        (&["low.toml"][..], 0),
        (&["low.toml", "--strict"], 6),
        (&["high.toml"], 6),
        (&["high.toml", "--json"], 6),
    ] {
        let outcome = world.assay(&[&words[..], more].concat());
        assert_eq!(outcome.code, code, "{more:?}: {outcome:?}");
        let said = "cannot tell: 1 of 1 results are worse than the figures of high.toml";
        // With a document for programs on standard output, the sentence goes to standard error.
        let reads = if more.contains(&"--json") { &outcome.err } else { &outcome.out };
        let reads = reads.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(reads.contains(said), more[0] == "high.toml", "{more:?}: {outcome:?}");
    }
}

#[test]
fn gates_set_exit_code_and_write_junit_and_github_summary() {
    let world = world_with_stream_run();
    world
        .assay(&["import", "--label", "b", "--set", "placement=node", "stream.txt"])
        .succeeded();
    let gate = |rest: &str| format!("[[gate]]\nmetric = \"memory.stream/triad\"\n{rest}\n");
    world.write("wide.toml", &gate("worse_by = \"5%\""));
    world.write("strict.toml", &gate("at_least = \"500 GB/s\""));
    world.write("absent.toml", "[[gate]]\nmetric = \"storage/rate\"\nworse_by = \"5%\"\n");
    let words =
        |gate: &'static str| ["compare", "a", "b", "--expect", gate, "--junit", "out.xml"];
    let passed = world.assay(&words("wide.toml")).succeeded().out;
    assert!(passed.contains("passed"), "{passed}");
    world.assay(&words("strict.toml")).failed_with(5);
    let xml = std::fs::read_to_string(world.path("out.xml")).unwrap();
    assert!(xml.contains("failures=\"1\"") && xml.contains("at least 500.0 GB/s"), "{xml}");
    world.assay(&words("absent.toml")).failed_with(6);
    let mut command =
        world.command(&["compare", "a", "b", "--expect", "wide.toml", "--github"]);
    command.env("GITHUB_STEP_SUMMARY", world.path("summary.md"));
    assert!(command.output().unwrap().status.success());
    let summary = std::fs::read_to_string(world.path("summary.md")).unwrap();
    assert!(summary.contains("| passed |"), "{summary}");
    world.write("no.toml", "[[gate]]\nmetric = \"memory.stream/triad\"\n");
    let refused = world.assay(&words("no.toml")).failed_with(3);
    assert!(refused.err.contains("has no threshold"), "{refused:?}");
    assert_eq!(refused.out, "", "gates are read before anything is printed");
    let absent = world.assay(&words("nowhere.toml")).failed_with(2).err;
    assert!(
        absent.contains("cannot read nowhere.toml") && absent.contains("help: "),
        "{absent}"
    );
}

/// A file with all three tables judges an imported, a stored and a compared run.
#[test]
fn one_file_of_expectations_serves_all_commands() {
    let world = world_with_stream_run();
    let triad = "metric = \"memory.stream/triad\"\n";
    let file = |least: &str| {
        format!(
            "[[claim]]\n{triad}value = \"30 GB/s\"\n[[limit]]\n{triad}value = \"62 GB/s\"\n\
             [[gate]]\n{triad}at_least = \"{least}\"\n"
        )
    };
    world.write("low.toml", &file("1 GB/s"));
    world.write("high.toml", &file("500 GB/s"));
    let import = ["import", "--label", "b", "--set", "placement=node", "stream.txt"];
    for words in [
        &["show", "a"][..],
        &["report", "a"],
        &["compare", "a"],
        &import,
        &["compare", "a", "b"],
    ] {
        // The only imported value of a metric has no interval and is in doubt.
        let judge = |file: &'static str| {
            let option = if words == ["compare", "a"] { &[][..] } else { &["--expect"] };
            world.assay(&[words, option, &[file]].concat())
        };
        let (low, high) = (judge("low.toml"), judge("high.toml"));
        let is_compared = words == ["compare", "a", "b"];
        assert_eq!(high.code, if is_compared { 5 } else { 6 }, "{words:?}: {high:?}");
        assert!(high.out.contains("at least 500.0 GB/s"), "{words:?}: {high:?}");
        assert!(low.out.contains("30 GB/s"), "claims are compared: {words:?}: {low:?}");
    }
    // A document without the outcomes has the reason on the error output.
    let words = ["compare", "a", "b", "--json", "--expect", "high.toml"];
    let compared = world.assay(&words).failed_with(5);
    assert!(compared.err.contains("--expect: failed: "), "{compared:?}");
    let shown = world.assay(&["show", "a", "--json", "--expect", "high.toml"]).failed_with(6);
    let document: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(document["gates"][0]["outcome"], "cannot-tell", "{document}");
    let none = world.assay(&["compare", "a", "b", "--junit", "x.xml"]).failed_with(2).err;
    assert!(none.contains("name a file with [[gate]] by --expect"), "{none}");
}

#[test]
fn lint_reports_findings_as_text_sarif_and_json() {
    let world = World::new();
    let page = world.write("page.md", PAGE);
    world.write("source.md", SOURCE);
    let words = ["lint", "page.md", "--against", "source.md"];
    let text = world.assay(&words).failed_with(5).out;
    for reported in [
        "page.md:30:93: impossible: min ≤ mean is broken",
        "name: CH4",
        "qualifier:",
        " [certain]",
        " [likely]",
    ] {
        assert!(text.contains(reported), "{reported}: {text}");
    }
    let sarif = world.assay(&[&words[..], &["--format", "sarif"]].concat()).failed_with(5).out;
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), text.lines().count());
    let json = world.assay(&[&words[..], &["--format", "json"]].concat()).failed_with(5).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["pages"][0]["findings"].as_array().unwrap().len(), text.lines().count());
    let findings = json["pages"][0]["findings"].as_array().unwrap();
    for confidence in ["certain", "likely"] {
        assert!(findings.iter().any(|it| it["confidence"] == confidence), "{json}");
    }
    let order = findings.iter().find(|it| it["rule"] == "impossible").unwrap();
    assert_eq!(order["measured"]["check"], "statistic-order", "{json}");
    world.write("style.md", "---\nlang: en\n---\nIt moves 10 Gbits/s.\n");
    world.assay(&["lint", "style.md"]).succeeded();
    let all = world.assay(&["lint", "style.md", "--all"]).failed_with(5).out;
    assert!(all.contains("unit-spelling") && all.contains(" [possible]"), "{all}");
    let mended = world.assay(&["lint", "page.md", "--fix"]).failed_with(5);
    assert!(!mended.out.contains("(--fix)"), "{}", mended.out);
    assert!(std::fs::read_to_string(page).unwrap().contains("~780 MB/s 읽기/쓰기"));
    world.write("fine.md", "# A page\n\nNo tables, 5 GB/s.\n");
    let marks = "1.25 GB/s and ".repeat(5);
    world.write("marks.md", &format!("---\nlang: fr\n---\n{marks}0.5 GB\n"));
    let many = world.assay(&["lint", "marks.md"]).failed_with(5).out;
    let last = "marks.md: decimal-mark: 3 more (--fix; --format json lists all)\n";
    assert!(many.lines().count() == 4 && many.ends_with(last), "{many}");
    let each = world.assay(&["lint", "marks.md", "--format", "json"]).failed_with(5).out;
    assert_eq!(each.matches("decimal-mark").count(), 6, "{each}");
    let fine = world.assay(&["lint", "fine.md"]).succeeded().err;
    assert_eq!(fine, "fine.md: one figure found, not doubted\n");
    let absent = world.assay(&["lint", "absent.md"]).failed_with(2).err;
    assert!(
        absent.contains("check the name and the folder") && !absent.contains("metadata"),
        "{absent}"
    );
    world.write("words.md", "# A page\n\nWords alone.\n");
    let words = world.assay(&["lint", "words.md"]).succeeded().err;
    assert!(words.contains("words.md: no figures found"), "{words}");
    let refused = world.assay(&["lint", "fine.md", "--against", "nothing"]).failed_with(2).err;
    assert!(refused.contains("the file `nothing` does not exist"), "{refused}");
}

/// The linter finds nothing in a page that assay wrote.
#[test]
fn own_report_has_no_lint_findings() {
    let world = world_with_stream_run();
    let page = world.assay(&["report", "latest", "--format", "markdown"]).succeeded().out;
    world.write("own.md", &page);
    let found = world.assay(&["lint", "own.md", "--against", "latest"]);
    assert_eq!(found.out, "");
    world.write("other.md", &page.replace("GB/s", "Gbit/s"));
    let found = world.assay(&["lint", "other.md", "--against", "latest"]).failed_with(5).out;
    assert!(found.contains("wrong-unit"), "{found}");
}

/// Own pages are clean in every format and language, also where the page does not name its
/// language.
#[test]
fn own_report_agrees_with_run_in_every_locale() {
    let world = world_with_stream_run();
    world.write("fio.json", FIO);
    world.assay(&["import", "fio.json"]).succeeded();
    for run in ["latest", "latest~1"] {
        for format in ["markdown", "html", "learn"] {
            for locale in ["en", "ru", "fr", "cs", "zh-Hans", "ko", "ja", "de", "es"] {
                let name = format!("{run}-{locale}.{format}");
                let words = ["report", run, "--format", format, "--locale", locale];
                let invariant = ["--units", "invariant"];
                world.assay(&[&words[..], &["--output", &name]].concat()).succeeded();
                let found = world.assay(&["lint", &name, "--against", run]).succeeded();
                assert_eq!(found.out, "", "{name}");
                assert!(!found.err.contains("no figures"), "{name}: {}", found.err);
                // Invariant units use the decimal point, which is not the Russian decimal mark, but
                // the values still match the run.
                world
                    .assay(&[&words[..], &["--output", &name], &invariant].concat())
                    .succeeded();
                let alone = world.assay(&["lint", &name]);
                let found = world.assay(&["lint", &name, "--against", run]);
                assert_eq!((found.out, found.err), (alone.out, alone.err), "{name}");
            }
        }
    }
    // A difference is found in any language.
    let words = ["report", "latest~1", "--format", "learn", "--locale", "ru"];
    let page = world.assay(&words).succeeded().out;
    world.write("other.md", &page.replace("IOPS", "кбит/с"));
    let found = world.assay(&["lint", "other.md", "--against", "latest~1"]).failed_with(5).out;
    assert!(found.contains("wrong-unit"), "{found}");
}

#[test]
fn lint_compares_sentences_or_reports_it_did_not() {
    let world = World::new();
    world.write("source.md", "# Rate\n\nUp to 300,000 IOPS.\n\nIn 1 ms.\n");
    world.write("page.md", "# Taux\n\nPlus de 300,000 IOPS.\n\nEn 1 µs.\n");
    let words = ["lint", "page.md", "--against", "source.md"];
    let found = world.assay(&words).failed_with(5).out;
    assert!(found.starts_with("page.md:3:9: qualifier: "), "{found}");
    assert!(found.contains("\npage.md:5:6: wrong-unit: "), "{found}");
    world.write("page.md", "# Taux\n\nPlus de 30 IOPS, en 1 ms.\n");
    let said = world.assay(&words).succeeded().err;
    assert!(said.contains("its sentences are not compared"), "{said}");
}

#[test]
fn reads_page_in_utf16() {
    let world = World::new();
    let text = "\u{feff}| min | mean |\n|-|-|\n| 2 ms | 1 ms |\n\n4 GiB / s\n";
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(world.path("wide.md"), &bytes).unwrap();
    let found = world.assay(&["lint", "wide.md"]).failed_with(5).out;
    assert!(found.contains("wide.md:3:10: impossible"), "{found}");
    let refused = world.assay(&["lint", "wide.md", "--fix"]).failed_with(2).err;
    assert!(refused.contains("iconv -f UTF-16"), "{refused}");
    assert_eq!(std::fs::read(world.path("wide.md")).unwrap(), bytes);
}

#[test]
fn rejects_page_that_is_not_utf8() {
    let world = World::new();
    std::fs::write(world.path("latin.md"), b"D\xe9bit: 5 Go/s\n").unwrap();
    let refused = world.assay(&["lint", "latin.md"]).failed_with(2).err;
    for part in ["latin.md is not UTF-8", "byte 1 is not valid UTF-8", "iconv -f"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
}
