//! Pages in the checkers of others: axe-core finds no violation of accessibility, and the W3C's
//! checker no error.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use workbench::npm::{AXE, NpmFile, VNU};

use crate::program::{World, files_below};
use crate::serve::Server;
use crate::serve_browser::start_browser;
use crate::site::{run_ids, world_with_runs};

/// Property of SVG 2 that all browsers have, and the W3C's checker does not know.
const UNKNOWN: &str = "“paint-order”";

/// Returns a file of npm below `target`; without npm, the test is listed as skipped.
fn fetch(file: NpmFile, test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/npm");
    let fetched = file.fetch(&folder).unwrap();
    if fetched.is_none() {
        eprintln!("SKIPPED {test}: npm is not installed");
    }
    fetched
}

/// Stores runs with tables, pictures, doubts and failures.
fn filled_world() -> World {
    let world = world_with_runs();
    for (label, command) in [("sleep", "sleep 0.01"), ("fails", "false")] {
        world.assay(&["exec", "--runs", "3", "--label", label, "--", "sh", "-c", command]);
    }
    world
}

/// Writes single pages of the commands that have HTML.
fn write_reports(world: &World) -> Vec<PathBuf> {
    let ids = run_ids(world);
    let mut commands: Vec<Vec<&str>> = ids.iter().map(|id| vec!["report", id]).collect();
    commands.push(vec!["report", &ids[0], "--locale", "ja"]);
    commands.push(vec!["compare", "off", "on"]);
    commands.push(vec!["history", "triad"]);
    commands.push(vec!["show", &ids[0], &ids[1]]);
    commands.push(vec!["list"]);
    let written = commands.into_iter().enumerate().map(|(number, mut words)| {
        let name = format!("report-{number}.html");
        words.extend(["--format", "html", "-o", &name]);
        let outcome = world.assay(&words);
        let path = world.path(&name);
        assert!(path.is_file(), "{words:?}: {outcome:?}");
        path
    });
    written.collect()
}

#[test]
fn axe_finds_no_violation() {
    let test = "axe_finds_no_violation";
    let Some(axe) = fetch(AXE, test) else { return };
    let axe = std::fs::read_to_string(axe).unwrap();
    let world = filled_world();
    let server = Server::start(&world, &[]);
    let Some(mut browser) = start_browser(&world, test) else { return };
    let site = format!("http://{}", server.address);
    let ids = run_ids(&world);
    let mut pages = vec![
        format!("{site}/"),
        format!("{site}/history.html"),
        format!("{site}/compare.html"),
        format!("{site}/compare.html#{}", ids.join(",")),
    ];
    pages.extend(ids.iter().map(|id| format!("{site}/runs/{id}.html")));
    world.assay(&["site", "pages"]).succeeded();
    let histories = files_below(&world.path("pages/history")).into_iter().take(2);
    pages.extend(histories.map(|it| format!("file://{}", it.display())));
    let reports = write_reports(&world).into_iter();
    pages.extend(reports.map(|it| format!("file://{}", it.display())));
    let mut found = Vec::new();
    for page in pages {
        for (width, scheme) in [(1280, "light"), (400, "dark")] {
            browser.set_screen(width, scheme).unwrap();
            browser.open(&page).unwrap();
            browser
                .wait_for("!document.getElementById('filters') || document.body.dataset.ready")
                .unwrap();
            browser.evaluate(&format!("{axe}; 1")).unwrap();
            let violations = browser
                .evaluate(
                    "axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => \
                     nodes.map((it) => `${id}: ${it.html.slice(0, 200)} ${it.failureSummary}`)))",
                )
                .unwrap();
            let Value::Array(violations) = violations else { panic!("{violations}") };
            found.extend(violations.iter().map(|it| format!("{page} at {width} px: {it}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_checker_of_the_w3c_finds_no_error() {
    let test = "the_checker_of_the_w3c_finds_no_error";
    let Some(vnu) = fetch(VNU, test) else { return };
    if Command::new("java").arg("-version").output().is_err() {
        eprintln!("SKIPPED {test}: java is not installed");
        return;
    }
    let world = filled_world();
    world.assay(&["site", "pages"]).succeeded();
    let mut pages = files_below(&world.path("pages"));
    pages.retain(|it| it.extension().is_some_and(|it| it == "html" || it == "css"));
    pages.extend(write_reports(&world));
    let mut check = Command::new("java");
    check.arg("-jar").arg(vnu).args(["--stdout", "--exit-zero-always", "--also-check-css"]);
    let output = check.args(["--format", "json"]).args(&pages).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let messages = result["messages"].as_array().unwrap().iter();
    let is_error = |it: &&Value| {
        it["type"] != "info"
            && it["message"].as_str().is_none_or(|text| !text.contains(UNKNOWN))
    };
    let errors: Vec<String> = messages.filter(is_error).map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}
