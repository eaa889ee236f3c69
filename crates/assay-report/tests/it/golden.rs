//! Artificial summaries in every format, compared with the files in `tests/golden`.
//! `UPDATE_EXPECT=1 cargo test -p assay-report` rewrites them.

use std::path::Path;

use assay_model::attribute::Attribute;
use assay_model::doubt::{Doubt, TrustLevel};
use assay_model::event::{RunEvent, RunStatus, Sample, SeriesOpened};
use assay_model::facts::HostFacts;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::limit::{LimitBasis, PhysicalLimit};
use assay_model::plan::expand::{Measurer, PlanChoices, expand};
use assay_model::plan::{MissingRequirement, OmittedMeasure};
use assay_model::quantity::{Quantity, Unit};
use assay_model::run::Run;
use assay_model::suite::parse_suite;
use assay_model::summary::{CaseFailure, MetricEstimate, RunSummary};
use assay_report::build;
use assay_report::document::Document;
use assay_report::locale::{Language, Locale};
use assay_report::render::{csv, html, json, markdown, svg, text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::inflate::decompress_to_vec;

use crate::{
    conditions, events, guest, levels, memory, mpi, network, node, small, storage, troubled,
};

fn compare(name: &str, content: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    expect_test::expect_file![path].assert_eq(content);
}

fn check(name: &str, summary: &RunSummary) {
    let document = build::run(summary, None);
    let wide = text::TextOptions { width: 120, details: true, ..text::TextOptions::default() };
    compare(&format!("{name}.txt"), &text::document(&document, &text::TextOptions::default()));
    compare(&format!("{name}.wide.txt"), &text::document(&document, &wide));
    compare(&format!("{name}.md"), &markdown::document(&document));
    compare(&format!("{name}.html"), &body(&html::document(&document)));
    compare(&format!("{name}.csv"), &csv::summary(summary));
}

fn check_document(name: &str, document: &Document) {
    compare(&format!("{name}.txt"), &text::document(document, &text::TextOptions::default()));
    compare(&format!("{name}.md"), &markdown::document(document));
    compare(&format!("{name}.html"), &body(&html::document(document)));
}

/// Returns the visible part of a page. The data are the summary, which `properties.rs` checks, and
/// the style is the same on every page.
fn body(page: &str) -> String {
    let (_, body) = page.split_once("<body>\n").unwrap();
    let (body, _) = body.split_once("</body>").unwrap();
    body.split_once("<script").unwrap().0.to_owned()
}

#[test]
fn renders_guest() {
    check("guest", &guest::quick());
}

/// The same page in languages that differ from English in every respect.
#[test]
fn renders_guest_in_other_languages() {
    for locale in [Locale::Fr, Locale::Ru, Locale::ZhHans] {
        Language::for_locale(locale).scope(|| {
            let document = build::run(&guest::quick(), None);
            let tag = locale.tag();
            compare(&format!("guest.{tag}.md"), &markdown::document(&document));
        });
    }
}

/// Command output outside reports is also translated completely.
#[test]
fn renders_commands_in_other_languages() {
    for locale in [Locale::Fr, Locale::Ru, Locale::ZhHans] {
        let pages = || {
            [small::listing(), small::findings(), small::hosts(), small_plan()]
                .into_iter()
                .chain([build::comparison(&conditions::accelerated_networking())])
                .chain(
                    [levels::threads(), levels::hosts(), levels::threads_and_sizes()]
                        .map(|it| build::level_comparison(&it)),
                )
                .map(|page| text::document(&page, &text::TextOptions::default()))
                .collect::<String>()
        };
        let (name, text) = (
            format!("commands.{}.txt", locale.tag()),
            Language::for_locale(locale).scope(pages),
        );
        // The full-width full stop already contains its space.
        assert!(!text.contains("。 "), "{text}");
        compare(&name, &text);
    }
}

/// No page fails in any language.
#[test]
fn renders_every_page_in_every_language() {
    let all = [
        guest::quick(),
        node::memory(),
        storage::volume(),
        storage::steady_state_and_search(),
        storage::files(),
        troubled::run(),
        guest::quick_with_hpcc(),
        mpi::mpi(),
        memory::loaded_and_core_to_core(12),
    ];
    for locale in Locale::ALL {
        Language::for_locale(locale).scope(|| {
            for summary in &all {
                let document = build::run(summary, None);
                let page = html::document(&document);
                assert!(page.contains(&format!("<html lang=\"{}\">", locale.tag())));
                // Placeholder of a missing message.
                assert!(
                    !text::document(&document, &text::TextOptions::default()).contains("…: ")
                );
            }
        });
    }
}

/// One file contains the page in every language and with both kinds of units, to be selected
/// offline.
#[test]
fn page_contains_every_language() {
    for (name, summary) in [
        ("guest", guest::quick()),
        ("volume", storage::volume()),
        ("network", network::network()),
    ] {
        let page = html::page(&|| build::run_page(&summary, None), Some("report.json"));
        assert!(page.len() <= 200_000, "{name}: {} bytes", page.len());
        let packed = page.split_once("id=\"assay-texts\">").unwrap().1;
        let packed = STANDARD.decode(packed.split_once("</script>").unwrap().0).unwrap();
        let unpacked = String::from_utf8(decompress_to_vec(&packed).unwrap()).unwrap();
        let texts: serde_json::Value = serde_json::from_str(&unpacked).unwrap();
        assert_eq!(texts["variants"].as_array().unwrap().len(), 2 * Locale::ALL.len());
        let contains = |text: &str| unpacked.contains(&format!("\"{text}\""));
        assert!(contains("Méthode") && contains("방법"), "{name}");
        assert!(page.contains("href=\"report.json\""));
    }
}

#[test]
fn renders_node_of_24_caches() {
    check("node", &node::memory());
}

/// The first screen of 80 × 24 also needs five lines for the next steps.
#[test]
fn answer_fits_the_first_screen() {
    let options = text::TextOptions { width: 80, ..text::TextOptions::default() };
    for (name, summary) in [
        ("guest", guest::quick()),
        ("node", node::memory()),
        ("mpi", mpi::mpi()),
        ("network", network::network()),
        ("volume", storage::volume()),
    ] {
        let text =
            text::document(&build::answer(&summary, None, build::MAX_ROWS, true), &options);
        assert!(text.lines().count() <= 19, "{name}: {text}");
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 80, "{name}: {text}");
        compare(&format!("{name}.answer.txt"), &text);
    }
}

