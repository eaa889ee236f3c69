//! Memory of a given NUMA node: a policy for pages that are touched later, and a check of their nodes
//! (`mbind(2)`, `move_pages(2)`).
//!
//! Moves no page, and prefers the node instead of binding to it: without free memory there, a bound
//! process is killed, while a preference takes pages of other nodes, which the check reports.

use std::io;
use std::ptr;
use std::sync::Mutex;

use assay_model::poisoned_lock::PoisonedLock as _;
use libc::{c_int, c_long, c_ulong, c_void};

use crate::mapping::Mapping;
use crate::team::Team;

/// Nodes in a mask; Linux builds end at 1024 (`CONFIG_NODES_SHIFT`).
const MASK_NODES: usize = 1024;
const MASK_WORDS: usize = MASK_NODES / c_ulong::BITS as usize;
/// Number of pages whose node is checked, spread evenly.
const SAMPLED_PAGES: usize = 512;
/// Smallest share of these pages on the node: at twice the latency, a hundredth adds 1 %.
const MIN_SHARE: f64 = 0.99;
/// Smallest page of all systems.
const PAGE_BYTES: usize = 4096;

/// Node that memory is requested from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNode {
    /// The kernel's number.
    pub node: u32,
    /// CPU of the node that touches the pages first, for systems that refuse policies (containers); `None`
    /// = the node has no CPU.
    pub cpu: Option<usize>,
}

/// Error of placing memory on a node.
#[derive(Debug, thiserror::Error)]
pub enum MemoryPlacementError {
    /// The system refuses memory of the node.
    #[error("cannot request memory of NUMA node {node}")]
    Request {
        /// Requested node.
        node: u32,
        /// The system's reason.
        source: io::Error,
    },
    /// The thread that touches the pages could not be started.
    #[error("cannot start a thread on NUMA node {node}")]
    StartThread {
        /// Requested node.
        node: u32,
        /// The system's reason.
        source: io::Error,
    },
    /// The system does not report the nodes of pages.
    #[error("cannot check that pages are on NUMA node {node}")]
    Check {
        /// Requested node.
        node: u32,
        /// The system's reason.
        source: io::Error,
    },
    /// Pages are on other nodes.
    #[error(
        "{found} of {sampled} sampled pages are on NUMA node {node}: it has too little free memory"
    )]
    Elsewhere {
        /// Requested node.
        node: u32,
        /// Sampled pages on the node.
        found: usize,
        /// Sampled pages.
        sampled: usize,
    },
}

