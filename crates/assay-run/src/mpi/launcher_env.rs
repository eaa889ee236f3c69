//! Launcher of this process, its rank and the number of ranks; read from the environment alone,
//! before any library is open.
//!
//! The number of ranks is later compared with the library's own answer: a library that does not
//! understand its launcher silently makes every rank a world of one.

/// The launcher `srun`.
pub const SLURM: &str = "slurm";

/// MPICH's launcher `mpiexec.hydra`, and all that use its protocol.
pub const HYDRA: &str = "hydra";

/// MVAPICH2's own launcher.
const MPIRUN_RSH: &str = "mpirun_rsh";

/// Make of the MPI libraries that a launcher's ranks can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MpiMake {
    /// MPICH, Intel MPI, MVAPICH and others that support Hydra's protocol.
    Mpich,
    OpenMpi,
    /// Any make: a batch system serves all.
    Any,
}

/// Environment that the launcher set for this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LauncherEnv {
    /// The launcher's name; `unknown` if there was none.
    pub launcher: &'static str,
    pub make: MpiMake,
    pub rank: Option<u32>,
    pub ranks: Option<u32>,
    /// Whether it provides `PMIx`, which Open MPI needs.
    pub provides_pmix: bool,
}

struct LauncherRow {
    launcher: &'static str,
    make: MpiMake,
    rank: &'static str,
    /// Variables that hold the number of ranks, in order of precedence.
    ranks: &'static [&'static str],
}

/// Launchers by the variable that holds the rank; the first one set decides. Slurm comes last: its
/// variables are also set when another launcher runs inside its job.
const LAUNCHERS: &[LauncherRow] = &[
    LauncherRow {
        launcher: "orterun",
        make: MpiMake::OpenMpi,
        rank: "OMPI_COMM_WORLD_RANK",
        ranks: &["OMPI_COMM_WORLD_SIZE"],
    },
    LauncherRow {
        launcher: MPIRUN_RSH,
        make: MpiMake::Mpich,
        rank: "MV2_COMM_WORLD_RANK",
        ranks: &["MV2_COMM_WORLD_SIZE"],
    },
    LauncherRow {
        launcher: "pals",
        make: MpiMake::Any,
        rank: "PALS_RANKID",
        ranks: &["PMI_SIZE"],
    },
    LauncherRow {
        launcher: HYDRA,
        make: MpiMake::Mpich,
        rank: "PMI_RANK",
        ranks: &["PMI_SIZE"],
    },
    LauncherRow {
        launcher: "flux",
        make: MpiMake::Any,
        rank: "FLUX_TASK_RANK",
        ranks: &["FLUX_JOB_SIZE"],
    },
    LauncherRow {
        launcher: SLURM,
        make: MpiMake::Any,
        rank: "SLURM_PROCID",
        ranks: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
    },
    LauncherRow { launcher: "prterun", make: MpiMake::OpenMpi, rank: "PMIX_RANK", ranks: &[] },
];