/// A response curve is one row of a plan, and syncing a file in one case does not make it another
/// file.
#[test]
fn curve_is_one_row_of_a_plan() {
    let suite = parse_suite(
        r#"name = "x"
[[measure]]
benchmark = "storage"
name = "a"
path = "/data/x"
operation = "read"
curve = [10, 50]
"#,
    )
    .unwrap();
    let measurers = [Measurer { name: "assay", supports: |_| true }];
    let choices = PlanChoices::new(&measurers, 7);
    let mut plan = expand(&suite, &node::host(), &choices).unwrap();
    for case in plan.cases.iter_mut().take(1) {
        let Some(test) = case.workload.as_storage_mut() else { panic!("{case:?}") };
        test.workload.targets.iter_mut().for_each(|it| it.sync_at_end = true);
    }
    let document = build::plan(&plan, &[], false, None);
    let text =
        text::document(&document, &text::TextOptions { width: 80, ..Default::default() });
    let rows = text.lines().filter(|line| line.contains("storage/"));
    assert_eq!(rows.count(), 1, "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("fsync at the end") && words.contains("then 10 %, 50 %"), "{text}");
}

/// More topics than lines on a screen, all noisy.
fn summary_with_many_doubts() -> RunSummary {
    let mut summary = guest::quick();
    let others = [network::network(), storage::volume(), mpi::mpi()];
    summary.results.extend(others.into_iter().flat_map(|it| it.results));
    for (nth, it) in summary.results.iter_mut().enumerate() {
        let half = it.median.abs() * [0.2, 0.3, 3.0][nth % 3];
        it.ci = (nth % 4 > 0).then_some([it.median - half, it.median + half]);
    }
    summary
}

/// Each row has one line, every topic has a row, omitted rows are named, and the legend appears
/// once.
#[test]
fn answer_rows_have_one_line() {
    let summary = summary_with_many_doubts();
    let options = text::TextOptions { width: 80, ..text::TextOptions::default() };
    for most in [4, 7, build::MAX_ROWS] {
        let text = text::document(&build::answer(&summary, None, most, false), &options);
        let rows = text.lines().filter(|line| line.ends_with("  noisy")).count();
        assert!(rows == most.max(5) && text.lines().count() <= rows + 14, "{most}: {text}");
        let legend = "noisy: the interval is wider than ±10 %";
        let words =
            text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\u{a0}', " ");
        assert!(words.contains(legend) && !words.contains("a: "), "{most}: {text}");
        for topic in ["Triad", "FP64 peak", "TCP", "random-read-8KiB", "MPI latency"] {
            let is_row = |line: &str| line.contains(topic) && line.ends_with("  noisy");
            assert!(text.lines().any(is_row), "{most}: {topic}: {text}");
        }
        let all = build::answer_rows(&summary).len();
        assert!(words.contains(&format!("{} more: ", all - rows)), "{most}: {text}");
        assert!(words.contains("MPI bandwidth"), "{most}: {text}");
    }
}

/// In every format, the first lines report that the run is suspect, and why.
#[test]
fn every_report_starts_with_suspicion() {
    let mut summary = guest::quick();
    summary.warnings.push(Doubt::AnotherAssay);
    let options = text::TextOptions { width: 200, ..text::TextOptions::default() };
    let report = build::run(&summary, None);
    let learn = build::learn("x", &[&summary], &[]).document;
    for page in [
        text::document(&report, &options),
        text::document(&build::answer(&summary, None, build::MAX_ROWS, true), &options),
        markdown::document(&report),
        body(&html::page(&|| build::run_page(&summary, None), None)),
        markdown::document(&learn),
    ] {
        let page = page.split_once("</nav>").map_or(&*page, |(_, page)| page);
        let notice = page.find("suspect: another assay is measuring");
        let machine = ["AMD EPYC", "Memory bandwidth"].iter().filter_map(|it| page.find(it));
        assert!(notice < machine.min() && notice.is_some(), "{page}");
    }
}

/// Doubts set the level of the values that they concern; a wide interval alone is noisy.
#[test]
fn levels_of_trust_are_per_value() {
    let options = text::TextOptions { width: 160, ..text::TextOptions::default() };
    let answer = |summary: &RunSummary| {
        let answer = build::answer(summary, None, build::MAX_ROWS, false);
        text::document(&answer, &options).replace('\u{a0}', " ")
    };
    let mut summary = guest::quick();
    for it in &mut summary.results {
        it.warnings.clear();
        it.ci = Some([it.median * 0.99, it.median * 1.01]);
        it.percent_of_limit = None;
    }
    summary.warnings = vec![
        Doubt::Steal { stolen_s: 0.3, share: 0.008, span_s: 20.0 },
        Doubt::OverBudget { elapsed_s: 60.0, budget_s: 20.0 },
    ];
    assert_eq!(build::trust_level(&summary), TrustLevel::Sound);
    let sound = answer(&summary);
    assert!(sound.contains("  sound") && !sound.contains("noisy"), "{sound}");
    let change =
        |summary: &mut RunSummary, metric: &str, edit: &dyn Fn(&mut MetricEstimate)| {
            summary.results.iter_mut().filter(|it| it.metric == metric).for_each(edit);
        };
    let mut noisy = summary.clone();
    change(&mut noisy, "triad", &|it| it.ci = Some([it.median * 0.8, it.median * 1.2]));
    assert_eq!(build::trust_level(&noisy), TrustLevel::Noisy);
    let page = answer(&noisy);
    assert!(
        page.contains("noisy: memory bandwidth, Triad (the interval is ±20.0 %)"),
        "{page}"
    );
    let rows = |page: &str, end: &str| page.lines().filter(|it| it.ends_with(end)).count();
    assert_eq!((rows(&page, "  noisy"), rows(&page, "  suspect")), (1, 0), "{page}");
    let mut suspect = noisy.clone();
    let demand = Doubt::OtherDemand { cpus: 1.0, usable_cpus: 2 };
    change(&mut suspect, "rmax", &|it| it.warnings.push(demand.clone()));
    let page = answer(&suspect);
    assert!(
        page.contains("suspect: LINPACK, Rmax (other processes used 1.0 of 2 CPUs"),
        "{page}"
    );
    assert_eq!((rows(&page, "  noisy"), rows(&page, "  suspect")), (1, 1), "{page}");
    let json: serde_json::Value = serde_json::from_str(&json::summary(&suspect)).unwrap();
    assert_eq!(
        (&json["trust"]["verdict"], &json["trust"]["level"]),
        (&"untrusted".into(), &"suspect".into())
    );
    let levels = |level: &str| {
        json["results"].as_array().unwrap().iter().filter(|it| it["trust"] == level).count()
    };
    assert!(levels("suspect") > 0 && levels("noisy") > 0 && levels("sound") > 0, "{json:#}");
    // Old runs: pressure includes assay's own threads, so it is no contradiction.
    let mut old = summary.clone();
    old.warnings.push(Doubt::CpuPressure { share: 0.93 });
    assert_eq!(build::trust_level(&old), TrustLevel::Noisy);
}

/// Two samples, or two groups of samples, have no median that describes them.
#[test]
fn headline_without_a_median_is_a_range() {
    let options = text::TextOptions { width: 160, ..text::TextOptions::default() };
    let mut summary = guest::quick();
    let is_latency = |it: &&mut MetricEstimate| it.metric == "latency";
    for it in summary.results.iter_mut().filter(is_latency) {
        (it.n, it.n_effective, it.ci) = (2, 2.0, None);
        (it.min, it.median, it.max) = (191e-9, 27e-6, 54e-6);
    }
    let page = |summary: &RunSummary| {
        let answer = build::answer(summary, None, build::MAX_ROWS, false);
        text::document(&answer, &options).replace('\u{a0}', " ")
    };
    let few = page(&summary);
    let row = few.lines().find(|line| line.starts_with("  memory latency")).unwrap();
    assert!(row.contains("191 ns–54.0 µs") && row.ends_with("  noisy"), "{few}");
    assert!(!few.contains("27 µs") && few.contains("too few samples"), "{few}");
    for it in summary.results.iter_mut().filter(is_latency) {
        (it.n, it.n_effective, it.ci) = (60, 60.0, Some([26e-6, 28e-6]));
        let (low, high) = (200e-9, 53e-6);
        it.warnings.push(Doubt::SeveralModes { share_low: 0.5, low, high, unit: it.unit });
    }
    let modes = page(&summary);
    assert!(modes.contains("200 ns–53.0 µs") && modes.contains("groups"), "{modes}");
}

/// A column contains shares of a calculated and of a measured peak: each names its limit.
#[test]
fn answer_names_the_limit_of_a_share() {
    let mut summary = guest::quick();
    let peak = LimitBasis::MeasuredPeak { instruction_set: "avx512".into(), cores: 2 };
    for (metric, share, basis) in
        [("fp64", 99.7, LimitBasis::Provisioned), ("rmax", 90.6, peak)]
    {
        let is_it = |it: &&mut MetricEstimate| it.metric == metric;
        let estimate = summary.results.iter_mut().find(is_it).unwrap();
        estimate.percent_of_limit = Some(share);
        estimate.limit = Some(PhysicalLimit { value: estimate.median * 100.0 / share, basis });
    }
    let options = text::TextOptions { width: 120, ..text::TextOptions::default() };
    let text = text::document(&build::answer(&summary, None, build::MAX_ROWS, false), &options);
    let text = text.replace('\u{a0}', " ");
    let row = |name: &str| text.lines().find(|it| it.contains(name)).unwrap().to_owned();
    assert!(row("LINPACK").contains("90.6 % (FP64 peak)"), "{text}");
    assert!(row("FP64").contains("99.7 %  "), "{text}");
}

/// HTML pages explain verdicts like the first screen.
#[test]
fn page_explains_verdicts() {
    let page = body(&html::page(&|| build::run_page(&summary_with_many_doubts(), None), None));
    let summary = &page[..page.find("<h2").unwrap()];
    let legend = "noisy: the interval is wider than ±10\u{a0}%, too few samples";
    assert!(summary.contains(legend), "{summary}");
}

#[test]
fn every_host_has_its_own_rows() {
    let mut summary = guest::quick();
    let rows_per_host = build::answer_rows(&summary).len();
    let results_of = |host: &'static str| {
        let mut results = guest::quick().results;
        results.iter_mut().for_each(|it| {
            it.host = host.to_owned();
            it.parameters.insert(Attribute::Host, host.into());
        });
        results
    };
    summary.results = [results_of("vm1"), results_of("vm2")].concat();
    // Only the second host is noisy, and the better first host does not hide it.
    summary.results.iter_mut().filter(|it| it.host == "vm2").for_each(|it| it.ci = None);
    let rows = build::answer_rows(&summary);
    assert_eq!(rows.len(), 2 * rows_per_host);
    assert!(rows.iter().all(|row| row.label.ends_with(&row.estimate.host)), "{rows:?}");
    assert!(!build::distrust_reasons(&summary).is_empty());
    // The screen still has one row per benchmark.
    let options = text::TextOptions { width: 80, ..text::TextOptions::default() };
    let text = text::document(&build::answer(&summary, None, build::MAX_ROWS, true), &options);
    let rows = text.lines().filter(|line| line.contains("(vm1)") || line.contains("(vm2)"));
    assert_eq!(rows.count(), rows_per_host, "{text}");
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80 && text.lines().count() <= 19, "{text}");
}

