//! `cargo xtask truth statistics [SEED]`: how often intervals hold, simulated; the same table for the same seed.
//!
//! Needs no quiet machine: nothing is measured.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_stats::proof::{Cell, Tally};

/// Simulated cases of each line: one standard error of a share of 95 % is 0.35 %.
const TRIALS: u32 = 4000;
/// The seed of the published table.
pub(crate) const SEED: u64 = 2026;

/// Prints the table and says what does not hold.
pub(crate) fn run(seed: u64) -> ExitCode {
    let cells = Cell::all();
    let tallies = simulated(&cells, seed);
    println!(
        "{TRIALS} cases each, seed {seed}; intervals of the median at 95 %, with the real stopping rule\n"
    );
    println!("values     neighbours  between  preparing  samples  covered  precise  width");
    let mut faults = 0;
    for (cell, tally) in cells.iter().zip(tallies) {
        let fault = cell.fault(&tally, 0.0);
        faults += u32::from(fault.is_some());
        println!(
            "{}{}",
            line(cell, &tally),
            fault.map_or(String::new(), |it| format!("  {it}"))
        );
    }
    println!(
        "\ncovered, precise: of all cases; width: the median, over that of as many independent \
         samples\n"
    );
    faults += super::comparisons::print(seed);
    println!("\n{faults} lines do not hold");
    ExitCode::from(u8::from(faults > 0))
}

/// All cells, on all CPUs.
fn simulated(cells: &[Cell], seed: u64) -> Vec<Tally> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, cell)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            cells.get(at).map(|cell| (at, cell))
        } {
            done.push((at, cell.simulate(TRIALS, seed)));
        }
        done
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, Tally)> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        started
            .into_iter()
            .flat_map(|it| it.join().expect("a simulation does not panic"))
            .collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, tally)| tally).collect()
}

fn line(cell: &Cell, tally: &Tally) -> String {
    let Cell { machine, samples, preparing } = cell;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    format!(
        "{:10} {:10}  {:7}  {:9}  {samples:7}  {:>7}  {:>7}  {:5.2}",
        format!("{:?}", machine.shape).to_lowercase(),
        machine.neighbours,
        machine.between,
        format!("{preparing:?}").to_lowercase(),
        percent(tally.covered()),
        percent(f64::from(tally.precise) / f64::from(tally.cases)),
        tally.width,
    )
}
