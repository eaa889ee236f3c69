//! Compiles Vdbench definitions into a plan: each run with every combination of its loop values and
//! every rate.
//!
//! Loops nest in the order of the file; rates are innermost.

use std::collections::BTreeSet;

use assay_model::path_text;
use assay_model::seed;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::{
    RateRounding, StorageLoad, StoragePhase, StoragePlan, StorageTiming, Verify,
};

use super::definitions::Definitions;
use super::lines::Lines;
use super::runs::{self, Rate, RunDefinition, TreeFormat};
use super::values::ParameterValue;
use super::{RateLabel, RunLabel, UsedHost, VdbenchEnv, VdbenchExecution, VdbenchInput};

mod concatenation;
mod duplicates;
mod file_hosts;
mod files;
mod format;
mod phase;
mod select;
mod targets;

use select::NameIndex;
pub use targets::host_path;

/// Maximum number of runs; at one second each they would take a day.
const MAX_RUNS: usize = 100_000;

/// Values of the loops of one run, as key and value.
type Combination<'a> = Vec<(&'static str, &'a ParameterValue)>;

/// Returns the loops of a run with their values as the user gave them.
fn loop_labels(values: &Combination<'_>) -> Vec<(String, String)> {
    values.iter().map(|(key, parsed)| (runs::loop_label(key), parsed.text.clone())).collect()
}

/// Builds the plan from the definitions.
pub(super) struct Compiler<'a, 'b> {
    input: &'a VdbenchInput,
    definitions: &'a Definitions,
    lines: &'a mut Lines,
    env: &'a mut VdbenchEnv<'b>,
    storages: NameIndex,
    workloads: NameIndex,
    hosts: NameIndex,
    file_systems: NameIndex,
    file_workloads: NameIndex,
    used_hosts: BTreeSet<usize>,
    execution: VdbenchExecution,
}

impl<'a, 'b> Compiler<'a, 'b> {
    pub(super) fn new(
        input: &'a VdbenchInput,
        definitions: &'a Definitions,
        lines: &'a mut Lines,
        env: &'a mut VdbenchEnv<'b>,
    ) -> Self {
        let execution = VdbenchExecution {
            plan: StoragePlan { phases: Vec::new() },
            runs: Vec::new(),
            files: FilePlan::default(),
            create_anchors: definitions.general.create_anchors,
            commands: definitions.general.commands.clone(),
            monitor: definitions.general.monitor.as_deref().map(path_text::decode_path),
            repetition: definitions.general.loop_limit,
            hosts: Vec::new(),
            host_indices: Vec::new(),
            data_errors: definitions.general.data_errors,
            notes: Vec::new(),
            paths: Vec::new(),
        };
        Self {
            input,
            definitions,
            lines,
            env,
            storages: NameIndex::new(
                definitions.storages.iter().map(|storage| storage.name.text.as_str()),
            ),
            workloads: NameIndex::new(
                definitions.workloads.iter().map(|workload| workload.name.as_str()),
            ),
            hosts: NameIndex::new(definitions.hosts.iter().map(|host| host.label.as_str())),
            file_systems: NameIndex::new(
                definitions.file_systems.iter().map(|system| system.name.text.as_str()),
            ),
            file_workloads: NameIndex::new(
                definitions.file_workloads.iter().map(|workload| workload.name.as_str()),
            ),
            used_hosts: BTreeSet::new(),
            execution,
        }
    }

    pub(super) fn compile(mut self) -> VdbenchExecution {
        let definitions = self.definitions;
        let lun_paths =
            definitions.storages.iter().flat_map(|storage| &storage.luns).map(|(lun, _)| lun);
        let anchors =
            definitions.file_systems.iter().filter_map(|system| system.anchor.as_ref());
        let set_paths = lun_paths.chain(anchors).filter(|path| !path.text.is_empty());
        let paths = set_paths
            .map(|path| (path_text::decode_path(&path.text), self.lines.location(path.spot)));
        self.execution.paths = paths.collect();
        let is_raw = !definitions.storages.is_empty() || !definitions.workloads.is_empty();
        if let Some(spot) = definitions.first_file_definition.filter(|_| is_raw) {
            let message = "raw and file-system definitions are mixed";
            self.lines
                .report_error("V140", spot, message)
                .advise("split them into two files", "stops");
            return self.execution;
        }
        if !self.input.is_apart {
            self.check_nested_anchors((0..definitions.file_systems.len()).collect());
        }
        if definitions.runs.is_empty() {
            let severity = super::DiagnosticSeverity::Error;
            self.lines
                .report(severity, "V131", None, "the file defines no run (rd)")
                .advise("add rd=run1,wd=…,iorate=max,elapsed=60,interval=1", "stops");
        }
        for run in &definitions.runs {
            self.compile_run(run);
        }
        self.add_duplicates();
        if definitions.general.formats_storage && is_raw {
            self.add_storage_format();
        }
        // Each run gets its own seed, so that it reads no blocks cached by another run.
        for (run_number, run_seed) in (0..).zip(self.execution.seeds()) {
            *run_seed = seed::derive_seed(self.input.seed, run_number);
        }
        self.execution.hosts = self.collect_used_hosts();
        let used: Vec<usize> = self.used_hosts.into_iter().collect();
        for host_index in self.execution.host_indices.iter_mut().flatten() {
            *host_index =
                used.binary_search(host_index).expect("it is noted before it is placed");
        }
        self.execution
    }