/// The heading of the worst column is a host, a pair of hosts, or neither if rows differ.
#[test]
fn worst_of_many_has_its_own_column() {
    let answer_of = |kinds: &[(&str, bool)]| {
        let mut summary = network::network();
        let hosts = ["north1", "north2", "east1"];
        let of_host = |(metric, is_pair): (&str, bool), at: usize| {
            let goodput = summary.results.iter().find(|it| it.metric == metric);
            let mut estimate = goodput.unwrap().clone();
            estimate.host = hosts[at].to_owned();
            estimate.parameters.insert(Attribute::Host, hosts[at].into());
            if is_pair {
                estimate.parameters.insert(Attribute::Peer, hosts[(at + 1) % 3].into());
            }
            estimate.median *= 1.0 + at as f64;
            estimate
        };
        let each =
            |kind: &(&str, bool)| (0..3).map(|at| of_host(*kind, at)).collect::<Vec<_>>();
        summary.results = kinds.iter().flat_map(each).collect();
        let options = text::TextOptions { width: 200, ..text::TextOptions::default() };
        text::document(&build::answer(&summary, None, build::MAX_ROWS, true), &options)
    };
    let header = |text: &str| {
        let line = text.lines().find(|line| line.contains("what")).unwrap();
        let names = line.split("  ").map(str::trim).filter(|name| !name.is_empty());
        names.map(str::to_owned).nth(2).unwrap()
    };
    let pairs = answer_of(&[("goodput", true), ("round_trip", true)]);
    assert_eq!(header(&pairs), "worst pair", "{pairs}");
    assert!(
        pairs.contains("(north1 → north2)") && pairs.contains("(east1 → north1)"),
        "{pairs}"
    );
    let hosts = answer_of(&[("goodput", false), ("round_trip", false)]);
    assert_eq!(header(&hosts), "worst host", "{hosts}");
    assert!(hosts.contains("(north1)") && hosts.contains("(east1)"), "{hosts}");
    let both = answer_of(&[("goodput", true), ("round_trip", false)]);
    assert_eq!(header(&both), "worst", "{both}");
}

