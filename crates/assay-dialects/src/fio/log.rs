//! fio's logs: bandwidth, IO/s and latencies over time, one line per window or per I/O, and
//! histograms.
//!
//! Lines are `time in ms, value, direction, bytes, [offset,] priority`; values in KiB/s, IO/s or
//! nanoseconds. Opens nothing: the caller supplies the writer.

use std::io::{self, Write};

use assay_model::storage_outcome::{
    IntervalTally, IoOperation, JournalEntry, StorageOutcome, StreamCount,
};

use super::compile::{self, FioClone, FioPlan, StreamRef};
use super::section_options::{FioOptions, LogOptions, RwMode, VerifyMode};
use super::verify_state;

mod total;
mod trace;

/// Log file of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// File path.
    pub path: String,
    /// Kind of its values.
    kind: LogKind,
    /// Indices of the clones in the log.
    clones: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogKind {
    Bandwidth,
    Rate,
    Latency,
    Completion,
    Submission,
    Histogram,
    Trace,
    State,
    /// Bandwidth of all jobs together in a direction of fio.
    Total(u8),
}

/// Share of the requested length from which a window counts as complete.
const FULL_WINDOW_SHARE: f64 = 0.999;
/// Classes of fio's histograms: 29 groups of 64.
const CLASSES: usize = 29 * 64;

/// Returns all logs of a plan, each once.
pub fn log_files(plan: &FioPlan) -> Vec<LogFile> {
    let mut files: Vec<LogFile> = vec![];
    for (index, clone) in plan.clones.iter().enumerate() {
        let job = &plan.options[clone.section];
        for (kind, path) in log_paths(job, index + 1) {
            match files.iter_mut().find(|file| file.path == path) {
                Some(file) => file.clones.push(index),
                None => files.push(LogFile { path, kind, clones: vec![index] }),
            }
        }
    }
    if plan.logs_total {
        let kinds = (0..).map(LogKind::Total).zip(total::PATHS);
        files.extend(kinds.map(|(kind, path)| LogFile {
            path: path.to_owned(),
            kind,
            clones: vec![],
        }));
    }
    files
}

/// Returns the log paths, `PREFIX_bw.NUMBER.log`; without the number if clones share a file.
fn log_paths(job: &FioOptions, number: usize) -> Vec<(LogKind, String)> {
    let logs = &job.logs;
    let path = |prefix: &str, what: &str| {
        let prefix = if prefix.is_empty() { &job.name } else { prefix };
        let number = if logs.per_clone { format!(".{number}") } else { String::new() };
        format!("{prefix}_{what}{number}.log")
    };
    let mut paths = vec![];
    paths
        .extend(logs.bandwidth.as_ref().map(|prefix| (LogKind::Bandwidth, path(prefix, "bw"))));
    paths.extend(logs.rate.as_ref().map(|prefix| (LogKind::Rate, path(prefix, "iops"))));
    if let Some(prefix) = &logs.latency {
        let [no_lat, no_slat, no_clat] = logs.disabled;
        for (left_out, kind, what) in [
            (no_lat, LogKind::Latency, "lat"),
            (no_slat, LogKind::Submission, "slat"),
            (no_clat, LogKind::Completion, "clat"),
        ] {
            paths.extend((!left_out).then(|| (kind, path(prefix, what))));
        }
    }
    let histogram = logs.histogram.as_ref();
    paths.extend(histogram.map(|prefix| (LogKind::Histogram, path(prefix, "clat_hist"))));
    paths.extend(logs.trace.iter().map(|name| (LogKind::Trace, name.clone())));
    let saves = job.contents.saves_state && job.verify == VerifyMode::On && job.rw.writes;
    paths.extend(saves.then(|| (LogKind::State, verify_state::path(job, number - 1))));
    paths
}

