//! Tests that the work of lint grows linearly with a hostile page.

use super::*;
use crate::steps;

/// Number of repetitions in the smaller page.
const COUNT: usize = 500;

/// Returns the steps for a page.
fn steps_of(page: &str, source: Option<&str>) -> usize {
    steps::take();
    let _ = lint(page, source);
    steps::take()
}

/// Checks that a page of twice the length takes at most about twice the steps.
fn check(name: &str, page: impl Fn(usize) -> String, source: Option<&dyn Fn(usize) -> String>) {
    let steps = |count: usize| {
        let source = source.map(|source| source(count));
        steps_of(&page(count), source.as_deref())
    };
    let (once, twice) = (steps(COUNT), steps(2 * COUNT));
    let bytes = page(COUNT).len();
    assert!(twice * 10 <= once * 22 + 10 * bytes, "{name}: {once} steps, then {twice}");
}

/// Words of markup that opens something, or that a reader searches an end for.
const REPEATED: [&str; 44] = [
    "<",
    ">",
    "<script>",
    "<script",
    "</script>",
    "<!--",
    "<!-- -->",
    "-->",
    "[",
    "](",
    "[a](b",
    "![",
    "|",
    "||",
    "|\n",
    "\\|",
    "`",
    "``",
    "` ",
    "`a``b```",
    "&",
    "&nbsp;",
    "&#",
    "'",
    "\"",
    "'\"",
    "<a href='\"",
    "<a ",
    "http",
    ":::",
    "<pre>",
    "<code>",
    "<td>",
    "<tr><td>1 ",
    "> ",
    "~~~\n",
    "~1",
    "1 ",
    "1,",
    "1 MB/",
    "~ 1 GB ",
    "2 MB ~ 64 MB ",
    "ssd",
    "개의 ",
];

#[test]
fn repeated_markup_takes_linear_work() {
    for word in REPEATED {
        for (kind, head) in
            [("Markdown", ""), ("a table", "| a | b |\n|---|---|\n| "), ("HTML", "<html><p>")]
        {
            for end in ["", "1 MB/s `|>--></script>\n"] {
                let page = |count: usize| format!("{head}{}{end}", word.repeat(count));
                check(&format!("`{word}` in {kind}"), page, None);
            }
        }
    }
}

/// The figures of a text are found once, and most rules look at figures alone.
#[test]
fn each_byte_takes_few_steps() {
    const MOST: usize = 20;
    const ROWS: usize = 1000;
    let rows = |head: &str, row: &str| head.to_owned() + &row.repeat(ROWS);
    for page in [
        rows("| n | min [µs] | mean [µs] | MB/s |\n|-|-|-|-|\n", "| 8 | 1.5 | 2.5 | 10.0 |\n"),
        rows("", "The rate is 1.5 GB/s at p99 2 ms, with 64 KiB and 8 jobs.\n\n"),
        rows("<html><table>", "<tr><td>8 jobs</td><td>1.5 GB/s</td><td>2.5 ms</td></tr>\n"),
    ] {
        let steps = steps_of(&page, None);
        assert!(
            steps <= MOST * page.len(),
            "{steps} steps for {} bytes: {page:.80}",
            page.len()
        );
    }
}

#[test]
fn long_tables_take_linear_work() {
    let rows = |head: &str, row: &str, count: usize| {
        format!("{head}\n|---|---|\n{}", row.repeat(count))
    };
    let long = |word: &str, count: usize| word.repeat(count);
    check(
        "a long label",
        |n| format!("| {} |{}\n", long("ssd ", n), long(" 1 MB/s |", n)),
        None,
    );
    check(
        "a long heading of peaks",
        |n| rows(&format!("| Rpeak {} | Rmax |", long("s ", n)), "| 1 | 1 |\n", n),
        None,
    );
    check(
        "a long heading of depths",
        |n| rows(&format!("| depth | mean | {} |", long("s ", n)), "| 1 | 1 s | 1 IOPS |\n", n),
        None,
    );
    check(
        "headings of another series",
        |n| format!("# HB-series\n\n{}HC\n\n|{}\n", long("a text ", n), long("HC|", n)),
        None,
    );
    check(
        "equal long subjects",
        |n| rows(&format!("| min {0} | max {0} |", long("a ", n)), "| 1 | 2 |\n", n),
        None,
    );
    check(
        "findings in one line",
        |n| format!("| a |\n|---|\n| {} |\n", long("1 bits/s ", n)),
        None,
    );
    check(
        "figures without units",
        |n| format!("| a |\n|---|\n| {} |\n", long("1 a ", n)),
        Some(&|n| format!("| a |\n|---|\n| {} |\n", long("2 a 3 b ", n))),
    );
    check(
        "a lost time",
        |n| format!("| a |\n|---|\n| {} |\n", long("1 MB/s ", n)),
        Some(&|n| format!("| a |\n|---|\n| {} |\n", long("1 MB/1 ", n))),
    );
    check(
        "directions in one line",
        |n| long("reads 1 GB/s, writes 2 GB/s, ", n),
        Some(&|n| long("reads 1 GB/s, writes 3 GB/s, ", n)),
    );
    check(
        "a long label beside changed cells",
        |n| format!("| {} |{}\n", long("a text ", n), long(" 1 ms |", n)),
        Some(&|n| format!("| {} |{}\n", long("a text ", n), long(" 2 ms |", n))),
    );
    check(
        "a long heading above changed cells",
        |n| rows(&format!("| a | {} |", long("a text ", n)), "| b | 1 ms |\n", n),
        Some(&|n| rows(&format!("| a | {} |", long("a text ", n)), "| b | 2 ms |\n", n)),
    );
    check(
        "a name in one long word",
        |n| format!("| a |\n|---|\n| {} |\n", long("ssd", n)),
        Some(&|n| format!("| a |\n|---|\n| {} |\n", long("ssd", n))),
    );
}
