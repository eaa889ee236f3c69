//! MPI workloads for the tests of the tools, and tests of their command lines.

use assay_model::benchmark::MpiTest;
use assay_model::mpi_installation::{MpiInstallation, MpiLauncherKind};
use assay_model::mpi_outcome::MpiAbi;
use assay_model::workload::{MpiHosts, MpiPreset, MpiWorkload};

use super::*;

pub(super) fn workload(test: MpiTest, abi: MpiAbi, sizes: (u64, u64)) -> Workload {
    let starter = if abi == MpiAbi::OpenMpi {
        MpiLauncherKind::Orte
    } else {
        MpiLauncherKind::IntelHydra
    };
    Workload::Mpi(MpiWorkload {
        test,
        mpi: MpiInstallation {
            key: "mpi".into(),
            name: "Intel MPI".into(),
            version: "2021.18".into(),
            prefix: "/opt/mpi".into(),
            library: "/opt/mpi/lib/libmpi.so.12".into(),
            abi,
            launcher: "/opt/mpi/bin/mpiexec".into(),
            starter,
        },
        ranks: 2,
        placement: Domain { placement: "same-cache".into(), cpus: vec![0, 1] },
        hosts: MpiHosts::default(),
        from_bytes: sizes.0,
        to_bytes: sizes.1,
        preset: MpiPreset::Assay,
    })
}

/// Returns one workload for each form of table.
pub(super) fn workloads() -> Vec<Workload> {
    [
        (MpiTest::Latency, (0, 256)),
        (MpiTest::Bandwidth, (1, 256)),
        (MpiTest::MessageRate, (1, 256)),
        (MpiTest::Barrier, (0, 0)),
        (MpiTest::Allreduce, (4, 256)),
        (MpiTest::Iallgather, (1, 256)),
        (MpiTest::Ibarrier, (0, 0)),
    ]
    .into_iter()
    .map(|(test, sizes)| workload(test, MpiAbi::Mpich, sizes))
    .collect()
}

#[test]
fn tools_use_the_launcher_of_their_mpi() {
    let latency = workload(MpiTest::Latency, MpiAbi::Mpich, (0, 4 << 20));
    let reduce = workload(MpiTest::Allreduce, MpiAbi::OpenMpi, (8, 1 << 20));
    let overlap = workload(MpiTest::Ibarrier, MpiAbi::Mpich, (0, 0));
    check_own_command(
        "osu",
        &latency,
        &expect![[r#"
        mpi.latency osu ×5 on []
        I_MPI_PIN=1 I_MPI_PIN_PROCESSOR_LIST=0,1 I_MPI_DEBUG=3 LC_ALL=C
        /opt/mpi/bin/mpiexec -n 2 /opt/osu_latency -m 4194304
    "#]],
    );
    check_own_command(
        "osu",
        &reduce,
        &expect![[r#"
        mpi.allreduce osu ×5 on []
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml_base_verbose=10 LC_ALL=C
        /opt/mpi/bin/mpiexec -n 2 --bind-to cpu-list:ordered --cpu-list 0,1 /opt/osu_allreduce -m 8:1048576 -f
    "#]],
    );
    check_own_command(
        "osu",
        &overlap,
        &expect![[r#"
        mpi.ibarrier osu ×5 on []
        I_MPI_PIN=1 I_MPI_PIN_PROCESSOR_LIST=0,1 I_MPI_DEBUG=3 LC_ALL=C
        /opt/mpi/bin/mpiexec -n 2 /opt/osu_ibarrier -f
    "#]],
    );
    check_own_command(
        "imb",
        &latency,
        &expect![[r#"
        mpi.latency imb ×5 on []
        I_MPI_PIN=1 I_MPI_PIN_PROCESSOR_LIST=0,1 I_MPI_DEBUG=3 LC_ALL=C LD_LIBRARY_PATH=/opt/mpi/lib
        /opt/mpi/bin/mpiexec -n 2 /opt/imb -npmin 2 -msglog 0:22 PingPong
    "#]],
    );
    check_own_command(
        "imb",
        &reduce,
        &expect![[r#"
            refused: imb does not support this workload: mpi.allreduce of this size, placement or library
        "#]],
    );
    check_own_command(
        "imb",
        &overlap,
        &expect![[r#"
            refused: imb does not support this workload: mpi.ibarrier of this size, placement or library
        "#]],
    );
    check_own_command(
        "osu",
        &linpack(100, &[0], None),
        &expect![[r#"
            refused: osu does not support this workload: compute.linpack of this size, placement or library
        "#]],
    );
}
