//! Cases of a test: the phases with their iterations, as they are stored.

use std::collections::BTreeMap;

use assay_dialects::mdtest::layout::TreeSize;
use assay_dialects::mdtest::options::MdtestOptions;
use assay_dialects::mdtest::phase::MdtestPhase;
use assay_dialects::mdtest::result::PhaseResult;
use assay_kernels::storage::items::ItemFailure;
use assay_model::attribute::{Attribute, Attributes};
use assay_model::entry::MeasurementEntry;
use assay_model::failure::FailureReason as CaseFailure;
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::path_text;
use assay_model::workload::file_set::{
    FileAccess, FileLoad, FileOperation, FileOrder, FilePhase, FileStream, FileTest, FileTree,
    FileWorkload,
};
use assay_model::workload::storage::{SizeShare, StorageTiming};

use super::phase_outcome::PhaseOutcome;
use super::{MdtestStep, plan_steps};
use crate::failure::CommandFailure;
use crate::recording::Recording;
use crate::storage::job_tasks::JobTasks;
use crate::storage::{file_trees, series, volume};

/// Cases of a test.
pub(super) struct TestRecord<'o> {
    options: &'o MdtestOptions,
    job: &'o JobTasks,
    tasks: u32,
    /// Items of a task.
    items: u64,
    steps: &'o [MdtestStep],
    cases: BTreeMap<usize, CaseRecord>,
}

/// Iterations of a phase, which are one case.
#[derive(Default)]
struct CaseRecord {
    /// Outcome of each iteration with its intervals.
    outcomes: Vec<(FileOutcome, Vec<FileInterval>)>,
    /// mdtest's rate of each iteration.
    rates: Vec<f64>,
    /// Whether mdtest counts other operations than those of the outcome.
    is_counted_otherwise: bool,
    failure: Option<CaseFailure>,
}

impl<'o> TestRecord<'o> {
    pub(super) const fn new(
        (options, job): (&'o MdtestOptions, &'o JobTasks),
        (tasks, items): (u32, u64),
        steps: &'o [MdtestStep],
    ) -> Self {
        Self { options, job, tasks, items, steps, cases: BTreeMap::new() }
    }

    fn case_number(&self, step: MdtestStep) -> Option<usize> {
        self.steps.iter().position(|it| *it == step)
    }

    fn case(&mut self, step: MdtestStep) -> Option<&mut CaseRecord> {
        let number = self.case_number(step)?;
        Some(self.cases.entry(number).or_default())
    }

    /// Begins the kernel's counters of a phase, if they count the I/O of all tasks.
    pub(super) fn begin_counting(&self, recording: &Recording<'_>) {
        if let Some(step) = self.steps.first().filter(|_| self.job.are_on_this_host()) {
            let test = describe_test(self.options, *step);
            recording.begin_counting(volume::tree_places(&test.workload));
        }
    }

    pub(super) fn end_counting(
        &self,
        recording: &Recording<'_>,
        step: MdtestStep,
        intervals: &[FileInterval],
    ) {
        if let Some(number) = self.case_number(step).filter(|_| self.job.are_on_this_host()) {
            recording.end_counting(number, series::file_payload(intervals));
        }
    }

    /// Keeps an iteration of a phase.
    pub(super) fn add(
        &mut self,
        step: MdtestStep,
        outcome: PhaseOutcome,
        result: &PhaseResult,
    ) {
        let Some(case) = self.case(step) else { return };
        let counted = result.rate_per_s() * result.elapsed_s;
        let done = outcome.files.total.requested.count as f64;
        case.is_counted_otherwise |= (counted - done).abs() > 0.5;
        case.rates.push(result.rate_per_s());
        case.outcomes.push((outcome.files, outcome.intervals));
    }

    /// Keeps the failure of a phase; returns it for the user.
    pub(super) fn add_failure(
        &mut self,
        step: MdtestStep,
        (failure, failed_on): (&ItemFailure, Option<&str>),
    ) -> CommandFailure {
        if let Some(case) = self.case(step) {
            case.failure = Some(CaseFailure::FileOperationFailed {
                count: 1,
                operation: step.phase.operation().to_owned(),
                path: failure.path.display().to_string(),
                causes: vec![failure.source.to_string()],
            });
        }
        let phase = step.phase.title().to_lowercase();
        let what = match failed_on {
            Some(rank) => format!("{phase} failed on {rank}: {failure}"),
            None => format!("{phase} failed: {failure}"),
        };
        CommandFailure::measurement(what).with_cause(&failure.source).with_known_advice()
    }

    /// Stores all cases of the test. Nothing is measured now.
    pub(super) fn store(mut self, recording: &mut Recording<'_>) -> Result<(), CommandFailure> {
        let files =
            if self.options.shared_file { 1 } else { self.items * u64::from(self.tasks) };
        let dimensions = Attributes::from([
            (Attribute::Files, files.into()),
            (Attribute::Threads, self.tasks.into()),
        ]);
        for (number, case) in std::mem::take(&mut self.cases) {
            let workload = describe_test(self.options, self.steps[number]).workload;
            let mut entries = case.to_entries(&workload);
            entries.extend(self.job.to_facts());
            let entries = entries.into_iter().map(|it| it.with_dimensions(&dimensions));
            let is_idle = case.failure.is_none() && case.operations() == 0;
            match is_idle {
                true => recording.record_idle_case(number, [], &[])?,
                false => recording.record_case(number, entries, &[], case.failure)?,
            }
        }
        Ok(())
    }
}

