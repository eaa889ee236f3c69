//! iperf3's authentication: users and keys, also against the real iperf3 at either end.

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{ServerProcess, attacks, free_port, is_installed};
use crate::processes::{send_signal, wait_until, wait_until_listening};
use crate::program::{World, files_below};

const PASSWORD: &str = "rossi-8hZ";

/// Key pair and users file, made with OpenSSL as iperf3's manual describes.
struct Keys {
    world: World,
}

impl Keys {
    fn new(test: &str) -> Option<Self> {
        if !is_installed("openssl", test) {
            return None;
        }
        let keys = Self { world: World::new() };
        keys.openssl(
            "genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem",
        );
        keys.openssl("rsa -in key.pem -pubout -out public.pem");
        // SHA-256 of `{mario}rossi-8hZ`.
        let hash = keys.hash(&format!("{{mario}}{PASSWORD}"));
        keys.world.write("users.csv", &format!("# users\nluigi,{hash}\nmario,{hash}\n"));
        Some(keys)
    }

    fn openssl(&self, words: &str) -> String {
        let mut command = Command::new("openssl");
        let command = command.args(words.split(' ')).current_dir(self.world.path(""));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn hash(&self, text: &str) -> String {
        self.world.write("salted", text);
        let reported = self.openssl("dgst -sha256 -r salted");
        reported.split(' ').next().unwrap().to_owned()
    }

    fn path(&self, name: &str) -> String {
        self.world.path(name).to_string_lossy().into_owned()
    }

    fn server_command(&self, port: u16, more: &[&str]) -> Command {
        let (key, users) = (self.path("key.pem"), self.path("users.csv"));
        let port = port.to_string();
        let words = ["iperf3", "-s", "-p", &port, "--idle-timeout", "60"];
        let keys = ["--rsa-private-key-path", &key, "--authorized-users-path", &users];
        self.world.command(&[&words[..], &keys, more].concat())
    }

    /// Runs a client that logs in with this password.
    fn log_in(&self, mut command: Command, user: &str, password: &str) -> Output {
        let key = self.path("public.pem");
        command.args(["--username", user, "--rsa-public-key-path", &key]);
        command.env("IPERF3_PASSWORD", password).output().unwrap()
    }

    fn client_command(&self, port: u16, more: &[&str]) -> Command {
        let port = port.to_string();
        let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-n", "100K", "-i", "0"];
        self.world.command(&[&words[..], more].concat())
    }
}

fn real_client(port: u16) -> Command {
    let mut command = Command::new("iperf3");
    command.args(["-c", "127.0.0.1", "-p", &port.to_string(), "-t", "1", "-b", "1M"]);
    command
}

/// Returns whether the installed iperf3 is older than 3.17: it uses PKCS #1 padding and has no
/// option for it.
fn uses_pkcs1_padding() -> bool {
    let output = Command::new("iperf3").arg("--help").output().unwrap();
    !String::from_utf8_lossy(&output.stdout).contains("use-pkcs1-padding")
}

/// Serves one client and returns the client's output and the server's standard error, which alone
/// has the reason.
fn serve_one_client(
    keys: &Keys,
    more: &[&str],
    ask: impl FnOnce(u16) -> Output,
) -> (Output, String) {
    let port = free_port();
    let mut serving = keys.server_command(port, &[&["-1"], more].concat());
    let child = serving.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_listening("self", port);
    let output = ask(port);
    let said = child.wait_with_output().unwrap();
    (output, String::from_utf8(said.stderr).unwrap())
}

#[test]
fn admits_user_and_stores_no_password() {
    let Some(keys) = Keys::new("admits_user_and_stores_no_password") else { return };
    for padding in [&[][..], &["--use-pkcs1-padding"]] {
        let port = free_port();
        let _serving = ServerProcess::start(keys.server_command(port, padding), port);
        for _ in 0..2 {
            let output = keys.log_in(keys.client_command(port, padding), "mario", PASSWORD);
            assert!(output.status.success(), "{output:?}");
        }
    }
    for path in files_below(&keys.world.path("assay")) {
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(PASSWORD) && !text.contains("authtoken"), "{}", path.display());
    }
}

