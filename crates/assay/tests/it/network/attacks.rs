//! Peers that try to exhaust a server's memory, slots, threads or descriptors: it keeps its limits
//! and serves the next client.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{ServerProcess, free_port};
use crate::processes::{END_LIMIT, send_signal, wait_until, wait_until_within};
use crate::program::World;

pub(super) const COOKIE: &[u8; 37] = b"abcdefghijklmnopqrstuvwxyzabcdefghij\0";
/// Test numbers of qperf, and the states of iperf3's protocol that are used here.
const TCP_LATENCY: u8 = 9;
const UDP_LATENCY: u8 = 11;
const QUIT: u8 = 1;
const ASK_PARAMETERS: u8 = 9;
pub(super) const ASK_STREAMS: u8 = 10;
const TEST_END: u8 = 4;
const DENIED: u8 = 0xFF;

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Returns the next byte; `None` when the server has closed.
fn next_byte(stream: &mut TcpStream) -> Option<u8> {
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(0) => None,
        Ok(_) => Some(byte[0]),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
        Err(error) => panic!("the server neither answers nor closes: {error}"),
    }
}

/// Opens an iperf3 client whose parameters were accepted and whose streams are due next.
fn open_admitted_client(port: u16, parameters: &str) -> TcpStream {
    let (control, answer) = send_parameters(port, COOKIE, parameters);
    assert_eq!(answer, Some(ASK_STREAMS));
    control
}

/// Opens an iperf3 client and returns the server's answer to its parameters.
pub(super) fn send_parameters(
    port: u16,
    cookie: &[u8; 37],
    parameters: &str,
) -> (TcpStream, Option<u8>) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut control = loop {
        let mut control = connect(port);
        control.write_all(cookie).unwrap();
        match next_byte(&mut control) {
            Some(ASK_PARAMETERS) => break control,
            // The server may not have noticed yet that the previous client has left.
            answer => assert!(answer == Some(DENIED) && Instant::now() < deadline),
        }
        thread::sleep(Duration::from_millis(20));
    };
    let length = u32::try_from(parameters.len()).unwrap().to_be_bytes();
    control.write_all(&[&length, parameters.as_bytes()].concat()).unwrap();
    let answer = next_byte(&mut control);
    (control, answer)
}

fn encode_qperf_request(test: u8, message_bytes: u32, seconds: u32) -> [u8; 200] {
    let mut bytes = [0; 200];
    (bytes[2], bytes[4], bytes[6]) = (4, 11, test);
    bytes[24..28].copy_from_slice(&message_bytes.to_le_bytes());
    bytes[60..64].copy_from_slice(&seconds.to_le_bytes());
    bytes
}

/// Opens a qperf client whose test is running; `None` when the server refuses it.
fn start_qperf_test(
    port: u16,
    test: u8,
    message_bytes: u32,
) -> Option<(TcpStream, Option<TcpStream>)> {
    let mut control = connect(port);
    control.write_all(&encode_qperf_request(test, message_bytes, 3600)).ok()?;
    let mut answer = [0; 4];
    control.read_exact(&mut answer).ok()?;
    let data_port = u16::try_from(u32::from_le_bytes(answer)).unwrap();
    let data = (test == TCP_LATENCY).then(|| connect(data_port));
    control.write_all(b"synchronization before test").unwrap();
    control.read_exact(&mut [0; 27]).unwrap();
    Some((control, data))
}

fn start_qperf_server(world: &World, port: u16, more: &[&str]) -> ServerProcess {
    let port_text = port.to_string();
    let words = ["qperf", "--listen-port", &port_text, "--idle-timeout", "60"];
    ServerProcess::start(world.command(&[&words[..], more].concat()), port)
}

fn assert_serves_iperf3(world: &World, port: u16) {
    let port = port.to_string();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-n", "100K", "-i", "0"];
    wait_until("it serves the next client", || world.assay(&words).code == 0);
}

fn assert_ends_on(signal: &str, mut serving: ServerProcess) {
    send_signal(serving.0.id(), signal);
    wait_until_within(END_LIMIT, "the end of the server", || {
        serving.0.try_wait().unwrap().is_some()
    });
}

