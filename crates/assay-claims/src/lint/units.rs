//! Unit rules: bits for bytes, sizes for rates, non-standard spellings.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::quantity::Unit;

use super::checks::Check;
use super::words::{MAX_ENDING, has_any_word, has_word};
use super::{Linter, direction, page_span};
use crate::figure::{PrintedFigure, PrintedUnit, heading_unit, text_before};
use crate::page::{LintPage, PageText};
use crate::steps;

/// Link rates in Gbit/s: Ethernet and InfiniBand.
const LINK_GBIT_PER_S: [f64; 9] = [10.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0];
/// Benchmarks of memory and storage, whose rates are in bytes.
const BYTE_TOOLS: [&str; 4] = ["triad", "fio", "ior", "vdbench"];
/// Benchmark of memory whose name is also a kind of flash.
const MEMORY_TOOL: &str = "mlc";
/// Devices, whose rates are in bytes and whose interfaces are in bits. With one of them, `MLC` is a
/// kind of flash and no benchmark of memory.
const BYTE_DEVICES: [&str; 4] = ["nvme", "ssd", "raid0", "hdd"];
/// Words for flash, of which `MLC` is a kind.
const FLASH_WORDS: [&str; 6] = ["flash", "nand", "emmc", "slc", "tlc", "qlc"];
/// Words for networks, which are measured in bits. They take precedence over the words for bytes.
const NETWORK_WORDS: [&str; 3] = ["tcp", "udp", "iperf"];
const FABRIC_WORDS: [&str; 2] = ["rdma", "infiniband"];
/// First letters of the benchmarks of a fabric: `ib_write_bw`.
const FABRIC_PREFIX: &str = "ib_";
/// Words for throughput with the particle that precedes the figure.
const THROUGHPUT_BEFORE: [&str; 3] = ["スループットは", "吞吐量为", "처리량은"];
/// Words for capacities, which are sizes, not rates.
const CAPACITY_WORDS: [&str; 10] =
    ["quota", "kvót", "квот", "クォータ", "配额", "할당량", "capac", "kapaz", "容量", "용량"];
/// Words for sizes, of files or of blocks.
const SIZE_WORDS: [&str; 9] =
    ["size", "größe", "taille", "tamaño", "velikost", "размер", "大小", "サイズ", "크기"];
/// Words that join two phrases, whose figures are not of one thing.
const CONJUNCTIONS: [&str; 15] = [
    "and", "or", "with", "for", "und", "oder", "mit", "et", "ou", "avec", "y", "con", "e", "и",
    "с",
];
/// Words for throughput, which is a rate.
const THROUGHPUT_WORDS: [&str; 9] = [
    "throughput",
    "propustnost",
    "débit",
    "durchsatz",
    "пропускн",
    "rendimiento",
    "吞吐",
    "スループット",
    "처리량",
];
/// Words after "throughput" that make it an attribute.
const ATTRIBUTES: [&str; 9] =
    ["optimi", "tier", "class", "hdd", "volume", "limit", "mode", "test", "collection"];
/// Words for I/O operations, which are counted, not measured in bytes.
pub(super) const OPERATION_WORDS: [&str; 6] =
    ["iops", "i/o", "vstupně", "операц", "opérations d", "operaciones de"];

pub(super) fn check(lint: &mut Linter<'_>, page: &LintPage) {
    let links = PageLinks::of_page(page);
    for table in &page.tables {
        for row in &table.rows {
            let label = row.first().map(|cell| cell.text.as_str()).unwrap_or_default();
            let subject = RowSubject::of_label(label);
            for cell in row {
                check_row_units(lint, subject, &links, cell);
            }
        }
        for heading in table.rows.first().into_iter().flatten() {
            if let Some(unit) = heading_unit(&heading.text) {
                check_spelling(lint, heading, &unit);
            }
        }
    }
    let rates = rates_of_page(page);
    for text in page.texts() {
        for unit in text.figures.iter().filter_map(|it| it.unit.as_ref()) {
            check_spelling(lint, text, unit);
        }
        for figure in &text.figures {
            check_size(lint, text, figure, &rates);
        }
    }
    check_several_spellings(lint, page);
}

/// Values of a page in bytes per second, as bits.
type PageRates = BTreeSet<u64>;

/// Returns the values of a page in bytes per second.
fn rates_of_page(page: &LintPage) -> PageRates {
    let figures = page.texts().flat_map(|text| &text.figures);
    let values = figures.filter_map(PrintedFigure::base_value);
    values
        .filter(|(_, unit)| *unit == Unit::BytePerSecond)
        .map(|(value, _)| value.to_bits())
        .collect()
}

