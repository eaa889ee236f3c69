//! Pages in headless Chromium: no element exceeds the screen, no labels overlap, letters are large
//! enough, and the page's script works.

use std::fmt::Write as _;
use std::process::Command;
use std::{env, fs, process};

use assay_report::build;
use assay_report::render::html;
use workbench::browser::find_chromium;

use crate::{conditions, limits, mpi, node, storage};

/// Script that measures each frame at each of its widths.
const MEASURE: &str = r#"
// Between margins of a centimetre on A4.
const PAPER = 718;
const found = [];
const say = (text) => found.includes(text) || found.push(text);
const rects = (svg) => [...svg.querySelectorAll("text")].map((it) => [it.textContent, it.getBoundingClientRect()]).filter(([, it]) => it.width);
const look = (frame, width) => {
  const page = frame.contentDocument;
  const at = `${frame.name} at ${width} px: `;
  if (page.documentElement.scrollWidth > width) say(`${at}the page is ${page.documentElement.scrollWidth} px wide`);
  for (const svg of page.querySelectorAll("svg.plot")) {
    const whole = svg.getBoundingClientRect();
    if (!whole.width) continue;
    const size = 13.7 * whole.width / 760;
    if (size < 11) say(`${at}letters of a picture have ${size} px`);
    const words = rects(svg);
    words.forEach(([text, a], i) => {
      if (a.left < whole.left - 1 || a.right > whole.right + 1 || a.top < whole.top - 1 || a.bottom > whole.bottom + 1)
        say(`${at}${text} sticks out of its picture`);
      for (const [other, b] of words.slice(0, i))
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
          say(`${at}${text} lies on ${other}`);
    });
  }
  for (const it of page.querySelectorAll("td.right")) {
    if (width === PAPER || it.children.length) continue;
    const range = page.createRange();
    range.selectNodeContents(it);
    const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top)));
    if (lines.size > 1) say(`${at}${it.textContent} is broken over lines`);
  }
  if (/\\u\{?[0-9a-f]{4}/.test(page.body.innerText)) say(`${at}a letter is shown as its number`);
  const texts = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (text.parentElement.closest("script, style, svg")) continue;
    for (const word of text.nodeValue.matchAll(/\d{4}-\d\d-\d\d|\d{8}-\d{6}-[0-9a-f]{4}/g)) {
      const range = page.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top)));
      if (lines.size > 1) say(`${at}${word[0]} is broken over lines`);
    }
  }
  for (const it of page.querySelectorAll("p, td, th, dt, dd, li, caption, a, summary, select")) {
    const size = Number.parseFloat(page.defaultView.getComputedStyle(it).fontSize);
    if (size < 11) say(`${at}${it.tagName} has letters of ${size} px`);
  }
};
const act = (frame) => {
  const page = frame.contentDocument;
  const language = page.getElementById("assay-language");
  if (!language) return;
  if (language.closest("form").hidden) return say(`${frame.name}: no language can be chosen`);
  const words = () => page.querySelector("main").textContent;
  const [before, title, label] = [words(), page.title, language.labels[0].textContent];
  if (words().includes("`")) say(`${frame.name}: a raw backtick`);
  language.value = "ja";
  language.dispatchEvent(new Event("change"));
  if (page.documentElement.lang !== "ja") say(`${frame.name}: the language did not change`);
  if (page.title === title && title !== page.querySelector("h1").textContent) say(`${frame.name}: the title did not change`);
  if (language.labels[0].textContent === label) say(`${frame.name}: the selectors did not change`);
  if (words().includes("`") || words().includes("<code>")) say(`${frame.name}: raw markup in Japanese`);
  if (words() === before) say(`${frame.name}: the words did not change`);
  const table = page.querySelector("table");
  const head = table.tHead.rows[0].cells[1];
  head.click();
  if (head.getAttribute("aria-sort") !== "ascending") say(`${frame.name}: a table does not sort`);
};
// The languages of a page are there when it has unpacked them.
const switched = (frame) => new Promise((done) => {
  const form = frame.contentDocument.querySelector(".switch");
  if (!form || !form.hidden) return done();
  new MutationObserver(done).observe(form, { attributes: true });
  setTimeout(done, 10_000);
});
const frames = [...document.querySelectorAll("iframe")];
const loaded = (frame) => new Promise((done) => {
  // Those before it may be there when this script is read.
  const page = frame.contentDocument;
  if (page.readyState === "complete" && page.querySelector("main")) return done();
  frame.addEventListener("load", done);
  setTimeout(done, 10_000);
});
// The document counts as loaded when this frame is closed, and what it says then is printed.
const last = document.body.appendChild(document.createElement("iframe"));
last.contentDocument.open();
Promise.all(frames.map(loaded)).then(() => Promise.all(frames.map(switched))).then(() => {
  for (const width of [1000, 400, PAPER])
    for (const frame of frames) {
      if (frame.name.endsWith(" on paper") !== (width === PAPER)) continue;
      frame.style.width = `${width}px`;
      look(frame, width);
    }
  const shown = frames.filter((frame) => !frame.name.endsWith(" on paper"));
  shown.forEach(act);
  for (const frame of shown) look(frame, 400);
  document.title = `found:${JSON.stringify(found)}:`;
  last.contentDocument.close();
  document.body.innerHTML = "";
});
"#;

