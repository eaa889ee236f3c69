//! Compilation of fio jobs to a plan: jobs that run at the same time become the streams of one
//! phase.
//!
//! Opens nothing: the caller supplies file sizes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assay_model::path_text;
use assay_model::workload::storage::{
    ArrivalProcess, EngineChoice, FileCall, JobOrder, StorageData, StoragePhase, StoragePlan,
    StorageStream, StorageTiming, StorageWorkload, Verify,
};

use super::job_error::{FioJobError, FioJobErrorKind, FioLocation};
use super::request::FioRequest;
use super::section_options::{FioOptions, VerifyMode};
use super::steady::FioSteadyWindow;
use super::trace::IoTrace;

mod conduct;
mod file_calls;
mod files;
mod job_order;
mod name_hash;
mod order;
mod priorities;
mod replay;
mod skew;
mod streams;
mod verification;
mod working_set;
mod zones;

pub(super) use self::file_calls::file_call;
pub(super) use self::job_order::queues;
pub(super) use self::streams::blocks;

/// Facts about the machine that the plan depends on.
pub struct FioCompileEnv<'a> {
    /// Size in bytes of an existing file or device.
    pub size_of: &'a dyn Fn(&Path) -> Option<u64>,
    /// Size in bytes to assume for a file that does not exist and has none in its job; `None` = it
    /// is an error.
    pub assumed_bytes: Option<u64>,
    /// CPUs of a NUMA node that this process may use; `None` if there are none.
    pub cpus_of_node: &'a dyn Fn(usize) -> Option<Vec<usize>>,
    /// NUMA nodes with memory, with and without CPUs; `None` if any may exist, as in a plan for
    /// another machine.
    pub memory_nodes: Option<&'a [usize]>,
    /// Number of passes of a stream in the order of a job, or a larger number than this maximum.
    pub count_passes: &'a dyn Fn(&StorageStream, u64) -> u64,
    /// Contents of a state of verification.
    pub read_state: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// Seed for jobs that do not repeat their offsets.
    pub fresh_seed: u64,
}

impl std::fmt::Debug for FioCompileEnv<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FioCompileEnv")
            .field("fresh_seed", &self.fresh_seed)
            .finish_non_exhaustive()
    }
}

/// Plan of a set of jobs, with the mapping from its outcomes back to the jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct FioPlan {
    /// Plan to execute.
    pub plan: StoragePlan,
    /// Parsed options of each job.
    pub options: Vec<FioOptions>,
    /// Report entries in order.
    pub reports: Vec<ReportRow>,
    /// Clones of all jobs in order; fio numbers them from 1.
    pub clones: Vec<FioClone>,
    /// Notes to print before the run begins.
    pub notes: Vec<String>,
    /// Whether the bandwidth of all jobs together is logged.
    pub logs_total: bool,
}

/// Entry of the report: a clone of a job, or a whole group with `group_reporting`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportRow {
    /// Index of the (first) job's section.
    pub section: usize,
    /// fio's group.
    pub group: usize,
    /// Number of jobs in the entry.
    pub members: u32,
    /// Whether it is left out of the output (`stats=0`).
    pub is_hidden: bool,
    /// Phase and stream of each part of the entry.
    pub parts: Vec<StreamRef>,
}

/// Clone of a job (`numjobs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FioClone {
    /// Index of the job's section.
    pub section: usize,
    /// Its stream in the plan.
    pub part: StreamRef,
}

/// Reference to one stream of one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRef {
    /// Index into the plan's phases.
    pub phase: usize,
    /// Index into the phase's streams.
    pub stream: usize,
}

