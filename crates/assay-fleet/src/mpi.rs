//! Search for MPI installations: launchers and the libraries of their prefixes.
//!
//! Looks only at file names; starts and loads nothing. The make of a launcher is known only by
//! running it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use assay_model::path_text;

use crate::root::Root;

/// Launcher names, the specific ones first. `mpirun` of Intel MPI's wheels, for example, is a
/// script that starts the first `mpiexec.hydra` on `PATH`.
const LAUNCHERS: [&str; 5] =
    ["mpiexec.hydra", "mpirun.openmpi", "mpirun.mpich", "mpirun", "mpiexec"];
/// Library folders of a prefix.
const LIBRARY_FOLDERS: [&str; 5] =
    ["lib", "lib64", "lib/release", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"];
/// Folders whose entries, and entries of those, may be prefixes.
const PREFIX_COLLECTIONS: [&str; 8] = [
    "opt",
    "opt/intel/oneapi/mpi",
    "opt/cray/pe",
    "opt/ohpc/pub/mpi",
    "opt/apps",
    "usr/mpi/gcc",
    "usr/lib64",
    "usr/local",
];
/// Folder of Cray MPICH: `VERSION/NETWORK/COMPILER/VERSION`, each with a `lib` and without a
/// launcher.
const CRAY_MPICH: &str = "opt/cray/pe/mpich";
/// Usual folders of module files, in addition to `MODULEPATH`.
const MODULE_FOLDERS: [&str; 11] = [
    "etc/modulefiles",
    "usr/share/modulefiles",
    "usr/share/modules/modulefiles",
    "usr/share/Modules/modulefiles",
    "usr/share/lmod/lmod/modulefiles",
    "usr/local/modulefiles",
    "usr/local/Modules/modulefiles",
    "opt/modulefiles",
    "opt/apps/modulefiles",
    "opt/ohpc/pub/modulefiles",
    "opt/cray/pe/lmod/modulefiles",
];
/// Prefixes of the names of Cray MPICH's library, by compiler: `libmpi_gnu_123.so.12`.
const CRAY_LIBRARIES: [&str; 7] = [
    "libmpi_cray",
    "libmpi_gnu",
    "libmpi_intel",
    "libmpi_nvidia",
    "libmpi_amd",
    "libmpi_aocc",
    "libmpi_crayclang",
];
/// Maximum number of module files; larger collections are a site's whole software.
const MAX_MODULE_FILES: usize = 2000;
/// Maximum number of bytes read from a module file.
const MAX_MODULE_BYTES: u64 = 64 << 10;

/// Locations to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MpiSearchPaths {
    /// Folder used as `/`.
    pub root: PathBuf,
    /// Program folders in order: those of `PATH`.
    pub path: Vec<PathBuf>,
    /// Prefixes from the environment: a Python environment, `I_MPI_ROOT`, `MPI_HOME` …
    pub prefixes: Vec<PathBuf>,
    /// Module file folders from the environment.
    pub modules: Vec<PathBuf>,
}

/// Launcher and its installation prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLauncher {
    /// Program as found.
    pub launcher: PathBuf,
    /// Folder above its `bin`.
    pub prefix: PathBuf,
}

impl MpiSearchPaths {
    /// Creates the locations of this machine from the environment of this process.
    pub fn from_env() -> Self {
        let list = |name: &str| {
            let value = std::env::var_os(name).unwrap_or_default();
            std::env::split_paths(&value).filter(|path| path.is_absolute()).collect()
        };
        Self::from_lookup(PathBuf::from("/"), list)
    }

    /// Creates the locations from a root and a lookup of variables, each a list of absolute paths.
    pub fn from_lookup(root: PathBuf, list: impl Fn(&str) -> Vec<PathBuf>) -> Self {
        let mut prefixes = Vec::new();
        for name in [
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "I_MPI_ROOT",
            "MPI_HOME",
            "MPI_ROOT",
            "OPAL_PREFIX",
            "MVAPICH_HOME",
            "MV2_HOME",
            "CRAY_MPICH_DIR",
        ] {
            prefixes.extend(list(name));
        }
        // Prefix of `pip install --user`.
        prefixes.extend(list("HOME").into_iter().map(|home| home.join(".local")));
        let (path, modules) = (list("PATH"), list("MODULEPATH"));
        Self { root, path, prefixes, modules }
    }

