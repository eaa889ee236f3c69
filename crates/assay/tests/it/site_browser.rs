//! A site in headless Chromium, opened from `file://`: no message in the console; the filters, the
//! search, the ticks and the comparison work; the pages fit a narrow screen.

use std::fs;
use std::path::Path;
use std::process::Command;

use workbench::browser::find_chromium;

use crate::program::World;
use crate::site::{run_ids, world_with_runs};

/// Script that uses the site in a frame, and writes its findings into the title of the page.
const DRIVE: &str = r##"
const frame = document.querySelector("iframe");
const found = [];
const page = () => frame.contentDocument;
const wait = async (ready) => {
  for (let i = 0; i < 200 && !ready(); i += 1) await new Promise((done) => setTimeout(done, 20));
};
const rows = () => page().querySelectorAll("#runs tbody tr").length;
const fits = (what) => {
  const width = page().documentElement.scrollWidth;
  if (width > frame.clientWidth) found.push(`${what} is ${width} px wide`);
};
const set = (element, value) => {
  element.value = value;
  element.dispatchEvent(new Event("input", { bubbles: true }));
};
(async () => {
  await wait(() => page()?.body?.dataset.ready);
  found.push(`rows ${rows()}`);
  fits("the overview");
  const label = page().querySelector("select[data-column='6']");
  set(label, "=off");
  found.push(`off ${rows()}`);
  set(label, "");
  set(page().getElementById("search"), "no such run");
  found.push(`searched ${rows()} ${page().getElementById("shown").textContent}`);
  set(page().getElementById("search"), "IMPORT on");
  found.push(`searched ${rows()}`);
  set(page().getElementById("search"), "");
  const ticks = [...page().querySelectorAll("#runs input")];
  const compare = page().getElementById("compare");
  found.push(`disabled ${compare.disabled}`);
  ticks[0].click();
  ticks[1].click();
  found.push(`disabled ${compare.disabled} ${ticks[0].getAttribute("aria-label").length > 20}`);
  compare.click();
  await wait(() => page()?.getElementById("results") && page().body.dataset.ready);
  fits("the comparison");
  found.push(`compared ${page().querySelectorAll("#results tbody tr").length}`);
  found.push(page().querySelector("#results tbody td:last-child").innerText.replace(/\s+/g, " "));
  found.push(page().getElementById("commands").textContent);
  document.title = `found:${JSON.stringify(found)}:`;
})();
"##;

/// Opens a file and returns the page as it is in the end, and the messages of the console.
fn open(world: &World, file: &Path, options: &[&str]) -> Option<(String, Vec<String>)> {
    let program = find_chromium()?;
    let output = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=20000"])
        .args(options)
        .arg(format!("--user-data-dir={}", world.path("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    let messages = messages.lines().filter(|it| it.contains("CONSOLE")).map(str::to_owned);
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), messages.collect()))
}

fn skip(test: &str) {
    eprintln!("SKIPPED {test}: chromium not found");
}

#[test]
fn pages_open_from_files_without_errors() {
    let world = world_with_runs();
    world.assay(&["site", "pages"]).succeeded();
    let site = world.path("pages");
    let run = format!("runs/{}.html", run_ids(&world)[0]);
    let history = fs::read_dir(site.join("history")).unwrap().next().unwrap().unwrap();
    let history = format!("history/{}", history.file_name().display());
    for (name, expected) in [
        ("index.html", ">off</td>"),
        ("compare.html", "Tick two or more runs"),
        ("history.html", "memory.stream"),
        (&run, "Triad"),
        (&history, "<svg"),
    ] {
        let Some((page, messages)) = open(&world, &site.join(name), &[]) else {
            return skip("pages_open_from_files_without_errors");
        };
        assert_eq!(messages, Vec::<String>::new(), "{name}");
        assert!(page.contains(expected), "{name}: {page}");
    }
}

#[test]
fn filters_ticks_and_comparison_work() {
    let world = world_with_runs();
    world.assay(&["site", "pages"]).succeeded();
    let driver = world.write(
        "driver.html",
        &format!(
            "<!DOCTYPE html><iframe src=\"pages/index.html\" style=\"width:400px;height:900px\">\
             </iframe><script>{DRIVE}</script>"
        ),
    );
    // The frame is another origin otherwise.
    let Some((page, messages)) = open(&world, &driver, &["--allow-file-access-from-files"])
    else {
        return skip("filters_ticks_and_comparison_work");
    };
    assert_eq!(messages, Vec::<String>::new());
    let found = page.split_once("<title>found:").and_then(|(_, it)| it.split_once(":</title>"));
    let found = found.unwrap_or_else(|| panic!("no result: {page}")).0;
    let [on, off] = &run_ids(&world)[..] else { panic!("two runs") };
    let expected = serde_json::json!([
        "rows 2",
        "off 1",
        "searched 0 No run matches.",
        "searched 1",
        "disabled true",
        "disabled false true",
        "compared 4",
        "31.66 GB/s × 1.00 (interval: none)",
        format!("assay compare {off} {on}\nassay compare off on --host imported"),
    ]);
    assert_eq!(found, expected.to_string());
}

/// Labels that look like markup are text in the browser, too.
#[test]
fn hostile_labels_run_nothing() {
    let world = World::new();
    let stream =
        include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");
    world.write("stream.txt", stream);
    let label = "<img src=x onerror=alert(1)>";
    world.assay(&["import", "--label", label, "stream.txt"]).succeeded();
    world.assay(&["site", "pages"]).succeeded();
    let Some((page, messages)) = open(&world, &world.path("pages/index.html"), &[]) else {
        return skip("hostile_labels_run_nothing");
    };
    assert_eq!(messages, Vec::<String>::new());
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;</td>"), "{page}");
    assert!(!page.contains("<img"), "{page}");
}
