//! MPI installations of the comparison: Debian's two and those of the wheels, each with its
//! launcher, its library and its `mpicc`. Starts only compilers.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::bench::workplace::BenchWorkplace;
use crate::command;
use crate::wheels::{self, Wheel};

/// MPI installation of the comparison.
#[derive(Debug)]
pub(super) struct MpiContender {
    pub(super) name: String,
    pub(super) launcher: PathBuf,
    compiler: PathBuf,
    /// Library that `compiler` links programs to: a path, or a name for the loader.
    pub(super) library: PathBuf,
    /// Installation prefix, if the loader does not search its folder.
    pub(super) prefix: Option<PathBuf>,
    /// Options that keep the launcher from binding the ranks: all ranks are pinned by `taskset`.
    pub(super) no_binding: &'static [&'static str],
}

const HYDRA: &[&str] = &["-bind-to", "none"];
const OPEN_MPI: &[&str] = &["--bind-to", "none"];

/// Returns the MPIs that are installed; prints and skips the others.
pub(super) fn find_installed(root: &Path) -> Vec<MpiContender> {
    let [mpich, open_mpi, intel] = &wheels::MPI;
    let all = vec![
        debian_mpi("MPICH 4.0, Debian", "mpich", "libmpich.so.12", HYDRA),
        debian_mpi("Open MPI 4.1, Debian", "openmpi", "libmpi.so.40", OPEN_MPI),
        wheel_mpi(root, mpich, "bin/mpiexec.hydra", "libmpi.so.12", HYDRA),
        with_standard_abi(wheel_mpi(
            root,
            mpich,
            "bin/mpiexec.hydra",
            "libmpi_abi.so.1",
            HYDRA,
        )),
        wheel_mpi(root, open_mpi, "bin/prterun", "libmpi.so.40", OPEN_MPI),
        wheel_mpi(root, intel, "bin/mpiexec.hydra", "libmpi.so.12", HYDRA),
    ];
    let is_there = |mpi: &MpiContender| {
        let there = mpi.launcher.is_file() && mpi.compiler.is_file();
        if !there {
            println!("{} is not installed and left out", mpi.name);
        }
        there
    };
    all.into_iter().filter(is_there).collect()
}

fn debian_mpi(
    name: &str,
    kind: &str,
    library: &str,
    unbound: &'static [&'static str],
) -> MpiContender {
    MpiContender {
        name: name.to_owned(),
        launcher: PathBuf::from(format!("/usr/bin/mpiexec.{kind}")),
        compiler: PathBuf::from(format!("/usr/bin/mpicc.{kind}")),
        library: PathBuf::from(library),
        prefix: None,
        no_binding: unbound,
    }
}

fn wheel_mpi(
    root: &Path,
    wheel: &Wheel,
    launcher: &str,
    library: &str,
    unbound: &'static [&'static str],
) -> MpiContender {
    let prefix = wheels::environment_folder(root, wheel);
    MpiContender {
        name: format!("{} {}, wheel", wheel.name, wheel.version),
        launcher: prefix.join(launcher),
        compiler: prefix.join("bin/mpicc"),
        library: prefix.join("lib").join(library),
        prefix: Some(prefix),
        no_binding: unbound,
    }
}

/// Returns the same MPI with the standard ABI of MPI 5.
fn with_standard_abi(mpi: MpiContender) -> MpiContender {
    let compiler = mpi.compiler.with_file_name("mpicc_abi");
    MpiContender { name: format!("{}, standard ABI", mpi.name), compiler, ..mpi }
}

impl MpiContender {
    /// Compiles the loops for this MPI into a shared object.
    pub(super) fn compile(&self, workplace: &BenchWorkplace) -> Result<PathBuf> {
        let name: String = self.name.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let object = workplace.folder.join(format!("mpi_loop-{name}.so"));
        let mut compiler = workplace.command(&self.compiler);
        // gcc warns about MPICH's header: a constant is an address.
        compiler.args(["-O3", "-w", "-shared", "-fPIC", "xtask/peers/mpi_loop.c", "-o"]);
        if let Some(prefix) = &self.prefix {
            compiler.env("I_MPI_ROOT", prefix);
        }
        command::run(compiler.arg(&object))?;
        Ok(object)
    }
}
