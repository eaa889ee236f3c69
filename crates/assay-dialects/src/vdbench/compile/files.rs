//! Compiles file-system runs: their trees, the format run that prepares them, and their workloads.

use std::collections::{BTreeSet, HashMap};

use assay_model::path_text;
use assay_model::workload::file_set::{
    FileAccess, FileLoad, FileOperation, FileOrder, FilePhase, FileStream, FileTree,
    FileWorkload, StopAfter,
};
use assay_model::workload::storage::{RateRounding, StorageTiming, Verify, WriteSync};

use super::super::attributes::{OpenFlags, TransferSizes};
use super::super::definitions::{FileTreeDefinition, FileWorkloadDefinition};
use super::super::runs::{self, Rate, RunDefinition, TreeFormat};
use super::super::values::ParameterValue;
use super::super::{FORMAT_PREFIX, RateLabel, ResourceCounts, RunLabel, RunParameters};
use super::file_hosts::{PlacedTrees, WorkloadTrees, format_tree};
use super::phase::size_shares;
use super::{Combination, Compiler, loop_labels, phase_timing};

/// Default number of threads that create trees (without `fwd=format`).
const FORMAT_THREADS: u32 = 8;
/// Bytes of one write while creating trees.
const FORMAT_BYTES: u64 = 128 << 10;

impl Compiler<'_, '_> {
    /// Adds one combination of a run's loops at every rate.
    pub(super) fn file_combination(
        &mut self,
        run: &RunDefinition,
        values: &Combination<'_>,
        first: bool,
    ) -> Option<()> {
        let (trees, workloads) = self.select_trees(run, values)?;
        let trees = &trees;
        let loops = loop_labels(values);
        let needs_format = |first: bool| first || !run.format.once;
        if run.format.only || workloads.is_empty() {
            if needs_format(first) {
                self.add_tree_format(run, trees, run.format)?;
            }
            return Some(());
        }
        let streams = self.file_streams(run, &workloads)?;
        for (rate_index, rate) in run.file_rates.iter().enumerate() {
            // Several rates form a loop, and each iteration of a loop begins with the format.
            if needs_format(first && rate_index == 0) {
                self.add_tree_format(run, trees, run.format)?;
            }
            let loops = runs::with_rate(&loops, ("fwdrate", &run.file_rates), *rate);
            let (load, label) = match *rate {
                Rate::Max => (FileLoad::Closed, RateLabel::UncontrolledMax),
                Rate::PerSecond(per_s) => {
                    let load = FileLoad::Open { per_s, arrivals: run.arrivals };
                    (load, RateLabel::PerSecond(per_s))
                }
                Rate::Percent(percent) => {
                    let previous = self.execution.runs.len().checked_sub(1);
                    let Some(previous) = previous.filter(|index| !self.is_format(*index))
                    else {
                        let message = "a percentage needs a previous run";
                        self.lines
                            .report_error("V160", run.name.spot, message)
                            .add_help("run it at fwdrate=max first");
                        return None;
                    };
                    (percent_file_load(previous, percent, run), RateLabel::Percent(percent))
                }
                Rate::Curve => {
                    self.add_file_curve(run, trees, &streams, &loops);
                    continue;
                }
            };
            self.add_file_phase(run, (trees, &streams), &loops, load, label);
        }
        Some(())
    }

    fn add_file_curve(
        &mut self,
        run: &RunDefinition,
        trees: &PlacedTrees,
        streams: &[FileStream],
        loops: &[(String, String)],
    ) {
        let max_phase = self.execution.runs.len();
        let trees_and_streams = (trees, streams);
        self.add_file_phase(
            run,
            trees_and_streams,
            loops,
            FileLoad::Closed,
            RateLabel::UncontrolledCurve,
        );
        for percent in &run.curve {
            let load = percent_file_load(max_phase, *percent, run);
            self.add_file_phase(
                run,
                trees_and_streams,
                loops,
                load,
                RateLabel::Percent(*percent),
            );
            let label = self.execution.runs.last_mut().expect("it was just added");
            label.stop_curve_ms = run.stop_curve_ms;
            label.name = format!("{}_({}%)", run.name.text, percent.trunc());
        }
    }

    fn is_format(&self, run: usize) -> bool {
        self.execution.runs[run].is_format()
    }

    fn add_file_phase(
        &mut self,
        run: &RunDefinition,
        (trees, streams): (&PlacedTrees, &[FileStream]),
        loops: &[(String, String)],
        load: FileLoad,
        rate: RateLabel,
    ) {
        let workload = FileWorkload {
            trees: trees.list.clone(),
            streams: streams.to_vec(),
            in_turn: false,
            load,
            timing: phase_timing(run, 0),
            compressible: 1.0 - 1.0 / self.definitions.general.compression,
            seed: self.input.seed,
        };
        self.add_file_run(run, run.name.text.clone(), (workload, &trees.hosts), loops, rate);
    }

