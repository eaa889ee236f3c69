//! Cost model of LINPACK: predicts the rate of solutions from the rates of one core and of the memory, for machines that
//! were measured, and for machines that are not here.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use workbench::page::{MarkdownPage, PageFact};

use self::model::{MachineRates, UpdateDivision, predict};
use crate::command;

mod model;

const PAGE: &str = "docs/scaling.md";
pub(super) const SUITE: &str = "suites/bench/scaling.toml";
/// Orders of the solutions of [`SUITE`]; the last one gives the rate of the update.
const ORDERS: [usize; 3] = [2_000, 4_000, 8_000];
/// Rate of the update over that within a panel (`PANEL_COST` of
/// `assay-kernels/src/compute/linpack/step.rs`).
const PANEL_COST: f64 = 2.5;

/// Machine whose rates are known, and its largest useful orders.
struct KnownMachine {
    name: &'static str,
    rates: MachineRates,
    /// Cores with a common last-level cache.
    sharers: usize,
    source: &'static str,
}

impl KnownMachine {
    /// Returns the schedule as it is on this machine.
    fn division(&self) -> UpdateDivision {
        UpdateDivision::Blocks { sharers: self.sharers }
    }
}

/// Rates of a core and the memory bandwidth of the machine.
const fn machine(
    cores: usize,
    peak_flops: f64,
    memory_bytes_per_s: f64,
    strip_columns: usize,
) -> MachineRates {
    // LINPACK of one thread reaches 0.9 of the peak of multiply-adds on Zen 4 and on Intel guests.
    let update_flops = 0.9 * peak_flops;
    let panel_flops = update_flops / PANEL_COST;
    // Between cores of an EPYC 7773X and of a guest of KVM: 115 ns and 114 ns.
    let hand_over_s = 115e-9;
    MachineRates {
        cores,
        peak_flops,
        update_flops,
        panel_flops,
        memory_bytes_per_s,
        hand_over_s,
        strip_columns,
    }
}

/// Machines that are predicted only.
const FAR_MACHINES: [KnownMachine; 3] = [
    KnownMachine {
        name: "64 cores of Milan, one socket",
        rates: machine(64, 16.0 * 3.1e9, 160e9, 120),
        sharers: 8,
        source: "16 FLOP per cycle at 3.1 GHz; 160 GB/s, 78 % of eight channels of DDR4-3200",
    },
    KnownMachine {
        name: "64 cores of Milan, two sockets",
        rates: machine(64, 16.0 * 3.1e9, 320e9, 120),
        sharers: 8,
        source: "the same with 32 cores of each socket",
    },
    KnownMachine {
        name: "192 cores of Turin, one socket",
        rates: machine(192, 32.0 * 3.0e9, 500e9, 240),
        sharers: 16,
        source: "32 FLOP per cycle at 3.0 GHz; 500 GB/s, 81 % of twelve channels of DDR5-6400",
    },
];
const FAR_ORDERS: [usize; 4] = [24_000, 50_000, 100_000, 200_000];

/// Guest with 16 virtual CPUs of docs/benchmarks/sixteen-cpus.md: cores, order, and the middle of its
/// turns in GFLOP/s.
const SIXTEEN_CPUS: [(usize, usize, f64); 8] = [
    (1, 8_000, 77.9),
    (2, 8_000, 154.0),
    (4, 8_000, 291.0),
    (8, 8_000, 441.0),
    (16, 4_000, 473.0),
    (16, 8_000, 637.0),
    (16, 16_000, 793.0),
    (16, 32_000, 920.0),
];

/// Schedule with which [`SIXTEEN_CPUS`] were measured.
const SIXTEEN_CPUS_DIVISION: UpdateDivision = UpdateDivision::Columns;

/// This schedule over the earlier one (commit 504490dc) on a guest with two CPUs of Zen 3: order,
/// threads, medians of both in GFLOP/s, median ratio of turns and its range.
const TWO_CPUS: [[&str; 6]; 7] = [
    ["2000", "2", "64.0", "64.7", "1.02", "0.94–1.11"],
    ["4000", "2", "71.0", "69.3", "1.00", "0.94–1.10"],
    ["8000", "2", "55.8", "58.0", "1.04", "0.93–1.06"],
    ["2000", "4", "15.6", "15.4", "0.99", "0.93–1.11"],
    ["4000", "4", "37.3", "39.2", "1.01", "0.96–1.14"],
    ["2000", "8", "7.3", "7.5", "1.03", "0.97–1.07"],
    ["4000", "8", "30.1", "31.3", "1.06", "0.97–1.10"],
];

