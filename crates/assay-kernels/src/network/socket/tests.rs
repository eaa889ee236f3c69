//! Tests of sockets: options reach the kernel, and errors name them.

use std::io::{Read, Write};
use std::sync::atomic::Ordering;

use super::*;

const SOON: Duration = Duration::from_secs(5);
static GO_ON: AtomicBool = AtomicBool::new(false);

fn any_port(address: &str) -> TcpListener {
    listen(format!("{address}:0").parse().unwrap()).unwrap()
}

/// Connects to a listener with a full queue, which drops connection requests as a firewall
/// does.
#[test]
fn cancellation_ends_connecting() {
    let listener = any_port("127.0.0.1");
    // SAFETY: the call takes plain numbers; the socket is listening already, and gets a shorter
    // queue.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
    let address = listener.local_addr().unwrap();
    let connect = |timeout, cancel: &AtomicBool| {
        connect_tcp(address, &SocketOptions::default(), timeout, cancel)
    };
    let brief = Duration::from_millis(200);
    let waiting: Vec<_> = std::iter::from_fn(|| connect(brief, &GO_ON).ok()).collect();
    assert!(!waiting.is_empty());
    let cancel = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(brief);
            cancel.store(true, Ordering::Relaxed);
        });
        connect(Duration::from_secs(600), &cancel)
    });
    assert_eq!(found.unwrap_err().kind(), io::ErrorKind::Interrupted);
}

#[test]
fn options_reach_the_kernel() {
    let listener = any_port("127.0.0.1");
    let options = SocketOptions {
        local: Some("127.0.0.1:0".parse().unwrap()),
        no_delay: true,
        window_bytes: Some(65536),
        segment_bytes: Some(1000),
        congestion: Some("reno".into()),
        type_of_service: 16,
        pacing_bytes_per_s: Some(1_000_000),
        user_timeout_ms: Some(5000),
        keepalive: Some(Keepalive { idle_s: Some(30), ..Keepalive::default() }),
        ..SocketOptions::default()
    };
    let stream = connect_tcp(listener.local_addr().unwrap(), &options, SOON, &GO_ON).unwrap();
    assert_eq!(congestion(&stream).unwrap(), "reno");
    assert_eq!(buffers_bytes(&stream).unwrap(), (131_072, 131_072));
    // The time stamp option takes 12 bytes of every segment.
    assert_eq!(segment_bytes(&stream).unwrap(), 988);
    assert!(stream.nodelay().unwrap());
    let read = |option| {
        let mut value = [0; 4];
        read_option(&stream, libc::IPPROTO_TCP, option, &mut value).unwrap();
        u32::from_ne_bytes(value)
    };
    assert_eq!((read(libc::TCP_USER_TIMEOUT), read(libc::TCP_KEEPIDLE)), (5000, 30));
    let (mut accepted, _) = listener.accept().unwrap();
    (&stream).write_all(b"x").unwrap();
    let mut byte = [0];
    accepted.read_exact(&mut byte).unwrap();
    assert_eq!(&byte, b"x");
    assert!(!has_urgent(&accepted));
}

#[test]
fn both_families_connect() {
    for address in ["127.0.0.1", "[::1]"] {
        let listener = any_port(address);
        let remote = listener.local_addr().unwrap();
        assert!(
            connect_tcp(remote, &SocketOptions::default(), SOON, &GO_ON).is_ok(),
            "{address}"
        );
        let udp = bind_udp(format!("{address}:0").parse().unwrap()).unwrap();
        let peer = connect_udp(udp.local_addr().unwrap(), &SocketOptions::default());
        assert_eq!(peer.unwrap().send(b"x").unwrap(), 1);
    }
}

#[test]
fn datagrams_keep_flow_label_and_size() {
    let options = SocketOptions {
        dont_fragment: true,
        flow_label: Some(0x12345),
        device: Some("lo".to_owned()),
        ..SocketOptions::default()
    };
    let v6 = bind_udp("[::1]:0".parse().unwrap()).unwrap();
    let labelled = connect_udp(v6.local_addr().unwrap(), &options).unwrap();
    assert_eq!(labelled.send(b"x").unwrap(), 1);
    // The kernel reports the label with the address of the peer.
    let SocketAddr::V6(peer) = labelled.peer_addr().unwrap() else { panic!("{labelled:?}") };
    assert_eq!(u32::from_be(peer.flowinfo()), 0x12345);
    let v4 = bind_udp("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = v4.local_addr().unwrap();
    let error = connect_udp(address, &options).unwrap_err().to_string();
    assert!(error.contains("needs an IPv6 address"), "{error}");
    let options = SocketOptions { flow_label: None, ..options };
    let whole = connect_udp(address, &options).unwrap();
    let mut value = [0; 4];
    read_option(&whole, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, &mut value).unwrap();
    assert_eq!(i32::from_ne_bytes(value), libc::IP_PMTUDISC_DO);
}

/// A kernel without MPTCP refuses the socket; both ends of one with it use it.
#[test]
fn multipath_connects_where_the_kernel_has_it() {
    let options = SocketOptions { multipath: true, ..SocketOptions::default() };
    let listener = match listen_with("127.0.0.1:0".parse().unwrap(), &options) {
        Ok(listener) => listener,
        Err(error) => return assert!(error.raw_os_error().is_some(), "{error}"),
    };
    let address = listener.local_addr().unwrap();
    for multipath in [true, false] {
        let options = SocketOptions { multipath, ..SocketOptions::default() };
        let stream = connect_tcp(address, &options, SOON, &GO_ON).unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        (&stream).write_all(b"x").unwrap();
        accepted.read_exact(&mut [0]).unwrap();
    }
}

#[test]
fn errors_name_the_option() {
    let free = any_port("127.0.0.1").local_addr().unwrap();
    let error = connect_tcp(free, &SocketOptions::default(), SOON, &GO_ON).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    let unknown =
        SocketOptions { congestion: Some("no-such".into()), ..SocketOptions::default() };
    let error = connect_tcp(free, &unknown, SOON, &GO_ON).unwrap_err().to_string();
    assert!(error.contains("congestion control `no-such`"), "{error}");
    assert!(supports_congestion("reno") && !supports_congestion("no-such"));
    let unknown = SocketOptions { device: Some("no-such".into()), ..SocketOptions::default() };
    let error = connect_tcp(free, &unknown, SOON, &GO_ON).unwrap_err().to_string();
    assert!(error.contains("network device `no-such`"), "{error}");
    let foreign = SocketOptions {
        local: Some("192.0.2.1:0".parse().unwrap()),
        ..SocketOptions::default()
    };
    let error = connect_tcp(free, &foreign, SOON, &GO_ON).unwrap_err().to_string();
    assert!(error.contains("192.0.2.1"), "{error}");
}