/// Loads pages in frames and returns the problems found, or `None` without Chromium.
#[expect(
    clippy::print_stdout,
    reason = "`cargo xtask test` lists the tests that cannot run here"
)]
fn find_faults(name: &str, pages: &[(&str, String)]) -> Option<String> {
    let Some(program) = find_chromium() else {
        println!("SKIPPED {name}: chromium not found");
        return None;
    };
    let folder = env::temp_dir().join(format!("assay-{name}-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut frames = String::new();
    let printed = pages.iter().map(|(name, page)| {
        (format!("{name} on paper"), page.replace("@media print {", "@media all {"))
    });
    let shown = pages.iter().map(|(name, page)| ((*name).to_owned(), page.clone()));
    for (name, page) in shown.chain(printed) {
        let page = page.replace('&', "&amp;").replace('"', "&quot;");
        let _ = write!(
            frames,
            "<iframe name=\"{name}\" style=\"height:3000px;border:0\" srcdoc=\"{page}\"></iframe>"
        );
    }
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><body>{frames}<script>{MEASURE}</script></body>"
    );
    let file = folder.join("pages.html");
    fs::write(&file, page).unwrap();
    let output = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = text.split_once("<title>found:").and_then(|(_, it)| it.split_once(":</title>"));
    let found = found.map(|(found, _)| found.to_owned());
    fs::remove_dir_all(&folder).unwrap();
    Some(found.unwrap_or_else(|| {
        panic!("chromium printed no result: {}", String::from_utf8_lossy(&output.stderr))
    }))
}

#[test]
fn pages_fit_their_screens() {
    let volume = storage::volume();
    let pages = [
        ("volume", html::page(&|| build::run_page(&volume, None), Some("x.json"))),
        ("node", html::document(&build::run(&node::memory(), None))),
        ("mpi", html::document(&build::run(&mpi::mpi(), None))),
        ("compared", html::document(&build::comparison(&conditions::accelerated_networking()))),
        ("crowded", html::page(&limits::crowded_history, None)),
        ("history", html::page(&|| limits::history([None, Some(5e10), None], vec![]), None)),
    ];
    if let Some(found) = find_faults("pages_fit_their_screens", &pages) {
        assert_eq!(found, "[]");
    }
}

/// Checks that the test above can fail.
#[test]
fn detects_oversized_elements() {
    let page = html::document(&build::run(&storage::volume(), None));
    let wide = page.replace("</main>", "<div style=\"width:3000px\">wide</div></main>");
    let small = wide.replace(".quiet { ", ".quiet { font-size: 9px !important; ");
    if let Some(found) = find_faults("detects_oversized_elements", &[("volume", small)]) {
        assert!(
            found.contains("the page is 3") && found.contains("letters of 9 px"),
            "{found}"
        );
    }
}
