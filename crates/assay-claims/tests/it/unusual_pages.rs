//! Pages that are hard to read: each is read, or gives no false alarm.

use std::fmt::Write as _;

use assay_claims::lint::{Confidence, lint};

/// Returns the number of findings that are reported without `--all`.
fn count_likely(page: &str) -> usize {
    lint(page, None).iter().filter(|it| it.confidence > Confidence::Possible).count()
}

#[test]
fn pages_are_read_or_give_no_false_alarm() {
    let wrong = "| min | mean |\n|-|-|\n| 2.0 | 1.5 |\n";
    let cell = "<tr><th>min<th>mean<tr><td>2.0<td>1.5";
    let mut mismatches = String::new();
    for (name, page, expected) in [
        ("an unclosed table", format!("<html><table>{cell}"), 1),
        (
            "an unclosed row before another table",
            format!("<table><tr><td>1<table>{cell}</table>"),
            1,
        ),
        ("a byte order mark", format!("\u{feff}<!DOCTYPE html><html><table>{cell}"), 1),
        (
            "a declaration of XML",
            format!("<?xml version=\"1.0\"?><!DOCTYPE html><html><table>{cell}"),
            1,
        ),
        ("Markdown in HTML", format!("<div>\n\n{wrong}\n</div>\n"), 1),
        ("HTML in Markdown", format!("# Page\n\n<table>{cell}</table>\n\nText.\n"), 1),
        ("HTML in a code block", format!("# Page\n\n```html\n<html><body>\n```\n\n{wrong}"), 1),
        (
            "Markdown in a cell of HTML",
            "<html><table><tr><td>\n| min | mean |\n|-|-|\n| 2 | 1 |\n".to_owned(),
            0,
        ),
        ("a literal block", "Text::\n\n   4 GiB / s\n\nText.\n".to_owned(), 0),
        ("a directive", ".. code-block:: c\n   :linenos:\n\n   x = 4 GiB / s\n".to_owned(), 0),
        ("a note", ".. note::\n   It reaches 4 GiB / s.\n".to_owned(), 1),
        (
            "a grid table",
            "+-----+------+\n| min | mean |\n+=====+======+\n| 2.0 | 2.5  |\n+-----+------+\n"
                .to_owned(),
            0,
        ),
        (
            "Arabic",
            "| \u{200f}min | mean |\n|-|-|\n| \u{200f}٢٫٠ \u{200f}ms | ١٫٥ ms |\n".to_owned(),
            1,
        ),
        (
            "right to left",
            "| min | mean |\n|-|-|\n| \u{202b}2.0 ms\u{202c} | \u{2067}2.5 ms\u{2069} |\n"
                .to_owned(),
            0,
        ),
        (
            "full-width digits",
            "| min | mean |\n|-|-|\n| ２．０ ms | １．５ ms |\n".to_owned(),
            1,
        ),
        ("Persian", "| min | mean |\n|-|-|\n| ۲٫۰ | ۱٫۵ |\n".to_owned(), 1),
        ("no end of the front matter", "---\ntitle: x\n| 4 GiB / s |\n".to_owned(), 0),
        ("carriage returns", wrong.replace('\n', "\r\n"), 1),
    ] {
        let found = count_likely(&page);
        if found != expected {
            writeln!(mismatches, "{name}: {found}, not {expected}").unwrap();
        }
    }
    assert!(mismatches.is_empty(), "{mismatches}");
}

/// Every row of a long table is checked, in Markdown and in HTML.
#[test]
fn long_tables_are_checked_to_the_end() {
    const ROWS: usize = 10_000;
    let markdown = format!(
        "| size | min | mean |\n|-|-|-|\n{}| 9 | 2.0 | 1.5 |\n",
        "| 8 | 2.0 | 2.5 |\n".repeat(ROWS)
    );
    let html = format!(
        "<html><table><tr><th>size<th>min<th>mean{}<tr><td>9<td>2.0<td>1.5",
        "<tr><td>8<td>2.0<td>2.5\n".repeat(ROWS)
    );
    for (page, line) in [(markdown, ROWS + 3), (html, ROWS + 1)] {
        let findings = lint(&page, None);
        assert_eq!(findings.iter().map(|it| it.line).collect::<Vec<_>>(), [line]);
    }
}

