//! Batches of datagrams: many datagrams per system call.
//!
//! A batch is one message that the kernel cuts into datagrams (`UDP_SEGMENT`, Linux 4.18), or, where
//! the system refuses that, as many messages as datagrams (`sendmmsg`). The receiver gets
//! consecutive datagrams of a peer as one message (`UDP_GRO`, Linux 5.0), and several messages per
//! call (`recvmmsg`).

use std::io;
use std::net::UdpSocket;
use std::ops::Range;
use std::os::fd::AsRawFd;

use super::socket;

/// Payload of the largest IPv4 datagram, and so of the largest message that the kernel cuts.
const MESSAGE_BYTES: usize = 65_507;
/// Most datagrams of a batch, which every kernel with `UDP_SEGMENT` cuts from one message.
pub const DATAGRAMS_PER_CALL: usize = 64;
/// Messages that one call receives.
const RECEIVED_MESSAGES: usize = 8;
/// Size of the buffer of a received message: any datagram, or joined ones.
const RECEIVED_BYTES: usize = 65_536;

/// Sender of batches of equal datagrams.
pub(super) struct BatchSender<'s> {
    socket: &'s UdpSocket,
    datagram_bytes: usize,
    buffer: Vec<u8>,
    /// Whether the kernel cuts one message into the datagrams.
    is_cut_by_kernel: bool,
    /// Messages of `sendmmsg`, kept so that sending allocates nothing.
    singles: SingleMessages,
}

/// Messages of one datagram each.
#[derive(Default)]
struct SingleMessages {
    parts: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
}

impl<'s> BatchSender<'s> {
    pub(super) fn new(socket: &'s UdpSocket, datagram_bytes: usize) -> Self {
        let count = (MESSAGE_BYTES / datagram_bytes.max(1)).clamp(1, DATAGRAMS_PER_CALL);
        let is_cut_by_kernel = count > 1 && request_cuts(socket, datagram_bytes).is_ok();
        Self {
            socket,
            datagram_bytes,
            buffer: vec![0; count * datagram_bytes],
            is_cut_by_kernel,
            singles: SingleMessages {
                parts: Vec::with_capacity(count),
                messages: Vec::with_capacity(count),
            },
        }
    }

    /// Returns the datagrams to fill before [`Self::send`].
    pub(super) fn datagrams(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.buffer.chunks_exact_mut(self.datagram_bytes)
    }

    /// Sends these datagrams of the batch. Returns the number of those sent, at least one.
    ///
    /// # Errors
    /// The system's error; then nothing was sent.
    pub(super) fn send(&mut self, datagrams: Range<usize>) -> io::Result<usize> {
        let bytes = |index: usize| index * self.datagram_bytes;
        let batch = &self.buffer[bytes(datagrams.start)..bytes(datagrams.end)];
        if !self.is_cut_by_kernel {
            return self.singles.send(self.socket, batch, self.datagram_bytes);
        }
        match self.socket.send(batch) {
            Ok(bytes) => Ok(bytes / self.datagram_bytes),
            // The device computes no checksums, or a datagram exceeds the path MTU.
            Err(error) if is_cut_refused(&error) => {
                request_cuts(self.socket, 0)?;
                self.is_cut_by_kernel = false;
                self.singles.send(self.socket, batch, self.datagram_bytes)
            }
            Err(error) => Err(error),
        }
    }
}

fn request_cuts(socket: &UdpSocket, datagram_bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(datagram_bytes).unwrap_or(libc::c_int::MAX);
    socket::set_option(socket, libc::SOL_UDP, libc::UDP_SEGMENT, &bytes, "UDP_SEGMENT")
}

fn is_cut_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL | libc::EMSGSIZE))
}

impl SingleMessages {
    /// Sends each datagram as a message of its own; returns the number of those sent.
    fn send(
        &mut self,
        socket: &UdpSocket,
        batch: &[u8],
        datagram_bytes: usize,
    ) -> io::Result<usize> {
        let part = |it: &[u8]| libc::iovec {
            iov_base: it.as_ptr().cast_mut().cast(),
            iov_len: it.len(),
        };
        self.parts.clear();
        self.parts.extend(batch.chunks_exact(datagram_bytes).map(part));
        self.messages.clear();
        self.messages.extend(self.parts.iter_mut().map(message_of));
        let (first, count) = (self.messages.as_mut_ptr(), self.messages.len() as libc::c_uint);
        // SAFETY: every message has one part, which lies in `batch` and is only read; parts and
        // messages are not moved during the call.
        let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), first, count, 0) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

/// Receiver of batches.
pub(super) struct BatchReceiver<'s> {
    socket: &'s UdpSocket,
    buffers: Vec<u8>,
    controls: Vec<ControlArea>,
}

/// Space for one control message with a number.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct ControlArea([u8; 64]);

impl<'s> BatchReceiver<'s> {
    /// Receives one datagram per call, or, `batched`, as many as the kernel has and joins; a kernel
    /// that joins none delivers each as a message of its own.
    pub(super) fn new(socket: &'s UdpSocket, batched: bool) -> Self {
        if batched {
            let on: libc::c_int = 1;
            drop(socket::set_option(socket, libc::SOL_UDP, libc::UDP_GRO, &on, "UDP_GRO"));
        }
        let messages = if batched { RECEIVED_MESSAGES } else { 1 };
        Self {
            socket,
            buffers: vec![0; messages * RECEIVED_BYTES],
            controls: vec![ControlArea([0; 64]); messages],
        }
    }

