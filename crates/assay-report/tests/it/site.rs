//! Pages and data of a site: goldens of a small store, and texts of users that look like markup.

use std::path::Path;

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::doubt::TrustLevel;
use assay_model::event::RunStatus;
use assay_model::facts::HostFacts;
use assay_model::quantity::{Quantity, Unit};
use assay_report::build::{self, ListedRun};
use assay_report::locale::{Language, Locale};
use assay_report::site::{
    self, HistoryTexts, SiteContents, SiteHistory, SiteLabels, SiteRun, SiteVerdict,
};

use crate::conditions::accelerated_networking;
use crate::limits;
use crate::maker::{EstimateBuilder as _, estimate, summary};

/// Texts that people can store as labels, notes, hosts and machines.
fn hostile_texts() -> [String; 5] {
    [
        "<img src=x onerror=alert(1)>".to_owned(),
        "</script><script>alert(2)</script>".to_owned(),
        "\"' onfocus=alert(3) autofocus=\"".to_owned(),
        "\u{202e}\u{2066}drow\u{2028}\u{5e9}\u{5dc}\u{5d5}\u{5dd}".to_owned(),
        "<b>".repeat(3500),
    ]
}

fn site_run<'r>(id: &'r str, label: &'r str, host: &'r str) -> SiteRun<'r> {
    let listed = ListedRun {
        id,
        label,
        note: label,
        started: "2026-11-21T10:44:55Z",
        suite: "quick",
        status: RunStatus::Complete,
        is_running: false,
        cases: [3, 0, 3],
        host,
        other_hosts: 0,
        is_readable: true,
        headlines: vec![("Triad", Quantity::new(4.2e10, Unit::BytePerSecond))],
        trust: TrustLevel::Sound,
    };
    SiteRun { listed, started: "2026-11-21T10:44:55Z", machine: "HB120rs_v3" }
}

fn results(label: &str, host: &str) -> String {
    let facts = HostFacts { name: host.to_owned(), ..HostFacts::default() };
    let mut summary = summary("quick", RunStatus::Complete, facts);
    summary.run.label = Some(label.to_owned());
    let triad = estimate(Benchmark::MemoryStream, "triad", 4.2e10, 0.01)
        .with(Attribute::Placement, "node")
        .with(Attribute::Threads, 8_u64);
    let mut broken =
        estimate(Benchmark::MemoryStream, "copy", f64::NAN, 0.0).by_tool(host, "1");
    broken.ci = None;
    summary.results = vec![triad, broken];
    let keyed =
        summary.results.iter().map(|it| ((format!("{host}/{}", it.metric), 1), it.clone()));
    site::results_script(&summary, &keyed.collect::<Vec<_>>())
}

/// Returns the files of a site with these texts as labels, notes and hosts.
fn site_files(texts: &[String]) -> Vec<(String, String)> {
    let ids: Vec<String> =
        (0..texts.len()).map(|it| format!("20261121-10445{it}-7f3a")).collect();
    let runs: Vec<SiteRun<'_>> =
        ids.iter().zip(texts).map(|(id, text)| site_run(id, text, text)).collect();
    let unreadable: Vec<_> = texts.iter().map(|it| (it.clone(), it.clone())).collect();
    let contents = SiteContents { runs: &runs, pieces: 1, unreadable: &unreadable };
    let mut history = limits::sample_history([None, Some(5e10), None], vec![]);
    history.host.clone_from(&texts[0]);
    let history_texts = HistoryTexts::new(&history);
    let histories: Vec<_> = texts
        .iter()
        .map(|host| SiteHistory { host, file: "0a.html", texts: &history_texts })
        .collect();
    let mut summary = summary("quick", RunStatus::Complete, HostFacts::default());
    (summary.run.note, summary.run.label) = (Some(texts[0].clone()), Some(texts[0].clone()));
    let mut files = vec![
        ("index.html".to_owned(), site::overview_page(&contents)),
        ("compare.html".to_owned(), site::comparison_page_with_labels([30, 500])),
        ("history.html".to_owned(), site::histories_page(&histories, 300)),
        ("runs-0.js".to_owned(), site::runs_script(0, &runs)),
        ("run.html".to_owned(), site::run_page(&build::run_page(&summary, None))),
        ("one-history.html".to_owned(), site::history_page(&history)),
    ];
    files.extend(verdict_files(texts));
    let curves = site::curves_script("1", &build::history(&history), &[]);
    files.push(("curves.js".to_owned(), curves));
    let scripts = texts.iter().enumerate();
    files.extend(scripts.map(|(i, text)| (format!("results-{i}.js"), results(text, text))));
    files
}