/// Errors of the kinds of which a rule has an exception.
#[test]
fn exceptions_leave_the_errors_of_their_kind() {
    let mut mismatches = String::new();
    for (page, expected) in [
        ("---\nlang: zh-tw\n---\n| 複寫 | 輸送量由 40 Mbps 調整為約 600 Mbps |\n|-|-|\n", 0),
        ("---\nlang: zh-tw\n---\n| fio | 寫入 40 MB/s，600 MB/s |\n|-|-|\n", 1),
        (
            "---\nlang: ko\n---\n간격은 100 나노초 (ns) 이고, 100-ns 간격 수로 나눈 값입니다.\n",
            0,
        ),
        ("---\nlang: ko\n---\n블록은 8 KiB 이고, 8-KiB 블록을 읽습니다.\n", 1),
        ("---\nlang: fr\n---\nLe modèle Phi-2 (2.7B) tient.\n", 0),
        ("---\nlang: fr\n---\nLe modèle Phi-2 (2.7 GB) tient.\n", 1),
        ("| | A |\n|-|-|\n| Year | 2013 |\n| Cores | 1,012,288 |\n| Nodes | 1,001,024 |\n", 0),
        ("| | A |\n|-|-|\n| Jobs | 2713 |\n| Cores | 1,012,288 |\n| Nodes | 1,001,024 |\n", 1),
        ("---\nlang: it\n---\n| Offset di fase | 0.0000000s |\n|-|-|\n", 0),
        ("---\nlang: it\n---\n| Offset di fase | 0.25 s |\n|-|-|\n", 1),
        ("---\nlang: ko\n---\n- 1mbps ~ 100 Mbps: 17kb\n", 0),
        ("---\nlang: ko\n---\n- 부하는 ~ 100 Mbps 입니다.\n", 1),
        ("---\nlang: zh-tw\n---\n實際 IOPS 是 ~100 隨機或 ~300 順序。\n", 0),
        ("---\nlang: zh-tw\n---\n實際 IOPS 是 ~100 隨機 ~300。\n", 1),
        ("There 1 KB/s = 1024 B/s.\n", 0),
        ("There 2 KB/s = 1024 B/s.\n", 1),
    ] {
        let found = count_likely(page);
        if found != expected {
            writeln!(mismatches, "{page}: {found}, not {expected}: {:?}", lint(page, None))
                .unwrap();
        }
    }
    assert!(mismatches.is_empty(), "{mismatches}");
}

