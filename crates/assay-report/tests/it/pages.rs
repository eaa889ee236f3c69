//! Published pages, regenerated from their own figures.
//!
//! `tests/pages` contains, for each page, the figures it was made from, and its tables as
//! published. The rendered cells must equal them; otherwise the published page was wrong, and the
//! list of differences records the errors.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::{Doubt, FigureOrder};
use assay_model::event::RunStatus;
use assay_model::facts::HostFacts;
use assay_model::plan::{MissingRequirement, OmittedMeasure};
use assay_model::quantity::Unit;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_report::build;
use assay_report::document::Block;
use assay_report::locale::{Language, Locale};
use assay_report::render::learn;

use crate::maker;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(name)
}

/// Reads the runs of a page: one for each label and table.
fn summaries(page: &str) -> Vec<(String, RunSummary)> {
    let text = std::fs::read_to_string(file(&format!("{page}.figures.tsv"))).unwrap();
    let mut runs: Vec<(String, RunSummary)> = Vec::new();
    for line in text.lines() {
        let [benchmark, metric, value, qualifier, attributes] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        // A page can contain only metrics that a benchmark produces.
        let known = Benchmark::from_id(benchmark).and_then(|it| it.metric(metric));
        assert!(known.is_some(), "{page}: no benchmark has the metric {benchmark}/{metric}");
        let mut it = figure(benchmark, metric, value.parse().unwrap());
        let (mut label, mut table, mut suite) = (None, String::new(), "hb".to_owned());
        for (name, value) in attributes.split(';').filter_map(|it| it.split_once('=')) {
            match name {
                "label" => label = Some(value.to_owned()),
                "suite" => value.clone_into(&mut suite),
                "case" => value.clone_into(&mut it.case),
                "table" => value.clone_into(&mut table),
                "tool" => value.clone_into(&mut it.tool.name),
                name => {
                    let number = value.parse().map(AttributeValue::Integer);
                    let attribute = Attribute::from_name(name).unwrap();
                    it.parameters.insert(attribute, number.unwrap_or_else(|_| value.into()));
                }
            }
        }
        if !qualifier.is_empty() {
            it.parameters.insert(Attribute::Qualifier, qualifier.into());
        }
        let known = runs.iter_mut().find(|(it, run)| *it == table && run.run.label == label);
        match known {
            Some((_, run)) => run.results.push(it),
            None => {
                let mut run = maker::summary(&suite, RunStatus::Complete, HostFacts::default());
                run.run.label = label;
                run.hosts.clear();
                run.results.push(it);
                runs.push((table, run));
            }
        }
    }
    runs.iter_mut().for_each(|(_, run)| add_doubts(run));
    runs
}

fn figure(benchmark: &str, metric: &str, value: f64) -> MetricEstimate {
    let unit = match metric {
        "triad" => Unit::BytePerSecond,
        "rmax" => Unit::FlopPerSecond,
        "bandwidth" if benchmark.starts_with("rdma") => Unit::BitPerSecond,
        "bandwidth" => Unit::BytePerSecond,
        "goodput" => Unit::BitPerSecond,
        "cpu_load" => Unit::Ratio,
        "rate" => Unit::IoPerSecond,
        _ => Unit::Second,
    };
    let mut it = maker::estimate(Benchmark::MemoryStream, metric, value, 0.0);
    benchmark.clone_into(&mut it.benchmark);
    (it.unit, it.ci) = (unit, None);
    it
}

/// Adds the doubts that the importer of perftest's tables adds.
fn add_doubts(run: &mut RunSummary) {
    let means: Vec<MetricEstimate> =
        run.results.iter().filter(|it| it.metric == "time_mean").cloned().collect();
    for least in run.results.iter_mut().filter(|it| it.metric == "time_min") {
        let same = |it: &&MetricEstimate| {
            it.parameters.get(&Attribute::Bytes) == least.parameters.get(&Attribute::Bytes)
        };
        let mean = means.iter().find(same).unwrap().median;
        if least.median > mean {
            let (less, more, unit) = (least.median, mean, Unit::Second);
            least.warnings.push(Doubt::OutOfOrder {
                law: FigureOrder::MinMean,
                less,
                more,
                unit,
            });
        }
    }
}

fn page(page: &str, subject: &str, table: &str) -> String {
    let runs = summaries(page);
    let runs: Vec<&RunSummary> =
        runs.iter().filter(|(it, _)| it == table).map(|(_, run)| run).collect();
    learn::document(&build::learn(subject, &runs, &[]), None).0
}

