//! Tests of the comparison of a page with its source, one case per line.

use std::fmt::Write as _;

use assay_claims::lint::{Confidence, LintFinding, check_page, lint};

/// Returns a page in a language: one line of Markdown, as a table if it starts with `|`.
fn page(language: &str, line: &str) -> String {
    let table = "| a | b |\n|---|---|\n";
    let table = if line.starts_with('|') { table } else { "" };
    format!("---\nlang: {language}\n---\n{table}{line}\n")
}

/// Formats the findings that only the comparison with the source reports: rule and printed text.
fn format_new_findings(text: &str, source: &str) -> String {
    let without_source = lint(text, None);
    let is_new = |it: &LintFinding| !without_source.contains(it);
    let mut reported = String::new();
    for it in lint(text, Some(source)).into_iter().filter(is_new) {
        write!(reported, "{} {};", it.rule.name(), &text[it.start..it.end]).unwrap();
    }
    reported
}

fn check(cases: &[(&str, &str, &str, &str)]) {
    let mut mismatches = String::new();
    for (language, line, source, expected) in cases {
        // Both in a cell and in a sentence.
        for layout in [|it: &str| format!("| x | {it} |"), str::to_owned] {
            let reported = format_new_findings(
                &page(language, &layout(line)),
                &page("en", &layout(source)),
            );
            if reported != *expected {
                writeln!(mismatches, "{line:?} of {source:?}: {reported:?}, not {expected:?}")
                    .unwrap();
            }
        }
    }
    assert!(mismatches.is_empty(), "{mismatches}");
}

/// A difference is reported even where the page alone has a possible error at the same place.
#[test]
fn difference_takes_precedence_over_possible_error() {
    let table = |unit: &str| format!("| SATA SSD | 6 {unit} |\n|-|-|\n");
    let findings = lint(&table("Gb/s"), Some(&table("GB/s")));
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(finding.confidence, Confidence::Certain, "{finding:?}");
}

#[test]
fn finds_wrong_unit_of_any_kind() {
    check(&[
        ("en", "4.22 µs", "4.22 ns", "wrong-unit µs;"),
        ("en", "1.60 MHz", "1.60 GHz", "wrong-unit MHz;"),
        ("en", "12 ms", "12 s", "wrong-unit ms;"),
        ("en", "300,000 MB/s", "300,000 IOPS", "wrong-unit MB/s;"),
        ("en", "50 kB/s", "50 kbit/s", "wrong-unit kB/s;"),
        ("en", "25 kIO/s", "25 IO/s", "wrong-unit kIO/s;"),
        ("en", "512 KiB", "512 B", "wrong-unit KiB;"),
        ("en", "4.5 TiB", "4.5 TB", "wrong-unit TiB;"),
        ("en", "8 KiB/s", "8 kB/s", "wrong-unit KiB/s;"),
        ("ru", "4,22 мкс", "4.22 ns", "wrong-unit мкс;"),
        ("fr", "1,60 MHz", "1.60 GHz", "wrong-unit MHz;"),
        ("cs", "5 GB", "5 GiB", "wrong-unit GB;"),
        ("de", "0,12 ns/B", "0.12 s/GB", ""),
    ]);
}

#[test]
fn finds_unit_on_one_side_only() {
    check(&[
        ("en", "12", "12 ms", "wrong-unit 12;"),
        ("en", "12 ms", "12", "wrong-unit ms;"),
        ("en", "100", "100 %", "wrong-unit 100;"),
        ("ru", "300 000", "300,000 IOPS", "wrong-unit 300 000;"),
        ("es", "~200 000 con", "~200,000 read IOPS", "wrong-unit 200 000;"),
        ("es", "~200 000 IOPS de lectura", "~200,000 read IOPS", ""),
        ("ja", "~200,000 の読み取り IOPS", "~200,000 read IOPS", ""),
        // The unit is spelled out, or printed once for two figures.
        ("ru", "300 000 операций ввода-вывода в секунду", "300,000 IOPS", ""),
        ("de", "von 32 bis 33 GB/s", "32-33 GB/s", ""),
        ("ko", "300,000 개의 IOPS", "300,000 IOPS", ""),
        ("ko", "300,000 IOPS를 초과", "300,000 IOPS", ""),
        ("tr", "%50 8 KiB", "50% 8 KiB", ""),
        ("es", "300.000 IOPS", "300k IOPS", ""),
        ("zh", "30 万 IOPS", "300,000 IOPS", ""),
        ("cs", "12 s pro běh", "12 seconds per run", ""),
        ("ja", "12秒", "12 s", ""),
    ]);
}

