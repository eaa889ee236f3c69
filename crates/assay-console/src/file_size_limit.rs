//! Limit of file sizes (`ulimit -f`): a write beyond it fails with an error, as on a full disk.
//!
//! By default the kernel sends SIGXFSZ, which ends the process without a word. Programs that assay
//! starts keep the default, because a handler does not outlast `execve`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

/// Makes writes beyond the limit fail with EFBIG, for the whole process.
pub fn report_as_error() {
    // Without a handler the process ends at such a write, as it would have without this call.
    drop(flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))));
}
