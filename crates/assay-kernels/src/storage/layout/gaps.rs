//! Parts of a file that were never written: holes and unwritten extents, which `lseek(2)` does not distinguish.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{NewContents, WRITE_BYTES, drop_from_cache, write_piece};

/// Returns the parts of the first `size_bytes` that were never written; `None` if nothing was, or if the file
/// system does not tell.
pub(super) fn find(file: &File, size_bytes: u64) -> Option<Vec<Range<u64>>> {
    let mut gaps = Vec::new();
    let mut from = 0;
    while from < size_bytes {
        let data =
            seek(file, from, libc::SEEK_DATA).ok()?.map_or(size_bytes, |at| at.min(size_bytes));
        if data > from {
            gaps.push(from..data);
        }
        if data == size_bytes {
            break;
        }
        from = seek(file, data, libc::SEEK_HOLE).ok()??;
    }
    let metadata = file.metadata().ok()?;
    // A file system without this knowledge reports data everywhere.
    let is_told = !gaps.is_empty() || metadata.blocks() * 512 >= size_bytes;
    let is_empty = gaps.first().is_some_and(|gap| *gap == (0..size_bytes));
    (is_told && !is_empty).then_some(gaps)
}

/// Writes these parts of a file through the page cache. `on_progress` receives the end of each piece.
pub(super) fn fill(
    file: &File,
    gaps: &[Range<u64>],
    contents: NewContents<'_>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let mut memory = vec![0; WRITE_BYTES as usize];
    for gap in gaps {
        for from in gap.clone().step_by(WRITE_BYTES as usize) {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let bytes = (gap.end - from).min(WRITE_BYTES);
            write_piece(file, &mut memory[..bytes as usize], from, contents)?;
            on_progress(from + bytes);
        }
    }
    file.sync_all()?;
    drop_from_cache(file);
    Ok(())
}

/// Returns the next data or hole from an offset; `None` without any.
fn seek(file: &File, from: u64, whence: libc::c_int) -> io::Result<Option<u64>> {
    // SAFETY: the call takes numbers only.
    let found = unsafe { libc::lseek(file.as_raw_fd(), from as libc::off_t, whence) };
    if let Ok(found) = u64::try_from(found) {
        return Ok(Some(found));
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::ENXIO) { Ok(None) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use assay_model::workload::storage::{StorageData, StorageTarget, Verify};

    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_was_written_stays() {
        let path = std::env::temp_dir().join(format!("assay-gaps-{}", std::process::id()));
        let options = &mut File::options();
        let file = options.read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.set_len(8 * MIB).unwrap();
        assert_eq!(find(&file, 8 * MIB), None, "nothing was written");
        file.write_all_at(&[7; MIB as usize], 3 * MIB).unwrap();
        let gaps = find(&file, 8 * MIB).unwrap();
        assert_eq!(gaps, [0..3 * MIB, 4 * MIB..8 * MIB]);
        let never = AtomicBool::new(false);
        let data = StorageData { compressible: 0.0, verify: Verify::Off };
        let target = StorageTarget::new("t", &path, Some(8 * MIB));
        let contents = NewContents { target: &target, data: &data, seed: 5 };
        fill(&file, &gaps, contents, &never, &mut |_| ()).unwrap();
        assert_eq!(find(&file, 8 * MIB), Some(vec![]));
        let mut read = vec![0; 8 * MIB as usize];
        file.read_exact_at(&mut read, 0).unwrap();
        let (written, filled): (Vec<&[u8]>, Vec<&[u8]>) =
            read.chunks(MIB as usize).partition(|piece| piece.iter().all(|byte| *byte == 7));
        assert_eq!(written.len(), 1);
        assert!(filled.iter().all(|piece| piece.iter().any(|byte| *byte != 0)));
    }
}