#[test]
fn changed_digit_is_not_lost_precision() {
    check(&[
        ("en", "300 IOPS", "300,000 IOPS", "digits 300;"),
        ("en", "300,000 IOPS", "300 IOPS", "digits 300,000;"),
        ("de", "1.234 µs", "1.234 µs", "digits 1.234;"),
        ("de", "1,234 µs", "1.234 µs", ""),
        ("fr", "1 234 µs", "1,234 µs", ""),
        ("de", "3.520 GFLOP/s", "3,520 GFLOP/s", ""),
        ("en", "2.4 µs", "2.40 µs", "precision 2.4;"),
        ("en", "0.250 s", "0.250 s", ""),
        // Another prefix with the same value.
        ("en", "1600 MHz", "1.60 GHz", ""),
        ("ru", "25 000 IOPS", "25.00 kIO/s", ""),
        ("en", "1500 MHz", "1.60 GHz", "digits 1500;wrong-unit MHz;"),
    ]);
}

#[test]
fn finds_swapped_reads_and_writes() {
    check(&[
        (
            "en",
            "1.7 GB/s writes, 1.0 GB/s reads",
            "1.7 GB/s reads, 1.0 GB/s writes",
            "direction 1.7;",
        ),
        (
            "fr",
            "1,0 Go/s de lectures, 1,7 Go/s d’écritures",
            "1.7 GB/s reads, 1.0 GB/s writes",
            "direction 1,0;",
        ),
        ("ja", "書き込み 1.0 GB/秒、読み取り 1.7 GB/秒", "1.7 GB/s reads, 1.0 GB/s writes", ""),
        ("ko", "300,000 IOPS 쓰기", "300,000 read IOPS", "direction 300,000 IOPS 쓰기;"),
        ("en", "threads that are ready write 5 GB/s", "threads write 5 GB/s", ""),
    ]);
}

#[test]
fn finds_changed_bounds_and_percentiles() {
    check(&[
        ("es", "5,7 TB/s", "up to 5.7 TB/s", "qualifier 5,7;"),
        ("es", "como mínimo 2 ms", "at most 2 ms", "qualifier 2;"),
        ("de", "mehr als 2 ms", "less than 2 ms", "qualifier 2;"),
        ("de", "p95 2,5 ms", "p99 2.5 ms", "name p95;"),
        ("de", "> 2 ms", "< 2 ms", "qualifier 2;"),
        ("zh", "至少为 2 ms", "at most 2 ms", "qualifier 2;"),
        ("zh", "最高可达 5.7 TB/s", "up to 5.7 TB/s", ""),
        ("es", "hasta 5,7 TB/s", "up to 5.7 TB/s", ""),
        ("de", "höchstens 2 ms", "at most 2 ms", ""),
        ("de", "nicht mehr als 2 ms", "no more than 2 ms", ""),
        ("fr", "jusqu’à 5,7 TB/s", "up to 5.7 TB/s", ""),
        ("ja", "2 ms 以下", "at most 2 ms", ""),
        ("ko", "2 ms 이하", "at most 2 ms", ""),
        ("zh", "不超过 2 ms", "at most 2 ms", ""),
        ("de", "p99 2,5 ms", "p99 2.5 ms", ""),
        // A place, not a bound.
        ("fr", "sur un lien de 100 Gbit/s", "over 100 Gbit/s", ""),
        ("es", "inferior a 2 ms", "at most 2 ms", ""),
        // The words of this language are not known.
        ("pl", "do 5,7 TB/s", "up to 5.7 TB/s", ""),
    ]);
}

#[test]
fn finds_swapped_directions_of_grouped_figures() {
    let source = "~1,600 MiB/s writes and ~4,500 MiB/s reads";
    check(&[
        (
            "es",
            "~1600 MiB/s de lecturas y ~4500 MiB/s de escrituras",
            source,
            "direction 1600;",
        ),
        ("es", "~1600 MiB/s de escrituras y ~4500 MiB/s de lecturas", source, ""),
    ]);
}

