//! Conditions of imported results, against those of assay's own measurement of the same work.

use std::path::Path;

use assay_model::attribute::identity_attributes;
use assay_model::benchmark::RdmaTest;
use assay_model::workload::{Domain, LinpackWorkload, RdmaWorkload, StreamWorkload};

use super::*;

/// Returns the conditions of all measurements of a file, with the benchmark of each.
fn imported_conditions(file: &str) -> Vec<(Benchmark, Attributes)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-adapters/tests/golden");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let found = import::read(&text).unwrap().contents.measurements;
    found.into_iter().map(|it| (it.benchmark, identity_attributes(&it.dimensions))).collect()
}

/// `compare` pairs an imported result with one of assay whose conditions it does not contradict: a
/// condition that the file has must be the same in assay's own result.
#[test]
fn imported_and_own_results_have_equal_conditions() {
    let stream = Workload::Stream(StreamWorkload {
        domains: vec![Domain { placement: "node".into(), cpus: vec![0, 1] }],
        bytes_per_array: 1 << 20,
        cache_multiple: 4.0,
    });
    let linpack =
        Workload::Linpack(LinpackWorkload { n: 1000, cpus: vec![0, 1], blas: None, seed: 1 });
    let perftest = |test| {
        let to = Some("node2".to_owned());
        Workload::Rdma(RdmaWorkload::perftest_default(test, to))
    };
    for (file, own) in [
        ("stream/5.10-two-threads.out", stream),
        ("xhpl/2.3-three-rows.out", linpack),
        ("perftest/ib_send_lat.txt", perftest(RdmaTest::SendLatency)),
        ("perftest/ib_send_bw.txt", perftest(RdmaTest::SendBandwidth)),
    ] {
        let conditions = identity_attributes(&own.dimensions("assay"));
        let imported = imported_conditions(file);
        assert!(!imported.is_empty(), "{file}");
        for (benchmark, mut found) in imported {
            assert_eq!(benchmark, own.benchmark(), "{file}");
            // The size of a message belongs to its series.
            found.remove(&Attribute::Bytes);
            for (name, value) in found {
                assert_eq!(conditions.get(&name), Some(&value), "{file}: {}", name.name());
            }
        }
    }
}
