//! Tests of Vdbench on file trees over several hosts: each host works on its part of a tree, and
//! one summary covers all hosts.

use std::fs;
use std::path::Path;

use super::{SshServers, averages};
use crate::network::link::run;
use crate::program::{World, files_below};

const HOSTS: usize = 3;

/// Returns the definitions of two trees: one shared by all hosts, one used by the second host only.
fn tree_definitions(world: &World) -> String {
    let hosts: String =
        (1..=HOSTS).map(|host| format!("hd=vm{host},system=vdbench-vnet1-{host}\n")).collect();
    let [shared, own] = ["shared", "own"].map(|name| world.path(name).display().to_string());
    format!(
        "{hosts}fsd=fsd1,anchor=\"{shared}\",depth=2,width=2,files=6,size=16k,shared=yes\n\
         fsd=fsd2,anchor=\"{own}\",files=4,size=8k\n\
         fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=sequential,fileselect=random,threads=6\n\
         fwd=fwd2,fsd=fsd2,host=vm2,operation=getattr,skew=20\n"
    )
}

fn vdbench(world: &World, servers: &SshServers, name: &str, runs: &str) -> String {
    world.write(name, &format!("{}{runs}", tree_definitions(world)));
    let program = env!("CARGO_BIN_EXE_assay");
    let (is_fine, out, err) =
        servers.run_at_coordinator(world, program, &["vdbench", "-f", name]);
    assert!(is_fine, "{name}\n{out}\n{err}");
    assert!(out.contains("Vdbench execution completed successfully"), "{out}");
    out
}

/// Checks for each run that the rates of the hosts add up to that of the summary.
fn check_sums(world: &World, folder: &str) {
    let summary = averages(world, &format!("../{folder}/summary.html"));
    let mut sums = vec![0.0; summary.len()];
    for host in 1..=HOSTS {
        let own = averages(world, &format!("../{folder}/vm{host}.html"));
        let labels =
            |all: &[(String, f64)]| all.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
        assert_eq!(labels(&own), labels(&summary), "vm{host}");
        own.iter().zip(&mut sums).for_each(|((_, rate), sum)| *sum += rate);
    }
    // Rates are printed with one decimal.
    let rounding = 0.05 * (HOSTS + 1) as f64 + 1e-9;
    for (sum, (label, total)) in sums.iter().zip(&summary) {
        assert!(*total > 0.0 && (sum - total).abs() <= rounding, "{label}: {sum} {total}");
    }
}

#[test]
fn file_trees_run_on_their_hosts() {
    let world = World::new();
    let Some(servers) = SshServers::new("file_trees_run_on_their_hosts", &world, HOSTS) else {
        return;
    };
    let runs = "rd=make,fwd=fwd*,format=(restart,only)\n\
                rd=rd1,fwd=fwd*,fwdrate=300,elapsed=3,interval=1\n";
    let out = vdbench(&world, &servers, "make", runs);
    let starts = out.lines().filter(|line| line.contains("Starting RD="));
    assert_eq!(starts.count(), 2, "{out}");
    check_sums(&world, "output");
    let files = |name: &str| files_below(&world.path(name)).len();
    assert_eq!((files("shared"), files("own")), (4 * 6 + 1, 4 + 1), "with their marks");
    let links = fs::read_to_string(world.path("output/summary.html")).unwrap();
    assert_eq!(links.matches("Host report:").count(), HOSTS);
    // Pages rendered from the stored run pass the same check.
    let show_words = ["show", "--as", "vdbench", "--output", "again"];
    let (is_fine, _, err) =
        servers.run_at_coordinator(&world, env!("CARGO_BIN_EXE_assay"), &show_words);
    assert!(is_fine, "{err}");
    check_sums(&world, "again");
    // `format=clean` removes the trees on all hosts.
    vdbench(&world, &servers, "clean", "rd=clean,fwd=fwd*,format=(clean,only)\n");
    assert_eq!((files("shared"), files("own")), (1, 1), "only the marks are left");
    assert!(!world.path("shared/vdb.1_1.dir").exists());
    let document =
        servers.run_at_coordinator(&world, env!("CARGO_BIN_EXE_assay"), &["show", "--json"]).1;
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["run"]["status"], "complete", "{document:#}");
}

#[test]
fn rejects_shared_tree_in_different_folders() {
    let test = "rejects_shared_tree_in_different_folders";
    if !run("unshare -m true") || !Path::new("/usr/bin/mount").exists() {
        eprintln!("SKIPPED {test}: file systems cannot be mounted here");
        return;
    }
    let world = World::new();
    let anchor = world.path("tree");
    fs::create_dir(&anchor).unwrap();
    let via_script = format!(
        "host=$1; shift\n[ $host = one ] && exec \"$@\"\n\
         exec unshare -m sh -c 'mount -t tmpfs none {} && exec \"$@\"' sh \"$@\"\n",
        anchor.display()
    );
    world.write("via.sh", &via_script);
    let text = format!(
        "hd=vm1,system=one\nhd=vm2,system=two\n\
         fsd=fsd1,anchor=\"{}\",files=4,size=8k,shared=yes\nfwd=fwd1,fsd=fsd1,operation=read\n\
         rd=rd1,fwd=fwd1,fwdrate=max,format=(restart,only)\n",
        anchor.display()
    );
    world.write("file", &text);
    let words =
        ["vdbench", "-f", "file", "--via", "sh via.sh {host}", "--host-deadline", "20s"];
    let outcome = world.assay(&words).failed_with(4);
    assert!(outcome.err.contains("host vm2 is lost"), "{}", outcome.err);
    assert!(outcome.err.contains("another folder than on the first host"), "{}", outcome.err);
    assert_eq!(files_below(&anchor).len(), 1, "only the mark is left");
}