#[test]
fn control_data_after_early_end_closes_connection() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let mut control =
        open_admitted_client(port, r#"{"tcp":true,"time":1,"parallel":1,"len":1000}"#);
    control.write_all(&[TEST_END]).unwrap();
    let flood = vec![0; 1 << 20];
    // The kernels' buffers at both ends hold far less than this.
    let is_closed = (0..256).any(|_| control.write_all(&flood).is_err());
    assert!(is_closed, "256 MiB were accepted");
    assert_serves_iperf3(&world, port);
}

#[test]
fn trickling_client_does_not_block_server() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let mut control = connect(port);
    control.write_all(COOKIE).unwrap();
    assert_eq!(next_byte(&mut control), Some(ASK_PARAMETERS));
    control.write_all(&[0, 0, 16, 0]).unwrap();
    let closed = (0..120).any(|_| {
        thread::sleep(Duration::from_millis(250));
        control.write_all(b" ").is_err()
    });
    assert!(closed, "a trickling client blocks the server");
    assert_serves_iperf3(&world, port);
}

#[test]
fn refuses_surplus_streams() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let _control =
        open_admitted_client(port, r#"{"tcp":true,"time":5,"parallel":1,"len":1000}"#);
    let mut refused = 0;
    let mut streams: Vec<TcpStream> = (0..20).map(|_| connect(port)).collect();
    for stream in &mut streams {
        stream.write_all(COOKIE).unwrap();
    }
    for mut stream in streams {
        stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let mut byte = [0];
        refused += usize::from(matches!(stream.read(&mut byte), Ok(1) if byte[0] == DENIED));
    }
    assert_eq!(refused, 19, "one stream belongs to the test");
}

#[test]
fn ignores_udp_hello_from_other_host() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let _control =
        open_admitted_client(port, r#"{"udp":true,"time":5,"parallel":1,"len":1000}"#);
    let hello = |from: [u8; 4]| {
        let socket = UdpSocket::bind(SocketAddr::from((Ipv4Addr::from(from), 0))).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        socket.send_to(b"9876", ("127.0.0.1", port)).unwrap();
        socket.recv(&mut [0; 16]).is_ok()
    };
    assert!(!hello([127, 0, 0, 2]), "another host was answered");
    assert!(hello([127, 0, 0, 1]), "the client was not answered");
}

#[test]
fn departed_qperf_clients_free_their_slots() {
    let world = World::new();
    for test in [TCP_LATENCY, UDP_LATENCY] {
        let port = free_port();
        let _serving = start_qperf_server(&world, port, &[]);
        let clients: Vec<_> =
            (0..32).map(|_| start_qperf_test(port, test, 1).unwrap()).collect();
        assert!(start_qperf_test(port, test, 1).is_none(), "one host exceeds its slots");
        // The data connections stay open: only the control connection shows that the clients left.
        let data: Vec<_> = clients.into_iter().map(|(_, data)| data).collect();
        wait_until("a slot is free again", || start_qperf_test(port, test, 1).is_some());
        drop(data);
    }
}

#[test]
fn message_memory_per_peer_is_bounded() {
    let world = World::new();
    let port = free_port();
    let _serving = start_qperf_server(&world, port, &[]);
    let first = start_qperf_test(port, TCP_LATENCY, 40 << 20).unwrap();
    assert!(start_qperf_test(port, TCP_LATENCY, 40 << 20).is_none(), "80 MiB for one host");
    let _small = start_qperf_test(port, TCP_LATENCY, 1 << 20).unwrap();
    drop(first);
    wait_until("its memory is free again", || {
        start_qperf_test(port, TCP_LATENCY, 40 << 20).is_some()
    });
}

#[test]
fn server_ends_despite_silent_or_unread_client() {
    let world = World::new();
    for test in [TCP_LATENCY, UDP_LATENCY] {
        let port = free_port();
        let serving = start_qperf_server(&world, port, &[]);
        let _silent = start_qperf_test(port, test, 1).unwrap();
        assert_ends_on("TERM", serving);
    }
    let port = free_port();
    let serving = start_qperf_server(&world, port, &[]);
    let (_control, data) = start_qperf_test(port, TCP_LATENCY, 32 << 20).unwrap();
    let mut data = data.unwrap();
    // The reply to it is never read.
    data.write_all(&vec![1; 32 << 20]).unwrap();
    thread::sleep(Duration::from_millis(300));
    assert_ends_on("TERM", serving);
}

