//! MPI pairs over ssh, on hosts without an installed assay.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{RANKS_SUITE, pair_name};
use crate::mpi::one_at_a_time;
use crate::mpi_run::real_mpis;
use crate::program::{World, files_below, results};
use crate::vdbench_hosts::SshServers;

#[test]
fn mpi_pairs_run_over_ssh_with_copied_program() {
    let test = "pairs::over_ssh::mpi_pairs_run_over_ssh_with_copied_program";
    let system = Path::new("/usr");
    if !real_mpis(test).iter().any(|it| it == system) {
        eprintln!("SKIPPED {test}: the system has no MPI");
        return;
    }
    let world = World::new();
    let Some(servers) = SshServers::new(test, &world, 2) else { return };
    let _turn = one_at_a_time();
    world.write("ranks.toml", RANKS_SUITE);
    // The program exists only on the near side, and only while it runs.
    let copy = world.copy_of_program().display().to_string();
    let ssh = world.path("bin/ssh").display().to_string();
    world.write("via.sh", &format!("rm -f {copy}; exec {ssh} -o BatchMode=yes \"$@\"\n"));
    let via = format!("sh {} {{host}}", world.path("via.sh").display());
    let words = ["run", "./ranks.toml", "--hosts", "vdbench-vnet1-[1-2]", "--matrix", "all"];
    let more = ["--mpi", "/usr", "--via", &via, "--json"];
    let (is_fine, out, err) =
        servers.run_at_coordinator(&world, &copy, &[&words[..], &more].concat());
    assert!(is_fine, "{out}\n{err}");
    assert!(!Path::new(&copy).exists());
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["failures"], serde_json::json!([]), "{document:#}");
    for (benchmark, metric) in [("mpi.latency", "latency"), ("mpi.bw", "bandwidth")] {
        let found = results(&document, benchmark, metric);
        let pairs: BTreeSet<String> = found.iter().map(|it| pair_name(it)).collect();
        let both =
            ["1:vdbench-vnet1-2", "2:vdbench-vnet1-1"].map(|it| format!("vdbench-vnet1-{it}"));
        assert_eq!(pairs, BTreeSet::from(both), "{benchmark}");
    }
    // Neither the copies nor the launchers' replacement for ssh are left.
    for host in [1, 2] {
        let left = files_below(&world.path(&format!("tmp{host}")));
        let is_ours = |path: &&std::path::PathBuf| {
            ["assay", "reach", "asked"].iter().any(|name| path.ends_with(name))
        };
        assert_eq!(left.iter().find(is_ours), None, "{left:?}");
    }
}
