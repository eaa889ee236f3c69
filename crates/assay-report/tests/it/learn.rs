//! Pages for publication of measured runs: sections of every topic, and the commands that repeat
//! the runs.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::Doubt;
use assay_model::event::RequestedCommand;
use assay_model::run::Run;
use assay_model::summary::RunSummary;
use assay_report::build;
use assay_report::locale::{Language, Locale};
use assay_report::render::learn;

fn page(summaries: &[&RunSummary], runs: &[Run]) -> String {
    let text = learn::document(&build::learn("HB", summaries, runs), None).0;
    text.replace(['\u{a0}', '\u{202f}'], " ").replace('\\', "")
}

/// Returns the rows of the table below a heading.
fn rows(page: &str, heading: &str) -> Vec<String> {
    let (_, rest) = page.split_once(&format!("## {heading}\n")).unwrap_or_default();
    let lines = rest.lines().skip_while(|it| !it.starts_with('|'));
    lines.take_while(|it| it.starts_with('|')).map(str::to_owned).collect()
}

fn assert_contains(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no {word}: {text}");
    }
}

#[test]
fn page_contains_mpi_results() {
    let page = page(&[&crate::mpi::mpi()], &[]);
    let latency = rows(&page, "MPI latency");
    // Each pair distance has its own column with its interval.
    assert_contains(
        &latency[0],
        &["(MPICH 4.0.2, assay, same-core)", "same-cache)", "95 % interval [µs]", "osu, "],
    );
    assert_contains(&latency[3], &["| 8 |", "| 0.18 |", "| 0.23 |", "| 0.69 |", "–"]);
    let bandwidth = rows(&page, "MPI bandwidth");
    assert_contains(&bandwidth[0], &["(MB/s)", "(Gbit/s)", "95 % interval [MB/s]"]);
    assert_contains(bandwidth.last().unwrap(), &["| 4194304 |"]);
}

/// A core may exceed the clock of its peak, so that Rmax exceeds the peak: the page therefore names
/// the clock.
#[test]
fn peak_names_its_clock() {
    for (locale, expected) in [
        (Locale::En, "236.8 GFLOP/s (Rpeak, 3.70 GHz)"),
        (Locale::Ru, "236,8 GFLOP/s (Rpeak, 3,70 ГГц)"),
        (Locale::Ja, "236.8 GFLOP/s (Rpeak、3.70 GHz)"),
    ] {
        let language = Language { locale, ..Language::INVARIANT };
        let language = Language { has_invariant_units: false, ..language };
        let page = language.scope(|| page(&[&crate::guest::quick()], &[]));
        assert_contains(&page, &[expected]);
    }
}

/// The share is that of the nearer of two limits. Own measurements keep their curves even if time
/// was too short for intervals.
#[test]
fn storage_uses_the_nearer_limit_and_keeps_curves() {
    let mut volume = crate::storage::volume();
    for it in &mut volume.results {
        it.ci = None;
        it.percent_of_limit = match it.metric.as_str() {
            "rate" => Some(74.8),
            "bandwidth" => Some(8.9),
            _ => None,
        };
    }
    let (text, pictures) = learn::document(&build::learn("x", &[&volume], &[]), Some("x"));
    assert!(text.contains("74.8") && !pictures.is_empty(), "{text}");
    let table = rows(&text.replace('\u{a0}', " "), "Storage").concat();
    assert!(!table.contains("| 8.9"), "{table}");
    // Imported output of other tools has no curves.
    volume.hosts.clear();
    assert!(learn::document(&build::learn("x", &[&volume], &[]), Some("x")).1.is_empty());
}

