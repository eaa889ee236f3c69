//! TCP stream: sending and receiving as fast as possible, or at a given rate.
//!
//! A receiver counts bytes that have left the kernel: copied into the program's memory, or, in the
//! no-copy mode, discarded. The two are never mixed, because the second is not representative of an
//! application that reads its data.

use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;

use super::pace::{SendRate, SendSchedule};
use super::progress::{STOP_CHECK_INTERVAL, StreamProgress, TransferControl, is_retryable};
use low_water::LowWaterMark;
pub(super) use source::BlockSource;

mod low_water;
mod source;

/// Whether data is copied from or into the program's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyMode {
    /// Every byte is copied from or into the program's memory, as in an application.
    Copy,
    /// A sender passes its pages to the kernel by reference (`vmsplice` and `splice`); a receiver
    /// lets the kernel drop arriving data (`MSG_TRUNC`).
    NoCopy,
}

/// Sends blocks until stopped, until the limit or the end of the source is reached, or until the peer
/// closes.
pub(super) fn send(
    stream: &TcpStream,
    mut source: BlockSource,
    pace: Option<SendRate>,
    (progress, control): (&StreamProgress, &TransferControl),
) -> io::Result<()> {
    stream.set_write_timeout(Some(STOP_CHECK_INTERVAL))?;
    let mut schedule = pace.map(SendSchedule::new);
    while !control.is_stopped() {
        if let Some(schedule) = &mut schedule
            && !schedule.wait(progress.bytes(), || control.is_stopped())
        {
            break;
        }
        // A file ends with a shorter block, and then with none.
        let block_bytes = source.next_block()?;
        if block_bytes == 0 || !control.claim(block_bytes as u64) {
            break;
        }
        match send_block(stream, &mut source, block_bytes, (progress, control))? {
            BlockOutcome::Sent => progress.add_blocks(1),
            BlockOutcome::Stopped => {
                // A receiver of whole blocks would wait for the rest. If the peer has closed
                // meanwhile, the error is irrelevant.
                drop(stream.shutdown(Shutdown::Write));
                break;
            }
            BlockOutcome::PeerClosed => break,
        }
    }
    Ok(())
}

/// Outcome of sending a block.
enum BlockOutcome {
    Sent,
    /// The sender was stopped within it.
    Stopped,
    /// The peer has closed the connection.
    PeerClosed,
}

/// Sends one whole block, unless stopped.
fn send_block(
    stream: &TcpStream,
    source: &mut BlockSource,
    block_bytes: usize,
    (progress, control): (&StreamProgress, &TransferControl),
) -> io::Result<BlockOutcome> {
    let mut sent = 0;
    while sent < block_bytes {
        if control.is_stopped() {
            return Ok(BlockOutcome::Stopped);
        }
        match source.send(stream.as_raw_fd(), sent, block_bytes - sent) {
            Ok(bytes) => {
                sent += bytes;
                progress.add_bytes(bytes as u64);
            }
            Err(error) if is_retryable(&error) => {}
            Err(error) if is_end(&error) => return Ok(BlockOutcome::PeerClosed),
            Err(error) => return Err(error),
        }
    }
    Ok(BlockOutcome::Sent)
}

/// Largest receive, and largest low-water mark of a receiver. A buffer that stays in the core's own
/// cache is filled faster than one that goes through memory, and second-level caches hold 256 KiB
/// and more.
pub const MAX_RECEIVE_BYTES: u32 = 256 << 10;

/// Size of a receive in the no-copy mode: one call takes all that has arrived, and the buffer,
/// which is never written, takes no memory.
const NO_COPY_RECEIVE_BYTES: usize = 4 << 20;

/// Receives until stopped or until the peer closes.
pub(super) fn receive(
    stream: &TcpStream,
    block_bytes: usize,
    (copying, mut sink): (CopyMode, Option<File>),
    (progress, control): (&StreamProgress, &TransferControl),
) -> io::Result<()> {
    stream.set_read_timeout(Some(STOP_CHECK_INTERVAL))?;
    let (bytes, flags) = match copying {
        // What is written to a file has to be copied.
        CopyMode::NoCopy if sink.is_none() => (NO_COPY_RECEIVE_BYTES, libc::MSG_TRUNC),
        CopyMode::Copy | CopyMode::NoCopy => (block_bytes.min(MAX_RECEIVE_BYTES as usize), 0),
    };
    // Zeroed memory takes no physical memory before data arrives in it.
    let mut buffer = vec![0_u8; bytes];
    // Under a limit the last bytes end the test, and no data follows that could reach the mark.
    let mut gather = (!control.is_limited()).then(|| LowWaterMark::new(stream));
    while !control.is_stopped() {
        match receive_once(stream.as_raw_fd(), &mut buffer, flags) {
            Ok(0) => break,
            Ok(bytes) => {
                if let Some(sink) = &mut sink {
                    sink.write_all(&buffer[..bytes])?;
                }
                progress.add_bytes(bytes as u64);
                control.count_received(bytes as u64);
                if let Some(gather) = &mut gather {
                    gather.record(bytes as u64)?;
                }
            }
            Err(error) if is_retryable(&error) => {}
            Err(error) if is_end(&error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn receive_once(socket: c_int, buffer: &mut [u8], flags: c_int) -> io::Result<usize> {
    // SAFETY: pointer and length describe `buffer`, which is ours to write.
    let received =
        unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), flags) };
    usize::try_from(received).map_err(|_| io::Error::last_os_error())
}

/// Whether the peer closed the connection, which ends a test and is no failure.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset)
}
