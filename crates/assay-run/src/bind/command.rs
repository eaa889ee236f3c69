//! `command`: starts a program again and again, and reads its figures.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_adapters::import::{
    self, FigureError, FigureRule, ImportError, ImportFormat, LinePattern, find_single_figures,
};
use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::entry::SeriesKey;
use assay_model::event::StopReason;
use assay_model::failure::ErrorArea;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::sanitize;
use assay_model::workload::command::{CommandWorkload, UsageMetric};
use assay_stats::stopping::NextStep;

use crate::measurement_loop::Turns;
use crate::program::{ProgramStart, StartedProgram};
use crate::recorder::{CaseError, Recorder};

/// Number of starts of an empty program.
const EMPTY_STARTS: usize = 9;
/// Maximum bytes of stored output of a case, beyond the first repetition and failures.
const MAX_STORED_BYTES: u64 = 64 << 20;

/// Reason why a repetition does not count.
#[derive(Debug, thiserror::Error)]
enum RepetitionError {
    #[error("`{program}` ended with code {code}, expected {expected}{printed}")]
    WrongExit { program: String, code: i32, expected: i32, printed: String },
    #[error("{0}")]
    Preparation(Box<Self>),
    #[error("`{program}` was ended by signal {signal}{printed}")]
    Signal { program: String, signal: i32, printed: String },
    #[error("no line of the output of `{program}` matches `{find}`")]
    CheckFailed { program: String, find: String },
    #[error("{error}{note}")]
    Figure { error: FigureError, note: &'static str },
    #[error("cannot read the standard output of `{program}`{}: {error}", in_line(*.line))]
    Output { program: String, line: Option<usize>, error: Box<ImportError> },
    #[error("the pattern of {what} is not valid: {problem}")]
    Pattern { what: String, problem: String },
}

impl RepetitionError {
    fn advice(&self) -> &'static str {
        match self {
            Self::WrongExit { printed, .. } if names_terminal(printed) => {
                "it seems to need a terminal, and has none here: use an option that makes it run unattended"
            }
            Self::Output { error, .. } => error.advice(),
            Self::WrongExit { .. } => {
                "look at the stored raw output; --correct exit=N expects another code, --ignore-failure any"
            }
            Self::Preparation(_) => "run it by hand: a preparation has to end with code 0",
            Self::Signal { .. } => "run it by hand: the signal ends it before its result",
            Self::CheckFailed { .. } | Self::Figure { .. } => {
                "look at the stored raw output; each pattern has to match one place of it"
            }
            Self::Pattern { .. } => "correct the regular expression",
        }
    }

    fn into_case_error(self) -> CaseError {
        CaseError::with_advice(ErrorArea::Process, &self, self.advice())
    }
}

fn in_line(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}

/// Whether a message is about a missing terminal.
fn names_terminal(message: &str) -> bool {
    let small = message.to_lowercase();
    ["terminal", "tty", "inappropriate ioctl"].iter().any(|it| small.contains(it))
}

/// Returns turns of one repetition each: every start of a program is a preparation of its own.
pub(super) fn turns(work: &CommandWorkload) -> Turns<'_> {
    let mut session: Option<CommandSession<'_>> = None;
    Box::new(move |recorder| {
        let session = match &mut session {
            Some(session) => session,
            none => none.insert(CommandSession::begin(work, recorder)?),
        };
        session.run_turn(recorder)
    })
}

/// Program with its compiled patterns, and the repetitions so far.
struct CommandSession<'c> {
    work: &'c CommandWorkload,
    start: ProgramStart,
    prepare: Option<ProgramStart>,
    rules: Vec<FigureRule>,
    format: Option<&'static ImportFormat>,
    expected_line: Option<LinePattern>,
    repetitions: u32,
    stored_bytes: u64,
    has_noted_children: bool,
}

impl<'c> CommandSession<'c> {
    /// Finds the program, measures the start of an empty one, and warms up.
    fn begin(
        work: &'c CommandWorkload,
        recorder: &mut Recorder<'_, '_>,
    ) -> Result<Self, CaseError> {
        let began_s = recorder.elapsed_s();
        let timeout = Duration::try_from_secs_f64(work.timeout_s).unwrap_or(Duration::MAX);
        let start_of = |call| ProgramStart::new(call, &work.cpus, timeout);
        let mut session = Self {
            work,
            start: start_of(&work.run)?,
            prepare: work.prepare.as_ref().map(start_of).transpose()?,
            rules: compile_rules(work)?,
            format: work.read_as.as_deref().and_then(import::find_format),
            expected_line: compile_check(work)?,
            repetitions: 0,
            stored_bytes: 0,
            has_noted_children: false,
        };
        session.record_facts(recorder)?;
        for _ in 0..work.warmup {
            session.run_checked(recorder)?;
        }
        recorder.exclude_choosing_since(began_s);
        Ok(session)
    }

