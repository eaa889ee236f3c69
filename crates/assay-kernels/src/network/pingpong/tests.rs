//! Round trips over sockets within this process.

use std::net::TcpListener;
use std::thread;

use super::*;
use crate::network::socket;

fn tcp_lines() -> (PingPongSocket, PingPongSocket) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (PingPongSocket::Tcp(one), PingPongSocket::Tcp(listener.accept().unwrap().0))
}

fn udp_lines() -> (PingPongSocket, PingPongSocket) {
    let any = || socket::bind_udp("127.0.0.1:0".parse().unwrap()).unwrap();
    let (one, other) = (any(), any());
    one.connect(other.local_addr().unwrap()).unwrap();
    other.connect(one.local_addr().unwrap()).unwrap();
    (PingPongSocket::Udp(one), PingPongSocket::Udp(other))
}

fn until(deadline_ns: u64, round_trips: usize) -> PingPongLimits<'static> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    PingPongLimits { deadline_ns, round_trips, cancel: &NEVER }
}

fn far_ns() -> u64 {
    clock::now_ns() + 20_000_000_000
}

/// Runs `near` against an echo of messages of this size; returns the counts of both ends.
fn against_echo(
    (near_line, far_line): (PingPongSocket, PingPongSocket),
    message_bytes: usize,
    near: impl FnOnce(&PingPongSocket) -> io::Result<RoundTrips>,
) -> (RoundTrips, u64) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let echoing = scope.spawn(|| echo(&far_line, message_bytes, far_ns(), &stop));
        let measured = near(&near_line).unwrap();
        stop.store(true, Ordering::Relaxed);
        (measured, echoing.join().unwrap().unwrap())
    })
}

#[test]
fn counts_every_round_trip_at_both_ends() {
    for lines in [tcp_lines, udp_lines] {
        for (message_bytes, waiting) in
            [(1, WaitMode::Sleep), (1000, WaitMode::Sleep), (1, WaitMode::Spin)]
        {
            let (measured, echoed) = against_echo(lines(), message_bytes, |line| {
                let until = until(far_ns(), 50);
                ping(line, message_bytes, waiting, until)
            });
            assert_eq!((measured.times_ns.len(), measured.lost, echoed), (50, 0, 50));
            let sum_ns: u64 = measured.times_ns.iter().sum();
            assert!(sum_ns <= measured.total_ns);
        }
    }
}

#[test]
fn fixed_rate_times_from_the_due_time() {
    let (measured, _) = against_echo(tcp_lines(), 8, |line| {
        let until = until(far_ns(), 20);
        ping_at_rate(line, 8, 1000.0, until)
    });
    assert_eq!(measured.times_ns.len(), 20);
    assert!(measured.total_ns >= 19_000_000, "the last message was due after 19 ms");
}

/// Sends at a rate that no peer can reach, to a peer that ends at its deadline.
#[test]
fn unreachable_rate_ends_at_the_deadline() {
    for (near, far) in [tcp_lines(), udp_lines()] {
        let deadline_ns = clock::now_ns() + 200_000_000;
        let stop = AtomicBool::new(false);
        let measured = thread::scope(|scope| {
            let echoing = scope.spawn(|| {
                while clock::now_ns() < deadline_ns {
                    thread::sleep(Duration::from_millis(1));
                }
                stop.store(true, Ordering::Relaxed);
            });
            scope.spawn(|| echo(&far, 1, deadline_ns, &stop));
            let measured = ping_at_rate(&near, 1, 1e7, until(deadline_ns, usize::MAX));
            echoing.join().unwrap();
            measured.unwrap()
        });
        let due = measured.times_ns.len() as u64;
        assert!(measured.overdue > 0 && due > 1_000_000, "{} of {due}", measured.overdue);
    }
}

#[test]
fn cancellation_ends_wait_for_a_due_time() {
    let (near, far) = tcp_lines();
    let cancel = AtomicBool::new(false);
    let until =
        PingPongLimits { cancel: &cancel, ..until(clock::now_ns() + (1 << 62), usize::MAX) };
    let measured = thread::scope(|scope| {
        scope.spawn(|| {
            let mut message = [0; 1];
            receive_whole(&far, &mut message, 0, || false).unwrap();
            send_whole(&far, &message).unwrap();
            thread::sleep(STOP_CHECK_INTERVAL * 2);
            cancel.store(true, Ordering::Relaxed);
        });
        // The second message is due in a year.
        ping_at_rate(&near, 1, 3e-8, until).unwrap()
    });
    assert_eq!((measured.times_ns.len(), measured.overdue), (1, 0));
}