/// Parses the tables of a Markdown page, without their rulers.
fn tables(markdown: &str) -> Vec<Vec<Vec<String>>> {
    let mut tables = vec![vec![]];
    for line in markdown.lines() {
        match line.strip_prefix("| ").and_then(|it| it.strip_suffix(" |")) {
            Some(row) if row.starts_with("---") => {}
            Some(row) => {
                let cell = |it: &str| it.trim_matches(' ').replace('\\', "");
                tables.last_mut().unwrap().push(row.split(" | ").map(cell).collect());
            }
            None if tables.last().unwrap().is_empty() => {}
            None => tables.push(vec![]),
        }
    }
    tables.retain(|table| !table.is_empty());
    tables
}

fn published_tables(page: &str) -> Vec<Vec<Vec<String>>> {
    let text = std::fs::read_to_string(file(&format!("{page}.printed.tsv"))).unwrap();
    let table = |it: &str| {
        it.lines().map(|row| row.split('\t').map(str::to_owned).collect()).collect::<Vec<_>>()
    };
    text.split("\n\n").map(table).filter(|it| !it.is_empty()).collect()
}

/// Parses a number without digit groups in the page's language, and counts its decimals.
fn parse_number(text: &str, mark: char) -> Option<(f64, i32)> {
    let decimals = text.split_once(mark).map_or(0, |(_, it)| it.len());
    let is_one = text.chars().all(|it| it.is_ascii_digit() || it == mark);
    let value = text.replace(mark, ".").parse().ok().filter(|_| is_one)?;
    Some((value, decimals as i32))
}

/// Whether two numbers are equal to the decimals that both have.
fn is_same(own: &str, printed: &str, mark: char) -> bool {
    own == printed
        || parse_number(own, mark)
            .zip(parse_number(printed, mark))
            .is_some_and(|((a, m), (b, n))| (a - b).abs() <= 0.501 * 10f64.powi(-m.min(n)))
}

/// Lists every cell that differs from the published one: `table, row, column: printed → rendered`.
fn differences(own: &[Vec<Vec<String>>], page: &str, mark: char) -> String {
    let mut reported = String::new();
    let printed = published_tables(page);
    assert_eq!(own.len(), printed.len(), "tables of {page}");
    for (t, (own, printed)) in own.iter().zip(&printed).enumerate() {
        assert_eq!(own.len(), printed.len(), "rows of table {t} of {page}");
        for (r, (own, printed)) in own.iter().zip(printed).enumerate() {
            assert_eq!(
                own.len(),
                printed.len(),
                "columns of {printed:?} of table {t} of {page}"
            );
            for (c, (own, printed)) in own.iter().zip(printed).enumerate() {
                if !is_same(own, printed, mark) {
                    let plain = |it: &str| it.replace('\u{a0}', "~").replace('\u{202f}', "_");
                    let _ =
                        writeln!(reported, "{t},{r},{c}: {} → {}", plain(printed), plain(own));
                }
            }
        }
    }
    reported
}

fn check(page_name: &str, subject: &str, locale: Locale, mark: char) -> String {
    let rendered = Language::for_locale(locale).scope(|| page(page_name, subject, ""));
    expect_test::expect_file![file(&format!("{page_name}.md"))].assert_eq(&rendered);
    let reported = differences(&tables(&rendered), page_name, mark);
    expect_test::expect_file![file(&format!("{page_name}.differences"))].assert_eq(&reported);
    reported
}

#[test]
fn hb_in_russian() {
    let reported = check("000", "HB", Locale::Ru, ',');
    // The published page had bits as bytes.
    assert!(reported.contains("99,1 ГБ/с → 1,27~мкс, 99,1~Гбит/с"), "{reported}");
}

#[test]
fn hb_in_french() {
    let reported = check("001", "HB", Locale::Fr, ',');
    let points = reported.lines().filter(|line| {
        let (printed, own) = line.split_once(": ").unwrap().1.split_once(" → ").unwrap();
        let mended = printed.replace('.', ",").replace(['~', ' '], "");
        printed.contains('.')
            && parse_number(&mended, ',').is_some()
            && is_same(own, &mended, ',')
    });
    assert_eq!(points.count(), 40, "{reported}");
}

#[test]
fn hc_in_korean() {
    let reported = check("004", "HC", Locale::Ko, '.');
    // No figure of its tables differs; five of them contradict each other.
    assert!(!reported.lines().any(|line| line.starts_with("1,") && !line.starts_with("1,0,")));
    let page = std::fs::read_to_string(file("004.md")).unwrap();
    assert_eq!(page.matches("min ≤ mean").count(), 5);
}

