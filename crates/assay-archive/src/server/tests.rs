//! Requests and access by table, with the status of each refusal.

use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt as _;

use super::access::{AccessGrant, AccessRules};
use super::request::{Request, parse_head};

fn parse(head: &str) -> Result<Option<Request>, u16> {
    parse_head(head.as_bytes()).map_err(|refusal| refusal.status)
}

fn status(head: &str) -> Option<u16> {
    match parse(head) {
        Ok(Some(_)) => Some(200),
        Ok(None) => None,
        Err(status) => Some(status),
    }
}

#[test]
fn heads_are_parsed_or_refused() {
    let many = "a: b\r\n".repeat(70);
    for (head, expected) in [
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", Some(200)),
        ("HEAD /runs/a.html?x HTTP/1.0\r\nhost: localhost\r\n\r\n", Some(200)),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n", None),
        ("", None),
        ("GET /../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", Some(400)),
        ("GET /runs/.. HTTP/1.1\r\nHost: a\r\n\r\n", Some(400)),
        ("GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", Some(400)),
        ("GET /runs%2fa HTTP/1.1\r\nHost: a\r\n\r\n", Some(400)),
        ("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n", Some(400)),
        ("GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n", Some(400)),
        ("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", Some(400)),
        ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", Some(400)),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", Some(400)),
        ("GET /\r\n\r\n", Some(400)),
        ("GET / HTTP/1.1\r\n\r\n", Some(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Some(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", Some(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", Some(200)),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", Some(400)),
        ("GET / HTTP/1.1\r\nHost: a\r\n b: folded\r\n\r\n", Some(400)),
        ("POST / HTTP/1.1\r\nHost: a\r\n\r\n", Some(405)),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", Some(405)),
        ("\x16\x03\x01\x02\n", Some(400)),
        (&format!("GET / HTTP/1.1\r\nHost: a\r\n{many}\r\n"), Some(431)),
    ] {
        assert_eq!(status(head), expected, "{head:?}");
    }
}

/// No input ends the server: each is a request, incomplete, or refused.
#[test]
fn mutated_heads_are_bounded() {
    let head =
        "GET /runs/a.html?token=b HTTP/1.1\r\nHost: localhost:1\r\nCookie: assay=c\r\n\r\n";
    let rules = AccessRules::new(IpAddr::V4(Ipv4Addr::LOCALHOST), None).unwrap();
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut bytes = head.as_bytes().to_vec();
        for _ in 0..3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = (state >> 24) as u8;
        }
        if let Ok(Some(request)) = parse_head(&bytes) {
            assert!(!request.name.contains(".."));
            drop(rules.check(&request));
        }
    }
}

fn check(rules: &AccessRules, target: &str, fields: &str) -> Result<AccessGrant, u16> {
    let head = format!("GET {target} HTTP/1.1\r\n{fields}\r\n\r\n");
    let request = parse(&head).unwrap().unwrap_or_else(|| panic!("{head:?}"));
    rules.check(&request).map_err(|refusal| refusal.status)
}

#[test]
fn only_own_names_and_pages_are_served() {
    let loopback = AccessRules::new(IpAddr::V4(Ipv4Addr::LOCALHOST), None).unwrap();
    for (fields, expected) in [
        ("Host: 127.0.0.1:8437", 200),
        ("Host: localhost", 200),
        ("Host: LOCALHOST:9000", 200),
        ("Host: [::1]:8437", 200),
        ("Host: evil.example", 421),
        ("Host: evil.example:8437", 421),
        ("Host: localhost.evil.example", 421),
        ("Host: 192.0.2.1", 421),
        ("Host: localhost:x", 421),
        ("Host: user@localhost", 421),
        ("Host: localhost\r\nOrigin: http://localhost", 200),
        ("Host: localhost\r\nOrigin: http://localhost:9", 403),
        ("Host: localhost\r\nOrigin: https://evil.example", 403),
        ("Host: localhost\r\nOrigin: null", 403),
        ("Host: localhost\r\nSec-Fetch-Site: same-origin", 200),
        ("Host: localhost\r\nSec-Fetch-Site: none", 200),
        ("Host: localhost\r\nSec-Fetch-Site: cross-site", 403),
        ("Host: localhost\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors", 403),
        (
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\
             Sec-Fetch-Dest: document",
            200,
        ),
        (
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\
             Sec-Fetch-Dest: iframe",
            403,
        ),
    ] {
        let found = check(&loopback, "/", fields).map_or_else(|status| status, |_| 200);
        assert_eq!(found, expected, "{fields}");
    }
}

#[test]
fn a_token_is_asked_for_once() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let rules = |text: &str, mode: u32| {
        std::fs::write(file.path(), text).unwrap();
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
        AccessRules::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), Some(file.path()))
    };
    let token = "0123456789abcdef-_";
    for (text, mode) in [("short", 0o600), (token, 0o644), ("0123456789abcdef\0", 0o600)] {
        assert!(rules(text, mode).is_err(), "{text:?} {mode:o}");
    }
    assert!(AccessRules::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), None).is_err());
    let rules = rules(&format!("{token}\n"), 0o600).unwrap();
    let host = "Host: 192.0.2.1:8437";
    assert_eq!(check(&rules, "/", host), Err(401));
    assert_eq!(check(&rules, "/?token=0123456789abcdef", host), Err(401));
    assert_eq!(check(&rules, "/", "Host: evil.example"), Err(421));
    let granted = check(&rules, &format!("/?token={token}"), host).unwrap();
    let AccessGrant::SetCookie(cookie) = granted else { panic!("{granted:?}") };
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict") && !cookie.contains(token));
    let cookie = cookie.split(';').next().unwrap();
    for (fields, expected) in [
        (format!("Cookie: {cookie}"), Ok(AccessGrant::Open)),
        (format!("Cookie: other=1; {cookie}"), Ok(AccessGrant::Open)),
        (format!("Authorization: Bearer {token}"), Ok(AccessGrant::Open)),
        (format!("Cookie: assay={token}"), Err(401)),
        ("Cookie: assay=".to_owned(), Err(401)),
        (format!("Authorization: Basic {token}"), Err(401)),
    ] {
        assert_eq!(check(&rules, "/", &format!("{host}\r\n{fields}")), expected, "{fields}");
    }
}