    /// Waits for at least one datagram, and passes each to `take`.
    ///
    /// # Errors
    /// The system's error, such as the end of the socket's timeout.
    pub(super) fn receive(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut parts = [nothing; RECEIVED_MESSAGES];
        for (part, buffer) in
            parts.iter_mut().zip(self.buffers.chunks_exact_mut(RECEIVED_BYTES))
        {
            *part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        }
        let mut messages = parts.each_mut().map(message_of);
        for (message, control) in messages.iter_mut().zip(&mut self.controls) {
            message.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = control.0.len() as _;
        }
        let (first, count) = (messages.as_mut_ptr(), self.controls.len() as libc::c_uint);
        let (fd, flags) = (self.socket.as_raw_fd(), libc::MSG_WAITFORONE as _);
        // SAFETY: each of the first `count` messages has one part, in a buffer of its own, and a
        // control area of its own, all of which outlive the call; there is no timeout to write.
        let received = unsafe { libc::recvmmsg(fd, first, count, flags, std::ptr::null_mut()) };
        let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        let buffers = self.buffers.chunks_exact(RECEIVED_BYTES);
        for (message, buffer) in messages.iter().zip(buffers).take(received) {
            let whole = &buffer[..(message.msg_len as usize).min(buffer.len())];
            let each = joined_size(&message.msg_hdr).filter(|bytes| *bytes > 0);
            match each {
                Some(bytes) => whole.chunks(bytes).for_each(&mut take),
                None => take(whole),
            }
        }
        Ok(())
    }
}

/// Returns the size of the datagrams that a received message joins; `None` if it is one datagram.
fn joined_size(header: &libc::msghdr) -> Option<usize> {
    // SAFETY: the kernel has written `header`, whose control area is still valid and aligned.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    loop {
        // SAFETY: `next` is null or points into the control area, as the kernel has filled it.
        let control = unsafe { next.as_ref() }?;
        if (control.cmsg_level, control.cmsg_type) == (libc::SOL_UDP, libc::UDP_GRO) {
            // SAFETY: the data of this control message is one `int`, which may be unaligned.
            let bytes: libc::c_int =
                unsafe { libc::CMSG_DATA(control).cast::<libc::c_int>().read_unaligned() };
            return usize::try_from(bytes).ok();
        }
        // SAFETY: `next` points to a control message of `header`.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
}

/// Returns a message with this one part, without address or control data.
fn message_of(part: &mut libc::iovec) -> libc::mmsghdr {
    // SAFETY: all fields are numbers or pointers, for which zero is a value.
    let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
    message.msg_hdr.msg_iov = part;
    message.msg_hdr.msg_iovlen = 1;
    message
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn connected_pair() -> (UdpSocket, UdpSocket) {
        let (one, other) =
            (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        one.connect(other.local_addr().unwrap()).unwrap();
        other.connect(one.local_addr().unwrap()).unwrap();
        other.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        (one, other)
    }

    /// Sends numbered datagrams in one batch, and returns what arrives.
    fn exchange(datagram_bytes: usize, is_cut_by_kernel: bool, joins: bool) -> Vec<Vec<u8>> {
        let (near, far) = connected_pair();
        let mut sender = BatchSender::new(&near, datagram_bytes);
        if !is_cut_by_kernel {
            request_cuts(&near, 0).unwrap();
            sender.is_cut_by_kernel = false;
        }
        for (number, datagram) in sender.datagrams().enumerate().take(5) {
            datagram.fill(number as u8);
        }
        assert_eq!(sender.send(0..5).unwrap(), 5);
        let mut receiver = BatchReceiver::new(&far, joins);
        let mut seen = Vec::new();
        while seen.len() < 5 {
            receiver.receive(|datagram| seen.push(datagram.to_vec())).unwrap();
        }
        seen
    }

    #[test]
    fn datagrams_arrive_whole_and_in_order() {
        let expected: Vec<_> = (0..5).map(|number| vec![number; 1448]).collect();
        for (is_cut_by_kernel, joins) in
            [(true, true), (true, false), (false, true), (false, false)]
        {
            assert_eq!(exchange(1448, is_cut_by_kernel, joins), expected);
        }
    }

    #[test]
    fn batch_has_at_most_the_datagrams_of_one_message() {
        let (near, _far) = connected_pair();
        for (datagram_bytes, count) in [(16, 64), (1448, 45), (40_000, 1), (65_507, 1)] {
            let mut sender = BatchSender::new(&near, datagram_bytes);
            assert_eq!(sender.datagrams().count(), count, "{datagram_bytes}");
        }
    }

    #[test]
    fn refused_cuts_fall_back_to_messages() {
        let (near, far) = connected_pair();
        let mut sender = BatchSender::new(&near, 1448);
        // The kernel refuses to cut without checksums.
        let on: libc::c_int = 1;
        socket::set_option(&near, libc::SOL_SOCKET, libc::SO_NO_CHECK, &on, "SO_NO_CHECK")
            .unwrap();
        assert_eq!(sender.send(0..3).unwrap(), 3);
        assert!(!sender.is_cut_by_kernel);
        let mut receiver = BatchReceiver::new(&far, true);
        let mut sizes = Vec::new();
        while sizes.len() < 3 {
            receiver.receive(|datagram| sizes.push(datagram.len())).unwrap();
        }
        assert_eq!(sizes, [1448; 3]);
    }
}