    /// Returns every launcher file once, user-specific locations first.
    pub fn launchers(&self) -> Vec<FoundLauncher> {
        let mut folders: Vec<PathBuf> = self.prefixes.iter().map(|it| it.join("bin")).collect();
        folders.extend(self.path.iter().cloned());
        for collection in PREFIX_COLLECTIONS {
            for prefix in folders_in(&self.root.join(collection)) {
                folders.push(prefix.join("bin"));
                folders.extend(folders_in(&prefix).into_iter().map(|inner| inner.join("bin")));
            }
        }
        folders.extend(self.module_folders());
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for folder in folders {
            found.extend(launchers_in(&folder).into_iter().filter(|launcher| {
                seen.insert(launcher.launcher.canonicalize().unwrap_or_default())
            }));
        }
        found
    }

    /// Returns prefixes without a launcher, because a batch system starts the ranks: Cray MPICH,
    /// the loaded module's first, then the newest.
    pub fn prefixes_without_launcher(&self) -> Vec<PathBuf> {
        let mut prefixes = self.prefixes.clone();
        let mut versions = folders_in(&self.root.join(CRAY_MPICH));
        versions.reverse();
        let mut level = versions;
        for _ in 0..3 {
            level = level.iter().flat_map(|folder| folders_in(folder)).collect();
        }
        prefixes.extend(level);
        let mut seen = BTreeSet::new();
        prefixes.retain(|prefix| {
            let real = prefix.canonicalize().unwrap_or_default();
            find_cray_library(prefix).is_some() && seen.insert(real)
        });
        prefixes
    }

    /// Returns the module files named after an MPI, sorted by name, as `module avail` lists them.
    pub fn mpi_modules(&self) -> Vec<MpiModule> {
        let is_of_mpi = |name: &String| {
            let name = name.to_lowercase();
            ["mpi", "hpcx", "mvapich"].iter().any(|it| name.contains(it))
        };
        let named = |(folder, file): &(PathBuf, PathBuf)| {
            let name = file.strip_prefix(folder).ok()?.to_str()?;
            let is_hidden = name.split('/').any(|part| part.starts_with('.'));
            let name = name.strip_suffix(".lua").unwrap_or(name).to_owned();
            (!is_hidden && is_of_mpi(&name)).then_some(name)
        };
        let mut modules: Vec<MpiModule> = self
            .module_files()
            .iter()
            .filter_map(|file| Some(MpiModule { name: named(file)?, paths: paths_in(&file.1) }))
            .collect();
        modules.sort();
        modules.dedup_by(|a, b| a.name == b.name);
        modules
    }

    /// Returns the program folders that module files mention.
    fn module_folders(&self) -> Vec<PathBuf> {
        let files = self.module_files();
        let folders: BTreeSet<PathBuf> =
            files.iter().flat_map(|(_, file)| program_folders_in(file)).collect();
        folders.into_iter().collect()
    }

    /// Returns all module files, each with the folder that its name is relative to.
    fn module_files(&self) -> Vec<(PathBuf, PathBuf)> {
        let usual = MODULE_FOLDERS.iter().map(|folder| self.root.join(folder));
        let mut found = Vec::new();
        for top in self.modules.iter().cloned().chain(usual) {
            let mut left = vec![(top.clone(), 0)];
            while let Some((folder, depth)) = left.pop() {
                for entry in entries(&folder) {
                    if entry.is_dir() {
                        // name/version, and an additional level for a compiler.
                        left.extend((depth < 3).then_some((entry, depth + 1)));
                    } else if found.len() < MAX_MODULE_FILES {
                        found.push((top.clone(), entry));
                    }
                }
            }
        }
        found
    }
}