/// Kinds of text that are right, each of which an earlier rule reported or would have.
#[test]
fn right_texts_have_no_likely_errors() {
    let mut failures = String::new();
    for text in [
        // A range with words.
        "---\nlang: zh\n---\n大小为 ~5 GB 到 ~30 GB。\n",
        "---\nlang: ja\n---\n~5 GB から ~30 GB\n",
        // A short German page that quotes English.
        "Auszug: „The Art of the Disk and the Cache“.\n\n| Strang | Durchsatz |\n|-|-|\n| 4 | 3,52 GB/s |\n\
         | 8 | 3,61 GB/s |\n\nDurchsatz: 3,5 GB/s, Latenz 1,2 ms.\n",
        // Streams of video, of TCP and of events.
        "| Video stream | 8 Mbit/s |\n|-|-|\n| 1 stream | 9.4 Gbit/s |\n",
        // Columns named like percentiles: types of disks and processors.
        "| | P10 | P20 | P30 |\n|-|-|-|-|\n| Price | 3 | 2 | 1 |\n",
        "| model | P4 | P40 |\n|-|-|-|\n| latency (ms) | 9 | 4 |\n",
        // Versions, and a maximum that is no limit.
        "| package | min | max |\n|-|-|-|\n| python | 3.9 | 3.12 |\n",
        "| option | min | max |\n|-|-|-|\n| connections | 5 | 0 |\n",
        // Versions on a page of decimal commas, and regions with points.
        "---\nlang: ru\n---\n| Продукт | Версия |\n|-|-|\n| PostgreSQL | 9.6 |\n",
        "---\nlang: pt\n---\n| Componente | Versão |\n|-|-|\n| Scala | 2,11 |\n| Driver | 8.2 |\n| Java | 8 ou 11 |\n",
        "---\nlang: es-MX\n---\nUna tasa de 2.4 GB/s y 0.5 ms.\n",
        "---\nlang: de-CH\n---\nEine Rate von 2.4 GB/s.\n",
        // English sentences within a template of another language.
        "<html lang=\"fr\"><p>The rate of the disk is 2.4 GB/s, and that of the memory with all cores is \
         9.5 GB/s.<p>The latency of the link and of the switch is 1.5 ms with and without the load.</html>",
        // Output of a program in the format of its currency.
        "---\nlang: pt-br\n---\n| produto | valor | taxa |\n|-|-|-|\n| Road-650 | $39,698.30 | 0.53% |\n",
        // Two sizes.
        "The nodes of the cluster have 16,32 GB of memory and the disks of the nodes with the rest.",
        // A volume per month, and the size of operations.
        "---\nlang: de\n---\nEnthalten sind 2 TB Durchsatz pro Monat.\n",
        "The tool reads with 100 KB I/Os at up to 500 IOPS.",
        // Conversions, and two spellings of one prefix.
        "---\nlang: de\n---\n| Netz | 100 Gb/s (12,5 GB/s) |\n|-|-|\n| Blöcke | 4 kB, 8 KB |\n",
        // Percentages of something else.
        "The rate rose from 100 MB/s to 150 MB/s, at 80 % of the CPU.",
        "The latency fell from 4 ms to 2 ms for 99 % of the requests.",
        // Digits that are cut off, and letters of a unit that many pages print.
        "It took 6,769 ms (6.7 s), then 15,657 ms (15.6 s).",
        "The stream reaches 940 MBit/s.",
        // Names with endings, and ranges of letters.
        "Мы ставим IDы на микроSD, и Redisом читаем [a-zA-Zа-яА-Я].",
        // Memory is slower behind each cache.
        "| size (bytes) | copy (MB/s) |\n|-|-|\n| 4096 | 9000 |\n| 8192 | 9100 |\n| 16384 | 9200 |\n\
         | 32768 | 9300 |\n| 65536 | 9400 |\n| 131072 | 5000 |\n| 262144 | 5100 |\n| 524288 | 5200 |\n",
        // Columns of one prefix each row, or of sizes.
        "| cache | size |\n|-|-|\n| L1d | 32 KB |\n| L1i | 32 KB |\n| L2 | 36 KB |\n| L3 | 36 MB |\n",
        "| step | time |\n|-|-|\n| a | 1.2 ms |\n| b | 140 µs |\n| c | 1.3 ms |\n| d | 1.5 ms |\n",
        // Words that contain "ratio", and "port".
        "| test | a | b | Duration |\n|-|-|-|-|\n| 1 | 100 | 150 | 50 % |\n| 2 | 200 | 220 | 10 % |\n\
         | 3 | 50 | 40 | 20 % |\n| 4 | 80 | 100 | 52 % |\n",
        "The 100 Gbit/s supported by the card, 30 GB/s by the processor.",
        // Coincidences among many columns.
        "| test | a | b | c | d | e | Change |\n|-|-|-|-|-|-|-|\n| 1 | 100 | 150 | 7 | 31 | 5 | 50 % |\n\
         | 2 | 200 | 220 | 9 | 44 | 8 | 10 % |\n| 3 | 50 | 40 | 6 | 52 | 3 | 20 % |\n\
         | 4 | 80 | 100 | 8 | 61 | 2 | 52 % |\n",
        // Columns of two groups, and of unknown groups.
        "| test | min | max | min | max |\n|-|-|-|-|-|\n| a | 1 | 2 | 5 | 9 |\n",
        "| test | min | min | max | max |\n|-|-|-|-|-|\n| a | 1 | 5 | 2 | 9 |\n",
        // Ranges, and a word for "about" before one.
        "---\nlang: ja\n---\n[1 ~ 4] モニター 1 ~ 4 の速度。\n",
        "---\nlang: ja\n---\n容量効率は約 35% ~ 40% です。\n",
        "---\nlang: ja\n---\n容量効率は約 35 ~ 40% です。\n",
        // Two figures, a number of a program, and arrays beside figures.
        "| a |\n|-|\n| 0.375 (0.5,4B pad) |\n| 0.5 MB |\n| 1.5 MB |\n",
        "---\nlang: fr\n---\nRéponse du pair, ofs: +00.0012s\n",
        "| a |\n|-|\n| {1,2} |\n| {3,4} |\n\n合計で87.4GBの読み出しで、309.2GBの28.3%に相当する。\n",
        // Versions in a column with one decimal comma.
        "---\nlang: fr\n---\n| Type | Version ODBC |\n|-|-|\n| a | 1.0 |\n| b | 3.0 |\n| c | 2,01 |\n",
        "---\nlang: fr\n---\n| Type | Depuis |\n|-|-|\n| a | 1.0 |\n| b | 3.0 |\n| c | 3.0 |\n| d | 3.0 |\n| e | 2,01 |\n",
        // A border in a program's output, an expression, and changes among times.
        "Time | Calls | Group\n\n100.0% | 12 | Total\n|---------\n|  44.9% |  5 | USER\n",
        "5, 000, 000, 000 _ 64B ≈ 5GB _ 64 = 320GB\n",
        "| | Average | Max |\n|-|-|-|\n| old | 164.9ms | 7938.7ms |\n| new | 10.4ms | 2614.3ms |\n| less | 93% | 67% |\n",
        // A percentage that is cut off: 90.75 %.
        "| gpus | old | new | ratio |\n|-|-|-|-|\n| 1 | 93.21 | 84.59 | 90% |\n| 2 | 50.0 | 100.0 | 200% |\n\
         | 4 | 40.0 | 60.0 | 150% |\n| 8 | 20.0 | 25.0 | 125% |\n",
        // Percentages of a condition.
        "The latency fell from 5 ms to 3 ms in 90 % cases.",
        "The rate rose from 2 GB/s to 4 GB/s, 30 % CPU.",
        // A kind of flash.
        "| MLC flash | 6 Gbit/s |\n|-|-|\n| eMMC, MLC | 3.2 Gbit/s |\n",
        // Percentiles of rates, sorted from the fastest.
        "| test | p50 (MB/s) | p99 (MB/s) |\n|-|-|-|\n| a | 900 | 700 |\n",
        "| | Tokens per second |\n|-|-|\n| p50 | 90 |\n| p99 | 70 |\n",
        // A bound, and a difference.
        "| Workload | Rate |\n|-|-|\n| STREAM Triad | 262 GB/s |\n\nSTREAM Triad stays below 275 GB/s.\n",
        "| Workload | Rate |\n|-|-|\n| STREAM Triad | 262 GB/s |\n\nSTREAM Triad rose by 150 GB/s.\n",
        // Thousands that Spanish does not group.
        "---\nlang: es\n---\n| n | valor |\n|-|-|\n| a | 1234 |\n| b | 12 345 |\n| c | 4567 |\n",
        // A quotation in English.
        "---\nlang: fr\n---\n> The size of the file and of its copy is 2.5 MB.\n",
    ] {
        let found = count_likely(text);
        if found > 0 {
            writeln!(failures, "{text}: {:?}", lint(text, None)).unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
