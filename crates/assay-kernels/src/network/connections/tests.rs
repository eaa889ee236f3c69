//! Connections over loopback, far ends that fail, and a server that is stopped.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use super::*;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn listen(address: &str) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn limits(connections: usize, cancel: &AtomicBool) -> ConnectionLimits<'_> {
    let deadline_ns = clock::now_ns() + 60_000_000_000;
    ConnectionLimits { deadline_ns, connections, cancel }
}

#[test]
fn both_ends_count_the_same_connections() {
    for (host, message_bytes, streams) in
        [("127.0.0.1", 1, 1), ("127.0.0.1", 100_000, 1), ("::1", 64, 1), ("127.0.0.1", 1, 3)]
    {
        let servers: Vec<_> = (0..streams).map(|_| listen(host)).collect();
        let remotes: Vec<SocketAddr> = servers.iter().map(|it| it.1).collect();
        let stop = AtomicBool::new(false);
        let (measured, answered) = std::thread::scope(|scope| {
            let stop = &stop;
            let serve = |(listener, address): &'_ (TcpListener, SocketAddr)| {
                answer(listener, address.ip(), message_bytes, stop).unwrap()
            };
            let threads: Vec<_> =
                servers.iter().map(|server| scope.spawn(move || serve(server))).collect();
            let measured = transact(&remotes, message_bytes, limits(100, &GO_ON));
            stop.store(true, Ordering::Relaxed);
            let counts: Vec<u64> = threads.into_iter().map(|it| it.join().unwrap()).collect();
            (measured.unwrap(), counts)
        });
        let Transactions { list, total_ns } = measured;
        assert_eq!(answered.iter().sum::<u64>(), list.len() as u64, "{host} {message_bytes}");
        // The first stream with 100 connections ends the test.
        assert_eq!(answered.iter().max(), Some(&100));
        let ends: Vec<u64> = list.iter().map(|it| it.start_ns + it.total_ns).collect();
        assert!(ends.is_sorted());
        assert!(list.iter().all(|it| 0 < it.connect_ns && it.connect_ns < it.total_ns));
        let start_ns = list.iter().map(|it| it.start_ns).min().unwrap();
        assert!(total_ns >= ends[ends.len() - 1] - start_ns);
    }
}

#[test]
fn rejects_wrong_peers() {
    type Answer = fn(&mut TcpStream);
    let table: [(&str, Answer, ErrorKind); 4] = [
        ("changed", |stream| stream.write_all(&[0xCE, 0xCF]).unwrap(), ErrorKind::InvalidData),
        ("longer", |stream| stream.write_all(&[0xCE; 3]).unwrap(), ErrorKind::InvalidData),
        ("shorter", |stream| stream.write_all(&[0xCE]).unwrap(), ErrorKind::ConnectionReset),
        ("silent", |stream| drop(stream.read(&mut [0])), ErrorKind::TimedOut),
    ];
    for (name, reply, expected) in table {
        let (listener, address) = listen("127.0.0.1");
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                stream.read_exact(&mut [0; 2]).unwrap();
                reply(&mut stream);
            });
            transact(&[address], 2, limits(10, &GO_ON)).unwrap_err()
        });
        assert_eq!(error.kind(), expected, "{name}: {error}");
    }
}

#[test]
fn serves_only_the_client() {
    let (listener, address) = listen("127.0.0.1");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other: IpAddr = "192.0.2.1".parse().unwrap();
        let (listener, stop) = (&listener, &stop);
        let server = scope.spawn(move || answer(listener, other, 1, stop).unwrap());
        assert!(transact(&[address], 1, limits(1, &GO_ON)).is_err());
        stop.store(true, Ordering::Relaxed);
        assert_eq!(server.join().unwrap(), 0);
    });
}

#[test]
fn failed_stream_ends_the_others() {
    let (listener, address) = listen("127.0.0.1");
    let closed = listen("127.0.0.1").1;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| answer(&listener, address.ip(), 1, &stop).unwrap());
        let error = transact(&[address, closed], 1, limits(usize::MAX, &GO_ON)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "{error}");
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn cancellation_keeps_completed_transactions() {
    let (listener, address) = listen("127.0.0.1");
    let (cancel, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // Answers two requests, then stops to reply.
        scope.spawn(|| {
            for _ in 0..2 {
                let (mut stream, _) = listener.accept().unwrap();
                stream.read_exact(&mut [0]).unwrap();
                stream.write_all(&[0xCE]).unwrap();
            }
            let unanswered = listener.accept().unwrap();
            cancel.store(true, Ordering::Relaxed);
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(STOP_CHECK_INTERVAL);
            }
            drop(unanswered);
        });
        let measured = transact(&[address], 1, limits(10, &cancel)).unwrap();
        stop.store(true, Ordering::Relaxed);
        assert_eq!(measured.list.len(), 2);
    });
}

/// A client that sends nothing, or a byte now and then, does not keep a stopped server.
#[test]
fn stopped_server_leaves_a_slow_client() {
    for is_silent in [true, false] {
        let (listener, address) = listen("127.0.0.1");
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let server = scope.spawn(|| answer(&listener, address.ip(), 1 << 20, &stop));
            let mut slow = TcpStream::connect(address).unwrap();
            for nth in 0.. {
                stop.store(nth > 2, Ordering::Relaxed);
                if server.is_finished() {
                    break;
                }
                assert!(nth < 1000, "it goes on");
                if !is_silent {
                    // Fails once the server has closed.
                    let _ = slow.write(&[0]);
                }
                std::thread::sleep(STOP_CHECK_INTERVAL / 2);
            }
            assert_eq!(server.join().unwrap().unwrap(), 0);
        });
    }
}
