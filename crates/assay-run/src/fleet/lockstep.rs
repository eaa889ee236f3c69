//! Which hosts go on when: all that wait for the same case, once nobody measures any more.
//!
//! Pure: what happens comes in, who may start comes out. It cannot wait for ever, as each start sends hosts on
//! in an order that is fixed, and a host that is gone is waited for by nobody. Cases that take turns are gone back to,
//! so that a host waits with the later one for whoever still has turns of an earlier one.

use std::collections::BTreeMap;

/// Where hosts meet: the number of a case in the order of the run, and a step of it.
pub(super) type Place = (usize, u32);

/// Where each host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It plans or measures.
    Busy,
    Waits(Place),
    /// It has nothing left to do, or is lost.
    Gone,
}

/// The hosts of a run by number.
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

    /// Whether nobody has anything left to do.
    pub(super) fn is_over(&self) -> bool {
        self.0.iter().all(|state| *state == State::Gone)
    }

    /// Those who may start together, and what they start; they are busy from now on. None while somebody is.
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
    /// Two hosts with two cases each, of which they have a turn of the first, two of the second, and so on; one of them
    /// needs one turn less of the first.
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
