//! Decides which hosts start next: all that wait for the same case, as soon as no host is busy.
//!
//! Pure state machine without I/O. It cannot deadlock: each start advances hosts in a fixed order,
//! and lost hosts are not waited for. Interleaved cases are returned to, so that a host waits at
//! the later case for hosts with remaining turns of an earlier one.

use std::collections::BTreeMap;

/// Synchronisation point: position of a case in the run, and a step of it.
pub(super) type CaseStep = (usize, u32);

/// Progress of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostProgress {
    /// Plans or measures.
    Busy,
    Waiting(CaseStep),
    /// Finished, or lost.
    Gone,
}

/// Progress of all hosts of a run, by number.
#[derive(Debug)]
pub(super) struct Lockstep(Vec<HostProgress>);

impl Lockstep {
    pub(super) fn new(hosts: usize) -> Self {
        Self(vec![HostProgress::Busy; hosts])
    }

    pub(super) fn mark_waiting(&mut self, host: usize, place: CaseStep) {
        self.0[host] = HostProgress::Waiting(place);
    }

    pub(super) fn mark_gone(&mut self, host: usize) {
        self.0[host] = HostProgress::Gone;
    }

    pub(super) fn is_busy(&self, host: usize) -> bool {
        self.0[host] == HostProgress::Busy
    }

    pub(super) fn has_left(&self, host: usize) -> bool {
        self.0[host] == HostProgress::Gone
    }

    /// Whether all hosts are finished or lost.
    pub(super) fn is_over(&self) -> bool {
        self.0.iter().all(|state| *state == HostProgress::Gone)
    }

    /// Returns the hosts that start together, with their synchronisation point, and marks them
    /// busy. Empty while a host is busy.
    pub(super) fn next_group(&mut self) -> (CaseStep, Vec<usize>) {
        if self.0.contains(&HostProgress::Busy) {
            return (CaseStep::default(), Vec::new());
        }
        let mut waiting: BTreeMap<CaseStep, Vec<usize>> = BTreeMap::new();
        for (host, state) in self.0.iter().enumerate() {
            if let HostProgress::Waiting(place) = state {
                waiting.entry(*place).or_default().push(host);
            }
        }
        let (place, next) = waiting.pop_first().unwrap_or_default();
        next.iter().for_each(|host| self.0[*host] = HostProgress::Busy);
        (place, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_synchronise_before_each_case() {
        let mut hosts = Lockstep::new(3);
        hosts.mark_waiting(0, (0, 0));
        hosts.mark_waiting(1, (0, 0));
        assert_eq!(hosts.next_group().1, [] as [usize; 0]);
        hosts.mark_waiting(2, (1, 0));
        assert_eq!(hosts.next_group(), ((0, 0), vec![0, 1]));
        assert_eq!(hosts.next_group().1, [] as [usize; 0]);
        hosts.mark_waiting(0, (0, 1));
        hosts.mark_gone(1);
        assert_eq!(hosts.next_group(), ((0, 1), vec![0]));
        hosts.mark_waiting(0, (1, 0));
        assert_eq!(hosts.next_group(), ((1, 0), vec![0, 2]));
        hosts.mark_gone(0);
        hosts.mark_gone(2);
        assert!(hosts.is_over());
    }
    /// Two hosts with two interleaved cases each: a turn of the first, two of the second, and so
    /// on. One host needs one turn less of the first case.
    #[test]
    fn interleaved_cases_stay_in_step() {
        let turns =
            |places: &[CaseStep]| places.iter().copied().rev().collect::<Vec<CaseStep>>();
        let mut left = [
            turns(&[(0, 0), (0, 1), (1, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 0)]),
            turns(&[(0, 0), (0, 1), (1, 1), (1, 2), (0, 2), (1, 3), (2, 0)]),
        ];
        let mut hosts = Lockstep::new(2);
        let mut began = Vec::new();
        let mut going = vec![0, 1];
        while !hosts.is_over() {
            for host in going {
                match left[host].pop() {
                    Some(place) => hosts.mark_waiting(host, place),
                    None => hosts.mark_gone(host),
                }
            }
            let (place, next) = hosts.next_group();
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
