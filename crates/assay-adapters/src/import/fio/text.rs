//! Import of fio's text output of versions 2 and 3: the figures of each job or group.
//!
//! Rates have three or four digits (`IOPS=123k`); a doubt reports the rounding. Reads and writes of
//! a mix stay separate, because a sum of rounded rates would be even less exact.

use super::super::{FileContents, FileTime, missing};
use super::progress::is_continued;
use crate::fio_json::FioOptionValues;
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::ToolError;

mod entry;
mod header;
mod latency;

use entry::TextEntry;
use header::JobHeader;

/// Beginnings of the lines below `Run status group`.
const SUMS: [&str; 4] = ["READ: bw=", "WRITE: bw=", "TRIM: bw=", "MIXED: bw="];
/// Mark of the line that begins a job's figures.
const ENTRY: &str = ": (groupid=";

pub(super) fn is_fio_text(text: &str) -> bool {
    let has_rate = text.contains("IOPS=") || text.contains(", iops=");
    text.contains(ENTRY) && (has_rate || text.contains("Run status group"))
}

/// Reads every job of every run.
pub(super) fn read(text: &str) -> Result<FileContents, ToolError> {
    let mut reader = TextReader::default();
    for (line, content) in (1..).zip(text.lines()) {
        reader.read_line(line, content)?;
    }
    if !text.ends_with('\n')
        && let Some(entry) = &mut reader.entry
    {
        entry.mark_cut();
    }
    reader.finish_entry();
    let mut contents = reader.contents;
    add_entries(reader.entries, &mut contents);
    if contents.measurements.is_empty() && contents.failed.is_empty() {
        return Err(missing("line with IOPS="));
    }
    Ok(contents)
}

/// State between the lines of a file.
#[derive(Default)]
struct TextReader {
    contents: FileContents,
    headers: Vec<JobHeader>,
    version: Option<String>,
    entry: Option<TextEntry>,
    entries: Vec<TextEntry>,
    /// Whether a job's figures followed the headers, so that another header begins a run.
    has_entries: bool,
}

impl TextReader {
    fn read_line(&mut self, line: usize, content: &str) -> Result<(), ToolError> {
        let content = remove_client(content);
        if let Some(header) = JobHeader::parse(content) {
            self.finish_entry();
            if std::mem::take(&mut self.has_entries) {
                self.headers.clear();
            }
            self.contents.recognise(
                line..=line,
                "options",
                format!("of job {:?}", header.name),
            );
            self.headers.push(header);
            return check_limit(self.headers.len(), ("jobs", MAX_MEASUREMENTS));
        }
        if let Some((name, rest)) = content.split_once(ENTRY) {
            self.finish_entry();
            check_limit(self.entries.len() + 1, ("groups of jobs", MAX_MEASUREMENTS))?;
            self.has_entries = true;
            self.entry = Some(self.begin_entry(line, name, rest));
        } else if let Some(version) = parse_version(content) {
            self.finish_entry();
            self.version = Some(version.to_owned());
            self.contents.recognise(line..=line, "version", "of fio");
        } else if content.starts_with("Run status group") {
            self.finish_entry();
            self.contents.recognise(line..=line, "sum of the group", "its jobs are imported");
        } else if let Some(entry) = &mut self.entry {
            entry.add_line(line, content);
        } else if SUMS.iter().any(|sum| content.trim_start().starts_with(sum)) {
            self.contents.recognise(line..=line, "sum of the group", "its jobs are imported");
        }
        Ok(())
    }

    /// Begins the figures of a job: `0, jobs=1): err= 0: pid=16945: Thu Nov 26 19:23:36 2026`.
    fn begin_entry(&self, line: usize, name: &str, rest: &str) -> TextEntry {
        let number = |name: &str| {
            let text = rest.split_once(name)?.1.trim_start();
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            text[..end].parse::<u64>().ok()
        };
        let group = rest.split([',', ')']).next().and_then(|it| it.parse().ok()).unwrap_or(0);
        let jobs = number("jobs=");
        let began = rest.split_once("pid=").and_then(|(_, rest)| rest.split_once(':'));
        TextEntry {
            name: name.to_owned(),
            group,
            jobs,
            options: self.find_options(name, group, jobs),
            version: self.version.clone(),
            pid: number("pid="),
            error: number("err=").filter(|error| *error != 0),
            head: rest.to_owned(),
            began: began.and_then(|(_, time)| FileTime::parse_ctime(time)),
            lines: line..=line,
            ..TextEntry::default()
        }
    }

    /// Finds the options of a job. For a group of several jobs these are the options that all of
    /// them share.
    fn find_options(&self, name: &str, group: u64, jobs: Option<u64>) -> FioOptionValues {
        let named = |it: &&JobHeader| it.name == name && it.group == group;
        let of_name: Vec<&JobHeader> = self.headers.iter().filter(named).collect();
        let of_group = self.headers.iter().filter(|it| it.group == group);
        let is_several = jobs.is_some_and(|jobs| jobs > 1) || of_name.is_empty();
        let headers: Vec<&JobHeader> = match is_several {
            true => of_group.collect(),
            // Jobs with one name come in the order of their headers.
            false => {
                let earlier = self.entries.iter().filter(|it| it.name == name);
                let at = earlier.count() % of_name.len().max(1);
                vec![of_name[at]]
            }
        };
        let mut options =
            headers.first().map_or_else(FioOptionValues::new, |it| it.options.clone());
        options
            .retain(|name, value| headers.iter().all(|it| it.options.get(name) == Some(value)));
        options
    }

    fn finish_entry(&mut self) {
        self.entries.extend(self.entry.take());
    }
}

/// Adds the entries. One that a later entry of the same process contains is left out.
fn add_entries(entries: Vec<TextEntry>, contents: &mut FileContents) {
    let mut later: Vec<Option<usize>> = vec![None; entries.len()];
    let mut last = std::collections::HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let key = (&entry.name, entry.group, entry.pid);
        if let Some(before) = last.insert(key, at) {
            let (one, other) = (entries[before].state(), entry.state());
            later[before] = is_continued(&[one], &[other]).then_some(at);
        }
    }
    for (entry, later) in entries.into_iter().zip(later) {
        if later.is_some() {
            let what = format!("job {:?}", entry.name);
            let why = "an earlier state of the run that a later part contains";
            contents.leave_out(Some(entry.lines), what, why);
        } else {
            entry.add_to(contents);
        }
    }
}

/// Removes the name of the client that `fio --client` puts before a line: `<host> `.
fn remove_client(line: &str) -> &str {
    let line = line.trim();
    let rest = line.strip_prefix('<').and_then(|rest| rest.split_once("> "));
    rest.map_or(line, |(_, rest)| rest)
}

fn parse_version(line: &str) -> Option<&str> {
    let client = line.strip_prefix("hostname=").and_then(|it| it.split_once("fio=fio-"));
    let client = client.and_then(|(_, rest)| rest.split(',').next());
    let own = || line.strip_prefix("fio-").or_else(|| line.strip_prefix("fio "));
    let version = client.or_else(own)?;
    let is_version =
        version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' ');
    is_version.then_some(version)
}
