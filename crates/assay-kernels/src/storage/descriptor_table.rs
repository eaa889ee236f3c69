//! Descriptor table of a thread. Never opens or closes anything.

/// Gives the calling thread its own table. With a shared table the kernel counts references in the
/// file itself at every look-up, so that all threads write to one cache line (zram, 4 KiB: 60 ns a
/// read with two threads). Files that other threads open or close later are not visible here.
pub(super) fn unshare_table() {
    // SAFETY: the call takes a number only; descriptors that are open stay open in both tables. A
    // refusal, as in some containers, leaves the shared table, which costs only time.
    unsafe { libc::unshare(libc::CLONE_FILES) };
}
