//! Pairs of hosts that measure the network between them, and their rounds: `a:b,c:d`, `a:b+c:d`, or
//! a matrix over all hosts.

use std::collections::BTreeSet;

use assay_model::plan::expand::{PairChoices, PairTurn};

use crate::fleet_file::FleetHost;

/// Matrix of pairs over all hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairMatrix {
    /// Every host to every other one, pair by pair.
    All,
    /// Every host to the next one, and the last to the first, pair by pair.
    Ring,
    /// Same pairs as [`Ring`](Self::Ring), in two or three rounds of pairs that share no host.
    Neighbours,
    /// First half of the hosts to the second half, all at once.
    Bisection,
}

/// Error in a list of pairs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PairsError {
    #[error("{list:?}: column {column}: {pair:?} is not a pair")]
    Malformed { list: String, column: usize, pair: String },
    #[error("{list:?}: column {column}: {host} is not in --hosts")]
    UnknownHost { list: String, column: usize, host: String },
    #[error("{list:?}: column {column}: {host} is both ends of the pair")]
    SameHost { list: String, column: usize, host: String },
    #[error(
        "{list:?}: column {column}: {host} is already in a pair that is measured together with this one"
    )]
    BusyHost { list: String, column: usize, host: String },
    #[error("{list:?}: column {column}: {pair} is named twice")]
    Duplicate { list: String, column: usize, pair: String },
    #[error("a matrix needs at least two hosts")]
    TooFewHosts,
}

impl PairsError {
    /// Returns the recommended action.
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => {
                "name the sender and the receiver like a:b, pairs that follow each other like a:b,c:d, and pairs that measure together like a:b+c:d"
            }
            Self::UnknownHost { .. } => "list every host of a pair in --hosts",
            Self::SameHost { .. } => {
                "use `assay run network` without --pairs to measure loopback"
            }
            Self::BusyHost { .. } => {
                "write a comma between pairs that share a host: they take turns"
            }
            Self::Duplicate { .. } => "leave out one of them",
            Self::TooFewHosts => "add hosts with --hosts",
        }
    }
}

/// Sequence of rounds, each of pairs that measure together. A pair is two host numbers; the first
/// host begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairRounds {
    rounds: Vec<Vec<(usize, usize)>>,
    hosts: Vec<FleetHost>,
    has_mpi_ranks: bool,
}

impl PairRounds {
    /// Parses `a:b,c:d+e:f`: commas separate rounds, plus signs separate pairs of one round.
    ///
    /// # Errors
    /// [`PairsError`] with the position.
    pub fn parse(list: &str, hosts: &[FleetHost]) -> Result<Self, PairsError> {
        let mut rounds = Vec::new();
        let mut known = BTreeSet::new();
        let mut column = 1;
        for part in list.split(',') {
            let mut round: Vec<(usize, usize)> = Vec::new();
            for text in part.split('+') {
                let pair = parse_pair(list, column, text, hosts)?;
                let is_busy =
                    |host: &usize| round.iter().any(|it| it.0 == *host || it.1 == *host);
                if let Some(host) = [pair.0, pair.1].into_iter().find(is_busy) {
                    let (list, host) = (list.to_owned(), hosts[host].name.clone());
                    return Err(PairsError::BusyHost { list, column, host });
                }
                if !known.insert(pair) {
                    let (list, pair) = (list.to_owned(), text.to_owned());
                    return Err(PairsError::Duplicate { list, column, pair });
                }
                round.push(pair);
                column += text.chars().count() + 1;
            }
            rounds.push(round);
        }
        Ok(Self { rounds, hosts: hosts.to_vec(), has_mpi_ranks: false })
    }

