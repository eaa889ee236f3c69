//! Compiles definitions into a plan: every run with every combination of its loops and every rate.
//!
//! Loops nest in the order in which they are written; rates are innermost.

use std::collections::BTreeSet;

use assay_model::path_text;
use assay_model::seed;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::{
    Load, RateRounding, StoragePhase, StoragePlan, StorageTiming, Verify,
};

use super::definitions::Definitions;
use super::lines::Lines;
use super::runs::{self, Format, Rate, Run};
use super::values::Shown;
use super::{Execution, Input, RateLabel, RunLabel, Surroundings, UsedHost};

mod file_hosts;
mod files;
mod format;
mod joined;
mod phase;
mod select;
mod targets;

use select::Index;
pub use targets::at_host;

/// Maximum number of runs; at one second each they would take a day.
const MOST_RUNS: usize = 100_000;

/// Values of the loops of one run, as key and value.
type Combination<'a> = Vec<(&'static str, &'a Shown)>;

/// Builds the plan from the definitions.
pub(super) struct Compiler<'a, 'b> {
    input: &'a Input,
    all: &'a Definitions,
    lines: &'a mut Lines,
    around: &'a mut Surroundings<'b>,
    storages: Index,
    workloads: Index,
    hosts: Index,
    file_systems: Index,
    file_works: Index,
    used_hosts: BTreeSet<usize>,
    execution: Execution,
}

impl<'a, 'b> Compiler<'a, 'b> {
    pub(super) fn new(
        input: &'a Input,
        all: &'a Definitions,
        lines: &'a mut Lines,
        around: &'a mut Surroundings<'b>,
    ) -> Self {
        let execution = Execution {
            plan: StoragePlan { phases: Vec::new() },
            runs: Vec::new(),
            files: FilePlan::default(),
            create_anchors: all.general.create_anchors,
            commands: all.general.commands.clone(),
            monitor: all.general.monitor.as_deref().map(path_text::path),
            repetition: all.general.repetition,
            hosts: Vec::new(),
            places: Vec::new(),
            data_errors: all.general.data_errors,
            notes: Vec::new(),
            paths: Vec::new(),
        };
        Self {
            input,
            all,
            lines,
            around,
            storages: Index::new(all.storages.iter().map(|storage| storage.name.text.as_str())),
            workloads: Index::new(all.workloads.iter().map(|workload| workload.name.as_str())),
            hosts: Index::new(all.hosts.iter().map(|host| host.label.as_str())),
            file_systems: Index::new(all.file_systems.iter().map(|it| it.name.text.as_str())),
            file_works: Index::new(all.file_works.iter().map(|work| work.name.as_str())),
            used_hosts: BTreeSet::new(),
            execution,
        }
    }

    pub(super) fn compile(mut self) -> Execution {
        let all = self.all;
        let luns = all.storages.iter().flat_map(|storage| &storage.luns).map(|(lun, _)| lun);
        let anchors = all.file_systems.iter().filter_map(|it| it.anchor.as_ref());
        let named = luns.chain(anchors).filter(|it| !it.text.is_empty());
        let placed = named.map(|it| (path_text::path(&it.text), self.lines.place(it.spot)));
        self.execution.paths = placed.collect();
        let is_raw = !all.storages.is_empty() || !all.workloads.is_empty();
        if let Some(spot) = all.file_system.filter(|_| is_raw) {
            let message = "raw and file-system definitions are mixed";
            let error = self.lines.error("V140", spot, message);
            self.lines.found.push(error.help("make two files of them").vdbench("stops"));
            return self.execution;
        }
        if !self.input.is_apart {
            self.nested_anchors((0..all.file_systems.len()).collect());
        }
        if all.runs.is_empty() {
            let nothing = super::Diagnostic::new(
                super::Severity::Error,
                "V131",
                None,
                "the file defines no run (rd)",
            );
            let nothing = nothing.help("add rd=run1,wd=…,iorate=max,elapsed=60,interval=1");
            self.lines.found.push(nothing.vdbench("stops"));
        }
        for run in &all.runs {
            self.run(run);
        }
        if all.general.formats && is_raw {
            self.format_all();
        }
        // Each run gets its own seed, so that it does not find the blocks of another run in a
        // cache.
        for (nth, own) in (0..).zip(self.execution.seeds()) {
            *own = seed::derived(self.input.seed, nth);
        }
        self.execution.hosts = self.hosts_used();
        let used: Vec<usize> = self.used_hosts.into_iter().collect();
        for place in self.execution.places.iter_mut().flatten() {
            *place = used.binary_search(place).expect("it is noted before it is placed");
        }
        self.execution
    }

