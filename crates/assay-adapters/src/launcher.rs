//! MPI launchers: detects the implementation of `mpirun` and starts one pinned rank per CPU.
//!
//! Every implementation has its own binding options, and Open MPI changed them between major
//! versions. All of them can start several programs at once, so that each rank is started through
//! `taskset` on its own CPU with the launcher's binding switched off. The placement is the same
//! everywhere and is visible in the recorded argument list.

/// Names to look for in `PATH`, preferred ones first.
pub const PROGRAMS: &[&str] = &["mpirun", "mpiexec"];

/// Arguments that make a launcher print its name and version.
pub const VERSION_ARGUMENTS: &[&str] = &["--version"];

/// MPI launcher found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// Path of the executable.
    pub path: String,
    /// Its implementation.
    pub kind: LauncherKind,
    /// Version, if printed.
    pub version: Option<String>,
}

/// Implementations that need different options and variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LauncherKind {
    /// Open MPI's `mpirun`.
    OpenMpi,
    /// MPICH's and MVAPICH's Hydra.
    Hydra,
    /// Intel MPI's Hydra.
    IntelMpi,
}

/// Command that starts a program, with or without a launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// Number of processes that compute, at least 1.
    pub(crate) ranks: usize,
}

impl Launch {
    /// Starts one rank on each of `cpus`; without a launcher one process for all of them.
    pub(crate) fn for_cpus(program: &str, launcher: Option<&Launcher>, cpus: &[u32]) -> Self {
        match launcher {
            Some(launcher) => launcher.one_rank_per_cpu(program, cpus),
            None => Self {
                program: program.to_owned(),
                arguments: vec![],
                environment: vec![],
                ranks: 1,
            },
        }
    }
}

impl Launcher {
    /// Recognises the launcher at `path` by its output for [`VERSION_ARGUMENTS`]; `None` if it is
    /// not supported.
    pub fn recognise(path: &str, printed: &str) -> Option<Self> {
        let first = printed.lines().find(|line| !line.trim().is_empty())?;
        let (kind, version) = if first.contains("(Open MPI)") || first.contains("(OpenRTE)") {
            (LauncherKind::OpenMpi, first.split_whitespace().next_back())
        } else if first.starts_with("Intel(R) MPI Library") {
            let version = first.split_once("Version ").map(|(_, rest)| rest);
            (LauncherKind::IntelMpi, version.and_then(|rest| rest.split_whitespace().next()))
        } else if first.starts_with("HYDRA build details") {
            let line = printed.lines().find_map(|line| line.trim().strip_prefix("Version:"));
            (LauncherKind::Hydra, line.map(str::trim))
        } else {
            return None;
        };
        Some(Self { path: path.to_owned(), kind, version: version.map(str::to_owned) })
    }

    /// Starts one rank of `program` on each of `cpus`, in that order.
    fn one_rank_per_cpu(&self, program: &str, cpus: &[u32]) -> Launch {
        let mut arguments = vec!["--bind-to".to_owned(), "none".to_owned()];
        for (rank, cpu) in cpus.iter().enumerate() {
            if rank > 0 {
                arguments.push(":".to_owned());
            }
            let cpu = cpu.to_string();
            let words = ["-np", "1", "taskset", "-c", &cpu, program];
            arguments.extend(words.map(str::to_owned));
        }
        self.launch(arguments, cpus.len())
    }

    /// Starts `count` unbound ranks of `program`. There may be more ranks than CPUs, because they
    /// wait for I/O.
    pub(crate) fn free_ranks(&self, program: &str, count: u32) -> Launch {
        let more_than_cpus: &[&str] = match self.kind {
            LauncherKind::OpenMpi => &["--oversubscribe"],
            LauncherKind::Hydra | LauncherKind::IntelMpi => &[],
        };
        let number = count.to_string();
        let words = ["--bind-to", "none", "-np", &number, program];
        let words = more_than_cpus.iter().chain(&words).map(|word| (*word).to_owned());
        self.launch(words.collect(), count as usize)
    }

    fn launch(&self, arguments: Vec<String>, ranks: usize) -> Launch {
        let variables = self.kind.environment().iter();
        Launch {
            program: self.path.clone(),
            arguments,
            environment: variables
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ranks: ranks.max(1),
        }
    }
}

impl LauncherKind {
    const fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            // Open MPI refuses to start as root unless confirmed twice. In a container root is
            // normal, and a user who starts assay as root intends it.
            Self::OpenMpi => {
                &[("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]
            }
            // MVAPICH binds by itself in MPI_Init, which would undo `taskset`.
            Self::Hydra => &[("MV2_ENABLE_AFFINITY", "0")],
            // Intel MPI does the same.
            Self::IntelMpi => &[("I_MPI_PIN", "0")],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_launcher_by_first_line() {
        let table = [
            (
                "mpirun (Open MPI) 4.1.4\n\nReport bugs to …",
                Some((LauncherKind::OpenMpi, "4.1.4")),
            ),
            ("mpiexec (OpenRTE) 3.1.3\n", Some((LauncherKind::OpenMpi, "3.1.3"))),
            (
                "HYDRA build details:\n    Version:                                 4.0.2\n",
                Some((LauncherKind::Hydra, "4.0.2")),
            ),
            (
                "Intel(R) MPI Library for Linux* OS, Version 2021.8 Build 20221129 (id: 339ec)\n",
                Some((LauncherKind::IntelMpi, "2021.8")),
            ),
            ("usage: mpirun …", None),
            ("", None),
        ];
        for (printed, expected) in table {
            let launcher = Launcher::recognise("/usr/bin/mpirun", printed);
            let got = launcher.as_ref().map(|l| (l.kind, l.version.as_deref().unwrap_or("")));
            assert_eq!(got, expected, "{printed:?}");
        }
    }

    #[test]
    fn every_rank_gets_its_own_cpu() {
        let launcher =
            Launcher { path: "mpirun".to_owned(), kind: LauncherKind::OpenMpi, version: None };
        let launch = Launch::for_cpus("/opt/xhpl", Some(&launcher), &[4, 6]);
        assert_eq!(launch.ranks, 2);
        assert_eq!(
            launch.arguments.join(" "),
            "--bind-to none -np 1 taskset -c 4 /opt/xhpl : -np 1 taskset -c 6 /opt/xhpl"
        );
    }
}