#[test]
fn slow_peer_leaves_overdue_messages() {
    let (near, far) = udp_lines();
    thread::scope(|scope| {
        scope.spawn(|| {
            // It replies to every message after 5 ms, five times slower than they are due, and
            // stops at the deadline; otherwise every message would get its reply, however late.
            let mut message = [0; 8];
            far.set_timeout(Some(STOP_CHECK_INTERVAL)).unwrap();
            let over_ns = clock::now_ns() + 200_000_000;
            let is_over = || clock::now_ns() > over_ns;
            while !is_over() && receive_whole(&far, &mut message, 0, is_over).unwrap() {
                thread::sleep(Duration::from_millis(5));
                send_whole(&far, &message).unwrap();
            }
        });
        let until = until(clock::now_ns() + 200_000_000, usize::MAX);
        let measured = ping_at_rate(&near, 8, 1000.0, until).unwrap();
        let all = measured.times_ns.len() as u64;
        let answered = all - measured.overdue;
        assert!(all + 5 >= 5 * answered && all <= 200, "{answered} of {all}");
        // Messages that became due in the last 10 ms have waited for less.
        let late = measured.times_ns.iter().filter(|ns| **ns >= 10_000_000).count() as u64;
        assert!(late + 10 >= measured.overdue, "{late} of {}", measured.overdue);
    });
}

#[test]
fn silent_peer_ends_at_the_deadline_and_stopped_echo_at_once() {
    for lines in [tcp_lines, udp_lines] {
        let (near, far) = lines();
        let until = until(clock::now_ns() + 60_000_000, 10);
        let measured = ping(&near, 1, WaitMode::Sleep, until).unwrap();
        assert_eq!((measured.times_ns.len(), measured.lost), (0, 0));
        // The message of that ping still gets its reply.
        assert_eq!(echo(&far, 1, far_ns(), &AtomicBool::new(true)).unwrap(), 1);
    }
}

/// Cancels after a few messages with replies.
#[test]
fn cancelled_ping_ends_early() {
    for lines in [tcp_lines, udp_lines] {
        let (near, far) = lines();
        let cancel = AtomicBool::new(false);
        let until = PingPongLimits { cancel: &cancel, ..until(far_ns(), usize::MAX) };
        let measured = thread::scope(|scope| {
            scope.spawn(|| {
                let mut message = [0; 1];
                for _ in 0..5 {
                    receive_whole(&far, &mut message, 0, || false).unwrap();
                    send_whole(&far, &message).unwrap();
                }
                cancel.store(true, Ordering::Relaxed);
            });
            ping(&near, 1, WaitMode::Sleep, until).unwrap()
        });
        assert_eq!((measured.times_ns.len(), measured.lost), (5, 0));
    }
}

/// Stalls the far end after five replies, long before the deadline.
#[test]
fn stalled_peer_is_an_error_or_a_loss() {
    for (lines, expected) in [
        (tcp_lines(), Err(io::ErrorKind::TimedOut)),
        // A datagram may be lost, and is counted.
        (udp_lines(), Ok((5, 1))),
    ] {
        let (near, far) = lines;
        let until = until(clock::now_ns() + 1_500_000_000, 10);
        let found = thread::scope(|scope| {
            scope.spawn(|| {
                let mut message = [0; 1];
                for _ in 0..5 {
                    receive_whole(&far, &mut message, 0, || false).unwrap();
                    send_whole(&far, &message).unwrap();
                }
            });
            ping(&near, 1, WaitMode::Sleep, until)
        });
        let found = found.map(|it| (it.times_ns.len(), it.lost)).map_err(|it| it.kind());
        assert_eq!(found, expected);
    }
}

#[test]
fn closed_peer_is_an_error_for_ping_and_ends_echo() {
    let (near, far) = tcp_lines();
    drop(far);
    let until = until(far_ns(), 10);
    assert!(ping(&near, 1, WaitMode::Sleep, until).is_err());
    let (near, far) = tcp_lines();
    drop(near);
    assert_eq!(echo(&far, 1, far_ns(), &AtomicBool::new(false)).unwrap(), 0);
}