/// Compiles the jobs of a request to a plan.
///
/// # Errors
/// An invalid value, or conflicting options.
pub fn compile(
    request: &FioRequest,
    places: &FioCompileEnv<'_>,
) -> Result<FioPlan, FioJobError> {
    let mut jobs = vec![];
    for section in &request.sections {
        jobs.push((FioOptions::from_section(section)?, section.origin.clone()));
    }
    let traces = jobs.iter_mut().map(|placed| replay::load(placed, request));
    let traces = traces.collect::<Result<Vec<_>, _>>()?;
    // In whichever job it is, fio ends others when any job ends.
    let ends_all = jobs.iter().any(|(job, _): &LocatedOptions| job.behaviour.ends_all);
    for (job, _) in &mut jobs {
        job.behaviour.ends_all = ends_all;
        job.contents.aux_path.clone_from(&request.aux_path);
    }
    let mut compiler = Compiler {
        places,
        traces,
        phases: vec![],
        reports: vec![],
        clones: vec![],
        created: HashMap::new(),
        notes: vec![],
        group: 0,
        read_only: request.read_only,
    };
    for range in order::split_phases(&jobs)? {
        compiler.add_phase(&jobs, range)?;
    }
    let Compiler { phases, reports, clones, mut notes, .. } = compiler;
    notes.extend(request.notes.iter().cloned());
    notes.extend(remarks(&jobs));
    let workers = jobs.into_iter().map(|(job, _)| job).collect();
    let (plan, logs_total) = (StoragePlan { phases }, request.logs_total);
    Ok(FioPlan { plan, options: workers, reports, clones, notes, logs_total })
}

struct Compiler<'a> {
    places: &'a FioCompileEnv<'a>,
    /// Recorded I/O of each job that repeats some.
    traces: Vec<Option<IoTrace>>,
    phases: Vec<StoragePhase>,
    reports: Vec<ReportRow>,
    clones: Vec<FioClone>,
    /// Sizes of the files of all jobs so far.
    created: HashMap<PathBuf, u64>,
    notes: Vec<String>,
    group: usize,
    read_only: bool,
}

type LocatedOptions = (FioOptions, FioLocation);

