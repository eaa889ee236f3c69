//! UDP stream: sending and receiving numbered datagrams, as fast as possible or at a given rate.

use std::io;
use std::net::UdpSocket;

use super::datagram::{DatagramArrivals, DatagramHeader, HEADER_BYTES};
use super::pace::{SendRate, SendSchedule};
use super::progress::{STOP_CHECK_INTERVAL, StreamProgress, TransferControl, is_retryable};
use crate::clock;

/// Sends numbered datagrams until stopped or until the limit is reached.
pub(super) fn send(
    socket: &UdpSocket,
    datagram_bytes: usize,
    wide: bool,
    pace: Option<SendRate>,
    (progress, control): (&StreamProgress, &TransferControl),
) -> io::Result<()> {
    socket.set_write_timeout(Some(STOP_CHECK_INTERVAL))?;
    let mut datagram = vec![0; datagram_bytes.max(HEADER_BYTES)];
    let mut schedule = pace.map(SendSchedule::new);
    let mut number = 0;
    while !control.is_stopped() {
        if let Some(schedule) = &mut schedule
            && !schedule.wait(progress.bytes(), || control.is_stopped())
        {
            break;
        }
        if !control.claim(datagram.len() as u64) {
            break;
        }
        number += 1;
        DatagramHeader { sent_ns: clock::now_ns(), number }.write(wide, &mut datagram);
        let bytes = send_one(socket, &datagram, control)?;
        progress.add_bytes(bytes as u64);
        progress.add_block();
        progress.set_packets(number);
    }
    Ok(())
}

/// Sends one datagram, and tries again when the queue is full; 0 when stopped meanwhile.
fn send_one(
    socket: &UdpSocket,
    datagram: &[u8],
    control: &TransferControl,
) -> io::Result<usize> {
    loop {
        match socket.send(datagram) {
            Ok(bytes) => return Ok(bytes),
            Err(error) if is_retryable(&error) && !control.is_stopped() => {
                std::thread::yield_now();
            }
            Err(error) if control.is_stopped() => {
                drop(error);
                return Ok(0);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Receives numbered datagrams until stopped.
pub(super) fn receive(
    socket: &UdpSocket,
    wide: bool,
    (progress, control): (&StreamProgress, &TransferControl),
) -> io::Result<()> {
    /// Size of the largest datagram.
    const LARGEST_BYTES: usize = 65536;
    socket.set_read_timeout(Some(STOP_CHECK_INTERVAL))?;
    let mut buffer = vec![0; LARGEST_BYTES];
    let mut arrivals = DatagramArrivals::default();
    while !control.is_stopped() {
        match socket.recv(&mut buffer) {
            Ok(bytes) => {
                let now_ns = clock::now_ns();
                // Datagrams without numbers, from other tools, are counted too.
                if let Some(head) = DatagramHeader::read(wide, &buffer[..bytes]) {
                    arrivals.record(head, now_ns);
                    progress.set_arrivals(&arrivals);
                }
                progress.add_bytes(bytes as u64);
                control.count_received(bytes as u64);
            }
            Err(error) if is_retryable(&error) => {}
            Err(error) if control.is_stopped() => drop(error),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
