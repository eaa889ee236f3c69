//! Pinning of threads to CPUs, by Linux's own CPU numbers.
//!
//! Changes the affinity of the calling thread only, and never guesses: a CPU that is not available
//! is an error.

use std::io;

/// Number of CPUs in an affinity mask; Linux builds end at 8192 (`NR_CPUS` on x86-64).
const MASK_CPUS: usize = 8192;
const MASK_WORDS: usize = MASK_CPUS / 64;

/// Restricts the calling thread to one CPU. Threads it starts later inherit this.
///
/// # Errors
/// The system's error, with the CPU's number: it does not exist, is offline or is outside the cpuset.
pub fn pin_current_thread(cpu: usize) -> io::Result<()> {
    let refused = |error: io::Error| {
        io::Error::new(error.kind(), format!("cannot pin a thread to CPU {cpu}: {error}"))
    };
    restrict(&[cpu]).map_err(refused)
}

/// Restricts the calling thread to these CPUs. Threads it starts later inherit this.
///
/// # Errors
/// The system's error, with the CPUs' numbers: none of them is available.
pub fn restrict_current_thread(cpus: &[usize]) -> io::Result<()> {
    restrict(cpus).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("cannot restrict a thread to CPUs {cpus:?}: {error}"),
        )
    })
}

fn restrict(cpus: &[usize]) -> io::Result<()> {
    let mut mask = [0_u64; MASK_WORDS];
    for cpu in cpus {
        match mask.get_mut(cpu / 64) {
            Some(word) => *word |= 1 << (cpu % 64),
            None => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
        }
    }
    // SAFETY: the pointer and the size describe `mask`, which the call only reads.
    let result =
        unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the CPU that the calling thread runs on now, or `None` if the system does not report it.
pub fn current_cpu() -> Option<usize> {
    if cfg!(miri) {
        // The interpreter has no such call.
        return None;
    }
    // SAFETY: the call takes no arguments and touches no memory of ours.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Returns the CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// The system's error; none is known for the calling thread and a mask of this size.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let mut mask = [0_u64; MASK_WORDS];
    // SAFETY: the pointer and the size describe `mask`, which is ours to be written.
    let result =
        unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((0..MASK_CPUS).filter(|cpu| mask[cpu / 64] >> (cpu % 64) & 1 == 1).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_thread_runs_on_its_cpu() {
        for cpu in allowed_cpus().unwrap() {
            let (allowed, current) = std::thread::spawn(move || {
                pin_current_thread(cpu).unwrap();
                (allowed_cpus().unwrap(), current_cpu())
            })
            .join()
            .unwrap();
            assert_eq!((allowed, current), (vec![cpu], Some(cpu)));
        }
    }

    #[test]
    fn error_names_the_missing_cpu() {
        for cpu in [MASK_CPUS - 1, MASK_CPUS, usize::MAX] {
            let message = pin_current_thread(cpu).unwrap_err().to_string();
            assert!(message.contains(&format!("CPU {cpu}")), "{message}");
        }
    }
}
