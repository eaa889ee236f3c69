//! TCP stream: sending and receiving as fast as possible, or at a given rate.
//!
//! A receiver counts bytes that have left the kernel: copied into the program's memory, or, in the
//! no-copy mode, discarded. The two are never mixed, because the second is not representative of an
//! application that reads its data.

use std::ffi::c_int;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;

use super::pace::{Pace, Schedule};
use super::progress::{Control, LOOK_EVERY, Progress, is_worth_another_try};
use gather::Gather;
use source::Source;

mod gather;
mod source;

/// Whether data is copied from or into the program's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// Every byte is copied from or into the program's memory, as in an application.
    Copy,
    /// A sender passes its pages to the kernel by reference (`vmsplice` and `splice`); a receiver
    /// lets the kernel drop arriving data (`MSG_TRUNC`).
    NoCopy,
}

/// Sends blocks until stopped, until the limit is reached or until the peer closes.
pub(super) fn send(
    stream: &TcpStream,
    block_bytes: usize,
    copying: Copying,
    pace: Option<Pace>,
    (progress, control): (&Progress, &Control),
) -> io::Result<()> {
    stream.set_write_timeout(Some(LOOK_EVERY))?;
    let mut source = Source::new(block_bytes, copying)?;
    let mut schedule = pace.map(Schedule::new);
    while !control.is_stopped() {
        if let Some(schedule) = &mut schedule
            && !schedule.wait(progress.bytes(), || control.is_stopped())
        {
            break;
        }
        if !control.claim(block_bytes as u64) {
            break;
        }
        match send_block(stream, &mut source, block_bytes, (progress, control))? {
            Sent::Whole => progress.add_block(),
            Sent::Cut => {
                // A receiver of whole blocks would wait for the rest. If the peer has closed
                // meanwhile, the error is irrelevant.
                drop(stream.shutdown(Shutdown::Write));
                break;
            }
            Sent::Gone => break,
        }
    }
    Ok(())
}

/// Outcome of sending a block.
enum Sent {
    Whole,
    /// The sender was stopped within it.
    Cut,
    /// The peer has closed the connection.
    Gone,
}

/// Sends one whole block, unless stopped.
fn send_block(
    stream: &TcpStream,
    source: &mut Source,
    block_bytes: usize,
    (progress, control): (&Progress, &Control),
) -> io::Result<Sent> {
    let mut sent = 0;
    while sent < block_bytes {
        if control.is_stopped() {
            return Ok(Sent::Cut);
        }
        match source.send(stream.as_raw_fd(), sent, block_bytes - sent) {
            Ok(bytes) => {
                sent += bytes;
                progress.add_bytes(bytes as u64);
            }
            Err(error) if is_worth_another_try(&error) => {}
            Err(error) if is_end(&error) => return Ok(Sent::Gone),
            Err(error) => return Err(error),
        }
    }
    Ok(Sent::Whole)
}

/// Largest receive, and largest low-water mark of a receiver. A buffer that stays in the core's own
/// cache is filled faster than one that goes through memory, and second-level caches hold 256 KiB
/// and more.
pub const GATHERED_BYTES: u32 = 256 << 10;

/// Size of a receive in the no-copy mode: one call takes all that has arrived, and the buffer,
/// which is never written, takes no memory.
const NO_COPY_RECEIVE_BYTES: usize = 4 << 20;

/// Receives until stopped or until the peer closes.
pub(super) fn receive(
    stream: &TcpStream,
    block_bytes: usize,
    copying: Copying,
    (progress, control): (&Progress, &Control),
) -> io::Result<()> {
    stream.set_read_timeout(Some(LOOK_EVERY))?;
    let (bytes, flags) = match copying {
        Copying::Copy => (block_bytes.min(GATHERED_BYTES as usize), 0),
        Copying::NoCopy => (NO_COPY_RECEIVE_BYTES, libc::MSG_TRUNC),
    };
    // Zeroed memory takes no physical memory before data arrives in it.
    let mut buffer = vec![0_u8; bytes];
    // Under a limit the last bytes end the test, and no data follows that could reach the mark.
    let mut gather = (!control.is_limited()).then(|| Gather::new(stream));
    while !control.is_stopped() {
        match receive_once(stream.as_raw_fd(), &mut buffer, flags) {
            Ok(0) => break,
            Ok(bytes) => {
                progress.add_bytes(bytes as u64);
                control.count_received(bytes as u64);
                if let Some(gather) = &mut gather {
                    gather.count(bytes as u64)?;
                }
            }
            Err(error) if is_worth_another_try(&error) => {}
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