/// Rate of a solution, and the prediction of the model for it.
struct Check {
    cores: usize,
    order: usize,
    measured: f64,
    predicted: f64,
}

impl Check {
    fn new(
        rates: &MachineRates,
        division: UpdateDivision,
        (cores, order): (usize, usize),
        measured: f64,
    ) -> Self {
        let rates = MachineRates { cores, ..*rates };
        let efficiency = predict(&rates, division, order).efficiency;
        Self { cores, order, measured, predicted: efficiency * rates.peak_flops * cores as f64 }
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.cores.to_string(),
            self.order.to_string(),
            gigaflops(self.measured),
            gigaflops(self.predicted),
            format!("{:.2}", self.measured / self.predicted),
        ]
    }
}

fn gigaflops(rate: f64) -> String {
    format!("{:.1}", rate / 1e9)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Predicts and writes the page; measures this machine first if there is a program to do so.
pub(super) fn run(root: &Path, assay: Option<&Path>) -> Result<()> {
    let here = assay.map(|assay| measure_here(root, assay)).transpose()?;
    write_page(here.as_ref()).write(root, PAGE)?;
    println!("bench: wrote {PAGE}");
    Ok(())
}

/// Measurements of this machine.
struct ThisMachine {
    facts: Vec<PageFact>,
    checks: Vec<Check>,
}

fn measure_here(root: &Path, assay: &Path) -> Result<ThisMachine> {
    let load = workbench::load_average();
    let text =
        fs::read_to_string(root.join(SUITE)).with_context(|| format!("cannot read {SUITE}"))?;
    let one = measure(root, assay, "one", &text)?;
    let all = measure(root, assay, "all", &text.replace("threads = 1\n", ""))?;
    let rates = rates_of(&one)?;
    let mut checks = Vec::new();
    for (document, cores) in [(&one, 1), (&all, cores_of(&all)?)] {
        // The document lists no caches: all cores count as sharing one.
        let division = UpdateDivision::Blocks { sharers: cores };
        for order in ORDERS {
            let measured = linpack(document, order)?;
            checks.push(Check::new(&rates, division, (cores, order), measured));
        }
    }
    let facts = vec![
        ("peak of a core", format!("{} GFLOP/s", gigaflops(rates.peak_flops))),
        ("update of a core", format!("{} GFLOP/s", gigaflops(rates.update_flops))),
        ("memory", format!("{:.1} GB/s", rates.memory_bytes_per_s / 1e9)),
        ("between cores", format!("{:.0} ns", rates.hand_over_s * 1e9)),
        ("load before", load),
    ];
    Ok(ThisMachine { facts, checks })
}

/// Runs a suite and returns its document.
fn measure(root: &Path, assay: &Path, name: &str, suite: &str) -> Result<Value> {
    let folder = root.join(super::FOLDER).join("scaling");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}.toml"));
    fs::write(&path, suite)?;
    let mut run = Command::new(assay);
    run.current_dir(root)
        .args(["run", "--json", "--store"])
        .arg(folder.join("store"))
        .arg(&path);
    Ok(serde_json::from_slice(&command::capture(&mut run)?.stdout)?)
}

/// Returns the median of a metric, the largest of several.
fn median(document: &Value, benchmark: &str, metrics: &[&str]) -> Option<f64> {
    let results = document["results"].as_array()?.iter();
    let named = results.filter(|it| {
        it["benchmark"] == benchmark && metrics.iter().any(|metric| it["metric"] == *metric)
    });
    named.filter_map(|it| it["median"].as_f64()).max_by(f64::total_cmp)
}

fn linpack(document: &Value, order: usize) -> Result<f64> {
    let results = document["results"].as_array().context("a document without results")?;
    let of_order = |it: &&Value| {
        it["benchmark"] == "compute.linpack"
            && it["metric"] == "rmax"
            && it["parameters"]["n"] == order
    };
    let found = results.iter().find(of_order).and_then(|it| it["median"].as_f64());
    found.with_context(|| format!("no LINPACK of N = {order}"))
}

fn cores_of(document: &Value) -> Result<usize> {
    let results = document["results"].as_array().context("a document without results")?;
    let threads = results.iter().filter(|it| it["benchmark"] == "compute.linpack");
    let most = threads.filter_map(|it| it["parameters"]["threads"].as_u64()).max();
    most.map(|it| it as usize).context("LINPACK without a number of threads")
}

