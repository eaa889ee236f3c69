//! Limits of results that are one of many: in a history, in tables of sizes, in a search for a
//! rate. Also comparisons on a narrow terminal in every language.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Better;
use assay_model::doubt::TrustLevel;
use assay_model::environment::EnvironmentAspect;
use assay_model::history::{
    DetectionMethod, EnvironmentChange, History, HistoryPoint, LevelChange, Sensitivity,
};
use assay_model::limit::LimitBasis;
use assay_model::quantity::Unit;
use assay_model::summary::RunSummary;
use assay_report::build;
use assay_report::document::{Block, Document, Plot};
use assay_report::locale::{Language, Locale};
use assay_report::render::{csv, html, json, text};
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
    History { environment, ..history_of(&limits) }
}

fn history_of(limits: &[Option<f64>]) -> History {
    let point = |(at, limit): (usize, &Option<f64>)| HistoryPoint {
        run: format!("20261121-10445{at}-000{at}"),
        started: format!("2026-11-2{at}T10:44:50Z"),
        label: None,
        median: 33e9 + 1e9 * at as f64,
        ci: None,
        trust: TrustLevel::Sound,
        n: None,
        limit: *limit,
    };
    History {
        schema: 1,
        statistics: 1,
        benchmark: "memory.stream".to_owned(),
        metric: "triad".to_owned(),
        identity: [].into(),
        label: None,
        conditions: [].into(),
        other_conditions: vec![],
        other_results: 0,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        host: "node-7".to_owned(),
        points: limits.iter().enumerate().map(point).collect(),
        changes: vec![],
        environment: vec![],
        method: DetectionMethod {
            name: "none",
            permutations: 1,
            seed: 1,
            risk: 0.01,
            margin: 0.03,
        },
        sensitivity: Sensitivity { runs_needed: 8, smallest_ratio: None },
    }
}

/// Returns a history of 40 runs with shifts of the level and changes of the environment close to each other.
pub(crate) fn crowded_history() -> Document {
    let mut history = history_of(&[Some(5e10); 40]);
    for (at, point) in history.points.iter_mut().enumerate() {
        point.run = format!("20261121-1044{at:02}-0000");
        point.started = format!("2026-11-21T10:44:{at:02}Z");
    }
    let change = |point: usize| LevelChange {
        point,
        run: history.points[point].run.clone(),
        before: 33e9,
        after: 34e9,
        ratio: Some(1.03),
        ratio_ci: Some([1.02, 1.04]),
        p: 0.001,
        is_better: true,
    };
    let environment = |(point, aspect): (usize, EnvironmentAspect)| EnvironmentChange {
        point,
        run: history.points[point].run.clone(),
        aspect,
        of: String::new(),
        before: "6.1.0".to_owned(),
        after: "6.18.44".to_owned(),
    };
    let changes = [3, 4, 5, 20, 38, 39].map(change).into();
    let kernel = EnvironmentAspect::Kernel;
    let environment = [2, 3, 4, 4, 5, 21, 22, 39].map(|it| environment((it, kernel))).into();
    (history.changes, history.environment) = (changes, environment);
    build::history(&history)
}

/// A history without a change prints what it could have shown.
#[test]
fn history_prints_its_sensitivity() {
    for (runs, smallest_ratio, expected) in [
        (1, None, "A single run shows no change"),
        (
            2,
            None,
            "Too few runs to tell whether the level changed: 8 are needed, and there are 2.",
        ),
        (
            7,
            None,
            "Too few runs to tell whether the level changed: 8 are needed, and there are 7.",
        ),
        (8, None, "No shift of the level was found.\n"),
        (8, Some(1.0213), "A step by a factor of 1.022 or more in the middle of these runs"),
        (9, Some(1.5), "a factor of 1.50 or more"),
        (9, Some(5.01), "a factor of 5.1 or more"),
    ] {
        let mut history = history_of(&vec![None; runs]);
        history.sensitivity.smallest_ratio = smallest_ratio;
        let options = text::TextOptions { width: 200, ..text::TextOptions::default() };
        let page = text::document(&build::history(&history), &options);
        assert!(page.contains(expected), "{expected}: {page}");
        assert_eq!(page.contains("permutations"), runs >= 8, "{page}");
        for locale in Locale::ALL {
            let localised = Language::for_locale(locale)
                .scope(|| text::document(&build::history(&history), &options));
            assert!(!localised.contains("history-"), "{localised}");
        }
    }
}

/// Titles have the names of the language, not stored words.
#[test]
fn titles_of_histories_are_translated() {
    let bytes = (Attribute::Bytes, 1_u64.into());
    let sent = [
        (Attribute::Streams, 2_u64.into()),
        (Attribute::Direction, "send".into()),
        (Attribute::Path, "loopback".into()),
    ];
    let waited = [bytes.clone(), (Attribute::Waiting, "sleep".into())];
    let read = [
        (Attribute::Operation, "read".into()),
        (Attribute::Pattern, "random".into()),
        (Attribute::Point, "max".into()),
    ];
    for (locale, name, identity, expected) in [
        (Locale::En, "memory.stream/triad", &[][..], "Triad (memory.stream)"),
        (Locale::De, "memory.latency/latency", &[bytes], "Latenz (memory.latency), 1 B"),
        (Locale::En, "network.tcp/round_trip", &waited, "TCP round trip, 1 B"),
        (Locale::De, "network.tcp/round_trip", &waited, "Umlaufzeit (TCP), 1 B"),
        (
            Locale::Ja,
            "network.tcp/goodput",
            &sent,
            "TCP グッドプット、送信、2 ストリーム、ループバック",
        ),
        (Locale::De, "storage/rate", &read, "Rate (storage), Lesen, wahlfrei, max."),
    ] {
        let (benchmark, metric) = name.split_once('/').unwrap();
        let history = History {
            benchmark: benchmark.to_owned(),
            metric: metric.to_owned(),
            identity: identity.iter().cloned().collect(),
            ..history_of(&[None])
        };
        let title = Language::for_locale(locale).scope(|| build::history(&history).title);
        assert_eq!(title.replace(['\u{a0}', '\u{202f}'], " "), expected);
    }
}

/// Every condition has its own history, which its label and what differs name.
#[test]
fn histories_of_other_conditions_are_named() {
    let with = |label: &str, bytes: u64, runs: usize| History {
        label: Some(label.to_owned()),
        conditions: [
            (Attribute::BytesPerArray, bytes.into()),
            (Attribute::Threads, 4_u64.into()),
        ]
        .into(),
        ..history_of(&vec![None; runs])
    };
    let other_conditions = vec![with("on", 1 << 30, 6), with("off", 1 << 20, 1)];
    let history = History { other_conditions, ..with("on", 1 << 20, 2) };
    let options = text::TextOptions { width: 200, ..text::TextOptions::default() };
    let page = text::document(&build::history(&history), &options).replace('\u{a0}', " ");
    for part in ["on, array size 1 MiB", "on, array size 1 GiB  ", "off, array size 1 MiB"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("threads"), "equal conditions are not named: {page}");
    let csv = csv::history(&history);
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .ends_with(",series,parameters.bytes_per_array,parameters.threads"),
        "{csv}"
    );
    assert_eq!(
        csv.lines().filter(|line| line.ends_with(",1,1073741824,4")).count(),
        6,
        "{csv}"
    );
    let json = json::history(&history);
    assert_eq!(json.matches("\"smallest_ratio\"").count(), 3, "{json}");
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
    assert_eq!(page.matches("Too few runs").count(), 1, "{page}");
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