#[test]
fn accelerated_networking_in_chinese() {
    let mut reported = String::new();
    for (nth, printed) in published_tables("003").iter().enumerate() {
        let rendered = Language::for_locale(Locale::ZhHans)
            .scope(|| page("003", "Azure", &nth.to_string()));
        let own = tables(&rendered).pop().unwrap();
        assert_eq!(own.len(), printed.len());
        for (own, printed) in own.iter().zip(printed) {
            let _ = writeln!(reported, "{} → {}", printed.join(" | "), own.join(" | "));
        }
    }
    expect_test::expect_file![file("003.differences")].assert_eq(&reported);
}

/// Published page without a table: its six tests and its figures are in sentences and lists.
#[test]
fn netapp_files_in_czech() {
    let rendered =
        Language::for_locale(Locale::Cs).scope(|| page("002", "Azure NetApp Files", ""));
    expect_test::expect_file![file("002.md")].assert_eq(&rendered);
    let own = tables(&rendered);
    let mut reported = String::new();
    for line in std::fs::read_to_string(file("002.printed.tsv")).unwrap().lines() {
        let (place, printed) = line.split_once('\t').unwrap();
        let [t, r, c] =
            place.split(',').map(|it| it.parse::<usize>().unwrap()).collect::<Vec<_>>()[..]
        else {
            panic!("{place}")
        };
        let shown = own[t][r][c].replace('\u{a0}', " ");
        if shown != printed {
            let _ = writeln!(reported, "{place}: {printed} → {shown}");
        }
    }
    expect_test::expect_file![file("002.differences")].assert_eq(&reported);
    // Undisputed figure: the throughput of one volume, although the page omitted its unit.
    assert!(
        !reported.contains(": 4 500 →") && reported.contains("70.31 TiB → 70,31 TiB"),
        "{reported}"
    );
}

/// Page of measured runs: every section of their reports, plots as files, intervals in their own
/// column, and missing requirements as a row.
#[test]
fn measured_runs_make_a_page_with_pictures() {
    let mut volume = crate::storage::volume();
    volume.run.suite = "anf".to_owned();
    let (benchmark, reason) = ("rdma.send_lat".to_owned(), MissingRequirement::Host);
    volume.omitted.push(OmittedMeasure { benchmark, reason, hosts: vec![] });
    let node = crate::node::memory();
    for locale in Locale::ALL {
        Language::for_locale(locale).scope(|| {
            let page = build::learn("HB120rs_v3", &[&node, &volume], &[]);
            let (text, pictures) = learn::document(&page, Some("hb"));
            assert!(pictures.len() >= 3, "{} pictures", pictures.len());
            for picture in &pictures {
                assert!(picture.svg.starts_with("<svg") && text.contains(&picture.name));
            }
            assert!(!text.contains("rdma.send"), "{text}");
            assert_eq!(text.contains("| RDMA latency |"), locale == Locale::En, "{text}");
            assert!(!text.contains("assay-picture"));
            if locale == Locale::De {
                expect_test::expect_file![file("measured.page")].assert_eq(&text);
            }
        });
    }
}

/// Several hosts reach more than the maximum of one volume; the quota of the required number of
/// volumes is shown.
#[test]
fn high_throughput_needs_several_volumes() {
    for (mib_per_s, shown) in [(4500.0, "| 70.31 TiB |"), (9009.0, "| 3 × 46.92 TiB |")] {
        let mut volume = crate::storage::volume();
        volume.run.suite = "anf".to_owned();
        let found = volume.results.iter_mut().filter(|it| it.metric == "bandwidth");
        found.for_each(|it| it.median = mib_per_s * 1_048_576.0);
        let (text, _) = learn::document(&build::learn("anf", &[&volume], &[]), None);
        assert!(text.replace('\u{a0}', " ").contains(shown), "{text}");
    }
}

