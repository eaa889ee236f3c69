//! First messages of the ranks of a job: version, command line, host and CPUs of each.

use assay_fleet::meminfo;
use assay_fleet::root::Root;
use assay_kernels::pin;
use assay_model::mpi_outcome::MpiRank;
use assay_model::path_text;
use serde::{Deserialize, Serialize};

use crate::failure::CommandFailure;

/// First message of each rank to the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RankHello {
    assay: String,
    /// Command line after the program's name: ranks that measure different things would wait for
    /// each other for ever.
    words: Vec<String>,
    pub(super) host: String,
    cpus: Vec<u32>,
    seen_on: Option<u32>,
    pub(super) memory_available_bytes: Option<u64>,
}

impl RankHello {
    pub(super) fn of_this_rank() -> Self {
        let cpus = pin::allowed_cpus().unwrap_or_default();
        Self {
            assay: env!("CARGO_PKG_VERSION").to_owned(),
            words: std::env::args_os().skip(1).map(|it| path_text::encode(&it)).collect(),
            host: Root::machine().text("proc/sys/kernel/hostname").unwrap_or_default(),
            cpus: cpus.into_iter().map(|cpu| cpu as u32).collect(),
            seen_on: pin::current_cpu().map(|cpu| cpu as u32),
            memory_available_bytes: meminfo::read_bytes(&Root::machine(), "MemAvailable"),
        }
    }

    pub(super) fn to_mpi_rank(&self, rank: u32) -> MpiRank {
        MpiRank {
            rank,
            host: self.host.clone(),
            cpus: self.cpus.clone(),
            seen_on: self.seen_on.into_iter().collect(),
        }
    }
}

/// Parses the hellos of all ranks, which must run this version of assay with one command line.
pub(super) fn parse_hellos(
    messages: &[Vec<u8>],
    own: &RankHello,
) -> Result<Vec<RankHello>, CommandFailure> {
    #[derive(Deserialize)]
    struct Version {
        assay: String,
        host: String,
    }
    for (rank, text) in messages.iter().enumerate() {
        let version = serde_json::from_slice::<Version>(text).ok();
        if version.as_ref().is_none_or(|it| it.assay != own.assay) {
            let (assay, host) = version.map_or_else(
                || ("an unknown version".to_owned(), "an unknown host".to_owned()),
                |it| (it.assay, it.host),
            );
            return Err(CommandFailure::measurement(
                "the ranks run different versions of assay",
            )
            .with_reason(format!(
                "rank {rank} on {host} is assay {assay}, this is {} on {}",
                own.assay, own.host
            ))
            .advise(
                "install the same version on all hosts, preferably on a shared file system",
            ));
        }
    }
    let hellos: Option<Vec<RankHello>> =
        messages.iter().map(|text| serde_json::from_slice(text).ok()).collect();
    let hellos =
        hellos.ok_or_else(|| CommandFailure::measurement("a rank sent a malformed hello"))?;
    check_same_command(&hellos)?;
    Ok(hellos)
}

/// Returns an error unless all ranks were started with the same command line.
fn check_same_command(hellos: &[RankHello]) -> Result<(), CommandFailure> {
    let Some(first) = hellos.first() else { return Ok(()) };
    let other = hellos.iter().zip(0..).find(|(hello, _)| hello.words != first.words);
    let Some((hello, rank)) = other else { return Ok(()) };
    Err(CommandFailure::usage("the ranks were started with different options")
        .with_reason(format!(
            "rank 0 was started as `assay {}`, rank {rank} on {} as `assay {}`",
            first.words.join(" "),
            hello.host,
            hello.words.join(" ")
        ))
        .advise(format!(
            "start all ranks with one command: mpirun -n 2 assay {}",
            first.words.join(" ")
        )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_rank_of_other_version() {
        let hello = |assay: &str, host: &str| RankHello {
            assay: assay.to_owned(),
            words: vec!["mpi".to_owned(), "bw".to_owned()],
            host: host.to_owned(),
            cpus: vec![0],
            seen_on: Some(0),
            memory_available_bytes: None,
        };
        let own = hello("1.0.0", "a");
        let text = |hello: &RankHello| serde_json::to_vec(hello).unwrap();
        assert_eq!(parse_hellos(&[text(&own), text(&own)], &own).unwrap().len(), 2);
        for (other, expected) in [
            (text(&hello("1.0.1", "b")), "rank 1 on b is assay 1.0.1, this is 1.0.0 on a"),
            (b"\x01\x02".to_vec(), "rank 1 on an unknown host"),
            (b"{\"assay\":\"2\",\"host\":\"c\"}".to_vec(), "rank 1 on c is assay 2"),
        ] {
            let message = parse_hellos(&[text(&own), other], &own).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        let other =
            RankHello { words: vec!["mpi".to_owned(), "latency".to_owned()], ..own.clone() };
        let message = parse_hellos(&[text(&own), text(&other)], &own).unwrap_err().to_string();
        let expected =
            "rank 0 was started as `assay mpi bw`, rank 1 on a as `assay mpi latency`";
        assert!(message.contains(expected), "{message}");
    }
}
