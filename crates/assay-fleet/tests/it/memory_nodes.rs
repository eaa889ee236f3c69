//! Pairs of NUMA nodes that are measured on hosts with and without nodes that only have memory.

use std::fmt::Write as _;

use assay_fleet::facts;
use assay_model::benchmark::Benchmark;
use assay_model::plan::expand::{self, Measurer, PlanChoices};
use assay_model::quantity::Bytes;
use assay_model::suite::{Measure, MeasureRequest, Suite};
use expect_test::{Expect, expect};

use crate::test_host::TestHost;

const ASSAY: Measurer = Measurer { name: "assay", supports: |_| true };

/// Lists the copies of a host: the case, the size of an array, and node and size of the chain.
fn list_copies(host: &TestHost) -> String {
    let facts = facts::read(&host.root());
    let measure = Measure::new(MeasureRequest::Machine(Benchmark::MemoryCopy), 0.01);
    let suite = Suite {
        name: "copies".into(),
        title: String::new(),
        budget_s: 60.0,
        measures: vec![measure],
    };
    let choices = PlanChoices::new(&[ASSAY], 7);
    let plan = expand::expand(&suite, &facts, &choices).unwrap();
    let mut text = String::new();
    for case in &plan.cases {
        let work = case.workload.as_copy().unwrap();
        let (_, pair) = case.id.split_once('/').unwrap();
        let array = Bytes(work.bytes_per_array);
        let chain = work.node.map(|it| format!("node {} {}", it.node, Bytes(it.chain_bytes)));
        writeln!(text, "{pair} {array} {}", chain.as_deref().unwrap_or("-")).unwrap();
    }
    text
}

fn check(host: &TestHost, expected: &Expect) {
    expected.assert_eq(&list_copies(host));
}

#[test]
fn sources_include_memory_without_cpus() {
    check(
        &TestHost::load("epyc-cxl"),
        &expect![[r#"
        numa:0/from-numa:0 512 MiB node 0 128 MiB
        numa:0/from-numa:1 1 GiB node 1 128 MiB
        numa:0/from-numa:2 512 MiB node 2 128 MiB
        numa:1/from-numa:0 1 GiB node 0 128 MiB
        numa:1/from-numa:1 512 MiB node 1 128 MiB
        numa:1/from-numa:2 512 MiB node 2 128 MiB
    "#]],
    );
    check(
        &TestHost::load("knl-flat"),
        &expect![[r#"
        numa:0/from-numa:0 16 MiB node 0 4 MiB
        numa:0/from-numa:1 16 MiB node 1 4 MiB
    "#]],
    );
}

#[test]
fn two_sockets_are_compared_with_each_other() {
    check(
        &TestHost::load("xeon-2s-smt"),
        &expect![[r#"
        numa:0/from-numa:0 110 MiB node 0 96 MiB
        numa:0/from-numa:1 220 MiB node 1 96 MiB
        numa:1/from-numa:0 220 MiB node 0 96 MiB
        numa:1/from-numa:1 110 MiB node 1 96 MiB
    "#]],
    );
}

#[test]
fn small_memory_limits_arrays_and_chain() {
    let host = TestHost::load("knl-flat");
    host.write("sys/devices/system/node/node1/meminfo", b"Node 1 MemTotal: 24576 kB");
    check(
        &host,
        &expect![[r#"
        numa:0/from-numa:0 16 MiB node 0 4 MiB
        numa:0/from-numa:1 4 MiB node 1 4 MiB
    "#]],
    );
}

/// One node has no pairs, and a map that omits a CPU is not used.
#[test]
fn one_node_has_no_pair_of_nodes() {
    let host = TestHost::load("knl-flat");
    host.remove("sys/devices/system/node/node1");
    check(
        &host,
        &expect![[r#"
        l3:0/from-l3:0 4 MiB -
        l3:0/from-l3:1 8 MiB -
        l3:0/from-l3:2 8 MiB -
        l3:0/from-l3:3 8 MiB -
        l3:1/from-l3:0 8 MiB -
        l3:1/from-l3:1 4 MiB -
        l3:1/from-l3:2 8 MiB -
        l3:1/from-l3:3 8 MiB -
        l3:2/from-l3:0 8 MiB -
        l3:2/from-l3:1 8 MiB -
        l3:2/from-l3:2 4 MiB -
        l3:2/from-l3:3 8 MiB -
        l3:3/from-l3:0 8 MiB -
        l3:3/from-l3:1 8 MiB -
        l3:3/from-l3:2 8 MiB -
        l3:3/from-l3:3 4 MiB -
    "#]],
    );
    let host = TestHost::load("epyc-cxl");
    host.write("sys/devices/system/node/node0/cpulist", b"0-3");
    let copies = list_copies(&host);
    assert!(copies.lines().all(|it| it.starts_with("l3:") && it.ends_with(" -")), "{copies}");
    assert_eq!(copies.lines().count(), 64);
}
