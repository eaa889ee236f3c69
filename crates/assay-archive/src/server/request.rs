//! Reads one request: its head within a time and a size, without a body.

use std::io::{self, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum size of a head.
const MAX_HEAD_BYTES: usize = 8192;
/// Maximum number of header fields; browsers send about 15.
const MAX_FIELDS: usize = 64;

/// Request that this server can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// Whether only the head of the answer is wanted.
    pub(super) is_head: bool,
    /// Name of the file within the site, without the first slash.
    pub(super) name: String,
    pub(super) query: String,
    /// Header fields, their names in lower case.
    fields: Vec<(String, String)>,
}

/// Reason why a request is not answered with a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) reason: String,
}

impl Refusal {
    pub(super) fn new(status: u16, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into() }
    }
}

impl Request {
    /// Returns the value of a header field.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    fn count_fields(&self, name: &str) -> usize {
        self.fields.iter().filter(|(it, _)| it == name).count()
    }
}

/// Reads a request; `None` if the connection ends before it is whole.
pub(super) fn read_request(
    stream: &mut TcpStream,
    time: Duration,
) -> io::Result<Option<Result<Request, Refusal>>> {
    let deadline = Instant::now() + time;
    let mut head = Vec::with_capacity(1024);
    let mut piece = [0; 1024];
    loop {
        // The time counts for the whole head, not for each piece.
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Some(Err(too_slow(time))));
        }
        stream.set_read_timeout(Some(left))?;
        let count = match stream.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                return Ok(Some(Err(too_slow(time))));
            }
            Err(error) => return Err(error),
        };
        head.extend_from_slice(&piece[..count]);
        // Only a line feed can complete the head.
        let has_line = piece[..count].contains(&b'\n');
        if has_line && let Some(parsed) = parse_head(&head).transpose() {
            return Ok(Some(parsed));
        }
        if head.len() > MAX_HEAD_BYTES {
            return Ok(Some(Err(too_long(&head))));
        }
    }
}

fn too_slow(time: Duration) -> Refusal {
    Refusal::new(408, format!("the request was not whole after {} s", time.as_secs()))
}

fn too_long(head: &[u8]) -> Refusal {
    match head.contains(&b'\n') {
        true => Refusal::new(431, format!("the request has more than {MAX_HEAD_BYTES} bytes")),
        false => Refusal::new(414, format!("the address has more than {MAX_HEAD_BYTES} bytes")),
    }
}

/// Parses the head of a request; `None` if its end is missing.
pub(super) fn parse_head(head: &[u8]) -> Result<Option<Request>, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let status = parsed.parse(head).map_err(|error| match error {
        httparse::Error::TooManyHeaders => {
            Refusal::new(431, format!("the request has more than {MAX_FIELDS} header fields"))
        }
        error => Refusal::new(400, format!("this is no request of HTTP/1: {error}")),
    })?;
    if status.is_partial() {
        return Ok(None);
    }
    if head.len() > MAX_HEAD_BYTES {
        return Err(too_long(head));
    }
    let is_head = match parsed.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(Refusal::new(405, "this server only shows: GET and HEAD")),
    };
    let (name, query) = parse_target(parsed.path.unwrap_or_default())?;
    let fields = parsed.headers.iter().map(|field| {
        let value = String::from_utf8_lossy(field.value).into_owned();
        (field.name.to_ascii_lowercase(), value)
    });
    let request = Request { is_head, name, query, fields: fields.collect() };
    if request.count_fields("host") != 1 {
        return Err(Refusal::new(400, "the request needs one `Host`"));
    }
    let has_body = request.field("transfer-encoding").is_some()
        || request.field("content-length").is_some_and(|length| length.trim() != "0");
    if has_body {
        return Err(Refusal::new(400, "a request of this server has no content"));
    }
    Ok(Some(request))
}

/// Returns the name of the file and the query. Names of this site need no escapes.
fn parse_target(target: &str) -> Result<(String, String), Refusal> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let Some(name) = path.strip_prefix('/') else {
        return Err(Refusal::new(400, "an address of this site begins with a slash"));
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    // A target that begins with two slashes would name another site in a redirect.
    let is_odd = |part: &str| part == ".." || part.is_empty();
    if !name.bytes().all(is_plain) || !name.is_empty() && name.split('/').any(is_odd) {
        let rule = "addresses of this site have letters, digits and `/`, `.`, `_`, `-`, and no `..` or `//`";
        return Err(Refusal::new(400, rule));
    }
    let name = if name.is_empty() { "index.html" } else { name };
    Ok((name.to_owned(), query.to_owned()))
}
