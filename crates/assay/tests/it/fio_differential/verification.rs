//! Verification of what another run wrote: `verify_only`, and states of verification.

use std::process::Command;

use super::{compare, trace};
use crate::program::World;

#[test]
fn only_verifying_counts_as_in_fio() {
    const WRITTEN: &str = "[global]\nwrite_lat_log=L\nlog_offset=1\nfilename=x\nsize=256k\n\
                           verify=md5\nioengine=psync\n";
    for options in [
        "rw=write\n",
        "rw=randwrite\nbs=8k\n",
        "rw=randwrite\nloops=2\n",
        "rw=write\nnumber_ios=20\n",
        "rw=write\nfsync=4\n",
        "rw=randwrite\ndo_verify=0\n",
        "rw=write\nverify=pattern\nverify_pattern=%o\n",
        "rw=randwrite\nioengine=libaio\niodepth=4\n",
    ] {
        let job = format!("{WRITTEN}{options}[w]\n[v]\nstonewall\nverify_only\n");
        let there = World::in_memory();
        let Some((expected, complaint)) = trace(&Command::new("fio"), &there, &job) else {
            return eprintln!("SKIPPED only_verifying_counts_as_in_fio: fio is not installed");
        };
        assert!(expected.succeeded, "{job}{complaint}");
        assert_eq!(compare(&job, &expected, &complaint), Some(Ok(())));
    }
}

/// fio 3.33 counts no pass of reads that it verifies as done, and ends such a job.
#[test]
fn reads_that_are_verified_end_after_a_pass_as_in_fio() {
    const WRITTEN: &str = "[global]\nwrite_lat_log=L\nlog_offset=1\nfilename=x\nsize=256k\n\
                           verify=md5\nioengine=psync\n[w]\nrw=write\ndo_verify=0\n[r]\nstonewall\n";
    for options in [
        "rw=read\nloops=3\n",
        "rw=read:4k\nloops=2\n",
        "rw=randread\nloops=2\nio_size=700k\n",
        "rw=randread\nnorandommap=1\nio_size=700k\n",
        "rw=randread\nnumber_ios=20\nloops=3\n",
        "rw=read\nio_size=700k\nverify_backlog=8\n",
        "rw=randread\nio_size=700k\ndo_verify=0\n",
        "rw=randread\nverify_only=1\nloops=2\n",
        "rw=read\nioengine=libaio\niodepth=4\nloops=3\n",
        "rw=randread\nioengine=libaio\niodepth=4\nnorandommap=1\nverify_backlog=128\n\
         verify_backlog_batch=64\ntime_based=1\nruntime=9\n",
        "rw=read\nioengine=libaio\niodepth=4\nio_size=700k\ntime_based=1\nruntime=9\n",
    ] {
        let job = format!("{WRITTEN}{options}");
        let there = World::in_memory();
        let Some((expected, complaint)) = trace(&Command::new("fio"), &there, &job) else {
            return eprintln!(
                "SKIPPED reads_that_are_verified_end_after_a_pass_as_in_fio: fio is not installed"
            );
        };
        assert!(expected.succeeded, "{job}{complaint}");
        assert_eq!(compare(&job, &expected, &complaint), Some(Ok(())));
    }
}

const WRITE: [&str; 7] = [
    "fio",
    "--name=a",
    "--filename=x",
    "--rw=randwrite",
    "--size=64k",
    "--verify=md5",
    "--output-format=json",
];

fn count(out: &str, pointer: &str) -> u64 {
    let document: serde_json::Value = serde_json::from_str(out).unwrap();
    document.pointer(pointer).unwrap().as_u64().unwrap()
}

#[test]
fn only_verifying_finds_what_was_not_written() {
    let world = World::in_memory();
    world.assay(&WRITE).succeeded();
    let before = std::fs::read(world.path("x")).unwrap();
    let check = [&WRITE[..], &["--verify_only", "--readonly"]].concat();
    let run = world.assay(&check).failed_with(2);
    assert!(run.err.contains("--readonly"), "{}", run.err);
    let check = &check[..check.len() - 1];
    world.assay(check).succeeded();
    assert!(before == std::fs::read(world.path("x")).unwrap(), "nothing is written");
    let mut damaged = before;
    damaged[20_480..24_576].fill(0);
    std::fs::write(world.path("x"), damaged).unwrap();
    let run = world.assay(check).failed_with(4);
    assert_eq!(count(&run.out, "/jobs/0/error"), 84);
    let elsewhere = ["--filename=missing", "--verify_only"];
    let run = world.assay(&[&WRITE[..], &elsewhere].concat()).failed_with(4);
    assert_eq!(count(&run.out, "/jobs/0/error"), 84);
}

#[test]
fn as_many_writes_are_verified_as_the_state_tells() {
    let world = World::in_memory();
    let save = ["--verify_state_save=1", "--number_ios=5", "--do_verify=0"];
    world.assay(&[&WRITE[..], &save].concat()).succeeded();
    let load = ["--verify_state_load=1", "--verify_only"];
    let run = world.assay(&[&WRITE[..], &load].concat()).succeeded();
    assert_eq!(count(&run.out, "/jobs/0/read/total_ios"), 5);
    assert_eq!(count(&run.out, "/jobs/0/write/total_ios"), 16);
    let run = world.assay(&[&WRITE[..], &load, &["--rw=randread"]].concat()).succeeded();
    assert_eq!(count(&run.out, "/jobs/0/read/total_ios"), 5);
    let run = world.assay(&[&WRITE[..], &load, &["--aux-path=other"]].concat()).failed_with(2);
    assert!(run.err.contains("other/local-a-0-verify.state"), "{}", run.err);
}
