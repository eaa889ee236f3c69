//! Sizes of the files of a phase while it runs. A phase never makes a file smaller, so a file that
//! shrinks was cut off by another program, even if the writes of the phase let it grow again.
//!
//! Sees nothing that begins and ends between two looks. Never waits for a server, unless a file
//! seems to have shrunk.

use std::io;
use std::os::fd::RawFd;

use assay_model::workload::storage::StorageTarget;

use super::error::StorageError;
use super::phase::PhaseTarget;
use super::positioned_io::{self, AttributeRefresh};

/// Time between two looks: the time of a look at [`FILES_AT_ONCE`] files is less than a thousandth
/// of it (`fstat` from Python: 0.7 µs for a file of ext4, Linux 6.18).
const INTERVAL_NS: u64 = 50_000_000;
/// Maximum number of files of one look; more files take turns.
const FILES_AT_ONCE: usize = 64;

/// Size that decreased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShrunkFile {
    target: usize,
    from_bytes: u64,
    to_bytes: u64,
}

#[derive(Debug)]
struct WatchedFile {
    target: usize,
    descriptor: RawFd,
    /// Largest size so far.
    bytes: u64,
}

/// Largest sizes of the files of a phase, and the first file that was found smaller.
#[derive(Debug)]
pub(super) struct SizeWatch {
    files: Vec<WatchedFile>,
    /// File that the next look begins with.
    next: usize,
    last_ns: u64,
    shrunk: Option<ShrunkFile>,
}

impl SizeWatch {
    /// Looks at all targets for the first time. Devices and targets of the null engine are left out.
    pub(super) fn new(targets: &[PhaseTarget<'_>], now_ns: u64) -> Self {
        let descriptors = targets.iter().map(|target| target.opened.descriptors().write);
        Self::from_descriptors(descriptors, now_ns)
    }

    fn from_descriptors(descriptors: impl Iterator<Item = RawFd>, now_ns: u64) -> Self {
        let watched = |(target, descriptor)| {
            let bytes = file_size(descriptor, AttributeRefresh::Never).ok().flatten()?;
            Some(WatchedFile { target, descriptor, bytes })
        };
        let files = descriptors.enumerate().filter_map(watched).collect();
        Self { files, next: 0, last_ns: now_ns, shrunk: None }
    }

    /// Looks at the next files if it is time.
    pub(super) fn look(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.last_ns) < INTERVAL_NS {
            return;
        }
        self.last_ns = now_ns;
        for _ in 0..self.files.len().min(FILES_AT_ONCE) {
            self.look_at(self.next);
            self.next = (self.next + 1) % self.files.len();
        }
    }

    /// Checks after a phase without failed I/O that no target has shrunk. Failed I/O is a failure
    /// already, with a better reason.
    pub(super) fn check(&mut self, targets: &[StorageTarget]) -> Result<(), StorageError> {
        let shrunk = self.finish().and_then(|it| Some((it, targets.get(it.target)?)));
        shrunk.map_or(Ok(()), |(ShrunkFile { from_bytes, to_bytes, .. }, target)| {
            Err(StorageError::Shrunk { path: target.path.clone(), from_bytes, to_bytes })
        })
    }

    /// Looks at all files after the last I/O; returns the first one that ever was smaller.
    fn finish(&mut self) -> Option<ShrunkFile> {
        (0..self.files.len()).for_each(|index| self.look_at(index));
        self.shrunk
    }

    fn look_at(&mut self, index: usize) {
        let Some(file) = self.files.get_mut(index) else { return };
        let Ok(Some(bytes)) = file_size(file.descriptor, AttributeRefresh::Never) else {
            return;
        };
        if bytes >= file.bytes {
            file.bytes = bytes;
            return;
        }
        // A client of a network file system may have kept an older size.
        if let Ok(Some(to_bytes)) = file_size(file.descriptor, AttributeRefresh::AsUsual)
            && to_bytes < file.bytes
        {
            let (target, from_bytes) = (file.target, file.bytes);
            self.shrunk.get_or_insert(ShrunkFile { target, from_bytes, to_bytes });
        }
    }
}

/// Returns the size of a regular file; `None` for anything else.
fn file_size(descriptor: RawFd, sync: AttributeRefresh) -> io::Result<Option<u64>> {
    let found = positioned_io::statx(descriptor, libc::STATX_TYPE | libc::STATX_SIZE, sync)?;
    let is_file = u32::from(found.stx_mode) & libc::S_IFMT == libc::S_IFREG;
    Ok(is_file.then_some(found.stx_size))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    /// Creates unnamed files of these sizes.
    fn files(sizes: &[u64]) -> Vec<File> {
        let one = |(index, bytes): (usize, &u64)| {
            let name = format!("assay-watched-{}-{index}-{}", std::process::id(), sizes.len());
            let path = std::env::temp_dir().join(name);
            let file = File::create_new(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            file.set_len(*bytes).unwrap();
            file
        };
        sizes.iter().enumerate().map(one).collect()
    }

    fn watch(files: &[File]) -> SizeWatch {
        SizeWatch::from_descriptors(files.iter().map(File::as_raw_fd), 0)
    }

    #[test]
    fn notices_file_that_shrank_and_grew_back() {
        let files = files(&[4096, 8192]);
        for (sizes, expected) in [
            (vec![8192, 8192, 16384], None),
            (vec![8192, 0, 16384], Some((8192, 0))),
            (vec![8192, 8191, 8192], Some((8192, 8191))),
            (vec![0, 9000, 8192], Some((8192, 0))),
            // At the end, after the last look.
            (vec![20000, 20000, 10000], Some((20000, 10000))),
        ] {
            files[1].set_len(8192).unwrap();
            let mut watch = watch(&files);
            let (last, looks) = sizes.split_last().unwrap();
            for (nth, bytes) in looks.iter().enumerate() {
                files[1].set_len(*bytes).unwrap();
                watch.look((nth as u64 + 1) * INTERVAL_NS);
            }
            files[1].set_len(*last).unwrap();
            let expected = expected.map(|(from_bytes, to_bytes)| ShrunkFile {
                target: 1,
                from_bytes,
                to_bytes,
            });
            assert_eq!(watch.finish(), expected, "{sizes:?}");
        }
    }

    #[test]
    fn looks_rarely_and_at_all_files_in_turn() {
        let files = files(&[4096; FILES_AT_ONCE + 1]);
        let mut watch = watch(&files);
        let last = &files[FILES_AT_ONCE];
        last.set_len(0).unwrap();
        for (now_ns, is_noticed) in
            [(INTERVAL_NS - 1, false), (INTERVAL_NS, false), (2 * INTERVAL_NS, true)]
        {
            watch.look(now_ns);
            assert_eq!(watch.shrunk.is_some(), is_noticed, "{now_ns}");
        }
    }

    #[test]
    fn watches_files_only() {
        let device = File::open("/dev/null").unwrap();
        let mut watch = SizeWatch::from_descriptors([device.as_raw_fd(), -1].into_iter(), 0);
        assert!(watch.files.is_empty());
        watch.look(INTERVAL_NS);
        assert_eq!(watch.finish(), None);
    }
}