/// At a terminal, which `script` emulates, the client asks for the password and does not show it.
#[test]
fn typed_password_is_not_shown() {
    const TEST: &str = "typed_password_is_not_shown";
    let Some(keys) = Keys::new(TEST) else { return };
    if !is_installed("script", TEST) || !is_installed("stty", TEST) {
        return;
    }
    let port = free_port();
    let _serving = ServerProcess::start(keys.server_command(port, &[]), port);
    let key = keys.path("public.pem");
    let login = ["--username", "mario", "--rsa-public-key-path", &key];
    let client = keys.client_command(port, &login);
    let words: Vec<_> =
        std::iter::once(client.get_program()).chain(client.get_args()).collect();
    let words = words.join(" ".as_ref());
    let typed = format!("tty > terminal; exec {}", words.to_string_lossy());
    let mut command = Command::new("script");
    command.args(["-qec", &typed, "/dev/null"]).current_dir(keys.world.path(""));
    command.env_remove("IPERF3_PASSWORD").env("SHELL", "/bin/sh");
    command.env("XDG_DATA_HOME", keys.world.path("data"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // Types only after the echo is off, as a user does who has read the prompt.
    let is_hidden = || {
        let Ok(name) = std::fs::read_to_string(keys.world.path("terminal")) else {
            return false;
        };
        let reported = Command::new("stty").args(["-a", "-F", name.trim()]).output().unwrap();
        String::from_utf8_lossy(&reported.stdout).contains("-echo ")
    };
    wait_until("the terminal hides what is typed", is_hidden);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{PASSWORD}\n").as_bytes()).unwrap();
    let mut shown = String::new();
    child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    assert!(child.wait().unwrap().success(), "{shown}");
    assert!(shown.contains("Password of mario: ") && !shown.contains(PASSWORD), "{shown}");
}

#[test]
fn real_iperf3_client_can_log_in() {
    const TEST: &str = "real_iperf3_client_can_log_in";
    let Some(keys) = Keys::new(TEST).filter(|_| is_installed("iperf3", TEST)) else { return };
    let padding: &[&str] = if uses_pkcs1_padding() { &["--use-pkcs1-padding"] } else { &[] };
    let port = free_port();
    let _serving = ServerProcess::start(keys.server_command(port, padding), port);
    let output = keys.log_in(real_client(port), "mario", PASSWORD);
    assert!(output.status.success(), "{output:?}");
    let output = keys.log_in(real_client(port), "mario", "wrong");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("authorization failed"), "{output:?}");
}

#[test]
fn real_iperf3_server_admits_user() {
    const TEST: &str = "real_iperf3_server_admits_user";
    let Some(keys) = Keys::new(TEST).filter(|_| is_installed("iperf3", TEST)) else { return };
    let port = free_port();
    let mut server = Command::new("iperf3");
    server.args(["-s", "-p", &port.to_string()]);
    server.args(["--rsa-private-key-path", &keys.path("key.pem")]);
    server.args(["--authorized-users-path", &keys.path("users.csv")]);
    let _serving = ServerProcess::start(server, port);
    let padding: &[&str] = if uses_pkcs1_padding() { &["--use-pkcs1-padding"] } else { &[] };
    let output = keys.log_in(keys.client_command(port, padding), "mario", PASSWORD);
    assert!(output.status.success(), "{output:?}");
    let output = keys.log_in(keys.client_command(port, padding), "mario", "wrong");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // iperf3 3.12 reports the refusal; 3.21 closes the connection.
    assert!(said.contains("user and password") && said.contains("check --username"), "{said}");
}

#[test]
fn only_server_reports_reason_of_refused_login() {
    let Some(keys) = Keys::new("only_server_reports_reason_of_refused_login") else {
        return;
    };
    let log_in = |user: &'static str, password: &'static str, more: &'static [&'static str]| {
        let keys = &keys;
        move |port| keys.log_in(keys.client_command(port, more), user, password)
    };
    let without = |port| keys.client_command(port, &[]).output().unwrap();
    for (reported, (output, said)) in [
        ("no user and password", serve_one_client(&keys, &[], without)),
        (
            "user `bowser` is unknown",
            serve_one_client(&keys, &[], log_in("bowser", PASSWORD, &[])),
        ),
        (
            "password of the user `mario` is wrong",
            serve_one_client(&keys, &[], log_in("mario", "no", &[])),
        ),
        (
            "not encrypted for this key and padding",
            serve_one_client(&keys, &["--use-pkcs1-padding"], log_in("mario", PASSWORD, &[])),
        ),
        (
            "not encrypted for this key and padding",
            serve_one_client(&keys, &[], log_in("mario", PASSWORD, &["--use-pkcs1-padding"])),
        ),
    ] {
        assert!(said.contains(reported), "{said}");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{err}");
        assert!(err.contains("it rejected user and password, or received none"), "{err}");
        assert!(!err.contains("unknown") && !err.contains("is wrong"), "{err}");
    }
}