/// Sentences with several figures.
#[test]
fn compares_each_figure_of_sentences() {
    let source = "Writes take 5 ms and reads 3 ms.";
    let rates = "Up to 300,000 read IOPS at 2 ms and at least 100,000 write IOPS at 3 ms.";
    check(&[
        ("es", "Las lecturas tardan 5 ms y las escrituras 3 ms.", source, "direction 5;"),
        ("es", "Las escrituras tardan 5 ms y las lecturas 3 ms.", source, ""),
        (
            "es",
            "Hasta 300 000 IOPS de escritura a 2 ms y al menos 100 000 IOPS de lectura a 3 ms.",
            rates,
            "direction 300 000;",
        ),
        (
            "es",
            "Hasta 300 000 IOPS de lectura a 2 ms y hasta 100 000 IOPS de escritura a 3 ms.",
            rates,
            "qualifier 100 000;",
        ),
        (
            "es",
            "Hasta 300 000 IOPS de lectura a 2 ms y al menos 100 000 IOPS de escritura a 3 ms.",
            rates,
            "",
        ),
    ]);
    let lines = |language: &str, line: &str| format!("---\nlang: {language}\n---\n{line}\n");
    let named = lines("en", "IOR reached 5 GB/s.");
    assert_eq!(lint(&lines("es", "IOR alcanzó 5 GB/s."), Some(&named)), []);
    assert_eq!(lint(&lines("es", "HPL alcanzó 5 GB/s."), Some(&named)).len(), 1);
}

/// Paragraphs with the same figures are compared if their numbers differ.
#[test]
fn aligns_paragraphs_by_their_figures() {
    let source = "Rate of 5 GB/s at 2 ms.\n\nOnly here: 7 GB/s.\n\nUp to 9 GB/s at 4 ms.\n";
    let page = "---\nlang: fr\n---\nTaux de 5 GB/s à 2 ms.\n\nAu moins 9 GB/s à 4 ms.\n";
    assert_eq!(format_new_findings(page, source), "qualifier 9;");
}

#[test]
fn compares_units_of_headings() {
    let table = |heading: &str| {
        format!("| Size | {heading} |\n|---|---|\n| a | 1.5 |\n| b | 2.5 |\n| c | 3.5 |\n")
    };
    for (heading, source, expected) in [
        ("Latency [ms]", "Latency [µs]", "wrong-unit ms;"),
        ("Latence", "Latency [µs]", "wrong-unit Latence;"),
        ("Latency [µs]", "Latency", "wrong-unit µs;"),
        ("Opóźnienie (mikrosekundy)", "Latency [microseconds]", ""),
        ("지연 시간 마이크로초", "Latency [µs]", ""),
    ] {
        assert_eq!(format_new_findings(&table(heading), &table(source)), expected, "{heading}");
    }
}

#[test]
fn compares_sentences_in_order_or_reports_gap() {
    let source = "# Rate\n\nReads reach 300,000 IOPS.\n\nThe latency is 1 ms.\n";
    for (text, expected) in [
        ("# Débit\n\nPlus de 300 000 IOPS.\n\nUne latence de 1 ms.\n", ""),
        ("# Débit\n\nPlus de 30 000 IOPS.\n\nUne latence de 1 ms.\n", "digits 30 000;"),
        ("# Débit\n\nPlus de 300 000 IOPS.\n\nUne latence de 1 µs.\n", "wrong-unit µs;"),
        // An additional paragraph without figures.
        ("# Débit\n\nVoir.\n\nPlus de 300 000 IOPS.\n\nUne latence de 2 ms.\n", "digits 2;"),
        ("# Débit\n\nPlus de 300 000 IOPS.\n\nUne latence.\n", "digits Une latence.;"),
    ] {
        let text = format!("---\nlang: fr\n---\n{text}");
        assert_eq!(format_new_findings(&text, source), expected, "{text}");
        assert_eq!(check_page(&text, Some(source)).gap, None, "{text}");
    }
    let joined = "Plus de 300 000 IOPS. Une latence de 1 ms.\n";
    assert_eq!(format_new_findings(joined, source), "");
    let gap = check_page(joined, Some(source)).gap.unwrap();
    assert!(gap.contains("are 1 here and 2 in"), "{gap}");
}

#[test]
fn name_may_have_case_ending() {
    for (cell, expected) in [
        ("test STREAMu", ""),
        ("test STREAMING", ""),
        ("test STREAMINGU", "name test STREAMINGU;"),
        ("test PROUDU", "name test PROUDU;"),
    ] {
        let source = page("en", "| x | the STREAM test |");
        assert_eq!(
            format_new_findings(&page("cs", &format!("| x | {cell} |")), &source),
            expected,
            "{cell}"
        );
    }
}

