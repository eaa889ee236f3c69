//! Doctor's checks of MPI: no findings without MPI, and each misconfiguration.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use expect_test::{Expect, expect};

use crate::test_host::{TestHost, format_findings};

fn check(files: &[(&str, &str)], environment: &str, expected: &Expect) {
    let host = TestHost::load("guest-zen4");
    for (path, content) in files {
        host.write(path, content.as_bytes());
    }
    host.write("proc/self/environ", environment.replace(' ', "\0").as_bytes());
    host.write("proc/self/status", b"Name:\tassay\nUid:\t1000\t1000\t1000\t1000\n");
    let findings = host.findings();
    let mpi = findings.iter().filter(|finding| finding.id.starts_with("mpi."));
    expected.assert_eq(&format_findings(mpi));
}

const OPEN_MPI: [(&str, &str); 2] =
    [("usr/bin/mpirun", ""), ("usr/lib/x86_64-linux-gnu/libmpi.so.40", "")];

#[test]
fn skips_checks_without_mpi() {
    check(
        &[],
        "PATH=/usr/bin:/bin",
        &expect![[r#"
            mpi.library, mpi.root, mpi.transport, mpi.binding NotVisible: no MPI launcher on PATH
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
        "#]],
    );
    check(
        &OPEN_MPI,
        "HOME=/root",
        &expect![[r#"
            mpi.library, mpi.root, mpi.transport, mpi.binding NotVisible: no MPI launcher on PATH
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
        "#]],
    );
}

#[test]
fn ordinary_installation_passes() {
    check(
        &OPEN_MPI,
        "PATH=/sbin:/usr/bin",
        &expect![[r#"
            mpi.library Ok: LD_LIBRARY_PATH names no MPI library; the launcher lies in /usr/bin
            mpi.root Ok: user 1000
            mpi.transport Ok: no RDMA device, no such variable
            mpi.binding Ok: none
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
        "#]],
    );
}

#[test]
fn reports_every_misconfiguration() {
    let files = [
        OPEN_MPI[0],
        OPEN_MPI[1],
        ("opt/mpich/lib/libmpi.so.12", ""),
        ("sys/class/infiniband/mlx5_0/node_type", "1: CA"),
    ];
    check(
        &files,
        "PATH=/usr/bin LD_LIBRARY_PATH=relative:/opt/none:/opt/mpich/lib UCX_TLS=tcp,self I_MPI_PIN=OFF",
        &expect![[r#"
            mpi.library Deviates: MPICH/Intel MPI in /opt/mpich/lib; launcher in /usr/bin: Open MPI
            mpi.root Ok: user 1000
            mpi.transport Deviates: UCX_TLS=tcp,self, although there is mlx5_0
            mpi.binding Deviates: I_MPI_PIN=OFF
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
        "#]],
    );
    check(
        &files,
        "PATH=/usr/bin LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu UCX_TLS=rc,tcp,self I_MPI_PIN=1 OMPI_MCA_btl=^openib",
        &expect![[r#"
            mpi.library Ok: Open MPI in /usr/lib/x86_64-linux-gnu; launcher in /usr/bin: Open MPI
            mpi.root Ok: user 1000
            mpi.transport Ok: no such variable beside mlx5_0
            mpi.binding Ok: none
            mpi.installations NotVisible: no MPI in PATH or the usual folders
            mpi.modules NotVisible: no environment module of an MPI
        "#]],
    );
}

#[test]
fn reports_stale_modules_and_launchers_without_library() {
    let host = TestHost::load("guest-zen4");
    let seen = |id: &str| {
        let (outcome, observed) = host.finding(id).unwrap();
        format!("{outcome:?}: {observed}")
    };
    let program = |path: &str| {
        host.write(path, b"#!/bin/sh\n");
        let file = host.root().host_path(Path::new(path));
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let nowhere = "NotVisible: no MPI in PATH or the usual folders";
    assert_eq!(seen("mpi.installations"), nowhere);
    assert_eq!(seen("mpi.modules"), "NotVisible: no environment module of an MPI");
    program("opt/openmpi-5.0.2/bin/mpirun");
    host.write("opt/openmpi-5.0.2/lib/libmpi.so.40", b"");
    for (name, text) in [
        ("mpi/openmpi", "#%Module1.0\nprepend-path PATH /opt/openmpi-5.0.2/bin\n"),
        // This module loads another one.
        ("mpi/hpcx", "#%Module1.0\n# /opt/gone\nmodule load hpcx\n"),
        ("gcc/14", "#%Module1.0\nprepend-path PATH /opt/gone/bin\n"),
    ] {
        host.write(&format!("usr/share/modules/modulefiles/{name}"), text.as_bytes());
    }
    assert_eq!(seen("mpi.installations"), "Ok: Open MPI in /opt/openmpi-5.0.2");
    assert_eq!(seen("mpi.modules"), "Ok: mpi/hpcx, mpi/openmpi");
    program("opt/bare/bin/mpiexec");
    let text =
        b"local base = \"/opt/mvapich2-2.3.7\"\nprepend_path(\"PATH\", base .. \"/bin\")\n";
    host.write("usr/share/modules/modulefiles/mpi/mvapich2.lua", text);
    assert_eq!(
        seen("mpi.installations"),
        "Deviates: a launcher without a library in /opt/bare; Open MPI in /opt/openmpi-5.0.2"
    );
    assert_eq!(
        seen("mpi.modules"),
        "Deviates: mpi/hpcx, mpi/openmpi; lead nowhere: mpi/mvapich2"
    );
}
