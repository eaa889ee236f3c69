//! Tests of MPI measures: placements of the ranks, sizes, and errors.

use super::*;
use crate::benchmark::MpiTest;
use crate::mpi_installation::{MpiInstallation, MpiLauncherKind};
use crate::mpi_outcome::MpiAbi;
use crate::suite::MpiRequest;
use crate::workload::RdmaDevice;

fn installation(key: &str, starter: MpiLauncherKind, abi: MpiAbi) -> MpiInstallation {
    MpiInstallation {
        key: key.into(),
        name: key.into(),
        version: String::new(),
        prefix: "/opt".into(),
        library: "/opt/lib/libmpi.so".into(),
        abi,
        launcher: "/opt/bin/mpiexec".into(),
        starter,
    }
}

fn two_installations() -> MpiChoices {
    let installations = vec![
        installation("mpich-4.0.2", MpiLauncherKind::Hydra, MpiAbi::Mpich),
        installation("open-mpi-4.1.4", MpiLauncherKind::Orte, MpiAbi::OpenMpi),
    ];
    MpiChoices { installations, ..MpiChoices::default() }
}

fn mpi_request(test: MpiTest, placement: MpiPlacement) -> MeasureRequest {
    let placements = vec![placement];
    MeasureRequest::Mpi(MpiRequest { test, placements, ranks: None, from: None, to: None })
}

fn check(request: MeasureRequest, host: &HostFacts, choices: MpiChoices, expected: &Expect) {
    let text = match plan_with("assay", request, host, choices) {
        Err(error) => error.to_string(),
        Ok(plan) => plan.cases.iter().map(format_case).collect(),
    };
    expected.assert_eq(&text);
}