/// Environment module file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MpiModule {
    /// Name to load it by: `mpi/hpcx`.
    pub name: String,
    /// Absolute paths mentioned in the file.
    pub paths: Vec<String>,
}

/// Returns the launchers of one prefix, best first.
pub fn launchers_of_prefix(prefix: &Path) -> Vec<FoundLauncher> {
    launchers_in(&prefix.join("bin"))
}

/// Returns the first of `names` found in the library folders of a prefix.
pub fn find_library(prefix: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| {
        let files = LIBRARY_FOLDERS.iter().map(|folder| prefix.join(folder).join(name));
        files.into_iter().find(|file| file.is_file())
    })
}

/// Returns Cray MPICH's library in the library folders of a prefix.
pub fn find_cray_library(prefix: &Path) -> Option<PathBuf> {
    let folders = LIBRARY_FOLDERS.iter().map(|folder| prefix.join(folder));
    let mut files = folders.flat_map(|folder| entries(&folder));
    files.find(|file| {
        file.is_file() && file.file_name().and_then(OsStr::to_str).is_some_and(is_cray_library)
    })
}

/// Returns whether a file name is one of Cray MPICH's libraries: `libmpi_cray.so.12`,
/// `libmpi_gnu_123.so.12`.
pub fn is_cray_library(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".so.12") else { return false };
    let is_number = |rest: &str| {
        rest.is_empty()
            || rest.strip_prefix('_').is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
            })
    };
    CRAY_LIBRARIES.iter().any(|start| stem.strip_prefix(start).is_some_and(is_number))
}

/// Returns the NUMA node of the device for messages to other hosts: the first RDMA device, else the
/// first network device that is up. `None` if no device reports it, as in most guests.
pub fn network_numa(root: &Root) -> Option<u32> {
    let node = |folder: &str, name: &String| {
        root.number::<i64>(&format!("{folder}/{name}/device/numa_node"))
    };
    let is_up = |name: &String| {
        root.text(&format!("sys/class/net/{name}/operstate")).as_deref() == Some("up")
    };
    let rdma = root.names("sys/class/infiniband");
    let rdma = rdma.iter().find_map(|name| node("sys/class/infiniband", name));
    let net = root.names("sys/class/net");
    let net =
        || net.iter().filter(|name| is_up(name)).find_map(|name| node("sys/class/net", name));
    // The kernel writes -1 where the firmware does not report it.
    rdma.or_else(net).and_then(|node| u32::try_from(node).ok())
}

fn launchers_in(folder: &Path) -> Vec<FoundLauncher> {
    let Some(prefix) = folder.parent() else { return Vec::new() };
    let files = LAUNCHERS.iter().map(|name| folder.join(name));
    files
        .filter(|file| crate::process::find_executable(file).is_some())
        .map(|launcher| FoundLauncher { launcher, prefix: prefix.to_owned() })
        .collect()
}

/// Returns the program folders that a Tcl or Lua module file mentions, directly or as parent of
/// `bin`.
fn program_folders_in(file: &Path) -> Vec<PathBuf> {
    let folder = |word: &String| {
        let path = path_text::decode_path(word);
        if path.file_name() == Some(OsStr::new("bin")) { path } else { path.join("bin") }
    };
    paths_in(file).iter().map(folder).filter(|folder| folder.is_dir()).collect()
}

