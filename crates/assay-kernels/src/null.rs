//! Null kernel: a timed pass that does nothing.
//!
//! Its time is the overhead of every other pass: two readings of the clock and the spread of the
//! members at the start line. It allocates no memory and is the shortest example of a kernel.

use std::hint;

use crate::timed::TimedTeam;

/// Times one pass in which every member does nothing. Returns seconds.
pub fn time_repetition(team: &mut TimedTeam) -> f64 {
    team.pass(|member| {
        hint::black_box(member);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pin;

    #[test]
    fn null_pass_takes_no_negative_time() {
        let cpu = pin::allowed_cpus().unwrap()[0];
        let mut team = TimedTeam::new(&[cpu]).unwrap();
        assert!((0..100).all(|_| time_repetition(&mut team) >= 0.0));
    }
}