    fn add_file_run(
        &mut self,
        run: &RunDefinition,
        name: String,
        (workload, hosts): (FileWorkload, &[usize]),
        loops: &[(String, String)],
        rate: RateLabel,
    ) {
        let file_systems: BTreeSet<&str> =
            workload.trees.iter().map(|tree| tree.name.as_str()).collect();
        let file_systems = file_systems.len();
        let threads: u64 =
            workload.streams.iter().map(|stream| u64::from(stream.threads)).sum();
        let is_first = self.execution.runs.is_empty();
        self.execution.runs.push(RunLabel {
            number: self.execution.runs.len(),
            name: name.clone(),
            rate,
            elapsed_s: workload.timing.duration_s.unwrap_or(0.0),
            warmup_s: workload.timing.warmup_s,
            interval_s: run.interval_s,
            loops: loops.to_vec(),
            stop_curve_ms: None,
            shares_observed: false,
            limits: run.limits(0),
            commands: run.commands.clone(),
            parameters: RunParameters {
                threads: Some(threads as f64),
                compression: Some(self.definitions.general.compression),
                dedup_ratio: None,
                ..RunParameters::default()
            },
            resources: ResourceCounts {
                storages: file_systems,
                workloads: workload.streams.len(),
                outstanding: threads,
            },
        });
        let pause_before_s = if is_first { 0.0 } else { run.pause_s };
        self.execution.host_indices.extend(self.input.is_apart.then(|| hosts.to_vec()));
        self.execution.files.phases.push(FilePhase { name, pause_before_s, workload });
    }

    /// Adds the format run, which removes and creates the trees.
    fn add_tree_format(
        &mut self,
        run: &RunDefinition,
        trees: &PlacedTrees,
        format: TreeFormat,
    ) -> Option<()> {
        self.check_shared_format(run, trees, format)?;
        let settings =
            self.definitions.format.clone().unwrap_or_else(|| FileWorkloadDefinition {
                threads: FORMAT_THREADS,
                sizes: TransferSizes::Shares(vec![(FORMAT_BYTES, 100.0)]),
                ..FileWorkloadDefinition::default()
            });
        let steps = [
            (format.removes, FileOperation::Delete),
            (format.removes, FileOperation::Rmdir),
            (format.creates_directories, FileOperation::Mkdir),
            (format.creates_files, FileOperation::Create),
        ];
        let mut streams = Vec::new();
        for (_, operation) in steps.into_iter().filter(|(is_enabled, _)| *is_enabled) {
            for tree in 0..trees.list.len() {
                streams.push(FileStream {
                    name: "format".into(),
                    tree,
                    operation,
                    threads: settings.threads,
                    order: FileOrder::Once,
                    access: FileAccess::Sequential,
                    read_share: None,
                    sizes: size_shares(&settings.sizes),
                    stop_after: None,
                    rate_share: 1.0,
                    of_directories: false,
                });
            }
        }
        if streams.is_empty() {
            return Some(());
        }
        let timing = StorageTiming { interval_s: run.interval_s, ..StorageTiming::new(None) };
        let workload = FileWorkload {
            trees: trees.list.iter().map(|tree| format_tree(tree, format)).collect(),
            streams,
            in_turn: true,
            load: FileLoad::Closed,
            timing,
            compressible: 1.0 - 1.0 / self.definitions.general.compression,
            seed: self.input.seed,
        };
        let name = format!("{FORMAT_PREFIX}{}", run.name.text);
        self.add_file_run(run, name, (workload, &trees.hosts), &[], RateLabel::UncontrolledMax);
        Some(())
    }

