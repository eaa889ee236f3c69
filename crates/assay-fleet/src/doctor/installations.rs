//! Checks of MPI installations and of environment modules that load one. Starts nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_model::finding::FindingSeverity;
use assay_model::phrase;
use assay_model::phrase::Phrase;

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, list_names};
use crate::mpi::{self, MpiModule, MpiSearchPaths};

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "mpi.installations",
        expected: "a library for every launcher",
        why: "a launcher without its library starts ranks that each form a world of size 1, or none at all",
        source: "Azure azhpc-images: tests/test-definitions.sh (verify_hpcx_installation and others)",
        severity: FindingSeverity::Note,
        change: "install the MPI's library, or remove the launcher from PATH",
        observe: installed,
    },
    DoctorCheck {
        id: "mpi.modules",
        expected: "every environment module of an MPI leads to a folder that exists",
        why: "a module of a removed MPI loads without an error, and the job fails at its start",
        source: "Azure azhpc-images: tests/test-definitions.sh (check_exists of module files); man 4 modulefile; Lmod documentation",
        severity: FindingSeverity::Note,
        change: "install that MPI again, or remove the module file",
        observe: modules,
    },
];

/// Returns the make as a phrase; names that consist of words come from the catalogue.
fn make_phrase(name: &str) -> Phrase {
    match name {
        MPICH_OR_INTEL => phrase!("mpich-or-intel", "MPICH or Intel MPI"),
        STANDARD_ABI => phrase!("standard-abi", "MPI of the standard ABI"),
        name => name.into(),
    }
}

const MPICH_OR_INTEL: &str = "MPICH or Intel MPI";
const STANDARD_ABI: &str = "MPI of the standard ABI";

/// Makes of MPI by the name of the library.
const LIBRARIES: [(&str, &str); 7] = [
    ("libmpi.so.40", "Open MPI"),
    ("libmpi.so.20", "Open MPI"),
    ("libmpich.so.12", "MPICH"),
    ("libmpi.so.12", MPICH_OR_INTEL),
    ("libmpi.so.0", "MVAPICH"),
    ("libmpi_abi.so.1", STANDARD_ABI),
    ("libmpi_abi.so.0", STANDARD_ABI),
];

/// Collects the search locations from the environment and the usual folders, below the root.
fn search_paths(input: &CheckInput) -> MpiSearchPaths {
    // Hidden in a captured tree or without /proc; the usual folders remain.
    let text = input.root.text("proc/self/environ").unwrap_or_default();
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    let environment: BTreeMap<&str, &str> = pairs.collect();
    let there = |name: &str| {
        let value = environment.get(name).copied().unwrap_or_default();
        let paths = std::env::split_paths(value).filter(|path| path.is_absolute());
        paths.map(|path| input.root.host_path(&path)).collect()
    };
    MpiSearchPaths::from_lookup(input.root.host_path(Path::new("/")), there)
}

/// Formats a path as the host names it, without the root of the tree.
fn format_host_path(input: &CheckInput, path: &Path) -> String {
    let root = input.root.host_path(Path::new("/"));
    Path::new("/").join(path.strip_prefix(root).unwrap_or(path)).display().to_string()
}

fn installed(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let places = search_paths(input);
    let launchers = places.launchers().into_iter().map(|it| it.prefix);
    let mut prefixes: Vec<PathBuf> = Vec::new();
    for prefix in launchers.chain(places.prefixes_without_launcher()) {
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    let makes = |prefix: &PathBuf| -> Vec<Phrase> {
        let there = |(name, _): &&(&str, &str)| mpi::find_library(prefix, &[*name]).is_some();
        let cray = mpi::find_cray_library(prefix).map(|_| "Cray MPICH");
        let found = LIBRARIES.iter().filter(there).map(|(_, make)| *make);
        let mut makes: Vec<&str> = found.chain(cray).collect();
        makes.dedup();
        makes.into_iter().map(make_phrase).collect()
    };
    let found: Vec<(Vec<Phrase>, String)> = prefixes
        .iter()
        .map(|prefix| (makes(prefix), format_host_path(input, prefix)))
        .collect();
    if found.is_empty() {
        return Err(CheckObstacle::Absent(phrase!(
            "no-mpi",
            "no MPI in PATH or the usual folders"
        )));
    }
    let is_whole = found.iter().all(|(makes, _)| !makes.is_empty());
    let line = |(makes, place): (Vec<Phrase>, String)| match makes.is_empty() {
        true => {
            phrase!("launcher-alone", "a launcher without a library in {place}", place = place)
        }
        false => {
            let makes = Phrase::list(", ", makes);
            phrase!("make-in", "{make} in {place}", make = makes, place = place)
        }
    };
    Ok(CheckResult::from_verdict(is_whole, Phrase::list("; ", found.into_iter().map(line))))
}

fn modules(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let modules = search_paths(input).mpi_modules();
    if modules.is_empty() {
        return Err(CheckObstacle::Absent(phrase!(
            "no-mpi-module",
            "no environment module of an MPI"
        )));
    }
    let leads = |module: &&MpiModule| {
        let is_there = |path: &String| input.root.exists(path.trim_start_matches('/'));
        // A module that composes its paths or loads another module mentions no path to check.
        module.paths.is_empty() || module.paths.iter().any(is_there)
    };
    let names =
        |modules: Vec<&MpiModule>| list_names(", ", modules.into_iter().map(|it| &it.name));
    let (sound, stale): (Vec<&MpiModule>, Vec<&MpiModule>) = modules.iter().partition(leads);
    Ok(match (sound.is_empty(), stale.is_empty()) {
        (_, true) => CheckResult::ok(names(sound)),
        (true, _) => CheckResult::deviates(phrase!(
            "modules-stale",
            "none leads anywhere: {stale}",
            stale = names(stale)
        )),
        (false, _) => CheckResult::deviates(phrase!(
            "modules-some-stale",
            "{sound}; lead nowhere: {stale}",
            sound = names(sound),
            stale = names(stale),
        )),
    })
}