impl LogFile {
    /// Writes the log. `began_ms` is the start of the measured time of each phase, since 1970.
    ///
    /// # Errors
    /// Errors of the writer `to`.
    pub fn write(
        &self,
        plan: &FioPlan,
        outcomes: &[StorageOutcome],
        began_ms: &[u64],
        to: &mut dyn Write,
    ) -> io::Result<()> {
        if self.kind == LogKind::Trace {
            return trace::write(plan, &self.clones, (outcomes, began_ms), to);
        }
        if self.kind == LogKind::State {
            return self.write_state(plan, outcomes, to);
        }
        if let LogKind::Total(direction) = self.kind {
            return total::write(plan, direction, (outcomes, began_ms), to);
        }
        let began = |phase: usize| began_ms.get(phase).copied().unwrap_or(0);
        let parts = self.clones.iter().flat_map(|index| {
            let clone = plan.clones[*index];
            clone_parts(plan, clone).map(move |part| (clone, part))
        });
        for (clone, part) in parts {
            let Some(outcome) = outcomes.get(part.phase) else { continue };
            let job = &plan.options[clone.section];
            let first_ms = if job.logs.unix_epoch { 0 } else { began(clone.part.phase) };
            let epoch_ms = began(part.phase).saturating_sub(first_ms);
            let journal = outcome.streams.get(part.stream).map_or(&[][..], |it| &it.journal);
            let priority = job.behaviour.io_priority().unwrap_or(0);
            let calls_files = compile::file_call(job).is_some();
            let line =
                LineFormat { logs: &job.logs, rw: job.rw, epoch_ms, priority, calls_files };
            match (self.kind, job.logs.average_ms) {
                // Means have no submission times.
                (LogKind::Submission, 1..)
                | (LogKind::Trace | LogKind::State | LogKind::Total(_), _) => {}
                (LogKind::Histogram, _) => write_histograms(&line, journal, to)?,
                // Calls on files are completions of nothing.
                (kind, 0) if calls_files && kind != LogKind::Completion => {}
                (LogKind::Latency, _) if calls_files => {}
                // fio does not time them then.
                (LogKind::Completion, _) if calls_files && job.logs.disabled[0] => {}
                (kind, 0) => write_each_io(&line, kind, journal, to)?,
                (kind, _) => {
                    let counted = after_warm_up(job, outcome, part.stream);
                    write_means(&line, kind, &counted, part.stream, to)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the state of verification of a clone: its writes so far.
    fn write_state(
        &self,
        plan: &FioPlan,
        outcomes: &[StorageOutcome],
        to: &mut dyn Write,
    ) -> io::Result<()> {
        for clone in self.clones.iter().map(|index| plan.clones[*index]) {
            let tallies = clone_parts(plan, clone).flat_map(|part| {
                let all = outcomes.get(part.phase).map_or(&[][..], |it| &it.tallies);
                all.iter().filter(move |it| it.stream == part.stream)
            });
            let writes = tallies.filter(|it| it.operation == IoOperation::Write);
            let writes = writes.map(|it| it.tally.count).sum();
            verify_state::write(&plan.options[clone.section], writes, to)?;
        }
        Ok(())
    }
}

/// Returns the parts of a clone: its passes and their verification.
fn clone_parts(plan: &FioPlan, clone: FioClone) -> impl Iterator<Item = StreamRef> {
    let row = plan.reports.iter().find(|row| row.parts.contains(&clone.part));
    let parts = row.into_iter().flat_map(|row| &row.parts).copied();
    let mut own: Vec<StreamRef> =
        parts.filter(|part| part.stream == clone.part.stream).collect();
    own.sort_by_key(|part| part.phase);
    own.into_iter()
}

/// Settings that all lines of a job share.
struct LineFormat<'a> {
    logs: &'a LogOptions,
    rw: RwMode,
    epoch_ms: u64,
    priority: u16,
    /// Whether I/O has neither bytes nor an offset.
    calls_files: bool,
}

impl LineFormat<'_> {
    /// Returns the format of an I/O with its own priority, if it has one.
    const fn of_priority(&self, priority: u16) -> Self {
        Self { priority: if priority > 0 { priority } else { self.priority }, ..*self }
    }

    /// Formats the priority: its value, or whether it is real time.
    fn priority(&self) -> String {
        const REAL_TIME: u16 = 1;
        match self.logs.priority {
            true => format!("{:#06x}", self.priority),
            false => u16::from(self.priority >> 13 == REAL_TIME).to_string(),
        }
    }

    const fn direction(&self, operation: IoOperation) -> u8 {
        direction_number(self.rw, operation)
    }

    fn write(
        &self,
        to: &mut dyn Write,
        (at_ms, value): (u64, u64),
        operation: IoOperation,
        (bytes, offset, issued_ns): (u32, u64, u64),
    ) -> io::Result<()> {
        let (at_ms, direction) = (self.epoch_ms + at_ms, self.direction(operation));
        write!(to, "{at_ms}, {value}, {direction}, {bytes}, ")?;
        if self.logs.offset {
            write!(to, "{offset}, ")?;
        }
        write!(to, "{}", self.priority())?;
        if self.logs.issue_time {
            write!(to, ", {issued_ns}")?;
        }
        writeln!(to)
    }
}

/// Returns fio's number of a direction: 0 = read, 1 = write, 2 = trim.
const fn direction_number(rw: RwMode, operation: IoOperation) -> u8 {
    match operation {
        IoOperation::Read if rw.trims_first => 2,
        IoOperation::Read => 0,
        IoOperation::Write if rw.trims => 2,
        IoOperation::Write => 1,
    }
}

/// Writes one line per I/O. As in fio, a bandwidth is that of the single I/O in kB/s, and a rate is
/// 1.
fn write_each_io(
    line: &LineFormat<'_>,
    kind: LogKind,
    journal: &[JournalEntry],
    to: &mut dyn Write,
) -> io::Result<()> {
    for entry in journal {
        let value = match kind {
            LogKind::Bandwidth => u64::from(entry.bytes) * 1_000_000 / entry.service_ns.max(1),
            LogKind::Rate => 1,
            LogKind::Submission if entry.submission_ns == 0 => continue,
            LogKind::Submission => entry.submission_ns.into(),
            LogKind::Completion => entry.service_ns.saturating_sub(entry.submission_ns.into()),
            LogKind::Latency
            | LogKind::Histogram
            | LogKind::Trace
            | LogKind::State
            | LogKind::Total(_) => entry.service_ns,
        };
        let issued_ns = entry.at_ns.saturating_sub(entry.service_ns);
        let (bytes, offset) =
            if line.calls_files { (0, 0) } else { (entry.bytes, entry.offset) };
        let place = (bytes, offset, line.epoch_ms * 1_000_000 + issued_ns);
        let line = line.of_priority(entry.priority);
        line.write(to, (entry.at_ns / 1_000_000, value), entry.operation, place)?;
    }
    Ok(())
}

/// Sums over one window.
#[derive(Debug, Clone, Copy, Default)]
struct WindowSum {
    ios: u64,
    bytes: u64,
    service_ns: u64,
    maximum_ns: u64,
    /// IO/s and B/s of the best interval.
    best: (f64, f64),
}

impl WindowSum {
    fn add(
        &mut self,
        (ios, bytes, service_ns, maximum_ns): (u64, u64, u64, u64),
        length_s: f64,
    ) {
        self.ios += ios;
        self.bytes += bytes;
        self.service_ns += service_ns;
        self.maximum_ns = self.maximum_ns.max(maximum_ns);
        let per_s = |amount: u64| amount as f64 / length_s;
        self.best = (self.best.0.max(per_s(ios)), self.best.1.max(per_s(bytes)));
    }

    fn value(&self, kind: LogKind, maximum: bool, length_s: f64) -> u64 {
        let value = match (kind, maximum) {
            (LogKind::Bandwidth, false) => self.bytes as f64 / 1024.0 / length_s,
            (LogKind::Bandwidth, true) => self.best.1 / 1024.0,
            (LogKind::Rate, false) => self.ios as f64 / length_s,
            (LogKind::Rate, true) => self.best.0,
            (_, false) => self.service_ns as f64 / self.ios as f64,
            (_, true) => self.maximum_ns as f64,
        };
        value as u64
    }
}

fn direction_counts(count: &StreamCount, operation: IoOperation) -> (u64, u64, u64, u64) {
    match operation {
        IoOperation::Read => {
            (count.reads, count.read_bytes, count.read_service_ns, count.read_maximum_ns)
        }
        IoOperation::Write => {
            (count.writes, count.write_bytes, count.write_service_ns, count.write_maximum_ns)
        }
    }
}

/// Returns the intervals after the warm-up of a stream, by time (`ramp_time`) or bytes (`ramp_size`),
/// with their seconds: of one in which it ended, those that are left, with their I/O.
fn after_warm_up<'o>(
    job: &FioOptions,
    outcome: &'o StorageOutcome,
    stream: usize,
) -> Vec<(f64, &'o IntervalTally)> {
    let by_bytes = outcome.streams.get(stream).filter(|_| job.behaviour.ramp_bytes > 0);
    let from_s = by_bytes.map_or(0.0, |it| match it.never_measured {
        true => f64::INFINITY,
        false => it.restarted_s.unwrap_or(0.0),
    });
    let left = |it: &'o IntervalTally| {
        let left_s = (it.start_s + it.length_s - from_s).min(it.length_s);
        (!it.warmup && left_s > 0.0).then_some((left_s, it))
    };
    outcome.intervals.iter().filter_map(left).collect()
}