/// Returns the encrypted login of a client that has the key, with any time on its clock.
fn encrypt_login(keys: &Keys, at_s: u64) -> String {
    let text = format!("user: mario\npwd:  {PASSWORD}\nts:   {at_s}");
    keys.world.write("login", &text);
    keys.openssl(
        "pkeyutl -encrypt -pubin -inkey public.pem -in login -out encrypted -pkeyopt rsa_padding_mode:oaep",
    );
    keys.openssl("base64 -A -in encrypted")
}

#[test]
fn refuses_login_with_wrong_time_or_replay() {
    let Some(keys) = Keys::new("refuses_login_with_wrong_time_or_replay") else {
        return;
    };
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let port = free_port();
    let more = ["--time-skew-threshold", "1000"];
    let mut serving = keys.server_command(port, &more);
    let child = serving.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_listening("self", port);
    // With the cookie of a running test it would be one of its streams.
    let mut cookie = *attacks::COOKIE;
    let mut asks_for_streams = |token: &str| {
        cookie[0] += 1;
        let parameters = format!(r#"{{"tcp":true,"time":1,"authtoken":"{}"}}"#, token.trim());
        attacks::send_parameters(port, &cookie, &parameters).1 == Some(attacks::ASK_STREAMS)
    };
    for (at_s, is_admitted) in
        [(now_s - 900, true), (now_s - 2000, false), (now_s + 2000, false)]
    {
        let token = encrypt_login(&keys, at_s);
        assert_eq!(asks_for_streams(&token), is_admitted, "{at_s}");
        assert!(!asks_for_streams(&token), "a second time");
    }
    for rubbish in ["", "!", "AAAA", &"A".repeat(344)] {
        assert!(!asks_for_streams(rubbish), "{rubbish}");
    }
    let words =
        ["qperf", "127.0.0.1", "tcp_lat", "-t", "1", "--listen-port", &port.to_string()];
    keys.world.assay(&words).failed_with(4);
    send_signal(child.id(), "TERM");
    let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    for reported in [
        "the client's clock differs by",
        "was used before",
        "the client sent no user and password",
    ] {
        assert!(said.contains(reported), "{reported}: {said}");
    }
}

#[test]
fn invalid_key_and_user_files_are_named() {
    let Some(keys) = Keys::new("invalid_key_and_user_files_are_named") else { return };
    keys.openssl("genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out short.pem");
    keys.openssl("genpkey -algorithm ED25519 -out other.pem");
    keys.openssl("rsa -in key.pem -traditional -out old.pem");
    keys.openssl("rsa -in key.pem -aes128 -passout pass:x -out locked.pem");
    let path = |name: &str| keys.path(name);
    let server = |key: &str, users: &str| {
        let (key, users) = (path(key), path(users));
        let words = ["--rsa-private-key-path", &key, "--authorized-users-path", &users];
        keys.world.command(
            &[&["iperf3", "-s", "-p", "0", "--idle-timeout", "0"][..], &words].concat(),
        )
    };
    let client = |user: &str, key: &str| {
        let key = path(key);
        let words = ["--username", user, "--rsa-public-key-path", &key];
        let mut command = keys.client_command(1, &words);
        command.env("IPERF3_PASSWORD", PASSWORD);
        command
    };
    let mut no_password = client("mario", "public.pem");
    no_password.env_remove("IPERF3_PASSWORD");
    let long = "x".repeat(200);
    for (mut command, reported) in [
        (server("missing.pem", "users.csv"), "missing.pem"),
        (server("key.pem", "missing.csv"), "cannot read the file of users"),
        (server("public.pem", "users.csv"), "no such key in PEM"),
        (server("locked.pem", "users.csv"), "without a passphrase"),
        (server("short.pem", "users.csv"), "not an RSA key of 2048 to 8192 bits"),
        (server("other.pem", "users.csv"), "not an RSA key of 2048 to 8192 bits"),
        (client("mario", "missing.pem"), "missing.pem"),
        (client("mario", "key.pem"), "no such key in PEM"),
        (client("ma rio", "public.pem"), "without white space"),
        (client(&long, "public.pem"), "too long for this key"),
        (no_password, "error: no password for mario\n"),
    ] {
        let output = command.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{reported}: {err}");
        assert!(err.contains(reported), "{reported}: {err}");
        assert!(!err.contains(PASSWORD), "{err}");
    }
    assert!(server("old.pem", "users.csv").status().unwrap().success());
}