    /// Creates the rounds of a matrix over these hosts.
    ///
    /// # Errors
    /// [`PairsError::TooFewHosts`].
    pub fn from_matrix(matrix: PairMatrix, hosts: &[FleetHost]) -> Result<Self, PairsError> {
        let is_client = |host: &usize| !hosts[*host].is_far_end;
        let clients: Vec<usize> = (0..hosts.len()).filter(is_client).collect();
        let mut rounds: Vec<Vec<(usize, usize)>> = match matrix {
            // Neighbours first; hosts that are only a far end begin no pair.
            PairMatrix::All => {
                let (all, count) = (0..hosts.len(), hosts.len());
                let from = |step| all.clone().map(move |host| (host, (host + step) % count));
                let pairs = (1..count).flat_map(from).filter(|(from, _)| is_client(from));
                pairs.map(|pair| vec![pair]).collect()
            }
            PairMatrix::Ring => {
                ring_pairs(&clients).into_iter().map(|pair| vec![pair]).collect()
            }
            PairMatrix::Neighbours => {
                let pairs = ring_pairs(&clients);
                let last = pairs.len().saturating_sub(1);
                // The last pair of an odd number would share a host with the first.
                let round =
                    |at: usize| if at == last && at.is_multiple_of(2) { 2 } else { at % 2 };
                let of = |number| {
                    let pairs = pairs.iter().enumerate();
                    pairs
                        .filter(|(at, _)| round(*at) == number)
                        .map(|(_, pair)| *pair)
                        .collect()
                };
                (0..3).map(of).collect()
            }
            PairMatrix::Bisection => {
                let (near, far) = clients.split_at(clients.len() / 2);
                vec![near.iter().copied().zip(far.iter().copied()).collect()]
            }
        };
        rounds.retain(|round| round.iter().all(|(from, to)| from != to) && !round.is_empty());
        if rounds.is_empty() {
            return Err(PairsError::TooFewHosts);
        }
        Ok(Self { rounds, hosts: hosts.to_vec(), has_mpi_ranks: false })
    }

    /// Uses MPI ranks at both ends.
    #[must_use]
    pub fn with_mpi_ranks(self) -> Self {
        Self { has_mpi_ranks: true, ..self }
    }

    /// Returns whether there are no pairs: each host measures by itself.
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Returns the other end of the pair that a host begins in a round.
    pub fn peer(&self, host: usize, round: u32) -> Option<usize> {
        let round = self.rounds.get(round as usize)?;
        round.iter().find(|pair| pair.0 == host).map(|pair| pair.1)
    }

    /// Returns the pairs that a host begins; `None` if there are no pairs at all.
    pub fn pairs_of_host(&self, host: usize) -> Option<PairChoices> {
        let turn = |(number, round): (usize, &Vec<(usize, usize)>)| {
            let (_, peer) = round.iter().find(|pair| pair.0 == host)?;
            Some(PairTurn {
                peer: self.hosts[*peer].name.clone(),
                address: self.hosts[*peer].address.clone(),
                name: round_name(round, &self.hosts),
                round: u32::try_from(number).ok()?,
                together: u32::try_from(round.len()).ok()?,
                own: self.hosts[host].rdma.clone(),
                far: self.hosts[*peer].rdma.clone(),
            })
        };
        let turns = self.rounds.iter().enumerate().filter_map(turn).collect();
        let rounds = u32::try_from(self.rounds.len()).unwrap_or(u32::MAX);
        let is_far_end = self.hosts.get(host)?.is_far_end;
        let of_mpi = self.has_mpi_ranks;
        (!self.is_empty()).then_some(PairChoices { rounds, turns, is_far_end, of_mpi })
    }
}

/// Pairs each host with the next, and the last with the first.
fn ring_pairs(clients: &[usize]) -> Vec<(usize, usize)> {
    let next = clients.iter().cycle().skip(1);
    clients.iter().copied().zip(next.copied()).collect()
}

/// Formats the first pair of a round and the number of others: `a:b+3`.
fn round_name(round: &[(usize, usize)], hosts: &[FleetHost]) -> String {
    let named =
        |(from, to): &(usize, usize)| format!("{}:{}", hosts[*from].name, hosts[*to].name);
    let first = round.first().map(named);
    let others = if round.len() > 1 { format!("+{}", round.len() - 1) } else { String::new() };
    first.unwrap_or_default() + &others
}

/// Parses a pair. Names such as addresses may contain colons; the split with two known hosts
/// counts.
fn parse_pair(
    list: &str,
    column: usize,
    text: &str,
    hosts: &[FleetHost],
) -> Result<(usize, usize), PairsError> {
    let place = |name: &str| hosts.iter().position(|host| host.name == name);
    let cuts = || text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let found = cuts().find_map(|(from, to)| Some((place(from)?, place(to)?)));
    let list = || list.to_owned();
    match found {
        Some((from, to)) if from == to => {
            Err(PairsError::SameHost { list: list(), column, host: hosts[from].name.clone() })
        }
        Some(pair) => Ok(pair),
        None => match cuts().next() {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => {
                let (host, later) = match place(from) {
                    Some(_) => (to, from.chars().count() + 1),
                    None => (from, 0),
                };
                let (host, column) = (host.to_owned(), column + later);
                Err(PairsError::UnknownHost { list: list(), column, host })
            }
            _ => Err(PairsError::Malformed { list: list(), column, pair: text.to_owned() }),
        },
    }
}

#[cfg(test)]
mod tests {
    use assay_model::workload::RdmaDevice;