/// A host that sends to several others has a pair with each; the best pair does not represent the
/// others.
#[test]
fn every_pair_has_its_own_row() {
    let mut summary = network::network();
    let goodput = summary.results.iter().find(|it| it.metric == "goodput").unwrap().clone();
    let hosts = ["w1", "w2", "w3"];
    let ends = hosts.iter().flat_map(|from| hosts.map(|to| (*from, to)));
    let ends = ends.filter(|(from, to)| from != to);
    let of_pair = |(nth, (from, to)): (usize, (&str, &str))| {
        let mut estimate = goodput.clone();
        from.clone_into(&mut estimate.host);
        estimate.parameters.insert(Attribute::Host, from.into());
        estimate.parameters.insert(Attribute::Peer, to.into());
        estimate.median = 1e9 * (1 + nth) as f64;
        estimate
    };
    summary.results = ends.enumerate().map(of_pair).collect();
    let rows = build::answer_rows(&summary);
    assert_eq!(rows.len(), 6, "{rows:?}");
    assert!(rows[0].label.ends_with("w1 → w2"), "{}", rows[0].label);
    let options = text::TextOptions { width: 80, ..text::TextOptions::default() };
    let text = text::document(&build::answer(&summary, None, build::MAX_ROWS, true), &options);
    let row = text.lines().find(|line| line.contains("TCP, 6 streams, send  ")).unwrap();
    assert!(row.contains("3.0 Gbit/s") && row.contains("1.0 Gbit/s (w1 → w2)"), "{text}");
}