#[test]
fn accepts_grammar_of_other_languages() {
    check(&[
        // Counts in ten thousands and millions, bare prefixes, dates.
        ("zh", "30 万个文件，5 s", "300,000 files, 5 s", ""),
        ("zh", "内存 8 G，5 s", "8 GB of memory, 5 s", ""),
        ("zh", "内存 8G，5 s", "8 GB of memory, 5 s", ""),
        ("zh", "万兆网卡，5 s", "a 10 Gbit/s card, 5 s", ""),
        ("zh", "1526 万次，5 s", "15.26 million times, 5 s", ""),
        ("zh", "2025-05-07，5 s", "7 May 2025, 5 s", ""),
        ("zh", "大概需要 5 s", "about 5 s", ""),
        ("zh", "不能超过 5 s", "at most 5 s", ""),
        ("zh", "日志流 5 s", "the log stream 5 s", ""),
        // Names may have case endings.
        ("cs", "test STREAMu 5 s", "the STREAM test 5 s", ""),
        ("hu", "SSDkon 5 s", "on SSD 5 s", ""),
        // A factor is a figure in any spelling.
        ("fr", "200 000 IOPS en lecture, 3 fois plus", "200,000 read IOPS, 3X more", ""),
        ("fr", "200 000 IOPS, 4 fois plus", "200,000 IOPS, 3X more", "digits 4;"),
        // The source lacks the time; the page has corrected it.
        ("fr", "780 Mo/s en écriture", "780 MB/writes", ""),
        ("fr", "780 Go/s en écriture", "780 MB/writes", "wrong-unit Go/s;"),
        ("tr", "1,3 GB/sn okur, 900 MB/sn yazar", "1.3 GB/s reads, 900 MB/s writes", ""),
        (
            "ru",
            "1,3 ГБ/с считывает, 900 МБ/с записывает",
            "1.3 GB/s reads, 900 MB/s writes",
            "",
        ),
    ]);
}

/// Kinds of differences between public translations that are no errors, and errors beside them.
#[test]
fn translations_may_differ_in_form() {
    let page = |language: &str, text: &str| format!("---\nlang: {language}\n---\n{text}\n");
    for (language, text, source, expected) in [
        ("fr", "SQL Server 2019 s’exécute ici.", "SQL Server 2019 runs here.", 0),
        ("de", "Es belegt 9 Byte im Speicher.", "It takes 9 bytes of memory.", 0),
        ("de", "Ein Wert von 2.147.483.647 Bytes.", "A value of 2,147,483,647 bytes.", 0),
        ("de", "Es dauert zwei Minuten und fünf Sekunden.", "It takes 2 min and 5 seconds.", 0),
        ("de", "Eine schreibgeschützte Kopie mit 5 MB.", "A read-only copy of 5 MB.", 0),
        ("de", "Die Datei hat ungefähr 128 MB.", "The file has about 128 MB.", 0),
        ("ru", "Размер равен 4 КБ.", "The size is 4096 bytes.", 0),
        ("ru", "Размер равен 4 МБ.", "The size is 4096 bytes.", 2),
        ("ru", "Скорость 25 ГБит/с.", "The rate is 25 Gbit/s.", 0),
        ("fr", "Ne pas utiliser plus de 30 000 fichiers.", "Use at most 30,000 files.", 0),
        ("de", "Der Wert muss 10 Sekunden sein.", "The value must be more than 10 seconds.", 1),
        (
            "es",
            "Con más de 64 nodos y más de 5 MB.",
            "With more than 64 nodes and more than 5 MB.",
            0,
        ),
        (
            "es",
            "Con más de 64 nodos y menos de 5 MB.",
            "With more than 64 nodes and more than 5 MB.",
            1,
        ),
        ("es", "Inserta 1 millón de filas.", "It inserts 1 million rows.", 0),
    ] {
        let findings = lint(&page(language, text), Some(&page("en", source)));
        assert_eq!(findings.len(), expected, "{text}: {findings:?}");
    }
}

/// Tables are compared with those of their shape where a page has another number of them.
#[test]
fn tables_of_other_versions_are_not_compared() {
    let table =
        |x: u32, y: u32| format!("| a | b |\n|-|-|\n| x | {x} MB |\n| y | {y} MB |\n\n");
    let page = table(5, 8) + &table(6, 7);
    let findings = lint(&page, Some(&table(6, 7)));
    assert_eq!(findings.len(), 1, "{findings:?}");
}