#[test]
fn qperf_quit_from_other_host_needs_permission() {
    let world = World::new();
    let from_far = |port: u16| {
        // The machine reaches its own other address without loopback.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.connect("192.0.2.1:9").ok()?;
        let own = socket.local_addr().unwrap().ip();
        let mut stream = TcpStream::connect((own, port)).ok()?;
        stream.write_all(&encode_qperf_request(QUIT, 0, 0)).ok()?;
        drop(stream.read(&mut [0]));
        Some(())
    };
    let port = free_port();
    let mut serving = start_qperf_server(&world, port, &["-B", "0.0.0.0"]);
    if from_far(port).is_none() {
        eprintln!(
            "SKIPPED qperf_quit_from_other_host_needs_permission: no address but loopback"
        );
        return;
    }
    assert!(start_qperf_test(port, TCP_LATENCY, 1).is_some(), "it still serves");
    connect(port).write_all(&encode_qperf_request(QUIT, 0, 0)).unwrap();
    assert!(serving.0.wait().unwrap().success());
    let port = free_port();
    let mut serving = start_qperf_server(&world, port, &["-B", "0.0.0.0", "--allow-quit"]);
    from_far(port).unwrap();
    assert!(serving.0.wait().unwrap().success());
}

/// A server's text reaches the terminal with every escape sequence made harmless.
#[test]
fn escapes_terminal_sequences_of_peer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let speaking = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        drop(stream.read(&mut [0; 200]));
        let mut texts = [0; 256];
        let name = "n\u{1b}[2J\u{202e}\u{9b}31mode";
        texts[..name.len()].copy_from_slice(name.as_bytes());
        stream.write_all(&texts).unwrap();
    });
    let world = World::new();
    let port = port.to_string();
    let words = ["qperf", "127.0.0.1", "conf", "--listen-port", &port];
    let outcome = world.assay(&words).succeeded();
    speaking.join().unwrap();
    assert!(outcome.out.contains("n\\u001b[2J\\u202e\\u009b31mode"), "{outcome:?}");
    assert!(!outcome.out.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{outcome:?}");
}

/// Starts a server of both protocols under a resource limit of the shell.
fn start_limited_server(world: &World, limit: &str, port: u16) -> Child {
    let plain =
        world.command(&["iperf3", "-s", "-p", &port.to_string(), "--idle-timeout", "60"]);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {limit}; exec \"$@\""), "sh"]);
    command.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Opens more silent connections than a limit allows, then runs an ordinary client. Returns the
/// server's standard error and its CPU ticks.
fn crowd_server(limit: &str) -> (String, u64) {
    let world = World::new();
    let port = free_port();
    let mut child = start_limited_server(&world, limit, port);
    wait_until("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let crowd: Vec<TcpStream> = (0..200).map(|_| connect(port)).collect();
    thread::sleep(Duration::from_secs(2));
    let ticks = |text: String| -> u64 {
        let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id()));
    drop(crowd);
    assert_serves_iperf3(&world, port);
    child.kill().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    child.wait().unwrap();
    (said, ticks(stat.unwrap()))
}

#[test]
fn survives_lack_of_descriptors() {
    let (said, ticks) = crowd_server("-n 40");
    assert_eq!(said.matches("cannot accept connections").count(), 1, "{said}");
    assert!(ticks < 100, "the server spins: {ticks} ticks in two seconds");
}

/// Returns a server's peak address space before any client connects, in KiB.
fn idle_address_space_kib() -> u32 {
    let (world, port) = (World::new(), free_port());
    let mut child = start_limited_server(&world, "-n 1024", port);
    wait_until("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn survives_lack_of_threads() {
    let at_rest = idle_address_space_kib();
    // The limit decides how little memory is left when a thread is refused; a failed allocation
    // would abort.
    let check = |kibibytes: u32| {
        let (said, _) = crowd_server(&format!("-v {kibibytes}"));
        assert!(said.contains("error: cannot serve 127.0.0.1:"), "{kibibytes}: {said}");
        let ends = ["panicked", "allocation of"];
        assert!(!ends.iter().any(|end| said.contains(end)), "{kibibytes}: {said}");
    };
    thread::scope(|scope| {
        // 16 MiB are kept free, and glibc caches up to 40 MiB of the stacks of ended threads.
        for room in [70_000, 100_000, 150_000, 180_000, 210_000] {
            scope.spawn(move || check(at_rest + room));
        }
    });
}
