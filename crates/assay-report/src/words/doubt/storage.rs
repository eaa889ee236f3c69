//! Doubts about storage: steady states, holes, rates, and the generator itself.

use assay_model::doubt::{Doubt, SteadyWindow};
use assay_model::failure::refusal;
use assay_model::quantity::{Bytes, Quantity, Unit};

use crate::words::Said;

const LOOK: &str = "look at the kernel's messages with `dmesg`, then repeat";

pub(super) fn said(doubt: &Doubt) -> Option<Said> {
    let rate = |value| Quantity::new(value, Unit::IoPerSecond);
    Some(match doubt {
        Doubt::SteadyStateNotReached { rounds, window, range, slope } => {
            unsteady(*rounds, *window, *range, *slope)
        }
        Doubt::FileWithHoles { path, bytes, stored_bytes } => Said::new(
            format!(
                "{} has {} and only {:.3} of them are stored",
                path.display(),
                Bytes(*bytes),
                Bytes(*stored_bytes).quantity()
            ),
            "reading a hole takes no I/O: name a path where assay makes a file, or write all of \
             this one first; or its file system compresses",
        ),
        Doubt::LittlesLaw { in_flight, product } => Said::new(
            format!(
                "{in_flight:.2} I/O were in flight, but rate × latency is {product:.2}: they \
                 differ by {:.1} %",
                100.0 * (in_flight - product).abs() / in_flight
            ),
            "latency or rate is wrong; look at the series kept with the run",
        ),
        Doubt::RateMissed { asked_per_s, reached_per_s } => Said::new(
            format!(
                "{:.4} were asked for and {:.4} were reached",
                rate(*asked_per_s),
                rate(*reached_per_s)
            ),
            "the storage or the depth is the limit: latency from the intended start grows as long \
             as it runs; ask for less, or for more depth",
        ),
        Doubt::GeneratorNear { alone_per_s, factor } => Said::new(
            format!(
                "the generator alone does {:.3}, only {factor:.1} times what was reached",
                rate(*alone_per_s)
            ),
            "give it more threads: part of the latency may be the generator's",
        ),
        Doubt::IoFailed { target, operation, offset, bytes, cause } => Said::new(
            format!(
                "{operation} of {bytes} bytes at byte {offset} of target {target} failed: {cause}"
            ),
            refusal::advice(cause).unwrap_or(LOOK),
        ),
        Doubt::FileOperationFailed { path, operation, cause } => Said::new(
            format!("{operation} of {} failed: {cause}", path.display()),
            refusal::advice(cause).unwrap_or(LOOK),
        ),
        Doubt::MeasuredOnce { by } => Said::new(
            format!("{by} measures once, without looking for a steady state"),
            "let assay measure in the same run first: what it finds steady is so for both",
        ),
        _ => return None,
    })
}

fn unsteady(rounds: usize, window: Option<SteadyWindow>, range: f64, slope: f64) -> Said {
    let found = window.map_or_else(
        || "there were too few rounds, or rounds without any I/O".to_owned(),
        |it| {
            let drift = it
                .drift
                .map(|drift| format!(", and a trend of {:+.1} % goes on", 100.0 * drift));
            format!(
                "the last {} still differ by {:.1} % and change by {:+.1} %{}",
                it.rounds,
                100.0 * it.range,
                100.0 * it.slope,
                drift.unwrap_or_default()
            )
        },
    );
    Said::new(
        format!("steady state not reached in {rounds} rounds: {found}"),
        format!(
            "at most {:.0} % and {:.0} % are allowed: write more before it (`--precondition`), \
             give longer rounds (`--for`), or look for what else uses this storage",
            100.0 * range,
            100.0 * slope
        ),
    )
}