impl Compiler<'_> {
    fn add_phase(
        &mut self,
        jobs: &[LocatedOptions],
        range: std::ops::Range<usize>,
    ) -> Result<(), FioJobError> {
        let members = &jobs[range.clone()];
        check_agreement(members)?;
        self.check_read_only(members)?;
        let index = self.phases.len();
        let created = std::mem::take(&mut self.created);
        let mut targets = files::TargetTable::with_created(created);
        let mut streams = vec![];
        let mut engines = vec![];
        let period = conduct::PhasePeriod::from_members(members);
        for (offset, placed) in members.iter().enumerate() {
            let (job, _) = placed;
            if job.new_group && offset > 0 {
                self.group += 1;
            }
            let (engine, note) = streams::engine(placed)?;
            self.notes.extend(note);
            engines.push((engine, file_call(job)));
            // fio makes the last clone first (`add_job` in init.c).
            for clone in std::iter::once(0).chain((1..job.clones).rev()) {
                let times = period.run_period(job);
                let number = range.start + offset;
                let own = zones::options_of_clone(placed, clone)?;
                let stream = self.clone_stream(&own, (number, clone), times, &mut targets)?;
                let part = StreamRef { phase: index, stream: streams.len() };
                self.add_to_report(number, job, part);
                self.clones.push(FioClone { section: number, part });
                streams.push(stream);
            }
        }
        if let Some(other) = engines.iter().position(|engine| *engine != engines[0]) {
            let why =
                "its ioengine or hipri differs from that of a job that runs at the same time";
            return Err(conflict(&members[other], why, "separate them with stonewall"));
        }
        working_set::share_sets(members, &mut streams);
        let load = streams::load(members, &mut streams)?;
        self.created = targets.created;
        let (job, _) = &members[0];
        let verify = verify(members);
        let workload = StorageWorkload {
            targets: targets.list,
            streams,
            load,
            timing: timing(members),
            engine: engines[0].0,
            data: StorageData { compressible: job.compress_percent / 100.0, verify },
            // fio multiplies its seed by the number of the job, so that no two jobs use the same
            // offsets.
            seed: if job.repeats_offsets { job.seed } else { self.places.fresh_seed }
                .wrapping_add(index as u64),
        };
        let names: Vec<&str> = members.iter().map(|(job, _)| job.name.as_str()).collect();
        let phase = StoragePhase {
            pause_before_s: conduct::common_delay_s(members),
            ..StoragePhase::new(names.join("+"), workload)
        };
        self.phases.extend(verification::split_passes(members, phase, self.places)?);
        self.check_steady_state(members, index)?;
        self.close_phase(index);
        Ok(())
    }

    /// Returns the stream of the next clone of a job.
    fn clone_stream(
        &self,
        placed: &LocatedOptions,
        (number, clone): (usize, u32),
        times: conduct::RunPeriod,
        targets: &mut files::TargetTable,
    ) -> Result<StorageStream, FioJobError> {
        let trace = self.traces[number].as_ref();
        let used = match trace {
            Some(it) => replay::resolve_files(placed, (it, clone), self.places, targets),
            None => files::resolve_clone_files(placed, clone, self.places, targets)?,
        };
        let mut stream = streams::stream(placed, clone, &used)?;
        stream.conduct =
            conduct::conduct(placed, self.clones.len(), &used, times, self.places)?;
        match trace {
            Some(trace) => replay::set_io(&mut stream, trace),
            None => {
                stream.conduct.order = Some(self.job_order(placed, clone, &stream, &used)?);
            }
        }
        Ok(stream)
    }

    /// Returns the order of the next clone.
    fn job_order(
        &self,
        placed: &LocatedOptions,
        clone: u32,
        stream: &StorageStream,
        used: &files::CloneFiles,
    ) -> Result<Box<JobOrder>, FioJobError> {
        let (job, _) = placed;
        let repeats = job.repeats_offsets || job.has_seed;
        let seed = if repeats { job.seed } else { self.places.fresh_seed };
        let number = self.clones.len() as u64 + 1;
        let mut order = job_order::job_order(placed, (number, clone), used, seed)?;
        verification::apply_state(&mut order, placed, self.clones.len(), self.places)?;
        let skew = skew::skew(placed, used, &order)?;
        let is_mixed = job.rw.reads && job.rw.writes && !job.rw.trims_first;
        let read_percent = match is_mixed {
            true => stream.read_share * 100.0,
            false => order.read_percent,
        };
        let paces_per_s = streams::paces_per_s(job);
        Ok(Box::new(JobOrder { read_percent, paces_per_s, skew, ..order }))
    }

    fn check_read_only(&self, members: &[LocatedOptions]) -> Result<(), FioJobError> {
        let changes = |job: &FioOptions| {
            let call = file_call(job);
            job.rw.writes || matches!(call, Some(FileCall::Create | FileCall::Delete))
        };
        match members.iter().find(|(job, _)| self.read_only && changes(job)) {
            Some(job) => Err(conflict(
                job,
                "trim and write operations are not allowed with the --readonly parameter",
                "leave out --readonly, or give rw=read or rw=randread",
            )),
            None => Ok(()),
        }
    }

    /// Rejects a steady state that spans several report entries: it covers all jobs that run
    /// together.
    fn check_steady_state(
        &self,
        members: &[LocatedOptions],
        phase: usize,
    ) -> Result<(), FioJobError> {
        let asks = |(job, _): &&LocatedOptions| {
            FioSteadyWindow::from_behaviour(&job.behaviour).is_some()
        };
        let here = |row: &&ReportRow| row.parts.iter().any(|part| part.phase == phase);
        match members.iter().find(asks) {
            Some(placed) if self.reports.iter().filter(here).count() > 1 => Err(conflict(
                placed,
                "steadystate applies to all jobs that run together",
                "add group_reporting, or separate the jobs with stonewall",
            )),
            _ => Ok(()),
        }
    }

    /// Adds a clone to the report, or to the entry of its group.
    fn add_to_report(&mut self, job: usize, options: &FioOptions, part: StreamRef) {
        let group = self.group;
        let is_hidden = options.is_unreported;
        let same = |row: &&mut ReportRow| {
            options.group_reporting && row.group == group && row.is_hidden == is_hidden
        };
        if let Some(row) = self.reports.iter_mut().rev().find(same) {
            row.parts.push(part);
            row.members += 1;
            return;
        }
        let parts = vec![part];
        self.reports.push(ReportRow { section: job, group, members: 1, is_hidden, parts });
    }

    /// Ends the jobs of a phase: adds further passes and their verification to the same entries, and
    /// starts a new group.
    fn close_phase(&mut self, index: usize) {
        let further = index + 1..self.phases.len();
        for row in &mut self.reports {
            let here: Vec<_> =
                row.parts.iter().filter(|part| part.phase == index).copied().collect();
            let again = further
                .clone()
                .flat_map(|phase| here.iter().map(move |p| StreamRef { phase, ..*p }));
            row.parts.extend(again);
        }
        self.group += 1;
    }
}