#[test]
fn expands_pairs_and_installations() {
    check(
        mpi_request(MpiTest::Latency, MpiPlacement::Pairs),
        &host(),
        two_installations(),
        &expect![[r#"
            mpi.latency/same-core/mpich-4.0.2 2 ranks on [0, 8], 0 to 4194304 B 7.5 s
            mpi.latency/same-core/open-mpi-4.1.4 2 ranks on [0, 8], 0 to 4194304 B 7.5 s
            mpi.latency/same-cache/mpich-4.0.2 2 ranks on [0, 1], 0 to 4194304 B 7.5 s
            mpi.latency/same-cache/open-mpi-4.1.4 2 ranks on [0, 1], 0 to 4194304 B 7.5 s
            mpi.latency/same-socket/mpich-4.0.2 2 ranks on [0, 2], 0 to 4194304 B 7.5 s
            mpi.latency/same-socket/open-mpi-4.1.4 2 ranks on [0, 2], 0 to 4194304 B 7.5 s
            mpi.latency/across-sockets/mpich-4.0.2 2 ranks on [0, 4], 0 to 4194304 B 7.5 s
            mpi.latency/across-sockets/open-mpi-4.1.4 2 ranks on [0, 4], 0 to 4194304 B 7.5 s
        "#]],
    );
}

#[test]
fn collectives_use_one_rank_per_core() {
    check(
        mpi_request(MpiTest::Allreduce, MpiPlacement::Node),
        &host(),
        two_installations(),
        &expect![[r#"
        mpi.allreduce/node/mpich-4.0.2 8 ranks on [0, 1, 2, 3, 4, 5, 6, 7], 4 to 1048576 B 30.0 s
        mpi.allreduce/node/open-mpi-4.1.4 8 ranks on [0, 1, 2, 3, 4, 5, 6, 7], 4 to 1048576 B 30.0 s
    "#]],
    );
    let choices = MpiChoices { ranks: Some(5), ..two_installations() };
    check(
        mpi_request(MpiTest::MessageRate, MpiPlacement::Node),
        &host(),
        choices,
        &expect![[r#"
        mpi.mbw_mr/node/mpich-4.0.2 4 ranks on [0, 1, 2, 4], 1 to 4194304 B 30.0 s
        mpi.mbw_mr/node/open-mpi-4.1.4 4 ranks on [0, 1, 2, 4], 1 to 4194304 B 30.0 s
    "#]],
    );
    check(
        mpi_request(MpiTest::Barrier, MpiPlacement::Node),
        &host(),
        two_installations(),
        &expect![[r#"
        mpi.barrier/node/mpich-4.0.2 8 ranks on [0, 1, 2, 3, 4, 5, 6, 7], 0 to 0 B 30.0 s
        mpi.barrier/node/open-mpi-4.1.4 8 ranks on [0, 1, 2, 3, 4, 5, 6, 7], 0 to 0 B 30.0 s
    "#]],
    );
}

#[test]
fn leaves_hosts_to_launcher() {
    let hosts = MpiHosts { list: Some("a,b".into()), file: None };
    let choices = MpiChoices { hosts, sizes: Some((8, 1024)), ..two_installations() };
    check(
        mpi_request(MpiTest::Bandwidth, MpiPlacement::Pairs),
        &host(),
        choices,
        &expect![[r#"
        mpi.bw/hosts/mpich-4.0.2 2 ranks on [], 8 to 1024 B 30.0 s
        mpi.bw/hosts/open-mpi-4.1.4 2 ranks on [], 8 to 1024 B 30.0 s
    "#]],
    );
}

#[test]
fn binds_pair_near_network() {
    let hosts = MpiHosts { list: Some("a,b".into()), file: None };
    let choices =
        MpiChoices { hosts, near_network: Some(1), sizes: Some((8, 8)), ..two_installations() };
    check(
        mpi_request(MpiTest::Latency, MpiPlacement::Pairs),
        &host(),
        choices.clone(),
        &expect![[r#"
            mpi.latency/hosts/mpich-4.0.2 2 ranks on [4, 4], 8 to 8 B 30.0 s
            mpi.latency/hosts/open-mpi-4.1.4 2 ranks on [4, 4], 8 to 8 B 30.0 s
        "#]],
    );
    check(
        mpi_request(MpiTest::Allreduce, MpiPlacement::Node),
        &host(),
        choices,
        &expect![[r#"
        mpi.allreduce/hosts/mpich-4.0.2 2 ranks on [], 8 to 8 B 30.0 s
        mpi.allreduce/hosts/open-mpi-4.1.4 2 ranks on [], 8 to 8 B 30.0 s
    "#]],
    );
}

#[test]
fn rejects_impossible_placements() {
    let mut small = host();
    small.topology.cpus.truncate(2);
    check(
        mpi_request(MpiTest::Latency, MpiPlacement::SameCore),
        &small,
        two_installations(),
        &expect!["there is no pair of CPUs `same-core` on this machine; it has same-cache"],
    );
    small.topology.cpus.truncate(1);
    check(
        mpi_request(MpiTest::Latency, MpiPlacement::Pairs),
        &small,
        two_installations(),
        &expect!["there is no pair of CPUs `pairs` on this machine; it has one usable CPU"],
    );
    check(
        mpi_request(MpiTest::Allreduce, MpiPlacement::Node),
        &small,
        two_installations(),
        &expect![
            "there is no pair of cores for allreduce on this machine; it has 1 usable core"
        ],
    );
    for (ranks, sizes, expected) in [
        (
            Some(1),
            None,
            expect!["the number of ranks is too small: 1 given, at least 2 needed"],
        ),
        (
            Some(2_000_000),
            None,
            expect!["the number of ranks is 2000000, but must be at most 1048576"],
        ),
        (
            None,
            Some((8, 4)),
            expect!["the largest message is too small: 4 B given, at least 8 B needed"],
        ),
        (
            None,
            Some((8, u64::MAX)),
            expect![
                "a message is too large: 18446744073709551615 B given, at most 1 GiB possible"
            ],
        ),
        (
            None,
            Some((8, 1 << 30)),
            expect![
                "alltoall with 8 ranks needs 137438953472 B, but only 68719476736 B of memory is usable"
            ],
        ),
    ] {
        let choices = MpiChoices { ranks, sizes, ..two_installations() };
        check(mpi_request(MpiTest::Alltoall, MpiPlacement::Node), &host(), choices, &expected);
    }
    check(
        mpi_request(MpiTest::NeighborAllgather, MpiPlacement::SameCache),
        &host(),
        two_installations(),
        &expect!["the number of ranks in a ring is too small: 2 given, at least 3 needed"],
    );
}

#[test]
fn workload_round_trips() {
    let plan = plan_with(
        "assay",
        mpi_request(MpiTest::Bandwidth, MpiPlacement::Pairs),
        &host(),
        two_installations(),
    );
    let workload = plan.unwrap().cases.remove(0).workload;
    let stored = serde_json::to_value(&workload).unwrap();
    assert_eq!(stored["benchmark"], "mpi.bw");
    assert_eq!(serde_json::from_value::<Workload>(stored).unwrap(), workload);
}

#[test]
fn mpi_pairs_span_hosts_on_request() {
    let turn = |peer: &str, round| PairTurn {
        peer: peer.to_owned(),
        address: None,
        name: format!("a:{peer}"),
        round,
        together: 1,
        own: RdmaDevice::default(),
        far: RdmaDevice::default(),
    };
    let turns = vec![turn("b", 0), turn("c", 1)];
    let pairs =
        |of_mpi| PairChoices { rounds: 2, turns: turns.clone(), is_far_end: false, of_mpi };
    let planned = |of_mpi| {
        let request = mpi_request(MpiTest::Latency, MpiPlacement::SameCache);
        let plan = plan_of_pairs(
            ("assay", request),
            &host(),
            two_installations(),
            Some(pairs(of_mpi)),
        );
        let line = |case: &Case| {
            let peer = case.pair.as_ref().map_or("alone", |pair| &pair.peer);
            format!("{} {peer} {:.1} s", case.id, case.stopping.budget_s)
        };
        plan.unwrap().cases.iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        planned(true),
        [
            "mpi.latency/a:b/mpich-4.0.2 b 15.0 s",
            "mpi.latency/a:c/mpich-4.0.2 c 15.0 s",
            "mpi.latency/a:b/open-mpi-4.1.4 b 15.0 s",
            "mpi.latency/a:c/open-mpi-4.1.4 c 15.0 s",
        ]
    );
    assert_eq!(
        planned(false),
        [
            "mpi.latency/same-cache/mpich-4.0.2 alone 30.0 s",
            "mpi.latency/same-cache/open-mpi-4.1.4 alone 30.0 s",
        ]
    );
}