/// Links that a page names.
struct PageLinks {
    /// Rate of the fastest one in Gbit/s, or 0.
    fastest_gbit_per_s: f64,
    /// Whether it names several links, whose rates add up.
    are_several: bool,
}

impl PageLinks {
    fn of_page(page: &LintPage) -> Self {
        let figures = page.texts().flat_map(|text| &text.figures);
        let rates = figures.filter_map(PrintedFigure::base_value);
        let fastest_gbit_per_s = rates
            .filter(|(value, unit)| *unit == Unit::BitPerSecond && *value >= 1e9)
            .map(|(value, _)| value / 1e9)
            .fold(0.0, f64::max);
        let are_several = page.texts().any(names_several_links);
        Self { fastest_gbit_per_s, are_several }
    }

    /// Returns whether this is the rate of the fastest link of the page.
    const fn is_fastest(&self, gbit_per_s: f64) -> bool {
        self.fastest_gbit_per_s.to_bits() == gbit_per_s.to_bits()
    }
}

/// Subject of a row according to its label, as far as it determines the units.
#[derive(Debug, Clone, Copy)]
struct RowSubject {
    is_fabric: bool,
    /// Whether it is a benchmark of memory or storage.
    is_bytes: bool,
    /// Whether it is a device of storage.
    is_device: bool,
}

impl RowSubject {
    /// Returns the subject of a label.
    fn of_label(printed: &str) -> Self {
        steps::count(printed.len());
        // A video stream and a stream of TCP are no STREAM.
        let is_stream =
            has_word(printed, "STREAM", MAX_ENDING) && !printed.contains("STREAMING");
        let label = printed.to_lowercase().replace("триад", "triad").replace("иор", "ior");
        // `prior` is no IOR.
        let names = |words: &[&str]| has_any_word(&label, words, MAX_ENDING);
        let is_fabric = names(&FABRIC_WORDS) || label.contains(FABRIC_PREFIX);
        let is_network = is_fabric || names(&NETWORK_WORDS);
        let is_device = names(&BYTE_DEVICES) || names(&FLASH_WORDS);
        let is_tool = || names(&BYTE_TOOLS) || !is_device && names(&[MEMORY_TOOL]);
        Self {
            is_fabric,
            is_bytes: !is_network && (is_stream || is_tool()),
            is_device: !is_network && is_device,
        }
    }
}

/// Returns whether a text names several links, as `8 × 400 Gb/s` does.
fn names_several_links(text: &PageText) -> bool {
    text.figures.windows(2).any(|pair| {
        let [count, rate] = pair else { return false };
        let between =
            text.text.get(count.number_span.1..rate.number_span.0).unwrap_or_default();
        let is_times = matches!(between.trim(), "x" | "X" | "×" | "*" | "х" | "\\*");
        let is_link = |it: &PrintedUnit| it.unit == Unit::BitPerSecond && it.factor >= 1e9;
        is_times && count.value >= 2.0 && rate.unit.as_ref().is_some_and(is_link)
    })
}

/// Checks the units of a cell against the subject of its row.
fn check_row_units(
    lint: &mut Linter<'_>,
    subject: RowSubject,
    links: &PageLinks,
    cell: &PageText,
) {
    let RowSubject { is_fabric, is_bytes, is_device } = subject;
    for figure in &cell.figures {
        let Some(printed) = &figure.unit else { continue };
        match printed.unit {
            Unit::BitPerSecond
                if (is_bytes || is_device) && !is_conversion(figure, &cell.figures) =>
            {
                let message = format!(
                    "`{}` is in bits, but memory and storage are published in bytes: a factor of 8",
                    printed.text
                );
                // The interface of a device is in bits: SATA has 6 Gbit/s.
                let span = page_span(cell, printed.span);
                lint.add_if(is_bytes, Check::BitsOfStorage, span, message, None);
            }
            Unit::BytePerSecond if is_fabric && !links.are_several && printed.factor >= 1e9 => {
                check_fabric_rate(lint, links, cell, (figure, printed));
            }
            _ => {}
        }
    }
}

