//! Import of tables of the OSU micro-benchmarks.

use assay_model::benchmark::MpiTest;

use super::super::{
    ImportedMeasurement, TextPart, missing, reject_cut_number, split_parts, word_after,
};
use super::read_table;
use crate::outputs::ToolError;

pub(super) fn is_osu(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("# OSU MPI"))
}

/// Reads every test of the file. `osu_mbw_mr` 7.0 prints its title twice for one test.
pub(super) fn read_osu(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    reject_cut_number(text)?;
    let mut title_part = String::new();
    let mut tests: Vec<String> = Vec::new();
    for TextPart { text: part, .. } in split_parts(text, |line| line.starts_with("# OSU MPI"))?
    {
        let has_rows = part.lines().any(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        // A title without rows belongs to the table that follows.
        if has_rows || part.contains("Latency(us)") {
            tests.push(part);
        } else {
            title_part = part;
        }
    }
    if tests.is_empty() {
        tests.push(title_part);
    }
    tests.iter().map(|part| read_osu_test(part)).collect()
}

fn read_osu_test(text: &str) -> Result<ImportedMeasurement, ToolError> {
    let mut titles = text.lines().filter_map(|line| line.strip_prefix("# "));
    let title = titles.find(|line| line.starts_with("OSU MPI")).unwrap_or_default();
    let title = title.rsplit_once(" v").map_or(title, |(title, _)| title).trim();
    let has_title = |test: &MpiTest| test.osu_title().eq_ignore_ascii_case(title);
    let test = MpiTest::ALL.into_iter().find(has_title);
    let test = test.ok_or_else(|| missing(&format!("benchmark like {title:?} in assay")))?;
    let pattern_ranks = match test.pattern() {
        assay_model::benchmark::MpiPattern::Pair => Some(2),
        _ => parse_pair_ranks(text),
    };
    read_table("osu", test, text, pattern_ranks)
}

/// Returns the number of ranks: `# [ pairs: 4 ] [ window size: 64 ]` is 8 ranks.
fn parse_pair_ranks(text: &str) -> Option<u32> {
    word_after(text, "[ pairs:")?.parse::<u32>().ok()?.checked_mul(2)
}
