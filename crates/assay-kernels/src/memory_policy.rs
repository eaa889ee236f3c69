//! Placement of the memory that the calling thread allocates, on NUMA nodes.
//!
//! Changes no other thread, and restores nothing: the thread ends with its work.

use std::io;

use assay_model::workload::storage::{MemoryPolicy, MemoryPolicyKind};

/// Sets the policy of the calling thread, for pages that it touches first.
///
/// # Errors
/// The system's error: a node that does not exist, or that the process may not use.
pub fn set_memory_policy(policy: &MemoryPolicy) -> io::Result<()> {
    const WORD_BITS: usize = libc::c_ulong::BITS as usize;
    // Numbers of `linux/mempolicy.h`.
    let mode: libc::c_int = match policy.kind {
        MemoryPolicyKind::Prefer => 1,
        MemoryPolicyKind::Bind => 2,
        MemoryPolicyKind::Interleave => 3,
    };
    let words = policy.nodes.iter().max().map_or(1, |node| node / WORD_BITS + 1);
    let mut mask: Vec<libc::c_ulong> = vec![0; words];
    for node in &policy.nodes {
        mask[node / WORD_BITS] |= 1 << (node % WORD_BITS);
    }
    // The kernel reads one bit less than `maxnode`.
    let bits = words * WORD_BITS + 1;
    // SAFETY: the call reads as many bits of the mask as it has.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), bits) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the policy of the calling thread and the first 1024 nodes.
    fn memory_policy() -> (libc::c_int, [libc::c_ulong; 16]) {
        let (mut mode, mut mask) = (0, [0; 16]);
        // SAFETY: the call writes a number, and as many bits as the mask has.
        let result = unsafe {
            libc::syscall(libc::SYS_get_mempolicy, &raw mut mode, mask.as_mut_ptr(), 1024, 0, 0)
        };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
        (mode, mask)
    }

    #[test]
    fn policy_is_that_of_the_thread() {
        let before = memory_policy();
        for (kind, mode) in [(MemoryPolicyKind::Bind, 2), (MemoryPolicyKind::Interleave, 3)] {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let policy = MemoryPolicy { kind, nodes: vec![0] };
                    match set_memory_policy(&policy) {
                        Ok(()) => {
                            assert_eq!((memory_policy().0, memory_policy().1[0]), (mode, 1));
                        }
                        Err(error) => {
                            eprintln!("SKIPPED policy_is_that_of_the_thread: {error}");
                        }
                    }
                });
            });
        }
        assert_eq!(memory_policy(), before);
        let missing = MemoryPolicy { kind: MemoryPolicyKind::Bind, nodes: vec![1000] };
        assert!(set_memory_policy(&missing).is_err());
    }
}
