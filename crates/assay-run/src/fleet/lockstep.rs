//! Decides which hosts start next: all that wait for the same case, as soon as no host is busy.
//!
//! Pure state machine without I/O. It cannot deadlock: each start advances hosts in a fixed order,
//! and lost hosts are not waited for. Interleaved cases are returned to, so that a host waits at
//! the later case for hosts with remaining turns of an earlier one.

use std::collections::BTreeMap;

/// Synchronisation point: position of a case in the run, and a step of it.
pub(super) type Place = (usize, u32);

/// Progress of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Plans or measures.
    Busy,
    Waits(Place),
    /// Finished, or lost.
    Gone,
}

/// Progress of all hosts of a run, by number.
#[derive(Debug)]
pub(super) struct Lockstep(Vec<State>);

impl Lockstep {
    pub(super) fn of(hosts: usize) -> Self {
        Self(vec![State::Busy; hosts])
    }

    pub(super) fn waits(&mut self, host: usize, place: Place) {
        self.0[host] = State::Waits(place);
    }

    pub(super) fn is_gone(&mut self, host: usize) {
        self.0[host] = State::Gone;
    }

    pub(super) fn is_busy(&self, host: usize) -> bool {
        self.0[host] == State::Busy
    }

    pub(super) fn has_left(&self, host: usize) -> bool {
        self.0[host] == State::Gone
    }

    /// Whether all hosts are finished or lost.
    pub(super) fn is_over(&self) -> bool {
        self.0.iter().all(|state| *state == State::Gone)
    }

    /// Returns the hosts that start together, with their synchronisation point, and marks them
    /// busy. Empty while a host is busy.
    pub(super) fn next(&mut self) -> (Place, Vec<usize>) {
        if self.0.contains(&State::Busy) {
            return (Place::default(), Vec::new());
        }
        let mut waiting: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        for (host, state) in self.0.iter().enumerate() {
            if let State::Waits(place) = state {
                waiting.entry(*place).or_default().push(host);
            }
        }
        let (place, next) = waiting.pop_first().unwrap_or_default();
        next.iter().for_each(|host| self.0[*host] = State::Busy);
        (place, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_meet_before_each_case() {
        let mut hosts = Lockstep::of(3);
        hosts.waits(0, (0, 0));
        hosts.waits(1, (0, 0));
        assert_eq!(hosts.next().1, [] as [usize; 0]);
        hosts.waits(2, (1, 0));
        assert_eq!(hosts.next(), ((0, 0), vec![0, 1]));
        assert_eq!(hosts.next().1, [] as [usize; 0]);
        hosts.waits(0, (0, 1));
        hosts.is_gone(1);
        assert_eq!(hosts.next(), ((0, 1), vec![0]));
        hosts.waits(0, (1, 0));
        assert_eq!(hosts.next(), ((1, 0), vec![0, 2]));
        hosts.is_gone(0);
        hosts.is_gone(2);
        assert!(hosts.is_over());
    }
    /// Two hosts with two interleaved cases each: a turn of the first, two of the second, and so
    /// on. One host needs one turn less of the first case.
    #[test]
    fn cases_that_take_turns_are_gone_through_in_step() {
        let turns = |places: &[Place]| places.iter().copied().rev().collect::<Vec<Place>>();
        let mut left = [
            turns(&[(0, 0), (0, 1), (1, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 0)]),
            turns(&[(0, 0), (0, 1), (1, 1), (1, 2), (0, 2), (1, 3), (2, 0)]),
        ];
        let mut hosts = Lockstep::of(2);
        let mut began = Vec::new();
        let mut going = vec![0, 1];
        while !hosts.is_over() {
            for host in going {
                match left[host].pop() {
                    Some(place) => hosts.waits(host, place),
                    None => hosts.is_gone(host),
                }
            }
            let (place, next) = hosts.next();
            began.push((place, next.len()));
            going = next;
        }
        let together = |place| (place, 2);
        assert_eq!(
            began[..8],
            [
                together((0, 0)),
                together((0, 1)),
                together((1, 1)),
                together((1, 2)),
                together((0, 2)),
                ((0, 3), 1),
                together((1, 3)),
                together((2, 0)),
            ]
        );
    }
}