/// A single sample has the same digits as in a report; imported output keeps its printed digits.
#[test]
fn single_samples_have_the_same_digits_everywhere() {
    for (file, rate, triad) in [(None, "74000", "41 GB/s"), (Some("x"), "74320", "41.23 GB/s")]
    {
        let mut volume = crate::storage::volume();
        volume.results.retain(|it| it.metric == "rate");
        volume.results.truncate(1);
        let mut node = crate::node::memory();
        node.results.retain(|it| it.metric == "triad");
        node.results.truncate(1);
        for (summary, median) in [(&mut volume, 74_321.0), (&mut node, 41.234e9)] {
            let it = &mut summary.results[0];
            (it.median, it.ci, it.n, it.n_effective) = (median, None, 1, 1.0);
            it.parameters.extend(file.map(|file| (Attribute::SourceFile, file.into())));
        }
        let page = page(&[&volume, &node], &[]);
        let storage = rows(&page, "Storage").concat().replace(',', "");
        assert_contains(&storage, &[&format!("| {rate} |")]);
        assert_contains(&page, &[&format!("| STREAM Triad | {triad} |")]);
    }
}

/// A condition without throughput has no column with its name only: its other columns name it.
#[test]
fn columns_name_their_condition() {
    let labelled = |label: &str, has_goodput: bool| {
        let mut summary = crate::network::network();
        summary.run.label = Some(label.to_owned());
        summary.results.retain(|it| has_goodput || it.metric != "goodput");
        summary
    };
    let heading = |has_goodput: bool| {
        let page = page(&[&labelled("on", true), &labelled("off", has_goodput)], &[]);
        rows(&page, "Side by side").swap_remove(0)
    };
    assert_contains(&heading(true), &["| on |", "| off |", "| latency |"]);
    assert_contains(
        &heading(false),
        &["| on |", "| latency |", "| latency, off |", "CPU usage, local end, off"],
    );
}

/// Several labels have a row each, and a warning about all of them is printed once.
#[test]
fn workloads_have_a_row_for_each_label() {
    let labelled = |label: Option<&str>, factor: f64| {
        let mut node = crate::node::memory();
        node.run.label = label.map(str::to_owned);
        node.results.iter_mut().for_each(|it| it.median *= factor);
        node.warnings.push(Doubt::AnotherAssay);
        node
    };
    for (labels, expected) in [
        ([Some("off"), Some("on")], &["| STREAM Triad, off |", "| STREAM Triad, on |"][..]),
        ([Some("off"), None], &["| STREAM Triad, off |", "| STREAM Triad |"]),
        ([Some("on"), Some("on")], &["| STREAM Triad |"]),
        ([None, None], &["| STREAM Triad |"]),
    ] {
        let page = page(&[&labelled(labels[0], 1.0), &labelled(labels[1], 0.5)], &[]);
        assert_contains(&page, expected);
        assert_eq!(page.matches("| STREAM Triad").count(), expected.len(), "{page}");
        let warning = "another assay";
        assert_eq!(page.matches(warning).count(), 1, "{page}");
    }
}

#[test]
fn conditions_have_separate_columns() {
    let labelled = |label: &str| {
        let mut summary = crate::network::network();
        summary.run.label = Some(label.to_owned());
        summary
    };
    let page = page(&[&labelled("off"), &labelled("on")], &[]);
    let table = rows(&page, "Side by side");
    assert_contains(
        &table[0],
        &["| off | 95 % interval |", "CPU usage, local end |", "CPU usage, remote end |"],
    );
    let case = |streams: &str| table.iter().find(|row| row.contains(streams)).unwrap();
    assert_contains(
        case("6 streams"),
        &["5.560 Gbit/s", "5.504–5.604 Gbit/s", "25.00 %", "39.20 %"],
    );
    assert_contains(case("1 stream,"), &["3.100 Gbit/s", "11.00 %"]);
    assert_contains(case("1 B"), &["35.00 µs"]);
    assert_contains(&page, &["| TCP goodput, 10.0.0.5, 6 streams, send, off | 5.560 Gbit/s |"]);
    assert_contains(&page, &["| TCP half round trip, 10.0.0.5, 1 B, on | 35.00 µs |"]);
}

#[test]
fn storage_table_has_one_unit() {
    let page = page(&[&crate::storage::volume()], &[]);
    let table = rows(&page, "Storage");
    assert_contains(&table[2], &["| 64000 |", "63360–64510 IOPS"]);
}

