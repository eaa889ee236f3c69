//! Checks of the MPIs that a machine offers: installed ones, and environment modules that load one. Nothing is started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_model::finding::Severity;

use super::check::{Check, Scene, Seen, Unseen};
use crate::mpi::{self, Module, Places};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "mpi.installations",
        expected: "a library beside every launcher",
        why: "a launcher without its library starts ranks that each believe to be alone, or none at all",
        source: "Azure azhpc-images: tests/test-definitions.sh (verify_hpcx_installation and others)",
        severity: Severity::Note,
        change: "install the MPI's library, or take the launcher off PATH",
        look: installed,
    },
    Check {
        id: "mpi.modules",
        expected: "every environment module of an MPI leads to a folder that exists",
        why: "a module that outlived its MPI loads without a word, and the job fails when it starts",
        source: "Azure azhpc-images: tests/test-definitions.sh (check_exists of module files); man 4 modulefile; Lmod documentation",
        severity: Severity::Note,
        change: "install that MPI again, or remove the module file",
        look: modules,
    },
];

/// Whose a library is, by its name.
const LIBRARIES: [(&str, &str); 7] = [
    ("libmpi.so.40", "Open MPI"),
    ("libmpi.so.20", "Open MPI"),
    ("libmpich.so.12", "MPICH"),
    ("libmpi.so.12", "MPICH or Intel MPI"),
    ("libmpi.so.0", "MVAPICH"),
    ("libmpi_abi.so.1", "MPI of the standard ABI"),
    ("libmpi_abi.so.0", "MPI of the standard ABI"),
];

/// What the environment and the usual places name, below the root.
fn places(scene: &Scene) -> Places {
    // Hidden in a captured tree, as it is where /proc is not mounted: the usual places are left.
    let text = scene.root.text("proc/self/environ").unwrap_or_default();
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    let environment: BTreeMap<&str, &str> = pairs.collect();
    let there = |name: &str| {
        let value = environment.get(name).copied().unwrap_or_default();
        let paths = std::env::split_paths(value).filter(|path| path.is_absolute());
        paths.map(|path| scene.root.place(&path)).collect()
    };
    Places::by(scene.root.place(Path::new("/")), there)
}

/// As the host itself calls it.
fn shown(scene: &Scene, path: &Path) -> String {
    let root = scene.root.place(Path::new("/"));
    Path::new("/").join(path.strip_prefix(root).unwrap_or(path)).display().to_string()
}

fn installed(scene: &Scene) -> Result<Seen, Unseen> {
    let places = places(scene);
    let launchers = places.launchers().into_iter().map(|it| it.prefix);
    let mut prefixes: Vec<PathBuf> = Vec::new();
    for prefix in launchers.chain(places.without_launcher()) {
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    let makes = |prefix: &PathBuf| {
        let there = |(name, _): &&(&str, &str)| mpi::library(prefix, &[*name]).is_some();
        let cray = mpi::cray_library(prefix).map(|_| "Cray MPICH");
        let found = LIBRARIES.iter().filter(there).map(|(_, make)| *make);
        let mut makes: Vec<&str> = found.chain(cray).collect();
        makes.dedup();
        makes.join(", ")
    };
    let found: Vec<(String, String)> =
        prefixes.iter().map(|prefix| (makes(prefix), shown(scene, prefix))).collect();
    if found.is_empty() {
        return Err(Unseen::hidden("an MPI"));
    }
    let line = |(makes, place): &(String, String)| match makes.as_str() {
        "" => format!("a launcher without a library in {place}"),
        makes => format!("{makes} in {place}"),
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    Ok(Seen::judged(found.iter().all(|(makes, _)| !makes.is_empty()), lines.join("; ")))
}

fn modules(scene: &Scene) -> Result<Seen, Unseen> {
    let modules = places(scene).mpi_modules();
    if modules.is_empty() {
        return Err(Unseen::hidden("an environment module of an MPI"));
    }
    let leads = |module: &&Module| {
        let is_there = |path: &String| scene.root.exists(path.trim_start_matches('/'));
        // One that puts its paths together, or loads another, says nothing that can be looked up.
        module.paths.is_empty() || module.paths.iter().any(is_there)
    };
    let names = |modules: Vec<&Module>| {
        modules.into_iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (sound, stale): (Vec<&Module>, Vec<&Module>) = modules.iter().partition(leads);
    Ok(match (sound.is_empty(), stale.is_empty()) {
        (_, true) => Seen::ok(names(sound)),
        (true, _) => Seen::deviates(format!("none leads anywhere: {}", names(stale))),
        (false, _) => {
            Seen::deviates(format!("{}; lead nowhere: {}", names(sound), names(stale)))
        }
    })
}