/// Returns whether a rate in bits is one of these rates in bytes, rounded: `12.5 GB/s (100 Gb/s)`.
fn is_conversion(bits: &PrintedFigure, figures: &[PrintedFigure]) -> bool {
    const ROUNDING: f64 = 0.05;
    let Some((value, _)) = bits.base_value() else { return false };
    let bytes = figures.iter().filter_map(PrintedFigure::base_value);
    let mut rates = bytes.filter(|(_, unit)| *unit == Unit::BytePerSecond);
    rates.any(|(rate, _)| (8.0 * rate / value - 1.0).abs() <= ROUNDING)
}

/// Reports a rate of a fabric in bytes with the digits of a link's rate in bits.
fn check_fabric_rate(
    lint: &mut Linter<'_>,
    links: &PageLinks,
    cell: &PageText,
    (figure, printed): (&PrintedFigure, &PrintedUnit),
) {
    let gbit_per_s = figure.value * printed.factor * 8.0 / 1e9;
    let is_near = |link: &&f64| (0.8..=1.0).contains(&(figure.value / **link));
    let link_rate = LINK_GBIT_PER_S.iter().find(is_near);
    let Some(link) = link_rate.filter(|link| gbit_per_s > 2.0 * **link) else { return };
    let message = format!(
        "`{}` would be {gbit_per_s:.0} Gbit/s, above the link rate: the figure is \
         that of a link of {link} Gbit/s",
        printed.text
    );
    // Without the link's rate on the page, a faster link or several may be meant.
    let is_known = links.is_fastest(*link);
    let replacement = if printed.text.starts_with('Г') { "Гбит/с" } else { "Gbit/s" };
    lint.add_if(
        is_known || lint.is_translated,
        Check::FabricRate,
        page_span(cell, printed.span),
        message,
        is_known.then(|| replacement.to_owned()),
    );
}

/// Reports non-standard spellings of a unit.
fn check_spelling(lint: &mut Linter<'_>, text: &PageText, unit: &PrintedUnit) {
    let standard = match unit.text.as_str() {
        it if it.contains(" / ") => it.replace(" / ", "/"),
        it if it.contains("bits/") => it.replace("bits/", "bit/"),
        it if it.contains("Bit/") => it.replace("Bit/", "bit/"),
        // CLDR's Russian pattern ends with a Latin letter.
        "ГБ/c" => "ГБ/с".to_owned(),
        "МБ/c" => "МБ/с".to_owned(),
        _ => return,
    };
    let check = if unit.text.ends_with("Б/c") { Check::MixedUnit } else { Check::Spelling };
    let message = format!("`{}` is written {standard}", unit.text);
    // English pages print "bits", many pages `MBit/s`, and `Mbits/sec` is the label of iperf.
    let is_usual = unit.text.to_lowercase().contains("bit") && !unit.text.contains(" / ");
    let is_style = is_usual && !lint.is_translated || unit.text.ends_with("/sec");
    let span = page_span(text, unit.span);
    lint.add_if(!is_style, check, span, message, Some(standard));
}

/// Reports a size that should be a rate or a count.
fn check_size(
    lint: &mut Linter<'_>,
    text: &PageText,
    figure: &PrintedFigure,
    rates: &PageRates,
) {
    let Some(printed) = figure.unit.as_ref().filter(|it| it.unit == Unit::Byte) else {
        return;
    };
    // Only the next characters are the context of a unit; a page may be one line.
    let after: String = text.text[printed.span.1..].chars().take(80).collect();
    let after = after.to_lowercase();
    let span = page_span(text, printed.span);
    let size = &printed.text;
    if is_count_of_operations(figure, &after, lint.is_translated) {
        let count = format!("{}", figure.value * 1000.0);
        let message =
            format!("operations have no byte unit: the k of {count} has become `{size}`");
        lint.add(Check::OperationsInBytes, span, message);
    } else if let Some(rest) = after.strip_prefix('/') {
        let noun: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
        // `8 GB/core` is a valid ratio, and `64 KB/read` is a size in English.
        let is_operation = OPERATION_WORDS.iter().any(|word| noun.starts_with(word));
        if is_operation || direction::begins_with_direction(&noun) {
            let message = format!("`{size}/{noun}` is not a unit: expected `{size}` per time");
            lint.add_if(lint.is_translated, Check::SizePerOperation, span, message, None);
        }
    } else if printed.factor < 1e6 {
    } else if is_between_rates(&text.figures, printed, &after) {
        let message = format!("`{size}` next to a rate: the time is missing");
        let fix = lint.is_translated.then(|| format!("{size}/s"));
        lint.add_if(lint.is_translated, Check::SizeBesideRate, span, message, fix);
    } else if !is_in_range(text, figure) && is_near_throughput(lint, &text.text, printed.span) {
        let message = format!(
            "`{size}` is a size, and the sentence is about throughput: the time is missing"
        );
        // The same rate elsewhere on the page leaves no other reading.
        let is_repeated = rates.contains(&(figure.value * printed.factor).to_bits());
        let fix = is_repeated.then(|| format!("{size}/s"));
        lint.add_if(true, Check::SizeOfThroughput, span, message, fix);
    }
}

