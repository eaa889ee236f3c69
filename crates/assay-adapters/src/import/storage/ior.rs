//! Import of IOR's results, of 2.10 to 4.1: text and CSV by lines, JSON by documents.

use super::super::FileContents;
use super::ior_test::find_differing_options;
use super::{ior_json, ior_lines};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::ToolError;

pub(super) fn is_ior(text: &str) -> bool {
    let heading = |line: &str| line.starts_with("access") && line.contains("bw(MiB/s)");
    let json = text.contains("\"tests\"") && text.contains("\"TestID\"");
    // A truncated file may have nothing but the title.
    let title =
        |line: &str| line.starts_with("IOR-") && line.contains(": MPI Coordinated Test");
    json || text.lines().any(|line| heading(line) || title(line))
}

/// Reads writes and reads of each test of the file.
pub(super) fn read_ior(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let tests = if text.lines().any(|line| line.starts_with('{')) {
        ior_json::read_documents(text, &mut contents)
    } else {
        ior_lines::read_lines(text, &mut contents)?
    };
    check_limit(tests.len(), ("tests", MAX_MEASUREMENTS))?;
    let differing = find_differing_options(&tests);
    for test in &tests {
        test.add_to(&mut contents, &differing);
    }
    if contents.measurements.is_empty() && contents.failed.is_empty() {
        let missing = "IOR's table of results is missing".to_owned();
        return Err(ToolError::Truncated { missing });
    }
    Ok(contents)
}