/// Recorded commands are quoted for a shell; other runs get as much of their command as is known.
#[test]
fn reproduces_recorded_commands() {
    let run = |command: &[&str], asked: Option<RequestedCommand>| {
        let mut run = crate::events::run_with_events(vec![]);
        run.started.command = command.iter().map(|it| (*it).to_owned()).collect();
        run.started.asked = asked;
        run
    };
    let summary = |suite: &str, more: &[(Attribute, AttributeValue)]| {
        let mut summary = crate::storage::volume();
        summary.run.suite = suite.to_owned();
        summary.results.truncate(1);
        let parameters = &mut summary.results[0].parameters;
        parameters.remove(&Attribute::Target);
        parameters.extend(more.iter().cloned());
        summary
    };
    let asked = |language: &str, words: &[&str]| {
        let words = words.iter().map(|it| (*it).to_owned()).collect();
        Some(RequestedCommand { language: language.to_owned(), words })
    };
    let targets = [(Attribute::Target, "/a/x, /b/y z/w".into())];
    let file = [(Attribute::SourceFile, "my results.txt".into())];
    for (suite, more, command, asked, expected) in [
        (
            "anf",
            &targets[..],
            &["run", "anf", "--target", "/mnt/v 1", "--provisioned", "1GB/s"][..],
            None,
            "assay run anf --target 'v 1' --provisioned 1GB/s",
        ),
        ("anf", &targets, &[], None, "assay run anf --target a --target 'y z'"),
        ("import", &file, &[], None, "assay import 'my results.txt'"),
        ("stream", &[], &[], None, "assay stream"),
        (
            "fio",
            &targets,
            &[],
            asked("fio", &["job.fio", "--bs=[4k]"]),
            "assay fio job.fio '--bs=[4k]'",
        ),
        ("osu", &[], &[], asked("osu", &["latency"]), "mpirun -n 2 assay mpi latency"),
        ("storage", &targets, &[], None, ""),
    ] {
        let mut summary = summary(suite, more);
        let run = run(command, asked);
        summary.run.id.clone_from(&run.started.run);
        let page = page(&[&summary], &[run]);
        let commands = page.split_once("```text\n").map_or("", |(_, it)| it);
        let commands = commands.split_once("```").map_or("", |(it, _)| it);
        assert_eq!(commands.trim_end(), expected, "{suite} {command:?}");
    }
}

/// A table and the section of its run share a heading; folders of the machine stay there.
#[test]
fn headings_are_distinct_and_paths_are_short() {
    let mut volume = crate::storage::volume();
    let targets = ["/home/user/fast/assay-storage.data", "/home/user/slow/assay-storage.data"];
    let mut slow = volume.results.clone();
    for (results, target) in [&mut volume.results, &mut slow].into_iter().zip(targets) {
        for it in results.iter_mut() {
            it.parameters.insert(Attribute::Target, target.into());
        }
    }
    volume.results.append(&mut slow);
    let page = page(&[&volume], &[]);
    let headings: Vec<&str> = page.lines().filter(|it| it.starts_with('#')).collect();
    let distinct: std::collections::BTreeSet<&str> = headings.iter().copied().collect();
    assert_eq!(headings.len(), distinct.len(), "{headings:?}");
    assert!(headings.contains(&"## Storage"), "{headings:?}");
    assert!(!page.contains("/home") && !page.contains("assay-storage.data"), "{page}");
    assert_contains(&page, &["| fast |", "| slow |"]);
}

#[test]
fn decimals_select_their_plural() {
    for (locale, expected) in [
        (Locale::Ru, "116,9 операции в обработке."),
        (Locale::Cs, "116,9 rozpracované operace."),
    ] {
        Language::for_locale(locale).scope(|| {
            let text = page(&[&crate::storage::volume()], &[]);
            assert_contains(&text, &[expected]);
            assert!(!text.contains(".."), "{text}");
        });
    }
}

#[test]
fn mixed_test_has_its_own_row() {
    let mut summary = crate::storage::volume();
    let is_mix = |it: &assay_model::summary::MetricEstimate| {
        let operation = it.parameters.get(&Attribute::Operation);
        operation.and_then(AttributeValue::as_text) == Some("mix")
    };
    summary.results.retain(is_mix);
    assert!(!summary.results.is_empty());
    let text = page(&[&summary], &[]);
    assert_contains(&text, &["524.3 MB/s reads and writes together |"]);
}