/// Returns a fault that concerns a job as a whole.
fn conflict(
    placed: &LocatedOptions,
    why: impl Into<String>,
    hint: &'static str,
) -> FioJobError {
    let (job, origin) = placed;
    let kind = FioJobErrorKind::Conflict { section: job.name.clone(), why: why.into(), hint };
    FioJobError::new(origin.clone(), kind)
}

/// Checks that jobs running at the same time agree on times and data, because they share one clock.
fn check_agreement(members: &[LocatedOptions]) -> Result<(), FioJobError> {
    let (first, _) = &members[0];
    for placed in members {
        let (job, _) = placed;
        let differs = [
            ("ramp_time", differ(job.ramp_s, first.ramp_s)),
            ("ramp_size", job.behaviour.ramp_bytes != first.behaviour.ramp_bytes),
            ("steadystate", job.behaviour.steady != first.behaviour.steady),
            ("verify", job.verify != first.verify),
            (
                "verify_only",
                verification::writes_nothing(job) != verification::writes_nothing(first),
            ),
            ("randrepeat", job.repeats_offsets != first.repeats_offsets),
            (
                "buffer_compress_percentage",
                differ(job.compress_percent, first.compress_percent),
            ),
        ];
        if let Some((name, _)) = differs.iter().find(|(_, differs)| *differs) {
            let other = &first.name;
            let why = format!(
                "its {name} differs from that of `{other}`, which runs at the same time"
            );
            return Err(conflict(
                placed,
                why,
                "make them the same or separate them with stonewall",
            ));
        }
    }
    Ok(())
}

fn differ(one: f64, other: f64) -> bool {
    (one - other).abs() > 0.0
}

fn timing(members: &[LocatedOptions]) -> StorageTiming {
    let (first, _) = &members[0];
    let each_s = |(job, _): &LocatedOptions| {
        let logged_s = job.logs.average_ms as f64 / 1e3;
        let averages = job.logs.is_any_enabled() && logged_s > 0.0;
        job.sample_s.min(if averages { logged_s } else { f64::INFINITY })
    };
    let sample_s = members.iter().map(each_s).fold(f64::INFINITY, f64::min);
    StorageTiming {
        warmup_s: first.ramp_s,
        duration_s: conduct::duration_s(members),
        interval_s: sample_s,
        stop_after_bytes: None,
    }
}

fn verify(members: &[LocatedOptions]) -> Verify {
    let (first, _) = &members[0];
    match first.verify {
        VerifyMode::Off => Verify::Off,
        VerifyMode::On => Verify::OnRead,
    }
}

/// Returns the steady-state window that ends a phase, and the streams that it covers.
pub fn steady_window(plan: &FioPlan, phase: usize) -> Option<(FioSteadyWindow, Vec<usize>)> {
    let here = || plan.clones.iter().filter(|clone| clone.part.phase == phase);
    let window = here().find_map(|clone| {
        FioSteadyWindow::from_behaviour(&plan.options[clone.section].behaviour)
    })?;
    Some((window, here().map(|clone| clone.part.stream).collect()))
}

