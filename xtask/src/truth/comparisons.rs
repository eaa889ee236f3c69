//! The part of `cargo xtask truth statistics` about verdicts, change points and modes: how often they are right,
//! simulated; the same tables every time.

use std::num::NonZeroUsize;
use std::thread;

use assay_stats::proof::Modal;
use assay_stats::simulated::{Conditions, Past};

/// Simulated comparisons of each line: one standard error of a share of 4 % is 0.5 %.
const COMPARISONS: u32 = 1500;
/// Simulated histories of each line.
const HISTORIES: u32 = 4000;

/// What a share has to be.
#[derive(Debug, Clone, Copy)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// Something to simulate, and what has to come out.
struct Line {
    what: String,
    is: &'static str,
    bound: Bound,
    simulate: Box<dyn Fn() -> f64 + Send>,
}

/// Prints the tables; how many lines do not hold comes back.
pub(super) fn print(seed: u64) -> u32 {
    println!("{COMPARISONS} comparisons or {HISTORIES} histories each, seed {seed}\n");
    let mut lines = verdicts(seed);
    lines.extend(change_points(seed));
    lines.extend(modes(seed));
    let mut faults = 0;
    let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut waiting = lines.into_iter().peekable();
    while waiting.peek().is_some() {
        let some: Vec<Line> = waiting.by_ref().take(workers).collect();
        thread::scope(|scope| {
            let started: Vec<_> = some
                .into_iter()
                .map(|line| (line.what, line.is, line.bound, scope.spawn(line.simulate)))
                .collect();
            for (what, is, bound, share) in started {
                let share = share.join().expect("a simulation does not panic");
                let (holds, asked) = match bound {
                    Bound::AtMost(most) => (share <= most, format!("≤ {:.0} %", 100.0 * most)),
                    Bound::AtLeast(minimum) => {
                        (share >= minimum, format!("≥ {:.0} %", 100.0 * minimum))
                    }
                };
                faults += u32::from(!holds);
                let reported = if holds { "" } else { "  DOES NOT HOLD" };
                println!("{what:66}  {is}: {:5.1} % ({asked}){reported}", 100.0 * share);
            }
        });
    }
    faults
}

/// Equal conditions are not called different, and a shift of 3 % is found.
fn verdicts(seed: u64) -> Vec<Line> {
    let misled = |what: &str, conditions: Conditions| Line {
        what: format!(
            "{what}, {} metrics, runs differ by {:.0} %",
            conditions.metrics,
            100.0 * conditions.spread
        ),
        is: "with a false verdict",
        bound: Bound::AtMost(0.05),
        simulate: Box::new(move || conditions.simulate(COMPARISONS, seed).misled()),
    };
    let equal = |spread: f64| Conditions { spread, ..Conditions::EQUAL };
    let runs = 2 * Conditions::EQUAL.runs;
    let mut lines = Vec::new();
    for spread in [0.0, 0.01, 0.02, 0.03] {
        let of = equal(spread);
        lines.push(misled(&format!("equal, {runs} runs in turns"), of));
        lines.push(misled(
            &format!("equal, {runs} runs in any order"),
            Conditions { in_turns: false, ..of },
        ));
        lines.push(misled("equal, 8 runs in turns", Conditions { runs: 4, ..of }));
    }
    let found = |metrics: usize| Line {
        what: format!(
            "1 of {metrics} metrics worse by 3 %, {runs} runs in turns, runs differ by 1 %"
        ),
        is: "found",
        bound: Bound::AtLeast(0.9),
        simulate: Box::new(move || {
            let shifted = Conditions { metrics, ratio: 1.03, ..Conditions::EQUAL };
            shifted.simulate(COMPARISONS, seed).found()
        }),
    };
    lines.extend([found(1), found(50)]);
    lines
}

/// Several modes are seen where there are some, and nowhere else.
fn modes(seed: u64) -> Vec<Line> {
    let line = |modal: Modal, n: usize, is, bound| Line {
        what: format!("{modal:?}, {n} values"),
        is,
        bound,
        simulate: Box::new(move || modal.called(n, HISTORIES, seed)),
    };
    let mut lines = Vec::new();
    for n in [10, 33, 100] {
        for modal in [Modal::Normal, Modal::Lognormal, Modal::Exponential] {
            lines.push(line(modal, n, "called several modes", Bound::AtMost(0.01)));
        }
    }
    let peaks = Modal::Peaks { widths: 4.0, share_low: 0.5 };
    lines.push(line(peaks, 33, "found", Bound::AtLeast(0.8)));
    lines
}

/// Steps are found where they are, and nowhere else.
fn change_points(seed: u64) -> Vec<Line> {
    let mut lines = Vec::new();
    for runs in [20, 40, 100] {
        let past = Past { runs, spread: 0.01, step: 0.05, after: None };
        for (where_to, after) in [("", None), (" 2 runs ago", Some(2))] {
            lines.push(Line {
                what: format!("{runs} runs that differ by 1 %, a step of 5 %{where_to}"),
                is: "found within 2 runs",
                bound: Bound::AtLeast(0.95),
                simulate: Box::new(move || {
                    let steps = Past { after, ..past }.simulate(HISTORIES, seed);
                    f64::from(steps.found) / f64::from(steps.histories)
                }),
            });
        }
        lines.push(Line {
            what: format!("{runs} runs without a change"),
            is: "with a false change",
            bound: Bound::AtMost(0.05),
            simulate: Box::new(move || {
                let steps = Past { step: 0.0, ..past }.simulate(HISTORIES, seed);
                f64::from(steps.misled) / f64::from(steps.histories)
            }),
        });
    }
    lines
}
