//! Partners of the benchmarks in which one host exchanges messages with all others.

use std::collections::BTreeMap;

use assay_kernels::mpi::FanPartners;

use super::ConnectedRanks;
use crate::failure::CommandFailure;

impl ConnectedRanks {
    /// Finds the partners of this rank, as OSU's programs do: the first host by name exchanges
    /// messages with all others.
    ///
    /// # Errors
    /// There is one host only, or hosts have different numbers of ranks.
    pub fn join_fan(&mut self) -> Result<(), CommandFailure> {
        let hosts = self.outcome.ranks.iter().map(|it| it.host.as_str());
        let hosts = group_by_host(hosts);
        let partners = find_partners(&hosts, self.world.rank())
            .ok_or_else(|| no_partners(&self.outcome.benchmark, &hosts))?;
        if hosts.len() > 2 {
            self.outcome.settings.push(format!("Hosts: {}", hosts.len()));
        }
        self.world.join_fan(partners);
        Ok(())
    }
}

/// Returns the ranks of each host, in the order of the names of the hosts.
fn group_by_host<'h>(hosts: impl Iterator<Item = &'h str>) -> BTreeMap<&'h str, Vec<u32>> {
    let mut grouped: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (host, rank) in hosts.zip(0..) {
        grouped.entry(host).or_default().push(rank);
    }
    grouped
}

/// Returns the partners of a rank: the ranks with the same place on their hosts; `None` if there is
/// one host, or a host has another number of ranks.
fn find_partners(hosts: &BTreeMap<&str, Vec<u32>>, rank: u32) -> Option<FanPartners> {
    let mut ranks = hosts.values();
    let center = ranks.next()?;
    let others: Vec<_> = ranks.collect();
    if others.is_empty() || others.iter().any(|it| it.len() != center.len()) {
        return None;
    }
    let place = hosts.values().find_map(|own| own.iter().position(|it| *it == rank))?;
    let is_center = center.contains(&rank);
    let partners = match is_center {
        true => others.iter().map(|own| own[place]).collect(),
        false => vec![center[place]],
    };
    Some(FanPartners { is_center, partners })
}

fn no_partners(name: &str, hosts: &BTreeMap<&str, Vec<u32>>) -> CommandFailure {
    let counts: Vec<String> =
        hosts.iter().map(|(host, ranks)| format!("{} on {host}", ranks.len())).collect();
    CommandFailure::usage(format!("{name} needs two hosts or more, with as many ranks on each"))
        .with_reason(format!("the ranks are {}", counts.join(", ")))
        .advise(format!(
            "name the hosts to the launcher: mpirun -n 2 -host a,b assay mpi {name}"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_have_the_same_place_on_their_hosts() {
        for (hosts, rank, is_center, partners) in [
            ("a b", 0, true, vec![1]),
            ("b a", 0, false, vec![1]),
            ("a a b b c c", 1, true, vec![3, 5]),
            ("a b c a b c", 5, false, vec![3]),
            ("a b c a b c", 3, true, vec![4, 5]),
        ] {
            let grouped = group_by_host(hosts.split(' '));
            let expected = FanPartners { is_center, partners };
            assert_eq!(find_partners(&grouped, rank), Some(expected), "{hosts}, rank {rank}");
        }
        for hosts in ["a a", "a a b", "a"] {
            assert_eq!(find_partners(&group_by_host(hosts.split(' ')), 0), None, "{hosts}");
        }
    }
}
