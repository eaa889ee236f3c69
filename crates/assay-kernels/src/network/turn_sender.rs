//! One thread that sends blocks on several connected sockets in turn.

use std::io::{self, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::pace::{SendRate, SendSchedule};
use super::progress::{STOP_CHECK_INTERVAL, is_retryable};
use super::tcp_info;
use crate::clock;

/// Connected socket of a sender.
#[derive(Debug)]
pub enum SendingSocket {
    /// Byte stream.
    Tcp(TcpStream),
    /// Datagrams.
    Udp(UdpSocket),
}

impl SendingSocket {
    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&*stream).write(bytes),
            Self::Udp(socket) => socket.send(bytes),
        }
    }

    fn limit_waits(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_write_timeout(Some(STOP_CHECK_INTERVAL)),
            Self::Udp(socket) => socket.set_write_timeout(Some(STOP_CHECK_INTERVAL)),
        }
    }

    /// Returns the smoothed round trip of a TCP connection, in microseconds.
    pub fn round_trip_us(&self) -> Option<u32> {
        match self {
            Self::Tcp(stream) => tcp_info::read(stream).ok().map(|it| it.rtt_us),
            Self::Udp(_) => None,
        }
    }
}

/// Work of one sender.
#[derive(Debug, Clone, Copy)]
pub struct TurnSender<'a> {
    /// Sockets, each of which gets one block in turn.
    pub sockets: &'a [SendingSocket],
    /// Contents of a block, or of a datagram.
    pub block: &'a [u8],
    /// Rate of all sockets together; `None` = as fast as possible.
    pub rate: Option<SendRate>,
    /// Sent bytes so far, which only this sender adds to.
    pub bytes: &'a AtomicU64,
    /// Ends the sender within 50 ms.
    pub stop: &'a AtomicBool,
}

/// First error of a sender, with the clock reading at which it occurred.
#[derive(Debug)]
pub struct SendError {
    /// Clock reading in nanoseconds.
    pub at_ns: u64,
    /// The system's error.
    pub source: io::Error,
}

impl TurnSender<'_> {
    /// Sends until stopped, or until every socket has failed.
    ///
    /// # Errors
    /// The first error of a socket; the others were used further.
    pub fn run(&self) -> Result<(), SendError> {
        let mut first_error = None;
        let mut live: Vec<&SendingSocket> = Vec::with_capacity(self.sockets.len());
        for socket in self.sockets {
            socket
                .limit_waits()
                .map_err(|source| SendError { at_ns: clock::now_ns(), source })?;
            live.push(socket);
        }
        let mut schedule = self.rate.map(SendSchedule::new);
        let mut sent_total = 0;
        while !live.is_empty() && !self.is_stopped() {
            live.retain(|socket| {
                let is_due = schedule
                    .as_mut()
                    .is_none_or(|it| it.wait(sent_total, || self.is_stopped()));
                if !is_due {
                    return true;
                }
                let (sent, result) = self.send_block(socket);
                sent_total += sent;
                if let Err(source) = result {
                    first_error.get_or_insert(SendError { at_ns: clock::now_ns(), source });
                    return false;
                }
                true
            });
        }
        first_error.map_or(Ok(()), Err)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sends one whole block unless stopped, and returns the sent bytes.
    fn send_block(&self, socket: &SendingSocket) -> (u64, io::Result<()>) {
        let mut sent = 0;
        while sent < self.block.len() && !self.is_stopped() {
            match socket.send(&self.block[sent..]) {
                Ok(bytes) => {
                    sent += bytes;
                    self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                }
                Err(error) if is_retryable(&error) => {}
                Err(error) => return (sent as u64, Err(error)),
            }
        }
        (sent as u64, Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Returns both ends of a connection.
    fn connect() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (stream, listener.accept().unwrap().0)
    }

    #[test]
    fn every_socket_gets_whole_blocks_in_turn() {
        const BLOCK: usize = 3000;
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| connect()).unzip();
        let sockets: Vec<_> = senders.into_iter().map(SendingSocket::Tcp).collect();
        let (bytes, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let sender = TurnSender {
            sockets: &sockets,
            block: &[b'A'; BLOCK],
            rate: None,
            bytes: &bytes,
            stop: &stop,
        };
        let received: Vec<u64> = thread::scope(|scope| {
            let readers = receivers.into_iter().map(|mut stream| {
                scope.spawn(move || {
                    let mut all = Vec::new();
                    stream.read_to_end(&mut all).unwrap();
                    assert!(all.iter().all(|byte| *byte == b'A'));
                    all.len() as u64
                })
            });
            let readers: Vec<_> = readers.collect();
            scope.spawn(|| {
                while bytes.load(Ordering::Relaxed) < 100 * BLOCK as u64 {
                    thread::yield_now();
                }
                stop.store(true, Ordering::Relaxed);
            });
            sender.run().unwrap();
            assert!(sockets.iter().all(|it| it.round_trip_us().is_some()));
            for socket in &sockets {
                let SendingSocket::Tcp(stream) = socket else { continue };
                stream.shutdown(std::net::Shutdown::Write).unwrap();
            }
            readers.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert_eq!(received.iter().sum::<u64>(), bytes.load(Ordering::Relaxed));
        let (least, most) = (received.iter().min().unwrap(), received.iter().max().unwrap());
        assert!(most - least <= BLOCK as u64, "{received:?}");
    }

    #[test]
    fn failed_socket_ends_and_the_others_go_on() {
        let ((closed, peer), (open, mut reader)) = (connect(), connect());
        drop(peer);
        let sockets = [closed, open].map(SendingSocket::Tcp);
        let (bytes, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let sender = TurnSender {
            sockets: &sockets,
            block: &[0; 100],
            rate: None,
            bytes: &bytes,
            stop: &stop,
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut some = vec![0; 1 << 20];
                reader.read_exact(&mut some).unwrap();
                stop.store(true, Ordering::Relaxed);
                drop(reader);
            });
            let error = sender.run().unwrap_err();
            assert!(error.at_ns <= clock::now_ns());
        });
        assert!(bytes.load(Ordering::Relaxed) >= 1 << 20);
    }
}