/// Writes one line per window and direction with any I/O.
fn write_means(
    line: &LineFormat<'_>,
    kind: LogKind,
    counted: &[(f64, &IntervalTally)],
    stream: usize,
    to: &mut dyn Write,
) -> io::Result<()> {
    let wanted_s = line.logs.average_ms as f64 / 1e3;
    let mut sums = [WindowSum::default(); 2];
    let (mut length_s, mut at_s) = (0.0, 0.0);
    for (index, (interval_s, interval)) in counted.iter().enumerate() {
        length_s += interval_s;
        at_s += interval_s;
        if let Some(count) = interval.streams.get(stream) {
            for (sum, operation) in sums.iter_mut().zip([IoOperation::Read, IoOperation::Write])
            {
                sum.add(direction_counts(count, operation), *interval_s);
            }
        }
        if length_s < wanted_s * FULL_WINDOW_SHARE && index + 1 < counted.len() {
            continue;
        }
        // fio samples rates at the ends of windows only; latencies have a shorter one at the end.
        let is_rate = matches!(kind, LogKind::Bandwidth | LogKind::Rate);
        if is_rate && length_s < wanted_s * FULL_WINDOW_SHARE {
            break;
        }
        let at_ms = (at_s * 1e3).round() as u64;
        for (sum, operation) in sums.iter().zip([IoOperation::Read, IoOperation::Write]) {
            if sum.ios > 0 {
                let value = sum.value(kind, line.logs.maximum, length_s);
                line.write(to, (at_ms, value), operation, (0, 0, 0))?;
            }
        }
        (sums, length_s) = ([WindowSum::default(); 2], 0.0);
    }
    Ok(())
}