/// Returns the rates of one core: that of the update follows from the solution of one thread of the last order.
fn rates_of(document: &Value) -> Result<MachineRates> {
    let peak = median(document, "compute.peak_flops", &["fp64"])
        .context("no peak of multiply-adds")?;
    let memory = median(document, "memory.stream", &["copy", "scale", "add", "triad"]);
    let solved = linpack(document, ORDERS[ORDERS.len() - 1])?;
    let has_wide_strips = document.to_string().contains("\"kernel\":\"avx512\"");
    let hand_over_s = median(document, "memory.core_to_core", &["latency"]).unwrap_or(0.0);
    let strip_columns = if has_wide_strips { 240 } else { 120 };
    let memory = memory.context("no bandwidth of memory")?;
    let base = MachineRates { hand_over_s, ..machine(1, peak, memory, strip_columns) };
    ensure!(solved > 0.0 && peak > 0.0 && memory > 0.0, "a rate of zero");
    Ok(with_update_rate(&base, solved))
}

/// Returns the rates with the update with which one core solves the last order at a rate.
fn with_update_rate(base: &MachineRates, solved: f64) -> MachineRates {
    let with = |update_flops: f64| MachineRates {
        update_flops,
        panel_flops: update_flops / PANEL_COST,
        ..*base
    };
    let predicted = |update_flops: f64| {
        let division = UpdateDivision::Blocks { sharers: 1 };
        let found = predict(&with(update_flops), division, ORDERS[ORDERS.len() - 1]);
        found.efficiency * base.peak_flops
    };
    let (mut low, mut high) = (solved, 4.0 * solved);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if predicted(middle) < solved { low = middle } else { high = middle }
    }
    with(low)
}

fn write_page(here: Option<&ThisMachine>) -> MarkdownPage {
    let mut page =
        MarkdownPage::new("LINPACK on many cores: a cost model", "cargo xtask bench scaling");
    page.paragraph(
        "The model (`xtask/src/bench/scaling/model.rs`) repeats the schedule of the factorisation: panels of 240 columns, \
         panel workers that look ahead, strips that members take from a queue, blocks of rows that they share when it is empty. A strip takes the time of its operations or of its \
         bytes, whichever is longer. Its input is the rate of one core, the bandwidth of the memory and the time between two cores.",
    );
    let head =
        ["cores", "N", "measured, GFLOP/s", "predicted, GFLOP/s", "measured over predicted"];
    if let Some(here) = here {
        page.heading("The machine that wrote this page");
        page.paragraph(
            "The update's rate is the one with which the model predicts the solution of one thread and the largest order.",
        );
        page.facts(&here.facts);
        page.table(&head, &here.checks.iter().map(Check::cells).collect::<Vec<_>>());
    }
    page.heading("16 virtual CPUs");
    page.paragraph(
        "The guest of [16 CPUs](benchmarks/sixteen-cpus.md): 87.7 GFLOP/s of a core alone and 100 GB/s. Its host shares cores \
         between virtual CPUs, so that from eight threads on the peak itself is lower than eight or sixteen times that of one. Measured and predicted with \
         the earlier schedule, strips without blocks.",
    );
    let guest = machine(1, 87.7e9, 100e9, 240);
    let rows = SIXTEEN_CPUS.map(|(cores, n, measured)| {
        Check::new(&guest, SIXTEEN_CPUS_DIVISION, (cores, n), measured * 1e9).cells()
    });
    page.table(&head, &rows);
    two_cpus(&mut page);
    page.heading("Machines that were not measured");
    page.paragraph(
        "Rate over the peak of multiply-adds, and shares of the time of all cores. `as it is`: the strips of a step have the same width. \
         The cores of a last-level cache walk through the rows of L together, each with its own strip: one that begins a strip begins where \
         the others are, so that they read L from memory once. When no columns are left, cores share the blocks of rows of the last strips. \
         `strips only`, the earlier schedule: every strip reads all of L from memory and narrows with the number of threads.",
    );
    page.paragraph(
        "That the cores stay together is an assumption: no counters of caches were readable on the machines at hand. \
         A core that falls behind reads L from the cache and catches up, as long as memory is the limit.",
    );
    page.table(
        &[
            "machine",
            "N",
            "as it is",
            "waits for memory",
            "waits for others",
            "strips only",
            "waits for memory, strips only",
        ],
        &FAR_MACHINES.iter().flat_map(far_rows).collect::<Vec<_>>(),
    );
    // Rates of machines that are not here are assumptions.
    let sources = FAR_MACHINES.map(|it| format!("{}: {}.", it.name, it.source));
    page.paragraph(&format!("Assumed rates: {}", sources.join(" ")));
    page.paragraph(&conclusions());
    page
}

