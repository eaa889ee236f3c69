//! `cargo xtask truth statistics [SEED]`: simulates the coverage of intervals; the same seed gives
//! the same table.
//!
//! Needs no quiet machine: besides the simulations, it starts a program whose figures are drawn.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use assay_stats::interval_coverage::{CoverageCell, CoverageTally};

/// Simulated cases per line: the standard error of a share of 95 % is 0.35 %.
const CASES_PER_LINE: u32 = 4000;
/// Seed of the published table.
pub(crate) const DEFAULT_SEED: u64 = 2026;

/// Prints the table and the lines outside their bounds.
pub(crate) fn run(root: &Path, seed: u64) -> Result<ExitCode> {
    let cells = CoverageCell::all_cells();
    let tallies = simulate_all(&cells, seed);
    println!(
        "{CASES_PER_LINE} cases each, seed {seed}; intervals of the median at 95 %, with the real stopping rule\n"
    );
    println!("values     neighbours  between  preparing  samples  covered  precise  width");
    let mut faults = 0;
    for (cell, tally) in cells.iter().zip(tallies) {
        let fault = cell.coverage_fault(&tally, 0.0);
        faults += u32::from(fault.is_some());
        println!(
            "{}{}",
            format_row(cell, &tally),
            fault.map_or(String::new(), |it| format!("  {it}"))
        );
    }
    println!(
        "\ncovered, precise: share of all cases; width: median width, relative to that of as many independent \
         samples\n"
    );
    faults += super::comparisons::print_tables(seed);
    println!();
    faults += super::measured_programs::count_faults(root, seed)?;
    println!("\n{faults} lines do not hold");
    Ok(ExitCode::from(u8::from(faults > 0)))
}

/// Simulates all cells on all CPUs.
fn simulate_all(cells: &[CoverageCell], seed: u64) -> Vec<CoverageTally> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((index, cell)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            cells.get(index).map(|cell| (index, cell))
        } {
            done.push((index, cell.simulate(CASES_PER_LINE, seed)));
        }
        done
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, CoverageTally)> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        started
            .into_iter()
            .flat_map(|it| it.join().expect("a simulation does not panic"))
            .collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, tally)| tally).collect()
}

fn format_row(cell: &CoverageCell, tally: &CoverageTally) -> String {
    let CoverageCell { machine, samples, preparation_cost: preparing } = cell;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    format!(
        "{:10} {:10}  {:7}  {:9}  {samples:7}  {:>7}  {:>7}  {:5.2}",
        format!("{:?}", machine.shape).to_lowercase(),
        machine.autocorrelation,
        machine.intraclass_correlation,
        format!("{preparing:?}").to_lowercase(),
        percent(tally.coverage()),
        percent(f64::from(tally.precise) / f64::from(tally.cases)),
        tally.width,
    )
}