    /// Returns the trees of a run, and its workloads with the indices of their trees.
    fn select_trees(
        &mut self,
        run: &RunDefinition,
        values: &Combination<'_>,
    ) -> Option<(PlacedTrees, WorkloadTrees)> {
        if self.verify() != Verify::Off {
            let message = "data verification of file-system workloads is not supported";
            self.lines
                .report_error("V114", run.name.spot, message)
                .advise("remove -v and validate=", "checks it");
            return None;
        }
        let is_format = |name: &str| name.eq_ignore_ascii_case("format");
        let names: Vec<_> =
            run.file_workloads.iter().filter(|name| !is_format(&name.text)).cloned().collect();
        let selected = if names.is_empty() && run.file_workloads.is_empty() {
            (0..self.definitions.file_workloads.len()).collect()
        } else {
            self.file_workloads.select(self.lines, "file-system workload (fwd)", &names)?
        };
        let mut workloads: Vec<FileWorkloadDefinition> = selected
            .into_iter()
            .map(|index| self.definitions.file_workloads[index].clone())
            .collect();
        let only_format = workloads.is_empty();
        if only_format {
            workloads.push(self.definitions.format.clone().unwrap_or_default());
        }
        let mut used: Vec<usize> = Vec::new();
        let mut positions: HashMap<usize, usize> = HashMap::new();
        let mut workload_trees = Vec::new();
        let mut hosts = Vec::new();
        for mut workload in workloads {
            for (key, parsed) in values {
                apply_loop_value(&mut workload, key, parsed);
            }
            hosts.push(self.select_file_hosts(&workload)?);
            let systems = if workload.file_systems.is_empty() {
                (0..self.definitions.file_systems.len()).collect()
            } else {
                let kind = "file system (fsd)";
                self.file_systems.select(self.lines, kind, &workload.file_systems)?
            };
            let mut tree_indices = Vec::new();
            for system in systems {
                tree_indices.push(*positions.entry(system).or_insert_with(|| {
                    used.push(system);
                    used.len() - 1
                }));
            }
            workload_trees.push((workload, tree_indices));
        }
        let workload_flags = workload_trees.iter().find_map(|(workload, _)| workload.flags);
        let flags = run.flags.or(workload_flags);
        let trees = used
            .iter()
            .map(|index| self.compile_tree(flags, values, *index))
            .collect::<Option<Vec<_>>>()?;
        let trees = match self.input.is_apart {
            true => self.place_trees(run, (&used, trees), (&mut workload_trees, &hosts))?,
            false => PlacedTrees { list: trees, hosts: Vec::new() },
        };
        Some((trees, if only_format { Vec::new() } else { workload_trees }))
    }

    fn compile_tree(
        &mut self,
        given_flags: Option<OpenFlags>,
        values: &Combination<'_>,
        index: usize,
    ) -> Option<FileTree> {
        let mut system = self.definitions.file_systems[index].clone();
        for (key, parsed) in values {
            apply_tree_loop_value(&mut system, key, parsed.number_or_zero());
        }
        let spot = system.name.spot;
        let Some(anchor) = &system.anchor else {
            let message = format!("`{}` has no anchor", system.name.text);
            self.lines
                .report_error("V151", spot, message)
                .advise("add anchor=/path/to/folder", "stops");
            return None;
        };
        let flags = given_flags.or(system.flags);
        let direct = flags.is_some_and(|flags| flags.direct);
        let is_sector_multiple = |bytes: u64| bytes.is_multiple_of(512);
        if direct
            && !system.sizes.iter().all(|size| {
                is_sector_multiple(size.min_bytes) && is_sector_multiple(size.step_bytes)
            })
        {
            let message = format!(
                "`{}` has o_direct and files whose sizes are not multiples of 512",
                system.name.text
            );
            self.lines
                .report_error("V154", spot, message)
                .add_help("round sizes=, or remove o_direct");
            return None;
        }
        let mut tree = FileTree {
            name: system.name.text.clone(),
            anchor: path_text::decode_path(&anchor.text),
            depth: system.depth as u32,
            width: system.width as u64,
            files: system.files as u64,
            files_on_all_levels: system.files_on_all_levels,
            sizes: system.sizes.clone(),
            most_files: None,
            used_files: None,
            direct,
            sync: flags.is_some_and(|flags| flags.sync != WriteSync::None),
            sync_at_close: flags.is_some_and(|flags| flags.sync_at_end),
            part: None,
        };
        self.check_path_length(&system, &tree)?;
        let files_in = |bytes: f64| ((bytes / tree.mean_file_bytes()) as u64).max(1);
        (tree.most_files, tree.used_files) =
            (system.total_bytes.map(files_in), system.used_bytes.map(files_in));
        if tree.file_count().zip(tree.directories()).is_none_or(|(files, folders)| {
            /// Maximum number of files or directories; the kernel module has the same limit.
            const MAX_ENTRIES: u64 = 200_000_000;
            files > MAX_ENTRIES || folders > MAX_ENTRIES
        }) {
            let message = format!("`{}` has more than 200,000,000 files", system.name.text);
            self.lines
                .report_error("V157", spot, message)
                .add_help("lower depth=, width= or files=");
            return None;
        }
        Some(tree)
    }