/// Returns all absolute paths in a module file. Drops fragments such as `/bin` or `/lib/pkgconfig`,
/// which the file appends to a variable.
fn paths_in(file: &Path) -> Vec<String> {
    /// First components of path fragments that are appended to a variable.
    const PATH_FRAGMENTS: [&str; 7] =
        ["/bin", "/lib", "/lib64", "/include", "/share", "/man", "/libexec"];
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(file)
        .and_then(|file| file.take(MAX_MODULE_BYTES).read_to_end(&mut bytes));
    if read.is_err() {
        return Vec::new();
    }
    let text = path_text::encode(OsStr::from_bytes(&bytes));
    let separators = |c: char| c.is_whitespace() || "\"'(){}[],;:".contains(c);
    let is_end = |word: &&str| {
        let first = word[1..].find('/').map_or(*word, |at| &word[..=at]);
        PATH_FRAGMENTS.contains(&first)
    };
    let is_comment =
        |line: &&str| line.trim().starts_with('#') || line.trim().starts_with("--");
    let lines = text.lines().filter(|line| !is_comment(line));
    let paths = lines
        .flat_map(|line| line.split(separators))
        .filter(|word| word.len() > 1 && word.starts_with('/'));
    paths.filter(|word| !is_end(word)).map(str::to_owned).collect()
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|entry| entry.is_dir()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::root::write_file;

    fn program(root: &Path, name: &str) {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn finds_launchers_in_usual_places() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [
            "usr/bin/mpiexec.hydra",
            "usr/bin/mpirun.openmpi",
            "venv/bin/mpiexec.hydra",
            "venv/bin/mpirun",
            "opt/mpich/bin/mpiexec",
            "opt/hpcx/ompi/bin/mpirun",
            "sw/openmpi/5.0/bin/mpirun",
            "home/user/.local/bin/mpirun",
        ] {
            program(root, name);
        }
        // A folder with a launcher's name and a file without execute permission do not count.
        fs::create_dir_all(root.join("opt/odd/bin/mpirun")).unwrap();
        fs::write(root.join("usr/bin/mpiexec"), "text").unwrap();
        std::os::unix::fs::symlink("mpirun.openmpi", root.join("usr/bin/mpirun")).unwrap();
        let module = root.join("usr/share/modulefiles/openmpi/5.0.lua");
        fs::create_dir_all(module.parent().unwrap()).unwrap();
        let text = format!(
            "local base = \"{}\"\nprepend_path(\"PATH\", base .. \"/bin\")\n",
            root.join("sw/openmpi/5.0").display()
        );
        fs::write(module, text).unwrap();
        let places = MpiSearchPaths {
            root: root.to_owned(),
            path: vec![root.join("usr/bin")],
            prefixes: vec![root.join("venv"), root.join("home/user/.local")],
            modules: vec![root.join("nowhere")],
        };
        let shown = |launcher: &FoundLauncher| {
            let path = launcher.launcher.strip_prefix(root).unwrap();
            path.display().to_string()
        };
        let found: Vec<String> = places.launchers().iter().map(shown).collect();
        assert_eq!(
            found,
            [
                "venv/bin/mpiexec.hydra",
                "venv/bin/mpirun",
                "home/user/.local/bin/mpirun",
                "usr/bin/mpiexec.hydra",
                "usr/bin/mpirun.openmpi",
                "opt/hpcx/ompi/bin/mpirun",
                "opt/mpich/bin/mpiexec",
                "sw/openmpi/5.0/bin/mpirun",
            ]
        );
    }

    #[test]
    fn finds_mpi_in_cluster_layouts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let programs = [
            // Azure's and NVIDIA's images, RHEL, OFED, OpenHPC, oneAPI, AWS.
            "opt/mvapich2-2.3.7/bin/mpiexec.hydra",
            "opt/hpcx-v2.18/ompi/bin/mpirun",
            "usr/lib64/mpich/bin/mpiexec",
            "usr/mpi/gcc/openmpi-4.1.7a1/bin/mpirun",
            "opt/ohpc/pub/mpi/openmpi4-gnu12/4.1.6/bin/mpirun",
            "opt/intel/oneapi/mpi/2021.14/bin/mpiexec.hydra",
            "opt/amazon/openmpi5/bin/mpirun",
            "apps/mvapich/4.0/bin/mpiexec",
        ];
        programs.iter().for_each(|name| program(root, name));
        // Tcl module file in a usual folder, with a path composed from a variable.
        let module = root.join("opt/ohpc/pub/modulefiles/mvapich/4.0");
        fs::create_dir_all(module.parent().unwrap()).unwrap();
        let base = root.join("apps/mvapich/4.0");
        fs::write(
            module,
            format!("#%Module1.0\nset base {}\nprepend-path PATH $base/bin\n", base.display()),
        )
        .unwrap();
        let places = MpiSearchPaths {
            root: root.to_owned(),
            path: vec![],
            prefixes: vec![],
            modules: vec![],
        };
        let found: BTreeSet<PathBuf> =
            places.launchers().into_iter().map(|it| it.launcher).collect();
        for name in programs {
            assert!(found.contains(&root.join(name)), "{name} is not in {found:?}");
        }
    }

    #[test]
    fn finds_cray_mpich_by_library() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [
            "opt/cray/pe/mpich/8.1.28/ofi/gnu/12.3/lib/libmpi_gnu_123.so.12",
            "opt/cray/pe/mpich/8.1.32/ofi/cray/17.0/lib/libmpi_cray.so.12",
            "opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib/libmpi_gnu_123.so.12",
            "opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib/libmpifort_gnu_123.so.12",
            "opt/cray/pe/mpich/8.1.32/ofi/gnu/11.2/include/mpi.h",
        ] {
            program(root, name);
        }
        let loaded = root.join("opt/cray/pe/mpich/8.1.28/ofi/gnu/12.3");
        let places = |prefixes: Vec<PathBuf>| MpiSearchPaths {
            root: root.to_owned(),
            path: vec![],
            prefixes,
            modules: vec![],
        };
        let check = |prefixes: Vec<PathBuf>, expected: &[&str]| {
            let found = places(prefixes).prefixes_without_launcher();
            let expected: Vec<PathBuf> =
                expected.iter().map(|it| root.join("opt/cray/pe/mpich").join(it)).collect();
            assert_eq!(found, expected);
        };
        let newest = ["8.1.32/ofi/cray/17.0", "8.1.32/ofi/gnu/12.3", "8.1.28/ofi/gnu/12.3"];
        check(vec![], &newest);
        check(vec![loaded], &[newest[2], newest[0], newest[1]]);
        assert_eq!(places(vec![]).launchers(), []);
    }

    #[test]
    fn recognises_cray_library_names() {
        for name in ["libmpi_cray.so.12", "libmpi_gnu_91.so.12", "libmpi_nvidia_207.so.12"] {
            assert!(is_cray_library(name), "{name}");
        }
        for name in
            ["libmpi.so.12", "libmpi_cxx.so.12", "libmpi_gnu_x.so.12", "libmpi_gnu.so", ""]
        {
            assert!(!is_cray_library(name), "{name}");
        }
    }

    #[test]
    fn finds_library_in_prefix_of_launcher() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        program(root, "lib/x86_64-linux-gnu/libmpich.so.12");
        program(root, "lib64/libmpi.so.40");
        let check = |names: &[&str], expected: Option<&str>| {
            assert_eq!(find_library(root, names), expected.map(|name| root.join(name)));
        };
        check(&["libmpi.so.12", "libmpich.so.12"], Some("lib/x86_64-linux-gnu/libmpich.so.12"));
        check(&["libmpi.so.40"], Some("lib64/libmpi.so.40"));
        check(&["libmpi_abi.so.1"], None);
        check(&[], None);
    }

    #[test]
    fn network_numa_prefers_rdma_device() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| write_file(folder.path(), path, text);
        let check = |expected: Option<u32>| {
            assert_eq!(network_numa(&Root::from_directory(folder.path())), expected);
        };
        check(None);
        write("sys/class/net/eth0/operstate", "up\n");
        write("sys/class/net/eth0/device/numa_node", "-1\n");
        check(None);
        write("sys/class/net/eth0/device/numa_node", "1\n");
        write("sys/class/net/down0/operstate", "down\n");
        write("sys/class/net/down0/device/numa_node", "3\n");
        check(Some(1));
        write("sys/class/infiniband/mlx5_0/device/numa_node", "2\n");
        check(Some(2));
    }

    #[test]
    fn ignores_files_that_are_no_module_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("odd");
        fs::write(&file, [0_u8, 255, b'/', 200, 10, b'/', b'\n']).unwrap();
        assert_eq!(program_folders_in(&file), Vec::<PathBuf>::new());
        assert_eq!(program_folders_in(folder.path()), Vec::<PathBuf>::new());
    }
}
