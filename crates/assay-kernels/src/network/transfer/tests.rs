//! Transfers over loopback: complete delivery, limits, and ends.

use std::net::TcpListener;

use super::*;
use crate::clock;
use crate::network::socket;

const ENOUGH_NS: u64 = 20_000_000_000;

/// Waits until `done` or until `deadline_ns` of the clock; true when it was done.
fn wait_until(deadline_ns: u64, done: impl Fn() -> bool) -> bool {
    while !done() {
        if clock::now_ns() >= deadline_ns {
            return false;
        }
        thread::sleep(std::time::Duration::from_millis(1));
    }
    true
}

fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

fn udp_pair() -> (UdpSocket, UdpSocket) {
    let any = || socket::bind_udp("127.0.0.1:0".parse().unwrap()).unwrap();
    let (one, other) = (any(), any());
    one.connect(other.local_addr().unwrap()).unwrap();
    other.connect(one.local_addr().unwrap()).unwrap();
    (one, other)
}

fn flow(socket: Socket, sends: bool, copying: CopyMode) -> Flow {
    Flow { socket, sends, block_bytes: 10_000, copying, pace: None, cpu: None, file: None }
}

#[test]
fn limit_is_rounded_up_to_the_block_and_delivered() {
    for copying in [CopyMode::Copy, CopyMode::NoCopy] {
        let pairs = [tcp_pair(), tcp_pair(), tcp_pair()];
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for (one, other) in pairs {
            senders.push(flow(Socket::Tcp(one), true, copying));
            receivers.push(flow(Socket::Tcp(other), false, copying));
        }
        let receiving = Transfer::start(receivers, Some(0)).unwrap();
        let sending = Transfer::start(senders, Some(995_000)).unwrap();
        let deadline_ns = clock::now_ns() + ENOUGH_NS;
        assert!(wait_until(deadline_ns, || receiving.received_bytes() == 1_000_000));
        assert!(wait_until(deadline_ns, || sending.is_over()));
        assert!(sending.senders_ended_ns().is_some() && receiving.senders_ended_ns().is_none());
        let sent: u64 = sending.finish().iter().map(|end| end.last.bytes).sum();
        assert_eq!(sent, 1_000_000);
        let ends = receiving.finish();
        assert_eq!(ends.iter().map(|end| end.last.bytes).sum::<u64>(), 1_000_000);
        assert!(ends.iter().all(|end| end.error.is_none() && end.tcp.is_some()));
    }
}

#[test]
fn stopped_sender_delivers_every_byte() {
    for copying in [CopyMode::Copy, CopyMode::NoCopy] {
        let (one, other) = tcp_pair();
        let block_bytes = 1 << 20;
        let sender = Flow { block_bytes, ..flow(Socket::Tcp(one), true, copying) };
        let receiver = Flow { block_bytes, ..flow(Socket::Tcp(other), false, copying) };
        let receiving = Transfer::start(vec![receiver], None).unwrap();
        let sending = Transfer::start(vec![sender], None).unwrap();
        let is_sending = || sending.snapshots()[0].bytes > 0;
        assert!(wait_until(clock::now_ns() + ENOUGH_NS, is_sending));
        // Long enough for the low-water mark to rise above one byte.
        wait_until(clock::now_ns() + 60_000_000, || false);
        let sent = sending.finish()[0].last.bytes;
        assert!(wait_until(clock::now_ns() + ENOUGH_NS, || receiving.is_over()));
        let end = &receiving.finish()[0];
        assert!(end.error.is_none() && sent > 0, "{end:?}");
        assert_eq!(end.last.bytes, sent, "{copying:?}");
    }
}

#[test]
fn sender_without_reader_can_be_stopped() {
    for copying in [CopyMode::Copy, CopyMode::NoCopy] {
        let (one, _other) = tcp_pair();
        let sending =
            Transfer::start(vec![flow(Socket::Tcp(one), true, copying)], None).unwrap();
        let before = clock::now_ns() + 200_000_000;
        wait_until(before, || sending.is_over());
        assert_eq!(sending.cpu_ns().len(), 1);
        assert!(sending.finish()[0].error.is_none());
    }
}

