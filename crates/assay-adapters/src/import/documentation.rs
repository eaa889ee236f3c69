//! Table of formats in `docs/import.md`, made from the rows of the readers. `UPDATE_EXPECT=1` writes
//! it.

use std::fmt::Write as _;
use std::path::Path;

use super::formats;

const BEGIN: &str = "<!-- formats: made from the readers by `UPDATE_EXPECT=1 cargo test -p assay-adapters` -->\n";
const END: &str = "<!-- end of formats -->\n";

#[test]
fn page_lists_every_format() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/import.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (head, rest) = text.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let table = format_table();
    let expected = format!("{head}{BEGIN}{table}{END}{tail}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&page, &expected).unwrap();
    } else {
        assert_eq!(text, expected, "docs/import.md is not up to date: UPDATE_EXPECT=1");
    }
}

fn format_table() -> String {
    let mut table = String::from(
        "| format | written by | imported | named and left out |\n\
         | --- | --- | --- | --- |\n",
    );
    let cell = |text: &'static str| if text.is_empty() { "–" } else { text };
    for format in formats() {
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} |",
            format.name,
            format.about,
            cell(format.imported),
            cell(format.left_out)
        );
    }
    table
}