impl LauncherEnv {
    /// Reads the environment of this process.
    pub fn from_process_env() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads the environment through `variable`.
    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str| variable(name)?.trim().parse().ok();
        let is_set = |name: &str| variable(name).is_some();
        let serves_pmix = is_set("PMIX_RANK");
        let is_started_by_hydra = is_set("HYDI_CONTROL_FD");
        let counts = |row: &LauncherRow| match row.launcher {
            // A batch script also gets a rank, but is not one.
            SLURM => is_set("SLURM_STEP_ID"),
            // MVAPICH2's Hydra sets the variables of its mpirun_rsh, too.
            MPIRUN_RSH => !is_started_by_hydra,
            _ => true,
        };
        let row = LAUNCHERS.iter().find(|row| is_set(row.rank) && counts(row));
        let Some(row) = row else {
            let (launcher, make) = ("unknown", MpiMake::Any);
            return Self {
                launcher,
                make,
                rank: None,
                ranks: None,
                provides_pmix: serves_pmix,
            };
        };
        let by_row = Self {
            launcher: row.launcher,
            make: row.make,
            rank: number(row.rank),
            ranks: row.ranks.iter().find_map(|name| number(name)),
            provides_pmix: serves_pmix,
        };
        match row.launcher {
            "orterun" if is_set("PRTE_LAUNCHED") => Self { launcher: "prterun", ..by_row },
            HYDRA if is_set("I_MPI_HYDRA_UUID") => Self { launcher: "intel-hydra", ..by_row },
            // Slurm serves ranks that its own srun starts by Hydra's protocol. Inside a job, Hydra
            // starts its helpers by srun, and they set `MPI_LOCALNRANKS` for their ranks.
            HYDRA
                if is_set("SLURM_STEP_ID")
                    && !is_set("MPI_LOCALNRANKS")
                    && !is_started_by_hydra =>
            {
                Self { launcher: SLURM, make: MpiMake::Any, ..by_row }
            }
            _ => by_row,
        }
    }

    /// Whether the launcher started several processes, as far as it sets their number.
    pub fn has_several_ranks(&self) -> bool {
        self.rank.is_some() && self.ranks.is_none_or(|ranks| ranks > 1)
    }

    /// Whether this rank reports for all before they are connected: rank 0, or a process without a
    /// rank.
    pub fn is_reporting_rank(&self) -> bool {
        self.rank.is_none_or(|rank| rank == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(environment: &str, expected: (&str, MpiMake, Option<u32>, Option<u32>)) {
        let launched = LauncherEnv::from_variables(|name| {
            let words = environment.split_whitespace();
            let mut pairs = words.filter_map(|word| word.split_once('='));
            pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        });
        let LauncherEnv { launcher, make, rank, ranks, .. } = launched;
        assert_eq!((launcher, make, rank, ranks), expected, "{environment}");
    }

    #[test]
    fn detects_launcher_from_variables() {
        check("HOME=/root", ("unknown", MpiMake::Any, None, None));
        check(
            "PMI_RANK=1 PMI_SIZE=2 PMI_FD=7 HYDI_CONTROL_FD=8",
            ("hydra", MpiMake::Mpich, Some(1), Some(2)),
        );
        check(
            "PMI_RANK=0 PMI_SIZE=4 I_MPI_HYDRA_UUID=ab",
            ("intel-hydra", MpiMake::Mpich, Some(0), Some(4)),
        );
        check(
            "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=3",
            ("orterun", MpiMake::OpenMpi, Some(3), Some(4)),
        );
        check(
            "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=3 PRTE_LAUNCHED=1",
            ("prterun", MpiMake::OpenMpi, Some(3), Some(4)),
        );
        check("PMIX_RANK=1 PMIX_NAMESPACE=x", ("prterun", MpiMake::OpenMpi, Some(1), None));
        check(
            "MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2",
            ("mpirun_rsh", MpiMake::Mpich, Some(1), Some(2)),
        );
        // Variables set by Hydra of MVAPICH2 2.3.7.
        check(
            "HYDI_CONTROL_FD=7 PMI_RANK=0 PMI_FD=6 PMI_SIZE=2 MV2_COMM_WORLD_SIZE=2 MV2_COMM_WORLD_RANK=0",
            ("hydra", MpiMake::Mpich, Some(0), Some(2)),
        );
        check(
            "SLURM_PROCID=5 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=9 PMIX_RANK=5",
            ("slurm", MpiMake::Any, Some(5), Some(8)),
        );
        check(
            "SLURM_PROCID=5 SLURM_STEP_ID=0 PMI_RANK=5 PMI_SIZE=8 PMI_JOBID=17.0",
            ("slurm", MpiMake::Any, Some(5), Some(8)),
        );
        check("PMI_RANK=x PMI_SIZE=-1", ("hydra", MpiMake::Mpich, None, None));
    }

    #[test]
    fn detects_other_launcher_inside_slurm_job() {
        let job = "SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1";
        check(
            &format!("{job} PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2"),
            ("hydra", MpiMake::Mpich, Some(1), Some(2)),
        );
        check(
            &format!("{job} OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2"),
            ("orterun", MpiMake::OpenMpi, Some(1), Some(2)),
        );
        check("SLURM_PROCID=0 SLURM_NTASKS=8", ("unknown", MpiMake::Any, None, None));
    }
}
