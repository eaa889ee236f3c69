//! Simulated runs, whose targets need not exist.

use super::super::explain::explain;
use super::*;

/// Compiles a file for a simulation. Returns the compiled execution and the number of paths that
/// were inspected.
fn simulate(text: &str) -> (VdbenchExecution, usize) {
    let mut inspected = 0;
    let mut load = |_: &Path| Ok(text.as_bytes().to_vec());
    let mut look = |path: &Path| {
        inspected += 1;
        path.starts_with("/dev").then_some(PathInfo { bytes: 1 << 30, device: true })
    };
    let input = VdbenchInput { simulates: true, ..input("file") };
    let mut env = VdbenchEnv { read_file: &mut load, inspect: &mut look };
    match compile_files(&input, &mut env) {
        Ok(execution) => (execution, inspected),
        Err(found) => panic!("{text}\n{}", render(&found)),
    }
}

#[test]
fn simulation_accepts_any_target() {
    for (storage, size) in [
        ("sd=sd1,lun=/none", "1 file or device of unknown size"),
        (
            "sd=sd1,lun=/none,size=1m\nsd=sd2,lun=/other",
            "of 1.000 MiB and more (1 of unknown size)",
        ),
        ("sd=sd1,lun=/dev/sdb", "of 1.000 GiB"),
        ("sd=sd1,lun=/dev/sdb,size=50000g", "of 48.83 TiB"),
        ("sd=sd1,lun=/none,range=(10,20)", "of unknown size"),
    ] {
        let text =
            format!("{storage}\nwd=wd1,sd=sd*\nrd=r,wd=wd1,iorate=max,elapsed=2,interval=1\n");
        let explained = explain(&simulate(&text).0);
        assert!(explained.contains(size), "{storage}: {explained}");
    }
}

#[test]
fn many_definitions_inspect_each_path_once() {
    for count in [100, 400] {
        let storages: String =
            (0..count).map(|n| format!("sd=sd{n},lun=/f{n},size=1m\n")).collect();
        let workloads: String = (0..count).map(|n| format!("wd=wd{n},sd=sd{n}\n")).collect();
        let text =
            format!("{storages}{workloads}rd=r,wd=wd*,iorate=max,elapsed=2,interval=1\n");
        let (execution, inspected) = simulate(&text);
        assert_eq!(inspected, count);
        let workload = &execution.plan.phases[0].workload;
        assert_eq!((workload.targets.len(), workload.streams.len()), (count, count));
    }
}
