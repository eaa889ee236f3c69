//! Follows a run while another process writes it. Reads only the new events.

use std::io::{Read as _, Seek as _, SeekFrom};

use serde::Deserialize;

use crate::error::StoreError;
use crate::layout::StoreLayout;
use crate::{line, reader, regular_file};

/// Maximum number of bytes that one call reads; the next call continues.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum length of a line that is kept until its end is written. A longer one is counted as
/// several lines, none of which is an event.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Reader of the events of a run that is being written.
#[derive(Debug)]
pub struct RunFollower {
    layout: StoreLayout,
    id: String,
    offset: u64,
    /// Beginning of a line whose end is not yet written.
    partial: Vec<u8>,
    ended_cases: usize,
}

/// Event that ends a case.
#[derive(Deserialize)]
struct EventName<'a> {
    #[serde(borrow)]
    event: &'a str,
}

impl RunFollower {
    pub(crate) fn new(layout: StoreLayout, id: &str) -> Self {
        Self { layout, id: id.to_owned(), offset: 0, partial: Vec::new(), ended_cases: 0 }
    }

    /// Returns the identifier of the run.
    pub fn run(&self) -> &str {
        &self.id
    }

    /// Whether a process is writing the run.
    pub fn is_running(&self) -> bool {
        reader::is_being_written(&self.layout, &self.id)
    }

    /// Reads the new events; returns the number of cases that have ended so far.
    ///
    /// # Errors
    /// If the events cannot be read.
    pub fn count_ended_cases(&mut self) -> Result<usize, StoreError> {
        let path = self.layout.events(&self.id);
        let mut file = regular_file::open(&path)?;
        let mut added = Vec::new();
        let read = file
            .seek(SeekFrom::Start(self.offset))
            .and_then(|_| file.take(MAX_BYTES).read_to_end(&mut added));
        self.offset += read.map_err(|source| StoreError::Read { path, source })? as u64;
        for piece in added.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.partial.len() > MAX_LINE_BYTES {
                self.ended_cases += usize::from(ends_case(&self.partial));
                self.partial.clear();
            }
        }
        Ok(self.ended_cases)
    }
}

fn ends_case(text: &[u8]) -> bool {
    // Nearly all events are samples.
    !line::is_sample(text)
        && serde_json::from_slice::<EventName<'_>>(text)
            .is_ok_and(|it| matches!(it.event, "case-finished" | "case-failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_cases_are_recognised() {
        for (text, expected) in [
            (r#"{"crc":"00000000","n":4,"event":"case-finished","case":"a"}"#, true),
            (r#"{"crc":"00000000","n":4,"event":"case-failed","case":"a"}"#, true),
            (r#"{"crc":"00000000","n":4,"event":"case-started","case":"case-failed"}"#, false),
            (r#"{"crc":"00000000","n":4,"event":"sample","value":1}"#, false),
            (r#"{"crc":"00000000","n":4,"event":"case-fin"#, false),
        ] {
            assert_eq!(ends_case(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn lines_in_pieces_count_once() {
        let folder = std::env::temp_dir().join(format!("assay-follow-{}", std::process::id()));
        let layout = StoreLayout::create(folder.clone()).unwrap();
        fs_err::create_dir_all(layout.run("r")).unwrap();
        let mut follower = RunFollower::new(layout.clone(), "r");
        assert!(follower.count_ended_cases().is_err());
        let line = "{\"event\":\"case-finished\"}\n";
        let text = line.repeat(3);
        for (end, expected) in
            [(5, 0), (line.len(), 1), (2 * line.len() + 3, 2), (text.len(), 3)]
        {
            fs_err::write(layout.events("r"), &text[..end]).unwrap();
            assert_eq!(follower.count_ended_cases().unwrap(), expected, "{end}");
        }
        assert!(!follower.is_running());
        fs_err::remove_dir_all(folder).unwrap();
    }
}
