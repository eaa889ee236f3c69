//! A site in headless Chromium, opened from `file://`: 50 runs of all kinds and 10,000 made-up ones.
//! No message in the console; filters, ticks, comparison, histories, pictures, languages and
//! themes work, also by keys; the pages fit a narrow screen.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use workbench::browser::Browser;

use crate::program::{World, files_below};
use crate::serve_browser::{find_browser, start_browser};
use crate::site::{copy_run, run_ids, world_with_runs};

const HOSTILE_LABEL: &str = "<img src=x onerror=alert(1)>'\"";
/// Suite for several hosts.
const SUITE: &str = "name = \"tiny\"\nbudget = \"2s\"\n[[measure]]\nbenchmark = \"memory.latency\"\nfrom = \"4KiB\"\nto = \"64KiB\"\n";

/// Returns small inputs of the importer, of as many formats as possible.
fn imported_files(count: usize) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-adapters/tests/import");
    let is_input = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        let is_other = name.ends_with(".expected") || name.ends_with(".md");
        !is_other && fs::metadata(path).unwrap().len() < 40_000
    };
    let mut files: Vec<PathBuf> = files_below(&folder).into_iter().filter(is_input).collect();
    files.sort();
    let step = (files.len() / count).max(1);
    files.into_iter().step_by(step).collect()
}

/// Stores 50 runs: memory, storage, network, programs, factors, several hosts, imports.
fn world_with_all_kinds() -> World {
    let world = World::in_memory();
    world.write("tiny.toml", SUITE);
    world.write("via.sh", "shift\nexec \"$@\"\n");
    let hosts = ["--hosts", "n1,n2,n3", "--via", "sh via.sh {host}"];
    let stream = ["stream", "--bytes", "1MiB", "--threads", "1", "--budget", "shortest", "-q"];
    let storage = ["storage", "read", "data", "--size", "1MiB", "--for", "200ms", "--buffered"];
    for label in ["off", "on", "off", "on", "off", "on"] {
        let label = ["--label", label];
        world.assay(&[&["run", "tiny.toml", "-q"][..], &label].concat()).succeeded();
        world.assay(&[&storage[..], &label].concat()).succeeded();
    }
    for label in ["off", HOSTILE_LABEL] {
        let label = ["--label", label];
        world.assay(&[&["run", "tiny.toml", "-q"][..], &hosts, &label].concat()).succeeded();
        world
            .assay(&[&["net", "latency", "--for", "1s", "-q"][..], &label].concat())
            .succeeded();
        world.assay(&[&stream[..], &label].concat()).succeeded();
    }
    world.assay(&["exec", "-q", "-r", "3", "true", "sleep 0.01"]).succeeded();
    world
        .assay(&["exec", "-q", "-r", "2", "--factor", "n=1,2", "--", "echo", "{n}"])
        .succeeded();
    for file in imported_files(60) {
        if run_ids(&world).len() >= 50 {
            break;
        }
        // Some inputs are damaged on purpose, and others have no result.
        let label = ["--label", HOSTILE_LABEL, "--note", "</script><b>note"];
        world.assay(&[&["import", file.to_str().unwrap()][..], &label].concat());
    }
    assert!(run_ids(&world).len() >= 50, "{}", run_ids(&world).len());
    world
}

