//! Characterises the clock and the null kernel: resolution and overhead of timing.

use std::io::ErrorKind;

use assay_kernels::timed::TimedTeam;
use assay_kernels::{clock, null};
use assay_model::event::HostClock;

use crate::failure::CommandFailure;

/// Passes of the null kernel; sufficient for their median.
const PASSES: usize = 101;
/// Seconds after which there are fewer: 101 passes of two threads with ten others took 4 s.
const ENOUGH_S: f64 = 0.2;
/// Passes that there are in any case; odd, so that their median is one of them.
const LEAST_PASSES: usize = 11;

/// Measures the clock, and the null kernel on these CPUs, before anything else is measured.
pub(crate) fn characterise_clock(cpus: &[u32]) -> Result<HostClock, CommandFailure> {
    let character = clock::measure_properties();
    let mut team = TimedTeam::new(&super::cpu_numbers(cpus)).map_err(|error| {
        // The system refuses a thread with `EAGAIN` (pthread_create(3)).
        match error.kind() {
            ErrorKind::WouldBlock => CommandFailure::from_thread_error(&error),
            _ => CommandFailure::measurement("no thread can be pinned").with_cause(&error),
        }
    })?;
    let began_ns = clock::now_ns();
    let mut passes: Vec<f64> = Vec::with_capacity(PASSES);
    while passes.len() < PASSES {
        let elapsed_s = clock::seconds_between(began_ns, clock::now_ns());
        if passes.len() >= LEAST_PASSES && elapsed_s > ENOUGH_S {
            break;
        }
        passes.push(null::time_repetition(&mut team));
    }
    passes.sort_unstable_by(f64::total_cmp);
    Ok(HostClock {
        name: character.name.to_owned(),
        resolution_s: character.resolution_ns as f64 * 1e-9,
        cost_s: character.cost_ns * 1e-9,
        null_s: passes[passes.len() / 2],
        offset: None,
    })
}