    /// Returns the verification mode; the command line overrides the files.
    const fn verify(&self) -> Verify {
        match self.input.verify {
            Verify::Off => self.all.general.verify,
            given => given,
        }
    }

    fn run(&mut self, run: &Run) {
        let mut run = run.clone();
        run.elapsed_s = self.input.elapsed_s.unwrap_or(run.elapsed_s);
        run.interval_s = self.input.interval_s.unwrap_or(run.interval_s);
        run.warmup_s = self.input.warmup_s.unwrap_or(run.warmup_s);
        run.format = self.input.format.map_or(run.format, Format::by_option);
        if !self.checked(&run) {
            return;
        }
        let combinations = run.loops.iter().try_fold(1usize, |product, one| {
            product.checked_mul(one.values.len()).filter(|product| *product <= MOST_RUNS)
        });
        let points = run.rates.len() + run.file_rates.len() + run.curve.len() + 1;
        let Some(combinations) =
            combinations.filter(|n| n * points + self.execution.runs.len() <= MOST_RUNS)
        else {
            let message = format!("`{}` makes more than {MOST_RUNS} runs", run.name.text);
            let error = self.lines.error("V165", run.name.spot, message);
            self.lines.found.push(error.help("shorten its loops"));
            return;
        };
        for number in 0..combinations {
            let values = combination(&run, number);
            // An error in the first combination would repeat in all others.
            let done = match self.all.file_system {
                None => self.one_combination(&run, &values),
                Some(_) => self.file_combination(&run, &values, number == 0),
            };
            if done.is_none() {
                return;
            }
        }
    }

    /// Checks rate and times of a run and reports errors; returns whether all are valid.
    fn checked(&mut self, run: &Run) -> bool {
        let mut wrong = Vec::new();
        if self.all.file_system.is_some() {
            if run.file_rates.is_empty() && !run.format.only {
                wrong.push(("V163", "has no rate of operations".to_owned(), "add fwdrate=max"));
            }
        } else if run.rates.is_empty() {
            wrong.push(("V160", "has no I/O rate".to_owned(), "add iorate=max"));
        }
        let (elapsed, interval, warmup) = (run.elapsed_s, run.interval_s, run.warmup_s);
        if interval <= 0.0 || elapsed < 2.0 * interval {
            let what = format!("lasts {elapsed} s, less than two intervals of {interval} s");
            wrong.push(("V161", what, "lengthen elapsed or shorten interval"));
        } else {
            let whole = |time: f64| (time / interval).fract() == 0.0;
            if !whole(elapsed) || !whole(warmup) {
                let what = format!(
                    "has elapsed={elapsed} and warmup={warmup}, which are not both whole \
                     numbers of intervals of {interval} s"
                );
                wrong.push(("V162", what, "make both multiples of interval"));
            }
        }
        for (code, what, help) in &wrong {
            let message = format!("the run `{}` {what}", run.name.text);
            let error = self.lines.error(code, run.name.spot, message);
            self.lines.found.push(error.help(*help).vdbench("stops"));
        }
        wrong.is_empty()
    }

    fn one_combination(&mut self, run: &Run, values: &Combination<'_>) -> Option<()> {
        let loops: Vec<(String, String)> =
            values.iter().map(|(key, parsed)| (runs::called(key), parsed.text.clone())).collect();
        for rate in &run.rates {
            let loops = runs::with_rate(&loops, ("iorate", &run.rates), *rate);
            match *rate {
                Rate::Max => {
                    self.phase(run, values, &loops, Load::Closed, RateLabel::UncontrolledMax)?;
                }
                Rate::PerSecond(rate_per_s) => {
                    let load = Load::Open { rate_per_s, arrivals: run.arrivals };
                    self.phase(run, values, &loops, load, RateLabel::PerSecond(rate_per_s))?;
                }
                Rate::Percent(percent) => {
                    let Some(before) = self.execution.runs.len().checked_sub(1) else {
                        let message =
                            format!("{percent} % of the run before it, but it is the first");
                        let error = self.lines.error("V160", run.name.spot, message);
                        self.lines.found.push(error.help("run it at iorate=max first"));
                        return None;
                    };
                    let load = share_of(before, percent, run);
                    self.phase(run, values, &loops, load, RateLabel::Percent(percent))?;
                }
                Rate::Curve => self.curve(run, values, &loops)?,
            }
        }
        Some(())
    }

