//! Tests of the case order for pairs of hosts: equal workloads are adjacent and share a number.

use super::*;

#[test]
fn equal_workloads_share_a_number() {
    const PERFTEST: Measurer = Measurer {
        name: "ib_send_lat",
        supports: |workload| {
            workload.as_rdma().is_some_and(|work| work.test == RdmaTest::SendLatency)
        },
    };
    let turn = |peer: &str, round| PairTurn {
        peer: peer.to_owned(),
        address: None,
        name: format!("a:{peer}"),
        round,
        together: 1,
        own: RdmaDevice::default(),
        far: RdmaDevice::default(),
    };
    let pairs = PairChoices {
        rounds: 2,
        turns: vec![turn("b", 0), turn("c", 1)],
        is_far_end: false,
        of_mpi: false,
    };
    let measure = |test| {
        Measure::new(
            MeasureRequest::Rdma(RdmaRequest {
                test,
                sizes: None,
                connection: RdmaConnection::Rc,
                iterations: None,
                depth: None,
                queue_pairs: 1,
                both: false,
                device: RdmaDevice::default(),
            }),
            0.01,
        )
    };
    let suite = Suite {
        name: "test".into(),
        title: String::new(),
        budget_s: 60.0,
        measures: [RdmaTest::SendLatency, RdmaTest::ReadLatency].map(measure).to_vec(),
    };
    let plan_choices = PlanChoices {
        by: vec!["assay".into(), "ib_send_lat".into()],
        measurers: &[ASSAY, PERFTEST],
        pairs: Some(pairs),
        ..choices("assay")
    };
    let plan = expand(&suite, &host(), &plan_choices).unwrap();
    let describe = |case: &Case| {
        let pair = case.pair.as_ref().unwrap();
        format!("{} {} {}", pair.workload_number, pair.round, case.id)
    };
    assert_eq!(
        plan.cases.iter().map(describe).collect::<Vec<_>>(),
        [
            "0 0 rdma.send_lat/a:b/rc",
            "0 0 rdma.send_lat/a:b/rc/ib_send_lat",
            "0 1 rdma.send_lat/a:c/rc",
            "0 1 rdma.send_lat/a:c/rc/ib_send_lat",
            "1 0 rdma.read_lat/a:b/rc",
            "1 1 rdma.read_lat/a:c/rc",
        ]
    );
}