/// Writes one line per window and direction: the number of I/O in each of fio's latency classes.
fn write_histograms(
    line: &LineFormat<'_>,
    journal: &[JournalEntry],
    to: &mut dyn Write,
) -> io::Result<()> {
    let Some(window_ns) = line.logs.histogram_ms.checked_mul(1_000_000).filter(|ns| *ns > 0)
    else {
        return Ok(());
    };
    let mut rest = journal;
    while let Some(first) = rest.first() {
        let window = first.at_ns / window_ns;
        let end = rest.partition_point(|entry| entry.at_ns / window_ns == window);
        let at_ms = line.epoch_ms + (window + 1) * line.logs.histogram_ms;
        for operation in [IoOperation::Read, IoOperation::Write] {
            let mut classes = vec![0_u64; CLASSES];
            let here = || rest[..end].iter().filter(|entry| entry.operation == operation);
            let Some(bytes) = here().map(|entry| entry.bytes).max() else { continue };
            here().for_each(|entry| {
                let submission_ns = u64::from(entry.submission_ns);
                let completion_ns = entry.service_ns.saturating_sub(submission_ns);
                classes[latency_class(completion_ns)] += 1;
            });
            write!(to, "{at_ms}, {}, {bytes}", line.direction(operation))?;
            for part in classes.chunks(1 << line.logs.coarseness) {
                write!(to, ", {}", part.iter().sum::<u64>())?;
            }
            writeln!(to)?;
        }
        rest = &rest[end..];
    }
    Ok(())
}

/// Returns fio's latency class: exact below 128 ns, then 64 classes for every power of two.
fn latency_class(ns: u64) -> usize {
    let bits = ns.checked_ilog2().unwrap_or(0);
    if bits <= 6 {
        return ns as usize;
    }
    let shift = bits - 6;
    let class = ((shift as usize + 1) << 6) + (ns >> shift & 63) as usize;
    class.min(CLASSES - 1)
}

#[cfg(test)]
mod tests;
