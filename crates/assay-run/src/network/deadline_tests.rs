//! Tests of the deadlines of both servers, whose clock the tests move: no test waits for one.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use assay_dialects::wire::iperf3::parameters::TestLimit;
use assay_dialects::wire::iperf3::{Cookie, Iperf3Client, Iperf3Parameters};
use assay_dialects::wire::qperf::{QperfRequest, QperfTestKind};

use super::iperf3_server::{self, Iperf3ServerReport, Iperf3Service, Iperf3TestReport};
use super::qperf_server::{self, QperfService};

const SECOND_NS: u64 = 1_000_000_000;
/// Real time after which a test fails.
const PATIENCE: Duration = Duration::from_secs(60);
const COOKIE: Cookie = Cookie([b'c'; 37]);

/// Returns a clock that stands still, and the time that it shows.
macro_rules! simulated_clock {
    () => {{
        static NOW_NS: AtomicU64 = AtomicU64::new(SECOND_NS);
        let clock: fn() -> u64 = || NOW_NS.load(Ordering::Relaxed);
        (clock, &NOW_NS)
    }};
}

type SimulatedClock = (fn() -> u64, &'static AtomicU64);

/// Server on a port of its own, whose deadlines follow a simulated clock.
struct SimulatedServer {
    address: SocketAddr,
    now_ns: &'static AtomicU64,
    failures: Receiver<String>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SimulatedServer {
    fn start((clock, now_ns): SimulatedClock, idle_limit: Option<Duration>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let service = Iperf3Service {
            idle_limit,
            clock,
            ..Iperf3Service::new(address, Duration::from_secs(100))
        };
        let (failed, failures) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let server_stop = Arc::clone(&stop);
        let serve = move || {
            let mut observe = |report| {
                if let Iperf3ServerReport::Failed(error)
                | Iperf3ServerReport::Test(_, Iperf3TestReport::Failed(error)) = report
                {
                    failed.send(error.to_string()).unwrap();
                }
            };
            iperf3_server::serve_on(&listener, &service, &server_stop, &mut observe).unwrap();
        };
        let thread = thread::Builder::new().spawn(serve).unwrap();
        Self { address, now_ns, failures, stop, thread: Some(thread) }
    }

    fn connect(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    }

    /// Moves the clock by one second at a time until the server reports a failure; returns it with
    /// the simulated seconds until then.
    fn wait_for_failure(&self) -> (String, u64) {
        let began = Instant::now();
        for seconds in 0.. {
            // The server checks its deadlines every 50 ms of real time.
            if let Ok(failure) = self.failures.recv_timeout(Duration::from_millis(5)) {
                return (failure, seconds);
            }
            assert!(began.elapsed() < PATIENCE, "no deadline after {seconds} s");
            self.now_ns.fetch_add(SECOND_NS, Ordering::Relaxed);
        }
        unreachable!("the loop has no end")
    }
}

impl Drop for SimulatedServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// Last step that a client of iperf3 takes before it is silent.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum LastStep {
    HalfCookie,
    Cookie,
    Parameters,
    Stream,
    End,
}

/// Takes all steps up to `last`; returns the connections, which stay open.
fn converse(server: &SimulatedServer, last: LastStep, seconds: u32) -> Vec<TcpStream> {
    if last == LastStep::HalfCookie {
        return vec![server.connect(&COOKIE.0[..10])];
    }
    let mut control = server.connect(&COOKIE.0);
    let expect = |control: &mut TcpStream, states: &[u8]| {
        let mut found = vec![0; states.len()];
        control.read_exact(&mut found).unwrap();
        assert_eq!(found, states);
    };
    // The states of iperf3: parameters, streams, start, run, results.
    expect(&mut control, &[9]);
    if last == LastStep::Cookie {
        return vec![control];
    }
    let limit = TestLimit::Seconds(seconds);
    let parameters = Iperf3Parameters { limit, ..Iperf3Parameters::default() };
    control.write_all(&Iperf3Client::parameters_message(&parameters)).unwrap();
    expect(&mut control, &[10]);
    if last == LastStep::Parameters {
        return vec![control];
    }
    let stream = server.connect(&COOKIE.0);
    expect(&mut control, &[1, 2]);
    if last == LastStep::End {
        control.write_all(&Iperf3Client::end_message()).unwrap();
        expect(&mut control, &[13]);
    }
    vec![control, stream]
}

#[test]
fn silent_iperf3_client_loses_each_step() {
    let clock = simulated_clock!();
    let server = SimulatedServer::start(clock, None);
    for (last, test_s, expected, deadline_s) in [
        (LastStep::HalfCookie, 1, "the beginning of a test did not come", 10),
        (LastStep::Cookie, 1, "the parameters did not come", 10),
        (LastStep::Parameters, 1, "the streams of the test did not come", 10),
        // The length of the test and a grace of 40 s, or 100 s without a byte.
        (LastStep::Stream, 1, "the end of the test did not come", 41),
        (LastStep::Stream, 500, "no data", 100),
        (LastStep::End, 1, "the client's results did not come", 10),
    ] {
        let open = converse(&server, last, test_s);
        let (failure, after_s) = server.wait_for_failure();
        assert!(failure.contains(expected), "{last:?}: {failure}");
        assert!(after_s >= deadline_s, "{last:?}: after {after_s} s");
        if failure.contains("did not come") {
            assert!(failure.ends_with(&format!("within {deadline_s} s")), "{failure}");
        }
        drop(open);
    }
}

#[test]
fn silent_qperf_client_loses_each_step() {
    let server = SimulatedServer::start(simulated_clock!(), None);
    let request = QperfRequest::new(QperfTestKind::TcpBandwidth).to_bytes();
    for (bytes, expected) in [
        (&request[..10], "a request of qperf did not come"),
        (&request[..], "the data connection did not come"),
    ] {
        let open = server.connect(bytes);
        let (failure, after_s) = server.wait_for_failure();
        assert!(failure.contains(expected), "{failure}");
        assert!(failure.ends_with("within 10 s") && after_s >= 10, "{failure}: {after_s} s");
        drop(open);
    }
}

#[test]
fn idle_servers_end_at_their_limit() {
    const LIMIT: Duration = Duration::from_secs(3600);
    let (clock, now_ns) = simulated_clock!();
    let mut server = SimulatedServer::start((clock, now_ns), Some(LIMIT));
    let guest = server.connect(&COOKIE.0[..1]);
    let listen = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let service =
        QperfService { listen, once: false, idle_limit: Some(LIMIT), allow_quit: false, clock };
    let serve = move || qperf_server::serve(&service, &AtomicBool::new(false), &|_| {}).is_ok();
    let qperf = thread::Builder::new().spawn(serve).unwrap();
    let began = Instant::now();
    let has_ended = |server: &SimulatedServer| server.thread.as_ref().unwrap().is_finished();
    // With a guest, a server is not idle; afterwards the clock has to pass the whole limit.
    drop(guest);
    let mut passed = Duration::ZERO;
    while !(has_ended(&server) && qperf.is_finished()) {
        assert!(began.elapsed() < PATIENCE, "no end after {passed:?}");
        now_ns.fetch_add(100 * SECOND_NS, Ordering::Relaxed);
        passed += Duration::from_secs(100);
        thread::sleep(Duration::from_millis(2));
    }
    assert!(passed > LIMIT, "{passed:?}");
    server.thread.take().unwrap().join().unwrap();
    assert!(qperf.join().unwrap());
}