    /// Returns the verification mode; the command line overrides the files.
    const fn verify(&self) -> Verify {
        match self.input.verify {
            Verify::Off => self.definitions.general.verify,
            given => given,
        }
    }

    fn compile_run(&mut self, run: &RunDefinition) {
        let mut run = run.clone();
        run.elapsed_s = self.input.elapsed_s.unwrap_or(run.elapsed_s);
        run.interval_s = self.input.interval_s.unwrap_or(run.interval_s);
        run.warmup_s = self.input.warmup_s.unwrap_or(run.warmup_s);
        run.format = self.input.format.map_or(run.format, TreeFormat::from_option);
        if !self.check_run(&run) {
            return;
        }
        let combinations = run.loops.iter().try_fold(1usize, |product, loop_values| {
            product.checked_mul(loop_values.values.len()).filter(|product| *product <= MAX_RUNS)
        });
        let points = run.rates.len() + run.file_rates.len() + run.curve.len() + 1;
        let Some(combinations) =
            combinations.filter(|n| n * points + self.execution.runs.len() <= MAX_RUNS)
        else {
            let message = format!("`{}` makes more than {MAX_RUNS} runs", run.name.text);
            self.lines
                .report_error("V165", run.name.spot, message)
                .add_help("shorten its loops");
            return;
        };
        for number in 0..combinations {
            let values = nth_combination(&run, number);
            // An error in the first combination would repeat in all others.
            let added = match self.definitions.first_file_definition {
                None => self.storage_combination(&run, &values),
                Some(_) => self.file_combination(&run, &values, number == 0),
            };
            if added.is_none() {
                return;
            }
        }
    }

    /// Checks the rates and times of a run and reports errors; returns whether all are valid.
    fn check_run(&mut self, run: &RunDefinition) -> bool {
        let mut problems = Vec::new();
        if self.definitions.first_file_definition.is_some() {
            if run.file_rates.is_empty() && !run.format.only {
                problems.push((
                    "V163",
                    "has no rate of operations".to_owned(),
                    "add fwdrate=max",
                ));
            }
        } else if run.rates.is_empty() {
            problems.push(("V160", "has no I/O rate".to_owned(), "add iorate=max"));
        }
        let (elapsed, interval, warmup) = (run.elapsed_s, run.interval_s, run.warmup_s);
        if interval <= 0.0 || elapsed < 2.0 * interval {
            let problem = format!("lasts {elapsed} s, less than two intervals of {interval} s");
            problems.push(("V161", problem, "lengthen elapsed or shorten interval"));
        } else {
            let is_multiple = |time: f64| (time / interval).fract() == 0.0;
            if !is_multiple(elapsed) || !is_multiple(warmup) {
                let problem = format!(
                    "has elapsed={elapsed} and warmup={warmup}, which are not both whole \
                     numbers of intervals of {interval} s"
                );
                problems.push(("V162", problem, "make both multiples of interval"));
            }
        }
        for (code, problem, help) in &problems {
            let message = format!("the run `{}` {problem}", run.name.text);
            self.lines.report_error(code, run.name.spot, message).advise(*help, "stops");
        }
        problems.is_empty()
    }

    /// Checks that the shares of a run's workloads add up to 100 %, or to less if some have none.
    fn check_shares(
        &mut self,
        run: &RunDefinition,
        (sum, unset): (f64, usize),
        section: &str,
    ) -> Option<()> {
        let remainder = 100.0 - sum;
        // Vdbench's tolerance.
        let is_valid = if unset > 0 { remainder > 0.0 } else { remainder.abs() <= 0.01 };
        if is_valid {
            return Some(());
        }
        let message = format!(
            "the shares (skew) of the workloads of `{}` add up to {sum} %, not 100 %",
            run.name.text
        );
        self.lines
            .report_error("V164", run.name.spot, message)
            .advise(format!("correct skew= of its {section}"), "stops");
        None
    }

