//! Writes answers: their head with the rules for the browser, and their content within a time.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::request::Refusal;

/// Policy of all answers: nothing from elsewhere, nothing inline, no frame around the page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Addition for pages with pictures whose width is an attribute.
const PICTURE_POLICY: &str = "; style-src-attr 'unsafe-inline'";
/// Time for an answer of any size, and minimum rate beyond it.
const MIN_TIME: Duration = Duration::from_secs(20);
const MIN_BYTES_PER_S: u64 = 64 << 10;
/// Bytes that are written at once.
const CHUNK_BYTES: usize = 64 << 10;
/// Bytes of a refused request, and the time, that are read: closing at once would reset the
/// connection, and the reason would be lost.
const MAX_REST_BYTES: usize = 256 << 10;
const REST_TIME: Duration = Duration::from_millis(200);

/// Answer to a request.
#[derive(Debug, Clone)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) content: Arc<str>,
    /// Further header fields.
    pub(super) fields: Vec<(&'static str, String)>,
}

impl Response {
    /// Returns a file of the site.
    pub(super) fn file(name: &str, content: Arc<str>) -> Self {
        let kind = match name.rsplit_once('.') {
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            _ => "text/plain; charset=utf-8",
        };
        Self { status: 200, kind, content, fields: Vec::new() }
    }

    pub(super) fn redirect(place: String, cookie: String) -> Self {
        let fields = vec![("Location", place), ("Set-Cookie", cookie)];
        let kind = "text/plain; charset=utf-8";
        Self { status: 303, kind, content: Arc::from(""), fields }
    }

    pub(super) fn refusal(refusal: &Refusal) -> Self {
        let fields = match refusal.status {
            405 => vec![("Allow", "GET, HEAD".to_owned())],
            401 => vec![("WWW-Authenticate", "Bearer".to_owned())],
            503 => vec![("Retry-After", "1".to_owned())],
            _ => Vec::new(),
        };
        let content =
            format!("{} {}: {}\n", refusal.status, title(refusal.status), refusal.reason);
        let kind = "text/plain; charset=utf-8";
        Self { status: refusal.status, kind, content: Arc::from(content), fields }
    }

    /// Writes the answer, and ends the connection.
    pub(super) fn write(&self, stream: &mut TcpStream, is_head: bool) -> io::Result<()> {
        let mut head = head(self.status, self.kind, &self.content);
        for (name, value) in &self.fields {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "Content-Length: {}\r\n\r\n", self.content.len());
        let content = if is_head { &[] } else { self.content.as_bytes() };
        let size = (head.len() + content.len()) as u64;
        let deadline = Instant::now() + MIN_TIME + Duration::from_secs(size / MIN_BYTES_PER_S);
        write_within(stream, head.as_bytes(), deadline)?;
        write_within(stream, content, deadline)?;
        stream.shutdown(Shutdown::Write)
    }
}

/// Returns the head of an answer without its last line.
pub(super) fn head(status: u16, kind: &str, content: &str) -> String {
    let pictures = if content.contains(" style=\"") { PICTURE_POLICY } else { "" };
    format!(
        "HTTP/1.1 {status} {}\r\n\
         Content-Type: {kind}\r\n\
         Content-Security-Policy: {POLICY}{pictures}\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\n\
         X-Frame-Options: DENY\r\n\
         Cache-Control: no-store\r\n\
         Connection: close\r\n",
        title(status)
    )
}

/// Writes all bytes before a deadline.
pub(super) fn write_within(
    stream: &mut TcpStream,
    bytes: &[u8],
    deadline: Instant,
) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(&rest[..rest.len().min(CHUNK_BYTES)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => rest = &rest[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads the rest of a refused request, within bounds.
pub(super) fn drain(stream: &mut TcpStream) -> io::Result<()> {
    let deadline = Instant::now() + REST_TIME;
    let mut read = 0;
    let mut piece = [0; 4096];
    while read < MAX_REST_BYTES {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left))?;
        match io::Read::read(stream, &mut piece)? {
            0 => break,
            count => read += count,
        }
    }
    Ok(())
}

const fn title(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        414 => "URI Too Long",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Refused",
    }
}
