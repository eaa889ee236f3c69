//! `assay rdma` where there is no RDMA, and what it refuses. Measurements are in the laboratory
//! (`cargo xtask lab rdma`), because no other machine is sure to have a device.

use std::fs;

use crate::program::World;

#[test]
fn without_a_device_it_says_what_is_missing_and_what_to_do() {
    if fs::read_dir("/sys/class/infiniband").is_ok_and(|mut found| found.next().is_some()) {
        eprintln!(
            "SKIPPED without_a_device_it_says_what_is_missing_and_what_to_do: this machine has one"
        );
        return;
    }
    let world = World::new();
    for words in [
        &["rdma", "send-lat", "127.0.0.1"][..],
        &["rdma", "read-bw"],
        &["rdma", "atomic-lat", "--loopback"],
    ] {
        let reported = world.assay(words).failed_with(4).err;
        assert!(reported.contains("there is no RDMA device on this machine"), "{reported}");
        assert!(reported.contains("rdma link add"), "{reported}");
    }
    let listed = world.assay(&["list"]).succeeded().out;
    assert!(listed.contains("There are no runs yet"), "{listed}");
}

#[test]
fn what_a_test_cannot_do_is_refused_with_the_reason() {
    let world = World::new();
    for (words, expected) in [
        (&["rdma", "write-lat", "-c", "UD"][..], "UD carries messages only"),
        (&["rdma", "atomic-lat", "-s", "16"], "atomic operations have 8 bytes"),
        (&["rdma", "send-lat", "-t", "16"], "latency is measured one by one"),
        (&["rdma", "read-lat", "-q", "2"], "latency is measured one by one"),
        (&["rdma", "write-lat", "-b"], "latency is measured one by one"),
        (&["rdma", "send-bw", "-c", "UD", "-b"], "counted where they arrive"),
        (&["rdma", "send-bw", "-q", "0"], "16384"),
        (&["rdma", "send-lat", "-m", "1000"], "256, 512, 1024, 2048 and 4096"),
        (&["rdma", "send-lat", "-a", "-s", "2"], "cannot be used with"),
    ] {
        let reported = world.assay(words).failed_with(2).err;
        assert!(reported.contains(expected), "{words:?}: {reported}");
    }
}