    fn storage_combination(
        &mut self,
        run: &RunDefinition,
        values: &Combination<'_>,
    ) -> Option<()> {
        let loops = loop_labels(values);
        for rate in &run.rates {
            let loops = runs::with_rate(&loops, ("iorate", &run.rates), *rate);
            match *rate {
                Rate::Max => {
                    self.add_phase(
                        run,
                        values,
                        &loops,
                        StorageLoad::Closed,
                        RateLabel::UncontrolledMax,
                    )?;
                }
                Rate::PerSecond(rate_per_s) => {
                    let load = StorageLoad::Open { rate_per_s, arrivals: run.arrivals };
                    self.add_phase(
                        run,
                        values,
                        &loops,
                        load,
                        RateLabel::PerSecond(rate_per_s),
                    )?;
                }
                Rate::Percent(percent) => {
                    let Some(previous) = self.execution.runs.len().checked_sub(1) else {
                        let message = format!(
                            "{percent} % of the previous run, but this is the first run"
                        );
                        self.lines
                            .report_error("V160", run.name.spot, message)
                            .add_help("run it at iorate=max first");
                        return None;
                    };
                    let load = percent_load(previous, percent, run);
                    self.add_phase(run, values, &loops, load, RateLabel::Percent(percent))?;
                }
                Rate::Curve => self.add_curve(run, values, &loops)?,
            }
        }
        Some(())
    }

    fn add_curve(
        &mut self,
        run: &RunDefinition,
        values: &Combination<'_>,
        loops: &[(String, String)],
    ) -> Option<()> {
        let max_phase = self.execution.runs.len();
        self.add_phase(run, values, loops, StorageLoad::Closed, RateLabel::UncontrolledCurve)?;
        for percent in &run.curve {
            let load = percent_load(max_phase, *percent, run);
            self.add_phase(run, values, loops, load, RateLabel::Percent(*percent))?;
            let label = self.execution.runs.last_mut().expect("it was just added");
            label.stop_curve_ms = run.stop_curve_ms;
            label.name = format!("{}_({}%)", run.name.text, percent.trunc());
            let phase = self.execution.plan.phases.last_mut().expect("it was just added");
            phase.name.clone_from(&label.name);
        }
        Some(())
    }

    /// Adds one phase and its label.
    fn add_phase(
        &mut self,
        run: &RunDefinition,
        values: &Combination<'_>,
        loops: &[(String, String)],
        load: StorageLoad,
        mut rate: RateLabel,
    ) -> Option<()> {
        let built = self.build_phase(run, values, load)?;
        if built.is_balanced() {
            rate = match rate {
                RateLabel::UncontrolledMax => RateLabel::ControlledMax,
                RateLabel::UncontrolledCurve => RateLabel::ControlledCurve,
                other => other,
            };
        }
        let is_first = self.execution.runs.is_empty();
        self.execution.host_indices.extend(self.input.is_apart.then_some(built.hosts));
        self.execution.runs.push(RunLabel {
            number: self.execution.runs.len(),
            name: run.name.text.clone(),
            rate,
            elapsed_s: run.elapsed_s,
            warmup_s: run.warmup_s,
            interval_s: run.interval_s,
            loops: loops.to_vec(),
            stop_curve_ms: None,
            shares_observed: !built.has_shares && built.resources.workloads > 1,
            limits: run.limits(built.parameters.storage_bytes),
            commands: run.commands.clone(),
            parameters: built.parameters,
            resources: built.resources,
        });
        self.execution.plan.phases.push(StoragePhase {
            name: run.name.text.clone(),
            loops: loops.to_vec(),
            workload: built.workload,
            pause_before_s: if is_first { 0.0 } else { run.pause_s },
        });
        Some(())
    }

    fn collect_used_hosts(&self) -> Vec<UsedHost> {
        if self.definitions.hosts.is_empty() {
            let localhost = "localhost".to_owned();
            let (label, system) = (localhost.clone(), localhost);
            return vec![UsedHost { label, system, user: None, location: None }];
        }
        let used = |index: &usize| {
            let host = &self.definitions.hosts[*index];
            UsedHost {
                label: host.label.clone(),
                system: host.system.clone(),
                user: host.user.clone(),
                location: Some(self.lines.location(host.spot)),
            }
        };
        self.used_hosts.iter().map(used).collect()
    }
}

fn percent_load(phase: usize, percent: f64, run: &RunDefinition) -> StorageLoad {
    // Vdbench truncates the percentage.
    let percent = percent.trunc();
    StorageLoad::ShareOf {
        phase,
        percent,
        rounding: RateRounding::Vdbench,
        arrivals: run.arrivals,
    }
}

/// Returns the values of combination `number`; the last loop changes fastest.
fn nth_combination(run: &RunDefinition, mut number: usize) -> Combination<'_> {
    let mut values: Combination<'_> = Vec::with_capacity(run.loops.len());
    for run_loop in run.loops.iter().rev() {
        values.push((run_loop.key, &run_loop.values[number % run_loop.values.len()]));
        number /= run_loop.values.len();
    }
    values.reverse();
    values
}

/// Returns the times and limits of a run.
fn phase_timing(run: &RunDefinition, total_bytes: u64) -> StorageTiming {
    let stop_after_bytes = run.max_data.map(|limit| runs::data_limit_bytes(limit, total_bytes));
    StorageTiming {
        warmup_s: run.warmup_s,
        duration_s: Some(run.elapsed_s),
        interval_s: run.interval_s,
        stop_after_bytes,
    }
}