    fn curve(
        &mut self,
        run: &Run,
        values: &Combination<'_>,
        loops: &[(String, String)],
    ) -> Option<()> {
        let first = self.execution.runs.len();
        self.phase(run, values, loops, Load::Closed, RateLabel::UncontrolledCurve)?;
        for percent in &run.curve {
            let load = share_of(first, *percent, run);
            self.phase(run, values, loops, load, RateLabel::Percent(*percent))?;
            let label = self.execution.runs.last_mut().expect("it was just added");
            label.stop_curve_ms = run.stop_curve_ms;
            label.name = format!("{}_({}%)", run.name.text, percent.trunc());
            let phase = self.execution.plan.phases.last_mut().expect("it was just added");
            phase.name.clone_from(&label.name);
        }
        Some(())
    }

    /// Adds one phase and its label.
    fn phase(
        &mut self,
        run: &Run,
        values: &Combination<'_>,
        loops: &[(String, String)],
        load: Load,
        mut rate: RateLabel,
    ) -> Option<()> {
        let built = self.build(run, values, load)?;
        if built.is_balanced() {
            rate = match rate {
                RateLabel::UncontrolledMax => RateLabel::ControlledMax,
                RateLabel::UncontrolledCurve => RateLabel::ControlledCurve,
                other => other,
            };
        }
        let first = self.execution.runs.is_empty();
        self.execution.places.extend(self.input.is_apart.then_some(built.hosts));
        self.execution.runs.push(RunLabel {
            number: self.execution.runs.len(),
            name: run.name.text.clone(),
            rate,
            elapsed_s: run.elapsed_s,
            warmup_s: run.warmup_s,
            interval_s: run.interval_s,
            loops: loops.to_vec(),
            stop_curve_ms: None,
            shares_observed: !built.shares_given && built.used.workloads > 1,
            limits: run.limits(built.parameters.storage_bytes),
            commands: run.commands.clone(),
            parameters: built.parameters,
            used: built.used,
        });
        self.execution.plan.phases.push(StoragePhase {
            name: run.name.text.clone(),
            loops: loops.to_vec(),
            workload: built.workload,
            pause_before_s: if first { 0.0 } else { run.pause_s },
        });
        Some(())
    }

    fn hosts_used(&self) -> Vec<UsedHost> {
        if self.all.hosts.is_empty() {
            let localhost = "localhost".to_owned();
            let (label, system) = (localhost.clone(), localhost);
            return vec![UsedHost { label, system, user: None, place: None }];
        }
        let used = |index: &usize| {
            let host = &self.all.hosts[*index];
            UsedHost {
                label: host.label.clone(),
                system: host.system.clone(),
                user: host.user.clone(),
                place: Some(self.lines.place(host.spot)),
            }
        };
        self.used_hosts.iter().map(used).collect()
    }
}

fn share_of(phase: usize, percent: f64, run: &Run) -> Load {
    // Vdbench truncates the percentage.
    let percent = percent.trunc();
    Load::ShareOf { phase, percent, rounding: RateRounding::Vdbench, arrivals: run.arrivals }
}

/// Returns combination `number` of the loops' values; the last loop changes fastest.
fn combination(run: &Run, mut number: usize) -> Combination<'_> {
    let mut values: Combination<'_> = Vec::with_capacity(run.loops.len());
    for one in run.loops.iter().rev() {
        values.push((one.key, &one.values[number % one.values.len()]));
        number /= one.values.len();
    }
    values.reverse();
    values
}

/// Returns the times and limits of a run.
fn timing(run: &Run, total_bytes: u64) -> StorageTiming {
    let stop_after_bytes = run.max_data.map(|limit| runs::of_data(limit, total_bytes));
    StorageTiming {
        warmup_s: run.warmup_s,
        duration_s: Some(run.elapsed_s),
        interval_s: run.interval_s,
        stop_after_bytes,
    }
}