impl CaseRecord {
    fn operations(&self) -> u64 {
        self.outcomes.iter().map(|(outcome, _)| outcome.total.requested.count).sum()
    }

    /// Returns the counts of all iterations, and the iterations as samples; of a single one, its
    /// stretches.
    fn to_entries(&self, workload: &FileWorkload) -> Vec<MeasurementEntry> {
        let Some((first, others)) = self.outcomes.split_first() else { return vec![] };
        let mut all = first.0.clone();
        for (outcome, _) in others {
            all.total.merge(&outcome.total);
            all.elapsed_s += outcome.elapsed_s;
        }
        // The parts of the operation are not results.
        let is_whole = |entry: &MeasurementEntry| match entry {
            MeasurementEntry::Measured(key, _) => {
                !key.dimensions.contains_key(&Attribute::Operation)
            }
            _ => true,
        };
        let mut entries: Vec<MeasurementEntry> =
            all.to_entries(&[]).into_iter().filter(is_whole).collect();
        entries.extend(volume::tree_workload_facts(workload));
        let anchors = workload.trees.iter().map(|tree| tree.anchor.as_path());
        entries.extend(volume::memory_doubt(anchors));
        if others.is_empty() && !self.is_counted_otherwise {
            let mut divided = workload.clone();
            divided.timing.duration_s = Some(all.elapsed_s);
            entries.extend(series::file_samples(&divided, &first.0, &first.1));
            return entries;
        }
        for (rate, (_, intervals)) in self.rates.iter().zip(&self.outcomes) {
            entries.push(MeasurementEntry::sample("rate", *rate));
            for pass in series::join_stretches(intervals, f64::INFINITY) {
                entries.push(MeasurementEntry::sample("latency", pass.median_service_s()));
                if pass.bytes_per_s() > 0.0 {
                    entries.push(MeasurementEntry::sample("bandwidth", pass.bytes_per_s()));
                }
            }
        }
        entries
    }
}

/// Returns the phases as file phases, which name the folders.
pub(super) fn describe_phases(options: &MdtestOptions) -> Vec<FilePhase> {
    let steps = plan_steps(options).into_iter();
    steps.map(|step| file_trees::to_phase(&describe_test(options, step).workload)).collect()
}

/// Returns a phase as a test on file trees.
pub(super) fn describe_test(options: &MdtestOptions, step: MdtestStep) -> FileTest {
    let size = TreeSize::from_options(options);
    let name = step.phase.operation().to_owned();
    let trees = options.paths.iter().map(|path| describe_tree(options, path, step.phase, size));
    let stream = FileStream {
        name: name.clone(),
        tree: 0,
        operation: counted_operation(step.phase),
        threads: step.tasks,
        order: if options.is_random() { FileOrder::Random } else { FileOrder::Once },
        access: FileAccess::Sequential,
        read_share: None,
        sizes: vec![SizeShare::single(options.write_bytes.max(options.read_bytes))],
        stop_after: None,
        rate_share: 1.0,
        of_directories: !step.phase.is_of_files(),
    };
    let workload = FileWorkload {
        trees: trees.collect(),
        streams: vec![stream],
        in_turn: false,
        load: FileLoad::Closed,
        timing: StorageTiming::new(None),
        compressible: 0.0,
        seed: options.data_seed.cast_unsigned(),
    };
    FileTest { name, before: None, workload }
}

/// Describes the tree in the first test folder of a path.
fn describe_tree(
    options: &MdtestOptions,
    path: &str,
    phase: MdtestPhase,
    size: Option<TreeSize>,
) -> FileTree {
    let first = size.and_then(|it| it.test_folders(0).next()).unwrap_or_default();
    let items = size.map_or(0, |it| it.items_per_directory);
    FileTree {
        name: path.to_owned(),
        anchor: path_text::decode_path(path).join(first),
        depth: options.depth,
        width: options.branching.into(),
        files: if phase.is_of_files() { items } else { 0 },
        files_on_all_levels: !options.leaf_only,
        sizes: vec![SizeShare::single(options.write_bytes)],
        most_files: None,
        used_files: None,
        direct: false,
        sync: false,
        sync_at_close: options.sync_file,
        part: None,
    }
}

/// Returns the operation of a phase; a renamed directory has another attribute, its name.
const fn counted_operation(phase: MdtestPhase) -> FileOperation {
    match phase {
        MdtestPhase::DirectoryCreation | MdtestPhase::TreeCreation => FileOperation::Mkdir,
        MdtestPhase::DirectoryQuery | MdtestPhase::FileQuery => FileOperation::Getattr,
        MdtestPhase::DirectoryRename => FileOperation::Setattr,
        MdtestPhase::DirectoryRemoval | MdtestPhase::TreeRemoval => FileOperation::Rmdir,
        MdtestPhase::FileCreation => FileOperation::Create,
        MdtestPhase::FileRead => FileOperation::Read,
        MdtestPhase::FileRemoval => FileOperation::Delete,
    }
}