    fn record_facts(&self, recorder: &mut Recorder<'_, '_>) -> Result<(), CaseError> {
        let prepare = self.prepare.iter().map(|it| ("prepare", it));
        let commands = [("run", &self.start)].into_iter().chain(prepare);
        let commands: BTreeMap<String, String> =
            commands.map(|(what, it)| (what.to_owned(), it.line().to_owned())).collect();
        recorder.add_fact(Attribute::Commands, AttributeValue::Pairs(commands));
        let correct = &self.work.correct;
        let checked = match (&correct.find, correct.exit) {
            (Some(_), _) => "output",
            (None, Some(_)) => "exit",
            (None, None) => "none",
        };
        recorder.add_fact(Attribute::Checked, checked);
        let empty = self.start.empty_program(&self.work.run)?;
        let (mut shortest_s, mut floor) = (f64::INFINITY, 0);
        for _ in 0..EMPTY_STARTS {
            let ended = empty.run(recorder.cancel())?.ended;
            shortest_s = shortest_s.min(ended.wall_s);
            floor = floor.max(ended.floor_bytes);
        }
        recorder.add_fact(Attribute::StartTime, shortest_s);
        recorder.add_fact(Attribute::MemoryFloor, floor);
        Ok(())
    }

    /// Runs one repetition and decides whether another one follows.
    fn run_turn(
        &mut self,
        recorder: &mut Recorder<'_, '_>,
    ) -> Result<Option<StopReason>, CaseError> {
        let began_s = recorder.elapsed_s();
        let (started, figures) = self.run_checked(recorder)?;
        self.repetitions += 1;
        add_usage(self.work, &started, recorder);
        for (key, value) in figures {
            recorder.add_series_sample(key, value);
        }
        let next = recorder.next_action(recorder.elapsed_s() - began_s)?;
        let stopped = match (self.work.runs, next) {
            (Some(runs), _) => (self.repetitions >= runs).then_some(StopReason::Tool),
            (None, NextStep::Stop(stopped)) => Some(stopped),
            (None, NextStep::Repeat | NextStep::PrepareAfresh) => None,
        };
        if stopped.is_some() {
            recorder.flush()?;
            return Ok(stopped);
        }
        recorder.begin_preparation().map(|()| None)
    }

    /// Prepares, runs and checks the program once; returns its figures.
    fn run_checked(
        &mut self,
        recorder: &mut Recorder<'_, '_>,
    ) -> Result<(StartedProgram, Vec<(SeriesKey, f64)>), CaseError> {
        if let Some(prepare) = &self.prepare {
            let ended = prepare.run(recorder.cancel())?;
            check_exit(prepare.line(), Some(0), &ended).map_err(|error| {
                RepetitionError::Preparation(Box::new(error)).into_case_error()
            })?;
        }
        let started = self.start.run(recorder.cancel())?;
        self.note_children(&started, recorder);
        if self.work.shows_output {
            show_output(&started, recorder);
        }
        let read = self.read_figures(&started);
        self.store_output(&started, read.is_err(), recorder)?;
        match read {
            Ok(figures) => Ok((started, figures)),
            Err(error) => {
                // The output explains a failure; it is stored before the case ends.
                recorder.flush()?;
                Err(error.into_case_error())
            }
        }
    }

    fn read_figures(
        &self,
        started: &StartedProgram,
    ) -> Result<Vec<(SeriesKey, f64)>, RepetitionError> {
        check_exit(self.start.line(), self.work.correct.exit, started)?;
        let [out, error] = [&started.output.stdout, &started.output.stderr]
            .map(|bytes| String::from_utf8_lossy(bytes));
        let streams = [("standard output", &*out), ("standard error", &*error)];
        if let Some(expected) = &self.expected_line
            && !streams.iter().any(|(_, text)| expected.matches(text))
        {
            return Err(RepetitionError::CheckFailed {
                program: self.start.line().to_owned(),
                find: self.work.correct.find.clone().unwrap_or_default(),
            });
        }
        let found = find_single_figures(&streams, &self.rules).map_err(|error| {
            let is_text = std::str::from_utf8(&started.output.stdout).is_ok();
            let note = if is_text { "" } else { " (the output is not text)" };
            RepetitionError::Figure { error, note }
        })?;
        let key = |name: &str, metric| SeriesKey {
            metric,
            dimensions: Attributes::from([(Attribute::Test, name.into())]),
        };
        let found = found.into_iter().map(|it| (key(it.name, it.metric), it.value));
        let Some(format) = self.format else { return Ok(found.collect()) };
        let read = import::read_output(&out, format).map_err(|error| {
            let (program, line) = (self.start.line().to_owned(), error.line());
            RepetitionError::Output { program, line, error: Box::new(error) }
        })?;
        let read = read.into_iter().map(|it| (key(&it.name, it.metric), it.value));
        Ok(found.chain(read).collect())
    }

