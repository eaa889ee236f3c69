//! `assay serve` with a real client: the pages of `assay site`, news of runs, and everything that a
//! client must not do.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::processes::{Background, send_signal};
use crate::program::{World, files_below};
use crate::site::{STREAM, run_ids, world_with_runs};

/// Maximum time until the server reports what a test waits for.
const NEWS_DEADLINE: Duration = Duration::from_secs(60);

/// Server that ends with the test.
pub(crate) struct Server {
    process: Background,
    /// Address and port.
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(world: &World, options: &[&str]) -> Self {
        Self::start_command(&mut world.command(&[&["serve", "--port", "0"], options].concat()))
    }

    fn start_command(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|it| it.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Self { address, process: Background(process) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends bytes and returns the whole answer.
    fn send(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // A refusal may come before all of it is sent.
        drop(stream.write_all(bytes));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get_with(&self, target: &str, fields: &str) -> String {
        let host = &self.address;
        self.send(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n").as_bytes())
    }

    /// Returns status and content.
    fn get(&self, target: &str) -> (u16, String) {
        let answer = self.get_with(target, "");
        let (_, content) = answer.split_once("\r\n\r\n").unwrap();
        (status(&answer), content.to_owned())
    }

    /// Opens the stream of news.
    fn news(&self) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        stream.set_read_timeout(Some(NEWS_DEADLINE)).unwrap();
        let host = &self.address;
        write!(stream, "GET /live?0 HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        BufReader::new(stream)
    }

    fn count_threads(&self) -> usize {
        let folder = format!("/proc/{}/task", self.process.0.id());
        fs::read_dir(folder).unwrap().count()
    }
}

/// Reads news until a line of data contains all texts.
fn wait_for_news(news: &mut BufReader<TcpStream>, texts: &[&str]) -> String {
    let start = Instant::now();
    loop {
        let mut line = String::new();
        let count = news.read_line(&mut line).unwrap_or_else(|it| panic!("{texts:?}: {it}"));
        assert!(count > 0, "the news ended before {texts:?}");
        assert!(start.elapsed() < NEWS_DEADLINE, "no news has {texts:?}");
        if texts.iter().all(|text| line.contains(text)) {
            return line;
        }
    }
}

fn status(answer: &str) -> u16 {
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|it| it.get(..3));
    status.and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("{answer:?}"))
}

/// Both have one builder of pages.
#[test]
fn files_are_those_of_the_site() {
    let world = world_with_runs();
    world.assay(&["site", "pages"]).succeeded();
    let server = Server::start(&world, &[]);
    let mut compared = 0;
    for path in files_below(&world.path("pages")) {
        let name = path.strip_prefix(world.path("pages")).unwrap().to_str().unwrap().to_owned();
        let (status, content) = server.get(&format!("/{name}"));
        let file = fs::read_to_string(path).unwrap();
        match name.as_str() {
            "assay-site.json" => assert_eq!(status, 404),
            "site.js" => assert!(content.starts_with(&file) && content.contains("EventSource")),
            _ => assert_eq!((status, &content), (200, &file), "{name}"),
        }
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
    assert_eq!(server.get("/").1, server.get("/index.html").1);
}

#[test]
fn answers_carry_rules_for_browsers() {
    let world = world_with_runs();
    let server = Server::start(&world, &[]);
    for target in ["/", "/site.js", "/missing", "/live"] {
        let method = if target == "/live" { "HEAD" } else { "GET" };
        let answer = server
            .send(format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        for rule in [
            "Content-Security-Policy: default-src 'none'; ",
            "frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cross-Origin-Resource-Policy: same-origin",
            "Cache-Control: no-store",
            "Connection: close",
        ] {
            assert!(answer.contains(rule), "{target}: {rule}: {answer}");
        }
        assert!(!answer.contains("unsafe-inline"), "{target}: {answer}");
    }
    let head = server.send(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let (head, content) = head.split_once("\r\n\r\n").unwrap();
    let length = format!("Content-Length: {}", server.get("/").1.len());
    assert!(content.is_empty() && head.contains(&length), "{head} {content}");
}

#[test]
fn bad_requests_are_refused_with_a_reason() {
    let world = world_with_runs();
    let server = Server::start(&world, &[]);
    let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(100_000));
    let fields = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}", "a: b\r\n".repeat(5000));
    for (request, expected, reason) in [
        ("GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "no `..`"),
        ("GET /%2e%2e/FORMAT HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "letters, digits"),
        ("GET /runs/../index.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "no `..`"),
        ("GET /assay/FORMAT HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "no such page"),
        ("GET //etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "no `..` or"),
        ("GET /runs/none.html HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "no such page"),
        ("GET /index.html\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "no request"),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421, "no site of that `Host`"),
        (
            "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
            403,
            "another site",
        ),
        (
            "GET /data/runs-0.js HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n",
            403,
            "another site",
        ),
        ("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "GET and HEAD"),
        ("DELETE /runs/a.html HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "GET and HEAD"),
        (
            "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n123456789",
            400,
            "no content",
        ),
        ("\x16\x03\x01\x00\x01\n", 400, "no request"),
        (&long, 414, "more than 8192 bytes"),
        (&fields, 431, "more than"),
    ] {
        let answer = server.send(request.as_bytes());
        let shown = &request[..request.len().min(60)];
        assert_eq!(status(&answer), expected, "{shown:?}: {answer}");
        assert!(answer.contains(reason), "{shown:?}: {answer}");
    }
    assert_eq!(server.get("/").0, 200);
}

/// Neither silence nor one letter at a time keeps a connection; others are answered meanwhile.
#[test]
fn slow_requests_end() {
    let world = world_with_runs();
    let server = Server::start(&world, &[]);
    let mut silent = server.connect();
    let mut slow = server.connect();
    let mut writer = slow.try_clone().unwrap();
    let dripping = thread::spawn(move || {
        for _ in 0..100 {
            if writer.write_all(b"G").is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
    });
    assert_eq!(server.get("/").0, 200);
    for stream in [&mut silent, &mut slow] {
        let mut answer = String::new();
        drop(stream.read_to_string(&mut answer));
        assert_eq!(status(&answer), 408);
    }
    dripping.join().unwrap();
}

/// Many connections cost a bounded number of threads, and the others learn why.
#[test]
fn a_thousand_connections_are_bounded() {
    let world = world_with_runs();
    let server = Server::start(&world, &[]);
    let mut refused = 0;
    for _ in 0..2 {
        let streams: Vec<TcpStream> = (0..500).map(|_| server.connect()).collect();
        for mut stream in streams.into_iter().rev() {
            let mut answer = String::new();
            // Served connections send nothing and are ended.
            drop(stream.read_to_string(&mut answer));
            assert!(server.count_threads() < 80, "{}", server.count_threads());
            match status(&answer) {
                503 => refused += 1,
                status => assert_eq!(status, 408),
            }
            assert!(answer.contains("no room") || answer.contains("not whole"), "{answer}");
        }
    }
    assert!(refused >= 800, "{refused}");
    assert_eq!(server.get("/").0, 200);
}

#[test]
fn runs_appear_and_running_ones_show_their_seconds() {
    let world = World::new();
    let server = Server::start(&world, &[]);
    let mut news = server.news();
    assert!(!server.get("/").1.contains("id=\"runs\""));
    world.write("stream.txt", STREAM);
    world.assay(&["import", "--label", "first", "stream.txt"]).succeeded();
    wait_for_news(&mut news, &["\"changed\":[0]", "\"pieces\":1"]);
    let first = run_ids(&world).remove(0);
    assert!(server.get("/").1.contains("id=\"runs\""));
    assert_eq!(server.get(&format!("/runs/{first}.html")).0, 200);
    let mut running = world.command(&["exec", "--label", "second", "--", "sleep", "1"]);
    let mut running = running.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // On a busy machine the server may miss a second, and so the run's first one.
    let mut line = wait_for_news(&mut news, &["cases finished"]);
    while line.contains("0:00 min") {
        line = wait_for_news(&mut news, &["cases finished"]);
    }
    assert!(line.contains(" min, ") && !line.contains(&first), "{line}");
    let second = line.split('"').nth(1).unwrap();
    let (status, page) = server.get(&format!("/runs/{second}.html"));
    assert_eq!(status, 200, "{page}");
    assert!(running.wait().unwrap().success());
    wait_for_news(&mut news, &["data: []"]);
    assert!(server.get("/data/runs-0.js").1.contains(second));
    world.assay(&["rm", &first]).succeeded();
    wait_for_news(&mut news, &["\"changed\":[0]"]);
    assert_eq!(server.get(&format!("/runs/{first}.html")).0, 404);
}

/// Pages stay when the store goes, and continue when it is back.
#[test]
fn a_store_that_vanishes_is_reported() {
    let world = world_with_runs();
    let server = Server::start(&world, &[]);
    let run = run_ids(&world).remove(0);
    let mut news = server.news();
    fs::rename(world.path("assay"), world.path("away")).unwrap();
    wait_for_news(&mut news, &["data: \"The runs cannot be read"]);
    assert_eq!(server.get("/").0, 200);
    assert!(server.get("/data/runs-0.js").1.contains(&run));
    let (status, reason) = server.get(&format!("/runs/{run}.html"));
    assert_eq!(status, 500);
    assert!(reason.contains("there are no runs yet"), "{reason}");
    fs::rename(world.path("away"), world.path("assay")).unwrap();
    wait_for_news(&mut news, &["data: \"\""]);
    assert_eq!(server.get(&format!("/runs/{run}.html")).0, 200);
}

/// A server needs no room: where no file can be written, it shows the same.
#[test]
fn nothing_is_written_on_a_full_disk() {
    let world = world_with_runs();
    fs::remove_file(world.path("assay/index.jsonl")).unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -f 0; exec \"$0\" serve --port 0"])
        .arg(env!("CARGO_BIN_EXE_assay"))
        .env("XDG_DATA_HOME", world.path("."))
        .stdin(Stdio::null());
    let server = Server::start_command(&mut command);
    let run = run_ids(&world).remove(0);
    assert_eq!(server.get(&format!("/runs/{run}.html")).0, 200);
    world.assay(&["import", "--label", "third", "stream.txt"]).succeeded();
    let mut news = server.news();
    wait_for_news(&mut news, &["\"pieces\":1"]);
}

#[test]
fn a_signal_ends_it_with_open_connections() {
    let world = world_with_runs();
    let mut server = Server::start(&world, &[]);
    let mut news = server.news();
    let _silent = server.connect();
    wait_for_news(&mut news, &["event: runs"]);
    send_signal(server.process.0.id(), "INT");
    assert_eq!(server.process.0.wait().unwrap().code(), Some(0));
}

#[test]
fn a_taken_port_is_named() {
    let world = World::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = world.assay(&["serve", "--port", &port]).failed_with(2);
    assert!(refused.err.contains(&format!("cannot listen at 127.0.0.1:{port}")), "{refused:?}");
    assert!(refused.err.contains("--port 0"), "{refused:?}");
}

#[test]
fn other_machines_need_a_token() {
    let world = world_with_runs();
    let refused = world.assay(&["serve", "--port", "0", "--bind", "0.0.0.0"]).failed_with(2);
    assert!(refused.err.contains("--token-file"), "{refused:?}");
    let secret = "a-secret-of-enough-letters";
    let file = world.write("token", secret);
    let readable = ["serve", "--port", "0", "--token-file", "token"];
    let refused = world.assay(&readable).failed_with(2);
    assert!(refused.err.contains("chmod 600"), "{refused:?}");
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    let server = Server::start(&world, &["--token-file", "token"]);
    for target in ["/", "/data/runs-0.js", "/live", "/?token=wrong"] {
        assert_eq!(server.get(target).0, 401, "{target}");
    }
    let granted = server.get_with(&format!("/?token={secret}"), "");
    assert_eq!(status(&granted), 303);
    let cookie = granted.split_once("Set-Cookie: ").unwrap().1.split_once(';').unwrap().0;
    let answer = server.get_with("/", &format!("Cookie: {cookie}\r\n"));
    assert_eq!(status(&answer), 200);
    let answer = server.get_with("/", &format!("Authorization: Bearer {secret}\r\n"));
    assert_eq!(status(&answer), 200);
}
