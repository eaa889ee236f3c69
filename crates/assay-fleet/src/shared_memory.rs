//! Segments of killed MPI jobs in `/dev/shm`. Their library would have removed them at its end;
//! left over, they occupy memory.
//!
//! Never removes older segments, other names than those of MPI libraries, or segments in use.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Name prefixes of the segments of MPICH, Intel MPI and Open MPI.
const MPI_PREFIXES: [&str; 5] =
    ["mpich_shm_", "Intel_MPI_", "sm_segment.", "vader_segment.", "psm2_shm."];

/// Segments at one moment.
#[derive(Debug, Clone)]
pub struct MpiSegments {
    root: PathBuf,
    names: BTreeSet<String>,
}

impl MpiSegments {
    /// Lists the current segments of this machine.
    pub fn scan() -> Self {
        Self::scan_root(PathBuf::from("/"))
    }

    fn scan_root(root: PathBuf) -> Self {
        let names = names_in(&root.join("dev/shm"));
        Self { root, names: names.into_iter().filter(|name| is_of_mpi(name)).collect() }
    }

    /// Removes new segments that are no longer in use and returns their names. Ignores those that
    /// may not be removed, such as another user's.
    pub fn remove_new(&self) -> Vec<String> {
        let mut left = Self::scan_root(self.root.clone()).names;
        left.retain(|name| !self.names.contains(name));
        if left.is_empty() {
            return Vec::new();
        }
        let used = references_in_use(&self.root);
        let folder = self.root.join("dev/shm");
        left.into_iter()
            .filter(|name| !used.iter().any(|path| path.contains(&format!("/dev/shm/{name}"))))
            .filter(|name| std::fs::remove_file(folder.join(name)).is_ok())
            .collect()
    }
}

fn is_of_mpi(name: &str) -> bool {
    MPI_PREFIXES.iter().any(|start| name.starts_with(start))
}

/// Returns the mappings and open files of all processes.
fn references_in_use(root: &std::path::Path) -> Vec<String> {
    let processes = names_in(&root.join("proc"));
    let processes = processes.iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
    let mut used = Vec::new();
    for process in processes {
        let folder = root.join("proc").join(process);
        used.extend(std::fs::read_to_string(folder.join("maps")));
        let open = names_in(&folder.join("fd"));
        let targets = open
            .iter()
            .filter_map(|name| std::fs::read_link(folder.join("fd").join(name)).ok());
        used.extend(targets.map(|target| target.to_string_lossy().into_owned()));
    }
    used
}

fn names_in(folder: &std::path::Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn removes_only_segments_of_dead_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let segment = |name: &str| {
            fs::create_dir_all(root.join("dev/shm")).unwrap();
            fs::write(root.join("dev/shm").join(name), "x").unwrap();
        };
        assert_eq!(MpiSegments::scan_root(root.to_owned()).remove_new(), Vec::<String>::new());
        segment("mpich_shm_old_0");
        let before = MpiSegments::scan_root(root.to_owned());
        for name in ["mpich_shm_new_0", "mpich_shm_mapped_0", "sm_segment.h.0.1.0", "mine"] {
            segment(name);
        }
        segment("vader_segment.h.0.1.0");
        let process = root.join("proc/17");
        fs::create_dir_all(process.join("fd")).unwrap();
        fs::write(
            process.join("maps"),
            "7f00-7f01 rw-s 0 00:19 5 /dev/shm/mpich_shm_mapped_0\n",
        )
        .unwrap();
        std::os::unix::fs::symlink("/dev/shm/vader_segment.h.0.1.0", process.join("fd/3"))
            .unwrap();
        assert_eq!(before.remove_new(), ["mpich_shm_new_0", "sm_segment.h.0.1.0"]);
        let mut left = names_in(&root.join("dev/shm"));
        left.sort_unstable();
        let kept = ["mine", "mpich_shm_mapped_0", "mpich_shm_old_0", "vader_segment.h.0.1.0"];
        assert_eq!(left, kept);
    }
}