    /// Stores the output of the first repetition, of failures, and of all from which figures are
    /// read.
    fn store_output(
        &mut self,
        started: &StartedProgram,
        has_failed: bool,
        recorder: &mut Recorder<'_, '_>,
    ) -> Result<(), CaseError> {
        let has_figures = !self.rules.is_empty() || self.format.is_some();
        let is_read = has_figures && self.stored_bytes < MAX_STORED_BYTES;
        if self.repetitions > 0 && !has_failed && !is_read {
            return Ok(());
        }
        let output = &started.output;
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !bytes.is_empty() {
                self.stored_bytes += bytes.len() as u64;
                recorder.store_raw(&format!("{}.{name}", self.repetitions), bytes)?;
            }
        }
        Ok(())
    }

    /// Notes once that children outlived the program.
    fn note_children(&mut self, started: &StartedProgram, recorder: &mut Recorder<'_, '_>) {
        if started.killed_descendants > 0
            && !std::mem::replace(&mut self.has_noted_children, true)
        {
            recorder.note(&phrase!(
                "children-left",
                "processes that outlived {program} were ended: {n}",
                program = self.start.line(),
                n = started.killed_descendants,
            ));
        }
    }
}

/// Records the counters of the kernel.
fn add_usage(
    work: &CommandWorkload,
    started: &StartedProgram,
    recorder: &mut Recorder<'_, '_>,
) {
    let ended = started.ended;
    for metric in &work.usage {
        match metric {
            UsageMetric::Wall => recorder.add_sample("wall_time", ended.wall_s),
            UsageMetric::Cpu => recorder.add_sample("cpu_time", ended.cpu_s),
            UsageMetric::Memory if ended.peak_bytes > ended.floor_bytes => {
                recorder.add_sample("peak_memory", ended.peak_bytes as f64);
            }
            UsageMetric::Memory => {}
        }
    }
}

fn show_output(started: &StartedProgram, recorder: &mut Recorder<'_, '_>) {
    for bytes in [&started.output.stdout, &started.output.stderr] {
        for line in String::from_utf8_lossy(bytes).lines() {
            recorder.note(&Phrase::from(sanitize::escape_hidden(line).into_owned()));
        }
    }
}

/// Compares the end of a program with the expected exit code; `None` = any.
fn check_exit(
    program: &str,
    expected: Option<i32>,
    started: &StartedProgram,
) -> Result<(), RepetitionError> {
    let (program, printed) = (program.to_owned(), || last_words(&started.output.stderr));
    match (started.ended.code, expected) {
        (None, _) => {
            let signal = started.ended.signal.unwrap_or(0);
            Err(RepetitionError::Signal { program, signal, printed: printed() })
        }
        (Some(code), Some(expected)) if code != expected => {
            Err(RepetitionError::WrongExit { program, code, expected, printed: printed() })
        }
        (Some(_), _) => Ok(()),
    }
}

/// Returns the last line of the standard error, for an error message.
fn last_words(stderr: &[u8]) -> String {
    /// Enough for one sentence.
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let short = |line: &str| line.chars().take(LONGEST).collect::<String>();
    line.map(|line| format!("; it printed: {}", short(line))).unwrap_or_default()
}

fn compile_rules(work: &CommandWorkload) -> Result<Vec<FigureRule>, CaseError> {
    let compile = |request| FigureRule::from_request(request);
    work.figures.iter().map(compile).collect::<Result<_, _>>().map_err(|problem| {
        RepetitionError::Pattern { what: "a metric".to_owned(), problem }.into_case_error()
    })
}

fn compile_check(work: &CommandWorkload) -> Result<Option<LinePattern>, CaseError> {
    let find = work.correct.find.as_deref();
    find.map(LinePattern::parse).transpose().map_err(|problem| {
        RepetitionError::Pattern { what: "the check".to_owned(), problem }.into_case_error()
    })
}
