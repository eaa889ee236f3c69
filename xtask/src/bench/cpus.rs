//! CPUs that all contenders are pinned to, read from the kernel.

use std::fs;

use anyhow::{Result, bail};

/// CPU numbers, in the format of `taskset`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cpus(pub Vec<usize>);

impl Cpus {
    /// Chooses `threads` of the CPUs allowed to this process, one per core before any second thread
    /// of a core; by default one for each core.
    pub(crate) fn choose(threads: Option<usize>) -> Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let allowed = parse_cpu_list(allowed.unwrap_or_default());
        let ranked = allowed.iter().map(|cpu| (rank_in_core(*cpu), *cpu)).collect();
        Self::select(ranked, threads)
    }

    fn select(mut ranked: Vec<(usize, usize)>, threads: Option<usize>) -> Result<Self> {
        ranked.sort_unstable();
        let cores = ranked.iter().filter(|(rank, _)| *rank == 0).count();
        let wanted = threads.unwrap_or(cores);
        if wanted == 0 || wanted > ranked.len() {
            bail!("{wanted} threads requested, but only {} CPUs are available", ranked.len());
        }
        Ok(Self(ranked[..wanted].iter().map(|(_, cpu)| *cpu).collect()))
    }

    /// Returns the first CPU.
    pub(crate) fn first(&self) -> usize {
        self.0[0]
    }

    /// Returns the number of CPUs; at least one.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Formats the CPUs as a comma-separated list.
    pub(crate) fn format_list(&self) -> String {
        self.0.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }

    /// Formats the CPUs as OpenMP places, one for each.
    pub(crate) fn format_openmp_places(&self) -> String {
        self.0.iter().map(|cpu| format!("{{{cpu}}}")).collect::<Vec<_>>().join(",")
    }
}

/// Returns the index of this CPU among those of its core; 0 if the kernel does not report it.
fn rank_in_core(cpu: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let siblings = parse_cpu_list(&fs::read_to_string(path).unwrap_or_default());
    siblings.iter().position(|sibling| *sibling == cpu).unwrap_or(0)
}

/// Parses the kernel's list notation, `0-3,8`.
pub(crate) fn parse_cpu_list(text: &str) -> Vec<usize> {
    text.trim()
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_kernel_cpu_lists() {
        assert_eq!(parse_cpu_list(" 0-2,7,9-10\n"), [0, 1, 2, 7, 9, 10]);
        assert_eq!(parse_cpu_list(""), [0; 0]);
    }

    #[test]
    fn selects_one_thread_per_core_first() {
        let smt = vec![(0, 0), (1, 1), (0, 2), (1, 3)];
        assert_eq!(Cpus::select(smt.clone(), None).unwrap().format_list(), "0,2");
        assert_eq!(
            Cpus::select(smt.clone(), Some(3)).unwrap().format_openmp_places(),
            "{0},{2},{1}"
        );
        assert!(Cpus::select(smt, Some(5)).is_err());
    }
}
