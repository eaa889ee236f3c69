//! Moving bytes over one TCP connection as fast as it goes, or at a given rate.
//!
//! What a receiver counts has left the kernel: into the program's memory, or, in the no-copy mode,
//! into nothing. The two are never mixed, because the second says nothing about an application that
//! looks at its data.

use std::ffi::c_int;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use super::pace::{Pace, Schedule};
use super::transfer::{Control, Progress};

/// Whether the program's memory is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// Every byte is copied from or into the program's memory, as an application would.
    Copy,
    /// A sender hands pages of a file in memory to the kernel (`sendfile`); a receiver lets the
    /// kernel drop what arrived (`MSG_TRUNC`).
    NoCopy,
}

/// A stream that waits longer than this looks whether it is to stop.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Sends blocks until told to stop, until the limit is spent or until the peer closes.
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
        if !send_block(stream, &mut source, block_bytes, (progress, control))? {
            break;
        }
        progress.add_block();
    }
    Ok(())
}

/// Sends one block whole, unless stopped. False when the peer has gone.
fn send_block(
    stream: &TcpStream,
    source: &mut Source,
    block_bytes: usize,
    (progress, control): (&Progress, &Control),
) -> io::Result<bool> {
    let mut sent = 0;
    while sent < block_bytes && !control.is_stopped() {
        match source.send(stream.as_raw_fd(), sent, block_bytes - sent) {
            Ok(bytes) => {
                sent += bytes;
                progress.add_bytes(bytes as u64);
            }
            Err(error) if is_worth_another_try(&error) => {}
            Err(error) if is_end(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Largest receive. A buffer that stays in the core's own cache is filled faster than one that goes
/// through memory, and second-level caches hold 256 KiB and more.
const RECEIVE_BYTES: usize = 128 * 1024;

/// The same where nothing is copied: whatever has arrived is taken by one call, and the buffer, which
/// is never written, takes no memory.
const NO_COPY_RECEIVE_BYTES: usize = 4 << 20;

/// Receives until told to stop or until the peer closes.
pub(super) fn receive(
    stream: &TcpStream,
    block_bytes: usize,
    copying: Copying,
    (progress, control): (&Progress, &Control),
) -> io::Result<()> {
    stream.set_read_timeout(Some(LOOK_EVERY))?;
    let (bytes, flags) = match copying {
        Copying::Copy => (block_bytes.min(RECEIVE_BYTES), 0),
        Copying::NoCopy => (NO_COPY_RECEIVE_BYTES, libc::MSG_TRUNC),
    };
    // Zeroed memory takes no place before data arrives in it.
    let mut buffer = vec![0_u8; bytes];
    while !control.is_stopped() {
        match receive_once(stream.as_raw_fd(), &mut buffer, flags) {
            Ok(0) => break,
            Ok(bytes) => {
                progress.add_bytes(bytes as u64);
                control.count_received(bytes as u64);
            }
            Err(error) if is_worth_another_try(&error) => {}
            Err(error) if is_end(&error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Where a sender's bytes come from.
enum Source {
    Memory(Vec<u8>),
    File(OwnedFd),
}

impl Source {
    fn new(block_bytes: usize, copying: Copying) -> io::Result<Self> {
        let block: Vec<u8> = (0..block_bytes).map(|at| at as u8).collect();
        match copying {
            Copying::Copy => Ok(Self::Memory(block)),
            Copying::NoCopy => file_in_memory(&block).map(Self::File),
        }
    }

    fn send(&mut self, socket: c_int, from: usize, bytes: usize) -> io::Result<usize> {
        let sent = match self {
            Self::Memory(block) => {
                let part = &block[from..from + bytes];
                // SAFETY: pointer and length describe `part`, which the call only reads.
                unsafe {
                    libc::send(socket, part.as_ptr().cast(), part.len(), libc::MSG_NOSIGNAL)
                }
            }
            Self::File(file) => {
                let mut offset = from as libc::off_t;
                // SAFETY: both descriptors are open for the call, and `offset` is ours to be written.
                unsafe { libc::sendfile(socket, file.as_raw_fd(), &raw mut offset, bytes) }
            }
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

/// A file that lives in memory and holds `block`.
fn file_in_memory(block: &[u8]) -> io::Result<OwnedFd> {
    // SAFETY: the name is a valid C string, and the flags are plain numbers.
    let fd = unsafe { libc::memfd_create(c"assay-block".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above has just made this descriptor, and nobody else knows it.
    let file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    std::os::unix::fs::FileExt::write_all_at(&file, block, 0)?;
    Ok(file.into())
}

fn receive_once(socket: c_int, buffer: &mut [u8], flags: c_int) -> io::Result<usize> {
    // SAFETY: pointer and length describe `buffer`, which is ours to be written.
    let received =
        unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), flags) };
    usize::try_from(received).map_err(|_| io::Error::last_os_error())
}

pub(super) fn is_worth_another_try(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
        || error.raw_os_error() == Some(libc::ENOBUFS)
}

/// The peer closed its end, which is how a test ends and no failure.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset)
}