/// Returns the files of a verdict between labels with these texts.
fn verdict_files(texts: &[String]) -> [(String, String); 3] {
    let [one, two] = [&texts[0], texts.last().unwrap()];
    let mut comparison = accelerated_networking();
    (comparison.a.name, comparison.b.name) = (one.clone(), two.clone());
    let keys: Vec<_> =
        (0..comparison.pairs.len()).map(|at| (format!("{one}{at}"), 1)).collect();
    let verdict = SiteVerdict { host: one, file: "0a", comparison: &comparison, keys: &keys };
    let conclusion = site::verdict_conclusion(&comparison);
    let labels =
        SiteLabels { host: one, labels: [one, two], file: "0a", conclusion: &conclusion };
    [
        ("verdict.html".to_owned(), site::verdict_page(&verdict)),
        ("verdict.js".to_owned(), site::verdict_script(&verdict)),
        ("labels.js".to_owned(), site::labels_script(&[labels])),
    ]
}

#[test]
fn small_site_matches_goldens() {
    let golden = [
        "index.html",
        "compare.html",
        "history.html",
        "runs-0.js",
        "results-0.js",
        "verdict.js",
        "labels.js",
        "curves.js",
    ];
    for (name, text) in site_files(&["on".to_owned(), "off".to_owned()]) {
        let start: String = text.chars().take(site::MARK_REACH).collect();
        assert!(start.contains(site::MARK), "{name} has no mark");
        if golden.contains(&name.as_str()) {
            let path =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/site").join(name);
            expect_test::expect_file![path].assert_eq(&text);
        }
    }
}

/// In pages no text of a user starts a tag or leaves an attribute; in scripts it is a JSON string.
#[test]
fn hostile_texts_stay_text() {
    for (name, text) in site_files(&hostile_texts()) {
        assert!(
            !text.contains(['\u{202e}', '\u{2066}', '\u{2028}']),
            "{name} has hidden letters"
        );
        if name.ends_with(".html") {
            for markup in
                ["<img", "<b>", "<script>alert", "\" autofocus", "' onfocus", "\" onf"]
            {
                assert!(!text.contains(markup), "{name} contains {markup}");
            }
            continue;
        }
        let json = text.split_once(" = ").unwrap().1.trim_end().trim_end_matches(';');
        serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert!(name != "runs-0.js" || text.len() < 10_000, "{} bytes", text.len());
    }
}

/// Returns the text of a page outside scripts.
fn without_scripts(page: &str) -> String {
    let outside = |piece: &str| piece.rsplit("</script>").next().unwrap_or_default().to_owned();
    page.split("<script").map(outside).collect()
}

#[test]
fn pages_have_no_raw_backticks() {
    for locale in Locale::ALL {
        let files = Language::for_locale(locale).scope(|| site_files(&["on".to_owned()]));
        let pages = files.iter().filter(|(name, _)| name.ends_with(".html"));
        for (name, page) in pages {
            assert!(!without_scripts(page).contains('`'), "{locale:?}: {name}");
        }
        assert!(files.iter().any(|(_, page)| page.contains("<code>assay compare</code>")));
    }
}

#[test]
fn site_has_every_language() {
    let mut pages = Vec::new();
    for locale in Locale::ALL {
        let texts = ["on".to_owned()];
        let files = Language::for_locale(locale).scope(|| site_files(&texts));
        let index = &files[0].1;
        assert!(index.contains(&format!("<html lang=\"{}\">", locale.tag())), "{locale:?}");
        for (name, text) in &files {
            assert!(!text.contains("site-"), "{locale:?}: {name} has a name of a message");
        }
        assert!(!pages.contains(index), "{locale:?}");
        pages.push(index.clone());
    }
}