    /// Checks that the paths of the deepest files do not exceed the maximum length of a path.
    fn check_path_length(
        &mut self,
        system: &FileTreeDefinition,
        tree: &FileTree,
    ) -> Option<()> {
        /// Maximum length of a path in Linux, with the terminating zero.
        const MAX_PATH_BYTES: usize = 4096;
        let folders = "/vdb.1_1.dir".len().saturating_mul(tree.depth as usize);
        let bytes = folders.saturating_add(system.anchor.as_ref()?.text.len());
        if bytes.saturating_add("/vdb_f0001.file".len()) < MAX_PATH_BYTES {
            return Some(());
        }
        let message = format!(
            "the files of `{}` lie too deep: their paths would have more than {MAX_PATH_BYTES} bytes",
            system.name.text
        );
        self.lines.report_error("V157", system.name.spot, message).add_help("lower depth=");
        None
    }

    /// Returns one stream per workload, tree, host and operation.
    fn file_streams(
        &mut self,
        run: &RunDefinition,
        workloads: &[(FileWorkloadDefinition, Vec<usize>)],
    ) -> Option<Vec<FileStream>> {
        let shares = self.file_shares(run, workloads)?;
        let mut streams = Vec::new();
        for ((workload, trees), share) in workloads.iter().zip(shares) {
            let parts = (trees.len() * workload.operations.len()).max(1);
            for &tree in trees {
                for &operation in &workload.operations {
                    let is_read_or_write =
                        matches!(operation, FileOperation::Read | FileOperation::Write);
                    streams.push(FileStream {
                        name: workload.name.clone(),
                        tree,
                        operation,
                        // Threads are divided among the parts, at least one each.
                        threads: (workload.threads / parts as u32).max(1),
                        order: workload.order,
                        access: workload.access,
                        read_share: workload
                            .read_percent
                            .filter(|_| is_read_or_write)
                            .map(|percent| percent / 100.0),
                        sizes: size_shares(&workload.sizes),
                        // Only a format writes the files it creates (OpCreate of Vdbench).
                        stop_after: match operation {
                            FileOperation::Create => Some(StopAfter::Bytes(0)),
                            _ => workload.stop_after,
                        },
                        rate_share: share / parts as f64,
                        of_directories: false,
                    });
                }
            }
        }
        Some(streams)
    }

    fn file_shares(
        &mut self,
        run: &RunDefinition,
        workloads: &[(FileWorkloadDefinition, Vec<usize>)],
    ) -> Option<Vec<f64>> {
        let sum: f64 = workloads.iter().filter_map(|(workload, _)| workload.skew_percent).sum();
        let unset =
            workloads.iter().filter(|(workload, _)| workload.skew_percent.is_none()).count();
        self.check_shares(run, (sum, unset), "fwd")?;
        let is_reported =
            self.lines.diagnostics.iter().any(|diagnostic| diagnostic.code == "V164");
        if sum > 0.0 && run.file_rates.contains(&Rate::Max) && !is_reported {
            let message = format!(
                "`{}` runs at fwdrate=max: the shares (skew) divide the threads and are not enforced",
                run.name.text
            );
            self.lines.report_warning("V164", run.name.spot, message).advise(
                "set a numeric rate to enforce the shares",
                "holds the faster workloads back",
            );
        }
        let share = |(workload, _): &(FileWorkloadDefinition, Vec<usize>)| {
            workload.skew_percent.unwrap_or((100.0 - sum) / unset as f64) / 100.0
        };
        Some(workloads.iter().map(share).collect())
    }
}

fn percent_file_load(phase: usize, percent: f64, run: &RunDefinition) -> FileLoad {
    let (percent, arrivals) = (percent.trunc(), run.arrivals);
    FileLoad::ShareOf { phase, percent, rounding: RateRounding::Vdbench, arrivals }
}

/// Sets a workload's parameter to the value of a loop; the parser has checked the value.
fn apply_loop_value(workload: &mut FileWorkloadDefinition, key: &str, parsed: &ParameterValue) {
    let number = parsed.number_or_zero();
    match key {
        "threads" => workload.threads = number as u32,
        "xfersize" => workload.sizes = TransferSizes::Shares(vec![(number as u64, 100.0)]),
        "rdpct" => workload.read_percent = Some(number),
        "operations" => {
            let lower = parsed.text.to_ascii_lowercase();
            let operation =
                FileOperation::ALL.into_iter().find(|operation| operation.name() == lower);
            workload.operations = operation.into_iter().collect();
        }
        _ => {}
    }
}

fn apply_tree_loop_value(system: &mut FileTreeDefinition, key: &str, number: f64) {
    match key {
        "depth" => system.depth = number.floor(),
        "width" => system.width = number.floor(),
        "files" => system.files = number.floor(),
        "totalsize" => system.total_bytes = Some(number),
        "sizes" => {
            let bytes = number as u64;
            for size in &mut system.sizes {
                (size.min_bytes, size.max_bytes, size.step_bytes) = (bytes, bytes, bytes);
            }
        }
        _ => {}
    }
}
