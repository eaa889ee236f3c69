//! Limits of results that are one of many: in a history, in tables of sizes, in a search for a
//! rate. Also comparisons on a narrow terminal in every language.

use assay_model::benchmark::Better;
use assay_model::environment::EnvironmentAspect;
use assay_model::history::{DetectionMethod, EnvironmentChange, History, HistoryPoint};
use assay_model::limit::LimitBasis;
use assay_model::quantity::Unit;
use assay_model::summary::RunSummary;
use assay_report::build;
use assay_report::document::{Block, Document, Plot};
use assay_report::locale::{Language, Locale};
use assay_report::render::{html, text};
use unicode_width::UnicodeWidthStr;

use crate::maker::EstimateBuilder;
use crate::{conditions, mpi, storage};

pub(crate) fn history(
    limits: [Option<f64>; 3],
    environment: Vec<EnvironmentChange>,
) -> Document {
    build::history(&sample_history(limits, environment))
}

/// Returns the values of a history of three runs.
pub(crate) fn sample_history(
    limits: [Option<f64>; 3],
    environment: Vec<EnvironmentChange>,
) -> History {
    let point = |(at, limit): (usize, Option<f64>)| HistoryPoint {
        run: format!("20261121-10445{at}-000{at}"),
        started: format!("2026-11-2{at}T10:44:50Z"),
        label: None,
        median: 33e9 + 1e9 * at as f64,
        ci: None,
        n: None,
        limit,
    };
    History {
        schema: 1,
        statistics: 1,
        benchmark: "memory.stream".to_owned(),
        metric: "triad".to_owned(),
        identity: [].into(),
        other_results: 0,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        host: "node-7".to_owned(),
        points: limits.into_iter().enumerate().map(point).collect(),
        changes: vec![],
        environment,
        method: DetectionMethod {
            name: "none",
            permutations: 1,
            seed: 1,
            risk: 0.01,
            margin: 0.03,
        },
    }
}

fn plots(document: &Document) -> Vec<&Plot> {
    let blocks = document.blocks.iter();
    blocks.filter_map(|it| if let Block::Plot(plot) = it { Some(plot) } else { None }).collect()
}

#[test]
fn history_draws_a_common_limit() {
    for (limits, line, shares) in [
        ([Some(50e9); 3], Some("limit 50.00 GB/s"), ["66.0 %", "70.0 %"]),
        ([None, Some(50e9), Some(50e9)], Some("limit 50.00 GB/s"), ["68.0 %", "70.0 %"]),
        ([Some(40e9), Some(50e9), None], None, ["82.5 %", "68.0 %"]),
        ([None; 3], None, ["", ""]),
    ] {
        let document = history(limits, vec![]);
        let drawn = plots(&document)[0].limit.as_ref();
        let drawn = drawn.map(|it| it.label.replace('\u{a0}', " "));
        assert_eq!(drawn.as_deref(), line, "{limits:?}");
        let page =
            text::document(&document, &text::TextOptions::default()).replace('\u{a0}', " ");
        assert_eq!(page.contains("of limit"), limits.iter().any(Option::is_some), "{page}");
        for share in shares {
            assert!(page.contains(share), "{share}: {page}");
        }
    }
}

/// The plot has its own text.
#[test]
fn unchanged_level_is_printed_once() {
    let page = html::document(&history([None; 3], vec![]));
    assert_eq!(page.matches("The level did not change.").count(), 1, "{page}");
}

#[test]
fn environment_changes_are_drawn_and_listed() {
    let turnover = EnvironmentChange {
        point: 1,
        run: "20261121-104451-0001".to_owned(),
        aspect: EnvironmentAspect::Kernel,
        of: String::new(),
        before: "6.1.0".to_owned(),
        after: "6.18.44".to_owned(),
    };
    let document = history([None; 3], vec![turnover]);
    let drawn = &plots(&document)[0];
    assert_eq!(format!("{drawn:?}").matches("kernel").count(), 1, "{drawn:?}");
    let page = text::document(&document, &text::TextOptions::default());
    let line = page.lines().find(|line| line.contains("6.18.44")).unwrap();
    assert!(line.contains("20261121-104451-0001") && line.contains("6.1.0"), "{page}");
}

#[test]
fn tables_of_sizes_have_the_share_of_the_limit() {
    let mut summary = mpi::mpi();
    let written = |summary: &RunSummary| {
        let options = text::TextOptions { width: 300, ..text::TextOptions::default() };
        text::document(&build::run(summary, None), &options)
    };
    assert!(!written(&summary).contains("of limit"));
    for it in &mut summary.results {
        if it.metric == "bandwidth"
            && it.parameters.values().any(|it| it.as_text() == Some("/opt/intel"))
        {
            let limit = it.median * 2.0;
            *it = it.clone().with_limit(limit, LimitBasis::Link { device: None });
        }
    }
    let page = written(&summary);
    assert!(page.contains("Intel MPI 2021.18, of limit") && page.contains("50.0 %"), "{page}");
}

#[test]
fn search_plot_shows_its_goal() {
    let document = build::run(&storage::steady_state_and_search(), None);
    let plots = plots(&document);
    let goal = |it: &&&Plot| it.limit.as_ref().is_some_and(|it| it.label.starts_with("p99"));
    let search = plots.iter().find(goal).unwrap();
    assert!((search.limit.as_ref().unwrap().value - 0.01).abs() < 1e-9);
    let shown: Vec<(&str, usize)> =
        search.series.iter().map(|it| (it.name.as_str(), it.points.len())).collect();
    assert_eq!(shown, [("met", 2), ("missed", 1)]);
}

/// Conditions stay side by side: a table whose columns do not fit would need a line per cell.
#[test]
fn comparisons_fit_a_narrow_terminal_in_every_language() {
    let comparison = conditions::accelerated_networking();
    let write = |locale| {
        let language = Language::for_locale(locale);
        language.scope(|| {
            text::document(&build::comparison(&comparison), &text::TextOptions::default())
        })
    };
    let english = write(Locale::En).lines().count();
    for locale in Locale::ALL {
        let page = write(locale);
        let wide: Vec<&str> = page.lines().filter(|line| line.width() > 80).collect();
        assert_eq!(wide, Vec::<&str>::new(), "{locale:?}");
        let lines = page.lines().count();
        assert!(
            lines * 2 <= english * 3,
            "{locale:?}: {lines} lines, {english} in English:\n{page}"
        );
    }
}
