//! UDP stream: sending and receiving numbered datagrams, as fast as possible or at a given rate,
//! one or many per system call.

use std::io;
use std::net::UdpSocket;

use super::datagram::{DatagramArrivals, DatagramHeader, HEADER_BYTES};
use super::datagram_batch::{BatchReceiver, BatchSender};
use super::pace::{SendRate, SendSchedule};
use super::progress::{STOP_CHECK_INTERVAL, StreamProgress, TransferControl, is_retryable};
use crate::clock;

/// Way in which datagrams pass between program and kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatagramFormat {
    /// Whether numbers have 64 bits; otherwise 32.
    pub wide: bool,
    /// Whether a system call carries many datagrams, which the kernel cuts and joins where it can
    /// (`UDP_SEGMENT`, `UDP_GRO`).
    pub batched: bool,
}

/// Sends numbered datagrams until stopped or until the limit is reached.
pub(super) fn send(
    socket: &UdpSocket,
    datagram_bytes: usize,
    format: DatagramFormat,
    pace: Option<SendRate>,
    shared: (&StreamProgress, &TransferControl),
) -> io::Result<()> {
    socket.set_write_timeout(Some(STOP_CHECK_INTERVAL))?;
    let datagram_bytes = datagram_bytes.max(HEADER_BYTES);
    let schedule = pace.map(SendSchedule::new);
    match format.batched {
        true => {
            let due = pace.map(|it| (it.bytes_per_s * BATCH_S) as usize / datagram_bytes);
            let most = due.map_or(usize::MAX, |datagrams| datagrams.max(1));
            send_batches(socket, (datagram_bytes, most), format.wide, schedule, shared)
        }
        false => send_singly(socket, datagram_bytes, format.wide, schedule, shared),
    }
}

fn send_singly(
    socket: &UdpSocket,
    datagram_bytes: usize,
    wide: bool,
    mut schedule: Option<SendSchedule>,
    (progress, control): (&StreamProgress, &TransferControl),
) -> io::Result<()> {
    let mut datagram = vec![0; datagram_bytes];
    let mut number = 0;
    while is_due(schedule.as_mut(), progress, control) {
        if !control.claim(datagram.len() as u64) {
            break;
        }
        number += 1;
        DatagramHeader { sent_ns: clock::now_ns(), number }.write(wide, &mut datagram);
        let bytes = try_until_stopped(control, || socket.send(&datagram))?.unwrap_or(0);
        progress.add_bytes(bytes as u64);
        progress.add_blocks(1);
        progress.set_packets(number);
    }
    Ok(())
}

/// Longest time at a requested rate that one batch takes, so that a batch is no burst.
const BATCH_S: f64 = 1e-3;

/// Sends in batches of at most so many datagrams. Each datagram has its own number, and the time of
/// its batch; a rate is kept batch by batch.
fn send_batches(
    socket: &UdpSocket,
    (datagram_bytes, most): (usize, usize),
    wide: bool,
    mut schedule: Option<SendSchedule>,
    (progress, control): (&StreamProgress, &TransferControl),
) -> io::Result<()> {
    let mut sender = BatchSender::new(socket, datagram_bytes);
    let mut number = 0;
    while is_due(schedule.as_mut(), progress, control) {
        let sent_ns = clock::now_ns();
        let mut filled = 0;
        for datagram in sender.datagrams().take(most) {
            if !control.claim(datagram_bytes as u64) {
                break;
            }
            filled += 1;
            DatagramHeader { sent_ns, number: number + filled as u64 }.write(wide, datagram);
        }
        let mut sent = 0;
        while sent < filled {
            let Some(more) = try_until_stopped(control, || sender.send(sent..filled))? else {
                break;
            };
            sent += more;
        }
        if sent == 0 {
            break;
        }
        number += sent as u64;
        progress.add_bytes((sent * datagram_bytes) as u64);
        progress.add_blocks(sent as u64);
        progress.set_packets(number);
    }
    Ok(())
}

/// Waits until the next send is due; false when the stream is stopped.
fn is_due(
    schedule: Option<&mut SendSchedule>,
    progress: &StreamProgress,
    control: &TransferControl,
) -> bool {
    !control.is_stopped()
        && schedule.is_none_or(|it| it.wait(progress.bytes(), || control.is_stopped()))
}

/// Tries a call again while the queue is full; `None` when stopped meanwhile.
fn try_until_stopped<T>(
    control: &TransferControl,
    mut call: impl FnMut() -> io::Result<T>,
) -> io::Result<Option<T>> {
    loop {
        match call() {
            Ok(done) => return Ok(Some(done)),
            Err(error) if control.is_stopped() => {
                drop(error);
                return Ok(None);
            }
            Err(error) if is_retryable(&error) => std::thread::yield_now(),
            Err(error) => return Err(error),
        }
    }
}

/// Receives numbered datagrams until stopped.
pub(super) fn receive(
    socket: &UdpSocket,
    format: DatagramFormat,
    (progress, control): (&StreamProgress, &TransferControl),
) -> io::Result<()> {
    socket.set_read_timeout(Some(STOP_CHECK_INTERVAL))?;
    let mut receiver = BatchReceiver::new(socket, format.batched);
    let mut arrivals = DatagramArrivals::default();
    while !control.is_stopped() {
        let (mut bytes, mut now_ns) = (0, None);
        let received = receiver.receive(|datagram| {
            let now_ns = *now_ns.get_or_insert_with(clock::now_ns);
            // Datagrams without numbers, from other tools, are counted too.
            if let Some(head) = DatagramHeader::read(format.wide, datagram) {
                arrivals.record(head, now_ns);
            }
            bytes += datagram.len() as u64;
        });
        match received {
            Ok(()) => {
                if arrivals.highest > 0 {
                    progress.set_arrivals(&arrivals);
                }
                progress.add_bytes(bytes);
                control.count_received(bytes);
            }
            Err(error) if is_retryable(&error) => {}
            Err(error) if control.is_stopped() => drop(error),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