#[test]
fn datagrams_arrive_with_their_numbers() {
    for (wide, batched) in [(true, false), (false, false), (true, true), (false, true)] {
        let format = DatagramFormat { wide, batched };
        let (one, other) = udp_pair();
        let mut sender = flow(Socket::Udp { socket: one, format }, true, CopyMode::Copy);
        sender.block_bytes = 100;
        // Slow enough that the receiver's buffer never overflows.
        sender.pace = Some(SendRate { bytes_per_s: 100_000.0, burst: 1 });
        let receiver = flow(Socket::Udp { socket: other, format }, false, CopyMode::Copy);
        let receiving = Transfer::start(vec![receiver], Some(0)).unwrap();
        let sending = Transfer::start(vec![sender], Some(5000)).unwrap();
        let deadline_ns = clock::now_ns() + ENOUGH_NS;
        assert!(wait_until(deadline_ns, || receiving.received_bytes() == 5000));
        let seen = receiving.finish()[0].last;
        assert_eq!((seen.packets, seen.lost, seen.out_of_order), (50, 0, 0));
        assert_eq!(sending.finish()[0].last.packets, 50);
    }
}

#[test]
fn batch_is_no_burst_at_a_low_rate() {
    let (one, other) = udp_pair();
    let format = DatagramFormat { wide: true, batched: true };
    let mut sender = flow(Socket::Udp { socket: one, format }, true, CopyMode::Copy);
    sender.block_bytes = 1000;
    sender.pace = Some(SendRate { bytes_per_s: 10_000.0, burst: 1 });
    let sending = Transfer::start(vec![sender], None).unwrap();
    wait_until(clock::now_ns() + 200_000_000, || sending.is_over());
    let sent = sending.finish()[0].last.packets;
    // One datagram at once, then one each 0.1 s; a batch would be 64.
    assert!((2..=5).contains(&sent), "{sent}");
    drop(other);
}

#[test]
fn closed_peer_ends_the_stream_without_error() {
    let (one, other) = tcp_pair();
    let receiving =
        Transfer::start(vec![flow(Socket::Tcp(one), false, CopyMode::Copy)], None).unwrap();
    drop(other);
    assert!(wait_until(clock::now_ns() + ENOUGH_NS, || receiving.is_over()));
    assert!(receiving.finish()[0].error.is_none());
}

#[test]
fn unavailable_cpu_is_an_error_of_the_stream() {
    let (one, _other) = tcp_pair();
    let mut impossible = flow(Socket::Tcp(one), false, CopyMode::Copy);
    impossible.cpu = Some(usize::MAX);
    let ends = Transfer::start(vec![impossible], None).unwrap().finish();
    assert!(ends[0].error.as_ref().unwrap().to_string().contains("CPU"), "{ends:?}");
}

/// A receiver that only takes whole blocks would wait for the rest of one: iperf3 below 3.16 does,
/// for ten seconds, and misses the end of the test meanwhile.
#[test]
fn sender_stopped_within_a_block_shuts_down_the_connection() {
    for copying in [CopyMode::Copy, CopyMode::NoCopy] {
        let (one, mut other) = tcp_pair();
        // Larger than both ends' buffers, so the first block is never complete.
        let block_bytes = 64 << 20;
        let sender = Flow { block_bytes, ..flow(Socket::Tcp(one), true, copying) };
        let sending = Transfer::start(vec![sender], None).unwrap();
        let deadline_ns = clock::now_ns() + ENOUGH_NS;
        assert!(wait_until(deadline_ns, || sending.snapshots()[0].bytes > 0));
        sending.stop();
        assert!(wait_until(deadline_ns, || sending.is_over()));
        other.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let drained = std::io::copy(&mut other, &mut std::io::sink()).unwrap();
        let [end] = &sending.finish()[..] else { panic!("one stream was started") };
        assert_eq!((drained, end.error.is_none()), (end.last.bytes, true));
    }
}

/// Covers the same receiver; its reads need not begin at the start of a block.
#[test]
fn close_sending_ends_the_receivers() {
    let (one, mut other) = tcp_pair();
    let sending =
        Transfer::start(vec![flow(Socket::Tcp(one), true, CopyMode::Copy)], Some(20_000))
            .unwrap();
    let deadline_ns = clock::now_ns() + ENOUGH_NS;
    assert!(wait_until(deadline_ns, || sending.is_over()));
    sending.close_sending();
    other.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    assert_eq!(std::io::copy(&mut other, &mut std::io::sink()).unwrap(), 20_000);
    assert!(sending.finish()[0].error.is_none());
}