/// Labels and notes do not add extra blocks to a list of runs.
#[test]
fn listed_runs_have_few_lines() {
    let run = |id: &'static str| build::ListedRun {
        id,
        label: "accelerated",
        note: "after the second reboot, with the new firmware of the network card and no tuning",
        started: "2026-11-21T10:44:55Z",
        suite: "network",
        status: RunStatus::Complete,
        is_running: false,
        cases: [36, 0, 36],
        host: "node-7",
        other_hosts: 0,
        is_readable: true,
        headlines: vec![
            ("Triad", Quantity::new(41.234e9, Unit::BytePerSecond)),
            ("memory", Quantity::new(93.8e-9, Unit::Second)),
            ("FP64 peak", Quantity::new(236.1e9, Unit::FlopPerSecond)),
            ("Rmax", Quantity::new(214.6e9, Unit::FlopPerSecond)),
        ],
        trust: TrustLevel::Noisy,
    };
    let runs = [run("20261121-104455-0001"), run("20261121-104455-0002")];
    let listing = build::listing(&runs, &[], build::HiddenRuns::default());
    for (width, most) in [(80, 2), (120, 3)] {
        let options = text::TextOptions { width, ..text::TextOptions::default() };
        let text = text::document(&listing, &options);
        assert!(text.lines().count() <= 6 + most * runs.len(), "{text}");
        assert!(text.contains("accelerated") && text.contains("41.2"), "{text}");
    }
    assert!(markdown::document(&listing).contains("no tuning"));
    // Value names are longer if another program started the ranks.
    let osu = build::ListedRun {
        suite: "quick+memory",
        label: "",
        headlines: vec![(
            "MPI bandwidth (launcher)",
            Quantity::new(11.4e9, Unit::BytePerSecond),
        )],
        ..run("20261121-104455-0003")
    };
    let listing = build::listing(&[osu], &[], build::HiddenRuns::default());
    let text = text::document(&listing, &text::TextOptions { width: 80, ..Default::default() });
    assert!(text.contains("──") && !text.contains("suite:"), "{text}");
}