/// Returns whether a size in kilobytes is a number of operations. `after` is the text behind it, in
/// lower case. English pages write block sizes so: `100 KB I/Os`.
fn is_count_of_operations(figure: &PrintedFigure, after: &str, is_translated: bool) -> bool {
    /// Words for "per second".
    const PER_SECOND: [&str; 10] = [
        "per second",
        "/s",
        "za sekundu",
        "pro sekunde",
        "par seconde",
        "por segundo",
        "в секунду",
        "每秒",
        "毎秒",
        "초당",
    ];
    let following = after.trim_start_matches([' ', '\u{a0}', '-']);
    let is_kilo = figure
        .unit
        .as_ref()
        .is_some_and(|it| matches!(it.text.as_str(), "kB" | "KB" | "кБ" | "ko"));
    const NEAR: usize = 24;
    let is_block = figure.value <= 4096.0 && figure.value.log2().fract() == 0.0;
    // In English, `100 KB I/Os` are operations of a size.
    let sentence: String = following.chars().take(NEAR).collect();
    is_kilo
        && !is_block
        && OPERATION_WORDS.iter().any(|word| following.starts_with(word))
        && (is_translated
            || following.starts_with("iops")
            || PER_SECOND.iter().any(|word| sentence.contains(word)))
}

/// Returns whether a size has the prefix of a rate in the same text and is followed by a
/// direction, as a rate is: `780 MB/s, 780 MB`.
fn is_between_rates(figures: &[PrintedFigure], printed: &PrintedUnit, after: &str) -> bool {
    let has_same_prefix = |it: &PrintedUnit| {
        it.unit == Unit::BytePerSecond && it.factor.to_bits() == printed.factor.to_bits()
    };
    let following = after.trim_start_matches([' ', '\u{a0}', '-']);
    figures.len() <= 3
        && figures.iter().filter_map(|it| it.unit.as_ref()).any(has_same_prefix)
        && direction::begins_with_direction(following)
}

/// Returns whether a size is one end of a range of sizes, like `256 KB~1 MB`.
fn is_in_range(text: &PageText, figure: &PrintedFigure) -> bool {
    /// Longest mark or word between both ends.
    const LONGEST: usize = 6;
    let is_size =
        |it: &PrintedFigure| it.unit.as_ref().is_some_and(|unit| unit.unit == Unit::Byte);
    let end =
        |it: &PrintedFigure| it.unit.as_ref().map_or(it.number_span.1, |unit| unit.span.1);
    let is_one = |low: &PrintedFigure, high: &PrintedFigure| {
        let between = text.text.get(end(low)..high.number_span.0).unwrap_or_default();
        is_size(low) && is_size(high) && between.chars().count() <= LONGEST
    };
    let figures = &text.figures;
    let at = figures.partition_point(|it| it.number_span.0 < figure.number_span.0);
    let before = at.checked_sub(1).and_then(|at| figures.get(at));
    before.is_some_and(|it| is_one(it, figure))
        || figures.get(at + 1).is_some_and(|it| is_one(figure, it))
}