/// Returns the identifiers of the runs with a label and a suite, the oldest first.
fn labelled(world: &World, label: &str, suite: &str) -> Vec<String> {
    let listed = world.json(&["list", "--json", "--label", label, "--suite", suite]);
    let runs = listed["runs"].as_array().unwrap().iter().rev();
    runs.map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

fn pages_below(site: &Path) -> Vec<PathBuf> {
    let mut files = files_below(site);
    files.retain(|path| path.extension().is_some_and(|it| it == "html"));
    files.sort();
    files
}

/// Every page of 50 runs of all kinds opens without a message, and fits wide and narrow windows.
#[test]
fn pages_of_all_kinds_open_without_messages() {
    let test = "pages_of_all_kinds_open_without_messages";
    if find_browser(test).is_none() {
        return;
    }
    let world = world_with_all_kinds();
    world.assay(&["site", "pages"]).succeeded();
    let Some(mut browser) = start_browser(&world, test) else { return };
    let site = world.path("pages");
    let pages = pages_below(&site);
    assert!(pages.len() > 80, "{}", pages.len());
    for page in &pages {
        let address = format!("file://{}", page.display());
        for (width, theme) in [(1280, "light"), (400, "dark")] {
            browser.set_screen(width, theme).unwrap();
            browser.open(&address).unwrap();
            browser.check_page().unwrap();
        }
        let has_image =
            browser.evaluate("Boolean(document.querySelector('img, main b'))").unwrap();
        assert_eq!(has_image, false, "{address}: markup of a label is an element");
    }
    compares_all_kinds(&world, &mut browser);
    compares_distributions(&world, &mut browser);
}

/// Curves, distributions and hosts of several runs are drawn, and lines differ in more than colour.
fn compares_all_kinds(world: &World, browser: &mut Browser) {
    let [off, hostile] = ["off", HOSTILE_LABEL].map(|label| labelled(world, label, "tiny"));
    let ids = [off.last().unwrap(), hostile.last().unwrap()].map(String::as_str).join(",");
    for width in [1280, 400] {
        let page = world.path("pages/compare.html");
        browser.set_screen(width, "dark").unwrap();
        browser.open_file(&page, &format!("#{ids}")).unwrap();
        browser.wait_until_ready().unwrap();
        browser.check_page().unwrap();
        assert!(
            browser
                .evaluate("document.querySelectorAll('#curves path.mark').length")
                .unwrap()
                .as_u64()
                > Some(10)
        );
        let lines = "(() => { const lines = [...document.querySelectorAll('#curves figure:first-of-type .legend svg')]\
             .map((it) => it.innerHTML.replaceAll(/series-\\d/g, '')); return lines.length === new Set(lines).size; })()";
        assert_eq!(browser.evaluate(lines).unwrap(), true, "two lines differ in colour alone");
        assert_eq!(
            browser.evaluate("document.querySelectorAll('#host-map tbody tr').length").unwrap(),
            6
        );
    }
    // One run of each label gives no verdict, and the page prints the commands.
    assert_eq!(browser.evaluate("document.getElementById('unjudged').hidden").unwrap(), false);
}

/// Distributions of a result are drawn over each other, and another result can be chosen.
fn compares_distributions(world: &World, browser: &mut Browser) {
    let ids =
        ["off", HOSTILE_LABEL].map(|label| labelled(world, label, "net").remove(0)).join(",");
    browser.open_file(&world.path("pages/compare.html"), &format!("#{ids}")).unwrap();
    browser.wait_until_ready().unwrap();
    let lines = "document.querySelectorAll('#distributions .legend li').length";
    assert_eq!(browser.evaluate(lines).unwrap(), 2);
    let title = "document.querySelector('#distributions figcaption').textContent";
    let first = browser.evaluate(title).unwrap();
    browser.tab_to("it.id === 'distribution'").unwrap();
    browser.evaluate(
        "(() => { const it = document.getElementById('distribution'); it.selectedIndex = it.length - 1; \
         it.dispatchEvent(new Event('change')); })()",
    ).unwrap();
    let is_single =
        browser.evaluate("document.getElementById('distribution').length === 1").unwrap();
    assert!(is_single == true || browser.evaluate(title).unwrap() != first);
    assert_eq!(browser.evaluate(lines).unwrap(), 2);
    browser.check_page().unwrap();
}

/// Stores a run of a program that prints this score.
fn store_score(world: &World, score: &str, options: &[&str]) {
    world.write("score", &format!("score = {score}\n"));
    let words = ["exec", "-q", "-r", "1", "--metric", "score: score = ([0-9.]+)"];
    world.assay(&[&words[..], options, &["--", "cat", "score"]].concat()).succeeded();
}

/// Verdicts of ticked runs are those of `assay compare`.
#[test]
fn verdicts_equal_those_of_compare() {
    let test = "verdicts_equal_those_of_compare";
    if find_browser(test).is_none() {
        return;
    }
    let world = World::in_memory();
    for (label, value) in [("old", 10), ("new", 20)] {
        for run in 0..8 {
            store_score(&world, &format!("{value}.{run}"), &["--label", label]);
        }
    }
    world.assay(&["site", "pages"]).succeeded();
    let Some(mut browser) = start_browser(&world, test) else { return };
    let compared = world.assay(&["compare", "old", "new", "--json"]);
    let compared: Value = serde_json::from_str(&compared.out).unwrap();
    let pairs = compared["pairs"].as_array().unwrap();
    let verdicts: Vec<String> =
        pairs.iter().map(|it| it["verdict"].as_str().unwrap().replace('-', " ")).collect();
    assert!(verdicts.iter().any(|it| it == "better" || it == "worse"), "{verdicts:?}");
    let [old, new] = ["old", "new"].map(|label| labelled(&world, label, "exec")[0].clone());
    browser.open_file(&world.path("pages/compare.html"), &format!("#{old},{new}")).unwrap();
    browser.wait_until_ready().unwrap();
    let shown = browser.evaluate(
        "[...document.querySelectorAll('#results tbody tr')].map((it) => it.cells[2].firstChild.textContent)",
    ).unwrap();
    let mut shown: Vec<&str> =
        shown.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let mut expected: Vec<&str> = verdicts.iter().map(String::as_str).collect();
    shown.sort_unstable();
    expected.sort_unstable();
    let is_prefix =
        shown.iter().zip(&expected).all(|(shown, verdict)| shown.starts_with(verdict));
    assert!(shown.len() == expected.len() && is_prefix, "{shown:?} {expected:?}");
    assert_eq!(browser.evaluate("document.getElementById('unjudged').hidden").unwrap(), true);
    // Where a narrow screen scrolls the table, the verdict is in view.
    let is_in_view = |browser: &mut Browser, cells: &str| {
        let script = format!(
            "(() => {{ const all = [...document.querySelectorAll('{cells}')]; \
                 return all.length > 0 && all.every((it) => it.getBoundingClientRect().right <= 400); }})()"
        );
        browser.set_screen(400, "light").unwrap();
        assert_eq!(browser.evaluate(&script).unwrap(), true, "{cells}");
        browser.set_screen(1280, "light").unwrap();
    };
    is_in_view(&mut browser, "#results .verdict");
    let command =
        browser.evaluate("document.getElementById('verdict-commands').textContent").unwrap();
    let host = compared["pairs"][0]["a"]["host"].as_str().unwrap();
    assert_eq!(command, format!("assay compare old new --host {host}"));

    // The page of the verdict, from the list of all pairs.
    browser.open_file(&world.path("pages/compare.html"), "").unwrap();
    browser.wait_until_ready().unwrap();
    browser.click("document.querySelector('#pairs a')").unwrap();
    browser.wait_for("document.querySelector('h1')?.textContent.startsWith('old')").unwrap();
    browser.check_page().unwrap();
    is_in_view(&mut browser, ".pinned");
}

#[test]
fn filters_ticks_and_comparison_work_by_keys() {
    let test = "filters_ticks_and_comparison_work_by_keys";
    let world = world_with_runs();
    world.assay(&["site", "pages"]).succeeded();
    let Some(mut browser) = start_browser(&world, test) else { return };
    let site = world.path("pages");
    browser.set_screen(400, "light").unwrap();
    browser.open_file(&site.join("index.html"), "").unwrap();
    browser.wait_until_ready().unwrap();
    let rows = |browser: &mut Browser| {
        browser.evaluate("document.querySelectorAll('#runs tbody tr').length").unwrap()
    };
    let set = |element: &str, value: &str| {
        format!(
            "(() => {{ const it = {element}; it.value = '{value}'; \
                 it.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
        )
    };
    let (label, search) = (
        "document.querySelector('select[data-column=\"6\"]')",
        "document.getElementById('search')",
    );
    for (element, value, expected) in [
        (label, "=off", 1),
        (label, "", 2),
        (search, "no such run", 0),
        (search, "IMPORT on", 1),
        (search, "", 2),
    ] {
        browser.evaluate(&set(element, value)).unwrap();
        assert_eq!(rows(&mut browser), expected, "{value}");
    }
    browser.tab_to("it.type === 'checkbox'").unwrap();
    browser.press(" ").unwrap();
    assert_eq!(browser.evaluate("document.getElementById('compare').disabled").unwrap(), true);
    browser.tab_to("it.type === 'checkbox'").unwrap();
    browser.press(" ").unwrap();
    assert_eq!(
        browser.evaluate("document.querySelectorAll('#runs input:checked').length").unwrap(),
        2
    );
    // Tab from the last element continues at the first one.
    browser.tab_to("it.id === 'compare'").unwrap();
    browser.press("Enter").unwrap();
    browser.wait_for("document.getElementById('results')").unwrap();
    browser.wait_until_ready().unwrap();
    browser.check_page().unwrap();
    let [on, off] = &run_ids(&world)[..] else { panic!("two runs") };
    assert_eq!(
        browser.evaluate("document.querySelectorAll('#results tbody tr').length").unwrap(),
        4
    );
    let cell = "document.querySelector('#results tbody td:nth-child(4)').innerText.replace(/\\s+/g, ' ')";
    assert_eq!(browser.evaluate(cell).unwrap(), "31.66 GB/s × 1.00 (interval: none)");
    // One run of each label gives no verdict, and the page prints so.
    let commands = "document.getElementById('commands').textContent";
    let expected = format!("assay compare {off} {on}\nassay compare off on --host imported");
    assert_eq!(browser.evaluate(commands).unwrap(), expected);
    assert_eq!(browser.evaluate("document.getElementById('decided').hidden").unwrap(), true);
}

/// Two points of a history, by the mouse in the plot and by keys in the table.
#[test]
fn points_of_a_history_are_compared() {
    let world = world_with_runs();
    let id = run_ids(&world)[0].clone();
    copy_run(&world, &id, 0..9);
    world.assay(&["site", "pages"]).succeeded();
    let Some(mut browser) = start_browser(&world, "points_of_a_history_are_compared") else {
        return;
    };
    let page = pages_below(&world.path("pages/history")).remove(0);
    for by_keys in [false, true] {
        browser.open_file(&page, "").unwrap();
        browser.wait_until_ready().unwrap();
        browser.check_page().unwrap();
        assert_eq!(
            browser.evaluate("document.querySelectorAll('.point.picks').length").unwrap(),
            10
        );
        if by_keys {
            for _ in 0..2 {
                browser.tab_to("it.type === 'checkbox'").unwrap();
                browser.press(" ").unwrap();
            }
            browser.evaluate("document.querySelector('.pick button').focus()").unwrap();
            browser.press("Enter").unwrap();
        } else {
            browser.click("document.querySelectorAll('.point')[1]").unwrap();
            assert_eq!(
                browser.evaluate("document.querySelector('.pick button').disabled").unwrap(),
                true
            );
            browser.click("document.querySelectorAll('.point')[8]").unwrap();
            assert_eq!(
                browser.evaluate("document.querySelectorAll('.picked').length").unwrap(),
                2
            );
            browser.click("document.querySelector('.pick button')").unwrap();
        }
        browser.wait_for("document.getElementById('results')").unwrap();
        browser.wait_until_ready().unwrap();
        assert_eq!(
            browser.evaluate("document.querySelectorAll('#results thead th').length").unwrap(),
            4
        );
        browser.check_page().unwrap();
    }
}

/// Labels in plots of histories with many changes of the environment do not overlap.
#[test]
fn labels_of_histories_do_not_overlap() {
    let test = "labels_of_histories_do_not_overlap";
    if find_browser(test).is_none() {
        return;
    }
    let world = World::in_memory();
    for level in 0..6 {
        for run in 0..4 {
            store_score(&world, &format!("{}.{run}", 10 * (level + 1)), &[]);
        }
    }
    world.assay(&["site", "pages"]).succeeded();
    let Some(mut browser) = start_browser(&world, test) else { return };
    for page in pages_below(&world.path("pages/history")) {
        browser.open_file(&page, "").unwrap();
        let overlaps = browser.evaluate(
            "(() => { const boxes = [...document.querySelectorAll('.plot text')].map((it) => [it.textContent, it.getBoundingClientRect()])\
             .filter(([, box]) => box.width); \
             return boxes.flatMap(([text, a], i) => boxes.slice(i + 1).filter(([, b]) => a.left + 2 < b.right && b.left + 2 < a.right \
             && a.top + 3 < b.bottom && b.top + 3 < a.bottom).map(([other]) => `${text} / ${other}`)); })()",
        ).unwrap();
        assert_eq!(overlaps, json!([]), "{}", page.display());
    }
}

/// The list of 10,000 runs is shown at once and read in pieces.
#[test]
fn ten_thousand_runs_are_listed() {
    let test = "ten_thousand_runs_are_listed";
    if find_browser(test).is_none() {
        return;
    }
    let world = World::in_memory();
    world.write("stream.txt", crate::site::STREAM);
    world.assay(&["import", "--label", "off", "stream.txt"]).succeeded();
    let id = run_ids(&world)[0].clone();
    copy_run(&world, &id, 0..9_999);
    world.assay(&["site", "pages", "--locale", "de"]).succeeded();
    let Some(mut browser) = start_browser(&world, test) else { return };
    browser.open_file(&world.path("pages/index.html"), "").unwrap();
    browser.wait_until_ready().unwrap();
    browser.check_page().unwrap();
    let times = "[performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd, performance.now()]";
    let times = browser.evaluate(times).unwrap();
    eprintln!("10,000 runs: rows after {} ms, all read within {} ms", times[0], times[1]);
    let shown = browser.evaluate("document.getElementById('shown').textContent").unwrap();
    assert_eq!(shown, "1 bis 100 von 10.000");
    browser.click("document.getElementById('older')").unwrap();
    assert_eq!(
        browser.evaluate("document.getElementById('shown').textContent").unwrap(),
        "101 bis 200 von 10.000"
    );
}

/// Languages and themes change all pages: words, and colours with contrast.
#[test]
fn languages_and_themes_work() {
    let world = world_with_runs();
    let Some(mut browser) = start_browser(&world, "languages_and_themes_work") else { return };
    for (locale, heading) in [("ja", "実行"), ("fr", "Exécutions"), ("ru", "Список прогонов")]
    {
        world.assay(&["site", "pages", "--locale", locale]).succeeded();
        for page in pages_below(&world.path("pages")) {
            let mut colours = Vec::new();
            for theme in ["light", "dark"] {
                browser.set_screen(1280, theme).unwrap();
                browser.open_file(&page, "").unwrap();
                browser.check_page().unwrap();
                assert_eq!(browser.evaluate("document.documentElement.lang").unwrap(), locale);
                colours.push(
                    browser
                        .evaluate("getComputedStyle(document.body).backgroundColor")
                        .unwrap(),
                );
            }
            assert_ne!(colours[0], colours[1]);
        }
        browser.open_file(&world.path("pages/index.html"), "").unwrap();
        let title = browser.evaluate("document.querySelector('h1').textContent").unwrap();
        assert!(title.as_str().unwrap().starts_with(heading), "{title}");
    }
}