/// Adds what the schedule changes on few CPUs.
fn two_cpus(page: &mut MarkdownPage) {
    page.heading("Two CPUs, the earlier schedule and this one");
    page.paragraph(
        "Measured by hand on 2026-11-29 on a guest with two CPUs of an AMD EPYC of Zen 3 and one L3, five to nine turns, with priority over \
         builds that ran meanwhile. Two threads have nothing to gain here, and must not lose. Four and eight threads share the two CPUs: \
         both schedules are then slower alike, probably because of the barriers within panels. `assay linpack` refuses more threads than cores.",
    );
    let head = [
        "N",
        "threads",
        "earlier, GFLOP/s",
        "now, GFLOP/s",
        "now over earlier",
        "range of turns",
    ];
    page.table(&head, &TWO_CPUS.map(|row| row.map(str::to_owned).to_vec()));
}

fn far_rows(machine: &KnownMachine) -> Vec<Vec<String>> {
    let row = |n: &usize| {
        let now = predict(&machine.rates, machine.division(), *n);
        let strips = predict(&machine.rates, UpdateDivision::Columns, *n);
        let shares = [
            now.efficiency,
            now.memory_share,
            now.idle_share,
            strips.efficiency,
            strips.memory_share,
        ];
        [machine.name.to_owned(), n.to_string()]
            .into_iter()
            .chain(shares.map(percent))
            .collect()
    };
    FAR_ORDERS.iter().map(row).collect()
}

/// Concludes whether 64 cores reach 85 %, and which limit 192 meet.
fn conclusions() -> String {
    const GOAL: f64 = 0.85;
    let at = |machine: &KnownMachine, division| predict(&machine.rates, division, 100_000);
    let [one, _, turin] = &FAR_MACHINES;
    let verdict = |reached: f64| if reached >= GOAL { "reached" } else { "missed" };
    let now = at(one, one.division()).efficiency;
    let alone = at(one, UpdateDivision::Blocks { sharers: 1 }).efficiency;
    let strips = at(one, UpdateDivision::Columns).efficiency;
    let rates = &turin.rates;
    // C is read and written once for each panel.
    let needed = rates.update_flops * rates.cores as f64 * 16.0 / (2.0 * 240.0);
    format!(
        "85 % at N = 100,000 on 64 cores of one socket: **{}** as it is ({}), {} if no core found L in its cache, {} with strips only. \
         192 cores reach {} and wait for memory {} of the time. What is left is the matrix itself, which each panel of 240 columns reads \
         and writes: {:.0} GB/s for the update at full rate, of {:.0} GB/s. Panels of twice the width need half.",
        verdict(now),
        percent(now),
        percent(alone),
        percent(strips),
        percent(at(turin, turin.division()).efficiency),
        percent(at(turin, turin.division()).memory_share),
        needed / 1e9,
        rates.memory_bytes_per_s / 1e9,
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn update_rate_reproduces_the_solution_of_one_core() {
        let base = machine(1, 50e9, 40e9, 120);
        for solved in [20e9, 35e9, 44e9] {
            let rates = with_update_rate(&base, solved);
            let division = UpdateDivision::Blocks { sharers: 1 };
            let check = Check::new(&rates, division, (1, 8_000), solved);
            assert!(
                (check.predicted / solved - 1.0).abs() < 1e-3,
                "{solved} {}",
                check.predicted
            );
            assert!(rates.update_flops > solved);
        }
    }

    #[test]
    fn predictions_of_small_guests_are_within_a_tenth() {
        let guest = machine(1, 87.7e9, 100e9, 240);
        for (cores, n, measured) in SIXTEEN_CPUS.into_iter().filter(|it| it.0 <= 4) {
            let check = Check::new(&guest, SIXTEEN_CPUS_DIVISION, (cores, n), measured * 1e9);
            let ratio = check.measured / check.predicted;
            assert!((0.9..1.1).contains(&ratio), "{cores}: {ratio}");
        }
    }

    #[test]
    fn rates_are_read_from_a_document() {
        let result = |benchmark: &str, metric: &str, n: usize, median: f64| {
            json!({"benchmark": benchmark, "metric": metric, "median": median,
                   "parameters": {"n": n, "threads": 2, "kernel": "avx2"}})
        };
        let document = json!({"results": [
            result("compute.peak_flops", "fp64", 0, 50e9),
            result("memory.stream", "copy", 0, 20e9),
            result("memory.stream", "triad", 0, 30e9),
            result("compute.linpack", "rmax", 8_000, 40e9),
        ]});
        let rates = rates_of(&document).unwrap();
        assert_eq!(
            (rates.peak_flops, rates.memory_bytes_per_s, rates.strip_columns),
            (50e9, 30e9, 120)
        );
        assert_eq!(cores_of(&document).unwrap(), 2);
        assert!(linpack(&document, 2_000).is_err());
    }
}