/// Returns notes on behaviour that a user of fio would not expect.
fn remarks(jobs: &[LocatedOptions]) -> Vec<String> {
    let mut remarks = vec![];
    let mut noted: Vec<_> = jobs.iter().flat_map(|(job, _)| job.ignored.clone()).collect();
    noted.sort_unstable();
    noted.dedup();
    remarks.extend(noted.iter().map(|(name, why)| format!("{name} has no effect: {why}")));
    if jobs.iter().any(|(job, _)| {
        job.repeats_offsets && job.rw.random && job.rw.reads && !job.rw.trims_first
    }) {
        remarks.push(
            "randrepeat=1, fio's default: every run reads the same offsets, and a cache below \
             may answer the second one; randrepeat=0 draws new ones"
                .to_owned(),
        );
    }
    if jobs.iter().any(|(job, _)| job.time_based && job.runtime_s.is_none()) {
        remarks.push("time_based has no effect without a runtime, as in fio".to_owned());
    }
    let has_hidden_pattern = |(job, _): &LocatedOptions| {
        let has_pattern =
            !job.contents.verify_pattern.is_empty() || !job.contents.buffer_pattern.is_empty();
        has_pattern && job.verify == VerifyMode::On && !job.contents.verifies_pattern
    };
    if jobs.iter().any(has_hidden_pattern) {
        remarks.push(
            "blocks that are verified contain assay's stamps, not a pattern; verify=pattern checks \
             one"
                .to_owned(),
        );
    }
    if jobs.iter().any(|(job, _)| verification::is_never_read_back(job)) {
        remarks.push(
            "nothing is read back: the writes take all of the runtime, as in fio".to_owned(),
        );
    }
    if jobs
        .iter()
        .any(|(job, _)| job.rw.random && job.behaviour.distribution.has_sizeless_zone())
    {
        remarks.push(
            "random_distribution: a single zone without a size is the first block, as in fio 3.33; \
             100/100 is the whole range"
                .to_owned(),
        );
    }
    if jobs.iter().any(|(job, _)| job.behaviour.pre_reads && job.direct) {
        remarks.push(
            "pre_read has no effect with direct=1, which bypasses the page cache".to_owned(),
        );
    }
    let is_cached = |job: &FioOptions| !job.direct && job.engine != "null";
    if jobs.iter().any(|(job, _)| is_cached(job) && file_call(job).is_none()) {
        remarks.push(
            "direct=0, fio's default: I/O goes through the page cache; direct=1 measures the storage"
                .to_owned(),
        );
    }
    remarks
}

/// Joins a folder and a file name as fio does.
fn join_path(folder: Option<&String>, name: &str) -> PathBuf {
    match folder {
        Some(folder) => path_text::decode_path(folder).join(path_text::decode_path(name)),
        None => path_text::decode_path(name),
    }
}

/// Engine that maps its files.
const MMAP: &str = "mmap";

/// Engines by fio's names: the matching engine of assay, whether it blocks, and a note for the
/// user.
const ENGINES: &[(&str, EngineChoice, bool, &str)] = &[
    ("sync", EngineChoice::Threads, true, ""),
    ("psync", EngineChoice::Threads, true, ""),
    ("vsync", EngineChoice::Threads, true, "by preadv2 and pwritev2, without coalescing"),
    ("pvsync", EngineChoice::Threads, true, ""),
    ("pvsync2", EngineChoice::Threads, true, ""),
    (MMAP, EngineChoice::Threads, true, ""),
    (file_calls::CREATE, EngineChoice::Threads, true, ""),
    (file_calls::STAT, EngineChoice::Threads, true, ""),
    (file_calls::DELETE, EngineChoice::Threads, true, ""),
    ("libaio", EngineChoice::Libaio, false, ""),
    ("posixaio", EngineChoice::Libaio, false, "by the kernel's own asynchronous I/O"),
    ("io_uring", EngineChoice::IoUring, false, ""),
    ("null", EngineChoice::Null, false, ""),
];

const fn arrivals(poisson: bool) -> ArrivalProcess {
    if poisson { ArrivalProcess::Exponential } else { ArrivalProcess::Constant }
}
