//! Tests of the rules on published pages and translations with known errors.

use std::fmt::Write as _;
use std::path::Path;

use assay_claims::lint::{Confidence, LintFinding, Rule, apply_fixes, lint, sarif};
use expect_test::expect_file;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Formats all findings, one per line, for a reviewed file of expected output.
fn format_findings(findings: &[LintFinding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let fix =
            finding.replacement.as_ref().map_or_else(String::new, |to| format!(" => {to:?}"));
        let (line, column) = (finding.line, finding.column);
        let hidden =
            if finding.confidence == Confidence::Possible { " (possible)" } else { "" };
        let (rule, message) = (finding.rule.name(), &finding.message);
        writeln!(text, "{line}:{column} {rule}: {message}{fix}{hidden}").unwrap();
    }
    text
}

/// Known error of a page: the rule that must report it, and the printed text.
type KnownError = (Rule, &'static str);

/// Checks that every known error is found, and compares all findings with the reviewed file.
fn check(name: &str, source: Option<&str>, known: &[KnownError]) {
    let text = page(name);
    let findings = lint(&text, source.map(page).as_deref());
    expect_file![format!("../pages/{name}.expected")].assert_eq(&format_findings(&findings));
    let is_found = |(rule, printed): &&KnownError| {
        findings.iter().any(|it| it.rule == *rule && text[it.start..].starts_with(printed))
    };
    let missed: Vec<&KnownError> = known.iter().filter(|it| !is_found(it)).collect();
    assert!(missed.is_empty(), "{name}: {missed:?}\n{}", format_findings(&findings));
}

#[test]
fn finds_known_errors_in_russian_hb() {
    check(
        "hb.ru.md",
        Some("hb-2020.en.md"),
        &[
            (Rule::WrongUnit, "Гб/с"),
            (Rule::WrongUnit, "ГБ/с   |"),
            (Rule::Direction, "1,0"),
            (Rule::Direction, "780"),
            (Rule::WrongUnit, "МБ/операций"),
            (Rule::Qualifier, "260"),
            (Rule::Qualifier, "1\u{20}000"),
            (Rule::Qualifier, "725"),
            (Rule::UnitSpelling, "Гб/с"),
            (Rule::Name, "ХБ"),
            (Rule::Name, "Рпеак"),
            (Rule::Name, "Рмакс"),
            (Rule::Name, "ХПЛ"),
            (Rule::Name, "ИОР"),
            (Rule::Name, "осу"),
            (Rule::Name, "триады"),
            (Rule::Name, "КККС"),
            (Rule::UnitSpelling, "микросекунд,"),
            (Rule::Grouping, "1\u{20}000"),
        ],
    );
}

#[test]
fn finds_known_errors_in_french_hb() {
    check(
        "hb.fr.md",
        Some("hb-2019.en.md"),
        &[
            (Rule::WrongUnit, "Gbit/s de lectures"),
            (Rule::WrongUnit, "Gbit/s d"),
            (Rule::WrongUnit, "Mbit/s de lectures"),
            (Rule::WrongUnit, "Mbit/s d"),
            (Rule::Precision, "1 Gbit/s"),
            (Rule::DecimalMark, "2.4 "),
            (Rule::DecimalMark, "11"),
            (Rule::Grouping, "4096"),
            (Rule::UnitSpelling, "Gbits/s"),
            (Rule::UnitSpelling, "usec"),
            (Rule::Table, "|--"),
        ],
    );
    let text = page("hb.fr.md");
    let decimal_mark_count =
        lint(&text, None).iter().filter(|it| it.rule == Rule::DecimalMark).count();
    assert_eq!(decimal_mark_count, 40, "cells with a decimal point among decimal commas");
}

#[test]
fn finds_known_errors_in_czech_netapp_files() {
    check(
        "anf.cs.md",
        None,
        &[
            (Rule::WrongUnit, "kB vstupně"),
            (Rule::WrongUnit, "MiB nejvyšší"),
            (Rule::UnitSpelling, "GiB / s"),
            (Rule::DecimalMark, "4.5GiB"),
            (Rule::DecimalMark, "70.31"),
            (Rule::Name, "NetApp"),
            (Rule::UnitSpelling, "8-KiB"),
        ],
    );
}

#[test]
fn untranslated_page_has_no_errors() {
    check("fpga.zh.md", None, &[]);
    assert!(lint(&page("fpga.zh.md"), None).len() <= 1);
}

#[test]
fn finds_known_errors_in_korean_hc() {
    check(
        "hc.ko.md",
        Some("hc-2019.en.md"),
        &[
            (Rule::Name, "대기 시간 (MPICH 3.3 + 4"),
            (Rule::Qualifier, "최대 900"),
            (Rule::WrongUnit, "MB 읽기"),
            (Rule::Direction, "780 MB 읽기"),
            (Rule::Qualifier, "~ 2970"),
            (Rule::Name, "스트림 3"),
            (Rule::Qualifier, "~ 190"),
            (Rule::Impossible, "2.02"),
            (Rule::Impossible, "2.30"),
            (Rule::Impossible, "2.38"),
            (Rule::Impossible, "2.52"),
            (Rule::Impossible, "2.81"),
            (Rule::Impossible, "11290.92"),
            (Rule::Precision, "2  "),
        ],
    );
}

/// The English pages have the right units. Compared with themselves as the source, they have no
/// more findings than alone.
#[test]
fn page_agrees_with_itself() {
    for name in ["hb-2019.en.md", "hb-2020.en.md", "hc-2019.en.md"] {
        let text = page(name);
        let without_source = lint(&text, None);
        assert_eq!(lint(&text, Some(&text)), without_source, "{name}");
        let known = [Rule::Impossible, Rule::Precision, Rule::Table, Rule::UnitSpelling];
        assert!(
            without_source.iter().all(|it| known.contains(&it.rule)),
            "{name}: {}",
            format_findings(&without_source)
        );
    }
}

#[test]
fn fixes_are_applied_and_complete() {
    for name in ["hb.ru.md", "hb.fr.md", "anf.cs.md", "hc.ko.md"] {
        let text = page(name);
        let (fixed, count) = apply_fixes(&text, &lint(&text, None));
        assert!(count > 0, "{name}");
        let remaining = lint(&fixed, None);
        let fixable: Vec<&LintFinding> =
            remaining.iter().filter(|it| it.replacement.is_some()).collect();
        assert!(fixable.is_empty(), "{name}: {fixable:?}");
    }
}

#[test]
fn html_has_the_same_cells() {
    let text = "<html lang=\"fr\"><body><p>Débit</p><table><tr><th>#bytes</th><th>Bande passante (Mo/s)</th>\
                <th>(Gbit/s)</th></tr><tr><td>2</td><td>1000.5</td><td>8,00</td></tr><tr><td>4</td><td>2 000,5</td>\
                <td>16,00</td></tr><tr><td>8</td><td>4\u{a0}000,5</td><td>99,00</td></tr></table></body></html>";
    let findings = lint(text, None);
    let rules: Vec<Rule> = findings.iter().map(|it| it.rule).collect();
    assert!(
        rules.contains(&Rule::DecimalMark) && rules.contains(&Rule::Impossible),
        "{}",
        format_findings(&findings)
    );
}

#[test]
fn hostile_pages_do_not_panic() {
    for text in [
        "",
        "|",
        "|||\n|-",
        "---",
        "---\n",
        "```",
        "<table",
        "<td>~",
        "1",
        "| 1 000 |\n|-|\n|",
        "\u{feff}| a |\n",
        "\u{feff}---",
        "a | b\n-|",
        "<!-- `",
        "```````",
    ] {
        let findings = lint(text, Some(text));
        let _ = apply_fixes(text, &findings);
    }
}

/// The work grows linearly with the size of a page; quadratic growth would take minutes.
#[test]
fn long_line_takes_linear_time() {
    for piece in [
        "~1 000 MB ",
        "8-KiB 8 KiB ",
        "|1.5",
        "`a",
        "<td>1.5",
        "<table><tr>",
        "](",
        "1,5 ",
        "``a` ",
        "<code>",
        "<!--",
    ] {
        let text = piece.repeat((1 << 16) / piece.len());
        let findings = lint(&text, Some(&text));
        let _ = apply_fixes(&text, &findings);
    }
}

/// Code, front matter and comments are not prose: nothing in them is reported or corrected.
#[test]
fn skipped_parts_stay_unchanged() {
    let misspelled = "4 GiB / s";
    let mut failures = String::new();
    for (before, after, expected) in [
        ("", "", 1),
        ("<!-- ", " -->", 0),
        ("<!-- a\n\n", "\n-->", 0),
        ("<!-- a --> ", "", 1),
        ("`<!--` ", "", 1),
        ("``a ` ", "``", 0),
        ("`a` ", " `b`", 1),
        ("` ", "", 1),
        ("<pre>\n", "\n</pre>", 0),
        ("<code>", "</code>", 0),
        ("<code>\n\n", "", 1),
        ("    ", "", 0),
        ("\t", "", 0),
        ("  \t", "", 0),
        ("````\n```\n", "\n````", 0),
        ("```\n", "\n``` no end\n```", 0),
        ("```\na\n```\n", "", 1),
        ("> ```\n> ", "\n> ```", 0),
        ("> ```\n> a\n\n", "", 1),
        ("> ", "", 1),
        ("```a` ", "", 1),
        ("---\nnote: ", "\n---\n", 0),
        ("\u{feff}---\nnote: ", "\n---\n", 0),
        ("\u{feff}---\nlang: fr\n---\n", "", 1),
        ("<html><script>if (a<b) {}</script><p>", "</p></html>", 1),
        ("<html><p>a</p><script>a<b; x = '", "';</script></html>", 0),
        ("<html><p>a <code>b<c ", "</code></p></html>", 0),
    ] {
        let text = format!("{before}{misspelled}{after}\n");
        let findings = lint(&text, None);
        let fixed = apply_fixes(&text, &findings).0;
        if findings.len() != expected || (fixed == text) != (expected == 0) {
            let _ = writeln!(failures, "{text:?}: {}", self::format_findings(&findings));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Tables without leading bars, and tables in a quotation.
#[test]
fn recognises_all_table_forms() {
    let rows = ["t_min | t_avg", "--- | ---:", "2.24 | 2.02", "2.30 | 2.40"];
    for before in ["", "| ", "> ", "> | ", "  "] {
        let text: String = rows.iter().map(|row| format!("{before}{row}\n")).collect();
        let findings = lint(&format!("A | in a sentence.\n\n{text}\na | b\n"), None);
        let rules: Vec<_> = findings.iter().map(|it| it.rule).collect();
        assert_eq!(rules, [Rule::Impossible], "{text}: {}", format_findings(&findings));
    }
}

/// HTML entities of blanks count as blanks, and positions refer to the page as written.
#[test]
fn entities_of_blanks_are_blanks() {
    let page = |blank: &str| {
        let row = format!("| STREAM Triad | 260{blank}Gbit/s |");
        format!("| Workload | HB |\n|---|---|\n{row}\n")
    };
    let positions = |blank: &str| -> Vec<_> {
        let findings = lint(&page(blank), None);
        findings.iter().map(|it| (it.line, it.column, it.rule.name())).collect()
    };
    assert_eq!(positions(" ").len(), 1, "{:?}", positions(" "));
    for entity in ["&nbsp;", "&#160;", "&#8239;"] {
        let (line, column, rule) = positions(" ")[0];
        assert_eq!(positions(entity), [(line, column + entity.len() - 1, rule)], "{entity}");
    }
}

/// A title in the front matter is checked, and never changed.
#[test]
fn titles_are_checked_and_kept() {
    let text = "---\ntitle: Rate of 4 GiB / s\n---\nText.\n";
    let findings = lint(text, None);
    assert_eq!(findings.len(), 1, "{}", format_findings(&findings));
    assert_eq!(apply_fixes(text, &findings), (text.to_owned(), 0));
    let source = "---\ntitle: Rate of 4 GB/s\n---\nText.\n";
    let translated = "---\ntitle: Taux de 5 GB/s\nlang: fr\n---\nTexte.\n";
    assert_eq!(lint(translated, Some(source)).len(), 1);
}

/// Tables of HTML within Markdown, with and without end tags, and cells with entities.
#[test]
fn html_tables_are_read_as_markdown_tables() {
    let rows = "<tr><td>8<td>2.0<td>1.5<tr><td>9<td>2.0<td>3.0";
    let closed = "<tr><td>8</td><td>2.0</td><td>1.5</td></tr>";
    let head = "<tr><th>size</th><th>min</th><th>mean</th></tr>";
    for (text, expected) in [
        (format!("# A page\n\nText.\n\n<table>\n{head}\n{rows}\n</table>\n"), 1),
        (format!("# A page\n\n<table>\n{head}\n{closed}\n</table>\n\nText, 4 GiB / s.\n"), 2),
        (format!("<html><body><table>{head}{rows}</table></body></html>"), 1),
        (format!("<html><body><table>{head}{closed}"), 1),
        (format!("# A page\n\n<table>{head}{closed}\n\n4 GiB / s\n"), 1),
        ("| size | min | mean |\n|-|-|-|\n| 8 | 1&nbsp;500 | 900 |\n".to_owned(), 1),
        ("| min | mean |\n|-|-|\n| 5&nbsp;&micro;s | 4&#8239;&#181;s |\n".to_owned(), 1),
    ] {
        let findings = lint(&text, None);
        assert_eq!(findings.len(), expected, "{text}: {}", format_findings(&findings));
    }
}

/// Digits of other scripts, text from right to left, and grouping by other blanks.
#[test]
fn digits_of_other_scripts_are_read() {
    for (row, expected) in [
        ("| ２．０ | １．５ |", 1),
        ("| ٢٫٠ | ١٫٥ |", 1),
        ("| ۲٫۰ | ۲٫۵ |", 0),
        ("| 1\u{2009}500 | 900 |", 1),
        ("| 1’500 | 2’000 |", 0),
        ("| \u{200f}5 \u{200f}ms | \u{200f}6 \u{200f}ms |", 0),
    ] {
        let findings = lint(&format!("| min | mean |\n|-|-|\n{row}\n"), None);
        assert_eq!(findings.len(), expected, "{row}: {}", format_findings(&findings));
    }
    let (page, source) = ("السرعة ‏٥٫٧ GB/s‏ والزمن ٢ ms", "Speed 5.7 GB/s and time 2 ms");
    assert_eq!(lint(page, Some(source)), []);
}

/// Pages that were not used to tune the rules: at most one false alarm each.
#[test]
fn unseen_translations_give_few_false_alarms() {
    for (name, known) in UNTUNED_PAGES {
        check(name, None, known);
        let text = page(name);
        let findings = lint(&text, None);
        let is_known = |it: &&LintFinding| {
            known.iter().any(|(rule, printed)| {
                it.rule == *rule && text[it.start..].starts_with(printed)
            })
        };
        let false_alarms = findings.iter().filter(|it| !is_known(it)).count();
        assert!(false_alarms <= 1, "{name}: {}", format_findings(&findings));
    }
}

/// The heading of a section may name another series only if the page is about it, too.
#[test]
fn heading_of_another_series_contradicts_the_page() {
    for (title, section, is_found) in [
        ("HC-series", "## HB\n\nSTREAM", true),
        ("HC-series", "## HB-series\n\nSTREAM", true),
        ("Größen der HC-Serie", "## HB-Serie\n\nSTREAM", true),
        ("HC 系列", "## HB 系列\n\nSTREAM", true),
        ("HC-series", "## HC\n\nSTREAM", false),
        ("HC-series", "## HC\n\nSTREAM\n\n## HB\n\nSTREAM", false),
        // Sections name both, and so do the columns of a table.
        (
            "HC-series",
            "## HC\n\nSTREAM\n\n## HB\n\n| test | HC | HB |\n|-|-|-|\n| A | 2 GB/s | 1 GB/s |\n\nSTREAM",
            false,
        ),
        ("HC-series", "## HB\n\nUnlike HB, it has InfiniBand.", false),
        ("HC-series", "## HB and HC\n\nSTREAM", false),
        ("HC-series", "## VM\n\nSTREAM", false),
        ("HC-series", "## Migration from HB\n\nSTREAM", false),
        ("Sizes", "## HB\n\nSTREAM", false),
    ] {
        let text =
            format!("---\ntitle: {title}\n---\n# {title}\n\n{section} reaches 190 GB/s.\n");
        let findings = lint(&text, None);
        let found: Vec<&str> = findings.iter().map(|it| &text[it.start..it.end]).collect();
        assert_eq!(found, if is_found { vec!["HB"] } else { vec![] }, "{text}");
    }
}

/// Kinds of text of public pages that are right: none is reported without being asked for.
#[test]
fn right_pages_have_no_likely_errors() {
    let mut failures = String::new();
    for text in RIGHT_TEXTS {
        let findings = lint(text, None);
        let likely = findings.iter().filter(|it| it.confidence > Confidence::Possible);
        let likely: Vec<LintFinding> = likely.cloned().collect();
        if !likely.is_empty() {
            writeln!(failures, "{text:?}: {}", format_findings(&likely)).unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// One text for each kind of false finding on public pages.
const RIGHT_TEXTS: [&str; 46] = [
    "It uses 10^6 bits/s, and 940 Mbits/s were reached.",
    "| Type | GiB |\n|-|-|\n| p2\\.8xlarge | 488 |\n| p3\\.8xlarge | 244 |",
    "About 2 MB ~ 64 MB.",
    "XTRIM mystream MAXLEN ~ 10",
    "It stalls between ~40% and ~70% of the time.",
    "A file (~120 GB) contains ~960 groups.",
    "Encoding ~3.27 GB/s | ~1.65 GB/s decoding",
    "如果是 1~99 的数字，1~69 换算成 2001~2069。",
    "A 4-byte ID; others have 4 bytes.",
    "A delay of 60-second steps, 60 seconds in the past.",
    "16,383 \\* 512 KiB = 7\\.99 GiB",
    "1000 x 256 KiB = 250 MiB",
    "4 x 5 x 128MB = 2.5GB",
    "When 64KB (65536 bytes) are read",
    "1 TB (1024 GB)",
    "- Disk: 200 GiB throughput optimized HDD (st1)",
    "## How About 4KB I/Os?",
    "The tool reads with 100 KB I/Os.",
    "Monitoring: 8GB * 1 500GB (ssd)",
    "| Rate | A | B | C | D | E |\n|-|-|-|-|-|-|\n| ms | 0.27 | 0.30 | 1 | 2 | 3 |",
    "| t | a |\n|-|-|\n| Loops per second | 32860262 |\n| s | 1.25 |\n| h | 2.25 |\n| d | 3.75 |",
    "| SATA SSD | 6 Gb/s |",
    "| RDMA, NDR | 48.2 GB/s |",
    "| STREAM | 12.5 GB/s (100 Gb/s) |\n",
    "| Disk | 1.2 GB/s reads (600 MB/s per drive) |",
    "Reads of 64 KB/read and 8 GB/core",
    "It wrote at 2 GB/s, 4 GB read in all.",
    "| n | Net (Gbit/s) | Disk (MB/s) |\n|-|-|-|\n| a | 10 | 200 |\n| b | 25 | 400 |\n| c | 40 | 800 |",
    "| n | Mbit/s | Mbit/s max | MB/s | MB/s max | IOPS |\n|-|-|-|-|-|-|\n| a | 800 | 8 | 100 | 1 | 5 |\n| b | 80 | 8 | 10 | 1 | 5 |\n| c | 8 | 8 | 1 | 1 | 5 |\n| d | 3500 | 437.5 | 20000 |",
    "940 Mbits/sec",
    "| a |\n|-|\n| usec |\n| 5 usec |\n| 5 µs |",
    "Redisом измерено 5 мс",
    "| prior | 9.6 Gbit/s |",
    "---\nlang: ru\n---\nВведите \"0.909495TB\" и нажмите Enter.",
    "---\nlang: ru\n---\n| Стандарт | Скорость |\n|-|-|\n| 802.11 | 2 Мбит/с |",
    "---\nlang: ru\n---\nОтклик в 20:18:32.9821765s получен.",
    "---\nlang: ru\n---\nДиск делает 25 600 КБ/с (25 МБ/с).",
    "---\nlang: ru\n---\nСектора по 512 байт, затем 512-байтные сектора.",
    "---\nlang: de\n---\nBeim Lesen liegt die Größe zwischen 2 MB und 16 MB.",
    "---\nlang: de\n---\nSchreibgeschwindigkeiten von 4 TB pro Stunde. Laufwerke schreiben 50 MB/s.",
    "---\nlang: de\n---\nEine Zeile hat ~165 Bytes (mit Kopf) ~49 Zeilen pro Seite.",
    "The processor E5-2603,16GB RAM and the disks of the network are there.",
    "* Segments: [0,4 MB) full | [4 MB,128 GB) empty, with the others.",
    "NFS (EFS, Azure Files, NetApp) has a cost of 4 ms.",
    "<img src=\"a.png\" alt=\"p\" style=\"zoom:67%; width:1.5 GiB / s\" />",
    "The rate grew from 100 MB/s to 150 MB/s, 50 % more.",
];

/// Parts of a page that contradict each other.
#[test]
fn contradictions_are_found() {
    let table = "| Workload | HB |\n|-|-|\n| STREAM Triad | 190 GB/s |\n";
    let two_machines =
        "| Rate [GB/s] | HB | HC |\n|-|-|-|\n| STREAM Triad | 190 GB/s | 260 GB/s |\n";
    for (text, expected) in [
        (format!("# HC-series sizes\n\n{table}"), 1),
        (format!("# HB-series sizes\n\n{table}"), 0),
        (format!("# HC-series sizes\n\nHB is older.\n\n{table}"), 0),
        (format!("# Sizes\n\nSTREAM Triad reaches 260 GB/s.\n\n{table}"), 1),
        (format!("# Sizes\n\nSTREAM Triad reaches 191 GB/s.\n\n{table}"), 0),
        (format!("# Sizes\n\nSTREAM Triad reaches 260 GB/s on HB.\n\n{two_machines}"), 1),
        (format!("# Sizes\n\nSTREAM Triad reaches 260 GB/s on HC.\n\n{two_machines}"), 0),
        (format!("# Sizes\n\nSTREAM Triad reaches 210 GB/s elsewhere.\n\n{two_machines}"), 0),
        ("It grew from 104 MB/s to 156 MB/s, 62 % more.".to_owned(), 1),
        ("It fell from 156 MB/s to 104 MB/s, 33 % less.".to_owned(), 0),
        ("---\nlang: zh\n---\n吞吐量从 2.0 GB/s 提高到 2.5 GB/s，提升 35%。".to_owned(), 1),
        ("---\nlang: zh\n---\n从 10 GB/s 提升到 12 GB/s，达到峰值的 70%。".to_owned(), 0),
        ("---\nlang: zh\n---\n从 10 GB/s 提升到 12 GB/s，丢包 1%。".to_owned(), 0),
        ("---\nlang: zh\n---\n从 10.0 GB/s 降到 8.0 GB/s，降低了 35%。".to_owned(), 1),
        ("---\nlang: zh\n---\n吞吐量从 2.0 GB/s 提高到 2.5 GB/s，提升 25%。".to_owned(), 0),
        (
            "---\nlang: zh\n---\n吞吐量从 2.0 GB/s 提高到 2.5 GB/s，CPU 使用率 80%。"
                .to_owned(),
            0,
        ),
        ("It grew from 2.0 GB/s to 2.5 GB/s, CPU usage 80 %.".to_owned(), 0),
    ] {
        let findings = lint(&text, None);
        assert_eq!(findings.len(), expected, "{text}: {}", format_findings(&findings));
    }
}

/// Percentiles with a verb between the name and the figure.
#[test]
fn percentiles_with_verbs_are_checked() {
    for (text, expected) in [
        ("The p50 is 3 ms, the p99 is 2 ms.", 1),
        ("p50 was 3 ms and p99 was 2 ms.", 1),
        ("p50 of 3 ms, p99 of 2 ms", 1),
        ("The p50 is 2 ms, the p99 is 3 ms.", 0),
        ("The p50 is 3 ms, p99 rises with load to 2 ms.", 0),
        ("The p50 of A is 3 ms, the p99 of B is 2 ms.", 0),
        // Differences.
        ("The p90 is 4 ms, the p99 is 3 ms slower.", 0),
        ("p50 is 3 ms, p99 is 2 ms lower.", 0),
        ("p50 ist 3 ms, p99 ist 2 ms höher.", 0),
        ("The p50 is 3 ms, the p99 is 2 ms with one client.", 1),
    ] {
        let findings = lint(text, None);
        assert_eq!(findings.len(), expected, "{text}: {}", format_findings(&findings));
    }
}

/// A rate that does not follow from the other figures of its sentence.
#[test]
fn products_of_a_sentence_are_checked() {
    for (text, expected) in [
        ("The disk does 4 KiB reads at 100,000 IOPS, that is 2 GB/s.", 1),
        ("The disk does 4 KiB reads at 100,000 IOPS, that is 410 MB/s.", 0),
        ("The disk does 4 KiB reads at 100,000 IOPS, that is about 0.4 GB/s.", 0),
        ("The disk does 4 KiB reads at 100,000 IOPS = 3.3 Gbit/s.", 0),
        ("The disk does 4 KiB reads at 100,000 IOPS = 33 Gbit/s.", 1),
        ("It copied 100 GB in 10 s, which is 10 GB/s.", 0),
        ("It copied 100 GB in 10 s, which is 5 GB/s.", 1),
        // No equation.
        ("The disk does 4 KiB reads at 100,000 IOPS and 2 GB/s.", 0),
        ("Use 4 KiB blocks for 100,000 IOPS, and large ones: that limit is 2 GB/s.", 0),
        // Another sentence, another figure, or several disks.
        ("The disk does 4 KiB reads at 100,000 IOPS. That is 2 GB/s.", 0),
        ("With 5 disks, 4 KiB reads get 100,000 IOPS, that is 2 GB/s.", 0),
        ("With three disks, 4 KiB reads get 100,000 IOPS, that is 2 GB/s.", 0),
        ("4 KiB writes get 100,000 IOPS with mirroring, which is 800 MB/s.", 0),
        ("4 KiB writes get 100,000 IOPS on replicas, that is 1.2 GB/s.", 0),
        // Parts of other words.
        ("4 KiB reads reach 100,000 IOPS, that is 2 GB/s.", 1),
        ("The upper disk does 4 KiB reads at 100,000 IOPS (that is 2 GB/s).", 1),
        // A relative clause.
        ("The limit for 16 KiB at 10,000 IOPS on a disk that is 250 MB/s is lower.", 0),
        ("Each disk does 4 KiB reads at 100,000 IOPS, that is 2 GB/s.", 0),
        ("---\nlang: de\n---\nSie liest 4 KiB mit 100.000 IOPS, das sind 2 GB/s.", 1),
        ("---\nlang: de\n---\nSie liest 4 KiB mit 100.000 IOPS, das sind 0,4 GB/s.", 0),
        ("---\nlang: fr\n---\nIl lit 4 Kio à 100 000 IOPS, soit 2 Go/s.", 1),
        ("---\nlang: zh\n---\n以 100,000 IOPS 读取 4 KiB，即 2 GB/s。", 1),
    ] {
        let findings = lint(text, None);
        assert_eq!(findings.len(), expected, "{text}: {}", format_findings(&findings));
    }
}

/// Relations that a compound names, and operators without an operand.
#[test]
fn compounds_and_separators_are_no_excuse() {
    let table = |last: &str| {
        let rows = ["100 | 150 | 50", "200 | 220 | 10", "400 | 500 | 25", "300 | 390 | 30"];
        let rows = rows.iter().map(|row| format!("| a | {row} % |\n")).collect::<String>();
        let heading = "| Test | alt [MB/s] | neu [MB/s] | Leistungsänderung |\n|-|-|-|-|\n";
        format!(
            "---\nlang: de\n---\n{heading}{rows}| a | 500 | 700 | 40 % |\n| a | 600 | 720 | {last} % |\n"
        )
    };
    let card = |rate: &str| {
        format!("---\nlang: de\n---\nEs sind {rate} über die 10-Gbit/s-Netzwerkkarte.\n")
    };
    for (text, expected) in [
        (table("20"), 0),
        (table("60"), 1),
        (card("1,2 GB/s"), 0),
        (card("9,4 GB/s"), 1),
        ("It copies 9.4 GB/s over a 10 Gbit/s uplink.".to_owned(), 1),
        ("4.00 GiB = 5,000 MiB · measured twice".to_owned(), 1),
        ("4.00 GiB = 5,000 MiB · 3".to_owned(), 0),
    ] {
        let findings = lint(&text, None);
        let found = findings.iter().filter(|it| it.confidence > Confidence::Possible).count();
        assert_eq!(found, expected, "{text}: {}", format_findings(&findings));
    }
}

/// Code hosts resolve the name of a page as a URI.
#[test]
fn sarif_uses_percent_encoded_uri() {
    let text = "4 GiB / s\n";
    let document = sarif::document(&[("a b/é:1%.md".to_owned(), lint(text, None))], "1");
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let location = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "a%20b/%C3%A9%3A1%25.md", "{location}");
}

/// Pages with their known errors.
const UNTUNED_PAGES: [(&str, &[KnownError]); 9] = [
    ("anf.ko.md", &[(Rule::WrongUnit, "MiB는")]),
    (
        "hb.zh-tw.md",
        &[
            (Rule::WrongUnit, "MB/寫入"),
            (Rule::Qualifier, "~ 1000"),
            (Rule::Qualifier, "~ 860"),
        ],
    ),
    (
        "hbv2.tr.md",
        &[
            (Rule::WrongUnit, "GB/sn  |"),
            (Rule::WrongUnit, "GB/yazma"),
            (Rule::Impossible, "8 TeraFLOPS"),
        ],
    ),
    (
        "hbv2.sv.md",
        &[
            (Rule::WrongUnit, "GB/s  |"),
            (Rule::WrongUnit, "GB/skrivningar"),
            (Rule::Impossible, "8 TeraFLOPS"),
        ],
    ),
    ("linux.ru.md", &[(Rule::Qualifier, "~ ")]),
    ("anf.pt.md", &[(Rule::WrongUnit, "MiB é"), (Rule::UnitSpelling, "8-KiB")]),
    ("hc.de.md", &[(Rule::Name, "HB "), (Rule::UnitSpelling, "GBit/s")]),
    ("hb.it.md", &[(Rule::WrongUnit, "GB/s   |"), (Rule::WrongUnit, "MB/Scritture")]),
    ("anf.ja.md", &[(Rule::WrongUnit, "MiB です")]),
];

/// Tables whose figures are right in one reading, and tables that are wrong in every reading.
#[test]
fn tables_are_read_as_the_page_shows_them() {
    let rates = |rows: &str| {
        format!("| Type | Throughput (MB/s) | Bandwidth (Mbps) |\n|---|---|---|\n{rows}")
    };
    let times = |rows: &str| format!("| Test | min | avg | max |\n|---|---|---|---|\n{rows}");
    for (page, expected) in [
        (rates("| a | 437.5 | 3,500 |\n| b | 250 | 2,000 |\n| c | 500 | 4,000 |\n"), 0),
        (rates("| a | 437.5 | 3,500 |\n| b | 250 | 2,100 |\n| c | 500 | 4,000 |\n"), 1),
        (times("| a | 26.1 | 26.099999999999998 | 26.1 |\n"), 0),
        (
            times("| a | 2\\.24 | 2\\.02 | 6\\.39 |\n| b | **2.24** | **2.02** | **6.39** |\n"),
            2,
        ),
        (times("| a | 2.02<sup>1</sup> | 2.24 | 6.39<sup>2</sup> |\n"), 0),
        (times("| a | 2.24<sup>1</sup> | 2.02 | 6.39<sup>2</sup> |\n"), 1),
        (times("| a | 1 | 10<sup>6</sup> | 500 |\n"), 0),
    ] {
        let findings = lint(&page, None);
        let impossible = findings.iter().filter(|it| it.rule == Rule::Impossible).count();
        assert_eq!(impossible, expected, "{page}: {}", format_findings(&findings));
    }
}

/// A page without a language: a comma before a unit is read as the page's own mark, and before three
/// digits as either mark.
#[test]
fn pages_without_a_language_are_read_by_their_figures() {
    let table = |low: &str, high: &str| {
        format!("| Test | min | mean |\n|---|---|---|\n| a | {low} | {high} |\n")
    };
    let source = Some("4.5 GiB/s");
    for (page, source, expected) in [
        (table("4,5GiB/s", "5,1GiB/s"), None, &[][..]),
        (table("5,1GiB/s", "4,5GiB/s"), None, &[Rule::Impossible]),
        // The other figure shows that the comma is a decimal mark; otherwise it may separate groups.
        (table("5,1GiB/s", "4,500GiB/s"), None, &[Rule::Impossible]),
        (table("500GiB/s", "4,500GiB/s"), None, &[]),
        (table("5,1GiB/s", "4,500MiB/s"), None, &[Rule::Impossible]),
        ("4,5GiB/s".to_owned(), source, &[]),
        ("5,4GiB/s".to_owned(), source, &[Rule::Digits]),
        ("4,5GB/s".to_owned(), source, &[Rule::WrongUnit]),
        // Its sentences are English.
        (
            "The volume reads 4,5GiB/s of the data and more.".to_owned(),
            None,
            &[Rule::DecimalMark],
        ),
        ("Das Volume liest 4,5GiB/s.".to_owned(), None, &[]),
        // Neither mark has a majority.
        ("4,5GiB/s\n\n3.5GiB/s".to_owned(), None, &[]),
    ] {
        let findings = lint(&page, source);
        let rules: Vec<Rule> = findings.iter().map(|it| it.rule).collect();
        assert_eq!(rules, expected, "{page}: {}", format_findings(&findings));
    }
}

/// Sentences of translations that were not used to tune the rules, without false alarms.
#[test]
fn other_languages_give_no_false_alarms() {
    for (sentence, expected) in [
        (
            "mellan ~1 600 MiB/s rent sekventiella skrivningar och ~4 500 MiB/s rent sekventiella läsningar",
            0,
        ),
        ("Las lecturas pueden superar los 300 000 IOPS, y 4,5 GiB/s de rendimiento.", 0),
        ("* Lectura secuencial del 50 % de 64-KiB, escritura secuencial del 50 % de 64-KiB", 0),
        ("| STREAM Triad | 260 GB/s (32–33 GB/s pro CCX) |", 0),
        ("| RDMA-Wartezeit und -Bandbreite | 1,27 Mikrosekunden, 99,1 GBit/s |", 1),
        ("單一磁碟區可以在 ~1600 MiB/s 純連續寫入和 ~4500 MiB/s 純連續讀取之間處理。", 0),
        ("| HPL | ~1000 GigaFLOPS (Rpeak) ，~860 GigaFLOPS (Rmax) |", 0),
        ("Azure NetApp Files에 대한 Azure NetApp Files의 성능", 0),
        ("| FIO on NVMe | ~725 MB/s 讀取, ~780 MB/写入 |", 1),
        ("| IOR | 725 MB/s 읽기, 780 MB/쓰기 |", 1),
        ("The host has 8 GB/core and 4 GB/vCPU.", 0),
        ("| STREAM | 350 GB/sn (CCX başına 21-23 GB/sn) |", 0),
        ("| RDMA の待機時間と帯域幅 | 1.80 マイクロ秒、96.3 GB/秒 |", 1),
        // Eight links carry more than one.
        ("| RDMA bandwidth (8 x 400 Gb/s) | 390 GB/s |", 0),
        // Words that only contain the name of a tool.
        ("| prior work | 9.6 Gbit/s |", 0),
        ("| behavior | 9.6 Gbit/s |", 0),
        ("| Streaming | 25 Mbit/s |", 0),
        ("| IOR | 9.6 Gbit/s |", 1),
        // Sizes beside throughput.
        ("| Volume | 50 TiB Ultra (6,400 MiB/s throughput) |", 0),
        ("Blocks of 256 KB~1 MB limit the throughput.", 0),
        ("A size of 1 MiB - 256 MiB and its throughput are printed.", 0),
        ("It reads 4 GB at 2 GB/s.", 0),
        ("Up to 4,500 MiB of throughput.", 1),
    ] {
        let findings = lint(sentence, None);
        assert_eq!(findings.len(), expected, "{sentence}: {}", format_findings(&findings));
    }
}