impl MemoryNode {
    /// Requests the node for all pages of the mapping that are not touched yet.
    ///
    /// # Errors
    /// [`MemoryPlacementError::Request`], unless a first touch can place the pages as well.
    pub fn request(self, mapping: &Mapping) -> Result<(), MemoryPlacementError> {
        match prefer(mapping, self.node) {
            Err(source) if self.cpu.is_none() => {
                Err(MemoryPlacementError::Request { node: self.node, source })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Touches all pages on the node's CPU, if it has one.
    ///
    /// # Errors
    /// [`MemoryPlacementError::StartThread`].
    pub fn touch(self, mapping: &mut Mapping) -> Result<(), MemoryPlacementError> {
        let Some(cpu) = self.cpu else { return Ok(()) };
        let mut team = Team::new(&[cpu])
            .map_err(|source| MemoryPlacementError::StartThread { node: self.node, source })?;
        let bytes = Mutex::new(mapping.as_mut_slice::<u8>());
        team.run(|_| {
            let mut bytes = bytes.lock().even_if_poisoned();
            bytes.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 0);
        });
        Ok(())
    }

    /// Checks that touched pages are on the node, by a sample. A system that does not report it is an error
    /// only of a node whose pages no first touch has placed.
    ///
    /// # Errors
    /// [`MemoryPlacementError::Check`], [`MemoryPlacementError::Elsewhere`].
    pub fn check(self, mapping: &Mapping) -> Result<(), MemoryPlacementError> {
        let node = self.node;
        match count_pages(mapping, node) {
            Err(source) if self.cpu.is_none() => {
                Err(MemoryPlacementError::Check { node, source })
            }
            Err(_) => Ok(()),
            Ok((found, sampled)) if (found as f64) < MIN_SHARE * sampled as f64 => {
                Err(MemoryPlacementError::Elsewhere { node, found, sampled })
            }
            Ok(_) => Ok(()),
        }
    }
}

fn prefer(mapping: &Mapping, node: u32) -> io::Result<()> {
    let mut mask: [c_ulong; MASK_WORDS] = [0; MASK_WORDS];
    let word = mask.get_mut(node as usize / c_ulong::BITS as usize);
    *word.ok_or(io::ErrorKind::InvalidInput)? |= 1 << (node % c_ulong::BITS);
    // SAFETY: the range is our own mapping. The kernel reads one node less than the given number, and
    // so no word beyond the mask; it changes no contents.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            mapping.as_ptr(),
            mapping.len_bytes(),
            c_long::from(libc::MPOL_PREFERRED),
            mask.as_ptr(),
            MASK_NODES + 1,
            0_usize,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the number of sampled pages on a node, and of all sampled pages. A page that nothing has
/// touched is on no node.
fn count_pages(mapping: &Mapping, node: u32) -> io::Result<(usize, usize)> {
    let step =
        (mapping.len_bytes() / SAMPLED_PAGES).next_multiple_of(PAGE_BYTES).max(PAGE_BYTES);
    let offsets = (0..mapping.len_bytes()).step_by(step);
    let pages: Vec<*mut c_void> =
        offsets.map(|offset| mapping.as_ptr().wrapping_add(offset).cast()).collect();
    let mut nodes: Vec<c_int> = vec![-1; pages.len()];
    // SAFETY: both arrays have the given length. Without a list of nodes the kernel only writes the
    // current node of each page of this process (0).
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0_usize,
            pages.len(),
            pages.as_ptr(),
            ptr::null::<c_int>(),
            nodes.as_mut_ptr(),
            0_usize,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let is_found = |it: &&c_int| u32::try_from(**it).is_ok_and(|it| it == node);
    Ok((nodes.iter().filter(is_found).count(), nodes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::PageAdvice;
    use crate::pin;

    /// Number that no machine has for a node: the last of the mask.
    const NO_NODE: u32 = MASK_NODES as u32 - 1;

    /// Returns a mapping whose pages the first CPU has touched, and their node. `None` where the system
    /// reports no nodes.
    fn touched(test: &str, advice: PageAdvice) -> Option<(Mapping, u32)> {
        let cpu = pin::allowed_cpus().unwrap()[0];
        let mut mapping = Mapping::new(5 << 20, advice).unwrap();
        MemoryNode { node: 0, cpu: Some(cpu) }.touch(&mut mapping).unwrap();
        let counts = |node| count_pages(&mapping, node).ok();
        let found =
            (0..MASK_NODES as u32).find(|node| counts(*node).is_some_and(|it| it.0 > 0));
        if found.is_none() {
            println!("SKIPPED {test}: this system does not report the nodes of pages");
        }
        Some((mapping, found?))
    }

    #[test]
    fn touched_pages_are_on_their_node_and_no_other() {
        let test = "touched_pages_are_on_their_node_and_no_other";
        for advice in [PageAdvice::Default, PageAdvice::Huge] {
            let Some((mapping, node)) = touched(test, advice) else { return };
            MemoryNode { node, cpu: None }.check(&mapping).unwrap();
            let other = MemoryNode { node: NO_NODE, cpu: Some(0) }.check(&mapping);
            let Err(MemoryPlacementError::Elsewhere { found: 0, sampled, .. }) = other else {
                panic!("{other:?}");
            };
            assert!(sampled > SAMPLED_PAGES / 2, "{sampled}");
        }
    }

    #[test]
    fn untouched_pages_are_on_no_node() {
        let Some((_, node)) = touched("untouched_pages_are_on_no_node", PageAdvice::Default)
        else {
            return;
        };
        let mapping = Mapping::new(1 << 20, PageAdvice::Default).unwrap();
        let found = MemoryNode { node, cpu: None }.check(&mapping);
        assert!(
            matches!(found, Err(MemoryPlacementError::Elsewhere { found: 0, .. })),
            "{found:?}"
        );
    }

    #[test]
    fn requested_pages_are_on_the_node_wherever_they_are_touched() {
        let test = "requested_pages_are_on_the_node_wherever_they_are_touched";
        let Some((_, node)) = touched(test, PageAdvice::Huge) else { return };
        let mut mapping = Mapping::new(5 << 20, PageAdvice::Huge).unwrap();
        let home = MemoryNode { node, cpu: None };
        if let Err(MemoryPlacementError::Request { source, .. }) = home.request(&mapping) {
            println!("SKIPPED {test}: {source}");
            return;
        }
        mapping.as_mut_slice::<u8>().fill(1);
        home.check(&mapping).unwrap();
    }

    #[test]
    fn node_without_memory_is_refused_unless_a_first_touch_places_the_pages() {
        let mapping = Mapping::new(1 << 20, PageAdvice::Default).unwrap();
        for node in [NO_NODE, MASK_NODES as u32, u32::MAX] {
            let refused = MemoryNode { node, cpu: None }.request(&mapping);
            assert!(
                matches!(refused, Err(MemoryPlacementError::Request { .. })),
                "{refused:?}"
            );
            MemoryNode { node, cpu: Some(0) }.request(&mapping).unwrap();
        }
    }
}