/// Doubts that many hosts share take one line, in the report and on the first screen.
#[test]
fn groups_doubts_about_many_hosts() {
    let mut summary = guest::quick();
    let on = |host: usize, doubt: Doubt| {
        let (host, doubt) = (format!("h{host}"), Box::new(doubt));
        Doubt::OnHost { host, doubt }
    };
    summary.warnings = (1..=100).map(|host| on(host, Doubt::AnotherAssay)).collect();
    let loads =
        (1..=100).map(|host| on(host, Doubt::OtherLoad { load: 0.5 + host as f64 / 100.0 }));
    summary.warnings.extend(loads);
    let options = text::TextOptions { width: 200, ..text::TextOptions::default() };
    let report = text::document(&build::run(&summary, None), &options);
    let lines_with = |text: &str| {
        let lines = report.lines().filter(|line| line.contains(text));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    let another = lines_with("] h[1-100] (100): another assay is measuring");
    assert_eq!(another.len(), 1, "{report}");
    let loads = lines_with("the load average was");
    assert_eq!(loads.len(), 4, "{report}");
    assert!(loads[3].ends_with("… and on 96 more hosts: h[5-100]"), "{report}");
    let reasons = build::distrust_reasons(&summary);
    let expected = "h[1-100] (100): another assay is measuring";
    assert!(reasons[0].starts_with(expected), "{reasons:?}");
}

#[test]
fn renders_volume_with_response_curves() {
    check("volume", &storage::volume());
}

#[test]
fn renders_steady_state_and_search() {
    check_document("courses", &build::run(&storage::steady_state_and_search(), None));
}

/// A matrix is printed as such, in parts if it is wider than the page.
#[test]
fn renders_loaded_latency_and_core_to_core() {
    let few = build::run(&memory::loaded_and_core_to_core(12), None);
    check_document("memory", &few);
    // More cores than columns with numbers: text has the extremes alone.
    let many = build::run(&memory::loaded_and_core_to_core(96), None);
    compare("memory.many.txt", &text::document(&many, &text::TextOptions::default()));
    compare("memory.many.md", &markdown::document(&many));
    let page = html::document(&many);
    assert!(page.len() <= 400_000, "{} bytes", page.len());
    let answer = build::answer(&memory::loaded_and_core_to_core(12), None, 12, false);
    compare("memory.answer.txt", &text::document(&answer, &text::TextOptions::default()));
}

/// Idle is the chain without traffic, however little bandwidth the least traffic has.
#[test]
fn idle_is_no_point_with_traffic() {
    let row = |summary: &RunSummary| {
        let page = text::document(&build::run(summary, None), &text::TextOptions::default());
        let row = page.lines().find(|it| it.starts_with("  100 % reads")).unwrap();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut summary = memory::loaded_and_core_to_core(3);
    let expected = row(&summary);
    let is_idle = |it: &MetricEstimate| it.parameters.contains_key(&Attribute::Point);
    let mut idle = summary.results.iter_mut().filter(|it| is_idle(it));
    idle.find(|it| it.metric == "bandwidth").unwrap().median = 170e9;
    assert_eq!(row(&summary), expected);
    summary.results.retain(|it| !is_idle(it));
    let mut without_idle = expected;
    assert_eq!(without_idle.drain(5..7).collect::<Vec<_>>(), ["120", "ns"]);
    assert_eq!(row(&summary), without_idle);
}

#[test]
fn renders_copies_between_domains() {
    for (name, domains) in [("copies", 4), ("copies.many", 16)] {
        check_document(name, &build::run(&node::copies(domains), None));
    }
}

#[test]
fn renders_distances_of_nodes() {
    check_document("nodes", &build::run(&node::nodes(), None));
}

#[test]
fn single_node_has_nothing_to_compare() {
    let is_named = |count: usize| {
        let mut summary = node::copies(4);
        summary.hosts[0].topology.numa.truncate(count);
        let page = text::document(&build::run(&summary, None), &text::TextOptions::default());
        page.contains("a single NUMA node")
    };
    assert!(is_named(1));
    assert!(!is_named(2) && !is_named(0));
}

#[test]
fn renders_file_tree_operations() {
    check_document("files", &build::run(&storage::files(), None));
}

#[test]
fn renders_failures_and_warnings() {
    check("troubled", &troubled::run());
}

#[test]
fn groups_cases_with_the_same_failure() {
    let summary = troubled::refused_for_one_reason();
    let text = text::document(&build::run(&summary, None), &text::TextOptions::default());
    assert_eq!(
        text.matches("both hosts are one machine").count(),
        2,
        "once for each host\n{text}"
    );
    let others = ["8B", "16B", "32B"].map(|bytes| format!("mpi.latency/a:b/{bytes}"));
    let [first, rest @ ..] = &others;
    let others = format!("2 other cases failed in the same way: {}", rest.join("; "));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(first) && words.contains(&others), "{text}");
}

#[test]
fn renders_two_measurers() {
    check("measurers", &guest::quick_with_hpcc());
}

#[test]
fn renders_four_mpis() {
    check("mpi", &mpi::mpi());
}

#[test]
fn interrupted_run_reports_unfinished_cases() {
    let mut summary = guest::quick();
    summary.results.truncate(6);
    summary.run.status = RunStatus::Interrupted;
    let document = build::run(&summary, Some(&events::run()));
    compare("interrupted.txt", &text::document(&document, &text::TextOptions::default()));
    // If the rounds of all cases alternate, all cases have begun before the last one.
    let mut run = events::run();
    run.started.plan.cases.truncate(1);
    let text = text::document(&build::run(&summary, Some(&run)), &text::TextOptions::default());
    assert!(text.contains("every case was measured, some with fewer repetitions"), "{text}");
}

#[test]
fn colours_follow_tones() {
    let document = build::run(&troubled::run(), None);
    let options = text::TextOptions { colour: true, ..text::TextOptions::default() };
    compare("troubled.colour.txt", &text::document(&document, &options));
}

#[test]
fn page_head_has_a_strict_policy() {
    let page = html::document(&small::raw());
    let (head, style) = page.split_once("<style>").unwrap();
    assert!(style.split_once("</style>").unwrap().0.contains("--paper"), "{style}");
    expect_test::expect![[r#"
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="generator" content="assay">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-dLYjsMJhVuKFDWX9b/hAozCDmIipcKoiiMYwKXQaOJI='; base-uri 'none'; form-action 'none'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>Raw output</title>
    "#]]
    .assert_eq(head);
}

#[test]
fn renders_small_documents() {
    check_document("listing", &small::listing());
    check_document("findings", &small::findings());
    check_document("hosts", &small::hosts());
    check_document("plan", &small_plan());
    check_document("methods", &build::methods());
    check_document("raw", &small::raw());
}

#[test]
fn headlines_represent_the_whole_machine() {
    let check = |summary: &RunSummary, expected: expect_test::Expect| {
        let headlines = build::headlines(summary);
        let lines: Vec<String> = headlines
            .iter()
            .map(|(label, quantity)| format!("{label} {quantity:.3}"))
            .collect();
        expected.assert_eq(&lines.join("\n"));
    };
    check(
        &guest::quick(),
        expect_test::expect![[r#"
        Triad 41.2 GB/s
        latency 93.8 ns
        FP64 236 GFLOP/s
        Rmax 215 GFLOP/s"#]],
    );
    check(
        &guest::quick_with_hpcc(),
        expect_test::expect![[r#"
            Triad 41.2 GB/s
            Rmax 215 GFLOP/s"#]],
    );
    check(
        &node::memory(),
        expect_test::expect![[r#"
        Triad 771 GB/s
        latency 105 ns"#]],
    );
    check(&node::copies(4), expect_test::expect!["slowest copy (l3:3 → l3:0) 9.88 GB/s"]);
    check(&storage::files(), expect_test::expect![[r#"files (create) 28.0 kIO/s"#]]);
    check(
        &troubled::run(),
        expect_test::expect![[r#"
        Triad 64.0 GB/s
        latency 108 ns"#]],
    );
    // The budget ended before the working sets beyond the caches: the latency of one is no headline.
    let mut cut = node::memory();
    cut.omitted.push(OmittedMeasure {
        benchmark: "memory.latency/bytes=1099511627776".to_owned(),
        reason: MissingRequirement::Time,
        hosts: Vec::new(),
    });
    check(&cut, expect_test::expect!["Triad 771 GB/s"]);
    let labels = build::answer_rows(&cut).into_iter().map(|it| it.label);
    assert!(labels.clone().count() > 0 && labels.into_iter().all(|it| !it.contains("latency")));
    check(
        &storage::volume(),
        expect_test::expect![[r#"
        RndRead 300 kIO/s
        sequential-read-64KiB 4.19 GB/s"#]],
    );
}

#[test]
fn renders_network_with_both_ends() {
    check_document("network", &build::run(&network::network(), None));
}

#[test]
fn renders_two_conditions() {
    let comparison = conditions::accelerated_networking();
    check_document("conditions", &build::comparison(&comparison));
    compare("conditions.csv", &csv::comparison(&comparison));
}

#[test]
fn renders_levels_of_hosts_and_of_two_factors() {
    let text = |comparison: &assay_model::level_comparison::LevelComparison| {
        text::document(&build::level_comparison(comparison), &text::TextOptions::default())
    };
    let hosts = levels::hosts();
    compare("levels-hosts.txt", &text(&hosts));
    let two = levels::threads_and_sizes();
    compare("levels-two.txt", &text(&two));
    let picture = svg::document(&build::level_comparison(&two)).unwrap();
    for part in ["over threads × size", "threads 1", "size 1GiB", "GB/s"] {
        assert!(picture.contains(part), "{part}: {picture}");
    }
    let page = html::document(&build::level_comparison(&two));
    assert!(page.contains("<svg class=\"plot\""), "{page}");
}

#[test]
fn renders_levels_of_a_factor() {
    let comparison = levels::threads();
    let document = build::level_comparison(&comparison);
    compare("levels.txt", &text::document(&document, &text::TextOptions::default()));
    compare("levels.md", &markdown::document(&document));
    compare("levels.csv", &csv::level_comparison(&comparison));
    compare("levels.json", &json::level_comparison(&comparison));
    let picture = svg::document(&document).unwrap();
    assert!(picture.contains("over threads"), "{picture}");
    for locale in Locale::ALL {
        Language::for_locale(locale).scope(|| {
            let page = text::document(
                &build::level_comparison(&comparison),
                &text::TextOptions::default(),
            );
            assert!(!page.contains("…: "), "{locale:?}: {page}");
        });
    }
}

/// Builds a network run with five two-second samples of rising goodput, and the given number of
/// round trips of 1 µs, 2 µs …
fn sampled_network(round_trips: u32) -> (RunSummary, Run) {
    let case = small::plan().cases[0].id.clone();
    let mut measured = Vec::new();
    let series = [
        (0, "goodput", (1..=5).map(|i| f64::from(i) * 1e9).collect::<Vec<f64>>()),
        (1, "round_trip", (1..=round_trips).rev().map(|i| f64::from(i) * 1e-6).collect()),
    ];
    for (series, metric, values) in series {
        let (metric, case, dimensions) = (metric.to_owned(), case.clone(), [].into());
        measured
            .push(RunEvent::SeriesOpened(SeriesOpened::new(series, case, metric, dimensions)));
        for value in values {
            let sample = Sample { series, value, weight: 2.0, preparation: 0, at_ns: 0 };
            measured.push(RunEvent::Sample(sample));
        }
    }
    let mut summary = network::network();
    summary.results.retain(|it| matches!(it.metric.as_str(), "goodput" | "round_trip"));
    summary.results.iter_mut().for_each(|it| it.case.clone_from(&case));
    (summary, events::run_with_events(measured))
}

/// Samples provide the goodput of every two seconds, and the distribution of round trips.
#[test]
fn plots_time_series_and_distributions() {
    let (summary, run) = sampled_network(200);
    let document = build::run(&summary, Some(&run));
    let text = markdown::document(&document).replace('\u{a0}', " ");
    for row in ["| 2 s | 1.000 Gbit/s", "| 10 s | 5.000 Gbit/s", "| 101 µs | 50.00 %"] {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(text.contains("99 % at most 199 µs"), "{text}");
    let page = html::document(&document);
    assert!(page.contains("Goodput over time") && page.contains("Distribution of round trips"));
    // Without samples there is nothing to draw.
    assert!(!markdown::document(&build::run(&summary, None)).contains("101 µs"));
}

/// With few samples the highest known percentile is named instead of 99 %.
#[test]
fn few_samples_limit_the_percentile() {
    let (summary, run) = sampled_network(20);
    let text = markdown::document(&build::run(&summary, Some(&run))).replace('\u{a0}', " ");
    assert!(text.contains("95 % at most 20.0 µs") && !text.contains("99 %"), "{text}");
}

/// Limits of a data sheet are labelled as limits, including that of the rate, and not as
/// provisioned.
#[test]
fn data_sheet_limits_are_not_provisioned() {
    let mut volume = storage::volume();
    let sheet = |value| PhysicalLimit {
        value,
        basis: LimitBasis::DataSheet { source: "PM9A3".into() },
    };
    for it in &mut volume.results {
        it.limit = match it.metric.as_str() {
            "rate" => Some(sheet(290e3)),
            _ => it.limit.take().map(|limit| sheet(limit.value)),
        };
    }
    let page = html::document(&build::run(&volume, None)).replace('\u{a0}', " ");
    assert!(page.contains("limit 4.72 GB/s") && page.contains("limit 290 kIO/s"));
    assert!(page.contains(">of limit<") && !page.contains("provisioned"));
}

fn small_plan() -> Document {
    let plan = small::plan();
    build::plan(&plan, &plan.time_warnings(&HostFacts::default()), false, None)
}

/// Two ports without a server have the same advice.
#[test]
fn prints_shared_advice_once() {
    let mut summary = guest::quick();
    summary.failures = ["5201", "19765"]
        .map(|port| CaseFailure {
            benchmark: "network.tcp".to_owned(),
            case: format!("network.tcp/{port}"),
            host: "guest".to_owned(),
            failure: FailureReason::Error {
                area: ErrorArea::Network,
                causes: vec![format!("cannot connect to port {port}")],
                advice: "start a server there".to_owned(),
            },
            because: None,
        })
        .into();
    let options = text::TextOptions { width: 80, ..text::TextOptions::default() };
    let text = text::document(&build::answer(&summary, None, build::MAX_ROWS, true), &options);
    for (part, times) in [("to port 5201", 1), ("to port 19765", 1), ("start a server", 1)] {
        assert_eq!(text.matches(part).count(), times, "{part}: {text}");
    }
}
