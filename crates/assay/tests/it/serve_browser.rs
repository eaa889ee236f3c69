//! The served site in headless Chromium: no message in the console under its policy; the list, the
//! ticks, the comparison, languages and themes work; runs appear, and a running one counts seconds.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use workbench::browser::{Browser, find_chromium};

use crate::program::World;
use crate::serve::Server;
use crate::site::{STREAM, run_ids, world_with_runs};

/// Finds a browser; without one, the test is listed as skipped.
pub(crate) fn find_browser(test: &str) -> Option<PathBuf> {
    let found = find_chromium();
    if found.is_none() {
        eprintln!("SKIPPED {test}: chromium not found");
    }
    found
}

/// Starts a browser; without one, the test is listed as skipped.
pub(crate) fn start_browser(world: &World, test: &str) -> Option<Browser> {
    let program = find_browser(test)?;
    Some(Browser::start(&program, &world.path("profile")).unwrap())
}

fn evaluate(browser: &mut Browser, script: &str) -> Value {
    browser.evaluate(script).unwrap()
}

const ROWS: &str = "document.querySelectorAll('#runs tbody tr').length";

#[test]
fn pages_work_under_their_policy() {
    let world = world_with_runs();
    let server = Server::start(&world, &[]);
    let Some(mut browser) = start_browser(&world, "pages_work_under_their_policy") else {
        return;
    };
    let site = format!("http://{}", server.address);
    browser.open(&format!("{site}/")).unwrap();
    browser.wait_until_ready().unwrap();
    assert_eq!(evaluate(&mut browser, ROWS), 2);
    let choose = "(() => { const it = document.querySelector('select[data-column=\"6\"]'); it.value = '=off'; \
                  it.dispatchEvent(new Event('input', { bubbles: true })); })()";
    evaluate(&mut browser, choose);
    assert_eq!(evaluate(&mut browser, ROWS), 1);
    evaluate(&mut browser, &choose.replace("'=off'", "''"));
    evaluate(
        &mut browser,
        "document.querySelectorAll('#runs input').forEach((it) => it.click())",
    );
    evaluate(&mut browser, "document.getElementById('compare').click()");
    browser.wait_for("document.querySelectorAll('#results tbody tr').length === 4").unwrap();
    let commands = evaluate(&mut browser, "document.getElementById('commands').textContent");
    assert!(commands.as_str().unwrap().contains("assay compare off on"), "{commands}");

    browser.open(&format!("{site}/runs/{}.html", run_ids(&world)[0])).unwrap();
    let sorted = "(() => { const head = document.querySelector('th.sorts'); head.click(); \
                  return head.getAttribute('aria-sort'); })()";
    assert_eq!(evaluate(&mut browser, sorted), "ascending");
    let paper = "getComputedStyle(document.body).backgroundColor";
    let light = evaluate(&mut browser, paper);
    browser.set_screen(400, "dark").unwrap();
    assert_ne!(evaluate(&mut browser, paper), light);
    browser.open(&format!("{site}/history.html")).unwrap();
    evaluate(&mut browser, "document.querySelector('tbody a').click()");
    browser.wait_for("document.querySelector('svg.plot')").unwrap();
    assert_eq!(browser.messages().unwrap(), Vec::<String>::new());
}

#[test]
fn pages_have_the_language_of_the_server() {
    let world = world_with_runs();
    for (locale, title) in [("de", "Läufe"), ("ja", "実行一覧")] {
        let server = Server::start(&world, &["--locale", locale]);
        let Some(mut browser) = start_browser(&world, "pages_have_the_language_of_the_server")
        else {
            return;
        };
        browser.open(&format!("http://{}/", server.address)).unwrap();
        browser.wait_until_ready().unwrap();
        assert_eq!(evaluate(&mut browser, "document.documentElement.lang"), locale);
        assert_eq!(evaluate(&mut browser, "document.querySelector('h1').textContent"), title);
        assert_eq!(browser.messages().unwrap(), Vec::<String>::new());
    }
}

/// The page stays open all the time, and keeps its ticks.
#[test]
fn an_open_page_follows_the_runs() {
    let world = World::new();
    let server = Server::start(&world, &[]);
    let Some(mut browser) = start_browser(&world, "an_open_page_follows_the_runs") else {
        return;
    };
    browser.open(&format!("http://{}/", server.address)).unwrap();
    world.write("stream.txt", STREAM);
    world.assay(&["import", "--label", "first", "stream.txt"]).succeeded();
    browser.wait_for(&format!("{ROWS} === 1")).unwrap();
    evaluate(&mut browser, "self.isSame = true; document.querySelector('#runs input').click()");
    let mut running = world.command(&["exec", "--label", "second", "--", "sleep", "2"]);
    let mut running = running.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    browser
        .wait_for("/ 0:0[2-9] min, /.test(document.querySelector('#running li')?.textContent)")
        .unwrap();
    browser.wait_for(&format!("{ROWS} === 2")).unwrap();
    assert!(running.wait().unwrap().success());
    browser.wait_for("document.getElementById('running').hidden").unwrap();
    browser
        .wait_for("!document.querySelector('#runs tbody tr').textContent.includes('running')")
        .unwrap();
    // The new label can be chosen, and the tick is still there.
    let kept = "[self.isSame, document.querySelectorAll('#runs input:checked').length, \
                [...document.querySelectorAll('select[data-column=\"6\"] option')].map((it) => it.value).join()]";
    assert_eq!(evaluate(&mut browser, kept), serde_json::json!([true, 1, ",=first,=second"]));
    assert_eq!(browser.messages().unwrap(), Vec::<String>::new());
    drop(server);
    browser
        .wait_for("document.getElementById('problem').textContent.includes('does not answer')")
        .unwrap();
}

/// Texts of users are text in news, too.
#[test]
fn hostile_labels_of_new_runs_are_text() {
    let world = world_with_runs();
    let server = Server::start(&world, &[]);
    let Some(mut browser) = start_browser(&world, "hostile_labels_of_new_runs_are_text") else {
        return;
    };
    browser.open(&format!("http://{}/", server.address)).unwrap();
    browser.wait_until_ready().unwrap();
    let label = "<img src=x onerror=alert(1)>";
    world.assay(&["import", "--label", label, "stream.txt"]).succeeded();
    browser.wait_for(&format!("{ROWS} === 3")).unwrap();
    assert_eq!(evaluate(&mut browser, "document.querySelectorAll('img').length"), 0);
    let shown = evaluate(&mut browser, "document.querySelector('#runs tbody').textContent");
    assert!(shown.as_str().unwrap().contains(label), "{shown}");
    assert_eq!(browser.messages().unwrap(), Vec::<String>::new());
}
