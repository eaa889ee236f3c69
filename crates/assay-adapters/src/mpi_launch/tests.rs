//! Tests of the command lines, and of transports in the output of real libraries.

use assay_model::benchmark::MpiTest;
use assay_model::mpi_outcome::MpiAbi;
use assay_model::workload::{Domain, MpiPreset};
use expect_test::{Expect, expect};

use super::*;

fn work(starter: MpiLauncherKind, cpus: &[u32], placement: &str) -> MpiWorkload {
    let mpi = MpiInstallation {
        key: "x-1".into(),
        name: "X".into(),
        version: "1".into(),
        prefix: "/opt/x".into(),
        library: "/opt/x/lib/libmpi.so".into(),
        abi: MpiAbi::OpenMpi,
        launcher: "/opt/x/bin/mpiexec".into(),
        starter,
    };
    let placement = Domain { placement: placement.into(), cpus: cpus.to_vec() };
    MpiWorkload {
        test: MpiTest::Latency,
        mpi,
        ranks: 2,
        placement,
        hosts: MpiHosts::default(),
        from_bytes: 0,
        to_bytes: 8,
        preset: MpiPreset::Assay,
    }
}

const ALL_LAUNCHERS: [MpiLauncherKind; 5] = [
    MpiLauncherKind::Hydra,
    MpiLauncherKind::IntelHydra,
    MpiLauncherKind::Orte,
    MpiLauncherKind::Prrte,
    MpiLauncherKind::Srun,
];

fn check(change: impl Fn(MpiLauncherKind) -> MpiWorkload, expected: &Expect) {
    let line = |starter: MpiLauncherKind| {
        let MpiLaunch { program, arguments, environment } =
            build_launch(&change(starter), "assay", &["mpi".to_owned(), "latency".to_owned()]);
        let variables: Vec<String> = environment
            .iter()
            .filter(|(name, _)| !name.contains("ROOT"))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!("{} {program} {}\n", variables.join(" "), arguments.join(" "))
    };
    expected.assert_eq(&ALL_LAUNCHERS.into_iter().map(line).collect::<String>());
}

