//! Properties of corrections: a clean page stays as it is, and a page with one error is restored or
//! stays as it is.

use std::fmt::Write as _;

use assay_claims::figure::find_figures;
use assay_claims::lint::{Confidence, LintFinding, apply_fixes, lint};
use assay_claims::page::LintPage;

/// Language, decimal mark, unit in bytes, unit in bits, and a sentence with its first figure.
const LANGUAGES: [[&str; 5]; 9] = [
    ["en", ".", "GB/s", "Gbit/s", "Reads reach at most"],
    ["de", ",", "GB/s", "Gbit/s", "Lesevorgänge erreichen höchstens"],
    ["fr", ",", "Go/s", "Gbit/s", "Les lectures atteignent au plus"],
    ["es", ",", "GB/s", "Gbit/s", "Las lecturas alcanzan como máximo"],
    ["cs", ",", "GB/s", "Gbit/s", "Čtení dosahuje nejvýše"],
    ["ru", ",", "ГБ/с", "Гбит/с", "Чтение достигает не более"],
    ["zh", ".", "GB/s", "Gbit/s", "读取最高"],
    ["ja", ".", "GB/秒", "Gbit/s", "読み取りは最大"],
    ["ko", ".", "GB/s", "Gbit/s", "읽기는 최대"],
];

/// Returns a page without errors.
fn clean_page([language, mark, bytes, bits, reads]: [&str; 5]) -> String {
    let page = format!(
        "---\nlang: {language}\n---\n# STREAM\n\n{reads} 4.5 {bytes}, 2.25 ms. Ethernet 100 {bits}.\n\n\
         | n | p50 [µs] | p99 [µs] | STREAM Triad |\n|-|-|-|-|\n| 1 | 2.25 | 4.50 | 260.5 {bytes} |\n\
         | 2 | 3.25 | 4.75 | 262.0 {bytes} |\n| 4 | 3.50 | 5.25 | 261.5 {bytes} |\n\n\
         | RDMA | 96.5 {bits} |\n|-|-|\n| fio | 1.25 {bytes} |\n"
    );
    page.replace('.', mark).replace(&format!("{mark} Ethernet"), ". Ethernet")
}

/// Returns the page with one error at a time: another decimal mark, digit or unit.
fn with_errors(page: &str, [_, mark, bytes, bits, _]: [&str; 5]) -> Vec<String> {
    let other = if mark == "." { "," } else { "." };
    let units = [
        (bytes, bits.to_owned()),
        (bits, bytes.to_owned()),
        (bytes, bytes.replace('/', " / ")),
        (bits, bits.replace("bit", "bits")),
        ("ms", "µs".to_owned()),
    ];
    let mut pages = Vec::new();
    for text in LintPage::read(page).texts() {
        for figure in find_figures(&text.text) {
            let (from, to) =
                (text.start + figure.number_span.0, text.start + figure.number_span.1);
            let mut replace = |from: usize, to: usize, with: &str| {
                let mut changed = page.to_owned();
                changed.replace_range(from..to, with);
                pages.push(changed);
            };
            replace(from, to, &page[from..to].replace(mark, other));
            replace(from, from + 1, if page[from..].starts_with('9') { "1" } else { "9" });
            replace(from, to, &page[from..to].replace(mark, ""));
            let after = to + usize::from(page[to..].starts_with(' '));
            for (unit, with) in &units {
                if page[after..].starts_with(unit) {
                    replace(after, after + unit.len(), with);
                }
            }
        }
    }
    pages
}

/// Applies the corrections that `--fix` applies without `--all`.
fn fix(page: &str, source: Option<&str>) -> String {
    let findings = lint(page, source).into_iter();
    let likely: Vec<LintFinding> =
        findings.filter(|it| it.confidence > Confidence::Possible).collect();
    apply_fixes(page, &likely).0
}

/// An entity of a blank stays: a fix would write what fills its place.
#[test]
fn fixes_write_no_filler() {
    let page = "---\nlang: fr\n---\n\nLe débit est de 1&nbsp;234.5 Mo/s.\n";
    assert_eq!(fix(page, None), page);
}

#[test]
fn clean_pages_stay_and_errors_are_restored_or_stay() {
    let mut failures = String::new();
    let mut restored = 0;
    for language in LANGUAGES {
        let page = clean_page(language);
        assert_eq!(lint(&page, Some(&page)), [], "{page}");
        for changed in with_errors(&page, language) {
            for source in [None, Some(page.as_str())] {
                let fixed = fix(&changed, source);
                restored += usize::from(fixed == page);
                if fixed != page && fixed != changed {
                    let line = fixed.lines().zip(page.lines()).find(|(a, b)| a != b);
                    writeln!(failures, "{}: {line:?}", language[0]).unwrap();
                }
            }
        }
    }
    assert!(failures.is_empty() && restored > 100, "{restored} restored\n{failures}");
}

/// A size that has its own word or a complete rate is never changed to a rate, nor a part of the figures
/// of a program's output.
#[test]
fn figures_with_two_readings_are_never_changed() {
    for page in [
        "The volume has 101 TiB Ultra (10,240 MiB/s throughput).",
        "Blocks of 256 KB~1 MB limit the throughput.",
        "---\nlang: de\n---\nEin Volume hat 4 TiB, der Durchsatz ist 4 GiB/s.",
        "---\nlang: fr\n---\nUn fichier de 2 Go et un débit de 2 Go/s.",
        "---\nlang: fr\n---\n| E/s | 1 | 2 | part |\n|-|-|-|-|\n| a | 269.73 | 250.47 | 92.86 % |\n",
        "---\nlang: de\n---\n| n | Anteil [%] |\n|-|-|\n| 639 | 65.7407407407407 |\n",
        "RDMA over 8 × 400 Gb/s links.\n\n| RDMA | 390 GB/s |\n|-|-|\n",
    ] {
        assert_eq!(fix(page, None), page);
    }
}