/// Returns whether a word for throughput follows in the same phrase, within a few words, without a
/// word for a size. In scripts without blanks, the word may directly precede the figure.
fn is_near_throughput(lint: &Linter<'_>, text: &str, (from, to): (usize, usize)) -> bool {
    /// Characters that end a phrase.
    const ENDS: [char; 14] =
        ['(', ')', '（', '）', '[', ']', ',', '、', '，', ';', '.', '。', ':', '/'];
    /// Words of the longest phrase: `é o maior`.
    const MAX_WORDS: usize = 3;
    let after: String = text[to..].chars().take(40).collect::<String>().to_lowercase();
    let is_phrase = |between: &str| {
        !between.contains(ENDS)
            && !between.contains(|c: char| c.is_ascii_digit())
            && between.split_whitespace().count() <= MAX_WORDS
            && !between.split_whitespace().any(|word| CONJUNCTIONS.contains(&word))
    };
    let names_size =
        |it: &str| CAPACITY_WORDS.iter().chain(&SIZE_WORDS).any(|word| it.contains(word));
    // `throughput-optimized` describes a device, and "premium throughput tier" a product.
    let is_noun = |after: &str| {
        let rest = after.trim_start_matches(|c: char| c.is_alphabetic());
        !ATTRIBUTES.iter().any(|word| rest.trim_start_matches([' ', '-']).starts_with(word))
    };
    let is_near = |word: &str| {
        let found = after.split_once(word);
        found.is_some_and(|(between, rest)| {
            // English names the quantity first: "4 GiB of throughput".
            let is_english = word == "throughput" && !lint.is_translated;
            is_phrase(between)
                && !names_size(between)
                && !names_longer_time(rest)
                && is_noun(rest)
                && (!is_english || between.split_whitespace().any(|it| it == "of"))
        })
    };
    let phrase = text_before(text, from, 48).rsplit(ENDS).next().unwrap_or_default();
    if names_size(&phrase.to_lowercase()) {
        return false;
    }
    let before = text[..from].trim_end_matches(|c: char| !c.is_alphabetic());
    steps::count(from - before.len());
    THROUGHPUT_WORDS.iter().any(|word| is_near(word))
        || THROUGHPUT_BEFORE.iter().any(|word| before.ends_with(word))
}

/// Returns whether a longer time than a second follows: a throughput of 2 TB per month.
fn names_longer_time(rest: &str) -> bool {
    const NEAR: usize = 16;
    const PER: [&str; 9] = ["per ", "a ", "pro ", "par ", "por ", "al ", "/", "за ", "в "];
    const SECONDS: [&str; 6] = ["s", "sec", "sek", "seg", "сек", "с"];
    let near: String = rest.trim_start().chars().take(NEAR).collect();
    let time = PER.iter().find_map(|word| near.strip_prefix(word));
    time.is_some_and(|it| !SECONDS.iter().any(|word| it.trim_start().starts_with(word)))
}

/// Reports several spellings of one unit.
fn check_several_spellings(lint: &mut Linter<'_>, page: &LintPage) {
    for row in page.tables.iter().flat_map(|table| &table.rows) {
        for cell in row {
            let figures = &cell.figures;
            let units: Vec<&PrintedUnit> =
                figures.iter().filter_map(|it| it.unit.as_ref()).collect();
            // `kB` and `KB` are one unit.
            let differ_in_case = |a: &PrintedUnit, b: &PrintedUnit| {
                a.unit != b.unit && a.text.to_lowercase() == b.text.to_lowercase()
            };
            let is_bits = |it: &PrintedFigure| {
                it.base_value().is_some_and(|(_, unit)| unit == Unit::BitPerSecond)
            };
            // `100 Gb/s (12.5 GB/s)` is a conversion.
            if figures.iter().any(|it| is_bits(it) && is_conversion(it, figures)) {
                continue;
            }
            for pair in units.windows(2).filter(|pair| differ_in_case(pair[0], pair[1])) {
                let message = format!(
                    "`{}` next to `{}`: the letter's case is a factor of 8",
                    pair[1].text, pair[0].text
                );
                let span = page_span(cell, pair[1].span);
                lint.add_if(lint.is_translated, Check::LetterCase, span, message, None);
            }
        }
    }
    check_microseconds(lint, page);
}

/// Reports `usec` in the tables of a page that have another spelling, too.
fn check_microseconds(lint: &mut Linter<'_>, page: &LintPage) {
    let cells = || page.tables.iter().flat_map(|table| table.rows.iter().flatten());
    // The unit of a heading is searched for in every cell, and few pages have this one.
    if !cells().any(|it| it.text.contains(OLD_SPELLING)) {
        return;
    }
    let mut spellings: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for text in cells() {
        let figures = text.figures.iter().filter_map(|it| it.unit.clone());
        let units = figures.chain(heading_unit(&text.text));
        for unit in units.filter(|it| it.unit == Unit::Second && it.factor < 1e-5) {
            spellings.entry(unit.text.clone()).or_insert(page_span(text, unit.span));
        }
    }
    if let (Some(span), true) = (spellings.get(OLD_SPELLING), spellings.len() > 1) {
        let message = format!("`{OLD_SPELLING}` next to another spelling: the symbol is µs");
        let fix = Some("µs".to_owned());
        lint.add_if(lint.is_translated, Check::Microseconds, *span, message, fix);
    }
}

/// Spelling of the microsecond in letters.
const OLD_SPELLING: &str = "usec";