/// For several hosts the page has their total; a result of one host alone stays next to it.
#[test]
fn total_replaces_its_own_hosts_only() {
    let set_host = |summary: &mut RunSummary, host: &str, more: &[(Attribute, &str)]| {
        for it in &mut summary.results {
            host.clone_into(&mut it.host);
            it.parameters.extend(more.iter().map(|(name, value)| (*name, (*value).into())));
        }
    };
    let (single, mut several, mut all) =
        (crate::storage::volume(), crate::storage::volume(), crate::storage::volume());
    set_host(
        &mut several,
        "vm1",
        &[(Attribute::Host, "vm1"), (Attribute::Target, "/mnt/shared/x")],
    );
    // Point near the host's own knee, which the other host did not need.
    let bend = several.results.iter().find(|it| it.metric == "rate").cloned();
    several.results.extend(bend.map(|it| MetricEstimate { case: "bend-2".to_owned(), ..it }));
    set_host(&mut all, "all", &[(Attribute::Host, "all"), (Attribute::Hosts, "vm1,vm2")]);
    several.results.extend(all.results);
    let page = learn::document(&build::learn("disk", &[&single, &several], &[]), None).0;
    let rows = tables(&page).into_iter().flatten();
    let places: Vec<String> = rows.filter_map(|row| row.get(1).cloned()).collect();
    let has = |place: &str| places.iter().any(|it| it.replace('\\', "") == place);
    assert!(has("vol1") && has("all"), "{places:?}");
    assert!(!has("x"), "{places:?}");
    let report = build::run(&several, None);
    let pictures: Vec<&str> = report
        .blocks
        .iter()
        .filter_map(|it| if let Block::Plot(plot) = it { Some(&*plot.title) } else { None })
        .collect();
    assert!(pictures.iter().any(|it| it.contains("all, ")), "{pictures:?}");
    assert!(pictures.iter().all(|it| !it.contains("vm1")), "{pictures:?}");
}

/// With several hosts, a target names its host once instead of with each test.
#[test]
fn targets_name_their_host_once() {
    let mut all = crate::storage::volume();
    let mut other = all.clone();
    for (summary, host, target) in [(&mut all, "vm1", "/mnt/x"), (&mut other, "vm2", "/mnt/y")]
    {
        for it in &mut summary.results {
            host.clone_into(&mut it.host);
            it.parameters.insert(Attribute::Host, host.into());
            it.parameters.insert(Attribute::Target, target.into());
        }
    }
    all.results.extend(other.results);
    let test = all.results.last().unwrap().parameters[&Attribute::Test].clone();
    let on_vm2 = all.results.iter_mut().filter(|it| it.host == "vm2");
    for it in on_vm2.filter(|it| it.parameters[&Attribute::Test] == test) {
        it.parameters.insert(Attribute::Target, "/mnt/z".into());
    }
    let page = learn::document(&build::learn("disk", &[&all], &[]), None).0;
    let lines: Vec<String> = page
        .lines()
        .filter(|line| line.starts_with("Target: "))
        .map(|line| line.replace('\\', ""))
        .collect();
    assert_eq!(lines[0], "Target: x (vm1).", "{page}");
    let rest = |line: &String| line.contains("vm2, ") && !line.contains("vm1");
    assert!(lines.len() == 3 && lines[1..].iter().all(rest), "{lines:?}");
}

/// Verb forms depend on the number of hosts in some languages.
#[test]
fn verbs_agree_with_the_number_of_hosts() {
    let summary = |names: &[&str]| {
        let mut summary = crate::storage::volume();
        let host = HostFacts::default();
        let named = |name: &&str| HostFacts { name: (*name).to_owned(), ..host.clone() };
        summary.hosts = names.iter().map(named).collect();
        summary
    };
    for (locale, one, several) in [
        (Locale::En, "near1 was measured with ", "near1, far1 were measured with "),
        (Locale::De, "near1 wurde mit ", "near1, far1 wurden mit "),
        (Locale::Es, "near1 se midió con ", "near1, far1 se midieron con "),
        (Locale::Ja, "near1 を ", "near1、far1 を "),
    ] {
        Language::for_locale(locale).scope(|| {
            for (names, intro) in [(&["near1"][..], one), (&["near1", "far1"], several)] {
                let summary = summary(names);
                let subject = build::default_subject(std::slice::from_ref(&summary));
                let page = build::learn(&subject, &[&summary], &[]);
                let page = learn::document(&page, None).0;
                assert!(page.contains(intro), "{intro}\n{page}");
            }
        });
    }
}

/// A folder occurs once in the commands, in whichever order its files were measured.
#[test]
fn commands_are_listed_once() {
    let mut summary = crate::storage::volume();
    for (it, target) in summary.results.iter_mut().zip(["/a/x", "/b/y", "/a/z"]) {
        it.parameters.insert(Attribute::Target, target.into());
    }
    summary.results.truncate(3);
    let page = learn::document(&build::learn("disk", &[&summary], &[]), None).0;
    assert_eq!(page.matches("--target a").count(), 1, "{page}");
    summary.results[0].parameters.insert(Attribute::Target, "/the disk's/x".into());
    let page = learn::document(&build::learn("disk", &[&summary], &[]), None).0;
    assert!(page.contains(r"--target 'the disk'\''s'"), "{page}");
}