    use super::*;

    fn hosts(names: &str) -> Vec<FleetHost> {
        names.split(' ').map(FleetHost::from_name).collect()
    }

    fn format_rounds(rounds: &PairRounds, hosts: &[FleetHost]) -> String {
        let pair = |it: &(usize, usize)| format!("{}:{}", hosts[it.0].name, hosts[it.1].name);
        let round =
            |it: &Vec<(usize, usize)>| it.iter().map(pair).collect::<Vec<_>>().join("+");
        rounds.rounds.iter().map(round).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn parses_pairs_and_rounds() {
        let hosts = hosts("a b c ::1 user@d");
        for (list, expected) in [
            ("a:b", "a:b"),
            ("a:b,b:a,c:user@d", "a:b,b:a,c:user@d"),
            ("a:b+c:user@d,a:c", "a:b+c:user@d,a:c"),
            ("a:::1,::1:a", "a:::1,::1:a"),
            ("a", r#""a": column 1: "a" is not a pair"#),
            ("a:b,", r#""a:b,": column 5: "" is not a pair"#),
            ("a:b,a:", r#""a:b,a:": column 5: "a:" is not a pair"#),
            ("a:b,x:b", r#""a:b,x:b": column 5: x is not in --hosts"#),
            ("a:b,a:x", r#""a:b,a:x": column 7: x is not in --hosts"#),
            ("a:a", r#""a:a": column 1: a is both ends of the pair"#),
            ("a:b,a:b", r#""a:b,a:b": column 5: a:b is named twice"#),
            (
                "a:b+b:c",
                r#""a:b+b:c": column 5: b is already in a pair that is measured together with this one"#,
            ),
        ] {
            let found = match PairRounds::parse(list, &hosts) {
                Ok(rounds) => format_rounds(&rounds, &hosts),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn matrices_contain_every_pair_once() {
        let check = |matrix, names: &str, expected: &str| {
            let hosts = hosts(names);
            assert_eq!(
                format_rounds(&PairRounds::from_matrix(matrix, &hosts).unwrap(), &hosts),
                expected
            );
        };
        check(PairMatrix::All, "a b c", "a:b,b:c,c:a,a:c,b:a,c:b");
        check(PairMatrix::All, "a b", "a:b,b:a");
        check(PairMatrix::Ring, "a b c d", "a:b,b:c,c:d,d:a");
        check(PairMatrix::Neighbours, "a b", "a:b,b:a");
        check(PairMatrix::Neighbours, "a b c d", "a:b+c:d,b:c+d:a");
        check(PairMatrix::Neighbours, "a b c d e", "a:b+c:d,b:c+d:e,e:a");
        check(PairMatrix::Bisection, "a b c d", "a:c+b:d");
        check(PairMatrix::Bisection, "a b c", "a:b");
        for matrix in
            [PairMatrix::All, PairMatrix::Ring, PairMatrix::Neighbours, PairMatrix::Bisection]
        {
            assert_eq!(
                PairRounds::from_matrix(matrix, &hosts("a")),
                Err(PairsError::TooFewHosts)
            );
        }
        let mut with_sink = hosts("a sink b");
        with_sink[1].is_far_end = true;
        let rounds = PairRounds::from_matrix(PairMatrix::All, &with_sink).unwrap();
        assert_eq!(format_rounds(&rounds, &with_sink), "a:sink,b:a,a:b,b:sink");
        let rounds = PairRounds::from_matrix(PairMatrix::Ring, &with_sink).unwrap();
        assert_eq!(format_rounds(&rounds, &with_sink), "a:b,b:a");
    }

    #[test]
    fn each_host_gets_the_pairs_it_begins() {
        let mut hosts = hosts("a b c d");
        hosts[1].address = Some("192.0.2.2".to_owned());
        hosts[1].rdma.name = Some("mlx5_ib0".to_owned());
        let rounds = PairRounds::parse("c:d,a:b+d:c", &hosts).unwrap();
        let of_a = rounds.pairs_of_host(0).unwrap();
        let turn = PairTurn {
            peer: "b".to_owned(),
            address: Some("192.0.2.2".to_owned()),
            name: "a:b+1".to_owned(),
            round: 1,
            together: 2,
            own: RdmaDevice::default(),
            far: hosts[1].rdma.clone(),
        };
        assert_eq!(
            of_a,
            PairChoices { rounds: 2, turns: vec![turn], is_far_end: false, of_mpi: false }
        );
        assert_eq!(rounds.pairs_of_host(1).unwrap().turns, []);
        assert_eq!(PairRounds::default().pairs_of_host(0), None);
    }
}