#[test]
fn each_launcher_uses_its_binding_options() {
    check(
        |starter| work(starter, &[0, 1], "same-cache"),
        &expect![[r#"
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 -bind-to user:0,1 assay mpi latency
        I_MPI_PIN=1 I_MPI_PIN_PROCESSOR_LIST=0,1 I_MPI_DEBUG=3 /opt/x/bin/mpiexec -n 2 assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --bind-to cpu-list:ordered --cpu-list 0,1 assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --map-by pe-list=0,1:ordered assay mpi latency
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 --mpi=pmix --cpu-bind=map_cpu:0,1 assay mpi latency
    "#]],
    );
    check(
        |starter| work(starter, &[0, 8], "same-core"),
        &expect![[r#"
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 -bind-to user:0,8 assay mpi latency
        I_MPI_PIN=1 I_MPI_PIN_PROCESSOR_LIST=0,8 I_MPI_DEBUG=3 /opt/x/bin/mpiexec -n 2 assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --bind-to cpu-list:ordered --cpu-list 0,8 --use-hwthread-cpus assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --map-by pe-list=0,8:ordered:hwtcpus assay mpi latency
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 --mpi=pmix --cpu-bind=map_cpu:0,8 assay mpi latency
    "#]],
    );
}

#[test]
fn pair_on_one_host_is_not_split() {
    check(
        |starter| {
            let mut work = work(starter, &[24], "hosts");
            work.hosts.list = Some("a:2".into());
            work
        },
        &expect![[r#"
            MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 -hosts a:2 -bind-to core assay mpi latency
            I_MPI_PIN=1 I_MPI_PIN_DOMAIN=core I_MPI_DEBUG=3 /opt/x/bin/mpiexec -n 2 -hosts a:2 assay mpi latency
            OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --host a:2 --bind-to core assay mpi latency
            OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --host a:2 --bind-to core assay mpi latency
            MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 --nodelist a:2 --mpi=pmix --cpu-bind=cores assay mpi latency
        "#]],
    );
}

#[test]
fn pair_over_hosts_has_one_rank_each() {
    let over_hosts = |starter| {
        let mut work = work(starter, &[], "hosts");
        work.hosts.list = Some("a,b".into());
        work
    };
    check(
        over_hosts,
        &expect![[r#"
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 -hosts a,b -ppn 1 -bind-to core assay mpi latency
        I_MPI_PIN=1 I_MPI_PIN_DOMAIN=core I_MPI_DEBUG=3 /opt/x/bin/mpiexec -n 2 -hosts a,b -ppn 1 assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --host a,b --map-by ppr:1:node --bind-to core assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --host a,b --map-by ppr:1:node --bind-to core assay mpi latency
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 --nodelist a,b --ntasks-per-node=1 --mpi=pmix --cpu-bind=cores assay mpi latency
    "#]],
    );
    let pinned = |starter| {
        let mut work = over_hosts(starter);
        work.placement.cpus = vec![24, 24];
        work
    };
    check(
        pinned,
        &expect![[r#"
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 -hosts a,b -ppn 1 -bind-to user:24 assay mpi latency
        I_MPI_PIN=1 I_MPI_PIN_PROCESSOR_LIST=24 I_MPI_DEBUG=3 /opt/x/bin/mpiexec -n 2 -hosts a,b -ppn 1 assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --host a,b --map-by ppr:1:node --bind-to cpu-list:ordered --cpu-list 24 assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 2 --host a,b --map-by ppr:1:node --bind-to none taskset -c 24 assay mpi latency
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 2 --nodelist a,b --ntasks-per-node=1 --mpi=pmix --cpu-bind=map_cpu:24 assay mpi latency
    "#]],
    );
    let host_file = |starter| {
        let mut work = work(starter, &[], "hosts");
        work.hosts.file = Some("/etc/hosts.mpi".into());
        work.ranks = 4;
        work
    };
    check(
        host_file,
        &expect![[r#"
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 4 -f /etc/hosts.mpi -bind-to core assay mpi latency
        I_MPI_PIN=1 I_MPI_PIN_DOMAIN=core I_MPI_DEBUG=3 /opt/x/bin/mpiexec -n 4 -f /etc/hosts.mpi assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 4 --hostfile /etc/hosts.mpi --bind-to core assay mpi latency
        OMPI_MCA_pml_base_verbose=10 /opt/x/bin/mpiexec -n 4 --hostfile /etc/hosts.mpi --bind-to core assay mpi latency
        MV2_ENABLE_AFFINITY=0 MPIR_CVAR_DEBUG_SUMMARY=1 /opt/x/bin/mpiexec -n 4 --nodefile /etc/hosts.mpi --mpi=pmix --cpu-bind=cores assay mpi latency
    "#]],
    );
}

#[test]
fn finds_transport_in_library_output() {
    for (starter, printed, expected) in [
        // MPICH 4.0.2 of Debian 12, MPIR_CVAR_DEBUG_SUMMARY=1.
        (
            MpiLauncherKind::Hydra,
            "==== Various sizes and limits ====\n==== UCX netmod Capability ====\n",
            Some("UCX"),
        ),
        (MpiLauncherKind::Hydra, "provider: tcp, score = 5, pref = 0\n", Some("OFI tcp")),
        // Intel MPI 2021.18.1, I_MPI_DEBUG=3, on one host.
        (
            MpiLauncherKind::IntelHydra,
            "[0] MPI startup(): Load tuning file: \"/opt/etc/tuning_generic_shm.dat\"\n",
            Some("shared memory"),
        ),
        (
            MpiLauncherKind::IntelHydra,
            "[0] MPI startup(): libfabric provider: mlx\n",
            Some("OFI mlx"),
        ),
        // Open MPI 4.1.4 and 5.0.11, OMPI_MCA_pml_base_verbose=10.
        (
            MpiLauncherKind::Orte,
            "[vm:1] select: init returned priority 20\n[vm:1] selected ob1 best priority 20\n",
            Some("ob1"),
        ),
        (MpiLauncherKind::Prrte, "", None),
        (MpiLauncherKind::Hydra, "provider:", None),
    ] {
        let mpi = work(starter, &[0, 1], "same-cache").mpi;
        assert_eq!(find_transport(&mpi, printed).as_deref(), expected, "{printed:?}");
    }
}

#[test]
fn host_pair_has_separate_programs() {
    let (addresses, programs) = (["10.0.0.1", "10.0.0.2"], ["/usr/bin/assay", "/proc/7/exe"]);
    let (addresses, programs) = (addresses.map(str::to_owned), programs.map(str::to_owned));
    let pair = HostPair {
        addresses: &addresses,
        programs: &programs,
        shell: "/tmp/x/reach".to_owned(),
    };
    let line = |starter: MpiLauncherKind| {
        let launch =
            build_pair_launch(&work(starter, &[], "hosts"), &pair, &["mpi".to_owned()]);
        launch.arguments.join(" ") + "\n"
    };
    let lines: String = ALL_LAUNCHERS.into_iter().map(line).collect();
    expect![[r#"
        -launcher rsh -launcher-exec /tmp/x/reach -localhost 10.0.0.1 -hosts 10.0.0.1,10.0.0.2 -ppn 1 -bind-to core -n 1 /usr/bin/assay mpi : -n 1 /proc/7/exe mpi
        -bootstrap rsh -bootstrap-exec /tmp/x/reach -localhost 10.0.0.1 -hosts 10.0.0.1,10.0.0.2 -ppn 1 -n 1 /usr/bin/assay mpi : -n 1 /proc/7/exe mpi
        --leave-session-attached --mca plm_rsh_agent /tmp/x/reach --bind-to core -n 1 --host 10.0.0.1 /usr/bin/assay mpi : -n 1 --host 10.0.0.2 /proc/7/exe mpi
        --leave-session-attached --prtemca plm_ssh_agent /tmp/x/reach --bind-to core -n 1 --host 10.0.0.1 /usr/bin/assay mpi : -n 1 --host 10.0.0.2 /proc/7/exe mpi
        --nodelist 10.0.0.1,10.0.0.2 --ntasks-per-node=1 --mpi=pmix --cpu-bind=cores -n 1 /usr/bin/assay mpi : -n 1 /proc/7/exe mpi
    "#]]
    .assert_eq(&lines);
}
